package session

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/wire"
)

// A result that fails behind its columns, in a procedure whose handler takes the error, is ended before anything else comes, as on one server.
func TestHandlerEndsOpenResult(t *testing.T) {
	const (
		on   = "DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SELECT 77; "
		none = "SELECT id, 9223372036854775807 + id FROM t ORDER BY id" // fails with the first row, wherever that is
		some = "SELECT id, 9223372036854775801 + id FROM s ORDER BY id"
	)
	bodies := map[string]string{
		"no rows at all":       on + "SELECT (SELECT id FROM t); SELECT 5",
		"exit":                 "DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN END; SELECT (SELECT id FROM t); SELECT 5",
		"nothing but the rows": "DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; SELECT (SELECT id FROM t)",
		"one node group":       on + "SELECT id, 9223372036854775807 + id FROM t WHERE id = 1; SELECT 5",
		"without tables":       on + "SELECT 9223372036854775807 * 9999999999999; SELECT 5",
		"merged":               on + none + "; SELECT 5",
		"rows":                 on + some + "; SELECT 5",
		"rows and variable":    "DECLARE v BIGINT DEFAULT 9223372036854775801; " + on + "SELECT id, v + id FROM s ORDER BY id; SELECT v",
		"correlated":           on + "SELECT id, (SELECT g FROM t b WHERE b.g >= t.id) FROM t ORDER BY id; SELECT 5",
		"window":               on + "SELECT id, 9223372036854775801 + ROW_NUMBER() OVER (ORDER BY id) FROM t ORDER BY id; SELECT 5",
		"grouped":              on + "SELECT g, 9223372036854775801 + COUNT(*) + g FROM t GROUP BY g ORDER BY g; SELECT 5",
		"union":                on + "SELECT id FROM t WHERE id < 3 UNION ALL SELECT (SELECT id FROM t); SELECT 5",
		"several":              on + "SELECT (SELECT id FROM t); " + some + "; " + none + "; SELECT 5",
		"handler in handler":   "DECLARE EXIT HANDLER FOR SQLEXCEPTION SELECT 1; BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION SELECT (SELECT id FROM t); " + some + "; END",
		"resignal":             "DECLARE EXIT HANDLER FOR SQLEXCEPTION RESIGNAL; SELECT (SELECT id FROM t)",
		"resignal later":       "DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN SELECT 6; RESIGNAL; END; SELECT (SELECT id FROM t)",
		"not taken":            "DECLARE EXIT HANDLER FOR NOT FOUND SELECT 1; SELECT (SELECT id FROM t)",
		"taken later":          on + "SELECT (SELECT id FROM t); BEGIN DECLARE EXIT HANDLER FOR NOT FOUND SELECT 1; SIGNAL SQLSTATE '45000'; END",
		"signal in handler":    "DECLARE EXIT HANDLER FOR SQLEXCEPTION SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'x'; " + some,
		"prepared":             on + "PREPARE x FROM '" + some + "'; EXECUTE x; SELECT 5",
		"function":             on + "SELECT id, fails(id) FROM s ORDER BY id; SELECT 5",
		"wide rows":            on + "SELECT REPEAT('x', 200000), id, 9223372036854775801 + id FROM s ORDER BY id; SELECT 5",
		"inner":                none,
		"of another":           on + "CALL `inner`(); SELECT 5",
		"as of another":        on + none + "; SELECT 5",
	}
	setup := []string{
		"CREATE TABLE t (id INT PRIMARY KEY, g INT)", "INSERT INTO t VALUES (1,1),(2,2),(3,3),(4,4),(5,5),(6,6),(7,7)",
		"CREATE TABLE s (id INT PRIMARY KEY, g INT) COMMENT 'skarv:single'", "INSERT INTO s SELECT * FROM t",
		"CREATE FUNCTION fails(i INT) RETURNS INT DETERMINISTIC NO SQL BEGIN IF i = 5 THEN SIGNAL SQLSTATE '45000'; END IF; RETURN i; END",
	}
	one, many := besideServer(t, 0)
	for i, r := range []raw{one, many} {
		r.exec(fmt.Sprintf("CREATE DATABASE beside_%d", i))
		defer r.exec(fmt.Sprintf("DROP DATABASE beside_%d", i))
		r.exec(fmt.Sprintf("USE beside_%d", i))
		for _, sql := range setup {
			r.exec(sql)
		}
		for name, body := range bodies {
			r.exec("CREATE PROCEDURE `" + name + "`() BEGIN " + body + "; END")
		}
	}
	for end, caps := range map[string]wire.Capability{"EOF": 0, "OK": wire.CapDeprecateEOF} {
		one, many := besideServer(t, caps)
		for i, r := range []raw{one, many} {
			require.NoError(t, r.SetDeadline(time.Now().Add(time.Minute)))
			r.exec(fmt.Sprintf("USE beside_%d", i))
		}
		for proc := range bodies {
			t.Run(end+"/"+proc, func(t *testing.T) {
				var text, prepared [2]string
				for i, r := range []raw{{t, one.Conn}, {t, many.Conn}} {
					call := "CALL `" + proc + "`()"
					if i == 0 && proc == "of another" { // where one server leaves the result open, so that its client understands nothing more
						call = "CALL `as of another`()"
					}
					_, answer := r.command(wire.ComQuery, []byte(call))
					text[i] = told(t, answer, i)
					st, err := r.Prepare([]byte(call))
					require.NoError(t, err)
					_, answer = r.command(wire.ComStmtExecute, append(binary.LittleEndian.AppendUint32(nil, st.ID), 0, 1, 0, 0, 0))
					prepared[i] = told(t, answer, i)
					r.CloseStmt(st.ID)
				}
				require.Equal(t, text[0], text[1])
				require.Equal(t, prepared[0], prepared[1])
			})
		}
	}
}

// The same, compressed and encrypted.
func TestHandlerEndsOpenResultOnTransports(t *testing.T) {
	c := connect(t)
	c.exec("CREATE PROCEDURE opens() BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SELECT 77; SELECT (SELECT id FROM t); SELECT 5; END")
	defer c.exec("DROP PROCEDURE opens")
	for name, caps := range transports() {
		t.Run(name, func(t *testing.T) {
			r := packetLogin(t, caps|wire.CapMultiResults)
			r.send(wire.ComQuery, "CALL opens()")
			var got []byte
			var seq byte
			for range 11 {
				got = wire.AppendPacket(got, &seq, r.read())
			}
			require.Equal(t, `"\x01"
column (SELECT id FROM t)
END more true ""
"\x01"
column 77
"\x0277"
END more true ""
"\x01"
column 5
"\x015"
END more true ""`, told(t, got, 1))
			require.EqualValues(t, wire.OKHeader, r.read()[0])
			require.Equal(t, "1", r.get("SELECT 1"))
		})
	}
}

// told are the packets of an answer, a line each: of a column its name, of what ends a result, where MySQL writes an EOF packet to a client
// that takes none, how it goes on and how many warnings there are.
func told(t *testing.T, answer []byte, i int) string {
	answer = bytes.ReplaceAll(answer, fmt.Appendf(nil, "beside_%d", i), []byte("beside__"))
	var lines []string
	for len(answer) > 0 {
		n, _ := wire.Header(answer)
		p := answer[wire.HeaderLen:][:n]
		answer = answer[wire.HeaderLen+n:]
		line := fmt.Sprintf("%q", p)
		switch {
		case p[0] == wire.EOFHeader && n < 9:
			line = fmt.Sprintf("END more %t %q", wire.Status(binary.LittleEndian.Uint16(p[3:])).Has(wire.StatusMoreResults), bytes.Trim(append(p[1:3:3], p[5:]...), "\x00"))
		case p[0] == wire.OKHeader && len(answer) == 0:
			ok, err := wire.ParseOK(p, 0)
			require.NoError(t, err)
			line = fmt.Sprintf("OK %d %d more %t", ok.AffectedRows, ok.Warnings, ok.Status.Has(wire.StatusMoreResults))
		case bytes.HasPrefix(p, []byte("\x03def")):
			c, err := wire.ParseColumn(p, 0)
			require.NoError(t, err)
			line = "column " + c.Name
		case n > 1000:
			line = fmt.Sprint(n, " bytes")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
