package main

import (
	"context"
	"crypto/sha1"
	"fmt"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"skarv/pkg/mysqlconn"
	adminv1 "skarv/proto/admin/v1"
	"skarv/test/slowcluster"
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

	cluster *slowcluster.Cluster
	adapts  string // address of a proxy as it is by default
	fixed   string // of one whose limit does not follow the group
}

func (b *bench) start(ctx context.Context) (err error) {
	raiseFileLimit()
	statements := []string{"CREATE DATABASE ov", "CREATE TABLE ov.t (id INT PRIMARY KEY, v VARCHAR(40))"}
	for from := 0; from < rows; from += 500 {
		var values []string
		for id := from; id < from+500; id++ {
			values = append(values, fmt.Sprintf("(%d,'value %d')", id, id))
		}
		statements = append(statements, "INSERT INTO ov.t VALUES "+strings.Join(values, ","))
	}
	b.cluster, err = slowcluster.Open(ctx, slowcluster.Config{
		NodeGroups: groups, Skarv: b.skarv, Relay: slowrelay.Config{Workers: workers, Marks: []string{"FROM t WHERE"}},
		MaxConnections: 2000, Statements: statements, Database: "ov", Table: "t",
	})
	if err != nil {
		return err
	}
	if err := b.account(ctx); err != nil {
		return err
	}
	adapts, err := b.cluster.Serve(ctx, "")
	if err != nil {
		return err
	}
	fixed, err := b.cluster.Serve(ctx, "backend: {fixed_limit: true, acquire_timeout: 1m, max_queue: 100000}\n")
	b.adapts, b.fixed = adapts.Addr, fixed.Addr
	return err
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

func dial(ctx context.Context, addr string) (*mysqlconn.Conn, error) {
	return mysqlconn.Dial(ctx, mysqlconn.Config{Addr: addr, User: user, Password: password, DB: "ov"})
}

func (b *bench) stop() error {
	if b.cluster == nil {
		return nil
	}
	return b.cluster.Close()
}

// raiseFileLimit takes what it can get: each session has a socket here, one in the proxy and perhaps more behind.
func raiseFileLimit() {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) == nil {
		l.Cur = l.Max
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l)
	}
}
