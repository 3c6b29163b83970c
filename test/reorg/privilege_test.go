package reorg

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	"skarv/test/cluster"
)

// A cluster whose account may not make others works, and says what is missing when partitions are to be moved.
func TestWithoutThePrivilegeToMakeAccounts(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(2))
	db := c.DB(t, "")
	exec(t, db, "CREATE DATABASE d")
	m := &machine{Cluster: c, t: t, store: store(t, c), db: c.DB(t, "d")}
	exec(t, m.db, "CREATE TABLE t (id BIGINT PRIMARY KEY, v INT)")
	snap, err := m.store.Load(t.Context())
	require.NoError(t, err)
	for i, g := range snap.Groups {
		server := c.NodeGroupDB(t, i+1, "")
		exec(t, server, "CREATE USER 'weak'@'%' IDENTIFIED BY 'weak'")
		exec(t, server, "GRANT ALL PRIVILEGES ON *.* TO 'weak'@'%'")
		old, revision, err := m.store.Group(t.Context(), g.ID)
		require.NoError(t, err)
		changed := *old
		changed.Primary.User, changed.Primary.Password = "weak", "weak"
		_, err = m.store.Change(nil).PutGroup(&changed, revision).Commit(t.Context())
		require.NoError(t, err)
	}
	for i := range 20 {
		exec(t, m.db, "INSERT INTO t VALUES (?, 1)", i)
	}
	require.Eventually(t, func() bool { // over connections of the other account, once the process has seen the change
		users := text(t, c.NodeGroupDB(t, 1, ""), "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'weak'")
		return users != "0" && text(t, m.db, "SELECT SUM(v) FROM t") == "20"
	}, time.Minute, 20*time.Millisecond)
	id := m.start(reorg.Request{Without: []placement.NodeGroupID{2}}, 0)
	r := m.await(id, reorg.Done)
	assert.Equal(t, reorg.Refused, r.Outcome)
	assert.Contains(t, r.Problem, "WITH GRANT OPTION")
	assert.Equal(t, "20", text(t, m.db, "SELECT SUM(v) FROM t"))
}
