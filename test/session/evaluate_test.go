package session

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Expressions for the column by which a row is placed are computed by a server before the row is written.
func TestComputedKeys(t *testing.T) {
	c := connect(t)
	for _, definition := range []string{"computed (id INT PRIMARY KEY, x INT)", "computed_at (k DATETIME(6) PRIMARY KEY, c DATETIME(6))"} {
		c.exec("CREATE TABLE " + definition)
		defer c.exec("DROP TABLE " + strings.Fields(definition)[0])
	}
	t.Run("time goes on behind them", func(t *testing.T) {
		c := connect(t)
		c.exec("CREATE TEMPORARY TABLE mine (a INT)") // from now on the session has a connection of its own
		for n := range 8 {                            // also to other groups than that one's
			c.exec(fmt.Sprintf("INSERT INTO computed_at VALUES (NOW(6) + INTERVAL %d DAY, NOW(6))", n))
			require.Equal(t, "1", c.get(fmt.Sprintf("SELECT COUNT(*) FROM computed_at WHERE k = c + INTERVAL %d DAY", n)))
			first := c.get("SELECT NOW(6)")
			require.Less(t, first, c.get("SELECT NOW(6)"))
		}
		require.Equal(t, "0", c.get("SELECT COUNT(*) FROM mine"))
	})
	t.Run("KILL QUERY", func(t *testing.T) {
		id := c.get("SELECT CONNECTION_ID()")
		ended := make(chan error, 1)
		go func() {
			_, err := c.ExecContext(t.Context(), "INSERT INTO computed VALUES (SLEEP(600) + 5, 1)")
			ended <- err
		}()
		require.Eventually(t, func() bool {
			return strings.Contains(onServers(t, "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%SLEEP(600)%' AND info NOT LIKE '%processlist%'"), "1")
		}, patience, tick)
		connect(t).exec("KILL QUERY " + id)
		require.ErrorContains(t, <-ended, "1317")
		require.Equal(t, "0", c.get("SELECT COUNT(*) FROM computed"))
	})
	t.Run("their warnings are those of the statement", func(t *testing.T) {
		r := rawClient(t)
		r.exec("SET sql_mode = ''")
		ok := r.exec("INSERT INTO computed VALUES (1 + '0x', 1), (2, 1), (3, 1), (4, 1), (5, 1)")
		require.Equal(t, "Records: 5  Duplicates: 0  Warnings: 1", string(ok.Info))
		require.Equal(t, 1, int(ok.Warnings))
		ok = r.exec("INSERT INTO computed VALUES (6 + '0x', 1)")
		require.Empty(t, ok.Info)
		require.Equal(t, 1, int(ok.Warnings))
		ok = r.exec("REPLACE INTO computed VALUES (6 + '0x', 2), (6, 3)")
		require.Equal(t, "Records: 2  Duplicates: 2  Warnings: 1", string(ok.Info))

		_, most, err := r.QueryAll("SELECT LEAST(@@max_error_count, 200)", 1)
		require.NoError(t, err)
		values := make([]string, 100)
		for i := range values {
			values[i] = fmt.Sprintf("(%d + '0x', 'x')", i+100)
		}
		ok = r.exec("INSERT INTO computed VALUES " + strings.Join(values, ", "))
		require.Equal(t, 200, int(ok.Warnings))
		_, rows, err := r.QueryAll("SHOW WARNINGS", 1000)
		require.NoError(t, err)
		require.Equal(t, string(most[0][0]), strconv.Itoa(len(rows)))
	})
	t.Run("strict without a list of warnings", func(t *testing.T) {
		c := connect(t)
		c.exec("DELETE FROM computed")
		c.exec("SET max_error_count = 0")
		c.fails(1235, "INSERT INTO computed VALUES ('5' + 'x', 1)")
		c.exec("INSERT IGNORE INTO computed VALUES ('6' + 'x', 1)")
		c.exec("SET max_error_count = 1000")
		values := make([]string, 100)
		for i := range values {
			values[i] = fmt.Sprintf("('%dx' + 0, 1)", i+100)
		}
		c.fails(1292, "INSERT INTO computed VALUES "+strings.Join(values, ", "))
		require.Equal(t, "6", c.get("SELECT id FROM computed"))
	})
}
