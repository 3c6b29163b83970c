package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	commitClients = 8
	commitRows    = 2000
)

// commitRun is one kind of transaction through one target.
type commitRun struct {
	what, through string
	target        target
	settings      []string
	// next returns the statements of a client's nth transaction.
	next func(client, n int) []string

	rate, middle, cpu []float64
}

// commits is what transactions cost by how they end: on one node group, on two, and with a global index.
func (b *bench) commits(ctx context.Context) error {
	if err := b.startFour(ctx); err != nil {
		return err
	}
	var runs []*commitRun
	const what = "2 UPDATEs of one node group"
	for _, t := range b.targets() {
		if err := execute(ctx, t, createAccounts(t.db)...); err != nil {
			return err
		}
		runs = append(runs, &commitRun{what: what, through: t.name, target: t, next: transfers(t.db, [][]int{numbers()})})
	}
	four := b.scattered
	if err := execute(ctx, four, append(createAccounts("bench_four"),
		"CREATE TABLE bench_four.plain (id BIGINT PRIMARY KEY, email VARCHAR(40) NOT NULL)",
		"CREATE TABLE bench_four.uniq (id BIGINT PRIMARY KEY, email VARCHAR(40) NOT NULL UNIQUE)")...); err != nil {
		return err
	}
	var ids [][]int
	for _, g := range b.four.NodeGroups[:2] {
		list, err := accountsOf(ctx, target{addr: "unix:" + g.Socket, user: "root"})
		if err != nil {
			return err
		}
		ids = append(ids, list)
	}
	runs = append(runs,
		&commitRun{what: "2 UPDATEs of one node group, of 4", through: "skarv", target: four, next: transfers("bench_four", ids[:1])},
		&commitRun{what: "2 UPDATEs of two node groups", through: "skarv, atomic", target: four, next: transfers("bench_four", ids)},
		&commitRun{what: "2 UPDATEs of two node groups", through: "skarv, best effort", target: four, next: transfers("bench_four", ids),
			settings: []string{"SET skarv_commit = best_effort"}},
		&commitRun{what: "INSERT", through: "skarv", target: four, next: inserts("plain")},
		&commitRun{what: "INSERT with a global unique index", through: "skarv", target: four, next: inserts("uniq")},
	)
	for round := range b.rounds {
		for _, r := range runs {
			if err := r.sample(ctx, time.Duration(b.seconds)*time.Second/2, round); err != nil {
				return fmt.Errorf("%s, %s: %w", r.what, r.through, err)
			}
		}
	}
	b.report.text("%d clients; `BEGIN`, two UPDATEs by key, `COMMIT`, or one INSERT of a row. The four node groups share this machine's processors and disk.", commitClients)
	b.report.head("transaction", "through", "transactions/s", "median us", "proxy CPU us")
	defer b.report.end()
	for _, r := range runs {
		cpu := ""
		if r.target.pid != 0 {
			cpu = fmt.Sprintf("%.0f", median(r.cpu))
		}
		b.report.row(r.what, r.through, fmt.Sprintf("%.0f", median(r.rate)), fmt.Sprintf("%.0f", median(r.middle)), cpu)
	}
	find := func(what, through string) *commitRun {
		return runs[slices.IndexFunc(runs, func(r *commitRun) bool { return r.what == what && r.through == through })]
	}
	ratio := func(r, to *commitRun) float64 { return median(r.middle) / median(to.middle) }
	b.report.goal("a transaction on one node group, median latency", "about haproxy's", "%.2f x",
		ratio(find(what, "skarv"), find(what, b.haproxy.name)))
	b.report.goal("an atomic transaction on two node groups, median latency", "", "%.2f x best effort's",
		ratio(find("2 UPDATEs of two node groups", "skarv, atomic"), find("2 UPDATEs of two node groups", "skarv, best effort")))
	b.report.goal("an INSERT with a global unique index, median latency", "", "%.2f x that without",
		ratio(find("INSERT with a global unique index", "skarv"), find("INSERT", "skarv")))
	return nil
}

func numbers() (list []int) {
	for i := range commitRows {
		list = append(list, i)
	}
	return list
}

func createAccounts(db string) []string {
	rows := "INSERT INTO " + db + ".account VALUES "
	for i := range commitRows {
		if i > 0 {
			rows += ","
		}
		rows += fmt.Sprintf("(%d, 0)", i)
	}
	return []string{"CREATE TABLE " + db + ".account (id INT PRIMARY KEY, balance INT NOT NULL)", rows}
}

// accountsOf lists the accounts that a node group has.
func accountsOf(ctx context.Context, t target) (list []int, err error) {
	c, err := dial(ctx, t)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	_, rows, err := c.QueryAll("SELECT id FROM bench_four.account", commitRows)
	for _, r := range rows {
		id, err := strconv.Atoi(string(r[0]))
		if err != nil {
			return nil, err
		}
		list = append(list, id)
	}
	return list, err
}

// transfers are transactions that change one row of the first list and one of the last. Each client has rows of its own, so
// that nobody waits for a lock.
func transfers(db string, ids [][]int) func(client, n int) []string {
	return func(client, n int) []string {
		at := func(list []int, n int) int {
			return list[(n*commitClients+client)%(len(list)/commitClients*commitClients)]
		}
		return []string{
			"BEGIN",
			fmt.Sprintf("UPDATE %s.account SET balance = balance - 1 WHERE id = %d", db, at(ids[0], 2*n)),
			fmt.Sprintf("UPDATE %s.account SET balance = balance + 1 WHERE id = %d", db, at(ids[len(ids)-1], 2*n+1)),
			"COMMIT",
		}
	}
}

func inserts(table string) func(client, n int) []string {
	return func(client, n int) []string {
		id := n*commitClients + client
		return []string{fmt.Sprintf("INSERT INTO bench_four.%s VALUES (%d, 'someone%d@example.org')", table, id, id)}
	}
}

// sample runs transactions for as long as d.
func (r *commitRun) sample(ctx context.Context, d time.Duration, round int) error {
	before, err := cpuTime(r.target.pid)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	var clients sync.WaitGroup
	for client := range commitClients {
		clients.Go(func() {
			mine, err := r.client(ctx, d, client, round)
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
			if failed == nil {
				failed = err
			}
		})
	}
	clients.Wait()
	if failed != nil {
		return failed
	}
	if len(took) == 0 {
		return fmt.Errorf("no transaction in %s", d)
	}
	after, err := cpuTime(r.target.pid)
	if err != nil {
		return err
	}
	r.rate = append(r.rate, float64(len(took))/d.Seconds())
	r.middle = append(r.middle, float64(percentile(took, 0.5).Nanoseconds())/1e3)
	r.cpu = append(r.cpu, float64((after-before).Microseconds())/float64(len(took)))
	return nil
}

// client is one client's transactions.
func (r *commitRun) client(ctx context.Context, d time.Duration, client, round int) (took []time.Duration, err error) {
	c, err := dial(ctx, r.target)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	defer context.AfterFunc(ctx, c.Interrupt)()
	run := func(statements []string) error {
		for _, q := range statements {
			if _, err := c.Exec(q); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
		return nil
	}
	if err := run(r.settings); err != nil {
		return nil, err
	}
	const most = 1_000_000 // of one round
	began := time.Now()
	for n := range most {
		clock := newClock()
		if err := run(r.next(client, round*most+n)); err != nil {
			return took, err
		}
		took = append(took, clock())
		if time.Since(began) >= d {
			break
		}
	}
	return took, nil
}
