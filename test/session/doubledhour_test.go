package session

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// doubling is a time zone whose clocks went back from 03:00 to 02:00 on 2020-10-25, at 01:00 UTC.
var doubling = []string{
	"REPLACE INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (9001, 'N')",
	"REPLACE INTO mysql.time_zone_name (Name, Time_zone_id) VALUES ('Test/Doubling', 9001)",
	"REPLACE INTO mysql.time_zone_transition_type (Time_zone_id, Transition_type_id, `Offset`, Is_DST, Abbreviation) VALUES (9001, 0, 7200, 1, 'S'), (9001, 1, 3600, 0, 'W')",
	"REPLACE INTO mysql.time_zone_transition (Time_zone_id, Transition_time, Transition_type_id) VALUES (9001, -2000000000, 0), (9001, 1603587600, 1)",
}

// doublingZone makes the time zone known to the node groups.
func doublingZone(t *testing.T) {
	for g := 1; g <= 4; g++ {
		db := shared.NodeGroupDB(t, g, "mysql")
		for _, sql := range doubling {
			_, err := db.Exec(sql)
			require.NoError(t, err)
		}
	}
}

// TestDoubledHourInOrder: rows of several node groups are sorted and grouped by their moments, as one server does, not by what clocks showed.
func TestDoubledHourInOrder(t *testing.T) {
	doublingZone(t)
	many, one := connect(t), connectTo(t, shared.NodeGroup(1, ""))
	one.exec("CREATE DATABASE twice")
	defer one.exec("DROP DATABASE twice")
	one.exec("USE twice")
	for _, c := range []*client{many, one} {
		c.exec("CREATE TABLE moments (id INT PRIMARY KEY, at TIMESTAMP NULL, fine TIMESTAMP(3) NULL, g INT)")
		c.exec("SET time_zone = '+00:00'")
		c.exec("INSERT INTO moments VALUES (1, '2020-10-25 00:30:00', '2020-10-25 00:30:00.125', 1), (2, '2020-10-25 01:30:00', '2020-10-25 01:30:00.125', 1), " +
			"(3, '2020-10-25 00:45:00', '2020-10-25 00:45:00.5', 1), (4, '2020-10-25 01:15:00', '2020-10-25 01:15:00.5', 2), (5, '2020-10-25 00:59:59', NULL, 2), " +
			"(6, NULL, NULL, 2), (7, '1999-01-01 00:00:00', '1999-01-01 00:00:00', 3), (8, '2020-10-25 00:30:00', '2020-10-25 01:30:00.125', 3)")
		c.exec("SET time_zone = 'Test/Doubling'")
	}
	for _, q := range []string{
		"SELECT id, at FROM moments ORDER BY at, id",
		"SELECT id, at FROM moments ORDER BY at DESC, id DESC LIMIT 3",
		"SELECT at FROM moments ORDER BY 1 LIMIT 2, 3",
		"SELECT at, COUNT(*) FROM moments GROUP BY at ORDER BY at",
		"SELECT at, fine, COUNT(*) FROM moments GROUP BY at, fine ORDER BY fine DESC, at",
		"SELECT at, COUNT(*) AS n FROM moments GROUP BY at ORDER BY n DESC, at",
		"SELECT DISTINCT at, g FROM moments ORDER BY g, at DESC",
		"SELECT COALESCE(at, fine) AS c, COUNT(*) FROM moments GROUP BY c ORDER BY c",
		"SELECT at FROM moments UNION SELECT fine FROM moments ORDER BY 1",
		"SELECT at FROM moments UNION SELECT at FROM moments ORDER BY 1",
		"SELECT * FROM (SELECT id, at FROM moments ORDER BY at DESC LIMIT 3) AS d ORDER BY at, id",
		"SELECT a.at, b.id FROM moments a JOIN moments b ON a.g = b.g ORDER BY a.at, a.id, b.id LIMIT 5",
		"SELECT MIN(at), MAX(at), MIN(fine), MAX(fine) FROM moments WHERE id < 4",
	} {
		require.Equal(t, one.get(q), many.get(q), q)
	}
}

// TestDoubledHour: a moment that comes twice by the clock stays what it is, or the write is refused.
func TestDoubledHour(t *testing.T) {
	doublingZone(t)
	c := connect(t)
	c.exec("CREATE TABLE doubled (id INT PRIMARY KEY, at TIMESTAMP NULL, n INT, also TIMESTAMP NULL)")
	c.exec("CREATE TABLE doubled_src (id INT PRIMARY KEY, at TIMESTAMP NULL)")
	c.exec("CREATE TABLE doubled_to (id INT PRIMARY KEY, at TIMESTAMP NULL, n INT)")
	c.exec("CREATE TABLE doubled_log (id INT PRIMARY KEY AUTO_INCREMENT, at TIMESTAMP NULL)")
	c.exec("SET time_zone = '+00:00'")
	// 01:30 UTC is the second 02:30 there; 00:30 UTC is the first.
	c.exec("INSERT INTO doubled VALUES (1, '2020-10-25 01:30:00', 1, NULL), (2, '2020-10-25 00:30:00', 1, NULL), (3, NULL, 1, NULL), (4, '2020-06-01 12:00:00', 1, NULL)")
	c.exec("INSERT INTO doubled_src VALUES (1, '2020-10-25 01:30:00'), (2, '2020-10-25 00:30:00'), (5, '2020-06-01 12:00:00'), (7, NULL)")
	c.exec("CREATE TRIGGER doubled_au AFTER UPDATE ON doubled FOR EACH ROW INSERT INTO doubled_log (at) VALUES (NEW.at)")
	c.exec("SET time_zone = 'Test/Doubling'")
	require.Equal(t, "2020-10-25 02:30:00", c.get("SELECT at FROM doubled WHERE id = 1"))
	moment := func(want string) {
		t.Helper()
		require.Equal(t, want, c.get("SELECT UNIX_TIMESTAMP(also) FROM doubled WHERE id = 1"))
	}
	// One of the two is what is written when its local time is: that is the server's choice.
	c.exec("UPDATE doubled SET n = 2 WHERE id IN (3, 4)")
	refused := 0
	for _, id := range []string{"1", "2"} {
		if _, err := c.try("UPDATE doubled SET also = at WHERE id = " + id); err != nil {
			e, _ := errors.AsType[*mysql.MySQLError](err)
			require.NotNil(t, e)
			require.Equal(t, uint16(1235), e.Number)
			refused++
		} else {
			require.Equal(t, "1", c.get("SELECT also = at AND UNIX_TIMESTAMP(also) = UNIX_TIMESTAMP(at) FROM doubled WHERE id = "+id))
		}
	}
	require.Equal(t, 1, refused)
	c.exec("SET time_zone = '+00:00'")
	c.exec("UPDATE doubled SET also = at WHERE id = 1")
	c.exec("SET time_zone = 'Test/Doubling'")
	moment("1603589400")
	// Rows of a query that may meet others go through a temporary table.
	// A server that copies such a value from table to table may itself make it the other one.
	one := connectTo(t, shared.NodeGroup(1, ""))
	one.exec("CREATE DATABASE doubling")
	one.exec("CREATE TABLE doubling.a (id INT PRIMARY KEY, at TIMESTAMP NULL)")
	one.exec("CREATE TABLE doubling.b LIKE doubling.a")
	one.exec("SET time_zone = '+00:00'")
	one.exec("INSERT INTO doubling.a VALUES (1, '2020-10-25 01:30:00'), (2, '2020-10-25 00:30:00'), (5, '2020-06-01 12:00:00'), (7, NULL)")
	one.exec("SET time_zone = 'Test/Doubling'")
	one.exec("INSERT INTO doubling.b SELECT id + 10, at FROM doubling.a")
	refused = 0
	for _, id := range []string{"1", "2", "5", "7"} {
		if _, err := c.try("INSERT INTO doubled_to (id, at) SELECT id + 10, at FROM doubled_src WHERE id = " + id + " ON DUPLICATE KEY UPDATE n = 5"); err != nil {
			e, _ := errors.AsType[*mysql.MySQLError](err)
			require.NotNil(t, e)
			require.Equal(t, uint16(1235), e.Number)
			refused++
		} else {
			const moment = "SELECT IFNULL(UNIX_TIMESTAMP(at), 'NULL') FROM "
			require.Equal(t, one.get(moment+"doubling.b WHERE id = 10 + "+id), c.get(moment+"doubled_to WHERE id = 10 + "+id))
		}
	}
	one.exec("DROP DATABASE doubling")
	require.LessOrEqual(t, refused, 1)
}

// TestDoubledHourUnique: two moments of one local time are two values of a unique key, which a global index keeps as a server does.
func TestDoubledHourUnique(t *testing.T) {
	doublingZone(t)
	one := connectTo(t, shared.NodeGroup(1, ""))
	one.exec("CREATE DATABASE doubling")
	defer one.exec("DROP DATABASE doubling")
	one.exec("USE doubling")
	many := connect(t)
	const rows = "SELECT GROUP_CONCAT(id, ' ', name, ' ', UNIX_TIMESTAMP(at), ' ', n ORDER BY id) FROM doubled_u"
	for _, q := range []string{
		"CREATE TABLE doubled_u (id INT PRIMARY KEY, name CHAR(3), at TIMESTAMP NULL, n INT DEFAULT 0, UNIQUE KEY once (name, at))",
		"SET time_zone = '+00:00'",
		"INSERT INTO doubled_u (id, name, at) VALUES (1, 'a', '2020-10-25 01:30:00'), (2, 'a', '2020-10-25 00:30:00'), (3, 'b', '2020-10-25 00:30:00'), (4, 'c', '2020-10-25 01:30:00')",
		"SET time_zone = 'Test/Doubling'",
		"INSERT INTO doubled_u (id, name, at) VALUES (5, 'a', '2020-10-25 02:30:00')",
		"INSERT INTO doubled_u (id, name, at) VALUES (6, 'b', '2020-10-25 02:30:00')",
		"INSERT INTO doubled_u (id, name, at) VALUES (7, 'c', '2020-10-25 02:30:00')",
		"INSERT INTO doubled_u (id, name, at) VALUES (8, 'b', '2020-10-25 02:30:00'), (9, 'c', '2020-10-25 02:30:00') ON DUPLICATE KEY UPDATE n = n + 1",
		"REPLACE INTO doubled_u (id, name, at, n) VALUES (10, 'a', '2020-10-25 02:30:00', 7)",
		"UPDATE doubled_u SET name = 'd' WHERE id IN (1, 2)",
		"UPDATE doubled_u SET name = 'd' WHERE name = 'b' ORDER BY id",
		"UPDATE doubled_u SET at = at + INTERVAL 1 DAY WHERE name = 'c' ORDER BY id DESC",
		"DELETE FROM doubled_u WHERE name = 'd'",
		"INSERT INTO doubled_u (id, name, at) VALUES (11, 'd', '2020-10-25 02:30:00'), (12, 'c', '2020-10-25 02:30:00')",
		"SET time_zone = '+00:00'",
		"INSERT INTO doubled_u (id, name, at) VALUES (13, 'd', '2020-10-25 00:30:00')",
		"INSERT INTO doubled_u (id, name, at) VALUES (14, 'd', '2020-10-25 01:30:00')",
	} {
		_, want := one.try(q)
		_, got := many.try(q)
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), q)
		if !strings.HasPrefix(q, "CREATE") {
			require.Equal(t, one.get(rows), many.get(rows), q)
		}
	}
	many.exec("DROP TABLE doubled_u")
}
