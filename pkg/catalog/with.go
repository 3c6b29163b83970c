package catalog

import "maps"

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
