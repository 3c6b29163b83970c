package backend_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
)

// owner has a connection and, asked to give it up, does so or not. killed ends its waiting.
type owner struct {
	conn   *backend.Conn
	stays  bool
	asked  chan struct{}
	killed context.CancelCauseFunc
	waits  chan struct{}
}

func (o *owner) UntilKilled(most time.Duration) (context.Context, func() error) {
	ctx, end := context.WithTimeout(context.Background(), most)
	ctx, o.killed = context.WithCancelCause(ctx)
	if o.waits != nil {
		close(o.waits)
	}
	return ctx, func() error {
		defer end()
		if cause := context.Cause(ctx); cause != nil && cause != context.DeadlineExceeded {
			return cause
		}
		return nil
	}
}

func (o *owner) Evict() {
	select {
	case o.asked <- struct{}{}:
		if !o.stays {
			o.conn.Release()
		}
	default:
	}
}

// While a group's primary is changed nobody gets a connection to it; who has one gives it back, is asked to, or loses it. Then those who wait get one.
func TestRest(t *testing.T) {
	p, server := start(t, nil)
	run, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- p.Run(run) }()
	t.Cleanup(func() { stop(); <-ran })
	get := func(o backend.Owner) *backend.Conn {
		c, err := p.Get(1, backend.Profile{NoDB: true}, backend.NewState("", nil), nil, backend.Claim{Owner: o})
		require.NoError(t, err)
		return c
	}
	group := catalog.NodeGroup{ID: 1, Name: "one", Primary: catalog.Node{Addr: "unix:" + server.Addr, User: "root"}}
	apply := func(s *catalog.Switchover) {
		group.Switchover = s
		fresh := group
		p.Apply([]*catalog.NodeGroup{&fresh})
	}
	primary := group.Primary
	rest := func(s *catalog.Switchover) error {
		return p.AwaitRest(t.Context(), &catalog.NodeGroup{ID: 1, Name: "one", Primary: primary, Switchover: s})
	}
	require.Error(t, rest(nil), "there is none")
	gives := &owner{asked: make(chan struct{}, 1)}
	keeps := &owner{asked: make(chan struct{}, 1), stays: true}
	gives.conn, keeps.conn = get(gives), get(keeps)

	s := &catalog.Switchover{ID: "1", Patience: time.Minute, Drain: time.Millisecond}
	apply(s)
	waits := make(chan *backend.Conn)
	go func() { waits <- get(nil) }()
	require.NoError(t, rest(s))
	<-gives.asked
	<-keeps.asked
	_, err := keeps.conn.Exec("DO 1")
	require.Error(t, err, "it is of no use any more")
	keeps.conn.Release()
	select {
	case <-waits:
		t.Fatal("a connection was handed out")
	default:
	}
	apply(nil)
	c := <-waits
	_, err = c.Exec("DO 1")
	require.NoError(t, err)
	c.Release()
	require.Error(t, rest(s), "it is over")

	// One that lasts for too long: who waits is told.
	apply(&catalog.Switchover{ID: "2", Patience: time.Millisecond})
	_, err = p.Get(1, backend.Profile{NoDB: true}, backend.NewState("", nil), nil, backend.Claim{})
	require.ErrorContains(t, err, "another server is being made its primary")
	// A KILL ends the wait.
	apply(&catalog.Switchover{ID: "2a", Patience: time.Hour})
	o, errKilled := &owner{waits: make(chan struct{})}, errors.New("killed")
	go func() { <-o.waits; o.killed(errKilled) }()
	_, err = p.Get(1, backend.Profile{NoDB: true}, backend.NewState("", nil), nil, backend.Claim{Owner: o})
	require.ErrorIs(t, err, errKilled)
	// One that is replaced by another.
	ended := make(chan error, 1)
	apply(nil)
	c = get(nil)
	s = &catalog.Switchover{ID: "3", Patience: time.Minute, Drain: time.Minute}
	apply(s)
	go func() { ended <- rest(s) }()
	apply(&catalog.Switchover{ID: "4", Patience: time.Minute, Drain: time.Minute})
	require.Error(t, <-ended)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	fresh := group
	require.ErrorIs(t, p.AwaitRest(ctx, &fresh), context.Canceled)
	// Another primary: who waited gets a connection to it.
	go func() { waits <- get(nil) }()
	c.Release()
	require.NoError(t, p.AwaitRest(t.Context(), &fresh))
	group.Name = "renamed" // a pool of its own, as another address would have
	apply(nil)
	(<-waits).Release()
}
