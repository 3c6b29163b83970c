package plan

import (
	"fmt"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
)

// UniqueKey is a key that the rows of an INSERT may collide in.
type UniqueKey struct {
	Name    string // "PRIMARY" or the key's
	Columns []int
	Lengths []int // how much the key holds of each, as of a catalog.Index
	// Index keeps the key unique over all groups; nil for a key that holds the distribution key, which the servers enforce.
	Index *catalog.GlobalIndex
	// Computed: servers compute values of it, and Index keeps it: they are known of a row that is there. It has neither Values nor Types.
	Computed bool
	// Values says, for each of Columns, where a row's value comes from.
	Values []InsertValue
	// Types are, for each of Columns, what is known of how its values are stored.
	Types placement.Key
}

// Length is how much the key holds of the i-th of Columns, 0 for all of it.
func (k *UniqueKey) Length(i int) int {
	if k.Lengths == nil {
		return 0
	}
	return k.Lengths[i]
}

// Indexed is what an INSERT or REPLACE into a table with global indexes, or with foreign keys that servers cannot enforce,
// needs besides the rows.
type Indexed struct {
	// Keys are all keys of the table, the primary key first.
	Keys []UniqueKey
	// Insert is the text before the rows of an INSERT that says nothing of duplicates.
	Insert Text
	// Returned, not nil, is SELECT of what RETURNING asks for, up to WHERE, of rows that are written one by one.
	Returned Text
	// Own: foreign keys of the table are enforced by the statement, not by the servers.
	Own bool
	// Renamed, not nil, are columns of the primary key that ON DUPLICATE KEY UPDATE gives what the new row has there: all of the distribution
	// key, or none of it. Stay, not nil, is why a row may not go to another node group by that; Renew is ChangeRows.Renew.
	Renamed []int
	Stay    *sqlerr.Error
	Renew   bool
	// Meets: what becomes of a row depends on the rows that have its values of keys which servers compute: only a stage's are known.
	Meets bool
}

func (n *Indexed) print(w *strings.Builder, depth int) {
	if n.Own {
		indent(w, depth)
		w.WriteString("     with foreign keys\n")
	}
	if n.Renamed != nil {
		indent(w, depth)
		w.WriteString("     a row that is met may get the new row's primary key\n")
	}
	if n.Meets {
		indent(w, depth)
		w.WriteString("     rows of a stage only\n")
	}
	for _, k := range n.Keys {
		if k.Index == nil {
			continue
		}
		indent(w, depth)
		if k.Computed {
			fmt.Fprintf(w, "     entries of %s as servers compute it\n", k.Name)
			continue
		}
		fmt.Fprintf(w, "     entries of %s by (", k.Name)
		for i, v := range k.Values {
			if i > 0 {
				w.WriteString(", ")
			}
			w.WriteString(v.String())
			if n := k.Length(i); n > 0 {
				fmt.Fprintf(w, "(%d)", n)
			}
		}
		w.WriteString(")\n")
	}
}

// RowImage is a column whose old and new values a statement has to know: it is selected with workspace.ReadKey.
type RowImage struct {
	Column int // of the table
	At     int // position in the result
}
