package session

import (
	"context"
	"strings"

	"skarv/pkg/exec"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// beginCommit is called before anything is committed, and endCommit when that is over. In between the process does not
// acknowledge a closed gate; while one is closed beginCommit waits.
func (s *Session) beginCommit() {
	if s.commits++; s.commits == 1 && !s.hold.TryCommit() {
		s.commitAside()
	}
}

func (s *Session) endCommit() {
	if s.commits--; s.commits == 0 {
		s.hold.EndCommit()
	}
}

// repeatable reports whether a transaction that begins now reads all from one snapshot, as REPEATABLE READ does.
func (s *Session) repeatable() bool {
	level := "REPEATABLE-READ"
	for _, name := range []string{"@@session.`tx_isolation`", "@@session.`transaction_isolation`"} {
		if v, ok := s.state.Get(name); ok {
			level = strings.ToUpper(strings.Trim(v, "'"))
		}
	}
	if next := strings.ToUpper(s.isolation); strings.Contains(next, "ISOLATION") {
		return strings.Contains(next, "REPEATABLE")
	}
	return level == "REPEATABLE-READ"
}

// beginSnapshot is START TRANSACTION WITH CONSISTENT SNAPSHOT: all that the transaction reads is as it was at one moment on
// all node groups. With other isolation levels than REPEATABLE READ servers ignore the phrase, and so does Skarv.
func (s *Session) beginSnapshot(how *plan.Txn) error {
	if !s.repeatable() {
		s.begin(s.beginning(how), how)
		return s.ok(wire.OK{})
	}
	if err := s.openSnapshot(how); err != nil {
		return err
	}
	return s.ok(wire.OK{})
}

// beginData begins a transaction for a statement with tables, where autocommit is off, and takes the snapshot of one that has none yet: of a
// transaction that COMMIT AND CHAIN has begun.
func (s *Session) beginData() error {
	switch {
	case s.locks != nil, s.tx == nil && s.Autocommit, s.tx != nil && s.tx.Open():
		return nil
	case s.ours.Reads.Snapshots() && (s.tx == nil && s.repeatable() || s.tx != nil && s.tx.Repeatable):
		return s.openSnapshot(nil)
	case s.tx == nil:
		s.begin(startTransaction, nil)
	}
	return nil
}

// atMoment gives a SELECT over several groups, outside of a transaction, one of its own if skarv_read_atomicity wants that: with
// a snapshot, or with locks. done must be called.
func (s *Session) atMoment(p *plan.Plan) (done func(), err error) {
	if s.ours.Reads == variable.ReadOff || s.tx != nil || s.locks != nil || p.Kind != plan.Select {
		return func() {}, nil
	}
	switch how := (&plan.Txn{ReadOnly: true}); {
	case s.ours.Reads == variable.ReadLocking:
		s.begin("START TRANSACTION READ ONLY", how)
	case p.Uses&plan.LocksRows != 0 || !s.repeatable():
		return func() {}, nil
	default:
		if err := s.openSnapshot(how); err != nil {
			return nil, err
		}
	}
	s.momentary = true
	return func() {
		s.endTransaction()
		s.momentary = false
	}, nil
}

// snapshotTries is how often a snapshot is tried while nobody's commits are held.
const snapshotTries = 3

// openSnapshot begins the transaction, if none is begun, and takes its snapshot.
func (s *Session) openSnapshot(how *plan.Txn) error {
	begun, next := s.tx, s.isolation
	if s.ours.Reads == variable.ReadValidated && (how == nil || !how.Snapshot) {
		for range snapshotTries {
			whole := false
			err := s.trySnapshot(begun, how, next, func(look func() error) (err error) {
				whole, err = s.cfg.WatchCommits(context.Background(), look)
				return err
			})
			if whole || err != nil {
				return err
			}
			s.unbegin(next)
		}
	}
	err := s.trySnapshot(begun, how, next, func(look func() error) error { return s.cfg.HoldCommits(context.Background(), look) })
	if err == nil {
		return nil
	}
	e := sqlerr.From(err)
	if e.Code == sqlerr.Internal {
		e = sqlerr.LockWaitTimeout.New()
		e.Message = "Lock wait timeout exceeded; try restarting transaction: no snapshot of all node groups, because " + err.Error()
	}
	return e
}

// trySnapshot takes the snapshot of a transaction that is begun, or nil for one that it begins with the client's isolation level for it,
// by hold. After an error there is the transaction that there was before.
func (s *Session) trySnapshot(begun *txn.Txn, how *plan.Txn, isolation string, hold func(look func() error) error) (err error) {
	if begun != nil {
		s.tx = begun.Anew()
	} else {
		s.isolation = isolation
		s.begin("START TRANSACTION", how)            // the client's own text would take the first group's snapshot at once
		s.tx.Isolation = s.readWrite(isolation, how) // whatever locks reads with skarv_read_atomicity: a snapshot needs none
		if s.tx.ReadOnly {
			s.tx.Begin = "START TRANSACTION READ ONLY"
		}
	}
	defer func() {
		if err != nil {
			s.unbegin(isolation)
			s.tx = begun
		}
	}()
	// It uses every partition until its end: when one is handed over, its rows are where the snapshot does not show them.
	for {
		err := s.announcePartitions(partitionUse{Touched: &exec.Touched{All: true}, several: true})
		if err == nil {
			break
		}
		if err != errReplan {
			return err
		}
		s.snap = s.cfg.Snapshot()
	}
	if err := s.beginPinned(s.tx); err != nil {
		return err
	}
	groups := make([]placement.NodeGroupID, 0, len(s.snap.Groups))
	for _, g := range s.snap.Groups {
		groups = append(groups, g.ID)
	}
	return s.tx.Snapshot(s, groups, hold)
}
