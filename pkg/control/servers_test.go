package control

import (
	"cmp"
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/schema"
	"skarv/pkg/topology"
	"skarv/pkg/topology/etcdtest"
	"skarv/test/nodes"
)

var servers []*nodes.Server

func TestMain(m *testing.M) { os.Exit(nodes.Main(m, 3, &servers)) }

// fixture is a cluster of the first n servers.
type fixture struct {
	t        *testing.T
	store    *topology.Store
	follower *topology.Follower
	client   *Client
	session  DDLRequest
	groups   int
	// failoverAfter is the controllers', 2 s if zero.
	failoverAfter time.Duration
}

func newFixture(t *testing.T, n int) *fixture {
	t.Helper()
	for _, s := range servers {
		s.Clear(t)
	}
	var req InitRequest
	for _, s := range servers[:n] {
		req.Groups = append(req.Groups, GroupSpec{Primary: s.Node()})
	}
	return newCluster(t, req)
}

// newCluster is a cluster that is begun as req says.
func newCluster(t *testing.T, req InitRequest) *fixture {
	t.Helper()
	f := &fixture{t: t, store: openStore(t, etcdtest.Start(t)), groups: len(req.Groups)}
	_, err := InitCluster(f.ctx(), f.store, schema.Dialer{}, req)
	require.NoError(t, err)
	f.follower = topology.NewFollower(f.store, nil, nil)
	f.background(f.follower.Run)
	_, err = f.follower.Wait(f.ctx(), 0)
	require.NoError(t, err)
	f.client = &Client{Store: f.store, Follower: f.follower}
	f.session = DDLRequest{Session: schema.Session{DB: "d", SQLMode: "STRICT_TRANS_TABLES"}, User: "tester"}
	return f
}

func openStore(t *testing.T, e *etcdtest.Etcd) *topology.Store {
	s, err := topology.Open(topology.Config{Endpoints: []string{e.Endpoint()}, RequestTimeout: time.Minute}) // a busy machine's etcd is slow, not gone
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
	c := New(Config{Store: f.store, Follower: f.follower, Addr: "here:1", Retry: 10 * time.Millisecond, Login: login, FailoverAfter: cmp.Or(f.failoverAfter, 2*time.Second), failpoint: failpoint})
	return f.background(c.Run)
}

// login is how to log in to a group's primary.
func login(g *catalog.NodeGroup) mysqlconn.Config {
	return mysqlconn.Config{Addr: g.Primary.Addr, User: g.Primary.User, Password: g.Primary.Password}
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

// reached waits until a point is reached: c is closed then, or has something.
func (f *fixture) reached(c <-chan struct{}) {
	f.t.Helper()
	select {
	case <-c:
	case <-f.ctx().Done():
		f.t.Fatal("the point was not reached")
	}
}

// stands has a controller stand still until it is let go on. A test that ends before that, because it has failed, lets it go.
func (f *fixture) stands(goOn <-chan struct{}) {
	select {
	case <-goOn:
	case <-f.t.Context().Done():
	}
}

// killedAt runs a schema change whose controller dies at a point, and which the next one, that leads when it returns, has ended.
func (f *fixture) killedAt(point, sql string) (stopNext func()) {
	f.t.Helper()
	stopFirst, crashed := f.dying(point)
	ended := f.begin(sql)
	f.reached(crashed)
	stopFirst()
	stopNext = f.control(nil)
	require.NoError(f.t, <-ended, "%s killed at %s", sql, point)
	return stopNext
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

// begin runs a schema change beside the test; how it ended comes through the channel.
func (f *fixture) begin(sql string) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := f.ddl(sql)
		ended <- err
	}()
	return ended
}

// createDatabase makes the database d, and the session's default.
func (f *fixture) createDatabase() {
	f.t.Helper()
	f.session.DB = ""
	f.must("CREATE DATABASE d")
	f.session.DB = "d"
}

func (f *fixture) table(name string) *catalog.Table {
	f.t.Helper()
	t := f.follower.Snapshot().Table("d", name)
	require.NotNil(f.t, t, name)
	return t
}

// uses has a transaction use a table on a server until over is called.
func (f *fixture) uses(s *nodes.Server, table string) (over func()) {
	f.t.Helper()
	c, err := s.DB.Conn(f.ctx())
	require.NoError(f.t, err)
	do := func(q string) {
		f.t.Helper()
		_, err := c.ExecContext(f.ctx(), q)
		require.NoError(f.t, err, q)
	}
	do("BEGIN")
	do("SELECT * FROM " + table)
	return func() {
		f.t.Helper()
		do("ROLLBACK")
		require.NoError(f.t, c.Close())
	}
}

// waited returns when somebody waits for users of a table on a server.
func (f *fixture) waited(s *nodes.Server) {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		return s.Value(f.t, "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'Waiting for table metadata lock'") == "1"
	}, time.Minute, 10*time.Millisecond)
}
