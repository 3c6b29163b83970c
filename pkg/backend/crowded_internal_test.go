package backend

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
	"skarv/test/realserver"
)

// A server whose disk is full answers its probes: operators are told all the same, once.
func TestServerWhoseDiskIsFull(t *testing.T) {
	var log bytes.Buffer
	g := &catalog.NodeGroup{ID: 3}
	p := &pool{cfg: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, group: g, metrics: newMetrics(nil).group(g)}
	p.noteFull(false)
	require.Zero(t, p.health().Full)
	p.noteFull(true)
	since := p.health().Full
	require.WithinDuration(t, time.Now(), since, time.Minute)
	p.noteFull(true)
	require.Equal(t, since, p.health().Full)
	p.noteFull(false)
	require.Zero(t, p.health().Full)
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=ERROR")))
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=INFO")))
}

// So does one that somebody has locked.
func TestLockedServer(t *testing.T) {
	p := &pool{metrics: newMetrics(nil).group(&catalog.NodeGroup{ID: 3})}
	p.noteLocked(false)
	require.Zero(t, p.health().Locked)
	p.noteLocked(true)
	since := p.health().Locked
	require.WithinDuration(t, time.Now(), since, time.Minute)
	p.noteLocked(true)
	require.Equal(t, since, p.health().Locked)
	p.noteLocked(false)
	require.Zero(t, p.health().Locked)
}

// Statements that wait for such a lock show it.
func TestWaitingForALockedServer(t *testing.T) {
	for _, server := range realserver.Start(t) {
		addr := server.Addr
		if !strings.Contains(addr, ":") {
			addr = "unix:" + addr
		}
		pools := NewPools(DefaultConfig())
		pools.Apply([]*catalog.NodeGroup{{ID: 1, Name: "one", Primary: catalog.Node{Addr: addr, User: "root"}}})
		t.Cleanup(func() { pools.Apply(nil) })
		p := pools.pool(1)
		dial := func() *mysqlconn.Conn {
			c, err := p.dial(t.Context(), Profile{NoDB: true})
			require.NoError(t, err)
			t.Cleanup(func() { _ = c.Close() })
			return c
		}
		probe, writer, branch := dial(), dial(), dial()
		name := server.Name + ".locked"
		_, err := probe.Exec("CREATE TABLE " + name + " (id INT PRIMARY KEY)")
		require.NoError(t, err)
		for _, q := range []string{"XA START 'locked'", "INSERT INTO " + name + " VALUES (2)", "XA END 'locked'"} {
			_, err := branch.Exec(q)
			require.NoError(t, err)
		}
		_, err = server.DB.Exec("FLUSH TABLES WITH READ LOCK")
		require.NoError(t, err)
		p.lookForStalls(t.Context(), probe)
		require.Zero(t, p.health().Locked, "nobody waits")
		written := make(chan error, 2)
		go func() {
			_, err := writer.Exec("INSERT INTO " + name + " VALUES (1)")
			written <- err
		}()
		go func() {
			_, err := branch.Exec("XA PREPARE 'locked'")
			written <- err
		}()
		require.Eventually(t, func() bool {
			p.lookForStalls(t.Context(), probe)
			return !p.health().Locked.IsZero()
		}, time.Minute, 10*time.Millisecond)
		does := func(c *mysqlconn.Conn) doing {
			_, does, err := listed(probe, orphan{thread: c.ThreadID(), user: "root"})
			require.NoError(t, err)
			return does
		}
		require.Eventually(t, func() bool { return does(branch) == commits }, time.Minute, 10*time.Millisecond)
		require.Equal(t, another, does(writer))
		_, err = server.DB.Exec("UNLOCK TABLES")
		require.NoError(t, err)
		require.NoError(t, <-written)
		require.NoError(t, <-written)
		_, err = branch.Exec("XA ROLLBACK 'locked'")
		require.NoError(t, err)
		p.lookForStalls(t.Context(), probe)
		require.Zero(t, p.health().Locked)
	}
}

// One that keeps its temporary tables on the disk that is full cannot say who waits for space: that says it.
func TestServerThatHasNoSpaceToAnswer(t *testing.T) {
	for code, text := range map[sqlerr.Code]string{
		1021: "Disk got full writing 'information_schema.(temporary)' (Errcode: 28 \"No space left on device\")",
		1114: "The table '/data/tmp/#sql656d_ad1_0' is full",
		3:    "Error writing file '/data/tmp/MYfd=52' (OS errno 28 - No space left on device)",
	} {
		require.True(t, noSpace(&sqlerr.Error{Code: code, State: "HY000", Message: text}))
	}
	require.False(t, noSpace(nil))
	require.False(t, noSpace(sqlerr.LockWaitTimeout.New()))
}

// A server that takes no more connections answers its probes: operators are told all the same, by the log once in a while.
func TestServerWithTooManyConnections(t *testing.T) {
	var log bytes.Buffer
	p := &pool{cfg: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}, group: &catalog.NodeGroup{ID: 3}}
	require.Zero(t, p.health().Crowded)
	for range 3 {
		p.noteCrowded(sqlerr.TooManyConnections.New())
	}
	require.WithinDuration(t, time.Now(), p.health().Crowded, time.Minute)
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=WARN")))
}
