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
	// Program, not nil: servers have the trigger but do nothing by it. Sessions run it.
	Program *TriggerProgram `json:"program,omitempty"`
}

// TriggerProgram is a trigger that does more than a server may do by itself: it reads or writes tables, or assigns what its
// row is placed by.
type TriggerProgram struct {
	Body    string `json:"body"` // the statement behind FOR EACH ROW, as written in SQLMode
	SQLMode string `json:"sql_mode"`
	// Collation is as Routine has it.
	Collation string      `json:"collation,omitempty"`
	Definer   AccountName `json:"definer"` // the account it runs as
}

// Fires reports whether a server fires triggers of the table for one of the events.
func (t *Table) Fires(events ...string) bool {
	return slices.ContainsFunc(t.Triggers, func(tr Trigger) bool { return tr.Program == nil && slices.Contains(events, tr.Event) })
}

// FiresAny reports whether a server fires any triggers of the table.
func (t *Table) FiresAny() bool { return t.Fires("INSERT", "UPDATE", "DELETE") }

// FiresVolatile reports whether a server fires triggers of the table for one of the events that may do something else each time.
func (t *Table) FiresVolatile(events ...string) bool {
	return slices.ContainsFunc(t.Triggers, func(tr Trigger) bool {
		return tr.Program == nil && (tr.Volatile || tr.Unknown) && slices.Contains(events, tr.Event)
	})
}

// Programs are the triggers for the event that sessions run, before or behind the row's change, in the order in which they fire.
func (t *Table) Programs(before bool, event string) (list []*Trigger) {
	for i := range t.Triggers {
		if tr := &t.Triggers[i]; tr.Program != nil && tr.Before == before && tr.Event == event {
			list = append(list, tr)
		}
	}
	return list
}

// HasPrograms reports whether sessions run triggers of the table for one of the events.
func (t *Table) HasPrograms(events ...string) bool {
	return slices.ContainsFunc(t.Triggers, func(tr Trigger) bool { return tr.Program != nil && slices.Contains(events, tr.Event) })
}

// FiresBeforeInsert reports whether a server fires triggers before it inserts a row.
func (t *Table) FiresBeforeInsert() bool {
	return slices.ContainsFunc(t.Triggers, func(tr Trigger) bool { return tr.Program == nil && tr.Before && tr.Event == "INSERT" })
}

// TriggerSets reports whether a trigger that a server fires for the event assigns the column, or may do so.
func (t *Table) TriggerSets(event string, column int) bool {
	return slices.ContainsFunc(t.Triggers, func(tr Trigger) bool {
		return tr.Program == nil && tr.Event == event && (tr.Unknown || slices.Contains(tr.Sets, column))
	})
}
