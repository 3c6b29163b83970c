package e2e

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/test/cluster"
)

// TestDump moves a schema the way people do: mariadb-dump of one plain server, loaded into the cluster by the mariadb
// client, dumped again; both dumps must be equal but for what docs/compatibility.md lists. The dump of the cluster
// then loads into an empty plain server.
func TestDump(t *testing.T) {
	if cluster.TestEngine() != datanode.MariaDB {
		t.Skip("the schema and the programs are MariaDB's")
	}
	one := cluster.StartServer(t)
	many := cluster.Start(t, cluster.Groups(4))
	host, port, err := net.SplitHostPort(many.Addr())
	require.NoError(t, err)
	server := []string{"--no-defaults", "--user=root", "--socket=" + one.Status().Socket}
	skarv := []string{"--no-defaults", "--user=root", "--host=" + host, "--port=" + port}

	schema, err := os.ReadFile("testdata/dump.sql")
	require.NoError(t, err)
	load(t, server, "", []byte("CREATE DATABASE shop CHARACTER SET utf8mb4"))
	load(t, server, "shop", schema)
	first := dump(t, server)
	require.Contains(t, first, "CREATE TABLE `t20_many`")
	require.Contains(t, first, "Dumping data for table `t18 odd``name`")
	require.Contains(t, first, "EVENT `nightly` ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 03:00:00' ON COMPLETION PRESERVE ENABLE")

	load(t, skarv, "", []byte("CREATE DATABASE shop CHARACTER SET utf8mb4"))
	load(t, skarv, "shop", []byte(first))
	second := dump(t, skarv)
	require.Equal(t, normalized(first), normalized(second))

	db := many.DB(t, "shop")
	t.Run("rows are spread", func(t *testing.T) {
		for group := 1; group <= 4; group++ {
			var n int
			require.NoError(t, many.NodeGroupDB(t, group, "shop").QueryRow("SELECT COUNT(*) FROM t20_many").Scan(&n))
			require.Greater(t, n, 1000, "group %d", group)
			require.NoError(t, many.NodeGroupDB(t, group, "shop").QueryRow("SELECT COUNT(*) FROM t10_countries").Scan(&n))
			require.Equal(t, 3, n, "group %d", group)
		}
	})
	t.Run("numbering goes on", func(t *testing.T) {
		r, err := db.ExecContext(t.Context(), "INSERT INTO t01_ints (i) VALUES (1)")
		require.NoError(t, err)
		id, err := r.LastInsertId()
		require.NoError(t, err)
		require.Equal(t, int64(701), id)
	})
	t.Run("constraints hold", func(t *testing.T) {
		_, err := db.ExecContext(t.Context(), "INSERT INTO t09_orders VALUES (4711, 1, 0)")
		require.Equal(t, uint16(1452), sqlError(t, err).Number)
		_, err = db.ExecContext(t.Context(), "INSERT INTO t15_checks VALUES (9, -1, 0)")
		require.Equal(t, uint16(4025), sqlError(t, err).Number)
	})
	t.Run("stored programs run", func(t *testing.T) {
		var n, all int
		require.NoError(t, db.QueryRowContext(t.Context(), "CALL totals(0, @n)").Scan(&all, &n))
		require.Equal(t, all/2, n)
		_, err := db.ExecContext(t.Context(), "UPDATE t01_ints SET i = -5000 WHERE id = 701")
		require.Equal(t, uint16(1644), sqlError(t, err).Number)
	})
	t.Run("loads again over itself", func(t *testing.T) {
		exec1(t, db, "DELETE FROM t01_ints WHERE id = 701")
		load(t, skarv, "shop", []byte(second))
		require.Equal(t, normalized(first), normalized(dump(t, skarv)))
	})
	t.Run("loads into one server", func(t *testing.T) {
		load(t, server, "", []byte("DROP DATABASE shop; CREATE DATABASE shop CHARACTER SET utf8mb4; "+
			"CREATE USER root IDENTIFIED BY 'of-root'; GRANT ALL ON *.* TO root")) // the definer
		load(t, server, "shop", []byte(second))
		require.Equal(t, normalized(first), normalized(dump(t, server)))
	})
	t.Run("without locks", func(t *testing.T) {
		require.Equal(t, normalized(first), normalized(dump(t, skarv, "--skip-lock-tables")))
	})
}

// TestDumpMySQL is TestDump by MySQL's own client and mysqldump, whose defaults ask a server for its GTIDs, and lock more where it has any.
func TestDumpMySQL(t *testing.T) {
	if cluster.TestEngine() != datanode.MySQL {
		t.Skip("MySQL's client programs come with its server")
	}
	one := cluster.StartServer(t)
	many := cluster.Start(t, cluster.Groups(4))
	host, port, err := net.SplitHostPort(many.Addr())
	require.NoError(t, err)
	b, err := datanode.Find(t.Context(), datanode.MySQL, "")
	require.NoError(t, err)
	tool := func(name, stdin string, args ...string) string {
		t.Helper()
		cmd := b.Tool(t.Context(), name, args...)
		var stdout, stderr bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
		require.NoError(t, cmd.Run(), "%s %v: %s", name, args, stderr.String())
		require.Empty(t, stderr.String())
		return stdout.String()
	}
	server := []string{"--no-defaults", "--user=root", "--socket=" + one.Status().Socket}
	skarv := []string{"--no-defaults", "--user=root", "--host=" + host, "--port=" + port}
	dump := func(login []string, more ...string) string {
		t.Helper()
		args := append(slices.Clone(login), "--order-by-primary", "--skip-dump-date", "--routines", "--events")
		return tool("mysqldump", "", append(append(args, more...), "--databases", "shop")...)
	}
	schema, err := os.ReadFile("testdata/dump_mysql.sql")
	require.NoError(t, err)
	tool("mysql", "CREATE DATABASE shop; USE shop; "+string(schema), server...)
	first := dump(server, "--set-gtid-purged=OFF") // else there are settings in it for the server's own log, which the cluster refuses
	tool("mysql", first, skarv...)
	require.Equal(t, normalized(first), normalized(dump(skarv)))
	require.Equal(t, normalized(first), normalized(dump(skarv, "--single-transaction", "--compression-algorithms=zstd")))
	require.Equal(t, "3\n", tool("mysql", "CALL totals(@n); SELECT @n", append(slices.Clone(skarv), "-N", "shop")...))
	tool("mysql", dump(skarv, "--add-drop-database"), server...)
	require.Equal(t, normalized(first), normalized(dump(server, "--set-gtid-purged=OFF")))
	require.Contains(t, tool("mysqldump", "", append(slices.Clone(skarv), "--single-transaction", "--all-databases")...), "INSERT INTO `children` VALUES")
	require.Regexp(t, `Uptime:\s+\d+ sec`, tool("mysqladmin", "", append(slices.Clone(skarv), "version")...))
	require.Contains(t, tool("mysqlshow", "", append(slices.Clone(skarv), "shop")...), "an_earlier_one")
	require.NotContains(t, tool("mysqlcheck", "", append(slices.Clone(skarv), "--databases", "shop")...), "rror")
}

// load runs a script with the mariadb client.
func load(t *testing.T, login []string, db string, script []byte) {
	t.Helper()
	args := slices.Clone(login)
	if db != "" {
		args = append(args, db)
	}
	cmd := exec.CommandContext(t.Context(), "mariadb", args...)
	cmd.Stdin = bytes.NewReader(script)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, string(out))
}

func dump(t *testing.T, login []string, more ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args := append(slices.Clone(login), "--order-by-primary", "--skip-dump-date", "--triggers", "--routines", "--events")
	cmd := exec.CommandContext(t.Context(), "mariadb-dump", append(append(args, more...), "shop")...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), stderr.String())
	require.Empty(t, stderr.String())
	return stdout.String()
}

// normalized takes from a dump what may differ (docs/compatibility.md): the next AUTO_INCREMENT of a table, who made a
// view, and the order of rows of the table without a primary key.
func normalized(dump string) string {
	dump = regexp.MustCompile(` AUTO_INCREMENT=\d+`).ReplaceAllString(dump, "")
	dump = regexp.MustCompile("DEFINER=`[^`]*`@`[^`]*`").ReplaceAllString(dump, "DEFINER")
	dump = regexp.MustCompile(`(?m)^-- Host: .*$`).ReplaceAllString(dump, "-- Host")
	return regexp.MustCompile("(?m)^INSERT INTO `t07_nokey` VALUES\n[^;]*;").ReplaceAllStringFunc(dump, func(insert string) string {
		rows := strings.Split(strings.TrimSuffix(insert, ";"), "\n")
		for i := range rows {
			rows[i] = strings.TrimSuffix(rows[i], ",")
		}
		slices.Sort(rows[1:])
		return strings.Join(rows, "\n")
	})
}
