// Package isolation compares what transactions can see of each other on one plain server and through Skarv: by schedules in
// the way of M. Kleppmann's Hermitage, whose results are written into docs/isolation.md, and by random transactions. What
// went wrong is found by test/history.
package isolation

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
	"skarv/test/history"
)

const (
	groups = 4
	// allLists is how many lists there may be: rows with ids from 1 on.
	allLists = 4000
)

var levels = [...]string{"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}

// Positions in levels.
const (
	repeatable   = 2
	serializable = 3
)

// place is where lists are kept: one server, or a cluster.
type place struct {
	dsn     string
	servers []*sql.DB // the servers behind it, as root
	group   []int     // of each list
	next    int       // the next list that nobody has used
}

// tables are for the lists: a list is a row of numbers, each behind a comma. Those of one pair are found by it.
var tables = []string{
	"CREATE DATABASE iso",
	"CREATE TABLE iso.lists (id INT PRIMARY KEY, pair INT NOT NULL, l MEDIUMTEXT NOT NULL, KEY (pair))",
	"CREATE TABLE iso.probe (id INT PRIMARY KEY)",
}

// onServer makes a place of a plain server.
func onServer(t *testing.T) *place {
	s := cluster.StartServer(t)
	p := &place{dsn: s.DSN("iso"), servers: []*sql.DB{s.DB(t, "")}, group: make([]int, allLists+1), next: 1}
	p.create(t, s.DSN(""))
	return p
}

// onCluster makes a place of a cluster of four node groups.
func onCluster(t *testing.T, options ...cluster.Option) *place {
	c := cluster.Start(t, append(options, cluster.Groups(groups))...)
	p := &place{dsn: c.DSN("iso"), group: make([]int, allLists+1), next: 1}
	p.create(t, c.DSN(""))
	admin := c.DB(t, "iso")
	for first := 1; first <= allLists; first += 1000 {
		var rows []string
		for id := first; id < first+1000; id++ {
			rows = append(rows, fmt.Sprintf("(%d)", id))
		}
		_, err := admin.Exec("INSERT INTO probe VALUES " + strings.Join(rows, ","))
		require.NoError(t, err)
	}
	for g := 1; g <= groups; g++ {
		db := c.NodeGroupDB(t, g, "")
		p.servers = append(p.servers, db)
		rows, err := db.Query("SELECT id FROM iso.probe")
		require.NoError(t, err)
		for rows.Next() {
			var id int
			require.NoError(t, rows.Scan(&id))
			p.group[id] = g
		}
		require.NoError(t, rows.Close())
	}
	return p
}

func (p *place) create(t *testing.T, dsn string) {
	db, err := sql.Open("mysql", dsn)
	require.NoError(t, err)
	defer db.Close()
	for _, q := range tables {
		_, err := db.Exec(q)
		require.NoError(t, err, q)
	}
}

// lists returns two lists that nobody has used: on one node group, or on two, the first one on the lower.
func (p *place) lists(t *testing.T, apart bool) (x, y int) {
	x = p.next
	for y = x + 1; ; y++ {
		require.LessOrEqual(t, y, allLists)
		if apart == (p.group[x] != p.group[y]) || len(p.servers) == 1 {
			break
		}
	}
	p.next = y + 1
	if p.group[x] > p.group[y] {
		x, y = y, x
	}
	return x, y
}

// client is one connection, which runs one transaction after the other.
type client struct {
	*sql.Conn
}

func dial(t *testing.T, p *place, settings ...string) client {
	db, err := sql.Open("mysql", p.dsn)
	require.NoError(t, err)
	c, err := db.Conn(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(); _ = db.Close() })
	for _, q := range settings {
		_, err := c.ExecContext(context.Background(), q)
		require.NoError(t, err, q)
	}
	return client{c}
}

func (c client) exec(q string) error {
	_, err := c.ExecContext(context.Background(), q)
	return err
}

func (c client) append(key, value int) error {
	return c.exec(fmt.Sprintf("UPDATE lists SET l = CONCAT(l, ',%d') WHERE id = %d", value, key))
}

// read reads the lists that a condition finds, in the order of keys; one that is not there is empty.
func (c client) read(condition string, keys ...int) (ops []history.Op, err error) {
	rows, err := c.QueryContext(context.Background(), "SELECT id, l FROM lists WHERE "+condition)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	lists := map[int][]int{}
	for rows.Next() {
		var id int
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			return nil, err
		}
		if lists[id], err = parse(text); err != nil {
			return nil, err
		}
	}
	for _, k := range keys {
		ops = append(ops, history.Op{Key: k, List: lists[k]})
	}
	return ops, rows.Err()
}

func parse(text string) (list []int, err error) {
	for part := range strings.SplitSeq(strings.TrimPrefix(text, ","), ",") {
		if part == "" {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// inKeys is the condition that finds lists by their ids.
func inKeys(keys []int) string {
	var text []string
	for _, k := range keys {
		text = append(text, strconv.Itoa(k))
	}
	return "id IN (" + strings.Join(text, ", ") + ")"
}

// outcome is what a COMMIT's error says of the transaction.
func outcome(err error) history.Outcome {
	var e *mysql.MySQLError
	switch {
	case err == nil:
		return history.Committed
	case errors.As(err, &e) && e.Number == 1213:
		return history.Aborted
	}
	return history.Unknown
}

// final reads lists once nobody writes any more.
func final(t *testing.T, p *place, keys ...int) map[int][]int {
	ops, err := dial(t, p).read(inKeys(keys), keys...)
	require.NoError(t, err)
	out := map[int][]int{}
	for _, op := range ops {
		out[op.Key] = op.List
	}
	return out
}
