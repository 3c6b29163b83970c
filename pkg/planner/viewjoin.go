package planner

import (
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// Through a view that joins tables servers write to one of them: an UPDATE is one of the join, an INSERT one of the table whose
// columns it names.

// joinedView is what is behind a view of several tables.
type joinedView struct {
	from   string                    // of the view's text
	tables map[string]*catalog.Table // by what the view calls them
	inner  bool                      // all joins are inner ones
}

// joinedView takes a view apart that joins tables; nil if it is more than that.
func (b *build) joinedView(t *catalog.Table) *writtenView {
	tree, err := b.p.parser.ParseText(b.st.Dialect(), t.ViewText)
	sel, ok := tree.(*sqlparser.Select)
	if err != nil || !ok || t.CheckOption != "" || sel.With != nil || sel.Distinct || sel.GroupBy != nil || sel.Having != nil || len(sel.OrderBy) > 0 ||
		sel.Limit != nil || len(sel.Windows) > 0 || hasSubquery(sel) {
		return nil
	}
	v := &writtenView{view: t, columns: map[string]viewColumn{}, watched: map[string]bool{},
		joined: &joinedView{tables: map[string]*catalog.Table{}, inner: true}}
	for _, e := range sel.From {
		if !b.joins(v.joined, e) {
			return nil
		}
	}
	st := b.st.Dialect().NewStatement()
	defer st.Done()
	if st.Scan([]byte(t.ViewText), 0) != nil {
		return nil
	}
	clauses, ok := st.Clauses()
	items := st.SelectItems(nil)
	list := sel.SelectExprs.Exprs
	if !ok || clauses.From < 0 || len(items) != len(list) || len(items) != len(t.Columns) || (sel.Where != nil) != (clauses.Where >= 0) {
		return nil
	}
	end := len(t.ViewText)
	if clauses.Where >= 0 {
		end = clauses.Where
		v.where = "(" + strings.TrimSpace(t.ViewText[clauses.Where+len("WHERE"):]) + ")"
	}
	v.joined.from = strings.TrimSpace(t.ViewText[clauses.From+len("FROM") : end])
	for i, e := range list {
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok || items[i].Star {
			return nil
		}
		c := viewColumn{text: "(" + string(st.Text(items[i].Expr)) + ")"}
		switch expr := a.Expr.(type) {
		case *sqlparser.CollateExpr:
			return nil // servers write through it
		case *sqlparser.ColName:
			base := v.joined.tables[expr.Qualifier.Name.String()]
			if base == nil {
				return nil
			}
			at := base.Column(expr.Name.String())
			if at < 0 {
				return nil
			}
			c.base, c.of, c.text = base.Columns[at].Name, expr.Qualifier.Name.String(), string(st.Text(items[i].Expr))
		}
		v.names = append(v.names, c.base)
		v.columns[strings.ToLower(t.Columns[i].Name)] = c
	}
	if len(v.columns) != len(t.Columns) || len(v.joined.tables) < 2 {
		return nil
	}
	return v
}

// joins notes the tables of a FROM clause; false if there is something else, or two of one name.
func (b *build) joins(j *joinedView, e sqlparser.TableExpr) bool {
	switch e := e.(type) {
	case *sqlparser.JoinTableExpr:
		switch e.Join {
		case sqlparser.NormalJoinType, sqlparser.StraightJoinType:
		case sqlparser.LeftJoinType, sqlparser.RightJoinType:
			j.inner = false
		default:
			return false
		}
		return b.joins(j, e.LeftExpr) && b.joins(j, e.RightExpr)
	case *sqlparser.ParenTableExpr:
		for _, in := range e.Exprs {
			if !b.joins(j, in) {
				return false
			}
		}
		return true
	case *sqlparser.AliasedTableExpr:
		name, ok := e.Expr.(sqlparser.TableName)
		if !ok || name.Qualifier.IsEmpty() || len(e.Partitions) > 0 || len(e.Hints) > 0 {
			return false
		}
		base, err := b.table(name.Qualifier.String(), name.Name.String())
		if err != nil || base.Kind == catalog.View || base.Temporary != "" {
			return false
		}
		as := e.As.String()
		if as == "" {
			as = name.Name.String()
		}
		if j.tables[as] != nil {
			return false
		}
		j.tables[as] = base
		return true
	}
	return false
}

// severalTables is the servers' error for a statement that would write to several tables of a view.
func (w *viewWriter) severalTables() *sqlerr.Error {
	t := w.v.view
	name := "'" + t.Database + "." + t.Name + "'"
	return sqlerr.JoinViewManyTables.New(name)
}

// insertTarget is the table of the view that an INSERT names columns of; nil if it names others, or none, of which servers have an
// error to tell.
func (w *viewWriter) insertTarget(s *sqlparser.Insert) *catalog.Table {
	j := w.v.joined
	if len(s.Columns) == 0 || !j.inner || w.b.st.Kind() != sqlparse.Insert {
		return nil
	}
	of := w.v.columns[s.Columns[0].Lowered()].of
	for _, c := range s.Columns {
		if x, ok := w.v.columns[c.Lowered()]; !ok || x.of != of {
			return nil
		}
	}
	return j.tables[of]
}
