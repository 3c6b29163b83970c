package planner

import (
	"slices"
	"strconv"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wordlist"
)

// grouping is a SELECT with aggregates taken apart: a query that finds the groups, one row each, or the values that there are, and
// the rest, which is computed from these rows.
type grouping struct {
	b     *build
	cut   sqlparse.Clauses
	names *catalog.Table // the copy of the groups
	found *plan.Query    // that finds the groups
	over  plan.Text      // the statement over the groups
	// columns of the query: their text, by what they are called in it.
	columns []groupColumn
	items   []sqlparse.SelectItem
	list    []*sqlparser.AliasedExpr
	// aggregates are those of the statement, by signature.
	aggregates map[string]int
	// averages are the columns with the sums of those that are an AVG in an expression, the counts behind.
	averages map[string]int
	// values: the columns are what is grouped by and what the aggregates look at, one row for each combination, and the rest
	// groups them.
	values bool
	// again: the rest groups the groups again, for WITH ROLLUP, or because some aggregates look at different values, which the groups are
	// then made by, too.
	again bool
	whole bool // what is written is a whole item of the select list
	// having: what is written is in HAVING. skipped are the texts of its subqueries, and inner the queries in them that are copied.
	having  bool
	skipped []sqlparse.Span
	inner   []*pushed
}

// groupColumn is a column of the groups: the text of an expression, and its tree unless it is an aggregate.
type groupColumn struct {
	span          sqlparse.Span
	before, after string // what stands around it
	expr          sqlparser.Expr
	values        bool // an aggregate's different values: grouped by
}

func columnName(i int) string { return "skarv_" + strconv.Itoa(i+1) }

// pushGroups: see its rule's Doc.
func pushGroups(b *build) (fired bool, err error) {
	g := b.groups(1)
	if g == nil {
		return false, nil
	}
	list, _ := b.st.SelectList()
	b.guard(plan.ArgSelectList, string(b.st.Text(list))) // the columns are named by it
	b.choice.Queries = &plan.Workspace{Copies: g.copies(), Text: g.over}
	return true, nil
}

// groups takes the statement apart: nil if it has no form that can be. What it finds is query number n of the statement.
func (b *build) groups(n int) *grouping {
	blk := b.query.block
	if !b.sess.UTF8Results || b.a.unseen || blk == nil || blk.sel == nil {
		return nil
	}
	sel := blk.sel
	if !blk.aggregated || blk.collects || blk.namedWin || sel.With != nil || sel.Into != nil || sel.GroupBy == nil && sel.Having != nil ||
		b.plan.Uses&^plan.ReadsClock != 0 || b.dividesGroups(blk) {
		return nil
	}
	cut, ok := b.clauses()
	if !ok || cut.Union || cut.List.Start < 0 || slices.ContainsFunc(sel.From, func(t sqlparser.TableExpr) bool { return b.selectsParameter(t) }) {
		return nil
	}
	rollup := sel.GroupBy != nil && sel.GroupBy.WithRollup
	distinct, only := blk.distinctAggregates()
	for _, way := range []struct{ fits, values, again bool }{{fits: only, values: true}, {fits: !only && !rollup}, {fits: !only && (rollup || distinct), again: true}} {
		g := &grouping{b: b, cut: cut, aggregates: map[string]int{}, averages: map[string]int{}, values: way.values, again: way.again}
		if way.fits && g.find() && g.typed() && g.wide() && !g.rounds() && g.apart(n) {
			return g
		}
	}
	return nil
}

// distinctAggregates tells whether aggregates of a block have DISTINCT, and whether all of them look at different values only: how
// often a value is there does not matter to them.
func (b *block) distinctAggregates() (some, only bool) {
	other := false
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Subquery, *sqlparser.DerivedTable:
			return false, nil
		case *sqlparser.Min, *sqlparser.Max:
		case sqlparser.AggrFunc:
			if overOf(n) != nil {
				other = true
				break
			}
			d := isDistinct(n)
			count, counts := n.(*sqlparser.Count)
			some, other = some || d, other || !d || counts && len(count.Args) != 1
		}
		return true, nil
	}, b.sel)
	return some, some && !other
}

// isDistinct reports whether a COUNT, SUM or AVG has DISTINCT.
func isDistinct(call sqlparser.SQLNode) bool {
	switch call := call.(type) {
	case *sqlparser.Count:
		return call.Distinct
	case *sqlparser.Sum:
		return call.Distinct
	case *sqlparser.Avg:
		return call.Distinct
	}
	return false
}

// apart plans the query that finds the columns, as query number n of the statement, and writes the rest.
func (g *grouping) apart(n int) (ok bool) {
	if g.found = g.query(); g.found == nil {
		return false
	}
	g.names = g.b.madeUp(g.found, n)
	g.over, ok = g.rest()
	return ok
}

// find finds the columns of the groups: whole items without aggregates, aggregates, expressions that are grouped by.
func (g *grouping) find() bool {
	b := g.b
	sel := b.query.block.sel
	var ok bool
	g.skipped = g.havingQueries()
	g.items = b.st.SelectItems(nil)
	if g.list, ok = b.plainItems(); !ok || len(g.list) != len(g.items) {
		return false
	}
	for i, item := range g.list {
		if _, row := item.Expr.(sqlparser.ValTuple); row || g.items[i].Star {
			return false
		}
		if !hasAggregate(item.Expr) && !hasWindow(item.Expr) && !constant(item.Expr) {
			g.columns = append(g.columns, groupColumn{span: g.items[i].Expr, expr: item.Expr})
		}
	}
	if sel.GroupBy != nil {
		if len(g.cut.GroupItems) != len(sel.GroupBy.Exprs) {
			return false
		}
		for i, e := range sel.GroupBy.Exprs {
			if !isOrdinal(b, e) && !b.usesAlias(e) && !constant(e) && g.column(e) < 0 {
				g.columns = append(g.columns, groupColumn{span: g.cut.GroupItems[i], expr: e})
			}
		}
	}
	for _, span := range g.calls() {
		key, call, ok := g.aggregate(span)
		if !ok {
			return false
		}
		whole := slices.ContainsFunc(g.items, func(it sqlparse.SelectItem) bool { return it.Expr == span })
		if (g.values || g.again || !whole) && !g.sameDigits(call) {
			return false
		}
		if g.values || g.again && isDistinct(call) {
			if count, counts := call.(*sqlparser.Count); counts && len(count.Args) != 1 || !counts && !plainArgument(call) {
				return false // several values; or the type of the result is made from that of the expression
			}
			if _, have := g.aggregates[key]; !have {
				arg, ok := g.argument(span)
				if !ok {
					return false
				}
				g.aggregates[key] = len(g.columns)
				g.columns = append(g.columns, groupColumn{span: arg, values: true})
			}
			continue
		}
		avg, averages := call.(*sqlparser.Avg)
		if averages && !whole && sel.GroupBy == nil && g.divisible(avg) && !g.exactly(span) {
			return false
		}
		if averages && g.again && !(g.divisible(avg) || whole && g.numbers(avg)) {
			return false
		}
		if !averages || !g.again && (whole || !g.divisible(avg)) {
			if _, have := g.aggregates[key]; !have {
				g.aggregates[key] = len(g.columns)
				g.columns = append(g.columns, groupColumn{span: span})
			}
			continue
		}
		if _, have := g.averages[key]; have {
			continue
		}
		arg, ok := g.argument(span)
		if !ok {
			return false
		}
		g.averages[key] = len(g.columns)
		g.columns = append(g.columns, groupColumn{span: arg, before: "SUM(", after: ")"}, groupColumn{span: arg, before: "COUNT(", after: ")"})
	}
	return true
}

func plainArgument(call sqlparser.AggrFunc) bool {
	_, plain := call.GetArg().(*sqlparser.ColName)
	return plain
}

// sameDigits reports whether what a call computes from the values of its argument is the same when only those digits are known that
// its type has.
func (g *grouping) sameDigits(call sqlparser.AggrFunc) bool {
	same := true
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if arg, is := n.(sqlparser.Expr); is && n != sqlparser.SQLNode(call) {
			same = same && g.b.digitsOf(g.b.query.block, arg) == shown
			return false, nil
		}
		return same, nil
	}, call)
	return same
}

// argument is the text of a call's argument, without DISTINCT.
func (g *grouping) argument(call sqlparse.Span) (arg sqlparse.Span, ok bool) {
	st := g.b.st
	arg.End = call.End - 1
	toks := st.TokensFrom(call.Start)
	toks.Next() // the name
	t := toks.Next()
	if !st.Is(t, "(") {
		return arg, false
	}
	if t = toks.Next(); isWord(st, t, "DISTINCT") {
		t = toks.Next()
	}
	arg.Start = t.Start
	return arg, arg.Start < arg.End && !isWord(st, t, "ALL") && !isWord(st, t, "DISTINCTROW")
}

// divisible reports whether AVG in an expression has as many digits as the sum divided by the count: on MariaDB it has, of
// numbers; MySQL goes on with fewer.
func (g *grouping) divisible(avg *sqlparser.Avg) bool {
	return g.b.snap.Flavor == catalog.MariaDB && g.numbers(avg)
}

// exactly reports whether the expression around the call at span is one of exact numbers. MariaDB divides DOUBLEs for an AVG that it needs
// as one, and has more digits then than the quotient of two DECIMALs; groups have the digits of those.
func (g *grouping) exactly(span sqlparse.Span) bool {
	sel := g.b.query.block.sel
	for i, item := range g.list {
		if g.items[i].Expr.Start <= span.Start && span.End <= g.items[i].Expr.End {
			return g.exact(item.Expr)
		}
	}
	return sel.Having != nil && g.exact(sel.Having.Expr) // the one row is not sorted
}

func (g *grouping) exact(e sqlparser.Expr) bool {
	exact := true
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Count, *sqlparser.CountStar:
			return false, nil
		case *sqlparser.ColName:
			ref := g.b.query.block.resolve(n, g.b.a.lower)
			exact = exact && ref.ok() && isNumeric(ref.column()) && ref.column().DataType != "double"
		case *sqlparser.Argument:
			i, ok := sqlparse.ArgNumber(n.Name)
			exact = exact && ok && i < g.b.st.NumArgs() && (g.b.st.Arg(i).Class == sqlparse.ClassInt || g.b.st.Arg(i).Class == sqlparse.ClassDecimal)
		case *sqlparser.FuncExpr:
			exact = exact && wordlist.Has(` abs ceil ceiling coalesce concat floor format if ifnull mod nullif round truncate `, n.Name.Lowered())
		case *sqlparser.Literal, *sqlparser.NullVal, *sqlparser.BinaryExpr, *sqlparser.UnaryExpr, *sqlparser.ComparisonExpr, *sqlparser.AndExpr,
			*sqlparser.OrExpr, *sqlparser.NotExpr, *sqlparser.BetweenExpr, *sqlparser.IsExpr, *sqlparser.CaseExpr, *sqlparser.Sum, *sqlparser.Avg,
			*sqlparser.Min, *sqlparser.Max:
		case sqlparser.Expr:
			exact = false
		}
		return exact, nil
	}, e)
	return exact
}

// numbers reports whether AVG is that of an expression of numbers.
func (g *grouping) numbers(avg *sqlparser.Avg) bool {
	numbers := !avg.Distinct && avg.OverClause == nil
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.ColName:
			ref := g.b.query.block.resolve(n, g.b.a.lower)
			numbers = numbers && ref.ok() && isNumeric(ref.column())
		case *sqlparser.FuncExpr, *sqlparser.Subquery:
			numbers = false
		}
		return numbers, nil
	}, avg.Arg)
	return numbers
}

func isNumeric(c *catalog.Column) bool {
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "double":
		return true
	}
	return false
}

// calls are the texts of aggregates outside of FROM and WHERE; of window functions those in their arguments.
func (g *grouping) calls() []sqlparse.Span {
	return g.callsIn(sqlparse.Span{Start: g.cut.List.Start, End: g.cut.End})
}

func (g *grouping) callsIn(part sqlparse.Span) (spans []sqlparse.Span) {
	st := g.b.st
	until := g.sourcesEnd()
	from, at, closed := -1, 0, false // the call at hand, and how deep it stands
	var prev sqlparse.Token
	for toks := st.TokensFrom(part.Start); ; {
		t := toks.Next()
		if last := len(spans) - 1; closed && isWord(st, t, "OVER") {
			window := spans[last]
			for toks := st.TokensFrom(window.Start); ; { // its arguments
				if t := toks.Next(); t.Kind == sqlparse.Op && st.Is(t, "(") {
					spans = append(spans[:last], g.callsIn(sqlparse.Span{Start: t.End, End: window.End - 1})...)
					break
				}
			}
		}
		closed = false
		if t.Kind == sqlparse.EOF || t.Start >= part.End {
			return spans
		}
		open := t.Kind == sqlparse.Op && st.Is(t, "(")
		switch {
		case t.Start >= g.cut.From && t.Start < until,
			slices.ContainsFunc(g.skipped, func(s sqlparse.Span) bool { return s.Start <= t.Start && t.Start < s.End }):
		case from < 0 && open && prev.Kind == sqlparse.Word && aggregateName(lowerText(st, prev)):
			from, at = prev.Start, t.Depth
		case from >= 0 && t.Depth == at && t.Kind == sqlparse.Op && st.Is(t, ")"):
			spans, from, closed = append(spans, sqlparse.Span{Start: from, End: t.End}), -1, true
		}
		prev = t
	}
}

func aggregateName(name string) bool {
	return wordlist.Has(` count sum min max avg `, name)
}

// sourcesEnd is where FROM and WHERE end.
func (g *grouping) sourcesEnd() int {
	c := &g.cut
	switch {
	case c.Group >= 0:
		return c.Group
	case c.Order >= 0:
		return c.Order
	case c.Limit.End > c.Limit.Start:
		return c.Limit.Start
	}
	return c.Tail
}

// aggregate is the aggregate that a part of the text is, with its signature in the statement.
func (g *grouping) aggregate(span sqlparse.Span) (key string, call sqlparser.AggrFunc, ok bool) {
	st := g.b.st.Dialect().NewStatement()
	const before = "SELECT "
	if st.Scan([]byte(before+string(g.b.st.Text(span))), g.b.st.Mode()) != nil {
		return "", nil, false
	}
	args, ok := g.b.arguments(st, []part{{at: len(before), span: span}})
	if !ok {
		return "", nil, false
	}
	tree, usedArgs, err := g.b.p.parser.Parse(st)
	sel, is := tree.(*sqlparser.Select)
	if err != nil || !is || !usedArgs && st.NumArgs() > st.NumParams() || len(sel.SelectExprs.Exprs) != 1 {
		return "", nil, false
	}
	item, is := sel.SelectExprs.Exprs[0].(*sqlparser.AliasedExpr)
	if !is {
		return "", nil, false
	}
	call, is = item.Expr.(sqlparser.AggrFunc)
	return signature(item.Expr, args), call, is
}

// query plans the query that finds the groups; nil if it cannot be done over the node groups.
func (g *grouping) query() *plan.Query {
	b := g.b
	var text []byte
	var parts []part
	add := func(span sqlparse.Span) {
		parts = append(parts, part{at: len(text), span: span})
		text = append(text, b.st.Text(span)...)
	}
	text = append(text, "SELECT "...)
	if g.values {
		text = append(text, "DISTINCT "...)
	}
	for i, c := range g.columns {
		if i > 0 {
			text = append(text, ", "...)
		}
		if b.parameterIn(c.span) {
			return nil
		}
		text = append(text, c.before...)
		add(c.span)
		text = append(text, c.after+" AS "+sqltypes.QuoteName(columnName(i))...)
	}
	text = append(text, ' ')
	add(sqlparse.Span{Start: g.cut.From, End: g.sourcesEnd()})
	by, ok := g.groupedBy()
	if !ok {
		return nil
	}
	for i, at := range by {
		sep := ", "
		if i == 0 {
			sep = " GROUP BY "
		}
		text = append(text, sep+sqltypes.QuoteName(columnName(at))...)
	}
	st := b.st.Dialect().NewStatement()
	if st.Scan(text, b.st.Mode()) != nil {
		return nil
	}
	args, ok := b.arguments(st, parts)
	if !ok {
		return nil
	}
	n, planned := b.inside(st)
	if !planned || !b.guardAs(n, args) {
		return nil
	}
	return n.found(mover{args: args, st: st})
}

// typed reports that the columns of the groups have the types that the expressions have which they stand for. Of an expression of
// integers MySQL says INT or BIGINT, and of a column with its values the other one.
func (g *grouping) typed() bool {
	if g.b.snap.Flavor != catalog.MySQL {
		return true
	}
	for _, c := range g.columns {
		if _, plain := c.expr.(*sqlparser.ColName); c.expr != nil && !plain {
			return false
		}
	}
	for _, span := range g.calls() {
		switch _, call, _ := g.aggregate(span); call.(type) {
		case *sqlparser.Min, *sqlparser.Max:
			if !plainArgument(call) {
				return false
			}
		}
	}
	return true
}

// rounds reports whether the copy of the groups may round what it is given: a FLOAT or DOUBLE with a number of decimals that is computed has
// more of them for whoever sorts or takes binary rows.
func (g *grouping) rounds() bool {
	fixed := func(e sqlparser.Expr) bool {
		_, plain := e.(*sqlparser.ColName)
		return !plain && g.b.floatDigits(g.b.query.block, e) != shown
	}
	for _, c := range g.columns {
		if c.expr != nil && fixed(c.expr) {
			return true
		}
	}
	for _, span := range g.calls() {
		switch _, call, _ := g.aggregate(span); call := call.(type) {
		case *sqlparser.Count, *sqlparser.CountStar:
		case *sqlparser.Min, *sqlparser.Max:
			if fixed(call.GetArg()) {
				return true
			}
		default:
			if arg := call.GetArg(); arg != nil && g.b.floatDigits(g.b.query.block, arg) != shown {
				return true
			}
		}
	}
	return false
}

// groupedBy are the columns that the query which finds the groups groups by.
func (g *grouping) groupedBy() (columns []int, ok bool) {
	if g.values {
		return nil, true
	}
	if by := g.b.query.block.sel.GroupBy; by != nil {
		for _, e := range by.Exprs {
			at := g.column(e)
			if at < 0 || g.columns[at].expr == nil {
				return nil, false
			}
			columns = append(columns, at)
		}
	}
	for i, c := range g.columns {
		if c.values {
			columns = append(columns, i)
		}
	}
	return columns, true
}

// column is the column of the groups that an expression outside of aggregates is, or -1.
func (g *grouping) column(e sqlparser.Expr) int {
	b, blk := g.b, g.b.query.block
	if n, ok := b.ordinal(e); ok {
		if n < 1 || n > len(g.list) {
			return -1
		}
		e = g.list[n-1].Expr
		return slices.IndexFunc(g.columns, func(c groupColumn) bool { return c.expr == e })
	}
	if col, is := e.(*sqlparser.ColName); is {
		ref := b.a.groupColumn(blk, col)
		return slices.IndexFunc(g.columns, func(c groupColumn) bool {
			own, is := c.expr.(*sqlparser.ColName)
			return is && ref.ok() && blk.resolve(own, b.a.lower) == ref
		})
	}
	if !sameArgs(e, e) || b.volatile(e) || b.usesAlias(e) {
		return -1
	}
	return slices.IndexFunc(g.columns, func(c groupColumn) bool { return c.expr != nil && sqlparser.Equals.Expr(c.expr, e) })
}

// rest is the statement over the groups.
func (g *grouping) rest() (plan.Text, bool) {
	b := g.b
	sel := b.query.block.sel
	p := b.phrase(map[*instance]string{})
	p.instead = g.instead
	p.raw("SELECT ")
	if sel.Distinct && !g.differ() { // MySQL refuses to sort different rows by what they do not show, but finds out first that all are
		p.raw("DISTINCT ")
	}
	var names []string
	for i, item := range g.list {
		if i > 0 {
			p.raw(", ")
		}
		g.whole = true
		p.expr(item.Expr, b.query.block)
		name := string(b.st.AppendColumnName(nil, g.items[i]))
		if name == "" || strings.HasSuffix(name, " ") || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			return nil, false // ORDER BY may not know which is meant
		}
		names = append(names, name)
		p.raw(" AS " + sqltypes.QuoteName(name))
	}
	p.raw(" FROM " + g.names.SQL())
	having := " WHERE "
	if (g.values || g.again) && sel.GroupBy != nil {
		having = " HAVING "
		if !g.groupBy(p) {
			return nil, false
		}
	}
	if sel.Having != nil {
		p.raw(having)
		g.having = true
		p.expr(sel.Having.Expr, b.query.block)
		g.having = false
	}
	for i, o := range sel.OrderBy {
		if p.raw(map[bool]string{true: " ORDER BY ", false: ", "}[i == 0]); b.parameter(o.Expr) {
			return nil, false
		}
		col, named := o.Expr.(*sqlparser.ColName)
		named = named && col.Qualifier.IsEmpty()
		if n, ok := b.ordinal(o.Expr); ok {
			p.raw(strconv.Itoa(n))
		} else if named && slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, col.Name.String()) }) {
			p.raw(sqltypes.QuoteName(col.Name.String()))
		} else {
			p.expr(o.Expr, b.query.block)
		}
		if o.Direction == sqlparser.DescOrder {
			p.raw(" DESC")
		}
	}
	if l := b.query.limit; l != nil {
		p.raw(" LIMIT ")
		if l.Offset != nil {
			p.limit(l.Offset)
			p.raw(", ")
		}
		p.limit(l.Rowcount)
	}
	return p.done()
}

// differ reports whether no two rows of the result are equal, for each shows what its group is made by.
func (g *grouping) differ() bool {
	by := g.b.query.block.sel.GroupBy
	return by != nil && !by.WithRollup && !slices.ContainsFunc(by.Exprs, func(e sqlparser.Expr) bool {
		return !slices.ContainsFunc(g.list, func(item *sqlparser.AliasedExpr) bool { return sqlparser.Equals.Expr(item.Expr, e) })
	})
}

// groupBy writes the rest's own GROUP BY. Every column of the list that is no aggregate is among its columns.
func (g *grouping) groupBy(p *phrase) bool {
	by := g.b.query.block.sel.GroupBy
	var grouped []int
	for i, e := range by.Exprs {
		p.raw(map[bool]string{true: " GROUP BY ", false: ", "}[i == 0])
		at := g.column(e)
		if at < 0 || g.columns[at].expr == nil {
			return false
		}
		grouped = append(grouped, at)
		p.raw(sqltypes.QuoteName(columnName(at)))
	}
	if by.WithRollup {
		p.raw(" WITH ROLLUP")
	}
	for i, c := range g.columns {
		if c.expr != nil && !slices.Contains(grouped, i) {
			return false
		}
	}
	return true
}

// limit writes a number of LIMIT.
func (p *phrase) limit(e sqlparser.Expr) {
	op, ok := operandOf(e)
	if !ok {
		p.fail()
		return
	}
	p.operand(op)
}

// instead writes what stands in the rest for an expression over the tables; it returns false for expressions of others, which
// are written piece by piece.
func (g *grouping) instead(p *phrase, e sqlparser.Expr) bool {
	whole := g.whole
	g.whole = false
	if over := overOf(e); over != nil {
		g.window(p, e, over)
		return true
	}
	at := -1
	switch e := e.(type) {
	case sqlparser.ValTuple:
		return false
	case *sqlparser.Subquery:
		g.subquery(p, e)
		return true
	case *sqlparser.ExistsExpr:
		p.fail()
		return true
	case *sqlparser.Avg:
		if sum, ok := g.averages[signature(e, nil)]; ok && g.again {
			p.raw("(SUM(" + sqltypes.QuoteName(columnName(sum)) + ") / SUM(" + sqltypes.QuoteName(columnName(sum+1)) + "))")
			return true
		} else if ok && !whole {
			p.raw("(" + sqltypes.QuoteName(columnName(sum)) + " / " + sqltypes.QuoteName(columnName(sum+1)) + ")")
			return true
		}
		if !whole && !g.values && !g.again { // servers go on with more digits than its type has
			p.fail()
			return true
		}
	case *sqlparser.ColName:
		if item := g.b.query.block.alias(e.Name); item != nil && e.Qualifier.IsEmpty() {
			if _, is := g.b.query.block.resolveHere(e, g.b.a.lower); is {
				p.fail() // a column has the same name
				return true
			}
			p.expr(item.Expr, g.b.query.block)
			return true
		}
	}
	if _, is := e.(sqlparser.AggrFunc); is {
		i, ok := g.aggregates[signature(e, nil)]
		if !ok {
			p.fail()
			return true
		}
		if at = i; g.values || g.again {
			return g.call(p, e, at)
		}
	} else if !constant(e) {
		at = slices.IndexFunc(g.columns, func(c groupColumn) bool { return c.expr == e })
		if at < 0 {
			at = g.column(e)
		}
	}
	if at < 0 {
		if _, is := e.(*sqlparser.ColName); is {
			p.fail()
			return true
		}
		return false
	}
	name := sqltypes.QuoteName(columnName(at))
	if len(g.b.query.block.windows) > 0 && isCount(e) { // a column that a window is computed over may be NULL, for MariaDB
		name = "COALESCE(" + name + ", 0)"
	}
	p.raw(name)
	return true
}

func isCount(e sqlparser.Expr) bool {
	switch e.(type) {
	case *sqlparser.CountStar, *sqlparser.Count:
		return true
	}
	return false
}

// call writes an aggregate over the values of a column, or over what it is for groups that are grouped again.
func (g *grouping) call(p *phrase, e sqlparser.Expr, column int) bool {
	before, after := "", ")"
	switch e := e.(type) {
	case *sqlparser.CountStar:
		before, after = againBefore, againAfter
	case *sqlparser.Count:
		if before = "COUNT(DISTINCT "; !e.Distinct {
			before, after = againBefore, againAfter
		}
	case *sqlparser.Sum:
		if before = "SUM(DISTINCT "; !e.Distinct {
			before = "SUM("
		}
	case *sqlparser.Avg:
		before = "AVG(DISTINCT "
	case *sqlparser.Min:
		before = "MIN("
		p.ok = p.ok && e.OverClause == nil
	case *sqlparser.Max:
		before = "MAX("
		p.ok = p.ok && e.OverClause == nil
	default:
		p.fail()
	}
	p.raw(before + sqltypes.QuoteName(columnName(column)) + after)
	return true
}

// What stands around a column of counts to count them all: of the type of a COUNT.
const (
	againBefore = "COALESCE(CAST(SUM("
	againAfter  = ") AS SIGNED), 0)"
)
