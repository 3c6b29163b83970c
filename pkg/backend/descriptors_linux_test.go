package backend_test

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/backend"
	"skarv/pkg/socket"
	"skarv/pkg/sqlerr"
)

// TestNoDescriptorForALoop: a connection that cannot come to the session's Loop is not used there: all sessions of it would wait for its answers.
func TestNoDescriptorForALoop(t *testing.T) {
	l, err := socket.NewLoop()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- l.Run(ctx) }()
	p, _ := start(t, nil)
	none, fresh := backend.Profile{NoDB: true}, backend.NewState("", nil)
	c, err := p.Get(1, none, fresh, nil, backend.Claim{})
	require.NoError(t, err)
	c.Release()

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	client, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	served, err := listener.Accept()
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	session, ended := socket.New(served), make(chan error, 1)
	var got error
	require.True(t, session.ServeOn(l, func() bool {
		var limit, tight syscall.Rlimit
		if got = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); got != nil {
			return true
		}
		tight = limit
		tight.Cur = 1
		if got = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &tight); got != nil {
			return true
		}
		_, got = p.Get(1, none, fresh, nil, backend.Claim{Task: session.Task()})
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			got = err
		}
		return true
	}, func(err error) { ended <- err }))
	_, err = client.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, <-ended)
	require.True(t, sqlerr.HasCode(got, sqlerr.ServerLost), "%v", got)
	require.ErrorContains(t, got, "no file descriptor left")
	require.Zero(t, p.Health(1).InUse)
	require.NoError(t, client.Close())
	require.NoError(t, session.Close())
	stop()
	require.NoError(t, <-ran)
}
