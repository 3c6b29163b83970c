package planner

import (
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// waysRules follow the rules that have planned a workspace for a SELECT: they add ways that may be cheaper.
func waysRules() []Rule {
	return []Rule{
		{"Broadcast", `A table whose rows are all on every node group is what a reference table is: the rules for SELECT plan the
statement anew with some tables taken for that, and what they find is right once all rows of these tables that can
matter are copied to all groups. Which rows that are the rules for copies have said. The tables that stay where they
are hang together by their distribution keys. It must not fire for tables that a view reads (servers look
through temporary tables there), on MySQL for tables that are read twice (a temporary table cannot be), nor where the
statement assigns variables, counts found rows or locks. A FLOAT is written as text with six digits: a client
that asks for binary rows gets another way.`, broadcast},
		{"PushGroups", `What a SELECT with aggregates computes from its groups (expressions over aggregates, window functions, HAVING, ORDER BY, DISTINCT, LIMIT)
looks at nothing but the columns it groups by and the aggregates. So the groups, one row each, are found over the node groups, as
PartialAggregate does, and copied; the rest of the statement runs over them. AVG in an expression has more digits than its type:
on MariaDB as many as the sum divided by the count; it must not fire for it on MySQL, nor with names that may mean a column or an alias, and for what PushQueries does not copy. A
subquery in HAVING that looks at nothing outside, not even at the groups, stays as it is, if all that it reads are queries that PushQueries copies: it
must not fire with other subqueries in the rest. Aggregates that look at different values only (DISTINCT, MIN and MAX) are computed
from the different values there are, found by DISTINCT over the node groups; ROLLUP too. WITH ROLLUP of others groups the groups once more: a SUM
is that of the groups' SUMs, a COUNT the sum of their COUNTs, MIN and MAX those of theirs, AVG the sum of SUMs over the sum of COUNTs. So are those that
stand beside an aggregate with DISTINCT: its values are grouped by as well. It must not fire then for sums of numbers with more digits than
their type (quotients). On MySQL it must not fire for groups, MIN and MAX of expressions, of which it tells another type than of a column.`, pushGroups},
		{"PushQueries", `A derived table, a common table expression or a subquery that looks at nothing outside of itself is a statement of
its own: what the rules for SELECT find for it is a scatter and merge whose rows are its rows. So these rows are copied, in
place of the tables it reads, and where its text stood the copy is read. Servers store the rows of such queries, too, as
the types of their columns say, so that a copy is no less exact; that is true of queries that group, drop or limit
rows, but others are merged into the statement around them, where expressions may have more digits than their type: it must not fire for those.
Of plain columns in IN, ANY and ALL only the different values count: they are found by DISTINCT, if equal ones are alike. Where ANY or ALL
compares by order, only the greatest or the least counts, if there is no NULL; no value at all stays none.
It must not fire either where a condition on the copy tells equal strings apart, which servers check before they make one row of
several, for what reads chance, variables or common table expressions, for columns whose values the result of
a query does not show whole (FLOAT, TIMESTAMP, BIT, ENUM, SET), for columns without a name of their own, nor on MySQL for a common
table expression that is read twice.`, pushQueries},
		{"FirstRows", `Every row of the result comes from exactly one row of a table T that no outer join makes up, nothing groups
or drops rows, the sort order is that of columns of T (others may follow its primary key), and there is a LIMIT. The result of a query over the first k
rows of T, in that order, is the beginning of the result over all: any row from elsewhere sorts behind them, or equal to
the last. So if it has as many rows as LIMIT wants, it is the result; if not, the query runs anew over all rows. It must
not fire where not all other tables are found by values of T (they would be copied whole, and perhaps twice), nor where
the statement locks or assigns.`, firstRows},
	}
}

// ways makes a Choice of a workspace plan for a SELECT, if there are other ways.
func (b *build) ways() error {
	w, ok := b.plan.Root.(*plan.Workspace)
	if !ok || len(b.reads) > 0 || b.plan.Kind != plan.Select || w.Write || b.ws == nil || b.ws.locks != nil || b.ws.unfold != nil || b.a != nil && b.a.assigns ||
		b.plan.Uses&(plan.WritesUserVariable|plan.SetsLastInsertID|plan.LocksRows|plan.CalcFoundRows) != 0 {
		return nil
	}
	b.choice = &plan.Choice{Workspace: w}
	b.done = false
	rules := waysWithoutTreeRules()
	if b.query != nil {
		b.choice.Floats, rules = b.floats(), waysRules()
	}
	if err := run(b, rules); err != nil {
		return err
	}
	if q := b.choice.Queries; q != nil && b.query != nil { // without a tree columns are plain ones
		var told bool
		if q.OfParameters, told = b.ofParameters(); !told {
			b.choice.Queries = nil
		}
	}
	if len(b.choice.Broadcasts) > 0 || b.choice.First != nil || b.choice.Queries != nil {
		b.plan.Root = b.choice
	}
	return nil
}

// floats reports whether a table of the statement has a FLOAT column.
func (b *build) floats() bool {
	for _, in := range b.a.insts {
		if in.table == nil {
			continue
		}
		for i := range in.table.Columns {
			if in.table.Columns[i].DataType == "float" {
				return true
			}
		}
	}
	return false
}

// maxAnchors bounds the ways that are tried.
const maxAnchors = 5

// broadcast: see its rule's Doc.
func broadcast(b *build) (fired bool, err error) {
	w := b.choice.Workspace
	clusters := b.clusters()
	if len(clusters) > maxAnchors || b.db == "" && len(w.Renames) > 0 {
		return false, nil
	}
	for _, stay := range clusters {
		if stay[0].Kind != catalog.Sharded {
			continue
		}
		copies, ok := b.broadcastable(w, stay)
		if !ok {
			continue
		}
		input, ok := b.planAnew(copies)
		if !ok {
			continue
		}
		b.choice.Broadcasts = append(b.choice.Broadcasts, &plan.Broadcast{Copies: copies, Input: input})
		fired = true
	}
	return fired, nil
}

// clusters are the sharded and single tables of the statement, those together whose rows hang together by their distribution
// keys wherever both are read.
func (b *build) clusters() (list [][]*catalog.Table) {
	var tables []*catalog.Table
	var insts []*instance
	for _, in := range b.a.insts {
		if in.table == nil || in.table.Kind != catalog.Sharded && in.table.Kind != catalog.Single {
			continue
		}
		insts = append(insts, in)
		if !slices.Contains(tables, in.table) {
			tables = append(tables, in.table)
			list = append(list, []*catalog.Table{in.table})
		}
	}
	of := func(t *catalog.Table) int {
		return slices.IndexFunc(list, func(c []*catalog.Table) bool { return slices.Contains(c, t) })
	}
	for _, x := range insts {
		for _, y := range insts {
			if i, j := of(x.table), of(y.table); i != j && attached(x, y) {
				i, j = min(i, j), max(i, j)
				list[i] = append(list[i], list[j]...)
				list = slices.Delete(list, j, j+1)
			}
		}
	}
	return list
}

// broadcastable are the copies of the tables but those of stay; ok is false where they cannot be made on every group.
func (b *build) broadcastable(w *plan.Workspace, stay []*catalog.Table) (copies []plan.Copy, ok bool) {
	at := map[int]int{} // position in w.Copies to that in copies
	for i := range w.Copies {
		c := w.Copies[i]
		if c.View != nil || c.Name != "" && !slices.Contains(stay, c.Table) {
			return nil, false
		}
		if slices.Contains(stay, c.Table) {
			continue
		}
		if slices.ContainsFunc(b.a.insts, func(in *instance) bool { return in.table == c.Table && in.inView }) {
			return nil, false
		}
		joins := c.Joins
		c.Joins = nil
		for _, j := range joins {
			if from, is := at[j.From]; is {
				j.From = from
				c.Joins = append(c.Joins, j)
			}
		}
		at[i] = len(copies)
		copies = append(copies, c)
	}
	// A single table of the workspace's group is read in place there; on the other groups it has no rows.
	for i := range w.Local {
		c := w.Local[i]
		if c.Table.Kind != catalog.Single {
			continue
		}
		again := slices.ContainsFunc(w.Again, func(x plan.Copy) bool { return x.Table == c.Table })
		if c.View != nil || c.Name != "" || w.LocalTwice || again || slices.ContainsFunc(b.a.insts, func(in *instance) bool { return in.table == c.Table && in.inView }) {
			return nil, false
		}
		copies = append(copies, c)
	}
	return copies, len(copies) > 0
}

// planAnew plans the statement with the tables of copies taken for reference tables; ok is false where that does not make it
// a scatter.
func (b *build) planAnew(copies []plan.Copy) (root plan.Node, ok bool) {
	n := &build{p: b.p, st: b.st, db: b.db, snap: b.snap, sess: b.sess, plan: &plan.Plan{}, everywhere: map[*catalog.Table]*catalog.Table{}}
	id := 0
	for _, c := range slices.Concat(b.choice.Workspace.Copies, b.choice.Workspace.Local, b.choice.Workspace.Again) {
		if c.Input != nil {
			id = max(id, c.Input.ID)
		}
	}
	for i := range copies {
		t := *copies[i].Table
		t.Kind, t.Group, t.Distribution, t.Key, t.Global = catalog.Reference, 0, nil, nil, nil
		n.everywhere[copies[i].Table] = &t
	}
	n.plan.Uses = textUses(b.st.Uses())
	n.storedFunctions()
	if err := n.statement(); err != nil || n.plan.Refuse != nil || n.plan.Root == nil {
		return nil, false
	}
	if b.st.Uses()&sqlparse.LocksRows != 0 {
		return nil, false
	}
	f := plan.Fragments(n.plan.Root)
	if len(f) != 1 || f[0].Target.Kind != plan.AllGroups && f[0].Target.Kind != plan.ByKey {
		return nil, false
	}
	f[0].ID = id + 1 + len(b.choice.Broadcasts)
	for _, g := range n.plan.Guards {
		b.guard(g.Arg, g.Text)
	}
	b.plan.Uses |= n.plan.Uses
	return n.plan.Root, true
}
