package planner

import (
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// showForms are the forms of SHOW: the words after SHOW (FULL, GLOBAL, SESSION, ... left out), the topic, and who
// answers: 'b' a backend that knows all definitions, 's' the session, 't' the backend that knows the named table,
// 'x' is refused. The first form that fits counts.
func showForms() [][3]string {
	return [][3]string{
		{"CREATE TABLE", "create table", "t"},
		{"CREATE VIEW", "create view", "t"},
		{"CREATE DATABASE", "create database", "b"},
		{"CREATE SCHEMA", "create database", "b"},
		{"CREATE USER", "create user", "x"},
		{"CREATE PROCEDURE", "create procedure", "b"},
		{"CREATE FUNCTION", "create function", "b"},
		{"CREATE TRIGGER", "create trigger", "b"},
		{"CREATE EVENT", "create event", "b"},
		{"CREATE SEQUENCE", "create sequence", "b"},
		{"COLUMNS", "columns", "t"},
		{"FIELDS", "columns", "t"},
		{"INDEX", "index", "t"},
		{"INDEXES", "index", "t"},
		{"KEYS", "index", "t"},
		{"DATABASES", "databases", "s"},
		{"SCHEMAS", "databases", "s"},
		{"TABLES", "tables", "b"},
		{"TABLE STATUS", "table status", "b"},
		{"OPEN TABLES", "open tables", "b"},
		{"TRIGGERS", "triggers", "b"},
		{"EVENTS", "events", "b"},
		{"PROCEDURE STATUS", "procedure status", "b"},
		{"FUNCTION STATUS", "function status", "b"},
		{"PACKAGE STATUS", "package status", "b"},
		{"PACKAGE BODY STATUS", "package body status", "b"},
		{"VARIABLES", "variables", "b"},
		{"STATUS", "status", "b"},
		{"WARNINGS", "warnings", "s"},
		{"ERRORS", "errors", "s"},
		{"COUNT ( * ) WARNINGS", "warnings", "s"},
		{"COUNT ( * ) ERRORS", "errors", "s"},
		{"PROCESSLIST", "processlist", "s"},
		{"GRANTS", "grants", "s"},
		{"PRIVILEGES", "privileges", "b"},
		{"ENGINES", "engines", "b"},
		{"STORAGE ENGINES", "engines", "b"},
		{"PLUGINS", "plugins", "b"},
		{"COLLATION", "collation", "b"},
		{"CHARACTER SET", "character set", "b"},
		{"CHARSET", "character set", "b"},
		{"PROFILES", "profiles", "x"},
		{"PROFILE", "profile", "x"},
		{"ENGINE", "engine", "x"},
		{"BINARY", "binary logs", "x"},
		{"BINLOG", "binlog", "x"},
		{"MASTER", "master", "x"},
		{"ALL SLAVES", "slaves", "x"},
		{"SLAVE", "slave", "x"},
		{"REPLICA", "replica", "x"},
		{"REPLICAS", "replicas", "x"},
		{"RELAYLOG", "relaylog", "x"},
		{"EXPLAIN", "explain", "x"},
		{"ANALYZE", "analyze", "x"},
	}
}

// show plans SHOW. What one server of the backends' kind would say is asked of a backend, unless it is about the
// client's session or the cluster: then Root and Relay are nil and the session answers by Topic, Name and Database.
func (b *build) show(w *words) error {
	w.take("SHOW")
	b.plan.Kind = plan.Show
	full := w.takeAll("FULL PROCESSLIST")
	if full && w.end() {
		b.plan.Topic = "full processlist"
		return nil
	}
	for w.take("FULL") || w.take("GLOBAL") || w.take("SESSION") || w.take("LOCAL") || w.take("EXTENDED") {
	}
	for _, f := range showForms() {
		if !w.takeAll(f[0]) {
			continue
		}
		b.plan.Topic = f[1]
		switch f[2] {
		case "x":
			return sqlerr.Unsupported("SHOW "+f[0], "it is about one server; connect to the server itself")
		case "s":
			return nil
		case "t":
			return b.showTable(w, f[1])
		}
		return b.showAny(w)
	}
	return b.syntaxError(w)
}

// showTable plans a SHOW about one table.
func (b *build) showTable(w *words, topic string) error {
	if topic == "columns" || topic == "index" {
		if !w.take("FROM") && !w.take("IN") {
			return b.syntaxError(w)
		}
	}
	db, name, ok := w.qualified()
	if !ok {
		return b.syntaxError(w)
	}
	if topic == "columns" || topic == "index" {
		if w.take("FROM") || w.take("IN") {
			if db, ok = w.name(); !ok {
				return b.syntaxError(w)
			}
		}
	}
	return b.aboutTable(db, name)
}

// aboutTable relays a statement about one table's definition.
func (b *build) aboutTable(db, name string) error {
	if db == "" {
		db = b.db
	}
	if db == "" {
		return sqlerr.NoDatabase.New()
	}
	switch systemSchema(db) {
	case informationSchema:
		b.plan.Relay = b.fragment(plan.Target{Kind: plan.AnyGroup})
		return nil
	case virtualSchema:
		b.plan.Database, b.plan.Name = catalog.VirtualDB, name
		b.access("*", catalog.Admin)
		return nil
	}
	t, err := b.table(db, name)
	if err != nil {
		return err
	}
	b.access(t.Database, catalog.Read)
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

// showAny plans a SHOW that any group answers alike; FROM or IN names a database.
func (b *build) showAny(w *words) error {
	db, name := "", ""
	switch b.plan.Topic {
	case "create database":
		w.takeAll("IF NOT EXISTS")
		db, _ = w.name()
	case "create procedure", "create function", "create trigger", "create event", "create sequence":
		if b.plan.Topic == "create sequence" && b.snap.Flavor != catalog.MariaDB {
			return b.syntaxError(w)
		}
		var ok bool
		if db, name, ok = w.qualified(); !ok {
			return b.syntaxError(w)
		}
		if db == "" {
			db = b.db
		}
		if db == "" {
			return sqlerr.NoDatabase.New()
		}
	case "tables", "table status", "open tables", "triggers", "events":
		db = b.db
		if w.take("FROM") || w.take("IN") {
			db, _ = w.name()
		}
		if db == "" {
			return sqlerr.NoDatabase.New()
		}
	}
	if db != "" && b.snap.LowerCaseTableNames != 0 {
		db = strings.ToLower(db)
	}
	b.plan.Name = db
	if b.plan.Topic == "create event" {
		b.plan.Database, b.plan.Name = db, name
	}
	switch systemSchema(db) {
	case virtualSchema:
		b.access("*", catalog.Admin)
		return nil
	case userSchema:
		if db != "" {
			if b.snap.Databases[db] == nil {
				if err := b.databaseName(db); err != nil {
					return err
				}
				return sqlerr.UnknownDatabase.New(db)
			}
			b.access(db, catalog.Read)
		}
	}
	if b.st.Uses()&sqlparse.Subquery != 0 {
		return sqlerr.Unsupported("SHOW ... WHERE with a subquery", "query information_schema")
	}
	b.plan.Relay = b.fragment(b.metadataTarget())
	if b.plan.Topic == "create sequence" {
		b.plan.Relay.Target = plan.Target{Kind: plan.OneGroup, Group: b.snap.Groups[0].ID}
	}
	return nil
}

// explain plans EXPLAIN, DESCRIBE and DESC: of a table as SHOW COLUMNS; of a statement, its own plan is shown.
func (b *build) explain(w *words) error {
	describe := w.take("DESCRIBE") || w.take("DESC")
	if !describe {
		if w.take("ANALYZE") {
			b.plan.Topic = "analyze"
		} else {
			w.take("EXPLAIN")
		}
	}
	b.plan.Kind = plan.Explain
	for options := true; options; {
		switch {
		case w.take("ANALYZE"):
			b.plan.Topic = "analyze"
		case w.take("EXTENDED"), w.take("PARTITIONS"):
		case w.take("FORMAT"):
			w.take("=")
			format := strings.ToLower(strings.Trim(w.next(), `'"`))
			if format == "traditional" {
				format = ""
			}
			if b.plan.Topic == "analyze" && format != "" {
				format = "analyze " + format
			}
			b.plan.Topic = format
		default:
			options = false
		}
	}
	if w.take("FOR") {
		return sqlerr.Unsupported("EXPLAIN FOR CONNECTION", "EXPLAIN the statement itself")
	}
	switch w.peek() {
	case "select", "insert", "replace", "update", "delete", "with", "table", "values", "":
		if w.peek() != "" || w.tok.Kind == sqlparse.Op {
			return b.explainStatement(w.tok.Start)
		}
	}
	db, name, ok := w.qualified()
	if !ok {
		return b.syntaxError(w)
	}
	b.plan.Kind, b.plan.Topic = plan.Show, "columns"
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
	b.plan.Access = inner.Access
	// The inner plan's arguments are numbered as in the inner text, which is all of the arguments of the whole.
	return nil
}
