package mysqlconn_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// answerOf relays one command and returns the answer's bytes, which it walks through once more packet by packet.
func answerOf(t testing.TB, c *mysqlconn.Conn, cmd wire.Command, body string) (packets [][]byte, sum wire.ResultSummary) {
	t.Helper()
	var dst bytes.Buffer
	sum, err := c.Relay(command(cmd, body), cmd, &dst, make([]byte, 16<<10))
	require.NoError(t, err)
	require.True(t, c.Usable())
	require.EqualValues(t, dst.Len(), sum.Bytes)
	for b := dst.Bytes(); len(b) > 0; {
		n, seq := wire.Header(b)
		require.Equal(t, byte(len(packets)+1), seq)
		packets = append(packets, b[4:4+n])
		b = b[4+n:]
	}
	require.Equal(t, byte(len(packets)+1), sum.NextSeq)
	return packets, sum
}

func TestRelay(t *testing.T) {
	eachForm(t, func(t *testing.T, caps wire.Capability) {
		c := dial(t, mysqlconn.Config{Caps: caps | wire.CapMultiStatements})
		eofs := 1 // packets between the columns and the rows
		if caps != 0 {
			eofs = 0
		}
		mustExec(t, c, "CREATE OR REPLACE DATABASE relay", "USE relay", "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)",
			"CREATE PROCEDURE two() BEGIN SELECT 1; SELECT 2 FROM seq_1_to_3; END")

		packets, sum := answerOf(t, c, wire.ComQuery, "SELECT seq, 'x' FROM seq_1_to_100")
		require.Len(t, packets, 1+2+eofs+100+1)
		require.Equal(t, 2, sum.Columns)
		require.EqualValues(t, 100, sum.Rows)
		require.True(t, sum.Status.Has(wire.StatusAutocommit))
		require.Zero(t, sum.ErrCode)

		_, sum = answerOf(t, c, wire.ComQuery, "INSERT INTO t (v) VALUES (1), (2)")
		require.EqualValues(t, 2, sum.AffectedRows)
		require.EqualValues(t, 1, sum.LastInsertID)

		_, sum = answerOf(t, c, wire.ComQuery, "SELECT * FROM t WHERE v = 99")
		require.Zero(t, sum.Rows)

		_, sum = answerOf(t, c, wire.ComQuery, "SELEKT")
		require.Equal(t, sqlerr.ParseError, sum.ErrCode)
		require.Equal(t, "42000", string(sum.ErrState[:]))

		_, sum = answerOf(t, c, wire.ComQuery, "CALL two()")
		require.Equal(t, 3, sum.Results)
		require.EqualValues(t, 4, sum.Rows)

		_, sum = answerOf(t, c, wire.ComQuery, "BEGIN; SELECT 1; UPDATE t SET v = v + 1; SELECT seq FROM seq_1_to_5; COMMIT; BEGIN")
		require.Equal(t, 6, sum.Results)
		require.EqualValues(t, 6, sum.Rows)
		require.True(t, sum.Status.Has(wire.StatusInTrans))
		require.True(t, c.Status().Has(wire.StatusInTrans))

		_, sum = answerOf(t, c, wire.ComQuery, "SELECT 1; SELEKT; SELECT 2")
		require.Equal(t, sqlerr.ParseError, sum.ErrCode)
		require.EqualValues(t, 1, sum.Rows)

		// Behind some rows.
		packets, sum = answerOf(t, c, wire.ComQuery, "SELECT IF(seq < 150, 0, (SELECT 1 UNION SELECT 2)) FROM seq_1_to_200")
		require.EqualValues(t, 1242, sum.ErrCode)
		require.EqualValues(t, wire.ErrHeader, packets[len(packets)-1][0])
		require.EqualValues(t, len(packets)-1-1-eofs-1, sum.Rows)

		// The other commands.
		_, sum = answerOf(t, c, wire.ComFieldList, "t\x00")
		require.Equal(t, 2, sum.Columns)
		_, sum = answerOf(t, c, wire.ComFieldList, "nothing\x00")
		require.Equal(t, sqlerr.NoSuchTable, sum.ErrCode)
		packets, _ = answerOf(t, c, wire.ComStatistics, "")
		require.Contains(t, string(packets[0]), "Uptime")
		_, sum = answerOf(t, c, wire.ComInitDB, "nowhere")
		require.Equal(t, sqlerr.UnknownDatabase, sum.ErrCode)
		for _, cmd := range []wire.Command{wire.ComPing, wire.ComResetConnection} {
			packets, _ = answerOf(t, c, cmd, "")
			require.Len(t, packets, 1)
		}
		answerOf(t, c, wire.ComSetOption, "\x00\x00")
		_, sum = answerOf(t, c, wire.ComProcessInfo, "")
		require.NotZero(t, sum.Rows)
	})
}

func TestRelayPrepared(t *testing.T) {
	eachForm(t, func(t *testing.T, caps wire.Capability) {
		c := dial(t, mysqlconn.Config{Caps: caps | wire.CapMultiStatements})
		for sql, want := range map[string][2]int{
			"DO 1":                       {0, 0},
			"DO ?":                       {1, 0},
			"SELECT 1, 2":                {0, 2},
			"SELECT ?, ?, ?":             {3, 3},
			"INSERT INTO x.y VALUES (?)": {-1, 0},
		} {
			_, sum := answerOf(t, c, wire.ComStmtPrepare, sql)
			if want[0] < 0 {
				require.True(t, sum.Failed())
				continue
			}
			require.Equal(t, want, [2]int{sum.Params, sum.Columns}, sql)
			require.NotZero(t, sum.Statement)
		}
		_, sum := answerOf(t, c, wire.ComStmtPrepare, "SELECT seq FROM seq_1_to_50")
		id := sum.Statement
		execute := func(flags byte) wire.ResultSummary {
			_, sum := answerOf(t, c, wire.ComStmtExecute, string(wire.AppendExecuteHead(nil, id, flags)))
			return sum
		}
		require.EqualValues(t, 50, execute(0).Rows)

		// With a cursor the rows come by COM_STMT_FETCH.
		sum = execute(1)
		require.Zero(t, sum.Rows)
		require.True(t, sum.Status.Has(wire.StatusCursorExists))
		fetch := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, id), 20)
		for _, want := range []uint64{20, 20, 10} {
			_, sum = answerOf(t, c, wire.ComStmtFetch, string(fetch))
			require.Equal(t, want, sum.Rows)
			require.Equal(t, want == 10, sum.Status.Has(wire.StatusLastRowSent))
		}
		_, sum = answerOf(t, c, wire.ComStmtReset, string(fetch[:4]))
		require.Zero(t, sum.ErrCode)

		// Commands without an answer.
		_, err := c.Relay(command(wire.ComStmtSendLongData, string(fetch[:4])+"\x00\x00abc"), wire.ComStmtSendLongData, io.Discard, nil)
		require.NoError(t, err)
		answerOf(t, c, wire.ComStmtReset, string(fetch[:4]))
		c.CloseStmt(id)
		_, sum = answerOf(t, c, wire.ComStmtExecute, string(wire.AppendExecuteHead(nil, id, 0)))
		require.Equal(t, sqlerr.UnknownStatement, sum.ErrCode)
	})
}

// Results and rows much larger than any buffer.
func TestRelayLarge(t *testing.T) {
	eachForm(t, func(t *testing.T, caps wire.Capability) {
		c := dial(t, mysqlconn.Config{Caps: caps | wire.CapMultiStatements})
		for sql, want := range map[string]int{
			"SELECT seq, REPEAT('x', 200) FROM seq_1_to_100000":      100000,
			"SELECT REPEAT('x', 33554432), 1 FROM seq_1_to_2":        2,
			"SELECT REPEAT('x', 16777211)":                           1, // exactly one full packet
			"SELECT REPEAT('x', 16777206), REPEAT('y', 16777215), 3": 1,
		} {
			var n countingWriter
			sum, err := c.Relay(command(wire.ComQuery, sql), wire.ComQuery, &n, make([]byte, 64<<10))
			require.NoError(t, err)
			require.EqualValues(t, want, sum.Rows, sql)
			require.EqualValues(t, n, sum.Bytes)
			require.Greater(t, sum.Bytes, uint64(16<<20))
			require.True(t, c.Usable())
		}
		// A request of several packets.
		sql := "SELECT LENGTH('" + strings.Repeat("z", wire.MaxPacket) + "')"
		sum, err := c.Relay(command(wire.ComQuery, sql), wire.ComQuery, io.Discard, make([]byte, 16<<10))
		require.NoError(t, err)
		require.EqualValues(t, 1, sum.Rows)
	})
}

type countingWriter int64

func (w *countingWriter) Write(p []byte) (int, error) {
	*w += countingWriter(len(p))
	return len(p), nil
}

func TestRelayLocalInfile(t *testing.T) {
	eachForm(t, func(t *testing.T, caps wire.Capability) {
		c := dial(t, mysqlconn.Config{Caps: caps | wire.CapLocalFiles | wire.CapMultiStatements})
		mustExec(t, c, "CREATE OR REPLACE DATABASE loading", "USE loading", "CREATE TABLE t (a INT, b TEXT)")
		load := command(wire.ComQuery, "LOAD DATA LOCAL INFILE 'some file' INTO TABLE t; SELECT 5")
		var dst bytes.Buffer
		buf := make([]byte, 16<<10)
		sum, err := c.Relay(load, wire.ComQuery, &dst, buf)
		require.NoError(t, err)
		require.True(t, sum.LocalInfile)
		require.Equal(t, "some file", sum.FileName)
		require.False(t, c.Usable())
		require.EqualValues(t, wire.LocalHeader, dst.Bytes()[4])
		c = dial(t, mysqlconn.Config{Caps: caps | wire.CapLocalFiles | wire.CapMultiStatements})
		mustExec(t, c, "USE loading")
		// Read here instead of relayed, the file is refused and the connection lives on.
		_, err = c.Exec("LOAD DATA LOCAL INFILE 'some file' INTO TABLE t")
		require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), err)
		mustExec(t, c, "DO 1")
		require.True(t, c.Usable())
	})
}

// brokenWriter takes so many bytes and then fails.
type brokenWriter int

var errClientGone = errors.New("client gone")

func (w *brokenWriter) Write(p []byte) (int, error) {
	if *w -= brokenWriter(len(p)); *w < 0 {
		return 0, errClientGone
	}
	return len(p), nil
}

func TestRelayClientGone(t *testing.T) {
	c := dial(t, mysqlconn.Config{})
	var gone brokenWriter
	var de *mysqlconn.DstError
	_, err := c.Relay(command(wire.ComQuery, "SELECT 1"), wire.ComQuery, &gone, make([]byte, 16<<10))
	require.ErrorAs(t, err, &de)
	require.ErrorIs(t, err, errClientGone)
	require.True(t, c.Usable(), "the answer had been read")
	gone = 100 << 10
	_, err = c.Relay(command(wire.ComQuery, "SELECT seq, REPEAT('x', 200) FROM seq_1_to_100000"), wire.ComQuery, &gone, make([]byte, 16<<10))
	require.ErrorAs(t, err, &de)
	require.False(t, c.Usable())
	_, err = c.Exec("SELECT 1")
	require.True(t, sqlerr.HasCode(err, sqlerr.ServerLost), err)
}

// killer runs do once, when n bytes have passed.
type killer struct {
	n  int
	do func()
}

func (k *killer) Write(p []byte) (int, error) {
	k.n -= len(p)
	if k.n <= 0 && k.do != nil {
		k.do()
		k.do = nil
	}
	return len(p), nil
}

func TestRelayServerKilled(t *testing.T) {
	s, err := startServer(t.TempDir())
	require.NoError(t, err)
	defer s.kill()
	mid := dial(t, mysqlconn.Config{Addr: s.tcp})
	idle := dial(t, mysqlconn.Config{Addr: s.tcp})
	reading := dial(t, mysqlconn.Config{Addr: "unix:" + s.socket})
	waiting := dial(t, mysqlconn.Config{Addr: "unix:" + s.socket})
	big := "SELECT seq, REPEAT('x', 200) FROM seq_1_to_200000"
	require.NoError(t, reading.Send(wire.ComQuery, []byte(big)))
	_, err = reading.ReadHead()
	require.NoError(t, err)
	require.NoError(t, waiting.Send(wire.ComQuery, []byte("SELECT SLEEP(1000)")))

	var lost *mysqlconn.LostError
	sum, err := mid.Relay(command(wire.ComQuery, big), wire.ComQuery, &killer{1 << 20, s.kill}, make([]byte, 16<<10))
	require.ErrorAs(t, err, &lost)
	require.True(t, sqlerr.HasCode(err, sqlerr.ServerLost), err)
	require.Contains(t, err.Error(), s.tcp)
	require.True(t, lost.Partial)
	require.GreaterOrEqual(t, sum.Bytes, uint64(1<<20))
	require.False(t, mid.Usable())

	require.True(t, idle.Stale())
	_, err = idle.Relay(command(wire.ComQuery, "SELECT 1"), wire.ComQuery, io.Discard, make([]byte, 16<<10))
	require.ErrorAs(t, err, &lost)
	require.False(t, lost.Partial)
	for err = nil; err == nil; {
		_, err = reading.ReadRow()
	}
	require.ErrorAs(t, err, &lost)
	_, err = waiting.ReadHead()
	require.ErrorAs(t, err, &lost)
	require.False(t, waiting.Usable())
	_, err = mysqlconn.Dial(t.Context(), mysqlconn.Config{Addr: s.tcp})
	require.Error(t, err)
}

func TestInterrupt(t *testing.T) {
	var lost *mysqlconn.LostError
	for _, addr := range []string{shared.tcp, "unix:" + shared.socket} {
		c := dial(t, mysqlconn.Config{Addr: addr})
		time.AfterFunc(10*time.Millisecond, c.Interrupt)
		_, err := c.Relay(command(wire.ComQuery, "SELECT SLEEP(1000)"), wire.ComQuery, io.Discard, make([]byte, 16<<10))
		require.ErrorAs(t, err, &lost)
		require.ErrorContains(t, err, ": the connection was ended here before there was an answer")
		require.False(t, c.Usable())
		c = dial(t, mysqlconn.Config{Addr: addr})
		require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Millisecond)))
		_, err = c.Exec("SELECT SLEEP(1000)")
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.ErrorContains(t, err, ": no answer in time")
		require.False(t, c.Usable())
		// While nothing is going on: the next command fails, not a later one.
		c = dial(t, mysqlconn.Config{Addr: addr})
		c.Interrupt()
		require.False(t, c.Usable())
		_, err = c.Relay(command(wire.ComQuery, "DO 1"), wire.ComQuery, io.Discard, make([]byte, 16<<10))
		require.ErrorAs(t, err, &lost)
		// A deadline that is set later does not take it back.
		c = dial(t, mysqlconn.Config{Addr: addr})
		c.InterruptFor(errors.New("its server is down"))
		require.NoError(t, c.SetDeadline(time.Now().Add(time.Hour)))
		_, err = c.Exec("DO 1")
		require.ErrorContains(t, err, ": its server is down")
	}
}

// What a server must not send ends the connection, and the client sees nothing of it.
func TestRelayGarbage(t *testing.T) {
	for name, answer := range map[string]string{
		"no protocol":     "HTTP/1.1 400 Bad Request\r\n\r\n",
		"empty packet":    "\x00\x00\x00\x01",
		"cut OK":          "\x02\x00\x00\x01\x00\x00",
		"columns missing": "\x01\x00\x00\x01\x02\x05\x00\x00\x03\xfe\x00\x00\x02\x00",
	} {
		t.Run(name, func(t *testing.T) {
			c := fakeServer(t, func(nc net.Conn) {
				io.ReadFull(nc, make([]byte, 4+1+len("SELECT 1")))
				io.WriteString(nc, answer)
				io.Copy(io.Discard, nc)
			})
			var dst bytes.Buffer
			var lost *mysqlconn.LostError
			_, err := c.Relay(command(wire.ComQuery, "SELECT 1"), wire.ComQuery, &dst, make([]byte, 16<<10))
			require.ErrorAs(t, err, &lost)
			require.False(t, lost.Partial)
			require.Zero(t, dst.Len())
			require.False(t, c.Usable())
		})
	}
	// More than was asked for: the answer is good, the connection not.
	c := fakeServer(t, func(nc net.Conn) {
		io.ReadFull(nc, make([]byte, 4+1+len("SELECT 1")))
		io.WriteString(nc, "\x07\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00more")
		io.Copy(io.Discard, nc)
	})
	_, err := c.Relay(command(wire.ComQuery, "SELECT 1"), wire.ComQuery, io.Discard, make([]byte, 16<<10))
	require.NoError(t, err)
	require.False(t, c.Usable())
}

func TestRelayBehind(t *testing.T) {
	eachForm(t, func(t *testing.T, caps wire.Capability) {
		buf := make([]byte, 16<<10)
		c := dial(t, mysqlconn.Config{Caps: caps})
		ask := func(before, sql string) (string, wire.ResultSummary, error) {
			var dst bytes.Buffer
			sum, err := c.RelayBehind(before, command(wire.ComQuery, sql), wire.ComQuery, &dst, buf)
			return dst.String(), sum, err
		}
		mustExec(t, c, "CREATE OR REPLACE DATABASE behind", "USE behind", "CREATE TABLE t (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1), (2)")
		var want bytes.Buffer
		_, err := c.Relay(command(wire.ComQuery, "SELECT id FROM t ORDER BY id"), wire.ComQuery, &want, buf)
		require.NoError(t, err)
		got, sum, err := ask("COMMIT", "SELECT id FROM t ORDER BY id")
		require.NoError(t, err)
		require.Equal(t, want.String(), got)
		require.EqualValues(t, 2, sum.Rows)

		_, sum, err = ask("BEGIN", "SELECT id FROM t FOR UPDATE")
		require.NoError(t, err)
		require.True(t, sum.Status.Has(wire.StatusInTrans))
		mustExec(t, c, "ROLLBACK")

		// A request that fails ends nothing.
		_, sum, err = ask("BEGIN", "SELECT nothing FROM t")
		require.NoError(t, err)
		require.True(t, sum.Failed())
		require.True(t, c.Usable())
		require.True(t, c.Status().Has(wire.StatusInTrans))
		mustExec(t, c, "ROLLBACK")

		// A statement before it that fails ends the connection, and nothing is passed on.
		got, _, err = ask("BEGINN", "SELECT 1")
		require.ErrorAs(t, err, new(*mysqlconn.LostError))
		require.Empty(t, got)
		require.False(t, c.Usable())
	})
}

// However the answers are cut into pieces.
func TestRelayBehindInPieces(t *testing.T) {
	const begun = "\x07\x00\x00\x01\x00\x00\x00\x03\x00\x00\x00"
	const done = "\x07\x00\x00\x01\x00\x05\x00\x03\x00\x00\x00"
	for cut := range len(begun) + len(done) {
		c := fakeServer(t, func(nc net.Conn) {
			io.ReadFull(nc, make([]byte, 4+1+len("BEGIN")+4+1+len("DO 1")))
			answer := begun + done
			io.WriteString(nc, answer[:cut])
			io.WriteString(nc, answer[cut:])
			io.Copy(io.Discard, nc)
		})
		var dst bytes.Buffer
		sum, err := c.RelayBehind("BEGIN", command(wire.ComQuery, "DO 1"), wire.ComQuery, &dst, make([]byte, 16<<10))
		require.NoError(t, err, cut)
		require.Equal(t, done, dst.String(), cut)
		require.EqualValues(t, 5, sum.AffectedRows)
		require.True(t, c.Usable())
	}
}

// batchOf is requests, and what is told of each.
func batchOf(requests ...string) (b *mysqlconn.Batch, told *[]string) {
	told = new([]string)
	b = &mysqlconn.Batch{Answered: func(i int, answer []byte, sum *wire.ResultSummary) {
		switch {
		case i != len(*told):
			*told = append(*told, "out of order")
		case answer == nil:
			*told = append(*told, "nothing")
		default:
			*told = append(*told, fmt.Sprintf("rows %d, code %d: %s", sum.Rows, sum.ErrCode, answer))
		}
	}}
	for _, r := range requests {
		b.Add(command(wire.ComQuery, r))
	}
	return b, told
}

func TestRelayLast(t *testing.T) {
	eachForm(t, func(t *testing.T, caps wire.Capability) {
		c, buf := dial(t, mysqlconn.Config{Caps: caps}), make([]byte, 16<<10)
		alone := func(sql string) string {
			var dst bytes.Buffer
			sum, err := c.Relay(command(wire.ComQuery, sql), wire.ComQuery, &dst, buf)
			require.NoError(t, err)
			return fmt.Sprintf("rows %d, code %d: %s", sum.Rows, sum.ErrCode, dst.String())
		}
		last := func(b *mysqlconn.Batch, sql string) string {
			var dst bytes.Buffer
			sum, err := c.RelayLast(b, nil, command(wire.ComQuery, sql), wire.ComQuery, &dst, buf)
			require.NoError(t, err)
			require.True(t, c.Usable())
			return fmt.Sprintf("rows %d, code %d: %s", sum.Rows, sum.ErrCode, dst.String())
		}
		sqls := []string{"SELECT 1", "SELECT nothing", "SELECT 'two' UNION SELECT 'three'", "SELECT 4"}
		b, told := batchOf(sqls[:3]...)
		got := last(b, sqls[3])
		for i, sql := range sqls[:3] {
			require.Equal(t, alone(sql), (*told)[i])
		}
		require.Equal(t, alone(sqls[3]), got)

		// One that is longer than the buffer is passed over, whatever is before and behind it.
		const long = "SELECT REPEAT('x', 100000)"
		b, told = batchOf("SELECT 1", long, "SELECT 2")
		got = last(b, long)
		require.Equal(t, []string{alone("SELECT 1"), "nothing", alone("SELECT 2")}, *told)
		require.Equal(t, alone(long), got)

		b, told = batchOf()
		require.Equal(t, alone("SELECT 5"), last(b, "SELECT 5"))
		require.Empty(t, *told)

		// Used again.
		b, told = batchOf("SELECT 1")
		b.Reset()
		b.Add(command(wire.ComQuery, "SELECT 6"))
		last(b, "SELECT 7")
		require.Equal(t, []string{alone("SELECT 6")}, *told)

		// A server that is lost has told all it will.
		b, told = batchOf("SELECT 1", "KILL CONNECTION_ID()", "SELECT 2")
		var dst bytes.Buffer
		sum, err := c.RelayLast(b, nil, command(wire.ComQuery, "SELECT 3"), wire.ComQuery, &dst, buf)
		require.ErrorAs(t, err, new(*mysqlconn.LostError))
		require.Zero(t, sum.Bytes)
		require.Empty(t, dst.String())
		require.Len(t, *told, 3)
		require.Equal(t, "nothing", (*told)[2])

		// On a connection that is of no use nothing is sent, and all are told.
		b, told = batchOf("SELECT 1", "SELECT 2")
		_, err = c.RelayLast(b, nil, command(wire.ComQuery, "SELECT 3"), wire.ComQuery, &dst, buf)
		require.Error(t, err)
		require.Equal(t, []string{"nothing", "nothing"}, *told)
	})
}

// However the answers are cut into pieces, also by a server that then is gone.
func TestRelayLastInPieces(t *testing.T) {
	const first = "\x07\x00\x00\x01\x00\x03\x00\x02\x00\x00\x00"
	const second = "\x07\x00\x00\x01\x00\x05\x00\x02\x00\x00\x00"
	const all = first + second + first
	for _, whole := range []bool{true, false} {
		for cut := range len(all) {
			c := fakeServer(t, func(nc net.Conn) {
				io.ReadFull(nc, make([]byte, 3*(4+1+len("DO 1"))))
				io.WriteString(nc, all[:cut])
				if whole {
					io.WriteString(nc, all[cut:])
					io.Copy(io.Discard, nc)
				}
			})
			b, told := batchOf("DO 1", "DO 2")
			var dst bytes.Buffer
			sum, err := c.RelayLast(b, nil, command(wire.ComQuery, "DO 3"), wire.ComQuery, &dst, make([]byte, 16<<10))
			want := []string{"rows 0, code 0: " + first, "rows 0, code 0: " + second}
			if whole {
				require.NoError(t, err, cut)
				require.Equal(t, first, dst.String(), cut)
				require.EqualValues(t, 3, sum.AffectedRows)
				require.True(t, c.Usable())
			} else {
				var lost *mysqlconn.LostError
				require.ErrorAs(t, err, &lost, cut)
				if cut <= len(first+second) {
					require.Zero(t, sum.Bytes, cut)
					require.False(t, lost.Partial, cut)
				}
				for i := range want {
					if cut < len(first)*(i+1) {
						want[i] = "nothing"
					}
				}
			}
			require.Equal(t, want, *told, cut)
		}
	}
}

// fakeServer logs a connection in, without asking for a password, and then leaves it to after.
func fakeServer(t *testing.T, after func(net.Conn)) *mysqlconn.Conn {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		f := &fakeSession{nc: nc}
		f.send(wire.AppendInitialHandshake(nil, wire.InitialHandshake{
			ServerVersion: "8.0.0-fake", Plugin: wire.NativePassword, Salt: make([]byte, wire.SaltLen),
			Capabilities: wire.CapLongPassword | wire.CapProtocol41 | wire.CapSecureConnection | wire.CapPluginAuth,
		}))
		f.receive()
		f.send(wire.AppendOK(nil, wire.OK{Status: wire.StatusAutocommit}, 0, wire.OKHeader))
		after(nc)
	}()
	c, err := mysqlconn.Dial(t.Context(), mysqlconn.Config{Addr: l.Addr().String(), User: "u"})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close(); <-done })
	return c
}

// fakeSession is the server's side of a login.
type fakeSession struct {
	nc  net.Conn
	seq byte
}

func (f *fakeSession) send(payload []byte) { f.nc.Write(wire.AppendPacket(nil, &f.seq, payload)) }

func (f *fakeSession) receive() []byte {
	var head [4]byte
	if _, err := io.ReadFull(f.nc, head[:]); err != nil {
		return nil
	}
	n, seq := wire.Header(head[:])
	f.seq = seq + 1
	payload := make([]byte, n)
	io.ReadFull(f.nc, payload)
	return payload
}

// A small query is relayed without allocating.
func TestRelayNoAllocations(t *testing.T) {
	c := dial(t, mysqlconn.Config{Addr: shared.tcp, Caps: wire.CapDeprecateEOF})
	st, err := c.Prepare([]byte("SELECT ?, 'some text'"))
	require.NoError(t, err)
	body := append(wire.AppendExecuteHead(nil, st.ID, 0), 0, 1, byte(sqltypes.TypeTiny), 0, 41)
	buf := make([]byte, 16<<10)
	for cmd, request := range map[wire.Command][]byte{
		wire.ComQuery:       command(wire.ComQuery, "SELECT 1, 'some text'"),
		wire.ComStmtExecute: command(wire.ComStmtExecute, string(body)),
		wire.ComPing:        command(wire.ComPing, ""),
	} {
		require.Zero(t, testing.AllocsPerRun(500, func() {
			if sum, err := c.Relay(request, cmd, io.Discard, buf); err != nil || sum.Failed() {
				t.Error(err, sum.ErrCode)
			}
		}), cmd)
	}
}

// Reading a small result row by row, with the same columns as before, neither.
func TestReadNoAllocations(t *testing.T) {
	c := dial(t, mysqlconn.Config{Addr: shared.tcp})
	sql := []byte("SELECT seq, 'some text' FROM seq_1_to_20")
	require.Zero(t, testing.AllocsPerRun(500, func() {
		err := c.Send(wire.ComQuery, sql)
		if err == nil {
			_, err = c.ReadHead()
		}
		for rows := 0; err == nil; rows++ {
			if _, err = c.ReadRow(); err == io.EOF && rows == 20 {
				return
			}
		}
		t.Error(err)
	}))
}

func BenchmarkRelay(b *testing.B) {
	c := dial(b, mysqlconn.Config{Addr: shared.tcp, Caps: wire.CapDeprecateEOF})
	buf := make([]byte, 16<<10)
	for name, sql := range map[string]string{
		"small": "SELECT 1, 'some text'",
		"1MB":   "SELECT seq, REPEAT('x', 100) FROM seq_1_to_10000",
	} {
		b.Run(name, func(b *testing.B) {
			request := command(wire.ComQuery, sql)
			b.ReportAllocs()
			for b.Loop() {
				sum, err := c.Relay(request, wire.ComQuery, io.Discard, buf)
				if err != nil || sum.Failed() {
					b.Fatal(err, sum.ErrCode)
				}
				b.SetBytes(int64(sum.Bytes))
			}
		})
	}
}

func BenchmarkReadRow(b *testing.B) {
	c := dial(b, mysqlconn.Config{Addr: shared.tcp, Caps: wire.CapDeprecateEOF})
	sql := []byte("SELECT seq, REPEAT('x', 100) FROM seq_1_to_10000")
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Send(wire.ComQuery, sql); err != nil {
			b.Fatal(err)
		}
		if _, err := c.ReadHead(); err != nil {
			b.Fatal(err)
		}
		if err := c.DiscardRows(); err != nil {
			b.Fatal(err)
		}
	}
}
