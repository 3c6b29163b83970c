package e2e

import (
	"fmt"
	"net"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
)

// TestSysbench runs what everybody runs first: every workload of sysbench 1.0.20 as it is, transactions over several
// node groups included, prepared and as text, with one client and with many. No statement may fail but by a deadlock,
// after which sysbench itself tries again.
func TestSysbench(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(4))
	db := c.DB(t, "")
	workloads := []string{
		"oltp_point_select", "oltp_read_only", "select_random_points", "select_random_ranges", "oltp_update_index",
		"oltp_update_non_index", "oltp_read_write", "oltp_write_only", "oltp_insert", "oltp_delete",
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
		for _, workload := range workloads {
			for _, threads := range []int{1, 64} {
				t.Run(fmt.Sprintf("%s/%s/%d", mode, workload, threads), func(t *testing.T) {
					tables := 4
					if workload == "select_random_points" || workload == "select_random_ranges" {
						tables = 1
					}
					out, err := run(t, workload, "run", threads, tables)
					require.NoError(t, err, out)
					require.Regexp(t, `transactions: +[1-9]`, out)
					require.NotContains(t, out, "FATAL")
					if workload != "oltp_read_write" && workload != "oltp_write_only" {
						require.Regexp(t, `ignored errors: +0 `, out)
					}
				})
			}
		}
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

// sysbench runs the program for a second, or for a thousand transactions if they take less, and returns what it prints.
func sysbench(t *testing.T, c *cluster.Cluster, args ...string) (string, error) {
	t.Helper()
	host, port, err := net.SplitHostPort(c.Addr())
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "sysbench", append([]string{"--db-driver=mysql", "--mysql-host=" + host,
		"--mysql-port=" + port, "--mysql-user=root", "--table-size=1000", "--time=1", "--events=1000"}, args...)...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
