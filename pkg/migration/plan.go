// Package migration plans a change of the schema: from a statement to what is to run on every server and what is to be written into the
// catalog then. A plan is stored before it is run, by package control, and is enough for whoever leads next to go on.
package migration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/schema"
	"skarv/pkg/sharding"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// Planner turns a statement into Work. It changes nothing that a client can see: what a statement does to a table is found out on an empty
// copy of it in our own database. It is used once.
type Planner struct {
	Statement *ddl.Statement
	Snap      *catalog.Snapshot
	// Trial is the server of the node group that the step runs on first, in the state of Session.
	Trial *schema.Server
	// Sequences is the server of the node group that has MariaDB's sequences.
	Sequences *schema.Server
	// Session is the client's, User its account, and Roles those of the account that are active.
	Session schema.Session
	User    catalog.AccountName
	Roles   []catalog.AccountName
	// Job is the id of the job, which names what the planner creates, and Created when it was asked for.
	Job     string
	Created time.Time
	// EventSince, if not zero: nothing is to be done if the event that the statement is about was changed since.
	EventSince time.Time
	// Made, if not zero: no other table is to be dropped than the one of that number in the catalog.
	Made uint64
	// ZeroIsValue: the client's sql_mode has NO_AUTO_VALUE_ON_ZERO.
	ZeroIsValue bool
	// NextID gives out numbers for tables and indexes.
	NextID func(ctx context.Context) (uint64, error)

	work   *Work
	undone bool // what the statement does to a table can be taken back, as was tried
	copied bool // a server makes a copy of the table for it, as was tried if it adds foreign keys, on MariaDB
}

// errNothingToDo ends planning: the statement succeeds without any change.
var errNothingToDo = errors.New("nothing to do")

// Plan returns the work of a statement, or the error the client is to see.
func (p *Planner) Plan(ctx context.Context) (*Work, error) {
	p.work = &Work{}
	for _, o := range p.Statement.Objects {
		if schema.IsSystem(o.DB) {
			return nil, sqlerr.AccessDeniedDB.New(p.User, "%", o.DB)
		}
	}
	var err error
	switch p.Statement.Verb {
	case ddl.CreateTable:
		err = p.createTable(ctx)
	case ddl.AlterTable, ddl.CreateIndex, ddl.DropIndex:
		err = p.alterTable(ctx)
	case ddl.CreateView, ddl.AlterView:
		err = p.createView(ctx)
	case ddl.DropTable, ddl.DropView:
		err = p.dropTables()
	case ddl.RenameTable:
		err = p.renameTables(ctx)
	case ddl.TruncateTable:
		err = p.truncate(ctx)
	case ddl.CreateDatabase:
		err = p.createDatabase()
	case ddl.AlterDatabase:
		err = p.alterDatabase()
	case ddl.DropDatabase:
		err = p.dropDatabase(ctx)
	case ddl.CreateProgram, ddl.AlterProgram, ddl.DropProgram:
		err = p.planProgram(ctx)
	case ddl.SwitchEvents:
		p.work.EventsOff = &p.Statement.EventsOff
	case ddl.Maintain:
		p.work.Step = &Step{SQL: p.Statement.Text, Repeat: true}
	}
	if err != nil && !errors.Is(err, errNothingToDo) {
		return nil, err
	}
	return p.work, nil
}

// note is a note in the place of an error.
func (p *Planner) note(e *sqlerr.Error) {
	if len(p.work.Warnings) < schema.MaxWarnings {
		p.work.Warnings = append(p.work.Warnings, schema.Warning{Level: "Note", Code: e.Code, Message: e.Message})
	}
}

// database returns the database of o, which must be there.
func (p *Planner) database(o ddl.Name) (*catalog.Database, error) {
	d := p.Snap.Databases[o.DB]
	if d == nil {
		return nil, sqlerr.UnknownDatabase.New(o.DB)
	}
	return d, nil
}

func (p *Planner) watch(o ddl.Name) { p.work.Watched = append(p.work.Watched, o.Object) }

// notSequence ends the making or changing of a table or view of a name that a sequence has, of which the catalog does not know: the groups without it
// would have both. A server that is asked for a table IF NOT EXISTS takes the sequence for it, and nothing may drop it.
func (p *Planner) notSequence(ctx context.Context, o ddl.Name) error {
	if p.Snap.Flavor != catalog.MariaDB || p.Snap.Table(o.DB, o.Name) != nil {
		return nil
	}
	is, err := schema.IsSequence(ctx, p.Sequences, o.Object)
	switch {
	case err != nil || !is:
		return err
	case p.Statement.Verb == ddl.AlterView, p.Statement.Verb == ddl.CreateView && p.Statement.OrReplace:
		return sqlerr.WrongObject.New(fmt.Sprintf("'%s.%s' is not of type 'VIEW'", o.DB, o.Name))
	case p.Statement.OrReplace:
		return sqlerr.Unsupported(fmt.Sprintf("a table in the place of the sequence '%s'", o.Name), "drop the sequence first")
	case p.Statement.IfExists && p.Statement.Verb != ddl.RenameTable && p.Statement.Verb != ddl.AlterTable: // of these it speaks of what is changed
		p.note(sqlerr.TableExists.New(o.Name))
		return errNothingToDo
	}
	return sqlerr.TableExists.New(o.Name)
}

func (p *Planner) createTable(ctx context.Context) error {
	o := p.Statement.Objects[0]
	d, err := p.database(o)
	if err != nil {
		return err
	}
	old := d.Tables[o.Name]
	switch {
	case old != nil && p.Statement.IfExists:
		p.note(sqlerr.TableExists.New(o.Name))
		return errNothingToDo
	case old != nil && !p.Statement.OrReplace:
		return sqlerr.TableExists.New(o.Name)
	case old != nil && old.Kind == catalog.View:
		return sqlerr.IsView.New(o)
	case old == nil:
		if err := p.notSequence(ctx, o); err != nil {
			return err
		}
	case p.Statement.Like != nil && p.Snap.Table(p.Statement.Like.DB, p.Statement.Like.Name) == old:
		return sqlerr.NotUniqueTable.New(o.Name)
	}
	r := Refresh{Object: o.Object, Origin: sharding.Origin{Key: p.Statement.Key, KeyGiven: p.Statement.Partitioned, MayStay: true}, NewID: true}
	if l := p.Statement.Like; l != nil {
		source := p.Snap.Table(l.DB, l.Name)
		if source == nil {
			return sqlerr.NoSuchTable.New(l.DB, l.Name)
		}
		if source.HiddenKey && p.Snap.Flavor == catalog.MySQL {
			required, err := p.Trial.One(ctx, "SELECT @@sql_require_primary_key")
			if err != nil {
				return err
			}
			if required == "1" {
				return sqlerr.PrimaryKeyRequired.New()
			}
		}
		r.Like = &l.Object
	}
	t, edits, err := p.placeNew(ctx, o, d, r.Origin)
	if err != nil {
		return err
	}
	if err := p.newIndexes(ctx, t, &r); err != nil {
		return err
	}
	if old != nil {
		p.dropIndexes(old, nil)
		p.close(o.Object)
	} else {
		p.appear(o.Object)
		p.work.Unused = len(t.ForeignKeys) == 0 && p.Statement.Like == nil
	}
	s := Step{SQL: p.Statement.Rewrite(edits...), Repeat: p.Statement.OrReplace}
	if old == nil {
		s.Undo = []string{"DROP TABLE IF EXISTS " + o.SQL()}
	} else {
		s.Dropping = "DROP TABLE IF EXISTS " + o.SQL()
	}
	p.work.Step = &s
	p.work.Refresh = []Refresh{r}
	p.watch(o)
	return nil
}

// placeNew finds out what the table of a CREATE TABLE in the database in will be, and how the statement is to be edited that it is: with the hidden key, if
// no key tells its rows apart.
func (p *Planner) placeNew(ctx context.Context, o ddl.Name, in *catalog.Database, from sharding.Origin) (*catalog.Table, []ddl.Edit, error) {
	try := func(edits ...ddl.Edit) (*schema.Definition, error) {
		def, err := p.tryCreate(ctx, o, in, edits)
		if err == nil {
			def.Table.Database, def.Table.Name = o.DB, o.Name
			schema.FixReferences(def.Table, o.DB)
		}
		return def, err
	}
	def, err := try()
	if err != nil {
		return nil, nil, err
	}
	t, needsKey, err := sharding.Place(p.Snap, def, from)
	if err != nil || !needsKey {
		return t, nil, err
	}
	if p.Statement.Mentions("PARTITION") && !p.Statement.Partitioned {
		return nil, nil, errPartitionsWithoutKey()
	}
	if err := p.roomForKey(o, def); err != nil {
		return nil, nil, err
	}
	e, ok := p.Statement.Define(hiddenKeyText(p.Snap.Flavor))
	if !ok {
		return nil, nil, sqlerr.Unsupported("this form of CREATE TABLE without a primary key", "add a primary key")
	}
	if p.Statement.OrReplace { // a server that refuses it with that key has dropped the old table by then
		if def, err = try(e); err != nil {
			return nil, nil, err
		}
	} else {
		def.AddHiddenKey()
	}
	t, _, err = sharding.Place(p.Snap, def, from)
	return t, []ddl.Edit{e}, err
}

// roomForKey refuses a table that has as many keys as servers allow, and none of them tells its rows apart.
func (p *Planner) roomForKey(o ddl.Name, def *schema.Definition) error {
	if len(def.Full) < 64 {
		return nil
	}
	return sqlerr.Unsupported("64 keys in table '"+o.Name+"', which has no primary key", "leave one out, or give it a primary key: Skarv adds one to such tables, and servers allow no 65 keys")
}

// hiddenKeyText is the hidden key as part of a list of columns. Its values come from the cluster's sequence.
func hiddenKeyText(flavor catalog.Flavor) string {
	def := "" // MySQL: a statement that does not fill it fails, as it should
	if flavor == catalog.MariaDB {
		def = " DEFAULT 0" // MariaDB wants a default for what can be left out
	}
	return fmt.Sprintf("`%[1]s` BIGINT UNSIGNED NOT NULL INVISIBLE%[2]s, PRIMARY KEY (`%[1]s`)", catalog.HiddenKey, def)
}

// tryCreate creates the table in our own database, by the statement with these edits, reads what it is and drops it. When the server refuses that, it is
// asked under the table's real name, for the words of its refusal, unless a table has it: that one stays, for the refusal may be one of
// our database only.
func (p *Planner) tryCreate(ctx context.Context, o ddl.Name, in *catalog.Database, with []ddl.Edit) (*schema.Definition, error) {
	trial := schema.Trial(p.Job, "")
	drop := "DROP TABLE IF EXISTS " + trial.SQL()
	if _, err := p.Trial.Exec(ctx, "SET @skarv_checks = @@foreign_key_checks, SESSION foreign_key_checks = 0"); err != nil {
		return nil, err
	}
	edits := append(slices.Clone(with), o.As(trial))
	if e, ok := p.Statement.Collate(in.Charset, in.Collation); ok { // else our database would decide
		edits = append(edits, e)
	}
	err := p.Trial.Try(ctx, p.Job, p.Statement.Rewrite(edits...))
	if _, e := p.Trial.Exec(ctx, "SET SESSION foreign_key_checks = @skarv_checks"); e != nil {
		return nil, e
	}
	if err == nil {
		def, err := schema.ReadDefinition(ctx, p.Trial, trial)
		if _, e := p.Trial.Exec(ctx, drop); err == nil {
			err = e
		}
		if err == nil && def == nil {
			err = fmt.Errorf("node group %s: a table just created is not there", p.Trial.Group)
		}
		return def, err
	}
	refused, ok := errors.AsType[*sqlerr.Error](err)
	if !ok {
		return nil, err
	}
	if p.Statement.OrReplace {
		return nil, p.realNames(refused, o)
	}
	if _, err := p.Trial.Exec(ctx, p.Statement.Rewrite(with...)); err != nil {
		return nil, err
	}
	def, err := schema.ReadDefinition(ctx, p.Trial, o.Object)
	if _, e := p.Trial.Exec(ctx, "DROP TABLE IF EXISTS "+o.SQL()); err == nil {
		err = e
	}
	if err == nil && def == nil {
		err = p.realNames(refused, o)
	}
	return def, err
}

// realNames writes a refusal that speaks of the trial as it would be for the real table.
func (p *Planner) realNames(e *sqlerr.Error, o ddl.Name) *sqlerr.Error {
	trial := schema.Trial(p.Job, "")
	out := *e
	out.Message = strings.NewReplacer(
		trial.SQL(), o.SQL(),
		trial.DB+"."+trial.Name, o.DB+"."+o.Name,
		trial.DB+"/"+trial.Name, o.DB+"/"+o.Name,
		"'"+trial.DB+"/", "'"+o.DB+"/",
		trial.Name, o.Name,
		sqltypes.QuoteName(catalog.OwnDB), sqltypes.QuoteName(o.DB),
	).Replace(e.Message)
	return &out
}

func (p *Planner) alterTable(ctx context.Context) error {
	o := p.Statement.Objects[0]
	if _, err := p.database(o); err != nil {
		return err
	}
	old := p.Snap.Table(o.DB, o.Name)
	if old == nil {
		if p.Statement.IfExists && p.Statement.Verb == ddl.AlterTable {
			missing := sqlerr.NoSuchTable.New(o.DB, o.Name)
			p.work.Warnings = append(p.work.Warnings, schema.Warning{Level: "Error", Code: missing.Code, Message: missing.Message})
			return errNothingToDo
		}
		return sqlerr.NoSuchTable.New(o.DB, o.Name)
	}
	if old.Kind == catalog.View {
		return sqlerr.WrongObject.New(fmt.Sprintf("'%s.%s' is not of type 'BASE TABLE'", o.DB, o.Name))
	}
	r := Refresh{Object: o.Object, Origin: sharding.Origin{Old: &o.Object, Renamed: p.Statement.RenamedColumns()}, TakeCounter: p.Statement.SetsCounter()}
	p.watch(o)
	if to := p.Statement.RenameTo; to != nil {
		if schema.IsSystem(to.DB) {
			return sqlerr.AccessDeniedDB.New(p.User, "%", to.DB)
		}
		if _, err := p.database(*to); err != nil {
			return err
		}
		if err := p.notSequence(ctx, *to); err != nil {
			return err
		}
		r.Object = to.Object
		p.watch(*to)
		if to.Object != o.Object {
			p.work.Drop = append(p.work.Drop, o.Object)
			p.close(o.Object)
			p.close(childrenOf(p.Snap, o.Object)...)
			p.appear(to.Object)
		}
	}
	before, after, err := p.tryAlter(ctx, o, old.HiddenKey)
	if sqlerr.HasCode(err, sqlerr.NotPartitioned) && !slices.Equal(old.Distribution, old.Primary) {
		return sqlerr.Unsupported("managing partitions of a table made with PARTITION BY KEY", "leave the clause out: Skarv places its rows")
	}
	if err != nil {
		return err
	}
	if p.Statement.Ignores && old.Kind == catalog.Sharded {
		return sqlerr.Unsupported(fmt.Sprintf("ALTER IGNORE TABLE of table '%s', whose rows lie on several node groups", o.Name),
			"leave IGNORE out: DELETE or UPDATE the rows that are in the way first")
	}
	kind, key, err := p.placedAnew(old, before, after)
	if err != nil {
		return err
	}
	if unhides := old.HiddenKey && before.Table.Column(catalog.HiddenKey) < 0; unhides || kind != "" {
		return p.rebuildTable(ctx, o, old, before, after, sharding.Origin{Becomes: kind, Key: key})
	}
	after.Table.Database, after.Table.Name, after.Table.Triggers = r.DB, r.Name, triggersOver(old, after.Table)
	schema.FixReferences(after.Table, o.DB)
	p.renameReferences(old, after.Table)
	p.newCounter(before, after, old)
	if err := p.tellsItself(o, before, after); err != nil {
		return err
	}
	snap := p.Snap
	if r.Object != o.Object {
		snap = p.Snap.With([]*catalog.Table{old}, []*catalog.Table{old.Renamed(r.DB, r.Name)}) // as foreign keys to it will be
		for _, child := range childrenOf(p.Snap, o.Object) {
			p.work.Refresh = append(p.work.Refresh, refreshed(child))
		}
	} else if snap = p.Snap.Referring(o.DB, o.Name, r.Renamed); snap != p.Snap {
		for _, child := range childrenOf(p.Snap, o.Object) {
			p.close(child)
			p.work.Refresh = append(p.work.Refresh, refreshed(child))
		}
	}
	if before.Auto < 0 && after.Auto >= 0 {
		r.TakeCounter = true
	}
	rr := r
	if r.Object != o.Object {
		rr.Old = &r.Object
	}
	t, _, err := sharding.Place(snap, after, rr.Origin)
	if err != nil {
		return err
	}
	came := p.came(before)
	if err := p.sameCopies(old, after, came); err != nil {
		return err
	}
	for i := range t.Unique {
		// Which rows the statement drops no index knows.
		if x := &t.Unique[i]; p.Statement.DropsRows || x.Global != 0 && (otherColumns(old, t, *x, came) || t.Computed(*x) && otherDefinitions(before, after)) {
			x.Global = 0
		}
	}
	if err := p.newIndexes(ctx, t, &r); err != nil {
		return err
	}
	p.dropIndexes(old, t)
	p.widenEntries(old, t)
	s := Step{SQL: p.Statement.Rewrite(p.nameKeys(old, after.Table)...), Altered: &Altered{Table: r.Object, Keys: KeysOf(before.Create), Replaces: replaces(before, after)}}
	if p.undone && !p.enforces() && len(p.Statement.DroppedColumns())+len(p.Statement.RenamedColumns()) == 0 {
		s.Altered.Back = undoAlter(before, after)
	}
	p.work.Step, p.work.OwnRows = &s, old.Kind == catalog.Sharded
	if len(r.Global) > 0 {
		if err := p.build(old, t, r, came); err != nil {
			return err
		}
	}
	if err := p.newKeys(ctx, o, old, t, snap, came); err != nil {
		return err
	}
	p.closeFor(old, t)
	if r.TakeCounter {
		p.closeForSequence(old)
	}
	p.rehearse(o, old, before, after)
	p.work.Refresh = append([]Refresh{r}, p.work.Refresh...)
	return nil
}

// renameReferences gives columns their new names in the foreign keys of t, which old becomes, to itself. The trial's are to another table of
// another database.
func (p *Planner) renameReferences(old, t *catalog.Table) {
	renamed := p.Statement.RenamedColumns()
	for i := range t.ForeignKeys {
		fk := &t.ForeignKeys[i]
		if fk.RefDB != t.Database || fk.RefTable != t.Name || !slices.ContainsFunc(old.ForeignKeys, func(k catalog.ForeignKey) bool { return k.Name == fk.Name }) {
			continue
		}
		for n, name := range fk.RefColumns {
			fk.RefColumns[n] = calledNow(renamed, name)
		}
	}
}

// newCounter notes how rows are found that servers would number, each for itself, because their column becomes AUTO_INCREMENT.
func (p *Planner) newCounter(before, after *schema.Definition, old *catalog.Table) {
	if old.Kind == catalog.Single || after.Auto < 0 || before.Auto >= 0 {
		return
	}
	if from := p.came(before)[strings.ToLower(after.Table.Columns[after.Auto].Name)]; from != nil {
		p.work.Unnumbered = fmt.Sprintf("SELECT EXISTS (SELECT 1 FROM %s WHERE %[2]s IS NULL OR %[2]s = 0)", old.SQL(), sqltypes.QuoteName(from.Name))
		if p.ZeroIsValue {
			p.work.Unnumbered = fmt.Sprintf("SELECT EXISTS (SELECT 1 FROM %s WHERE %s IS NULL)", old.SQL(), sqltypes.QuoteName(from.Name))
		}
	}
}

// tellsItself refuses to give columns each other's names where the table's text is the same before and behind it: nothing on a server would tell whether
// it has run there, and run twice it would put values back. Any other statement that leaves the text as it was may be run twice.
func (p *Planner) tellsItself(o ddl.Name, before, after *schema.Definition) error {
	if before.Create != after.Create {
		return nil
	}
	for from, to := range p.Statement.RenamedColumns() {
		if !strings.EqualFold(from, to) && before.Table.Column(from) >= 0 {
			return sqlerr.Unsupported(fmt.Sprintf("columns of table '%s' that take each other's names and leave its definition as it was", o.Name),
				"give one a third name first, in a statement of its own: nothing would tell which servers have done it")
		}
	}
	return nil
}

var (
	quotedText = regexp.MustCompile(`'(?:[^'\\]|\\.)*'`)
	byChance   = regexp.MustCompile(`(?i)\b(?:rand|uuid|uuid_short|uuid_v4|uuid_v7|sys_guid|random_bytes|sysdate|connection_id)\b`)
)

// sameCopies refuses new columns that each server would fill with values of its own, where all are to have the same.
func (p *Planner) sameCopies(old *catalog.Table, after *schema.Definition, came map[string]*catalog.Column) error {
	if old.Kind != catalog.Reference {
		return nil
	}
	for i := range after.Table.Columns {
		c := &after.Table.Columns[i]
		computed := c.ComputedDefault || p.Snap.Flavor == catalog.MariaDB
		if came[strings.ToLower(c.Name)] == nil && computed && byChance.MatchString(quotedText.ReplaceAllString(c.Default, "")) {
			return sqlerr.Unsupported(fmt.Sprintf("adding column '%s', whose DEFAULT is another one on every server, to a reference table", c.Name),
				"add it without the DEFAULT, UPDATE the rows, and set the DEFAULT with ALTER TABLE ... ALTER COLUMN")
		}
	}
	return nil
}

// tryAlter runs the statement on an empty copy of the table and returns what the copy was before and after. Of a table with the
// hidden key it does so on a copy without it first: a client knows nothing of that key, and what a server says to its statement
// must not depend on it. If the statement gives the table another key to tell rows apart by, that is what is returned.
func (p *Planner) tryAlter(ctx context.Context, o ddl.Name, hidden bool) (before, after *schema.Definition, err error) {
	if hidden {
		before, after, err := p.tryAlterOn(ctx, o, true)
		if err != nil || !after.Keyless() {
			return before, after, err
		}
		if err := p.roomForKey(o, after); err != nil {
			return nil, nil, err
		}
	}
	before, after, err = p.tryAlterOn(ctx, o, false)
	if hidden && sqlerr.HasCode(err, sqlerr.KeyOutsidePartitions) {
		err = errPartitionsWithoutKey()
	}
	return before, after, err
}

// errPartitionsWithoutKey refuses partitions of the servers where the primary key is one that the client has not written.
func errPartitionsWithoutKey() error {
	return sqlerr.Unsupported("partitions of the servers (PARTITION BY RANGE, LIST, HASH) in a table without a primary key",
		"give it a primary key that contains the columns they are made by, or keep it on one node group with COMMENT 'skarv:single'")
}

// triggersOver are the triggers of a table over the columns that it will have.
func triggersOver(old, t *catalog.Table) []catalog.Trigger {
	out := slices.Clone(old.Triggers)
	for i := range out {
		var sets []int
		for _, c := range out[i].Sets {
			if now := t.Column(old.Columns[c].Name); now >= 0 { // else the server has an error to tell, when it fires
				sets = append(sets, now)
			}
		}
		out[i].Sets = sets
	}
	return out
}

// WithHiddenKey is what an ALTER TABLE adds to a table whose rows no key tells apart. counted: the server numbers the rows, and those to come.
func WithHiddenKey(flavor catalog.Flavor, counted bool) string {
	text := hiddenKeyText(flavor)
	if counted {
		text = strings.Replace(strings.Replace(text, " DEFAULT 0", "", 1), " INVISIBLE", " INVISIBLE AUTO_INCREMENT", 1)
	}
	return " ADD COLUMN " + strings.Replace(text, ", ", ", ADD ", 1)
}

// WithoutHiddenKey makes of a table with the hidden key what clients take it for.
const WithoutHiddenKey = " DROP PRIMARY KEY, DROP COLUMN `" + catalog.HiddenKey + "`"

// tryAlterOn is tryAlter on a copy with the hidden key, or as it is shown to clients, without.
func (p *Planner) tryAlterOn(ctx context.Context, o ddl.Name, shown bool) (before, after *schema.Definition, err error) {
	trial, moved := schema.Trial(p.Job, ""), schema.Trial(p.Job, "_r")
	defer func() {
		_, e := p.Trial.Exec(ctx, "DROP TABLE IF EXISTS "+trial.SQL()+", "+moved.SQL())
		if e == nil {
			e = p.Trial.Use(ctx, p.Session)
		}
		if err == nil {
			err = e
		}
	}()
	if err := p.Trial.EmptyCopy(ctx, p.Job, o.Object, trial); err != nil {
		return nil, nil, err
	}
	if shown {
		if _, err := p.Trial.Exec(ctx, "ALTER TABLE "+trial.SQL()+WithoutHiddenKey); err != nil {
			return nil, nil, fmt.Errorf("make a copy of %s to try the change on: %w", o, err)
		}
	}
	if before, err = schema.ReadDefinition(ctx, p.Trial, trial); err != nil {
		return nil, nil, err
	}
	if err := p.Trial.Use(ctx, p.Session); err != nil {
		return nil, nil, err
	}
	if err := p.restrictWithoutAWord(ctx); err != nil {
		return nil, nil, err
	}
	if _, err := p.Trial.Exec(ctx, "SET SESSION foreign_key_checks = 0"); err != nil {
		return nil, nil, err
	}
	edits := []ddl.Edit{o.As(trial)}
	result := trial
	if to := p.Statement.RenameTo; to != nil {
		edits = append(edits, to.As(moved))
		result = moved
	}
	alter := p.Statement.Rewrite(edits...)
	if err := p.tryOn(ctx, alter); err != nil {
		if refused, ok := errors.AsType[*sqlerr.Error](err); ok {
			if sqlerr.HasCode(err, sqlerr.WrongForeignKey, sqlerr.MissingReferencedIndex) {
				refused, err = p.asChecked(ctx, alter, refused)
			}
			if refused != nil {
				err = p.realNames(refused, o)
			}
		}
		return nil, nil, err
	}
	after, err = schema.ReadDefinition(ctx, p.Trial, result)
	if err == nil && after == nil {
		err = fmt.Errorf("node group %s: the copy of %s is gone", p.Trial.Group, o)
	}
	if err == nil && p.Statement.RenameTo == nil {
		p.undone, err = p.undoes(ctx, &Altered{Table: trial, Keys: KeysOf(before.Create), Back: undoAlter(before, after)}, before)
	}
	return before, after, err
}

// tryOn runs alter, the statement on the copy, and finds out how a server does that, where it matters.
func (p *Planner) tryOn(ctx context.Context, alter string) error {
	if p.Snap.Flavor == catalog.MariaDB {
		refers, copied := p.Statement.Refers()
		if refers && !copied && p.Trial.Try(ctx, p.Job, alter+"\n, ALGORITHM = INPLACE") == nil {
			return nil
		}
		p.copied = refers
	}
	return p.Trial.Try(ctx, p.Job, alter)
}

// nameKeys gives the foreign keys that an ALTER TABLE adds to old, which becomes t, the names that servers give them, if old has such already: where
// it looks for no parents, MariaDB may take one that is taken, unless it copies the table. Then it would have other names.
func (p *Planner) nameKeys(old, t *catalog.Table) []ddl.Edit {
	if p.copied || p.Snap.Flavor != catalog.MariaDB || p.Statement.RenameTo != nil ||
		!slices.ContainsFunc(old.ForeignKeys, func(fk catalog.ForeignKey) bool { return schema.NumberOf(old, &fk) > 0 }) {
		return nil
	}
	var added []*catalog.ForeignKey
	for i := range t.ForeignKeys {
		fk := &t.ForeignKeys[i]
		if schema.NumberOf(t, fk) > 0 && !slices.ContainsFunc(old.ForeignKeys, func(k catalog.ForeignKey) bool { return k.Name == fk.Name }) {
			added = append(added, fk)
		}
	}
	slices.SortFunc(added, func(a, b *catalog.ForeignKey) int { return cmp.Compare(schema.NumberOf(t, a), schema.NumberOf(t, b)) })
	var names []ddl.KeyName
	for _, fk := range added {
		name := ddl.KeyName{Key: fk.Name, Column: t.Columns[fk.Columns[0]].Name}
		if i := slices.IndexFunc(t.Indexes, func(x catalog.Index) bool { return slices.Equal(x.Columns, fk.Columns) }); i >= 0 {
			name.Index = t.Indexes[i].Name
		}
		names = append(names, name)
	}
	edits, ok := p.Statement.NameKeys(names)
	if !ok {
		return nil
	}
	return edits
}

// restrictWithoutAWord leaves RESTRICT out of the foreign keys of an ALTER TABLE, which means the same: where it looks for no parents MariaDB
// adds them in another way, which makes NO ACTION of RESTRICT. It does so on one server if the client has switched that off.
func (p *Planner) restrictWithoutAWord(ctx context.Context) error {
	said := p.Statement.Restrictions()
	if p.Snap.Flavor != catalog.MariaDB || len(said) == 0 {
		return nil
	}
	looks, err := p.Trial.One(ctx, "SELECT @@foreign_key_checks")
	if looks == "1" {
		p.Statement.LeaveOut(said)
	}
	return err
}

// asChecked is the refusal of a statement about the copy as the client's foreign_key_checks have it: MariaDB has other words for a wrong foreign key
// where it looks for no parents.
func (p *Planner) asChecked(ctx context.Context, alter string, refused *sqlerr.Error) (*sqlerr.Error, error) {
	if err := p.Trial.Use(ctx, p.Session); err != nil {
		return nil, err
	}
	err := p.Trial.Try(ctx, p.Job, alter)
	if again, ok := errors.AsType[*sqlerr.Error](err); ok {
		return again, nil
	}
	return refused, err
}

// undoes reports whether a leaves of the copy, as the statement has made it, what it was before.
func (p *Planner) undoes(ctx context.Context, a *Altered, before *schema.Definition) (bool, error) {
	if a.Back == nil {
		return false, nil
	}
	if _, err := p.Trial.Exec(ctx, "SET SESSION foreign_key_checks = 0, SESSION sql_mode = ''"); err != nil {
		return false, err
	}
	create, err := schema.ReadCreate(ctx, p.Trial, a.Table)
	if err != nil {
		return false, err
	}
	if err := p.Trial.Try(ctx, p.Job, a.SQL(create)); err != nil {
		if _, ok := errors.AsType[*sqlerr.Error](err); ok {
			return false, nil
		}
		return false, err
	}
	create, err = schema.ReadCreate(ctx, p.Trial, a.Table)
	return create == before.Create, err
}

// undoAlter returns what takes back a change that only added something, but for keys; nil if it did more. It may overlook something: see undoes.
func undoAlter(before, after *schema.Definition) []string {
	parts, added := []string{}, false
	columns := map[string]bool{}
	for _, c := range before.Table.Columns {
		at := after.Table.Column(c.Name)
		if at < 0 || after.Table.Columns[at] != c {
			return nil
		}
		columns[c.Name] = true
	}
	keys := map[string]bool{}
	all := func(d *schema.Definition) []catalog.Index {
		return append(slices.Clone(d.Table.Unique), d.Table.Indexes...)
	}
	for _, x := range all(before) {
		if !slices.ContainsFunc(all(after), func(y catalog.Index) bool { return x.Name == y.Name && len(x.Columns) == len(y.Columns) }) {
			return nil
		}
		keys[x.Name] = true
	}
	if len(before.Table.Primary) != len(after.Table.Primary) {
		return nil
	}
	references := map[string]bool{}
	for _, fk := range before.Table.ForeignKeys {
		references[fk.Name] = true
	}
	kept := 0
	for _, fk := range after.Table.ForeignKeys {
		if references[fk.Name] {
			kept++
		} else {
			parts = append(parts, "DROP FOREIGN KEY "+sqltypes.QuoteName(fk.Name))
		}
	}
	if kept != len(references) {
		return nil
	}
	for _, name := range before.Checks {
		if !slices.Contains(after.Checks, name) {
			return nil
		}
	}
	for _, name := range after.Checks {
		switch {
		case slices.Contains(before.Checks, name), after.Table.Column(name) >= 0: // a column's own goes with it
		case schema.OfTrial(name): // nobody knows which number MySQL gives that of the table
			return nil
		default:
			parts = append(parts, "DROP CONSTRAINT "+sqltypes.QuoteName(name))
		}
	}
	for _, x := range all(after) {
		added = added || !keys[x.Name]
	}
	for _, c := range after.Table.Columns {
		if !columns[c.Name] {
			parts = append(parts, "DROP COLUMN "+sqltypes.QuoteName(c.Name))
		}
	}
	if len(parts) == 0 && !added {
		return nil
	}
	return parts
}

// enforces reports whether the statement may make of a CHECK constraint that is there one that rows must obey, or the other way round
// (MySQL).
func (p *Planner) enforces() bool { return p.Statement.Mentions("ENFORCED") }

// childrenOf lists the tables with foreign keys to parent.
func childrenOf(snap *catalog.Snapshot, parent ddl.Object) []ddl.Object {
	var out []ddl.Object
	for _, d := range snap.Databases {
		for _, t := range d.Tables {
			if slices.ContainsFunc(t.ForeignKeys, func(fk catalog.ForeignKey) bool {
				return fk.RefDB == parent.DB && fk.RefTable == parent.Name
			}) && (t.Database != parent.DB || t.Name != parent.Name) {
				out = append(out, ddl.Object{DB: t.Database, Name: t.Name})
			}
		}
	}
	slices.SortFunc(out, func(a, b ddl.Object) int { return strings.Compare(a.String(), b.String()) })
	return out
}
