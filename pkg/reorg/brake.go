package reorg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/mover"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
)

// brake is why movers should go slowly: clients whose statements wait because a node group is slow, and replicas that are behind. The zero
// brake knows of nothing. Its methods may be called from any goroutine.
type brake struct {
	mu       sync.Mutex
	pressed  map[placement.NodeGroupID]string // processes whose statements wait
	replicas map[string]*replica
}

// replica is how far a replica is behind.
type replica struct {
	group placement.NodeGroupID
	name  string
	lag   time.Duration // as last measured
	asked time.Time     // when the measurement that is under way began, or zero
}

// reason is why a mover that uses these groups should go slowly, when replicas may be behind by lag; or nothing.
func (b *brake) reason(groups []placement.NodeGroupID, lag time.Duration) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, g := range groups {
		if who := b.pressed[g]; who != "" {
			return fmt.Sprintf("statements of %s wait for node group %d, which is slow", who, g)
		}
	}
	for _, r := range b.replicas {
		behind := r.lag
		if !r.asked.IsZero() {
			behind = max(behind, time.Since(r.asked))
		}
		if slices.Contains(groups, r.group) && behind > lag {
			return fmt.Sprintf("replica %s of node group %d is %s behind", r.name, r.group, behind.Round(time.Second))
		}
	}
	return ""
}

// press takes in what processes say.
func (b *brake) press(pressed map[placement.NodeGroupID]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pressed = pressed
}

// measuring notes that a replica is being asked, and measured how far it was behind, as far as that is known.
func (b *brake) measuring(r *replica) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.replicas == nil {
		b.replicas = map[string]*replica{}
	}
	b.replicas[r.name] = r
	r.asked = time.Now()
}

func (b *brake) measured(r *replica, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.lag = 0; known {
		r.lag = time.Since(r.asked)
	}
	r.asked = time.Time{}
}

// forget notes that a replica is asked no more.
func (b *brake) forget(r *replica) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.replicas[r.name] == r {
		delete(b.replicas, r.name)
	}
}

// lookEvery is how often processes and replicas are asked, and lookTimeout how long a process has for its answer.
const (
	lookEvery   = time.Second
	lookTimeout = 500 * time.Millisecond
)

// look keeps the brake of movers between these groups up to date until ctx ends.
func (j *job) look(ctx context.Context, groups []placement.NodeGroupID) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		for ctx.Err() == nil {
			if j.atWork() {
				j.brake.press(j.pressure(ctx))
			}
			_ = j.doze(ctx) // ctx tells
		}
		return ctx.Err()
	})
	g.Go(func() error { return j.lookAtReplicas(ctx, groups) })
	return g.Wait()
}

// lookAtReplicas measures how far the replicas of groups are behind, from the beginning on: it is to be known when rows begin to move. They may become others.
func (j *job) lookAtReplicas(ctx context.Context, groups []placement.NodeGroupID) error {
	var looks sync.WaitGroup
	defer looks.Wait()
	looked := map[[2]string]context.CancelFunc{} // by the addresses of primary and replica
	for ; ctx.Err() == nil; _ = j.doze(ctx) {    // ctx tells
		snap := j.cfg.Follower.Snapshot()
		if snap == nil {
			continue
		}
		named := map[[2]string]bool{}
		for _, group := range snap.Groups {
			if !slices.Contains(groups, group.ID) {
				continue
			}
			for _, node := range group.Replicas {
				pair := [2]string{group.Primary.Addr, node.Addr}
				if named[pair] = true; looked[pair] == nil {
					look, cancel := context.WithCancel(ctx)
					looked[pair] = cancel
					looks.Go(func() { j.lookAt(look, group, node) })
				}
			}
		}
		for pair, cancel := range looked {
			if !named[pair] {
				cancel()
				delete(looked, pair)
			}
		}
	}
	for _, cancel := range looked {
		cancel()
	}
	return ctx.Err()
}

// atWork reports whether movers are at work.
func (j *job) atWork() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.shown.movers) > 0 || len(j.shown.helpers) > 0
}

// doze waits for lookEvery.
func (*job) doze(ctx context.Context) error { return pause.For(ctx, lookEvery) }

// pressure asks all processes which node groups their statements wait for. Who does not answer says nothing.
func (j *job) pressure(ctx context.Context) map[placement.NodeGroupID]string {
	members, answers, err := j.answers(ctx, lookTimeout)
	if err != nil {
		return nil
	}
	who := map[placement.NodeGroupID][]string{}
	for i, a := range answers {
		for _, g := range a.Pressed {
			who[g] = append(who[g], members[i].ID)
		}
	}
	out := map[placement.NodeGroupID]string{}
	for g, names := range who {
		out[g] = strings.Join(names, ", ")
	}
	return out
}

// lookAt measures how far a replica is behind until ctx ends.
func (j *job) lookAt(ctx context.Context, group *catalog.NodeGroup, node catalog.Node) {
	server := func(n catalog.Node) mover.Server {
		of := *group
		of.Primary = n
		return mover.Server{Group: group.ID, Name: n.Addr, Flavor: group.Primary.Flavor, Conn: j.cfg.Login(&of)}
	}
	caught := mover.ReplicaCaught(server(group.Primary), server(node))
	r := &replica{group: group.ID, name: node.Addr}
	defer j.brake.forget(r)
	for ctx.Err() == nil {
		j.brake.measuring(r)
		err := caught(ctx)
		j.brake.measured(r, err == nil || errors.Is(err, mover.ErrBehind)) // one that does not answer is nobody's measure
		_ = j.doze(ctx)                                                    // ctx tells
	}
}
