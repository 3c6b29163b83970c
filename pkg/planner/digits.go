package planner

import (
	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/sqlparse"
)

// The quotient of two exact numbers has more digits than its type says, as long as a server computes with it: they count in a
// SUM, and are lost when partial sums are sent. So a sum of quotients is asked for with all digits. Sums for groups are another
// matter: servers mostly write rows to a table to group them, and then each has the digits of its type.

// digits says what of an expression's digits a result shows.
type digits uint8

const (
	shown   digits = iota // all
	hidden                // not all, but those of a DECIMAL with 30 decimals
	unknown               // perhaps not all
)

// digitsAdded says what is known of the digits that a server adds up.
func (b *build) digitsAdded(blk *block, e sqlparser.Expr, grouped bool) digits {
	if grouped {
		return shown
	}
	return b.digitsOf(blk, e)
}

// digitsOf says what is known of the digits of a number.
func (b *build) digitsOf(blk *block, e sqlparser.Expr) digits {
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
			switch name := n.Name.Lowered(); {
			case (name == "round" || name == "truncate") && (len(n.Exprs) == 1 || constant(n.Exprs[1])), name == "floor", name == "ceil", name == "ceiling":
				return false, nil // its type says how many it has
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
	for s := blk; s != nil; s = s.parent {
		for _, in := range s.insts {
			if _, has := in.column(name.Name.Lowered()); !has || !name.Qualifier.IsEmpty() && !in.called(name.Qualifier, b.a.lower) {
				continue
			}
			if in.opaque || in.sub == nil || !in.sub.known {
				return unknown
			}
			inside := in.sub.block
			if inside == nil || inside.aggregated || inside.sel.GroupBy != nil || inside.sel.Distinct || in.sub.limit != nil || len(inside.windows) > 0 || inside.namedWin {
				return shown
			}
			columns, _ := in.outColumns()
			for i, c := range columns {
				if item := inside.item(i + 1); item != nil && name.Name.EqualString(c.name) {
					return b.digitsOf(inside, item.Expr)
				}
			}
			return unknown
		}
	}
	return unknown
}

// allDigits is what stands around the text of a number so that a sum of it has all digits.
const (
	allDigitsBefore = "SUM(CAST("
	allDigitsAfter  = " AS DECIMAL(65,30)))"
)
