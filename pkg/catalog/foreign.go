package catalog

import (
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/sqltypes"
)

// Relation is a foreign key with both of its tables.
type Relation struct {
	Child  *Table
	Key    *ForeignKey
	Parent *Table // nil if it does not exist
}

// Together reports whether each row of child lies where the row of parent is that fk refers to, or a copy of it, and stays there
// when that one goes: then the servers enforce the key.
func Together(child *Table, fk *ForeignKey, parent *Table) bool {
	switch {
	case parent.Kind == Reference:
		return true
	case child.Kind == Single && parent.Kind == Single:
		return child.Group == parent.Group
	case child.Kind != Sharded || parent.Kind != Sharded || len(child.Distribution) != len(parent.Distribution):
		return false
	case fk.OnDelete == "SET NULL" || fk.OnUpdate == "SET NULL": // of the distribution key, so that the row belongs elsewhere
		return false
	}
	for i, c := range child.Distribution {
		at := slices.Index(fk.Columns, c)
		if at < 0 || !strings.EqualFold(fk.RefColumns[at], parent.Columns[parent.Distribution[i]].Name) {
			return false
		}
	}
	return true
}

// Cascades reports whether a rule of a foreign key changes rows instead of refusing.
func Cascades(rule string) bool { return rule == "CASCADE" || rule == "SET NULL" }

// Apart reports that servers alone cannot enforce the key: rows that refer to each other lie on different groups, or a server
// would delete or change rows of a table behind the back of its global indexes, or of a key that is apart itself.
func (s *Snapshot) Apart(r *Relation) bool { return s.apart(r, nil) }

// apart is Apart below the tables whose keys are being looked at.
func (s *Snapshot) apart(r *Relation, above []*Table) bool {
	switch {
	case r.Parent == nil:
		return false
	case !Together(r.Child, r.Key, r.Parent):
		return true
	case !Cascades(r.Key.OnDelete) && !Cascades(r.Key.OnUpdate), slices.Contains(above, r.Child):
		return false
	case len(r.Child.Global) > 0:
		return true
	}
	above = append(above, r.Child)
	return slices.ContainsFunc(s.children(r.Child), func(below Relation) bool { return s.apart(&below, above) })
}

// RefersApart reports whether rows of t may lie elsewhere than those they refer to, so that servers cannot look for these.
func (s *Snapshot) RefersApart(t *Table) bool {
	return slices.ContainsFunc(t.ForeignKeys, func(fk ForeignKey) bool {
		parent := s.Table(fk.RefDB, fk.RefTable)
		return parent != nil && !Together(t, &fk, parent)
	})
}

// children are the foreign keys that refer to t.
func (s *Snapshot) children(t *Table) (out []Relation) {
	for _, d := range s.Databases {
		for _, child := range d.Tables {
			for i := range child.ForeignKeys {
				if fk := &child.ForeignKeys[i]; fk.RefTable == t.Name && fk.RefDB == t.Database {
					out = append(out, Relation{child, fk, t})
				}
			}
		}
	}
	return out
}

// Relations returns the foreign keys of t and those to t. own: servers cannot enforce all of them, so that Skarv enforces all
// in every statement that changes what they speak of, and tells the servers not to.
func (s *Snapshot) Relations(t *Table) (parents, children []Relation, own bool) {
	for i := range t.ForeignKeys {
		fk := &t.ForeignKeys[i]
		r := Relation{t, fk, s.Table(fk.RefDB, fk.RefTable)}
		parents = append(parents, r)
		own = own || s.Apart(&r)
	}
	children = s.children(t)
	for i := range children {
		own = own || s.Apart(&children[i])
	}
	slices.SortFunc(children, func(a, b Relation) int {
		return strings.Compare(a.Child.Database+"."+a.Child.Name+"."+a.Key.Name, b.Child.Database+"."+b.Child.Name+"."+b.Key.Name)
	})
	return parents, children, own
}

// ParentColumns are the columns of Parent that the key refers to.
func (r *Relation) ParentColumns() []int {
	out := make([]int, 0, len(r.Key.RefColumns))
	for _, name := range r.Key.RefColumns {
		out = append(out, r.Parent.Column(name))
	}
	return out
}

// String is the key as the servers' errors show it.
func (r *Relation) String() string {
	q := sqltypes.QuoteName
	var columns, refs []string
	for _, c := range r.Key.Columns {
		columns = append(columns, q(r.Child.Columns[c].Name))
	}
	for _, n := range r.Key.RefColumns {
		refs = append(refs, q(n))
	}
	parent := q(r.Key.RefTable)
	if r.Key.RefDB != r.Child.Database {
		parent = q(r.Key.RefDB) + "." + parent
	}
	s := fmt.Sprintf("(%s.%s, CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s)", q(r.Child.Database), q(r.Child.Name), q(r.Key.Name),
		strings.Join(columns, ", "), parent, strings.Join(refs, ", "))
	if Cascades(r.Key.OnDelete) {
		s += " ON DELETE " + r.Key.OnDelete
	}
	if Cascades(r.Key.OnUpdate) {
		s += " ON UPDATE " + r.Key.OnUpdate
	}
	return s + ")"
}

// CheckedColumns are the columns of a table with which its servers look for the rows that it refers to, when one of them changes, by those of
// its foreign keys, parents, that they cannot enforce: not the keys' own alone, but all that are in an index which InnoDB may use for a key,
// and the primary key, which is in every index. Which of several indexes it uses cannot be told.
func (s *Snapshot) CheckedColumns(t *Table, parents []Relation) (out []int) {
	for i := range parents {
		if !s.Apart(&parents[i]) {
			continue
		}
		key := parents[i].Key.Columns
		begins := func(columns []int) bool { return len(columns) >= len(key) && slices.Equal(columns[:len(key)], key) }
		out = append(out, key...)
		if begins(t.Primary) {
			continue // the first index there is
		}
		out = append(out, t.Primary...)
		for _, x := range slices.Concat(t.Unique, t.Indexes) {
			switch {
			case !begins(x.Columns):
			case x.Expression() && s.Flavor == MySQL: // perhaps by an expression of any columns
				for c := range t.Columns {
					out = append(out, c)
				}
			default:
				out = append(out, x.Columns...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// WatchedColumns are the columns of a table whose values its foreign keys, its global indexes and its placement depend on,
// ascending.
func WatchedColumns(t *Table, parents, children []Relation) []int {
	out := slices.Clone(t.Distribution)
	for _, x := range t.Global {
		out = append(out, x.Columns...)
	}
	for i := range parents {
		out = append(out, parents[i].Key.Columns...)
	}
	for i := range children {
		out = append(out, children[i].ParentColumns()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
