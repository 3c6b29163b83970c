package cluster

import (
	"database/sql"
	"testing"
	"time"
)

// LockTick is between two looks at lock waits: what servers tell of them is a copy, which is not made anew for who asks more often.
const LockTick = 120 * time.Millisecond

// LockWaits is how many transactions wait for row locks on the servers.
func LockWaits(t testing.TB, servers []*sql.DB) (n int) {
	t.Helper()
	for _, db := range servers {
		var here int
		if err := db.QueryRow("SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'").Scan(&here); err != nil {
			t.Fatal(err)
		}
		n += here
	}
	return n
}
