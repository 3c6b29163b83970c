package plan

import (
	"fmt"
	"strings"

	"skarv/pkg/catalog"
)

// Query is a query inside a statement (a derived table, a common table expression, a subquery that looks at nothing outside)
// whose rows the node groups find by themselves: they are copied, and stand in the statement as a table.
type Query struct {
	// Root finds the rows, as for a statement of its own. Its arguments are the statement's.
	Root Node
	// Text is the query: one server is asked for the types of its columns.
	Text Text
	// Keys are columns to be indexed, by name.
	Keys []string
	// Operand: the query is a subquery in an expression, which computes with the types that its columns are shown with. A derived table has
	// those of a table that is made of it: on MySQL MIN(v.n) of a view's INT is shown as INT, and kept as BIGINT.
	Operand bool
	// Uses is what the query depends on.
	Uses Uses
	// Of is the table that has the most to do with how many rows there are, and Share the part of its rows that is expected.
	Of    *catalog.Table
	Share float64
}

func (n *Query) print(w *strings.Builder, depth int) {
	if len(n.Keys) > 0 {
		fmt.Fprintf(w, ", by %s", strings.Join(n.Keys, ", "))
	}
	w.WriteString(": a query of the statement\n")
	printNode(w, n.Root, depth)
}
