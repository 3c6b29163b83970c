package audit

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/workspace"
)

// ForeignKeyCheck looks for the parents of a table's rows, while it is used. The first row without one is a server's error 1452.
type ForeignKeyCheck struct {
	Snap     *catalog.Snapshot
	Servers  schema.Dialer
	Relation *catalog.Relation

	Rows uint64 // how many there were

	known map[string]bool // values that have a parent
	connections
}

// maxKnown bounds known.
const maxKnown = 100000

// Run looks at all rows. It may be called once.
func (c *ForeignKeyCheck) Run(ctx context.Context) error {
	c.connections, c.known = connections{snap: c.Snap, dialer: c.Servers}, map[string]bool{}
	defer c.close()
	for _, g := range c.Snap.Groups {
		if err := c.group(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

func (c *ForeignKeyCheck) group(ctx context.Context, g *catalog.NodeGroup) error {
	t, fk := c.Relation.Child, c.Relation.Key
	s, err := c.on(ctx, "row ", g.ID)
	if err != nil {
		return err
	}
	var last [][]byte
	keys := len(t.Primary)
	list := selectList(t, t.Primary) + ", " + selectList(t, fk.Columns) + ", " + selectList(t, t.Distribution)
	for {
		rows, err := s.Values(ctx, keys+len(fk.Columns)+len(t.Distribution), "SELECT "+list+" FROM "+t.SQL()+after(t, t.Primary, last)+
			" ORDER BY "+t.ColumnList(t.Primary)+fmt.Sprintf(" LIMIT %d", checkRows))
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
func (c *ForeignKeyCheck) child(ctx context.Context, s *schema.Server, key, vals [][]byte) error {
	if slices.ContainsFunc(vals, func(v []byte) bool { return v == nil }) {
		return nil
	}
	id := string(bytes.Join(vals, []byte{0}))
	if c.known[id] {
		return nil
	}
	t, fk := c.Relation.Child, c.Relation.Key
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
	rows, err := s.Values(ctx, 1, "SELECT 1 FROM "+t.SQL()+" WHERE "+equal(t, t.Primary, key)+" AND "+equal(t, fk.Columns, vals)+" LOCK IN SHARE MODE")
	if err != nil || len(rows) == 0 {
		return err
	}
	return sqlerr.NoReferencedRow.New(c.Relation.String())
}

func (c *ForeignKeyCheck) parent(ctx context.Context, vals [][]byte, lock string) (bool, error) {
	p, fk := c.Relation.Parent, c.Relation.Key
	columns := c.Relation.ParentColumns()
	var conditions []string
	for i, n := range columns {
		conditions = append(conditions, sqltypes.QuoteName(p.Columns[n].Name)+" = "+string(workspace.AppendKeyValue(nil, &c.Relation.Child.Columns[fk.Columns[i]], vals[i])))
	}
	groups := c.Snap.Map.Groups()
	if p.Kind == catalog.Reference {
		groups = groups[:1]
	}
	var key []sqltypes.Value
	for _, d := range p.Distribution {
		if at := slices.Index(columns, d); at >= 0 {
			key = append(key, workspace.KeyValue(&c.Relation.Child.Columns[fk.Columns[at]], vals[at]))
		}
	}
	if p.Kind == catalog.Sharded && len(key) == len(p.Distribution) {
		switch part, _, match := p.Key.Partition(nil, key, placement.Compare); match {
		case placement.Exact:
			groups = []placement.NodeGroupID{c.Snap.Map.Owner(part)}
		case placement.None:
			return false, nil
		}
	}
	for _, g := range groups {
		s, err := c.on(ctx, "parent ", g)
		if err != nil {
			return false, err
		}
		rows, err := s.Values(ctx, 1, "SELECT 1 FROM "+p.SQL()+" WHERE "+strings.Join(conditions, " AND ")+" LIMIT 1"+lock)
		if err != nil || len(rows) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}
