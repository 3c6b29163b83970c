package planner

import (
	"slices"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
)

// cascadeReads refuses an UPDATE or DELETE that reads, by a join or a subquery, rows that its own cascades take away or change. A server deletes
// rows while it still looks for others, or finds all of them first, and so reads such rows as they were or as they have become: by its plan. It
// does not matter where a row of the other table is read for the row alone that it refers to.
func (b *build) cascadeReads() error {
	if b.sess.Unchecked {
		return nil
	}
	w, copies := b.plan.Root.(*plan.Workspace)
	if _, changes := b.plan.Root.(*plan.ChangeRows); !changes && (!copies || !w.Write || w.Stage != nil) {
		if _, rows := b.plan.Root.(*plan.RowByRow); !rows || b.mod == nil {
			return nil
		}
	}
	refuse := func(t, child *catalog.Table) error {
		return sqlerr.Unsupported("a write to table '"+t.Name+"' that reads table '"+child.Name+"', whose rows foreign keys change with those of '"+t.Name+
			"', over several node groups: what a server reads there depends on its plan", "select the keys first, then list them")
	}
	if m := b.mod; m != nil && m.analysed {
		for _, in := range m.written {
			for _, r := range b.cascadesOf(in.table, m.update == nil, m.changed(b, in), nil) {
				for _, read := range b.a.insts {
					if read != in && read.table == r.Child && (r.deletes || m.names(r)) && !oneRow(read) && !m.readsOwn(b, in, read, &r.Relation) {
						return refuse(in.table, r.Child)
					}
				}
				if slices.Contains(b.reads, r.Child) || slices.Contains(b.a.behind, r.Child) {
					return refuse(in.table, r.Child)
				}
			}
		}
		return nil
	}
	if !copies {
		return nil
	}
	var read []*catalog.Table
	for _, c := range slices.Concat(w.Copies, w.Local) {
		if c.Written == nil {
			read = append(read, c.Table)
		}
	}
	read = b.opened(read)
	for _, c := range w.Copies {
		if c.Written == nil {
			continue
		}
		for _, r := range b.cascadesOf(c.Table, b.plan.Kind == plan.Delete, everyColumn(c.Table), nil) {
			if slices.Contains(read, r.Child) {
				return refuse(c.Table, r.Child)
			}
		}
	}
	return nil
}

// cascading is a foreign key by which rows go (deletes), or get other values in its columns.
type cascading struct {
	catalog.Relation
	deletes bool
}

// cascadesOf are the foreign keys by which rows go or are changed when rows of t go, or columns of theirs change; above has those found before.
func (b *build) cascadesOf(t *catalog.Table, gone bool, columns []int, above []cascading) []cascading {
	if t == nil {
		return above
	}
	_, children, _ := b.snap.Relations(t)
	for i := range children {
		r := &children[i]
		deletes := gone && r.Key.OnDelete == "CASCADE"
		writes := gone && r.Key.OnDelete == "SET NULL" || catalog.Cascades(r.Key.OnUpdate) && common(r.ParentColumns(), columns)
		if !deletes && !writes || slices.ContainsFunc(above, func(o cascading) bool { return o.Key == r.Key && o.deletes == deletes }) {
			continue
		}
		var written []int
		if writes {
			written = r.Key.Columns
		}
		above = b.cascadesOf(r.Child, deletes, written, append(above, cascading{*r, deletes}))
	}
	return above
}

// names reports whether what chooses the rows of the statement names columns that r writes.
func (m *modification) names(r cascading) bool {
	nodes := []sqlparser.SQLNode{m.scope.where}
	if m.update != nil {
		nodes = append(nodes, sqlparser.TableExprs(m.update.TableExprs))
		for _, s := range m.scope.subs { // in SET, too
			nodes = append(nodes, s.q.stmt)
		}
	} else {
		nodes = append(nodes, sqlparser.TableExprs(m.del.TableExprs))
	}
	found := false
	for _, n := range nodes {
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			switch n := n.(type) {
			case *sqlparser.StarExpr:
				found = true
			case *sqlparser.JoinTableExpr:
				found = found || n.Condition != nil && len(n.Condition.Using) > 0 || n.Join >= sqlparser.NaturalJoinType
			case *sqlparser.ColName:
				found = found || slices.Contains(r.Key.Columns, r.Child.Column(n.Name.String()))
			}
			return !found, nil
		}, n)
	}
	return found
}

// oneRow reports whether the statement reads one row of in at most.
func oneRow(in *instance) bool {
	for _, c := range in.table.Primary {
		_, ops := equals(colRef{in, c}, in.usable)
		if !slices.ContainsFunc(ops, func(f fact) bool { return !f.list }) {
			return false
		}
	}
	return len(in.table.Primary) > 0
}

// readsOwn reports whether rows of read, which refer by r to rows of in, are read for these alone.
func (m *modification) readsOwn(b *build, in, read *instance, r *catalog.Relation) bool {
	if r.Parent != in.table {
		return false
	}
	parents := r.ParentColumns()
	own := func(i int) bool {
		return among(colRef{read, r.Key.Columns[i]}, []colRef{{in, parents[i]}}, read.usable)
	}
	for i := range parents {
		if !own(i) {
			return len(parents) == 1 && m.readsWithout(b, colRef{in, parents[0]}, colRef{read, r.Key.Columns[0]})
		}
	}
	return true
}

// readsWithout reports whether WHERE has "parent NOT IN (SELECT child ...)": then no row of the other table refers to one that is chosen.
func (m *modification) readsWithout(b *build, parent, child colRef) (found bool) {
	if m.scope.where == nil {
		return false
	}
	conjuncts(m.scope.where.Expr, func(e sqlparser.Expr) {
		c, ok := e.(*sqlparser.ComparisonExpr)
		if !ok || c.Operator != sqlparser.NotInOp {
			return
		}
		name, plain := c.Left.(*sqlparser.ColName)
		sub, reads := c.Right.(*sqlparser.Subquery)
		if !plain || !reads || m.scope.resolve(name, b.a.lower) != parent {
			return
		}
		for _, s := range m.scope.subs {
			found = found || s.q.stmt == sub.Select && s.q.known && len(s.q.columns) == 1 && s.q.columns[0].ref == child
		}
	})
	return found
}
