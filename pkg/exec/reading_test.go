package exec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

func readings(t *testing.T) (*world, *plan.Plan) {
	w := newWorld(t)
	w.rows([]sqltypes.Column{idColumn}, map[placement.NodeGroupID][]string{1: {"1", "2"}, 2: {"3"}, 3: {"4"}})
	return w, &plan.Plan{Kind: plan.Select, Root: &plan.Merge{Input: allGroups()}}
}

// TestReadingsAtOnce: all of them have been asked before one is read, whatever the order in which they are read.
func TestReadingsAtOnce(t *testing.T) {
	w, p := readings(t)
	a := w.scan("SELECT id FROM t")
	x, err := w.runner.Start(w.x, p, w.snap, a)
	require.NoError(t, err)
	y, err := w.runner.Start(w.x, p, w.snap, a)
	require.NoError(t, err)
	require.Equal(t, 6, strings.Count(w.sent(), "SELECT id FROM t"))
	for _, r := range []*Reading{y, x} {
		sink := &rowLog{}
		sum, err := r.Read(sink)
		require.NoError(t, err)
		require.EqualValues(t, 4, sum.Rows)
		require.Equal(t, []string{"1", "2", "3", "4"}, sink.rows)
		r.End(nil)
	}
	require.Equal(t, 6, strings.Count(strings.Join(w.log, "\n"), "release"))
	_, err = w.run(p, "SELECT id FROM t") // the Runner is as free as before
	require.NoError(t, err)
}

// TestReadingsInterrupted: what ends a statement ends all of its readings, and does not linger.
func TestReadingsInterrupted(t *testing.T) {
	w, p := readings(t)
	a := w.scan("SELECT id FROM t")
	var all []*Reading
	for range 2 {
		r, err := w.runner.Start(w.x, p, w.snap, a)
		require.NoError(t, err)
		all = append(all, r)
	}
	w.runner.Interrupt(sqlerr.QueryInterrupted.New())
	for _, r := range all {
		_, err := r.Read(&rowLog{})
		require.True(t, sqlerr.HasCode(err, sqlerr.QueryInterrupted), "%v", err)
		r.End(err)
	}
	_, err := w.run(p, "SELECT id FROM t")
	require.NoError(t, err)
}

// TestReadingThatCannotBegin: all or no connection, and nothing has been sent.
func TestReadingThatCannotBegin(t *testing.T) {
	w, p := readings(t)
	w.acquire = func(g placement.NodeGroupID) error {
		if g == 3 {
			return sqlerr.ServerLost.New("node group 3")
		}
		return nil
	}
	_, err := w.runner.Start(w.x, p, w.snap, w.scan("SELECT id FROM t"))
	require.True(t, sqlerr.HasCode(err, sqlerr.ServerLost))
	require.Empty(t, w.sent())
	require.Equal(t, []string{"release 1: <nil>", "release 2: <nil>"}, w.log)
}

// TestReadingLimited: a LIMIT's numbers are those of the time it began.
func TestReadingLimited(t *testing.T) {
	w, _ := readings(t)
	p := &plan.Plan{Kind: plan.Select, Root: &plan.Limit{Input: &plan.Merge{Input: allGroups()}, Count: plan.Operand{Arg: 0}}}
	r, err := w.runner.Start(w.x, p, w.snap, w.scan("SELECT id FROM t LIMIT 3"))
	require.NoError(t, err)
	w.scan("SELECT 1")
	sink := &rowLog{}
	_, err = r.Read(sink)
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2", "3"}, sink.rows)
	r.End(nil)
}
