package session

import (
	"slices"

	"skarv/pkg/backend"
	"skarv/pkg/metrics"
	"skarv/pkg/pack"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/socket"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// longestPacked is how long the request of each statement of a pack may be.
const longestPacked = 512

// packsOf are the packs of the Loop on which the session is.
func (s *Session) packsOf(l *socket.Loop) *pack.Packs {
	ps, ok := l.Local.(*pack.Packs)
	if !ok {
		ps = pack.New(s.cfg.Clients)
		l.Local = ps
	}
	return ps
}

// packable reports whether the statement at hand may be one of a pack.
func (s *Session) packable(p *plan.Plan, r request) bool {
	return p.Kind == plan.Select && p.Relay != nil && p.Relay.Brief && p != s.packed.Alone && s.cfg.PackSize > 1 && s.tx == nil && s.inside == 0 &&
		!s.replica && s.capture == nil && s.onLoop() && len(r.packets) <= longestPacked && s.conn.Seq() == wire.NextSeq(r.packets) &&
		(r.cmd == wire.ComQuery || s.packableExecute(r.packets))
}

// packableExecute reports whether the server has all that it needs to execute the statement at hand with the packet, but for the statement.
func (s *Session) packableExecute(packet []byte) bool {
	return !s.settled && packet[cursorFlags] == 0 && s.current.longest == 0 && !slices.ContainsFunc(s.current.long, func(data []byte) bool { return data != nil })
}

func (s *Session) packKey(p *plan.Plan, g placement.NodeGroupID, cmd wire.Command) pack.Key {
	return pack.Key{Plan: p, Group: g, Cmd: cmd, State: s.state.ID, Profile: s.profile, Renewals: s.renewals}
}

// packExecution is what the statement at hand is an execution of, if it is one.
func (s *Session) packExecution(cmd wire.Command) (e pack.Execution) {
	if cmd == wire.ComStmtExecute {
		e = pack.Execution{SQL: s.current.sql, Types: s.current.types, Given: s.givenTypes()}
	}
	return e
}

// join runs the statement at hand in a pack that another session leads, if there is one; false if it is to be run alone.
func (s *Session) join(p *plan.Plan, g placement.NodeGroupID, r request) (ran bool, err error) {
	t := s.conn.Task()
	ps := s.packsOf(t.Loop())
	if !ps.Open() {
		return false, nil
	}
	pk := ps.Find(s.packKey(p, g, r.cmd), s.packExecution(r.cmd), s.cfg.PackSize)
	if pk == nil {
		return false, nil
	}
	conn := pk.Conn().(*backend.Conn)
	if !s.cfg.Pools.Has(conn) || !s.client.Board(conn) {
		return false, nil
	}
	answer := pk.Join(&s.packed, t, r.packets)
	answer = s.relayBuffer()[:copy(s.relayBuffer(), answer)] // the leader goes on as soon as this session waits
	if !s.client.Alight(conn) {                              // and may give it back then: a KILL on its way is to meet nobody else
		pk.End()
		s.client.AlightLate(conn)
	}
	switch {
	case len(answer) > 0:
		s.used.strategy, s.used.summary = metrics.Packed, s.packed.Summary
		if _, err := s.conn.Write(answer); err != nil {
			return true, errClient
		}
		return true, s.answered(p, nil, &s.used.summary)
	case s.client.Hit():
		return true, sqlerr.QueryInterrupted.New()
	}
	return false, nil
}

// lead gathers a pack around the statement at hand, which is about to be sent to c; nil if nobody joins.
func (s *Session) lead(p *plan.Plan, c *backend.Conn, g placement.NodeGroupID, cmd wire.Command) *pack.Pack {
	t := s.conn.Task()
	if !t.Crowded() || cmd == wire.ComStmtExecute && !s.steady {
		return nil
	}
	pk := s.packsOf(t.Loop()).Lead(s.packKey(p, g, cmd), s.packExecution(cmd), s.bound, c, &s.packed, t)
	if pk != nil {
		c.Stands(pk.Len())
	}
	return pk
}
