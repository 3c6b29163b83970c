// Package sharding decides where the rows of a table live, from its definition and the catalog: by which distribution key, in full on
// every node group, or on one; which unique keys need a global index; and it refuses what servers that see their own rows only would then
// get wrong, in foreign keys, triggers and functions. It is pure: definitions and snapshots in, catalog entries out.
package sharding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/placement"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
)

// Origin is what a table's catalog entry follows from beside its definition. It is part of stored jobs.
type Origin struct {
	// Old is the entry it follows from, if it had another name or existed before.
	Old *ddl.Object `json:"old,omitempty"`
	// Like is the table whose placement it takes over.
	Like *ddl.Object `json:"like,omitempty"`
	// Key is the distribution key of a PARTITION BY KEY clause, which is KeyGiven; empty for the primary key.
	Key      []string `json:"key,omitempty"`
	KeyGiven bool     `json:"key_given,omitempty"`
	// MayStay: if nothing is said of where its rows live, and they cannot be spread, the table lives on one node group. Else that is an error.
	MayStay bool `json:"may_stay,omitempty"`
	// Renamed are the new names of columns, by their lower-case old ones.
	Renamed map[string]string `json:"renamed,omitempty"`
	// Rebuilt: the table's rows live elsewhere than before. It has its primary key in place of the hidden one, or becomes one of the kind Becomes, with Key if
	// that is Sharded.
	Rebuilt bool              `json:"rebuilt,omitempty"`
	Becomes catalog.TableKind `json:"becomes,omitempty"`
	// Global are the ids of new global indexes, by the names of their keys.
	Global map[string]uint64 `json:"global,omitempty"`
}

// Place decides where the rows of a table live that has this definition on the servers, and refuses what would then be wrong. It returns
// the table's catalog entry, without ID, which may share memory with def. needsKey tells that the table needs the hidden key: it then
// must be added and the definition be read again.
func Place(snap *catalog.Snapshot, def *schema.Definition, from Origin) (t *catalog.Table, needsKey bool, err error) {
	return (&placing{snap: snap, def: def, from: from}).place()
}

// placing is one decision.
type placing struct {
	snap *catalog.Snapshot
	def  *schema.Definition
	from Origin

	unsaid bool // nothing is said of where the rows live
}

func (p *placing) place() (t *catalog.Table, needsKey bool, err error) {
	fresh := *p.def.Table
	t = &fresh
	t.AutoIncrement = -1
	if t.Kind == catalog.View {
		return t, false, nil
	}
	old := p.old()
	keyless := p.def.Keyless()
	t.Primary = p.def.Table.Primary
	key, err := p.kind(t, old)
	if err != nil {
		return nil, false, err
	}
	if t.Kind != catalog.Single && p.otherEngine() {
		return nil, false, sqlerr.Unsupported(fmt.Sprintf("ENGINE=%s of table '%s', whose rows lie on several node groups", p.def.Engine(), t.Name),
			"leave it out, or write ENGINE=InnoDB: nothing takes back what part of the servers has done to such rows; or keep the table on one node group with COMMENT 'skarv:single'")
	}
	t.HiddenKey = hiddenKey(t)
	var whole error // why the rows cannot be spread, and stay together
	if t.Kind == catalog.Sharded && !keyless {
		spread, err := p.spread(t, key, old)
		switch {
		case err == nil:
			t = spread
		case p.unsaid && p.from.MayStay && sqlerr.HasCode(err, sqlerr.NotSupportedYet):
			t.Kind, whole = catalog.Single, err
		default:
			return nil, false, err
		}
	}
	if t.Kind == catalog.Single {
		t.Group = p.snap.Groups[0].ID
		if old != nil && old.Kind == catalog.Single {
			t.Group = old.Group
		} else if parent := p.withSingle(t); parent != nil {
			t.Group = parent.Group
		}
	} else {
		if keyless {
			return p.withoutKey(t)
		}
		t.AutoIncrement = p.def.Auto
	}
	if err := t.Prepare(p.snap.Flavor); err != nil {
		return nil, false, err
	}
	if err := p.foreignKeys(t); err != nil {
		return nil, false, cmp.Or(whole, err)
	}
	return t, false, Triggers(p.snap, p.def, t)
}

// otherEngine reports whether the table's engine is none that takes back what a statement has done which fails.
func (p *placing) otherEngine() bool {
	e := p.def.Engine()
	return e != "" && e != "InnoDB"
}

// staysWhole reports whether the table has no key that tells its rows apart, and something that the hidden key does not serve: an AUTO_INCREMENT
// column, for servers number one column, partitions of the servers, whose columns every key must have, or a UNIQUE key that can have no global index.
func (p *placing) staysWhole() bool {
	switch {
	case !p.def.Keyless():
		return false
	case p.def.Auto >= 0, p.def.Table.Partitioned:
		return true
	}
	keyed := *p.def.Table
	keyed.Kind = catalog.Sharded
	keyed.Distribution = []int{len(keyed.Columns)}
	keyed.Columns = append(slices.Clone(keyed.Columns), catalog.Column{Name: catalog.HiddenKey, DataType: "bigint", ColumnType: "bigint unsigned", Unsigned: true})
	return slices.ContainsFunc(keyed.Unique, func(x catalog.Index) bool { return keyed.Computed(x) || indexable(&keyed, x, p.snap.Flavor) != nil })
}

// withSingle is a single table to which t has a foreign key, nil if there is none or some of t's are to sharded tables: then t cannot be where its
// parents are.
func (p *placing) withSingle(t *catalog.Table) (single *catalog.Table) {
	for i := range t.ForeignKeys {
		fk := &t.ForeignKeys[i]
		switch parent := p.table(t, fk.RefDB, fk.RefTable); {
		case parent == nil || parent == t:
		case parent.Kind == catalog.Sharded:
			return nil
		case parent.Kind == catalog.Single:
			single = parent
		}
	}
	return single
}

// old returns the entry this one follows from, or nil.
func (p *placing) old() *catalog.Table {
	if p.from.Old == nil {
		return nil
	}
	return p.snap.Table(p.from.Old.DB, p.from.Old.Name)
}

// withoutKey answers for a table whose rows no key tells apart.
func (p *placing) withoutKey(t *catalog.Table) (*catalog.Table, bool, error) {
	switch {
	case p.def.Auto >= 0:
		return nil, false, sqlerr.Unsupported(
			fmt.Sprintf("table '%s' with an AUTO_INCREMENT column and no primary key", t.Name),
			fmt.Sprintf("make `%s` the primary key", t.Columns[p.def.Auto].Name))
	case t.Column(catalog.HiddenKey) >= 0:
		return nil, false, sqlerr.Unsupported(
			fmt.Sprintf("a column '%s' in a table without primary key", catalog.HiddenKey), "make it the primary key or give it another name")
	}
	return t, true, nil
}

// hiddenKey recognises a table whose primary key is ours. It stands last when it is made, and elsewhere when columns are added.
func hiddenKey(t *catalog.Table) bool {
	at := t.Column(catalog.HiddenKey)
	return at >= 0 && slices.Equal(t.Primary, []int{at}) && t.Columns[at].Invisible
}

// kind sets the table's kind and returns the names of a given distribution key, nil for the primary key.
func (p *placing) kind(t *catalog.Table, old *catalog.Table) (key []string, err error) {
	keyOption, byKey := ddl.Option(p.def.Comment, "key")
	_, reference := ddl.Option(p.def.Comment, "reference")
	_, single := ddl.Option(p.def.Comment, "single")
	said := 0
	for _, b := range []bool{p.from.KeyGiven, byKey, reference, single} {
		if b {
			said++
		}
	}
	if said > 1 {
		return nil, sqlerr.Unsupported("more than one of PARTITION BY KEY, skarv:key, skarv:reference and skarv:single for a table", "keep one")
	}
	from := old
	if p.from.Like != nil {
		from = p.snap.Table(p.from.Like.DB, p.from.Like.Name)
	}
	if from != nil {
		return p.kindOf(t, from, byKey, reference, single, keyOption)
	}
	switch {
	case p.from.KeyGiven:
		t.Kind, key = catalog.Sharded, p.from.Key
	case byKey:
		t.Kind, key = catalog.Sharded, ddl.SplitNames(keyOption)
	case reference:
		t.Kind = catalog.Reference
	case single:
		t.Kind = catalog.Single
	default:
		t.Kind, p.unsaid = catalog.Sharded, true
		if d := p.snap.Databases[t.Database]; d != nil && d.Single || p.otherEngine() || p.staysWhole() || p.from.MayStay && p.withSingle(t) != nil {
			t.Kind = catalog.Single
		}
	}
	return key, nil
}

// kindOf keeps the kind and key of the table that from is; its comment may repeat them, but not change them.
func (p *placing) kindOf(t, from *catalog.Table, byKey, reference, single bool, keyOption string) ([]string, error) {
	if p.from.Becomes != "" {
		t.Kind = p.from.Becomes
		return p.from.Key, nil
	}
	t.Kind = from.Kind
	var key []string
	for _, c := range from.Distribution {
		name := from.Columns[c].Name
		if p.from.Rebuilt && from.HiddenKey && name == catalog.HiddenKey {
			continue // the primary key takes its place
		}
		if to, ok := p.from.Renamed[strings.ToLower(name)]; ok {
			name = to
		}
		key = append(key, name)
	}
	moved := reference && t.Kind != catalog.Reference || single && t.Kind != catalog.Single || byKey && t.Kind != catalog.Sharded
	if byKey && !moved && p.from.Renamed == nil {
		moved = !slices.EqualFunc(ddl.SplitNames(keyOption), key, strings.EqualFold)
	}
	if moved {
		return nil, sqlerr.Unsupported("a comment that says of table '"+t.Name+"' that its rows live elsewhere than they do", "leave that out of the COMMENT, or change it in an ALTER TABLE of its own")
	}
	if p.from.KeyGiven {
		return nil, sqlerr.Unsupported("PARTITION BY KEY with LIKE", "leave it out: the new table has the distribution key of the old one")
	}
	return key, nil
}

// spread is the sharded table t with its distribution key, the named columns or those of the primary key, and the global indexes that it needs.
func (p *placing) spread(t *catalog.Table, key []string, old *catalog.Table) (*catalog.Table, error) {
	out := *t
	out.Unique = slices.Clone(t.Unique)
	if err := p.distribute(&out, key); err != nil {
		return nil, err
	}
	if err := p.sameHash(&out, old); err != nil {
		return nil, err
	}
	if err := p.uniqueKeys(&out); err != nil {
		return nil, err
	}
	check := out
	return &out, check.Prepare(p.snap.Flavor)
}

// distribute sets the distribution key: the named columns, or those of the primary key that can be one.
func (p *placing) distribute(t *catalog.Table, names []string) error {
	if len(names) == 0 {
		t.Distribution = t.DefaultDistribution(p.snap.Flavor)
		return nil
	}
	t.Distribution = nil
	for _, n := range names {
		c := t.Column(n)
		if c < 0 {
			return sqlerr.KeyColumnNotExists.New(n)
		}
		if slices.Contains(t.Distribution, c) {
			return sqlerr.DuplicateColumn.New(n)
		}
		if t.Columns[c].Generated {
			return sqlerr.Unsupported(fmt.Sprintf("generated column '%s' as distribution key", n), "use the columns it is computed from")
		}
		t.Distribution = append(t.Distribution, c)
	}
	return nil
}

// sameHash refuses to change a distribution column in a way that would make its values belong elsewhere.
func (p *placing) sameHash(t, old *catalog.Table) error {
	if old == nil || old.Kind != catalog.Sharded || p.from.Rebuilt {
		return nil
	}
	for i, c := range t.Distribution {
		if a, b := &old.Columns[old.Distribution[i]], &t.Columns[c]; !KeepsPlaces(a, b) {
			return sqlerr.Unsupported(fmt.Sprintf("changing the type of column '%s', which is in the distribution key, from %s to %s", b.Name, a.ColumnType, b.ColumnType),
				"give the table another distribution key first, with ALTER TABLE ... PARTITION BY KEY, or create a new table, copy the rows and rename it")
		}
	}
	return nil
}

// KeepsPlaces reports whether rows lie by values of column b where they lie by those of a, of which they are made.
func KeepsPlaces(a, b *catalog.Column) bool {
	same := a.DataType == b.DataType && a.Collation == b.Collation && a.Scale == b.Scale &&
		(a.DataType != "binary" || a.Length == b.Length) &&
		(a.DataType != "enum" && a.DataType != "set" || a.ColumnType == b.ColumnType)
	return same || isInteger(a.DataType) && isInteger(b.DataType)
}

func isInteger(dataType string) bool {
	switch dataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint":
		return true
	}
	return false
}

// uniqueKeys gives keys that the servers, each seeing its own rows, cannot enforce a global index, and refuses those that
// cannot have one.
func (p *placing) uniqueKeys(t *catalog.Table) error {
	check := func(name string) error {
		for _, c := range t.Distribution {
			if slices.Contains(p.def.Full[name], c) {
				continue
			}
			return sqlerr.Unsupported(
				fmt.Sprintf("a PRIMARY KEY without column '%s' of the distribution key", t.Columns[c].Name),
				fmt.Sprintf("add the column to that key, or choose another distribution key with PARTITION BY KEY (%s)", p.commonColumns(t)))
		}
		return nil
	}
	if len(t.Primary) > 0 && !t.HiddenKey { // values of the hidden key are unique in the cluster by themselves
		if _, ok := p.def.Full["PRIMARY"]; ok {
			if err := check("PRIMARY"); err != nil {
				return err
			}
		}
	}
	return p.globalIndexes(t)
}

// commonColumns names the columns that all unique keys share, which could be the distribution key.
func (p *placing) commonColumns(t *catalog.Table) string {
	var common []int
	first := true
	for name, columns := range p.def.Full {
		if name != "PRIMARY" && !p.def.Unique[name] || name == "PRIMARY" && t.HiddenKey {
			continue
		}
		if first {
			common, first = slices.Clone(columns), false
			continue
		}
		common = slices.DeleteFunc(common, func(c int) bool { return !slices.Contains(columns, c) })
	}
	if len(common) == 0 {
		return "columns that all unique keys contain"
	}
	slices.Sort(common)
	names := make([]string, len(common))
	for i, c := range common {
		names[i] = t.Columns[c].Name
	}
	return strings.Join(names, ", ")
}

// foreignKeys refuses references that one server alone cannot check, in both directions.
func (p *placing) foreignKeys(t *catalog.Table) error {
	for i := range t.ForeignKeys {
		fk := &t.ForeignKeys[i]
		parent := p.table(t, fk.RefDB, fk.RefTable)
		if parent == nil {
			continue // allowed by foreign_key_checks=0; checked when the parent comes
		}
		if err := Colocated(p.snap.Flavor, t, fk, parent); err != nil {
			return err
		}
		for _, name := range fk.RefColumns {
			if c := parent.Column(name); parent != t && !catalog.Together(t, fk, parent) && parent.TriggerSets("UPDATE", c) {
				return sqlerr.Unsupported(fmt.Sprintf("a foreign key over several node groups to column '%s' of table '%s', which a trigger assigns", name, parent.Name),
					"assign it in the statements")
			}
		}
	}
	for _, d := range p.snap.Databases {
		for _, child := range d.Tables {
			for i := range child.ForeignKeys {
				fk := &child.ForeignKeys[i]
				if fk.RefDB == t.Database && fk.RefTable == t.Name && (child.Database != t.Database || child.Name != t.Name) {
					if err := Colocated(p.snap.Flavor, child, fk, t); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// table looks a parent up; t itself stands for its own name.
func (p *placing) table(t *catalog.Table, db, name string) *catalog.Table {
	if db == t.Database && name == t.Name {
		return t
	}
	return p.snap.Table(db, name)
}

// Colocated returns nil if the servers enforce fk, or Skarv can, as one server does.
func Colocated(flavor catalog.Flavor, child *catalog.Table, fk *catalog.ForeignKey, parent *catalog.Table) error {
	if catalog.Together(child, fk, parent) {
		return nil
	}
	refuse := func(why string) error {
		how := fmt.Sprintf("distribute both tables by the referencing columns with PARTITION BY KEY, or make '%s' a reference table with COMMENT 'skarv:reference'", parent.Name)
		if parent.Kind == catalog.Single && child.Kind == catalog.Sharded {
			how = fmt.Sprintf("keep '%s' on one node group, too, with COMMENT 'skarv:single', or make '%s' a reference table with COMMENT 'skarv:reference'", child.Name, parent.Name)
		}
		return sqlerr.Unsupported(
			fmt.Sprintf("FOREIGN KEY '%s' from table '%s' to '%s', whose rows live on other node groups, %s", fk.Name, child.Name, parent.Name, why), how)
	}
	if child.Kind != catalog.Sharded || parent.Kind != catalog.Sharded {
		return refuse("one of them being no sharded table")
	}
	for _, rule := range []string{fk.OnDelete, fk.OnUpdate} {
		switch rule {
		case "", "RESTRICT", "NO ACTION", "CASCADE", "SET NULL":
		default:
			return refuse("with " + rule)
		}
	}
	for _, c := range fk.Columns {
		col := &child.Columns[c]
		if col.Generated {
			return refuse("over a generated column")
		}
		if _, err := placement.NewKeyColumn(placement.ColumnSpec{Name: col.Name, DataType: col.DataType, ColumnType: col.ColumnType,
			Collation: col.Collation, Length: col.Length, Precision: col.Precision, Scale: col.Scale, Nullable: col.Nullable, Flavor: string(flavor)}); err != nil {
			return refuse("over a column of type " + col.ColumnType)
		}
	}
	return sameTypes(flavor, child, fk, parent)
}

// sameTypes refuses a foreign key over node groups between columns of two types, of which one server compares the bytes that it stores.
func sameTypes(flavor catalog.Flavor, child *catalog.Table, fk *catalog.ForeignKey, parent *catalog.Table) error {
	for i, c := range fk.Columns {
		at := parent.Column(fk.RefColumns[i])
		if at < 0 {
			continue
		}
		from, to := &child.Columns[c], &parent.Columns[at]
		if !storedAlike(flavor, from, to) || fk.OnUpdate == "CASCADE" && padded(from, to) {
			return sqlerr.Unsupported(fmt.Sprintf("FOREIGN KEY '%s' over several node groups between columns of types %s and %s", fk.Name, from.ColumnType, to.ColumnType),
				"give both one type, such as "+to.ColumnType)
		}
	}
	return nil
}

// storedAlike reports whether one server finds values of two columns equal where Skarv does: not where their bytes differ by the type, and
// on MySQL not for a CHAR or BINARY, which counts with what fills it up. Columns of two kinds servers refuse themselves.
func storedAlike(flavor catalog.Flavor, from, to *catalog.Column) bool {
	kind := storedAs(from)
	if from.ColumnType == to.ColumnType || kind != storedAs(to) {
		return true
	}
	one := from.DataType == to.DataType
	switch from.DataType {
	case "tinyint", "smallint", "mediumint", "int", "integer", "bigint":
		return strings.Contains(to.DataType, "int") // of one size, or servers refuse it
	case "varchar", "varbinary":
		return one || flavor == catalog.MariaDB && strings.HasSuffix(to.DataType, from.DataType[len("var"):])
	case "char", "binary":
		return flavor == catalog.MariaDB && strings.HasSuffix(to.DataType, from.DataType)
	}
	return one && kind == "number" && from.DataType != "enum" && from.DataType != "set"
}

// storedAs is the kind of what servers store of a column's values: they let columns of one kind refer to each other, whatever these mean.
func storedAs(c *catalog.Column) string {
	switch c.DataType {
	case "char", "varchar":
		return "text"
	case "binary", "varbinary", "decimal", "time", "datetime", "timestamp", "bit", "uuid", "inet4", "inet6":
		return "bytes"
	}
	return "number"
}

// padded reports whether a cascade takes the spaces that fill a CHAR up to where they count.
func padded(from, to *catalog.Column) bool {
	return to.DataType == "char" && (from.DataType != "char" || from.Length < to.Length)
}
