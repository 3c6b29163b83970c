package reorg

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	"skarv/pkg/server"
	"skarv/test/cluster"
)

// chaosTime is how long it goes on: SKARV_CHAOS_SECONDS, or 15 seconds.
func chaosTime(t *testing.T) time.Duration {
	text := os.Getenv("SKARV_CHAOS_SECONDS")
	if text == "" {
		return 15 * time.Second
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return time.Duration(n) * time.Second
}

// points are the steps of a reorganisation at which processes die or stop.
func points() []string {
	return []string{
		"entered.IN", "in.acked", "entered.COPY", "entered.CATCHUP", "entered.VERIFY", "freeze", "entered.FROZEN", "drained", "recovered",
		"cut", "entered.REVERSE", "entered.CLEANING", "cleaning.acked", "cleaned", "entered.DONE", "end",
	}
}

// tally is what clients know of their writes.
type tally struct {
	mu      sync.Mutex
	next    int
	known   map[int]bool // inserted: acknowledged (true) or unknown (false)
	changes [chaosRows]struct{ sure, perhaps int }
}

const chaosRows = 64

// TestChaos moves partitions to and fro while processes, controllers among them, are killed and stopped at every step and at
// random. Whatever a client was told is done must be there, once; what it was told has failed must not; and every
// reorganisation must end by itself.
func TestChaos(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(3), cluster.Tune(func(cfg *server.Config) { cfg.Roles = []server.Role{server.RoleProxy} }))
	m := &machine{Cluster: c, t: t, store: store(t, c)}
	ctx, cancel := context.WithCancel(t.Context())
	var procs, clients errgroup.Group
	defer func() {
		cancel()
		_ = clients.Wait()
		require.NoError(t, procs.Wait())
	}()
	var reached sync.Map
	var stopped atomic.Int64
	var all []*process
	addrs := []string{c.Addr()}
	for i := range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		addr := l.Addr().String()
		require.NoError(t, l.Close())
		ready := make(chan struct{})
		p := &process{orders: orders{Etcd: c.Info().Etcd, Addr: addr, Log: filepath.Join(c.Info().DataDir, fmt.Sprintf("process%d.log", i))}}
		p.next = func() (string, bool) {
			if rand.N(2) == 0 {
				return "", false
			}
			return points()[rand.N(len(points()))], rand.N(3) == 0
		}
		p.reached = func(point string, stop bool) {
			reached.Store(point, true)
			if stop {
				stopped.Add(1)
				time.AfterFunc(time.Duration(500+rand.N(4000))*time.Millisecond, func() { p.signal(syscall.SIGCONT) })
			}
		}
		all = append(all, p)
		addrs = append(addrs, addr)
		procs.Go(func() error { return p.run(ctx, ready) })
		<-ready
	}
	db := c.DB(t, "")
	require.Eventually(t, func() bool { _, err := db.Exec("CREATE DATABASE IF NOT EXISTS d"); return err == nil }, time.Minute, 50*time.Millisecond)
	db = c.DB(t, "d")
	m.db = db
	for _, q := range []string{"CREATE TABLE s (id BIGINT PRIMARY KEY, v VARCHAR(20))", "CREATE TABLE n (id BIGINT PRIMARY KEY, n INT NOT NULL)"} {
		require.Eventually(t, func() bool { _, err := db.Exec(q); return err == nil || code(err) == 1050 }, time.Minute, 50*time.Millisecond, q)
	}
	for i := range chaosRows {
		exec(t, db, "INSERT INTO n VALUES (?, 0)", i)
	}

	book := &tally{known: map[int]bool{}}
	working, end := context.WithCancel(ctx)
	var counts atomic.Int64
	for i := range 6 {
		clients.Go(func() error { return book.client(working, addrs[i%len(addrs)]) })
	}
	clients.Go(func() error { return book.counter(working, db, &counts) })
	procs.Go(func() error { // processes that are killed or stopped at any time
		for working.Err() == nil {
			p := all[rand.N(len(all))]
			if rand.N(2) == 0 {
				p.signal(syscall.SIGKILL)
			} else {
				p.signal(syscall.SIGSTOP)
				time.AfterFunc(time.Duration(200+rand.N(5000))*time.Millisecond, func() { p.signal(syscall.SIGCONT) })
			}
			select {
			case <-working.Done():
			case <-time.After(time.Duration(2000+rand.N(5000)) * time.Millisecond):
			}
		}
		for _, p := range all {
			p.signal(syscall.SIGCONT)
		}
		return nil
	})
	began, ended := time.Now(), map[reorg.Outcome]int{}
	for time.Since(began) < chaosTime(t) || len(ended) == 0 {
		ended[m.oneOfMany()]++
	}
	end()
	require.NoError(t, clients.Wait())
	t.Logf("reorganisations: %v; statements counted all rows %d times; processes stopped: %d", ended, counts.Load(), stopped.Load())
	assert.Positive(t, ended[reorg.Moved])

	require.Eventually(t, func() bool { // orphans of killed processes end, prepared ones are finished
		for g := range c.Info().NodeGroups {
			if text(t, c.NodeGroupDB(t, g+1, ""), "XA RECOVER") != "" {
				return false
			}
		}
		return true
	}, time.Minute, 100*time.Millisecond)
	book.audit(t, m)
}

// oneOfMany carries a random reorganisation to its end and returns that.
func (m *machine) oneOfMany() reorg.Outcome {
	t := m.t
	snap, err := m.store.Load(t.Context())
	require.NoError(t, err)
	req := reorg.Request{}
	for g := placement.NodeGroupID(1); g <= 3; g++ {
		if rand.N(3) == 0 && len(req.Without) < 2 {
			req.Without = append(req.Without, g)
		}
	}
	moves, err := reorg.Plan(snap, req)
	require.NoError(t, err)
	if len(moves) == 0 {
		return ""
	}
	window := time.Duration(0)
	back := rand.N(3) == 0
	if back {
		window = time.Hour
	}
	r, err := reorg.Create(t.Context(), m.store, "chaos", moves, window)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		r, err = reorg.Get(t.Context(), m.store, r.ID)
		require.NoError(t, err)
		if r.State == reorg.Reverse && back && r.Wish == reorg.None {
			_, _ = reorg.Ask(t.Context(), m.store, r.ID, []reorg.Wish{reorg.WishRollback, reorg.WishComplete}[rand.N(2)])
		}
		_, running, err := reorg.Current(t.Context(), m.store)
		require.NoError(t, err)
		return r.State == reorg.Done && !running
	}, 2*time.Minute, 50*time.Millisecond, "%s does not end", r.ID)
	require.NotEqual(t, reorg.Refused, r.Outcome, r.Problem)
	return r.Outcome
}

// undone reports whether an error says that nothing was done.
func undone(err error) bool {
	switch code(err) {
	case 1213, 1205, 1317, 1040, 1203:
		return true
	}
	return false
}

// client writes until ctx ends, and keeps book.
func (b *tally) client(ctx context.Context, addr string) error {
	cfg, err := mysql.ParseDSN("root@tcp(" + addr + ")/d?timeout=2s&readTimeout=20s")
	if err != nil {
		return err
	}
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	db.SetMaxIdleConns(1)
	for ctx.Err() == nil {
		var err error
		switch rand.N(3) {
		case 0:
			err = b.insert(db)
		case 1:
			err = b.change(db, rand.N(chaosRows))
		default:
			err = b.change(db, rand.N(chaosRows), rand.N(chaosRows))
		}
		if err != nil && code(err) == 0 && !errors.Is(err, mysql.ErrInvalidConn) && !errors.Is(err, io.EOF) {
			time.Sleep(20 * time.Millisecond) // its process is being started
		}
	}
	return nil
}

func (b *tally) insert(db *sql.DB) error {
	b.mu.Lock()
	id := b.next
	b.next++
	b.known[id] = false
	b.mu.Unlock()
	_, err := db.Exec("INSERT INTO s VALUES (?, 'x')", id)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == nil:
		b.known[id] = true
	case undone(err):
		delete(b.known, id)
	}
	return err
}

// change adds one to rows, in a transaction if there are several.
func (b *tally) change(db *sql.DB, ids ...int) error {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	note := func(sure, perhaps int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, id := range ids {
			b.changes[id].sure += sure
			b.changes[id].perhaps += perhaps
		}
	}
	if len(ids) == 1 {
		_, err := db.Exec("UPDATE n SET n = n + 1 WHERE id = ?", ids[0])
		switch {
		case err == nil:
			note(1, 0)
		case !undone(err):
			note(0, 1)
		}
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := tx.Exec("UPDATE n SET n = n + 1 WHERE id = ?", id); err != nil {
			_ = tx.Rollback()
			return err // nothing is committed without COMMIT
		}
	}
	err = tx.Commit()
	switch {
	case err == nil:
		note(1, 0)
	case !undone(err):
		note(0, 1)
	}
	return err
}

// counter counts all rows over and over: those of n are always the same, and of s at least those that are acknowledged.
func (b *tally) counter(ctx context.Context, db *sql.DB, counts *atomic.Int64) error {
	for ctx.Err() == nil {
		b.mu.Lock()
		sure := 0
		for _, ok := range b.known {
			if ok {
				sure++
			}
		}
		b.mu.Unlock()
		var rows, distinct, inserted int
		err := db.QueryRow("SELECT COUNT(*), COUNT(DISTINCT id) FROM n").Scan(&rows, &distinct)
		if err == nil {
			if rows != chaosRows || distinct != chaosRows {
				return fmt.Errorf("%d rows, %d of them different, instead of %d", rows, distinct, chaosRows)
			}
			err = db.QueryRow("SELECT COUNT(*) FROM s").Scan(&inserted)
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // the proxy was shut out, and comes back
			continue
		}
		b.mu.Lock()
		most := b.next
		b.mu.Unlock()
		if inserted < sure || inserted > most {
			return fmt.Errorf("%d rows, of which %d were acknowledged before and %d are possible", inserted, sure, most)
		}
		counts.Add(1)
	}
	return nil
}

// audit compares what is there with what clients were told, and where it is with the map.
func (b *tally) audit(t *testing.T, m *machine) {
	require.Eventually(t, func() bool { _, err := m.db.Exec("SELECT 1"); return err == nil }, time.Minute, 100*time.Millisecond)
	there := map[string]int{}
	for _, id := range strings.Split(text(t, m.db, "SELECT id FROM s"), ",") {
		there[id]++
	}
	lost, twice, ghosts := 0, 0, 0
	for id := range b.next {
		sure, known := b.known[id]
		switch n := there[strconv.Itoa(id)]; {
		case n > 1:
			twice++
		case n == 0 && sure:
			lost++
		case n == 1 && !known:
			ghosts++
		}
	}
	assert.Zero(t, lost, "acknowledged rows are missing")
	assert.Zero(t, twice, "rows are there twice")
	assert.Zero(t, ghosts, "rows are there whose insert was refused")
	for id := range chaosRows {
		n, err := strconv.Atoi(text(t, m.db, fmt.Sprintf("SELECT n FROM n WHERE id = %d", id)))
		require.NoError(t, err)
		c := b.changes[id]
		assert.True(t, n >= c.sure && n <= c.sure+c.perhaps, "row %d was changed %d times; %d were acknowledged and %d are unknown", id, n, c.sure, c.perhaps)
	}
	pm, _, err := m.store.Map(t.Context())
	require.NoError(t, err)
	require.Empty(t, pm.Moving())
	for g := range m.Info().NodeGroups {
		for _, table := range []string{"s", "n"} {
			for _, id := range strings.Split(text(t, m.NodeGroupDB(t, g+1, "d"), "SELECT id FROM "+table), ",") {
				if id != "" && pm.Owner(partition(id)) != placement.NodeGroupID(g+1) {
					t.Errorf("row %s of %s is on node group %d, which does not own it", id, table, g+1)
				}
			}
		}
		late := text(t, m.NodeGroupDB(t, g+1, ""), "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '_skarv' AND table_name = 'late_write'")
		if late != "0" {
			assert.Equal(t, "0", text(t, m.NodeGroupDB(t, g+1, ""), "SELECT COUNT(*) FROM _skarv.late_write"), "late writes on node group %d", g+1)
		}
	}
}
