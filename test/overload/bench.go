package main

import (
	"context"
	"crypto/sha1"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"skarv/pkg/datanode"
	"skarv/pkg/dev"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/topology"
	adminv1 "skarv/proto/admin/v1"
	"skarv/test/cluster"
	"skarv/test/slowrelay"
)

const (
	groups  = 4
	rows    = 4000
	workers = 8
	service = 10 * time.Millisecond
	// capacity of a group by its relay.
	capacity = float64(workers) / (float64(service) / float64(time.Second))
)

// bench is what a run has started, and its report.
type bench struct {
	skarv  string
	length time.Duration
	report strings.Builder

	dir     string
	cluster *cluster.Cluster
	relays  []*slowrelay.Relay
	keys    [groups][]int // by node group
	adapts  string        // address of a proxy as it is by default
	fixed   string        // of one whose limit does not follow the group
	started []*exec.Cmd
}

func (b *bench) start(ctx context.Context) (err error) {
	raiseFileLimit()
	if b.dir, err = os.MkdirTemp("", "skarv-overload-"); err != nil {
		return err
	}
	b.cluster, err = cluster.Open(dev.Config{
		NodeGroups: groups, Engine: datanode.MariaDB, DataDir: filepath.Join(b.dir, "dev"), Version: "bench", TCPBackends: true,
		MySQLAddr: "127.0.0.1:0", HTTPAddr: "127.0.0.1:0", AdminAddr: "127.0.0.1:0", Variables: map[string]string{"max_connections": "2000"},
	})
	if err != nil {
		return err
	}
	db, err := sql.Open("mysql", b.cluster.DSN(""))
	if err != nil {
		return err
	}
	defer db.Close()
	for _, q := range []string{"CREATE DATABASE ov", "CREATE TABLE ov.t (id INT PRIMARY KEY, v VARCHAR(40))"} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	for from := 0; from < rows; from += 500 {
		var values []string
		for id := from; id < from+500; id++ {
			values = append(values, fmt.Sprintf("(%d,'value %d')", id, id))
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO ov.t VALUES "+strings.Join(values, ",")); err != nil {
			return err
		}
	}
	for g := range b.keys {
		if err := b.readKeys(ctx, g); err != nil {
			return err
		}
	}
	if err := b.account(ctx); err != nil {
		return err
	}
	if err := b.interpose(ctx); err != nil {
		return err
	}
	if b.adapts, err = b.serve(ctx, "adapts", ""); err != nil {
		return err
	}
	b.fixed, err = b.serve(ctx, "fixed", "backend: {fixed_limit: true, acquire_timeout: 1m, max_queue: 100000}\n")
	return err
}

// readKeys finds the keys that live on a node group.
func (b *bench) readKeys(ctx context.Context, g int) error {
	db, err := sql.Open("mysql", b.cluster.NodeGroup(g+1, "ov"))
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT id FROM t")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		if err := rows.Scan(&id); err != nil {
			return err
		}
		b.keys[g] = append(b.keys[g], id)
	}
	return rows.Err()
}

const user, password = "app", "app"

// account makes an account that is no administrator's: those are let in whatever the limit is.
func (b *bench) account(ctx context.Context) error {
	conn, err := grpc.NewClient(b.cluster.AdminAddr(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	_, err = adminv1.NewAdminClient(conn).PutUser(ctx, &adminv1.PutUserRequest{
		Name: user, Mode: adminv1.PutUserRequest_MODE_ADD, Plugin: "mysql_native_password", AuthString: fmt.Sprintf("*%X", twice),
		Grants: map[string]string{"ov": "write"},
	})
	return err
}

// interpose puts a relay before every server.
func (b *bench) interpose(ctx context.Context) error {
	store, err := topology.Open(topology.Config{Endpoints: []string{b.cluster.Info().Etcd}})
	if err != nil {
		return err
	}
	defer store.Close()
	snap, err := store.Load(ctx)
	if err != nil {
		return err
	}
	for _, group := range snap.Groups {
		r, err := slowrelay.New(slowrelay.Config{To: group.Primary.Addr, Workers: workers, Marks: []string{"FROM t WHERE"}})
		if err != nil {
			return err
		}
		b.relays = append(b.relays, r)
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

// slow gives the groups a capacity, or with 0 takes it away.
func (b *bench) slow(service time.Duration) {
	for _, r := range b.relays {
		r.SetService(service)
	}
}

// serve starts a proxy and returns its address once it serves.
func (b *bench) serve(ctx context.Context, name, more string) (string, error) {
	var addrs [3]string
	var listeners []net.Listener
	for i := range addrs {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", err
		}
		addrs[i] = l.Addr().String()
		listeners = append(listeners, l)
	}
	for _, l := range listeners {
		_ = l.Close()
	}
	config := fmt.Sprintf("roles: [proxy]\nmysql: {addr: %q}\nhttp: {addr: %q}\nadmin: {addr: %q}\netcd: {endpoints: [%q]}\n%s",
		addrs[0], addrs[1], addrs[2], b.cluster.Info().Etcd, more)
	file := filepath.Join(b.dir, name+".yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return "", err
	}
	log, err := os.Create(filepath.Join(b.dir, name+".log"))
	if err != nil {
		return "", err
	}
	defer log.Close()
	cmd := exec.Command(b.skarv, "serve", "--config", file)
	cmd.Stderr, cmd.SysProcAttr = log, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	b.started = append(b.started, cmd)
	for deadline := time.Now().Add(time.Minute); ; {
		c, err := dial(ctx, addrs[0])
		if err == nil {
			return addrs[0], c.Close()
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			text, _ := os.ReadFile(log.Name())
			return "", fmt.Errorf("%s: %w\n%s", name, err, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func dial(ctx context.Context, addr string) (*mysqlconn.Conn, error) {
	return mysqlconn.Dial(ctx, mysqlconn.Config{Addr: addr, User: user, Password: password, DB: "ov"})
}

func (b *bench) stop() (err error) {
	for _, cmd := range b.started {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		kill.Stop()
	}
	for _, r := range b.relays {
		r.Close()
	}
	if b.cluster != nil {
		err = b.cluster.Stop()
	}
	if b.dir != "" {
		_ = os.RemoveAll(b.dir)
	}
	return err
}

// raiseFileLimit takes what it can get: each session has a socket here, one in the proxy and perhaps more behind.
func raiseFileLimit() {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) == nil {
		l.Cur = l.Max
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l)
	}
}
