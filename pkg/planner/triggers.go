package planner

import (
	"fmt"
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
		switch keys, refuse := writtenTriggers(n); {
		case refuse == nil || b.changeByRow(keys):
		case b.plan.Relay != nil: // one write, where all its rows are
			b.plan.Root, b.plan.Refuse = nil, refuse
		default:
			return refuse
		}
	}
	return nil
}

func refuseTrigger(t *catalog.Table, what, how string) *sqlerr.Error {
	return sqlerr.Unsupported(what+" of table '"+t.Name+"', which has triggers", how)
}

const eachEvent = "INSERT"

func (b *build) insertTriggers(n *plan.InsertRows) error {
	t := n.Table
	if n.Indexed != nil && n.Indexed.Own && (n.Update || b.plan.Kind == plan.Replace) {
		changes := func(c int) bool { return t.Columns[c].Generated || b.ins.changes(c) }
		if err := refuseCascades((&followers{snap: b.snap}).fires(t, !n.Update, changes)); err != nil {
			return err
		}
	}
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
	if !n.Own {
		return nil
	}
	in := b.mod.scope.insts[0]
	return refuseCascades((&followers{snap: b.snap}).fires(t, n.Delete, func(c int) bool { return t.Columns[c].Generated || b.mod.changes(b, in, c) }))
}

// followers looks for a table with triggers that servers would fire for what a foreign key does to its rows, which Skarv does by statements:
// InnoDB fires none for its cascades.
type followers struct {
	snap *catalog.Snapshot
	seen []following
}

// following is what is done to rows of a table: they are deleted, or the columns are changed.
type following struct {
	table   *catalog.Table
	deletes bool
	columns string // of columns
}

// fires finds such a table below t, whose rows are deleted, or changed in the columns of which changes says so.
func (c *followers) fires(t *catalog.Table, deletes bool, changes func(column int) bool) *catalog.Table {
	_, children, _ := c.snap.Relations(t)
	for i := range children {
		r := &children[i]
		rule := r.Key.OnUpdate
		if deletes {
			rule = r.Key.OnDelete
		}
		if !catalog.Cascades(rule) || !deletes && !slices.ContainsFunc(r.ParentColumns(), changes) {
			continue
		}
		below := following{table: r.Child, deletes: deletes && rule == "CASCADE"}
		if !below.deletes {
			below.columns = fmt.Sprint(r.Key.Columns)
		}
		if slices.Contains(c.seen, below) {
			continue
		}
		c.seen = append(c.seen, below)
		changed := func(column int) bool {
			col := &r.Child.Columns[column]
			return slices.Contains(r.Key.Columns, column) || col.Generated || col.SetByServer()
		}
		switch {
		case below.deletes && r.Child.Fires("DELETE"), !below.deletes && r.Child.Fires("UPDATE"),
			!below.deletes && r.Child.FiresAny() && slices.ContainsFunc(r.Child.Distribution, changed): // it moves: it is deleted and inserted
			return r.Child
		}
		if found := c.fires(r.Child, below.deletes, changed); found != nil {
			return found
		}
	}
	return nil
}

// refuseCascades refuses what c.fires has found.
func refuseCascades(child *catalog.Table) error {
	if child == nil {
		return nil
	}
	return refuseTrigger(child, "a foreign key over several node groups with CASCADE or SET NULL", "delete or change its rows first")
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

// writtenTriggers: what an UPDATE did to copies is done to the rows that differ, not to all that it found, and those that move are deleted and
// inserted. keys: keys change.
func writtenTriggers(n *plan.Workspace) (keys bool, refuse *sqlerr.Error) {
	for i := range n.Copies {
		c := &n.Copies[i]
		if c.Written == nil {
			continue
		}
		if len(c.Written.Columns) > 0 && c.Table.Fires("UPDATE") || len(c.Written.Moved) > 0 && c.Table.FiresAny() {
			return len(c.Written.Moved) > 0, refuseTrigger(c.Table, "an UPDATE that needs rows of several node groups", "select what it needs, then update by key")
		}
	}
	return false, nil
}
