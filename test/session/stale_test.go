package session

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/server"
	"skarv/pkg/topology"
	"skarv/pkg/wire"
	adminv1 "skarv/proto/admin/v1"
	"skarv/test/cluster"
)

// TestStatementsOfAClosedTable: a statement that has begun goes on with a table that was closed since, with all that it does within it;
// one that waits for it can be killed.
func TestStatementsOfAClosedTable(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(2))
	db := c.DB(t, "")
	exec := func(queries ...string) {
		t.Helper()
		for _, q := range queries {
			_, err := db.Exec(q)
			require.NoError(t, err, q)
		}
	}
	exec("CREATE DATABASE d", "CREATE TABLE d.log (id INT PRIMARY KEY, n INT)", "INSERT INTO d.log VALUES (1, 0)",
		"CREATE TABLE d.x (id INT PRIMARY KEY, n INT)", "CREATE TRIGGER d.tr AFTER INSERT ON d.x FOR EACH ROW UPDATE log SET n = n + 1 WHERE id = 1")
	store, err := topology.Open(topology.Config{Endpoints: []string{c.Info().Etcd}, DialTimeout: 10 * time.Second})
	require.NoError(t, err)
	defer store.Close()
	run := func(conn *sql.Conn, q string) <-chan error {
		done := make(chan error, 1)
		go func() {
			_, err := conn.ExecContext(context.Background(), q)
			done <- err
		}()
		return done
	}
	session := func() *sql.Conn {
		conn, err := db.Conn(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	shown := func(state string) func() bool {
		return func() bool {
			var n int
			require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE ? AND id <> CONNECTION_ID()", state).Scan(&n))
			return n > 0
		}
	}
	waiting := session()
	var id int
	require.NoError(t, waiting.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id))
	lock, err := db.Begin()
	require.NoError(t, err)
	_, err = lock.Exec("UPDATE d.log SET n = 0 WHERE id = 1")
	require.NoError(t, err)
	inserted := run(session(), "INSERT INTO d.x VALUES (1, 1), (2, 2), (3, 3)")
	require.Eventually(t, shown("INSERT INTO d.x%"), time.Minute, 5*time.Millisecond)
	changed := run(session(), "ALTER TABLE d.x MODIFY n INT FIRST")
	require.Eventually(t, func() bool {
		members, err := store.Members(t.Context())
		require.NoError(t, err)
		return len(members) > 0 && slices.Contains(members[0].Stale, "d.x")
	}, time.Minute, 5*time.Millisecond)
	read := run(waiting, "SELECT * FROM d.x")
	require.Eventually(t, shown("SELECT * FROM d.x%"), time.Minute, 5*time.Millisecond)
	exec(fmt.Sprintf("KILL QUERY %d", id))
	require.Equal(t, 1317, errno(<-read))
	require.Empty(t, changed)
	require.NoError(t, lock.Rollback())
	require.NoError(t, <-inserted)
	require.NoError(t, <-changed)
	var n int
	require.NoError(t, db.QueryRow("SELECT (SELECT SUM(n) FROM d.x) * 10 + (SELECT n FROM d.log)").Scan(&n))
	require.Equal(t, 63, n)
}

// TestStatementsOfAnOpenTransaction: rows that a transaction has deleted, and may bring back, are waited for by a foreign key to their
// table that is new.
func TestStatementsOfAnOpenTransaction(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(2))
	db := c.DB(t, "")
	for _, q := range []string{"CREATE DATABASE d", "CREATE TABLE d.p (id INT PRIMARY KEY)", "CREATE TABLE d.x (id INT PRIMARY KEY, p INT, KEY (p))",
		"INSERT INTO d.p VALUES (1), (2), (3)", "INSERT INTO d.x VALUES (7, 1), (8, 2), (9, 3)"} {
		_, err := db.Exec(q)
		require.NoError(t, err, q)
	}
	locking := func() bool {
		n := 0
		for g := 1; g <= 2; g++ {
			var here int
			require.NoError(t, c.NodeGroupDB(t, g, "d").QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'LOCK TABLES%'").Scan(&here))
			n += here
		}
		return n > 0
	}
	for _, commit := range []bool{false, true} {
		tx, err := db.Begin()
		require.NoError(t, err)
		_, err = tx.Exec("DELETE FROM d.p WHERE id = 3")
		require.NoError(t, err)
		changed := make(chan error, 1)
		go func() {
			_, err := db.Exec("ALTER TABLE d.x ADD CONSTRAINT c FOREIGN KEY (p) REFERENCES d.p (id)")
			changed <- err
		}()
		require.Eventually(t, func() bool { return len(changed) > 0 || locking() }, time.Minute, 5*time.Millisecond)
		require.Empty(t, changed, "the transaction is open")
		if commit {
			require.NoError(t, tx.Commit())
			require.Equal(t, 1452, errno(<-changed))
			continue
		}
		require.NoError(t, tx.Rollback())
		require.NoError(t, <-changed)
		_, err = db.Exec("ALTER TABLE d.x DROP FOREIGN KEY c")
		require.NoError(t, err)
	}
}

// TestStatementsThatWaitedForAConnection has a statement wait for a connection while the schema changes under it. It was planned by
// the schema as it was: the change waits for it, where it would do wrong to the tables as they are after it.
func TestStatementsThatWaitedForAConnection(t *testing.T) {
	const places, reserve = 8, 1
	c := cluster.Start(t, cluster.Groups(2), cluster.Tune(func(cfg *server.Config) {
		cfg.Backend.MaxConnections, cfg.Backend.MinConnections, cfg.Backend.AcquireTimeout = places, places, server.Duration(2*time.Minute)
	}))
	db := c.DB(t, "")
	db.SetMaxIdleConns(2)
	exec := func(queries ...string) {
		t.Helper()
		for _, q := range queries {
			_, err := db.Exec(q)
			require.NoError(t, err, q)
		}
	}
	exec("CREATE DATABASE d", "CREATE TABLE d.held (id INT PRIMARY KEY, n INT)")
	var keys []int // one row of each group
	for id := range 50 {
		_, err := db.Exec("INSERT INTO d.held VALUES (?, 0)", id)
		require.NoError(t, err)
	}
	for g := 1; g <= 2; g++ {
		var id int
		require.NoError(t, c.NodeGroupDB(t, g, "d").QueryRow("SELECT MIN(id) FROM held").Scan(&id))
		keys = append(keys, id)
	}
	api := adminv1.NewAdminClient(c.Admin(t))
	_, err := api.PutUser(t.Context(), &adminv1.PutUserRequest{ // administrators get places of their own
		Name: "client", Mode: adminv1.PutUserRequest_MODE_ADD, Plugin: "mysql_native_password", AuthString: wire.HashNative("pw"),
		Grants: map[string]string{"d": "write"},
	})
	require.NoError(t, err)
	clients, err := sql.Open("mysql", "client:pw@tcp("+c.Addr()+")/d")
	require.NoError(t, err)
	defer clients.Close()
	require.Eventually(t, func() bool { return clients.Ping() == nil }, time.Minute, 5*time.Millisecond)
	store, err := topology.Open(topology.Config{Endpoints: []string{c.Info().Etcd}, DialTimeout: 10 * time.Second})
	require.NoError(t, err)
	defer store.Close()
	stale := func() bool {
		members, err := store.Members(t.Context())
		require.NoError(t, err)
		return len(members) > 0 && len(members[0].Stale) > 0
	}
	queued := func() bool {
		status, err := api.Status(t.Context(), &adminv1.StatusRequest{})
		require.NoError(t, err)
		return slices.ContainsFunc(status.GetNodeGroups(), func(g *adminv1.NodeGroup) bool { return g.GetLoad().GetQueue() > 0 })
	}

	for _, x := range []struct {
		name   string
		before []string
		waits  string // the statement that waits
		ddl    string
		check  string // a query, and what it answers
		answer string
	}{
		{
			name:   "a global index has an entry for the row",
			before: []string{"CREATE TABLE d.x (id INT PRIMARY KEY, email VARCHAR(40))"},
			waits:  "INSERT INTO d.x VALUES (7, 'seven')", ddl: "ALTER TABLE d.x ADD UNIQUE KEY (email)",
			check: "SELECT id FROM d.x WHERE email = 'seven'", answer: "7",
		},
		{
			name:   "a new primary key moves the row",
			before: []string{"CREATE TABLE d.x (id INT, n INT)"},
			waits:  "INSERT INTO d.x VALUES (7, 1)", ddl: "ALTER TABLE d.x ADD PRIMARY KEY (id)",
			check: "SELECT n FROM d.x WHERE id = 7", answer: "1",
		},
		{
			name:   "numbers of another sequence",
			before: []string{"CREATE TABLE d.x (id BIGINT AUTO_INCREMENT PRIMARY KEY, n INT)"},
			waits:  "INSERT INTO d.x (n) VALUES (7)", ddl: "TRUNCATE TABLE d.x",
			check: "SELECT COUNT(*) FROM d.x", answer: "0",
		},
		{
			name:   "columns change their places",
			before: []string{"CREATE TABLE d.x (id INT PRIMARY KEY, n INT)"},
			waits:  "INSERT INTO d.x VALUES (7, 1)", ddl: "ALTER TABLE d.x MODIFY n INT FIRST",
			check: "SELECT n FROM d.x WHERE id = 7", answer: "1",
		},
		{
			name: "a foreign key over node groups",
			before: []string{"CREATE TABLE d.p (id INT PRIMARY KEY)", "CREATE TABLE d.x (id INT PRIMARY KEY, p INT, KEY (p))",
				"INSERT INTO d.p VALUES (1), (2), (3)", "INSERT INTO d.x VALUES (7, 1), (8, 2), (9, 3)"},
			waits: "DELETE FROM d.p WHERE id = 3", ddl: "ALTER TABLE d.x ADD CONSTRAINT c FOREIGN KEY (p) REFERENCES p (id)",
			check: "SELECT COUNT(*) FROM d.x LEFT JOIN d.p ON p.id = x.p WHERE p.id IS NULL", answer: "1", // the change fails
		},
		{
			name: "tables change places",
			before: []string{"CREATE TABLE d.x (id INT, n INT, PRIMARY KEY (id, n)) PARTITION BY KEY (id)",
				"CREATE TABLE d.y (id INT, n INT, PRIMARY KEY (id, n)) PARTITION BY KEY (n)"},
			waits: "INSERT INTO d.x VALUES (7, 1)", ddl: "RENAME TABLE d.x TO d.z, d.y TO d.x, d.z TO d.y",
			check: "SELECT n FROM d.y WHERE id = 7", answer: "1",
		},
		{
			name: "a trigger that sessions run",
			before: []string{"CREATE TABLE d.log (id INT PRIMARY KEY, n INT)", "INSERT INTO d.log VALUES (1, 0)",
				"CREATE TABLE d.x (id INT PRIMARY KEY)"},
			waits: "INSERT INTO d.x VALUES (7)", ddl: "CREATE TRIGGER d.tr AFTER INSERT ON d.x FOR EACH ROW UPDATE log SET n = n + 1",
			check: "SELECT (SELECT COUNT(*) FROM d.x) + (SELECT n FROM d.log)", answer: "1",
		},
		{
			name: "a view of other rows",
			before: []string{"CREATE TABLE d.x (id INT PRIMARY KEY)", "INSERT INTO d.x VALUES (1), (2), (3), (4), (5), (6), (7)",
				"CREATE VIEW d.v AS SELECT id FROM d.x WHERE id = 1"},
			waits: "SELECT id + SLEEP(0) FROM d.v", ddl: "CREATE OR REPLACE VIEW d.v AS SELECT id FROM d.x WHERE id = 7",
			check: "SELECT id FROM d.v", answer: "7",
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			exec(x.before...)
			defer exec("DROP TABLE IF EXISTS d.x, d.y, d.p, d.log", "DROP VIEW IF EXISTS d.v")
			var held []*sql.Tx
			release := func() {
				for _, tx := range held {
					_ = tx.Rollback()
				}
				held = nil
			}
			defer release()
			for range places - reserve {
				tx, err := clients.BeginTx(context.Background(), nil)
				require.NoError(t, err)
				held = append(held, tx)
				for g := range keys {
					var n int
					require.NoError(t, tx.QueryRow("SELECT n FROM d.held WHERE id = ? LOCK IN SHARE MODE", keys[g]).Scan(&n))
				}
			}
			waited, changed := make(chan error, 1), make(chan error, 1)
			run := func(done chan<- error, db *sql.DB, q string) {
				rows, err := db.Query(q)
				if err == nil {
					for rows.Next() {
					}
					err = rows.Err()
					_ = rows.Close()
				}
				done <- err
			}
			go run(waited, clients, x.waits)
			require.Eventually(t, queued, time.Minute, 5*time.Millisecond)
			go run(changed, db, x.ddl)
			require.Eventually(t, func() bool { return len(changed) > 0 || stale() }, time.Minute, 5*time.Millisecond)
			// One that does not wait has most often ended by then; on a busy machine that may go unnoticed.
			require.Never(t, func() bool { return len(changed) > 0 }, 200*time.Millisecond, 10*time.Millisecond, "a statement planned by the schema as it was is still to come")
			release()
			require.NoError(t, <-waited)
			err := <-changed
			if strings.Contains(x.ddl, "FOREIGN KEY") {
				require.Equal(t, 1452, errno(err))
			} else {
				require.NoError(t, err)
			}
			var answer string
			require.NoError(t, db.QueryRow(x.check).Scan(&answer))
			require.Equal(t, x.answer, answer)
		})
	}
	require.False(t, stale(), "nothing is left")
}
