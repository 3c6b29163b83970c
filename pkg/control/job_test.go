package control

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/topology"
)

// Jobs are records in etcd that outlive the process that wrote them: whoever leads next may be of another version.
func TestJobIsStoredAsEver(t *testing.T) {
	const stored = `{
		"id": "j", "state": "running", "created": "2026-01-02T03:04:05Z", "from": "m",
		"ddl": {"sql": "ALTER TABLE t", "db": "d", "sql_mode": "ANSI", "charset": "latin1", "collation": "latin1_bin", "session": ["SET x=1"],
			"user": "u", "event_since": "2026-01-02T03:04:05Z"},
		"adopt": {"name": "g", "primary": {"addr": "a:1", "user": "u", "password": "p", "version": "", "flavor": ""}},
		"work": {
			"step": {"sql": "S", "undo": ["U"], "repeat": true, "drops": [{"db": "d", "name": "t"}]},
			"rehearsal": {"table": {"db": "d", "name": "t"}, "copy": "c", "sql": "S", "into": ["a"], "from": ["b"]},
			"digests": {"1": "0f"},
			"watched": [{"db": "d", "name": "f", "kind": "function"}],
			"marker": "m", "first": 2, "own_rows": true,
			"indexes": [{"id": 7, "sql": "S", "name": "k", "columns": ["a"]}],
			"build": {"db": "d", "name": "t"}, "obsolete": [5], "widen": ["W"],
			"rebuild": {"table": {"db": "d", "name": "t"}, "new": "n", "old": "o", "sql": "S", "columns": {"a": "b"}, "number": "a",
				"zero_is_value": true, "counts": true, "sums": {"1": "99"}},
			"refresh": [{"db": "d", "name": "t", "old": {"db": "d", "name": "s"}, "like": {"db": "d", "name": "l"}, "key": ["a"], "key_given": true,
				"renamed": {"a": "b"}, "new_id": true, "take_counter": true, "rebuilt": true, "global": {"k": 7}}],
			"drop": [{"db": "d", "name": "s"}],
			"routines": [{"db": "d", "name": "e", "kind": "event"}],
			"event": {"definer": "u", "status": "ENABLED", "since": "2026-01-02T03:04:05Z", "scheduled": true},
			"events_off": true, "put_db": "d", "single": true, "drop_db": "e",
			"warnings": [{"level": "Note", "code": 1050, "message": "W"}], "affected": 3
		},
		"result": {"affected": 4, "warnings": [{"level": "Warning", "code": 1265, "message": "V"}]},
		"problem": "P", "adopted": 3, "notes": ["N"]
	}`
	j, err := decodeJob(topology.Record{ID: "j", Value: []byte(stored), Revision: 1})
	require.NoError(t, err)
	again, err := j.encode()
	require.NoError(t, err)
	require.JSONEq(t, stored, string(again))
}

// A job that cannot be done, or that etcd has no room for, costs neither the leadership nor those behind it.
func TestJobsThatCannotBeDone(t *testing.T) {
	f := newFixture(t, 2)
	var log lockedBuffer
	c := New(Config{Store: f.store, Follower: f.follower, Addr: "here:1", Retry: 10 * time.Millisecond, Log: slog.New(slog.NewTextHandler(&log, nil))})
	defer f.background(c.Run)()
	f.createDatabase()
	_, err := f.client.request(f.ctx(), &job{})
	require.NoError(t, err)
	unfinished, err := Unfinished(f.ctx(), f.store)
	require.NoError(t, err)
	require.Empty(t, unfinished)

	// What a job notes of its tables does not grow with their texts: etcd takes 1.5 MB.
	const tables, columns = 20, 45
	comment := strings.Repeat("c", 1000)
	var names []string
	for i := range tables {
		sql := fmt.Sprintf("CREATE TABLE wide%d (id INT PRIMARY KEY", i)
		for c := range columns {
			sql += fmt.Sprintf(", c%d INT COMMENT '%s'", c, comment)
		}
		f.must(sql + ")")
		names = append(names, fmt.Sprintf("wide%d", i))
	}
	f.must("DROP TABLE " + strings.Join(names, ", "))
	require.Nil(t, f.follower.Snapshot().Table("d", "wide0"))
	require.NotContains(t, log.String(), "leads no more")
}

// lockedBuffer is a bytes.Buffer for several goroutines.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
