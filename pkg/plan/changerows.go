package plan

import (
	"fmt"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

// ChangeRows is an UPDATE or DELETE of one table that touches more than the rows where they lie: rows move to other
// groups, or entries of global indexes change with them. The rows are read first, with their locks, and then changed, on
// whichever group each lies, by their primary keys.
type ChangeRows struct {
	Table *catalog.Table
	// Read selects the rows to be changed, FOR UPDATE: the columns of the primary key, in workspace.Read's form, then the
	// new values of the distribution columns as NewKey says.
	Read *Fragment
	// NewKey has, for each distribution column, the position in Read's result of the value it gets. For a column that is
	// not assigned it is that of the old value. Nil when no row moves.
	NewKey []int
	// Delete: the rows are deleted, and Set is nil.
	Delete bool
	// Indexes are the global indexes that have entries of the rows which change. Images are their columns and those of
	// the distribution key.
	Indexes []*catalog.GlobalIndex
	Images  []RowImage
	// Own: foreign keys of the table are enforced by the statement, not by the servers; Images has what they need.
	Own bool
	// Renew: a row that moves is written anew once it is changed. In a transaction that has inserted a row, or changed what a FULLTEXT key holds
	// of it, and gives it a smaller primary key, servers of both kinds lose the row from their FULLTEXT keys.
	Renew bool
	// Order is by what the rows are changed, as one server goes through them. Empty: as they come.
	Order []Order
	// Doubt says of which rows it is not known in which order one server comes to them. If it is of any, Images has the
	// distribution key: the statement is refused where the order of such rows matters.
	Doubt Doubt
	// OthersAssigned: columns of unique keys are assigned that are not of the distribution key.
	OthersAssigned bool
	// Set is the statement's text up to its WHERE.
	Set Text
	// Bits are what WHERE compares with BIT columns of indexes: servers look a string up by its bytes in a query, and take it for a number
	// in a write.
	Bits []Operand
	// Finds: one MariaDB server finds all rows before it writes the first one.
	Finds bool
	// Ignore: a row that cannot be changed stays as it is.
	Ignore bool
	// Stay, when not nil, is why no row may move to another group.
	Stay *sqlerr.Error
}

// Doubt is how much is not known of the order in which one server goes through the rows of an UPDATE.
type Doubt uint8

// The doubts.
const (
	NoDoubt   Doubt = iota
	AboutTies       // rows that Order holds for equal
	AboutAll        // all of them: a server may take an index
)

func (*ChangeRows) node() {}

// FindsAgain reports whether rows are looked for by their new primary keys.
func (n *ChangeRows) FindsAgain() bool { return len(n.Indexes) > 0 || n.Own || n.Renew }

func (n *ChangeRows) print(w *strings.Builder, depth int) {
	word := "change"
	if n.Delete {
		word = "delete"
	}
	fmt.Fprintf(w, "%s rows of %s", word, n.Table.Name)
	for i, at := range n.NewKey {
		if i == 0 {
			w.WriteString(", moving them to key(")
		} else {
			w.WriteString(", ")
		}
		fmt.Fprintf(w, "column %d", at)
	}
	if n.NewKey != nil {
		w.WriteString(")")
	}
	if n.Own {
		w.WriteString(", with foreign keys")
	}
	for i, x := range n.Indexes {
		if i == 0 {
			w.WriteString(", entries of ")
		} else {
			w.WriteString(", ")
		}
		w.WriteString(x.Name)
	}
	if len(n.Order) > 0 {
		fmt.Fprintf(w, " by %s", orders(n.Order))
	}
	switch n.Doubt {
	case AboutTies:
		w.WriteString(", of others in no order")
	case AboutAll:
		w.WriteString(", or by an index")
	}
	if n.Stay != nil {
		w.WriteString(" within a group only")
	}
	w.WriteString("\n")
	if n.Set != nil {
		printText(w, n.Set, depth)
	}
	printNode(w, n.Read, depth+1)
}

func jsonOfChangeRows(n *ChangeRows) *jsonNode {
	return &jsonNode{Step: "change rows", Write: true, SQL: n.Set.String(), Tables: []string{n.Table.Database + "." + n.Table.Name},
		By: list(n.Order), Input: jsonOf(n.Read)}
}
