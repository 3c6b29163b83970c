package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// safe is sql_safe_updates for an UPDATE or DELETE whose rows are read first and then changed by their keys, so that no server sees its own WHERE:
// with it servers refuse what has neither a WHERE by which they may look into a key nor, but for a DELETE on MariaDB, a LIMIT. What a server would make
// of a condition is known of the plain ones; others are refused.
func (b *build) safe() error {
	if !b.sess.SafeUpdates || b.mod == nil || b.sess.RowWrite {
		return nil
	}
	switch b.plan.Root.(type) {
	case *plan.ChangeRows, *plan.RowByRow:
	default:
		return nil
	}
	var where *sqlparser.Where
	limited := false
	if u := b.mod.update; u != nil {
		where, limited = u.Where, u.Limit != nil
	} else {
		where, limited = b.mod.del.Where, b.mod.del.Limit != nil && b.snap.Flavor == catalog.MySQL
	}
	switch {
	case limited:
		return nil
	case where == nil && b.snap.Flavor == catalog.MySQL:
		return sqlerr.SafeUpdate.New(". ")
	case where == nil:
		return sqlerr.SafeUpdate.New("")
	case b.looksIntoKey(where.Expr, b.mod.written[0]):
		return nil
	}
	return sqlerr.Unsupported("this condition of an UPDATE or DELETE with sql_safe_updates, over several node groups",
		"give a value, or several or a range of them, for the first column of a key, or SET sql_safe_updates = 0")
}

// looksIntoKey reports whether every server may look for the rows of in by a key because of condition e, all of which holds.
func (b *build) looksIntoKey(e sqlparser.Expr, in *instance) bool {
	compares := func(left sqlparser.Expr, values ...sqlparser.Expr) bool {
		name, ok := left.(*sqlparser.ColName)
		if !ok || !name.Qualifier.IsEmpty() && !in.called(name.Qualifier, b.a.lower) {
			return false
		}
		c := in.table.Column(name.Name.String())
		keys := append([]catalog.Index{{Columns: in.table.Primary}}, slices.Concat(in.table.Unique, in.table.Indexes)...)
		return c >= 0 && b.searched(&in.table.Columns[c], values) && slices.ContainsFunc(keys, func(k catalog.Index) bool {
			return !k.Partial && !k.Fulltext && len(k.Columns) > 0 && k.Columns[0] == c
		})
	}
	switch e := e.(type) {
	case *sqlparser.AndExpr:
		return b.looksIntoKey(e.Left, in) || b.looksIntoKey(e.Right, in)
	case *sqlparser.BetweenExpr:
		return e.IsBetween && compares(e.Left, e.From, e.To)
	case *sqlparser.ComparisonExpr:
		switch e.Operator {
		case sqlparser.EqualOp, sqlparser.LessThanOp, sqlparser.LessEqualOp, sqlparser.GreaterThanOp, sqlparser.GreaterEqualOp:
			return compares(e.Left, e.Right) || compares(e.Right, e.Left)
		case sqlparser.InOp:
			if list, ok := e.Right.(sqlparser.ValTuple); ok {
				return compares(e.Left, list...)
			}
			return compares(e.Left, e.Right)
		}
	}
	return false
}

// searched reports whether servers look for written values in a key of column c: they are all strings, or all numbers for a column of numbers.
func (b *build) searched(c *catalog.Column, values []sqlparser.Expr) bool {
	strings, numbers := 0, 0
	count := func(class sqlparse.Class) bool {
		switch class {
		case sqlparse.ClassString:
			strings++
		case sqlparse.ClassInt, sqlparse.ClassDecimal, sqlparse.ClassFloat, sqlparse.ClassParam:
			numbers++
		default:
			return false
		}
		return true
	}
	for _, e := range values {
		if l, ok := e.(*sqlparser.Literal); ok {
			class := sqlparse.ClassInt
			if l.Type == sqlparser.StrVal {
				class = sqlparse.ClassString
			}
			count(class)
			continue
		}
		i, ok := argumentOf(e)
		if !ok || i >= b.st.NumArgs() {
			return false
		}
		if a := b.st.Arg(i); a.Class != sqlparse.ClassList {
			if !count(a.Class) {
				return false
			}
			continue
		}
		for j := range b.st.NumElems(i) {
			if !count(b.st.Elem(i, j).Class) {
				return false
			}
		}
	}
	return numbers == 0 || strings == 0 && columnClass(c).kind == numberClass && c.DataType != "bit"
}
