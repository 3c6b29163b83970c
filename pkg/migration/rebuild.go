package migration

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/mover"
	"skarv/pkg/placement"
	"skarv/pkg/routine"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// Rebuild is the making of a table anew, in place of another one: see package control for its steps.
type Rebuild struct {
	Table ddl.Object `json:"table"`
	// New and Old are the names in our own database of the table before, and after, it changes places with Table.
	New string `json:"new"`
	Old string `json:"old"`
	SQL string `json:"sql"` // the statement, about New
	// Copy, if set, is the name in our own database of a copy of Table with its rows as they are, in its columns Filled, to which the statement is done on
	// every server before its rows go to New: it computes and converts values. CopySQL is the statement about it.
	Copy    string   `json:"copy,omitempty"`
	CopySQL string   `json:"copy_sql,omitempty"`
	Filled  []string `json:"filled,omitempty"`
	// Columns are the names of columns with values, by those they had before.
	Columns map[string]string `json:"columns"`
	// Number is the column whose values are counted: AUTO_INCREMENT, if there is one, or the hidden key if the table loses its own, as Hides says.
	// ZeroIsValue: the client's sql_mode has NO_AUTO_VALUE_ON_ZERO.
	Number      string `json:"number,omitempty"`
	ZeroIsValue bool   `json:"zero_is_value,omitempty"`
	Hides       bool   `json:"hides,omitempty"`
	// Next is where the values of the hidden key go on, once all rows are in New.
	Next uint64 `json:"next,omitempty"`
	// Places: the rows are to live elsewhere; else the table loses its hidden key.
	Places bool `json:"places,omitempty"`
	// SetsCounter: the statement says where its numbers go on.
	SetsCounter bool `json:"sets_counter,omitempty"`
	// Counts: the client is told how many rows there are, for one server writes all of them anew: because of PARTITION BY KEY, or of a column whose
	// values are counted from now on.
	Counts bool `json:"counts,omitempty"`
	// Attached are the foreign keys of Table, and of others to it, and on MySQL its CHECK constraints; Triggers are its own, in the order in which they fire.
	Attached []Attached       `json:"attached,omitempty"`
	Triggers []schema.Program `json:"triggers,omitempty"`
	// Sums are checksums of Table, by node group, once all its rows are in New.
	Sums map[placement.NodeGroupID]string `json:"sums,omitempty"`
}

// Made is the new table before they change places.
func (r *Rebuild) Made() ddl.Object { return ddl.Object{DB: catalog.OwnDB, Name: r.New} }

// Copied is the copy with all rows.
func (r *Rebuild) Copied() ddl.Object { return ddl.Object{DB: catalog.OwnDB, Name: r.Copy} }

// Taken is the old table when they have.
func (r *Rebuild) Taken() ddl.Object { return ddl.Object{DB: catalog.OwnDB, Name: r.Old} }

// placedAnew is the kind that the statement gives old, and its distribution key if that is Sharded; "" if its rows are to live where they do. before and
// after are of a copy.
func (p *Planner) placedAnew(old *catalog.Table, before, after *schema.Definition) (kind catalog.TableKind, key []string, err error) {
	option, byKey := ddl.Option(after.Comment, "key")
	_, reference := ddl.Option(after.Comment, string(catalog.Reference))
	_, single := ddl.Option(after.Comment, string(catalog.Single))
	hides := old.Kind != catalog.Single && after.Keyless() // from here on another key may stand for the primary one
	switch says := before.Comment != after.Comment; {
	case p.Statement.Partitioned:
		kind, key = catalog.Sharded, p.Statement.Key
	case says && byKey:
		kind, key = catalog.Sharded, ddl.SplitNames(option)
	case says && reference:
		kind = catalog.Reference
	case says && single:
		kind = catalog.Single
	case p.losesKey(old, after.Table):
		kind = catalog.Sharded
	case hides, p.droppedKey(old) != "", old.Kind != catalog.Single && p.numbers(before, after), p.movesValues(old, after.Table):
		key, err = p.keyLeft(old, hides)
		return old.Kind, key, err
	}
	if kind == old.Kind && !hides && (kind != catalog.Sharded || p.sameDistribution(old, after.Table, key)) {
		return "", nil, nil
	}
	return kind, key, nil
}

// droppedKey is a column of the distribution key of old that the statement drops, "" for none.
func (p *Planner) droppedKey(old *catalog.Table) string {
	dropped := p.Statement.DroppedColumns()
	for _, c := range old.Distribution {
		if name := old.Columns[c].Name; dropped[strings.ToLower(name)] {
			return name
		}
	}
	return ""
}

// losesKey reports whether old, which is distributed by its primary key because nobody has said otherwise, gets a primary key t without one of its
// columns. Then that one distributes it.
func (p *Planner) losesKey(old, t *catalog.Table) bool {
	if old.Kind != catalog.Sharded || old.HiddenKey || len(t.Primary) == 0 || !slices.Equal(old.Distribution, old.DefaultDistribution(p.Snap.Flavor)) {
		return false
	}
	renamed := p.Statement.RenamedColumns()
	return slices.ContainsFunc(old.Distribution, func(c int) bool {
		return !slices.Contains(t.Primary, t.Column(calledNow(renamed, old.Columns[c].Name)))
	})
}

// numbers reports whether the statement adds an AUTO_INCREMENT column, and so numbers all rows.
func (p *Planner) numbers(before, after *schema.Definition) bool {
	return after.Auto >= 0 && p.came(before)[strings.ToLower(after.Table.Columns[after.Auto].Name)] == nil
}

// movesValues reports whether the statement makes other values of a distribution column of old, by which rows lie elsewhere. t is what it becomes on the
// servers. Without strict mode values that do not fit are changed.
func (p *Planner) movesValues(old, t *catalog.Table) bool {
	if old.Kind != catalog.Sharded {
		return false
	}
	renamed, dropped := p.Statement.RenamedColumns(), p.Statement.DroppedColumns()
	return slices.ContainsFunc(old.Distribution, func(c int) bool {
		from := &old.Columns[c]
		at := t.Column(calledNow(renamed, from.Name))
		return at >= 0 && !dropped[strings.ToLower(from.Name)] && (!sharding.KeepsPlaces(from, &t.Columns[at]) || !p.strict() && !holdsAll(from, &t.Columns[at]))
	})
}

// strict reports whether servers refuse values that do not fit.
func (p *Planner) strict() bool {
	return ddl.HasMode(p.Session.SQLMode, "STRICT_TRANS_TABLES") || ddl.HasMode(p.Session.SQLMode, "STRICT_ALL_TABLES")
}

// keyLeft is the distribution key of old behind the statement, empty for that of the primary key, which is the hidden one if the statement hides it. One that
// somebody has named stays as a whole: a server's partitions, too, keep their columns from being dropped.
func (p *Planner) keyLeft(old *catalog.Table, hides bool) (key []string, err error) {
	dropped := p.droppedKey(old)
	if byPrimary := slices.Equal(old.Distribution, old.DefaultDistribution(p.Snap.Flavor)); byPrimary && (hides || old.HiddenKey || dropped != "") {
		return nil, nil
	}
	if dropped != "" {
		return nil, sqlerr.Unsupported(fmt.Sprintf("dropping column '%s', which is in the distribution key", dropped),
			"give the table another distribution key first, with ALTER TABLE ... PARTITION BY KEY")
	}
	renamed := p.Statement.RenamedColumns()
	for _, c := range old.Distribution {
		key = append(key, calledNow(renamed, old.Columns[c].Name))
	}
	return key, nil
}

// sameDistribution reports whether key, which is empty for the default, is old's distribution key. t is what old becomes on the servers.
func (p *Planner) sameDistribution(old, t *catalog.Table, key []string) bool {
	if len(key) == 0 {
		for _, c := range t.DefaultDistribution(p.Snap.Flavor) {
			key = append(key, t.Columns[c].Name)
		}
	}
	renamed := p.Statement.RenamedColumns()
	return slices.EqualFunc(old.Distribution, key, func(c int, name string) bool {
		return strings.EqualFold(calledNow(renamed, old.Columns[c].Name), name)
	})
}

// calledNow is the name of a column behind a statement that renames some.
func calledNow(renamed map[string]string, name string) string {
	return cmp.Or(renamed[strings.ToLower(name)], name)
}

// rebuildTable plans a statement that places the rows of old anew, as to says, or after which it has no hidden key any more. before and after are of
// a copy, in the latter case without that key.
func (p *Planner) rebuildTable(ctx context.Context, o ddl.Name, old *catalog.Table, before, after *schema.Definition, to sharding.Origin) error {
	b := &rebuilding{Planner: p, old: old, before: before, after: after, unhides: old.HiddenKey && before.Table.Column(catalog.HiddenKey) < 0}
	if err := b.refused(o, to.Becomes); err != nil {
		return err
	}
	if err := p.usedOnServer(ctx, old); err != nil {
		return err
	}
	w := &Rebuild{Table: o.Object, New: schema.Trial(p.Job, "_n").Name, Old: schema.Trial(p.Job, "_o").Name, Columns: map[string]string{}, Places: !b.unhides,
		SetsCounter: p.Statement.SetsCounter()}
	if err := b.columns(w); err != nil {
		return err
	}
	to.Old, to.Renamed, to.Rebuilt, to.KeyGiven = &o.Object, p.Statement.RenamedColumns(), true, p.Statement.Partitioned
	r := Refresh{Object: o.Object, NewID: b.unhides, TakeCounter: old.Kind == catalog.Single || w.SetsCounter || w.Number != "", Origin: to}
	after.Table.Database, after.Table.Name = o.DB, o.Name
	after.Table.Triggers = triggersOver(old, after.Table)
	schema.FixReferences(after.Table, o.DB)
	t, needsKey, err := sharding.Place(p.Snap, after, r.Origin)
	if err == nil && needsKey {
		if err = p.roomForKey(o, after); err == nil {
			w.Hides, w.Number, w.Counts, r.NewID = true, catalog.HiddenKey, true, true
			after.AddHiddenKey()
			t, _, err = sharding.Place(p.Snap, after, r.Origin)
		}
	}
	if err != nil {
		return err
	}
	if t.Kind == catalog.Sharded {
		if name := b.unplaced(w, t); name != "" {
			return b.refuse("column '"+name+"'", two)
		}
	}
	for _, moved := range []*catalog.Table{old, t} {
		if err := mover.Movable(moved, p.Snap.Flavor); err != nil {
			return b.refuse(err.Error(), "create a new table with that key, copy the rows with INSERT ... SELECT and rename it")
		}
	}
	if err := b.attached(ctx, w, t); err != nil {
		return err
	}
	if err := p.newIndexes(ctx, t, &r); err != nil {
		return err
	}
	p.dropIndexes(old, nil)
	w.SQL = p.Statement.Rewrite(o.As(w.Made()))
	p.work.Rebuild, p.work.Build = w, &o.Object
	p.work.Step = &Step{
		SQL:  fmt.Sprintf("RENAME TABLE %s TO %s, %s TO %s", o.SQL(), w.Taken().SQL(), w.Made().SQL(), o.SQL()),
		Undo: []string{fmt.Sprintf("RENAME TABLE %s TO %s, %s TO %s", o.SQL(), w.Made().SQL(), w.Taken().SQL(), o.SQL())},
	}
	p.mark(p.work.Step)
	p.work.Refresh = append(p.work.Refresh, r)
	return nil
}

// rebuilding is the planning of one Rebuild.
type rebuilding struct {
	*Planner
	old           *catalog.Table
	before, after *schema.Definition
	unhides       bool
}

// two is what to do where a statement does more than a Rebuild can.
const two = "use one ALTER TABLE for the key and another one for the rest"

func (b *rebuilding) refuse(what, how string) error {
	does := "changes where the rows of table '" + b.old.Name + "' live"
	if b.unhides {
		does = "gives table '" + b.old.Name + "' a primary key"
	}
	return sqlerr.Unsupported(what+" in the ALTER TABLE that "+does, how)
}

// refused says what of the table, or of the statement, would get lost when it is made anew.
func (b *rebuilding) refused(o ddl.Name, becomes catalog.TableKind) error {
	switch {
	case b.old.HiddenKey && becomes == catalog.Single, len(b.old.Primary) == 0:
		return b.refuse("no primary key", "add one first, in an ALTER TABLE of its own")
	case b.Statement.Ignores:
		return b.refuse("IGNORE", "leave it out: DELETE or UPDATE the rows that are in the way first")
	case b.Statement.RenameTo != nil:
		return b.refuse("RENAME", two)
	case len(b.old.Triggers) > 0 && (b.old.Kind == catalog.Single || becomes == catalog.Single): // each server has its own
		return b.refuse("triggers", "drop the triggers, and create them again behind it")
	case len(b.old.Triggers) > 0 && len(b.Statement.RenamedColumns())+len(b.Statement.DroppedColumns()) > 0:
		return b.refuse("changing columns of a table with triggers", two)
	case b.Snap.Flavor == catalog.MySQL && strings.Contains(b.before.Create, " array))"): // its CHECKSUM TABLE differs each time
		return b.refuse("a key over the elements of an array", "drop the key, and add it again behind it")
	}
	return nil
}

// columns tells w which columns have values, and which one is numbered.
func (b *rebuilding) columns(w *Rebuild) error {
	after, came := b.after, b.came(b.before)
	computes, converts, copies := false, false, false
	for i := range after.Table.Columns {
		c := &after.Table.Columns[i]
		from := came[strings.ToLower(c.Name)]
		switch {
		case c.Generated:
		case from == nil && i == after.Auto:
		case from == nil:
			now, computed := strings.HasPrefix(strings.ToUpper(c.Default), "CURRENT_"), strings.ContainsAny(c.Default, "()")
			computes = computes || slices.Contains(after.Table.Primary, i) || !c.NullDefault && (now || computed || !c.HasDefault && c.Type.IsTemporal())
			copies = copies || computed && !now
		case from.Generated || from.ColumnType != c.ColumnType || from.Charset != c.Charset || from.Collation != c.Collation:
			converts, copies = true, copies || c.DataType != "varchar" || from.Length > c.Length || from.Charset != c.Charset || from.Collation != c.Collation
			if b.inForeignKey(from.Name) {
				return b.refuse("changing column '"+from.Name+"', which a foreign key is over,", "drop the foreign key, and add it again behind it")
			}
		default:
			w.Columns[from.Name] = c.Name
			fills := from.Nullable && !c.Nullable && !b.strict()
			converts, copies = converts || fills, copies || fills && b.Snap.Flavor == catalog.MySQL
		}
	}
	_, had := b.before.Full["PRIMARY"]
	_, has := after.Full["PRIMARY"]
	w.Counts = !b.unhides && b.Statement.Partitioned || b.Statement.Mentions("COPY") || copies || had && !has && b.Snap.Flavor == catalog.MySQL
	if after.Auto >= 0 {
		name := after.Table.Columns[after.Auto].Name
		from := came[strings.ToLower(name)]
		if b.before.Auto < 0 || from != &b.before.Table.Columns[b.before.Auto] {
			w.Number, w.ZeroIsValue = name, b.ZeroIsValue
			w.Counts = w.Counts || from != nil
		}
		if w.Number != "" && (computes || converts) && (from == nil || from.Nullable) {
			return b.refuse("AUTO_INCREMENT for column '"+name+"', beside other changes of columns,", two)
		}
	}
	if computes || converts {
		b.copies(w)
	}
	return nil
}

// copies lets w take the values of columns from copies of the table.
func (b *rebuilding) copies(w *Rebuild) {
	w.Copy, w.Columns = schema.Trial(b.Job, "_c").Name, map[string]string{}
	w.CopySQL = b.Statement.Rewrite(b.Statement.Objects[0].As(w.Copied()))
	for i := range b.after.Table.Columns {
		if c := &b.after.Table.Columns[i]; !c.Generated {
			w.Columns[c.Name] = c.Name
		}
	}
	for i := range b.before.Table.Columns {
		if c := &b.before.Table.Columns[i]; !c.Generated {
			w.Filled = append(w.Filled, sqltypes.QuoteName(c.Name))
		}
	}
}

// inForeignKey reports whether a foreign key of the table, or of another one to it, is over a column.
func (b *rebuilding) inForeignKey(column string) bool {
	is := func(name string) bool { return strings.EqualFold(name, column) }
	for i := range b.old.ForeignKeys {
		if slices.ContainsFunc(columnNames(b.old, &b.old.ForeignKeys[i]), is) {
			return true
		}
	}
	for _, child := range append(b.tables(childrenOf(b.Snap, ddl.Table(b.old))), b.old) {
		for _, fk := range child.ForeignKeys {
			if fk.RefDB == b.old.Database && fk.RefTable == b.old.Name && slices.ContainsFunc(fk.RefColumns, is) {
				return true
			}
		}
	}
	return false
}

// unplaced is a column of the distribution key of t that has no values to place rows by, "" for none.
func (b *rebuilding) unplaced(w *Rebuild, t *catalog.Table) string {
	given := slices.Collect(maps.Values(w.Columns))
	for _, c := range t.Distribution {
		if name := t.Columns[c].Name; name != w.Number && !slices.Contains(given, name) {
			return name
		}
	}
	return ""
}

// usedOnServer refuses to place the rows of a single table elsewhere that something uses which its server runs by itself, for it sees the rows there only:
// triggers, routines and events that were on the server before it was imported.
func (p *Planner) usedOnServer(ctx context.Context, old *catalog.Table) error {
	if old.Kind != catalog.Single {
		return nil
	}
	bodies, err := p.Trial.Values(ctx, 5, "SELECT 'trigger', trigger_schema, trigger_name, event_object_table, action_statement FROM information_schema.triggers WHERE "+
		schema.NotSystem("trigger_schema")+" UNION ALL SELECT 'event', event_schema, event_name, '', event_definition FROM information_schema.events WHERE "+
		schema.NotSystem("event_schema")+" UNION ALL SELECT LOWER(routine_type), routine_schema, routine_name, '', routine_definition FROM information_schema.routines WHERE "+
		schema.NotSystem("routine_schema"))
	if err != nil {
		return err
	}
	for _, b := range bodies {
		kind, db, name := routine.Kind(b[0]), string(b[1]), string(b[2])
		switch kind {
		case routine.Trigger:
			t := p.Snap.Table(db, string(b[3]))
			if t == nil || !slices.ContainsFunc(t.Triggers, func(tr catalog.Trigger) bool { return tr.Unknown && tr.Name == name }) {
				continue
			}
		case routine.Event:
			if p.Snap.Event(db, name) != nil {
				continue
			}
		default:
			if p.Snap.Routine(db, name, kind == routine.Function) != nil {
				continue
			}
		}
		if slices.ContainsFunc(ddl.NamesIn(string(b[4]), db), func(used string) bool { return strings.EqualFold(used, old.Database+"."+old.Name) }) {
			return sqlerr.Unsupported(fmt.Sprintf("placing the rows of table '%s' anew, which the %s '%s.%s' of its server uses", old.Name, kind, db, name),
				"drop it first, and create it again through Skarv")
		}
	}
	return nil
}
