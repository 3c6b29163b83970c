package exec

import (
	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// maxCombinations bounds how many key values a target with several IN lists is resolved for; with more, all groups
// are asked.
const maxCombinations = 4096

// Owners of a list's elements that no single group stands for.
const (
	everyGroup placement.NodeGroupID = 0      // the value cannot be placed: every group is told of it
	noGroup    placement.NodeGroupID = 0xffff // no row can equal the value
)

// Router finds the node groups of targets. It holds scratch memory, so that finding allocates nothing; it belongs
// to one goroutine.
type Router struct {
	// Home is the group that answers where any can: the transaction's group, or one that spreads sessions over the
	// groups. 0 is the first group.
	Home placement.NodeGroupID

	// Touched is what the statement at hand uses, all of its targets together, since the last Forget.
	Touched Touched

	vals    []sqltypes.Value
	text    []byte // copies of vals, where they do not stay valid
	scratch []byte
	index   []int
	// owners are those of the elements of list argument ownersOf, the only list of the last target, if all of them could be placed.
	owners   []placement.NodeGroupID
	ownersOf int
}

// Touched is partitions a statement uses: those of Partitions, perhaps named more than once, or All of them.
type Touched struct {
	Partitions []placement.Partition
	All        bool
	// Copies: the copies of reference tables on all groups are written.
	Copies bool
}

// Forget empties t for the next statement.
func (t *Touched) Forget() { t.Partitions, t.All, t.Copies = t.Partitions[:0], false, false }

// None reports whether no partitions are used: the statement has no sharded tables.
func (t *Touched) None() bool { return !t.All && !t.Copies && len(t.Partitions) == 0 }

// Meets reports whether any of the partitions of set is used.
func (t *Touched) Meets(set *placement.Set) bool {
	if t.All {
		return true
	}
	for _, p := range t.Partitions {
		if set.Has(p) {
			return true
		}
	}
	return false
}

// maxTouched is how many partitions are told apart; a statement that uses more counts as using all of them.
const maxTouched = 256

func (t *Touched) add(p placement.Partition) {
	if len(t.Partitions) < maxTouched {
		t.Partitions = append(t.Partitions, p)
	} else {
		t.All = true
	}
}

// Route appends t's node groups to out in ascending order, each once, at least one. exact is false if a value could
// not be placed, so that all groups are asked. Target.Also is not looked at. The error is Internal: a snapshot
// without groups.
func (r *Router) Route(t *plan.Target, snap *catalog.Snapshot, a *Arguments, out []placement.NodeGroupID) (groups []placement.NodeGroupID, exact bool, err error) {
	r.ownersOf = plan.NoArg
	switch t.Kind {
	case plan.OneGroup:
		return append(out, t.Group), true, nil
	case plan.AnyGroup:
		g, err := r.home(snap)
		return append(out, g), true, err
	case plan.AllGroups:
		r.Touched.All = true
		groups, err = ownersOf(snap, out)
		return groups, true, err
	}
	mode := placement.Compare
	if t.Store {
		mode = placement.Store
	}
	mode |= a.Strings
	if len(t.Key) == 1 {
		if arg := t.Key[0].Arg; arg == plan.NoArg || !a.IsList(arg) {
			v, ok := r.operand(t.Key[0], a)
			return r.one(t, snap, mode, v, ok, out)
		}
	}
	return r.many(t, snap, a, mode, out)
}

// Relay returns the one group that can answer f alone, as it is written; ok is false when there is none.
func (r *Router) Relay(f *plan.Fragment, snap *catalog.Snapshot, a *Arguments) (g placement.NodeGroupID, ok bool, err error) {
	var room [64]placement.NodeGroupID
	groups, _, err := r.Route(&f.Target, snap, a, room[:0])
	if err != nil || len(groups) != 1 {
		return 0, false, err
	}
	g = groups[0]
	for i := range f.Target.Also {
		groups, _, err = r.Route(&f.Target.Also[i], snap, a, room[:0])
		if err != nil || len(groups) != 1 || groups[0] != g {
			return 0, false, err
		}
	}
	return g, true, nil
}

func (r *Router) operand(o plan.Operand, a *Arguments) (v sqltypes.Value, ok bool) {
	if o.Arg < 0 {
		return o.Const, true
	}
	return a.Value(o.Arg)
}

// one resolves a key of one column and one value.
func (r *Router) one(t *plan.Target, snap *catalog.Snapshot, mode placement.Mode, v sqltypes.Value, ok bool, out []placement.NodeGroupID) ([]placement.NodeGroupID, bool, error) {
	g := everyGroup
	if ok {
		r.vals = append(r.vals[:0], v)
		g = r.place(t.Table.Key, snap, mode)
	} else {
		r.Touched.All = true
	}
	switch g {
	case everyGroup:
		groups, err := ownersOf(snap, out)
		return groups, false, err
	case noGroup:
		g, err := r.home(snap)
		return append(out, g), true, err
	}
	return append(out, g), true, nil
}

// place returns the owner of r.vals.
func (r *Router) place(key placement.Key, snap *catalog.Snapshot, mode placement.Mode) placement.NodeGroupID {
	p, scratch, match := key.Partition(r.scratch, r.vals, mode)
	r.scratch = scratch
	switch match {
	case placement.Exact:
		r.Touched.add(p)
		return snap.Map.Owner(p)
	case placement.None:
		return noGroup
	}
	r.Touched.All = true
	return everyGroup
}

// many resolves a key of several columns or with lists: every combination of their values.
func (r *Router) many(t *plan.Target, snap *catalog.Snapshot, a *Arguments, mode placement.Mode, out []placement.NodeGroupID) ([]placement.NodeGroupID, bool, error) {
	begin := len(out)
	combinations, lists, list := 1, 0, plan.NoArg
	for _, o := range t.Key {
		if !a.IsList(o.Arg) {
			continue
		}
		lists++
		list = o.Arg
		if combinations *= a.NumElems(o.Arg); lists > 1 && combinations > maxCombinations {
			r.Touched.All = true
			groups, err := ownersOf(snap, out)
			return groups, false, err
		}
	}
	r.owners = r.owners[:0]
	r.index = append(r.index[:0], make([]int, len(t.Key))...)
	exact := true
	for range combinations {
		g := everyGroup
		if r.combination(t.Key, a) {
			g = r.place(t.Table.Key, snap, mode)
		} else {
			r.Touched.All = true
		}
		if lists == 1 {
			r.owners = append(r.owners, g)
		}
		switch {
		case g == everyGroup:
			exact = false
		case g != noGroup && exact:
			out = addGroup(out, begin, g)
		}
		for i := len(t.Key) - 1; i >= 0; i-- {
			if o := t.Key[i]; a.IsList(o.Arg) {
				if r.index[i]++; r.index[i] < a.NumElems(o.Arg) {
					break
				}
				r.index[i] = 0
			}
		}
	}
	if !exact {
		// The list stays whole: servers may compare one of several values otherwise than the same value alone (a DATETIME with a
		// string that has an offset, on MySQL), and what cannot be placed is what this happens to.
		groups, err := ownersOf(snap, out[:begin])
		return groups, false, err
	}
	if lists == 1 {
		r.ownersOf = list
	}
	if len(out) == begin {
		g, err := r.home(snap)
		return append(out, g), true, err
	}
	return out, true, nil
}

// combination sets r.vals to the key values r.index says; false if one of them is not known.
func (r *Router) combination(key []plan.Operand, a *Arguments) bool {
	r.vals, r.text = r.vals[:0], r.text[:0]
	for i, o := range key {
		var v sqltypes.Value
		var ok bool
		if a.IsList(o.Arg) {
			v, ok = a.Elem(o.Arg, r.index[i])
		} else {
			v, ok = r.operand(o, a)
		}
		if !ok {
			return false
		}
		if len(key) > 1 {
			v = r.keep(v)
		}
		r.vals = append(r.vals, v)
	}
	return true
}

// keep copies v into r.text, where the next value does not overwrite it.
func (r *Router) keep(v sqltypes.Value) sqltypes.Value {
	if v.IsNull() {
		return v
	}
	start := len(r.text)
	r.text = append(r.text, v.Raw...)
	v.Raw = r.text[start:len(r.text):len(r.text)]
	return v
}

// isPart reports whether element i of list argument arg has to be written for group g: the last target routed says
// so. first is the first of that target's groups.
func (r *Router) isPart(arg, i int, g, first placement.NodeGroupID) bool {
	if r.ownersOf != arg || i >= len(r.owners) {
		return true
	}
	switch owner := r.owners[i]; owner {
	case everyGroup:
		return true
	case noGroup:
		return g == first // one server is told of it, for its warnings
	default:
		return owner == g
	}
}

func (r *Router) home(snap *catalog.Snapshot) (placement.NodeGroupID, error) {
	if len(snap.Groups) == 0 {
		return 0, noGroups()
	}
	if r.Home != 0 {
		return r.Home, nil
	}
	return snap.Groups[0].ID, nil
}

// ownersOf appends the groups that own partitions: those that can hold rows of sharded tables.
func ownersOf(snap *catalog.Snapshot, out []placement.NodeGroupID) ([]placement.NodeGroupID, error) {
	if snap.Map == nil || len(snap.Map.Groups()) == 0 {
		return out, noGroups()
	}
	return append(out, snap.Map.Groups()...), nil
}

// everyCopy appends all groups: each has a copy of every reference table.
func everyCopy(snap *catalog.Snapshot, out []placement.NodeGroupID) ([]placement.NodeGroupID, error) {
	if len(snap.Groups) == 0 {
		return out, noGroups()
	}
	for _, g := range snap.Groups {
		out = append(out, g.ID)
	}
	return out, nil
}

func noGroups() error {
	return sqlerr.Internal.New("the cluster has no node group yet; add one with: skarvctl nodegroup add")
}

// addGroup inserts g into out[begin:], which is sorted, unless it is there.
func addGroup(out []placement.NodeGroupID, begin int, g placement.NodeGroupID) []placement.NodeGroupID {
	i := len(out)
	for i > begin && out[i-1] >= g {
		if out[i-1] == g {
			return out
		}
		i--
	}
	out = append(out, 0)
	copy(out[i+1:], out[i:])
	out[i] = g
	return out
}
