package session

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/wire"
	adminv1 "skarv/proto/admin/v1"
)

// TestTriggerPrograms: what triggers that sessions run write stands or falls with the statement, whatever goes wrong.
func TestTriggerPrograms(t *testing.T) {
	c := connect(t)
	c.exec("CREATE TABLE fired (id INT PRIMARY KEY, v INT, s DOUBLE DEFAULT 0)")
	c.exec("CREATE TABLE audit (fired INT, nth INT, PRIMARY KEY (fired, nth))")
	c.exec("CREATE TABLE tally (id INT PRIMARY KEY, n INT NOT NULL)")
	c.exec("INSERT INTO tally VALUES (1, 0)")
	c.exec("CREATE TRIGGER fires AFTER INSERT ON fired FOR EACH ROW BEGIN DECLARE x INT; " +
		"INSERT INTO audit VALUES (NEW.id, 1), (NEW.id, 2), (NEW.id + 1000, 3), (NEW.id + 2000, 4); " +
		"IF NEW.s > 0 THEN SELECT SLEEP(NEW.s) INTO x; END IF; UPDATE tally SET n = n + 1 WHERE id = 1; END")
	nothing := func(t *testing.T) {
		t.Helper()
		require.Equal(t, "0", connect(t).get("SELECT COUNT(*) FROM fired"))
		require.Equal(t, "0", connect(t).get("SELECT COUNT(*) FROM audit"))
		require.Equal(t, "0", connect(t).get("SELECT n FROM tally"))
	}
	ids := make([]string, 8) // rows in all node groups
	for i := range ids {
		ids[i] = fmt.Sprintf("(%d, %d, %d)", i+1, i, i/7*600)
	}
	slow := "INSERT INTO fired (id, v, s) VALUES " + strings.Join(ids, ", ")
	// sleeping begins the statement, on a connection of its own, and returns when a trigger of the last row sleeps.
	sleeping := func(t *testing.T) chan error {
		cl, ended := connect(t), make(chan error, 1)
		go func() {
			_, err := cl.ExecContext(t.Context(), slow)
			ended <- err
		}()
		require.Eventually(t, func() bool {
			return strings.Contains(onServers(t, "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%SLEEP(%' AND info NOT LIKE '%processlist%'"), "1")
		}, patience, tick)
		return ended
	}
	const sleeper = "SELECT id FROM information_schema.processlist WHERE info LIKE 'INSERT INTO fired%'"

	t.Run("a node group loses its connections", func(t *testing.T) {
		ended := sleeping(t)
		killed := 0
		for g := 1; g <= 4; g++ {
			db := shared.NodeGroupDB(t, g, "d")
			for _, id := range column(t, db, "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_rows_modified > 0 OR trx_lock_structs > 0") {
				if _, err := db.Exec("KILL " + id); err == nil {
					killed++
				}
			}
		}
		require.NotZero(t, killed)
		require.Error(t, <-ended)
		nothing(t)
	})
	t.Run("KILL QUERY", func(t *testing.T) {
		ended := sleeping(t)
		c.exec("KILL QUERY " + c.get(sleeper))
		require.Error(t, <-ended)
		nothing(t)
	})
	t.Run("the client is gone", func(t *testing.T) {
		ended := sleeping(t)
		c.exec("KILL " + c.get(sleeper))
		require.Error(t, <-ended)
		require.Eventually(t, func() bool { return connect(t).get("SELECT COUNT(*) FROM audit") == "0" }, patience, tick)
		nothing(t)
	})
	t.Run("in a transaction the statement alone is undone", func(t *testing.T) {
		c := connect(t)
		c.exec("BEGIN")
		c.exec("INSERT INTO fired (id, v) VALUES (1, 1)")
		c.fails(1062, "INSERT INTO fired (id, v) VALUES (2, 2), (3, 3), (1, 4)")
		require.Equal(t, "1", c.get("SELECT COUNT(*) FROM fired"))
		require.Equal(t, "4", c.get("SELECT COUNT(*) FROM audit"))
		require.Equal(t, "1", c.get("SELECT n FROM tally"))
		c.exec("ROLLBACK")
		nothing(t)
	})
	t.Run("many at a time", func(t *testing.T) {
		var g errgroup.Group
		for w := range 4 {
			c := connect(t)
			g.Go(func() error {
				for k := range 5 {
					if _, err := c.try(fmt.Sprintf("INSERT INTO fired (id, v) VALUES (%d, 1)", 100+w*10+k)); err != nil {
						return err
					}
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
		require.Equal(t, "20", c.get("SELECT n FROM tally"))
		require.Equal(t, "80", c.get("SELECT COUNT(*) FROM audit"))
		c.exec("DELETE FROM fired")
	})
	t.Run("it runs as its definer", func(t *testing.T) {
		c.exec("CREATE TABLE given (id INT PRIMARY KEY, v INT, who VARCHAR(50), definer VARCHAR(50))")
		c.exec("CREATE TRIGGER gives BEFORE INSERT ON given FOR EACH ROW SET NEW.v = (SELECT COUNT(*) FROM secret.s), NEW.who = USER(), NEW.definer = CURRENT_USER()")
		_, err := adminv1.NewAdminClient(shared.Admin(t)).PutUser(t.Context(), &adminv1.PutUserRequest{
			Name: "giver", Mode: adminv1.PutUserRequest_MODE_ADD, Plugin: "mysql_native_password", AuthString: wire.HashNative("pw"),
			Grants: map[string]string{"d": "write"},
		})
		require.NoError(t, err)
		dsn := "giver:pw@tcp(" + shared.Addr() + ")/d"
		require.Eventually(t, func() bool { return ping(dsn) == nil }, patience, tick)
		cl := connectTo(t, dsn)
		cl.fails(1142, "SELECT COUNT(*) FROM secret.s")
		cl.exec("INSERT INTO given (id) VALUES (1)")
		require.Equal(t, c.get("SELECT COUNT(*) FROM secret.s"), c.get("SELECT v FROM given"))
		require.Equal(t, "1,root@%", c.get("SELECT who LIKE 'giver@%', definer FROM given"))
		cl.fails(1142, "SELECT COUNT(*) FROM secret.s")
	})
	t.Run("EXPLAIN tells", func(t *testing.T) {
		require.Contains(t, explained(t, c, "EXPLAIN FORMAT=TREE INSERT INTO fired (id) VALUES (1)"), "after insert: trigger fires")
	})
}

// onServers asks every node group's server for one value.

// TestCommentBehindRowByRow: what is put behind a client's text is no part of its comment. The rows are read as they are now, and
// not as the transaction's snapshot has them, and in their order.
func TestCommentBehindRowByRow(t *testing.T) {
	a, b := connect(t), connect(t)
	a.exec("CREATE TABLE noted (id INT PRIMARY KEY, v INT)")
	a.exec("CREATE TABLE notes (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
	a.exec("CREATE TRIGGER noting AFTER UPDATE ON noted FOR EACH ROW INSERT INTO notes (v) VALUES (NEW.v)")
	a.exec("CREATE TRIGGER adding AFTER INSERT ON noted FOR EACH ROW INSERT INTO notes (v) VALUES (NEW.v)")
	a.exec("CREATE VIEW checkednotes AS SELECT id, v FROM noted WHERE v > 0 WITH CHECK OPTION")
	for _, table := range []string{"noted", "checkednotes"} {
		for _, comment := range []string{" -- note", " # note", " -- note\n", " /* a */ -- b \n-- note", "\n--"} {
			a.exec("DELETE FROM noted")
			a.exec("INSERT INTO noted VALUES (1, 5), (2, 5), (3, 5), (4, 5), (5, 5)")
			a.exec("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
			a.exec("BEGIN")
			require.Equal(t, "25", a.get("SELECT SUM(v) FROM noted"))
			b.exec("UPDATE noted SET v = 10")
			a.exec("UPDATE " + table + " SET v = v + 1 WHERE id = 1" + comment)
			a.exec("INSERT INTO " + table + " SELECT id + 10, v FROM noted WHERE id = 2" + comment)
			a.exec("COMMIT")
			require.Equal(t, "11,10", a.get("SELECT (SELECT v FROM noted WHERE id = 1), (SELECT v FROM noted WHERE id = 12)"), "%s%s", table, comment)
		}
	}
}

func onServers(t *testing.T, query string) string {
	t.Helper()
	var out []string
	for g := 1; g <= 4; g++ {
		out = append(out, column(t, shared.NodeGroupDB(t, g, "d"), query)...)
	}
	return strings.Join(out, ",")
}

func column(t *testing.T, db *sql.DB, query string) (out []string) {
	t.Helper()
	rows, err := db.Query(query)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var v string
		require.NoError(t, rows.Scan(&v))
		out = append(out, v)
	}
	require.NoError(t, rows.Err())
	return out
}

// TestLocksInTriggers: a deadlock or a wait for a lock inside of a trigger ends the statement, whatever handlers the trigger has.
func TestLocksInTriggers(t *testing.T) {
	a, b := connect(t), connect(t)
	a.exec("CREATE TABLE counted (id INT PRIMARY KEY, x INT)")
	a.exec("INSERT INTO counted VALUES (1, 1), (2, 2), (4, 4)")
	a.exec("CREATE TABLE counts (id INT PRIMARY KEY)")
	a.exec("CREATE TABLE countlog (n INT PRIMARY KEY AUTO_INCREMENT, id INT, what VARCHAR(20))")
	a.exec("CREATE TRIGGER countwrites AFTER INSERT ON counts FOR EACH ROW BEGIN DECLARE c INT DEFAULT 0; DECLARE v INT; " +
		"DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET c = 1; " +
		"SELECT x INTO v FROM counted WHERE id = NEW.id FOR UPDATE; UPDATE counted SET x = x + 1 WHERE id = NEW.id; " +
		"INSERT INTO countlog (id, what) VALUES (NEW.id, c); END")
	nothing := func() {
		t.Helper()
		c := connect(t)
		require.Equal(t, "0,0", c.get("SELECT (SELECT COUNT(*) FROM counts), (SELECT COUNT(*) FROM countlog)"))
		require.Equal(t, "7", c.get("SELECT SUM(x) FROM counted"))
	}
	b.exec("BEGIN")
	b.exec("SELECT x FROM counted WHERE id = 2 FOR UPDATE")
	a.exec("SET innodb_lock_wait_timeout = 1")
	a.fails(1205, "INSERT INTO counts VALUES (1), (2), (4)")
	nothing()
	a.exec("SET innodb_lock_wait_timeout = 50")

	// b has waited for nothing yet, and has written more: a is who is rolled back.
	b.exec("INSERT INTO countlog (id, what) VALUES (0, 'much')" + strings.Repeat(", (0, 'much')", 50))
	ended := make(chan error, 1)
	go func() {
		_, err := a.try("INSERT INTO counts VALUES (1), (2), (4)")
		ended <- err
	}()
	// The trigger of the second row waits. What a server says of lock waits may be that of the wait before: it looks again only after a while.
	require.Eventually(t, func() bool {
		return strings.Contains(onServers(t, "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%counted%id = 2 FOR UPDATE' AND info NOT LIKE '%processlist%'"), "1")
	}, patience, tick)
	_, err := b.try("UPDATE counted SET x = x WHERE id = 1")
	lost := <-ended
	b.exec("ROLLBACK")
	if err == nil {
		require.ErrorContains(t, lost, "1213")
		nothing()
	} else {
		require.ErrorContains(t, err, "1213")
		require.NoError(t, lost)
	}
}

// TestRowsFoundByRowByRow: to a client that counts the rows found, a row that ON DUPLICATE KEY UPDATE leaves as it is counts like a new
// one. No trigger for new rows fires for it.
func TestRowsFoundByRowByRow(t *testing.T) {
	c := connect(t, "clientFoundRows=true")
	c.exec("CREATE TABLE foundrows (id INT PRIMARY KEY, u INT UNIQUE, v INT)")
	c.exec("CREATE TABLE foundlog (n INT PRIMARY KEY AUTO_INCREMENT, id INT)")
	c.exec("CREATE TRIGGER foundnew AFTER INSERT ON foundrows FOR EACH ROW INSERT INTO foundlog (id) VALUES (NEW.id)")
	c.exec("INSERT INTO foundrows VALUES (1, 1, 1)")
	c.exec("INSERT INTO foundrows VALUES (1, 1, 1) ON DUPLICATE KEY UPDATE v = VALUES(v)")
	c.exec("INSERT INTO foundrows VALUES (9, 1, 1) ON DUPLICATE KEY UPDATE v = VALUES(v)")
	c.exec("INSERT INTO foundrows VALUES (1, 1, 2), (2, 2, 2) ON DUPLICATE KEY UPDATE v = VALUES(v)")
	require.Equal(t, "1,2", c.get("SELECT MIN(id), MAX(id) FROM foundlog"))
	require.Equal(t, "2", c.get("SELECT COUNT(*) FROM foundlog"))
	require.Equal(t, "2", c.get("SELECT v FROM foundrows WHERE id = 1"))
}

// A row that another client has inserted since the transaction began to read, and that an UPDATE finds as it should be, has its triggers run, and is
// shown by the view through which it is written.
func TestTriggersOfARowBesideTheSnapshot(t *testing.T) {
	c, d := connect(t), connect(t)
	for _, sql := range []string{
		"CREATE TABLE besides (id INT PRIMARY KEY, n INT)", "CREATE TABLE besidelog (id BIGINT AUTO_INCREMENT PRIMARY KEY, about INT)",
		"CREATE TRIGGER besides_u AFTER UPDATE ON besides FOR EACH ROW INSERT INTO besidelog (about) VALUES (NEW.id)",
		"CREATE VIEW besidev AS SELECT * FROM besides WHERE n > 0 WITH CHECK OPTION",
	} {
		d.exec(sql)
	}
	t.Cleanup(func() {
		c.exec("ROLLBACK")
		d.exec("DROP VIEW besidev")
		d.exec("DROP TABLE besides, besidelog")
	})
	for i, table := range []string{"besides", "besidev"} {
		c.exec("START TRANSACTION")
		require.Equal(t, fmt.Sprint(i), c.get("SELECT COUNT(*) FROM besides"))
		d.exec(fmt.Sprintf("INSERT INTO besides VALUES (%d, 1)", i))
		c.exec(fmt.Sprintf("UPDATE %s SET n = 1 WHERE id = %d", table, i))
		c.exec("COMMIT")
		require.Equal(t, "1", c.get(fmt.Sprintf("SELECT COUNT(*) FROM besidelog WHERE about = %d", i)))
	}
	c.fails(1369, "UPDATE besidev SET n = -1 WHERE id = 1")
}

// The queries inside of a write that goes row by row read the present rows, and lock them, as on one server: not what there was when the
// transaction began to read.
func TestQueriesOfRowByRowReadThePresent(t *testing.T) {
	c, d := connect(t), connect(t)
	for _, sql := range []string{
		"CREATE TABLE presents (id INT PRIMARY KEY, n INT)", "CREATE TABLE presentlog (id BIGINT AUTO_INCREMENT PRIMARY KEY, about INT)",
		"CREATE TABLE presentof (id INT PRIMARY KEY)",
		"CREATE TRIGGER presents_i AFTER INSERT ON presents FOR EACH ROW INSERT INTO presentlog (about) VALUES (NEW.id)",
		"CREATE TRIGGER presents_u AFTER UPDATE ON presents FOR EACH ROW INSERT INTO presentlog (about) VALUES (NEW.id)",
		"CREATE TRIGGER presents_d AFTER DELETE ON presents FOR EACH ROW INSERT INTO presentlog (about) VALUES (OLD.id)",
	} {
		d.exec(sql)
	}
	t.Cleanup(func() {
		c.exec("ROLLBACK")
		d.exec("DROP TABLE presents, presentlog, presentof")
	})
	d.exec("INSERT INTO presents VALUES (1, 0), (2, 0), (3, 0), (4, 0)")
	c.exec("START TRANSACTION")
	require.Equal(t, "0,4", c.get("SELECT (SELECT COUNT(*) FROM presentof), (SELECT COUNT(*) FROM presents)"))
	d.exec("INSERT INTO presentof VALUES (1), (2), (3)")
	c.exec("UPDATE presents SET n = 1 WHERE id IN (SELECT id FROM presentof WHERE id < 3)")
	c.exec("DELETE FROM presents WHERE id = (SELECT MAX(id) FROM (SELECT id FROM presentof) q)")
	c.exec("INSERT INTO presents SELECT id + 10, (SELECT COUNT(*) FROM presentof) FROM presentof WHERE id = 1")
	require.Equal(t, "1,1;2,1;4,0;11,3", c.get("SELECT id, n FROM presents ORDER BY id"))
	d.exec("SET innodb_lock_wait_timeout = 1")
	d.fails(1205, "DELETE FROM presentof WHERE id = 2")
	const united = "UPDATE presents SET n = 2 WHERE id IN (SELECT id FROM presentof UNION SELECT 4)"
	c.fails(1235, united)
	c.exec("COMMIT")
	c.exec(united)
	require.Equal(t, "1,2;2,2;4,2;11,3", c.get("SELECT id, n FROM presents ORDER BY id"))
}
