package control

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/topology"
	"skarv/pkg/topology/etcdtest"
)

// mariadb is a real server, shared by the tests of this package, one after the other.
type mariadb struct {
	dir string
	cmd *exec.Cmd
	db  *sql.DB
}

var servers []*mariadb

// How long tests wait for what comes by itself, and how often they look.
const (
	waitLong  = 15 * time.Second
	tickShort = 20 * time.Millisecond
)

func TestMain(m *testing.M) {
	code, err := withServers(3, m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withServers(n int, run func() int) (int, error) {
	dir, err := os.MkdirTemp("", "skarv-control-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	model := filepath.Join(dir, "model")
	out, err := exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+model,
		"--auth-root-authentication-method=normal", "--skip-test-db").CombinedOutput()
	if err != nil {
		return 1, fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	var g errgroup.Group
	servers = make([]*mariadb, n)
	for i := range servers {
		s := &mariadb{dir: filepath.Join(dir, fmt.Sprint(i))}
		servers[i] = s
		g.Go(func() error {
			if err := os.Mkdir(s.dir, 0o700); err != nil {
				return err
			}
			if err := os.CopyFS(filepath.Join(s.dir, "data"), os.DirFS(model)); err != nil {
				return err
			}
			return s.start()
		})
	}
	err = g.Wait()
	defer func() {
		for _, s := range servers {
			s.stop()
		}
	}()
	if err != nil {
		return 1, err
	}
	return run(), nil
}

func (s *mariadb) socket() string { return filepath.Join(s.dir, "s") }

func (s *mariadb) start() error {
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = exec.Command("mariadbd", "--no-defaults", "--user=root", "--datadir="+filepath.Join(s.dir, "data"),
		"--socket="+s.socket(), "--skip-networking", "--pid-file="+filepath.Join(s.dir, "pid"),
		"--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M", "--skip-log-bin",
		"--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci")
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		if c, err := net.Dial("unix", s.socket()); err == nil {
			c.Close()
			s.db, err = sql.Open("mysql", "root@unix("+s.socket()+")/")
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("mariadbd in %s does not come up", s.dir)
}

func (s *mariadb) stop() {
	if s.db != nil {
		s.db.Close()
	}
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

func (s *mariadb) node() catalog.Node { return catalog.Node{Addr: "unix:" + s.socket(), User: "root"} }

// clear drops all that a test left behind.
func (s *mariadb) clear(t *testing.T) {
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

func (s *mariadb) exec(t *testing.T, query string) {
	t.Helper()
	_, err := s.db.Exec(query)
	require.NoError(t, err, query)
}

func (s *mariadb) value(t *testing.T, query string) string {
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
	f.follower = topology.NewFollower(f.store, nil)
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
	c := New(Config{Store: f.store, Follower: f.follower, Addr: "here:1", Retry: 10 * time.Millisecond, failpoint: failpoint})
	return f.background(c.Run)
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
