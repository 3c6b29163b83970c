package dev

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

// etcd is the embedded etcd: one member on loopback, its log in a file.
type etcd struct {
	server  *embed.Etcd
	logFile string
}

const etcdStartTimeout = 30 * time.Second

// startEtcd returns when etcd answers. sync: writes are on the disk before they are acknowledged.
func startEtcd(ctx context.Context, dir string, sync bool) (*etcd, error) {
	e := &etcd{logFile: filepath.Join(dir, "etcd.log")}
	loopback := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg := embed.NewConfig()
	cfg.Dir = filepath.Join(dir, "etcd")
	cfg.LogLevel = "warn"
	cfg.LogOutputs = []string{e.logFile}
	cfg.UnsafeNoFsync = !sync
	cfg.ListenClientUrls, cfg.ListenPeerUrls = loopback, loopback
	cfg.AutoCompactionMode, cfg.AutoCompactionRetention = "revision", "10000"
	// One member elects itself; there is nobody to wait for.
	cfg.TickMs, cfg.ElectionMs = 20, 200
	var err error
	if e.server, err = embed.StartEtcd(cfg); err != nil {
		return nil, fmt.Errorf("embedded etcd did not come up: %w; see %s", err, e.logFile)
	}
	wait := time.NewTimer(etcdStartTimeout)
	defer wait.Stop()
	select {
	case <-e.server.Server.ReadyNotify():
		return e, nil
	case err = <-e.server.Err():
	case <-ctx.Done():
		err = ctx.Err()
	case <-wait.C:
		err = fmt.Errorf("no answer within %s", etcdStartTimeout)
	}
	e.server.Close()
	return nil, fmt.Errorf("embedded etcd did not come up: %w; see %s", err, e.logFile)
}

func (e *etcd) endpoint() string { return "http://" + e.server.Clients[0].Addr().String() }

// run waits for the end of ctx and stops etcd. An etcd that ends by itself is an error.
func (e *etcd) run(ctx context.Context) error {
	defer e.server.Close()
	select {
	case <-ctx.Done():
		return nil
	case err := <-e.server.Err():
		return fmt.Errorf("embedded etcd: %w; see %s", err, e.logFile)
	case <-e.server.Server.StopNotify():
		return fmt.Errorf("embedded etcd: %w; see %s", errors.New("stopped by itself"), e.logFile)
	}
}
