package planner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// pushed is a query inside the statement whose rows are copied, in place of the tables it reads.
type pushed struct {
	span  sqlparse.Span // of its text, without the parentheses around it
	table *catalog.Table
	query *plan.Query
	// rest is what stands in its place, nil: the whole copy.
	rest plan.Text
	// bound: the copy is the greatest or least value of the query, NULL if it has no row.
	bound bool
	// of are its scopes: a common table expression has one for each place that reads it.
	of []*query
}

// maxPushed bounds the queries that are copied.
const maxPushed = 16

// pushQueries: see its rule's Doc.
func pushQueries(b *build) (fired bool, err error) {
	if b.choice.Queries != nil {
		return false, nil // there is a better one
	}
	list := b.pushable()
	if len(list) == 0 {
		return false, nil
	}
	kept, rules := *b, b.plan.Rules
	b.pushed = list
	b.done, b.ws, b.plan.Root = false, nil, nil
	err = run(b, workspaceRules())
	w, ok := b.plan.Root.(*plan.Workspace)
	inside := slices.Clone(b.plan.Rules[len(rules):])
	b.plan.Rules, b.plan.Root, b.ws, b.pushed, b.done = rules, b.choice.Workspace, kept.ws, nil, false
	if err != nil || !ok {
		return false, err
	}
	for _, name := range inside {
		if !slices.Contains(rules, name) {
			b.plan.Rules = append(b.plan.Rules, name)
		}
	}
	b.choice.Queries = w
	return true, nil
}

// pushable finds the queries to copy: the outermost that can be.
func (b *build) pushable() (list []*pushed) {
	if !b.sess.UTF8Results || b.a.unseen {
		return nil
	}
	written, common := b.writtenQueries()
	selected, _ := b.st.SelectList()
	for _, span := range queriesIn(b.st) {
		inside := slices.ContainsFunc(list, func(p *pushed) bool { return p.span.Start <= span.Start && span.End <= p.span.End })
		if inside || span.Start <= selected.Start && selected.End <= span.End ||
			selected.Start <= span.Start && span.End <= selected.End && !b.aliased(span) {
			continue // columns of the result are named by the text of the list
		}
		if p := b.push(span, len(list)+1, written, common); p != nil && len(list) < maxPushed {
			list = append(list, p)
		}
	}
	for _, p := range list {
		if p.rest == nil {
			p.query.Keys = b.joinedBy(p)
		}
	}
	return list
}

// writtenQueries are the queries of the statement by signature, and the names of its common table expressions.
func (b *build) writtenQueries() (written map[string][]*query, common []string) {
	written = map[string][]*query{}
	for _, q := range b.a.written {
		key := signature(q.stmt, nil)
		written[key] = append(written[key], q)
		common = append(common, commonNames(q.stmt)...)
	}
	return written, common
}

// queriesIn are the texts of queries in parentheses, in order.
func queriesIn(st *sqlparse.Statement) (spans []sqlparse.Span) {
	var open []int // in spans, or -1
	prev := false  // the token before is a parenthesis
	for toks := st.Tokens(); ; {
		t := toks.Next()
		switch {
		case t.Kind == sqlparse.EOF, t.Kind == sqlparse.Invalid:
			return slices.DeleteFunc(spans, func(s sqlparse.Span) bool { return s.End == 0 })
		case prev && isWord(st, t, "SELECT"):
			open[len(open)-1] = len(spans)
			spans = append(spans, sqlparse.Span{Start: t.Start})
		}
		if prev = t.Kind == sqlparse.Op && st.Is(t, "("); prev {
			open = append(open, -1)
		}
		if t.Kind == sqlparse.Op && st.Is(t, ")") && len(open) > 0 {
			if i := open[len(open)-1]; i >= 0 {
				spans[i].End = t.Start
			}
			open = open[:len(open)-1]
		}
	}
}

// signature tells a query or an expression from others of the statement: its tree with arguments unnamed, and the number of the
// first one. args are the statement's numbers of the arguments, where those in the tree are others.
func signature(stmt sqlparser.SQLNode, args []int) string {
	first := -1
	note := func(name string) {
		n, ok := sqlparse.ArgNumber(name)
		if args != nil && n < len(args) {
			n = args[n]
		}
		if ok && (first < 0 || n < first) {
			first = n
		}
	}
	buf := sqlparser.NewTrackedBuffer(func(buf *sqlparser.TrackedBuffer, node sqlparser.SQLNode) {
		switch n := node.(type) {
		case *sqlparser.Argument:
			note(n.Name)
			buf.WriteString("?")
		case sqlparser.ListArg:
			note(string(n))
			buf.WriteString("(?)")
		default:
			node.Format(buf)
		}
	})
	buf.Myprintf("%v", stmt)
	return fmt.Sprint(first, " ", buf.String())
}

// commonNames are the common table expressions that a query defines.
func commonNames(stmt sqlparser.TableStatement) (names []string) {
	var with *sqlparser.With
	switch s := stmt.(type) {
	case *sqlparser.Select:
		with = s.With
	case *sqlparser.Union:
		with = s.With
	}
	if with == nil {
		return nil
	}
	for _, c := range with.CTEs {
		names = append(names, c.ID.String())
	}
	return names
}

// push plans the query in a part of the text as number of those that are copied; nil if its rows cannot be.
func (b *build) push(span sqlparse.Span, number int, written map[string][]*query, common []string) *pushed {
	st, args, key, ok := b.parsePart(span)
	if !ok {
		return nil
	}
	refs, sure := st.Tables()
	if !sure || slices.ContainsFunc(refs, func(r sqlparse.TableRef) bool {
		return r.DB == "" && slices.ContainsFunc(common, func(c string) bool { return strings.EqualFold(c, r.Name) })
	}) {
		return nil
	}
	of := written[key]
	if len(of) == 0 || len(of) > 1 && b.snap.Flavor == catalog.MySQL || slices.ContainsFunc(of, b.a.divides) {
		return nil
	}
	bound := ""
	if slices.ContainsFunc(of, func(q *query) bool { return !b.storable(q) }) {
		if slices.ContainsFunc(of, func(q *query) bool { return !b.valuesOnly(q) }) {
			return nil
		}
		bound = b.bound(of)
		if bound != "" {
			st, args, ok = b.scanBound(span, bound)
		} else {
			st, args, ok = b.scanDistinct(span)
		}
		if !ok {
			return nil
		}
	}
	n, planned := b.inside(st)
	if n == nil || n.selectsParameter(n.query.stmt) {
		return nil
	}
	m := mover{args: args, st: st}
	p := &pushed{span: span, of: of}
	if planned {
		p.query = n.found(m)
		p.query.Operand = b.expression(of[0])
		p.table = b.madeUp(p.query, number)
		if bound != "" {
			p.bound, p.rest = true, boundRest(p.table)
		}
	} else if bound != "" {
		return nil
	} else if !b.pushRest(p, n, m, number) {
		return nil
	}
	if !b.guardAs(n, args) {
		return nil
	}
	return p
}

// parsePart is scanPart with the query's signature in the statement.
func (b *build) parsePart(span sqlparse.Span) (st *sqlparse.Statement, args []int, key string, ok bool) {
	if st, args, ok = b.scanPart(span); !ok {
		return nil, nil, "", false
	}
	tree, usedArgs, err := b.p.parser.Parse(st)
	stmt, is := tree.(sqlparser.TableStatement)
	if err != nil || !is || !usedArgs && st.NumArgs() > st.NumParams() {
		return nil, nil, "", false
	}
	return st, args, signature(stmt, args), true
}

// scanPart scans a SELECT that is a part of the text; args are the statement's numbers of its arguments.
func (b *build) scanPart(span sqlparse.Span) (st *sqlparse.Statement, args []int, ok bool) {
	st = b.st.Dialect().NewStatement()
	if st.Scan(slices.Clone(b.st.Text(span)), b.st.Mode()) != nil || st.Kind() != sqlparse.Select || st.Rest() != nil {
		return nil, nil, false
	}
	args, ok = b.arguments(st, []part{{span: span}})
	return st, args, ok
}

// scanDistinct is scanPart with DISTINCT.
func (b *build) scanDistinct(span sqlparse.Span) (st *sqlparse.Statement, args []int, ok bool) {
	const word, distinct = "SELECT", "SELECT DISTINCT"
	span.Start += len(word)
	st = b.st.Dialect().NewStatement()
	if st.Scan([]byte(distinct+string(b.st.Text(span))), b.st.Mode()) != nil {
		return nil, nil, false
	}
	args, ok = b.arguments(st, []part{{at: len(distinct), span: span}})
	return st, args, ok
}

// valuesOnly reports whether q is a SELECT of plain columns, without more than conditions, of which the statement looks at
// different values only, in IN, ANY or ALL: how often one is there does not matter. Equal values must be alike, for they may be compared
// by another collation.
func (b *build) valuesOnly(q *query) bool {
	blk := q.block
	if blk == nil || !q.known || blk.aggregated || blk.sel.GroupBy != nil || q.limit != nil || len(blk.windows) > 0 || blk.namedWin {
		return false
	}
	for _, c := range q.columns {
		if !c.ref.ok() || !alike(c.ref.column()) || !shownWhole(c.ref.column()) {
			return false
		}
	}
	for sub, of := range b.a.queries {
		if of == q {
			return b.a.sets[sub]
		}
	}
	return false
}

// aliased reports whether a part of the select list stands in an item with an alias, so that its text names nothing.
func (b *build) aliased(part sqlparse.Span) bool {
	list, _ := b.st.SelectList()
	return !b.parameterIn(list) && slices.ContainsFunc(b.st.SelectItems(nil), func(it sqlparse.SelectItem) bool {
		return it.Alias.End > it.Alias.Start && it.Expr.Start <= part.Start && part.End <= it.Expr.End
	})
}

// pushRest copies the groups of a query that cannot be copied itself.
func (b *build) pushRest(p *pushed, n *build, m mover, number int) bool {
	g := n.groups(number)
	if g == nil {
		return false
	}
	query, rest := g.found, g.over
	root, ok := m.node(query.Root)
	if !ok {
		return false
	}
	query.Root, query.Text = root, m.text(query.Text)
	if p.rest = m.text(rest); n.query.limit == nil && !b.expression(p.of[0]) {
		p.rest = append(p.rest, plan.Piece{SQL: plan.CopyEnd, Arg: plan.NoArg}) // it is stored before it is read, as on one server
	}
	p.query, p.table = query, g.names
	return true
}

// inside plans a query that is made of parts of the statement, as a statement of its own. It returns nil if it is none that stands for
// itself; planned tells that node groups find its rows.
func (b *build) inside(st *sqlparse.Statement) (n *build, planned bool) {
	n = &build{p: b.p, st: st, db: b.db, snap: b.snap, sess: b.sess, plan: &plan.Plan{Uses: textUses(st.Uses())}, part: true}
	n.storedFunctions()
	err := n.statement()
	if n.query == nil || n.plan.Kind != plan.Select || n.plan.Uses&^plan.ReadsClock != 0 || !n.a.closed(n.query, nil) || n.a.inPlace || n.a.system || n.a.virtual ||
		slices.ContainsFunc(n.a.tables(), func(t *catalog.Table) bool { return t.Temporary != "" }) {
		return nil, false
	}
	if err != nil || n.plan.Refuse != nil || n.plan.Root == nil {
		return n, false
	}
	_, planned = (&mover{st: st, args: make([]int, st.NumArgs())}).node(n.plan.Root)
	return n, planned
}

// found is the query that b has planned, which is part of another statement.
func (b *build) found(m mover) *plan.Query {
	whole := &editor{st: b.st}
	whole.span(0, len(b.st.SQL()))
	root, _ := m.node(b.plan.Root)
	q := &plan.Query{Root: root, Text: m.text(whole.done()), Uses: b.plan.Uses}
	q.Of, q.Share = b.expected()
	return q
}

// guardAs ties the plan to what that of a part of it is tied to; args are the statement's numbers of the part's arguments.
func (b *build) guardAs(n *build, args []int) bool {
	for _, g := range n.plan.Guards {
		if g.Arg < 0 {
			return false
		}
		b.guard(args[g.Arg], g.Text)
	}
	return true
}

// part is a range of the statement's text that stands at offset at in a text of our own.
type part struct {
	at   int
	span sqlparse.Span
}

// arguments are the statement's numbers of the arguments of st, which is made of parts of its text; ok is false if they are
// others when the parts are read alone.
func (b *build) arguments(st *sqlparse.Statement, parts []part) (args []int, ok bool) {
	for _, p := range parts {
		for i := range b.st.NumArgs() {
			x := b.st.Arg(i)
			if x.Start < p.span.Start || x.Start >= p.span.End {
				continue
			}
			if len(args) >= st.NumArgs() {
				return nil, false
			}
			y := st.Arg(len(args))
			if by := p.at - p.span.Start; x.Start+by != y.Start || x.End+by != y.End || x.Class != y.Class {
				return nil, false
			}
			args = append(args, i)
		}
	}
	return args, len(args) == st.NumArgs()
}

// storable reports whether the rows of a query are the same when they have been stored, and are stored by one server, too.
func (b *build) storable(q *query) bool {
	if !q.known || slices.ContainsFunc(b.a.written, func(u *query) bool { return slices.Contains(u.parts, q) }) {
		return false // a column of a UNION has a type that all of its parts have made
	}
	expression := b.expression(q)
	for _, c := range q.columns {
		if c.name == "" && !expression || c.ref.ok() && !shownWhole(c.ref.column()) {
			return false
		}
	}
	blk := q.block
	if blk == nil {
		return !expression && len(q.parts) > 0
	}
	if !blk.aggregated && blk.sel.GroupBy == nil && !blk.sel.Distinct && q.limit == nil && len(blk.windows) == 0 {
		return false
	}
	if slices.ContainsFunc(blk.sel.SelectExprs.Exprs, func(e sqlparser.SelectExpr) bool {
		item, is := e.(*sqlparser.AliasedExpr)
		if !is {
			return false
		}
		_, plain := item.Expr.(*sqlparser.ColName)
		return !plain && b.floatDigits(blk, item.Expr) != shown
	}) {
		return false
	}
	return !expression || exactItems(blk.sel)
}

// expression reports whether q is a subquery in an expression.
func (b *build) expression(q *query) bool {
	for _, x := range b.a.queries {
		if x == q {
			return true
		}
	}
	return false
}

// shownWhole reports whether the text of a column's values tells all of them, whatever the session's settings.
func shownWhole(c *catalog.Column) bool {
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "double", "year", "date", "time", "datetime",
		"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return true
	}
	return false
}

// exactItems reports that the values of a select list have no more digits than their types: servers keep those of a
// subquery as they were computed.
func exactItems(sel *sqlparser.Select) bool {
	exact := true
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Avg, *sqlparser.FuncExpr, *sqlparser.CaseExpr, *sqlparser.Subquery, *sqlparser.StarExpr:
			exact = false
		case *sqlparser.BinaryExpr:
			exact = exact && n.Operator != sqlparser.DivOp && arithmetic(n.Operator)
		}
		return exact, nil
	}, sel.SelectExprs)
	return exact
}

// closed reports whether every name in q means something inside of it, or in what is around it but not outside of the scope outer.
func (a *analysis) closed(q *query, outer *block) bool {
	for _, p := range q.parts {
		if !a.closed(p, outer) {
			return false
		}
	}
	blk := q.block
	if blk == nil {
		return len(q.parts) > 0
	}
	if !q.known || blk.sel == nil || blk.sel.With != nil {
		return false
	}
	for _, in := range blk.insts {
		if in.opaque || in.sub != nil && !a.closed(in.sub, outer) {
			return false
		}
	}
	ok := true
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.DerivedTable:
			return false, nil // is among insts
		case *sqlparser.Subquery:
			sub := a.queries[n]
			ok = ok && sub != nil && a.closed(sub, outer)
			return false, nil
		case *sqlparser.ColName:
			ok = ok && (blk.knows(n, outer, a.lower) || n.Qualifier.IsEmpty() && blk.alias(n.Name) != nil)
		}
		return ok, nil
	}, blk.sel)
	return ok
}

// knows reports whether a column's name means something in b or around it, but not in outer.
func (b *block) knows(name *sqlparser.ColName, outer *block, lower bool) bool {
	for s := b; s != nil && s != outer; s = s.parent {
		if _, found := s.resolveHere(name, lower); found {
			return true
		}
	}
	return false
}

// The part of a table's rows that a query over it makes of them, where it does more than to filter.
const (
	groupShare = 0.3
	limitShare = 0.01
)

// expected is a guess at the rows of a SELECT: the part of a table's rows.
func (b *build) expected() (of *catalog.Table, share float64) {
	root := b.locate().root
	if root == nil || b.query.block == nil {
		return b.a.tables()[0], 1
	}
	of, share = root.table, b.shareOf(root, nil)
	sel := b.query.block.sel
	switch {
	case b.query.limit != nil:
		share *= limitShare
	case sel.GroupBy == nil && b.query.block.aggregated:
		share = 0 // one row
	case sel.GroupBy != nil || sel.Distinct:
		share *= groupShare
	}
	return of, share
}

// madeUp is what the copy of a query is called: number n of the statement, in the default database if there is one.
func (b *build) madeUp(q *plan.Query, n int) *catalog.Table {
	db := b.db
	if db == "" || systemSchema(db) != userSchema {
		db = plan.Fragments(q.Root)[0].Tables[0].Database
	}
	name := "skarv_query_" + strconv.Itoa(n)
	for b.snap.Table(db, name) != nil {
		name += "_"
	}
	return &catalog.Table{Database: db, Name: name, Kind: catalog.Reference, AutoIncrement: -1}
}

// maxQueryKeys bounds the keys of a copy, and maxKeyChars the length of what they index.
const (
	maxQueryKeys = 3
	maxKeyChars  = 190
)

// joinedBy are the columns of p that equal something outside of it.
func (b *build) joinedBy(p *pushed) (names []string) {
	add := func(q *query, ref colRef) {
		i := q.output(ref)
		if i < 0 || q.columns[i].name == "" || len(names) == maxQueryKeys || slices.Contains(names, q.columns[i].name) {
			return
		}
		if !indexable(ref.column()) {
			return
		}
		names = append(names, q.columns[i].name)
	}
	for _, q := range p.of {
		for _, in := range b.a.insts {
			for _, f := range in.usable {
				if f.a.ok() && f.b.ok() && q.holds(f.a.inst) != q.holds(f.b.inst) {
					add(q, f.a)
					add(q, f.b)
				}
			}
		}
	}
	return names
}

// output is the position of a column in the result, or -1.
func (q *query) output(ref colRef) int {
	return slices.IndexFunc(q.columns, func(c outColumn) bool { return c.ref.ok() && c.ref == ref })
}

// holds reports whether an instance stands in q or in something inside of it.
func (q *query) holds(in *instance) bool {
	for blk := in.block; blk != nil; {
		if q.block == blk || slices.ContainsFunc(q.parts, func(p *query) bool { return p.block == blk }) {
			return true
		}
		switch {
		case blk.owner != nil:
			blk = blk.owner.block
		case blk.joins != nil:
			blk = blk.joins
		default:
			blk = blk.parent
		}
	}
	return false
}

// inPushed reports whether an instance stands in a query whose rows are copied.
func (b *build) inPushed(in *instance) bool {
	return slices.ContainsFunc(b.pushed, func(p *pushed) bool {
		return slices.ContainsFunc(p.of, func(q *query) bool { return q.holds(in) })
	})
}

// outsidePushed are those of the statement's table references that are still read. tables is not nil.
func (b *build) outsidePushed(refs []sqlparse.TableRef, names []*catalog.Table) (left []sqlparse.TableRef, tables []*catalog.Table) {
	if len(refs) != len(names) {
		return nil, nil
	}
	tables = []*catalog.Table{}
	for i, r := range refs {
		if !slices.ContainsFunc(b.pushed, func(p *pushed) bool { return p.span.Start <= r.Start && r.End <= p.span.End }) {
			left, tables = append(left, r), append(tables, names[i])
		}
	}
	return left, tables
}

// pushed adds the copies of queries to p and writes the statement anew that reads them. refs are the statement's table
// references, as p.Renames counts them. It returns false if that cannot be done.
func (w *worker) pushed(p *plan.Workspace, refs []sqlparse.TableRef) bool {
	b := w.b
	type edit struct {
		sqlparse.Span
		text plan.Text
	}
	var edits []edit
	for _, x := range b.pushed {
		if w.copies++; w.copies > maxCopies {
			return false
		}
		plan.Fragments(x.query.Root)[0].ID = w.copies
		p.Copies = append(p.Copies, plan.Copy{Table: x.table, Query: x.query})
		text := x.rest
		if text == nil {
			text = plan.Text{{SQL: "SELECT * FROM " + x.table.SQL(), Arg: plan.NoArg}}
		}
		edits = append(edits, edit{x.span, text})
	}
	write := func(renames []plan.Rename) (text plan.Text, ok bool) {
		edits := slices.Clone(edits)
		for _, r := range renames {
			edits = append(edits, edit{refs[r.Ref].Span, plan.Text{{SQL: r.Text, Arg: plan.NoArg}}})
		}
		slices.SortFunc(edits, func(x, y edit) int { return x.Start - y.Start })
		list, _ := b.st.SelectList()
		e := &editor{st: b.st}
		at := 0
		for _, x := range edits {
			if list.Start <= x.Start && x.End <= list.End {
				if !b.aliased(x.Span) {
					return nil, false // a reference of the select list, on MySQL
				}
				b.guard(plan.ArgSelectList, string(b.st.Text(list)))
			}
			e.asWritten(at, x.Start)
			e.add(x.text)
			at = x.End
		}
		e.asWritten(at, len(b.st.SQL()))
		return e.done(), true
	}
	var ok bool
	if p.Text, ok = write(p.Renames); ok && p.Own != nil {
		p.Own.Text, ok = write(p.Own.Renames)
		p.Own.Renames = nil
	}
	p.Renames = nil
	return ok
}
