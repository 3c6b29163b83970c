// Package dev runs a whole cluster on this machine in one process tree: an embedded etcd, data nodes with real
// MariaDB or MySQL servers, and a Skarv server with all roles. It is what `skarv dev` runs and what tests stand on. It
// knows how to assemble and in which order to start and stop, nothing else.
package dev

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/datanode"
	"skarv/pkg/server"
)

// Config describes a local cluster. The zero Config is four node groups of whatever server is found, in a temporary
// directory, on free ports.
type Config struct {
	// NodeGroups is how many node groups there are; 0: as many as DataDir has, or 4.
	NodeGroups int
	Engine     datanode.Engine // "" is auto
	// ServerBinary is the database server to run; empty: look for one of Engine.
	ServerBinary string
	// Replicas of each node group that is made in the beginning; 0: as many as DataDir has, or none. With any the servers are reached by TCP.
	Replicas int
	// DataDir keeps everything; empty: a temporary directory, removed at the end.
	DataDir string
	// The addresses to listen on; port 0, or an empty address, is a free port. Loopback only.
	MySQLAddr, HTTPAddr, AdminAddr string
	// TCPBackends has the proxy reach the database servers by TCP instead of their Unix sockets.
	TCPBackends bool
	// Variables are further settings of every database server.
	Variables map[string]string
	// Tune, if not nil, may change the server's configuration before it is used.
	Tune func(*server.Config)
	// Options, if not nil, may change how the server is made; for tests.
	Options func(*server.Options)
	// Progress, if not nil, is told what has been achieved while starting, one step at a time.
	Progress func(step string)
	Version  string
	// Log is used instead of the file skarv.log in the data directory.
	Log *slog.Logger
}

// Info says where a running cluster can be reached. It is what `skarv dev --json` prints.
type Info struct {
	MySQLAddr     string      `json:"mysql_addr"`
	HTTPAddr      string      `json:"http_addr"`
	AdminAddr     string      `json:"admin_addr"`
	Etcd          string      `json:"etcd"`
	Engine        string      `json:"engine"`
	ServerVersion string      `json:"server_version"`
	NodeGroups    []NodeGroup `json:"node_groups"`
	DataDir       string      `json:"data_dir"`
	LogFile       string      `json:"log_file,omitempty"`
	Pid           int         `json:"pid"`
}

// NodeGroup is one node group of Info. Root may log in through Socket without a password.
type NodeGroup struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Addr   string `json:"addr"`
	Socket string `json:"socket"`
	Pid    int    `json:"pid"`
	Dir    string `json:"dir"`
	// Replicas are the addresses of the group's other servers.
	Replicas []string `json:"replicas,omitempty"`
}

// Cluster is a local cluster. New checks, Run lives.
type Cluster struct {
	cfg    Config
	binary datanode.Binary
	dir    *directory
	nodes  []*datanode.Node
	// replicas are the further servers of the first nodes, in the order of these.
	replicas [][]*datanode.Node
	log      *slog.Logger
	logFile  *os.File
	ready    chan struct{}

	progressMu sync.Mutex

	below below

	mu     sync.Mutex
	etcd   *etcd
	server *server.Server
}

const (
	defaultGroups = 4
	maxGroups     = 64
	maxReplicas   = 3
	readyTimeout  = 30 * time.Second
)

// New checks all that can be checked before anything is started and takes the data directory. The caller must call
// Run.
func New(ctx context.Context, cfg Config) (_ *Cluster, err error) {
	switch {
	case cfg.Replicas < 0 || cfg.Replicas > maxReplicas:
		return nil, fmt.Errorf("%d replicas: must be 0 to %d", cfg.Replicas, maxReplicas)
	case cfg.NodeGroups < 0 || cfg.NodeGroups > maxGroups:
		return nil, fmt.Errorf("%d node groups: must be 1 to %d", cfg.NodeGroups, maxGroups)
	}
	for _, a := range []*string{&cfg.MySQLAddr, &cfg.HTTPAddr, &cfg.AdminAddr} {
		if *a == "" {
			*a = "127.0.0.1:0"
		}
	}
	for _, a := range []struct{ flag, addr string }{
		{"--mysql-addr", cfg.MySQLAddr}, {"--http-addr", cfg.HTTPAddr}, {"--admin-addr", cfg.AdminAddr},
	} {
		if err := checkAddr(a.flag, a.addr); err != nil {
			return nil, err
		}
	}
	c := &Cluster{cfg: cfg, log: cfg.Log, ready: make(chan struct{})}
	if c.dir, err = openDirectory(cfg.DataDir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if c.log == nil {
		c.logFile, err = os.OpenFile(c.dir.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("log of the cluster: %w", err)
		}
		c.log = slog.New(slog.NewTextHandler(c.logFile, nil))
	}
	if err := c.findServer(ctx); err != nil {
		return nil, err
	}
	if err := c.openNodes(); err != nil {
		return nil, err
	}
	return c, nil
}

// checkAddr says early what would fail late: an address that is no address, not this machine's alone, or in use.
func checkAddr(flag, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%s %s: must be HOST:PORT", flag, addr)
	}
	ip := net.ParseIP(host)
	if host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("%s %s: `skarv dev` has a root account without password and listens on loopback only; use 127.0.0.1", flag, addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		return fmt.Errorf("%s %s cannot be listened on: %w; choose another address, or port 0 for a free one", flag, addr, err)
	}
	return l.Close()
}

// findServer decides which database server to run, and for how many node groups.
func (c *Cluster) findServer(ctx context.Context) error {
	engine := c.cfg.Engine
	if engine == "" {
		engine = datanode.Auto
	}
	m := &c.dir.marker
	if !c.dir.fresh {
		if engine != datanode.Auto && string(engine) != string(m.Engine) {
			return fmt.Errorf("data directory %s belongs to %s, not %s", c.dir.path, m.Engine, engine)
		}
		engine = datanode.Engine(m.Engine)
		if c.cfg.NodeGroups != 0 && c.cfg.NodeGroups != m.NodeGroups {
			return fmt.Errorf("data directory %s has %d node groups, not %d", c.dir.path, m.NodeGroups, c.cfg.NodeGroups)
		}
		if c.cfg.Replicas != 0 && c.cfg.Replicas != m.Replicas {
			return fmt.Errorf("data directory %s has %d replicas of each node group, not %d", c.dir.path, m.Replicas, c.cfg.Replicas)
		}
		c.cfg.Replicas = m.Replicas
	}
	c.cfg.TCPBackends = c.cfg.TCPBackends || c.cfg.Replicas > 0
	var err error
	if c.binary, err = datanode.Find(ctx, engine, c.cfg.ServerBinary); err != nil {
		return err
	}
	if !c.dir.fresh {
		c.cfg.NodeGroups = m.NodeGroups
		return nil
	}
	if c.cfg.NodeGroups == 0 {
		c.cfg.NodeGroups = defaultGroups
	}
	*m = marker{Format: markerFormat, Engine: c.binary.Flavor, NodeGroups: c.cfg.NodeGroups, Replicas: c.cfg.Replicas, Created: time.Now().UTC()}
	return c.dir.save()
}

func (c *Cluster) openNodes() error {
	for i := 1; i <= c.cfg.NodeGroups; i++ {
		removed := c.groupOf(i-1) == 0
		if removed {
			if err := os.RemoveAll(c.dir.node(i, 0)); err != nil {
				return err
			}
		}
		n, err := c.openNode(i, 0)
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, n)
		if err := c.openReplicas(i, removed); err != nil {
			return err
		}
		if c.dir.marker.Complete && !removed && n.Status().State == datanode.Uninitialised {
			return fmt.Errorf("data directory %s is damaged: node group %d has lost its data in %s", c.dir.path, i, c.dir.node(i, 0))
		}
	}
	if _, err := os.Stat(filepath.Join(c.dir.path, etcdDir, "member")); c.dir.marker.Complete && err != nil {
		return fmt.Errorf("data directory %s is damaged: etcd has lost its data: %w", c.dir.path, err)
	}
	return nil
}

// close gives back what New took, if Run is not to do it.
func (c *Cluster) close() {
	for _, n := range c.allNodes() {
		_ = n.Close()
	}
	if c.logFile != nil {
		_ = c.logFile.Close()
	}
	_ = c.dir.close()
}

func (c *Cluster) progress(format string, args ...any) {
	if c.cfg.Progress == nil {
		return
	}
	c.progressMu.Lock() // servers start side by side, their steps are told one after the other
	defer c.progressMu.Unlock()
	c.cfg.Progress(fmt.Sprintf(format, args...))
}

// Ready is closed when the cluster serves clients.
func (c *Cluster) Ready() <-chan struct{} { return c.ready }

// Node returns the data node of a node group, counted from 1.
func (c *Cluster) Node(group int) *datanode.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[group-1]
}

// Server returns the Skarv server, or nil before Ready.
func (c *Cluster) Server() *server.Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server
}

// Info says where the cluster is reached; call it after Ready.
func (c *Cluster) Info() Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	info := Info{Engine: string(c.binary.Flavor), DataDir: c.dir.path, Pid: os.Getpid()}
	if c.logFile != nil {
		info.LogFile = c.logFile.Name()
	}
	if c.etcd != nil {
		info.Etcd = c.etcd.endpoint()
	}
	if c.server != nil {
		info.MySQLAddr, info.HTTPAddr, info.AdminAddr = c.server.MySQLAddr(), c.server.HTTPAddr(), c.server.AdminAddr()
	}
	for i, n := range c.nodes {
		s := n.Status()
		if c.groupOf(i) == 0 {
			continue
		}
		info.ServerVersion = s.Version
		var replicas []string
		for _, r := range c.replicasOf(i) {
			replicas = append(replicas, r.Status().Addr)
		}
		info.NodeGroups = append(info.NodeGroups, NodeGroup{
			ID: int(c.groupOf(i)), Name: groupName(int(c.groupOf(i))), Addr: s.Addr, Socket: s.Socket, Pid: s.Pid, Dir: s.Dir, Replicas: replicas,
		})
	}
	return info
}

func groupName(i int) string { return fmt.Sprintf("ng%d", i) }

// Run starts everything, serves until ctx ends, and stops everything: first the proxy, so that clients' statements
// end, then servers and etcd. It returns after all has ended.
func (c *Cluster) Run(ctx context.Context) (err error) {
	began := time.Now()
	base, stopBase := context.WithCancel(context.WithoutCancel(ctx))
	below, base := errgroup.WithContext(base)
	defer func() {
		stopBase()
		if berr := below.Wait(); err == nil || errors.Is(err, errDown) && berr != nil {
			err = berr
		}
		if c.logFile != nil {
			_ = c.logFile.Close()
		}
		if derr := c.dir.close(); err == nil {
			err = derr
		}
	}()
	for _, n := range c.allNodes() {
		below.Go(func() error { return n.Run(base) })
	}
	c.below.ctx, c.below.group = base, below
	if err := c.startBelow(ctx, base, below); err != nil {
		return quiet(ctx, err)
	}
	options := server.Options{Version: c.cfg.Version, Log: c.log, Nodes: c}
	if c.cfg.Options != nil {
		c.cfg.Options(&options)
	}
	srv, err := server.New(c.serverConfig(), options)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.server = srv
	c.mu.Unlock()

	above, ctx := errgroup.WithContext(ctx)
	above.Go(func() error { return srv.Run(ctx) })
	above.Go(func() error { // an etcd that ends takes the cluster along
		select {
		case <-base.Done():
			return errDown // the cause is told by who ended
		case <-ctx.Done():
			return nil
		}
	})
	above.Go(func() error {
		if err := c.awaitReady(ctx, srv); err != nil {
			return quiet(ctx, err)
		}
		c.log.Info("cluster is ready", "duration", time.Since(began), "mysql_addr", srv.MySQLAddr())
		close(c.ready)
		return nil
	})
	return quiet(ctx, above.Wait())
}

// quiet drops an error that is only the end that was asked for.
func quiet(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// startBelow brings etcd and all servers up at the same time, then makes the cluster of them.
func (c *Cluster) startBelow(ctx, base context.Context, below *errgroup.Group) error {
	began := time.Now()
	c.progress("%d node groups of %s %s in %s", len(c.nodes), engineName(c.binary.Flavor), c.binary.Version, c.dir.path)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		e, err := startEtcd(gctx, c.dir.path, !c.dir.temporary)
		if err != nil {
			return err
		}
		below.Go(func() error { return e.run(base) })
		c.mu.Lock()
		c.etcd = e
		c.mu.Unlock()
		c.progress("etcd is up")
		return nil
	})
	for i, n := range c.nodes {
		if c.groupOf(i) == 0 {
			continue // it was removed from the cluster
		}
		g.Go(func() error {
			for _, n := range append([]*datanode.Node{n}, c.replicasOf(i)...) {
				err := n.Initialise(gctx)
				if err == nil {
					err = n.Start(gctx)
				}
				if err != nil {
					return fmt.Errorf("node group %d: %w", i+1, err)
				}
			}
			if err := c.linkReplicas(gctx, i); err != nil {
				return fmt.Errorf("replicas of node group %d: %w", i+1, err)
			}
			c.progress("node group %d is up", i+1)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err // the first one; the others only followed
	}
	c.log.Info("etcd and servers are up", "duration", time.Since(began))
	if err := c.makeCluster(ctx); err != nil || c.dir.marker.Complete {
		return err
	}
	c.dir.marker.Complete = true
	return c.dir.save()
}

func engineName(f catalog.Flavor) string {
	if f == catalog.MySQL {
		return "MySQL"
	}
	return "MariaDB"
}

func (c *Cluster) serverConfig() server.Config {
	cfg := server.DefaultConfig()
	cfg.MySQL.Addr, cfg.HTTP.Addr, cfg.Admin.Addr = c.cfg.MySQLAddr, c.cfg.HTTPAddr, c.cfg.AdminAddr
	cfg.Etcd.Endpoints = []string{c.etcd.endpoint()}
	if c.cfg.Tune != nil {
		c.cfg.Tune(&cfg)
	}
	return cfg
}
