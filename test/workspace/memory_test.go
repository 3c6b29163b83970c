package workspace

import (
	"database/sql"
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/server"
	"skarv/test/cluster"
)

// maxHeap is what the whole process may hold: the proxy, and the controller, etcd and the client that run in it.
const maxHeap = 200 << 20

// watch samples the memory held by Go objects until the function it returns is called, which gives the maximum.
func watch() (most func() uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	var peak uint64
	wg.Add(1)
	go func() {
		defer wg.Done()
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			metrics.Read(sample)
			peak = max(peak, sample[0].Value.Uint64()+sample[1].Value.Uint64())
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	return func() uint64 { close(stop); wg.Wait(); return peak }
}

// drain reads a result and returns its rows and bytes.
func drain(t *testing.T, c *sql.Conn, query string) (n int, size int64, err error) {
	rows, err := c.QueryContext(t.Context(), query)
	if err != nil {
		return 0, 0, err
	}
	defer rows.Close()
	var id int
	var text sql.RawBytes
	last := -1
	for rows.Next() {
		require.NoError(t, rows.Scan(&id, &text))
		if strings.Contains(query, "ORDER BY id") {
			require.Greater(t, id, last, "in order")
			last = id
		}
		n++
		size += int64(len(text))
	}
	return n, size, rows.Err()
}

// TestMemory: whatever passes through, the proxy holds little of it. SKARV_MEMORY_BYTES is how much passes; if it is not set, more than
// the process may hold. `make memory` takes 1 GB.
func TestMemory(t *testing.T) {
	total := maxHeap + maxHeap/4
	if s := os.Getenv("SKARV_MEMORY_BYTES"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		total = n
	}
	const count = 1024
	stored := total / 4 // written to the servers, which takes longer than to have them compute it
	limit := int64(stored / 4)
	c := cluster.Start(t, cluster.Groups(4), cluster.Tune(func(cfg *server.Config) { cfg.Workspace.MaxBytes = limit }))
	db := c.DB(t, "")
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	exec(t, conn, "CREATE DATABASE w")
	exec(t, conn, "CREATE TABLE w.a (id INT PRIMARY KEY, g INT, text LONGTEXT)")
	var values []string
	for i := range count {
		values = append(values, fmt.Sprintf("(%d, %d, '')", i, i%7))
	}
	exec(t, conn, "INSERT INTO w.a VALUES "+strings.Join(values, ","))
	size := total / count

	t.Logf("%d MB pass; %d MB are copied, of which a workspace holds %d MB", total>>20, stored>>20, limit>>20)
	step := func(name string, run func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			most := watch()
			run(t)
			peak := most()
			t.Logf("at most %d MB held", peak>>20)
			require.Less(t, peak, uint64(maxHeap))
		})
	}
	step("scatter", func(t *testing.T) {
		n, got, err := drain(t, conn, fmt.Sprintf("SELECT id, REPEAT('x', %d) FROM w.a", size))
		require.NoError(t, err)
		require.Equal(t, count, n)
		require.EqualValues(t, size*count, got)
	})
	step("sorted merge", func(t *testing.T) {
		n, got, err := drain(t, conn, fmt.Sprintf("SELECT id, REPEAT('x', %d) AS r FROM w.a ORDER BY id", size))
		require.NoError(t, err)
		require.Equal(t, count, n)
		require.EqualValues(t, size*count, got)
	})
	step("groups", func(t *testing.T) {
		n, got, err := drain(t, conn, fmt.Sprintf("SELECT id, MAX(REPEAT('x', %d)) AS r FROM w.a GROUP BY id ORDER BY id", size))
		require.NoError(t, err)
		require.Equal(t, count, n)
		require.EqualValues(t, size*count, got)
	})
	step("groups in the order of what is known when all are there, which takes a file", func(t *testing.T) {
		n, got, err := drain(t, conn, fmt.Sprintf("SELECT id + 0, MAX(REPEAT('x', %d)) AS r FROM w.a GROUP BY id + 0 ORDER BY COUNT(*), SUM(-id)", size))
		require.NoError(t, err)
		require.Equal(t, count, n)
		require.EqualValues(t, size*count, got)
	})
	step("DISTINCT in another order, which takes a file", func(t *testing.T) {
		n, got, err := drain(t, conn, fmt.Sprintf("SELECT DISTINCT id + 0, REPEAT('x', %d) AS r FROM w.a ORDER BY -id - 0", size))
		require.NoError(t, err)
		require.Equal(t, count, n)
		require.EqualValues(t, size*count, got)
	})
	exec(t, conn, fmt.Sprintf("UPDATE w.a SET text = REPEAT('y', %d)", stored/count))
	step("a workspace that runs into its limit", func(t *testing.T) {
		_, _, err := drain(t, conn, "SELECT x.id, x.text FROM w.a x JOIN w.a y ON x.g = y.id")
		require.Contains(t, wantError(t, err, 1235), "workspace.max_bytes")
	})
	step("a workspace within its limit", func(t *testing.T) {
		const n = count / 16 // MySQL reads a temporary table once in a statement: there are two copies of the table there
		got, _, err := drain(t, conn, fmt.Sprintf("SELECT x.id, x.text FROM w.a x JOIN w.a y ON x.g = y.id WHERE x.id < %d AND y.id < %d", n, n))
		require.NoError(t, err)
		require.Equal(t, n, got)
	})
}
