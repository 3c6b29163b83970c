package control

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
)

// Whoever resumes a change under which a table is closed, wherever it stopped, leaves it open.
func TestTableIsOpenAgainWhateverDies(t *testing.T) {
	f := newFixture(t, 3)
	stop := f.control(nil)
	f.createDatabase()
	f.must("CREATE TABLE p (id INT PRIMARY KEY)")
	f.must("CREATE TABLE k (id INT PRIMARY KEY, n INT)")
	f.must("CREATE VIEW v AS SELECT id FROM k")
	stop()
	for _, sql := range []string{
		"ALTER TABLE k MODIFY n INT %s", "ALTER TABLE k %s FOREIGN KEY c", "RENAME TABLE k TO z, p TO k, z TO p", "CREATE OR REPLACE VIEW v AS SELECT id + %d AS id FROM k",
	} {
		for i, point := range []string{"planned", "closed", "indexes", "first", "executed", "committed"} {
			q := sql
			switch {
			case strings.Contains(sql, "FOREIGN KEY") && i%2 == 0:
				q = "ALTER TABLE k ADD CONSTRAINT c FOREIGN KEY (id) REFERENCES p (id)"
			case strings.Contains(sql, "FOREIGN KEY"):
				q = fmt.Sprintf(sql, "DROP")
			case strings.Contains(sql, "MODIFY"):
				q = fmt.Sprintf(sql, []string{"FIRST", "AFTER id"}[i%2])
			case strings.Contains(sql, "VIEW"):
				q = fmt.Sprintf(sql, i)
			}
			stopSecond := f.killedAt(point, q)
			for _, name := range []string{"p", "k", "v"} {
				require.False(t, f.table(name).Closed, "%s: %s killed at %s", name, q, point)
			}
			stopSecond()
		}
	}
	f.control(nil)
	f.refused("CREATE OR REPLACE VIEW v AS SELECT nothing FROM k", sqlerr.UnknownColumn, "nothing")
	require.False(t, f.table("v").Closed)
	f.must("DROP VIEW v")
	f.must("DROP TABLE k, p")
	f.clean()
}
