package exec

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

var idAndString = []sqltypes.Column{idColumn, strColumn}

func byID() plan.Node {
	return &plan.Merge{Input: allGroups(), Order: []plan.Order{{Column: 0, Weight: -1}}}
}

func TestGroupFailsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = func(g placement.NodeGroupID, _ string) answer {
		if g == 2 {
			return answer{err: sqlerr.UnknownColumn.New("x", "SELECT")}
		}
		return answer{columns: idAndString, rows: []string{"1|a"}}
	}
	_, err := w.run(&plan.Plan{Root: byID()}, "SELECT id, s FROM t")
	require.True(t, sqlerr.HasCode(err, sqlerr.UnknownColumn), "%v", err)
	require.Nil(t, w.sink.columns)
	require.Equal(t, []string{"release 1: <nil>", "release 2: <nil>", "release 3: <nil>"}, w.log[3:])
}

// A group that is lost in the middle of its rows is an error, whichever way the rows are joined; so is one that breaks
// the result off with an error of its own.
func TestGroupFailsAmongRows(t *testing.T) {
	for name, root := range map[string]plan.Node{
		"concat":    &plan.Merge{Input: allGroups()},
		"sorted":    byID(),
		"distinct":  &plan.Distinct{Input: byID(), Columns: []plan.Order{{Column: 0, Weight: -1}}},
		"aggregate": &plan.Aggregate{Input: &plan.Merge{Input: allGroups()}, Columns: []plan.AggregateColumn{{Func: plan.Count}}},
		"limit":     &plan.Limit{Input: byID(), Count: plan.Operand{Arg: -1, Const: sqltypes.Value{Kind: sqltypes.Int, Raw: []byte("100")}}},
		"project":   &plan.Project{Input: byID(), Keep: 1},
		"bare":      allGroups(),
	} {
		for _, broken := range []error{errIO, sqlerr.LockDeadlock.New()} {
			for failing := placement.NodeGroupID(1); failing <= 3; failing++ {
				w := newWorld(t)
				w.cluster.answer = func(g placement.NodeGroupID, _ string) answer {
					a := answer{columns: idAndString, rows: []string{"1|a", "2|b"}}
					if g == failing {
						a.rowErr = broken
					}
					return a
				}
				_, err := w.run(&plan.Plan{Root: root}, "SELECT 1")
				require.Error(t, err, name)
				if broken == errIO {
					require.True(t, sqlerr.HasCode(err, sqlerr.ServerLost), "%s: %v", name, err)
					require.Contains(t, err.Error(), fmt.Sprintf("node group %d", failing))
					require.Contains(t, w.log, fmt.Sprintf("release %d: %v", failing, errIO))
				} else {
					require.True(t, sqlerr.HasCode(err, sqlerr.LockDeadlock), "%s: %v", name, err)
				}
				require.Len(t, w.log, 6)
			}
		}
	}
}

func TestNoConnection(t *testing.T) {
	w := newWorld(t)
	down := sqlerr.ServerLost.New("node group 3 is down")
	w.acquire = func(g placement.NodeGroupID) error {
		if g == 3 {
			return down
		}
		return nil
	}
	_, err := w.run(&plan.Plan{Root: byID()}, "SELECT 1")
	require.Equal(t, error(down), err)
	require.Equal(t, []string{"release 1: <nil>", "release 2: <nil>"}, w.log) // nothing was sent
}

func TestGroupsDisagreeOnColumns(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = func(g placement.NodeGroupID, _ string) answer {
		return answer{columns: idAndString[:2-g%2], rows: []string{"1|a"}}
	}
	_, err := w.run(&plan.Plan{Root: &plan.Merge{Input: allGroups()}}, "SELECT * FROM t")
	require.ErrorContains(t, err, "columns")
	require.Nil(t, w.sink.columns)

	w.cluster.answer = func(g placement.NodeGroupID, _ string) answer {
		if g == 2 {
			return answer{}
		}
		return answer{columns: idAndString}
	}
	_, err = w.run(&plan.Plan{Root: allGroups()}, "SELECT * FROM t")
	require.ErrorContains(t, err, "some without")
}

func TestColumnsWiden(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = func(g placement.NodeGroupID, _ string) answer {
		c := sqltypes.Column{Name: "x", Type: sqltypes.TypeLong, Flags: sqltypes.FlagNotNull, Length: 5}
		switch g {
		case 2:
			c = sqltypes.Column{Name: "x", Type: sqltypes.TypeNewDecimal, Flags: 0, Length: 12, Decimals: 2}
		case 3:
			c = sqltypes.Column{Name: "x", Type: sqltypes.TypeNull}
		}
		return answer{columns: []sqltypes.Column{c}}
	}
	_, err := w.run(&plan.Plan{Root: allGroups()}, "SELECT x")
	require.NoError(t, err)
	require.Equal(t, []sqltypes.Column{{Name: "x", Type: sqltypes.TypeNewDecimal, Length: 12, Decimals: 2}}, w.sink.columns)
}

func TestSeveralResultsOfOneFragment(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = func(g placement.NodeGroupID, _ string) answer {
		return answer{columns: idAndString, more: g == 2}
	}
	_, err := w.run(&plan.Plan{Root: allGroups()}, "CALL p()")
	require.ErrorContains(t, err, "several results")
	require.NotContains(t, w.log, "release 2: <nil>")
}

func TestClientGone(t *testing.T) {
	w := newWorld(t)
	w.rows(idAndString, map[placement.NodeGroupID][]string{1: {"1|a"}, 2: {"2|a"}})
	w.sink.fail = errors.New("client gone")
	_, err := w.run(&plan.Plan{Root: byID()}, "SELECT 1")
	require.EqualError(t, err, "client gone")
	require.Equal(t, []string{"release 1: <nil>", "release 2: <nil>", "release 3: <nil>"}, w.log[3:])
}

func TestKilled(t *testing.T) {
	w := newWorld(t)
	w.rows(idAndString, map[placement.NodeGroupID][]string{1: {"1|a", "4|a"}, 2: {"2|a"}, 3: {"3|a"}})
	w.sink.onRow = func(n int) {
		if n == 2 {
			w.runner.Interrupt(sqlerr.QueryInterrupted.New())
		}
	}
	_, err := w.run(&plan.Plan{Root: byID()}, "SELECT 1")
	require.True(t, sqlerr.HasCode(err, sqlerr.QueryInterrupted), "%v", err)
	require.Equal(t, []string{"1|a", "2|a"}, w.sink.rows)
	for _, l := range w.log[3:] {
		require.NotContains(t, l, "<nil>")
	}
	// The next statement is not concerned, nor is one that does not run.
	w.sink.onRow = nil
	w.runner.Interrupt(sqlerr.QueryInterrupted.New())
	_, err = w.run(&plan.Plan{Root: byID()}, "SELECT 1")
	require.NoError(t, err)
}

// What LIMIT leaves unread is read if it is little; else the connection is given back as it is.
func TestLimitLeavesRows(t *testing.T) {
	w := newWorld(t)
	many := make([]string, drainRows+100)
	for i := range many {
		many[i] = fmt.Sprintf("%d|x", i+10)
	}
	w.rows(idAndString, map[placement.NodeGroupID][]string{1: {"1|a", "4|a"}, 2: many, 3: {strings.Repeat("9", 10) + "|x", "99|" + strings.Repeat("x", drainBytes)}})
	limit := &plan.Limit{Input: byID(), Offset: &plan.Operand{Arg: 0}, Count: plan.Operand{Arg: 1}}
	sum, err := w.run(&plan.Plan{Root: limit}, "SELECT id, s FROM t ORDER BY id LIMIT 1, 1")
	require.NoError(t, err)
	require.Equal(t, uint64(1), sum.Rows)
	require.Equal(t, []string{"4|a"}, w.sink.rows)
	require.Equal(t, []string{"release 1: <nil>", "release 2: " + ErrUnread.Error(), "release 3: " + ErrUnread.Error()}, w.log[3:])
}

func TestSortedScatter(t *testing.T) {
	w := newWorld(t)
	w.rows(idAndString, map[placement.NodeGroupID][]string{1: {"NULL|a", "10|b"}, 2: {"9|c"}})
	sum, err := w.run(&plan.Plan{Root: &plan.Project{Input: byID(), Keep: 1}}, "SELECT id FROM t ORDER BY id")
	require.NoError(t, err)
	require.Equal(t, Summary{HasRows: true, Rows: 3, Groups: 3}, sum)
	require.Equal(t, []string{"NULL", "9", "10"}, w.sink.rows)
	require.Equal(t, idAndString[:1], w.sink.columns)
	require.Equal(t, []string{"1: SELECT id FROM t ORDER BY id", "2: SELECT id FROM t ORDER BY id", "3: SELECT id FROM t ORDER BY id"}, w.log[:3])
}

// A string whose collation nobody told cannot be sorted: refused, not sorted by bytes.
func TestUnknownCollation(t *testing.T) {
	w := newWorld(t)
	w.rows(idAndString, nil)
	for _, o := range []plan.Order{{Column: 1, Weight: -1}, {Column: 1, Weight: -1, Collation: "utf8mb4_klingon_ci"}} {
		_, err := w.run(&plan.Plan{Root: &plan.Merge{Input: allGroups(), Order: []plan.Order{o}}}, "SELECT 1")
		require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), "%v", err)
	}
	_, err := w.run(&plan.Plan{Root: &plan.Merge{Input: allGroups(), Order: []plan.Order{{Column: 7, Weight: -1}}}}, "SELECT 1")
	require.True(t, sqlerr.HasCode(err, sqlerr.Internal), "%v", err)
}

func TestAggregates(t *testing.T) {
	w := newWorld(t)
	columns := []sqltypes.Column{
		column("COUNT(*)", sqltypes.TypeLongLong, sqltypes.FlagNotNull),
		column("SUM(d)", sqltypes.TypeNewDecimal, 0),
		{Name: "AVG(d)", Type: sqltypes.TypeNewDecimal, Decimals: 6},
		column("n", sqltypes.TypeLongLong, 0),
		column("MAX(t)", sqltypes.TypeTime, 0),
		{Name: "SUM(f)", Type: sqltypes.TypeDouble, Decimals: 31},
	}
	w.rows(columns, map[placement.NodeGroupID][]string{
		1: {"2|3.00|1.500000|2|99:00:00|0.1"}, 2: {"0|NULL|NULL|0|NULL|NULL"}, 3: {"1|4.25|4.250000|1|100:00:00|0.2"},
	})
	root := &plan.Aggregate{Input: &plan.Merge{Input: allGroups()}, Columns: []plan.AggregateColumn{
		{Func: plan.Count, Column: 0, Weight: -1}, {Func: plan.Sum, Column: 1, Weight: -1},
		{Func: plan.Avg, Column: 2, Sum: 1, Count: 3, Weight: -1}, {Func: plan.Max, Column: 4, Weight: -1},
		{Func: plan.Sum, Column: 5, Weight: -1},
	}}
	_, err := w.run(&plan.Plan{Root: root}, "SELECT COUNT(*), SUM(d), AVG(d), MAX(t), SUM(f) FROM t")
	require.NoError(t, err)
	require.Equal(t, []string{"3|7.25|2.416667|100:00:00|0.30000000000000004"}, w.sink.rows)
	require.Equal(t, []sqltypes.Column{columns[0], columns[1], columns[2], columns[4], columns[5]}, w.sink.columns)
}

func TestInListIsSplit(t *testing.T) {
	w := newWorld(t)
	w.rows([]sqltypes.Column{idColumn}, nil)
	f := &plan.Fragment{
		Target: plan.Target{Kind: plan.ByKey, Table: w.t, Key: []plan.Operand{{Arg: 0}}},
		Text:   plan.Text{{SQL: "SELECT id FROM t WHERE id IN ", Arg: 0, Part: true}, {SQL: " ORDER BY id LIMIT ", Arg: 2, Plus: &plan.Operand{Arg: 1}}},
	}
	sql := "SELECT id FROM t WHERE id IN (1, 2, 3, 4, 5, '6', 1.5) ORDER BY id LIMIT 10, 5"
	_, err := w.run(&plan.Plan{Root: &plan.Merge{Input: f}}, sql)
	require.NoError(t, err)
	lists := map[placement.NodeGroupID][]string{}
	for _, id := range []string{"1", "2", "3", "4", "5", "6"} {
		g := w.owner(id)
		if id == "6" {
			id = "'6'"
		}
		lists[g] = append(lists[g], id)
	}
	var want []string
	for g := placement.NodeGroupID(1); g <= 3; g++ {
		if l := lists[g]; l != nil {
			if len(want) == 0 {
				l = append(l, "1.5")
			}
			want = append(want, fmt.Sprintf("%d: SELECT id FROM t WHERE id IN (%s) ORDER BY id LIMIT 15", g, strings.Join(l, ", ")))
		}
	}
	require.Equal(t, strings.Join(want, "\n"), w.sent())

	// Of values that no row can have, one group is told.
	_, err = w.run(&plan.Plan{Root: &plan.Merge{Input: f}}, "SELECT id FROM t WHERE id IN (0.5, 1.5) ORDER BY id LIMIT 18446744073709551615, 5")
	require.NoError(t, err)
	require.Equal(t, "1: SELECT id FROM t WHERE id IN (0.5, 1.5) ORDER BY id LIMIT 18446744073709551615", w.sent())
}

func TestOneTimeForAllGroups(t *testing.T) {
	w := newWorld(t)
	w.x.Now = func() time.Time { return time.UnixMicro(1_700_000_000_000_042) }
	w.rows([]sqltypes.Column{idColumn}, map[placement.NodeGroupID][]string{2: {"1"}})
	p := &plan.Plan{Root: allGroups(), Uses: plan.ReadsClock}
	_, err := w.run(p, "SELECT NOW()")
	require.NoError(t, err)
	require.Equal(t, []string{"1"}, w.sink.rows)
	require.Equal(t, []string{"2: SET timestamp = 1700000000.000042", "2: SELECT NOW()", "2: SET timestamp = DEFAULT"}, []string{w.log[2], w.log[3], w.log[7]})
	require.Equal(t, []string{"release 1: <nil>", "release 2: <nil>", "release 3: <nil>"}, w.log[9:])

	// Copies of a reference table are given the same time, whenever their turn comes.
	later := time.Duration(0)
	w.x.Now = func() time.Time {
		later += time.Second
		return time.Unix(1_700_000_000, 0).Add(later)
	}
	w.cluster.answer = func(placement.NodeGroupID, string) answer { return answer{} }
	_, err = w.run(&plan.Plan{Root: &plan.Fragment{Write: true, Same: true}, Uses: plan.ReadsClock}, "UPDATE r SET x = NOW()")
	require.NoError(t, err)
	require.Equal(t, 4, strings.Count(w.sent(), "SET timestamp = 1700000001.000000"))

	w.rows([]sqltypes.Column{idColumn}, nil)
	w.x.FixedClock = true
	_, err = w.run(p, "SELECT NOW()")
	require.NoError(t, err)
	require.Len(t, w.log, 6)
}

// Copies of a reference table that answer with rows have all done the same, or nothing is done: an error may stand behind the rows.
func TestCopiesThatReturnRows(t *testing.T) {
	w := newWorld(t)
	answers := map[placement.NodeGroupID]answer{}
	w.cluster.answer = func(g placement.NodeGroupID, _ string) answer { return answers[g] }
	p := &plan.Plan{Root: &plan.Fragment{Write: true, Same: true}}
	one := answer{columns: []sqltypes.Column{idColumn}, rows: []string{"5"}}
	alike := func() {
		for g := placement.NodeGroupID(1); g <= 4; g++ {
			answers[g] = one
		}
	}
	alike()
	_, err := w.run(p, "DELETE FROM r WHERE id = 5 RETURNING id")
	require.NoError(t, err)

	alike()
	refused := sqlerr.QueryInterrupted.New()
	answers[2] = answer{columns: one.columns, rows: one.rows, rowErr: refused}
	_, err = w.run(p, "DELETE FROM r WHERE id = 5 RETURNING id")
	require.ErrorIs(t, err, refused)
	require.Contains(t, w.log, "end: "+refused.Error())

	alike()
	answers[3] = answer{columns: one.columns}
	_, err = w.run(p, "DELETE FROM r WHERE id = 5 RETURNING id")
	require.ErrorContains(t, err, "the copies of a reference table differ")
}

// A connection on which time stands still goes to nobody, whether the statement has failed or not.
func TestTimeThatStandsStill(t *testing.T) {
	for _, refused := range []error{nil, sqlerr.QueryInterrupted.New()} {
		w := newWorld(t)
		w.cluster.standing = true
		w.cluster.answer = func(placement.NodeGroupID, string) answer {
			return answer{columns: []sqltypes.Column{idColumn}, rowErr: refused}
		}
		_, err := w.run(&plan.Plan{Root: allGroups(), Uses: plan.ReadsClock}, "SELECT NOW()")
		if refused != nil {
			require.ErrorIs(t, err, refused)
		}
		for g, c := range w.cluster.conns {
			require.True(t, c.Broken(), "group %d", g)
		}
	}
}

func ok(affected uint64, info string) answer {
	return answer{ok: wire.OK{AffectedRows: affected, Info: []byte(info), Warnings: 1}}
}

func TestWriteSums(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = func(g placement.NodeGroupID, _ string) answer {
		return ok(uint64(g), fmt.Sprintf("Rows matched: %d  Changed: %d  Warnings: 1", 10*g, g))
	}
	f := allGroups()
	f.Write = true
	sum, err := w.run(&plan.Plan{Kind: plan.Update, Root: f}, "UPDATE t SET v = 1")
	require.NoError(t, err)
	require.Equal(t, "Rows matched: 60  Changed: 6  Warnings: 3", string(sum.Info))
	sum.Info = nil
	require.Equal(t, Summary{AffectedRows: 6, Warnings: 3, Groups: 3}, sum)
	require.Equal(t, "begin [1 2 3]", w.log[0])
	require.Equal(t, "end: <nil>", w.log[len(w.log)-1])
}

// One group's failure undoes all; the statement's end decides what the client hears.
func TestWriteFails(t *testing.T) {
	f := allGroups()
	f.Write = true
	w := newWorld(t)
	w.cluster.answer = func(g placement.NodeGroupID, _ string) answer {
		if g >= 2 {
			return answer{err: sqlerr.DuplicateEntry.New("1", "PRIMARY")}
		}
		return ok(1, "")
	}
	_, err := w.run(&plan.Plan{Root: f}, "UPDATE t SET v = 1")
	require.True(t, sqlerr.HasCode(err, sqlerr.DuplicateEntry))
	require.Equal(t, "end: "+err.Error(), w.log[len(w.log)-1])
	require.Contains(t, w.log, "release 3: <nil>")

	w.cluster.answer = func(placement.NodeGroupID, string) answer { return ok(1, "") }
	unknown := sqlerr.ServerLost.New("outcome unknown")
	w.end = func(error) error { return unknown }
	sum, err := w.run(&plan.Plan{Root: f}, "UPDATE t SET v = 1")
	require.Equal(t, error(unknown), err)
	require.Zero(t, sum)

	w.end, w.begin = nil, func() error { return sqlerr.NotSupportedYet.New("x") }
	_, err = w.run(&plan.Plan{Root: f}, "UPDATE t SET v = 1")
	require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet))
	require.Len(t, w.log, 1)
}

func TestReferenceTableWrite(t *testing.T) {
	w := newWorld(t)
	f := &plan.Fragment{Target: plan.Target{Kind: plan.AllGroups}, Write: true, Same: true}
	w.cluster.answer = func(placement.NodeGroupID, string) answer { return ok(2, "Rows matched: 2  Changed: 2  Warnings: 0") }
	sum, err := w.run(&plan.Plan{Root: f}, "UPDATE r SET v = 1")
	require.NoError(t, err)
	require.Equal(t, uint64(2), sum.AffectedRows)
	require.Equal(t, "Rows matched: 2  Changed: 2  Warnings: 0", string(sum.Info))
	require.Equal(t, "begin [1 2 3 4]", w.log[0]) // also on the group that owns no partitions

	// The first group fails: nobody else is asked.
	w.cluster.answer = func(g placement.NodeGroupID, _ string) answer {
		return answer{err: sqlerr.DuplicateEntry.New("1", "u")}
	}
	_, err = w.run(&plan.Plan{Root: f}, "UPDATE r SET v = 1")
	require.True(t, sqlerr.HasCode(err, sqlerr.DuplicateEntry))
	require.Equal(t, "1: UPDATE r SET v = 1", w.sent())

	// Copies that differ are found out.
	w.cluster.answer = func(g placement.NodeGroupID, _ string) answer { return ok(uint64(g/3), "") }
	_, err = w.run(&plan.Plan{Root: f}, "UPDATE r SET v = 1")
	require.ErrorContains(t, err, "copies of a reference table differ")
	require.Contains(t, w.log[len(w.log)-1], "end: ERROR")
}

func TestRefused(t *testing.T) {
	w := newWorld(t)
	_, err := w.run(&plan.Plan{Refuse: sqlerr.Unsupported("x", "y")}, "SELECT 1")
	require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet))
	_, err = w.run(&plan.Plan{}, "SELECT 1")
	require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet))
	w.snap.Groups, w.snap.Map = nil, nil
	_, err = w.run(&plan.Plan{Root: allGroups()}, "SELECT 1")
	require.ErrorContains(t, err, "no node group")
}

func TestAddInfo(t *testing.T) {
	for _, c := range [][3]string{
		{"", "Records: 2  Duplicates: 0  Warnings: 0", "Records: 2  Duplicates: 0  Warnings: 0"},
		{"Records: 2  Duplicates: 0  Warnings: 0", "", "Records: 2  Duplicates: 0  Warnings: 0"},
		{"Records: 9  Duplicates: 1  Warnings: 0", "Records: 12  Duplicates: 0  Warnings: 7", "Records: 21  Duplicates: 1  Warnings: 7"},
		{"something", "else", "something"},
	} {
		require.Equal(t, c[2], string(addInfo([]byte(c[0]), []byte(c[1]))))
	}
}
