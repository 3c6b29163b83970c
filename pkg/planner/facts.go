package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// fact is an equality that holds: between two columns, or between a column and a value known when the plan runs. It
// comes from an `=` or IN that must be true for a row to matter, so both sides are never NULL.
//
// Which facts may be used for which table is the heart of routing:
//
//   - What stands in WHERE, or in ON of an inner join, must be true for every row of the result.
//   - What stands in ON of an outer join must be true only for matches. It says nothing about rows of the side that is
//     kept (they stay without a match), but everything about the other side: rows of it for which it is not true
//     cannot matter, for a match needs it and a row without match needs none of them.
//   - Facts of one side of an inner join hold for what the other side meets. Facts of the kept side of an outer join
//     hold for what the other side meets; not the other way round.
//   - What holds for the row of an enclosing query holds while a correlated subquery looks at it.
type fact struct {
	a, b colRef       // a = b
	op   plan.Operand // if b is no column
	list bool         // op is an IN list
}

// compatible reports whether two distribution columns that compare equal are sure to have the same canonical text
// (placement): the same class of type and, for strings, the same collation. int = varchar is true for 1 = '01',
// which lie in different partitions; so types of different classes are never compatible.
func compatible(a, b *catalog.Column) bool {
	ka, kb := keyClass(a), keyClass(b)
	return ka != "" && ka == kb
}

// keyClass names what columns may share; empty for types that never do.
func keyClass(c *catalog.Column) string {
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "integer":
		if containsFold(c.ColumnType, "zerofill") {
			return "zerofill " + c.ColumnType
		}
		return "int"
	case "varchar", "varbinary", "date", "year", "uuid", "inet6", "inet4":
		return c.DataType + " " + c.Collation
	case "decimal", "bit", "binary", "char", "enum", "set", "time", "datetime", "timestamp":
		return c.ColumnType + " " + c.Collation
	}
	return ""
}

// conjuncts calls f for every operand of the ANDs at the top of e.
func conjuncts(e sqlparser.Expr, f func(sqlparser.Expr)) {
	if and, ok := e.(*sqlparser.AndExpr); ok {
		conjuncts(and.Left, f)
		conjuncts(and.Right, f)
		return
	}
	if e != nil {
		f(e)
	}
}

// eachCondition reports whether leaf holds for every condition that e puts together with AND, OR and NOT. Whether a column is NULL is the
// same however its values are compared or converted: leaf is not asked of that.
func eachCondition(e sqlparser.Expr, leaf func(sqlparser.Expr) bool) bool {
	switch e := e.(type) {
	case *sqlparser.AndExpr:
		return eachCondition(e.Left, leaf) && eachCondition(e.Right, leaf)
	case *sqlparser.OrExpr:
		return eachCondition(e.Left, leaf) && eachCondition(e.Right, leaf)
	case *sqlparser.NotExpr:
		return eachCondition(e.Expr, leaf)
	case *sqlparser.IsExpr:
		if _, column := e.Left.(*sqlparser.ColName); column && (e.Right == sqlparser.IsNullOp || e.Right == sqlparser.IsNotNullOp) {
			return true
		}
	}
	return leaf(e)
}

// argumentOf is the number of the argument that e is, a value or a list of values.
func argumentOf(e sqlparser.Expr) (n int, ok bool) {
	switch e := e.(type) {
	case *sqlparser.Argument:
		return sqlparse.ArgNumber(e.Name)
	case sqlparser.ListArg:
		return sqlparse.ArgNumber(string(e))
	}
	return 0, false
}

// factsOf returns the equalities that must hold for e to be true.
func (a *analysis) factsOf(e sqlparser.Expr, b *block) (facts []fact) {
	conjuncts(e, func(c sqlparser.Expr) {
		if or, ok := c.(*sqlparser.OrExpr); ok {
			facts = append(facts, a.commonFacts(or, b)...)
			return
		}
		cmp, ok := c.(*sqlparser.ComparisonExpr)
		if !ok || cmp.Modifier != sqlparser.Missing {
			return
		}
		switch cmp.Operator {
		case sqlparser.EqualOp:
			facts = a.equality(facts, cmp.Left, cmp.Right, b)
		case sqlparser.InOp:
			col, ok := cmp.Left.(*sqlparser.ColName)
			if !ok {
				return
			}
			var op plan.Operand
			list := false
			switch r := cmp.Right.(type) {
			case sqlparser.ListArg:
				n, ok := sqlparse.ArgNumber(string(r))
				if !ok {
					return
				}
				op, list = plan.Operand{Arg: n}, true
			case sqlparser.ValTuple:
				if len(r) != 1 {
					return
				}
				if op, ok = operandOf(r[0]); !ok {
					return
				}
			default:
				return
			}
			if ref := b.resolve(col, a.lower); ref.ok() {
				facts = append(facts, fact{a: ref, op: op, list: list})
			}
		}
	})
	return facts
}

// commonFacts are the equalities of columns that each alternative of a disjunction says.
func (a *analysis) commonFacts(or *sqlparser.OrExpr, b *block) (facts []fact) {
	for i, arm := range alternatives(or) {
		said := a.factsOf(arm, b)
		if i == 0 {
			facts = slices.DeleteFunc(said, func(f fact) bool { return !f.b.ok() })
			continue
		}
		facts = slices.DeleteFunc(facts, func(f fact) bool {
			return !slices.ContainsFunc(said, func(g fact) bool { return f.a == g.a && f.b == g.b || f.a == g.b && f.b == g.a })
		})
	}
	return facts
}

// equality appends what l = r says: for columns, values, and rows of them.
func (a *analysis) equality(facts []fact, l, r sqlparser.Expr, b *block) []fact {
	lt, lok := l.(sqlparser.ValTuple)
	rt, rok := r.(sqlparser.ValTuple)
	if lok && rok && len(lt) == len(rt) {
		for i := range lt {
			facts = a.equality(facts, lt[i], rt[i], b)
		}
		return facts
	}
	if _, ok := l.(*sqlparser.ColName); !ok {
		l, r = r, l
	}
	lc, ok := l.(*sqlparser.ColName)
	if !ok {
		return facts
	}
	left := b.resolve(lc, a.lower)
	if !left.ok() {
		return facts
	}
	if rc, ok := r.(*sqlparser.ColName); ok {
		if right := b.resolve(rc, a.lower); right.ok() {
			facts = append(facts, fact{a: left, b: right})
		}
		return facts
	}
	if op, ok := operandOf(r); ok {
		facts = append(facts, fact{a: left, op: op})
	}
	return facts
}

// limitOf is what l says, offset nil without one; ok is false if one of them is an expression.
func limitOf(l *sqlparser.Limit) (count plan.Operand, offset *plan.Operand, ok bool) {
	if count, ok = operandOf(l.Rowcount); !ok || l.Offset == nil {
		return count, nil, ok
	}
	skipped, ok := operandOf(l.Offset)
	return count, &skipped, ok
}

// operandOf returns the value e is known to have when the plan runs. Literals stand in a tree only where their
// text is guarded, or comes from the catalog.
func operandOf(e sqlparser.Expr) (plan.Operand, bool) {
	constant := func(k sqltypes.Kind, text string) (plan.Operand, bool) {
		return plan.Operand{Arg: plan.NoArg, Const: sqltypes.Value{Kind: k, Raw: []byte(text)}}, true
	}
	switch e := e.(type) {
	case *sqlparser.Argument:
		n, ok := sqlparse.ArgNumber(e.Name)
		return plan.Operand{Arg: n}, ok
	case *sqlparser.Literal:
		switch e.Type {
		case sqlparser.IntVal:
			return constant(sqltypes.Int, e.Val)
		case sqlparser.DecimalVal:
			return constant(sqltypes.Decimal, e.Val)
		case sqlparser.StrVal:
			return constant(sqltypes.String, e.Val)
		}
	case *sqlparser.UnaryExpr:
		lit, ok := e.Expr.(*sqlparser.Literal)
		if ok && e.Operator == sqlparser.UMinusOp {
			switch lit.Type {
			case sqlparser.IntVal:
				return constant(sqltypes.Int, "-"+lit.Val)
			case sqlparser.DecimalVal:
				return constant(sqltypes.Decimal, "-"+lit.Val)
			}
		}
	case *sqlparser.NullVal:
		return plan.Operand{Arg: plan.NoArg}, true
	}
	return plan.Operand{}, false
}

// equals returns everything that start is equal to by facts: columns (start first) whose types are compatible from
// step to step, and values.
func equals(start colRef, facts []fact) (cols []colRef, ops []fact) {
	cols = append(cols, start)
	for i := 0; i < len(cols); i++ {
		c := cols[i]
		for _, f := range facts {
			var other colRef
			switch {
			case !f.b.ok():
				if f.a == c {
					ops = append(ops, f)
				}
				continue
			case f.a == c:
				other = f.b
			case f.b == c:
				other = f.a
			default:
				continue
			}
			if !slices.Contains(cols, other) && compatible(c.column(), other.column()) {
				cols = append(cols, other)
			}
		}
	}
	return cols, ops
}

// among reports whether ref equals one of the columns in set, by facts.
func among(ref colRef, set []colRef, facts []fact) bool {
	cols, _ := equals(ref, facts)
	return slices.ContainsFunc(cols, func(c colRef) bool { return slices.Contains(set, c) })
}

// pinned reports whether every one of some columns of in equals one of the columns in set, by facts.
func pinned(in *instance, columns []int, set []colRef, facts []fact) bool {
	return len(columns) > 0 && !slices.ContainsFunc(columns, func(c int) bool { return !among(colRef{in, c}, set, facts) })
}

// determined reports whether rows that agree in the columns of set agree in ref.
func determined(ref colRef, set []colRef, facts []fact) bool {
	return among(ref, set, facts) || pinned(ref.inst, ref.inst.table.Primary, set, facts)
}

// attached reports whether the rows of in that can matter lie where the row of other lies that they meet: their
// distribution keys are equal, column by column.
func attached(in, other *instance) bool {
	if in.table.Kind != catalog.Sharded || other.table.Kind != catalog.Sharded ||
		len(in.table.Distribution) != len(other.table.Distribution) || len(in.table.Distribution) == 0 {
		return false
	}
	for i, k := range in.table.Distribution {
		cols, _ := equals(colRef{in, k}, in.usable)
		if !slices.Contains(cols, colRef{other, other.table.Distribution[i]}) {
			return false
		}
	}
	return true
}

// keyOperands returns the values the distribution key of in is known to have. single: none of them is a list.
func keyOperands(in *instance) (key []plan.Operand, single, ok bool) {
	single = true
	for _, k := range in.table.Distribution {
		_, ops := equals(colRef{in, k}, in.usable)
		if len(ops) == 0 {
			return nil, false, false
		}
		best := ops[0]
		for _, o := range ops[1:] {
			if best.list && !o.list {
				best = o
			}
		}
		key = append(key, best.op)
		single = single && !best.list
	}
	return key, single, len(key) > 0
}
