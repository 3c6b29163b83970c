package metadata

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/routine"
)

// events is information_schema.events with what only the catalog and the events' states have, as a SELECT without its
// condition.
func (v *Viewer) events() (string, error) {
	states, err := v.EventStates()
	if err != nil {
		return "", err
	}
	var definer, status, executed strings.Builder
	for _, e := range v.Snapshot.Events {
		when := " WHEN event_schema = " + v.quoted(e.Database) + " AND event_name = " + v.quoted(e.Name) + " THEN "
		definer.WriteString(when + v.quoted(e.Definer.At()))
		if e.Status != catalog.EventAside { // as servers have all of them, each in its words
			status.WriteString(when + v.quoted(string(e.Status)))
		}
		if st, ok := states[e.Key()]; ok && !st.Started.Before(e.Since) {
			executed.WriteString(when + "CONVERT_TZ(" + v.quoted(st.Started.UTC().Format(time.DateTime)) + ", '+00:00', time_zone)")
		}
	}
	last := "last_executed"
	if executed.Len() > 0 {
		last = "CAST(CASE" + executed.String() + " ELSE last_executed END AS DATETIME)"
	}
	// Neither may be NULL, which of a CAST nobody knows.
	shown := "IFNULL(CAST(status AS CHAR(21)), '')"
	if v.Dialect.MariaDB() {
		shown = "IFNULL(CAST(status AS CHAR(18)), '')"
	}
	if status.Len() > 0 {
		shown = strings.Replace(shown, "status", "CASE"+status.String()+" ELSE status END", 1)
	}
	return "SELECT EVENT_CATALOG, EVENT_SCHEMA, EVENT_NAME, IFNULL(CAST(CASE" + definer.String() + " ELSE definer END AS CHAR(384)), '') AS DEFINER, TIME_ZONE, " +
		"EVENT_BODY, EVENT_DEFINITION, EVENT_TYPE, EXECUTE_AT, INTERVAL_VALUE, INTERVAL_FIELD, SQL_MODE, STARTS, ENDS, " +
		shown + " AS STATUS, ON_COMPLETION, CREATED, LAST_ALTERED, " + last + " AS LAST_EXECUTED, " +
		"EVENT_COMMENT, ORIGINATOR, CHARACTER_SET_CLIENT, COLLATION_CONNECTION, DATABASE_COLLATION FROM information_schema.events", nil
}

// hasPrograms reports whether there are triggers that sessions run.
func (v *Viewer) hasPrograms() bool {
	for _, d := range v.Snapshot.Databases {
		for _, t := range d.Tables {
			if t.HasPrograms("INSERT", "UPDATE", "DELETE") {
				return true
			}
		}
	}
	return false
}

// triggers is information_schema.triggers with the bodies that clients wrote, and the definers of those that sessions run, as a SELECT without its condition.
func (v *Viewer) triggers() string {
	var when strings.Builder
	for _, db := range sorted(v.Snapshot.Databases) {
		d := v.Snapshot.Databases[db]
		for _, name := range sorted(d.Tables) {
			for _, t := range d.Tables[name].Triggers {
				if t.Program != nil {
					when.WriteString(" WHEN " + exactly("trigger_schema", v.quoted(db)) + " AND " + exactly("trigger_name", v.quoted(t.Name)) +
						" THEN " + v.quoted(t.Program.Definer.At()))
				}
			}
		}
	}
	definer := "DEFINER"
	if shown := v.definers(when.String()); shown != "" {
		definer = shown + " AS DEFINER"
	}
	return "SELECT TRIGGER_CATALOG, TRIGGER_SCHEMA, TRIGGER_NAME, EVENT_MANIPULATION, EVENT_OBJECT_CATALOG, EVENT_OBJECT_SCHEMA, " +
		"EVENT_OBJECT_TABLE, ACTION_ORDER, ACTION_CONDITION, " + routine.LiveColumn("ACTION_STATEMENT") + " AS ACTION_STATEMENT, " +
		"ACTION_ORIENTATION, ACTION_TIMING, ACTION_REFERENCE_OLD_TABLE, ACTION_REFERENCE_NEW_TABLE, ACTION_REFERENCE_OLD_ROW, " +
		"ACTION_REFERENCE_NEW_ROW, CREATED, SQL_MODE, " + definer + ", CHARACTER_SET_CLIENT, COLLATION_CONNECTION, DATABASE_COLLATION " +
		"FROM information_schema.triggers"
}

// definersOfViews is information_schema.views.DEFINER with the cluster's accounts in place of the servers'.
func (v *Viewer) definersOfViews() string {
	var when strings.Builder
	for _, db := range sorted(v.Snapshot.Databases) {
		d := v.Snapshot.Databases[db]
		for _, name := range sorted(d.Tables) {
			if t := d.Tables[name]; t.Definer != "" {
				when.WriteString(" WHEN " + exactly("table_schema", v.quoted(db)) + " AND " + exactly("table_name", v.quoted(name)) + " THEN " + v.quoted(t.Definer.At()))
			}
		}
	}
	return v.definers(when.String())
}

// exactly is the condition that a column of information_schema, whose collation may take names for others, has a value.
func exactly(column, value string) string {
	return "CONVERT(" + column + " USING utf8mb4) COLLATE utf8mb4_bin = " + value
}

// definersOfRoutines is definersOfViews of information_schema.routines.
func (v *Viewer) definersOfRoutines() string {
	var when strings.Builder
	for _, r := range v.routines() {
		if r.Definer != "" {
			when.WriteString(" WHEN " + v.isRoutine(r, "routine_schema") + " THEN " + v.quoted(r.Definer.At()))
		}
	}
	return v.definers(when.String())
}

// routines are the stored functions and procedures, in one order.
func (v *Viewer) routines() []*catalog.Routine {
	return slices.SortedFunc(maps.Values(v.Snapshot.Routines), func(x, y *catalog.Routine) int {
		return cmp.Or(cmp.Compare(x.Database, y.Database), cmp.Compare(x.Name, y.Name), cmp.Compare(kindOf(x), kindOf(y)))
	})
}

// kindOf is information_schema.routines.ROUTINE_TYPE.
func kindOf(r *catalog.Routine) string {
	if r.Function {
		return "FUNCTION"
	}
	return "PROCEDURE"
}

// isRoutine is the condition of the rows about r in a table of information_schema whose column schema has its database.
func (v *Viewer) isRoutine(r *catalog.Routine, schema string) string {
	return schema + " = " + v.quoted(r.Database) + " AND specific_name = " + v.quoted(r.Name) + " AND routine_type = '" + kindOf(r) + "'"
}

// definers is the column DEFINER with others in its place, which when gives.
func (v *Viewer) definers(when string) string {
	if when == "" {
		return ""
	}
	length := "288"
	if v.Dialect.MariaDB() {
		length = "384"
	}
	return "IFNULL(CAST(CASE" + when + " ELSE definer END AS CHAR(" + length + ")), '')" // it may not be NULL, which of a CAST nobody knows
}
