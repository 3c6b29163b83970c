package reorg

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"skarv/pkg/mover"
	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	"skarv/pkg/server"
	"skarv/test/cluster"
	"skarv/test/process"

	adminv1 "skarv/proto/admin/v1"
)

// chaosSeconds is how long processes are killed, unless SKARV_CHAOS_SECONDS says something else; from longSeconds on every step has to be
// reached, and longRate statements a second.
const (
	chaosSeconds = 120
	longSeconds  = 600
	longRate     = 500
)

// points are the steps of a reorganisation, and of its movers, at which processes die or stop.
func points() []string {
	all := []string{
		"entered.IN", "in.acked", "entered.COPY", "entered.CATCHUP", "entered.VERIFY", "freeze", "entered.FROZEN", "drained", "recovered",
		"cut", "published", "thawed", "entered.REVERSE", "entered.ROLLBACK", "entered.CLEANING", "cleaning.acked", "cleaned", "forgotten", "entered.DONE", "end",
	}
	for _, p := range mover.Points() {
		all = append(all, moverPoint+p)
	}
	return all
}

// atlas is which steps were reached, and how often.
type atlas struct {
	mu      sync.Mutex
	reached map[string]int
}

// next is some of the steps that have been reached least often, seldom any, or none: a controller that comes to no step of its own leads until
// it is struck by chance, and nothing is shown meanwhile.
func (a *atlas) next() process.Step {
	if rand.N(20) == 0 {
		return process.Step{}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	all := points()
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortStableFunc(all, func(x, y string) int { return a.reached[x] - a.reached[y] })
	least := 1
	for least < len(all) && a.reached[all[least]] == a.reached[all[0]] {
		least++
	}
	if rand.N(8) == 0 { // steps that are hard to reach are not to keep the others from their turn
		return process.Step{Points: all[rand.N(len(all)):][:1], Stops: rand.N(2)}
	}
	return process.Step{Points: all[:(least+2)/3], Stops: rand.N(4)} // some, not to end at the beginning of a reorganisation all the time
}

// storm is the cluster and all that happens to it.
type storm struct {
	*machine
	book  *tally
	atlas atlas
	procs []*process.Process
	// striking ends when nobody is killed any more.
	striking context.Context //nolint:containedctx // of the test
	stops    atomic.Int64
	deaths   atomic.Int64
	crash    atomic.Int64 // of database servers
}

// TestChaos grows a cluster from two node groups to three and five, shrinks it to three, and moves partitions to and fro, while
// Skarv's processes, controllers with their movers among them, are killed and stopped at every step and at random, and database servers crash.
// Whatever a client was told is done must be there, once; what it was told has failed must not; whoever counts rows must find all
// of them at any time; and every reorganisation must end by itself.
func TestChaos(t *testing.T) {
	length := process.Seconds(t, chaosSeconds)
	long, longest := length >= longSeconds*time.Second, length+3*time.Minute // if it takes as long until partitions have moved
	if long {
		longest = 3 * length / 2 // if it takes as long until every step was reached
	}
	c := cluster.Start(t, cluster.Groups(2), cluster.Tune(func(cfg *server.Config) { cfg.Roles = []server.Role{server.RoleProxy} }))
	s := &storm{machine: &machine{Cluster: c, t: t, store: store(t, c)}, book: newTally(), atlas: atlas{reached: map[string]int{}}}
	ctx, cancel := context.WithCancel(t.Context())
	var procs, clients, blows errgroup.Group
	defer func() {
		cancel()
		_ = clients.Wait()
		_ = blows.Wait()
		require.NoError(t, procs.Wait())
	}()
	working, end := context.WithCancel(ctx)
	defer end()
	var calm context.CancelFunc
	s.striking, calm = context.WithTimeout(working, longest)
	defer calm()
	addrs := []string{c.Addr()}
	for i := range 3 {
		p := s.process(i)
		s.procs = append(s.procs, p)
		addrs = append(addrs, p.Orders.Addr)
		ready := make(chan struct{})
		procs.Go(func() error { return p.Run(ctx, ready) })
		process.Await(t, ready, "the process serves")
	}
	db := c.DB(t, "")
	require.Eventually(t, func() bool { _, err := db.Exec("CREATE DATABASE IF NOT EXISTS d"); return err == nil }, time.Minute, 50*time.Millisecond)
	db = c.DB(t, "d")
	s.db = db
	for _, q := range []string{
		"CREATE TABLE s (id BIGINT PRIMARY KEY, v VARCHAR(20))",
		"CREATE TABLE n (id BIGINT PRIMARY KEY, n INT NOT NULL)",
		"CREATE TABLE u (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, UNIQUE KEY (name))",
	} {
		require.Eventually(t, func() bool { _, err := db.Exec(q); return err == nil || code(err) == 1050 }, time.Minute, 50*time.Millisecond, q)
	}
	for i := range chaosRows {
		exec(t, db, "INSERT INTO n VALUES (?, 0)", i)
	}

	for i := range 12 {
		clients.Go(func() error { return s.book.client(working, addrs[i%len(addrs)]) })
	}
	clients.Go(func() error { return s.book.counter(working, db) })
	blows.Go(func() error { return s.strike(s.striking) })
	blows.Go(func() error { return s.crashServers(s.striking) })
	began := time.Now()
	ended := map[reorg.Outcome]int{}
	s.add(1)
	ended[s.move(reorg.Request{}, false)]++
	s.add(2)
	ended[s.move(reorg.Request{}, false)]++
	groups := s.groups()
	ended[s.move(reorg.Request{Without: groups[3:]}, false)]++
	for time.Since(began) < length || (ended[reorg.Moved] == 0 || long && len(s.missed()) > 0) && time.Since(began) < longest {
		req := reorg.Request{}
		for _, g := range groups {
			if rand.N(3) == 0 && len(req.Without) < 4 {
				req.Without = append(req.Without, g)
			}
		}
		ended[s.move(req, rand.N(2) == 0)]++
	}
	took := time.Since(began)
	calm()
	end()
	require.NoError(t, clients.Wait())
	require.NoError(t, blows.Wait()) // all servers are up
	done := s.book.done.Load()
	rate := float64(done) / took.Seconds()
	t.Logf("%s: reorganisations that ended: %v", took.Round(time.Second), ended)
	t.Logf("%d statements, %.0f a second; all rows counted %d times; %d names taken, %d times one that was there refused", done, rate,
		s.book.counts.Load(), len(s.book.names), s.book.refused.Load())
	t.Logf("processes of Skarv killed or dead at a step: %d, stopped: %d; crashes of database servers: %d", s.deaths.Load(), s.stops.Load(), s.crash.Load())
	t.Logf("steps reached: %v", s.atlas.reached)
	assert.Positive(t, ended[reorg.Moved])
	t.Logf("no process ended or stopped at these steps: %v", s.missed())
	if long {
		assert.Empty(t, s.missed(), "steps at which no process ended or stopped")
		assert.GreaterOrEqual(t, rate, float64(longRate), "statements a second")
	}

	require.Eventually(t, func() bool { // orphans of killed processes end, prepared ones are finished
		for g := range c.Info().NodeGroups {
			if text(t, c.NodeGroupDB(t, g+1, ""), "XA RECOVER") != "" {
				return false
			}
		}
		return true
	}, 2*time.Minute, 100*time.Millisecond)
	s.book.audit(t, s.machine)
}

// missed are the steps that no process has ended or stopped at.
func (s *storm) missed() []string {
	s.atlas.mu.Lock()
	defer s.atlas.mu.Unlock()
	return slices.DeleteFunc(points(), func(p string) bool { return s.atlas.reached[p] > 0 })
}

// process makes a process of Skarv, proxy and controller.
func (s *storm) process(i int) *process.Process {
	p := &process.Process{Orders: process.Orders{
		Etcd: s.Info().Etcd, Addr: process.FreeAddr(s.t), Log: filepath.Join(s.Info().DataDir, fmt.Sprintf("process%d.log", i)),
	}}
	p.Next = func() process.Step {
		if s.striking.Err() != nil {
			return process.Step{}
		}
		return s.atlas.next()
	}
	p.Reached = func(point string, stopped bool) {
		s.atlas.mu.Lock()
		s.atlas.reached[point]++
		s.atlas.mu.Unlock()
		if stopped {
			s.stops.Add(1)
			time.AfterFunc(stopTime(), func() { p.Signal(syscall.SIGCONT) })
		} else {
			s.deaths.Add(1)
		}
	}
	return p
}

// stopTime is how long a process stands still: mostly so short that nobody notices or so long that others just do, sometimes for
// as long as the next controller takes to end a reorganisation.
func stopTime() time.Duration {
	if rand.N(5) == 0 {
		return time.Duration(15+rand.N(15)) * time.Second
	}
	return time.Duration(200+rand.N(5000)) * time.Millisecond
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// strike kills and stops processes at any time until ctx ends.
func (s *storm) strike(ctx context.Context) error {
	for ctx.Err() == nil {
		p := s.procs[rand.N(len(s.procs))]
		if rand.N(2) == 0 {
			p.Signal(syscall.SIGKILL)
			s.deaths.Add(1)
		} else {
			p.Signal(syscall.SIGSTOP)
			s.stops.Add(1)
			time.AfterFunc(stopTime(), func() { p.Signal(syscall.SIGCONT) })
		}
		pause(ctx, time.Duration(6000+rand.N(12000))*time.Millisecond)
	}
	for _, p := range s.procs {
		p.Signal(syscall.SIGCONT)
	}
	return nil
}

// crashServers kills database servers, one at a time, until ctx ends, and starts them again.
func (s *storm) crashServers(ctx context.Context) error {
	for {
		pause(ctx, time.Duration(6000+rand.N(12000))*time.Millisecond)
		if ctx.Err() != nil {
			return nil
		}
		n := s.Node(1 + rand.N(len(s.Info().NodeGroups)))
		if err := n.Kill(context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("kill a server: %w", err)
		}
		pause(ctx, time.Duration(rand.N(500))*time.Millisecond)
		began := time.Now()
		if err := n.Start(context.WithoutCancel(ctx)); err != nil {
			return fmt.Errorf("start a server again: %w", err)
		}
		s.crash.Add(1)
		pause(ctx, 3*time.Since(began)) // all of them are to be up most of the time, or nothing can move
	}
}

// add adds node groups. Only one of several attempts succeeds, but which one may not be known.
func (s *storm) add(n int) {
	t := s.t
	specs, err := s.Start(t.Context(), n)
	require.NoError(t, err)
	api := adminv1.NewAdminClient(s.Admin(t))
	for _, spec := range specs {
		var last error
		require.Eventually(t, func() bool {
			snap, err := s.store.Load(t.Context())
			require.NoError(t, err)
			for _, g := range snap.Groups {
				if g.Primary.Addr == spec.Primary.Addr {
					require.NoError(t, s.Added(t.Context(), spec, g.ID))
					return true
				}
			}
			_, last = api.AddNodeGroup(t.Context(), &adminv1.AddNodeGroupRequest{NodeGroup: &adminv1.NodeGroup{Primary: &adminv1.Node{
				Addr: spec.Primary.Addr, User: spec.Primary.User, Password: spec.Primary.Password, DataNode: spec.Primary.DataNode,
			}}})
			return false
		}, 3*time.Minute, 100*time.Millisecond, "%v", last)
	}
}

// groups are the node groups there are. Their numbers have holes: an attempt to add one may have died after it had one.
func (s *storm) groups() (ids []placement.NodeGroupID) {
	snap, err := s.store.Load(s.t.Context())
	require.NoError(s.t, err)
	for _, g := range snap.Groups {
		ids = append(ids, g.ID)
	}
	return ids
}

// move carries a reorganisation to its end and returns that: back, if it turns out so, when it was asked to.
func (s *storm) move(req reorg.Request, back bool) reorg.Outcome {
	t := s.t
	snap, err := s.store.Load(t.Context())
	require.NoError(t, err)
	moves, err := reorg.Plan(snap, req)
	require.NoError(t, err)
	if len(moves) == 0 {
		return "nothing to do"
	}
	window := time.Duration(0)
	if back {
		window = time.Hour
	}
	r, err := reorg.Create(t.Context(), s.store, "chaos", moves, window)
	require.NoError(t, err)
	defer func() {
		if t.Failed() {
			s.explain(r)
		}
	}()
	require.Eventually(t, func() bool {
		r, err = reorg.Get(t.Context(), s.store, r.ID)
		require.NoError(t, err)
		if r.State == reorg.Reverse && back && r.Wish == reorg.None {
			_, _ = reorg.Ask(t.Context(), s.store, r.ID, []reorg.Wish{reorg.WishRollback, reorg.WishComplete}[rand.N(2)])
		}
		_, running, err := reorg.Current(t.Context(), s.store)
		require.NoError(t, err)
		return r.State == reorg.Done && !running
	}, 5*time.Minute, 50*time.Millisecond, "it does not end")
	require.NotEqual(t, reorg.Refused, r.Outcome, r.Problem)
	return r.Outcome
}

// explain says what is known of a reorganisation that does not end: what its record says, what it waits for, and what
// the processes are doing.
func (s *storm) explain(r *reorg.Record) {
	t := s.t
	t.Logf("%s: state %s, wish %q, undo %v, attempts %d, problem %q, steps %v", r.ID, r.State, r.Wish, r.Undo, r.Attempts, r.Problem, r.Steps)
	p, ok, err := reorg.ProgressOf(context.Background(), s.store, r.ID)
	t.Logf("progress: %v %v %+v", ok, err, p)
	for i, p := range s.procs {
		p.Signal(syscall.SIGQUIT) // it says what its goroutines do, and ends
		time.Sleep(time.Second)
		text, err := os.ReadFile(p.Orders.Log)
		if err != nil {
			t.Log(err)
			continue
		}
		log, stacks, _ := strings.Cut(string(text), "SIGQUIT: quit")
		t.Logf("the end of the log of process %d: %s", i, log[max(0, len(log)-4000):])
		for _, stack := range strings.Split(stacks, "\n\n") {
			if strings.Contains(stack, "skarv/pkg/mover.") || strings.Contains(stack, "skarv/pkg/reorg.") {
				t.Log(stack)
			}
		}
	}
}
