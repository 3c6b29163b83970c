package schema

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"skarv/pkg/ddl"
	"skarv/pkg/sqltypes"
)

// Trigger is a trigger as a server has it.
type Trigger struct {
	Name    string
	Before  bool
	Event   string // INSERT, UPDATE, DELETE
	SQLMode string
	// Collation is the collation_connection of the client that created it.
	Collation string
	Text      string // of CREATE TRIGGER, without a DEFINER
}

// readTriggers reads the table's triggers, in the order in which they fire.
func (d *Definition) readTriggers(ctx context.Context, s *Server) error {
	type row struct{ name, timing, event, body, mode, collation string }
	var found []row
	err := s.Rows(ctx, func(r *sql.Rows) error {
		var x row
		if err := r.Scan(&x.name, &x.timing, &x.event, &x.body, &x.mode, &x.collation); err != nil {
			return err
		}
		found = append(found, x)
		return nil
	}, "SELECT trigger_name, action_timing, event_manipulation, action_statement, sql_mode, collation_connection FROM information_schema.triggers"+
		d.where("event_object_schema", "event_object_table")+" ORDER BY action_timing, event_manipulation, action_order, trigger_name")
	for _, x := range found {
		quote := func(name string) string {
			if ddl.HasMode(x.mode, "ANSI_QUOTES") {
				return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
			}
			return sqltypes.QuoteName(name)
		}
		d.Triggers = append(d.Triggers, Trigger{Name: x.name, Before: x.timing == "BEFORE", Event: x.event, SQLMode: x.mode, Collation: x.collation,
			Text: fmt.Sprintf("CREATE TRIGGER %s %s %s ON %s FOR EACH ROW %s", quote(x.name), x.timing, x.event, quote(d.Table.Name), x.body)})
	}
	return err
}
