package session

import (
	"errors"
	"slices"
	"time"

	"skarv/pkg/barrier"
	"skarv/pkg/catalog"
	"skarv/pkg/exec"
	"skarv/pkg/flight"
	"skarv/pkg/metrics"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
)

// A statement announces which partitions it uses, then looks whether the map it was planned by still stands; only then
// is anything sent. Who has published another map waits until nothing announced stands against it: see pkg/barrier.
//
//	announced until the transaction ends      writes, locking reads, reads of single partitions, all reads inside a
//	                                          transaction
//	announced until the statement ends        reads over several groups (by the epoch of their map); what every statement
//	                                          was planned by (see announceBasis)
//
// A freeze does not wait for reads over several groups that have begun: what was there when they began is on the old owners. None
// begins while partitions are frozen.

// errReplan: the statement was planned by a catalog that has changed since in what concerns it, or by a map that is not the present one
// any more. Nothing of it is done.
var errReplan = errors.New("the catalog or the partition map has changed")

// announceBasis announces what the statement was planned by, before it does anything, and then looks whether that still stands;
// hold.EndStand ends it. Who has published another catalog waits for statements that it concerns (see control's settling). So a
// statement that waits for a connection, or in a process that was stopped, never meets tables that it does not know. The error
// is errReplan, and nothing is announced.
func (s *Session) announceBasis(p *plan.Plan) error {
	if !s.hold.Stands() {
		s.renewals = s.cfg.Pools.Renewals()
	}
	s.hold.Stand(p.Basis)
	if p.Basis == nil {
		return nil
	}
	if now := s.cfg.Snapshot(); now.SchemaRevision != p.Basis.Snapshot.SchemaRevision && s.concerned(p.Basis, now) {
		s.hold.EndStand()
		return errReplan
	}
	return nil
}

// concerned reports whether now changes what the statement just announced stands on. A statement within another one, by the same
// catalog, may go on with what that one stands on, too: who has changed it waits for both.
func (s *Session) concerned(b *catalog.Basis, now *catalog.Snapshot) bool {
	changes := now.Since(b.Snapshot)
	names := changes.Concern(b, nil)
	if len(names) == 0 {
		return false
	}
	var known []string
	s.hold.Standing(func(outer *catalog.Basis) {
		if outer != b && outer.Snapshot.SchemaRevision == b.Snapshot.SchemaRevision {
			known = changes.Concern(outer, known)
		}
	})
	return slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(known, name) })
}

// admitted returns an error if the process was shut out of the servers since the statement began: nobody waits for it any more,
// so it must not go on with connections of a later admission.
func (s *Session) admitted() error {
	if s.hold.Stands() && s.cfg.Pools.Renewals() != s.renewals {
		return sqlerr.ServerLost.New("this process was shut out of the database servers, and admitted again, while the statement ran")
	}
	return nil
}

// thawTimeout bounds how long a statement waits for partitions that are being handed over. That takes milliseconds; only a
// process that has lost etcd waits for so long.
const thawTimeout = 10 * time.Second

// partitionUse is what a statement uses, and how.
type partitionUse struct {
	*exec.Touched
	write   bool // it changes or locks rows
	several bool // it is not one node group's alone to answer, so that it depends on which rows are foreign there
}

// announcePartitions announces what the statement uses.
func (s *Session) announcePartitions(t partitionUse) error {
	if t.None() {
		return nil
	}
	if s.tx != nil && s.tx.Misses(s.snap.Map, t.Partitions, t.All) {
		s.cutOff = true // the transaction begins anew
		return errHandedOver()
	}
	t.several = t.several || t.All || t.Copies
	hold := (t.write || s.tx != nil || s.locks != nil || !t.All) && (t.All || len(t.Partitions) > 0)
	epoch := s.snap.Map.Epoch()
	if s.hold.Scattering() == epoch && (!t.Copies || s.snap.Map.CopiesFrozen() == 0) &&
		(hold && s.hold.Covers(t.Partitions, t.All) || !hold && s.snap.Map.Frozen() == nil) {
		return nil // a further part of a statement that was announced, and began before any freeze: who publishes another map waits for it
	}
	// announce
	mark := s.hold.Mark()
	switch {
	case hold && t.All:
		s.hold.HoldAll()
	case hold:
		s.hold.Hold(t.Partitions)
	}
	scattering := s.hold.Scattering()
	if t.several {
		s.hold.Scatter(epoch)
	}
	// look
	now := s.cfg.Snapshot()
	if now.Map == s.snap.Map && now.Map.Frozen() == nil && (!t.Copies || now.Map.CopiesFrozen() == 0) {
		s.entered = s.entered || t.write
		s.stripe.Touch(t.Touched)
		return nil
	}
	if s.stands(now, t, mark) {
		s.entered = s.entered || t.write
		s.stripe.Touch(t.Touched)
		return nil
	}
	// take back
	if hold {
		s.hold.Restore(mark)
	}
	if t.several && scattering == 0 {
		s.hold.EndScatter()
	}
	if s.entered {
		s.cutOff = true // a part of it is done
		return errHandedOver()
	}
	s.client.Flight.Note(s.cfg.Clients.Clock(), flight.Held, 0, 0)
	if err := s.thawAside(t.Touched); err != nil {
		return err
	}
	return errReplan
}

// stands reports whether a statement planned by the session's snapshot may run although now is another one.
func (s *Session) stands(now *catalog.Snapshot, t partitionUse, mark barrier.Mark) bool {
	if now.Map == nil || t.Copies && now.Map.CopiesFrozen() > 0 {
		return false
	}
	// A transaction that uses what is frozen already may go on until it is told to end. Everything else waits, reads over all groups
	// too: the freeze may be over, and other processes may have written to the new owners, while this one has not heard of it.
	if set := now.Map.Frozen(); set != nil && t.Meets(set) && !s.hold.Used(mark, set) {
		return false
	}
	if t.several {
		// A group that joins gets its copies of reference tables under a map of its own: see control's adoption.
		return now.Map == s.snap.Map || !t.Copies && s.sameRows(now.Map)
	}
	for _, p := range t.Partitions {
		if now.Map.Owner(p) != s.snap.Map.Owner(p) {
			return false
		}
	}
	return true
}

// sameRows reports whether every group has the same rows to show by m as by the session's map: partitions were frozen or
// thawed, no more.
func (s *Session) sameRows(m *placement.PartitionMap) bool {
	old := s.snap.Map
	if len(old.Diff(m)) > 0 {
		return false
	}
	for _, g := range m.Groups() {
		a, b := old.Foreign(g), m.Foreign(g)
		if (a == nil) != (b == nil) || a != nil && *a != *b {
			return false
		}
	}
	return true
}

// errHandedOver is what a transaction is told that was rolled back because partitions it uses went to another group.
func errHandedOver() error {
	e := sqlerr.LockDeadlock.New()
	e.Message = "Deadlock found when trying to get lock; try restarting transaction (what it uses moves to another server)"
	return e
}

// awaitThaw waits while partitions of t are frozen.
func (s *Session) awaitThaw(t *exec.Touched) error {
	thawed := func(snap *catalog.Snapshot) bool {
		if snap.Map == nil {
			return true // the cluster was given up
		}
		set := snap.Map.Frozen()
		return (set == nil || !t.Meets(set)) && (!t.Copies || snap.Map.CopiesFrozen() == 0)
	}
	if thawed(s.cfg.Snapshot()) {
		return nil
	}
	s.cfg.Metrics.Held()
	deadline := time.Now().Add(thawTimeout)
	ok, err := s.awaitSnapshot(deadline, thawed)
	for err != nil && !s.client.Doomed() && s.tx == nil && s.gaveWay(sqlerr.QueryInterrupted.New()) {
		// It was evicted for what it had announced just now, and has taken back.
		s.client.ForgetKills()
		ok, err = s.awaitSnapshot(deadline, thawed)
	}
	switch {
	case err != nil:
		return sqlerr.QueryInterrupted.New()
	case !ok:
		e := sqlerr.LockWaitTimeout.New()
		e.Message = "Lock wait timeout exceeded: partitions of the statement are being handed over to another node group, and this process does not hear that it is done"
		return e
	}
	return nil
}

// leave ends what the statement announced, unless a transaction or locked tables keep it.
func (s *Session) leave() {
	s.hold.EndScatter()
	if s.tx == nil && s.locks == nil {
		s.hold.Release()
	}
	s.entered, s.cutOff = false, false
}

// Evict implements barrier.Owner.
func (s *Session) Evict() {
	if !s.busy.TryLock() {
		s.client.Evict() // what comes of it is giveWay's
		return
	}
	defer s.busy.Unlock()
	if s.tx == nil || s.locks != nil {
		return // locked tables are not taken away: the cutover is tried again later
	}
	s.tx.Lend() // not the session's, which may be on a Loop
	s.tx.Rollback()
	s.tx, s.handedOver = nil, true
	s.leave()
}

// gaveWay reports whether err is what became of a statement that Evict has ended, and nobody else.
func (s *Session) gaveWay(err error) bool {
	kills, evictions := s.client.Hits()
	return err != nil && evictions > 0 && s.locks == nil && sqlerr.HasCode(err, sqlerr.QueryInterrupted) && kills == evictions
}

// keepsBack reports whether an error that is all of a server's answer is not for the client.
func (s *Session) keepsBack(code sqlerr.Code) bool {
	if _, evictions := s.client.Hits(); code == sqlerr.QueryInterrupted && s.locks == nil && evictions > 0 {
		return true
	}
	if namesAccount(code) {
		return true // see asClient
	}
	return s.deadlockable && s.tx.Deadlocked(code)
}

// giveWay decides what becomes of a statement that Evict has ended, with err, and the server has undone. One that is its own
// transaction is run again when the partitions are there again: errReplan says so. Otherwise the transaction begins anew.
func (s *Session) giveWay(p *plan.Plan, err error) error {
	const once = plan.WritesUserVariable | plan.SetsLastInsertID | plan.PinsSession
	undone := p.Kind >= plan.Select && p.Kind <= plan.Delete // not, for instance, what a procedure has committed
	switch {
	case s.tx == nil && !undone:
		return err
	case s.tx != nil || s.used.strategy != metrics.Relay || p.Uses&once != 0:
		s.endTransaction()
		return errHandedOver()
	}
	s.leave()
	s.client.ForgetKills()
	return errReplan
}

// interruptedByHandover answers for a transaction that was rolled back while its client was thinking.
func (s *Session) interruptedByHandover(p *plan.Plan) error {
	if !s.handedOver {
		return nil
	}
	s.handedOver = false
	if p.Kind == plan.Rollback {
		return nil
	}
	return errHandedOver()
}
