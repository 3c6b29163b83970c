package ddl

import (
	"fmt"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

// parser walks over tokens.
type parser struct {
	*Statement
	pos int
	// What it was given: the text as the client sent it, the default database, the modes and the servers' version.
	sql, db, sqlMode, version string
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
		near = p.Text[p.toks[p.pos].start:]
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
		p.Verb = TruncateTable
		p.accept("TABLE")
		return p.object()
	case p.accept("SET"):
		return p.eventSwitch()
	case p.accept("RENAME", "TABLE"), p.accept("RENAME", "TABLES"):
		return p.rename()
	case p.peek(0).is("ANALYZE"), p.peek(0).is("OPTIMIZE"), p.peek(0).is("CHECK"), p.peek(0).is("REPAIR"):
		p.Verb = Maintain
		p.pos++
		_ = p.accept("NO_WRITE_TO_BINLOG") || p.accept("LOCAL")
		if !p.accept("TABLE") && !p.accept("TABLES") {
			return p.fail()
		}
		return p.objectList()
	default:
		return sqlerr.Unsupported(strings.ToUpper(p.peek(0).value)+" as a schema change", "send CREATE, ALTER, DROP, RENAME or TRUNCATE")
	}
}

func (p *parser) create() error {
	p.OrReplace = p.accept("OR", "REPLACE")
	if p.accept("DATABASE") || p.accept("SCHEMA") {
		p.Verb = CreateDatabase
		p.IfExists = p.accept("IF", "NOT", "EXISTS")
		return p.database()
	}
	if p.accept("TEMPORARY") {
		return sqlerr.Unsupported("CREATE TEMPORARY TABLE as a schema change", "send it through a client: a session makes its own tables")
	}
	if p.accept("TABLE") {
		p.Verb = CreateTable
		p.IfExists = p.accept("IF", "NOT", "EXISTS")
		if err := p.object(); err != nil {
			return err
		}
		return p.createTableRest()
	}
	start := p.pos
	for p.accept("ONLINE") || p.accept("OFFLINE") || p.accept("UNIQUE") || p.accept("FULLTEXT") || p.accept("SPATIAL") || p.accept("VECTOR") {
	}
	if p.accept("INDEX") {
		p.Verb = CreateIndex
		p.IfExists = p.accept("IF", "NOT", "EXISTS")
		return p.indexTable()
	}
	p.pos = start
	return p.view(CreateView)
}

// account is the account that is named here; "": CURRENT_USER.
func (p *parser) account() catalog.AccountName {
	if p.peek(0).is("CURRENT_USER") {
		return ""
	}
	user, host := p.peek(0).value, ""
	if p.peek(1).is("@") {
		host = p.peek(2).value
		for at := 3; p.peek(2).kind != quoted && p.peek(2).kind != text && p.pos+at < len(p.toks) && p.peek(at).start == p.peek(at-1).end; at++ {
			host += p.peek(at).value
		}
	}
	return catalog.NameOf(user, catalog.FoldHost(host))
}

// view reads what stands before a view's name, and the name.
func (p *parser) view(v Verb) error {
	for {
		switch {
		case p.accept("ALGORITHM", "="):
			p.pos++
		case p.peek(0).is("DEFINER"):
			from := p.peek(0).start
			p.accept("DEFINER", "=")
			if p.peek(0).is("CURRENT_ROLE") {
				return sqlerr.Unsupported("a role as the definer", "name an account")
			}
			p.Definer = p.account()
			for ; p.pos < len(p.toks); p.pos++ {
				t := p.peek(0)
				if t.depth == 0 && (t.is("SQL") || t.is("VIEW") || t.is("PROCEDURE") || t.is("FUNCTION") || t.is("TRIGGER") || t.is("EVENT") || t.is("AGGREGATE")) {
					break
				}
			}
			p.definer = [2]int{from, p.peek(0).start}
		case p.accept("SQL", "SECURITY"):
			p.pos++
		case p.accept("VIEW"):
			p.Verb = v
			if v == CreateView {
				p.IfExists = p.accept("IF", "NOT", "EXISTS")
			}
			return p.object()
		case v == CreateView:
			return p.program(CreateProgram)
		default:
			return p.program(AlterProgram)
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
		return sqlerr.Unsupported(what+" statements", "make accounts of the cluster with skarvctl user add")
	default:
		return p.fail()
	}
}

func (p *parser) alter() error {
	_ = p.accept("ONLINE") || p.accept("OFFLINE")
	p.Ignores = p.accept("IGNORE")
	switch {
	case p.accept("TABLE"):
		p.Verb = AlterTable
		p.IfExists = p.accept("IF", "EXISTS")
		if err := p.object(); err != nil {
			return err
		}
		return p.alterTableRest()
	case p.accept("DATABASE"), p.accept("SCHEMA"):
		p.Verb = AlterDatabase
		if t := p.peek(0); t.name() && !(t.kind == word && (t.is("DEFAULT") || t.is("CHARACTER") || t.is("CHARSET") ||
			t.is("COLLATE") || t.is("COMMENT") && (p.peek(1).kind == text || p.peek(1).is("=")) || t.is("ENCRYPTION") || t.is("READ"))) {
			return p.database()
		}
		if p.db == "" {
			return sqlerr.NoDatabase.New()
		}
		at := p.peek(0).start
		p.Objects = append(p.Objects, Name{Object: Object{DB: p.db}, start: at, end: at})
		return p.databaseOptions()
	default:
		return p.view(AlterView)
	}
}

func (p *parser) drop() error {
	if p.accept("TEMPORARY") {
		return sqlerr.Unsupported("DROP TEMPORARY TABLE as a schema change", "send it through a client: a session drops its own tables")
	}
	switch {
	case p.accept("TABLE"), p.accept("TABLES"):
		p.Verb = DropTable
		p.IfExists = p.accept("IF", "EXISTS")
		return p.objectList()
	case p.accept("VIEW"):
		p.Verb = DropView
		p.IfExists = p.accept("IF", "EXISTS")
		return p.objectList()
	case p.accept("DATABASE"), p.accept("SCHEMA"):
		p.Verb = DropDatabase
		p.IfExists = p.accept("IF", "EXISTS")
		return p.database()
	case p.accept("INDEX"), p.accept("ONLINE", "INDEX"), p.accept("OFFLINE", "INDEX"):
		p.Verb = DropIndex
		p.IfExists = p.accept("IF", "EXISTS")
		return p.indexTable()
	default:
		return p.program(DropProgram)
	}
}

func (p *parser) rename() error {
	p.Verb = RenameTable
	p.IfExists = p.accept("IF", "EXISTS")
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
func (p *parser) oneName() (Name, error) {
	t := p.peek(0)
	if !t.name() {
		return Name{}, p.fail()
	}
	o := Name{Object: Object{DB: p.db, Name: t.value}, start: t.start, end: t.end}
	p.pos++
	if p.peek(0).is(".") && p.peek(1).name() {
		last := p.peek(1)
		o.DB, o.Name, o.end = o.Name, last.value, last.end
		p.pos += 2
	}
	if o.DB == "" {
		return Name{}, sqlerr.NoDatabase.New()
	}
	return o, storable(o.DB + o.Name)
}

// storable refuses names that servers store with ? in place of their characters, so that they are not found again as they were written.
func storable(name string) error {
	for _, r := range name {
		if r > 0xFFFF {
			return sqlerr.Unsupported("names with characters of four bytes", "choose names of other characters: servers store ? in place of these")
		}
	}
	return nil
}

func (p *parser) object() error {
	o, err := p.oneName()
	if err != nil {
		return err
	}
	p.Objects = append(p.Objects, o)
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
	if err := storable(t.value); err != nil {
		return err
	}
	p.Objects = append(p.Objects, Name{Object: Object{DB: t.value}, start: t.start, end: t.end})
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
			p.HasComment = true
			_, p.Single = Option(c.value, "single")
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
	for ; p.pos < len(p.toks); p.pos++ {
		t := p.peek(0)
		switch {
		case t.is("SELECT"), t.depth == 0 && (t.is("VALUES") || t.is("TABLE")):
			return sqlerr.Unsupported("CREATE TABLE ... SELECT", "create the table first, then use INSERT ... SELECT")
		case t.depth == 0 && t.is("PARTITION") && p.peek(1).is("BY"):
			if err := p.partitionBy(); err != nil {
				return err
			}
			p.pos-- // the loop's step
		case p.temporal():
			return errTemporal()
		case t.depth == 0 && t.is("START") && p.peek(1).is("TRANSACTION"):
			return sqlerr.Unsupported("CREATE TABLE ... START TRANSACTION", "leave it out: the table is there when the statement ends")
		}
	}
	return nil
}

// temporal reports whether MariaDB's clauses for tables with a history or with periods come next.
func (p *parser) temporal() bool {
	t, next := p.peek(0), p.peek(1)
	if t.is("PERIOD") && next.is("IF") { // ADD PERIOD IF NOT EXISTS FOR, DROP PERIOD IF EXISTS FOR
		n := 2
		if p.peek(n).is("NOT") {
			n++
		}
		next = p.peek(n + 1)
	}
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
	p.Like = &o
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
		if v := p.peek(0).value; v != "1" && v != "2" {
			return p.fail()
		}
		p.pos++
	}
	if !p.accept("(") {
		return p.fail()
	}
	for !p.accept(")") {
		if t := p.peek(0); t.name() {
			p.Key = append(p.Key, t.value)
		} else if !t.is(",") {
			return p.fail()
		}
		p.pos++
	}
	if p.accept("PARTITIONS") {
		p.pos++
	}
	if p.peek(0).is("SUBPARTITION") || p.peek(0).is("(") {
		return sqlerr.Unsupported("PARTITION BY KEY with named partitions or subpartitions", "leave the partitions out: Skarv places the rows")
	}
	end := len(p.Text)
	if p.pos < len(p.toks) {
		end = p.peek(0).start
	}
	p.Partitioned, p.clause = true, [2]int{from, end}
	return nil
}

// alterTableRest looks for what changes the table's name or place.
func (p *parser) alterTableRest() error {
	for ; p.pos < len(p.toks); p.pos++ {
		t := p.peek(0)
		switch {
		case p.temporal():
			return errTemporal()
		case t.depth > 0:
		case t.is("PARTITION") && p.peek(1).is("BY") && (p.peek(2).is("KEY") || p.peek(2).is("LINEAR")):
			if err := p.partitionBy(); err != nil {
				return err
			}
			p.pos-- // the loop's step
		case p.peek(1).is("PARTITION") && (t.is("ANALYZE") || t.is("CHECK") || t.is("OPTIMIZE") || t.is("REPAIR")):
			return sqlerr.Unsupported("ALTER TABLE ... "+strings.ToUpper(t.value)+" PARTITION", "use "+strings.ToUpper(t.value)+" TABLE")
		case t.is("CONVERT") && (p.peek(1).is("PARTITION") || p.peek(1).is("TABLE")):
			return sqlerr.Unsupported("ALTER TABLE ... CONVERT "+strings.ToUpper(p.peek(1).value), "copy the rows with INSERT ... SELECT")
		case p.peek(1).is("PARTITION") && (t.is("DROP") || t.is("TRUNCATE")):
			p.DropsRows = true
		case t.is("EXCHANGE") && p.peek(1).is("PARTITION"), t.is("IMPORT") && p.peek(1).is("TABLESPACE"), t.is("DISCARD") && p.peek(1).is("TABLESPACE"):
			return sqlerr.Unsupported("ALTER TABLE ... "+strings.ToUpper(t.value+" "+p.peek(1).value), "copy the rows with INSERT ... SELECT")
		case t.is("RENAME") && !p.peek(1).is("COLUMN") && !p.peek(1).is("INDEX") && !p.peek(1).is("KEY"):
			p.pos++
			_ = p.accept("TO") || p.accept("AS") || p.accept("=")
			o, err := p.oneName()
			if err != nil {
				return err
			}
			p.RenameTo = &o
			p.pos--
		}
	}
	return nil
}
