package session

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// Warning is one row of SHOW WARNINGS. They are read from the backend right after the statement they belong to, so
// that no connection has to be kept for a client that may ask for them.
type Warning struct {
	Level   string // Note, Warning or Error
	Code    uint16
	Message string
	State   string // SQLSTATE, "" for that of the number: see stateOf
}

// stateOf is w's SQLSTATE. SHOW WARNINGS does not tell it.
func (s *Session) stateOf(w *Warning) string {
	if w.State != "" {
		return w.State
	}
	return sqlerr.StateOf(w.Code, s.cfg.Dialect.MariaDB())
}

// maxWarnings is max_error_count: how many of one statement's warnings are kept.
func (s *Session) maxWarnings() int {
	if v, ok := s.state.Get("@@session.`max_error_count`"); ok {
		if n, err := strconv.ParseUint(v, 10, 16); err == nil {
			return int(n)
		}
	}
	return s.cfg.maxWarnings()
}

// maxWarnings is what clients have that do not set it: the servers' own default.
func (c *Config) maxWarnings() int {
	if c.Dialect.MariaDB() {
		return 64
	}
	return 1024
}

// fetchWarnings replaces the session's warnings by those of c's last statement, which had so many.
func (s *Session) fetchWarnings(c *backend.Conn, had uint16) {
	if w := s.appendWarnings(s.warnings[:0], c); len(w) > 0 {
		s.warnings = w
	}
	s.noteUnkept(had)
}

// noteUnkept notes that a statement had more warnings than are kept. What comes next forgets it, unless it asks or keeps warnings.
func (s *Session) noteUnkept(warnings uint16) {
	s.unkept = max(0, int(warnings)-len(s.warnings))
}

// warningCount is how many warnings the last statement had.
func (s *Session) warningCount() int { return len(s.warnings) + s.unkept }

// appendWarnings appends the warnings of c's last statement, up to maxWarnings in all.
func (s *Session) appendWarnings(dst []Warning, c *backend.Conn) []Warning {
	most := s.maxWarnings()
	if !c.Usable() || len(dst) >= most {
		return dst
	}
	_, rows, err := c.QueryAll("SHOW WARNINGS LIMIT "+strconv.Itoa(most-len(dst)), most)
	if err != nil {
		return dst
	}
	for _, r := range rows {
		if len(r) == 3 && len(dst) < most {
			dst = append(dst, Warning{string(r[0]), uint16(parseUint(r[1])), string(r[2]), ""})
		}
	}
	return dst
}

// noteFault keeps what c's server says of the error with which it has just refused a statement: warnings that came before it, and the
// reason of one that only says that something is wrong. fail tells it, if that is the error that the client gets.
func (s *Session) noteFault(c *backend.Conn, err error) {
	if _, told := errors.AsType[*sqlerr.Error](err); told && c.Usable() && len(s.faults) == 0 {
		s.faults = s.appendWarnings(s.faults, c)
	}
}

// warnOf makes the session's warnings those of a statement that has failed with e.
func (s *Session) warnOf(e *sqlerr.Error) {
	s.warnings, s.unkept = s.warnings[:0], 1
	if s.maxWarnings() == 0 {
		return
	}
	s.unkept = 0
	told := slices.IndexFunc(s.faults, func(w Warning) bool {
		return w.Level == "Error" && w.Code == uint16(e.Code) && w.Message == e.Message
	})
	if told < 0 {
		s.warnings = append(s.warnings, Warning{"Error", uint16(e.Code), e.Message, e.State})
		return
	}
	s.warnings = append(s.warnings, s.faults...)
	s.warnings[told].State = e.State
}

// renewWarnings is fetchWarnings behind an answer with sum, where a statement without warnings leaves none.
func (s *Session) renewWarnings(c *backend.Conn, sum *wire.ResultSummary) {
	s.warnings = s.warnings[:0]
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
			s.warnings = s.warnings[:0]
		}
	}
}

// showWarnings answers SHOW WARNINGS and SHOW ERRORS, with COUNT(*) and LIMIT.
func (s *Session) showWarnings(p *plan.Plan) error {
	var rows []Warning
	for _, w := range s.warnings {
		if p.Topic != plan.ShowErrors || w.Level == "Error" {
			rows = append(rows, w)
		}
	}
	tokens := s.stmt.Tokens()
	var limit []uint64
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if s.stmt.Is(tok, "COUNT") {
			name := "@@session.warning_count"
			if p.Topic == plan.ShowErrors {
				name = "@@session.error_count"
			}
			t := newTable("#" + name)
			t.columns[0].Flags = sqltypes.FlagUnsigned | sqltypes.FlagBinary
			if p.Topic == plan.ShowErrors {
				t.add(len(rows))
			} else {
				t.add(s.warningCount())
			}
			return s.send(t)
		}
		if tok.Kind == sqlparse.IntLit {
			n, _ := strconv.ParseUint(string(s.stmt.Text(tok.Span)), 10, 32)
			limit = append(limit, n)
		}
	}
	offset, count := uint64(0), uint64(len(rows))
	switch len(limit) {
	case 1:
		count = limit[0]
	case 2:
		offset, count = limit[0], limit[1]
	}
	kept, found := s.warnings, s.foundRows
	t := newTable("Level", "#Code", "Message")
	t.columns[0].Flags, t.columns[0].Length = sqltypes.FlagNotNull, 7*4
	t.columns[1].Type, t.columns[1].Length = sqltypes.TypeLong, 4
	t.columns[1].Flags = sqltypes.FlagNotNull | sqltypes.FlagUnsigned | sqltypes.FlagBinary
	t.columns[2].Flags, t.columns[2].Length = sqltypes.FlagNotNull, 512*4
	for i, w := range rows {
		if uint64(i) >= offset && uint64(i)-offset < count {
			t.add(strings.Clone(w.Level), int(w.Code), w.Message)
		}
	}
	err := s.send(t)
	s.warnings, s.foundRows = kept, found
	return err
}

// valuesOnce takes back what several parts of an INSERT have warned of a VALUES() in its ON DUPLICATE KEY UPDATE: MySQL warns of each when it
// reads the statement. warnings and info are those of the OK packet.
func (s *Session) valuesOnce(warnings *uint16, info *[]byte) {
	deprecated := func(w Warning) bool { return w.Code == 1287 && strings.HasPrefix(w.Message, "'VALUES function' ") }
	if s.cfg.Dialect.MariaDB() || !slices.ContainsFunc(s.warnings, deprecated) {
		return
	}
	left, had := s.valuesCalls(), len(s.warnings)
	s.warnings = slices.DeleteFunc(s.warnings, func(w Warning) bool {
		if deprecated(w) {
			left--
			return left < 0
		}
		return false
	})
	*warnings -= min(*warnings, uint16(had-len(s.warnings)))
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
