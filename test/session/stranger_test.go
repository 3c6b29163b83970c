package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/fence"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/server"
	"skarv/pkg/topology"
	"skarv/pkg/txn"
	"skarv/test/cluster"
)

// A server that was emptied, and made anew at its node group's address, does not answer for the group, and nothing is written to it,
// until what the group had is there again.
func TestEmptiedServer(t *testing.T) {
	c := cluster.Start(t, cluster.Tune(func(cfg *server.Config) { cfg.Backend.FailAfter = server.Duration(2 * time.Second) }))
	db := connectTo(t, c.DSN(""))
	db.exec("CREATE DATABASE d")
	db.exec("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
	for id := range 20 {
		db.exec(fmt.Sprintf("INSERT INTO d.t VALUES (%d, 0)", id))
	}
	node := c.Node(2)
	user, password := node.Account()
	require.NoError(t, node.Erase(t.Context()))
	require.NoError(t, node.Initialise(t.Context()))
	require.NoError(t, node.Start(t.Context()))
	bare := connectTo(t, c.NodeGroup(2, ""))
	bare.exec(fmt.Sprintf("ALTER USER '%s'@'%s' IDENTIFIED BY '%s'", user, bare.get("SELECT host FROM mysql.user WHERE user = ?", user), password))
	says := func() int {
		refused := 0
		for id := range 20 {
			for _, q := range []string{"SELECT v FROM d.t WHERE id = %d", "UPDATE d.t SET v = v WHERE id = %d", "INSERT INTO d.t VALUES (%d + 100, 0)"} {
				if _, err := db.try(fmt.Sprintf(q, id)); err != nil && !strings.Contains(err.Error(), "Duplicate") {
					require.ErrorContains(t, err, "is another one than the node group's, or was emptied")
					require.ErrorContains(t, err, "Error 1430")
					refused++
				}
			}
		}
		return refused
	}
	require.Eventually(t, func() bool {
		_, err := db.try("SELECT COUNT(*) FROM d.t")
		require.Error(t, err)
		return strings.Contains(err.Error(), "is another one than the node group's, or was emptied")
	}, time.Minute, tick)
	require.Positive(t, says())
	require.Eventually(t, func() bool {
		_, status := c.Get(t, "/api/status")
		return strings.Contains(status, "is another one than the node group's, or was emptied")
	}, time.Minute, tick)
	require.Positive(t, says())
	require.Equal(t, "0", bare.get("SELECT COUNT(*) FROM mysql.user WHERE user LIKE 'skarv\\_w%'"))
	require.Equal(t, "0", bare.get("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name IN ('d', '_skarv')"))

	// Nor does another node group's.
	mark := connectTo(t, c.NodeGroup(1, "")).get(fence.MarkOf)
	for _, q := range slices.Concat(txn.Schema(), fence.Marking(mark), []string{"CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)"}) {
		bare.exec(q)
	}
	require.Positive(t, says())
	store, err := topology.Open(topology.Config{Endpoints: []string{c.Info().Etcd}})
	require.NoError(t, err)
	defer store.Close()
	group, _, err := store.Group(t.Context(), 2)
	require.NoError(t, err)
	require.NotEqual(t, mark, group.Mark)
	bare.exec("UPDATE _skarv.node_group SET mark = ?", group.Mark)
	require.Eventually(t, func() bool { return says() == 0 }, time.Minute, tick)

	// New connections look at it themselves, however quickly servers change places.
	bare.exec("UPDATE _skarv.node_group SET mark = ?", mark)
	endConnections(t, c.NodeGroupDB(t, 2, ""), "user = 'skarv_w1'")
	require.Positive(t, says())
}

// A proxy whose account is gone from a server makes it again, and its clients notice nothing: the server was given up by the cluster and
// has joined it again, for one.
func TestAccountOfProxyIsMadeAgain(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(1))
	db, bare := connectTo(t, c.DSN("")), connectTo(t, c.NodeGroup(1, ""))
	for _, left := range [][]string{{"DROP USER skarv_w1"}, {"DROP TABLE _skarv.slot"}, {"DROP USER skarv_w1", "DROP TABLE _skarv.slot"}, {"DELETE FROM _skarv.slot"},
		{"UPDATE _skarv.slot SET incarnation = incarnation - 1, fenced = 1"}} {
		require.Equal(t, "0", db.get("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'd'"))
		for _, q := range left {
			bare.exec(q)
		}
		endConnections(t, c.NodeGroupDB(t, 1, ""), "user = 'skarv_w1'")
		db.exec("CREATE DATABASE IF NOT EXISTS d")
		require.Equal(t, "1", db.get("SELECT GET_LOCK('a', 0)"), left)
		require.Equal(t, "1", db.get("SELECT RELEASE_LOCK('a')"))
		require.Equal(t, "1", bare.get("SELECT COUNT(*) FROM mysql.user WHERE user = 'skarv_w1'"), left)
	}

	// One that was shut out does not come back by that: it takes another slot, and its clients connect anew.
	store, err := topology.Open(topology.Config{Endpoints: []string{c.Info().Etcd}})
	require.NoError(t, err)
	defer store.Close()
	slots, _, err := store.Slots(t.Context())
	require.NoError(t, err)
	require.Len(t, slots, 1)
	held, err := store.HoldsSlot(t.Context(), 1, slots[0].Incarnation)
	require.NoError(t, err)
	require.True(t, held)
	fenced := slots[0]
	fenced.Fenced = true
	_, err = store.Change(nil).PutSlot(&fenced, slots[0].Revision).Commit(t.Context())
	require.NoError(t, err)
	held, err = store.HoldsSlot(t.Context(), 1, slots[0].Incarnation)
	require.NoError(t, err)
	require.False(t, held)
	require.Eventually(t, func() bool { _, err := db.try("DO 1"); return err != nil }, time.Minute, tick)
	require.Eventually(t, func() bool { // it may be the number that it had, once that is free again
		now, _, err := store.Slots(t.Context())
		require.NoError(t, err)
		return slices.ContainsFunc(now, func(s topology.Slot) bool { return !s.Fenced && s.Incarnation > fenced.Incarnation }) && ping(c.DSN("")) == nil
	}, time.Minute, tick)
}

// A server that has forgotten a slot may have forgotten that it was fenced: the account is made again only if the cluster's state says that the
// slot is still held.
func TestForgottenSlot(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(1))
	bare := connectTo(t, c.NodeGroup(1, ""))
	store, err := topology.Open(topology.Config{Endpoints: []string{c.Info().Etcd}})
	require.NoError(t, err)
	defer store.Close()
	group, _, err := store.Group(t.Context(), 1)
	require.NoError(t, err)
	held, lost := true, false
	var asks error
	dial := func(ctx context.Context, g *catalog.NodeGroup) (*mysqlconn.Conn, error) {
		return mysqlconn.Dial(ctx, mysqlconn.Config{Addr: g.Primary.Addr, User: g.Primary.User, Password: g.Primary.Password})
	}
	h := fence.NewHolder(fence.HolderConfig{
		Dial: dial, Lost: func() { lost = true }, Held: func(_ context.Context, s fence.Slot) (bool, error) { return held && s.N == 700, asks },
	})
	h.Use(&fence.Slot{N: 700, Incarnation: 5, Secret: []byte("x")})
	admitted := func() error {
		for {
			user, password, err := h.Account(t.Context(), group)
			if err != nil {
				return err
			}
			_, err = mysqlconn.Dial(t.Context(), mysqlconn.Config{Addr: group.Primary.Addr, User: user, Password: password, Check: func(c *mysqlconn.Conn) error {
				return h.Admit(c, group, user)
			}})
			if err == nil || !h.Refused(group, user, err) {
				return err
			}
		}
	}
	require.NoError(t, admitted())
	asks = errors.New("etcd is not there")
	bare.exec("DROP USER skarv_w700")
	require.NoError(t, admitted(), "the server knows that the slot was not fenced")
	bare.exec("DELETE FROM _skarv.slot WHERE n = 700")
	require.ErrorIs(t, admitted(), asks)
	asks = nil
	require.NoError(t, admitted())
	bare.exec("DELETE FROM _skarv.slot WHERE n = 700")
	held = false
	require.ErrorIs(t, admitted(), fence.ErrFenced)
	require.True(t, lost)
	require.Equal(t, "0", bare.get("SELECT COUNT(*) FROM _skarv.slot WHERE n = 700"))
	for _, row := range []string{"(700, 5, 1)", "(700, 6, 0)"} { // shut out, and another one's
		held, lost = true, false
		bare.exec("REPLACE INTO _skarv.slot VALUES " + row)
		h.Use(&fence.Slot{N: 700, Incarnation: 5, Secret: []byte("x")})
		require.ErrorIs(t, admitted(), fence.ErrFenced)
		require.True(t, lost)
	}
}

// Clients of a cluster that was given up are told so, and not that their passwords are wrong.
func TestClusterIsGivenUp(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(1))
	db, other := connectTo(t, c.DSN("")), connectTo(t, c.DSN(""))
	store, err := topology.Open(topology.Config{Endpoints: []string{c.Info().Etcd}})
	require.NoError(t, err)
	defer store.Close()
	snap, err := store.Load(t.Context())
	require.NoError(t, err)
	_, err = store.Change(nil).DropCluster(snap.Revision).Commit(t.Context())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return ping(c.DSN("")) != nil }, patience, tick)
	require.ErrorContains(t, ping(c.DSN("")), "there is no cluster")
	for _, c := range []*client{db, other} {
		_, err = c.try("SELECT 1")
		require.ErrorContains(t, err, "there is no cluster")
	}
}
