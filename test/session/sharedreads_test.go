package session

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
)

// What a value is computed from in a SET, a DO or an expression of a program is read as it is now, and stays locked until the transaction
// ends, as on one server; what is selected is not.
func TestValuesAreReadWithLocks(t *testing.T) {
	a, b := connect(t), connect(t)
	for _, q := range []string{
		"CREATE TABLE sharedrows (id INT PRIMARY KEY, v INT)",
		"CREATE VIEW sharedview AS SELECT * FROM sharedrows",
		"CREATE PROCEDURE shared_set() BEGIN DECLARE x INT; SET x = (SELECT MAX(v) FROM sharedrows); END",
		"CREATE PROCEDURE shared_user() SET @x = (SELECT v FROM sharedrows WHERE id = 1)",
		"CREATE PROCEDURE shared_if() BEGIN IF (SELECT SUM(v) FROM sharedrows) > 0 THEN SET @x = 1; END IF; END",
		"CREATE PROCEDURE shared_while() BEGIN WHILE EXISTS (SELECT * FROM sharedview WHERE v < 0) DO SET @x = 1; END WHILE; END",
		"CREATE PROCEDURE shared_case() BEGIN CASE (SELECT v FROM sharedrows WHERE id = 1) WHEN 0 THEN SET @x = 1; ELSE SET @x = 2; END CASE; END",
		"CREATE PROCEDURE shared_default() BEGIN DECLARE x INT DEFAULT (SELECT MAX(v) FROM sharedrows); END",
		"CREATE PROCEDURE shared_argument(x INT) BEGIN END",
		"CREATE PROCEDURE shared_into() BEGIN DECLARE x INT; SELECT MAX(v) INTO x FROM sharedrows; END",
		"CREATE PROCEDURE shared_cursor() BEGIN DECLARE x INT; DECLARE c CURSOR FOR SELECT v FROM sharedrows; OPEN c; FETCH c INTO x; CLOSE c; END",
		"CREATE TABLE shared_t1 (id INT PRIMARY KEY, b INT)",
		"CREATE TABLE shared_t2 (id INT PRIMARY KEY, b INT)",
		"CREATE TABLE shared_t3 (id INT PRIMARY KEY, b INT)",
		"CREATE TRIGGER shared_g1 BEFORE INSERT ON shared_t1 FOR EACH ROW SET NEW.b = (SELECT MAX(v) FROM sharedrows)",
		"CREATE TRIGGER shared_g2 BEFORE INSERT ON shared_t2 FOR EACH ROW BEGIN DECLARE x INT; SELECT MAX(v) INTO x FROM sharedrows; SET NEW.b = x; END",
		"CREATE TRIGGER shared_g3 BEFORE INSERT ON shared_t3 FOR EACH ROW BEGIN DECLARE x INT; DECLARE c CURSOR FOR SELECT v FROM sharedrows; OPEN c; FETCH c INTO x; CLOSE c; SET NEW.b = x; END",
	} {
		a.exec(q)
	}
	t.Cleanup(func() {
		for i := 1; i <= 3; i++ {
			a.exec(fmt.Sprintf("DROP TABLE shared_t%d", i))
		}
		for _, p := range []string{"set", "user", "if", "while", "case", "default", "argument", "into", "cursor"} {
			a.exec("DROP PROCEDURE shared_" + p)
		}
		a.exec("DROP VIEW sharedview")
		a.exec("DROP TABLE sharedrows")
	})
	a.exec("INSERT INTO sharedrows VALUES (1, 10), (2, 20), (3, 30), (4, 40), (5, 50), (6, 60), (7, 70), (8, 80)")
	for _, test := range []struct {
		statement string
		locks     bool
	}{
		{"SET @x = (SELECT MAX(v) FROM sharedrows)", true},
		{"SET @x = (SELECT v FROM sharedrows WHERE id = 1)", true},
		{"SET @x = 1 + (SELECT MAX(v) FROM sharedrows)", true},
		{"SET @x = EXISTS (SELECT * FROM sharedrows WHERE id = 1)", true},
		{"SET @y = 1, @x = (SELECT m FROM (SELECT MAX(v) AS m FROM sharedrows) d)", true},
		{"SET @x = (SELECT 1 WHERE 10 IN (SELECT v FROM sharedrows))", true},
		{"SET @x = (SELECT MAX(v) FROM sharedview)", true},
		{"SET @x = 1 + (SELECT MAX(v) FROM sharedview)", true},
		{"SET @x = (SELECT COUNT(*) FROM sharedview WHERE id = 1) + (SELECT MAX(w.v) FROM sharedrows r JOIN sharedview w ON w.v = r.v + 10)", true},
		{"SET @x = (SELECT CONCAT(COUNT(*)) FROM sharedrows a JOIN sharedrows b ON a.v = b.v + 10)", true},
		{"SET @x = (SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'd')", false},
		{"DO (SELECT MAX(v) FROM sharedrows)", true},
		{"DO (SELECT v FROM sharedrows WHERE id = 1)", true},
		{"SELECT MAX(v) FROM sharedrows INTO @x", false},
		{"SELECT (SELECT MAX(v) FROM sharedrows)", false},
		{"CALL shared_set()", true},
		{"CALL shared_user()", true},
		{"CALL shared_if()", true},
		{"CALL shared_while()", true},
		{"CALL shared_case()", true},
		{"CALL shared_default()", true},
		{"CALL shared_argument((SELECT MAX(v) FROM sharedrows))", true},
		{"CALL shared_into()", false},
		{"CALL shared_cursor()", false},
		{"INSERT INTO shared_t1 VALUES (1, 1)", true},
		{"INSERT INTO shared_t2 VALUES (1, 1)", cluster.TestEngine() != "mysql"},
		{"INSERT INTO shared_t3 VALUES (1, 1)", cluster.TestEngine() != "mysql"},
	} {
		for _, begin := range []string{"BEGIN", "START TRANSACTION READ ONLY", "SET autocommit = 0"} {
			if begin == "START TRANSACTION READ ONLY" && strings.HasPrefix(test.statement, "INSERT") {
				continue
			}
			t.Run(begin+"; "+test.statement, func(t *testing.T) {
				a.exec(begin)
				a.exec(test.statement)
				_, err := b.try("SELECT v FROM sharedrows WHERE id = 1 FOR UPDATE NOWAIT")
				a.exec("ROLLBACK")
				a.exec("SET autocommit = 1")
				require.Equal(t, test.locks, err != nil, "%v", err)
			})
		}
	}
	a.exec("SET @x = (SELECT MAX(v) FROM sharedrows)")
	require.Equal(t, "10", b.get("SELECT v FROM sharedrows WHERE id = 1 FOR UPDATE NOWAIT"), "without a transaction")
}

// Of two transactions that compute what they insert from the rows that there are one sees those of the other, or is told of a deadlock.
func TestNoNumberTwice(t *testing.T) {
	a, b := connect(t), connect(t)
	a.exec("CREATE TABLE oncemore (id INT PRIMARY KEY, v INT)")
	t.Cleanup(func() { a.exec("DROP TABLE oncemore") })
	a.exec("INSERT INTO oncemore VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6)")
	b.exec("BEGIN")
	require.Equal(t, "6", b.get("SELECT COUNT(*) FROM oncemore"))
	a.exec("INSERT INTO oncemore VALUES (7, 7)")
	b.exec("SET @x = (SELECT MAX(v) FROM oncemore), @y = (SELECT v FROM oncemore WHERE id = 7)")
	require.Equal(t, "7,7", b.get("SELECT @x, @y"), "as it is now, whatever is in the snapshot")
	b.exec("ROLLBACK")
	for _, c := range []*client{a, b} {
		c.exec("BEGIN")
		c.exec("SET @x = (SELECT MAX(v) FROM oncemore)")
	}
	waits := a.start("INSERT INTO oncemore VALUES (50, @x + 1)")
	_, err := b.try("INSERT INTO oncemore VALUES (51, @x + 1)")
	first := waits.end()
	deadlock := func(err error) bool {
		var e *mysql.MySQLError
		return errors.As(err, &e) && (e.Number == 1213 || e.Number == 1205)
	}
	require.True(t, deadlock(err) || deadlock(first), "%v, %v", err, first)
	a.exec("ROLLBACK")
	b.exec("ROLLBACK")
}

// In a transaction that has an older snapshot functions read, within what a value is computed from, by expressions what there is now, and by SELECTs
// and cursors what there was; so it is on one server, whose answers these are. Views that servers compute by themselves are read as it is now.
func TestFunctionsReadTheirOwnWay(t *testing.T) {
	a, b := connect(t), connect(t)
	drop := func() {
		for _, x := range []string{"TABLE ways_t", "TABLE ways_r", "TABLE ways_w", "TABLE ways_g", "TABLE ways_log", "VIEW ways_v", "VIEW ways_vr",
			"FUNCTION t_value", "FUNCTION t_query", "FUNCTION r_value", "FUNCTION r_query", "FUNCTION r_cursor", "FUNCTION r_set", "FUNCTION r_if", "FUNCTION r_default",
			"FUNCTION r_outer", "FUNCTION r_inner", "FUNCTION both_ways", "PROCEDURE ways_set", "PROCEDURE ways_if", "PROCEDURE ways_select"} {
			a.exec("DROP " + strings.Replace(x, " ", " IF EXISTS ", 1))
		}
	}
	t.Cleanup(drop)
	for _, q := range []string{
		"CREATE TABLE ways_t (id INT PRIMARY KEY, v INT)",
		"CREATE TABLE ways_r (id INT PRIMARY KEY, v INT) COMMENT 'skarv:reference'",
		"CREATE TABLE ways_log (id INT PRIMARY KEY)",
		"CREATE TABLE ways_w (id INT PRIMARY KEY, x INT, y INT)",
		"CREATE TABLE ways_g (id INT PRIMARY KEY, x INT, y INT)",
		"CREATE VIEW ways_v AS SELECT id, MAX(v) AS m FROM ways_t GROUP BY id",
		"CREATE VIEW ways_vr AS SELECT v % 7 AS k, MAX(v) AS m FROM ways_r GROUP BY v % 7",
		"CREATE FUNCTION t_value() RETURNS INT READS SQL DATA RETURN (SELECT MAX(v) FROM ways_t)",
		"CREATE FUNCTION t_query() RETURNS INT READS SQL DATA BEGIN DECLARE x INT; SELECT MAX(v) INTO x FROM ways_t; RETURN x; END",
		"CREATE FUNCTION r_value() RETURNS INT READS SQL DATA RETURN (SELECT MAX(v) FROM ways_r)",
		"CREATE FUNCTION r_query() RETURNS INT READS SQL DATA BEGIN DECLARE x INT; SELECT MAX(v) INTO x FROM ways_r; RETURN x; END",
		"CREATE FUNCTION r_cursor() RETURNS INT READS SQL DATA BEGIN DECLARE x INT; DECLARE c CURSOR FOR SELECT MAX(v) FROM ways_r; OPEN c; FETCH c INTO x; CLOSE c; RETURN x; END",
		"CREATE FUNCTION r_set() RETURNS INT READS SQL DATA BEGIN DECLARE x INT; SET x = (SELECT MAX(v) FROM ways_r); RETURN x; END",
		"CREATE FUNCTION r_if() RETURNS INT READS SQL DATA BEGIN IF (SELECT MAX(v) FROM ways_r) > 50 THEN RETURN 99; END IF; RETURN 30; END",
		"CREATE FUNCTION r_default() RETURNS INT READS SQL DATA BEGIN DECLARE x INT DEFAULT (SELECT MAX(v) FROM ways_r); RETURN x; END",
		"CREATE FUNCTION r_outer() RETURNS INT READS SQL DATA RETURN r_query() + 0",
		"CREATE FUNCTION r_inner() RETURNS INT READS SQL DATA BEGIN DECLARE x INT; SELECT r_value() INTO x; RETURN x; END",
		"CREATE FUNCTION both_ways() RETURNS INT READS SQL DATA BEGIN DECLARE x INT; SELECT MAX(v) INTO x FROM ways_t; RETURN x + (SELECT MAX(v) FROM ways_t); END",
		"CREATE PROCEDURE ways_set(OUT x INT) SET x = r_value()",
		"CREATE PROCEDURE ways_if(OUT x INT) IF t_value() > 50 THEN SET x = 99; ELSE SET x = 30; END IF",
		"CREATE PROCEDURE ways_select(OUT x INT) SELECT r_value() INTO x",
		"CREATE TRIGGER ways_b BEFORE INSERT ON ways_g FOR EACH ROW BEGIN DECLARE v, q INT; SELECT t_value() INTO v; SELECT r_query() INTO q; SET NEW.x = v, NEW.y = q; END",
		"CREATE TRIGGER ways_a AFTER INSERT ON ways_w FOR EACH ROW INSERT INTO ways_log VALUES (NEW.id)",
	} {
		a.exec(q)
	}
	begin := func() {
		t.Helper()
		a.exec("BEGIN")
		for _, table := range []string{"ways_t", "ways_r", "ways_w", "ways_g", "ways_log"} {
			a.get("SELECT COUNT(*) FROM " + table)
		}
		b.exec("INSERT INTO ways_t VALUES (4, 99)")
		b.exec("INSERT INTO ways_r VALUES (4, 99)")
	}
	locked := func() bool {
		_, x := b.try("SELECT * FROM ways_t WHERE id = 1 FOR UPDATE NOWAIT")
		_, y := b.try("SELECT * FROM ways_r WHERE id = 1 FOR UPDATE NOWAIT")
		return x != nil || y != nil
	}
	const now, then = "99", "30"
	for _, test := range []struct {
		value, is string
	}{
		{"r_value()", now}, {"r_query()", then}, {"r_cursor()", then}, {"r_set()", now}, {"r_if()", now}, {"r_default()", now}, {"r_outer()", then}, {"r_inner()", now},
		{"t_value()", now}, {"t_query()", then}, {"t_value() + 0", now}, {"(SELECT MAX(t_value()) FROM ways_r)", now}, {"(SELECT MAX(r_value()) FROM ways_t)", now},
		{"(SELECT MAX(t_query()) FROM ways_r WHERE id = 4)", then}, {"(SELECT m FROM ways_v WHERE id = 4)", now}, {"(SELECT MAX(m) FROM ways_v)", now},
		{"(SELECT MAX(m) FROM ways_vr)", now}, {"0 + (SELECT MAX(m) FROM ways_vr)", now},
	} {
		t.Run(test.value, func(t *testing.T) {
			defer func() {
				a.exec("ROLLBACK")
				b.exec("DELETE FROM ways_t WHERE id = 4")
				b.exec("DELETE FROM ways_r WHERE id = 4")
			}()
			a.exec("REPLACE INTO ways_t VALUES (1, 10), (2, 20), (3, 30)")
			a.exec("REPLACE INTO ways_r VALUES (1, 10), (2, 20), (3, 30)")
			begin()
			a.exec("SET @x = " + test.value)
			require.Equal(t, test.is, a.get("SELECT @x"))
			if !strings.HasPrefix(test.value, "(") {
				require.Equal(t, test.is == now, locked())
			}
			a.exec("DO @x := " + test.value)
			require.Equal(t, test.is, a.get("SELECT @x"))
			if !strings.Contains(test.value, "ways_v") {
				a.exec("SELECT " + test.value + " INTO @x")
				require.Equal(t, then, a.get("SELECT COALESCE(@x, 30)"), "a SELECT reads what there was")
			}
		})
	}
	begin()
	for call, is := range map[string]string{"ways_set": now, "ways_if": now, "ways_select": then} {
		a.exec("CALL " + call + "(@x)")
		require.Equal(t, is, a.get("SELECT @x"), call)
	}
	a.exec("INSERT INTO ways_g (id) VALUES (1)")
	require.Equal(t, "1,99,30", a.get("SELECT * FROM ways_g"))
	a.exec("INSERT INTO ways_w SELECT 1, MAX(m), 0 FROM ways_v")
	a.exec("INSERT INTO ways_w SELECT 2, MAX(m), 0 FROM ways_vr")
	require.Equal(t, "1,99,0;2,99,0", a.get("SELECT * FROM ways_w ORDER BY id"))
	for _, q := range []string{"SET @x = both_ways()", "DO both_ways()", "INSERT INTO ways_log SELECT both_ways() FROM ways_w"} {
		_, err := a.try(q)
		require.ErrorContains(t, err, "both in an expression and by a SELECT", q)
	}
	a.exec("INSERT INTO ways_log SELECT t_query() + 1000 FROM ways_t WHERE id = 4")
	require.Equal(t, "1030", a.get("SELECT id FROM ways_log WHERE id > 1000"), "the row is read as it is now, the function reads what there was")
	a.exec("ROLLBACK")
	a.exec("SET @x = both_ways()")
	require.Equal(t, "198", a.get("SELECT @x"))
}
