package processlist

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/backend"
	"skarv/pkg/socket"
	"skarv/pkg/sqlerr"
)

// fakeConn is a client's connection without a socket.
type fakeConn struct {
	id    uint32
	ended *sqlerr.Error
}

func (c *fakeConn) ID() uint32                { return c.id }
func (c *fakeConn) Task() *socket.Task        { return nil }
func (c *fakeConn) Terminate(e *sqlerr.Error) { c.ended = e }

type fakeRunner struct{ cause *sqlerr.Error }

func (r *fakeRunner) Interrupt(cause *sqlerr.Error) { r.cause = cause }

func listed(l *List, id uint32, user string) (*Client, *fakeConn, *fakeRunner) {
	c, conn, runner := &Client{}, &fakeConn{id: id}, &fakeRunner{}
	c.Init(conn, runner)
	c.Login(user, "h:1")
	l.Add(c)
	return c, conn, runner
}

func TestKillOfAStatementLeavesTheSession(t *testing.T) {
	l := New()
	c, conn, runner := listed(l, 7, "app")
	c.ForgetKills()
	require.NoError(t, l.Kill(7, true, "app"))
	require.True(t, c.Hit())
	require.True(t, c.MustEnd())
	require.False(t, c.Doomed())
	require.Nil(t, conn.ended)
	require.Nil(t, runner.cause)
	c.ForgetKills()
	require.False(t, c.MustEnd(), "the next statement")
}

func TestKillEndsTheSession(t *testing.T) {
	l := New()
	c, conn, runner := listed(l, 7, "app")
	c.ForgetKills()
	require.NoError(t, l.Kill(7, false, ""))
	require.True(t, c.Doomed())
	require.True(t, sqlerr.HasCode(conn.ended, sqlerr.QueryInterrupted))
	require.True(t, sqlerr.HasCode(runner.cause, sqlerr.QueryInterrupted))
	c.ForgetKills()
	require.True(t, c.MustEnd(), "whatever it would do next")
}

func TestWhoMayBeKilled(t *testing.T) {
	l := New()
	c, _, _ := listed(l, 7, "app")
	require.True(t, sqlerr.HasCode(l.Kill(7, false, "other"), sqlerr.KillDenied))
	require.True(t, sqlerr.HasCode(l.Kill(8, false, ""), sqlerr.UnknownThread))
	require.False(t, c.MustEnd())
	l.Remove(c)
	require.True(t, sqlerr.HasCode(l.Kill(7, false, ""), sqlerr.UnknownThread))
	require.Zero(t, l.Len())
}

func TestAnEvictionIsCountedAsAKill(t *testing.T) {
	l := New()
	c, _, _ := listed(l, 7, "app")
	c.ForgetKills()
	c.Evict()
	kills, evictions := c.Hits()
	require.Equal(t, [2]uint32{1, 1}, [2]uint32{kills, evictions})
	require.NoError(t, l.Kill(7, true, ""))
	kills, evictions = c.Hits()
	require.Equal(t, [2]uint32{2, 1}, [2]uint32{kills, evictions})
	require.False(t, c.Doomed())
}

func TestACommitIsNotEvicted(t *testing.T) {
	c, _, _ := listed(New(), 7, "app")
	c.ForgetKills()
	c.Commits(true)
	c.Evict()
	require.False(t, c.Hit())
	c.Commits(false)
	c.Evict()
	require.True(t, c.Hit())
}

func TestAKillEndsWhatAStatementWaitsFor(t *testing.T) {
	for name, end := range map[string]func(*List){
		"KILL QUERY": func(l *List) { require.NoError(t, l.Kill(7, true, "")) },
		"shutdown":   (*List).Interrupt,
	} {
		l := New()
		c, _, _ := listed(l, 7, "app")
		outer, cancel := context.WithCancel(context.Background())
		defer cancel()
		c.Waits(cancel)
		inner, cancel := context.WithCancel(context.Background())
		defer cancel()
		ended := c.Waits(cancel)
		end(l)
		require.Error(t, inner.Err(), name)
		require.NoError(t, outer.Err(), name)
		ended()
		end(l)
		require.Error(t, outer.Err(), name)
	}
}

// Who leads a pack may give its connection back as soon as a member waits: the member must not be counted as on it while a KILL goes there.
func TestNobodyBoardsOrAlightsWhileAKillIsOnItsWay(t *testing.T) {
	c, _, _ := listed(New(), 7, "app")
	conn := &backend.Conn{}
	require.True(t, c.Board(conn))
	c.onAll(func(on []*backend.Conn) { // as a KILL does
		require.Equal(t, []*backend.Conn{conn}, on)
		require.False(t, c.Board(&backend.Conn{}))
		require.False(t, c.Alight(conn))
	})
	require.True(t, c.Alight(conn))
	c.onAll(func([]*backend.Conn) { t.Error("a connection is left") })
}

func TestTheListSaysWhatEachClientDoes(t *testing.T) {
	l := New()
	b, _, _ := listed(l, 9, "b")
	a, _, _ := listed(l, 3, "a")
	a.Begin("Query", "d", []byte("SELECT 1"), l.Clock())
	a.HasLocks(77)
	b.Idle(l.Clock())
	list := l.Processes()
	require.Len(t, list, 2)
	require.Equal(t, []any{uint32(3), "a", "d", "Query", "SELECT 1", uint32(77)}, []any{list[0].ID, list[0].User, list[0].DB, list[0].Command, list[0].SQL, list[0].LockThread})
	require.Equal(t, []any{uint32(9), "b", "Sleep", "", uint32(0)}, []any{list[1].ID, list[1].User, list[1].Command, list[1].SQL, list[1].LockThread})
	require.WithinDuration(t, time.Now(), list[0].Since, time.Minute)
}
