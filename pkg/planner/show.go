package planner

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// answerer is who answers a SHOW.
type answerer uint8

const (
	anyServer   answerer = iota + 1 // a backend that knows all definitions
	tableServer                     // the backend that knows the named table
	theSession
	nobody // it is refused
)

// showForm is a form of SHOW.
type showForm struct {
	words string // those after SHOW, but for FULL, GLOBAL, SESSION and the like
	topic plan.Topic
	by    answerer
}

// instead is what a client may do that is refused an answer.
func (f showForm) instead() string {
	switch f.words {
	case "ENGINE":
		return "connect to each server itself: it is about one server"
	case "MASTER STATUS", "BINARY LOG STATUS", "BINLOG STATUS":
		return "the cluster has no one position: use START TRANSACTION WITH CONSISTENT SNAPSHOT for a dump of one moment, or connect to each server itself"
	}
	return "connect to the server itself: it is about one server"
}

// showForms are the forms of SHOW. The first that fits counts.
func showForms() []showForm {
	return []showForm{
		{"CREATE TABLE", plan.ShowCreateTable, tableServer},
		{"CREATE VIEW", plan.ShowCreateView, tableServer},
		{"CREATE DATABASE", plan.ShowCreateDatabase, anyServer},
		{"CREATE SCHEMA", plan.ShowCreateDatabase, anyServer},
		{"CREATE PROCEDURE", plan.ShowCreateProcedure, anyServer},
		{"CREATE FUNCTION", plan.ShowCreateFunction, anyServer},
		{"CREATE TRIGGER", plan.ShowCreateTrigger, anyServer},
		{"CREATE EVENT", plan.ShowCreateEvent, anyServer},
		{"CREATE SEQUENCE", plan.ShowCreateSequence, anyServer},
		{"COLUMNS", plan.ShowColumns, tableServer},
		{"FIELDS", plan.ShowColumns, tableServer},
		{"INDEX", plan.ShowIndex, tableServer},
		{"INDEXES", plan.ShowIndex, tableServer},
		{"KEYS", plan.ShowIndex, tableServer},
		{"DATABASES", plan.ShowDatabases, theSession},
		{"SCHEMAS", plan.ShowDatabases, theSession},
		{"TABLES", plan.ShowTables, anyServer},
		{"TABLE STATUS", plan.ShowTableStatus, anyServer},
		{"OPEN TABLES", plan.ShowOpenTables, anyServer},
		{"TRIGGERS", plan.ShowTriggers, anyServer},
		{"EVENTS", plan.ShowEvents, anyServer},
		{"PROCEDURE STATUS", plan.ShowProcedureStatus, anyServer},
		{"FUNCTION STATUS", plan.ShowFunctionStatus, anyServer},
		{"PACKAGE STATUS", plan.ShowPackageStatus, anyServer},
		{"PACKAGE BODY STATUS", "package body status", anyServer},
		{"VARIABLES", plan.ShowVariables, anyServer},
		{"STATUS", plan.ShowStatus, anyServer},
		{"WARNINGS", plan.ShowWarnings, theSession},
		{"ERRORS", plan.ShowErrors, theSession},
		{"COUNT ( * ) WARNINGS", plan.ShowWarnings, theSession},
		{"COUNT ( * ) ERRORS", plan.ShowErrors, theSession},
		{"PROCESSLIST", plan.ShowProcesslist, theSession},
		{"GRANTS", plan.ShowGrants, theSession},
		{"CREATE USER", plan.ShowCreateUser, theSession},
		{"PRIVILEGES", "privileges", anyServer},
		{"ENGINES", "engines", anyServer},
		{"STORAGE ENGINES", "engines", anyServer},
		{"PLUGINS", "plugins", anyServer},
		{"AUTHORS", "authors", anyServer},
		{"CONTRIBUTORS", "contributors", anyServer},
		{"COLLATION", "collation", anyServer},
		{"CHARACTER SET", "character set", anyServer},
		{"CHARSET", "character set", anyServer},
		{"PROFILES", plan.ShowProfiles, anyServer},
		{"PROFILE", plan.ShowProfile, anyServer},
		{"CLIENT_STATISTICS", plan.ShowClientStatistics, anyServer},
		{"INDEX_STATISTICS", plan.ShowIndexStatistics, anyServer},
		{"TABLE_STATISTICS", plan.ShowTableStatistics, anyServer},
		{"USER_STATISTICS", plan.ShowUserStatistics, anyServer},
		{"SLAVE STATUS", plan.ShowReplication, anyServer},
		{"REPLICA STATUS", plan.ShowReplication, anyServer},
		{"ALL SLAVES STATUS", plan.ShowReplication, anyServer},
		{"ALL REPLICAS STATUS", plan.ShowReplication, anyServer},
		{"ENGINE", "", nobody},
		{"MASTER STATUS", "", nobody},
		{"BINARY LOG STATUS", "", nobody},
		{"BINLOG STATUS", "", nobody},
		{"MASTER LOGS", "", nobody},
		{"BINARY LOGS", "", nobody},
		{"BINLOG EVENTS", "", nobody},
		{"ALL SLAVES", "", nobody},
		{"SLAVE", "", nobody},
		{"REPLICA", "", nobody},
		{"REPLICAS", "", nobody},
		{"RELAYLOG", "", nobody},
		{"LIBRARY STATUS", "", nobody},
		{"CREATE LIBRARY", "", nobody},
		{"EXPLAIN", "", nobody},
		{"ANALYZE", "", nobody},
	}
}

// show plans SHOW. What one server of the backends' kind would say is asked of a backend, unless it is about the
// client's session or the cluster: then Root and Relay are nil and the session answers by Topic, Name and Database.
func (b *build) show(w *sqlparse.Words) error {
	w.Take("SHOW")
	b.plan.Kind = plan.Show
	if b.st.Uses()&sqlparse.Subquery != 0 {
		return sqlerr.Unsupported("SHOW ... WHERE with a subquery", "query information_schema")
	}
	if b.st.Uses()&sqlparse.UserLock != 0 {
		return sqlerr.Unsupported("user-level locks (GET_LOCK and its like) in SHOW", "call them in a SELECT without tables")
	}
	full := w.Take("FULL", "PROCESSLIST")
	if full && w.End() {
		b.plan.Topic = plan.ShowFullProcesslist
		return nil
	}
	for w.Take("FULL") || w.Take("GLOBAL") || w.Take("SESSION") || w.Take("LOCAL") || w.Take("EXTENDED") {
	}
	for _, f := range showForms() {
		if !w.Take(strings.Fields(f.words)...) {
			continue
		}
		b.plan.Topic = f.topic
		switch f.by {
		case nobody:
			return sqlerr.Unsupported("SHOW "+f.words, f.instead())
		case theSession:
			if !b.sessionShow(f, w) {
				return b.syntaxError(w)
			}
			return nil
		case tableServer:
			return b.showTable(w)
		}
		return b.showAny(w)
	}
	return b.syntaxError(w)
}

// sessionShow reports whether what follows the words of a SHOW that no server sees is what may follow them.
func (b *build) sessionShow(f showForm, w *sqlparse.Words) bool {
	number := func() bool {
		ok := w.Ahead().Kind == sqlparse.IntLit || w.Ahead().Kind == sqlparse.Param
		w.Next()
		return ok
	}
	switch {
	case f.topic == plan.ShowDatabases: // which one does
		return true
	case (f.topic == plan.ShowWarnings || f.topic == plan.ShowErrors) && !strings.HasPrefix(f.words, "COUNT") && w.Take("LIMIT"):
		if !number() || (w.Take(",") || w.Take("OFFSET")) && !number() {
			return false
		}
	case f.topic == plan.ShowGrants && w.Take("FOR"):
		return !w.End()
	case f.topic == plan.ShowCreateUser: // of nobody is of who asks
		return true
	}
	return w.End()
}

// showTable plans a SHOW about one table.
func (b *build) showTable(w *sqlparse.Words) error {
	of := b.plan.Topic == plan.ShowColumns || b.plan.Topic == plan.ShowIndex
	if of {
		if !w.Take("FROM") && !w.Take("IN") {
			return b.syntaxError(w)
		}
	}
	db, name, ok := w.Qualified()
	if !ok || !of && !w.End() {
		return b.syntaxError(w)
	}
	if of {
		if w.Take("FROM") || w.Take("IN") {
			if db, ok = w.Name(); !ok {
				return b.syntaxError(w)
			}
		}
	}
	return b.aboutTable(db, name)
}

// aboutTable relays a statement about one table's definition.
func (b *build) aboutTable(db, name string) error {
	db, err := b.defaulted(db)
	if err != nil {
		return err
	}
	switch systemSchema(db) {
	case informationSchema:
		b.plan.Relay = b.fragment(plan.Target{Kind: plan.AnyGroup})
		return nil
	case virtualSchema:
		b.plan.Database, b.plan.Name = catalog.VirtualDB, name
		return b.showVirtual(plan.ShowColumns)
	}
	t, err := b.table(db, name)
	if err != nil {
		return err
	}
	var need catalog.Privilege // any
	if t.Kind == catalog.View && (b.plan.Topic == plan.ShowCreateView || b.plan.Topic == plan.ShowCreateTable) {
		need = catalog.MaySelect | catalog.MayShowView
	}
	b.access(plan.Access{Database: t.Database, Table: t.Name, Privilege: need})
	b.plan.Database, b.plan.Name = t.Database, t.Name
	target := plan.Target{Kind: plan.AnyGroup}
	if t.Kind == catalog.Single {
		target = plan.Target{Kind: plan.OneGroup, Group: t.Group}
	}
	f := b.fragment(target)
	f.Tables = []*catalog.Table{t}
	b.plan.Relay = f
	b.plan.Tables = f.Tables
	return nil
}

func (b *build) isView(db, name string) bool {
	t := b.snap.Table(db, name)
	return t != nil && t.Kind == catalog.View
}

// showVirtual plans a SHOW about the database skarv or a table of it, of which there is the one that is given.
func (b *build) showVirtual(there plan.Topic) error {
	b.needsIn(catalog.VirtualDB, catalog.MaySuper)
	if b.plan.Topic != there {
		return sqlerr.Unsupported("SHOW "+strings.ToUpper(string(b.plan.Topic))+" of the database skarv", "use SHOW TABLES, SHOW COLUMNS and SELECT: its tables are made when they are read")
	}
	return nil
}

// shows is what a SHOW about a database, or what is in it, needs there.
func (b *build) shows() catalog.Privilege {
	switch b.plan.Topic {
	case plan.ShowCreateDatabase, plan.ShowTables, plan.ShowTableStatus, plan.ShowOpenTables, plan.ShowTriggers,
		plan.ShowCreateProcedure, plan.ShowCreateFunction:
		return 0 // any: the session shows what the account may see
	case plan.ShowEvents, plan.ShowCreateEvent:
		return catalog.MayEvent
	case plan.ShowCreateTrigger:
		return catalog.MayTrigger
	}
	return catalog.MaySelect
}

// triggered is the table whose trigger is called name; nil: there is none.
func (b *build) triggered(db, name string) *catalog.Table {
	for _, t := range b.snap.Databases[db].Tables {
		if slices.ContainsFunc(t.Triggers, func(tr catalog.Trigger) bool { return strings.EqualFold(tr.Name, name) }) {
			return t
		}
	}
	return nil
}

// showAny plans a SHOW that one server answers; FROM or IN names a database.
func (b *build) showAny(w *sqlparse.Words) error {
	db, name := "", ""
	switch b.plan.Topic {
	case plan.ShowCreateDatabase:
		w.Take("IF", "NOT", "EXISTS")
		db, _ = w.Name()
	case plan.ShowCreateProcedure, plan.ShowCreateFunction, plan.ShowCreateTrigger, plan.ShowCreateEvent, plan.ShowCreateSequence:
		if b.plan.Topic == plan.ShowCreateSequence && b.snap.Flavor != catalog.MariaDB {
			return b.syntaxError(w)
		}
		var ok bool
		if db, name, ok = w.Qualified(); !ok {
			return b.syntaxError(w)
		}
		var err error
		if db, err = b.defaulted(db); err != nil {
			return err
		}
	case plan.ShowTables, plan.ShowTableStatus, plan.ShowOpenTables, plan.ShowTriggers, plan.ShowEvents:
		if b.plan.Topic != plan.ShowOpenTables { // of all databases
			db = b.db
		}
		if w.Take("FROM") || w.Take("IN") {
			db, _ = w.Name()
		} else if b.plan.Topic == plan.ShowOpenTables {
			break
		}
		if db == "" {
			return sqlerr.NoDatabase.New()
		}
	}
	if db != "" && b.snap.LowerCaseTableNames != 0 {
		db = strings.ToLower(db)
	}
	b.plan.Name = db
	switch b.plan.Topic {
	case plan.ShowCreateEvent, plan.ShowCreateProcedure, plan.ShowCreateFunction, plan.ShowCreateTrigger:
		b.plan.Database, b.plan.Name = db, name
	}
	switch systemSchema(db) {
	case virtualSchema:
		return b.showVirtual(plan.ShowTables)
	case userSchema:
		if db != "" {
			if b.snap.Databases[db] == nil {
				if err := b.databaseName(db); err != nil {
					return err
				}
				return sqlerr.UnknownDatabase.New(db)
			}
			if t := b.triggered(db, name); b.plan.Topic == plan.ShowCreateTrigger && t != nil {
				b.needs(t, catalog.MayTrigger)
			} else {
				b.needsIn(db, b.shows())
			}
		}
	}
	b.plan.Relay = b.fragment(b.metadataTarget())
	if b.plan.Topic == plan.ShowCreateSequence {
		b.plan.Relay.Target = plan.Target{Kind: plan.OneGroup, Group: b.snap.Groups[0].ID}
	}
	return nil
}

// explain plans EXPLAIN, DESCRIBE and DESC: of a table as SHOW COLUMNS; of a statement, its own plan is shown.
func (b *build) explain(w *sqlparse.Words) error {
	describe := w.Take("DESCRIBE") || w.Take("DESC")
	if !describe {
		if w.Take("ANALYZE") {
			if b.snap.Flavor != catalog.MariaDB {
				return b.syntaxError(w)
			}
			b.plan.Topic = plan.ExplainAnalyze
		} else {
			w.Take("EXPLAIN")
		}
	}
	b.plan.Kind = plan.Explain
	for options := true; options; {
		switch {
		case w.Take("ANALYZE"):
			b.plan.Topic = plan.ExplainAnalyze
		case w.Take("EXTENDED"), w.Take("PARTITIONS"):
		case w.Take("FORMAT"):
			w.Take("=")
			format := plan.Topic(strings.ToLower(strings.Trim(w.Next(), `'"`)))
			if format == "traditional" {
				format = ""
			}
			if b.plan.Topic == plan.ExplainAnalyze && format != "" {
				format = plan.ExplainAnalyze + " " + format
			}
			b.plan.Topic = format
		default:
			options = false
		}
	}
	switch {
	case w.Take("FOR"):
		return sqlerr.Unsupported("EXPLAIN FOR CONNECTION", "EXPLAIN the statement itself")
	case w.Take("INTO"):
		return sqlerr.Unsupported("EXPLAIN INTO", "read what EXPLAIN says")
	}
	switch w.Word() {
	case "select", "insert", "replace", "update", "delete", "with", "table", "values", "":
		if w.Word() != "" || w.Ahead().Kind == sqlparse.Op {
			return b.explainStatement(w.Ahead().Start)
		}
	}
	db, name, ok := w.Qualified()
	if !ok {
		return b.syntaxError(w)
	}
	b.plan.Kind, b.plan.Topic = plan.Show, plan.ShowColumns
	return b.aboutTable(db, name)
}

// explainStatement plans the statement behind EXPLAIN. Its arguments are those of its own text.
func (b *build) explainStatement(at int) error {
	st := b.st.Dialect().NewStatement()
	if err := st.Scan(b.st.SQL()[at:], b.st.Mode()); err != nil {
		return err
	}
	inner, err := b.p.Build(st, b.db, b.snap, b.sess)
	if err != nil {
		return err
	}
	if inner.Through {
		return sqlerr.Unsupported("EXPLAIN of a write through a view", "EXPLAIN the write to its table")
	}
	b.plan.Inner = inner
	b.plan.Access = b.toExplain(inner.Access)
	// The inner plan's arguments are numbered as in the inner text, which is all of the arguments of the whole.
	return nil
}
