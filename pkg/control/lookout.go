package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/failover"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// Bounds on automatic failover; see DESIGN.md.
const (
	lookEvery = time.Second
	lookTime  = 3 * time.Second // for a server to answer
	// lookPause is how far two looks may be apart; what was seen before a longer one counts for nothing.
	lookPause = 10 * time.Second
	// lookFresh is how old the last look at a primary may be when it, or somebody who reaches it, falls silent.
	lookFresh     = 20 * time.Second
	backEvery     = 5 * time.Second  // servers that were replaced are looked at
	lookRecord    = 5 * time.Second  // and then what was seen is written again, though it is the same
	lostFor       = 8 * time.Second  // after a look by which a primary is lost
	failoverApart = 10 * time.Minute // between two automatic failovers of a node group
	failoverAgain = 10 * time.Second // before one that has failed is tried again
)

// FailoverAfter is how long a primary is silent before a replica takes its place, unless a controller is told otherwise.
const FailoverAfter = 10 * time.Second

// Failover is what the controller has seen of the primary of a node group with automatic failover last.
type Failover struct {
	// Primary is its address, and ID how servers tell it from others.
	Primary string `json:"primary"`
	ID      string `json:"id,omitempty"`
	// Armed: it may be lost without anything that it has acknowledged.
	Armed bool `json:"armed"`
	// Why it is not armed; or, while it does not answer, why no replica takes its place yet.
	Why string `json:"why,omitempty"`
	// Acks is how many replicas have what it acknowledges.
	Acks int `json:"acks,omitempty"`
	// Back are the group's replaced primaries that answer and are no replicas.
	Back []string  `json:"back,omitempty"`
	At   time.Time `json:"at"`
}

// Current reports whether somebody looks.
func (f *Failover) Current(now time.Time) bool { return now.Sub(f.At).Abs() < lookFresh }

// Failovers is what the controller has seen last, by node group.
func Failovers(ctx context.Context, store *topology.Store) (map[placement.NodeGroupID]Failover, error) {
	records, _, err := store.Records(ctx, topology.Failovers)
	out := map[placement.NodeGroupID]Failover{}
	for _, r := range records {
		var f Failover
		if id, err := strconv.Atoi(r.ID); err == nil && json.Unmarshal(r.Value, &f) == nil {
			out[placement.NodeGroupID(id)] = f
		}
	}
	return out, err
}

// lookout watches over the primaries of node groups with automatic failover, for one leader, and has replicas take the place of those that are lost.
type lookout struct {
	leader *leader
	after  time.Duration

	mu      sync.Mutex
	watches map[placement.NodeGroupID]*watch
	back    map[placement.NodeGroupID][]string // see Failover
}

// run looks until ctx ends.
func (l *lookout) run(ctx context.Context) error {
	defer l.keep(nil)
	g, ctx := errgroup.WithContext(ctx)
	every := func(period time.Duration, look func(context.Context) error) {
		g.Go(func() error {
			tick := time.NewTicker(period)
			defer tick.Stop()
			for {
				if err := look(ctx); err != nil {
					return err
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-tick.C:
				}
			}
		})
	}
	every(lookEvery, l.look)
	every(backEvery, l.lookBack)
	return g.Wait()
}

// look looks once at every group.
func (l *lookout) look(ctx context.Context) error {
	snap := l.leader.follower.Snapshot()
	if snap == nil {
		return nil
	}
	var groups []*catalog.NodeGroup
	for _, g := range snap.Groups {
		if g.AutomaticFailover || len(g.Replaced) > 0 {
			groups = append(groups, g)
		}
	}
	watches := l.keep(groups)
	if len(groups) == 0 {
		return nil
	}
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, lookTime)
	members, err := l.leader.store.Members(bounded)
	cancel()
	if err != nil {
		members = nil
	}
	g, ctx := errgroup.WithContext(ctx)
	for i, w := range watches {
		l.mu.Lock()
		back := l.back[groups[i].ID]
		l.mu.Unlock()
		g.Go(func() error { return w.look(ctx, began, groups[i], snap.Map, members, back) })
	}
	return g.Wait()
}

// keep makes the watches those of groups.
func (l *lookout) keep(groups []*catalog.NodeGroup) (watches []*watch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.watches
	l.watches = map[placement.NodeGroupID]*watch{}
	for _, g := range groups {
		w := old[g.ID]
		if w == nil {
			w = &watch{leader: l.leader, after: l.after, servers: map[string]*watched{}}
		}
		l.watches[g.ID] = w
		watches = append(watches, w)
		delete(old, g.ID)
	}
	for _, w := range old {
		w.begin("")
	}
	return watches
}

// lost returns an error unless the primary of a node group was found lost just now, and when that look began.
func (l *lookout) lost(g *catalog.NodeGroup) (acks int, look time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.watches[g.ID]
	if w == nil {
		return 0, look, fmt.Errorf("automatic failover of node group %s is off", g.Label())
	}
	return w.isLost(g.Primary.Addr)
}

// watch is what is known of one node group's servers. Its methods but isLost are called by one goroutine at a time.
type watch struct {
	leader *leader
	after  time.Duration

	servers map[string]*watched // by address
	seen

	saved   Failover
	savedAt time.Time
	job     string    // that was asked for
	again   time.Time // not before this another one

	mu      sync.Mutex
	primary string    // whose watch it is
	lostAt  time.Time // when it was last found lost, and
	lostBy  time.Time // when the look began by which it was
	acks    int
}

// seen is what was seen of one primary without a break.
type seen struct {
	last  time.Time // look
	state Failover  // of the last one that has reached the primary, of this leader or the one before
	// reached is when the primary was last reached, by this process or another one; zero: not since the watch began.
	looked, reached time.Time
	missing         time.Time                 // since when this process does not reach it
	members         map[string]presence       // by ID
	silent          time.Time                 // since when nobody does
	began           time.Time                 // the last look
	had             map[string]*failover.View // the replicas when they were last looked at, by address
	// goal is what the primary had at goalAt, when it waited for its replicas already; zero: at no look.
	goal   binlog.Position
	goalAt time.Time
}

// presence is a process as others see it.
type presence struct {
	since   time.Time
	episode int64 // 0: it reaches the primary, or has not said otherwise
}

// watched is a connection to one of the servers.
type watched struct {
	*failover.Server
	cancel func()
}

// begin begins anew, with a primary.
func (w *watch) begin(primary string) {
	for addr := range w.servers {
		w.drop(addr)
	}
	w.seen = seen{}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.primary, w.lostAt, w.acks = primary, time.Time{}, 0
}

func (w *watch) drop(addr string) {
	if s := w.servers[addr]; s != nil {
		s.cancel()
		s.Close()
		delete(w.servers, addr)
	}
}

// isLost is lookout.lost of one group.
func (w *watch) isLost(primary string) (acks int, look time.Time, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.primary != primary || time.Since(w.lostAt) > lostFor {
		return 0, look, fmt.Errorf("it is not certain any more that the primary at %s is lost", primary)
	}
	return w.acks, w.lostBy, nil
}

// look looks once. members is nil if they are not known; they were looked at since began.
func (w *watch) look(ctx context.Context, began time.Time, g *catalog.NodeGroup, m *placement.PartitionMap, members []topology.Member, back []string) error {
	now := time.Now()
	if w.primary != g.Primary.Addr || now.Sub(w.last) > lookPause {
		w.begin(g.Primary.Addr)
	}
	w.last, w.began = now, began
	if !g.AutomaticFailover {
		return w.save(ctx, g, Failover{Primary: g.Primary.Addr, Back: back, At: now.UTC()})
	}
	primary, replicas, err := w.views(ctx, g)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var f Failover
	_, told := errors.AsType[*sqlerr.Error](err)
	switch {
	case err == nil:
		f = w.present(ctx, g, m, primary, replicas)
	case told && !mysqlconn.IsLost(err) && !sqlerr.HasCode(err, sqlerr.ServerShutdown):
		w.comesBack()
		f = Failover{Why: "the primary cannot be looked at: " + err.Error()}
	default:
		if err := w.inherit(ctx, g); err != nil {
			return nil // what it has seen is not to be written over
		}
		f = w.absent(ctx, g, err, replicas, members)
	}
	f.Primary, f.Back, f.At = g.Primary.Addr, back, time.Now().UTC()
	return w.save(ctx, g, f)
}

// comesBack notes that the primary answers.
func (w *watch) comesBack() {
	w.missing, w.silent, w.had, w.members = time.Time{}, time.Time{}, nil, nil
	w.state, w.looked = Failover{}, time.Time{}
	w.lose(false)
}

func (w *watch) lose(lost bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lostAt, w.acks = time.Time{}, w.state.Acks
	if lost {
		w.lostAt, w.lostBy = time.Now(), w.began
	}
}

// views looks at the primary and at those replicas that answer.
func (w *watch) views(ctx context.Context, g *catalog.NodeGroup) (primary *failover.View, replicas map[string]*failover.View, err error) {
	known := []string{g.Primary.Addr}
	all := make([]*failover.View, len(g.Replicas))
	servers := make([]*watched, len(g.Replicas))
	var looks errgroup.Group
	for i, n := range g.Replicas {
		known = append(known, n.Addr)
		servers[i] = w.servers[n.Addr]
		looks.Go(func() error {
			all[i], servers[i], _ = view(ctx, w.leader.login, g, n, servers[i])
			return nil
		})
	}
	_ = looks.Wait()
	replicas = map[string]*failover.View{}
	for i, n := range g.Replicas {
		replicas[n.Addr] = all[i]
		w.hold(n.Addr, servers[i])
	}
	// Behind them: of a primary that dies meanwhile its replicas were seen as they were before.
	primary, s, err := view(ctx, w.leader.login, g, g.Primary, w.servers[g.Primary.Addr])
	w.hold(g.Primary.Addr, s)
	for addr := range w.servers {
		if !slices.Contains(known, addr) {
			w.drop(addr)
		}
	}
	return primary, replicas, err
}

// hold keeps a connection; nil: there is none any more.
func (w *watch) hold(addr string, s *watched) {
	delete(w.servers, addr)
	if s != nil {
		w.servers[addr] = s
	}
}

// view looks at one server, by a connection that there is or another one, and returns that; nil: there is none.
func view(ctx context.Context, login func(*catalog.NodeGroup) mysqlconn.Config, g *catalog.NodeGroup, n catalog.Node, s *watched) (*failover.View, *watched, error) {
	end := time.Now().Add(lookTime)
	for used := s != nil; ; used = false {
		if s == nil {
			var err error
			if s, err = watchServer(ctx, login, g, n); err != nil {
				return nil, nil, err
			}
		}
		bounded, cancel := context.WithDeadline(ctx, end)
		release := s.Until(bounded)
		v, err := s.View()
		ended := !release()
		cancel()
		if err == nil && !ended {
			return v, s, nil
		}
		s.cancel()
		s.Close()
		if s = nil; !used || ended {
			if err == nil {
				err = context.DeadlineExceeded
			}
			return nil, nil, err
		}
	}
}

// watchServer connects to one of a group's servers, for as long as ctx or until it is cancelled.
func watchServer(ctx context.Context, login func(*catalog.NodeGroup) mysqlconn.Config, g *catalog.NodeGroup, n catalog.Node) (*watched, error) {
	of := *g
	of.Primary = n
	cfg := login(&of)
	cfg.Timeout = lookTime
	// It outlives the look.
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := time.AfterFunc(2*lookTime, cancel)
	s, err := failover.Dial(long, cfg, n.Addr, g.Primary.Flavor)
	if !stop.Stop() && err == nil {
		s.Close()
		err = context.DeadlineExceeded
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return &watched{Server: s, cancel: cancel}, nil
}

// present is a look at a primary that answers.
func (w *watch) present(ctx context.Context, g *catalog.NodeGroup, m *placement.PartitionMap, primary *failover.View, replicas map[string]*failover.View) Failover {
	w.comesBack()
	w.looked, w.reached = time.Now(), time.Now()
	f := Failover{ID: primary.ID, Acks: primary.SemiSync.Acks}
	w.had = replicas
	behind := w.behind(primary, replicas)
	f.Why = cmp.Or(w.unarmed(ctx, g, m, primary, replicas), behind)
	f.Armed = f.Why == ""
	w.state = f
	w.state.Primary = g.Primary.Addr
	return f
}

// unarmed tells why the primary may not be lost, and has it wait for its replicas where only that is missing.
func (w *watch) unarmed(ctx context.Context, g *catalog.NodeGroup, m *placement.PartitionMap, primary *failover.View, replicas map[string]*failover.View) string {
	if g.Switchover != nil {
		return "another primary is being made"
	}
	for addr, v := range replicas {
		if v != nil && v.SemiSync.Source && v.Replication != nil && v.Replication.SourceID == primary.ID {
			if err := w.wait(ctx, addr, false); err != nil {
				return err.Error()
			}
			v.SemiSync.Source = false
		}
	}
	waiting := *primary
	waiting.SemiSync.Source, waiting.SemiSync.Waits = true, true
	if why := failover.Lossless(g.Primary.Flavor, &waiting, replicas); !primary.SemiSync.Source && why == "" {
		if err := w.wait(ctx, g.Primary.Addr, true); err != nil {
			return err.Error()
		}
		return "the primary begins to wait for its replicas"
	}
	if why := failover.Lossless(g.Primary.Flavor, primary, replicas); why != "" {
		return why
	}
	for addr, v := range replicas {
		if v == nil {
			continue
		}
		if v.Up < lookFresh+3*lookTime { // see successor
			return fmt.Sprintf("replica %s was started just now", addr)
		}
		if err := w.servers[addr].MaySwitch(); err != nil {
			return err.Error()
		}
	}
	for _, mv := range m.Moving() {
		if mv.A == g.ID || mv.B == g.ID {
			return fmt.Sprintf("reorganisation %s uses the node group", mv.Reorg)
		}
	}
	if until := g.FailedOver.Add(failoverApart); time.Now().Before(until) {
		return fmt.Sprintf("a replica has taken a primary's place at %s, and not again before %s", g.FailedOver.Format(time.RFC3339), until.Format(time.RFC3339))
	}
	return ""
}

// behind tells that too few replicas have what the primary had while it waited for them already. Behind that it has acknowledged only what they have; but
// before it waited it did so by itself, and a replica that is started anew, on MariaDB also by START SLAVE, gets again what it had acknowledged and not applied.
func (w *watch) behind(primary *failover.View, replicas map[string]*failover.View) string {
	now, s := time.Now(), primary.SemiSync
	if !s.Source || !s.Waits {
		w.goalAt = time.Time{}
		return ""
	}
	have := 0
	for _, v := range replicas {
		if v != nil && v.SemiSync.Acknowledging && !w.goalAt.IsZero() && v.Has.Covers(w.goal) {
			have++
		}
	}
	if w.goalAt.IsZero() || have >= s.Acks && now.Sub(w.goalAt) >= lookEvery {
		w.goal, w.goalAt = primary.Has, now
	}
	if have >= s.Acks {
		return ""
	}
	return fmt.Sprintf("too few replicas have received what %s has (%d of %d)", primary.Addr, have, s.Acks)
}

// wait has a server wait for replicas, or not.
func (w *watch) wait(ctx context.Context, addr string, on bool) error {
	s := w.servers[addr]
	if s == nil {
		return fmt.Errorf("%s does not answer", addr)
	}
	if err := w.leader.store.Verify(ctx, w.leader.guard); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	defer s.Until(bounded)()
	w.leader.log.InfoContext(ctx, "a server waits for its replicas before it acknowledges, or does so no more", "addr", addr, "waits", on)
	return s.Wait(on)
}

// absent is a look at a primary that does not answer.
func (w *watch) absent(ctx context.Context, g *catalog.NodeGroup, silence error, replicas map[string]*failover.View, members []topology.Member) Failover {
	now := time.Now()
	if w.missing.IsZero() {
		w.missing = now
	}
	why := w.standing(ctx, g, replicas, members, now)
	f := w.state
	if f.Why = why; !f.Armed {
		f.Why = "it does not answer (" + silence.Error() + "), and is not replaced: " + w.state.Why
	}
	return f
}

// inherit takes over what the leader before has seen, if this one has not seen the primary itself.
func (w *watch) inherit(ctx context.Context, g *catalog.NodeGroup) error {
	if !w.looked.IsZero() || !w.missing.IsZero() {
		return nil
	}
	all, err := Failovers(ctx, w.leader.store)
	if err != nil {
		return err
	}
	now := time.Now()
	w.state = Failover{Why: "no controller has looked at it just before"}
	if f := all[g.ID]; f.Primary == g.Primary.Addr && f.Current(now) {
		w.state, w.looked = f, now
	}
	return nil
}

// standing tells why no replica takes the place of a primary that does not answer yet; "" if one does.
func (w *watch) standing(ctx context.Context, g *catalog.NodeGroup, replicas map[string]*failover.View, members []topology.Member, now time.Time) string {
	by := w.reachedBy(g, members, now)
	moved := w.moves(replicas)
	if len(by) > 0 || moved != "" || w.silent.IsZero() {
		w.silent = now
	}
	silent := now.Sub(w.silent)
	lost := false
	defer func() { w.lose(lost) }()
	switch {
	case len(members) == 0:
		w.silent = time.Time{}
		return "it is not known which processes run"
	case len(by) > 0:
		return "the controller does not reach it, and these processes do: " + strings.Join(by, ", ")
	case moved != "":
		return moved
	case !w.state.Armed:
		return w.state.Why
	case w.reached.Sub(w.looked) > lookFresh:
		w.state.Armed, w.state.Why = false, "the controller had not looked at it for some time when processes reached it last"
		return w.state.Why
	case silent < w.after:
		return fmt.Sprintf("it has not answered anybody for %v; a replica takes its place after %v", silent.Round(time.Second), w.after)
	}
	lost = true
	w.lose(true)
	if g.Switchover != nil {
		return "a replica is taking its place"
	}
	if why := w.failed(ctx); why != "" {
		return why
	}
	to, why := w.successor(ctx, g, replicas)
	if why != "" {
		return why
	}
	if err := w.request(ctx, g, to); err != nil {
		return "a replica cannot take its place: " + err.Error()
	}
	return "a replica is taking its place"
}

// reachedBy are the processes that do not say that the primary does not answer them.
func (w *watch) reachedBy(g *catalog.NodeGroup, members []topology.Member, now time.Time) (by []string) {
	first := w.members == nil
	next := map[string]presence{}
	for _, m := range members {
		p, known := w.members[m.ID]
		if !known {
			p = presence{since: now}
		}
		var episode int64
		for _, u := range m.Unreached {
			if u.Group == g.ID && u.Addr == g.Primary.Addr {
				episode = u.Episode
			}
		}
		// One that begins now says nothing yet, and has most probably not reached it.
		if (first || now.Sub(p.since) > lookFresh) && episode == 0 {
			w.reached = now
		}
		if episode == 0 {
			by = append(by, m.AdminAddr)
		}
		if p.episode != 0 && p.episode != episode {
			// It may have been started anew, and acknowledge what no replica has.
			w.state.Armed, w.state.Why = false, "process "+m.AdminAddr+" has reached it after the controller did last"
		}
		p.episode = episode
		next[m.ID] = p
	}
	if w.members = next; len(members) == 0 {
		w.members = nil
	}
	return by
}

// moves tells of a replica that receives from the primary, or has not any more what it had received.
func (w *watch) moves(replicas map[string]*failover.View) (why string) {
	for addr, v := range replicas {
		was := w.had[addr]
		if v == nil || v.Replication == nil || was == nil || was.Replication == nil {
			continue
		}
		switch {
		case !v.Has.Covers(was.Has):
			w.state.Armed, w.state.Why = false, fmt.Sprintf("replica %s has lost what it had received and not applied", addr)
		case was.Replication.Received != v.Replication.Received && v.Replication.Receives:
			why = fmt.Sprintf("replica %s receives from it", addr)
		}
	}
	w.had = replicas
	return why
}

// successor is the replica that has everything, and has applied it.
func (w *watch) successor(ctx context.Context, g *catalog.NodeGroup, replicas map[string]*failover.View) (to, why string) {
	bounded, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	unreached := 0
	has := map[string]binlog.Position{}
	applied := map[string]bool{}
	for _, n := range g.Replicas {
		v := replicas[n.Addr]
		if v == nil {
			if unreached++; unreached >= w.state.Acks {
				return "", fmt.Sprintf("replica %s cannot be reached, and may have more than the others", n.Addr)
			}
			continue
		}
		if v.Up < w.last.Sub(w.looked)+lookFresh+lookTime { // the last look may have been another controller's, lookFresh before; this one was when it began
			if unreached++; unreached >= w.state.Acks {
				return "", fmt.Sprintf("replica %s was started anew, and may have lost what it had acknowledged", n.Addr)
			}
			continue
		}
		r := v.Replication
		switch {
		case r == nil || r.SourceID != w.state.ID || r.Filters:
			return "", fmt.Sprintf("%s is no whole replica of it any more", n.Addr)
		case !v.ReadOnly:
			return "", fmt.Sprintf("replica %s is not read-only", n.Addr)
		}
		s := w.servers[n.Addr]
		release := s.Until(bounded)
		position, err := s.Got()
		if err == nil {
			applied[n.Addr], err = s.Applied()
		}
		release()
		if err != nil {
			return "", err.Error()
		}
		has[n.Addr] = position
	}
	for _, n := range g.Replicas {
		mine, reached := has[n.Addr]
		covers := func(o binlog.Position) bool { return mine.Covers(o) }
		if !reached {
			continue
		}
		all := true
		for _, o := range has {
			all = all && covers(o)
		}
		switch {
		case all && applied[n.Addr]:
			return n.Addr, ""
		case all && !replicas[n.Addr].Replication.Applies:
			why = fmt.Sprintf("replica %s does not apply what it has received: START REPLICA there", n.Addr)
		case all:
			why = fmt.Sprintf("replica %s applies what it has received", n.Addr)
		}
	}
	if why == "" {
		why = "none of the replicas has all that the others have"
	}
	return "", why
}

// failed tells how the failover that was asked for has failed, as long as it is not to be tried again, or that it goes on.
func (w *watch) failed(ctx context.Context) string {
	if w.job == "" {
		return ""
	}
	j, err := storedJob(ctx, w.leader.store, w.job)
	switch {
	case err != nil:
		return err.Error()
	case j != nil && !j.ended():
		return "a replica is taking its place"
	case w.again.IsZero():
		w.again = time.Now().Add(failoverAgain)
	case time.Now().After(w.again):
		w.job, w.again = "", time.Time{}
		return ""
	}
	if j == nil || j.Error == nil {
		return "a replica has taken its place"
	}
	return "a replica could not take its place, which is tried again: " + j.Error.Message
}

// request asks for the failover.
func (w *watch) request(ctx context.Context, g *catalog.NodeGroup, to string) error {
	j := &job{ID: newJobID(time.Now()), State: queued, Created: time.Now().UTC(), Switchover: &Switchover{Group: g.ID, To: to, Lost: true, Term: w.leader.guard.Term()}}
	data, err := j.encode()
	if err != nil {
		return err
	}
	w.leader.log.ErrorContext(ctx, "a primary is lost, and a replica takes its place", "group", g.ID, "addr", g.Primary.Addr, "to", to, "job", j.ID)
	if _, err := w.leader.store.Change(w.leader.guard).PutRecord(topology.DDLJobs, j.ID, data, topology.Absent).Commit(ctx); err != nil {
		return err
	}
	w.job = j.ID
	return nil
}

// save writes what was seen.
func (w *watch) save(ctx context.Context, g *catalog.NodeGroup, f Failover) error {
	same := w.saved.Primary == f.Primary && w.saved.Armed == f.Armed && w.saved.Why == f.Why && w.saved.Acks == f.Acks && w.saved.ID == f.ID && slices.Equal(w.saved.Back, f.Back)
	if same && time.Since(w.savedAt) < lookRecord {
		return nil
	}
	switch {
	case same || !g.AutomaticFailover:
	case f.Armed && f.Why == "":
		w.leader.log.InfoContext(ctx, "a primary may be lost: a replica takes its place then", "group", g.ID, "addr", f.Primary)
	case !f.Armed && (w.saved.Armed || w.saved.Why != f.Why):
		w.leader.log.WarnContext(ctx, "no replica would take a primary's place", "group", g.ID, "addr", f.Primary, "reason", f.Why)
	case f.Why != w.saved.Why && w.missing.Equal(w.last):
		w.leader.log.WarnContext(ctx, "a primary does not answer", "group", g.ID, "addr", f.Primary, "reason", f.Why)
	}
	data, err := json.Marshal(f)
	if err != nil {
		return err
	}
	_, err = w.leader.store.Change(w.leader.guard).PutRecord(topology.Failovers, strconv.Itoa(int(g.ID)), data, topology.Any).Commit(ctx)
	if errors.Is(err, topology.ErrNotLeader) {
		return err
	}
	if err == nil {
		w.saved, w.savedAt = f, time.Now()
	}
	return nil
}

// AutomaticFailover turns automatic failover of a node group on or off, or with dryRun only looks. notes tell what keeps it from being armed.
func (c *Client) AutomaticFailover(ctx context.Context, id placement.NodeGroupID, on, dryRun bool, login func(*catalog.NodeGroup) mysqlconn.Config) (notes []string, err error) {
	group, at, err := c.Store.Group(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case group == nil:
		return nil, fmt.Errorf("there is no node group %d", id)
	}
	if on {
		w := &watch{leader: &leader{login: login}, servers: map[string]*watched{}}
		defer w.begin("")
		primary, replicas, err := w.views(ctx, group)
		if err != nil {
			return nil, fmt.Errorf("the primary at %s cannot be looked at: %w", group.Primary.Addr, err)
		}
		if len(replicas) == 0 {
			return nil, fmt.Errorf("node group %s has no replica that the cluster knows", group.Label())
		}
		// The controller sees to these.
		primary.SemiSync.Source, primary.SemiSync.Waits = true, true
		for _, v := range replicas {
			if v != nil {
				v.SemiSync.Source = false
			}
		}
		if why := failover.Lossless(group.Primary.Flavor, primary, replicas); why != "" {
			notes = append(notes, "no replica would take the primary's place now: "+why)
		}
	}
	if dryRun || group.AutomaticFailover == on {
		return notes, nil
	}
	group.AutomaticFailover = on
	revision, err := c.Store.Change(nil).PutGroup(group, at).Commit(ctx)
	if err != nil {
		return nil, meanwhile(err)
	}
	c.Await(ctx, revision)
	return notes, nil
}
