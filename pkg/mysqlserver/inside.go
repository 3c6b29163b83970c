package mysqlserver

import (
	"io"
	"net"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/socket"
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// Inside runs do with a Handler that no client is connected to, logged in by the account own: what it answers is thrown away. It counts as
// a connection: it has an id, may be terminated, and Run waits for it. The error is do's, or why it could not be called.
func (s *Server) Inside(own catalog.AccountName, db string, do func(Handler) error) (err error) {
	c := &Conn{
		server: s, nc: nowhere{}, remote: nowhere{}.RemoteAddr(), sock: socket.New(nowhere{}), status: wire.StatusAutocommit, user: own.User(), collation: insideCollation,
		caps: wire.CapProtocol41 | wire.CapTransactions | wire.CapMultiResults | wire.CapPSMultiResults | wire.CapDeprecateEOF,
	}
	c.set(busy)
	if refusal := s.admit(c); refusal != nil {
		return refusal
	}
	defer s.conns.Done()
	defer s.unregister(c)
	defer c.release()
	defer func() {
		if p := recover(); p != nil {
			c.logPanic(p)
			err = sqlerr.Internal.New("the session panicked")
		}
	}()
	c.handler = s.cfg.NewHandler(c)
	defer c.closeHandler()
	if err := c.handler.Authenticated(own, db, nil); err != nil {
		return err
	}
	err = do(c.handler)
	_ = c.Flush() // nowhere takes all
	return err
}

// insideCollation is utf8mb4_general_ci.
const insideCollation = 45

// nowhere is a connection that takes all and has nothing to say.
type nowhere struct{}

func (nowhere) Read([]byte) (int, error)         { return 0, io.EOF }
func (nowhere) Write(b []byte) (int, error)      { return len(b), nil }
func (nowhere) Close() error                     { return nil }
func (nowhere) LocalAddr() net.Addr              { return &net.UnixAddr{Name: "inside", Net: "unix"} }
func (nowhere) RemoteAddr() net.Addr             { return &net.UnixAddr{Name: "inside", Net: "unix"} }
func (nowhere) SetDeadline(time.Time) error      { return nil }
func (nowhere) SetReadDeadline(time.Time) error  { return nil }
func (nowhere) SetWriteDeadline(time.Time) error { return nil }
