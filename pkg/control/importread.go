package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
)

// importZone is the time zone of the session that reads the server.
const importZone = "SET SESSION time_zone = '+00:00'"

// What an import reads of the server. It changes nothing there.

// notSystem is the condition for databases that are not the server's or ours.
func notSystem(column string) string {
	return column + " NOT IN ('mysql','information_schema','performance_schema','sys','" + ownDB + "')"
}

// body is the text of something that the server runs by itself: a trigger, an event, a routine.
type body struct {
	what string // "trigger shop.audit"
	kind routine.Kind
	db   string
	name string
	text string
	// shown is what the server shows of it, if it is no trigger and may be seen.
	shown *program
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
	f, err := examineServer(ctx, i.req.Group)
	if err != nil {
		return err
	}
	i.facts = f
	if i.s, err = dial(ctx, i.req.Group.Name, i.req.Group.Primary); err != nil {
		return err
	}
	i.s.node.Flavor = f.flavor
	if err := i.s.settings(ctx, DDLRequest{SQLMode: "NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES", Session: []string{importZone}}); err != nil {
		return err
	}
	for _, w := range f.warnings {
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
	err := i.s.rows(ctx, func(r *sql.Rows) error {
		var name string
		err := r.Scan(&name)
		tables = append(tables, name)
		return err
	}, "SELECT table_name FROM information_schema.tables WHERE table_schema = '"+ownDB+"'")
	if err != nil || len(tables) == 0 {
		return err
	}
	open := ""
	if slices.Contains(tables, "import") {
		if open, err = i.s.one(ctx, "SELECT COUNT(*) FROM "+importMark+" WHERE done = 0"); err != nil {
			return err
		}
	}
	if open == "1" && !slices.Contains(tables, "slot") {
		return nil // of an import that did not come to its end
	}
	i.findings = append(i.findings, Finding{LevelRefused,
		fmt.Sprintf("server %s is a node group of a cluster, or was one: it has the database %s", i.req.Group.Primary.Addr, ownDB),
		"take it out of that cluster with skarvctl leave; if there is no such cluster any more, DROP DATABASE " + ownDB})
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
		if err := pause(ctx, 100*time.Millisecond); err != nil {
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
	err = i.s.rows(ctx, func(r *sql.Rows) error {
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
	return i.s.rows(ctx, func(r *sql.Rows) error {
		d := &catalog.Database{Tables: map[string]*catalog.Table{}}
		err := r.Scan(&d.Name, &d.Charset, &d.Collation)
		i.databases = append(i.databases, d)
		return err
	}, "SELECT schema_name, default_character_set_name, default_collation_name FROM information_schema.schemata WHERE "+notSystem("schema_name")+
		" ORDER BY schema_name")
}

func (i *importer) readTables(ctx context.Context) error {
	err := i.s.rows(ctx, func(r *sql.Rows) error {
		t := &importedTable{}
		var rows, bytes uint64
		err := r.Scan(&t.Database, &t.Name, &t.kind, &t.engine, &rows, &bytes)
		t.Rows, t.Bytes = rows, bytes
		i.tables = append(i.tables, t)
		return err
	}, "SELECT table_schema, table_name, table_type, COALESCE(engine, ''), COALESCE(table_rows, 0), COALESCE(data_length, 0) + COALESCE(index_length, 0)"+
		" FROM information_schema.tables WHERE "+notSystem("table_schema")+" ORDER BY table_schema, table_name")
	if err != nil {
		return err
	}
	keys := map[string]string{}
	err = i.s.rows(ctx, func(r *sql.Rows) error {
		var db, name, method string
		var expr sql.NullString
		err := r.Scan(&db, &name, &method, &expr)
		if strings.HasSuffix(method, "KEY") {
			keys[db+"."+name] = expr.String
		}
		return err
	}, "SELECT DISTINCT table_schema, table_name, partition_method, partition_expression FROM information_schema.partitions"+
		" WHERE partition_method IS NOT NULL AND "+notSystem("table_schema"))
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
		def, err := readDefinition(ctx, i.s, t.Database, t.Name)
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
			notSystem("trigger_schema") + " ORDER BY 2, 3",
		"SELECT 'event', event_schema, event_name, '', event_definition, status, definer FROM information_schema.events WHERE " +
			notSystem("event_schema") + " ORDER BY 2, 3",
		"SELECT LOWER(routine_type), routine_schema, routine_name, '', routine_definition, '', definer FROM information_schema.routines WHERE " +
			notSystem("routine_schema") + " ORDER BY 2, 1, 3",
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
	_, err := i.s.exec(ctx, importZone) // events are read in their own
	return err
}

func (i *importer) readBodiesOf(ctx context.Context, query string) error {
	return i.s.rows(ctx, func(r *sql.Rows) error {
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
	o := object1{DB: b.db, Name: b.name, Kind: b.kind}
	switch b.kind {
	case routine.Procedure, routine.Function, routine.Event:
	default: // MariaDB's packages
		return nil
	}
	if b.shown, err = readProgram(ctx, i.s, o); err != nil || b.kind != routine.Event {
		return err
	}
	w := &eventWork{Definer: b.definer, Status: catalog.EventStatus(b.status), Since: time.Now().UTC().Truncate(time.Second)}
	if at := strings.LastIndexByte(w.Definer, '@'); at >= 0 {
		w.Definer = w.Definer[:at]
	}
	if w.Status != catalog.EventEnabled && w.Status != catalog.EventDisabled {
		w.Status = catalog.EventAside
	}
	b.event, err = readEvent(ctx, i.s, b.shown, o, w, nil, i.facts.version)
	var refused *sqlerr.Error
	if errors.As(err, &refused) {
		return nil // it stays where it is, and takeOver says so
	}
	return err
}

// counter is the next value of a table's AUTO_INCREMENT column.
func (i *importer) counter(ctx context.Context, t *importedTable) (uint64, error) {
	text, err := i.s.one(ctx, "SELECT auto_increment FROM information_schema.tables"+t.def.where("table_schema", "table_name"))
	if err != nil || text == "" {
		return 0, err
	}
	return strconv.ParseUint(text, 10, 64)
}

// fillRows is how many rows one transaction gives entries to.
const fillRows = 20000

// fill makes the entries of all global indexes. The tables are locked.
func (i *importer) fill(ctx context.Context) error {
	for _, t := range i.tables {
		if t.table == nil {
			continue
		}
		for _, g := range t.table.Global {
			if err := i.fillOne(ctx, t, g); err != nil {
				return fmt.Errorf("global index of key %s of %s: %w", g.Name, t.label(), err)
			}
		}
	}
	return nil
}

func (i *importer) fillOne(ctx context.Context, it *importedTable, g *catalog.GlobalIndex) error {
	t := it.table
	names := func(columns []int) string { return orderBy(t, columns) }
	var present []string
	for _, c := range g.Columns {
		present = append(present, quoteName(t.Columns[c].Name)+" IS NOT NULL")
	}
	insert := "INSERT INTO " + tableOf(g.Entries) + " SELECT " + names(g.Columns) + ", " + names(t.Distribution) + " FROM " + tableOf(t)
	var done uint64
	for last := [][]byte(nil); ; {
		i.progress(fmt.Sprintf("global index of key %s of %s: %d of about %d rows", g.Name, it.label(), done, it.Rows))
		end, err := readRows(ctx, i.s, len(t.Primary), "SELECT "+selectList(t, t.Primary)+" FROM "+tableOf(t)+after(t, t.Primary, last)+
			" ORDER BY "+orderBy(t, t.Primary)+fmt.Sprintf(" LIMIT %d, 1", fillRows))
		if err != nil {
			return err
		}
		where := after(t, t.Primary, last)
		if where == "" {
			where = " WHERE TRUE"
		} else {
			where = " WHERE (" + strings.TrimPrefix(where, " WHERE ") + ")"
		}
		if len(end) > 0 {
			where += " AND NOT (" + strings.TrimPrefix(after(t, t.Primary, end[0]), " WHERE ") + ")"
		}
		n, err := i.s.exec(ctx, insert+where+" AND "+strings.Join(present, " AND "))
		if err != nil {
			return err
		}
		done += n
		if len(end) == 0 {
			return nil
		}
		last = end[0]
	}
}
