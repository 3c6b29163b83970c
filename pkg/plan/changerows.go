package plan

import (
	"fmt"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

// ChangeRows is an UPDATE of one table whose rows may have to move to other groups. Its rows are read first, with
// their locks, and then changed one after the other, on whichever group each lies, by their primary keys.
type ChangeRows struct {
	Table *catalog.Table
	// Read selects the rows to be changed, FOR UPDATE: the columns of the primary key, in workspace.Read's form, then the
	// new values of the distribution columns as NewKey says.
	Read *Fragment
	// NewKey has, for each distribution column, the position in Read's result of the value it gets. For a column that is
	// not assigned it is that of the old value.
	NewKey []int
	// Order are the positions in Read's result by which the rows are changed, whole numbers all: as one server goes
	// through them. Empty: as they come.
	Order []Order
	// Set is the statement's text up to its WHERE.
	Set Text
	// Ignore: a row that cannot be changed stays as it is.
	Ignore bool
	// Stay, when not nil, is why no row may move to another group.
	Stay *sqlerr.Error
}

func (*ChangeRows) node() {}

func (n *ChangeRows) print(w *strings.Builder, depth int) {
	fmt.Fprintf(w, "change rows of %s, moving them to key(", n.Table.Name)
	for i, at := range n.NewKey {
		if i > 0 {
			w.WriteString(", ")
		}
		fmt.Fprintf(w, "column %d", at)
	}
	w.WriteString(")")
	if len(n.Order) > 0 {
		fmt.Fprintf(w, " by %s", orders(n.Order))
	}
	if n.Stay != nil {
		w.WriteString(" within a group only")
	}
	w.WriteString("\n")
	printText(w, n.Set, depth)
	printNode(w, n.Read, depth+1)
}

func jsonOfChangeRows(n *ChangeRows) *jsonNode {
	return &jsonNode{Step: "change rows", Write: true, SQL: n.Set.String(), Tables: []string{n.Table.Database + "." + n.Table.Name},
		By: list(n.Order), Input: jsonOf(n.Read)}
}
