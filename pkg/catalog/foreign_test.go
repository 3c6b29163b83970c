package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// table makes a table with an integer column of every name, the first one its primary and distribution key.
func table(name string, kind TableKind, columns ...string) *Table {
	t := &Table{Database: "d", Name: name, Kind: kind, AutoIncrement: -1, Primary: []int{0}}
	for _, c := range columns {
		t.Columns = append(t.Columns, Column{Name: c, DataType: "int", ColumnType: "int(11)"})
	}
	if kind == Sharded {
		t.Distribution = []int{0}
	}
	return t
}

func refers(t *Table, column int, to, rule string) {
	t.ForeignKeys = append(t.ForeignKeys, ForeignKey{Name: "fk_" + t.Name + "_" + to, Columns: []int{column}, RefDB: "d", RefTable: to,
		RefColumns: []string{"id"}, OnDelete: rule, OnUpdate: "RESTRICT"})
}

func snapshot(tables ...*Table) *Snapshot {
	d := &Database{Name: "d", Tables: map[string]*Table{}}
	for _, t := range tables {
		d.Tables[t.Name] = t
	}
	return &Snapshot{Databases: map[string]*Database{"d": d}}
}

// Authors are beside a copy of their country, but books are not beside their author: a server that deletes authors with their
// country does not see the books.
func TestKeysBelowCascades(t *testing.T) {
	for _, test := range []struct {
		onCountry, onAuthor string
		country, author     bool // Skarv's to enforce
	}{
		{"CASCADE", "RESTRICT", true, true},
		{"SET NULL", "CASCADE", true, true},
		{"RESTRICT", "CASCADE", false, true}, // no author goes with a country
	} {
		country, author, book := table("country", Reference, "id"), table("author", Sharded, "id", "country"), table("book", Sharded, "id", "author")
		refers(author, 1, "country", test.onCountry)
		refers(book, 1, "author", test.onAuthor)
		s := snapshot(country, author, book)
		for t1, want := range map[*Table]bool{country: test.country, author: test.author, book: true} {
			_, _, own := s.Relations(t1)
			require.Equal(t, want, own, "%s of %+v", t1.Name, test)
		}
	}
	t.Run("further down", func(t *testing.T) {
		country, town, house, guest := table("country", Reference, "id"), table("town", Reference, "id", "country"), table("house", Sharded, "id", "town"), table("guest", Sharded, "id", "house")
		refers(town, 1, "country", "CASCADE")
		refers(house, 1, "town", "CASCADE")
		s := snapshot(country, town, house, guest)
		_, _, own := s.Relations(country)
		require.False(t, own)
		refers(guest, 1, "house", "RESTRICT")
		_, _, own = s.Relations(country)
		require.True(t, own)
	})
	t.Run("a circle ends", func(t *testing.T) {
		a, b := table("a", Reference, "id", "other"), table("b", Reference, "id", "other")
		refers(a, 1, "b", "CASCADE")
		refers(b, 1, "a", "CASCADE")
		_, _, own := snapshot(a, b).Relations(a)
		require.False(t, own)
	})
}

// A row whose distribution key becomes NULL belongs elsewhere.
func TestSetNullIsApart(t *testing.T) {
	for rule, together := range map[string]bool{"CASCADE": true, "RESTRICT": true, "SET NULL": false} {
		author, book := table("author", Sharded, "id"), table("book", Sharded, "author")
		refers(book, 0, "author", rule)
		require.Equal(t, together, Together(book, &book.ForeignKeys[0], author), rule)
	}
}
