package routine

import (
	"strconv"
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// statement reads one statement of a body, without the ; behind it. label is the one before it.
func (p *parser) statement(label string) (Statement, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, sqlerr.Unsupported("a stored program nested deeper than 48 levels", "make several of it")
	}
	defer func() { p.depth-- }()
	if t := p.peek(0); label == "" && (t.Kind == sqlparse.Word || t.Kind == sqlparse.QuotedName) && p.is(1, ":") {
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		p.pos++
		switch p.upper(0) {
		case "BEGIN", "LOOP", "WHILE", "REPEAT":
			return p.statement(name)
		case "FOR":
			return p.forLoop(name)
		}
		return nil, p.fail()
	}
	switch p.upper(0) {
	case "BEGIN":
		return p.block(label)
	case "IF":
		return p.ifStatement()
	case "CASE":
		return p.caseStatement()
	case "LOOP", "WHILE", "REPEAT":
		return p.loop(label)
	case "FOR":
		return p.forLoop(label)
	case "GOTO", "EXIT", "CONTINUE", "RAISE", "NULL":
		if p.upper(0) != "NULL" || p.is(1, ";") {
			return nil, p.unknown(p.upper(0))
		}
	case "LEAVE", "ITERATE":
		l := &Leave{Iterate: p.upper(0) == "ITERATE"}
		p.pos++
		var err error
		l.Label, err = p.name()
		return l, err
	case "RETURN":
		p.pos++
		e, err := p.expr()
		return &Return{e}, err
	case "SET":
		return p.set()
	case "OPEN", "CLOSE":
		c := &Cursor{Verb: p.upper(0)}
		p.pos++
		var err error
		c.Name, err = p.name()
		if err == nil && c.Verb == "OPEN" && p.is(0, "(") {
			c.Args, err = p.arguments()
		}
		if p.is(0, "FOR") {
			return nil, p.unknown("OPEN ... FOR")
		}
		return c, err
	case "FETCH":
		return p.fetch()
	case "DECLARE":
		return nil, p.fail()
	}
	return p.sql()
}

func (p *parser) unknown(what string) error {
	return sqlerr.Unsupported(what+" in stored programs", "use WHILE, LOOP or REPEAT, and standard statements")
}

// sql takes a statement for others up to the ; that ends it.
func (p *parser) sql() (*SQL, error) {
	s := &SQL{Verb: p.upper(0)}
	for n := 0; s.Verb == "" && p.is(n, "("); n++ {
		s.Verb = p.upper(n + 1)
	}
	if s.Verb == "" {
		return nil, p.fail()
	}
	s.Start = p.peek(0).Start
	for ; !p.end() && !p.is(0, ";"); p.pos++ {
		s.End = p.peek(0).End
	}
	return s, nil
}

// expr takes an expression up to one of the words outside of parentheses and CASE ... END, or to a ; or the end.
func (p *parser) expr(ends ...string) (*Expr, error) {
	e := &Expr{sqlparse.Span{Start: p.peek(0).Start}}
	within := p.peek(0).Depth
	for cases := 0; !p.end() && !p.is(0, ";"); p.pos++ {
		if p.peek(0).Depth == within && cases == 0 {
			for _, w := range ends {
				if !p.is(0, w) {
					continue
				}
				if e.End == 0 {
					return nil, p.fail()
				}
				return e, nil
			}
		}
		dotted := p.pos > 0 && p.st.Is(p.toks[p.pos-1], ".")
		switch {
		case !dotted && p.is(0, "CASE"):
			cases++
		case !dotted && p.is(0, "END") && cases > 0:
			cases--
		}
		e.End = p.peek(0).End
	}
	if e.End == 0 || len(ends) > 0 && ends[len(ends)-1] != "," {
		return nil, p.fail()
	}
	return e, nil
}

// statements takes statements, each with its ;, up to one of the words.
func (p *parser) statements(ends ...string) ([]Statement, error) {
	var out []Statement
	for {
		for _, w := range ends {
			if p.is(0, w) {
				return out, nil
			}
		}
		if p.end() {
			return nil, p.fail()
		}
		s, err := p.statement("")
		if err != nil {
			return nil, err
		}
		if err := p.expect(";"); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
}

// endLabel takes the label behind an END.
func (p *parser) endLabel(label string) error {
	if t := p.peek(0); t.Kind == sqlparse.Word || t.Kind == sqlparse.QuotedName {
		if name, _ := p.name(); label == "" || !Same(name, label) {
			return sqlerr.LabelMismatch.New(name)
		}
	}
	return nil
}

func (p *parser) block(label string) (Statement, error) {
	b := &Block{Label: label}
	p.pos++
	p.accept("NOT", "ATOMIC") // of a block in a program it says nothing
	for p.is(0, "DECLARE") {
		if err := p.declare(b); err != nil {
			return nil, err
		}
		if err := p.expect(";"); err != nil {
			return nil, err
		}
	}
	var err error
	if b.Body, err = p.statements("END"); err != nil {
		return nil, err
	}
	p.pos++
	return b, p.endLabel(label)
}

func (p *parser) declare(b *Block) error {
	p.pos++
	switch exit := p.is(0, "EXIT"); {
	case (exit || p.is(0, "CONTINUE") || p.is(0, "UNDO")) && p.is(1, "HANDLER"):
		if p.is(0, "UNDO") {
			return p.unknown("UNDO handlers")
		}
		p.pos += 2
		return p.handler(b, exit)
	}
	var names []string
	for {
		name, err := p.name()
		if err != nil {
			return err
		}
		names = append(names, name)
		if !p.accept(",") {
			break
		}
	}
	switch {
	case p.accept("CONDITION"):
		if err := p.expect("FOR"); err != nil {
			return err
		}
		v, err := p.conditionValue()
		b.Conditions = append(b.Conditions, Condition{names[0], v})
		return err
	case p.accept("CURSOR"):
		c := CursorDecl{Name: names[0]}
		for more := p.accept("("); more; {
			var param Param
			var err error
			p.accept("IN")
			if param.Name, err = p.name(); err == nil {
				param.Type, err = p.typeText(",", ")")
			}
			if err != nil {
				return err
			}
			c.Params = append(c.Params, param)
			if more = p.accept(","); !more {
				if err := p.expect(")"); err != nil {
					return err
				}
			}
		}
		if err := p.expect("FOR"); err != nil {
			return err
		}
		q, err := p.sql()
		if err == nil && q.Verb != "SELECT" && q.Verb != "WITH" {
			return p.unknown("cursors for " + q.Verb)
		}
		c.Query = q
		b.Cursors = append(b.Cursors, c)
		return err
	}
	v := Variable{Names: names}
	var err error
	if v.Type, err = p.typeText(";", "DEFAULT", ":="); err != nil {
		return err
	}
	if p.accept("DEFAULT") || p.accept(":=") {
		if v.Default, err = p.expr(); err != nil {
			return err
		}
	}
	b.Variables = append(b.Variables, v)
	return nil
}

func (p *parser) handler(b *Block, exit bool) error {
	h := Handler{Exit: exit}
	if err := p.expect("FOR"); err != nil {
		return err
	}
	for {
		v, err := p.conditionValue()
		if err != nil {
			return err
		}
		h.Conditions = append(h.Conditions, v)
		if !p.accept(",") {
			break
		}
	}
	var err error
	if h.Body, err = p.statement(""); err != nil {
		return err
	}
	b.Handlers = append(b.Handlers, h)
	return nil
}

func (p *parser) conditionValue() (v ConditionValue, err error) {
	switch t := p.peek(0); {
	case p.accept("SQLSTATE"):
		p.accept("VALUE")
		t = p.peek(0)
		if t.Kind != sqlparse.StringLit {
			return v, p.fail()
		}
		p.pos++
		v.State = strings.ToUpper(string(p.st.AppendName(nil, t)))
		return v, nil
	case t.Kind == sqlparse.IntLit:
		p.pos++
		v.Code, err = strconv.Atoi(string(p.st.Text(t.Span)))
		return v, err
	case p.accept("NOT", "FOUND"):
		v.Class = "NOT FOUND"
		return v, nil
	case p.is(0, "SQLWARNING"), p.is(0, "SQLEXCEPTION"):
		v.Class = p.upper(0)
		p.pos++
		return v, nil
	}
	v.Name, err = p.name()
	return v, err
}

func (p *parser) ifStatement() (Statement, error) {
	s := &If{}
	p.pos++
	for {
		cond, err := p.expr("THEN")
		if err != nil {
			return nil, err
		}
		if err := p.expect("THEN"); err != nil {
			return nil, err
		}
		body, err := p.statements("ELSEIF", "ELSE", "END")
		if err != nil {
			return nil, err
		}
		s.Arms = append(s.Arms, Arm{cond, body})
		if !p.accept("ELSEIF") {
			break
		}
	}
	if p.accept("ELSE") {
		var err error
		if s.Else, err = p.statements("END"); err != nil {
			return nil, err
		}
	}
	return s, p.expect("END", "IF")
}

func (p *parser) caseStatement() (Statement, error) {
	s := &Case{}
	p.pos++
	var err error
	if !p.is(0, "WHEN") {
		if s.Operand, err = p.expr("WHEN"); err != nil {
			return nil, err
		}
	}
	for p.accept("WHEN") {
		var a Arm
		if a.When, err = p.expr("THEN"); err != nil {
			return nil, err
		}
		if err := p.expect("THEN"); err != nil {
			return nil, err
		}
		if a.Body, err = p.statements("WHEN", "ELSE", "END"); err != nil {
			return nil, err
		}
		s.Arms = append(s.Arms, a)
	}
	if p.accept("ELSE") {
		s.HasElse = true
		if s.Else, err = p.statements("END"); err != nil {
			return nil, err
		}
	}
	if len(s.Arms) == 0 {
		return nil, p.fail()
	}
	return s, p.expect("END", "CASE")
}

func (p *parser) loop(label string) (Statement, error) {
	l := &Loop{Label: label}
	word := p.upper(0)
	p.pos++
	var err error
	if word == "WHILE" {
		if l.While, err = p.expr("DO"); err != nil {
			return nil, err
		}
		if err := p.expect("DO"); err != nil {
			return nil, err
		}
	}
	if word == "REPEAT" {
		if l.Body, err = p.statements("UNTIL"); err != nil {
			return nil, err
		}
		p.pos++
		if l.Until, err = p.expr("END"); err != nil {
			return nil, err
		}
	} else if l.Body, err = p.statements("END"); err != nil {
		return nil, err
	}
	if err := p.expect("END", word); err != nil {
		return nil, err
	}
	return l, p.endLabel(label)
}

func (p *parser) fetch() (Statement, error) {
	c := &Cursor{Verb: "FETCH"}
	p.pos++
	if !p.accept("NEXT", "FROM") && p.is(0, "FROM") && !p.is(1, "INTO") {
		p.pos++
	}
	var err error
	if c.Name, err = p.name(); err != nil {
		return nil, err
	}
	if err := p.expect("INTO"); err != nil {
		return nil, err
	}
	for {
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		c.Into = append(c.Into, name)
		if !p.accept(",") {
			return c, nil
		}
	}
}

// set reads SET. What is no list of assignments is one whole.
func (p *parser) set() (Statement, error) {
	s := &Set{Span: sqlparse.Span{Start: p.peek(0).Start}}
	p.pos++
	from := p.pos
	switch p.upper(0) {
	case "NAMES", "CHARACTER", "CHARSET", "TRANSACTION", "PASSWORD", "ROLE", "DEFAULT", "STATEMENT", "RESOURCE":
		s.Whole = true
	case "SESSION", "LOCAL", "GLOBAL":
		s.Whole = p.is(1, "TRANSACTION")
	}
	for !s.Whole {
		var a Assignment
		first := p.pos
		for !p.end() && !p.is(0, "=") && !p.is(0, ":=") && !p.is(0, ";") {
			p.pos++
		}
		if p.pos == first || p.end() || p.is(0, ";") {
			return nil, p.fail()
		}
		a.Target = p.target(first, p.pos)
		a.At = sqlparse.Span{Start: p.toks[first].Start, End: p.toks[p.pos-1].End}
		p.pos++
		var err error
		if a.Value, err = p.expr(","); err != nil {
			return nil, err
		}
		s.Assignments = append(s.Assignments, a)
		if !p.accept(",") {
			break
		}
	}
	if s.Whole {
		for p.pos = from; !p.end() && !p.is(0, ";"); {
			p.pos++
		}
	}
	s.End = p.toks[p.pos-1].End
	return s, nil
}

// target is the text of what is assigned to: names without quotes, words of a scope in upper case.
func (p *parser) target(from, to int) string {
	if to-from == 2 { // SESSION x, GLOBAL x
		return strings.ToUpper(string(p.st.Text(p.toks[from].Span))) + " " + string(p.st.AppendName(nil, p.toks[from+1]))
	}
	var out []byte
	for _, t := range p.toks[from:to] {
		switch t.Kind {
		case sqlparse.QuotedName, sqlparse.Word:
			out = p.st.AppendName(out, t)
		default:
			out = append(out, p.st.Text(t.Span)...)
		}
	}
	return string(out)
}
