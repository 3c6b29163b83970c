package schema

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"skarv/pkg/ddl"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// Program is a stored program as a server shows it.
type Program struct {
	ddl.Object
	Text     string // without a DEFINER; "" if there is none
	SQLMode  string
	TimeZone string // of an event
	Client   string // character set of the client that created it
	// Collation is the collation_connection of that client.
	Collation string
}

// Create creates it on a server, in a session that statements bring into its state.
func (p *Program) Create(ctx context.Context, to *Server, session ...string) error {
	if p.TimeZone != "" {
		session = append(session, "SET time_zone = "+sqltypes.Literal(p.TimeZone))
	}
	if err := to.Use(ctx, Session{DB: p.DB, SQLMode: p.SQLMode, Charset: p.Client, Collation: p.Collation, Set: session}); err != nil {
		return err
	}
	_, err := to.Exec(ctx, p.Text)
	return err
}

// definerClause is the account in the text of a stored program.
var definerClause = regexp.MustCompile("^CREATE DEFINER=`(?:[^`]|``)*`@`(?:[^`]|``)*` ")

// ReadProgram asks a server for a stored program.
func ReadProgram(ctx context.Context, s *Server, o ddl.Object) (_ *Program, err error) {
	out := &Program{Object: o}
	if o.Kind == routine.Event { // names stand in it as in the session's sql_mode
		for _, q := range []string{"SET @skarv_mode = @@SESSION.sql_mode", "SET SESSION sql_mode = ''"} {
			if _, err := s.Exec(ctx, q); err != nil {
				return nil, err
			}
		}
		defer func() {
			if _, back := s.Exec(ctx, "SET SESSION sql_mode = @skarv_mode"); err == nil {
				err = back
			}
		}()
	}
	err = s.Rows(ctx, func(r *sql.Rows) error {
		vals, err := anyRow(r)
		if err != nil {
			return err
		}
		if o.Kind == routine.Event {
			out.TimeZone = vals[2].String
			vals = slices.Delete(vals, 2, 3)
		}
		if !vals[2].Valid {
			return fmt.Errorf("the account of the node group may not see %s %s", o.Kind, o)
		}
		out.SQLMode, out.Text, out.Client, out.Collation = vals[1].String, vals[2].String, vals[3].String, vals[4].String
		return nil
	}, "SHOW CREATE "+strings.ToUpper(string(o.Kind))+" "+o.SQL())
	if sqlerr.HasCode(err, 1305, 1360, 1539, sqlerr.UnknownDatabase) { // no such routine, trigger, event
		// MariaDB shows the error as a warning of the statement that creates it: only statements that read rows clear them.
		_, err := s.Exec(ctx, "DO (SELECT 0 FROM (SELECT 0) AS z)")
		return out, err
	}
	if at := definerClause.FindStringIndex(out.Text); at != nil {
		out.Text = "CREATE " + out.Text[at[1]:]
	}
	return out, err
}
