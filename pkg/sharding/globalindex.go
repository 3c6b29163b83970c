package sharding

import (
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

// globalIndexes gives each unique key of t that needs one its global index: that of the table's former self if the key is
// the same, or a new one of Origin.Global, or the number 0, which the caller replaces.
func (p *placing) globalIndexes(t *catalog.Table) error {
	old := p.old()
	for i := range t.Unique {
		x := &t.Unique[i]
		if containsAll(p.def.Full[x.Name], t.Distribution) {
			continue // the servers enforce it
		}
		if p.unsaid && t.Computed(*x) { // on one server such a table can do more
			if x.Expression() {
				return cannotIndex(x, "of an expression")
			}
			return cannotIndex(x, "of a generated column")
		}
		if why := p.def.Unknown[x.Name]; why != "" {
			return cannotIndex(x, why)
		}
		if err := indexable(t, *x, p.snap.Flavor); err != nil {
			return err
		}
		if id, fresh := p.from.Global[x.Name]; fresh {
			x.Global = id
			continue
		}
		if old != nil && !p.from.Rebuilt { // else entries lead elsewhere
			x.Global = sameIndex(old, t, *x)
		}
	}
	return nil
}

func containsAll(set, of []int) bool {
	for _, c := range of {
		if !slices.Contains(set, c) {
			return false
		}
	}
	return true
}

// sameIndex is the id of the global index of old that keeps key x of t as well, or 0.
func sameIndex(old, t *catalog.Table, x catalog.Index) uint64 {
	for _, o := range old.Unique {
		if o.Global == 0 || o.Parts() != x.Parts() {
			continue
		}
		same := true
		for i := range x.Parts() {
			was, had := old.Part(o, i)
			is, has := t.Part(x, i)
			same = same && had == has && was.Expression == is.Expression && (!was.Nullable || is.Nullable)
			from, to := *was, *is
			if has > 0 {
				from, to = old.EntryColumn(o, i), t.EntryColumn(x, i)
			}
			same = same && KeepsEntries(&from, &to)
		}
		for i, d := range t.Distribution {
			same = same && SameEntries(&old.Columns[old.Distribution[i]], &t.Columns[d])
		}
		if same && strings.EqualFold(o.Name, x.Name) {
			return o.Global
		}
	}
	return 0
}

// KeepsEntries reports whether the entries of values of column a, as they are, are those of the same values of column b once
// their column has b's type: it only holds more than a.
func KeepsEntries(a, b *catalog.Column) bool {
	if a.Nullable && !b.Nullable || a.Charset != b.Charset || a.Collation != b.Collation {
		return false
	}
	if a.ColumnType == b.ColumnType {
		return true
	}
	whole := []string{"tinyint", "smallint", "mediumint", "int", "bigint"}
	switch from, to := slices.Index(whole, a.DataType), slices.Index(whole, b.DataType); {
	case from >= 0 && to >= from:
		return a.Unsigned == b.Unsigned && !strings.Contains(a.ColumnType+b.ColumnType, "zerofill")
	case a.DataType == b.DataType && (a.DataType == "varchar" || a.DataType == "varbinary"):
		return a.Length < b.Length
	}
	return false
}

// SameEntries reports whether a column of an index's table serves for both: the column may have got another name.
func SameEntries(a, b *catalog.Column) bool {
	return a.ColumnType == b.ColumnType && a.Collation == b.Collation && a.Nullable == b.Nullable
}

// cannotIndex is the refusal of a key that can have no global index.
func cannotIndex(x *catalog.Index, why string) error {
	return sqlerr.Unsupported(fmt.Sprintf("UNIQUE KEY '%s' without the distribution key, %s", x.Name, why),
		"leave it out, or choose a distribution key that is part of it with PARTITION BY KEY")
}

// indexable refuses keys whose values cannot be told as exactly as a server does.
func indexable(t *catalog.Table, x catalog.Index, flavor catalog.Flavor) error {
	placed := false
	what := func(why string) error { return cannotIndex(&x, why) }
	if x.Expression() && x.Expressions == nil {
		return what("of an expression")
	}
	if entrySize(t, x) > maxEntry {
		return what(fmt.Sprintf("of more than %d bytes", maxEntry))
	}
	var apart *catalog.Column // by which no entry can be placed
	timestamps := slices.ContainsFunc(t.Columns, func(c catalog.Column) bool { return c.DataType == "timestamp" })
	for _, e := range x.Expressions {
		for _, c := range e.Reads {
			switch col := &t.Columns[c]; {
			case col.Generated && (timestamps || t.Computed(t.PrimaryKey())):
				return what("of an expression over a generated column, beside a TIMESTAMP or a primary key of one")
			case col.OnUpdate:
				return what("of an expression over a column with ON UPDATE")
			}
		}
	}
	for i := range x.Parts() {
		col, _ := t.Part(x, i)
		err := t.Places(x, i, flavor)
		switch {
		case col.Expression != "" && err != nil:
			return what("of an expression of type " + strings.ToUpper(col.DataType))
		case col.Expression != "":
		case col.Generated && t.Computed(t.PrimaryKey()):
			return what("of a generated column beside a primary key of one")
		case col.Generated && flavor == catalog.MySQL && timestamps:
			return what("of a generated column beside a TIMESTAMP, from which each session may compute another value")
		case col.OnUpdate:
			return what("of a column with ON UPDATE")
		case err != nil && !keptExactly(col):
			return what(fmt.Sprintf("of %s column '%s', by which nothing can be placed", strings.ToUpper(col.DataType), col.Name))
		case err != nil:
			apart = col
			continue
		}
		placed = true
	}
	if !placed {
		return what(fmt.Sprintf("of %s column '%s' and of no other by which something can be placed", strings.ToUpper(apart.DataType), apart.Name))
	}
	try := *t
	x.Global = 1
	try.Unique, try.Building = []catalog.Index{x}, nil
	return try.Prepare(flavor)
}

// maxEntry is how many bytes of a row the key of an InnoDB table may hold.
const maxEntry = 3072

// entrySize is how many bytes the strings of an entry of key x may have.
func entrySize(t *catalog.Table, x catalog.Index) (n int64) {
	for i := range x.Parts() {
		c := t.EntryColumn(x, i)
		switch c.DataType {
		case "char", "varchar":
			n += c.Length * characterBytes(c.Charset)
		case "binary", "varbinary":
			n += c.Length
		}
	}
	return n
}

// characterBytes is how many bytes a character may have, in a character set whose collations are known.
func characterBytes(charset string) int64 {
	switch charset {
	case "utf8mb4":
		return 4
	case "utf8mb3", "utf8":
		return 3
	}
	return 1
}

// keptExactly reports whether an entry can hold the values of a column by which nothing can be placed, just as its server does.
func keptExactly(c *catalog.Column) bool {
	switch c.DataType {
	case "timestamp":
		return true
	case "float", "double":
		return !strings.Contains(c.ColumnType, "(") // else what is stored is rounded
	}
	return false
}
