package planner

import (
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
)

// A trigger fires on the server that writes its row. It must fire once for each row that the client's statement writes, and
// not for what Skarv writes besides. Where a plan writes each row once, by the same kind of statement as the client's,
// that is so by itself: relays, fragments, rows that are split, rows that are changed by their keys. triggers looks at the
// other plans, and refuses what would be different.
func (b *build) triggers() error {
	if err := b.programs(); err != nil {
		return err
	}
	switch n := b.plan.Root.(type) {
	case *plan.InsertRows:
		return b.insertTriggers(n)
	case *plan.ChangeRows:
		return b.changeTriggers(n)
	case *plan.Workspace:
		if n.Stage != nil {
			return stageTriggers(n)
		}
		return writtenTriggers(n)
	}
	return nil
}

func refuseTrigger(t *catalog.Table, what, how string) *sqlerr.Error {
	return sqlerr.Unsupported(what+" of table '"+t.Name+"', which has triggers", how)
}

const eachEvent = "INSERT"

func (b *build) insertTriggers(n *plan.InsertRows) error {
	t := n.Table
	if !t.FiresAny() {
		return nil
	}
	if n.Indexed != nil && (n.Update || n.Ignore || b.plan.Kind == plan.Replace) {
		return refuseTrigger(t, "REPLACE, INSERT IGNORE and ON DUPLICATE KEY UPDATE by keys over several node groups",
			"look for the row with SELECT ... FOR UPDATE, then INSERT or UPDATE it")
	}
	n.NotNull = slices.DeleteFunc(n.NotNull, func(position int) bool {
		return t.TriggerSets(eachEvent, b.ins.columns[position])
	})
	if n.Else != nil && stageTriggers(n.Else) != nil {
		n.Else = nil
	}
	return nil
}

func (b *build) changeTriggers(n *plan.ChangeRows) error {
	t := n.Table
	if n.NewKey != nil && t.FiresAny() {
		n.Stay = refuseTrigger(t, "UPDATE of the distribution column", "insert the new row and delete the old one")
	}
	if child := b.cascadesIntoTriggers(t, nil); n.Own && child != nil {
		return refuseTrigger(child, "a foreign key over several node groups with CASCADE or SET NULL", "delete or change its rows first")
	}
	return nil
}

// cascadesIntoTriggers finds a table with triggers whose rows a foreign key changes along with those of t. Servers fire none
// for that.
func (b *build) cascadesIntoTriggers(t *catalog.Table, seen []*catalog.Table) *catalog.Table {
	if slices.Contains(seen, t) {
		return nil
	}
	seen = append(seen, t)
	_, children, _ := b.snap.Relations(t)
	for _, r := range children {
		if !catalog.Cascades(r.Key.OnDelete) && !catalog.Cascades(r.Key.OnUpdate) {
			continue
		}
		if r.Child.FiresAny() {
			return r.Child
		}
		if found := b.cascadesIntoTriggers(r.Child, seen); found != nil {
			return found
		}
	}
	return nil
}

// stageTriggers: a stage has the table's columns, so that a row is judged there before its trigger could put it right, unless the column is
// looked at late, or has its default. Of VALUES only the session knows which columns are looked at late.
func stageTriggers(n *plan.Workspace) error {
	t := n.Stage.Table
	for c := range t.Columns {
		col := &t.Columns[c]
		late := n.Stage.Query && (slices.Contains(n.Stage.Late, c) || len(n.Stage.Late) > 0 && col.HasDefault)
		if !col.Nullable && t.TriggerSets(eachEvent, c) && !late {
			return refuseTrigger(t, "an INSERT whose rows are computed by a server", "let the trigger assign columns that may be NULL, or INSERT plain values")
		}
	}
	return nil
}

// writtenTriggers: what a statement did to copies is done to the rows that differ, not to all that it found.
func writtenTriggers(n *plan.Workspace) error {
	for i := range n.Copies {
		c := &n.Copies[i]
		if c.Written == nil || !c.Table.FiresAny() {
			continue
		}
		if len(c.Written.Columns)+len(c.Written.Moved) > 0 {
			return refuseTrigger(c.Table, "an UPDATE that needs rows of several node groups", "select what it needs, then update by key")
		}
	}
	return nil
}
