package migration

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqltypes"
)

// Rehearsal is what every node group tries before the first is changed.
type Rehearsal struct {
	Table ddl.Object `json:"table"`
	// Copy is the name of the copy in our own database, SQL the statement about it.
	Copy string `json:"copy"`
	SQL  string `json:"sql"`
	// Filled: the copy takes the rows before the statement, which computes the columns that are not stored, and converts values as it will;
	// an INSERT does not.
	Filled bool `json:"filled,omitempty"`
	// Into and From are the columns of the copy that take values, and those of the table that have them.
	Into []string `json:"into"`
	From []string `json:"from"`
}

// rehearse notes the rehearsal of a change of old that rows may hinder and that cannot be taken back exactly.
func (p *Planner) rehearse(o ddl.Name, old *catalog.Table, before, after *schema.Definition) {
	if old.Kind == catalog.Single || p.Statement.RenameTo != nil || p.work.Step.Altered.Exact() {
		return
	}
	p.lookForOrphans(old, after, p.came(before))
	r := &Rehearsal{Table: o.Object, Copy: schema.Trial(p.Job, "_p").Name, Filled: p.work.BuildClosed}
	risky := !slices.Equal(before.Checks, after.Checks) || p.enforces() || p.Statement.Mentions("PARTITION") || p.Statement.Mentions("SRID")
	for name := range after.Full {
		risky = risky || after.Unique[name] && !(before.Unique[name] && len(before.Full[name]) == len(after.Full[name]) && sameParts(before, after, name))
	}
	came := p.came(before)
	for i := range after.Table.Columns {
		c := &after.Table.Columns[i]
		from := came[strings.ToLower(c.Name)]
		switch {
		case c.Generated:
			r.Filled = r.Filled || from == nil || *from != *c
		case from == nil:
			risky = risky || !c.Nullable && !c.HasDefault && c.Type.IsTemporal() // a server may refuse 0000-00-00
		default:
			r.Filled = r.Filled || from.DataType != c.DataType && !holdsAll(from, c)                  // such as '5' for a BIT(4), which an INSERT refuses
			risky = risky || !holdsAll(from, c) || len(after.Checks) > 0 && from.Default != c.Default // a CHECK may read DEFAULT(c)
			r.Into, r.From = append(r.Into, sqltypes.QuoteName(c.Name)), append(r.From, sqltypes.QuoteName(from.Name))
		}
	}
	if r.Filled {
		r.Into = nil
		for i := range before.Table.Columns {
			if c := &before.Table.Columns[i]; !c.Generated {
				r.Into = append(r.Into, sqltypes.QuoteName(c.Name))
			}
		}
		r.From = r.Into
	}
	if !risky && !r.Filled || len(r.Into) == 0 {
		return
	}
	r.SQL = p.Statement.Rewrite(o.As(ddl.Object{DB: catalog.OwnDB, Name: r.Copy}))
	p.work.Rehearsal = r
}

// sameParts reports whether a unique key holds as much of each of its columns before as after, and the same expressions.
func sameParts(before, after *schema.Definition, name string) bool {
	key := func(d *schema.Definition) (key catalog.Index) {
		for _, x := range append(slices.Clone(d.Table.Unique), d.Table.PrimaryKey()) {
			if x.Name == name {
				key = x
			}
		}
		return key
	}
	a, b := key(before), key(after)
	return slices.Equal(a.Lengths, b.Lengths) &&
		slices.EqualFunc(a.Expressions, b.Expressions, func(x, y catalog.KeyExpression) bool {
			return x.At == y.At && x.Column.Expression == y.Column.Expression
		})
}

// lookForOrphans notes how rows without parents are found that keep servers from adding foreign keys.
func (p *Planner) lookForOrphans(old *catalog.Table, after *schema.Definition, came map[string]*catalog.Column) {
	if !p.work.Checked {
		return
	}
	for i := range after.Table.ForeignKeys {
		fk := &after.Table.ForeignKeys[i]
		if slices.ContainsFunc(old.ForeignKeys, func(k catalog.ForeignKey) bool { return p.sameKey(old, &k, after.Table, fk) }) {
			continue
		}
		parent := p.Snap.Table(fk.RefDB, fk.RefTable)
		itself := parent == old
		var equal, given []string
		for n, name := range columnNames(after.Table, fk) {
			from, to := came[strings.ToLower(name)], fk.RefColumns[n]
			if itself && came[strings.ToLower(to)] != nil {
				to = came[strings.ToLower(to)].Name
			}
			if from == nil || parent == nil || parent.Column(to) < 0 {
				equal = nil
				break
			}
			equal = append(equal, "c."+sqltypes.QuoteName(from.Name)+" = p."+sqltypes.QuoteName(to))
			given = append(given, "c."+sqltypes.QuoteName(from.Name)+" IS NOT NULL")
		}
		if equal != nil {
			p.work.Orphans = append(p.work.Orphans, "SELECT EXISTS (SELECT 1 FROM "+old.SQL()+" c WHERE "+strings.Join(given, " AND ")+
				" AND NOT EXISTS (SELECT 1 FROM "+parent.SQL()+" p WHERE "+strings.Join(equal, " AND ")+"))")
		}
	}
}

// came returns what the columns were before the statement, by their lower-case names afterwards.
func (p *Planner) came(before *schema.Definition) map[string]*catalog.Column {
	renamed, dropped := p.Statement.RenamedColumns(), p.Statement.DroppedColumns()
	out := map[string]*catalog.Column{}
	for i := range before.Table.Columns {
		c := &before.Table.Columns[i]
		name := strings.ToLower(c.Name)
		if to, ok := renamed[name]; ok {
			name = strings.ToLower(to)
		} else if dropped[name] {
			continue
		}
		out[name] = c
	}
	return out
}

// holdsAll reports whether column b takes every value that column a may have. It may say no where it does: then the change is
// rehearsed, which takes time.
func holdsAll(a, b *catalog.Column) bool {
	if sharding.KeepsEntries(a, b) {
		return true
	}
	if a.Nullable && !b.Nullable || a.Charset != b.Charset || a.Collation != b.Collation {
		return false
	}
	texts := []string{"tinytext", "text", "mediumtext", "longtext"}
	blobs := []string{"tinyblob", "blob", "mediumblob", "longblob"}
	for _, larger := range [][]string{texts, blobs} {
		if from, to := slices.Index(larger, a.DataType), slices.Index(larger, b.DataType); from >= 0 && to >= from {
			return true
		}
	}
	if a.DataType != b.DataType {
		return false
	}
	switch a.DataType {
	case "char":
		return a.Length <= b.Length
	case "decimal":
		return a.Unsigned == b.Unsigned && a.Scale <= b.Scale && a.Precision-a.Scale <= b.Precision-b.Scale
	case "time", "datetime", "timestamp":
		return a.Scale <= b.Scale
	case "enum", "set":
		return strings.HasPrefix(b.ColumnType, strings.TrimSuffix(a.ColumnType, ")")+",")
	}
	return false
}
