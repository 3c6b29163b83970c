package mysqlconn_test

import (
	"encoding/binary"
	"io"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// prepared runs sql as a prepared statement and returns its columns and rows as they came.
func prepared(t *testing.T, c *mysqlconn.Conn, sql string, params []byte) (cols []sqltypes.Column, rows [][]byte) {
	t.Helper()
	st, err := c.Prepare([]byte(sql))
	require.NoError(t, err)
	defer c.CloseStmt(st.ID)
	require.NoError(t, c.Send(wire.ComStmtExecute, append(wire.AppendExecuteHead(nil, st.ID, 0), params...)))
	head, err := c.ReadHead()
	require.NoError(t, err)
	for {
		row, err := c.ReadRow()
		if err == io.EOF {
			return head.Columns, rows
		}
		require.NoError(t, err)
		rows = append(rows, append([]byte(nil), row...))
	}
}

// A server's text row and binary row of the same values turn into each other.
func TestBinaryRowsAgreeWithServer(t *testing.T) {
	c := dial(t, mysqlconn.Config{})
	mustExec(t, c, "CREATE OR REPLACE DATABASE bin", "USE bin", "SET sql_mode = ''", `CREATE TABLE t (
		i1 TINYINT, u1 TINYINT UNSIGNED, i2 SMALLINT, u3 MEDIUMINT UNSIGNED, i4 INT, z4 INT(7) ZEROFILL, i8 BIGINT, u8 BIGINT UNSIGNED,
		f FLOAT, f2 FLOAT(7,2), d DOUBLE, d3 DOUBLE(12,3), n DECIMAL(20,5), y YEAR, da DATE, dt DATETIME, dt3 DATETIME(3), ts TIMESTAMP(6) NULL,
		ti TIME, ti6 TIME(6), s VARCHAR(20), c CHAR(5), b VARBINARY(20), e ENUM('a','b'), se SET('x','y'), bi BIT(10), bl BLOB, j JSON)`,
		`INSERT INTO t VALUES
		(-128, 255, -32768, 16777215, -2147483648, 42, -9223372036854775808, 18446744073709551615, 0.1, 12345.678, 0.1, 123.4567, -123.45, 2024,
		 '2024-02-29', '2024-02-29 01:02:03', '2024-02-29 01:02:03.456', '2024-02-29 01:02:03.000001', '-838:59:59', '10:11:12.5', 'text', 'abc', x'00ff', 'a', 'x,y', b'101', 'blob', '{"a": 1}'),
		(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '0000-00-00', '0000-00-00', '0000-00-00', '2024-01-01', '00:00:00', '00:00:00', '', '', '', 'b', '', 0, '', '[]')`,
		"INSERT INTO t (i1, f, d) VALUES (1, 3.4e38, 1.7976931348623157e308), (2, 1e-30, 2.2250738585072014e-308), (3, 16777216, 1e15), (4, 123456.7, 123456789012345678), (5, -1e6, 1e-15), (6, 1234567, 0.1e0+0.2e0), (7, 0.00001234, 1e16), (8, 1e15, 123456.789e3), (9, 9999995, 9007199254740993)",
		"INSERT INTO t () VALUES ()")
	const sql = "SELECT * FROM t ORDER BY i1 IS NULL, i1"
	_, text, err := c.QueryAll(sql, 100)
	require.NoError(t, err)
	cols, bin := prepared(t, c, sql, nil)
	require.Len(t, bin, len(text))
	for i := range bin {
		fields, _, err := wire.ParseBinaryRow(bin[i], cols, nil, nil)
		require.NoError(t, err)
		for k, f := range fields {
			require.Equal(t, string(text[i][k]), string(f), "row %d column %s", i, cols[k].Name)
			require.Equal(t, text[i][k] == nil, f == nil)
		}
		made, err := wire.AppendBinaryRow(nil, cols, text[i])
		require.NoError(t, err)
		// A float's text has only six digits: what it says is all that can be sent.
		for k := range cols {
			if cols[k].Type == sqltypes.TypeFloat {
				made = nil
			}
		}
		if made != nil {
			require.Equal(t, bin[i], made, "row %d", i)
		}
	}
	const noFloat = "SELECT i1, u1, i2, u3, i4, z4, i8, u8, d, n, y, da, dt, dt3, ts, ti, ti6, s, c, b, e, se, bi, bl, j FROM t ORDER BY i1 IS NULL, i1"
	_, text, err = c.QueryAll(noFloat, 100)
	require.NoError(t, err)
	cols, bin = prepared(t, c, noFloat, nil)
	for i := range bin {
		made, err := wire.AppendBinaryRow(nil, cols, text[i])
		require.NoError(t, err)
		require.Equal(t, bin[i], made, "row %d", i)
	}
}

// The literal a parameter turns into means to the server what the parameter meant.
func TestParamsAsSQL(t *testing.T) {
	c := dial(t, mysqlconn.Config{})
	double := func(f float64) string { return string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))) }
	float := func(f float32) string { return string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(f))) }
	for _, p := range []struct {
		ty    sqltypes.Type
		flags byte
		value string
	}{
		{sqltypes.TypeTiny, 0, "\x80"}, {sqltypes.TypeTiny, 0x80, "\xff"}, {sqltypes.TypeShort, 0, "\x00\x80"}, {sqltypes.TypeLong, 0x80, "\xff\xff\xff\xff"},
		{sqltypes.TypeLongLong, 0, "\x00\x00\x00\x00\x00\x00\x00\x80"}, {sqltypes.TypeLongLong, 0x80, "\xff\xff\xff\xff\xff\xff\xff\xff"},
		{sqltypes.TypeDouble, 0, double(1.5)}, {sqltypes.TypeDouble, 0, double(1e300)}, {sqltypes.TypeDouble, 0, double(100)}, {sqltypes.TypeFloat, 0, float(0.1)},
		{sqltypes.TypeNewDecimal, 0, "\x06-12.50"}, {sqltypes.TypeVarString, 0, "\x0fit's \\ \"a\" \x00 \x1a\n"},
		{sqltypes.TypeVarString, 0, "\x00"}, {sqltypes.TypeVarString, 0, "\x0312x"}, {sqltypes.TypeVarString, 0, "\x03\xc3\xa4b"},
		{sqltypes.TypeBlob, 0, "\x02\x31\x32"}, {sqltypes.TypeBlob, 0, "\x00"}, {sqltypes.TypeBlob, 0, "\x02\xff\x00"},
		{sqltypes.TypeDate, 0, "\x04\xe8\x07\x02\x1d"}, {sqltypes.TypeDatetime, 0, "\x0b\xe8\x07\x02\x1d\x01\x02\x03\x04\x00\x00\x00"},
		{sqltypes.TypeTime, 0, "\x08\x01\x01\x00\x00\x00\x01\x02\x03"}, {sqltypes.TypeNull, 0, ""},
	} {
		payload := append([]byte{0, 1, byte(p.ty), p.flags}, p.value...)
		if p.ty == sqltypes.TypeNull {
			payload[0] = 1 // MariaDB wants it said in the bitmap, too
		}
		var params wire.Params
		require.NoError(t, params.Parse(append(wire.AppendExecuteHead(nil, 1, 0), payload...), 1, nil, nil))
		for _, mode := range []string{"", "NO_BACKSLASH_ESCAPES"} {
			mustExec(t, c, "SET sql_mode = '"+mode+"'")
			literal := string(params.AppendSQL(nil, 0, mode != "", false))
			// HEX shows a number's value and a string's bytes.
			const before, after = "SELECT CONCAT_WS('|', HEX(CONCAT(", ")), HEX(@v := NULL)) AS v"
			cols, rows := prepared(t, c, before+"?"+after, payload)
			require.Len(t, rows, 1)
			want, _, err := wire.ParseBinaryRow(rows[0], cols, nil, nil)
			require.NoError(t, err)
			_, got, err := c.QueryAll(before+literal+after, 1)
			require.NoError(t, err, literal)
			require.Equal(t, string(want[0]), string(got[0][0]), literal)
			// As a number, too: byte strings must not become hexadecimal numbers.
			cols, rows = prepared(t, c, "SELECT ? + 0", payload)
			want, _, err = wire.ParseBinaryRow(rows[0], cols, nil, nil)
			require.NoError(t, err)
			_, got, err = c.QueryAll("SELECT "+literal+" + 0", 1)
			require.NoError(t, err, literal)
			if p.ty != sqltypes.TypeDate && p.ty != sqltypes.TypeDatetime && p.ty != sqltypes.TypeTime {
				require.Equal(t, string(want[0]), string(got[0][0]), literal)
			}
		}
	}
}
