package planner

import (
	"cmp"
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// analysis is what is known of the tables of a statement: every reference resolved, with the facts usable for it.
type analysis struct {
	b     *build
	lower bool // names of tables and databases are case insensitive
	insts []*instance
	ctes  []*cte
	// system: a table of information_schema or its like is read; virtual: one of the skarv database.
	system, virtual bool
	// whole, not nil, says why the statement can only run as a whole, on one node group.
	whole        *sqlerr.Error
	depth, parts int
	// refs are the tables and views the statement itself names, as often as it does; those that views name are left out.
	refs   []*catalog.Table
	inView int
	// behind are the tables that views read whose SELECT has no tree.
	behind []*catalog.Table
	// stored: a server makes the rows of a view over tables by themselves, and locks none of them for a SELECT of the view that locks.
	stored bool
	// inPlace: something in the statement makes sense only where its tables are, not in copies of them.
	inPlace bool
	// queries are the scopes of the subqueries in expressions. unseen: some subqueries have none.
	queries map[*sqlparser.Subquery]*query
	unseen  bool
	// written are the queries of the statement's own text, those inside others before these.
	written []*query
	assigns bool // a user variable is assigned within an expression
	// tested are the subqueries of EXISTS; sets are those of IN, ANY and ALL.
	tested, sets map[*sqlparser.Subquery]bool
	// compared are the comparisons whose right side a subquery is.
	compared map[*sqlparser.Subquery]*sqlparser.ComparisonExpr
}

// cte is a common table expression in scope. Each reference to it is analysed as a derived table of its own.
type cte struct {
	name      string
	columns   []string
	body      sqlparser.TableStatement
	recursive bool
	active    bool // its body is being analysed: a reference is the recursion
	outer     int  // how many of analysis.ctes its body sees
	block     *block
}

// tree is the joins of a FROM clause.
type tree struct {
	kind  joinKind
	l, r  *tree
	inst  *instance
	facts []fact // of ON or USING
	join  *sqlparser.JoinTableExpr
	// merged are the columns of USING or NATURAL.
	merged []string
	// on is the condition of ON, with the scope its names are looked up in; nil without ON.
	on      sqlparser.Expr
	onScope *block
}

// scopeOf is where the names in the ON of a join of t are looked up.
func (t *tree) scopeOf(join *sqlparser.JoinTableExpr) *block {
	switch {
	case t == nil:
		return nil
	case t.join == join:
		return t.onScope
	}
	return cmp.Or(t.l.scopeOf(join), t.r.scopeOf(join))
}

type joinKind uint8

const (
	leaf joinKind = iota
	inner
	leftOuter // the right side is joined with NULLs where there is no match
)

// maxDepth bounds the nesting of queries (views in views included), maxBehind the queries that set operations without parentheses put one behind the
// other: each is as deep in the tree as there are others behind it.
const (
	maxDepth  = 64
	maxBehind = 1000
)

// analyze resolves a query and everything below it and finds the facts usable for every table.
func (b *build) analyze(stmt sqlparser.TableStatement) (*query, error) {
	a := b.analysis()
	q, err := a.query(stmt, nil, b.db)
	if err != nil {
		return nil, err
	}
	a.spread(q, nil, true)
	a.chances()
	return q, nil
}

func (b *build) analysis() *analysis {
	b.a = &analysis{b: b, lower: b.snap.LowerCaseTableNames != 0, queries: map[*sqlparser.Subquery]*query{},
		tested: map[*sqlparser.Subquery]bool{}, sets: map[*sqlparser.Subquery]bool{}, compared: map[*sqlparser.Subquery]*sqlparser.ComparisonExpr{}}
	return b.a
}

// query builds the scopes of a query. parent is the scope correlated names are looked up in.
func (a *analysis) query(stmt sqlparser.TableStatement, parent *block, db string) (*query, error) {
	if a.depth++; a.depth > maxDepth {
		return nil, sqlerr.Unsupported("queries nested this deep", "use fewer levels of subqueries and views")
	}
	defer func() { a.depth-- }()
	saved := len(a.ctes)
	defer func() { a.ctes = a.ctes[:saved] }()
	q, err := a.queryOf(stmt, parent, db)
	if err == nil && a.inView == 0 {
		q.stmt = stmt
		a.written = append(a.written, q)
	}
	return q, err
}

// queryOf is query by the kind of stmt.
func (a *analysis) queryOf(stmt sqlparser.TableStatement, parent *block, db string) (*query, error) {
	switch s := stmt.(type) {
	case *sqlparser.Select:
		a.with(s.With, parent)
		return a.selectQuery(s, parent, db)
	case *sqlparser.Union:
		a.with(s.With, parent)
		q := &query{limit: s.Limit, sum: !s.Distinct && len(s.OrderBy) == 0 && s.Into == nil && s.Lock == sqlparser.NoLock}
		for _, side := range []sqlparser.TableStatement{s.Left, s.Right} {
			p, err := a.part(s, side, parent, db)
			if err != nil {
				return nil, err
			}
			q.parts = append(q.parts, p)
		}
		q.known = q.parts[0].known
		a.unionColumns(q)
		a.unseen = a.unseen || hasSubquery(s.OrderBy)
		a.outerAggregates(s.OrderBy, parent)
		return q, nil
	case *sqlparser.ValuesStatement:
		return a.values(s, parent, db)
	}
	return nil, sqlerr.Unsupported("this form of query", "write it as SELECT")
}

// part is query of a side of a set operation, which is no deeper than that where it is what stands before its last word.
func (a *analysis) part(s *sqlparser.Union, side sqlparser.TableStatement, parent *block, db string) (*query, error) {
	if _, more := side.(*sqlparser.Union); !more || side != s.Left {
		return a.query(side, parent, db)
	}
	if a.parts++; a.parts > maxBehind {
		return nil, sqlerr.Unsupported("set operations of so many queries", "run them in parts")
	}
	a.depth--
	defer func() { a.depth, a.parts = a.depth+1, a.parts-1 }()
	return a.query(side, parent, db)
}

// values is the scopes of VALUES: those of the subqueries among its values.
func (a *analysis) values(s *sqlparser.ValuesStatement, parent *block, db string) (*query, error) {
	q := &query{}
	a.outerAggregates(s, parent)
	err := sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		sub, ok := n.(*sqlparser.Subquery)
		if !ok {
			return true, nil
		}
		part, err := a.query(sub.Select, parent, db)
		q.parts = append(q.parts, part)
		return false, err
	}, s)
	return q, err
}

// outerAggregates looks for aggregates in the ORDER BY of a set operation, and in VALUES: those have no rows of their own, so that the
// aggregate is one of the query outside, which then has groups.
func (a *analysis) outerAggregates(n sqlparser.SQLNode, parent *block) {
	if parent == nil {
		return
	}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n.(type) {
		case *sqlparser.Subquery:
			return false, nil
		case sqlparser.AggrFunc:
			a.refuseOuterAggregate()
		}
		return true, nil
	}, n)
}

func (a *analysis) refuseOuterAggregate() {
	a.refuseMany("an aggregate in a subquery over columns of the outer query", "compute it in the outer query")
}

// with brings common table expressions into scope.
func (a *analysis) with(w *sqlparser.With, parent *block) {
	if w == nil {
		return
	}
	for _, c := range w.CTEs {
		e := &cte{name: c.ID.String(), body: c.Subquery, recursive: w.Recursive, outer: len(a.ctes), block: parent}
		for _, col := range c.Columns {
			e.columns = append(e.columns, col.String())
		}
		a.ctes = append(a.ctes, e)
	}
	if !w.Recursive || a.b.snap.Flavor != catalog.MariaDB {
		return
	}
	for _, e := range a.ctes[len(a.ctes)-len(w.CTEs):] {
		e.outer = len(a.ctes) // there each sees those behind it, too
	}
}

func (a *analysis) selectQuery(s *sqlparser.Select, parent *block, db string) (*query, error) {
	b := &block{parent: parent, sel: s, where: s.Where}
	if err := a.from(b, s.From, db); err != nil {
		return nil, err
	}
	q := &query{block: b, limit: s.Limit, known: true}
	b.query = q
	if s.SelectExprs != nil {
		a.outColumns(q, b, s.SelectExprs.Exprs)
	}
	if err := a.expressions(b, s, db); err != nil {
		return nil, err
	}
	return q, nil
}

// from builds the join tree of a block from a list of table expressions and finds its facts.
func (a *analysis) from(b *block, list []sqlparser.TableExpr, db string) error {
	for _, e := range list {
		t, err := a.tableExpr(b, e, db)
		if err != nil {
			return err
		}
		if t == nil {
			continue // DUAL
		}
		if b.tree == nil {
			b.tree = t
		} else {
			b.tree = &tree{kind: inner, l: b.tree, r: t}
		}
	}
	b.facts = append(b.facts, factsBelow(b.tree)...)
	if b.where != nil {
		b.facts = append(b.facts, a.factsOf(b.where.Expr, b)...)
	}
	return nil
}

// factsBelow are the facts that hold for every row a tree yields.
func factsBelow(t *tree) []fact {
	if t == nil {
		return nil
	}
	switch t.kind {
	case inner:
		return slices.Concat(factsBelow(t.l), factsBelow(t.r), t.facts)
	case leftOuter:
		return factsBelow(t.l)
	}
	if t.inst.sub != nil && t.inst.sub.block != nil {
		return t.inst.sub.block.facts
	}
	return nil
}

func (a *analysis) tableExpr(b *block, e sqlparser.TableExpr, db string) (*tree, error) {
	switch e := e.(type) {
	case *sqlparser.ParenTableExpr:
		var t *tree
		for _, x := range e.Exprs {
			n, err := a.tableExpr(b, x, db)
			if err != nil {
				return nil, err
			}
			if t == nil {
				t = n
			} else if n != nil {
				t = &tree{kind: inner, l: t, r: n}
			}
		}
		return t, nil
	case *sqlparser.AliasedTableExpr:
		return a.aliased(b, e, db)
	case *sqlparser.JoinTableExpr:
		return a.join(b, e, db)
	case *sqlparser.JSONTableExpr:
		in := a.add(b, &instance{name: e.Alias.String(), opaque: true})
		return &tree{inst: in}, nil
	}
	return nil, sqlerr.Unsupported("this form of table reference", "name the table or use a derived table")
}

// hasSubquery reports whether a subquery stands below n.
func hasSubquery(n sqlparser.SQLNode) (found bool) {
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		_, is := n.(*sqlparser.Subquery)
		found = found || is
		return !found, nil
	}, n)
	return found
}

func (a *analysis) add(b *block, in *instance) *instance {
	in.block, in.inView = b, a.inView > 0
	if in.sub != nil && in.sub.block != nil {
		in.sub.block.owner = in
	}
	if in.sub != nil && in.sub.virtual != nil {
		in.sub.owner, in.sub.virtual.block = in, b
	}
	a.insts = append(a.insts, in)
	b.insts = append(b.insts, in)
	return in
}

func (a *analysis) aliased(b *block, e *sqlparser.AliasedTableExpr, db string) (*tree, error) {
	if d, ok := e.Expr.(*sqlparser.DerivedTable); ok {
		outer := b.parent
		if d.Lateral {
			outer = b
		}
		sub, err := a.query(d.Select, outer, db)
		if err != nil {
			return nil, err
		}
		return &tree{inst: a.add(b, &instance{name: e.As.String(), sub: sub, names: columnNames(e.Columns)})}, nil
	}
	name, ok := e.Expr.(sqlparser.TableName)
	if !ok {
		return nil, sqlerr.Unsupported("this form of table reference", "name the table or use a derived table")
	}
	if len(e.Partitions) > 0 {
		a.refuseMany("PARTITION (...) of a table", "use conditions in WHERE")
		a.inPlace = true
	}
	if name.Qualifier.IsEmpty() {
		if name.Name.String() == "dual" && e.As.IsEmpty() {
			return nil, nil
		}
		in, err := a.common(b, name.Name.String(), e)
		if in != nil || err != nil {
			return &tree{inst: in}, err
		}
	}
	in, err := a.base(name, e.As.String(), db)
	if err != nil {
		return nil, err
	}
	in.from = e
	return &tree{inst: a.add(b, in)}, nil
}

func columnNames(cols sqlparser.Columns) (names []string) {
	for _, c := range cols {
		names = append(names, c.String())
	}
	return names
}

// common looks name up among the common table expressions in scope.
func (a *analysis) common(b *block, name string, e *sqlparser.AliasedTableExpr) (*instance, error) {
	alias := name
	if !e.As.IsEmpty() {
		alias = e.As.String()
	}
	for i := len(a.ctes) - 1; i >= 0; i-- {
		c := a.ctes[i]
		if !sameName(c.name, name, a.lower || a.b.snap.Flavor == catalog.MariaDB) {
			continue
		}
		if c.active {
			if !c.recursive {
				continue // its own name inside means the table of that name
			}
			return a.add(b, &instance{name: alias, opaque: true}), nil
		}
		if c.recursive {
			a.refuseMany("a recursive common table expression over several node groups",
				"give the distribution key of every table in it")
		}
		// The body sees the expressions before it, and itself when recursive.
		hidden := slices.Clone(a.ctes)
		a.ctes = a.ctes[:c.outer]
		if c.recursive {
			a.ctes = append(a.ctes, c)
		}
		c.active = true
		sub, err := a.query(c.body, c.block, a.b.db)
		c.active = false
		a.ctes = hidden
		if err != nil {
			return nil, err
		}
		in := &instance{name: alias, sub: sub, names: c.columns}
		if c.recursive {
			in.opaque = true
		}
		return a.add(b, in), nil
	}
	return nil, nil
}

// base resolves a table of the catalog, or a view, which stands for its SELECT.
func (a *analysis) base(name sqlparser.TableName, alias, db string) (*instance, error) {
	in := &instance{name: alias}
	dbName := db
	if !name.Qualifier.IsEmpty() {
		dbName = name.Qualifier.String()
	}
	if dbName == "" {
		return nil, sqlerr.NoDatabase.New()
	}
	table := name.Name.String()
	if alias == "" {
		in.name, in.db = table, dbName
	}
	switch systemSchema(dbName) {
	case informationSchema:
		if !strings.EqualFold(dbName, "information_schema") || a.inView > 0 {
			// Accounts of the servers, other clients' statements; and what a view reads is not filtered.
			a.b.access(plan.Access{Database: dbName, Table: table, Privilege: catalog.MaySuper})
		}
		if a.inView > 0 && catalog.ShowsAccounts(dbName, table) {
			return nil, sqlerr.Unsupported("a view of "+strings.ToLower(dbName+"."+table)+", which shows the cluster's accounts", "query that table itself")
		}
		a.system = true
		in.opaque = true
		return in, nil
	case virtualSchema:
		a.virtual = true
		in.opaque = true
		return in, nil
	}
	t, err := a.b.table(dbName, table)
	if err != nil {
		return nil, err
	}
	if a.inView == 0 {
		a.b.needs(t, catalog.MaySelect)
		a.refs = append(a.refs, t)
	}
	if t.Kind == catalog.View {
		return in, a.view(in, t)
	}
	in.table = t
	return in, nil
}

// view makes in the derived table that the view stands for.
func (a *analysis) view(in *instance, t *catalog.Table) error {
	stmt, err := a.b.p.parser.ParseText(a.b.st.Dialect(), t.ViewText)
	sel, ok := stmt.(sqlparser.TableStatement)
	if err != nil || !ok {
		in.opaque, a.stored = true, true
		return a.viewByTokens(t)
	}
	hidden, before := a.ctes, len(a.insts)
	a.ctes = nil
	a.inView++
	in.sub, err = a.query(sel, nil, t.Database)
	a.inView--
	a.ctes = hidden
	if err != nil {
		return invalidView(t, err)
	}
	a.stored = a.stored || (t.Apart || !merges(in.sub)) && slices.ContainsFunc(a.insts[before:], func(in *instance) bool { return in.table != nil })
	return nil
}

// merges reports whether a server opens a view of q into the statements that read it, with all tables that it reads.
func merges(q *query) bool {
	b := q.block
	if b == nil || b.sel == nil {
		return false
	}
	s := b.sel
	return s.With == nil && !s.Distinct && s.GroupBy == nil && s.Having == nil && s.Limit == nil && !b.aggregated && len(b.windows) == 0 && len(b.subs) == 0 &&
		!slices.ContainsFunc(b.insts, func(in *instance) bool {
			derived := in.from == nil
			if !derived {
				_, named := in.from.Expr.(sqlparser.TableName)
				derived = !named
			}
			return derived
		})
}

// viewByTokens notes the tables of a view whose SELECT has no tree (INTERSECT, EXCEPT): one server must have all rows of them.
func (a *analysis) viewByTokens(t *catalog.Table) error {
	refuse := sqlerr.Unsupported("the view "+t.Database+"."+t.Name+" (its SELECT cannot be analysed)", "select from its tables directly")
	st := a.b.st.Dialect().NewStatement()
	defer st.Done()
	if st.Scan([]byte(t.ViewText), 0) != nil {
		return refuse
	}
	refs, sure := st.Tables()
	if !sure || !a.b.plainCalls(st) || ReadsTables(st, t.Database, a.b.snap) {
		return refuse
	}
	a.refuseMany("the view "+t.Database+"."+t.Name+" over several node groups", "select from its tables directly")
	for _, r := range refs {
		if systemSchema(r.DB) != userSchema || r.DB == "" {
			return refuse
		}
		behind, err := a.b.table(r.DB, r.Name)
		if err == nil && behind.Kind == catalog.View {
			a.inView++
			err = a.view(&instance{}, behind)
			a.inView--
		}
		if err != nil {
			return invalidView(t, err)
		}
		if behind.Kind != catalog.View {
			a.behind = append(a.behind, behind)
		}
	}
	return nil
}

// invalidView is the servers' error for a view whose tables or columns there are no more; other errors are themselves.
func invalidView(t *catalog.Table, err error) error {
	if !sqlerr.HasCode(err, sqlerr.NoSuchTable, sqlerr.UnknownDatabase, sqlerr.UnknownColumn) {
		return err
	}
	return sqlerr.ViewInvalid.New(t.Database, t.Name)
}

// closed refuses a table that no statement may use at the moment. Whoever may wait can try again by a newer snapshot.
func closed(t *catalog.Table) error {
	e := sqlerr.LockWaitTimeout.New()
	e.Message = "Lock wait timeout exceeded; try restarting transaction (the definition of table '" + t.Name + "' is being changed)"
	return e
}

// table finds a table of the catalog or returns the error the servers give.
func (b *build) table(db, name string) (*catalog.Table, error) {
	db, name = b.lowered(db, name)
	if t := b.snap.Table(db, name); t != nil {
		if t.Closed {
			return nil, closed(t)
		}
		b.standsOn = append(b.standsOn, t)
		if copied := b.everywhere[t]; copied != nil {
			return copied, nil
		}
		return t, nil
	}
	if t := b.numbers(db, name); t != nil {
		return t, nil
	}
	if err := b.databaseName(db); err != nil {
		return nil, err
	}
	if err := b.tableName(name); err != nil {
		return nil, err
	}
	if b.snap.Databases[db] == nil && b.snap.Flavor == catalog.MySQL {
		return nil, sqlerr.UnknownDatabase.New(db)
	}
	return nil, sqlerr.NoSuchTable.New(db, name)
}

// lowered are the names as the servers keep them.
func (b *build) lowered(db, name string) (string, string) {
	if b.snap.LowerCaseTableNames != 0 {
		return strings.ToLower(db), strings.ToLower(name)
	}
	return db, name
}

func (a *analysis) join(b *block, e *sqlparser.JoinTableExpr, db string) (*tree, error) {
	before := len(b.insts)
	l, err := a.tableExpr(b, e.LeftExpr, db)
	if err != nil {
		return nil, err
	}
	middle := len(b.insts)
	r, err := a.tableExpr(b, e.RightExpr, db)
	if err != nil {
		return nil, err
	}
	if l == nil || r == nil {
		return nil, sqlerr.Unsupported("a join with DUAL", "leave DUAL out")
	}
	lefts, rights := b.insts[before:middle:middle], b.insts[middle:]
	t := &tree{kind: inner, l: l, r: r, join: e}
	natural, right := false, false
	switch e.Join {
	case sqlparser.LeftJoinType, sqlparser.NaturalLeftJoinType:
		t.kind = leftOuter
	case sqlparser.RightJoinType, sqlparser.NaturalRightJoinType:
		t.kind, t.l, t.r = leftOuter, r, l
		right = true
	}
	switch e.Join {
	case sqlparser.NaturalJoinType, sqlparser.NaturalLeftJoinType, sqlparser.NaturalRightJoinType:
		natural = true
	}
	if e.Condition != nil && e.Condition.On != nil {
		// Names in ON see only the tables of this join (and of enclosing queries); b.insts holds at least these.
		scope := &block{parent: b.parent, insts: b.insts[before:], merged: b.merged, joins: b}
		t.facts = a.factsOf(e.Condition.On, scope)
		t.on, t.onScope = e.Condition.On, scope
	}
	if e.Condition != nil {
		for _, c := range e.Condition.Using {
			t.merged = append(t.merged, c.Lowered())
		}
	}
	if natural {
		t.merged = commonColumns(lefts, rights)
	}
	for _, c := range t.merged {
		lr, _ := b.lookup(lefts, c)
		rr, _ := b.lookup(rights, c)
		m := mergedColumn{name: c, insts: b.insts[before:]}
		if lr.ok() && rr.ok() {
			t.facts = append(t.facts, fact{a: lr, b: rr})
			m.ref = lr
			if right {
				m.ref = rr
			}
		}
		b.merged = append(b.merged, m)
	}
	return t, nil
}

// commonColumns are the names a NATURAL join equates. Where columns are not known there are none to build on.
func commonColumns(l, r []*instance) (names []string) {
	seen := map[string]bool{}
	for _, in := range l {
		cols, _ := in.outColumns()
		for _, c := range cols {
			seen[strings.ToLower(c.name)] = true
		}
	}
	for _, in := range r {
		cols, _ := in.outColumns()
		for _, c := range cols {
			if n := strings.ToLower(c.name); seen[n] {
				names = append(names, n)
				seen[n] = false
			}
		}
	}
	return names
}

// outColumns finds the columns of a SELECT list.
func (a *analysis) outColumns(q *query, b *block, list []sqlparser.SelectExpr) {
	for _, e := range list {
		switch e := e.(type) {
		case *sqlparser.StarExpr:
			if len(b.merged) > 0 {
				q.known = false // their order is another
				return
			}
			for _, in := range b.insts {
				if !e.TableName.IsEmpty() && !in.called(e.TableName, a.lower) {
					continue
				}
				cols, known := in.outColumns()
				if !known {
					q.known = false
					return
				}
				q.columns = append(q.columns, cols...)
			}
		case *sqlparser.AliasedExpr:
			c := outColumn{name: e.As.String()}
			if col, ok := e.Expr.(*sqlparser.ColName); ok {
				c.ref = b.resolve(col, a.lower)
				if c.name == "" {
					c.name = col.Name.String()
				}
			}
			q.columns = append(q.columns, c)
		default:
			q.known = false
			return
		}
	}
}

// refuseMany notes why the statement cannot run on more than one node group; the first reason stays.
func (a *analysis) refuseMany(what, how string) {
	if a.whole == nil {
		a.whole = sqlerr.Unsupported(what, how)
	}
}

// tables are the base tables of the catalog that the statement touches, each once.
func (a *analysis) tables() (tables []*catalog.Table) {
	for _, in := range a.insts {
		if in.table != nil && !slices.Contains(tables, in.table) {
			tables = append(tables, in.table)
		}
	}
	for _, t := range slices.Concat(a.b.reads, a.behind) {
		if !slices.Contains(tables, t) {
			tables = append(tables, t)
		}
	}
	return tables
}

// writes is what the statement needs on the tables that it writes to.
func (b *build) writes() catalog.Privilege {
	if b.st.Uses()&sqlparse.Returning != 0 {
		return b.changesRows() | catalog.MaySelect
	}
	return b.changesRows()
}

func (b *build) changesRows() catalog.Privilege {
	switch b.st.Kind() {
	case sqlparse.Update:
		return catalog.MayUpdate
	case sqlparse.Delete:
		return catalog.MayDelete
	case sqlparse.Replace:
		return catalog.MayInsert | catalog.MayDelete
	case sqlparse.LoadData:
		if w := b.st.Words(); w.Find("REPLACE") {
			return catalog.MayInsert | catalog.MayDelete
		}
		return catalog.MayInsert
	case sqlparse.Insert:
		if text, ok := b.st.InsertText(); ok && text.OnDuplicate < 0 {
			return catalog.MayInsert
		}
		return catalog.MayInsert | catalog.MayUpdate | catalog.MaySelect
	}
	return catalog.MayInsert | catalog.MayUpdate | catalog.MayDelete
}
