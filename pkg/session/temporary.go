package session

import (
	"cmp"
	"slices"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/plancache"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/temporary"
	"skarv/pkg/txn"
	"skarv/pkg/wire"
)

// temporaries is the temporary tables of a session: on one connection to one node group, which stays with the session
// until the last of them is dropped. Statements are planned with them as single tables of that group, which hide
// tables of the same names; whenever the session needs a connection to the group, it is this one.
type temporaries struct {
	conn   *backend.Conn
	busy   bool // given out by Get
	tables temporary.Tables
}

// snapshot is the present state of the cluster, with the session's temporary tables.
func (s *Session) snapshot() *catalog.Snapshot {
	snap := s.cfg.Snapshot()
	if s.temps == nil {
		return snap
	}
	return s.temps.tables.Over(snap)
}

// refresh takes over the present state of the cluster behind a statement that is part of another one. While that one stands it leaves the
// schema as it is: a table that is closed since waits for it, and for what it goes on to do.
func (s *Session) refresh() {
	if !s.hold.Stands() || s.cfg.Snapshot().SchemaRevision == s.snap.SchemaRevision {
		s.snap = s.snapshot()
	}
}

// pinned returns the connection that has the temporary tables, if it is one to group g and free.
func (s *Session) pinned(g placement.NodeGroupID) (c *backend.Conn, err error) {
	t := s.temps
	if t == nil || t.conn.Group != g || t.busy {
		return nil, nil
	}
	c = t.conn
	if !c.Usable() {
		s.client.Doom() // what it meant by their names would be other tables from now on
		return nil, sqlerr.ServerLost.New("the connection that had the session's temporary tables is lost, and they with it")
	}
	if err := s.syncHeld(c); err != nil {
		return nil, err
	}
	t.busy = true
	if s.isolation != "" {
		if _, err := c.Exec(s.isolation); err != nil {
			s.unpinned(c)
			return nil, txn.Lost(c, err)
		}
	}
	return c, nil
}

// beginPinned begins a transaction where the session's temporary tables are: the first branch is a plain transaction, in
// which they can be used.
func (s *Session) beginPinned(tx *txn.Txn) error {
	if s.temps == nil || tx.Open() {
		return nil
	}
	c, err := tx.Acquire(s, s.temps.conn.Group)
	if err != nil {
		return err
	}
	return s.syncHeld(c)
}

// aside returns a connection to g for a look at definitions: beside the transaction, unless temporary tables are there.
func (s *Session) aside(g placement.NodeGroupID) (*backend.Conn, error) {
	if s.temps != nil && s.temps.conn.Group == g {
		return s.acquire(g)
	}
	return s.Get(g)
}

// unpinned takes c back if it is the connection with the temporary tables.
func (s *Session) unpinned(c *backend.Conn) bool {
	t := s.temps
	if t == nil || t.conn != c {
		return false
	}
	t.busy = false
	if c.Usable() && c.LastStatus().Has(wire.StatusInTrans) { // of a look at something, with autocommit off
		_ = reset(c, "ROLLBACK")
	}
	if c.Dirty && c.Usable() {
		// It cannot be reset: all that the session has set is set again before its next use.
		c.Dirty = false
		c.SetState(&backend.State{})
	}
	return true
}

// dropTemporaries is what the end of a session, or its reset, does to its temporary tables.
func (s *Session) dropTemporaries() {
	if t := s.temps; t != nil {
		s.temps = nil
		s.plans, s.snap = [planSlots]*plancache.Entry{}, s.cfg.Snapshot()
		t.conn.Dirty = true // resetting it drops them
		t.conn.Release()
	}
}

// temporaryDDL runs a DDL about temporary tables; handled is false if it is about others.
func (s *Session) temporaryDDL(p *plan.Plan) (handled bool, err error) {
	own := 0
	for _, t := range p.Tables {
		if t.Temporary != "" {
			own++
		}
	}
	if s.temps != nil && p.Change.Object == plan.ObjectView {
		if err := s.viewOfTemporary(); err != nil {
			return true, err
		}
	}
	if s.temps != nil && p.Change.Is(plan.VerbCreate, plan.ObjectTrigger) {
		if err := s.triggerOnTemporary(); err != nil {
			return true, err
		}
	}
	if s.temps != nil && p.Change.Is(plan.VerbDrop, plan.ObjectDatabase) && s.temps.tables.In(p.Name) { // which servers leave
		return true, sqlerr.Unsupported("DROP DATABASE of one in which the session has temporary tables", "drop these first")
	}
	c, onTable := p.Change, p.Change.Object == plan.ObjectTable
	switch {
	case onTable && c.Temporary && c.Verb == plan.VerbCreate:
		return true, s.createTemporary(p)
	case onTable && c.Temporary && c.Verb == plan.VerbDrop:
		return true, s.dropTemporary(p, own)
	case own == 0:
		return false, nil
	case onTable && c.Verb == plan.VerbDrop:
		return true, s.dropTemporary(p, own)
	case c.Is(plan.VerbCreate, plan.ObjectTable) && own == 1 && s.makesHidden():
		return false, nil
	case p.Tables[0].Temporary == "" || own < len(p.Tables):
		return true, sqlerr.Unsupported("a definition that names temporary and other tables", "use several statements")
	}
	if !(onTable && c.Verb != plan.VerbCreate || c.Object == plan.ObjectIndex && !c.OrReplace) {
		return true, sqlerr.Unsupported(strings.ToUpper(c.String())+" over a temporary table", "create an ordinary table")
	}
	if err := s.commitImplicit(); err != nil {
		return true, err
	}
	return true, s.changeTemporary(p)
}

// pinnedGroup is the node group of the connection with the temporary tables, or of the one that shall be it.
func (s *Session) pinnedGroup() placement.NodeGroupID {
	if s.temps != nil {
		return s.temps.conn.Group
	}
	return s.anyGroup()
}

// onPinned runs a statement on the connection with the temporary tables.
func (s *Session) onPinned(sql []byte) (wire.OK, error) { return s.pinnedOn(s.pinnedGroup(), sql) }

// pinnedOn is onPinned where there is no such connection perhaps: then one to g becomes it.
func (s *Session) pinnedOn(g placement.NodeGroupID, sql []byte) (wire.OK, error) {
	c, err := s.acquire(g)
	if err != nil {
		return wire.OK{}, err
	}
	if s.temps == nil {
		c.Keep()
		s.temps = &temporaries{conn: c, busy: true}
	}
	s.client.Enter(c)
	ok, err := c.Exec(string(sql))
	s.client.Leave(c)
	if err == nil {
		s.noteBegun(c)
		s.diagnostics.Clear()
		if ok.Warnings > 0 {
			s.fetchWarnings(c, ok.Warnings)
		}
	}
	s.done(c, err)
	if err != nil {
		return ok, txn.Lost(c, err)
	}
	ok.Status, ok.SessionState = s.status(), nil
	return ok, nil
}

// forget unpins the connection once it has no temporary tables.
func (s *Session) forgetTemporaries() {
	s.plans = [planSlots]*plancache.Entry{}
	if t := s.temps; t != nil {
		if t.tables.Empty() {
			s.temps = nil
			if !s.holds(t.conn) && !s.statements.hasCursor(t.conn) {
				t.conn.Release()
			}
		}
	}
	s.snap = s.snapshot()
}

func (s *Session) createTemporary(p *plan.Plan) (err error) {
	if s.snap.Databases[p.Database] == nil {
		return sqlerr.UnknownDatabase.New(p.Database)
	}
	for _, t := range s.snap.Databases[p.Database].Tables {
		if t.Kind == catalog.View && strings.Contains(t.ViewText, sqltypes.QuoteName(p.Name)) {
			return sqlerr.Unsupported("a temporary table with a name that the view '"+t.Name+"' reads", "give it another name")
		}
	}
	existed := s.temps != nil && s.temps.tables.Table(p.Database, p.Name) != nil
	c, selects := s.findCreateSelect()
	if selects {
		if err := s.selectsParameter(c.query); err != nil {
			return err
		}
	}
	if selects { // whose rows MySQL takes back by ROLLBACK
		fresh, next := s.tx == nil, s.isolation
		if err := s.beginData(); err != nil {
			return err
		}
		defer func() {
			if fresh && s.tx != nil && s.beginsNone(err) {
				s.unbegin(next)
			}
		}()
	}
	g := s.pinnedGroup()
	var query []byte // what fills the table, if no server alone has all that it reads
	none := ""
	if selects && !s.aloneOn(g, s.args.AppendSpan(nil, c.query)) {
		query, none = s.queryOf(&c)
	}
	// rest appends the rest of the statement from a place in it: the table is made without rows, if they come from several node groups.
	rest := func(create []byte, from int) []byte {
		if query == nil {
			return s.args.AppendSpan(create, sqlparse.Span{Start: from, End: len(s.stmt.SQL())})
		}
		return append(s.args.AppendSpan(create, sqlparse.Span{Start: from, End: c.query.Start}), none...)
	}
	// MariaDB takes no rows back that CREATE ... SELECT has written, but those of INSERT.
	stays := query != nil && s.cfg.Dialect.MariaDB() && s.tx != nil
	if stays && existed && p.Change.OrReplace {
		return sqlerr.Unsupported("CREATE OR REPLACE TEMPORARY TABLE ... SELECT of rows of several node groups, within a transaction", "DROP the table first")
	}
	name, create := p.Name, rest(nil, 0)
	if refs, _ := s.stmt.Tables(); selects && !existed && len(refs) > 0 && (stays || s.snap.Table(p.Database, p.Name) != nil) {
		// The query may read the table that the new one will hide.
		name = s.freeName(p.Database, temporaryAside)
		head := refs[0].Span
		create = append(s.args.AppendSpan(nil, sqlparse.Span{End: head.Start}), sqltypes.QuoteIn(p.Database, name)...)
		create = rest(create, head.End)
	}
	ok, err := s.pinnedOn(g, create)
	if err != nil {
		s.forgetTemporaries()
		return err
	}
	tokens := s.stmt.Tokens()
	tokens.Next()
	if existed && !s.stmt.Is(tokens.Next(), "OR") { // REPLACE
		return s.ok(s.changed(ok)) // IF NOT EXISTS
	}
	if !selects && slices.ContainsFunc(p.Tables, func(t *catalog.Table) bool { // LIKE
		return t.HiddenKey && t.Temporary == "" && (t.Database != p.Database || t.Name != p.Name)
	}) {
		_, err = s.onPinned([]byte("ALTER TABLE " + sqltypes.QuoteIn(p.Database, name) + " DROP PRIMARY KEY, DROP COLUMN " +
			sqltypes.QuoteName(catalog.HiddenKey)))
	}
	if err == nil {
		err = s.noteTemporary(p.Database, name)
	}
	if err == nil && query != nil {
		ok, err = s.fillTemporary(&c, sqltypes.QuoteIn(p.Database, name), query)
	}
	if err == nil && name != p.Name {
		err = s.renameTemporary(p, name)
	}
	if err != nil {
		s.takeBackTemporary(p.Database, name)
		return err
	}
	if !selects {
		ok = s.changed(ok)
	}
	return s.ok(ok)
}

// takeBackTemporary drops a temporary table that has been made, whatever is known of it. If that cannot be done its connection is of no more use:
// neither the session nor anybody behind it may have a table there that nobody knows of.
func (s *Session) takeBackTemporary(db, name string) {
	conn := s.temps.conn
	if _, err := s.onPinned([]byte("DROP TEMPORARY TABLE IF EXISTS " + sqltypes.QuoteIn(db, name))); err != nil {
		conn.Interrupt()
	}
	s.temps.tables.Drop(db, name)
	s.forgetTemporaries()
}

// renameTemporary gives the temporary table that has been filled the name that it shall have. In a transaction, which MySQL would commit by
// ALTER, a CREATE ... SELECT writes its rows once more. What filling it has warned of is kept.
func (s *Session) renameTemporary(p *plan.Plan, name string) error {
	told := s.diagnostics.Conditions
	from, to := sqltypes.QuoteIn(p.Database, name), sqltypes.QuoteIn(p.Database, p.Name)
	rename := []string{"ALTER TABLE " + from + " RENAME TO " + to}
	if t := s.temps.tables.Table(p.Database, name); s.tx != nil && t != nil {
		var columns []string
		for _, c := range t.Columns {
			switch {
			case c.Invisible, c.Generated && len(columns) > 0: // servers put columns that are not selected first, and fill by position
				return sqlerr.Unsupported("CREATE TEMPORARY TABLE ... SELECT with invisible columns, or generated ones behind others, in a transaction",
					"create the table outside of it, or without such columns")
			case !c.Generated:
				columns = append(columns, sqltypes.QuoteName(c.Name))
			}
		}
		rename = []string{"CREATE TEMPORARY TABLE " + to + t.Temporary + " SELECT " + strings.Join(columns, ", ") + " FROM " + from, "DROP TEMPORARY TABLE " + from}
	}
	for _, sql := range rename {
		if _, err := s.onPinned([]byte(sql)); err != nil {
			return err
		}
	}
	s.temps.tables.Drop(p.Database, name)
	s.diagnostics.Conditions = told
	return s.noteTemporary(p.Database, p.Name)
}

// temporaryAside is, unless a table has it, the name of a temporary table while it is filled from the table whose name it will have.
const temporaryAside = "_skarv_aside"

// aloneOn reports whether node group g has all that a query reads.
func (s *Session) aloneOn(g placement.NodeGroupID, query []byte) bool {
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if st.Scan(query, s.Mode) != nil {
		return false
	}
	defer s.use(st)()
	p, err := s.plan()
	if err != nil || p.Relay == nil || len(p.Relay.Target.Also) > 0 {
		return false
	}
	t := p.Relay.Target
	return t.Kind == plan.AnyGroup || t.Kind == plan.OneGroup && t.Group == g
}

// fillTemporary inserts the rows of a query over several node groups into a temporary table that has been made for them.
func (s *Session) fillTemporary(c *createSelect, name string, query []byte) (ok wire.OK, err error) {
	b, err := s.acquire(s.temps.conn.Group)
	if err != nil {
		return ok, err
	}
	st, err := b.Prepare(query)
	if err == nil {
		b.CloseStmt(st.ID)
	}
	s.done(b, err)
	if err != nil {
		return ok, txn.Lost(b, err)
	}
	var columns []string
	for _, col := range st.Columns {
		columns = append(columns, sqltypes.QuoteName(col.Name))
	}
	ok, err = s.fillFromSelect(c, name, columns, query)
	ok.Status = s.status()
	return ok, err
}

func (s *Session) dropTemporary(p *plan.Plan, own int) error {
	if !p.Change.Temporary { // the word alone makes it one that commits nothing
		if err := s.commitImplicit(); err != nil {
			return err
		}
	}
	refs, _ := s.stmt.Tables()
	if own == 0 { // DROP TEMPORARY TABLE of what is not there
		c, err := s.acquire(s.anyGroup())
		if err != nil {
			return err
		}
		ok, err := c.Exec(string(s.stmt.SQL()))
		if err == nil {
			s.noteBegun(c)
		}
		if err == nil && ok.Warnings > 0 {
			s.fetchWarnings(c, ok.Warnings)
		}
		s.done(c, err)
		if err != nil {
			return txn.Lost(c, err)
		}
		return s.ok(s.changed(wire.OK{Warnings: ok.Warnings}))
	}
	text := s.stmt.SQL()
	// Of several, MariaDB drops those that exist; MySQL drops all or none.
	goesOn := func(err error) bool {
		return err == nil || s.snap.Flavor == catalog.MariaDB && sqlerr.HasCode(err, sqlerr.UnknownTable)
	}
	var missing error
	var notes []diagnostics.Condition
	if own < len(refs) && !p.Change.Temporary {
		if notes, missing = s.dropOthers(refs); !goesOn(missing) {
			return missing
		}
		text = []byte("DROP TEMPORARY TABLE ")
		for i, t := range slices.DeleteFunc(slices.Clone(p.Tables), func(t *catalog.Table) bool { return t.Temporary == "" }) {
			if i > 0 {
				text = append(text, ", "...)
			}
			text = append(text, t.SQL()...)
		}
	}
	ok, err := s.onPinned(text)
	if !goesOn(err) {
		return err
	}
	if err == nil {
		err = missing
	}
	for _, t := range p.Tables {
		if t.Temporary != "" {
			s.temps.tables.Drop(t.Database, t.Name)
		}
	}
	s.forgetTemporaries()
	if err != nil {
		return err
	}
	s.diagnostics.Add(notes...)
	ok.Warnings += uint16(len(notes))
	if p.Change.Temporary {
		ok = s.changed(ok)
	}
	return s.ok(ok)
}

// dropOthers drops the tables of a DROP TABLE that are no temporary ones: before those, so that they stay if this is refused.
func (s *Session) dropOthers(refs []sqlparse.TableRef) ([]diagnostics.Condition, error) {
	var names []string
	for _, r := range refs {
		if !s.isTemporary(r) {
			db := cmp.Or(r.DB, s.db)
			names = append(names, sqltypes.QuoteIn(db, r.Name))
		}
	}
	tokens := s.stmt.Tokens()
	tokens.Next()
	tokens.Next()
	r := s.ddlRequest()
	r.SQL = "DROP TABLE "
	if s.stmt.Is(tokens.Next(), "IF") {
		r.SQL += "IF EXISTS "
	}
	r.SQL += strings.Join(names, ", ")
	if err := s.unlock(); err != nil {
		return nil, err
	}
	out, err := s.controllerDDL(r)
	return out.Warnings, err
}

// isTemporary reports whether a name is that of one of the session's temporary tables.
func (s *Session) isTemporary(r sqlparse.TableRef) bool {
	t, _ := s.tableOf(r)
	return t != nil && t.Temporary != ""
}

// tableOf is the table that a name in the statement means, nil if there is none, and the name as the servers compare it.
func (s *Session) tableOf(r sqlparse.TableRef) (t *catalog.Table, name string) {
	db, name := r.DB, r.Name
	if db == "" {
		db = s.db
	}
	if s.snap.LowerCaseTableNames != 0 {
		db, name = strings.ToLower(db), strings.ToLower(name)
	}
	return s.snap.Table(db, name), name
}

// makesHidden reports whether a CREATE TABLE makes the table that a temporary one hides, and reads no other.
func (s *Session) makesHidden() bool {
	refs, _ := s.stmt.Tables()
	_, query := s.findCreateSelect()
	return !query && len(refs) > 0 && s.isTemporary(refs[0])
}

// viewOfTemporary is the error of a view that reads one of the session's temporary tables.
func (s *Session) viewOfTemporary() error {
	c, ok := s.findCreateSelect()
	if !ok {
		return nil
	}
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if st.Scan(s.args.AppendSpan(nil, c.query), s.Mode) != nil {
		return nil // a server has the error to tell
	}
	refs, _ := st.Tables()
	for _, r := range refs {
		if s.isTemporary(r) {
			return sqlerr.ViewOfTemporary.New(r.Name)
		}
	}
	return nil
}

// triggerOnTemporary is the error of a trigger on one of the session's temporary tables.
func (s *Session) triggerOnTemporary() error {
	refs, _ := s.stmt.Tables()
	if len(refs) == 0 || !s.isTemporary(refs[0]) {
		return nil
	}
	if err := s.commitImplicit(); err != nil {
		return err
	}
	if s.cfg.Dialect.MariaDB() {
		return sqlerr.TriggerOnTemporary.New(refs[0].Name, "a view, temporary table or sequence")
	}
	return sqlerr.TriggerOnTemporary.New(refs[0].Name, "view or temporary table")
}

// changeTemporary is ALTER, RENAME, TRUNCATE, CREATE INDEX and DROP INDEX of temporary tables.
func (s *Session) changeTemporary(p *plan.Plan) error {
	ok, err := s.onPinned(s.stmt.SQL())
	if err != nil {
		return err
	}
	if p.Change.Verb != plan.VerbTruncate {
		for _, t := range p.Tables {
			s.temps.tables.Drop(t.Database, t.Name)
		}
		defer s.forgetTemporaries()
		refs, _ := s.stmt.Tables()
		for _, r := range refs {
			db := cmp.Or(r.DB, s.db)
			if err := s.readTemporaryInto(db, r.Name); err != nil && !sqlerr.HasCode(err, sqlerr.NoSuchTable) {
				s.temps.conn.Interrupt() // it has a table that nobody knows
				return err
			}
		}
	}
	if p.Change.Verb != plan.VerbTruncate && p.Change.Verb != plan.VerbRename {
		ok = s.changed(ok)
	}
	return s.ok(ok)
}

// noteTemporary reads the definition of a temporary table, and lets the session plan with it.
func (s *Session) noteTemporary(db, name string) error {
	err := s.readTemporaryInto(db, name)
	if err == nil {
		s.forgetTemporaries()
	}
	return err
}

// readTemporaryInto reads the definition of a temporary table; an ordinary table of that name is none.
func (s *Session) readTemporaryInto(db, name string) error {
	if s.snap.LowerCaseTableNames != 0 {
		db, name = strings.ToLower(db), strings.ToLower(name)
	}
	c, err := s.acquire(s.temps.conn.Group)
	if err != nil {
		return err
	}
	t, err := readTemporary(c, db, name, s.SQLMode)
	s.done(c, err)
	if err != nil {
		return txn.Lost(c, err)
	}
	if t != nil {
		t.Group = c.Group
		s.temps.tables.Put(t)
	}
	return nil
}

// readTemporary is temporary.Read of a session with an sql_mode.
func readTemporary(c *backend.Conn, db, name, mode string) (t *catalog.Table, err error) {
	if strings.Contains(mode, "ANSI") { // names in the text are to be quoted as others read them
		if _, err := c.Exec("SET @@sql_mode = ''"); err != nil {
			return nil, err
		}
		defer func() {
			if e := reset(c, "SET @@sql_mode = "+sqltypes.Introduced(sqltypes.Literal(mode))); err == nil {
				err = e
			}
		}()
	}
	return temporary.Read(c, db, name)
}
