package wire

import "io"

// Renumbered writes packets to Dst with By added to their sequence numbers: the answer to a command that went on in another number of
// packets than it came in. It changes the bytes that it is given.
type Renumbered struct {
	Dst io.Writer
	By  byte

	header [HeaderLen]byte
	have   int // bytes of header that have passed
	skip   int // bytes of the packet's payload yet to come
}

// Write implements io.Writer. Packets may come in whatever pieces.
func (r *Renumbered) Write(p []byte) (int, error) {
	for at := 0; at < len(p); {
		if r.skip > 0 {
			n := min(r.skip, len(p)-at)
			r.skip -= n
			at += n
			continue
		}
		r.header[r.have] = p[at]
		if r.have++; r.have == HeaderLen {
			p[at] += r.By
			r.have = 0
			r.skip, _ = Header(r.header[:])
		}
		at++
	}
	return r.Dst.Write(p)
}
