package session

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/wire"
)

// A string or a number with a time makes MySQL ask for DATETIME where it has asked for DATE, as long as the statement lives: that is
// of one client's statement, whatever server connections it shares.
func TestValuesThatRetypeAsOneServer(t *testing.T) {
	one, r := plainServer(t), rawClient(t)
	one.exec("CREATE DATABASE d")
	one.exec("USE d")
	text := func(s string) (byte, []byte) { return 253, append([]byte{byte(len(s))}, s...) }
	for _, sql := range []string{"SELECT COUNT(*) FROM retyped_days WHERE k >= ?", "UPDATE retyped_days SET v = v + 1 WHERE k = ?",
		"SELECT COUNT(*) FROM retyped_numbers WHERE k >= ?", "SELECT COUNT(*) FROM retyped_years WHERE k = ?"} {
		for _, first := range []string{"2024-01-03 10:00:00", "2024-1-3 10:00", "20240103100000", "12.0", "1e1", "9999999999999999999999", "2024-01-03", "12", "abc"} {
			var told [2][]string
			for i, c := range []raw{one, r} {
				c.exec("CREATE TABLE IF NOT EXISTS retyped_days (k DATE PRIMARY KEY, v INT)")
				c.exec("CREATE TABLE IF NOT EXISTS retyped_numbers (k BIGINT UNSIGNED PRIMARY KEY, v INT)")
				c.exec("CREATE TABLE IF NOT EXISTS retyped_years (k YEAR PRIMARY KEY, v INT)")
				c.exec("REPLACE INTO retyped_days VALUES ('2024-01-01', 1), ('2024-01-03', 2), ('2024-01-04', 3)")
				c.exec("REPLACE INTO retyped_numbers VALUES (1, 1), (11, 2), (13, 3)")
				c.exec("REPLACE INTO retyped_years VALUES (2012, 1), (2024, 2)")
				run := func(kind byte, value []byte) {
					st, err := c.Prepare([]byte(sql))
					require.NoError(t, err)
					execute := append(binary.LittleEndian.AppendUint32(nil, st.ID), 0, 1, 0, 0, 0, 0, 1, kind, 0)
					sum, answer := c.command(wire.ComStmtExecute, append(execute, value...))
					switch {
					case sum.Failed(): // one of the groups says it, or all count their warnings
						told[i] = append(told[i], fmt.Sprint(sum.ErrCode))
					case sql[0] == 'S':
						row := answer[:len(answer)-len("....\xfewwss")]
						told[i] = append(told[i], fmt.Sprintf("% x", row[len(row)-8:]))
					default:
						told[i] = append(told[i], fmt.Sprintf("% x", answer[4:6]))
					}
					require.NoError(t, c.Send(wire.ComStmtClose, binary.LittleEndian.AppendUint32(nil, st.ID)))
				}
				run(text(first))
				run(1, []byte{12})
				run(text("-1:02:03.5"))
				run(text("2024-01-03"))
				run(text(first))
				run(text("12"))
				run(8, binary.LittleEndian.AppendUint64(nil, 20240103100000))
				run(1, []byte{12})
			}
			require.Equal(t, told[0], told[1], "%s after %s", sql, first)
		}
	}
	for _, c := range []raw{one, r} {
		c.exec("DROP TABLE retyped_days, retyped_numbers, retyped_years")
	}
}
