// Package cluster runs whole clusters inside tests: real database servers and etcd, our code in the test's process,
// free ports, everything gone at the test's end. It also runs plain servers, the measure of what a cluster must answer.
//
// Tests run on MariaDB unless SKARV_TEST_ENGINE says mysql. A server that is missing fails the test: scripts/test-deps.sh
// brings it.
package cluster

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"skarv/pkg/datanode"
	"skarv/pkg/dev"
	"skarv/pkg/server"
)

// Option changes how a cluster or server is started.
type Option func(*dev.Config)

// Groups is the number of node groups; 2 if not given.
func Groups(n int) Option { return func(c *dev.Config) { c.NodeGroups = n } }

// Engine is the database server to use instead of the one SKARV_TEST_ENGINE names.
func Engine(e datanode.Engine) Option { return func(c *dev.Config) { c.Engine = e } }

// DataDir keeps the data in dir, for a test that starts a cluster again.
func DataDir(dir string) Option { return func(c *dev.Config) { c.DataDir = dir } }

// TCPBackends has the proxy reach the servers by TCP, as in production, instead of by their Unix sockets.
func TCPBackends() Option { return func(c *dev.Config) { c.TCPBackends = true } }

// Variable sets a variable of every database server.
func Variable(name, value string) Option {
	return func(c *dev.Config) {
		if c.Variables == nil {
			c.Variables = map[string]string{}
		}
		c.Variables[name] = value
	}
}

// Tune changes the configuration of the Skarv server.
func Tune(change func(*server.Config)) Option { return func(c *dev.Config) { c.Tune = change } }

// TestEngine is the database server tests run on.
func TestEngine() datanode.Engine {
	if e := os.Getenv("SKARV_TEST_ENGINE"); e != "" {
		return datanode.Engine(e)
	}
	return datanode.MariaDB
}

// Options changes how the Skarv server is made.
func Options(change func(*server.Options)) Option { return func(c *dev.Config) { c.Options = change } }

// Cluster is a running cluster.
type Cluster struct {
	*dev.Cluster
	stop func() error
}

// stopTimeout is long enough for servers to write what they hold.
const (
	startTimeout = 2 * time.Minute
	stopTimeout  = time.Minute
)

// Start runs a cluster until the test ends and returns when it serves clients.
func Start(t testing.TB, options ...Option) *Cluster {
	t.Helper()
	cfg := dev.Config{NodeGroups: 2, Engine: TestEngine(), DataDir: shortTempDir(t), Version: "test"}
	for _, o := range options {
		o(&cfg)
	}
	c, err := Open(cfg)
	if err != nil {
		t.Fatalf("start cluster: %v%s", err, logTail(cfg.DataDir))
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Errorf("stop cluster: %v", err)
		}
		if t.Failed() {
			t.Log(logTail(cfg.DataDir))
		}
	})
	return c
}

// Open runs a cluster until Stop, for callers without a test: measurements, a TestMain. SKARV_TEST_LOOPS is the number of
// io_uring loops its proxy has, where the test does not say.
func Open(cfg dev.Config) (*Cluster, error) {
	tune := cfg.Tune
	cfg.Tune = func(c *server.Config) {
		c.Backend.FailAfter = server.Duration(30 * time.Second) // a busy machine's servers are slow, not gone; tests of silence say less
		c.Backend.DialTimeout = server.Duration(30 * time.Second)
		if n, err := strconv.Atoi(os.Getenv("SKARV_TEST_LOOPS")); err == nil {
			c.MySQL.Loops = n
		}
		if tune != nil {
			tune(c)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	d, err := dev.New(ctx, cfg)
	if err != nil {
		cancel()
		return nil, err
	}
	done := make(chan struct{})
	var ran error
	go func() {
		defer close(done)
		ran = d.Run(ctx)
	}()
	stop := func() error {
		cancel()
		select {
		case <-done:
			return ran
		case <-time.After(stopTimeout):
			return fmt.Errorf("does not stop within %s", stopTimeout)
		}
	}
	select {
	case <-d.Ready():
		return &Cluster{Cluster: d, stop: stop}, nil
	case <-done:
		cancel()
		return nil, ran
	case <-time.After(startTimeout):
		return nil, fmt.Errorf("not ready within %s (stop: %v)", startTimeout, stop())
	}
}

// Stop ends the cluster and returns when everything has ended. The test's end does it too.
func (c *Cluster) Stop() error { return c.stop() }

// Addr is where MySQL clients connect, HOST:PORT.
func (c *Cluster) Addr() string { return c.Info().MySQLAddr }

// HTTPAddr is where health and metrics are.
func (c *Cluster) HTTPAddr() string { return c.Info().HTTPAddr }

// AdminAddr is where skarvctl connects.
func (c *Cluster) AdminAddr() string { return c.Info().AdminAddr }

// DSN logs in to the cluster as root, for go-sql-driver/mysql; params are "name=value".
func (c *Cluster) DSN(db string, params ...string) string {
	return "root@tcp(" + c.Addr() + ")/" + db + query(params)
}

// DB is a pool of clients of the cluster, closed at the test's end.
func (c *Cluster) DB(t testing.TB, db string, params ...string) *sql.DB {
	t.Helper()
	return openDB(t, c.DSN(db, params...))
}

// NodeGroup is the DSN of a node group's own server, counted from 1, as its root.
func (c *Cluster) NodeGroup(group int, db string, params ...string) string {
	return "root@unix(" + c.Node(group).Status().Socket + ")/" + db + query(params)
}

// NodeGroupDB is a pool of connections to a node group's own server.
func (c *Cluster) NodeGroupDB(t testing.TB, group int, db string, params ...string) *sql.DB {
	t.Helper()
	return openDB(t, c.NodeGroup(group, db, params...))
}

// Kill ends a node group's server as a crash would and leaves it down until Restart.
func (c *Cluster) Kill(t testing.TB, group int) {
	t.Helper()
	if err := c.Node(group).Kill(t.Context()); err != nil {
		t.Fatalf("kill node group %d: %v", group, err)
	}
}

// Restart brings a killed server up again.
func (c *Cluster) Restart(t testing.TB, group int) {
	t.Helper()
	if err := c.Node(group).Start(t.Context()); err != nil {
		t.Fatalf("restart node group %d: %v", group, err)
	}
}

// Admin is a connection to the admin API, closed at the test's end.
func (c *Cluster) Admin(t testing.TB) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(c.AdminAddr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatalf("admin API: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Get returns the status and body of an HTTP path of the cluster.
func (c *Cluster) Get(t testing.TB, path string) (int, string) {
	t.Helper()
	r, err := http.Get("http://" + c.HTTPAddr() + path)
	if err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	defer r.Body.Close()
	return r.StatusCode, readAll(t, r.Body)
}

func query(params []string) string {
	if len(params) == 0 {
		return ""
	}
	return "?" + strings.Join(params, "&")
}

func openDB(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatalf("DSN: %v", err)
	}
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatalf("DSN: %v", err)
	}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// shortTempDir is a temporary directory whose path leaves room for a socket's name.
func shortTempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "skarv-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove data: %v", err)
		}
	})
	return dir
}

// logTail is the end of a cluster's logs, for a test that failed.
func logTail(dir string) string {
	var b strings.Builder
	files, _ := filepath.Glob(filepath.Join(dir, "*.log"))
	nodes, _ := filepath.Glob(filepath.Join(dir, "ng-*", "error.log"))
	for _, file := range append(files, nodes...) {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		const most = 4000
		if len(text) > most {
			text = text[len(text)-most:]
		}
		fmt.Fprintf(&b, "\n--- %s\n%s", file, text)
	}
	return b.String()
}

// AllowLocalFiles lets statements read clients' files on a server and on those of node groups 1 to groups; MySQL's refuse them unless they are told
// not to. It outlives a server's end.
func AllowLocalFiles(t testing.TB, one *Server, many *Cluster, groups int) {
	t.Helper()
	if TestEngine() != "mysql" {
		return
	}
	dbs := []*sql.DB{one.DB(t, "")}
	for g := range groups {
		dbs = append(dbs, many.NodeGroupDB(t, g+1, ""))
	}
	for _, db := range dbs {
		if _, err := db.ExecContext(t.Context(), "SET PERSIST local_infile = 1"); err != nil {
			t.Fatal(err)
		}
	}
}
