package exec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
)

// place is PlaceRows.
func (w *world) place(node *plan.InsertRows, sql string) (*plan.Plan, *Arguments, Placed, bool) {
	w.log = nil
	p, a := &plan.Plan{Kind: plan.Insert, Root: node}, w.scan(sql)
	placed, ok := w.runner.PlaceRows(w.x, p, w.snap, a)
	require.Empty(w.cluster.t, w.log, "nothing is sent")
	return p, a, placed, ok
}

func TestPlaceRows(t *testing.T) {
	w := newWorld(t)
	_, _, placed, ok := w.place(w.insertPlan(), "INSERT INTO t (id, v) VALUES (1, 'a')")
	require.True(t, ok)
	require.Equal(t, Placed{Group: w.owner("1")}, placed)

	_, _, placed, ok = w.place(w.autoPlan(), "INSERT INTO t (id, v) VALUES (0, 'a')")
	require.True(t, ok)
	const want = "\x03INSERT INTO t (id, v) VALUES (101, 'a')"
	require.Equal(t, Placed{Group: w.owner("101"), Packets: append([]byte{byte(len(want)), 0, 0, 0}, want...), InsertID: 101}, placed)
	require.Equal(t, []int{1}, w.seq.asked)

	_, _, placed, ok = w.place(w.autoPlan(), "INSERT INTO t (id, v) VALUES (500, 'a')")
	require.True(t, ok)
	require.Equal(t, Placed{Group: w.owner("500")}, placed)
	require.Equal(t, []uint64{500}, w.seq.observed)
}

// What PlaceRows leaves to Run is placed once, and refused once.
func TestRunGoesOnWithPlacedRows(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = inserted
	p, a, _, ok := w.place(w.autoPlan(), "INSERT INTO t (id, v) VALUES (0, 'a'), (0, 'b'), (0, 'c')")
	require.False(t, ok)
	sum, err := w.runner.Run(w.x, p, w.snap, a, w.sink)
	require.NoError(t, err)
	require.Equal(t, uint64(3), sum.AffectedRows)
	require.Equal(t, uint64(101), sum.LastInsertID)
	require.Equal(t, []int{3}, w.seq.asked)
	require.Equal(t, w.bySplit("INSERT INTO t (id, v) VALUES ", []string{"101", "102", "103"}, []string{"(101, 'a')", "(102, 'b')", "(103, 'c')"}, ""), w.sent())

	p, a, _, ok = w.place(w.autoPlan(), "INSERT INTO t (id, v) VALUES ('x', 'a')")
	require.False(t, ok)
	_, err = w.runner.Run(w.x, p, w.snap, a, w.sink)
	require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), "%v", err)

	// The next statement is placed anew.
	_, err = w.run(p, "INSERT INTO t (id, v) VALUES (0, 'a')")
	require.NoError(t, err)
	require.Equal(t, []int{3, 1}, w.seq.asked)
}

func TestPlaceRowsLeavesToRun(t *testing.T) {
	w := newWorld(t)
	hidden := w.autoPlan()
	hidden.HiddenKey = true
	copies := w.insertPlan()
	copies.Same, copies.Key = true, nil
	indexed := w.insertPlan()
	indexed.Indexed = &plan.Indexed{}
	for sql, node := range map[string]*plan.InsertRows{
		"INSERT INTO t (id, v) VALUES (1, 'a')":                  hidden,
		"INSERT INTO t (id, v) VALUES (2, 'a')":                  copies,
		"INSERT INTO t (id, v) VALUES (3, 'a')":                  indexed,
		"INSERT INTO t (id, v) VALUES (1 + 1, 'a')":              w.insertPlan(),
		"INSERT INTO t (id, v) VALUES (1, 2, 'a')":               w.insertPlan(),
		"INSERT INTO t (id, v) VALUES (0, 'a'), (0, 'the same')": w.autoPlan(), // which may be of one group
	} {
		_, _, _, ok := w.place(node, sql)
		require.False(t, ok, sql)
		_, _ = w.runner.takePlaced()
	}
}

// A part that is longer than a server takes is refused before anything is sent: the connection and its transaction live on.
func TestTextTooLong(t *testing.T) {
	w := newWorld(t)
	w.x.MaxText = 100
	_, _, _, ok := w.place(w.autoPlan(), "INSERT INTO t (id, v) VALUES (0, '"+strings.Repeat("a", 50)+"')")
	require.False(t, ok)
	_, err := w.run(&plan.Plan{Kind: plan.Insert, Root: w.insertPlan()}, "INSERT INTO t (id, v) VALUES (1, 'a'), (2, 'b'), (3, '"+strings.Repeat("c", 50)+"')")
	require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), "%v", err)
	require.NotContains(t, w.sent(), "ccc")
}
