package planner

import (
	"bytes"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
)

// spread hands facts down: to every table reference those that are usable for it. ctx holds for every row of q that
// can matter; spine tells that each row of the whole result comes from one row of q.
func (a *analysis) spread(q *query, ctx []fact, spine bool) {
	for _, p := range q.parts {
		a.spread(p, ctx, spine)
	}
	b := q.block
	if b == nil {
		return
	}
	ctx = a.inside(ctx, b)
	below := factsBelow(b.tree)
	a.hand(b.tree, slices.Concat(ctx, b.facts[len(below):]), spine)
	for _, s := range b.subs {
		var known []fact
		if !s.on {
			known = slices.Concat(ctx, b.facts)
		}
		if s.semi && a.distributive(s.q) && s.q.known && len(s.q.columns) == 1 && s.q.columns[0].ref.ok() {
			known = append(known, fact{a: s.left, b: s.q.columns[0].ref})
		}
		a.spread(s.q, known, false)
	}
}

// inside are the facts of ctx that the tables of b may use. Where a row of b's result depends on several rows, what is said of a column of it is
// said of all of them only if they agree in that column.
func (a *analysis) inside(ctx []fact, b *block) []fact {
	var sets [][]colRef // which such rows agree in
	if b.sel != nil && (b.aggregated || b.sel.GroupBy != nil) {
		sets = append(sets, b.groupBy)
	}
	for _, w := range b.windows {
		sets = append(sets, b.columnsOf(a, w.PartitionClause))
	}
	if len(sets) == 0 {
		return ctx
	}
	differs := func(ref colRef) bool {
		return ref.ok() && within(ref.inst, b) &&
			slices.ContainsFunc(sets, func(set []colRef) bool { return !determined(ref, set, b.facts) })
	}
	return slices.DeleteFunc(slices.Clone(ctx), func(f fact) bool { return differs(f.a) || differs(f.b) })
}

// hand is spread for a join tree. See fact for what may go where.
func (a *analysis) hand(t *tree, ctx []fact, spine bool) {
	if t == nil {
		return
	}
	switch t.kind {
	case leaf:
		switch {
		case t.inst.table != nil:
			t.inst.usable, t.inst.spine = ctx, spine
		case t.inst.sub != nil && !t.inst.opaque && a.distributive(t.inst.sub):
			a.spread(t.inst.sub, ctx, spine)
		case t.inst.sub != nil && !t.inst.opaque && t.inst.sub.virtual != nil:
			a.spreadUnion(t.inst.sub, ctx)
		case t.inst.sub != nil:
			a.spread(t.inst.sub, nil, false)
		}
	case inner:
		a.hand(t.l, slices.Concat(ctx, t.facts, factsBelow(t.r)), spine)
		a.hand(t.r, slices.Concat(ctx, t.facts, factsBelow(t.l)), spine)
	case leftOuter:
		a.hand(t.l, ctx, spine)
		a.hand(t.r, slices.Concat(ctx, t.facts, factsBelow(t.l)), false)
	}
}

// distributive reports whether the rows of q over all groups are the rows of q over each group, put together: then a
// condition on the distribution key outside of q may be used inside.
func (a *analysis) distributive(q *query) bool {
	b := q.block
	if b == nil || q.limit != nil {
		return false
	}
	return b.grouped(a) && b.distinctLocal(a, q) && b.windowsLocal(a)
}

// grouped reports that the groups of a block's GROUP BY lie in one node group each, or that there are none.
func (b *block) grouped(a *analysis) bool {
	if b.sel == nil || !b.aggregated && b.sel.GroupBy == nil {
		return true
	}
	return b.sel.GroupBy != nil && !b.sel.GroupBy.WithRollup && a.keyed(b, b.groupBy)
}

// distinctLocal reports the same for the rows a DISTINCT makes one.
func (b *block) distinctLocal(a *analysis, q *query) bool {
	if b.sel == nil || !b.sel.Distinct {
		return true
	}
	var refs []colRef
	for _, c := range q.columns {
		if c.ref.ok() {
			refs = append(refs, c.ref)
		}
	}
	return a.keyed(b, refs)
}

// windowsLocal reports the same for the partitions of window functions.
func (b *block) windowsLocal(a *analysis) bool {
	if b.namedWin {
		return false
	}
	for _, w := range b.windows {
		if !a.keyed(b, b.columnsOf(a, w.PartitionClause)) {
			return false
		}
	}
	return true
}

// keyed reports whether rows of b that agree in the columns of set agree in the distribution key of a table that every
// row of b has a row of.
func (a *analysis) keyed(b *block, set []colRef) bool {
	return slices.ContainsFunc(a.backbone(b.tree), func(in *instance) bool { return pinned(in, in.table.Distribution, set, b.facts) })
}

// backbone are the sharded tables that every row of t has exactly one row of.
func (a *analysis) backbone(t *tree) []*instance {
	switch {
	case t == nil:
		return nil
	case t.kind == inner:
		return slices.Concat(a.backbone(t.l), a.backbone(t.r))
	case t.kind == leftOuter:
		return a.backbone(t.l)
	case t.inst.sharded():
		return []*instance{t.inst}
	case t.inst.sub != nil && !t.inst.opaque && t.inst.sub.block != nil && a.distributive(t.inst.sub):
		return a.backbone(t.inst.sub.block.tree)
	}
	return nil
}

// places is where the tables of a statement lie.
type places struct {
	sharded int
	// sites are the targets whose values locate tables; all of them must come out as one group for a relay.
	sites []plan.Target
	// loose are sharded tables that no value locates and that are not attached to one that is located.
	loose []*instance
	// singles are the groups of single tables.
	singles []placement.NodeGroupID
	// root is a table all other sharded tables are attached to, each result row coming from one row of it; nil if
	// there is none. Only then may the statement run on several groups.
	root *instance
	// joined: several sharded references go down together.
	joined bool
}

// place finds where the tables of an analysed statement lie.
func (a *analysis) place() *places {
	p := &places{}
	var sharded []*instance
	insts := slices.Clone(a.insts)
	for _, t := range slices.Concat(a.b.reads, a.behind) {
		insts = append(insts, &instance{table: t}) // read for any row: nothing tells which of its own
	}
	for _, in := range insts {
		if in.table == nil {
			continue
		}
		switch in.table.Kind {
		case catalog.Sharded:
			sharded = append(sharded, in)
		case catalog.Single:
			if !slices.Contains(p.singles, in.table.Group) {
				p.singles = append(p.singles, in.table.Group)
			}
		}
	}
	p.sharded = len(sharded)
	edges := make([][]int, len(sharded))
	for i := range sharded {
		for j := range sharded {
			if i != j && attached(sharded[i], sharded[j]) {
				edges[i] = append(edges[i], j)
			}
		}
	}
	located := make([]bool, len(sharded))
	for _, wantSingle := range []bool{true, false} {
		for i, in := range sharded {
			key, single, ok := keyOperands(in)
			if !ok || single != wantSingle || reaches(edges, i, located) {
				continue
			}
			located[i] = true
			p.addSite(plan.Target{Kind: plan.ByKey, Table: in.table, Key: key})
		}
	}
	for i, in := range sharded {
		if !reaches(edges, i, located) {
			p.loose = append(p.loose, in)
		}
	}
	if len(p.singles) == 0 {
		p.root = findRoot(sharded, edges)
	}
	p.joined = p.root != nil && len(sharded) > 1
	return p
}

// reaches reports whether a walk along edges from node from (itself included) meets a marked node.
func reaches(edges [][]int, from int, marked []bool) bool {
	seen := make([]bool, len(edges))
	stack := []int{from}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if marked[n] {
			return true
		}
		if seen[n] {
			continue
		}
		seen[n] = true
		stack = append(stack, edges[n]...)
	}
	return false
}

func findRoot(sharded []*instance, edges [][]int) *instance {
	for i, in := range sharded {
		if !in.spine {
			continue
		}
		marked := make([]bool, len(sharded))
		marked[i] = true
		all := true
		for j := range sharded {
			all = all && reaches(edges, j, marked)
		}
		if all {
			return in
		}
	}
	return nil
}

// addSite adds a target unless the same values of the same kind of key are there already.
func (p *places) addSite(t plan.Target) {
	for _, s := range p.sites {
		if sameSite(s, t) {
			return
		}
	}
	p.sites = append(p.sites, t)
}

func sameSite(a, b plan.Target) bool {
	if len(a.Key) != len(b.Key) {
		return false
	}
	for i := range a.Key {
		ca := &a.Table.Columns[a.Table.Distribution[i]]
		cb := &b.Table.Columns[b.Table.Distribution[i]]
		if !compatible(ca, cb) || !sameOperand(a.Key[i], b.Key[i]) {
			return false
		}
	}
	return true
}

func sameOperand(a, b plan.Operand) bool {
	if a.Arg >= 0 || b.Arg >= 0 {
		return a.Arg == b.Arg
	}
	return a.Const.Kind == b.Const.Kind && bytes.Equal(a.Const.Raw, b.Const.Raw)
}

// relayTarget is where the whole statement can be answered by one group; ok is false if no values tell.
func (p *places) relayTarget() (t plan.Target, ok bool) {
	if len(p.loose) > 0 || len(p.singles) > 1 {
		return t, false
	}
	var all []plan.Target
	for _, g := range p.singles {
		all = append(all, plan.Target{Kind: plan.OneGroup, Group: g})
	}
	all = append(all, p.sites...)
	if len(all) == 0 {
		return plan.Target{Kind: plan.AnyGroup}, true
	}
	t = all[0]
	t.Also = slices.Clone(all[1:])
	return t, true
}
