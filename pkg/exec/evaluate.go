package exec

import (
	"errors"

	"skarv/pkg/merge"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// errComputed tells that a row has an expression where its value is needed.
var errComputed = errors.New("exec: value of an expression needed")

// evaluateAtOnce is how many expressions one SELECT computes.
const evaluateAtOnce = 500

// evaluate lets a server compute the expressions that stand where a row's key or sequence value is needed: the value
// is written instead of them, so that the row lies where it was hashed to.
func (r *Runner) evaluate(in *insertion) error {
	in.evaluated = true
	in.exprs = in.exprs[:0]
	for row := range in.rows {
		for _, col := range in.needed {
			if el := in.element(row, col); el.kind == computed {
				in.exprs = append(in.exprs, expression{row: row, col: col, sql: in.appendElement(nil, row, col, el)})
			}
		}
	}
	for begin := 0; begin < len(in.exprs); begin += evaluateAtOnce {
		err := r.evaluateSome(in.exprs[begin:min(begin+evaluateAtOnce, len(in.exprs))])
		if sqlerr.HasCode(err, sqlerr.UnknownColumn) || sqlerr.HasCode(err, sqlerr.UnknownTableIn) {
			return in.staged(sqlerr.Unsupported("an expression that refers to another column, as the value of a distribution key or AUTO_INCREMENT column",
				"write the value itself"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// appendElement appends the SQL of a value.
func (in *insertion) appendElement(dst []byte, row, col int, el element) []byte {
	if in.node.Row != nil {
		return in.args.AppendText(dst, in.node.Row[col])
	}
	return in.args.appendSpan(dst, el.span)
}

func (r *Runner) evaluateSome(exprs []expression) error {
	r.body = append(r.body[:0], "SELECT "...)
	for i := range exprs {
		if i > 0 {
			r.body = append(r.body, ", "...)
		}
		// The newline ends a comment the expression may end with.
		r.body = append(append(append(r.body, '('), exprs[i].sql...), "\n)"...)
	}
	cols, row, err := r.Conns.Evaluate(r.body)
	if err != nil {
		return err
	}
	if len(cols) != len(exprs) || len(row) != len(exprs) {
		return sqlerr.Internal.New("a server answered with another number of values than asked for")
	}
	for i := range exprs {
		exprs[i].value = valueOf(&cols[i], row[i])
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
