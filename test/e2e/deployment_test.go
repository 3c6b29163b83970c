package e2e

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
)

// etcdServer is an etcd that is not ours: Debian's, as a process.
type etcdServer struct {
	*process
	url  string
	args []string
}

// startEtcd runs an etcd with further arguments; scheme is http or https.
func startEtcd(t testing.TB, scheme string, more ...string) *etcdServer {
	t.Helper()
	e := &etcdServer{url: fmt.Sprintf("%s://127.0.0.1:%d", scheme, freePort(t))}
	peer := fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	e.args = append([]string{
		"--name=e", "--data-dir=" + t.TempDir(), "--listen-client-urls=" + e.url, "--advertise-client-urls=" + e.url,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=e=" + peer,
	}, more...)
	e.start(t)
	return e
}

// start runs it, again if it was killed, with the data it had.
func (e *etcdServer) start(t testing.TB) {
	t.Helper()
	e.process = run(t, "etcd", e.args...)
	e.awaitLine(t, e.errs, "serving")
}

// proxy is one `skarv serve`.
type proxy struct {
	*process
	mysql, http, admin string
}

// serve starts `skarv serve` with a configuration; addresses that it does not set are free ones.
func serve(t testing.TB, config string) *proxy {
	t.Helper()
	head := ""
	for _, section := range []string{"mysql", "http", "admin"} {
		if !strings.Contains("\n"+config, "\n"+section+":") {
			head += section + ": {addr: '127.0.0.1:0'}\n"
		}
	}
	if !strings.Contains("\n"+config, "\nlog:") {
		head += "log: {format: json}\n"
	}
	p := &proxy{process: run(t, program(t, "skarv"), "serve", "--config", writeFile(t, t.TempDir(), "skarv.yaml", head+config))}
	var line struct {
		MySQL string `json:"mysql_addr"`
		HTTP  string `json:"http_addr"`
		Admin string `json:"admin_addr"`
	}
	require.NoError(t, json.Unmarshal([]byte(p.awaitLine(t, p.errs, `"serving"`)), &line))
	p.mysql, p.http, p.admin = line.MySQL, line.HTTP, line.Admin
	return p
}

// ctl runs skarvctl against the process.
func (p *proxy) ctl(t testing.TB, args ...string) result {
	t.Helper()
	return p.ctlWith(t, "", args...)
}

// ctlWith is ctl with standard input.
func (p *proxy) ctlWith(t testing.TB, stdin string, args ...string) result {
	t.Helper()
	return command(t, stdin, program(t, "skarvctl"), append([]string{"--addr", p.admin}, args...)...)
}

// must is ctl of a command that must succeed; it returns what that printed.
func (p *proxy) must(t testing.TB, args ...string) string {
	t.Helper()
	r := p.ctl(t, args...)
	require.Zero(t, r.code, "skarvctl %s: %s%s", strings.Join(args, " "), r.out, r.errs)
	return r.out
}

// get returns the status and the body of a path of the process.
func (p *proxy) get(t testing.TB, path string) (int, string) {
	t.Helper()
	r, err := http.Get("http://" + p.http + path)
	require.NoError(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return r.StatusCode, string(body)
}

// awaitReady waits until the process serves clients.
func (p *proxy) awaitReady(t testing.TB) {
	t.Helper()
	eventually(t, patience, p.mysql+" is ready", func() bool {
		status, _ := p.get(t, "/readyz")
		return status == http.StatusOK
	})
}

// db is a pool of clients of the process.
func (p *proxy) db(t testing.TB, user, password, database string, params ...string) *sql.DB {
	t.Helper()
	dsn := fmt.Sprintf("%s:%s@tcp(%s)/%s", user, password, p.mysql, database)
	if len(params) > 0 {
		dsn += "?" + strings.Join(params, "&")
	}
	return openDB(t, dsn)
}

func openDB(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	require.NoError(t, err)
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	require.NoError(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// one is a single connection.
func one(t testing.TB, db *sql.DB) *sql.Conn {
	t.Helper()
	c, err := db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// deployment is the production shape: etcd, bare servers, processes, and an administrator's account.
type deployment struct {
	etcd    *etcdServer
	servers []*cluster.Server
	proxies []*proxy
}

const adminPassword = "s3cret-of-admin"

// The login on the servers, as an operator makes it.
const (
	serverUser     = "skarv_proxy"
	serverPassword = "s3cret-of-servers"
)

// bareServers starts n servers with the account Skarv is to use.
func bareServers(t testing.TB, n int, options ...cluster.Option) []*cluster.Server {
	t.Helper()
	servers := make([]*cluster.Server, n)
	for i := range servers {
		servers[i] = cluster.StartServer(t, options...)
		db := servers[i].DB(t, "")
		for _, q := range []string{
			"CREATE USER " + serverUser + "@'127.0.0.1' IDENTIFIED BY '" + serverPassword + "'",
			"GRANT ALL ON *.* TO " + serverUser + "@'127.0.0.1' WITH GRANT OPTION",
		} {
			_, err := db.Exec(q)
			require.NoError(t, err)
		}
	}
	return servers
}

// deploy makes a cluster of servers with processes that are configured alike.
func deploy(t testing.TB, etcd *etcdServer, servers, processes int, config string) *deployment {
	t.Helper()
	d := &deployment{etcd: etcd, servers: bareServers(t, servers)}
	for range processes {
		d.proxies = append(d.proxies, serve(t, config))
	}
	d.initialise(t)
	d.admit(t)
	return d
}

// admit waits until all processes serve, and makes the administrator.
func (d *deployment) admit(t testing.TB) {
	t.Helper()
	for _, p := range d.proxies {
		p.awaitReady(t)
	}
	r := d.proxies[0].ctlWith(t, adminPassword, "user", "add", "admin", "--grant", "*:admin", "--password-file", "-")
	require.Zero(t, r.code, r.errs)
}

// initialise makes node groups of the servers; the first of them have replicas.
func (d *deployment) initialise(t testing.TB, replicas ...*cluster.Server) {
	t.Helper()
	args := []string{"cluster", "init", "--user", serverUser, "--password-file", "-"}
	for i, s := range d.servers {
		group := fmt.Sprintf("g%d=%s", i+1, s.Addr())
		if i < len(replicas) {
			group += "," + replicas[i].Addr()
		}
		args = append(args, "--node-group", group)
	}
	r := d.proxies[0].ctlWith(t, serverPassword, args...)
	require.Zero(t, r.code, r.errs)
}

// admin is a pool of administrator's clients of process i.
func (d *deployment) admin(t testing.TB, i int, database string, params ...string) *sql.DB {
	t.Helper()
	return d.proxies[i].db(t, "admin", adminPassword, database, params...)
}
