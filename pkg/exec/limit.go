package exec

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"

	"skarv/pkg/diagnostics"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// The parameters of LIMIT need not be integers: servers make them some before they run a prepared statement, each in its own
// way, and warn of it once. So is it done here, before anything is sent: a Limit over several groups counts itself, and
// groups are not to warn each for themselves.

// errNoCount: what is written behind LIMIT is no integer. Servers will say so, and where.
var errNoCount = errors.New("exec: LIMIT of no integer")

// limit is the numbers of a Limit.
type limit struct {
	node          *plan.Limit
	offset, count uint64
}

// settleLimits notes the numbers of the Limits of the plan that is about to run. Parameters among them become integers for all that
// is sent; what a server would warn of goes to Warned.
func (r *Runner) settleLimits(root plan.Node, a *Arguments) error {
	r.limits = r.limits[:0]
	for n := root; n != nil; n = plan.Input(n) {
		node, ok := n.(*plan.Limit)
		if !ok {
			continue
		}
		l := limit{node: node}
		var err error
		if l.count, err = r.settle(node.Count, a); err == nil && node.Offset != nil {
			l.offset, err = r.settle(*node.Offset, a)
		}
		switch {
		case err == nil:
			r.limits = append(r.limits, l)
		case err != errNoCount:
			return err
		}
	}
	return nil
}

func (r *Runner) settle(o plan.Operand, a *Arguments) (uint64, error) {
	c, err := a.count(o)
	if err != nil {
		return 0, err
	}
	if i, v := a.limitParam(o); i >= 0 && (v.Kind != sqltypes.Int || v.Raw[0] == '-') {
		a.wire.SetUint(i, c.n)
		if a.Using != nil {
			a.Using[i] = strconv.AppendUint(nil, c.n, 10)
		}
		if c.warning != "" {
			r.Warned = append(r.Warned, diagnostics.Condition{Level: c.level, Code: truncatedValue, Message: c.warning})
		}
	}
	return c.n, nil
}

// truncatedValue is the number of the servers' warning for a string with more than a number in it.
const truncatedValue = 1292

// settled are the numbers of a Limit of the plan that runs.
func (r *Runner) settled(node *plan.Limit) (limit, error) {
	for _, l := range r.limits {
		if l.node == node {
			return l, nil
		}
	}
	return limit{}, sqlerr.WrongArguments.New("LIMIT")
}

// limitParam is the parameter that an operand of LIMIT is, and its value; -1 if it is none.
func (a *Arguments) limitParam(o plan.Operand) (int, sqltypes.Value) {
	if o.Arg < 0 || a.wire == nil {
		return -1, sqltypes.Value{}
	}
	arg := a.st.Arg(o.Arg)
	if arg.Class != sqlparse.ClassParam {
		return -1, sqltypes.Value{}
	}
	return arg.Param, a.wire.Value(arg.Param)
}

// Count is the value of an operand of LIMIT; ok is false if it is no count.
func (a *Arguments) Count(o plan.Operand) (n uint64, ok bool) {
	c, err := a.count(o)
	return c.n, err == nil
}

// count is a number of rows, and the warning it takes to make it one.
type count struct {
	n              uint64
	level, warning string
}

// count returns the value of an operand of LIMIT, or the server's error for what is none.
func (a *Arguments) count(o plan.Operand) (c count, err error) {
	v := o.Const
	if o.Arg >= 0 {
		if i, param := a.limitParam(o); i >= 0 {
			return a.countParam(i, param)
		}
		var ok bool
		if v, ok = a.Value(o.Arg); !ok {
			return c, errNoCount
		}
	}
	if v.Kind == sqltypes.Int {
		c.n, err = strconv.ParseUint(string(v.Raw), 10, 64)
	}
	if v.Kind != sqltypes.Int || err != nil {
		err = errNoCount
	}
	return c, err
}

// countParam is count of parameter i. Of a client's own COM_STMT_EXECUTE negative numbers are very large ones, but for
// integers on MySQL.
func (a *Arguments) countParam(i int, v sqltypes.Value) (c count, err error) {
	mariadb := a.st.Dialect().MariaDB()
	command := "mysqld_stmt_execute"
	if !a.Binary {
		command = "EXECUTE"
	}
	refused := sqlerr.WrongArguments.New(command)
	if !mariadb && (v.Kind == sqltypes.Float || v.Kind == sqltypes.Decimal) {
		return c, refused
	}
	negative := false
	switch v.Kind {
	case sqltypes.Null:
		return c, nil
	case sqltypes.Int:
		if negative = v.Raw[0] == '-'; negative {
			var n int64
			n, err = strconv.ParseInt(string(v.Raw), 10, 64)
			c.n = uint64(n)
		} else {
			c.n, err = strconv.ParseUint(string(v.Raw), 10, 64)
		}
	case sqltypes.Float:
		var f float64
		f, err = strconv.ParseFloat(string(v.Raw), 64)
		c.n = uint64(integer(math.RoundToEven(f)))
		negative = f < 0
	case sqltypes.Decimal:
		var f float64 // which has all digits of what is small enough to matter
		if f, err = strconv.ParseFloat(string(v.Raw), 64); math.Abs(f) > 1<<52 {
			return c, sqlerr.Unsupported("a DECIMAL parameter of LIMIT with more than 15 digits", "send an integer")
		}
		c.n, negative = uint64(int64(math.Round(f))), f < 0
	case sqltypes.String, sqltypes.Binary:
		var rest []byte
		var whole bool
		c.n, negative, whole, rest = leadingInteger(v.Raw, mariadb)
		negative = negative || int64(c.n) < 0
		// A variable is not a string that the statement has, as it were.
		silent := !mariadb || len(rest) == 0 && whole || a.Using != nil && a.Using[i][0] == '@'
		if !silent {
			c.level, c.warning = diagnostics.Warning, "Truncated incorrect INTEGER value: '"+shownValue(v.Raw)+"'"
			if whole && len(bytes.TrimLeft(rest, " ")) == 0 {
				c.level = diagnostics.Note
			}
		}
	default:
		return c, refused
	}
	switch {
	case err != nil:
		return c, refused
	case negative && !mariadb && v.Kind == sqltypes.Int:
		return c, sqlerr.OutOfRange.New("SIGNED INTEGER", "mysqld_stmt_execute")
	case negative && !a.Binary:
		return c, refused
	}
	return c, nil
}

// integer is f as an integer, the largest or least one for what is none.
func integer(f float64) int64 {
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

// leadingInteger is the number that s begins with, and what is behind it; whole is false if there is none, or none that 64 bits hold.
func leadingInteger(s []byte, mariadb bool) (n uint64, negative, whole bool, rest []byte) {
	space := " \t"
	if mariadb {
		space = " \t\n\v\f\r"
	}
	s = bytes.TrimLeft(s, space)
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative, s = s[0] == '-', s[1:]
	}
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	n, err := strconv.ParseUint(string(s[:end]), 10, 64)
	whole = err == nil
	if end == 0 {
		return 0, false, false, s
	}
	if negative {
		if n > 1<<63 {
			n, whole = 1<<63, false
		}
		n, negative = -n, n > 0
	}
	return n, negative, whole, s[end:]
}

// shownValue is a value as servers show it in warnings.
func shownValue(s []byte) string {
	const most = 125
	if len(s) <= most {
		return string(s)
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return string(s[:end]) + "..."
}
