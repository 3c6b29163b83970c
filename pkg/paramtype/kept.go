package paramtype

import (
	"bytes"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// Kept are the types that a server would have kept of a prepared statement. Servers here meet a statement as if it had never run before: so
// Settle makes values what the client's statement would make of them by now. The zero value is of a statement of which no server has told types.
type Kept struct {
	asked []wire.ParamType // when it was prepared; nil: not known
	now   []wire.ParamType
	anew  bool   // values have made a server prepare it again
	cast  []bool // of any type until then, for it is all that is CAST
	limit []bool // of any type: stands in LIMIT
	alone []bool // stands for a value that is stored or compared as it is
}

// Learn returns the types of a statement that a server has prepared just now, and described the parameters of.
func Learn(st *sqlparse.Statement, params []sqltypes.Column) (t Kept) {
	var before, last sqlparse.Token
	limit := false
	var lists lists
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF && tok.Kind != sqlparse.Invalid; tok = tokens.Next() {
		if tok.Kind == sqlparse.Param {
			ahead := tokens
			next := ahead.Next()
			t.limit = append(t.limit, limit)
			t.alone = append(t.alone, lists.alone(st, last, next))
			t.cast = append(t.cast, st.Is(last, "BINARY") ||
				st.Is(last, "(") && (st.Is(before, "CAST") && st.Is(next, "AS") || st.Is(before, "CONVERT") && (st.Is(next, ",") || st.Is(next, "USING"))))
		}
		switch {
		case st.Is(tok, "LIMIT"):
			limit = true
		case tok.Kind != sqlparse.Param && tok.Kind != sqlparse.IntLit && !st.Is(tok, ",") && !st.Is(tok, "OFFSET"):
			limit = false
		}
		lists.pass(st, last, tok)
		before, last = last, tok
	}
	if len(t.cast) != len(params) {
		return Kept{}
	}
	for i := range params {
		t.asked = append(t.asked, Asked(&params[i]))
	}
	t.now = append(t.now, t.asked...)
	return t
}

// lists knows which parentheses of a statement are lists of values: rows of VALUES, and those behind IN.
type lists struct {
	open   []bool // those around, by whether they are lists
	values bool   // behind VALUES, where only they follow
}

// pass tells of the next token; last is the one before.
func (l *lists) pass(st *sqlparse.Statement, last, tok sqlparse.Token) {
	switch {
	case st.Is(tok, "("):
		l.open = append(l.open, len(l.open) == 0 && l.values || st.Is(last, "IN"))
	case st.Is(tok, ")"):
		l.open = l.open[:max(len(l.open)-1, 0)]
	case len(l.open) == 0 && !st.Is(tok, ","):
		l.values = st.Is(tok, "VALUES") || st.Is(tok, "VALUE")
	}
}

// alone reports whether what stands between last and next is a value by itself: one of a list, or one that is assigned or compared.
func (l *lists) alone(st *sqlparse.Statement, last, next sqlparse.Token) bool {
	is := func(tok sqlparse.Token, of ...string) bool {
		return slices.ContainsFunc(of, func(s string) bool { return st.Is(tok, s) })
	}
	listed := len(l.open) > 0 && l.open[len(l.open)-1]
	return (listed && is(last, "(", ",") || is(last, "=", "<", ">", "<=", ">=", "<>", "!=", "<=>")) &&
		(next.Kind == sqlparse.EOF || is(next, ",", ")", ";", "AND", "OR", "WHERE", "ORDER", "LIMIT", "GROUP", "HAVING"))
}

// Settle gives the values of an execution the types that they have for the statement by now, and notes what that one makes of these. It reports
// whether it has changed any. The error is an *sqlerr.Error: what a server would make of a value cannot be had.
func (t *Kept) Settle(p *wire.Params) (changed bool, err error) {
	anew := false
	for i, now := range t.now {
		if t.limit[i] && t.anew && KindOf(p.Given(i).Type) != Int {
			return changed, otherType()
		}
		if t.limit[i] || t.cast[i] && !t.anew {
			continue
		}
		if given := p.Given(i); KindOf(t.asked[i].Type) == Date && KindOf(now.Type) == Datetime && !t.anew {
			// A value has made it one with a time (see Retypes), as which a server here takes dates only.
			if given.Type != sqltypes.TypeNull && KindOf(given.Type) != Date && KindOf(given.Type) != Datetime &&
				(KindOf(given.Type) != Text || !beginsWithDate(p.Value(i).Raw)) {
				return changed, otherType()
			}
		} else if KindOf(given.Type) != Text {
		} else if KindOf(now.Type) == Text {
			if t.anew && KindOf(t.asked[i].Type) != Text && exactNumber(p.Value(i).Raw) != nil {
				return changed, otherType() // what was no number has been before, and would be one to a server that prepares the statement again
			}
		} else {
			// A string becomes what was asked for before anything is decided.
			if !t.anew && KindOf(now.Type) == Int && p.Given(i).Shape == wire.Digits {
				continue
			}
			n := exactNumber(p.Value(i).Raw)
			switch {
			case n != nil && widens(now, p.Value(i).Raw):
				now = wire.ParamType{Type: sqltypes.TypeNewDecimal}
				fallthrough
			case t.anew:
				switch converted := convertParameter(p, i, n, now); {
				case converted:
					changed = true
				case t.anew:
					return changed, otherType()
				}
			}
		}
		anew = anew || !Takes(t.now[i], p.Given(i))
	}
	for i, now := range t.now {
		given := p.Given(i)
		switch kind := KindOf(given.Type); {
		case t.limit[i]:
		case !anew:
			if !t.anew && KindOf(now.Type) == Date && Retypes(now, given) && len(p.Value(i).Raw) > len("20060102") {
				t.now[i] = wire.ParamType{Type: sqltypes.TypeDatetime}
			}
			if !t.anew || kind == Null || kind == KindOf(now.Type) {
				continue
			}
			if !convertParameter(p, i, exactNumber(p.Value(i).Raw), now) {
				return changed, otherType()
			}
			changed = true
		case kind == Null:
			t.now[i] = t.asked[i]
		case kind != Text || KindOf(now.Type) == Text || exactNumber(p.Value(i).Raw) == nil:
			t.now[i] = given
		}
	}
	if t.anew && t.plain(p) {
		return changed, otherType()
	}
	t.anew = t.anew || anew
	return changed, nil
}

// plain reports whether a server would take the values as it has prepared the statement, though it asks for others by now.
func (t *Kept) plain(p *wire.Params) (others bool) {
	for i, asked := range t.asked {
		given := p.Given(i)
		if !Takes(asked, given) {
			return false
		}
		others = others || given.Type != sqltypes.TypeNull && KindOf(given.Type) != KindOf(asked.Type) &&
			!(t.alone[i] && KindOf(given.Type) == Text && writtenOut(KindOf(asked.Type), p.Value(i).Raw))
	}
	return others
}

// writtenOut reports whether text is a date or time as it is printed, so that it does not matter to what it is stored in, or compared with,
// whether it is one already.
func writtenOut(as Kind, text []byte) bool {
	var layout string
	switch as {
	case Date:
		layout = time.DateOnly
	case Datetime:
		layout = time.DateTime
	case Time:
		layout = time.TimeOnly
	default:
		return false
	}
	const microseconds = len(".000000")
	at, err := time.Parse(layout, string(text)) // which takes a fraction behind seconds
	return err == nil && len(text) <= len(layout)+microseconds && !bytes.ContainsRune(text, ',') && (as == Time || at.Year() > 0)
}

func otherType() error {
	return sqlerr.Unsupported("a parameter of a prepared statement that had a value of another type before",
		"use a statement that is prepared anew: MySQL makes the value one of that type")
}

// widens reports whether text, which is a number, makes a server ask for a DECIMAL where it has asked for type now.
func widens(now wire.ParamType, text []byte) bool {
	if now.Type == sqltypes.TypeYear && bytes.ContainsAny(text, ".eE") {
		return false // it warns of all behind the integer, and goes on to ask for a YEAR
	}
	return KindOf(now.Type) == Int && !digitsOnly(text, now.Unsigned)
}

// convertParameter makes the value of parameter i, which is n if it is an exact number, one of type to, if nothing can tell the two apart
// but the type.
func convertParameter(p *wire.Params, i int, n *big.Rat, to wire.ParamType) bool {
	if n == nil {
		return false
	}
	given, raw := KindOf(p.Given(i).Type), p.Value(i).Raw
	switch KindOf(to.Type) {
	case Int:
		if !digitsOnly(raw, to.Unsigned) || to.Type == sqltypes.TypeYear && n.Sign() == 0 { // the year '0' is 2000
			return false
		}
		p.SetInt(i, n.Num().Uint64(), to.Unsigned)
	case Decimal:
		const most = 30 // decimals
		text := strings.TrimSuffix(strings.TrimRight(n.FloatString(most), "0"), ".")
		if back, _ := new(big.Rat).SetString(text); back == nil || back.Cmp(n) != 0 || given == Int && !n.Num().IsInt64() {
			return false
		}
		if dot := bytes.IndexByte(raw, '.'); dot >= 0 && !bytes.ContainsAny(raw, "eE") {
			text = string(bytes.TrimSpace(raw)) // with its zeros
		}
		p.SetText(i, sqltypes.TypeNewDecimal, []byte(text))
	case Float:
		f, _ := n.Float64()
		const widest = 1e15 // what servers write without an exponent
		if given != Text && (!n.IsInt() || strconv.FormatFloat(f, 'f', -1, 64) != string(raw) || math.Abs(f) >= widest) {
			return false
		}
		p.SetFloat(i, f)
	default:
		return false
	}
	return true
}

// beginsWithDate reports whether text is a date as most write it, with or without a time.
func beginsWithDate(text []byte) bool {
	const date = len("2006-01-02")
	return len(text) >= date && wire.ShapeOf(text[:date]) == wire.DateOnly
}

// digitsOnly reports whether text is an integer that a BIGINT has, without a sign or an exponent.
func digitsOnly(text []byte, unsigned bool) bool {
	n := exactNumber(text)
	return n != nil && n.Sign() >= 0 && !bytes.ContainsAny(text, "eE") && n.IsInt() && (unsigned && n.Num().IsUint64() || n.Num().IsInt64())
}

// exactNumber is the number that text is, nil if it is none, or a very long one.
func exactNumber(text []byte) *big.Rat {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || len(text) > 80 {
		return nil
	}
	for _, c := range text {
		if (c < '0' || c > '9') && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			return nil
		}
	}
	if at := bytes.IndexAny(text, "eE"); at >= 0 && len(text)-at > 4 {
		return nil
	}
	n, ok := new(big.Rat).SetString(string(text))
	if !ok {
		return nil
	}
	return n
}
