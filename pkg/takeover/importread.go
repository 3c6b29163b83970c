package takeover

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"skarv/pkg/audit"
	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/pause"
	"skarv/pkg/preflight"
	"skarv/pkg/routine"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
)

// importZone is the time zone of the session that reads the server.
const importZone = "SET SESSION time_zone = '+00:00'"

// What an import reads of the server. It changes nothing there.

// body is the text of something that the server runs by itself: a trigger, an event, a routine.
type body struct {
	what string // "trigger shop.audit"
	kind routine.Kind
	db   string
	name string
	text string
	// shown is what the server shows of it, if it is no trigger and may be seen.
	shown *schema.Program
	// status and definer are an event's, on the server; event is what the catalog is to have of it.
	status, definer string
	event           *catalog.Event
	// ours: it is taken over, so that it no longer matters where the tables are that it uses.
	ours bool
	// table is the trigger's.
	table string
	// hidden: the text may not be read.
	hidden bool
}

func (i *importer) read(ctx context.Context) error {
	i.progress("looking at the server")
	f, err := preflight.Examine(ctx, i.req.Servers, i.req.Group.Name, i.req.Group.Primary)
	if err != nil {
		return err
	}
	i.facts = f
	if i.s, err = i.req.Servers.Dial(ctx, i.req.Group.Name, f.Node); err != nil {
		return err
	}
	if err := i.s.Use(ctx, schema.Session{SQLMode: "NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES", Set: []string{importZone}}); err != nil {
		return err
	}
	for _, w := range f.Warnings {
		what, fix, _ := strings.Cut(w, "; ")
		i.findings = append(i.findings, Finding{LevelWarning, what, fix})
	}
	for _, step := range []func(context.Context) error{
		i.readMembership, i.readClients, i.readDatabases, i.readTables, i.readDefinitions, i.readBodies, i.readAccounts,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// readMembership refuses servers that are, or were, a cluster's.
func (i *importer) readMembership(ctx context.Context) error {
	var tables []string
	err := i.s.Rows(ctx, func(r *sql.Rows) error {
		var name string
		err := r.Scan(&name)
		tables = append(tables, name)
		return err
	}, "SELECT table_name FROM information_schema.tables WHERE table_schema = '"+catalog.OwnDB+"'")
	if err != nil || len(tables) == 0 {
		return err
	}
	open := ""
	if slices.Contains(tables, "import") {
		if open, err = i.s.One(ctx, "SELECT COUNT(*) FROM "+importMark+" WHERE done = 0"); err != nil {
			return err
		}
	}
	if open == "1" && !slices.Contains(tables, "slot") {
		return nil // of an import that did not come to its end
	}
	i.findings = append(i.findings, Finding{LevelRefused,
		fmt.Sprintf("server %s is a node group of a cluster, or was one: it has the database %s", i.req.Group.Primary.Addr, catalog.OwnDB),
		"take it out of that cluster with skarvctl leave; if there is no such cluster any more, DROP DATABASE " + catalog.OwnDB})
	return nil
}

// readClients lists who is connected. Connections that are about to end, such as our own last ones, are waited for.
func (i *importer) readClients(ctx context.Context) error {
	for try := 0; ; try++ {
		var err error
		if i.clients, err = i.connected(ctx); err != nil {
			return err
		}
		if len(i.clients) == 0 {
			return nil
		}
		if try == 10 {
			break
		}
		if err := pause.For(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	level := LevelRefused
	if i.req.Connected {
		level = LevelWarning
	}
	i.findings = append(i.findings, Finding{level,
		"clients are connected to the server: " + strings.Join(i.clients, ", ") +
			"; what they write past Skarv gets AUTO_INCREMENT values that Skarv gives out too, and no entries in global indexes",
		"stop them, or have them wait, and let them come back through Skarv. --connected imports all the same"})
	return nil
}

func (i *importer) connected(ctx context.Context) (list []string, err error) {
	count := map[string]int{}
	err = i.s.Rows(ctx, func(r *sql.Rows) error {
		var user, host string
		if err := r.Scan(&user, &host); err != nil {
			return err
		}
		if at := strings.LastIndexByte(host, ':'); at >= 0 {
			host = host[:at]
		}
		count[user+"@"+host]++
		return nil
	}, "SELECT COALESCE(user, ''), COALESCE(host, '') FROM information_schema.processlist WHERE id <> CONNECTION_ID()"+
		" AND user NOT IN ('system user','event_scheduler','unauthenticated user','mysql.session')"+
		" AND command NOT IN ('Binlog Dump','Binlog Dump GTID','Daemon')")
	for who, n := range count {
		list = append(list, fmt.Sprintf("%s (%d)", who, n))
	}
	slices.Sort(list)
	return list, err
}

func (i *importer) readDatabases(ctx context.Context) error {
	return i.s.Rows(ctx, func(r *sql.Rows) error {
		d := &catalog.Database{Tables: map[string]*catalog.Table{}}
		err := r.Scan(&d.Name, &d.Charset, &d.Collation)
		i.databases = append(i.databases, d)
		return err
	}, "SELECT schema_name, default_character_set_name, default_collation_name FROM information_schema.schemata WHERE "+schema.NotSystem("schema_name")+
		" ORDER BY schema_name")
}

func (i *importer) readTables(ctx context.Context) error {
	err := i.s.Rows(ctx, func(r *sql.Rows) error {
		t := &importedTable{}
		var rows, bytes uint64
		err := r.Scan(&t.Database, &t.Name, &t.kind, &t.engine, &rows, &bytes)
		t.Rows, t.Bytes = rows, bytes
		i.tables = append(i.tables, t)
		return err
	}, "SELECT table_schema, table_name, table_type, COALESCE(engine, ''), COALESCE(table_rows, 0), COALESCE(data_length, 0) + COALESCE(index_length, 0)"+
		" FROM information_schema.tables WHERE "+schema.NotSystem("table_schema")+" ORDER BY table_schema, table_name")
	if err != nil {
		return err
	}
	keys := map[string]string{}
	err = i.s.Rows(ctx, func(r *sql.Rows) error {
		var db, name, method string
		var expr sql.NullString
		err := r.Scan(&db, &name, &method, &expr)
		if strings.HasSuffix(method, "KEY") {
			keys[db+"."+name] = expr.String
		}
		return err
	}, "SELECT DISTINCT table_schema, table_name, partition_method, partition_expression FROM information_schema.partitions"+
		" WHERE partition_method IS NOT NULL AND "+schema.NotSystem("table_schema"))
	for _, t := range i.tables {
		t.partition = keys[t.label()]
	}
	return err
}

// readDefinitions reads every table and view that can be in the catalog.
func (i *importer) readDefinitions(ctx context.Context) error {
	for n, t := range i.tables {
		if n%100 == 0 {
			i.progress(fmt.Sprintf("reading definitions: %d of %d", n, len(i.tables)))
		}
		if t.kind == "SEQUENCE" {
			continue
		}
		def, err := schema.ReadDefinition(ctx, i.s, ddl.Object{DB: t.Database, Name: t.Name})
		if err != nil {
			return fmt.Errorf("read definition of %s: %w", t.label(), err)
		}
		if def == nil {
			return fmt.Errorf("table %s was dropped meanwhile: run it again", t.label())
		}
		t.def = def
	}
	return nil
}

// readBodies reads triggers, events and routines.
func (i *importer) readBodies(ctx context.Context) error {
	for _, sql := range []string{
		"SELECT 'trigger', trigger_schema, trigger_name, event_object_table, action_statement, '', '' FROM information_schema.triggers WHERE " +
			schema.NotSystem("trigger_schema") + " ORDER BY 2, 3",
		"SELECT 'event', event_schema, event_name, '', event_definition, status, definer FROM information_schema.events WHERE " +
			schema.NotSystem("event_schema") + " ORDER BY 2, 3",
		"SELECT LOWER(routine_type), routine_schema, routine_name, '', routine_definition, '', definer FROM information_schema.routines WHERE " +
			schema.NotSystem("routine_schema") + " ORDER BY 2, 1, 3",
	} {
		if err := i.readBodiesOf(ctx, sql); err != nil {
			return err
		}
	}
	for _, b := range i.bodies {
		if b.hidden || b.kind == routine.Trigger {
			continue
		}
		if err := i.readShown(ctx, b); err != nil {
			return err
		}
	}
	_, err := i.s.Exec(ctx, importZone) // events are read in their own
	return err
}

func (i *importer) readBodiesOf(ctx context.Context, query string) error {
	return i.s.Rows(ctx, func(r *sql.Rows) error {
		b := &body{}
		var text sql.NullString
		if err := r.Scan(&b.kind, &b.db, &b.name, &b.table, &text, &b.status, &b.definer); err != nil {
			return err
		}
		b.text, b.hidden = text.String, !text.Valid
		b.what = string(b.kind) + " " + b.db + "." + b.name
		i.bodies = append(i.bodies, b)
		return nil
	}, query)
}

// readShown reads a routine or event as the catalog is to have it.
func (i *importer) readShown(ctx context.Context, b *body) (err error) {
	o := ddl.Object{DB: b.db, Name: b.name, Kind: b.kind}
	switch b.kind {
	case routine.Procedure, routine.Function, routine.Event:
	default: // MariaDB's packages
		return nil
	}
	if b.shown, err = schema.ReadProgram(ctx, i.s, o); err != nil || b.kind != routine.Event {
		return err
	}
	w := &schema.EventState{Definer: definerName(b.definer), Status: catalog.EventStatus(b.status), Since: time.Now().UTC().Truncate(time.Second)}
	if w.Status != catalog.EventEnabled && w.Status != catalog.EventDisabled {
		w.Status = catalog.EventAside
	}
	b.event, err = schema.ReadEvent(ctx, i.s, b.shown, w, nil, i.facts.Node.Version)
	if _, ok := errors.AsType[*sqlerr.Error](err); ok {
		return nil // it stays where it is, and takeOver says so
	}
	return err
}

// fill makes the entries of all global indexes. The tables are locked.
func (i *importer) fill(ctx context.Context) error {
	for _, t := range i.tables {
		if t.table == nil {
			continue
		}
		for _, g := range t.table.Global {
			err := audit.FillIndex(ctx, i.s, g, func(done uint64) {
				i.progress(fmt.Sprintf("global index of key %s of %s: %d of about %d rows", g.Name, t.label(), done, t.Rows))
			})
			if err != nil {
				return fmt.Errorf("global index of key %s of %s: %w", g.Name, t.label(), err)
			}
		}
	}
	return nil
}
