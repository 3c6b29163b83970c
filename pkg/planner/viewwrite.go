package planner

import (
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// A write through a view of one table is a write to that table: the view's columns stand for expressions over the table's, and
// only rows that the view shows are changed. The statement is written anew, with the view's own text in its places, and then
// planned as any other: if what it writes to then is a view again, it is written anew once more. What is not sure to mean the
// same is left to the other rules, which refuse it.

// writtenView is a view that can be written through.
type writtenView struct {
	view    *catalog.Table
	base    *catalog.Table        // or another view
	columns map[string]viewColumn // by name in lower case
	names   []string              // of base's columns in the view's order; "" for an expression
	where   string                // "" if there is none
	watched map[string]bool       // base's columns that where reads, in lower case
	// joined, not nil: the view joins several tables, and base is nil.
	joined *joinedView
}

// viewColumn is what stands behind a column of a view.
type viewColumn struct {
	base string // the table's column; "" if it is an expression
	text string // as SQL
	// of is what a view of several tables calls the column's table.
	of string
}

// throughView plans a statement whose target is a view, if it can be written anew; else ok is false.
func (b *build) throughView(tree sqlparser.Statement) (ok bool, err error) {
	w, err := b.viewText(tree)
	if err != nil || w == nil {
		return false, err
	}
	b.plan.Kind = rowsKind(b.st.Kind())
	b.plan.Through = true
	return true, b.needsThrough(w.v, tree)
}

// Rewritten is a statement that writes through a view as one for the view's table.
type Rewritten struct {
	Text []byte
	// Of is the view.
	Of *catalog.Table
	// View, not empty, has a CHECK OPTION: rows that are written must fulfil Check, a condition over the table.
	View, Check string
}

// ThroughView writes a statement whose target is a view anew for the view's table. st has no parameters.
func (p *Planner) ThroughView(st *sqlparse.Statement, db string, snap *catalog.Snapshot, sess SessionInfo) (*Rewritten, error) {
	b := &build{p: p, st: st, db: db, snap: snap, sess: sess, plan: &plan.Plan{}}
	tree, _, err := p.parser.Parse(st)
	if err == nil {
		var w *viewWriter
		if w, err = b.viewText(tree); err == nil && w != nil {
			r := &Rewritten{Text: w.written, Of: w.v.view}
			if w.checks {
				r.View, r.Check = w.v.view.Database+"."+w.v.view.Name, w.v.where
			}
			return r, nil
		}
	}
	if err == nil {
		err = sqlerr.Unsupported("writing through this view", "write to its table")
	}
	return nil, sqlerr.From(err)
}

// viewText writes the statement anew; nil if that is not possible.
func (b *build) viewText(tree sqlparser.Statement) (*viewWriter, error) {
	if b.returning || b.st.Uses()&(sqlparse.Hint|sqlparse.Pipes) != 0 {
		return nil, nil
	}
	var name sqlparser.TableName
	var alias sqlparser.IdentifierCS
	switch s := tree.(type) {
	case *sqlparser.Update:
		if s.With != nil {
			return nil, nil
		}
		name, alias = oneTable(s.TableExprs)
	case *sqlparser.Delete:
		if s.With != nil || len(s.Partitions) > 0 || len(s.Targets) > 0 {
			return nil, nil
		}
		name, alias = oneTable(s.TableExprs)
	case *sqlparser.Insert:
		name, _ = s.Table.Expr.(sqlparser.TableName)
	}
	if name.IsEmpty() {
		return nil, nil
	}
	db := b.db
	if !name.Qualifier.IsEmpty() {
		db = name.Qualifier.String()
	}
	if db == "" || systemSchema(db) != userSchema || b.snap.Databases[db] == nil {
		return nil, nil
	}
	t, err := b.table(db, name.Name.String())
	if err != nil || t.Kind != catalog.View || !t.Updatable {
		return nil, nil // others have the error to tell
	}
	v := b.viewToWrite(t)
	if v == nil {
		return nil, nil
	}
	w := &viewWriter{b: b, v: v, called: t.Name}
	if !alias.IsEmpty() {
		w.called = alias.String()
	}
	if ins, ok := tree.(*sqlparser.Insert); ok {
		w.written = w.insert(ins)
	} else {
		w.written = w.modify(tree)
	}
	if w.fault != nil {
		return nil, w.fault
	}
	if w.written == nil {
		return nil, nil
	}
	return w, w.readsOtherwise()
}

func oneTable(exprs []sqlparser.TableExpr) (name sqlparser.TableName, alias sqlparser.IdentifierCS) {
	if len(exprs) != 1 {
		return name, alias
	}
	e, ok := exprs[0].(*sqlparser.AliasedTableExpr)
	if !ok || len(e.Partitions) > 0 || len(e.Hints) > 0 {
		return name, alias
	}
	name, _ = e.Expr.(sqlparser.TableName)
	return name, e.As
}

// viewToWrite is the view t as it is written through; nil if it cannot be.
func (b *build) viewToWrite(t *catalog.Table) *writtenView {
	if v := b.writtenView(t); v != nil {
		return v
	}
	return b.joinedView(t)
}

// writtenView takes a view apart; nil if it is more than columns and conditions of one table.
func (b *build) writtenView(t *catalog.Table) *writtenView {
	tree, err := b.p.parser.ParseText(b.st.Dialect(), t.ViewText)
	sel, ok := tree.(*sqlparser.Select)
	if err != nil || !ok || sel.With != nil || sel.Distinct || sel.GroupBy != nil || sel.Having != nil || len(sel.OrderBy) > 0 ||
		sel.Limit != nil || len(sel.Windows) > 0 || hasSubquery(sel) {
		return nil
	}
	name, alias := oneTable(sel.From)
	if name.IsEmpty() || !alias.IsEmpty() && alias.String() != name.Name.String() {
		return nil
	}
	db := t.Database
	if !name.Qualifier.IsEmpty() {
		db = name.Qualifier.String()
	}
	base := b.snap.Table(db, name.Name.String())
	if base == nil || base.Temporary != "" || base.Kind == catalog.View && (!base.Updatable || t.CheckOption != "") {
		return nil // a check option may be about rows of the views below, too
	}
	st := b.st.Dialect().NewStatement()
	if st.Scan([]byte(t.ViewText), 0) != nil {
		return nil
	}
	items := st.SelectItems(nil)
	list := sel.SelectExprs.Exprs
	clauses, ok := st.Clauses()
	if !ok || len(items) != len(list) || len(items) != len(t.Columns) {
		return nil
	}
	v := &writtenView{view: t, base: base, columns: map[string]viewColumn{}, watched: map[string]bool{}}
	for i, e := range list {
		a, ok := e.(*sqlparser.AliasedExpr)
		if !ok || items[i].Star {
			return nil
		}
		if _, ok := a.Expr.(*sqlparser.CollateExpr); ok {
			return nil // servers write through it
		}
		c := viewColumn{text: "(" + string(st.Text(items[i].Expr)) + ")"}
		if col, ok := a.Expr.(*sqlparser.ColName); ok {
			at := base.Column(col.Name.String())
			if at < 0 {
				return nil
			}
			c.base = base.Columns[at].Name
			c.text = base.SQL() + "." + sqltypes.QuoteName(c.base)
		}
		v.names = append(v.names, c.base)
		v.columns[strings.ToLower(t.Columns[i].Name)] = c
	}
	if len(v.columns) != len(t.Columns) {
		return nil
	}
	if sel.Where != nil {
		if clauses.Where < 0 {
			return nil
		}
		v.where = strings.TrimSpace(t.ViewText[clauses.Where+len("WHERE"):])
		for name := range namedIn(sel.Where) {
			v.watched[name] = true
		}
	}
	return v
}

// namedIn counts the columns that a node names, by name in lower case.
func namedIn(nodes ...sqlparser.SQLNode) map[string]int {
	out := map[string]int{}
	for _, n := range nodes {
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			if c, ok := n.(*sqlparser.ColName); ok {
				out[c.Name.Lowered()]++
			}
			return true, nil
		}, n)
	}
	return out
}

// viewWriter writes one statement anew.
type viewWriter struct {
	b      *build
	v      *writtenView
	called string // how the statement calls the view
	edits  []viewEdit
	fault  *sqlerr.Error // what one server says of the statement
	// written is the statement anew; checks: the rows that it writes may be none that the view shows, which its CHECK OPTION forbids.
	written []byte
	checks  bool
	// parts of the view's text stand in it, or are looked at behind it: each as a SELECT.
	parts []string
}

type viewEdit struct {
	span sqlparse.Span
	text string
}

func (w *viewWriter) takesWhere() {
	if w.v.where != "" {
		w.parts = append(w.parts, "SELECT 1 FROM t WHERE "+w.v.where)
	}
}

func (w *viewWriter) table() string {
	if w.v.joined != nil {
		return w.v.joined.from
	}
	return w.v.base.SQL()
}

// modify writes an UPDATE or DELETE.
func (w *viewWriter) modify(tree sqlparser.Statement) []byte {
	st := w.b.st
	if hasSubquery(tree) {
		return nil
	}
	var assigned []string
	var nodes []sqlparser.SQLNode
	switch s := tree.(type) {
	case *sqlparser.Update:
		if w.v.joined != nil && (s.OrderBy != nil || s.Limit != nil) {
			return nil
		}
		for i, e := range s.Exprs {
			c, ok := w.v.columns[e.Name.Name.Lowered()]
			if ok && c.base == "" {
				w.fault = sqlerr.ColumnNotUpdatable.New(e.Name.Name.String())
			}
			if !ok || c.base == "" || slices.Contains(assigned, c.base) {
				return nil
			}
			if i > 0 && c.of != w.v.columns[s.Exprs[0].Name.Name.Lowered()].of {
				w.fault = w.severalTables()
				return nil
			}
			assigned = append(assigned, c.base)
			nodes = append(nodes, e)
		}
		if s.Where != nil {
			nodes = append(nodes, s.Where)
		}
		nodes = append(nodes, s.OrderBy)
	case *sqlparser.Delete:
		if w.v.joined != nil {
			return nil // servers have an error to tell
		}
		if s.Where != nil {
			nodes = append(nodes, s.Where)
		}
		nodes = append(nodes, s.OrderBy)
	}
	w.checks = w.v.view.CheckOption != "" && w.v.where != "" && len(assigned) > 0 && !w.keepsShown(assigned)
	cuts, ok := w.b.clauses()
	refs, sure := st.Tables()
	if !ok || !sure || len(refs) != 1 {
		return nil
	}
	// The table's name, and the alias behind it.
	end := refs[0].End
	toks := st.TokensFrom(refs[0].End)
	for tok := toks.Next(); tok.Kind != sqlparse.EOF; tok = toks.Next() {
		if tok.Kind != sqlparse.QuotedName && (st.Is(tok, "SET") || st.Is(tok, "WHERE") || st.Is(tok, "ORDER") || st.Is(tok, "LIMIT")) {
			break
		}
		end = tok.End
	}
	w.edits = append(w.edits, viewEdit{sqlparse.Span{Start: refs[0].Start, End: end}, w.table()})
	w.parts = append(w.parts, "SELECT 1 FROM "+w.table())
	w.takesWhere()
	if !w.names(end, namedIn(nodes...)) {
		return nil
	}
	if w.v.where != "" {
		stop := refs[0].End // of the last token
		rest := st.TokensFrom(refs[0].End)
		for tok := rest.Next(); tok.Kind != sqlparse.EOF; tok = rest.Next() {
			stop = tok.End
		}
		for _, at := range []int{cuts.Limit.Start, cuts.Order} {
			if at > refs[0].Start && at > cuts.Where {
				stop = min(stop, at)
			}
		}
		if cuts.Where >= 0 {
			at := cuts.Where + len("WHERE")
			w.edits = append(w.edits, viewEdit{sqlparse.Span{Start: at, End: at}, " (" + w.v.where + ") AND ("},
				viewEdit{sqlparse.Span{Start: stop, End: stop}, ") "})
		} else {
			w.edits = append(w.edits, viewEdit{sqlparse.Span{Start: stop, End: stop}, " WHERE " + w.v.where + " "})
		}
	}
	return w.text()
}

// keepsShown reports whether rows that get other values in the columns are shown by the view as before: then the check
// option has nothing to find.
func (w *viewWriter) keepsShown(assigned []string) bool {
	base := w.v.base
	for name := range w.v.watched {
		c := base.Column(name)
		if c < 0 || slices.Contains(assigned, base.Columns[c].Name) || base.Columns[c].OnUpdate || base.Columns[c].Generated ||
			base.TriggerSets("UPDATE", c) || base.HasPrograms("UPDATE") {
			return false
		}
	}
	return true
}

// names puts the table's columns in the places of the view's from offset at on. counts are the names as the tree has them:
// if the text has another number, something else than a column is called so, and the answer is false.
func (w *viewWriter) names(at int, counts map[string]int) bool {
	st := w.b.st
	for name := range counts {
		if _, ok := w.v.columns[name]; !ok {
			return false
		}
	}
	found := map[string]int{}
	var last [4]sqlparse.Token // database . view .
	toks := st.TokensFrom(at)
	for tok := toks.Next(); tok.Kind != sqlparse.EOF; tok = toks.Next() {
		ahead := toks
		next := ahead.Next()
		name := strings.ToLower(string(st.AppendName(nil, tok)))
		c, ok := w.v.columns[name]
		if ok && (tok.Kind == sqlparse.Word || tok.Kind == sqlparse.QuotedName) && counts[name] > 0 &&
			!st.Is(next, ".") && !st.Is(next, "(") && !st.Is(last[3], "AS") {
			span := tok.Span
			if st.Is(last[3], ".") {
				fold := w.b.snap.LowerCaseTableNames != 0
				if !sameName(string(st.AppendName(nil, last[2])), w.called, fold) {
					return false
				}
				span.Start = last[2].Start
				if st.Is(last[1], ".") {
					if !sameName(string(st.AppendName(nil, last[0])), w.v.view.Database, fold) {
						return false
					}
					span.Start = last[0].Start
				}
			}
			found[name]++
			w.edits = append(w.edits, viewEdit{span, c.text})
			w.parts = append(w.parts, "SELECT "+c.text)
		}
		last = [4]sqlparse.Token{last[1], last[2], last[3], tok}
	}
	for name, n := range counts {
		if found[name] != n {
			return false
		}
	}
	return true
}

// insert writes an INSERT or REPLACE.
func (w *viewWriter) insert(s *sqlparser.Insert) []byte {
	st, v := w.b.st, w.v
	text, ok := st.InsertText()
	if !ok || len(s.OnDup) > 0 && !w.keepsDuplicates(s) || len(s.Partitions) > 0 || text.Set {
		return nil
	}
	base := v.base
	if v.joined != nil {
		if base = w.insertTarget(s); base == nil {
			return nil
		}
	}
	if w.checks = v.view.CheckOption != "" && v.where != ""; w.checks {
		w.takesWhere()
	}
	if rows, ok := s.Rows.(sqlparser.Values); ok {
		for _, r := range rows {
			if len(namedIn(r)) > 0 || hasSubquery(r) {
				return nil
			}
		}
	}
	// Servers insert through views that show columns only, each once, and all that need a value.
	shown := map[string]bool{}
	for _, c := range v.columns {
		if c.base == "" || shown[c.of+"."+c.base] {
			return nil
		}
		shown[c.of+"."+c.base] = true
	}
	of := ""
	if v.joined != nil {
		of = v.columns[s.Columns[0].Lowered()].of
	}
	for c := range base.Columns {
		col := &base.Columns[c]
		hidden := base.HiddenKey && col.Name == catalog.HiddenKey
		if base.Kind != catalog.View && !shown[of+"."+col.Name] && !hidden && (c == base.AutoIncrement || !col.HasDefault && !col.Generated) {
			return nil
		}
	}
	w.edits = append(w.edits, viewEdit{text.Table.Span, base.SQL()})
	if text.NumColumns == 0 {
		list := make([]string, len(v.names))
		for i, name := range v.names {
			list[i] = sqltypes.QuoteName(name)
		}
		at := text.Columns
		if !text.HasColumns {
			at = sqlparse.Span{Start: text.At, End: text.At}
		}
		w.edits = append(w.edits, viewEdit{at, " (" + strings.Join(list, ", ") + ")"})
		return w.text()
	}
	lower := w.b.snap.LowerCaseTableNames != 0
	for _, named := range st.InsertColumns(text) {
		n := len(named.Names)
		c, ok := v.columns[strings.ToLower(named.Names[n-1])]
		if n > 1 && !sameName(v.view.Name, named.Names[n-2], lower) || n > 2 && !sameName(v.view.Database, named.Names[n-3], lower) {
			w.fault = sqlerr.UnknownColumn.New(strings.Join(named.Names, "."), insertList(w.b.snap.Flavor))
			return nil
		}
		if !ok {
			return nil
		}
		w.edits = append(w.edits, viewEdit{named.Span, sqltypes.QuoteName(c.base)})
	}
	return w.text()
}

// keepsDuplicates reports whether ON DUPLICATE KEY UPDATE says the same of the table as of the view, which shows all rows, by the names that the
// table's columns have.
func (w *viewWriter) keepsDuplicates(s *sqlparser.Insert) bool {
	v := w.v
	if v.joined != nil || v.where != "" {
		return false
	}
	for name, c := range v.columns {
		if !strings.EqualFold(name, c.base) {
			return false
		}
	}
	alias, given := "", map[string]bool{}
	if s.RowAlias != nil {
		alias = s.RowAlias.TableName.String()
		for _, c := range s.RowAlias.Columns {
			given[c.Lowered()] = true
		}
	}
	known := true
	for _, u := range s.OnDup {
		_, shown := v.columns[u.Name.Name.Lowered()]
		known = known && shown && u.Name.Qualifier.IsEmpty()
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			switch n := n.(type) {
			case *sqlparser.ColName:
				_, shown := v.columns[n.Name.Lowered()]
				q := n.Qualifier
				switch {
				case q.IsEmpty():
					known = known && (shown != given[n.Name.Lowered()]) // else it is not clear which is meant
				case len(given) > 0:
					known = known && q.Qualifier.IsEmpty() && q.Name.String() == alias && given[n.Name.Lowered()]
				default:
					known = known && q.Qualifier.IsEmpty() && q.Name.String() == alias && shown
				}
			case *sqlparser.Subquery:
				known = false
			}
			return known, nil
		}, u.Expr)
	}
	return known
}

// text is the statement with the edits.
func (w *viewWriter) text() []byte {
	slices.SortStableFunc(w.edits, func(a, b viewEdit) int { return a.span.Start - b.span.Start })
	sql, out, at := w.b.st.SQL(), []byte(nil), 0
	for _, e := range w.edits {
		if e.span.Start < at {
			return nil
		}
		out = append(append(out, sql[at:e.span.Start]...), e.text...)
		at = e.span.End
	}
	return append(out, sql[at:]...)
}
