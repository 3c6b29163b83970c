package mover

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
)

// Run copies and follows until ctx ends, and retries over failures of servers and connections. It returns nil when ctx has
// ended, else ErrSuperseded, ErrRecopy or another error nothing but a person can help with. All its state is on the
// servers: after a crash a new Mover goes on. The move must be prepared.
func (m *Mover) Run(ctx context.Context) error {
	m.update(func() { m.running, m.fatal = true, nil })
	err := m.attempts(ctx)
	m.update(func() {
		m.running, m.fatal = false, err
		if err != nil {
			m.is.Err = err.Error()
		}
	})
	return err
}

func (m *Mover) attempts(ctx context.Context) error {
	const most = 5 * time.Second
	wait := 50 * time.Millisecond
	for {
		began := time.Now()
		err := m.try(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if !passing(err) {
			return err
		}
		m.cfg.Log.WarnContext(ctx, "move of partitions is interrupted", "reorg", m.move.Reorg, "error", err)
		m.update(func() { m.is.Err = err.Error() })
		if time.Since(began) > time.Minute {
			wait = 50 * time.Millisecond
		}
		if pause.For(ctx, wait) != nil {
			return nil
		}
		wait = min(2*wait, most)
	}
}

// attempt is one stream from the source and all that hangs on it, until the first failure.
type attempt struct {
	m        *Mover
	run      string // tells this attempt's watermarks from others': they begin at one each time, and an old one may come late
	stream   *binlog.Stream
	branches string // position up to which branches may end whose rows are not known, or anyBranch
	workers  map[placement.NodeGroupID]*worker
	copies   []*copying
	source   desk // for single statements that are not to wait for a connection
	placer   placer
	maps     map[*binlog.Table]*mapping
	bad      error         // met where it could not be returned
	heard    func() uint64 // of stream
	reading  atomic.Bool   // the dispatcher waits for the stream
	// unfinished are the branches that are prepared where the stream is; the dispatcher's alone.
	unfinished func() []binlog.XID

	mu        sync.Mutex
	seq       uint64             // of the last window
	windows   map[uint64]*window // begun and not ended
	abandoned bool               // no window begins any more
	open      []*window          // of windows, those between their watermarks; the dispatcher's alone
}

func (m *Mover) newAttempt() *attempt {
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	return &attempt{
		m: m, run: hex.EncodeToString(id[:]), workers: map[placement.NodeGroupID]*worker{}, maps: map[*binlog.Table]*mapping{},
		windows: map[uint64]*window{},
	}
}

// hangUp closes the connections, after all who use them have ended.
func (a *attempt) hangUp() {
	a.source.close()
	for _, w := range a.workers {
		if w.conn != nil {
			w.conn.close()
		}
	}
}

// try runs one attempt.
func (m *Mover) try(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	a := m.newAttempt()
	defer a.hangUp()
	a.source.dial = func() (*conn, error) { return m.dial(ctx, m.move.Source) }
	if err := m.loadCuts(ctx); err != nil {
		return err
	}
	start, err := a.load(ctx)
	if err != nil {
		return err
	}
	opened := m.waits.On("node group " + m.move.Source.Name + " to send its log")
	a.stream, err = binlog.Open(ctx, binlog.Config{
		Conn: m.move.Source.Conn, Flavor: m.move.Source.Flavor, Start: start, Tables: a.wanted, Keep: a.keep, MaxBuffer: m.cfg.MaxBuffer,
	})
	opened()
	if err != nil {
		return logError(err)
	}
	defer a.stream.Close()
	a.heard, a.unfinished = a.stream.Heard, a.stream.Branches
	m.update(func() { m.attempt, m.is.Err = a, "" })
	defer func() {
		m.update(func() {
			m.attempt = nil
			if m.is.Phase == Following {
				m.is.Phase = Interrupted // until the lag is measured again
			}
		})
		a.abandon()
	}()
	for _, w := range a.workers {
		g.Go(func() error { return w.run(ctx) })
	}
	g.Go(func() error { return a.dispatch(ctx) })
	g.Go(func() error {
		if !m.move.Follow {
			if err := a.copyAll(ctx); err != nil {
				return err
			}
		}
		m.setCopied()
		return a.measure(ctx)
	})
	return g.Wait()
}

// lagPause is between two measurements of the lag.
const lagPause = 200 * time.Millisecond

// measure finds out, again and again, how far the targets are behind: with the first result, the mover follows.
func (a *attempt) measure(ctx context.Context) error {
	m := a.m
	for {
		lag, err := a.lag(ctx)
		if err != nil {
			return err
		}
		watching := false
		m.update(func() {
			m.is.Lag, m.asked = lag, time.Time{}
			if m.is.Phase != Cutting && m.is.Phase != Watching {
				m.is.Phase = Following
			}
			if watching = m.is.Phase == Watching; watching {
				m.is.Lag = 0
			}
		})
		if watching {
			return nil // nothing is applied any more
		}
		if err := pause.For(ctx, lagPause); err != nil {
			return err
		}
	}
}

// lag is the time from a mark on the source until all targets have everything in front of it.
func (a *attempt) lag(ctx context.Context) (time.Duration, error) {
	w := &window{}
	a.begin(w)
	began := time.Now()
	a.m.mu.Lock()
	a.m.asked = began
	a.m.mu.Unlock()
	if err := a.source.use(ctx, func(c *conn) error { return a.mark(c, w.seq, "S") }); err != nil {
		return 0, err
	}
	err := a.await(ctx, w)
	return time.Since(began), err
}

// logError sorts the errors of a Stream.
func logError(err error) error {
	switch {
	case errors.Is(err, binlog.ErrPurged):
		return fmt.Errorf("%w: %w", ErrRecopy, err)
	case errors.Is(err, binlog.ErrFormat), errors.Is(err, binlog.ErrTooLarge), errors.Is(err, binlog.ErrDamaged):
		return fmt.Errorf("%w: %w", ErrLog, err)
	}
	return err
}

// setCopied notes that nothing is left to be copied.
func (m *Mover) setCopied() {
	m.update(func() {
		select {
		case <-m.copied:
		default:
			close(m.copied)
		}
		m.is.TablesDone, m.is.Table = m.is.TablesTotal, ""
	})
}

// load takes over the targets, reads how far they are, and returns where the stream begins: nowhere behind any of them.
func (a *attempt) load(ctx context.Context) (binlog.Start, error) {
	m := a.m
	fresh := false
	starts := map[placement.NodeGroupID]binlog.Start{}
	for _, g := range m.groups {
		w := newWorker(a, m.claim(g))
		a.workers[g] = w
		if err := w.connect(ctx); err != nil {
			return binlog.Start{}, err
		}
		_, rows, err := w.conn.QueryAll("SELECT state, applied, reread, xa FROM `_skarv`.`reorg_pos` WHERE "+m.mine(), 1)
		if err != nil {
			return binlog.Start{}, err
		}
		if len(rows) == 0 {
			return binlog.Start{}, ErrSuperseded
		}
		if string(rows[0][0]) == stateFresh {
			fresh = true
			continue
		}
		a.branches = string(rows[0][3])
		var s binlog.Start
		if s.Applied, err = binlog.ParsePosition(m.move.Source.Flavor, string(rows[0][1])); err != nil {
			return binlog.Start{}, err
		}
		if s.Reread, err = binlog.ParsePosition(m.move.Source.Flavor, string(rows[0][2])); err != nil {
			return binlog.Start{}, err
		}
		starts[g] = s
	}
	if fresh {
		return a.beginAll(ctx)
	}
	var start binlog.Start
	for i, g := range m.groups {
		a.workers[g].start(starts[g])
		if i == 0 {
			start = starts[g]
			continue
		}
		start.Applied = start.Applied.Intersect(starts[g].Applied)
		start.Reread = start.Reread.Intersect(starts[g].Reread)
	}
	return start, nil
}

// beginAll has the stream begin here for all targets: nothing has been copied before they all know where.
func (a *attempt) beginAll(ctx context.Context) (binlog.Start, error) {
	m := a.m
	at, branches, err := a.findStart(ctx)
	if err != nil {
		return binlog.Start{}, err
	}
	m.cfg.Hit("begin.position")
	for _, g := range m.groups {
		w := a.workers[g]
		if err := m.activate(w.conn, w.claim, at, branches); err != nil {
			return binlog.Start{}, fmt.Errorf("node group %s: %w", w.claim.server.Name, err)
		}
		m.cfg.Hit("begin.noted")
	}
	a.branches = branches
	start := binlog.Start{Applied: at, Reread: at}
	for _, w := range a.workers {
		w.start(start)
	}
	return start, nil
}

// loadCuts reads what is known of cuts: which there were, and what became of them.
func (m *Mover) loadCuts(ctx context.Context) error {
	read := func(c *conn, note func(epoch uint64, kind string)) error {
		_, rows, err := c.QueryAll("SELECT epoch, kind FROM `_skarv`.`journal` WHERE "+m.mine()+" ORDER BY epoch", 1<<20)
		if err != nil {
			return err
		}
		for _, r := range rows {
			epoch, err := strconv.ParseUint(string(r[0]), 10, 64)
			if err != nil {
				return err
			}
			note(epoch, string(r[1]))
		}
		return nil
	}
	err := m.once(ctx, m.move.Source, func(c *conn) error {
		return read(c, func(epoch uint64, kind string) {
			m.update(func() { m.cut.note(epoch, kind) })
		})
	})
	for _, g := range m.groups {
		if err == nil {
			err = m.once(ctx, m.move.Targets[g], func(c *conn) error {
				return read(c, func(epoch uint64, kind string) {
					if kind == journalOpen {
						m.update(func() { m.cut.noteOpen(epoch, g) })
					}
				})
			})
		}
	}
	return err
}

// note takes in a row of the source's journal.
func (s *cutState) note(epoch uint64, kind string) {
	switch kind {
	case journalCut:
		s.last = max(s.last, epoch)
	case journalCancel:
		s.cancelled[epoch] = true
	case journalPublished:
		s.published = max(s.published, epoch)
	}
}

func (s *cutState) noteOpen(epoch uint64, g placement.NodeGroupID) {
	if s.opened[epoch] == nil {
		s.opened[epoch] = map[placement.NodeGroupID]bool{}
	}
	s.opened[epoch][g] = true
}

// held reports whether the cut is neither cancelled nor published.
func (s *cutState) held(epoch uint64) bool { return !s.cancelled[epoch] && s.published < epoch }

// wanted says which tables of the source's log are looked at.
func (a *attempt) wanted(schema, name string) bool {
	return ownTable(schema, name) || a.m.byName[schema+"\x00"+name] != nil
}

// ownTable tells the tables that steer movers from others in the same database, such as those of global indexes, whose rows
// are moved like any.
func ownTable(schema, name string) bool {
	return schema == catalog.OwnDB && (name == wmTable || name == journalTab || name == posTable)
}

// keep says which changes are: ours, and those of rows in the move's partitions.
func (a *attempt) keep(c *binlog.Change) bool {
	if a.bad != nil {
		return false
	}
	if ownTable(c.Table.Schema, c.Table.Name) {
		return true
	}
	o, err := a.place(c)
	if err != nil {
		a.bad = err
	}
	return o.from != 0 || o.to != 0
}

// placed is a change of a row with where the row was and is to be; 0: not on a target of this move.
type placed struct {
	table         *table
	before, after row
	from, to      placement.NodeGroupID
	part          placement.Partition // of either, for reports
}

// place finds out whom a change concerns.
func (a *attempt) place(c *binlog.Change) (o placed, err error) {
	mapped := a.maps[c.Table]
	if mapped == nil {
		t := a.m.byName[c.Table.Schema+"\x00"+c.Table.Name]
		if mapped, err = newMapping(t, c.Table); err != nil {
			return o, err
		}
		if len(a.maps) > 10*len(a.m.tables)+100 {
			clear(a.maps)
		}
		a.maps[c.Table] = mapped
	}
	o = placed{table: mapped.table, before: mapped.row(c.Before), after: mapped.row(c.After)}
	for _, side := range []struct {
		r  row
		to *placement.NodeGroupID
	}{{o.before, &o.from}, {o.after, &o.to}} {
		if side.r == nil {
			continue
		}
		p, err := a.placer.partition(o.table, side.r)
		if err != nil {
			return o, err
		}
		if *side.to = a.m.target(p); *side.to != 0 {
			o.part = p
		}
	}
	return o, nil
}

// changesTable reports whether a statement of the log alters one of the move's tables.
func (m *Mover) changesTable(statement, schema string) (string, bool) {
	if statement == "" {
		return "", false
	}
	alters := m.altered(statement, schema)
	for _, t := range m.tables {
		if alters(t.Database, t.Name) {
			return t.label, true
		}
	}
	return "", false
}

// altered returns whether a statement alters, or drops, the table of a database and a name.
func (m *Mover) altered(statement, schema string) func(db, name string) bool {
	const newest = "99.99.99" // servers log what they have run
	// The log does not say which sql_mode it was.
	for _, mode := range []string{"", "ANSI_QUOTES"} {
		st, err := ddl.Parse(statement, schema, mode, m.move.Source.Flavor, newest)
		if err != nil {
			continue
		}
		alters := st.Verb == ddl.CreateTable && st.OrReplace || slices.Contains([]ddl.Verb{
			ddl.AlterTable, ddl.CreateIndex, ddl.DropDatabase, ddl.DropIndex, ddl.DropTable, ddl.RenameTable, ddl.TruncateTable}, st.Verb)
		return func(db, name string) bool {
			return alters && slices.ContainsFunc(st.Objects, func(o ddl.Name) bool {
				return strings.EqualFold(o.DB, db) && (strings.EqualFold(o.Name, name) || st.Verb == ddl.DropDatabase)
			})
		}
	}
	return alteredByWords(statement, schema)
}

// alteredByWords is altered of a form that Skarv does not know. It takes any word for the table's name.
func alteredByWords(statement, schema string) func(db, name string) bool {
	words := strings.FieldsFunc(statement, func(r rune) bool { return strings.ContainsRune(" \t\r\n`.,;()\"", r) })
	has := func(words []string, any ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool {
			return slices.ContainsFunc(any, func(s string) bool { return strings.EqualFold(w, s) })
		})
	}
	kind := words[:min(len(words), 4)]
	if !has(kind[:min(len(kind), 1)], "ALTER", "DROP", "TRUNCATE", "RENAME", "CREATE") || has(kind, "TEMPORARY") ||
		!has(kind, "TABLE", "TABLES", "INDEX", "TRUNCATE") {
		return func(string, string) bool { return false }
	}
	return func(db, name string) bool {
		return has(words[1:], name) && (strings.EqualFold(schema, db) || has(words[1:], db))
	}
}
