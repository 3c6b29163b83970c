package session

import (
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// With skarv_read_from = replica, SELECTs outside of transactions read from replicas of the node groups: of those that have all that the session
// has written, and are no further behind than they may be. Where there is none, and for all else, it is the primary. See pkg/lag.

// Replicas picks replicas that are new enough to be read from: a *lag.Meter.
type Replicas interface {
	Pick(snap *catalog.Snapshot, g placement.NodeGroupID, least time.Duration, session uint32) (addr string, ok bool)
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
	if r.cmd == wire.ComStmtExecute && r.packets != nil && r.packets[cursorFlags] != 0 {
		return false // its connection is kept
	}
	if p.Relay != nil {
		return len(p.Relay.Tables) > 0
	}
	return streams(p.Root)
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
	return c
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
