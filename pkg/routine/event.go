package routine

import (
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// Schedule is what CREATE and ALTER EVENT say beside name and body. Spans of clauses that are not there are empty.
type Schedule struct {
	// Alter: the statement is ALTER EVENT.
	Alter bool
	// Status is ENABLE, DISABLE, or DISABLE ON SLAVE or REPLICA. Where none is given, StatusAt is the place for one.
	Status   sqlparse.Span
	StatusAt int
	Enables  bool
	// Aside: DISABLE ON SLAVE.
	Aside bool
	// RenameTo is the new name.
	RenameTo *Name
	// Given: there is an ON SCHEDULE.
	Given bool
}

// eventHead reads the clauses of an event up to its body, which must come next unless the statement is ALTER EVENT.
func (p *parser) eventHead(prog *Program, alter bool) error {
	s := &Schedule{Alter: alter}
	prog.Schedule = s
	if p.accept("ON", "SCHEDULE") {
		s.Given = true
		if err := p.schedule(); err != nil {
			return err
		}
	} else if !alter {
		return p.fail()
	}
	if p.accept("ON", "COMPLETION") {
		p.accept("NOT")
		if err := p.expect("PRESERVE"); err != nil {
			return err
		}
	}
	if p.accept("RENAME", "TO") {
		n, err := p.qualified()
		if err != nil {
			return err
		}
		s.RenameTo = &n
	}
	s.StatusAt = p.peek(0).Start
	if from := p.pos; p.accept("ENABLE") || p.accept("DISABLE") {
		s.Enables = p.st.Is(p.toks[from], "ENABLE")
		s.Aside = !s.Enables && (p.accept("ON", "SLAVE") || p.accept("ON", "REPLICA"))
		s.Status = sqlparse.Span{Start: p.toks[from].Start, End: p.toks[p.pos-1].End}
	}
	if p.accept("COMMENT") {
		p.pos++
	}
	if p.accept("DO") {
		return nil
	}
	if !alter || !p.end() && !p.is(0, ";") {
		return p.fail()
	}
	return nil
}

// schedule reads what ON SCHEDULE says, of which servers compute the times: on connections that are nobody's.
func (p *parser) schedule() error {
	from := p.pos
	p.skipClause()
	if p.pos == from {
		return nil
	}
	st := p.st.Dialect().NewStatement()
	defer st.Done()
	text := p.st.Text(sqlparse.Span{Start: p.toks[from].Start, End: p.toks[p.pos-1].End})
	if err := st.Scan(append([]byte("DO "), text...), p.st.Mode()); err != nil {
		return err
	}
	if st.Uses()&sqlparse.UserLock != 0 {
		return sqlerr.Unsupported("user-level locks in the schedule of an event", "write the value itself")
	}
	return nil
}

// skipClause goes on to the next clause of an event.
func (p *parser) skipClause() {
	for within := p.peek(0).Depth; !p.end() && !p.is(0, ";"); p.pos++ {
		switch {
		case p.peek(0).Depth > within:
		case p.is(0, "ON") && p.is(1, "COMPLETION"), p.is(0, "RENAME"), p.is(0, "ENABLE"), p.is(0, "DISABLE"), p.is(0, "COMMENT"), p.is(0, "DO"):
			return
		}
	}
}
