package catalog

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// GlobalIndex is what makes a UNIQUE key without the distribution key unique in the whole cluster: a sharded table, of no
// client's, with a row for every row of Table that has no NULL in the key. Its primary key is the unique key's value, in columns of the
// same types, so that what the servers hold for equal is equal here; its distribution key are those of these columns that can be hashed;
// the other columns are the row's distribution key, which tells where it lies. A TIMESTAMP is there as seconds since 1970, which mean the
// same in all time zones.
type GlobalIndex struct {
	ID    uint64
	Table *Table
	Name  string // of the unique key
	// Columns are those of the unique key in Table, as Table.At has them, and Lengths how much it holds of each, as of an Index.
	Columns []int
	Lengths []int
	// Entries is the index's own table: Columns first, then Table's distribution key.
	Entries *Table
	// Building: rows that were there before the index may have no entry yet. It is maintained and not read.
	Building bool
}

// EntriesPrefix is what the names of indexes' tables begin with.
const EntriesPrefix = "uq_"

// EntriesName is the name of an index's table in OwnDB.
func EntriesName(id uint64) string { return EntriesPrefix + strconv.FormatUint(id, 10) }

// prepareGlobal fills Global.
func (t *Table) prepareGlobal(flavor Flavor) error {
	t.Global = nil
	for _, list := range []struct {
		of       []Index
		building bool
	}{{t.Unique, false}, {t.Building, true}} {
		for _, x := range list.of {
			if x.Global == 0 {
				continue
			}
			g := &GlobalIndex{ID: x.Global, Table: t, Name: x.Name, Columns: x.Columns, Lengths: x.Lengths, Building: list.building}
			if x.Expressions != nil {
				t.hide(g, &x)
			}
			g.Entries = t.entries(x, flavor)
			if err := g.Entries.Prepare(flavor); err != nil {
				return err
			}
			t.Global = append(t.Global, g)
		}
	}
	return nil
}

// hide gives g the columns of key x, which is over expressions.
func (t *Table) hide(g *GlobalIndex, x *Index) {
	g.Columns, g.Lengths = nil, nil
	for i := range x.Parts() {
		at, e := x.part(i)
		if e == nil {
			g.Columns, g.Lengths = append(g.Columns, x.Columns[at]), append(g.Lengths, x.Length(at))
			continue
		}
		g.Columns, g.Lengths = append(g.Columns, len(t.Columns)+len(t.hidden)), append(g.Lengths, 0)
		t.hidden = append(t.hidden, *e)
	}
}

// entries is the table of an index's entries.
func (t *Table) entries(x Index, flavor Flavor) *Table {
	e := &Table{Database: OwnDB, Name: EntriesName(x.Global), Kind: Sharded, AutoIncrement: -1, ID: x.Global,
		Charset: t.Charset, Collation: t.Collation}
	for i := range x.Parts() {
		e.Columns = append(e.Columns, t.EntryColumn(x, i))
		e.Primary = append(e.Primary, i)
		if t.Places(x, i, flavor) == nil {
			e.Distribution = append(e.Distribution, i)
		}
	}
	for i, c := range t.Distribution {
		e.Columns = append(e.Columns, entryColumn(t.Columns[c], 0, "k"+strconv.Itoa(i)))
	}
	return e
}

// EntryColumn is the column that entries of key x of t have for its i-th part.
func (t *Table) EntryColumn(x Index, i int) Column {
	c, length := t.Part(x, i)
	return entryColumn(*c, length, "u"+strconv.Itoa(i))
}

// Places is why entries of key x of t cannot be placed by its i-th part, nil if they can.
func (t *Table) Places(x Index, i int, flavor Flavor) error {
	c, length := t.Part(x, i)
	if length > 0 {
		entry := t.EntryColumn(x, i)
		c = &entry
	}
	_, err := c.Key(flavor)
	return err
}

// entryColumn is the column of an index's table for what it holds of c.
func entryColumn(c Column, length int, name string) Column {
	if length > 0 {
		switch {
		case strings.HasSuffix(c.DataType, "text"):
			c.DataType, c.Type = "varchar", sqltypes.TypeVarString
		case strings.HasSuffix(c.DataType, "blob"):
			c.DataType, c.Type = "varbinary", sqltypes.TypeVarString
		}
		c.Length, c.ColumnType = int64(length), c.DataType+"("+strconv.Itoa(length)+")"
	}
	c.Name, c.Nullable, c.HasDefault, c.Default, c.ComputedDefault, c.OnUpdate, c.Invisible, c.Generated, c.Expression = name, false, false, "", false, false, false, false, ""
	if c.DataType == "timestamp" {
		c.DataType, c.ColumnType, c.Type, c.Precision, c.Scale = "decimal", "decimal(16,6)", sqltypes.TypeNewDecimal, 16, 6
	}
	return c
}

// Held is what an entry has of a row's value in the i-th of Columns, as workspace.ReadKey reads it: what the unique key holds of it.
func (g *GlobalIndex) Held(i int, v []byte) []byte {
	return Held(g.Table.At(g.Columns[i]), lengthAt(g.Lengths, i), v)
}

// Unit is what an entry has of a row's values in Columns, all of them: see Held.
func (g *GlobalIndex) Unit(values [][]byte) [][]byte {
	out := make([][]byte, len(values))
	for i, v := range values {
		out[i] = g.Held(i, v)
	}
	return out
}

// Length is how much an entry holds of a row's value in the i-th of Columns, 0 for all of it.
func (g *GlobalIndex) Length(i int) int { return lengthAt(g.Lengths, i) }

// Held is what a key over the first length characters, or bytes, of column c holds of a value, which is in utf8mb4; 0: all of it.
func Held(c *Column, length int, v []byte) []byte {
	if length == 0 || len(v) <= length && c.DataType != "char" {
		return v
	}
	switch c.DataType {
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return v[:min(length, len(v))]
	}
	end := 0
	for n := 0; n < length && end < len(v); n++ {
		_, size := utf8.DecodeRune(v[end:])
		end += size
	}
	for c.DataType == "char" && end > 0 && v[end-1] == ' ' {
		end--
	}
	return v[:end]
}

// PlacedByAll reports whether entries are placed by all columns of the key.
func (g *GlobalIndex) PlacedByAll() bool { return len(g.Entries.Distribution) == len(g.Columns) }

// NeedsGlobal reports whether unique key x can only be kept by a global index: rows with equal values may lie on
// different node groups.
func (t *Table) NeedsGlobal(x Index) bool {
	if t.Kind != Sharded {
		return false
	}
	whole := x.Whole()
	for _, d := range t.Distribution {
		if !slices.Contains(whole, d) {
			return true
		}
	}
	return false
}

// Compare orders tables by their databases and names.
func (t *Table) Compare(u *Table) int {
	return cmp.Or(strings.Compare(t.Database, u.Database), strings.Compare(t.Name, u.Name))
}

// Duplicate makes a server's refusal of a second entry what it would have said of the unique key itself. local is the text of a moment, in seconds since
// 1970, as a TIMESTAMP shows it.
func (g *GlobalIndex) Duplicate(e *sqlerr.Error, flavor Flavor, local func(seconds string) string) *sqlerr.Error {
	if e.Code != sqlerr.DuplicateEntry {
		return e
	}
	at := strings.LastIndex(e.Message, " for key '")
	if at < 0 {
		return e
	}
	name := g.Name
	if flavor == MySQL {
		name = g.Table.Name + "." + name
	}
	return &sqlerr.Error{Code: e.Code, State: e.State, Message: g.localTimes(e.Message[:at], local) + " for key '" + name + "'"}
}

// localTimes makes the moments in the text of an entry's value what TIMESTAMP columns show.
func (g *GlobalIndex) localTimes(text string, local func(seconds string) string) string {
	var scales []int
	for _, c := range g.Columns {
		if col := g.Table.At(c); col.DataType == "timestamp" {
			scales = append(scales, col.Scale)
		}
	}
	return entryMoment.ReplaceAllStringFunc(text, func(m string) string {
		if len(scales) == 0 {
			return m
		}
		whole, fraction, _ := strings.Cut(m[1:], ".")
		if scales[0] > 0 {
			whole += "." + fraction[:scales[0]]
		}
		scales = scales[1:]
		return m[:1] + local(whole)
	})
}

// entryMoment finds a moment among the values of an entry, as a server's refusal has them.
var entryMoment = regexp.MustCompile(`['-]\d{1,10}\.\d{6}`)
