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

//
// MariaDB takes rows for an empty table in bulk where neither unique_checks nor foreign_key_checks is on: of an error it then takes back all rows that
// the transaction has inserted there, or the transaction, and savepoints do not help. Each node group would do so by itself, and Skarv switches
// foreign_key_checks off for statements of its own. So unique_checks is on there, whatever the client's is.

// heldVariables are the variables that say for how long a session may be silent, outside of a transaction (wait), and within (MariaDB),
// and for how long it may send or take nothing within a statement (net), and unique_checks (MariaDB).
func heldVariables() [7]string {
	return [7]string{"wait_timeout", "net_read_timeout", "net_write_timeout",
		"idle_transaction_timeout", "idle_readonly_transaction_timeout", "idle_write_transaction_timeout", "unique_checks"}
}

// The places in heldVariables and in untold.
const (
	idleWait = iota
	netRead
	netWrite
	idleInTransaction
	idleReading
	idleWriting
	uniqueChecks
)

// What servers are told: a year, but for a second, so that nobody else has set it; and ON, where one that is asked says 1.
const (
	heldTimeout = "31535999"
	heldChecks  = "ON"
)

// untold are the session's own values of heldVariables, times in seconds.
type untold struct {
	set [7]string // what the client has set; "": nothing
	// within: there is a limit for transactions of its own.
	within bool
}

// Timeouts are the values of a fresh session's net_read_timeout and net_write_timeout, and of its idle_transaction_timeout,
// idle_readonly_transaction_timeout and idle_write_transaction_timeout (MariaDB); its wait_timeout is Wait.
type Timeouts struct {
	Wait    time.Duration
	Servers [5]string
}

// heldVariable is the place in heldVariables of the one that text names as a session's, -1 for none.
func (s *Session) heldVariable(text string) int {
	name := foldASCII(text)
	if rest, ok := strings.CutPrefix(name, "@@"); ok {
		name = strings.TrimPrefix(strings.TrimPrefix(rest, "session."), "local.")
	}
	names := heldVariables()
	i := slices.Index(names[:], strings.Trim(name, "`"))
	if i >= idleInTransaction && !s.cfg.Dialect.MariaDB() {
		return -1
	}
	return i
}

// heldVariableValue is the session's value of one of heldVariables.
func (s *Session) heldVariableValue(i int) string {
	switch {
	case s.untold.set[i] != "":
		return s.untold.set[i]
	case i == idleWait:
		return strconv.Itoa(max(1, int(s.cfg.Timeouts.Wait/time.Second)))
	case i == uniqueChecks:
		return "1"
	}
	return cmp.Or(s.cfg.Timeouts.Servers[i-1], "0")
}

// heldValues gives servers their values.
func (s *Session) heldValues() (vars []backend.Variable) {
	for i, name := range heldVariables() {
		v := backend.Variable{Name: "@@session." + sqltypes.QuoteName(name), Value: heldTimeout}
		if i == uniqueChecks {
			v.Value = heldChecks
		}
		if i < idleInTransaction || s.cfg.Dialect.MariaDB() {
			vars = append(vars, v)
		}
	}
	return vars
}

// ownHeldValues gives a server the session's own values.
func (s *Session) ownHeldValues() []backend.Variable {
	vars := s.heldValues()
	for i := range vars {
		vars[i].Value = s.heldVariableValue(i)
	}
	return vars
}

// takeHeld takes what st says of heldVariables, if it is not what servers are told, and returns st with that.
func (s *Session) takeHeld(st *backend.State) *backend.State {
	held := s.heldValues()
	for i, h := range held {
		if v, ok := st.Get(h.Name); ok && v != h.Value {
			s.untold.set[i] = v
			st = st.With(st.DB, h)
		}
	}
	s.untold.within = false
	for i := idleInTransaction; i < min(uniqueChecks, len(held)); i++ {
		s.untold.within = s.untold.within || s.heldVariableValue(i) != "0"
	}
	s.limitIdle()
	s.conn.SetNetTimeouts(s.timeoutSeconds(netRead), s.timeoutSeconds(netWrite))
	return st
}

// timeoutSeconds is the session's value of one of heldVariables as a time.
func (s *Session) timeoutSeconds(i int) time.Duration {
	seconds, _ := strconv.ParseUint(s.heldVariableValue(i), 10, 31)
	return time.Duration(seconds) * time.Second
}

// limitIdle tells the proxy for how long the client may be silent from now on.
func (s *Session) limitIdle() {
	text := s.untold.set[idleWait] // what the proxy was configured with needs not be told
	if s.untold.within && s.status().Has(wire.StatusInTrans) {
		of := idleReading
		if s.tx != nil && s.tx.Wrote() {
			of = idleWriting
		}
		for _, i := range [...]int{idleInTransaction, of} {
			if v := s.heldVariableValue(i); v != "0" {
				text = v
			}
		}
	}
	seconds, _ := strconv.ParseUint(text, 10, 31)
	s.conn.SetIdleTimeout(time.Duration(seconds) * time.Second)
}

// showHeld lets c know the session's own values, for a statement that may tell of them or change them; hideHeld ends that.
func (s *Session) showHeld(c *backend.Conn) error {
	_, err := c.Exec(setOf(s.ownHeldValues()))
	if err != nil {
		return txn.Lost(c, err)
	}
	return nil
}

func (s *Session) hideHeld(c *backend.Conn) error { return reset(c, setOf(s.heldValues())) }

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
	s.rowCount, s.foundRows = -1, sum.Rows
	return true, nil
}
