package virtualdb

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/digest"
	"skarv/pkg/event"
	"skarv/pkg/placement"
	"skarv/pkg/processlist"
	"skarv/pkg/sqlerr"
	"skarv/pkg/txn"
)

func rows(t *testing.T, c *Cluster, name string, v *Viewer) [][]any {
	t.Helper()
	table, err := c.Table(name, v)
	require.NoError(t, err)
	for _, row := range table.Rows {
		require.Len(t, row, len(table.Columns))
	}
	return table.Rows
}

func TestTables(t *testing.T) {
	v := &Viewer{Snapshot: &catalog.Snapshot{Databases: map[string]*catalog.Database{"app": {Tables: map[string]*catalog.Table{
		"b": {Kind: catalog.Sharded, Columns: []catalog.Column{{Name: "x"}, {Name: "y"}}, Distribution: []int{1, 0}},
		"a": {Kind: catalog.Single, Group: 2},
		"c": {Kind: catalog.Reference},
	}}}}}
	require.Equal(t, [][]any{
		{"app", "a", "single", "", 2},
		{"app", "b", "sharded", "y,x", nil},
		{"app", "c", "reference", "", nil},
	}, rows(t, &Cluster{}, "TABLES", v))
	_, err := new(Cluster).Table("none", v)
	require.Equal(t, sqlerr.NoSuchTable.New("skarv", "none"), err)
}

func TestPartitions(t *testing.T) {
	m, err := placement.NewMap([]placement.NodeGroupID{1, 2})
	require.NoError(t, err)
	c := &Cluster{PartitionLoad: func(context.Context) ([]float64, error) {
		return append(make([]float64, placement.Partitions-1), 1.25), nil
	}}
	list := rows(t, c, "partitions", &Viewer{Snapshot: &catalog.Snapshot{Map: m}})
	require.Len(t, list, placement.Partitions)
	last := list[placement.Partitions-1]
	require.Equal(t, int(m.Owner(placement.Partitions-1)), last[1])
	require.Equal(t, "1.250", last[3].(perSecond).String())
}

// What others do not answer is an error of the client's statement, and does not keep it for ever.
func TestWhatIsNotAnswered(t *testing.T) {
	c := &Cluster{
		PartitionLoad: func(ctx context.Context) ([]float64, error) {
			_, limited := ctx.Deadline()
			require.True(t, limited)
			return nil, errors.New("no process answers")
		},
		Transactions: func(context.Context, txn.ID) ([]txn.Info, error) { return nil, sqlerr.QueryInterrupted.New() },
	}
	_, err := c.Table("partitions", &Viewer{})
	require.Equal(t, sqlerr.UnknownError.New("no process answers"), err)
	_, err = c.Table("transactions", &Viewer{})
	require.Equal(t, sqlerr.QueryInterrupted.New(), err)
}

func TestEvents(t *testing.T) {
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	c := &Cluster{EventStates: func(context.Context) (map[catalog.EventKey]event.State, error) {
		return map[catalog.EventKey]event.State{{Database: "app", Name: "gone"}: {Database: "app", Name: "gone", Runs: 3, Started: at}}, nil
	}}
	v := &Viewer{Snapshot: &catalog.Snapshot{EventsOff: true, Events: map[catalog.EventKey]*catalog.Event{
		{Database: "app", Name: "e"}: {Database: "app", Name: "e", Definer: "ann", Status: catalog.EventEnabled},
	}}}
	list := rows(t, c, "events", v)
	require.Len(t, list, 2)
	require.Equal(t, []any{"app", "e", "ann", "ENABLED, event_scheduler is OFF"}, list[0][:4])
	require.Nil(t, list[0][7])
	require.Equal(t, []any{"app", "gone", nil, "DROPPED"}, list[1][:4])
	require.Equal(t, "2026-05-04 03:02:01", list[1][7])
}

func TestWork(t *testing.T) {
	c := &Cluster{
		Reorganisations: func(context.Context) ([]Reorganisation, error) {
			return []Reorganisation{{ID: "r1", Paused: true, ETA: 90 * time.Second}}, nil
		},
		SchemaChanges: func(context.Context) ([]SchemaChange, error) { return []SchemaChange{{ID: "s1", Database: ""}}, nil },
		Transactions: func(_ context.Context, id txn.ID) ([]txn.Info, error) {
			require.Empty(t, id, "all of them")
			return []txn.Info{{ID: "t1", Group: 2, Age: 3 * time.Second}}, nil
		},
	}
	require.Equal(t, 90, rows(t, c, "reorganisations", &Viewer{})[0][11])
	require.Nil(t, rows(t, c, "schema_changes", &Viewer{})[0][4])
	require.Equal(t, []any{"t1", "", 2, 3, ""}, rows(t, c, "transactions", &Viewer{})[0])
	c.Statements = func(context.Context) ([]digest.Row, error) {
		return []digest.Row{{Text: "SELECT ?", Count: 2, Total: 3 * time.Millisecond}}, nil
	}
	require.Equal(t, []any{nil, "SELECT ?", "", uint64(2), uint64(0), int64(3000), int64(1500)}, rows(t, c, "statements", &Viewer{})[0][:7])
	v := &Viewer{Processes: func() []processlist.Process { return []processlist.Process{{ID: 7, User: "ann", Since: time.Now()}} }}
	require.Equal(t, []any{uint32(7), "ann", "", "", "", 0, ""}, rows(t, c, "processlist", v)[0])
}

func TestShow(t *testing.T) {
	require.Len(t, Show(false).Rows, len(tables()))
	require.Equal(t, []any{"events", "SYSTEM VIEW"}, Show(true).Rows[0])
	table, err := new(Cluster).Table("tables", &Viewer{Snapshot: &catalog.Snapshot{}})
	require.NoError(t, err)
	require.Equal(t, []any{"node_group", "bigint", "YES", "", nil, ""}, ShowColumns(table, false).Rows[4])
	require.Equal(t, []any{"kind", "text", nil, "YES", "", nil, "", "select", ""}, ShowColumns(table, true).Rows[2])
}
