package takeover

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/mover"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
)

// Where the rows of imported tables are to live. A table whose rows cannot be spread stays whole: a single table works as
// it did on the server, on the node group it is on.

// smallTable is up to how many rows a table that others refer to is proposed as a reference table.
const smallTable = 10000

func (i *importer) decide() {
	i.snap = &catalog.Snapshot{Flavor: i.facts.Node.Flavor, ServerVersion: i.facts.Node.Version, Databases: map[string]*catalog.Database{},
		Groups: []*catalog.NodeGroup{i.req.Group.NodeGroup(firstGroup, i.facts)}}
	for _, d := range i.databases {
		i.snap.Databases[d.Name] = &catalog.Database{Name: d.Name, Charset: d.Charset, Collation: d.Collation, Tables: map[string]*catalog.Table{}}
	}
	i.checkChoices()
	i.takeOver()
	named := i.namedInBodies()
	for _, t := range i.tables {
		i.placeOne(t, named[t.label()])
	}
	i.settleForeignKeys()
	for _, t := range i.tables {
		if t.table != nil {
			i.snap.Databases[t.Database].Tables[t.Name] = t.table
		}
	}
	for _, t := range i.tables {
		i.describe(t)
	}
	if i.undefined != nil {
		i.findings = append(i.findings, Finding{LevelNote,
			"views and programs whose definers are no accounts of the cluster are used in the name of whoever uses them: " + firstOf(i.undefined),
			"import the definers (--accounts), or write them anew with CREATE OR REPLACE and a DEFINER"})
	}
	i.propose()
	i.databases = i.databases[:0:0]
	for _, d := range i.snap.Databases {
		i.databases = append(i.databases, d)
	}
	slices.SortFunc(i.databases, func(a, b *catalog.Database) int { return strings.Compare(a.Name, b.Name) })
}

// checkChoices refuses choices for tables that there are not, and two for one.
func (i *importer) checkChoices() {
	known := map[string]bool{}
	for _, t := range i.tables {
		known[t.label()] = true
		known[t.Database+".*"] = true
	}
	said := map[string]int{}
	for name := range i.req.Keys {
		said[name]++
	}
	for _, name := range slices.Concat(i.req.References, i.req.Singles) {
		said[name]++
	}
	for name, n := range said {
		switch {
		case !known[name]:
			i.findings = append(i.findings, Finding{LevelRefused, "there is no table " + name, "name it DATABASE.TABLE, as SHOW TABLES writes it"})
		case n > 1:
			i.findings = append(i.findings, Finding{LevelRefused, "more than one choice was made for table " + name, "keep one"})
		}
	}
	slices.SortFunc(i.findings, func(a, b Finding) int { return strings.Compare(a.What, b.What) })
}

// chosen reports whether a list of choices names the table.
func chosen(list []string, t *importedTable) bool {
	return slices.Contains(list, t.label()) || slices.Contains(list, t.Database+".*")
}

// namedInBodies finds the tables that triggers, and events and routines that are not taken over, may use: on the server these
// run by themselves, where not every row will be. Any word that is such a table's name counts.
func (i *importer) namedInBodies() map[string]string {
	out := map[string]string{}
	tables := map[string]bool{}
	for _, t := range i.tables {
		tables[t.label()] = true
	}
	var left []*body
	for _, b := range i.bodies {
		if b.ours {
			continue
		}
		left = append(left, b)
		if b.table != "" {
			out[b.db+"."+b.table] = "it has the " + b.what
		}
		if b.hidden {
			i.findings = append(i.findings, Finding{LevelWarning, "the text of " + b.what + " may not be read: tables it uses cannot be told",
				"give Skarv's account the privilege to see it, or name the tables with --single"})
		}
		for _, name := range ddl.NamesIn(b.text, b.db) {
			if tables[name] && out[name] == "" {
				out[name] = "the " + b.what + " uses it"
			}
		}
	}
	if len(left) > 0 {
		var list []string
		for _, b := range left {
			list = append(list, b.what)
		}
		i.findings = append(i.findings, Finding{LevelWarning,
			"triggers, events and routines stay where they are, on this server, and see its rows only: " + firstOf(list),
			"the tables they use stay single tables: do what they do in the application, or in a procedure, to have their tables distributed"})
	}
	return out
}

// firstOf is a list as a finding has it.
func firstOf(list []string) string {
	more := ""
	if len(list) > 10 {
		list, more = list[:10], fmt.Sprintf(" and %d more", len(list)-10)
	}
	return strings.Join(list, ", ") + more
}

// placeOne decides on one table by itself; inBody says that a text on the server uses it.
func (i *importer) placeOne(t *importedTable, inBody string) {
	if t.def == nil {
		t.Why = "a " + strings.ToLower(t.kind) // which is used where it is
		return
	}
	if t.def.Table.Kind == catalog.View {
		i.try(t, sharding.Origin{}, "")
		if t.Why = "a view"; t.table != nil && !t.table.Invoker {
			t.table.Definer = i.definer("view "+t.label(), t.def.Definer)
		}
		return
	}
	key, byKey := i.req.Keys[t.label()]
	reference, single := chosen(i.req.References, t), chosen(i.req.Singles, t)
	if single {
		i.stay(t, "asked for")
		return
	}
	wanted := byKey || slices.Contains(i.req.References, t.label())
	if reasons := i.whole(t, inBody); len(reasons) > 0 {
		for _, why := range reasons {
			if wanted {
				t.find(LevelRefused, why.What, why.Fix)
			} else {
				t.find(LevelWarning, "it stays on this node group: "+why.What, why.Fix)
			}
		}
		if !wanted {
			i.stay(t, reasons[0].What)
		}
		return
	}
	var err error
	switch {
	case reference:
		t.Why, err = "a reference table, as asked for", i.try(t, sharding.Origin{}, "skarv:reference")
	case byKey:
		t.Why, err = "--key", i.try(t, sharding.Origin{Key: key, KeyGiven: true}, "")
	default:
		err = i.byItself(t)
	}
	if err == nil && t.table.Kind == catalog.Sharded {
		if merr := mover.Movable(t.table, i.facts.Node.Flavor); merr != nil {
			err = merr
		}
	}
	if err == nil {
		return
	}
	what, fix, refused := sqlerr.Refusal(err)
	if e, ok := errors.AsType[*sqlerr.Error](err); ok && !refused {
		what = e.Message
	} else if !ok {
		what = err.Error()
	}
	if wanted || reference {
		t.table = nil
		t.find(LevelRefused, what, fix)
		return
	}
	i.stay(t, what)
	t.find(LevelWarning, "it stays on this node group: "+what, fix)
}

// whole lists reasons why a table's rows stay together, whatever its keys are.
func (i *importer) whole(t *importedTable, inBody string) (out []Finding) {
	add := func(what, fix string) { out = append(out, Finding{What: what, Fix: fix}) }
	if !strings.EqualFold(t.engine, "InnoDB") {
		add("its engine is "+t.engine, fmt.Sprintf("ALTER TABLE %s ENGINE=InnoDB", t.def.Table.Name))
	}
	if t.kind == "SYSTEM VERSIONED" {
		add("it is system-versioned, and its history could not be moved", "keep history in a table of its own")
	}
	if column := t.def.Table.AsksSequence(); column != "" {
		add("the DEFAULT of its column "+column+" asks a sequence; no node group can be added while it does", "drop the DEFAULT, and ask for NEXTVAL() in the INSERT")
	}
	if inBody != "" {
		add(inBody, "drop that, and do in the application what it does")
	}
	if t.def.Keyless() {
		add("it has no primary key", fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (...), before the import", t.def.Table.Name))
	}
	return out
}

// byItself places a table by what its definition says.
func (i *importer) byItself(t *importedTable) error {
	comment := t.def.Comment
	for _, option := range []string{"key", "reference", "single"} {
		if _, ok := ddl.Option(comment, option); ok {
			t.Why = "its comment says so"
			return i.try(t, sharding.Origin{}, comment)
		}
	}
	if t.partition != "" {
		t.Why = "its PARTITION BY KEY"
		return i.try(t, sharding.Origin{Key: ddl.SplitNames(t.partition), KeyGiven: true}, "")
	}
	t.Why = "its primary key"
	if _, ok := t.def.Full["PRIMARY"]; !ok {
		t.Why = "a unique key, in place of a primary key"
	}
	return i.try(t, sharding.Origin{}, "")
}

// try places t as the comment and r say.
func (i *importer) try(t *importedTable, r sharding.Origin, comment string) error {
	def, table := *t.def, *t.def.Table
	table.Unique = slices.Clone(table.Unique)
	def.Table, def.Comment = &table, comment
	empty := *i.snap
	empty.Databases = map[string]*catalog.Database{}
	for name, d := range i.snap.Databases {
		empty.Databases[name] = &catalog.Database{Name: d.Name, Charset: d.Charset, Collation: d.Collation, Tables: map[string]*catalog.Table{}}
	}
	placed, needsKey, err := sharding.Place(&empty, &def, r)
	if err == nil && needsKey {
		err = errors.New("it has no primary key")
	}
	if err != nil {
		return err
	}
	t.table = placed
	for x := range placed.Unique {
		if placed.NeedsGlobal(placed.Unique[x]) {
			placed.Unique[x].Global = uint64(x) + 1 // its number comes with the import
		}
	}
	return placed.Prepare(i.facts.Node.Flavor)
}

// stay makes t a single table.
func (i *importer) stay(t *importedTable, why string) {
	t.Why = why
	def := *t.def
	table := *def.Table
	table.Unique = slices.Clone(table.Unique)
	table.Kind, table.Group, table.AutoIncrement = catalog.Single, firstGroup, -1
	table.Distribution, table.Global, table.Key = nil, nil, nil
	t.table = &table
}

// settleForeignKeys keeps tables whole that a foreign key ties to one that is, until all keys can be enforced.
func (i *importer) settleForeignKeys() {
	byName := map[string]*importedTable{}
	for _, t := range i.tables {
		if t.table != nil {
			byName[t.label()] = t
		}
	}
	for again := true; again; {
		again = false
		for _, child := range i.tables {
			if child.table == nil {
				continue
			}
			for k := range child.table.ForeignKeys {
				fk := &child.table.ForeignKeys[k]
				parent := byName[fk.RefDB+"."+fk.RefTable]
				if parent == nil {
					continue
				}
				err := sharding.Colocated(i.snap.Flavor, child.table, fk, parent.table)
				if err == nil {
					continue
				}
				for _, t := range []*importedTable{child, parent} {
					if t.table.Kind == catalog.Single {
						continue
					}
					again = true
					what := fmt.Sprintf("foreign key %s of %s ties it to %s", fk.Name, child.label(), parent.label())
					if t == parent {
						what = fmt.Sprintf("foreign key %s of %s refers to it", fk.Name, child.label())
					}
					fix := "drop the foreign key, or make the other table one that can be distributed"
					if _, byKey := i.req.Keys[t.label()]; byKey || t.table.Kind == catalog.Reference {
						t.find(LevelRefused, what+", and one of them is to stay whole", fix)
					} else {
						t.find(LevelWarning, "it stays on this node group: "+what, fix)
					}
					i.stay(t, what)
				}
			}
		}
	}
}

// describe fills in what the report says of t, now that all are placed.
func (i *importer) describe(t *importedTable) {
	if t.table == nil {
		return
	}
	t.Kind, t.Key = t.table.Kind, nil
	for _, c := range t.table.Distribution {
		t.Key = append(t.Key, t.table.Columns[c].Name)
	}
	for _, g := range t.table.Global {
		t.Global = append(t.Global, g.Name)
		t.find(LevelNote, fmt.Sprintf("UNIQUE KEY %s does not contain the distribution key: a global index keeps it unique", g.Name),
			"writes to it take two node groups; a distribution key that is part of all unique keys would not need it")
	}
	if t.Kind != catalog.Sharded {
		return
	}
	parents, _, _ := i.snap.Relations(t.table)
	for _, r := range parents {
		if r.Parent == nil || r.Parent.Kind != catalog.Sharded {
			continue
		}
		together := catalog.Together(t.table, r.Key, r.Parent)
		if !together {
			t.find(LevelNote, fmt.Sprintf("foreign key %s refers to rows on other node groups: Skarv enforces it", r.Key.Name), i.beside(t, &r))
			continue
		}
		if (catalog.Cascades(r.Key.OnDelete) || catalog.Cascades(r.Key.OnUpdate)) && !i.facts.LogsCascades() {
			t.find(LevelWarning, fmt.Sprintf("what the server does for foreign key %s (CASCADE or SET NULL) is not in its binary log: partitions cannot be moved", r.Key.Name),
				"use RESTRICT, drop the foreign key, or distribute the two tables by different columns")
		}
	}
}

// beside says how t's rows could live beside those they refer to.
func (i *importer) beside(t *importedTable, r *catalog.Relation) string {
	var columns []string
	for _, d := range r.Parent.Distribution {
		at := slices.IndexFunc(r.Key.RefColumns, func(n string) bool { return strings.EqualFold(n, r.Parent.Columns[d].Name) })
		if at < 0 {
			return ""
		}
		columns = append(columns, t.table.Columns[r.Key.Columns[at]].Name)
	}
	list := strings.Join(columns, ",")
	for _, c := range columns {
		if !slices.Contains(t.table.Primary, t.table.Column(c)) {
			return fmt.Sprintf("with (%s) in its primary key, --key %s=%s would keep its rows beside those of %s.%s", list, t.label(), list, r.Parent.Database, r.Parent.Name)
		}
	}
	return fmt.Sprintf("--key %s=%s keeps its rows beside those of %s.%s", t.label(), list, r.Parent.Database, r.Parent.Name)
}

// propose points at small tables that others refer to.
func (i *importer) propose() {
	for _, t := range i.tables {
		if t.table == nil || t.table.Kind != catalog.Sharded || t.Rows > smallTable || len(t.table.ForeignKeys) > 0 {
			continue
		}
		var children []string
		for _, c := range i.tables {
			if c.table != nil && c != t && c.table.Kind == catalog.Sharded && slices.ContainsFunc(c.table.ForeignKeys, func(fk catalog.ForeignKey) bool {
				return fk.RefDB == t.Database && fk.RefTable == t.Name
			}) {
				children = append(children, c.label())
			}
		}
		if len(children) > 0 {
			t.find(LevelNote, fmt.Sprintf("it is small, and %s refer to it", strings.Join(children, ", ")),
				fmt.Sprintf("--reference %s keeps a copy of it on every node group", t.label()))
		}
	}
}
