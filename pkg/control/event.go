package control

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// Events are created on every node group, so that servers judge them, show them and dump them. There they all are DISABLE ON
// SLAVE, a status with which no server runs them, whatever its event_scheduler; the catalog has the status that clients see.
// Times are computed by the servers with the clock of the job, so that all have the same.

// eventWork is what a statement about an event decides beside its text.
type eventWork struct {
	Definer string `json:"definer"`
	// Status is "" if the event keeps the one it has.
	Status catalog.EventStatus `json:"status,omitempty"`
	Since  time.Time           `json:"since"`
	// Scheduled: it says ON SCHEDULE.
	Scheduled bool `json:"scheduled,omitempty"`
}

// aside is the clause that keeps every server from running an event.
func aside(flavor catalog.Flavor, version string) string {
	if flavor == catalog.MySQL && versionNumber(version) >= 80200 {
		return "DISABLE ON REPLICA"
	}
	return "DISABLE ON SLAVE"
}

// eventClock is the clock of the job for sessions in which events are created and changed.
func (d *ddl) eventClock() string { return fmt.Sprintf("SET timestamp = %d", d.job.Created.Unix()) }

// planEvent plans CREATE, ALTER and DROP EVENT.
func (p *planner) planEvent(o object, created time.Time) error {
	old := p.snap.Event(o.db, o.name)
	if at := p.req.EventSince; !at.IsZero() && (old == nil || !old.Since.Equal(at)) {
		return errNothingToDo
	}
	here := object1{DB: o.db, Name: o.name, Kind: routine.Event}
	p.work.Watched = []object1{here}
	unknown := &sqlerr.Error{Code: 1539, State: "HY000", Message: fmt.Sprintf("Unknown event '%s'", o.name)}
	if p.st.verb == dropProgram {
		if old == nil {
			if !p.st.ifExists {
				return unknown
			}
			p.note(1305, "Event %s does not exist", o.name)
			return errNothingToDo
		}
		p.work.Step = &step{SQL: "DROP EVENT IF EXISTS " + o.sql(), Repeat: true}
		p.work.Routines = p.work.Watched
		return nil
	}
	prog, alter := p.st.prog, p.st.verb == alterProgram
	taken := func(name string) *sqlerr.Error {
		return &sqlerr.Error{Code: 1537, State: "HY000", Message: fmt.Sprintf("Event '%s' already exists", name)}
	}
	switch {
	case alter && old == nil:
		return unknown
	case !alter && old != nil && prog.IfNotExists:
		p.note(1537, "Event '%s' already exists", o.name)
		return errNothingToDo
	case !alter && old != nil && !prog.OrReplace:
		return taken(o.name)
	}
	definer, err := p.programDefiner(prog)
	if err != nil {
		return err
	}
	p.work.Event = &eventWork{Definer: definer, Since: created.Truncate(time.Second), Scheduled: prog.Schedule.Given}
	if prog.Schedule.Given {
		p.work.Event.Since = p.work.Event.Since.Add(-time.Second) // it may begin at once
	}
	switch clause := prog.Schedule; {
	case clause.Aside:
		p.work.Event.Status = catalog.EventAside
	case clause.Enables, clause.Status.End == 0 && !alter:
		p.work.Event.Status = catalog.EventEnabled
	case clause.Status.End > 0:
		p.work.Event.Status = catalog.EventDisabled
	}
	// Once more does no harm, but for a second name: RENAME and CREATE are known by the texts of what they change.
	s := step{SQL: p.st.forServers(aside(p.snap.Flavor, p.snap.ServerVersion)), Repeat: prog.OrReplace || alter}
	if to := prog.Schedule.RenameTo; to != nil {
		there := object1{DB: to.DB, Name: to.Name, Kind: routine.Event}
		if there.DB == "" {
			if there.DB = p.req.DB; there.DB == "" {
				return sqlerr.NoDatabase.New()
			}
		}
		if a := p.snap.Accounts[p.req.User]; a == nil || a.Privilege(there.DB) < catalog.Admin {
			return sqlerr.AccessDeniedDB.New(p.req.User, "%", there.DB)
		}
		if p.snap.Databases[there.DB] == nil {
			return sqlerr.UnknownDatabase.New(there.DB)
		}
		if p.snap.Event(there.DB, there.Name) != nil {
			return taken(there.Name)
		}
		s.Repeat = false
		p.work.Watched = append(p.work.Watched, there)
	}
	if !alter && old == nil {
		s.Undo = []string{"DROP EVENT IF EXISTS " + o.sql()}
	}
	p.work.Step, p.work.Routines = &s, p.work.Watched
	return nil
}

// programDefiner is the account that an event, or a trigger that sessions run, runs as.
func (p *planner) programDefiner(prog *routine.Program) (string, error) {
	name := prog.DefinerName
	if name == "" || name == p.req.User {
		return p.req.User, nil
	}
	if a := p.snap.Accounts[p.req.User]; a == nil || a.Privilege("*") < catalog.Admin {
		return "", &sqlerr.Error{Code: 1227, State: "42000",
			Message: "Access denied; you need (at least one of) the SUPER, SET USER privilege(s) for this operation"}
	}
	if p.snap.Accounts[name] == nil {
		p.note(1449, "The user specified as a definer ('%s'@'%%') does not exist", name)
	}
	return name, nil
}

// forServers is the text of CREATE or ALTER EVENT without the account it names, and with status for the one it gives.
func (s *statement) forServers(status string) string {
	d, clause := s.prog.Definer, s.prog.Schedule
	from, to := clause.Status.Start, clause.Status.End
	if to == 0 {
		if from, to = clause.StatusAt, clause.StatusAt; clause.Alter {
			status = ""
		}
	}
	return s.source[:d.Start] + s.source[d.End:from] + " " + status + " " + s.source[to:]
}

// refreshEvent puts into change what the servers have of an event now; shown is what the first of them shows.
func (d *ddl) refreshEvent(ctx context.Context, o object1, shown *program, change *topology.Change) error {
	key := catalog.NewEventKey(o.DB, o.Name)
	if shown.text == "" {
		change.DeleteEvent(key) // it may never have been in the catalog: its time can be over when it is to be created
		return nil
	}
	old := d.snap.Event(d.job.Work.Routines[0].DB, d.job.Work.Routines[0].Name) // under the name before a RENAME
	e, err := readEvent(ctx, d.servers[0], shown, o, d.job.Work.Event, old, d.snap.ServerVersion)
	if err != nil {
		return err
	}
	change.PutEvent(e, topology.Any)
	return nil
}

// readEvent makes the catalog's entry of an event that a server has; old is the one there was.
func readEvent(ctx context.Context, s *server, shown *program, o object1, w *eventWork, old *catalog.Event, version string) (*catalog.Event, error) {
	e := &catalog.Event{
		Database: o.DB, SQLMode: shown.sqlMode, TimeZone: shown.timeZone, Collation: shown.connect,
		Definer: w.Definer, Status: w.Status, Since: w.Since,
	}
	if e.Status == "" && old != nil {
		e.Status = old.Status
	}
	if _, err := s.exec(ctx, "SET time_zone = "+quoteText(e.TimeZone)); err != nil {
		return nil, err
	}
	where := " FROM information_schema.events WHERE event_schema = " + quoteText(o.DB) + " AND event_name = " + quoteText(o.Name)
	var preserve, value, field, localStarts sql.NullString
	var at, starts, ends sql.NullFloat64
	err := s.rows(ctx, func(r *sql.Rows) error {
		return r.Scan(&e.Name, &preserve, &value, &field, &at, &starts, &ends, &localStarts)
	}, "SELECT event_name, on_completion, interval_value, interval_field, UNIX_TIMESTAMP(execute_at), UNIX_TIMESTAMP(starts),"+
		" UNIX_TIMESTAMP(ends), CAST(starts AS CHAR)"+where)
	if err != nil {
		return nil, err
	}
	if e.Name == "" {
		return nil, fmt.Errorf("information_schema does not show event %s", o)
	}
	e.Preserve = preserve.String == "PRESERVE"
	e.At, e.Starts, e.Ends, e.LocalStarts = unixTime(at), unixTime(starts), unixTime(ends), localStarts.String
	over := func(t time.Time) bool { return !t.IsZero() && !t.After(w.Since) }
	if w.Scheduled && (over(e.At) || over(e.Ends)) && e.Status == catalog.EventEnabled {
		e.Status = catalog.EventDisabled
	}
	if field.Valid {
		unit, into := "SECOND", &e.Seconds
		switch field.String {
		case "YEAR", "QUARTER", "MONTH", "YEAR_MONTH":
			unit, into = "MONTH", &e.Months
		}
		text, err := s.one(ctx, fmt.Sprintf("SELECT TIMESTAMPDIFF(%s, '2000-01-01', '2000-01-01' + INTERVAL %s %s)", unit, value.String, field.String))
		if err != nil {
			return nil, err
		}
		if *into, err = strconv.ParseInt(text, 10, 64); err != nil || *into <= 0 {
			return nil, sqlerr.Unsupported(fmt.Sprintf("EVERY %s %s", value.String, field.String), "write the interval as a number of seconds, days or months")
		}
	}
	if e.Text, err = withStatus(shown, e.Status, s.node.Flavor, version); err != nil {
		return nil, err
	}
	return e, nil
}

func unixTime(v sql.NullFloat64) time.Time {
	if !v.Valid {
		return time.Time{}
	}
	return time.Unix(int64(v.Float64), 0).UTC()
}

// withStatus is the text of an event as a server shows it, with the status that clients are to see.
func withStatus(shown *program, status catalog.EventStatus, flavor catalog.Flavor, version string) (string, error) {
	prog, err := parseProgram(shown.text, shown.sqlMode, flavor, version)
	if err != nil {
		return "", err
	}
	at := prog.Schedule.Status
	clause := map[catalog.EventStatus]string{
		catalog.EventEnabled: "ENABLE", catalog.EventDisabled: "DISABLE", catalog.EventAside: aside(flavor, version),
	}[status]
	if at.End == 0 {
		return "", fmt.Errorf("the text of event %s has no status", prog.Name.Name)
	}
	return shown.text[:at.Start] + clause + shown.text[at.End:], nil
}

// copyEvents creates all events on a new node group.
func copyEvents(ctx context.Context, snap *catalog.Snapshot, from, to *server) error {
	for _, e := range sortedEvents(snap) {
		o := object1{DB: e.Database, Name: e.Name, Kind: routine.Event}
		if err := copyProgram(ctx, from, to, o, fmt.Sprintf("SET timestamp = %d", e.Since.Unix())); err != nil {
			return err
		}
	}
	return nil
}

func sortedEvents(snap *catalog.Snapshot) (out []*catalog.Event) {
	for _, e := range snap.Events {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b *catalog.Event) int {
		return strings.Compare(a.Database+"."+a.Name, b.Database+"."+b.Name)
	})
	return out
}

// eventSwitch reads SET GLOBAL event_scheduler = value.
func (p *parser) eventSwitch() error {
	p.verb = switchEvents
	if !p.accept("GLOBAL") || !p.accept("EVENT_SCHEDULER") {
		return p.fail()
	}
	p.accept(":")
	if !p.accept("=") {
		return p.fail()
	}
	switch value := strings.ToUpper(p.peek(0).value); value {
	case "ON", "1", "TRUE", "DEFAULT":
		p.eventsOff = false
	case "OFF", "0", "FALSE":
		p.eventsOff = true
	default:
		return sqlerr.WrongValueForVariable.New("event_scheduler", p.peek(0).value)
	}
	return nil
}

// putSettings adds to change what the job sets beside the schema.
func (w *work) putSettings(change *topology.Change) *topology.Change {
	if w.EventsOff != nil {
		change.PutEventsOff(*w.EventsOff)
	}
	return change
}
