package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// duplicateUpdate reports whether ON DUPLICATE KEY UPDATE can be computed by the group of a row of the stage, which knows the row
// of t that is there and the new one, but not what the query read: whether it speaks of columns of t only, leaves the
// distribution key as it is, or may give it what the new row has, and assigns no variables. A column of the query that is inserted unchanged into a column of t
// is what the new row has there: tail is the clause with VALUES(column) in such places, nil if there are none. For the queries of asked, not nil,
// it has their values.
func (b *build) duplicateUpdate(t *catalog.Table, asked *askings) (tail plan.Text, ok bool) {
	in := b.ins
	if in == nil || b.plan.Uses&plan.WritesUserVariable != 0 {
		return nil, false
	}
	alias := ""
	if in.stmt.RowAlias != nil {
		if alias = in.stmt.RowAlias.TableName.String(); len(in.stmt.RowAlias.Columns) > 0 {
			return nil, false
		}
	}
	if slices.ContainsFunc(t.Distribution, in.changes) && !b.mayRename() {
		return nil, false
	}
	ok = true
	var brought []broughtColumn
	for _, u := range in.stmt.OnDup {
		if t.Column(u.Name.Name.String()) < 0 {
			return nil, false
		}
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			switch n := n.(type) {
			case *sqlparser.ColName:
				q := n.Qualifier.Name.String()
				if q == "" && t.Column(n.Name.String()) >= 0 || sameName(q, t.Name, b.snap.LowerCaseTableNames != 0) || alias != "" && q == alias {
					break
				}
				c, found := b.broughtBy(n)
				ok = ok && found
				brought = append(brought, c)
			case *sqlparser.ValuesFuncExpr: // of a column of t, whatever the query has
				q := n.Name.Qualifier.Name.String()
				ok = ok && t.Column(n.Name.Name.String()) >= 0 && (q == "" || sameName(q, t.Name, b.snap.LowerCaseTableNames != 0))
				return false, nil
			case *sqlparser.Subquery:
				ok = ok && asked != nil
				return false, nil
			}
			return ok, nil
		}, u.Expr)
	}
	switch {
	case ok && asked != nil:
		return asked.tail(b.ins.text.OnDuplicate), len(brought) == 0
	case !ok || len(brought) == 0:
		return nil, ok
	}
	return b.broughtText(brought)
}

// broughtColumn is a column of the query, as the text names it, and the column of the target that it is inserted into.
type broughtColumn struct {
	name []string // with its qualifiers
	into string
}

// broughtBy finds the column of the target that holds, in every new row, just what name means in the query.
func (b *build) broughtBy(name *sqlparser.ColName) (c broughtColumn, ok bool) {
	in := b.ins
	if in.query == nil || !in.query.known || in.query.block == nil || in.table.FiresAny() {
		return c, false
	}
	blk := in.query.block
	if blk.sel == nil || blk.aggregated || blk.sel.GroupBy != nil || blk.sel.Distinct || len(in.query.columns) != len(in.columns) {
		return c, false
	}
	ref := blk.resolve(name, b.a.lower)
	if !ref.ok() {
		return c, false
	}
	for at, col := range in.columns {
		into := &in.table.Columns[col]
		if in.query.columns[at].ref != ref || col == in.sequence || !keeps(ref.column(), into) ||
			!into.Nullable && (ref.column().Nullable || !slices.Contains(preserved(blk.tree), ref.inst)) {
			continue
		}
		for _, q := range []string{name.Qualifier.Qualifier.String(), name.Qualifier.Name.String()} {
			if q != "" {
				c.name = append(c.name, q)
			}
		}
		c.name, c.into = append(c.name, name.Name.String()), into.Name
		return c, true
	}
	return c, false
}

// keeps reports whether a value of one column is the same, and of the same kind, once stored in the other: the types are the same,
// or integers of which the second one is wider.
func keeps(from, to *catalog.Column) bool {
	if from.ColumnType == to.ColumnType && from.DataType == to.DataType && from.Collation == to.Collation {
		return true
	}
	widths := []string{"tinyint", "smallint", "mediumint", "int", "bigint"}
	narrow, wide := slices.Index(widths, from.DataType), slices.Index(widths, to.DataType)
	return narrow >= 0 && narrow <= wide && containsFold(from.ColumnType, "unsigned") == containsFold(to.ColumnType, "unsigned") &&
		!containsFold(from.ColumnType+to.ColumnType, "zerofill")
}

// broughtText is the clause with the columns of the query replaced; ok is false if the text does not name them as often as the
// tree.
func (b *build) broughtText(brought []broughtColumn) (tail plan.Text, ok bool) {
	text, _ := b.st.InsertText()
	e := &editor{st: b.st}
	from, replaced := text.OnDuplicate, 0
	for toks := b.st.TokensFrom(text.OnDuplicate); ; {
		first := toks.Next()
		if first.Kind == sqlparse.EOF {
			break
		}
		if !isName(first) {
			continue
		}
		chain, end := []string{string(b.st.AppendName(nil, first))}, first.End
		ahead := toks
		next := ahead.Next()
		for b.st.Is(next, ".") && next.Kind == sqlparse.Op {
			part := ahead.Next()
			if !isName(part) {
				return nil, false
			}
			chain, end = append(chain, string(b.st.AppendName(nil, part))), part.End
			toks = ahead
			next = ahead.Next()
		}
		if next.Kind == sqlparse.Op && b.st.Is(next, "(") { // a function
			continue
		}
		if i := slices.IndexFunc(brought, func(c broughtColumn) bool { return slices.Equal(c.name, chain) }); i >= 0 {
			e.span(from, first.Start)
			e.raw("VALUES(" + sqltypes.QuoteName(brought[i].into) + ")")
			from = end
			replaced++
		}
	}
	e.span(from, len(b.st.SQL()))
	return e.done(), replaced == len(brought)
}

func isName(t sqlparse.Token) bool {
	return t.Kind == sqlparse.Word || t.Kind == sqlparse.QuotedName
}
