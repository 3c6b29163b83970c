package planner

import (
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/function"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// insertion is an INSERT or REPLACE while it is planned.
type insertion struct {
	stmt  *sqlparser.Insert
	table *catalog.Table
	text  sqlparse.InsertText
	// columns are the table's columns in the order of the values.
	columns []int
	// sequence is the column the cluster's sequence fills, or -1.
	sequence int
	query    *query // INSERT ... SELECT
	// analysed: all of the statement has been looked at.
	analysed bool
}

// insertRules is the list for INSERT and REPLACE.
func insertRules() []Rule {
	return []Rule{
		{"InsertTarget", `Finds the table and which column each value is for.`, insertTarget},
		{"RowByRow", rowByRowDoc, insertRowByRow},
		{"InsertSingle", `All rows of the table lie on one group, which also counts its AUTO_INCREMENT. What the values or
the SELECT read must be there too.`, insertSingle},
		{"KeepKey", `ON DUPLICATE KEY UPDATE must leave the distribution key as it is: the changed row could belong to
another group. Where rows are written one by one, it may give the row that is met the key of the new one.`, keepKey},
		{"InsertReference", `Every group does the same to its copy. That is the same only if every value is: no RAND(), no
AUTO_INCREMENT counted by each server for itself; times are fixed for all groups (ReadsClock).`, insertReference},
		{"InsertIndexed", `The table has global indexes: every row needs entries, for which its values must be known. Only rows that the
statement writes itself are.`, insertIndexed},
		{"InsertSelectLocal", `Each row the SELECT finds belongs where it was found: the values of the distribution key are the
distribution key of the source, unchanged by conversion since the columns have the same type. And the SELECT is the
sum of the groups' results.`, insertSelectLocal},
		{"InsertSelectByKey", `The distribution key has the same value in all rows, and what the SELECT reads lies in the group of
that value, or everywhere.`, insertSelectByKey},
		{"InsertRows", `Each row goes to the group of its key. Rows are independent of one another: a unique key that does not
contain the distribution key is not one the servers enforce.`, insertRows},
	}
}

func insertTarget(b *build) (bool, error) {
	in := b.ins
	text, ok := b.st.InsertText()
	if !ok {
		return false, sqlerr.Unsupported("an INSERT of this form", "write INSERT INTO t (columns) VALUES (...)")
	}
	in.text = text
	t, err := b.writeTarget(in.stmt.Table.Expr)
	if err != nil {
		return false, err
	}
	in.table = t
	if len(in.stmt.Partitions) > 0 {
		return false, sqlerr.Unsupported("INSERT ... PARTITION (...)", "leave the clause out")
	}
	if b.a == nil {
		b.analysis()
	}
	switch rows := in.stmt.Rows.(type) {
	case sqlparser.Values:
		if err := b.valuesExpressions(rows); err != nil {
			return false, err
		}
	case sqlparser.TableStatement:
		a := b.a
		if in.query, err = a.query(rows, nil, b.db); err != nil {
			return false, err
		}
		a.spread(in.query, nil, true)
		b.query = in.query
	}
	if err := b.onDuplicate(); err != nil {
		return false, err
	}
	if b.a.system || b.a.virtual {
		return false, sqlerr.Unsupported("INSERT ... SELECT from system tables", "select first, then insert the rows")
	}
	if readsClock(t) || t.FiresVolatile("INSERT", "UPDATE", "DELETE") {
		b.plan.Uses |= plan.ReadsClock
	}
	if err := in.findColumns(b); err != nil {
		return false, err
	}
	in.analysed = true
	return false, nil
}

// writeTarget resolves a table that is written to.
func (b *build) writeTarget(e sqlparser.SimpleTableExpr) (*catalog.Table, error) {
	name, ok := e.(sqlparser.TableName)
	if !ok {
		return nil, sqlerr.Unsupported("writing to a derived table", "name the table")
	}
	db := b.db
	if !name.Qualifier.IsEmpty() {
		db = name.Qualifier.String()
	}
	if db == "" {
		return nil, sqlerr.NoDatabase.New()
	}
	if systemSchema(db) != userSchema {
		return nil, sqlerr.Unsupported("writing to the database "+db, "use SQL statements or skarvctl made for the purpose")
	}
	t, err := b.table(db, name.Name.String())
	if err != nil {
		return nil, err
	}
	b.needs(t, b.writes())
	if t.Kind == catalog.View {
		return nil, sqlerr.Unsupported("writing through the view '"+t.Name+"'", "write to its table")
	}
	return t, nil
}

// readsClock reports whether a written row may take the time from a default.
func readsClock(t *catalog.Table) bool {
	for i := range t.Columns {
		c := &t.Columns[i]
		d := strings.ToLower(c.Default)
		if c.OnUpdate || c.HasDefault && (strings.Contains(d, "current_timestamp") || strings.Contains(d, "now(") ||
			strings.Contains(d, "curdate") || strings.Contains(d, "curtime")) {
			return true
		}
	}
	return false
}

// volatileDefault reports whether a default of t gives each copy of a row another value.
func volatileDefault(t *catalog.Table) bool {
	for i := range t.Columns {
		words := strings.FieldsFunc(strings.ToLower(t.Columns[i].Default), func(r rune) bool {
			return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
		})
		if t.Columns[i].HasDefault && slices.ContainsFunc(words, function.Volatile) {
			return true
		}
	}
	return false
}

// valuesExpressions looks at what stands in VALUES.
func (b *build) valuesExpressions(rows sqlparser.Values) error {
	scope := &block{}
	for _, row := range rows {
		for _, v := range row {
			if err := b.scalar(scope, v); err != nil {
				return err
			}
		}
	}
	b.spreadSubs(scope)
	return nil
}

// spreadSubs hands facts to the subqueries of expressions outside of a SELECT.
func (b *build) spreadSubs(scope *block) {
	for _, s := range scope.subs {
		b.a.spread(s.q, scope.facts, false)
	}
}

// scalar looks at an expression outside of a SELECT.
func (b *build) scalar(scope *block, e sqlparser.Expr) error {
	switch e.(type) {
	case *sqlparser.Argument, *sqlparser.Literal, *sqlparser.NullVal:
		return nil
	}
	w := walker{a: b.a, b: scope, db: b.db}
	return w.walk(e, false)
}

func (b *build) onDuplicate() error {
	scope := &block{}
	for _, u := range b.ins.stmt.OnDup {
		if err := b.scalar(scope, u.Expr); err != nil {
			return err
		}
	}
	if len(scope.subs) > 0 {
		b.spreadSubs(scope)
	}
	return b.ambiguous()
}

// ambiguous is MariaDB's error for a name in ON DUPLICATE KEY UPDATE that the query of an INSERT has, too: without a table, or with that of the
// INSERT, which the query reads by the same name.
func (b *build) ambiguous() (err error) {
	in := b.ins
	if b.snap.Flavor != catalog.MariaDB || in.query == nil || in.query.block == nil || in.query.block.aggregated || in.query.block.sel == nil || in.query.block.sel.GroupBy != nil {
		return nil
	}
	for _, u := range in.stmt.OnDup {
		_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
			switch n := n.(type) {
			case *sqlparser.ColName:
				q := n.Qualifier
				own := q.IsEmpty() || q.Qualifier.IsEmpty() && sameName(in.table.Name, q.Name.String(), b.a.lower)
				if ref := in.query.block.resolve(n, b.a.lower); ref.ok() && own && in.table.Column(n.Name.String()) >= 0 {
					name := n.Name.String()
					if !q.IsEmpty() {
						name = q.Name.String() + "." + name
					}
					err = sqlerr.AmbiguousColumn.New(name, "UPDATE")
				}
			case *sqlparser.ValuesFuncExpr, *sqlparser.Subquery:
				return false, nil
			}
			return err == nil, nil
		}, u.Expr)
	}
	return err
}

func (in *insertion) findColumns(b *build) error {
	t := in.table
	if t.HiddenKey && t.AutoIncrement >= 0 && t.AutoIncrement != t.Primary[0] {
		return sqlerr.Unsupported("inserting into a table that has AUTO_INCREMENT but no primary key",
			"make the AUTO_INCREMENT column the primary key")
	}
	in.sequence = t.Numbered()
	listed := in.stmt.Columns
	if len(listed) == 0 {
		if in.text.Values && b.st.NumRows() > 0 && b.st.RowColumns(0) == 0 {
			return nil
		} // an empty list is that of all columns, unless the rows are empty, too
		for i := range t.Columns {
			if !t.Columns[i].Invisible {
				in.columns = append(in.columns, i)
			}
		}
		return nil
	}
	if err := in.qualified(b); err != nil {
		return err
	}
	for _, c := range listed {
		n := t.Column(c.String())
		if n < 0 {
			return sqlerr.UnknownColumn.New(c.String(), insertList(b.snap.Flavor))
		}
		in.columns = append(in.columns, n)
	}
	return nil
}

// qualified is the servers' error for a column that the text names with its table, if there is none: the tree has lost it.
func (in *insertion) qualified(b *build) error {
	lower := b.snap.LowerCaseTableNames != 0
	for _, c := range b.st.InsertColumns(in.text) {
		n := len(c.Names)
		if n > 1 && (!sameName(in.table.Name, c.Names[n-2], lower) || in.table.Column(c.Names[n-1]) < 0) ||
			n > 2 && !sameName(in.table.Database, c.Names[n-3], lower) {
			return sqlerr.UnknownColumn.New(strings.Join(c.Names, "."), insertList(b.snap.Flavor))
		}
	}
	return nil
}

func insertList(f catalog.Flavor) string {
	if f == catalog.MariaDB {
		return "INSERT INTO"
	}
	return "field list"
}

func insertSingle(b *build) (bool, error) {
	t := b.ins.table
	if t.Kind != catalog.Single {
		return false, nil
	}
	p := b.locate()
	if !slices.Contains(p.singles, t.Group) {
		p.singles = append(p.singles, t.Group)
	}
	target, ok := p.relayTarget()
	if !ok {
		return false, sqlerr.Unsupported("inserting into a single table what lies on other node groups",
			"select first, then insert the rows")
	}
	b.done = true
	if len(target.Also) > 0 {
		b.plan.Refuse = sqlerr.Unsupported("inserting into a single table what lies on other node groups",
			"select first, then insert the rows")
	}
	b.relayWrite(target)
	return true, nil
}

// relayWrite makes the whole statement one writing fragment.
func (b *build) relayWrite(t plan.Target) {
	f := b.fragment(t)
	f.Write = true
	b.addTable(f, b.ins.table)
	b.plan.Relay = f
}

func (b *build) addTable(f *plan.Fragment, t *catalog.Table) {
	if !slices.Contains(f.Tables, t) {
		f.Tables = append([]*catalog.Table{t}, f.Tables...)
	}
}

func keepKey(b *build) (bool, error) {
	t := b.ins.table
	if t.Kind != catalog.Sharded || b.mayRename() {
		return false, nil
	}
	for _, c := range t.Distribution {
		if !b.ins.changes(c) {
			continue
		}
		return false, changesKey(&t.Columns[c])
	}
	return false, nil
}

// changesKey refuses ON DUPLICATE KEY UPDATE that may change a column of the distribution key.
func changesKey(c *catalog.Column) *sqlerr.Error {
	advice := "delete the row and insert it anew"
	if c.OnUpdate {
		advice += ", or assign the column as it is: " + c.Name + " = " + c.Name
	}
	return sqlerr.Unsupported("ON DUPLICATE KEY UPDATE of the distribution column '"+c.Name+"'", advice)
}

// changes reports whether ON DUPLICATE KEY UPDATE may give column c of the row that is met another value: it assigns it, or servers do so in a row
// that changes.
func (in *insertion) changes(c int) bool {
	return givesAnother(in.stmt.OnDup, &in.table.Columns[c], in.assigns(c), func(u *sqlparser.UpdateExpr) bool { return in.keeps(u, c) })
}

// rewrites is changes where c = VALUES(c) may be a change.
func (in *insertion) rewrites(c int) bool {
	return givesAnother(in.stmt.OnDup, &in.table.Columns[c], in.assigns(c), in.keepsOwn)
}

// assigns returns whether an assignment of ON DUPLICATE KEY UPDATE is one of column c.
func (in *insertion) assigns(c int) func(u *sqlparser.UpdateExpr) bool {
	return func(u *sqlparser.UpdateExpr) bool { return in.table.Column(u.Name.Name.String()) == c }
}

// givesAnother reports whether assignments may give column c of a row another value: one assigns it that does not keep it as it is, or, if none does,
// servers do so in a row that changes.
func givesAnother(list []*sqlparser.UpdateExpr, c *catalog.Column, assigns, keeps func(u *sqlparser.UpdateExpr) bool) bool {
	assigned := slices.ContainsFunc(list, assigns)
	return !assigned && len(list) > 0 && c.SetByServer() ||
		assigned && slices.ContainsFunc(list, func(u *sqlparser.UpdateExpr) bool { return assigns(u) && !keeps(u) })
}

// keepsOwn is keepsValue of an assignment.
func keepsOwn(u *sqlparser.UpdateExpr) bool { return keepsValue(u.Name, u.Expr) }

// keepsOwn is keepsValue of an assignment of ON DUPLICATE KEY UPDATE, in which the table's name may stand before a column.
func (in *insertion) keepsOwn(u *sqlparser.UpdateExpr) bool {
	named := sqlparser.TableName{Name: sqlparser.NewIdentifierCS(in.table.Name)}
	whole := sqlparser.TableName{Name: named.Name, Qualifier: sqlparser.NewIdentifierCS(in.table.Database)}
	return slices.ContainsFunc([]sqlparser.TableName{u.Name.Qualifier, named, whole}, func(q sqlparser.TableName) bool {
		return keepsValue(&sqlparser.ColName{Name: u.Name.Name, Qualifier: q}, u.Expr)
	})
}

// renumbers reports whether ON DUPLICATE KEY UPDATE may give the AUTO_INCREMENT column of a row another value.
func (in *insertion) renumbers() bool {
	return in.table.AutoIncrement >= 0 && in.changes(in.table.AutoIncrement)
}

// keeps reports whether an assignment of ON DUPLICATE KEY UPDATE leaves column c of the row that is met as it is to all keys: of what the new row has
// there, too, if a row is met by no key without c. A trigger may have made another value of it.
func (in *insertion) keeps(u *sqlparser.UpdateExpr, c int) bool {
	if in.keepsOwn(u) {
		return true
	}
	t := in.table
	if !in.brings(u, c) || t.TriggerSets("INSERT", c) || len(t.Building) > 0 || !slices.Contains(t.Primary, c) {
		return false
	}
	return !slices.ContainsFunc(t.Unique, func(k catalog.Index) bool { return k.Partial || !slices.Contains(k.Columns, c) })
}

// brings reports whether an assignment of ON DUPLICATE KEY UPDATE gives column c what the new row has there: c = VALUES(c), c = new.c, or a constant
// that the rows must bring, too (given).
func (in *insertion) brings(u *sqlparser.UpdateExpr, c int) bool {
	switch e := u.Expr.(type) {
	case *sqlparser.ValuesFuncExpr:
		return in.table.Column(e.Name.Name.String()) == c
	case *sqlparser.ColName:
		return in.ofNewRow(e) == c
	}
	_, ok := in.constant(u, c)
	return ok
}

// constant is a constant that an assignment of ON DUPLICATE KEY UPDATE gives column c of the distribution key, for which the rows, which are written, have
// values.
func (in *insertion) constant(u *sqlparser.UpdateExpr, c int) (g plan.GivenValue, ok bool) {
	if in.query != nil || !slices.Contains(in.table.Distribution, c) {
		return g, false
	}
	g.Value, ok = operandOf(u.Expr)
	g.Column = slices.Index(in.columns, c)
	return g, ok && g.Column >= 0
}

// given are the constants that the rows must bring.
func (in *insertion) given() (out []plan.GivenValue, otherwise *sqlerr.Error) {
	for _, c := range in.table.Distribution {
		for _, u := range in.stmt.OnDup {
			if g, ok := in.constant(u, c); ok && in.assigns(c)(u) {
				out, otherwise = append(out, g), changesKey(&in.table.Columns[c])
			}
		}
	}
	return out, otherwise
}

// ofNewRow is the column that a name means in the new row, as new.c does behind AS new, and new.x and x behind AS new (x, y); -1 if it means none.
func (in *insertion) ofNewRow(name *sqlparser.ColName) int {
	alias, q := in.stmt.RowAlias, name.Qualifier
	switch {
	case alias == nil, !q.Qualifier.IsEmpty(), !q.IsEmpty() && q.Name.String() != alias.TableName.String():
		return -1
	case len(alias.Columns) == 0:
		if q.IsEmpty() {
			return -1
		}
		return in.table.Column(name.Name.String())
	case q.IsEmpty() && in.table.Column(name.Name.String()) >= 0:
		return -1
	}
	at := slices.IndexFunc(alias.Columns, name.Name.Equal)
	if at < 0 || at >= len(in.columns) {
		return -1
	}
	return in.columns[at]
}

// keepsValue reports whether assigning e to a column leaves it as it is: c = c, c = LAST_INSERT_ID(c).
func keepsValue(c *sqlparser.ColName, e sqlparser.Expr) bool {
	switch e := e.(type) {
	case *sqlparser.ColName:
		return e.Name.Equal(c.Name) && (e.Qualifier.IsEmpty() || e.Qualifier == c.Qualifier)
	case *sqlparser.FuncExpr:
		return e.Name.EqualString("last_insert_id") && len(e.Exprs) == 1 && keepsValue(c, e.Exprs[0])
	}
	return false
}

func insertReference(b *build) (bool, error) {
	in := b.ins
	if in.table.Kind != catalog.Reference {
		return false, nil
	}
	if b.replacesParent() {
		return false, sqlerr.Unsupported("REPLACE or ON DUPLICATE KEY UPDATE in table '"+in.table.Name+"', to which foreign keys with CASCADE or SET NULL refer whose rows servers cannot change alone",
			"change the rows that refer to it first, then UPDATE it, or DELETE and INSERT it")
	}
	if volatileDefault(in.table) || b.unlikeCopies(in.stmt) {
		return false, sqlerr.Unsupported("writing values into a reference table that would differ from copy to copy (RAND(), UUID(), @x :=)",
			"compute them at the client")
	}
	p := b.locate()
	if p.sharded > 0 || len(p.singles) > 0 {
		return false, sqlerr.Unsupported("inserting into a reference table from tables that are not reference tables",
			"select first, then insert the rows")
	}
	b.done = true
	if in.sequence >= 0 && in.query != nil && !slices.Contains(in.columns, in.sequence) {
		return false, sqlerr.Unsupported("INSERT ... SELECT into a reference table that leaves AUTO_INCREMENT to the servers",
			"select first, then insert the rows")
	}
	if in.sequence < 0 || in.query != nil {
		if in.query != nil && in.query.limit != nil {
			return false, sqlerr.Unsupported("INSERT ... SELECT ... LIMIT into a reference table", "select first, then insert the rows")
		}
		f := b.fragment(plan.Target{Kind: plan.AllGroups})
		f.Write, f.Same = true, true
		if in.numbers() {
			f.Numbered = in.table
		}
		b.addTable(f, in.table)
		b.plan.Root = f
		return true, nil
	}
	ir, err := b.rowsPlan()
	if err != nil {
		return false, err
	}
	ir.Same = true
	b.plan.Root = ir
	return true, nil
}

// replacesParent reports whether the statement may delete a row, or change what others refer to in it, by foreign keys that
// servers cannot enforce.
func (b *build) replacesParent() bool {
	t := b.ins.table
	if !b.owns(t) {
		return false
	}
	_, children, _ := b.snap.Relations(t)
	var columns []int
	for i := range children {
		columns = append(columns, children[i].ParentColumns()...)
	}
	return b.plan.Kind == plan.Replace && len(children) > 0 || slices.ContainsFunc(columns, b.ins.rewrites)
}

func insertSelectLocal(b *build) (bool, error) {
	in := b.ins
	if in.query == nil {
		return false, nil
	}
	if err := b.sequenceGiven(); err != nil {
		return false, err
	}
	q, blk := in.query, in.query.block
	p := b.locate()
	if p.root == nil || blk == nil || !q.known || len(q.columns) != len(in.columns) || !b.a.distributive(q) || b.a.whole != nil {
		return false, nil
	}
	if len(p.root.table.Distribution) != len(in.table.Distribution) {
		return false, nil
	}
	for i, d := range in.table.Distribution {
		at := slices.Index(in.columns, d)
		if at < 0 || !q.columns[at].ref.ok() {
			return false, nil
		}
		source := q.columns[at].ref
		key := colRef{p.root, p.root.table.Distribution[i]}
		same, _ := equals(key, p.root.usable)
		st, tt := source.column(), &in.table.Columns[d]
		if !slices.Contains(same, source) || st.ColumnType != tt.ColumnType || st.Collation != tt.Collation || st.DataType != tt.DataType {
			return false, nil
		}
	}
	if b.plan.Uses&(plan.WritesUserVariable|plan.SetsLastInsertID) != 0 {
		return false, sqlerr.Unsupported("assigning variables in INSERT ... SELECT over several node groups", "assign them in a SELECT of its own")
	}
	target := plan.Target{Kind: plan.AllGroups}
	if t, ok := p.relayTarget(); ok {
		if len(t.Also) > 0 {
			return false, nil
		}
		if target = t; !in.numbers() {
			b.relayWrite(t)
		}
	}
	f := b.fragment(target)
	f.Write = true
	if in.numbers() {
		if b.returning {
			return false, nil
		}
		f.Numbered = in.table
	}
	b.addTable(f, in.table)
	b.plan.Root, b.done = f, true
	return true, nil
}

// numbers reports whether the rows of a query bring values for the column that the cluster counts.
func (in *insertion) numbers() bool {
	return in.query != nil && in.sequence >= 0 && in.sequence == in.table.AutoIncrement && slices.Contains(in.columns, in.sequence)
}

// sequenceGiven refuses INSERT ... SELECT that leaves the sequence's column out.
func (b *build) sequenceGiven() error {
	in := b.ins
	if in.sequence < 0 {
		return nil
	}
	at := slices.Index(in.columns, in.sequence)
	if at < 0 {
		return sqlerr.Unsupported("INSERT ... SELECT that leaves the cluster-wide AUTO_INCREMENT or the hidden key to be filled in",
			"select first, then insert the rows, or give the column's value")
	}
	if !in.query.known || at >= len(in.query.columns) || !in.query.columns[at].ref.ok() || in.query.columns[at].ref.column().Nullable {
		return sqlerr.Unsupported("INSERT ... SELECT of an AUTO_INCREMENT column from an expression that may be NULL or 0",
			"select first, then insert the rows")
	}
	return nil
}

func insertSelectByKey(b *build) (bool, error) {
	in := b.ins
	if in.query == nil {
		return false, nil
	}
	refuse := func() (bool, error) {
		return false, sqlerr.Unsupported("INSERT ... SELECT into a sharded table of rows that may belong to other node groups than they are found on",
			"select the distribution key of a co-located table as the distribution key, or select first and insert the rows")
	}
	sel := in.query.block
	p := b.locate()
	if sel == nil || sel.sel == nil || in.numbers() {
		return refuse()
	}
	key := make([]plan.Operand, 0, len(in.table.Distribution))
	for _, d := range in.table.Distribution {
		at := slices.Index(in.columns, d)
		item := sel.item(at + 1)
		if at < 0 || item == nil {
			return refuse()
		}
		op, ok := operandOf(item.Expr)
		if !ok {
			return refuse()
		}
		key = append(key, op)
	}
	source, ok := p.relayTarget()
	if !ok {
		return refuse()
	}
	t := plan.Target{Kind: plan.ByKey, Table: in.table, Key: key, Store: true}
	if source.Kind != plan.AnyGroup {
		also := source.Also
		source.Also = nil
		t.Also = append([]plan.Target{source}, also...)
	}
	b.done = true
	b.plan.Refuse = sqlerr.Unsupported("INSERT ... SELECT from another node group than the rows belong to",
		"select first, then insert the rows")
	b.relayWrite(t)
	return true, nil
}

func insertRows(b *build) (bool, error) {
	in := b.ins
	p := b.locate()
	if p.sharded > 0 || len(p.singles) > 0 {
		return false, sqlerr.Unsupported("subqueries over sharded or single tables in VALUES", "select the value first")
	}
	ir, err := b.rowsPlan()
	if err != nil {
		return false, err
	}
	t := in.table
	for _, d := range t.Distribution {
		if t.Columns[d].Generated {
			return false, sqlerr.Unsupported("inserting into a table distributed by a generated column", "distribute it by a column that is not generated")
		}
		v := plan.InsertValue{Column: slices.Index(in.columns, d), Sequence: d == in.sequence}
		if !v.Sequence {
			if v.Const, err = defaultOf(&t.Columns[d], b.snap.Flavor); err != nil && v.Column < 0 {
				return false, err
			}
			v.NoDefault = err != nil
		}
		ir.Key = append(ir.Key, v)
	}
	switch {
	case b.seededUpdate():
		ir.Several = sqlerr.Unsupported("RAND(seed) in ON DUPLICATE KEY UPDATE for rows of several node groups (one server goes on with the sequence from row to row)",
			"leave out the seed")
	case b.plan.Uses&plan.WritesUserVariable != 0:
		ir.Several = sqlerr.Unsupported("assigning user variables in rows of several node groups", "use one INSERT for each row")
	}
	if b.followed(t) {
		if ir.Indexed, err = b.indexed(); err != nil {
			return false, err
		}
	}
	ir.Reads = len(b.a.insts) > 0 || len(b.reads)+len(b.a.behind) > 0
	if b.uncheckedCopy(t) == nil {
		if ir.Else, err = b.stagePlan(); err != nil {
			return false, err
		}
	}
	b.plan.Root, b.done = ir, true
	return true, nil
}

// rowsPlan is the node for VALUES or SET, without its key.
func (b *build) rowsPlan() (*plan.InsertRows, error) {
	in := b.ins
	ir := &plan.InsertRows{Table: in.table, AutoIncrement: -1, Columns: len(in.columns), ZeroIsValue: b.sess.NoAutoValueOnZero,
		Ignore: bool(in.stmt.Ignore), Update: len(in.stmt.OnDup) > 0, Renumbers: in.renumbers(), Returning: b.returning}
	ir.Given, ir.Otherwise = in.given()
	for position, c := range in.columns {
		if c != in.sequence && !in.table.Columns[c].Nullable {
			ir.NotNull = append(ir.NotNull, position)
		}
	}
	added := ""
	if in.sequence >= 0 {
		ir.Sequence = true
		ir.HiddenKey = in.table.HiddenKey
		if ir.AutoIncrement = slices.Index(in.columns, in.sequence); ir.AutoIncrement < 0 {
			added = sqltypes.QuoteName(in.table.Columns[in.sequence].Name)
		}
	}
	e := &editor{st: b.st}
	switch {
	case in.text.Set:
		return ir, b.setForm(ir, e, added)
	case !in.text.Values || b.st.NumRows() == 0:
		return nil, sqlerr.Unsupported("an INSERT of this form", "write INSERT INTO t (columns) VALUES (...)")
	}
	first, last := b.st.Row(0), b.st.Row(b.st.NumRows()-1)
	switch {
	case added == "":
		e.span(0, first.Start)
	case in.text.NumColumns > 0:
		e.span(0, in.text.Columns.End-1)
		e.raw(", " + added + ")")
		e.span(in.text.Columns.End, first.Start)
	default:
		start, end, open, shut := in.text.At, in.text.At, " (", ") "
		if in.text.HasColumns {
			start, end, open, shut = in.text.Columns.Start, in.text.Columns.End, "(", ")"
		}
		e.span(0, start)
		e.raw(open)
		for _, c := range in.columns {
			e.raw(sqltypes.QuoteName(in.table.Columns[c].Name) + ", ")
		}
		e.raw(added + shut)
		e.span(end, first.Start)
	}
	ir.Before = e.done()
	if end := b.endOfRows(); last.End < end {
		after := &editor{st: b.st}
		b.behindRows(after, last.End, end, added)
		ir.After = after.done()
		if blank(ir.After) {
			ir.After = nil
		}
	}
	return ir, nil
}

// behindRows writes what follows the rows. Names for the columns of the new row (AS new (a, b)) need one more where a column is added.
func (b *build) behindRows(e *editor, from, end int, added string) {
	if a := b.ins.stmt.RowAlias; a != nil && len(a.Columns) > 0 && added != "" {
		toks := b.st.TokensFrom(from)
		for t := toks.Next(); t.Kind != sqlparse.EOF; t = toks.Next() {
			if b.st.Is(t, ")") {
				e.span(from, t.Start)
				e.raw(", `skarv number`")
				from = t.Start
				break
			}
		}
	}
	e.span(from, end)
}

func blank(t plan.Text) bool {
	return len(t) == 1 && t[0].Arg == plan.NoArg && strings.TrimSpace(t[0].SQL) == ""
}

// setForm turns SET a = 1, b = 2 into columns and one row.
func (b *build) setForm(ir *plan.InsertRows, e *editor, added string) error {
	in := b.ins
	end := b.endOfSet()
	values := assignments(b.st, in.text.Body, end)
	if len(values) != len(in.columns) {
		return sqlerr.Unsupported("an INSERT ... SET of this form", "write INSERT INTO t (columns) VALUES (...)")
	}
	e.span(0, in.text.Body)
	e.raw("(" + in.table.ColumnList(in.columns))
	if added != "" {
		e.raw(", " + added)
	}
	e.raw(") VALUES ")
	ir.Before = e.done()
	for _, v := range values {
		x := &editor{st: b.st}
		x.span(v.Start, v.End)
		ir.Row = append(ir.Row, x.done())
	}
	if to := b.endOfRows(); end < to {
		x := &editor{st: b.st}
		x.raw(" ")
		x.span(end, to)
		ir.After = x.done()
	}
	return nil
}

// endOfRows is where the statement ends that writes rows: what RETURNING asks for of rows that are written one by one is asked for when they are.
func (b *build) endOfRows() int {
	if b.followed(b.ins.table) && b.returnsOneByOne() {
		at, _ := b.st.ReturningAt()
		return at
	}
	return len(b.st.SQL())
}

// endOfSet is where what follows the assignments of INSERT ... SET begins: ON DUPLICATE KEY UPDATE or RETURNING.
func (b *build) endOfSet() int {
	end := len(b.st.SQL())
	if b.ins.text.OnDuplicate >= 0 {
		end = b.ins.text.OnDuplicate
	}
	if b.returning {
		at, _ := b.st.ReturningAt()
		end = min(end, at)
	}
	return end
}

// assignments are the right sides of "SET a = x, b = y" in a range of the text.
func assignments(st *sqlparse.Statement, from, to int) (values []sqlparse.Span) {
	toks := st.Tokens()
	cur := sqlparse.Span{Start: -1}
	open := false
	for {
		t := toks.Next()
		if t.Kind == sqlparse.EOF || t.Start >= to {
			break
		}
		if t.Start < from {
			continue
		}
		switch {
		case t.Kind != sqlparse.Op || t.Depth > 0:
		case st.Is(t, ","):
			values = append(values, cur)
			cur, open = sqlparse.Span{Start: -1}, false
			continue
		case !open && (st.Is(t, "=") || st.Is(t, ":=")):
			open = true
			continue
		}
		if open {
			if cur.Start < 0 {
				cur.Start = t.Start
			}
			cur.End = t.End
		}
	}
	if cur.Start >= 0 {
		values = append(values, cur)
	}
	return values
}

// defaultOf is the value a distribution column gets when it is not written.
func defaultOf(c *catalog.Column, f catalog.Flavor) (v sqltypes.Value, err error) {
	if f == catalog.MySQL && c.HasDefault && !c.NullDefault {
		switch columnClass(c).kind {
		case stringClass, memberClass, bytesClass:
			return unquotedDefault(c)
		}
	}
	d := strings.TrimSpace(c.Default)
	switch {
	case !c.HasDefault || c.NullDefault || strings.EqualFold(d, "null"):
		if c.Nullable {
			return v, nil
		}
		// Strict mode makes this error 1364 on any group; else the type's own zero is stored.
		if columnClass(c).kind == numberClass {
			return sqltypes.Value{Kind: sqltypes.Int, Raw: []byte("0")}, nil
		}
		return sqltypes.Value{Kind: sqltypes.String, Raw: []byte{}}, nil
	case number(d):
		return sqltypes.Value{Kind: sqltypes.Int, Raw: []byte(d)}, nil
	case len(d) >= 2 && d[0] == '\'' && d[len(d)-1] == '\'' && !strings.ContainsAny(d[1:len(d)-1], `'\`):
		return sqltypes.Value{Kind: sqltypes.String, Raw: []byte(d[1 : len(d)-1])}, nil
	case f == catalog.MySQL && !c.ComputedDefault && !strings.ContainsAny(d, "('_"):
		return sqltypes.Value{Kind: sqltypes.String, Raw: []byte(d)}, nil
	}
	return v, defaultExpression(c)
}

// unquotedDefault is the default of a column of strings as MySQL shows it: the characters themselves, so that 00700 is no number, and
// null is no NULL. What it shows of binary strings depends on the version.
func unquotedDefault(c *catalog.Column) (v sqltypes.Value, err error) {
	if columnClass(c).kind == bytesClass || c.ComputedDefault || strings.ContainsAny(c.Default, "('_`") {
		return v, defaultExpression(c)
	}
	return sqltypes.Value{Kind: sqltypes.String, Raw: []byte(c.Default)}, nil
}

func defaultExpression(c *catalog.Column) error {
	return sqlerr.Unsupported("leaving the distribution column '"+c.Name+"' to a default that is an expression", "give its value")
}

func number(s string) bool {
	s = strings.TrimPrefix(s, "-")
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
