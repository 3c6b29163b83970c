package mover_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mover"
	"skarv/pkg/placement"
)

// pausing is a point at which a mover stands still, as in a process that is stopped there, until it is let go, or the test has failed.
type pausing struct {
	once       sync.Once
	there, end chan struct{}
	over       <-chan struct{}
}

func newPausing(t *testing.T) *pausing {
	return &pausing{there: make(chan struct{}), end: make(chan struct{}), over: t.Context().Done()}
}

func (p *pausing) here() {
	p.once.Do(func() {
		close(p.there)
		select {
		case <-p.end:
		case <-p.over:
		}
	})
}

// at stands still at a point the first time.
func (p *pausing) at(point string) func(string) {
	return func(at string) {
		if at == point {
			p.here()
		}
	}
}

func (p *pausing) reached(t *testing.T) {
	t.Helper()
	select {
	case <-p.there:
	case <-time.After(patience):
		t.Fatal("the point was not reached")
	}
}

// pausedCleaner: a process that was paused while it deleted rows, or was about to, deletes nothing any more after others have
// finished the move and moved the rows back.
func pausedCleaner(t *testing.T, r *rig) {
	r.schema(t, "paused", "t (id) (id INT PRIMARY KEY)")
	b := r.nodes[1]
	fill := func() {
		for id := range 50 {
			b.exec(t, fmt.Sprintf("INSERT IGNORE INTO paused.t SELECT %d FROM DUAL WHERE CRC32(%[1]d) %% 3840 %% 3 = 1", id))
		}
	}
	for name, pause := range map[string]func(*mover.Config, *pausing){
		"in the middle":   func(c *mover.Config, p *pausing) { c.Hit = p.at("clean.delete") },
		"before it began": func(c *mover.Config, p *pausing) { c.Entitled = func(context.Context) error { p.here(); return nil } },
		"after it was looked": func(c *mover.Config, p *pausing) {
			n := 0
			c.Entitled = func(context.Context) error {
				if n++; n == 2 {
					p.here()
				}
				return nil
			}
		},
	} {
		for _, prepare := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, preparing %v", name, prepare), func(t *testing.T) {
				r.reorg = fmt.Sprintf("paused-%d-%v", len(name), prepare)
				fill()
				cfg := config(t)
				cfg.Term = 1
				p := newPausing(t)
				pause(&cfg, p)
				old, err := mover.New(cfg, r.move())
				require.NoError(t, err)
				done := make(chan error, 1)
				go func() {
					if prepare {
						done <- old.Prepare(within(t), true)
					} else {
						done <- old.Clean(within(t), 2)
					}
				}()
				p.reached(t)
				cfg = config(t)
				cfg.Term = 2
				next, err := mover.New(cfg, r.move())
				require.NoError(t, err)
				require.NoError(t, next.Prepare(within(t), false))
				require.NoError(t, next.Clean(within(t), 2))
				require.Equal(t, "0", b.value(t, "SELECT COUNT(*) FROM paused.t"))
				require.NoError(t, next.Forget(within(t)))
				fill() // the next move has brought them back, and they are its now
				want := b.value(t, "SELECT COUNT(*) FROM paused.t")
				close(p.end)
				require.ErrorIs(t, <-done, mover.ErrSuperseded)
				require.Equal(t, want, b.value(t, "SELECT COUNT(*) FROM paused.t"))
			})
		}
	}
}

// halfForgotten: who comes after one that died when some of the servers had forgotten the move finds nothing left to be deleted there, and
// goes on. Nothing begins anew.
func halfForgotten(t *testing.T, r *rig) {
	r.schema(t, "forgotten", "t (id) (id INT PRIMARY KEY)")
	b := r.nodes[1]
	for id := range 50 {
		b.exec(t, fmt.Sprintf("INSERT INTO forgotten.t SELECT %d FROM DUAL WHERE CRC32(%[1]d) %% 3840 %% 3 = 1", id))
	}
	make := func(term uint64) *mover.Mover {
		cfg := config(t)
		cfg.Term = term
		m, err := mover.New(cfg, r.move())
		require.NoError(t, err)
		return m
	}
	old := make(1)
	require.NoError(t, old.Clean(within(t), 2))
	require.NoError(t, old.Forget(within(t)))
	b.exec(t, "INSERT INTO forgotten.t SELECT 1 FROM DUAL WHERE CRC32(1) % 3840 % 3 = 1 UNION SELECT 2 FROM DUAL WHERE CRC32(2) % 3840 % 3 = 1 "+
		"UNION SELECT 5 FROM DUAL WHERE CRC32(5) % 3840 % 3 = 1")
	want := b.value(t, "SELECT COUNT(*) FROM forgotten.t")
	next := make(2)
	for g := range placement.NodeGroupID(3) {
		require.NoError(t, next.Clean(within(t), g+1))
	}
	require.NoError(t, next.Forget(within(t)))
	require.ErrorIs(t, next.Prepare(within(t), true), mover.ErrSuperseded)
	require.ErrorIs(t, make(1).Clean(within(t), 2), mover.ErrSuperseded)
	require.Equal(t, want, b.value(t, "SELECT COUNT(*) FROM forgotten.t"))
}

// severalCleaners: moves out of several sources delete on one server at once, and every transaction is marked as a mover's.
func severalCleaners(t *testing.T, r *rig) {
	r.schema(t, "several", "t (id) (id INT PRIMARY KEY)")
	c := r.nodes[2]
	for id := range 100 {
		c.exec(t, fmt.Sprintf("INSERT INTO several.t VALUES (%d)", id))
	}
	part := func(source int, rest placement.Partition) mover.Move {
		m := mover.Move{Reorg: r.reorg, Source: r.nodes[source].as, Targets: map[placement.NodeGroupID]mover.Server{3: c.as},
			Partitions: map[placement.Partition]placement.NodeGroupID{}, Tables: r.tables}
		for p := range placement.Partition(placement.Partitions) {
			if p%3 == rest {
				m.Partitions[p] = 3
			}
		}
		return m
	}
	cfg := config(t)
	p := newPausing(t)
	cfg.Hit = p.at("clean.delete")
	one, err := mover.New(cfg, part(0, 1))
	require.NoError(t, err)
	two, err := mover.New(config(t), part(1, 2))
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- one.Clean(within(t), 3) }()
	p.reached(t)
	require.NoError(t, two.Clean(within(t), 3))
	require.NoError(t, two.Forget(within(t)))
	close(p.end)
	require.NoError(t, <-done)
	require.Equal(t, "0", c.value(t, "SELECT COUNT(*) FROM several.t WHERE CRC32(id) % 3840 % 3 <> 0"))
	require.Equal(t, "1", c.value(t, "SELECT step FROM _skarv.reorg_pos WHERE reorg=? AND source=1", r.reorg+"-clean"))
}

// halfOpen: a mover that stands still in the middle of a transaction on a target does not keep the next one waiting.
func halfOpen(t *testing.T, r *rig) {
	r.schema(t, "halfopen", "t (id) (id INT PRIMARY KEY, v INT)")
	for id := range 50 {
		r.nodes[0].exec(t, fmt.Sprintf("INSERT INTO halfopen.t VALUES (%d, 0)", id))
	}
	for _, point := range []string{"apply.commit", "begin.position"} {
		t.Run(point, func(t *testing.T) {
			r.reorg = "halfopen-" + point[:5]
			cfg := config(t)
			p := newPausing(t)
			cfg.Hit = p.at(point)
			one := r.run(t, cfg, r.move())
			p.reached(t)
			cfg = config(t)
			next := r.run(t, cfg, r.move())
			next.copied(t)
			r.nodes[0].exec(t, "UPDATE halfopen.t SET v = v + 1")
			_, err := next.Lag(within(t))
			require.NoError(t, err)
			close(p.end) // what it still wants to say is not heard
			select {
			case err := <-one.done:
				one.done <- err
				require.ErrorIs(t, err, mover.ErrSuperseded)
			case <-time.After(patience):
				t.Fatal("it goes on")
			}
			r.equalSoon(t, next)
			next.halt()
			require.NoError(t, next.Clean(within(t), 2))
			require.NoError(t, next.Clean(within(t), 3))
		})
	}
}

// purge: a mover waits when a server cannot get rid of old versions of rows.
func purge(t *testing.T, r *rig) {
	r.schema(t, "versions", "t (id) (id INT PRIMARY KEY, v INT)")
	a := r.nodes[0]
	for id := range 50 {
		a.exec(t, fmt.Sprintf("INSERT INTO versions.t VALUES (%d, 0)", id))
	}
	old, err := a.db.Conn(t.Context())
	require.NoError(t, err)
	defer old.Close()
	_, err = old.ExecContext(t.Context(), "START TRANSACTION WITH CONSISTENT SNAPSHOT")
	require.NoError(t, err)
	for i := range 300 {
		a.exec(t, fmt.Sprintf("UPDATE versions.t SET v = v + 1 WHERE id = %d", i%50))
	}
	cfg := config(t)
	cfg.MaxVersions = 200
	m, err := mover.New(cfg, r.move())
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- m.Clean(within(t), 2) }()
	require.Eventually(t, func() bool { return strings.Contains(m.Progress().Throttled, "node group ng1 has") }, patience, time.Millisecond)
	_, err = old.ExecContext(t.Context(), "COMMIT")
	require.NoError(t, err)
	require.NoError(t, <-done)
	require.Empty(t, m.Progress().Throttled)
}
