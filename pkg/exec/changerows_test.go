package exec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// moveOne is UPDATE t SET id = TO WHERE id = 7, as the planner has it, TO being in another group.
func moveOne(w *world) (p *plan.Plan, sql string, from, to placement.NodeGroupID) {
	from = w.owner("7")
	id := 8
	for to = from; to == from; id++ {
		to = w.owner(strconv.Itoa(id))
	}
	w.t.Primary = []int{0}
	sql = fmt.Sprintf("UPDATE t SET id = %d WHERE id = 7", id-1)
	set := plan.Text{{SQL: "UPDATE t SET id = ", Arg: 0}}
	read := &plan.Fragment{Target: plan.Target{Kind: plan.ByKey, Table: w.t, Key: []plan.Operand{{Arg: 1}}},
		Text: plan.Text{{SQL: "SELECT `id`, (", Arg: 0}, {SQL: "\n) FROM t WHERE id = ", Arg: 1}, {SQL: " FOR UPDATE", Arg: plan.NoArg}}}
	return &plan.Plan{Kind: plan.Update, Root: &plan.ChangeRows{Table: w.t, Read: read, NewKey: []int{1}, Set: set}}, sql, from, to
}

// Whatever step of a move fails, by the server's word or by losing it, the statement as a whole fails: it is ended with
// the error, by which all groups undo it, and every connection is given back.
func TestMoveFailsAnywhere(t *testing.T) {
	steps := []string{"SELECT `id`, (", "SELECT `id`, `v`", "DELETE", "INSERT", "UPDATE"}
	for failing := range len(steps) + 1 {
		for _, broken := range []error{errIO, sqlerr.LockDeadlock.New()} {
			w := newWorld(t)
			p, sql, from, to := moveOne(w)
			w.cluster.answer = func(g placement.NodeGroupID, text string) answer {
				step := 0
				for !strings.HasPrefix(strings.TrimPrefix(text, "SET STATEMENT sql_mode = _utf8mb4'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO', time_zone = _utf8mb4'+00:00', foreign_key_checks = 0 FOR "), steps[step]) {
					step++
				}
				want := from
				if step >= 3 {
					want = to
				}
				require.Equal(t, want, g, text)
				if step == failing {
					return answer{err: broken}
				}
				switch step {
				case 0:
					return answer{columns: []sqltypes.Column{idColumn, idColumn}, rows: []string{"7|" + strings.Fields(sql)[5]}}
				case 1:
					return answer{columns: idAndString, rows: []string{"7|a"}}
				case 4:
					return answer{ok: wire.OK{AffectedRows: 1, Info: []byte("Rows matched: 1  Changed: 1  Warnings: 0")}}
				}
				return answer{ok: wire.OK{AffectedRows: 1}}
			}
			sum, err := w.run(p, sql)
			last := w.log[len(w.log)-1]
			if failing == len(steps) {
				require.NoError(t, err)
				require.Equal(t, uint64(1), sum.AffectedRows)
				require.Equal(t, "Rows matched: 1  Changed: 1  Warnings: 0", string(sum.Info))
				require.Equal(t, "end: <nil>", last)
				continue
			}
			require.Error(t, err)
			require.True(t, strings.HasPrefix(last, "end: ") && last != "end: <nil>", last)
			require.Equal(t, broken == errIO, sqlerr.HasCode(err, sqlerr.ServerLost))
		}
	}
}

// A statement with too many rows is refused, and what it was part of goes on: the rest of the rows is read, and the connection is the
// session's again.
func TestTooManyRowsLeaveTheTransaction(t *testing.T) {
	w := newWorld(t)
	p, sql, from, _ := moveOne(w)
	p.Root.(*plan.ChangeRows).Own = true
	rows := slices.Repeat([]string{"7|8"}, maxProgramRows+10*drainRows)
	w.cluster.answer = func(_ placement.NodeGroupID, text string) answer {
		if strings.HasPrefix(text, "SELECT") {
			return answer{columns: []sqltypes.Column{idColumn, idColumn}, rows: rows}
		}
		return answer{}
	}
	_, err := w.run(p, sql)
	require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), "%v", err)
	require.False(t, w.conns[from].interrupted)
	require.Contains(t, w.log, fmt.Sprintf("%d: SET foreign_key_checks = 1", from))
}
