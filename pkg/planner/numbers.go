package planner

import (
	"regexp"

	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// numbersName is what tables of MariaDB's SEQUENCE engine are called. They exist as soon as a statement names them, in every
// database, and hold the numbers that their name says.
var numbersName = regexp.MustCompile(`^seq_[0-9]+_to_[0-9]+(_step_[0-9]+)?$`)

// numbers returns the table of that engine with a name, nil if there is none. It is the same on every server: a reference
// table that nobody can write to. One statement gets one *Table for it.
func (b *build) numbers(db, name string) *catalog.Table {
	if b.snap.Flavor != catalog.MariaDB || b.snap.Databases[db] == nil || !numbersName.MatchString(name) {
		return nil
	}
	at := [2]string{db, name}
	t := b.generated[at]
	if t == nil {
		t = &catalog.Table{Database: db, Name: name, Kind: catalog.Reference, AutoIncrement: -1, Primary: []int{0},
			Columns: []catalog.Column{{Name: "seq", DataType: "bigint", ColumnType: "bigint(20) unsigned", Type: sqltypes.TypeLongLong, Unsigned: true}}}
		if b.generated == nil {
			b.generated = map[[2]string]*catalog.Table{}
		}
		b.generated[at] = t
	}
	return t
}
