package session

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// While a table gets its primary key its clients wait; nothing they have written before, or write after, is lost, and every row
// is where it belongs by the new key.
func TestWritersWaitForAPrimaryKey(t *testing.T) {
	db := shared.DB(t, "d")
	for round := range 3 {
		_, err := db.Exec("CREATE TABLE grows (a INT, b VARCHAR(20))")
		require.NoError(t, err)
		var next atomic.Int64
		var wg sync.WaitGroup
		stop := make(chan struct{})
		const clients = 4
		for c := range clients {
			wg.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-stop:
						return
					default:
					}
					id := next.Add(1)
					if _, err := db.Exec(fmt.Sprintf("INSERT INTO grows (a, b) VALUES (%d, 'x')", id)); !noError(t, err) {
						return
					}
					if n%5 == c {
						if _, err := db.Exec(fmt.Sprintf("UPDATE grows SET a = -a WHERE a = %d", id)); !noError(t, err) {
							return
						}
					}
				}
			})
		}
		for next.Load() < 50 {
			var n int
			require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM grows").Scan(&n))
		}
		_, err = db.Exec("ALTER TABLE grows ADD PRIMARY KEY (a)")
		require.NoError(t, err)
		at := next.Load()
		for next.Load() < at+20 && !t.Failed() {
			var n int
			require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM grows").Scan(&n))
		}
		close(stop)
		wg.Wait()
		var n, distinct int64
		require.NoError(t, db.QueryRow("SELECT COUNT(*), COUNT(DISTINCT ABS(a)) FROM grows").Scan(&n, &distinct))
		require.Equal(t, next.Load(), n, "round %d", round)
		require.Equal(t, n, distinct)
		for id := int64(1); id <= n; id += 7 { // found by the key, which only one node group is asked for
			var found int
			require.NoError(t, db.QueryRow(fmt.Sprintf("SELECT (SELECT COUNT(*) FROM grows WHERE a = %d) + (SELECT COUNT(*) FROM grows WHERE a = -%d)", id, id)).Scan(&found))
			require.Equal(t, 1, found, "id %d", id)
		}
		_, err = db.Exec("DROP TABLE grows")
		require.NoError(t, err)
	}
}

// A transaction that has used the table keeps it from being rebuilt until it ends; one that has used others and comes to it meanwhile is told so
// at once, for the change may wait for what it holds.
func TestTransactionsAndAPrimaryKey(t *testing.T) {
	db := shared.DB(t, "d")
	_, err := db.Exec("CREATE TABLE held (a INT)")
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = db.Exec("DROP TABLE held") })
	c := connect(t)
	c.exec("BEGIN")
	c.exec("INSERT INTO held VALUES (1), (2), (3), (4), (5), (6)")
	done := make(chan error, 1)
	go func() {
		_, err := db.Exec("ALTER TABLE held ADD PRIMARY KEY (a)")
		done <- err
	}()
	other := connect(t)
	require.Eventually(t, func() bool {
		other.exec("BEGIN")
		other.get("SELECT COUNT(*) FROM t")
		_, err := other.try("SELECT COUNT(*) FROM held")
		other.exec("ROLLBACK")
		return err != nil && strings.Contains(err.Error(), "1205")
	}, patience, tick)
	c.exec("COMMIT")
	require.NoError(t, <-done)
	require.Equal(t, "6", other.get("SELECT COUNT(*) FROM held"))
	other.fails(1062, "INSERT INTO held VALUES (4)")
}

// While the columns of a global index change their clients wait; it knows all rows that were written before and behind, and no others.
func TestWritersWaitForAnIndex(t *testing.T) {
	db := shared.DB(t, "d")
	_, err := db.Exec("CREATE TABLE mails (id INT PRIMARY KEY, mail VARCHAR(40) COLLATE utf8mb4_bin, UNIQUE KEY mail (mail))")
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = db.Exec("DROP TABLE mails") })
	var next atomic.Int64
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for c := range 4 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				id := next.Add(1)
				if _, err := db.Exec(fmt.Sprintf("INSERT INTO mails VALUES (%d, 'm%d')", id, id)); !noError(t, err) {
					return
				}
				if n%5 == c {
					if _, err := db.Exec(fmt.Sprintf("UPDATE mails SET mail = 'x%d' WHERE id = %d", id, id)); !noError(t, err) {
						return
					}
				}
			}
		})
	}
	for _, to := range []string{"VARCHAR(39) COLLATE utf8mb4_bin NOT NULL", "VARCHAR(38) COLLATE utf8mb4_general_ci", "CHAR(30) COLLATE utf8mb4_general_ci NOT NULL"} {
		for at := next.Load(); next.Load() < at+30 && !t.Failed(); {
			var n int
			require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM mails WHERE mail = 'm1' OR mail = 'x1'").Scan(&n))
		}
		_, err = db.Exec("ALTER TABLE mails MODIFY mail " + to)
		require.NoError(t, err, to)
	}
	close(stop)
	wg.Wait()
	for id := int64(1); id <= next.Load(); id++ {
		var found int
		require.NoError(t, db.QueryRow(fmt.Sprintf("SELECT (SELECT COUNT(*) FROM mails WHERE mail = 'M%d') + (SELECT COUNT(*) FROM mails WHERE mail = 'X%d')", id, id)).Scan(&found))
		require.Equal(t, 1, found, "id %d", id)
		_, err := db.Exec(fmt.Sprintf("INSERT INTO mails SELECT -id, UPPER(mail) FROM mails WHERE id = %d", id))
		require.Equal(t, 1062, errno(err))
	}
}

// While the rows of a table are placed anew, by another key and as each kind of table, its clients wait; nothing they have written before, or write
// after, is lost.
func TestWritersWaitForAnotherPlace(t *testing.T) {
	db := shared.DB(t, "d")
	_, err := db.Exec("CREATE TABLE travels (id INT AUTO_INCREMENT, a INT NOT NULL, mail VARCHAR(40) UNIQUE, n INT DEFAULT 0, PRIMARY KEY (id, a))")
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = db.Exec("DROP TABLE travels") })
	var next, updated atomic.Int64
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				a := next.Add(1)
				if _, err := db.Exec(fmt.Sprintf("INSERT INTO travels (a, mail) VALUES (%d, 'm%d')", a, a)); !noError(t, err) {
					return
				}
				if _, err := db.Exec(fmt.Sprintf("UPDATE travels SET n = n + 1 WHERE mail = 'm%d'", a)); !noError(t, err) {
					return
				}
				updated.Add(1)
			}
		})
	}
	for _, to := range []string{"PARTITION BY KEY (a)", "COMMENT 'skarv:reference'", "COMMENT 'skarv:single'", "COMMENT 'skarv:key=a'", "COMMENT '' PARTITION BY KEY (id)"} {
		_, err := db.Exec("ALTER TABLE travels " + to)
		require.NoError(t, err, to)
		for at := updated.Load(); updated.Load() < at+20 && !t.Failed(); {
			var n int
			require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM travels").Scan(&n))
		}
	}
	close(stop)
	wg.Wait()
	var rows, ids, of, sum int64
	require.NoError(t, db.QueryRow("SELECT COUNT(*), COUNT(DISTINCT id), COUNT(DISTINCT a), SUM(n) FROM travels").Scan(&rows, &ids, &of, &sum))
	require.Equal(t, []int64{next.Load(), next.Load(), next.Load(), next.Load()}, []int64{rows, ids, of, sum})
	var kind, key string
	require.NoError(t, db.QueryRow("SELECT kind, distribution_key FROM skarv.tables WHERE table_name = 'travels'").Scan(&kind, &key))
	require.Equal(t, "sharded id", kind+" "+key)
}

// The comment that SHOW CREATE TABLE has names the columns that distribute the table, whatever became of them, so that its text makes such a table.
func TestCommentNamesTheKey(t *testing.T) {
	c := connect(t)
	for i, x := range []struct{ create, alter, shown string }{
		{"(a INT, b INT, PRIMARY KEY (a, b)) COMMENT 'it''s skarv:key=b; so'", "CHANGE b bb INT", "COMMENT='it''s skarv:key=`bb`; so'"},
		{"(a INT, b INT) COMMENT 'skarv:key=my_row_id'", "ADD PRIMARY KEY (a)", "COMMENT='skarv:key=`a`'"},
		{"(a INT, b INT, PRIMARY KEY (a, b)) COMMENT 'skarv:key=a, b'", "ADD c INT", "COMMENT='skarv:key=a, b'"},
	} {
		name := fmt.Sprint("named_", i)
		c.exec("CREATE TABLE " + name + " " + x.create)
		c.exec("ALTER TABLE " + name + " " + x.alter)
		text := c.get("SELECT 1")
		require.NoError(t, c.QueryRowContext(t.Context(), "SHOW CREATE TABLE "+name).Scan(&name, &text))
		require.Contains(t, text, x.shown)
		c.exec("DROP TABLE " + name)
		c.exec(text)
		c.exec("DROP TABLE " + name)
	}
}
