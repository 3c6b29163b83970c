package workspace

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
)

// gathered copies three tables none of which is read by values of another one.
const gathered = "SELECT COUNT(*) FROM w.a, w.b, w.c WHERE a.id + b.id + c.id = 30 AND a.id < 20 AND b.id < 20 AND c.id < 20"

// gate lets the fragments of a statement that go to one of two node groups wait, by locks behind the proxy's back.
type gate struct {
	t     *testing.T
	c     *cluster.Cluster
	group *sql.Conn // to that node group
	open  func() *sql.Conn
}

func newGate(t *testing.T, group int) *gate {
	c, open := start(t, cluster.Groups(2))
	conn := open()
	exec(t, conn, "CREATE TABLE w.c (id INT PRIMARY KEY)")
	exec(t, conn, "INSERT INTO w.c SELECT id FROM w.a WHERE id < 100")
	server, err := c.NodeGroupDB(t, group, "w").Conn(t.Context())
	require.NoError(t, err)
	g := &gate{t: t, c: c, group: server, open: func() *sql.Conn {
		for {
			conn := open()
			id, err := count(t.Context(), conn, "SELECT CONNECTION_ID()")
			require.NoError(t, err)
			if id%2 == group%2 { // its workspaces are on the other node group
				exec(t, conn, "SET skarv_joins = workspace")
				return conn
			}
		}
	}}
	return g
}

func (g *gate) close(tables ...string) {
	exec(g.t, g.group, "LOCK TABLES w."+strings.Join(tables, " WRITE, w.")+" WRITE")
}

func (g *gate) opened() { exec(g.t, g.group, "UNLOCK TABLES") }

// await waits until n fragments wait on the node group.
func (g *gate) await(n int) {
	g.t.Helper()
	var now int
	require.Eventually(g.t, func() bool {
		var err error
		now, err = count(g.t.Context(), g.group, "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%' AND info LIKE 'SELECT%'")
		return err == nil && now == n
	}, time.Minute, 10*time.Millisecond, "%d fragments wait", n)
}

type counted struct {
	n   int
	err error
}

func (g *gate) run(ctx context.Context, conn *sql.Conn) <-chan counted {
	ended := make(chan counted, 1)
	go func() {
		n, err := count(ctx, conn, gathered)
		ended <- counted{n, err}
	}()
	return ended
}

func (g *gate) result(ended <-chan counted) counted {
	g.t.Helper()
	select {
	case c := <-ended:
		return c
	case <-time.After(time.Minute):
		g.t.Fatal("the statement goes on")
		return counted{}
	}
}

// want is what the statement counts.
func want() (n int) {
	for a := range 20 {
		for b := range 20 {
			if c := 30 - a - b; c >= 0 && c < 20 {
				n++
			}
		}
	}
	return n
}

// TestGatheredAtOnce: the fragments of a statement are all under way at the same time; in a transaction, which has one connection
// to each node group, one of them on each.
func TestGatheredAtOnce(t *testing.T) {
	g := newGate(t, 1)
	conn := g.open()
	g.close("a", "b", "c")
	ended := g.run(t.Context(), conn)
	g.await(3)
	g.opened()
	require.Equal(t, counted{want(), nil}, g.result(ended))

	exec(t, conn, "BEGIN")
	exec(t, conn, "DELETE FROM w.c WHERE id = 5")
	g.close("a", "b")
	ended = g.run(t.Context(), conn)
	g.await(1)
	g.opened()
	in := g.result(ended)
	require.NoError(t, in.err)
	require.Less(t, in.n, want(), "without the row that the transaction has deleted")
	exec(t, conn, "ROLLBACK")
	require.Equal(t, counted{want(), nil}, g.result(g.run(t.Context(), conn)))
}

// TestGatheringEnds: one fragment's error, a KILL and a client that goes away end all of them, and leave no connection behind that
// somebody else could get in the middle of an answer.
func TestGatheringEnds(t *testing.T) {
	g := newGate(t, 1)
	for name, begin := range map[string]string{"autocommit": "DO 0", "transaction": "BEGIN"} {
		t.Run("error/"+name, func(t *testing.T) {
			conn := g.open()
			exec(t, conn, begin)
			exec(t, g.group, "RENAME TABLE w.c TO w.gone")
			g.close("a", "b")
			ended := g.run(t.Context(), conn)
			if begin == "BEGIN" { // it is read when its turn on the connection comes
				g.await(1)
				g.opened()
			}
			wantError(t, g.result(ended).err, 1146)
			g.await(0)
			g.opened()
			exec(t, g.group, "RENAME TABLE w.gone TO w.c")
			require.Equal(t, counted{want(), nil}, g.result(g.run(t.Context(), conn)))
			exec(t, conn, "ROLLBACK")
		})
		t.Run("kill/"+name, func(t *testing.T) {
			conn, other := g.open(), g.open()
			exec(t, conn, begin)
			exec(t, conn, "DELETE FROM w.b WHERE id = 1500")
			id, err := count(t.Context(), conn, "SELECT CONNECTION_ID()")
			require.NoError(t, err)
			g.close("a", "c")
			ended := g.run(t.Context(), conn)
			g.await(map[string]int{"DO 0": 2, "BEGIN": 1}[begin])
			exec(t, other, fmt.Sprintf("KILL QUERY %d", id))
			wantError(t, g.result(ended).err, 1317)
			g.await(0)
			g.opened()
			require.Equal(t, counted{want(), nil}, g.result(g.run(t.Context(), conn)))
			n, err := count(t.Context(), conn, "SELECT COUNT(*) FROM w.b WHERE id = 1500")
			require.NoError(t, err)
			require.Zero(t, n, "the transaction goes on")
			exec(t, conn, "ROLLBACK")
		})
		t.Run("kill the connection/"+name, func(t *testing.T) {
			conn, other := g.open(), g.open()
			exec(t, conn, begin)
			id, err := count(t.Context(), conn, "SELECT CONNECTION_ID()")
			require.NoError(t, err)
			g.close("a", "b", "c")
			ended := g.run(t.Context(), conn)
			g.await(map[string]int{"DO 0": 3, "BEGIN": 1}[begin])
			exec(t, other, fmt.Sprintf("KILL %d", id))
			require.Error(t, g.result(ended).err)
			g.await(0)
			g.opened()
		})
	}
	t.Run("client gone", func(t *testing.T) {
		conn := g.open()
		ctx, cancel := context.WithCancel(t.Context())
		g.close("a", "b", "c")
		ended := g.run(ctx, conn)
		g.await(3)
		cancel()
		require.Error(t, g.result(ended).err)
		g.opened()
		g.await(0)
	})
	for range 8 {
		require.Equal(t, counted{want(), nil}, g.result(g.run(t.Context(), g.open())))
	}
}

// TestGatheredByValues: a copy that is read by the values of another one waits for them.
func TestGatheredByValues(t *testing.T) {
	g := newGate(t, 1)
	conn := g.open()
	g.close("a", "b")
	ended := make(chan counted, 1)
	go func() {
		n, err := count(t.Context(), conn, "SELECT COUNT(*) FROM w.a JOIN w.b ON b.a = a.b AND a.id < 10")
		ended <- counted{n, err}
	}()
	g.await(1)
	g.opened()
	require.Equal(t, counted{rows, nil}, g.result(ended))
}

// TestGatheredFromOtherGroups: the second copy of a transaction's first statement goes to node groups that the first one did not: a branch
// of the transaction is opened there, of which the other ones are told, so that it must wait for them.
func TestGatheredFromOtherGroups(t *testing.T) {
	g := newGate(t, 2)
	conn := g.open()
	id, err := count(t.Context(), g.group, "SELECT MIN(id) FROM w.a")
	require.NoError(t, err)
	exec(t, conn, "BEGIN")
	g.close("a")
	ended := make(chan counted, 1)
	go func() {
		n, err := count(t.Context(), conn, fmt.Sprintf("SELECT COUNT(*) FROM w.a, w.b WHERE a.id = %d AND a.b + b.a >= 0", id))
		ended <- counted{n, err}
	}()
	g.await(1)
	g.opened()
	require.Equal(t, counted{rows, nil}, g.result(ended))
	exec(t, conn, "UPDATE w.a SET b = b + 1 WHERE id < 10")
	exec(t, conn, "ROLLBACK")
}

// TestGatheredByOwnValues: a copy for which there was no connection is read by the values of its own join, whatever was begun since.
func TestGatheredByOwnValues(t *testing.T) {
	g := newGate(t, 1)
	conn := g.open()
	for _, name := range []string{"x", "y", "p", "q"} {
		exec(t, conn, "CREATE TABLE w."+name+" (id INT PRIMARY KEY, k INT)")
		exec(t, conn, "INSERT INTO w."+name+" SELECT id, id FROM w.a WHERE id < 500")
	}
	var of [2]int // a row of the node group, and one of the other
	for i := range of {
		for {
			n, err := count(t.Context(), g.group, fmt.Sprintf("SELECT COUNT(*) FROM w.x WHERE id = %d", of[i]))
			require.NoError(t, err)
			if n == 1-i {
				break
			}
			of[i]++
		}
	}
	other, err := g.c.NodeGroupDB(t, 2, "w").Conn(t.Context())
	require.NoError(t, err)
	selects := func() (n int) {
		var name string
		require.NoError(t, other.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Com_select'").Scan(&name, &n))
		return n
	}
	exec(t, conn, "BEGIN")
	_, err = count(t.Context(), conn, "SELECT COUNT(*) FROM w.b") // the transaction has its connections
	require.NoError(t, err)
	g.close("x")
	before := selects()
	ended := make(chan counted, 1)
	go func() {
		n, err := count(t.Context(), conn, fmt.Sprintf("SELECT COUNT(*) FROM w.x JOIN w.p ON p.k = x.k JOIN w.y JOIN w.q ON q.k = y.k WHERE x.id = %d AND y.id = %d", of[0], of[1]))
		ended <- counted{n, err}
	}()
	g.await(1)
	require.Eventually(t, func() bool { return selects() > before }, time.Minute, 10*time.Millisecond, "y is read; q must wait for the connection by which x is")
	g.opened()
	require.Equal(t, counted{1, nil}, g.result(ended))
}

// TestGatheredPastBusy: in a transaction, a copy that waits for the connection by which another one is read does not hold up those that are
// on other node groups.
func TestGatheredPastBusy(t *testing.T) {
	g := newGate(t, 1)
	conn := g.open()
	var on [2][]int // rows of each node group
	for id := 0; len(on[0]) < 2 || len(on[1]) < 1; id++ {
		n, err := count(t.Context(), g.group, fmt.Sprintf("SELECT COUNT(*) FROM w.a WHERE id = %d", id))
		require.NoError(t, err)
		on[1-n] = append(on[1-n], id)
	}
	db, err := g.c.NodeGroupDB(t, 2, "w").Conn(t.Context())
	require.NoError(t, err)
	other := &gate{t: t, c: g.c, group: db}
	for _, name := range []string{"x", "y", "z"} {
		exec(t, conn, "CREATE TABLE w."+name+" (id INT PRIMARY KEY, k INT)")
		exec(t, conn, "INSERT INTO w."+name+" SELECT id, id FROM w.a WHERE id < 500")
	}
	exec(t, conn, "BEGIN")
	_, err = count(t.Context(), conn, "SELECT COUNT(*) FROM w.b") // the transaction has its connections
	require.NoError(t, err)
	g.close("x")
	other.close("z")
	ended := make(chan counted, 1)
	go func() {
		n, err := count(t.Context(), conn, fmt.Sprintf("SELECT COUNT(*) FROM w.x, w.y, w.z WHERE x.id = %d AND y.id = %d AND z.id = %d AND x.k + y.k + z.k >= 0", on[0][0], on[0][1], on[1][0]))
		ended <- counted{n, err}
	}()
	g.await(1)
	other.await(1) // z, though y before it waits for the connection by which x is read
	other.opened()
	g.opened()
	require.Equal(t, counted{1, nil}, g.result(ended))
}

// TestAnotherWayKeepsConnections: when it turns out that a query's rows cannot be copied as they are, the copies already asked for cost no
// connections.
func TestAnotherWayKeepsConnections(t *testing.T) {
	g := newGate(t, 1)
	conn := g.open()
	exec(t, conn, "SET skarv_joins = queries")
	threads := func() (list []int) {
		rows, err := g.group.QueryContext(t.Context(), "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() ORDER BY id")
		require.NoError(t, err)
		defer rows.Close()
		for rows.Next() {
			var id int
			require.NoError(t, rows.Scan(&id))
			list = append(list, id)
		}
		return list
	}
	run := func(test string) int {
		n, err := count(t.Context(), conn, "SELECT COUNT(*) FROM (SELECT b, COUNT(*) AS n FROM w.a WHERE "+test+" >= 0 GROUP BY b) AS d JOIN w.b ON d.n > b.a AND b.id < 100 JOIN w.c ON c.id > b.a")
		require.NoError(t, err)
		return n
	}
	want := run("id")
	// Other connections come and go, too: in one of several rounds none may.
	require.Eventually(t, func() bool {
		before := threads()
		for range 5 {
			require.Equal(t, want, run("CAST(CONCAT(id, 'x') AS SIGNED)")) // warns
		}
		after := threads()
		return len(before) >= 3 && !slices.ContainsFunc(before, func(id int) bool { return !slices.Contains(after, id) })
	}, time.Minute, 10*time.Millisecond)
}
