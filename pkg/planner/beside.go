package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
)

// neighbourhood is the instances that a row of in meets in its block and in those around it, as far as they can lie
// beside it, with the conditions that join and filter them.
type neighbourhood struct {
	b     *build
	in    *instance
	insts []*instance // in first
	conds []conjunct
	// classes are columns of insts that equal each other.
	classes [][]colRef
}

func (b *build) neighbourhood(in *instance) *neighbourhood {
	n := &neighbourhood{b: b, in: in, insts: []*instance{in}}
	var facts []fact
	inner := in.block
	for blk, outer := in.block, false; blk != nil; outer = true {
		for _, x := range preserved(blk.tree) {
			if x != in && x.table != nil && !x.inView && (x.table.Kind == catalog.Reference || x.sharded()) {
				n.insts = append(n.insts, x)
			}
		}
		for _, c := range b.a.conjuncts(blk) {
			if outer && len(c.subs) > 0 {
				continue
			}
			c.outer = outer
			n.conds = append(n.conds, c)
		}
		facts = append(facts, blk.facts...)
		// Go on with the block whose rows the subquery is looked at for.
		inner, blk = blk, blk.parent
		if blk == nil || inner.owner != nil {
			break
		}
		at := slices.IndexFunc(blk.subs, func(s *subquery) bool { return s.q.block == inner && !s.on })
		if at < 0 {
			break
		}
		if s := blk.subs[at]; s.semi && b.a.distributive(s.q) && s.q.known && len(s.q.columns) == 1 && s.q.columns[0].ref.ok() {
			facts = append(facts, fact{a: s.left, b: s.q.columns[0].ref})
		}
	}
	n.classify(facts)
	return n
}

// classify finds what columns equal each other or a value.
func (n *neighbourhood) classify(facts []fact) {
	var seen []colRef
	for _, f := range facts {
		for _, start := range []colRef{f.a, f.b} {
			if !start.ok() || slices.Contains(seen, start) {
				continue
			}
			cols, ops := equals(start, facts)
			seen = append(seen, cols...)
			var members []colRef
			for _, c := range cols {
				if slices.Contains(n.insts, c.inst) {
					members = append(members, c)
				}
			}
			if len(members) > 1 {
				n.classes = append(n.classes, members)
			}
			for _, op := range ops {
				for _, m := range members {
					if !op.list && m != op.a && op.op.Arg >= 0 && n.passesOn(m.column(), op.op.Arg) {
						n.conds = append(n.conds, conjunct{equal: [2]colRef{m}, op: op.op, deps: []*instance{m.inst}})
					}
				}
			}
		}
	}
}

// passesOn reports whether a column of c's type equals argument arg where another equals it that has the same value to comparisons of the
// two: strings that are equal may be different numbers.
func (n *neighbourhood) passesOn(c *catalog.Column, arg int) bool {
	return c.DataType != "char" && c.DataType != "varchar" || n.b.sameKind(c, arg)
}

// usable reports whether a node group can judge c for rows of anchors, which lie there.
func (n *neighbourhood) usable(c *conjunct, anchors []*instance) bool {
	if len(c.subs) > 0 && c.outer {
		return false
	}
	for _, q := range c.subs {
		if !n.b.a.exactBeside(q, anchors) {
			return false
		}
	}
	return true
}

// beside reports whether rows of x that meet rows of y lie in the same node group.
func (n *neighbourhood) beside(x, y *instance) bool {
	if x.table.Kind == catalog.Reference {
		return true
	}
	if !y.sharded() || len(x.table.Distribution) != len(y.table.Distribution) {
		return false
	}
	for i, k := range x.table.Distribution {
		if !n.equal(colRef{x, k}, colRef{y, y.table.Distribution[i]}) {
			return false
		}
	}
	return len(x.table.Distribution) > 0
}

func (n *neighbourhood) equal(a, b colRef) bool {
	return slices.ContainsFunc(n.classes, func(c []colRef) bool { return slices.Contains(c, a) && slices.Contains(c, b) })
}

// linked reports whether some column of x equals one of y.
func (n *neighbourhood) linked(x, y *instance) bool {
	has := func(c []colRef, in *instance) bool {
		return slices.ContainsFunc(c, func(r colRef) bool { return r.inst == in })
	}
	return slices.ContainsFunc(n.classes, func(c []colRef) bool { return has(c, x) && has(c, y) })
}

// partners are the instances that in is joined with on its own node group, directly or by others, as far as something
// filters them.
func (n *neighbourhood) partners() (set []*instance) {
	set = []*instance{n.in}
	for grown := true; grown; {
		grown = false
		for _, x := range n.insts {
			if slices.Contains(set, x) {
				continue
			}
			linked := slices.ContainsFunc(set, func(y *instance) bool { return n.linked(x, y) })
			near := slices.ContainsFunc(set, func(y *instance) bool { return n.beside(x, y) })
			if linked && near {
				set, grown = append(set, x), true
			}
		}
	}
	filtered := func(x *instance) bool {
		for i := range n.conds {
			c := &n.conds[i]
			if n.plainEquality(c) {
				continue
			}
			if slices.Contains(c.deps, x) && subset(c.deps, set) && n.usable(c, set) {
				return true
			}
		}
		return false
	}
	for shrunk := true; shrunk; {
		shrunk = false
		for i := len(set) - 1; i > 0; i-- {
			links := 0
			for _, y := range set {
				if y != set[i] && n.linked(set[i], y) {
					links++
				}
			}
			if links < 2 && !filtered(set[i]) {
				set, shrunk = slices.Delete(set, i, i+1), true
			}
		}
	}
	if !slices.ContainsFunc(set[1:], filtered) {
		return nil
	}
	return set[1:]
}

// exists is the condition that rows of in's partners beside it meet it.
func (n *neighbourhood) exists() (plan.Text, bool) {
	partners := n.partners()
	if len(partners) == 0 || len(partners) > 8 {
		return nil, false
	}
	set := append([]*instance{n.in}, partners...)
	p := n.b.phrase(map[*instance]string{n.in: plan.CopyRow})
	p.raw("EXISTS (SELECT 1 FROM ")
	for i, x := range partners {
		if i > 0 {
			p.raw(", ")
		}
		p.table(x)
	}
	sep := " WHERE "
	for _, class := range n.classes {
		var first colRef
		for _, c := range class {
			switch {
			case !slices.Contains(set, c.inst):
			case !first.ok():
				first = c
			default:
				p.raw(sep)
				sep = " AND "
				p.conjunct(&conjunct{equal: [2]colRef{first, c}})
			}
		}
	}
	if !p.ok || sep == " WHERE " {
		return nil, false
	}
	for i := range n.conds {
		c := &n.conds[i]
		if n.plainEquality(c) || !subset(c.deps, set) || slices.Equal(c.deps, []*instance{n.in}) || !n.usable(c, set) {
			continue
		}
		one := n.b.phrase(p.names)
		one.conjunct(c)
		if t, ok := one.done(); ok {
			p.raw(sep)
			p.e.add(t)
		}
	}
	p.raw(")")
	return p.done()
}

// plainEquality reports whether c is nothing but the equality of two columns of compatible types, which classes hold.
func (n *neighbourhood) plainEquality(c *conjunct) bool {
	cmp, is := c.expr.(*sqlparser.ComparisonExpr)
	if !is || cmp.Operator != sqlparser.EqualOp || cmp.Modifier != sqlparser.Missing {
		return false
	}
	l, lok := cmp.Left.(*sqlparser.ColName)
	r, rok := cmp.Right.(*sqlparser.ColName)
	if !lok || !rok {
		return false
	}
	x, y := c.scope.resolve(l, n.b.a.lower), c.scope.resolve(r, n.b.a.lower)
	return x.ok() && y.ok() && compatible(x.column(), y.column())
}

func subset(of, set []*instance) bool {
	for _, x := range of {
		if !slices.Contains(set, x) {
			return false
		}
	}
	return len(of) > 0
}
