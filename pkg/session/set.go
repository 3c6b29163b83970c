package session

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"skarv/pkg/backend"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/planner"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/wire"
)

// SET is run as the client wrote it on a backend connection that has the session's state, so that the server
// checks it and computes its expressions; then the values of everything it assigned are read back and become part of
// the session's state, which every later connection is brought to.

// assignments is what a SET statement assigns.
type assignments struct {
	user   []string // names of user variables, without @
	system []string // names of session variables, lower case
	// transaction is what SET SESSION TRANSACTION says, in upper case; "" for other forms.
	transaction string
}

// timestampVariable is in the state once the client has fixed the clock, with the value DEFAULT when it goes again.
const timestampVariable = "@@session.`timestamp`"

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
	if rest, found, err := s.setOwn(tokens); err != nil || found && rest == nil {
		if err != nil {
			return err
		}
		return s.ok(wire.OK{})
	} else if found {
		others := s.cfg.Dialect.NewStatement()
		if err := others.Scan(rest, s.mode); err != nil {
			return err
		}
		defer others.Done()
		defer s.use(others)()
		s.args.Reset(others, params)
		tokens = others.Tokens()
		tokens.Next()
	}
	a, err := s.parseAssignments(tokens)
	if err != nil {
		return err
	}
	if s.stmt.Uses()&sqlparse.UserLock != 0 {
		return s.setLocks(a)
	}
	return s.assign(a)
}

// parseAssignments reads "[SESSION] name = expr, @x := expr, NAMES utf8mb4, ..." after SET.
func (s *Session) parseAssignments(tokens sqlparse.Tokens) (a assignments, err error) {
	stmt := s.stmt
	for {
		tok := tokens.Next()
		switch {
		case tok.Kind == sqlparse.EOF:
			return a, nil // the server has the error to tell
		case tok.Kind == sqlparse.UserVar:
			a.user = append(a.user, userVariable(stmt.Text(tok.Span)))
		case tok.Kind == sqlparse.SysVar:
			name := strings.ToLower(strings.TrimPrefix(string(stmt.Text(tok.Span)), "@@"))
			scope, rest, scoped := strings.Cut(name, ".")
			if !scoped {
				rest = name
			} else if scope != "session" && scope != "local" {
				return a, s.globalRefused(scope, strings.Trim(rest, "`"))
			}
			a.system = append(a.system, strings.Trim(rest, "`"))
		case stmt.Is(tok, "PASSWORD"), stmt.Is(tok, "ROLE"), stmt.Is(tok, "DEFAULT"):
			return a, sqlerr.Unsupported("SET "+strings.ToUpper(string(stmt.Text(tok.Span))),
				"use skarvctl user: accounts are kept by the cluster")
		case stmt.Is(tok, "NAMES"):
			a.system = append(a.system, "character_set_client", "character_set_results", "collation_connection")
		case stmt.Is(tok, "CHARACTER"), stmt.Is(tok, "CHARSET"):
			a.system = append(a.system, "character_set_client", "character_set_results", "collation_connection")
		case stmt.Is(tok, "GLOBAL"), stmt.Is(tok, "PERSIST"), stmt.Is(tok, "PERSIST_ONLY"):
			name := tokens.Next()
			if behind := tokens; stmt.Is(behind.Next(), ".") {
				return a, globalRefused(string(stmt.Text(tok.Span)), string(stmt.Text(name.Span)))
			}
			if stmt.Is(name, "TRANSACTION") {
				return a, globalRefused(string(stmt.Text(tok.Span)), "TRANSACTION")
			}
			return a, s.globalRefused(string(stmt.Text(tok.Span)), string(stmt.AppendName(nil, name)))
		case stmt.Is(tok, "SESSION"), stmt.Is(tok, "LOCAL"):
			name := tokens.Next()
			if stmt.Is(name, "TRANSACTION") {
				a.system = append(a.system, s.isolationVariables()...)
				a.transaction = strings.ToUpper(string(stmt.SQL()[name.End:]))
				return a, nil // behind its commas stand isolation level and access mode
			}
			a.system = append(a.system, strings.ToLower(string(stmt.AppendName(nil, name))))
		default:
			a.system = append(a.system, strings.ToLower(string(stmt.AppendName(nil, tok))))
		}
		if n := len(a.system); n > 0 && a.system[n-1] == "character_set_connection" {
			a.system[n-1] = "collation_connection" // it sets the collation, too, which says more
		}
		if !skipToComma(stmt, &tokens) {
			return a, nil
		}
	}
}

// skipToComma goes on behind the next comma outside of parentheses; false at the end.
func skipToComma(stmt *sqlparse.Statement, tokens *sqlparse.Tokens) bool {
	_, end := stmt.Item(tokens, "")
	return stmt.Is(end, ",")
}

// globalRefused is the error of SET GLOBAL: a server's where it knows no such variable.
func (s *Session) globalRefused(scope, name string) error {
	if plainVariable.MatchString(name) {
		if _, _, err := s.evaluate([]byte("@@global." + name)); sqlerr.HasCode(err, sqlerr.UnknownSystemVariable) {
			return err
		}
	}
	return globalRefused(scope, name)
}

var plainVariable = regexp.MustCompile(`^[a-zA-Z0-9_]+$`)

func globalRefused(scope, name string) error {
	return sqlerr.Unsupported("SET "+strings.ToUpper(scope)+" "+name,
		"change server settings on the servers of each node group, or the variable for the session")
}

// isolationVariables are the session variables behind SET SESSION TRANSACTION.
func (s *Session) isolationVariables() []string {
	if s.cfg.Dialect.MariaDB() {
		return []string{"tx_isolation", "tx_read_only"}
	}
	return []string{"transaction_isolation", "transaction_read_only"}
}

// ofTransactions reports whether name is a variable that says how transactions begin, by any of its names.
func ofTransactions(name string) bool {
	switch name {
	case "tx_isolation", "tx_read_only", "transaction_isolation", "transaction_read_only":
		return true
	}
	return false
}

// fixTransaction makes the session's isolation level and access mode those of the transaction that it is in, before it takes others, which are
// for the next one: node groups that the transaction comes to later are to have the same. c is any connection of the session.
func (s *Session) fixTransaction(c *backend.Conn) error {
	level, mode := isolationLevel(strings.ToUpper(s.tx.Isolation)), "READ WRITE"
	if level == "" {
		_, rows, err := c.QueryAll("SELECT @@session."+s.isolationVariables()[0]+" LIMIT 1", 1)
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

// userVariable returns the name in @name, @`name` or @'name'.
func userVariable(text []byte) string {
	t := strings.TrimPrefix(string(text), "@")
	if len(t) >= 2 && (t[0] == '`' || t[0] == '\'' || t[0] == '"') {
		q := t[:1]
		t = strings.ReplaceAll(t[1:len(t)-1], q+q, q)
	}
	return strings.ToLower(t)
}

// assign runs the SET at hand and takes its results into the session's state.
func (s *Session) assign(a assignments) error {
	if err := s.mayAssign(a.system); err != nil {
		return err
	}
	get := s.acquire
	// SET autocommit = 1 may commit. Then the session does that, and the statement runs beside the transaction. Nor does
	// a SET decide which node group the transaction begins in.
	manual := !s.autocommit
	beside := manual && s.tx != nil && slices.Contains(a.system, "autocommit")
	if s.unheld() || beside || s.mayBeRefused(a.system) {
		get = s.Get
	}
	c, err := get(s.anyGroup())
	if err != nil {
		return err
	}
	if s.tx != nil && slices.ContainsFunc(a.system, ofTransactions) {
		if err := s.fixTransaction(c); err != nil {
			s.done(c, err)
			return txn.Lost(c, err)
		}
	}
	s.client.Enter(c)
	ok, refused := s.runSet(c, a.system)
	s.client.Leave(c)
	err = s.assigned(c, a, ok, refused)
	s.done(c, err)
	if refused != nil {
		err = refused
	}
	if err != nil {
		return txn.Lost(c, err)
	}
	if manual && s.autocommit {
		err := s.commitImplicit()
		if s.locks != nil {
			err = s.endLocked(plan.Commit)
		}
		if err != nil {
			return err
		}
	}
	if s.isolation != "" && s.tx == nil {
		s.isolation = a.leftOfNext(s.isolation)
	}
	return s.ok(wire.OK{Warnings: ok.Warnings, SessionState: ok.SessionState}) // the server tells what it tracks
}

// assigned takes what the SET at hand has assigned on c, and told; refused is the error that it ended with.
func (s *Session) assigned(c *backend.Conn, a assignments, ok wire.OK, refused error) (err error) {
	if s.tellsHeld(a.system) {
		defer func() { err = cmp.Or(err, s.hideHeld(c)) }()
	}
	if refused != nil && (len(a.user)+len(a.system) < 2 || !c.Usable()) {
		return refused
	}
	if s.cfg.Dialect.MariaDB() { // whose SET keeps what was told before
		s.unkept = s.unkeptBefore
	} else if refused == nil {
		s.warnings = s.warnings[:0]
	}
	if refused == nil && ok.Warnings > 0 {
		s.fetchWarnings(c, ok.Warnings)
	}
	return s.takeOver(c, a, refused != nil) // of several assignments some may have been made before one failed
}

// tellsHeld reports whether the SET at hand, which assigns variables, may change idle times, or use them.
func (s *Session) tellsHeld(variables []string) bool {
	return s.stmt.Uses()&sqlparse.ReadsSession != 0 || slices.ContainsFunc(variables, func(n string) bool { return s.heldVariable(n) >= 0 })
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

// leftOfNext is the SET TRANSACTION for the next transaction once a has been assigned to the session: its isolation level or its
// access mode is then the session's.
func (a *assignments) leftOfNext(next string) string {
	level, mode := strings.Contains(a.transaction, "ISOLATION"), strings.Contains(a.transaction, "READ ONLY") || strings.Contains(a.transaction, "READ WRITE")
	if a.transaction == "" {
		level = slices.Contains(a.system, "tx_isolation") || slices.Contains(a.system, "transaction_isolation")
		mode = slices.Contains(a.system, "tx_read_only") || slices.Contains(a.system, "transaction_read_only")
	}
	if !level && !mode {
		return next
	}
	upper := strings.Join(strings.Fields(strings.ToUpper(next)), " ")
	var left []string
	if l := isolationLevel(upper); l != "" && !level {
		left = append(left, "ISOLATION LEVEL "+l)
	}
	for _, m := range []string{"READ ONLY", "READ WRITE"} {
		if strings.Contains(upper, m) && !mode {
			left = append(left, m)
		}
	}
	if len(left) == 0 {
		return ""
	}
	return "SET TRANSACTION " + strings.Join(left, ", ")
}

// mayAssign refuses to assign variables that are about one server, or that decide what its binary log says, which is read where
// partitions move; and to accounts that are no administrators what servers keep to such: they take us for one.
func (s *Session) mayAssign(names []string) error {
	for i, name := range names {
		if name == "autocommit" && slices.Contains(names[:i], name) { // each of which may commit
			return sqlerr.Unsupported("autocommit twice in one SET", "use two statements")
		}
		if !s.account.Administers() {
			if needed := neededToAssign(name, s.cfg.Dialect.MariaDB()); needed != "" {
				return sqlerr.SpecificAccessDenied.New(needed)
			}
		}
		switch name {
		case "insert_id", "sql_log_bin", "xa_detach_on_prepare", "gtid_next", "pseudo_thread_id", "pseudo_slave_mode", "pseudo_replica_mode",
			"gtid_domain_id", "server_id", "gtid_seq_no", "wsrep_gtid_seq_no", "wsrep_on":
			return sqlerr.Unsupported("SET "+name+", which is about one server and has no meaning for a cluster", "leave it out, as mysqldump --set-gtid-purged=OFF does")
		case "rand_seed1", "rand_seed2":
			return sqlerr.Unsupported("SET "+name+", from which each connection to a server would begin again", "write RAND(n) with a number")
		case "binlog_format", "binlog_row_image", "binlog_row_value_options", "binlog_direct_non_transactional_updates", "skip_replication",
			"immediate_server_version", "original_server_version", "original_commit_timestamp":
			return sqlerr.Unsupported("SET "+name, "leave it as the servers have it: the binary log is read where partitions are moved")
		}
	}
	return nil
}

// neededToAssign are the privileges that a server asks of whoever assigns a variable for a session; "": none.
func neededToAssign(name string, mariadb bool) string {
	switch {
	case name == "innodb_tmpdir":
		return "FILE"
	case !mariadb:
		return neededOnMySQL(name)
	}
	switch name {
	case "binlog_format", "binlog_row_image", "binlog_direct_non_transactional_updates", "binlog_annotate_row_events", "sql_log_bin":
		return "SUPER, BINLOG ADMIN"
	case "pseudo_thread_id", "server_id", "gtid_domain_id", "gtid_seq_no", "pseudo_slave_mode", "skip_replication":
		return "SUPER, BINLOG REPLAY"
	case "sql_log_off", "enforce_storage_engine", "log_disabled_statements", "wsrep_on", "wsrep_gtid_seq_no", "debug", "debug_dbug":
		return "SUPER"
	}
	return ""
}

func neededOnMySQL(name string) string {
	switch name {
	case "gtid_next", "immediate_server_version", "original_commit_timestamp", "original_server_version", "pseudo_replica_mode", "pseudo_slave_mode",
		"pseudo_thread_id":
		return "SUPER, SYSTEM_VARIABLES_ADMIN, SESSION_VARIABLES_ADMIN or REPLICATION_APPLIER"
	case "binlog_direct_non_transactional_updates", "binlog_format", "binlog_row_image", "binlog_row_value_options",
		"binlog_rows_query_log_events", "binlog_transaction_compression", "binlog_transaction_compression_level_zstd",
		"bulk_insert_buffer_size", "character_set_database", "character_set_filesystem", "collation_database", "connection_memory_chunk_size",
		"connection_memory_limit", "global_connection_memory_tracking", "histogram_generation_max_mem_size", "innodb_strict_mode",
		"internal_tmp_mem_storage_engine", "low_priority_updates", "max_delayed_threads", "max_error_count", "max_insert_delayed_threads",
		"min_examined_row_limit", "preload_buffer_size", "select_into_buffer_size", "select_into_disk_sync_delay",
		"sql_generate_invisible_primary_key", "sql_log_bin", "sql_log_off", "sql_require_primary_key", "xa_detach_on_prepare",
		"default_table_encryption", "debug":
		return "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN"
	}
	return ""
}

// takeOver makes what a was assigned on c part of the session's state.
func (s *Session) takeOver(c *backend.Conn, a assignments, refused bool) error {
	c.Dirty = true // until what it has now is known
	st, err := s.readBack(c, "SELECT 1", a.user, a.system)
	if err != nil {
		const noSession = 1238 // a variable that sessions have not
		if refused && sqlerr.HasCode(err, sqlerr.UnknownSystemVariable, noSession) && c.Usable() && s.holds(c) {
			c.Dirty = false // servers look up all names before they assign anything: there is one they do not know
		}
		if len(a.system) == 0 {
			s.assignBack(c, a.user)
		}
		return err
	}
	if slices.Contains(a.system, "timestamp") {
		_, rows, err := c.QueryAll("SELECT @@session.timestamp LIMIT 1", 1)
		if err != nil {
			return err
		}
		if v, _ := st.Get(timestampVariable); len(rows) == 1 && v != string(rows[0][0]) { // it goes with the clock again
			st = st.With(st.DB, backend.Variable{Name: timestampVariable, Value: "DEFAULT"})
		}
	}
	if slices.Contains(a.system, "last_insert_id") || slices.Contains(a.system, "identity") {
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
		if n == resultsCharset { // which the answer is in
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
		v := systemLiteral(cols[i], row[i])
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
		if v[0] != nil && !isText(v) {
			return nil, sqlerr.Unsupported("bytes that are no text of "+string(v[2])+" in a user variable", "write them as X'...', or _binary before the string")
		}
		set = append(set, backend.Variable{Name: "@" + sqltypes.QuoteName(n), Value: userLiteral(cols[4*i], v)})
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

// systemLiteral is the value of a system variable as it can be assigned.
func systemLiteral(col sqltypes.Column, v []byte) string {
	if v == nil {
		return "NULL"
	}
	if col.Type.IsNumber() {
		return string(v)
	}
	return sqltypes.Literal(string(v))
}

// userLiteral is the value of a user variable with its type: number, or string with character set and collation.
// row is the value, its HEX, CHARSET and COLLATION.
func userLiteral(col sqltypes.Column, row [][]byte) string {
	v := row[0]
	switch {
	case v == nil:
		return "NULL"
	case col.Type == sqltypes.TypeDouble || col.Type == sqltypes.TypeFloat:
		if bytes.ContainsAny(v, "eE") {
			return string(v)
		}
		return string(v) + "e0"
	case col.Type == sqltypes.TypeNewDecimal || col.Type == sqltypes.TypeDecimal:
		if bytes.IndexByte(v, '.') < 0 {
			return string(v) + "." // else it is an integer
		}
		return string(v)
	case col.Type.IsNumber() && col.Flags&sqltypes.FlagUnsigned != 0:
		return "CAST(" + string(v) + " AS UNSIGNED)"
	case col.Type.IsNumber():
		return string(v)
	case string(row[2]) == "binary":
		return "_binary x'" + string(row[1]) + "'"
	default:
		return "_" + string(row[2]) + " x'" + string(row[1]) + "' COLLATE " + string(row[3])
	}
}

// isText reports whether userLiteral is a literal that servers take: they look at its bytes, but not at those of strings that clients write
// in the character set of the connection. row is as for userLiteral.
func isText(row [][]byte) bool {
	charset := string(row[2])
	if charset != "utf8mb4" && charset != "utf8mb3" {
		return true // of no other character set of clients there are bytes that are none
	}
	text := make([]byte, hex.DecodedLen(len(row[1])))
	_, err := hex.Decode(text, row[1])
	return err == nil && utf8.Valid(text) && (charset == "utf8mb4" || !slices.ContainsFunc(text, func(c byte) bool { return c >= 0xF0 }))
}

// strict reports whether values that do not fit are errors to the client's statements.
func (s *Session) strict() bool { return strings.Contains(s.sqlMode, "STRICT_") }

// padded reports whether CHAR columns are read with the spaces behind their values.
func (s *Session) padded() bool { return strings.Contains(s.sqlMode, "PAD_CHAR_TO_FULL_LENGTH") }

// isOff reports whether a value that a boolean variable was set to means OFF; isOn is the same of ON. One that was not set is neither.
func isOff(value string) bool {
	return value == "0" || strings.EqualFold(strings.Trim(value, "'"), "OFF")
}

func isOn(value string) bool {
	return value == "1" || strings.EqualFold(strings.Trim(value, "'"), "ON")
}

// onlyValue is a variable of which Skarv takes one value only, and what to do in place of another.
type onlyValue struct{ name, value, how string }

func (s *Session) onlyValues() []onlyValue {
	const numbers = "leave it as 1: the cluster gives the numbers, to all who INSERT"
	only := []onlyValue{
		{"auto_increment_increment", "1", numbers},
		{"auto_increment_offset", "1", numbers},
		{"completion_type", "NO_CHAIN", "say AND CHAIN or RELEASE"},
		{"enable_cascade_triggers", "0", "leave it OFF: rows that foreign keys change on other node groups fire no triggers"},
		{"sql_auto_is_null", "0", "use LAST_INSERT_ID()"},
		{"sql_if_exists", "0", "say IF EXISTS in the statements"},
		{"sql_generate_invisible_primary_key", "0", "leave it out: tables without a primary key get a hidden one anyway"},
	}
	if s.conn.Capabilities().Has(wire.CapSessionTrack) { // else nobody is told anything
		only = append(only, onlyValue{"session_track_transaction_info", "OFF", "leave it OFF: the status in answers says whether a transaction is open"})
	}
	return only
}

// resultsCharset names the character set in which servers answer.
const resultsCharset = "character_set_results"

// mayBeRefused reports whether a value that a server has taken for one of the variables may be refused by adopt. The connection on which that
// comes out can be used no more.
func (s *Session) mayBeRefused(variables []string) bool {
	return slices.Contains(variables, "character_set_client") || slices.Contains(variables, resultsCharset) || slices.Contains(variables, "collation_connection") || slices.Contains(variables, "lc_messages") ||
		slices.ContainsFunc(s.onlyValues(), func(v onlyValue) bool { return slices.Contains(variables, v.name) })
}

// adopt makes st the session's state and derives from it what the session itself must know.
func (s *Session) adopt(st *backend.State) error {
	for _, refused := range s.onlyValues() {
		v, ok := st.Get("@@session." + sqltypes.QuoteName(refused.name))
		if ok && !strings.EqualFold(strings.Trim(v, "'"), refused.value) && !isOff(v) {
			return sqlerr.Unsupported("SET "+refused.name+" = "+v, refused.how)
		}
	}
	if v, ok := st.Get("@@session.`lc_messages`"); ok && !strings.HasPrefix(v, "'en_") {
		return sqlerr.Unsupported("SET lc_messages = "+v, "leave it as 'en_US': what servers say is read here, and told anew")
	}
	for _, name := range []string{"default_storage_engine", "storage_engine", "default_tmp_storage_engine"} {
		if v, ok := st.Get("@@session.`" + name + "`"); ok && v != "NULL" && !s.admin && !planner.LocalEngine(strings.Trim(v, "'")) {
			return sqlerr.SpecificAccessDenied.New("SUPER")
		}
	}
	client := "utf8mb4"
	if v, ok := st.Get("@@session.`character_set_client`"); ok {
		client = strings.Trim(v, "'")
	}
	switch client {
	case "utf8mb4", "utf8mb3", "utf8", "ascii", "binary",
		"latin1", "latin2", "latin5", "latin7", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866", "koi8r", "koi8u",
		"greek", "hebrew", "macce", "macroman", "keybcs2", "dec8", "hp8", "geostd8", "tis620", "armscii8":
		// ASCII in one byte, and no byte of another character reads as ASCII: the text can be scanned.
	default:
		return sqlerr.Unsupported("character set "+client+" of a client", "use utf8mb4")
	}
	if v, ok := st.Get("@@session.`collation_connection`"); ok && strings.HasPrefix(strings.Trim(v, "'"), "swe7_") { // alone it lacks some of ASCII
		return sqlerr.Unsupported("character set swe7 of a connection", "use utf8mb4")
	}
	s.foreignCharset = client != "utf8mb4" && client != "utf8mb3" && client != "utf8" && client != "ascii"
	s.foreignLiterals = s.foreignCharset || client == "ascii"
	if v, ok := st.Get("@@session.`collation_connection`"); ok {
		charset := sqltypes.CharsetOf(strings.Trim(v, "'"))
		s.foreignLiterals = s.foreignLiterals || charset != "utf8mb4" && charset != client && (client == "utf8mb4" || charset != "utf8" && charset != "utf8mb3")
	}
	connection, known := st.Get("@@session.`collation_connection`")
	switch s.strings = 0; {
	case s.foreignLiterals && sqltypes.CharsetOf(strings.Trim(connection, "'")) == client:
		s.strings = placement.ForeignBytes
	case s.foreignLiterals:
		s.strings = placement.ForeignCharset
	}
	unicode := !known || strings.HasPrefix(strings.Trim(connection, "'"), "utf8mb4_")
	v, _ := st.Get("@@session.`autocommit`")
	s.autocommit = !isOff(v)
	v, _ = st.Get("@@session.`sql_mode`")
	mode := strings.Trim(v, "'")
	s.sqlMode = mode
	s.mode = sqlparse.ParseMode(mode)
	results := "utf8mb4"
	if v, ok := st.Get("@@session.`" + resultsCharset + "`"); ok {
		results = strings.Trim(v, "'")
	}
	switch results {
	case "utf16", "utf16le", "utf32", "ucs2": // what servers say besides of rows is read here
		return sqlerr.Unsupported("character set "+results+" of results", "use utf8mb4")
	}
	s.allUTF8 = client == "utf8mb4" && results == "utf8mb4" && unicode
	s.info = planner.SessionInfo{
		ForValue:          s.info.ForValue, // which is the statement's
		Mode:              s.mode,
		NoAutoValueOnZero: strings.Contains(strings.ToUpper(mode), "NO_AUTO_VALUE_ON_ZERO"),
		Strict:            s.strict(),
		NoZeroDates:       strings.Contains(strings.ToUpper(mode), "NO_ZERO_"),
		FullGroups:        strings.Contains(strings.ToUpper(mode), "ONLY_FULL_GROUP_BY"),
		UTF8Results:       results == "utf8mb4",
		Collation:         s.ownCollation(),
	}
	if known {
		s.info.Collation = strings.Trim(connection, "'")
	}
	s.charsets = charsets{client, s.info.Collation}
	v, _ = st.Get("@@session.`foreign_key_checks`")
	s.info.Unchecked = isOff(v)
	v, _ = st.Get("@@session.`sql_safe_updates`")
	s.info.SafeUpdates = isOn(v)
	s.info.DivisionDigits, _ = st.Get("@@session.`div_precision_increment`")
	zone, _ := st.Get("@@session.`time_zone`")
	s.info.HoursTwice = hoursTwice(strings.Trim(zone, "'"))
	st = s.takeHeld(st)
	clock, fixed := st.Get(timestampVariable)
	s.fixedClock = fixed && clock != "DEFAULT"
	sorted, _ := st.Get("@@session.`max_sort_length`")
	s.sortLength, _ = strconv.Atoi(sorted)
	s.state = st
	return nil
}

// hoursTwice reports whether a session's time zone is one that may have hours twice: neither the servers' own (""), nor an offset, nor UTC.
func hoursTwice(zone string) bool {
	return zone != "" && zone[0] != '+' && zone[0] != '-' && !strings.EqualFold(zone, "DEFAULT") && !strings.EqualFold(zone, "UTC")
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
