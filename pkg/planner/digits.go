package planner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/function"
	"skarv/pkg/sqlparse"
)

// The quotient of two exact numbers has more digits than its type says, as long as a server computes with it: they count in a
// SUM, and are lost when partial sums are sent. So a sum of quotients is asked for with all digits. Sums for groups are another
// matter: servers mostly write rows to a table to group them, and then each has the digits of its type. Where they read rows group by group
// it has all.

// digits says what of an expression's digits a result shows.
type digits uint8

const (
	shown   digits = iota // all
	hidden                // not all, but a DECIMAL may have them: sizeOf
	rounded               // not all, but those of a DOUBLE without a number of decimals
	unknown               // perhaps not all
)

// digitsAdded says what is known of the digits that a server adds up.
func (b *build) digitsAdded(blk *block, e sqlparser.Expr, grouped bool) digits {
	if grouped && !b.groupByGroup(blk) {
		return b.floatDigits(blk, e)
	}
	return b.digitsOf(blk, e)
}

// groupByGroup reports whether servers read rows group by group: by a key that begins with the grouping columns, or sorted for an aggregate
// with DISTINCT. MySQL rounds a quotient to its type in any case.
func (b *build) groupByGroup(blk *block) bool {
	if b.snap.Flavor != catalog.MariaDB || len(blk.groupBy) != len(blk.sel.GroupBy.Exprs) {
		return false
	}
	if some, _ := blk.distinctAggregates(); some || blk.sel.SQLBigResult {
		return true
	}
	value := func(c colRef) bool {
		return slices.ContainsFunc(blk.facts, func(f fact) bool { return f.a == c && !f.b.ok() && !f.list })
	}
	by := slices.DeleteFunc(slices.Clone(blk.groupBy), value)
	if len(by) == 0 {
		return true
	}
	in := by[0].inst
	if in.table == nil {
		return false
	}
	for _, key := range slices.Concat([]catalog.Index{{Columns: in.table.Primary}}, in.table.Unique, in.table.Indexes) {
		n := 0
		for _, col := range key.Columns {
			if ref := (colRef{inst: in, col: col}); n < len(by) && by[n] == ref {
				n++
			} else if !value(ref) {
				break
			}
		}
		if n == len(by) && !key.Partial && !key.Fulltext {
			return true
		}
	}
	return false
}

// floatDigits is digitsOf for what is not shown of FLOAT and DOUBLE: a column may have a number of decimals, and what is computed of such
// columns has one, too, unless a number without takes part.
func (b *build) floatDigits(blk *block, e sqlparser.Expr) digits {
	fixed, free, computed := false, false, true
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.ColName:
			if ref := blk.resolve(n, b.a.lower); ref.ok() {
				float := ref.column().DataType == "float" || ref.column().DataType == "double"
				decimals := float && strings.Contains(ref.column().ColumnType, "(")
				fixed, free = fixed || decimals, free || float && !decimals
				break
			}
			if in, item := b.columnItem(blk, n); item != nil {
				d := b.floatDigits(in.sub.block, item.Expr)
				fixed, computed = fixed || d != shown, computed && d != unknown
			}
		case *sqlparser.Argument:
			i, ok := sqlparse.ArgNumber(n.Name)
			free = free || ok && i < b.st.NumArgs() && b.st.Arg(i).Class == sqlparse.ClassFloat
		case *sqlparser.BinaryExpr:
			switch n.Operator {
			case sqlparser.PlusOp, sqlparser.MinusOp, sqlparser.MultOp, sqlparser.DivOp, sqlparser.ModOp:
			default:
				computed = false
			}
		case *sqlparser.UnaryExpr:
			computed = computed && (n.Operator == sqlparser.UMinusOp || n.Operator == sqlparser.UPlusOp)
		case *sqlparser.Literal, *sqlparser.NullVal:
		case *sqlparser.FuncExpr:
			computed = false
			if name := n.Name.Lowered(); sqlparser.SQLNode(e) == sqlparser.SQLNode(n) && function.Rounds(name) && (len(n.Exprs) == 1 || constant(n.Exprs[1])) {
				return false, nil // all that it has is shown
			}
		case sqlparser.Expr:
			computed = false
		}
		return true, nil
	}, e)
	switch {
	case !fixed || free && computed:
		return shown
	case !computed:
		return unknown
	}
	return rounded
}

// digitsOf says what is known of the digits of a number.
func (b *build) digitsOf(blk *block, e sqlparser.Expr) digits {
	if d := b.floatDigits(blk, e); d != shown {
		return d
	}
	divides, float, conditional, known := false, false, false, true
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.ColName:
			ref := blk.resolve(n, b.a.lower)
			if !ref.ok() {
				switch b.digitsOfColumn(blk, n) {
				case shown:
					known = false // of a type that is not known
				case hidden:
					divides = true
				case unknown:
					divides, known = true, false
				}
				break
			}
			switch ref.column().DataType {
			case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal":
			case "float", "double":
				float = true
			default:
				known = false
			}
		case *sqlparser.BinaryExpr:
			divides = divides || n.Operator == sqlparser.DivOp
		case *sqlparser.Argument:
			i, ok := sqlparse.ArgNumber(n.Name)
			if !ok || i >= b.st.NumArgs() {
				known = false
				break
			}
			switch b.st.Arg(i).Class {
			case sqlparse.ClassInt, sqlparse.ClassDecimal:
			case sqlparse.ClassFloat:
				float = true
			default:
				known = false
			}
		case *sqlparser.FuncExpr:
			if function.Rounds(n.Name.Lowered()) && (len(n.Exprs) == 1 || constant(n.Exprs[1])) {
				return false, nil
			}
			known = false
		case *sqlparser.CaseExpr, *sqlparser.ComparisonExpr, *sqlparser.AndExpr, *sqlparser.OrExpr, *sqlparser.BetweenExpr, *sqlparser.IsExpr, *sqlparser.NotExpr:
			conditional = true
		case *sqlparser.Avg, *sqlparser.Subquery:
			divides, known = true, false
		}
		return true, nil
	}, e)
	switch {
	case !divides:
		return shown
	case !known, conditional && float:
		return unknown
	case float:
		return shown // all that a DOUBLE has
	}
	return hidden
}

// digitsOfColumn is digitsOf for a column of a derived table. One that groups, drops, limits or joins rows to a sum is stored by servers, with
// the digits of its columns' types; the expressions of others are put in the place of their columns.
func (b *build) digitsOfColumn(blk *block, name *sqlparser.ColName) digits {
	in, item := b.columnItem(blk, name)
	if in == nil || in.opaque || in.sub == nil || !in.sub.known {
		return unknown
	}
	inside := in.sub.block
	if inside == nil || inside.aggregated || inside.sel.GroupBy != nil || inside.sel.Distinct || in.sub.limit != nil || len(inside.windows) > 0 || inside.namedWin {
		return shown
	}
	if item == nil {
		return unknown
	}
	return b.digitsOf(inside, item.Expr)
}

// columnItem finds the table that has a column; item is what the column is in the SELECT of a derived table, nil if that is not known.
func (b *build) columnItem(blk *block, name *sqlparser.ColName) (in *instance, item *sqlparser.AliasedExpr) {
	for s := blk; s != nil; s = s.parent {
		for _, in := range s.insts {
			if _, has := in.column(name.Name.Lowered()); !has || !name.Qualifier.IsEmpty() && !in.called(name.Qualifier, b.a.lower) {
				continue
			}
			if in.opaque || in.sub == nil || !in.sub.known || in.sub.block == nil {
				return in, nil
			}
			columns, _ := in.outColumns()
			for i, c := range columns {
				if item := in.sub.block.item(i + 1); item != nil && name.Name.EqualString(c.name) {
					return in, item
				}
			}
			return in, nil
		}
	}
	return nil, nil
}

// size is how many digits a number may have before and behind the point, and how many decimals its type says.
type size struct{ whole, decimals, typed int }

func (s size) with(o size) size {
	return size{max(s.whole, o.whole), max(s.decimals, o.decimals), max(s.typed, o.typed)}
}

// own is the size of a number that has just the decimals of its type.
func own(whole, decimals int) size { return size{whole, decimals, decimals} }

// divisionDigits is how many decimals a quotient has more than what is divided: div_precision_increment.
func (b *build) divisionDigits() int {
	if n, err := strconv.Atoi(b.sess.DivisionDigits); err == nil {
		return n
	}
	return 4
}

// sizeOf is how many digits servers compute an exact number with, at most. A server divides in words of nine digits.
func (b *build) sizeOf(blk *block, e sqlparser.Expr) (s size, ok bool) {
	switch e := e.(type) {
	case *sqlparser.ColName:
		if ref := blk.resolve(e, b.a.lower); ref.ok() {
			switch c := ref.column(); c.DataType {
			case "decimal":
				return own(c.Precision-c.Scale, c.Scale), c.Precision > 0
			case "tinyint", "smallint", "mediumint", "int", "bigint":
				return size{whole: 20}, true
			}
			return s, false
		}
		in, item := b.columnItem(blk, e)
		if item == nil {
			return s, false
		}
		return b.sizeOf(in.sub.block, item.Expr)
	case *sqlparser.Argument:
		i, ok := sqlparse.ArgNumber(e.Name)
		if !ok || i >= b.st.NumArgs() || b.st.Arg(i).Class != sqlparse.ClassInt && b.st.Arg(i).Class != sqlparse.ClassDecimal {
			return s, false
		}
		text := b.st.ArgText(i)
		b.guard(i, string(text))
		whole, decimals, _ := strings.Cut(string(text), ".")
		return own(len(whole), len(decimals)), true
	case *sqlparser.Literal:
		whole, decimals, _ := strings.Cut(e.Val, ".")
		return own(len(whole), len(decimals)), e.Type == sqlparser.IntVal || e.Type == sqlparser.DecimalVal
	case *sqlparser.UnaryExpr:
		if e.Operator != sqlparser.UMinusOp && e.Operator != sqlparser.UPlusOp {
			return s, false
		}
		return b.sizeOf(blk, e.Expr)
	case *sqlparser.CaseExpr:
		values := []sqlparser.Expr{e.Else}
		for _, w := range e.Whens {
			values = append(values, w.Val)
		}
		for _, v := range values {
			if v == nil {
				continue
			}
			one, ok := b.sizeOf(blk, v)
			if !ok {
				return s, false
			}
			s = s.with(one)
		}
		return s, true
	case *sqlparser.FuncExpr:
		if !function.Rounds(e.Name.Lowered()) || len(e.Exprs) == 0 {
			return s, false
		}
		s, ok := b.sizeOf(blk, e.Exprs[0])
		s.whole++
		if ok && len(e.Exprs) > 1 {
			n, ok := b.ordinal(e.Exprs[1])
			if !ok {
				n = b.maxDecimals()
			}
			s.decimals = max(s.decimals, min(n, b.maxDecimals()))
		}
		return s, ok
	case *sqlparser.BinaryExpr:
		left, known := b.sizeOf(blk, e.Left)
		var right size
		if op, is := operandOf(e.Right); !is || op.Arg < 0 || e.Operator != sqlparser.DivOp || b.st.Arg(op.Arg).Class != sqlparse.ClassInt { // not / 100
			if right, ok = b.sizeOf(blk, e.Right); !ok {
				return s, false
			}
		}
		if !known {
			return s, false
		}
		words := func(digits int) int { return (digits + 8) / 9 * 9 }
		switch s = left.with(right); e.Operator {
		case sqlparser.PlusOp, sqlparser.MinusOp:
			s.whole++
		case sqlparser.MultOp:
			s = size{left.whole + right.whole, left.decimals + right.decimals, left.typed + right.typed}
		case sqlparser.IntDivOp:
			s = size{whole: left.whole + right.decimals}
		case sqlparser.ModOp:
		case sqlparser.DivOp:
			full := words(left.decimals) + words(right.decimals)
			s = size{left.whole + right.decimals, words(max(full, left.decimals+right.decimals+b.divisionDigits())), left.typed + b.divisionDigits()}
		default:
			return s, false
		}
		return s, true
	case *sqlparser.NullVal, *sqlparser.ComparisonExpr, *sqlparser.AndExpr, *sqlparser.OrExpr, *sqlparser.BetweenExpr, *sqlparser.IsExpr, *sqlparser.NotExpr:
		return size{whole: 1}, true
	}
	return s, false
}

// maxDecimals is how many decimals a DECIMAL may have.
func (b *build) maxDecimals() int {
	if b.snap.Flavor == catalog.MariaDB {
		return 38
	}
	return 30
}

// sumOf is the sum of a number that has digits d, with all of them; false if it cannot be written. average: it is divided by a count, which a
// server does to words of nine digits: where those are just what it shows, it does not round, and the digits of the sum must be its own. MySQL
// takes a quotient there to have the decimals of its type.
func (b *build) sumOf(blk *block, e sqlparser.Expr, number sqlparse.Span, d digits, average bool) (hiddenColumn, bool) {
	switch d {
	case hidden:
		const most, rows = 65, 12 // the digits of a DECIMAL, and of how many rows one server adds up
		s, ok := b.sizeOf(blk, e)
		has := s.decimals
		if b.snap.Flavor == catalog.MySQL {
			has = s.typed
		}
		if average && (has+b.divisionDigits())%9 == 0 {
			return hiddenColumn{}, false
		}
		room := most - rows - s.whole
		decimals := min(30, room)
		if s.decimals >= decimals {
			decimals = min(b.maxDecimals(), room)
		}
		return hiddenColumn{before: "SUM(CAST(", span: number, after: fmt.Sprintf(" AS DECIMAL(%d,%d)))", most, decimals)}, ok && s.decimals < decimals
	case rounded:
		return hiddenColumn{before: "SUM((", span: number, after: ")+0e0)"}, true
	case unknown:
		return hiddenColumn{}, false
	}
	return hiddenColumn{before: "SUM(", span: number, after: ")"}, true
}
