package schema

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// What Skarv has on each server beside the tables of clients is in the database catalog.OwnDB: tables of decisions on transactions and
// of global indexes, and for a while those that a statement is tried on.

// Made names the tables in our own database that schema changes have made: trial tables and tables of global indexes.
func (s *Server) Made(ctx context.Context) (names []string, err error) {
	err = s.Rows(ctx, func(r *sql.Rows) error {
		var name string
		if err := r.Scan(&name); err != nil {
			return err
		}
		if OfTrial(name) || strings.HasPrefix(name, catalog.EntriesPrefix) {
			names = append(names, name)
		}
		return nil
	}, "SELECT table_name FROM information_schema.tables WHERE table_schema = '"+catalog.OwnDB+"'")
	return names, err
}

// DropMade drops tables that Made has named.
func (s *Server) DropMade(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = sqltypes.QuoteIn(catalog.OwnDB, name)
	}
	_, err := s.Exec(ctx, "DROP TABLE IF EXISTS "+strings.Join(quoted, ", "))
	return err
}

// numbered is what stands between a table's name and a number in the names that servers give to foreign keys.
const numbered = "_ibfk_"

// NumberOf is the number in the name of a foreign key of t, if it is one that a server has given, else 0.
func NumberOf(t *catalog.Table, fk *catalog.ForeignKey) int {
	at, own := strings.CutPrefix(fk.Name, t.Name+numbered)
	if !own {
		return 0
	}
	n, _ := strconv.Atoi(at)
	return n
}

// FixReferences makes the foreign keys of a trial table say what those of the real one would: unqualified names meant
// the trial's database.
func FixReferences(t *catalog.Table, db string) {
	// A server's own names go on behind those that the table has; the trial's begin at 1.
	last := 0
	for i := range t.ForeignKeys {
		last = max(last, NumberOf(t, &t.ForeignKeys[i]))
	}
	for i := range t.ForeignKeys {
		if at := strings.LastIndex(t.ForeignKeys[i].Name, numbered); at > 0 && strings.HasPrefix(t.ForeignKeys[i].Name, trialPrefix) {
			n, _ := strconv.Atoi(t.ForeignKeys[i].Name[at+len(numbered):])
			t.ForeignKeys[i].Name = t.Name + numbered + strconv.Itoa(last+n)
		}
		if fk := &t.ForeignKeys[i]; fk.RefDB == catalog.OwnDB {
			fk.RefDB = db
			if strings.HasPrefix(fk.RefTable, trialPrefix) {
				fk.RefTable = t.Name
			}
		}
	}
}

// IsSystem reports whether a database is the servers' own, or ours.
func IsSystem(db string) bool {
	kind := catalog.KindOf(db)
	return kind == catalog.ServerDatabase || kind == catalog.OwnDatabase
}

// NotSystem is the condition on a column with names of databases that they are neither the server's own nor ours.
func NotSystem(column string) string {
	return column + " NOT IN ('" + strings.Join(append(catalog.ServerDatabases(), catalog.OwnDB), "','") + "')"
}
