package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// havingQueries are the texts of subqueries behind FROM and WHERE, those inside of others left out.
func (g *grouping) havingQueries() (spans []sqlparse.Span) {
	until := g.sourcesEnd()
	for _, s := range queriesIn(g.b.st) {
		if s.Start >= until && !slices.ContainsFunc(spans, func(o sqlparse.Span) bool { return o.Start <= s.Start && s.End <= o.End }) {
			spans = append(spans, s)
		}
	}
	return spans
}

// subquery writes a subquery of HAVING that looks at nothing outside of itself: its own text, with the copies of queries in
// place of all tables that it reads.
func (g *grouping) subquery(p *phrase, sub *sqlparser.Subquery) {
	b := g.b
	q := b.a.queries[sub]
	if b.part || !g.having || q == nil {
		p.fail() // a part's copies are numbered by the statement that it is a part of
		return
	}
	for _, span := range g.skipped {
		st, _, key, ok := b.parsePart(span)
		if !ok || key != signature(q.stmt, nil) {
			continue
		}
		if n, _ := b.inside(st); n != nil {
			g.subqueryText(p, span)
			return
		}
	}
	p.fail()
}

func (g *grouping) subqueryText(p *phrase, span sqlparse.Span) {
	b := g.b
	refs, sure := b.st.Tables()
	if !sure {
		p.fail()
		return
	}
	written, common := b.writtenQueries()
	p.raw("(")
	at := span.Start
	for _, s := range queriesAt(b.st, span) {
		if s.Start < at {
			continue // inside of one that is copied
		}
		x := b.push(s, len(g.inner)+2, written, common)
		if x == nil {
			continue
		}
		g.inner = append(g.inner, x)
		p.e.span(at, s.Start)
		if x.rest != nil {
			p.e.add(x.rest)
		} else {
			p.raw("SELECT * FROM " + x.table.SQL())
		}
		at = s.End
		refs = slices.DeleteFunc(slices.Clone(refs), func(r sqlparse.TableRef) bool { return s.Start <= r.Start && r.End <= s.End })
	}
	p.e.span(at, span.End)
	p.raw(")")
	if len(g.inner) > maxPushed || slices.ContainsFunc(refs, func(r sqlparse.TableRef) bool { return span.Start <= r.Start && r.End <= span.End }) {
		p.fail()
	}
}

// queriesAt are the texts of span, which is a query itself, and of the queries in it, in order.
func queriesAt(st *sqlparse.Statement, span sqlparse.Span) []sqlparse.Span {
	return slices.DeleteFunc(queriesIn(st), func(s sqlparse.Span) bool { return s.Start < span.Start || s.End > span.End })
}

// copies are those of the groups and of the queries that the rest reads.
func (g *grouping) copies() []plan.Copy {
	list := []plan.Copy{{Table: g.names, Query: g.found}}
	for _, x := range g.inner {
		list = append(list, plan.Copy{Table: x.table, Query: x.query})
	}
	for i := range list {
		plan.Fragments(list[i].Query.Root)[0].ID = i + 1
	}
	return list
}
