package dev

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// etcd is the embedded etcd: one member on loopback, its log in a file.
type etcd struct {
	server  *embed.Etcd
	logFile string
	log     *os.File
}

// etcdDir is etcd's place in the data directory.
const etcdDir = "etcd"

const etcdStartTimeout = 30 * time.Second

// startEtcd returns when etcd answers. sync: writes are on the disk before they are acknowledged.
func startEtcd(ctx context.Context, dir string, sync bool) (_ *etcd, err error) {
	e := &etcd{logFile: filepath.Join(dir, "etcd.log")}
	loopback := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	cfg := embed.NewConfig()
	cfg.Dir = filepath.Join(dir, etcdDir)
	log, err := os.OpenFile(e.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log of etcd: %w", err)
	}
	defer func() {
		if err != nil {
			log.Close()
		}
	}()
	e.log = log
	cfg.LogOutputs = []string{e.logFile}
	// etcd ends the process when it cannot go on; in here that is a panic instead, which can be told of.
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.New(
		zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.Lock(log), zap.WarnLevel),
		zap.WithFatalHook(zapcore.WriteThenPanic)))
	cfg.UnsafeNoFsync = !sync
	cfg.ListenClientUrls, cfg.ListenPeerUrls = loopback, loopback
	cfg.AutoCompactionMode, cfg.AutoCompactionRetention = "revision", "10000"
	// One member elects itself; there is nobody to wait for.
	cfg.TickMs, cfg.ElectionMs = 20, 200
	if e.server, err = openEtcd(cfg); err != nil {
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
	if err == nil {
		err = errors.New("stopped by itself")
	}
	return nil, fmt.Errorf("embedded etcd did not come up: %w; see %s", err, e.logFile)
}

// openEtcd starts etcd. On data it cannot read it panics, in this goroutine.
func openEtcd(cfg *embed.Config) (server *embed.Etcd, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its data in %s cannot be read: %v", cfg.Dir, p)
		}
	}()
	return embed.StartEtcd(cfg)
}

func (e *etcd) endpoint() string { return "http://" + e.server.Clients[0].Addr().String() }

// run waits for the end of ctx and stops etcd. An etcd that ends by itself is an error.
func (e *etcd) run(ctx context.Context) error {
	defer e.log.Close()
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
