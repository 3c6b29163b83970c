// Package planner makes plans: a statement's shape and a catalog snapshot in, a plan.Plan out. It is a pure function
// with an ordered list of named rules for each kind of statement, every rule with the argument why it is correct. It
// knows no values: what differs between two executions of a shape is an argument of the plan.
//
// What the planner cannot do exactly as one server would, it refuses with error 1235 and a way to write it instead.
//
// # How a SELECT is planned
//
//	tree of scopes     every table reference resolved against the snapshot         analysis.go, scope.go, expr.go
//	facts              equalities usable for each reference                        facts.go, place.go
//	places             values that locate tables, tables attached to each other    place.go
//	rules              relay, or scatter with merging above it                     select.go, scatter.go
//	last rule          copy the tables to one group and run it there               workspace.go
//	text               the client's own text, cut and completed where needed       text.go
package planner

import (
	"errors"
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// Planner builds plans. It is immutable and may be shared by all sessions.
type Planner struct {
	parser *sqlparse.Parser
}

// New returns a Planner.
func New() (*Planner, error) {
	p, err := sqlparse.NewParser()
	if err != nil {
		return nil, err
	}
	return &Planner{parser: p}, nil
}

// SessionInfo is what of a session a plan depends on beside the default database. It is comparable: a plan cache
// has it in its key.
type SessionInfo struct {
	// Mode is how the statement was scanned.
	Mode sqlparse.Mode
	// NoAutoValueOnZero: sql_mode has NO_AUTO_VALUE_ON_ZERO.
	NoAutoValueOnZero bool
	// Strict: sql_mode has one of the STRICT_ modes.
	Strict bool
	// NoZeroDates: sql_mode has NO_ZERO_DATE or NO_ZERO_IN_DATE.
	NoZeroDates bool
	// FullGroups: sql_mode has ONLY_FULL_GROUP_BY.
	FullGroups bool
	// UTF8Results: character_set_results is utf8mb4, so that strings of Unicode columns can be compared in the proxy as
	// they arrive. Else the servers are asked for weight strings.
	UTF8Results bool
	// Collation is that of string literals.
	Collation string
	// HoursTwice: the session's time zone may have hours that come twice, when daylight saving time ends, so that the text of a TIMESTAMP does
	// not tell its moment, by which servers sort and group.
	HoursTwice bool
	// Unchecked: foreign_key_checks is 0.
	Unchecked bool
	// SafeUpdates: sql_safe_updates is 1.
	SafeUpdates bool
	// DivisionDigits is div_precision_increment, "" if the session does not set it.
	DivisionDigits string
	// RowWrite: the statement is the write of one row in a plan.RowByRow: its triggers have been run, or will be.
	RowWrite bool
	// ForValue: the statement is a SELECT in place of what a SET, a DO or a program computes a value from, within a transaction. The functions that it
	// calls lock what they read by expressions, and views what they read if it locks rows.
	ForValue bool
	// Checked: the rows that the statement writes are looked at one by one, for the CHECK OPTION of a view.
	Checked bool
}

// build is the work on one statement: the lists of rules, each tried on what was found before it.
//
//	list                      is for                                      has                      leaves
//	select, union             a SELECT with a tree                        a, query                 places; frag, for the rules behind it
//	insert, stage             INSERT, REPLACE; one from a SELECT          ins; a, query of it      plan
//	modify                    UPDATE, DELETE                              mod, a                   plan
//	tokens                    what has no tree                            only st                  plan
//	workspace, modify copies  what the lists above have refused           whatever these have      ws
//	ways                      a SELECT that a workspace would answer      ws                       choice
//
// While the ways are tried, workspaces are planned anew, with first, pushed or everywhere set.
type build struct {
	p    *Planner
	st   *sqlparse.Statement
	db   string
	snap *catalog.Snapshot
	sess SessionInfo

	plan  *plan.Plan
	done  bool
	calls []calledAs // stored functions
	// hidden is why the view cannot be read: a temporary table hides what it reads.
	hidden *sqlerr.Error

	a      *analysis
	query  *query
	places *places
	cut    sqlparse.Clauses
	cutOK  bool
	// frag is the fragment of a scatter while the nodes above it are found.
	frag *scatter
	ins  *insertion
	mod  *modification
	// returning: a writing statement has RETURNING, which the tree leaves out.
	returning bool
	ws        *worker // of a workspace plan
	choice    *plan.Choice
	first     *first // while a workspace is planned that may do with the first rows of a table
	// everywhere are tables that are taken for reference tables: see the rule Broadcast.
	everywhere map[*catalog.Table]*catalog.Table
	// pushed are the queries of the statement whose rows are copied, while a workspace with them is planned.
	pushed []*pushed
	// rowByRow: it is RowByRow, or nothing.
	rowByRow bool
	// readers are the stored functions called that read tables, and reads those tables, as often as they are read. A server that
	// computes such a function must have all rows of them.
	readers []*catalog.Routine
	reads   []*catalog.Table
	// part: the statement is made of parts of another one.
	part bool
	// generated are the tables of numbers that the statement names, by database and name.
	generated map[[2]string]*catalog.Table
	// standsOn are the tables of the catalog that were looked up for the plan.
	standsOn []*catalog.Table
}

// Build makes the plan of the statement st was scanned from. Functions that speak of the client's session
// (LAST_INSERT_ID(), CONNECTION_ID(), ...) have been replaced in its text by their values. db is the session's default database, "" if none. st is
// only read, and not kept. The plan holds for every statement of the same shape, database, snapshot and session info,
// as long as its Guards hold. The error is an *sqlerr.Error.
func (p *Planner) Build(st *sqlparse.Statement, db string, snap *catalog.Snapshot, sess SessionInfo) (*plan.Plan, error) {
	b := &build{p: p, st: st, db: db, snap: snap, sess: sess, plan: &plan.Plan{}}
	built, err := b.build()
	if err != nil {
		return nil, err
	}
	if b.hidden != nil {
		return nil, b.hidden
	}
	b.lockAccess(built)
	built.Basis = b.basis(built)
	built.Finds = b.finds(built)
	if built.Basis.Writes {
		if t := b.closedRelative(built.Basis.Tables); t != nil {
			return nil, sqlerr.From(closed(t))
		}
	}
	return built, nil
}

// finds tells of writes and assignments whether a server counts for FOUND_ROWS() what they read.
func (b *build) finds(p *plan.Plan) bool {
	mariadb := b.snap.Flavor == catalog.MariaDB
	_, query := b.st.SelectList()
	query = query || b.st.Uses()&sqlparse.Subquery != 0
	switch p.Kind {
	case plan.Insert, plan.Replace:
		refs, _ := b.st.Tables()
		return query || len(refs) > 1
	case plan.Update, plan.Delete:
		refs, sure := b.st.Tables()
		return query || len(refs) != 1 || !sure || !mariadb && p.Kind == plan.Update
	case plan.Do:
		return query || !mariadb
	case plan.Set:
		w := b.st.Words()
		return query && mariadb && !w.Take("SET", "STATEMENT")
	case plan.DDL:
		return query && mariadb && p.Change.Creates(plan.ObjectTable)
	}
	return false
}

// closedRelative finds a closed table among those that foreign keys tie to tables, over however many of them.
func (b *build) closedRelative(tables []*catalog.Table) *catalog.Table {
	seen := slices.Clone(tables)
	for i := 0; i < len(seen); i++ {
		parents, children, _ := b.snap.Relations(seen[i])
		for _, r := range slices.Concat(parents, children) {
			for _, t := range []*catalog.Table{r.Parent, r.Child} {
				if t != nil && t.Closed {
					return t
				}
			}
		}
		for _, r := range children { // what is done to a row goes down, not up
			if !slices.Contains(seen, r.Child) {
				seen = append(seen, r.Child)
			}
		}
	}
	return nil
}

// build is Build without the plan's Basis.
func (b *build) build() (*plan.Plan, error) {
	b.plan.Uses = textUses(b.st.Uses())
	if k := b.st.Kind(); k != sqlparse.Create && k != sqlparse.Alter { // ddl knows which of them are run
		if err := Outside(b.st, b.db); err != nil {
			return nil, sqlerr.From(err)
		}
	}
	if b.st.Mode()&sqlparse.Oracle != 0 {
		if err := b.oracle(); err != nil {
			return nil, sqlerr.From(err)
		}
	}
	if err := b.storedFunctions(); err != nil {
		return nil, sqlerr.From(err)
	}
	if err := b.tryWorkspace(b.statement()); err != nil {
		e := sqlerr.From(err)
		if u, ok := errors.AsType[*unread](err); ok {
			e = u.refuse
		} else if e.Code != sqlerr.NotSupportedYet || !b.judgeable() {
			return nil, e
		}
		kind := b.plan.Kind
		if kind == 0 {
			kind = plan.Other
		}
		return b.refused(kind, e), nil
	}
	for _, rule := range []func() error{b.triggers, b.displaced, b.safe, b.cascadeReads, b.lateReads} {
		if err := rule(); err != nil {
			return b.refused(b.plan.Kind, sqlerr.From(err)), nil
		}
	}
	b.alone()
	b.unseen()
	return b.plan, nil
}

// basis is what p stands on.
func (b *build) basis(p *plan.Plan) *catalog.Basis {
	basis := &catalog.Basis{Snapshot: b.snap}
	switch p.Kind {
	case plan.Select, plan.Show, plan.Explain, plan.Set, plan.GetDiagnostics:
	default:
		basis.Writes = true
	}
	basis.Calls = len(b.snap.Routines) > 0 && len(routine.Calls(b.st)) > 0
	for _, t := range slices.Concat(b.standsOn, b.reads) {
		if t.Temporary == "" && !slices.Contains(basis.Tables, t) {
			basis.Tables = append(basis.Tables, t)
		}
	}
	return basis
}

// alone notes that a SELECT needs no more than its own text where one node group owns every partition: that group holds
// every row of the sharded tables and a copy of the reference tables, so it is the one server whose answer is wanted,
// whatever the statement computes. Single tables have to be there too.
func (b *build) alone() {
	if b.plan.Kind != plan.Select || b.plan.Relay != nil || b.plan.Root == nil || b.plan.Refuse != nil || b.a == nil || b.locksWithin() {
		return
	}
	t := plan.Target{Kind: plan.AllGroups}
	for _, g := range b.locate().singles {
		t.Also = append(t.Also, plan.Target{Kind: plan.OneGroup, Group: g})
	}
	alone := *b.plan
	alone.Root, alone.Relay = nil, b.fragment(t)
	b.plan.Alone = &alone
}

// judgeable reports whether any server could find fault with a statement that is refused: unknown columns, wrong
// numbers of arguments. It must know all tables for that.
func (b *build) judgeable() bool {
	switch b.st.Kind() {
	case sqlparse.Select, sqlparse.Insert, sqlparse.Replace, sqlparse.Update, sqlparse.Delete:
	default:
		return false
	}
	if b.a == nil {
		for _, db := range b.snap.Databases {
			for _, t := range db.Tables {
				if t.Kind == catalog.Single {
					return false
				}
			}
		}
		return true
	}
	for _, in := range b.a.insts {
		if in.table != nil && in.table.Kind == catalog.Single {
			return false
		}
	}
	return !b.a.virtual
}

// unread says that the statement's form is not known: a server should be asked what it thinks of the text before
// refuse is returned.
type unread struct{ refuse *sqlerr.Error }

func (u *unread) Error() string { return u.refuse.Error() }

// textUses turns what the scanner saw into what a plan says.
func textUses(u sqlparse.Uses) (uses plan.Uses) {
	for _, m := range [...]struct {
		text sqlparse.Uses
		plan plan.Uses
	}{
		{sqlparse.ReadsUserVariable, plan.ReadsUserVariable},
		{sqlparse.WritesUserVariable, plan.WritesUserVariable},
		{sqlparse.ReadsLastInsertID, plan.ReadsLastInsertID},
		{sqlparse.SetsLastInsertID, plan.SetsLastInsertID},
		{sqlparse.ReadsDiagnostics, plan.ReadsDiagnostics},
		{sqlparse.CalcFoundRows, plan.CalcFoundRows},
		{sqlparse.LocksRows, plan.LocksRows},
		{sqlparse.UserLock, plan.PinsSession},
	} {
		if u&m.text != 0 {
			uses |= m.plan
		}
	}
	return uses
}

// statement plans by the kind of the statement.
func (b *build) statement() error {
	switch b.st.Kind() {
	case sqlparse.Empty:
		return sqlerr.EmptyQuery.New()
	case sqlparse.Select, sqlparse.Insert, sqlparse.Replace, sqlparse.Update, sqlparse.Delete:
		return b.dml()
	}
	return b.byWords()
}

// dml plans the statements that read and write rows.
func (b *build) dml() error {
	if b.st.Uses()&sqlparse.UserLock != 0 {
		return b.userLock()
	}
	if b.st.Uses()&sqlparse.Sequence != 0 {
		return sqlerr.Unsupported("values of sequences where they may be computed more than once, or not at all",
			"use them in the VALUES of an INSERT, or in a SELECT or SET without tables, and give the value to the statement") // see session
	}
	parse := b.p.parser.Parse
	if b.st.Uses()&sqlparse.Returning != 0 {
		if err := b.findReturning(); err != nil {
			return err
		}
		if b.returning {
			parse = b.p.parser.ParseWithoutReturning
		}
	}
	tree, usedArgs, err := parse(b.st)
	if err != nil {
		if _, ok := errors.AsType[*sqlparse.NoTree](err); ok {
			return b.withoutTree()
		}
		return err
	}
	if !usedArgs {
		for i := range b.st.NumArgs() {
			b.guard(i, string(b.st.ArgText(i)))
		}
	}
	if through, err := b.throughView(tree); through || err != nil {
		return err
	}
	switch t := tree.(type) {
	case sqlparser.TableStatement:
		b.plan.Kind = plan.Select
		b.query, err = b.analyze(t)
		if err != nil {
			return err
		}
		b.countFound(t)
		if b.locksWithin() {
			return refuseWithin()
		}
		if b.query.block == nil {
			return run(b, unionRules())
		}
		return run(b, selectRules())
	case *sqlparser.Insert:
		b.plan.Kind = plan.Insert
		if t.Action == sqlparser.ReplaceAct {
			b.plan.Kind = plan.Replace
		}
		b.ins = &insertion{stmt: t}
		return run(b, insertRules())
	case *sqlparser.Update:
		b.plan.Kind = plan.Update
		b.mod = &modification{update: t}
		return run(b, modifyRules())
	case *sqlparser.Delete:
		b.plan.Kind = plan.Delete
		b.mod = &modification{del: t}
		return run(b, modifyRules())
	}
	return b.withoutTree()
}

// countFound notes where FOUND_ROWS() behind a query is not the number of its rows.
func (b *build) countFound(t sqlparser.TableStatement) {
	if b.query.limit == nil {
		return
	}
	if _, union := t.(*sqlparser.Union); union && b.snap.Flavor == catalog.MariaDB { // it makes all of it first
		b.plan.FindsAll = true
	}
	if b.query.limit.Offset != nil {
		if n, ok := operandOf(b.query.limit.Offset); ok {
			b.plan.Skips = &n
		}
	}
}

// findReturning looks for the RETURNING clause of a writing statement.
func (b *build) findReturning() error {
	at, ok := b.st.ReturningAt()
	if b.returning = ok && b.st.Kind() != sqlparse.Select; !b.returning {
		return nil
	}
	for toks := b.st.TokensFrom(at); ; {
		switch t := toks.Next(); {
		case t.Kind == sqlparse.EOF:
			return nil
		case isWord(b.st, t, "SELECT"):
			return sqlerr.Unsupported("subqueries in RETURNING", "read the rows with a SELECT")
		case t.Kind == sqlparse.UserVar && b.plan.Uses&plan.WritesUserVariable != 0:
			return sqlerr.Unsupported("assigning variables in a statement with RETURNING", "assign them from the result")
		case isWord(b.st, t, "ROWNUM") && b.st.Mode()&sqlparse.Oracle == 0: // each server would number its own rows
			if toks := toks; b.st.Is(toks.Next(), "(") {
				return sqlerr.Unsupported("ROWNUM() in RETURNING", "count the rows at the client: each node group would number its own")
			}
		}
	}
}

// userLock plans GET_LOCK and its like: in statements without tables, which the session runs where the locks are.
func (b *build) userLock() error {
	refs, sure := b.st.Tables()
	if k := b.st.Kind(); k != sqlparse.Select && k != sqlparse.Do || !sure || len(refs) > 0 || b.st.Uses()&sqlparse.IntoFile != 0 {
		return sqlerr.Unsupported("user-level locks (GET_LOCK and its like) in a statement with tables", "call them in a SELECT without tables")
	}
	b.plan.Kind, b.plan.Topic = plan.Select, plan.UserLock
	b.plan.Refuse = sqlerr.Unsupported("user-level locks (GET_LOCK and its like) in a statement of this form", "call them in a SELECT without tables") // by whoever does not know the topic
	if b.st.Kind() == sqlparse.Do {
		b.plan.Kind = plan.Do
	}
	return nil
}

// rowsKind is the plan's kind of a statement that reads or writes rows.
func rowsKind(k sqlparse.Kind) plan.Kind {
	switch k {
	case sqlparse.Insert:
		return plan.Insert
	case sqlparse.Replace:
		return plan.Replace
	case sqlparse.Update:
		return plan.Update
	case sqlparse.Delete:
		return plan.Delete
	}
	return plan.Select
}

// withoutTree plans a statement the parser has no tree for: by its tokens alone. Without a tree there are no facts, so
// it can only go where any row of its tables is.
func (b *build) withoutTree() error {
	b.plan.Kind = rowsKind(b.st.Kind())
	if b.locksWithin() {
		return refuseWithin()
	}
	return run(b, tokenRules())
}

// fragment makes a fragment over the statement's tables.
func (b *build) fragment(t plan.Target) *plan.Fragment {
	f := &plan.Fragment{ID: 1, Target: t}
	if b.a != nil {
		f.Tables = b.a.tables()
	}
	return f
}

// clauses are those of the statement's text.
func (b *build) clauses() (sqlparse.Clauses, bool) {
	if b.cut.End == 0 {
		b.cut, b.cutOK = b.st.Clauses()
	}
	return b.cut, b.cutOK
}

type schemaKind uint8

const (
	userSchema schemaKind = iota
	informationSchema
	virtualSchema
)

// systemSchema tells the databases that are the servers' own, and ours, from the users'.
func systemSchema(db string) schemaKind {
	switch catalog.KindOf(db) {
	case catalog.ServerDatabase:
		return informationSchema
	case catalog.VirtualDatabase:
		return virtualSchema
	}
	return userSchema // Skarv's own, which nobody sees, is one that does not exist
}

func containsFold(s, sub string) bool { return strings.Contains(strings.ToLower(s), sub) }
