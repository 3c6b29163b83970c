package planner

import (
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/function"
	"skarv/pkg/plan"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// call judges a function call by name.
func (a *analysis) call(f *sqlparser.FuncExpr) error {
	name := f.Name.Lowered()
	if !f.Qualifier.IsEmpty() {
		return a.storedFunction(f.Qualifier.String(), f.Name.String())
	}
	uses := &a.b.plan.Uses
	switch {
	case function.ReadsClock(name):
		*uses |= plan.ReadsClock
	case name == "unix_timestamp":
		if len(f.Exprs) == 0 {
			*uses |= plan.ReadsClock
		}
	case name == "rand":
		*uses |= plan.Nondeterministic
		if len(f.Exprs) > 0 {
			a.refuseMany("RAND(seed) over several node groups (one server goes on with the sequence from row to row)",
				"leave out the seed")
		}
	case function.Volatile(name):
		*uses |= plan.Nondeterministic
	case name == "last_insert_id":
		if len(f.Exprs) > 0 {
			*uses |= plan.SetsLastInsertID
		} else {
			*uses |= plan.ReadsLastInsertID
		}
	case name == "found_rows" || name == "row_count":
		*uses |= plan.ReadsDiagnostics
	case function.OfUserLocks(name):
		return sqlerr.Unsupported(strings.ToUpper(name)+"() in a statement with tables",
			"call it in a SELECT without tables, or lock a row with SELECT ... FOR UPDATE")
	case function.OfServer(name):
		return sqlerr.Unsupported(strings.ToUpper(name)+"()", "ask the server itself: it is about one server")
	case name == "rownum" && a.b.snap.Flavor == catalog.MariaDB:
		return sqlerr.Unsupported("ROWNUM()", "use ROW_NUMBER() OVER (ORDER BY ...) or LIMIT: each node group would number its own rows")
	case !function.Builtin(name):
		return a.storedFunction(a.b.db, f.Name.String())
	}
	return nil
}

// storedFunction judges the call of a stored function: those that the catalog has touch nothing but values, so that every
// server computes the same, and tables that they read (see build.reads).
func (a *analysis) storedFunction(db, name string) error {
	f := a.b.snap.Routine(db, name, true)
	if f == nil {
		return sqlerr.Unsupported("the function '"+name+"'", "make it with CREATE FUNCTION through Skarv: there is no stored function of this name")
	}
	if a.inView == 0 {
		a.b.needsFunction(f)
	}
	if slices.Contains(a.b.readers, f) {
		return nil
	}
	return a.b.reader(f) // a view calls it
}

// readsTables reports whether a call is one of a function that reads tables.
func (a *analysis) readsTables(f *sqlparser.FuncExpr) bool {
	db := f.Qualifier.String()
	if db == "" {
		db = a.b.db
	}
	r := a.b.snap.Routine(db, f.Name.String(), true)
	return r != nil && slices.Contains(a.b.readers, r)
}

// reader notes the tables that a function reads.
func (b *build) reader(f *catalog.Routine) error {
	names := b.snap.ReadBy(f)
	if len(names) == 0 || slices.Contains(b.readers, f) {
		return nil
	}
	b.readers = append(b.readers, f)
	for _, n := range names {
		t := b.snap.Table(n.Database, n.Name)
		switch {
		case t == nil:
			return sqlerr.NoSuchTable.New(n.Database, n.Name)
		case t.Closed:
			return closed(t)
		case t.Kind == catalog.View:
			return sqlerr.Unsupported("the view "+n.Name+" in stored functions", "read its tables")
		}
		b.reads = append(b.reads, t)
	}
	return nil
}

// readWays is how functions read a table.
type readWays uint8

// The bits of readWays.
const (
	// readByValue: in an expression, as a server reads what the statement that calls the function computes a value from: of another statement than a SELECT
	// as it is now, with locks.
	readByValue readWays = 1 << iota
	// readByQuery: in a SELECT or by a cursor, as a server reads a SELECT of the client, whatever calls the function.
	readByQuery
)

// waysOf is how the functions that the statement calls read a table. Of functions that were made before it was noted it may be either way.
func (b *build) waysOf(t *catalog.Table) (ways readWays) {
	reads := func(list []catalog.TableName) bool {
		return slices.ContainsFunc(list, func(n catalog.TableName) bool { return b.snap.Table(n.Database, n.Name) == t })
	}
	for _, f := range b.snap.Called(b.readers...) {
		unknown := len(f.Values)+len(f.Queries) == 0 && reads(f.Reads)
		if unknown || reads(f.Values) {
			ways |= readByValue
		}
		if unknown || reads(f.Queries) {
			ways |= readByQuery
		}
	}
	return ways
}

// locksWithin reports whether the statement is a SELECT for which functions lock what they read, or one that locks reads views which servers compute by
// themselves: a server that runs the SELECT locks neither.
func (b *build) locksWithin() bool {
	return b.sess.ForValue && (b.a != nil && b.a.stored && b.st.Uses()&sqlparse.LocksRows != 0 || slices.ContainsFunc(b.reads, func(t *catalog.Table) bool { return b.waysOf(t)&readByValue != 0 }))
}

func refuseWithin() error {
	return sqlerr.Unsupported("functions that read tables, or views that servers compute by themselves, in such a query in the value of a SET, a DO or an expression of a program, within a transaction: servers lock the rows that they read",
		"SELECT the value INTO a variable")
}

// ReadsTables reports whether a statement calls a stored function that reads tables, by the names before parentheses.
func ReadsTables(st *sqlparse.Statement, db string, snap *catalog.Snapshot) bool {
	if len(snap.Routines) == 0 {
		return false
	}
	return slices.ContainsFunc(routine.Calls(st), func(n routine.Name) bool {
		if n.DB == "" {
			n.DB = db
		}
		f := snap.Routine(n.DB, n.Name, true)
		return f != nil && len(snap.ReadBy(f)) > 0
	})
}

// storedFunctions notes what calls of stored functions mean for the plan; by their names before parentheses, for there may
// be no tree.
func (b *build) storedFunctions() error {
	for _, f := range b.functions(b.st, b.db) {
		b.needsFunction(f)
		if f.Volatile {
			b.plan.Uses |= plan.Nondeterministic | plan.ReadsClock
		}
		if err := b.reader(f); err != nil {
			return err
		}
	}
	return nil
}
