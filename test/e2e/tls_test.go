package e2e

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
)

// Servers whose certificates are of an authority of one's own are reached by everything that logs in there: clients' statements, what
// looks at servers before they are node groups, schema changes, moves, checks.
func TestServersOfPrivateAuthority(t *testing.T) {
	ca := newAuthority(t)
	ca.issue(t, "server")
	etcd := startEtcd(t, "http")
	d := &deployment{etcd: etcd, servers: bareServers(t, 3, cluster.Variable("ssl_cert", ca.path("server.pem")), cluster.Variable("ssl_key", ca.path("server.key")),
		cluster.Variable("require_secure_transport", "ON"))}
	p := serve(t, fmt.Sprintf("etcd: {endpoints: ['%s']}\nbackend: {tls_ca: %s}\n", etcd.url, ca.path("ca.pem")))
	d.proxies = append(d.proxies, p)
	login := func(args ...string) result {
		return p.ctlWith(t, serverPassword, append(args, "--user", serverUser, "--password-file", "-", "--tls", "verify")...)
	}
	r := login("cluster", "init", "--node-group", d.servers[0].Addr(), "--node-group", d.servers[1].Addr())
	require.Zero(t, r.code, r.errs)
	p.awaitReady(t)
	r = p.ctlWith(t, adminPassword, "user", "add", "admin", "--grant", "*:admin", "--password-file", "-")
	require.Zero(t, r.code, r.errs)
	db := d.admin(t, 0, "")
	exec1(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.orders (id BIGINT PRIMARY KEY, nr INT UNIQUE)",
		"INSERT INTO shop.orders VALUES (1, 1), (2, 2), (3, 3), (4, 4)", "ALTER TABLE shop.orders ADD COLUMN v INT, ADD UNIQUE KEY (v)")
	r = login("nodegroup", "add", d.servers[2].Addr())
	require.Zero(t, r.code, r.errs)
	for _, args := range [][]string{
		{"rebalance", "--yes", "--wait", "--rollback-window", "0s"}, {"checksum"}, {"index", "check"}, {"status"},
	} {
		r := p.ctl(t, args...)
		require.Zero(t, r.code, "%s: %s%s", args, r.out, r.errs)
	}
}
