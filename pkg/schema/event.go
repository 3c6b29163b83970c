package schema

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// EventState is what servers do not know of an event: there all have the status of ones that run elsewhere. It is part of stored jobs.
type EventState struct {
	Definer catalog.AccountName `json:"definer"`
	// Status is "" if the event keeps the one it has.
	Status catalog.EventStatus `json:"status,omitempty"`
	Since  time.Time           `json:"since"`
	// Scheduled: it says ON SCHEDULE; At is when that was.
	Scheduled bool      `json:"scheduled,omitempty"`
	At        time.Time `json:"at,omitzero"`
}

// ReadEvent makes the catalog's entry of an event that a server, of a version, shows; old is the entry there was, or nil. It leaves the
// session in the event's time zone.
func ReadEvent(ctx context.Context, s *Server, shown *Program, w *EventState, old *catalog.Event, version string) (*catalog.Event, error) {
	e := &catalog.Event{
		Database: shown.DB, SQLMode: shown.SQLMode, TimeZone: shown.TimeZone, Collation: shown.Collation,
		Definer: w.Definer, Status: w.Status, Since: w.Since, Scheduled: w.At,
	}
	if e.Status == "" && old != nil {
		e.Status = old.Status
	}
	if !w.Scheduled && old != nil {
		e.Scheduled = old.Scheduled
	}
	if _, err := s.Exec(ctx, "SET time_zone = "+sqltypes.Literal(e.TimeZone)); err != nil {
		return nil, err
	}
	where := " FROM information_schema.events WHERE event_schema = " + sqltypes.Literal(shown.DB) + " AND event_name = " + sqltypes.Literal(shown.Name)
	var preserve, value, field, localStarts sql.NullString
	var at, starts, ends sql.NullFloat64
	err := s.Rows(ctx, func(r *sql.Rows) error {
		return r.Scan(&e.Name, &preserve, &value, &field, &at, &starts, &ends, &localStarts)
	}, "SELECT event_name, on_completion, interval_value, interval_field, UNIX_TIMESTAMP(execute_at), UNIX_TIMESTAMP(starts),"+
		" UNIX_TIMESTAMP(ends), CAST(starts AS CHAR)"+where)
	if err != nil {
		return nil, err
	}
	if e.Name == "" {
		return nil, fmt.Errorf("information_schema does not show event %s", shown)
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
		text, err := s.One(ctx, fmt.Sprintf("SELECT TIMESTAMPDIFF(%s, '2000-01-01', '2000-01-01' + INTERVAL %s %s)", unit, value.String, field.String))
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
func withStatus(shown *Program, status catalog.EventStatus, flavor catalog.Flavor, version string) (string, error) {
	prog, err := ddl.ParseProgram(shown.Text, shown.SQLMode, flavor, version)
	if err != nil {
		return "", err
	}
	at := prog.Schedule.Status
	clause := map[catalog.EventStatus]string{
		catalog.EventEnabled: "ENABLE", catalog.EventDisabled: "DISABLE", catalog.EventAside: ddl.Aside(flavor, version),
	}[status]
	if at.End == 0 {
		return "", fmt.Errorf("the text of event %s has no status", prog.Name.Name)
	}
	return shown.Text[:at.Start] + clause + shown.Text[at.End:], nil
}

// StandAside makes sure that a server runs none of the events. Their definers stay.
func StandAside(ctx context.Context, s *Server, events []*catalog.Event, version string) error {
	for _, e := range events {
		q, err := AlterEvent(ctx, s, e, ddl.Aside(s.node.Flavor, version))
		if err != nil {
			return err
		}
		if q == "" {
			continue
		}
		if _, err := s.Exec(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

// AlterEvent is the ALTER EVENT that gives an event of a server a status; "" if the server does not have it.
func AlterEvent(ctx context.Context, s *Server, e *catalog.Event, status string) (string, error) {
	definer, err := s.One(ctx, "SELECT definer FROM information_schema.events WHERE event_schema = "+sqltypes.Literal(e.Database)+" AND event_name = "+sqltypes.Literal(e.Name))
	if err != nil || definer == "" {
		return "", err
	}
	user, host := definer, "%"
	if at := strings.LastIndexByte(definer, '@'); at >= 0 {
		user, host = definer[:at], definer[at+1:]
	}
	return fmt.Sprintf("ALTER DEFINER = %s@%s EVENT %s %s", sqltypes.QuoteName(user), sqltypes.QuoteName(host), sqltypes.QuoteIn(e.Database, e.Name), status), nil
}
