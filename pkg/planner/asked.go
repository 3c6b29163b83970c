package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// askings are the queries for values in ON DUPLICATE KEY UPDATE, which node groups cannot answer: a stage asks them first, over copies of their tables.
// Such a query reads nothing of the row, and nothing that the statement writes to, so that it has one value however many rows are met.
type askings struct {
	b     *build
	spans []sqlparse.Span // without parentheses
	alone []bool
}

// askings finds them in the text from at on; nil if there are none, or others than such.
func (b *build) askings(at int) *askings {
	in := b.ins
	if in == nil {
		return nil
	}
	q := &askings{b: b}
	for _, span := range queriesIn(b.st) {
		if span.Start > at && (len(q.spans) == 0 || span.Start > q.spans[len(q.spans)-1].End) {
			q.spans = append(q.spans, span)
		}
	}
	for _, u := range in.stmt.OnDup {
		_, alone := u.Expr.(*sqlparser.Subquery)
		ok := true
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			switch n := n.(type) {
			case *sqlparser.ExistsExpr:
				ok = false
			case *sqlparser.ComparisonExpr:
				_, queried := n.Right.(*sqlparser.Subquery)
				ok = ok && !(queried && (n.Operator == sqlparser.InOp || n.Operator == sqlparser.NotInOp || n.Modifier != sqlparser.Missing))
			case *sqlparser.Subquery:
				q.alone = append(q.alone, alone)
				return false, nil
			}
			return ok, nil
		}, u.Expr)
		if !ok {
			return nil
		}
	}
	if len(q.spans) == 0 || len(q.spans) != len(q.alone) {
		return nil
	}
	for _, span := range q.spans {
		st, _, ok := b.scanPart(span)
		if !ok {
			return nil
		}
		if n, _ := b.inside(st); n == nil || slices.ContainsFunc(n.a.insts, func(in *instance) bool { return in.inView }) {
			return nil
		}
	}
	return q
}

// has reports whether a table's reference stands in one of the queries.
func (q *askings) has(r sqlparse.TableRef) bool {
	return q != nil && slices.ContainsFunc(q.spans, func(s sqlparse.Span) bool { return inSpan(r.Span, s) })
}

// tail is ON DUPLICATE KEY UPDATE, which begins at a place of the text, with values in the place of the queries.
func (q *askings) tail(at int) plan.Text {
	e := &editor{st: q.b.st}
	if alias := q.b.ins.stmt.RowAlias; alias != nil {
		e.raw("AS " + sqltypes.QuoteName(alias.TableName.String()) + " ")
	}
	for i, s := range q.spans {
		e.span(at, s.Start)
		e.arg(plan.Piece{Arg: plan.ArgList - i})
		at = s.End
	}
	e.span(at, len(q.b.st.SQL()))
	return e.done()
}

// plan puts the queries into p. The renames in them are theirs then.
func (q *askings) plan(p *plan.Workspace, refs []sqlparse.TableRef) {
	p.Asked, p.Renames = q.texts(refs, p.Renames)
	if p.Own != nil {
		p.Own.Asked, p.Own.Renames = q.texts(refs, p.Own.Renames)
	}
}

func (q *askings) texts(refs []sqlparse.TableRef, renames []plan.Rename) (list []plan.Asked, rest []plan.Rename) {
	rest = slices.DeleteFunc(slices.Clone(renames), func(r plan.Rename) bool { return q.has(refs[r.Ref]) })
	for i, s := range q.spans {
		e := &editor{st: q.b.st}
		at := s.Start
		for _, r := range renames {
			if span := refs[r.Ref].Span; inSpan(span, s) {
				e.span(at, span.Start)
				e.raw(r.Text)
				at = span.End
			}
		}
		e.span(at, s.End)
		list = append(list, plan.Asked{Text: e.done(), Alone: q.alone[i]})
	}
	return list, rest
}
