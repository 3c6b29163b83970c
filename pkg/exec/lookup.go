package exec

import (
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqltypes"
	"skarv/pkg/workspace"
)

// lookup finds the group of a ByIndex target by the index's entry. It reads the entry and the row one after the other: a row
// that gets another distribution key in between is not found, as when its new place is read before its transaction has
// reached it, and its old one after. A transaction sees a row that it has written beside its snapshot, whose entry does not lead
// there: so the groups on which it has written are asked, too.
func (r *Runner) lookup(t *plan.Target, snap *catalog.Snapshot, a *Arguments, lock bool) ([]placement.NodeGroupID, error) {
	groups, sql, err := r.entryQuery(t, snap, a, lock)
	if err != nil || sql == nil {
		return groups, err
	}
	if err := r.Conns.Enter(&r.Router.Touched, lock); err != nil {
		return nil, err
	}
	r.groups = append(r.groups[:0], groups...)
	var res rowsOf
	if err = r.acquire(lock); err == nil {
		res, err = r.rowsFrom(&r.streams[0], sql)
	}
	r.finish(err)
	if err != nil {
		return nil, err
	}
	groups, err = r.entryGroup(t.Index, snap, res)
	if err != nil || lock {
		return groups, err
	}
	for _, g := range r.Conns.Written() {
		if !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	slices.Sort(groups)
	return groups, nil
}

// entryQuery is the query for the entry of a ByIndex target, and the group that has it. Without a query the groups are those of
// the target: the value does not tell where its entry would be.
func (r *Runner) entryQuery(t *plan.Target, snap *catalog.Snapshot, a *Arguments, lock bool) ([]placement.NodeGroupID, []byte, error) {
	e := t.Index.Entries
	groups, exact, err := r.Router.Route(&plan.Target{Kind: plan.ByKey, Table: e, Key: t.Key}, snap, a, nil)
	// An entry that the transaction has written itself does not lead to the row of the snapshot that had the value before.
	if r.Locked || err == nil && !lock && len(groups) == 1 && slices.Contains(r.Conns.Written(), groups[0]) {
		r.Router.Touched.All = true
		groups, err := ownersOf(snap, nil)
		return groups, nil, err
	}
	if err != nil || !exact || len(groups) != 1 {
		return groups, nil, err
	}
	sql := []byte("SELECT ")
	for i := len(e.Primary); i < len(e.Columns); i++ {
		if i > len(e.Primary) {
			sql = append(sql, ", "...)
		}
		sql = append(sql, workspace.ReadKey(&e.Columns[i])...)
	}
	sql = append(append(append(sql, " FROM "...), tableName(e)...), " WHERE "...)
	for i, o := range t.Key {
		if i > 0 {
			sql = append(sql, " AND "...)
		}
		sql = append(appendName(sql, e.Columns[i].Name), " = "...)
		if o.Arg >= 0 {
			sql = a.AppendArg(sql, o.Arg)
		} else {
			sql = a.appendLiteral(sql, o.Const, false)
		}
	}
	sql = append(sql, " LIMIT 1"...) // whatever sql_select_limit says
	if lock {
		sql = append(sql, " FOR UPDATE"...)
	}
	return groups, sql, nil
}

// entryGroup is the group that an entry leads to; any, if there is none.
func (r *Runner) entryGroup(x *catalog.GlobalIndex, snap *catalog.Snapshot, res rowsOf) ([]placement.NodeGroupID, error) {
	if len(res.rows) == 0 {
		g, err := r.Router.home(snap)
		return []placement.NodeGroupID{g}, err
	}
	var vals []sqltypes.Value
	for i, d := range x.Table.Distribution {
		vals = append(vals, workspace.KeyValue(&x.Table.Columns[d], res.rows[0][i]))
	}
	g, err := r.ownerOf(snap, x.Table, vals, placement.Stored)
	return []placement.NodeGroupID{g}, err
}

// route finds the groups of a target. An entry that is read stays locked: its row stays where it is.
func (w *rowWriter) route(t *plan.Target) ([]placement.NodeGroupID, error) {
	if t.Kind != plan.ByIndex {
		groups, _, err := w.Router.Route(t, w.snap, w.args, nil)
		return groups, err
	}
	groups, sql, err := w.entryQuery(t, w.snap, w.args, true)
	if err != nil || sql == nil {
		return groups, err
	}
	res, err := w.query(groups[0], sql)
	if err != nil {
		return nil, err
	}
	groups, err = w.entryGroup(t.Index, w.snap, res)
	return slices.Clip(groups), err
}
