package planner

import (
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// byWords plans the kinds that need no tree.
func (b *build) byWords() error {
	w := b.st.Words()
	switch b.st.Kind() {
	case sqlparse.Begin, sqlparse.Commit, sqlparse.Rollback, sqlparse.Savepoint, sqlparse.Release:
		return b.transaction(&w)
	case sqlparse.Set:
		b.plan.Kind = plan.Set
		return nil
	case sqlparse.Use:
		return b.use(&w)
	case sqlparse.Show:
		return b.show(&w)
	case sqlparse.Explain:
		return b.explain(&w)
	case sqlparse.Kill:
		return b.kill(&w)
	case sqlparse.Create, sqlparse.Alter, sqlparse.Drop, sqlparse.Truncate, sqlparse.RenameTable:
		if w.Take("DROP", "PREPARE") {
			return b.deallocate(&w)
		}
		return b.ddl(&w)
	case sqlparse.LockTables, sqlparse.UnlockTables:
		return b.lock(&w)
	case sqlparse.TableAdmin:
		return b.tableAdmin(&w)
	case sqlparse.Flush:
		return b.flush(&w)
	case sqlparse.Do:
		return b.do()
	case sqlparse.LoadData:
		return b.load(&w)
	case sqlparse.Prepare, sqlparse.Execute, sqlparse.Deallocate:
		return b.prepared(&w)
	}
	return b.refuseKind()
}

// flush plans FLUSH: each server does so. Refused are the locks of all tables, and what makes a server forget what it has replicated or logged.
func (b *build) flush(w *sqlparse.Words) error {
	b.plan.Kind = plan.Flush
	b.needsIn("*", catalog.MayReload)
	b.plan.Root = &plan.Fragment{ID: 1, Target: plan.Target{Kind: plan.AllGroups}, Same: true}
	w.Take("FLUSH")
	for w.Take("LOCAL") || w.Take("NO_WRITE_TO_BINLOG") {
	}
	if w.Take("TABLES") || w.Take("TABLE") {
		if w.Find("LOCK", "EXPORT") {
			return sqlerr.Unsupported("FLUSH TABLES WITH READ LOCK and FOR EXPORT", "use START TRANSACTION WITH CONSISTENT SNAPSHOT, which sees the whole cluster at one moment")
		}
		return nil
	}
	for !w.End() {
		switch word := w.Next(); word {
		case "master", "slave", "delete_domain_id":
			return sqlerr.Unsupported("FLUSH "+strings.ToUpper(word), "connect to the server itself: it is about one server")
		}
	}
	return nil
}

// refuseKind words what is not done for kinds of statements Skarv has no plan for.
func (b *build) refuseKind() error {
	refuse := sqlerr.Unsupported
	switch b.st.Kind() {
	case sqlparse.Call:
		return b.call()
	case sqlparse.Handler:
		return refuse("HANDLER", "use SELECT ... ORDER BY key LIMIT n")
	case sqlparse.XA:
		return refuse("XA statements of clients", "use BEGIN and COMMIT, which are atomic over all node groups")
	case sqlparse.Grant, sqlparse.Account:
		b.plan.Kind = plan.Account
		return nil
	case sqlparse.Compound:
		b.plan.Kind = plan.Compound
		return nil
	}
	w := b.st.Words()
	word := strings.ToUpper(w.Next())
	switch word {
	case "SHUTDOWN", "RESTART":
		return refuse(word, "stop or start the processes of Skarv, or connect to the server itself")
	case "CHANGE", "RESET", "PURGE", "START", "STOP", "BINLOG", "INSTALL", "UNINSTALL", "CLONE",
		"CACHE", "IMPORT", "BACKUP":
		return refuse(word, "connect to the server itself: it is about one server")
	case "GET":
		b.plan.Kind = plan.GetDiagnostics
		return nil
	case "SIGNAL", "RESIGNAL": // any server knows what they say
		b.plan.Kind = plan.Do
		b.plan.Relay = b.fragment(plan.Target{Kind: plan.AnyGroup})
		return nil
	case "HELP":
		b.plan.Kind, b.plan.Topic = plan.Show, "help"
		b.plan.Relay = b.fragment(plan.Target{Kind: plan.AnyGroup})
		return nil
	case "TABLE", "VALUES":
		return refuse(word+" as a statement of its own", "use SELECT")
	}
	return b.syntaxErrorAtStart()
}

// call plans CALL: the session runs the procedure, and each statement of it is planned as a client's.
func (b *build) call() error {
	w := b.st.Words()
	w.Take("CALL")
	b.plan.Kind = plan.Call
	db, name, ok := w.Qualified()
	if !ok || !w.End() && !w.Take("(") {
		return b.syntaxError(&w)
	}
	db, err := b.ownDatabase(db)
	if err != nil {
		return err
	}
	if systemSchema(db) != userSchema {
		return sqlerr.Unsupported("CALL of a procedure of the database "+db, "connect to the server itself: it is about one server")
	}
	if b.snap.Databases[db] == nil {
		return sqlerr.NoSuchRoutine.New("PROCEDURE", db+"."+name)
	}
	b.plan.Database, b.plan.Name = db, name
	b.needsToCall(db, name)
	return nil
}

func (b *build) serverName() string {
	if b.snap.Flavor == catalog.MariaDB {
		return "MariaDB"
	}
	return "MySQL"
}

// transaction reads BEGIN, START TRANSACTION, COMMIT, ROLLBACK, SAVEPOINT, RELEASE SAVEPOINT with all they may say.
func (b *build) transaction(w *sqlparse.Words) error {
	t := &plan.Txn{}
	b.plan.Txn = t
	switch {
	case w.Take("BEGIN"):
		if b.st.Mode()&sqlparse.Oracle != 0 { // it opens a block, which is not there
			return b.syntaxError(w)
		}
		b.plan.Kind = plan.Begin
		w.Take("WORK")
	case w.Take("START", "TRANSACTION"):
		b.plan.Kind = plan.Begin
		for more := false; ; more = true {
			switch {
			case w.Take("READ", "ONLY"):
				t.ReadOnly = true
			case w.Take("READ", "WRITE"):
				t.ReadWrite = true
			case w.Take("WITH", "CONSISTENT", "SNAPSHOT"):
				t.Snapshot = true
			case more:
				return b.syntaxError(w)
			}
			if !w.Take(",") {
				break
			}
		}
		if t.ReadOnly && t.ReadWrite {
			return b.syntaxError(w)
		}
	case w.Take("COMMIT"):
		b.plan.Kind = plan.Commit
		completion(w, t)
	case w.Take("ROLLBACK"):
		b.plan.Kind = plan.Rollback
		w.Take("WORK")
		if w.Take("TO") {
			b.plan.Kind, t.RollbackTo = plan.Savepoint, true
			w.Take("SAVEPOINT")
			b.plan.Name, _ = w.Name()
		} else {
			completion(w, t)
		}
	case w.Take("SAVEPOINT"):
		b.plan.Kind = plan.Savepoint
		b.plan.Name, _ = w.Name()
	case w.Take("RELEASE", "SAVEPOINT"):
		b.plan.Kind, t.Release = plan.Savepoint, true
		b.plan.Name, _ = w.Name()
	}
	if b.plan.Kind == 0 || !w.End() || b.plan.Kind == plan.Savepoint && b.plan.Name == "" {
		return b.syntaxError(w)
	}
	return nil
}

// completion reads [WORK] [AND [NO] CHAIN] [[NO] RELEASE]: not AND CHAIN RELEASE.
func completion(w *sqlparse.Words, t *plan.Txn) {
	w.Take("WORK")
	switch {
	case w.Take("AND", "CHAIN"):
		t.Chain = true
	case w.Take("AND", "NO", "CHAIN"):
		t.NoChain = true
	}
	switch {
	case !t.Chain && w.Take("RELEASE"):
		t.Release = true
	case w.Take("NO", "RELEASE"):
		t.NoRelease = true
	}
}

// syntaxError is error 1064 at the token not yet taken, unless a server says something else.
func (b *build) syntaxError(w *sqlparse.Words) error {
	sql := b.st.SQL()
	near := ""
	if !w.End() {
		near = string(sql[w.Ahead().Start:])
	}
	line := sqlparse.Line(sql, len(sql)-len(near))
	if len(near) > 80 {
		near = near[:80]
	}
	return &unread{sqlerr.ParseError.New("check the manual that corresponds to your " + b.serverName() +
		" server version for the right syntax to use near '" + near + "' at line " + strconv.Itoa(line))}
}

// syntaxErrorAtStart is syntaxError where nothing has been read.
func (b *build) syntaxErrorAtStart() error {
	w := b.st.Words()
	return b.syntaxError(&w)
}

func (b *build) use(w *sqlparse.Words) error {
	w.Take("USE")
	name, ok := w.Name()
	if !ok || !w.End() {
		return b.syntaxError(w)
	}
	b.plan.Kind = plan.Use
	if b.snap.LowerCaseTableNames != 0 {
		name = strings.ToLower(name)
	}
	if b.snap.Databases[name] == nil && systemSchema(name) == userSchema {
		if err := b.databaseName(name); err != nil {
			return err
		}
		return sqlerr.UnknownDatabase.New(name)
	}
	b.plan.Name = name
	if systemSchema(name) == userSchema {
		b.needsIn(name, 0)
	}
	return nil
}

func (b *build) kill(w *sqlparse.Words) error {
	w.Take("KILL")
	b.plan.Kind, b.plan.Topic = plan.Kill, plan.KillConnection
	w.Take("HARD")
	w.Take("SOFT")
	switch {
	case w.Take("QUERY"):
		b.plan.Topic = plan.KillQuery
		if w.Take("ID") {
			return sqlerr.Unsupported("KILL QUERY ID", "use KILL QUERY with the connection's id")
		}
	case w.Take("CONNECTION"):
	}
	if w.Take("USER") {
		return sqlerr.Unsupported("KILL USER", "use KILL for each of his connections (SHOW PROCESSLIST)")
	}
	if w.End() {
		return b.syntaxError(w)
	}
	return nil // which one the session reads
}

// prepared reads PREPARE name FROM text, EXECUTE name [USING ...], MariaDB's EXECUTE IMMEDIATE text [USING ...] and
// DEALLOCATE PREPARE name. What stands behind the name the session reads.
func (b *build) prepared(w *sqlparse.Words) error {
	switch {
	case w.Take("PREPARE"):
		b.plan.Topic = plan.Prepare
	case w.Take("EXECUTE", "IMMEDIATE"):
		if b.snap.Flavor != catalog.MariaDB {
			return b.syntaxErrorAtStart()
		}
		b.plan.Kind, b.plan.Topic = plan.Prepared, plan.ExecuteImmediate
		return nil
	case w.Take("EXECUTE"):
		b.plan.Topic = plan.Execute
	default:
		if !w.Take("DEALLOCATE", "PREPARE") {
			return b.syntaxError(w)
		}
		return b.deallocate(w)
	}
	b.plan.Kind = plan.Prepared
	name, ok := w.Name()
	if !ok || b.plan.Topic == plan.Prepare && (!w.Take("FROM") || w.End()) || b.plan.Topic == plan.Execute && !w.End() && (!w.Take("USING") || w.End()) {
		return b.syntaxError(w)
	}
	b.plan.Name = strings.ToLower(name)
	return nil
}

func (b *build) deallocate(w *sqlparse.Words) error {
	b.plan.Kind, b.plan.Topic = plan.Prepared, plan.Deallocate
	name, ok := w.Name()
	if !ok || !w.End() {
		return b.syntaxError(w)
	}
	b.plan.Name = strings.ToLower(name)
	return nil
}

// do plans DO expr: evaluated like SELECT expr, without a result.
func (b *build) do() error {
	if b.st.Uses()&sqlparse.UserLock != 0 {
		return b.userLock()
	}
	if b.st.Uses()&sqlparse.SetsLastInsertID != 0 {
		return sqlerr.Unsupported("LAST_INSERT_ID(expression) in DO", "use SELECT LAST_INSERT_ID(expression)")
	}
	b.plan.Kind = plan.Do
	if refs, sure := b.st.Tables(); !sure || len(refs) > 0 || len(b.reads) > 0 || b.st.Uses()&sqlparse.Subquery != 0 {
		b.plan.Refuse = sqlerr.Unsupported("DO with a subquery", "use SELECT") // but the session runs it as a SELECT
		return nil
	}
	b.plan.Relay = b.fragment(plan.Target{Kind: plan.AnyGroup})
	return nil
}

func (b *build) lock(w *sqlparse.Words) error {
	second := b.st.Words()
	second.Skip()
	if second.Is("INSTANCE") {
		return sqlerr.Unsupported("LOCK INSTANCE", "connect to the server itself: it is about one server")
	}
	if b.st.Kind() == sqlparse.UnlockTables {
		b.plan.Kind = plan.Unlock
		return nil
	}
	b.plan.Kind = plan.Lock
	refs, _ := b.st.Tables()
	for _, r := range refs {
		db, err := b.defaulted(r.DB)
		if err != nil {
			return err
		}
		if systemSchema(db) != userSchema {
			continue
		}
		t, err := b.table(db, r.Name)
		if err != nil {
			return err
		}
		b.needsIn(t.Database, catalog.MayLockTables)
		b.needs(t, catalog.MaySelect)
		if t.Kind == catalog.View {
			b.locksBehind(t)
		}
		b.plan.Tables = append(b.plan.Tables, t)
	}
	return nil
}

// tableAdmin plans ANALYZE, CHECK, CHECKSUM, OPTIMIZE, REPAIR TABLE: each group has something to say about its part.
func (b *build) tableAdmin(w *sqlparse.Words) error {
	word := w.Next()
	switch word {
	case "analyze", "optimize", "check", "repair", "checksum":
	default:
		return sqlerr.Unsupported(strings.ToUpper(word)+" TABLE", "run it on each server")
	}
	refs, _ := b.st.Tables()
	if len(refs) == 0 {
		return &unread{sqlerr.Unsupported(strings.ToUpper(word)+" of this form", "name the tables")}
	}
	for _, r := range refs {
		db, err := b.defaulted(r.DB)
		if err != nil {
			return err
		}
		t, err := b.table(db, r.Name)
		if sqlerr.HasCode(err, sqlerr.NoSuchTable) { // every server says so, in a row
			t, err = &catalog.Table{Database: db, Name: r.Name, Kind: catalog.Reference}, nil
		}
		if err != nil {
			return err
		}
		if t.Kind == catalog.View && word == "checksum" {
			return sqlerr.Unsupported("CHECKSUM TABLE of a view", "name its tables")
		}
		if word == "checksum" || word == "check" {
			b.needs(t, catalog.MaySelect)
		} else {
			b.needs(t, catalog.MaySelect|catalog.MayInsert)
		}
		b.plan.Tables = append(b.plan.Tables, t)
	}
	if word == "checksum" { // the session adds up what the groups say
		b.plan.Kind, b.plan.Topic = plan.Show, plan.ShowChecksums
		for more := w.Take("TABLE") || w.Take("TABLES"); more; more = w.Take(",") {
			if _, _, ok := w.Qualified(); !ok {
				return b.syntaxError(w)
			}
		}
		switch {
		case w.Take("QUICK"):
			b.plan.Name = "quick"
		case w.Take("EXTENDED"):
			b.plan.Name = "extended"
		}
		if !w.End() {
			return b.syntaxError(w)
		}
		return nil
	}
	b.plan.Kind = plan.TableAdmin
	f := b.fragment(plan.Target{Kind: plan.AllGroups})
	f.Tables = b.plan.Tables
	f.Same = word != "check" // what one group finds fault with, all must tell
	b.plan.Root = f
	return nil
}
