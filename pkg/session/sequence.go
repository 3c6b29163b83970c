package session

import (
	"slices"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sequencecall"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/txn"
)

// Sequences, which MariaDB has, are on one server, that of the node group with the lowest id: what makes, changes, drops and shows them
// runs there alone, and the catalog does not know them. It counts for the whole cluster. The values that a statement asks for are fetched
// before it is planned, and stand in the place of the calls then: so rows are placed by them as by any others. That is right
// where a call is computed once; elsewhere it is refused. LASTVAL() is the session's, whatever connections it has.

// sequenceGroup is the node group that has the sequences.
func (s *Session) sequenceGroup() placement.NodeGroupID { return s.snap.Groups[0].ID }

// sequenceCalls finds the calls in the statement at hand; none, if they are not such as can be replaced. The session may make them.
func (s *Session) sequenceCalls() ([]sequencecall.Call, error) {
	if !s.cfg.Dialect.MariaDB() || s.stmt.Kind() == sqlparse.Set && s.isSetStatement(s.stmt) { // the statement inside has its turn
		return nil, nil
	}
	limit, limited := s.selectLimit()
	calls, err := sequencecall.Find(s.stmt, s.db, s.snap.LowerCaseTableNames != 0, limited && limit == 0)
	if err != nil || len(calls) == 0 {
		return nil, err
	}
	if s.locks != nil {
		return nil, sqlerr.Unsupported("sequences under LOCK TABLES", "UNLOCK TABLES first")
	}
	for i := range calls {
		if err := s.check(calls[i].Of.DB, calls[i].Of.Name, calls[i].Need()); err != nil {
			return nil, err
		}
	}
	return calls, nil
}

// withSequences scans the statement at hand into st, with values in the places of the calls that ask for them. It returns false, and fetches
// nothing, where there are none such as can be replaced. A statement that cannot be planned takes no values, as on one server.
func (s *Session) withSequences(st *sqlparse.Statement) (found bool, err error) {
	calls, err := s.sequenceCalls()
	if err != nil || len(calls) == 0 {
		return false, err
	}
	for i := range calls {
		if calls[i].Function != "LASTVAL" && s.tx != nil && s.tx.ReadOnly {
			return false, s.readOnlyTransaction()
		}
	}
	if err := s.plansWith(st, sequencecall.AnyText(s.stmt, calls)); err != nil {
		return false, err
	}
	var values []string
	s.conn.Task().Blocking(func() { values, err = s.fetchSequences(calls) })
	if err != nil {
		return false, err
	}
	return true, st.Scan(sequencecall.Text(s.stmt, calls, values), s.Mode)
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

// sequencesAtOnce is how many values one SELECT asks for: a server gives so many columns.
const sequencesAtOnce = 500

// fetchSequences asks for the values of calls, in their order.
func (s *Session) fetchSequences(calls []sequencecall.Call) ([]string, error) {
	values := make([]string, 0, len(calls))
	c, err := s.autocommitting(s.sequenceGroup())
	if err != nil {
		return nil, err
	}
	for some := range slices.Chunk(calls, sequencesAtOnce) {
		if values, err = s.fetchSome(c, values, some); err != nil {
			s.lastValues.Failed(calls[len(values):], err)
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
func (s *Session) fetchSome(c *backend.Conn, values []string, calls []sequencecall.Call) ([]string, error) {
	rows, err := s.querySequences(c, sequencecall.Query(s.stmt, calls))
	if err != nil {
		return values, err
	}
	if len(rows) != 1 || len(rows[0]) != len(calls) {
		return values, sqlerr.Internal.New("sequences gave no values")
	}
	for i, answer := range rows[0] {
		value := sequencecall.Literal(answer)
		switch calls[i].Function {
		case "NEXTVAL":
			s.lastValues.Given(calls[i].Of, value)
		case "LASTVAL": // the connection's: another session's perhaps
			if s.tablesAskSequences() {
				return values, sqlerr.Unsupported("LASTVAL() where tables ask a sequence by the DEFAULT of a column, or may by a trigger", "name the column, and give it NEXTVAL()")
			}
			var known bool
			if value, known = s.lastValues.Of(calls[i].Of); !known {
				return values, sqlerr.Unsupported("the last value of a sequence behind a statement that has failed, or behind very many sequences", "ask for the next one")
			}
		}
		values = append(values, value)
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
