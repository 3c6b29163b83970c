// Package plancache keeps the plans of a process by what they depend on: the shape of the statement, the default database, what of
// the session matters, and the revision of the schema. It makes no plans.
package plancache

import (
	"sync"
	"sync/atomic"

	"skarv/pkg/digest"
	"skarv/pkg/plan"
	"skarv/pkg/planner"
	"skarv/pkg/sqlparse"
)

// Key is everything a plan depends on besides the schema and the guarded arguments.
type Key struct {
	Fingerprint sqlparse.Fingerprint
	DB          string
	Info        planner.SessionInfo
}

// Entry is the plans of one key, which never change: one for each set of guarded argument texts met.
type Entry struct {
	Key Key
	// Digest is what statements of this key are counted by, for whoever runs them; nil until somebody has looked for it.
	Digest   atomic.Pointer[digest.Entry]
	variants []*plan.Plan // immutable
}

// maxVariants bounds the plans kept for one key; the oldest goes.
const maxVariants = 16

// Cache is the plans of a process, shared by its sessions. A change of the schema empties it. It is safe for concurrent use.
type Cache struct {
	max        int
	generation atomic.Pointer[Generation]
}

// Generation is the plans for one revision of the schema. It is safe for concurrent use.
type Generation struct {
	schema  int64 // catalog.Snapshot.SchemaRevision
	size    atomic.Int64
	entries sync.Map // Key -> *Entry
}

// New returns a cache of at most size shapes.
func New(size int) *Cache {
	c := &Cache{max: size}
	c.generation.Store(&Generation{})
	return c
}

// At returns the generation of a schema, or nil when the cache has moved on to a newer one: what is planned then is
// used once.
func (c *Cache) At(schema int64) *Generation {
	for {
		g := c.generation.Load()
		switch {
		case g.schema > schema:
			return nil
		case g.schema == schema && g.size.Load() <= int64(c.max):
			return g
		}
		c.generation.CompareAndSwap(g, &Generation{schema: schema})
	}
}

// Get returns the plans of k, or nil.
func (g *Generation) Get(k Key) *Entry {
	if v, ok := g.entries.Load(k); ok {
		return v.(*Entry)
	}
	return nil
}

// Put adds p to the plans of k and returns the new entry.
func (g *Generation) Put(k Key, p *plan.Plan) *Entry {
	for {
		old, loaded := g.entries.Load(k)
		e := &Entry{Key: k}
		if loaded {
			prev := old.(*Entry).variants
			if len(prev) >= maxVariants {
				prev = prev[1:]
			}
			e.variants = append(append(e.variants, prev...), p)
			if g.entries.CompareAndSwap(k, old, e) {
				return e
			}
			continue
		}
		e.variants = []*plan.Plan{p}
		if _, raced := g.entries.LoadOrStore(k, e); !raced {
			g.size.Add(1)
			return e
		}
	}
}

// Alone returns an Entry with one plan that no Cache has: for a session in which a statement means what it does in no other one.
func Alone(k Key, p *plan.Plan) *Entry { return &Entry{Key: k, variants: []*plan.Plan{p}} }

// Match returns the plan whose guarded arguments read as they do in st, or nil.
func (e *Entry) Match(st *sqlparse.Statement) *plan.Plan {
next:
	for i := len(e.variants) - 1; i >= 0; i-- {
		p := e.variants[i]
		for _, g := range p.Guards {
			if string(guardText(st, g.Arg)) != g.Text {
				continue next
			}
		}
		return p
	}
	return nil
}

// guardText is the text of an argument that a plan is tied to, or of the select list.
func guardText(st *sqlparse.Statement, arg int) []byte {
	if arg == plan.ArgSelectList {
		list, _ := st.SelectList()
		return st.Text(list)
	}
	a := st.Arg(arg)
	return st.Text(a.Span)
}
