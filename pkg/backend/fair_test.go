package backend_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/backend"
)

// Many sessions share few connections: whoever asked first is served first, whether the sessions come back to the connection
// they had before or not, so that each gets its turn as often as any other. The order is forced, one step at a time: how often
// sessions get their turn while they run freely tells how the machine schedules their threads.
func TestHandOutIsFair(t *testing.T) {
	const sessions, connections, rounds = 16, 4, 5
	for _, remember := range []bool{false, true} {
		p, _ := start(t, func(cfg *backend.Config) { cfg.MaxPerGroup, cfg.AcquireTimeout = connections, time.Minute })
		type holder struct {
			session int
			conn    *backend.Conn
		}
		got := make(chan holder, sessions)
		ask := func(session int, hint *backend.Conn) {
			go func() {
				c, err := p.Get(1, backend.Profile{NoDB: true}, backend.NewState("", nil), hint, backend.Claim{})
				if err != nil {
					t.Error(err)
				}
				got <- holder{session, c}
			}()
		}
		next := func() holder {
			h := <-got
			if h.conn == nil {
				t.FailNow()
			}
			return h
		}
		var holders []holder
		var waiting []int // in the order in which they asked
		for session := range sessions {
			ask(session, nil)
			if session < connections {
				holders = append(holders, next())
				continue
			}
			waiting = append(waiting, session)
			require.Eventually(t, func() bool { return p.Health(1).Queue == len(waiting) }, time.Minute, time.Millisecond)
		}
		for range rounds * sessions {
			i := waiting[0] % len(holders) // not always the one who has held his connection for longest gives it back
			done := holders[i]
			done.conn.Release()
			h := next()
			require.Equal(t, waiting[0], h.session, "of those who wait: %v", waiting)
			require.Same(t, done.conn, h.conn)
			holders[i] = h
			var hint *backend.Conn
			if remember {
				hint = done.conn
			}
			ask(done.session, hint)
			waiting = append(waiting[1:], done.session)
			require.Eventually(t, func() bool { return p.Health(1).Queue == len(waiting) }, time.Minute, time.Millisecond)
		}
		for range waiting {
			holders[0].conn.Release()
			holders[0] = next()
		}
		for _, h := range holders {
			h.conn.Release()
		}
		require.Equal(t, connections, p.Health(1).Open)

		// Sessions that come with no connection in mind go round all of them: no server thread is busier than the others.
		uses := map[*backend.Conn]int{}
		for range rounds * connections {
			c, err := p.Get(1, backend.Profile{NoDB: true}, backend.NewState("", nil), nil, backend.Claim{})
			require.NoError(t, err)
			uses[c]++
			c.Release()
		}
		require.Len(t, uses, connections)
		for _, n := range uses {
			require.Equal(t, rounds, n)
		}
	}
}
