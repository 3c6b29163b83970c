package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// played is what a script read as, a line a step.
func played(t *testing.T, files map[string]string) (steps []string, skipped int) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	s, err := read(dir, "main/a.test")
	require.NoError(t, err)
	for _, st := range s.steps {
		switch {
		case st.connect != "":
			steps = append(steps, fmt.Sprintf("connect %s %s account=%v", st.connect, st.database, st.account))
		case st.connection != "":
			steps = append(steps, "connection "+st.connection)
		case st.disconnect != "":
			steps = append(steps, "disconnect "+st.disconnect)
		default:
			steps = append(steps, fmt.Sprintf("%d unstable=%v %s", st.line, st.unstable, st.sql))
		}
	}
	return steps, s.skipped
}

func TestRead(t *testing.T) {
	steps, skipped := played(t, map[string]string{
		"main/a.test": `# a comment; with a semicolon
--disable_warnings
SELECT 'a;b', "c;d", ` + "`e;f`" + ` /* g;h */ -- i;j
  FROM t;
--error ER_NO_SUCH_TABLE
SELECT 1; SELECT 2;
let $n= 7;
eval SELECT $n;
eval SELECT $unknown;
if ($n)
{
  SELECT 'not played';
}
delimiter //;
CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END//
delimiter ;//
--replace_column 1 #
SHOW TABLE STATUS;
connect (con1,localhost,root,,other);
connect (con2,localhost,somebody,,);
connection default;
disconnect con1;
--source include/more.inc
perl;
SELECT 'of perl';
EOF
query_vertical SELECT 3;
exit;
SELECT 'after the end';
`,
		"include/more.inc": "SELECT 'included';\n",
	})
	require.Equal(t, 2, skipped, "what is not known, and a block")
	require.Equal(t, []string{
		"3 unstable=false SELECT 'a;b', \"c;d\", `e;f` /* g;h */ -- i;j\n  FROM t",
		"6 unstable=false SELECT 1",
		"6 unstable=false SELECT 2",
		"8 unstable=false SELECT 7",
		"15 unstable=false CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END",
		"18 unstable=true SHOW TABLE STATUS",
		"connect con1 other account=false",
		"connect con2 test account=true",
		"connection default",
		"disconnect con1",
		"1 unstable=false SELECT 'included'",
		"27 unstable=false SELECT 3",
	}, steps)
}

func TestChanged(t *testing.T) {
	c := changed{}
	for _, st := range []struct {
		sql           string
		equal, failed bool
		behind        bool
	}{
		{"CREATE TABLE t1 (a INT)", true, false, false},
		{"SELECT * FROM t1", false, false, false},
		{"INSERT INTO t1 VALUES (1)", false, false, false},
		{"SELECT * FROM t1", false, false, true},
		{"SELECT 't1'", false, false, false},
		{"PREPARE s FROM 'SELECT * FROM t1'", true, false, true},
		{"EXECUTE s", false, false, true},
		{"INSERT INTO t2 SELECT * FROM `t1`", true, false, true},
		{"SELECT * FROM t2", false, false, true},
		{"CREATE TABLE t2 (a INT)", true, false, true},
		{"SELECT * FROM t2", false, false, false},
		{"DROP TABLE IF EXISTS db.t0, t1", true, false, true},
		{"SELECT * FROM t1", false, true, false},
	} {
		require.Equal(t, st.behind, c.follow(st.sql, st.equal, st.failed), st.sql)
	}
}

func TestEngine(t *testing.T) {
	for sql, want := range map[string]string{
		"CREATE TABLE t (a INT) ENGINE=MyISAM":           "CREATE TABLE t (a INT) ENGINE=InnoDB",
		"ALTER TABLE t engine 'memory', ADD b INT":       "ALTER TABLE t engine InnoDB, ADD b INT",
		"SET @@session.storage_engine = 'MyISAM'":        "SET @@session.storage_engine = InnoDB",
		"SET default_storage_engine=Aria":                "SET default_storage_engine=InnoDB",
		"CREATE TABLE t (engine INT) STORAGE ENGINE CSV": "CREATE TABLE t (engine INT) STORAGE ENGINE InnoDB",
	} {
		require.Equal(t, want, engine.ReplaceAllString(sql, "${1}InnoDB"))
	}
}
