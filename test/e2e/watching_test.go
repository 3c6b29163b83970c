package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// metric is the value of a series as /metrics writes it: name and labels.
func metric(t testing.TB, text, series string) float64 {
	t.Helper()
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			require.NoError(t, err)
			return v
		}
	}
	return 0
}

// What an operator looks at: metrics, health, profiles, and logs without anybody's data in them.
func TestWatching(t *testing.T) {
	etcd := startEtcd(t, "http")
	d := deploy(t, etcd, 2, 1, etcdSection(etcd)+"slow_query: 1ns\nlog: {level: debug, format: json}\n")
	p := d.proxies[0]
	db := d.admin(t, 0, "")
	exec1(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.orders (id INT PRIMARY KEY, v VARCHAR(200))")
	key1, key2 := onGroup(t, p, 1), onGroup(t, p, 2)

	_, before := p.get(t, "/metrics")
	count := func(text, group, kind string) float64 {
		return metric(t, text, fmt.Sprintf(`skarv_statements_total{kind="%s",node_group="%s"}`, kind, group))
	}
	for _, id := range []int{key1, key2, key2} {
		exec1(t, db, fmt.Sprintf("REPLACE INTO shop.orders VALUES (%d, 's3cret-of-row')", id))
		exec1(t, db, fmt.Sprintf("SELECT * FROM shop.orders WHERE id = %d AND v = 's3cret-of-where'", id))
	}
	exec1(t, db, "SELECT COUNT(*) FROM shop.orders")
	_, err := db.Exec("UPDATE shop.orders SET v = ? WHERE id = ?", "s3cret-of-prepared", key1)
	require.NoError(t, err)
	_, err = db.Exec(fmt.Sprintf("INSERT INTO shop.orders VALUES (%d, 's3cret-of-duplicate')", key1))
	require.EqualValues(t, 1062, sqlError(t, err).Number)
	_, err = db.Exec("SELEC 's3cret-of-syntax'")
	require.Error(t, err)
	_, err = db.Exec("SELECT 's3cret-of-open")
	require.Error(t, err)
	_, err = db.Exec("CREATE TABLE shop.defaults (id INT PRIMARY KEY, v VARCHAR(50) DEFAULT 's3cret-of-ddl')")
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE shop.defaults (id INT PRIMARY KEY, v VARCHAR(50) DEFAULT 's3cret-of-failed-ddl')")
	require.Error(t, err)
	_, err = db.Exec("SET @x = 's3cret-of-variable'")
	require.NoError(t, err)
	_, err = db.Exec("CREATE USER x IDENTIFIED BY 's3cret-of-create-user'")
	require.NoError(t, err)
	_, err = db.Exec("CREATE USER x IDENTIFIED BY 's3cret-of-failed-create-user'")
	require.Error(t, err)
	_, err = db.Exec("CREATE USER y IDENTIFIED 's3cret-of-wrong-create-user'")
	require.Error(t, err)
	_, err = db.Exec("SET PASSWORD FOR nobody = PASSWORD('s3cret-of-set-password')")
	require.Error(t, err)
	require.Error(t, p.db(t, "admin", "s3cret-of-wrong-login", "").Ping())

	status, text := p.get(t, "/metrics")
	require.Equal(t, 200, status)
	grew := func(group, kind string) float64 { return count(text, group, kind) - count(before, group, kind) }
	require.EqualValues(t, 1, grew("1", "select"))
	require.EqualValues(t, 2, grew("2", "select"))
	require.EqualValues(t, 1, grew("0", "select"), "the count over both groups")
	require.EqualValues(t, 1, metric(t, text, `skarv_statement_errors_total{kind="insert",node_group="1"}`))
	require.GreaterOrEqual(t, metric(t, text, `skarv_statement_seconds_count{kind="select",node_group="2"}`), 2.0)
	for _, group := range []string{"0", "1", "2"} {
		require.Positive(t, metric(t, text, `skarv_statement_bytes_total{kind="select",node_group="`+group+`"}`))
	}
	require.EqualValues(t, 1, metric(t, text, `skarv_statement_rows_total{kind="select",node_group="0"}`))
	require.Positive(t, metric(t, text, `skarv_plan_cache_total{result="hit"}`))
	require.Positive(t, metric(t, text, `skarv_statement_strategy_total{strategy="relay"}`))
	require.Positive(t, metric(t, text, `skarv_statement_strategy_total{strategy="scatter"}`))
	require.Contains(t, text, "go_goroutines")
	require.Contains(t, text, "process_cpu_seconds_total")
	// Labels have few values: nothing of a client's is one.
	for _, line := range strings.Split(text, "\n") {
		require.NotContains(t, line, "shop")
		require.NotContains(t, line, "s3cret")
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (skarv_[a-z_]+) `).FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
	t.Log(len(names), "metrics of our own")
	for _, name := range []string{"skarv_statements_total", "skarv_statement_errors_total", "skarv_statement_seconds", "skarv_plan_cache_total"} {
		require.True(t, names[name], name)
	}

	for path, want := range map[string]string{
		"/healthz": "", "/readyz": "", "/": "<th>controller</th><td>127.0.0.1:", "/debug/pprof/": "goroutine", "/debug/pprof/goroutine?debug=1": "goroutine profile",
		"/debug/pprof/cmdline": "skarv", "/debug/pprof/profile?seconds=1": "", "/debug/pprof/heap": "",
	} {
		status, body := p.get(t, path)
		require.Equal(t, 200, status, path)
		require.Contains(t, body, want, path)
		require.NotContains(t, body, serverPassword, path)
		require.NotContains(t, body, adminPassword, path)
	}
	status, _ = p.get(t, "/no/such/page")
	require.Equal(t, 404, status)

	// Nobody's data is in the log, slow statements are there by their fingerprint.
	began := time.Now()
	require.Zero(t, p.end(t, syscall.SIGTERM))
	require.Less(t, time.Since(began), 5*time.Second, "nothing is waited for")
	log := p.errs.String()
	require.NotContains(t, log, "s3cret")
	slow := 0
	for line := range strings.Lines(log) {
		var entry struct {
			Msg, Statement, Kind, Strategy, User string
			Seconds                              float64
			Group                                int
		}
		require.NoError(t, json.Unmarshal([]byte(line), &entry), line)
		if entry.Msg == "slow statement" && strings.HasPrefix(entry.Statement, "SELECT * FROM shop.orders WHERE") {
			slow++
			require.Equal(t, "admin", entry.User)
			require.Equal(t, "relay", entry.Strategy)
			require.NotContains(t, entry.Statement, "'")
			require.Contains(t, []int{1, 2}, entry.Group)
		}
	}
	require.Equal(t, 3, slow)
}
