package ddl

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

func TestParseDDL(t *testing.T) {
	for _, c := range []struct {
		sql, mode string
		want      string // verb, objects, and what else was found
	}{
		{"CREATE TABLE t (a INT)", "", "1 [d.t]"},
		{"create /* x */ table if not exists e.`t``1`(a int) -- end", "", "1 [e.t`1] if"},
		{"CREATE TABLE t (a INT) PARTITION BY LINEAR KEY ALGORITHM=2 (a, `b`) PARTITIONS 8 COMMENT 'x'", "", "1 [d.t] key=[a b]"},
		{"CREATE TABLE t (a INT) /*!50100 PARTITION BY KEY () */", "", "1 [d.t] key=[]"},
		{"CREATE TABLE t (a INT) /*!99999 PARTITION BY KEY (a) */", "", "1 [d.t]"},
		{"CREATE TABLE t (a INT) PARTITION BY HASH (a)", "", "1 [d.t]"},
		{"CREATE TABLE t LIKE e.s", "", "1 [d.t] like=e.s"},
		{"CREATE TABLE t (LIKE s)", "", "1 [d.t] like=d.s"},
		{`CREATE TABLE "t" (a INT)`, "ANSI_QUOTES", "1 [d.t]"},
		{"CREATE OR REPLACE TABLE t (a INT)", "", "1 [d.t] replace"},
		{"CREATE UNIQUE INDEX i USING BTREE ON t (a)", "", "2 [d.t]"},
		{"CREATE ALGORITHM=MERGE DEFINER=`a b`@`%` SQL SECURITY INVOKER VIEW v AS SELECT 1", "", "3 [d.v] definer"},
		{"CREATE VIEW v AS SELECT ';' AS x;", "", "3 [d.v]"},
		{"CREATE SCHEMA IF NOT EXISTS x COMMENT 'a skarv:single'", "", "4 [x.] if single"},
		{"ALTER TABLE t RENAME COLUMN a TO b, RENAME TO e.u, RENAME INDEX i TO j", "", "5 [d.t] to=e.u"},
		{"ALTER IGNORE TABLE t ADD KEY (a)", "", "5 [d.t]"},
		{"ALTER DATABASE CHARACTER SET utf8mb4", "", "6 [d.]"},
		{"ALTER DATABASE x COLLATE utf8mb4_bin", "", "6 [x.]"},
		{"ALTER DATABASE comment COMMENT 'x'", "", "6 [comment.]"},
		{"ALTER DATABASE COMMENT = 'x'", "", "6 [d.]"},
		{"DROP TABLES IF EXISTS a, b.c CASCADE", "", "8 [d.a b.c] if"},
		{"DROP INDEX i ON t", "", "9 [d.t]"},
		{"DROP VIEW v", "", "10 [d.v]"},
		{"DROP DATABASE x", "", "11 [x.]"},
		{"TRUNCATE t", "", "12 [d.t]"},
		{"RENAME TABLE a TO b, c WAIT 3 TO d", "", "13 [d.a d.b d.c d.d]"},
		{"OPTIMIZE LOCAL TABLE a, b", "", "14 [d.a d.b]"},
		{"/*M!100100 DROP TABLE t */", "", "8 [d.t]"},
	} {
		st, err := Parse(c.sql, "d", c.mode, catalog.MariaDB, "10.11.6-MariaDB")
		require.NoError(t, err, c.sql)
		got := fmt.Sprintf("%d %v", st.Verb, st.Objects)
		for _, x := range []struct {
			set  bool
			text string
		}{
			{st.IfExists, " if"}, {st.OrReplace, " replace"}, {st.Partitioned, fmt.Sprintf(" key=%v", st.Key)},
			{st.Like != nil, fmt.Sprintf(" like=%v", st.Like)}, {st.RenameTo != nil, fmt.Sprintf(" to=%v", st.RenameTo)},
			{st.definer[1] > 0, " definer"}, {st.Single, " single"},
		} {
			if x.set {
				got += x.text
			}
		}
		require.Equal(t, c.want, got, c.sql)
	}
}

func TestTemporalTablesAreRefused(t *testing.T) {
	for _, sql := range []string{
		"CREATE TABLE t (a INT PRIMARY KEY) WITH SYSTEM VERSIONING",
		"CREATE TABLE t (a INT PRIMARY KEY, b INT WITHOUT SYSTEM VERSIONING)",
		"CREATE TABLE t (a INT, s DATE, e DATE, PERIOD FOR p (s, e), UNIQUE (a, p WITHOUT OVERLAPS))",
		"ALTER TABLE t ADD SYSTEM VERSIONING",
		"ALTER TABLE t ADD PERIOD FOR p (s, e)",
		"ALTER TABLE t ADD PERIOD IF NOT EXISTS FOR p (s, e)",
		"ALTER TABLE t DROP PERIOD IF EXISTS FOR p",
		"ALTER TABLE t ADD UNIQUE (a, p WITHOUT OVERLAPS)",
	} {
		_, err := Parse(sql, "d", "", catalog.MariaDB, "10.11.6-MariaDB")
		require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), "%s: %v", sql, err)
	}
}

func TestNotOnSeveralServers(t *testing.T) {
	for _, sql := range []string{
		"CREATE TABLE t (a INT PRIMARY KEY) ENGINE=InnoDB START TRANSACTION",
		"CREATE TABLE `🐬` (a INT PRIMARY KEY)", "CREATE TABLE `🐬`.t (a INT PRIMARY KEY)", "CREATE DATABASE `🐬`", "CREATE VIEW `🐬` AS SELECT 1",
		"ALTER TABLE t RENAME TO `🐬`", "RENAME TABLE t TO `🐬`",
	} {
		_, err := Parse(sql, "d", "", catalog.MySQL, "9.7.0")
		require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), "%s: %v", sql, err)
	}
}

func TestCleanupTakesOutOnlyWhatIsOurs(t *testing.T) {
	for sql, want := range map[string]string{
		"CREATE TABLE t (a INT) ENGINE=InnoDB PARTITION BY KEY (a) PARTITIONS 4 COMMENT='x' # gone":                    "CREATE TABLE t (a INT) ENGINE=InnoDB  COMMENT='x'",
		"CREATE TABLE t (a VARCHAR(9) DEFAULT '/* PARTITION BY KEY (a) */') /*!40101 ENGINE=InnoDB */ /*!99999 NO */;": "CREATE TABLE t (a VARCHAR(9) DEFAULT '/* PARTITION BY KEY (a) */')   ENGINE=InnoDB",
		"CREATE DEFINER=`x`@`y` VIEW v AS SELECT 1":                                                                    "CREATE VIEW v AS SELECT 1",
	} {
		st, err := Parse(sql, "d", "", catalog.MySQL, "8.4.0")
		require.NoError(t, err)
		require.Equal(t, want, st.Rewrite())
	}
	st, err := Parse("CREATE DATABASE x COMMENT = 'skarv:single' CHARSET utf8mb4", "", "", catalog.MySQL, "8.4.0")
	require.NoError(t, err)
	require.Equal(t, "CREATE DATABASE x  CHARSET utf8mb4", st.Rewrite())
	require.True(t, st.Single)
}

func TestCollate(t *testing.T) {
	for sql, want := range map[string]string{
		"CREATE TABLE t (a CHAR(3) CHARACTER SET ascii)":                    "CREATE TABLE t (a CHAR(3) CHARACTER SET ascii) CHARACTER SET c COLLATE d",
		"CREATE TABLE t (a INT)PARTITION BY KEY (a)":                        "CREATE TABLE t (a INT) CHARACTER SET c COLLATE d",
		"CREATE TABLE t (a INT) ENGINE=InnoDB COMMENT 'charset' -- collate": "CREATE TABLE t (a INT) CHARACTER SET c COLLATE d  ENGINE=InnoDB COMMENT 'charset'",
		"CREATE TABLE t (a INT) PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (CHAR(1)))": "CREATE TABLE t (a INT) CHARACTER SET c COLLATE d  " +
			"PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (CHAR(1)))",
		"CREATE TABLE t (a INT) ENGINE=InnoDB COLLATE x":   "",
		"CREATE TABLE t (a INT) DEFAULT CHARACTER SET = x": "",
		"CREATE TABLE t (a INT) CHAR SET x":                "",
		"CREATE TABLE t (a INT) charset=default":           "",
		"CREATE TABLE t LIKE u":                            "",
	} {
		st, err := Parse(sql, "d", "", catalog.MariaDB, "10.11.6")
		require.NoError(t, err)
		e, ok := st.Collate("c", "d")
		require.Equal(t, want != "", ok, sql)
		if ok {
			require.Equal(t, want, st.Rewrite(e))
		}
	}
}

func TestOption(t *testing.T) {
	for comment, want := range map[string][]string{
		"skarv:key=a":      {"a"},
		"x skarv:key=a, b": {"a"},
		"it's `odd skarv:key=`a b`,c;skarv:single":     {"a b", "c"},
		"skarv:key=`a``b`,`c,d` skarv:key=e":           {"a`b", "c,d"},
		"skarv:single\nskarv:key=`a":                   {"`a"},
		"skarv:keys=a noskarv:key=b skarv:key skarv:x": nil,
	} {
		value, _ := Option(comment, "key")
		require.Equal(t, want, SplitNames(value), comment)
	}
	_, ok := Option("`a skarv:single", "single")
	require.True(t, ok)
	_, ok = Option("`a skarv:single=", "reference")
	require.False(t, ok)
}

func FuzzParseDDL(f *testing.F) {
	for _, s := range []string{
		"CREATE TABLE t (a INT) PARTITION BY KEY (a)", "RENAME TABLE a TO b", "ALTER TABLE `t RENAME", "CREATE DEFINER=", "DROP TABLE a.", "/*!50000",
		"CREATE INDEX i ON", "ALTER DATABASE", "CREATE TABLE t (LIKE", "CREATE TABLE t () PARTITION BY KEY (", "'\\", "/*!*/*/", "ALTER TABLE t CHANGE", "RENAME TABLE",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, sql string, mysql bool) {
		flavor := catalog.MariaDB
		if mysql {
			flavor = catalog.MySQL
		}
		st, err := Parse(sql, "d", "ANSI_QUOTES", flavor, "10.11.6")
		if err != nil {
			return
		}
		st.Rewrite()
		st.RenamedColumns()
		st.SetsCounter()
		for _, o := range st.Objects {
			_ = st.Text[o.start:o.end]
		}
		if len(st.Objects) > 0 {
			st.Define("x INT")
			st.Collate("c", "d")
		}
	})
}
