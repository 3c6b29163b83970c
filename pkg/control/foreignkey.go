package control

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/workspace"
)

// A foreign key whose rows lie on different node groups is added to a table with rows as a global index is: all proxies enforce
// it first; then the servers are told of it without looking at rows; then the rows that were there are looked at here.

// newKey is a foreign key that a statement adds.
type newKey struct {
	catalog.ForeignKey
	// Names are those of its columns.
	Names []string `json:"names"`
}

// newKeys notes the foreign keys of t that old has not and that servers cannot check.
func (p *planner) newKeys(o object, old, t *catalog.Table, snap *catalog.Snapshot) error {
	for i := range t.ForeignKeys {
		fk := &t.ForeignKeys[i]
		if slices.ContainsFunc(old.ForeignKeys, func(k catalog.ForeignKey) bool { return k.Name == fk.Name }) {
			continue
		}
		parent := snap.Table(fk.RefDB, fk.RefTable)
		if fk.RefDB == t.Database && fk.RefTable == t.Name {
			parent = t
		}
		if parent == nil || catalog.Together(t, fk, parent) {
			continue
		}
		if err := p.referable(fk, t, parent); err != nil {
			return err
		}
		k := newKey{ForeignKey: *fk}
		for _, c := range fk.Columns {
			k.Names = append(k.Names, t.Columns[c].Name)
		}
		p.work.Keys = append(p.work.Keys, k)
		p.work.Build = o.plain().ptr()
	}
	return nil
}

// referable is the servers' refusal of a key to columns that have no index, which they do not give while they do not look at
// foreign keys.
func (p *planner) referable(fk *catalog.ForeignKey, t, parent *catalog.Table) error {
	var columns []int
	for _, n := range fk.RefColumns {
		columns = append(columns, parent.Column(n))
	}
	keys := [][]int{parent.Primary}
	for _, x := range append(slices.Clone(parent.Unique), parent.Indexes...) {
		if !x.Partial {
			keys = append(keys, x.Columns)
		}
	}
	for _, k := range keys {
		if len(k) >= len(columns) && containsAll(columns, k[:len(columns)]) && !slices.Contains(columns, -1) {
			return nil
		}
	}
	if p.snap.Flavor == catalog.MySQL {
		return &sqlerr.Error{Code: 1822, State: "HY000", Message: fmt.Sprintf(
			"Failed to add the foreign key constraint. Missing index for constraint '%s' in the referenced table '%s'", fk.Name, parent.Name)}
	}
	return &sqlerr.Error{Code: 1005, State: "HY000", Message: fmt.Sprintf(
		"Can't create table `%s`.`%s` (errno: 150 \"Foreign key constraint is incorrectly formed\")", t.Database, t.Name)}
}

// addKeys makes the new keys keys of t, as far as t has their columns already.
func (w *work) addKeys(t *catalog.Table) {
	w.removeKeys(t)
	for _, k := range w.Keys {
		fk := k.ForeignKey
		fk.Columns = nil
		for _, n := range k.Names {
			fk.Columns = append(fk.Columns, t.Column(n))
		}
		if !slices.Contains(fk.Columns, -1) {
			t.ForeignKeys = append(t.ForeignKeys, fk)
		}
	}
}

func (w *work) removeKeys(t *catalog.Table) {
	t.ForeignKeys = slices.DeleteFunc(slices.Clone(t.ForeignKeys), func(fk catalog.ForeignKey) bool {
		return slices.ContainsFunc(w.Keys, func(k newKey) bool { return k.Name == fk.Name })
	})
}

// step runs the job's statement on a server.
func (d *ddl) step(ctx context.Context, s *server) (affected uint64, err error) {
	unchecked := len(d.job.Work.Keys) > 0
	if unchecked {
		if _, err := s.exec(ctx, "SET SESSION foreign_key_checks = 0"); err != nil {
			return 0, err
		}
	}
	affected, err = s.exec(ctx, d.job.Work.Step.SQL)
	if unchecked && err == nil {
		err = s.settings(ctx, *d.job.DDL)
	}
	return affected, err
}

// checkKeys looks for the parents of all rows that new keys speak of.
func (d *ddl) checkKeys(ctx context.Context) error {
	w := d.job.Work
	if len(w.Keys) == 0 {
		return nil
	}
	snap, err := d.leader.store.Load(ctx)
	if err != nil {
		return err
	}
	def, err := readDefinition(ctx, d.servers[0], w.Build.DB, w.Build.Name) // with columns that the statement has added
	if err != nil {
		return err
	}
	old := snap.Table(w.Build.DB, w.Build.Name)
	if def == nil || old == nil {
		return sqlerr.NoSuchTable.New(w.Build.DB, w.Build.Name)
	}
	child := def.table
	child.Kind = catalog.Sharded
	child.Distribution = nil
	for _, c := range old.Distribution {
		child.Distribution = append(child.Distribution, child.Column(old.Columns[c].Name))
	}
	if len(child.Primary) == 0 {
		def.keyless()
	}
	if slices.Contains(child.Distribution, -1) {
		return sqlerr.Unsupported("renaming columns of the distribution key together with a new foreign key", "use two statements")
	}
	if err := child.Prepare(d.snap.Flavor); err != nil {
		return err
	}
	w.addKeys(child)
	for _, k := range w.Keys {
		at := slices.IndexFunc(child.ForeignKeys, func(fk catalog.ForeignKey) bool { return fk.Name == k.Name })
		if at < 0 {
			continue
		}
		r := &catalog.Relation{Child: child, Key: &child.ForeignKeys[at], Parent: snap.Table(k.RefDB, k.RefTable)}
		if r.Parent == nil {
			continue
		}
		c := &keyCheck{indexCheck: indexCheck{snap: snap, servers: map[string]*server{}}, relation: r, known: map[string]bool{}}
		if err := c.run(ctx); err != nil {
			return err
		}
		w.Affected = c.Rows // a server that looks at the rows copies them
	}
	return d.leader.at("checked")
}

// keyCheck looks for the parents of a table's rows.
type keyCheck struct {
	indexCheck
	relation *catalog.Relation
	known    map[string]bool // values that have a parent
}

// maxKnown bounds known.
const maxKnown = 100000

func (c *keyCheck) run(ctx context.Context) error {
	defer func() {
		for _, s := range c.servers {
			s.close()
		}
	}()
	for _, g := range c.snap.Groups {
		if err := c.group(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

func (c *keyCheck) group(ctx context.Context, g *catalog.NodeGroup) error {
	t, fk := c.relation.Child, c.relation.Key
	s, err := c.on(ctx, "row ", g.ID)
	if err != nil {
		return err
	}
	var last [][]byte
	keys := len(t.Primary)
	list := selectList(t, t.Primary) + ", " + selectList(t, fk.Columns) + ", " + selectList(t, t.Distribution)
	for {
		rows, err := readRows(ctx, s, keys+len(fk.Columns)+len(t.Distribution), "SELECT "+list+" FROM "+tableOf(t)+after(t, t.Primary, last)+
			" ORDER BY "+orderBy(t, t.Primary)+fmt.Sprintf(" LIMIT %d", checkRows))
		if err != nil {
			return err
		}
		for _, r := range rows {
			if home, err := c.owner(t, r[keys+len(fk.Columns):]); err != nil || home != g.ID {
				if err != nil {
					return err
				}
				continue
			}
			c.Rows++
			if err := c.child(ctx, s, r[:keys], r[keys:keys+len(fk.Columns)]); err != nil {
				return err
			}
		}
		if len(rows) < checkRows {
			return nil
		}
		last = rows[len(rows)-1][:keys]
	}
}

// child looks for the parent of a row. One that seems to be missing is looked for again with locks.
func (c *keyCheck) child(ctx context.Context, s *server, key, vals [][]byte) error {
	if slices.ContainsFunc(vals, func(v []byte) bool { return v == nil }) {
		return nil
	}
	id := string(bytes.Join(vals, []byte{0}))
	if c.known[id] {
		return nil
	}
	t, fk := c.relation.Child, c.relation.Key
	for _, lock := range []string{"", " LOCK IN SHARE MODE"} {
		there, err := c.parent(ctx, vals, lock)
		if err != nil {
			return err
		}
		if there {
			if len(c.known) < maxKnown {
				c.known[id] = true
			}
			return nil
		}
	}
	rows, err := readRows(ctx, s, 1, "SELECT 1 FROM "+tableOf(t)+" WHERE "+equal(t, t.Primary, key)+" AND "+equal(t, fk.Columns, vals)+" LOCK IN SHARE MODE")
	if err != nil || len(rows) == 0 {
		return err
	}
	return &sqlerr.Error{Code: 1452, State: "23000", Message: "Cannot add or update a child row: a foreign key constraint fails " + c.relation.String()}
}

func (c *keyCheck) parent(ctx context.Context, vals [][]byte, lock string) (bool, error) {
	p, fk := c.relation.Parent, c.relation.Key
	columns := c.relation.ParentColumns()
	var conditions []string
	for i, n := range columns {
		conditions = append(conditions, quoteName(p.Columns[n].Name)+" = "+string(workspace.AppendKeyValue(nil, &c.relation.Child.Columns[fk.Columns[i]], vals[i])))
	}
	groups := c.snap.Map.Groups()
	var key []sqltypes.Value
	for _, d := range p.Distribution {
		if at := slices.Index(columns, d); at >= 0 {
			key = append(key, workspace.KeyValue(&c.relation.Child.Columns[fk.Columns[at]], vals[at]))
		}
	}
	if len(key) == len(p.Distribution) {
		switch part, _, match := p.Key.Partition(nil, key, placement.Compare); match {
		case placement.Exact:
			groups = []placement.NodeGroupID{c.snap.Map.Owner(part)}
		case placement.None:
			return false, nil
		}
	}
	for _, g := range groups {
		s, err := c.on(ctx, "parent ", g)
		if err != nil {
			return false, err
		}
		rows, err := readRows(ctx, s, 1, "SELECT 1 FROM "+tableOf(p)+" WHERE "+strings.Join(conditions, " AND ")+" LIMIT 1"+lock)
		if err != nil || len(rows) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}
