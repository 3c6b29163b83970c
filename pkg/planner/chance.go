package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/function"
	"skarv/pkg/plan"
)

// A query inside the statement that no sharded table gives rows to is computed on every node group that gets the statement. With RAND,
// UUID or the like in it each would find something else, where one server computes it once.

// chances finds such queries.
func (a *analysis) chances() {
	if a.b.plan.Uses&plan.Nondeterministic == 0 {
		return
	}
	alone := func(q *query) bool { return a.chance(q) && !a.ofSharded(q) }
	found := slices.ContainsFunc(a.insts, func(in *instance) bool { return in.sub != nil && alone(in.sub) })
	for _, q := range a.queries {
		found = found || alone(q)
	}
	if found {
		a.refuseMany("RAND, UUID and the like in a derived table or subquery without rows of sharded tables, over several node groups",
			"select the value first, and give it to the statement")
	}
}

// chance reports whether q, or a query in it, has a function that gives something else each time.
func (a *analysis) chance(q *query) bool {
	blk := q.block
	return slices.ContainsFunc(q.parts, a.chance) || blk != nil && (blk.chance ||
		slices.ContainsFunc(blk.insts, func(in *instance) bool { return in.sub != nil && a.chance(in.sub) }) ||
		slices.ContainsFunc(blk.subs, func(s *subquery) bool { return a.chance(s.q) }))
}

// ofSharded reports whether each row of q is made of rows of a sharded table, which are on one node group.
func (a *analysis) ofSharded(q *query) bool {
	if q.block == nil {
		return len(q.parts) > 0 && !slices.ContainsFunc(q.parts, func(p *query) bool { return !a.ofSharded(p) })
	}
	return len(a.backbone(q.block.tree)) > 0
}

// byChance reports whether a function gives something else each time.
func (b *build) byChance(f *sqlparser.FuncExpr) bool {
	db := f.Qualifier.String()
	if db == "" {
		if function.Volatile(f.Name.Lowered()) {
			return true
		}
		db = b.db
	}
	stored := b.snap.Routine(db, f.Name.String(), true)
	return stored != nil && stored.Volatile
}
