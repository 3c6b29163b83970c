package topology

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Gate is a record of kind Gates: as long as it stands, proxies begin no commit. It goes with its lease when whoever put it
// dies.
type Gate struct {
	ID       string
	Revision int64
	lease    clientv3.LeaseID
}

// PutGate puts a gate, which must be removed.
func (s *Store) PutGate(ctx context.Context, id string) (*Gate, error) {
	bounded, cancel := s.request(ctx)
	defer cancel()
	lease, err := s.client.Grant(bounded, leaseSeconds)
	if err = s.observe(ctx, err); err != nil {
		return nil, fmt.Errorf("close the gate for commits: %w", err)
	}
	g := &Gate{ID: id, lease: lease.ID}
	r, err := s.client.Put(bounded, s.recordKey(Gates, id), "{}", clientv3.WithLease(lease.ID))
	if err = s.observe(ctx, err); err != nil {
		_ = s.RemoveGate(context.WithoutCancel(ctx), g) // it may have arrived
		return nil, fmt.Errorf("close the gate for commits: %w", err)
	}
	g.Revision = r.Header.Revision
	return g, nil
}

// GateStands reports whether g has stood without interruption until now.
func (s *Store) GateStands(ctx context.Context, g *Gate) (bool, error) {
	_, revision, err := s.get(ctx, s.recordKey(Gates, g.ID))
	return revision == g.Revision, err
}

// RemoveGate opens the gate.
func (s *Store) RemoveGate(ctx context.Context, g *Gate) error {
	bounded, cancel := s.request(ctx)
	defer cancel()
	_, err := s.client.Revoke(bounded, g.lease)
	return s.observe(ctx, err)
}

// AwaitGated waits, as AwaitSlots does, until no proxy commits anything because of g.
func (s *Store) AwaitGated(ctx context.Context, g *Gate) (silent []Silent, err error) {
	return s.AwaitSlots(ctx, func(m Member) bool { return m.Gated >= g.Revision })
}

// FenceGone marks the slot of a process that is gone, so that the controller shuts it out soon. It changes nothing if the
// slot has changed meanwhile.
func (s *Store) FenceGone(ctx context.Context, slot Slot) error {
	slot.Fenced = true
	_, err := s.Change(nil).PutSlot(&slot, slot.Revision).Commit(ctx)
	return err
}
