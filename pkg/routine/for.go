package routine

import (
	"slices"
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// MariaDB's FOR loops over a range of numbers. The variable is one of the program, and so is the bound that the loop ends at: both are
// computed once.

// boundOf is the name of the variable for the end of the loop over a variable.
func boundOf(variable string) string { return variable + " .." }

// forLoop reads FOR variable IN [REVERSE] low .. high DO ... END FOR [label].
func (p *parser) forLoop(label string) (Statement, error) {
	f := &For{Label: label}
	p.pos++
	var err error
	if f.Variable, err = p.name(); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(p.loops, func(outer string) bool { return Same(outer, f.Variable) }) {
		return nil, sqlerr.Unsupported("the variable "+f.Variable+", which hides another of its name", "give it another name")
	}
	if err := p.expect("IN"); err != nil {
		return nil, err
	}
	f.Reverse = p.accept("REVERSE")
	from := p.pos
	for !p.end() && !p.is(0, "DO") && !p.is(0, ";") {
		p.pos++
	}
	if from == p.pos || !p.is(0, "DO") {
		return nil, p.fail()
	}
	start, text := p.toks[from].Start, p.Text(from, p.pos)
	low, high, found := strings.Cut(text, "..")
	if !found || strings.ContainsAny(text, "'\"") || strings.Contains(high, "..") {
		return nil, p.unknown("FOR loops over rows, or with bounds of this form,")
	}
	span := func(at int, part string) *Expr {
		begin := at + len(part) - len(strings.TrimLeft(part, " \t\r\n"))
		return &Expr{sqlparse.Span{Start: begin, End: begin + len(strings.TrimSpace(part))}}
	}
	f.Low, f.High = span(start, low), span(start+len(low)+2, high)
	if f.Low.Start == f.Low.End || f.High.Start == f.High.End {
		return nil, p.fail()
	}
	p.pos++
	p.loops = append(p.loops, f.Variable)
	if f.Body, err = p.statements("END"); err != nil {
		return nil, err
	}
	p.loops = p.loops[:len(p.loops)-1]
	if err := p.expect("END", "FOR"); err != nil {
		return nil, err
	}
	return f, p.endLabel(label)
}

// arguments reads the list of expressions in parentheses.
func (p *parser) arguments() (list []*Expr, err error) {
	p.pos++
	within := p.peek(0).Depth
	e := &Expr{}
	for ; !p.end(); p.pos++ {
		t := p.peek(0)
		if t.Depth == within && p.is(0, ",") || t.Depth < within {
			if e.End == 0 {
				return nil, p.fail()
			}
			list = append(list, e)
			e = &Expr{}
			if p.accept(")") {
				return list, nil
			}
			continue
		}
		if e.End == 0 {
			e.Start = t.Start
		}
		e.End = t.End
	}
	return nil, p.fail()
}

// forLoop runs a FOR loop.
func (r *runner) forLoop(l *For) (flow, error) {
	name, bound := l.Variable, boundOf(l.Variable)
	first, last, compare, step := l.Low, l.High, " <= ", " + 1"
	if l.Reverse {
		first, last, compare, step = l.High, l.Low, " >= ", " - 1"
	}
	sc := &scope{block: &Block{}}
	r.scopes = append(r.scopes, sc)
	defer func(around []*scope) { r.scopes = around }(r.scopes[:len(r.scopes)-1])
	for i, e := range []*Expr{first, last} {
		sc.declared = nil // neither bound knows of the variable
		target, shown := []string{name, bound}[i], []string{name, "[target_bound]"}[i]
		f, err := r.leaf(func() error { return r.host.Assign(target, r.text(e)) })
		if err != nil || f != nil {
			return stop(f), err
		}
		sc.declared = []string{target}
		null, f, err := r.testText(sqltypes.QuoteName(target) + " IS NULL")
		if err != nil || f != nil {
			return stop(f), err
		}
		if null {
			f, err := r.leaf(func() error {
				return sqlerr.NullNotAllowed.New(shown)
			})
			return stop(f), err
		}
	}
	sc.declared = []string{name, bound}
	for {
		more, f, err := r.testText(sqltypes.QuoteName(name) + compare + sqltypes.QuoteName(bound))
		if err != nil || f != nil || !more {
			return stop(f), err
		}
		out, err := r.list(l.Body)
		if err != nil {
			return out, err
		}
		switch mine := l.Label != "" && Same(out.label, l.Label); {
		case out.kind == leave && mine:
			return flow{}, nil
		case out.kind == iterate && mine, out.kind == next:
		default:
			return out, nil
		}
		if f, err = r.leaf(func() error { return r.host.Assign(name, sqltypes.QuoteName(name)+step) }); err != nil || f != nil {
			return stop(f), err
		}
		if err := r.host.Step(); err != nil {
			return flow{}, err
		}
	}
}
