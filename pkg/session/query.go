package session

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"time"

	"skarv/pkg/account"
	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/digest"
	"skarv/pkg/exec"
	"skarv/pkg/flight"
	"skarv/pkg/literal"
	"skarv/pkg/metrics"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/plancache"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/wire"
)

var (
	errKilled   = errors.New("session was killed")
	errRemoved  = errors.New("account was removed")
	errReleased = errors.New("session ends by COMMIT RELEASE")
	errClient   = errors.New("client is gone")
)

// query is COM_QUERY: one statement, or several separated by semicolons.
func (s *Session) query(text []byte) error {
	s.binary = false
	if s.client.Doomed() {
		return errKilled
	}
	text = withoutEnd(text) // as servers do, before they look at it
	for packets := s.conn.Request(); ; packets = nil {
		if err := s.stmt.Scan(text, s.Mode); err != nil {
			s.more = false
			return s.fail(err)
		}
		rest := s.stmt.Rest()
		if rest != nil {
			if err := notFollowed(s.stmt, s.multi); err != nil {
				s.more = false
				return s.fail(err)
			}
			if !s.multi {
				rest = nil
			}
			packets = nil
		}
		s.more = rest != nil
		if s.accountFrom != s.snap && !s.followAccount() { // a statement before may have changed what the account may
			return s.removed(wire.ComQuery)
		}
		if err := s.statement(request{cmd: wire.ComQuery, packets: packets}); err != nil {
			s.more = false
			return s.fail(err)
		}
		if rest == nil {
			return nil
		}
		text = rest
	}
}

// withoutEnd is text without the semicolons and the space behind it.
func withoutEnd(text []byte) []byte {
	for len(text) > 0 {
		switch text[len(text)-1] {
		case ';', ' ', '\t', '\n', '\v', '\f', '\r':
			text = text[:len(text)-1]
		default:
			return text
		}
	}
	return text
}

// notFollowed is the syntax error of a statement before something else: of one that is empty, or of what follows, where only one is
// taken.
func notFollowed(st *sqlparse.Statement, several bool) error {
	switch {
	case st.Kind() == sqlparse.Empty:
		return st.SyntaxError(len(st.SQL()))
	case !several && st.Further() >= 0:
		return st.SyntaxError(st.Further())
	}
	return nil
}

// fail tells the client of an error. Errors that are no *sqlerr.Error end the connection.
func (s *Session) fail(err error) error {
	e, ok := errors.AsType[*sqlerr.Error](err)
	if !ok {
		return err
	}
	s.diagnostics.RowCount = -1
	e = s.asClient(e)
	if s.stmt.Uses()&sqlparse.ReadsDiagnostics == 0 || e.Code == sqlerr.ParseError {
		s.diagnostics.Fail(e, s.faults, s.MaxWarnings)
	}
	if e.Code == sqlerr.Internal {
		s.log.Error("internal error", "error", e.Message, "statement", string(s.stmt.Digest(nil)), "trace", s.traceText())
	}
	return s.conn.WriteErr(e)
}

// asClient is e, but for the account that it says may not do something: that is the client's own, not one that Skarv has on the servers.
func (s *Session) asClient(e *sqlerr.Error) *sqlerr.Error {
	if !namesAccount(e.Code) {
		return e
	}
	before, rest, _ := strings.Cut(e.Message, " user '")
	user, rest, _ := strings.Cut(rest, "'@'")
	_, rest, ok := strings.Cut(rest, "'")
	known := s.snap.Accounts[catalog.NameOf(user, catalog.AnyHost)] != nil || s.snap.Hosted[user] != nil
	ours := !known || slices.ContainsFunc(s.snap.Groups, func(g *catalog.NodeGroup) bool { return g.Primary.User == user })
	if !ok || !ours { // it is the session's own error, which may name a definer
		return e
	}
	host := s.origin.Host
	if e.Code == sqlerr.AccessDeniedDB {
		host = s.identity.Host()
	}
	return &sqlerr.Error{Code: e.Code, State: e.State, Message: before + " user '" + s.user + "'@'" + host + "'" + rest}
}

// namesAccount reports whether an error says which account may not do something.
func namesAccount(code sqlerr.Code) bool {
	return code == sqlerr.AccessDeniedDB || code == sqlerr.TableAccessDenied
}

// request is how a statement came.
type request struct {
	cmd     wire.Command
	packets []byte       // what may be relayed as it is, but for what bind changes; nil: nothing
	params  *wire.Params // the values of a prepared statement's parameters; nil: it has none, or they stand in the text
}

// statement runs the scanned statement.
func (s *Session) statement(r request) error {
	start := s.cfg.Clients.Clock()
	s.client.ForgetKills()
	s.began = start
	s.client.Begin("Query", s.db, s.stmt.SQL(), start)
	s.client.Flight.Note(start, flight.Statement, 0, 0)
	s.used, s.planned = used{strategy: metrics.Local}, nil
	s.faults, s.beforehand = s.faults[:0], s.beforehand[:0]
	if !s.cfg.Dialect.MariaDB() && s.stmt.Uses()&sqlparse.ReadsDiagnostics == 0 && s.stmt.Kind() != sqlparse.Execute {
		s.diagnostics.Clear() // whatever the statement is; MariaDB keeps them behind BEGIN, COMMIT, PREPARE and the like
	}
	db, inTransaction := s.db, s.tx != nil
	p, err := s.run(r)
	s.leave()
	end := s.cfg.Clients.Clock()
	took := end - start
	kind := plan.Other
	if p != nil {
		kind = p.Kind
	}
	s.client.Flight.Note(end, flight.End, s.used.group, s.codeOf(err))
	if inTransaction || mayWrite(p) {
		s.wrote = max(s.wrote, end)
	}
	failed := err != nil || s.used.summary.Failed()
	s.stripe.Record(s.used.group, kind, s.used.strategy, took, &s.used.summary, failed)
	if e := s.digest(db); e != nil {
		e.Record(s.conn.ID(), &digest.Sample{
			Took: took, End: end, Rows: s.used.summary.Rows, Bytes: s.used.summary.Bytes, Way: uint8(s.used.strategy), Failed: failed,
		})
	}
	if s.cfg.SlowQuery > 0 && took >= s.cfg.SlowQuery {
		s.log.Warn("slow statement", "seconds", took.Seconds(), "kind", kind.String(), "strategy", s.used.strategy.String(),
			"group", int(s.used.group), "rows", s.used.summary.Rows, "user", s.user, "database", s.db,
			"statement", string(s.stmt.Digest(nil)))
	}
	s.client.Idle(end)
	return err
}

// digest is what the statement at hand, which has run with db as the default database, is counted by; nil if none are kept. It is looked for
// once for a plan, and each time for what has none.
func (s *Session) digest(db string) *digest.Entry {
	if !s.cfg.Digests.Kept() {
		return nil
	}
	e := s.planned
	if e == nil || e.Key.Fingerprint != s.stmt.Fingerprint() || e.Key.DB != db { // it ran in another form, or not at all
		return s.cfg.Digests.Entry(db, s.stmt.Digest(nil))
	}
	d := e.Digest.Load()
	if d == nil || d.Dropped() {
		d = s.cfg.Digests.Entry(db, s.stmt.Digest(nil))
		e.Digest.Store(d)
	}
	return d
}

// runInside runs st as a part of the statement at hand.
func (s *Session) runInside(st *sqlparse.Statement, params *wire.Params) (*plan.Plan, error) {
	defer s.use(st)()
	return s.run(request{cmd: wire.ComQuery, params: params})
}

// run is statement without what is measured of it.
func (s *Session) run(r request) (*plan.Plan, error) {
	s.diagnostics.Begin(s.stmt.Uses()&sqlparse.ReadsDiagnostics != 0)
	if err := s.served(); err != nil {
		return nil, err
	}
	if s.mutex != nil {
		if err := s.checkUserLocks(); err != nil {
			return nil, err
		}
	}
	uses := s.stmt.Uses()
	if uses&sqlparse.Hint != 0 && !s.cfg.Dialect.MariaDB() {
		h, err := s.hinted()
		if err != nil {
			return nil, err
		}
		if len(h.names) > 0 {
			var p *plan.Plan
			s.conn.Task().Blocking(func() { p, err = s.runHinted(h, r) })
			return p, err
		}
	}
	if uses&(sqlparse.Sequence|substitutable) != 0 {
		return s.runWithValues(r)
	}
	return s.runText(r)
}

// runWithValues is runText with values in the places of what the statement at hand asks of sequences and of the session.
func (s *Session) runWithValues(r request) (*plan.Plan, error) {
	given := s.stmt
	defer s.use(given)()
	if given.Uses()&sqlparse.Sequence != 0 {
		st := s.cfg.Dialect.NewStatement()
		defer st.Done()
		found, err := s.withSequences(st)
		if err != nil {
			return nil, err
		}
		if found {
			s.stmt = st
		}
	}
	text, err := s.substitute()
	if err != nil {
		return nil, err
	}
	if text != nil {
		if s.substituted == nil {
			s.substituted = s.cfg.Dialect.NewStatement()
		}
		if err := s.substituted.Scan(text, s.Mode); err != nil {
			return nil, err
		}
		s.stmt = s.substituted
	}
	if s.stmt != given {
		r = s.rewritten(r)
	}
	return s.runText(r)
}

// rewritten is r for the statement at hand, whose text is not the client's.
func (s *Session) rewritten(r request) request {
	switch {
	case r.cmd == wire.ComStmtExecute:
		r.packets = nil
	case r.packets != nil:
		s.packet = wire.AppendCommand(s.packet[:0], wire.ComQuery, s.stmt.SQL())
		r.packets = s.packet
	}
	return r
}

// runText plans the statement at hand and runs it, and does both again when it turns out, before anything is sent, that the snapshot it
// was planned by is not the newest one any more, or when Evict has ended it and its server has undone it:
//
//	    ┌► plan ► runPlan ► dispatch ► data ► dataBy ► answer
//	    │                                │        │
//	snapshot ◄────── errReplan ──────────┴────────┘
//
// The session's transaction, and SET TRANSACTION for the next one, stay as they are meanwhile.
func (s *Session) runText(r request) (*plan.Plan, error) {
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
			return p, s.unplanned(err)
		}
		ran := p
		if s.onLoop() && !simply(p) {
			ran, err = s.runAside(p, r)
		} else {
			ran, err = s.runPlan(p, r)
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
func (s *Session) runPlan(p *plan.Plan, r request) (*plan.Plan, error) {
	if err := s.authorise(p); err != nil {
		return p, err
	}
	if s.calls != nil {
		if err := s.calls.mayRun(s, p); err != nil {
			return p, err
		}
	}
	if p.Through {
		if err := s.announceBasis(p); err != nil {
			return p, err
		}
		defer s.hold.EndStand()
		return s.writeThrough(r.params)
	}
	if err := s.transactionLost(p); err != nil {
		return p, err
	}
	if p.Uses&plan.Matches != 0 && s.tx != nil && s.tx == s.movedIn {
		return p, sqlerr.Unsupported("MATCH in a transaction that has given rows of a table with FULLTEXT keys another distribution key", "use COMMIT first")
	}
	s.prepareRunner(p, r.params)
	s.dropWarnings(p)
	found := s.foundRows
	ran, err := s.dispatch(p, r)
	s.noteFound(p, found, err)
	if p.Uses&plan.MovesMatched != 0 {
		s.movedIn = s.tx
	}
	return ran, err
}

// transactionLost returns what has become of the transaction that the client has, as far as it knows, and in which p is to run.
func (s *Session) transactionLost(p *plan.Plan) error {
	if err := s.interruptedByHandover(p); err != nil {
		return err
	}
	switch p.Kind {
	case plan.Begin, plan.Commit, plan.Rollback, plan.Savepoint, plan.DDL, plan.Account, plan.Lock, plan.Unlock:
		return nil
	}
	if s.tx == nil {
		return nil
	}
	return s.tx.Err()
}

// prepareRunner gives the Runner what p is run with.
func (s *Session) prepareRunner(p *plan.Plan, params *wire.Params) {
	s.args.Reset(s.stmt, params)
	s.args.Strings, s.args.OneByte, s.args.Binary = s.Strings, s.ForeignCharset, s.binary
	s.args.EmptyIsNull = s.Mode&sqlparse.EmptyStringIsNull != 0
	if s.cfg.Dialect.MariaDB() {
		s.args.Using = s.using
	}
	s.runner.Router.Home = s.home(p)
}

// home is the node group that p runs on if any can run it.
func (s *Session) home(p *plan.Plan) placement.NodeGroupID {
	switch p.Topic {
	case plan.Metadata, plan.ShowTables:
		return s.metadataGroup()
	case plan.ShowStatus, plan.ShowUserStatistics, plan.ShowClientStatistics, plan.ShowTableStatistics, plan.ShowIndexStatistics:
		return s.serverGroup()
	}
	switch {
	case p.Uses&plan.LocksRows != 0 && s.locks == nil:
		return s.snap.Groups[0].ID // copies of a reference table are locked where writes to them begin
	}
	return s.anyGroup()
}

// dispatch runs p as its kind is run: what the session does not answer itself is for the backends.
func (s *Session) dispatch(p *plan.Plan, r request) (*plan.Plan, error) {
	if err := s.misread(); err != nil {
		return p, err
	}
	switch p.Kind {
	case plan.Set:
		if s.isSetStatement(s.stmt) {
			return s.setStatement(p, r.params)
		}
		return p, s.set(r.params)
	case plan.GetDiagnostics:
		return p, s.getDiagnostics()
	case plan.Prepared:
		return s.preparedText(p)
	case plan.Use:
		return p, s.useDatabase(p)
	case plan.Begin, plan.Commit, plan.Rollback, plan.Savepoint:
		if p.Refuse != nil {
			return p, s.refuse(p)
		}
		return p, s.transactionControl(p)
	case plan.Lock:
		return p, s.lockTables(p)
	case plan.Unlock:
		return p, s.unlockTables()
	case plan.Kill:
		return p, s.killStatement(p)
	case plan.Call, plan.Compound:
		return p, s.call(p)
	case plan.DDL:
		return p, s.ddl(p)
	case plan.TableAdmin:
		return p, s.tableAdmin(p)
	case plan.Account:
		return p, s.changeAccounts()
	case plan.Explain:
		if p.Inner != nil {
			return p, s.explain(p)
		}
	case plan.Show:
		if handled, err := s.show(p); handled {
			return p, err
		}
	case plan.Select, plan.Do:
		switch p.Topic {
		case plan.UserLock:
			return p, s.userLock(p)
		case plan.Metadata:
			if handled, err := s.selectMetadata(p); handled {
				return p, err
			}
		}
	}
	return p, s.data(p, r)
}

// plan returns the plan of the scanned statement. It waits for tables that are closed, for closedTimeout in all, unless the session has what
// the change may wait for: locks of a transaction, or a statement that stands.
func (s *Session) plan() (*plan.Plan, error) {
	var deadline time.Time
	for {
		p, err := s.planNow()
		err = s.nameRead(err)
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

// nameRead is err, unless that says that there is no such thing of a name beyond ASCII, which servers read in the client's character set.
func (s *Session) nameRead(err error) error {
	if err == nil || !s.ForeignCharset {
		return err
	}
	e, ok := errors.AsType[*sqlerr.Error](err)
	charset := s.clientCharset()
	if !ok || charset == "binary" || !sqlerr.HasCode(err, sqlerr.NoSuchTable, sqlerr.UnknownDatabase, sqlerr.NoSuchRoutine) || literal.IsASCII([]byte(e.Message)) {
		return err
	}
	return sqlerr.Unsupported("names beyond ASCII in the character set "+charset, "SET NAMES utf8mb4")
}

// planNow is plan that does not wait: the plan comes from the session's own cache, from the process's, or is made.
func (s *Session) planNow() (*plan.Plan, error) {
	if s.schema != s.snap.SchemaRevision {
		s.plans, s.packed.Alone = [planSlots]*plancache.Entry{}, nil
		s.schema = s.snap.SchemaRevision
	}
	fp := s.stmt.Fingerprint()
	if e, p := s.keptPlan(fp); p != nil {
		s.stripe.Planned(true)
		s.plannedBy(e)
		return p, nil
	}
	key := plancache.Key{Fingerprint: fp, DB: s.db, Info: s.Info}
	gen := s.cfg.Plans.At(s.schema)
	if s.temps != nil {
		gen = nil // what others plan means other tables
	}
	if gen != nil {
		if e := gen.Get(key); e != nil {
			if p := e.Match(s.stmt); p != nil {
				s.keepPlan(e)
				s.stripe.Planned(true)
				s.plannedBy(e)
				return p, nil
			}
		}
	}
	s.stripe.Planned(false)
	p, err := s.cfg.Planner.Build(s.stmt, s.db, s.snap, s.Info)
	var e *plancache.Entry
	switch {
	case err != nil:
		return p, s.withheld(err)
	case gen != nil:
		e = gen.Put(key, p)
	case s.temps != nil:
		e = plancache.Alone(key, p)
	default:
		return p, nil
	}
	s.keepPlan(e)
	s.plannedBy(e)
	return p, nil
}

// plannedBy notes where the plan of the statement comes from, before those of statements that are run inside of it.
func (s *Session) plannedBy(e *plancache.Entry) {
	if s.planned == nil {
		s.planned = e
	}
}

// keptPlan is the plan of the statement at hand, whose fingerprint is fp, that the session has kept, with where it is; nil if it has none.
func (s *Session) keptPlan(fp sqlparse.Fingerprint) (*plancache.Entry, *plan.Plan) {
	for i := range uint64(planPlaces) {
		e := s.plans[(fp.Lo+i)%planSlots]
		if e == nil {
			return nil, nil
		}
		if e.Key.Fingerprint == fp && e.Key.DB == s.db && e.Key.Info == s.Info {
			return e, e.Match(s.stmt)
		}
	}
	return nil, nil
}

// keepPlan keeps e in the first of its places that nobody has; if others have all of them, in the first.
func (s *Session) keepPlan(e *plancache.Entry) {
	first := e.Key.Fingerprint.Lo
	for i := range uint64(planPlaces) {
		if at := &s.plans[(first+i)%planSlots]; *at == nil || (*at).Key == e.Key {
			*at = e
			return
		}
	}
	s.plans[first%planSlots] = e
}

// data runs a statement that backends answer. In this order:
//
//	announceBasis        what the plan was made by; errReplan if that has changed
//	begin                a transaction, where autocommit is off; implicit commits end one
//	statementBegins      in the transaction, which looks for deadlocks, until statementEnds
//	Relay                finds the one node group that can answer, and which partitions that uses; scatter finds those of several
//	announcePartitions   by which everything stays where it is; errReplan if it has moved
//	acquire              gives the transaction's connections, or the pool's, until done
//
// After it the session's leave takes back what was announced, but for what belongs to a transaction.
func (s *Session) data(p *plan.Plan, r request) (err error) {
	if err := s.announceBasis(p); err != nil {
		return err
	}
	defer s.hold.EndStand()
	switch p.Kind {
	case plan.Select, plan.Insert, plan.Replace, plan.Update, plan.Delete:
		if s.isolation != "" {
			defer func() {
				if err != errReplan && !s.beginsNone(err) && !(p.Relay != nil && len(p.Relay.Tables) == 0) {
					s.isolation = "" // Get has given it to the statement
				}
			}()
		}
	}
	return s.dataAnnounced(p, r)
}

// dataAnnounced is data of a statement that is announced as what it was planned by. Together the two would have too many deferred calls and
// returns for the compiler, which then would not call them directly.
func (s *Session) dataAnnounced(p *plan.Plan, r request) (err error) {
	if s.locked.suspended && !s.insertsUnlocked(p) {
		if err := s.resume(); err != nil {
			return err
		}
	}
	if s.locks != nil && s.insertsInto(p) == nil {
		s.locked.read = true
	}
	if p.Kind == plan.Flush {
		if err := s.commitImplicit(); err != nil {
			return err
		}
	} else if p.Kind != plan.Show && usesTables(p) { // of SHOW its server knows: see noteBegun
		fresh, next := s.tx == nil, s.isolation
		if err := s.beginData(); err != nil {
			return err
		}
		defer func() {
			if fresh && s.tx != nil && err != errReplan && s.beginsNone(err) {
				s.unbegin(next)
			}
		}()
	}
	if err := s.statementBegins(); err != nil {
		return err
	}
	defer s.statementEnds()
	s.replica, s.fromReplica = s.mayReadReplica(p, r), false
	err = s.dataBy(p, r)
	s.replica, s.fromReplica = false, false
	switch {
	case s.gaveWay(err):
		return s.giveWay(p, err)
	case err != nil && s.cutOff:
		s.endTransaction()
	}
	return err
}

// served returns an error if there is no cluster, not yet or not any more.
func (s *Session) served() error {
	if len(s.snap.Groups) == 0 || s.snap.Map == nil {
		return NoCluster()
	}
	return nil
}

// NoCluster is what clients are told that are connected to no cluster, or to one that was given up.
func NoCluster() *sqlerr.Error {
	return sqlerr.UnknownError.New("there is no cluster with node groups here: skarvctl cluster init or skarvctl import makes one")
}

// dataBy is dataAnnounced inside of the statement's transaction.
func (s *Session) dataBy(p *plan.Plan, r request) error {
	touched := &s.runner.Router.Touched
	touched.Forget()
	p = s.alone(p)
	if p.Relay != nil {
		g, one, err := s.runner.Router.Relay(p.Relay, s.snap, &s.args)
		if err != nil {
			return err
		}
		if one {
			return s.relayTouched(p, g, r)
		}
	}
	n, rows := p.Root.(*plan.InsertRows)
	if rows && p.Relay == nil && r.packets != nil {
		if placed, one := s.runner.PlaceRows(s.execution(nil), p, s.snap, &s.args); one {
			if placed.Packets != nil {
				r.cmd, r.packets = wire.ComQuery, placed.Packets
			}
			s.generated = placed.InsertID
			return s.relayTouched(p, placed.Group, r)
		}
	}
	if (!rows || n.Indexed != nil) && !streams(p.Root) && s.onLoop() {
		return s.rootAside(p)
	}
	return s.root(p)
}

// relayTouched is relay of what uses the partitions that the Router has found.
func (s *Session) relayTouched(p *plan.Plan, g placement.NodeGroupID, r request) error {
	if err := s.announcePartitions(partitionUse{Touched: &s.runner.Router.Touched, write: writes(p) || p.Uses&plan.LocksRows != 0}); err != nil {
		return err
	}
	if s.tx == nil && writes(p) {
		s.beginCommit()
		defer s.endCommit()
	}
	return s.relay(p, g, r)
}

// execution is what the Runner runs with for the statement at hand, on connections from conns.
func (s *Session) execution(conns exec.Conns) exec.Execution {
	return exec.Execution{
		Conns: conns, Sequence: s.sequence(), Scanner: s, Database: s.db, Lenient: !s.Strict(), Padded: s.Padded(), Locked: s.locks != nil,
		FoundRows:  s.profile.Caps&wire.CapFoundRows != 0,
		Revision:   s.revision(),
		FixedClock: s.FixedClock, Moment: s.moment, Copied: s.copied, Sorting: s.sorting, SortLength: s.SortLength, MaxText: s.cfg.MaxText, Looker: s, Trace: s.traced,
	}
}

// root runs what no single node group answers.
func (s *Session) root(p *plan.Plan) error {
	if p.Root == nil && p.Kind == plan.Do && !p.Judge {
		return s.do()
	}
	if p.Root == nil {
		return s.refuse(p)
	}
	if err := s.unseen(p); err != nil {
		return err
	}
	switch p.Root.(type) {
	case *plan.ChangeRows, *plan.RowByRow, *plan.InsertRows:
		defer s.withoutLimits()()
	default:
		if p.Kind != plan.Select { // what is read in order to write
			defer s.withoutSelectLimit()()
		}
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
	defer s.runner.EndStage()
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
		return sqlerr.Unsupported("this statement over several node groups", "give the distribution key, or run its parts one after the other")
	}
	if err := s.withheld(p.Refuse); err != p.Refuse || !p.Judge || !s.mayBeTold(p) {
		return err
	}
	if fault := s.fault(s.groupOf(p)); fault != nil {
		return fault
	}
	return p.Refuse
}

// fault is what a server of g finds wrong with the statement at hand, which it does not run; nil if it finds nothing or cannot tell.
func (s *Session) fault(g placement.NodeGroupID) error {
	if s.stmt.Uses()&sqlparse.UserLock != 0 {
		return nil // it might take the lock at once, as a constant
	}
	return s.faultAsRead(g)
}

// faultAsRead is fault of a statement of which preparing computes nothing.
func (s *Session) faultAsRead(g placement.NodeGroupID) error {
	c, err := s.Get(g)
	if err != nil {
		return nil
	}
	s.prepares(c)
	st, err := c.Prepare(s.textToRead())
	if err == nil {
		c.CloseStmt(st.ID)
	}
	fault, told := errors.AsType[*sqlerr.Error](err)
	told = told && c.Usable() && fault.Code != sqlerr.NotPreparable
	if told {
		s.noteFault(c, fault)
	}
	s.done(c, err)
	if told {
		return fault
	}
	return nil
}

// textToRead is the text of the statement at hand for a server that is to find what is wrong with it: without passwords, and without the comment by
// which a database of MySQL, which has none, is single.
func (s *Session) textToRead() []byte {
	switch s.stmt.Kind() {
	case sqlparse.Account, sqlparse.Grant:
		return account.Masked(s.stmt)
	case sqlparse.Create, sqlparse.Alter:
		if s.cfg.Dialect.MariaDB() {
			break
		}
		st, err := ddl.Parse(string(s.stmt.SQL()), s.db, s.SQLMode, s.snap.Flavor, s.snap.ServerVersion)
		if err == nil && st.HasComment {
			return []byte(st.Rewrite())
		}
	}
	return s.stmt.SQL()
}

// mayBeTold reports whether the account may know what a server says of the text of p.
func (s *Session) mayBeTold(p *plan.Plan) bool {
	return !slices.ContainsFunc(p.JudgeAccess, func(a plan.Access) bool { return !may(s.account, a) })
}

// prepares notes that the statement at hand is prepared on c: a server computes what it takes for constants at once, and
// assigns user variables with it.
func (s *Session) prepares(c *backend.Conn) {
	if s.stmt.Uses()&sqlparse.WritesUserVariable != 0 {
		c.Dirty = true
	}
}

// scatter runs a plan over several node groups, or one whose text is not the client's own.
func (s *Session) scatter(p *plan.Plan) error {
	s.used.strategy = metrics.Scatter
	if _, ok := p.Root.(*plan.InsertRows); ok {
		s.used.strategy = metrics.Split
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
	s.client.Flight.Note(s.cfg.Clients.Clock(), flight.Several, 0, uint16(p.Kind))
	s.wide = true
	defer func() { s.wide = false }()
	out := s.newOutput()
	defer s.limitOutput(p, out)()
	sum, err := s.runner.Run(s.execution(from), p, s.snap, &s.args, out)
	if err == errReplan {
		return err
	}
	s.used.group, s.used.summary.Rows, s.used.summary.Bytes = conns.group, out.rows, out.bytes
	if err == nil && s.fromReplica && !s.cfg.Replicas.Alive() {
		err = errOutdated
	}
	if err != nil && out.columns == nil && s.leavesReplica(err) {
		conns.end()
		return errReplan
	}
	if err == errOutdated {
		err = sqlerr.ServerLost.New("a replica was read from while " + err.Error())
	}
	if err != nil {
		conns.end()
		return s.failed(err)
	}
	conns.keep()
	if len(s.runner.Warned)+len(conns.warnings) > 0 || !s.keepsWarnings(p) {
		s.diagnostics.Clear()
	}
	s.diagnostics.Add(s.runner.Warned...)
	s.diagnostics.Add(conns.warnings...)
	sum.Warnings += conns.pending
	s.valuesOnce(&sum.Warnings, &sum.Info)
	s.diagnostics.Cut(s.MaxWarnings)
	s.diagnostics.Counted(sum.Warnings)
	if sum.HasRows {
		if sum.Generated {
			s.lastInsertID = sum.LastInsertID
		}
		s.diagnostics.RowCount = -1
		if s.foundRows = out.rows; sum.Counted {
			s.foundRows = sum.Found
		}
		if p.FindsAll {
			s.foundRows = notCounted
		}
		return out.end(sum.Warnings)
	}
	s.diagnostics.RowCount = int64(sum.AffectedRows)
	if sum.Generated {
		s.lastInsertID = sum.LastInsertID
	}
	return s.writeOK(wire.OK{
		AffectedRows: sum.AffectedRows, LastInsertID: sum.LastInsertID, Warnings: sum.Warnings,
		Info: sum.Info, Status: s.status(),
	})
}
