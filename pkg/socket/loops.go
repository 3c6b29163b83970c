package socket

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// Loops is several Loops, which take new sessions in turn.
type Loops struct {
	all  []*Loop
	next atomic.Uint32
}

// NewLoops makes n Loops. The error wraps errors.ErrUnsupported where there can be none: see NewLoop.
func NewLoops(n int) (*Loops, error) {
	ls := &Loops{}
	for range n {
		l, err := NewLoop()
		if err != nil {
			ls.discard()
			return nil, err
		}
		ls.all = append(ls.all, l)
	}
	return ls, nil
}

// Run drives all sessions until ctx ends; they must have ended before.
func (ls *Loops) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, l := range ls.all {
		g.Go(func() error { return l.Run(ctx) })
	}
	return g.Wait()
}

// Next is the Loop for a new session.
func (ls *Loops) Next() *Loop {
	return ls.all[int(ls.next.Add(1))%len(ls.all)]
}

// discard closes Loops that will not be run.
func (ls *Loops) discard() {
	for _, l := range ls.all {
		l.close()
	}
}
