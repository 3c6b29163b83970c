package control

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/migration"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/routine"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/topology"
)

// schemaChange is one schema change on its way through the node groups.
//
//	queued ──plan──► running ──first group──► other groups ──read and compare──► done
//	   │                         │ refused         │ refused         │ differ
//	   └──► failed ◄─────────────┴─── nothing      └──── undone ─────┴──► failed
//
// A leader that dies leaves the job where it is; the next one finds out, group by group, whether the step ran there:
// by the texts of the objects it changes, which were noted before.
type schemaChange struct {
	leader  *leader
	job     *job
	turn    *turn
	snap    *catalog.Snapshot
	servers []*schema.Server // as snap.Groups
	resumed bool             // it was running when it was read: its step may have run somewhere
	changed int64            // revision of the change's last change of the catalog: proxies follow those, and no others

	others struct { // what the step did on the other groups than the first, each its own entry; as snap.Groups
		affected []uint64
		warnings [][]schema.Warning
	}
}

// run carries the job to its end. An error means that it could not and that another leader (or this one, later) has
// to; what the client is to know is in the job.
func (d *schemaChange) run(ctx context.Context) error {
	defer d.close()
	d.resumed = d.job.State == running
	if err := d.connect(ctx); err != nil {
		if d.job.State == queued && !stops(err) {
			return d.fail(ctx, toClient(err))
		}
		return err
	}
	if d.job.State == queued {
		if err := d.plan(ctx); err != nil {
			if stops(err) {
				return err
			}
			return d.fail(ctx, toClient(err))
		}
		if s := scopeOf(d.job, d.snap); !d.turn.keeps(s) {
			d.removeMarker(ctx)
			return &widerError{s}
		}
		if off := d.job.Work.EventsOff; off != nil && !*off { // an import may not have come to its end
			for _, s := range d.servers {
				if err := schema.StandAside(ctx, s, d.snap.SortedEvents(), d.snap.ServerVersion); err != nil {
					return d.fail(ctx, toClient(err))
				}
			}
		}
		if d.job.Work.Step == nil {
			change := d.leader.store.Change(d.leader.guard)
			if off := d.job.Work.EventsOff; off != nil {
				change.PutEventsOff(*off)
			}
			return d.finish(ctx, change)
		}
		d.job.State = running
		if err := d.leader.save(ctx, d.job); err != nil {
			if stops(err) {
				return err
			}
			d.removeMarker(ctx)
			d.job.Work = nil // it may be what etcd does not take
			return d.fail(ctx, sqlerr.UnknownError.New("the schema change is too large ("+err.Error()+"): use several statements"))
		}
	}
	if err := d.leader.at("planned"); err != nil {
		return err
	}
	if ended, err := d.prepareIndexes(ctx); ended || err != nil {
		return err
	}
	if err := d.rehearse(ctx); err != nil {
		return d.undoFor(ctx, err)
	}
	if ended, err := d.execute(ctx); ended || err != nil {
		return err
	}
	if err := d.leader.at("executed"); err != nil {
		return err
	}
	if err := d.evenKeys(ctx); err != nil {
		return d.undoFor(ctx, err)
	}
	if err := d.onEach(ctx, func(s *schema.Server) error { return d.putOn(ctx, s, true) }); err != nil {
		return d.undoFor(ctx, err)
	}
	if err := d.leader.at("attached"); err != nil {
		return err
	}
	if err := d.buildIndexes(ctx); err != nil {
		return d.undoFor(ctx, err)
	}
	change, err := d.readBack(ctx)
	if err != nil {
		return d.undoFor(ctx, err)
	}
	return d.finish(ctx, change)
}

// widerError: the plan shows that the change is about more than it has its turn for.
type widerError struct{ scope *scope }

func (*widerError) Error() string { return "the schema change is about more than its turn" }

// stops tells errors after which this attempt must stop, for somebody else has changed the job, or this leader leads no more or is made
// to stop.
func stops(err error) bool {
	return leadsNoMore(err) || errors.Is(err, topology.ErrConflict) || errors.Is(err, context.Canceled)
}

// fatal is stops for a job that has begun: nothing is decided about it while a server that works on it says nothing.
func fatal(err error) bool { return stops(err) || errors.Is(err, schema.ErrSilent) }

// pending is fatal for a step that may have run somewhere: nothing is decided while a server cannot be reached or is shutting down. Node
// groups would be left with different schemas.
func pending(err error) bool {
	return fatal(err) || errors.Is(err, schema.ErrLost) || sqlerr.HasCode(err, sqlerr.ServerShutdown)
}

// toClient makes an error one that a client may see.
func toClient(err error) *sqlerr.Error {
	if e, ok := errors.AsType[*sqlerr.Error](err); ok {
		return e
	}
	return sqlerr.ServerLost.New(err.Error())
}

func (d *schemaChange) close() {
	for _, s := range d.servers {
		if s != nil {
			s.Close()
		}
	}
}

// connect opens a connection to every node group, fenced against other leaders.
func (d *schemaChange) connect(ctx context.Context) error {
	if len(d.snap.Groups) == 0 {
		return sqlerr.UnknownError.New("the cluster has no node groups yet: run skarvctl cluster init")
	}
	d.servers = make([]*schema.Server, len(d.snap.Groups))
	g, ctx := errgroup.WithContext(ctx)
	for i := range d.snap.Groups {
		g.Go(func() error { return d.connectOne(ctx, i) })
	}
	return g.Wait()
}

// connectOne replaces the connection to the ith group.
func (d *schemaChange) connectOne(ctx context.Context, i int) error {
	if old := d.servers[i]; old != nil {
		d.servers[i] = nil
		old.Close()
	}
	group := d.snap.Groups[i]
	s, err := d.leader.servers.Dial(ctx, group.Label(), group.Primary)
	if err != nil {
		return err
	}
	d.servers[i] = s
	if err := known(ctx, s, group); err != nil {
		return err
	}
	if err := d.leader.takeFence(ctx, s, group.Primary.Addr, d.turn.lane); err != nil {
		return err
	}
	if err := s.Use(ctx, d.job.DDL.Session); err != nil {
		return err
	}
	return d.sweep(ctx, s)
}

// plan fills in the job's work.
func (d *schemaChange) plan(ctx context.Context) error {
	if w, err := d.reorganizePartition(ctx); w != nil || err != nil {
		d.job.Work = w
		return err
	}
	st, err := ddl.Parse(d.job.DDL.SQL, d.job.DDL.DB, d.job.DDL.SQLMode, d.snap.Flavor, d.snap.ServerVersion)
	if err != nil {
		return err
	}
	if err := d.whileMoving(ctx, st); err != nil {
		return err
	}
	first, zeroIsValue := d.first(st), ddl.HasMode(d.job.DDL.SQLMode, "NO_AUTO_VALUE_ON_ZERO")
	if st.Verb == ddl.AlterTable { // a server would renumber rows whose value is 0, each for itself
		d.job.DDL.SQLMode = withMode(d.job.DDL.SQLMode, "NO_AUTO_VALUE_ON_ZERO")
		d.job.DDL.Set = slices.Insert(d.job.DDL.Set, 0, d.clock()) // new columns may get the present time; a client's own comes behind it
		if err := d.settings(ctx); err != nil {
			return err
		}
	}
	if st.Kind == routine.Event && st.Verb != ddl.DropProgram {
		d.job.DDL.Set = append(d.job.DDL.Set, d.eventClock())
		if err := d.settings(ctx); err != nil {
			return err
		}
	}
	p := &migration.Planner{
		Statement: st, Snap: d.snap, Trial: d.servers[first], Sequences: d.servers[0], Session: d.job.DDL.Session, User: d.job.DDL.User, Roles: d.job.DDL.Roles,
		Job: d.job.ID, Created: d.job.Created, EventSince: d.job.DDL.EventSince, Made: d.job.DDL.Made, ZeroIsValue: zeroIsValue,
		NextID: func(ctx context.Context) (uint64, error) { return d.leader.store.NextID(ctx, "table") },
	}
	w, err := p.Plan(ctx)
	if err != nil {
		return err
	}
	if w.Rebuild != nil {
		if err := d.noneMoves(ctx, w.Rebuild.Table.Name); err != nil {
			return err
		}
	}
	if len(w.Refresh)+len(w.Drop) > maxObjects {
		return sqlerr.Unsupported(fmt.Sprintf("changing more than %d tables in one statement", maxObjects), "use several statements")
	}
	w.First = d.snap.Groups[first].ID
	if err := d.note(ctx, w); err != nil {
		return err
	}
	d.job.Work = w
	return nil
}

// note notes what tells later whether the step of w has run on a group.
func (d *schemaChange) note(ctx context.Context, w *migration.Work) error {
	digests := make([]string, len(d.servers))
	g, ctx := errgroup.WithContext(ctx)
	for i, s := range d.servers {
		g.Go(func() error {
			texts, err := d.texts(ctx, s, w)
			if err != nil {
				return err
			}
			digests[i] = digest(texts)
			if w.Marker != "" {
				_, err = s.Exec(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (a INT PRIMARY KEY)", sqltypes.QuoteIn(catalog.OwnDB, w.Marker)))
			}
			return err
		})
	}
	err := g.Wait()
	w.Digests = map[placement.NodeGroupID]string{}
	for i, group := range d.snap.Groups {
		w.Digests[group.ID] = digests[i]
	}
	return err
}

// settings brings all connections into the state the statement is to be run in.
func (d *schemaChange) settings(ctx context.Context) error {
	for _, s := range d.servers {
		if err := s.Use(ctx, d.job.DDL.Session); err != nil {
			return err
		}
	}
	return nil
}

// maxObjects keeps a change of the catalog within one etcd transaction.
const maxObjects = 50

func withMode(modes, mode string) string {
	if ddl.HasMode(modes, mode) {
		return modes
	}
	return strings.TrimPrefix(modes+","+mode, ",")
}

// first is the index of the group a statement runs on first: where the rows are, if they are in one place.
func (d *schemaChange) first(st *ddl.Statement) int {
	if len(st.Objects) > 0 {
		if t := d.snap.Table(st.Objects[0].DB, st.Objects[0].Name); t != nil && t.Kind == catalog.Single {
			for i, g := range d.snap.Groups {
				if g.ID == t.Group {
					return i
				}
			}
		}
	}
	return 0
}

// texts reads what tells whether the step has run on a server.
func (d *schemaChange) texts(ctx context.Context, s *schema.Server, w *migration.Work) (map[string]string, error) {
	out := map[string]string{}
	for _, o := range w.Watched {
		text := ""
		var err error
		if o.Kind != "" {
			var now *schema.Program
			if now, err = schema.ReadProgram(ctx, s, o); err == nil {
				text = now.Text
			}
		} else if o.Name == "" {
			var there *catalog.Database
			if there, err = schema.ReadDatabase(ctx, s, o.DB); there != nil {
				text = there.Name
			}
		} else {
			text, err = schema.ReadCreate(ctx, s, o)
		}
		if err != nil {
			return nil, err
		}
		out[string(o.Kind)+o.String()] = text
	}
	return out, nil
}

// ran tells whether the step has run on the ith group. False also when it left no trace: then it may run again.
func (d *schemaChange) ran(ctx context.Context, i int) (bool, error) {
	w, s := d.job.Work, d.servers[i]
	if w.Marker != "" {
		text, err := schema.ReadCreate(ctx, s, ddl.Object{DB: catalog.OwnDB, Name: w.Marker})
		return text == "", err
	}
	now, err := d.texts(ctx, s, w)
	return err == nil && digest(now) != w.Digests[d.snap.Groups[i].ID], err
}

// digest stands for texts in the job's record, which etcd bounds.
func digest(texts map[string]string) string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(h, "%d %s %d %s", len(name), name, len(texts[name]), texts[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// execute runs the step on all groups; ended tells that the job came to its end here.
func (d *schemaChange) execute(ctx context.Context) (ended bool, err error) {
	w := d.job.Work
	first := slices.IndexFunc(d.snap.Groups, func(g *catalog.NodeGroup) bool { return g.ID == w.First })
	if first < 0 { // some others may have run the step
		gone := sqlerr.UnknownError.New(fmt.Sprintf("node group %d, on which the schema change began, is out of the cluster; run it again", w.First))
		if w.Step.Empties {
			return true, d.emptied(ctx, gone)
		}
		return true, d.undo(ctx, gone)
	}
	again := w.Begun
	if !again {
		if err := d.awaitUsers(ctx, first); err != nil {
			return true, d.undoFor(ctx, err)
		}
		if w.Begun = true; w.Step.Empties {
			if err := d.leader.save(ctx, d.job); err != nil {
				return false, err
			}
		}
	}
	if err := d.runOn(ctx, first, true, !again, func() {}); err != nil {
		switch {
		case d.waits(err):
			return false, err
		case pending(err), again && w.Step.Empties:
			return true, d.emptied(ctx, err)
		}
		return d.firstRefused(ctx, first, toClient(err))
	}
	if err := d.leader.save(ctx, d.job); err != nil { // what the client is to be told of it
		return false, err
	}
	if err := d.leader.at("first"); err != nil {
		return false, err
	}
	d.others.affected, d.others.warnings = make([]uint64, len(d.servers)), make([][]schema.Warning, len(d.servers))
	if err := d.runOnOthers(ctx, first); err != nil {
		switch {
		case d.waits(err), ctx.Err() != nil:
			return false, err
		case w.Step.Empties:
			return true, d.emptied(ctx, err)
		}
		return true, d.takeBack(ctx, toClient(err))
	}
	d.sumUp()
	return false, nil
}

// runOnOthers runs the step on the other groups than the first, at the same time, but for the moments in which it waits for those who use the
// table: on one group after the other. A transaction that uses the table on one group, and then on another where the step waits, would
// else wait for the step, and the step on the first of them for the transaction. A step about what nobody can use waits for nobody.
func (d *schemaChange) runOnOthers(ctx context.Context, first int) error {
	var g errgroup.Group // the others go on when one fails: what then is to undo is the same for all
	for i := range d.servers {
		if i == first {
			continue
		}
		ended, sent := make(chan error, 1), make(chan struct{})
		send := sync.OnceFunc(func() { close(sent) })
		g.Go(func() error {
			err := d.runOn(ctx, i, false, false, send)
			ended <- err
			return err
		})
		if d.job.Work.Unused {
			continue
		}
		if err := d.getsItsTables(ctx, i, sent, ended); err != nil && !d.job.Work.Step.Empties {
			break
		}
	}
	return g.Wait()
}

// looksEvery is how often it is looked whether a step still waits for those who use its table, and calmLooks how often in turn it must not, for
// the first look may come before it does.
const (
	looksEvery = 50 * time.Millisecond
	calmLooks  = 3
)

// getsItsTables returns when the step on the ith group, once it is sent, waits for nobody, or has ended, with that error. Where this cannot be told
// it does not wait either.
func (d *schemaChange) getsItsTables(ctx context.Context, i int, sent <-chan struct{}, ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-sent:
	}
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	past := make(chan struct{})
	go func() {
		defer close(past)
		s, err := d.leader.servers.Dial(wait, d.snap.Groups[i].Label(), d.snap.Groups[i].Primary)
		if err != nil {
			return
		}
		defer s.Close()
		for calm := 0; calm < calmLooks; calm++ {
			if pause.For(wait, looksEvery) != nil {
				return
			}
			waits, err := s.FenceWaits(wait, d.turn.lane)
			if err != nil {
				return
			}
			if waits {
				calm = -1
			}
		}
	}()
	select {
	case err := <-ended:
		return err
	case <-past:
		return nil
	}
}

// waits reports whether the job, whose step has ended with err, is to be begun again later. A TRUNCATE is not for a server that cannot be reached:
// clients may have written rows into the other groups meanwhile.
func (d *schemaChange) waits(err error) bool {
	return fatal(err) || pending(err) && !d.job.Work.Step.Empties
}

// emptied ends a TRUNCATE that some groups have not run, for the reason err.
func (d *schemaChange) emptied(ctx context.Context, err error) error {
	return d.fail(ctx, sqlerr.UnknownError.New(fmt.Sprintf(
		"TRUNCATE has taken away the rows of some node groups, of others not (%s); run it again; job %s", toClient(err).Error(), d.job.ID)))
}

// sumUp adds to the first group's answer what the others, each with rows of its own, have done to theirs: the rows they have copied
// and the warnings that speak of rows. Groups that ran the step for a leader that died are not counted.
func (d *schemaChange) sumUp() {
	if !d.job.Work.OwnRows {
		return
	}
	result := &d.job.Result
	for i := range d.others.affected {
		result.Affected += d.others.affected[i]
		for _, w := range d.others.warnings[i] {
			if strings.Contains(w.Message, " at row ") && !strings.HasSuffix(w.Message, " at row 0") && len(result.Warnings) < schema.MaxWarnings {
				result.Warnings = append(result.Warnings, w)
			}
		}
	}
}

// firstRefused ends the job if nothing was changed. A DROP that stopped half-way goes on with what it has dropped,
// as does a CREATE OR REPLACE that could not create.
func (d *schemaChange) firstRefused(ctx context.Context, first int, refusal *sqlerr.Error) (ended bool, err error) {
	w := d.job.Work
	if d.servers[first] == nil { // nobody can be asked what became of it
		return true, d.undo(ctx, refusal)
	}
	if len(w.Step.Drops) > 1 {
		now, err := d.texts(ctx, d.servers[first], w)
		if err != nil {
			return false, err
		}
		var gone []ddl.Object
		var names []string
		for _, o := range w.Step.Drops {
			if now[o.String()] == "" {
				gone = append(gone, o)
				names = append(names, o.SQL())
			}
		}
		if len(gone) > 0 {
			kind, _, _ := strings.Cut(strings.TrimPrefix(w.Step.SQL, "DROP "), " ")
			w.Step.SQL = "DROP " + kind + " IF EXISTS " + strings.Join(names, ", ")
			w.Step.Drops, w.Drop, w.Error = gone, gone, refusal
			if err := d.leader.save(ctx, d.job); err != nil {
				return false, err
			}
			return d.execute(ctx)
		}
	}
	if w.Step.Dropping != "" {
		if ran, err := d.ran(ctx, first); err != nil {
			return false, err
		} else if ran {
			return true, d.takeBack(ctx, refusal)
		}
	}
	return true, d.undo(ctx, refusal)
}

// runOn runs the step on the ith group unless it has run there. Errors that may pass are tried again.
//
// first: nothing has been changed yet. asClient: it waits for users of its tables as long as the client would. sent is called before it is sent,
// each time.
func (d *schemaChange) runOn(ctx context.Context, i int, first, asClient bool, sent func()) error {
	group := d.snap.Groups[i].ID
	var last error
	for attempt := range maxAttempts {
		if attempt > 0 {
			if err := pause.For(ctx, d.leader.retry); err != nil {
				return err
			}
		}
		if d.servers[i] == nil {
			if err := d.connectOne(ctx, i); err != nil {
				if last = err; fatal(err) {
					return err
				}
				continue
			}
		}
		if !d.job.Work.Step.Repeat && (d.resumed || attempt > 0) {
			ran, err := d.ran(ctx, i)
			if err == nil && ran {
				return nil
			}
			if err != nil {
				last = err
				d.drop(i)
				continue
			}
		}
		if err := d.leader.at(fmt.Sprint("before-", group)); err != nil {
			return err
		}
		if asClient {
			if last = d.lockWaits(ctx, i, true); last != nil {
				d.drop(i)
				continue
			}
		}
		sent()
		affected, err := d.step(ctx, d.servers[i])
		if err := d.leader.at(fmt.Sprint("after-", group)); err != nil {
			return err
		}
		var warnings []schema.Warning
		if err == nil {
			warnings, err = d.servers[i].Warnings(ctx)
		}
		if asClient {
			if e := d.lockWaits(ctx, i, false); e != nil && err == nil {
				err = e
			}
		}
		if err == nil {
			if first {
				d.job.Result.Affected, d.job.Result.Warnings = affected, warnings
			} else {
				d.others.affected[i], d.others.warnings[i] = affected, warnings
			}
			return nil
		}
		last = err
		refused, ok := errors.AsType[*sqlerr.Error](err)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !ok:
			d.drop(i)
		case first && !passing(refused), !first && certain(refused):
			return err
		}
	}
	return last
}

// drop closes a connection that cannot be used any more.
func (d *schemaChange) drop(i int) {
	if d.servers[i] != nil {
		d.servers[i].Close()
		d.servers[i] = nil
	}
}

// passing tells errors that the same statement may not meet again.
func passing(e *sqlerr.Error) bool {
	return e.Code == sqlerr.LockDeadlock || e.Code == sqlerr.ServerShutdown || e.Code == sqlerr.QueryInterrupted
}

// certain tells errors of later groups that trying again will not change: those that rows cause.
func certain(e *sqlerr.Error) bool {
	switch e.Code {
	case sqlerr.LockDeadlock, sqlerr.LockWaitTimeout, sqlerr.ServerShutdown, sqlerr.QueryInterrupted:
		return false
	}
	return true
}

// undoFor is undo for the reason err, unless that is one for which this leader must stop.
func (d *schemaChange) undoFor(ctx context.Context, err error) error {
	if pending(err) {
		return err
	}
	return d.undo(ctx, toClient(err))
}

// takeBack ends a job whose step has changed something: by undo, or as a server ends a CREATE OR REPLACE that it refuses, on all groups.
// Where a group could not be asked it is undo that says so.
func (d *schemaChange) takeBack(ctx context.Context, refusal *sqlerr.Error) error {
	w := d.job.Work
	if w.Step.Dropping == "" || !certain(refusal) || refusal.Code == sqlerr.ServerLost {
		return d.undo(ctx, refusal)
	}
	w.GiveUp(refusal)
	if err := d.leader.save(ctx, d.job); err != nil {
		return err
	}
	if ended, err := d.execute(ctx); ended || err != nil {
		return err
	}
	change, err := d.readBack(ctx)
	if err != nil {
		return d.undoFor(ctx, err)
	}
	return d.finish(ctx, change)
}

// undo takes the step back where it ran and fails the job with refusal, or tells what could not be taken back. While a server cannot be
// reached that has to be asked, the job is not at its end: it is begun again.
func (d *schemaChange) undo(ctx context.Context, refusal *sqlerr.Error) error {
	if err := d.leader.at("undo"); err != nil {
		return err
	}
	var stands, why []string
	for i := range d.servers {
		err := d.undoOn(ctx, i)
		if errors.Is(err, schema.ErrLost) { // it may have been idle for too long
			d.drop(i)
			err = d.undoOn(ctx, i)
		}
		if pending(err) {
			return err
		}
		if err != nil {
			name := d.snap.Groups[i].Label()
			stands, why = append(stands, name), append(why, name+": "+err.Error())
		}
		if err := d.leader.at(fmt.Sprint("undone-", d.snap.Groups[i].ID)); err != nil {
			return err
		}
	}
	if len(why) > 0 && d.job.Work.Rebuild != nil { // some groups have rows that are others' as well
		return fmt.Errorf("take back the rebuilding of table %s: %s", d.job.Work.Rebuild.Table, strings.Join(why, "; "))
	}
	if len(why) > 0 {
		d.mendIndexes(ctx)
		return d.fail(ctx, sqlerr.UnknownError.New(fmt.Sprintf(
			"the schema change failed (%s) and now stands on node groups %s only (%s); run it again when the cause is removed, or take it back on those servers by hand; job %s",
			refusal.Error(), strings.Join(stands, ", "), strings.Join(why, "; "), d.job.ID)))
	}
	return d.fail(ctx, refusal)
}

// undoOn takes the step back on the ith group, if it ran there.
func (d *schemaChange) undoOn(ctx context.Context, i int) error {
	if d.servers[i] == nil {
		if err := d.connectOne(ctx, i); err != nil {
			return err
		}
	}
	ran, err := d.ran(ctx, i)
	if err != nil {
		return err
	}
	if !ran {
		return d.putOn(ctx, d.servers[i], false)
	}
	if err := d.takeOff(ctx, d.servers[i]); err != nil {
		return err
	}
	step := d.job.Work.Step
	switch {
	case step.Altered != nil && step.Altered.Back != nil:
		err = d.alterBack(ctx, d.servers[i], step.Altered)
	case len(step.Undo) == 0:
		return errors.New("this kind of change cannot be taken back")
	default:
		for _, q := range slices.Concat([]string{"SET SESSION foreign_key_checks = 0"}, step.Undo) {
			if _, err = d.servers[i].Exec(ctx, q); err != nil {
				break
			}
		}
	}
	if err != nil {
		return err
	}
	if ran, err = d.ran(ctx, i); err == nil && ran {
		return errors.New("taken back in part only")
	}
	if err != nil {
		return err
	}
	return d.putOn(ctx, d.servers[i], false)
}

// fail ends the job with an error.
func (d *schemaChange) fail(ctx context.Context, e *sqlerr.Error) error {
	d.removeMarker(ctx)
	if err := d.dropNewIndexes(ctx); err != nil {
		return err
	}
	d.job.State, d.job.Error = failed, e
	return d.leader.save(ctx, d.job)
}

// finish writes the catalog and the job's success in one change.
func (d *schemaChange) finish(ctx context.Context, change *topology.Change) error {
	w := d.job.Work
	d.job.Result.Warnings = append(w.Warnings, d.job.Result.Warnings...)
	if w.Affected > 0 {
		d.job.Result.Affected = w.Affected
	}
	d.reopen(change)
	d.job.State, d.job.Error = done, w.Error
	if err := d.leader.saveWith(ctx, d.job, change); err != nil {
		if stops(err) {
			return err
		}
		d.job.State = running
		return d.undo(ctx, toClient(err)) // etcd takes no such change
	}
	d.changed = d.job.revision
	if err := d.leader.at("committed"); err != nil {
		return err
	}
	d.removeMarker(ctx)
	if len(w.Obsolete) > 0 {
		var tables []ddl.Object
		for _, r := range w.Refresh {
			tables = append(tables, r.Object)
		}
		d.settled(ctx, append(tables, w.Drop...)...)
		d.dropEntries(ctx, w.Obsolete)
	}
	d.vanished(ctx, d.gone())
	if w.Rebuild != nil {
		d.dropRebuilt(ctx)
	}
	return nil
}

// removeMarker drops what tells that a RENAME ran. It is ours and named after the job: left behind it does no harm.
func (d *schemaChange) removeMarker(ctx context.Context) {
	if d.job.Work == nil || d.job.Work.Marker == "" {
		return
	}
	m := ddl.Object{DB: catalog.OwnDB, Name: d.job.Work.Marker}
	moved := ddl.Object{DB: catalog.OwnDB, Name: d.job.Work.Marker + "_done"}
	for _, s := range d.servers {
		if s == nil {
			continue
		}
		if _, err := s.Exec(ctx, "DROP TABLE IF EXISTS "+m.SQL()+", "+moved.SQL()); err != nil {
			d.leader.log.Info("a table of a finished schema change stays behind", "table", m.Name, "error", err)
		}
	}
}
