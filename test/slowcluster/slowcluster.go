// Package slowcluster is a cluster for measurements of queues: before each of its servers stands a slowrelay, and the proxies
// that are measured are processes of their own.
package slowcluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql" // for Config.Statements

	"skarv/pkg/datanode"
	"skarv/pkg/dev"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/topology"
	"skarv/test/cluster"
	"skarv/test/slowrelay"
)

// Config says what a Cluster is made of.
type Config struct {
	NodeGroups int
	Skarv      string           // the binary of the proxies
	Relay      slowrelay.Config // of every server; To is filled in
	// MaxConnections of each server.
	MaxConnections int
	// Statements make the tables and fill them, before there are relays. Database.Table has an integer column id whose
	// values become Keys.
	Statements      []string
	Database, Table string
}

// Cluster is a running one. It must be closed.
type Cluster struct {
	*cluster.Cluster
	Relays []*slowrelay.Relay // by node group
	Keys   [][]int            // those that live on each node group

	cfg     Config
	dir     string
	proxies []*exec.Cmd
}

// Open brings a Cluster up. Its relays let everything pass at once until Slow.
func Open(ctx context.Context, cfg Config) (*Cluster, error) {
	c := &Cluster{cfg: cfg}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cluster) open(ctx context.Context) (err error) {
	if c.dir, err = os.MkdirTemp("", "skarv-slow-"); err != nil {
		return err
	}
	c.Cluster, err = cluster.Open(dev.Config{
		NodeGroups: c.cfg.NodeGroups, Engine: datanode.MariaDB, DataDir: filepath.Join(c.dir, "dev"), Version: "bench", TCPBackends: true,
		MySQLAddr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", AdminAddr: "127.0.0.1:0",
		Variables: map[string]string{"max_connections": strconv.Itoa(c.cfg.MaxConnections)},
	})
	if err != nil {
		return err
	}
	if err := c.fill(ctx); err != nil {
		return err
	}
	for g := range c.cfg.NodeGroups {
		keys, err := c.keys(ctx, g+1)
		if err != nil {
			return err
		}
		c.Keys = append(c.Keys, keys)
	}
	return c.interpose(ctx)
}

func (c *Cluster) fill(ctx context.Context) error {
	db, err := sql.Open("mysql", c.DSN(""))
	if err != nil {
		return err
	}
	defer db.Close()
	for _, q := range c.cfg.Statements {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%.60s: %w", q, err)
		}
	}
	return nil
}

// keys finds the keys that live on a node group, counted from 1.
func (c *Cluster) keys(ctx context.Context, group int) (keys []int, err error) {
	db, err := sql.Open("mysql", c.NodeGroup(group, c.cfg.Database))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT id FROM "+c.cfg.Table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		keys = append(keys, id)
	}
	return keys, rows.Err()
}

// interpose puts a relay before every server.
func (c *Cluster) interpose(ctx context.Context) error {
	store, err := topology.Open(topology.Config{Endpoints: []string{c.Info().Etcd}})
	if err != nil {
		return err
	}
	defer store.Close()
	snap, err := store.Load(ctx)
	if err != nil {
		return err
	}
	for _, group := range snap.Groups {
		cfg := c.cfg.Relay
		cfg.To = group.Primary.Addr
		r, err := slowrelay.New(cfg)
		if err != nil {
			return err
		}
		c.Relays = append(c.Relays, r)
		changed, revision, err := store.Group(ctx, group.ID)
		if err != nil {
			return err
		}
		changed.Primary.Addr = r.Addr()
		if _, err := store.Change(nil).PutGroup(changed, revision).Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Slow sets the service time of all relays; with 0 they let everything pass at once.
func (c *Cluster) Slow(service time.Duration) {
	for _, r := range c.Relays {
		r.SetService(service)
	}
}

// Proxy is a process that serves clients at Addr.
type Proxy struct {
	Addr string
	Pid  int
}

// Serve starts a proxy and returns once it serves. more is further configuration.
func (c *Cluster) Serve(ctx context.Context, more string) (p Proxy, err error) {
	name := fmt.Sprint("proxy", len(c.proxies))
	var listeners [3]net.Listener
	for i := range listeners {
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return p, err
		}
	}
	for _, free := range listeners {
		_ = free.Close()
	}
	p.Addr = listeners[0].Addr().String()
	config := fmt.Sprintf("roles: [proxy]\nmysql: {addr: %q}\nhttp: {addr: %q}\nadmin: {addr: %q}\netcd: {endpoints: [%q]}\n%s",
		p.Addr, listeners[1].Addr(), listeners[2].Addr(), c.Info().Etcd, more)
	file := filepath.Join(c.dir, name+".yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return p, err
	}
	log, err := os.Create(filepath.Join(c.dir, name+".log"))
	if err != nil {
		return p, err
	}
	defer log.Close()
	cmd := exec.Command(c.cfg.Skarv, "serve", "--config", file)
	cmd.Stderr, cmd.SysProcAttr = log, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return p, err
	}
	p.Pid = cmd.Process.Pid
	c.proxies = append(c.proxies, cmd)
	for deadline := time.Now().Add(time.Minute); ; {
		conn, err := mysqlconn.Dial(ctx, mysqlconn.Config{Addr: p.Addr, User: "root", DB: c.cfg.Database})
		if err == nil {
			return p, conn.Close()
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			text, _ := os.ReadFile(log.Name())
			return p, fmt.Errorf("skarv serve: %w\n%s", err, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Close ends the proxies, the relays and the cluster.
func (c *Cluster) Close() (err error) {
	for _, cmd := range c.proxies {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
	}
	for _, r := range c.Relays {
		r.Close()
	}
	if c.Cluster != nil {
		err = c.Stop()
	}
	if c.dir != "" {
		_ = os.RemoveAll(c.dir)
	}
	return err
}
