package mysqlserver

import "sync"

// Buffers are lent to a connection while it has something to read or write and go back when it is idle, so that
// an idle connection holds none.
const (
	smallBuffer = 16 << 10 // nearly every command and answer
	largeBuffer = 128 << 10
	hugeBuffer  = 1 << 20 // what is larger is left to the garbage collector
)

type buffer struct{ b []byte } // len is cap

type buffers struct{ small, large, huge sync.Pool }

// get returns a buffer of at least n bytes.
func (p *buffers) get(n int) *buffer {
	size := n
	pool := p.class(n, &size)
	if pool != nil {
		if b, ok := pool.Get().(*buffer); ok {
			return b
		}
	}
	return &buffer{make([]byte, size)}
}

// put takes back what get lent.
func (p *buffers) put(b *buffer) {
	size := len(b.b)
	if pool := p.class(size, &size); pool != nil && size == len(b.b) {
		pool.Put(b)
	}
}

func (p *buffers) class(n int, size *int) *sync.Pool {
	switch {
	case n <= smallBuffer:
		*size = smallBuffer
		return &p.small
	case n <= largeBuffer:
		*size = largeBuffer
		return &p.large
	case n <= hugeBuffer:
		*size = hugeBuffer
		return &p.huge
	}
	return nil
}
