package control

import (
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
)

// verb is what a DDL statement does.
type verb uint8

const (
	createTable verb = iota + 1
	createIndex
	createView
	createDatabase
	alterTable
	alterDatabase
	alterView
	dropTable
	dropIndex
	dropView
	dropDatabase
	truncateTable
	renameTable
	maintain      // ANALYZE, OPTIMIZE, CHECK, REPAIR TABLE
	createProgram // functions, procedures, triggers, events
	alterProgram
	dropProgram
	switchEvents // SET GLOBAL event_scheduler
)

// object is a table, view or database as a statement names it.
type object struct {
	db, name   string
	start, end int // in the statement's text
}

func (o object) String() string { return o.db + "." + o.name }

// sql writes the object's name.
func (o object) sql() string { return quoteName(o.db) + "." + quoteName(o.name) }

// statement is what has to be known of a DDL statement.
type statement struct {
	verb verb
	text string
	toks []token
	// objects are those it creates, changes or drops; of RENAME old and new names in turn.
	objects     []object
	ifExists    bool // IF EXISTS or IF NOT EXISTS
	orReplace   bool
	like        *object // CREATE TABLE ... LIKE
	renameTo    *object // ALTER TABLE ... RENAME
	key         []string
	partitioned bool   // PARTITION BY KEY was given: key is the distribution key, empty for the primary key
	clause      [2]int // the text of that clause
	definer     [2]int // the text of a DEFINER clause
	comment     [2]int // the text of a database's COMMENT clause
	single      bool   // that comment is skarv:single
	hasComment  bool

	kind   routine.Kind     // of stored programs
	source string           // of CREATE of them: the text that prog was read from
	prog   *routine.Program //

	eventsOff bool // of switchEvents
}

// parser walks over tokens.
type parser struct {
	*statement
	pos int
	db  string // the default database
	// program reads the rest of CREATE, ALTER or DROP of a stored program.
	readProgram func(v verb) error
}

// parseDDL finds out what sql does. db is the default database, "" for none.
func parseDDL(req DDLRequest, flavor catalog.Flavor, version string) (*statement, error) {
	lex := &lexer{
		in:          req.SQL,
		ansiQuotes:  hasMode(req.SQLMode, "ANSI_QUOTES") || hasMode(req.SQLMode, "ANSI"),
		noBackslash: hasMode(req.SQLMode, "NO_BACKSLASH_ESCAPES"),
		mariadb:     flavor == catalog.MariaDB,
		version:     versionNumber(version),
	}
	out, toks, err := lex.plain()
	if err != nil {
		return nil, err
	}
	if len(toks) == 0 {
		return nil, sqlerr.EmptyQuery.New()
	}
	p := &parser{statement: &statement{text: out, toks: toks}, db: req.DB}
	p.readProgram = func(v verb) error { return p.program(v, req, flavor, version) }
	if err := p.parse(); err != nil {
		return nil, err
	}
	return p.statement, nil
}

func hasMode(modes, mode string) bool {
	return slices.ContainsFunc(strings.Split(modes, ","), func(m string) bool {
		return strings.EqualFold(strings.TrimSpace(m), mode)
	})
}

// peek returns the nth token from here, or a zero one after the end.
func (p *parser) peek(n int) token {
	if p.pos+n < len(p.toks) {
		return p.toks[p.pos+n]
	}
	return token{}
}

// accept skips the words if all of them come next.
func (p *parser) accept(words ...string) bool {
	for i, w := range words {
		if !p.peek(i).is(w) {
			return false
		}
	}
	p.pos += len(words)
	return true
}

// fail is the server's syntax error at the present token.
func (p *parser) fail() error {
	near := ""
	if p.pos < len(p.toks) {
		near = p.text[p.toks[p.pos].start:]
	}
	return syntaxError(near)
}

func syntaxError(near string) error {
	if r := []rune(near); len(r) > 80 {
		near = string(r[:80])
	}
	return sqlerr.ParseError.New(fmt.Sprintf(
		"check the manual that corresponds to your server version for the right syntax to use near '%s' at line 1", near))
}

func (p *parser) parse() error {
	switch {
	case p.accept("CREATE"):
		return p.create()
	case p.accept("ALTER"):
		return p.alter()
	case p.accept("DROP"):
		return p.drop()
	case p.accept("TRUNCATE"):
		p.verb = truncateTable
		p.accept("TABLE")
		return p.object()
	case p.accept("SET"):
		return p.eventSwitch()
	case p.accept("RENAME", "TABLE"), p.accept("RENAME", "TABLES"):
		return p.rename()
	case p.peek(0).is("ANALYZE"), p.peek(0).is("OPTIMIZE"), p.peek(0).is("CHECK"), p.peek(0).is("REPAIR"):
		p.verb = maintain
		p.pos++
		_ = p.accept("NO_WRITE_TO_BINLOG") || p.accept("LOCAL")
		if !p.accept("TABLE") && !p.accept("TABLES") {
			return p.fail()
		}
		return p.objectList()
	default:
		return sqlerr.Unsupported(strings.ToUpper(p.peek(0).value)+" as a schema change", "")
	}
}

func (p *parser) create() error {
	p.orReplace = p.accept("OR", "REPLACE")
	if p.accept("DATABASE") || p.accept("SCHEMA") {
		p.verb = createDatabase
		p.ifExists = p.accept("IF", "NOT", "EXISTS")
		return p.database()
	}
	if p.accept("TEMPORARY") {
		return sqlerr.Unsupported("CREATE TEMPORARY TABLE as a schema change", "a session makes its own tables")
	}
	if p.accept("TABLE") {
		p.verb = createTable
		p.ifExists = p.accept("IF", "NOT", "EXISTS")
		if err := p.object(); err != nil {
			return err
		}
		return p.createTableRest()
	}
	start := p.pos
	for p.accept("ONLINE") || p.accept("OFFLINE") || p.accept("UNIQUE") || p.accept("FULLTEXT") || p.accept("SPATIAL") || p.accept("VECTOR") {
	}
	if p.accept("INDEX") {
		p.verb = createIndex
		p.ifExists = p.accept("IF", "NOT", "EXISTS")
		return p.indexTable()
	}
	p.pos = start
	return p.view(createView)
}

// view reads what stands before a view's name, and the name.
func (p *parser) view(v verb) error {
	for {
		switch {
		case p.accept("ALGORITHM", "="):
			p.pos++
		case p.peek(0).is("DEFINER"):
			from := p.peek(0).start
			p.accept("DEFINER", "=")
			for depth := 0; p.pos < len(p.toks); p.pos++ {
				t := p.peek(0)
				if t.is("(") {
					depth++
				}
				if t.is(")") {
					depth--
				}
				if depth == 0 && (t.is("SQL") || t.is("VIEW") || t.is("PROCEDURE") || t.is("FUNCTION") || t.is("TRIGGER") || t.is("EVENT") || t.is("AGGREGATE")) {
					break
				}
			}
			p.definer = [2]int{from, p.peek(0).start}
		case p.accept("SQL", "SECURITY"):
			p.pos++
		case p.accept("VIEW"):
			p.verb = v
			if v == createView {
				p.ifExists = p.accept("IF", "NOT", "EXISTS")
			}
			return p.object()
		case v == createView:
			return p.readProgram(createProgram)
		default:
			return p.readProgram(alterProgram)
		}
	}
}

// unsupportedObject refuses what cannot be created (or changed, or dropped) yet.
func (p *parser) unsupportedObject() error {
	t := p.peek(0)
	switch what := strings.ToUpper(t.value); what {
	case "PACKAGE":
		return sqlerr.Unsupported("stored packages", "use functions and procedures")
	case "SEQUENCE":
		return sqlerr.Unsupported("sequences", "use an AUTO_INCREMENT column, which counts for the whole cluster")
	case "TABLESPACE", "UNDO", "LOGFILE", "SERVER", "INSTANCE":
		return sqlerr.Unsupported(what+" statements", "run it on the database servers themselves")
	case "USER", "ROLE":
		return sqlerr.Unsupported(what+" statements", "accounts of the cluster are made with: skarvctl user add")
	default:
		return p.fail()
	}
}

func (p *parser) alter() error {
	_ = p.accept("ONLINE") || p.accept("OFFLINE")
	p.accept("IGNORE")
	switch {
	case p.accept("TABLE"):
		p.verb = alterTable
		p.ifExists = p.accept("IF", "EXISTS")
		if err := p.object(); err != nil {
			return err
		}
		return p.alterTableRest()
	case p.accept("DATABASE"), p.accept("SCHEMA"):
		p.verb = alterDatabase
		if t := p.peek(0); t.name() && !(t.kind == word && (t.is("DEFAULT") || t.is("CHARACTER") || t.is("CHARSET") ||
			t.is("COLLATE") || t.is("COMMENT") || t.is("ENCRYPTION") || t.is("READ"))) {
			return p.database()
		}
		if p.db == "" {
			return sqlerr.NoDatabase.New()
		}
		at := p.peek(0).start
		p.objects = append(p.objects, object{db: p.db, start: at, end: at})
		return p.databaseOptions()
	default:
		return p.view(alterView)
	}
}

func (p *parser) drop() error {
	if p.accept("TEMPORARY") {
		return sqlerr.Unsupported("DROP TEMPORARY TABLE as a schema change", "a session drops its own tables")
	}
	switch {
	case p.accept("TABLE"), p.accept("TABLES"):
		p.verb = dropTable
		p.ifExists = p.accept("IF", "EXISTS")
		return p.objectList()
	case p.accept("VIEW"):
		p.verb = dropView
		p.ifExists = p.accept("IF", "EXISTS")
		return p.objectList()
	case p.accept("DATABASE"), p.accept("SCHEMA"):
		p.verb = dropDatabase
		p.ifExists = p.accept("IF", "EXISTS")
		return p.database()
	case p.accept("INDEX"), p.accept("ONLINE", "INDEX"), p.accept("OFFLINE", "INDEX"):
		p.verb = dropIndex
		p.ifExists = p.accept("IF", "EXISTS")
		return p.indexTable()
	default:
		return p.readProgram(dropProgram)
	}
}

func (p *parser) rename() error {
	p.verb = renameTable
	p.accept("IF", "EXISTS")
	for {
		if err := p.object(); err != nil {
			return err
		}
		for !p.peek(0).is("TO") { // MariaDB: WAIT n, NOWAIT
			if p.pos++; p.pos >= len(p.toks) {
				return p.fail()
			}
		}
		p.pos++
		if err := p.object(); err != nil {
			return err
		}
		if !p.accept(",") {
			return nil
		}
	}
}

// oneName reads [db .] name.
func (p *parser) oneName() (object, error) {
	t := p.peek(0)
	if !t.name() {
		return object{}, p.fail()
	}
	o := object{db: p.db, name: t.value, start: t.start, end: t.end}
	p.pos++
	if p.peek(0).is(".") && p.peek(1).name() {
		last := p.peek(1)
		o.db, o.name, o.end = o.name, last.value, last.end
		p.pos += 2
	}
	if o.db == "" {
		return object{}, sqlerr.NoDatabase.New()
	}
	return o, nil
}

func (p *parser) object() error {
	o, err := p.oneName()
	if err != nil {
		return err
	}
	p.objects = append(p.objects, o)
	return nil
}

func (p *parser) objectList() error {
	for {
		if err := p.object(); err != nil {
			return err
		}
		if !p.accept(",") {
			return nil
		}
	}
}

// database reads a database's name and looks through its options.
func (p *parser) database() error {
	t := p.peek(0)
	if !t.name() {
		return p.fail()
	}
	p.pos++
	p.objects = append(p.objects, object{db: t.value, start: t.start, end: t.end})
	return p.databaseOptions()
}

func (p *parser) databaseOptions() error {
	for ; p.pos < len(p.toks); p.pos++ {
		if !p.peek(0).is("COMMENT") {
			continue
		}
		from, n := p.peek(0).start, 1
		if p.peek(n).is("=") {
			n++
		}
		if c := p.peek(n); c.kind == text {
			p.comment = [2]int{from, c.end}
			p.hasComment = true
			_, p.single = skarvOption(c.value, "single")
		}
	}
	return nil
}

// indexTable reads the rest of CREATE INDEX or DROP INDEX up to the table.
func (p *parser) indexTable() error {
	if !p.peek(0).name() {
		return p.fail()
	}
	for ; p.pos < len(p.toks); p.pos++ {
		if p.accept("ON") {
			return p.object()
		}
	}
	return p.fail()
}

// createTableRest looks through what follows a new table's name.
func (p *parser) createTableRest() error {
	if p.accept("LIKE") {
		return p.likeTable()
	}
	if p.peek(0).is("(") && p.peek(1).is("LIKE") {
		p.pos += 2
		return p.likeTable()
	}
	depth := 0
	for ; p.pos < len(p.toks); p.pos++ {
		t := p.peek(0)
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is("SELECT"), depth == 0 && (t.is("VALUES") || t.is("TABLE")):
			return sqlerr.Unsupported("CREATE TABLE ... SELECT", "create the table first, then use INSERT ... SELECT")
		case depth == 0 && t.is("PARTITION") && p.peek(1).is("BY"):
			if err := p.partitionBy(); err != nil {
				return err
			}
			p.pos-- // the loop's step
		case p.temporal():
			return errTemporal()
		}
	}
	return nil
}

// temporal reports whether MariaDB's clauses for tables with a history or with periods come next.
func (p *parser) temporal() bool {
	t, next := p.peek(0), p.peek(1)
	return t.is("SYSTEM") && next.is("VERSIONING") || t.is("PERIOD") && next.is("FOR") || t.is("WITHOUT") && next.is("OVERLAPS")
}

func errTemporal() error {
	return sqlerr.Unsupported("system versioning and periods", "keep the history in a table of its own")
}

func (p *parser) likeTable() error {
	o, err := p.oneName()
	if err != nil {
		return err
	}
	p.like = &o
	return nil
}

// partitionBy reads PARTITION BY [LINEAR] KEY [ALGORITHM = n] (cols) [PARTITIONS n]; other forms are the servers'.
func (p *parser) partitionBy() error {
	start, from := p.pos, p.peek(0).start
	p.pos += 2
	p.accept("LINEAR")
	if !p.accept("KEY") {
		p.pos = start + 2
		return nil
	}
	if p.accept("ALGORITHM", "=") {
		p.pos++
	}
	if !p.accept("(") {
		return p.fail()
	}
	for !p.accept(")") {
		if t := p.peek(0); t.name() {
			p.key = append(p.key, t.value)
		} else if !t.is(",") {
			return p.fail()
		}
		p.pos++
	}
	if p.accept("PARTITIONS") {
		p.pos++
	}
	if p.peek(0).is("SUBPARTITION") || p.peek(0).is("(") {
		return sqlerr.Unsupported("PARTITION BY KEY with named partitions or subpartitions", "Skarv places the rows: leave the partitions out")
	}
	end := len(p.text)
	if p.pos < len(p.toks) {
		end = p.peek(0).start
	}
	p.partitioned, p.clause = true, [2]int{from, end}
	return nil
}

// alterTableRest looks for what changes the table's name or place.
func (p *parser) alterTableRest() error {
	depth := 0
	for ; p.pos < len(p.toks); p.pos++ {
		t := p.peek(0)
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case p.temporal():
			return errTemporal()
		case depth > 0:
		case t.is("PARTITION") && p.peek(1).is("BY") && (p.peek(2).is("KEY") || p.peek(2).is("LINEAR")):
			return sqlerr.Unsupported("ALTER TABLE ... PARTITION BY KEY", "create a new table with that key, copy the rows with INSERT ... SELECT and rename it")
		case t.is("EXCHANGE") && p.peek(1).is("PARTITION"), t.is("IMPORT") && p.peek(1).is("TABLESPACE"), t.is("DISCARD") && p.peek(1).is("TABLESPACE"):
			return sqlerr.Unsupported("ALTER TABLE ... "+strings.ToUpper(t.value+" "+p.peek(1).value), "copy the rows with INSERT ... SELECT")
		case t.is("RENAME") && !p.peek(1).is("COLUMN") && !p.peek(1).is("INDEX") && !p.peek(1).is("KEY"):
			p.pos++
			_ = p.accept("TO") || p.accept("AS") || p.accept("=")
			o, err := p.oneName()
			if err != nil {
				return err
			}
			p.renameTo = &o
			p.pos--
		}
	}
	return nil
}

// renamedColumns returns the new names of columns that an ALTER TABLE renames, by their lower-case old ones.
func (s *statement) renamedColumns() map[string]string {
	p := &parser{statement: s}
	out := map[string]string{}
	for ; p.pos < len(p.toks); p.pos++ {
		switch {
		case p.peek(0).is("CHANGE"):
			n := 1
			if p.peek(n).is("COLUMN") {
				n++
			}
			if p.peek(n).is("IF") && p.peek(n+1).is("EXISTS") {
				n += 2
			}
			if p.peek(n).name() && p.peek(n+1).name() {
				out[strings.ToLower(p.peek(n).value)] = p.peek(n + 1).value
			}
		case p.peek(0).is("RENAME") && p.peek(1).is("COLUMN"):
			n := 2
			if p.peek(n).is("IF") && p.peek(n+1).is("EXISTS") {
				n += 2
			}
			if p.peek(n + 1).is("TO") {
				out[strings.ToLower(p.peek(n).value)] = p.peek(n + 2).value
			}
		}
	}
	return out
}

// droppedColumns returns the lower-case names of columns that an ALTER TABLE drops, also those that it adds anew.
func (s *statement) droppedColumns() map[string]bool {
	p := &parser{statement: s}
	out := map[string]bool{}
	for ; p.pos < len(p.toks); p.pos++ {
		if !p.peek(0).is("DROP") {
			continue
		}
		n := 1
		if p.peek(n).is("COLUMN") {
			n++
		} else {
			switch t := p.peek(n); {
			case t.is("PRIMARY"), t.is("KEY"), t.is("INDEX"), t.is("FOREIGN"), t.is("CONSTRAINT"), t.is("CHECK"), t.is("PARTITION"), t.is("DEFAULT"):
				continue
			}
		}
		if p.peek(n).is("IF") && p.peek(n+1).is("EXISTS") {
			n += 2
		}
		if p.peek(n).name() {
			out[strings.ToLower(p.peek(n).value)] = true
		}
	}
	return out
}

// edit is a replacement of a range of text.
type edit struct {
	start, end int
	with       string
}

// rewrite applies edits, which must not overlap, to the statement's text.
func (s *statement) rewrite(edits ...edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(s.text[at:e.start])
		b.WriteString(e.with)
		at = e.end
	}
	b.WriteString(s.text[at:])
	return strings.TrimSpace(b.String())
}

// cleanup are the edits that take out what is not for the servers.
func (s *statement) cleanup(flavor catalog.Flavor) []edit {
	var out []edit
	if s.partitioned {
		out = append(out, edit{start: s.clause[0], end: s.clause[1], with: " "})
	}
	if s.definer[1] > s.definer[0] {
		out = append(out, edit{start: s.definer[0], end: s.definer[1], with: ""})
	}
	if s.hasComment && flavor == catalog.MySQL { // MySQL's databases have no comments
		out = append(out, edit{start: s.comment[0], end: s.comment[1], with: ""})
	}
	return out
}

// definitionsEnd is where a CREATE TABLE's list of columns and keys ends: at its closing parenthesis.
func (s *statement) definitionsEnd() (at int, ok bool) {
	depth := 0
	for _, t := range s.toks {
		switch {
		case t.start < s.objects[0].end:
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth == 0 {
				return t.start, true
			}
		}
	}
	return 0, false
}

// skarvOption looks for skarv:NAME or skarv:NAME=VALUE in a comment.
func skarvOption(comment, name string) (value string, ok bool) {
	for _, f := range strings.FieldsFunc(comment, func(r rune) bool { return r == ' ' || r == ';' || r == '\n' || r == '\t' }) {
		rest, found := strings.CutPrefix(f, "skarv:"+name)
		if !found {
			continue
		}
		if rest == "" {
			return "", true
		}
		if v, found := strings.CutPrefix(rest, "="); found {
			return v, true
		}
	}
	return "", false
}

// versionNumber turns "10.11.6-MariaDB" into 101106, as executable comments count.
func versionNumber(v string) int {
	var n [3]int
	for i, part := range strings.SplitN(strings.TrimPrefix(v, "5.5.5-"), ".", 3) {
		for _, c := range part {
			if c < '0' || c > '9' {
				break
			}
			n[i] = n[i]*10 + int(c-'0')
		}
	}
	return n[0]*10000 + n[1]*100 + n[2]
}
