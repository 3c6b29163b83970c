package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// Choice is a query that can be run in several ways, all of them right. Which one is cheap depends on how many rows its tables
// have, which only who runs the plan knows: see Order.
type Choice struct {
	// Broadcasts differ in the tables they copy. They need every statement of the query to see the same rows, whatever the
	// connection: within a transaction there is only the workspace.
	Broadcasts []*Broadcast
	// First, not nil, is a workspace that may do with the first rows of a table.
	First *Workspace
	// Queries, not nil, is a workspace some copies of which are the rows of queries of the statement.
	Queries *Workspace
	// Workspace is the way that is always there.
	Workspace *Workspace
	// Floats: a table of the query has FLOAT columns, whose values are cut when a server writes them as text.
	Floats bool
}

// Broadcast joins tables that do not lie together by bringing the small ones to the large one: Copies are made on every
// node group that Input asks, in temporary tables that hide the tables of the same names there, and Input reads them as it
// would read reference tables.
type Broadcast struct {
	Copies []Copy
	Input  Node
}

func (*Choice) node()    {}
func (*Broadcast) node() {}

func (n *Choice) print(w *strings.Builder, depth int) {
	for i, b := range n.Broadcasts {
		if i > 0 {
			indent(w, depth)
		}
		b.print(w, depth)
		indent(w, depth)
		w.WriteString("or\n")
	}
	begun := len(n.Broadcasts) > 0
	for _, workspace := range []*Workspace{n.Queries, n.First} {
		if workspace == nil {
			continue
		}
		if begun {
			indent(w, depth)
		}
		begun = true
		workspace.print(w, depth)
		indent(w, depth)
		w.WriteString("or\n")
	}
	indent(w, depth)
	n.Workspace.print(w, depth)
}

func (n *Broadcast) print(w *strings.Builder, depth int) {
	fmt.Fprintf(w, "broadcast %s\n", n.Names())
	for i := range n.Copies {
		c := &n.Copies[i]
		indent(w, depth+1)
		fmt.Fprintf(w, "copy to all: fragment #%d, as below\n", c.Input.ID)
		c.printJoins(w, depth+2)
	}
	printNode(w, n.Input, depth+1)
}

// Names are the tables that are copied.
func (n *Broadcast) Names() string {
	names := make([]string, len(n.Copies))
	for i := range n.Copies {
		names[i] = n.Copies[i].Table.Name
	}
	return strings.Join(names, ", ")
}

func jsonOfChoice(n *Choice) *jsonNode {
	j := &jsonNode{Step: "choice"}
	for _, b := range n.Broadcasts {
		j.Inputs = append(j.Inputs, jsonOfBroadcast(b))
	}
	for _, w := range []*Workspace{n.Queries, n.First} {
		if w != nil {
			j.Inputs = append(j.Inputs, jsonOfWorkspace(w))
		}
	}
	j.Inputs = append(j.Inputs, jsonOfWorkspace(n.Workspace))
	return j
}

func jsonOfBroadcast(n *Broadcast) *jsonNode {
	j := &jsonNode{Step: "broadcast", Input: jsonOf(n.Input)}
	for i := range n.Copies {
		j.Inputs = append(j.Inputs, n.Copies[i].json("copy to all"))
	}
	return j
}

// FirstRows lets a workspace do with a part of its first copy: every row of the result comes from a row of that table, in
// whose order the query sorts, and the query has a LIMIT. If the first rows of the table give as many rows as the LIMIT wants, those
// are the answer; else more rows are needed.
type FirstRows struct {
	// Order is that of the rows of the first copy's Input, which ends with the ORDER BY and without LIMIT; none: any.
	Order []Order
	// Keep is how many columns of Input are copied: those behind are there to sort by.
	Keep int
	// Count and Offset are the query's LIMIT.
	Count  Operand
	Offset *Operand
}

// FirstRows reads the first rows of the first copy.
func (n *Workspace) FirstRows(rows uint64) Node {
	count := sqltypes.Value{Kind: sqltypes.Int, Raw: strconv.AppendUint(nil, rows, 10)}
	f := *n.Copies[0].Input
	f.Text = append(slices.Clone(f.Text), Piece{SQL: " LIMIT " + string(count.Raw), Arg: NoArg})
	var node Node = &Merge{Input: &f, Order: n.First.Order}
	if n.First.Keep > 0 {
		node = &Project{Input: node, Keep: n.First.Keep}
	}
	return &Limit{Input: node, Count: Operand{Arg: NoArg, Const: count}}
}

func (n *FirstRows) print(w *strings.Builder) {
	if len(n.Order) > 0 {
		fmt.Fprintf(w, ", its first rows by %s", orders(n.Order))
	} else {
		w.WriteString(", its first rows")
	}
	fmt.Fprintf(w, " for limit %s", operand(n.Count))
	if n.Offset != nil {
		fmt.Fprintf(w, " offset %s", operand(*n.Offset))
	}
}

// Tables are those whose sizes decide.
func (n *Choice) Tables() []*catalog.Table { return tablesOf(n.Workspace, nil) }

func tablesOf(n *Workspace, list []*catalog.Table) []*catalog.Table {
	for i := range n.Copies {
		switch c := &n.Copies[i]; {
		case c.View != nil:
			list = tablesOf(c.View, list)
		case !slices.Contains(list, c.Table):
			list = append(list, c.Table)
		}
	}
	return list
}
