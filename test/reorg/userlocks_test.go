package reorg

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
	"skarv/pkg/server"
	"skarv/test/cluster"

	adminv1 "skarv/proto/admin/v1"
)

// another starts a further proxy of a cluster, and returns its clients.
func another(t *testing.T, c *cluster.Cluster) *sql.DB {
	t.Helper()
	cfg := server.DefaultConfig()
	cfg.Etcd.Endpoints = []string{c.Info().Etcd}
	cfg.MySQL.Addr, cfg.HTTP.Addr, cfg.Admin.Addr = "127.0.0.1:0", "", "127.0.0.1:0"
	cfg.Roles = []server.Role{server.RoleProxy}
	s, err := server.New(cfg, server.Options{Version: "second"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	require.Eventually(t, func() bool { return s.Ready() == nil }, time.Minute, 10*time.Millisecond)
	db, err := sql.Open("mysql", "root@tcp("+s.MySQLAddr()+")/")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// The node group that has the user-level locks does not leave while a client has some, whatever process it is connected to. Nobody ever
// has a lock that another one has.
func TestFirstGroupLeavesWithoutUserLevelLocks(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(2))
	s := store(t, c)
	conn := func(db *sql.DB) *sql.Conn {
		t.Helper()
		one, err := db.Conn(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { _ = one.Close() })
		return one
	}
	value := func(c *sql.Conn, query string) (v string) {
		t.Helper()
		require.NoError(t, c.QueryRowContext(t.Context(), query).Scan(&v), query)
		return v
	}
	a, b := conn(c.DB(t, "")), conn(another(t, c))
	m, _, err := s.Map(t.Context())
	require.NoError(t, err)
	var moves []placement.Move
	for _, p := range m.Owned(1) {
		moves = append(moves, placement.Move{Partition: p, From: 1, To: 2})
	}
	publish(t, s, moves)
	api := adminv1.NewAdminClient(c.Admin(t))
	remove := func() error {
		_, err := api.RemoveNodeGroup(t.Context(), &adminv1.RemoveNodeGroupRequest{NodeGroup: "1"})
		return err
	}

	require.Equal(t, "1", value(b, "SELECT GET_LOCK('job', 0)"))
	require.ErrorContains(t, remove(), "clients have some: "+value(b, "SELECT CONNECTION_ID()")+" (root at ")
	assert.Equal(t, "0", value(a, "SELECT GET_LOCK('job', 0)"))
	assert.Equal(t, "1", value(a, "SELECT GET_LOCK('other', 0)"), "it is as before")
	assert.Equal(t, "1", value(a, "SELECT RELEASE_LOCK('other')"))

	removed := make(chan error, 1)
	go func() { removed <- remove() }()
	require.Eventually(t, func() bool {
		m, _, err := s.Map(t.Context())
		require.NoError(t, err)
		return m.LocksFrozen() > 0
	}, time.Minute, 5*time.Millisecond)
	asked := make(chan string, 1)
	go func() { asked <- value(a, "SELECT GET_LOCK('job', 60)") }() // waits for the node group to leave
	assert.Equal(t, "1", value(b, "SELECT IS_USED_LOCK('job') = CONNECTION_ID()"), "who has one uses it")
	assert.Equal(t, "1", value(b, "SELECT RELEASE_LOCK('job')"))
	require.NoError(t, <-removed)
	require.Equal(t, "1", <-asked)
	assert.Equal(t, "0", value(b, "SELECT GET_LOCK('job', 0)"))
	assert.Equal(t, "1", value(a, "SELECT RELEASE_LOCK('job')"))
	assert.Equal(t, "1", value(b, "SELECT GET_LOCK('job', 0)"))
	assert.Equal(t, "1", text(t, c.NodeGroupDB(t, 2, ""), "SELECT IS_USED_LOCK('job') > 0"))
}

// Locks that were frozen by who is gone are thawed by the processes that wait.
func TestFrozenUserLevelLocksThaw(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(1))
	s := store(t, c)
	m, revision, err := s.Map(t.Context())
	require.NoError(t, err)
	frozen, err := m.FreezeLocks(time.Second)
	require.NoError(t, err)
	_, err = s.Change(nil).PutMap(frozen, revision).Commit(t.Context())
	require.NoError(t, err)
	_, err = s.AwaitDrained(t.Context(), frozen.Epoch())
	require.NoError(t, err)
	assert.Equal(t, "1", text(t, c.DB(t, ""), "SELECT GET_LOCK('job', 0)"))
	m, _, err = s.Map(t.Context())
	require.NoError(t, err)
	assert.Zero(t, m.LocksFrozen())
}

// A table that is made on the first node group while it waits to leave keeps it in the cluster.
func TestFirstGroupLeavesWithoutTables(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(2))
	s := store(t, c)
	db := c.DB(t, "")
	exec(t, db, "CREATE DATABASE d")
	m, _, err := s.Map(t.Context())
	require.NoError(t, err)
	var moves []placement.Move
	for _, p := range m.Owned(1) {
		moves = append(moves, placement.Move{Partition: p, From: 1, To: 2})
	}
	publish(t, s, moves)
	holder, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer holder.Close()
	locks := func(query string) {
		t.Helper()
		var one int
		require.NoError(t, holder.QueryRowContext(t.Context(), query).Scan(&one))
		require.Equal(t, 1, one)
	}
	locks("SELECT GET_LOCK('job', 0)")
	removed := make(chan error, 1)
	go func() {
		_, err := adminv1.NewAdminClient(c.Admin(t)).RemoveNodeGroup(t.Context(), &adminv1.RemoveNodeGroupRequest{NodeGroup: "1"})
		removed <- err
	}()
	require.Eventually(t, func() bool {
		m, _, err := s.Map(t.Context())
		require.NoError(t, err)
		return m.LocksFrozen() > 0
	}, time.Minute, 5*time.Millisecond)
	exec(t, db, "CREATE TABLE d.s (id INT PRIMARY KEY) COMMENT 'skarv:single'")
	exec(t, db, "INSERT INTO d.s VALUES (1)")
	locks("SELECT RELEASE_LOCK('job')")
	require.ErrorContains(t, <-removed, "single tables live on node group ng1: d.s")
	require.Equal(t, "1", text(t, db, "SELECT id FROM d.s"))
	locks("SELECT GET_LOCK('job', 0)")
}
