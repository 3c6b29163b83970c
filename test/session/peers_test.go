package session

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/server"
	"skarv/pkg/txn"
	adminv1 "skarv/proto/admin/v1"
	"skarv/test/cluster"
)

// secondProxy starts another proxy of the shared cluster and returns its DSN.
func secondProxy(t *testing.T) string {
	dsn, stop := startProxy(t)
	t.Cleanup(stop)
	return dsn
}

// startProxy is secondProxy that is stopped, and awaited, by the caller.
func startProxy(t *testing.T, tune ...func(*server.Config, *server.Options)) (dsn string, stop func()) {
	_, dsn, stop = runProxy(t, tune...)
	return dsn, stop
}

// watchedProxy is secondProxy whose metrics are at web.
func watchedProxy(t *testing.T, tune func(*server.Config, *server.Options)) (dsn, web string) {
	s, dsn, stop := runProxy(t, func(c *server.Config, _ *server.Options) { c.HTTP.Addr = "127.0.0.1:0" }, tune)
	t.Cleanup(stop)
	return dsn, s.HTTPAddr()
}

func runProxy(t *testing.T, tune ...func(*server.Config, *server.Options)) (s *server.Server, dsn string, stop func()) {
	cfg := server.DefaultConfig()
	cfg.Etcd.Endpoints = []string{shared.Info().Etcd}
	cfg.MySQL.Addr, cfg.HTTP.Addr, cfg.Admin.Addr = "127.0.0.1:0", "", "127.0.0.1:0"
	cfg.Roles = []server.Role{server.RoleProxy}
	options := server.Options{Version: "second"}
	for _, f := range tune {
		f(&cfg, &options)
	}
	s, err := server.New(cfg, options)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	stop = func() {
		cancel()
		require.NoError(t, <-ended)
	}
	require.Eventually(t, func() bool { return s.Ready() == nil }, patience, tick)
	dsn = shared.DSN("d")
	at := strings.Index(dsn, "(")
	return s, dsn[:strings.LastIndex(dsn[:at], "@")+1] + "tcp(" + s.MySQLAddr() + ")" + dsn[strings.Index(dsn, ")")+1:], stop
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
			_, err := a.try("SELECT SLEEP(600) /* \xff is no UTF-8 */ FROM t WHERE id = 1")
			ended <- err
		}()
		require.Eventually(t, func() bool { return strings.Contains(b.get("SHOW PROCESSLIST"), "SLEEP(600)") }, patience, tick)
		b.exec("KILL QUERY " + idA)
		<-ended // an error, or SLEEP() that tells it was interrupted
		require.Equal(t, "1", a.get("SELECT 1"))
	})
	t.Run("a long statement is shown whole", func(t *testing.T) {
		ended := make(chan error, 1)
		go func() {
			_, err := a.try("SELECT SLEEP(600), '" + strings.Repeat("x", 20000) + "' AS the_end FROM t WHERE id = 1")
			ended <- err
		}()
		for _, q := range []string{"SHOW FULL PROCESSLIST", "SELECT info FROM information_schema.processlist"} {
			for _, c := range []*client{b, connect(t)} {
				require.Eventually(t, func() bool { return strings.Contains(c.get(q), "AS the_end FROM t WHERE id = 1") }, patience, tick, q)
			}
		}
		require.NotContains(t, b.get("SHOW PROCESSLIST"), "the_end FROM")
		b.exec("KILL QUERY " + idA)
		<-ended
	})
	t.Run("user locks are the cluster's", func(t *testing.T) {
		require.Equal(t, "1", a.get("SELECT GET_LOCK('job', 0)"))
		require.Equal(t, "0", b.get("SELECT GET_LOCK('job', 0)"))
		require.Equal(t, idA+",0", b.get("SELECT IS_USED_LOCK('job'), IS_FREE_LOCK('job')"))
		require.Equal(t, "0", b.get("SELECT RELEASE_LOCK('job')"))
		b.exec("SET @l = GET_LOCK('job', 0)")
		require.Equal(t, "0", b.get("SELECT @l"), "SET has no locks of its own")
		got := make(chan string, 1)
		go func() {
			s, _ := b.try("SELECT GET_LOCK('job', 60)")
			got <- s
		}()
		require.Eventually(t, func() bool { return strings.Contains(a.get("SHOW PROCESSLIST"), "GET_LOCK") }, patience, tick)
		require.Equal(t, "1", a.get("SELECT RELEASE_LOCK('job')"))
		require.Equal(t, "1", <-got)
		require.Equal(t, idB, a.get("SELECT IS_USED_LOCK('job')"))
		require.Equal(t, "0", a.get("SELECT GET_LOCK('job', 0)"))
	})
	t.Run("KILL of the other's client gives its locks free", func(t *testing.T) {
		a.fails(1094, "KILL 4294967295")
		a.exec("KILL " + idB)
		require.Eventually(t, func() bool { return a.get("SELECT GET_LOCK('job', 0)") == "1" }, patience, tick)
		_, err := b.try("SELECT 1")
		require.Error(t, err)
		a.exec("DO RELEASE_LOCK('job')")
	})
	mariadb := strings.Contains(a.get("SELECT VERSION()"), "MariaDB")
	t.Run("KILL of an expression", func(t *testing.T) {
		queries := []string{"KILL (<id>)", "KILL CONNECTION <id> + 0;", "KILL <id> -- bye", "KILL <id>;"}
		if mariadb {
			queries = append(queries, "KILL HARD CONNECTION '<id>'")
		}
		for _, query := range queries {
			c := connectTo(t, dsn)
			query = strings.ReplaceAll(query, "<id>", c.get("SELECT CONNECTION_ID()"))
			a.exec(query)
			_, err := c.try("SELECT 1")
			require.Error(t, err, query)
		}
		a.fails(1094, "KILL 4294967294 + 1")
		a.fails(1235, "KILL (SELECT MAX(id) FROM t)")
		a.fails(1064, "KILL")
	})
	t.Run("KILL of oneself", func(t *testing.T) {
		killed := 1317
		if mariadb {
			killed = 1927
		}
		c := connectTo(t, dsn)
		c.fails(1317, "KILL QUERY CONNECTION_ID()")
		c.fails(killed, "KILL CONNECTION_ID()")
		_, err := c.try("SELECT 1")
		require.Error(t, err)
	})
	t.Run("the end of a client gives its locks free", func(t *testing.T) {
		c := connectTo(t, dsn)
		require.Equal(t, "1", c.get("SELECT GET_LOCK('job', 0)"))
		c.end()
		require.Eventually(t, func() bool { return a.get("SELECT GET_LOCK('job', 0)") == "1" }, patience, tick)
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
		}, patience, tick)
	})
}

// A process that announces another one's address does not get that one's answers as its own.
func TestAProcessThatIsNotTheOneMeant(t *testing.T) {
	dsn, stop := startProxy(t, func(c *server.Config, _ *server.Options) { c.Admin.Advertise = shared.AdminAddr() })
	t.Cleanup(stop)
	a, b := connect(t), connectTo(t, dsn)
	idA, idB := a.get("SELECT CONNECTION_ID()"), b.get("SELECT CONNECTION_ID()")
	list := a.get("SHOW PROCESSLIST")
	require.Equal(t, 1, strings.Count(";"+list, ";"+idA+","), "its own clients are not listed again as the other's")
	require.Contains(t, a.get("SHOW WARNINGS"), shared.AdminAddr())
	_, err := a.try("KILL " + idB)
	require.ErrorContains(t, err, "admin.advertise", "there is such a client, it cannot be reached")
	status, err := adminv1.NewAdminClient(shared.Admin(t)).Status(t.Context(), &adminv1.StatusRequest{})
	require.NoError(t, err)
	require.Contains(t, strings.Join(status.GetProblems(), "\n"), "2 processes announce the admin address "+shared.AdminAddr())
}

// A session that panics keeps no connection, and nothing of what it did on one.
func TestPanic(t *testing.T) {
	var armed atomic.Bool
	dsn, web := watchedProxy(t, func(_ *server.Config, o *server.Options) {
		o.Failpoint = func(point string, _ txn.ID) error {
			if point == txn.PointPrepare && armed.Load() {
				panic("armed")
			}
			return nil
		}
	})
	c := connectTo(t, dsn)
	c.exec("CREATE TABLE panicked (id INT PRIMARY KEY)")
	armed.Store(true)
	_, err := c.try("INSERT INTO panicked VALUES (1), (2), (3), (4), (5), (6), (7), (8)")
	require.Error(t, err)
	armed.Store(false)
	require.Eventually(t, func() bool {
		return !regexp.MustCompile(`(?m)^skarv_backend_connections_in_use{[^}]*} [1-9]`).MatchString(metricsOf(t, web))
	}, patience, tick)
	d := connectTo(t, dsn)
	require.Equal(t, "0", d.get("SELECT COUNT(*) FROM panicked"))
	d.exec("DROP TABLE panicked")
}

func metricsOf(t *testing.T, web string) string {
	r, err := http.Get("http://" + web + "/metrics")
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text)
}

// KILL QUERY whose server cannot be asked does not say that it has ended the statement, whatever process it is asked of.
func TestKillQueryOfASilentServer(t *testing.T) {
	other := connectTo(t, secondProxy(t))
	a, b := connect(t), connect(t)
	id, group := a.get("SELECT CONNECTION_ID()"), groupOf(t, 1)
	ended := make(chan error, 1)
	go func() {
		_, err := a.try("SELECT SLEEP(600) FROM t WHERE id = 1")
		ended <- err
	}()
	server := shared.NodeGroupDB(t, group, "")
	require.Eventually(t, func() bool {
		var n int
		require.NoError(t, server.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(600)%'").Scan(&n))
		return n > 0
	}, patience, tick)
	resume := cluster.Pause(t, shared.Node(group).Status().Pid)
	for _, c := range []*client{b, other} {
		_, err := c.try("KILL QUERY " + id)
		require.ErrorContains(t, err, fmt.Sprintf("Error 1105 (HY000): the statement of connection %s may go on: node group %d does not answer", id, group))
	}
	resume()
	b.exec("KILL QUERY " + id)
	<-ended // an error, or SLEEP() that tells it was interrupted
	require.Equal(t, "1", a.get("SELECT 1"))
}

// What a server that answers nothing keeps from being given up waits for a time only: the statement, the transaction, the session.
func TestGivingUpAtASilentServer(t *testing.T) {
	dsn, web := watchedProxy(t, func(c *server.Config, o *server.Options) {
		c.Backend.FailAfter = server.Duration(time.Hour) // it counts as there
		o.Patience = 100 * time.Millisecond
	})
	group := groupOf(t, 1)
	open := func(statements ...string) *client {
		c := connectTo(t, dsn)
		for _, q := range statements {
			c.exec(q)
		}
		return c
	}
	silent := func(t *testing.T) (resume func()) { return cluster.Pause(t, shared.Node(group).Status().Pid) }
	allGone := func(t *testing.T) {
		require.Eventually(t, func() bool { return strings.Contains(metricsOf(t, web), "\nskarv_client_connections 0\n") }, patience, tick)
	}
	write := "UPDATE t SET v = 'other' WHERE id = 1"
	t.Run("ROLLBACK", func(t *testing.T) {
		before := connect(t).get("SELECT v FROM t WHERE id = 1")
		c := open("BEGIN", write)
		resume := silent(t)
		c.exec("ROLLBACK")
		resume()
		defer c.end()
		require.Equal(t, before, c.get("SELECT v FROM t WHERE id = 1 FOR UPDATE"))
	})
	for name, statements := range map[string][]string{
		"end of a client with a transaction": {"BEGIN", write},
		"end of a client with locked tables": {"LOCK TABLES t WRITE"},
	} {
		t.Run(name, func(t *testing.T) {
			c := open(statements...)
			resume := silent(t)
			c.end()
			allGone(t)
			resume()
			require.Equal(t, "1", connect(t).get("SELECT id FROM t WHERE id = 1 FOR UPDATE"))
		})
	}
}

// The steps of a session are told while it runs a statement.
func TestSessionTrace(t *testing.T) {
	c := connect(t)
	c.get("SELECT COUNT(*) FROM t")
	id := c.get("SELECT CONNECTION_ID()")
	require.Equal(t, "root", c.get("SELECT MIN(user) FROM skarv.session_trace WHERE session = ?", id))
	n, err := strconv.Atoi(id)
	require.NoError(t, err)
	api := adminv1.NewAdminClient(shared.Admin(t))
	busy, done := connect(t), make(chan error, 1)
	other, err := strconv.Atoi(busy.get("SELECT CONNECTION_ID()"))
	require.NoError(t, err)
	go func() { _, err := busy.try("SELECT SLEEP(1000)"); done <- err }()
	for _, id := range []int{n, other} {
		require.Eventually(t, func() bool {
			r, err := api.SessionTrace(t.Context(), &adminv1.SessionTraceRequest{Id: uint32(id)})
			return err == nil && r.User == "root" && len(r.Steps) > 0
		}, patience, tick)
	}
	_, err = api.KillSession(t.Context(), &adminv1.KillSessionRequest{Id: uint32(other)})
	require.NoError(t, err)
	<-done // an error, or on MySQL what SLEEP() says when it is interrupted
	_, err = busy.try("SELECT 1")
	require.Error(t, err)
}
