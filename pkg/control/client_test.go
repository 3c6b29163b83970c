package control

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/topology"
)

// link is a way to etcd that can be held up: what is sent arrives when it is let go on.
type link struct {
	listener net.Listener
	to       string

	mu     sync.Mutex
	passes *sync.Cond
	held   [2]bool // to etcd, and back
	// watch is what the next packet to etcd is looked for in; then that way is held in front of it, or the way back.
	watch []byte
	back  bool
	seen  atomic.Bool
}

func newLink(t *testing.T, endpoint string) *link {
	u, err := url.Parse(endpoint)
	require.NoError(t, err)
	l := &link{to: u.Host}
	l.passes = sync.NewCond(&l.mu)
	l.listener, err = net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() {
		l.listener.Close()
		l.release()
	})
	go func() {
		for {
			from, err := l.listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", l.to)
			if err != nil {
				from.Close()
				return
			}
			go l.pass(0, to, from)
			go l.pass(1, from, to)
		}
	}()
	return l
}

func (l *link) pass(way int, to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		l.mu.Lock()
		if way == 0 && l.watch != nil && bytes.Contains(buffer[:n], l.watch) {
			l.watch = nil
			if l.back {
				l.held[1] = true
			} else {
				l.held = [2]bool{true, true}
			}
			l.seen.Store(true)
		}
		for l.held[way] {
			l.passes.Wait()
		}
		l.mu.Unlock()
		if _, err := io.Copy(to, bytes.NewReader(buffer[:n])); err != nil {
			return
		}
	}
}

// hold holds up all that passes.
func (l *link) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = [2]bool{true, true}
}

// holdAt holds up what passes from the packet to etcd on that has text, or, if back, what comes from etcd from then on.
func (l *link) holdAt(text string, back bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watch, l.back = []byte(text), back
	l.seen.Store(false)
}

func (l *link) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = [2]bool{}
	l.passes.Broadcast()
}

// remote is a client of the cluster that is joined to etcd by a link.
func (f *fixture) remote() (*Client, *link) {
	l := newLink(f.t, f.store.Endpoints()[0])
	s, err := topology.Open(topology.Config{Endpoints: []string{"http://" + l.listener.Addr().String()}, RequestTimeout: 500 * time.Millisecond})
	require.NoError(f.t, err)
	f.t.Cleanup(func() { s.Close() })
	return &Client{Store: s, Follower: f.follower}, l
}

// A request that was answered with an error is never begun: not one that comes to etcd later, nor one whose answer is lost.
func TestRefusedRequestsAreNeverBegun(t *testing.T) {
	f := newFixture(t, 1)
	f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE t (id INT PRIMARY KEY)")
	servers[0].Exec(t, "INSERT INTO d.t VALUES (1)")
	remote, link := f.remote()
	truncate := f.session
	truncate.SQL = "TRUNCATE TABLE t"
	rows := func() string {
		f.must("CREATE TABLE after (id INT PRIMARY KEY)")
		f.must("DROP TABLE after")
		return servers[0].Value(t, "SELECT COUNT(*) FROM d.t")
	}

	link.hold()
	_, err := remote.DDL(f.ctx(), truncate)
	require.ErrorContains(t, err, "the schema cannot be changed now: etcd is not reachable")
	link.release()
	require.Equal(t, "1", rows())

	for _, back := range []bool{false, true} {
		link.holdAt(truncate.SQL, back)
		ended := make(chan error, 1)
		go func() {
			_, err := remote.DDL(f.ctx(), truncate)
			ended <- err
		}()
		require.Eventually(t, link.seen.Load, 20*time.Second, time.Millisecond)
		if back { // the controller has it
			require.Eventually(t, func() bool { return servers[0].Value(t, "SELECT COUNT(*) FROM d.t") == "0" }, 20*time.Second, time.Millisecond)
		}
		require.Eventually(t, func() bool { return !remote.Store.Healthy().OK }, 20*time.Second, time.Millisecond) // the request's time is over
		require.Empty(t, ended)
		link.release()
		if err = <-ended; err == nil {
			require.Equal(t, "0", rows())
			servers[0].Exec(t, "INSERT INTO d.t VALUES (1)")
		} else {
			require.False(t, back)
			require.ErrorContains(t, err, "the schema cannot be changed now: etcd is not reachable")
			require.Equal(t, "1", rows())
		}
	}

	// Who waits no more is told what is known.
	link.holdAt(truncate.SQL, false)
	ctx, giveUp := context.WithCancel(f.ctx())
	ended := make(chan error, 1)
	go func() {
		_, err := remote.DDL(ctx, truncate)
		ended <- err
	}()
	require.Eventually(t, link.seen.Load, 20*time.Second, time.Millisecond)
	giveUp()
	require.ErrorContains(t, <-ended, "it is not known whether the change is made")
}

// What is withdrawn finds its place taken when it comes to etcd after that.
func TestWithdrawnBeforeItComes(t *testing.T) {
	f := newFixture(t, 1)
	put := func(j *job) error {
		data, err := j.encode()
		require.NoError(t, err)
		_, err = f.store.Change(nil).PutRecord(topology.DDLJobs, j.ID, data, topology.Absent).Commit(f.ctx())
		return err
	}
	early, late := statement(newJobID(time.Now()), "CREATE DATABASE d"), statement(newJobID(time.Now().Add(time.Second)), "CREATE DATABASE d")
	for range 2 {
		begun, err := f.client.withdraw(f.ctx(), late.ID)
		require.NoError(t, err)
		require.False(t, begun)
	}
	require.ErrorIs(t, put(late), topology.ErrConflict)

	// Of what may have ended long ago nothing can be said.
	l := &leader{store: f.store, guard: nil}
	for i := range keptJobs + 1 {
		id := early.ID
		if i > 0 {
			id = newJobID(time.Now())
		}
		require.NoError(t, l.forget(f.ctx(), id))
	}
	_, err := f.client.withdraw(f.ctx(), early.ID)
	require.ErrorContains(t, err, "may have ended")

	begun, err := f.client.withdraw(f.ctx(), late.ID)
	require.NoError(t, err)
	require.False(t, begun)
	late.ID = newJobID(time.Now())
	require.NoError(t, put(late))
	begun, err = f.client.withdraw(f.ctx(), late.ID)
	require.NoError(t, err)
	require.False(t, begun)
	late.ID, late.State = newJobID(time.Now()), running
	require.NoError(t, put(late))
	begun, err = f.client.withdraw(f.ctx(), late.ID)
	require.NoError(t, err)
	require.True(t, begun)
}
