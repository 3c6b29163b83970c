package reorg

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	"skarv/pkg/server"
	adminv1 "skarv/proto/admin/v1"
)

// found is what a checksum says of what is wrong, a line for each difference.
func (m *machine) checksum(table string) (report *adminv1.ChecksumReport, found string) {
	m.t.Helper()
	req := &adminv1.ChecksumRequest{}
	req.Database, req.Table, _ = strings.Cut(table, ".")
	s, err := adminv1.NewAdminClient(m.Admin(m.t)).Checksum(m.t.Context(), req)
	require.NoError(m.t, err)
	for {
		r, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(m.t, err)
		if r.Report != nil {
			report = r.Report
		}
	}
	require.NotNil(m.t, report)
	for _, t := range report.Tables {
		assert.Zero(m.t, t.Unverified, t.Table)
		for _, d := range t.Differences {
			found += fmt.Sprintf("%s %s %s: %s\n", t.Table, t.Comparison, d.Key, d.What)
		}
	}
	return report, found
}

// A checksum finds what somebody has done to the servers past Skarv, and nothing else, under load and while partitions move.
func TestChecksum(t *testing.T) {
	m := &machine{t: t, faults: &faults{}}
	m.begin(2, func(o *server.Options) {
		o.Reorg = func(c *reorg.Config) {
			c.Times.Retry, c.Times.MaxLag = 200*time.Millisecond, 2*time.Second // the machine is busy
			c.Times.Ack, c.Times.Deadline = 3*time.Second, 10*time.Second
		}
	})
	exec(t, m.db, "CREATE TABLE u (id BIGINT PRIMARY KEY, name VARCHAR(40) NOT NULL, UNIQUE KEY (name))")
	exec(t, m.db, "CREATE TABLE ref (id INT PRIMARY KEY, n INT NOT NULL) COMMENT 'skarv:reference'")
	for i := range 40 {
		exec(t, m.db, fmt.Sprintf("INSERT INTO u VALUES (%d, 'name %d')", i, i))
		exec(t, m.db, fmt.Sprintf("INSERT INTO ref VALUES (%d, 0)", i))
	}
	stop := m.load(2)
	var end atomic.Bool
	var g errgroup.Group
	g.Go(func() error { // copies that change, and keys that do
		for i := 0; !end.Load(); i++ {
			for _, q := range []string{
				fmt.Sprintf("UPDATE ref SET n = n + 1 WHERE id = %d", i%40),
				fmt.Sprintf("UPDATE u SET name = 'other %d' WHERE id = %d", i, i%40),
			} {
				if _, err := m.db.Exec(q); err != nil && code(err) != 1213 && code(err) != 1205 && code(err) != 1317 {
					return err
				}
			}
		}
		return nil
	})
	report, found := m.checksum("")
	require.Empty(t, found)
	require.Empty(t, report.Skipped)
	right := map[string]uint64{}
	for _, x := range report.Tables {
		right[x.Table+" "+x.Comparison] += x.Rows
	}
	require.EqualValues(t, 200, right["d.t placement"])
	require.EqualValues(t, 40, right["d.ref copies"])
	require.EqualValues(t, 40, right["d.u index name"])

	// While partitions move, with a way back: the old owner follows.
	id := m.start(reorg.Request{Partitions: placement.SetOf(m.owned(1)[:900]...), To: 2}, time.Hour)
	m.await(id, reorg.Reverse)
	report, found = m.checksum("d.t")
	require.Empty(t, found)
	require.Empty(t, report.Skipped)
	moving := report.Tables[len(report.Tables)-1]
	require.Equal(t, "moving", moving.Comparison)
	require.NotZero(t, moving.Rows)

	// What nobody should do.
	end.Store(true)
	require.NoError(t, g.Wait())
	stop()
	pm, _, err := m.store.Map(t.Context())
	require.NoError(t, err)
	moved, stays := "", ""
	set := pm.Moving()[0].Partitions
	for i := range 200 {
		switch p := partition(fmt.Sprint(i)); {
		case set.Has(p):
			moved = fmt.Sprint(i)
		case pm.Owner(p) == 1:
			stays = fmt.Sprint(i)
		}
	}
	exec(t, m.NodeGroupDB(t, 1, "d"), "UPDATE t SET n = -1 WHERE id = "+moved)
	exec(t, m.NodeGroupDB(t, 2, "d"), "INSERT INTO t VALUES ("+stays+", 7)")
	_, found = m.checksum("d.t")
	assert.Contains(t, found, "d.t moving id="+moved+": n on node group ng1\n")
	assert.Contains(t, found, fmt.Sprintf("d.t placement id=%s: its partition %d is another node group's on node group ng2\n", stays, partition(stays)))
	assert.Equal(t, 2, strings.Count(found, "\n"), found)
	exec(t, m.NodeGroupDB(t, 2, "d"), "DELETE FROM t WHERE id = "+stays)
	_, err = reorg.Ask(t.Context(), m.store, id, reorg.WishComplete)
	require.NoError(t, err)
	m.await(id, reorg.Done)
	for _, q := range []string{"UPDATE ref SET n = n - 1 WHERE id = 5", "DELETE FROM ref WHERE id = 6", "INSERT INTO ref VALUES (77, 7)"} {
		exec(t, m.NodeGroupDB(t, 2, "d"), q)
	}
	entries := text(t, m.NodeGroupDB(t, 1, "_skarv"), "SELECT table_name FROM information_schema.tables WHERE table_schema = '_skarv' AND table_name LIKE 'uq\\_%'")
	for group := range 2 {
		exec(t, m.NodeGroupDB(t, group+1, "_skarv"), "DELETE FROM "+entries+" WHERE k0 = 11")
	}
	_, found = m.checksum("")
	assert.Equal(t, "d.ref copies id=5: n on node group ng2\nd.ref copies id=77: unexpected on node group ng2\nd.ref copies id=6: missing on node group ng2\n"+
		"d.u index name name: 1 rows without an entry: skarvctl index check --repair\n", found)
}

// owned are the partitions of a group.
func (m *machine) owned(g placement.NodeGroupID) []placement.Partition {
	m.t.Helper()
	pm, _, err := m.store.Map(m.t.Context())
	require.NoError(m.t, err)
	return pm.Owned(g)
}
