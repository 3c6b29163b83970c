package session

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// A statement over several node groups under LOCK TABLES, by skarv_commit = best_effort, turns autocommit off on the connections for as long as it
// runs. Where one of them is lost the others have it again: what the next client writes on them is committed.
func TestAutocommitIsGivenBackUnderLocks(t *testing.T) {
	a, b := idsApart(t)
	first, second := groupOf(t, a), groupOf(t, b)
	if first > second {
		a, b, first, second = b, a, second, first
	}
	for name, sql := range map[string]string{
		"written": "UPDATE t SET v = 'lost' WHERE id IN (%d, %d)",
		"program": "UPDATE t SET id = id + 1000 WHERE id IN (%d, %d)",
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t)
			c.exec("SET skarv_commit = best_effort")
			c.exec("LOCK TABLES t WRITE")
			endConnections(t, shared.NodeGroupDB(t, first, "d"), "user LIKE 'skarv_w%'")
			_, err := c.try(fmt.Sprintf(sql, a, b))
			require.Error(t, err)
			_, _ = c.try("UNLOCK TABLES") // it tells that a connection is lost
			other := connect(t)
			other.exec(fmt.Sprintf("UPDATE t SET v = 'kept' WHERE id = %d", b))
			var v string
			require.NoError(t, shared.NodeGroupDB(t, second, "d").QueryRow("SELECT v FROM t WHERE id = ?", b).Scan(&v))
			require.Equal(t, "kept", v)
			other.exec(fmt.Sprintf("UPDATE t SET v = CONCAT('v', id) WHERE id IN (%d, %d)", a, b))
		})
	}
}
