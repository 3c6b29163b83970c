package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"skarv/pkg/adminaccess"
	"skarv/pkg/catalog"
	"skarv/pkg/control"
	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	"skarv/pkg/topology"
	"skarv/pkg/txn"
	adminv1 "skarv/proto/admin/v1"
)

// GroupHealth is what a process knows of a node group.
type GroupHealth struct {
	Up    bool
	Since time.Time
	Err   string

	Limit, InUse, Queue int // connections that new work may use, those in use, statements that wait
	Refused             uint64

	Crowded time.Time // when its server last refused a connection because it has too many
	Full    time.Time // since when statements wait for space on its server's disk; zero: none does
	Locked  time.Time // since when they wait for a lock of all of its server; zero: none does

	ReadOnly time.Time // since when read_only is set on its server; zero: it is not
	Barred   string    // why its server refuses Skarv's own account; "" if it does not

	Clock time.Duration // how far its server's clock is ahead of ours
}

// Status implements the API.
func (a *Server) Status(ctx context.Context, _ *adminv1.StatusRequest) (*adminv1.StatusResponse, error) {
	h := a.cfg.Store.Healthy()
	out := &adminv1.StatusResponse{Etcd: &adminv1.Etcd{
		Healthy: h.OK, Since: timestamppb.New(h.Since), Endpoints: a.cfg.Store.Endpoints(),
	}}
	if h.Err != nil {
		out.Etcd.Error = h.Err.Error()
	}
	problem := func(format string, args ...any) { out.Problems = append(out.Problems, fmt.Sprintf(format, args...)) }
	full := errors.Is(h.Err, topology.ErrFull)
	switch {
	case full:
		problem("etcd takes no writes since %s, for its database is full: clients' statements go on, but schemas, node groups and accounts cannot be changed, partitions not moved, and processes that start get no place; make room as operations.md says under etcd",
			h.Since.Format(time.RFC3339))
	case !h.OK:
		problem("etcd does not answer since %s (%v): statements go on with the last map, schema changes wait; check etcd at %s",
			h.Since.Format(time.RFC3339), h.Err, strings.Join(out.Etcd.Endpoints, ", "))
	}
	if h.OK && h.Slow > 0 {
		problem("etcd is slow, it took %v or more to answer: schema changes, moves of partitions and AUTO_INCREMENT values may wait; see its disk and load at %s",
			h.Slow, strings.Join(out.Etcd.Endpoints, ", "))
	}
	if h.OK || full {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		leader, _, err := a.cfg.Store.Leader(ctx, control.Role)
		if err == nil {
			out.Leader = leader
			members, e := a.cfg.Store.Members(ctx)
			err = e
			for _, m := range members {
				out.Members = append(out.Members, &adminv1.Member{
					Id: m.ID, Addr: m.Addr, AdminAddr: m.AdminAddr, Version: m.Version,
					Started: timestamppb.New(m.Started), Proxy: m.Proxy, Acked: m.Acked,
				})
			}
		}
		unasked := unreachable(out.Members)
		if len(unasked) == 0 {
			unasked = a.unanswered(ctx)
		}
		for _, text := range unasked {
			problem("%s", text)
		}
		if err == nil && out.Leader == "" && !full {
			problem("no controller leads: start a skarv process with the controller role")
		}
		var jobs []control.Job
		if err == nil {
			jobs, err = control.Unfinished(ctx, a.cfg.Store)
		}
		for _, j := range jobs {
			switch since := time.Since(j.Created).Round(time.Second); {
			case j.Problem != "":
				problem("a schema change does not get on since %v, and others wait for it (%s): %s; it is tried again", since, j.Problem, excerpt(j.What))
			case since > longJob:
				problem("a schema change waits or runs since %v: %s", since, excerpt(j.What))
			}
		}
		var r *reorg.Record
		if err == nil {
			r, err = a.running(ctx)
		}
		switch {
		case err != nil: // what comes after it in time is not known either
			problem("etcd could not be read, so schema changes, reorganisations and processes are not all known: %v", err)
		case r != nil && !r.Paused && r.Problem != "" && r.Problem != r.Reason:
			problem("reorganisation %s does not go on in %s: %s; it is tried again, see skarvctl reorg show %s", r.ID, r.State, r.Problem, r.ID)
		}
	}
	snap := a.cfg.Follower.Snapshot()
	if snap == nil {
		problem("the cluster's state was not read yet")
		return out, nil
	}
	if snap.ClusterID == "" {
		problem("there is no cluster yet: use skarvctl cluster init, or skarvctl import for a server that has tables")
		return out, nil
	}
	out.ClusterId, out.Flavor, out.ServerVersion = snap.ClusterID, string(snap.Flavor), snap.ServerVersion
	out.Revision = snap.Revision
	if snap.Map != nil {
		out.MapEpoch = snap.Map.Epoch()
	}
	out.Databases = uint32(len(snap.Databases))
	for _, d := range snap.Databases {
		out.Tables += uint32(len(d.Tables))
	}
	out.NodeGroups = a.groups(snap)
	if h.OK || full {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		seen, err := control.Failovers(ctx, a.cfg.Store)
		for i, g := range snap.Groups {
			out.NodeGroups[i].AutomaticFailover = automaticFailover(g, seen[g.ID], err, time.Now())
			for _, text := range failoverProblems(g, out.NodeGroups[i], seen[g.ID]) {
				problem("%s", text)
			}
		}
	}
	for _, g := range snap.Groups {
		if a.cfg.Health == nil {
			break
		}
		h, ok := a.cfg.Health(g.ID)
		if ok && !h.Full.IsZero() {
			problem("the disk of node group %s's server at %s is full since %s: statements that write there wait until somebody makes room, and go on by themselves within a minute of that",
				g.Label(), g.Primary.Addr, h.Full.UTC().Format(time.RFC3339))
		}
		if ok && !h.Locked.IsZero() && time.Since(h.Locked) >= longLocked {
			problem("the server of node group %s at %s is locked since %s, by FLUSH TABLES WITH READ LOCK or a backup: statements that write there wait until that ends; SHOW PROCESSLIST there may tell who it is",
				g.Label(), g.Primary.Addr, h.Locked.UTC().Format(time.RFC3339))
		}
		if ok && !h.ReadOnly.IsZero() {
			problem("the server of node group %s at %s is read-only since %s: writes there fail with error 1290; "+
				"if it is the primary, SET GLOBAL read_only = OFF there", g.Label(), g.Primary.Addr, h.ReadOnly.UTC().Format(time.RFC3339))
		}
		if ok && h.Clock.Abs() >= farOff {
			problem("the clock of node group %s's server at %s is %v %s that of this process: NOW(), and the times that columns have by default, differ by as much from node group to "+
				"node group, though nothing is lost by it; keep all clocks by NTP", g.Label(), g.Primary.Addr, h.Clock.Abs(), map[bool]string{true: "ahead of", false: "behind"}[h.Clock > 0])
		}
		if ok && h.Barred != "" && h.Up && h.Err == "" {
			problem("the server of node group %s at %s refuses Skarv's own account (%s): clients' statements go on while the connections last, schema changes, moves of "+
				"partitions and processes that start do not; give the account the password back that the cluster knows, and the privileges, or tell the cluster another one: skarvctl nodegroup password", g.Label(), g.Primary.Addr, h.Barred)
		}
		if ok && !h.Crowded.IsZero() && time.Since(h.Crowded) < longCrowded {
			problem("the server of node group %s at %s takes no more connections, last at %s: statements that need one end with error 1430; raise its max_connections above what all processes may use (backend.max_connections of each, and some more)",
				g.Label(), g.Primary.Addr, h.Crowded.UTC().Format(time.RFC3339))
		}
	}
	for _, g := range out.NodeGroups {
		const look = "see whether its server at %s runs, answers, and takes Skarv's account"
		switch {
		case g.Health == adminv1.NodeGroup_HEALTH_DOWN:
			problem("node group %s is down since %s (%s): "+look+"%s", g.Name, g.HealthSince.AsTime().Format(time.RFC3339), g.Error, g.Primary.Addr, lostFor(g))
		case g.Error != "": // it refuses Skarv's account, or is about to be down
			problem("node group %s could not be asked just now (%s), and statements may end with error 1430: "+look, g.Name, g.Error, g.Primary.Addr)
		}
	}
	if a.cfg.InDoubt != nil {
		for _, text := range lingering(a.cfg.InDoubt(), out.NodeGroups, time.Now()) {
			problem("%s", text)
		}
	}
	return out, nil
}

// automaticFailover is whether a replica would take the place of a group's primary, by what the controller has seen; nil: it is off.
func automaticFailover(g *catalog.NodeGroup, seen control.Failover, err error, now time.Time) *adminv1.AutomaticFailover {
	switch {
	case !g.AutomaticFailover:
		return nil
	case err != nil:
		return &adminv1.AutomaticFailover{Reason: "it is not known: " + err.Error()}
	case !seen.Holds(g, now):
		return &adminv1.AutomaticFailover{Reason: "no controller looks at the primary"}
	}
	return &adminv1.AutomaticFailover{Armed: seen.Armed, Reason: seen.Why}
}

// failoverProblems tells what is wrong with the automatic failover of a group, and of its primaries that are back.
func failoverProblems(g *catalog.NodeGroup, shown *adminv1.NodeGroup, seen control.Failover) (problems []string) {
	if f := shown.AutomaticFailover; f != nil && f.Reason != "" {
		text := "no replica would take the place of node group %s's primary if that were lost: %s"
		if shown.Health == adminv1.NodeGroup_HEALTH_DOWN {
			text = "no replica takes the place of node group %s's primary: %s"
		}
		problems = append(problems, fmt.Sprintf(text, shown.Name, f.Reason))
	}
	for _, addr := range seen.Back {
		if slices.ContainsFunc(g.Replaced, func(n catalog.Node) bool { return n.Addr == addr }) {
			problems = append(problems, fmt.Sprintf("the server at %s was the primary of node group %s until it was lost, was replaced by %s, and is back: it is not used, and may have what no other has; "+
				"empty it, load a backup of %s, and let it replicate from there by global transaction ids, read-only: then it is a replica again by itself. Or stop it, and take it away: skarvctl nodegroup replica remove %[2]s %[1]s", addr, shown.Name, g.Primary.Addr, g.Primary.Addr))
		}
	}
	return problems
}

// lostFor is what to do about a node group whose server does not come back: moves, snapshots and schema changes wait for it.
func lostFor(g *adminv1.NodeGroup) string {
	if len(g.Replicas) > 0 {
		var to []string
		for _, r := range g.Replicas {
			to = append(to, r.Addr)
		}
		others := ""
		if len(to) > 1 {
			others = ", or --to " + strings.Join(to[1:], ", --to ")
		}
		return fmt.Sprintf("; if it is lost for good, a replica takes its place: skarvctl nodegroup switchover %s --to %s --lost%s", g.Name, to[0], others)
	}
	if g.Partitions > 0 {
		return "; if it is lost for good, its backup must be restored there"
	}
	return "; if it is lost for good, skarvctl nodegroup remove " + g.Name + " --lost takes it out, and what waits for it goes on"
}

// longLocked is for how long a server is locked before it is told of: backups do it for moments.
const longLocked = 10 * time.Second

// farOff is how far clocks may be apart before it is told of.
const farOff = 5 * time.Second

// longCrowded is for how long it is told of a server that it has taken no more connections.
const longCrowded = time.Minute

// longDoubt is for how long a prepared transaction may wait for its end before it is told of: recovering one takes seconds.
const longDoubt = 15 * time.Second

// lingering tells of the transactions that have been in doubt for long, the oldest first, a line for each node group.
func lingering(doubt []txn.Doubt, groups []*adminv1.NodeGroup, now time.Time) (problems []string) {
	for _, g := range groups {
		of := slices.DeleteFunc(slices.Clone(doubt), func(d txn.Doubt) bool {
			return uint32(d.Group) != g.Id || now.Sub(d.Since) < longDoubt
		})
		if len(of) > 0 {
			problems = append(problems, fmt.Sprintf("transactions are in doubt on node group %s and hold locks on its rows, %d of them, the first since %s (%s): see skarvctl transactions",
				g.Name, len(of), of[0].Since.Format(time.RFC3339), of[0].Reason))
		}
	}
	return problems
}

// peerTime is how long a process has to answer another one before it is told of.
const peerTime = 2 * time.Second

// unanswered tells which processes do not answer this one: they are stopped, cut off, or want another certificate or token.
func (a *Server) unanswered(ctx context.Context) (problems []string) {
	if a.cfg.Load == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, peerTime)
	defer cancel()
	_, _, missing, _ := a.cfg.Load(ctx, true) // an error is etcd's, and told otherwise
	for _, addr := range missing {
		problems = append(problems, fmt.Sprintf("the process at %s does not answer this one: its clients are missing in SHOW PROCESSLIST, and cannot be killed from here; see whether it runs, and that certificates and token are the same for all", addr))
	}
	return problems
}

// unreachable tells which processes the others cannot ask, because of the admin address they announce.
func unreachable(members []*adminv1.Member) (problems []string) {
	by, beyond := map[string]int{}, false
	for _, m := range members {
		by[m.AdminAddr]++
		beyond = beyond || !adminaccess.IsLoopback(m.AdminAddr)
	}
	for _, addr := range slices.Sorted(maps.Keys(by)) {
		switch {
		case by[addr] > 1:
			problems = append(problems, fmt.Sprintf("%d processes announce the admin address %s: they cannot ask each other for clients, nor KILL them; set admin.advertise of each", by[addr], addr))
		case beyond && adminaccess.IsLoopback(addr):
			problems = append(problems, fmt.Sprintf("a process announces the admin address %s, by which only its own machine reaches it; set its admin.advertise", addr))
		}
	}
	return problems
}

// longJob is when a schema change that has not ended is worth a word.
const longJob = time.Minute

// excerpt is the beginning of a statement.
func excerpt(sql string) string {
	const most = 100
	if r := []rune(sql); len(r) > most {
		return string(r[:most]) + " ..."
	}
	return sql
}

// groups lists the node groups with their health.
func (a *Server) groups(snap *catalog.Snapshot) []*adminv1.NodeGroup {
	out := make([]*adminv1.NodeGroup, len(snap.Groups))
	for i, g := range snap.Groups {
		out[i] = &adminv1.NodeGroup{Id: uint32(g.ID), Name: g.Label(), Primary: fromNode(g.Primary), Term: g.Term}
		for _, r := range g.Replicas {
			out[i].Replicas = append(out[i].Replicas, fromNode(r))
		}
		if snap.Map != nil {
			out[i].Partitions = uint32(len(snap.Map.Owned(g.ID)))
		}
		if a.cfg.Health == nil {
			continue
		}
		if h, ok := a.cfg.Health(g.ID); ok {
			out[i].Health, out[i].Error = adminv1.NodeGroup_HEALTH_DOWN, h.Err
			if h.Up {
				out[i].Health = adminv1.NodeGroup_HEALTH_UP
			}
			out[i].Load = &adminv1.Load{Limit: uint32(h.Limit), InUse: uint32(h.InUse), Queue: uint32(h.Queue), Refused: h.Refused}
			if !h.Since.IsZero() {
				out[i].HealthSince = timestamppb.New(h.Since)
			}
		}
	}
	return out
}

// Partitions implements the API.
func (a *Server) Partitions(context.Context, *adminv1.PartitionsRequest) (*adminv1.PartitionsResponse, error) {
	snap, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	if snap.Map == nil {
		return nil, status.Error(codes.FailedPrecondition, "the partition map could not be read")
	}
	out := &adminv1.PartitionsResponse{Epoch: snap.Map.Epoch(), NodeGroups: a.groups(snap), Owners: make([]uint32, placement.Partitions)}
	for p := range out.Owners {
		out.Owners[p] = uint32(snap.Map.Owner(placement.Partition(p)))
	}
	return out, nil
}

// AwaitDrained implements the API.
func (a *Server) AwaitDrained(ctx context.Context, req *adminv1.AwaitDrainedRequest) (*adminv1.AwaitDrainedResponse, error) {
	if a.cfg.AwaitDrained == nil {
		return nil, status.Error(codes.FailedPrecondition, "this process has no clients: ask one with the proxy role")
	}
	r, err := a.cfg.AwaitDrained(ctx, req.GetEpoch())
	if err != nil {
		return nil, rpcError(err)
	}
	out := &adminv1.AwaitDrainedResponse{Epoch: r.Drained, Incarnation: r.Incarnation, Locked: uint32(r.Locked)}
	for _, g := range r.Pressed {
		out.Pressed = append(out.Pressed, uint32(g))
	}
	return out, nil
}

// PartitionLoad implements the API.
func (a *Server) PartitionLoad(ctx context.Context, req *adminv1.PartitionLoadRequest) (*adminv1.PartitionLoadResponse, error) {
	if a.cfg.Load == nil {
		return nil, status.Error(codes.FailedPrecondition, "this process has no clients: ask one with the proxy role")
	}
	rates, all, missing, err := a.cfg.Load(ctx, req.GetCluster())
	if err != nil {
		return nil, rpcError(err)
	}
	return &adminv1.PartitionLoadResponse{Rates: rates, Scattered: all, Missing: missing}, nil
}
