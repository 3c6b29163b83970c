package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// withinASecond is the promise of several processes on one etcd.
const withinASecond = time.Second

func etcdSection(e *etcdServer) string { return "etcd: {endpoints: ['" + e.url + "']}\n" }

// sqlError is the error a client got.
func sqlError(t testing.TB, err error) *mysql.MySQLError {
	t.Helper()
	var e *mysql.MySQLError
	require.ErrorAs(t, err, &e)
	return e
}

func exec1(t testing.TB, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, statements ...string) {
	t.Helper()
	for _, q := range statements {
		_, err := db.ExecContext(t.Context(), q)
		require.NoError(t, err, q)
	}
}

// The production shape from nothing, told in the order an operator works.
func TestServe(t *testing.T) {
	etcd := startEtcd(t, "http")
	servers := bareServers(t, 3)
	d := &deployment{etcd: etcd, servers: servers[:2]}
	config := etcdSection(etcd)
	a, b := serve(t, config), serve(t, config)
	d.proxies = []*proxy{a, b}

	// Before there is a cluster everything says what to do.
	var status int
	var body string
	eventually(t, 10*time.Second, "the state is read", func() bool {
		status, body = a.get(t, "/readyz")
		return !strings.Contains(body, "has not been read yet")
	})
	require.Equal(t, 503, status)
	require.Contains(t, body, "skarvctl cluster init")
	status, _ = a.get(t, "/healthz")
	require.Equal(t, 200, status)
	r := a.ctl(t, "status")
	require.Equal(t, 4, r.code)
	require.Contains(t, r.out, "cluster init")
	r = a.ctl(t, "partitions")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "cluster init")
	r = a.ctlWith(t, "wrong", "cluster", "init", "--user", serverUser, "--password-file", "-", "--node-group", servers[0].Addr())
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "Access denied")
	require.Contains(t, r.errs, servers[0].Addr())
	r = a.ctlWith(t, "x", "cluster", "init", "--password-file", "-", "--node-group", fmt.Sprintf("127.0.0.1:%d", freePort(t)))
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "connection refused")

	d.initialise(t)
	a.awaitReady(t)
	b.awaitReady(t)
	r = b.ctlWith(t, serverPassword, "cluster", "init", "--user", serverUser, "--password-file", "-", "--node-group", servers[2].Addr())
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "holds a cluster already")

	// No default account.
	err := a.db(t, "root", "", "").Ping()
	require.EqualValues(t, 1045, sqlError(t, err).Number)
	for _, user := range []string{"admin", "app"} {
		grant := map[string]string{"admin": "*:admin", "app": "shop:write"}[user]
		r = a.ctlWith(t, adminPassword, "user", "add", user, "--grant", grant, "--password-file", "-")
		require.Zero(t, r.code, r.errs)
	}

	// What one process does the other sees: schema, accounts, map.
	adminA, adminB := d.admin(t, 0, ""), d.admin(t, 1, "")
	exec1(t, adminA, "CREATE DATABASE shop", "CREATE TABLE shop.orders (id INT PRIMARY KEY, v VARCHAR(20))")
	exec1(t, adminB, "INSERT INTO shop.orders VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')")
	exec1(t, adminB, "ALTER TABLE shop.orders ADD COLUMN w INT")
	exec1(t, adminA, "INSERT INTO shop.orders VALUES (5, 'e', 5)")
	var n int
	require.NoError(t, adminB.QueryRow("SELECT COUNT(*) FROM shop.orders").Scan(&n))
	require.Equal(t, 5, n)

	app := b.db(t, "app", adminPassword, "shop")
	require.NoError(t, app.Ping())
	_, err = app.Exec("CREATE TABLE shop.x (id INT PRIMARY KEY)")
	require.EqualValues(t, 1142, sqlError(t, err).Number)
	var fastest time.Duration // of several: a busy machine takes longer now and then
	for i := 0; i < 5 && (i == 0 || fastest > withinASecond); i++ {
		password := fmt.Sprintf("another%d", i)
		r = a.ctlWith(t, password, "user", "passwd", "app", "--password-file", "-")
		require.Zero(t, r.code, r.errs)
		begin := time.Now()
		eventually(t, patience, "the new password at the other process", func() bool {
			return b.db(t, "app", password, "shop").Ping() == nil
		})
		if took := time.Since(begin); i == 0 || took < fastest {
			fastest = took
		}
	}
	require.LessOrEqual(t, fastest, withinASecond)
	err = b.db(t, "app", adminPassword, "shop").Ping()
	require.EqualValues(t, 1045, sqlError(t, err).Number)
	require.Equal(t, "28000", string(sqlError(t, err).SQLState[:]))
	require.Contains(t, a.must(t, "user", "list"), "shop:write")
	require.NotContains(t, a.must(t, "user", "list", "-o", "json"), "$A$")
	b.must(t, "user", "remove", "app")
	err = a.db(t, "app", "another", "shop").Ping()
	require.EqualValues(t, 1045, sqlError(t, err).Number)
	r = a.ctl(t, "user", "remove", "app")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "app")

	// A third node group gets the schema and no partitions.
	r = b.ctlWith(t, serverPassword, "nodegroup", "add", "g3="+servers[2].Addr(), "--user", serverUser, "--password-file", "-")
	require.Zero(t, r.code, r.errs)
	for _, p := range d.proxies {
		require.Contains(t, p.must(t, "nodegroup", "list"), servers[2].Addr())
	}
	require.NoError(t, servers[2].DB(t, "").QueryRow("SELECT COUNT(*) FROM shop.orders").Scan(&n))
	require.Zero(t, n)
	r = b.ctlWith(t, serverPassword, "nodegroup", "add", "g3="+servers[2].Addr(), "--user", serverUser, "--password-file", "-")
	require.Equal(t, 1, r.code)

	// Looking at it.
	var state struct {
		OK         bool
		Controller string
		Processes  []struct{ Addr string }
		NodeGroups []struct {
			Partitions int
			Health     string
		} `json:"node_groups"`
		Problems []string
	}
	require.NoError(t, json.Unmarshal([]byte(b.must(t, "status", "--output", "json")), &state))
	require.True(t, state.OK)
	require.Len(t, state.Processes, 2)
	require.Len(t, state.NodeGroups, 3)
	require.Equal(t, []int{1920, 1920, 0}, []int{state.NodeGroups[0].Partitions, state.NodeGroups[1].Partitions, state.NodeGroups[2].Partitions})
	require.Contains(t, []string{a.admin, b.admin}, state.Controller)
	require.Contains(t, a.must(t, "status"), "All is well.")

	var partitions []struct {
		Partition int
		NodeGroup int `json:"node_group"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.must(t, "partitions", "--output", "json")), &partitions))
	require.Len(t, partitions, 3840)
	require.Regexp(t, `shop +orders +sharded +id`, a.must(t, "tables"))

	// route says where a row is, and there it is.
	for id := 1; id <= 5; id++ {
		var route struct {
			Exact     bool
			Partition int
			NodeGroup int `json:"node_group"`
			Why       []string
		}
		require.NoError(t, json.Unmarshal([]byte(b.must(t, "route", "shop.orders", fmt.Sprint(id), "-o", "json")), &route))
		require.True(t, route.Exact)
		require.NotEmpty(t, route.Why)
		require.Equal(t, partitions[route.Partition].NodeGroup, route.NodeGroup)
		require.NoError(t, servers[route.NodeGroup-1].DB(t, "").QueryRow("SELECT COUNT(*) FROM shop.orders WHERE id = ?", id).Scan(&n))
		require.Equal(t, 1, n)
	}
	for _, wrong := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"route", "shop.nothing", "1"}, 1, "no table shop.nothing"},
		{[]string{"route", "shop.orders"}, 2, "give a value for each of its columns"},
		{[]string{"route", "orders", "1"}, 2, "which database"},
		{[]string{"tables", "nowhere"}, 1, "no database nowhere"},
		{[]string{"frobnicate"}, 2, "unknown command"},
	} {
		r := a.ctl(t, wrong.args...)
		require.Equal(t, wrong.code, r.code, "%v: %s", wrong.args, r.errs)
		require.Contains(t, r.errs, wrong.says)
	}
	require.Equal(t, 3, command(t, "", program(t, "skarvctl"), "--addr", fmt.Sprintf("127.0.0.1:%d", freePort(t)), "status").code)

	t.Run("controller dies during DDL", func(t *testing.T) { controllerDies(t, d, state.Controller) })
	d.proxies = append(d.proxies, serve(t, config))
	d.proxies[1].awaitReady(t)
	t.Run("drain", func(t *testing.T) { drains(t, d) })
}

// controllerDies: the process that leads is killed while a schema change is under way; the other carries it to its
// end, and whoever asked for it there is told so.
func controllerDies(t *testing.T, d *deployment, controller string) {
	leads, other := d.proxies[0], d.proxies[1]
	if controller == other.admin {
		leads, other = other, leads
	}
	// A transaction holds the change up in the middle: on one server it is done, on the other it waits for the lock.
	tx, err := d.servers[1].DB(t, "shop").BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback() //nolint:errcheck // after Commit it has nothing to do
	_, err = tx.Exec("SELECT * FROM orders")
	require.NoError(t, err)

	asked := make(chan error, 1)
	db := other.db(t, "admin", adminPassword, "shop")
	go func() {
		_, err := db.Exec("ALTER TABLE orders ADD COLUMN late INT")
		asked <- err
	}()
	waiting := d.servers[1].DB(t, "")
	eventually(t, patience, "the change waits for the lock", func() bool {
		var n int
		_ = waiting.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE '%metadata lock%'").Scan(&n)
		return n > 0
	})
	leads.end(t, syscall.SIGKILL)
	require.NoError(t, tx.Commit())
	select {
	case err := <-asked:
		require.NoError(t, err)
	case <-time.After(patience):
		t.Fatal("the schema change does not end")
	}
	for _, s := range d.servers {
		exec1(t, s.DB(t, "shop"), "SELECT late FROM orders LIMIT 1")
	}
	exec1(t, db, "SELECT late FROM orders", "ALTER TABLE orders DROP COLUMN late")
	eventually(t, patience, "the dead process is forgotten", func() bool {
		out := other.ctl(t, "status").out
		return !strings.Contains(out, leads.admin) && strings.Contains(out, "All is well.")
	})
	d.proxies = []*proxy{other}
}

// drains: SIGTERM lets running statements end, tells idle clients, and leaves nothing.
func drains(t *testing.T, d *deployment) {
	for i, p := range d.proxies {
		db := d.admin(t, i, "shop")
		running := one(t, db)
		idle := idleClient(t, p)
		goOn := locks(t, d, "SELECT id FROM orders WHERE id = 1 FOR UPDATE")
		answer := make(chan error, 1)
		go func() {
			var v int
			answer <- running.QueryRowContext(context.Background(), "SELECT id FROM orders WHERE id = 1 FOR UPDATE").Scan(&v)
		}()
		probe := d.admin(t, i, "")
		eventually(t, patience, "the statement runs", func() bool {
			var n int
			for _, s := range d.servers {
				var here int
				_ = s.DB(t, "").QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%FOR UPDATE%' AND id <> CONNECTION_ID()").Scan(&here)
				n += here
			}
			return n > 0
		})
		require.NoError(t, p.Process.Signal(syscall.SIGTERM))
		eventually(t, patience, "it takes no more clients", func() bool {
			c, err := net.Dial("tcp", p.mysql)
			if err == nil {
				_ = c.Close()
			}
			return err != nil
		})
		goOn()
		require.NoError(t, <-answer, "a statement that runs is answered")
		require.Zero(t, p.await(t))
		told, err := io.ReadAll(idle)
		require.NoError(t, err)
		require.Empty(t, told, "an idle client is told nothing, as by a server")
		require.Error(t, probe.Ping())
		require.Contains(t, p.errs.String(), `"stopped"`)
		require.NotContains(t, p.errs.String(), `"level":"ERROR"`)
		if i == 0 { // the other does not see it any more
			require.NotContains(t, d.proxies[1].must(t, "status"), p.admin)
		}
	}
}

// locks has a transaction on each server hold what a statement locks, until goOn is called.
func locks(t *testing.T, d *deployment, statement string) (goOn func()) {
	t.Helper()
	var held []*sql.Tx
	for _, s := range d.servers {
		tx, err := s.DB(t, "shop").BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = tx.Exec(statement)
		require.NoError(t, err)
		held = append(held, tx)
	}
	return func() {
		for _, tx := range held {
			require.NoError(t, tx.Rollback())
		}
	}
}

// idleClient is the socket of a client that has logged in and asks nothing.
func idleClient(t *testing.T, p *proxy) net.Conn {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = "admin", adminPassword, "tcp", p.mysql
	var socket net.Conn
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		var err error
		socket, err = new(net.Dialer).DialContext(ctx, network, addr)
		return socket, err
	}
	connector, err := mysql.NewConnector(cfg)
	require.NoError(t, err)
	client, err := connector.Connect(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	require.NoError(t, socket.SetDeadline(time.Now().Add(patience)))
	return socket
}

func TestCheckConfig(t *testing.T) {
	file := writeFile(t, t.TempDir(), "skarv.yaml", `
mysql: {addr: nowhere, max_connections: 0, adr: x}
backend: {fail_after: soon}
etcd: {username: u, tls_ca: /no/such.pem}
log: {level: loud}
roles: [cook]
no_such_key: 1
`)
	for _, args := range [][]string{{"--check-config"}, {}} {
		r := command(t, "", program(t, "skarv"), append([]string{"serve", "--config", file}, args...)...)
		require.Equal(t, 1, r.code)
		for _, fault := range []string{
			"no_such_key", "adr", `mysql.addr: "nowhere"`, "mysql.max_connections", `"soon"`, "/no/such.pem",
			"etcd.username and etcd.password_file", `"loud"`, `"cook"`,
		} {
			require.Contains(t, r.errs, fault)
		}
		for line := range strings.Lines(r.errs) {
			require.True(t, strings.HasPrefix(line, "skarv: "+file+": "), line)
		}
	}
	good := writeFile(t, t.TempDir(), "skarv.yaml", "plan_cache: 5\n")
	require.Zero(t, command(t, "", program(t, "skarv"), "serve", "--check-config", "--config", good).code)
}
