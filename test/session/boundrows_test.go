package session

import (
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/pkg/wire"
	"skarv/test/cluster"
)

// bound is a parameter as clients send it.
type bound struct {
	name     string
	kind     byte
	unsigned byte
	value    []byte // nil is NULL
}

// moments are dates and times, some of which are none that a literal can say.
func moments() []bound {
	datetime := func(year uint16, rest ...byte) []byte {
		v := append(binary.LittleEndian.AppendUint16(nil, year), rest...)
		return append([]byte{byte(len(v))}, v...)
	}
	clock := func(sign byte, days uint32, rest ...byte) []byte {
		v := append(binary.LittleEndian.AppendUint32([]byte{sign}, days), rest...)
		return append([]byte{byte(len(v))}, v...)
	}
	return []bound{
		{"datetime", 12, 0, datetime(2020, 2, 3, 4, 5, 6)},
		{"datetime with micros", 12, 0, datetime(2020, 2, 3, 4, 5, 6, 0x08, 0x0a, 0x0c, 0)},
		{"datetime with zone", 12, 0, datetime(2020, 2, 3, 4, 5, 6, 0, 0, 0, 0, 60, 0)},
		{"datetime of a day", 12, 0, datetime(2020, 2, 3)},
		{"datetime 0", 12, 0, []byte{0}},
		{"datetime wrong", 12, 0, datetime(2020, 13, 45, 4, 5, 6)},
		{"datetime without a day", 12, 0, datetime(2020, 2, 0)},
		{"timestamp", 7, 0, datetime(2020, 2, 3, 4, 5, 6)},
		{"date", 10, 0, datetime(2020, 2, 3)},
		{"date wrong", 10, 0, datetime(2020, 2, 31)},
		{"time", 11, 0, clock(0, 1, 2, 3, 4)},
		{"time below 0", 11, 0, clock(1, 0, 22, 3, 4, 0x08, 0x0a, 0x0c, 0)},
		{"time of days", 11, 0, clock(0, 40, 1, 0, 0)},
		{"time 0", 11, 0, []byte{0}},
	}
}

func boundValues() []bound {
	double := func(f float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)) }
	text := func(kind byte, s string) bound {
		return bound{fmt.Sprintf("%d %q", kind, s), kind, 0, append([]byte{byte(len(s))}, s...)}
	}
	values := append(moments(),
		bound{"NaN", 5, 0, double(math.NaN())}, bound{"Inf", 5, 0, double(math.Inf(1))}, bound{"double", 5, 0, double(20200203.5)}, bound{"third", 5, 0, double(1. / 3)},
		bound{"float", 4, 0, binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.1))},
		bound{"int", 3, 0, []byte{5, 0, 0, 0}}, bound{"biggest", 8, 0x80, binary.LittleEndian.AppendUint64(nil, math.MaxUint64)},
		bound{"int of a date", 8, 0, binary.LittleEndian.AppendUint64(nil, 20200203040506)},
		bound{"NULL", 253, 0, nil},
	)
	if cluster.TestEngine() == datanode.MariaDB {
		values = append(values, bound{"year", 13, 0, []byte{0xe4, 7}}, bound{"mediumint", 9, 0, []byte{0xf9, 0xff, 0xff, 0xff}})
	}
	for _, s := range []string{"5", "-9", "1.5", " 5 ", "abc", "", "2020-02-03", "2020-02-03 04:05:06.789", "2020/1/2", "1e400", "99999999999999999999999", "é", "\xff\xfe", "{\"a\":1}"} {
		values = append(values, text(253, s))
	}
	for _, s := range []string{"12.3450", "1e5", "abc", ""} {
		values = append(values, text(246, s))
	}
	return append(values, text(252, "5"), text(252, "A\xff"), text(16, "\x03\xff"), text(245, "{\"a\":1}"), text(0, "1e5"), text(15, "x"), text(247, "a"))
}

// execute prepares sql, and executes it with v for all of its n parameters; what the server says to that.
func (r raw) execute(sql string, v bound, n int) string {
	st, err := r.Prepare([]byte(sql))
	if err != nil {
		return "not prepared: " + err.Error()
	}
	payload := append(binary.LittleEndian.AppendUint32(nil, st.ID), 0, 1, 0, 0, 0)
	nulls := byte(0)
	if v.value == nil {
		nulls = 0xff
	}
	payload = append(payload, nulls, 1)
	for range n {
		payload = append(payload, v.kind, v.unsigned)
	}
	for range n {
		payload = append(payload, v.value...)
	}
	require.NoError(r.t, r.Send(wire.ComStmtExecute, payload))
	defer r.CloseStmt(st.ID)
	head, err := r.ReadHead()
	if err != nil {
		return err.Error()
	}
	told := fmt.Sprintf("%d rows, %d warnings", head.OK.AffectedRows, head.OK.Warnings)
	_, rows, err := r.QueryAll("SHOW WARNINGS", 100)
	require.NoError(r.t, err)
	warnings := make([]string, len(rows)) // MariaDB converts all values before it writes the first row
	for i, row := range rows {
		warnings[i] = fmt.Sprintf("\n%s", row)
	}
	slices.Sort(warnings)
	return told + strings.Join(warnings, "")
}

// Parameters are no literals in rows of VALUES either: what a value becomes depends on its type, and on that of its column.
func TestBoundRowsAsOneServer(t *testing.T) {
	one, many := plainServer(t), rawClient(t)
	one.exec("CREATE DATABASE d")
	one.exec("USE d")
	row := regexp.MustCompile("at row [0-9]+") // of several that are wrong, the first one of the group that is asked first is named
	plain := []string{"INSERT INTO %s (id, u, c) VALUES (1, 1, ?), (2, 2, ?), (3, 3, NULL)"}
	unique := []string{"REPLACE INTO %s (c, u, id) VALUES (?, 1, 5), (?, 2, 6)", "INSERT INTO %s SET id = 4, c = ?",
		"INSERT IGNORE INTO %s (id, u, c) VALUES (1, 1, NULL), (7, 1, ?), (8, 8, ?)", "INSERT INTO %s (id, u, c) VALUES (1, 1, NULL), (7, 1, ?) ON DUPLICATE KEY UPDATE c = ?"}
	var differ []string
	for number, of := range []struct {
		column     string
		statements []string
	}{{"VARCHAR(40)", plain}, {"DOUBLE", plain}, {"DECIMAL(20,4)", plain}, {"BIGINT UNSIGNED", plain}, {"DATETIME(6)", plain}, {"DATE", plain}, {"TIME", plain},
		{"YEAR", plain}, {"BIT(8)", plain}, {"JSON", plain}, {"VARCHAR(40), UNIQUE (u)", unique}, {"BIGINT, UNIQUE (u)", unique}} {
		table := fmt.Sprintf("bound_rows%d", number)
		for _, c := range []raw{one, many} {
			c.exec("CREATE TABLE " + table + " (id INT PRIMARY KEY, u INT, c " + of.column + ")")
		}
		mode := [2]string{"STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE", ""}[number%2]
		for _, statement := range of.statements {
			sql := fmt.Sprintf(statement, table)
			for _, v := range boundValues() {
				if (of.column == "YEAR" || of.column == "BIT(8)") && (v.name == `253 "1e400"` || v.name == `253 "99999999999999999999999"`) {
					continue // MySQL counts a warning of it twice, but for the last row
				}
				var told [2]string
				for i, c := range []raw{one, many} {
					c.exec("SET sql_mode = '" + mode + "'")
					told[i] = row.ReplaceAllString(c.execute(sql, v, strings.Count(sql, "?")), "at row")
					_, rows, err := c.QueryAll("SELECT id, u, c, HEX(c) FROM "+table+" ORDER BY id", 10)
					require.NoError(t, err)
					for _, row := range rows {
						told[i] += fmt.Sprintf("\n%s %s %x %s", row[0], row[1], row[2], row[3])
					}
					c.exec("DELETE FROM " + table)
				}
				if told[0] != told[1] {
					differ = append(differ, fmt.Sprintf("%s %q %s: %s\n--- one\n%s\n--- skarv\n%s\n", of.column, mode, v.name, sql, told[0], told[1]))
				}
			}
		}
		for _, c := range []raw{one, many} {
			c.exec("DROP TABLE " + table)
		}
	}
	require.Empty(t, strings.Join(differ, "\n"))
}

// Where a parameter has to be written into a text, a date or a time is one there, and no string.
func TestMomentsInTextAsOneServer(t *testing.T) {
	one, many := plainServer(t), rawClient(t)
	one.exec("CREATE DATABASE d")
	one.exec("USE d")
	for _, c := range []raw{one, many} {
		c.exec("CREATE TABLE moments_rows (id BIGINT PRIMARY KEY, f DOUBLE, d DATETIME, u INT, UNIQUE (u))")
		c.exec("CREATE TABLE moments_log (n BIGINT PRIMARY KEY)")
		c.exec("CREATE TRIGGER moments_logged AFTER INSERT ON moments_rows FOR EACH ROW INSERT INTO moments_log VALUES (NEW.id)")
		c.exec("CREATE PROCEDURE moments_called(x BIGINT, y DATETIME(6), z DOUBLE) REPLACE INTO moments_rows VALUES (x, z, y, 1)")
		c.exec("SET sql_mode = ''")
	}
	for _, v := range moments() {
		switch v.name {
		case "datetime wrong", "datetime without a day", "date wrong", "time of days", "datetime with zone":
			continue // none that a literal can say: error 1525. A server computes with a time zone as with none, but for DATETIME
		}
		for _, sql := range []string{"INSERT INTO moments_rows VALUES (? + 1, ?, ?, 1)", "CALL moments_called(?, ?, ?)"} {
			var told [2]string
			for i, c := range []raw{one, many} {
				told[i] = c.execute(sql, v, strings.Count(sql, "?"))
				if sql[0] == 'C' {
					told[i] = "" // what a procedure counts and warns of differs
				}
				for _, table := range []string{"moments_rows", "moments_log"} {
					_, rows, err := c.QueryAll("SELECT * FROM "+table, 10)
					require.NoError(t, err)
					told[i] += fmt.Sprintf("%s", rows)
					c.exec("DELETE FROM " + table)
				}
			}
			require.Equal(t, told[0], told[1], "%s %s", sql, v.name)
		}
	}
	for _, c := range []raw{one, many} {
		c.exec("DROP PROCEDURE moments_called")
		c.exec("DROP TABLE moments_rows, moments_log")
	}
}
