package backend

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/test/realserver"
)

// What lets a server's clients go on, and somebody must mend all the same, is noted and logged once: read_only, and another password of Skarv's own account.
func TestServerWithOtherSettings(t *testing.T) {
	for _, server := range realserver.Start(t) {
		addr := server.Addr
		if !strings.Contains(addr, ":") {
			addr = "unix:" + addr
		}
		exec := func(q string) {
			_, err := server.DB.Exec(q)
			require.NoError(t, err, q)
		}
		exec("CREATE USER skarv_own IDENTIFIED BY 'first'")
		defer exec("DROP USER skarv_own")
		exec("GRANT PROCESS ON *.* TO skarv_own")
		var log bytes.Buffer
		cfg := DefaultConfig()
		cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		g := &catalog.NodeGroup{ID: 1, Name: "one", Primary: catalog.Node{Addr: addr, User: "skarv_own", Password: "first"}}
		p := newPool(g, cfg, newMetrics(nil), &orphans{})
		probe, err := p.dial(t.Context(), Profile{NoDB: true})
		require.NoError(t, err)
		defer probe.Close()
		look := func() {
			p.lookForStalls(t.Context(), probe)
			p.tryLogin(t.Context())
		}
		look()
		require.Zero(t, p.health().ReadOnly)
		require.Empty(t, p.health().Barred)
		require.Less(t, p.health().Clock.Abs(), time.Minute)
		_, err = probe.Exec("SET timestamp = 1000000000")
		require.NoError(t, err)
		look()
		require.Less(t, p.health().Clock, -time.Hour)
		require.Empty(t, log.String())

		exec("SET GLOBAL read_only = ON")
		look()
		since := p.health().ReadOnly
		require.NotZero(t, since)
		exec("SET GLOBAL read_only = OFF")
		exec("ALTER USER skarv_own IDENTIFIED BY 'second'")
		look()
		look()
		require.Zero(t, p.health().ReadOnly)
		require.Contains(t, p.health().Barred, "Access denied")
		exec("ALTER USER skarv_own IDENTIFIED BY 'first'")
		look()
		require.Empty(t, p.health().Barred)
		require.Equal(t, 2, strings.Count(log.String(), "level=ERROR"), log.String())
		require.Equal(t, 2, strings.Count(log.String(), "level=INFO"), log.String())
	}
}
