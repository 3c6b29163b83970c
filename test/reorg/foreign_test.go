// Package reorg tests moving partitions: what statements see of it, that no write is lost over it, and that nothing is
// left half done by it.
package reorg

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/placement"
	"skarv/pkg/topology"
	"skarv/test/cluster"
)

// store opens the cluster's state.
func store(t *testing.T, c *cluster.Cluster) *topology.Store {
	t.Helper()
	s, err := topology.Open(topology.Config{Endpoints: []string{c.Info().Etcd}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// publish changes what moves, and returns when every proxy goes by it.
func publish(t *testing.T, s *topology.Store, moves []placement.Move, moving ...placement.Moving) *placement.PartitionMap {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	old, revision, err := s.Map(ctx)
	require.NoError(t, err)
	next, err := old.Next(moves, moving)
	require.NoError(t, err)
	_, err = s.Change(nil).PutMap(next, revision).Commit(ctx)
	require.NoError(t, err)
	silent, err := s.AwaitDrained(ctx, next.Epoch())
	require.NoError(t, err, "%v", silent)
	return next
}

func exec(t *testing.T, db *sql.DB, sql string, args ...any) {
	t.Helper()
	_, err := db.Exec(sql, args...)
	require.NoError(t, err, sql)
}

func text(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.Query(query)
	require.NoError(t, err, query)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(t, err)
	var out []string
	for rows.Next() {
		fields := make([]any, len(columns))
		values := make([]sql.NullString, len(columns))
		for i := range fields {
			fields[i] = &values[i]
		}
		require.NoError(t, rows.Scan(fields...))
		var line []string
		for _, v := range values {
			line = append(line, v.String)
		}
		out = append(out, strings.Join(line, " "))
	}
	require.NoError(t, rows.Err())
	return strings.Join(out, ",")
}

// What leaves foreign rows out is not to be seen in the names of columns.
func TestColumnNamesWhilePartitionsMove(t *testing.T) {
	_, s, db := withTable(t, 1, 2, 3)
	exec(t, db, "CREATE TABLE some (id BIGINT PRIMARY KEY)")
	exec(t, db, "CREATE VIEW seen AS SELECT id, v FROM t")
	queries := []string{
		"SELECT id, (SELECT some.id FROM some WHERE some.id = t.id)+ 0, EXISTS  (SELECT 1 FROM some WHERE some.id = t.id) FROM t",
		"SELECT (SELECT `id` FROM some WHERE some.id = t.id), (SELECT id FROM some WHERE some.id = t.id) x FROM t UNION SELECT 1, 2 FROM t",
		"SELECT (SELECT MAX(v) FROM seen WHERE seen.id = t.id) FROM t",
		"SELECT * FROM (SELECT id, (SELECT MAX(v) FROM seen WHERE seen.id = t.id) FROM t) d",
		"WITH c AS (SELECT id, EXISTS (SELECT 1 FROM some WHERE some.id = t.id) FROM t WHERE v = 0) SELECT c.*, (SELECT c.id) FROM c",
	}
	names := map[string][]string{}
	for _, q := range queries {
		names[q] = columns(t, db, q)
	}
	m, _, err := s.Map(t.Context())
	require.NoError(t, err)
	publish(t, s, nil, placement.Moving{Reorg: "r1", A: 2, B: 1, Partitions: placement.SetOf(m.Owned(2)...), Phase: placement.In})
	for _, q := range queries {
		assert.Equal(t, names[q], columns(t, db, q), q)
	}
	publish(t, s, nil)
}

// A copy of a row, on a group that does not own it, may refer to a row of a reference table that nothing else refers to any more. That is
// no reason for error 1451, which says that a row is there.
func TestForeignRowsReferToReferenceTables(t *testing.T) {
	c, s, db := withTable(t)
	exec(t, db, "CREATE TABLE ref (id INT PRIMARY KEY, v INT) COMMENT 'skarv:reference'")
	exec(t, db, "CREATE TABLE ch (id INT PRIMARY KEY, r INT, FOREIGN KEY (r) REFERENCES ref (id))")
	exec(t, db, "INSERT INTO ref VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)")
	for i := range 40 {
		exec(t, db, "INSERT INTO ch VALUES (?, ?)", i, 1+i%4)
	}
	m, _, err := s.Map(t.Context())
	require.NoError(t, err)
	one, two := c.NodeGroupDB(t, 1, "d"), c.NodeGroupDB(t, 2, "d")
	for _, way := range []struct{ from, to *sql.DB }{{one, two}, {two, one}} { // the second group has copies, or the first
		a, b := placement.NodeGroupID(1), placement.NodeGroupID(2)
		if way.from == two {
			a, b = b, a
		}
		publish(t, s, nil, placement.Moving{Reorg: "r1", A: a, B: b, Partitions: placement.SetOf(m.Owned(a)...), Phase: placement.In})
		var copied []string
		for _, row := range strings.Split(text(t, way.from, "SELECT id, r FROM ch"), ",") {
			id, r, _ := strings.Cut(row, " ")
			exec(t, way.to, "INSERT INTO ch VALUES (?, ?)", id, r)
			copied = append(copied, id)
		}
		for _, q := range []string{"DELETE FROM ref WHERE id = 2", "UPDATE ref SET id = 9 WHERE id = 2", "DELETE FROM ref ORDER BY id LIMIT 2"} {
			tx, err := db.Begin()
			require.NoError(t, err)
			_, err = tx.Exec("DELETE FROM ch WHERE r < 3")
			require.NoError(t, err)
			_, err = tx.Exec(q)
			assert.Equal(t, uint16(1235), code(err), "%s: %v", q, err)
			assert.ErrorContains(t, err, "reorganisation r1")
			_, err = tx.Exec("DELETE FROM ref WHERE id = 5")
			require.NoError(t, err)
			require.NoError(t, tx.Rollback())
		}
		_, err = db.Exec("DELETE FROM ref WHERE id = 2")
		assert.Equal(t, uint16(1451), code(err), "rows that are no copies refer to it: %v", err)
		exec(t, db, "UPDATE ref SET v = v + 1")
		exec(t, way.to, "DELETE FROM ch WHERE id IN ("+strings.Join(copied, ",")+")")
		publish(t, s, nil)
	}
	assert.Equal(t, "5 10", text(t, db, "SELECT COUNT(*), SUM(v) FROM ref"))
	assert.Equal(t, "40", text(t, db, "SELECT COUNT(*) FROM ch"))
}

// columns returns the names of a query's columns.
func columns(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.Query(query)
	require.NoError(t, err, query)
	defer rows.Close()
	names, err := rows.Columns()
	require.NoError(t, err)
	return names
}

// Rows of partitions that a group does not own are seen, counted and changed by no statement, whatever its form.
func TestForeignRowsAreNotSeen(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(2))
	db := c.DB(t, "", "multiStatements=true")
	exec(t, db, "CREATE DATABASE d")
	db = c.DB(t, "d")
	exec(t, db, "CREATE TABLE t (id BIGINT PRIMARY KEY, g INT, v VARCHAR(20))")
	exec(t, db, "CREATE TABLE line (tid BIGINT, n INT, PRIMARY KEY (tid, n)) PARTITION BY KEY (tid)")
	exec(t, db, "CREATE VIEW big AS SELECT id AS bid, v FROM t WHERE id > 10")
	exec(t, db, "CREATE ALGORITHM = TEMPTABLE VIEW apart AS SELECT id AS bid, v FROM t WHERE id > 10")
	exec(t, db, "CREATE TABLE some (id BIGINT PRIMARY KEY)")
	exec(t, db, "INSERT INTO some VALUES (3), (4), (11), (12), (25), (26), (27)")
	for i := range 40 {
		exec(t, db, "INSERT INTO t VALUES (?, ?, ?)", i, i%4, fmt.Sprint("v", i))
		exec(t, db, "INSERT INTO line VALUES (?, 1), (?, 2)", i, i)
	}
	queries := []string{
		"SELECT COUNT(*), SUM(id), MIN(v) FROM t",
		"SELECT COUNT(*) FROM d.t WHERE g = 1 OR g = 2",
		"SELECT g, COUNT(*) FROM t GROUP BY g ORDER BY g",
		"SELECT id FROM t ORDER BY id DESC LIMIT 7",
		"SELECT COUNT(*) FROM t x JOIN line l ON l.tid = x.id WHERE l.n = 2",
		"SELECT COUNT(*), COUNT(l.n) FROM t LEFT JOIN line l ON l.tid = t.id AND l.n = 1",
		"SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM line WHERE line.tid = t.id AND n = 1)",
		"SELECT COUNT(*) FROM big",
		"SELECT COUNT(*) FROM big b WHERE b.bid < 20",
		"SELECT COUNT(*), MAX(apart.v) FROM apart WHERE bid < 20",
		"SELECT COUNT(*) FROM t WHERE id IN (1, 2, 3, 5, 8, 13, 21)",
		"SELECT COUNT(*) FROM t a JOIN t b ON a.g = b.g",
		"SELECT id FROM t UNION SELECT n FROM line ORDER BY 1 LIMIT 50",
		"SELECT v FROM t WHERE id = 17",
		"SELECT COUNT(*), COUNT(l.n) FROM t LEFT JOIN line l JOIN some ON some.id = l.tid ON l.tid = t.id",
		"SELECT COUNT(*), COUNT(l.n) FROM t LEFT JOIN (line l JOIN some ON some.id = l.tid) ON l.tid = t.id",
		"SELECT COUNT(*), COUNT(l.n) FROM some JOIN line l ON some.id = l.tid RIGHT JOIN t ON l.tid = t.id",
		"SELECT COUNT(*), COUNT(l.n) FROM t LEFT JOIN some NATURAL JOIN (SELECT tid AS id, n FROM line) l ON l.id = t.id",
		"SELECT COUNT(*), COUNT(l.n) FROM t LEFT JOIN some STRAIGHT_JOIN line l ON l.tid = some.id ON some.id = t.id",
		"SELECT COUNT(*), COUNT(some.id) FROM t LEFT JOIN line l LEFT JOIN some ON l.tid = some.id ON l.tid = t.id",
		"SELECT COUNT(*), COUNT(l.n), COUNT(t.id) FROM some RIGHT JOIN line l ON l.tid = some.id LEFT JOIN t ON some.id = t.id",
	}
	before := map[string]string{}
	for _, q := range queries {
		before[q] = text(t, db, q)
	}

	// Every row of group 1 is copied to group 2, and changed there so that it would be noticed.
	s := store(t, c)
	one, two := c.NodeGroupDB(t, 1, "d"), c.NodeGroupDB(t, 2, "d")
	m, _, err := s.Map(t.Context())
	require.NoError(t, err)
	moving := placement.Moving{Reorg: "r1", A: 1, B: 2, Partitions: placement.SetOf(m.Owned(1)...), Phase: placement.In}
	publish(t, s, nil, moving)
	require.NoError(t, fill(one, two))
	for _, q := range queries {
		assert.Equal(t, before[q], text(t, db, q), q)
	}
	foreign := text(t, two, "SELECT COUNT(*) FROM t WHERE v = 'copy'")
	require.NotEqual(t, "0", foreign)

	exec(t, db, "UPDATE t SET g = g + 4")
	exec(t, db, "UPDATE t JOIN line ON line.tid = t.id SET t.v = CONCAT(t.v, 'x') WHERE line.n = 1")
	exec(t, db, "UPDATE t SET g = g - 4 WHERE g > 3 OR v = 'no'")
	exec(t, db, "UPDATE t LEFT JOIN line JOIN some ON some.id = line.tid ON line.tid = t.id SET t.g = t.g + 10")
	assert.Equal(t, "40", text(t, db, "SELECT COUNT(*) FROM t WHERE g >= 10"))
	exec(t, db, "UPDATE t SET g = g - 10")
	exec(t, db, "DELETE FROM line WHERE n = 2")
	assert.Equal(t, foreign, text(t, two, "SELECT COUNT(*) FROM t WHERE v = 'copy' AND g < 4"), "writes leave them alone")
	assert.Equal(t, "40 40", text(t, db, "SELECT COUNT(*), SUM(v LIKE '%x') FROM t"))
	assert.Equal(t, "40", text(t, db, "SELECT COUNT(*) FROM line"))
	_, err = db.Exec("DELETE FROM t WHERE v = 'copy'")
	require.NoError(t, err)
	assert.Equal(t, foreign, text(t, two, "SELECT COUNT(*) FROM t WHERE v = 'copy'"))

	tx, err := db.Begin()
	require.NoError(t, err)
	var n int
	require.NoError(t, tx.QueryRow("SELECT COUNT(*) FROM t FOR UPDATE").Scan(&n))
	assert.Equal(t, 40, n)
	require.NoError(t, tx.Rollback())

	// The other way round: group 2 becomes the owner, and what group 1 has is foreign.
	var moves []placement.Move
	for _, p := range moving.Partitions.Members() {
		moves = append(moves, placement.Move{Partition: p, From: 1, To: 2})
	}
	frozen := moving
	frozen.Phase = placement.Frozen
	publish(t, s, nil, frozen)
	moving.Phase = placement.Cleaning
	publish(t, s, moves, moving)
	assert.Equal(t, "40 "+foreign, text(t, db, "SELECT COUNT(*), SUM(v = 'copy') FROM t"))
	publish(t, s, nil)
}

// fill copies t from one server to another.
func fill(from, to *sql.DB) error {
	rows, err := from.Query("SELECT id, g FROM t")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, g int
		if err := rows.Scan(&id, &g); err != nil {
			return err
		}
		if _, err := to.Exec("INSERT INTO t VALUES (?, ?, 'copy')", id, g); err != nil {
			return err
		}
		if _, err := to.Exec("INSERT INTO line VALUES (?, 1), (?, 2)", id, id); err != nil {
			return err
		}
	}
	return rows.Err()
}

// A row that a group has without owning it is no duplicate: an INSERT that its server refuses for it can be tried again, and INSERT IGNORE
// does not leave the row out.
func TestForeignRowsAreNoDuplicates(t *testing.T) {
	t.Run("Whole", func(t *testing.T) { foreignRowsAreNoDuplicates(t, "email VARCHAR(30) UNIQUE") })
	t.Run("Beginning", func(t *testing.T) { foreignRowsAreNoDuplicates(t, "email TEXT, UNIQUE (email(3))") })
}

func foreignRowsAreNoDuplicates(t *testing.T, unique string) {
	c := cluster.Start(t, cluster.Groups(2))
	exec(t, c.DB(t, ""), "CREATE DATABASE d")
	db := c.DB(t, "d")
	exec(t, db, "CREATE TABLE u (id INT PRIMARY KEY, name VARCHAR(20), "+unique+")")
	for i := range 20 {
		exec(t, db, "INSERT INTO u (id, email, name) VALUES (?, ?, 'n')", i, fmt.Sprint("m", i))
	}
	one, two := c.NodeGroupDB(t, 1, "d"), c.NodeGroupDB(t, 2, "d")
	var here, there, gone int
	require.NoError(t, one.QueryRow("SELECT MIN(id) FROM u").Scan(&here))
	require.NoError(t, one.QueryRow("SELECT MAX(id) FROM u").Scan(&there))
	require.NoError(t, two.QueryRow("SELECT MIN(id) FROM u").Scan(&gone))
	exec(t, db, "DELETE FROM u WHERE id = ?", here)

	// Group 1 still has a row of a partition that has gone to group 2, where it was deleted since.
	s := store(t, c)
	m, _, err := s.Map(t.Context())
	require.NoError(t, err)
	moving := placement.Moving{Reorg: "r1", A: 1, B: 2, Partitions: placement.SetOf(m.Owned(2)...), Phase: placement.Cleaning}
	publish(t, s, nil, moving)
	email := fmt.Sprint("m", gone)
	exec(t, one, "INSERT INTO u (id, email, name) VALUES (?, ?, 'left')", gone, email)
	exec(t, db, "DELETE FROM u WHERE id = ?", gone)

	var e *mysql.MySQLError
	_, err = db.Exec("INSERT INTO u (id, email, name) VALUES (?, ?, 'new')", there, email)
	require.ErrorAs(t, err, &e)
	require.Equal(t, uint16(1062), e.Number, "its primary key is taken, too: %v", e)
	for _, verb := range []string{"INSERT", "INSERT IGNORE", "REPLACE"} {
		_, err := db.Exec(verb+" INTO u (id, email, name) VALUES (?, ?, 'new')", here, email)
		require.ErrorAs(t, err, &e, verb)
		require.Contains(t, []uint16{1205, 1213}, e.Number, "%s: %v", verb, e)
	}
	exec(t, one, "DELETE FROM u WHERE id = ?", gone)
	exec(t, db, "INSERT IGNORE INTO u (id, email, name) VALUES (?, ?, 'new')", here, email)
	exec(t, db, "INSERT IGNORE INTO u (id, email, name) VALUES (?, ?, 'newer')", gone, email)
	_, err = db.Exec("INSERT INTO u (id, email, name) VALUES (?, ?, 'newer')", gone, email)
	require.ErrorAs(t, err, &e)
	require.Equal(t, uint16(1062), e.Number)
	require.Equal(t, fmt.Sprint(here, " new"), text(t, db, "SELECT id, name FROM u WHERE email = '"+email+"'"))
	publish(t, s, nil)
}

// A row whose distribution key is changed cannot go where its own copy is. The statement can be tried again, and changes nothing before.
func TestForeignRowIsInTheWay(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(2))
	exec(t, c.DB(t, ""), "CREATE DATABASE d")
	db := c.DB(t, "d")
	exec(t, db, "CREATE TABLE t (id INT PRIMARY KEY, v INT)")
	for i := range 20 {
		exec(t, db, "INSERT INTO t VALUES (?, ?)", i, i)
	}
	one, two := c.NodeGroupDB(t, 1, "d"), c.NodeGroupDB(t, 2, "d")
	var here, gone int
	require.NoError(t, one.QueryRow("SELECT MIN(id) FROM t").Scan(&here))
	require.NoError(t, two.QueryRow("SELECT MIN(id) FROM t").Scan(&gone))
	exec(t, db, "DELETE FROM t WHERE id = ?", here)
	before := text(t, db, "SELECT id, v FROM t ORDER BY id")

	s := store(t, c)
	m, _, err := s.Map(t.Context())
	require.NoError(t, err)
	publish(t, s, nil, placement.Moving{Reorg: "r1", A: 2, B: 1, Partitions: placement.SetOf(m.Owned(2)...), Phase: placement.In})
	exec(t, one, "INSERT INTO t VALUES (?, -1)", gone)
	_, err = db.Exec("UPDATE t SET id = ? WHERE id = ?", here, gone)
	var e *mysql.MySQLError
	require.ErrorAs(t, err, &e)
	require.Contains(t, []uint16{1205, 1213}, e.Number, "%v", e)
	require.Equal(t, before, text(t, db, "SELECT id, v FROM t ORDER BY id"))
	require.Equal(t, "-1", text(t, one, fmt.Sprint("SELECT v FROM t WHERE id = ", gone)))
	exec(t, one, "DELETE FROM t WHERE id = ?", gone)
	exec(t, db, "UPDATE t SET id = ? WHERE id = ?", here, gone)
	publish(t, s, nil)
}
