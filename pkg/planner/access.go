package planner

import (
	"cmp"
	"maps"
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// What a statement names itself, the session's account must be allowed to. What views and stored functions read in turn is asked of the account in
// whose name they do so (catalog.Security), which is noted here in one place, by their texts, however the planner opens them.

// needs notes what the account needs on a table that the statement names. The session's own temporary tables are its own.
func (b *build) needs(t *catalog.Table, p catalog.Privilege) {
	if t.Temporary != "" {
		return
	}
	b.access(plan.Access{Database: t.Database, Table: t.Name, Privilege: p})
	if t.Kind == catalog.View {
		b.behindView(t, plan.Access{Privilege: catalog.MaySelect, View: t})
	}
}

// Named is what an account needs on the tables and functions that st names, as far as the text alone tells: whoever lacks it is told that, and not what else is wrong
// with the statement, which tells of the schema.
func Named(st *sqlparse.Statement, db string, snap *catalog.Snapshot) (list []plan.Access) {
	b := &build{st: st, snap: snap}
	switch st.Kind() {
	case sqlparse.Select, sqlparse.Insert, sqlparse.Replace, sqlparse.Update, sqlparse.Delete:
	default:
		return nil
	}
	refs, sure := st.Tables()
	if !sure {
		return nil
	}
	for _, r := range refs {
		a := plan.Access{Privilege: catalog.MaySelect}
		a.Database, a.Table = b.lowered(cmp.Or(r.DB, db), r.Name)
		if r.Write && (len(refs) == 1 || b.changesRows()&catalog.MayInsert != 0) {
			a.Privilege = b.changesRows()
		}
		if t := snap.Table(a.Database, a.Table); a.Database != "" && systemSchema(a.Database) == userSchema && (t == nil || t.Temporary == "") {
			list = append(list, a)
		}
	}
	for _, n := range routine.Calls(st) {
		if n.DB != "" && systemSchema(n.DB) == userSchema {
			a := plan.Access{Routine: n.Name, Function: true, Privilege: catalog.MayExecute}
			a.Database, _ = b.lowered(n.DB, "")
			list = append(list, a)
		}
	}
	return list
}

// needsThrough notes all that a statement needs that writes through v: what it means for v's table is run without being asked again.
func (b *build) needsThrough(v *writtenView, tree sqlparser.Statement) error {
	refs, sure := b.st.Tables()
	if !sure {
		return sqlerr.Unsupported("such a write through the view '"+v.view.Name+"'", "write to its table")
	}
	for _, r := range refs {
		db, err := b.defaulted(r.DB)
		if err != nil {
			return err
		}
		t, err := b.table(db, r.Name)
		switch {
		case err != nil:
			return err
		case t != v.view || !r.Write:
			b.needs(t, catalog.MaySelect)
			continue
		}
		b.needs(t, b.writes())
		if readsColumns(tree) {
			b.access(plan.Access{Database: t.Database, Table: t.Name, Privilege: catalog.MaySelect})
		}
	}
	b.behindWrite(v, plan.Access{Privilege: b.writes(), View: v.view})
	return nil
}

// behindWrite notes what is needed to write through v: on what it shows the same as on itself.
func (b *build) behindWrite(v *writtenView, by plan.Access) {
	by.As = v.view.As(by.As)
	tables := []*catalog.Table{v.base}
	if v.joined != nil {
		tables = slices.Collect(maps.Values(v.joined.tables)) // of which it is one
		slices.SortFunc(tables, func(x, y *catalog.Table) int {
			return cmp.Or(cmp.Compare(x.Database, y.Database), cmp.Compare(x.Name, y.Name))
		})
	}
	for _, t := range tables {
		by.Database, by.Table = t.Database, t.Name
		b.access(by)
		if t.Kind == catalog.View {
			if v := b.viewToWrite(t); v != nil {
				b.behindWrite(v, by)
			}
		}
	}
}

// needsNot takes back what was noted of a table.
func (b *build) needsNot(t *catalog.Table, p catalog.Privilege) {
	for i := range b.plan.Access {
		if a := &b.plan.Access[i]; a.Over(plan.Access{Database: t.Database, Table: t.Name}) {
			a.Privilege &^= p
		}
	}
}

// needsIn notes what the account needs in a database as a whole, or everywhere ("*").
func (b *build) needsIn(db string, p catalog.Privilege) {
	b.access(plan.Access{Database: db, Privilege: p})
}

// needsToCall notes the call of a procedure by the statement.
func (b *build) needsToCall(db, name string) {
	b.access(plan.Access{Database: db, Routine: name, Privilege: catalog.MayExecute})
}

// locksBehind notes that whose name the view t is read in may lock what it reads.
func (b *build) locksBehind(t *catalog.Table) {
	for _, a := range slices.Clone(b.plan.Access) {
		if a.View == t && a.Database != "" && a.Routine == "" {
			b.access(plan.Access{Database: a.Database, Privilege: catalog.MayLockTables, As: a.As, View: t})
		}
	}
}

// calledAs is a call of a stored function by an account ("": the session's), behind a view of the statement or none.
type calledAs struct {
	function *catalog.Routine
	by       catalog.AccountName
	behind   *catalog.Table
}

// toExplain is what an account needs to be told how a statement is run that needs list: what its views read, the account needs to read itself.
func (b *build) toExplain(list []plan.Access) (all []plan.Access) {
	note := func(a plan.Access, view *catalog.Table) {
		a.As, a.View, a.Tells = "", view, true
		if b.isView(a.Database, a.Table) {
			a.Privilege |= catalog.MayShowView
		}
		all = append(all, a)
	}
	for _, a := range list {
		switch {
		case a.Routine != "":
		case a.View != nil:
			note(a, a.View)
		case b.isView(a.Database, a.Table):
			note(a, b.snap.Table(a.Database, a.Table))
		}
	}
	isBehind := func(a plan.Access) bool { return a.View != nil }
	first := slices.DeleteFunc(slices.Clone(list), isBehind)
	last := slices.DeleteFunc(slices.Clone(list), func(a plan.Access) bool { return !isBehind(a) })
	return slices.Concat(first, all, last)
}

// needsFunction notes the call of a stored function by the statement, and what the function reads.
func (b *build) needsFunction(f *catalog.Routine) { b.callAs(f, plan.Access{}) }

func (b *build) access(a plan.Access) {
	for i := range b.plan.Access {
		if have := &b.plan.Access[i]; have.Over(a) {
			have.Privilege |= a.Privilege
			return
		}
	}
	b.plan.Access = append(b.plan.Access, a)
}

// behindView notes what is needed behind the view t: by.Privilege on what it reads, by whoever uses it, by.As.
func (b *build) behindView(t *catalog.Table, by plan.Access) {
	by.As = t.As(by.As)
	st := b.st.Dialect().NewStatement()
	defer st.Done()
	var refs []sqlparse.TableRef
	sure := st.Scan([]byte(t.ViewText), 0) == nil
	if sure {
		refs, sure = st.Tables()
	}
	if !sure { // what it reads is not known
		by.Database = "*"
		b.access(by)
		return
	}
	if by.As != "" && len(refs) == 0 {
		b.access(plan.Access{As: by.As, View: by.View}) // that there is the account is all that is needed
	}
	for _, r := range refs {
		read := b.snap.Table(cmp.Or(r.DB, t.Database), r.Name)
		if read == nil || systemSchema(read.Database) != userSchema { // see analysis.base
			continue
		}
		if read.Temporary != "" {
			b.hidden = cmp.Or(b.hidden, sqlerr.Unsupported("the view "+t.Name+" while a temporary table has the name of what it reads, '"+read.Name+"'",
				"drop the temporary table, or give it another name"))
			continue
		}
		by.Database, by.Table = read.Database, read.Name
		b.access(by)
		if read.Kind == catalog.View {
			b.behindView(read, by)
		}
	}
	by.Privilege = catalog.MaySelect
	for _, f := range b.functions(st, t.Database) {
		b.callAs(f, by)
	}
}

// functions are the stored functions that st calls. db is its default database.
func (b *build) functions(st *sqlparse.Statement, db string) (list []*catalog.Routine) {
	if len(b.snap.Routines) == 0 {
		return nil
	}
	for _, n := range routine.Calls(st) {
		if f := b.snap.Routine(cmp.Or(n.DB, db), n.Name, true); f != nil {
			list = append(list, f)
		}
	}
	return list
}

// callAs notes what is needed to call the function f, and behind it, by by.As.
func (b *build) callAs(f *catalog.Routine, by plan.Access) {
	call := calledAs{f, by.As, by.View}
	if slices.Contains(b.calls, call) {
		return
	}
	b.calls = append(b.calls, call)
	b.access(plan.Access{Database: f.Database, Routine: f.Name, Function: true, Privilege: catalog.MayExecute, As: by.As, View: by.View})
	by.As = f.As(by.As)
	for _, n := range f.Reads {
		b.access(plan.Access{Database: n.Database, Table: n.Name, Privilege: catalog.MaySelect, As: by.As, View: by.View})
	}
	for _, k := range f.Calls {
		if g := b.snap.Routines[k]; g != nil {
			b.callAs(g, by)
		}
	}
}
