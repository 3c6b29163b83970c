package session

import (
	"errors"
	"io"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// With skarv_read_from = replica, SELECTs outside of transactions read from replicas of the node groups: of those that have all that the session
// has written, and are no further behind than they may be. Where there is none, and for all else, it is the primary.
//
// A replica shuts nobody out. So what one has answered goes to the client only if the process was alive for the cluster then: nobody has gone on
// without it, and the statement is not of what the cluster was before. See pkg/lag.

// Replicas picks replicas that are new enough to be read from: a *lag.Meter.
type Replicas interface {
	// Pick picks one of node group g for a statement that was planned by snap, which has all that the primary had at least, on the clock of
	// Config.Clients.
	Pick(snap *catalog.Snapshot, g placement.NodeGroupID, least time.Duration, session uint32) (addr string, ok bool)
	// Alive reports whether what a replica has answered until now may be passed on.
	Alive() bool
}

// mayReadReplica reports whether the statement at hand may be read from replicas: it reads rows, locks none, leaves nothing on its connection,
// and goes to the node groups as it is, or in parts whose rows are merged.
func (s *Session) mayReadReplica(p *plan.Plan, r request) bool {
	const more = plan.LocksRows | plan.WritesUserVariable | plan.SetsLastInsertID | plan.CalcFoundRows | plan.PinsSession
	if !s.ours.Replicas || s.used.primary || p.Kind != plan.Select || p.Topic != "" || p.Uses&more != 0 || writes(p) || s.cfg.Replicas == nil {
		return false
	}
	if s.tx != nil || s.locks != nil || s.temps != nil || s.mutex != nil || s.inside != 0 || s.calls != nil || s.isolation != "" || s.ours.Reads != variable.ReadOff {
		return false
	}
	if r.packets == nil || r.cmd == wire.ComStmtExecute && r.packets[cursorFlags] != 0 {
		return false // it is one of several, or sent in another form; or its connection is kept
	}
	if p.Relay != nil {
		return len(p.Relay.Tables) > 0 && p.Relay.Target.Kind != plan.ByIndex
	}
	return streams(p.Root) && !byIndex(p.Root)
}

// byIndex reports whether the rows are found by an entry of a global index: it and the row could be as of moments of their own.
func byIndex(n plan.Node) bool {
	for ; n != nil; n = plan.Input(n) {
		if f, ok := n.(*plan.Fragment); ok {
			return f.Target.Kind == plan.ByIndex
		}
	}
	return false
}

// cursorFlags is where a packet of COM_STMT_EXECUTE asks for a cursor.
const cursorFlags = wire.HeaderLen + 1 + 4

// onReplica is pooled of a connection to a replica; nil if none will do.
func (s *Session) onReplica(g placement.NodeGroupID, state *backend.State, claim backend.Claim) *backend.Conn {
	addr, ok := s.cfg.Replicas.Pick(s.snap, g, s.wrote, s.conn.ID())
	if !ok {
		return nil
	}
	c, err := s.cfg.Pools.Replica(g, addr, s.profile, state, claim)
	if err != nil {
		return nil // the primary tells what is wrong, if that is not the replica alone
	}
	s.fromReplica = true
	return c
}

// errOutdated: what replicas have answered may be of what the cluster was before.
var errOutdated = errors.New("the process may have been taken for dead")

// checked passes on what a replica answers, if that may be.
type checked struct {
	s     *Session
	dst   io.Writer
	begun bool
}

func (c *checked) Write(b []byte) (int, error) {
	if !c.begun && !c.s.cfg.Replicas.Alive() {
		return 0, errOutdated
	}
	c.begun = true
	return c.dst.Write(b)
}

// leavesReplica reports whether the statement at hand, which has failed with err before anything was sent to the client, is run again on primaries
// alone. One that its server has died of, or may have, is not.
func (s *Session) leavesReplica(err error) bool {
	if !s.fromReplica || s.client.MustEnd() {
		return false
	}
	lost := mysqlconn.IsLost(err) || sqlerr.HasCode(err, sqlerr.ServerLost)
	if !errors.Is(err, errOutdated) && !(lost && (s.cfg.Clients.Clock()-s.began < repeatWithin || s.cfg.Pools.ReplicaDown())) {
		return false
	}
	s.used.primary, s.replica, s.fromReplica = true, false, false
	return true
}

// mayWrite reports whether a statement outside of a transaction may have changed what its session must find again.
func mayWrite(p *plan.Plan) bool {
	if p == nil {
		return true
	}
	switch p.Kind {
	case plan.Select:
		return writes(p)
	case plan.Show, plan.Set, plan.Use, plan.Explain, plan.Begin, plan.Commit, plan.Rollback, plan.Savepoint:
		return false
	}
	return true
}
