package session

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/diagnostics"
	"skarv/pkg/plan"
	"skarv/pkg/rowset"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// Warnings are read from a server right behind the statement that they belong to, so that no connection has to be kept for a client that may ask
// for them.

// fetchWarnings replaces the session's warnings by those of c's last statement, which had so many.
func (s *Session) fetchWarnings(c *backend.Conn, had uint16) {
	if w := s.appendWarnings(s.diagnostics.Conditions[:0], c); len(w) > 0 {
		s.diagnostics.Conditions = w
	}
	s.diagnostics.Counted(had)
}

// appendWarnings appends the warnings of c's last statement, up to MaxWarnings in all.
func (s *Session) appendWarnings(dst []diagnostics.Condition, c *backend.Conn) []diagnostics.Condition {
	most := s.MaxWarnings
	if !c.Usable() || len(dst) >= most {
		return dst
	}
	_, rows, err := c.QueryAll("SHOW WARNINGS LIMIT "+strconv.Itoa(most-len(dst)), most)
	if err != nil {
		return dst
	}
	return diagnostics.AppendRows(dst, rows, most)
}

// noteFault keeps what c's server says of the error with which it has just refused a statement: warnings that came before it, and the
// reason of one that only says that something is wrong. fail tells it, if that is the error that the client gets.
func (s *Session) noteFault(c *backend.Conn, err error) {
	if _, told := errors.AsType[*sqlerr.Error](err); told && c.Usable() && len(s.faults) == 0 {
		s.faults = s.appendWarnings(s.faults, c)
	}
}

// renewWarnings is fetchWarnings behind an answer with sum, where a statement without warnings leaves none.
func (s *Session) renewWarnings(c *backend.Conn, sum *wire.ResultSummary) {
	s.diagnostics.Clear()
	if sum.Warnings > 0 {
		s.fetchWarnings(c, sum.Warnings)
	}
}

// keepsWarnings reports whether a statement without warnings leaves those of the one before: on MariaDB, one for which a server opens no tables,
// nor those of information_schema.
func (s *Session) keepsWarnings(p *plan.Plan) bool {
	if !s.cfg.Dialect.MariaDB() {
		return false
	}
	switch p.Kind {
	case plan.Select, plan.Do:
		return p.Relay != nil && len(p.Relay.Tables) == 0 && p.Topic != plan.Metadata
	case plan.Flush:
		return !s.flushesTables()
	case plan.Explain:
		return p.Inner != nil && s.keepsWarnings(p.Inner)
	case plan.Show:
		switch p.Topic {
		case plan.ShowWarnings, plan.ShowErrors, plan.ShowProcesslist, plan.ShowFullProcesslist, plan.ShowGrants, plan.ShowCreateUser, plan.ShowCreateDatabase,
			plan.ShowCreateProcedure, plan.ShowCreateFunction, plan.ShowCreateTrigger, plan.ShowCreateEvent, plan.ShowProfiles, "privileges", "authors", "contributors":
			return true
		}
	}
	return false
}

// flushesTables reports whether the FLUSH at hand names tables.
func (s *Session) flushesTables() bool {
	w := s.stmt.Words()
	return w.Find("TABLE", "TABLES") && !w.End()
}

// dropWarnings forgets what the statement before has warned of, where a server that answers p does and Skarv may answer itself.
func (s *Session) dropWarnings(p *plan.Plan) {
	switch p.Kind {
	case plan.Show, plan.Explain, plan.Lock:
		if s.cfg.Dialect.MariaDB() && !s.keepsWarnings(p) {
			s.diagnostics.Clear()
		}
	}
}

// showWarnings answers SHOW WARNINGS and SHOW ERRORS.
func (s *Session) showWarnings() error {
	show, found := diagnostics.ReadShow(s.stmt), s.foundRows
	if show.Count {
		t, n := rowset.New("#@@session.warning_count"), s.diagnostics.Count()
		if show.Errors {
			t, n = rowset.New("#@@session.error_count"), s.diagnostics.Errors()
		}
		t.Columns[0].Flags = sqltypes.FlagUnsigned | sqltypes.FlagBinary
		t.Add(n)
		return s.send(t)
	}
	t := rowset.New("Level", "#Code", "Message")
	t.Columns[0].Flags, t.Columns[0].Length = sqltypes.FlagNotNull, 7*4
	t.Columns[1].Type, t.Columns[1].Length = sqltypes.TypeLong, 4
	t.Columns[1].Flags = sqltypes.FlagNotNull | sqltypes.FlagUnsigned | sqltypes.FlagBinary
	t.Columns[2].Flags, t.Columns[2].Length = sqltypes.FlagNotNull, 512*4
	for _, c := range show.Rows(&s.diagnostics) {
		t.Add(c.Level, int(c.Code), c.Message)
	}
	err := s.send(t)
	s.foundRows = found
	return err
}

// getDiagnostics is GET DIAGNOSTICS: user variables take what the session knows of the statement before, or what a handler was called for. It
// leaves that as it is.
func (s *Session) getDiagnostics() error {
	get, err := diagnostics.ReadGet(s.stmt)
	if err != nil {
		return err
	}
	area := &s.diagnostics
	if get.Stacked {
		if area = s.stackedDiagnostics(); area == nil {
			return sqlerr.StackedWithoutHandler.New()
		}
	}
	number := get.Number
	if strings.HasPrefix(number, "@") {
		number, _ = s.state.Get("@" + sqltypes.QuoteName(variable.UserName([]byte(number))))
	}
	values, found := get.Values(area, number, s.cfg.Dialect.MariaDB())
	if !found {
		s.diagnostics.Add(diagnostics.NoSuchCondition())
		return s.ok(wire.OK{Warnings: s.diagnostics.Warnings()})
	}
	names := make([]string, len(get.Targets))
	for i, t := range get.Targets {
		names[i] = variable.UserName([]byte(t))
	}
	if err := s.setUserVariables(names, values); err != nil {
		return err
	}
	kept := s.diagnostics.RowCount
	err = s.ok(wire.OK{})
	s.diagnostics.RowCount = kept
	return err
}

// stackedDiagnostics is what the handler that runs was called for; nil if none of the procedure at hand runs.
func (s *Session) stackedDiagnostics() *diagnostics.Area {
	if s.calls == nil || len(s.calls.stack) == 0 {
		return nil
	}
	stacked := s.calls.stack[len(s.calls.stack)-1].stacked // a handler that called this procedure does not count
	if len(stacked) == 0 {
		return nil
	}
	return &stacked[len(stacked)-1]
}

// valuesOnce takes back what several parts of an INSERT have warned of a VALUES() in its ON DUPLICATE KEY UPDATE: MySQL warns of each when it
// reads the statement. warnings and info are those of the OK packet.
func (s *Session) valuesOnce(warnings *uint16, info *[]byte) {
	deprecated := func(w diagnostics.Condition) bool {
		return w.Code == 1287 && strings.HasPrefix(w.Message, "'VALUES function' ")
	}
	if s.cfg.Dialect.MariaDB() || !slices.ContainsFunc(s.diagnostics.Conditions, deprecated) {
		return
	}
	left, had := s.valuesCalls(), len(s.diagnostics.Conditions)
	s.diagnostics.Conditions = slices.DeleteFunc(s.diagnostics.Conditions, func(w diagnostics.Condition) bool {
		if deprecated(w) {
			left--
			return left < 0
		}
		return false
	})
	*warnings -= min(*warnings, uint16(had-len(s.diagnostics.Conditions)))
	if head, _, found := bytes.Cut(*info, []byte("  Warnings: ")); found {
		*info = fmt.Appendf(nil, "%s  Warnings: %d", head, *warnings)
	}
}

// valuesCalls is how many VALUES() the ON DUPLICATE KEY UPDATE of the statement at hand has.
func (s *Session) valuesCalls() (n int) {
	text, _ := s.stmt.InsertText()
	if text.OnDuplicate < 0 {
		return 0
	}
	tokens := s.stmt.TokensFrom(text.OnDuplicate)
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF && tok.Kind != sqlparse.Invalid; {
		next := tokens.Next()
		if s.stmt.Is(tok, "VALUES") && s.stmt.Is(next, "(") {
			n++
		}
		tok = next
	}
	return n
}
