package mover_test

import (
	"context"
	"database/sql/driver"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mover"
)

func TestMover(t *testing.T) {
	r := newRig(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *rig)
	}{
		{"a table is copied, and changes follow", simple},
		{"copy under load", underLoad},
		{"values of every type", types},
		{"there, back, and for good", life},
		{"servers restart", restarted},
		{"a comparison goes on", compared},
		{"the source dies in a cut that is taken back", cutAndRestarted},
		{"rows larger than a chunk", large},
		{"a row is in the way that another one leaves", inTheWay},
		{"what a mover gives up at", ends},
		{"what is refused", refused},
		{"rows too large for a target", packets},
		{"who was paused deletes nothing", pausedCleaner},
		{"some servers have forgotten it", halfForgotten},
		{"several delete on one server", severalCleaners},
		{"one stands still in a transaction", halfOpen},
		{"old versions of rows", purge},
		{"rate", rate},
		{"killed at every step", killed},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, r) })
	}
}

func simple(t *testing.T, r *rig) {
	// The second one is what the entries of a global index are kept in.
	r.schema(t, "simple", "t (id) (id INT PRIMARY KEY, v VARCHAR(50))", "_skarv.uq_1 (u0) (u0 VARCHAR(20) PRIMARY KEY, k0 INT NOT NULL)")
	a := r.nodes[0]
	a.exec(t, "INSERT INTO _skarv.uq_1 VALUES ('a', 1), ('b', 2), ('c', 3), ('d', 4), ('e', 5), ('f', 6)")
	for i := range 20 {
		q := "INSERT INTO simple.t VALUES "
		for j := range 100 {
			q += fmt.Sprintf("(%d,'v%d'),", i*100+j, j)
		}
		a.exec(t, q[:len(q)-1])
	}
	m := r.run(t, config(t), r.move())
	m.copied(t)
	a.exec(t, "UPDATE simple.t SET v = 'changed' WHERE id % 7 = 0; UPDATE _skarv.uq_1 SET k0 = k0 + 1; DELETE FROM _skarv.uq_1 WHERE u0 = 'a'")
	a.exec(t, "DELETE FROM simple.t WHERE id % 11 = 0")
	a.exec(t, "UPDATE simple.t SET id = id + 10000 WHERE id % 13 = 0")
	rep, err := m.Verify(within(t))
	require.NoError(t, err)
	require.True(t, rep.Equal(), "%+v", rep)
	require.Greater(t, rep.Compared, int64(1000))
	require.NoError(t, m.Cut(within(t), 7))
	r.equal(t)
	require.Equal(t, "open", r.nodes[1].value(t, "SELECT kind FROM _skarv.journal WHERE reorg='test-simple' AND epoch=7"))
}

func underLoad(t *testing.T, r *rig) {
	r.schema(t, "busy", loadSchema()...)
	fill(t, r)
	// A branch that is prepared when the move begins, and committed only after a while.
	a := r.nodes[0]
	c, err := a.db.Conn(t.Context())
	require.NoError(t, err)
	for _, q := range []string{"XA START 'early'", "INSERT INTO busy.t (id, n) VALUES (100001, 1), (100002, 2), (100003, 3)", "XA END 'early'", "XA PREPARE 'early'"} {
		_, err := c.ExecContext(t.Context(), q)
		require.NoError(t, err)
	}
	_ = c.Raw(func(any) error { return driver.ErrBadConn }) // closes it, and leaves the branch to others
	closed := time.Now()
	l := startLoad(t, r, 3)
	m := r.run(t, config(t), r.move())
	require.Eventually(t, func() bool { return m.Progress().Phase == mover.Waiting }, patience, time.Millisecond)
	require.Eventually(t, func() bool {
		if time.Since(closed) < letGo {
			return false
		}
		_, err := a.db.Exec("XA COMMIT 'early'")
		return err == nil
	}, patience, time.Millisecond)
	m.copied(t)
	rep, err := m.Verify(within(t))
	require.NoError(t, err)
	require.True(t, rep.Equal(), "%+v", rep)
	_, err = m.Lag(within(t))
	require.NoError(t, err)
	l.end()
	require.NoError(t, m.Cut(within(t), 1))
	r.equal(t)
	require.Positive(t, l.done.Load())
	p := m.Progress()
	require.Equal(t, mover.Cutting, p.Phase)
	require.Positive(t, p.Rows)
	t.Logf("%d transactions, %+v, %+v", l.done.Load(), p, rep)
}

// killed has a mover end, as by kill -9, at every one of its steps in turn, and another one take up its work.
func killed(t *testing.T, r *rig) {
	r.schema(t, "killed", loadSchema()...)
	fill(t, r)
	l := startLoad(t, r, 1)
	steps := slices.DeleteFunc(mover.Points(), func(p string) bool { return p == "forget.server" }) // of a move that is over: halfForgotten
	for i, point := range steps {
		t.Run(point, func(t *testing.T) {
			r.reorg = "killed-" + strings.ReplaceAll(point, ".", "-")
			crash(t, r, point)
			m := r.run(t, config(t), r.move())
			m.copied(t)
			require.NoError(t, m.Cut(within(t), 1))
			require.NoError(t, m.Cancel(within(t), 1))
			rep, err := m.Verify(within(t))
			require.NoError(t, err)
			require.True(t, rep.Equal(), "%+v", rep)
			if i == len(steps)-1 {
				l.end()
				require.NoError(t, m.Cut(within(t), 2))
				r.equal(t)
			}
		})
	}
}

// crash runs a mover up to a point, where it ends.
func crash(t *testing.T, r *rig, point string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cfg := config(t)
	var hit atomic.Bool
	cfg.Hit = func(at string) {
		if at == point {
			hit.Store(true)
			cancel()
			runtime.Goexit() // sockets are closed, and nothing else happens any more
		}
	}
	m, err := mover.New(cfg, r.move())
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := m.Prepare(ctx, true); err != nil {
			t.Error(err)
			return
		}
		wg.Go(func() {
			defer cancel()
			if err := m.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		select {
		case <-m.Copied():
			_ = m.Cut(ctx, 1)
		case <-ctx.Done():
		}
	})
	wg.Wait()
	require.True(t, hit.Load(), "%s was not reached", point)
}
