package planner

import (
	"slices"
	"strconv"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// scatter is the fragment of a SELECT to several groups and what is to be done above it.
type scatter struct {
	target  plan.Target
	visible int // columns the client sees, -1 if not known
	// hidden are columns added to the select list.
	hidden []hiddenColumn
	// order is the order streams arrive in; empty: none.
	order []plan.Order
	// reorder: the fragment's ORDER BY is to be written anew, from order.
	reorder   bool
	aggregate *plan.Aggregate
	// sort is the order of what aggregate makes of the rows, where that is not the order they come in.
	sort     []plan.Order
	distinct []plan.Order
	limit    *plan.Limit
	part     []int
}

// hiddenColumn is "before TEXT after", TEXT being a range of the statement.
type hiddenColumn struct {
	before, after string
	span          sqlparse.Span
}

func scatterAll(b *build) (bool, error) {
	if b.st.Uses()&sqlparse.CalcFoundRows != 0 && !b.counts() {
		return false, b.refuseScatter("SQL_CALC_FOUND_ROWS over several node groups", "use SELECT COUNT(*)")
	}
	if b.plan.Uses&plan.WritesUserVariable != 0 {
		return false, b.refuseScatter("assigning user variables over several node groups", "compute the value at the client")
	}
	if b.plan.Uses&plan.SetsLastInsertID != 0 {
		return false, b.refuseScatter("LAST_INSERT_ID(expression) over several node groups", "give the distribution key")
	}
	s := &scatter{target: plan.Target{Kind: plan.AllGroups}, visible: -1}
	if b.plan.Relay != nil {
		s.target = b.plan.Relay.Target
	}
	if b.query.known {
		s.visible = len(b.query.columns)
	}
	b.frag = s
	return true, nil
}

// counts reports whether a SELECT with SQL_CALC_FOUND_ROWS has a LIMIT of its own behind which the proxy can count the rows. MySQL warns of the word,
// once; node groups would each.
func (b *build) counts() bool {
	blk := b.query.block
	return b.snap.Flavor == catalog.MariaDB && blk != nil && blk.sel.SQLCalcFoundRows && b.query.limit != nil && !b.part &&
		b.plan.Uses&plan.LocksRows == 0
}

func pushGroup(b *build) (bool, error) {
	blk := b.query.block
	if !blk.aggregated && blk.sel.GroupBy == nil {
		return false, nil
	}
	return blk.grouped(b.a), nil
}

func pushDistinct(b *build) (bool, error) {
	blk := b.query.block
	return blk.sel.Distinct && blk.distinctLocal(b.a, b.query), nil
}

func pushWindow(b *build) (bool, error) {
	blk := b.query.block
	if len(blk.windows) == 0 && !blk.namedWin {
		return false, nil
	}
	if !blk.windowsLocal(b.a) {
		return false, b.refuseScatter("a window function over several node groups",
			"put the distribution key into PARTITION BY, written out in OVER (...)")
	}
	return true, nil
}

func mergeDistinct(b *build) (bool, error) {
	blk := b.query.block
	if !blk.sel.Distinct || blk.distinctLocal(b.a, b.query) || b.frag.aggregate != nil && blk.sel.GroupBy == nil {
		return false, nil
	}
	if b.frag.aggregate != nil || blk.aggregated || blk.sel.GroupBy != nil {
		return false, b.refuseScatter("DISTINCT together with GROUP BY over several node groups",
			"leave out DISTINCT, or put the distribution key into GROUP BY")
	}
	keys, ok, err := b.resultOrder(blk.sel.OrderBy, false)
	if !ok || err != nil {
		return false, err
	}
	for i := range b.frag.visible {
		k, ok := b.resultKey(i)
		if !ok {
			return false, b.refuseScatter("DISTINCT over several node groups of a column whose type or collation Skarv cannot compare",
				"use plain columns in the select list, or put the distribution key into it")
		}
		if !slices.ContainsFunc(keys, func(o plan.Order) bool { return o.Column == k.Column }) {
			keys = append(keys, k)
		}
	}
	b.frag.order, b.frag.distinct, b.frag.reorder = keys, slices.Clone(keys), true
	return true, nil
}

func mergeSorted(b *build) (bool, error) {
	blk := b.query.block
	if len(blk.sel.OrderBy) == 0 || b.frag.reorder {
		return false, nil
	}
	if b.frag.aggregate != nil {
		return false, nil // one row
	}
	keys, ok, err := b.resultOrder(blk.sel.OrderBy, !blk.sel.Distinct)
	if !ok || err != nil {
		return false, err
	}
	b.frag.order = keys
	return len(keys) > 0, nil
}

// resultOrder turns ORDER BY into keys over result columns, adding hidden ones where mayHide. ok is false after a
// refusal.
func (b *build) resultOrder(order sqlparser.OrderBy, mayHide bool) (keys []plan.Order, ok bool, err error) {
	for i, o := range order {
		if b.parameter(o.Expr) {
			return nil, false, b.refuseScatter("sorting rows of several node groups by a parameter", "write the expression into the statement")
		}
		if constant(o.Expr) && !isOrdinal(b, o.Expr) {
			continue
		}
		k, ok, err := b.orderKey(o.Expr, orderItem, i, mayHide)
		if !ok || err != nil {
			return nil, false, err
		}
		k.Desc = o.Direction == sqlparser.DescOrder
		keys = append(keys, k)
	}
	return keys, true, nil
}

// parameter reports whether e is a parameter. MariaDB takes the number that it gets for a position, MySQL for a constant.
func (b *build) parameter(e sqlparser.Expr) bool {
	if signed, is := e.(*sqlparser.UnaryExpr); is {
		return b.parameter(signed.Expr)
	}
	arg, ok := e.(*sqlparser.Argument)
	if !ok {
		return false
	}
	i, ok := sqlparse.ArgNumber(arg.Name)
	return ok && i < b.st.NumArgs() && b.st.Arg(i).Class == sqlparse.ClassParam
}

func isOrdinal(b *build, e sqlparser.Expr) bool {
	_, ok := b.ordinal(e)
	return ok
}

// itemOf says in which clause an expression stands, to find its text.
type itemOf uint8

const (
	orderItem itemOf = iota
	groupItem
)

// orderKey finds the result column that holds e, expression i of a clause, or adds a hidden one.
func (b *build) orderKey(e sqlparser.Expr, of itemOf, i int, mayHide bool) (k plan.Order, ok bool, err error) {
	if b.frag.visible < 0 {
		return k, false, b.refuseScatter("ORDER BY, GROUP BY or DISTINCT over several node groups with a * that Skarv cannot expand",
			"list the columns")
	}
	if col, ok := b.resultColumn(e, of); ok {
		if k, ok = b.resultKey(col); ok {
			return k, true, nil
		}
		return k, false, b.refuseOrder()
	}
	cut, cutOK := b.clauses()
	items := cut.OrderItems
	if of == groupItem {
		items = cut.GroupItems
	}
	if !mayHide || !cutOK || i >= len(items) || b.usesAlias(e) || b.volatile(e) {
		return k, false, b.refuseScatter("sorting or grouping rows of several node groups by an expression that is not in the select list",
			"put the expression into the select list and name it by its alias")
	}
	cls := b.class(b.query.block, e)
	h := hiddenColumn{span: items[i]}
	if b.snap.Flavor == catalog.MariaDB {
		h.before, h.after = b.ofGroup(e)
	}
	k, ok = b.keyFor(b.hide(h), cls, items[i], e)
	if !ok {
		return k, false, b.refuseOrder()
	}
	return k, true, nil
}

func (b *build) refuseOrder() error {
	return b.refuseScatter("comparing rows of several node groups by a column or expression whose type or collation Skarv cannot compare",
		"sort or group by a plain column of number, time or string type, or give the distribution key")
}

// hide adds a hidden column and returns its position.
func (b *build) hide(h hiddenColumn) int {
	for i, have := range b.frag.hidden {
		if have == h {
			return b.frag.visible + i
		}
	}
	b.frag.hidden = append(b.frag.hidden, h)
	return b.frag.visible + len(b.frag.hidden) - 1
}

// resultColumn finds the visible column that an expression of ORDER BY or GROUP BY is: by position, by alias, or
// because the list has the same column.
func (b *build) resultColumn(e sqlparser.Expr, of itemOf) (int, bool) {
	blk, q := b.query.block, b.query
	if n, ok := b.ordinal(e); ok {
		return n - 1, n >= 1 && n <= len(q.columns)
	}
	if col, ok := e.(*sqlparser.ColName); ok {
		if col.Qualifier.IsEmpty() && of == orderItem {
			found := -1
			for i, c := range q.columns {
				if col.Name.EqualString(c.name) {
					if found >= 0 && (!c.ref.ok() || c.ref != q.columns[found].ref) {
						found = -2
						break
					}
					if found < 0 {
						found = i
					}
				}
			}
			if found >= 0 {
				return found, true
			}
		}
		ref := blk.resolve(col, b.a.lower)
		if !ref.ok() && of == groupItem {
			ref = b.a.groupColumn(blk, col)
		}
		if ref.ok() {
			for i, c := range q.columns {
				if c.ref == ref {
					return i, true
				}
			}
		}
		if !ref.ok() && of == groupItem && col.Qualifier.IsEmpty() {
			if _, found := blk.resolveHere(col, b.a.lower); !found {
				for i, c := range q.columns {
					if col.Name.EqualString(c.name) {
						return i, true
					}
				}
			}
		}
		return 0, false
	}
	items, ok := b.plainItems()
	if !ok || b.usesAlias(e) {
		return 0, false
	}
	for i, item := range items {
		if sqlparser.Equals.Expr(item.Expr, e) && !b.volatile(e) && sameArgs(item.Expr, e) {
			return i, true
		}
	}
	return 0, false
}

// sameArgs is true for expressions without arguments: equal trees with arguments need not be equal expressions, and
// arguments have different numbers anyway.
func sameArgs(a, _ sqlparser.Expr) bool {
	has := false
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n.(type) {
		case *sqlparser.Argument, sqlparser.ListArg:
			has = true
		}
		return !has, nil
	}, a)
	return !has
}

// plainItems are the select list's expressions when it has no star.
func (b *build) plainItems() (items []*sqlparser.AliasedExpr, ok bool) {
	for _, e := range b.query.block.sel.SelectExprs.Exprs {
		item, ok := e.(*sqlparser.AliasedExpr)
		if !ok {
			return nil, false
		}
		items = append(items, item)
	}
	return items, true
}

// usesAlias reports whether an unqualified name in e may mean an alias of the select list: in the list itself, where
// a hidden column stands, it would mean something else.
func (b *build) usesAlias(e sqlparser.Expr) bool {
	found := false
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Subquery:
			found = true
			return false, nil
		case *sqlparser.ColName:
			if n.Qualifier.IsEmpty() {
				for _, x := range b.query.block.sel.SelectExprs.Exprs {
					if item, ok := x.(*sqlparser.AliasedExpr); ok && item.As.Equal(n.Name) {
						if c, ok := item.Expr.(*sqlparser.ColName); !ok || !c.Name.Equal(n.Name) {
							found = true
						}
					}
				}
			}
		}
		return true, nil
	}, e)
	return found
}

// resultKey is how to sort by visible column i.
func (b *build) resultKey(i int) (plan.Order, bool) {
	c := b.query.columns[i]
	if c.ref.ok() {
		span, ok := b.itemSpan(i)
		if !ok {
			span = sqlparse.Span{}
		}
		return b.keyFor(i, columnClass(c.ref.column()), span, nil, c.ref)
	}
	items, ok := b.plainItems()
	if !ok {
		return plan.Order{}, false
	}
	span, ok := b.itemSpan(i)
	if !ok {
		return plan.Order{}, false
	}
	return b.keyFor(i, b.class(b.query.block, items[i].Expr), span, items[i].Expr)
}

// sortsUnshown reports whether a server may sort by another value of e than it shows: where sql_mode does not have zeros in dates, MariaDB shows the next
// value of COALESCE in place of such a date, and sorts by the date.
func (b *build) sortsUnshown(e sqlparser.Expr) (found bool) {
	if e == nil || b.snap.Flavor != catalog.MariaDB || !b.sess.NoZeroDates || b.query.block == nil {
		return false
	}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		f, is := n.(*sqlparser.FuncExpr)
		if !is || !f.Name.EqualString("coalesce") && !f.Name.EqualString("ifnull") {
			return !found, nil
		}
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			if col, is := n.(*sqlparser.ColName); is {
				ref := b.query.block.resolve(col, b.a.lower)
				found = found || !ref.ok() || slices.Contains([]string{"date", "datetime", "timestamp"}, ref.column().DataType)
			}
			return !found, nil
		}, f)
		return !found, nil
	}, e)
	return found
}

// itemSpan is the text of visible column i's expression.
func (b *build) itemSpan(i int) (sqlparse.Span, bool) {
	items := b.st.SelectItems(nil)
	if i >= len(items) {
		return sqlparse.Span{}, false
	}
	for _, it := range items[:i+1] {
		if it.Star {
			return sqlparse.Span{}, false
		}
	}
	return items[i].Expr, true
}

// ofGroup is what must stand around what is computed of e, nil for a plain column, in the list of a SELECT with GROUP BY: all rows of a group
// have one value of it, but ONLY_FULL_GROUP_BY knows an expression of GROUP BY where it stands alone and, on MariaDB, where it stands first.
func (b *build) ofGroup(e sqlparser.Expr) (before, after string) {
	if blk := b.query.block; blk == nil || blk.sel.GroupBy == nil {
		return "", ""
	}
	if b.snap.Flavor == catalog.MySQL {
		return "ANY_VALUE(", ")"
	}
	if _, column := e.(*sqlparser.ColName); e == nil || column || !b.sess.FullGroups || hasAggregate(e) {
		return "", ""
	}
	return "MIN(", ")"
}

// keyFor is how to sort by a column of class cls; span is the text of its expression e (both empty: it is the plain column
// ref), for weights.
func (b *build) keyFor(column int, cls class, span sqlparse.Span, e sqlparser.Expr, ref ...colRef) (plan.Order, bool) {
	k := plan.Order{Column: column, Weight: -1}
	if b.sortsUnshown(e) {
		return k, false
	}
	around, behind := b.ofGroup(e)
	expr := func(before, after string) (int, bool) {
		h := hiddenColumn{before: around + before, after: after + behind, span: span}
		if span.End == 0 {
			if len(ref) == 0 || ref[0].inst.table == nil || ref[0].inst.name == "" {
				return 0, false
			}
			if !slices.Contains(b.query.block.insts, ref[0].inst) {
				return 0, false // column of a derived table: its name here is another
			}
			h.before += sqltypes.QuoteIn(ref[0].inst.name, ref[0].column().Name)
		}
		return b.hide(h), true
	}
	switch cls.kind {
	case numberClass:
		if !b.byMoment(cls) {
			return k, true
		}
		w, ok := expr("LPAD(UNIX_TIMESTAMP(", "), 20, '0')")
		k.Weight = w
		return k, ok
	case bytesClass:
		k.Collation = "binary"
		return k, true
	case memberClass: // ENUM and SET sort by number
		if span.End > 0 && b.isExtreme(span) {
			return k, false // whose number is 0 if the only row is found before the statement runs
		}
		col, ok := expr("", "+0")
		k.Column = col
		return k, ok
	case floatClass: // a DOUBLE is sent with all digits
		col, ok := expr("", "+0e0")
		k.Column = col
		return k, ok
	case stringClass:
		if _, column := e.(*sqlparser.ColName); e != nil && !column && b.sortsExpressionsOtherwise(cls.collation) || weighsMore(cls.collation) {
			return k, false
		}
		if b.sess.UTF8Results && b.knownCollation(cls.collation) {
			k.Collation = cls.collation
			return k, true
		}
		after := ")"
		if !noPad(cls.collation) {
			// Weights of PAD SPACE collations are only comparable when all are padded to one length.
			if cls.length <= 0 || cls.length > maxWeightChars || expands(cls.collation) {
				return k, false
			}
			after = " AS CHAR(" + strconv.FormatInt(cls.length, 10) + "))"
		}
		w, ok := expr("WEIGHT_STRING(", after)
		k.Weight = w
		return k, ok
	}
	return k, false
}

// byMoment reports whether servers sort or group values of a class by their moments, which their text may not tell. MySQL groups by the text,
// as it does where it compares for MIN and MAX.
func (b *build) byMoment(cls class) bool {
	if !cls.moment || !b.sess.HoursTwice {
		return false
	}
	blk := b.query.block
	return b.snap.Flavor == catalog.MariaDB || blk != nil && !blk.aggregated && blk.sel.GroupBy == nil && !blk.sel.Distinct
}

// isExtreme reports whether the expression at span is MIN or MAX.
func (b *build) isExtreme(span sqlparse.Span) bool {
	tokens := b.st.TokensFrom(span.Start)
	first := tokens.Next()
	return isWord(b.st, first, "MIN") || isWord(b.st, first, "MAX")
}

// maxWeightChars bounds the hidden weight columns of PAD SPACE strings.
const maxWeightChars = 512

func pushLimit(b *build) (bool, error) {
	l := b.query.limit
	if l == nil {
		return false, nil
	}
	n := &plan.Limit{Skips: b.snap.Flavor == catalog.MySQL}
	ok := false
	if n.Count, n.Offset, ok = limitOf(l); !ok {
		return false, b.refuseScatter("LIMIT with an expression", "write numbers")
	}
	n.All = b.st.Uses()&sqlparse.CalcFoundRows != 0
	b.frag.limit = n
	return true, nil
}

func cutKeyList(b *build) (bool, error) {
	if part := b.partOf(b.frag.target); part >= 0 {
		b.frag.part = []int{part}
	}
	return b.frag.part != nil, nil
}

func assemble(b *build) (bool, error) {
	s := b.frag
	f := b.fragment(s.target)
	limitInside := s.limit != nil && !s.limit.All && s.sort == nil && (s.aggregate == nil || len(s.aggregate.GroupBy) > 0)
	changed := len(s.hidden) > 0 || s.reorder || len(s.part) > 0 || limitInside && s.limit.Offset != nil ||
		s.limit != nil && !limitInside
	if changed {
		c, ok := b.clauses()
		if !ok || c.Union != (b.query.block == nil) || c.List.Start < 0 { // TABLE t has no list
			return false, b.refuseScatter("rewriting a statement of this form for several node groups",
				"write the SELECT without parentheses around it")
		}
		f.Text = b.scatterText(c, limitInside)
	}
	var root plan.Node = &plan.Merge{Input: f, Order: s.order}
	if s.aggregate != nil {
		s.aggregate.Input = root
		root = s.aggregate
	}
	if s.sort != nil {
		root = &plan.Sort{Input: root, Order: s.sort}
	}
	if s.distinct != nil {
		root = &plan.Distinct{Input: root, Columns: s.distinct}
	}
	if s.limit != nil {
		s.limit.Input = root
		root = s.limit
	}
	if len(s.hidden) > 0 && s.aggregate == nil {
		root = &plan.Project{Input: root, Keep: s.visible}
	}
	b.plan.Root = root
	b.done = true
	return false, nil
}

// scatterText writes the fragment: the client's text with hidden columns after the list, and ORDER BY and LIMIT anew
// where they have to be.
func (b *build) scatterText(c sqlparse.Clauses, limitInside bool) plan.Text {
	s := b.frag
	e := &editor{st: b.st, part: s.part}
	b.editList(e)
	for _, h := range s.hidden {
		e.raw(", " + h.before)
		e.span(h.span.Start, h.span.End)
		e.raw(h.after)
	}
	at := c.List.End
	stop := c.Tail
	if c.Limit.End > c.Limit.Start {
		stop = c.Limit.Start
	}
	if s.reorder {
		end := stop
		if c.Order >= 0 {
			end = c.Order
		}
		e.span(at, end)
		for i, o := range s.order {
			sep := ", "
			if i == 0 {
				sep = "ORDER BY "
				if !spaceBefore(b.st.SQL(), end) {
					sep = " ORDER BY "
				}
			}
			e.raw(sep + strconv.Itoa(o.Column+1))
			if o.Desc {
				e.raw(" DESC")
			}
		}
		at = stop
		if s.limit != nil || stop < c.End {
			e.raw(" ")
		}
	}
	if s.limit != nil && (!limitInside || s.limit.Offset != nil) {
		e.span(at, c.Limit.Start)
		at = c.Limit.End
		if limitInside {
			e.raw("LIMIT ")
			e.total(*s.limit.Offset, s.limit.Count)
		}
	}
	e.span(at, c.End)
	return e.done()
}

func spaceBefore(sql []byte, at int) bool {
	return at > 0 && (sql[at-1] == ' ' || sql[at-1] == '\n' || sql[at-1] == '\t' || sql[at-1] == '\r')
}
