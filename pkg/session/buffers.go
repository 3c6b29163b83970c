package session

import "sync"

// Buffers lends sessions memory for the time of a command: an idle session keeps none.
type Buffers struct{ pool sync.Pool }

// bufferSize is what one read from a backend can bring at most.
const bufferSize = 32 << 10

// NewBuffers returns Buffers for the sessions of a process.
func NewBuffers() *Buffers {
	return &Buffers{sync.Pool{New: func() any { return new([bufferSize]byte) }}}
}

func (b *Buffers) get() *[bufferSize]byte { return b.pool.Get().(*[bufferSize]byte) }

func (b *Buffers) put(p *[bufferSize]byte) { b.pool.Put(p) }
