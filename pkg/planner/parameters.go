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
			i, ok := sqlparse.ArgNumber(n.Name)
			found = found || !ok || i >= b.st.NumArgs() || b.st.Arg(i).Class == sqlparse.ClassParam
		}
		return !found, nil
	}, node)
	return found
}
