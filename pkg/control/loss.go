package control

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skarv/pkg/binlog"
	"skarv/pkg/catalog"
	"skarv/pkg/failover"
	"skarv/pkg/topology"
)

// isLost is lookout.lost of one group.
func (w *watch) isLost(g *catalog.NodeGroup) (acks int, look time.Time, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.primary != g.Primary.Addr || !slices.Equal(w.lostOf, addrs(g.Replicas)) || time.Since(w.lostAt) > lostFor {
		return 0, look, fmt.Errorf("it is not certain any more that the primary at %s is lost", g.Primary.Addr)
	}
	return w.acks, w.lostBy, nil
}

// comesBack notes that the primary answers.
func (w *watch) comesBack() {
	w.missing, w.silent, w.had, w.members = time.Time{}, time.Time{}, nil, nil
	w.state, w.looked = Failover{}, time.Time{}
	w.lose(nil)
}

// lose notes that the primary of a group is lost; of nil, that it is not.
func (w *watch) lose(g *catalog.NodeGroup) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lostAt, w.acks = time.Time{}, w.state.Acks
	if g != nil {
		w.lostAt, w.lostBy, w.lostOf = time.Now(), w.began, addrs(g.Replicas)
	}
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
	if f := all[g.ID]; f.Holds(g, now) {
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
	var lost *catalog.NodeGroup
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
	lost = g
	w.lose(g)
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
		s := w.servers.to[n.Addr]
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
