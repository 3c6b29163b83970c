package session

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// TestConsistentSnapshot: while rows on all node groups change, a snapshot shows them as they were at one moment: of two rows
// that one transaction changes both or none, and of changes that follow each other never the later one without the
// earlier one. Writers use two proxies, and the reader both.
func TestConsistentSnapshot(t *testing.T) {
	c := connect(t)
	c.exec("CREATE TABLE moment (id INT PRIMARY KEY, n BIGINT NOT NULL)")
	defer c.exec("DROP TABLE moment")
	x, y := idsApart(t)
	var rows string
	const ids = 32
	for id := 1; id <= ids; id++ {
		rows += fmt.Sprintf(",(%d,0)", id)
	}
	c.exec("INSERT INTO moment VALUES " + rows[1:])
	other := anotherProxy(t)
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	stopped := false
	stop := func() {
		if !stopped {
			stopped = true
			cancel()
			require.NoError(t, g.Wait())
		}
	}
	defer stop()
	transfers, steps := connectTo(t, other), connect(t)
	both := connectTo(t, other)
	g.Go(func() error { // sum stays 0
		for i := 0; ctx.Err() == nil; i++ {
			from, to := 10+i%10, 20+i%10
			for _, q := range []string{
				"BEGIN", fmt.Sprintf("UPDATE moment SET n = n - 1 WHERE id = %d", from),
				fmt.Sprintf("UPDATE moment SET n = n + 1 WHERE id = %d", to), "COMMIT",
			} {
				if _, err := transfers.ExecContext(context.Background(), q); err != nil {
					return fmt.Errorf("%s: %w", q, err)
				}
			}
		}
		return nil
	})
	g.Go(func() error { // x goes ahead
		for ctx.Err() == nil {
			for _, id := range []int{x, y} {
				if _, err := steps.ExecContext(context.Background(), "UPDATE moment SET n = n + 1 WHERE id = ?", id); err != nil {
					return err
				}
			}
		}
		return nil
	})
	g.Go(func() error { // one statement over several groups
		for ctx.Err() == nil {
			if _, err := both.ExecContext(context.Background(), "UPDATE moment SET n = n + 1 WHERE id IN (5, 6, 7, 8)"); err != nil {
				return err
			}
		}
		return nil
	})
	check := func(r *client, get func(string) string) {
		one, two := get(fmt.Sprintf("SELECT n FROM moment WHERE id = %d", x)), get(fmt.Sprintf("SELECT n FROM moment WHERE id = %d", y))
		a, err := strconv.Atoi(one)
		require.NoError(t, err)
		b, err := strconv.Atoi(two)
		require.NoError(t, err)
		require.True(t, a == b || a == b+1, "%d steps of the first row, %d of the second", a, b)
		require.Equal(t, "0", get("SELECT SUM(n) FROM moment WHERE id >= 10"))
		require.Equal(t, "1", get("SELECT COUNT(DISTINCT n) FROM moment WHERE id IN (5, 6, 7, 8)"))
	}
	readers := []*client{connect(t), connectTo(t, other)}
	for i := range 20 {
		r := readers[i%2]
		if i%4 < 2 {
			r.exec("START TRANSACTION WITH CONSISTENT SNAPSHOT")
		} else {
			r.exec("START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */")
		}
		check(r, func(q string) string { return r.get(q) })
		if i%4 == 0 {
			r.exec("UPDATE moment SET n = n + 1 WHERE id IN (1, 2, 3, 4) AND id NOT IN (?, ?)", x, y) // it may write, too
		}
		r.exec("COMMIT")
	}
	r := readers[0]
	r.exec("SET skarv_read_atomicity = gate")
	for range 5 {
		require.Equal(t, "0", r.get("SELECT SUM(n) FROM moment WHERE id >= 10"))
		require.Equal(t, "1", r.get("SELECT COUNT(DISTINCT n) FROM moment WHERE id IN (5, 6, 7, 8)"))
		r.exec("BEGIN")
		check(r, func(q string) string { return r.get(q) })
		r.exec("ROLLBACK")
	}
	for i := range 10 { // the order of commits on one group each is not seen by who holds none of them
		v := readers[i%2]
		v.exec("SET skarv_read_atomicity = validated")
		require.Equal(t, "0", v.get("SELECT SUM(n) FROM moment WHERE id >= 10"))
		require.Equal(t, "1", v.get("SELECT COUNT(DISTINCT n) FROM moment WHERE id IN (5, 6, 7, 8)"))
		v.exec("BEGIN")
		require.Equal(t, "0", v.get("SELECT SUM(n) FROM moment WHERE id >= 10"))
		require.Equal(t, "1", v.get("SELECT COUNT(DISTINCT n) FROM moment WHERE id IN (5, 6, 7, 8)"))
		v.exec("ROLLBACK")
	}
	r.fails(1231, "SET skarv_read_atomicity = now")
	r.exec("SET skarv_read_atomicity = off")
	stop()
	r.exec("SET skarv_read_atomicity = lock") // test/isolation shows what it does
	require.Equal(t, "0", r.get("SELECT SUM(n) FROM moment WHERE id >= 10"))
	r.exec("BEGIN")
	check(r, func(q string) string { return r.get(q) })
	r.exec("COMMIT")
	require.NotEqual(t, "0", c.get(fmt.Sprintf("SELECT n FROM moment WHERE id = %d", x)))
}

// A statement that commits as it runs and does not end keeps the gate from closing. Validated snapshots do not need it.
func TestValidatedSnapshotHoldsNobody(t *testing.T) {
	c, waiter, r := connect(t), connect(t), connect(t)
	c.exec("CREATE TABLE unheld (id INT PRIMARY KEY, n INT NOT NULL)")
	t.Cleanup(func() { c.exec("DROP TABLE unheld") })
	c.exec("INSERT INTO unheld VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0)")
	c.exec("BEGIN")
	c.exec("UPDATE unheld SET n = n + 1 WHERE id = 1")
	done := make(chan error, 1)
	go func() {
		_, err := waiter.ExecContext(context.Background(), "UPDATE unheld SET n = n + 1 WHERE id = 1")
		done <- err
	}()
	awaitLockWaits(t, 1, done)
	r.exec("SET skarv_read_atomicity = validated, @@session.skarv_commit = best_effort")
	require.Equal(t, "validated best_effort auto", r.get("SELECT CONCAT_WS(' ', @@skarv_read_atomicity, @@session.skarv_commit, @@SKARV_JOINS)"))
	r.exec("SET skarv_commit = atomic")
	require.Equal(t, "0", r.get("SELECT SUM(n) FROM unheld"))
	r.exec("BEGIN")
	c.exec("UPDATE unheld SET n = n + 1 WHERE id > 1")
	c.exec("COMMIT")
	require.NoError(t, <-done)
	require.Equal(t, "0", r.get("SELECT SUM(n) FROM unheld"), "it is as of its BEGIN")
	r.exec("UPDATE unheld SET n = n + 10")
	r.exec("COMMIT")
	require.Equal(t, "89", r.get("SELECT SUM(n) FROM unheld"))
}

// A transaction that another statement than BEGIN has begun takes its snapshot, too: when it first reads.
func TestSnapshotOfAChain(t *testing.T) {
	w := connect(t)
	w.exec("CREATE TABLE chained (id INT PRIMARY KEY, n INT NOT NULL)")
	t.Cleanup(func() { w.exec("DROP TABLE chained") })
	w.exec("INSERT INTO chained VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0)")
	for i, begin := range [][]string{
		{"BEGIN", "COMMIT AND CHAIN"},
		{"BEGIN", "DELETE FROM chained WHERE id = 1", "ROLLBACK AND CHAIN"},
		{"START TRANSACTION READ ONLY", "DO (SELECT n FROM chained WHERE id = 1)", "COMMIT AND CHAIN", "SAVEPOINT a"},
		{"SET autocommit = 0", "SAVEPOINT a"},
	} {
		for _, how := range []string{"gate", "validated"} {
			t.Run(begin[len(begin)-1]+", "+how, func(t *testing.T) {
				r := connect(t)
				r.exec("SET skarv_read_atomicity = " + how)
				for _, q := range begin {
					r.exec(q)
				}
				before := r.get("SELECT n FROM chained WHERE id = 1")
				w.exec("UPDATE chained SET n = n + 1")
				require.Equal(t, before+","+before, r.get("SELECT MIN(n), MAX(n) FROM chained"))
				if i > 1 {
					r.exec("ROLLBACK TO a")
				}
				if i == 2 {
					r.fails(1792, "UPDATE chained SET n = 0")
				}
				r.exec("ROLLBACK")
			})
		}
	}
}
