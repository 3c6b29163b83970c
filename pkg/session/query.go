package session

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/exec"
	"skarv/pkg/flight"
	"skarv/pkg/plan"
	"skarv/pkg/plancache"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/wire"
)

var (
	errKilled   = errors.New("session was killed")
	errReleased = errors.New("session ends by COMMIT RELEASE")
	errClient   = errors.New("client is gone")
)

// query is COM_QUERY: one statement, or several separated by semicolons.
func (s *Session) query(text []byte) error {
	s.binary = false
	if s.killed.Load() {
		return errKilled
	}
	for request := s.conn.Request(); ; request = nil {
		if err := s.stmt.Scan(text, s.mode); err != nil {
			s.more = false
			return s.fail(err)
		}
		rest := s.stmt.Rest()
		if rest != nil {
			if !s.multi {
				s.more = false
				return s.fail(nearError(rest))
			}
			request = nil
		}
		s.more = rest != nil
		if err := s.statement(wire.ComQuery, request, nil); err != nil {
			s.more = false
			return s.fail(err)
		}
		if rest == nil {
			return nil
		}
		text = rest
	}
}

// fail tells the client of an error. Errors that are no *sqlerr.Error end the connection.
func (s *Session) fail(err error) error {
	var e *sqlerr.Error
	if !errors.As(err, &e) {
		return err
	}
	s.rowCount = -1
	if s.stmt.Uses()&sqlparse.ReadsDiagnostics == 0 {
		s.warnings = append(s.warnings[:0], Warning{"Error", uint16(e.Code), e.Message, e.State})
	}
	if e.Code == sqlerr.Internal {
		s.log.Error("internal error", "error", e.Message, "statement", string(s.stmt.Digest(nil)), "trace", s.traceText())
	}
	return s.conn.WriteErr(e)
}

// nearError is the syntax error of a second statement where only one is allowed.
func nearError(rest []byte) error {
	const shown = 80
	if len(rest) > shown {
		rest = rest[:shown]
	}
	return sqlerr.ParseError.New(fmt.Sprintf(
		"check the manual that corresponds to your server version for the right syntax to use near '%s' at line 1", rest))
}

// statement runs the scanned statement. request is its packets as the client sent them, when they may be relayed as
// they are; params are the values of a prepared statement's parameters.
func (s *Session) statement(cmd wire.Command, request []byte, params *wire.Params) error {
	start := s.cfg.Registry.clock()
	s.evictionsBefore, s.killsBefore = s.evictions.Load(), s.kills.Load()
	s.began = start
	s.activity.set("Query", s.db, s.stmt.SQL(), start)
	s.flight.Note(start, flight.Statement, 0, 0)
	s.usedGroup, s.usedStrategy, s.usedSummary = 0, strategyLocal, wire.ResultSummary{}
	p, err := s.run(cmd, request, params)
	s.leave()
	end := s.cfg.Registry.clock()
	took := end - start
	kind := plan.Other
	if p != nil {
		kind = p.Kind
	}
	s.flight.Note(end, flight.End, s.usedGroup, s.codeOf(err))
	s.stripe.record(s.usedGroup, kind, s.usedStrategy, took, &s.usedSummary, err != nil || s.usedSummary.Failed())
	if s.cfg.SlowQuery > 0 && took >= s.cfg.SlowQuery {
		s.log.Warn("slow statement", "seconds", took.Seconds(), "kind", kind.String(), "strategy", s.usedStrategy.String(),
			"group", int(s.usedGroup), "rows", s.usedSummary.Rows, "user", s.user, "database", s.db,
			"statement", string(s.stmt.Digest(nil)))
	}
	s.activity.idle(end)
	return err
}

func (s *Session) run(cmd wire.Command, request []byte, params *wire.Params) (*plan.Plan, error) {
	if err := s.served(); err != nil {
		return nil, err
	}
	if s.mutex != nil {
		if err := s.checkUserLocks(); err != nil {
			return nil, err
		}
	}
	if s.stmt.Uses()&sqlparse.Sequence != 0 {
		st := s.cfg.Dialect.NewStatement()
		defer st.Done()
		found, err := s.withSequences(st)
		if err != nil {
			return nil, err
		}
		if found {
			defer s.use(st)()
			if cmd == wire.ComStmtExecute {
				request = nil
			}
			if request != nil {
				s.packet = appendCommand(s.packet[:0], wire.ComQuery, st.SQL())
				request = s.packet
			}
		}
	}
	if s.stmt.Uses()&substitutable != 0 {
		if text := s.substitute(); text != nil {
			defer s.use(s.stmt)()
			if s.substituted == nil {
				s.substituted = s.cfg.Dialect.NewStatement()
			}
			if err := s.substituted.Scan(text, s.mode); err != nil {
				return nil, err
			}
			s.stmt = s.substituted
			if request != nil {
				s.packet = appendCommand(s.packet[:0], wire.ComQuery, text)
				request = s.packet
			}
			if cmd == wire.ComStmtExecute {
				request = nil
			}
		}
	}
	if s.stmt.Kind() == sqlparse.Empty && len(bytes.TrimSpace(s.stmt.SQL())) > 0 {
		return nil, s.ok(wire.OK{}) // nothing but a comment; nothing at all is an error
	}
	for {
		p, err := s.plan()
		if err != nil && sqlerr.HasCode(err, sqlerr.NoSuchTable) {
			if handled, said := s.readSequence(); handled {
				return p, said
			}
		}
		if err != nil {
			return p, err
		}
		ran := p
		if s.onLoop() && !simply(p) {
			ran, err = s.runAside(p, cmd, request, params)
		} else {
			ran, err = s.runPlan(p, cmd, request, params)
		}
		if err != errReplan {
			return ran, err
		}
		s.snap = s.snapshot()
		if err := s.served(); err != nil {
			return p, err
		}
	}
}

// runPlan runs the scanned statement by its plan.
func (s *Session) runPlan(p *plan.Plan, cmd wire.Command, request []byte, params *wire.Params) (*plan.Plan, error) {
	for _, a := range p.Access {
		if err := s.check(a.Database, a.Privilege); err != nil {
			return p, err
		}
	}
	if s.calls != nil {
		if err := s.calls.mayRun(s, p); err != nil {
			return p, err
		}
	}
	if p.Through {
		if err := s.stand(p); err != nil {
			return p, err
		}
		defer s.hold.EndStand()
		return s.writeThrough(params)
	}
	if err := s.interruptedByHandover(p); err != nil {
		return p, err
	}
	switch p.Kind {
	case plan.Begin, plan.Commit, plan.Rollback, plan.Savepoint, plan.DDL, plan.Lock:
	default:
		if s.tx != nil && s.tx.Err() != nil {
			return p, s.tx.Err()
		}
	}
	s.args.Reset(s.stmt, params)
	s.args.ForeignCharset, s.args.Binary = s.foreignLiterals, s.binary
	if s.cfg.Dialect.MariaDB() {
		s.args.Using = s.using
	}
	s.runner.Router.Home, s.runner.Locked = s.anyGroup(), s.locks != nil
	if p.Uses&plan.LocksRows != 0 && s.locks == nil {
		s.runner.Router.Home = s.snap.Groups[0].ID // copies of a reference table are locked where writes to them begin
	}
	if p.Topic == "information_schema" || p.Kind == plan.Show && strings.HasSuffix(p.Topic, "tables") {
		s.runner.Router.Home = s.metadataGroup()
	}
	s.runner.Database = s.db
	switch p.Kind {
	case plan.Set:
		if p.Topic == "diagnostics" {
			return p, s.getDiagnostics()
		}
		if s.isSetStatement() {
			return s.setStatement(p, params)
		}
		return p, s.set(params)
	case plan.Prepared:
		return s.preparedText(p)
	case plan.Use:
		if err := s.changeDB(p.Name); err != nil {
			return p, err
		}
		return p, s.ok(s.schemaChanged())
	case plan.Begin, plan.Commit, plan.Rollback, plan.Savepoint:
		return p, s.transactionControl(p)
	case plan.Lock:
		if p.Topic == "unlock" {
			if err := s.unlock(); err != nil {
				return p, err
			}
			return p, s.ok(wire.OK{})
		}
		return p, s.lockTables(p)
	case plan.Kill:
		return p, s.killStatement(p)
	case plan.Call:
		return p, s.call(p)
	case plan.Explain:
		if p.Inner != nil {
			return p, s.explain(p)
		}
	case plan.DDL:
		return p, s.ddl(p)
	case plan.Show:
		if handled, err := s.show(p); handled {
			return p, err
		}
	case plan.Select, plan.Other:
		if p.Kind == plan.Other && strings.HasSuffix(p.Topic, " table") {
			return p, s.tableAdmin(p)
		}
		if p.Topic == "user lock" {
			return p, s.userLock(p)
		}
		if p.Topic == "information_schema" {
			if handled, err := s.selectMetadata(p); handled {
				return p, err
			}
		}
	}
	return p, s.data(p, cmd, request)
}

// plan returns the plan of the scanned statement. It waits for tables that are closed, for closedTimeout in all, unless the session has what
// the change may wait for: locks of a transaction, or a statement that stands.
func (s *Session) plan() (*plan.Plan, error) {
	var deadline time.Time
	for {
		p, err := s.planNow()
		if err == nil || !sqlerr.HasCode(err, sqlerr.LockWaitTimeout) || s.tx != nil && s.tx.Open() || s.locks != nil || s.hold.Stands() {
			return p, err
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(closedTimeout)
		}
		if changed, lost := s.nextSchema(deadline); lost != nil {
			return p, lost
		} else if !changed {
			return p, err
		}
	}
}

// planNow is plan that does not wait: the plan comes from the session's own cache, from the process's, or is made.
func (s *Session) planNow() (*plan.Plan, error) {
	if s.schema != s.snap.SchemaRevision {
		s.plans = [planSlots]*plancache.Entry{}
		s.schema = s.snap.SchemaRevision
	}
	fp := s.stmt.Fingerprint()
	slot := fp.Lo % planSlots
	if e := s.plans[slot]; e != nil && e.Key.Fingerprint == fp && e.Key.DB == s.db && e.Key.Info == s.info {
		if p := e.Match(s.stmt); p != nil {
			s.stripe.hits.Add(1)
			return p, nil
		}
	}
	key := plancache.Key{Fingerprint: fp, DB: s.db, Info: s.info}
	gen := s.cfg.Plans.At(s.schema)
	if s.temps != nil {
		gen = nil // what others plan means other tables
	}
	if gen != nil {
		if e := gen.Get(key); e != nil {
			if p := e.Match(s.stmt); p != nil {
				s.plans[slot] = e
				s.stripe.hits.Add(1)
				return p, nil
			}
		}
	}
	s.stripe.misses.Add(1)
	p, err := s.cfg.Planner.Build(s.stmt, s.db, s.snap, s.info)
	if err == nil && s.temps != nil {
		s.plans[slot] = plancache.Alone(key, p)
	}
	if err != nil || gen == nil {
		return p, err
	}
	s.plans[slot] = gen.Put(key, p)
	return p, nil
}

// data runs a statement that backends answer.
func (s *Session) data(p *plan.Plan, cmd wire.Command, request []byte) (err error) {
	if err := s.stand(p); err != nil {
		return err
	}
	defer s.hold.EndStand()
	switch p.Kind {
	case plan.Select, plan.Insert, plan.Replace, plan.Update, plan.Delete:
		if s.isolation != "" {
			defer func() {
				if err != errReplan {
					s.isolation = "" // Get has given it to the statement
				}
			}()
		}
	}
	if s.locked.suspended && !s.insertsUnlocked(p) {
		if err := s.resume(); err != nil {
			return err
		}
	}
	if s.locks != nil && s.insertsInto(p) == nil {
		s.locked.read = true
	}
	if p.Kind == plan.Other && p.Topic != "do" { // ANALYZE TABLE, FLUSH and their like
		if err := s.commitImplicit(); err != nil {
			return err
		}
	} else if s.tx == nil && s.locks == nil && !s.autocommit && (p.Root != nil || p.Relay != nil && len(p.Relay.Tables) > 0) {
		if !s.reads.snapshots() || !s.repeatable() {
			s.begin("BEGIN", nil)
		} else if err := s.openSnapshot(nil); err != nil {
			return err
		}
	}
	if err := s.work(); err != nil {
		return err
	}
	defer s.rest()
	for {
		err := s.dataBy(p, cmd, request)
		if s.gaveWay(err) {
			err = s.giveWay(p, err)
		}
		if err != errMoved {
			return err
		}
		if s.snap = s.snapshot(); s.schema != s.snap.SchemaRevision {
			return errReplan
		}
		if err := s.served(); err != nil {
			return err
		}
		if p, err = s.plan(); err != nil {
			return err
		}
	}
}

// served returns an error if there is no cluster, not yet or not any more.
func (s *Session) served() error {
	if len(s.snap.Groups) == 0 || s.snap.Map == nil {
		return sqlerr.UnknownError.New("there is no cluster with node groups here: skarvctl cluster init or skarvctl import makes one")
	}
	return nil
}

// dataBy is data by the session's present snapshot. errMoved says that this is not the newest one.
func (s *Session) dataBy(p *plan.Plan, cmd wire.Command, request []byte) error {
	touched := &s.runner.Router.Touched
	touched.Forget()
	p = s.alone(p)
	if p.Relay != nil {
		g, one, err := s.runner.Router.Relay(p.Relay, s.snap, &s.args)
		if err != nil {
			return err
		}
		if one {
			if err := s.enter(touched, writes(p) || p.Uses&plan.LocksRows != 0, false); err != nil {
				return err
			}
			if s.tx == nil && writes(p) {
				s.beginCommit()
				defer s.endCommit()
			}
			return s.relay(p, g, cmd, request)
		}
	}
	if n, rows := p.Root.(*plan.InsertRows); (!rows || n.Indexed != nil) && !streams(p.Root) && s.onLoop() {
		return s.rootAside(p)
	}
	return s.root(p)
}

// root runs what no single node group answers.
func (s *Session) root(p *plan.Plan) error {
	if p.Root == nil && p.Topic == "do" {
		return s.do()
	}
	if p.Root == nil {
		return s.refuse(p)
	}
	done, err := s.atMoment(p)
	if err != nil {
		return err
	}
	defer done()
	if w, ok := p.Root.(*plan.Workspace); ok {
		if w.Write {
			return s.workspaceWrite(p, w)
		}
		if handled, err := s.selectInto(); handled {
			return err
		}
		return s.workspace(p, w, 0)
	}
	if n, ok := p.Root.(*plan.Choice); ok {
		return s.choose(p, n)
	}
	if n, ok := p.Root.(*plan.RowByRow); ok {
		return s.rowByRow(p, n)
	}
	rows, _ := p.Root.(*plan.InsertRows)
	if p.Uses&plan.WritesUserVariable != 0 {
		if rows != nil && rows.Else != nil {
			return s.writeAside(p, rows.Else)
		}
		return sqlerr.Unsupported("assigning user variables in a statement over several node groups, or in VALUES",
			"compute the value first, with SET or SELECT")
	}
	if err := s.scatter(p); rows == nil || !errors.Is(err, exec.ErrStage) {
		return err
	}
	return s.writeAside(p, rows.Else)
}

// alone returns the plan to use in place of p if one node group owns every partition.
func (s *Session) alone(p *plan.Plan) *plan.Plan {
	if p.Alone == nil || s.snap.Map == nil || len(s.snap.Map.Groups()) != 1 {
		return p
	}
	if _, one, err := s.runner.Router.Relay(p.Alone.Relay, s.snap, &s.args); err != nil || !one {
		return p
	}
	return p.Alone
}

// refuse returns why p cannot be run: the fault a server finds with the statement, if it has one, else the plan's reason.
func (s *Session) refuse(p *plan.Plan) error {
	if p.Refuse == nil {
		return sqlerr.Unsupported("this statement over several node groups", "")
	}
	if !p.Judge {
		return p.Refuse
	}
	c, err := s.Get(s.groupOf(p))
	if err != nil {
		return p.Refuse
	}
	defer func() { s.done(c, err) }()
	s.prepares(c)
	st, err := c.Prepare(s.stmt.SQL()) // checks the statement and runs nothing
	var fault *sqlerr.Error
	switch {
	case err == nil:
		c.CloseStmt(st.ID)
	case errors.As(err, &fault) && c.Usable() && fault.Code != notPreparable:
		return fault
	}
	return p.Refuse
}

// prepares notes that the statement at hand is prepared on c: a server computes what it takes for constants at once, and
// assigns user variables with it.
func (s *Session) prepares(c *backend.Conn) {
	if s.stmt.Uses()&sqlparse.WritesUserVariable != 0 {
		c.Dirty = true
	}
}

// notPreparable is the servers' error for statements that they run but do not prepare.
const notPreparable = 1295

// limitOutput is sql_select_limit for a SELECT over several node groups: each of them stops there, and so does the sum.
func (s *Session) limitOutput(p *plan.Plan, out *output) error {
	v, ok := s.state.Get("@@session.`sql_select_limit`")
	if !ok {
		return nil
	}
	limit, err := strconv.ParseUint(v, 10, 64)
	if err != nil || limit == math.MaxUint64 || p.Kind != plan.Select {
		return nil
	}
	explicit := false
	for n := p.Root; n != nil; {
		switch t := n.(type) {
		case *plan.Limit:
			explicit, n = true, t.Input // counts instead of it
		case *plan.Merge:
			n = t.Input
		case *plan.Project:
			n = t.Input
		case *plan.Sort:
			n = t.Input
		case *plan.Aggregate:
			if len(t.GroupBy) > 0 {
				return sqlerr.Unsupported("sql_select_limit for GROUP BY over several node groups", "use LIMIT")
			}
			n = t.Input
		case *plan.Distinct:
			return sqlerr.Unsupported("sql_select_limit for DISTINCT over several node groups", "use LIMIT")
		default:
			n = nil
		}
	}
	if !explicit {
		out.limit = limit
	}
	return nil
}

// scatter runs a plan over several node groups, or one whose text is not the client's own.
func (s *Session) scatter(p *plan.Plan) error {
	s.usedStrategy = strategyScatter
	if _, ok := p.Root.(*plan.InsertRows); ok {
		s.usedStrategy = strategySplit
		s.runner.Lenient = !strings.Contains(s.sqlMode, "STRICT_")
	}
	c := s.spare
	if s.spare = nil; c == nil {
		c = &conns{}
	}
	*c = conns{s: s, plan: p}
	err := s.scatterOn(p, c, c)
	*c = conns{}
	s.spare = c
	return err
}

// scatterOn is scatter with connections from; conns is what is noted of them.
func (s *Session) scatterOn(p *plan.Plan, from exec.Conns, conns *conns) error {
	defer conns.committed()
	s.flight.Note(s.cfg.Registry.clock(), flight.Several, 0, uint16(p.Kind))
	s.wide = true
	defer func() { s.wide = false }()
	out := s.newOutput()
	if err := s.limitOutput(p, out); err != nil {
		return err
	}
	s.runner.Conns, s.runner.Sequence = from, s.sequence()
	sum, err := s.runner.Run(p, s.snap, &s.args, out)
	if err == errMoved {
		return err
	}
	s.usedGroup, s.usedSummary.Rows, s.usedSummary.Bytes = conns.group, out.rows, out.bytes
	if err != nil {
		conns.end()
		return s.failed(err)
	}
	conns.keep()
	s.warnings = append(s.warnings[:0], conns.warnings...)
	for _, w := range s.runner.Warned[:min(len(s.runner.Warned), max(0, maxWarnings-len(s.warnings)))] {
		s.warnings = append(s.warnings, Warning{w.Level, w.Code, w.Message, ""})
	}
	sum.Warnings += conns.pending
	if sum.HasRows {
		if sum.Generated {
			s.lastInsertID = sum.LastInsertID
		}
		s.rowCount = -1
		s.foundRows = out.rows
		return out.end(sum.Warnings)
	}
	s.rowCount = int64(sum.AffectedRows)
	if sum.Generated {
		s.lastInsertID = sum.LastInsertID
	}
	return s.writeOK(wire.OK{
		AffectedRows: sum.AffectedRows, LastInsertID: sum.LastInsertID, Warnings: sum.Warnings,
		Info: sum.Info, Status: s.status(),
	})
}

// appendCommand appends the packets of a command.
func appendCommand(dst []byte, cmd wire.Command, body []byte) []byte {
	var seq byte
	payload := append([]byte{byte(cmd)}, body...)
	return wire.AppendPacket(dst, &seq, payload)
}
