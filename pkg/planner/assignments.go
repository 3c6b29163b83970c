package planner

import (
	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

// A server promises that the assignments of an UPDATE are done from left to right, each seeing what those before it have
// assigned, for a single table alone. Where it joins the table with others it may, depending on its plan, compute them
// all over the row as it was: `UPDATE a JOIN b ... SET a.x = 3, a.y = a.x`. MySQL joins a single table, too, with the
// subqueries of EXISTS and IN. Node groups would decide for themselves, each by its own rows.

// unsureAssignments is why an UPDATE of several node groups' rows, each by itself, is refused: what it assigns may depend on the
// plan of each server. nil: it does not.
func (m *modification) unsureAssignments(b *build) *sqlerr.Error {
	if len(m.scope.insts) > 1 {
		return m.readsAssigned()
	}
	return m.unsureAlone(b)
}

// unsureAlone is why an UPDATE of a single table is refused even where one server has all its rows: the client relies on the
// order of the assignments, and the server does not keep it. Of a join no order is promised, so that any is right.
func (m *modification) unsureAlone(b *build) *sqlerr.Error {
	if len(m.scope.insts) > 1 || !m.joined(b) {
		return nil
	}
	return m.readsAssigned()
}

func (m *modification) readsAssigned() *sqlerr.Error {
	if m.update == nil {
		return nil
	}
	for i, e := range m.update.Exprs {
		if name := readsEarlier(e.Expr, m.update.Exprs[:i]); name != "" {
			return sqlerr.Unsupported("an UPDATE with a join or a subquery that reads the column '"+name+
				"' behind its assignment, over several node groups: a server reads the old value or the new one, depending on its plan",
				"assign the column last, or write what it becomes in place of it")
		}
	}
	return nil
}

// joined reports whether a server may read the rows that are written in the order of a join.
func (m *modification) joined(b *build) bool {
	return len(m.scope.insts) > 1 || m.update != nil && b.snap.Flavor == catalog.MySQL && !m.limited && semiJoined(m.update.Where)
}

// semiJoined reports whether a condition has a subquery that MySQL may join.
func semiJoined(where *sqlparser.Where) (found bool) {
	if where == nil {
		return false
	}
	_ = sqlparser.Walk(func(node sqlparser.SQLNode) (bool, error) {
		switch e := node.(type) {
		case *sqlparser.ExistsExpr:
			found = true
		case *sqlparser.ComparisonExpr:
			if _, ok := e.Right.(*sqlparser.Subquery); ok && (e.Modifier == sqlparser.Any || e.Operator == sqlparser.InOp || e.Operator == sqlparser.NotInOp) {
				found = true
			}
		}
		return !found, nil
	}, where.Expr)
	return found
}

// readsEarlier finds a column that e reads and one of the assignments before it sets; "" if there is none. Columns of one
// name are taken for the same, unless both are qualified by different tables.
func readsEarlier(e sqlparser.Expr, before sqlparser.UpdateExprs) (name string) {
	_ = sqlparser.Walk(func(node sqlparser.SQLNode) (bool, error) {
		if read, ok := node.(*sqlparser.ColName); ok {
			for _, set := range before {
				q, r := set.Name.Qualifier, read.Qualifier
				if set.Name.Name.Equal(read.Name) && (q.IsEmpty() || r.IsEmpty() || q.Name == r.Name) {
					name = read.Name.String()
				}
			}
		}
		return name == "", nil
	}, e)
	return name
}
