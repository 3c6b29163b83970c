package cluster

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/console"
	adminv1 "skarv/proto/admin/v1"
)

// status is what the console tells.
func (c *Cluster) status(t *testing.T) (s console.Status) {
	t.Helper()
	code, body := c.Get(t, "/api/status")
	require.Equal(t, http.StatusOK, code)
	require.NoError(t, json.Unmarshal([]byte(body), &s))
	return s
}

func TestClusterOfFour(t *testing.T) {
	c := Start(t, Groups(4))
	db := c.DB(t, "")
	for _, sql := range []string{
		"CREATE DATABASE d",
		"CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20))",
		"INSERT INTO d.t VALUES (1,'a'),(2,'b'),(3,'c'),(4,'d'),(5,'e'),(6,'f'),(7,'g'),(8,'h'),(9,'i'),(10,'j'),(11,'k'),(12,'l')",
	} {
		_, err := db.Exec(sql)
		require.NoError(t, err, sql)
	}
	var all, sum int
	require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM d.t").Scan(&all))
	require.Equal(t, 12, all)
	for group := 1; group <= 4; group++ {
		var here int
		require.NoError(t, c.NodeGroupDB(t, group, "d").QueryRow("SELECT COUNT(*) FROM t").Scan(&here))
		require.Less(t, here, 12, "rows are spread")
		sum += here
	}
	require.Equal(t, 12, sum, "and each is in one place")

	status := c.status(t)
	require.Len(t, status.NodeGroups, 4)
	for _, g := range status.NodeGroups {
		require.Equal(t, 960, g.Partitions)
		require.True(t, g.Up, g.Problem)
	}
	code, _ := c.Get(t, "/readyz")
	require.Equal(t, http.StatusOK, code)
	_, body := c.Get(t, "/metrics")
	require.Contains(t, body, "skarv_statements_total{")
	require.Contains(t, body, `skarv_backend_up{node_group="4"} 1`)
}

func TestKilledGroupComesBack(t *testing.T) {
	c := Start(t, Groups(2), TCPBackends())
	db := c.DB(t, "")
	for _, sql := range []string{
		"CREATE DATABASE d",
		"CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20))",
		"INSERT INTO d.t VALUES (1,'a'),(2,'b'),(3,'c'),(4,'d'),(5,'e'),(6,'f'),(7,'g'),(8,'h')",
	} {
		_, err := db.Exec(sql)
		require.NoError(t, err, sql)
	}
	alive := -1
	require.NoError(t, c.NodeGroupDB(t, 2, "d").QueryRow("SELECT MIN(id) FROM t").Scan(&alive))
	require.Equal(t, []string{}, c.status(t).Problems)
	admin, ctx := c.Admin(t), t.Context()
	c.Kill(t, 1)
	var n int
	began := time.Now()
	err := db.QueryRow("SELECT COUNT(*) FROM d.t").Scan(&n)
	require.Error(t, err)
	require.True(t, strings.Contains(err.Error(), "1430") || strings.Contains(err.Error(), "Lost connection"), err)
	require.Less(t, time.Since(began), 10*time.Second)
	require.NoError(t, db.QueryRow("SELECT id FROM d.t WHERE id = ?", alive).Scan(&n), "the other group works on")
	require.EventuallyWithT(t, func(got *assert.CollectT) { // the console tells what skarvctl status does
		require.Contains(got, strings.Join(c.status(t).Problems, "\n"), "node group ng1 could not be asked just now")
		told, err := adminv1.NewAdminClient(admin).Status(ctx, &adminv1.StatusRequest{})
		require.NoError(got, err)
		require.Equal(got, told.Problems, c.status(t).Problems)
	}, time.Minute, 50*time.Millisecond)
	c.Restart(t, 1)
	require.Eventually(t, func() bool { return db.QueryRow("SELECT COUNT(*) FROM d.t").Scan(&n) == nil }, time.Minute, 20*time.Millisecond)
	require.Equal(t, 8, n)
}
