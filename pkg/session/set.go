package session

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/plan"
	"skarv/pkg/planner"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// SET is run as the client wrote it on a backend connection that has the session's state, so that the server
// checks it and computes its expressions; then the values of everything it assigned are read back and become part of
// the session's state, which every later connection is brought to.

// maxStateBytes bounds the text of a session's variables.
const maxStateBytes = 1 << 20

func (s *Session) set(params *wire.Params) error {
	stmt := s.stmt
	tokens := stmt.Tokens()
	tokens.Next() // SET
	ahead := tokens
	first := ahead.Next()
	switch {
	case stmt.Is(first, "TRANSACTION"):
		return s.setTransaction(string(stmt.SQL()))
	case stmt.Is(first, "STATEMENT"), stmt.Is(first, "RESOURCE"):
		return sqlerr.Unsupported("SET "+strings.ToUpper(string(stmt.Text(first.Span))), "set the variable for the session instead")
	}
	if handled, err := s.switchEvents(tokens); handled {
		if err != nil {
			return err
		}
		return s.ok(wire.OK{})
	}
	if stmt.Uses()&sqlparse.SetsLastInsertID != 0 { // another connection would remember it
		return sqlerr.Unsupported("LAST_INSERT_ID(expression) in SET", "use SELECT LAST_INSERT_ID(expression)")
	}
	if stmt.Uses()&sqlparse.Subquery != 0 || planner.ReadsTables(stmt, s.db, s.snap) {
		if handled, err := s.setFromTables(tokens); handled {
			return err
		}
	}
	if rest, found, err := s.ours.Set(stmt, tokens); err != nil || found && rest == nil {
		if err != nil {
			return err
		}
		return s.ok(wire.OK{})
	} else if found {
		others := s.cfg.Dialect.NewStatement()
		if err := others.Scan(rest, s.Mode); err != nil {
			return err
		}
		defer others.Done()
		defer s.use(others)()
		s.args.Reset(others, params)
		tokens = others.Tokens()
		tokens.Next()
	}
	a, err := s.assignments(tokens)
	if err != nil {
		return err
	}
	if s.stmt.Uses()&sqlparse.UserLock != 0 {
		return s.setLocks(a)
	}
	return s.assign(a)
}

// assignments are those of the statement at hand, which tokens are of.
func (s *Session) assignments(tokens sqlparse.Tokens) (variable.Assignments, error) {
	a, err := variable.Parse(s.stmt, tokens, s.cfg.Dialect.MariaDB())
	if g, ok := errors.AsType[*variable.Global](err); ok {
		err = s.globalRefused(g)
	}
	return a, err
}

// globalRefused is the error of SET GLOBAL: a server's where it knows no such variable.
func (s *Session) globalRefused(g *variable.Global) error {
	if !g.Known && plainVariable.MatchString(g.Name) {
		if _, _, err := s.evaluate([]byte("@@global." + g.Name)); sqlerr.HasCode(err, sqlerr.UnknownSystemVariable) {
			return err
		}
	}
	return g.Refused()
}

var plainVariable = regexp.MustCompile(`^[a-zA-Z0-9_]+$`)

// fixTransaction makes the session's isolation level and access mode those of the transaction that it is in, before it takes others, which are
// for the next one: node groups that the transaction comes to later are to have the same. c is any connection of the session.
func (s *Session) fixTransaction(c *backend.Conn) error {
	level, mode := variable.IsolationLevel(strings.ToUpper(s.tx.Isolation)), "READ WRITE"
	if level == "" {
		_, rows, err := c.QueryAll("SELECT @@session."+variable.Isolation(s.cfg.Dialect.MariaDB())[0]+" LIMIT 1", 1)
		if err != nil {
			return err
		}
		if len(rows) != 1 {
			return sqlerr.Internal.New("reading the isolation level: unexpected result")
		}
		level = strings.ReplaceAll(string(rows[0][0]), "-", " ")
	}
	if s.tx.ReadOnly {
		mode = "READ ONLY"
	}
	s.tx.Isolation = "SET TRANSACTION ISOLATION LEVEL " + level + ", " + mode
	return nil
}

// assign runs the SET at hand and takes its results into the session's state.
func (s *Session) assign(a variable.Assignments) error {
	if err := s.mayAssign(a.System); err != nil {
		return err
	}
	get := s.acquire
	// SET autocommit = 1 may commit. Then the session does that, and the statement runs beside the transaction. Nor does
	// a SET decide which node group the transaction begins in.
	manual := !s.Autocommit
	beside := manual && s.tx != nil && slices.Contains(a.System, "autocommit")
	if s.unheld() || beside || s.rules().MayBeRefused(a.System) {
		get = s.Get
	}
	c, err := get(s.anyGroup())
	if err != nil {
		return err
	}
	if s.tx != nil && slices.ContainsFunc(a.System, variable.OfTransactions) {
		if err := s.fixTransaction(c); err != nil {
			s.done(c, err)
			return txn.Lost(c, err)
		}
	}
	s.client.Enter(c)
	ok, refused := s.runSet(c, a.System)
	s.client.Leave(c)
	err = s.assigned(c, a, ok, refused)
	s.done(c, err)
	if refused != nil {
		err = refused
	}
	if err != nil {
		return txn.Lost(c, err)
	}
	if manual && s.Autocommit {
		err := s.commitImplicit()
		if s.locks != nil {
			err = s.endLocked(plan.Commit)
		}
		if err != nil {
			return err
		}
	}
	if s.isolation != "" && s.tx == nil {
		s.isolation = a.LeftOfNext(s.isolation)
	}
	return s.ok(wire.OK{Warnings: ok.Warnings, SessionState: ok.SessionState}) // the server tells what it tracks
}

// assigned takes what the SET at hand has assigned on c, and told; refused is the error that it ended with.
func (s *Session) assigned(c *backend.Conn, a variable.Assignments, ok wire.OK, refused error) (err error) {
	if s.tellsHeld(a.System) {
		defer func() { err = cmp.Or(err, s.hideHeld(c)) }()
	}
	if refused != nil && (len(a.User)+len(a.System) < 2 || !c.Usable()) {
		return refused
	}
	if s.cfg.Dialect.MariaDB() { // whose SET keeps what was told before
		s.diagnostics.Keep()
	} else if refused == nil {
		s.diagnostics.Clear()
	}
	if refused == nil && ok.Warnings > 0 {
		s.fetchWarnings(c, ok.Warnings)
	}
	return s.takeOver(c, a, refused != nil) // of several assignments some may have been made before one failed
}

// tellsHeld reports whether the SET at hand, which assigns variables, may change idle times, or use them.
func (s *Session) tellsHeld(variables []string) bool {
	return s.stmt.Uses()&sqlparse.ReadsSession != 0 || slices.ContainsFunc(variables, func(n string) bool { return s.untold.At(n) >= 0 })
}

// runSet sends the SET at hand, which assigns variables, to c.
func (s *Session) runSet(c *backend.Conn, variables []string) (ok wire.OK, err error) {
	if s.tellsHeld(variables) {
		if err := s.showHeld(c); err != nil {
			return ok, err
		}
	}
	if s.cfg.Dialect.MariaDB() || s.args.Params() == nil || s.stmt.NumParams() == 0 {
		return c.Exec(string(s.args.AppendSet(nil)))
	}
	var params []int // which stay parameters: MySQL gives them the types that their places ask for
	s.args.Open(&params)
	text := s.args.AppendStatement(nil)
	s.args.Open(nil)
	end, err := s.sendPrepared(c, text, params)
	if err != nil {
		return ok, err
	}
	defer end()
	head, err := c.ReadHead()
	if err != nil {
		return ok, err
	}
	ok = *head.OK
	ok.SessionState = bytes.Clone(ok.SessionState) // which is not here any more when end has run
	return ok, nil
}

// takeOver makes what a was assigned on c part of the session's state.
func (s *Session) takeOver(c *backend.Conn, a variable.Assignments, refused bool) error {
	c.Dirty = true // until what it has now is known
	st, err := s.readBack(c, "SELECT 1", a.User, a.System)
	if err != nil {
		const noSession = 1238 // a variable that sessions have not
		if refused && sqlerr.HasCode(err, sqlerr.UnknownSystemVariable, noSession) && c.Usable() && s.holds(c) {
			c.Dirty = false // servers look up all names before they assign anything: there is one they do not know
		}
		if len(a.System) == 0 {
			s.assignBack(c, a.User)
		}
		return err
	}
	if slices.Contains(a.System, "timestamp") {
		_, rows, err := c.QueryAll("SELECT @@session.timestamp LIMIT 1", 1)
		if err != nil {
			return err
		}
		if v, _ := st.Get(variable.Timestamp); len(rows) == 1 && v != string(rows[0][0]) { // it goes with the clock again
			st = st.With(st.DB, backend.Variable{Name: variable.Timestamp, Value: "DEFAULT"})
		}
	}
	if slices.Contains(a.System, "last_insert_id") || slices.Contains(a.System, "identity") {
		if err := forgetInsertID(c); err != nil {
			return err
		}
	}
	if err := s.adopt(st); err != nil {
		return err
	}
	c.SetState(s.state)
	c.Dirty = false
	return nil
}

// readBack asks the server for the values of variables, as they are in a query that begins with head, which selects 1, and returns the
// session's state with them.
func (s *Session) readBack(c *backend.Conn, head string, user, system []string) (*backend.State, error) {
	var q strings.Builder
	q.WriteString(head)
	for _, n := range system {
		if n == variable.Results { // which the answer is in
			fmt.Fprintf(&q, ", CONVERT(@@session.%s USING binary)", sqltypes.QuoteName(n))
			continue
		}
		fmt.Fprintf(&q, ", @@session.%s", sqltypes.QuoteName(n))
	}
	for _, n := range user {
		v := "@" + sqltypes.QuoteName(n)
		fmt.Fprintf(&q, ", %s, HEX(%s), CHARSET(%s), COLLATION(%s)", v, v, v, v)
	}
	cols, rows, err := c.QueryAll(q.String()+" LIMIT 1", 1) // whatever sql_select_limit says
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 || len(rows[0]) != 1+len(system)+4*len(user) {
		return nil, sqlerr.Internal.New("reading session variables back: unexpected result")
	}
	cols, row := cols[1:], rows[0][1:]
	var set []backend.Variable
	for i, n := range system {
		if n == "last_insert_id" || n == "identity" {
			s.lastInsertID = parseUint(row[i])
			continue
		}
		v := variable.SystemLiteral(cols[i], row[i])
		if n == "system_versioning_asof" && v == "'DEFAULT'" { // no text that it takes
			v = "DEFAULT"
		}
		set = append(set, backend.Variable{Name: "@@session." + sqltypes.QuoteName(n), Value: v})
	}
	cols, row = cols[len(system):], row[len(system):]
	for i, n := range user {
		v := row[4*i : 4*i+4]
		if v[0] != nil && v[1] == nil { // its HEX() is longer than max_allowed_packet
			return nil, errLargeState()
		}
		if v[0] != nil && !variable.IsText(v) {
			return nil, sqlerr.Unsupported("bytes that are no text of "+string(v[2])+" in a user variable", "write them as X'...', or _binary before the string")
		}
		set = append(set, backend.Variable{Name: "@" + sqltypes.QuoteName(n), Value: variable.UserLiteral(cols[4*i], v)})
	}
	st := s.state.With(s.state.DB, set...)
	size := 0
	for _, v := range st.Vars {
		size += len(v.Name) + len(v.Value)
	}
	if size > maxStateBytes {
		return nil, errLargeState()
	}
	return st, nil
}

func errLargeState() error {
	return sqlerr.Unsupported("more than 1 MB of session variables", "keep large values in a table")
}

// rules are by what the session's variables are read.
func (s *Session) rules() variable.Rules {
	return variable.Rules{MariaDB: s.cfg.Dialect.MariaDB(), Administrator: s.admin, Tracked: s.conn.Capabilities().Has(wire.CapSessionTrack)}
}

// mayAssign is variable.MayAssign of the session's account.
func (s *Session) mayAssign(names []string) error {
	return variable.MayAssign(names, s.account.Administers(), s.cfg.Dialect.MariaDB())
}

// adopt makes st the session's state, unless it has values that are refused.
func (s *Session) adopt(st *backend.State) error {
	m, err := s.rules().Read(st)
	if err != nil {
		return err
	}
	m.Info.ForValue = s.Info.ForValue // which is the statement's
	s.Meaning = m
	s.state = s.untold.Take(st)
	s.limitIdle()
	s.conn.SetNetTimeouts(s.untold.Seconds(variable.NetRead), s.untold.Seconds(variable.NetWrite))
	return nil
}

// setTransaction is SET TRANSACTION without a scope: it is for the next transaction only.
func (s *Session) setTransaction(sql string) error {
	if s.status().Has(wire.StatusInTrans) {
		return sqlerr.TransactionInProgress.New()
	}
	s.isolation = ""
	c, err := s.cfg.Pools.Get(s.anyGroup(), s.profile, s.state, nil, s.claim())
	if err != nil {
		return err
	}
	ok, err := c.Exec(sql) // for its syntax
	c.Dirty = true
	s.done(c, err)
	if err != nil {
		return txn.Lost(c, err)
	}
	s.isolation = sql
	return s.ok(wire.OK{Warnings: ok.Warnings})
}

func parseUint(b []byte) uint64 {
	var v uint64
	for _, c := range b {
		if c < '0' || c > '9' {
			break
		}
		v = v*10 + uint64(c-'0')
	}
	return v
}
