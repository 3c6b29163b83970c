package mover_test

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mover"
	"skarv/pkg/placement"
)

// rate compares the copy with what "mariadb-dump | mariadb" of the same rows takes, in turn. SKARV_MOVE_BENCH says of how many
// rows; without it, a few show that it works.
func rate(t *testing.T, r *rig) {
	rows, runs := 2000, 1
	if text := os.Getenv("SKARV_MOVE_BENCH"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		rows, runs = n, 5
	}
	r.schema(t, "rate", "sbtest (id) (id INT NOT NULL PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL, KEY k_1 (k))")
	a, b := r.nodes[0], r.nodes[1]
	for from := 0; from < rows; from += 1000 {
		q := "INSERT INTO rate.sbtest VALUES "
		for i := range 1000 {
			id := from + i
			q += fmt.Sprintf("(%d,%d,'%s','%s'),", id, id*7919%rows, strings.Repeat(fmt.Sprintf("%011d-", id*31), 10)[:119], strings.Repeat(fmt.Sprintf("%011d-", id), 5)[:59])
		}
		a.exec(t, q[:len(q)-1])
	}
	move := r.move()
	for p := range placement.Partition(placement.Partitions) {
		move.Partitions[p] = 2
	}
	delete(move.Targets, 3)
	var ratios []string
	for run := range runs {
		b.exec(t, "TRUNCATE TABLE rate.sbtest")
		began := time.Now()
		dump(t, a, b)
		dumped := time.Since(began)
		require.Equal(t, fmt.Sprint(rows), b.value(t, "SELECT COUNT(*) FROM rate.sbtest"))

		move.Reorg = fmt.Sprintf("rate-%d", run)
		moved := timed(t, r, move)
		require.Equal(t, fmt.Sprint(rows), b.value(t, "SELECT COUNT(*) FROM rate.sbtest"))
		ratios = append(ratios, fmt.Sprintf("%.2f", dumped.Seconds()/moved.Seconds()))

		// Of a hundredth of the partitions the whole table is read all the same.
		few := move
		few.Reorg, few.Partitions = fmt.Sprintf("few-%d", run), map[placement.Partition]placement.NodeGroupID{}
		for p := range placement.Partition(placement.Partitions / 100) {
			few.Partitions[p] = 2
		}
		t.Logf("%d rows: dump %s, move %s (%.0f rows/s); a hundredth of the partitions %s", rows, dumped, moved, float64(rows)/moved.Seconds(), timed(t, r, few))
	}
	t.Logf("move rate as a part of the dump's: %s", strings.Join(ratios, ", "))
}

// timed is how long it takes to copy the rows of a move to a target that has none.
func timed(t *testing.T, r *rig, move mover.Move) time.Duration {
	t.Helper()
	r.nodes[1].exec(t, "TRUNCATE TABLE rate.sbtest")
	cfg := config(t)
	cfg.ChunkRows = 0
	m, err := mover.New(cfg, move)
	require.NoError(t, err)
	require.NoError(t, m.Prepare(t.Context(), false))
	began := time.Now()
	at := r.run(t, cfg, move)
	at.copied(t)
	took := time.Since(began)
	at.halt()
	return took
}

// dump copies a table by way of the usual tools.
func dump(t *testing.T, from, to *node) {
	t.Helper()
	login := func(n *node) string {
		host, port, _ := strings.Cut(n.as.Conn.Addr, ":")
		return fmt.Sprintf("--no-defaults --host=%s --port=%s --user=%s --password=%s", host, port, n.as.Conn.User, n.as.Conn.Password)
	}
	c := exec.Command("sh", "-c", fmt.Sprintf("mariadb-dump %s --single-transaction --no-create-info --skip-tz-utc rate sbtest | mariadb %s rate", login(from), login(to)))
	out, err := c.CombinedOutput()
	require.NoError(t, err, string(out))
}
