package metadata

import (
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
		definer.WriteString(when + v.quoted(e.Definer+"@%"))
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

// triggers is information_schema.triggers with the bodies that clients wrote, as a SELECT without its condition.
func triggers() string {
	return "SELECT TRIGGER_CATALOG, TRIGGER_SCHEMA, TRIGGER_NAME, EVENT_MANIPULATION, EVENT_OBJECT_CATALOG, EVENT_OBJECT_SCHEMA, " +
		"EVENT_OBJECT_TABLE, ACTION_ORDER, ACTION_CONDITION, " + routine.LiveColumn("ACTION_STATEMENT") + " AS ACTION_STATEMENT, " +
		"ACTION_ORIENTATION, ACTION_TIMING, ACTION_REFERENCE_OLD_TABLE, ACTION_REFERENCE_NEW_TABLE, ACTION_REFERENCE_OLD_ROW, " +
		"ACTION_REFERENCE_NEW_ROW, CREATED, SQL_MODE, DEFINER, CHARACTER_SET_CLIENT, COLLATION_CONNECTION, DATABASE_COLLATION " +
		"FROM information_schema.triggers"
}
