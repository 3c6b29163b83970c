package workspace

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
)

// overGroups is a write that no node group can run alone: it changes the same number in n rows of all groups.
const overGroups = "UPDATE w.a SET b = b + 1000 ORDER BY id LIMIT 40"

func sum(t *testing.T, c *sql.Conn) int {
	n, err := count(t.Context(), c, "SELECT SUM(b) FROM w.a")
	require.NoError(t, err)
	return n
}

// TestWriteLocks: what such a write has chosen stays locked until its transaction ends.
func TestWriteLocks(t *testing.T) {
	_, open := start(t)
	a, b := open(), open()
	before := sum(t, a)
	exec(t, b, "SET innodb_lock_wait_timeout = 1")
	exec(t, a, "BEGIN")
	exec(t, a, overGroups)
	for id := range 4 {
		_, err := b.ExecContext(t.Context(), fmt.Sprintf("UPDATE w.a SET b = 0 WHERE id = %d", id))
		wantError(t, err, 1205)
	}
	exec(t, b, "BEGIN")
	n, err := count(t.Context(), b, "SELECT COUNT(*) FROM (SELECT id FROM w.a WHERE id < 40 FOR UPDATE SKIP LOCKED) x")
	if err == nil {
		require.Zero(t, n, "all of them are locked")
	}
	exec(t, b, "ROLLBACK")
	exec(t, a, "ROLLBACK")
	require.Equal(t, before, sum(t, b))
	exec(t, b, overGroups)
	require.Equal(t, before+40*1000, sum(t, a))
}

// TestWriteLosesNothing: writes over several groups at the same time, of the same rows, all count.
func TestWriteLosesNothing(t *testing.T) {
	_, open := start(t)
	first := open()
	before := sum(t, first)
	const clients, each = 4, 6
	done := make(chan int, clients)
	for range clients {
		conn := open()
		go func() {
			n := 0
			for range each {
				_, err := conn.ExecContext(context.Background(), overGroups)
				var e *mysql.MySQLError
				switch {
				case err == nil:
					n++
				case errors.As(err, &e) && (e.Number == 1205 || e.Number == 1213):
				default:
					t.Error(err)
				}
			}
			done <- n
		}()
	}
	written := 0
	for range clients {
		written += <-done
	}
	require.Positive(t, written)
	require.Equal(t, before+written*40*1000, sum(t, first))
}

// TestWriteWithoutAGroup: a server that dies takes the whole statement with it, or the whole transaction.
func TestWriteWithoutAGroup(t *testing.T) {
	c, open := start(t, cluster.Groups(4))
	conn := open()
	before := sum(t, conn)
	server := c.NodeGroupDB(t, 2, "")
	holder, err := server.Begin() // ends with the server
	require.NoError(t, err)
	_, err = holder.Exec("SELECT b FROM w.a ORDER BY id LIMIT 1 FOR UPDATE")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := conn.ExecContext(context.Background(), overGroups)
		ended <- err
	}()
	require.Eventually(t, func() bool { return cluster.LockWaits(t, []*sql.DB{server}) > 0 }, time.Minute, cluster.LockTick)
	c.Kill(t, 2)
	select {
	case err := <-ended:
		require.Error(t, err)
	case <-time.After(time.Minute):
		t.Fatal("the statement goes on")
	}
	c.Restart(t, 2)
	require.Eventually(t, func() bool {
		n, err := count(t.Context(), open(), "SELECT SUM(b) FROM w.a")
		return err == nil && n == before
	}, time.Minute, 200*time.Millisecond)

	conn = open()
	exec(t, conn, "BEGIN")
	exec(t, conn, overGroups)
	c.Kill(t, 3)
	_, err = conn.ExecContext(t.Context(), "COMMIT")
	require.Error(t, err)
	c.Restart(t, 3)
	require.Eventually(t, func() bool {
		n, err := count(t.Context(), open(), "SELECT SUM(b) FROM w.a")
		return err == nil && n == before
	}, time.Minute, 200*time.Millisecond)
}

// TestLoadWithoutTheClient: half a file counts for nothing, and neither does one that is too large.
func TestLoadWithoutTheClient(t *testing.T) {
	_, open := start(t)
	conn, other := open(), open()
	var local bool
	require.NoError(t, other.QueryRowContext(t.Context(), "SELECT @@local_infile").Scan(&local))
	if !local {
		return // the servers refuse the file
	}
	ctx, cancel := context.WithCancel(t.Context())
	end, ended := make(chan struct{}), make(chan struct{})
	mysql.RegisterReaderHandler("half", func() io.Reader {
		return io.MultiReader(strings.NewReader(strings.Repeat("1000000\t1\tx\n", 100000)), hangs{cancel, end})
	})
	defer mysql.DeregisterReaderHandler("half")
	go func() {
		_, _ = conn.ExecContext(ctx, "LOAD DATA LOCAL INFILE 'Reader::half' REPLACE INTO TABLE w.a")
		close(ended)
	}()
	<-ctx.Done()
	require.Eventually(t, func() bool { return !shown(t, other, "LOAD DATA") }, time.Minute, 50*time.Millisecond)
	close(end)
	<-ended
	n, err := count(t.Context(), other, "SELECT COUNT(*) FROM w.a WHERE id = 1000000")
	require.NoError(t, err)
	require.Zero(t, n)
	exec(t, other, "INSERT INTO w.a VALUES (1000000, 1, 'x')")
}

// hangs is a file that is not read to its end: its client goes away.
type hangs struct {
	cancel func()
	end    chan struct{}
}

func (h hangs) Read([]byte) (int, error) {
	h.cancel()
	<-h.end
	return 0, io.ErrUnexpectedEOF
}
