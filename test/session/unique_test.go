package session

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
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
	db := shared.DB(t, "d")
	_, err := db.Exec("CREATE TABLE follow (id INT PRIMARY KEY, email VARCHAR(40) UNIQUE, n INT DEFAULT 0)")
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
	entriesMatch(t, "follow", "id", "email")
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
