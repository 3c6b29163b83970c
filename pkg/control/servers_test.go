package control

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
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/datanode"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/topology"
	"skarv/pkg/topology/etcdtest"
)

// testServer is a real server, shared by the tests of this package, one after the other.
type testServer struct {
	data *datanode.Node
	db   *sql.DB
}

var servers []*testServer

// How long tests wait for what comes by itself, and how often they look.
const (
	waitLong  = 15 * time.Second
	tickShort = 20 * time.Millisecond
)

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := withServers(3, m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// engine is the kind of the servers: MariaDB unless SKARV_TEST_ENGINE says mysql.
func engine() datanode.Engine {
	if e := os.Getenv("SKARV_TEST_ENGINE"); e != "" {
		return datanode.Engine(e)
	}
	return datanode.MariaDB
}

// pick returns what is expected of the engine that the test runs on.
func pick[T any](mariadb, mysql T) T {
	if engine() == datanode.MySQL {
		return mysql
	}
	return mariadb
}

func withServers(n int, run func() int) (code int, err error) {
	dir, err := os.MkdirTemp("", "skarv-control-")
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
	binary, err := datanode.Find(ctx, engine(), "")
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
		s := &testServer{data: node}
		servers = append(servers, s)
		start.Go(func() error {
			if err := node.Initialise(ctx); err != nil {
				return err
			}
			if err := node.Start(ctx); err != nil {
				return err
			}
			n := s.node()
			s.db, err = sql.Open("mysql", fmt.Sprintf("%s:%s@unix(%s)/", n.User, n.Password, strings.TrimPrefix(n.Addr, "unix:")))
			return err
		})
	}
	if err := start.Wait(); err != nil {
		return 1, err
	}
	code = run()
	for _, s := range servers {
		s.db.Close()
	}
	return code, nil
}

func (s *testServer) node() catalog.Node {
	user, password := s.data.Account()
	return catalog.Node{Addr: "unix:" + s.data.Status().Socket, User: user, Password: password}
}

// clear drops all that a test left behind.
func (s *testServer) clear(t *testing.T) {
	rows, err := s.db.Query("SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN ('mysql','information_schema','performance_schema','sys')")
	require.NoError(t, err)
	var names []string
	for rows.Next() {
		var n string
		require.NoError(t, rows.Scan(&n))
		names = append(names, n)
	}
	require.NoError(t, rows.Close())
	for _, n := range names {
		_, err := s.db.Exec("DROP DATABASE " + quoteName(n))
		require.NoError(t, err)
	}
}

func (s *testServer) exec(t *testing.T, query string) {
	t.Helper()
	_, err := s.db.Exec(query)
	require.NoError(t, err, query)
}

func (s *testServer) value(t *testing.T, query string) string {
	t.Helper()
	var v sql.NullString
	require.NoError(t, s.db.QueryRow(query).Scan(&v), query)
	return v.String
}

// fixture is a cluster of the first n servers.
type fixture struct {
	t        *testing.T
	etcd     *etcdtest.Etcd
	store    *topology.Store
	follower *topology.Follower
	client   *Client
	session  DDLRequest
	groups   int
}

func newFixture(t *testing.T, n int) *fixture {
	t.Helper()
	for _, s := range servers {
		s.clear(t)
	}
	e := etcdtest.Start(t)
	f := &fixture{t: t, etcd: e, store: openStore(t, e), groups: n}
	var req InitRequest
	for _, s := range servers[:n] {
		req.Groups = append(req.Groups, GroupSpec{Primary: s.node()})
	}
	_, err := InitCluster(f.ctx(), f.store, req)
	require.NoError(t, err)
	f.follower = topology.NewFollower(f.store, nil, nil)
	f.background(f.follower.Run)
	_, err = f.follower.Wait(f.ctx(), 0)
	require.NoError(t, err)
	f.client = &Client{Store: f.store, Follower: f.follower}
	f.session = DDLRequest{DB: "d", SQLMode: "STRICT_TRANS_TABLES", User: "tester"}
	return f
}

func openStore(t *testing.T, e *etcdtest.Etcd) *topology.Store {
	s, err := topology.Open(topology.Config{Endpoints: []string{e.Endpoint()}})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func (f *fixture) ctx() context.Context {
	ctx, cancel := context.WithTimeout(f.t.Context(), 60*time.Second)
	f.t.Cleanup(cancel)
	return ctx
}

// background runs fn until the test ends, or stop is called.
func (f *fixture) background(fn func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := fn(ctx); err != nil && ctx.Err() == nil && !isCrash(err) {
			f.t.Errorf("background: %v", err)
		}
	}()
	stop = func() {
		cancel()
		<-done
	}
	f.t.Cleanup(stop)
	return stop
}

// control runs a controller until the test ends, or stop is called.
func (f *fixture) control(failpoint func(string) error) (stop func()) {
	login := func(g *catalog.NodeGroup) mysqlconn.Config {
		return mysqlconn.Config{Addr: g.Primary.Addr, User: g.Primary.User, Password: g.Primary.Password}
	}
	c := New(Config{Store: f.store, Follower: f.follower, Addr: "here:1", Retry: 10 * time.Millisecond, Login: login, failpoint: failpoint})
	return f.background(c.Run)
}

// dying is control of a controller that fails, once, at a point; crashed is closed then.
func (f *fixture) dying(point string) (stop func(), crashed <-chan struct{}) {
	dead := make(chan struct{})
	var once bool
	return f.control(func(p string) error {
		if p == point && !once {
			once = true
			close(dead)
			return errors.New("killed")
		}
		return nil
	}), dead
}

func (f *fixture) ddl(sql string) (DDLResult, error) {
	req := f.session
	req.SQL = sql
	return f.client.DDL(f.ctx(), req)
}

func (f *fixture) must(sql string) DDLResult {
	f.t.Helper()
	r, err := f.ddl(sql)
	require.NoError(f.t, err, sql)
	return r
}

func (f *fixture) table(name string) *catalog.Table {
	f.t.Helper()
	t := f.follower.Snapshot().Table("d", name)
	require.NotNil(f.t, t, name)
	return t
}
