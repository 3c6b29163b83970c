package planner

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// expressions looks at every expression of a SELECT: subqueries become scopes of their own, aggregates and windows
// are noted, functions are judged.
func (a *analysis) expressions(b *block, s *sqlparser.Select, db string) error {
	semi := map[*sqlparser.Subquery]colRef{}
	if s.Where != nil {
		a.semiJoins(s.Where.Expr, b, semi)
	}
	w := walker{a: a, b: b, db: db, semi: semi}
	for _, from := range s.From {
		if err := w.walk(from, true); err != nil {
			return err
		}
	}
	nodes := []sqlparser.SQLNode{}
	if s.SelectExprs != nil {
		nodes = append(nodes, s.SelectExprs)
	}
	if s.Where != nil {
		nodes = append(nodes, s.Where)
	}
	if s.GroupBy != nil {
		nodes = append(nodes, s.GroupBy)
	}
	if s.Having != nil {
		nodes = append(nodes, s.Having)
	}
	for _, o := range s.OrderBy {
		nodes = append(nodes, o)
	}
	if s.Limit != nil {
		nodes = append(nodes, s.Limit)
	}
	for _, n := range nodes {
		if err := w.walk(n, false); err != nil {
			return err
		}
	}
	if len(s.Windows) > 0 {
		b.namedWin = true
	}
	if s.GroupBy != nil {
		for _, e := range s.GroupBy.Exprs {
			if ref := a.groupColumn(b, e); ref.ok() {
				b.groupBy = append(b.groupBy, ref)
			}
		}
	}
	if s.Into != nil {
		switch s.Into.Type {
		case sqlparser.IntoVariables:
			a.b.plan.Uses |= plan.WritesUserVariable
			a.refuseMany("SELECT ... INTO @variable over several node groups", "select the value and SET the variable")
		default:
			return sqlerr.Unsupported("SELECT ... INTO OUTFILE or DUMPFILE", "select the rows and write the file at the client")
		}
	}
	return nil
}

// semiJoins finds the conjuncts "column IN (SELECT ...)".
func (a *analysis) semiJoins(e sqlparser.Expr, b *block, out map[*sqlparser.Subquery]colRef) {
	conjuncts(e, func(c sqlparser.Expr) {
		cmp, ok := c.(*sqlparser.ComparisonExpr)
		if !ok || cmp.Operator != sqlparser.InOp && (cmp.Operator != sqlparser.EqualOp || cmp.Modifier != sqlparser.Any) {
			return
		}
		col, ok := cmp.Left.(*sqlparser.ColName)
		if !ok {
			return
		}
		if sub, ok := cmp.Right.(*sqlparser.Subquery); ok {
			if ref := b.resolve(col, a.lower); ref.ok() {
				out[sub] = ref
			}
		}
	})
}

// groupColumn is the plain column a GROUP BY expression stands for: by name, alias or position.
func (a *analysis) groupColumn(b *block, e sqlparser.Expr) colRef {
	if n, ok := a.b.ordinal(e); ok {
		if item := b.item(n); item != nil {
			if col, ok := item.Expr.(*sqlparser.ColName); ok {
				return b.resolve(col, a.lower)
			}
		}
		return colRef{}
	}
	col, ok := e.(*sqlparser.ColName)
	if !ok {
		return colRef{}
	}
	if ref, found := b.resolveHere(col, a.lower); found {
		return ref
	}
	if col.Qualifier.IsEmpty() {
		if item := b.alias(col.Name); item != nil {
			if c, ok := item.Expr.(*sqlparser.ColName); ok {
				return b.resolve(c, a.lower)
			}
		}
	}
	return b.resolve(col, a.lower)
}

// columnsOf are the plain columns among expressions.
func (b *block) columnsOf(a *analysis, exprs []sqlparser.Expr) (refs []colRef) {
	for _, e := range exprs {
		if col, ok := e.(*sqlparser.ColName); ok {
			if ref := b.resolve(col, a.lower); ref.ok() {
				refs = append(refs, ref)
			}
		}
	}
	return refs
}

// item is select list item n, from 1, if the list has no stars before it.
func (b *block) item(n int) *sqlparser.AliasedExpr {
	if b.sel == nil || b.sel.SelectExprs == nil || n < 1 || n > len(b.sel.SelectExprs.Exprs) {
		return nil
	}
	for _, e := range b.sel.SelectExprs.Exprs[:n-1] {
		if _, ok := e.(*sqlparser.AliasedExpr); !ok {
			return nil
		}
	}
	item, _ := b.sel.SelectExprs.Exprs[n-1].(*sqlparser.AliasedExpr)
	return item
}

// alias is the select list item with this alias; nil if there is none or more than one.
func (b *block) alias(name sqlparser.IdentifierCI) (item *sqlparser.AliasedExpr) {
	if b.sel == nil || b.sel.SelectExprs == nil {
		return nil
	}
	for _, e := range b.sel.SelectExprs.Exprs {
		if ae, ok := e.(*sqlparser.AliasedExpr); ok && ae.As.Equal(name) {
			if item != nil {
				return nil
			}
			item = ae
		}
	}
	return item
}

// ordinal reads e as a position in the select list: an integer literal, with whatever signs servers take for a part of it. Its text is
// guarded, for another number means another column. A parameter is none; see parameter.
func (b *build) ordinal(e sqlparser.Expr) (n int, ok bool) {
	maria := b.snap.Flavor == catalog.MariaDB
	switch e := e.(type) {
	case *sqlparser.Argument:
		i, ok := sqlparse.ArgNumber(e.Name)
		if !ok || i >= b.st.NumArgs() || b.st.Arg(i).Class != sqlparse.ClassInt {
			return 0, false
		}
		b.guard(i, string(b.st.ArgText(i)))
		v, _ := b.st.Value(i, nil)
		n, err := strconv.Atoi(string(v.Raw))
		return n, err == nil && (n >= 0 || maria)
	case *sqlparser.Literal:
		if e.Type == sqlparser.IntVal {
			n, err := strconv.Atoi(e.Val)
			return n, err == nil && (n >= 0 || maria)
		}
	case sqlparser.BoolVal:
		return map[bool]int{true: 1}[bool(e)], maria
	case *sqlparser.UnaryExpr:
		switch {
		case e.Operator == sqlparser.UPlusOp:
			return b.ordinal(e.Expr)
		case e.Operator == sqlparser.UMinusOp && maria:
			n, ok = b.ordinal(e.Expr)
			return -n, ok
		}
	}
	return 0, false
}

// guard ties the plan to the text of argument arg.
func (b *build) guard(arg int, text string) {
	g := plan.Guard{Arg: arg, Text: text}
	if !slices.Contains(b.plan.Guards, g) {
		b.plan.Guards = append(b.plan.Guards, g)
	}
}

// walker looks at the expressions of one block.
type walker struct {
	a    *analysis
	b    *block
	on   *block // of the ON that is looked at, what its join sees of b
	db   string
	semi map[*sqlparser.Subquery]colRef
}

// walk visits n without entering other scopes; from tells that n is a table expression.
func (w *walker) walk(n sqlparser.SQLNode, from bool) error {
	return sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.DerivedTable:
			return false, nil // is a scope of its own already
		case *sqlparser.JoinTableExpr:
			on := *w
			on.on = w.b.tree.scopeOf(n)
			return false, cmp.Or(w.walk(n.LeftExpr, true), w.walk(n.RightExpr, true), on.walk(n.Condition, true))
		case *sqlparser.ExistsExpr:
			w.a.tested[n.Subquery] = true
		case *sqlparser.Subquery:
			q, err := w.a.query(n.Select, cmp.Or(w.on, w.b), w.db)
			if err != nil {
				return false, err
			}
			w.a.queries[n] = q
			left, semi := w.semi[n]
			w.b.subs = append(w.b.subs, &subquery{q: q, left: left, semi: semi, on: from})
			return false, nil
		case sqlparser.SQLNode:
			return true, w.visit(n)
		}
		return true, nil
	}, n)
}

func (w *walker) visit(n sqlparser.SQLNode) error {
	if win, ok := n.(sqlparser.WindowFunc); ok && win.GetOverClause() != nil {
		over := win.GetOverClause()
		if over.WindowSpec == nil || !over.WindowSpec.Name.IsEmpty() || !over.WindowName.IsEmpty() {
			w.b.namedWin = true
		} else {
			w.b.windows = append(w.b.windows, over.WindowSpec)
		}
		return nil
	}
	if agg, ok := n.(sqlparser.AggrFunc); ok {
		w.b.aggregated = true
		if w.b.parent != nil && w.outerAggregate(agg) {
			w.a.refuseOuterAggregate()
		}
		if col := w.indexedMember(agg); col != nil {
			w.a.refuseMany("MIN and MAX of the "+strings.ToUpper(col.DataType)+" column '"+col.Name+"', which has a key, over several node groups (one server compares numbers or strings, as it reads the rows)",
				"say MIN("+col.Name+" + 0), or MIN(CONCAT("+col.Name+", ''))")
			w.a.inPlace = true // copies have other keys
		}
		return nil
	}
	switch n := n.(type) {
	case *sqlparser.ComparisonExpr:
		if sub, is := n.Right.(*sqlparser.Subquery); is {
			w.a.compared[sub] = n
			w.a.sets[sub] = n.Operator == sqlparser.InOp || n.Operator == sqlparser.NotInOp || n.Modifier != sqlparser.Missing
		}
	case *sqlparser.FuncExpr:
		if n.Name.EqualString("st_collect") {
			w.b.aggregated, w.b.collects = true, true
			w.a.refuseMany("ST_COLLECT over several node groups", "select the geometries, and collect them at the client")
		}
		w.b.chance = w.b.chance || w.a.b.byChance(n)
		return w.a.call(n)
	case *sqlparser.CurTimeFuncExpr:
		if n.Name.EqualString("sysdate") {
			w.b.chance = true
			w.a.b.plan.Uses |= plan.Nondeterministic
		} else {
			w.a.b.plan.Uses |= plan.ReadsClock
		}
	case *sqlparser.LockingFunc:
		return sqlerr.Unsupported(strings.ToUpper(n.Type.ToString())+"() in a statement with tables",
			"call it in a SELECT without tables, or lock a row with SELECT ... FOR UPDATE")
	case *sqlparser.Variable:
		w.a.variable(n)
	case *sqlparser.AssignmentExpr:
		w.a.assigns = true
		w.a.b.plan.Uses |= plan.WritesUserVariable
	case *sqlparser.GTIDFuncExpr, *sqlparser.PerformanceSchemaFuncExpr:
		if f, is := n.(*sqlparser.PerformanceSchemaFuncExpr); is && (f.Type == sqlparser.FormatBytesType || f.Type == sqlparser.FormatPicoTimeType) {
			break
		}
		w.a.refuseMany("functions about the state of one server", "ask the server itself")
		w.a.inPlace = true
	case *sqlparser.Nextval:
		return sqlerr.Unsupported("NEXT VALUE in a statement of this form", "ask for it in a SELECT without tables, or use an AUTO_INCREMENT column")
	case *sqlparser.MatchExpr:
		w.a.inPlace = true // temporary tables have no FULLTEXT keys
		w.a.b.plan.Uses |= plan.Matches
		switch selects := w.b.selectsBy(n); {
		case selects && n.Option == sqlparser.BooleanModeOpt:
		case selects && n.Option != sqlparser.QueryExpansionOpt && n.Option != sqlparser.NaturalLanguageModeWithQueryExpansionOpt:
			w.a.refuseMany("MATCH ... AGAINST in natural language over several node groups", "use it IN BOOLEAN MODE, or give the distribution key")
		case len(w.a.b.snap.Groups) != 1 && w.b.spreadRows(n.Columns, w.a.lower):
			// Relevance depends on how many rows of the table hold a word, and each group knows its own rows.
			return sqlerr.Unsupported("the relevance of MATCH ... AGAINST in a table that is spread over node groups",
				"use it as a condition of WHERE only")
		}
	}
	return nil
}

// indexedMember is the column of ENUM or SET whose least or greatest value an aggregate is, where servers may find that by a key; or nil.
// By the key they compare the members' numbers, else the members.
func (w *walker) indexedMember(agg sqlparser.AggrFunc) *catalog.Column {
	switch agg.(type) {
	case *sqlparser.Min, *sqlparser.Max:
	default:
		return nil
	}
	name, is := agg.GetArg().(*sqlparser.ColName)
	if !is {
		return nil
	}
	ref := w.b.resolve(name, w.a.lower)
	if !ref.ok() || columnClass(ref.column()).kind != memberClass {
		return nil
	}
	t := ref.inst.table
	for _, key := range slices.Concat([]catalog.Index{{Columns: t.Primary}}, t.Unique, t.Indexes) {
		if at := slices.Index(key.Columns, ref.col); at >= 0 && !w.b.behindFree(ref.inst, key.Columns[:at], w.a.lower) {
			return ref.column()
		}
	}
	return nil
}

// behindFree reports whether one of columns of a key, which are those before another one, is not named by the WHERE, so that the extreme of
// that other one over all rows is not found by the key. Of groups, of different values and of joins it may be.
func (b *block) behindFree(in *instance, columns []int, lower bool) bool {
	if b.sel == nil || b.sel.GroupBy != nil || b.sel.Distinct || len(b.sel.From) != 1 {
		return false
	}
	from, is := b.sel.From[0].(*sqlparser.AliasedTableExpr)
	if !is {
		return false
	}
	if _, is = from.Expr.(sqlparser.TableName); !is {
		return false
	}
	if distinct, _ := b.distinctAggregates(); distinct {
		return false
	}
	free := slices.Clone(columns)
	if b.sel.Where != nil {
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			if name, is := n.(*sqlparser.ColName); is {
				ref := b.resolve(name, lower)
				free = slices.DeleteFunc(free, func(col int) bool { return ref.inst == in && ref.col == col })
			}
			return true, nil
		}, b.sel.Where)
	}
	return len(free) > 0
}

// spreadRows reports whether a column may be of a sharded table.
func (b *block) spreadRows(names []*sqlparser.ColName, lower bool) bool {
	return slices.ContainsFunc(names, func(name *sqlparser.ColName) bool {
		ref := b.resolve(name, lower)
		return !ref.ok() || ref.inst.table.Kind == catalog.Sharded
	})
}

// selectsBy reports whether m only tells which rows a WHERE lets through. In boolean mode that depends on the words of the
// row and on nothing else. In natural language words that most rows have may not count (MyISAM), and rows come by relevance; with query expansion
// it depends on other rows.
func (b *block) selectsBy(m *sqlparser.MatchExpr) bool {
	var operand func(e sqlparser.Expr) bool
	operand = func(e sqlparser.Expr) bool {
		switch e := e.(type) {
		case *sqlparser.AndExpr:
			return operand(e.Left) || operand(e.Right)
		case *sqlparser.OrExpr:
			return operand(e.Left) || operand(e.Right)
		case *sqlparser.NotExpr:
			return operand(e.Expr)
		}
		return e == sqlparser.Expr(m)
	}
	return b.where != nil && operand(b.where.Expr)
}

// outerAggregate reports whether every column in agg is one of an enclosing query: then the aggregate is computed there.
func (w *walker) outerAggregate(agg sqlparser.AggrFunc) bool {
	cols, here := 0, 0
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if c, ok := n.(*sqlparser.ColName); ok {
			cols++
			if _, found := w.b.resolveHere(c, w.a.lower); found {
				here++
			}
		}
		return true, nil
	}, agg)
	return cols > 0 && here == 0
}

// variable notes what a variable means for where a statement may run.
func (a *analysis) variable(v *sqlparser.Variable) {
	switch v.Scope {
	case sqlparser.VariableScope:
		a.b.plan.Uses |= plan.ReadsUserVariable
		return
	case sqlparser.NoScope:
		return
	}
	switch v.Name.Lowered() {
	case "last_insert_id", "identity":
		a.b.plan.Uses |= plan.ReadsLastInsertID
	case "warning_count", "error_count":
		a.b.plan.Uses |= plan.ReadsDiagnostics
	}
}
