package variable

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/sqltypes"
)

// How long a client may be silent, and how long it may take nothing of an answer, it is the proxy that minds. To servers the connections of
// a client that works may be silent for any time, and leave answers unread: it uses some of those that it holds, and not others, and reads
// the rows of one node group after those of another. So these variables have another value there than the client's.

// MariaDB takes rows for an empty table in bulk where neither unique_checks nor foreign_key_checks is on: of an error it then takes back all rows that
// the transaction has inserted there, or the transaction, and savepoints do not help. Each node group would do so by itself, and Skarv switches
// foreign_key_checks off for statements of its own. So unique_checks is on there, whatever the client's is.

// heldNames are the variables that say for how long a session may be silent, outside of a transaction (wait), and within (MariaDB),
// and for how long it may send or take nothing within a statement (net), and unique_checks (MariaDB).
func heldNames() [7]string {
	return [7]string{"wait_timeout", "net_read_timeout", "net_write_timeout",
		"idle_transaction_timeout", "idle_readonly_transaction_timeout", "idle_write_transaction_timeout", "unique_checks"}
}

// The places of variables in Untold.
const (
	IdleWait = iota
	NetRead
	NetWrite
	idleInTransaction
	idleReading
	idleWriting
	UniqueChecks
)

// What servers are told: a year, but for a second, so that nobody else has set it; and ON, where one that is asked says 1.
const (
	heldTimeout = "31535999"
	heldChecks  = "ON"
)

// Timeouts are the values of a fresh session's net_read_timeout and net_write_timeout, and of its idle_transaction_timeout,
// idle_readonly_transaction_timeout and idle_write_transaction_timeout (MariaDB); its wait_timeout is Wait.
type Timeouts struct {
	Wait    time.Duration
	Servers [5]string
}

// Untold are a session's values of the variables that servers are told other values of, times in seconds. The zero value is of no use: see NewUntold.
type Untold struct {
	mariadb bool
	fresh   *Timeouts
	set     [7]string // what the client has set; "": nothing
	// within: there is a limit for transactions of its own.
	within bool
}

// NewUntold returns those of a fresh session, which has the timeouts of fresh.
func NewUntold(mariadb bool, fresh *Timeouts) Untold { return Untold{mariadb: mariadb, fresh: fresh} }

// At is the place of the variable that text names as a session's, -1 for none of them.
func (u *Untold) At(text string) int {
	name := FoldASCII(text)
	if rest, ok := strings.CutPrefix(name, "@@"); ok {
		name = strings.TrimPrefix(strings.TrimPrefix(rest, "session."), "local.")
	}
	names := heldNames()
	i := slices.Index(names[:], strings.Trim(name, "`"))
	if i >= idleInTransaction && !u.mariadb {
		return -1
	}
	return i
}

// Value is the session's value of a variable by its place.
func (u *Untold) Value(i int) string {
	switch {
	case u.set[i] != "":
		return u.set[i]
	case i == IdleWait:
		return strconv.Itoa(max(1, int(u.fresh.Wait/time.Second)))
	case i == UniqueChecks:
		return "1"
	}
	return cmp.Or(u.fresh.Servers[i-1], "0")
}

// Seconds is the session's value of a variable as a time.
func (u *Untold) Seconds(i int) time.Duration { return inSeconds(u.Value(i)) }

func inSeconds(text string) time.Duration {
	seconds, _ := strconv.ParseUint(text, 10, 31)
	return time.Duration(seconds) * time.Second
}

// Told are the variables with the values that servers are told.
func (u *Untold) Told() (vars []backend.Variable) {
	for i, name := range heldNames() {
		v := backend.Variable{Name: "@@session." + sqltypes.QuoteName(name), Value: heldTimeout}
		if i == UniqueChecks {
			v.Value = heldChecks
		}
		if i < idleInTransaction || u.mariadb {
			vars = append(vars, v)
		}
	}
	return vars
}

// Own are the variables with the session's values.
func (u *Untold) Own() []backend.Variable {
	vars := u.Told()
	for i := range vars {
		vars[i].Value = u.Value(i)
	}
	return vars
}

// Take takes what st says of the variables, if it is not what servers are told, and returns st with that.
func (u *Untold) Take(st *backend.State) *backend.State {
	told := u.Told()
	for i, t := range told {
		if v, ok := st.Get(t.Name); ok && v != t.Value {
			u.set[i] = v
			st = st.With(st.DB, t)
		}
	}
	u.within = false
	for i := idleInTransaction; i < min(UniqueChecks, len(told)); i++ {
		u.within = u.within || u.Value(i) != "0"
	}
	return st
}

// InTransaction reports whether how long the client may be silent depends on its transaction.
func (u *Untold) InTransaction() bool { return u.within }

// Idle is for how long the client may be silent, 0: as the proxy was configured; transaction: within one, that has written or not.
func (u *Untold) Idle(transaction, wrote bool) time.Duration {
	text := u.set[IdleWait] // what the proxy was configured with needs not be told
	if u.within && transaction {
		of := idleReading
		if wrote {
			of = idleWriting
		}
		for _, i := range [...]int{idleInTransaction, of} {
			if v := u.Value(i); v != "0" {
				text = v
			}
		}
	}
	return inSeconds(text)
}

// SetOf is the SET that assigns vars.
func SetOf(vars []backend.Variable) string {
	var sql strings.Builder
	for i, v := range vars {
		sql.WriteString([]string{"SET ", ", "}[min(i, 1)] + v.Name + " = " + v.Value)
	}
	return sql.String()
}
