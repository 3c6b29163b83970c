package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
)

func TestStateDoesNotLeak(t *testing.T) {
	for _, stmt := range []string{
		"SELECT @leak := 'secret' FROM t WHERE id = 1 AND (SELECT 1 UNION SELECT 2)",
		"SELECT @leak := 'secret', (SELECT 1 UNION SELECT 2)",
		"SET @leak = 'secret', @other = (SELECT 1 UNION SELECT 2)",
		"SET @leak = 'secret', sql_mode = 'nonsense'",
		"INSERT INTO u VALUES (1001, @leak := 'secret')",
		"UPDATE t SET v = @leak := 'secret' WHERE id = 1 AND (SELECT 1 UNION SELECT 2)",
		"UPDATE t SET v = @leak := 'secret' WHERE id > 1000",
		"DELETE FROM t WHERE id > 1000 AND @leak := 'secret'",
		"SELECT COUNT(*) FROM t WHERE (@leak := 'secret') = 'x'",
		"SELECT LAST_INSERT_ID(4711)",
		"DO @leak := 'secret'",
	} {
		t.Run(stmt, func(t *testing.T) {
			a, b := connect(t), make([]*client, 8)
			for i := range b {
				b[i] = connect(t)
			}
			_, _ = a.try(stmt)
			for round := range 2 {
				for _, c := range b {
					require.Equal(t, "NULL", c.get("SELECT @leak"), "round %d", round)
					require.Equal(t, "NULL", c.get(fmt.Sprintf("SELECT @leak FROM t WHERE id = %d", round+1)), "round %d", round)
				}
			}
		})
	}
}

func TestSet(t *testing.T) {
	c := connect(t)
	t.Run("default timestamp is the clock again", func(t *testing.T) {
		c.exec("SET timestamp = 1000000000")
		require.Equal(t, "1000000000", c.get("SELECT UNIX_TIMESTAMP() FROM t WHERE id = 1"))
		for _, v := range []string{"DEFAULT", "0"} {
			c.exec("SET timestamp = 1000000000")
			c.exec("SET timestamp = " + v)
			require.Equal(t, "1", c.get("SELECT UNIX_TIMESTAMP(SYSDATE(6)) - UNIX_TIMESTAMP(NOW(6)) < 0.5 FROM t WHERE id = 1"))
			c.get("SELECT SLEEP(0.6)")
			for id := range 10 {
				require.Equal(t, "1", c.get(fmt.Sprintf("SELECT UNIX_TIMESTAMP(SYSDATE(6)) - UNIX_TIMESTAMP(NOW(6)) < 0.5 FROM t WHERE id = %d", id+1)))
			}
		}
	})
	t.Run("names of user variables are case insensitive", func(t *testing.T) {
		c.exec("SET @vv = 1")
		c.exec("SET @`VV` = 2")
		for id := range 10 {
			require.Equal(t, "2", c.get(fmt.Sprintf("SELECT @vV FROM t WHERE id = %d", id+1)))
		}
	})
	t.Run("unsigned stays unsigned", func(t *testing.T) {
		c.exec("SET @un = CAST(5 AS UNSIGNED)")
		for id := range 10 {
			c.fails(1690, fmt.Sprintf("SELECT @un - 6 FROM t WHERE id = %d", id+1))
		}
	})
	t.Run("parameters", func(t *testing.T) {
		c.exec("SET @param = ?", "it's")
		require.Equal(t, "it's", c.get("SELECT @param"))
	})
	t.Run("subquery over rows", func(t *testing.T) {
		_, err := c.try("SET @n = (SELECT COUNT(*) FROM t)")
		if err == nil {
			require.Equal(t, "100", c.get("SELECT @n"))
		} else {
			c.fails(1235, "SET @n = (SELECT COUNT(*) FROM t)")
		}
	})
	t.Run("sql_select_limit over groups", func(t *testing.T) {
		c.exec("SET sql_select_limit = 5")
		require.Equal(t, "1;2;3;4;5", c.get("SELECT id FROM t ORDER BY id"))
		require.Len(t, c.get("SELECT id FROM t WHERE id BETWEEN 11 AND 99"), 5*2+4)
		require.Equal(t, "1;2;3;4;5;6", c.get("SELECT id FROM t ORDER BY id LIMIT 6"))
		require.Equal(t, "100", c.get("SELECT COUNT(*) FROM t"))
		c.exec("SET sql_select_limit = DEFAULT")
		require.Equal(t, "100", c.get("SELECT COUNT(*) FROM t"))
	})
	t.Run("dangerous ones are refused", func(t *testing.T) {
		c.fails(1235, "SET @a = 1, PASSWORD = PASSWORD('x')")
		c.fails(1235, "SET @a = 1, GLOBAL max_connections = 1")
		c.fails(1235, "SET sql_auto_is_null = 1")
		c.fails(1235, "SET completion_type = 1")
		c.exec("SET sql_auto_is_null = 0, completion_type = 0")
	})
	t.Run("a failing SET leaves nothing half done", func(t *testing.T) {
		c.fails(1193, "SET no_such_variable = 1")
		c.fails(1231, "SET sql_mode = 'nonsense'")
		require.Equal(t, "1", c.get("SELECT 1"))
	})
	t.Run("values too large for the state", func(t *testing.T) {
		c.exec("SET @half = (SELECT REPEAT('x', 400000) FROM t WHERE id = 1)")
		for id := range 10 {
			require.Equal(t, "400000", c.get(fmt.Sprintf("SELECT LENGTH(@half) FROM t WHERE id = %d", id+1)))
		}
		c.fails(1235, "SET @big = REPEAT('x', 34603008)") // whose HEX() is longer than max_allowed_packet
		c.fails(1235, "SET @big = (SELECT REPEAT('x', 34603008) FROM t WHERE id = 1)")
		require.Equal(t, "NULL,400000", c.get("SELECT @big, LENGTH(@half)"))
		big := "REPEAT('y', 600000)"
		c.exec("BEGIN")
		c.exec("UPDATE t SET v = 'changed' WHERE id = 1")
		for _, sql := range []string{
			"SET @half = " + big, "SELECT " + big + " INTO @half", "SELECT " + big + " FROM t WHERE id = 1 INTO @half", "SELECT " + big + " INTO @half FROM t WHERE id = 1 FOR UPDATE",
			"SELECT " + big + ", MAX(v) INTO @half, @other FROM t", "SELECT LENGTH(@half := " + big + ")", "SELECT LENGTH(@half := " + big + ") FROM t WHERE id = 1",
			"SELECT GET_LOCK('state', 0), " + big + " INTO @other, @half",
		} {
			c.fails(1235, sql)
			require.Equal(t, "400000,x,NULL", c.get("SELECT LENGTH(@half), LEFT(@half, 1), @other"), sql)
			require.Equal(t, "changed,400000,x", c.get("SELECT v, LENGTH(@half), LEFT(@half, 1) FROM t WHERE id = 1"), sql)
		}
		c.fails(1235, "SELECT REPEAT(?, 600000) FROM t WHERE id = ? INTO @half", "y", 1)
		c.exec("ROLLBACK")
		c.exec("SET @half = NULL")
	})
	t.Run("bytes that are no text", func(t *testing.T) {
		c.exec("SET @text = 'é'")
		for _, sql := range []string{"SET @text = '\xe9'", "SELECT 'x\xe9' INTO @text", "SELECT @text := '\xe9' FROM t WHERE id = 1", "SET @other = 1, @text = _utf8mb3'é', @text = '\xed\xa0'"} {
			c.fails(1235, sql)
			for id := range 10 {
				require.Equal(t, "é,C3A9,NULL", c.get(fmt.Sprintf("SELECT @text, HEX(@text), @other FROM t WHERE id = %d", id+1)), sql)
			}
		}
		c.exec("SET @text = X'E9', @other = _binary'\xe9'")
		require.Equal(t, "E9,E9", c.get("SELECT HEX(@text), HEX(@other) FROM t WHERE id = 1"))
		c.exec("SET @text = NULL, @other = NULL")
	})
	t.Run("a client character set that is not supported", func(t *testing.T) {
		c.fails(1235, "SET NAMES gbk")
		require.Equal(t, "é", c.get("SELECT 'é'"))
	})
}

func TestDefaultDatabase(t *testing.T) {
	a, b := connect(t), connect(t)
	a.exec("CREATE DATABASE gone")
	a.exec("CREATE TABLE gone.t (id INT PRIMARY KEY)")
	a.exec("USE gone")
	b.exec("USE gone")
	b.get("SELECT COUNT(*) FROM t")
	a.exec("DROP DATABASE gone")
	require.Equal(t, "NULL", a.get("SELECT DATABASE()"))
	a.exec("SET @x = 1")
	require.Equal(t, "1", a.get("SELECT @x"))
	b.exec("SET @y = 2")
	require.Equal(t, "2", b.get("SELECT @y"))
	require.Equal(t, "100", b.get("SELECT COUNT(*) FROM d.t"))
	a.fails(1046, "SELECT * FROM t")
	_, err := b.try("SELECT * FROM t")
	require.Error(t, err)
	a.exec("CREATE DATABASE gone")
	a.exec("DROP DATABASE gone")
}

func TestDiagnostics(t *testing.T) {
	c := connect(t)
	c.fails(1146, "SELECT * FROM nothing")
	require.Contains(t, c.get("SHOW WARNINGS"), "1146")
	require.Contains(t, c.get("SHOW WARNINGS"), "1146")
	c.exec("INSERT INTO u VALUES (2001, 'x'), (2002, 'y')")
	require.Equal(t, "2", c.get("SELECT ROW_COUNT()"))
	require.Equal(t, "-1", c.get("SELECT ROW_COUNT()"))
	require.Equal(t, "", c.get("SHOW WARNINGS"))
	c.exec("INSERT INTO single VALUES (NULL, 'a')")
	id := c.get("SELECT LAST_INSERT_ID()")
	require.NotEqual(t, "0", id)
	require.Equal(t, id, c.get("SELECT MAX(id) FROM single"))
	c.get("SELECT LAST_INSERT_ID(4711)")
	require.Equal(t, "4711", c.get("SELECT LAST_INSERT_ID()"))
	c.exec("UPDATE single SET id = LAST_INSERT_ID(id + 1000)")
	require.NotEqual(t, "4711", c.get("SELECT LAST_INSERT_ID()"))
	require.Equal(t, "0", connect(t).get("SELECT LAST_INSERT_ID()"))
	c.exec("DELETE FROM u")
}

func TestNamesInOneByteCharset(t *testing.T) {
	c := connect(t)
	c.exec("SET NAMES latin1")
	c.exec("CREATE TABLE `t\xe9` (id INT PRIMARY KEY)")
	c.exec("CREATE PROCEDURE p\xe9() SELECT 1")
	for _, sql := range []string{"SELECT * FROM `t\xe9`", "INSERT INTO t\xe9 VALUES (1)", "SHOW CREATE TABLE t\xe9", "CALL p\xe9()", "USE d\xe9"} {
		c.fails(1235, sql)
	}
	c.fails(1146, "SELECT * FROM there_is_none WHERE id = '\xe9'")
	c.exec("SET NAMES utf8mb4")
	c.exec("INSERT INTO té VALUES (1)")
	c.fails(1146, "SELECT * FROM tè")
	c.exec("DROP TABLE té")
	c.exec("DROP PROCEDURE pé")
}

func TestClientCharset(t *testing.T) {
	c := connect(t, "collation=cp1251_general_ci")
	require.Equal(t, "cp1251,cp1251", c.get("SELECT @@character_set_client, @@character_set_results"))
}

func TestVirtualDatabase(t *testing.T) {
	c := connect(t)
	c.exec("USE skarv")
	require.Equal(t, "skarv,skarv", c.get("SELECT DATABASE(), SCHEMA()"))
	require.Equal(t, "4", c.get("SELECT COUNT(*) FROM node_groups"))
	c.exec("USE d")
	require.Equal(t, "d", c.get("SELECT DATABASE()"))
}

// Statements are read by the sql_mode that the session has for Skarv, whatever has become of the servers' own.
func TestSettingsOfServersDoNotReachSessions(t *testing.T) {
	many := cluster.Start(t, cluster.Groups(2)) // whose connections nobody else uses
	setup := many.DB(t, "")
	for _, sql := range []string{"CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"} {
		_, err := setup.Exec(sql)
		require.NoError(t, err)
	}
	for g := 1; g <= 2; g++ {
		db := many.NodeGroupDB(t, g, "")
		for _, sql := range []string{"SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'", "SET GLOBAL autocommit = OFF"} {
			_, err := db.Exec(sql)
			require.NoError(t, err)
		}
		endConnections(t, db, "user LIKE 'skarv_w%'")
	}
	c := connectTo(t, many.DSN("d"))
	require.Eventually(t, func() bool { // connections that were ended are found out
		_, err := c.try("SELECT COUNT(*) FROM t")
		return err == nil
	}, patience, tick)
	require.Equal(t, `a'b,c`, c.get(`SELECT 'a\'b', "c"`))
	c.exec("CREATE TABLE kept (id INT PRIMARY KEY)")
	c.exec("INSERT INTO kept VALUES (1), (2), (3), (4)")
	c.exec("INSERT INTO kept VALUES (5)")
	require.Equal(t, "5", connectTo(t, many.DSN("d")).get("SELECT COUNT(*) FROM kept"))
}

// A query that has begun may be what ended its server: it is not begun again.
func TestWhatHasBegunIsNotRepeated(t *testing.T) {
	c := connect(t)
	c.get("SELECT v FROM t WHERE id = 1") // its connection is not a new one for the next statement
	ended := make(chan error, 1)
	go func() {
		_, err := c.try("SELECT SLEEP(30) FROM t WHERE id = 1")
		ended <- err
	}()
	killed := 0
	for deadline := time.Now().Add(patience); killed == 0 && time.Now().Before(deadline); {
		for g := 1; g <= 4; g++ {
			var id int
			db := shared.NodeGroupDB(t, g, "")
			if db.QueryRow("SELECT id FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(30)%' AND time >= 1").Scan(&id) == nil {
				_, err := db.Exec(fmt.Sprintf("KILL %d", id))
				require.NoError(t, err)
				killed++
			}
		}
	}
	require.Equal(t, 1, killed)
	require.ErrorContains(t, <-ended, "1430")
}

// A process that stops does not wait for queries that have had their time, and begins none of them again.
func TestStoppingEndsQueries(t *testing.T) {
	dsn, stop := startProxy(t)
	c := connectTo(t, dsn)
	c.get("SELECT v FROM t WHERE id = 1")
	ended := make(chan error, 1)
	go func() {
		_, err := c.try("SELECT SLEEP(60) FROM t WHERE id = 1")
		ended <- err
	}()
	require.Eventually(t, func() bool { return strings.Contains(connect(t).get("SHOW PROCESSLIST"), "SLEEP(60)") }, patience, tick)
	began := time.Now()
	stop()
	require.Error(t, <-ended)
	require.Less(t, time.Since(began), 45*time.Second)
}

// The columns of SHOW PROCESSLIST have the types that they have on a server, as text and prepared.
func TestProcesslistTypes(t *testing.T) {
	c := connect(t)
	for _, full := range []string{"", "FULL "} {
		want := []string{"BIGINT", "VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR", "INT", "VARCHAR", "VARCHAR"}
		if full != "" {
			want[7] = "LONGTEXT"
		}
		if cluster.TestEngine() != "mysql" {
			want = append(want, "DOUBLE")
		}
		for range 2 {
			st, err := c.PrepareContext(t.Context(), "SHOW "+full+"PROCESSLIST")
			require.NoError(t, err)
			rows, err := st.QueryContext(t.Context())
			require.NoError(t, err)
			types, err := rows.ColumnTypes()
			require.NoError(t, err)
			var got []string
			for _, x := range types {
				got = append(got, x.DatabaseTypeName())
			}
			require.Equal(t, want, got)
			require.True(t, rows.Next())
			values := make([]any, len(types))
			for i := range values {
				values[i] = new(any)
			}
			require.NoError(t, rows.Scan(values...))
			if len(values) > 8 {
				require.EqualValues(t, 0, *values[8].(*any))
			}
			require.NoError(t, rows.Close())
			require.NoError(t, st.Close())
		}
		require.Contains(t, c.get("SHOW "+full+"PROCESSLIST"), "SHOW "+full+"PROCESSLIST")
	}
}
