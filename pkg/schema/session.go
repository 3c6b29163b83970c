package schema

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// LockWaitSeconds is how long a statement waits for others that use its tables.
const LockWaitSeconds = 50

// idleSeconds is for how long a server keeps a connection that waits for what is done on others.
const idleSeconds = 7 * 86400

// MaxWarnings bounds the warnings that are kept of one statement.
const MaxWarnings = 64

// Session is what of a client's session decides what its statements mean. It is part of stored requests.
type Session struct {
	DB string `json:"db,omitempty"` // default database
	// SQLMode is the session's sql_mode; Charset and Collation its character_set_client (default utf8mb4) and
	// collation_connection.
	SQLMode   string `json:"sql_mode"`
	Charset   string `json:"charset,omitempty"`
	Collation string `json:"collation,omitempty"`
	// Set is further SET statements that bring a fresh session into the client's state, such as
	// "SET foreign_key_checks=0".
	Set []string `json:"session,omitempty"`
}

// Use brings the connection into the state of a session. A database that is not there is no error.
func (s *Server) Use(ctx context.Context, as Session) error {
	charset, collation := as.Charset, as.Collation
	if charset == "" {
		charset = "utf8mb4"
	}
	// What is read back is kept in UTF-8. Trials switch foreign_key_checks off.
	set := []string{
		"SET NAMES " + sqltypes.Literal(charset), // alone: the strings beside it would be in the character set before
		"SET SESSION character_set_results = utf8mb4, SESSION sql_mode = " + sqltypes.Literal(as.SQLMode) + ", SESSION foreign_key_checks = 1",
	}
	set = append(set, as.Set...)
	last := fmt.Sprintf("SET SESSION lock_wait_timeout = %d, SESSION wait_timeout = %d", LockWaitSeconds, idleSeconds)
	if s.node.Flavor == catalog.MySQL {
		last += ", SESSION information_schema_stats_expiry = 0"
		_, err := s.Exec(ctx, "SET SESSION sql_generate_invisible_primary_key = OFF")
		if err != nil && !sqlerr.HasCode(err, sqlerr.UnknownSystemVariable) { // new in 8.0.30
			return err
		}
	}
	if collation != "" { // It need not be one of the client's character set. Last, for servers read no time zone in UCS-2.
		last += ", SESSION collation_connection = " + sqltypes.Literal(collation)
	}
	set = append(set, last)
	for _, q := range set {
		if _, err := s.Exec(ctx, q); err != nil {
			return err
		}
	}
	if as.DB == "" {
		return nil
	}
	_, err := s.Exec(ctx, "USE "+sqltypes.QuoteName(as.DB))
	if sqlerr.HasCode(err, sqlerr.UnknownDatabase) {
		return nil // it matters only to statements that name no database, and those are checked against the catalog
	}
	return err
}

// Warning is a row of SHOW WARNINGS. It is part of stored answers.
type Warning struct {
	Level   string      `json:"level"` // Note, Warning, Error
	Code    sqlerr.Code `json:"code"`
	Message string      `json:"message"`
}

// Warnings returns what SHOW WARNINGS says of the last statement.
func (s *Server) Warnings(ctx context.Context) ([]Warning, error) {
	var out []Warning
	err := s.Rows(ctx, func(r *sql.Rows) error {
		var w Warning
		if err := r.Scan(&w.Level, &w.Code, &w.Message); err != nil {
			return err
		}
		if len(out) < MaxWarnings && !strings.HasPrefix(w.Message, "Event scheduler is ") { // servers' own never is
			out = append(out, w)
		}
		return nil
	}, "SHOW WARNINGS")
	return out, err
}
