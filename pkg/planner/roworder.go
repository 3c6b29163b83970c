package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/workspace"
)

// A server changes the rows of an UPDATE one after the other, and looks at once whether a unique key of the row is a duplicate. So
// of UPDATE t SET id = id - 1 it depends on the order of the rows whether 3 finds 2 gone already. Servers note all rows first
// where the key by which they look for them is assigned, then change them: in the order of the primary key, or that of an index by which they have found them, or as
// ORDER BY says.

// order finds the order in which one server goes through the rows, and selects by what they are ordered.
func (s *selecting) order() error {
	t := s.in.table
	if len(s.text.order) == 0 {
		for _, c := range t.Primary {
			k, ok := s.sortKey(c)
			if !ok {
				s.n.Doubt = plan.AboutTies
				break
			}
			s.n.Order = append(s.n.Order, k)
		}
		if s.b.mod.mayTakeIndex(s.b, t) {
			s.n.Doubt = plan.AboutAll
		}
	} else if err := s.orderBy(); err != nil {
		return err
	}
	if s.b.mod.update == nil {
		s.n.Doubt = plan.NoDoubt
		return nil
	}
	for _, k := range append([]catalog.Index{t.PrimaryKey()}, t.Unique...) {
		s.n.OthersAssigned = s.n.OthersAssigned || k.Global == 0 && (k.Expression() || slices.ContainsFunc(k.Columns, func(c int) bool {
			return t.Columns[c].SetByServer() || !slices.Contains(t.Distribution, c) && s.b.mod.lastAssignment(s.b, s.in, c) >= 0
		}))
	}
	return nil
}

// orderBy is order of a statement with ORDER BY.
func (s *selecting) orderBy() error {
	t := s.in.table
	named := map[int]bool{}
	for _, o := range s.b.mod.orderBy() {
		name, is := o.Expr.(*sqlparser.ColName)
		c := -1
		if is {
			c = t.Column(name.Name.String())
		}
		k, ok := plan.Order{}, false
		if c >= 0 {
			k, ok = s.sortKey(c)
		}
		if !ok {
			return sqlerr.Unsupported("UPDATE of a distribution column, or of a unique key without it, with ORDER BY of anything but columns whose order Skarv knows",
				"update the rows one by one by their keys")
		}
		k.Desc, named[c] = o.Direction == sqlparser.DescOrder, true
		s.n.Order = append(s.n.Order, k)
	}
	if slices.ContainsFunc(t.Primary, func(c int) bool { return !named[c] }) {
		s.n.Doubt = plan.AboutTies
	}
	return nil
}

// findsFirst reports whether one MariaDB server finds all rows of an UPDATE or DELETE before it writes the first one: where it deletes them, and where
// it assigns the primary key, unless it reads one row by a unique key, all of whose columns WHERE gives.
func (b *build) findsFirst(in *instance) bool {
	m, t := b.mod, in.table
	if m.del != nil {
		return true
	}
	given := func(c int) bool {
		_, ops := equals(colRef{in, c}, in.usable)
		return slices.ContainsFunc(ops, func(f fact) bool { return !f.list })
	}
	byOne := func(k catalog.Index) bool {
		return !k.Partial && !slices.ContainsFunc(k.Columns, func(c int) bool { return !given(c) })
	}
	keys := append(slices.Clone(t.Unique), t.PrimaryKey())
	return slices.ContainsFunc(t.Primary, func(c int) bool { return m.lastAssignment(b, in, c) >= 0 }) &&
		!slices.ContainsFunc(keys, byOne)
}

func (m *modification) orderBy() sqlparser.OrderBy {
	if m.update != nil {
		return m.update.OrderBy
	}
	return m.del.OrderBy
}

// sortKey selects what rows are sorted by as servers sort them by column c; ok is false if only they can.
func (s *selecting) sortKey(c int) (k plan.Order, ok bool) {
	col := &s.in.table.Columns[c]
	if !s.b.orderable(col) {
		return k, false
	}
	k = plan.Order{Weight: -1}
	switch cls := columnClass(col); cls.kind {
	case stringClass:
		k.Column, k.Collation = s.item(workspace.ReadKey(col)), cls.collation
	case bytesClass:
		k.Column, k.Collation = s.column(c, workspace.Read(col)), "binary"
	default:
		k.Column = s.column(c, workspace.Read(col))
	}
	return k, true
}

// orderable reports whether the values of a column, as workspace.Read and ReadKey select them, can be sorted as servers sort them.
func (b *build) orderable(c *catalog.Column) bool {
	switch cls := columnClass(c); cls.kind {
	case numberClass, memberClass: // of a member its number is selected
		return true
	case bytesClass:
		return c.DataType == "binary" || c.DataType == "varbinary"
	case stringClass:
		return cls.length > 0 && b.knownCollation(cls.collation)
	}
	return false
}

// mayTakeIndex reports whether one server may find the rows by an index other than the primary key, so that it comes to them
// in the index's order: WHERE speaks of the column by which one begins, or has a subquery, which may be made a join.
func (m *modification) mayTakeIndex(b *build, t *catalog.Table) bool {
	u := m.update
	if u == nil {
		return false
	}
	if hinted(b.st) || slices.ContainsFunc(u.TableExprs, func(t sqlparser.TableExpr) bool {
		from, is := t.(*sqlparser.AliasedTableExpr)
		return !is || len(from.Hints) > 0
	}) {
		return true
	}
	if u.Where == nil {
		return false
	}
	first := map[int]bool{}
	for _, k := range slices.Concat(t.Unique, t.Indexes) {
		if k.Expression() || len(k.Columns) == 0 || slices.ContainsFunc(k.Columns, func(c int) bool { return t.Columns[c].Generated }) {
			return true // an expression of WHERE may be that of the index
		}
		if n := min(len(k.Columns), len(t.Primary)); k.Lengths != nil || !slices.Equal(k.Columns[:n], t.Primary[:n]) { // else its order is that of the primary key
			first[k.Columns[0]] = true
		}
	}
	taken := false
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.Subquery:
			taken = true
		case *sqlparser.ColName:
			taken = taken || first[t.Column(n.Name.String())]
		}
		return !taken, nil
	}, u.Where)
	return taken
}
