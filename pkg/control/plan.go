package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

// ownDB is the database on each server that belongs to Skarv.
const ownDB = catalog.OwnDB

// planner turns a DDL request into work. It changes nothing that a client can see: what a statement does to a table is
// found out on an empty copy of it in our own database.
type planner struct {
	snap  *catalog.Snapshot
	req   DDLRequest
	st    *statement
	trial *server // of the group the steps run on first
	id    string  // of the job: names what the planner creates
	// created is when the job was asked for.
	created time.Time
	// nextID gives out numbers for tables and indexes.
	nextID func(ctx context.Context) (uint64, error)
	work   *work
	// zeroIsValue: the client's sql_mode has NO_AUTO_VALUE_ON_ZERO.
	zeroIsValue bool
}

// errNothingToDo ends planning: the statement succeeds without any change.
var errNothingToDo = errors.New("nothing to do")

// plan returns the work of a statement, or the error the client is to see.
func (p *planner) plan(ctx context.Context) (*work, error) {
	p.work = &work{}
	for _, o := range p.st.objects {
		if isSystem(o.db) {
			return nil, sqlerr.AccessDeniedDB.New(p.req.User, "%", o.db)
		}
	}
	var err error
	switch p.st.verb {
	case createTable:
		err = p.createTable(ctx)
	case alterTable, createIndex, dropIndex:
		err = p.alterTable(ctx)
	case createView, alterView:
		err = p.createView()
	case dropTable, dropView:
		err = p.dropTables()
	case renameTable:
		err = p.renameTables()
	case truncateTable:
		err = p.truncate(ctx)
	case createDatabase:
		err = p.createDatabase()
	case alterDatabase:
		err = p.alterDatabase()
	case dropDatabase:
		err = p.dropDatabase()
	case createProgram, alterProgram, dropProgram:
		err = p.planProgram()
	case switchEvents:
		p.work.EventsOff = &p.st.eventsOff
	case maintain:
		p.work.Step = &step{SQL: p.st.text, Repeat: true}
	}
	if err != nil && !errors.Is(err, errNothingToDo) {
		return nil, err
	}
	return p.work, nil
}

// isSystem tells the databases that are the servers' or ours.
func isSystem(db string) bool {
	switch strings.ToLower(db) {
	case "mysql", "information_schema", "performance_schema", "sys", ownDB:
		return true
	}
	return false
}

func (p *planner) note(code sqlerr.Code, format string, args ...any) {
	if len(p.work.Warnings) < maxWarnings {
		p.work.Warnings = append(p.work.Warnings, Warning{Level: "Note", Code: code, Message: fmt.Sprintf(format, args...)})
	}
}

// database returns the database of o, which must be there.
func (p *planner) database(o object) (*catalog.Database, error) {
	d := p.snap.Databases[o.db]
	if d == nil {
		return nil, sqlerr.UnknownDatabase.New(o.db)
	}
	return d, nil
}

func (p *planner) watch(o object) { p.work.Watched = append(p.work.Watched, o.plain()) }

func (o object) plain() object1 { return object1{DB: o.db, Name: o.name} }

func (o object1) ptr() *object1 { return &o }

// trialName is a table that only this job uses.
func (p *planner) trialName(suffix string) object1 {
	return object1{DB: ownDB, Name: trialPrefix + p.id + suffix}
}

const trialPrefix = "ddl_"

func (p *planner) createTable(ctx context.Context) error {
	o := p.st.objects[0]
	d, err := p.database(o)
	if err != nil {
		return err
	}
	old := d.Tables[o.name]
	switch {
	case old != nil && p.st.ifExists:
		p.note(sqlerr.TableExists, "Table '%s' already exists", o.name)
		return errNothingToDo
	case old != nil && !p.st.orReplace:
		return sqlerr.TableExists.New(o.name)
	case old != nil && old.Kind == catalog.View:
		return sqlerr.IsView.New(o.db, o.name)
	case old != nil && p.st.like != nil && p.snap.Table(p.st.like.db, p.st.like.name) == old:
		return sqlerr.NotUniqueTable.New(o.name)
	}
	r := refresh{object1: o.plain(), Key: p.st.key, KeyGiven: p.st.partitioned, NewID: true}
	if l := p.st.like; l != nil {
		source := p.snap.Table(l.db, l.name)
		if source == nil {
			return sqlerr.NoSuchTable.New(l.db, l.name)
		}
		r.Like = l.plain().ptr()
	}
	def, err := p.tryCreate(ctx, o)
	if err != nil {
		return err
	}
	def.table.Database, def.table.Name = o.db, o.name
	fixReferences(def.table, o.db)
	t, needsKey, err := (&placing{snap: p.snap, def: def, refresh: r}).place()
	if err != nil {
		return err
	}
	if !needsKey {
		if err := p.newIndexes(ctx, t, &r); err != nil {
			return err
		}
	}
	if old != nil {
		p.dropIndexes(old, nil)
	}
	edits := p.st.cleanup(p.snap.Flavor)
	if needsKey {
		if p.mentions("PARTITION") && !p.st.partitioned {
			return sqlerr.Unsupported("partitions of the servers (PARTITION BY RANGE, LIST, HASH) in a table without a primary key",
				"give it a primary key that contains the columns they are made by, or leave the partitions out")
		}
		at, ok := p.st.definitionsEnd()
		if !ok {
			return sqlerr.Unsupported("this form of CREATE TABLE without a primary key", "add a primary key")
		}
		edits = append(edits, edit{start: at, end: at, with: hiddenKeyText(p.snap.Flavor)})
	}
	s := step{SQL: p.st.rewrite(edits...), Repeat: p.st.orReplace}
	if old == nil {
		s.Undo = []string{"DROP TABLE IF EXISTS " + o.sql()}
	}
	p.work.Step = &s
	p.work.Refresh = []refresh{r}
	p.watch(o)
	return nil
}

// hiddenKeyText is the hidden key as part of a list of columns. Its values come from the cluster's sequence.
func hiddenKeyText(flavor catalog.Flavor) string {
	def := "" // MySQL: a statement that does not fill it fails, as it should
	if flavor == catalog.MariaDB {
		def = " DEFAULT 0" // MariaDB wants a default for what can be left out
	}
	return fmt.Sprintf(", `%[1]s` BIGINT UNSIGNED NOT NULL INVISIBLE%[2]s, PRIMARY KEY (`%[1]s`)", catalog.HiddenKey, def)
}

// fixReferences makes the foreign keys of a trial table say what those of the real one would: unqualified names meant
// the trial's database.
func fixReferences(t *catalog.Table, db string) {
	for i := range t.ForeignKeys {
		if at := strings.LastIndex(t.ForeignKeys[i].Name, "_ibfk_"); at > 0 && strings.HasPrefix(t.ForeignKeys[i].Name, trialPrefix) {
			t.ForeignKeys[i].Name = t.Name + t.ForeignKeys[i].Name[at:] // a server's own name for it
		}
		if fk := &t.ForeignKeys[i]; fk.RefDB == ownDB {
			fk.RefDB = db
			if strings.HasPrefix(fk.RefTable, trialPrefix) {
				fk.RefTable = t.Name
			}
		}
	}
}

// tryCreate creates the table in our own database, reads what it is and drops it. When the server refuses that, it is
// asked under the table's real name, for the words of its refusal.
func (p *planner) tryCreate(ctx context.Context, o object) (*definition, error) {
	trial := p.trialName("")
	drop := "DROP TABLE IF EXISTS " + trial.sql()
	edits := append(p.st.cleanup(p.snap.Flavor), edit{start: o.start, end: o.end, with: trial.sql()})
	if _, err := p.trial.exec(ctx, "SET SESSION foreign_key_checks = 0"); err != nil {
		return nil, err
	}
	_, err := p.trial.exec(ctx, p.st.rewrite(edits...))
	if e := p.trial.settings(ctx, p.req); e != nil { // foreign_key_checks as the client has it
		return nil, e
	}
	if err == nil {
		def, err := readDefinition(ctx, p.trial, trial.DB, trial.Name)
		if _, e := p.trial.exec(ctx, drop); err == nil {
			err = e
		}
		if err == nil && def == nil {
			err = fmt.Errorf("node group %s: a table just created is not there", p.trial.group)
		}
		return def, err
	}
	var refused *sqlerr.Error
	if !errors.As(err, &refused) {
		return nil, err
	}
	if p.st.orReplace {
		return nil, p.realNames(refused, o)
	}
	if _, err := p.trial.exec(ctx, p.st.rewrite(p.st.cleanup(p.snap.Flavor)...)); err != nil {
		return nil, err
	}
	def, err := readDefinition(ctx, p.trial, o.db, o.name)
	if _, e := p.trial.exec(ctx, "DROP TABLE IF EXISTS "+o.sql()); err == nil {
		err = e
	}
	if err == nil && def == nil {
		err = p.realNames(refused, o)
	}
	return def, err
}

// realNames writes a refusal that speaks of the trial as it would be for the real table.
func (p *planner) realNames(e *sqlerr.Error, o object) *sqlerr.Error {
	trial := p.trialName("")
	out := *e
	out.Message = strings.NewReplacer(
		trial.sql(), o.sql(),
		trial.DB+"."+trial.Name, o.db+"."+o.name,
		trial.DB+"/"+trial.Name, o.db+"/"+o.name,
		trial.Name, o.name,
		quoteName(ownDB), quoteName(o.db),
	).Replace(e.Message)
	return &out
}

func (p *planner) alterTable(ctx context.Context) error {
	o := p.st.objects[0]
	if _, err := p.database(o); err != nil {
		return err
	}
	old := p.snap.Table(o.db, o.name)
	if old == nil {
		if p.st.ifExists && p.st.verb == alterTable {
			p.note(sqlerr.NoSuchTable, "Table '%s.%s' doesn't exist", o.db, o.name)
			return errNothingToDo
		}
		return sqlerr.NoSuchTable.New(o.db, o.name)
	}
	if old.Kind == catalog.View {
		return &sqlerr.Error{Code: 1347, State: "HY000", Message: fmt.Sprintf("'%s.%s' is not of type 'BASE TABLE'", o.db, o.name)}
	}
	r := refresh{object1: o.plain(), Old: o.plain().ptr(), Renamed: p.st.renamedColumns(), TakeCounter: p.st.setsCounter()}
	p.watch(o)
	if to := p.st.renameTo; to != nil {
		if isSystem(to.db) {
			return sqlerr.AccessDeniedDB.New(p.req.User, "%", to.db)
		}
		if _, err := p.database(*to); err != nil {
			return err
		}
		r.object1 = to.plain()
		p.watch(*to)
		if to.plain() != o.plain() {
			p.work.Drop = append(p.work.Drop, o.plain())
		}
	}
	before, after, err := p.tryAlter(ctx, o, old.HiddenKey)
	if err != nil {
		return err
	}
	if old.HiddenKey && before.table.Column(catalog.HiddenKey) < 0 {
		return p.rebuildTable(ctx, o, old, before, after)
	}
	after.table.Database, after.table.Name, after.table.Triggers = r.DB, r.Name, old.Triggers
	fixReferences(after.table, o.db)
	if err := p.newCounter(before, after, old); err != nil {
		return err
	}
	if err := p.keepsPlaces(old); err != nil {
		return err
	}
	snap := p.snap
	if r.object1 != o.plain() {
		snap = p.renamedSnapshot(old, r.object1)
		for _, child := range childrenOf(p.snap, o.plain()) {
			p.work.Refresh = append(p.work.Refresh, refresh{object1: child, Old: child.ptr()})
		}
	}
	if before.auto < 0 && after.auto >= 0 {
		r.TakeCounter = true
	}
	rr := r
	if r.object1 != o.plain() {
		rr.Old = r.object1.ptr()
	}
	t, _, err := (&placing{snap: snap, def: after, refresh: rr}).place()
	if err != nil {
		return err
	}
	if err := p.newIndexes(ctx, t, &r); err != nil {
		return err
	}
	p.dropIndexes(old, t)
	p.widenEntries(old, t)
	if len(r.Global) > 0 {
		if err := buildable(old, t, r); err != nil {
			return err
		}
		p.work.Build = o.plain().ptr()
	}
	if err := p.newKeys(o, old, t, snap); err != nil {
		return err
	}
	s := step{SQL: p.st.rewrite(p.st.cleanup(p.snap.Flavor)...)}
	if r.object1 == o.plain() {
		s.Undo = undoAlter(o, before, after)
	}
	p.work.Step, p.work.OwnRows = &s, old.Kind == catalog.Sharded
	p.rehearse(o, old, before, after)
	p.work.Refresh = append([]refresh{r}, p.work.Refresh...)
	return nil
}

// renamedSnapshot is p.snap with t under another name, as the foreign keys to it will be.
func (p *planner) renamedSnapshot(t *catalog.Table, to object1) *catalog.Snapshot {
	out := *p.snap
	out.Databases = map[string]*catalog.Database{}
	for name, d := range p.snap.Databases {
		fresh := *d
		fresh.Tables = map[string]*catalog.Table{}
		for k, other := range d.Tables {
			if other == t {
				continue
			}
			fresh.Tables[k] = other
		}
		out.Databases[name] = &fresh
	}
	moved := *t
	moved.Database, moved.Name = to.DB, to.Name
	if d := out.Databases[to.DB]; d != nil {
		d.Tables[to.Name] = &moved
	}
	return &out
}

// newCounter refuses to number existing rows: each server would do it for itself.
func (p *planner) newCounter(before, after *definition, old *catalog.Table) error {
	if old.Kind == catalog.Single || after.auto < 0 {
		return nil
	}
	name := after.table.Columns[after.auto].Name
	anew := p.st.droppedColumns()[strings.ToLower(name)]
	if before.auto >= 0 && !anew {
		return nil
	}
	if anew || before.table.Column(name) < 0 && !slices.ContainsFunc(mapValues(p.st.renamedColumns()), func(v string) bool { return strings.EqualFold(v, name) }) {
		return sqlerr.Unsupported("adding an AUTO_INCREMENT column to a table", "create a new table with that column and copy the rows with INSERT ... SELECT")
	}
	return nil
}

// keepsPlaces refuses to drop columns of the distribution key in order to add others of the same names.
func (p *planner) keepsPlaces(old *catalog.Table) error {
	dropped := p.st.droppedColumns()
	for _, c := range old.Distribution {
		if name := old.Columns[c].Name; dropped[strings.ToLower(name)] {
			return sqlerr.Unsupported(fmt.Sprintf("dropping column '%s', which is in the distribution key", name),
				"create a new table, copy the rows with INSERT ... SELECT and rename it")
		}
	}
	return nil
}

func mapValues(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// setsCounter tells whether an ALTER TABLE has the option AUTO_INCREMENT = n.
func (s *statement) setsCounter() bool {
	for i, t := range s.toks {
		if !t.is("AUTO_INCREMENT") || i+1 == len(s.toks) {
			continue
		}
		next := s.toks[i+1]
		if next.is("=") || next.kind == number {
			return true
		}
	}
	return false
}

// tryAlter runs the statement on an empty copy of the table and returns what the copy was before and after. Of a table with the
// hidden key it does so on a copy without it first: a client knows nothing of that key, and what a server says to its statement
// must not depend on it. If the statement gives the table another key to tell rows apart by, that is what is returned.
func (p *planner) tryAlter(ctx context.Context, o object, hidden bool) (before, after *definition, err error) {
	if hidden {
		before, after, err := p.tryAlterOn(ctx, o, true)
		if err != nil || !after.keyless() {
			return before, after, err
		}
	}
	return p.tryAlterOn(ctx, o, false)
}

// withoutHiddenKey makes of a table with the hidden key what clients take it for.
const withoutHiddenKey = " DROP PRIMARY KEY, DROP COLUMN `" + catalog.HiddenKey + "`"

// emptyCopy makes a table like another one, without rows, in the place of any that has its name. The session's settings are not a client's then.
func (s *server) emptyCopy(ctx context.Context, of, made object1) error {
	// sql_mode decides how the text is quoted and what it may say.
	for _, q := range []string{"SET SESSION foreign_key_checks = 0, SESSION sql_mode = ''", "USE " + quoteName(ownDB), "DROP TABLE IF EXISTS " + made.sql()} {
		if _, err := s.exec(ctx, q); err != nil {
			return err
		}
	}
	create, err := readCreate(ctx, s, of.DB, of.Name)
	if err != nil {
		return err
	}
	rest, ok := strings.CutPrefix(create, "CREATE TABLE "+quoteName(of.Name))
	if !ok {
		return sqlerr.NoSuchTable.New(of.DB, of.Name)
	}
	if _, err := s.exec(ctx, "CREATE TABLE "+made.sql()+rest); err != nil {
		return fmt.Errorf("make a copy of %s to try the change on: %w", of, err)
	}
	return nil
}

// tryAlterOn is tryAlter on a copy with the hidden key, or as it is shown to clients, without.
func (p *planner) tryAlterOn(ctx context.Context, o object, shown bool) (before, after *definition, err error) {
	trial, moved := p.trialName(""), p.trialName("_r")
	defer func() {
		_, e := p.trial.exec(ctx, "DROP TABLE IF EXISTS "+trial.sql()+", "+moved.sql())
		if e == nil {
			e = p.trial.settings(ctx, p.req)
		}
		if err == nil {
			err = e
		}
	}()
	if err := p.trial.emptyCopy(ctx, o.plain(), trial); err != nil {
		return nil, nil, err
	}
	if shown {
		if _, err := p.trial.exec(ctx, "ALTER TABLE "+trial.sql()+withoutHiddenKey); err != nil {
			return nil, nil, fmt.Errorf("make a copy of %s to try the change on: %w", o, err)
		}
	}
	if before, err = readDefinition(ctx, p.trial, trial.DB, trial.Name); err != nil {
		return nil, nil, err
	}
	if err := p.trial.settings(ctx, p.req); err != nil {
		return nil, nil, err
	}
	if _, err := p.trial.exec(ctx, "SET SESSION foreign_key_checks = 0"); err != nil {
		return nil, nil, err
	}
	edits := append(p.st.cleanup(p.snap.Flavor), edit{start: o.start, end: o.end, with: trial.sql()})
	result := trial
	if to := p.st.renameTo; to != nil {
		edits = append(edits, edit{start: to.start, end: to.end, with: moved.sql()})
		result = moved
	}
	if _, err := p.trial.exec(ctx, p.st.rewrite(edits...)); err != nil {
		var refused *sqlerr.Error
		if errors.As(err, &refused) {
			err = p.realNames(refused, o)
		}
		return nil, nil, err
	}
	after, err = readDefinition(ctx, p.trial, result.DB, result.Name)
	if err == nil && after == nil {
		err = fmt.Errorf("node group %s: the copy of %s is gone", p.trial.group, o)
	}
	return before, after, err
}

// undoAlter takes back a change that only added something; nil if it did more. Whether it did so is verified when it
// is used: what it overlooks is then reported.
func undoAlter(o object, before, after *definition) []string {
	var parts []string
	columns := map[string]bool{}
	for _, c := range before.table.Columns {
		at := after.table.Column(c.Name)
		if at < 0 || after.table.Columns[at] != c {
			return nil
		}
		columns[c.Name] = true
	}
	keys := map[string]bool{}
	all := func(d *definition) []catalog.Index {
		return append(slices.Clone(d.table.Unique), d.table.Indexes...)
	}
	for _, x := range all(before) {
		if !slices.ContainsFunc(all(after), func(y catalog.Index) bool { return x.Name == y.Name && len(x.Columns) == len(y.Columns) }) {
			return nil
		}
		keys[x.Name] = true
	}
	if len(before.table.Primary) != len(after.table.Primary) {
		return nil
	}
	references := map[string]bool{}
	for _, fk := range before.table.ForeignKeys {
		references[fk.Name] = true
	}
	kept := 0
	for _, fk := range after.table.ForeignKeys {
		if references[fk.Name] {
			kept++
		} else {
			parts = append(parts, "DROP FOREIGN KEY "+quoteName(fk.Name))
		}
	}
	if kept != len(references) {
		return nil
	}
	for _, name := range before.checks {
		if !slices.Contains(after.checks, name) {
			return nil
		}
	}
	for _, name := range after.checks {
		if !slices.Contains(before.checks, name) && after.table.Column(name) < 0 { // a column's own goes with it
			parts = append(parts, "DROP CONSTRAINT "+quoteName(name))
		}
	}
	for _, x := range all(after) {
		if !keys[x.Name] {
			parts = append(parts, "DROP INDEX "+quoteName(x.Name))
		}
	}
	for _, c := range after.table.Columns {
		if !columns[c.Name] {
			parts = append(parts, "DROP COLUMN "+quoteName(c.Name))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"ALTER TABLE " + o.sql() + " " + strings.Join(parts, ", ")}
}

// childrenOf lists the tables with foreign keys to parent.
func childrenOf(snap *catalog.Snapshot, parent object1) []object1 {
	var out []object1
	for _, d := range snap.Databases {
		for _, t := range d.Tables {
			if slices.ContainsFunc(t.ForeignKeys, func(fk catalog.ForeignKey) bool {
				return fk.RefDB == parent.DB && fk.RefTable == parent.Name
			}) && (t.Database != parent.DB || t.Name != parent.Name) {
				out = append(out, object1{DB: t.Database, Name: t.Name})
			}
		}
	}
	slices.SortFunc(out, func(a, b object1) int { return strings.Compare(a.String(), b.String()) })
	return out
}
