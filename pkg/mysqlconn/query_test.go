package mysqlconn_test

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

func TestServerErrorsLeaveConnectionUsable(t *testing.T) {
	eachForm(t, func(t *testing.T, caps wire.Capability) {
		c := dial(t, mysqlconn.Config{Caps: caps | wire.CapMultiStatements})
		require.Equal(t, caps, c.Caps()&wire.CapDeprecateEOF)
		_, err := c.Exec("SELEKT")
		require.True(t, sqlerr.HasCode(err, sqlerr.ParseError))
		require.True(t, c.Usable())
		_, err = c.Prepare([]byte("SELECT * FROM nowhere.nothing"))
		require.True(t, sqlerr.HasCode(err, sqlerr.NoSuchTable), err)
		require.True(t, c.Usable())
		// An error behind some rows.
		require.NoError(t, c.Send(wire.ComQuery, []byte("SELECT seq, IF(seq < 3000, 0, (SELECT 1 UNION SELECT 2)) FROM seq_1_to_5000")))
		_, err = c.ReadHead()
		require.NoError(t, err)
		rows := 0
		for err == nil {
			_, err = c.ReadRow()
			rows++
		}
		require.True(t, sqlerr.HasCode(err, 1242), err)
		require.Greater(t, rows, 1000)
		require.True(t, c.Usable())
		// In the middle of several statements: the rest does not run.
		_, err = c.Exec("SELECT 1; SELEKT; SELECT 2")
		require.True(t, sqlerr.HasCode(err, sqlerr.ParseError))
		require.True(t, c.Usable())
		_, _, err = c.QueryAll("SELECT seq FROM seq_1_to_10", 9)
		require.Error(t, err)
		require.True(t, c.Usable())
		_, err = c.ReadHead()
		require.True(t, sqlerr.HasCode(err, sqlerr.NetPacketOutOfOrder))
		mustExec(t, c, "SELECT 1")
	})
}

// TestDoubt: with which errors a server may have rolled a transaction back. Of a KILL that meets a deadlock it tells nothing else.
func TestDoubt(t *testing.T) {
	c := dial(t, mysqlconn.Config{})
	for code, doubt := range map[int]bool{1062: false, 1205: true, 1213: true, 1317: true, 1969: true} {
		_, err := c.Exec(fmt.Sprintf("SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = %d", code))
		require.True(t, sqlerr.HasCode(err, sqlerr.Code(code)), err)
		require.Equal(t, doubt, c.Doubt(true), "%d", code)
		require.False(t, c.Doubt(false))
	}
}

func TestQuery(t *testing.T) {
	eachForm(t, func(t *testing.T, caps wire.Capability) {
		c := dial(t, mysqlconn.Config{Caps: caps | wire.CapSessionTrack})
		cols, rows, err := c.QueryAll("SELECT 1 AS one, '' AS empty, NULL AS nothing, REPEAT('x', 70000) AS big FROM seq_1_to_3", 3)
		require.NoError(t, err)
		require.Len(t, cols, 4)
		require.Equal(t, "one", cols[0].Name)
		require.Equal(t, sqltypes.TypeLong, cols[0].Type)
		require.Len(t, rows, 3)
		for _, r := range rows {
			require.Equal(t, []byte("1"), r[0])
			require.NotNil(t, r[1])
			require.Empty(t, r[1])
			require.Nil(t, r[2])
			require.Len(t, r[3], 70000)
		}
		mustExec(t, c, "CREATE OR REPLACE DATABASE query", "USE query", "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
		ok, err := c.Exec("INSERT INTO t (v) VALUES (1), (2), (3)")
		require.NoError(t, err)
		require.EqualValues(t, 3, ok.AffectedRows)
		require.EqualValues(t, 1, ok.LastInsertID)
		require.Equal(t, "Records: 3  Duplicates: 0  Warnings: 0", string(ok.Info))
		ok, err = c.Exec("USE mysql")
		require.NoError(t, err)
		change, rest, err := wire.NextSessionChange(ok.SessionState)
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Equal(t, wire.ChangeSchema, change.Type)
		require.Equal(t, "mysql", string(change.Text()))
		mustExec(t, c, "BEGIN")
		require.True(t, c.Status().Has(wire.StatusInTrans))
		mustExec(t, c, "COMMIT")
		require.False(t, c.Status().Has(wire.StatusInTrans))
	})
}

// Commands sent one behind the other are answered in that order, multi-results and errors among them.
func TestPipelining(t *testing.T) {
	eachForm(t, func(t *testing.T, caps wire.Capability) {
		c := dial(t, mysqlconn.Config{Caps: caps | wire.CapMultiStatements})
		require.NoError(t, c.Send(wire.ComQuery, []byte("SELECT 1; SELECT 2; DO 3")))
		require.NoError(t, c.Send(wire.ComQuery, []byte("SELEKT")))
		require.NoError(t, c.SendRaw(append(command(wire.ComInitDB, "mysql"), command(wire.ComQuery, "SELECT DATABASE()")...)))
		require.NoError(t, c.Send(wire.ComSetOption, []byte{0, 0}))
		require.NoError(t, c.Send(wire.ComPing, nil))
		require.False(t, c.Usable())
		for i, want := range []string{"1", "2"} {
			head, err := c.ReadHead()
			require.NoError(t, err)
			require.Len(t, head.Columns, 1, i)
			row, err := c.ReadRow()
			require.NoError(t, err)
			fields, err := wire.ParseTextRow(row, nil)
			require.NoError(t, err)
			require.Equal(t, want, string(fields[0]))
			_, err = c.ReadRow()
			require.ErrorIs(t, err, io.EOF)
			require.True(t, c.MoreResults())
		}
		head, err := c.ReadHead()
		require.NoError(t, err)
		require.NotNil(t, head.OK)
		require.False(t, c.MoreResults())
		_, err = c.ReadHead()
		require.True(t, sqlerr.HasCode(err, sqlerr.ParseError))
		head, err = c.ReadHead()
		require.NoError(t, err)
		require.NotNil(t, head.OK)
		_, err = c.ReadHead()
		require.NoError(t, err)
		row, err := c.ReadRow()
		require.NoError(t, err)
		require.Equal(t, "\x05mysql", string(row))
		require.NoError(t, c.DiscardRows())
		for range 2 {
			head, err = c.ReadHead()
			require.NoError(t, err)
			require.NotNil(t, head.OK)
		}
		require.True(t, c.Usable())
	})
}

// Rows of 16 MB and more come in several packets; exactly 16 MB - 1 ends with an empty one.
func TestHugeRows(t *testing.T) {
	eachForm(t, func(t *testing.T, caps wire.Capability) {
		c := dial(t, mysqlconn.Config{Caps: caps | wire.CapMultiStatements})
		for _, n := range []int{wire.MaxPacket - 4 - 1, wire.MaxPacket - 4, wire.MaxPacket - 8, wire.MaxPacket + 100, 2*wire.MaxPacket - 9, 40 << 20} {
			_, rows, err := c.QueryAll("SELECT REPEAT('y', "+strconv.Itoa(n)+"), 'end'", 1)
			require.NoError(t, err)
			require.Len(t, rows[0][0], n)
			require.Equal(t, "end", string(rows[0][1]))
			require.Equal(t, n, bytes.Count(rows[0][0], []byte("y")))
		}
		// The request, too.
		_, rows, err := c.QueryAll("SELECT LENGTH('"+strings.Repeat("z", 2*wire.MaxPacket)+"')", 1)
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(2*wire.MaxPacket), string(rows[0][0]))

		small := dial(t, mysqlconn.Config{Caps: caps, MaxPacket: 1 << 20})
		_, _, err = small.QueryAll("SELECT REPEAT('y', 2000000)", 1)
		require.True(t, sqlerr.HasCode(err, sqlerr.ServerLost), err)
		require.False(t, small.Usable())
	})
}

// A statement that runs again decodes no columns; one that differs gets columns of its own and leaves the first alone.
func TestColumnsAreShared(t *testing.T) {
	c := dial(t, mysqlconn.Config{})
	ask := func(sql string) []sqltypes.Column {
		cols, _, err := c.QueryAll(sql, 10)
		require.NoError(t, err)
		return cols
	}
	first := ask("SELECT 1 AS a, 2 AS b")
	require.Same(t, &first[0], &ask("SELECT 3 AS a, 4 AS b")[0])
	other := ask("SELECT 1 AS a, 'x' AS c, 7 AS d")
	require.Equal(t, []string{"a", "b"}, []string{first[0].Name, first[1].Name})
	require.Equal(t, []string{"a", "c", "d"}, []string{other[0].Name, other[1].Name, other[2].Name})
	require.Same(t, &other[0], &ask("SELECT 3 AS a, 'y' AS c, 9 AS d")[0])
	require.Len(t, ask("SELECT 3 AS a"), 1)
	require.Len(t, ask("SELECT 3 AS a, 'y' AS c, 9 AS d, 8 AS e"), 4)
}

func TestPrepare(t *testing.T) {
	eachForm(t, func(t *testing.T, caps wire.Capability) {
		c := dial(t, mysqlconn.Config{Caps: caps | wire.CapMultiStatements})
		st, err := c.Prepare([]byte("SELECT ? + 1 AS x, 'abc' AS y"))
		require.NoError(t, err)
		require.Len(t, st.Params, 1)
		require.Len(t, st.Columns, 2)
		require.Equal(t, "y", st.Columns[1].Name)
		// Its answer as packets is what a scanner takes for one.
		var scan wire.ResultScanner
		scan.Reset(wire.ComStmtPrepare, c.Caps())
		used, done, err := scan.Feed(st.Answer)
		require.NoError(t, err)
		require.True(t, done)
		require.Equal(t, len(st.Answer), used)
		require.Equal(t, st.ID, scan.Summary().Statement)
		require.Equal(t, 1, scan.Summary().Params)
		require.Equal(t, 2, scan.Summary().Columns)

		body := wire.AppendExecuteHead(nil, st.ID, 0)
		body = append(body, 0, 1, byte(sqltypes.TypeTiny), 0, 41)
		require.NoError(t, c.Send(wire.ComStmtExecute, body))
		head, err := c.ReadHead()
		require.NoError(t, err)
		row, err := c.ReadRow()
		require.NoError(t, err)
		fields, _, err := wire.ParseBinaryRow(row, head.Columns, nil, nil)
		require.NoError(t, err)
		require.Equal(t, "42", string(fields[0]))
		require.Equal(t, "abc", string(fields[1]))
		require.NoError(t, c.DiscardRows())

		c.CloseStmt(st.ID)
		mustExec(t, c, "DO 1") // takes the close with it
		require.NoError(t, c.Send(wire.ComStmtExecute, body))
		_, err = c.ReadHead()
		require.True(t, sqlerr.HasCode(err, sqlerr.UnknownStatement), err)
		for _, sql := range []string{"DO ?", "DO 1", "SELECT 1", "SET @a = ?, @b = ?"} {
			st, err := c.Prepare([]byte(sql))
			require.NoError(t, err)
			require.True(t, c.Usable())
			require.Equal(t, strings.Count(sql, "?"), len(st.Params))
		}
	})
}

// An answer that is not the one to the question is never taken for it.
func TestAnswersOfOthers(t *testing.T) {
	c := dial(t, mysqlconn.Config{})
	require.NoError(t, c.Send(wire.ComQuery, []byte("DO 0")))
	_, _, err := c.QueryAll("SELECT 1", 1)
	require.True(t, mysqlconn.IsLost(err), "%v", err)
	require.True(t, c.Broken())

	c = dial(t, mysqlconn.Config{})
	require.NoError(t, c.Send(wire.ComQuery, []byte("SELECT 1")))
	_, err = c.Exec("DO 0")
	require.True(t, mysqlconn.IsLost(err), "%v", err)

	c = dial(t, mysqlconn.Config{})
	_, _, err = c.QueryAll("DO 0", 1)
	require.True(t, mysqlconn.IsLost(err), "%v", err)
}
