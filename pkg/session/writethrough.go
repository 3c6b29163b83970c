package session

import (
	"strings"
	"unicode/utf8"

	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/wire"
)

// writeThrough runs the statement at hand, whose target is a view, as what it means for the view's table.
func (s *Session) writeThrough(params *wire.Params) (*plan.Plan, error) {
	s.args.Reset(s.stmt, params)
	s.args.Strings, s.args.OneByte = s.Strings, s.ForeignCharset
	st := s.cfg.Dialect.NewStatement() // parameters become text
	defer st.Done()
	if err := st.Scan(s.args.AppendStatement(nil), s.Mode); err != nil {
		return nil, err
	}
	if v, set := s.state.Get("@@session.`updatable_views_with_limit`"); set && strings.Trim(v, "'") != "YES" && v != "1" && limited(st) {
		return nil, sqlerr.Unsupported("LIMIT of a write through a view with updatable_views_with_limit = NO", "write to its table")
	}
	r, err := s.cfg.Planner.ThroughView(st, s.db, s.snap, s.Info)
	if err != nil {
		return nil, err
	}
	if s.ForeignLiterals && beyondASCII(r.Text) != beyondASCII(st.SQL()) {
		return nil, sqlerr.Unsupported("a write through a view with characters beyond ASCII by a client of another character set", "SET NAMES utf8mb4, or write to its table")
	}
	if s.view == nil {
		s.view = r.Of
		defer func() { s.view = nil }()
	}
	mariadb := s.cfg.Dialect.MariaDB()
	if r.View != "" && !mariadb { // it names the view of the statement, and MariaDB looks at the option of that one alone
		r.View = s.view.Database + "." + s.view.Name
	}
	if r.View != "" && (s.view.CheckOption != "" || !mariadb) {
		s.Info.Checked, s.checked = true, r
		defer func() { s.Info.Checked, s.checked = false, nil }()
	}
	anew := s.cfg.Dialect.NewStatement()
	defer anew.Done()
	if err := anew.Scan(r.Text, s.Mode); err != nil {
		return nil, err
	}
	wasCurrent, wasUsing, vouched := s.current, s.using, s.vouched
	s.current, s.using, s.vouched = nil, nil, true
	defer func() { s.current, s.using, s.vouched = wasCurrent, wasUsing, vouched }()
	return s.runInside(anew, nil)
}

// limited reports whether an UPDATE or DELETE has a LIMIT; any LIMIT in it will do.
func limited(st *sqlparse.Statement) bool {
	for tokens := st.Tokens(); ; {
		switch tok := tokens.Next(); {
		case tok.Kind == sqlparse.EOF:
			return false
		case st.Is(tok, "LIMIT"):
			return st.Kind() == sqlparse.Update || st.Kind() == sqlparse.Delete
		}
	}
}

// beyondASCII counts bytes.
func beyondASCII(text []byte) (n int) {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			n++
		}
	}
	return n
}
