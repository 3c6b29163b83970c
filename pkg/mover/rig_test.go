package mover_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/mover"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/sqltypes"
	"skarv/test/cluster"
)

// patience is how long anything may take on a busy machine.
const patience = 4 * time.Minute

// node is one database server of a rig.
type node struct {
	server *cluster.Server
	db     *sql.DB
	as     mover.Server
}

func (n *node) exec(t testing.TB, q string, args ...any) {
	t.Helper()
	_, err := n.db.Exec(q, args...)
	require.NoError(t, err, q)
}

func (n *node) value(t testing.TB, q string, args ...any) string {
	t.Helper()
	var v sql.NullString
	err := n.db.QueryRow(q, args...).Scan(&v)
	if !errors.Is(err, sql.ErrNoRows) {
		require.NoError(t, err, q)
	}
	return v.String
}

// rig is three servers: partitions move from the first to the others.
type rig struct {
	flavor catalog.Flavor
	nodes  []*node
	// db is the database of the test at hand, tables its tables.
	db     string
	reorg  string
	tables []*catalog.Table
}

func newRig(t *testing.T) *rig {
	r := &rig{flavor: catalog.MariaDB}
	if os.Getenv("SKARV_TEST_ENGINE") == "mysql" {
		r.flavor = catalog.MySQL
	}
	for i := range 3 {
		s := cluster.StartServer(t, cluster.Variable("innodb_lock_wait_timeout", "20"))
		user, password := s.Account()
		r.nodes = append(r.nodes, &node{
			server: s, db: s.DB(t, "mysql", "multiStatements=true", "interpolateParams=true", "time_zone='%2B00:00'"),
			as: mover.Server{Group: placement.NodeGroupID(i + 1), Name: fmt.Sprintf("ng%d", i+1), Flavor: r.flavor,
				Conn: mysqlconn.Config{Addr: s.Addr(), User: user, Password: password}},
		})
	}
	return r
}

// letGo is how long the server is given to let go of a branch whose connection was closed: MariaDB answers OK to an end that comes earlier, and does
// nothing (pkg/txn/DESIGN.md).
const letGo = time.Second

// sweep ends the branches that are left on the servers. MariaDB knows nothing of a branch to others as long as the connection that
// prepared it is there. A branch is ended as was decided, never otherwise: MariaDB may have an XA COMMIT in its log that it was killed in, and
// show the branch as prepared afterwards, so that rolling it back would leave the server without rows that its own log has.
func (r *rig) sweep(t *testing.T, committed func(binlog.XID) bool) {
	t.Helper()
	for _, n := range r.nodes {
		c, err := mysqlconn.Dial(context.Background(), n.as.Conn)
		require.NoError(t, err)
		seen := map[binlog.XID]time.Time{}
		require.Eventually(t, func() bool {
			left, err := binlog.Prepared(c)
			for _, x := range left {
				if _, known := seen[x]; !known {
					seen[x] = time.Now()
				}
				if time.Since(seen[x]) < letGo {
					continue
				}
				verb := "XA ROLLBACK "
				if committed(x) {
					verb = "XA COMMIT "
				}
				_, _ = c.Exec(verb + x.String())
			}
			return err == nil && len(left) == 0
		}, patience, 5*time.Millisecond)
		require.NoError(t, c.Close())
	}
}

// schema makes the test's tables on all servers. Each is "NAME (distribution columns) definition".
func (r *rig) schema(t *testing.T, name string, tables ...string) {
	t.Helper()
	r.sweep(t, func(binlog.XID) bool { return false })
	r.db, r.tables = name, nil
	r.reorg = "test-" + name
	for _, n := range r.nodes {
		n.exec(t, "DROP DATABASE IF EXISTS "+name+"; CREATE DATABASE "+name+" CHARACTER SET utf8mb4")
	}
	for _, spec := range tables {
		table, rest, _ := strings.Cut(spec, " (")
		name := name
		if own, ok := strings.CutPrefix(table, "_skarv."); ok {
			name, table = "_skarv", own
		}
		dist, definition, _ := strings.Cut(rest, ") ")
		for _, n := range r.nodes {
			n.exec(t, "CREATE DATABASE IF NOT EXISTS "+name+"; DROP TABLE IF EXISTS "+name+"."+table)
			n.exec(t, "SET sql_mode='ALLOW_INVALID_DATES'; SET foreign_key_checks=0; CREATE TABLE "+name+"."+table+" "+definition)
		}
		r.tables = append(r.tables, readTable(t, r.nodes[0], r.flavor, name, table, strings.Split(dist, ",")))
	}
}

// readTable is the catalog's view of a table.
func readTable(t *testing.T, n *node, flavor catalog.Flavor, db, name string, dist []string) *catalog.Table {
	t.Helper()
	table := &catalog.Table{Database: db, Name: name, Kind: catalog.Sharded, AutoIncrement: -1}
	rows, err := n.db.Query("SELECT column_name, data_type, column_type, is_nullable, IFNULL(character_maximum_length,0), IFNULL(numeric_precision,0), "+
		"IFNULL(numeric_scale,IFNULL(datetime_precision,0)), IFNULL(character_set_name,''), IFNULL(collation_name,''), extra "+
		"FROM information_schema.columns WHERE table_schema=? AND table_name=? ORDER BY ordinal_position", db, name)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var c catalog.Column
		var nullable, extra string
		require.NoError(t, rows.Scan(&c.Name, &c.DataType, &c.ColumnType, &nullable, &c.Length, &c.Precision, &c.Scale, &c.Charset, &c.Collation, &extra))
		c.Nullable = nullable == "YES"
		c.Generated = strings.Contains(extra, "GENERATED") && !strings.Contains(extra, "DEFAULT_GENERATED")
		c.Unsigned = strings.Contains(c.ColumnType, "unsigned")
		c.Type, _ = sqltypes.TypeOf(c.DataType)
		table.Columns = append(table.Columns, c)
	}
	require.NoError(t, rows.Err())
	keys, err := n.db.Query("SELECT index_name, non_unique, column_name FROM information_schema.statistics WHERE table_schema=? AND table_name=? "+
		"ORDER BY index_name, seq_in_index", db, name)
	require.NoError(t, err)
	defer keys.Close()
	unique := map[string][]int{}
	for keys.Next() {
		var index, column string
		var not int
		require.NoError(t, keys.Scan(&index, &not, &column))
		if not == 0 {
			unique[index] = append(unique[index], table.Column(column))
		}
	}
	table.Primary = unique["PRIMARY"]
	for name, columns := range unique {
		if name != "PRIMARY" {
			table.Unique = append(table.Unique, catalog.Index{Name: name, Columns: columns, Unique: true})
		}
	}
	for _, d := range dist {
		table.Distribution = append(table.Distribution, table.Column(d))
	}
	require.NoError(t, table.Prepare(flavor))
	return table
}

// move is the move of a third of the partitions to each of the targets.
func (r *rig) move() mover.Move {
	m := mover.Move{Reorg: r.reorg, Source: r.nodes[0].as, Targets: map[placement.NodeGroupID]mover.Server{2: r.nodes[1].as, 3: r.nodes[2].as},
		Partitions: map[placement.Partition]placement.NodeGroupID{}, Tables: r.tables}
	for p := range placement.Partition(placement.Partitions) {
		if p%3 != 0 {
			m.Partitions[p] = placement.NodeGroupID(p%3 + 1)
		}
	}
	return m
}

// expr is the partition of a row of t.
func expr(t *catalog.Table) string {
	var columns []string
	for _, i := range t.Distribution {
		columns = append(columns, "`"+t.Columns[i].Name+"`")
	}
	return t.Key.SQLExpr(columns)
}

// dump is the rows of a table that belong to a group (0: all) on a server, sorted.
func (r *rig) dump(t *testing.T, n *node, table *catalog.Table, group int) []string {
	t.Helper()
	where := "TRUE"
	if group > 0 {
		where = fmt.Sprintf("(%s) %% 3 = %d", expr(table), group-1)
	}
	var list []string
	for _, c := range table.Columns {
		list = append(list, fmt.Sprintf("IF(`%s` IS NULL, 'NULL', HEX(CAST(`%[1]s` AS CHAR(2000) CHARACTER SET utf8mb4)))", c.Name))
		if c.Type.IsNumber() || c.Type == sqltypes.TypeTimestamp {
			list[len(list)-1] = fmt.Sprintf("IFNULL(`%s`+0e0, 'NULL')", c.Name)
		}
		if c.Charset == "" && !c.Type.IsNumber() && !c.Type.IsTemporal() || c.DataType == "json" {
			list[len(list)-1] = fmt.Sprintf("IFNULL(SHA2(`%s`,224), 'NULL')", c.Name)
		}
	}
	rows, err := n.db.Query("SELECT CONCAT_WS('|'," + strings.Join(list, ",") + ") FROM " + table.Database + "." + table.Name + " WHERE " + where)
	require.NoError(t, err)
	defer rows.Close()
	all := []string{}
	for rows.Next() {
		var s string
		require.NoError(t, rows.Scan(&s))
		all = append(all, s)
	}
	require.NoError(t, rows.Err())
	slices.Sort(all)
	return all
}

// equal checks that the targets have what is theirs of the source, and nothing else.
func (r *rig) equal(t *testing.T) {
	t.Helper()
	for _, table := range r.tables {
		for group := 2; group <= 3; group++ {
			want, got := r.dump(t, r.nodes[0], table, group), r.dump(t, r.nodes[group-1], table, 0)
			require.Equal(t, len(want), len(got), "rows of %s on node group %d", table.Name, group)
			require.Equal(t, want, got, "%s on node group %d", table.Name, group)
		}
	}
}

// running is a Mover at work.
type running struct {
	*mover.Mover
	stop context.CancelFunc
	done chan error
}

// config of movers in tests: small chunks, so that there are many.
func config(t testing.TB) mover.Config {
	return mover.Config{ChunkRows: 100, Log: slog.New(slog.NewTextHandler(testLog{t}, nil))}
}

type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	if testing.Verbose() {
		os.Stderr.Write(p)
	}
	return len(p), nil
}

// run prepares and starts a mover, which is stopped at the test's end.
func (r *rig) run(t *testing.T, cfg mover.Config, m mover.Move) *running {
	t.Helper()
	v, err := mover.New(cfg, m)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, v.Prepare(ctx, false))
	run := &running{Mover: v, stop: cancel, done: make(chan error, 1)}
	go func() { run.done <- v.Run(ctx) }()
	t.Cleanup(run.halt)
	return run
}

func (r *running) halt() {
	r.stop()
	err := <-r.done
	r.done <- err
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// copied waits for the end of the copy.
func (r *running) copied(t *testing.T) {
	t.Helper()
	select {
	case <-r.Copied():
	case err := <-r.done:
		r.done <- err
		require.NoError(t, err)
		t.Fatal("the mover has ended")
	case <-time.After(patience):
		t.Fatalf("not copied: %+v", r.Progress())
	}
}
