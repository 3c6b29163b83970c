package session

import (
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/substitution"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// Functions and variables that speak of the session (CONNECTION_ID(), USER(), LAST_INSERT_ID(), ROW_COUNT(),
// FOUND_ROWS() and the variables that mean the same) would answer for the backend connection. They are replaced in the
// text by their values before it is planned, so that they are right on every node group and can even be routed by.

// substitutable are the uses that ask for substitution.
const substitutable = sqlparse.ReadsSession | sqlparse.ReadsLastInsertID | sqlparse.ReadsDiagnostics

// substitute returns the statement's text with session functions replaced by values, or nil if there was none.
// Columns of the outermost SELECT keep their names.
func (s *Session) substitute() ([]byte, error) {
	stmt := s.stmt
	if stmt.Uses()&substitutable == 0 {
		return nil, nil
	}
	switch stmt.Kind() {
	case sqlparse.Select, sqlparse.Insert, sqlparse.Replace, sqlparse.Update, sqlparse.Delete, sqlparse.Set, sqlparse.Do:
	default:
		return nil, nil
	}
	var edits []substitution.Edit
	tokens := stmt.Tokens()
	prev := sqlparse.Token{}
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; prev, tok = tok, tokens.Next() {
		switch tok.Kind {
		case sqlparse.SysVar:
			if v, ok := s.sessionVariable(string(stmt.Text(tok.Span))); ok && stmt.Kind() != sqlparse.Set {
				edits = append(edits, substitution.Edit{Span: tok.Span, Value: v})
			}
		case sqlparse.Word:
			if prev.Kind == sqlparse.Op && stmt.Is(prev, ".") {
				continue
			}
			ahead := tokens
			open := ahead.Next()
			if open.Kind == sqlparse.Op && stmt.Is(open, "(") {
				end := ahead.Next()
				if !stmt.Is(end, ")") {
					continue
				}
				if s.foundRows == notCounted && stmt.Is(tok, "FOUND_ROWS") {
					return nil, sqlerr.Unsupported("FOUND_ROWS() behind a statement that was not counted for it", "use SELECT COUNT(*), or ask behind the SELECT whose rows were sent")
				}
				if stmt.Is(tok, "LAST_INSERT_ID") && stmt.Uses()&sqlparse.SetsLastInsertID != 0 { // which it may see
					return nil, sqlerr.Unsupported("LAST_INSERT_ID() beside LAST_INSERT_ID(expression)", "use two statements")
				}
				if v, ok := s.sessionFunction(stmt, tok); ok {
					edits = append(edits, substitution.Edit{Span: sqlparse.Span{Start: tok.Start, End: end.End}, Value: v})
				}
			} else if stmt.Is(tok, "CURRENT_USER") {
				edits = append(edits, substitution.Edit{Span: tok.Span, Value: substitution.Name(s.currentUser(), stmt.Mode())})
			} else if s.cfg.Dialect.MariaDB() && stmt.Is(tok, "CURRENT_ROLE") {
				if v, ok := s.currentRole(stmt); ok {
					edits = append(edits, substitution.Edit{Span: tok.Span, Value: v})
				}
			}
		}
	}
	if len(edits) == 0 {
		return nil, nil
	}
	return substitution.Text(stmt, edits), nil
}

func (s *Session) sessionFunction(stmt *sqlparse.Statement, name sqlparse.Token) (v substitution.Value, ok bool) {
	switch {
	case stmt.Is(name, "CONNECTION_ID"):
		if s.cfg.Dialect.MariaDB() {
			return substitution.Value{Text: strconv.FormatUint(uint64(s.conn.ID()), 10), Typed: "IF(1, CAST(%s AS UNSIGNED), CRC32(''))"}, true // INT UNSIGNED, as both are
		}
		return substitution.Unsigned(uint64(s.conn.ID())), true
	case stmt.Is(name, "CURRENT_ROLE"):
		return s.currentRole(stmt)
	case stmt.Is(name, "USER"), stmt.Is(name, "SESSION_USER"), stmt.Is(name, "SYSTEM_USER"):
		return substitution.Name(s.user+"@"+s.origin.Host, stmt.Mode()), true
	case stmt.Is(name, "CURRENT_USER"):
		return substitution.Name(s.currentUser(), stmt.Mode()), true
	case (stmt.Is(name, "DATABASE") || stmt.Is(name, "SCHEMA")) && strings.EqualFold(s.db, catalog.VirtualDB):
		return substitution.Value{Text: "'" + catalog.VirtualDB + "'"}, true // the servers have no such schema
	case stmt.Is(name, "LAST_INSERT_ID"):
		return substitution.Unsigned(s.lastInsertID), true
	case stmt.Is(name, "ROW_COUNT"):
		return substitution.Signed(s.diagnostics.RowCount), true
	case stmt.Is(name, "FOUND_ROWS"):
		return substitution.Signed(int64(s.foundRows)), true
	}
	return v, false
}

func (s *Session) sessionVariable(text string) (v substitution.Value, ok bool) {
	switch variable.FoldASCII(text) {
	case "@@last_insert_id", "@@identity", "@@session.last_insert_id", "@@session.identity":
		return substitution.UnsignedVariable(s.lastInsertID), true
	case "@@pseudo_thread_id", "@@session.pseudo_thread_id":
		return substitution.UnsignedVariable(uint64(s.conn.ID())), true
	case "@@in_transaction", "@@session.in_transaction":
		if s.cfg.Dialect.MariaDB() {
			n := uint64(0)
			if s.status().Has(wire.StatusInTrans) {
				n = 1
			}
			return substitution.UnsignedVariable(n), true
		}
	case "@@warning_count", "@@session.warning_count":
		return substitution.UnsignedVariable(uint64(s.diagnostics.Count())), true
	case "@@error_count", "@@session.error_count":
		return substitution.UnsignedVariable(uint64(s.diagnostics.Errors())), true
	}
	if i := s.untold.At(text); i == variable.UniqueChecks {
		return substitution.Value{Text: s.untold.Value(i), Typed: "IF(%s, @@session.unique_checks, 0)"}, s.untold.Value(i) == "0" // else it is what servers have
	} else if i >= 0 {
		return substitution.Value{Text: s.untold.Value(i), Typed: "NULLIF(%s | 0, NULL)"}, true
	}
	global := strings.TrimPrefix(strings.TrimPrefix(variable.FoldASCII(text), "@@"), "global.")
	if v, ok := s.clusterVariable(strings.Trim(global, "`")); ok {
		return substitution.Value{Text: "'" + v + "'"}, true
	}
	if own := s.ours.Value(variable.OwnName(text)); own != "" {
		return substitution.Value{Text: "'" + own + "'"}, true
	}
	return v, false
}

// currentUser is the account as CURRENT_USER() names it.
func (s *Session) currentUser() string { return s.account.Name.At() }
