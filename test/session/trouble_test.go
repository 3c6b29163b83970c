package session

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/server"
	"skarv/test/cluster"
)

// failAfter is when small gives up a server that says nothing: a busy machine's servers say something sooner.
const failAfter = 5 * time.Second

// small is a cluster with little patience and few connections.
func small(t *testing.T) *cluster.Cluster {
	t.Helper()
	c := cluster.Start(t, cluster.Groups(2), cluster.TCPBackends(), cluster.Tune(func(cfg *server.Config) {
		cfg.Backend.MaxConnections = 8
		cfg.Backend.FailAfter = server.Duration(failAfter)
		cfg.Backend.AcquireTimeout = server.Duration(2 * patience) // longer than that
	}))
	db := c.DB(t, "")
	for _, sql := range []string{
		"CREATE DATABASE d",
		"CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
	} {
		_, err := db.Exec(sql)
		require.NoError(t, err, sql)
	}
	for id := 1; id <= 64; id++ {
		_, err := db.Exec("INSERT INTO d.t VALUES (?, 0)", id)
		require.NoError(t, err)
	}
	return c
}

func TestTrouble(t *testing.T) {
	c := small(t)
	in := map[int]int{} // an id in each group
	for g := 1; g <= 2; g++ {
		var id int
		require.NoError(t, c.NodeGroupDB(t, g, "d").QueryRow("SELECT MIN(id) FROM t").Scan(&id))
		in[g] = id
	}
	another := func(t *testing.T) *client { t.Helper(); return connectTo(t, c.DSN("d")) }

	t.Run("many clients share few connections", func(t *testing.T) {
		var g sync.WaitGroup
		errs := make(chan error, 64)
		for i := range 64 {
			cl := another(t)
			g.Go(func() {
				for n := range 20 {
					var err error
					switch n % 4 {
					case 0:
						_, err = cl.try(fmt.Sprintf("UPDATE t SET v = v + 1 WHERE id = %d", i+1))
					case 1:
						_, err = cl.try("SELECT COUNT(*) FROM t")
					case 2:
						_, err = cl.try("UPDATE t SET v = v WHERE id IN (1, 2, 3, 4, 5)")
					default:
						_, err = cl.try("SELECT v FROM t WHERE id = ?", i+1)
					}
					if err != nil {
						errs <- err
						return
					}
				}
			})
		}
		g.Wait()
		close(errs)
		for err := range errs {
			t.Error(err)
		}
		require.Equal(t, "320", another(t).get("SELECT SUM(v) FROM t"))
		free(t, c)
	})

	t.Run("KILL ends the reading out of an answer that nobody needs", func(t *testing.T) {
		cl, k := another(t), another(t)
		cl.exec("CREATE TABLE many (n INT PRIMARY KEY) COMMENT 'skarv:reference'")
		cl.exec("INSERT INTO many SELECT id FROM t")
		id := cl.get("SELECT CONNECTION_ID()")
		cl.exec("BEGIN")
		cl.exec("UPDATE t SET v = v + 1000 WHERE id IN (?, ?)", in[1], in[2])
		sent := func() (n int) {
			var name string
			require.NoError(t, c.NodeGroupDB(t, 2, "d").QueryRow("SHOW GLOBAL STATUS LIKE 'Bytes_sent'").Scan(&name, &n))
			return n
		}
		before, done := sent(), make(chan error, 1)
		go func() { // group 1 has an error, group 2 half a terabyte (of short rows: servers look for a KILL once for many)
			_, err := cl.try(fmt.Sprintf("SELECT EXP(IF(t.id = %d, 1000, 1)), REPEAT('x', 1000) FROM t JOIN many a JOIN many b JOIN many c JOIN many d", in[1]))
			done <- err
		}()
		require.Eventually(t, func() bool { return sent() > before+20<<20 }, patience, tick)
		k.exec("KILL QUERY " + id)
		select {
		case err := <-done:
			require.Error(t, err)
		case <-time.After(time.Minute):
			k.exec("KILL " + id)
			t.Fatal("the statement goes on")
		}
		require.Equal(t, "2", cl.get("SELECT COUNT(*) FROM t WHERE v >= 1000"), "the transaction is whole")
		cl.exec("ROLLBACK")
		cl.exec("DROP TABLE many")
		free(t, c)
	})

	t.Run("a server that dies in a transaction", func(t *testing.T) {
		cl, manual, other := another(t), another(t), another(t)
		manual.exec("SET autocommit = 0")
		cl.exec("BEGIN")
		cl.get("SELECT v FROM t WHERE id = ?", in[1])
		manual.exec("UPDATE t SET v = 1000 WHERE id = ?", in[1])
		c.Kill(t, 1)
		c.Restart(t, 1)
		require.Eventually(t, func() bool { _, err := other.try("SELECT COUNT(*) FROM t"); return err == nil }, patience, tick)
		for _, x := range []*client{cl, manual} {
			x.fails(1430, "UPDATE t SET v = 2000 WHERE id = ?", in[1])
			x.fails(1430, "UPDATE t SET v = 2000 WHERE id = ?", in[2])
			x.fails(1430, "SELECT COUNT(*) FROM t")
			x.fails(1430, "SET @a = 1")
			x.fails(1430, "SAVEPOINT a")
		}
		cl.exec("ROLLBACK")
		manual.fails(1430, "COMMIT")
		require.Equal(t, "0", other.get("SELECT COUNT(*) FROM t WHERE v >= 1000"))
		cl.exec("UPDATE t SET v = 3000 WHERE id = ?", in[1])
		require.Equal(t, "1", other.get("SELECT COUNT(*) FROM t WHERE v >= 1000"))
		manual.exec("ROLLBACK")
		free(t, c)
	})

	t.Run("a server that falls silent", func(t *testing.T) {
		waiting, holding, other := another(t), another(t), another(t)
		holding.exec("BEGIN")
		holding.exec("UPDATE t SET v = 1 WHERE id = ?", in[1])
		other.get("SELECT v FROM t WHERE id = ?", in[2])
		resume := cluster.Pause(t, c.Node(1).Status().Pid)
		began := time.Now()
		done := make(chan error, 9)
		go func() { _, err := waiting.try("SELECT COUNT(*) FROM t"); done <- err }()
		for range 8 { // as many as the pool has connections: those who wait in line are told too
			cl := another(t)
			go func() { _, err := cl.try("SELECT v FROM t WHERE id = ?", in[1]); done <- err }()
		}
		require.Equal(t, "1", other.get(fmt.Sprintf("SELECT COUNT(*) FROM t WHERE id = %d", in[2])), "the other group works on")
		for range 9 {
			require.ErrorContains(t, <-done, "1430")
		}
		require.Less(t, time.Since(began), patience)
		began = time.Now()
		holding.fails(1430, "UPDATE t SET v = 1 WHERE id = ?", in[1])
		other.fails(1430, "SELECT v FROM t WHERE id = ?", in[1])
		for range 2 { // whatever group is theirs
			cl := another(t)
			cl.exec("SET @a = 1")
			require.Equal(t, "1", cl.get("SELECT COUNT(*) FROM t WHERE id = ?", in[2]))
		}
		require.Less(t, time.Since(began), failAfter, "at once")
		resume()
		require.Eventually(t, func() bool { _, err := other.try("SELECT COUNT(*) FROM t"); return err == nil }, patience, tick)
		holding.exec("ROLLBACK")
		free(t, c)
	})
}

// inUse reads from metrics how many backend connections sessions hold.
func inUse(metrics string) (n int) {
	for line := range strings.Lines(metrics) {
		if rest, ok := strings.CutPrefix(line, "skarv_backend_connections_in_use{"); ok {
			_, value, _ := strings.Cut(rest, "} ")
			v, _ := strconv.Atoi(strings.TrimSpace(value))
			n += v
		}
	}
	return n
}

// free waits until no session holds a backend connection.
func free(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, text := c.Get(t, "/metrics")
		return inUse(text) == 0
	}, patience, 50*time.Millisecond, "connections are held")
}
