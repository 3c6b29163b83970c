package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// modification is an UPDATE or DELETE while it is planned.
type modification struct {
	update *sqlparser.Update
	del    *sqlparser.Delete
	scope  *block
	// written are the tables whose rows change.
	written []*instance
	limited bool // ORDER BY or LIMIT
	// analysed: scope and written are complete.
	analysed bool
}

// modifyRules is the list for UPDATE and DELETE.
func modifyRules() []Rule {
	return []Rule{
		{"ModifyTarget", `Finds the tables, those written to among them, and the facts usable for each.`, modifyTarget},
		{"RowByRow", rowByRowDoc, modifyRowByRow},
		{"MoveRows", `A row whose distribution key changes may belong to another group. Its rows are locked where they are, and the
servers tell what the key becomes: the values assigned are computed over the row as it is, so none may look at a column
assigned before it. Then each row is taken to where it belongs and changed there, by its primary key, in the order of
the primary key if those are whole numbers, as one server goes through them. The same holds for rows with entries in global
indexes that change: an entry is brought up to date after its row, in the same transaction.`, moveRows},
		{"ModifySingle", `Everything the statement touches lies on the group of the single tables.`, modifySingle},
		{"ModifyReference", `Every group changes its copy in the same way: conditions and values are the same everywhere, since
they may look at reference tables only and not at RAND() or the like; times are fixed for all groups.`,
			modifyReference},
		{"ModifyByKey", `As RelayByKey: only rows of one group can match.`, modifyByKey},
		{"ScatterModify", `As PushJoin: the rows that match are the sum of those that match in each group, and each lies in one
group, so changing them there changes each once. It must not fire with LIMIT: which rows are changed would depend
on all groups. Nor where a column is read behind its assignment and servers do not promise which value is read.`, scatterModify},
	}
}

func modifyTarget(b *build) (bool, error) {
	m := b.mod
	a := b.analysis()
	m.scope = &block{}
	var from []sqlparser.TableExpr
	var order sqlparser.OrderBy
	var limit *sqlparser.Limit
	if u := m.update; u != nil {
		a.with(u.With, nil)
		from, m.scope.where, order, limit = u.TableExprs, u.Where, u.OrderBy, u.Limit
	} else {
		d := m.del
		a.with(d.With, nil)
		from, m.scope.where, order, limit = d.TableExprs, d.Where, d.OrderBy, d.Limit
		if len(d.Partitions) > 0 {
			return false, sqlerr.Unsupported("DELETE ... PARTITION (...)", "use conditions in WHERE")
		}
	}
	m.limited = len(order) > 0 || limit != nil
	if err := a.from(m.scope, from, b.db); err != nil {
		return false, err
	}
	if a.system || a.virtual {
		return false, sqlerr.Unsupported("writing to system tables", "use SQL statements or skarvctl made for the purpose")
	}
	if err := m.expressions(b, from, order); err != nil {
		return false, err
	}
	if a.system || a.virtual {
		return false, sqlerr.Unsupported("UPDATE and DELETE by system tables", "select first, then write what was found")
	}
	q := &query{block: m.scope}
	a.spread(q, nil, true)
	if err := m.targets(b); err != nil {
		return false, err
	}
	m.analysed = true
	return false, nil
}

func (m *modification) expressions(b *build, from []sqlparser.TableExpr, order sqlparser.OrderBy) error {
	semi := map[*sqlparser.Subquery]colRef{}
	if m.scope.where != nil {
		b.a.semiJoins(m.scope.where.Expr, m.scope, semi)
	}
	w := walker{a: b.a, b: m.scope, db: b.db, semi: semi}
	for _, f := range from {
		if err := w.walk(f, true); err != nil {
			return err
		}
	}
	var nodes []sqlparser.SQLNode
	if m.scope.where != nil {
		nodes = append(nodes, m.scope.where)
	}
	if m.update != nil {
		for _, e := range m.update.Exprs {
			nodes = append(nodes, e.Expr)
		}
	}
	for _, o := range order {
		nodes = append(nodes, o)
	}
	for _, n := range nodes {
		if err := w.walk(n, false); err != nil {
			return err
		}
	}
	return nil
}

// reads reports whether the statement, which names one table outside of subqueries, looks at any column or subquery.
func (m *modification) reads() bool {
	if m.update != nil {
		return readsColumns(m.update)
	}
	return readsColumns(m.del)
}

// readsColumns reports whether an UPDATE or DELETE of one table needs values of its rows.
func readsColumns(tree sqlparser.Statement) (any bool) {
	var nodes []sqlparser.SQLNode
	switch s := tree.(type) {
	case *sqlparser.Update:
		nodes = []sqlparser.SQLNode{s.Where, s.OrderBy}
		for _, e := range s.Exprs {
			nodes = append(nodes, e.Expr)
		}
	case *sqlparser.Delete:
		nodes = []sqlparser.SQLNode{s.Where, s.OrderBy}
	default:
		return false
	}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n.(type) {
		case *sqlparser.ColName, *sqlparser.Subquery, *sqlparser.FuncExpr: // a stored function may read
			any = true
		}
		return !any, nil
	}, nodes[0], nodes[1:]...)
	return any
}

// targets finds the written tables.
func (m *modification) targets(b *build) error {
	insts := m.scope.insts
	add := func(in *instance) error {
		if in.table == nil {
			return sqlerr.Unsupported("writing through a view or a derived table", "write to its table")
		}
		if !slices.Contains(m.written, in) {
			m.written = append(m.written, in)
			b.needs(in.table, b.writes())
		}
		return nil
	}
	if len(insts) == 1 {
		if t := insts[0].table; t != nil && !b.returning && !m.reads() {
			b.needsNot(t, catalog.MaySelect)
		}
		return add(insts[0])
	}
	if m.del != nil {
		for _, t := range m.del.Targets {
			for _, in := range insts {
				if in.called(t, b.a.lower) || sameName(in.name, t.Name.String(), b.a.lower) {
					if err := add(in); err != nil {
						return err
					}
				}
			}
		}
	} else {
		for _, e := range m.update.Exprs {
			ref, found := m.scope.resolveHere(e.Name, b.a.lower)
			switch {
			case ref.ok() && slices.Contains(insts, ref.inst):
				if err := add(ref.inst); err != nil {
					return err
				}
			case found || !e.Name.Qualifier.IsEmpty():
				for _, in := range insts {
					if e.Name.Qualifier.IsEmpty() || in.called(e.Name.Qualifier, b.a.lower) {
						if err := add(in); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	if len(m.written) == 0 {
		return sqlerr.Unsupported("an UPDATE or DELETE whose tables to be written cannot be told", "qualify the columns with their tables")
	}
	return nil
}

// kinds tells which kinds of tables are written.
func (m *modification) kinds() (sharded, reference, single bool) {
	for _, in := range m.written {
		switch in.table.Kind {
		case catalog.Sharded:
			sharded = true
		case catalog.Reference:
			reference = true
		case catalog.Single:
			single = true
		}
	}
	return sharded, reference, single
}

// statement is the tree of the whole.
func (m *modification) statement() sqlparser.SQLNode {
	if m.update != nil {
		return m.update
	}
	return m.del
}

func modifySingle(b *build) (bool, error) {
	sharded, reference, single := b.mod.kinds()
	if !single {
		return false, nil
	}
	refuse := sqlerr.Unsupported("writing to single tables together with tables that lie on other node groups", "use one statement for each")
	t, ok := b.locate().relayTarget()
	if !ok || sharded || reference {
		return false, refuse
	}
	if len(t.Also) > 0 {
		b.plan.Refuse = refuse
	}
	b.done = true
	b.modifyRelay(t)
	return true, nil
}

// modifyRelay makes the whole statement one writing fragment.
func (b *build) modifyRelay(t plan.Target) {
	b.plan.Relay = b.fragment(t)
	b.plan.Relay.Write = true
}

func modifyReference(b *build) (bool, error) {
	sharded, reference, _ := b.mod.kinds()
	if !reference {
		return false, nil
	}
	p := b.locate()
	switch {
	case sharded || p.sharded > 0 || len(p.singles) > 0:
		return false, sqlerr.Unsupported("writing to a reference table depending on tables that are not reference tables",
			"select the keys first, then write with a list of them")
	case b.mod.limited:
		return false, sqlerr.Unsupported("ORDER BY or LIMIT in a write to a reference table", "give the keys of the rows")
	case b.mod.unsureAssignments(b) != nil:
		return false, b.mod.unsureAssignments(b)
	case b.unlikeCopies(b.mod.statement()):
		return false, sqlerr.Unsupported("writing values into a reference table that would differ from copy to copy (RAND(), UUID(), @x :=)",
			"compute them at the client")
	}
	f := b.fragment(plan.Target{Kind: plan.AllGroups})
	f.Write, f.Same = true, true
	b.plan.Root, b.done = f, true
	return true, nil
}

func modifyByKey(b *build) (bool, error) {
	t, ok := b.locate().relayTarget()
	if !ok || t.Kind == plan.AnyGroup {
		return false, nil
	}
	if len(t.Also) > 0 {
		b.plan.Refuse = sqlerr.Unsupported("a statement whose tables are located on different node groups by their keys",
			"use the same distribution key values for all of them, or one statement for each")
		b.done = true
	}
	b.modifyRelay(t)
	return true, nil
}

func scatterModify(b *build) (bool, error) {
	p := b.places
	unsure := b.mod.unsureAssignments(b)
	switch {
	case unsure != nil && b.plan.Relay == nil:
		return false, unsure
	case unsure != nil:
		b.plan.Refuse, b.done = unsure, true
		return false, nil
	case b.a.whole != nil:
		if b.plan.Relay == nil {
			return false, b.a.whole
		}
		b.plan.Refuse, b.done = b.a.whole, true
		return false, nil
	case len(p.singles) > 0:
		return false, b.refuseScatter("single tables together with sharded tables of several node groups",
			"give the distribution key")
	case b.mod.limited:
		return false, b.refuseScatter("UPDATE or DELETE with ORDER BY or LIMIT over several node groups",
			"give the distribution key, or select the keys first and list them")
	case p.root == nil:
		return false, b.refuseScatter("writing to a join or with a subquery whose sharded tables are not joined by all columns of their distribution keys",
			"equate the distribution keys, or select the keys first and list them")
	case b.plan.Uses&(plan.WritesUserVariable|plan.SetsLastInsertID) != 0:
		return false, b.refuseScatter("assigning variables in a write over several node groups", "give the distribution key")
	}
	f := b.fragment(plan.Target{Kind: plan.AllGroups})
	if b.plan.Relay != nil {
		f.Target = b.plan.Relay.Target
	}
	f.Write = true
	if part := b.partOf(f.Target); part >= 0 {
		e := &editor{st: b.st, part: []int{part}}
		e.span(0, len(b.st.SQL()))
		f.Text = e.done()
	}
	b.plan.Root, b.done = f, true
	return true, nil
}

// partOf is the only list argument of a target's key, or -1.
func (b *build) partOf(t plan.Target) int {
	part := -1
	if t.Kind != plan.ByKey || len(t.Also) > 0 {
		return -1
	}
	for _, o := range t.Key {
		if o.Arg >= 0 && o.Arg < b.st.NumArgs() && b.st.Arg(o.Arg).Class == sqlparse.ClassList {
			if part >= 0 {
				return -1
			}
			part = o.Arg
		}
	}
	return part
}
