package routine

import (
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// Limits on a program's text: deeper or larger ones are refused.
const (
	maxDepth  = 48
	maxTokens = 200_000
)

// Parse reads CREATE FUNCTION, PROCEDURE, TRIGGER or EVENT, or ALTER EVENT, which may have no body. st is a scan of the text, which must stay unchanged as long as the
// program is used. The error is an *sqlerr.Error: a syntax error, or 1235 for a form that is not known.
func Parse(st *sqlparse.Statement) (*Program, error) {
	p, err := newParser(st)
	if err != nil {
		return nil, err
	}
	prog := &Program{st: st}
	if err := p.head(prog); err != nil {
		return nil, err
	}
	if prog.Kind == Event && prog.Schedule.Alter && p.end() { // it leaves the body as it is
		return prog, nil
	}
	prog.BodyAt = p.peek(0).Start
	body, err := p.statement("")
	if err != nil {
		return nil, err
	}
	p.accept(";")
	if !p.end() {
		return nil, p.fail()
	}
	prog.Body = body
	return prog, nil
}

// ParseCompound reads BEGIN NOT ATOMIC ... END, which is run as a procedure without parameters. As with Parse, st must stay.
func ParseCompound(st *sqlparse.Statement) (*Program, error) {
	p, err := newParser(st)
	if err != nil {
		return nil, err
	}
	prog := &Program{st: st, Kind: Procedure}
	if prog.Body, err = p.statement(""); err != nil {
		return nil, err
	}
	p.accept(";")
	if !p.end() {
		return nil, p.fail()
	}
	return prog, nil
}

func newParser(st *sqlparse.Statement) (*parser, error) {
	p := &parser{st: st}
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if tok.Kind == sqlparse.Invalid {
			return nil, st.SyntaxError(tok.Start)
		}
		if len(p.toks) == maxTokens {
			return nil, sqlerr.Unsupported("a stored program of more than 200,000 words", "make several of it")
		}
		p.toks = append(p.toks, tok)
	}
	return p, nil
}

// parser walks over tokens.
type parser struct {
	st    *sqlparse.Statement
	toks  []sqlparse.Token
	pos   int
	depth int
	loops []string // variables of the FOR loops around
}

func (p *parser) peek(n int) sqlparse.Token {
	if p.pos+n < len(p.toks) {
		return p.toks[p.pos+n]
	}
	at := len(p.st.SQL())
	return sqlparse.Token{Kind: sqlparse.EOF, Span: sqlparse.Span{Start: at, End: at}}
}

func (p *parser) end() bool { return p.pos >= len(p.toks) }

// is reports whether the nth token from here is the word or operator.
func (p *parser) is(n int, word string) bool { return p.st.Is(p.peek(n), word) }

// accept skips the words if all of them come next.
func (p *parser) accept(words ...string) bool {
	for i, w := range words {
		if !p.is(i, w) {
			return false
		}
	}
	p.pos += len(words)
	return true
}

func (p *parser) expect(words ...string) error {
	if !p.accept(words...) {
		return p.fail()
	}
	return nil
}

// fail is the server's syntax error at the present token.
func (p *parser) fail() error { return p.st.SyntaxError(p.peek(0).Start) }

func (p *parser) upper(n int) string {
	t := p.peek(n)
	if t.Kind != sqlparse.Word {
		return ""
	}
	return strings.ToUpper(string(p.st.Text(t.Span)))
}

// name takes an unqualified name.
func (p *parser) name() (string, error) {
	t := p.peek(0)
	if t.Kind != sqlparse.Word && t.Kind != sqlparse.QuotedName {
		return "", p.fail()
	}
	p.pos++
	return string(p.st.AppendName(nil, t)), nil
}

// qualified takes [db .] name.
func (p *parser) qualified() (Name, error) {
	start := p.peek(0).Start
	first, err := p.name()
	if err != nil {
		return Name{}, err
	}
	n := Name{Name: first}
	if p.accept(".") {
		n.DB = first
		if n.Name, err = p.name(); err != nil {
			return Name{}, err
		}
	}
	n.Span = sqlparse.Span{Start: start, End: p.toks[p.pos-1].End}
	return n, nil
}

// head reads everything before the body.
func (p *parser) head(prog *Program) error {
	alter := p.accept("ALTER")
	if !alter {
		if err := p.expect("CREATE"); err != nil {
			return err
		}
		prog.OrReplace = p.accept("OR", "REPLACE")
	}
	if p.is(0, "DEFINER") {
		start := p.peek(0).Start
		p.pos++
		if err := p.expect("="); err != nil {
			return err
		}
		if p.is(0, "CURRENT_ROLE") {
			return sqlerr.Unsupported("a role as the definer", "name an account")
		}
		for !p.end() && !p.is(0, "PROCEDURE") && !p.is(0, "FUNCTION") && !p.is(0, "TRIGGER") && !p.is(0, "EVENT") && !p.is(0, "AGGREGATE") {
			p.pos++
		}
		prog.Definer = sqlparse.Span{Start: start, End: p.peek(0).Start}
		prog.DefinerName, prog.DefinerHost = p.account(start)
	}
	if p.accept("AGGREGATE") {
		return sqlerr.Unsupported("aggregate stored functions", "aggregate in the statement")
	}
	switch {
	case alter:
		if err := p.expect("EVENT"); err != nil {
			return err
		}
		prog.Kind = Event
	case p.accept("FUNCTION"):
		prog.Kind = Function
	case p.accept("PROCEDURE"):
		prog.Kind = Procedure
	case p.accept("TRIGGER"):
		prog.Kind = Trigger
	case p.accept("EVENT"):
		prog.Kind = Event
	default:
		return p.fail()
	}
	prog.IfNotExists = p.accept("IF", "NOT", "EXISTS")
	var err error
	if prog.Name, err = p.qualified(); err != nil {
		return err
	}
	switch prog.Kind {
	case Event:
		return p.eventHead(prog, alter)
	case Trigger:
		return p.triggerHead(prog)
	}
	if err := p.params(prog); err != nil {
		return err
	}
	if prog.Kind == Function {
		if p.is(0, "SONAME") {
			return sqlerr.Unsupported("loadable functions (SONAME)", "install them on the servers")
		}
		if err := p.expect("RETURNS"); err != nil {
			return err
		}
		from := p.pos
		for !p.end() && !p.characteristic() && !p.bodyBegins() {
			p.pos++
		}
		if from == p.pos {
			return p.fail()
		}
		prog.Returns = p.Text(from, p.pos)
	}
	return p.characteristics(prog)
}

// account is the name and the host in the clause DEFINER = account that begins at start and ends here; empty for CURRENT_USER.
func (p *parser) account(start int) (name, host string) {
	for at := p.pos - 1; at > 0 && p.toks[at].Start > start; at-- {
		if !p.st.Is(p.toks[at-1], "=") {
			continue
		}
		t := p.toks[at]
		if t.Kind == sqlparse.Word && p.st.Is(t, "CURRENT_USER") {
			return "", ""
		}
		for _, h := range p.toks[at+1 : p.pos] { // an @ of its own, or in one with the host
			host = string(p.st.AppendName(nil, h))
		}
		return string(p.st.AppendName(nil, t)), host
	}
	return "", ""
}

// Text is the text of the tokens from..to-1.
func (p *parser) Text(from, to int) string {
	return string(p.st.Text(sqlparse.Span{Start: p.toks[from].Start, End: p.toks[to-1].End}))
}

// characteristic reports whether a characteristic of a routine comes next.
func (p *parser) characteristic() bool {
	switch p.upper(0) {
	case "COMMENT", "LANGUAGE", "DETERMINISTIC", "NOT", "CONTAINS", "NO", "READS", "MODIFIES", "SQL":
		return true
	}
	return false
}

// bodyBegins reports whether the body of a function may begin here.
func (p *parser) bodyBegins() bool {
	switch p.upper(0) {
	case "BEGIN", "RETURN", "IF", "CASE", "LOOP", "WHILE", "REPEAT", "SELECT", "INSERT", "UPDATE", "DELETE", "DO", "CALL", "SIGNAL":
		return true
	case "SET": // SET x = ..., but not CHARACTER SET utf8mb4
		return p.pos > 0 && !p.st.Is(p.toks[p.pos-1], "CHARACTER") && !p.st.Is(p.toks[p.pos-1], "CHAR")
	}
	return (p.peek(0).Kind == sqlparse.Word || p.peek(0).Kind == sqlparse.QuotedName) && p.is(1, ":")
}

func (p *parser) characteristics(prog *Program) error {
	for {
		switch {
		case p.accept("COMMENT"):
			p.pos++
		case p.accept("LANGUAGE"):
			if !p.is(0, "SQL") {
				return sqlerr.Unsupported("stored programs in "+p.upper(0), "write them in SQL")
			}
			p.pos++
		case p.accept("DETERMINISTIC"), p.accept("NOT", "DETERMINISTIC"), p.accept("CONTAINS", "SQL"), p.accept("NO", "SQL"),
			p.accept("READS", "SQL", "DATA"), p.accept("MODIFIES", "SQL", "DATA"):
		case p.accept("SQL", "SECURITY", "DEFINER"):
			prog.Invoker = false
		case p.accept("SQL", "SECURITY", "INVOKER"):
			prog.Invoker = true
		default:
			return nil
		}
	}
}

// params reads the list of parameters.
func (p *parser) params(prog *Program) error {
	if err := p.expect("("); err != nil {
		return err
	}
	for !p.accept(")") {
		var param Param
		switch {
		case p.accept("IN"):
		case p.accept("OUT"):
			param.Mode = Out
		case p.accept("INOUT"):
			param.Mode = InOut
		}
		if prog.Kind == Function && param.Mode != In {
			return sqlerr.Unsupported("OUT parameters of stored functions", "use a procedure")
		}
		var err error
		if param.Name, err = p.name(); err != nil {
			return err
		}
		if param.Type, err = p.typeText(",", ")"); err != nil {
			return err
		}
		prog.Params = append(prog.Params, param)
		p.accept(",")
	}
	return nil
}

// typeText takes a type up to one of the ends outside of parentheses.
func (p *parser) typeText(ends ...string) (string, error) {
	from, within := p.pos, p.peek(0).Depth
	for ; !p.end(); p.pos++ {
		if t := p.peek(0); t.Depth <= within {
			for _, e := range ends {
				if p.is(0, e) && (e != ")" || t.Depth < within) {
					if from == p.pos {
						return "", p.fail()
					}
					return p.Text(from, p.pos), nil
				}
			}
		}
		if p.is(0, "ROW") && from == p.pos {
			return "", sqlerr.Unsupported("ROW as type of variables", "declare a variable for each column")
		}
	}
	return "", p.fail()
}

func (p *parser) triggerHead(prog *Program) error {
	if prog.Timing = p.upper(0); prog.Timing != "BEFORE" && prog.Timing != "AFTER" {
		return p.fail()
	}
	p.pos++
	if prog.Event = p.upper(0); prog.Event != "INSERT" && prog.Event != "UPDATE" && prog.Event != "DELETE" {
		return p.fail()
	}
	p.pos++
	if p.is(0, "OR") || p.is(0, "OF") {
		return sqlerr.Unsupported("triggers for several events or some columns", "make one trigger for each event")
	}
	if err := p.expect("ON"); err != nil {
		return err
	}
	var err error
	if prog.Table, err = p.qualified(); err != nil {
		return err
	}
	if err := p.expect("FOR", "EACH", "ROW"); err != nil {
		return err
	}
	if p.accept("FOLLOWS") || p.accept("PRECEDES") {
		if _, err := p.name(); err != nil {
			return err
		}
	}
	return nil
}
