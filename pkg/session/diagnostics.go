package session

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// getDiagnostics is GET [CURRENT | STACKED] DIAGNOSTICS: user variables take what the session knows of the statement before, or what a
// handler was called for. It leaves that as it is.
func (s *Session) getDiagnostics() error {
	stmt := s.stmt
	tokens := stmt.Tokens()
	tokens.Next() // GET
	tok := tokens.Next()
	area := diagnosticsArea{s.warnings, s.rowCount}
	switch {
	case stmt.Is(tok, "STACKED") && !s.cfg.Dialect.MariaDB():
		if s.calls == nil || len(s.calls.stack) == 0 {
			return sqlerr.StackedWithoutHandler.New()
		}
		inner := s.calls.stack[len(s.calls.stack)-1]
		if len(inner.stacked) == 0 { // a handler that called this procedure does not count
			return sqlerr.StackedWithoutHandler.New()
		}
		area = inner.stacked[len(inner.stacked)-1]
		tok = tokens.Next()
	case stmt.Is(tok, "CURRENT"):
		tok = tokens.Next()
	}
	if !stmt.Is(tok, "DIAGNOSTICS") {
		return stmt.SyntaxError(tok.Start)
	}
	tok = tokens.Next()
	item, conditional := area.item, false
	if stmt.Is(tok, "CONDITION") {
		w, err := s.condition(area.warnings, tokens.Next())
		if err != nil {
			return err
		}
		if w == nil {
			s.warnings = append(s.warnings, Warning{"Error", 1758, "Invalid condition number", ""})
			return s.ok(wire.OK{Warnings: uint16(len(s.warnings))})
		}
		conditional = true
		item = func(name string) (string, bool) { return s.conditionItem(w, name) }
		tok = tokens.Next()
	}
	var names, values []string
	for {
		equals, name := tokens.Next(), tokens.Next()
		if tok.Kind != sqlparse.UserVar || !stmt.Is(equals, "=") {
			return stmt.SyntaxError(tok.Start)
		}
		asked := strings.ToUpper(string(stmt.Text(name.Span)))
		value, ok := item(asked)
		switch {
		case !ok && conditional && asked == "ROW_NUMBER" && s.cfg.Dialect.MariaDB():
			return sqlerr.Unsupported("ROW_NUMBER of a condition", "MESSAGE_TEXT names the row where the server does")
		case !ok:
			return stmt.SyntaxError(name.Start)
		}
		names, values = append(names, variable.UserName(stmt.Text(tok.Span))), append(values, value)
		next := tokens.Next()
		if next.Kind == sqlparse.EOF {
			break
		}
		if !stmt.Is(next, ",") {
			return stmt.SyntaxError(next.Start)
		}
		tok = tokens.Next()
	}
	if err := s.setUserVariables(names, values); err != nil {
		return err
	}
	kept := s.rowCount
	err := s.ok(wire.OK{})
	s.rowCount = kept
	return err
}

// condition returns the condition with the number that tok says; nil if there is none.
func (s *Session) condition(of []Warning, tok sqlparse.Token) (*Warning, error) {
	text := string(s.stmt.Text(tok.Span))
	if tok.Kind == sqlparse.UserVar {
		text, _ = s.state.Get("@" + sqltypes.QuoteName(variable.UserName([]byte(text))))
	} else if tok.Kind != sqlparse.IntLit {
		return nil, sqlerr.Unsupported("a condition number that is no number or user variable", "write the number")
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > len(of) {
		return nil, nil
	}
	return &of[n-1], nil
}

// item is a statement information item as a literal.
func (a diagnosticsArea) item(name string) (string, bool) {
	switch name {
	case "NUMBER":
		return fmt.Sprintf("CAST(%d AS UNSIGNED)", len(a.warnings)), true
	case "ROW_COUNT":
		return strconv.FormatInt(a.rowCount, 10), true
	}
	return "", false
}

// conditionItem is a condition information item as a literal. Names of tables and such stand in the text of a condition, if
// anywhere.
func (s *Session) conditionItem(w *Warning, name string) (string, bool) {
	switch name {
	case "MYSQL_ERRNO":
		return fmt.Sprintf("CAST(%d AS UNSIGNED)", w.Code), true
	case "MESSAGE_TEXT":
		return diagnosticsText(w.Message), true
	case "RETURNED_SQLSTATE":
		return diagnosticsText(s.stateOf(w)), true
	case "CLASS_ORIGIN", "SUBCLASS_ORIGIN":
		if s.cfg.Dialect.MariaDB() {
			return diagnosticsText(""), true
		}
		return diagnosticsText("ISO 9075"), true
	case "CONSTRAINT_CATALOG", "CONSTRAINT_SCHEMA", "CONSTRAINT_NAME", "CATALOG_NAME", "SCHEMA_NAME", "TABLE_NAME", "COLUMN_NAME",
		"CURSOR_NAME":
		return diagnosticsText(""), true
	}
	return "", false
}

func diagnosticsText(s string) string {
	return "_utf8mb3 x'" + hex.EncodeToString([]byte(s)) + "' COLLATE utf8mb3_general_ci"
}
