package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
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
	var edits []valueEdit
	tokens := stmt.Tokens()
	prev := sqlparse.Token{}
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; prev, tok = tok, tokens.Next() {
		switch tok.Kind {
		case sqlparse.SysVar:
			if v, ok := s.sessionVariable(string(stmt.Text(tok.Span))); ok && stmt.Kind() != sqlparse.Set {
				edits = append(edits, valueEdit{tok.Span, v})
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
					edits = append(edits, valueEdit{sqlparse.Span{Start: tok.Start, End: end.End}, v})
				}
			} else if stmt.Is(tok, "CURRENT_USER") {
				edits = append(edits, valueEdit{tok.Span, userName(s.currentUser(), stmt)})
			} else if s.cfg.Dialect.MariaDB() && stmt.Is(tok, "CURRENT_ROLE") {
				if v, ok := s.currentRole(stmt); ok {
					edits = append(edits, valueEdit{tok.Span, v})
				}
			}
		}
	}
	if len(edits) == 0 {
		return nil, nil
	}
	return withValues(stmt, edits), nil
}

// valueEdit is a value to put in the place of what stands in a statement.
type valueEdit struct {
	span sqlparse.Span
	sessionValue
}

// withValues is a statement's text with edits made, which are in the order of their places. Columns of the outermost SELECT, or of
// RETURNING, keep their names.
func withValues(stmt *sqlparse.Statement, edits []valueEdit) []byte {
	items := stmt.SelectItems(nil)
	if stmt.Uses()&sqlparse.Returning != 0 {
		items = stmt.ReturningItems(nil) // of an INSERT ... SELECT the names in the SELECT are nobody's
	}
	sql, out, at := stmt.SQL(), []byte(nil), 0
	for i, e := range edits {
		out = append(out, sql[at:e.span.Start]...)
		shown := slices.ContainsFunc(items, func(it sqlparse.SelectItem) bool {
			return e.span.Start >= it.Expr.Start && e.span.End <= it.Expr.End
		})
		if shown && e.typed != "" {
			out = fmt.Appendf(out, e.typed, e.text)
		} else {
			out = append(out, e.text...) // a plain literal, by which a key can be routed
		}
		at = e.span.End
		for _, it := range items {
			last := i+1 == len(edits) || edits[i+1].span.Start >= it.Expr.End
			if !it.Star && it.Alias.Start == it.Alias.End && e.span.Start >= it.Expr.Start && e.span.End <= it.Expr.End && last {
				out = append(out, sql[at:it.Expr.End]...)
				at = it.Expr.End
				out = append(out, " AS "...)
				out = append(out, sqltypes.QuoteName(string(stmt.AppendColumnName(nil, it)))...)
			}
		}
	}
	return append(out, sql[at:]...)
}

// sessionValue is a literal and, for numbers, the format of an expression of the function's type, for where the value is
// shown: a bit operation is BIGINT UNSIGNED, a sum BIGINT.
type sessionValue struct{ text, typed string }

func unsigned(v uint64) sessionValue { return sessionValue{strconv.FormatUint(v, 10), "(%s | 0)"} }

// signed is a BIGINT of the width that servers give it: a product is as wide as its factors, and one more.
func signed(v string) sessionValue { return sessionValue{v, "(%s + 0*100000000000000000)"} }

// userName is a name as USER() gives it: as a literal does not have it, in the character set of identifiers, which is that of VERSION(), too.
func userName(name string, stmt *sqlparse.Statement) sessionValue {
	return sessionValue{sqltypes.Quoted(name, stmt.Mode()&sqlparse.NoBackslashEscapes != 0), "CONCAT(LEFT(VERSION(), 0), %s)"}
}

// unsignedVariable is unsigned for a variable, which may be NULL as far as servers know.
func unsignedVariable(v uint64) sessionValue {
	return sessionValue{strconv.FormatUint(v, 10), "NULLIF(%s | 0, NULL)"}
}

func (s *Session) sessionFunction(stmt *sqlparse.Statement, name sqlparse.Token) (v sessionValue, ok bool) {
	switch {
	case stmt.Is(name, "CONNECTION_ID"):
		if s.cfg.Dialect.MariaDB() {
			return sessionValue{strconv.FormatUint(uint64(s.conn.ID()), 10), "IF(1, CAST(%s AS UNSIGNED), CRC32(''))"}, true // INT UNSIGNED, as both are
		}
		return unsigned(uint64(s.conn.ID())), true
	case stmt.Is(name, "CURRENT_ROLE"):
		return s.currentRole(stmt)
	case stmt.Is(name, "USER"), stmt.Is(name, "SESSION_USER"), stmt.Is(name, "SYSTEM_USER"):
		return userName(s.user+"@"+s.host, stmt), true
	case stmt.Is(name, "CURRENT_USER"):
		return userName(s.currentUser(), stmt), true
	case (stmt.Is(name, "DATABASE") || stmt.Is(name, "SCHEMA")) && strings.EqualFold(s.db, catalog.VirtualDB):
		return sessionValue{"'" + catalog.VirtualDB + "'", ""}, true // the servers have no such schema
	case stmt.Is(name, "LAST_INSERT_ID"):
		return unsigned(s.lastInsertID), true
	case stmt.Is(name, "ROW_COUNT"):
		return signed(strconv.FormatInt(s.diagnostics.RowCount, 10)), true
	case stmt.Is(name, "FOUND_ROWS"):
		return signed(strconv.FormatUint(s.foundRows, 10)), true
	}
	return v, false
}

func (s *Session) sessionVariable(text string) (v sessionValue, ok bool) {
	switch variable.FoldASCII(text) {
	case "@@last_insert_id", "@@identity", "@@session.last_insert_id", "@@session.identity":
		return unsignedVariable(s.lastInsertID), true
	case "@@pseudo_thread_id", "@@session.pseudo_thread_id":
		return unsignedVariable(uint64(s.conn.ID())), true
	case "@@in_transaction", "@@session.in_transaction":
		if s.cfg.Dialect.MariaDB() {
			n := uint64(0)
			if s.status().Has(wire.StatusInTrans) {
				n = 1
			}
			return unsignedVariable(n), true
		}
	case "@@warning_count", "@@session.warning_count":
		return unsignedVariable(uint64(s.diagnostics.Count())), true
	case "@@error_count", "@@session.error_count":
		return unsignedVariable(uint64(s.diagnostics.Errors())), true
	}
	if i := s.untold.At(text); i == variable.UniqueChecks {
		return sessionValue{s.untold.Value(i), "IF(%s, @@session.unique_checks, 0)"}, s.untold.Value(i) == "0" // else it is what servers have
	} else if i >= 0 {
		return sessionValue{s.untold.Value(i), "NULLIF(%s | 0, NULL)"}, true
	}
	global := strings.TrimPrefix(strings.TrimPrefix(variable.FoldASCII(text), "@@"), "global.")
	if v, ok := s.clusterVariable(strings.Trim(global, "`")); ok {
		return sessionValue{"'" + v + "'", ""}, true
	}
	if own := s.ours.Value(variable.OwnName(text)); own != "" {
		return sessionValue{"'" + own + "'", ""}, true
	}
	return v, false
}

// currentUser is the account as CURRENT_USER() names it.
func (s *Session) currentUser() string { return s.account.Name + "@%" }
