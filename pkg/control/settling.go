package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/fence"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
)

// Statements are planned by a catalog, and may run long after that: they wait for a connection, or their process is stopped. Where
// a statement planned by the catalog as it was must not meet the table as it will be, for it would write rows to where they do not
// belong, or without what belongs to them, a schema change goes on only when none is left:
//
//	the catalog says what is to come        a table that is closed, an index that is being built, ...
//	every proxy uses that catalog           Member.Acked; statements from now on are planned by it
//	what was planned before has ended       Member.Stale: only statements about the tables in question are waited for
//	a proxy whose process is gone           is shut out of the servers: it may only be stopped, and go on at any time
//	the change itself
//
// A table is closed while its definition changes in a way that replans would miss (see replans). No statement uses it meanwhile, as
// on one server while an exclusive metadata lock is waited for or held. What only has to be done in addition, such as keeping a new
// index, needs no closing: a catalog in between says so.

// Before a change that depends on it fails: how long a proxy may need to follow the catalog, and how long statements by an older one to
// end, as long as those that use a table on a server.
const (
	proxyPatience = 30 * time.Second
	stalePatience = 50 * time.Second
)

// evictAfter is how long a slot may be silent, at a time, before it is looked at whether its process is gone, and goneFor for how long
// it must be gone in every look before it is shut out: a process that announces itself anew is missing for a moment.
const (
	evictAfter = 500 * time.Millisecond
	goneFor    = 3 * time.Second
)

// absences are the slots whose process was gone in every look so far, by incarnation, and since when.
type absences map[int64]time.Time

// look takes note of who is silent now.
func (a absences) look(silent []topology.Silent, now time.Time) {
	gone := map[int64]bool{}
	for _, s := range silent {
		if s.Gone {
			gone[s.Slot.Incarnation] = true
			if _, before := a[s.Slot.Incarnation]; !before {
				a[s.Slot.Incarnation] = now
			}
		}
	}
	maps.DeleteFunc(a, func(incarnation int64, _ time.Time) bool { return !gone[incarnation] })
}

// lasts reports whether a process has been gone for long enough.
func (a absences) lasts(s topology.Silent, now time.Time) bool {
	since, gone := a[s.Slot.Incarnation]
	return gone && now.Sub(since) >= goneFor
}

// clientLockWait is the client's lock_wait_timeout in seconds, if that is less than what statements wait without.
func (d *schemaChange) clientLockWait() (seconds int, less bool) {
	if d.job.DDL == nil {
		return 0, false
	}
	for _, set := range d.job.DDL.Set {
		if v, ok := strings.CutPrefix(set, "SET @@session.`lock_wait_timeout` = "); ok {
			n, err := strconv.Atoi(v)
			return n, err == nil && n < int(stalePatience.Seconds())
		}
	}
	return 0, false
}

// patience is how long statements that began before may take: stalePatience, or the client's lock_wait_timeout if that is less, but long
// enough to shut out a process that is gone.
func (d *schemaChange) patience() time.Duration {
	if n, less := d.clientLockWait(); less {
		return max(time.Duration(n)*time.Second, goneFor+2*evictAfter)
	}
	return stalePatience
}

// lockWaits makes the ith server wait for a table's users as long as the client would, and back as it was: the first group's step fails with
// nothing to take back, what comes behind it would have to be.
func (d *schemaChange) lockWaits(ctx context.Context, i int, asClient bool) error {
	n, less := d.clientLockWait()
	if !less || d.servers[i] == nil {
		return nil
	}
	if !asClient {
		n = schema.LockWaitSeconds
	}
	_, err := d.servers[i].Exec(ctx, fmt.Sprintf("SET SESSION lock_wait_timeout = %d", n))
	return err
}

// awaitUsers waits for those who use the tables on the other groups than the first for as long as the client would, and before anything is
// changed. Who comes between this and the step is waited for as if the client had said nothing of it.
func (d *schemaChange) awaitUsers(ctx context.Context, first int) error {
	if _, less := d.clientLockWait(); !less {
		return nil
	}
	if ran, err := d.ran(ctx, first); err != nil || ran {
		return err
	}
	var locks []string
	for _, o := range d.job.Work.Watched {
		if t := d.snap.Table(o.DB, o.Name); o.Kind == "" && t != nil && t.Kind != catalog.View {
			locks = append(locks, o.SQL()+" WRITE")
		}
	}
	if len(locks) == 0 {
		return nil
	}
	for i, s := range d.servers { // one after the other: see runOnOthers
		if i == first || s == nil {
			continue
		}
		err := d.lockWaits(ctx, i, true)
		for _, q := range []string{"LOCK TABLES " + strings.Join(locks, ", "), "UNLOCK TABLES"} {
			if err == nil {
				_, err = s.Exec(ctx, q)
			}
		}
		if err = errors.Join(err, d.lockWaits(ctx, i, false)); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until no statement about tables runs, or will run, by a catalog older than revision's.
func (d *schemaChange) settle(ctx context.Context, revision int64, tables []ddl.Object) error {
	var names []string
	for _, o := range tables {
		names = append(names, catalog.TableName{Database: o.DB, Name: o.Name}.String())
	}
	store := d.leader.store
	acks, cancel := context.WithTimeout(ctx, proxyPatience)
	behind, err := store.WaitAcked(acks, revision)
	cancel()
	if err != nil && len(behind) > 0 && ctx.Err() == nil {
		return sqlerr.UnknownError.New("these proxies do not follow changes of the schema: " + strings.Join(behind, ", "))
	}
	if err != nil {
		return err
	}
	await := func(ctx context.Context) ([]topology.Silent, error) { return store.AwaitSettled(ctx, revision, names) }
	waitsFor, err := d.leader.awaitSlots(ctx, d.patience(), await, d.leader.shutOut)
	if len(waitsFor) > 0 {
		e := sqlerr.LockWaitTimeout.New()
		e.Message = "Lock wait timeout exceeded; try restarting transaction (statements that began before the change still use the table: " + strings.Join(waitsFor, ", ") + ")"
		return e
	}
	return err
}

// awaitSlots repeats await, which returns at the end of its context, until no slot is silent but those whose processes are gone, which shutOut shuts
// out of the servers. After patience it returns who is waited for still, without an error.
func (l *leader) awaitSlots(ctx context.Context, patience time.Duration, await func(context.Context) ([]topology.Silent, error), shutOut func(context.Context, topology.Silent) error) (waitsFor []string, err error) {
	wait, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for gone := (absences{}); ; {
		look, stop := context.WithTimeout(wait, evictAfter)
		silent, err := await(look)
		stop()
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		waitsFor = waitsFor[:0]
		gone.look(silent, time.Now())
		for _, s := range silent {
			if !gone.lasts(s, time.Now()) || l.evict == nil {
				waitsFor = append(waitsFor, s.String())
			} else if err := shutOut(ctx, s); err != nil {
				return nil, err
			}
		}
		switch {
		case len(silent) > 0 && len(waitsFor) == 0:
			return nil, nil
		case wait.Err() != nil:
			return waitsFor, nil
		}
	}
}

// shutOut shuts a proxy out of the servers whose process is gone. Where Skarv's account may not do so, the process is taken for dead.
func (l *leader) shutOut(ctx context.Context, s topology.Silent) error {
	err := l.evict(ctx, l.guard, s.Slot)
	if err == nil {
		l.log.WarnContext(ctx, "a proxy was shut out of the servers, for the schema changes", "member", s.Slot.Member, "slot", s.Slot.N)
	}
	if fence.IsNoPrivilege(err) {
		l.log.WarnContext(ctx, "a proxy that is gone cannot be shut out of the servers, and is taken for dead", "member", s.Slot.Member, "slot", s.Slot.N, "error", err)
		return nil
	}
	return err
}
