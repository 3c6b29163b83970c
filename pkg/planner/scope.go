package planner

import (
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
)

// instance is one table reference in a FROM clause: a base table or something that stands as one.
type instance struct {
	name  string         // alias, or the table's name
	db    string         // database of a base table referred to without alias
	table *catalog.Table // nil unless a base table of the catalog
	sub   *query         // derived table or common table expression; nil otherwise
	names []string       // column names given after the alias: (SELECT ...) AS d (a, b)
	// opaque: what columns it has is not known (JSON_TABLE, a recursive reference).
	opaque bool
	// usable are the facts that hold for every row of the instance that can matter to the result. See facts.go.
	usable []fact
	// spine: each row of the whole result comes from exactly one row of this instance, or of none.
	spine bool
	block *block
	// from is the table's reference in the tree; inView tells that a view names it, not the statement.
	from   *sqlparser.AliasedTableExpr
	inView bool
}

func (i *instance) sharded() bool { return i.table != nil && i.table.Kind == catalog.Sharded }

// query is a SELECT, or several joined by UNION, or something else that yields rows (VALUES).
type query struct {
	block *block   // a single SELECT
	parts []*query // a union's sides
	limit *sqlparser.Limit
	// sum: the rows are those of the parts, one after the other: UNION ALL without ORDER BY.
	sum bool
	// columns are those of the result; nothing is known of them unless known.
	columns []outColumn
	known   bool
	stmt    sqlparser.TableStatement // nil for what a view holds
	// Of a union: what its columns are columns of, see unionColumns; the derived table that it is; and of a part the union.
	virtual *instance
	owner   *instance
	union   *query
}

// outColumn is one column of a query's result: its name and, if it is a plain column of a base table, which.
type outColumn struct {
	name string
	ref  colRef
}

// block is one SELECT with its FROM clause (or the table part of an UPDATE or DELETE): a scope of names.
type block struct {
	parent *block // enclosing scope, for correlated references
	sel    *sqlparser.Select
	where  *sqlparser.Where
	tree   *tree
	insts  []*instance
	merged []mergedColumn // by USING or NATURAL
	// aggregated, windowed: the SELECT list or HAVING or ORDER BY holds such functions of this block.
	aggregated bool
	windows    []*sqlparser.WindowSpecification
	namedWin   bool // a window by name: its specification is elsewhere
	collects   bool // has ST_COLLECT, an aggregate that the parser takes for a function
	chance     bool // has a function that gives something else each time, outside of its subqueries
	groupBy    []colRef
	// subs are the subqueries in expressions, with how they are used.
	subs []*subquery
	// facts hold for every row that passes FROM and WHERE.
	facts []fact
	// owner is the derived table, common table expression or view that the block is the SELECT of.
	owner *instance
	// query is what the block is the SELECT of.
	query *query
	// joins, not nil, is the block that a join is in, of which this is the scope of the names in ON.
	joins *block
	// inside, not nil, says which column of a part of a union a column of the union is: see throughUnion.
	inside func(colRef) colRef
}

// mergedColumn is what USING or NATURAL makes of two columns of a join.
type mergedColumn struct {
	name  string      // in lower case
	ref   colRef      // none if it is not known
	insts []*instance // those of the join
}

// subquery is a query in an expression.
type subquery struct {
	q *query
	// left is x of "x IN (SELECT ...)" standing as a conjunct; the semi-join matches it with the only column.
	left colRef
	semi bool
	// on: the subquery stands in an ON clause.
	on bool
}

// colRef is a column of a base table instance. The zero value is no column.
type colRef struct {
	inst *instance
	col  int
}

func (r colRef) ok() bool { return r.inst != nil }

func (r colRef) column() *catalog.Column { return &r.inst.table.Columns[r.col] }

// resolve finds the base column that name means in b, or nothing: because it is an expression's alias, unknown, or
// ambiguous, or hidden behind something whose columns are not known. Nothing is always safe: no fact is drawn from it,
// and the servers judge the name.
func (b *block) resolve(name *sqlparser.ColName, lower bool) colRef {
	for s := b; s != nil; s = s.parent {
		ref, found := s.resolveHere(name, lower)
		if found && b.inside != nil {
			return b.inside(ref)
		}
		if found {
			return ref
		}
	}
	return colRef{}
}

// resolveHere looks in b alone. found without a valid ref means: here, but not a plain base column.
func (b *block) resolveHere(name *sqlparser.ColName, lower bool) (ref colRef, found bool) {
	col := name.Name.Lowered()
	if name.Qualifier.IsEmpty() {
		return b.lookup(b.insts, col)
	}
	return oneColumn(b.insts, col, func(in *instance) bool { return in.called(name.Qualifier, lower) })
}

// lookup is resolveHere of a name without a table, in lower case, among insts: the tables of some joins of b.
func (b *block) lookup(insts []*instance, name string) (ref colRef, found bool) {
	var joined []*instance // whose columns of that name are merged: a join stands behind those inside of it
	for _, m := range slices.Backward(b.merged) {
		if m.name != name || !slices.Contains(insts, m.insts[0]) || slices.Contains(joined, m.insts[0]) {
			continue
		}
		if found {
			return colRef{}, true
		}
		ref, found, joined = m.ref, true, append(joined, m.insts...)
	}
	other, has := oneColumn(insts, name, func(in *instance) bool { return !slices.Contains(joined, in) })
	switch {
	case !found:
		return other, has
	case has:
		return colRef{}, true
	}
	return ref, true
}

// oneColumn finds the column called name of those of insts that are meant. found without a valid ref: it is ambiguous, or may be.
func oneColumn(insts []*instance, name string, meant func(*instance) bool) (ref colRef, found bool) {
	for _, in := range insts {
		if !meant(in) {
			continue
		}
		r, has := in.column(name)
		if !has {
			continue
		}
		if found {
			return colRef{}, true
		}
		ref, found = r, true
	}
	return ref, found
}

// called reports whether a qualifier "t" or "db.t" means the instance.
func (i *instance) called(q sqlparser.TableName, lower bool) bool {
	if !sameName(i.name, q.Name.String(), lower) {
		return false
	}
	if q.Qualifier.IsEmpty() {
		return true
	}
	return i.db != "" && sameName(i.db, q.Qualifier.String(), lower)
}

// sameName compares names of tables and databases, which lower_case_table_names makes case insensitive.
func sameName(a, b string, lower bool) bool {
	if lower {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// column finds a column by lower-case name. has without a valid ref: it may have that column, but it is no plain one.
func (i *instance) column(name string) (ref colRef, has bool) {
	switch {
	case i.opaque:
		return colRef{}, true
	case i.table != nil:
		c := i.table.Column(name)
		if c < 0 {
			return colRef{}, false
		}
		return colRef{inst: i, col: c}, true
	case i.sub != nil:
		if !i.sub.known {
			return colRef{}, true
		}
		for n, c := range i.sub.columns {
			colName := c.name
			if n < len(i.names) {
				colName = i.names[n]
			}
			if strings.EqualFold(colName, name) {
				if has {
					return colRef{}, true
				}
				ref, has = c.ref, true
			}
		}
		return ref, has
	}
	return colRef{}, false
}

// outColumns are the columns that "*" (or "t.*") of the instance stands for.
func (i *instance) outColumns() (cols []outColumn, known bool) {
	switch {
	case i.opaque:
		return nil, false
	case i.table != nil:
		for c := range i.table.Columns {
			if i.table.Columns[c].Invisible {
				continue
			}
			cols = append(cols, outColumn{name: i.table.Columns[c].Name, ref: colRef{inst: i, col: c}})
		}
		return cols, true
	case i.sub != nil && i.sub.known:
		for n, c := range i.sub.columns {
			if n < len(i.names) {
				c.name = i.names[n]
			}
			cols = append(cols, c)
		}
		return cols, true
	}
	return nil, false
}
