// Package temporary is the temporary tables of one session: what servers show of their definitions, and the catalog as the session sees it, in which
// they hide tables of the same names. It neither makes nor drops them, and does not know where they are.
package temporary

import (
	"maps"

	"skarv/pkg/catalog"
)

// Tables are those of a session, by database and name as the catalog spells them. The zero value has none. It is not for concurrent use; what Over
// returns is.
type Tables struct {
	byName map[string]map[string]*catalog.Table

	base, shown *catalog.Snapshot // shown is base with the tables; base is nil when they have changed
}

// Table is the temporary table of a name, nil if there is none.
func (t *Tables) Table(db, name string) *catalog.Table { return t.byName[db][name] }

// In reports whether there are any in a database.
func (t *Tables) In(db string) bool { return len(t.byName[db]) > 0 }

// Put adds a table, in the place of one of its name.
func (t *Tables) Put(table *catalog.Table) {
	if t.byName == nil {
		t.byName = map[string]map[string]*catalog.Table{}
	}
	if t.byName[table.Database] == nil {
		t.byName[table.Database] = map[string]*catalog.Table{}
	}
	t.byName[table.Database][table.Name] = table
	t.base = nil
}

// Drop takes a table away, if there is one of that name.
func (t *Tables) Drop(db, name string) {
	delete(t.byName[db], name)
	t.base = nil
}

// Empty reports whether there are none.
func (t *Tables) Empty() bool {
	for _, tables := range t.byName {
		if len(tables) > 0 {
			return false
		}
	}
	return true
}

// Over is base with the tables in their databases; it is the same snapshot until base or the tables change.
func (t *Tables) Over(base *catalog.Snapshot) *catalog.Snapshot {
	if t.base == base {
		return t.shown
	}
	shown := *base
	shown.Databases = maps.Clone(base.Databases)
	for db, tables := range t.byName {
		if was := base.Databases[db]; was != nil {
			fresh := *was
			fresh.Tables = maps.Clone(was.Tables)
			if fresh.Tables == nil {
				fresh.Tables = map[string]*catalog.Table{}
			}
			maps.Copy(fresh.Tables, tables)
			shown.Databases[db] = &fresh
		}
	}
	t.base, t.shown = base, &shown
	return t.shown
}
