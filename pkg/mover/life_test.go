package mover_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/mover"
	"skarv/pkg/placement"
)

// types: values of every type arrive as they are, whether they are copied or follow.
func types(t *testing.T, r *rig) {
	columns := "i TINYINT, iu BIGINT UNSIGNED, z INT(6) ZEROFILL, de DECIMAL(30,10), fl FLOAT, fm FLOAT(7,2), do DOUBLE, bi BIT(13), y YEAR, " +
		"da DATE, ti TIME(3), dt DATETIME(6), ts TIMESTAMP(2) NULL, c CHAR(10), c16 CHAR(5) CHARACTER SET utf16, l VARCHAR(20) CHARACTER SET latin1, " +
		"v VARCHAR(300), tx MEDIUMTEXT, bn BINARY(5), vb VARBINARY(300), bl BLOB, en ENUM('a','it''s','c'), se SET('x','y','z'), ge GEOMETRY, js JSON, " +
		"gs INT GENERATED ALWAYS AS (id + 1) STORED, gv INT GENERATED ALWAYS AS (id + 2) VIRTUAL"
	r.schema(t, "types", "t (id) (id INT PRIMARY KEY, "+columns+")",
		"k (l,y,se) (l VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci, y YEAR, se SET('x','y','z'), d DECIMAL(5,2), t DATETIME(3), b BINARY(4), n INT, "+
			"PRIMARY KEY (l, y, se, d, t, b))",
		"da (d) (d DATE PRIMARY KEY, n INT)", "dt (d) (d DATETIME PRIMARY KEY, n INT)", "dt2 (d) (d DATETIME(2) PRIMARY KEY, n INT)", "ti (d) (d TIME(6) PRIMARY KEY, n INT)")
	a := r.nodes[0]
	// Days that do not exist, and the ends of TIME.
	odd := func(n int) {
		for month := range 13 {
			day := fmt.Sprintf("%04d-%02d-", n*2020, month)
			a.exec(t, fmt.Sprintf("SET sql_mode='ALLOW_INVALID_DATES'; INSERT INTO types.da VALUES ('%[1]s00', 0), ('%[1]s01', 1), ('%[1]s31', 2); "+
				"INSERT INTO types.dt VALUES ('%[1]s00', 0), ('%[1]s31 23:59:59', 1); INSERT INTO types.dt2 VALUES ('%[1]s00', 0), ('%[1]s00 00:00:00.01', 1), ('%[1]s31', 2)", day))
		}
		a.exec(t, fmt.Sprintf("SET sql_mode=''; INSERT IGNORE INTO types.ti VALUES ('-838:59:59.99999%[1]d', 1), ('838:59:59.99999%[1]d', 2), ('-00:00:00.00000%[1]d', 3), ('00:00:0%[1]d', 4)", n))
	}
	odd(0)
	row := func(id int) string {
		js := "'{\"b\": [1, 2.5, null, 1e20, -70000], \"a\": \"å\\\\n\"}'"
		if id%3 == 0 { // on MySQL of types that its text does not tell
			js = fmt.Sprintf("JSON_OBJECT('b', JSON_ARRAY(1, %d.50, NULL, 1e20, CAST('2024-02-29' AS DATE), CAST('-01:02:03' AS TIME)), 'ö', JSON_ARRAY(CAST(7 AS UNSIGNED), 7))", id)
		}
		return fmt.Sprintf("(%d, -%d, 18446744073709551615 - %[1]d, %[1]d, -%[1]d.5 / 3, 1.1 * %[1]d, 1.25, -0e0 - %[1]d / 7e0, %[1]d, 2000 + %[1]d %% 100, "+
			"IF(%[1]d %% 2, '0000-00-00', '2024-02-29'), '-838:59:58.999', '2024-02-29 12:34:56.789012', '2024-06-01 12:00:00.25', "+
			"'a  ', 'å', 'åäö€', 'it''s \\\\ \\n \\0 \\Z å', REPEAT('å', 5000), x'6100', x'00ff27', x'0000', %[1]d %% 4, %[1]d %% 8, "+
			"ST_GeomFromText('POINT(1 2)', 4326), %[3]s)", id, id%100, js)
	}
	names := "id,i,iu,z,de,fl,fm,do,bi,y,da,ti,dt,ts,c,c16,l,v,tx,bn,vb,bl,en,se,ge,js"
	for id := range 60 {
		a.exec(t, "SET sql_mode='ALLOW_INVALID_DATES'; INSERT INTO types.t ("+names+") VALUES "+row(id))
		a.exec(t, fmt.Sprintf("INSERT INTO types.k VALUES ('å%d€', IF(%[1]d %% 5, 1999 + %[1]d, 0), %[1]d %% 8, -%[1]d.5, '2024-01-01 00:00:00.5', x'61', 1)", id))
	}
	a.exec(t, "INSERT INTO types.t (id) VALUES (1000), (1001), (1002)") // all NULL
	m := r.run(t, config(t), r.move())
	m.copied(t)
	r.equalSoon(t, m)
	for id := 60; id < 120; id++ {
		a.exec(t, "SET sql_mode='ALLOW_INVALID_DATES'; INSERT INTO types.t ("+names+") VALUES "+row(id))
	}
	a.exec(t, "UPDATE types.t SET v = CONCAT(v, '!'), ts = ts WHERE id % 2; UPDATE types.k SET n = 2; UPDATE types.k SET l = UPPER(l) WHERE y > 2010")
	odd(1)
	for _, table := range []string{"da", "dt", "dt2", "ti"} {
		a.exec(t, "UPDATE types."+table+" SET n = n + 10 WHERE n < 2; DELETE FROM types."+table+" WHERE n = 2 LIMIT 5")
	}
	a.exec(t, "UPDATE types.k SET se = se + 1 WHERE se < 7 AND y < 2005; DELETE FROM types.k WHERE y = 0")
	r.equalSoon(t, m)
	rep, err := m.Verify(within(t))
	require.NoError(t, err)
	require.True(t, rep.Equal(), "%+v", rep)
	require.Positive(t, rep.Compared)

	// What Verify finds.
	b := r.nodes[1]
	id := b.value(t, "SELECT MIN(id) FROM types.t WHERE v IS NOT NULL")
	b.exec(t, "SET sql_mode=''; UPDATE types.t SET v = 'other', tx = NULL WHERE id = "+id)
	gone := b.value(t, "SELECT MAX(id) FROM types.t")
	b.exec(t, "DELETE FROM types.t WHERE id = "+gone)
	rep, err = m.Verify(within(t))
	require.NoError(t, err)
	require.Equal(t, int64(2), rep.Differs)
	require.ElementsMatch(t, []mover.Difference{{Table: "types.t", Key: "id=" + id, Target: 2, What: "v, tx"},
		{Table: "types.t", Key: "id=" + gone, Target: 2, What: "missing"}}, rep.Differing)
}

// equalSoon checks that the targets are equal once they have everything.
func (r *rig) equalSoon(t *testing.T, m *running) {
	t.Helper()
	_, err := m.Lag(within(t))
	require.NoError(t, err)
	r.equal(t)
}

// life goes through a move, back, and through again.
func life(t *testing.T, r *rig) {
	r.schema(t, "life", loadSchema()...)
	fill(t, r)
	a, b := r.nodes[0], r.nodes[1]
	// What an earlier attempt left on a target goes.
	b.exec(t, "INSERT INTO life.t (id, n) SELECT id, -1 FROM (SELECT 1 id UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5) x WHERE CRC32(id) % 3840 % 3 = 1")
	l := startLoad(t, r, 1)
	var late atomic.Int64
	cfg := config(t)
	cfg.LateWrite = func(mover.LateWrite) { late.Add(1) }
	forward := r.run(t, cfg, r.move())
	forward.copied(t)
	require.Eventually(t, func() bool { return forward.Progress().Phase == mover.Following }, patience, 5*time.Millisecond)
	require.NoError(t, forward.Cut(within(t), 1))
	require.NoError(t, forward.Cancel(within(t), 1))
	require.Error(t, forward.Cut(within(t), 1))
	rep, err := forward.Verify(within(t))
	require.NoError(t, err)
	require.True(t, rep.Equal(), "%+v", rep)

	var back []*running
	l.end()
	for _, m := range mover.Reverse(r.move()) {
		back = append(back, r.run(t, config(t), m))
	}
	require.NoError(t, forward.Cut(within(t), 2))
	require.NoError(t, forward.Cut(within(t), 2))
	r.equal(t)
	require.NoError(t, forward.Opened(within(t), 2))
	require.Eventually(t, func() bool { return forward.Progress().Phase == mover.Watching }, patience, 5*time.Millisecond)

	// The targets own the rows now; the old owner follows.
	for group := 2; group <= 3; group++ {
		n := r.nodes[group-1]
		n.exec(t, "UPDATE life.t SET n = -7, u = CONCAT(id, 'new') WHERE id % 3 = 0; DELETE FROM life.t WHERE id % 7 = 0; DELETE FROM life.s LIMIT 5")
		n.exec(t, "XA START 'x'; UPDATE life.q SET v = 99 WHERE b = 1; XA END 'x'; XA PREPARE 'x'; XA COMMIT 'x'")
	}
	for _, m := range back {
		_, err := m.Lag(within(t))
		require.NoError(t, err)
		m.copied(t)
		rep, err := m.Verify(within(t))
		require.NoError(t, err)
		require.True(t, rep.Equal(), "%+v", rep)
	}
	r.equal(t)
	require.Zero(t, late.Load())
	require.Equal(t, "0", a.value(t, "SELECT COUNT(*) FROM _skarv.late_write WHERE reorg='test-life'"))

	// A write that comes too late is noticed.
	id := a.value(t, "SELECT MIN(id) FROM life.t WHERE CRC32(id) % 3840 % 3 = 1")
	a.exec(t, "UPDATE life.t SET n = 12345 WHERE id = "+id)
	require.Eventually(t, func() bool { return late.Load() == 1 }, patience, 5*time.Millisecond)
	require.Eventually(t, func() bool {
		return a.value(t, "SELECT row_key FROM _skarv.late_write WHERE reorg='test-life'") == "id="+id
	}, patience, 5*time.Millisecond)
	require.Equal(t, int64(1), forward.Progress().LateWrites)
	a.exec(t, "UPDATE life.t SET n = "+b.value(t, "SELECT n FROM life.t WHERE id = "+id)+" WHERE id = "+id)

	// Back again: the same cut, the other way round.
	for _, m := range back {
		require.NoError(t, m.Cut(within(t), 3))
	}
	r.equal(t)
	for _, m := range back {
		require.NoError(t, m.Opened(within(t), 3))
		m.halt()
	}
	forward.halt()
	for group := placement.NodeGroupID(2); group <= 3; group++ {
		require.NoError(t, forward.Clean(within(t), group))
		for _, table := range r.tables {
			require.Empty(t, r.dump(t, r.nodes[group-1], table, int(group)), table.Name)
		}
	}
	require.NoError(t, forward.Forget(within(t)))

	// And for good: what is moved is deleted on the old owner, the rest stays.
	r.reorg = "test-life2"
	again := r.run(t, config(t), r.move())
	again.copied(t)
	require.NoError(t, again.Cut(within(t), 4))
	require.NoError(t, again.Opened(within(t), 4))
	stay := r.dump(t, a, r.tables[0], 1)
	require.NoError(t, again.Clean(within(t), 1))
	require.Equal(t, stay, r.dump(t, a, r.tables[0], 0))
	require.NotEmpty(t, stay)
	require.Zero(t, again.Progress().LateWrites)
}

// cutAndRestarted has the source die while a cut is held.
func cutAndRestarted(t *testing.T, r *rig) {
	r.schema(t, "cutoff", loadSchema()...)
	fill(t, r)
	m := r.run(t, config(t), r.move())
	m.copied(t)
	require.NoError(t, m.Cut(within(t), 1))
	require.Equal(t, mover.Cutting, m.Progress().Phase)
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(m.Progress().Waits, func(w mover.Wait) bool { return strings.Contains(w.What, "the cutover of epoch 1") })
	}, patience, 10*time.Millisecond)
	a := r.nodes[0]
	require.NoError(t, a.server.Kill(t.Context()))
	cancelled := make(chan error, 1)
	go func() { cancelled <- m.Cancel(within(t), 1) }()
	require.NoError(t, a.server.Start(t.Context()))
	require.NoError(t, <-cancelled)
	require.Eventually(t, func() bool { return m.Progress().Phase == mover.Following }, patience, 10*time.Millisecond)
	a.exec(t, "UPDATE cutoff.t SET n = n + 1")
	require.Eventually(t, func() bool { // the attempt that the crash ends may be under way still
		_, err := m.Lag(within(t))
		return err == nil
	}, patience, 10*time.Millisecond)
	r.equal(t)
	require.NoError(t, m.Cut(within(t), 2))
	r.equal(t)
}

// compared: a comparison goes on where one before it was interrupted, and what that one has found is found again.
func compared(t *testing.T, r *rig) {
	r.schema(t, "compared", "t (id) (id INT PRIMARY KEY, v INT)")
	a, b := r.nodes[0], r.nodes[1]
	for i := range 20 {
		q := "INSERT INTO compared.t VALUES "
		for j := range 100 {
			q += fmt.Sprintf("(%d,%d),", i*100+j, j)
		}
		a.exec(t, q[:len(q)-1])
	}
	m := r.run(t, config(t), r.move())
	m.copied(t)
	first, err := m.Verify(within(t))
	require.NoError(t, err)
	require.True(t, first.Equal(), "%+v", first)
	m.halt()
	where := " WHERE reorg='test-compared' AND tbl='compared compared.t'"
	require.Equal(t, "1", b.value(t, "SELECT done FROM _skarv.reorg_copy"+where))

	half := hex.EncodeToString([]byte("1000"))
	b.exec(t, "UPDATE _skarv.reorg_copy SET done=0, last='k"+half+"'"+where) // as if it had been interrupted there
	next := r.run(t, config(t), r.move())
	next.copied(t)
	rest, err := next.Verify(within(t))
	require.NoError(t, err)
	require.True(t, rest.Equal(), "%+v", rest)
	require.Less(t, rest.Compared, first.Compared*2/3)
	require.Positive(t, rest.Compared)

	b.exec(t, "DELETE FROM compared.t ORDER BY id LIMIT 1")
	b.exec(t, "DELETE FROM compared.t ORDER BY id DESC LIMIT 1")
	for range 2 {
		all, err := next.Verify(within(t))
		require.NoError(t, err)
		require.Equal(t, int64(2), all.Differs)
	}
	require.Equal(t, "0", b.value(t, "SELECT COUNT(*) FROM _skarv.reorg_copy"+where))
}

// restarted has servers restart, logs change and connections break during a move under load.
func restarted(t *testing.T, r *rig) {
	r.schema(t, "restarted", loadSchema()...)
	fill(t, r)
	l := startLoad(t, r, 2)
	cfg := config(t)
	cfg.ChunkRows = 50
	var slow atomic.Bool
	slow.Store(true)
	var chunks atomic.Int64
	cfg.Throttle = func() string {
		if slow.Load() && chunks.Load() > 4 {
			return "the test says so"
		}
		return ""
	}
	cfg.Hit = func(point string) {
		if point == "copy.high" {
			chunks.Add(1)
		}
	}
	m := r.run(t, cfg, r.move())
	require.Eventually(t, func() bool { return m.Progress().Throttled != "" }, patience, time.Millisecond)
	a := r.nodes[0]
	a.exec(t, "FLUSH BINARY LOGS")
	before := l.done.Load()
	restart := func(n *node) {
		require.NoError(t, n.server.Kill(t.Context()))
		require.NoError(t, n.server.Start(t.Context()))
	}
	restart(a)
	chunks.Store(0)
	require.Eventually(t, func() bool { return l.done.Load() > before+20 }, patience, time.Millisecond)
	restart(r.nodes[1])
	chunks.Store(0)
	require.Eventually(t, func() bool { return l.done.Load() > before+50 }, patience, time.Millisecond)
	slow.Store(false)
	m.copied(t)
	// Only when no branch of a client that lost its connection stands in the way.
	l.end()
	a.exec(t, "FLUSH BINARY LOGS")
	restart(a)
	rep, err := m.Verify(within(t))
	require.NoError(t, err)
	require.True(t, rep.Equal(), "%+v", rep)
	require.NoError(t, m.Cut(within(t), 1))
	r.equal(t)
}

// large copies rows of which one fills a chunk.
func large(t *testing.T, r *rig) {
	r.schema(t, "large", "t (id) (id INT PRIMARY KEY, v LONGBLOB)")
	a := r.nodes[0]
	for id := range 12 {
		a.exec(t, fmt.Sprintf("INSERT INTO large.t VALUES (%d, REPEAT(x'00ff27', 1000000))", id))
	}
	cfg := config(t)
	cfg.ChunkBytes = 4 << 20
	m := r.run(t, cfg, r.move())
	m.copied(t)
	a.exec(t, "UPDATE large.t SET v = CONCAT(v, 'x') WHERE id < 4")
	r.equalSoon(t, m)
	rep, err := m.Verify(within(t))
	require.NoError(t, err)
	require.True(t, rep.Equal(), "%+v", rep)
}

// inTheWay: a row has gone, and another one has its unique value, which the target has before the log tells of the first one.
func inTheWay(t *testing.T, r *rig) {
	r.schema(t, "way", "t (id) (id INT PRIMARY KEY, u INT UNIQUE)")
	a, b := r.nodes[0], r.nodes[1]
	of := func(rest int) string {
		return a.value(t, fmt.Sprintf("SELECT n FROM (SELECT 1 n UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 11 UNION SELECT 12 UNION SELECT 13) x "+
			"WHERE CRC32(n) %% 3840 %% 3 = %d LIMIT 1", rest))
	}
	m := r.run(t, config(t), r.move())
	m.copied(t)
	r.equalSoon(t, m)
	b.exec(t, "INSERT INTO way.t VALUES ("+of(0)+", 77)") // as a client has given it to a row that does not move
	a.exec(t, "INSERT INTO way.t VALUES ("+of(1)+", 77)")
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(m.Progress().Waits, func(w mover.Wait) bool { return strings.Contains(w.What, "in the way") })
	}, patience, 5*time.Millisecond)
	a.exec(t, "DELETE FROM way.t")
	_, err := m.Lag(within(t))
	require.NoError(t, err)
	require.Equal(t, of(0), b.value(t, "SELECT GROUP_CONCAT(id) FROM way.t"))
}

// ends are what a mover gives up at.
func ends(t *testing.T, r *rig) {
	fails := func(m *running, want error, says ...string) {
		t.Helper()
		select {
		case err := <-m.done:
			m.done <- err
			require.ErrorIs(t, err, want)
			for _, s := range says {
				require.ErrorContains(t, err, s)
			}
			_, err = m.Lag(within(t))
			require.Error(t, err)
		case <-time.After(patience):
			t.Fatalf("it goes on: %+v", m.Progress())
		}
	}
	r.schema(t, "ends", "t (id) (id INT PRIMARY KEY, u INT UNIQUE, v VARCHAR(10))")
	a, b := r.nodes[0], r.nodes[1]
	target := a.value(t, "SELECT n FROM (SELECT 1 n UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6) x WHERE CRC32(n) % 3840 % 3 = 1 LIMIT 1")
	resident := a.value(t, "SELECT n FROM (SELECT 11 n UNION SELECT 12 UNION SELECT 13 UNION SELECT 14 UNION SELECT 15 UNION SELECT 16) x WHERE CRC32(n) % 3840 % 3 = 0 LIMIT 1")
	a.exec(t, "INSERT INTO ends.t VALUES ("+target+", 77, 'moved')")
	b.exec(t, "INSERT INTO ends.t VALUES ("+resident+", 77, 'own')")
	fails(r.run(t, config(t), r.move()), mover.ErrCollision, "ends.t", "id="+target, "ng2")
	require.Equal(t, "own", b.value(t, "SELECT v FROM ends.t WHERE u = 77"))
	b.exec(t, "DELETE FROM ends.t")

	r.reorg = "ends-two"
	one := r.run(t, config(t), r.move())
	one.copied(t)
	two := r.run(t, config(t), r.move())
	a.exec(t, "UPDATE ends.t SET v = 'x'")
	fails(one, mover.ErrSuperseded)
	two.copied(t)
	r.equalSoon(t, two)
	a.exec(t, "CREATE TABLE ends.other LIKE ends.t; ALTER TABLE ends.other ADD t INT; DROP TABLE ends.other")
	a.exec(t, "CREATE VIEW ends.shown AS SELECT v FROM ends.t; ALTER VIEW ends.shown AS SELECT id FROM ends.t; DROP VIEW ends.shown")
	r.equalSoon(t, two)
	a.exec(t, "ALTER TABLE ends.t ADD w INT")
	fails(two, mover.ErrSchema, "ends.t")
	a.exec(t, "ALTER TABLE ends.t DROP w")

	r.reorg = "ends-purged"
	three := r.run(t, config(t), r.move())
	three.copied(t)
	three.halt()
	a.exec(t, "INSERT INTO ends.t VALUES (1000, 1000, 'x')")
	if r.flavor == catalog.MySQL {
		a.exec(t, "RESET BINARY LOGS AND GTIDS")
	} else {
		a.exec(t, "RESET MASTER")
	}
	fails(r.run(t, config(t), r.move()), mover.ErrRecopy)
	four, err := mover.New(config(t), r.move())
	require.NoError(t, err)
	require.NoError(t, four.Prepare(within(t), true))
	again := r.run(t, config(t), r.move())
	again.copied(t)
	r.equalSoon(t, again)
}

// packets: a row that a target cannot take as one statement ends the move, with a word of what to do.
func packets(t *testing.T, r *rig) {
	r.schema(t, "packets", "t (id) (id INT PRIMARY KEY, v LONGBLOB)")
	for id := range 6 {
		r.nodes[0].exec(t, fmt.Sprintf("INSERT INTO packets.t VALUES (%d, REPEAT(x'27', 1500000))", id)) // twice as long with its quotes
	}
	for _, n := range r.nodes[1:] {
		n.exec(t, "SET GLOBAL max_allowed_packet = 2097152")
		defer n.exec(t, "SET GLOBAL max_allowed_packet = 67108864")
	}
	m := r.run(t, config(t), r.move())
	select {
	case err := <-m.done:
		m.done <- err
		require.ErrorIs(t, err, mover.ErrPacket)
		require.ErrorContains(t, err, "max_allowed_packet")
	case <-time.After(patience):
		t.Fatalf("it goes on: %+v", m.Progress())
	}
}

// refused is what Check finds.
func refused(t *testing.T, r *rig) {
	r.schema(t, "refused", "t (id) (id INT PRIMARY KEY, v INT)", "p (id) (id INT PRIMARY KEY)",
		"c (id) (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES p (id) ON DELETE CASCADE)", "f (id) (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES p (id))")
	check := func() string {
		m, err := mover.New(config(t), r.move())
		require.NoError(t, err)
		problems, err := m.Check(within(t))
		require.NoError(t, err)
		var all []string
		for _, p := range problems {
			require.NotEmpty(t, p.Fix, p.String())
			all = append(all, p.String())
		}
		return strings.Join(all, "\n")
	}
	cascade := check()
	if os.Getenv("SKARV_TEST_ENGINE") != "mysql" {
		require.Contains(t, cascade, "table refused.c: what its foreign key")
		require.NotContains(t, cascade, "refused.f")
	}
	r.tables = r.tables[:2]
	require.Empty(t, check())
	a, b := r.nodes[0], r.nodes[1]
	b.exec(t, "CREATE TRIGGER refused.tr BEFORE INSERT ON refused.t FOR EACH ROW SET NEW.v = 1")
	b.exec(t, "ALTER TABLE refused.p ADD x INT")
	r.nodes[2].exec(t, "DROP TABLE refused.t")
	a.exec(t, "SET GLOBAL binlog_row_image = MINIMAL")
	list := check()
	a.exec(t, "SET GLOBAL binlog_row_image = FULL")
	require.Contains(t, list, "table refused.t: its trigger tr would fire")
	require.Contains(t, list, "table refused.p: it is not the same as on the source")
	require.Contains(t, list, "table refused.t: it does not exist")
	require.Contains(t, list, "binlog_row_image is 'MINIMAL'; set binlog_row_image to 'FULL'")

	r.nodes[2].exec(t, "CREATE TABLE refused.t (id INT PRIMARY KEY, v INT)")
	b.exec(t, "DROP TRIGGER refused.tr; ALTER TABLE refused.p DROP x")
	require.Empty(t, check())

	table := r.tables[0]
	without := *table
	without.Primary, without.Unique = nil, nil
	generated := *table
	generated.Columns = append([]catalog.Column(nil), table.Columns...)
	generated.Columns[0].Generated = true
	strange := *table
	strange.Columns = append(append([]catalog.Column(nil), table.Columns...), catalog.Column{Name: "x", DataType: "uuid"})
	for says, bad := range map[string]*catalog.Table{"no primary key": &without, "generated column 'id'": &generated, "type uuid": &strange} {
		m := r.move()
		m.Tables = []*catalog.Table{bad}
		_, err := mover.New(config(t), m)
		require.ErrorContains(t, err, says)
	}
	m := r.move()
	m.Partitions[0] = 9
	_, err := mover.New(config(t), m)
	require.ErrorContains(t, err, "no target")
	v, err := mover.New(config(t), r.move())
	require.NoError(t, err)
	_, err = v.Verify(within(t))
	require.Error(t, err)
	short, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, v.Prepare(short, false))
	require.ErrorIs(t, v.Cut(short, 1), mover.ErrNotRunning)
}
