package server

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"skarv/pkg/topology"
	adminv1 "skarv/proto/admin/v1"
)

// Snapshots of all node groups that nobody is held for. Every process counts the commits over several node groups that it has
// begun (txn.Crossings); they can be seen by half only between that and their end.
//
//	1 read when a slot was taken last, and the slots of all that may commit
//	2 ask each how many it has begun     and that all have ended
//	3 no branch is prepared anywhere     what had been begun before 2 is to be seen on every group, or was undone: all branches of
//	                                     it but the first are prepared from before its decision until they show it
//	4 look
//	5 ask each again: no other is begun  so none was decided while somebody looked
//	6 no other slot was taken            nobody has come who could have
//
// Otherwise what was seen counts for nothing. A slot whose process is gone does not answer and stays until its accounts are shut
// out of the servers: it may only be paused. pkg/txn has the model (crossing_model_test.go).
const (
	// watchTime bounds 1 to 3, and 5 to 6: the gate answers sooner than who does not answer at all.
	watchTime = time.Second
	// outcomes of skarv_snapshots_total
	outcomeValidated = "validated"
	outcomeCrossed   = "crossed"
)

// crossings tells another process, or this one, of the commits over several node groups here.
func (s *Server) crossings() *adminv1.CrossingsResponse {
	r := &adminv1.CrossingsResponse{}
	if slot := s.slot.Load(); slot != nil {
		r.Incarnation = slot.Incarnation
	}
	r.Begun, r.Quiet = s.coordinator.Crossings()
	return r
}

// watchCommits runs look, and reports whether no commit over several node groups was to be seen by half meanwhile. The error is
// look's; whatever else goes wrong only makes whole false.
func (s *Server) watchCommits(ctx context.Context, look func() error) (whole bool, err error) {
	defer func() {
		if whole {
			s.gateCount.WithLabelValues(outcomeValidated).Inc()
		} else {
			s.gateCount.WithLabelValues(outcomeCrossed).Inc()
		}
	}()
	before, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	w, err := s.witnesses(before)
	if err != nil {
		return false, nil //nolint:nilerr // somebody cannot be asked
	}
	defer w.close()
	if !w.ask(before, true) || s.nothingPrepared(before) != nil {
		return false, nil
	}
	if err := look(); err != nil {
		return false, err
	}
	after, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	if !w.ask(after, false) {
		return false, nil
	}
	last, err := s.store.LastSlot(after)
	return err == nil && last == w.last, nil
}

// witnesses are all processes that may commit anything.
type witnesses struct {
	s    *Server
	last int64 // when a slot was taken last
	all  []witness
}

type witness struct {
	incarnation int64
	conn        *grpc.ClientConn // nil: this process
	begun       uint64
}

func (s *Server) witnesses(ctx context.Context) (w *witnesses, err error) {
	w = &witnesses{s: s}
	if w.last, err = s.store.LastSlot(ctx); err != nil {
		return nil, err
	}
	slots, _, err := s.store.Slots(ctx)
	if err != nil {
		return nil, err
	}
	var members []topology.Member
	for _, slot := range slots {
		x := witness{incarnation: slot.Incarnation}
		if slot.Member != s.id {
			if members == nil {
				if members, err = s.store.Members(ctx); err != nil {
					w.close()
					return nil, err
				}
			}
			i := slices.IndexFunc(members, func(m topology.Member) bool { return m.ID == slot.Member })
			if i < 0 {
				w.close()
				return nil, errGate
			}
			if x.conn, err = s.dialMember(members[i]); err != nil {
				w.close()
				return nil, err
			}
		}
		w.all = append(w.all, x)
	}
	return w, nil
}

func (w *witnesses) close() {
	for _, x := range w.all {
		if x.conn != nil {
			_ = x.conn.Close()
		}
	}
}

// ask asks all of them at once. first: what they have begun is remembered, and must have ended; else it must be the same.
func (w *witnesses) ask(ctx context.Context, first bool) bool {
	var crossed atomic.Bool
	var g errgroup.Group
	g.SetLimit(maxPeerCalls)
	for i := range w.all {
		x := &w.all[i]
		g.Go(func() error {
			r := w.s.crossings
			if x.conn != nil {
				r = func() *adminv1.CrossingsResponse {
					r, err := adminv1.NewAdminClient(x.conn).Crossings(ctx, &adminv1.CrossingsRequest{})
					if err != nil {
						return &adminv1.CrossingsResponse{}
					}
					return r
				}
			}
			said := r()
			switch {
			case said.GetIncarnation() != x.incarnation:
				crossed.Store(true)
			case first:
				x.begun = said.GetBegun()
				if !said.GetQuiet() {
					crossed.Store(true)
				}
			case said.GetBegun() != x.begun:
				crossed.Store(true)
			}
			return nil
		})
	}
	_ = g.Wait() // none returns an error
	return !crossed.Load()
}
