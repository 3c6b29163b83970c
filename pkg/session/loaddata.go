package session

import (
	"skarv/pkg/backend"
	"skarv/pkg/txn"
	"skarv/pkg/wire"
)

// passFile asks the client for the file that c's server has asked for, and passes its contents on as they arrive. take is told
// how many bytes are about to be passed on, and may end that; the client sends the rest of its file all the same.
func (s *Session) passFile(c *backend.Conn, name []byte, take func(bytes int64) error) error {
	if err := s.conn.EndPacket(append(append(s.conn.BeginPacket(), wire.LocalHeader), name...)); err != nil {
		return errClient
	}
	var failed error
	for {
		part, err := s.conn.ReadPacket()
		if err != nil {
			c.Interrupt() // half a file must not count
			return errClient
		}
		if failed == nil {
			failed = take(int64(len(part)))
		}
		switch {
		case len(part) > 0 && failed == nil:
			failed = sendParts(c, part)
		case len(part) > 0:
		case failed != nil:
			c.Interrupt()
			return failed
		default:
			if err := c.SendFilePart(nil); err != nil {
				return txn.Lost(c, err)
			}
			return nil
		}
	}
}

func sendParts(c *backend.Conn, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), maxFilePart)
		if err := c.SendFilePart(data[:n]); err != nil {
			return txn.Lost(c, err)
		}
		data = data[n:]
	}
	return nil
}

// maxFilePart is the largest part of a file that is passed on at once.
const maxFilePart = 1 << 20
