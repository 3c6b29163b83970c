// Package digest adds up what statements have cost, by their shape: how often they ran, how long they took, what their clients were sent. It
// answers which statements a cluster is busy with, and knows nothing of how they run.
//
//	session ──Record──► Entry, a cell for each stripe of sessions ──added up when read──► Digests.Rows ──Merge──► those of all processes
package digest

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

const (
	stripeCount = 16
	maxText     = 1024 // bytes of a statement that are shown, without what says that there is more
	more        = " ..."
)

// Digests is what the statements of a process have cost. Its methods may be called from any goroutine.
type Digests struct {
	max   int
	began time.Time // where the clock of Sample.End begins

	mu      sync.Mutex
	entries map[key]*Entry
}

// key is what statements have in common that are added up.
type key struct{ database, text string }

// New returns Digests that keep so many shapes; when there are more, those go that have not been seen for longest. 0: none are kept. began is
// where the clock of Sample.End begins.
func New(max int, began time.Time) *Digests {
	return &Digests{max: max, began: began, entries: map[key]*Entry{}}
}

// Kept reports whether any are kept.
func (d *Digests) Kept() bool { return d.max > 0 }

// Entry is that of the statements whose shape is text, with database as their default database. It counts until it is Dropped. Some must be
// kept.
func (d *Digests) Entry(database string, text []byte) *Entry {
	k := key{database, shown(text)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if e := d.entries[k]; e != nil {
		return e
	}
	if len(d.entries) >= d.max {
		d.drop()
	}
	e := &Entry{key: k}
	d.entries[k] = e
	return e
}

// shown is text, or the most of it that is shown, in UTF-8.
func shown(text []byte) string {
	if len(text) <= maxText {
		return strings.ToValidUTF8(string(text), "?")
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.ToValidUTF8(string(text[:end]), "?") + more
}

// drop makes room for some more entries. mu is held.
func (d *Digests) drop() {
	all := make([]Row, 0, len(d.entries))
	for _, e := range d.entries {
		all = append(all, e.row())
	}
	slices.SortFunc(all, func(a, b Row) int { return cmp.Compare(a.last, b.last) })
	for _, r := range all[:len(all)/10+1] {
		k := key{r.Database, r.Text}
		d.entries[k].dropped.Store(true)
		delete(d.entries, k)
	}
}

// Reset begins to count anew.
func (d *Digests) Reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for k, e := range d.entries {
		e.dropped.Store(true)
		delete(d.entries, k)
	}
}

// Rows is what there is, in no order.
func (d *Digests) Rows() []Row {
	d.mu.Lock()
	defer d.mu.Unlock()
	rows := make([]Row, 0, len(d.entries))
	for _, e := range d.entries {
		r := e.row()
		if r.Count == 0 {
			continue
		}
		r.First, r.Last = d.began.Add(r.first), d.began.Add(r.last)
		rows = append(rows, r)
	}
	return rows
}

// Entry is what the statements of one shape have cost. Its methods may be called from any goroutine.
type Entry struct {
	key     key
	dropped atomic.Bool
	cells   [stripeCount]atomic.Pointer[cell]
}

// cell is what sessions of one stripe add to an Entry: a cache line, so that no two stripes write the same one.
type cell struct {
	count, errors, rows, bytes, nanos atomic.Uint64
	most                              atomic.Int64 // nanoseconds of the slowest
	last                              atomic.Int64 // on the clock of Sample.End
	ways                              atomic.Uint32
	first                             uint32 // milliseconds on that clock; constant
}

// Sample is what one statement has cost.
type Sample struct {
	Took        time.Duration
	End         time.Duration // when it ended, on the clock that New was told of
	Rows, Bytes uint64        // that its client was sent
	Way         uint8         // how it was run, less than 32
	Failed      bool
}

// Dropped reports whether what e counts is not shown any more, because Digests had no room or was Reset: ask Digests for the Entry again.
func (e *Entry) Dropped() bool { return e.dropped.Load() }

// Record adds what one statement of a session has cost. It allocates nothing but for the first of a stripe.
func (e *Entry) Record(session uint32, s *Sample) {
	at := &e.cells[session%stripeCount]
	c := at.Load()
	if c == nil {
		at.CompareAndSwap(nil, &cell{first: uint32((s.End - s.Took).Milliseconds())})
		c = at.Load()
	}
	c.count.Add(1)
	if s.Failed {
		c.errors.Add(1)
	}
	if s.Rows > 0 {
		c.rows.Add(s.Rows)
	}
	c.bytes.Add(s.Bytes)
	c.nanos.Add(uint64(s.Took))
	for {
		most := c.most.Load()
		if int64(s.Took) <= most || c.most.CompareAndSwap(most, int64(s.Took)) {
			break
		}
	}
	c.last.Store(int64(s.End))
	if way := uint32(1) << s.Way; c.ways.Load()&way == 0 {
		c.ways.Or(way)
	}
}

// row is the sum of the cells.
func (e *Entry) row() Row {
	r := Row{Database: e.key.database, Text: e.key.text}
	for i := range e.cells {
		c := e.cells[i].Load()
		if c == nil {
			continue
		}
		first := time.Duration(c.first) * time.Millisecond
		if r.Count == 0 || first < r.first {
			r.first = first
		}
		r.last = max(r.last, time.Duration(c.last.Load()))
		r.Count += c.count.Load()
		r.Errors += c.errors.Load()
		r.Rows += c.rows.Load()
		r.Bytes += c.bytes.Load()
		r.Total += time.Duration(c.nanos.Load())
		r.Most = max(r.Most, time.Duration(c.most.Load()))
		r.Ways |= c.ways.Load()
	}
	return r
}

// Row is what the statements of one shape have cost.
type Row struct {
	Database, Text string
	Count, Errors  uint64
	Rows, Bytes    uint64 // that clients were sent
	Total, Most    time.Duration
	Ways           uint32 // bit by bit, Sample.Way of any of them
	First, Last    time.Time

	first, last time.Duration // First and Last on the clock of Sample.End
}

// Average is how long one of the statements took.
func (r *Row) Average() time.Duration {
	if r.Count == 0 {
		return 0
	}
	return r.Total / time.Duration(r.Count)
}

// Merge adds up rows of several processes.
func Merge(rows []Row) []Row {
	at := map[key]int{}
	var merged []Row
	for _, r := range rows {
		i, ok := at[key{r.Database, r.Text}]
		if !ok {
			at[key{r.Database, r.Text}] = len(merged)
			merged = append(merged, r)
			continue
		}
		m := &merged[i]
		m.Count += r.Count
		m.Errors += r.Errors
		m.Rows += r.Rows
		m.Bytes += r.Bytes
		m.Total += r.Total
		m.Most = max(m.Most, r.Most)
		m.Ways |= r.Ways
		if r.First.Before(m.First) {
			m.First = r.First
		}
		if r.Last.After(m.Last) {
			m.Last = r.Last
		}
	}
	return merged
}

// Order is what rows are sorted by, the most first.
type Order string

// The orders.
const (
	ByTotal   Order = "total"
	ByCount   Order = "count"
	ByAverage Order = "average"
	ByMost    Order = "max"
	ByErrors  Order = "errors"
	ByRows    Order = "rows"
	ByBytes   Order = "bytes"
)

// Orders are all there are.
func Orders() []Order { return []Order{ByTotal, ByCount, ByAverage, ByMost, ByErrors, ByRows, ByBytes} }

// Sort sorts rows; those alike come by their text.
func (o Order) Sort(rows []Row) {
	of := func(r *Row) uint64 {
		switch o {
		case ByCount:
			return r.Count
		case ByAverage:
			return uint64(r.Average())
		case ByMost:
			return uint64(r.Most)
		case ByErrors:
			return r.Errors
		case ByRows:
			return r.Rows
		case ByBytes:
			return r.Bytes
		}
		return uint64(r.Total)
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(of(&b), of(&a)), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Database, b.Database))
	})
}
