package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
)

// lateReads refuses a write that may come to a subquery over what it writes when it has written rows already. A server makes the rows of
// a view that it does not merge, or of a derived table, when it first needs them: of IF(id > 3, (SELECT ... FROM view), n) behind the rows before,
// which it has changed by then. A workspace has copies from before.
func (b *build) lateReads() error {
	switch n := b.plan.Root.(type) {
	case *plan.Workspace:
		if !n.Write {
			return nil
		}
	case *plan.RowByRow:
	default:
		return nil
	}
	refuse := func(t *catalog.Table) error {
		return sqlerr.Unsupported("a write to table '"+t.Name+"' that reads it by a view or a derived table where a server may come to that when it has written rows (in IF, CASE, OR, a correlated join), over several node groups",
			"select the values first, with SELECT ... INTO @x")
	}
	switch m, in := b.mod, b.ins; {
	case m != nil && m.analysed:
		for _, written := range m.written {
			if len(m.scope.insts) == 1 && oneRow(written) {
				continue
			}
			if l := (&lateReader{b, m.scope, written.table}); !l.modification(m) {
				return refuse(written.table)
			}
		}
	case in != nil && in.analysed && in.query != nil && b.snap.Flavor == catalog.MariaDB: // MySQL stores what the query finds first
		if in.query.block == nil {
			return nil // so does any server with a UNION
		}
		if l := (&lateReader{b, in.query.block, in.table}); !l.selects(in.query.block.sel) {
			return refuse(in.table)
		}
	}
	return nil
}

// lateReader looks for subqueries over what is written to table.
type lateReader struct {
	b     *build
	scope *block
	table *catalog.Table
}

// modification reports whether an UPDATE or DELETE reads the table before it writes.
func (l *lateReader) modification(m *modification) bool {
	if m.update != nil {
		if !l.within(sqlparser.TableExprs(m.update.TableExprs)) || !l.chosen(m.update.Where) {
			return false
		}
		for _, u := range m.update.Exprs {
			own := func(e sqlparser.Expr) bool { return len(m.update.Exprs) == 1 && keepsValue(u.Name, e) } // a NULL stays one
			if !l.reads(u.Expr, true, own) {
				return false
			}
		}
		return true
	}
	return l.within(sqlparser.TableExprs(m.del.TableExprs)) && l.chosen(m.del.Where)
}

// selects reports whether the SELECT of an INSERT does.
func (l *lateReader) selects(sel *sqlparser.Select) bool {
	if sel == nil {
		return true
	}
	if !l.within(sqlparser.TableExprs(sel.From)) || !l.chosen(sel.Where) || !l.chosen(sel.Having) {
		return false
	}
	for _, e := range sel.SelectExprs.Exprs {
		if item, ok := e.(*sqlparser.AliasedExpr); ok && !l.reads(item.Expr, true, nil) {
			return false
		}
	}
	return true
}

// chosen reports whether a row for which the subqueries in a condition have not been computed is none that the condition chooses.
func (l *lateReader) chosen(where *sqlparser.Where) bool {
	ok := true
	if where != nil {
		conjuncts(where.Expr, func(e sqlparser.Expr) { ok = ok && l.reads(e, true, func(sqlparser.Expr) bool { return true }) })
	}
	return ok
}

// reads reports whether e reads the table for the first row, or never. first: e is computed for that. unknown tells of which expressions
// it does not matter that they are NULL, by which servers leave out what stands on the other side.
func (l *lateReader) reads(e sqlparser.SQLNode, first bool, unknown func(sqlparser.Expr) bool) bool {
	sides := func(left, right sqlparser.Expr) bool {
		return l.reads(left, first, unknown) && l.reads(right, first && (unknown != nil && unknown(left) || l.neverNull(left)), unknown)
	}
	switch e := e.(type) {
	case *sqlparser.Subquery:
		q := l.b.a.queries[e]
		return q == nil || !l.stores(q) || first && l.atOnce(q)
	case *sqlparser.ExistsExpr:
		return l.reads(e.Subquery, first, unknown)
	case *sqlparser.NotExpr:
		return l.reads(e.Expr, first, unknown)
	case *sqlparser.UnaryExpr:
		return l.reads(e.Expr, first, unknown)
	case *sqlparser.ComparisonExpr:
		if e.Operator == sqlparser.NullSafeEqualOp {
			return l.reads(e.Left, first, nil) && l.reads(e.Right, first, nil)
		}
		return sides(e.Left, e.Right)
	case *sqlparser.BinaryExpr:
		return sides(e.Left, e.Right)
	case *sqlparser.AndExpr:
		return l.reads(e.Left, first, nil) && l.within(e.Right)
	case *sqlparser.OrExpr:
		return l.reads(e.Left, first, nil) && l.within(e.Right)
	case *sqlparser.FuncExpr:
		for i, arg := range e.Exprs {
			if !l.reads(arg, first && i == 0, nil) {
				return false
			}
		}
		return true
	case *sqlparser.IsExpr:
		return l.reads(e.Left, first, nil)
	case *sqlparser.CastExpr:
		return l.reads(e.Expr, first, nil)
	case *sqlparser.ConvertExpr:
		return l.reads(e.Expr, first, nil)
	}
	return l.within(e)
}

// within reports whether no subquery in n reads the table.
func (l *lateReader) within(n sqlparser.SQLNode) bool {
	ok := true
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if sub, is := n.(*sqlparser.Subquery); is {
			q := l.b.a.queries[sub]
			ok = ok && (q == nil || !l.stores(q))
			return false, nil
		}
		return ok, nil
	}, n)
	return ok
}

// neverNull reports whether e has a value in every row, or in none.
func (l *lateReader) neverNull(e sqlparser.Expr) bool {
	switch e := e.(type) {
	case *sqlparser.Literal, *sqlparser.Argument:
		return true
	case *sqlparser.ColName:
		ref := l.scope.resolve(e, l.b.a.lower)
		return ref.ok() && !ref.column().Nullable && len(l.scope.insts) == 1
	}
	return false
}

// stores reports whether q reads the table where a server may store the rows first: in a view, a derived table, a common table expression.
func (l *lateReader) stores(q *query) bool {
	if slices.ContainsFunc(q.parts, l.stores) {
		return true
	}
	return q.block != nil && (slices.ContainsFunc(q.block.insts, func(in *instance) bool {
		return in.sub != nil && l.names(in.sub) || in.opaque && slices.Contains(l.b.a.behind, l.table)
	}) || slices.ContainsFunc(q.block.subs, func(s *subquery) bool { return l.stores(s.q) }))
}

// names reports whether q reads the table.
func (l *lateReader) names(q *query) bool {
	if slices.ContainsFunc(q.parts, l.names) {
		return true
	}
	return q.block != nil && (slices.ContainsFunc(q.block.insts, func(in *instance) bool {
		return in.table == l.table || in.sub != nil && l.names(in.sub) || in.opaque && slices.Contains(l.b.a.behind, l.table)
	}) || slices.ContainsFunc(q.block.subs, func(s *subquery) bool { return l.names(s.q) }))
}

// atOnce reports whether all that q reads of the table is read when it is first computed: it looks at nothing outside of it, or at each row of one
// derived table or view.
func (l *lateReader) atOnce(q *query) bool {
	if l.b.plan.Uses&(plan.Nondeterministic|plan.WritesUserVariable) != 0 {
		return false
	}
	if l.alone(q) {
		return true
	}
	blk := q.block
	if blk == nil || len(blk.insts) != 1 || slices.ContainsFunc(blk.subs, func(s *subquery) bool { return l.stores(s.q) }) {
		return false
	}
	if in := blk.insts[0]; !in.opaque && (in.sub == nil || !l.alone(in.sub)) { // what views read is in their text, whether it is analysed or not
		return false
	}
	all := true
	if blk.where != nil {
		conjuncts(blk.where.Expr, func(e sqlparser.Expr) { all = all && blk.looksAt(e, l.b.a.lower) })
	}
	return all
}

// alone reports whether q looks at nothing outside of it.
func (l *lateReader) alone(q *query) bool {
	if q.block == nil {
		return len(q.parts) > 0 && !slices.ContainsFunc(q.parts, func(p *query) bool { return !l.alone(p) })
	}
	return l.b.a.closed(q, q.block.parent)
}

// looksAt reports whether e names a column that is surely of the block's own tables.
func (b *block) looksAt(e sqlparser.Expr, lower bool) (found bool) {
	opaque := slices.ContainsFunc(b.insts, func(in *instance) bool { return in.opaque })
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.ColName:
			_, own := b.resolveHere(n, lower)
			found = found || own && !(opaque && n.Qualifier.IsEmpty())
		case *sqlparser.Subquery:
			return false, nil
		}
		return !found, nil
	}, e)
	return found
}
