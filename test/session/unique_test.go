package session

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	adminv1 "skarv/proto/admin/v1"
	"skarv/test/cluster"
)

// entriesMatch compares what the node groups have of a table with the entries of its only global index.
func entriesMatch(t *testing.T, table, key, value string) {
	var rows, entries []string
	for g := 1; g <= 4; g++ {
		db := shared.NodeGroupDB(t, g, "_skarv")
		var name string
		require.NoError(t, db.QueryRow("SELECT table_name FROM information_schema.tables WHERE table_schema = '_skarv' AND table_name LIKE 'uq@_%' ESCAPE '@' ORDER BY LENGTH(table_name) DESC, table_name DESC LIMIT 1").Scan(&name))
		for list, q := range map[*[]string]string{
			&rows:    fmt.Sprintf("SELECT CONCAT(LOWER(%s), ' ', %s) FROM d.%s WHERE %s IS NOT NULL", value, key, table, value),
			&entries: "SELECT CONCAT(LOWER(u0), ' ', k0) FROM _skarv." + name,
		} {
			r, err := db.Query(q)
			require.NoError(t, err)
			for r.Next() {
				var s string
				require.NoError(t, r.Scan(&s))
				*list = append(*list, s)
			}
			require.NoError(t, r.Close())
		}
	}
	slices.Sort(rows)
	slices.Sort(entries)
	require.Equal(t, rows, entries)
}

// Of sessions that insert one value at once exactly one wins; the others wait for it and are told of the duplicate, or may
// go on when it rolls back.
func TestOneOfManyGetsTheValue(t *testing.T) {
	db := shared.DB(t, "d")
	_, err := db.Exec("CREATE TABLE uniq (id INT PRIMARY KEY, email VARCHAR(40) UNIQUE, n INT DEFAULT 0)")
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = db.Exec("DROP TABLE uniq") })
	const clients = 8
	for round := range 5 {
		var won atomic.Int32
		var wg sync.WaitGroup
		for c := range clients {
			wg.Go(func() {
				id, email := round*100+c, fmt.Sprintf("Mail%d", round)
				tx, err := db.Begin()
				if !noError(t, err) {
					return
				}
				_, err = tx.Exec("INSERT INTO uniq (id, email) VALUES (?, ?)", id, email)
				switch {
				case err == nil && c%4 == 0:
					noError(t, tx.Rollback())
				case err == nil:
					noError(t, tx.Commit())
					won.Add(1)
				default:
					_ = tx.Rollback()
					if n := errno(err); n != 1062 && n != 1213 && n != 1205 {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		require.LessOrEqual(t, won.Load(), int32(1))
		var n int
		require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM uniq WHERE email = ?", fmt.Sprintf("MAIL%d", round)).Scan(&n))
		require.Equal(t, won.Load(), int32(n))
	}
	entriesMatch(t, "uniq", "id", "email")

	// A session that waits for another's value gets it when that one gives it up.
	ctx := context.Background()
	tx, err := db.BeginTx(ctx, nil)
	require.NoError(t, err)
	_, err = tx.Exec("INSERT INTO uniq (id, email) VALUES (9001, 'waited')")
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := db.Exec("INSERT INTO uniq (id, email) VALUES (9002, 'WAITED')")
		done <- err
	}()
	require.NoError(t, tx.Rollback())
	require.NoError(t, <-done)
	entriesMatch(t, "uniq", "id", "email")
}

// Whatever statements run at once, every row has its entry and every entry its row afterwards.
func TestEntriesFollowRows(t *testing.T) {
	t.Run("Whole", func(t *testing.T) { entriesFollowRows(t, "email VARCHAR(40) UNIQUE", "email") })
	t.Run("Beginning", func(t *testing.T) { entriesFollowRows(t, "email TEXT, UNIQUE (email(3))", "LEFT(email, 3)") })
}

func entriesFollowRows(t *testing.T, unique, value string) {
	db := shared.DB(t, "d")
	_, err := db.Exec("CREATE TABLE follow (id INT PRIMARY KEY, n INT DEFAULT 0, " + unique + ")")
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = db.Exec("DROP TABLE follow") })
	var done atomic.Int32
	var wg sync.WaitGroup
	for c := range 4 {
		rnd := rand.New(rand.NewPCG(uint64(c), 7))
		wg.Go(func() {
			for range 25 {
				id, other, mail := rnd.IntN(30), rnd.IntN(30), fmt.Sprintf("m%d", rnd.IntN(20))
				q, args := "", []any{}
				switch rnd.IntN(9) {
				case 0, 1:
					q, args = "INSERT INTO follow (id, email) VALUES (?, ?)", []any{id, mail}
				case 2:
					q, args = "INSERT IGNORE INTO follow (id, email) VALUES (?, ?), (?, NULL)", []any{id, mail, other}
				case 3:
					q, args = "REPLACE INTO follow (id, email) VALUES (?, ?)", []any{id, mail}
				case 4:
					q, args = "INSERT INTO follow (id, email) VALUES (?, ?) ON DUPLICATE KEY UPDATE n = n + 1, email = CONCAT(email, 'x')", []any{id, mail}
				case 5:
					q, args = "UPDATE follow SET email = ? WHERE id = ?", []any{mail, id}
				case 6:
					q, args = "UPDATE follow SET id = ? WHERE id = ?", []any{other, id}
				case 7:
					q, args = "DELETE FROM follow WHERE email = ?", []any{mail}
				case 8:
					q, args = "UPDATE follow SET n = n + 1 WHERE email = ?", []any{mail}
				}
				if _, err := db.Exec(q, args...); err == nil {
					done.Add(1)
				} else if n := errno(err); n != 1062 && n != 1213 && n != 1205 {
					t.Errorf("%s %v: %v", q, args, err)
				}
			}
		})
	}
	wg.Wait()
	require.Greater(t, done.Load(), int32(20))
	entriesMatch(t, "follow", "id", value)
}

// REPLACE deletes no row that it has not read: one that another session inserts after duplicates were looked for has entries
// of its own. READ COMMITTED locks no gaps.
func TestReplaceMeetsANewRow(t *testing.T) {
	admin := connect(t)
	admin.exec("CREATE TABLE rpl (id INT PRIMARY KEY, email VARCHAR(40) UNIQUE, n INT)")
	t.Cleanup(func() { admin.exec("DROP TABLE rpl") })
	home, far := idOn(t, 1, 1), idOn(t, 2, 1)
	for _, again := range []string{"'other'", "NULL"} {
		t.Run(again, func(t *testing.T) {
			admin.exec("DELETE FROM rpl")
			admin.exec("INSERT INTO rpl VALUES (?, 'x', 1)", far)
			holder, c := connect(t), connect(t)
			c.exec("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
			holder.exec("BEGIN")
			holder.exec("SELECT n FROM rpl WHERE id = ? FOR UPDATE", far)
			replaces := c.start(fmt.Sprintf("REPLACE INTO rpl VALUES (%d, 'x', 2)", home))
			require.True(t, replaces.waits(1), "for the far row: there was none at home")
			admin.exec(fmt.Sprintf("INSERT INTO rpl VALUES (%d, %s, 3)", home, again))
			holder.exec("ROLLBACK")
			require.NoError(t, replaces.end())
			require.Equal(t, fmt.Sprintf("%d,x,2", home), admin.get("SELECT * FROM rpl"))
			entriesMatch(t, "rpl", "id", "email")
		})
	}
}

// Of several duplicates ON DUPLICATE KEY UPDATE changes the one in the first key, wherever each lies.
func TestFirstKeyOfDuplicates(t *testing.T) {
	c := connect(t)
	c.exec("CREATE TABLE odku (id INT PRIMARY KEY, email VARCHAR(40) UNIQUE, phone VARCHAR(40) UNIQUE, n INT)")
	t.Cleanup(func() { c.exec("DROP TABLE odku") })
	far, near, home := idOn(t, 2, 1), idOn(t, 1, 1), idOn(t, 1, 2)
	c.exec("INSERT INTO odku VALUES (?, 'e', NULL, 0), (?, NULL, 'p', 0)", far, near)
	c.exec("INSERT INTO odku VALUES (?, 'e', 'p', 9) ON DUPLICATE KEY UPDATE n = n + 1", home)
	require.Equal(t, "1", c.get("SELECT n FROM odku WHERE id = ?", far), "its key comes first")
	require.Equal(t, "0", c.get("SELECT n FROM odku WHERE id = ?", near))
}

// A transaction of REPEATABLE READ finds, by a global index, the rows that it has written and those of its snapshot, though other
// transactions have changed both since.
func TestOwnRowsByAGlobalIndex(t *testing.T) {
	a, b := connect(t), connect(t)
	a.exec("CREATE TABLE own (id INT PRIMARY KEY, e INT UNIQUE, n INT)")
	t.Cleanup(func() { a.exec("DROP TABLE own") })
	for _, test := range []struct{ others, own, e, want string }{
		{"INSERT INTO own VALUES (50, 500, 0)", "INSERT INTO own VALUES (51, 500, 0) ON DUPLICATE KEY UPDATE n = 1", "500", "50,1"},
		{"INSERT INTO own VALUES (50, 500, 0)", "UPDATE own SET n = 1 WHERE e = 500", "500", "50,1"},
		{"UPDATE own SET e = 999 WHERE id = 3", "UPDATE own SET n = 1 WHERE id = 3", "999", "3,1"},
		{"UPDATE own SET id = 100 WHERE id = 3", "UPDATE own SET n = 1 WHERE id = 100", "30", "3,0;100,1"},
		{"UPDATE own SET id = 101 WHERE id = 3", "UPDATE own SET n = 1 WHERE id = 101", "30", "3,0;101,1"},
		{"UPDATE own SET e = 999 WHERE id = 3", "INSERT INTO own VALUES (60, 30, 1)", "30", "3,0;60,1"},
		{"UPDATE own SET id = 100 WHERE id = 3", "DELETE FROM own WHERE id = 100", "30", "3,0"},
		{"UPDATE own SET id = 101 WHERE id = 3", "DELETE FROM own WHERE id = 101", "30", "3,0"},
	} {
		t.Run(test.others+", "+test.own, func(t *testing.T) {
			a.exec("DELETE FROM own")
			a.exec("INSERT INTO own VALUES (1, 10, 0), (2, 20, 0), (3, 30, 0), (4, 40, 0), (5, 50, 0), (6, 60, 0)")
			b.exec("BEGIN")
			require.Equal(t, "6", b.get("SELECT COUNT(*) FROM own"))
			a.exec(test.others)
			b.exec(test.own)
			require.Equal(t, test.want, b.get("SELECT id, n FROM own WHERE e = "+test.e+" ORDER BY id"))
			b.exec("ROLLBACK")
		})
	}
}

// While ON DUPLICATE KEY UPDATE looks for the row that its own is equal to, another one comes that is equal in an earlier key, and
// is the one that the server changes: its entries must follow. Which of the two statements is first does not matter.
func TestUpdateMeetsAnotherDuplicate(t *testing.T) {
	ctx := context.Background()
	db := shared.DB(t, "d")
	for _, level := range []string{"REPEATABLE READ", "READ COMMITTED"} {
		for _, key := range []string{"primary", "unique"} {
			t.Run(level+", "+key, func(t *testing.T) {
				_, err := db.Exec("CREATE TABLE meets (id INT PRIMARY KEY, nick VARCHAR(40) UNIQUE, email VARCHAR(40) UNIQUE, n INT NOT NULL DEFAULT 0)")
				require.NoError(t, err)
				t.Cleanup(func() { _, _ = db.Exec("DROP TABLE meets") })
				ids := together(t, db, "meets", 4)
				_, err = db.Exec(fmt.Sprintf("INSERT INTO meets (id, nick, email) VALUES (%d, 'b', 'a'), (%d, 'y', 'm')", ids[0], ids[1]))
				require.NoError(t, err)
				held := lockEntry(t, "a")
				one, err := db.Conn(ctx)
				require.NoError(t, err)
				defer one.Close()
				_, err = one.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL "+level)
				require.NoError(t, err)
				updates, inserts := make(chan error, 1), make(chan error, 1)
				go func() {
					updates <- unlessDeadlocked(func() error {
						_, err := one.ExecContext(ctx, fmt.Sprintf("INSERT INTO meets (id, nick, email) VALUES (%d, 'p', 'a') ON DUPLICATE KEY UPDATE n = n + 1, email = CONCAT(email, 'x')", ids[2]))
						return err
					})
				}()
				awaitLockWaits(t, 1, nil)
				go func() {
					values := fmt.Sprintf("(%d, 'q', 'z')", ids[2])
					if key == "unique" {
						values = fmt.Sprintf("(%d, 'p', 'z')", ids[3])
					}
					inserts <- unlessDeadlocked(func() error {
						_, err := db.Exec("INSERT INTO meets (id, nick, email) VALUES " + values)
						return err
					})
				}()
				awaitLockWaits(t, 2, inserts)
				require.NoError(t, held.Rollback())
				require.NoError(t, <-updates)
				require.NoError(t, <-inserts)
				var rows string
				require.NoError(t, db.QueryRow("SELECT GROUP_CONCAT(CONCAT(email, n) ORDER BY email) FROM meets").Scan(&rows))
				require.Contains(t, []string{"a0,m0,zx1", "ax1,m0,z0"}, rows, "as if one had come after the other")
				indexesHold(t)
			})
		}
	}
}

// unlessDeadlocked runs a statement until it ends otherwise than by a deadlock.
func unlessDeadlocked(statement func() error) error {
	for {
		if err := statement(); errno(err) != 1213 {
			return err
		}
	}
}

// together returns n ids of rows of node group 2.
func together(t *testing.T, db *sql.DB, table string, n int) (ids []int) {
	for id := 1; id <= 60; id++ {
		_, err := db.Exec(fmt.Sprintf("INSERT INTO %s (id) VALUES (%d)", table, id))
		require.NoError(t, err)
	}
	rows, err := shared.NodeGroupDB(t, 2, "d").Query("SELECT id FROM " + table + " ORDER BY id")
	require.NoError(t, err)
	defer rows.Close()
	for len(ids) < n {
		var id int
		require.True(t, rows.Next())
		require.NoError(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	_, err = db.Exec("DELETE FROM " + table)
	require.NoError(t, err)
	return ids
}

// lockEntry locks the entry of a value in whichever global index has it, as nothing but a statement that is about to change the
// row does.
func lockEntry(t *testing.T, value string) *sql.Tx {
	for g := 1; g <= 4; g++ {
		server := shared.NodeGroupDB(t, g, "_skarv")
		for _, name := range indexTables(t, server) {
			var found string
			if server.QueryRow("SELECT u0 FROM "+name+" WHERE u0 = ?", value).Scan(&found) != nil {
				continue
			}
			tx, err := server.Begin()
			require.NoError(t, err)
			t.Cleanup(func() { _ = tx.Rollback() })
			require.NoError(t, tx.QueryRow("SELECT u0 FROM "+name+" WHERE u0 = ? FOR UPDATE", value).Scan(&found))
			return tx
		}
	}
	require.Fail(t, "no group has the entry")
	return nil
}

func indexTables(t *testing.T, server *sql.DB) (names []string) {
	rows, err := server.Query("SELECT table_name FROM information_schema.tables WHERE table_schema = '_skarv' AND table_name LIKE 'uq@_%' ESCAPE '@'")
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}
	return names
}

// indexesHold checks every global index against its table.
func indexesHold(t *testing.T) {
	checks, err := adminv1.NewAdminClient(shared.Admin(t)).CheckIndexes(t.Context(), &adminv1.CheckIndexesRequest{})
	require.NoError(t, err)
	require.NotEmpty(t, checks.GetIndexes())
	for _, x := range checks.GetIndexes() {
		require.Zero(t, x.GetMissing()+x.GetWrong()+x.GetStale()+x.GetDuplicates(), "%v", x)
	}
}

// awaitLockWaits returns when n transactions wait for locks of servers, or there is something in over, which stays there.
func awaitLockWaits(t *testing.T, n int, over chan error) {
	var servers []*sql.DB
	for g := 1; g <= 4; g++ {
		servers = append(servers, shared.NodeGroupDB(t, g, ""))
	}
	require.Eventually(t, func() bool { return len(over) > 0 || cluster.LockWaits(t, servers) >= n }, patience, cluster.LockTick)
}

// The insert id of an INSERT whose last row meets one that it leaves as it is is that row's number, also where another client has inserted that
// since the transaction began to read.
func TestInsertIDOfARowBesideTheSnapshot(t *testing.T) {
	c, d := connect(t), connect(t)
	c.exec("CREATE TABLE beside (id BIGINT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(40) UNIQUE, n INT)")
	t.Cleanup(func() { d.exec("DROP TABLE beside") })
	for i, begin := range []string{"SET @none = 0", "START TRANSACTION"} {
		c.exec(begin)
		require.Equal(t, "0", c.get("SELECT COUNT(*) FROM beside"))
		result, err := d.ExecContext(t.Context(), "INSERT INTO beside (email, n) VALUES ('later', 1)")
		require.NoError(t, err)
		met, err := result.LastInsertId()
		require.NoError(t, err)
		result, err = c.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO beside VALUES (%d, 'new', 1), (NULL, 'later', 1) ON DUPLICATE KEY UPDATE n = n", 1000+i))
		require.NoError(t, err)
		id, err := result.LastInsertId()
		require.NoError(t, err)
		require.Equal(t, met, id, begin)
		c.exec("COMMIT")
		c.exec("DELETE FROM beside")
	}
}

// An UPDATE or DELETE that moves rows, or changes rows with entries, finds them by the present rows of tables that it reads, and a new key that it
// computes of them is the one that the row lies by: a transaction that began to read before knows of others.
func TestChangedRowsAreFoundByThePresent(t *testing.T) {
	c, d := connect(t), connect(t)
	for _, sql := range []string{
		"CREATE TABLE foundby (id INT PRIMARY KEY, n INT) COMMENT 'skarv:reference'", "CREATE TABLE placed (id INT PRIMARY KEY, e VARCHAR(10) UNIQUE)",
		"CREATE FUNCTION foundbest() RETURNS INT READS SQL DATA RETURN (SELECT MAX(id) FROM foundby)",
	} {
		d.exec(sql)
	}
	t.Cleanup(func() {
		c.exec("ROLLBACK")
		d.exec("DROP FUNCTION foundbest")
		d.exec("DROP TABLE foundby, placed")
	})
	d.exec("INSERT INTO foundby VALUES (1, 1)")
	d.exec("INSERT INTO placed VALUES (1, 'a'), (2, 'b'), (3, 'c'), (7, 'd'), (8, 'e')")
	c.exec("START TRANSACTION")
	require.Equal(t, "1,5", c.get("SELECT (SELECT COUNT(*) FROM foundby), (SELECT COUNT(*) FROM placed)"))
	d.exec("INSERT INTO foundby VALUES (7, 1)")
	c.exec("UPDATE placed SET e = 'x' WHERE id = (SELECT MAX(id) FROM foundby)")
	c.exec("DELETE FROM placed WHERE id = foundbest() + 1")
	c.exec("UPDATE placed SET id = 300 WHERE id IN (SELECT id + 2 FROM foundby)")
	c.exec("UPDATE placed SET id = id + 100 * (SELECT MAX(id) FROM foundby) WHERE id = 1")
	c.exec("UPDATE placed SET id = id + 100 * foundbest() WHERE id = 2")
	c.exec("COMMIT")
	require.Equal(t, "7,x;300,c;701,a;702,b", c.get("SELECT * FROM placed ORDER BY id"))
	for _, id := range []int{7, 300, 701, 702} {
		require.Equal(t, fmt.Sprint(id), c.get(fmt.Sprintf("SELECT id FROM placed WHERE id = %d", id)))
	}
}

// Values that are computed to place a row come from the rows that the transaction has written, and from those of others that it would
// not see by its snapshot.
func TestComputedKeysReadTheTransactionsRows(t *testing.T) {
	c, d := connect(t), connect(t)
	for _, sql := range []string{
		"CREATE TABLE keyed (id INT PRIMARY KEY, n INT) COMMENT 'skarv:reference'", "CREATE TABLE bykey (id INT PRIMARY KEY, e VARCHAR(10) UNIQUE)",
		"CREATE TABLE noticed (id INT PRIMARY KEY, n INT NOT NULL)", "CREATE TRIGGER notices BEFORE INSERT ON noticed FOR EACH ROW SET NEW.n = 1",
		"CREATE FUNCTION bestkey() RETURNS INT READS SQL DATA RETURN (SELECT MAX(id) FROM keyed)",
	} {
		d.exec(sql)
	}
	t.Cleanup(func() {
		c.exec("ROLLBACK")
		d.exec("DROP FUNCTION bestkey")
		d.exec("DROP TABLE keyed, bykey, noticed")
	})
	d.exec("INSERT INTO keyed VALUES (1, 1)")
	for _, level := range []string{"REPEATABLE READ", "READ COMMITTED"} {
		c.exec("SET SESSION TRANSACTION ISOLATION LEVEL " + level)
		c.exec("START TRANSACTION")
		require.Equal(t, "1", c.get("SELECT COUNT(*) FROM keyed"))
		d.exec("INSERT INTO keyed VALUES (5, 1)")
		c.exec("INSERT INTO noticed SET id = (SELECT MAX(id) FROM keyed)")
		c.exec("INSERT INTO bykey SET id = (SELECT MAX(id) + 200 FROM keyed)")
		c.exec("INSERT INTO keyed VALUES (7, 1)")
		c.exec("INSERT INTO bykey VALUES (bestkey(), 'a')")
		c.exec("INSERT INTO bykey VALUES (bestkey() + 100, CONCAT('x', bestkey())), (9, 'b')")
		c.exec("INSERT INTO bykey SET id = (SELECT MAX(id) + 300 FROM keyed)")
		c.exec("REPLACE INTO bykey VALUES (bestkey() + 2, CONCAT('y', bestkey()))")
		c.fails(1235, "INSERT INTO noticed SET id = (SELECT MAX(id) FROM keyed)")
		c.exec("COMMIT")
		require.Equal(t, "7,a;9,y7;107,x7;205,;307,", c.get("SELECT id, IFNULL(e, '') FROM bykey ORDER BY id"), level)
		require.Equal(t, "5", c.get("SELECT id FROM noticed"), level)
		d.exec("DELETE FROM bykey")
		d.exec("DELETE FROM noticed")
		d.exec("DELETE FROM keyed WHERE id > 1")
	}
}

// The hidden key of a table without a primary key may be named, and leads its UNIQUE keys' entries to their rows.
func TestHiddenKeyIsNamed(t *testing.T) {
	db := shared.DB(t, "d")
	_, err := db.Exec("CREATE TABLE keyless (v INT UNIQUE)")
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = db.Exec("DROP TABLE keyless") })
	for _, q := range []string{
		"INSERT INTO keyless (my_row_id, v) VALUES (1000, 1), (NULL, 2)", "INSERT INTO keyless VALUES (3), (NULL), (NULL)",
		"INSERT INTO keyless SELECT v + 10 FROM keyless", "UPDATE keyless SET v = 4 WHERE my_row_id = 1000",
	} {
		_, err := db.Exec(q)
		require.NoError(t, err, q)
	}
	_, err = db.Exec("INSERT INTO keyless (my_row_id, v) VALUES (5, 4)")
	require.ErrorContains(t, err, "Duplicate entry '4' for key")
	_, err = db.Exec("INSERT INTO keyless (my_row_id) VALUES (1000)")
	require.ErrorContains(t, err, "Duplicate entry '1000' for key")
	entriesMatch(t, "keyless", "my_row_id", "v")
}
