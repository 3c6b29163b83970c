package sqlparse

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// startServer runs a MariaDB server on a socket for the length of the test.
func startServer(t *testing.T) *sql.DB {
	dir, err := os.MkdirTemp("", "sqlparse") // short enough for a socket's path
	require.NoError(t, err)
	data, socket := filepath.Join(dir, "data"), filepath.Join(dir, "s")
	// A starting MariaDB clears the temporary directory, so it must not be shared.
	t.Setenv("TMPDIR", dir)
	out, err := exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=normal",
		"--skip-test-db", "--user=root").CombinedOutput()
	require.NoError(t, err, "%s", out)
	server := exec.Command("mariadbd", "--no-defaults", "--user=root", "--datadir="+data, "--socket="+socket, "--skip-networking",
		"--innodb-flush-log-at-trx-commit=0")
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		_ = os.RemoveAll(dir)
	})
	db, err := sql.Open("mysql", "root@unix("+socket+")/?multiStatements=true&interpolateParams=false")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	for range 600 {
		if err = db.Ping(); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond) // a server says in no other way that it is up
	}
	require.NoError(t, err)
	_, err = db.Exec("CREATE DATABASE d; USE d; CREATE TABLE t (a INT, b INT, `c d` INT); INSERT INTO t VALUES (1, 2, 3)")
	require.NoError(t, err)
	return db
}

// TestAgainstServer asks a real server what it reads in the text we read.
func TestAgainstServer(t *testing.T) {
	db := startServer(t)
	var version string
	require.NoError(t, db.QueryRow("SELECT version()").Scan(&version))
	d := NewDialect(true, version)
	t.Run("column names", func(t *testing.T) { columnNames(t, db, d) })
	t.Run("literals", func(t *testing.T) { literals(t, db, d) })
	t.Run("same meaning", func(t *testing.T) { sameMeaning(t, db, d) })
	t.Run("reserved words", func(t *testing.T) { reservedWords(t, db, d) })
	t.Run("split", func(t *testing.T) { splitPieces(t, db, d) })
}

func columnNames(t *testing.T, db *sql.DB, d *Dialect) {
	st := d.NewStatement()
	for _, item := range []string{
		"a", "t.b", "d.t.`c d`", "a AS x", "a `y`", "a 'z'", "a+1", "a + 1 ss", "COUNT(*) cnt", "COUNT( * )", "'str'", "'a' 'b'", "5", "-5",
		"- 5", "+5", "+ a", "+(a)", "+(a+1)", "(5)", "(a)", "( a )", "((t.a))", "(a+1)", "NULL", "null", "true", "(FALSE)", "@x", "(@x)", "N'n'",
		"_utf8mb4'u'", "_latin1 'l'", "x'41'", "(x'41')", "0x41", "1.50", "(1e3)", "CASE WHEN a THEN 1 END", "CASE a WHEN 1 THEN 2 END c",
		"a + INTERVAL 1 DAY", "'2026-01-01' + INTERVAL 1 DAY dd", "DATE'2026-01-01'", "DATE'2026-01-01' e", "(date '2026-01-01')",
		"a LIKE 'x' ESCAPE '!'", "SUM(a) OVER ()", "a IS NULL", "a /* c */ + 1", "a/**/+/**/1", "/*!50000 1+ */ a", "/*!99999 1+ */ a",
		"(SELECT 1)", "'  lead'", "''", "'it''s'", `'x\ny'`, "a AS 'a b'", "not a", "a -- x\n + 1", "a # x\n+1", "\\N", "a.`a`", "EXISTS (SELECT 1)",
		"1+'" + strings.Repeat("x", 300) + "'", "'" + strings.Repeat("x", 300) + "'", "MOD(a, 2)", "a MOD 2", "CAST(a AS CHAR(10))", "a div 2 dd",
		"GROUP_CONCAT(a SEPARATOR ',')", "a BETWEEN 1 AND 2", "a IN (1,2)", "IF(a, b, `c d`)", "current_date + 0", "t.a b", "_utf8mb4'ü'", "'ü'",
		"a COLLATE utf8mb4_bin cc", "'x' COLLATE utf8mb4_bin", "DATE('2026-01-01')", "interval(1, 2)", "LEFT('abc', 1)", "CHAR(65)", "a := 1",
	} {
		if item == "a := 1" || item == "a.`a`" {
			continue
		}
		query := "SELECT " + item + " , 1 FROM t"
		rows, err := db.Query(query)
		if !assertNoError(t, query, err) {
			continue
		}
		want, err := rows.Columns()
		require.NoError(t, err)
		require.NoError(t, rows.Close())
		require.NoError(t, st.Scan([]byte(query), 0))
		items := st.SelectItems(nil)
		if len(items) != 2 {
			t.Errorf("%s: %d items", query, len(items))
			continue
		}
		if got := string(st.AppendColumnName(nil, items[0])); got != want[0] {
			t.Errorf("%s: server %q, we %q", query, want[0], got)
		}
	}
}

func assertNoError(t *testing.T, query string, err error) bool {
	if err != nil {
		t.Errorf("%s: %v", query, err)
	}
	return err == nil
}

// literals compares the bytes the server sees in literals with those Decode sees.
func literals(t *testing.T, db *sql.DB, d *Dialect) {
	rnd := rand.New(rand.NewPCG(7, 8))
	list := []string{
		"'a' 'b'", "'a'\n'b' /* c */ 'c'", "x'4142'", "X'00ff'", "0x0102", "0x102", "b'1'", "b'0100000101000010'", "0b101", "N'x'",
		"_utf8mb4'x'", "_binary'x'", "_binary x'41'", "_latin1'x' 'y'", "''", `'\%\_'`, `"a""b'c"`, `'a''b"c'`, "_utf8mb4 0x41", "_binary b'1'",
	}
	for range 300 {
		var b strings.Builder
		quote := []string{"'", `"`}[rnd.IntN(2)]
		b.WriteString(quote)
		for range rnd.IntN(8) {
			b.WriteString([]string{
				"a", "\\\\", "\\'", `\"`, "\\n", "\\0", "\\Z", "\\%", "\\_", "\\x", "ü", "\n", quote + quote, "--", "/*", "\\b", "\\r", "\\t", " ",
			}[rnd.IntN(19)])
		}
		b.WriteString(quote)
		list = append(list, b.String())
	}
	for _, mode := range []Mode{0, NoBackslashEscapes} {
		name := ""
		if mode != 0 {
			name = "NO_BACKSLASH_ESCAPES"
		}
		_, err := db.Exec("SET sql_mode = '" + name + "'")
		require.NoError(t, err)
		st := d.NewStatement()
		for _, lit := range list {
			query := "SELECT HEX(CONCAT(" + lit + ")), 'end'"
			var want, end string
			serverErr := db.QueryRow(query).Scan(&want, &end)
			if err := st.Scan([]byte(query), mode); err != nil || st.NumArgs() != 2 {
				require.Error(t, serverErr, "%s: we read %d arguments, %v", query, st.NumArgs(), err)
				continue
			}
			require.NoError(t, serverErr, query)
			v, ok := st.Value(0, nil)
			require.True(t, ok, query)
			require.Equal(t, want, strings.ToUpper(hex.EncodeToString(v.Raw)), query)
		}
	}
	_, err := db.Exec("SET sql_mode = DEFAULT")
	require.NoError(t, err)
}

// sameMeaning runs statements as written and as rendered: the server must answer the same.
func sameMeaning(t *testing.T, db *sql.DB, d *Dialect) {
	st := d.NewStatement()
	for _, c := range []struct {
		mode  string
		bits  Mode
		query string
	}{
		{"", 0, "SELECT 1 /*!40001 + 1 */ /*!50701 + 2 */ /*!999999 + 4 */ /*M! + 8 */ /*M!100100 + 16 */ /*M!999999 + 32 */ /*! + 64 */"},
		{"", 0, "SELECT /*!99999 , ( /* nested */ 'x */ 2"},
		{"", 0, "SELECT /*!100100 1 + */ 2, /*!010010 1 + */ 2"},
		{"", 0, "SELECT 5 /*! + /* inside */ 1 */"},
		{"", 0, "SELECT 5--1, 5 --1\n, 5 -- 1\n, 6"},
		{"", 0, "SELECT 5--\t1\n, 6 #7\n"},
		{"", 0, "SELECT 1e1, 1.e1, .5, 1., 0x41, 0b11, x'41', 1e+2, 1E-2, -5, - -5, +5, 1-1, 1 - -1"},
		{"", 0, "SELECT 1e FROM (SELECT 1 AS 1e) x"},
		{"", 0, "SELECT 0X41 FROM (SELECT 2 AS 0X41) x"},
		{"", 0, "SELECT x.1a FROM (SELECT 3 AS 1a) x"},
		{"", 0, "SELECT `ü`, ü, `a``b` FROM (SELECT 1 AS ü, 2 AS `a``b`) x"},
		{"", 0, "SELECT @a:=5, @a, @`a`, @'a', @@sql_mode, @@session.sql_mode"},
		{"", 0, "SELECT \\N, NULL"},
		{"", 0, "SELECT 'a' 'b', 'a' /* x */ 'b', N'c' 'd'"},
		{"", 0, "SELECT 1 IN (1,2), 3 IN (-3, - 3, 3), 'a' IN ('a' 'b', 'a')"},
		{"", 0, "SELECT DATE'2026-01-31', TIME'10:00:00', TIMESTAMP/**/'2026-01-31 10:00:00'"},
		{"", 0, "SELECT '{\"a\": 5}' LIKE '%a%' ESCAPE '!', 5 DIV 2, 5 MOD 3, NOT 1, !0, ~0, 5 ^ 3, 1 << 3, 1 <=> NULL, 1 <> 2, 1 != 2, 1 && 0, 1 || 0"},
		{"", 0, "(SELECT 1) UNION (SELECT 2) ORDER BY 1 DESC LIMIT 1"},
		{"ANSI_QUOTES", ANSIQuotes, "SELECT \"a\", 'x' \"q\"\"r\" FROM t"},
		{"NO_BACKSLASH_ESCAPES", NoBackslashEscapes, `SELECT 'a\', 'b\\' AS 'x'`},
		{"IGNORE_SPACE", IgnoreSpace, "SELECT COUNT (*) FROM t"},
	} {
		_, err := db.Exec("SET sql_mode = '" + c.mode + "'")
		require.NoError(t, err)
		want, err := answer(db, c.query)
		require.NoError(t, err, c.query)
		require.NoError(t, st.Scan([]byte(c.query), c.bits), c.query)
		text := string(st.render(nil, renderRaw))
		_, err = db.Exec("SET sql_mode = ''")
		require.NoError(t, err)
		if c.bits == IgnoreSpace {
			continue
		}
		text = strings.ReplaceAll(text, "@@sql_mode", "'"+c.mode+"'")
		got, err := answer(db, text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, "%s\n%s", c.query, text)
	}
	_, err := db.Exec("SET sql_mode = DEFAULT")
	require.NoError(t, err)
	// What we cannot read, the server cannot read.
	for _, query := range []string{"SELECT 'open", "SELECT /* open", "SELECT /*! 1", "SELECT `open", "SELECT x'4'", "SELECT b'12'"} {
		serverErr := func() error { _, err := answer(db, query); return err }()
		err := st.Scan([]byte(query), 0)
		require.Error(t, err, query)
		require.Error(t, serverErr, query)
		t.Logf("%s: %v / %v", query, err, serverErr)
	}
}

func answer(db *sql.DB, query string) (string, error) {
	rows, err := db.Query(query)
	if err != nil {
		return "", err
	}
	defer func() { _ = rows.Close() }()
	cols, err := rows.Columns()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for rows.Next() {
		values, refs := make([]sql.NullString, len(cols)), make([]any, len(cols))
		for i := range values {
			refs[i] = &values[i]
		}
		if err := rows.Scan(refs...); err != nil {
			return "", err
		}
		fmt.Fprintln(&b, values)
	}
	return b.String(), rows.Err()
}

// reservedWords: what we fold in the shape and do not take for a name can be no name without quotes.
func reservedWords(t *testing.T, db *sql.DB, d *Dialect) {
	for _, w := range d.words {
		if w.flags&wordReserved == 0 {
			continue
		}
		_, err := answer(db, "SELECT 1 FROM (SELECT 1) AS "+w.text)
		require.Error(t, err, "%s names a table", w.text)
		if w.flags&wordOperand == 0 {
			_, err = answer(db, "SELECT "+w.text+" FROM (SELECT 1 AS `"+w.text+"`) x")
			require.Error(t, err, "%s names a column", w.text)
		}
	}
}

// splitPieces sends the pieces Next makes one by one: each must be a statement to the server.
func splitPieces(t *testing.T, db *sql.DB, d *Dialect) {
	text := []byte(`
CREATE PROCEDURE p(IN a INT) COMMENT 'x;y' BEGIN
  DECLARE done, begin INT DEFAULT 0;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; END;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1;
  IF a = 1 THEN SELECT IF(a, 1, 2); ELSEIF a = 2 THEN SELECT 2; ELSE SELECT 3; END IF;
  CASE a WHEN 1 THEN SELECT CASE WHEN a THEN 1 ELSE IF(a, 1, 2) END; ELSE BEGIN END; END CASE;
  lbl: LOOP LEAVE lbl; END LOOP lbl;
  WHILE a > 0 DO SET a = a - 1; END WHILE;
  REPEAT SET a = a + 1; UNTIL a > CASE 1 WHEN 1 THEN 5 END END REPEAT;
  FOR i IN 1..10 DO INSERT INTO t VALUES (i, i, i); END FOR;
  SELECT REPEAT('x', 3), begin FROM t;
  START TRANSACTION; COMMIT;
END;
CREATE OR REPLACE DEFINER=root@localhost TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW BEGIN SET NEW.a = 1; END;
CREATE TRIGGER tr2 BEFORE INSERT ON t FOR EACH ROW SET NEW.a = IF(1, 2, 3);
CREATE TRIGGER tr3 BEFORE INSERT ON t FOR EACH ROW FOLLOWS tr2 IF NEW.a THEN SET @a = 1; END IF;
CREATE EVENT e ON SCHEDULE EVERY 1 HOUR COMMENT 'do;' DO BEGIN DELETE FROM t; END;
ALTER EVENT e ON COMPLETION PRESERVE DO BEGIN SELECT 1; END;
ALTER EVENT e DISABLE;
CREATE FUNCTION f(a INT) RETURNS INT DETERMINISTIC RETURN IF(a, CASE a WHEN 1 THEN 2 END, 3);
CREATE FUNCTION IF NOT EXISTS g() RETURNS INT BEGIN RETURN 1; END;
BEGIN NOT ATOMIC DECLARE x INT; SET @x = 1; END;
IF 1 THEN SET @y = 1; END IF;
CREATE PROCEDURE q() lbl: BEGIN SELECT ';'; END lbl;
CREATE VIEW v AS SELECT CASE 1 WHEN 1 THEN 2 END /* ; */ ;
DO 1 -- ;
`)
	conn, err := db.Conn(context.Background())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	n := 0
	for rest := text; rest != nil; n++ {
		var first []byte
		first, rest = d.Next(rest, 0)
		_, err := conn.ExecContext(context.Background(), string(first))
		require.NoError(t, err, "%s", first)
	}
	require.Equal(t, 14, n)
}
