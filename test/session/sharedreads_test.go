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
