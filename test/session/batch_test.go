package session

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/wire"
)

// TestBatchIsNotReplayed: a backend that is lost after the first statement of a batch has been answered must not make the
// proxy run that statement again.
func TestBatchIsNotReplayed(t *testing.T) {
	c := connect(t)
	c.exec("CREATE TABLE IF NOT EXISTS batch (id INT PRIMARY KEY, v INT)")
	defer c.exec("DROP TABLE batch")
	c.exec("INSERT INTO batch VALUES (1, 0)")
	group := 0
	for g := 1; g <= 4; g++ {
		var n int
		require.NoError(t, shared.NodeGroupDB(t, g, "d").QueryRow("SELECT COUNT(*) FROM batch").Scan(&n))
		if n == 1 {
			group = g
		}
	}
	db := shared.NodeGroupDB(t, group, "d")
	r := rawClient(t)
	require.NoError(t, r.Send(wire.ComQuery, []byte("UPDATE batch SET v = v + 1 WHERE id = 1; SELECT v, SLEEP(20) FROM batch WHERE id = 1")))
	require.Eventually(t, func() bool {
		var id int
		err := db.QueryRow("SELECT id FROM information_schema.processlist WHERE info LIKE '%SLEEP(20)%' AND id <> CONNECTION_ID()").Scan(&id)
		if err == nil {
			_, err = db.Exec("KILL CONNECTION " + strconv.Itoa(id))
		}
		return err == nil
	}, patience, tick)
	head, err := r.ReadHead()
	require.NoError(t, err)
	require.EqualValues(t, 1, head.OK.AffectedRows)
	if _, err = r.ReadHead(); err == nil {
		_, err = r.ReadRow()
	}
	require.Error(t, err, "the batch ends with an error")
	require.Equal(t, "1", c.get("SELECT v FROM batch WHERE id = 1"), "done once")
}
