package migration

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
)

// A table is closed while its definition changes in a way that statements planned before must not meet: see
// pkg/control/settling.go.

// close notes tables and views that must be closed while the step runs, as far as they exist.
func (p *Planner) close(objects ...ddl.Object) {
	for _, o := range objects {
		if p.Snap.Table(o.DB, o.Name) != nil && !slices.Contains(p.work.Close, o) {
			p.work.Close = append(p.work.Close, o)
		}
	}
}

// appear notes a name under which there is no table yet.
func (p *Planner) appear(o ddl.Object) { p.work.Appear = append(p.work.Appear, o) }

// closeFor closes old, and what its foreign keys refer to, if a statement planned by old may do wrong to t, which it becomes.
func (p *Planner) closeFor(old, t *catalog.Table) {
	own := ddl.Table(old)
	if replans(old, t) {
		p.close(own)
	}
	kept := map[string]bool{}
	for i := range old.ForeignKeys {
		was := &old.ForeignKeys[i]
		same := func(fk catalog.ForeignKey) bool { return p.sameKey(old, was, t, &fk) }
		if kept[was.Name] = slices.ContainsFunc(t.ForeignKeys, same); !kept[was.Name] {
			p.close(own, ddl.Object{DB: was.RefDB, Name: was.RefTable})
		}
	}
	for i := range t.ForeignKeys {
		fk := &t.ForeignKeys[i]
		if !kept[fk.Name] && !slices.ContainsFunc(p.work.Keys, func(k NewKey) bool { return k.Is(t, fk) }) {
			p.close(own, ddl.Object{DB: fk.RefDB, Name: fk.RefTable})
		}
	}
}

// closeForSequence closes a table whose numbers come from another sequence afterwards: it would reach those that a statement has taken
// from the one before and not written yet.
func (p *Planner) closeForSequence(t *catalog.Table) {
	if t.Kind != catalog.Single && (t.AutoIncrement >= 0 || t.HiddenKey) {
		p.close(ddl.Table(t))
	}
}

// closeForTrigger closes a table whose triggers change: how rows are written depends on whether there are any, and on who runs them.
func (p *Planner) closeForTrigger(t *catalog.Table) {
	if t.Kind != catalog.Single {
		p.close(ddl.Table(t))
	}
}

// replans reports whether a statement planned by a table as it was may do wrong to what it is now, where a server would not refuse
// it. What it does not know of:
//
//   - columns that come last: a server knows their defaults; a row without them has another number of values
//   - keys that are added: servers enforce those that hold the distribution key, and global indexes are built under the eyes of
//     all (see publishBuilding)
//   - other properties of columns that neither place rows nor identify them
func replans(old, t *catalog.Table) bool {
	if old.Kind == catalog.Single && t.Kind == catalog.Single && old.Group == t.Group {
		return false // statements go to one server as they are
	}
	if old.Kind != t.Kind || len(old.Columns) > len(t.Columns) || column(old, old.AutoIncrement) != column(t, t.AutoIncrement) {
		return true
	}
	for i := range old.Columns {
		if !strings.EqualFold(old.Columns[i].Name, t.Columns[i].Name) {
			return true
		}
	}
	if !slices.Equal(old.Distribution, t.Distribution) || !slices.Equal(old.Primary, t.Primary) {
		return true
	}
	for _, x := range old.Unique {
		if !slices.ContainsFunc(t.Unique, func(y catalog.Index) bool {
			return slices.Equal(x.Columns, y.Columns) && x.Partial == y.Partial && slices.Equal(x.Lengths, y.Lengths)
		}) {
			return true // what a query takes for one row may be several
		}
	}
	watched := slices.Concat(old.Distribution, old.Primary)
	for _, x := range old.Unique {
		watched = append(watched, x.Columns...)
	}
	for _, fk := range old.ForeignKeys {
		watched = append(watched, fk.Columns...)
	}
	for _, c := range watched {
		if old.Columns[c] != t.Columns[c] {
			return true
		}
	}
	return false
}

// column is the name of a column, "" for none.
func column(t *catalog.Table, c int) string {
	if c < 0 {
		return ""
	}
	return strings.ToLower(t.Columns[c].Name)
}
