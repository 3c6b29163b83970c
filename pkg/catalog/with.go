package catalog

import (
	"maps"
	"slices"
	"strings"
)

// With returns a copy of s in which the tables gone are not there, and those of put are, in the place of any that have their names. A
// database that s has not got gets no tables.
func (s *Snapshot) With(gone, put []*Table) *Snapshot {
	out := *s
	out.Databases = make(map[string]*Database, len(s.Databases))
	for name, d := range s.Databases {
		fresh := *d
		if fresh.Tables = maps.Clone(d.Tables); fresh.Tables == nil {
			fresh.Tables = map[string]*Table{}
		}
		out.Databases[name] = &fresh
	}
	for _, t := range gone {
		if d := out.Databases[t.Database]; d != nil {
			delete(d.Tables, t.Name)
		}
	}
	for _, t := range put {
		if d := out.Databases[t.Database]; d != nil {
			d.Tables[t.Name] = t
		}
	}
	return &out
}

// Renamed returns a copy of t with another name.
func (t *Table) Renamed(db, name string) *Table {
	fresh := *t
	fresh.Database, fresh.Name = db, name
	return &fresh
}

// Referring returns a copy of s in which foreign keys of other tables to a table name its columns as they are called now: renamed are
// the new names by the lower-case old ones.
func (s *Snapshot) Referring(db, table string, renamed map[string]string) *Snapshot {
	if len(renamed) == 0 {
		return s
	}
	var put []*Table
	for _, d := range s.Databases {
		for _, child := range d.Tables {
			fresh := *child
			fresh.ForeignKeys = slices.Clone(child.ForeignKeys)
			changed := false
			for i := range fresh.ForeignKeys {
				fk := &fresh.ForeignKeys[i]
				if fk.RefDB != db || fk.RefTable != table || child.Database == db && child.Name == table {
					continue
				}
				fk.RefColumns = slices.Clone(fk.RefColumns)
				for at, name := range fk.RefColumns {
					if to, ok := renamed[strings.ToLower(name)]; ok {
						fk.RefColumns[at], changed = to, true
					}
				}
			}
			if changed {
				put = append(put, &fresh)
			}
		}
	}
	if len(put) == 0 {
		return s
	}
	return s.With(nil, put)
}
