package planner

import (
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlparse"
)

// opened are tables, and what is read where they are: in place of views what these read, and what stored functions read that views call. Views
// that cannot be read so are refused by whoever copies them.
func (b *build) opened(tables []*catalog.Table) (open []*catalog.Table) {
	for _, t := range tables {
		open = b.open(open, t)
	}
	return open
}

// open adds to open what t is, unless it is there.
func (b *build) open(open []*catalog.Table, t *catalog.Table) []*catalog.Table {
	if t == nil || slices.Contains(open, t) {
		return open
	}
	open = append(open, t)
	if t.Kind != catalog.View {
		return open
	}
	st := b.st.Dialect().NewStatement()
	defer st.Done()
	if st.Scan([]byte(t.ViewText), 0) != nil {
		return open
	}
	refs, _ := st.Tables()
	for _, r := range refs {
		if read, ok, err := b.copyable(r, t.Database); ok && err == nil {
			open = b.open(open, read)
		}
	}
	for _, r := range b.called(st, t.Database) {
		open = b.open(open, r)
	}
	return open
}

// called are the tables that stored functions read which st calls, as often as they do. db is its default database.
func (b *build) called(st *sqlparse.Statement, db string) (reads []*catalog.Table) {
	for _, r := range b.snap.ReadBy(b.functions(st, db)...) {
		if t := b.snap.Table(r.Database, r.Name); t != nil { // else it was an error before
			reads = append(reads, t)
		}
	}
	return reads
}
