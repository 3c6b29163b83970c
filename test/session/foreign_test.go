package session

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Parents go while children come, on different node groups: no child is left without its parent.
func TestNoChildWithoutParent(t *testing.T) {
	db := shared.DB(t, "d")
	for _, q := range []string{
		"CREATE TABLE fk_parent (id INT PRIMARY KEY, v INT)",
		"CREATE TABLE fk_child (id INT PRIMARY KEY, parent INT, dear INT, FOREIGN KEY (parent) REFERENCES fk_parent (id), FOREIGN KEY (dear) REFERENCES fk_parent (id) ON DELETE CASCADE ON UPDATE CASCADE)",
	} {
		_, err := db.Exec(q)
		require.NoError(t, err)
	}
	t.Cleanup(func() { _, _ = db.Exec("DROP TABLE fk_child, fk_parent") })
	var done atomic.Int32
	var wg sync.WaitGroup
	for c := range 4 {
		rnd := rand.New(rand.NewPCG(uint64(c), 3))
		wg.Go(func() {
			for range 30 {
				id, child := rnd.IntN(6), rnd.IntN(40)
				q, args := "", []any{}
				switch rnd.IntN(7) {
				case 0, 1:
					q, args = "INSERT INTO fk_parent (id) VALUES (?)", []any{id}
				case 2, 3:
					q, args = "INSERT INTO fk_child (id, parent, dear) VALUES (?, ?, ?)", []any{child, id, rnd.IntN(6)}
				case 4:
					q, args = "DELETE FROM fk_parent WHERE id = ?", []any{id}
				case 5:
					q, args = "DELETE FROM fk_child WHERE id = ?", []any{child}
				case 6:
					q, args = "UPDATE fk_child SET parent = NULL, dear = ? WHERE id = ?", []any{id, child}
				}
				switch _, err := db.Exec(q, args...); errno(err) {
				case 0:
					if err != nil {
						t.Error(err)
					}
					done.Add(1)
				case 1062, 1213, 1205, 1451, 1452:
				default:
					t.Errorf("%s %v: %v", q, args, err)
				}
			}
		})
	}
	wg.Wait()
	require.Greater(t, done.Load(), int32(20))
	for _, column := range []string{"parent", "dear"} {
		var n int
		require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM fk_child c LEFT JOIN fk_parent p ON p.id = c."+column+" WHERE c."+column+" IS NOT NULL AND p.id IS NULL").Scan(&n))
		require.Zero(t, n, column)
	}
	// The servers look at foreign keys again.
	for g := 1; g <= 4; g++ {
		var on int
		require.NoError(t, shared.NodeGroupDB(t, g, "d").QueryRow("SELECT @@foreign_key_checks").Scan(&on))
		require.Equal(t, 1, on)
	}
	for range 20 {
		var on int
		require.NoError(t, db.QueryRow("SELECT @@foreign_key_checks").Scan(&on))
		require.Equal(t, 1, on)
	}
}

// A child changes its node group while its parent is deleted, by a session that has looked where the child is going to be, but
// not yet where it was. READ COMMITTED locks no gaps.
func TestChildMovesWhileParentGoes(t *testing.T) {
	admin := connect(t)
	admin.exec("CREATE TABLE fm_parent (id INT PRIMARY KEY)")
	admin.exec("CREATE TABLE fm_child (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES fm_parent (id))")
	t.Cleanup(func() { admin.exec("DROP TABLE fm_child, fm_parent") })
	there, between, from := idOn(t, 1, 1), idOn(t, 2, 1), idOn(t, 3, 1)
	admin.exec("INSERT INTO fm_parent VALUES (5)")
	admin.exec("INSERT INTO fm_child VALUES (?, 5), (?, 5)", between, from)
	begin := func() *client {
		c := connect(t)
		c.exec("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
		c.exec("BEGIN")
		return c
	}
	holder, parent, child := begin(), begin(), begin()
	holder.exec("DELETE FROM fm_child WHERE id = ?", between)
	goes := parent.start("DELETE FROM fm_parent WHERE id = 5")
	require.True(t, goes.waits(1), "it has looked at group 1 and waits on group 2")
	moves := child.start(fmt.Sprintf("UPDATE fm_child SET id = %d WHERE id = %d", there, from), "COMMIT")
	moves.waits(2)
	holder.exec("COMMIT")
	gone := goes.end()
	if gone == nil {
		parent.exec("COMMIT")
	} else {
		parent.exec("ROLLBACK")
	}
	require.Contains(t, []int{0, 1213, 1451}, errno(gone), "%v", gone)
	require.Contains(t, []int{0, 1213}, errno(moves.end()))
	child.exec("ROLLBACK")
	require.Equal(t, "0", admin.get("SELECT COUNT(*) FROM fm_child c LEFT JOIN fm_parent p ON p.id = c.parent WHERE p.id IS NULL"))
	require.Equal(t, "1", admin.get("SELECT COUNT(*) FROM fm_child"))
}
