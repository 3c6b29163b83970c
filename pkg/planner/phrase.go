package planner

import (
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/function"
	"skarv/pkg/plan"
	"skarv/pkg/sqltypes"
)

// phrase writes conditions anew for a fragment of our own making, where tables have other names than in the client's
// text. It knows the forms it can write without changing their meaning, and gives up (ok is false) at any other: what
// reads the clock, the session or chance has none, for it would be evaluated twice.
type phrase struct {
	b *build
	e *editor
	// names are the instances whose columns may be read, by what they are called in the fragment.
	names map[*instance]string
	ok    bool
	// instead, not nil, writes what stands for an expression; false if nothing does.
	instead func(p *phrase, e sqlparser.Expr) bool
}

func (b *build) phrase(names map[*instance]string) *phrase {
	return &phrase{b: b, e: &editor{st: b.st}, names: names, ok: true}
}

// done returns the text; ok is false if something could not be written.
func (p *phrase) done() (plan.Text, bool) {
	if !p.ok {
		return nil, false
	}
	return p.e.done(), true
}

func (p *phrase) fail() { p.ok = false }

func (p *phrase) raw(sql string) { p.e.raw(sql) }

// name gives an instance a name of its own.
func (p *phrase) name(in *instance) string {
	n := "skarv_" + string(rune('a'+len(p.names)%26))
	if len(p.names) >= 26 {
		p.fail()
	}
	p.names[in] = n
	return n
}

// column writes a column of a named instance.
func (p *phrase) column(ref colRef) {
	name, ok := p.names[ref.inst]
	if !ok {
		p.fail()
		return
	}
	p.raw(name + "." + sqltypes.QuoteName(ref.column().Name))
}

// table writes a base table with its name in the fragment.
func (p *phrase) table(in *instance) {
	p.raw(in.table.SQL() + " AS " + p.name(in))
}

// conjunct writes c.
func (p *phrase) conjunct(c *conjunct) {
	if c.expr != nil {
		p.expr(c.expr, c.scope)
		return
	}
	p.raw("(")
	p.column(c.equal[0])
	p.raw(" = ")
	if c.equal[1].ok() {
		p.column(c.equal[1])
	} else {
		p.operand(c.op)
	}
	p.raw(")")
}

func (p *phrase) operand(o plan.Operand) {
	if o.Arg < 0 {
		p.fail() // a constant's text is that of a view
		return
	}
	p.e.arg(plan.Piece{Arg: o.Arg})
}

// expr writes e, whose names are looked up in scope. Every operation has parentheses.
func (p *phrase) expr(e sqlparser.Expr, scope *block) {
	if p.instead != nil && p.instead(p, e) {
		return
	}
	switch e := e.(type) {
	case *sqlparser.ColName:
		if e.Qualifier.IsEmpty() {
			if slices.ContainsFunc(scope.merged, func(m mergedColumn) bool { return m.name == e.Name.Lowered() }) {
				p.fail()
				return
			}
		}
		ref := scope.resolve(e, p.b.a.lower)
		if !ref.ok() {
			p.fail()
			return
		}
		p.column(ref)
	case *sqlparser.Argument, sqlparser.ListArg:
		n, ok := argumentOf(e)
		if !ok {
			p.fail()
			return
		}
		p.e.arg(plan.Piece{Arg: n})
	case *sqlparser.Literal:
		p.literal(e)
	case *sqlparser.NullVal:
		p.raw("NULL")
	case sqlparser.BoolVal:
		if e {
			p.raw("TRUE")
		} else {
			p.raw("FALSE")
		}
	case *sqlparser.AndExpr:
		p.binary(e.Left, " AND ", e.Right, scope)
	case *sqlparser.OrExpr:
		p.binary(e.Left, " OR ", e.Right, scope)
	case *sqlparser.XorExpr:
		p.binary(e.Left, " XOR ", e.Right, scope)
	case *sqlparser.NotExpr:
		p.raw("(NOT ")
		p.expr(e.Expr, scope)
		p.raw(")")
	case *sqlparser.IsExpr:
		p.raw("(")
		p.expr(e.Left, scope)
		p.raw(" " + e.Right.ToString() + ")")
	case *sqlparser.BetweenExpr:
		p.raw("(")
		p.expr(e.Left, scope)
		if !e.IsBetween {
			p.raw(" NOT")
		}
		p.raw(" BETWEEN ")
		p.expr(e.From, scope)
		p.raw(" AND ")
		p.expr(e.To, scope)
		p.raw(")")
	case *sqlparser.ComparisonExpr:
		p.comparison(e, scope)
	case *sqlparser.BinaryExpr:
		if !arithmetic(e.Operator) {
			p.fail()
			return
		}
		p.binary(e.Left, " "+e.Operator.ToString()+" ", e.Right, scope)
	case *sqlparser.UnaryExpr:
		if e.Operator != sqlparser.UMinusOp {
			p.fail()
			return
		}
		p.raw("(- ")
		p.expr(e.Expr, scope)
		p.raw(")")
	case sqlparser.ValTuple:
		p.raw("(")
		p.list([]sqlparser.Expr(e), scope)
		p.raw(")")
	default:
		p.call(e, scope)
	}
}

func (p *phrase) binary(l sqlparser.Expr, op string, r sqlparser.Expr, scope *block) {
	p.raw("(")
	p.expr(l, scope)
	p.raw(op)
	p.expr(r, scope)
	p.raw(")")
}

func (p *phrase) list(exprs []sqlparser.Expr, scope *block) {
	for i, e := range exprs {
		if i > 0 {
			p.raw(", ")
		}
		p.expr(e, scope)
	}
}

func (p *phrase) comparison(e *sqlparser.ComparisonExpr, scope *block) {
	switch e.Operator {
	case sqlparser.RegexpOp, sqlparser.NotRegexpOp:
		p.fail() // may be an error for some row
		return
	}
	if e.Modifier != sqlparser.Missing {
		p.fail()
		return
	}
	p.raw("(")
	p.expr(e.Left, scope)
	p.raw(" " + e.Operator.ToString() + " ")
	p.expr(e.Right, scope)
	if e.Escape != nil {
		p.raw(" ESCAPE ")
		p.expr(e.Escape, scope)
	}
	p.raw(")")
}

// literal writes a literal that stands in the tree: a number, or a text that reads the same in every sql_mode.
func (p *phrase) literal(e *sqlparser.Literal) {
	plain := !strings.ContainsFunc(e.Val, func(r rune) bool { return r < ' ' || r == '\'' || r == '\\' || r > '~' })
	switch {
	case e.Type == sqlparser.IntVal, e.Type == sqlparser.DecimalVal:
		p.raw(e.Val)
	case e.Type == sqlparser.StrVal && plain:
		p.raw("'" + e.Val + "'")
	case e.Type == sqlparser.DateVal && plain:
		p.raw("DATE '" + e.Val + "'")
	case e.Type == sqlparser.TimestampVal && plain:
		p.raw("TIMESTAMP '" + e.Val + "'")
	default:
		p.fail()
	}
}

// call writes functions and what looks like them.
func (p *phrase) call(e sqlparser.Expr, scope *block) {
	arguments := func(name string, args ...sqlparser.Expr) {
		p.raw(name + "(")
		p.list(args, scope)
		p.raw(")")
	}
	switch e := e.(type) {
	case *sqlparser.IntervalDateExpr:
		if e.Unit == sqlparser.IntervalNone || e.Syntax == sqlparser.IntervalDateExprTimestampadd {
			p.fail()
			return
		}
		op := " + INTERVAL "
		if e.IsSubtraction() {
			op = " - INTERVAL "
		}
		p.raw("(")
		p.expr(e.Date, scope)
		p.raw(op)
		p.expr(e.Interval, scope)
		p.raw(" " + e.Unit.ToString() + ")")
	case *sqlparser.ExtractFuncExpr:
		p.raw("EXTRACT(" + e.IntervalType.ToString() + " FROM ")
		p.expr(e.Expr, scope)
		p.raw(")")
	case *sqlparser.SubstrExpr:
		if e.To == nil {
			arguments("SUBSTRING", e.Name, e.From)
		} else {
			arguments("SUBSTRING", e.Name, e.From, e.To)
		}
	case *sqlparser.CaseExpr:
		p.raw("(CASE")
		if e.Expr != nil {
			p.raw(" ")
			p.expr(e.Expr, scope)
		}
		for _, w := range e.Whens {
			p.raw(" WHEN ")
			p.expr(w.Cond, scope)
			p.raw(" THEN ")
			p.expr(w.Val, scope)
		}
		if e.Else != nil {
			p.raw(" ELSE ")
			p.expr(e.Else, scope)
		}
		p.raw(" END)")
	case *sqlparser.FuncExpr:
		name := e.Name.Lowered()
		if !e.Qualifier.IsEmpty() || !function.Plain(name) {
			p.fail()
			return
		}
		arguments(strings.ToUpper(name), e.Exprs...)
	case *sqlparser.ExistsExpr:
		p.raw("EXISTS ")
		p.subquery(e.Subquery, true)
	case *sqlparser.Subquery:
		p.subquery(e, false)
	default:
		p.aggregate(e, scope)
	}
}

// aggregate writes an aggregate function of a subquery.
func (p *phrase) aggregate(e sqlparser.Expr, scope *block) {
	one := func(name string, distinct bool, over *sqlparser.OverClause, args ...sqlparser.Expr) {
		if over != nil {
			p.fail()
			return
		}
		p.raw(name + "(")
		if distinct {
			p.raw("DISTINCT ")
		}
		p.list(args, scope)
		p.raw(")")
	}
	switch e := e.(type) {
	case *sqlparser.CountStar:
		if e.OverClause != nil {
			p.fail()
		}
		p.raw("COUNT(*)")
	case *sqlparser.Count:
		one("COUNT", e.Distinct, e.OverClause, e.Args...)
	case *sqlparser.Sum:
		one("SUM", e.Distinct, e.OverClause, e.Arg)
	case *sqlparser.Avg:
		one("AVG", e.Distinct, e.OverClause, e.Arg)
	case *sqlparser.Min:
		one("MIN", e.Distinct, e.OverClause, e.Arg)
	case *sqlparser.Max:
		one("MAX", e.Distinct, e.OverClause, e.Arg)
	default:
		p.fail()
	}
}

// subquery writes a subquery over base tables.
func (p *phrase) subquery(s *sqlparser.Subquery, exists bool) {
	q := p.b.a.queries[s]
	sel, plain := s.Select.(*sqlparser.Select)
	if q == nil || !plain || q.block == nil || q.block.sel != sel || !writable(sel) {
		p.fail()
		return
	}
	blk := q.block
	p.raw("(SELECT ")
	if sel.Distinct {
		p.raw("DISTINCT ")
	}
	// The list names the tables of FROM, which get their names before it is written.
	list := p.e
	p.e = &editor{st: p.b.st}
	for i, from := range sel.From {
		if i > 0 {
			p.raw(", ")
		}
		p.from(from, blk)
	}
	from := p.e.done()
	p.e = list
	for i, item := range sel.SelectExprs.Exprs {
		if i > 0 {
			p.raw(", ")
		}
		switch item := item.(type) {
		case *sqlparser.AliasedExpr:
			p.expr(item.Expr, blk)
		default:
			if !exists || sel.Distinct || len(sel.SelectExprs.Exprs) > 1 || sel.GroupBy != nil {
				p.fail()
			}
			p.raw("1")
		}
	}
	p.raw(" FROM ")
	p.e.add(from)
	if sel.Where != nil {
		p.raw(" WHERE ")
		p.expr(sel.Where.Expr, blk)
	}
	if sel.GroupBy != nil {
		p.raw(" GROUP BY ")
		for i, e := range sel.GroupBy.Exprs {
			if _, col := e.(*sqlparser.ColName); !col {
				p.fail() // an alias or a position
				return
			}
			if i > 0 {
				p.raw(", ")
			}
			p.expr(e, blk)
		}
	}
	if sel.Having != nil {
		if !p.b.havingOnAggregates(blk) {
			p.fail()
			return
		}
		p.raw(" HAVING ")
		p.expr(sel.Having.Expr, blk)
	}
	p.raw(")")
}

// writable tells the forms of SELECT that subquery writes.
func writable(s *sqlparser.Select) bool {
	return s.With == nil && s.Into == nil && s.Windows == nil && s.Lock == sqlparser.NoLock && s.Limit == nil && len(s.OrderBy) == 0 &&
		s.Cache == nil && !s.SQLCalcFoundRows && (s.GroupBy == nil || !s.GroupBy.WithRollup) && len(s.From) > 0 && s.SelectExprs != nil
}

// havingOnAggregates reports that HAVING names columns only inside aggregates or where no alias can be meant.
func (b *build) havingOnAggregates(blk *block) bool {
	ok := true
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case sqlparser.AggrFunc:
			return false, nil
		case *sqlparser.Subquery:
			ok = false
		case *sqlparser.ColName:
			ok = ok && blk.alias(n.Name) == nil && slices.Contains(blk.groupBy, blk.resolve(n, b.a.lower))
		}
		return ok, nil
	}, blk.sel.Having.Expr)
	return ok
}

// from writes a table expression of a subquery.
func (p *phrase) from(t sqlparser.TableExpr, blk *block) {
	switch t := t.(type) {
	case *sqlparser.AliasedTableExpr:
		for _, in := range blk.insts {
			if in.from == t && in.table != nil && in.table.Kind != catalog.Single && len(t.Partitions) == 0 {
				p.table(in)
				return
			}
		}
	case *sqlparser.JoinTableExpr:
		c := t.Condition
		join := " JOIN "
		switch t.Join {
		case sqlparser.NormalJoinType:
		case sqlparser.LeftJoinType:
			join = " LEFT JOIN "
		default:
			p.fail()
			return
		}
		if c == nil || c.On == nil || len(c.Using) > 0 {
			break
		}
		p.raw("(")
		p.from(t.LeftExpr, blk)
		p.raw(join)
		p.from(t.RightExpr, blk)
		p.raw(" ON ")
		p.expr(c.On, blk.tree.scopeOf(t))
		p.raw(")")
		return
	}
	p.fail()
}
