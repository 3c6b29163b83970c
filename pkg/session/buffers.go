package session

import (
	"sync"

	"skarv/pkg/sqlparse"
)

// Buffers lends sessions memory for the time of a command: an idle session keeps none.
type Buffers struct{ relay, statements sync.Pool }

// bufferSize is what one read from a backend can bring at most.
const bufferSize = 32 << 10

// NewBuffers returns Buffers for the sessions of a process, whose statements are those of d.
func NewBuffers(d *sqlparse.Dialect) *Buffers {
	return &Buffers{
		relay:      sync.Pool{New: func() any { return new([bufferSize]byte) }},
		statements: sync.Pool{New: func() any { return d.NewStatement() }},
	}
}

func (b *Buffers) get() *[bufferSize]byte { return b.relay.Get().(*[bufferSize]byte) }

func (b *Buffers) put(p *[bufferSize]byte) { b.relay.Put(p) }

// statement lends a Statement that is empty.
func (b *Buffers) statement() *sqlparse.Statement { return b.statements.Get().(*sqlparse.Statement) }

// takeBack takes what statement has lent; nobody may refer to what was scanned any more.
func (b *Buffers) takeBack(st *sqlparse.Statement) {
	st.Done()
	b.statements.Put(st)
}
