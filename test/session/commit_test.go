package session

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommitSetting(t *testing.T) {
	c := connect(t)
	a, b := idsApart(t)
	both := func() {
		c.exec("BEGIN")
		c.exec(fmt.Sprintf("UPDATE t SET v = 'both' WHERE id = %d", a))
		c.exec(fmt.Sprintf("UPDATE t SET v = 'both' WHERE id = %d", b))
		c.exec("COMMIT")
		require.Equal(t, "2", c.get("SELECT COUNT(*) FROM t WHERE v = 'both'"))
		c.exec(fmt.Sprintf("UPDATE t SET v = CONCAT('v', id) WHERE id IN (%d, %d)", a, b))
	}
	for _, set := range []string{
		"SET skarv_commit = best_effort",
		"SET SESSION skarv_commit = 'atomic'",
		"SET @@session.skarv_commit = DEFAULT",
		"SET @a = 5, skarv_commit = best_effort, innodb_lock_wait_timeout = 7",
	} {
		c.exec(set)
		both()
	}
	require.Equal(t, "5", c.get("SELECT @a"))
	require.Equal(t, "7", c.get("SELECT @@innodb_lock_wait_timeout"))
	c.fails(1231, "SET skarv_commit = maybe")
	c.fails(1231, "SET skarv_commit = 1 + 1")
	c.fails(1193, "SET skarv_commit = atomic, no_such_variable = 1")
	both()
}

// What a transaction over several node groups has changed on its connections is not there for the next client.
func TestLockWaitIsGivenBack(t *testing.T) {
	c := connect(t)
	a, b := idsApart(t)
	usual := c.get("SELECT @@innodb_lock_wait_timeout")
	for _, end := range []string{"COMMIT", "ROLLBACK"} {
		c.exec("BEGIN")
		for _, id := range []int{a, b} {
			c.exec(fmt.Sprintf("UPDATE t SET v = v WHERE id = %d", id))
		}
		require.Equal(t, "5", c.get("SELECT @@innodb_lock_wait_timeout"))
		c.exec(end)
		for _, id := range []int{a, b} {
			require.Equal(t, usual, c.get(fmt.Sprintf("SELECT @@innodb_lock_wait_timeout FROM t WHERE id = %d", id)))
		}
	}
}
