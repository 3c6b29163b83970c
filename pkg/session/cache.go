package session

import (
	"sync"
	"sync/atomic"

	"skarv/pkg/plan"
	"skarv/pkg/planner"
	"skarv/pkg/sqlparse"
)

// planKey is everything a plan depends on besides the schema and the guarded arguments.
type planKey struct {
	fingerprint sqlparse.Fingerprint
	db          string
	info        planner.SessionInfo
}

// planEntry is the plans of one key: one for each set of guarded argument texts met.
type planEntry struct {
	key      planKey
	variants []*plan.Plan // immutable
}

// maxVariants bounds the plans kept for one key; the oldest goes.
const maxVariants = 16

// PlanCache is the plans of a process, shared by its sessions. A change of the schema empties it.
type PlanCache struct {
	max        int
	generation atomic.Pointer[generation]
}

type generation struct {
	schema  int64 // catalog.Snapshot.SchemaRevision
	size    atomic.Int64
	entries sync.Map // planKey -> *planEntry
}

// NewPlanCache returns a cache of at most size shapes.
func NewPlanCache(size int) *PlanCache {
	c := &PlanCache{max: size}
	c.generation.Store(&generation{})
	return c
}

// at returns the generation of a schema, or nil when the cache has moved on to a newer one: what is planned then is
// used once.
func (c *PlanCache) at(schema int64) *generation {
	for {
		g := c.generation.Load()
		switch {
		case g.schema > schema:
			return nil
		case g.schema == schema && g.size.Load() <= int64(c.max):
			return g
		}
		c.generation.CompareAndSwap(g, &generation{schema: schema})
	}
}

func (g *generation) get(k planKey) *planEntry {
	if v, ok := g.entries.Load(k); ok {
		return v.(*planEntry)
	}
	return nil
}

// put adds p to the plans of k and returns the new entry.
func (g *generation) put(k planKey, p *plan.Plan) *planEntry {
	for {
		old, loaded := g.entries.Load(k)
		e := &planEntry{key: k}
		if loaded {
			prev := old.(*planEntry).variants
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
