package exec

import (
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/merge"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// Execution is what a statement is run with, beside its plan and its arguments. It belongs to whoever runs it, and is not used when the
// call that was given it has returned; but for a Changer and a Reading, which use it to their end.
type Execution struct {
	Conns    Conns
	Sequence Sequence
	// Scanner and Database, the default one, are for leaving out foreign rows; see foreign.go.
	Scanner  Scanner
	Database string
	Looker   Looker // may be nil
	// Revision of the schema that statements are prepared by; see backend.Conn.Statement.
	Revision int64
	// Lenient: the session's sql_mode is not strict.
	Lenient bool
	// Padded: sql_mode has PAD_CHAR_TO_FULL_LENGTH, CHAR columns are read and compared with the spaces behind their values.
	Padded bool
	// FoundRows: servers count rows that an UPDATE finds, not those it changes.
	FoundRows bool
	// Locked: the session has locked tables and may read no others: global indexes are not looked into.
	Locked bool

	// Now is the clock that statements over several groups are given one time from; nil is time.Now.
	Now func() time.Time
	// FixedClock: the session has set its timestamp variable itself, so all groups have one time already.
	FixedClock bool
	// Moment, when set, is the one time of a statement that takes more than one Run.
	Moment time.Time

	// SortLength is the session's max_sort_length, 0 if it is the servers' default.
	SortLength int
	// MaxText is how many bytes a statement may have that is sent to a node group, 0: any. Servers end the connection, and the transaction
	// with it, if one is longer than their max_allowed_packet.
	MaxText int
	// Copied are tables whose rows are copies, all of them, on every group: none of their rows are foreign.
	Copied []*catalog.Table
	// Sorting is how many Readings of a statement may sort at the same time: they share the memory for it. 0 is one.
	Sorting int
	// Trace, not nil, is told what each node group did.
	Trace *Trace
}

// Runner runs the plans of one session, one after the other. It keeps scratch memory from run to run. Only Interrupt may be called by
// another goroutine.
type Runner struct {
	// Router finds the groups; set its Home.
	Router Router
	// Warned are the warnings of the last statement that ran as a program (see rowWriter); those of others are on their
	// connections.
	Warned []diagnostics.Condition

	Execution // of what runs

	// hidden is the snapshot whose foreign rows are to be left out; nil: none are.
	hidden *catalog.Snapshot

	fragment int // the ID of the one that runs
	merged   mergeTrace

	// open, not nil, has parameters that the fragments sent leave open: they are executed as prepared statements.
	open  *Arguments
	which []int            // parameters of the text just made
	types []wire.ParamType // of these

	groups     []placement.NodeGroupID
	streams    []stream
	body       []byte
	info       []byte
	insert     *insertion              // of the last INSERT that was placed row by row; nil before the first
	owners     []placement.NodeGroupID // of the rows of the INSERT that runs
	collations collations
	staging    *catalog.Table        // of the statement whose Run ended with ErrStage, until its stage has taken the values reserved
	results    []result              // of the last write, group by group
	opened     []io.Closer           // what the steps of the statement have opened
	failed     placement.NodeGroupID // whose error heads returned
	limits     []limit               // of the plan that runs
	found      uint64                // rows counted by a Limit that counts all

	of *Runner // whose Reading this one runs; nil: it runs plans itself
	mu struct {
		sync.Mutex
		active []Conn        // acquired and not released, those of Readings among them
		cause  *sqlerr.Error // of Interrupt, for the statement that runs
	}
}

// whole is the Runner of the statement that r runs a part of.
func (r *Runner) whole() *Runner {
	if r.of != nil {
		return r.of
	}
	return r
}

// keepBytes is how much scratch memory outlives a statement: sessions are many and mostly idle.
const keepBytes = 64 << 10

// Interrupt makes the statement that runs fail with cause; without one it does nothing.
func (r *Runner) Interrupt(cause *sqlerr.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.mu.active) == 0 {
		return
	}
	r.mu.cause = cause
	for _, c := range r.mu.active {
		c.Interrupt() // sets a deadline, waits for nothing
	}
}

func (r *Runner) interrupted() error {
	r = r.whole()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.cause == nil {
		return nil
	}
	return r.mu.cause
}

// Run runs p.Root, with the arguments a, and gives its rows to sink. After an error sink may have got a part of the
// result. Errors are *sqlerr.Error, those of Conns and Sequence, or what sink returned.
func (r *Runner) Run(x Execution, p *plan.Plan, snap *catalog.Snapshot, a *Arguments, sink Sink) (Summary, error) {
	r.Execution = x
	if r.hidden = nil; snap.Map != nil && snap.Map.AnyForeign() {
		r.hidden = snap
	}
	r.Warned = r.Warned[:0]
	switch root := p.Root.(type) {
	case nil:
		if p.Refuse != nil {
			return Summary{}, p.Refuse
		}
		return Summary{}, sqlerr.Unsupported("this statement over several node groups", "give the distribution key, or run its parts one after the other")
	case *plan.InsertRows:
		sum, err := r.runInsert(p, root, snap, a, sink)
		if r.staging = nil; errors.Is(err, ErrStage) {
			r.staging = root.Table
		}
		return sum, err
	case *plan.ChangeRows:
		return r.runChangeRows(p, root, snap, a)
	}
	f, err := r.find(p, snap, a)
	if err != nil {
		return Summary{}, err
	}
	text := func(dst []byte, g placement.NodeGroupID) []byte {
		return r.appendFragment(dst, f, a, g, r.groups)
	}
	r.open = a
	defer func() { r.open = nil }()
	if f.Write {
		w := writing{same: f.Same, text: text}
		if f.Numbered != nil {
			w.behind = func(*Summary) error { return r.learn(f.Numbered) }
		}
		return r.write(p, w, sink)
	}
	return r.read(p, a, text, sink)
}

// find finds the node groups of p's fragment, and announces what the statement uses.
func (r *Runner) find(p *plan.Plan, snap *catalog.Snapshot, a *Arguments) (f *plan.Fragment, err error) {
	if f = fragmentOf(p.Root); f == nil {
		return nil, sqlerr.Internal.New("plan without a fragment")
	}
	r.fragment = f.ID
	if err := r.settleLimits(p.Root, a); err != nil {
		return nil, err
	}
	if f.Same {
		r.groups, err = everyCopy(snap, r.groups[:0])
	} else if f.Target.Kind == plan.ByIndex {
		r.groups, err = r.lookup(&f.Target, snap, a, p.Uses&plan.LocksRows != 0)
	} else {
		r.groups, _, err = r.Router.Route(&f.Target, snap, a, r.groups[:0])
	}
	if err != nil {
		return nil, err
	}
	r.Router.Touched.Copies = r.Router.Touched.Copies || f.Same && f.Write
	if !r.Router.Touched.None() {
		if err := r.Conns.Enter(&r.Router.Touched, f.Write || p.Uses&plan.LocksRows != 0); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// fragmentOf returns the fragment a plan's steps stand on.
func fragmentOf(n plan.Node) *plan.Fragment {
	for ; n != nil; n = plan.Input(n) {
		if f, ok := n.(*plan.Fragment); ok {
			return f
		}
	}
	return nil
}

// textOf appends the SQL for a group.
type textOf func(dst []byte, g placement.NodeGroupID) []byte

// read runs a statement that changes nothing on r.groups.
func (r *Runner) read(p *plan.Plan, a *Arguments, text textOf, sink Sink) (sum Summary, err error) {
	defer func() { r.finish(err) }()
	if err := r.acquire(p.Uses&plan.LocksRows != 0); err != nil {
		return sum, err
	}
	if m, ok := p.Root.(*plan.Merge); ok && len(m.Order) == 0 && p.Uses&plan.LocksRows != 0 && len(r.streams) > 1 {
		return r.readInTurn(p, a, text, sink)
	}
	timestamp := r.timestamp(p)
	if err := r.send(r.streams, timestamp, text); err != nil {
		return sum, err
	}
	if err := endClock(r.streams, timestamp); err != nil {
		return sum, err
	}
	return r.readAnswers(p.Root, a, sink)
}

// readAnswers reads what has been asked for, and gives rows to sink.
func (r *Runner) readAnswers(root plan.Node, a *Arguments, sink Sink) (sum Summary, err error) {
	answers, err := r.heads(r.streams)
	if err != nil {
		return sum, err
	}
	if answers.ok > 0 {
		return r.okSummary(answers)
	}
	sum, err = r.pass(root, a, sink)
	sum.Warnings = clampWarnings(uint(sum.Warnings) + uint(len(r.Warned)))
	return sum, err
}

// pass gives the streams' rows to sink, joined as root says.
func (r *Runner) pass(root plan.Node, a *Arguments, sink Sink) (sum Summary, err error) {
	r.know()
	sink, traced := r.traceMerge(root, sink)
	source, columns, err := r.build(root, a)
	if err != nil {
		return sum, err
	}
	sum.HasRows, sum.Groups = true, len(r.streams)
	if err := sink.Columns(columns); err != nil {
		return sum, err
	}
	for {
		row, err := source.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return sum, err
		}
		if err := sink.Row(row); err != nil {
			return sum, err
		}
		sum.Rows++
	}
	if sum.Counted = slices.ContainsFunc(r.limits, func(l limit) bool { return l.node.All || l.node.Offset != nil }); sum.Counted {
		sum.Found = r.found
	}
	traced(sum.Rows)
	warnings := uint(0)
	for i := range r.streams {
		warnings += r.streams[i].warnings
	}
	sum.Warnings = clampWarnings(warnings)
	return sum, nil
}

// readInTurn reads the rows of one group after the other, in ascending order, so that two statements that lock rows cannot
// wait for each other in different groups.
func (r *Runner) readInTurn(p *plan.Plan, a *Arguments, text textOf, sink Sink) (sum Summary, err error) {
	timestamp := r.timestamp(p)
	streams := r.streams
	defer func() { r.streams = streams }()
	first := &onceColumns{Sink: sink}
	warnings := uint(0)
	for i := range streams {
		r.streams = streams[i : i+1]
		if err := r.send(r.streams, timestamp, text); err != nil {
			return sum, err
		}
		if err := endClock(r.streams, timestamp); err != nil {
			return sum, err
		}
		answers, err := r.heads(r.streams)
		if err != nil {
			return sum, err
		}
		if answers.ok > 0 {
			return sum, sqlerr.Internal.New("a query was answered without rows")
		}
		one, err := r.pass(p.Root, a, first)
		if err != nil {
			return sum, err
		}
		if err := streams[i].answered(); err != nil {
			return sum, err
		}
		sum.Rows += one.Rows
		warnings += uint(one.Warnings)
	}
	sum.HasRows, sum.Groups, sum.Warnings = true, len(streams), clampWarnings(warnings)
	return sum, nil
}

// onceColumns is a Sink for the rows of several results that have the same columns.
type onceColumns struct {
	Sink
	columns []sqltypes.Column
}

func (o *onceColumns) Columns(cols []sqltypes.Column) error {
	if o.columns == nil {
		o.columns = cols
		return o.Sink.Columns(cols)
	}
	if len(cols) != len(o.columns) {
		return sqlerr.Internal.New("node groups answered with different numbers of columns: the table is not the same on all")
	}
	return nil
}

// acquire gets a connection to each of r.groups, before anything is sent: in ascending order, so that two statements
// cannot wait for each other.
func (r *Runner) acquire(write bool) error {
	r.streams = r.streams[:0]
	if len(r.groups) > 1 {
		if err := r.Conns.Admit(r.groups); err != nil {
			return err
		}
	}
	for _, g := range r.groups {
		if err := r.acquireOne(g, write); err != nil {
			return err
		}
	}
	return nil
}

func (r *Runner) acquireOne(g placement.NodeGroupID, write bool) error {
	c, err := r.Conns.Acquire(g, write)
	if err != nil {
		return err
	}
	r.streams = append(r.streams, stream{conn: c, group: g, runner: r})
	w := r.whole()
	w.mu.Lock()
	w.mu.active = append(w.mu.active, c)
	cause := w.mu.cause
	w.mu.Unlock()
	if cause != nil {
		return cause
	}
	return nil
}

// finish ends the use of all connections. err is how the statement ended.
func (r *Runner) finish(err error) {
	for i, c := range r.opened {
		_ = c.Close() // nothing is kept in it
		r.opened[i] = nil
	}
	r.opened = r.opened[:0]
	// A server's refusal usually comes from all groups alike and at once: reading it keeps the connections. After
	// anything else there may be nothing to wait for.
	patient, w := r.interrupted() == nil, r.whole()
	for i := range r.streams {
		if r.streams[i].err != nil {
			patient = false
		}
	}
	for i := range r.streams {
		s := &r.streams[i]
		r.trace(s)
		left := s.finish(patient)
		w.mu.Lock()
		for j, c := range w.mu.active {
			if c == s.conn {
				w.mu.active[j] = w.mu.active[len(w.mu.active)-1]
				w.mu.active = w.mu.active[:len(w.mu.active)-1]
				break
			}
		}
		w.mu.Unlock()
		if left == nil && !s.conn.Usable() {
			left = ErrUnread // interrupted at the last moment
		}
		r.Conns.Release(s.conn, left)
		*s = stream{}
	}
	r.traceMerged()
	r.streams = r.streams[:0]
	if cap(r.body) > keepBytes {
		r.body = nil
	}
	w.mu.Lock()
	if len(w.mu.active) == 0 {
		w.mu.cause = nil // else it is for the Readings beside this one, too
	}
	w.mu.Unlock()
}

// send writes each stream's part of the statement to it, behind timestamp, if there is one: endClock must follow. The answers must be
// read next.
func (r *Runner) send(streams []stream, timestamp []byte, text textOf) error {
	for i := range streams {
		if err := r.sendOne(&streams[i], len(streams) == 1, timestamp, text); err != nil {
			_ = endClock(streams[:i], timestamp)
			return err
		}
	}
	return nil
}

func (r *Runner) sendOne(s *stream, alone bool, timestamp []byte, text textOf) error {
	cmd, err := r.command(s, text)
	if err != nil {
		return err
	}
	r.traceText(s)
	if err := r.fits(r.body); err != nil { // before time stands still
		return err
	}
	if timestamp != nil {
		if err := s.send(timestamp); err != nil {
			return err
		}
	}
	if alone && timestamp == nil && r.of == nil {
		return s.ask(cmd, r.body) // there is nobody else to be asked meanwhile
	}
	return s.sendCommand(cmd, r.body)
}

// fits refuses what a server would break the connection for, and the transaction with it.
func (r *Runner) fits(text []byte) error {
	if !r.tooLong(text) {
		return nil
	}
	return sqlerr.Unsupported("a statement over several node groups whose text for one of them is longer than max_allowed_packet (byte strings count twice)",
		"INSERT long values with rows of one node group, or raise max_allowed_packet")
}

func (r *Runner) tooLong(text []byte) bool {
	const around = 64 // bytes that a server counts, too
	return r.MaxText > 0 && len(text) > r.MaxText-around
}

// endClock lets time go on where it was set.
func endClock(streams []stream, timestamp []byte) (first error) {
	for i := range streams {
		if s := &streams[i]; timestamp != nil && s.err == nil {
			if err := s.send([]byte("SET timestamp = DEFAULT")); err != nil && first == nil {
				first = err
			}
			s.resets = true
		}
	}
	return first
}

func (s *stream) send(sql []byte) error { return s.sendCommand(wire.ComQuery, sql) }

func (s *stream) sendCommand(cmd wire.Command, body []byte) error {
	if err := s.runner.fits(body); err != nil {
		return err
	}
	s.traceSent()
	s.resets = false
	return s.sent(s.conn.Send(cmd, body))
}

// ask is sendCommand of a statement whose answer is read next.
func (s *stream) ask(cmd wire.Command, body []byte) error {
	s.traceSent()
	s.resets = false
	return s.sent(s.conn.Ask(cmd, body))
}

func (s *stream) sent(err error) error {
	if err != nil {
		return s.failed(err)
	}
	s.heads++
	return nil
}

// timestamp is the statement that gives all groups one time, if p reads the clock on more than one; else nil.
func (r *Runner) timestamp(p *plan.Plan) []byte {
	if p.Uses&plan.ReadsClock == 0 || len(r.groups) < 2 && r.Moment.IsZero() || r.FixedClock {
		return nil
	}
	return r.setClock()
}

// setClock is the statement that sets a connection's time.
func (r *Runner) setClock() []byte {
	if r.Moment.IsZero() {
		return SetTimestamp(r.now())
	}
	return SetTimestamp(r.Moment)
}

func (r *Runner) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// SetTimestamp is the statement that makes the time on a server stand still at t.
func SetTimestamp(t time.Time) []byte {
	micros := t.UnixMicro()
	sql := strconv.AppendInt([]byte("SET timestamp = "), micros/1e6, 10)
	fraction := strconv.FormatInt(1e6+micros%1e6, 10)
	return append(append(sql, '.'), fraction[1:]...)
}

// answers is what the heads of all streams said.
type answers struct {
	ok, rows           int // how many of either kind
	affected, insertID uint64
	warnings           uint
	same               bool // all did the same: one's answer is everyone's
}

// heads reads the beginning of every stream's answer, and the rest of those without rows. All of them are read even
// if one fails, so that it is known what they did; the error is that of the lowest group.
func (r *Runner) heads(streams []stream) (answers, error) {
	var sum answers
	var first error
	r.info = r.info[:0]
	for i := range streams {
		s := &streams[i]
		head, err := s.answer()
		switch {
		case err != nil:
			if first == nil {
				first, r.failed = err, s.group
			}
			if r.interrupted() != nil {
				return sum, first
			}
		case head.OK == nil:
			sum.rows++
			s.columns = head.Columns
		default:
			s.columns = nil
			sum.ok++
			sum.add(head.OK)
			r.results = append(r.results, resultOf(head.OK))
			r.info = addInfo(r.info, head.OK.Info)
		}
	}
	if first == nil && sum.ok > 0 && sum.rows > 0 {
		first = sqlerr.Internal.New("some node groups answered with rows and some without")
	}
	return sum, first
}

// answered reads the answers that are still to come: of what was sent behind a statement that writes, SET timestamp.
func (s *stream) answered() error {
	for s.heads > 0 {
		if _, err := s.readHead(); err != nil {
			return err
		}
	}
	return nil
}

// keep keeps what the statement that s has written by has warned of: another one is to run on its connection, before it is released.
func (r *Runner) keep(s *stream) error {
	if err := s.answered(); err != nil {
		return err
	}
	r.Conns.Keep(s.conn)
	return nil
}

// answer reads the beginning of the statement's own answer, past that of SET timestamp.
func (s *stream) answer() (mysqlconn.Head, error) {
	if s.heads > 1 {
		if _, err := s.readHead(); err != nil {
			return mysqlconn.Head{}, err
		}
	}
	return s.readHead()
}

func (a *answers) add(ok *wire.OK) {
	a.affected += ok.AffectedRows
	if ok.LastInsertID != 0 {
		a.insertID = ok.LastInsertID
	}
	a.warnings += uint(ok.Warnings)
}

// okSummary is the Summary of a statement without rows.
func (r *Runner) okSummary(a answers) (Summary, error) {
	return Summary{
		AffectedRows: a.affected, LastInsertID: a.insertID, Warnings: clampWarnings(a.warnings), Info: r.info,
		Groups: len(r.streams),
	}, nil
}

// clampWarnings is a number of warnings as a packet can hold it.
func clampWarnings(n uint) uint16 { return uint16(min(n, math.MaxUint16)) }

func groupName(g placement.NodeGroupID) string { return "node group " + strconv.Itoa(int(g)) }

// sources returns the streams that have rows as a merge wants them. Of a DELETE with RETURNING some may have none: a server that sees that
// no row can match, by the keys of its part, answers as one without RETURNING. Of what reads heads has refused that.
func (r *Runner) sources() []merge.Source {
	sources := make([]merge.Source, 0, len(r.streams))
	for i := range r.streams {
		if r.streams[i].columns != nil {
			sources = append(sources, &r.streams[i])
		}
	}
	return sources
}

// columnsOf returns the columns all groups agree on that have rows.
func (r *Runner) columnsOf() ([]sqltypes.Column, error) {
	var columns []sqltypes.Column
	first := ""
	for i := range r.streams {
		s := &r.streams[i]
		switch {
		case s.columns == nil:
			continue
		case columns == nil:
			columns, first = append(columns, s.columns...), groupName(s.group)
			continue
		case len(s.columns) != len(columns):
			return nil, sqlerr.Internal.New(groupName(s.group) + " answered with " + strconv.Itoa(len(s.columns)) + " columns where " +
				first + " has " + strconv.Itoa(len(columns)) + ": the table is not the same on both")
		}
		for j := range columns {
			mergeColumn(&columns[j], &s.columns[j])
		}
	}
	return columns, nil
}
