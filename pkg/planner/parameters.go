package planner

import (
	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/sqlparse"
)

// The type of a parameter is that of the value it has when the statement runs, as wide as any such value can be: not that of the value
// written as a literal, and nothing before there is one. So columns whose types are made of parameters are not copied by the text of
// their query, and what a server says of them when the statement is prepared is not believed.

// parameterIn reports whether a part of the text has a parameter.
func (b *build) parameterIn(span sqlparse.Span) bool {
	for i := range b.st.NumArgs() {
		if a := b.st.Arg(i); a.Class == sqlparse.ClassParam && span.Start <= a.Start && a.End <= span.End {
			return true
		}
	}
	return false
}

// selectsParameter reports whether a parameter may be part of the type of a column: it stands in the select list of a query, in that
// of any part of a UNION, or of what is read in FROM and WITH. Conditions have no part in types. The node is of b's statement.
func (b *build) selectsParameter(node sqlparser.SQLNode) (found bool) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Where, *sqlparser.JoinCondition, *sqlparser.GroupBy, sqlparser.OrderBy, *sqlparser.Limit:
			return false, nil
		case *sqlparser.Argument:
			found = found || b.isParameter(n)
		}
		return !found, nil
	}, node)
	return found
}

// ofParameters are the numbers of the result's columns whose types parameters have a part in. ok is false if an AVG has one as well: the
// quotient of a sum and a count is a wider number, and nobody knows by how much before the parameters have values.
func (b *build) ofParameters() (numbers []int, ok bool) {
	if !b.selectsParameter(b.query.stmt) {
		return nil, true
	}
	if b.query.block == nil {
		return nil, false
	}
	list, ok := b.plainItems()
	if !ok {
		return nil, false
	}
	for i, item := range list {
		switch parameters, averages := b.typeSources(b.query.block, item.Expr); {
		case parameters && averages:
			return nil, false
		case parameters:
			numbers = append(numbers, i)
		}
	}
	return numbers, true
}

// typeSources tells whether parameters, and averages, may have a part in the type of an expression.
func (b *build) typeSources(blk *block, e sqlparser.Expr) (parameters, averages bool) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Subquery:
			parameters = parameters || b.selectsParameter(n.Select)
		case *sqlparser.Argument:
			parameters = parameters || b.isParameter(n)
		case *sqlparser.Avg:
			averages = true
		case *sqlparser.ColName:
			in, item := b.columnItem(blk, n)
			p, a := false, false
			switch {
			case item != nil:
				p, a = b.typeSources(in.sub.block, item.Expr)
			case in == nil || in.table == nil: // of a query that is not known
				p, a = true, true
			}
			parameters, averages = parameters || p, averages || a
		}
		return true, nil
	}, e)
	return parameters, averages
}

// isParameter reports whether the statement has a parameter there, and no literal.
func (b *build) isParameter(n *sqlparser.Argument) bool {
	i, ok := sqlparse.ArgNumber(n.Name)
	return !ok || i >= b.st.NumArgs() || b.st.Arg(i).Class == sqlparse.ClassParam
}
