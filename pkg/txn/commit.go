package txn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// Points of a commit over several groups at which Config.Failpoint is called, in order.
const (
	PointPrepare   = "prepare"   // nothing has been sent
	PointPreparing = "preparing" // every branch but the first was sent its preparation
	PointPrepared  = "prepared"  // all have answered
	PointDeciding  = "deciding"  // the first branch was sent decision and commit
	PointDecided   = "decided"   // it has answered
	PointFinishing = "finishing" // all others were sent their commit
	PointFinished  = "finished"  // all have answered
)

// Points returns the failpoints of a commit in order.
func Points() []string {
	return []string{PointPrepare, PointPreparing, PointPrepared, PointDeciding, PointDecided, PointFinishing, PointFinished}
}

// Outcome is what a client may want to know of a commit that succeeded.
type Outcome struct {
	// Pending names the transaction if it is committed for good but node groups have not all said so yet: a Recoverer
	// finishes it there.
	Pending ID
	// Warnings is how many warnings the servers have.
	Warnings uint16
}

// Commit makes the transaction's work durable on all its groups or on none, and gives the connections back. When a
// connection is lost such that nobody can say which of the two, the error says so, with the transaction's id if it has
// several writers.
//
// The branches that wrote, W, decide how:
//
//	|W| <= 1   all branches are committed at once; only the writer's answer matters
//	|W| >= 2   prepare all of W but the first branch; commit the first branch together with the row that says so; commit the rest
func (t *Txn) Commit() (Outcome, error) {
	var writers []*branch
	for _, b := range t.branches {
		if b.wrote {
			writers = append(writers, b)
		}
	}
	if t.lost != nil {
		return Outcome{}, t.lost
	}
	defer func() { t.forget(); t.id = "" }()
	if err := t.Work(); err != nil {
		t.abort()
		return Outcome{}, err
	}
	if b := rolledBackBy(t.branches); b != nil {
		id := t.id
		t.abort()
		return Outcome{}, rolledBack(id, fmt.Sprintf("node group %d has rolled its part back", b.conn.Group))
	}
	t.unwatch() // it waits for nobody any more
	switch {
	case len(t.branches) == 0:
		return Outcome{}, nil
	case len(t.branches) > 1 && !t.usable():
		id := t.id
		t.abort()
		return Outcome{}, rolledBack(id, "the connection to a node group is gone")
	case len(writers) <= 1:
		t.Coordinator.metrics.committed("one_phase", len(t.branches))
		return t.onePhase()
	case t.BestEffort:
		t.Coordinator.metrics.committed("best_effort", len(t.branches))
		return Outcome{}, t.bestEffort()
	}
	t.Coordinator.metrics.committed("atomic", len(t.branches))
	return t.atomic(writers)
}

// Unbounded appends the connections on which Commit waits for as long as servers let it: without several writers, or without a decision.
// One that is interrupted ends its wait, with an outcome that is unknown if it is a writer's.
func (t *Txn) Unbounded(conns []*backend.Conn) []*backend.Conn {
	writers := 0
	for _, b := range t.branches {
		if b.wrote {
			writers++
		}
	}
	if writers > 1 && !t.BestEffort {
		return conns
	}
	for _, b := range t.branches {
		conns = append(conns, b.conn)
	}
	return conns
}

// onePhase commits a transaction in which at most one branch wrote.
func (t *Txn) onePhase() (out Outcome, first error) {
	errs := ask(t.branches, (*branch).commit)
	for i, b := range t.branches {
		err := errs[i]
		out.Warnings += b.warnings
		switch {
		case err == nil, len(t.branches) > 1 && !b.wrote:
			// A branch that only read has nothing to lose: an error of it must not say that the writer's work is gone.
		case mysqlconn.IsLost(err):
			first = sqlerr.ServerLost.New(fmt.Sprintf("node group %d was lost during COMMIT: the outcome is unknown", b.conn.Group))
		default:
			first = err
		}
		t.free(b, err)
	}
	return out, first
}

// bestEffort commits one branch after the other. One that fails after another succeeded leaves the transaction half
// done: the error says so and names the groups.
func (t *Txn) bestEffort() error {
	t.Coordinator.crossings.begin()
	defer t.Coordinator.crossings.end()
	var done, failed []string
	var cause error
	for len(t.branches) > 0 {
		b := t.branches[0]
		err := t.all([]*branch{b}, (*branch).commit)
		t.free(b, err)
		t.branches = t.branches[1:]
		if err == nil {
			done = append(done, fmt.Sprint(b.conn.Group))
			continue
		}
		if len(done) == 0 {
			t.abort()
			if b.wrote && mysqlconn.IsLost(err) {
				return sqlerr.ServerLost.New(fmt.Sprintf("node group %d was lost during COMMIT: the outcome there is unknown, and the others' parts are rolled back",
					b.conn.Group))
			}
			return Lost(b.conn, err) // nothing stands
		}
		failed = append(failed, fmt.Sprint(b.conn.Group))
		cause = cmp.Or(cause, err)
	}
	if cause == nil {
		return nil
	}
	e := sqlerr.From(cause)
	return &sqlerr.Error{Code: e.Code, State: e.State, Message: fmt.Sprintf(
		"committed on node groups %s but not, or not known to be, on %s: %s",
		strings.Join(done, ", "), strings.Join(failed, ", "), e.Message)}
}

// atomic is the commit of several writers.
func (t *Txn) atomic(writers []*branch) (Outcome, error) {
	first, began := t.branches[0], time.Now()
	others := writers
	if others[0] == first {
		others = others[1:]
	}
	if err := t.prepare(others); err != nil {
		return Outcome{}, err
	}
	t.Coordinator.crossings.begin()
	defer t.Coordinator.crossings.end()
	err := t.decide(others)
	if errors.Is(err, errUndecided) {
		err = t.inquire(first.conn.Group, began)
	}
	if err != nil {
		return Outcome{}, err
	}
	return t.finish()
}

// prepare is the first phase: afterwards others can be committed or rolled back by anyone, whatever happens. When it
// fails everything is rolled back.
func (t *Txn) prepare(others []*branch) error {
	if err := t.at(PointPrepare); err != nil {
		return err
	}
	errs := make([]error, len(others))
	for i, b := range others {
		b.limit(answerTimeout)
		errs[i] = b.send("XA END "+b.xid, "XA PREPARE "+b.xid, asksReadOnly) // the second is refused if the first is
	}
	if err := t.at(PointPreparing); err != nil {
		return err
	}
	var failed *branch
	var cause error
	for i, b := range others {
		if errs[i] == nil {
			errs[i] = b.answers()
		}
		b.prepared = errs[i] == nil
		switch {
		case cause != nil:
		case errs[i] != nil:
			failed, cause = b, errs[i]
		case b.readOnly: // servers prepare all the same
			failed, cause = b, sqlerr.OptionPreventsStatement.New(fmt.Sprintf("the server of node group %d is read-only; transaction %s was rolled back", b.conn.Group, t.id))
		}
	}
	if cause != nil {
		for i, b := range others {
			if errs[i] != nil {
				b.conn.Interrupt() // its state is not known: its end is that of its connection, or the Recoverer's
			}
		}
		g := failed.conn.Group
		t.abort()
		if mysqlconn.IsLost(cause) {
			return rolledBack(t.id, fmt.Sprintf("node group %d was lost", g))
		}
		return cause
	}
	return t.at(PointPrepared)
}

// errUndecided: the connection was lost before the server said whether it committed.
var errUndecided = errors.New("undecided")

// decide is the moment of commit. nil: the transaction is committed for good, and its first branch has ended. An error
// other than errUndecided: it is rolled back everywhere. errUndecided: the first branch's connection is closed, and
// what became of it must be found out.
func (t *Txn) decide(others []*branch) error {
	first := t.branches[0]
	participants := make([]string, len(others))
	for i, b := range others {
		participants[i] = fmt.Sprint(b.conn.Group)
	}
	first.limit(answerTimeout)
	err := first.sendDecision(decide(t.id, strings.Join(participants, ",")))
	if err := t.at(PointDeciding); err != nil {
		return err
	}
	for range 2 { // SET_OPTION, INSERT
		if err == nil {
			_, err = first.conn.ReadHead()
		}
	}
	if err != nil && !mysqlconn.IsLost(err) {
		// The server did not go on to the COMMIT. A duplicate is the tombstone of somebody who waited long enough.
		_ = first.answers()
		t.abort()
		if sqlerr.HasCode(err, sqlerr.DuplicateEntry) {
			return rolledBack(t.id, "its commit took so long that it was given up")
		}
		return err
	}
	if err == nil {
		_, err = first.conn.ReadHead() // COMMIT
	}
	t.branches = t.branches[1:]
	if err != nil {
		t.free(first, err)
		return errUndecided
	}
	err = first.answers()
	t.free(first, err)
	return t.at(PointDecided)
}

// inquire asks what became of a commit whose connection to the first group is lost. It returns as decide does.
func (t *Txn) inquire(first placement.NodeGroupID, began time.Time) error {
	var commit bool
	var err error
	t.aside(func() { commit, err = t.Coordinator.resolve(t.id, began) })
	switch {
	case err != nil:
		for _, b := range t.branches { // prepared branches outlive their connections
			t.free(b, err)
		}
		t.Coordinator.metrics.unknown.Inc()
		return sqlerr.ServerLost.New(fmt.Sprintf("node group %d was lost during COMMIT: the outcome of transaction %s is unknown"+
			" (see SELECT * FROM skarv.transactions WHERE id = '%s'): %v", first, t.id, t.id, err))
	case !commit:
		t.abort()
		return rolledBack(t.id, fmt.Sprintf("node group %d was lost before the commit was decided", first))
	}
	return nil
}

// finish is the second phase: t.branches are all but the first. The transaction is committed, so nothing here is an
// error any more.
func (t *Txn) finish() (Outcome, error) {
	errs := make([]error, len(t.branches))
	for i, b := range t.branches {
		b.limit(answerTimeout)
		errs[i] = b.send(b.commit()...)
	}
	if err := t.at(PointFinishing); err != nil {
		return Outcome{}, err
	}
	var out Outcome
	for i, b := range t.branches {
		if errs[i] == nil {
			errs[i] = b.answers()
		}
		if (errs[i] != nil || b.readOnly) && b.prepared {
			// Also when the server does not know the branch any more: a Recoverer may be in the middle of committing it, and
			// needs the decision again if the server dies then.
			out.Pending = t.id
		}
		t.free(b, errs[i])
	}
	t.branches = nil
	if err := t.at(PointFinished); err != nil {
		return Outcome{}, err
	}
	if out.Pending != "" {
		t.Coordinator.metrics.pending.Inc()
	} else {
		t.Coordinator.finished(t.id)
	}
	return out, nil
}

const (
	// answerTimeout bounds the wait for a server's word that it prepared, or committed. What is certain already is waited for as well: who is
	// told OK is to find it. A server that does not answer at all ends the wait earlier, when its pool finds it down.
	answerTimeout = 30 * time.Second
	// resolveTimeout bounds how long a client waits for the truth about a decision.
	resolveTimeout = 15 * time.Second
	// staleDecision is the age from which a decision may have been forgotten.
	staleDecision = time.Hour
)

// at is a failpoint. An error of it is as if the process died here: every connection is closed as it is.
func (t *Txn) at(point string) error {
	if t.Coordinator.cfg.Failpoint == nil {
		return nil
	}
	var err error
	t.aside(func() { err = t.Coordinator.cfg.Failpoint(point, t.id) })
	if err != nil {
		for _, b := range t.branches {
			t.free(b, err)
		}
		t.forget()
	}
	return err
}

// limit bounds the branch's input and output from now on, until it is freed.
func (b *branch) limit(d time.Duration) {
	b.limited = true
	_ = within(b.conn.Conn, d) // on a socket that is closed everything fails at once
}

// sendDecision sends statements of which the server runs none after one that has failed: it reads them from one packet.
// Their answers are those of a command before them and of b.asked behind.
func (b *branch) sendDecision(statements string) error {
	several, one := []byte{0, 0}, []byte{1, 0} // of COM_SET_OPTION
	packets := wire.AppendCommand(nil, wire.ComSetOption, several)
	packets = wire.AppendCommand(packets, wire.ComQuery, []byte(statements))
	packets = wire.AppendCommand(packets, wire.ComSetOption, one)
	b.asked = 1
	for _, q := range b.patient() {
		packets = wire.AppendCommand(packets, wire.ComQuery, []byte(q))
		b.asked++
	}
	return b.conn.SendRaw(packets)
}

// rolledBack is the error for a transaction that was undone for no fault of its statements: clients try it again, as
// they do after a deadlock.
func rolledBack(id ID, why string) error {
	what := "the transaction"
	if id != "" {
		what = "transaction " + string(id)
	}
	return &sqlerr.Error{Code: sqlerr.LockDeadlock, State: "40001",
		Message: what + " was rolled back: " + why + "; try restarting transaction"}
}

// resolve finds out, for the client that waits, how its transaction ended.
func (c *Coordinator) resolve(id ID, began time.Time) (commit bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), resolveTimeout)
	defer cancel()
	g, _ := id.Group()
	for {
		conn, err := reserved(ctx, c.cfg.Dial, g)
		if err == nil {
			commit, err = resolve(conn, id)
			if err == nil && !commit {
				_ = confirm(conn, id, g) // only for who asks later
			}
			_ = conn.Close()
			if err == nil {
				if !commit && time.Since(began) > staleDecision {
					return false, fmt.Errorf("it was decided more than %s ago", staleDecision)
				}
				return commit, nil
			}
		}
		if pause.For(ctx, resolvePause) != nil {
			return false, err
		}
	}
}

// resolvePause is between two attempts to reach the group that knows.
const resolvePause = 100 * time.Millisecond
