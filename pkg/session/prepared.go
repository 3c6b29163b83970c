package session

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/paramtype"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/rowset"
	"skarv/pkg/sequencecall"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// prepared is a statement the client has prepared. On the backends it is prepared again on each connection that comes
// to run it (backend.Conn.Statement).
type prepared struct {
	id      uint32
	sql     []byte
	hash    uint64
	stmt    *sqlparse.Statement // of sql
	db      string              // default database it was prepared in
	params  int
	types   []wire.ParamType // of the last execution
	long    [][]byte         // COM_STMT_SEND_LONG_DATA, by parameter; nil for none
	longest int              // bytes in long
	tooLong bool             // more came than is kept
	astray  bool             // some came for a parameter that there is not, since the last reset
	cursor  *cursor
	// sqlMode and charsets are those in which it was scanned.
	sqlMode  string
	charsets variable.Charsets
	running  bool // by EXECUTE
	// paramTypes are kept on MySQL.
	paramTypes paramtype.Kept
}

func (s *Session) stmtPrepare(text []byte) error {
	st, d, err := s.compile(text)
	if err != nil {
		s.statements.last = nil
		defer s.use(s.cfg.Dialect.NewStatement())() // the error is not that of the statement before
		return s.fail(err)
	}
	s.statements.add(st)
	var head wire.PrepareOK
	head.ID, head.Params, head.Columns = st.id, uint16(len(d.params)), uint16(len(d.columns))
	c := s.conn
	if err := c.EndPacket(wire.AppendPrepareOK(c.BeginPacket(), head)); err != nil {
		return err
	}
	for _, list := range [][]sqltypes.Column{d.params, d.columns} {
		for i := range list {
			if err := c.EndPacket(wire.AppendColumn(c.BeginPacket(), &list[i], c.Capabilities())); err != nil {
				return err
			}
		}
		if len(list) > 0 {
			if err := c.WriteEOF(wire.EOF{Status: s.status()}); err != nil {
				return err
			}
		}
	}
	return nil
}

// remark reports whether st is nothing but a comment.
func (st *prepared) remark() bool {
	return st.stmt.Kind() == sqlparse.Empty && len(bytes.TrimSpace(st.stmt.SQL())) > 0
}

// described is what a client is told of a statement that it prepares.
type described struct {
	params, columns []sqltypes.Column
	fromServer      bool
}

// compile makes a prepared statement of text, after a server has looked at it where one can. The session does not keep it
// yet.
func (s *Session) compile(text []byte) (*prepared, described, error) {
	st, err := s.scanPrepared(text)
	if err != nil {
		return nil, described{}, err
	}
	d, err := s.describe(st)
	if !s.cfg.Dialect.MariaDB() && d.fromServer {
		st.paramTypes = paramtype.Learn(st.stmt, d.params)
	}
	return st, d, err
}

// scanPrepared is compile without the server. A session has only so many of them.
func (s *Session) scanPrepared(text []byte) (*prepared, error) {
	if err := s.statements.admit(len(text), s.cfg.MaxStatements); err != nil {
		return nil, err
	}
	st := &prepared{sql: append([]byte(nil), text...), db: s.db, stmt: s.cfg.Dialect.NewStatement(), sqlMode: s.SQLMode, charsets: s.Charsets}
	if err := st.stmt.Scan(st.sql, s.Mode); err != nil {
		return nil, err
	}
	if st.stmt.Rest() != nil {
		if err := notFollowed(st.stmt, false); err != nil {
			return nil, err
		}
	}
	if st.stmt.NumParams() > 0 && definesView(st.stmt) {
		return nil, sqlerr.ViewWithParameter.New()
	}
	if st.remark() && !s.cfg.Dialect.MariaDB() || textOnly(st.stmt, s.cfg.Dialect.MariaDB()) {
		return nil, sqlerr.NotPreparable.New()
	}
	if st.stmt.NumParams() > math.MaxUint16 {
		return nil, sqlerr.TooManyParameters.New()
	}
	if !s.cfg.Dialect.MariaDB() && sortsGroupByParameter(st.stmt) {
		return nil, sqlerr.Unsupported("a parameter that GROUP_CONCAT sorts by",
			"leave it out: MySQL counts such a parameter and does not describe it, so that who prepares the statement waits for more")
	}
	st.sql = st.stmt.SQL()
	st.hash = s.cfg.Hasher.Hash(st.sql)
	st.params = st.stmt.NumParams()
	return st, nil
}

// definesView recognises CREATE VIEW and ALTER VIEW.
func definesView(st *sqlparse.Statement) bool {
	tokens := st.Tokens()
	if first := tokens.Next(); !st.Is(first, "CREATE") && !st.Is(first, "ALTER") {
		return false
	}
	for {
		switch t := tokens.Next(); {
		case st.Is(t, "VIEW"):
			return true
		case t.Kind == sqlparse.EOF, st.Is(t, "AS"), st.Is(t, "("), st.Is(t, "TABLE"), st.Is(t, "SELECT"):
			return false
		}
	}
}

// describe says what st takes and returns: a server tells, where one can.
func (s *Session) describe(st *prepared) (d described, err error) {
	if st.remark() {
		return d, nil
	}
	if err := s.served(); err != nil {
		return d, err
	}
	defer s.use(st.stmt)()
	if err := s.misread(); err != nil {
		return d, err
	}
	if s.isSetStatement(st.stmt) {
		return s.describeInside(st)
	}
	sql := st.sql // what a server is asked about
	if st.stmt.Uses()&sqlparse.Sequence != 0 {
		shown := s.cfg.Dialect.NewStatement()
		defer shown.Done()
		calls, err := s.sequenceCalls()
		if err != nil {
			return d, err
		}
		if len(calls) > 0 {
			if err := shown.Scan(sequencecall.AnyText(s.stmt, calls), s.Mode); err != nil {
				return d, err
			}
			s.stmt, sql = shown, bytes.Clone(shown.SQL())
		}
	}
	p, err := s.plan()
	if sqlerr.HasCode(err, sqlerr.NoSuchTable) {
		if st.stmt.Kind() == sqlparse.LockTables {
			return d, nil // it may be a sequence
		}
		if c, lost := s.readsSequence(); lost != nil {
			return d, lost
		} else if c != nil {
			return s.describeOn(c, sql)
		}
	}
	if s.endsBefore(err) {
		return described{params: s.anyParams(st.params)}, nil // it is said when it is executed
	}
	if err != nil {
		return d, err
	}
	if err := s.authorise(p); err != nil {
		return d, err
	}
	if p.Refuse != nil {
		if err := s.withheld(p.Refuse); err != p.Refuse {
			return d, err
		}
	}
	switch {
	case s.describable(p):
		c, err := s.preparing(s.groupOf(p))
		if err != nil {
			return d, err
		}
		s.prepares(c)
		if d, err = s.describeOn(c, sql); err != nil {
			return d, err
		}
	case p.Judge:
		return d, s.refuse(p)
	default:
		if p.Kind == plan.Compound {
			if fault := s.faultAsRead(s.anyGroup()); fault != nil {
				return d, fault
			}
		}
		if p.Kind == plan.Set && st.params > 0 && !s.cfg.Dialect.MariaDB() {
			// What is wrong with it is said when it is executed.
			if c, err := s.preparing(s.anyGroup()); err == nil {
				if d, err = s.describeOn(c, sql); err == nil {
					break
				}
			}
		}
		d.params = s.anyParams(st.params)
		if p.Kind == plan.Explain && s.cfg.Dialect.MariaDB() { // MySQL tells them when it runs
			d.columns = rowset.New(explainColumn).ColumnsOf(s.cfg.Dialect.MariaDB())
		}
	}
	if len(d.params) != st.params {
		return d, sqlerr.Unsupported("preparing this statement: its parameters were counted differently by the server", "run it as text")
	}
	return d, nil
}

// anyParams describes n parameters of which nothing is known, as MariaDB describes all.
func (s *Session) anyParams(n int) []sqltypes.Column {
	t := sqltypes.TypeVarString
	if s.cfg.Dialect.MariaDB() {
		t = sqltypes.TypeNull
	}
	return slices.Repeat([]sqltypes.Column{{Name: "?", Charset: 63, Type: t, Flags: sqltypes.FlagBinary}}, n)
}

// describeOn prepares sql on c, and gives c back.
func (s *Session) describeOn(c *backend.Conn, sql []byte) (d described, err error) {
	revision := s.revision()
	prepare := func(sql []byte, hash uint64) (*backend.Prepared, error) { return c.Describe(sql, hash, revision) }
	if s.statements.hasCursor(c) {
		prepare = func(sql []byte, hash uint64) (*backend.Prepared, error) { return c.Statement(sql, hash, nil, revision) } // which may be open
	}
	b, err := prepare(sql, s.cfg.Hasher.Hash(sql))
	if err == nil {
		d = described{b.Params, b.Columns, true}
	}
	s.done(c, err)
	if err != nil {
		return d, txn.Lost(c, err)
	}
	return d, nil
}

// preparing returns a connection to g on which to have a statement described: beside the transaction, and one that may write as that
// may, for a server that may not refuses to describe what writes.
func (s *Session) preparing(g placement.NodeGroupID) (*backend.Conn, error) {
	if s.tx == nil || s.temps != nil || s.tx.ReadOnly == s.readOnly() {
		return s.aside(g)
	}
	value := "0"
	if s.tx.ReadOnly {
		value = "1"
	}
	return s.cfg.Pools.Get(g, s.profile, s.stateReadOnly(value), nil, s.claim())
}

// sortsGroupByParameter reports whether the ORDER BY of a GROUP_CONCAT has an item that is a parameter and nothing else.
func sortsGroupByParameter(st *sqlparse.Statement) bool {
	type level struct{ group, items bool } // of parentheses: those of GROUP_CONCAT, and whether its ORDER BY has begun
	stack := make([]level, 1, 8)
	first, group := false, false // an item begins here; the word before is GROUP_CONCAT
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		top := &stack[len(stack)-1]
		was := group
		group = st.Is(tok, "GROUP_CONCAT")
		switch {
		case st.Is(tok, "("):
			stack = append(stack, level{group: was, items: first})
		case st.Is(tok, ")"):
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
			first = false
		case top.group && st.Is(tok, "BY"):
			top.items, first = true, true
		case st.Is(tok, ","):
			first = top.items
		case first && tok.Kind == sqlparse.Param:
			rest := tokens
			next := rest.Next()
			if st.Is(next, ",") || st.Is(next, ")") || st.Is(next, "ASC") || st.Is(next, "DESC") || st.Is(next, "SEPARATOR") {
				return true
			}
			first = false
		default:
			first = false
		}
	}
	return false
}

// textOnly reports whether the servers run a statement as text only.
func textOnly(st *sqlparse.Statement, mariadb bool) bool {
	switch st.Kind() {
	case sqlparse.Prepare, sqlparse.Execute, sqlparse.Deallocate:
		return true
	case sqlparse.Drop:
		if what := st.Words(); what.Take("DROP", "PREPARE") {
			return true
		}
	case sqlparse.Other:
		tokens := st.Tokens()
		if st.Is(tokens.Next(), "HELP") {
			return true
		}
	}
	return !mariadb && textOnlyOnMySQL(st)
}

// textOnlyOnMySQL reports whether MySQL, unlike MariaDB, runs a statement as text only.
func textOnlyOnMySQL(st *sqlparse.Statement) bool {
	switch st.Kind() {
	case sqlparse.Use, sqlparse.Begin, sqlparse.Savepoint, sqlparse.Release, sqlparse.LockTables, sqlparse.UnlockTables:
		return true
	case sqlparse.Account:
		what := st.Words()
		return what.Take("CREATE", "ROLE") || what.Take("DROP", "ROLE")
	case sqlparse.TableAdmin:
		tokens := st.Tokens()
		return st.Is(tokens.Next(), "CHECK")
	case sqlparse.Create, sqlparse.Drop, sqlparse.Alter:
		tokens := st.Tokens()
		if definesProgram(st) {
			return true
		}
		if st.Kind() == sqlparse.Drop {
			what := st.Words()
			if what.Take("DROP", "PROCEDURE") || what.Take("DROP", "FUNCTION") {
				return true
			}
		}
		for tok := tokens.Next(); tok.Kind != sqlparse.EOF && !st.Is(tok, "TABLE") && !st.Is(tok, "EVENT"); tok = tokens.Next() {
			if st.Is(tok, "VIEW") {
				return st.Kind() == sqlparse.Alter
			}
		}
	case sqlparse.Other:
		tokens := st.Tokens()
		first := tokens.Next()
		return st.Is(first, "GET") || st.Is(first, "SIGNAL") || st.Is(first, "RESIGNAL") || st.Is(first, "HELP")
	case sqlparse.Rollback, sqlparse.Show: // ROLLBACK TO, SHOW WARNINGS
		tokens := st.Tokens()
		tokens.Next()
		for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
			if st.Is(tok, "TO") || st.Is(tok, "WARNINGS") || st.Is(tok, "ERRORS") {
				return true
			}
		}
	}
	return false
}

// definesProgram reports whether a CREATE, ALTER or DROP is of a stored program that is no event.
func definesProgram(st *sqlparse.Statement) bool {
	const longest = 16 // words before the one that says so, a DEFINER among them
	tokens := st.Tokens()
	for range longest {
		tok := tokens.Next()
		switch {
		case st.Is(tok, "FUNCTION"), st.Is(tok, "PROCEDURE"), st.Is(tok, "TRIGGER"):
			return true
		case st.Is(tok, "EVENT"), st.Is(tok, "TABLE"), st.Is(tok, "VIEW"), st.Is(tok, "INDEX"), st.Is(tok, "DATABASE"), st.Is(tok, "SCHEMA"), tok.Kind == sqlparse.EOF:
			return false
		}
	}
	return false
}

// describable reports whether a backend can tell the parameters and columns of a statement.
func (s *Session) describable(p *plan.Plan) bool {
	switch p.Kind {
	case plan.Select, plan.Insert, plan.Replace, plan.Update, plan.Delete:
		return p.Topic != plan.ShowSkarv
	case plan.Show:
		return p.Relay != nil
	}
	return false
}

// groupOf is the node group that can tell about a statement's tables: any, but for tables and sequences kept on one.
func (s *Session) groupOf(p *plan.Plan) placement.NodeGroupID {
	if s.stmt.Uses()&sqlparse.Sequence != 0 {
		return s.sequenceGroup()
	}
	var tables []*catalog.Table
	if p.Relay != nil {
		if p.Relay.Target.Kind == plan.OneGroup {
			return p.Relay.Target.Group
		}
		tables = p.Relay.Tables
	}
	switch n := p.Root.(type) {
	case *plan.InsertRows:
		tables = append(tables[:len(tables):len(tables)], n.Table)
	case *plan.RowByRow:
		tables = n.Tables
	}
	if s.temps != nil && slices.ContainsFunc(tables, func(t *catalog.Table) bool { return t.Temporary != "" }) {
		return s.temps.conn.Group // the others are there, too, if without rows
	}
	for _, t := range tables {
		if t.Kind == catalog.Single {
			return t.Group
		}
	}
	return s.anyGroup()
}

// use makes st the statement at hand until the returned function is called.
func (s *Session) use(st *sqlparse.Statement) func() {
	was := s.stmt
	s.stmt = st
	return func() { s.stmt = was }
}

// lastPrepared is, on MariaDB, in place of an id the last statement that was prepared: who prepares need not wait for the answer.
const lastPrepared = math.MaxUint32

func (s *Session) statementByID(payload []byte, command string) (*prepared, error) {
	id, ok := wire.ExecuteStatementID(payload)
	if !ok {
		return nil, sqlerr.MalformedPacket.New()
	}
	st := s.statements.byID[id]
	if id == lastPrepared && s.cfg.Dialect.MariaDB() {
		st = s.statements.last
	}
	if st == nil {
		if !s.cfg.Dialect.MariaDB() {
			command = "mysql_stmt_precheck" // of all commands
		}
		return nil, sqlerr.UnknownStatement.New(strconv.FormatUint(uint64(id), 10), command)
	}
	return st, nil
}

func (s *Session) stmtExecute(payload []byte) error {
	s.binary, s.more = true, false
	st, err := s.statementByID(payload, "mysqld_stmt_execute")
	if err != nil {
		return s.fail(err)
	}
	s.closeCursor(st)
	if st.astray {
		if s.cfg.Dialect.MariaDB() {
			return s.fail(sqlerr.WrongArguments.New("mysqld_stmt_send_long_data"))
		}
		return s.fail(sqlerr.WrongArguments.New("mysql_stmt_precheck"))
	}
	if st.tooLong {
		s.statements.dropLong(st)
		return s.fail(sqlerr.PacketTooLarge.New())
	}
	if err := s.params.Parse(payload, st.params, st.types, st.long); err != nil {
		if s.cfg.Dialect.MariaDB() {
			s.statements.dropLong(st)
			return s.fail(sqlerr.WrongArguments.New("mysqld_stmt_execute"))
		}
		return s.fail(sqlerr.MalformedPacket.New())
	}
	if s.params.NewTypes {
		st.types = append(st.types[:0], s.params.Types()...)
	}
	if s.settled, err = st.paramTypes.Settle(&s.params); err != nil {
		return s.fail(err)
	}
	if err := s.readsAlike(st); err != nil {
		return s.fail(err)
	}
	s.current = st
	was := s.stmt
	s.stmt = st.stmt
	back := s.asPrepared(st)
	err = s.statement(request{wire.ComStmtExecute, s.conn.Request(), &s.params})
	back()
	if err != nil {
		err = s.fail(err)
	}
	s.stmt, s.current = was, nil
	s.statements.dropLong(st)
	return err
}

// asPrepared makes the statement mean what it meant when it was prepared, whatever default database and ways to read
// text the session has chosen since, until the returned function is called.
func (s *Session) asPrepared(st *prepared) (back func()) {
	back = func() {}
	if st.db != s.db && st.db != "" {
		db := s.db
		s.db = st.db
		s.followDB()
		back = func() {
			if s.db == st.db { // no USE
				s.db = db
				s.followDB()
			}
		}
	}
	if st.stmt.Mode() != s.Mode && (st.stmt.Kind() != sqlparse.Set || s.isSetStatement(st.stmt)) {
		const name = "@@session.`sql_mode`"
		restoreDB, mode := back, sqltypes.Literal(s.SQLMode)
		_ = s.adopt(s.state.With(s.state.DB, backend.Variable{Name: name, Value: sqltypes.Literal(modeAsPrepared(st.sqlMode, s.SQLMode))}))
		back = func() {
			restoreDB()
			_ = s.adopt(s.state.With(s.state.DB, backend.Variable{Name: name, Value: mode}))
		}
	}
	return back
}

// modeAsPrepared is the sql_mode now, but for how text is read: that is as it was when the statement was prepared.
func modeAsPrepared(then, now string) string {
	modes := strings.FieldsFunc(now, isComma)
	modes = slices.DeleteFunc(modes, readsText)
	for m := range strings.FieldsFuncSeq(then, isComma) {
		if readsText(m) {
			modes = append(modes, m)
		}
	}
	return strings.Join(modes, ",")
}

func isComma(r rune) bool { return r == ',' }

// readsText reports whether a part of sql_mode is about how the text of a statement is read, or stands for several, such among them.
func readsText(mode string) bool {
	switch strings.ToUpper(mode) {
	case "REAL_AS_FLOAT", "ANSI", "MSSQL", "DB2", "MAXDB", "POSTGRESQL":
		return true
	}
	return sqlparse.ParseMode(mode) != 0
}

// revision is that of the schema by which statements are prepared on servers; 0: temporary tables change without it.
func (s *Session) revision() int64 {
	if s.temps != nil {
		return 0
	}
	return s.snap.SchemaRevision
}

// readsAlike refuses to execute a statement whose strings would be others than when it was prepared: servers read them then.
func (s *Session) readsAlike(st *prepared) error {
	if st.charsets == s.Charsets {
		return nil
	}
	tokens := st.stmt.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if tok.Kind == sqlparse.StringLit {
			return sqlerr.Unsupported("executing a statement with strings that was prepared with another character set or collation of the connection",
				"PREPARE it again")
		}
	}
	return nil
}

// longPart is how many bytes of a parameter that the client has sent by COM_STMT_SEND_LONG_DATA are passed on at once: a server takes none
// that are longer than its max_allowed_packet with what stands before them.
const longPart = 1 << 20

// bind makes the client's COM_STMT_EXECUTE packet one for connection c: the statement's id there, and the types of the
// parameters when c's server last saw others. The packet is changed in place where that is possible.
func (s *Session) bind(c *backend.Conn, packets []byte) ([]byte, error) {
	st := s.current
	if changesRows(st.stmt) {
		wire.LeaveOutCursor(packets) // MariaDB dies of one for DELETE ... RETURNING
	}
	hash := st.hash
	if wire.AsksForCursor(packets) {
		hash = ^hash // MySQL sends no rows when it executes without a cursor what it has executed with one
	}
	b, err := c.Statement(st.sql, hash, s.givenTypes(), s.revision())
	if err != nil {
		return nil, err
	}
	s.bound, s.steady = b.ID, b.Steady(st.types)
	if s.settled {
		return s.rebind(b, packets), nil
	}
	for i, data := range st.long {
		if data == nil {
			continue
		}
		head := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint32(nil, b.ID), uint16(i))
		for first := true; first || len(data) > 0; first = false {
			n := min(len(data), longPart)
			if err := c.Send(wire.ComStmtSendLongData, slices.Concat(head, data[:n])); err != nil {
				return nil, err
			}
			data = data[n:]
		}
	}
	if !s.params.NewTypes && !b.SameTypes(st.types) {
		packets = s.insertTypes(packets, st)
	}
	b.BoundTypes = append(b.BoundTypes[:0], st.types...)
	wire.SetStatement(packets, b.ID)
	return packets, nil
}

// changesRows reports whether st is an INSERT, REPLACE, UPDATE or DELETE.
func changesRows(st *sqlparse.Statement) bool {
	switch st.Kind() {
	case sqlparse.Insert, sqlparse.Replace, sqlparse.Update, sqlparse.Delete:
		return true
	}
	return false
}

// givenTypes are those of the values at hand that MySQL prepares a statement for; nil on MariaDB.
func (s *Session) givenTypes() []wire.ParamType {
	if s.cfg.Dialect.MariaDB() {
		return nil
	}
	s.given = s.given[:0]
	for i := range s.current.params {
		s.given = append(s.given, s.params.Given(i))
	}
	return s.given
}

// rebind is bind where values are not what the client has sent.
func (s *Session) rebind(b *backend.Prepared, packets []byte) []byte {
	which := make([]int, s.current.params)
	for i := range which {
		which[i] = i
	}
	const flags = wire.HeaderLen + 1 + 4
	p := s.params.AppendExecute([]byte{byte(wire.ComStmtExecute)}, b.ID, which)
	p[flags-wire.HeaderLen] = packets[flags]
	b.BoundTypes = b.BoundTypes[:0]
	var seq byte
	s.packet = wire.AppendPacket(s.packet[:0], &seq, p)
	return s.packet
}

// insertTypes returns packets with the parameter types the client did not repeat.
func (s *Session) insertTypes(packets []byte, st *prepared) []byte {
	at := wire.HeaderLen + 1 + 9 + (st.params+7)/8 // header, command, fixed part, NULL bits
	body := packets[wire.HeaderLen:]
	if len(body) >= wire.MaxPacket {
		body = joined(packets)
	}
	at -= wire.HeaderLen
	p := append([]byte(nil), body[:at]...)
	p = append(p, 1)
	for _, t := range st.types {
		unsigned := byte(0)
		if t.Unsigned {
			unsigned = 0x80
		}
		p = append(p, byte(t.Type), unsigned)
	}
	p = append(p, body[at+1:]...)
	var seq byte
	s.packet = wire.AppendPacket(s.packet[:0], &seq, p)
	return s.packet
}

// joined is the payload of a command that came in several packets.
func joined(packets []byte) (payload []byte) {
	for len(packets) >= wire.HeaderLen {
		n, _ := wire.Header(packets)
		payload = append(payload, packets[wire.HeaderLen:wire.HeaderLen+n]...)
		packets = packets[wire.HeaderLen+n:]
	}
	return payload
}

func (s *Session) sendLongData(payload []byte) error {
	st, err := s.statementByID(payload, "mysqld_stmt_send_long_data")
	if err != nil || len(payload) < 6 {
		return nil // the command has no answer
	}
	i := int(binary.LittleEndian.Uint16(payload[4:]))
	if i >= st.params {
		st.astray = true
		return nil
	}
	s.statements.addLong(st, i, payload[6:]) // if it is too much the execution will say so
	return nil
}

func (s *Session) stmtClose(payload []byte) error {
	if st, err := s.statementByID(payload, ""); err == nil {
		s.forget(st)
	}
	return nil
}

func (s *Session) forget(st *prepared) {
	s.closeCursor(st)
	s.statements.remove(st)
}

func (s *Session) stmtReset(payload []byte) error {
	s.more = false
	st, err := s.statementByID(payload, "mysqld_stmt_reset")
	if err != nil {
		return s.fail(err)
	}
	s.closeCursor(st)
	s.statements.dropLong(st)
	st.astray = false
	return s.ok(wire.OK{})
}

// closeStatements forgets all prepared statements.
func (s *Session) closeStatements() {
	for _, st := range s.statements.byID {
		s.forget(st)
	}
	for name := range s.statements.byName {
		s.statements.removeNamed(name)
	}
}
