package mysqlserver_test

import (
	"context"
	"database/sql"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlserver"
)

// runMariaDB runs the mariadb command-line client and returns what it prints.
func runMariaDB(t *testing.T, s *toy, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	host, port, err := net.SplitHostPort(s.addr)
	require.NoError(t, err)
	base := []string{"--no-defaults", "--batch", "--skip-column-names", "--host=" + host, "--port=" + port, "--protocol=tcp"}
	out, err := exec.CommandContext(ctx, "mariadb", append(base, args...)...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func TestMariaDBClient(t *testing.T) {
	for name, version := range map[string]string{"mariadb": "5.5.5-10.11.14-MariaDB", "mariadb 11": "11.8.2-MariaDB", "mysql": "9.7.0"} {
		t.Run(name, func(t *testing.T) {
			s := startToy(t, mysqlserver.Config{ServerVersion: func() string { return version }})
			for _, transport := range [][]string{{}, {"--ssl"}, {"--compress"}, {"--ssl", "--compress"}, {"--protocol=socket", "--socket=" + s.unix}} {
				for user, password := range map[string]string{"sha": "secret", "native": "secret", "open": "", "bare": "", "local": ""} {
					args := append([]string{"--user=" + user, "--password=" + password, "--database=shop", "--execute=whoami"}, transport...)
					out, err := runMariaDB(t, s, args...)
					require.NoError(t, err, "%s: %v", out, args)
					assert.Equal(t, user+"\tshop\tmariadb", strings.ReplaceAll(out, "mysql", "mariadb"))
				}
				for _, user := range []string{"sha", "native", "nobody", "someone"} {
					out, err := runMariaDB(t, s, append([]string{"--user=" + user, "--password=wrong", "--execute=whoami"}, transport...)...)
					require.Error(t, err)
					assert.Contains(t, out, "ERROR 1045 (28000): Access denied for user '"+user+"'@'")
				}
				big, err := runMariaDB(t, s, append([]string{"--user=open", "--execute=rows 3 1000000"}, transport...)...)
				require.NoError(t, err)
				assert.Equal(t, strings.TrimSpace(strings.Repeat(strings.Repeat("r", 1000000)+"\n", 3)), big)
			}
		})
	}
}

func TestMariaDBClientSeesLimits(t *testing.T) {
	s := startToy(t, mysqlserver.Config{MaxConnections: 1, RequireTLS: true, HandshakeTimeout: wait})
	out, err := runMariaDB(t, s, "--user=open", "--skip-ssl", "--execute=x")
	require.Error(t, err)
	assert.Contains(t, out, "ERROR 3159 (HY000)")
	eventually(t, "the connection ends", func() bool { return s.server.Len() == 0 })
	for range 5 { // with those that are spared for administrators
		dialRaw(t, "tcp", s.addr).hello()
	}
	out, err = runMariaDB(t, s, "--user=open", "--skip-ssl", "--execute=x")
	require.Error(t, err)
	assert.Contains(t, out, "ERROR 1040 (08004)")
	assert.Contains(t, out, "Too many connections")
}

// A statement of more than 16 MB, and one that is too long for the server. TLS knows nothing of packets: where a statement is cut does not
// matter to it, as it does to compression, whose packets have a largest size too.
func TestLongStatements(t *testing.T) {
	const whole = 1<<24 - 1 // of a packet
	s := startToy(t, mysqlserver.Config{MaxAllowedPacket: 35 << 20})
	edges := []int{16, 1 << 14, whole - 9, whole - 5, whole - 4, whole - 3, whole + 11, 2 * whole}
	for _, c := range []struct {
		params        string
		sizes, beyond []int
	}{
		{"", append(edges, 35<<20), []int{35<<20 + 1, 3*whole + 1}},
		{"&tls=skip-verify", []int{whole, 2 * whole}, []int{35<<20 + 1}},
		{"&compress=true", edges, []int{35<<20 + 1}},
	} {
		db, err := sql.Open("mysql", dsn("open", "", s.addr, "maxAllowedPacket=1000000000"+c.params))
		require.NoError(t, err)
		db.SetMaxIdleConns(-1) // an error below ends the connection
		for _, size := range c.sizes {
			// The statement and its command byte fill size bytes.
			res, err := db.Exec("len " + strings.Repeat("x", size-5))
			require.NoError(t, err, "%d", size)
			n, err := res.RowsAffected()
			require.NoError(t, err)
			assert.Equal(t, int64(size+4*(1+size/whole)), n)
		}
		for _, size := range c.beyond {
			_, err = db.Exec("len " + strings.Repeat("x", size))
			assert.Equal(t, uint16(1153), mysqlError(t, err).Number, "%s", c.params)
		}
		require.NoError(t, db.Ping())
		db.Close()
	}
}

func TestLocalInfile(t *testing.T) {
	s := startToy(t, mysqlserver.Config{})
	file := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("0123456789", 500_000)), 0o600))
	for _, params := range []string{"", "tls=skip-verify", "compress=true"} {
		db, err := sql.Open("mysql", dsn("open", "", s.addr, "allowAllFiles=true&"+params))
		require.NoError(t, err)
		for range 2 {
			res, err := db.Exec("infile " + file)
			require.NoError(t, err)
			n, err := res.RowsAffected()
			require.NoError(t, err)
			assert.Equal(t, int64(5_000_000), n)
			require.NoError(t, db.Ping())
		}
		db.Close()
	}
}

func TestLongResults(t *testing.T) {
	s := startToy(t, mysqlserver.Config{})
	for _, params := range []string{"", "tls=skip-verify", "compress=true"} {
		db, err := sql.Open("mysql", dsn("open", "", s.addr, params))
		require.NoError(t, err)
		for _, q := range []struct {
			sql     string
			n, size int
		}{{"rows 0 1", 0, 1}, {"rows 100000 20", 100000, 20}, {"rows 300 100000", 300, 100000}, {"rows 2 17000000", 2, 17000000}} {
			rows, err := db.Query(q.sql)
			require.NoError(t, err)
			n := 0
			for rows.Next() {
				var r sql.RawBytes
				require.NoError(t, rows.Scan(&r))
				require.Equal(t, q.size, len(r))
				n++
			}
			require.NoError(t, rows.Err())
			assert.Equal(t, q.n, n)
		}
		db.Close()
	}
}
