package exec

import (
	"bytes"
	"cmp"
	"errors"
	"regexp"
	"slices"
	"unicode/utf8"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/merge"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// Looker has a server look at the whole text of the statement at hand, which it does not run, and returns what that finds wrong.
type Looker interface {
	Look(p *plan.Plan) error
}

// errComputed tells that a row has an expression where its value is needed.
var errComputed = errors.New("exec: value of an expression needed")

// evaluateAtOnce is how many expressions one SELECT computes.
const evaluateAtOnce = 500

// evaluate lets a server compute the expressions that stand where a row's key or sequence value is needed: the value
// is written instead of them, so that the row lies where it was hashed to. What a server would say of them while it inserts
// the row is said here, and the rest of the row is computed at the same time of day.
func (r *Runner) evaluate(p *plan.Plan, in *insertion) error {
	in.evaluated = true
	in.exprs, in.warned, in.warnings = in.exprs[:0], in.warned[:0], 0
	for row := range in.rows {
		for _, col := range in.needed {
			if el := in.element(row, col); el.kind == computed {
				in.exprs = append(in.exprs, expression{row: row, col: col, sql: in.appendElement(nil, row, col, el)})
			}
		}
	}
	if len(in.exprs) == 0 {
		return nil
	}
	if in.node.Reads { // what is computed ahead sees no rows of the transaction, and locks none
		open, copies := r.Conns.Transaction()
		if aside := in.node.Else; copies || open && aside != nil && !aside.LocalTwice {
			return in.staged(sqlerr.Unsupported("a subquery, or a function that reads tables, as the value of a column by which the row is placed, in a transaction that has written to reference tables",
				"select the value first"))
		}
	}
	if p.Uses&plan.SetsLastInsertID != 0 && slices.ContainsFunc(in.exprs, func(e expression) bool { return callsLastInsertID(e.sql) }) {
		return sqlerr.Unsupported("LAST_INSERT_ID(expression) as the value of a column by which the row is placed", "write the value itself")
	}
	if r.Looker != nil && slices.ContainsFunc(in.exprs, func(e expression) bool { return in.gathers(e.sql) }) {
		if err := r.Looker.Look(p); err != nil {
			return err
		}
	}
	var clock []byte
	if p.Uses&plan.ReadsClock != 0 && !r.FixedClock {
		if r.Moment.IsZero() {
			r.Moment, in.momentary = r.now(), true
		}
		clock = r.setClock()
	}
	for begin := 0; begin < len(in.exprs); begin += evaluateAtOnce {
		err := r.evaluateSome(in, in.exprs[begin:min(begin+evaluateAtOnce, len(in.exprs))], clock)
		if sqlerr.HasCode(err, sqlerr.UnknownColumn) || sqlerr.HasCode(err, sqlerr.UnknownTableIn) {
			return in.staged(sqlerr.Unsupported("an expression that refers to another column, as the value of a distribution key or AUTO_INCREMENT column",
				"write the value itself"))
		}
		if _, told := errors.AsType[*sqlerr.Error](err); told && r.Looker != nil {
			return cmp.Or(r.Looker.Look(p), err) // of the whole text a server may say something else
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// gathers reports whether an expression may have an aggregate or a window function, which a SELECT takes and a row does not.
func (in *insertion) gathers(sql []byte) bool {
	if !gathering.Match(sql) {
		return false
	}
	st := in.args.st.Dialect().NewStatement()
	defer st.Done()
	if st.Scan(slices.Concat([]byte("SELECT "), sql), in.args.st.Mode()) != nil {
		return true
	}
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if tok.Kind == sqlparse.Word && gathering.Match(append(bytes.Clone(st.Text(tok.Span)), '(')) {
			return true
		}
	}
	return false
}

// gathering finds aggregate functions and OVER.
var gathering = regexp.MustCompile(`(?i)\b(AVG|BIT_AND|BIT_OR|BIT_XOR|COUNT|GROUP_CONCAT|JSON_ARRAYAGG|JSON_OBJECTAGG|MAX|MIN|OVER|STD|STDDEV|STDDEV_POP|STDDEV_SAMP|SUM|VARIANCE|VAR_POP|VAR_SAMP)\s*\(`)

// callsLastInsertID reports whether an expression may call LAST_INSERT_ID.
func callsLastInsertID(sql []byte) bool {
	return bytes.Contains(bytes.ToUpper(sql), []byte("LAST_INSERT_ID"))
}

// appendElement appends the SQL of a value.
func (in *insertion) appendElement(dst []byte, row, col int, el element) []byte {
	if in.node.Row != nil {
		return in.args.AppendText(dst, in.node.Row[col])
	}
	return in.args.appendSpan(dst, el.span)
}

func (r *Runner) evaluateSome(in *insertion, exprs []expression, clock []byte) error {
	r.body = append(r.body[:0], "SELECT "...)
	for i := range exprs {
		if i > 0 {
			r.body = append(r.body, ", "...)
		}
		// The newline ends a comment the expression may end with.
		r.body = append(append(append(r.body, '('), exprs[i].sql...), "\n)"...)
	}
	r.body = append(r.body, " LIMIT 1"...) // whatever sql_select_limit says
	got, err := r.Conns.Evaluate(r.body, clock)
	if err != nil {
		return err
	}
	if len(got.Columns) != len(exprs) || len(got.Row) != len(exprs) {
		return sqlerr.Internal.New("a server answered with another number of values than asked for")
	}
	if !in.lenient && !in.node.Ignore {
		if err := got.strictError(in.snap.Flavor); err != nil {
			return err
		}
	}
	in.warnings += uint(got.Warnings)
	in.warned = append(in.warned, got.Warned[:min(len(got.Warned), maxWarned-len(in.warned))]...)
	for i := range exprs {
		exprs[i].value = valueOf(&got.Columns[i], got.Row[i])
	}
	return nil
}

// appendLiteral appends the literal of a row's value: to be stored in its column, or to be compared with that.
func (in *insertion) appendLiteral(dst []byte, el *element) []byte {
	if el.evaluated && el.value.Kind == sqltypes.String && !isASCII(el.value.Raw) && utf8.Valid(el.value.Raw) {
		dst = append(dst, "_utf8mb4"...)
	}
	if el.evaluated && in.args.emptyIsNull(el.value) {
		return append(dst, EmptyString...)
	}
	return in.args.appendLiteral(dst, el.value, !el.evaluated)
}

func isASCII(s []byte) bool {
	return !slices.ContainsFunc(s, func(b byte) bool { return b >= utf8.RuneSelf })
}

// bytesUnknown reports that a value comes as characters, whose bytes, in the character set that the expression has, are what the column
// stores.
func (el *element) bytesUnknown(c *catalog.Column) bool {
	if !el.evaluated || el.value.Kind != sqltypes.String {
		return false
	}
	switch c.DataType {
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bit":
		return true
	}
	return false
}

func (in *insertion) bytesUnknown(c *catalog.Column) error {
	return in.staged(sqlerr.Unsupported("an expression that is no binary string, as the value of column '"+c.Name+"', which holds bytes and by which rows are placed",
		"write CAST(expression AS BINARY)"))
}

// strictError is the error that a strict sql_mode makes of a SELECT's warnings in an INSERT, or nil. Warnings that the server has
// not kept may be some of these.
func (e *Evaluated) strictError(flavor catalog.Flavor) error {
	if e := diagnostics.StrictWrite(e.Warned, flavor == catalog.MariaDB); e != nil {
		return e
	}
	if int(e.Warnings) > len(e.Warned) {
		return sqlerr.Unsupported("values of columns by which rows are placed with more warnings than max_error_count keeps, in a strict sql_mode",
			"raise max_error_count, or write the values themselves")
	}
	return nil
}

// valueOf is a result's value as a literal would be.
func valueOf(c *sqltypes.Column, raw []byte) sqltypes.Value {
	const binary = 63
	if raw == nil {
		return sqltypes.Value{}
	}
	v := sqltypes.Value{Kind: sqltypes.String, Raw: append([]byte{}, raw...)}
	switch class, ok := merge.ClassOf(c); {
	case !ok:
	case class == merge.Float:
		v.Kind = sqltypes.Float
	case class == merge.Number:
		v.Kind = sqltypes.Int
		if c.Type == sqltypes.TypeDecimal || c.Type == sqltypes.TypeNewDecimal {
			v.Kind = sqltypes.Decimal
		}
	case class == merge.Bits, c.Charset == binary && (c.Type >= sqltypes.TypeTinyBlob || c.Type == sqltypes.TypeVarchar):
		v.Kind = sqltypes.Binary
	}
	return v
}
