package catalog

import (
	"strings"
	"time"
)

// EventStatus is the status of an event, as information_schema writes it.
type EventStatus string

// The statuses. A server with replicas shows the third for events that another server runs; on node groups all events have it,
// so that no server runs any.
const (
	EventEnabled  EventStatus = "ENABLED"
	EventDisabled EventStatus = "DISABLED"
	EventAside    EventStatus = "SLAVESIDE_DISABLED"
)

// Event is a stored program that runs on time. Every node group has it, for definitions are asked of the servers, but none
// runs it: Skarv does.
type Event struct {
	Database string `json:"database"`
	Name     string `json:"name"`
	// Text is its CREATE statement without a DEFINER, as a server shows it, with the status below, as written in SQLMode.
	Text    string `json:"text"`
	SQLMode string `json:"sql_mode"`
	// TimeZone is the time_zone of the session that created it, in which it counts days and in which it runs; Collation its
	// collation_connection.
	TimeZone  string `json:"time_zone"`
	Collation string `json:"collation"`
	// Definer is the account it runs as.
	Definer AccountName `json:"definer"`
	Status  EventStatus `json:"status"`
	// Preserve: it stays, disabled, when there is nothing more to do.
	Preserve bool `json:"preserve,omitempty"`

	// At is when an event runs that runs once; the zero time for others.
	At time.Time `json:"at,omitzero"`
	// Starts and Ends bound the times of an event that runs repeatedly. Ends is the zero time if there is no end; the bounds
	// themselves belong to it.
	Starts time.Time `json:"starts,omitzero"`
	Ends   time.Time `json:"ends,omitzero"`
	// LocalStarts is Starts in TimeZone, as SQL writes it.
	LocalStarts string `json:"local_starts,omitempty"`
	// Months or Seconds is the time between two runs.
	Months  int64 `json:"months,omitempty"`
	Seconds int64 `json:"seconds,omitempty"`
	// Since is when it was created or changed last: what was due before is not made up for.
	Since time.Time `json:"since"`
	// Scheduled is when its schedule was asked for, to the nanosecond: it tells one that was dropped from another one of its name.
	Scheduled time.Time `json:"scheduled,omitzero"`
}

// EventKey names an event; case does not count in Name.
type EventKey struct{ Database, Name string }

// NewEventKey returns the key of an event by its name as written.
func NewEventKey(db, name string) EventKey { return EventKey{db, strings.ToLower(name)} }

// Key returns the event's key.
func (e *Event) Key() EventKey { return NewEventKey(e.Database, e.Name) }

// Event returns an event, or nil.
func (s *Snapshot) Event(db, name string) *Event { return s.Events[NewEventKey(db, name)] }
