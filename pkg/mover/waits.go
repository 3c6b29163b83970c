package mover

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Wait is something that is waited for.
type Wait struct {
	What  string    `json:"what"`
	Since time.Time `json:"since"`
}

// Waits is what goroutines wait for at the moment, so that somebody can be told why nothing seems to happen. Whatever may
// take for ever is to be noted here. The zero Waits is empty; its methods may be called from any goroutine.
type Waits struct {
	mu  sync.Mutex
	now map[*waiting]struct{}
}

// waiting is one Wait that has not ended.
type waiting struct {
	what  func() string
	since time.Time
}

// On notes a wait that lasts until end is called.
func (w *Waits) On(what string) (end func()) { return w.OnText(func() string { return what }) }

// OnText is On with a text that is made when somebody asks for it, by any goroutine: what must not call back into w.
func (w *Waits) OnText(what func() string) (end func()) {
	one := &waiting{what: what, since: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now == nil {
		w.now = map[*waiting]struct{}{}
	}
	w.now[one] = struct{}{}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.now, one)
	}
}

const (
	// worthSaying is how long something must have been waited for to be told of.
	worthSaying = time.Second
	// mostWaits bounds what is told.
	mostWaits = 8
)

// Long returns what has been waited for for more than a moment, the longest first.
func (w *Waits) Long() []Wait {
	var long []*waiting
	w.mu.Lock()
	for one := range w.now {
		if time.Since(one.since) >= worthSaying {
			long = append(long, one)
		}
	}
	w.mu.Unlock()
	slices.SortFunc(long, func(a, b *waiting) int { return cmp.Compare(a.since.UnixNano(), b.since.UnixNano()) })
	var out []Wait
	for _, one := range long[:min(len(long), mostWaits)] {
		out = append(out, Wait{one.what(), one.since.UTC()})
	}
	return out
}
