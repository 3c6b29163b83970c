package mover_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/binlog"
)

// load is clients that change rows of the tables of loadSchema all the time.
type load struct {
	stop context.CancelFunc
	wg   sync.WaitGroup
	done atomic.Int64
	t    *testing.T

	once   sync.Once
	finish func()

	// committed are the branches whose XA COMMIT was sent: of those that a dead connection leaves behind, the ones that must be committed.
	committed sync.Map
}

// loadSchema is tables of many kinds of keys.
func loadSchema() []string {
	return []string{
		"t (id) (id BIGINT PRIMARY KEY, n INT, u VARCHAR(20), txt TEXT, at TIMESTAMP(3) NULL, UNIQUE KEY u (u, id), KEY n (n))",
		"s (k) (k VARCHAR(20) COLLATE utf8mb4_general_ci, n INT, v BLOB, PRIMARY KEY (k, n)) ROW_FORMAT=DYNAMIC",
		"e (e) (e ENUM('a','b','c','d','e','f','g','h') NOT NULL, d DATE NOT NULL, f DOUBLE, PRIMARY KEY (e, d))",
		"q (a) (a INT NOT NULL, b INT NOT NULL, v INT, UNIQUE KEY ab (a, b))",
	}
}

func startLoad(t *testing.T, r *rig, clients int) *load {
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{stop: cancel, t: t}
	for i := range clients {
		l.wg.Add(1)
		go func() {
			defer l.wg.Done()
			l.client(ctx, r, i)
		}()
	}
	l.finish = func() { // branches of clients that lost their connection
		r.sweep(t, func(x binlog.XID) bool {
			_, sent := l.committed.Load(x.GTRID)
			return sent
		})
	}
	t.Cleanup(l.end)
	return l
}

// end stops the clients; nothing of theirs is left open.
func (l *load) end() {
	l.stop()
	l.wg.Wait()
	l.once.Do(l.finish)
}

// client changes rows until ctx ends. What the server refuses (a duplicate key, a deadlock) is rolled back.
func (l *load) client(ctx context.Context, r *rig, n int) {
	rnd := rand.New(rand.NewPCG(uint64(n), 42))
	for x := 0; ctx.Err() == nil; x++ {
		// Statements are not broken off: that would leave branches behind.
		background := context.WithoutCancel(ctx)
		c, err := r.nodes[0].db.Conn(background)
		if err != nil {
			continue // the server is being restarted
		}
		if l.transaction(background, c, r.db, rnd, fmt.Sprintf("x%d-%d-%s", n, x, r.db)) == nil {
			l.done.Add(1)
		}
		c.Close()
	}
}

// transaction runs one of a few statements, plain or as a branch that is committed, rolled back or committed in one phase.
func (l *load) transaction(ctx context.Context, c *sql.Conn, db string, rnd *rand.Rand, xid string) (err error) {
	exec := func(q string) error {
		_, err := c.ExecContext(ctx, q)
		return err
	}
	kind := rnd.IntN(10)
	branch := kind >= 6
	begin, undo := "BEGIN", "ROLLBACK"
	if branch {
		begin = "XA START '" + xid + "'"
	}
	if err := exec(begin); err != nil {
		return err
	}
	prepared := false
	defer func() {
		if err == nil {
			return
		}
		if branch {
			if !prepared {
				_, _ = c.ExecContext(ctx, "XA END '"+xid+"'")
			}
			undo = "XA ROLLBACK '" + xid + "'"
		}
		_, _ = c.ExecContext(ctx, undo)
	}()
	for range 1 + rnd.IntN(4) {
		if err := exec(statement(db, rnd)); err != nil {
			return err
		}
	}
	if !branch {
		if kind == 0 {
			return fmt.Errorf("rolled back")
		}
		return exec("COMMIT")
	}
	if err := exec("XA END '" + xid + "'"); err != nil {
		return err
	}
	if kind == 6 {
		return exec("XA COMMIT '" + xid + "' ONE PHASE")
	}
	if err := exec("XA PREPARE '" + xid + "'"); err != nil {
		return err
	}
	prepared = true
	if kind == 7 {
		return fmt.Errorf("rolled back")
	}
	l.committed.Store(xid, true)
	return exec("XA COMMIT '" + xid + "'")
}

func statement(db string, rnd *rand.Rand) string {
	id := rnd.IntN(3000)
	key := func() string {
		return strings.Repeat(string(rune('a'+rnd.IntN(26))), 1+rnd.IntN(3)) + fmt.Sprint(rnd.IntN(20))
	}
	switch rnd.IntN(14) {
	case 0, 1, 2:
		return fmt.Sprintf("INSERT INTO %s.t VALUES (%d, %d, 'u%d', REPEAT('x', %d), NOW(3)) ON DUPLICATE KEY UPDATE n = n + 1", db, id, id, rnd.IntN(500), rnd.IntN(200))
	case 3:
		return fmt.Sprintf("UPDATE %s.t SET n = n + 1, txt = 'it''s \\\\ \\0 å' WHERE id BETWEEN %d AND %d", db, id, id+10)
	case 4:
		return fmt.Sprintf("DELETE FROM %s.t WHERE id BETWEEN %d AND %d", db, id, id+3)
	case 5:
		return fmt.Sprintf("UPDATE IGNORE %s.t SET id = %d WHERE id = %d", db, rnd.IntN(3000), id)
	case 6:
		return fmt.Sprintf("UPDATE %s.t SET u = IF(u = 'u1', 'u2', 'u1') WHERE id = %d", db, id)
	case 7, 8:
		return fmt.Sprintf("REPLACE INTO %s.s VALUES ('%s', %d, x'00ff%02x27')", db, key(), rnd.IntN(5), rnd.IntN(256))
	case 9:
		return fmt.Sprintf("UPDATE IGNORE %s.s SET k = UPPER(k), v = CONCAT(v, '!') WHERE k = '%s' AND LENGTH(v) < 100", db, key())
	case 10:
		return fmt.Sprintf("DELETE FROM %s.s WHERE k = '%s'", db, key())
	case 11:
		return fmt.Sprintf("REPLACE INTO %s.e VALUES (%d, '2024-01-01' + INTERVAL %d DAY, %d / 7e0)", db, 1+rnd.IntN(8), rnd.IntN(300), id)
	case 12:
		return fmt.Sprintf("INSERT INTO %s.q VALUES (%d, %d, 1) ON DUPLICATE KEY UPDATE v = IFNULL(v, 0) + 1", db, rnd.IntN(500), rnd.IntN(3))
	default:
		return fmt.Sprintf("UPDATE %s.q SET v = NULL WHERE a = %d; DELETE FROM %s.e WHERE e = %d LIMIT 3", db, rnd.IntN(500), db, 1+rnd.IntN(8))
	}
}

// fill puts rows into the tables of loadSchema.
func fill(t *testing.T, r *rig) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 30 {
		q := "INSERT IGNORE INTO " + r.db + ".t VALUES "
		for range 100 {
			q += fmt.Sprintf("(%d, %d, 'u%d', 'some text', '2024-01-01 00:00:00.5'),", rnd.IntN(3000), rnd.IntN(1000), rnd.IntN(500))
		}
		_, err := r.nodes[0].db.Exec(q[:len(q)-1])
		require.NoError(t, err)
	}
	for range 300 {
		r.nodes[0].exec(t, statement(r.db, rnd))
	}
}
