package session

// Statements that one node group answers alone: its answer is passed on, unread where that is possible.

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/diagnostics"
	"skarv/pkg/flight"
	"skarv/pkg/metrics"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/pack"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// relay sends the whole statement to group g and passes the answer on unread. A plan without Relay is that of an INSERT whose rows all
// belong to g: see exec.PlaceRows.
func (s *Session) relay(p *plan.Plan, g placement.NodeGroupID, r request) error {
	s.used.group, s.used.strategy = g, metrics.Relay
	s.client.Flight.Note(s.began, flight.Sent, g, uint16(p.Kind)) // the time of its arrival: another reading of the clock would cost
	loose := p.Relay != nil && s.unheld() && p.Relay.Target.Kind == plan.AnyGroup && len(p.Relay.Tables) == 0
	if r.packets == nil || loose {
		// Several statements in one packet, or one that does not enter the transaction: status flags and sequence
		// numbers are not the backend's.
		return s.passThrough(g, p, loose)
	}
	packable := s.packable(p, r)
	if packable {
		if ran, err := s.join(p, g, r); ran {
			return err
		}
	}
	for attempt := 0; ; attempt++ {
		c, opening, err := s.acquireFor(p, r.cmd, g)
		if err != nil {
			return err
		}
		// An idle connection may have died unnoticed: what has not begun, or only reads, is tried once more on another.
		again := attempt == 0 && !s.holds(c) && c.Reused()
		packets, dirty := r.packets, c.Dirty
		if err = s.prelude(p, c); err == nil && r.cmd == wire.ComStmtExecute {
			packets, err = s.bind(c, packets)
		}
		if err != nil {
			s.done(c, err)
			if again && mysqlconn.IsLost(err) && s.mayRepeat(g) || s.leavesReplica(err) {
				continue
			}
			return txn.Lost(c, err)
		}
		dst := io.Writer(s.conn)
		if s.fromReplica {
			dst = &checked{s: s, dst: s.conn}
		}
		if p.Uses&plan.WritesUserVariable != 0 {
			dst = s.conn.Buffered() // see variablesTaken
		}
		// What is sent may be another text than the client's, in fewer packets or in more.
		by := s.conn.Seq() - wire.NextSeq(packets)
		if by != 0 {
			dst = &wire.Renumbered{Dst: dst, By: by}
		}
		s.client.Enter(c)
		var pk *pack.Pack
		if packable && attempt == 0 && !c.Dirty {
			pk = s.lead(p, c, g, r.cmd)
		}
		if s.client.MustEnd() { // by a KILL that met no statement on a server
			if pk != nil {
				pk.Disband()
			}
			s.client.Leave(c)
			c.Dirty = dirty
			s.notSent(p, c, r.cmd, opening != "")
			return sqlerr.QueryInterrupted.New()
		}
		var sum wire.ResultSummary
		s.deadlockable = s.tx != nil && s.tx.Waiting(c)
		switch {
		case pk != nil:
			sum, err = c.RelayLast(pk.Batch(), s.withhold, packets, r.cmd, dst, s.relayBuffer())
			pk.GiveBack()
		case opening != "":
			sum, err = c.RelayBehind(opening, packets, r.cmd, dst, s.relayBuffer())
		default:
			sum, err = c.RelayUnless(s.withhold, packets, r.cmd, dst, s.relayBuffer())
		}
		s.client.Leave(c)
		s.used.summary = sum
		if err != nil {
			if e := s.deadlocked(c, err); e != nil {
				return e
			}
			s.done(c, err)
			if pk != nil && sum.Bytes == 0 && mysqlconn.IsLost(err) {
				if s.client.Hit() {
					return sqlerr.QueryInterrupted.New()
				}
				continue // alone: it may have been ended because of another one
			}
			if (sum.Bytes == 0 || errors.Is(err, errOutdated)) && s.leavesReplica(err) {
				continue
			}
			if e, ok := err.(*sqlerr.Error); ok && (e.Code == sqlerr.QueryInterrupted || namesAccount(e.Code)) {
				return err // see keepsBack
			}
			if _, ok := errors.AsType[*mysqlconn.DstError](err); ok {
				return errClient
			}
			if again && sum.Bytes == 0 && p.Relay != nil && !p.Relay.Write && s.mayRepeat(g) {
				continue
			}
			if lost, ok := errors.AsType[*mysqlconn.LostError](err); ok {
				lost.NextSeq += by
			}
			return s.broken(c, err)
		}
		if pk != nil {
			s.used.strategy = metrics.Packed
		}
		return s.relayed(p, c, &sum)
	}
}

// notSent takes back what c was prepared by for a statement that is not sent to it; opens: with the beginning of a transaction's branch.
func (s *Session) notSent(p *plan.Plan, c *backend.Conn, cmd wire.Command, opens bool) {
	if cmd == wire.ComStmtExecute {
		c.Forget(s.bound) // the server may have parameters for it already
	}
	if p.Uses&plan.SetsLastInsertID != 0 {
		_ = forgetInsertID(c)
	}
	if opens {
		s.tx.Rollback() // the branch, which has not begun; the transaction goes on
	} else {
		s.done(c, nil)
	}
}

// repeatWithin is how long after its arrival a statement is tried once more whose connection was lost. One that had died before is found
// out at once; later the statement had begun, and what ended the server may have been the statement itself.
const repeatWithin = 200 * time.Millisecond

// mayRepeat reports whether the statement at hand may be tried on another connection to g: the one it had died while it was idle, and
// nobody has ended the statement, neither by KILL nor because the process stops.
func (s *Session) mayRepeat(g placement.NodeGroupID) bool {
	return !s.client.MustEnd() && s.cfg.Pools.Up(g) && s.cfg.Clients.Clock()-s.began < repeatWithin
}

// prelude is called before p is sent to c. It prepares c for what p changes in its session: until that is known c is Dirty.
func (s *Session) prelude(p *plan.Plan, c *backend.Conn) error {
	if err := s.writing(p, c); err != nil {
		return err
	}
	if p.Uses&plan.WritesUserVariable != 0 {
		c.Dirty = true
		s.conn.Mark()
	}
	if p.Uses&plan.SetsLastInsertID != 0 && p.Relay != nil {
		// LAST_INSERT_ID(expr) may not be reached by any row: then it must leave this session's value.
		_, err := c.Exec("SET last_insert_id = " + strconv.FormatUint(s.lastInsertID, 10))
		return err
	}
	return nil
}

// broken is what becomes of an answer whose backend was lost: an error in its place, or behind what has been passed on
// already. Where that cannot be told from a row the client's connection ends.
func (s *Session) broken(c *backend.Conn, err error) error {
	if lost, ok := errors.AsType[*mysqlconn.LostError](err); ok && lost.Partial {
		if !lost.Boundary {
			return errClient
		}
		s.conn.SetSeq(lost.NextSeq)
	}
	return txn.Lost(c, err)
}

// relayed takes from an answer that has been passed on what the session must know of it.
func (s *Session) relayed(p *plan.Plan, c *backend.Conn, sum *wire.ResultSummary) error {
	if sum.LocalInfile {
		return s.localInfile(c)
	}
	if sum.Failed() {
		s.diagnostics.RowCount = -1
		state := string(sum.ErrState[:])
		s.diagnostics.Replace(diagnostics.Condition{Level: diagnostics.Error, Code: sum.ErrCode, State: state})
		s.fetchWarnings(c, 0)
		if s.MaxWarnings == 0 {
			s.diagnostics.Clear()
			s.diagnostics.Counted(1)
		}
		for i := range s.diagnostics.Conditions {
			if w := &s.diagnostics.Conditions[i]; w.Code == sum.ErrCode {
				w.State = state
			}
		}
		if p.Relay != nil && (inserts(p) || p.Uses&plan.SetsLastInsertID != 0) && c.Usable() { // it may have been given a number before
			_ = forgetInsertID(c)
		}
		if s.current != nil && len(s.current.long) > 0 {
			c.Forget(s.bound) // if the server has not come to the values, it keeps what was sent ahead of them
		}
		s.variablesFailed(p, c)
		s.done(c, &sqlerr.Error{Code: sum.ErrCode, State: string(sum.ErrState[:])})
		return nil
	}
	if err := s.answered(p, c, sum); err != nil {
		s.done(c, err)
		return err
	}
	if s.current != nil && sum.Status.Has(wire.StatusCursorExists) {
		s.openCursor(c) // until its last row is fetched
		return nil
	}
	s.noteBegun(c)
	s.done(c, nil)
	return nil
}

// answered takes from an answer without error, which the client has, what the session must know of it.
func (s *Session) answered(p *plan.Plan, c *backend.Conn, sum *wire.ResultSummary) error {
	switch {
	case sum.Columns > 0:
		s.diagnostics.RowCount = -1
		s.foundRows = sum.Rows
		ask := p.FindsAll || p.Uses&plan.CalcFoundRows != 0
		if p.Skips != nil {
			n, ok := s.args.Count(*p.Skips)
			s.foundRows += n
			ask = ask || !ok || n > 0 && sum.Rows == 0 // there may be fewer
		}
		if ask {
			_, rows, err := c.QueryAll("SELECT FOUND_ROWS() LIMIT 1", 1)
			if err == nil && len(rows) == 1 {
				s.foundRows = parseUint(rows[0][0])
			}
		}
	default:
		s.diagnostics.RowCount = int64(sum.AffectedRows)
	}
	switch {
	case len(s.beforehand) > 0:
		s.diagnostics.Conditions = s.appendWarnings(append(s.diagnostics.Conditions[:0], s.beforehand...), c)
		sum.Warnings += uint16(len(s.beforehand))
		s.diagnostics.Counted(sum.Warnings)
	case sum.Warnings > 0:
		s.diagnostics.Clear()
		s.fetchWarnings(c, sum.Warnings)
	case s.keepsWarnings(p):
		s.diagnostics.Keep()
	default:
		s.diagnostics.Clear()
		s.diagnostics.Counted(0)
	}
	s.takeInsertID(p, c, sum)
	if p.Uses&plan.WritesUserVariable != 0 {
		return s.variablesTaken(!writes(p), c)
	}
	return nil
}

// variablesTaken is variablesWritten of a statement whose answer has been written since Mark. What has only read (reads) is answered with the error,
// if there is one, in place of its answer. Where that has been sent, or where something has been changed, all that is left is to end the
// client's connection.
func (s *Session) variablesTaken(reads bool, c *backend.Conn) error {
	err := s.variablesWritten(c)
	if err == nil || s.capture != nil || reads && s.conn.TakeBack() {
		return err
	}
	return errors.New(err.Error())
}

// takeInsertID takes over what a relayed statement made LAST_INSERT_ID(): by LAST_INSERT_ID(expr), which its answer need not show, or as an INSERT
// into a table kept on one node group. There the answer also shows a value that the client wrote itself, which is not LAST_INSERT_ID(): the
// server tells. On a connection that others may use LAST_INSERT_ID() is 0, so that it is nobody's value that the client happens to write.
func (s *Session) takeInsertID(p *plan.Plan, c *backend.Conn, sum *wire.ResultSummary) {
	sets := p.Uses&plan.SetsLastInsertID != 0
	switch {
	case p.Relay == nil:
		s.takeGenerated(sum)
		return
	case !sets && (!inserts(p) || sum.LastInsertID == 0):
		return
	}
	_, rows, err := c.QueryAll("SELECT LAST_INSERT_ID(), LAST_INSERT_ID(0) LIMIT 1", 1)
	if err != nil || len(rows) != 1 {
		return
	}
	if id := parseUint(rows[0][0]); sets || id == sum.LastInsertID {
		s.lastInsertID = id
	}
}

// forgetInsertID leaves c as takeInsertID expects connections.
func forgetInsertID(c *backend.Conn) error {
	_, err := c.Exec("SET last_insert_id = 0")
	return err
}

// inserts reports whether a plan is that of an INSERT or REPLACE.
func inserts(p *plan.Plan) bool { return p.Kind == plan.Insert || p.Kind == plan.Replace }

// takeGenerated is takeInsertID of rows that PlaceRows has placed. The server knows whether the row was new that has s.generated.
func (s *Session) takeGenerated(sum *wire.ResultSummary) {
	returned := sum.Columns > 0 && sum.Rows > 0 // by RETURNING
	if s.generated != 0 && (sum.LastInsertID == s.generated || returned) {
		s.lastInsertID = s.generated
	}
}

// variablesWritten reads back the user variables a statement named, after it ran on c.
func (s *Session) variablesWritten(c *backend.Conn) error {
	var names []string
	tokens := s.stmt.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if tok.Kind == sqlparse.UserVar {
			names = append(names, variable.UserName(s.stmt.Text(tok.Span)))
		}
	}
	st, err := s.readBack(c, "SELECT 1", names, nil)
	if err != nil {
		s.assignBack(c, names)
		return txn.Lost(c, err)
	}
	s.state = st
	c.SetState(st)
	c.Dirty = false
	return nil
}

// assignBack gives user variables on c the values that they have in the session's state, after others could not be taken into it: c may be
// that of a transaction, which goes on.
func (s *Session) assignBack(c *backend.Conn, names []string) {
	if !c.Usable() || len(names) == 0 {
		return
	}
	set := make([]string, len(names))
	for i, n := range names {
		name := "@" + sqltypes.QuoteName(n)
		value, ok := s.state.Get(name)
		if !ok {
			value = "NULL"
		}
		set[i] = name + " = " + value
	}
	if _, err := c.Exec("SET " + strings.Join(set, ", ")); err == nil {
		c.Dirty = false
	}
}

// variablesFailed is variablesWritten for a statement that failed: it may have assigned something before.
func (s *Session) variablesFailed(p *plan.Plan, c *backend.Conn) {
	if p.Uses&plan.WritesUserVariable != 0 && c.Usable() {
		_ = s.variablesWritten(c) // else c stays Dirty
	}
}

// passThrough runs the whole statement on group g and writes its answer with the session's own status.
func (s *Session) passThrough(g placement.NodeGroupID, p *plan.Plan, loose bool) error {
	var c *backend.Conn
	var err error
	if loose {
		c, err = s.Get(g)
	} else {
		c, err = s.acquire(g)
	}
	if err != nil {
		return err
	}
	var sum wire.ResultSummary
	if err = s.prelude(p, c); err == nil {
		sum, err = s.copyWhole(p, c)
	}
	s.used.summary = sum
	if err != nil {
		if e := s.deadlocked(c, err); e != nil {
			return e
		}
		s.noteFault(c, err)
		s.variablesFailed(p, c)
		s.done(c, err)
		return txn.Lost(c, err)
	}
	return s.relayed(p, c, &sum)
}

// copyWhole runs the whole statement on c and writes its results to the client.
func (s *Session) copyWhole(p *plan.Plan, c *backend.Conn) (wire.ResultSummary, error) {
	if (s.binary || s.settled) && p.Kind == plan.Select && s.args.Params() != nil && s.stmt.NumParams() > 0 {
		var params []int // which stay parameters: a literal in the place of one has another type
		s.args.Open(&params)
		text := s.args.AppendStatement(nil)
		s.args.Open(nil)
		return s.copyPrepared(c, text, params)
	}
	text, err := s.wholeText(c)
	switch {
	case err != nil:
		return wire.ResultSummary{}, err
	case s.binary && p.Kind == plan.Select && len(s.variableColumns) == 0: // numbers have more digits than their texts
		return s.copyPrepared(c, text, nil)
	}
	return s.copyResults(c, text)
}

// copyResults runs sql on c and writes all its results, re-framed, to the client.
func (s *Session) copyResults(c *backend.Conn, sql []byte) (sum wire.ResultSummary, err error) {
	s.client.Enter(c)
	defer s.client.Leave(c)
	if err := c.Send(wire.ComQuery, sql); err != nil {
		return sum, err
	}
	for {
		head, err := c.ReadHead()
		if err != nil {
			return sum, err
		}
		last := !c.MoreResults()
		saved := s.more
		if head.OK != nil {
			s.more = saved || !last
			ok := *head.OK
			sum.AffectedRows, sum.LastInsertID, sum.Warnings, sum.Columns = ok.AffectedRows, ok.LastInsertID, ok.Warnings, 0
			ok.Status, ok.SessionState = s.status(), nil
			err = s.writeOK(ok)
		} else {
			sum.Columns = len(head.Columns)
			err = s.copyRows(c, head.Columns, &sum, saved)
			last = !c.MoreResults()
		}
		s.more = saved
		if err != nil || last {
			return sum, err
		}
	}
}

func (s *Session) copyRows(c *backend.Conn, cols []sqltypes.Column, sum *wire.ResultSummary, more bool) error {
	out := s.newOutput()
	if err := out.Columns(cols); err != nil {
		return unwanted(c, err)
	}
	for {
		row, err := c.ReadRow()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return err
			}
			break
		}
		sum.Rows++
		sum.Bytes += uint64(len(row))
		if err := out.Row(row); err != nil {
			return err
		}
	}
	s.more = more || c.MoreResults()
	sum.Warnings = c.LastWarnings()
	s.noteBegun(c)
	return out.end(c.LastWarnings())
}
