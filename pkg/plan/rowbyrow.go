package plan

import (
	"fmt"
	"strings"

	"skarv/pkg/catalog"
)

// RowByRow is a write to a table with triggers that sessions run (see catalog.TriggerProgram): for each row the triggers before
// it, an INSERT, UPDATE or DELETE of that row alone, which is planned as a statement of its own, and the triggers behind it.
// All of it is one statement: it stands or falls as a whole.
type RowByRow struct {
	Table *catalog.Table
	// Event is what fires triggers: INSERT, UPDATE or DELETE.
	Event string
	// Alias is what UPDATE and DELETE call the table.
	Alias string
	// Sets are the columns that UPDATE assigns, or to which INSERT and REPLACE give values, DEFAULT among them.
	Sets []int
	// Query: INSERT ... SELECT.
	Query bool
	// Finds: one MariaDB server finds all rows of an UPDATE or DELETE before it writes the first one.
	Finds bool
	// Tables are all that the statement reads or writes: triggers may not write to them.
	Tables []*catalog.Table
}

func (*RowByRow) node() {}

func (n *RowByRow) print(w *strings.Builder, depth int) {
	fmt.Fprintf(w, "row by row %s.%s\n", n.Table.Database, n.Table.Name)
	for _, tr := range n.Table.Triggers {
		if tr.Program == nil || tr.Event != n.Event {
			continue
		}
		indent(w, depth+1)
		timing := "after"
		if tr.Before {
			timing = "before"
		}
		fmt.Fprintf(w, "%s %s: trigger %s\n", timing, strings.ToLower(tr.Event), tr.Name)
	}
}
