package catalog

import "slices"

// Basis is the catalog that a statement was planned by, and what of it matters to the statement. It never changes.
type Basis struct {
	Snapshot *Snapshot
	// Tables are those that the statement names, views and what is behind them included, and those its functions read.
	Tables []*Table
	// Writes: it changes rows, which those of other tables may follow by foreign keys, or keep from being changed.
	Writes bool
	// Calls: it calls stored functions.
	Calls bool
}

// ReachesFulltext reports whether the statement may change rows of a table with FULLTEXT keys: of one that it names, or of one that follows such by
// foreign keys.
func (b *Basis) ReachesFulltext() bool {
	tables := slices.Clone(b.Tables)
	for i := 0; i < len(tables); i++ {
		if tables[i].HasFulltext() {
			return true
		}
		for _, r := range b.Snapshot.children(tables[i]) {
			if !slices.Contains(tables, r.Child) {
				tables = append(tables, r.Child)
			}
		}
	}
	return false
}

// How Concern names what is no table.
const (
	Anything = "*"  // all tables; Concern itself never says so
	Routines = "()" // stored programs
)

// String is the name as DB.NAME.
func (n TableName) String() string { return n.Database + "." + n.Name }

func (t *Table) tableName() TableName { return TableName{t.Database, t.Name} }

// Changes is what a newer snapshot has changed of the schema of an older one. It belongs to one goroutine.
type Changes struct {
	old, now *Snapshot
	// keys are, by name, the tables that foreign keys tie to a table, in either snapshot; nil until they are asked for.
	keys map[TableName][]TableName
}

// Since compares s with an older snapshot of the same cluster.
func (s *Snapshot) Since(old *Snapshot) *Changes { return &Changes{old: old, now: s} }

// Concern appends to out the names of what a statement with the given basis, which is the older snapshot's, stands on and that is
// another now. Nothing is appended if the statement may run as it was planned.
func (c *Changes) Concern(b *Basis, out []string) []string {
	if c.now.SchemaRevision == c.old.SchemaRevision {
		return out
	}
	if b.Calls && c.routines() {
		out = append(out, Routines)
	}
	add := func(n TableName) {
		if name := n.String(); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, t := range b.Tables {
		if c.now.Table(t.Database, t.Name) != t {
			add(t.tableName())
		}
	}
	if !b.Writes {
		return out
	}
	if c.keys == nil {
		c.tie()
	}
	if len(c.keys) == 0 {
		return out
	}
	var tied []TableName
	for _, t := range b.Tables {
		tied = append(tied, t.tableName())
	}
	for i := 0; i < len(tied); i++ {
		for _, n := range c.keys[tied[i]] {
			if slices.Contains(tied, n) {
				continue
			}
			if tied = append(tied, n); c.now.Table(n.Database, n.Name) != c.old.Table(n.Database, n.Name) {
				add(n)
			}
		}
	}
	return out
}

// tie fills in keys.
func (c *Changes) tie() {
	c.keys = map[TableName][]TableName{}
	for _, s := range []*Snapshot{c.old, c.now} {
		for _, d := range s.Databases {
			for _, t := range d.Tables {
				for i := range t.ForeignKeys {
					child, parent := t.tableName(), TableName{t.ForeignKeys[i].RefDB, t.ForeignKeys[i].RefTable}
					c.keys[child] = append(c.keys[child], parent)
					c.keys[parent] = append(c.keys[parent], child)
				}
			}
		}
	}
}

// routines reports whether there are other stored programs.
func (c *Changes) routines() bool {
	for key, r := range c.old.Routines {
		if c.now.Routines[key] != r {
			return true
		}
	}
	return len(c.now.Routines) != len(c.old.Routines)
}
