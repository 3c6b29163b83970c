package e2e

import (
	"database/sql"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The process that runs events is killed in the middle of one that takes long. Another one takes over; no tick runs twice, and
// the one that was cut off is told to be unknown. The body writes two rows over two node groups in a transaction: both or none.
func TestEventsOutliveTheirProcess(t *testing.T) {
	etcd := startEtcd(t, "http")
	d := deploy(t, etcd, 2, 2, etcdSection(etcd))
	dbs := []*sql.DB{d.admin(t, 0, "", "multiStatements=true"), d.admin(t, 1, "", "multiStatements=true")}
	exec1(t, dbs[0], "CREATE DATABASE shop", "CREATE TABLE shop.ran (id INT AUTO_INCREMENT PRIMARY KEY, n VARCHAR(40), part INT)",
		"CREATE EVENT shop.often ON SCHEDULE EVERY 1 SECOND DO BEGIN DECLARE n VARCHAR(40) DEFAULT UUID(); START TRANSACTION; INSERT INTO shop.ran (n, part) VALUES (n, 1); DO SLEEP(0.5); INSERT INTO shop.ran (n, part) VALUES (n, 2), (n, 3), (n, 4); COMMIT; END")
	ids := make([]string, 2)
	for i, p := range d.proxies {
		_, body := p.get(t, "/api/status")
		ids[i] = body
	}
	live := dbs[1]
	state := func(columns string) string {
		return rowsOf(t, live, "SELECT "+columns+" FROM skarv.events WHERE event_name = 'often'")
	}
	eventually(t, patience, "a run that another one follows", func() bool { return state("runs > 1") == "1\n" })
	leader := 0
	if process := strings.TrimSpace(state("process")); strings.Contains(ids[1], process) {
		leader, live = 1, dbs[0]
	}
	eventually(t, patience, "a run that has begun", func() bool { return strings.Contains(state("last_outcome"), "running") })
	before := state("process")
	d.proxies[leader].end(t, syscall.SIGKILL)
	eventually(t, patience, "another process", func() bool { return state("process") != before && strings.Contains(state("last_outcome"), "ok") })

	exec1(t, live, "ALTER EVENT shop.often DISABLE")
	eventually(t, patience, "the end of the last run", func() bool { return !strings.Contains(state("last_outcome"), "running") })
	var runs, failures, rounds int
	require.NoError(t, live.QueryRow("SELECT runs, failures FROM skarv.events").Scan(&runs, &failures))
	eventually(t, patience, "the end of what the killed process had begun: no half of a run", func() bool {
		var halves int
		err := live.QueryRow("SELECT COUNT(*), COALESCE(SUM(p <> 4), 0) FROM (SELECT n, COUNT(*) AS p FROM shop.ran GROUP BY n) x").Scan(&rounds, &halves)
		return err == nil && halves == 0
	})
	require.Zero(t, failures, fmt.Sprint(state("last_error")))
	require.LessOrEqual(t, rounds, runs)
	require.GreaterOrEqual(t, rounds, runs-1, "only the run that was cut off may be missing")
}
