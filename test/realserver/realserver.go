// Package realserver starts a plain database server for tests that check our own computations against it. It knows
// nothing of Skarv: whole clusters are test/cluster's.
package realserver

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	// The driver tests use.
	_ "github.com/go-sql-driver/mysql"
)

// MySQLEnv is the environment variable that names a running MySQL server to test against besides MariaDB: the path of
// its unix socket, or HOST:PORT. The account is root without a password.
const MySQLEnv = "SKARV_TEST_MYSQL_SOCKET"

// startTimeout bounds how long a server may take to come up on a busy machine.
const startTimeout = 90 * time.Second

// Server is one server and a connection to an empty database on it.
type Server struct {
	Flavor  string // "mariadb" or "mysql"
	Version string
	DB      *sql.DB // one connection, so that SET holds for what follows
	Addr    string  // path of the unix socket, or HOST:PORT
	Name    string  // of the database
}

// Start returns a MariaDB server started for this test, and the MySQL server MySQLEnv names if it is set. A server that
// cannot be had fails the test. All is gone when the test ends.
func Start(t testing.TB) []Server {
	t.Helper()
	servers := []Server{connect(t, "mariadb", startMariaDB(t))}
	if addr := os.Getenv(MySQLEnv); addr != "" {
		servers = append(servers, connect(t, "mysql", addr))
	}
	return servers
}

// startMariaDB starts mariadbd from PATH in a directory of its own and returns its socket.
func startMariaDB(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "skarv-db-") // t.TempDir's paths are too long for a unix socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data, socket, log := filepath.Join(dir, "data"), filepath.Join(dir, "s"), filepath.Join(dir, "log")
	install := exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+data, "--skip-test-db",
		"--auth-root-authentication-method=normal")
	if os.Geteuid() == 0 {
		install.Args = append(install.Args, "--user=root")
	}
	// A starting MariaDB clears the temporary directory, so it must not be shared.
	install.Env = append(os.Environ(), "TMPDIR="+dir)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("mariadb-install-db (apt install mariadb-server): %v\n%s", err, out)
	}
	server := exec.Command("mariadbd", "--no-defaults", "--datadir="+data, "--socket="+socket, "--skip-networking",
		"--log-error="+log, "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=16M",
		"--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0", "--max-allowed-packet=64M", "--sql-mode=")
	if os.Geteuid() == 0 {
		server.Args = append(server.Args, "--user=root")
	}
	server.Env = install.Env
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := server.Start(); err != nil {
		t.Fatalf("mariadbd: %v", err)
	}
	ended := make(chan struct{})
	go func() { // waited for below
		server.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		server.Process.Signal(syscall.SIGTERM)
		<-ended
	})
	awaitServer(t, socket, log, ended)
	return socket
}

// awaitServer returns when the server answers.
func awaitServer(t testing.TB, socket, log string, ended <-chan struct{}) {
	t.Helper()
	db, err := sql.Open("mysql", dsn(socket, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		if _, err := os.Stat(socket); err == nil && db.PingContext(ctx) == nil {
			return
		}
		select {
		case <-poll.C:
		case <-ended:
			text, _ := os.ReadFile(log)
			t.Fatalf("mariadbd ended:\n%s", text)
		case <-ctx.Done():
			text, _ := os.ReadFile(log)
			t.Fatalf("mariadbd did not come up in %s:\n%s", startTimeout, text)
		}
	}
}

func dsn(addr, database string) string {
	network := "tcp"
	if strings.HasPrefix(addr, "/") {
		network = "unix"
	}
	return fmt.Sprintf("root@%s(%s)/%s?maxAllowedPacket=0&multiStatements=false", network, addr, database)
}

// connect makes an empty database on the server.
func connect(t testing.TB, flavor, addr string) Server {
	t.Helper()
	name := fmt.Sprintf("skarv_test_%d_%d", os.Getpid(), time.Now().UnixNano())
	admin, err := sql.Open("mysql", dsn(addr, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if _, err := admin.Exec("CREATE DATABASE " + name + " CHARACTER SET utf8mb4"); err != nil {
		t.Fatalf("%s at %s: %v", flavor, addr, err)
	}
	db, err := sql.Open("mysql", dsn(addr, name))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if _, err := db.Exec("DROP DATABASE " + name); err != nil {
			t.Errorf("%s: %v", flavor, err)
		}
		db.Close()
	})
	s := Server{Flavor: flavor, DB: db, Addr: addr, Name: name}
	if err := db.QueryRow("SELECT VERSION()").Scan(&s.Version); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s %s", flavor, s.Version)
	return s
}

// Exec runs statements and fails the test at the first that fails.
func (s Server) Exec(t testing.TB, statements ...string) {
	t.Helper()
	for _, q := range statements {
		if _, err := s.DB.Exec(q); err != nil {
			t.Fatalf("%s: %v\n%s", s.Flavor, err, q)
		}
	}
}

// Rows runs a query and returns all rows, NULL as "NULL". It fails the test if the query does.
func (s Server) Rows(t testing.TB, query string) [][]string {
	t.Helper()
	rows, err := s.DB.Query(query)
	if err != nil {
		t.Fatalf("%s: %v\n%s", s.Flavor, err, query)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for rows.Next() {
		cells := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		row := make([]string, len(columns))
		for i, c := range cells {
			row[i] = "NULL"
			if c.Valid {
				row[i] = c.String
			}
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v\n%s", s.Flavor, err, query)
	}
	return all
}

// Client runs a query by the mariadb command-line client and returns what it prints: the text of the values exactly as
// the server sent it, separated by tabs.
func (s Server) Client(t testing.TB, query string) string {
	t.Helper()
	args := []string{"--no-defaults", "--user=root", "--batch", "--raw", "--skip-column-names", "--socket=" + s.Addr}
	if host, port, ok := strings.Cut(s.Addr, ":"); ok {
		args[len(args)-1] = "--host=" + host
		args = append(args, "--port="+port)
	}
	out, err := exec.Command("mariadb", append(args, "--database="+s.Name, "--execute="+query)...).CombinedOutput()
	if err != nil {
		t.Fatalf("mariadb client: %v\n%s", err, out)
	}
	return string(out)
}
