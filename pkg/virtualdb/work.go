package virtualdb

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/metrics"
	"skarv/pkg/processlist"
	"skarv/pkg/rowset"
	"skarv/pkg/txn"
)

// transactions is those over several node groups that are prepared, and how those ended that are not forgotten yet.
func (c *Cluster) transactions(*Viewer) (*rowset.Table, error) {
	list, err := ask(func(ctx context.Context) ([]txn.Info, error) { return c.Transactions(ctx, "") })
	if err != nil {
		return nil, err
	}
	t := rowset.New("id", "state", "#node_group", "#seconds", "reason")
	for _, i := range list {
		t.Add(string(i.ID), string(i.State), int(i.Group), int(i.Age.Seconds()), i.Reason)
	}
	return t, nil
}

// statements is what those of each shape have cost on all processes.
func (c *Cluster) statements(*Viewer) (*rowset.Table, error) {
	list, err := ask(c.Statements)
	if err != nil {
		return nil, err
	}
	t := rowset.New("db", "statement", "strategy", "#count", "#errors", "#total_us", "#average_us", "#max_us", "#rows_sent", "#bytes_sent", "first_seen", "last_seen")
	for _, r := range list {
		t.Add(rowset.OrNull(r.Database), r.Text, strings.Join(metrics.Ways(r.Ways), ", "), r.Count, r.Errors, r.Total.Microseconds(), r.Average().Microseconds(),
			r.Most.Microseconds(), r.Rows, r.Bytes, r.First.UTC().Format(time.DateTime), r.Last.UTC().Format(time.DateTime))
	}
	return t, nil
}

// Reorganisation is a row of skarv.reorganisations.
type Reorganisation struct {
	ID, Kind, State, Outcome, Problem string
	Partitions                        int
	Paused                            bool
	Created                           time.Time
	Rows, RowsEstimated, Bytes        int64
	Lag, ETA, Pause                   time.Duration
	Throttled                         string
	Waiting                           string // for what it has waited longest
	Advice                            string // what happens next, and what can be done
}

// reorganisations is the moves of partitions, those that are over included.
func (c *Cluster) reorganisations(*Viewer) (*rowset.Table, error) {
	list, err := ask(c.Reorganisations)
	if err != nil {
		return nil, err
	}
	t := rowset.New("id", "kind", "state", "outcome", "#partitions", "#paused", "created", "#rows_copied", "#rows_estimated", "#bytes_copied",
		"#lag_ms", "#eta_seconds", "#cutover_ms", "throttled", "waiting_for", "problem", "advice")
	for _, r := range list {
		paused := 0
		if r.Paused {
			paused = 1
		}
		t.Add(r.ID, r.Kind, r.State, r.Outcome, r.Partitions, paused, r.Created.UTC().Format(time.DateTime), r.Rows, r.RowsEstimated, r.Bytes,
			r.Lag.Milliseconds(), int(r.ETA.Seconds()), r.Pause.Milliseconds(), r.Throttled, r.Waiting, r.Problem, r.Advice)
	}
	return t, nil
}

// SchemaChange is a row of skarv.schema_changes.
type SchemaChange struct {
	ID, State, Statement, User, Database, Progress, Problem, Error string
	Created                                                        time.Time
}

// schemaChanges is those of all clients, those that are over included.
func (c *Cluster) schemaChanges(*Viewer) (*rowset.Table, error) {
	list, err := ask(c.SchemaChanges)
	if err != nil {
		return nil, err
	}
	t := rowset.New("id", "state", "created", "user", "db", "statement", "progress", "problem", "error")
	for _, s := range list {
		t.Add(s.ID, s.State, s.Created.UTC().Format(time.DateTime), s.User, rowset.OrNull(s.Database), processlist.ShownText(s.Statement), s.Progress, s.Problem, s.Error)
	}
	return t, nil
}

// events is the events with what they did last, those that were dropped a short while ago included.
func (c *Cluster) events(v *Viewer) (*rowset.Table, error) {
	states, err := c.States()
	if err != nil {
		return nil, err
	}
	t := rowset.New("event_schema", "event_name", "definer", "status", "#runs", "#failures", "last_scheduled", "last_started", "last_ended",
		"last_outcome", "last_error", "process")
	keys := map[string]catalog.EventKey{}
	for k := range states {
		keys[k.Database+"."+k.Name] = k
	}
	for k := range v.Snapshot.Events {
		keys[k.Database+"."+k.Name] = k
	}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		st, e := states[keys[name]], v.Snapshot.Events[keys[name]]
		definer, status := any(nil), "DROPPED"
		if e != nil {
			st.Database, st.Name = e.Database, e.Name
			definer, status = e.Definer.String(), string(e.Status)
			if v.Snapshot.EventsOff && e.Status == catalog.EventEnabled {
				status = "ENABLED, event_scheduler is OFF"
			}
		}
		t.Add(st.Database, st.Name, definer, status, st.Runs, st.Failures, shownTime(st.Tick), shownTime(st.Started), shownTime(st.Ended),
			string(st.Outcome), st.Error, st.Process)
	}
	return t, nil
}
