package session

import (
	"bytes"
	"slices"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/metrics"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/socket"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// A pack is statements of several sessions that go to a server in one write, on one connection, which answers one after the other. Most of
// what a relayed statement costs is system calls and waking whoever reads, half of it on the server's side: a pack shares that, and
// the server's part of it, too.
//
//	turn of the Loop   A: gets a connection, leads, Gather ─┐     goes on when all have had their turn: sends B's, C's and its own request
//	                   B: joins, waits                      │
//	                   C: joins, waits ─────────────────────┘
//	answers            A reads B's, which goes on with it, reads C's, which goes on, and relays its own
//
// Nobody waits for company: a pack is of sessions whose statements came in the same turn of the Loop, and it is led only where somebody else
// has his turn behind. So packs are made by load, and dissolve without it: sessions that are answered at different times come back at different times.
// Of a server that needs time for each of such statements, as it reads them from a slow disk, several connections get more than one: see pace.
//
// Only statements of one plan are packed, which is a brief one (plan.Fragment.Brief): it takes a server no time, and makes nobody wait but by
// what makes each of them wait alone. It changes nothing either, so that no trouble with a pack is of consequence: who has not got from it a
// whole answer, without error and warnings, runs his statement alone, as if he had not joined.
//
//	an error or warnings, an answer longer than the buffer    that member alone, and from then on as long as it asks for the same
//	the connection is lost, or the leader cannot begin        all that have no answer yet
//	KILL of one of them, its client gone, the process stops   the KILL may meet the statement of another: the pack is ended, the connection
//	                                                          closed, and the others run theirs alone (see answer and join)
type pack struct {
	of       *packs
	key      packKey
	conn     *backend.Conn
	leader   *Session
	members  []*Session      // in order
	batch    mysqlconn.Batch // their requests; answer is made once
	answered int             // of members: what these do by now is not the pack's any more
	first    time.Duration   // when the first answer was there, on the clock of Config.Clients
	ended    bool            // before its time, by a KILL

	// of the leader's prepared statement
	id    uint32
	sql   []byte
	types []wire.ParamType // that the server remembers
	given []wire.ParamType // on MySQL
}

// packKey is what statements of a pack have in common.
type packKey struct {
	plan     *plan.Plan
	group    placement.NodeGroupID
	cmd      wire.Command
	state    backend.StateID
	profile  backend.Profile
	renewals uint64 // of the pools: the connection is of this admission
}

// longestPacked is how long the request of each may be.
const longestPacked = 512

// packs are those of a Loop that are being made, and some for those to come.
type packs struct {
	open, spare []*pack
	paces       []pace // by node group
}

// pace is what packs have met at a node group: how long its server took from one answer to the next. What comes before the first one is no
// reason not to pack: a server that is busy with others, or somebody has closed the table.
type pace struct {
	slow int           // packs that were slow, less those that were not
	rest time.Duration // there are none before that time
}

const (
	slowAnswer = 300 * time.Microsecond // from one answer to the next
	slowPacks  = 8                      // so many of them, and there is a pause of
	packPause  = time.Second
)

// note takes in that a pack's answers came at intervals, on the average, and ended now.
func (p *pace) note(interval, now time.Duration) {
	if interval < slowAnswer {
		p.slow = max(p.slow-1, 0)
		return
	}
	if p.slow++; p.slow >= slowPacks {
		p.slow, p.rest = slowPacks-1, now+packPause // behind it one that is slow is enough
	}
}

func (ps *packs) pace(g placement.NodeGroupID) *pace {
	if more := int(g) + 1 - len(ps.paces); more > 0 {
		ps.paces = append(ps.paces, make([]pace, more)...)
	}
	return &ps.paces[g]
}

func packsOf(l *socket.Loop) *packs {
	ps, ok := l.Local.(*packs)
	if !ok {
		ps = &packs{}
		l.Local = ps
	}
	return ps
}

// packable reports whether the statement at hand may be one of a pack.
func (s *Session) packable(p *plan.Plan, r request) bool {
	return p.Kind == plan.Select && p.Relay != nil && p.Relay.Brief && p != s.unpacked && s.cfg.PackSize > 1 && s.tx == nil && s.inside == 0 &&
		s.capture == nil && s.onLoop() && len(r.packets) <= longestPacked && s.conn.Seq() == wire.NextSeq(r.packets) &&
		(r.cmd == wire.ComQuery || s.packableExecute(r.packets))
}

// packableExecute reports whether the server has all that it needs to execute the statement at hand with the packet, but for the statement.
func (s *Session) packableExecute(packet []byte) bool {
	const cursor = wire.HeaderLen + 1 + 4
	return !s.settled && packet[cursor] == 0 && s.current.longest == 0 && !slices.ContainsFunc(s.current.long, func(data []byte) bool { return data != nil })
}

func (s *Session) packKey(p *plan.Plan, g placement.NodeGroupID, cmd wire.Command) packKey {
	return packKey{plan: p, group: g, cmd: cmd, state: s.state.ID, profile: s.profile, renewals: s.renewals}
}

// join runs the statement at hand in a pack that another session leads, if there is one; false if it is to be run alone.
func (s *Session) join(p *plan.Plan, g placement.NodeGroupID, r request) (ran bool, err error) {
	t := s.conn.Task()
	open := packsOf(t.Loop()).open
	if len(open) == 0 {
		return false, nil
	}
	key := s.packKey(p, g, r.cmd)
	at := slices.IndexFunc(open, func(pk *pack) bool { return pk.key == key && len(pk.members) < s.cfg.PackSize-1 && pk.takes(s, r) })
	if at < 0 {
		return false, nil
	}
	pk := open[at]
	if !s.client.Board(pk.conn) {
		return false, nil
	}
	pk.members = append(pk.members, s)
	pk.batch.Add(r.packets)
	t.Wait()
	answer := s.relayBuffer()[:copy(s.relayBuffer(), s.packed)] // the leader goes on as soon as this session waits
	s.packed = nil
	if conn := pk.conn; !s.client.Alight(conn) { // whose leader may give it back as soon as this session waits: a KILL on its way is to meet nobody else
		pk.end()
		s.client.AlightLate(conn)
	}
	switch {
	case len(answer) > 0:
		s.used.strategy = metrics.Packed
		if _, err := s.conn.Write(answer); err != nil {
			return true, errClient
		}
		return true, s.answered(p, nil, &s.used.summary)
	case s.client.Hit():
		return true, sqlerr.QueryInterrupted.New()
	}
	return false, nil
}

// takes reports whether pk can have the statement of s beside the leader's, and makes it an execution of that one's prepared statement.
func (pk *pack) takes(s *Session, r request) bool {
	if !s.cfg.Pools.Has(pk.conn) {
		return false
	}
	if r.cmd != wire.ComStmtExecute {
		return true
	}
	if !bytes.Equal(s.current.sql, pk.sql) || !slices.Equal(s.current.types, pk.types) || !slices.Equal(s.givenTypes(), pk.given) {
		return false
	}
	wire.SetStatement(r.packets, pk.id)
	return true
}

// lead gathers a pack around the statement at hand, which is about to be sent as packets to c; nil if nobody joins.
func (s *Session) lead(p *plan.Plan, c *backend.Conn, g placement.NodeGroupID, cmd wire.Command) *pack {
	t := s.conn.Task()
	if !t.Crowded() || cmd == wire.ComStmtExecute && !s.steady {
		return nil
	}
	ps := packsOf(t.Loop())
	if at := ps.pace(g); at.rest > 0 {
		if s.cfg.Clients.Clock() < at.rest {
			return nil
		}
		at.rest = 0
	}
	pk := ps.take()
	pk.key, pk.conn, pk.leader = s.packKey(p, g, cmd), c, s
	if cmd == wire.ComStmtExecute {
		pk.id, pk.sql, pk.types, pk.given = s.bound, s.current.sql, s.current.types, s.given
	}
	ps.open = append(ps.open, pk)
	t.Gather()
	at := slices.Index(ps.open, pk)
	ps.open = slices.Delete(ps.open, at, at+1)
	if len(pk.members) == 0 {
		pk.giveBack()
		return nil
	}
	pk.endIfHit() // then nothing is sent, and all go on alone
	c.Stands(len(pk.members) + 1)
	return pk
}

func (ps *packs) take() *pack {
	if n := len(ps.spare); n > 0 {
		pk := ps.spare[n-1]
		ps.spare = ps.spare[:n-1]
		return pk
	}
	pk := &pack{of: ps}
	pk.batch.Answered = pk.answer
	return pk
}

// giveBack keeps pk, which is at its end, for others.
func (pk *pack) giveBack() {
	clear(pk.members)
	pk.batch.Reset()
	*pk = pack{of: pk.of, batch: pk.batch, members: pk.members[:0]}
	pk.of.spare = append(pk.of.spare, pk)
}

// answer lets member i go on, with its whole answer or, where that is nil, alone. It returns when that waits for something.
func (pk *pack) answer(i int, answer []byte, sum *wire.ResultSummary) {
	pk.endIfHit() // before the member begins something else, for which the KILL is not
	m := pk.members[i]
	pk.answered = i + 1
	pk.timed()
	switch {
	case sum == nil, sum.ErrCode == sqlerr.QueryInterrupted:
	case answer == nil, sum.Failed(), sum.Warnings > 0, sum.Columns == 0:
		m.unpacked = pk.key.plan
	default:
		m.used.summary, m.packed = *sum, answer
	}
	m.conn.Task().Resume()
	pk.endIfHit()
}

// timed takes the time of the first answer, and of the last one of a member.
func (pk *pack) timed() {
	n := len(pk.members)
	if pk.ended || n == 1 || pk.answered != 1 && pk.answered != n {
		return
	}
	now := pk.leader.cfg.Clients.Clock()
	if pk.answered == 1 {
		pk.first = now
		return
	}
	pk.of.pace(pk.key.group).note((now-pk.first)/time.Duration(n-1), now)
}

// endIfHit ends the pack if a KILL was for one of those who have no answer: it may meet the statement of another.
func (pk *pack) endIfHit() {
	if pk.hit() {
		pk.end()
	}
}

// hit reports whether a KILL was for one of those who have no answer.
func (pk *pack) hit() bool {
	return pk.leader.client.MustEnd() || slices.ContainsFunc(pk.members[pk.answered:], func(s *Session) bool { return s.client.MustEnd() })
}

// end ends the pack before its time, and with it its connection.
func (pk *pack) end() {
	if !pk.ended {
		pk.ended = true
		pk.conn.Interrupt()
	}
}

// disband lets all members run their statements alone, as nothing was sent. The connection is ended: a KILL of a member may be on its way to it.
func (pk *pack) disband() {
	pk.end()
	for i := range pk.members {
		pk.answer(i, nil, nil)
	}
	pk.giveBack()
}
