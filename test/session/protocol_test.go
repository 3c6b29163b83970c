package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
	"skarv/test/cluster"
)

// raw is a client that speaks the protocol itself.
type raw struct {
	t *testing.T
	*mysqlconn.Conn
}

func rawClient(t *testing.T) raw {
	t.Helper()
	c, err := mysqlconn.Dial(context.Background(), mysqlconn.Config{Addr: shared.Addr(), User: "root", DB: "d", Caps: wire.CapMultiStatements})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return raw{t, c}
}

func (r raw) exec(sql string) wire.OK {
	r.t.Helper()
	ok, err := r.Exec(sql)
	require.NoError(r.t, err, sql)
	return ok
}

// command sends one command and returns its whole answer.
func (r raw) command(cmd wire.Command, body []byte) (wire.ResultSummary, []byte) {
	r.t.Helper()
	var seq byte
	var answer bytes.Buffer
	sum, err := r.Relay(wire.AppendPacket(nil, &seq, append([]byte{byte(cmd)}, body...)), cmd, &answer, make([]byte, 16<<10))
	require.NoError(r.t, err)
	return sum, answer.Bytes()
}

// open prepares sql and opens a cursor for it.
func (r raw) open(sql string) uint32 {
	r.t.Helper()
	st, err := r.Prepare([]byte(sql))
	require.NoError(r.t, err)
	body := binary.LittleEndian.AppendUint32(nil, st.ID)
	body = append(body, 1) // CURSOR_TYPE_READ_ONLY
	body = binary.LittleEndian.AppendUint32(body, 1)
	sum, _ := r.command(wire.ComStmtExecute, body)
	require.False(r.t, sum.Failed(), "%d", sum.ErrCode)
	require.True(r.t, sum.Status.Has(wire.StatusCursorExists))
	return st.ID
}

func (r raw) fetch(id uint32, n int) wire.ResultSummary {
	r.t.Helper()
	body := binary.LittleEndian.AppendUint32(nil, id)
	sum, _ := r.command(wire.ComStmtFetch, binary.LittleEndian.AppendUint32(body, uint32(n)))
	return sum
}

func TestCursors(t *testing.T) {
	rawClient(t).exec("INSERT INTO single (v) VALUES ('a'), ('b'), ('c'), ('d'), ('e'), ('f'), ('g'), ('h')")
	for _, held := range []string{"", "BEGIN", "LOCK TABLES single READ, single x READ, single y READ"} {
		for _, end := range []string{"", "COMMIT", "ROLLBACK", "UNLOCK TABLES", "RESET", "CLOSE"} {
			t.Run(held+" "+end, func(t *testing.T) {
				r, others := rawClient(t), make([]raw, 6)
				if held != "" {
					r.exec(held)
				}
				a := r.open("SELECT id FROM single LIMIT 1")
				b := r.open("SELECT x.id FROM single x, single y LIMIT 50")
				first := r.fetch(b, 3)
				require.False(t, first.Failed())
				switch end {
				case "RESET":
					r.command(wire.ComResetConnection, nil)
					require.Equal(t, 1243, int(r.fetch(b, 1).ErrCode))
				case "CLOSE":
					r.CloseStmt(a)
				case "":
				default:
					r.exec(end)
				}
				for i := range others {
					others[i] = rawClient(t)
					others[i].exec("SELECT v FROM t WHERE id = 1")
				}
				if end != "RESET" {
					sum := r.fetch(b, 5)
					require.False(t, sum.Failed(), "%d", sum.ErrCode)
					require.EqualValues(t, 5, sum.Rows)
				}
				if end != "RESET" && end != "CLOSE" {
					sum := r.fetch(a, 5)
					require.EqualValues(t, 1, sum.Rows)
				}
				for i := range others {
					others[i].exec("SELECT v FROM t WHERE id = 1")
				}
				r.exec("SELECT 1")
			})
		}
	}
	free(t, shared)
}

// Cursors of statements with the same text are each their own.
func TestCursorsOfOneText(t *testing.T) {
	r := rawClient(t)
	r.exec("BEGIN")
	const sql = "SELECT v FROM t WHERE id = 1 UNION ALL SELECT 'b' UNION ALL SELECT 'c'"
	a := r.open(sql)
	require.EqualValues(t, 1, r.fetch(a, 1).Rows)
	b := r.open(sql)
	require.EqualValues(t, 1, r.fetch(b, 1).Rows)
	require.EqualValues(t, 2, r.fetch(a, 5).Rows)
	r.CloseStmt(a)
	require.EqualValues(t, 2, r.fetch(b, 5).Rows)
	for range 3 { // their statements are given back
		c := r.open(sql)
		require.EqualValues(t, 3, r.fetch(c, 5).Rows)
	}
	r.exec("COMMIT")
}

// What was executed with a cursor is executed without one, on the same connection: MySQL then sends no rows, and no end of them.
func TestExecuteBehindCursor(t *testing.T) {
	for _, held := range []string{"SET autocommit = 1", "BEGIN", "LOCK TABLES t READ", "CREATE TEMPORARY TABLE held (id INT)"} {
		t.Run(held, func(t *testing.T) {
			r := rawClient(t)
			r.exec(held)
			for _, sql := range []string{"SELECT v FROM t WHERE id = 1", "SHOW TABLES", "SELECT @a"} {
				id := r.open(sql)
				rows := int(r.fetch(id, 100).Rows)
				require.NotZero(t, rows)
				for range 3 {
					sum, answer := r.command(wire.ComStmtExecute, append(binary.LittleEndian.AppendUint32(nil, id), 0, 1, 0, 0, 0))
					require.False(t, sum.Failed(), "%q", answer)
					require.EqualValues(t, rows, sum.Rows)
				}
				_ = r.open(sql)
			}
		})
	}
	free(t, shared)
}

// What changes rows gets no cursor, of which a MariaDB server would die.
func TestCursorOfWrites(t *testing.T) {
	if cluster.TestEngine() == datanode.MySQL {
		return // which has no RETURNING
	}
	r := rawClient(t)
	for _, sql := range []string{"INSERT INTO t VALUES (7003, 'written') RETURNING v", "REPLACE INTO t VALUES (7003, 'again') RETURNING v", "DELETE FROM t WHERE id = 7003 RETURNING v"} {
		st, err := r.Prepare([]byte(sql))
		require.NoError(t, err)
		sum, answer := r.command(wire.ComStmtExecute, append(binary.LittleEndian.AppendUint32(nil, st.ID), 1, 1, 0, 0, 0))
		require.False(t, sum.Failed(), "%s: %q", sql, answer)
		require.EqualValues(t, 1, sum.Rows)
		require.False(t, sum.Status.Has(wire.StatusCursorExists))
	}
}

// A cursor leaves the transaction it was opened in as it is, and the session's temporary tables, which are on its connection.
func TestCursorBesideTemporaryTables(t *testing.T) {
	for _, begin := range []string{"SET autocommit = 1", "SET autocommit = 0", "BEGIN"} {
		t.Run(begin, func(t *testing.T) {
			r := rawClient(t)
			r.exec("CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, v VARCHAR(20))")
			r.exec(begin)
			r.exec("INSERT INTO t VALUES (1, 'own')")
			r.exec("INSERT INTO single (id, v) VALUES (7002, 'written')")
			id := r.open("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3")
			for range 2 {
				require.EqualValues(t, 1, r.fetch(id, 1).Rows)
				for range 2 {
					_, rows, err := r.QueryAll("SELECT v FROM t", 10)
					require.NoError(t, err)
					require.Len(t, rows, 1)
					require.Equal(t, "own", string(rows[0][0]))
				}
			}
			r.exec("COMMIT")
			require.EqualValues(t, 1, r.fetch(id, 5).Rows)
			require.EqualValues(t, 1, r.exec("DELETE FROM single WHERE id = 7002").AffectedRows)
			r.exec("COMMIT")
		})
	}
	free(t, shared)
}

// Binary rows have all digits of a FLOAT, also where the statement has no parameters and is not sent as it is.
func TestDigitsOfBinaryRows(t *testing.T) {
	c, other := connect(t), connect(t)
	c.exec("CREATE TABLE thirds (id INT PRIMARY KEY, f FLOAT)")
	defer other.exec("DROP TABLE thirds")
	c.exec("INSERT INTO thirds VALUES (1, 1e0 / 3)")
	c.exec("CREATE PROCEDURE third() SELECT f FROM thirds WHERE id = 1")
	defer other.exec("DROP PROCEDURE third")
	for _, sql := range []string{"SELECT f FROM thirds WHERE id = 1", "SELECT f, FOUND_ROWS() FROM thirds WHERE id = 1", "CALL third()"} {
		st, err := c.PrepareContext(context.Background(), sql)
		require.NoError(t, err)
		rows, err := st.Query()
		require.NoError(t, err, sql)
		defer rows.Close()
		require.True(t, rows.Next(), sql)
		columns, err := rows.Columns()
		require.NoError(t, err)
		var f float32
		require.NoError(t, rows.Scan([]any{&f, new(any)}[:len(columns)]...), sql)
		require.Equal(t, float32(1)/3, f, sql)
		require.NoError(t, rows.Close())
		require.NoError(t, st.Close())
	}
}

// What is told behind rows of a cursor is the state of the session, not of the connection that the cursor is on.
func TestCursorTellsStatus(t *testing.T) {
	for name, caps := range map[string]wire.Capability{"EOF": 0, "OK": wire.CapDeprecateEOF} {
		t.Run(name, func(t *testing.T) {
			_, r := besideServer(t, caps)
			id := r.open("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5")
			const told = wire.StatusInTrans | wire.StatusAutocommit | wire.StatusInTransReadonly
			require.Equal(t, wire.StatusAutocommit, r.fetch(id, 1).Status&told)
			r.exec("START TRANSACTION READ ONLY")
			require.Equal(t, told, r.fetch(id, 1).Status&told)
			r.exec("COMMIT")
			r.exec("SET autocommit = 0")
			require.Zero(t, r.fetch(id, 0).Status&told)
			sum := r.fetch(id, 10)
			require.Zero(t, sum.Status&told)
			require.EqualValues(t, 3, sum.Rows)
			require.True(t, sum.Status.Has(wire.StatusLastRowSent))
		})
	}
}

// The EOF behind the columns of a result says that more follow, as that behind its rows does.
func TestEndOfColumnsTellsMoreResults(t *testing.T) {
	admin := connect(t)
	admin.exec("CREATE PROCEDURE d.two_results() BEGIN SELECT 1; SELECT COUNT(*) FROM t; END")
	defer admin.exec("DROP PROCEDURE d.two_results")
	r := packetLoginWith(t, wire.CapMultiStatements|wire.CapMultiResults)
	for _, sql := range []string{"SELECT 1; SELECT id FROM t; SELECT v FROM t WHERE id = 1; SHOW WARNINGS; SELECT 2", "CALL two_results()"} {
		r.send(wire.ComQuery, sql)
		more := true
		for results := 0; more; results++ {
			head := r.read()
			if head[0] == wire.OKHeader {
				require.Equal(t, 2, results, "the end of the CALL")
				break
			}
			for range int(head[0]) {
				r.read()
			}
			columns := moreResults(t, r.read())
			p := r.read()
			for p[0] != wire.EOFHeader {
				p = r.read()
			}
			more = moreResults(t, p)
			require.Equal(t, more, columns, "%s: result %d", sql, results)
		}
	}
}

func moreResults(t *testing.T, eof []byte) bool {
	require.Len(t, eof, 5)
	require.EqualValues(t, wire.EOFHeader, eof[0])
	return wire.Status(binary.LittleEndian.Uint16(eof[3:])).Has(wire.StatusMoreResults)
}

// isolation is the variable of a session's isolation level.
func isolation() string {
	if cluster.TestEngine() == datanode.MySQL {
		return "transaction_isolation"
	}
	return "tx_isolation" // MariaDB 10.11 has not got the other name
}

func TestResetConnection(t *testing.T) {
	r := rawClient(t)
	r.exec("INSERT INTO single VALUES (NULL, 'x')")
	_, err := r.Exec("SELECT * FROM nothing")
	require.Error(t, err)
	r.exec("SET @a = 1, sql_mode = 'ANSI_QUOTES', autocommit = 0, time_zone = '+03:00', NAMES latin1")
	r.exec("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE")
	r.exec("UPDATE t SET v = 'open' WHERE id = 1")
	sum, answer := r.command(wire.ComResetConnection, nil)
	require.False(t, sum.Failed(), "%q", answer)
	_, rows, err := r.QueryAll("SELECT @a, @@sql_mode LIKE '%ANSI%', @@autocommit, @@time_zone, @@"+isolation()+", LAST_INSERT_ID(), @@character_set_client, DATABASE()", 1)
	require.NoError(t, err)
	require.Equal(t, ",0,1,SYSTEM,REPEATABLE-READ,0,utf8mb4,d", string(bytes.Join(rows[0], []byte(","))))
	_, rows, err = r.QueryAll("SHOW WARNINGS", 10)
	require.NoError(t, err)
	require.Empty(t, rows)
	_, rows, err = r.QueryAll("SELECT v FROM d.t WHERE id = 1", 1)
	require.NoError(t, err)
	require.Equal(t, "v1", string(rows[0][0]))
}

// A connection that is reset has the character set that one server gives it.
func TestResetConnectionCharset(t *testing.T) {
	const ask = "SELECT CHAR_LENGTH('\xc3\xa9'), @@character_set_client, @@character_set_results, @@collation_connection"
	for _, collation := range []uint8{0, 8, 33, 45, 46, 63, 192, 224, 255} {
		one, many := besideServerIn(t, 0, collation)
		for _, r := range []raw{one, many} {
			r.command(wire.ComResetConnection, nil)
		}
		_, want, err := one.QueryAll(ask, 1)
		require.NoError(t, err)
		_, got, err := many.QueryAll(ask, 1)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%s", want), fmt.Sprintf("%s", got), "collation %d", collation)
	}
}

// A statement has as many parameters as its description can count.
func TestTooManyParameters(t *testing.T) {
	r := rawClient(t)
	for _, sql := range []string{"DO ?" + strings.Repeat("+?", 65535), "SELECT ?" + strings.Repeat("+?", 65535), "SET @a = ?" + strings.Repeat("+?", 65536)} {
		_, err := r.Prepare([]byte(sql))
		require.True(t, sqlerr.HasCode(err, sqlerr.TooManyParameters), "%v", err)
	}
	r.exec("DO 1")
}

func TestPingTellsStatus(t *testing.T) {
	r := rawClient(t)
	r.exec("BEGIN")
	sum, _ := r.command(wire.ComPing, nil)
	require.True(t, sum.Status.Has(wire.StatusInTrans|wire.StatusAutocommit), "%x", sum.Status)
	r.exec("SET autocommit = 0")
	r.exec("ROLLBACK")
	sum, _ = r.command(wire.ComPing, nil)
	require.Zero(t, sum.Status&(wire.StatusInTrans|wire.StatusAutocommit))
}

// The state of a transaction is told as one server tells it.
func TestStatusAsOneServer(t *testing.T) {
	one, r := besideServer(t, 0)
	for _, sql := range []string{
		"BEGIN", "DO 1", "COMMIT", "START TRANSACTION READ ONLY", "DO 1", "COMMIT", "START TRANSACTION READ WRITE", "ROLLBACK", "SET TRANSACTION READ ONLY", "BEGIN", "COMMIT", "BEGIN", "COMMIT",
		"SET SESSION TRANSACTION READ ONLY", "BEGIN", "SET @a = 1", "COMMIT", "START TRANSACTION READ WRITE", "COMMIT", "DO 1", "SET autocommit = 0", "DO 1", "COMMIT",
		"SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'", "DO 1", "BEGIN", "SET sql_mode = ''", "COMMIT",
	} {
		require.Equal(t, one.exec(sql).Status, r.exec(sql).Status, sql)
	}
}

// CLIENT_IGNORE_SPACE is an sql_mode of the session, on MySQL also of what resets it.
func TestIgnoreSpaceAsOneServer(t *testing.T) {
	one, r := besideServer(t, wire.CapIgnoreSpace)
	same := func() {
		t.Helper()
		for _, sql := range []string{"SELECT @@sql_mode", "SELECT COUNT (*), CONCAT ('a', 'b')", "SELECT MIN (1) FROM t WHERE id = 0"} {
			_, want, wrong := one.QueryAll(sql, 1)
			_, got, err := r.QueryAll(sql, 1)
			require.Equal(t, want, got, sql)
			require.Equal(t, wrong == nil, err == nil, "%s: %v, %v", sql, wrong, err)
		}
	}
	same()
	for _, c := range []raw{one, r} {
		c.exec("SET sql_mode = ''")
	}
	same()
	for _, c := range []raw{one, r} {
		c.command(wire.ComResetConnection, nil)
	}
	same()
}

// besideServer is a raw client of a node group's server, and one of the cluster.
func besideServer(t *testing.T, caps wire.Capability) (one, many raw) {
	t.Helper()
	return besideServerIn(t, caps, 0)
}

// besideServerIn is besideServer of connections with a collation.
func besideServerIn(t *testing.T, caps wire.Capability, collation uint8) (one, many raw) {
	t.Helper()
	dsn, err := mysql.ParseDSN(shared.NodeGroup(1, "d"))
	require.NoError(t, err)
	addr := dsn.Addr
	if dsn.Net == "unix" {
		addr = "unix:" + addr
	}
	server, err := mysqlconn.Dial(t.Context(), mysqlconn.Config{Addr: addr, User: dsn.User, Password: dsn.Passwd, DB: "d", Caps: caps, Collation: collation})
	require.NoError(t, err)
	t.Cleanup(func() { server.Close() })
	c, err := mysqlconn.Dial(t.Context(), mysqlconn.Config{Addr: shared.Addr(), User: "root", DB: "d", Caps: caps, Collation: collation})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return raw{t, server}, raw{t, c}
}

func TestSeveralStatements(t *testing.T) {
	r := rawClient(t)
	require.NoError(t, r.Send(wire.ComQuery, []byte("BEGIN; UPDATE t SET v = 'multi' WHERE id = 1; SELECT id FROM t WHERE id IN (1, 2, 3); SELECT * FROM nothing; COMMIT")))
	head, err := r.ReadHead()
	require.NoError(t, err)
	require.True(t, head.OK.Status.Has(wire.StatusInTrans|wire.StatusMoreResults), "%x", head.OK.Status)
	head, err = r.ReadHead()
	require.NoError(t, err)
	require.EqualValues(t, 1, head.OK.AffectedRows)
	for {
		if _, err = r.ReadHead(); err != nil {
			break
		}
		require.NoError(t, r.DiscardRows())
	}
	require.Error(t, err)
	require.True(t, r.Usable())
	require.False(t, r.MoreResults())
	ok := r.exec("ROLLBACK")
	require.False(t, ok.Status.Has(wire.StatusInTrans|wire.StatusMoreResults))
	_, rows, err := r.QueryAll("SELECT v FROM t WHERE id = 1", 1)
	require.NoError(t, err)
	require.Equal(t, "v1", string(rows[0][0]))
}

func TestLongDataLimits(t *testing.T) {
	r := rawClient(t)
	st, err := r.Prepare([]byte("SELECT LENGTH(?)"))
	require.NoError(t, err)
	chunk := binary.LittleEndian.AppendUint32(nil, st.ID)
	chunk = append(append(chunk, 0, 0), make([]byte, 8<<20)...)
	for range 33 {
		require.NoError(t, r.Send(wire.ComStmtSendLongData, chunk))
	}
	execute := append(binary.LittleEndian.AppendUint32(nil, st.ID), 0, 1, 0, 0, 0, 0, 1, 252, 0)
	sum, _ := r.command(wire.ComStmtExecute, execute)
	require.True(t, sum.Failed(), "too much")
	require.NoError(t, r.Send(wire.ComStmtSendLongData, chunk[:106]))
	sum, answer := r.command(wire.ComStmtExecute, execute)
	require.False(t, sum.Failed(), "%q", answer)
	require.Contains(t, string(answer), "d\x00\x00\x00", "100 bytes")
}

// Data for a parameter that there is not makes executions fail until the statement is reset.
func TestLongDataOfNoParameterAsOneServer(t *testing.T) {
	one, r := besideServer(t, 0)
	var answers [2][]string
	for i, c := range []raw{one, r} {
		st, err := c.Prepare([]byte("SELECT LENGTH(?)"))
		require.NoError(t, err)
		id := binary.LittleEndian.AppendUint32(nil, st.ID)
		require.NoError(t, c.Send(wire.ComStmtSendLongData, append(id[:4:4], 1, 0, 'x')))
		execute := append(id[:4:4], 0, 1, 0, 0, 0, 0, 1, 252, 0, 2, 'a', 'b')
		tell := func(cmd wire.Command, body []byte) {
			sum, answer := c.command(cmd, body)
			if sum.Failed() {
				answers[i] = append(answers[i], string(answer))
				return
			}
			answers[i] = append(answers[i], "done")
		}
		tell(wire.ComStmtExecute, execute)
		tell(wire.ComStmtExecute, execute)
		require.NoError(t, c.Send(wire.ComStmtSendLongData, append(id[:4:4], 0, 0, 'x')))
		tell(wire.ComStmtExecute, execute)
		tell(wire.ComStmtReset, id)
		tell(wire.ComStmtExecute, execute)
	}
	require.Equal(t, answers[0], answers[1])
	require.Equal(t, "done", answers[0][4])
	require.Contains(t, answers[0][0], "Incorrect arguments")
}

// Numbers do not come by COM_STMT_SEND_LONG_DATA. What such an execution has brought is none of a later one's, whose client may be another.
func TestLongDataOfNumbersAsOneServer(t *testing.T) {
	one, r := besideServer(t, 0)
	for _, sql := range []string{"SELECT CONCAT('a', ?)", "SELECT CONCAT('a', ?) FROM t WHERE id = 1", "SELECT id, CONCAT('a', ?) FROM t WHERE id < 9 ORDER BY id", "DO ?"} {
		var answers [2][]string
		for i, c := range []raw{one, r} {
			st, err := c.Prepare([]byte(sql))
			require.NoError(t, err)
			require.Equal(t, 1, len(st.Params))
			answers[i] = append(answers[i], fmt.Sprint(st.Params[0].Type))
			id := binary.LittleEndian.AppendUint32(nil, st.ID)
			for typ := range 256 {
				require.NoError(t, c.Send(wire.ComStmtSendLongData, append(id[:4:4], 0, 0, '1', '2', '3')))
				sum, _ := c.command(wire.ComStmtExecute, append(id[:4:4], 0, 1, 0, 0, 0, 0, 1, byte(typ), 0))
				answers[i] = append(answers[i], fmt.Sprint(typ, " ", sum.ErrCode))
				if cluster.TestEngine() == datanode.MySQL { // which keeps them
					c.command(wire.ComStmtReset, id)
				}
				sum, answer := c.command(wire.ComStmtExecute, append(id[:4:4], 0, 1, 0, 0, 0, 0, 1, 252, 0, 1, '7'))
				require.False(t, sum.Failed(), "%q", answer)
				require.NotContains(t, string(answer), "123", "%s: %d", sql, typ)
			}
		}
		require.Equal(t, answers[0], answers[1], sql)
	}
}

// What commands make of a text that is empty, or has a NUL, of too little, and of a cursor that there is not.
func TestOddCommandsAsOneServer(t *testing.T) {
	one, r := besideServer(t, 0)
	commands := []string{"\x02", "\x02d\x00", "\x02nosuch\x00", "\x04\x00", "\x04t\x00", "\x04t\x00i%", "\x04nosuch\x00", "\x1b\x05\x00"}
	if cluster.TestEngine() == datanode.MySQL { // MariaDB reads on in what came before
		commands = append(commands, "\x04", "\x04t", "\x1b", "\x1a\x00", "\x1c\x01")
	}
	for _, command := range commands {
		sum, want := one.command(wire.Command(command[0]), []byte(command[1:]))
		_, got := r.command(wire.Command(command[0]), []byte(command[1:]))
		if !sum.Failed() {
			require.Equal(t, len(want), len(got), "%q: %q, %q", command, want, got)
			continue
		}
		require.Equal(t, string(want), string(got), "%q", command)
	}
	var answers [2][]string
	for i, c := range []raw{one, r} {
		st, err := c.Prepare([]byte("SELECT ?, ?"))
		require.NoError(t, err)
		id := binary.LittleEndian.AppendUint32(nil, st.ID)
		for _, rest := range []string{"\x00\x01\x00\x00\x00\x00\x00", "\x00\x01\x00\x00\x00\x00\x01\x03\x00\x03\x00\x01"} {
			sum, answer := c.command(wire.ComStmtExecute, append(id[:4:4], rest...))
			require.True(t, sum.Failed())
			answers[i] = append(answers[i], string(answer))
		}
		c.fetch(st.ID, 1)
		_, answer := c.command(wire.ComStmtFetch, binary.LittleEndian.AppendUint32(id[:4:4], 1))
		answers[i] = append(answers[i], strings.Replace(string(answer[4:]), fmt.Sprint("(", st.ID, ")"), "(ID)", 1))
	}
	require.Equal(t, answers[0], answers[1])
}

// Whether several statements may come at once stays as COM_SET_OPTION has left it.
func TestSeveralStatementsBehindReset(t *testing.T) {
	one, r := besideServer(t, wire.CapMultiStatements)
	for _, c := range []raw{one, r} {
		several := func() bool {
			sum, _ := c.command(wire.ComQuery, []byte("DO 1; DO 2"))
			return !sum.Failed()
		}
		require.True(t, several())
		c.command(wire.ComSetOption, []byte{1, 0})
		require.False(t, several())
		c.command(wire.ComResetConnection, nil)
		require.False(t, several())
		c.command(wire.ComSetOption, []byte{0, 0})
		c.command(wire.ComResetConnection, nil)
		require.True(t, several())
	}
}

// Lines of a syntax error are counted behind the white space in front of a statement, also of one behind another.
func TestLinesOfSyntaxErrorsAsOneServer(t *testing.T) {
	for _, caps := range []wire.Capability{0, wire.CapMultiStatements} {
		one, r := besideServer(t, caps)
		for _, sql := range []string{"\n\nSELECT 1 FROM FROM", " \n;\nSELECT 1\nFROM FROM", "\n\t\nSELECT 1;\n\nSELECT\n 2 FROM FROM", "\nCALL\n 'a", "\nPREPARE\nFROM", "\n\nUSE\n1", "USE d x"} {
			_, want := one.command(wire.ComQuery, []byte(sql))
			_, got := r.command(wire.ComQuery, []byte(sql))
			require.Equal(t, string(want), string(got), "%q", sql)
		}
	}
}

// What writes is not prepared in a transaction that may not, and in one that may also where the session's others may not.
func TestPrepareReadOnlyAsOneServer(t *testing.T) {
	one, r := besideServer(t, 0)
	var answers [2][]string
	for i, c := range []raw{one, r} {
		for _, begin := range []string{"START TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ ONLY", "START TRANSACTION", "START TRANSACTION READ WRITE", "COMMIT", "SET TRANSACTION READ ONLY", "BEGIN"} {
			c.exec(begin)
			for _, sql := range []string{"SELECT v FROM t WHERE id = ?", "UPDATE t SET v = ? WHERE id = 1", "INSERT INTO t VALUES (?, ?)", "DELETE FROM t WHERE v = ?"} {
				st, err := c.Prepare([]byte(sql))
				answers[i] = append(answers[i], fmt.Sprint(begin, ": ", sql, ": ", len(st.Params), " ", err))
			}
		}
	}
	require.Equal(t, answers[0], answers[1])
}

// A value that does not fit into a variable of a program is one of no table.
func TestVariablesFaultsAsOneServer(t *testing.T) {
	one, r := besideServer(t, 0)
	r.exec("CREATE PROCEDURE narrow(n INT, v VARCHAR(2), d DATE) BEGIN DECLARE s TINYINT; SET s = n; SELECT s, v, d; END")
	for _, args := range []string{"'x', 'a', NULL", "1, 'abc', NULL", "300, 'a', NULL", "1, 'a', 'never'", "99999999999, 'a', NULL"} {
		_, _, want := one.QueryAll("CALL narrow("+args+")", 1)
		_, _, got := r.QueryAll("CALL narrow("+args+")", 1)
		require.Error(t, want, args)
		require.Error(t, got, args)
		// A server counts on from the statement before, whatever that was.
		row := regexp.MustCompile(` at row \d+$`)
		require.Equal(t, row.ReplaceAllString(want.Error(), ""), row.ReplaceAllString(got.Error(), ""), args)
	}
	r.exec("DROP PROCEDURE narrow")
}

// An error that names an account names the client's.
func TestDeniedNamesTheClient(t *testing.T) {
	c := connect(t)
	for _, sql := range []string{"UPDATE tables SET table_name = 'x'", "DELETE FROM information_schema.tables", "DROP DATABASE information_schema"} {
		c.exec("USE information_schema")
		_, err := c.ExecContext(t.Context(), sql)
		require.ErrorContains(t, err, "Access denied for user 'root'@'%' to database 'information_schema'", sql)
	}
}

// A date or a time that a client assigns to a user variable is a byte string.
func TestMomentsInUserVariablesAsOneServer(t *testing.T) {
	one, r := besideServer(t, 0)
	datetime, date, clock := []byte{7, 0xe4, 7, 1, 2, 3, 4, 5}, []byte{4, 0xe4, 7, 1, 2}, []byte{8, 1, 1, 0, 0, 0, 2, 3, 4}
	precise := append([]byte{11, 0xe4, 7, 1, 2, 3, 4, 5}, 7, 0, 0, 0)
	for _, sql := range []string{"SET @c = ?", "SET @other = 'x', @c := ?"} {
		for _, param := range []struct {
			kind  byte
			value []byte
		}{{12, datetime}, {7, precise}, {10, date}, {11, clock}, {253, []byte("\x01x")}} {
			var told [2]string
			for i, c := range []raw{one, r} {
				st, err := c.Prepare([]byte(sql))
				require.NoError(t, err)
				execute := append(binary.LittleEndian.AppendUint32(nil, st.ID), 0, 1, 0, 0, 0, 0, 1, param.kind, 0)
				sum, answer := c.command(wire.ComStmtExecute, append(execute, param.value...))
				require.False(t, sum.Failed(), "%q", answer)
				cols, rows, err := c.QueryAll("SELECT @c, CHARSET(@c), COERCIBILITY(@c)", 1)
				require.NoError(t, err)
				told[i] = fmt.Sprintf("%d %s", cols[0].Type, rows[0])
				if sql != "SET @c = ?" || param.kind == 253 {
					told[i] = fmt.Sprintf("%s", rows[0])
				}
			}
			require.Equal(t, told[0], told[1], "%s %d", sql, param.kind)
		}
	}
}

// What was not committed under LOCK TABLES goes with the client, though UNLOCK TABLES would commit it.
func TestClientGoneUnderLocks(t *testing.T) {
	ends := map[string]func(raw){
		"away":  func(r raw) { _ = r.Close() },
		"reset": func(r raw) { r.command(wire.ComResetConnection, nil) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			r := rawClient(t)
			r.exec("SET autocommit = 0")
			r.exec("LOCK TABLES t WRITE")
			r.exec("UPDATE t SET v = 'locked' WHERE id = 1")
			end(r)
			other := connect(t)
			other.exec("LOCK TABLES t WRITE") // the other one's are gone
			require.Equal(t, "0", other.get("SELECT COUNT(*) FROM t WHERE v = 'locked'"))
			other.exec("UNLOCK TABLES")
		})
	}
}

// A SET that is refused leaves the transaction.
func TestRefusedSetKeepsTheTransaction(t *testing.T) {
	c := connect(t)
	before := c.get("SELECT v FROM t WHERE id = 1")
	c.exec("BEGIN")
	c.exec("UPDATE t SET v = 'x' WHERE id = 1")
	c.fails(1235, "SET completion_type = 'CHAIN'")
	c.fails(1235, "SET sql_auto_is_null = 1, @x = 5")
	require.Equal(t, "x", c.get("SELECT v FROM t WHERE id = 1"))
	c.exec("ROLLBACK")
	require.Equal(t, before, c.get("SELECT v FROM t WHERE id = 1"))
}

// The packets of an answer are numbered as the client counts them, also where the statement is sent in another number of packets than it
// came in: packets.read tests it.
func TestNumbersOfLongStatements(t *testing.T) {
	admin := connect(t)
	admin.exec("CREATE TABLE d.renumbered (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(10), b LONGBLOB)")
	defer admin.exec("DROP TABLE d.renumbered")
	admin.exec("CREATE TABLE d.lines (id INT PRIMARY KEY) COMMENT 'skarv:single'")
	defer admin.exec("DROP TABLE d.lines")
	lines := make([]string, 300)
	for i := range lines {
		lines[i] = fmt.Sprintf("(%d)", i)
	}
	admin.exec("INSERT INTO d.lines VALUES " + strings.Join(lines, ", "))
	r := packetLogin(t, 0)
	ok := func() {
		t.Helper()
		p := r.read()
		require.EqualValues(t, wire.OKHeader, p[0], "%q", p)
	}

	// One packet of the client's is two of text.
	r.send(wire.ComStmtPrepare, "INSERT INTO renumbered (v, b) VALUES (?, ?)")
	p := r.read()
	st, err := wire.ParsePrepareOK(p)
	require.NoError(t, err)
	for range st.Params {
		r.read()
	}
	for _, size := range []int{9 << 20, 15 << 20} {
		body := append(wire.AppendExecuteHead(nil, st.ID, 0), 0, 1, 253, 0, 252, 0, 1, 'x')
		r.send(wire.ComStmtExecute, string(wire.AppendLenencString(body, strings.Repeat("a", size))))
		ok()
	}
	require.Equal(t, "2", r.get("SELECT COUNT(*) FROM renumbered"))

	// Two packets of the client's are one of text.
	r.send(wire.ComQuery, "INSERT INTO renumbered (v, b) VALUES ('y', "+strings.Repeat(" ", wire.MaxPacket)+" 'b')")
	ok()
	require.Equal(t, "3", r.get("SELECT COUNT(*) FROM renumbered"))

	// The text has another length with LAST_INSERT_ID() filled in; the answer has more than 255 packets.
	for _, size := range []int{wire.MaxPacket - 40, wire.MaxPacket + 5} {
		sql := "SELECT LAST_INSERT_ID(), id FROM `lines` WHERE id < LENGTH('')"
		sql = strings.Replace(sql, "''", "'"+strings.Repeat("x", size-len(sql)-1)+"'", 1)
		require.Equal(t, 299, strings.Count(r.get(sql), ";"))
	}
}

// What stands behind a NUL is not run, and not read, unless that is within a string or a comment.
func TestNULAsOneServer(t *testing.T) {
	one, many := besideServer(t, wire.CapMultiStatements)
	for _, sql := range []string{
		"SELECT 1\x00;SELECT 2", "SELECT 1;\x00", "SELECT 1;\x00SELECT 2", "SELECT 1 \x00 FROM nonesuch", "SELECT 1 \x00", "SELECT 1\x00\x00 ;", "SELECT 1\x00;",
		"SELECT 1;\x00;SELECT 2", "SELECT 1; \x00 SELECT 2", "SELECT 1; SELECT 2 \x00 ; SELECT 3", "SELECT 1 -- \x00 x\n+1", "SELECT 1 # \x00 x\n+1", "SELECT 1 /* \x00 */ ; SELECT 2",
		"SELECT LENGTH('a\x00b')", "SELECT 1 AS `a\x00b`", "\x00SELECT 1", "\x00", "SELECT 1 a\x00b", "SELECT 1/*!50000 \x00 +1*/", "SELECT 1 -- x\x00", "SELECT 1 /* x \x00",
		"DELETE FROM t WHERE id = 0\x00 OR id > 0", "BEGIN\x00;SELECT 2", "SET @x = 1\x00, @y = 2", "SELECT 1;;\x00", "SELECT 1;--\x00", "SELECT @x, @y",
	} {
		_, want := one.command(wire.ComQuery, []byte(sql))
		_, got := many.command(wire.ComQuery, []byte(sql))
		require.Equal(t, fmt.Sprintf("%q", want), fmt.Sprintf("%q", got), "%q", sql)
	}
	for _, sql := range []string{"SELECT 1\x00;SELECT 2", "SELECT 1 \x00 FROM nonesuch", "SELECT 1\x00", "SELECT 1;\x00", "\x00"} {
		_, wrong := one.Prepare([]byte(sql))
		_, err := many.Prepare([]byte(sql))
		require.Equal(t, fmt.Sprint(wrong), fmt.Sprint(err), "%q", sql)
	}
}

// COM_STATISTICS begins as a server's, of which mysqladmin shows the rest behind the time that it has read.
func TestStatistics(t *testing.T) {
	r := packetLogin(t, 0)
	r.send(wire.ComStatistics, "")
	require.Regexp(t, `^Uptime: \d+  Threads: \d+  Node groups: \d+  `, string(r.read()))
}
