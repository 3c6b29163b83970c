package session

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/server"
)

// secondProxy starts another proxy of the shared cluster and returns its DSN.
func secondProxy(t *testing.T) string {
	cfg := server.DefaultConfig()
	cfg.Etcd.Endpoints = []string{shared.Info().Etcd}
	cfg.MySQL.Addr, cfg.HTTP.Addr, cfg.Admin.Addr = "127.0.0.1:0", "", "127.0.0.1:0"
	cfg.Roles = []server.Role{server.RoleProxy}
	s, err := server.New(cfg, server.Options{Version: "second"})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	require.Eventually(t, func() bool { return s.Ready() == nil }, ten, tick)
	dsn := shared.DSN("d")
	at := strings.Index(dsn, "(")
	return dsn[:strings.LastIndex(dsn[:at], "@")+1] + "tcp(" + s.MySQLAddr() + ")" + dsn[strings.Index(dsn, ")")+1:]
}

func TestTwoProxies(t *testing.T) {
	dsn := secondProxy(t)
	a, b := connect(t), connectTo(t, dsn)
	idA, idB := a.get("SELECT CONNECTION_ID()"), b.get("SELECT CONNECTION_ID()")
	require.NotEqual(t, idA, idB)

	t.Run("each lists the clients of both", func(t *testing.T) {
		for _, c := range []*client{a, b} {
			for _, q := range []string{"SHOW FULL PROCESSLIST", "SELECT id, user FROM information_schema.processlist", "SELECT * FROM skarv.processlist"} {
				list := ";" + c.get(q)
				require.Contains(t, list, ";"+idA+",", q)
				require.Contains(t, list, ";"+idB+",", q)
			}
		}
	})
	t.Run("KILL QUERY of the other's statement", func(t *testing.T) {
		ended := make(chan error, 1)
		go func() {
			_, err := a.try("SELECT SLEEP(600) FROM t WHERE id = 1")
			ended <- err
		}()
		require.Eventually(t, func() bool { return strings.Contains(b.get("SHOW PROCESSLIST"), "SLEEP(600)") }, ten, tick)
		b.exec("KILL QUERY " + idA)
		<-ended // an error, or SLEEP() that tells it was interrupted
		require.Equal(t, "1", a.get("SELECT 1"))
	})
	t.Run("user locks are the cluster's", func(t *testing.T) {
		require.Equal(t, "1", a.get("SELECT GET_LOCK('job', 0)"))
		require.Equal(t, "0", b.get("SELECT GET_LOCK('job', 0)"))
		require.Equal(t, idA+",0", b.get("SELECT IS_USED_LOCK('job'), IS_FREE_LOCK('job')"))
		require.Equal(t, "0", b.get("SELECT RELEASE_LOCK('job')"))
		got := make(chan string, 1)
		go func() {
			s, _ := b.try("SELECT GET_LOCK('job', 60)")
			got <- s
		}()
		require.Eventually(t, func() bool { return strings.Contains(a.get("SHOW PROCESSLIST"), "GET_LOCK") }, ten, tick)
		require.Equal(t, "1", a.get("SELECT RELEASE_LOCK('job')"))
		require.Equal(t, "1", <-got)
		require.Equal(t, idB, a.get("SELECT IS_USED_LOCK('job')"))
		require.Equal(t, "0", a.get("SELECT GET_LOCK('job', 0)"))
	})
	t.Run("KILL of the other's client gives its locks free", func(t *testing.T) {
		a.fails(1094, "KILL 4294967295")
		a.exec("KILL " + idB)
		require.Eventually(t, func() bool { return a.get("SELECT GET_LOCK('job', 0)") == "1" }, ten, tick)
		_, err := b.try("SELECT 1")
		require.Error(t, err)
		a.exec("DO RELEASE_LOCK('job')")
	})
	t.Run("the end of a client gives its locks free", func(t *testing.T) {
		c := connectTo(t, dsn)
		require.Equal(t, "1", c.get("SELECT GET_LOCK('job', 0)"))
		c.end()
		require.Eventually(t, func() bool { return a.get("SELECT GET_LOCK('job', 0)") == "1" }, ten, tick)
	})
	t.Run("a lost server ends who had locks there", func(t *testing.T) {
		require.Equal(t, "1", a.get("SELECT GET_LOCK('job', 0)"))
		db := shared.NodeGroupDB(t, 1, "d")
		var thread int
		require.NoError(t, db.QueryRow("SELECT IS_USED_LOCK('job')").Scan(&thread))
		_, err := db.Exec(fmt.Sprintf("KILL %d", thread))
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			_, err := a.try("SELECT v FROM t WHERE id = 1")
			return err != nil
		}, ten, tick)
	})
}
