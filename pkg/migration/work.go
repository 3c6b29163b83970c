package migration

import (
	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
)

// Work is the plan of a change: what to run on each server and what to write into the catalog then. It is part of stored jobs; who runs it
// fills in Digests, First and what it finds out on the way.
type Work struct {
	Step *Step `json:"step,omitempty"`
	// Definer is the account of a view or routine that the step makes or changes; "": as before.
	Definer catalog.AccountName `json:"definer,omitempty"`
	// Rehearsal, if not nil, is tried on all groups before the step runs on any.
	Rehearsal *Rehearsal `json:"rehearsal,omitempty"`
	// Unnumbered, if set, asks a server for rows that it would number because their column becomes AUTO_INCREMENT: no group may have any.
	Unnumbered string `json:"unnumbered,omitempty"`
	// Orphans ask a server for rows that hinder it to check new foreign keys: one that has any is asked first to run the step.
	Orphans []string `json:"orphans,omitempty"`
	// Digests is one digest of the texts of the watched objects on each group before the step.
	Digests map[placement.NodeGroupID]string `json:"digests,omitempty"`
	// Watched are the objects whose text tells whether the step was run on a group.
	Watched []ddl.Object `json:"watched,omitempty"`
	// Marker, if set, is a table in our own schema that the step renames along: it tells whether it ran.
	Marker string `json:"marker,omitempty"`
	// First is the group the step runs on first.
	First placement.NodeGroupID `json:"first"`
	// Begun: the step may have run somewhere.
	Begun bool `json:"begun,omitempty"`
	// OwnRows: the step is about a table of which each group has rows of its own. What it did to them is added up.
	OwnRows bool `json:"own_rows,omitempty"`
	// Unused: nobody can use anything that the step locks. It makes a table under a new name that refers to no other one.
	Unused bool `json:"unused,omitempty"`

	// Indexes are the global indexes that are made, and Build, if there are rows that need entries, the table they are
	// built for while it is used. Obsolete are those that go.
	Indexes  []NewIndex  `json:"indexes,omitempty"`
	Build    *ddl.Object `json:"build,omitempty"`
	Obsolete []uint64    `json:"obsolete,omitempty"`
	// BuildClosed: Build is closed meanwhile. Sums are then checksums of what it is to become, by node group, once it has all entries.
	BuildClosed bool                             `json:"build_closed,omitempty"`
	Sums        map[placement.NodeGroupID]string `json:"sums,omitempty"`
	// Widen are statements for the tables of indexes whose columns will hold more.
	Widen []string `json:"widen,omitempty"`
	// Rebuild, if not nil: the step replaces Build by a table with another distribution key.
	Rebuild *Rebuild `json:"rebuild,omitempty"`
	// Keys are foreign keys that the statement adds to Build and that servers do not check.
	Keys []NewKey `json:"keys,omitempty"`
	// KeysChecked: no row hinders them, as far as that can be told before the step; or the client wants none to be looked at.
	KeysChecked bool `json:"keys_checked,omitempty"`
	// Checked: servers can check all foreign keys that the altered table then has.
	Checked bool `json:"checked,omitempty"`

	// Close are the tables that no statement may use while the step runs, and Appear the names under which there were none: see
	// closing.go, and pkg/control/settling.go.
	Close  []ddl.Object `json:"close,omitempty"`
	Appear []ddl.Object `json:"appear,omitempty"`

	Refresh []Refresh    `json:"refresh,omitempty"`
	Drop    []ddl.Object `json:"drop,omitempty"`
	// Routines are the functions, procedures and events that the step creates, changes or drops. Event belongs to events.
	Routines []ddl.Object       `json:"routines,omitempty"`
	Event    *schema.EventState `json:"event,omitempty"`
	// EventsOff, if not nil, keeps all events from running, or lets them run.
	EventsOff *bool  `json:"events_off,omitempty"`
	PutDB     string `json:"put_db,omitempty"`
	Single    bool   `json:"single,omitempty"` // of PutDB
	DropDB    string `json:"drop_db,omitempty"`
	// Error is told to the client although all was done: DROP TABLE of which some did not exist.
	Error    *sqlerr.Error    `json:"error,omitempty"`
	Warnings []schema.Warning `json:"warnings,omitempty"`
	Affected uint64           `json:"affected,omitempty"`
}

// Step is one statement that runs on every group.
type Step struct {
	SQL string `json:"sql"`
	// Undo takes it back; empty if that cannot be, or Altered tells how.
	Undo    []string `json:"undo,omitempty"`
	Altered *Altered `json:"altered,omitempty"`
	// Repeat: running it once more does no harm.
	Repeat bool `json:"repeat,omitempty"`
	// Empties: it takes rows away, which no text tells and nothing takes back.
	Empties bool `json:"empties,omitempty"`
	// Drops: it drops tables one after the other and may stop between them.
	Drops []ddl.Object `json:"drops,omitempty"`
	// Dropping, if set, drops what the step is to replace: see GiveUp.
	Dropping string `json:"dropping,omitempty"`
}

// GiveUp makes of the work of CREATE OR REPLACE that of a DROP, whose client is told why. A server drops what is to be replaced before
// it finds out that the new one cannot be made, and then has neither; so have all groups.
func (w *Work) GiveUp(refusal *sqlerr.Error) {
	for _, x := range w.Indexes {
		w.Obsolete = append(w.Obsolete, x.ID)
	}
	if len(w.Routines) == 0 {
		w.Drop = w.Watched
	}
	w.Indexes, w.Refresh, w.Error, w.Begun = nil, nil, refusal, true
	w.Step = &Step{SQL: w.Step.Dropping, Repeat: true}
}

// Refresh says how a table's catalog entry is made from what the servers have after the steps.
type Refresh struct {
	ddl.Object
	sharding.Origin
	NewID       bool `json:"new_id,omitempty"`       // a new sequence, from 1
	TakeCounter bool `json:"take_counter,omitempty"` // a new sequence, from the servers' counters
}

// refreshed is the entry of a table that is the same as before but for what servers say of it.
func refreshed(o ddl.Object) Refresh {
	return Refresh{Object: o, Origin: sharding.Origin{Old: &o}}
}

// Keeps tells whether the table that had name o lives on under another.
func (w *Work) Keeps(o ddl.Object) bool {
	for _, r := range w.Refresh {
		if r.Old != nil && *r.Old == o && !r.NewID {
			return true
		}
	}
	return false
}
