package takeover

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/fence"
	"skarv/pkg/pause"
	"skarv/pkg/reorg"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/topology"
)

// A cluster whose only node group has all rows is given up, and its server is a plain one again:
//
//	etcd     one transaction removes the cluster, if nothing of it has changed since it was looked at, and notes what is
//	         left to do on the server: from here on no proxy begins a statement
//	server   accounts of proxies are locked, their connections ended, the accounts dropped; counters are set; hidden
//	         keys become AUTO_INCREMENT columns; _skarv is dropped
//	etcd     the note is removed
//
// Whoever asks again after a crash goes on where the note says.

// LeaveReport is what leaving did, or would do.
type LeaveReport struct {
	Addr string // of the server
	// Refusals keep it from being done.
	Refusals []string
	// Statements are what is run on the server.
	Statements []string
	Done       bool
}

// ErrLeave: the cluster cannot be given up as it is; the report says why.
var ErrLeave = errors.New("the cluster cannot be left as it is")

// leaving is the note of what is left to do on the server.
type leaving struct {
	Name       string         `json:"name"`
	Node       catalog.Node   `json:"node"`
	Flavor     catalog.Flavor `json:"flavor"`
	Statements []string       `json:"statements"`
}

// leavePatience is how long proxies have to hear that the cluster is gone, before they are shut out.
const leavePatience = 30 * time.Second

// leavingID is the only record of its kind.
const leavingID = "server"

// Leave gives the cluster up and leaves its only server a plain one, or says what that would be like. progress, which may be nil, is told
// what is being done. ErrNoCluster: there is none, and nothing is left to do.
func Leave(ctx context.Context, store *topology.Store, servers schema.Dialer, dryRun bool, progress func(string)) (*LeaveReport, error) {
	if progress == nil {
		progress = func(string) {}
	}
	l, revision, report, err := pendingLeave(ctx, store)
	if err != nil {
		return nil, err
	}
	if l == nil {
		var snap *catalog.Snapshot
		if l, snap, report, err = planLeave(ctx, store, servers); err != nil {
			return report, err
		}
		if dryRun {
			return report, nil
		}
		if len(report.Refusals) > 0 {
			return report, fmt.Errorf("%w:\n%s", ErrLeave, strings.Join(report.Refusals, "\n"))
		}
		progress("removing the cluster from etcd")
		data, err := json.Marshal(l)
		if err != nil {
			return report, err
		}
		revision, err = store.Change(nil).DropCluster(snap.Revision).PutRecord(topology.Leavings, leavingID, data, topology.Absent).Commit(ctx)
		if errors.Is(err, topology.ErrConflict) {
			return report, errors.New("the cluster was changed meanwhile: try again")
		}
		if err != nil {
			return report, err
		}
	}
	if dryRun {
		return report, nil
	}
	progress("waiting for proxies")
	wait, cancel := context.WithTimeout(ctx, leavePatience)
	_, _ = store.WaitAcked(wait, revision) // those that do not hear of it are shut out next
	cancel()
	if err := l.clean(ctx, servers, progress); err != nil {
		return report, fmt.Errorf("the cluster is removed from etcd, but not all of it from the server (run it again): %w", err)
	}
	_, err = store.Change(nil).DeleteRecord(topology.Leavings, leavingID, topology.Any).Commit(ctx)
	report.Done = err == nil
	return report, err
}

// pendingLeave is the note of one that was begun, if there is one.
func pendingLeave(ctx context.Context, store *topology.Store) (*leaving, int64, *LeaveReport, error) {
	_, have, err := store.Cluster(ctx)
	if err != nil || have != topology.Absent {
		return nil, 0, nil, err
	}
	r, ok, err := store.Record(ctx, topology.Leavings, leavingID)
	if err != nil {
		return nil, 0, nil, err
	}
	if !ok {
		return nil, 0, nil, topology.ErrNoCluster
	}
	l := &leaving{}
	if err := json.Unmarshal(r.Value, l); err != nil {
		return nil, 0, nil, fmt.Errorf("decode record of leaving: %w", err)
	}
	return l, r.Revision, &LeaveReport{Addr: l.Node.Addr, Statements: l.Statements}, nil
}

// planLeave looks at the cluster. It changes nothing.
func planLeave(ctx context.Context, store *topology.Store, servers schema.Dialer) (*leaving, *catalog.Snapshot, *LeaveReport, error) {
	snap, err := store.Load(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	report := &LeaveReport{}
	refuse := func(format string, args ...any) {
		report.Refusals = append(report.Refusals, fmt.Sprintf(format, args...))
	}
	if len(snap.Groups) != 1 || snap.Map == nil {
		var names []string
		for _, g := range snap.Groups {
			names = append(names, g.Label())
		}
		refuse("there are %d node groups (%s): let one have everything with skarvctl nodegroup drain, and take the others out with skarvctl nodegroup remove",
			len(names), strings.Join(names, ", "))
		return nil, snap, report, nil
	}
	group := snap.Groups[0]
	report.Addr = group.Primary.Addr
	if id, running, err := reorg.Current(ctx, store); err != nil {
		return nil, nil, nil, err
	} else if running || len(snap.Map.Moving()) > 0 {
		refuse("reorganisation %s has not ended: wait for it, or use skarvctl reorg complete", id)
	}
	jobs, err := control.Unfinished(ctx, store)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, j := range jobs {
		refuse("schema change %s has not ended: wait for it", j.ID)
	}
	if err := control.Undecided(ctx, servers, snap, group); err != nil {
		refuse("%v", err)
	}
	l := &leaving{Name: group.Label(), Node: group.Primary, Flavor: snap.Flavor}
	for _, t := range snap.Tables() {
		for _, tr := range t.Triggers {
			if tr.Program != nil {
				refuse("trigger %s.%s is run by Skarv, and does nothing on the server: keep what SHOW CREATE TRIGGER says, drop it, and create it on the server afterwards",
					t.Database, tr.Name)
			}
		}
		text, err := plainTable(ctx, store, t)
		if err != nil {
			return nil, nil, nil, err
		}
		if text != "" {
			l.Statements = append(l.Statements, text)
		}
	}
	events, err := plainEvents(ctx, servers, snap, group)
	if err != nil {
		return nil, nil, nil, err
	}
	l.Statements = append(l.Statements, events...)
	l.Statements = append(l.Statements, "DROP DATABASE IF EXISTS "+sqltypes.QuoteName(catalog.OwnDB))
	report.Statements = l.Statements
	return l, snap, report, nil
}

// plainEvents are the statements by which the server runs its events itself again.
func plainEvents(ctx context.Context, servers schema.Dialer, snap *catalog.Snapshot, group *catalog.NodeGroup) (out []string, err error) {
	if len(snap.Events) == 0 {
		return nil, nil
	}
	s, err := servers.Dial(ctx, group.Label(), group.Primary)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for _, e := range snap.SortedEvents() {
		status := map[catalog.EventStatus]string{catalog.EventEnabled: "ENABLE", catalog.EventDisabled: "DISABLE"}[e.Status]
		if status == "" {
			continue
		}
		q, err := schema.AlterEvent(ctx, s, e, status)
		if err != nil {
			return nil, err
		}
		if q != "" {
			out = append(out, q)
		}
	}
	return out, nil
}

// plainTable is the statement that makes a plain server's table of t, "" if it is one.
func plainTable(ctx context.Context, store *topology.Store, t *catalog.Table) (string, error) {
	hidden := t.HiddenKey && t.Kind == catalog.Sharded
	if t.ID == 0 || t.Kind != catalog.Sharded && t.Kind != catalog.Reference || t.AutoIncrement < 0 && !hidden {
		return "", nil
	}
	next, err := store.Sequence(ctx, t.ID)
	if err != nil {
		return "", err
	}
	text := "ALTER TABLE " + t.SQL() + " "
	if hidden {
		text += fmt.Sprintf("MODIFY COLUMN %s BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE, ", sqltypes.QuoteName(catalog.HiddenKey))
	}
	return text + fmt.Sprintf("AUTO_INCREMENT = %d", next), nil
}

// clean makes the server a plain one. It may be run again.
func (l *leaving) clean(ctx context.Context, servers schema.Dialer, progress func(string)) error {
	node := l.Node
	node.Flavor = l.Flavor
	s, err := servers.Dial(ctx, l.Name, node)
	if err != nil {
		return err
	}
	defer s.Close()
	session := schema.Session{SQLMode: "NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES", Set: []string{"SET SESSION foreign_key_checks = 0"}}
	if err := s.Use(ctx, session); err != nil {
		return err
	}
	progress("ending the proxies' connections to the server")
	users, err := l.shutOut(ctx, s)
	if err != nil {
		return err
	}
	// Whatever they had begun has ended; what is prepared would keep its locks for ever.
	ids, err := control.Prepared(ctx, s)
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		return fmt.Errorf("transaction %s is prepared: end it with XA COMMIT or XA ROLLBACK, as SELECT state FROM _skarv.dt says (C: commit)", ids[0])
	}
	for _, q := range l.Statements {
		progress(q)
		if _, err := s.Exec(ctx, q); err != nil && !sqlerr.HasCode(err, sqlerr.NoSuchTable) {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	for _, u := range users {
		if _, err := s.Exec(ctx, "DROP USER IF EXISTS "+u); err != nil {
			return err
		}
	}
	return nil
}

// shutOut shuts the slots of proxies, locks their accounts and ends their connections. It returns the accounts.
func (l *leaving) shutOut(ctx context.Context, s *schema.Server) (users []string, err error) {
	prefix := strings.TrimSuffix(fence.User(0), "0")
	err = s.Rows(ctx, func(r *sql.Rows) error {
		var name, host string
		if err := r.Scan(&name, &host); err != nil {
			return err
		}
		if number := strings.TrimPrefix(name, prefix); number != name && number != "" && strings.Trim(number, "0123456789") == "" {
			users = append(users, sqltypes.QuoteName(name)+"@"+sqltypes.QuoteName(host))
		}
		return nil
	}, "SELECT user, host FROM mysql.user")
	if err != nil {
		return nil, err
	}
	slices.Sort(users)
	// First, as in fence.Evict: whoever is logging in at this moment looks there, and is not seen below.
	const shut = "UPDATE `_skarv`.`slot` SET fenced = 1"
	if _, err := s.Exec(ctx, shut); err != nil && !sqlerr.HasCode(err, sqlerr.NoSuchTable, sqlerr.UnknownDatabase) {
		return nil, err
	}
	for _, u := range users {
		if _, err := s.Exec(ctx, "ALTER USER "+u+" ACCOUNT LOCK"); err != nil {
			return nil, err
		}
	}
	for {
		var ids []string
		err := s.Rows(ctx, func(r *sql.Rows) error {
			var id, user string
			err := r.Scan(&id, &user)
			if number := strings.TrimPrefix(user, prefix); number != user && strings.Trim(number, "0123456789") == "" {
				ids = append(ids, id)
			}
			return err
		}, "SELECT id, COALESCE(user, '') FROM information_schema.processlist")
		if err != nil || len(ids) == 0 {
			return users, err
		}
		for _, id := range ids {
			if _, err := s.Exec(ctx, "KILL "+id); err != nil && !sqlerr.HasCode(err, sqlerr.UnknownThread) {
				return nil, err
			}
		}
		if err := pause.For(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
}
