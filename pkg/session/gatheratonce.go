package session

import (
	"errors"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"skarv/pkg/exec"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// Copies of a statement that changes and locks nothing are read at the same time:
//
//	session's goroutine   begin, Start ──► Start ──► ...   takes rows, fills copies, begins what can begin now   ──► End, all waited for
//	a goroutine for each           └─ Read ── rows ──┴──────────────────►
//
// All that belongs to the session, and the workspace, is used by its own goroutine alone; the others read what has been asked
// for, and hand rows over in portions. The first error ends all of them.
//
// A copy that is read by the values of another one waits for that one, or until it has too many of them. A copy waits, too, while
// there is no connection for it: the session's own (see conns.borrow), or one that is to spare; those behind it need not wait with
// it. The first one alone waits in the pool's queue, like any statement.

const (
	// maxAtOnce bounds the copies of a statement that are read at the same time.
	maxAtOnce = 8
	// portion is the size of the rows that are handed over at a time, unless one is larger.
	portion = 32 << 10
)

// errStopped ends the reading of a copy that nobody needs any more.
var errStopped = errors.New("another copy of the statement has failed")

// atOnce makes copies at the same time.
func (g *gathering) atOnce(list []*copying) error {
	defer func(wide bool) { g.s.wide = wide }(g.s.wide)
	g.s.wide = true
	defer func(n int) { g.s.sorting = n }(g.s.sorting)
	g.s.sorting = min(maxAtOnce, sorts(list))
	a := &atOnce{
		g: g, waiting: slices.Clone(list), rows: make(chan rowsRead), stop: make(chan struct{}),
		beside: beside{groups: map[placement.NodeGroupID]int{}},
	}
	err := a.run()
	if err == nil || err == errReplan || err == errAnotherWay {
		return err
	}
	return g.s.failed(asServerLost(err))
}

// sorts is how many of the copies are sorted while they are read.
func sorts(list []*copying) (n int) {
	for _, c := range list {
		q := c.copy().Query
		if q == nil {
			continue
		}
		for step := q.Root; step != nil; step = plan.Input(step) {
			if _, ok := step.(*plan.Sort); ok {
				n++
				break
			}
		}
	}
	return n
}

// atOnce is one execution.
type atOnce struct {
	g       *gathering
	beside  beside
	waiting []*copying // that have not begun to be read, in their order
	reading []*reader
	done    []*reader
	readers sync.WaitGroup
	rows    chan rowsRead
	stop    chan struct{} // closed when the readers are to end
}

// reader reads the rows of one copy.
type reader struct {
	*copying
	conns   conns
	reading reading
	begun   bool // its goroutine has
	// Of its goroutine, until that has sent what is last:
	columns []sqltypes.Column // not handed over yet
	rows    [2]rowsRead       // one is filled, while the other one may be looked at
	turn    int
	sum     exec.Summary
	err     error
}

// reading is what is asked of an exec.Reading.
type reading interface {
	Read(exec.Sink) (exec.Summary, error)
	Interrupt()
	End(err error)
}

// rowsRead is rows of one copy, which are valid until the next ones are taken from any reader.
type rowsRead struct {
	of      *reader
	columns []sqltypes.Column // with the first of them
	text    []byte
	ends    []int
	last    bool // the reader has nothing more, and its sum and err can be looked at
}

// run returns when all copies are made, or after an error, and no goroutine is left.
func (a *atOnce) run() (err error) {
	defer func() {
		if err != nil || len(a.reading) > 0 { // else a panic
			err = a.end(err)
		}
	}()
	for _, c := range a.waiting {
		if c.copy().Query != nil { // now, for it may turn out that its rows cannot be copied: then nobody has been asked for any
			if err := c.begin(); err != nil {
				return err
			}
		}
	}
	for {
		if err := a.begin(); err != nil {
			return err
		}
		if len(a.reading) == 0 {
			break
		}
		if r := a.reading[0]; len(a.reading) == 1 && !r.begun && len(a.waiting) == 0 { // there is nobody to share the time with
			r.sum, r.err = r.reading.Read(r.filler)
			if err := a.finish(r); err != nil {
				return err
			}
			continue
		}
		for _, r := range a.reading {
			if !r.begun {
				r.begun = true
				a.readers.Go(func() { r.read(a) })
			}
		}
		if err := a.take(<-a.rows); err != nil {
			return err
		}
	}
	if len(a.waiting) > 0 {
		return sqlerr.Internal.New("copies that wait for each other")
	}
	for _, r := range a.done {
		r.conns.keep() // which may end the transaction
	}
	return nil
}

// begin lets those copies begin that can.
func (a *atOnce) begin() error {
	for i := 0; i < len(a.waiting) && len(a.reading) < maxAtOnce; {
		c := a.waiting[i]
		if c.busy || !a.ready(c) {
			i++
			continue
		}
		if c.name == "" {
			if err := c.begin(); err != nil {
				return err
			}
		}
		if c.plan != nil {
			r := &reader{copying: c, conns: conns{s: a.g.s, plan: c.plan, beside: &a.beside}}
			a.g.s.args.Lists = c.lists
			c.began = time.Now()
			var err error
			r.reading, err = a.g.s.runner.Start(a.g.s.execution(&r.conns), c.plan, a.g.s.snap, &a.g.s.args)
			if err == errBusy {
				c.busy = true
				i++
				continue
			}
			if err != nil {
				return c.end(exec.Summary{}, err)
			}
			a.beside.running++
			a.reading = append(a.reading, r)
		}
		a.waiting = slices.Delete(a.waiting, i, i+1)
		i = 0 // others may have waited for this one
	}
	return nil
}

// ready reports whether all is known that will be of the values by which c is read.
func (a *atOnce) ready(c *copying) bool {
	for _, j := range c.copy().Joins {
		if slices.ContainsFunc(a.waiting, func(o *copying) bool { return o.at == j.From }) {
			return false
		}
		if k := a.g.keys[source{j.From, j.Source}]; k != nil && !k.Many() && slices.ContainsFunc(a.reading, func(o *reader) bool { return o.at == j.From }) {
			return false
		}
	}
	return true
}

// take takes what a reader has read.
func (a *atOnce) take(rows rowsRead) error {
	if rows.columns != nil {
		if err := rows.of.filler.Columns(rows.columns); err != nil {
			return err
		}
	}
	from := 0
	for _, end := range rows.ends {
		if err := rows.of.filler.Row(rows.text[from:end]); err != nil {
			return err
		}
		from = end
	}
	if !rows.last {
		return nil
	}
	return a.finish(rows.of)
}

// finish ends a reading that has come to its end.
func (a *atOnce) finish(r *reader) error {
	a.drop(r)
	for _, c := range a.waiting {
		c.busy = false
	}
	a.done = append(a.done, r)
	return r.copying.end(r.sum, r.err)
}

// drop releases the connections of a reader whose goroutine has ended, or is about to.
func (a *atOnce) drop(r *reader) {
	a.reading = slices.DeleteFunc(a.reading, func(o *reader) bool { return o == r })
	a.beside.running--
	r.reading.End(r.err)
}

// end ends all readings, after err, and returns what the statement ends with: a deadlock counts before everything
// else, for the transaction is over. Connections of a transaction are read to the end of what they were asked (see
// conns.Release); so are those of a statement that goes another way, unless there is much to be read, for it needs them at once.
// Others are lost, so that nobody waits for their servers.
func (a *atOnce) end(err error) error {
	close(a.stop)
	if !a.g.s.hasOwnRows() && err != errAnotherWay {
		for _, r := range a.reading {
			r.reading.Interrupt()
		}
	}
	a.readers.Wait()
	for len(a.reading) > 0 {
		r := a.reading[0]
		if !r.begun {
			r.err = errStopped
		}
		if a.g.s.tx != nil && sqlerr.MayRollBack(r.err) {
			err = r.err
		}
		a.drop(r)
	}
	return err
}

// read is the goroutine of r.
func (r *reader) read(a *atOnce) {
	sink := handOver{r, a}
	defer func() {
		if p := recover(); p != nil {
			a.g.s.log.Error("reading a copy panicked", "panic", p, "stack", string(debug.Stack()))
			r.reading.Interrupt() // nobody knows how far its answers have been read
			r.err = sqlerr.Internal.New("reading a copy failed; see the server's log")
		}
		_ = sink.send(true)
	}()
	r.sum, r.err = r.reading.Read(sink)
}

// handOver is the Sink of a reader.
type handOver struct {
	r *reader
	a *atOnce
}

// Columns implements exec.Sink. The filler, which may have something to say to the workspace's server, is told by the session's goroutine.
func (h handOver) Columns(columns []sqltypes.Column) error {
	h.r.columns = columns
	return nil
}

// Row implements exec.Sink.
func (h handOver) Row(row []byte) error {
	b := &h.r.rows[h.r.turn]
	b.text = append(b.text, row...)
	b.ends = append(b.ends, len(b.text))
	if len(b.text) < portion {
		return nil
	}
	return h.send(false)
}

// send gives away the rows there are. What was given away before has been looked at once these are taken.
func (h handOver) send(last bool) error {
	b := &h.r.rows[h.r.turn]
	h.r.turn = 1 - h.r.turn
	b.of, b.last = h.r, last
	b.columns, h.r.columns = h.r.columns, nil
	next := &h.r.rows[h.r.turn]
	select {
	case h.a.rows <- *b:
		if next.text, next.ends = next.text[:0], next.ends[:0]; cap(next.text) > 2*portion {
			next.text = nil // a large row has been in it
		}
		return nil
	case <-h.a.stop:
		return errStopped
	}
}
