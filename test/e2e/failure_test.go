package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
)

// failAfter is what the processes of these tests are configured with, longer than a busy machine's servers say nothing; a server is probed
// once a second besides. dialTimeout is so long that nobody can have waited for it in time.
const (
	failAfter   = 5 * time.Second
	dialTimeout = time.Minute
)

// inTime is how long a statement that needs a silent server may take: fail_after, the pause between two probes, and
// what a busy machine adds.
const inTime = failAfter + time.Second + 20*time.Second

// onGroup returns a key of shop.orders that lives on node group g.
func onGroup(t testing.TB, p *proxy, g int) int {
	t.Helper()
	for id := 1; ; id++ {
		if strings.Contains(p.must(t, "route", "shop.orders", fmt.Sprint(id), "-o", "json"), fmt.Sprintf(`"node_group": %d,`, g)) {
			return id
		}
	}
}

func TestFailures(t *testing.T) {
	etcd := startEtcd(t, "http")
	d := deploy(t, etcd, 2, 1, etcdSection(etcd)+fmt.Sprintf("backend: {fail_after: %v, dial_timeout: %v}\nslow_query: 0s\n", failAfter, dialTimeout))
	db := d.admin(t, 0, "")
	exec1(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.orders (id INT PRIMARY KEY, v VARCHAR(20))")
	for id := range 20 {
		exec1(t, db, fmt.Sprintf("INSERT INTO shop.orders VALUES (%d, 'v')", id+1))
	}
	f := &failures{deployment: d, key1: onGroup(t, d.proxies[0], 1), key2: onGroup(t, d.proxies[0], 2)}
	t.Run("bad input", f.badInput)
	t.Run("server killed", f.serverKilled)
	t.Run("server paused", f.serverPaused)
	t.Run("server killed in the middle of a result", f.killedMidResult)
	t.Run("etcd paused", f.etcdPaused)
	t.Run("etcd killed", f.etcdKilled)
}

// failures is a cluster of two node groups and a key on each.
type failures struct {
	*deployment
	key1, key2 int
}

func byKey(id int) string { return fmt.Sprintf("SELECT v FROM shop.orders WHERE id = %d", id) }

// lost checks that err is the error of a lost server and names the node group.
func lost(t testing.TB, err error, group string) {
	t.Helper()
	e := sqlError(t, err)
	require.EqualValues(t, 1430, e.Number, e.Message)
	require.Equal(t, "HY000", string(e.SQLState[:]))
	require.Contains(t, e.Message, group)
}

// commandLine is what the command line client of MariaDB shows of a statement that fails. Its library hides the texts of some errors: see
// package sqlerr.
func (f *failures) commandLine(t *testing.T, statement string) string {
	host, port, err := net.SplitHostPort(f.proxies[0].mysql)
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), "mariadb", "--no-defaults", "--user=admin", "--password="+adminPassword, "--host="+host, "--port="+port,
		"--execute="+statement).CombinedOutput()
	require.Error(t, err)
	return string(out)
}

// recovers waits until the second node group serves again.
func (f *failures) recovers(t *testing.T, db *sql.DB) {
	t.Helper()
	eventually(t, inTime, "node group 2 serves again", func() bool {
		var v string
		return db.QueryRow(byKey(f.key2)).Scan(&v) == nil
	})
	require.Contains(t, f.proxies[0].must(t, "status"), "All is well.")
}

// Whatever a server says of wrong input, the cluster says, to the letter.
func (f *failures) badInput(t *testing.T) {
	server := f.servers[0]
	plain := func(user, password, db string) *sql.DB {
		return openDB(t, fmt.Sprintf("%s:%s@tcp(%s)/%s", user, password, server.Addr(), db))
	}
	ours := func(user, password, db string) *sql.DB { return f.proxies[0].db(t, user, password, db) }
	same := func(t *testing.T, want, have error) {
		t.Helper()
		w, h := sqlError(t, want), sqlError(t, have)
		require.Equal(t, w.Number, h.Number, "%v\n%v", w, h)
		require.Equal(t, string(w.SQLState[:]), string(h.SQLState[:]), "%v\n%v", w, h)
		require.Equal(t, strings.ReplaceAll(w.Message, "'@'127.0.0.1' (using", "'@'localhost' (using"), h.Message) // the plain server resolves no names
	}
	for _, login := range [][2]string{{"nobody", "x"}, {"nobody", ""}} {
		same(t, plain(login[0], login[1], "").Ping(), ours(login[0], login[1], "").Ping())
	}
	_, err := server.DB(t, "").Exec("CREATE USER admin@'127.0.0.1' IDENTIFIED BY '" + adminPassword + "'")
	require.NoError(t, err)
	_, err = server.DB(t, "").Exec("GRANT ALL ON *.* TO admin@'127.0.0.1'")
	require.NoError(t, err)
	same(t, plain("admin", "wrong", "").Ping(), ours("admin", "wrong", "").Ping())
	same(t, plain("admin", "", "").Ping(), ours("admin", "", "").Ping())
	same(t, plain("admin", adminPassword, "nowhere").Ping(), ours("admin", adminPassword, "nowhere").Ping())
	pdb, odb := plain("admin", adminPassword, "shop"), ours("admin", adminPassword, "shop")
	nodb, onodb := plain("admin", adminPassword, ""), ours("admin", adminPassword, "")
	for _, q := range []string{
		"USE nowhere",
		"SELECT * FROM nothing",
		"SELECT * FROM nothing WHERE id = 1",
		"SELECT * FROM nowhere.orders",
		"INSERT INTO nothing VALUES (1)",
		"UPDATE nothing SET a = 1",
		"DELETE FROM nothing",
		"SELECT nope FROM orders",
		"SELECT nope FROM orders WHERE id = 1",
		"SELECT v FROM orders WHERE nope = 1",
		"SELECT v FROM orders ORDER BY nope",
		"SELECT x.v FROM orders",
		"UPDATE orders SET nope = 1 WHERE id = 1",
		"INSERT INTO orders (nope) VALUES (1)",
		"INSERT INTO orders VALUES (1)",
		fmt.Sprintf("INSERT INTO orders VALUES (%d, 'again')", f.key1),
		"SELEC 1",
		"SELECT * FROM orders WHERE",
		"SELECT * FORM orders",
		"INSERT INTO orders VALUES (1",
		"SELECT 'open",
		"CREATE TABLE orders (id INT PRIMARY KEY)",
		"CREATE DATABASE shop",
		"CREATE TABLE x (a INT, a INT)",
		"CREATE TABLE x (a NOTYPE)",
		"DROP TABLE nothing",
		"DROP DATABASE nowhere",
		"ALTER TABLE nothing ADD a INT",
		"SET @@nope = 1",
		"SELECT @@nope",
		"",
	} {
		_, want := pdb.Exec(q)
		_, have := odb.Exec(q)
		t.Run(q, func(t *testing.T) { same(t, want, have) })
	}
	for _, q := range []string{"SELECT * FROM orders", "INSERT INTO orders VALUES (1, 'x')", "CREATE TABLE t (id INT PRIMARY KEY)"} {
		_, want := nodb.Exec(q)
		_, have := onodb.Exec(q)
		t.Run("no database "+q, func(t *testing.T) { same(t, want, have) })
	}
	for _, q := range []string{"SELECT nope FROM orders WHERE id = ?", "SELECT v FROM nothing WHERE id = ?", "SELEC ?"} {
		_, want := pdb.Exec(q, 1)
		_, have := odb.Exec(q, 1)
		t.Run("prepared "+q, func(t *testing.T) { same(t, want, have) })
	}
}

// A server that is gone is refused by its host: who needs it is told at once, nobody else notices.
func (f *failures) serverKilled(t *testing.T) {
	db := f.admin(t, 0, "shop")
	running, inTx, other := one(t, db), one(t, db), one(t, db)
	exec1(t, inTx, "BEGIN", fmt.Sprintf("UPDATE orders SET v = 'tx' WHERE id = %d", f.key2))
	exec1(t, other, "BEGIN", fmt.Sprintf("UPDATE orders SET v = 'other' WHERE id = %d", f.key1))
	answer := make(chan error, 1)
	go func() {
		var v string
		answer <- running.QueryRowContext(context.Background(), fmt.Sprintf("SELECT SLEEP(200) FROM orders WHERE id = %d", f.key2)).Scan(&v)
	}()
	f.awaitSleeping(t)
	require.NoError(t, f.servers[1].Kill(t.Context()))
	lost(t, <-answer, "g2")
	began := time.Now()
	var v string
	lost(t, db.QueryRow(byKey(f.key2)).Scan(&v), "g2")
	_, err := db.Exec(fmt.Sprintf("UPDATE orders SET v = 'x' WHERE id = %d", f.key2))
	lost(t, err, "g2")
	_, err = db.Query("SELECT * FROM orders")
	lost(t, err, "g2")
	_, err = db.Query("SELECT COUNT(*) FROM orders")
	lost(t, err, "g2")
	_, err = db.Query("SELECT v FROM orders WHERE id = ?", f.key2)
	lost(t, err, "g2")
	_, err = inTx.ExecContext(t.Context(), byKey(f.key2))
	lost(t, err, "g2")
	shown := f.commandLine(t, byKey(f.key2))
	require.Contains(t, shown, "ERROR 1430 (HY000)")
	require.Contains(t, shown, "g2")
	require.Less(t, time.Since(began), inTime)
	require.NoError(t, db.QueryRow(byKey(f.key1)).Scan(&v))
	exec1(t, other, byKey(f.key1), "COMMIT")
	eventually(t, inTime, "status tells of it", func() bool {
		r := f.proxies[0].ctl(t, "status")
		return r.code == 4 && strings.Contains(r.out, "node group g2 is down")
	})
	status, _ := f.proxies[0].get(t, "/readyz")
	require.Equal(t, 200, status, "the process serves what it can")

	require.NoError(t, f.servers[1].Start(t.Context()))
	f.recovers(t, db)
	_, err = inTx.ExecContext(t.Context(), "COMMIT")
	require.Error(t, err, "what was lost is not said to be committed")
	exec1(t, inTx, "ROLLBACK")
	require.NoError(t, inTx.QueryRowContext(t.Context(), byKey(f.key2)).Scan(&v), "the session goes on")
	require.NotEqual(t, "tx", v, "what was not committed is gone")
	// A server that was restarted while its connections were idle: nobody is told of them.
	require.NoError(t, f.servers[1].Kill(t.Context()))
	require.NoError(t, f.servers[1].Start(t.Context()))
	f.recovers(t, db)
}

// awaitSleeping waits until a SELECT SLEEP runs on the second server.
func (f *failures) awaitSleeping(t *testing.T) {
	t.Helper()
	db := f.servers[1].DB(t, "")
	eventually(t, patience, "the statement runs on the server", func() bool {
		var n int
		_ = db.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT SLEEP(200)%'").Scan(&n)
		return n > 0
	})
}

// A server that says nothing is down after fail_after, and until it answers again.
func (f *failures) serverPaused(t *testing.T) {
	db := f.admin(t, 0, "shop")
	// Connections that are free when the server stops, and fewer of them than statements that come.
	exec1(t, db, byKey(f.key2))
	running := one(t, db)
	answers := make(chan error, 1)
	go func() {
		var v string
		answers <- running.QueryRowContext(context.Background(), fmt.Sprintf("SELECT SLEEP(200) FROM orders WHERE id = %d", f.key2)).Scan(&v)
	}()
	f.awaitSleeping(t)
	resume := cluster.Pause(t, f.servers[1].Status().Pid)
	began := time.Now()
	var all sync.WaitGroup
	errs, took := make([]error, 8), make([]time.Duration, 8)
	for i := range errs {
		all.Go(func() {
			var v string
			errs[i] = db.QueryRow([]string{byKey(f.key2), "SELECT COUNT(*) FROM orders"}[i%2]).Scan(&v)
			took[i] = time.Since(began)
		})
	}
	// Meanwhile the other node group works.
	for range 20 {
		at := time.Now()
		var v string
		require.NoError(t, db.QueryRow(byKey(f.key1)).Scan(&v))
		require.Less(t, time.Since(at), failAfter/2)
	}
	lost(t, <-answers, "g2")
	require.Less(t, time.Since(began), inTime)
	all.Wait()
	for i, err := range errs {
		lost(t, err, "g2")
		require.Less(t, took[i], inTime)
	}
	at := time.Now()
	var v string
	lost(t, db.QueryRow(byKey(f.key2)).Scan(&v), "g2")
	require.Less(t, time.Since(at), failAfter/2, "a server that is down is not asked")
	require.NoError(t, db.QueryRow(byKey(f.key1)).Scan(&v))
	require.Equal(t, 4, f.proxies[0].ctl(t, "status").code)
	resume()
	f.recovers(t, db)
}

const bigRows = 12_000

// A result whose server dies is never taken for a complete one.
func (f *failures) killedMidResult(t *testing.T) {
	db := f.admin(t, 0, "shop")
	exec1(t, db, "CREATE TABLE big (grp INT, id INT, v VARCHAR(2000), PRIMARY KEY (grp, id)) PARTITION BY KEY (grp)")
	var grp int
	for grp = 1; !strings.Contains(f.proxies[0].must(t, "route", "shop.big", fmt.Sprint(grp), "-o", "json"), `"node_group": 2,`); grp++ {
	}
	for at := 0; at < bigRows; at += 2000 {
		var b strings.Builder
		b.WriteString("INSERT INTO big VALUES ")
		for i := range 2000 {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "(%d,%d,REPEAT('x',2000))", grp, at+i)
		}
		exec1(t, db, b.String())
	}
	for _, c := range []struct{ name, query string }{
		{"relay", "SELECT * FROM big WHERE grp = %s"},
		{"scatter", "SELECT * FROM big WHERE id >= 0 AND %s > 0"},
		{"sorted", "SELECT * FROM big WHERE %s > 0 ORDER BY id"},
	} {
		for _, prepared := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s prepared=%v", c.name, prepared), func(t *testing.T) {
				query, args := fmt.Sprintf(c.query, fmt.Sprint(grp)), []any{}
				if prepared {
					query, args = fmt.Sprintf(c.query, "?"), []any{grp}
				}
				rows, err := db.Query(query, args...)
				require.NoError(t, err)
				defer rows.Close()
				n := 0
				for rows.Next() {
					if n++; n == 10 {
						require.NoError(t, f.servers[1].Kill(t.Context()))
					}
				}
				require.Less(t, n, bigRows)
				require.Error(t, rows.Err(), "%d rows of %d, and no error", n, bigRows)
				if e, ok := errors.AsType[*mysql.MySQLError](rows.Err()); ok {
					require.EqualValues(t, 1430, e.Number)
				}
				t.Log(rows.Err())
				require.NoError(t, f.servers[1].Start(t.Context()))
				f.recovers(t, db)
			})
		}
	}
}

// What is refused because etcd does not answer is not done when it does.
func (f *failures) etcdPaused(t *testing.T) {
	db := f.admin(t, 0, "shop")
	exec1(t, db, "CREATE TABLE kept (id INT PRIMARY KEY)", "INSERT INTO kept VALUES (1)")
	resume := cluster.Pause(t, f.etcd.Process.Pid)
	_, err := db.Exec("TRUNCATE TABLE kept")
	require.Contains(t, sqlError(t, err).Message, "the schema cannot be changed now")
	exec1(t, db, "INSERT INTO kept VALUES (2)")
	resume()
	eventually(t, patience, "the schema can be changed", func() bool {
		_, err := db.Exec("CREATE TABLE IF NOT EXISTS kept2 (id INT PRIMARY KEY)")
		return err == nil
	})
	var n int
	require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM kept").Scan(&n))
	require.Equal(t, 2, n)
	exec1(t, db, "DROP TABLE kept", "DROP TABLE kept2")
}

// Without etcd the cluster cannot change, and goes on.
func (f *failures) etcdKilled(t *testing.T) {
	p := f.proxies[0]
	db := f.admin(t, 0, "shop")
	exec1(t, db, "CREATE TABLE auto (id BIGINT AUTO_INCREMENT PRIMARY KEY, v INT)")
	insert := func() (int64, error) {
		r, err := db.Exec("INSERT INTO auto (v) VALUES (1)")
		if err != nil {
			return 0, err
		}
		id, err := r.LastInsertId()
		return id, err
	}
	var last int64
	for want := int64(1); want <= 20; want++ {
		id, err := insert()
		require.NoError(t, err)
		require.Equal(t, want, id)
		last = id
	}
	require.NotZero(t, f.etcd.end(t, syscall.SIGKILL)) // -1
	// Reads, writes and logins go on.
	exec1(t, db, byKey(f.key1), byKey(f.key2), "SELECT COUNT(*) FROM orders",
		fmt.Sprintf("UPDATE orders SET v = 'no etcd' WHERE id = %d", f.key2))
	require.NoError(t, f.admin(t, 0, "shop").Ping())
	// So does AUTO_INCREMENT while there are values left.
	began := time.Now()
	for range 100_000 {
		id, err := insert()
		if err != nil {
			e := sqlError(t, err)
			require.Contains(t, e.Message, "etcd")
			require.Contains(t, e.Message, "AUTO_INCREMENT")
			t.Logf("after %d: %v", last, e)
			break
		}
		require.Equal(t, last+1, id)
		last = id
		require.Less(t, time.Since(began), patience, "no end of values")
	}
	require.Greater(t, last, int64(20))
	// Values the client gives itself do not need etcd... unless they raise the sequence.
	_, err := db.Exec("CREATE TABLE later (id INT PRIMARY KEY)")
	e := sqlError(t, err)
	require.Contains(t, e.Message, "etcd")
	t.Log(e)
	eventually(t, patience, "status tells of it", func() bool {
		r := p.ctl(t, "status")
		return r.code == 4 && strings.Contains(r.out, "etcd does not answer") && strings.Contains(r.out, "connection refused")
	})
	require.Contains(t, p.ctl(t, "status", "-o", "json").out, `"healthy": false`)
	r := p.ctlWith(t, "x", "user", "add", "late", "--password-file", "-")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "etcd")
	p.must(t, "partitions")
	p.must(t, "route", "shop.orders", "1")
	status, _ := p.get(t, "/readyz")
	require.Equal(t, 200, status)
	status, _ = p.get(t, "/healthz")
	require.Equal(t, 200, status)
	exec1(t, db, byKey(f.key1), byKey(f.key2))

	f.etcd.start(t)
	eventually(t, patience, "all is well again", func() bool { return p.ctl(t, "status").code == 0 })
	exec1(t, db, "CREATE TABLE later (id INT PRIMARY KEY)")
	id, err := insert()
	require.NoError(t, err)
	require.Greater(t, id, last)
}
