package exec

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// What became of an INSERT IGNORE is asked behind its own answer: those of the statements that prepared the connection have
// been read before, however many there are.
func TestChangerAnswersInStep(t *testing.T) {
	w := newWorld(t)
	last := ""
	w.cluster.answer = func(_ placement.NodeGroupID, sql string) answer {
		defer func() { last = sql }()
		switch {
		case strings.HasPrefix(sql, "INSERT IGNORE"):
			return answer{ok: wire.OK{AffectedRows: 1, Warnings: 1, Info: []byte("Records: 2  Duplicates: 1  Warnings: 1")}}
		case sql == "SHOW WARNINGS":
			require.True(t, strings.HasPrefix(last, "INSERT IGNORE"), last)
			return answer{columns: []sqltypes.Column{strColumn, strColumn, strColumn}, rows: []string{"Warning|1062|duplicate"}}
		}
		return answer{ok: wire.OK{Warnings: 7}}
	}
	w.x.Moment = time.Unix(1, 0)
	c := w.runner.Change(w.x, w.snap, "SET sql_mode = ''")
	require.NoError(t, c.Begin(Change{Table: w.pair, Kind: RowInsert, Columns: []int{0, 1}, Verb: "INSERT IGNORE INTO"}))
	const rows = 4
	for range rows { // each fills a statement
		payload := wire.AppendTextValue(nil, []byte("0"))
		payload = wire.AppendTextValue(payload, []byte("1"))
		payload = wire.AppendTextValue(payload, []byte(strings.Repeat("x", changeBytes)))
		require.NoError(t, c.Row(payload))
	}
	require.NoError(t, c.End(nil))
	require.Equal(t, Counts{Affected: rows, Duplicates: rows, Warnings: rows}, c.Counts())
	require.Len(t, c.Warned, rows)
}

// Rows of RETURNING that are too many are read to their end, so that the connection can be brought back into the session's state.
func TestChangerBringsBackBehindRows(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = func(_ placement.NodeGroupID, sql string) answer {
		if strings.HasPrefix(sql, "INSERT") {
			return answer{columns: []sqltypes.Column{idColumn}, rows: []string{"1", "2"}}
		}
		return answer{}
	}
	c := w.runner.Change(w.x, w.snap, "SET sql_mode = ''")
	require.NoError(t, c.Begin(Change{Table: w.pair, Kind: RowInsert, Columns: []int{0, 1}, Tail: []byte(" RETURNING id"), Returned: &Held{bytes: maxHeld}}))
	payload := wire.AppendTextValue(nil, []byte("0"))
	payload = wire.AppendTextValue(wire.AppendTextValue(payload, []byte("1")), []byte("x"))
	require.NoError(t, c.Row(payload))
	require.ErrorContains(t, c.End(nil), "RETURNING of more than")
	require.Contains(t, w.sent(), "SET sql_mode = ''")
	require.Contains(t, w.log[len(w.log)-1], ": <nil>")
}

// A statement that no server takes is not sent: the server would break the connection, and with it the transaction. A long row is in one
// of its own.
func TestChangerFitsPackets(t *testing.T) {
	w := newWorld(t)
	w.x.MaxText = 2 * changeBytes
	var inserted []int
	w.cluster.answer = func(_ placement.NodeGroupID, sql string) answer {
		if strings.HasPrefix(sql, "INSERT") {
			inserted = append(inserted, len(sql))
			return answer{ok: wire.OK{AffectedRows: 1}}
		}
		return answer{}
	}
	row := func(size int) []byte {
		payload := wire.AppendTextValue(wire.AppendTextValue(nil, []byte("0")), []byte("1"))
		return wire.AppendTextValue(payload, []byte(strings.Repeat("x", size)))
	}
	c := w.runner.Change(w.x, w.snap, "SET sql_mode = ''")
	require.NoError(t, c.Begin(Change{Table: w.pair, Kind: RowInsert, Columns: []int{0, 1}}))
	require.NoError(t, c.Row(row(changeBytes/4)))
	require.NoError(t, c.Row(row(changeBytes-1000)))
	err := c.Row(row(changeBytes))
	require.ErrorContains(t, err, "longer than max_allowed_packet")
	require.ErrorIs(t, c.End(err), err)
	require.Len(t, inserted, 2)
	require.Contains(t, w.log[len(w.log)-1], ": <nil>", "the connection goes on")
}
