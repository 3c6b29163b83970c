package reorg

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/test/cluster"

	adminv1 "skarv/proto/admin/v1"
)

// A node group that joins has the rows of every reference table, those that are written meanwhile too.
func TestJoiningGroupHasReferenceTables(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(2))
	db := c.DB(t, "")
	exec(t, db, "CREATE DATABASE d")
	db = c.DB(t, "d")
	exec(t, db, "CREATE TABLE r (id INT PRIMARY KEY, s VARCHAR(20), b BLOB, f FLOAT, ts TIMESTAMP NULL, d DECIMAL(10,3), e ENUM('x','y'), u VARCHAR(9) AS (UPPER(s))) COMMENT 'skarv:reference'")
	exec(t, db, "CREATE TABLE q (id INT PRIMARY KEY) COMMENT 'skarv:reference'")
	exec(t, db, "INSERT INTO r (id, s, b, f, ts, d, e) VALUES (0, 'ä''\\\\', x'00ff27', 1.1, '2024-03-31 02:30:00', -1.5, 'y'), (-1, NULL, NULL, NULL, NULL, NULL, NULL)")
	exec(t, db, "CREATE TRIGGER tq BEFORE INSERT ON q FOR EACH ROW SET NEW.id = NEW.id + 10")
	exec(t, db, "INSERT INTO q VALUES (0)")
	var end atomic.Bool
	var written atomic.Int64
	var g errgroup.Group
	for w := range 3 {
		g.Go(func() error {
			for i := w + 1; !end.Load(); i += 3 {
				var err error
				if i%2 == 0 {
					_, err = db.Exec("INSERT INTO r (id, s) VALUES (?, 'n')", i)
				} else {
					_, err = db.Exec(fmt.Sprintf("INSERT INTO r (id, s) SELECT %d, s FROM r WHERE id = 0", i))
				}
				if err != nil {
					return err
				}
				written.Add(1)
			}
			return nil
		})
	}
	api := adminv1.NewAdminClient(c.Admin(t))
	r, err := api.AddNodeGroup(t.Context(), &adminv1.AddNodeGroupRequest{Count: 1})
	require.NoError(t, err)
	require.Equal(t, []uint32{3}, r.Ids)
	end.Store(true)
	require.NoError(t, g.Wait())
	exec(t, db, "INSERT INTO q VALUES (1)")
	all := "SELECT id, s, HEX(b), f, UNIX_TIMESTAMP(ts), d, e, u FROM r ORDER BY id"
	want := text(t, c.NodeGroupDB(t, 1, "d"), all)
	for group := 2; group <= 3; group++ {
		one := c.NodeGroupDB(t, group, "d")
		assert.Equal(t, want, text(t, one, all))
		assert.Equal(t, "10,11", text(t, one, "SELECT GROUP_CONCAT(id ORDER BY id) FROM q"), "triggers fire for clients' rows, not for copies")
		assert.Equal(t, fmt.Sprint(written.Load()+2), text(t, one, "SELECT COUNT(*) FROM r"))
	}
	// It owns nothing, and can be taken out again.
	_, err = api.RemoveNodeGroup(t.Context(), &adminv1.RemoveNodeGroupRequest{NodeGroup: "ng1"})
	require.ErrorContains(t, err, "drain ng1")
	_, err = api.RemoveNodeGroup(t.Context(), &adminv1.RemoveNodeGroupRequest{NodeGroup: "ng3"})
	require.NoError(t, err)
	exec(t, db, "INSERT INTO q VALUES (2)")
}
