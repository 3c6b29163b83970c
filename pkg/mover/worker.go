package mover

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"skarv/pkg/binlog"
	"skarv/pkg/pause"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// worker writes one target: what it is told, in that order, in transactions that also say how far it is. One transaction takes
// what has come in while the one before was written, so that many small ones of the source become few.
type worker struct {
	a      *attempt
	claim  *claim
	server Server
	in     chan item
	room   *semaphore.Weighted // bytes that may wait in in
	begun  binlog.Start        // what the target had before this attempt

	// The dispatcher's alone: what the worker has not been told of, because it had nothing to do with it.
	told time.Time

	// The worker's alone.
	conn   *conn
	stmt   [][]byte
	packet int // the server's max_allowed_packet
}

const (
	// batchRows and batchBytes bound one transaction, unless a single one of the source is larger.
	batchRows  = 2000
	batchBytes = 4 << 20
	// statementBytes bounds one statement, unless a single row is larger.
	statementBytes = 1 << 20
	// deleteRows bounds the keys of one DELETE, for which servers plan each one.
	deleteRows = 200
	// queueItems and queueBytes bound what waits for a worker, unless a single transaction of the source is larger.
	queueItems = 64
	queueBytes = 32 << 20
	// quiet is how often a worker notes a position that has come without changes.
	quiet = time.Second
)

func newWorker(a *attempt, k *claim) *worker {
	return &worker{a: a, claim: k, server: k.server, in: make(chan item, queueItems), room: semaphore.NewWeighted(queueBytes)}
}

// start says what the target has.
func (w *worker) start(at binlog.Start) { w.begun = at }

// send hands an item over. Changes that the target has already are left out.
func (w *worker) send(ctx context.Context, it item, g binlog.GTID) error {
	if it.ops != nil && w.begun.Applied.Contains(g) {
		return nil
	}
	w.told = time.Now()
	it.room = min(it.size(), queueBytes)
	if w.room.TryAcquire(it.room) {
		select {
		case w.in <- it:
			return nil
		default:
			w.room.Release(it.room)
		}
	}
	defer w.a.m.waits.On("node group " + w.server.Name + " to take more changes")()
	if err := w.room.Acquire(ctx, it.room); err != nil {
		return err
	}
	select {
	case w.in <- it:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pass tells the position if there has been nothing else to tell for a while. Movers' own transactions are not worth it: two movers
// would keep each other busy.
func (w *worker) pass(at binlog.Start, worth bool) {
	if !worth || time.Since(w.told) < quiet {
		return
	}
	w.told = time.Now()
	select {
	case w.in <- item{at: at}:
	default: // it has enough to do, and will hear of it
	}
}

// batch is what goes into one transaction.
type batch struct {
	at     binlog.Start
	tables map[*table]*rowSet
	order  []*table
	rows   int
	bytes  int
	ops    int64
	room   int64 // of its items
	wins   []*window
	cut    uint64
}

// rowSet is what is to become of rows of one table, by key.
type rowSet struct {
	at   map[string]int
	rows []target
}

// target is what one row is to be: gone, or after. A row of a copy is not expected to be there.
type target struct {
	key, after row
	fresh      bool
}

func (b *batch) add(it item) {
	b.at = it.at
	for _, o := range it.ops {
		b.put(o.table, target{key: o.key, after: o.after})
	}
	b.ops += int64(len(it.ops))
	b.room += it.room
	b.cut = it.cut
	if it.win == nil {
		return
	}
	b.wins = append(b.wins, it.win)
	if it.win.apply != nil {
		for _, r := range it.rows {
			b.put(it.win.table, target{key: r, after: r, fresh: true})
		}
	}
}

func (b *batch) put(t *table, r target) {
	set := b.tables[t]
	if set == nil {
		set = &rowSet{at: map[string]int{}}
		b.tables[t] = set
		b.order = append(b.order, t)
	}
	for _, v := range r.after {
		b.bytes += len(v)
	}
	key := string(t.keyOf(nil, r.key))
	if i, ok := set.at[key]; ok {
		r.fresh = false
		set.rows[i] = r
		return
	}
	set.at[key] = len(set.rows)
	set.rows = append(set.rows, r)
	b.rows++
}

// full reports whether the batch must be written before anything is added.
func (b *batch) full() bool {
	return len(b.wins) > 0 || b.cut != 0 || b.rows >= batchRows || b.bytes >= batchBytes
}

// complete reports whether the target must be just so far when it is written: nothing may be added.
func (b *batch) complete() bool {
	return b.cut != 0 || len(b.wins) > 0 && b.wins[len(b.wins)-1].check != nil
}

// finish ends its windows.
func (b *batch) finish(err error) {
	for _, win := range b.wins {
		win.finish(err)
	}
}

// run writes what it is told until ctx ends or it fails.
func (w *worker) run(ctx context.Context) error {
	for {
		b := batch{tables: map[*table]*rowSet{}}
		var it item
		select {
		case it = <-w.in:
		case <-ctx.Done():
			return ctx.Err()
		}
		b.add(it)
	more:
		for !b.full() {
			select {
			case it = <-w.in:
				b.add(it)
			default:
				break more
			}
		}
		err := w.write(ctx, &b)
		if collides(err) {
			it, err = w.writeLater(ctx, &b, it, err)
		}
		if err != nil {
			err = fmt.Errorf("node group %s: %w", w.server.Name, err)
			b.finish(err)
			return err
		}
		w.room.Release(b.room)
		w.a.m.noteApplied(&b)
		if it.win != nil && it.win.check != nil {
			err = w.compare(ctx, it.win, it.rows)
		}
		b.finish(err)
		if b.cut != 0 {
			w.a.m.update(func() { w.a.m.cut.noteOpen(b.cut, w.server.Group) })
		}
	}
}

const (
	// collisionPatience is how long a row that is in the way may take to go.
	collisionPatience = 10 * time.Second
	// collisionPause is between two tries meanwhile.
	collisionPause = 50 * time.Millisecond
)

// writeLater writes a batch of which a row has a unique value of another one on the target, with what comes behind it. Where the row has gone from the
// source by now, a client may have given its value to another one, which is on the target already, before the log has told of it here. it is
// the last item of the batch.
func (w *worker) writeLater(ctx context.Context, b *batch, it item, err error) (item, error) {
	defer w.a.m.waits.On("a row on node group " + w.server.Name + " that is in the way of one to be moved there")()
	for over := time.After(collisionPatience); collides(err); {
		if b.complete() {
			return it, w.collision(b, err)
		}
		gathered := time.After(collisionPause)
	more:
		for !b.complete() {
			select {
			case it = <-w.in:
				b.add(it)
			case <-gathered:
				break more
			case <-over:
				return it, w.collision(b, err)
			case <-ctx.Done():
				return it, ctx.Err()
			}
		}
		err = w.write(ctx, b)
	}
	return it, err
}

// collides reports whether a server has refused a row for another one with the same unique value.
func collides(err error) bool {
	c := code(err)
	return c == sqlerr.DuplicateEntry || c == sqlerr.DuplicateEntryOfKey
}

// noteApplied counts.
func (m *Mover) noteApplied(b *batch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.is.Applied += b.ops
}

// write writes a batch, and tries again as long as that may help: a batch gives the same result however often it is written.
func (w *worker) write(ctx context.Context, b *batch) error {
	const most = 5
	began := time.Now()
	defer w.a.m.waits.OnText(func() string { return writing(w.server.Name, b.rows, time.Since(began)) })()
	for try, wait := 0, 20*time.Millisecond; ; try, wait = try+1, 2*wait {
		err := w.writeOnce(ctx, b)
		if err == nil || ctx.Err() != nil || !passing(err) || try == most {
			return err
		}
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
	}
}

// mayBeLocked is how long a batch takes if something keeps the server from writing it.
const mayBeLocked = 5 * time.Second

// writing is what is said of a batch that a server has been writing for so long.
func writing(server string, rows int, since time.Duration) string {
	what := fmt.Sprintf("node group %s to write %d rows", server, rows)
	if since >= mayBeLocked {
		what += "; clients that have locked tables (LOCK TABLES) are waited for: SHOW PROCESSLIST and KILL help"
	}
	return what
}

// connect connects to the target, which ends whatever was under way there for this move.
func (w *worker) connect(ctx context.Context) (err error) {
	if w.conn != nil {
		w.conn.close()
	}
	if w.conn, err = w.claim.open(ctx); err != nil {
		w.conn = nil
		return err
	}
	packet, err := w.conn.value("SELECT @@max_allowed_packet")
	if err != nil {
		return err
	}
	w.packet, err = strconv.Atoi(packet)
	return err
}

func (w *worker) writeOnce(ctx context.Context, b *batch) (err error) {
	if w.conn == nil || !w.conn.Usable() {
		if err := w.connect(ctx); err != nil {
			return err
		}
	}
	err = w.transaction(b, false)
	if collides(err) {
		// Rows of the copy are there already: they were changed before they were copied, or copied before a crash.
		err = w.transaction(b, true)
	}
	return err
}

// transaction writes the batch in one transaction. replace deletes rows of the copy, too, before they are inserted.
func (w *worker) transaction(b *batch, replace bool) error {
	m := w.a.m
	applied := b.at.Applied.Union(w.begun.Applied)
	w.stmt = append(w.stmt[:0], []byte(leaveAutocommit), fmt.Appendf(nil,
		"UPDATE `_skarv`.`reorg_pos` SET step=step+1, applied=%s, reread=%s WHERE %s",
		quote(applied.String()), quote(b.at.Reread.String()), w.claim.mine()))
	for _, t := range b.order {
		w.deletes(t, b.tables[t], replace)
	}
	first := len(w.stmt)
	for _, t := range b.order {
		w.inserts(t, b.tables[t])
	}
	inserted := len(w.stmt)
	hit := "apply.changes"
	for _, win := range b.wins {
		if win.apply != nil {
			hit = "apply.chunk"
			w.stmt = append(w.stmt, win.apply.statement(m))
		}
	}
	if b.cut != 0 {
		w.stmt = append(w.stmt, fmt.Appendf(nil, "INSERT IGNORE INTO `_skarv`.`journal` VALUES (%s,%d,'%s',UTC_TIMESTAMP(6))",
			m.values(), b.cut, journalOpen))
	}
	for _, q := range w.stmt {
		if len(q) >= w.packet { // the server would end the connection, again and again
			return fmt.Errorf("%w: a row needs %d bytes as a statement; raise max_allowed_packet there", ErrPacket, len(q)+1)
		}
	}
	m.cfg.Hit(hit)
	oks, err := w.conn.all(w.stmt...)
	if err == nil && oks[1].AffectedRows != 1 {
		err = ErrSuperseded
	}
	if err == nil && slices.ContainsFunc(oks[first:inserted], func(ok wire.OK) bool { return ok.Warnings > 0 }) {
		err = w.warnings(b, first, inserted)
	}
	if err != nil {
		if w.conn.Usable() {
			_, _ = w.conn.Exec("ROLLBACK") // a connection that fails here is not used again
		}
		return err
	}
	m.cfg.Hit("apply.commit")
	if _, err := w.conn.Exec("COMMIT"); err != nil {
		w.conn.Interrupt() // what may still be open goes with the connection
		return err
	}
	m.cfg.Hit("apply.committed")
	return nil
}

// warnings finds out whether the server changed a value. It answers for the last statement only, so the transaction is begun again
// and its INSERTs are looked at one by one. The zero of an ENUM, for what was no member, always warns.
func (w *worker) warnings(b *batch, first, last int) error {
	enums := map[string]bool{}
	for _, t := range b.order {
		for i := range t.Columns {
			if strings.EqualFold(t.Columns[i].DataType, "enum") {
				enums[t.Columns[i].Name] = true
			}
		}
	}
	oks, err := w.conn.all(append([][]byte{[]byte("ROLLBACK")}, w.stmt[:first]...)...)
	if err == nil && oks[2].AffectedRows != 1 {
		err = ErrSuperseded // by whoever came when the row was let go of
	}
	if err != nil {
		return err
	}
	for _, q := range w.stmt[first:last] {
		if _, err := w.conn.all(q); err != nil {
			return err
		}
		_, rows, err := w.conn.QueryAll("SHOW WARNINGS LIMIT 100", 100)
		if err != nil {
			return err
		}
		for _, r := range rows {
			_, name, _ := strings.Cut(string(r[2]), "'")
			name, _, _ = strings.Cut(name, "'")
			if string(r[1]) != "1265" || !enums[name] {
				return fmt.Errorf("%w: node group %s changes a value: %s", ErrSchema, w.server.Name, r[2])
			}
		}
	}
	_, err = w.conn.all(w.stmt[last:]...)
	return err
}

// deletes adds the statements that delete rows that change or go.
func (w *worker) deletes(t *table, set *rowSet, all bool) {
	var q []byte
	n := 0
	flush := func() {
		if n > 0 {
			if len(t.key) == 1 {
				q = append(q, ')')
			}
			w.stmt = append(w.stmt, q)
		}
		q, n = nil, 0
	}
	for _, r := range set.rows {
		if r.fresh && !all {
			continue
		}
		if n == deleteRows || len(q) > statementBytes {
			flush()
		}
		if n == 0 {
			q = append(append(append(q, "DELETE FROM "...), t.name...), " WHERE "...)
			if len(t.key) == 1 {
				q = append(append(q, t.columns[t.key[0]].name...), " IN ("...)
			}
		} else if len(t.key) == 1 {
			q = append(q, ',')
		} else {
			q = append(q, " OR "...)
		}
		if len(t.key) == 1 {
			q = t.columns[t.key[0]].appendKey(q, r.key[t.key[0]])
		} else {
			q = t.appendIs(q, r.key)
		}
		n++
	}
	flush()
}

// inserts adds the statements that insert rows as they are to be.
func (w *worker) inserts(t *table, set *rowSet) {
	var q []byte
	for _, r := range set.rows {
		if r.after == nil {
			continue
		}
		if len(q) > statementBytes {
			w.stmt, q = append(w.stmt, q), nil
		}
		if q == nil {
			q = append(make([]byte, 0, statementBytes/4), "INSERT INTO "...)
			q = append(append(append(append(q, t.name...), " ("...), t.list...), ") VALUES "...)
		} else {
			q = append(q, ',')
		}
		q = t.appendTuple(q, r.after)
	}
	if q != nil {
		w.stmt = append(w.stmt, q)
	}
}

// collision finds the row that cannot be written.
func (w *worker) collision(b *batch, cause error) error {
	for _, t := range b.order {
		for _, r := range b.tables[t].rows {
			if r.after == nil {
				continue
			}
			one := batch{at: b.at, tables: map[*table]*rowSet{}}
			one.put(t, r)
			w.stmt = w.stmt[:0]
			w.stmt = append(w.stmt, []byte(leaveAutocommit))
			w.deletes(t, one.tables[t], true)
			w.inserts(t, one.tables[t])
			_, err := w.conn.all(append(w.stmt, []byte("ROLLBACK"))...)
			if collides(err) {
				return fmt.Errorf("%w: table %s, row %s, on node group %s: %w", ErrCollision, t.label, t.describe(r.after), w.server.Name, err)
			}
			if err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("rows of one transaction collide on node group %s: %w", w.server.Name, cause)
}

// encodeBounds is a key as it is kept in reorg_copy.
func encodeBounds(b [][]byte) string {
	if b == nil {
		return ""
	}
	return "k" + join(b, ",", func(v []byte) string { return hex.EncodeToString(v) })
}

func decodeBounds(text string, n int) ([][]byte, error) {
	if text == "" {
		return nil, nil
	}
	parts := strings.Split(text[1:], ",")
	if len(parts) != n {
		return nil, fmt.Errorf("%w: its notes are of a key of %s columns", ErrRecopy, strconv.Itoa(len(parts)))
	}
	b := make([][]byte, n)
	for i, p := range parts {
		v, err := hex.DecodeString(p)
		if err != nil {
			return nil, fmt.Errorf("%w: its notes are damaged", ErrRecopy)
		}
		b[i] = v
	}
	return b, nil
}
