package control

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// work is what a leader is doing for its jobs at the moment. What has its turn may be at work on a server that is lost and wait for it: whoever replaces
// that server interrupts all others, who go on where they were, as after any failure, when it has ended. The zero work is none.
type work struct {
	mu      sync.Mutex
	running map[*context.CancelCauseFunc]bool
	alone   bool          // somebody works alone, or waits for that
	changed chan struct{} // closed at the next change; nil: nobody waits
}

// errInterrupted is why work ends before it is done.
var errInterrupted = errors.New("interrupted by the replacement of a primary that is lost; it goes on behind that")

// begin begins work, which lasts until end is called; alone: when all others have ended, which are interrupted.
func (w *work) begin(ctx context.Context, alone bool) (_ context.Context, end func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.alone {
		if err := w.wait(ctx); err != nil {
			return ctx, nil, err
		}
	}
	if alone {
		w.alone = true
		for cancel := range w.running {
			(*cancel)(errInterrupted)
		}
		for len(w.running) > 0 {
			if err := w.wait(ctx); err != nil {
				w.alone = false
				w.wake()
				return ctx, nil, err
			}
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if w.running == nil {
		w.running = map[*context.CancelCauseFunc]bool{}
	}
	w.running[&cancel] = true
	return ctx, func() {
		cancel(nil)
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.running, &cancel)
		if alone {
			w.alone = false
		}
		w.wake()
	}, nil
}

// wait waits for a change. mu is held before and behind it.
func (w *work) wait(ctx context.Context) error {
	if w.changed == nil {
		w.changed = make(chan struct{})
	}
	changed := w.changed
	w.mu.Unlock()
	defer w.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the replacement of a primary: %w", ctx.Err())
	}
}

// wake tells all that wait of a change. mu is held.
func (w *work) wake() {
	if w.changed != nil {
		close(w.changed)
		w.changed = nil
	}
}
