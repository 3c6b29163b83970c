package e2e

import (
	"fmt"
	"net"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
)

// sysbenchWorkload is one of sysbench's Lua programs and the errors that are its own fault.
type sysbenchWorkload struct {
	name string
	// racy: without transactions two threads that delete and insert the same row collide with error 1062, on one
	// server too.
	racy bool
}

// TestSysbench runs what everybody runs first: every workload of sysbench 1.0.20, prepared and as text, with one
// client and with many. No statement may fail. Transactions stay inside one node group, so --skip-trx=on; without it
// the error says so.
func TestSysbench(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(4))
	db := c.DB(t, "")
	workloads := []sysbenchWorkload{
		{name: "oltp_point_select"}, {name: "oltp_read_only"}, {name: "select_random_points"}, {name: "select_random_ranges"},
		{name: "oltp_update_index"}, {name: "oltp_update_non_index"}, {name: "oltp_read_write", racy: true},
		{name: "oltp_write_only", racy: true}, {name: "oltp_insert"}, {name: "oltp_delete"},
	}
	for _, mode := range []string{"auto", "disable"} {
		exec1(t, db, "CREATE DATABASE sb_"+mode)
		run := func(t *testing.T, workload, command string, threads, tables int, more ...string) (string, error) {
			return sysbench(t, c, append([]string{workload, command, "--mysql-db=sb_" + mode, "--db-ps-mode=" + mode,
				fmt.Sprintf("--threads=%d", threads), fmt.Sprintf("--tables=%d", tables)}, more...)...)
		}
		out, err := run(t, "oltp_read_write", "prepare", 4, 4)
		require.NoError(t, err, out)
		var rows int
		require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM sb_"+mode+".sbtest4").Scan(&rows))
		require.Equal(t, 1000, rows)
		for _, w := range workloads {
			for _, threads := range []int{1, 64} {
				t.Run(fmt.Sprintf("%s/%s/%d", mode, w.name, threads), func(t *testing.T) {
					tables := 4
					if w.name == "select_random_points" || w.name == "select_random_ranges" {
						tables = 1
					}
					more := []string{"--skip-trx=on"}
					if w.racy {
						more = append(more, "--mysql-ignore-errors=1062,1020,1205,1213")
					}
					out, err := run(t, w.name, "run", threads, tables, more...)
					require.NoError(t, err, out)
					require.Regexp(t, `transactions: +[1-9]`, out)
					require.NotContains(t, out, "FATAL")
					if !w.racy {
						require.Regexp(t, `ignored errors: +0 `, out)
					}
				})
			}
		}
		t.Run(mode+"/over several node groups", func(t *testing.T) {
			out, err := run(t, "oltp_read_write", "run", 1, 4)
			require.Error(t, err)
			require.Contains(t, out, "errno = 1235")
			require.Contains(t, out, "more than one node group")
		})
		out, err = run(t, "oltp_read_write", "cleanup", 1, 4)
		require.NoError(t, err, out)

		t.Run(mode+"/bulk_insert", func(t *testing.T) {
			for _, command := range []string{"prepare", "run", "cleanup"} {
				out, err := run(t, "bulk_insert", command, 4, 4)
				require.NoError(t, err, out)
			}
		})
		var tables int
		require.NoError(t, db.QueryRow(
			"SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'sb_"+mode+"'").Scan(&tables))
		require.Zero(t, tables, "cleanup")
	}
}

// sysbench runs the program for a second and returns what it prints.
func sysbench(t *testing.T, c *cluster.Cluster, args ...string) (string, error) {
	t.Helper()
	host, port, err := net.SplitHostPort(c.Addr())
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "sysbench", append([]string{"--db-driver=mysql", "--mysql-host=" + host,
		"--mysql-port=" + port, "--mysql-user=root", "--table-size=1000", "--time=1"}, args...)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
