package mysqlserver_test

import (
	"context"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlserver"
	"skarv/pkg/sqlerr"
)

func TestRefuse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		mysqlserver.Refuse(ctx, []net.Listener{l}, func() *sqlerr.Error { return sqlerr.UnknownError.New("not yet") })
	}()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	for range 2 {
		told, err := io.ReadAll(dial())
		require.NoError(t, err)
		require.Contains(t, string(told), "not yet")
		require.Equal(t, byte(0xff), told[4])
	}
	stop()
	<-ended
	dial()
	c, err := l.Accept()
	require.NoError(t, err, "the listener is as it was")
	require.NoError(t, c.Close())
}
