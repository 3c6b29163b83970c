package takeover

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
	"skarv/pkg/topology"
	"skarv/pkg/topology/etcdtest"
	"skarv/test/nodes"
)

var servers []*nodes.Server

func TestMain(m *testing.M) { os.Exit(nodes.Main(m, 1, &servers)) }

// importing is a server with a table that needs a global index, and an etcd without a cluster.
func importing(t *testing.T) (*topology.Store, *nodes.Server, ImportRequest) {
	s := servers[0]
	s.Clear(t)
	t.Cleanup(func() { s.Clear(t) })
	s.Exec(t, "CREATE DATABASE shop")
	s.Exec(t, "CREATE TABLE shop.person (id INT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(40), UNIQUE KEY email (email)) ENGINE=InnoDB")
	s.Exec(t, "INSERT INTO shop.person (email) VALUES ('a'), ('b'), (NULL), ('d')")
	e := etcdtest.Start(t)
	store, err := topology.Open(topology.Config{Endpoints: []string{e.Endpoint()}})
	require.NoError(t, err)
	t.Cleanup(func() { store.Close() })
	return store, s, ImportRequest{Group: control.GroupSpec{Primary: s.Node()}, Connected: true}
}

// begins reports whether an import's step is a given one, whatever it counts.
func begins(step string) func(string) bool {
	return func(s string) bool { return strings.HasPrefix(s, step) }
}

// An import that dies at any step leaves no cluster and the tables as they were; the next one does all of it.
func TestImportInterrupted(t *testing.T) {
	store, s, req := importing(t)
	before := s.Value(t, "SELECT GROUP_CONCAT(id, COALESCE(email, 0) ORDER BY id) FROM shop.person")
	for _, step := range []string{"looking", "reading", "waiting until nobody", "global index", "writing the catalog"} {
		ctx, die := context.WithCancel(t.Context())
		is := begins(step)
		_, err := Import(ctx, store, req, func(s string) {
			if is(s) {
				die()
			}
		})
		require.Error(t, err, step)
		_, revision, err := store.Cluster(t.Context())
		require.NoError(t, err)
		require.Equal(t, topology.Absent, revision, step)
		snap, err := store.Load(t.Context())
		require.NoError(t, err)
		require.Empty(t, snap.Groups)
	}
	r, err := Import(t.Context(), store, req, nil)
	require.NoError(t, err)
	require.Equal(t, before, s.Value(t, "SELECT GROUP_CONCAT(id, COALESCE(email, 0) ORDER BY id) FROM shop.person"))
	snap, err := store.Load(t.Context())
	require.NoError(t, err)
	require.Equal(t, r.ClusterID, snap.ClusterID)
	require.Len(t, snap.Map.Owned(firstGroup), placement.Partitions)
	person := snap.Table("shop", "person")
	require.Len(t, person.Global, 1)
	require.Equal(t, "3", s.Value(t, "SELECT COUNT(*) FROM "+person.Global[0].Entries.SQL()))
	require.Equal(t, "1", s.Value(t, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '_skarv' AND table_name LIKE 'uq\\_%'"))
	next, err := store.Sequence(t.Context(), person.ID)
	require.NoError(t, err)
	require.EqualValues(t, 5, next)
	_, err = Import(t.Context(), store, req, nil)
	require.ErrorIs(t, err, control.ErrExists)
}

// An import that has lost its locks, so that others may have written past its global indexes, makes no cluster.
func TestImportLosesItsLocks(t *testing.T) {
	store, s, req := importing(t)
	is, killed := begins("writing the catalog"), 0
	_, err := Import(t.Context(), store, req, func(step string) {
		if !is(step) {
			return
		}
		rows, err := s.DB.Query("SELECT id FROM information_schema.processlist WHERE user <> 'system user' AND id <> CONNECTION_ID()")
		require.NoError(t, err)
		var ids []int
		for rows.Next() {
			var id int
			require.NoError(t, rows.Scan(&id))
			ids = append(ids, id)
		}
		require.NoError(t, rows.Err())
		for _, id := range ids {
			if _, err := s.DB.Exec(fmt.Sprintf("KILL %d", id)); err == nil {
				killed++
			}
		}
		s.Exec(t, "INSERT INTO shop.person (email) VALUES ('late')")
	})
	require.NotZero(t, killed)
	require.ErrorContains(t, err, "the locks of the tables were lost before the cluster was made")
	_, revision, err := store.Cluster(t.Context())
	require.NoError(t, err)
	require.Equal(t, topology.Absent, revision)
	_, err = Import(t.Context(), store, req, nil)
	require.NoError(t, err)
}

// Of two imports at the same time one makes the cluster, and the other one changes nothing of it.
func TestImportTwice(t *testing.T) {
	store, _, req := importing(t)
	is, ran := begins("writing the catalog"), false
	_, err := Import(t.Context(), store, req, func(s string) {
		if is(s) && !ran {
			ran = true
			_, err := store.Change(nil).PutRecord(topology.Claims, claimID, []byte("another"), topology.Any).Commit(t.Context())
			require.NoError(t, err)
		}
	})
	require.ErrorContains(t, err, "another import has begun")
	_, revision, err := store.Cluster(t.Context())
	require.NoError(t, err)
	require.Equal(t, topology.Absent, revision)
}

// Leaving that dies goes on where it was; what is left is a plain server.
func TestLeaveInterrupted(t *testing.T) {
	store, s, req := importing(t)
	_, err := Leave(t.Context(), store, schema.Dialer{}, false, nil)
	require.ErrorIs(t, err, topology.ErrNoCluster)
	_, err = Import(t.Context(), store, req, nil)
	require.NoError(t, err)
	snap, err := store.Load(t.Context())
	require.NoError(t, err)
	id := snap.Table("shop", "person").ID
	_, err = store.Allocate(t.Context(), id, 100)
	require.NoError(t, err)
	s.Exec(t, "CREATE USER 'skarv_w7'@'%'")
	person := *snap.Table("shop", "person")
	person.Triggers = []catalog.Trigger{{Name: "tr", Event: "INSERT", Program: &catalog.TriggerProgram{Body: "DELETE FROM x"}}}
	_, err = store.Change(nil).PutTable(&person, topology.Any).Commit(t.Context())
	require.NoError(t, err)
	report, err := Leave(t.Context(), store, schema.Dialer{}, false, nil)
	require.ErrorIs(t, err, ErrLeave)
	require.Contains(t, report.Refusals[0], "trigger shop.tr is run by Skarv")
	person.Triggers = nil
	_, err = store.Change(nil).PutTable(&person, topology.Any).Commit(t.Context())
	require.NoError(t, err)
	report, err = Leave(t.Context(), store, schema.Dialer{}, true, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"ALTER TABLE `shop`.`person` AUTO_INCREMENT = 105", "DROP DATABASE IF EXISTS `_skarv`"}, report.Statements)
	for _, step := range []string{"removing", "waiting", "ending", "ALTER", "DROP"} {
		ctx, die := context.WithCancel(t.Context())
		is := begins(step)
		_, err = Leave(ctx, store, schema.Dialer{}, false, func(s string) {
			if is(s) {
				die()
			}
		})
		require.Error(t, err, step)
	}
	_, revision, err := store.Cluster(t.Context())
	require.NoError(t, err)
	require.Equal(t, topology.Absent, revision)
	report, err = Leave(t.Context(), store, schema.Dialer{}, false, nil)
	require.NoError(t, err)
	require.True(t, report.Done)
	require.Equal(t, "0", s.Value(t, "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = '_skarv'"))
	require.Equal(t, "0", s.Value(t, "SELECT COUNT(*) FROM mysql.user WHERE user = 'skarv_w7'"))
	s.Exec(t, "INSERT INTO shop.person (email) VALUES ('e')")
	require.Equal(t, "105", s.Value(t, "SELECT MAX(id) FROM shop.person"))
	_, err = Leave(t.Context(), store, schema.Dialer{}, false, nil)
	require.ErrorIs(t, err, topology.ErrNoCluster)
}
