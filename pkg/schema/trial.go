package schema

import (
	"context"
	"fmt"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/pause"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// A statement is tried on a trial table in our own database first. There those of all jobs meet, whatever databases they are for.

// trialPrefix is what the names of tables begin with that belong to one job.
const trialPrefix = "ddl_"

// Trial names a table in our own database that only a job uses, by its id. Whatever is left of them when the job has ended is swept away.
func Trial(job, suffix string) ddl.Object {
	return ddl.Object{DB: catalog.OwnDB, Name: trialPrefix + job + suffix}
}

// OfTrial reports whether a name is one that a server has made of a trial table's.
func OfTrial(name string) bool { return strings.HasPrefix(name, trialPrefix) }

// OfJob reports whether a table in our own database is a trial table of the job with that id.
func OfJob(name, job string) bool { return strings.HasPrefix(name, trialPrefix+job) }

const (
	tryAgain = 50 * time.Millisecond // between looks whether another job's trial table is gone
	tryFor   = time.Minute           // that another job's trial table may be waited for
)

// Try runs a statement that makes or changes a trial table of a job. In one database constraints of two tables cannot have one name, in two they
// can: where a trial table of another job has a constraint of a name that the statement says, Try waits until it is gone. It ends with
// LockWaitTimeout if that one stays.
func (s *Server) Try(ctx context.Context, job, query string) error {
	until := time.Now().Add(tryFor)
	for free := 0; ; { // looks in a row that found no such table: it may be gone since the statement was refused
		_, err := s.Exec(ctx, query)
		if !sqlerr.HasCode(err, sqlerr.DuplicateForeignKey, sqlerr.DuplicateCheck, sqlerr.MalformedForeignKey, sqlerr.ForeignKeyNotAdded) {
			return err
		}
		taken, e := s.constraintTaken(ctx, job, query)
		switch {
		case e != nil:
			return e
		case !taken && free == 1:
			return err
		case !taken:
			free++
			continue
		case time.Now().After(until):
			return sqlerr.LockWaitTimeout.New()
		}
		free = 0
		if err := pause.For(ctx, tryAgain); err != nil {
			return err
		}
	}
}

// constraintTaken reports whether a trial table of another job has a constraint whose name is in the query.
func (s *Server) constraintTaken(ctx context.Context, job, query string) (bool, error) {
	rows, err := s.Values(ctx, 2, "SELECT table_name, constraint_name FROM information_schema.table_constraints WHERE constraint_schema = "+
		sqltypes.Literal(catalog.OwnDB)+" AND constraint_type IN ('FOREIGN KEY', 'CHECK')")
	query = strings.ToLower(query)
	for _, r := range rows {
		if !OfJob(string(r[0]), job) && strings.Contains(query, strings.ToLower(string(r[1]))) {
			return true, nil
		}
	}
	return false, err
}

// EmptyCopy makes of a trial table of a job one like another table, without rows, in the place of any that has its name. The session's settings are not
// a client's then.
func (s *Server) EmptyCopy(ctx context.Context, job string, of, made ddl.Object) error {
	// sql_mode decides how the text is quoted and what it may say; it is read as UTF-8.
	for _, q := range []string{"SET NAMES utf8mb4", "SET SESSION foreign_key_checks = 0, SESSION sql_mode = ''", "USE " + sqltypes.QuoteName(catalog.OwnDB), "DROP TABLE IF EXISTS " + made.SQL()} {
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
	if err := s.Try(ctx, job, "CREATE TABLE "+made.SQL()+rest); err != nil {
		return fmt.Errorf("make a copy of %s to try the change on: %w", of, err)
	}
	return nil
}
