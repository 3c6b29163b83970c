package e2e

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/datanode"
	"skarv/test/cluster"
)

// quietServer runs a server with the account Skarv is to use and nobody connected.
func quietServer(t testing.TB) *cluster.Server {
	t.Helper()
	s := cluster.StartServer(t)
	onServer(t, s, "CREATE USER "+serverUser+"@'127.0.0.1' IDENTIFIED BY '"+serverPassword+"'",
		"GRANT ALL ON *.* TO "+serverUser+"@'127.0.0.1' WITH GRANT OPTION")
	return s
}

// onServer runs statements on a server and leaves no connection behind.
func onServer(t testing.TB, s *cluster.Server, statements ...string) {
	t.Helper()
	db, err := sql.Open("mysql", s.DSN(""))
	require.NoError(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1) // what one statement sets is for the next
	exec1(t, db, statements...)
}

// onServerText is what a query on a server gives, a row per line.
func onServerText(t testing.TB, s *cluster.Server, query string) string {
	t.Helper()
	db, err := sql.Open("mysql", s.DSN(""))
	require.NoError(t, err)
	defer db.Close()
	return rowsOf(t, db, query)
}

func rowsOf(t testing.TB, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.Query(query)
	require.NoError(t, err, query)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(t, err)
	var out strings.Builder
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		to := make([]any, len(columns))
		for i := range values {
			to[i] = &values[i]
		}
		require.NoError(t, rows.Scan(to...))
		for i, v := range values {
			if i > 0 {
				out.WriteByte('|')
			}
			if !v.Valid {
				v.String = "NULL"
			}
			out.WriteString(v.String)
		}
		out.WriteByte('\n')
	}
	require.NoError(t, rows.Err())
	return out.String()
}

// adoptSchema is a schema of all sorts, with rows.
func adoptSchema(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/adopt.sql")
	require.NoError(t, err)
	statements := strings.Split(strings.TrimSpace(string(text)), ";\n")
	statements[len(statements)-1] = strings.TrimSuffix(statements[len(statements)-1], ";")
	list := func(n int, row func(i int) string) string {
		rows := make([]string, n)
		for i := range rows {
			rows[i] = row(i + 1)
		}
		return strings.Join(rows, ", ")
	}
	return append(statements,
		"INSERT INTO shop.customer (id, email, country, balance) VALUES "+list(400, func(i int) string {
			return fmt.Sprintf("(%d, 'mail%d@x', '%s', %d)", i, i, []string{"de", "se", "fr"}[i%3], i)
		}),
		"INSERT INTO shop.orders VALUES "+list(1000, func(i int) string {
			return fmt.Sprintf("(%d, %d, %d.5, '2024-05-06 07:08:09.123')", i, i%400+1, i%100)
		}),
		"INSERT INTO shop.item VALUES "+list(2000, func(i int) string { return fmt.Sprintf("(%d, %d, 'sku%d', %d)", i%1000+1, i/1000, i%50, i) }),
		"INSERT INTO shop.product (sku, price, attrs) VALUES "+list(50, func(i int) string { return fmt.Sprintf("('sku%d', %d.25, '{\"n\": %d}')", i, i, i) }),
		"INSERT INTO shop.stock VALUES "+list(150, func(i int) string { return fmt.Sprintf("('sku%d', %d, %d)", i%50, i/50, i) }),
		"INSERT INTO shop.token VALUES "+list(100, func(i int) string { return fmt.Sprintf("(UNHEX(LPAD(HEX(%d), 32, '0')), REPEAT('b', %d))", i*7919, i) }),
		"INSERT INTO shop.visits VALUES "+list(20, func(i int) string { return fmt.Sprintf("(%d, 0)", i) }),
		"INSERT INTO shop.tag VALUES "+list(300, func(i int) string { return fmt.Sprintf("(%d, %d, 'tag %d')", i%40, i, i) }),
		"INSERT INTO shop.account VALUES "+list(30, func(i int) string { return fmt.Sprintf("(%d, 0)", i) }),
		"INSERT INTO shop.beginnings VALUES "+list(30, func(i int) string { return fmt.Sprintf("(%d, '%08d and more')", i, i) }),
		"INSERT INTO shop.member VALUES "+list(200, func(i int) string { return fmt.Sprintf("(%d, %d, NULL)", i%20, i) }),
		"INSERT INTO blog.post (id, title, slug, year_no) VALUES "+list(200, func(i int) string { return fmt.Sprintf("(%d, 'title %d', 'slug %d', %d)", i, i, i%20, 1990+i) }),
	)
}

// adoptReport is what skarvctl import --output json says.
type adoptReport struct {
	ClusterID string `json:"cluster_id"`
	Tables    []struct {
		Database, Name, Kind, Why string
		Key                       []string
		Rows                      int
		GlobalIndexes             []string `json:"global_indexes"`
		Findings                  []struct{ Level, What, Fix string }
	}
	Accounts []struct {
		Name     string
		Imported bool
		Grants   map[string]string
		Problem  string
	}
	Findings []struct{ Level, What, Fix string }
	Refusals []string
}

func (r *adoptReport) kinds() map[string]string {
	out := map[string]string{}
	for _, x := range r.Tables {
		out[x.Database+"."+x.Name] = strings.TrimSpace(x.Kind + " " + strings.Join(x.Key, ","))
	}
	return out
}

// story is the load: statements that each change only what their own worker owns, so that what was acknowledged, run again on
// a plain server, gives the same rows.
type story struct {
	mu   sync.Mutex
	done []string // acknowledged statements, in the order of each worker
	end  atomic.Bool
	g    errgroup.Group
	n    atomic.Int64
}

func (s *story) start(db *sql.DB, workers int) {
	for w := range workers {
		s.g.Go(func() error {
			for i := 0; !s.end.Load(); i++ {
				for _, q := range s.next(w, workers, i) {
					if err := s.run(db, q); err != nil {
						return fmt.Errorf("%s: %w", q, err)
					}
				}
			}
			return nil
		})
	}
}

// run repeats a statement that was told to be tried again.
func (s *story) run(db *sql.DB, q string) error {
	for {
		_, err := db.Exec(q)
		if e, ok := errors.AsType[*mysql.MySQLError](err); ok && slices.Contains([]uint16{1213, 1205, 1317, 1020}, e.Number) {
			continue
		}
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.done = append(s.done, q)
		s.mu.Unlock()
		s.n.Add(1)
		return nil
	}
}

// next is what worker w does in round i.
func (s *story) next(w, workers, i int) []string {
	id := i*workers + w
	old := id%300 + 1 // changed by the one worker that has this remainder, for 300 is a multiple of workers
	fresh := 100000 + id
	switch i % 8 {
	case 0:
		return []string{
			fmt.Sprintf("INSERT INTO shop.customer (id, email, country) VALUES (%d, 'new%d@x', 'se')", fresh, fresh),
			fmt.Sprintf("INSERT INTO shop.orders VALUES (%d, %d, 7, '2025-01-02 03:04:05')", fresh, fresh),
			fmt.Sprintf("INSERT INTO shop.item VALUES (%d, 1, 'sku1', %d), (%d, 2, 'sku2', %d)", fresh, i, fresh, i),
		}
	case 1:
		return []string{fmt.Sprintf("UPDATE shop.customer SET balance = balance + 1, email = 'changed%d-%d@x' WHERE id = %d", w, i, old)}
	case 2:
		return []string{fmt.Sprintf("UPDATE shop.item SET amount = amount + 1 WHERE order_id = %d", old)}
	case 3:
		return []string{
			fmt.Sprintf("INSERT INTO blog.post (id, title, slug, year_no) VALUES (%d, 't', 'fresh %d', 2024)", fresh, fresh),
			fmt.Sprintf("UPDATE blog.post SET slug = 'again %d' WHERE slug = 'fresh %d'", fresh, fresh),
		}
	case 4:
		return []string{fmt.Sprintf("UPDATE shop.account SET n = n + 1 WHERE id = %d", id%workers+1)}
	case 5:
		return []string{fmt.Sprintf("DELETE FROM shop.item WHERE order_id = %d AND n = 2", fresh-5*workers)}
	case 6:
		return []string{fmt.Sprintf("REPLACE INTO shop.kinds (id, e, txt) VALUES (%d, 'b', 'text %d')", 1000+id%600, i)}
	default:
		return []string{fmt.Sprintf("UPDATE shop.tag SET text = 'w%d i%d' WHERE owner = %d", w, i, w)}
	}
}

func (s *story) stop(t testing.TB) []string {
	t.Helper()
	s.end.Store(true)
	require.NoError(t, s.g.Wait())
	return s.done
}

// adopted are the tables whose rows are compared, with an order that tells them apart.
func adopted() map[string]string {
	return map[string]string{
		"shop.country": "1", "shop.customer": "1", "shop.orders": "1", "shop.item": "1, 2", "shop.product": "1", "shop.stock": "1, 2", "shop.token": "1",
		"shop.log": "1, 2", "shop.visits": "1", "shop.setting": "1", "shop.tag": "1, 2", "shop.account": "1", "shop.measure": "1", "shop.kinds": "1",
		"shop.beginnings": "1", "shop.member": "1, 2", "shop.node": "1", "blog.post": "1", "blog.`odd name`": "1", "shop.big": "1",
	}
}

// sameRows compares all tables with those of the plain server.
func sameRows(t testing.TB, want, got *sql.DB) {
	t.Helper()
	for table, order := range adopted() {
		q := "SELECT * FROM " + table + " ORDER BY " + order
		require.Equal(t, rowsOf(t, want, q), rowsOf(t, got, q), table)
	}
	q := "SELECT account, COUNT(*), MAX(n) FROM shop.audit GROUP BY account ORDER BY account" // its numbers depend on the order of the workers
	require.Equal(t, rowsOf(t, want, q), rowsOf(t, got, q))
}

// A server that is in use is put behind Skarv, spread over two servers under load, and taken out again: always with the rows that a
// plain server would have.
func TestAdoptAndLeave(t *testing.T) {
	etcd := startEtcd(t, "http")
	first, second, oracle := quietServer(t), quietServer(t), quietServer(t)
	schema := adoptSchema(t)
	onServer(t, first, schema...)
	onServer(t, oracle, schema...)
	app := "CREATE USER 'app'@'%' IDENTIFIED BY 'of-the-app'"
	if cluster.TestEngine() == datanode.MySQL {
		app = "CREATE USER 'app'@'%' IDENTIFIED WITH caching_sha2_password BY 'of-the-app'"
	}
	byDefault := "SET DEFAULT ROLE most FOR byrole"
	if cluster.TestEngine() == datanode.MySQL {
		byDefault = "SET DEFAULT ROLE most TO byrole"
	}
	onServer(t, first, app, "GRANT SELECT, INSERT, UPDATE, DELETE ON shop.* TO app", "GRANT ALL ON blog.* TO app", "CREATE USER 'other'@'10.%'",
		strings.ReplaceAll(strings.ReplaceAll(app, "'%'", "'localhost'"), "of-the-app", "of-the-near"), "GRANT SELECT ON shop.customer TO app@localhost",
		strings.ReplaceAll(app, "'%'", "'web1.example.com'"), "GRANT SELECT ON shop.* TO app@'web1.example.com'",
		"CREATE DEFINER = app@localhost VIEW blog.near AS SELECT title FROM blog.post",
		"CREATE USER locked IDENTIFIED BY 'of-the-app' ACCOUNT LOCK", "GRANT SELECT ON shop.* TO locked",
		"CREATE ROLE reading", "CREATE ROLE most", "GRANT SELECT ON shop.* TO reading", "GRANT reading TO most",
		"CREATE USER byrole IDENTIFIED BY 'of-byrole'", "GRANT most TO byrole", byDefault,
		"CREATE DEFINER = app VIEW blog.titles AS SELECT title FROM blog.post")
	before := onServerText(t, first, "CHECKSUM TABLE shop.customer, shop.item, blog.post")
	p := serve(t, etcdSection(etcd))
	args := func(more ...string) []string {
		return append([]string{"import", "old=" + first.Addr(), "--user", serverUser, "--password-file", "-", "-o", "json"}, more...)
	}
	report := func(r result) *adoptReport {
		t.Helper()
		out := &adoptReport{}
		require.NoError(t, json.Unmarshal([]byte(r.out), out), "%s%s", r.out, r.errs)
		return out
	}

	// Looking only.
	choices := []string{"--key", "shop.item=order_id", "--reference", "shop.country", "--accounts"}
	r := p.ctlWith(t, serverPassword, args(append(choices, "--dry-run")...)...)
	require.Zero(t, r.code, r.errs)
	dry := report(r)
	require.Empty(t, dry.Refusals)
	require.Equal(t, map[string]string{
		"shop.country": "reference", "shop.customer": "sharded id", "shop.orders": "sharded id", "shop.item": "sharded order_id",
		"shop.product": "sharded sku", "shop.stock": "sharded sku", "shop.token": "sharded token", "shop.log": "single", "shop.visits": "single",
		"shop.setting": "single", "shop.tag": "sharded owner", "shop.account": "single", "shop.audit": "single", "shop.measure": "single",
		"shop.kinds": "sharded id", "shop.beginnings": "sharded id", "shop.member": "sharded a,b", "shop.node": "sharded id", "shop.big": "view",
		"blog.post": "sharded id", "blog.odd name": "sharded a b", "blog.titles": "view", "blog.near": "view",
	}, dry.kinds())
	reasons := map[string]string{}
	for _, x := range dry.Tables {
		for _, f := range x.Findings {
			reasons[x.Name] += f.What + " / " + f.Fix + "\n"
		}
		switch x.Name {
		case "customer", "post":
			require.Len(t, x.GlobalIndexes, 1, x.Name)
		case "stock":
			require.Contains(t, x.Why, "PARTITION BY KEY")
		case "tag":
			require.Contains(t, x.Why, "comment")
		}
	}
	for table, says := range map[string]string{
		"log": "no primary key", "visits": "MyISAM", "account": "trigger shop.watch", "audit": "trigger shop.watch", "measure": "double",
		"beginnings": "global index", "customer": "global index", "orders": "Skarv enforces it", "node": "Skarv enforces it",
	} {
		require.Contains(t, strings.ToLower(reasons[table]), strings.ToLower(says), table)
	}
	found := fmt.Sprint(dry.Findings)
	require.NotContains(t, found, "procedure shop.forget is not")
	require.Contains(t, found, "function shop.settings is not taken over: ")
	require.Contains(t, found, "events are run by Skarv from now on, as their definers, and are DISABLE ON SLAVE on the server: shop.tidy")
	require.Contains(t, found, "views and programs whose definers are no accounts of the cluster are used in the name of whoever uses them: function shop.twice, ")
	require.Contains(t, found, "view shop.big")
	require.NotContains(t, found, "blog.titles")
	require.NotContains(t, found, "blog.near")
	status := p.ctl(t, "status")
	require.Contains(t, status.out, "there is no cluster yet")
	require.Empty(t, onServerText(t, first, "SHOW DATABASES LIKE '\\_skarv'"))

	// Refusals.
	for _, k := range []struct {
		args []string
		says string
	}{
		{[]string{"--key", "shop.nothing=id"}, "no table shop.nothing"},
		{[]string{"--key", "shop.customer=nothing"}, "doesn't exist in table"},
		{[]string{"--key", "shop.customer=country"}, "PRIMARY KEY without column"},
		{[]string{"--key", "shop.log=at"}, "no primary key"},
		{[]string{"--key", "shop.account=id"}, "trigger"},
		{[]string{"--reference", "shop.visits"}, "MyISAM"},
		{[]string{"--key", "shop.item=order_id", "--single", "shop.item"}, "more than one choice"},
		{[]string{"--single", "shop.country", "--key", "shop.customer=id"}, "foreign key lives"},
	} {
		r := p.ctlWith(t, serverPassword, args(append(k.args, "--yes")...)...)
		require.Equal(t, 1, r.code, k.args)
		require.Contains(t, strings.Join(report(r).Refusals, "\n"), k.says)
	}
	held := openDB(t, first.DSN(""))
	require.NoError(t, held.Ping())
	r = p.ctlWith(t, serverPassword, args("--yes")...)
	require.Equal(t, 1, r.code)
	require.Contains(t, strings.Join(report(r).Refusals, "\n"), "clients are connected to the server: root@")
	require.NoError(t, held.Close())
	onServer(t, first, "SET GLOBAL binlog_row_image = 'MINIMAL'")
	require.Contains(t, fmt.Sprint(report(p.ctlWith(t, serverPassword, args("--dry-run")...)).Findings), "binlog_row_image is MINIMAL")
	onServer(t, first, "SET GLOBAL binlog_row_image = 'FULL', GLOBAL read_only = 1")
	r = p.ctlWith(t, serverPassword, args("--yes")...)
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "read_only")
	onServer(t, first, "SET GLOBAL read_only = 0")

	// The import.
	eventually(t, patience, "nobody is connected", func() bool {
		return len(report(p.ctlWith(t, serverPassword, args("--dry-run")...)).Refusals) == 0
	})
	r = p.ctlWith(t, serverPassword, args(append(choices, "--yes")...)...)
	require.Zero(t, r.code, "%s%s", r.out, r.errs)
	done := report(r)
	require.NotEmpty(t, done.ClusterID)
	require.Equal(t, dry.kinds(), done.kinds())
	require.Equal(t, before, onServerText(t, first, "CHECKSUM TABLE shop.customer, shop.item, blog.post"))
	p.awaitReady(t)
	r = p.ctlWith(t, serverPassword, args("--dry-run")...)
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "holds a cluster already")
	r = p.ctlWith(t, adminPassword, "user", "add", "admin", "--grant", "*:admin", "--password-file", "-")
	require.Zero(t, r.code, r.errs)
	elsewhere := serve(t, "etcd: {endpoints: ['"+etcd.url+"'], prefix: /elsewhere/}\n")
	r = elsewhere.ctlWith(t, serverPassword, args("--yes")...)
	require.Equal(t, 1, r.code)
	require.Contains(t, strings.Join(report(r).Refusals, "\n"), "is a node group of a cluster, or was one")
	elsewhere.end(t, 15)

	// The accounts of the server are the cluster's, as far as that can be.
	for _, x := range done.Accounts {
		switch x.Name {
		case "app@%":
			require.True(t, x.Imported)
			require.Equal(t, map[string]string{"shop": "select,insert,update,delete", "blog": "admin"}, x.Grants)
		case "reading@", "reading@%":
			require.True(t, x.Imported)
			require.Equal(t, map[string]string{"shop": "select"}, x.Grants)
		case "most@", "most@%", "byrole@%":
			require.True(t, x.Imported)
			require.Empty(t, x.Grants, x.Name)
			require.Empty(t, x.Problem)
		case "locked@%":
			require.True(t, x.Imported)
			require.Empty(t, x.Problem)
		case "app@localhost":
			require.True(t, x.Imported)
			require.Empty(t, x.Problem)
		case "app@web1.example.com":
			require.False(t, x.Imported)
			require.Contains(t, x.Problem, "not resolved")
		case "other@10.%", serverUser + "@127.0.0.1":
			require.False(t, x.Imported, x.Name)
			require.NotEmpty(t, x.Problem)
		}
	}
	require.Error(t, p.db(t, "app", "of-the-app", "shop").Ping(), "from another host")
	theApp := p.db(t, "app", "of-the-near", "shop")
	require.Equal(t, "app@localhost\n", rowsOf(t, theApp, "SELECT CURRENT_USER()"))
	require.ErrorContains(t, p.db(t, "locked", "of-the-app", "shop").Ping(), "locked")
	require.Equal(t, "1\n", rowsOf(t, p.db(t, "byrole", "of-byrole", ""), "SELECT COUNT(*) > 0 FROM shop.customer"))
	plain, db := openDB(t, oracle.DSN("")), p.db(t, "admin", adminPassword, "")
	sameRows(t, plain, db)

	exec1(t, one(t, db), "CREATE USER reader IDENTIFIED BY 'of-the-reader'")
	exec1(t, one(t, db), "GRANT SELECT ON blog.titles TO reader")
	exec1(t, one(t, db), "GRANT SELECT ON shop.big TO reader")
	reader := p.db(t, "reader", "of-the-reader", "")
	require.Equal(t, rowsOf(t, plain, "SELECT title FROM blog.post ORDER BY 1"), rowsOf(t, reader, "SELECT * FROM blog.titles ORDER BY 1"))
	_, err := reader.Exec("SELECT * FROM shop.big")
	require.EqualValues(t, 1356, sqlError(t, err).Number)

	// Its stored programs, too.
	require.Equal(t, "14\n", rowsOf(t, db, "SELECT shop.twice(7)"))
	exec1(t, one(t, db), "CALL shop.richest(@top)")
	_, err = db.Exec("SELECT shop.settings()")
	require.EqualValues(t, 1235, sqlError(t, err).Number)
	scheduler := map[bool]string{false: ", event_scheduler is OFF"}[cluster.TestEngine() == datanode.MySQL] // where it is on by default
	require.Equal(t, "tidy|root@localhost|ENABLED"+scheduler+"\n", rowsOf(t, db, "SELECT event_name, definer, status FROM skarv.events"))
	require.Contains(t, onServerText(t, first, "SELECT status FROM information_schema.events"), "SIDE_DISABLED")

	// Under load over two servers.
	s := &story{}
	s.start(db, 4)
	next := func(table string) int64 {
		r, err := db.Exec("INSERT INTO shop." + table)
		require.NoError(t, err)
		id, err := r.LastInsertId()
		require.NoError(t, err)
		return id
	}
	require.EqualValues(t, 1001, next("orders (customer_id, total, created) VALUES (1, 3, '2024-01-01')"))
	_, err = plain.Exec("INSERT INTO shop.orders VALUES (1001, 1, 3, '2024-01-01')")
	require.NoError(t, err)
	_, err = db.Exec("INSERT INTO shop.customer (email) VALUES ('mail350@x')")
	require.EqualValues(t, 1062, sqlError(t, err).Number)
	_, err = db.Exec("INSERT INTO shop.item VALUES (777777, 1, 'x', 1)")
	require.EqualValues(t, 1452, sqlError(t, err).Number)
	r = p.ctlWith(t, serverPassword, "nodegroup", "add", "new="+second.Addr(), "--user", serverUser, "--password-file", "-")
	require.Zero(t, r.code, r.errs)
	p.must(t, "rebalance", "--yes", "--wait", "--rollback-window", "0s", "--timeout", "60s")
	awaitMoved(t, p)
	was := s.n.Load()
	eventually(t, patience, "the load goes on", func() bool { return s.n.Load() > was+50 })
	_, err = db.Exec("INSERT INTO shop.customer (email) VALUES ('mail350@x')")
	require.EqualValues(t, 1062, sqlError(t, err).Number)
	acknowledged := s.stop(t)
	require.Greater(t, len(acknowledged), 200)
	for _, q := range acknowledged {
		_, err := plain.Exec(q)
		require.NoError(t, err, q)
	}
	sameRows(t, plain, db)
	for _, table := range []string{"shop.customer", "shop.item", "blog.post", "shop.kinds"} {
		require.Equal(t, rowsOf(t, plain, "CHECKSUM TABLE "+table), rowsOf(t, db, "CHECKSUM TABLE "+table), table)
	}
	for _, x := range []*cluster.Server{first, second} {
		n := strings.TrimSpace(onServerText(t, x, "SELECT COUNT(*) > 300 FROM shop.orders"))
		require.Equal(t, "1", n, "orders on each server")
	}
	p.must(t, "index", "check")

	// And back.
	r = p.ctl(t, "leave", "--yes")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.out, "skarvctl nodegroup drain")
	p.must(t, "nodegroup", "drain", "new", "--yes", "--wait", "--rollback-window", "0s", "--timeout", "60s")
	awaitMoved(t, p)
	p.must(t, "nodegroup", "remove", "new")
	require.Contains(t, p.must(t, "leave", "--dry-run"), "DROP DATABASE IF EXISTS `_skarv`")
	p.must(t, "leave", "--yes", "-o", "json")
	sameRows(t, plain, openDB(t, first.DSN("")))
	_, err = db.Exec("SELECT * FROM shop.customer WHERE id = 1")
	require.ErrorContains(t, err, "there is no cluster")
	r = p.ctl(t, "leave", "--yes")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errs, "there is no cluster")
	require.Empty(t, onServerText(t, first, "SHOW DATABASES LIKE '\\_skarv'"))
	require.Equal(t, "0\n", onServerText(t, first, "SELECT COUNT(*) FROM mysql.user WHERE user LIKE 'skarv\\_w%'"))
	require.Equal(t, "ENABLED|root@localhost\n", onServerText(t, first, "SELECT status, definer FROM information_schema.events"))
	// The application writes to the server itself again.
	direct := openDB(t, fmt.Sprintf("app:of-the-app@tcp(%s)/shop", first.Addr()))
	res, err := direct.Exec("INSERT INTO orders (customer_id, total, created) VALUES (1, 1, '2024-01-01')")
	require.NoError(t, err)
	id, err := res.LastInsertId()
	require.NoError(t, err)
	require.Greater(t, id, int64(100000))
	for _, table := range []string{"shop.customer", "shop.orders", "shop.item", "blog.post", "shop.stock"} {
		require.Equal(t, createOf(t, plain, table), createOf(t, openDB(t, first.DSN("")), table))
	}
}

// awaitMoved waits until no reorganisation runs.
func awaitMoved(t testing.TB, p *proxy) {
	t.Helper()
	eventually(t, 2*patience, "the reorganisation is done", func() bool {
		var list []struct{ State, Problem string }
		require.NoError(t, json.Unmarshal([]byte(p.must(t, "reorg", "list", "-o", "json")), &list))
		require.NotEmpty(t, list)
		last := list[len(list)-1]
		require.Empty(t, last.Problem)
		return last.State == "DONE"
	})
}

// createOf is a table's definition without its counter.
func createOf(t testing.TB, db *sql.DB, table string) string {
	t.Helper()
	var out []string
	for _, w := range strings.Fields(rowsOf(t, db, "SHOW CREATE TABLE "+table)) {
		if !strings.HasPrefix(w, "AUTO_INCREMENT=") {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}
