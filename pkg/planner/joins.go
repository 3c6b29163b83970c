package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/workspace"
)

// link is an equality between a column of a copy's table and one of another copy's, without which no row of the former matters.
type link struct {
	column int
	from   *wanted
	source int // column of from
}

// maxJoins bounds the lists of values one copy is read by.
const maxJoins = 3

// copyJoins: see its rule's Doc.
func copyJoins(b *build) (fired bool, err error) {
	if b.ws == nil || b.ws.writes && !b.ws.quiet {
		return false, nil
	}
	w := b.ws
	copies := &w.plan.Copies
	var rest []*wanted
	for i := range w.wanted {
		if c := &w.wanted[i]; c.list == copies {
			rest = append(rest, c)
		}
	}
	links, queries := map[*wanted][]link{}, map[*wanted][]queryLink{}
	for _, c := range rest {
		links[c], queries[c] = w.links(c), w.queryLinks(c)
	}
	var order []*wanted // views and queries, which are not wanted, go in front
	var list []plan.Copy
	for i := range *copies {
		if (*copies)[i].Computed() {
			list = append(list, (*copies)[i])
		}
	}
	views := len(list)
	for len(rest) > 0 {
		at := next(rest, order, links, queries)
		if b.first != nil && len(order) == 0 {
			at = slices.IndexFunc(rest, func(c *wanted) bool { return c.table == b.first.table })
			if at < 0 {
				return false, nil
			}
		}
		c := rest[at]
		rest = slices.Delete(rest, at, at+1)
		for _, l := range queries[c] {
			from := slices.IndexFunc(list, func(x plan.Copy) bool { return x.Query != nil && x.Query == l.query })
			if from >= 0 && len(c.joins) < maxJoins {
				c.joins = append(c.joins, plan.Join{From: from, Source: l.source, Column: l.column, Op: l.op, Always: l.always})
				fired = true
			}
		}
		for _, l := range links[c] {
			from := slices.Index(order, l.from)
			if from < 0 || len(c.joins) == maxJoins ||
				slices.ContainsFunc(c.joins, func(j plan.Join) bool { return j.From == views+from && j.Column == l.column }) {
				continue
			}
			c.joins = append(c.joins, plan.Join{From: views + from, Source: l.source, Column: l.column})
			fired = true
		}
		list = append(list, (*copies)[c.at])
		c.at = len(list) - 1
		order = append(order, c)
	}
	*copies = list
	return fired, nil
}

// next chooses the copy to be made after those of done: one that they are joined with, and of these one with few rows.
func next(rest, done []*wanted, links map[*wanted][]link, queries map[*wanted][]queryLink) int {
	best, bestRank := 0, 100
	for i, c := range rest {
		rank := 2
		switch {
		case c.fragment.Target.Kind == plan.ByKey:
			rank = 0
		case len(c.rows) > 0 || len(queries[c]) > 0:
			rank = 1
		}
		joined := slices.ContainsFunc(links[c], func(l link) bool { return slices.Contains(done, l.from) })
		if !joined {
			rank += 10
		}
		if rank < bestRank {
			best, bestRank = i, rank
		}
	}
	return best
}

// links are those that hold wherever the statement reads c.
func (w *worker) links(c *wanted) (list []link) {
	refs, ok := w.references(c)
	if !ok || c.table.Kind != catalog.Sharded || len(refs) > maxAlternatives {
		return nil
	}
	for i, in := range refs {
		var one []link
		for _, e := range w.b.links(in) {
			if from := w.copyOf(e[1].inst); from != nil && from != c && (from.table != c.table || c.only != nil) {
				one = append(one, link{e[0].col, from, e[1].col})
			}
		}
		if i == 0 {
			list = one
			continue
		}
		list = slices.DeleteFunc(list, func(l link) bool { return !slices.Contains(one, l) })
	}
	return list
}

// copyOf is the copy that in reads, or nil.
func (w *worker) copyOf(in *instance) *wanted {
	for i := range w.wanted {
		c := &w.wanted[i]
		if c.top && c.list == &w.plan.Copies && (c.only == in || c.only == nil && c.table == in.table) {
			return c
		}
	}
	return nil
}

// links are columns of in, each with another one without whose equality a row of in cannot matter.
func (b *build) links(in *instance) (list [][2]colRef) {
	add := func(c, other colRef) {
		if c.inst != in || other.inst.table == nil || other.inst == in || other.inst.inView || b.inPushed(other.inst) ||
			!compatible(c.column(), other.column()) || !workspace.Keyable(c.column()) || !workspace.Keyable(other.column()) {
			return
		}
		if e := [2]colRef{c, other}; !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	blk := in.block
	matches := func(blk *block, inst *instance) {
		for _, c := range matching(blk.tree, inst) {
			cmp, ok := c.expr.(*sqlparser.ComparisonExpr)
			if !ok || cmp.Operator != sqlparser.EqualOp || cmp.Modifier != sqlparser.Missing {
				continue
			}
			l, lok := cmp.Left.(*sqlparser.ColName)
			r, rok := cmp.Right.(*sqlparser.ColName)
			if !lok || !rok {
				continue
			}
			x, y := c.scope.resolve(l, b.a.lower), c.scope.resolve(r, b.a.lower)
			if x.ok() && y.ok() {
				add(x, y)
				add(y, x)
			}
		}
	}
	if !slices.Contains(preserved(blk.tree), in) {
		matches(blk, in)
		return list
	}
	for _, class := range b.neighbourhood(in).classes {
		for _, c := range class {
			for _, other := range class {
				if c.inst == in && other.inst != in {
					add(c, other)
				}
			}
		}
	}
	for c := range in.table.Columns { // with what derived tables have from theirs
		cols, _ := equals(colRef{in, c}, blk.facts)
		for _, other := range cols[1:] {
			if other.inst.block != blk && within(other.inst, blk) {
				add(cols[0], other)
			}
		}
	}
	for _, s := range blk.subs {
		if s.semi && !s.on && s.q.known && len(s.q.columns) == 1 && s.q.columns[0].ref.ok() {
			add(s.left, s.q.columns[0].ref)
		}
	}
	if b.ws.writes {
		return list // in groups that are left out a value may be none that strict mode lets pass
	}
	// What a derived table is joined by, if it keeps or drops all rows together that are equal in the column.
	var passed []*block
	inside := add
	add = func(c, other colRef) {
		if c.inst == in && !within(other.inst, blk) && !slices.ContainsFunc(passed, func(blk *block) bool { return !b.a.kept(c, blk) }) {
			inside(c, other)
		}
	}
	for ; blk.owner != nil && blk.owner.block != nil && !blk.owner.opaque; blk = blk.owner.block {
		outer := blk.owner.block
		passed = append(passed, blk)
		if !slices.Contains(preserved(outer.tree), blk.owner) {
			matches(outer, blk.owner)
			break
		}
		for c := range in.table.Columns {
			start := colRef{in, c}
			cols, _ := equals(start, outer.facts)
			for _, other := range cols[1:] {
				add(start, other)
			}
		}
	}
	return list
}
