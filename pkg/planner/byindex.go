package planner

import "skarv/pkg/plan"

// routeByIndex narrows a SELECT over all groups to the one that has the row a global index leads to.
func routeByIndex(b *build) (bool, error) {
	if b.frag == nil || b.frag.target.Kind != plan.AllGroups || b.places == nil || b.places.root == nil {
		return false, nil
	}
	t, ok := indexTarget(b.places.root)
	if ok {
		b.frag.target = t
	}
	return ok, nil
}

// indexTarget is where the rows of in that can matter lie, by a global index of its table.
func indexTarget(in *instance) (t plan.Target, ok bool) {
next:
	for _, x := range in.table.Global {
		// TIMESTAMP and floating-point numbers are compared in ways of their own, and equal strings may differ in their beginnings: "ß" is "ss".
		if x.Building || !x.PlacedByAll() || x.Lengths != nil {
			continue
		}
		t = plan.Target{Kind: plan.ByIndex, Index: x}
		for _, c := range x.Columns {
			_, ops := equals(colRef{in, c}, in.usable)
			for len(ops) > 0 && ops[0].list {
				ops = ops[1:]
			}
			if len(ops) == 0 {
				continue next
			}
			t.Key = append(t.Key, ops[0].op)
		}
		return t, true
	}
	return plan.Target{}, false
}
