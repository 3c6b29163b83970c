// Package nodes starts empty database servers as node groups have them, for the tests of one package, which share them one after the
// other. It knows nothing of clusters: whole ones are test/cluster's.
package nodes

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	// The driver of Server.DB.
	_ "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/datanode"
)

// Server is a real server.
type Server struct {
	DB   *sql.DB // as its administrator, without a default database
	data *datanode.Node
}

// Main runs the tests of a package, for its TestMain: servers are the n servers that they have meanwhile. It returns the exit code.
func Main(m *testing.M, n int, servers *[]*Server) int {
	flag.Parse()
	code, err := run(m, n, servers)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Engine is the kind of the servers: MariaDB unless SKARV_TEST_ENGINE says mysql.
func Engine() datanode.Engine {
	if e := os.Getenv("SKARV_TEST_ENGINE"); e != "" {
		return datanode.Engine(e)
	}
	return datanode.MariaDB
}

// Pick returns what is expected of the engine that the test runs on.
func Pick[T any](mariadb, mysql T) T {
	if Engine() == datanode.MySQL {
		return mysql
	}
	return mariadb
}

func run(m *testing.M, n int, servers *[]*Server) (code int, err error) {
	dir, err := os.MkdirTemp("", "skarv-nodes-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(context.Background())
	nodes, ctx := errgroup.WithContext(ctx)
	defer func() {
		cancel()
		if e := nodes.Wait(); err == nil && !errors.Is(e, context.Canceled) {
			err = e
		}
	}()
	binary, err := datanode.Find(ctx, Engine(), "")
	if err != nil {
		return 1, err
	}
	templates := ""
	if cache, err := datanode.CacheDir(); err == nil {
		templates = filepath.Join(cache, "templates")
	}
	var start errgroup.Group
	for i := range n {
		node, err := datanode.Open(datanode.Config{
			Dir: filepath.Join(dir, fmt.Sprint(i)), Binary: binary, ID: uint32(i + 1), Small: true, Relaxed: true, Templates: templates,
		})
		if err != nil {
			return 1, err
		}
		nodes.Go(func() error { return node.Run(ctx) })
		s := &Server{data: node}
		*servers = append(*servers, s)
		start.Go(func() error {
			if err := node.Initialise(ctx); err != nil {
				return err
			}
			if err := node.Start(ctx); err != nil {
				return err
			}
			n := s.Node()
			s.DB, err = sql.Open("mysql", fmt.Sprintf("%s:%s@unix(%s)/", n.User, n.Password, strings.TrimPrefix(n.Addr, "unix:")))
			return err
		})
	}
	if err := start.Wait(); err != nil {
		return 1, err
	}
	code = m.Run()
	for _, s := range *servers {
		s.DB.Close()
	}
	return code, nil
}

// Node is how to reach the server and log in as its administrator.
func (s *Server) Node() catalog.Node {
	user, password := s.data.Account()
	return catalog.Node{Addr: "unix:" + s.data.Status().Socket, User: user, Password: password}
}

// TCP is Node by an address that other servers can use as well.
func (s *Server) TCP() catalog.Node {
	n := s.Node()
	n.Addr = s.data.Status().Addr
	return n
}

// Clear drops all that a test left behind.
func (s *Server) Clear(t testing.TB) {
	t.Helper()
	rows, err := s.DB.Query("SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN ('mysql','information_schema','performance_schema','sys')")
	require.NoError(t, err)
	var names []string
	for rows.Next() {
		var n string
		require.NoError(t, rows.Scan(&n))
		names = append(names, n)
	}
	require.NoError(t, rows.Close())
	for _, n := range names {
		s.Exec(t, "DROP DATABASE `"+n+"`")
	}
}

// Exec runs a statement, which must succeed.
func (s *Server) Exec(t testing.TB, query string) {
	t.Helper()
	_, err := s.DB.Exec(query)
	require.NoError(t, err, query)
}

// Value is the single value that a query returns, "" for NULL.
func (s *Server) Value(t testing.TB, query string) string {
	t.Helper()
	var v sql.NullString
	require.NoError(t, s.DB.QueryRow(query).Scan(&v), query)
	return v.String
}

// Kill ends the server as a crash does; it is down until Start.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	require.NoError(t, s.data.Kill(t.Context()))
}

// Start brings the server up again.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	require.NoError(t, s.data.Start(context.Background())) // also behind the test
}
