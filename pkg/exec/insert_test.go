package exec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// insertPlan is the plan of INSERT INTO t (id, v) VALUES ...
func (w *world) insertPlan() *plan.InsertRows {
	return &plan.InsertRows{
		Table: w.t, Key: []plan.InsertValue{{Column: 0}}, AutoIncrement: -1, Columns: 2,
		Before: plan.Text{{SQL: "INSERT INTO t (id, v) VALUES ", Arg: plan.NoArg}},
	}
}

// autoPlan is the same with id AUTO_INCREMENT.
func (w *world) autoPlan() *plan.InsertRows {
	node := w.insertPlan()
	node.Sequence, node.AutoIncrement = true, 0
	node.Key[0].Sequence = true
	return node
}

// inserted answers as a server does: one row without a text, several with one.
func inserted(g placement.NodeGroupID, sql string) answer {
	n := uint64(strings.Count(sql[strings.Index(strings.ToUpper(sql), "VALUES"):], "("))
	a := answer{ok: wire.OK{AffectedRows: n}}
	if n > 1 {
		a.ok.Info = fmt.Appendf(nil, "Records: %d  Duplicates: 0  Warnings: 0", n)
	}
	return a
}

// bySplit is what the groups must have got: rows[i] belongs to ids[i].
func (w *world) bySplit(before string, ids, rows []string, after string) string {
	parts := map[placement.NodeGroupID][]string{}
	for i := range ids {
		g := w.owner(ids[i])
		parts[g] = append(parts[g], rows[i])
	}
	var out []string
	for g := placement.NodeGroupID(1); g <= 3; g++ {
		if parts[g] != nil {
			out = append(out, fmt.Sprintf("%d: %s%s%s", g, before, strings.Join(parts[g], ", "), after))
		}
	}
	return strings.Join(out, "\n")
}

func TestInsertIsSplit(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = inserted
	node := w.insertPlan()
	node.After = plan.Text{{SQL: " ON DUPLICATE KEY UPDATE v = ", Arg: 2}}
	sum, err := w.run(&plan.Plan{Kind: plan.Insert, Root: node},
		"INSERT INTO t (id, v) VALUES (1, 'a,b)'), (2, 'b') , ('3', \"c\"), (4,'x'),(5,'y') ON DUPLICATE KEY UPDATE v = 'new'")
	require.NoError(t, err)
	require.Equal(t, w.bySplit("INSERT INTO t (id, v) VALUES ", []string{"1", "2", "3", "4", "5"},
		[]string{"(1, 'a,b)')", "(2, 'b')", "('3', \"c\")", "(4,'x')", "(5,'y')"}, " ON DUPLICATE KEY UPDATE v = 'new'"), w.sent())
	require.Equal(t, uint64(5), sum.AffectedRows)
	require.Equal(t, "Records: 5  Duplicates: 0  Warnings: 0", string(sum.Info))
	require.Equal(t, "begin [2 3]", w.log[0])
	require.Equal(t, "end: <nil>", w.log[len(w.log)-1])
}

// Rows of one group go there as the client wrote them, without a transaction around.
func TestInsertIntoOneGroup(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = inserted
	sql := "insert /*x*/ into t values(1,'a') , (1, 'b')"
	_, err := w.run(&plan.Plan{Kind: plan.Insert, Root: w.insertPlan()}, sql)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%d: %s", w.owner("1"), sql), w.sent())
	require.Len(t, w.log, 2)
}

func TestInsertErrors(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = inserted
	run := func(node *plan.InsertRows, sql string) error {
		_, err := w.run(&plan.Plan{Kind: plan.Insert, Root: node}, sql)
		require.Empty(t, w.sent())
		return err
	}
	err := run(w.insertPlan(), "INSERT INTO t (id, v) VALUES (1, 2), (3)")
	require.True(t, sqlerr.HasCode(err, sqlerr.ColumnCountMismatch), "%v", err)
	require.ErrorContains(t, err, "row 2")

	err = run(w.insertPlan(), "INSERT INTO t (id, v) VALUES (1, 2), (NULL, 3)")
	require.True(t, sqlerr.HasCode(err, sqlerr.NullNotAllowed), "%v", err)

	err = run(w.insertPlan(), "INSERT INTO t (id, v) VALUES (DEFAULT, 2)")
	require.True(t, sqlerr.HasCode(err, sqlerr.NoDefaultForField), "%v", err)

	node := w.insertPlan()
	node.Key[0].NoDefault = true
	err = run(node, "INSERT INTO t (id, v) VALUES (DEFAULT, 2)")
	require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), "%v", err)

	err = run(w.insertPlan(), "INSERT INTO t (id, v) VALUES ('seven', 2)")
	require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), "%v", err)

	node = w.insertPlan()
	node.Several = sqlerr.Unsupported("several", "")
	err = run(node, "INSERT INTO t (id, v) VALUES (1, 2), (2, 2), (3, 2), (4, 3)")
	require.Equal(t, error(node.Several), err)

	err = run(w.autoPlan(), "INSERT INTO t (id, v) VALUES ('x', 2)")
	require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), "%v", err)
}

// A failure of one group undoes the rows of the others.
func TestInsertFailsInOneGroup(t *testing.T) {
	w := newWorld(t)
	bad := w.owner("1")
	w.cluster.answer = func(g placement.NodeGroupID, sql string) answer {
		if g == bad {
			return answer{err: sqlerr.DuplicateEntry.New("1", "PRIMARY")}
		}
		return inserted(g, sql)
	}
	_, err := w.run(&plan.Plan{Kind: plan.Insert, Root: w.insertPlan()}, "INSERT INTO t (id, v) VALUES (1, 2), (2, 3), (3, 4)")
	require.True(t, sqlerr.HasCode(err, sqlerr.DuplicateEntry))
	require.Equal(t, "end: "+err.Error(), w.log[len(w.log)-1])
}

// Errors name the row of the client's statement.
func TestRowNumberOfErrors(t *testing.T) {
	w := newWorld(t)
	bad := w.owner("4")
	w.cluster.answer = func(g placement.NodeGroupID, sql string) answer {
		if g == bad {
			return answer{err: &sqlerr.Error{Code: 1406, State: "22001", Message: "Data too long for column 'v' at row 2"}}
		}
		return inserted(g, sql)
	}
	ids, rows, nth := []string{"1", "2", "3", "4", "5", "6", "7", "8"}, []string{}, 0
	var want int
	for i, id := range ids {
		rows = append(rows, "("+id+", 'x')")
		if w.owner(id) == bad {
			if nth++; nth == 2 {
				want = i + 1
			}
		}
	}
	require.NotZero(t, want)
	_, err := w.run(&plan.Plan{Kind: plan.Insert, Root: w.insertPlan()}, "INSERT INTO t (id, v) VALUES "+strings.Join(rows, ","))
	require.EqualError(t, err, fmt.Sprintf("ERROR 1406 (22001): Data too long for column 'v' at row %d", want))
}

func TestAutoIncrement(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = inserted
	sum, err := w.run(&plan.Plan{Kind: plan.Insert, Root: w.autoPlan()},
		"INSERT INTO t (id, v) VALUES (NULL, 'a'), (0, 'b'), (DEFAULT, 'c'), (2000, 'd'), ('0', 'e'), (-5, 'f')")
	require.NoError(t, err)
	ids := []string{"101", "102", "103", "2000", "2001", "-5"}
	require.Equal(t, w.bySplit("INSERT INTO t (id, v) VALUES ", ids,
		[]string{"(101, 'a')", "(102, 'b')", "(103, 'c')", "(2000, 'd')", "(2001, 'e')", "(-5, 'f')"}, ""), w.sent())
	require.Equal(t, uint64(101), sum.LastInsertID)
	require.True(t, sum.Generated)
	require.Equal(t, []uint64{2000}, w.seq.observed)
	require.Equal(t, []int{6, 2}, w.seq.asked)

	// NO_AUTO_VALUE_ON_ZERO
	node := w.autoPlan()
	node.ZeroIsValue = true
	sum, err = w.run(&plan.Plan{Kind: plan.Insert, Root: node}, "INSERT INTO t (id, v) VALUES (0, 'b')")
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%d: INSERT INTO t (id, v) VALUES (0, 'b')", w.owner("0")), w.sent())
	require.False(t, sum.Generated)
}

func TestAutoIncrementIsAdded(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = inserted
	node := w.autoPlan()
	node.AutoIncrement, node.Columns, node.Key[0].Column = -1, 1, -1
	node.Before = plan.Text{{SQL: "INSERT INTO t (v, `id`) VALUES ", Arg: plan.NoArg}}
	sum, err := w.run(&plan.Plan{Kind: plan.Insert, Root: node}, "INSERT INTO t (v) VALUES ('a'), (NOW()), ('c')")
	require.NoError(t, err)
	require.Equal(t, w.bySplit("INSERT INTO t (v, `id`) VALUES ", []string{"101", "102", "103"},
		[]string{"('a', 101)", "(NOW(), 102)", "('c', 103)"}, ""), w.sent())
	require.Equal(t, uint64(101), sum.LastInsertID)

	// The hidden key stays hidden.
	node.HiddenKey, node.Columns = true, 0
	w.cluster.answer = func(g placement.NodeGroupID, sql string) answer {
		return answer{ok: wire.OK{AffectedRows: 1, LastInsertID: 104}}
	}
	sum, err = w.run(&plan.Plan{Kind: plan.Insert, Root: node}, "INSERT INTO t () VALUES ()")
	require.NoError(t, err)
	require.Contains(t, w.sent(), "VALUES (104)")
	require.Zero(t, sum.LastInsertID)
	require.False(t, sum.Generated)
}

// Of a single row its group knows what became of it.
func TestLastInsertIDOfOneRow(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		said      wire.OK
		uses      plan.Uses
		id        uint64
		generated bool
	}{
		{wire.OK{AffectedRows: 1, LastInsertID: 101}, 0, 101, true},
		{wire.OK{AffectedRows: 0, LastInsertID: 0}, 0, 0, false},                        // IGNORE
		{wire.OK{AffectedRows: 2, LastInsertID: 7}, 0, 7, false},                        // updated another row
		{wire.OK{AffectedRows: 2, LastInsertID: 7}, plan.SetsLastInsertID, 7, true},     // id = LAST_INSERT_ID(id)
		{wire.OK{AffectedRows: 1, LastInsertID: 101}, plan.SetsLastInsertID, 101, true}, // the same, new row
	} {
		w.seq.next = 101
		w.cluster.answer = func(placement.NodeGroupID, string) answer { return answer{ok: c.said} }
		node := w.autoPlan()
		node.Update = c.said.AffectedRows == 2 || c.uses != 0
		sum, err := w.run(&plan.Plan{Kind: plan.Insert, Root: node, Uses: c.uses}, "INSERT INTO t (id, v) VALUES (NULL, 1)")
		require.NoError(t, err)
		require.Equal(t, c.id, sum.LastInsertID, "%+v", c)
		require.Equal(t, c.generated, sum.Generated, "%+v", c)
	}
}

// Expressions are computed by a server once, and their value is what is hashed and written.
func TestExpressionsAreEvaluated(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = inserted
	w.evaluate = func(sql string) ([]sqltypes.Column, [][]byte, error) {
		return []sqltypes.Column{idColumn, strColumn, idColumn}, [][]byte{[]byte("11"), []byte("12"), nil}, nil
	}
	_, err := w.run(&plan.Plan{Kind: plan.Insert, Root: w.autoPlan()},
		"INSERT INTO t (id, v) VALUES (5+6, 1), (10, UUID()), (CONCAT('1', '2'), 2), (@x, 3)")
	require.NoError(t, err)
	require.Equal(t, "evaluate SELECT (5+6), (CONCAT('1', '2')), (@x) LIMIT 1", w.log[0])
	require.Equal(t, w.bySplit("INSERT INTO t (id, v) VALUES ", []string{"11", "10", "12", "101"},
		[]string{"(11, 1)", "(10, UUID())", "('12', 2)", "(101, 3)"}, ""), w.sent())

	w.evaluate = func(string) ([]sqltypes.Column, [][]byte, error) {
		return nil, nil, sqlerr.UnknownColumn.New("v", "SELECT")
	}
	_, err = w.run(&plan.Plan{Kind: plan.Insert, Root: w.insertPlan()}, "INSERT INTO t (id, v) VALUES (v+1, 1)")
	require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), "%v", err)
}

func TestInsertSet(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = inserted
	node := w.autoPlan()
	node.Row = []plan.Text{{{Arg: 0}}, {{SQL: "CONCAT(", Arg: 1}, {SQL: ")", Arg: plan.NoArg}}}
	_, err := w.run(&plan.Plan{Kind: plan.Insert, Root: node}, "INSERT INTO t SET id = 7, v = CONCAT('x')")
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%d: INSERT INTO t (id, v) VALUES (7, CONCAT('x'))", w.owner("7")), w.sent())
	require.Equal(t, []uint64{7}, w.seq.observed)

	node.Row[0] = plan.Text{{SQL: "DEFAULT", Arg: plan.NoArg}}
	node.Row[1][0].Arg = 0 // DEFAULT is no argument here
	_, err = w.run(&plan.Plan{Kind: plan.Insert, Root: node}, "INSERT INTO t SET id = DEFAULT, v = CONCAT('x')")
	require.NoError(t, err)
	require.Contains(t, w.sent(), "VALUES (101, CONCAT(")
}

func TestInsertIntoReferenceAndSingleTable(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = inserted
	node := w.insertPlan()
	node.Key, node.Same = nil, true
	sum, err := w.run(&plan.Plan{Kind: plan.Insert, Root: node}, "INSERT INTO r (id, v) VALUES (1, 2), (3, 4)")
	require.NoError(t, err)
	require.Equal(t, uint64(2), sum.AffectedRows)
	require.Equal(t, "Records: 2  Duplicates: 0  Warnings: 0", string(sum.Info))
	require.Equal(t, 4, strings.Count(w.sent(), "INTO t (id, v) VALUES (1, 2), (3, 4)"))

	node.Same, node.Table = false, &catalog.Table{Name: "s", Kind: catalog.Single, Group: 2}
	_, err = w.run(&plan.Plan{Kind: plan.Insert, Root: node}, "INSERT INTO s (id, v) VALUES (1, 2), (3, 4)")
	require.NoError(t, err)
	require.Equal(t, "2: INSERT INTO s (id, v) VALUES (1, 2), (3, 4)", w.sent())
}

func TestRecordsOfReplaceAndIgnore(t *testing.T) {
	w := newWorld(t)
	two := []string{"1", "2"}
	for i := 3; w.owner(two[1]) == w.owner("1"); i++ {
		two[1] = fmt.Sprint(i)
	}
	sql := fmt.Sprintf("VALUES (1, 0), (%s, 0)", two[1])
	for _, c := range []struct {
		kind     plan.Kind
		before   string
		affected uint64 // by each group
		want     string
	}{
		{plan.Insert, "INSERT", 1, "Records: 2  Duplicates: 0  Warnings: 0"},
		{plan.Insert, "INSERT IGNORE", 0, "Records: 2  Duplicates: 2  Warnings: 0"},
		{plan.Replace, "REPLACE", 2, "Records: 2  Duplicates: 2  Warnings: 0"},
	} {
		node := w.insertPlan()
		node.Before, node.Ignore = plan.Text{{SQL: c.before + " INTO t VALUES ", Arg: plan.NoArg}}, c.before == "INSERT IGNORE"
		w.cluster.answer = func(placement.NodeGroupID, string) answer { return answer{ok: wire.OK{AffectedRows: c.affected}} }
		sum, err := w.run(&plan.Plan{Kind: c.kind, Root: node}, c.before+" INTO t "+sql)
		require.NoError(t, err)
		require.Equal(t, c.want, string(sum.Info))
		require.Equal(t, 2*c.affected, sum.AffectedRows)
	}
}

func BenchmarkInsert1000Rows(b *testing.B) {
	w := newWorld(&testing.T{})
	var sql strings.Builder
	sql.WriteString("INSERT INTO t (id, v) VALUES ")
	for i := range 1000 {
		if i > 0 {
			sql.WriteString(",")
		}
		fmt.Fprintf(&sql, "(NULL,'%0100d')", i)
	}
	a := w.scan(sql.String())
	node := w.autoPlan()
	in := &insertion{}
	b.ReportAllocs()
	b.SetBytes(int64(sql.Len()))
	for b.Loop() {
		in.reset(node, w.snap, a)
		w.seq.asked = w.seq.asked[:0]
		if err := w.runner.place(in); err != nil {
			b.Fatal(err)
		}
		if err := w.runner.targets(in); err != nil {
			b.Fatal(err)
		}
		for _, g := range w.runner.groups {
			w.runner.body = in.appendStatement(w.runner.body[:0], g)
		}
	}
}

// upsert is the plan of INSERT INTO t (id, v) VALUES ... ON DUPLICATE KEY UPDATE v = 'x', row by row.
func (w *world) upsert(kind plan.Kind) *plan.Plan {
	w.t.Primary = []int{0}
	node := w.insertPlan()
	node.Indexed = &plan.Indexed{
		Keys:   []plan.UniqueKey{{Name: "PRIMARY", Columns: []int{0}, Values: []plan.InsertValue{{Column: 0}}, Types: w.t.Key}},
		Insert: node.Before,
	}
	node.Update = kind == plan.Insert
	node.After = plan.Text{{SQL: " ON DUPLICATE KEY UPDATE v = 'x'", Arg: plan.NoArg}}
	return &plan.Plan{Kind: kind, Root: node}
}

// taken is a server's answer to a row whose primary key is there.
var taken = answer{err: &sqlerr.Error{Code: sqlerr.DuplicateEntry, State: "23000", Message: "Duplicate entry '1' for key 'PRIMARY'"}}

// A row whose duplicate is there whenever the row is inserted, and gone whenever it is looked for, is given up in the end: with an
// error after which clients try the statement again.
func TestRestlessDuplicate(t *testing.T) {
	for _, kind := range []plan.Kind{plan.Insert, plan.Replace} {
		w := newWorld(t)
		inserts := 0
		w.cluster.answer = func(_ placement.NodeGroupID, sql string) answer {
			switch {
			case strings.HasPrefix(sql, "INSERT"):
				inserts++
				return taken
			case strings.HasPrefix(sql, "SELECT"):
				return answer{columns: idAndString}
			}
			return answer{}
		}
		p := w.upsert(kind)
		_, err := w.run(p, "INSERT INTO t (id, v) VALUES (1, 'a') ON DUPLICATE KEY UPDATE v = 'x'")
		require.True(t, sqlerr.HasCode(err, sqlerr.LockWaitTimeout), "%v", err)
		if kind == plan.Insert {
			require.Equal(t, maxRowAttempts, inserts)
		} else {
			require.Equal(t, 2*maxRowAttempts, inserts, "with and without REPLACE")
		}
		require.Contains(t, w.log[len(w.log)-1], "end: ")
	}
}

// ON DUPLICATE KEY UPDATE that has changed another row than the one that was locked is undone, and the duplicate looked for again.
func TestUpdateOfAnotherDuplicate(t *testing.T) {
	w := newWorld(t)
	var reads, updates int
	w.cluster.answer = func(_ placement.NodeGroupID, sql string) answer {
		switch {
		case strings.HasSuffix(sql, "v = 'x'"):
			updates++
			return answer{ok: wire.OK{AffectedRows: 2}}
		case strings.HasPrefix(sql, "INSERT"):
			return answer{err: &sqlerr.Error{Code: sqlerr.DuplicateEntry, State: "23000", Message: "Duplicate entry '1' for key 'other'"}}
		case strings.HasPrefix(sql, "SELECT `id`, `v` "): // all of the row
			if reads++; reads < 4 {
				return answer{columns: idAndString, rows: []string{"1|a"}}
			}
			return answer{columns: idAndString, rows: []string{"1|x"}}
		case strings.HasPrefix(sql, "SELECT"): // its key, and what indexes need
			return answer{columns: []sqltypes.Column{idColumn, idColumn}, rows: []string{"1|1"}}
		}
		return answer{}
	}
	p := w.upsert(plan.Insert)
	n := p.Root.(*plan.InsertRows).Indexed
	n.Keys = append(n.Keys, n.Keys[0])
	n.Keys[1].Name = "other"
	sum, err := w.run(p, "INSERT INTO t (id, v) VALUES (1, 'a') ON DUPLICATE KEY UPDATE v = 'x'")
	require.NoError(t, err)
	require.Equal(t, uint64(2), sum.AffectedRows)
	require.Equal(t, 2, updates)
	sent := w.sent()
	undone := strings.Index(sent, "v = 'x'\n"+fmt.Sprint(w.owner("1"))+": SELECT `id`, `v` ")
	require.Positive(t, undone)
	require.Contains(t, sent[undone:], rowRollback)
}

// What a server says of an expression that it computes ahead is said of the INSERT, which a strict sql_mode then refuses, and
// the expression is computed at the time that the statement has.
func TestEvaluatedExpressionsWarn(t *testing.T) {
	w := newWorld(t)
	w.cluster.answer = inserted
	w.evaluate = func(sql string) ([]sqltypes.Column, [][]byte, error) {
		return []sqltypes.Column{idColumn}, [][]byte{[]byte("12")}, nil
	}
	w.warned = []diagnostics.Condition{{Level: "Warning", Code: 1292, Message: "Truncated incorrect INTEGER value: '12x'"}}
	const stmt = "INSERT INTO t (id, v) VALUES (CAST('12x' AS SIGNED), NOW())"
	p := &plan.Plan{Kind: plan.Insert, Root: w.insertPlan(), Uses: plan.ReadsClock}
	_, err := w.run(p, stmt)
	require.True(t, sqlerr.HasCode(err, 1292), "%v", err)
	require.Empty(t, w.sent())
	require.Contains(t, w.log[0], "clock SET timestamp = ")

	w.x.Lenient = true
	sum, err := w.run(p, stmt)
	require.NoError(t, err)
	require.Equal(t, uint16(1), sum.Warnings)
	require.Equal(t, w.warned, w.runner.Warned)
	require.True(t, w.runner.Moment.IsZero())

	w.warnings = 100 // the server has kept one of them
	sum, err = w.run(p, stmt+", (12, 3)")
	require.NoError(t, err)
	require.Equal(t, uint16(100), sum.Warnings)
	require.Equal(t, "Records: 2  Duplicates: 0  Warnings: 100", string(sum.Info))
	require.Len(t, w.runner.Warned, 1)

	// Not all warnings are errors in a strict sql_mode, but those that nobody has seen may be.
	w.x.Lenient = false
	for _, c := range []struct {
		flavor catalog.Flavor
		warned diagnostics.Condition
		err    sqlerr.Code
		state  string
	}{
		{catalog.MySQL, diagnostics.Condition{Level: "Warning", Code: 3719, Message: "'utf8' is currently an alias for the character set UTF8MB3"}, 0, ""},
		{catalog.MySQL, diagnostics.Condition{Level: "Warning", Code: 1300, Message: "Invalid utf8mb4 character string: 'FFFE'"}, 0, ""},
		{catalog.MySQL, diagnostics.Condition{Level: "Warning", Code: 6527, Message: "TIME value is out of range"}, 6527, "22008"},
		{catalog.MySQL, diagnostics.Condition{Level: "Note", Code: 1292, Message: "Truncated incorrect INTEGER value: '12x'"}, 0, ""},
		{catalog.MySQL, diagnostics.Condition{Level: "Warning", Code: 1292, Message: "Truncated incorrect CHAR(2) value: 'abc'"}, 1292, "22007"},
		{catalog.MariaDB, diagnostics.Condition{Level: "Warning", Code: 1292, Message: "Truncated incorrect CHAR(2) value: 'abc'"}, 0, ""},
		{catalog.MariaDB, diagnostics.Condition{Level: "Warning", Code: 1300, Message: "Invalid utf8mb4 character string: 'FFFE'"}, 1300, "HY000"},
	} {
		e := Evaluated{Warnings: 1, Warned: []diagnostics.Condition{c.warned}}
		var want error
		if c.err != 0 {
			want = &sqlerr.Error{Code: c.err, State: c.state, Message: c.warned.Message}
		}
		require.Equal(t, want, e.strictError(c.flavor))
		e.Warnings++
		require.Error(t, e.strictError(c.flavor))
	}
}

// The row that an upsert's last one meets and leaves as it is is asked for. That a trigger refuses the question is no error of the
// statement; that it ends the transaction is.
func TestQuestionRefused(t *testing.T) {
	for _, c := range []struct {
		refusals []sqlerr.Code
		id       uint64
		fails    bool
	}{
		{nil, 2, false},
		{[]sqlerr.Code{1644}, 2, false},
		{[]sqlerr.Code{1644, 1644}, 0, false},
		{[]sqlerr.Code{sqlerr.LockDeadlock}, 0, true},
		{[]sqlerr.Code{1644, sqlerr.QueryInterrupted}, 0, true},
	} {
		w := newWorld(t)
		require.NotEqual(t, w.owner("1"), w.owner("2"))
		refusals := c.refusals
		w.cluster.answer = func(g placement.NodeGroupID, sql string) answer {
			switch {
			case strings.Contains(sql, "= LAST_INSERT_ID(") && len(refusals) > 0:
				code := refusals[0]
				refusals = refusals[1:]
				return answer{err: &sqlerr.Error{Code: code, State: "HY000", Message: "no"}}
			case strings.HasPrefix(sql, "SELECT"):
				return answer{columns: []sqltypes.Column{idColumn}, rows: []string{"2"}}
			case g == w.owner("1") && strings.HasPrefix(sql, "INSERT"):
				return answer{ok: wire.OK{AffectedRows: 2, LastInsertID: 1}}
			}
			return answer{}
		}
		node := w.autoPlan()
		node.Update, node.After = true, plan.Text{{SQL: " ON DUPLICATE KEY UPDATE v = IF(id = 2, v, 'x')", Arg: plan.NoArg}}
		sum, err := w.run(&plan.Plan{Kind: plan.Insert, Root: node}, "INSERT INTO t (id, v) VALUES (1, 'a'), (2, 'b')")
		require.Equal(t, c.fails, err != nil, "%v %v", c, err)
		require.Equal(t, c.id, sum.LastInsertID, "%v", c)
		if !c.fails {
			require.True(t, strings.HasSuffix(w.sent(), rowRollback), w.sent())
		}
	}
}
