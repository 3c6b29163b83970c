package session

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/server"
	"skarv/pkg/topology"
	"skarv/test/cluster"
	"skarv/test/slowrelay"
)

// A KILL that is faster at a server than the statement it is for ends that all the same, once it arrives.
func TestKillOvertakesItsStatement(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(1), cluster.TCPBackends())
	store, err := topology.Open(topology.Config{Endpoints: []string{c.Info().Etcd}})
	require.NoError(t, err)
	defer store.Close()
	snap, err := store.Load(t.Context())
	require.NoError(t, err)
	group, revision, err := store.Group(t.Context(), snap.Groups[0].ID)
	require.NoError(t, err)
	relay, err := slowrelay.New(slowrelay.Config{To: group.Primary.Addr, Workers: 10, Marks: []string{"SELECT SLEEP(600)"}})
	require.NoError(t, err)
	t.Cleanup(relay.Close)
	group.Primary.Addr = relay.Addr()
	_, err = store.Change(nil).PutGroup(group, revision).Commit(t.Context())
	require.NoError(t, err)

	db := connectTo(t, c.DSN(""))
	db.exec("CREATE DATABASE d")
	db.exec("CREATE TABLE d.t (id INT PRIMARY KEY)")
	db.exec("INSERT INTO d.t VALUES (1)")
	dsn, stop := startProxy(t, func(cfg *server.Config, _ *server.Options) { cfg.Etcd.Endpoints = []string{c.Info().Etcd} })
	t.Cleanup(stop)
	admin := connectTo(t, dsn)
	relay.SetService(300 * time.Millisecond)
	for _, kill := range []string{"KILL QUERY", "KILL"} {
		for _, query := range []string{
			"SELECT SLEEP(600) FROM d.t WHERE id = 1",
			"SELECT SLEEP(600), COUNT(*) FROM d.t",
		} {
			victim := connectTo(t, dsn)
			id := victim.get("SELECT CONNECTION_ID()")
			ended := make(chan struct{})
			go func() {
				_, _ = victim.try(query)
				close(ended)
			}()
			require.Eventually(t, func() bool {
				return admin.get("SELECT COMMAND FROM information_schema.processlist WHERE ID = "+id) == "Query"
			}, patience, time.Millisecond)
			admin.exec(fmt.Sprint(kill, " ", id))
			select {
			case <-ended: // an error, or SLEEP() that tells it was interrupted
			case <-time.After(patience):
				require.Fail(t, "it goes on", "%s of %s", kill, query)
			}
			_, err := victim.try("SELECT 1")
			require.Equal(t, kill == "KILL QUERY", err == nil, "the session goes on behind %s: %v", kill, err)
		}
	}
}
