package catalog

import "slices"

// Trigger is what statements have to know of a table's trigger.
type Trigger struct {
	Name   string `json:"name"`
	Before bool   `json:"before,omitempty"`
	Event  string `json:"event"` // INSERT, UPDATE or DELETE
	// Sets are the columns it assigns, by position.
	Sets []int `json:"sets,omitempty"`
	// Volatile: it may do something else each time.
	Volatile bool `json:"volatile,omitempty"`
	// Unknown: its body is of a form that Skarv does not know: somebody else has made it.
	Unknown bool `json:"unknown,omitempty"`
}

// Fires reports whether the table has triggers for one of the events.
func (t *Table) Fires(events ...string) bool {
	return slices.ContainsFunc(t.Triggers, func(tr Trigger) bool { return slices.Contains(events, tr.Event) })
}

// TriggerSets reports whether a trigger for the event assigns the column, or may do so.
func (t *Table) TriggerSets(event string, column int) bool {
	return slices.ContainsFunc(t.Triggers, func(tr Trigger) bool {
		return tr.Event == event && (tr.Unknown || slices.Contains(tr.Sets, column))
	})
}
