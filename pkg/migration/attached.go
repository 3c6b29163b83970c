package migration

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/routine"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqltypes"
)

// Attached are foreign keys of a table that is made anew, or of another one to it. Servers let them follow the table that is taken away: so they are taken
// off before the tables change places, and put on again behind that, while nobody can use any table that they matter to. CHECK constraints of MySQL, whose
// names are those of one in a database, are taken off the table that is taken away, and put on when it comes back.
type Attached struct {
	Table ddl.Object `json:"table"` // that has them
	// Texts are the foreign keys as the table's text has them, by their names, and Checks the CHECK constraints.
	Texts  map[string]string `json:"texts"`
	Checks map[string]string `json:"checks,omitempty"`
	// Keys are the table's keys, and Before those of the table that is made anew before it was: servers may give those that they have made by themselves
	// for foreign keys other names.
	Keys   []string `json:"keys"`
	Before []string `json:"before,omitempty"`
}

// Off is the parts of an ALTER TABLE that take off what a table with this text has of them.
func (a *Attached) Off(create string) []string {
	return append(a.KeysOff(create), dropped(create, a.Checks, "DROP CHECK ")...)
}

// KeysOff is Off of foreign keys only.
func (a *Attached) KeysOff(create string) []string {
	return dropped(create, a.Texts, "DROP FOREIGN KEY ")
}

// dropped is the parts that drop those of the texts, by name, that a table with this text has.
func dropped(create string, texts map[string]string, drop string) (parts []string) {
	lines := constraintLines(create)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if slices.Contains(lines, texts[name]) {
			parts = append(parts, drop+sqltypes.QuoteName(name))
		}
	}
	return parts
}

// On is the parts that put on what it has not.
func (a *Attached) On(create string) (parts []string) {
	lines := constraintLines(create)
	for _, texts := range []map[string]string{a.Texts, a.Checks} {
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			if !slices.Contains(lines, texts[name]) {
				parts = append(parts, "ADD "+texts[name])
			}
		}
	}
	return parts
}

var constraintLine = regexp.MustCompile("(?m)^  (CONSTRAINT `(?:[^`]|``)+` (?:FOREIGN KEY|CHECK) .*?),?$")

// constraintLines are the foreign keys and CHECK constraints in a table's text.
func constraintLines(create string) (out []string) {
	for _, m := range constraintLine.FindAllStringSubmatch(create, -1) {
		out = append(out, m[1])
	}
	return out
}

// attached tells w of the foreign keys of old and to it, of its triggers, and on MySQL of its CHECK constraints. t is what it becomes.
func (b *rebuilding) attached(ctx context.Context, w *Rebuild, t *catalog.Table) error {
	for _, tr := range b.old.Triggers {
		p, err := schema.ReadProgram(ctx, b.Trial, ddl.Object{DB: b.old.Database, Name: tr.Name, Kind: routine.Trigger})
		if err != nil {
			return err
		}
		w.Triggers = append(w.Triggers, *p)
	}
	before, after := b.constraints(b.before), b.constraints(b.after)
	children := childrenOf(b.Snap, w.Table)
	if !slices.Equal(before, after) {
		return b.refuse("foreign keys or CHECK constraints that come, go or change", two)
	}
	if len(before)+len(children) == 0 {
		return nil
	}
	if err := b.attach(w, w.Table, b.before.Create, func(fk *catalog.ForeignKey) bool { return true }); err != nil {
		return err
	}
	if err := b.keepsReferred(ctx, children, t); err != nil {
		return err
	}
	if _, err := b.Trial.Exec(ctx, "SET SESSION sql_mode = ''"); err != nil { // which decides how texts are quoted
		return err
	}
	for _, o := range children {
		create, err := schema.ReadCreate(ctx, b.Trial, o)
		if err != nil {
			return err
		}
		if err := b.attach(w, o, create, func(fk *catalog.ForeignKey) bool { return fk.RefDB == w.Table.DB && fk.RefTable == w.Table.Name }); err != nil {
			return err
		}
	}
	if err := b.Trial.Use(ctx, b.Session); err != nil {
		return err
	}
	b.close(children...)
	b.closeAbove()
	if len(b.work.Close) > maxClosed {
		return b.refuse("foreign keys that join it to more than 40 tables", "drop the foreign keys, and add them again behind it")
	}
	return b.keepsTriggers(t)
}

// constraints are the texts of those of a copy of the table that cannot come with it from one database to another.
func (b *rebuilding) constraints(d *schema.Definition) []string {
	lines := slices.DeleteFunc(constraintLines(d.Create), func(l string) bool {
		return b.Snap.Flavor == catalog.MariaDB && !strings.Contains(l, "` FOREIGN KEY (")
	})
	slices.Sort(lines)
	return lines
}

// maxClosed is how many tables are closed at most for one that is made anew: one change of the catalog does it.
const maxClosed = 40

// attach adds the foreign keys of a table with this text that are meant.
func (b *rebuilding) attach(w *Rebuild, o ddl.Object, create string, meant func(fk *catalog.ForeignKey) bool) error {
	lines, of := constraintLines(create), b.Snap.Table(o.DB, o.Name)
	a := Attached{Table: o, Texts: map[string]string{}, Keys: KeysOf(create)}
	find := func(what, name string) string {
		at := slices.IndexFunc(lines, func(l string) bool {
			return strings.HasPrefix(l, "CONSTRAINT "+sqltypes.QuoteName(name)+" "+what+" ")
		})
		if at < 0 {
			return ""
		}
		return lines[at]
	}
	for i := range of.ForeignKeys {
		fk := &of.ForeignKeys[i]
		if !meant(fk) {
			continue
		}
		if a.Texts[fk.Name] = find("FOREIGN KEY", fk.Name); a.Texts[fk.Name] == "" {
			return b.refuse("foreign key '"+fk.Name+"', which the servers do not show,", "drop it, and add it again behind it")
		}
	}
	if o == w.Table {
		a.Keys, a.Before = KeysOf(b.after.Create), a.Keys
		if b.Snap.Flavor == catalog.MySQL {
			a.Checks = map[string]string{}
			for _, name := range b.before.Checks {
				if a.Checks[name] = find("CHECK", name); a.Checks[name] == "" {
					return b.refuse("CHECK constraint '"+name+"', which the servers do not show,", "drop it, and add it again behind it")
				}
			}
		}
	}
	if len(a.Texts)+len(a.Checks) > 0 {
		w.Attached = append(w.Attached, a)
	}
	return nil
}

// keepsReferred refuses what servers do: to take away columns, or their key, that foreign keys refer to.
func (b *rebuilding) keepsReferred(ctx context.Context, children []ddl.Object, t *catalog.Table) error {
	renamed := b.Statement.RenamedColumns()
	for _, child := range append(b.tables(children), t) {
		for i := range child.ForeignKeys {
			fk := &child.ForeignKeys[i]
			if fk.RefDB != t.Database || fk.RefTable != t.Name {
				continue
			}
			if slices.ContainsFunc(fk.RefColumns, func(name string) bool { return renamed[strings.ToLower(name)] != "" }) {
				return b.refuse("renaming columns that foreign key '"+fk.Name+"' refers to", two)
			}
			if b.referable(ctx, fk, child, t) != nil || !begins(t, fk.RefColumns) {
				return b.refuse("taking away the key that foreign key '"+fk.Name+"' of table '"+child.Name+"' refers to", "keep that key, or drop the foreign key first")
			}
		}
	}
	return nil
}

// begins reports whether a key of t begins with columns, those of the primary key behind its own.
func begins(t *catalog.Table, columns []string) bool {
	of := func(key []int) bool {
		key = slices.Concat(key, t.Primary)
		return len(key) >= len(columns) && slices.EqualFunc(key[:len(columns)], columns, func(c int, name string) bool { return strings.EqualFold(t.Columns[c].Name, name) })
	}
	return of(nil) || slices.ContainsFunc(append(slices.Clone(t.Unique), t.Indexes...), func(x catalog.Index) bool { return !x.Partial && of(x.Columns) })
}

func (b *rebuilding) tables(names []ddl.Object) (out []*catalog.Table) {
	for _, o := range names {
		out = append(out, b.Snap.Table(o.DB, o.Name))
	}
	return out
}

// closeAbove closes the tables that the old one refers to, and those whose changes servers let go through them by cascades.
func (b *rebuilding) closeAbove() {
	above := []*catalog.Table{b.old}
	for i := 0; i < len(above); i++ {
		for _, fk := range above[i].ForeignKeys {
			parent := b.Snap.Table(fk.RefDB, fk.RefTable)
			if parent == nil || slices.Contains(above, parent) || i > 0 && !acts(fk.OnDelete) && !acts(fk.OnUpdate) {
				continue
			}
			above = append(above, parent)
			b.close(ddl.Table(parent))
		}
	}
}

// acts reports whether a rule of a foreign key changes rows.
func acts(rule string) bool { return rule == "CASCADE" || rule == "SET NULL" || rule == "SET DEFAULT" }

// keepsTriggers refuses triggers of tables beside t that would assign what is Skarv's to watch once rows of t live elsewhere.
func (b *rebuilding) keepsTriggers(t *catalog.Table) error {
	snap := b.Snap.With([]*catalog.Table{b.old}, []*catalog.Table{t})
	for _, o := range b.work.Close {
		if err := sharding.CheckTriggers(snap, snap.Table(o.DB, o.Name)); err != nil {
			return err
		}
	}
	return nil
}
