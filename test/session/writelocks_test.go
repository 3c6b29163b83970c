package session

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestClaim is what queues in tables live by: several that take the first rows at the same time get different ones, and nobody waits.
func TestClaim(t *testing.T) {
	a, b, c := connect(t), connect(t), connect(t)
	a.exec("CREATE TABLE claims (id INT PRIMARY KEY, status VARCHAR(10), due DATETIME, owner INT NOT NULL DEFAULT 0, KEY (status, due))")
	t.Cleanup(func() { a.exec("DROP TABLE claims") })
	a.exec("INSERT INTO claims (id, status, due) VALUES (1, 'new', '2026-01-01'), (2, 'new', '2026-01-02'), (3, 'old', '2026-01-03'), (4, 'new', '2026-01-04'), " +
		"(5, 'new', '2026-01-05'), (6, 'new', '2026-01-06'), (7, 'new', '2026-01-07')")
	for _, x := range []*client{a, b, c} {
		x.exec("SET innodb_lock_wait_timeout = 1000")
		x.exec("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
	}
	a.exec("BEGIN")
	a.exec("UPDATE claims SET owner = 9 WHERE id = 1")
	for _, form := range []string{
		"UPDATE claims t1 JOIN (SELECT id FROM claims WHERE owner = 0 AND status = 'new' AND due <= '2026-01-05' ORDER BY due, id LIMIT 2 FOR UPDATE SKIP LOCKED) t2 ON t1.id = t2.id SET t1.owner = ?",
		"UPDATE claims SET owner = ? WHERE id IN (SELECT id FROM (SELECT id FROM claims WHERE owner = 0 AND status = 'new' ORDER BY due, id LIMIT 2 FOR UPDATE SKIP LOCKED) q)",
	} {
		b.exec("BEGIN")
		b.exec(form, 8)
		require.Equal(t, "2", b.get("SELECT COUNT(*) FROM claims WHERE owner = 8"), form)
		require.Equal(t, "0", b.get("SELECT COUNT(*) FROM claims WHERE owner = 8 AND id = 1"), form)
		b.exec("ROLLBACK")
	}
	b.exec("BEGIN")
	b.exec("UPDATE claims SET owner = 8 WHERE id = 2")
	c.exec("UPDATE claims t1 JOIN (SELECT id FROM claims WHERE status = 'new' AND id < 5 LIMIT 3 FOR UPDATE SKIP LOCKED) t2 ON t1.id = t2.id SET t1.owner = 7")
	a.exec("COMMIT")
	b.exec("COMMIT")
	require.Equal(t, "9,8,7", c.get("SELECT GROUP_CONCAT(owner ORDER BY id) FROM claims WHERE owner > 0"))

	// Among many rows a server that looks for those that were found goes through all, and meets what others have locked.
	many := make([]string, 800)
	for i := range many {
		many[i] = fmt.Sprintf("(%d, 'many', '2026-01-01')", 100+i)
	}
	a.exec("INSERT INTO claims (id, status, due) VALUES " + strings.Join(many, ","))
	a.exec("BEGIN")
	a.exec("UPDATE claims SET owner = 1 WHERE id = 500")
	for i, due := range []string{"'2026-01-01 00:00:00'", "'2026-1-1'"} { // also a date that not all know as one
		b.exec("UPDATE claims t1 JOIN (SELECT id FROM claims WHERE owner = 0 AND status = 'many' AND due <= " + due + " ORDER BY id DESC LIMIT 300 FOR UPDATE SKIP LOCKED) t2 ON t1.id = t2.id SET t1.owner = 7")
		require.Equal(t, strconv.Itoa(1+300*(i+1)), b.get("SELECT COUNT(*) FROM claims WHERE owner = 7"))
	}
	a.exec("ROLLBACK")

	// What does not wait, and what a write that joins leaves alone.
	a.exec("BEGIN")
	a.exec("UPDATE claims SET owner = 1 WHERE id = 5")
	_, err := b.try("DELETE t1 FROM claims t1 JOIN (SELECT id FROM claims WHERE status = 'new' FOR UPDATE NOWAIT) t2 ON t1.id = t2.id")
	require.Error(t, err)
	b.exec("UPDATE claims t1 JOIN claims t2 ON t1.id = t2.owner SET t1.status = 'x' WHERE t2.id = 4") // of row 7
	a.exec("COMMIT")
	require.Equal(t, "x", a.get("SELECT status FROM claims WHERE id = 7"))
}
