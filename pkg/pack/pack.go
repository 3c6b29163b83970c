// Package pack is statements of several sessions that go to a server in one write, on one connection, which answers one after the other. Most of what a
// relayed statement costs is system calls and waking whoever reads, half of it on the server's side: a pack shares that, and the server's part of
// it, too.
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
//	                                                          closed, and the others run theirs alone
//
// Which statements may be packed is for the sessions to say, and so is what goes over the connection.
package pack

import (
	"bytes"
	"slices"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// Key is what statements of a pack have in common.
type Key struct {
	Plan     *plan.Plan
	Group    placement.NodeGroupID
	Cmd      wire.Command
	State    backend.StateID
	Profile  backend.Profile
	Renewals uint64 // of the pools: the connection is of this admission
}

// Execution is what executions of prepared statements have in common beside the Key, where a server that has prepared one of them can execute all. The
// zero value is of statements that are none.
type Execution struct {
	SQL   []byte
	Types []wire.ParamType // that the server remembers
	Given []wire.ParamType // on MySQL
}

func (e *Execution) same(f *Execution) bool {
	return bytes.Equal(e.SQL, f.SQL) && slices.Equal(e.Types, f.Types) && slices.Equal(e.Given, f.Given)
}

// Task is a session on its Loop: *socket.Task.
type Task interface {
	Gather()
	Wait()
	Resume()
}

// Client tells whether a KILL was for the statement at hand: *processlist.Client.
type Client interface{ MustEnd() bool }

// Conn is the connection of a pack.
type Conn interface{ Interrupt() }

// Clock is what packs read the time from: *processlist.List.
type Clock interface{ Clock() time.Duration }

// Member is a session, as far as packs have to do with it.
type Member struct {
	Client Client
	// Alone is the last plan whose statement has met in a pack what made the session run it again.
	Alone *plan.Plan
	// Summary is of the last answer that came from a pack.
	Summary wire.ResultSummary

	task   Task
	answer []byte // in the leader's memory
}

// Packs are those of a Loop that are being made, and some for those to come.
type Packs struct {
	clock       Clock
	open, spare []*Pack
	paces       []pace // by node group
}

// New returns the packs of a Loop.
func New(clock Clock) *Packs { return &Packs{clock: clock} }

// Pack is one pack.
type Pack struct {
	of        *Packs
	key       Key
	conn      Conn
	id        uint32 // of the prepared statement on conn
	execution Execution
	leader    *Member
	members   []*Member       // in order
	batch     mysqlconn.Batch // their requests; answered is made once
	answered  int             // of members: what these do by now is not the pack's any more
	first     time.Duration   // when the first answer was there
	ended     bool            // before its time, by a KILL
}

// Open reports whether there is any pack that is being made.
func (ps *Packs) Open() bool { return len(ps.open) > 0 }

// Find returns a pack that is being made and has room for a statement, nil if there is none. A pack has most statements at the most.
func (ps *Packs) Find(key Key, e Execution, most int) *Pack {
	for _, pk := range ps.open {
		if pk.key == key && len(pk.members)+1 < most && pk.execution.same(&e) {
			return pk
		}
	}
	return nil
}

// Conn is the connection on which the pack goes.
func (pk *Pack) Conn() Conn { return pk.conn }

// Join adds the statement of m, whose task is at its turn, to a pack from Find, and waits for what comes of it: the whole answer, valid until m's session
// waits for something, whose Summary is m's by then; nil where the statement is to be run alone.
func (pk *Pack) Join(m *Member, task Task, request []byte) (answer []byte) {
	if pk.key.Cmd == wire.ComStmtExecute {
		wire.SetStatement(request, pk.id)
	}
	m.task = task
	pk.members = append(pk.members, m)
	pk.batch.Add(request)
	task.Wait()
	answer, m.answer = m.answer, nil
	return answer
}

// Lead gathers a pack around a statement of m, which is about to be sent to conn, where a prepared one has the given id; nil if nobody joins. The pack is to
// be disbanded or, behind its batch, given back.
func (ps *Packs) Lead(key Key, e Execution, id uint32, conn Conn, m *Member, task Task) *Pack {
	if at := ps.pace(key.Group); at.rest > 0 {
		if ps.clock.Clock() < at.rest {
			return nil
		}
		at.rest = 0
	}
	pk := ps.take()
	pk.key, pk.execution, pk.id, pk.conn, pk.leader = key, e, id, conn, m
	ps.open = append(ps.open, pk)
	task.Gather()
	at := slices.Index(ps.open, pk)
	ps.open = slices.Delete(ps.open, at, at+1)
	if len(pk.members) == 0 {
		pk.GiveBack()
		return nil
	}
	pk.endIfHit() // then nothing is sent, and all go on alone
	return pk
}

func (ps *Packs) take() *Pack {
	if n := len(ps.spare); n > 0 {
		pk := ps.spare[n-1]
		ps.spare = ps.spare[:n-1]
		return pk
	}
	pk := &Pack{of: ps}
	pk.batch.Answered = pk.answer
	return pk
}

// Len is how many statements the pack has, the leader's included.
func (pk *Pack) Len() int { return len(pk.members) + 1 }

// Batch is the requests of all but the leader. As it is answered the members go on.
func (pk *Pack) Batch() *mysqlconn.Batch { return &pk.batch }

// GiveBack keeps pk, which is at its end, for others.
func (pk *Pack) GiveBack() {
	clear(pk.members)
	pk.batch.Reset()
	*pk = Pack{of: pk.of, batch: pk.batch, members: pk.members[:0]}
	pk.of.spare = append(pk.of.spare, pk)
}

// Disband lets all members run their statements alone, as nothing was sent, and gives the pack back. The connection is ended: a KILL of a member may be on
// its way to it.
func (pk *Pack) Disband() {
	pk.End()
	for i := range pk.members {
		pk.answer(i, nil, nil)
	}
	pk.GiveBack()
}

// End ends the pack before its time, and with it its connection.
func (pk *Pack) End() {
	if !pk.ended {
		pk.ended = true
		pk.conn.Interrupt()
	}
}

// answer lets member i go on, with its whole answer or, where that is nil, alone. It returns when that waits for something.
func (pk *Pack) answer(i int, answer []byte, sum *wire.ResultSummary) {
	pk.endIfHit() // before the member begins something else, for which the KILL is not
	m := pk.members[i]
	pk.answered = i + 1
	pk.timed()
	switch {
	case sum == nil, sum.ErrCode == sqlerr.QueryInterrupted:
	case answer == nil, sum.Failed(), sum.Warnings > 0, sum.Columns == 0:
		m.Alone = pk.key.Plan
	default:
		m.Summary, m.answer = *sum, answer
	}
	m.task.Resume()
	pk.endIfHit()
}

// timed takes the time of the first answer, and of the last one of a member.
func (pk *Pack) timed() {
	n := len(pk.members)
	if pk.ended || n == 1 || pk.answered != 1 && pk.answered != n {
		return
	}
	now := pk.of.clock.Clock()
	if pk.answered == 1 {
		pk.first = now
		return
	}
	pk.of.pace(pk.key.Group).note((now-pk.first)/time.Duration(n-1), now)
}

// endIfHit ends the pack if a KILL was for one of those who have no answer: it may meet the statement of another.
func (pk *Pack) endIfHit() {
	if pk.hit() {
		pk.End()
	}
}

// hit reports whether a KILL was for one of those who have no answer.
func (pk *Pack) hit() bool {
	return pk.leader.Client.MustEnd() || slices.ContainsFunc(pk.members[pk.answered:], func(m *Member) bool { return m.Client.MustEnd() })
}
