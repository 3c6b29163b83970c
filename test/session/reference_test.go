package session

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// copies returns what each node group has of a reference table.
func copies(t *testing.T, query string) (out []string) {
	for g := 1; g <= 4; g++ {
		rows, err := shared.NodeGroupDB(t, g, "d").Query(query)
		require.NoError(t, err)
		text := ""
		for rows.Next() {
			var a, b sql.NullString
			require.NoError(t, rows.Scan(&a, &b))
			text += fmt.Sprintln(a.String, b.String)
		}
		require.NoError(t, rows.Close())
		out = append(out, text)
	}
	return out
}

// Whatever a statement computes, the copies of a reference table stay equal: a value that every server would compute for
// itself is refused or computed once.
func TestCopiesOfReferenceTablesAreEqual(t *testing.T) {
	db := shared.DB(t, "d")
	_, err := db.Exec("CREATE TABLE ref (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(64), made TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), u VARCHAR(64) DEFAULT (UUID())) COMMENT 'skarv:reference'")
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = db.Exec("DROP TABLE ref") })
	done := 0
	for _, q := range []string{
		"INSERT INTO ref (v) VALUES ('a'), (NOW(6)), (CONCAT('x', RAND()))",
		"INSERT INTO ref (v, u) VALUES ('b', DEFAULT)",
		"INSERT INTO ref (v, u) VALUES (RAND(), 1), ('d', 2)",
		"INSERT INTO ref (id, v, u) VALUES (100, 'b', 'u') ON DUPLICATE KEY UPDATE v = UUID()",
		"REPLACE INTO ref (id, v, u) VALUES (100, NOW(6), UUID())",
		"INSERT INTO ref (v, u) SELECT id, UUID() FROM t LIMIT 10",
		"UPDATE ref SET v = RAND() WHERE id > 1",
		"UPDATE ref SET v = NOW(6) WHERE id > 1",
		"UPDATE ref SET v = 'limited' ORDER BY v DESC LIMIT 1",
		"DELETE FROM ref WHERE RAND() < 0.5",
		"DELETE FROM ref LIMIT 1",
	} {
		if _, err := db.Exec(q); err == nil {
			done++
		} else {
			require.Equal(t, 1235, errno(err), "%s: %v", q, err)
		}
		c := copies(t, "SELECT CONCAT_WS('|', id, v, made), u FROM ref ORDER BY id")
		for _, other := range c[1:] {
			require.Equal(t, c[0], other, q)
		}
	}
	require.Greater(t, done, 1)
}

// A row of a reference table that one session has locked is locked for all, whichever node group they are at.
func TestReferenceTablesCount(t *testing.T) {
	db := shared.DB(t, "d")
	_, err := db.Exec("CREATE TABLE counted (id INT PRIMARY KEY, n INT) COMMENT 'skarv:reference'")
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = db.Exec("DROP TABLE counted") })
	res, err := db.Exec("INSERT INTO counted VALUES (1, 0), (2, 0)")
	require.NoError(t, err)
	n, err := res.RowsAffected()
	require.NoError(t, err)
	require.Equal(t, int64(2), n)
	const clients, rounds = 6, 5
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range rounds {
				tx, err := db.Begin()
				if !noError(t, err) {
					return
				}
				var n int
				if !noError(t, tx.QueryRow("SELECT n FROM counted WHERE id = 1 FOR UPDATE").Scan(&n)) {
					return
				}
				_, err = tx.Exec("UPDATE counted SET n = ? WHERE id = 1", n+1)
				if !noError(t, err) || !noError(t, tx.Commit()) {
					return
				}
			}
		})
	}
	wg.Wait()
	for _, c := range copies(t, "SELECT id, n FROM counted ORDER BY id") {
		require.Equal(t, fmt.Sprintf("1 %d\n2 0\n", clients*rounds), c)
	}
}

func noError(t *testing.T, err error) bool {
	if err != nil {
		t.Error(err)
	}
	return err == nil
}

func errno(err error) int {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return int(e.Number)
	}
	return 0
}
