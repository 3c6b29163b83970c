package backend

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
	"skarv/test/realserver"
)

// A node group's address that leads to another server is followed, whether the old one answers on or not: once it is read-only, or a statement was
// refused for that, connections are made anew, and those that sessions keep end when another server is there.
func TestReplacedServer(t *testing.T) {
	old, fresh := realserver.Start(t)[0], realserver.Start(t)[0]
	for _, s := range []realserver.Server{old, fresh} {
		s.Exec(t, "CREATE DATABASE replaced", "CREATE TABLE replaced.t (id INT PRIMARY KEY) ENGINE=InnoDB", "CREATE USER app", "GRANT SELECT, INSERT, PROCESS ON *.* TO app")
	}
	fresh.Exec(t, "SET GLOBAL server_id = 22")
	link := filepath.Join(filepath.Dir(old.Addr), "primary")
	lead := func(to realserver.Server) {
		_ = os.Remove(link + ".new")
		require.NoError(t, os.Symlink(to.Addr, link+".new"))
		require.NoError(t, os.Rename(link+".new", link))
	}
	lead(old)
	cfg := DefaultConfig()
	cfg.ProbeInterval = 10 * time.Millisecond
	pools := NewPools(cfg)
	pools.Apply([]*catalog.NodeGroup{{ID: 1, Name: "one", Primary: catalog.Node{Addr: "unix:" + link, User: "app"}}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- pools.Run(ctx) }()
	defer func() {
		cancel()
		require.NoError(t, <-ended)
	}()
	get := func(claim Claim) *Conn {
		c, err := pools.Get(1, Profile{NoDB: true}, NewState("", nil), nil, claim)
		require.NoError(t, err)
		return c
	}
	on := func(c *Conn) string {
		_, rows, err := c.QueryAll("SELECT @@server_id", 1)
		require.NoError(t, err)
		return string(rows[0][0])
	}
	eventually := func(what string, is func() bool) { require.Eventually(t, is, time.Minute, 5*time.Millisecond, what) }
	p := pools.pool(1)
	eventually("the server is known", func() bool { return p.probes.Load() > 2 })

	kept := get(Claim{Held: true})
	_, err := kept.Exec("BEGIN")
	require.NoError(t, err)
	get(Claim{}).Release()
	require.Equal(t, 2, pools.Health(1).Open)
	old.Exec(t, "SET GLOBAL read_only = ON")
	writer := get(Claim{})
	_, err = writer.Exec("INSERT INTO replaced.t VALUES (1)")
	require.True(t, sqlerr.HasCode(err, sqlerr.OptionPreventsStatement), err)
	writer.Release()
	eventually("it is noted at once", func() bool { return !pools.Health(1).ReadOnly.IsZero() })
	require.Equal(t, 1, pools.Health(1).Open, "idle connections are given up")
	reader := get(Claim{})
	require.Equal(t, "1", on(reader), "a read-only server is read from")
	reader.Release()
	require.Equal(t, "1", on(kept), "a transaction goes on")

	lead(fresh)
	eventually("the new one is followed", func() bool { return pools.Health(1).ReadOnly.IsZero() })
	eventually("a connection that a session keeps ends", func() bool { return kept.Broken() })
	_, err = kept.Exec("COMMIT")
	require.True(t, mysqlconn.IsLost(err), err)
	kept.Release()
	writer = get(Claim{})
	require.Equal(t, "22", on(writer))
	_, err = writer.Exec("INSERT INTO replaced.t VALUES (1)")
	require.NoError(t, err)
	writer.Release()

	// Nobody needs to have been read-only.
	kept = get(Claim{Held: true})
	lead(old)
	old.Exec(t, "SET GLOBAL read_only = OFF")
	p.mu.Lock()
	idle := p.idle.front
	p.mu.Unlock()
	require.Nil(t, idle)
	require.True(t, p.tryLogin(t.Context()))
	p.endReplaced()
	require.True(t, kept.Broken())
	kept.Release()
}
