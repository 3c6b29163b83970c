package compat

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
	"skarv/test/differ"
)

// TestLoadData loads files of clients into one plain server and into a cluster, and compares what was said and what is there.
func TestLoadData(t *testing.T) {
	one := cluster.StartServer(t)
	many := cluster.Start(t, cluster.Groups(4))
	a, b := connect(t, one.DSN("")), connect(t, many.DSN(""))
	for _, c := range []*differ.Client{a, b} {
		for _, setup := range []string{"DROP DATABASE IF EXISTS loads", "CREATE DATABASE loads", "USE loads"} {
			_, err := c.ExecContext(t.Context(), setup)
			require.NoError(t, err)
		}
	}
	cluster.AllowLocalFiles(t, one, many, 4)
	file := ""
	mysql.RegisterReaderHandler("file", func() io.Reader { return strings.NewReader(file) })
	defer mysql.DeregisterReaderHandler("file")
	both := func(stmt, data string) {
		t.Helper()
		file = data
		stmt = strings.ReplaceAll(stmt, "FILE", "LOCAL INFILE 'Reader::file'")
		want := differ.Run(t.Context(), a, stmt, false)
		got := differ.Run(t.Context(), b, stmt, false)
		require.Empty(t, differ.Compare(want, got), stmt)
		if strings.HasPrefix(stmt, "LOAD") {
			want, got = differ.Run(t.Context(), a, "SELECT @@warning_count", false), differ.Run(t.Context(), b, "SELECT @@warning_count", false)
			require.Equal(t, want.Rows, got.Rows, stmt)
		}
	}
	both("CREATE TABLE l (id INT PRIMARY KEY, s VARCHAR(10), d DATE, n DECIMAL(6,2) DEFAULT 7.5, UNIQUE KEY (id, s))", "")
	rows := func() { t.Helper(); both("SELECT * FROM l ORDER BY id", "") }
	both("LOAD DATA FILE INTO TABLE l (id, s, d)", "1\tone\t2024-01-01\n2\ttwo\t\\N\n3\tthree\t2024-03-03\n4\tfour\t2024-04-04\n")
	rows()
	both("LOAD DATA FILE INTO TABLE l (id, s, d)", "4\tagain\t2024-01-01\n5\tfive\t2024-05-05\n") // a duplicate is left out
	both("LOAD DATA FILE REPLACE INTO TABLE l (id, s)", "4\tnew\n5\tnew\n6\tsix\n")
	both("LOAD DATA FILE IGNORE INTO TABLE l (id, s)", "6\tx\n7\tseven\n7\ttwice\n")
	rows()
	both(`LOAD DATA FILE INTO TABLE l FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' ESCAPED BY '\\' LINES TERMINATED BY '\r\n' IGNORE 1 LINES (id, s, @d, n)
		SET d = STR_TO_DATE(@d, '%d.%m.%Y')`, "id,s,d,n\r\n10,\"a,b\",31.12.2023,1.25\r\n11,\"li\nne\",01.02.2024,-3\r\n")
	rows()
	both("LOAD DATA FILE INTO TABLE l (id, s, d)", "20\tmuch too long for it\t2024-01-01\n21\tx\tnot a date\nabc\tx\t2024-01-01\n22\tfew\n23\tmany\t2024-01-01\tmore\n")
	rows()
	both("LOAD DATA FILE INTO TABLE l LINES STARTING BY 'xx' (id, s)", "xx30\ta\nnothing\nabcxx31\tb\n")
	both("LOAD DATA FILE INTO TABLE l CHARACTER SET latin1 (id, s)", "40\t\xe9t\xe9\n")
	both("LOAD DATA FILE INTO TABLE l CHARACTER SET utf8mb4 (id, s)", "41\t\xc3\xa9t\xc3\xa9\n")
	both("CREATE TABLE begins (id INT PRIMARY KEY, s TEXT, b BLOB, UNIQUE KEY (s(3)), UNIQUE KEY (b(2), s(1)))", "")
	both("LOAD DATA FILE INTO TABLE begins (id, s, b)", "1\tabcdef\tabc\n2\tbcd\tabc\n3\t\\N\tabd\n4\tABCX\tx\n5\txyz\ty\n")
	both("LOAD DATA FILE REPLACE INTO TABLE begins (id, s, b)", "6\tabcyyy\tq\n7\tbzz\tabx\n")
	both("LOAD DATA FILE IGNORE INTO TABLE begins (id, s, b)", "8\tABCzzz\tr\n9\tqq\tr\n")
	both("SELECT * FROM begins ORDER BY id", "")
	both("LOAD DATA FILE INTO TABLE l (id, @a, @b) SET s = CONCAT(@b, @a), n = id * 2", "50\tx\ty\n51\tp\tq\n")
	both("SELECT @a, @b", "")
	both("LOAD DATA FILE INTO TABLE l (id, s)", "")
	rows()
	both("LOAD DATA FILE INTO TABLE nosuch (id)", "1\n")
	both("LOAD DATA FILE INTO TABLE l (id, nosuch)", "1\t1\n")

	both("CREATE TABLE ai (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(10))", "")
	both("LOAD DATA FILE INTO TABLE ai (s)", "a\nb\nc\n")
	both("SELECT LAST_INSERT_ID()", "")
	both("LOAD DATA FILE INTO TABLE ai", "\\N\td\n100\te\n0\tf\n")
	both("SELECT LAST_INSERT_ID()", "")
	both("INSERT INTO ai (s) VALUES ('g')", "")
	both("SELECT * FROM ai ORDER BY id", "")
	both("CREATE TABLE nokey (a INT, s VARCHAR(10))", "")
	both("LOAD DATA FILE INTO TABLE nokey", "1\tx\n1\tx\n")
	both("SELECT * FROM nokey ORDER BY a", "")
	both("CREATE TABLE ref (id INT PRIMARY KEY, s VARCHAR(10)) COMMENT 'skarv:reference'", "")
	both("LOAD DATA FILE REPLACE INTO TABLE ref", "1\tx\n2\ty\n1\tz\n")
	both("SELECT * FROM ref ORDER BY id", "")

	both("BEGIN", "")
	both("LOAD DATA FILE INTO TABLE l (id, s)", "60\tx\n61\ty\n")
	both("SELECT COUNT(*) FROM l", "")
	both("ROLLBACK", "")
	both("SELECT COUNT(*) FROM l", "")

	var large strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&large, "%d\t%d\t2024-01-01\n", 1000+i, i)
	}
	both("LOAD DATA FILE INTO TABLE l (id, s, d)", large.String())
	both("SELECT COUNT(*), SUM(id), SUM(s) FROM l WHERE id >= 1000", "")
	both("DELETE FROM l WHERE id >= 1000 ORDER BY id LIMIT 15000", "")
	both("UPDATE l SET n = id ORDER BY id DESC LIMIT 4000", "")
	both("SELECT COUNT(*), SUM(id), SUM(n) FROM l", "")

	for _, refused := range []string{
		"LOAD DATA INFILE '/tmp/x' INTO TABLE l",
		"LOAD XML LOCAL INFILE 'Reader::file' INTO TABLE l",
		"LOAD DATA LOCAL INFILE 'Reader::file' INTO TABLE l (id) SET s = (SELECT 1)",
	} {
		require.Equal(t, uint16(1235), differ.Run(t.Context(), b, refused, false).Errno, refused)
	}
	rows()
}
