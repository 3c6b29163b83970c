package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/test/cluster"
)

// TestDumpUnderLoad: mariadb-dump --single-transaction shows the whole cluster as it was at one moment, while money moves
// between its node groups: none is lost in the dump and none is there twice.
func TestDumpUnderLoad(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(3))
	db := c.DB(t, "")
	const accounts, opening = 60, 100
	for _, q := range []string{
		"CREATE DATABASE bank", "CREATE TABLE bank.account (id INT PRIMARY KEY, balance INT NOT NULL)",
		"CREATE TABLE bank.total (id INT PRIMARY KEY, transfers INT NOT NULL)", "INSERT INTO bank.total VALUES (1, 0), (2, 0), (3, 0), (4, 0)",
	} {
		exec1(t, db, q)
	}
	for i := range accounts {
		exec1(t, db, fmt.Sprintf("INSERT INTO bank.account VALUES (%d, %d)", i, opening))
	}
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	for w := range 3 {
		conn, err := db.Conn(context.Background())
		require.NoError(t, err)
		defer conn.Close()
		g.Go(func() error {
			for i := 0; ctx.Err() == nil; i++ {
				a, b := w*20+i%20, w*20+(i*7+1)%20
				for _, q := range []string{
					"BEGIN", fmt.Sprintf("UPDATE bank.account SET balance = balance - 1 WHERE id = %d", a),
					fmt.Sprintf("UPDATE bank.account SET balance = balance + 1 WHERE id = %d", b), "COMMIT",
					"UPDATE bank.total SET transfers = transfers + 1", // one statement over all groups
				} {
					if _, err := conn.ExecContext(context.Background(), q); err != nil {
						return fmt.Errorf("%s: %w", q, err)
					}
				}
			}
			return nil
		})
	}
	host, port, err := net.SplitHostPort(c.Addr())
	require.NoError(t, err)
	row := regexp.MustCompile(`\((\d+),(-?\d+)\)`)
	for range 4 {
		var out, errs bytes.Buffer
		cmd := exec.CommandContext(t.Context(), "mariadb-dump", "--no-defaults", "--user=root", "--host="+host, "--port="+port,
			"--single-transaction", "--compact", "--no-create-info", "--skip-extended-insert", "bank")
		cmd.Stdout, cmd.Stderr = &out, &errs
		require.NoError(t, cmd.Run(), errs.String())
		sum, rows, totals := 0, 0, map[string]bool{}
		for line := range bytes.Lines(out.Bytes()) {
			m := row.FindSubmatch(line)
			if m == nil {
				continue
			}
			if bytes.Contains(line, []byte("`total`")) {
				totals[string(m[2])] = true
				continue
			}
			n, err := strconv.Atoi(string(m[2]))
			require.NoError(t, err)
			sum += n
			rows++
		}
		require.Equal(t, accounts, rows)
		require.Equal(t, accounts*opening, sum)
		require.Len(t, totals, 1, "all rows of a statement, or none: %v", totals)
	}
	cancel()
	require.NoError(t, g.Wait())
}
