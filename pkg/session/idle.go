package session

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/wire"
)

// How long a client may be silent it is the proxy that minds. To servers the connections of a client that works may be silent for any
// time: it uses some of those that it holds, and not others. So these variables have another value there than the client's.

// idleVariables are the variables that say for how long a session may be silent, outside of a transaction (wait), and within (MariaDB).
func idleVariables() [4]string {
	return [4]string{"wait_timeout", "idle_transaction_timeout", "idle_readonly_transaction_timeout", "idle_write_transaction_timeout"}
}

// The places in idleVariables and in idleTimes.
const (
	idleWait = iota
	idleInTransaction
	idleReading
	idleWriting
)

// heldIdle is what servers are told: a year, but for a second, so that nobody else has set it.
const heldIdle = "31535999"

// idleTimes are values of idleVariables, in seconds.
type idleTimes struct {
	set [4]string // what the client has set; "": nothing
	// within: there is a limit for transactions of its own.
	within bool
}

// IdleTimes are the values of a fresh session's idle_transaction_timeout, idle_readonly_transaction_timeout and
// idle_write_transaction_timeout (MariaDB); its wait_timeout is Wait.
type IdleTimes struct {
	Wait   time.Duration
	Within [3]string
}

// idleVariable is the place in idleVariables of the one that text names as a session's, -1 for none.
func idleVariable(text string) int {
	name := foldASCII(text)
	if rest, ok := strings.CutPrefix(name, "@@"); ok {
		name = strings.TrimPrefix(strings.TrimPrefix(rest, "session."), "local.")
	}
	names := idleVariables()
	return slices.Index(names[:], strings.Trim(name, "`"))
}

// idleValue is the session's value of one of idleVariables.
func (s *Session) idleValue(i int) string {
	switch {
	case s.idle.set[i] != "":
		return s.idle.set[i]
	case i == idleWait:
		return strconv.Itoa(max(1, int(s.cfg.IdleTimes.Wait/time.Second)))
	}
	return cmp.Or(s.cfg.IdleTimes.Within[i-1], "0")
}

// heldIdleTimes gives servers their values.
func (s *Session) heldIdleTimes() (vars []backend.Variable) {
	for i, name := range idleVariables() {
		if i == idleWait || s.cfg.Dialect.MariaDB() {
			vars = append(vars, backend.Variable{Name: "@@session." + sqltypes.QuoteName(name), Value: heldIdle})
		}
	}
	return vars
}

// ownIdleTimes gives a server the session's own values.
func (s *Session) ownIdleTimes() []backend.Variable {
	vars := s.heldIdleTimes()
	for i := range vars {
		vars[i].Value = s.idleValue(i)
	}
	return vars
}

// takeIdleTimes takes what st says of idleVariables, if it is not what servers are told, and returns st with that.
func (s *Session) takeIdleTimes(st *backend.State) *backend.State {
	held := s.heldIdleTimes()
	for i, h := range held {
		if v, ok := st.Get(h.Name); ok && v != heldIdle {
			s.idle.set[i] = v
			st = st.With(st.DB, h)
		}
	}
	s.idle.within = false
	for i := idleInTransaction; i < len(held); i++ {
		s.idle.within = s.idle.within || s.idleValue(i) != "0"
	}
	s.limitIdle()
	return st
}

// limitIdle tells the proxy for how long the client may be silent from now on.
func (s *Session) limitIdle() {
	text := s.idle.set[idleWait] // what the proxy was configured with needs not be told
	if s.idle.within && s.status().Has(wire.StatusInTrans) {
		of := idleReading
		if s.tx != nil && s.tx.Wrote() {
			of = idleWriting
		}
		for _, i := range [...]int{idleInTransaction, of} {
			if v := s.idleValue(i); v != "0" {
				text = v
			}
		}
	}
	seconds, _ := strconv.ParseUint(text, 10, 31)
	s.conn.SetIdleTimeout(time.Duration(seconds) * time.Second)
}

// showIdle lets c know the session's own idle times, for a statement that may tell of them or change them; hideIdle ends that.
func (s *Session) showIdle(c *backend.Conn) error {
	_, err := c.Exec(setOf(s.ownIdleTimes()))
	if err != nil {
		return txn.Lost(c, err)
	}
	return nil
}

func (s *Session) hideIdle(c *backend.Conn) error { return reset(c, setOf(s.heldIdleTimes())) }

// setOf is the SET that assigns vars.
func setOf(vars []backend.Variable) string {
	var sql strings.Builder
	for i, v := range vars {
		sql.WriteString([]string{"SET ", ", "}[min(i, 1)] + v.Name + " = " + v.Value)
	}
	return sql.String()
}

// selectVariables answers a SELECT of the servers' own tables, if one of these may tell idle times.
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
	err = s.showIdle(c)
	var sum wire.ResultSummary
	if err == nil {
		sum, err = s.copyResults(c, st.SQL())
		if err == nil {
			s.renewWarnings(c, &sum)
		}
		err = cmp.Or(err, s.hideIdle(c))
	}
	s.done(c, err)
	if err != nil {
		return true, txn.Lost(c, err)
	}
	s.rowCount, s.foundRows = -1, sum.Rows
	return true, nil
}
