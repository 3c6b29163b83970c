package session

import (
	"cmp"
	"slices"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/sqlparse"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// limitIdle tells the proxy for how long the client may be silent from now on.
func (s *Session) limitIdle() {
	s.conn.SetIdleTimeout(s.untold.Idle(s.status().Has(wire.StatusInTrans), s.tx != nil && s.tx.Wrote()))
}

// showHeld lets c know the session's own values, for a statement that may tell of them or change them; hideHeld ends that.
func (s *Session) showHeld(c *backend.Conn) error {
	_, err := c.Exec(variable.SetOf(s.untold.Own()))
	if err != nil {
		return txn.Lost(c, err)
	}
	return nil
}

func (s *Session) hideHeld(c *backend.Conn) error { return reset(c, variable.SetOf(s.untold.Told())) }

// selectVariables answers a SELECT of the servers' own tables, if one of these may tell timeouts.
func (s *Session) selectVariables(st *sqlparse.Statement) (handled bool, err error) {
	refs, _ := st.Tables()
	if st.Uses()&sqlparse.WritesUserVariable != 0 || !slices.ContainsFunc(refs, func(r sqlparse.TableRef) bool {
		switch strings.ToLower(r.Name) {
		case "session_variables", "system_variables", "variables_by_thread":
			return true
		}
		return false
	}) {
		return false, nil
	}
	c, err := s.aside(s.anyGroup())
	if err != nil {
		return true, err
	}
	err = s.showHeld(c)
	var sum wire.ResultSummary
	if err == nil {
		sum, err = s.copyResults(c, st.SQL())
		if err == nil {
			s.renewWarnings(c, &sum)
		}
		err = cmp.Or(err, s.hideHeld(c))
	}
	s.done(c, err)
	if err != nil {
		return true, txn.Lost(c, err)
	}
	s.diagnostics.RowCount, s.foundRows = -1, sum.Rows
	return true, nil
}
