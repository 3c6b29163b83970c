package planner

import (
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// ddl classifies CREATE, ALTER, DROP, RENAME and TRUNCATE. The controller parses and runs them; here only what kind of
// thing they are about, whose database, and what will never work is told.
func (b *build) ddl(w *words) error {
	b.plan.Kind = plan.DDL
	verb := w.next()
	if verb == "truncate" {
		w.take("TABLE")
		b.plan.Topic = "truncate table"
		return b.ddlTables(w)
	}
	if verb == "rename" {
		if !w.take("TABLE") && !w.take("TABLES") {
			return b.syntaxError(w)
		}
		b.plan.Topic = "rename table"
		return b.ddlTables(w)
	}
	if w.takeAll("OR REPLACE") {
		verb += " or replace"
	}
	for w.take("ONLINE") || w.take("OFFLINE") || w.take("IGNORE") || w.take("UNIQUE") || w.take("FULLTEXT") || w.take("SPATIAL") ||
		w.take("AGGREGATE") || w.take("UNDO") {
	}
	// CREATE [ALGORITHM = x] [DEFINER = user] [SQL SECURITY x] VIEW, PROCEDURE, ...
	for w.take("ALGORITHM") || w.take("DEFINER") || w.takeAll("SQL SECURITY") {
		w.take("=")
		w.next()
		for !w.end() && !ddlObject(w.peek()) && w.peek() != "sql" && w.peek() != "algorithm" && w.peek() != "definer" {
			w.next()
		}
	}
	if w.take("TEMPORARY") {
		if strings.HasSuffix(verb, " or replace") {
			verb = "create"
		}
		verb += " temporary"
	}
	object := w.next()
	if b.st.Uses()&sqlparse.Sequence != 0 && object != "procedure" && object != "event" {
		return sqlerr.Unsupported("a definition that asks for values of sequences", "use an AUTO_INCREMENT column, or NEXTVAL() in the INSERT")
	}
	b.plan.Topic = verb + " " + object
	switch object {
	case "table", "tables", "view", "index":
		if object == "tables" {
			b.plan.Topic = verb + " table"
		}
		return b.ddlTables(w)
	case "database", "schema":
		b.plan.Topic = verb + " database"
		if !w.takeAll("IF NOT EXISTS") {
			w.takeAll("IF EXISTS")
		}
		name, ok := w.name()
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
		b.access(name, catalog.Admin)
		return nil
	case "procedure", "function", "trigger", "event":
		return b.ddlProgram(w)
	case "package":
		return sqlerr.Unsupported(strings.ToUpper(verb+" "+object), "run the statements from the client")
	case "sequence":
		if b.snap.Flavor != catalog.MariaDB || strings.HasSuffix(verb, "temporary") {
			return sqlerr.Unsupported(strings.ToUpper(verb+" "+object), "use an AUTO_INCREMENT column")
		}
		return b.ddlSequence(w, verb)
	case "server", "tablespace", "logfile", "instance", "resource", "spatial", "library":
		return sqlerr.Unsupported(strings.ToUpper(verb+" "+object), "it is about one server; connect to the server itself")
	}
	return b.refuseKind()
}

// ownDatabase is the database that a name without one, or with db, belongs to, as the catalog spells it.
func (b *build) ownDatabase(db string) (string, error) {
	if db == "" {
		db = b.db
	}
	if db == "" {
		return "", sqlerr.NoDatabase.New()
	}
	if b.snap.LowerCaseTableNames != 0 {
		db = strings.ToLower(db)
	}
	return db, nil
}

// ddlObject reads the name of what a statement makes, changes or drops in a database that must exist and be the users'.
func (b *build) ddlObject(w *words) (db, name string, err error) {
	db, name, ok := w.qualified()
	if !ok {
		return "", "", b.syntaxError(w)
	}
	if db, err = b.ownDatabase(db); err != nil {
		return "", "", err
	}
	if systemSchema(db) != userSchema {
		return "", "", sqlerr.AccessDeniedDB.New("", "", db)
	}
	if b.snap.Databases[db] == nil {
		return "", "", sqlerr.UnknownDatabase.New(db)
	}
	return db, name, nil
}

// ddlSequence notes the databases of sequences that are made, changed or dropped: the session has that done.
func (b *build) ddlSequence(w *words, verb string) error {
	if !w.takeAll("IF NOT EXISTS") {
		w.takeAll("IF EXISTS")
	}
	for {
		db, name, err := b.ddlObject(w)
		if err != nil {
			return err
		}
		if _, err := b.table(db, name); err == nil && verb == "create or replace" {
			return sqlerr.Unsupported("CREATE OR REPLACE SEQUENCE in the place of a table", "drop the table first")
		}
		b.plan.Database, b.plan.Name = db, name
		b.access(db, catalog.Admin)
		if verb != "drop" || !w.take(",") {
			return nil
		}
	}
}

// ddlProgram notes the database of a stored program that is created, changed or dropped.
func (b *build) ddlProgram(w *words) error {
	if !w.takeAll("IF NOT EXISTS") {
		w.takeAll("IF EXISTS")
	}
	db, name, err := b.ddlObject(w)
	if err != nil {
		return err
	}
	b.plan.Database, b.plan.Name = db, name
	b.access(db, catalog.Admin)
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
func (b *build) ddlTables(w *words) error {
	refs, _ := b.st.Tables()
	if len(refs) == 0 {
		return b.syntaxError(w)
	}
	for i, r := range refs {
		db, err := b.ownDatabase(r.DB)
		if err != nil {
			return err
		}
		if systemSchema(db) != userSchema {
			return sqlerr.Unsupported("DDL in the database "+db, "it belongs to the servers")
		}
		if err := b.databaseName(db); err != nil {
			return err
		}
		if err := b.tableName(r.Name); err != nil {
			return err
		}
		if b.snap.Databases[db] == nil {
			return sqlerr.UnknownDatabase.New(db)
		}
		if i == 0 {
			b.plan.Database, b.plan.Name = db, r.Name
		}
		need := catalog.Admin
		if t := b.snap.Table(db, r.Name); t != nil && t.Temporary != "" || strings.HasSuffix(b.plan.Topic, " temporary table") {
			need = catalog.Write
		}
		if !r.Write && i > 0 {
			need = catalog.Read // LIKE, SELECT
		}
		b.access(db, need)
		if t := b.snap.Table(db, r.Name); t != nil {
			b.plan.Tables = append(b.plan.Tables, t)
		}
	}
	return nil
}
