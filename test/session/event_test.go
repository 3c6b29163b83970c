package session

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEvents(t *testing.T) {
	c := connect(t)
	c.exec("CREATE TABLE happened (id INT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(100), at DATETIME DEFAULT CURRENT_TIMESTAMP)")
	count := func(what string) int {
		n, err := strconv.Atoi(c.get("SELECT COUNT(*) FROM happened WHERE what = '" + what + "'"))
		require.NoError(t, err)
		return n
	}
	atLeast := func(what string, n int) {
		t.Helper()
		require.Eventually(t, func() bool { return count(what) >= n }, patience, tick, "%s: %s", what, c.get("SELECT * FROM skarv.events"))
	}

	t.Run("again and again, over all node groups", func(t *testing.T) {
		c.exec("CREATE EVENT often ON SCHEDULE EVERY 1 SECOND COMMENT 'as often as can be' DO BEGIN " +
			"DECLARE n INT DEFAULT 0; SELECT COUNT(*) INTO n FROM t; INSERT INTO happened (what) VALUES ('often'), (CONCAT('of ', n)); END")
		atLeast("often", 2)
		atLeast("of 100", 2)
		require.Contains(t, c.get("SHOW EVENTS"), ",often,root@%,")
		require.Contains(t, c.get("SHOW EVENTS"), ",ENABLED,")
		require.Contains(t, c.get("SHOW EVENTS WHERE Status = 'ENABLED' AND Definer = 'root@%' AND `Interval field` = 'SECOND'"), ",often,root@%,")
		require.Empty(t, c.get("SHOW EVENTS WHERE Status = 'DISABLED' OR `Status` LIKE '%SIDE%'"))
		require.Contains(t, c.get("SHOW EVENTS FROM d WHERE Name IN (?, ?)", "often", "never"), ",often,root@%,")
		shown := c.get("SHOW CREATE EVENT often")
		require.Contains(t, shown, "CREATE DEFINER=`root`@`%` EVENT `often` ON SCHEDULE EVERY 1 SECOND STARTS '")
		require.Contains(t, shown, " ON COMPLETION NOT PRESERVE ENABLE COMMENT 'as often as can be' DO BEGIN")
		require.Equal(t, "ENABLED,root@%,RECURRING,1", c.get("SELECT status, definer, event_type, last_executed IS NOT NULL FROM information_schema.events WHERE event_name = 'often'"))
		require.Equal(t, "ok,1", c.get("SELECT last_outcome, runs > 1 FROM skarv.events WHERE event_name = 'often' AND last_outcome = 'ok' OR SLEEP(1)"))
	})
	t.Run("disabled and enabled", func(t *testing.T) {
		c.exec("ALTER EVENT often DISABLE")
		require.Contains(t, c.get("SHOW EVENTS"), ",DISABLED,")
		require.Contains(t, c.get("SHOW CREATE EVENT often"), "NOT PRESERVE DISABLE COMMENT")
		var n int
		require.Eventually(t, func() bool { // what was running has ended
			was := n
			n = count("often")
			return was == n && !strings.Contains(c.get("SELECT last_outcome FROM skarv.events WHERE event_name = 'often'"), "running")
		}, patience, tick)
		c.exec("CREATE EVENT other ON SCHEDULE EVERY 1 SECOND DO INSERT INTO happened (what) VALUES ('other')")
		atLeast("other", 2)
		require.Equal(t, n, count("often"))
		c.exec("ALTER EVENT often ENABLE")
		atLeast("often", n+1)
		c.exec("ALTER EVENT often RENAME TO seldom")
		c.fails(1539, "SHOW CREATE EVENT often")
		c.exec("DROP EVENT seldom")
		c.exec("DROP EVENT other")
		require.Empty(t, c.get("SHOW EVENTS"))
	})
	t.Run("once", func(t *testing.T) {
		c.exec("CREATE EVENT once ON SCHEDULE AT CURRENT_TIMESTAMP + INTERVAL 1 SECOND DO INSERT INTO happened (what) VALUES ('once')")
		atLeast("once", 1)
		require.Eventually(t, func() bool { return c.get("SHOW EVENTS") == "" }, patience, tick)
		c.exec("CREATE EVENT kept ON SCHEDULE AT CURRENT_TIMESTAMP ON COMPLETION PRESERVE DO INSERT INTO happened (what) VALUES ('kept')")
		atLeast("kept", 1)
		require.Eventually(t, func() bool { return strings.Contains(c.get("SHOW EVENTS"), ",DISABLED,") }, patience, tick)
		c.exec("DROP EVENT kept")
		require.Equal(t, "1,1", c.get("SELECT SUM(what = 'once'), SUM(what = 'kept') FROM happened"))
	})
	t.Run("a failure is told", func(t *testing.T) {
		c.exec("CREATE EVENT fails ON SCHEDULE EVERY 1 DAY DO SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no good'")
		require.Eventually(t, func() bool {
			return strings.Contains(c.get("SELECT last_outcome, failures, last_error FROM skarv.events WHERE event_name = 'fails'"), "failed,1,")
		}, patience, tick)
		require.Contains(t, c.get("SELECT last_error FROM skarv.events WHERE event_name = 'fails'"), "no good")
		c.exec("DROP EVENT fails")
	})
	t.Run("what its body leaves open is committed, as by servers", func(t *testing.T) {
		c.exec("CREATE PROCEDURE leaves() BEGIN START TRANSACTION; INSERT INTO happened (what) VALUES ('left by a call'), ('left by a call'), ('left by a call'); END")
		for name, body := range map[string]string{
			"begun":          "BEGIN START TRANSACTION; INSERT INTO happened (what) VALUES ('begun'), ('begun'), ('begun'); END",
			"unlimited":      "BEGIN SET autocommit = 0; INSERT INTO happened (what) VALUES ('unlimited'), ('unlimited'), ('unlimited'); END",
			"left by a call": "CALL leaves()",
			"failed":         "BEGIN START TRANSACTION; INSERT INTO happened (what) VALUES ('failed'), ('failed'), ('failed'); INSERT INTO nowhere VALUES (1); END",
		} {
			c.exec("CREATE EVENT ends ON SCHEDULE AT CURRENT_TIMESTAMP DO " + body)
			atLeast(name, 3)
			require.Eventually(t, func() bool { return c.get("SHOW EVENTS") == "" }, patience, tick)
		}
		c.exec("DROP PROCEDURE leaves")
	})
	t.Run("in the time zone, sql_mode and with the rights of its creation", func(t *testing.T) {
		a := connect(t)
		a.exec("SET time_zone = '+05:00', sql_mode = 'ANSI_QUOTES'")
		a.exec(`CREATE EVENT "zoned" ON SCHEDULE EVERY 1 DAY DO INSERT INTO happened (what) VALUES (CONCAT('zone ', @@time_zone, ' mode ', @@sql_mode, ' as ', CURRENT_USER()))`)
		atLeast("zone +05:00 mode ANSI_QUOTES as root@%", 1)
		require.Contains(t, c.get("SHOW EVENTS"), ",+05:00,RECURRING,")
		c.exec("DROP EVENT zoned")
	})
	t.Run("the switch", func(t *testing.T) {
		require.Equal(t, "ON", c.get("SELECT @@event_scheduler"))
		c.exec("SET GLOBAL event_scheduler = OFF")
		require.Equal(t, "OFF", c.get("SELECT @@global.event_scheduler"))
		require.Equal(t, "event_scheduler,OFF", c.get("SHOW VARIABLES LIKE 'event_scheduler'"))
		c.exec("CREATE EVENT waits ON SCHEDULE AT CURRENT_TIMESTAMP DO INSERT INTO happened (what) VALUES ('waits')")
		require.Contains(t, c.get("SELECT status FROM skarv.events WHERE event_name = 'waits'"), "event_scheduler is OFF")
		require.Zero(t, count("waits"))
		c.exec("SET GLOBAL event_scheduler = ON")
		atLeast("waits", 1)
	})
	t.Run("what is refused", func(t *testing.T) {
		c.exec("CREATE EVENT here ON SCHEDULE EVERY 1 DAY DISABLE DO SELECT 1")
		c.fails(1537, "CREATE EVENT here ON SCHEDULE EVERY 1 DAY DO SELECT 1")
		c.exec("CREATE EVENT IF NOT EXISTS HERE ON SCHEDULE EVERY 1 DAY DO SELECT 1")
		c.fails(1542, "CREATE EVENT x ON SCHEDULE EVERY 0 DAY DO SELECT 1")
		c.fails(1539, "DROP EVENT nothing")
		c.exec("DROP EVENT IF EXISTS nothing")
		c.fails(1064, "CREATE EVENT x ON SCHEDULE EVERY 1 DAY DO")
		c.fails(1049, "CREATE EVENT nowhere.x ON SCHEDULE EVERY 1 DAY DO SELECT 1")
		c.exec("CREATE EVENT past ON SCHEDULE AT '2001-01-01' DO SELECT 1")
		require.NotContains(t, c.get("SHOW EVENTS"), "past")
		c.exec("DROP EVENT here")
	})
	t.Run("no server runs it", func(t *testing.T) {
		c.exec("CREATE EVENT aside ON SCHEDULE EVERY 1 DAY DO SELECT 1")
		for g := range 4 {
			db := shared.NodeGroupDB(t, g+1, "d")
			var status string
			require.NoError(t, db.QueryRow("SELECT status FROM information_schema.events WHERE event_name = 'aside'").Scan(&status))
			require.Contains(t, status, "SIDE_DISABLED")
		}
		c.exec("DROP EVENT aside")
	})
}
