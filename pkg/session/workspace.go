package session

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/exec"
	"skarv/pkg/metrics"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/wire"
	"skarv/pkg/workspace"
)

// workspace runs a statement on one node group over copies of its tables: on a connection of its own, outside of the
// session's transaction, which is closed whenever anything goes wrong, and with it all that was made on it. The copies
// are read as the session reads, inside its transaction if there is one. first, not 0, is how many rows of n.First's copy
// are tried: the error is errAnotherWay, and the client has got nothing, when they are too few. It is, too, when the rows of
// a query cannot be copied.
func (s *Session) workspace(p *plan.Plan, n *plan.Workspace, first uint64) error {
	s.used.strategy = metrics.Workspace
	if s.locks != nil {
		return sqlerr.Unsupported("a query over several node groups that copies tables, under LOCK TABLES", "UNLOCK TABLES first")
	}
	if err := s.torn(n); err != nil {
		return err
	}
	if s.hasOwnRows() {
		if n.LocalTwice {
			return sqlerr.Unsupported("a query over several node groups that reads a reference table twice, within a transaction or with temporary tables",
				"run it outside of the transaction")
		}
		n = n.ForOwnRows()
	}
	copies := n.Copies
	g := n.Group
	if g == 0 {
		g = s.anyGroup()
	}
	c, err := s.openWorkspace(g, s.profile)
	if err != nil {
		return err
	}
	defer s.closeWorkspace()
	s.used.group = g
	c.Dirty = true // until the pool has reset it
	s.client.Enter(c)
	sum, clean, err := s.overCopies(p, n, copies, first, c)
	s.client.Leave(c) // before anybody else has it
	if !clean {
		c.Discard()
		return err
	}
	c.Dirty = true // reading back user variables has declared it clean
	c.Release()
	if err == nil {
		s.used.summary = sum
	}
	return err
}

// overCopies runs the statement on c; clean says that nothing is left there that a reset does not take away.
func (s *Session) overCopies(p *plan.Plan, n *plan.Workspace, copies []plan.Copy, first uint64, c *backend.Conn) (sum wire.ResultSummary, clean bool, err error) {
	columns, err := s.examine(c, n, copies)
	if err != nil {
		return sum, true, err
	}
	if columns != nil {
		queries := slices.ContainsFunc(copies, func(t plan.Copy) bool { return t.Query != nil })
		s.judged = &judgement{columns: columns, queries: queries, unknown: n.OfParameters}
		defer func() { s.judged = nil }()
	}
	sum, err = s.compute(p, n, copies, first, c)
	return sum, err == nil || err == errAnotherWay && c.Usable(), err
}

// hasOwnRows reports whether the session sees rows on its own connections that others do not see: those have to be copied, too.
func (s *Session) hasOwnRows() bool { return s.tx != nil || s.temps != nil }

// compute fills the workspace on c and runs the statement there.
func (s *Session) compute(p *plan.Plan, n *plan.Workspace, copies []plan.Copy, first uint64, c *backend.Conn) (sum wire.ResultSummary, err error) {
	if n.ReadsClock() && !s.FixedClock {
		// What node groups read, and what is read here.
		s.moment = time.Now()
		defer func() { s.moment = time.Time{} }()
		if _, err := c.Exec(string(exec.SetTimestamp(s.moment))); err != nil {
			return sum, txn.Lost(c, err)
		}
	}
	w, err := workspace.Open(c, s.cfg.Workspace, s.SQLMode, s.taken)
	if err != nil {
		return sum, txn.Lost(c, err)
	}
	defer w.Free()
	g := gathering{s: s, w: w, c: c, uses: p.Uses & plan.LocksRows}
	if first > 0 {
		g.first = n.FirstRows(first)
	}
	limited := s.withoutLimits()
	err = g.all(copies)
	limited()
	if err == errAnotherWay && w.Close() != nil {
		c.Interrupt()
	}
	if err != nil {
		return sum, err
	}
	if err := g.store(n.Stored); err != nil {
		return sum, err
	}
	if w.Many() {
		if err := w.Analyse(); err != nil {
			return sum, txn.Lost(c, err)
		}
	}
	if err := w.Ready(); err != nil {
		return sum, txn.Lost(c, err)
	}
	if s.client.Hit() { // by a KILL that met no statement on the server
		return sum, sqlerr.QueryInterrupted.New()
	}
	sql, params := s.renamed(n)
	s.conn.Mark() // see variablesTaken
	began := time.Now()
	immediate := s.args.Using != nil && len(params) > 0
	if immediate {
		sql = s.args.AppendImmediate(nil, sql, params)
	}
	prepared := !immediate && (s.binary && len(s.variableColumns) == 0 || len(params) > 0) // as copyWhole
	switch {
	case first > 0 && g.firstRows >= first: // there may be more
		sum, err = s.copyFull(c, sql, params, prepared, s.wanted(n.First))
	case prepared:
		sum, err = s.copyPrepared(c, sql, params)
	default:
		sum, err = s.copyResults(c, sql)
	}
	if err == errAnotherWay {
		if w.Close() != nil {
			c.Interrupt()
		}
		return sum, err
	}
	if err != nil {
		s.noteFault(c, err)
		return sum, s.computed(txn.Lost(c, err))
	}
	s.traced.Stage(fmt.Sprintf("joins on node group %d, over the copies", c.Group), began, sum.Rows, sum.Bytes)
	if err := s.answered(p, c, &sum); err != nil {
		return sum, err
	}
	if w.Close() != nil {
		c.Interrupt() // the answer is right; the connection goes, and the tables with it
	}
	return sum, nil
}

// sendPrepared prepares sql on c and executes it with those of the client's parameters that params names.
func (s *Session) sendPrepared(c *backend.Conn, sql []byte, params []int) (end func(), err error) {
	st, err := c.Prepare(sql)
	if err != nil {
		return nil, err
	}
	end = func() { c.CloseStmt(st.ID) }
	return end, c.Send(wire.ComStmtExecute, s.args.Params().AppendExecute(nil, st.ID, params))
}

// copyPrepared is copyResults for a prepared statement. A client that takes binary rows gets the server's own, which
// have floats with all their digits.
func (s *Session) copyPrepared(c *backend.Conn, sql []byte, params []int) (sum wire.ResultSummary, err error) {
	s.client.Enter(c)
	defer s.client.Leave(c)
	end, err := s.sendPrepared(c, sql, params)
	if err != nil {
		return sum, err
	}
	defer end()
	head, err := c.ReadHead()
	if err != nil {
		return sum, err
	}
	if head.OK != nil {
		ok := *head.OK
		sum.AffectedRows, sum.LastInsertID, sum.Warnings = ok.AffectedRows, ok.LastInsertID, ok.Warnings
		ok.Status, ok.SessionState = s.status(), nil
		return sum, s.writeOK(ok)
	}
	sum.Columns = len(head.Columns)
	out := s.newOutput()
	out.binary = false // rows are what they are to be already, or made text
	var texts wire.TextRows
	if err := out.Columns(head.Columns); err != nil {
		return sum, unwanted(c, err)
	}
	for {
		row, err := c.ReadRow()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && !s.binary {
			row, err = texts.Row(row, head.Columns)
		}
		if err == nil {
			err = out.Row(row)
		}
		if err != nil {
			return sum, err
		}
	}
	sum.Rows, sum.Bytes, sum.Warnings = out.rows, out.bytes, c.LastWarnings()
	return sum, out.end(sum.Warnings)
}

func (s *Session) computed(err error) error {
	if sqlerr.HasCode(err, sqlerr.CannotReopenTable) {
		return sqlerr.Unsupported("a query over several node groups that reads a table twice where it is written once",
			"write a common table expression that is used twice as two derived tables, or give each WITH a statement of its own")
	}
	return err
}

// examine lets the server judge the statement before anything is copied, and returns its columns where they are known.
func (s *Session) examine(c *backend.Conn, n *plan.Workspace, copies []plan.Copy) ([]sqltypes.Column, error) {
	if n.Stage != nil && n.Stage.Table.Temporary != "" || slices.ContainsFunc(copies, func(t plan.Copy) bool { return t.Table.Temporary != "" }) {
		return nil, nil // the server does not know it yet
	}
	if s.stmt.Uses()&sqlparse.WritesUserVariable != 0 {
		return nil, nil // what looks constant would be computed already
	}
	st, err := c.Prepare(s.stmt.SQL())
	switch {
	case err == nil:
		c.CloseStmt(st.ID)
	case !c.Usable() || !sqlerr.HasCode(err, sqlerr.NotPreparable):
		s.noteFault(c, err)
		return nil, txn.Lost(c, err)
	}
	return st.Columns, nil
}

// renamed is the client's statement with other names for tables that have more than one copy, or for the stage, which takes
// no ON DUPLICATE KEY UPDATE. params are the numbers of the parameters it has.
func (s *Session) renamed(n *plan.Workspace) (sql []byte, params []int) {
	s.args.Open(&params)
	sql = s.renamedText(n)
	s.args.Open(nil)
	return sql, params
}

func (s *Session) renamedText(n *plan.Workspace) []byte {
	if n.Text != nil {
		return s.args.AppendText(nil, n.Text)
	}
	end := len(s.stmt.SQL())
	if n.Stage != nil && n.Stage.Returning {
		end, _ = s.stmt.ReturningAt()
	}
	if n.Stage != nil && n.Stage.Update {
		if text, ok := s.stmt.InsertText(); ok && text.OnDuplicate >= 0 {
			end = text.OnDuplicate
		}
	}
	var sql []byte
	at := 0
	if len(n.Renames) > 0 {
		put := func(span sqlparse.Span, text string) {
			sql = s.args.AppendSpan(sql, sqlparse.Span{Start: at, End: span.Start})
			sql = append(sql, text...)
			at = span.End
		}
		refs, _ := s.stmt.Tables()
		for _, r := range n.Renames {
			put(refs[r.Ref].Span, r.Text)
			if text, ok := s.stmt.InsertText(); ok && text.Table.Start == refs[r.Ref].Start { // columns may have the name, too
				for _, c := range s.stmt.InsertColumns(text) {
					put(sqlparse.Span{Start: c.Start, End: c.Own}, "")
				}
			}
		}
	}
	return s.args.AppendSpan(sql, sqlparse.Span{Start: at, End: end})
}

// taken reports whether a table of the client's has that name.
func (s *Session) taken(db, name string) bool { return s.snap.Table(db, name) != nil }

// freeName is name, or one that begins so and that no table of the client's has.
func (s *Session) freeName(db, name string) string {
	for s.taken(db, name) {
		name += "_"
	}
	return name
}

// openWorkspace takes the connection for a workspace; closeWorkspace must be called. What the statement does on other node
// groups meanwhile is work that has started.
func (s *Session) openWorkspace(g placement.NodeGroupID, profile backend.Profile) (*backend.Conn, error) {
	if err := s.differsByState(s.stmt); err != nil {
		return nil, err
	}
	claim := s.claim()
	claim.Wide = true
	c, err := s.cfg.Pools.Get(g, profile, s.writingState(), nil, claim)
	if err == nil {
		s.inside++
	}
	return c, err
}

func (s *Session) closeWorkspace() { s.inside-- }
