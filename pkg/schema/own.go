package schema

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// What Skarv has on each server beside the tables of clients is in the database catalog.OwnDB: tables of decisions on transactions and
// of global indexes, and for a while those that a statement is tried on.

// trialPrefix is what the names of tables begin with that belong to one job.
const trialPrefix = "ddl_"

// Trial names a table in our own database that only a job uses, by its id. Whatever is left of them when the job has ended is swept away.
func Trial(job, suffix string) ddl.Object {
	return ddl.Object{DB: catalog.OwnDB, Name: trialPrefix + job + suffix}
}

// OfTrial reports whether a name is one that a server has made of a trial table's.
func OfTrial(name string) bool { return strings.HasPrefix(name, trialPrefix) }

// EmptyCopy makes a table like another one, without rows, in the place of any that has its name. The session's settings are not a client's then.
func (s *Server) EmptyCopy(ctx context.Context, of, made ddl.Object) error {
	// sql_mode decides how the text is quoted and what it may say.
	for _, q := range []string{"SET SESSION foreign_key_checks = 0, SESSION sql_mode = ''", "USE " + sqltypes.QuoteName(catalog.OwnDB), "DROP TABLE IF EXISTS " + made.SQL()} {
		if _, err := s.Exec(ctx, q); err != nil {
			return err
		}
	}
	create, err := ReadCreate(ctx, s, of)
	if err != nil {
		return err
	}
	rest, ok := strings.CutPrefix(create, "CREATE TABLE "+sqltypes.QuoteName(of.Name))
	if !ok {
		return sqlerr.NoSuchTable.New(of.DB, of.Name)
	}
	if _, err := s.Exec(ctx, "CREATE TABLE "+made.SQL()+rest); err != nil {
		return fmt.Errorf("make a copy of %s to try the change on: %w", of, err)
	}
	return nil
}

// OfJob reports whether a table in our own database is a trial table of the job with that id.
func OfJob(name, job string) bool { return strings.HasPrefix(name, trialPrefix+job) }

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

// FixReferences makes the foreign keys of a trial table say what those of the real one would: unqualified names meant
// the trial's database.
func FixReferences(t *catalog.Table, db string) {
	// A server's own names go on behind those that the table has; the trial's begin at 1.
	const numbered = "_ibfk_"
	last := 0
	for i := range t.ForeignKeys {
		if n, own := strings.CutPrefix(t.ForeignKeys[i].Name, t.Name+numbered); own {
			at, _ := strconv.Atoi(n)
			last = max(last, at)
		}
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
