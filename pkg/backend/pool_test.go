package backend_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
	"skarv/test/realserver"
)

func start(t *testing.T, change func(*backend.Config)) (*backend.Pools, *realserver.Server) {
	t.Helper()
	server := realserver.Start(t)[0]
	cfg := backend.DefaultConfig()
	cfg.MaxPerGroup, cfg.AcquireTimeout = 2, time.Minute // nobody who will get a connection is refused one on a busy machine
	if change != nil {
		change(&cfg)
	}
	p := backend.NewPools(cfg)
	p.Apply([]*catalog.NodeGroup{{ID: 1, Name: "one", Primary: catalog.Node{Addr: "unix:" + server.Addr, User: "root"}}})
	t.Cleanup(func() { p.Apply(nil) })
	return p, &server
}

func one(t *testing.T, c *backend.Conn, sql string) string {
	t.Helper()
	_, rows, err := c.QueryAll(sql, 1)
	require.NoError(t, err)
	return string(rows[0][0])
}

func TestPool(t *testing.T) {
	outer := t
	p, server := start(t, nil)
	fresh := backend.NewState("", nil)
	inDB := backend.NewState(server.Name, nil)
	hasty := backend.NewState("", []backend.Variable{{Name: "@@session.`max_statement_time`", Value: "0.1"}})
	none := backend.Profile{NoDB: true}
	get := func(t *testing.T, profile backend.Profile, st *backend.State) *backend.Conn {
		t.Helper()
		c, err := p.Get(1, profile, st, nil, backend.Claim{})
		require.NoError(t, err)
		return c
	}
	t.Run("full", func(t *testing.T) {
		a, b := get(t, none, fresh), get(t, none, fresh)
		_, err := p.Get(1, none, hasty, nil, backend.Claim{})
		require.True(t, sqlerr.HasCode(err, sqlerr.TooManyUserConns), "%v", err)
		var g sync.WaitGroup
		for range 20 { // who waits is served in turn, whatever the profile
			g.Go(func() {
				c, err := p.Get(1, backend.Profile{}, inDB, nil, backend.Claim{})
				if err != nil {
					t.Error(err)
					return
				}
				c.Release()
			})
		}
		a.Release()
		b.Discard()
		g.Wait()
		require.Zero(t, p.Health(1).InUse)
	})
	t.Run("when one connection is lost, idle ones are looked at before their use", func(t *testing.T) {
		a, b := get(t, none, fresh), get(t, none, fresh)
		b.Release()
		require.Empty(t, backend.Kill(t.Context(), false, a, b))
		require.Eventually(t, func() bool { return a.Stale() && b.Stale() }, time.Minute, time.Millisecond)
		_, err := a.Exec("DO 1")
		require.Error(t, err)
		a.Discard()
		c := get(t, none, fresh)
		defer c.Release()
		_, err = c.Exec("DO 1")
		require.NoError(t, err)
	})
	t.Run("an open transaction ends with its holder", func(t *testing.T) {
		c := get(t, none, fresh)
		_, err := c.Exec("BEGIN")
		require.NoError(t, err)
		id := c.ThreadID()
		c.Release()
		d := get(t, none, fresh)
		require.NotEqual(t, id, d.ThreadID())
		d.Release()
	})
	t.Run("a state the server refuses costs no connection and leaves no trace", func(t *testing.T) {
		p.Apply(nil)
		p, _ = start(outer, func(c *backend.Config) { c.MaxPerGroup = 1 })
		c := get(t, none, fresh)
		id := c.ThreadID()
		c.Release()
		for range 3 {
			_, err := p.Get(1, none, backend.NewState("", []backend.Variable{{Name: "@a", Value: "'left'"}, {Name: "@@session.sql_mode", Value: "'nonsense'"}}), nil, backend.Claim{})
			require.True(t, sqlerr.HasCode(err, 1231), "%v", err)
		}
		c = get(t, none, fresh)
		require.Equal(t, id, c.ThreadID())
		require.Equal(t, "", one(t, c, "SELECT @a"))
		require.Equal(t, "utf8mb4", one(t, c, "SELECT @@character_set_client"), "after a reset")
		c.Release()
	})
	t.Run("what a holder keeps is never reset", func(t *testing.T) {
		c := get(t, none, backend.NewState("", []backend.Variable{{Name: "@a", Value: "1"}}))
		_, err := c.Exec("BEGIN")
		require.NoError(t, err)
		require.Error(t, c.Extend(fresh))
		require.NoError(t, c.Extend(backend.NewState("", []backend.Variable{{Name: "@a", Value: "2"}})))
		require.Equal(t, "2", one(t, c, "SELECT @a"))
		require.Equal(t, "1", one(t, c, "SELECT @@in_transaction"))
		require.Error(t, c.Extend(backend.NewState("no_such_database", c.State().Vars)))
		require.True(t, c.Usable())
		require.False(t, c.Dirty, "the database is what it was")
		c.Release()
	})
	t.Run("statements on a server that has too many", func(t *testing.T) {
		c := get(t, none, fresh)
		defer c.Release()
		for _, sql := range []string{"SELECT 1", "SELECT 2"} {
			_, err := c.Statement([]byte(sql), uint64(len(sql)+int(sql[7])), nil, 1)
			require.NoError(t, err)
		}
		_, err := c.Exec("SET GLOBAL max_prepared_stmt_count = 2")
		require.NoError(t, err)
		_, err = c.Statement([]byte("SELECT 3"), 3, nil, 1)
		require.NoError(t, err, "older ones make room")
	})
}

func TestAddKeepsPools(t *testing.T) {
	p, server := start(t, nil)
	get := func(g placement.NodeGroupID) (uint32, error) {
		c, err := p.Get(g, backend.Profile{NoDB: true}, backend.NewState("", nil), nil, backend.Claim{})
		if err != nil {
			return 0, err
		}
		defer c.Release()
		return c.ThreadID(), nil
	}
	first, err := get(1)
	require.NoError(t, err)
	_, err = get(3)
	require.ErrorContains(t, err, "node group 3 is not in the topology")
	p.Add([]*catalog.NodeGroup{{ID: 3, Name: "three", Primary: catalog.Node{Addr: "unix:" + server.Addr, User: "root"}}})
	_, err = get(3)
	require.NoError(t, err)
	again, err := get(1)
	require.NoError(t, err)
	require.Equal(t, first, again, "the connection of before")
}

func TestRunEnds(t *testing.T) {
	p, _ := start(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	c, err := p.Get(1, backend.Profile{NoDB: true}, backend.NewState("", nil), nil, backend.Claim{})
	require.NoError(t, err)
	p.Apply(nil) // the group leaves while a statement runs
	_, err = c.Exec("DO 1")
	require.NoError(t, err)
	c.Release()
	cancel()
	select {
	case err := <-done:
		require.True(t, err == nil || errors.Is(err, context.Canceled))
	case <-time.After(time.Minute):
		t.Fatal("Run does not end")
	}
}

// A connection that was closed to make room for one of another profile is nobody's hint any more.
// A server's SET GLOBAL reaches connections that are never idle for long, too.
func TestConnectionsTakeNewSettings(t *testing.T) {
	p, server := start(t, func(c *backend.Config) { c.ProbeInterval, c.IdleTimeout = 10*time.Millisecond, 50*time.Millisecond })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { _ = p.Run(ctx) }()
	limit := func() string {
		c, err := p.Get(1, backend.Profile{NoDB: true}, backend.NewState("", nil), nil, backend.Claim{})
		require.NoError(t, err)
		defer c.Release()
		return one(t, c, "SELECT @@group_concat_max_len")
	}
	limit()
	server.Exec(t, "SET GLOBAL group_concat_max_len = 5555")
	for end := time.Now().Add(time.Minute); limit() != "5555"; {
		require.True(t, time.Now().Before(end))
	}
}

func TestHintThatWasClosed(t *testing.T) {
	p, _ := start(t, func(c *backend.Config) { c.MaxPerGroup, c.MinPerGroup = 1, 1 })
	st := backend.NewState("", nil)
	none, other := backend.Profile{NoDB: true}, backend.Profile{NoDB: true, Caps: wire.CapFoundRows}
	hint, err := p.Get(1, none, st, nil, backend.Claim{})
	require.NoError(t, err)
	hint.Release()
	c, err := p.Get(1, other, st, nil, backend.Claim{})
	require.NoError(t, err)
	c.Release()
	c, err = p.Get(1, none, st, hint, backend.Claim{})
	require.NoError(t, err)
	require.Equal(t, "1", one(t, c, "SELECT 1"))
	c.Release()
}

// TestKillByOneConnection: the statements of one session on a server end by one login, whether some have ended already or not.
func TestKillByOneConnection(t *testing.T) {
	p, _ := start(t, func(c *backend.Config) { c.MaxPerGroup, c.FixedLimit = 5, true })
	var conns []*backend.Conn
	for range 5 {
		c, err := p.Get(1, backend.Profile{NoDB: true}, backend.NewState("", nil), nil, backend.Claim{})
		require.NoError(t, err)
		defer c.Discard()
		conns = append(conns, c)
	}
	watch := conns[4]
	logins := func() string {
		_, rows, err := watch.QueryAll("SHOW GLOBAL STATUS LIKE 'Connections'", 1)
		require.NoError(t, err)
		return string(rows[0][1])
	}
	before := logins()
	gone := conns[3]
	_, err := watch.Exec(fmt.Sprint("KILL ", gone.ThreadID()))
	require.NoError(t, err)
	ended := make(chan error, 3)
	for _, c := range conns[:3] {
		go func() {
			_, err := c.Exec("DO 1 + (SELECT SLEEP(600))")
			ended <- err
		}()
	}
	require.Eventually(t, func() bool {
		return one(t, watch, "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'DO 1%'") == "3" &&
			one(t, watch, fmt.Sprint("SELECT COUNT(*) FROM information_schema.processlist WHERE id = ", gone.ThreadID())) == "0"
	}, time.Minute, time.Millisecond)
	require.Empty(t, backend.Kill(t.Context(), true, append([]*backend.Conn{gone, conns[0]}, conns[:3]...)...), "what has ended needs no more")
	for range 3 {
		<-ended // SLEEP gives 1, or is error 1317
	}
	n, err := strconv.Atoi(before)
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(n+1), logins())
}

// TestKilledConnections: a KILL QUERY that a server may keep for the next statement meets nobody else's, and not its holder's.
func TestKilledConnections(t *testing.T) {
	p, _ := start(t, func(c *backend.Config) { c.MaxPerGroup, c.FixedLimit = 2, true })
	get := func() *backend.Conn {
		c, err := p.Get(1, backend.Profile{NoDB: true}, backend.NewState("", nil), nil, backend.Claim{})
		require.NoError(t, err)
		return c
	}
	watch := get()
	kill := func(c *backend.Conn) {
		ended := make(chan error, 1)
		go func() {
			_, err := c.Exec("DO SLEEP(600)")
			ended <- err
		}()
		require.Eventually(t, func() bool {
			return one(t, watch, fmt.Sprint("SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'DO SLEEP(600)' AND id = ", c.ThreadID())) == "1"
		}, time.Minute, time.Millisecond)
		require.Empty(t, backend.Kill(t.Context(), true, c))
		<-ended // SLEEP gives 1, or is error 1317
	}
	c := get()
	thread := c.ThreadID()
	require.Eventually(t, func() bool { // a server has answered the statements of the login a moment before it says so
		return one(t, watch, fmt.Sprint("SELECT command FROM information_schema.processlist WHERE id = ", thread)) == "Sleep"
	}, time.Minute, time.Millisecond)
	require.Equal(t, backend.Killed{Idle: []*backend.Conn{c}}, backend.Kill(t.Context(), true, c), "there is no statement")
	c.Begin()
	kill(c)
	c.End()
	asked := func() string {
		_, rows, err := c.QueryAll("SHOW SESSION STATUS LIKE 'Com_do'", 1)
		require.NoError(t, err)
		return string(rows[0][1])
	}
	before := asked()
	c.Begin()
	require.NotEqual(t, before, asked())
	c.End()
	c.Release()
	c = get()
	require.Equal(t, thread, c.ThreadID())
	kill(c)
	c.Release()
	c = get()
	require.NotEqual(t, thread, c.ThreadID())
	c.Release()
	watch.Release()
}

// TestKillAfterSwitchover: a connection that was handed out before its group got another primary is killed on the server it is
// to. On the new one its number may be another session's.
func TestKillAfterSwitchover(t *testing.T) {
	p, _ := start(t, func(c *backend.Config) { c.MaxPerGroup, c.FixedLimit = 100, true })
	get := func() *backend.Conn {
		c, err := p.Get(1, backend.Profile{NoDB: true}, backend.NewState("", nil), nil, backend.Claim{})
		require.NoError(t, err)
		t.Cleanup(c.Discard)
		return c
	}
	var before []*backend.Conn // of many numbers
	for range 10 {
		before = append(before, get())
	}
	second := realserver.Start(t)[0]
	p.Apply([]*catalog.NodeGroup{{ID: 1, Name: "one", Primary: catalog.Node{Addr: "unix:" + second.Addr, User: "root"}}})
	var old, other *backend.Conn
	for old == nil {
		other = get()
		require.LessOrEqual(t, other.ThreadID(), before[9].ThreadID(), "the first server's numbers are behind the second one's")
		if i := slices.IndexFunc(before, func(c *backend.Conn) bool { return c.ThreadID() == other.ThreadID() }); i >= 0 {
			old = before[i]
		}
	}
	require.Empty(t, backend.Kill(t.Context(), false, old))
	require.Eventually(t, old.Stale, time.Minute, time.Millisecond)
	require.Equal(t, "1", one(t, other, "SELECT 1"))
}
