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

// How long a client may be silent, and how long it may take nothing of an answer, it is the proxy that minds. To servers the connections of
// a client that works may be silent for any time, and leave answers unread: it uses some of those that it holds, and not others, and reads
// the rows of one node group after those of another. So these variables have another value there than the client's.

// timeoutVariables are the variables that say for how long a session may be silent, outside of a transaction (wait), and within (MariaDB),
// and for how long it may send or take nothing within a statement (net).
func timeoutVariables() [6]string {
	return [6]string{"wait_timeout", "net_read_timeout", "net_write_timeout",
		"idle_transaction_timeout", "idle_readonly_transaction_timeout", "idle_write_transaction_timeout"}
}

// The places in timeoutVariables and in timeouts.
const (
	idleWait = iota
	netRead
	netWrite
	idleInTransaction
	idleReading
	idleWriting
)

// heldTimeout is what servers are told: a year, but for a second, so that nobody else has set it.
const heldTimeout = "31535999"

// timeouts are values of timeoutVariables, in seconds.
type timeouts struct {
	set [6]string // what the client has set; "": nothing
	// within: there is a limit for transactions of its own.
	within bool
}

// Timeouts are the values of a fresh session's net_read_timeout and net_write_timeout, and of its idle_transaction_timeout,
// idle_readonly_transaction_timeout and idle_write_transaction_timeout (MariaDB); its wait_timeout is Wait.
type Timeouts struct {
	Wait    time.Duration
	Servers [5]string
}

// timeoutVariable is the place in timeoutVariables of the one that text names as a session's, -1 for none.
func timeoutVariable(text string) int {
	name := foldASCII(text)
	if rest, ok := strings.CutPrefix(name, "@@"); ok {
		name = strings.TrimPrefix(strings.TrimPrefix(rest, "session."), "local.")
	}
	names := timeoutVariables()
	return slices.Index(names[:], strings.Trim(name, "`"))
}

// timeoutValue is the session's value of one of timeoutVariables.
func (s *Session) timeoutValue(i int) string {
	switch {
	case s.timeouts.set[i] != "":
		return s.timeouts.set[i]
	case i == idleWait:
		return strconv.Itoa(max(1, int(s.cfg.Timeouts.Wait/time.Second)))
	}
	return cmp.Or(s.cfg.Timeouts.Servers[i-1], "0")
}

// heldTimeouts gives servers their values.
func (s *Session) heldTimeouts() (vars []backend.Variable) {
	for i, name := range timeoutVariables() {
		if i < idleInTransaction || s.cfg.Dialect.MariaDB() {
			vars = append(vars, backend.Variable{Name: "@@session." + sqltypes.QuoteName(name), Value: heldTimeout})
		}
	}
	return vars
}

// ownTimeouts gives a server the session's own values.
func (s *Session) ownTimeouts() []backend.Variable {
	vars := s.heldTimeouts()
	for i := range vars {
		vars[i].Value = s.timeoutValue(i)
	}
	return vars
}

// takeTimeouts takes what st says of timeoutVariables, if it is not what servers are told, and returns st with that.
func (s *Session) takeTimeouts(st *backend.State) *backend.State {
	held := s.heldTimeouts()
	for i, h := range held {
		if v, ok := st.Get(h.Name); ok && v != heldTimeout {
			s.timeouts.set[i] = v
			st = st.With(st.DB, h)
		}
	}
	s.timeouts.within = false
	for i := idleInTransaction; i < len(held); i++ {
		s.timeouts.within = s.timeouts.within || s.timeoutValue(i) != "0"
	}
	s.limitIdle()
	s.conn.SetNetTimeouts(s.timeoutSeconds(netRead), s.timeoutSeconds(netWrite))
	return st
}

// timeoutSeconds is the session's value of one of timeoutVariables as a time.
func (s *Session) timeoutSeconds(i int) time.Duration {
	seconds, _ := strconv.ParseUint(s.timeoutValue(i), 10, 31)
	return time.Duration(seconds) * time.Second
}

// limitIdle tells the proxy for how long the client may be silent from now on.
func (s *Session) limitIdle() {
	text := s.timeouts.set[idleWait] // what the proxy was configured with needs not be told
	if s.timeouts.within && s.status().Has(wire.StatusInTrans) {
		of := idleReading
		if s.tx != nil && s.tx.Wrote() {
			of = idleWriting
		}
		for _, i := range [...]int{idleInTransaction, of} {
			if v := s.timeoutValue(i); v != "0" {
				text = v
			}
		}
	}
	seconds, _ := strconv.ParseUint(text, 10, 31)
	s.conn.SetIdleTimeout(time.Duration(seconds) * time.Second)
}

// showTimeouts lets c know the session's own values, for a statement that may tell of them or change them; hideTimeouts ends that.
func (s *Session) showTimeouts(c *backend.Conn) error {
	_, err := c.Exec(setOf(s.ownTimeouts()))
	if err != nil {
		return txn.Lost(c, err)
	}
	return nil
}

func (s *Session) hideTimeouts(c *backend.Conn) error { return reset(c, setOf(s.heldTimeouts())) }

// setOf is the SET that assigns vars.
func setOf(vars []backend.Variable) string {
	var sql strings.Builder
	for i, v := range vars {
		sql.WriteString([]string{"SET ", ", "}[min(i, 1)] + v.Name + " = " + v.Value)
	}
	return sql.String()
}

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
	err = s.showTimeouts(c)
	var sum wire.ResultSummary
	if err == nil {
		sum, err = s.copyResults(c, st.SQL())
		if err == nil {
			s.renewWarnings(c, &sum)
		}
		err = cmp.Or(err, s.hideTimeouts(c))
	}
	s.done(c, err)
	if err != nil {
		return true, txn.Lost(c, err)
	}
	s.rowCount, s.foundRows = -1, sum.Rows
	return true, nil
}
