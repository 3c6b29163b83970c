package chaos

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/txn"
	"skarv/test/cluster"
	"skarv/test/process"
)

const (
	groups   = 4
	proxies  = 2
	tellers  = 8
	accounts = 200
	opening  = 1000
	// stormEvery is a time in whose first half proxies are killed.
	stormEvery = 28 * time.Second
	// patience is for how long the tellers go on, on a busy machine, until these many transfers and statements about members have succeeded and a
	// proxy has died at every step.
	patience       = 10 * time.Minute
	leastTransfers = 50
	leastMembers   = 20
)

// TestBank moves money between accounts on four node groups, each transfer with its entry in a journal on a third,
// while proxies die at every step of a commit and at random, and servers are killed. Then the balances must be those
// the journal says, no acknowledged transfer may be missing in it, and none that was refused may be there.
func TestBank(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(groups), cluster.TCPBackends())
	cutters := cutAll(t, c)
	admin := c.DB(t, "")
	for _, q := range []string{
		"CREATE DATABASE bank",
		"CREATE TABLE bank.account (id INT PRIMARY KEY, balance INT NOT NULL)",
		"CREATE TABLE bank.journal (id BIGINT PRIMARY KEY, src INT NOT NULL, dst INT NOT NULL, amount INT NOT NULL)",
		"CREATE TABLE bank.pair (id BIGINT PRIMARY KEY, twin BIGINT NOT NULL)",
	} {
		_, err := admin.Exec(q)
		require.NoError(t, err, q)
	}
	var rows []string
	for i := range accounts {
		rows = append(rows, fmt.Sprintf("(%d, %d)", i, opening))
	}
	_, err := admin.Exec("INSERT INTO bank.account VALUES " + strings.Join(rows, ", "))
	require.NoError(t, err)
	createTokens(t, admin)
	createMembers(t, admin)

	b := &bank{began: time.Now(), deaths: map[string]int{}, acknowledged: map[int64]bool{}, refused: map[int64]string{}, pairs: map[int64]bool{}, claimed: map[int64][]int64{}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var procs errgroup.Group
	var all []*process.Process
	for i := range proxies {
		p := &process.Process{
			Orders: process.Orders{
				Etcd: c.Info().Etcd, Addr: process.FreeAddr(t),
				Log: filepath.Join(c.Info().DataDir, fmt.Sprintf("proxy-%d.log", i)),
			},
			Next: b.nextPoint, Reached: b.died,
		}
		ready := make(chan struct{})
		procs.Go(func() error { return p.Run(ctx, ready) })
		process.Await(t, ready, "the process serves")
		all = append(all, p)
	}

	work, stop := context.WithCancel(ctx)
	defer stop()
	var g errgroup.Group
	g.Go(func() error {
		defer stop()
		pause(work, process.Seconds(t, 30))
		for limit := time.Now().Add(patience); !b.enough() && time.Now().Before(limit) && pause(work, 100*time.Millisecond); {
		}
		return nil
	})
	for i := range tellers {
		g.Go(func() error { return b.teller(work, all[i%proxies].Orders.Addr, i) })
	}
	g.Go(func() error { // proxies die at random, too
		for pause(work, time.Duration(1000+rand.IntN(2000))*time.Millisecond) {
			if b.storm() {
				all[rand.IntN(proxies)].Signal(syscall.SIGKILL)
				b.kills.Add(1)
			}
		}
		return nil
	})
	g.Go(func() error { // and servers
		for pause(work, time.Duration(4000+rand.IntN(3000))*time.Millisecond) {
			n := c.Node(1 + rand.IntN(groups))
			if err := n.Kill(ctx); err != nil {
				return err
			}
			pause(work, time.Duration(rand.IntN(500))*time.Millisecond)
			if err := n.Start(ctx); err != nil {
				return err
			}
			b.servers.Add(1)
		}
		return nil
	})
	g.Go(func() error { // connections are cut
		for pause(work, time.Duration(500+rand.IntN(1500))*time.Millisecond) {
			cutters[rand.IntN(groups)].cut(0.3)
			b.cuts.Add(1)
		}
		return nil
	})
	g.Go(func() error { return b.look(work, admin) })
	require.NoError(t, g.Wait())
	quiet := time.Now()
	b.awaitRecovered(t, c)
	took := time.Since(quiet)
	cancel()
	require.NoError(t, procs.Wait())

	b.mu.Lock()
	defer b.mu.Unlock()
	t.Logf("%d snapshots were whole, %d could not be taken (%s); connections cut %d times", b.seen.Load(), b.blind.Load(), b.why, b.cuts.Load())
	t.Logf("%d transfers acknowledged, %d refused, %d unknown; proxies killed %d times at random and at %v; servers killed %d times; recovered after %s",
		len(b.acknowledged), len(b.refused), b.unknown, b.kills.Load(), b.deaths, b.servers.Load(), took.Round(time.Millisecond))
	require.Greater(t, len(b.acknowledged), leastTransfers)
	var known int
	require.Eventually(t, func() bool { // connections that were cut last may be noticed only when they are used
		for range 20 {
			if admin.QueryRow("SELECT COUNT(*) FROM bank.journal").Scan(&known) != nil {
				return false
			}
		}
		return admin.QueryRow("SELECT COUNT(*) FROM skarv.transactions WHERE state <> 'in doubt'").Scan(&known) == nil
	}, time.Minute, 100*time.Millisecond)
	require.Positive(t, known, "how recovered transactions ended can be looked up")
	for _, point := range txn.Points() {
		require.Positive(t, b.deaths[point], "no proxy died at %q", point)
	}
	b.audit(t, admin)
	b.auditMembers(t, c, admin)
}

// bank is what the tellers know.
type bank struct {
	covered              atomic.Bool // somebody has died at every step
	began                time.Time
	last                 atomic.Int64
	kills, servers, cuts atomic.Int64
	seen, blind          atomic.Int64 // snapshots
	claims               atomic.Int64 // the name that is being claimed

	mu           sync.Mutex
	point        int
	deaths       map[string]int
	acknowledged map[int64]bool
	refused      map[int64]string // what was certainly rolled back, and why
	unknown      int
	why          string            // the last snapshot failed
	pairs        map[int64]bool    // acknowledged
	answers      map[uint16]int    // of statements about members, by error number
	odd          []string          // errors among them that clients must not see
	claimed      map[int64][]int64 // who was told to have each name
}

// enough reports whether there is something to be audited.
func (b *bank) enough() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.covered.Load() && len(b.acknowledged) > leastTransfers && b.answers[0] > leastMembers
}

func (b *bank) nextPoint() process.Step {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.storm() {
		return process.Step{}
	}
	points := txn.Points()
	b.point++
	return process.Step{Points: []string{points[b.point%len(points)]}, After: 1 + rand.IntN(40)}
}

// storm reports whether proxies die now. In between nobody's place in the cluster is in doubt, and snapshots can be taken.
// The first storm lasts until one has died at every step.
func (b *bank) storm() bool {
	return !b.covered.Load() || time.Since(b.began)%stormEvery < stormEvery/2
}

func (b *bank) died(point string, _ bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deaths[point]++
	b.covered.Store(len(b.deaths) == len(txn.Points()))
}

// teller works until ctx ends. Every other two are READ COMMITTED.
func (b *bank) teller(ctx context.Context, addr string, number int) error {
	db, err := open(addr, number/proxies%2 == 1)
	if err != nil {
		return err
	}
	defer db.Close()
	for ctx.Err() == nil {
		switch rand.IntN(10) {
		case 0:
			b.pair(db)
		case 1:
			b.token(db)
		case 2, 3:
			b.member(db)
		case 4:
			b.claim(db)
		default:
			b.transfer(db)
		}
	}
	return nil
}

// open returns a pool of clients of one proxy.
func open(addr string, committed bool) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName = "root", "tcp", addr, "bank"
	cfg.Timeout, cfg.ReadTimeout = time.Second, 30*time.Second
	cfg.Params = map[string]string{"innodb_lock_wait_timeout": "1"}
	if committed {
		name, value := readCommitted()
		cfg.Params[name] = value
	}
	cfg.Logger = &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// transfer is one transaction. It is not broken off by the end of the test: what it does must be known.
func (b *bank) transfer(db *sql.DB) {
	tx, err := db.Begin()
	if err != nil {
		time.Sleep(20 * time.Millisecond) // the proxy is being started again
		return
	}
	id := b.last.Add(1)
	src, dst, amount := rand.IntN(accounts), rand.IntN(accounts), 1+rand.IntN(20)
	for _, q := range []string{
		fmt.Sprintf("UPDATE account SET balance = balance - %d WHERE id = %d", amount, src),
		fmt.Sprintf("UPDATE account SET balance = balance + %d WHERE id = %d", amount, dst),
		fmt.Sprintf("INSERT INTO journal VALUES (%d, %d, %d, %d)", id, src, dst, amount),
	} {
		if _, err = tx.Exec(q); err != nil {
			_ = tx.Rollback() // the connection may be gone, too
			b.note(id, "statement: "+err.Error())
			return
		}
	}
	if rand.IntN(20) == 0 {
		_ = tx.Rollback()
		b.note(id, "rolled back by the client")
		return
	}
	err = tx.Commit()
	var refused *mysql.MySQLError
	switch {
	case err == nil:
		b.note(id, "")
	case errors.As(err, &refused) && refused.Number == 1213:
		b.note(id, refused.Message)
	default:
		b.mu.Lock()
		b.unknown++
		b.mu.Unlock()
	}
}

func (b *bank) note(id int64, refused string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if refused == "" {
		b.acknowledged[id] = true
	} else {
		b.refused[id] = refused
	}
}

// pair writes two rows in one autocommit statement, on two groups mostly.
func (b *bank) pair(db *sql.DB) {
	id := 2 * b.last.Add(1)
	_, err := db.Exec(fmt.Sprintf("INSERT INTO pair VALUES (%d, %d), (%d, %d)", id, id+1, id+1, id))
	if err == nil {
		b.mu.Lock()
		b.pairs[id] = true
		b.mu.Unlock()
	}
}

// settle is how long prepared transactions may be left over once nobody is killed any more: 5 seconds in the long run, which
// has the machine to itself.
func settle() time.Duration {
	if os.Getenv("SKARV_CHAOS_SECONDS") != "" {
		return 5 * time.Second
	}
	return 2 * time.Minute
}

// awaitRecovered waits until no server has a prepared transaction.
func (b *bank) awaitRecovered(t *testing.T, c *cluster.Cluster) {
	deadline := time.Now().Add(settle())
	for i := 1; i <= groups; i++ {
		db := c.NodeGroupDB(t, i, "")
		for {
			left := prepared(t, db)
			if len(left) == 0 {
				break
			}
			require.True(t, time.Now().Before(deadline), "node group %d still has prepared %v", i, left)
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// prepared returns the transactions of which a server has a prepared branch.
func prepared(t *testing.T, db *sql.DB) (list []txn.ID) {
	rows, err := db.Query("XA RECOVER")
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var format, g, q int
		var data string
		require.NoError(t, rows.Scan(&format, &g, &q, &data))
		id, ok := txn.Transaction(format, g, data)
		require.True(t, ok, data)
		list = append(list, id)
	}
	require.NoError(t, rows.Err())
	return list
}

// audit compares the books with what the tellers know.
func (b *bank) audit(t *testing.T, db *sql.DB) {
	balances := make([]int, accounts)
	for i := range balances {
		balances[i] = opening
	}
	found := map[int64]bool{}
	rows, err := db.Query("SELECT id, src, dst, amount FROM bank.journal")
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var id int64
		var src, dst, amount int
		require.NoError(t, rows.Scan(&id, &src, &dst, &amount))
		balances[src] -= amount
		balances[dst] += amount
		found[id] = true
	}
	require.NoError(t, rows.Err())
	for id := range b.acknowledged {
		require.True(t, found[id], "transfer %d was acknowledged and is missing", id)
	}
	for id, why := range b.refused {
		require.False(t, found[id], "transfer %d was refused (%s) and is there", id, why)
	}
	sum := 0
	have, err := db.Query("SELECT id, balance FROM bank.account ORDER BY id")
	require.NoError(t, err)
	defer have.Close()
	for have.Next() {
		var id, balance int
		require.NoError(t, have.Scan(&id, &balance))
		sum += balance
		require.Equal(t, balances[id], balance, "account %d is not what the journal says", id)
	}
	require.NoError(t, have.Err())
	require.Equal(t, accounts*opening, sum)

	var left int
	require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM bank.token").Scan(&left))
	require.Equal(t, tokens, left)
	require.Eventually(t, func() bool {
		before := b.seen.Load()
		err := b.lookOnce(db)
		require.NoError(t, err)
		return b.seen.Load() > before
	}, time.Minute, 100*time.Millisecond, "a snapshot, once nobody dies any more")

	twins := map[int64]int64{}
	pairs, err := db.Query("SELECT id, twin FROM bank.pair")
	require.NoError(t, err)
	defer pairs.Close()
	for pairs.Next() {
		var id, twin int64
		require.NoError(t, pairs.Scan(&id, &twin))
		twins[id] = twin
	}
	require.NoError(t, pairs.Err())
	for id, twin := range twins {
		require.Contains(t, twins, twin, "row %d of a statement is there, %d is not", id, twin)
	}
	for id := range b.pairs {
		require.Contains(t, twins, id, "an acknowledged row is missing")
	}
}

// pause waits for d; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
