package reason

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What sockets and contexts really return is told in plain words, and stays what it is for who decides by it.
func TestPlain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	require.NoError(t, c.SetDeadline(time.Unix(1, 0)))
	_, late := c.Read(make([]byte, 1))
	require.NoError(t, c.Close())
	_, closed := c.Read(make([]byte, 1))
	require.NoError(t, l.Close())
	_, refused := net.Dial("tcp", l.Addr().String())
	over, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	_, undialled := new(net.Dialer).DialContext(over, "tcp", l.Addr().String())

	for _, x := range []struct {
		err  error
		want string
	}{
		{late, "no answer in time"},
		{undialled, "no answer in time"},
		{over.Err(), "no answer in time"},
		{closed, "the connection was closed here"},
		{io.ErrUnexpectedEOF, "the connection was closed by the other side"},
		{&net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, "the connection was closed by the other side"},
		{refused, "connection refused"},
		{errors.New("bad packet"), "bad packet"},
		{fmt.Errorf("ng1: %w", io.EOF), "ng1: EOF"},
	} {
		require.EqualError(t, Plain(x.err), x.want)
		require.ErrorIs(t, Plain(x.err), x.err)
	}
	require.NoError(t, Plain(nil))
}
