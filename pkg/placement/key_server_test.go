package placement

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqltypes"
	"skarv/test/realserver"
)

// TestPartitionAgreesWithServer is the contract of this package with real servers: the golden vectors, where values are
// stored, and which rows are found.
func TestPartitionAgreesWithServer(t *testing.T) {
	for _, s := range realserver.Start(t) {
		t.Run(s.Flavor, func(t *testing.T) {
			t.Run("vectors", func(t *testing.T) { checkVectors(t, s) })
			t.Run("session settings", func(t *testing.T) { checkSessionSettings(t, s) })
			for _, column := range testColumns() {
				if column.flavor != "" && column.flavor != s.Flavor {
					continue
				}
				t.Run(column.def, func(t *testing.T) {
					s.Exec(t, "SET NAMES utf8mb4", "SET sql_mode=''")
					checkColumn(t, s, column)
				})
			}
		})
	}
}

// columnFromServer prepares column c of table t from the server's information_schema.
func columnFromServer(t *testing.T, s realserver.Server, table, column string) KeyColumn {
	t.Helper()
	row := s.Rows(t, fmt.Sprintf(`SELECT data_type, column_type, IFNULL(collation_name,''), IFNULL(character_maximum_length,0),
		IFNULL(numeric_precision,0), COALESCE(numeric_scale,datetime_precision,0), is_nullable
		FROM information_schema.columns WHERE table_schema=DATABASE() AND table_name='%s' AND column_name='%s'`, table, column))[0]
	atoi := func(s string) int {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		return n
	}
	c, err := NewKeyColumn(ColumnSpec{Name: column, DataType: row[0], ColumnType: row[1], Collation: row[2],
		Length: int64(atoi(row[3])), Precision: atoi(row[4]), Scale: atoi(row[5]), Nullable: row[6] == "YES", Flavor: s.Flavor})
	require.NoError(t, err)
	return c
}

// checkVectors computes the golden vectors on the server.
func checkVectors(t *testing.T, s realserver.Server) {
	for _, file := range vectorFiles() {
		if file.flavor != "" && file.flavor != s.Flavor {
			continue
		}
		var lines strings.Builder
		for _, v := range file.keys {
			s.Exec(t, "SET NAMES utf8mb4", "SET sql_mode=''", "DROP TABLE IF EXISTS vectors")
			names := make([]string, len(v.defs))
			columns := make([]string, len(v.defs))
			for i, def := range v.defs {
				names[i] = fmt.Sprintf("c%d", i)
				columns[i] = names[i] + " " + sqlDef(def)
			}
			s.Exec(t, fmt.Sprintf("CREATE TABLE vectors (n INT PRIMARY KEY, %s)", strings.Join(columns, ", ")))
			key := make(Key, len(v.defs))
			for i, name := range names {
				key[i] = columnFromServer(t, s, "vectors", name)
			}
			fmt.Fprintf(&lines, "\nkey: %s\n", strings.Join(v.defs, ", "))
			for n, row := range v.rows {
				s.Exec(t, fmt.Sprintf("INSERT INTO vectors VALUES (%d, %s)", n, literals(row)))
			}
			got := s.Rows(t, "SELECT "+key.SQLExpr(names)+" FROM vectors ORDER BY n")
			for n, row := range v.rows {
				fmt.Fprintf(&lines, "%s -> %s\n", literals(row), got[n][0])
			}
		}
		file.check(t, lines.String(), s.Flavor)
	}
}

// literals is a row of values as SQL.
func literals(row []sqltypes.Value) string {
	var b []byte
	for i, v := range row {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = sqltypes.AppendLiteral(b, v, false, false)
	}
	return string(b)
}

// checkSessionSettings: what a session may have set does not change SQLExpr.
func checkSessionSettings(t *testing.T, s realserver.Server) {
	s.Exec(t, "SET NAMES utf8mb4", "SET sql_mode=''",
		`CREATE TABLE settings (a CHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, b CHAR(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
			c DECIMAL(10,2), d DATETIME(3), e TIME(3), f BIGINT ZEROFILL, g CHAR(5) CHARACTER SET latin1 COLLATE latin1_bin,
			h ENUM('x','y'), i YEAR, j BINARY(4))`,
		"INSERT INTO settings VALUES ('Ab ', 'Ab', 1.50, '2024-02-29 01:02:03.120', '-10:00:00.500', 42, 'é', 'y', 2024, 'a'), "+
			"(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)")
	if s.Flavor == "mysql" {
		s.Exec(t, "ALTER TABLE settings ADD k CHAR(5) COLLATE utf8mb4_0900_ai_ci, ADD l CHAR(5) COLLATE utf8mb4_0900_bin",
			"UPDATE settings SET k='Ab ', l='Ab ' WHERE a IS NOT NULL")
	}
	var names []string
	var all Key
	var exprs []string
	for _, row := range s.Rows(t, "SELECT column_name FROM information_schema.columns WHERE table_schema=DATABASE() AND table_name='settings'") {
		names = append(names, row[0])
		all = append(all, columnFromServer(t, s, "settings", row[0]))
		exprs = append(exprs, Key(all[len(all)-1:]).SQLExpr(row))
	}
	query := "SELECT " + strings.Join(exprs, ", ") + ", " + all.SQLExpr(names) + " FROM settings ORDER BY a"
	want := s.Rows(t, query)
	for _, set := range []string{"sql_mode='PAD_CHAR_TO_FULL_LENGTH'", "sql_mode='ANSI,ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'",
		"collation_connection=utf16_general_ci", "collation_connection=latin1_swedish_ci", "collation_connection=utf8mb4_bin",
		"collation_connection=ucs2_bin", "sql_mode='STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE'", "time_zone='+05:00'"} {
		s.Exec(t, "SET NAMES utf8mb4", "SET sql_mode=''", "SET "+set)
		require.Equal(t, want, s.Rows(t, query), set)
	}
}

// checkColumn writes values into a column and compares where the server has them with Store, then looks for values and
// compares what is found with Compare.
func checkColumn(t *testing.T, s realserver.Server, column testColumn) {
	s.Exec(t, "DROP TABLE IF EXISTS k", "CREATE TABLE k (id INT PRIMARY KEY, c "+sqlDef(column.def)+", KEY c (c))")
	c := columnFromServer(t, s, "k", "c")
	key := Key{c}
	expr := key.SQLExpr([]string{"c"})

	rnd := rand.New(rand.NewPCG(3, 5))
	values := column.values(rnd)
	stored, refused := 0, 0
	want := map[string]sqltypes.Value{}
	var scratch []byte
	for id, v := range values {
		q := fmt.Sprintf("INSERT INTO k VALUES (%d, %s)", id, literals([]sqltypes.Value{v}))
		if _, err := s.DB.Exec(q); err != nil {
			refused++
			continue
		}
		want[strconv.Itoa(id)] = v
		stored++
	}
	exact := 0
	for _, row := range s.Rows(t, "SELECT id, "+expr+", "+printed(&c)+" FROM k") {
		v := want[row[0]]
		var p Partition
		var m Match
		p, scratch, m = key.Partition(scratch, []sqltypes.Value{v}, Store)
		require.NotEqual(t, None, m)
		if v.Kind != sqltypes.Null && (ascii(v.Raw) || !strings.Contains(column.def, " ascii_")) { // MariaDB keeps bytes there that it prints as ?
			at, text, match := key.Partition(nil, []sqltypes.Value{{Kind: printedKind(&c), Raw: []byte(row[2])}}, Stored)
			require.Equal(t, Exact, match, "stored: %q", row[2])
			require.Equal(t, row[1], strconv.Itoa(int(at)), "stored: %q; text here %q", row[2], text)
		}
		if m != Exact {
			continue
		}
		exact++
		require.Equal(t, row[1], strconv.Itoa(int(p)), "%s is stored as %q; text here %q", literals([]sqltypes.Value{v}), row[2], scratch)
	}
	require.GreaterOrEqual(t, exact, stored*column.exactShare/100, "values placed of %d stored", stored)

	known := 0
	for _, v := range values {
		p, _, m := key.Partition(nil, []sqltypes.Value{v}, Compare)
		if m == Unknown {
			continue
		}
		known++
		literal := literals([]sqltypes.Value{v})
		for _, index := range []string{"", "IGNORE INDEX (c)", "FORCE INDEX (c)"} {
			checkFound(t, s, fmt.Sprintf("SELECT DISTINCT %s FROM k %s WHERE c = %s", expr, index, literal), p, m)
		}
	}
	require.GreaterOrEqual(t, known, len(values)*column.lookupShare/100, "values that can be looked for")
	checkParameters(t, s, key, expr, column, values)
}

// printed selects a column as those do who then ask where the row belongs.
func printed(c *KeyColumn) string {
	switch c.kind {
	case bitKey, enumKey, setKey:
		return "CAST(c AS UNSIGNED)"
	}
	return "c"
}

func printedKind(c *KeyColumn) sqltypes.Kind {
	switch c.kind {
	case intKey, yearKey, bitKey, enumKey, setKey:
		return sqltypes.Int
	case decimalKey:
		return sqltypes.Decimal
	case binaryKey, varbinaryKey:
		return sqltypes.Binary
	}
	return sqltypes.String
}

// checkFound runs a query for the partitions of the rows found and compares them with Partition's answer.
func checkFound(t *testing.T, s realserver.Server, query string, p Partition, m Match) {
	t.Helper()
	rows, err := s.DB.Query(query)
	if err != nil {
		return // refused whichever group is asked
	}
	requireOnly(t, rows, query, p, m)
}

func requireOnly(t *testing.T, rows *sql.Rows, query string, p Partition, m Match) {
	t.Helper()
	defer rows.Close()
	for rows.Next() {
		var got int
		require.NoError(t, rows.Scan(&got))
		require.Equal(t, Exact, m, query)
		require.Equal(t, int(p), got, query)
	}
}

// checkParameters does the same with values sent as parameters of a prepared statement.
func checkParameters(t *testing.T, s realserver.Server, key Key, expr string, column testColumn, values []sqltypes.Value) {
	query := fmt.Sprintf("SELECT DISTINCT %s FROM k WHERE c = ?", expr)
	// One statement for each type of parameter: MySQL keeps comparing as doubles after a double was sent once.
	statements := map[string]*sql.Stmt{}
	try := func(arg any, v sqltypes.Value) {
		t.Helper()
		stmt := statements[fmt.Sprintf("%T", arg)]
		if stmt == nil {
			var err error
			stmt, err = s.DB.Prepare(query)
			require.NoError(t, err)
			t.Cleanup(func() { stmt.Close() })
			statements[fmt.Sprintf("%T", arg)] = stmt
		}
		p, _, m := key.Partition(nil, []sqltypes.Value{v}, Compare)
		if m == Unknown {
			return
		}
		rows, err := stmt.Query(arg)
		if err != nil {
			return
		}
		requireOnly(t, rows, fmt.Sprintf("%s with %T %v", query, arg, arg), p, m)
	}
	for _, v := range values {
		text := string(v.Raw)
		switch v.Kind {
		case sqltypes.String:
			try(text, v)
		case sqltypes.Int:
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				try(n, sqltypes.Value{Kind: sqltypes.Int, Raw: strconv.AppendInt(nil, n, 10)})
			}
			try(text, sqltypes.Value{Kind: sqltypes.String, Raw: v.Raw})
			fallthrough
		case sqltypes.Decimal, sqltypes.Float:
			if f, err := strconv.ParseFloat(text, 64); err == nil {
				try(f, sqltypes.Value{Kind: sqltypes.Float, Raw: strconv.AppendFloat(nil, f, 'e', -1, 64)})
			}
		}
		if at, err := time.Parse("2006-01-02 15:04:05.999999", text); err == nil && !at.IsZero() {
			try(at, sqltypes.Value{Kind: sqltypes.Datetime, Raw: []byte(text)})
		}
		if at, err := time.Parse("2006-01-02", text); err == nil && !at.IsZero() { // which the driver sends as 0000-00-00
			try(at, sqltypes.Value{Kind: sqltypes.Datetime, Raw: []byte(text + " 00:00:00")})
		}
	}
}

// updateGolden is whether to write golden vectors as the server computed them: for new kinds of keys only, those there
// are never change.
func updateGolden() bool { return os.Getenv("SKARV_UPDATE_GOLDEN") != "" }
