package pack

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// session is one that takes turns with others, as on a Loop: one runs at a time.
type session struct {
	Member
	killed bool
	turn   chan struct{} // its own begins
	over   chan struct{} // it waits, or has ended
	others func()        // what runs while it gathers
	got    string
	alone  bool
}

func newSession() *session {
	s := &session{turn: make(chan struct{}), over: make(chan struct{})}
	s.Client = s
	return s
}

func (s *session) MustEnd() bool { return s.killed }
func (s *session) Gather()       { s.others() }
func (s *session) Resume()       { s.turn <- struct{}{}; <-s.over }
func (s *session) Wait()         { s.over <- struct{}{}; <-s.turn }

// join runs s until it waits in the pack.
func (s *session) join(pk *Pack, request string) {
	go func() {
		answer := pk.Join(&s.Member, s, []byte(request))
		s.got, s.alone = string(answer), answer == nil
		s.over <- struct{}{}
	}()
	<-s.over
}

// conn is a connection that is closed when a pack is ended.
type conn struct{ closed bool }

func (c *conn) Interrupt() { c.closed = true }

// clock goes on by a step whenever somebody looks.
type clock struct{ now, step time.Duration }

func (c *clock) Clock() time.Duration {
	c.now += c.step
	return c.now
}

var selects = Key{Plan: &plan.Plan{}, Group: 1, Cmd: wire.ComQuery}

// pack has leader gather members.
func (ps *Packs) gather(t *testing.T, c *conn, leader *session, members ...*session) *Pack {
	t.Helper()
	leader.others = func() {
		for _, m := range members {
			require.True(t, ps.Open())
			pk := ps.Find(selects, Execution{}, 10)
			require.NotNil(t, pk)
			require.Same(t, c, pk.Conn())
			m.join(pk, "Q")
		}
	}
	return ps.Lead(selects, Execution{}, 0, c, &leader.Member, leader)
}

func rows(n uint64) *wire.ResultSummary { return &wire.ResultSummary{Columns: 1, Rows: n} }

func TestEachGetsItsOwnAnswer(t *testing.T) {
	ps, c := New(&clock{}), &conn{}
	leader, a, b := newSession(), newSession(), newSession()
	pk := ps.gather(t, c, leader, a, b)
	require.Equal(t, 3, pk.Len())
	require.False(t, ps.Open(), "it is on its way")
	pk.Batch().Answered(0, []byte("first"), rows(1))
	require.Equal(t, "first", a.got)
	require.Equal(t, uint64(1), a.Summary.Rows)
	require.Empty(t, b.got)
	pk.Batch().Answered(1, []byte("second"), rows(2))
	require.Equal(t, "second", b.got)
	pk.GiveBack()
	require.False(t, c.closed)

	require.Same(t, pk, ps.gather(t, c, leader, a), "its memory is used again")
	require.Equal(t, 2, pk.Len())
	pk.Disband()
}

func TestNobodyJoins(t *testing.T) {
	ps, c := New(&clock{}), &conn{}
	require.Nil(t, ps.gather(t, c, newSession()))
	require.False(t, ps.Open())
	require.False(t, c.closed)
}

// Who got no whole answer without error and warnings runs his statement alone; by what was wrong with it, so he does from then on.
func TestAlone(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer []byte
		sum    *wire.ResultSummary
		stays  bool
	}{
		{"the connection is lost", nil, nil, false},
		{"KILL", []byte("x"), &wire.ResultSummary{ErrCode: sqlerr.QueryInterrupted}, false},
		{"longer than the buffer", nil, rows(1), true},
		{"an error", []byte("x"), &wire.ResultSummary{ErrCode: sqlerr.NoSuchTable}, true},
		{"warnings", []byte("x"), &wire.ResultSummary{Columns: 1, Warnings: 1}, true},
		{"no rows, but an OK packet", []byte("x"), &wire.ResultSummary{}, true},
	} {
		m := newSession()
		pk := New(&clock{}).gather(t, &conn{}, newSession(), m)
		pk.Batch().Answered(0, c.answer, c.sum)
		require.True(t, m.alone, c.name)
		require.Equal(t, c.stays, m.Alone == selects.Plan, c.name)
	}
}

// A KILL of one of them may meet the statement of another: the connection is closed.
func TestKill(t *testing.T) {
	ps, c := New(&clock{}), &conn{}
	leader, a, b := newSession(), newSession(), newSession()
	pk := ps.gather(t, c, leader, a, b)
	pk.Batch().Answered(0, []byte("x"), rows(1))
	a.killed = true // which has its answer: what it does by now is not the pack's
	require.False(t, c.closed)
	b.killed = true
	pk.Batch().Answered(1, []byte("y"), rows(1))
	require.True(t, c.closed)

	// While they gather.
	c, leader, a = &conn{}, newSession(), newSession()
	a.killed = true
	pk = ps.gather(t, c, leader, a)
	require.True(t, c.closed)
	pk.Disband()
	require.True(t, a.alone)
	require.Nil(t, a.Alone, "the statement was not to blame")
}

func TestDisband(t *testing.T) {
	ps, c := New(&clock{}), &conn{}
	a, b := newSession(), newSession()
	ps.gather(t, c, newSession(), a, b).Disband()
	require.True(t, a.alone && b.alone)
	require.True(t, c.closed)
}

func TestWhoFits(t *testing.T) {
	types := []wire.ParamType{{Type: 3}}
	key := Key{Plan: selects.Plan, Cmd: wire.ComStmtExecute}
	of := Execution{SQL: []byte("SELECT ?"), Types: types}
	ps := New(&clock{})
	leader, m := newSession(), newSession()
	request := wire.AppendCommand(nil, wire.ComStmtExecute, []byte{1, 0, 0, 0, 0, 1, 0, 0, 0})
	leader.others = func() {
		require.Nil(t, ps.Find(selects, of, 10), "another command")
		require.Nil(t, ps.Find(key, Execution{SQL: of.SQL}, 10), "other types")
		require.Nil(t, ps.Find(key, Execution{SQL: []byte("SELECT  ?"), Types: types}, 10), "another text")
		require.Nil(t, ps.Find(key, of, 1), "it has as many as there may be")
		m.join(ps.Find(key, of, 2), string(request))
		require.Nil(t, ps.Find(key, of, 2), "it has as many as there may be")
	}
	pk := ps.Lead(key, of, 77, &conn{}, &leader.Member, leader)
	require.Equal(t, 2, pk.Len())
	pk.Disband()
}

// Packs that a server takes its time for are not made for a while.
func TestSlowServer(t *testing.T) {
	now := &clock{step: slowAnswer}
	ps := New(now)
	slow := func() bool {
		a, b := newSession(), newSession()
		pk := ps.gather(t, &conn{}, newSession(), a, b)
		if pk == nil {
			return false
		}
		pk.Batch().Answered(0, []byte("x"), rows(1))
		pk.Batch().Answered(1, []byte("y"), rows(1))
		pk.GiveBack()
		return true
	}
	for range slowPacks {
		require.True(t, slow())
	}
	require.False(t, slow())
	now.now += packPause
	require.True(t, slow())
}
