package session

import (
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
)

// Sequences, which MariaDB has, are on one server, that of the node group with the lowest id: what makes, changes, drops and shows them
// runs there alone, and the catalog does not know them. It counts for the whole cluster. The values that a statement asks for are fetched
// before it is planned, and stand in the place of the calls then: so rows are placed by them as by any others. That is right
// where a call is computed once; elsewhere it is refused. LASTVAL() is the session's, whatever connections it has.

// sequenceGroup is the node group that has the sequences.
func (s *Session) sequenceGroup() placement.NodeGroupID { return s.snap.Groups[0].ID }

// sequenceCall asks for a value of a sequence: NEXTVAL(s), LASTVAL(s), SETVAL(s, ...), NEXT VALUE FOR s, PREVIOUS VALUE FOR s.
type sequenceCall struct {
	sqlparse.Span
	function string // NEXTVAL, LASTVAL or SETVAL
	db, name string
	args     sqlparse.Span // of SETVAL, behind the name
}

// sequenceName names a sequence, as the catalog spells names.
type sequenceName struct{ db, name string }

func (c *sequenceCall) key() sequenceName { return sequenceName{c.db, c.name} }

// sequenceCalls finds the calls in the statement at hand; none, if they are not such as can be replaced. The session may make them.
func (s *Session) sequenceCalls() ([]sequenceCall, error) {
	if !s.cfg.Dialect.MariaDB() {
		return nil, nil
	}
	switch s.stmt.Kind() {
	case sqlparse.Set:
		if s.isSetStatement(s.stmt) {
			return nil, nil // the statement inside has its turn
		}
	case sqlparse.Select, sqlparse.Insert, sqlparse.Replace, sqlparse.Do:
	default:
		return nil, nil
	}
	calls, err := s.findSequenceCalls()
	if err != nil || len(calls) == 0 || !s.calledOnce(calls) {
		return nil, err
	}
	if s.locks != nil {
		return nil, sqlerr.Unsupported("sequences under LOCK TABLES", "UNLOCK TABLES first")
	}
	for i := range calls {
		need := catalog.MaySelect | catalog.MayInsert
		switch calls[i].function {
		case "LASTVAL":
			need = catalog.MaySelect
		case "SETVAL":
			need = catalog.MayInsert
		}
		if err := s.check(calls[i].db, calls[i].name, need); err != nil {
			return nil, err
		}
	}
	return calls, nil
}

func (s *Session) findSequenceCalls() (list []sequenceCall, err error) {
	stmt := s.stmt
	tokens := stmt.Tokens()
	var prev sqlparse.Token
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; prev, tok = tok, tokens.Next() {
		if tok.Kind != sqlparse.Word || stmt.Is(prev, ".") || stmt.Is(prev, "INTO") || stmt.Is(prev, "INSERT") || stmt.Is(prev, "REPLACE") ||
			stmt.Is(prev, "IGNORE") {
			continue // the name of a table perhaps
		}
		ahead := tokens
		call := sequenceCall{Span: tok.Span}
		switch {
		case stmt.Is(tok, "NEXTVAL"), stmt.Is(tok, "LASTVAL"), stmt.Is(tok, "SETVAL"):
			if !stmt.Is(ahead.Next(), "(") {
				continue
			}
			call.function = strings.ToUpper(string(stmt.Text(tok.Span)))
		case stmt.Is(tok, "NEXT"), stmt.Is(tok, "PREVIOUS"):
			if !stmt.Is(ahead.Next(), "VALUE") || !stmt.Is(ahead.Next(), "FOR") {
				continue
			}
			call.function = "NEXTVAL"
			if stmt.Is(tok, "PREVIOUS") {
				call.function = "LASTVAL"
			}
		default:
			continue
		}
		words := !stmt.Is(tok, call.function)
		last, ok := s.sequenceName(&call, &ahead)
		if ok && !words {
			last, ok = s.sequenceArguments(&call, &ahead)
		}
		if !ok {
			return nil, nil // a server says what is wrong
		}
		call.End = last.End
		if call.db == "" {
			return nil, sqlerr.NoDatabase.New()
		}
		list = append(list, call)
		tokens, tok = ahead, last
	}
	return list, nil
}

// sequenceName reads the name of a sequence; last is its last token.
func (s *Session) sequenceName(c *sequenceCall, tokens *sqlparse.Tokens) (last sqlparse.Token, ok bool) {
	name := func() bool {
		last = tokens.Next()
		if last.Kind != sqlparse.Word && last.Kind != sqlparse.QuotedName {
			return false
		}
		c.name = string(s.stmt.AppendName(nil, last))
		return true
	}
	if !name() {
		return last, false
	}
	c.db = s.db
	if ahead := *tokens; s.stmt.Is(ahead.Next(), ".") {
		c.db, *tokens = c.name, ahead
		if !name() {
			return last, false
		}
	}
	if s.snap.LowerCaseTableNames != 0 {
		c.db, c.name = strings.ToLower(c.db), strings.ToLower(c.name)
	}
	return last, true
}

// sequenceArguments reads what stands behind the name, up to the closing parenthesis, which it returns.
func (s *Session) sequenceArguments(c *sequenceCall, tokens *sqlparse.Tokens) (last sqlparse.Token, ok bool) {
	last = tokens.Next()
	if c.function != "SETVAL" {
		return last, s.stmt.Is(last, ")")
	}
	if !s.stmt.Is(last, ",") {
		return last, false
	}
	c.args.Start = last.End
	for within := last.Depth; ; {
		switch last = tokens.Next(); {
		case last.Kind == sqlparse.EOF || last.Kind == sqlparse.Param:
			return last, false
		case last.Depth < within:
			c.args.End = last.Start
			return last, true
		}
	}
}

// calledOnce reports whether calls, all of the statement at hand, are computed once each: it has no tables to read, and no queries in it.
func (s *Session) calledOnce(calls []sequenceCall) bool {
	stmt := s.stmt
	end, selects := len(stmt.SQL()), 0
	switch stmt.Kind() {
	case sqlparse.Insert, sqlparse.Replace:
		text, ok := stmt.InsertText()
		if !ok || text.Query {
			return false
		}
		if text.OnDuplicate >= 0 {
			end = text.OnDuplicate
		}
		if at, ok := stmt.ReturningAt(); ok {
			end = min(end, at)
		}
	case sqlparse.Select:
		if limit, ok := s.selectLimit(); ok && limit == 0 {
			return false
		}
		selects = 1
	case sqlparse.Set, sqlparse.Do:
	default:
		return false
	}
	if calls[len(calls)-1].End > end {
		return false
	}
	var prev sqlparse.Token
	tokens := stmt.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF && tok.Start < end; prev, tok = tok, tokens.Next() {
		if tok.Kind != sqlparse.Word || stmt.Is(prev, ".") {
			continue
		}
		switch strings.ToUpper(string(stmt.Text(tok.Span))) {
		case "SELECT":
			if selects--; selects < 0 {
				return false
			}
		case "FROM":
			if ahead := tokens; !stmt.Is(ahead.Next(), "DUAL") {
				return false
			}
		case "WHERE", "HAVING", "GROUP", "ORDER", "LIMIT", "OFFSET", "FETCH", "UNION", "EXCEPT", "INTERSECT", "WITH", "TABLE", "WINDOW", "PROCEDURE":
			return false
		}
	}
	return true
}

// withSequences scans the statement at hand into st, with values in the places of the calls that ask for them. It returns false, and fetches
// nothing, where there are none such as can be replaced. A statement that cannot be planned takes no values, as on one server.
func (s *Session) withSequences(st *sqlparse.Statement) (found bool, err error) {
	calls, err := s.sequenceCalls()
	if err != nil || len(calls) == 0 {
		return false, err
	}
	for i := range calls {
		if calls[i].function != "LASTVAL" && s.tx != nil && s.tx.ReadOnly {
			return false, s.readOnlyTransaction()
		}
	}
	if err := s.plansWith(st, withSequenceValues(s.stmt, calls, nil)); err != nil {
		return false, err
	}
	var values []string
	s.conn.Task().Blocking(func() { values, err = s.fetchSequences(calls) })
	if err != nil {
		return false, err
	}
	return true, st.Scan(withSequenceValues(s.stmt, calls, values), s.Mode)
}

// plansWith reports why a text could not be run in the place of the statement at hand. st is scratch.
func (s *Session) plansWith(st *sqlparse.Statement, text []byte) error {
	if err := st.Scan(text, s.Mode); err != nil {
		return err
	}
	defer s.use(st)()
	p, err := s.plan()
	if err != nil {
		return err
	}
	if err := s.authorise(p); err != nil {
		return err
	}
	if p.Judge && p.Root == nil && p.Relay == nil {
		return s.refuse(p)
	}
	return nil
}

// withSequenceValues is the text of a statement with values in the places of its calls; nil: any, by which a server can tell what the
// statement's columns will be.
func withSequenceValues(stmt *sqlparse.Statement, calls []sequenceCall, values []string) []byte {
	edits := make([]valueEdit, len(calls))
	for i := range calls {
		v := sessionValue{"0", "NULLIF(%s + 0*10000000000000000, NULL)"} // BIGINT of 20 characters, perhaps NULL
		if values != nil {
			v.text = values[i]
		}
		if v.text == "NULL" {
			v.typed = "IF(TRUE, %s, -1000000000000000000)"
		}
		edits[i] = valueEdit{calls[i].Span, v}
	}
	return withValues(stmt, edits)
}

// sequencesAtOnce is how many values one SELECT asks for: a server gives so many columns.
const sequencesAtOnce = 500

// fetchSequences asks for the values of calls, in their order.
func (s *Session) fetchSequences(calls []sequenceCall) ([]string, error) {
	values := make([]string, 0, len(calls))
	c, err := s.autocommitting(s.sequenceGroup())
	if err != nil {
		return nil, err
	}
	for some := range slices.Chunk(calls, sequencesAtOnce) {
		if values, err = s.fetchSome(c, values, some); err != nil {
			s.noValues(calls[len(values):], err)
			err = txn.Lost(c, err)
			break
		}
	}
	s.done(c, err)
	return values, err
}

// autocommitting is Get of a connection beside whatever the session has, on which each statement commits by itself although the session's
// autocommit is off: what a sequence gives is not taken back, and the server's replicas are told of it at once.
func (s *Session) autocommitting(g placement.NodeGroupID) (*backend.Conn, error) {
	state := s.state
	if !s.Autocommit {
		state = state.With(state.DB, backend.Variable{Name: "@@session.`autocommit`", Value: "1"})
	}
	return s.pooled(g, state, s.claim())
}

// fetchSome asks c for the values of calls, which it appends to values.
func (s *Session) fetchSome(c *backend.Conn, values []string, calls []sequenceCall) ([]string, error) {
	sql := []byte("SELECT ")
	for i := range calls {
		c := &calls[i]
		if i > 0 {
			sql = append(sql, ", "...)
		}
		sql = fmt.Appendf(sql, "%s(%s", c.function, sqltypes.QuoteIn(c.db, c.name))
		if c.args.End > 0 {
			sql = append(append(sql, ", "...), s.stmt.Text(c.args)...)
		}
		sql = append(sql, ')')
	}
	sql = append(sql, " LIMIT 1"...) // whatever sql_select_limit says
	rows, err := s.querySequences(c, string(sql))
	if err != nil {
		return values, err
	}
	if len(rows) != 1 || len(rows[0]) != len(calls) {
		return values, sqlerr.Internal.New("sequences gave no values")
	}
	for i, raw := range rows[0] {
		v := "NULL"
		if raw != nil {
			v = string(raw)
		}
		if v[0] == '-' {
			v = " " + v // not a comment behind a minus
		}
		key := calls[i].key()
		switch calls[i].function {
		case "NEXTVAL":
			s.setLastValue(key, v)
		case "LASTVAL": // the connection's: another session's perhaps
			if s.tablesAskSequences() {
				return values, sqlerr.Unsupported("LASTVAL() where tables ask a sequence by the DEFAULT of a column, or may by a trigger", "name the column, and give it NEXTVAL()")
			}
			last, ok := s.lastValue(key)
			if ok && last == "" {
				return values, sqlerr.Unsupported("the last value of a sequence behind a statement that has failed, or behind very many sequences", "ask for the next one")
			}
			if v = "NULL"; ok {
				v = last
			}
		}
		values = append(values, v)
	}
	return values, nil
}

// querySequences asks c, where a KILL reaches it.
func (s *Session) querySequences(c *backend.Conn, sql string) (rows [][][]byte, err error) {
	s.client.Enter(c)
	defer s.client.Leave(c)
	if s.client.Hit() { // by a KILL that met no statement on a server
		return nil, sqlerr.QueryInterrupted.New()
	}
	_, rows, err = c.QueryAll(sql, 1)
	return rows, err
}

// tablesAsk says whether tables of a schema may ask sequences for values; the schema's revision is that of Snapshot.SchemaRevision.
type tablesAsk struct {
	revision int64
	known    bool
	yes      bool
}

// tablesAskSequences reports whether a server may ask a sequence for a value without the session's knowing: by a DEFAULT, or a trigger nobody
// knows, of tables that came with an imported server.
func (s *Session) tablesAskSequences() bool {
	if a := &s.tablesAsk; !a.known || a.revision != s.snap.SchemaRevision {
		*a = tablesAsk{revision: s.snap.SchemaRevision, known: true, yes: tablesAskSequences(s.snap)}
	}
	return s.tablesAsk.yes
}

func tablesAskSequences(snap *catalog.Snapshot) bool {
	for _, d := range snap.Databases {
		for _, t := range d.Tables {
			if t.AsksSequence() != "" || slices.ContainsFunc(t.Triggers, func(tr catalog.Trigger) bool { return tr.Unknown }) {
				return true
			}
		}
	}
	return false
}

// maxLastValues bounds what a session remembers of sequences.
const maxLastValues = 1000

// setLastValue notes what LASTVAL() of a sequence is; "": nobody knows. When there are too many sequences it forgets the others, and notes
// by an entry without a name that there were some.
func (s *Session) setLastValue(key sequenceName, value string) {
	if _, known := s.lastValues[key]; s.lastValues == nil || !known && len(s.lastValues) >= maxLastValues {
		full := s.lastValues != nil
		s.lastValues = map[sequenceName]string{}
		if full {
			s.lastValues[sequenceName{}] = ""
		}
	}
	s.lastValues[key] = value
}

// lastValue returns what setLastValue noted, false if the session has asked for no value.
func (s *Session) lastValue(key sequenceName) (value string, ok bool) {
	if value, ok = s.lastValues[key]; !ok {
		value, ok = s.lastValues[sequenceName{}]
	}
	return value, ok
}

// noValues notes that calls have failed. Of what fails before any value is asked for, a server's last values stay. Of several sequences it
// is not known which one has run out, nor behind another error which ones have given a value.
func (s *Session) noValues(calls []sequenceCall, err error) {
	if sqlerr.HasCode(err, sqlerr.ParseError, sqlerr.AccessDeniedDB, sqlerr.UnknownDatabase, sqlerr.UnknownColumn, sqlerr.NoSuchTable,
		1142, // ER_TABLEACCESS_DENIED_ERROR
		1205, // ER_LOCK_WAIT_TIMEOUT: tables are opened and locked before values are computed
		1213, // ER_LOCK_DEADLOCK
		4089, // ER_NOT_SEQUENCE
		4091, // ER_UNKNOWN_SEQUENCES
	) {
		return
	}
	value := ""
	if sqlerr.HasCode(err, sqlerr.SequenceRunOut) && !slices.ContainsFunc(calls, func(c sequenceCall) bool { return c.key() != calls[0].key() }) {
		value = "NULL"
	}
	for i := range calls {
		if calls[i].function == "NEXTVAL" {
			s.setLastValue(calls[i].key(), value)
		}
	}
}
