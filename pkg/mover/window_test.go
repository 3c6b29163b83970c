package mover

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/placement"
)

// ofOnePartition is a Mover of one partition from node group 1 to 2, without servers.
func ofOnePartition(t *testing.T) *Mover {
	t.Helper()
	m, err := New(Config{}, Move{
		Reorg: "r1", Source: Server{Group: 1}, Targets: map[placement.NodeGroupID]Server{2: {Group: 2}},
		Partitions: map[placement.Partition]placement.NodeGroupID{7: 2},
	})
	require.NoError(t, err)
	return m
}

// markOf is a watermark of one of its windows, as the log shows it.
func markOf(a *attempt, w *window, kind string) binlog.Row {
	return binlog.Row{[]byte("r1"), []byte("1"), []byte(a.run), []byte(strconv.FormatUint(w.seq, 10)), []byte(kind)}
}

// A watermark of an earlier attempt of the same Mover, which is still in the log, closes no window of the next one.
func TestWatermarkOfAnEarlierAttempt(t *testing.T) {
	m := ofOnePartition(t)
	var attempts [2]*attempt
	var windows [2]*window
	for i := range attempts {
		attempts[i], windows[i] = m.newAttempt(), &window{}
		attempts[i].workers[2] = newWorker(attempts[i], m.claim(2))
		attempts[i].begin(windows[i])
	}
	require.Equal(t, windows[0].seq, windows[1].seq)
	require.NoError(t, attempts[1].watermark(t.Context(), &binlog.Transaction{}, markOf(attempts[0], windows[0], "H")))
	require.Empty(t, attempts[1].workers[2].in)
	require.NoError(t, attempts[1].watermark(t.Context(), &binlog.Transaction{}, markOf(attempts[1], windows[1], "H")))
	require.Len(t, attempts[1].workers[2].in, 1)
}

// A branch that the log has ended is waited for as long as the server lists it; one that is prepared where the log is, or was not listed, is not.
func TestWaitForWhatTheLogHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended, open, later := binlog.XID{GTRID: "ended"}, binlog.XID{GTRID: "open"}, binlog.XID{GTRID: "later"}
		began, asked := time.Now(), 0
		var noted map[binlog.XID]bool
		note := func(now map[binlog.XID]bool) { noted = now }
		listed := func() ([]binlog.XID, error) {
			switch at := time.Since(began); {
			case at == 0:
				return []binlog.XID{ended, open}, nil
			case at < time.Second:
				return []binlog.XID{later, ended, open}, nil
			}
			return []binlog.XID{later, open}, nil
		}
		unfinished := func() ([]binlog.XID, error) {
			asked++
			return []binlog.XID{open}, nil
		}
		require.NoError(t, untilShown(t.Context(), note, listed, unfinished))
		require.GreaterOrEqual(t, time.Since(began), time.Second)
		require.Less(t, time.Since(began), time.Second+2*slowestLook)
		require.Positive(t, asked)
		require.Less(t, asked, 50)
		require.Equal(t, map[binlog.XID]bool{ended: true}, noted)

		asked = 0
		stays := func() ([]binlog.XID, error) { return []binlog.XID{open}, nil }
		require.NoError(t, untilShown(t.Context(), note, stays, unfinished))
		require.Equal(t, 1, asked)
		for _, list := range [][]binlog.XID{nil, {ended}} { // the second is gone at the next look
			require.NoError(t, untilShown(t.Context(), note, func() ([]binlog.XID, error) { now := list; list = nil; return now, nil }, unfinished))
			require.Equal(t, 1, asked, "the log is not asked")
		}
	})
}

// The dispatcher tells which branches are prepared where a place in the log is.
func TestBranchesAtAPlace(t *testing.T) {
	m := ofOnePartition(t)
	a := m.newAttempt()
	a.heard = func() uint64 { return 0 }
	a.unfinished = func() []binlog.XID { return []binlog.XID{{GTRID: "x"}} }
	a.workers[2] = newWorker(a, m.claim(2))
	w := &window{asks: true}
	a.begin(w)
	require.NoError(t, a.watermark(t.Context(), &binlog.Transaction{}, markOf(a, w, "H")))
	require.NoError(t, a.await(t.Context(), w))
	require.Equal(t, a.unfinished(), w.unfinished)
	require.Empty(t, a.workers[2].in)
}

// Changes that wait for a slow target are bounded by their bytes.
func TestQueueOfAWorkerIsBounded(t *testing.T) {
	m := &Mover{}
	w := newWorker(&attempt{m: m}, &claim{m: m})
	large := item{ops: []op{{after: row{make([]byte, queueBytes*2/3)}}}}
	require.NoError(t, w.send(t.Context(), large, binlog.GTID{}))
	sent := make(chan error, 1)
	go func() { sent <- w.send(t.Context(), large, binlog.GTID{}) }()
	require.Never(t, func() bool { return len(w.in) > 1 }, 50*time.Millisecond, 5*time.Millisecond)
	w.room.Release((<-w.in).room)
	require.NoError(t, <-sent)
	huge := item{ops: []op{{after: row{make([]byte, queueBytes*2)}}}}
	w.room.Release((<-w.in).room)
	require.NoError(t, w.send(t.Context(), huge, binlog.GTID{}), "one that is larger than all of it goes alone")
}

// The end of a branch whose rows are not in the log means that rows are missing only if it was committed.
func TestEndOfAnUnknownBranch(t *testing.T) {
	m, err := New(Config{}, Move{
		Reorg: "r1", Source: Server{Group: 1, Flavor: catalog.MariaDB}, Targets: map[placement.NodeGroupID]Server{2: {Group: 2}},
		Partitions: map[placement.Partition]placement.NodeGroupID{7: 2},
	})
	require.NoError(t, err)
	a := m.newAttempt()
	end := binlog.Transaction{GTID: binlog.GTID{Server: 1, Seq: 7}, Unknown: &binlog.XID{GTRID: "x"}}
	require.NoError(t, a.transaction(t.Context(), &end))
	end.Committed = true
	require.ErrorIs(t, a.transaction(t.Context(), &end), ErrRecopy)
}

// Whoever compares, and begins a window just when the attempt fails, is not left waiting for it.
func TestWindowOfAFailedAttempt(t *testing.T) {
	a := (&Mover{}).newAttempt()
	a.heard = func() uint64 { return 0 }
	a.workers[2] = &worker{}
	before, after := &window{}, &window{}
	a.begin(before)
	a.abandon()
	a.begin(after)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.ErrorIs(t, a.await(ctx, before), errInterrupted)
	require.ErrorIs(t, a.await(ctx, after), errInterrupted)
}

// A log that shows nothing of what was committed to it does not keep anybody waiting for ever, and everybody can be told what is
// waited for. One that is long is not taken for it.
func TestDeafLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Mover{move: Move{Source: Server{Name: "ng1"}}}
		a := m.newAttempt()
		a.workers[2] = &worker{}
		a.reading.Store(true)
		var heard atomic.Uint64
		a.heard = heard.Load
		w := &window{}
		a.begin(w)
		waited := make(chan error, 1)
		go func() { waited <- a.await(t.Context(), w) }()
		for range 10 {
			time.Sleep(deafAfter / 2)
			heard.Add(1)
			synctest.Wait()
			require.Empty(t, waited)
		}
		waits := m.Progress().Waits
		require.Len(t, waits, 1)
		require.Equal(t, "a mark in the log of node group ng1, which has not shown it yet", waits[0].What)
		require.Equal(t, 5*deafAfter, time.Since(waits[0].Since))
		require.ErrorIs(t, <-waited, errDeaf)
		require.Less(t, time.Since(waits[0].Since), 8*deafAfter)
		require.Empty(t, m.Progress().Waits)

		began := time.Now()
		w = &window{}
		a.begin(w)
		require.ErrorIs(t, a.await(t.Context(), w), errDeaf)
		require.Equal(t, 2*deafAfter, time.Since(began), "it may have had to look for the beginning for long")
	})
}

// An attempt that fails while a cut is held does not look as if the cut were held for ever: it may be cancelled before the next attempt.
func TestAttemptFailsInACut(t *testing.T) {
	m := &Mover{changed: make(chan struct{})}
	ctx, fail := context.WithCancel(t.Context())
	held := make(chan error, 1)
	go func() { held <- m.newAttempt().hold(ctx, 7) }()
	require.Eventually(t, func() bool { return m.Progress().Phase == Cutting }, time.Minute, time.Millisecond)
	fail()
	require.Error(t, <-held)
	require.Equal(t, Interrupted, m.Progress().Phase)
}

// A window that a worker was handed, and did not come to before the attempt failed, is ended with the attempt.
func TestWindowLeftBehindByAWorker(t *testing.T) {
	m := ofOnePartition(t)
	a := m.newAttempt()
	a.heard = func() uint64 { return 0 }
	a.workers[2] = newWorker(a, m.claim(2))
	w := &window{}
	a.begin(w)
	require.NoError(t, a.watermark(t.Context(), &binlog.Transaction{}, markOf(a, w, "S")))
	require.Len(t, a.workers[2].in, 1)
	a.abandon()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.ErrorIs(t, a.await(ctx, w), errInterrupted)
	require.Empty(t, a.windows)
}
