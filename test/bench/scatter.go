package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/wire"
)

const (
	scatterRows    = 40_000
	scatterQueries = 300 // of one sample
)

// newClock returns a function that tells the time since.
func newClock() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}

// scatter compares a query over four node groups with the slowest of the four answers it is made of.
func (b *bench) scatter(ctx context.Context) error {
	if err := b.startFour(ctx); err != nil {
		return err
	}
	const select10 = "SELECT id, k, c FROM bench_four.t ORDER BY k LIMIT 10"
	var conns []*mysqlconn.Conn
	var names []string
	for i, g := range b.four.NodeGroups {
		c, err := dial(ctx, target{addr: "unix:" + g.Socket, user: "root"})
		if err != nil {
			return err
		}
		if _, err := c.Exec("CREATE USER IF NOT EXISTS bench@'127.0.0.1' IDENTIFIED BY 'bench'"); err != nil {
			return err
		}
		_, err = c.Exec("GRANT ALL ON *.* TO bench@'127.0.0.1'")
		_ = c.Close()
		if err != nil {
			return err
		}
		if c, err = dial(ctx, target{addr: g.Addr, user: "bench", password: "bench"}); err != nil {
			return err
		}
		defer c.Close()
		defer context.AfterFunc(ctx, c.Interrupt)()
		conns, names = append(conns, c), append(names, fmt.Sprintf("node group %d, direct", i+1))
	}
	c, err := dial(ctx, b.scattered)
	if err != nil {
		return err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, c.Interrupt)()
	conns, names = append(conns, c), append(names, "skarv, all four")

	// Four processes share this machine's processors: what a client that asked all of them itself would wait for.
	names = append(names, "all four asked at once, direct")
	medians, tails := make([][]float64, len(names)), make([][]float64, len(names))
	for range b.rounds {
		for i := range names {
			var took []time.Duration
			if i < len(conns) {
				took, err = repeat(conns[i], select10, scatterQueries)
			} else {
				took, err = atOnce(conns[:len(conns)-1], select10, scatterQueries)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", names[i], err)
			}
			medians[i] = append(medians[i], float64(percentile(took, 0.5))/1e3)
			tails[i] = append(tails[i], float64(percentile(took, 0.99))/1e3)
		}
	}
	b.report.text("`%s`: %d rows, an index on k; latency of one client that asks again and again.", select10, scatterRows)
	b.report.head("through", "median us", "99 % us")
	defer b.report.end()
	slowest := 0.0
	for i := range names {
		b.report.row(names[i], fmt.Sprintf("%.0f", median(medians[i])), fmt.Sprintf("%.0f", median(tails[i])))
		if i < len(conns)-1 {
			slowest = max(slowest, median(medians[i]))
		}
	}
	b.report.goal("scatter to 4 node groups, ORDER BY k LIMIT 10", "at most 1.5 x the slowest direct answer", "%.2f x; %.2f x that of asking all four at once",
		median(medians[len(conns)-1])/slowest, median(medians[len(conns)-1])/median(medians[len(conns)]))
	return nil
}

// atOnce sends a statement to all connections before it reads the first answer, n times.
func atOnce(conns []*mysqlconn.Conn, sql string, n int) ([]time.Duration, error) {
	took := make([]time.Duration, 0, n)
	for range n {
		clock := newClock()
		for _, c := range conns {
			if err := c.Send(wire.ComQuery, []byte(sql)); err != nil {
				return nil, err
			}
		}
		for _, c := range conns {
			if _, err := c.ReadHead(); err != nil {
				return nil, err
			}
			if err := c.DiscardRows(); err != nil {
				return nil, err
			}
		}
		took = append(took, clock())
	}
	return took, nil
}

// repeat runs a statement n times and returns how long each took.
func repeat(c *mysqlconn.Conn, sql string, n int) ([]time.Duration, error) {
	request, buf := query(sql), make([]byte, 32<<10)
	took := make([]time.Duration, 0, n)
	for range n {
		clock := newClock()
		sum, err := c.Relay(request, wire.ComQuery, io.Discard, buf)
		if err != nil {
			return nil, err
		}
		if sum.Failed() {
			return nil, fmt.Errorf("error %d", sum.ErrCode)
		}
		took = append(took, clock())
	}
	return took, nil
}

// startFour brings up a cluster of four node groups, with a table in it, once a run.
func (b *bench) startFour(ctx context.Context) (err error) {
	if b.scattered.addr != "" {
		return nil
	}
	if b.four, err = b.startDev(ctx, 4); err != nil {
		return err
	}
	t, err := b.startServe(ctx, b.options.skarv, "four", b.base, b.four)
	if err != nil {
		return err
	}
	statements := []string{"CREATE DATABASE bench_four",
		"CREATE TABLE bench_four.t (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(100) NOT NULL, KEY (k))"}
	const batch = 1000
	for first := 0; first < scatterRows; first += batch {
		var sql strings.Builder
		sql.WriteString("INSERT INTO bench_four.t VALUES ")
		for i := range batch {
			id := first + i
			if i > 0 {
				sql.WriteByte(',')
			}
			fmt.Fprintf(&sql, "(%d, %d, '%0100d')", id, id*7919%scatterRows, id)
		}
		statements = append(statements, sql.String())
	}
	if err := execute(ctx, t, statements...); err != nil {
		return err
	}
	b.scattered = t
	return nil
}
