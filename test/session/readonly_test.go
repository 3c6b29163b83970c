package session

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/test/cluster"
)

// A server that somebody has made read-only is written to by nobody: its replica may be the primary by now. It is read from, sessions may have
// temporary tables there, and of a transaction that meets it in the middle nothing stands anywhere.
func TestReadOnlyServer(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(2))
	db, other := connectTo(t, c.DSN("")), connectTo(t, c.DSN(""))
	db.exec("CREATE DATABASE d")
	db.exec("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
	for id := range 20 {
		db.exec(fmt.Sprintf("INSERT INTO d.t VALUES (%d, 0)", id))
	}
	one, two := connectTo(t, c.NodeGroup(1, "")), connectTo(t, c.NodeGroup(2, ""))
	onOne, onTwo := one.get("SELECT MIN(id) FROM d.t"), two.get("SELECT MIN(id) FROM d.t")
	const refused = "Error 1290"
	set := "SET GLOBAL read_only = "
	two.exec(set + "ON")
	for _, q := range []string{"UPDATE d.t SET v = 7 WHERE id = " + onTwo, "INSERT INTO d.t SELECT id + 500, 7 FROM d.t", "UPDATE d.t SET v = 7"} {
		_, err := db.try(q)
		require.ErrorContains(t, err, refused, q)
	}
	require.Equal(t, "20", db.get("SELECT COUNT(*) FROM d.t"))
	require.Equal(t, "0", db.get("SELECT v FROM d.t WHERE id = "+onTwo))
	db.exec("CREATE TEMPORARY TABLE d.own (id INT PRIMARY KEY)")
	db.exec("INSERT INTO d.own SELECT id FROM d.t")
	require.Equal(t, "20", db.get("SELECT COUNT(*) FROM d.own"))
	db.exec("DROP TEMPORARY TABLE d.own")
	two.exec(set + "OFF")
	for _, first := range []string{onOne, onTwo} {
		second := onOne
		if first == onOne {
			second = onTwo
		}
		db.exec("BEGIN")
		db.exec("UPDATE d.t SET v = v + 1 WHERE id = " + first)
		db.exec("UPDATE d.t SET v = v + 1 WHERE id = " + second)
		other.exec("BEGIN")
		other.exec("INSERT INTO d.t VALUES (1000 + " + onTwo + ", 1), (1001 + " + onTwo + ", 1), (1002 + " + onTwo + ", 1), (1003 + " + onTwo + ", 1)")
		two.exec(set + "ON")
		for _, c := range []*client{db, other} {
			_, err := c.try("COMMIT")
			require.ErrorContains(t, err, refused, "first on %s", first)
			require.Equal(t, "0", c.get("SELECT @@autocommit - 1"))
		}
		two.exec(set + "OFF")
		require.Eventually(t, func() bool {
			_, err := db.try("UPDATE d.t SET v = 0")
			return err == nil
		}, time.Minute, tick)
		require.Equal(t, "20", db.get("SELECT COUNT(*) FROM d.t"))
		require.Equal(t, "0", db.get("SELECT SUM(v) FROM d.t"))
	}
}

// What accounts of earlier versions have goes when a process takes its slot.
func TestAccountsAreBoundByReadOnly(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(1))
	bare := connectTo(t, c.NodeGroup(1, ""))
	unbound := "READ ONLY ADMIN"
	if cluster.TestEngine() == datanode.MySQL {
		unbound = "SUPER|CONNECTION_ADMIN"
	}
	grants := func() string {
		var all []string
		rows, err := c.NodeGroupDB(t, 1, "").Query("SHOW GRANTS FOR skarv_w1")
		require.NoError(t, err)
		defer rows.Close()
		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line))
			all = append(all, line)
		}
		require.NoError(t, rows.Err())
		return strings.Join(all, "\n")
	}
	bound := func() bool {
		return strings.Contains(grants(), "SELECT, INSERT") && !regexp.MustCompile(`\b(ALL PRIVILEGES|`+unbound+`)\b`).MatchString(grants())
	}
	require.True(t, bound(), grants())
	bare.exec("GRANT ALL PRIVILEGES ON *.* TO skarv_w1")
	require.False(t, bound(), grants())
	bare.exec("ALTER USER skarv_w1 IDENTIFIED BY 'other'") // so that it is made ready again
	require.Eventually(t, func() bool {
		endConnections(t, c.NodeGroupDB(t, 1, ""), "user = 'skarv_w1'")
		require.Equal(t, "1", connectTo(t, c.DSN("")).get("SELECT IS_FREE_LOCK('a')"))
		return bound()
	}, time.Minute, tick)
}
