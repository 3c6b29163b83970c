package planner

import (
	"cmp"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// ddl classifies CREATE, ALTER, DROP, RENAME and TRUNCATE. The controller parses and runs them; here only what kind of
// thing they are about, whose database, and what will never work is told.
func (b *build) ddl(w *sqlparse.Words) error {
	b.plan.Kind = plan.DDL
	c := &b.plan.Change
	switch w.Next() {
	case "truncate":
		w.Take("TABLE")
		*c = plan.Change{Verb: plan.VerbTruncate, Object: plan.ObjectTable}
		return b.ddlTables(w)
	case "rename":
		if !w.Take("TABLE") && !w.Take("TABLES") {
			return b.syntaxError(w)
		}
		*c = plan.Change{Verb: plan.VerbRename, Object: plan.ObjectTable}
		return b.ddlTables(w)
	case "create":
		c.Verb = plan.VerbCreate
	case "alter":
		c.Verb = plan.VerbAlter
	case "drop":
		c.Verb = plan.VerbDrop
	}
	c.OrReplace = c.Verb == plan.VerbCreate && w.Take("OR", "REPLACE")
	for w.Take("ONLINE") || w.Take("OFFLINE") || w.Take("IGNORE") || w.Take("UNIQUE") || w.Take("FULLTEXT") || w.Take("SPATIAL") ||
		w.Take("AGGREGATE") || w.Take("UNDO") {
	}
	// CREATE [ALGORITHM = x] [DEFINER = user] [SQL SECURITY x] VIEW, PROCEDURE, ...
	for w.Take("ALGORITHM") || w.Take("DEFINER") || w.Take("SQL", "SECURITY") {
		w.Take("=")
		w.Next()
		for !w.End() && !ddlObject(w.Word()) && w.Word() != "sql" && w.Word() != "algorithm" && w.Word() != "definer" {
			w.Next()
		}
	}
	if w.Take("TEMPORARY") {
		c.Temporary, c.OrReplace = true, false
	}
	object := w.Next()
	c.Object = objectOf(object)
	if b.st.Uses()&sqlparse.Sequence != 0 && c.Object != plan.ObjectProcedure && c.Object != plan.ObjectEvent {
		return sqlerr.Unsupported("a definition that asks for values of sequences", "use an AUTO_INCREMENT column, or NEXTVAL() in the INSERT")
	}
	if !runByStatement(c.Object) {
		if err := Outside(b.st, b.db); err != nil {
			return err
		}
	}
	if (c.Object == plan.ObjectTable || c.Object == plan.ObjectSequence) && b.leadsElsewhere() {
		b.needsIn("*", catalog.MaySuper)
	}
	switch c.Object {
	case plan.ObjectTable, plan.ObjectView, plan.ObjectIndex:
		return b.ddlTables(w)
	case plan.ObjectDatabase:
		if !w.Take("IF", "NOT", "EXISTS") {
			w.Take("IF", "EXISTS")
		}
		name, ok := w.Name()
		if !ok {
			name = b.db // ALTER DATABASE without a name
		}
		if name == "" {
			return sqlerr.NoDatabase.New()
		}
		if systemSchema(name) != userSchema {
			return sqlerr.AccessDeniedDB.New("", "", name)
		}
		if err := b.databaseName(name); err != nil {
			return err
		}
		b.plan.Name = name
		b.needsIn(name, b.changes())
		return nil
	case plan.ObjectProcedure, plan.ObjectFunction, plan.ObjectTrigger, plan.ObjectEvent:
		return b.ddlProgram(w)
	case plan.ObjectSequence:
		if b.snap.Flavor != catalog.MariaDB || c.Temporary {
			return sqlerr.Unsupported(strings.ToUpper(c.String()), "create an ordinary sequence, where servers are MariaDB's, or use an AUTO_INCREMENT column")
		}
		return b.ddlSequence(w)
	}
	switch object { // c names none of these
	case "package":
		return sqlerr.Unsupported(strings.ToUpper(c.String()+object), "run the statements from the client")
	case "server", "tablespace", "logfile", "instance", "resource", "library":
		return sqlerr.Unsupported(strings.ToUpper(c.String()+object), "connect to the server itself: it is about one server")
	}
	if b.snap.Flavor == catalog.MySQL {
		switch what := strings.ToUpper(c.String() + object); object {
		case "reference":
			return sqlerr.Unsupported(strings.ToUpper(c.String())+"SPATIAL REFERENCE SYSTEM", "make it on the server of each node group")
		case "json", "materialized":
			return sqlerr.Unsupported(what+" VIEW", "create a view, or a table and fill it")
		case "external":
			return sqlerr.Unsupported(what+" TABLE", "create a table, and LOAD DATA LOCAL into it")
		}
	}
	return b.refuseKind()
}

// objectOf is the kind of object that a word of a DDL says; 0 for words that say none, and for objects that only servers have.
func objectOf(word string) plan.Object {
	switch word {
	case "table", "tables":
		return plan.ObjectTable
	case "view":
		return plan.ObjectView
	case "index":
		return plan.ObjectIndex
	case "database", "schema":
		return plan.ObjectDatabase
	case "sequence":
		return plan.ObjectSequence
	case "procedure":
		return plan.ObjectProcedure
	case "function":
		return plan.ObjectFunction
	case "trigger":
		return plan.ObjectTrigger
	case "event":
		return plan.ObjectEvent
	}
	return 0
}

// ownDatabase is the database that a name without one, or with db, belongs to, as the catalog spells it.
func (b *build) ownDatabase(db string) (string, error) {
	db, err := b.defaulted(db)
	if b.snap.LowerCaseTableNames != 0 {
		db = strings.ToLower(db)
	}
	return db, err
}

// defaulted is db, or the default database where a name is without one.
func (b *build) defaulted(db string) (string, error) {
	if db = cmp.Or(db, b.db); db == "" {
		return "", sqlerr.NoDatabase.New()
	}
	return db, nil
}

// ddlObject reads the name of what a statement makes, changes or drops in a database that must be the users', and exist unless it is dropped.
func (b *build) ddlObject(w *sqlparse.Words) (db, name string, err error) {
	db, name, ok := w.Qualified()
	if !ok {
		return "", "", b.syntaxError(w)
	}
	if db, err = b.ownDatabase(db); err != nil {
		return "", "", err
	}
	if systemSchema(db) != userSchema {
		return "", "", sqlerr.AccessDeniedDB.New("", "", db)
	}
	if b.snap.Databases[db] == nil && b.plan.Change.Verb != plan.VerbDrop {
		return "", "", sqlerr.UnknownDatabase.New(db)
	}
	return db, name, nil
}

// ddlSequence notes the databases of sequences that are made, changed or dropped: the session has that done.
func (b *build) ddlSequence(w *sqlparse.Words) error {
	if !w.Take("IF", "NOT", "EXISTS") {
		w.Take("IF", "EXISTS")
	}
	for {
		db, name, err := b.ddlObject(w)
		if err != nil {
			return err
		}
		if _, err := b.table(db, name); err == nil && b.plan.Change.OrReplace {
			return sqlerr.Unsupported("CREATE OR REPLACE SEQUENCE in the place of a table", "drop the table first")
		}
		b.plan.Database, b.plan.Name = db, name
		b.access(plan.Access{Database: db, Table: name, Privilege: b.changes()})
		if b.plan.Change.Verb != plan.VerbDrop || !w.Take(",") {
			return nil
		}
	}
}

// ddlProgram notes the database of a stored program that is created, changed or dropped.
func (b *build) ddlProgram(w *sqlparse.Words) error {
	if !w.Take("IF", "NOT", "EXISTS") {
		w.Take("IF", "EXISTS")
	}
	db, name, err := b.ddlObject(w)
	if err != nil {
		return err
	}
	b.plan.Database, b.plan.Name = db, name
	if need := b.changes(); need == catalog.MayAlterRoutine {
		b.access(plan.Access{Database: db, Routine: name, Function: b.plan.Change.Object == plan.ObjectFunction, Privilege: need})
	} else {
		b.needsIn(db, need)
	}
	return nil
}

func ddlObject(word string) bool {
	switch word {
	case "view", "procedure", "function", "trigger", "event", "package", "table", "aggregate":
		return true
	}
	return false
}

// ddlTables notes the databases and tables a DDL names.
func (b *build) ddlTables(w *sqlparse.Words) error {
	refs, _ := b.st.Tables()
	if len(refs) == 0 {
		return b.syntaxError(w)
	}
	query := -1
	switch c := b.plan.Change; {
	case c.Object == plan.ObjectView && c.Verb != plan.VerbDrop:
		query = b.viewQuery(refs[0].End)
	case c.Object == plan.ObjectTable && c.Verb == plan.VerbCreate:
		query = b.tableQuery(refs[0].End)
	}
	if query >= 0 {
		if err := b.definedBy(query); err != nil {
			return err
		}
	}
	for i, r := range refs {
		db, err := b.ownDatabase(r.DB)
		if err != nil {
			return err
		}
		if systemSchema(db) != userSchema {
			return sqlerr.Unsupported("DDL in the database "+db, "connect to each server itself: the database belongs to the servers")
		}
		if err := b.databaseName(db); err != nil {
			return err
		}
		if err := b.tableName(r.Name); err != nil {
			return err
		}
		if b.snap.Databases[db] == nil && (b.plan.Change.Verb != plan.VerbDrop || b.plan.Change.Object == plan.ObjectIndex) {
			return sqlerr.UnknownDatabase.New(db)
		}
		if i == 0 {
			b.plan.Database, b.plan.Name = db, r.Name
		}
		t := b.snap.Table(db, r.Name)
		switch temporary := t != nil && t.Temporary != ""; {
		case temporary && b.changesTemporary(): // the session's own
		case b.plan.Change.Temporary && b.plan.Change.Object == plan.ObjectTable && b.plan.Change.Verb != plan.VerbCreate:
		case b.plan.Change.Temporary && b.plan.Change.Object == plan.ObjectTable && i == 0:
			b.needsIn(db, catalog.MayCreateTemporary)
		case !r.Write && i > 0: // LIKE, SELECT, REFERENCES
			b.access(plan.Access{Database: db, Table: r.Name, Privilege: catalog.MaySelect})
		default:
			b.access(plan.Access{Database: db, Table: r.Name, Privilege: b.changesTable(refs, i, query >= 0)})
		}
		if t != nil && !(t.Temporary != "" && b.renamesHidden()) {
			b.plan.Tables = append(b.plan.Tables, t)
		}
	}
	return nil
}

// changes is what the DDL at hand needs on what it makes, changes or drops.
func (b *build) changes() catalog.Privilege {
	c := b.plan.Change
	switch c.Object {
	case plan.ObjectTrigger:
		return catalog.MayTrigger
	case plan.ObjectEvent:
		return catalog.MayEvent
	case plan.ObjectProcedure, plan.ObjectFunction:
		if c.Verb != plan.VerbCreate {
			return catalog.MayAlterRoutine
		}
		if c.OrReplace {
			return catalog.MayCreateRoutine | catalog.MayAlterRoutine
		}
		return catalog.MayCreateRoutine
	case plan.ObjectIndex:
		return catalog.MayIndex
	case plan.ObjectView:
		if c.Verb == plan.VerbDrop {
			return catalog.MayDrop
		}
		if c.OrReplace || c.Verb == plan.VerbAlter {
			return catalog.MayCreateView | catalog.MayDrop
		}
		return catalog.MayCreateView
	}
	switch {
	case c.Verb == plan.VerbCreate && c.OrReplace:
		return catalog.MayCreate | catalog.MayDrop
	case c.Verb == plan.VerbCreate:
		return catalog.MayCreate
	case c.Verb == plan.VerbAlter:
		return catalog.MayAlter
	}
	return catalog.MayDrop
}

// changesTable is what the DDL at hand needs on the table or view refs[i] of those that it names; fills: a query fills it.
func (b *build) changesTable(refs []sqlparse.TableRef, i int, fills bool) catalog.Privilege {
	c, need := b.plan.Change, b.changes()
	switch {
	case c.Object != plan.ObjectTable:
	case c.Verb == plan.VerbRename && i%2 == 0:
		return catalog.MayAlter | catalog.MayDrop
	case c.Verb == plan.VerbRename, c.Verb == plan.VerbAlter && i > 0: // the new name
		return catalog.MayCreate | catalog.MayInsert
	case c.Verb == plan.VerbAlter:
		need |= catalog.MayCreate | catalog.MayInsert
		renames := slices.ContainsFunc(refs[1:], func(r sqlparse.TableRef) bool { return r.Write })
		partition, drop := b.st.Words(), b.st.Words()
		drops := partition.Find("PARTITION") && drop.Find("DROP", "TRUNCATE", "EXCHANGE")
		if renames || drops {
			need |= catalog.MayDrop
		}
	case c.Verb == plan.VerbCreate && fills:
		need |= catalog.MayInsert
	}
	return need
}

// changesTemporary reports whether a name in the DDL at hand means a temporary table if there is one.
func (b *build) changesTemporary() bool {
	c := b.plan.Change
	return c.Object == plan.ObjectIndex || c.Object == plan.ObjectTable && c.Verb != plan.VerbCreate && !b.renamesHidden()
}

// renamesHidden reports whether the DDL at hand is MySQL's RENAME TABLE, which knows nothing of temporary tables.
func (b *build) renamesHidden() bool {
	return b.snap.Flavor == catalog.MySQL && b.plan.Change.Verb == plan.VerbRename
}
