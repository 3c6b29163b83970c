package control

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Jobs are records in etcd that outlive the process that wrote them: whoever leads next may be of another version.
func TestJobIsStoredAsEver(t *testing.T) {
	const stored = `{
		"id": "j", "state": "running", "created": "2026-01-02T03:04:05Z",
		"ddl": {"sql": "ALTER TABLE t", "db": "d", "sql_mode": "ANSI", "charset": "latin1", "collation": "latin1_bin", "session": ["SET x=1"],
			"user": "u", "event_since": "2026-01-02T03:04:05Z"},
		"adopt": {"name": "g", "primary": {"addr": "a:1", "user": "u", "password": "p", "version": "", "flavor": ""}},
		"work": {
			"step": {"sql": "S", "undo": ["U"], "repeat": true, "drops": [{"db": "d", "name": "t"}]},
			"rehearsal": {"table": {"db": "d", "name": "t"}, "copy": "c", "sql": "S", "into": ["a"], "from": ["b"]},
			"before": {"1": {"d.t": "text"}},
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
		"adopted": 3, "notes": ["N"]
	}`
	j, err := decodeJob("j", []byte(stored), 1)
	require.NoError(t, err)
	again, err := j.encode()
	require.NoError(t, err)
	require.JSONEq(t, stored, string(again))
}
