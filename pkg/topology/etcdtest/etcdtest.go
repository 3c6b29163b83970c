// Package etcdtest runs an etcd inside a test. It is used by tests only.
package etcdtest

import (
	"net/url"
	"os"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

// Etcd is one embedded etcd on a free port of this machine.
type Etcd struct {
	dir    string
	client url.URL
	server *embed.Etcd
}

// Start runs an empty etcd until the test ends.
func Start(t testing.TB) *Etcd {
	t.Helper()
	e := &Etcd{dir: t.TempDir(), client: url.URL{Scheme: "http", Host: "127.0.0.1:0"}}
	e.start(t)
	t.Cleanup(func() {
		if e.server != nil {
			e.server.Close()
		}
	})
	return e
}

func (e *Etcd) start(t testing.TB) {
	t.Helper()
	cfg := embed.NewConfig()
	cfg.Dir = e.dir
	cfg.LogLevel = "fatal"
	cfg.UnsafeNoFsync = true
	cfg.BcryptCost = 4 // the least: a login under the race detector takes seconds of the default
	cfg.TickMs = 10
	cfg.ElectionMs = 100
	cfg.ListenPeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg.ListenClientUrls = []url.URL{e.client}
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		t.Fatalf("start etcd: %v", err)
	}
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(time.Minute):
		server.Close()
		t.Fatal("etcd did not become ready")
	}
	e.server = server
	e.client.Host = server.Clients[0].Addr().String()
}

// Endpoint is the address clients connect to; it stays the same over Stop and Restart.
func (e *Etcd) Endpoint() string { return e.client.String() }

// Stop ends the server; its data stays.
func (e *Etcd) Stop(t testing.TB) {
	t.Helper()
	e.server.Close()
	e.server = nil
}

// Restart starts a stopped server on its old data and address.
func (e *Etcd) Restart(t testing.TB) {
	t.Helper()
	e.start(t)
}

// Backup keeps what a stopped server has; restore puts that in the place of what it has later, while it is stopped.
func (e *Etcd) Backup(t testing.TB) (restore func()) {
	t.Helper()
	kept := t.TempDir()
	if err := os.CopyFS(kept, os.DirFS(e.dir)); err != nil {
		t.Fatalf("keep etcd's data: %v", err)
	}
	return func() { e.dir = kept }
}

// SetFull raises or ends the alarm of a server whose database has reached its quota.
func (e *Etcd) SetFull(t testing.TB, full bool) {
	t.Helper()
	action := etcdserverpb.AlarmRequest_DEACTIVATE
	if full {
		action = etcdserverpb.AlarmRequest_ACTIVATE
	}
	_, err := etcdserverpb.NewMaintenanceClient(e.Client(t).ActiveConnection()).Alarm(t.Context(), &etcdserverpb.AlarmRequest{
		Action: action, MemberID: uint64(e.server.Server.MemberID()), Alarm: etcdserverpb.AlarmType_NOSPACE,
	})
	if err != nil {
		t.Fatalf("alarm: %v", err)
	}
}

// Client returns a plain client that ends with the test.
func (e *Etcd) Client(t testing.TB) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{e.Endpoint()}, DialTimeout: 5 * time.Second})
	if err != nil {
		t.Fatalf("connect to etcd: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
