package exec

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

func (w *world) route(target plan.Target, sql string) ([]placement.NodeGroupID, bool) {
	groups, exact, err := w.runner.Router.Route(&target, w.snap, w.scan(sql), nil)
	require.NoError(w.cluster.t, err)
	require.NotEmpty(w.cluster.t, groups)
	require.True(w.cluster.t, slices.IsSorted(groups))
	return groups, exact
}

func TestRoute(t *testing.T) {
	type groups = []placement.NodeGroupID
	w := newWorld(t)
	key := plan.Target{Kind: plan.ByKey, Table: w.t, Key: []plan.Operand{{Arg: 0}}}
	all := groups{1, 2, 3}
	for _, c := range []struct {
		target plan.Target
		sql    string
		want   groups
		exact  bool
	}{
		{plan.Target{Kind: plan.OneGroup, Group: 4}, "SELECT 1", groups{4}, true},
		{plan.Target{Kind: plan.AnyGroup}, "SELECT 1", groups{1}, true},
		{plan.Target{Kind: plan.AllGroups}, "SELECT 1", all, true},
		{key, "SELECT * FROM t WHERE id = 7", groups{w.owner("7")}, true},
		{key, "SELECT * FROM t WHERE id = '7'", groups{w.owner("7")}, true},
		{key, "SELECT * FROM t WHERE id = 7.0", groups{w.owner("7")}, true},
		{key, "SELECT * FROM t WHERE id = 1.5", groups{1}, true}, // no row
		{key, "SELECT * FROM t WHERE id = '7x'", all, false},
		{key, "SELECT * FROM t WHERE id IN (7, 7, '7')", groups{w.owner("7")}, true},
		{key, "SELECT * FROM t WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9)", all, true},
		{key, "SELECT * FROM t WHERE id IN (7, '7x')", all, false},
		{plan.Target{Kind: plan.ByKey, Table: w.t, Key: []plan.Operand{{Arg: plan.NoArg, Const: sqltypes.Value{Kind: sqltypes.Int, Raw: []byte("7")}}}},
			"SELECT 1", groups{w.owner("7")}, true},
	} {
		if c.sql == "SELECT * FROM t WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9)" {
			var want groups
			for i := range 9 {
				want = addGroup(want, 0, w.owner(fmt.Sprint(i+1)))
			}
			c.want = want
		}
		got, exact := w.route(c.target, c.sql)
		require.Equal(t, c.want, got, c.sql)
		require.Equal(t, c.exact, exact, c.sql)
	}
	w.runner.Router.Home = 3
	got, _ := w.route(plan.Target{Kind: plan.AnyGroup}, "SELECT 1")
	require.Equal(t, groups{3}, got)
	got, _ = w.route(key, "SELECT * FROM t WHERE id = 1.5")
	require.Equal(t, groups{3}, got)
}

func TestRouteOfSeveralColumns(t *testing.T) {
	w := newWorld(t)
	key := plan.Target{Kind: plan.ByKey, Table: w.pair, Key: []plan.Operand{{Arg: 0}, {Arg: 1}}}
	owner := func(a, b string) placement.NodeGroupID {
		p, _, m := w.pair.Key.Partition(nil, []sqltypes.Value{{Kind: sqltypes.Int, Raw: []byte(a)}, {Kind: sqltypes.String, Raw: []byte(b)}}, placement.Compare)
		require.Equal(t, placement.Exact, m)
		return w.snap.Map.Owner(p)
	}
	got, exact := w.route(key, `SELECT * FROM pair WHERE a = 5 AND b = 'it''s'`)
	require.True(t, exact)
	require.Equal(t, []placement.NodeGroupID{owner("5", "it's")}, got)
	// Every combination counts, and escaped strings do not overwrite each other.
	got, exact = w.route(key, `SELECT * FROM pair WHERE a IN (1, 2, 3) AND b IN ('a''x', 'b''y')`)
	require.True(t, exact)
	var want []placement.NodeGroupID
	for _, a := range []string{"1", "2", "3"} {
		for _, b := range []string{"a'x", "b'y"} {
			want = addGroup(want, 0, owner(a, b))
		}
	}
	require.Equal(t, want, got)
	// Too many combinations to look at: all groups, which is right as well.
	long := strings.TrimSuffix(strings.Repeat("1,", 100), ",")
	_, exact = w.route(key, "SELECT * FROM pair WHERE a IN ("+long+") AND b IN ("+long+")")
	require.False(t, exact)
}

func TestRelay(t *testing.T) {
	w := newWorld(t)
	key := func(arg int) plan.Target {
		return plan.Target{Kind: plan.ByKey, Table: w.t, Key: []plan.Operand{{Arg: arg}}}
	}
	f := &plan.Fragment{Target: key(0)}
	f.Target.Also = []plan.Target{key(1)}
	g, ok, err := w.runner.Router.Relay(f, w.snap, w.scan("SELECT * FROM t a, t b WHERE a.id = 7 AND b.id = '7'"))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, w.owner("7"), g)
	other := 8
	for w.owner(fmt.Sprint(other)) == w.owner("7") {
		other++
	}
	_, ok, err = w.runner.Router.Relay(f, w.snap, w.scan(fmt.Sprintf("SELECT * FROM t a, t b WHERE a.id = 7 AND b.id = %d", other)))
	require.NoError(t, err)
	require.False(t, ok)
}

// executePayload is a COM_STMT_EXECUTE payload of one BIGINT and one string.
func executePayload(id int64, s string) []byte {
	b := wire.AppendExecuteHead(nil, 1, 0)
	b = append(b, 0, 1, byte(sqltypes.TypeLongLong), 0, byte(sqltypes.TypeVarString), 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(id))
	return wire.AppendLenencString(b, s)
}

func TestParameters(t *testing.T) {
	w := newWorld(t)
	var params wire.Params
	require.NoError(t, params.Parse(executePayload(7, `it's "?"`), 2, nil, nil))
	a := w.scan("SELECT '?', `?` /* ? */ FROM t WHERE id = ? -- ?\n AND s = ?")
	a.Reset(a.Statement(), &params)
	require.Equal(t, "SELECT '?', `?` /* ? */ FROM t WHERE id = 7 -- ?\n AND s = 'it''s \"?\"'", string(a.AppendStatement(nil)))

	key := plan.Target{Kind: plan.ByKey, Table: w.t, Key: []plan.Operand{{Arg: a.Statement().NumArgs() - 2}}}
	groups, exact, err := w.runner.Router.Route(&key, w.snap, a, nil)
	require.NoError(t, err)
	require.True(t, exact)
	require.Equal(t, []placement.NodeGroupID{w.owner("7")}, groups)
}

// What a statement pays for finding its node group must not grow with their number.
func BenchmarkRoute(b *testing.B) {
	w := newWorld(&testing.T{})
	f := &plan.Fragment{Target: plan.Target{Kind: plan.ByKey, Table: w.t, Key: []plan.Operand{{Arg: 0}}}}
	a := w.scan("SELECT c FROM t WHERE id = 12345")
	for _, n := range []int{1, 12, 144} {
		b.Run(fmt.Sprintf("groups_%d", n), func(b *testing.B) {
			snap := &catalog.Snapshot{}
			var ids []placement.NodeGroupID
			for id := range n {
				ids = append(ids, placement.NodeGroupID(id+1))
				snap.Groups = append(snap.Groups, &catalog.NodeGroup{ID: ids[id]})
			}
			m, err := placement.NewMap(ids)
			require.NoError(b, err)
			snap.Map = m
			b.ReportAllocs()
			for b.Loop() {
				if _, one, err := w.runner.Router.Relay(f, snap, a); err != nil || !one {
					b.Fatal(one, err)
				}
			}
		})
	}
}
