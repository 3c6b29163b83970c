package e2e

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"skarv/pkg/dev"
	datanodev1 "skarv/proto/datanode/v1"
)

// devArgs are those of a local cluster on free ports.
func devArgs(more ...string) []string {
	return append([]string{"dev", "--mysql-addr", "127.0.0.1:0", "--http-addr", "127.0.0.1:0", "--admin-addr", "127.0.0.1:0"}, more...)
}

// startDev runs `skarv dev --json` and returns what it said when it was ready.
func startDev(t *testing.T, more ...string) (*process, dev.Info) {
	t.Helper()
	p := run(t, program(t, "skarv"), devArgs(append([]string{"--json", "--node-groups", "2"}, more...)...)...)
	var info dev.Info
	require.NoError(t, json.Unmarshal([]byte(p.awaitLine(t, p.out, "mysql_addr")), &info))
	return p, info
}

// gone reports whether the process has ended; one that nobody waits for counts too.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	after := stat[bytes.LastIndexByte(stat, ')')+1:]
	return bytes.HasPrefix(after, []byte(" Z"))
}

func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "skarv-e2e-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// A data directory through a first start, a clean stop, a second start, a crash, and a third.
func TestDevKeepsItsData(t *testing.T) {
	dir := shortDir(t)
	p, info := startDev(t, "--data-dir", dir)
	db := openDB(t, "root@tcp("+info.MySQLAddr+")/")
	exec1(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, v INT)",
		"INSERT INTO shop.orders (v) VALUES (1), (2), (3), (4), (5), (6)")

	// A second one on the same directory is told who has it, and does no harm.
	r := command(t, "", program(t, "skarv"), devArgs("--data-dir", dir)...)
	require.Equal(t, 1, r.code)
	require.Regexp(t, `^skarv: data directory \S+: .*in use.*\n$`, r.errs)
	require.Contains(t, r.errs, fmt.Sprint(info.Pid))

	// One process, one cluster, one line.
	require.Equal(t, 1, strings.Count(p.out.String(), "\n"))
	require.Zero(t, p.end(t, syscall.SIGINT))
	require.Equal(t, 1, strings.Count(p.out.String(), "\n"))
	require.Empty(t, p.errs.String())
	for _, g := range info.NodeGroups {
		require.True(t, gone(g.Pid))
	}

	p, info = startDev(t, "--data-dir", dir)
	db = openDB(t, "root@tcp("+info.MySQLAddr+")/shop")
	var n int
	require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM orders").Scan(&n))
	require.Equal(t, 6, n)
	res, err := db.Exec("INSERT INTO orders (v) VALUES (7)")
	require.NoError(t, err)
	id, err := res.LastInsertId()
	require.NoError(t, err)
	require.EqualValues(t, 7, id, "a clean stop leaves no gap")

	// However the parent dies, nothing of it stays.
	p.end(t, syscall.SIGKILL)
	for _, g := range info.NodeGroups {
		eventually(t, patience, "the servers end with their parent", func() bool { return gone(g.Pid) })
	}
	p, info = startDev(t, "--data-dir", dir)
	db = openDB(t, "root@tcp("+info.MySQLAddr+")/shop")
	require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM orders").Scan(&n))
	require.Equal(t, 7, n)
	exec1(t, db, "INSERT INTO orders (v) VALUES (8)")
	require.Zero(t, p.end(t, syscall.SIGTERM))

	// Damage is told in one line that names the place.
	require.NoError(t, os.Rename(filepath.Join(dir, "ng-2"), filepath.Join(dir, "elsewhere")))
	oneLine(t, []string{"damaged", "node group 2", dir}, "--data-dir", dir)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "ng-2")))
	require.NoError(t, os.Rename(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "ng-2")))
	require.NoError(t, os.Rename(filepath.Join(dir, "etcd"), filepath.Join(dir, "elsewhere")))
	oneLine(t, []string{"damaged", "etcd", dir}, "--data-dir", dir)
	require.NoError(t, os.Rename(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "etcd")))
	data := filepath.Join(dir, "ng-1", "data", "ibdata1")
	require.NoError(t, os.Rename(data, filepath.Join(dir, "elsewhere")))
	require.NoError(t, os.WriteFile(data, make([]byte, 4096), 0o600))
	oneLine(t, []string{"node group 1", filepath.Join(dir, "ng-1", "error.log")}, "--data-dir", dir)
	require.NoError(t, os.Rename(filepath.Join(dir, "elsewhere"), data)) // of two damages either may be told
	wal, err := filepath.Glob(filepath.Join(dir, "etcd", "member", "wal", "*.wal"))
	require.NoError(t, err)
	require.NotEmpty(t, wal)
	require.NoError(t, os.WriteFile(wal[0], []byte("this is no log"), 0o600))
	oneLine(t, []string{"etcd", dir}, "--data-dir", dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "skarv.json"), []byte("{"), 0o600))
	oneLine(t, []string{"damaged", dir}, "--data-dir", dir)
}

// oneLine checks that a start fails with exactly one line, which has all words.
func oneLine(t *testing.T, words []string, args ...string) {
	t.Helper()
	r := command(t, "", program(t, "skarv"), devArgs(append([]string{"--json"}, args...)...)...)
	require.Equal(t, 1, r.code, "%s%s", r.out, r.errs)
	require.Empty(t, r.out)
	require.Equal(t, 1, strings.Count(r.errs, "\n"), r.errs)
	require.True(t, strings.HasPrefix(r.errs, "skarv: "), r.errs)
	for _, w := range words {
		require.Contains(t, r.errs, w)
	}
	t.Log(r.errs)
}

func TestDevRefuses(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer busy.Close()
	for _, flag := range []string{"--mysql-addr", "--http-addr", "--admin-addr"} {
		oneLine(t, []string{flag, busy.Addr().String(), "in use"}, flag, busy.Addr().String())
	}
	foreign := shortDir(t)
	writeFile(t, foreign, "thesis.txt", "mine")
	oneLine(t, []string{foreign, "thesis.txt"}, "--data-dir", foreign)
	left, err := os.ReadDir(foreign)
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing is written into what is not ours")
	oneLine(t, []string{"/no/such/server"}, "--server-binary", "/no/such/server")
	oneLine(t, []string{"/bin/true"}, "--server-binary", "/bin/true")

	// A server that says it is one and does not come up.
	dir := shortDir(t)
	server := filepath.Join(dir, "bin", "mariadbd")
	require.NoError(t, os.MkdirAll(filepath.Dir(server), 0o700))
	require.NoError(t, os.Symlink("/usr/share", filepath.Join(dir, "share")))
	require.NoError(t, os.WriteFile(server, []byte(`#!/bin/sh
case "$*" in *--version*|*--bootstrap*) exec mariadbd "$@" --basedir=/usr;; esac
echo "the disk is on fire" >&2
exit 7
`), 0o700))
	data := filepath.Join(dir, "data")
	oneLine(t, []string{"node group", data, "error.log"}, "--server-binary", server, "--data-dir", data)
}

// Node groups with replicas: a switchover between two starts, of which the second finds the roles as they are.
func TestDevReplicas(t *testing.T) {
	dir := shortDir(t)
	count := func(db *sql.DB) string { return strings.TrimSpace(rowsOf(t, db, "SELECT COUNT(*) FROM d.t")) }
	p, info := startDev(t, "--data-dir", dir, "--replicas", "1")
	db := openDB(t, "root@tcp("+info.MySQLAddr+")/")
	exec1(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2), (3), (4), (5), (6)")
	group := info.NodeGroups[0]
	require.Len(t, group.Replicas, 1)
	to, from := group.Replicas[0], group.Addr
	on := command(t, "", program(t, "skarvctl"), "--addr", info.AdminAddr, "nodegroup", "failover", group.Name, "--automatic", "on")
	require.Zero(t, on.code, on.errs)
	require.NotContains(t, on.out, "NOTE")
	for range 2 {
		eventually(t, time.Minute, "automatic failover is armed, whoever is the primary", func() bool {
			return command(t, "", program(t, "skarvctl"), "--addr", info.AdminAddr, "status").code == 0
		})
		r := command(t, "", program(t, "skarvctl"), "--addr", info.AdminAddr, "nodegroup", "switchover", group.Name, "--to", to)
		require.Zero(t, r.code, r.errs)
		exec1(t, db, "INSERT INTO d.t SELECT MAX(id) + 1 FROM d.t")
		require.Zero(t, p.end(t, syscall.SIGINT))
		p, info = startDev(t, "--data-dir", dir)
		db = openDB(t, "root@tcp("+info.MySQLAddr+")/")
		r = command(t, "", program(t, "skarvctl"), "--addr", info.AdminAddr, "nodegroup", "list")
		require.Regexp(t, group.Name+" +"+to+" +"+from, r.out)
		to, from = from, to
	}
	require.Equal(t, "8", count(db))
	r := command(t, "", program(t, "skarvctl"), "--addr", info.AdminAddr, "checksum")
	require.Zero(t, r.code, r.out+r.errs)
	require.Zero(t, p.end(t, syscall.SIGINT))
	oneLine(t, []string{"has 1 replicas of each node group, not 2"}, "--data-dir", dir, "--replicas", "2")
}

// Ctrl-C while it starts ends it as cleanly.
func TestDevInterruptedWhileStarting(t *testing.T) {
	p := run(t, program(t, "skarv"), devArgs("--node-groups", "2")...)
	p.awaitLine(t, p.out, "node groups of")
	require.Zero(t, p.end(t, syscall.SIGINT))
	require.Empty(t, p.errs.String())
}

// A data node as a process of its own, asked over gRPC.
func TestDataNode(t *testing.T) {
	dir := shortDir(t)
	p := run(t, program(t, "skarv"), "node", "--listen", "127.0.0.1:0", "--mysql-addr", "127.0.0.1:0", "--server-id", "7",
		"--data-dir", filepath.Join(dir, "n"), "--log-format", "json")
	var line struct{ Addr string }
	require.NoError(t, json.Unmarshal([]byte(p.awaitLine(t, p.errs, "data node listens")), &line))
	conn, err := grpc.NewClient(line.Addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	node := datanodev1.NewDataNodeClient(conn)
	_, err = node.Start(t.Context(), &datanodev1.StartRequest{})
	require.ErrorContains(t, err, "initialise")
	account, err := node.Initialise(t.Context(), &datanodev1.InitialiseRequest{})
	require.NoError(t, err)
	_, err = node.Start(t.Context(), &datanodev1.StartRequest{})
	require.NoError(t, err)
	status, err := node.Status(t.Context(), &datanodev1.StatusRequest{})
	require.NoError(t, err)
	db := openDB(t, fmt.Sprintf("%s:%s@tcp(%s)/", account.User, account.Password, status.GetAddr()))
	require.NoError(t, db.Ping())

	// A server that dies is brought up again.
	pid := int(status.GetPid())
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	eventually(t, patience, "the server is up again", func() bool {
		status, err := node.Status(t.Context(), &datanodev1.StatusRequest{})
		require.NoError(t, err)
		pid = int(status.GetPid())
		return status.GetRestarts() == 1 && db.Ping() == nil
	})
	_, err = node.Stop(t.Context(), &datanodev1.StopRequest{})
	require.NoError(t, err)
	require.True(t, gone(pid))
	_, err = node.Start(t.Context(), &datanodev1.StartRequest{})
	require.NoError(t, err)
	status, err = node.Status(t.Context(), &datanodev1.StatusRequest{})
	require.NoError(t, err)
	pid = int(status.GetPid())
	p.end(t, syscall.SIGKILL)
	eventually(t, patience, "the server ends with its node", func() bool { return gone(pid) })
	require.NotContains(t, p.errs.String(), account.Password)
}
