package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
)

// Workspace runs a whole statement on one node group, on a connection of its own: the tables it reads are copied there
// into temporary tables that hide those of the same names, and the client's own text does the rest. What an UPDATE or DELETE has
// done to the copies is then done, by key, to the tables themselves: see Written.
type Workspace struct {
	// Write: some of Copies are Written. All copies are locked where they come from until the transaction ends.
	Write bool
	// Group is where it runs; 0: wherever the session likes.
	Group placement.NodeGroupID
	// Copies are made in this order.
	Copies []Copy
	// First, not nil: see there.
	First *FirstRows
	// Local are tables that the group has all rows of: they are read in place, unless the session is in a transaction,
	// whose own writes only its own connections see.
	Local []Copy
	// Again are further copies of tables of Local that are read more than once, where a server reads a temporary table once in a statement (MySQL),
	// and Own, not nil, is what reads them. See ForOwnRows.
	Again []Copy
	Own   *Reading
	// Stored are computed once the copies are there, in this order.
	Stored []Stored
	// Asked are queries for one value each, over the copies, that stand in ON DUPLICATE KEY UPDATE: in Stage.Tail their values are the list arguments
	// ArgList, ArgList-1, ...
	Asked []Asked
	// Renames are put into the client's text.
	Renames []Rename
	// Text, not nil, is the statement in place of the client's text.
	Text Text
	// OfParameters are the numbers of the result's columns whose types parameters have a part in: they are not known before these have values.
	// It is told where Copies have queries.
	OfParameters []int
	// Moments are arguments that columns are compared with which hold dates. If one of them is none, as is written without doubt, Copies are
	// made carefully: without Joins, and by their Careful. One server may fail at a row that would be left out.
	Moments []int
	// Stage, not nil: the statement is an INSERT or REPLACE whose rows go on from a stage. See Stage.
	Stage *Stage
	// LocalTwice: a table of Local is read by a function as well, or there cannot be as many copies as it is read, and a temporary table
	// can be read only once in a statement (MySQL): it cannot become a copy.
	LocalTwice bool
	// Torn, not nil, is a table that functions read both as it is now and as the transaction's snapshot has it, which one copy is not.
	Torn *catalog.Table
}

// Copy is a temporary table: of the rows Input reads, or of those a view gives.
type Copy struct {
	Table *catalog.Table
	// Name is what the temporary table is called in Table's database; empty: as Table.
	Name string
	// Columns of Table that are copied, as Input selects them.
	Columns []int
	// Unused are keys of Table that the statement cannot use: a copy of many rows is written without them.
	Unused []string
	// Different: the copy has no other columns than Columns, and of rows that are equal in them one at least. Keys are columns that are
	// indexed, by name.
	Different bool
	Keys      []string
	// Input is one table's rows. Nil for a view.
	Input *Fragment
	// Careful, not nil, is Input where one of Moments is no date: without the conditions that need it, and without Joins.
	Careful *Fragment
	// Share is the part of the table's rows that Input is expected to read, Joins left out of account, and Equal are columns that
	// must have one value for it, which Share leaves out of account, too.
	Share float64
	Equal []int
	// Joins are equalities with columns of copies made before: where their values are known, only rows with these values
	// are needed. See Joined.
	Joins []Join
	// View has the tables a view's SELECT reads; Text is that SELECT. The tables are dropped once the view's rows are there.
	View *Workspace
	Text string
	// OwnText, not empty, is Text over the copies of View.ForOwnRows.
	OwnText string
	// Query, not nil: the rows are those of a query of the statement. Table is made up and has nothing but a name.
	Query *Query
	// Written, not nil: the statement changes the copy.
	Written *Written
}

// Reading is how a statement reads copies, as the fields of these names in Workspace tell.
type Reading struct {
	Stored  []Stored
	Asked   []Asked
	Renames []Rename
	Text    Text
}

// ForOwnRows is n for a session that has rows which only its own connections see: tables of Local are copied, too.
func (n *Workspace) ForOwnRows() *Workspace {
	own := *n
	own.Copies = slices.Concat(n.Copies, n.Local, n.Again)
	own.Local, own.Again, own.Own = nil, nil, nil
	if n.Own != nil {
		own.Stored, own.Asked, own.Renames, own.Text = n.Own.Stored, n.Own.Asked, n.Own.Renames, n.Own.Text
	}
	return &own
}

// Stored is the rows of a common table expression that the statement reads from several places: temporary tables of one content in Database, one
// for each place.
type Stored struct {
	Database string
	Names    []string
	Text     Text
}

// Asked is a query for a value. Alone: the value is assigned as it is, and is not computed with.
type Asked struct {
	Text  Text
	Alone bool
}

// Computed reports whether the rows are not those of a table of the catalog: the table Table does not exist.
func (c *Copy) Computed() bool { return c.View != nil || c.Query != nil }

// WritesCopies reports whether the statement writes to a reference table, of which every node group has a copy.
func (n *Workspace) WritesCopies() bool {
	reference := func(t *catalog.Table) bool { return t.Kind == catalog.Reference }
	return n.Stage != nil && reference(n.Stage.Table) ||
		slices.ContainsFunc(n.Copies, func(c Copy) bool { return c.Written != nil && reference(c.Table) })
}

// Join says that Column must equal column Source of the copy at position From, which is made before, for a row to matter.
type Join struct {
	From   int
	Source int // in that table's columns
	Column int // in this table's columns
	// Op, not empty, compares Column with the one value that the copy at From has, instead of "equals". Always: if it has none, not
	// even NULL, all rows matter; else none does.
	Op     string
	Always bool
}

// CopyRow is what a table is called in the fragment that reads it for a copy, where it has conditions. CopyEnd is how
// that fragment ends, whatever sql_select_limit says, but for the clause that locks its rows.
const (
	CopyRow = "skarv_row"
	CopyEnd = " LIMIT 18446744073709551615"
)

// Joined is Input for the rows whose columns have values of lists: for Joins[i], list argument ArgList-i, where known(i)
// says that there is one. Input is returned where nothing is known.
func (c *Copy) Joined(known func(join int) bool) *Fragment {
	f, end := c.Input, ""
	for i, j := range c.Joins {
		if !known(i) {
			continue
		}
		if f == c.Input {
			copied := *c.Input
			f = &copied
			f.Text = slices.Clone(f.Text)
			last := &f.Text[len(f.Text)-1]
			at := strings.LastIndex(last.SQL, CopyEnd)
			last.SQL, end = last.SQL[:at], last.SQL[at:]
		}
		last := &f.Text[len(f.Text)-1]
		last.SQL += " AND " + CopyRow + ".`" + strings.ReplaceAll(c.Table.Columns[j.Column].Name, "`", "``") + "` " + cmp.Or(j.Op, "IN") + " "
		last.Arg = ArgList - i
		if d := c.Table.Distribution; f.Target.Kind == AllGroups && len(d) == 1 && d[0] == j.Column && j.Op == "" {
			f.Target = Target{Kind: ByKey, Table: c.Table, Key: []Operand{{Arg: last.Arg}}}
			last.Part = true
		}
		f.Text = append(f.Text, Piece{Arg: NoArg})
	}
	if f != c.Input {
		f.Text[len(f.Text)-1].SQL = end
	}
	return f
}

// ReadsClock reports whether rows of n depend on the time.
func (n *Workspace) ReadsClock() bool {
	return slices.ContainsFunc(n.Copies, func(c Copy) bool { return c.Query != nil && c.Query.Uses&ReadsClock != 0 })
}

// TableName is what the copy is called.
func (c *Copy) TableName() string {
	if c.Name != "" {
		return c.Name
	}
	return c.Table.Name
}

// Stage is where the rows of an INSERT or REPLACE become what the table would hold, before it is known which node groups
// they belong to: a temporary table with the table's columns but without its keys, on the workspace. The client's statement,
// but for ON DUPLICATE KEY UPDATE, fills it; from there rows go, in order, to their groups, which judge what is a duplicate.
type Stage struct {
	Table *catalog.Table
	// Sequence is the column that the cluster's sequence fills, or -1. ZeroIsValue: sql_mode has NO_AUTO_VALUE_ON_ZERO.
	Sequence    int
	ZeroIsValue bool
	// Name is what the temporary table is called; it may be the table's own name.
	Name string
	// Verb begins the statements that insert into the table: "INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO".
	Verb string
	// Update: the statement has ON DUPLICATE KEY UPDATE, which, with Renumbers, may give the AUTO_INCREMENT column of a row another value.
	Update, Renumbers bool
	// Tail, not nil, is that clause where it is not the statement's own text: columns of the query have become VALUES(column).
	Tail Text
	// Returning: it has RETURNING, which the groups answer.
	Returning bool
	// Query: the rows come from a query; else they are VALUES.
	Query bool
	// Followed: rows of the table need more than being written: entries of global indexes, foreign keys that servers cannot enforce.
	Followed bool
	// Load: the rows come from the client's file (LOAD DATA LOCAL); Query is set, too.
	Load bool
	// Late are the columns whose NULL is an error behind the table's triggers only: servers fire some before a row, which see it and may
	// assign another value. That is so in strict mode.
	Late []int
}

// Written says what a statement may do to a table. Afterwards its copy is compared with what it was: rows that are gone are
// deleted by primary key, rows with other values are updated, and rows that have become others (Moved) are deleted and
// inserted, since they may belong to another node group and since updates of a unique key, done one by one, could meet each
// other's old values.
type Written struct {
	// Columns are those that may have other values in a row that stays, generated ones left out.
	Columns []int
	// Moved are the columns of unique keys, and of the distribution key, that may have other values.
	Moved []int
	// Followed: global indexes and, with Own, foreign keys that the servers cannot enforce follow what has been done.
	Followed, Own bool
	// AnyOrder: the order in which one server changes the rows depends on its plan. So the statement is refused if a row has got a unique
	// key that another one had before.
	AnyOrder bool
}

// Rename puts another table name in the place of a statement's table reference.
type Rename struct {
	// Ref is the number of the reference, as sqlparse.Statement.Tables counts them.
	Ref int
	// Text is what stands there instead.
	Text string
}

func (*Workspace) node() {}

func (n *Workspace) print(w *strings.Builder, depth int) {
	w.WriteString("workspace")
	if n.Write {
		w.WriteString(" write")
	}
	if n.Group != 0 {
		fmt.Fprintf(w, " on group %d", n.Group)
	}
	w.WriteString("\n")
	for i := range n.Copies {
		var first *FirstRows
		if i == 0 {
			first = n.First
		}
		n.Copies[i].print(w, "copy", first, depth+1)
	}
	if len(n.Moments) > 0 {
		indent(w, depth+1)
		w.WriteString("more rows are copied unless these are dates:")
		for _, arg := range n.Moments {
			fmt.Fprintf(w, " ?%d", arg+1)
		}
		w.WriteString("\n")
	}
	for i := range n.Local {
		n.Local[i].print(w, "in place, copied within a transaction,", nil, depth+1)
	}
	for i := range n.Again {
		indent(w, depth+1)
		w.WriteString("once more within a transaction " + n.Again[i].Table.Database + "." + n.Again[i].Table.Name + " as " + n.Again[i].Name + "\n")
	}
	for _, st := range n.Stored {
		indent(w, depth+1)
		w.WriteString("store " + st.Database + "." + strings.Join(st.Names, ", "+st.Database+".") + "\n")
		printText(w, st.Text, depth+1)
	}
	for _, a := range n.Asked {
		indent(w, depth+1)
		w.WriteString("asked\n")
		printText(w, a.Text, depth+1)
	}
	if st := n.Stage; st != nil {
		indent(w, depth+1)
		fmt.Fprintf(w, "stage %s.%s", st.Table.Database, st.Table.Name)
		if st.Name != st.Table.Name {
			w.WriteString(" as " + st.Name)
		}
		if st.Sequence >= 0 {
			w.WriteString(", sequence for " + st.Table.Columns[st.Sequence].Name)
		}
		w.WriteString("\n")
		indent(w, depth+1)
		w.WriteString(strings.ToLower(st.Verb) + " the groups of its rows")
		switch {
		case st.Tail != nil:
			w.WriteString(" " + st.Tail.String())
		case st.Update:
			w.WriteString(", on duplicate key update")
		}
		if st.Returning {
			w.WriteString(", returning")
		}
		w.WriteString("\n")
	}
	if n.Text != nil {
		indent(w, depth+1)
		w.WriteString("runs\n")
		printText(w, n.Text, depth+1)
	}
	for _, r := range n.Renames {
		indent(w, depth+1)
		fmt.Fprintf(w, "reference %d reads %s\n", r.Ref+1, r.Text)
	}
}

func (c *Copy) print(w *strings.Builder, what string, first *FirstRows, depth int) {
	indent(w, depth)
	w.WriteString(what + " " + c.Table.Database + "." + c.Table.Name)
	if c.Name != "" {
		w.WriteString(" as " + c.Name)
	}
	if c.View != nil {
		w.WriteString(": the view's rows, computed in a ")
		c.View.print(w, depth)
		return
	}
	if c.Query != nil {
		c.Query.print(w, depth+1)
		return
	}
	if c.Different {
		w.WriteString(", different rows")
		if len(c.Keys) > 0 {
			fmt.Fprintf(w, " by %s", strings.Join(c.Keys, ", "))
		}
	}
	if c.Written != nil {
		w.WriteString(", written")
		c.Written.print(w, c.Table)
	}
	if first != nil {
		first.print(w)
	}
	w.WriteString("\n")
	c.printJoins(w, depth+1)
	printNode(w, c.Input, depth+1)
}

func (c *Copy) printJoins(w *strings.Builder, depth int) {
	if len(c.Unused) > 0 {
		indent(w, depth)
		fmt.Fprintf(w, "without the keys %s, if many\n", strings.Join(c.Unused, ", "))
	}
	for _, j := range c.Joins {
		indent(w, depth)
		if j.Op != "" {
			fmt.Fprintf(w, "by %s %s the value of copy %d\n", c.Table.Columns[j.Column].Name, j.Op, j.From+1)
			continue
		}
		fmt.Fprintf(w, "by values of %s from copy %d, if few\n", c.Table.Columns[j.Column].Name, j.From+1)
	}
}

func (n *Written) print(w *strings.Builder, t *catalog.Table) {
	for i, columns := range [][]int{n.Columns, n.Moved} {
		for j, c := range columns {
			switch {
			case j > 0:
				w.WriteString(", ")
			case i == 0:
				w.WriteString(" in ")
			default:
				w.WriteString(", moved by ")
			}
			w.WriteString(t.Columns[c].Name)
		}
	}
	if n.Followed {
		w.WriteString(", followed")
	}
	if n.Own {
		w.WriteString(" with foreign keys")
	}
	if n.AnyOrder {
		w.WriteString(", in any order")
	}
}

func jsonOfWorkspace(n *Workspace) *jsonNode {
	j := &jsonNode{Step: "workspace", Write: n.Write}
	for i := range n.Copies {
		step := "copy"
		if i == 0 && n.First != nil {
			step = "copy first rows"
		}
		j.Inputs = append(j.Inputs, n.Copies[i].json(step))
	}
	for i := range n.Local {
		j.Inputs = append(j.Inputs, n.Local[i].json("read in place"))
	}
	for _, st := range n.Stored {
		j.Inputs = append(j.Inputs, &jsonNode{Step: "store", SQL: st.Text.String()})
	}
	if n.Stage != nil {
		j.Inputs = append(j.Inputs, &jsonNode{Step: "stage", Write: true, SQL: n.Stage.Verb, Tables: []string{n.Stage.Table.Database + "." + n.Stage.Table.Name}})
	}
	return j
}

func (c *Copy) json(step string) *jsonNode {
	j := &jsonNode{Step: step, Write: c.Written != nil, Tables: []string{c.Table.Database + "." + c.Table.Name}}
	switch {
	case c.View != nil:
		j.Input, j.SQL = jsonOfWorkspace(c.View), c.Text
	case c.Query != nil:
		j.Input, j.SQL = jsonOf(c.Query.Root), c.Query.Text.String()
	default:
		j.Input = jsonOf(c.Input)
	}
	return j
}
