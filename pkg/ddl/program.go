package ddl

import (
	"strings"
	"unicode/utf8"

	"skarv/pkg/catalog"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// maxProgram bounds the text of a stored program, which is kept in etcd.
const maxProgram = 256 << 10

// program reads CREATE, ALTER and DROP of stored programs, from the word that says which of them.
func (p *parser) program(v Verb) error {
	p.accept("AGGREGATE")
	switch {
	case p.accept("FUNCTION"):
		p.Kind = routine.Function
	case p.accept("PROCEDURE"):
		p.Kind = routine.Procedure
	case p.accept("TRIGGER") && v != AlterProgram:
		p.Kind = routine.Trigger
	case p.accept("EVENT"):
		p.Kind = routine.Event
	default:
		return p.unsupportedObject()
	}
	p.Verb = v
	if v == DropProgram || v == AlterProgram && p.Kind != routine.Event {
		p.IfExists = p.accept("IF", "EXISTS")
		return p.object()
	}
	// The tree is of the text with its comments, which belong to a body; but for those that servers run.
	p.source = strings.TrimSpace(p.sql)
	if strings.Contains(p.source, "/*!") || strings.Contains(p.source, "/*M!") {
		p.source = strings.TrimSpace(p.Text)
	}
	if len(p.source) > maxProgram || !utf8.ValidString(p.source) {
		return sqlerr.Unsupported("a stored program of more than 256 KB or in another character set than utf8mb4", "make several of it, in utf8mb4")
	}
	prog, err := ParseProgram(p.source, p.sqlMode, p.flavor, p.version)
	if sqlerr.HasCode(err, sqlerr.ParseError) && HasMode(p.sqlMode, "ORACLE") {
		return sqlerr.Unsupported("stored programs in the language of sql_mode ORACLE", "leave ORACLE out of sql_mode, and write the program in standard SQL")
	}
	if err != nil {
		return err
	}
	p.Prog = prog
	o := Name{Object: Object{DB: prog.Name.DB, Name: prog.Name.Name}}
	if o.DB == "" {
		o.DB = p.db
	}
	if o.DB == "" {
		return sqlerr.NoDatabase.New()
	}
	p.Objects = append(p.Objects, o)
	return nil
}

// ParseProgram reads the text of a stored program as servers of a flavor and version do in an sql_mode.
func ParseProgram(text, sqlMode string, flavor catalog.Flavor, version string) (*routine.Program, error) {
	st := sqlparse.NewDialect(flavor == catalog.MariaDB, version).NewStatement()
	if err := st.Scan([]byte(text), sqlparse.ParseMode(sqlMode)); err != nil {
		return nil, err
	}
	return routine.Parse(st)
}

// WithoutDefiner is the text of a stored program's CREATE without the account it names: accounts of clients are none of the servers.
func (s *Statement) WithoutDefiner() string {
	d := s.Prog.Definer
	return s.source[:d.Start] + s.source[d.End:]
}

// WithBody is WithoutDefiner with another body.
func (s *Statement) WithBody(body string) string {
	d := s.Prog.Definer
	return s.source[:d.Start] + s.source[d.End:s.Prog.BodyAt] + body
}

// WithStatus is the text of CREATE or ALTER EVENT without the account it names, and with status for the one it gives.
func (s *Statement) WithStatus(status string) string {
	d, clause := s.Prog.Definer, s.Prog.Schedule
	from, to := clause.Status.Start, clause.Status.End
	if to == 0 {
		if from, to = clause.StatusAt, clause.StatusAt; clause.Alter {
			status = ""
		}
	}
	return s.source[:d.Start] + s.source[d.End:from] + " " + status + " " + s.source[to:]
}

// Aside is the clause that keeps every server from running an event.
func Aside(flavor catalog.Flavor, version string) string {
	if flavor == catalog.MySQL && VersionNumber(version) >= 80200 {
		return "DISABLE ON REPLICA"
	}
	return "DISABLE ON SLAVE"
}

// eventSwitch reads SET GLOBAL event_scheduler = value.
func (p *parser) eventSwitch() error {
	p.Verb = SwitchEvents
	if !p.accept("GLOBAL") || !p.accept("EVENT_SCHEDULER") {
		return p.fail()
	}
	p.accept(":")
	if !p.accept("=") {
		return p.fail()
	}
	switch value := strings.ToUpper(p.peek(0).value); value {
	case "ON", "1", "TRUE", "DEFAULT":
		p.EventsOff = false
	case "OFF", "0", "FALSE":
		p.EventsOff = true
	default:
		return sqlerr.WrongValueForVariable.New("event_scheduler", p.peek(0).value)
	}
	return nil
}

// NamesIn lists the names in a text that can be tables', as db.name.
func NamesIn(text, db string) (out []string) {
	_, toks, err := (&lexer{in: text}).plain()
	if err != nil {
		toks = nil
		for _, w := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n.,;()`'\"=<>+-*/", r) }) {
			toks = append(toks, token{kind: word, value: w})
		}
	}
	for n, t := range toks {
		if !t.name() {
			continue
		}
		out = append(out, db+"."+t.value)
		if n >= 2 && toks[n-1].is(".") && toks[n-2].name() {
			out = append(out, toks[n-2].value+"."+t.value)
		}
	}
	return out
}
