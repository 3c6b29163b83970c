package planner

import (
	"cmp"
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// modifyCopiesRules is tried for an UPDATE or DELETE that the other rules refuse.
func modifyCopiesRules() []Rule {
	return append([]Rule{
		{"ModifyCopies", `As Workspace: one server that has all rows of all tables knows which rows change, and to what, in which order
and with which warnings. So the statement runs over copies, and what it has done to them is done to the rows
themselves, by primary key, in the same transaction. The rows copied are locked where they come from, so nothing
changes them in between. A DELETE that takes rows from one table under two names has a copy for each; a row that is gone from either is gone. Rows may be left out as with Workspace; of a single table without subqueries those that WHERE, ORDER BY and
LIMIT do not choose in their own node group. Entries of global indexes and, of a single table, foreign keys over node groups follow
what has been done. It must not leave out rows under IGNORE when unique keys change: which rows
are ignored depends on all. It must not fire for tables whose rows cannot be found again (no primary key), and where foreign keys
of other tables would see a row that moves as one deleted. An UPDATE with a subquery over its own table MariaDB runs as one of several
tables, which over two copies it does not: then it counts rows that IGNORE has left out, and reads the old value of a column behind its
assignment. Where the order in which a server changes the rows depends on its plan, no row may get a unique key that another one had before: in another
order that is a duplicate. So UPDATE IGNORE of a key is refused there, and what reads such a column.`,
			modifyCopies},
	}, copyRules()...)
}

func modifyCopies(b *build) (fired bool, err error) {
	m, u := b.mod, b.st.Uses()
	if u&(sqlparse.UserLock|sqlparse.IntoFile|sqlparse.Sequence) != 0 || u&sqlparse.Returning != 0 && !b.returning {
		return false, nil
	}
	refs, sure := b.st.Tables()
	if !sure || len(refs) == 0 {
		return false, nil
	}
	if m != nil && (!m.analysed || b.a.inPlace || b.a.system || b.a.virtual) || m == nil && !b.plainCalls(b.st) {
		return false, nil
	}
	if m != nil {
		switch unsure := m.unsureAlone(b); {
		case unsure != nil && b.plan.Relay == nil:
			return false, unsure
		case unsure != nil:
			return false, nil // the plan refuses it already
		}
	}
	if err := b.readsTarget(); err != nil {
		return false, err
	}
	w := &worker{b: b, writes: true,
		written: map[*catalog.Table]*plan.Written{}, keeps: map[*catalog.Table]int{}}
	var written []*instance
	if m != nil {
		written = m.written
	}
	if w.locks, sure = b.writeLocks(written); !sure {
		return false, refuseNoWait()
	}
	w.shareCopies()
	p := &plan.Workspace{Write: true}
	b.ws, w.plan = w, p
	defer func() {
		if !fired {
			b.ws = nil
		}
	}()
	var tables []*catalog.Table
	for _, r := range refs {
		t, ok, err := b.copyable(r, b.db)
		if !ok || err != nil {
			return false, err
		}
		tables = append(tables, t)
	}
	instances := make([]*instance, len(refs))
	if m != nil {
		instances = b.instancesOf(refs, tables)
	}
	for i, t := range tables {
		if b.writesRef(refs[i], instances[i]) {
			b.needs(t, b.writes())
		} else {
			b.needs(t, catalog.MaySelect)
		}
	}
	if w.mayUnfold(refs) {
		places := refs
		refs = w.unfold.refs
		tables, instances = moved(places, tables, refs), onlyOnce(moved(places, instances, refs))
	}
	for _, in := range written {
		if !slices.Contains(instances, in) {
			return false, nil // what the statement writes to is not sure
		}
	}
	if ok, err := w.findWritten(refs, tables, instances); !ok || err != nil {
		return false, err
	}
	compares := m != nil && m.comparesAssigned(b)
	if w.quiet = !compares && b.quietThroughout(); w.quiet && m != nil {
		w.instances = instances
	}
	for t, n := range w.written {
		if err := w.mayChange(t, n, tables, compares); err != nil {
			return false, err
		}
	}
	p.Group = singleGroup(tables)
	w.choosable(tables)
	w.whole = append(w.whole, b.reads...)
	if ok, err := w.copyAll(p, tables, refs); !ok || err != nil {
		return false, err
	}
	if ownRenames(p); w.unfold != nil {
		w.unfold.plan(w, p, tables[0].Database, len(b.st.SQL()))
	}
	return true, nil
}

// findWritten finds the tables that the statement writes to; ok is false where it cannot be run over copies.
func (w *worker) findWritten(refs []sqlparse.TableRef, tables []*catalog.Table, instances []*instance) (ok bool, err error) {
	b := w.b
	for i, t := range tables {
		if !b.writesRef(refs[i], instances[i]) {
			continue
		}
		if _, twice := w.keeps[t]; twice {
			if b.mod == nil || b.mod.del == nil {
				return false, nil // which of the values given under two names a row gets hangs on the plan
			}
			w.alias = append(w.alias, i)
			continue
		}
		n, err := b.mayWrite(t)
		if err != nil {
			if b.changeByRow(true) {
				return false, nil
			}
			return false, err
		}
		w.written[t] = n
		w.keeps[t] = i
	}
	return len(w.written) > 0, nil
}

// mayChange refuses changes of a table whose outcome hangs on what only a server with all rows knows. compares: see comparesAssigned.
func (w *worker) mayChange(t *catalog.Table, n *plan.Written, tables []*catalog.Table, compares bool) error {
	b, m := w.b, w.b.mod
	if m != nil && b.snap.Flavor == catalog.MariaDB && len(m.scope.insts) == 1 && b.readsAgain(t, tables) {
		if err := m.readsAssigned(); err != nil {
			return err
		}
	}
	if len(n.Moved) > 0 && b.ignores() && b.readsAgain(t, tables) {
		return sqlerr.Unsupported("UPDATE IGNORE of a key of the table '"+t.Name+"', which the statement also reads, over several node groups",
			"leave out IGNORE")
	}
	if len(n.Moved) > 0 && b.ignores() && m != nil && m.joined(b) {
		return sqlerr.Unsupported("UPDATE IGNORE of a key of the table '"+t.Name+"' with a join or a subquery, over several node groups: which of "+
			"the rows that get one key stays depends on the plan of a server", "leave out IGNORE")
	}
	n.AnyOrder = len(n.Moved) > 0 && m != nil && m.update != nil && (m.joined(b) || len(m.update.OrderBy) == 0 && m.mayTakeIndex(b, t))
	if b.ignores() && b.foreignFaults(t, n) {
		return sqlerr.Unsupported("IGNORE in a write over several node groups that foreign keys of the table '"+t.Name+"' speak of: which rows are left out "+
			"only the servers know that have them", "leave out IGNORE")
	}
	if compares && len(w.written) > 1 && b.readsAgain(t, tables) {
		return sqlerr.Unsupported("an UPDATE of several tables, one of them table '"+t.Name+"' under two names, by what it changes itself", "update one table at a time")
	}
	if n.Own && len(w.written) > 1 {
		return sqlerr.Unsupported("writing to several tables at once, one of them table '"+t.Name+"', which has foreign keys whose rows lie on other node groups",
			"select the rows first, then write them by their keys")
	}
	return nil
}

// writesRef reports whether the statement writes to what its text names at ref: in, or nil if that is not sure.
func (b *build) writesRef(ref sqlparse.TableRef, in *instance) bool {
	if b.mod == nil {
		return ref.Write
	}
	return in != nil && slices.Contains(b.mod.written, in)
}

// instancesOf are the places that the names of tables in the text stand for, by reference; nil for one of which that is not sure. Names
// tell them apart, not their order, in which the tree has other rules than the text: outside of subqueries and derived tables no two tables
// have one name, and inside only those count whose name nothing else has there.
func (b *build) instancesOf(refs []sqlparse.TableRef, tables []*catalog.Table) (list []*instance) {
	inside := queriesAround(b.st, refs)
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = cmp.Or(b.st.Alias(r), r.Name)
	}
	list = make([]*instance, len(refs))
	for i := range refs {
		named := 0
		for j := range refs {
			if tables[i] == tables[j] && inside[i] == inside[j] && sameName(names[i], names[j], b.a.lower) {
				named++
			}
		}
		var found []*instance
		for _, in := range b.a.insts {
			if in.table == tables[i] && !in.inView && (in.block != b.mod.scope) == inside[i] && sameName(in.name, names[i], b.a.lower) {
				found = append(found, in)
			}
		}
		if named == 1 && len(found) == 1 {
			list[i] = found[0]
		}
	}
	return list
}

// queriesAround tells of each reference whether it stands in the parentheses of a query.
func queriesAround(st *sqlparse.Statement, refs []sqlparse.TableRef) []bool {
	inside := make([]bool, len(refs))
	query := 0 // how deep the tokens of the outermost query at hand stand; 0: there is none
	var prev sqlparse.Token
	for toks := st.Tokens(); ; {
		t := toks.Next()
		switch {
		case t.Kind == sqlparse.EOF || t.Kind == sqlparse.Invalid:
			return inside
		case t.Depth < query:
			query = 0
		case query == 0 && st.Is(prev, "(") && (isWord(st, t, "SELECT") || isWord(st, t, "WITH") || isWord(st, t, "VALUES") || isWord(st, t, "TABLE")):
			query = t.Depth
		}
		for i, r := range refs {
			if r.Start == t.Start {
				inside[i] = query > 0
			}
		}
		prev = t
	}
}

// comparesAssigned reports whether an UPDATE of several tables compares, where it joins them, what it assigns. Which row MariaDB sees then, that
// before or that behind, depends on the order in which it joins, and on whether it knows a table under several names for the same.
func (m *modification) comparesAssigned(b *build) bool {
	if m.update == nil || len(m.scope.insts) < 2 || b.snap.Flavor != catalog.MariaDB {
		return false
	}
	compared := false
	look := func(e sqlparser.Expr, scope *block) {
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			if name, ok := n.(*sqlparser.ColName); ok {
				ref := scope.resolve(name, b.a.lower)
				compared = compared || ref.ok() && slices.ContainsFunc(m.written, func(in *instance) bool { return in.table == ref.inst.table }) &&
					slices.Contains(b.assigned(ref.inst.table), ref.col)
			}
			return !compared, nil
		}, e)
	}
	if m.scope.where != nil {
		look(m.scope.where.Expr, m.scope)
	}
	var walk func(t *tree)
	walk = func(t *tree) {
		if t == nil {
			return
		}
		if t.on != nil {
			look(t.on, t.onScope)
		}
		for _, f := range t.facts {
			for _, ref := range []colRef{f.a, f.b} {
				compared = compared || ref.ok() && slices.Contains(b.assigned(ref.inst.table), ref.col)
			}
		}
		walk(t.l)
		walk(t.r)
	}
	walk(m.scope.tree)
	return compared
}

// readsAgain reports whether the statement reads t besides writing it. tables are those it names.
func (b *build) readsAgain(t *catalog.Table, tables []*catalog.Table) bool {
	named := 0
	for _, o := range tables {
		if o == t {
			named++
		}
	}
	others := slices.DeleteFunc(slices.Clone(tables), func(o *catalog.Table) bool { return o == t })
	return named > 1 || slices.Contains(b.opened(others), t)
}

// readsTarget is a server's error for a subquery that reads what the statement writes, which over copies it may: MariaDB knows it of a DELETE
// of several tables only. Derived tables may, which are computed before.
func (b *build) readsTarget() error {
	m, mariadb := b.mod, b.snap.Flavor == catalog.MariaDB
	if m == nil || mariadb && (m.del == nil || len(m.del.Targets) == 0) {
		return nil
	}
	var reads func(q *query, t *catalog.Table) bool
	reads = func(q *query, t *catalog.Table) bool {
		if q.block == nil {
			return slices.ContainsFunc(q.parts, func(q *query) bool { return reads(q, t) })
		}
		return slices.ContainsFunc(q.block.insts, func(in *instance) bool { return in.table == t }) ||
			slices.ContainsFunc(q.block.subs, func(s *subquery) bool { return reads(s.q, t) })
	}
	for _, in := range m.written {
		if in.table == nil || !slices.ContainsFunc(m.scope.subs, func(s *subquery) bool { return reads(s.q, in.table) }) {
			continue
		}
		switch {
		case mariadb:
			return sqlerr.UpdateTableUsed.New(in.name, "DELETE")
		case in.table.Temporary != "":
			return &sqlerr.Error{Code: sqlerr.CannotReopenTable, State: "HY000", Message: "Can't reopen table: '" + in.name + "'"}
		}
		return &sqlerr.Error{Code: sqlerr.UpdateTableUsed, State: "HY000", Message: "You can't specify target table '" + in.name + "' for update in FROM clause"}
	}
	return nil
}

// foreignFaults reports whether rows of t that the statement writes may be refused for a foreign key that servers enforce: copies
// have none, and a row that IGNORE leaves out on one server would be an error when it is written.
func (b *build) foreignFaults(t *catalog.Table, n *plan.Written) bool {
	if b.sess.Unchecked {
		return false
	}
	return b.st.Kind() == sqlparse.Delete && b.referenced(t) || slices.ContainsFunc(t.ForeignKeys, func(k catalog.ForeignKey) bool {
		return slices.ContainsFunc(k.Columns, func(c int) bool { return slices.Contains(n.Columns, c) })
	})
}

// changesFollowed reports whether the statement may change values that global indexes of t hold, or that foreign keys speak of
// which servers cannot enforce.
func (b *build) changesFollowed(t *catalog.Table) bool {
	columns := b.followedColumns(t)
	if len(columns) == 0 {
		return false
	}
	if b.st.Kind() == sqlparse.Delete {
		return true
	}
	assigned := b.assigned(t)
	return assigned == nil || slices.ContainsFunc(columns, func(c int) bool { return slices.Contains(assigned, c) || t.TriggerSets("UPDATE", c) })
}

// followedColumns are the columns of t whose change needs more than being written.
func (b *build) followedColumns(t *catalog.Table) (out []int) {
	for _, x := range t.Global {
		out = append(append(out, x.Made()...), t.Distribution...)
	}
	if b.sess.Unchecked {
		return out
	}
	if parents, children, own := b.snap.Relations(t); own {
		out = append(append(out, catalog.WatchedColumns(t, parents, children)...), b.snap.CheckedColumns(t, parents)...)
	}
	return out
}

// mayWrite finds what the statement may do to a table it writes.
func (b *build) mayWrite(t *catalog.Table) (*plan.Written, error) {
	if t.Kind == catalog.View {
		return nil, sqlerr.Unsupported("writing through the view '"+t.Name+"'", "write to its table")
	}
	if len(t.Primary) == 0 {
		return nil, sqlerr.Unsupported("writing to the table '"+t.Name+"', which has no primary key, from what several node groups have", "give it a primary key")
	}
	n := &plan.Written{Followed: b.changesFollowed(t)}
	if n.Followed {
		if err := b.mayFollow(t); err != nil {
			return nil, err
		}
		n.Own = b.owns(t)
	}
	if b.st.Kind() == sqlparse.Delete {
		return n, nil
	}
	if err := b.uncheckedCopy(t); err != nil {
		return nil, err
	}
	assigned := b.assigned(t)
	for i := range t.Columns {
		if !t.Columns[i].Generated && (assigned == nil || slices.Contains(assigned, i)) {
			n.Columns = append(n.Columns, i)
		}
	}
	unique, any := slices.Concat(t.Primary, t.Distribution), false
	for _, k := range t.Unique {
		unique = append(unique, k.Columns...)
		any = any || k.Expression()
	}
	for i := range t.Columns {
		changes := slices.Contains(n.Columns, i)
		if changes && any || (changes || t.Columns[i].Generated) && slices.Contains(unique, i) {
			n.Moved = append(n.Moved, i)
		}
	}
	if len(n.Moved) > 0 && t.HasFulltext() {
		b.plan.Uses |= plan.MovesMatched
	}
	if len(n.Moved) > 0 && !n.Own && b.referenced(t) {
		return nil, sqlerr.Unsupported("changing a key of the table '"+t.Name+"', which foreign keys refer to, over several node groups",
			"insert a row with the new key, change the rows that refer to it, then delete the old row")
	}
	return n, nil
}

// mayFollow refuses what cannot be told from what the statement has done to its rows all at once: what happened on the way.
func (b *build) mayFollow(t *catalog.Table) error {
	_, children, _ := b.snap.Relations(t)
	own := b.owns(t)
	switch {
	case t.Kind != catalog.Sharded:
		return b.refuseFollowed("this form of statement for", t)
	case own && b.ignores():
		return b.refuseFollowed("IGNORE in this form of statement for", t)
	case !own:
		return nil
	}
	dependent := func(r *catalog.Relation) bool { // of the others exec.Follow sees which rows go
		return catalog.Cascades(r.Key.OnDelete) || b.mod == nil || b.mod.limited
	}
	if b.st.Kind() != sqlparse.Delete {
		assigned := b.assigned(t)
		dependent = func(r *catalog.Relation) bool {
			return assigned == nil || slices.ContainsFunc(r.ParentColumns(), func(c int) bool { return slices.Contains(assigned, c) })
		}
	}
	for i := range children {
		if r := &children[i]; r.Child == t && dependent(r) {
			return sqlerr.Unsupported("this form of statement for table '"+t.Name+"', whose rows refer to each other by foreign key '"+r.Key.Name+"'",
				"select the rows first, then write them by their keys")
		}
	}
	return nil
}

// assigned are the columns of t that an UPDATE names on the left of SET, or that servers set in a row that changes; nil: any may be.
func (b *build) assigned(t *catalog.Table) []int {
	if b.mod == nil {
		return nil
	}
	columns := []int{}
	for c := range t.Columns {
		if t.Columns[c].SetByServer() {
			columns = append(columns, c)
		}
	}
	for _, e := range b.mod.update.Exprs {
		if n := t.Column(e.Name.Name.String()); n >= 0 {
			columns = append(columns, n)
		}
	}
	return columns
}

// referenced reports whether foreign keys of any table refer to t.
func (b *build) referenced(t *catalog.Table) bool {
	for _, db := range b.snap.Databases {
		for _, o := range db.Tables {
			for i := range o.ForeignKeys {
				if f := &o.ForeignKeys[i]; f.RefDB == t.Database && f.RefTable == t.Name {
					return true
				}
			}
		}
	}
	return false
}

// choosable sets w.tail if each node group can choose, among its own rows, all that the statement may change.
func (w *worker) choosable(tables []*catalog.Table) {
	b := w.b
	m := b.mod
	if m == nil || len(b.reads) > 0 {
		return
	}
	ignored := m.update != nil && bool(m.update.Ignore) || m.del != nil && bool(m.del.Ignore)
	if ignored {
		for t, n := range w.written {
			if len(n.Moved) > 0 {
				w.whole = append(w.whole, t)
			}
		}
		if len(w.whole) > 0 {
			return
		}
	}
	if len(tables) != 1 || len(m.scope.insts) != 1 || len(m.scope.subs) > 0 || len(b.a.ctes) > 0 ||
		b.plan.Uses&(plan.Nondeterministic|plan.WritesUserVariable|plan.SetsLastInsertID) != 0 {
		return
	}
	c, ok := b.st.Clauses()
	if !ok || c.Union {
		return
	}
	start := c.Tail
	for _, at := range []int{c.Where, c.Order, c.Limit.Start} {
		if at > 0 && at < start {
			start = at
		}
	}
	w.tail = &sqlparse.Span{Start: start, End: c.Tail}
}

// choose makes the fragment read the rows of t that the statement may change.
func (w *worker) choose(f *plan.Fragment, e *editor, t *catalog.Table) {
	in := w.b.mod.scope.insts[0]
	if in.db == "" {
		e.raw(" AS " + sqltypes.QuoteName(in.name))
	}
	if t.Kind == catalog.Sharded {
		if key, _, ok := keyOperands(in); ok {
			f.Target = plan.Target{Kind: plan.ByKey, Table: t, Key: key}
		}
	}
	if w.tail.Start < w.tail.End {
		e.raw(" ")
		e.span(w.tail.Start, w.tail.End)
	}
	if c, _ := w.b.st.Clauses(); c.Limit.End == 0 {
		e.raw(" LIMIT 18446744073709551615")
	}
}
