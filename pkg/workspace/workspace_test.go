package workspace

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// server is a Conn that takes note of what it is told.
type server struct {
	told   []string
	fail   func(sql string) error
	broken bool
	owed   []string
	shown  string // by SHOW CREATE TABLE
	rows   int    // of the answer to ANALYZE that were not read
}

func (s *server) Send(_ wire.Command, body []byte) error {
	s.told = append(s.told, string(body))
	s.owed = append(s.owed, string(body))
	return nil
}

func (s *server) ReadRow() ([]byte, error) {
	if s.rows == 0 {
		return nil, io.EOF
	}
	s.rows--
	return []byte{0}, nil
}

func (s *server) ReadHead() (mysqlconn.Head, error) {
	if len(s.owed) == 0 {
		return mysqlconn.Head{}, errors.New("nothing was asked")
	}
	sql := s.owed[0]
	s.owed = s.owed[1:]
	if s.fail != nil {
		if err := s.fail(sql); err != nil {
			return mysqlconn.Head{}, err
		}
	}
	if strings.HasPrefix(sql, "ANALYZE") {
		s.rows = 2
		return mysqlconn.Head{}, nil
	}
	return mysqlconn.Head{OK: &wire.OK{}}, nil
}

func (s *server) Exec(sql string) (wire.OK, error) {
	s.told = append(s.told, sql)
	if s.fail != nil {
		return wire.OK{}, s.fail(sql)
	}
	return wire.OK{}, nil
}

func (s *server) QueryAll(sql string, _ int) ([]sqltypes.Column, [][][]byte, error) {
	s.told = append(s.told, sql)
	return nil, [][][]byte{{[]byte("skarv_copy_1"), []byte(s.shown)}}, nil
}

func (s *server) Usable() bool { return !s.broken && len(s.owed) == 0 }

func table() *catalog.Table {
	return &catalog.Table{Database: "d", Name: "t", Columns: []catalog.Column{
		{Name: "id", DataType: "int"}, {Name: "a`b", DataType: "varchar", Collation: "utf8mb4_bin"},
	}}
}

func row(values ...string) (r []byte) {
	for _, v := range values {
		r = wire.AppendLenencString(r, v)
	}
	return r
}

// Keys that are not used go before the first batch of a large copy is written; a small one keeps them.
func TestUnusedKeys(t *testing.T) {
	for size, drops := range map[int]bool{10: false, batchBytes: true} {
		s := &server{fail: func(sql string) error {
			if strings.HasPrefix(sql, "ALTER") {
				return errors.New("there is no such key")
			}
			return nil
		}}
		w, err := Open(s, NewBudget(Limits{Rows: 10, Bytes: 1 << 30, Total: 1 << 30}), "", func(string, string) bool { return false })
		require.NoError(t, err)
		name, err := w.Create(table())
		require.NoError(t, err)
		f := w.Fill(table(), name, []int{0, 1})
		f.Without([]string{"k", "l`m"})
		for range 3 {
			require.NoError(t, f.Row(row("1", strings.Repeat("x", size))))
		}
		require.NoError(t, f.Finish())
		require.NoError(t, w.Ready())
		at := slices.Index(s.told, "ALTER TABLE `d`.`skarv_copy_1` DROP INDEX `k`, DROP INDEX `l``m`")
		require.Equal(t, drops, at >= 0)
		require.False(t, slices.ContainsFunc(s.told[:max(at, 0)], func(sql string) bool { return strings.HasPrefix(sql, "INSERT") }))
	}
}

// The server looks at copies of many rows, under the names they have by then, and what it says of that is read.
func TestAnalyse(t *testing.T) {
	s := &server{}
	w, err := Open(s, NewBudget(Limits{Rows: 1000, Bytes: 1 << 20, Total: 1 << 20}), "", func(string, string) bool { return false })
	require.NoError(t, err)
	for range 2 {
		name, err := w.Create(table())
		require.NoError(t, err)
		f := w.Fill(table(), name, []int{0, 1})
		require.False(t, w.Many())
		for range analysed / 2 {
			require.NoError(t, f.Row(row("1", "x")))
		}
		require.NoError(t, f.Finish())
	}
	require.True(t, w.Many())
	require.NoError(t, w.Rename("d", "skarv_copy_2", "u"))
	require.NoError(t, w.Analyse())
	require.NoError(t, w.Ready())
	require.Contains(t, s.told, "ANALYZE LOCAL TABLE `d`.`skarv_copy_1`, `d`.`u`")
	require.Zero(t, s.rows)
	require.Empty(t, s.owed)
}

// Constraints that MySQL has named after the copy are dropped; MariaDB's are not.
func TestChecks(t *testing.T) {
	checked := table()
	checked.Checks = true
	for shown, want := range map[string][]string{
		"CREATE TEMPORARY TABLE `skarv_copy_1` (\n  `a` int,\n  CONSTRAINT `skarv_copy_1_chk_1` CHECK ((`a` < 10)),\n" +
			"  CONSTRAINT `skarv_copy_1_chk_2` CHECK ((`a` <> _utf8mb4'CONSTRAINT `b` CHECK '))\n) ENGINE=InnoDB": {
			"ALTER TABLE `d`.`skarv_copy_1` DROP CHECK `skarv_copy_1_chk_1`, DROP CHECK `skarv_copy_1_chk_2`"},
		"CREATE TEMPORARY TABLE `skarv_copy_1` (\n  `a` int,\n  CONSTRAINT `CONSTRAINT_1` CHECK (`a` < 10)\n) ENGINE=InnoDB": nil,
	} {
		s := &server{shown: shown}
		w, err := Open(s, NewBudget(Limits{Rows: 10, Bytes: 1000, Total: 1000}), "", func(string, string) bool { return false })
		require.NoError(t, err)
		begin := len(s.told)
		_, err = w.Create(checked)
		require.NoError(t, err)
		require.Equal(t, append([]string{"CREATE TEMPORARY TABLE `d`.`skarv_copy_1` LIKE `d`.`t`", "SHOW CREATE TABLE `d`.`skarv_copy_1`"}, want...),
			s.told[begin:])
	}
}

func TestCopy(t *testing.T) {
	s := &server{}
	budget := NewBudget(Limits{Rows: 10, Bytes: 1000, Total: 1000})
	w, err := Open(s, budget, "STRICT_TRANS_TABLES,NO_UNSIGNED_SUBTRACTION", func(string, string) bool { return false })
	require.NoError(t, err)
	name, err := w.Create(table())
	require.NoError(t, err)
	f := w.Fill(table(), name, []int{0, 1})
	require.NoError(t, f.Columns(make([]sqltypes.Column, 2)))
	require.NoError(t, f.Row(row("1", "x")))
	require.NoError(t, f.Row(append(row("2"), 0xfb)))
	require.NoError(t, f.Finish())
	require.NoError(t, w.Rename("d", name, "t"))
	require.NoError(t, w.Ready())
	require.Positive(t, budget.Used())
	require.NoError(t, w.Close())
	require.Zero(t, budget.Used())
	require.Empty(t, s.owed)
	require.Contains(t, s.told, copied+"INSERT INTO `d`.`skarv_copy_1` (`id`, `a``b`) VALUES (1,x'78'),(2,NULL)")
	require.Equal(t, "DROP TEMPORARY TABLE `d`.`t`", s.told[len(s.told)-1])
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		limits Limits
		name   string
	}{
		{Limits{Rows: 2, Bytes: 1000, Total: 1000}, "workspace.max_rows (2)"},
		{Limits{Rows: 100, Bytes: 10, Total: 1000}, "workspace.max_bytes (10)"},
		{Limits{Rows: 100, Bytes: 1000, Total: 11}, "workspace.total_bytes (11)"},
	} {
		budget := NewBudget(c.limits)
		w, err := Open(&server{}, budget, "", func(string, string) bool { return false })
		require.NoError(t, err)
		f := w.Fill(table(), "x", []int{0, 1})
		for err == nil {
			err = f.Row(row("1", "ab"))
		}
		require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), "%v", err)
		require.ErrorContains(t, err, c.name)
		require.NoError(t, w.Close())
		require.Zero(t, budget.Used(), c.name)
	}
}

func TestCloseAfterLoss(t *testing.T) {
	s := &server{}
	w, err := Open(s, NewBudget(Limits{10, 1000, 1000}), "", func(string, string) bool { return false })
	require.NoError(t, err)
	_, err = w.Create(table())
	require.NoError(t, err)
	s.broken = true
	require.Error(t, w.Close(), "who closes the connection must be told")
}

// A table with FULLTEXT keys is copied by its text: LIKE would want these keys of the copy.
func TestFulltext(t *testing.T) {
	s := &server{shown: "CREATE TABLE `t` (\n  `id` int(11) NOT NULL,\n  `a``b` text,\n  PRIMARY KEY (`id`),\n  FULLTEXT KEY `x` (`a``b`) /*!50100 WITH PARSER `ngram` */ ,\n" +
		"  CONSTRAINT `f` FOREIGN KEY (`id`) REFERENCES `u` (`id`),\n  CONSTRAINT `c` CHECK (`id` > 0)\n) ENGINE=InnoDB COMMENT='FULLTEXT KEY'"}
	w, err := Open(s, NewBudget(Limits{10, 1000, 1000}), "", func(string, string) bool { return false })
	require.NoError(t, err)
	tb := table()
	tb.Indexes = []catalog.Index{{Name: "x", Columns: []int{1}, Fulltext: true}}
	_, err = w.Create(tb)
	require.NoError(t, err)
	require.NoError(t, w.Ready())
	require.Contains(t, s.told, "CREATE TEMPORARY TABLE `d`.`skarv_copy_1` (\n  `id` int(11) NOT NULL,\n  `a``b` text,\n  PRIMARY KEY (`id`),\n  CHECK (`id` > 0)\n"+
		") ENGINE=InnoDB COMMENT='FULLTEXT KEY'")
}

// A table with partitions, too, whose copy has none.
func TestPartitioned(t *testing.T) {
	s := &server{shown: "CREATE TABLE `t` (\n  `id` int(11) NOT NULL,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB\n PARTITION BY RANGE (`id`)\n(PARTITION `p` VALUES LESS THAN MAXVALUE ENGINE = InnoDB)"}
	w, err := Open(s, NewBudget(Limits{10, 1000, 1000}), "", func(string, string) bool { return false })
	require.NoError(t, err)
	tb := table()
	tb.Partitioned = true
	_, err = w.Create(tb)
	require.NoError(t, err)
	require.NoError(t, w.Ready())
	require.Contains(t, s.told, "CREATE TEMPORARY TABLE `d`.`skarv_copy_1` (\n  `id` int(11) NOT NULL,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB")
}

// An error in the middle leaves no answer unread, and the first is told.
func TestPipelinedErrors(t *testing.T) {
	s := &server{fail: func(sql string) error {
		if strings.HasPrefix(sql, copied+"INSERT") {
			return &sqlerr.Error{Code: 1114, Message: "full"}
		}
		return nil
	}}
	w, err := Open(s, NewBudget(Limits{10, 1000, 1000}), "", func(string, string) bool { return false })
	require.NoError(t, err)
	name, err := w.Create(table())
	require.NoError(t, err)
	f := w.Fill(table(), name, []int{0, 1})
	require.NoError(t, f.Row(row("1", "x")))
	require.NoError(t, f.Finish())
	require.NoError(t, w.Rename("d", name, "t"))
	require.ErrorContains(t, w.Ready(), "full")
	require.Empty(t, s.owed)
	require.NoError(t, w.Close())
}

// What may fail does not keep what is behind it from being read.
func TestPipelinedErrorThatDoesNotMatter(t *testing.T) {
	s := &server{fail: func(sql string) error {
		if strings.HasPrefix(sql, "SET SESSION sql_log_bin") {
			return sqlerr.SpecificAccessDenied.New("SUPER")
		}
		return nil
	}}
	w, err := Open(s, NewBudget(Limits{10, 1000, 1000}), "", func(string, string) bool { return false })
	require.NoError(t, err)
	require.NoError(t, w.Settle())
	require.Empty(t, s.owed)
	require.NoError(t, w.Close())
}

func TestValues(t *testing.T) {
	for _, c := range []struct{ dataType, collation, value, want string }{
		{"bigint", "", "-5", "-5"},
		{"bit", "", "513", "513"},
		{"decimal", "", "1.50", "'1.50'"},
		{"text", "latin1_bin", "a'\\", "x'61275c'"},
		{"json", "", `{}`, "_utf8mb4 x'7b7d'"},
		{"timestamp", "", "0.00", "'0000-00-00 00:00:00'"},
		{"timestamp", "", "86401.12", "'1970-01-02 00:00:01.12'"},
		{"blob", "", "", "x''"},
	} {
		got := AppendValue(nil, formOf(&catalog.Column{DataType: c.dataType, Collation: c.collation}), []byte(c.value))
		require.Equal(t, c.want, string(got), c.dataType)
	}
}
