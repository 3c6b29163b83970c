package control

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"skarv/pkg/catalog"
	functions "skarv/pkg/planner"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/topology"
)

// Functions, procedures and triggers are created on every node group as the client wrote them, so that servers show and dump them. A function
// is computed by whatever server needs its value, over copies of the tables that it reads where these are elsewhere (see the planner);
// a trigger that touches nothing but values fires where its row is written, others are run by sessions (see trigger.go). A procedure is run by the proxy, statement by statement, and may do what its client may.

// maxProgram bounds the text of a stored program, which is kept in etcd.
const maxProgram = 256 << 10

// program reads CREATE, ALTER and DROP of stored programs, from the word that says which of them.
func (p *parser) program(v verb, req DDLRequest, flavor catalog.Flavor, version string) error {
	p.accept("AGGREGATE")
	switch {
	case p.accept("FUNCTION"):
		p.kind = routine.Function
	case p.accept("PROCEDURE"):
		p.kind = routine.Procedure
	case p.accept("TRIGGER") && v != alterProgram:
		p.kind = routine.Trigger
	case p.accept("EVENT"):
		p.kind = routine.Event
	default:
		return p.unsupportedObject()
	}
	p.verb = v
	if v == dropProgram || v == alterProgram && p.kind != routine.Event {
		p.ifExists = p.accept("IF", "EXISTS")
		return p.object()
	}
	// The tree is of the text with its comments, which belong to a body; but for those that servers run.
	p.source = strings.TrimSpace(req.SQL)
	if strings.Contains(p.source, "/*!") || strings.Contains(p.source, "/*M!") {
		p.source = strings.TrimSpace(p.text)
	}
	if len(p.source) > maxProgram || !utf8.ValidString(p.source) {
		return sqlerr.Unsupported("a stored program of more than 256 KB or in another character set than utf8mb4", "make several of it")
	}
	prog, err := parseProgram(p.source, req.SQLMode, flavor, version)
	if err != nil {
		return err
	}
	p.prog = prog
	o := object{db: prog.Name.DB, name: prog.Name.Name}
	if o.db == "" {
		o.db = p.db
	}
	if o.db == "" {
		return sqlerr.NoDatabase.New()
	}
	p.objects = append(p.objects, o)
	return nil
}

func parseProgram(text, sqlMode string, flavor catalog.Flavor, version string) (*routine.Program, error) {
	st := sqlparse.NewDialect(flavor == catalog.MariaDB, version).NewStatement()
	if err := st.Scan([]byte(text), sqlparse.ParseMode(sqlMode)); err != nil {
		return nil, err
	}
	return routine.Parse(st)
}

// planProgram plans CREATE, ALTER and DROP of stored programs.
func (p *planner) planProgram() error {
	o := p.st.objects[0]
	d, err := p.database(o)
	if err != nil {
		return err
	}
	switch p.st.kind {
	case routine.Trigger:
		return p.planTrigger(o, d)
	case routine.Event:
		return p.planEvent(o, p.created)
	}
	function := p.st.kind == routine.Function
	old := p.snap.Routine(o.db, o.name, function)
	kind := strings.ToUpper(string(p.st.kind))
	watched := object1{DB: o.db, Name: o.name, Kind: p.st.kind}
	p.work.Watched = []object1{watched}
	defer func() {
		if p.work.Step != nil {
			p.work.Routines = []object1{watched}
		}
	}()
	missing := func() *sqlerr.Error {
		return &sqlerr.Error{Code: 1305, State: "42000", Message: fmt.Sprintf("%s %s does not exist", kind, o)}
	}
	switch p.st.verb {
	case dropProgram:
		if old == nil {
			if !p.st.ifExists {
				return missing()
			}
			p.note(1305, "%s %s does not exist", kind, o)
			return errNothingToDo
		}
		p.work.Step = &step{SQL: "DROP " + kind + " IF EXISTS " + o.sql(), Repeat: true}
		return nil
	case alterProgram:
		if old == nil {
			return missing()
		}
		p.work.Step = &step{SQL: strings.TrimSpace(p.st.text), Repeat: true}
		return nil
	}
	if old != nil && !p.st.prog.OrReplace {
		if !p.st.prog.IfNotExists {
			return &sqlerr.Error{Code: 1304, State: "42000", Message: fmt.Sprintf("%s %s already exists", kind, o.name)}
		}
		p.note(1304, "%s %s already exists", kind, o.name)
		return errNothingToDo
	}
	if function {
		if err := functionFacts(p.snap, p.st.prog, &catalog.Routine{Database: o.db}); err != nil {
			return err
		}
	}
	s := step{SQL: p.st.withoutDefiner(), Repeat: p.st.prog.OrReplace}
	if old == nil {
		s.Undo = []string{"DROP " + kind + " IF EXISTS " + o.sql()}
	}
	p.work.Step = &s
	return nil
}

// withoutDefiner is the text of CREATE without the account it names: accounts of clients are none of the servers.
func (s *statement) withoutDefiner() string {
	d := s.prog.Definer
	return s.source[:d.Start] + s.source[d.End:]
}

// functionFacts notes in r what statements have to know of a function. The error says what it may not touch.
func functionFacts(snap *catalog.Snapshot, prog *routine.Program, r *catalog.Routine) error {
	t, err := prog.Plain("stored functions")
	if err != nil {
		return err
	}
	r.Volatile = t.Volatile || callsVolatile(snap, t.Calls, r.Database)
	r.Reads, r.Calls = nil, nil
	for _, n := range t.Reads {
		if n.DB == "" {
			n.DB = r.Database
		}
		if snap.LowerCaseTableNames != 0 {
			n.DB, n.Name = strings.ToLower(n.DB), strings.ToLower(n.Name)
		}
		if t := snap.Table(n.DB, n.Name); t != nil && t.Kind == catalog.View {
			return sqlerr.Unsupported("the view "+n.Name+" in stored functions", "read its tables")
		}
		r.Reads = append(r.Reads, catalog.TableName{Database: n.DB, Name: n.Name})
	}
	for _, n := range ownCalls(t.Calls, r.Database) {
		r.Calls = append(r.Calls, catalog.NewRoutineKey(n.DB, n.Name, true))
	}
	return nil
}

// ownCalls are those of calls that are none of the servers' own functions, qualified by their databases.
func ownCalls(calls []routine.Name, db string) (list []routine.Name) {
	for _, n := range calls {
		if n.DB == "" && functions.Known(n.Name) {
			continue
		}
		if n.DB == "" {
			n.DB = db
		}
		list = append(list, n)
	}
	return list
}

// callsVolatile reports whether one of the functions is stored and volatile, or not known.
func callsVolatile(snap *catalog.Snapshot, calls []routine.Name, db string) bool {
	return slices.ContainsFunc(ownCalls(calls, db), func(n routine.Name) bool {
		f := snap.Routine(n.DB, n.Name, true)
		return f == nil || f.Volatile
	})
}

// readRoutines puts into change what the servers have of the routines that a step has changed.
func (d *ddl) readRoutines(ctx context.Context, change *topology.Change) error {
	for _, o := range d.job.Work.Routines {
		var first *program
		for i, s := range d.servers {
			now, err := readProgram(ctx, s, o)
			if err != nil {
				return err
			}
			if i == 0 {
				first = now
			} else if first.text != now.text {
				return sqlerr.UnknownError.New(fmt.Sprintf("%s %s differs between node groups %s and %s",
					o.Kind, o, groupName(d.snap.Groups[0]), groupName(d.snap.Groups[i])))
			}
		}
		if o.Kind == routine.Event {
			if err := d.refreshEvent(ctx, o, first, change); err != nil {
				return err
			}
			continue
		}
		function := o.Kind == routine.Function
		if first.text == "" {
			change.DeleteRoutine(catalog.NewRoutineKey(o.DB, o.Name, function))
			continue
		}
		r := &catalog.Routine{Database: o.DB, Name: o.Name, Function: function, Text: first.text, SQLMode: first.sqlMode}
		if function {
			prog, err := parseProgram(r.Text, r.SQLMode, d.snap.Flavor, d.snap.ServerVersion)
			if err != nil {
				return err
			}
			if err = functionFacts(d.snap, prog, r); err != nil {
				return err
			}
		}
		change.PutRoutine(r, topology.Any)
	}
	return nil
}

// program is a stored program as a server shows it.
type program struct {
	text     string // without a DEFINER; "" if there is none
	sqlMode  string
	timeZone string // of an event
	client   string // character set of the client that created it, and the collation of its connection
	connect  string
}

// definerClause is the account in the text of a stored program.
var definerClause = regexp.MustCompile("^CREATE DEFINER=`(?:[^`]|``)*`@`(?:[^`]|``)*` ")

// readProgram asks a server for a stored program.
func readProgram(ctx context.Context, s *server, o object1) (_ *program, err error) {
	out := &program{}
	if o.Kind == routine.Event { // names stand in it as in the session's sql_mode
		for _, q := range []string{"SET @skarv_mode = @@SESSION.sql_mode", "SET SESSION sql_mode = ''"} {
			if _, err := s.exec(ctx, q); err != nil {
				return nil, err
			}
		}
		defer func() {
			if _, back := s.exec(ctx, "SET SESSION sql_mode = @skarv_mode"); err == nil {
				err = back
			}
		}()
	}
	err = s.rows(ctx, func(r *sql.Rows) error {
		vals, err := anyRow(r)
		if err != nil {
			return err
		}
		if o.Kind == routine.Event {
			out.timeZone = vals[2].String
			vals = slices.Delete(vals, 2, 3)
		}
		if !vals[2].Valid {
			return fmt.Errorf("the account of the node group may not see %s %s", o.Kind, o)
		}
		out.sqlMode, out.text, out.client, out.connect = vals[1].String, vals[2].String, vals[3].String, vals[4].String
		return nil
	}, "SHOW CREATE "+strings.ToUpper(string(o.Kind))+" "+o.sql())
	if sqlerr.HasCode(err, 1305, 1360, 1539, sqlerr.UnknownDatabase) { // no such routine, trigger, event
		return out, nil
	}
	if at := definerClause.FindStringIndex(out.text); at != nil {
		out.text = "CREATE " + out.text[at[1]:]
	}
	return out, err
}

// copyProgram creates a stored program as another server has it, in a session that statements bring into its state.
func copyProgram(ctx context.Context, from, to *server, o object1, session ...string) error {
	p, err := readProgram(ctx, from, o)
	if err != nil {
		return err
	}
	if p.text == "" {
		return fmt.Errorf("node group %s has no %s %s", from.group, o.Kind, o)
	}
	if there, err := readProgram(ctx, to, o); err != nil || there.text != "" {
		return err
	}
	if p.timeZone != "" {
		session = append(session, "SET time_zone = "+quoteText(p.timeZone))
	}
	if err := to.settings(ctx, DDLRequest{DB: o.DB, SQLMode: p.sqlMode, Charset: p.client, Collation: p.connect, Session: session}); err != nil {
		return err
	}
	_, err = to.exec(ctx, p.text)
	return err
}

// sortedRoutines are the functions, or the procedures, in the order of their names.
func sortedRoutines(snap *catalog.Snapshot, function bool) (out []object1) {
	kind := routine.Procedure
	if function {
		kind = routine.Function
	}
	for k, r := range snap.Routines {
		if k.Function == function {
			out = append(out, object1{DB: r.Database, Name: r.Name, Kind: kind})
		}
	}
	slices.SortFunc(out, func(a, b object1) int { return strings.Compare(a.String(), b.String()) })
	return out
}
