package topology_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/topology"
	"skarv/pkg/topology/etcdtest"
)

// open returns a Store whose requests have all the time that etcd takes on a busy machine.
func open(t *testing.T, endpoint string) *topology.Store {
	t.Helper()
	return openFor(t, endpoint, time.Minute)
}

func openFor(t *testing.T, endpoint string, timeout time.Duration) *topology.Store {
	t.Helper()
	s, err := topology.Open(topology.Config{Endpoints: []string{endpoint}, RequestTimeout: timeout})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// follow starts a Follower that ends with the test.
func follow(t *testing.T, s *topology.Store) *topology.Follower {
	t.Helper()
	f := topology.NewFollower(s, nil, nil)
	run(t, f)
	return f
}

// run runs a Follower until the test ends.
func run(t *testing.T, f *topology.Follower) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
}

func TestSnapshotIsPreparedForBeforeItIsSeen(t *testing.T) {
	s := open(t, etcdtest.Start(t).Endpoint())
	var f *topology.Follower
	prepared := false
	done := make(chan struct{})
	f = topology.NewFollower(s, func(snap *catalog.Snapshot) {
		assert.NotSame(t, snap, f.Snapshot())
		prepared = true
	}, func(snap *catalog.Snapshot) {
		assert.True(t, prepared)
		assert.Same(t, snap, f.Snapshot())
		close(done)
	})
	run(t, f)
	<-done
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// untilSeen is whom a wait for all still missed at its deadline: a deadline that passes before etcd has answered once, on a busy machine, is
// followed by one twice as long.
func untilSeen[T any](t *testing.T, wait func(context.Context) ([]T, error)) []T {
	t.Helper()
	for patience := 50 * time.Millisecond; ; patience *= 2 {
		require.Less(t, patience, time.Minute, "nobody was missed")
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		missed, err := wait(ctx)
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded)
		if len(missed) > 0 {
			return missed
		}
	}
}

func table(db, name string) *catalog.Table {
	return &catalog.Table{Database: db, Name: name, Kind: catalog.Single, Group: 1, AutoIncrement: -1}
}

func TestSnapshotsFollowChangesAndShareTheRest(t *testing.T) {
	s := open(t, etcdtest.Start(t).Endpoint())
	ctx := deadline(t)
	f := follow(t, s)
	snap, err := f.Wait(ctx, 0)
	require.NoError(t, err)
	require.Empty(t, snap.Databases)

	rev, err := s.Change(nil).
		PutCluster(topology.Cluster{ID: "c1", Flavor: catalog.MariaDB}, topology.Absent).
		PutGroup(&catalog.NodeGroup{ID: 2, Primary: catalog.Node{Version: "10.11.9-MariaDB"}}, topology.Absent).
		PutGroup(&catalog.NodeGroup{ID: 1, Primary: catalog.Node{Version: "10.11.19-MariaDB"}}, topology.Absent).
		PutTable(table("a/b", "t%1"), topology.Any). // before its database, and with names that need care
		PutDatabase(&catalog.Database{Name: "a/b"}, topology.Absent).
		PutDatabase(&catalog.Database{Name: "other"}, topology.Absent).
		Commit(ctx)
	require.NoError(t, err)
	first, err := f.Wait(ctx, rev)
	require.NoError(t, err)
	require.Equal(t, rev, first.Revision)
	require.Equal(t, "c1", first.ClusterID)
	require.NotNil(t, first.Table("a/b", "t%1"))
	require.Equal(t, "10.11.9-MariaDB", first.ServerVersion, "the oldest primary decides")
	require.Len(t, first.Groups, 2)
	require.EqualValues(t, 1, first.Groups[0].ID)

	rev, err = s.Change(nil).PutTable(table("a/b", "t2"), topology.Absent).DeleteTable("a/b", "t%1").Commit(ctx)
	require.NoError(t, err)
	second, err := f.Wait(ctx, rev)
	require.NoError(t, err)
	require.NotNil(t, first.Table("a/b", "t%1"), "a published snapshot never changes")
	require.Nil(t, first.Table("a/b", "t2"))
	require.Nil(t, second.Table("a/b", "t%1"))
	require.NotNil(t, second.Table("a/b", "t2"))
	require.Same(t, first.Databases["other"], second.Databases["other"])

	// What snapshots do not show leaves them as they are, and is known to have been seen.
	for _, change := range []*topology.Change{
		s.Change(nil).PutRecord(topology.DDLJobs, "j", []byte("{}"), topology.Absent),
		s.Change(nil).PutRecord(topology.DDLJobs, "j", []byte("{}"), topology.Any).DeleteTable("a/b", "never was"),
	} {
		rev, err = change.Commit(ctx)
		require.NoError(t, err)
		still, err := f.Reach(ctx, rev)
		require.NoError(t, err)
		require.Same(t, second, still)
	}

	rev, err = s.Change(nil).DeleteDatabase("a/b").Commit(ctx)
	require.NoError(t, err)
	third, err := f.Wait(ctx, rev)
	require.NoError(t, err)
	require.Nil(t, third.Databases["a/b"])
	rev, err = s.Change(nil).PutDatabase(&catalog.Database{Name: "a/b"}, topology.Absent).Commit(ctx)
	require.NoError(t, err)
	fourth, err := f.Wait(ctx, rev)
	require.NoError(t, err)
	require.Empty(t, fourth.Databases["a/b"].Tables, "tables of a dropped database do not come back")

	loaded, err := s.Load(ctx)
	require.NoError(t, err)
	require.Equal(t, fourth.Databases, loaded.Databases)
}

func TestChangeIsAllOrNothing(t *testing.T) {
	s := open(t, etcdtest.Start(t).Endpoint())
	ctx := deadline(t)
	_, err := s.Change(nil).PutDatabase(&catalog.Database{Name: "a"}, topology.Absent).Commit(ctx)
	require.NoError(t, err)
	_, err = s.Change(nil).
		PutDatabase(&catalog.Database{Name: "b"}, topology.Absent).
		PutDatabase(&catalog.Database{Name: "a"}, topology.Absent).Commit(ctx)
	require.ErrorIs(t, err, topology.ErrConflict)
	snap, err := s.Load(ctx)
	require.NoError(t, err)
	require.NotContains(t, snap.Databases, "b")
}

func TestUnreadableObjectsAreLeftOut(t *testing.T) {
	e := etcdtest.Start(t)
	s := open(t, e.Endpoint())
	ctx := deadline(t)
	raw := e.Client(t)
	_, err := s.Change(nil).PutDatabase(&catalog.Database{Name: "a"}, topology.Absent).
		PutTable(table("a", "good"), topology.Absent).
		PutAccount(&catalog.Account{Name: "x"}, topology.Absent).Commit(ctx)
	require.NoError(t, err)
	for _, key := range []string{"table/a/bad", "account/x", "ng/zz", "ng/70000", "nonsense", "table/a", "map/x", "db/%zz"} {
		_, err = raw.Put(ctx, topology.DefaultPrefix+key, "{")
		require.NoError(t, err)
	}
	snap, err := s.Load(ctx)
	require.NoError(t, err)
	require.NotNil(t, snap.Table("a", "good"))
	require.Nil(t, snap.Table("a", "bad"))
	require.Empty(t, snap.Accounts)
	require.Empty(t, snap.Groups)
}

func TestWatchSurvivesCompaction(t *testing.T) {
	e := etcdtest.Start(t)
	s := open(t, e.Endpoint())
	ctx := deadline(t)
	f := follow(t, s)
	_, err := f.Wait(ctx, 0)
	require.NoError(t, err)
	raw := e.Client(t)
	for i := range 20 {
		rev, err := s.Change(nil).PutDatabase(&catalog.Database{Name: fmt.Sprint("d", i)}, topology.Absent).Commit(ctx)
		require.NoError(t, err)
		_, err = raw.Compact(ctx, rev)
		require.NoError(t, err)
	}
	rev, err := s.Change(nil).PutDatabase(&catalog.Database{Name: "last"}, topology.Absent).Commit(ctx)
	require.NoError(t, err)
	snap, err := f.Wait(ctx, rev)
	require.NoError(t, err)
	require.Len(t, snap.Databases, 21)
}

func TestEtcdOutageKeepsTheLastSnapshot(t *testing.T) {
	e := etcdtest.Start(t)
	s := openFor(t, e.Endpoint(), 2*time.Second)
	ctx := deadline(t)
	f := follow(t, s)
	rev, err := s.Change(nil).PutDatabase(&catalog.Database{Name: "a"}, topology.Absent).Commit(ctx)
	require.NoError(t, err)
	_, err = f.Wait(ctx, rev)
	require.NoError(t, err)

	e.Stop(t)
	require.Eventually(t, func() bool { return !s.Healthy().OK }, time.Minute, 20*time.Millisecond)
	require.Error(t, s.Healthy().Err)
	require.WithinDuration(t, time.Now(), s.Healthy().Since, time.Minute)
	require.NotNil(t, f.Snapshot().Databases["a"])
	_, err = s.Change(nil).PutDatabase(&catalog.Database{Name: "b"}, topology.Absent).Commit(ctx)
	require.ErrorIs(t, err, topology.ErrUnavailable)
	down := s.Healthy().Since
	gone, cancel := context.WithCancel(ctx)
	cancel()
	_, err = s.Load(gone)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, s.Healthy().OK, "who has gone has learnt nothing")
	require.Equal(t, down, s.Healthy().Since)

	e.Restart(t)
	require.Eventually(t, func() bool { return s.Healthy().OK }, time.Minute, 20*time.Millisecond)
	rev, err = s.Change(nil).PutDatabase(&catalog.Database{Name: "c"}, topology.Any).Commit(deadline(t))
	require.NoError(t, err)
	_, err = f.Wait(deadline(t), rev)
	require.NoError(t, err)
}

// Whoever has less time than etcd takes has learnt nothing of it; an etcd that is slow is told from one that does not answer.
func TestSlowEtcd(t *testing.T) {
	w := etcdtest.Start(t).Wire(t)
	s := open(t, w.Endpoint())
	_, err := follow(t, s).Wait(deadline(t), 0)
	require.NoError(t, err)
	w.Hold(true)
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = s.Change(nil).PutDatabase(&catalog.Database{Name: "a"}, topology.Absent).Commit(short)
	require.ErrorIs(t, err, topology.ErrUnavailable)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.EqualError(t, err, "etcd has not answered in time; it is not known whether the change was written")
	require.True(t, s.Healthy().OK)

	require.Eventually(t, func() bool { return s.Healthy().Slow > 0 }, time.Minute, time.Millisecond)
	require.True(t, s.Healthy().OK)
	w.Hold(false)
	require.Eventually(t, func() bool { return s.Healthy().Slow == 0 }, time.Minute, 20*time.Millisecond)
	require.True(t, s.Healthy().OK)

	s = openFor(t, w.Endpoint(), 2*time.Second)
	_, err = follow(t, s).Wait(deadline(t), 0)
	require.NoError(t, err)
	w.Hold(true)
	require.Eventually(t, func() bool { return !s.Healthy().OK }, time.Minute, 20*time.Millisecond)
	require.Eventually(t, func() bool {
		return strings.HasPrefix(s.Healthy().Err.Error(), "it takes connections, but has not answered for 2s")
	},
		time.Minute, 20*time.Millisecond)
	_, err = s.Load(deadline(t))
	require.ErrorContains(t, err, "etcd is not reachable: no answer in time (it takes connections, but has not answered for 2s")
	w.Hold(false)
	require.Eventually(t, func() bool { return s.Healthy().OK }, time.Minute, 20*time.Millisecond)
}

// An etcd that is full is told from one that does not answer, and is found out to take writes again without anybody's help. Meanwhile
// processes stay announced, for their leases live on and others are not to be had.
func TestFullEtcd(t *testing.T) {
	e := etcdtest.Start(t)
	s := open(t, e.Endpoint())
	ctx := deadline(t)
	f := follow(t, s)
	_, err := f.Wait(ctx, 0)
	require.NoError(t, err)
	p := s.NewPresence(topology.Member{ID: "p1", Proxy: true})
	run, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- p.Run(run) }()
	defer func() {
		stop()
		require.NoError(t, <-done)
	}()
	acked := func() int64 {
		m, err := s.Members(ctx)
		require.NoError(t, err)
		if len(m) == 0 {
			return -1
		}
		return m[0].Acked
	}
	p.Ack(1)
	require.Eventually(t, func() bool { return acked() == 1 }, time.Minute, 10*time.Millisecond)

	e.SetFull(t, true)
	_, err = s.Change(nil).PutDatabase(&catalog.Database{Name: "a"}, topology.Absent).Commit(ctx)
	require.ErrorIs(t, err, topology.ErrFull)
	require.ErrorIs(t, err, topology.ErrUnavailable)
	p.Ack(2)
	for range 5 {
		_, err = s.Load(ctx)
		require.NoError(t, err)
		require.False(t, s.Healthy().OK, "what can be read says nothing")
		require.ErrorIs(t, s.Healthy().Err, topology.ErrFull)
		require.EqualValues(t, 1, acked())
	}

	e.SetFull(t, false)
	require.Eventually(t, func() bool { return s.Healthy().OK }, time.Minute, 20*time.Millisecond)
	require.Eventually(t, func() bool { return acked() == 2 }, time.Minute, 10*time.Millisecond)
}

// Who knows what etcd has known, before it was restored from a backup, does not go on by that.
func TestRestoredEtcd(t *testing.T) {
	e := etcdtest.Start(t)
	s := open(t, e.Endpoint())
	ctx := deadline(t)
	e.Stop(t)
	restore := e.Backup(t)
	e.Restart(t)
	f := topology.NewFollower(s, nil, nil)
	ended := make(chan error, 1)
	go func() { ended <- f.Run(ctx) }()
	rev, err := s.Change(nil).PutDatabase(&catalog.Database{Name: "a"}, topology.Absent).Commit(ctx)
	require.NoError(t, err)
	_, err = f.Wait(ctx, rev)
	require.NoError(t, err)

	e.Stop(t)
	restore()
	e.Restart(t)
	require.ErrorIs(t, <-ended, topology.ErrRestored)
}

func TestCampaignGuardsEveryWrite(t *testing.T) {
	e := etcdtest.Start(t)
	a, b := open(t, e.Endpoint()), open(t, e.Endpoint())
	ctx := deadline(t)
	var old *topology.Guard
	stop := errors.New("enough")
	err := a.Campaign(ctx, "controller", "a:1", func(ctx context.Context, g *topology.Guard) error {
		old = g
		v, ok, err := b.Leader(ctx, "controller")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, "a:1", v)
		_, err = a.Change(g).PutDatabase(&catalog.Database{Name: "a"}, topology.Absent).Commit(ctx)
		require.NoError(t, err)
		return stop
	})
	require.ErrorIs(t, err, stop)
	_, ok, err := b.Leader(ctx, "controller")
	require.NoError(t, err)
	require.False(t, ok, "leadership is given up at once")

	_, err = a.Change(old).PutDatabase(&catalog.Database{Name: "late"}, topology.Any).Commit(ctx)
	require.ErrorIs(t, err, topology.ErrNotLeader)
	err = b.Campaign(ctx, "controller", "b:1", func(ctx context.Context, g *topology.Guard) error {
		require.Greater(t, g.Term(), old.Term())
		_, err := a.Change(old).PutDatabase(&catalog.Database{Name: "late"}, topology.Any).Commit(ctx)
		require.ErrorIs(t, err, topology.ErrNotLeader)
		_, err = b.Change(g).PutDatabase(&catalog.Database{Name: "a"}, topology.Absent).Commit(ctx)
		require.ErrorIs(t, err, topology.ErrConflict, "a conflict is not taken for a lost leadership")
		return nil
	})
	require.NoError(t, err)
}

func TestOnlyOneLeads(t *testing.T) {
	e := etcdtest.Start(t)
	ctx := deadline(t)
	var mu sync.Mutex
	leading, turns := 0, 0
	var wg sync.WaitGroup
	for i := range 4 {
		s := open(t, e.Endpoint())
		wg.Go(func() {
			err := s.Campaign(ctx, "controller", fmt.Sprint(i), func(ctx context.Context, g *topology.Guard) error {
				mu.Lock()
				leading++
				turns++
				assert.Equal(t, 1, leading)
				mu.Unlock()
				_, err := s.Change(g).PutDatabase(&catalog.Database{Name: "a"}, topology.Any).Commit(ctx)
				mu.Lock()
				leading--
				mu.Unlock()
				return err
			})
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	require.Equal(t, 4, turns)
}

func TestLeadershipEndsWithTheLease(t *testing.T) {
	e := etcdtest.Start(t)
	s := open(t, e.Endpoint())
	raw := e.Client(t)
	err := s.Campaign(deadline(t), "controller", "x", func(ctx context.Context, g *topology.Guard) error {
		own := deadline(t) // ctx may end before the answer has come
		leases, err := raw.Leases(own)
		require.NoError(t, err)
		require.Len(t, leases.Leases, 1)
		_, err = raw.Revoke(own, leases.Leases[0].ID)
		require.NoError(t, err)
		<-ctx.Done()
		return ctx.Err()
	})
	require.ErrorIs(t, err, topology.ErrNotLeader)
}

func TestPresenceAndAcks(t *testing.T) {
	e := etcdtest.Start(t)
	s := open(t, e.Endpoint())
	ctx := deadline(t)
	p := s.NewPresence(topology.Member{ID: "p1", Addr: "h:1", Proxy: true})
	run, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- p.Run(run) }()

	waitMembers := func(n int) []topology.Member {
		var m []topology.Member
		require.Eventually(t, func() bool {
			var err error
			m, err = s.Members(ctx)
			require.NoError(t, err)
			return len(m) == n
		}, time.Minute, 10*time.Millisecond)
		return m
	}
	require.Equal(t, "h:1", waitMembers(1)[0].Addr)

	require.Equal(t, []string{"p1"}, untilSeen(t, func(ctx context.Context) ([]string, error) { return s.WaitAcked(ctx, 100) }))
	p.Ack(100)
	p.Ack(99)
	_, err := s.WaitAcked(ctx, 100)
	require.NoError(t, err)

	stop()
	require.NoError(t, <-done)
	waitMembers(0)
	_, err = s.WaitAcked(ctx, 1<<40)
	require.NoError(t, err, "the dead need not ack")
}

func TestSequencesNeverCollide(t *testing.T) {
	e := etcdtest.Start(t)
	ctx := deadline(t)
	var mu sync.Mutex
	seen := map[uint64]bool{}
	var wg sync.WaitGroup
	for range 4 {
		s := open(t, e.Endpoint())
		wg.Go(func() {
			for range 25 {
				first, err := s.Allocate(ctx, 7, 3)
				assert.NoError(t, err)
				mu.Lock()
				for v := first; v < first+3; v++ {
					assert.False(t, seen[v])
					seen[v] = true
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for v := uint64(1); v <= 300; v++ {
		require.True(t, seen[v])
	}
	s := open(t, e.Endpoint())
	require.NoError(t, s.Raise(ctx, 7, 1000))
	require.NoError(t, s.Raise(ctx, 7, 10))
	first, err := s.Allocate(ctx, 7, 10)
	require.NoError(t, err)
	require.EqualValues(t, 1000, first)
	require.NoError(t, s.GiveBack(ctx, 7, 1004, 1010))
	require.NoError(t, s.GiveBack(ctx, 7, 1001, 1010), "not the end any more: nothing happens")
	next, err := s.Sequence(ctx, 7)
	require.NoError(t, err)
	require.EqualValues(t, 1004, next)
	require.NoError(t, s.Raise(ctx, 7, 1<<64-3))
	_, err = s.Allocate(ctx, 7, 10)
	require.ErrorContains(t, err, "used up")
}

func TestWatchRecords(t *testing.T) {
	e := etcdtest.Start(t)
	s := open(t, e.Endpoint())
	ctx := deadline(t)
	put := func(id, v string) {
		_, err := s.Change(nil).PutRecord(topology.DDLJobs, id, []byte(v), topology.Any).Commit(ctx)
		require.NoError(t, err)
	}
	put("1", "a")
	end := errors.New("end")
	var got []string
	err := s.WatchRecords(ctx, topology.DDLJobs, func(r topology.Record) error {
		got = append(got, r.ID+"="+string(r.Value))
		switch len(got) {
		case 1:
			put("2/x", "b")
		case 2:
			_, err := s.Change(nil).DeleteRecord(topology.DDLJobs, "1", topology.Any).Commit(ctx)
			require.NoError(t, err)
		case 3:
			return end
		}
		return nil
	})
	require.ErrorIs(t, err, end)
	require.Equal(t, []string{"1=a", "2/x=b", "1="}, got)
	id, err := s.NextID(ctx, "ddl")
	require.NoError(t, err)
	require.EqualValues(t, 1, id)
}

// A record that is made just after it was found missing is not missed.
func TestAwaitRecord(t *testing.T) {
	e := etcdtest.Start(t)
	s := open(t, e.Endpoint())
	ctx := deadline(t)
	var got []string
	err := s.AwaitRecord(ctx, topology.DDLJobs, "1", func(r topology.Record) (bool, error) {
		got = append(got, string(r.Value))
		next := []string{"a", "b"}
		if len(got) > len(next) {
			return true, nil
		}
		_, err := s.Change(nil).PutRecord(topology.DDLJobs, "1", []byte(next[len(got)-1]), topology.Any).Commit(ctx)
		return false, err
	})
	require.NoError(t, err)
	require.Equal(t, []string{"", "a", "b"}, got)
}

func TestAuthentication(t *testing.T) {
	e := etcdtest.Start(t)
	raw := e.Client(t)
	ctx := deadline(t)
	_, err := raw.UserAdd(ctx, "root", "secret")
	require.NoError(t, err)
	_, err = raw.UserGrantRole(ctx, "root", "root")
	require.NoError(t, err)
	_, err = raw.AuthEnable(ctx)
	require.NoError(t, err)

	good, err := topology.Open(topology.Config{Endpoints: []string{e.Endpoint()}, DialTimeout: time.Minute, Username: "root", Password: "secret"})
	require.NoError(t, err)
	defer good.Close()
	_, err = good.Load(ctx)
	require.NoError(t, err)
	bad, err := topology.Open(topology.Config{Endpoints: []string{e.Endpoint()}, DialTimeout: time.Minute, Username: "root", Password: "wrong"})
	if err == nil {
		defer bad.Close()
		_, err = bad.Load(ctx)
	}
	require.ErrorContains(t, err, "authentication failed")
}

func TestOpenNeedsEndpoints(t *testing.T) {
	_, err := topology.Open(topology.Config{})
	require.Error(t, err)
}

// The answer to a write that takes a slot may be lost: the process takes another one, and nobody waits for the first, which is
// cleared as that of a process that is gone.
func TestSlotOfALostAnswer(t *testing.T) {
	s := open(t, etcdtest.Start(t).Endpoint())
	ctx := deadline(t)
	p := s.NewPresence(topology.Member{ID: "p1", Addr: "h:1", Proxy: true})
	run, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- p.Run(run) }()
	defer func() {
		stop()
		require.NoError(t, <-done)
	}()
	lost, err := s.TakeSlot(ctx, "p1", "h:1")
	require.NoError(t, err)
	p.AckMap(5)
	silent := func() []topology.Silent {
		return untilSeen(t, func(ctx context.Context) ([]topology.Silent, error) { return s.AwaitDrained(ctx, 5) })
	}
	require.Eventually(t, func() bool { m, err := s.Members(ctx); return err == nil && len(m) == 1 }, time.Minute, 10*time.Millisecond)
	require.False(t, silent()[0].Gone, "it may be about to announce it")
	slot, err := s.TakeSlot(ctx, "p1", "h:1")
	require.NoError(t, err)
	p.Hold(slot)
	require.Eventually(t, func() bool {
		list := silent()
		return len(list) == 1 && list[0].Slot.N == lost.N && list[0].Gone
	}, time.Minute, time.Millisecond)
}

// What a process says itself counts as what it announces does, for the slot it holds and no other one.
func TestAnswersBesideAnnouncements(t *testing.T) {
	s := open(t, etcdtest.Start(t).Endpoint())
	ctx := deadline(t)
	p := s.NewPresence(topology.Member{ID: "p1", Addr: "h:1", Proxy: true}) // it announces nothing
	before, err := s.TakeSlot(ctx, "p1", "h:1")
	require.NoError(t, err)
	slot, err := s.TakeSlot(ctx, "p2", "h:2")
	require.NoError(t, err)
	p.Hold(slot)

	heard := topology.NewHeard()
	waited := make(chan error, 1)
	go func() {
		_, err := s.AwaitDrainedOrHeard(ctx, 5, heard)
		waited <- err
	}()
	asked := make(chan error, 1)
	go func() {
		epoch, slot, err := p.AwaitDrained(ctx, 5)
		if err == nil {
			heard.Drained(slot.Incarnation, epoch)
		}
		asked <- err
	}()
	p.AckMap(4)
	require.Never(t, func() bool { return len(asked) > 0 }, 50*time.Millisecond, 10*time.Millisecond)
	p.AckMap(6)
	require.NoError(t, <-asked)
	require.Never(t, func() bool { return len(waited) > 0 }, 50*time.Millisecond, 10*time.Millisecond)
	heard.Drained(before.Incarnation, 4)
	require.Never(t, func() bool { return len(waited) > 0 }, 50*time.Millisecond, 10*time.Millisecond)
	heard.Drained(before.Incarnation, 5)
	require.NoError(t, <-waited)
}
