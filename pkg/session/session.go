// Package session is one client: its variables, its prepared statements, its transaction, and the way of each of
// its statements from text to answer. Everything a statement does happens on the goroutine of its client, or on its socket.Loop, with two
// exceptions: what could hold up the Loop is run aside, on a goroutine that the client's waits for (onloop.go), and of several copies that
// are read at once a goroutine each reads the rows (gatheratonce.go). A statement of one node group usually needs neither.
//
// The way (see query.go): scan the text, look the shape up in the plan cache, or plan it; resolve its target; relay it
// to the one node group that can answer it, or run its plan over several. It reads one catalog.Snapshot per statement
// and never writes cluster state: DDL is a request to the controller.
package session

import (
	"context"
	"log/slog"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"skarv/pkg/account"
	"skarv/pkg/backend"
	"skarv/pkg/barrier"
	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/digest"
	"skarv/pkg/exec"
	"skarv/pkg/flight"
	"skarv/pkg/metrics"
	"skarv/pkg/mysqlserver"
	"skarv/pkg/pack"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/plancache"
	"skarv/pkg/planner"
	"skarv/pkg/processlist"
	"skarv/pkg/sequencecall"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/statistics"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
	"skarv/pkg/virtualdb"
	"skarv/pkg/wire"
	"skarv/pkg/workspace"
)

// Config is what the sessions of a process share. All of it is safe for concurrent use.
type Config struct {
	// Snapshot returns the present state of the cluster; never nil. NextSnapshot waits for one at or after revision.
	Snapshot     func() *catalog.Snapshot
	NextSnapshot func(ctx context.Context, revision int64) (*catalog.Snapshot, error)
	// Barrier is where sessions announce what they use.
	Barrier   *barrier.Barrier
	Dialect   *sqlparse.Dialect
	Planner   *planner.Planner
	Plans     *plancache.Cache
	Pools     *backend.Pools
	Hasher    backend.Hasher
	Sequences Sequences
	Workspace *workspace.Budget
	Estimates *statistics.Estimates
	DDL       DDL
	Peers     Peers // nil: there are no other processes
	Clients   *processlist.List
	Cluster   *virtualdb.Cluster
	Metrics   *metrics.Statements
	Digests   *digest.Digests
	Replicas  Replicas      // nil: all is read from primaries
	SlowQuery time.Duration // statements that take longer are logged; 0: none
	// MaxStatements bounds the prepared statements of one session.
	MaxStatements int
	// PackSize is how many statements of different sessions may go to a server in one write; 1: they do not.
	PackSize int
	// MaxText is how many bytes a statement may have that is sent to a server, 0: any.
	MaxText int
	// SQLMode is the sql_mode of a session that has set none.
	SQLMode string
	// Timeouts are how long the client of such a session may be silent.
	Timeouts variable.Timeouts
	Buffers  *Buffers
	Log      *slog.Logger
	Accounts Accounts

	// Transactions gives transactions over several node groups their ids.
	Transactions *txn.Coordinator
	// HoldCommits runs look while nothing is committed in the whole cluster.
	HoldCommits func(ctx context.Context, look func() error) error
	// WatchCommits runs look, and reports whether no commit over several node groups was to be seen by half meanwhile. The error is
	// look's.
	WatchCommits func(ctx context.Context, look func() error) (whole bool, err error)
}

// DDL runs schema changes: the controller, or the way to it.
type DDL interface {
	// DDL runs one statement on all node groups and returns when this process's snapshot shows the result. Errors are
	// *sqlerr.Error.
	DDL(ctx context.Context, r DDLRequest) (DDLResult, error)
}

// Accounts changes the accounts of the cluster.
type Accounts interface {
	// Run does what a statement says, and returns when this process's snapshot shows it. Errors are *sqlerr.Error.
	Run(ctx context.Context, st *account.Statement, by account.Session) (notes []*sqlerr.Error, err error)
	// Own gives an account all on a function or procedure that it has made.
	Own(ctx context.Context, name catalog.AccountName, k catalog.RoutineKey) error
	// Forget takes away what accounts of snap have been granted on a function or procedure that there is not any more.
	Forget(ctx context.Context, k catalog.RoutineKey, snap *catalog.Snapshot) error
}

// Peers is the other processes of the cluster.
type Peers interface {
	// Processes lists what their sessions do; missing names the processes that did not answer.
	Processes(ctx context.Context) (list []processlist.Process, missing []string, err error)
	// Kill is KILL of a session that is none of this process; onlyUser is empty if it may be anybody's. The error is an
	// *sqlerr.Error.
	Kill(ctx context.Context, id uint32, query bool, onlyUser string) error
}

// DDLRequest is one DDL statement and what of its session it depends on.
type DDLRequest struct {
	Database  string
	SQL       string
	SQLMode   string
	Charset   string
	Collation string
	// Session is further SET statements that bring a fresh session into the client's state.
	Session []string
	User    catalog.AccountName
	Roles   []catalog.AccountName // of User that are active
	// Made, if not zero: nothing is dropped but the table of that DDLResult.Made.
	Made uint64
}

// DDLResult is what the client is told.
type DDLResult struct {
	Affected uint64
	Warnings []diagnostics.Condition
	Made     uint64 // the table that was created, whatever its name is later
}

// Session implements mysqlserver.Handler for one client. All of it but reached belongs to the client's goroutine.
type Session struct {
	cfg    *Config
	conn   *mysqlserver.Conn
	stripe *metrics.Stripe
	log    *slog.Logger

	login
	settings
	outcome
	holding
	command
	statementAtHand
	announced
	caches
	reached
}

// login is who the client is, until it changes its user.
type login struct {
	user        string
	identity    catalog.AccountName   // by which the client has logged in
	identityID  string                // that account's ID: one that gets its name later is another one
	origin      catalog.Origin        // where it is
	account     *catalog.Account      // with what its active roles may
	accountFrom *catalog.Snapshot     // the snapshot account was looked up in
	roles       []catalog.AccountName // that are active, as far as the account has them
	admin       bool                  // of account: an administrator's

	definer catalog.AccountName // of the program that runs, whose account is meanwhile the session's
	// vouched: what runs is part of a statement that the account was allowed.
	vouched bool
}

// settings are what the client has set, until it resets its session.
type settings struct {
	variable.Meaning // of state, from adopt
	untold           variable.Untold
	ours             variable.Own
	db               string
	state            *backend.State
	profile          backend.Profile
	// toldMode is the mode that the client is told of while routines run in theirs, else nil.
	toldMode  *sqlparse.Mode
	multi     bool   // multi-statements allowed
	isolation string // SET TRANSACTION for the next transaction
}

// outcome is what a statement leaves for those behind it that ask.
type outcome struct {
	wrote        time.Duration // on the clock of Config.Clients: the end of the last statement that may have written
	lastInsertID uint64
	lastValues   sequencecall.Last
	foundRows    uint64 // or notCounted
	diagnostics  diagnostics.Area
}

// holding is what holds connections to servers beyond a statement, and what a transaction knows of itself.
type holding struct {
	tx *txn.Txn
	// early, not nil, has the savepoints set while autocommit is off and no transaction has begun.
	early *txn.Txn
	// movedIn is the transaction that has last moved rows with FULLTEXT keys.
	movedIn *txn.Txn
	mutex   *userLocks                              // GET_LOCK(); nil without
	temps   *temporaries                            // temporary tables; nil without
	locks   map[placement.NodeGroupID]*backend.Conn // LOCK TABLES
	locked  tableLocks                              // what locks are of

	commits    int             // that have begun, one in another
	committing []*backend.Conn // on which commit waits for as long as servers do, until they are given back
	momentary  bool            // the transaction is that of one SELECT
	handedOver bool            // the transaction was rolled back by Evict, and the client does not know

	statements statements // prepared; their cursors hold connections
}

// command is what belongs to the command at hand.
type command struct {
	snap   *catalog.Snapshot
	runner exec.Runner
	params wire.Params
	// working: a command runs; still so when the session is closed if it panicked.
	working bool
	calls   *calls // CALL; nil while no procedure runs
	bound   uint32 // the id of a prepared statement on the connection that executes it
	steady  bool   // that has executed it with values of the same types
	packet  []byte
	buffer  *[bufferSize]byte
	out     output
	outs    bool // the result at hand is the OUT parameters of a prepared CALL

	asked
	answering
}

// asked is how the statement at hand was asked.
type asked struct {
	args         exec.Arguments
	current      *prepared           // COM_STMT_EXECUTE
	substituted  *sqlparse.Statement // the statement with session values put in
	using        [][]byte            // EXECUTE as text: each parameter for a server that has the session's state; else nil
	settled      bool                // values of parameters are not as the client has sent them (see paramtype.Kept)
	given        []wire.ParamType    // of parameters, for bind
	usingTargets []string            // EXECUTE as text: the variable that each parameter is, "" for other expressions
}

// answering is where the answer goes, and in which form.
type answering struct {
	capture *capture // takes the answer instead of the client; nil for the client's own statements
	binary  bool     // rows leave in the binary protocol
	more    bool     // a further statement of the same packet follows
}

// statementAtHand is what belongs to the statement at hand.
type statementAtHand struct {
	stmt *sqlparse.Statement
	// generated is the value of the sequence that the row of an INSERT was given, if it is relayed; 0: none.
	generated uint64
	// checked, with info.Checked, is the view through which it writes.
	checked *planner.Rewritten
	// view, not nil, is what the client's statement writes to, while it is written for the table behind it.
	view *catalog.Table
	// judged is nil unless it runs over copies.
	judged *judgement
	// faults are the warnings with which a server has refused what the statement has sent it; see noteFault.
	faults []diagnostics.Condition
	// beforehand are the warnings of what was computed for the statement at hand before a server has run it: they are told with its own.
	beforehand []diagnostics.Condition
	// derivedFrom are the tables of information_schema that derived tables of the statement, by their names, stand for.
	derivedFrom map[string]string
	// variableColumns are columns of the result at hand that are other than the servers say; see variables.shown.
	variableColumns map[int]sqltypes.Column

	// for execution: see exec.Execution
	moment  time.Time
	copied  []*catalog.Table
	sorting int
	traced  *exec.Trace

	// for claim
	own    *txn.Txn // of an autocommit statement that writes to several node groups
	wide   bool     // it may use several node groups
	inside int      // its workspaces

	// deadlockable: it is relayed, and may be answered by an error that is not for the client.
	deadlockable bool

	// what it did, for metrics, digests and the slow log
	used        used
	replica     bool             // it reads from replicas where that can be; see mayReadReplica
	fromReplica bool             // it has had a connection to one
	began       time.Duration    // on the clock of Config.Clients
	planned     *plancache.Entry // what was planned first for it, if plans of it are kept: its own, unless it ran in another form
}

// used is what a statement used.
type used struct {
	group    placement.NodeGroupID
	strategy metrics.Strategy
	summary  wire.ResultSummary
	primary  bool // it reads from no replica: one was lost meanwhile
}

// announced is what the Barrier knows of the session: see hold.go.
type announced struct {
	hold     *barrier.Holder
	renewals uint64 // of the pools, when the outermost statement at hand began
	entered  bool   // a part of the statement at hand that writes was announced
	cutOff   bool   // it, or a further part of it, could not be: its transaction is over
}

// caches are what a session keeps so that it need not find it again; it could do without.
type caches struct {
	plans     [planSlots]*plancache.Entry // the shapes this session used last
	schema    int64                       // schema revision of plans
	tablesAsk tablesAsk
	hints     []*backend.Conn // by node group: last used
	spare     *conns          // for the next statement over node groups; nil while one has it
	ids       sequences       // see onloop.go
	plain     bool            // no server is reached by TLS, by the snapshot of plainOf
	plainOf   *catalog.Snapshot
	// withhold is keepsBack, made once.
	withhold func(sqlerr.Code) bool
	// The last plan that authorise has allowed, and to whom. Both never change.
	allowed struct {
		plan    *plan.Plan
		account *catalog.Account
	}
	packed pack.Member
}

// reached is what other goroutines read and write.
type reached struct {
	busy   sync.Mutex // held while a command runs; whoever evicts an idle session takes it
	client processlist.Client
}

// planSlots is the size of a session's own plan cache, a power of two. A shape may be in one of planPlaces places, from the one its fingerprint says:
// of a dozen shapes two nearly always say the same, and finding the plan in the cache of the process costs a sixth of a statement.
const (
	planSlots  = 32
	planPlaces = 4
)

// New returns the session of a client that has connected but not logged in yet.
func New(cfg *Config, conn *mysqlserver.Conn) *Session {
	s := &Session{
		cfg:    cfg,
		conn:   conn,
		stripe: cfg.Metrics.Stripe(conn.ID()),
		log:    cfg.Log,
	}
	s.params.MySQL = !cfg.Dialect.MariaDB()
	s.hold = cfg.Barrier.Join(s)
	s.withhold = s.keepsBack
	s.client.Init(conn, &s.runner)
	s.packed.Client = &s.client
	return s
}

// NewStatement implements exec.Scanner.
func (s *Session) NewStatement() (*sqlparse.Statement, sqlparse.Mode) {
	return s.cfg.Dialect.NewStatement(), s.Mode
}

// Account implements mysqlserver.Handler.
func (s *Session) Account(user string) *catalog.Account {
	return s.cfg.Snapshot().Client(user, s.conn.Origin())
}

// Authenticated implements mysqlserver.Handler: the client has logged in, or changed its user.
func (s *Session) Authenticated(own catalog.AccountName, db string, _ map[string]string) error {
	s.busy.Lock()
	defer s.busy.Unlock()
	login, was := s.account == nil, s.db
	s.startOver()
	s.leave()
	s.handedOver = false
	s.user, s.identity, s.origin, s.db = own.User(), own, s.conn.Origin(), ""
	s.snap = s.cfg.Snapshot()
	if a := s.snap.Accounts[own]; a != nil {
		s.identityID, s.roles = a.ID, s.snap.Accounts.Defaults(a)
	}
	if !s.followAccount() {
		s.account = nil
		return sqlerr.AccessDenied.New(s.user, s.origin.Host, "NO")
	}
	if err := s.reset(login, s.conn.Collation()); err != nil {
		return err
	}
	var unknown error
	if db != "" {
		if err := s.changeDB(db); !login && s.cfg.Dialect.MariaDB() && sqlerr.HasCode(err, sqlerr.UnknownDatabase) {
			unknown = err
			_ = s.changeDB(was) // stays, if the account may see it
		} else if err != nil {
			return err
		}
	}
	s.more = false
	s.conn.SetStatus(s.status())
	s.client.Login(s.user, s.address())
	s.cfg.Clients.Add(&s.client)
	return unknown
}

// Refused implements mysqlserver.Handler: the database stays, and the character sets.
func (s *Session) Refused() error {
	s.busy.Lock()
	defer s.busy.Unlock()
	var charsets []backend.Variable
	for _, v := range variable.CharsetVariables("", "") {
		if value, ok := s.state.Get(v.Name); ok {
			charsets = append(charsets, backend.Variable{Name: v.Name, Value: value})
		}
	}
	s.startOver()
	s.leave()
	s.handedOver, s.more = false, false
	if err := s.reset(false, s.conn.Collation()); err != nil {
		return err
	}
	err := s.adopt(s.state.With(s.state.DB, charsets...))
	s.conn.SetStatus(s.status())
	return err
}

// reset brings the session to the state it has right after login, or gets again from a server, but for its database. collation is the number of
// the one that the client asks for; 0 on MySQL: the servers' own.
func (s *Session) reset(login bool, collation uint16) error {
	s.outcome = outcome{foundRows: s.foundRows, wrote: s.wrote} // what servers leave
	s.isolation, s.ours = "", variable.Own{}
	s.untold = variable.NewUntold(s.cfg.Dialect.MariaDB(), &s.cfg.Timeouts)
	if login {
		s.multi = s.conn.Capabilities().Has(wire.CapMultiStatements) // from then on it is COM_SET_OPTION's
	}
	s.profile = backend.Profile{Caps: s.conn.Capabilities() & backend.ProfileCaps}
	s.closeStatements()
	vars, known := variable.OfCollation(s.cfg.Dialect.MariaDB(), collation)
	ask := variable.CollationNumbered(collation)
	if !login && collation == 0 && !s.cfg.Dialect.MariaDB() {
		known, ask = false, variable.GlobalCharset
	}
	err := s.adopt(backend.NewState("", append(vars, s.defaults(login)...)))
	s.followDB()
	if err == nil && !known && s.served() == nil {
		if vars, err = s.askCharset(ask); err != nil {
			return err
		}
		err = s.adopt(s.state.With(s.state.DB, vars...))
	}
	return err
}

// defaults are the variables that every connection is given although no client has set them: by these a statement is read, and its
// effects are kept or not, and a server's own may be others, or become others while the process runs; and by those of timeouts.go. The client's CLIENT_IGNORE_SPACE
// is part of the sql_mode, on MariaDB only until the session is reset.
func (s *Session) defaults(login bool) []backend.Variable {
	mode := s.cfg.SQLMode
	if s.conn.Capabilities().Has(wire.CapIgnoreSpace) && (login || !s.cfg.Dialect.MariaDB()) {
		mode = strings.TrimPrefix(mode+",IGNORE_SPACE", ",")
	}
	return append(s.untold.Told(),
		backend.Variable{Name: "@@session.`autocommit`", Value: "1"},
		backend.Variable{Name: "@@session.`sql_mode`", Value: sqltypes.Literal(mode)},
	)
}

// Close implements mysqlserver.Handler.
func (s *Session) Close() {
	s.cfg.Clients.Remove(&s.client)
	s.busy.Lock()
	defer s.busy.Unlock()
	defer s.cfg.Barrier.Leave(s.hold)
	if s.working || s.releasePanics() {
		s.abandon()
	}
	s.leave()
}

// releasePanics is release, and reports whether it panicked, which is told here.
func (s *Session) releasePanics() (panics bool) {
	defer func() {
		if p := recover(); p != nil {
			panics = true
			s.log.Error("the end of a session panicked", "panic", p, "stack", string(debug.Stack()))
		}
	}()
	s.release()
	return false
}

// abandon is release of a session that panicked, in the middle of a command or in release. What it still holds nobody knows but the pools,
// and on none of it anything may go on: the connections are closed.
func (s *Session) abandon() {
	s.log.Error("a session that panicked is given up", "trace", s.traceText())
	s.client.Idle(s.cfg.Clients.Clock()) // its text will be others'
	s.cfg.Pools.InterruptHeld(s)
	func() {
		defer func() { _ = recover() }() // the session may be half of what it should be; the panic that made it so was told
		s.release()
	}()
	for _, c := range s.cfg.Pools.Held(s) {
		c.Discard()
	}
}

// release gives back every backend connection the session holds; an open transaction is rolled back. Nobody waits for what is undone
// here: servers that say nothing for long lose the connections.
func (s *Session) release() {
	tooLong := time.AfterFunc(s.cfg.Transactions.Patience(), func() { s.cfg.Pools.InterruptHeld(s) })
	defer tooLong.Stop()
	for _, st := range s.statements.byID {
		s.closeCursor(st)
	}
	s.endTransaction()
	s.dropUserLocks()
	defer s.dropTemporaries()
	if s.locks != nil {
		_ = s.endLocked(plan.Rollback) // UNLOCK TABLES would commit
	}
	_ = s.unlock() // the client is gone, or wants all of it forgotten
}

// startOver is release for a client that stays: when it hears of it, its user-level locks are free.
func (s *Session) startOver() {
	if m := s.mutex; m != nil && m.conn.Usable() {
		s.client.Enter(m.conn)
		_, _ = m.conn.Exec("DO RELEASE_ALL_LOCKS()") // else the connection's end does it
		s.client.Leave(m.conn)
	}
	s.release()
}

// Handle implements mysqlserver.Handler.
func (s *Session) Handle(cmd wire.Command, payload []byte) error {
	if t := s.conn.Task(); !t.OnLoop() {
		s.busy.Lock()
	} else if !s.maySimply(cmd, payload) || !s.busy.TryLock() {
		return s.handleAside(t, cmd, payload)
	}
	defer s.busy.Unlock()
	s.beginWork()
	err := s.handle(cmd, payload)
	s.endWork()
	s.conn.SetStatus(s.status() &^ wire.StatusMoreResults) // what COM_PING tells
	if s.untold.InTransaction() {
		s.limitIdle()
	}
	return err
}

// beginWork and endWork enclose the work of a command, or of an event.
func (s *Session) beginWork() {
	s.working = true
	s.stmt = s.cfg.Buffers.statement()
}

func (s *Session) endWork() {
	s.leave()
	s.working = false
	s.cfg.Buffers.takeBack(s.stmt)
	s.stmt = nil
	if s.buffer != nil {
		s.cfg.Buffers.put(s.buffer)
		s.buffer = nil
	}
}

func (s *Session) handle(cmd wire.Command, payload []byte) error {
	s.more, s.binary, s.settled, s.using, s.usingTargets = false, false, false, nil, nil
	if s.client.Doomed() {
		return errKilled
	}
	s.snap = s.snapshot()
	if s.accountFrom != s.snap {
		if !s.followAccount() {
			return s.removed(cmd)
		}
		s.followDB()
	}
	switch cmd {
	case wire.ComQuery, wire.ComStmtExecute:
	default:
		s.client.Flight.Note(s.cfg.Clients.Clock(), flight.Command, 0, uint16(cmd))
	}
	switch cmd {
	case wire.ComQuery:
		return s.query(payload)
	case wire.ComStmtPrepare:
		s.client.ForgetKills() // it may wait for a table, and be killed
		return s.stmtPrepare(payload)
	case wire.ComStmtExecute:
		return s.stmtExecute(payload)
	case wire.ComStmtSendLongData:
		return s.sendLongData(payload)
	case wire.ComStmtClose:
		return s.stmtClose(payload)
	case wire.ComStmtReset:
		return s.stmtReset(payload)
	case wire.ComStmtFetch:
		return s.fetch(payload)
	case wire.ComInitDB:
		return s.initDB(payload)
	case wire.ComFieldList:
		return s.fieldList(payload)
	case wire.ComStatistics:
		return s.statistics()
	case wire.ComSetOption:
		return s.setOption(payload)
	case wire.ComResetConnection:
		s.startOver()
		s.handedOver = false
		collation := s.conn.Collation()
		if !s.cfg.Dialect.MariaDB() {
			collation = 0
		}
		if err := s.reset(false, collation); err != nil {
			return s.fail(err)
		}
		return s.ok(wire.OK{})
	case wire.ComProcessKill:
		if len(payload) < 4 {
			return sqlerr.MalformedPacket.New()
		}
		return s.kill(uint64(payload[0])|uint64(payload[1])<<8|uint64(payload[2])<<16|uint64(payload[3])<<24, false)
	default:
		return sqlerr.UnknownCommand.New()
	}
}

// removed ends the session, whose account is not there any more.
func (s *Session) removed(cmd wire.Command) error {
	if !cmd.NoAnswer() {
		why := sqlerr.AccessDenied.New(s.user, s.origin.Host, "YES")
		if len(s.snap.Groups) == 0 {
			why = NoCluster()
		}
		if err := s.conn.WriteErr(why); err != nil {
			return err
		}
		if err := s.conn.Flush(); err != nil {
			return err
		}
	}
	return errRemoved
}

// quoted is text as a literal of a statement of the session.
func (s *Session) quoted(text string) string {
	return sqltypes.Quoted(text, s.Mode&sqlparse.NoBackslashEscapes != 0)
}

// status is the session's state as OK and EOF packets carry it.
func (s *Session) status() wire.Status {
	var st wire.Status
	if s.Autocommit {
		st |= wire.StatusAutocommit
	}
	if s.tx != nil && !s.momentary || s.locks != nil && s.lockedInTransaction() {
		st |= wire.StatusInTrans
	}
	if s.tx != nil && s.tx.ReadOnly && !s.momentary {
		st |= wire.StatusInTransReadonly
	}
	mode := s.Mode
	if s.toldMode != nil {
		mode = *s.toldMode
	}
	if mode&sqlparse.NoBackslashEscapes != 0 {
		st |= wire.StatusNoBackslashEscapes
	}
	if mode&sqlparse.ANSIQuotes != 0 && s.cfg.Dialect.MariaDB() {
		st |= wire.StatusANSIQuotes
	}
	if s.more {
		st |= wire.StatusMoreResults
	}
	if s.outs {
		st |= wire.StatusPSOutParams
	}
	return st
}

// ok answers with an OK packet that has the session's status.
func (s *Session) ok(ok wire.OK) error {
	ok.Status = s.status() | ok.Status&wire.StatusDBDropped
	s.diagnostics.RowCount = int64(ok.AffectedRows)
	s.diagnostics.End(ok.Warnings, s.MaxWarnings)
	return s.writeOK(ok)
}

// changeDB is USE and COM_INIT_DB.
func (s *Session) changeDB(db string) error {
	if s.snap.LowerCaseTableNames != 0 {
		db = strings.ToLower(db)
	}
	if !isSystemDB(db) && !s.account.Sees(db) {
		return s.deniedDB(db)
	}
	if s.snap.Databases[db] == nil && !isSystemDB(db) {
		return s.nameRead(sqlerr.UnknownDatabase.New(db))
	}
	s.db = db
	s.followDB()
	return nil
}

// useDatabase is USE.
func (s *Session) useDatabase(p *plan.Plan) error {
	if err := s.changeDB(p.Name); err != nil {
		return err
	}
	return s.ok(s.changed(s.schemaChanged()))
}

// changed is ok as it is told to clients that want to know of any change of their session (session_track_state_change). What SET changes
// a server tells.
func (s *Session) changed(ok wire.OK) wire.OK {
	if on, set := s.state.Get("@@session.`session_track_state_change`"); set && !variable.IsOff(on) {
		ok.SessionState = wire.AppendSessionText(ok.SessionState, wire.ChangeAnything, "1")
	}
	return ok
}

// schemaChanged is the answer to USE, with the new default database for clients that track their session.
func (s *Session) schemaChanged() wire.OK {
	if off, set := s.state.Get("@@session.`session_track_schema`"); !s.conn.Capabilities().Has(wire.CapSessionTrack) || set && variable.IsOff(off) {
		return wire.OK{}
	}
	return wire.OK{SessionState: wire.AppendSessionText(nil, wire.ChangeSchema, s.db)}
}

// followDB makes the default database of backend connections the session's, as far as the servers have it: one that was
// dropped, perhaps by another session, leaves none, and statements that name their databases go on.
func (s *Session) followDB() {
	db, collation := s.db, ""
	if d := s.snap.Databases[db]; d != nil {
		collation = d.Collation
	} else if strings.EqualFold(db, catalog.VirtualDB) {
		db = "information_schema" // the servers have no such schema
	} else if !isSystemDB(db) {
		db = ""
	}
	s.profile.NoDB = db == ""
	if s.state != nil && (s.state.DB != db || s.state.Collation != collation) {
		s.state = s.state.In(db, collation)
	}
}

// isSystemDB tells the databases that show something from the users': the servers' and the virtual one.
func isSystemDB(db string) bool {
	kind := catalog.KindOf(db)
	return kind == catalog.ServerDatabase || kind == catalog.VirtualDatabase
}

// address is where the client is as the process list has it: its host and, if it has come by TCP, its port.
func (s *Session) address() string {
	if _, port, err := net.SplitHostPort(s.conn.RemoteAddr().String()); err == nil && s.origin.IP != "" {
		return s.origin.Host + ":" + port
	}
	return s.origin.Host
}
