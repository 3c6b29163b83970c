package binlog_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/jsondoc"
	"skarv/pkg/mysqlconn"
	"skarv/test/cluster"
)

// The server of all tests here: each test has a database of its own.
type server struct {
	*cluster.Server
	db     *sql.DB
	flavor catalog.Flavor
	conn   mysqlconn.Config
}

func start(t *testing.T, options ...cluster.Option) *server {
	s := &server{Server: cluster.StartServer(t, options...), flavor: catalog.MariaDB}
	if os.Getenv("SKARV_TEST_ENGINE") == "mysql" {
		s.flavor = catalog.MySQL
	}
	s.db = s.DB(t, "", "multiStatements=true", "time_zone='%2B00:00'", "interpolateParams=true")
	s.db.SetMaxOpenConns(1)
	user, password := s.Account()
	s.conn = mysqlconn.Config{Addr: s.Addr(), User: user, Password: password}
	return s
}

func (s *server) exec(t *testing.T, q string, args ...any) {
	t.Helper()
	_, err := s.db.Exec(q, args...)
	require.NoError(t, err, q)
}

func (s *server) dial(t *testing.T) *mysqlconn.Conn {
	t.Helper()
	c, err := mysqlconn.Dial(t.Context(), s.conn)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func (s *server) position(t *testing.T) binlog.Position {
	t.Helper()
	p, err := binlog.Current(s.dial(t), s.flavor)
	require.NoError(t, err)
	return p
}

// open reads the tables of database db from a position on.
func (s *server) open(t *testing.T, db string, from binlog.Start) *binlog.Stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	st, err := binlog.Open(ctx, binlog.Config{Conn: s.conn, Flavor: s.flavor, Start: from,
		Tables: func(schema, _ string) bool { return schema == db }})
	require.NoError(t, err)
	t.Cleanup(func() { st.Close() })
	return st
}

// until returns the transactions with changes up to the one that inserts into table end.
func until(t *testing.T, st *binlog.Stream) (all []*binlog.Transaction) {
	t.Helper()
	for {
		tr, err := st.Next()
		require.NoError(t, err)
		if len(tr.Changes) > 0 && tr.Changes[0].Table.Name == "end" {
			return all
		}
		if len(tr.Changes) > 0 || tr.Prepared != nil || tr.Unknown != nil {
			all = append(all, tr)
		}
	}
}

// column is a type to test: values as SQL.
type column struct {
	kind   string
	values []string
}

func columns(flavor catalog.Flavor) []column {
	long := "REPEAT('å', 300)"
	all := []column{
		{"TINYINT", []string{"-128", "127", "0"}},
		{"TINYINT UNSIGNED", []string{"255", "0", "128"}},
		{"SMALLINT", []string{"-32768", "32767"}},
		{"SMALLINT UNSIGNED", []string{"65535"}},
		{"MEDIUMINT", []string{"-8388608", "8388607"}},
		{"MEDIUMINT UNSIGNED", []string{"16777215"}},
		{"INT", []string{"-2147483648", "2147483647"}},
		{"INT UNSIGNED", []string{"4294967295"}},
		{"BIGINT", []string{"-9223372036854775808", "9223372036854775807"}},
		{"YEAR", []string{"2024", "0", "1901", "2155"}},
		{"BIGINT UNSIGNED", []string{"18446744073709551615"}},
		{"DECIMAL(65,30)", []string{"-12345678901234567890123456789012345.123456789012345678901234567890", "0", "0.000000000000000000000000000001"}},
		{"DECIMAL(10,2)", []string{"-0.01", "99999999.99", "7", "-1.5"}},
		{"DECIMAL(9,9)", []string{"0.123456789", "-0.000000001"}},
		{"DECIMAL(18,0) UNSIGNED", []string{"999999999999999999"}},
		{"FLOAT", []string{"1.1", "-3.4e38", "16777217", "1e-30", "0"}},
		{"DOUBLE", []string{"1.1", "-1.7976931348623157e308", "2.2250738585072014e-308", "123456789012345678", "0.1e0+0.2e0", "1e15", "1e16"}},
		{"FLOAT(7,2)", []string{"1.25", "12345.68"}},
		{"DOUBLE(10,3)", []string{"1.2345"}},
		{"FLOAT UNSIGNED", []string{"3.14159274"}},
		{"BIT(1)", []string{"b'1'", "b'0'"}},
		{"BIT(13)", []string{"b'1010101010101'", "1"}},
		{"BIT(64)", []string{"18446744073709551615", "0"}},
		{"DATE", []string{"'2024-02-29'", "'0000-00-00'", "'9999-12-31'", "'2020-00-00'"}},
		{"TIME", []string{"'-838:59:59'", "'838:59:59'", "'00:00:00'", "'-00:00:01'"}},
		{"TIME(1)", []string{"'-00:00:00.1'", "'12:34:56.7'"}},
		{"TIME(3)", []string{"'-00:00:00.001'", "'-838:59:58.999'", "'12:34:56.789'"}},
		{"TIME(6)", []string{"'-00:00:00.000001'", "'12:34:56.789012'", "'-12:00:00.5'"}},
		{"DATETIME", []string{"'2024-02-29 23:59:59'", "'0000-00-00 00:00:00'", "'1000-01-01 00:00:00'"}},
		{"DATETIME(1)", []string{"'2024-02-29 23:59:59.9'"}},
		{"DATETIME(4)", []string{"'2024-02-29 23:59:59.0012'"}},
		{"DATETIME(6)", []string{"'9999-12-31 23:59:59.999999'", "'0000-00-00 00:00:00'"}},
		{"TIMESTAMP NULL", []string{"'2024-02-29 23:59:59'", "'1970-01-01 00:00:01'", "'0000-00-00 00:00:00'", "'2038-01-19 03:14:07'"}},
		{"TIMESTAMP(5) NULL", []string{"'2024-02-29 23:59:59.00012'", "'0000-00-00 00:00:00'"}},
		{"CHAR(10)", []string{"'ab  '", "''", "'åäö'"}},
		{"CHAR(200) CHARACTER SET utf8mb4", []string{"REPEAT('å', 200)", "'x'"}},
		{"CHAR(5) CHARACTER SET latin1", []string{"'åäö€'"}},
		{"BINARY(5)", []string{"x'6100'", "x'00ff00ff00'", "''"}},
		{"BINARY(255)", []string{"x'61'"}},
		{"VARCHAR(20)", []string{"'it''s \\\\ \\n \\0'", "'x '", "''"}},
		{"VARCHAR(1000)", []string{long}},
		{"VARCHAR(100) CHARACTER SET latin1", []string{"'åäö€'"}},
		{"VARCHAR(100) CHARACTER SET utf16", []string{"'åäö€'"}},
		{"VARBINARY(20)", []string{"x'00ff0061'", "''"}},
		{"VARBINARY(2000)", []string{"REPEAT(x'00', 2000)"}},
		{"TINYTEXT", []string{"'abc'"}}, {"TEXT", []string{long}},
		{"MEDIUMTEXT", []string{"REPEAT('xyz', 30000)"}},
		{"LONGTEXT CHARACTER SET latin1", []string{"REPEAT('å', 300)"}},
		{"TINYBLOB", []string{"x'00'"}}, {"BLOB", []string{"REPEAT(x'00ff', 300)"}},
		{"LONGBLOB", []string{"REPEAT(x'00ff27', 100000)"}},
		{"ENUM('a','b','it''s')", []string{"'b'", "3", "'a'"}},
		{"SET('a','b','c','d','e','f','g','h','i','j')", []string{"'a,j'", "''", "1023"}},
		{"GEOMETRY", []string{"ST_GeomFromText('POINT(1 2)')", "ST_GeomFromText('LINESTRING(0 0,1 1)', 4326)"}},
		{"INT GENERATED ALWAYS AS (id * 2) STORED", nil},
		{"INT GENERATED ALWAYS AS (id * 3) VIRTUAL", nil},
	}
	if flavor == catalog.MySQL {
		all = append(all,
			column{"JSON", []string{`'{"b": [1, 2.5, null, true, "x\\"å"], "a": {}, "long key": -70000, "n": 18446744073709551615, "d": 1e20, "z": 1.0}'`,
				"'[]'", "'null'", "'\"s\"'", "'123'", "JSON_OBJECT('t', CAST('2020-01-02 03:04:05.6' AS DATETIME(6)), 'd', CAST('2020-01-02' AS DATE), 'n', 1.50, 'c', CAST('-01:02:03' AS TIME))",
				"JSON_ARRAY(REPEAT('x', 70000), 1, -1, 70000, -70000, 5000000000, -5000000000)", `'"\\u0001\\n\\t\\\\/"'`, "CAST(x'cafe' AS JSON)", "CAST(1.50 AS JSON)",
				"JSON_OBJECT('x', JSON_OBJECT('a', CAST(7 AS UNSIGNED), 'b', 7, 'c', JSON_ARRAY(1.50, JSON_ARRAY(), 2.50)), 'y', 1.50, 'list', JSON_ARRAY(CAST(70000 AS UNSIGNED), 5, JSON_OBJECT('k', 3.50), '1.50'))",
				"JSON_ARRAY(REPEAT('x', 70000), CAST(70000 AS UNSIGNED), (SELECT v FROM JSON_TABLE('[5]', '$[0]' COLUMNS (v BIT(9) PATH '$')) AS t), " +
					"(SELECT v FROM JSON_TABLE('[\"2024-01-02\"]', '$[0]' COLUMNS (v TIMESTAMP(6) PATH '$')) AS t), x'', -1.50)"}},
			column{"VECTOR(3)", []string{"STRING_TO_VECTOR('[1,2,3]')"}})
	}
	return all
}

// selected is how a value is read so that it is the text the log's is.
func selected(c column, name string) string {
	word, _, _ := strings.Cut(strings.Fields(c.kind)[0], "(")
	switch word {
	case "FLOAT", "DOUBLE":
		return name + "+0e0"
	case "ENUM", "SET", "BIT":
		return "CAST(" + name + " AS UNSIGNED)"
	case "JSON":
		return jsondoc.Select(name)
	}
	return name
}

// written is a value with what notes of a document say, whose order is open.
func written(v []byte) string {
	if jsondoc.Plain(v) {
		return string(v)
	}
	return string(jsondoc.Append(nil, v))
}

func TestServer(t *testing.T) {
	s := start(t)
	for name, test := range map[string]func(*testing.T, *server){
		"every type is read as the server has it": types,
		"compressed transactions":                 compressed,
		"rows of branches come with their commit": branches,
		"logs that cannot be used are refused":    refused,
	} {
		t.Run(name, func(t *testing.T) {
			s.exec(t, "DROP DATABASE IF EXISTS b")
			test(t, s)
		})
	}
}

func types(t *testing.T, s *server) {
	s.exec(t, "CREATE DATABASE b CHARACTER SET utf8mb4; USE b; CREATE TABLE `end` (id INT PRIMARY KEY)")
	cols := columns(s.flavor)
	create, list := "CREATE TABLE t (id INT PRIMARY KEY", []string{"id"}
	for i, c := range cols {
		create += fmt.Sprintf(", `c%d` %s", i, c.kind)
		list = append(list, selected(c, fmt.Sprintf("`c%d`", i)))
	}
	s.exec(t, "SET sql_mode='ALLOW_INVALID_DATES'; "+create+")")
	from := s.position(t)
	id := 0
	for i, c := range cols {
		for _, v := range c.values {
			id++
			s.exec(t, fmt.Sprintf("INSERT INTO t (id, c%d) VALUES (%d, %s)", i, id, v))
		}
	}
	s.exec(t, "UPDATE t SET c0 = 5 WHERE id = 1; DELETE FROM t WHERE id = 1; INSERT INTO `end` VALUES (1)")

	c := s.dial(t)
	for _, q := range []string{"SET NAMES utf8mb4", "SET character_set_results=NULL", "SET time_zone='+00:00'"} {
		_, err := c.Exec(q)
		require.NoError(t, err)
	}
	_, rows, err := c.QueryAll("SELECT "+strings.Join(list, ",")+" FROM b.t ORDER BY id", 1000)
	require.NoError(t, err)

	got := until(t, s.open(t, "b", binlog.Start{Applied: from}))
	require.Len(t, got, id+2)
	for i, want := range rows {
		change := got[i+1].Changes[0] // the row with id 1 is gone
		require.Equal(t, "t", change.Table.Name)
		require.Nil(t, change.Before)
		require.Len(t, change.After, len(want))
		for j, w := range want {
			kind := "INT"
			if j > 0 {
				kind = cols[j-1].kind
				require.Equal(t, fmt.Sprintf("c%d", j-1), change.Table.Columns[j].Name)
			}
			if strings.Contains(kind, "VIRTUAL") {
				continue // which is not written to the log by every server
			}
			require.Equal(t, written(w), written(change.After[j]), "%s: %s", kind, list[j])
			require.Equal(t, w == nil, change.After[j] == nil, kind)
		}
	}
	update, remove := got[id].Changes[0], got[id+1].Changes[0]
	require.Equal(t, got[0].Changes[0].After, update.Before)
	require.Equal(t, "5", string(update.After[1]))
	require.Equal(t, update.After, remove.Before)
	require.Nil(t, remove.After)
	require.WithinDuration(t, time.Now(), got[0].Time, time.Hour)
}

func compressed(t *testing.T, s *server) {
	variable := "log_bin_compress"
	if s.flavor == catalog.MySQL {
		variable = "binlog_transaction_compression"
	}
	s.exec(t, "SET GLOBAL "+variable+" = ON")
	defer s.exec(t, "SET GLOBAL "+variable+" = OFF")
	c := s.dial(t)
	s.exec(t, "CREATE DATABASE b; CREATE TABLE b.t (id INT PRIMARY KEY, v TEXT); CREATE TABLE b.`end` (id INT PRIMARY KEY)")
	from := s.position(t)
	for _, q := range []string{"INSERT INTO b.t VALUES (1, REPEAT('x', 5000)), (2, REPEAT('y', 5000))", "UPDATE b.t SET v = CONCAT(v, 'z')",
		"DELETE FROM b.t", "INSERT INTO b.`end` VALUES (1)"} {
		_, err := c.Exec(q)
		require.NoError(t, err)
	}
	got := until(t, s.open(t, "b", binlog.Start{Applied: from}))
	require.Len(t, got, 3)
	require.Equal(t, strings.Repeat("y", 5000), string(got[0].Changes[1].After[1]))
	require.Equal(t, strings.Repeat("y", 5000)+"z", string(got[1].Changes[1].After[1]))
	require.Equal(t, got[1].Changes[1].After, got[2].Changes[1].Before)
}

func branches(t *testing.T, s *server) {
	s.exec(t, "CREATE DATABASE b; CREATE TABLE b.t (id INT PRIMARY KEY, v TEXT); CREATE TABLE b.`end` (id INT PRIMARY KEY)")
	run := func(queries ...string) {
		// On a connection of its own: with it goes the branch it prepared.
		c := s.dial(t)
		defer c.Close()
		for _, q := range queries {
			_, err := c.Exec(q)
			require.NoError(t, err, q)
		}
	}
	run("XA START 'early','1',77", "INSERT INTO b.t VALUES (100, 'early')", "XA END 'early','1',77", "XA PREPARE 'early','1',77")
	open, err := binlog.Prepared(s.dial(t))
	require.NoError(t, err)
	require.Equal(t, []binlog.XID{{Format: 77, GTRID: "early", BQUAL: "1"}}, open)
	from := s.position(t)

	run("XA START 'a'", "INSERT INTO b.t VALUES (1, 'a')", "XA END 'a'", "XA PREPARE 'a'")
	run("XA START 'b'", "INSERT INTO b.t VALUES (2, 'b')", "XA END 'b'", "XA PREPARE 'b'")
	run("INSERT INTO b.t VALUES (3, 'plain')")
	run("XA START 'one'", "INSERT INTO b.t VALUES (4, 'one')", "XA END 'one'", "XA COMMIT 'one' ONE PHASE")
	run("XA START 'empty'", "SELECT * FROM b.t", "XA END 'empty'", "XA PREPARE 'empty'", "XA COMMIT 'empty'")
	run("XA START 'c'", "INSERT INTO b.t VALUES (5, 'c')", "XA END 'c'", "XA PREPARE 'c'")
	run("XA ROLLBACK 'b'")
	run("XA COMMIT 'a'")
	run("XA COMMIT 'early','1',77")
	run("BEGIN", "INSERT INTO b.t VALUES (6, 'x')", "SAVEPOINT s", "INSERT INTO b.t VALUES (7, 'gone')", "ROLLBACK TO s", "COMMIT")
	run("INSERT INTO b.`end` VALUES (1)")

	type seen struct{ what, rows string }
	read := func(from binlog.Start) (list []seen, starts []binlog.Start) {
		for _, tr := range until(t, s.open(t, "b", from)) {
			var x seen
			switch {
			case tr.Prepared != nil:
				x.what = "prepare " + tr.Prepared.GTRID
			case tr.Unknown != nil:
				x.what = "unknown " + tr.Unknown.GTRID
			}
			for _, c := range tr.Changes {
				x.rows += string(c.After[0])
			}
			if x.what == "prepare empty" || x.what == "unknown empty" {
				continue // it depends on the server whether it is logged
			}
			list, starts = append(list, x), append(starts, binlog.Start{Applied: tr.After, Reread: tr.Reread})
		}
		return list, starts
	}
	want := []seen{{"prepare a", ""}, {"prepare b", ""}, {"", "3"}, {"", "4"}, {"prepare c", ""}, {"", "1"}, {"unknown early", ""}, {"", "6"}}
	got, starts := read(binlog.Start{Applied: from})
	require.Equal(t, want, got)
	for i, from := range starts { // wherever a reader stops, its successor goes on
		again, _ := read(from)
		require.Equal(t, append([]seen{}, want[i+1:]...), append([]seen{}, again...), "after %d", i)
		applied, err := binlog.ParsePosition(s.flavor, from.Applied.String())
		require.NoError(t, err)
		reread, err := binlog.ParsePosition(s.flavor, from.Reread.String())
		require.NoError(t, err)
		again, _ = read(binlog.Start{Applied: applied, Reread: reread})
		require.Equal(t, append([]seen{}, want[i+1:]...), append([]seen{}, again...), "after %d", i)
	}
	run("XA ROLLBACK 'c'")
}

func refused(t *testing.T, s *server) {
	s.exec(t, "CREATE DATABASE b; CREATE TABLE b.t (id INT PRIMARY KEY, v TEXT, w INT)")
	refused := func(want error, queries ...string) {
		t.Helper()
		from := s.position(t)
		c, err := s.db.Conn(t.Context())
		require.NoError(t, err)
		for _, q := range queries {
			_, err := c.ExecContext(t.Context(), q)
			require.NoError(t, err, q)
		}
		require.NoError(t, c.Close())
		st := s.open(t, "b", binlog.Start{Applied: from})
		for {
			if _, err = st.Next(); err != nil {
				break
			}
		}
		require.ErrorIs(t, err, want)
	}
	refused(binlog.ErrFormat, "SET SESSION binlog_format = STATEMENT", "INSERT INTO b.t VALUES (1, 'x', 1)", "SET SESSION binlog_format = ROW")
	refused(binlog.ErrFormat, "SET SESSION binlog_row_image = MINIMAL", "UPDATE b.t SET w = 2", "SET SESSION binlog_row_image = FULL")
	old := s.position(t)
	s.exec(t, "INSERT INTO b.t VALUES (2, 'x', 1); FLUSH BINARY LOGS; INSERT INTO b.t VALUES (3, 'x', 1); FLUSH BINARY LOGS")
	var file, rest string
	if s.flavor == catalog.MySQL {
		require.NoError(t, s.db.QueryRow("SHOW BINARY LOG STATUS").Scan(&file, new(any), new(any), new(any), &rest))
	} else {
		require.NoError(t, s.db.QueryRow("SHOW MASTER STATUS").Scan(&file, new(any), new(any), new(any)))
	}
	require.Eventually(t, func() bool {
		s.exec(t, "PURGE BINARY LOGS TO '"+file+"'")
		st, err := binlog.Open(t.Context(), binlog.Config{Conn: s.conn, Flavor: s.flavor, Start: binlog.Start{Applied: old}})
		if err == nil {
			defer st.Close()
			_, err = st.Next()
		}
		return err != nil && strings.Contains(err.Error(), binlog.ErrPurged.Error())
	}, time.Minute, 50*time.Millisecond)
}
