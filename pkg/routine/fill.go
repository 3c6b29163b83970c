package routine

import (
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// Names is what names in a statement stand for.
type Names struct {
	// Variable returns the value of a variable, by its name in any case of letters; ok is false for other names.
	Variable func(name string) (v Value, ok bool, err error)
	// Column returns the collation of the statement's tables' columns of a name, "" if they are no strings; ok is false where that is not
	// sure. nil: it never is.
	Column func(name string) (collation string, ok bool)
	// Selected: collations of the result's columns matter.
	Selected bool
}

// Fill puts the values of variables in the places of their names in a statement, as servers do when they run it inside of a
// stored program: a variable hides a column of the same name. Columns of the outermost SELECT keep their names. The result is
// st's own text if it names no variable.
func Fill(st *sqlparse.Statement, names Names) ([]byte, error) {
	f := newFilling(st, names)
	switch st.Kind() {
	case sqlparse.Select, sqlparse.Insert, sqlparse.Replace, sqlparse.Update, sqlparse.Delete, sqlparse.Do, sqlparse.Call, sqlparse.Set,
		sqlparse.Kill, sqlparse.Prepare, sqlparse.Execute:
	case sqlparse.Other:
		tokens := st.Tokens()
		if first := tokens.Next(); !st.Is(first, "SIGNAL") && !st.Is(first, "RESIGNAL") {
			return st.SQL(), nil
		}
	default:
		return st.SQL(), nil
	}
	if err := f.find(); err != nil {
		return nil, err
	}
	if len(f.edits) == 0 {
		return st.SQL(), nil
	}
	return f.text(), nil
}

// FillCreated is Fill for the query of a CREATE TABLE ... SELECT. A variable among what the query selects is refused (1235), for the
// new column would have the type of a value, not that of the variable.
func FillCreated(st *sqlparse.Statement, names Names) ([]byte, error) {
	f := newFilling(st, names)
	if err := f.find(); err != nil {
		return nil, err
	}
	// Whether tokens of this depth are in a list that a query selects, and whether a query begins there: the FROM of TRIM(x FROM y) is no clause.
	selected, query := []bool{false}, []bool{false}
	edits := f.edits
	for tokens := st.Tokens(); len(edits) > 0; {
		tok := tokens.Next()
		last := len(selected) - 1
		switch {
		case tok.Kind == sqlparse.EOF:
			edits = nil
		case tok.Start == edits[0].span.Start:
			if selected[last] {
				return nil, sqlerr.Unsupported("the variable "+string(st.Text(tok.Span))+" among what CREATE TABLE ... SELECT selects",
					"create the table with its columns, then use INSERT ... SELECT")
			}
			edits = edits[1:]
		case st.Is(tok, "("):
			selected, query = append(selected, selected[last]), append(query, false)
		case st.Is(tok, ")") && last > 0:
			selected, query = selected[:last], query[:last]
		case tok.Kind != sqlparse.Word:
		case st.Is(tok, "SELECT"), st.Is(tok, "VALUES"), st.Is(tok, "WINDOW"):
			selected[last], query[last] = true, true
		case query[last] && (st.Is(tok, "FROM") || st.Is(tok, "WHERE") || st.Is(tok, "LIMIT")):
			selected[last] = false
		}
	}
	if len(f.edits) == 0 {
		return st.SQL(), nil
	}
	return f.text(), nil
}

// filling is the work on one statement.
type filling struct {
	Names
	st     *sqlparse.Statement
	tokens []sqlparse.Token
	edits  []filled
	// rowsAt is the place of the VALUES of an INSERT, or -1.
	rowsAt int
	// sets: in a list of assignments, whose depth is setAt; updates: in that of ON DUPLICATE KEY UPDATE.
	sets, updates bool
	setAt         int
	// items are the result's columns whose collations do not matter; nil until somebody asks.
	items []sqlparse.SelectItem
}

func newFilling(st *sqlparse.Statement, names Names) *filling {
	f := &filling{Names: names, st: st, rowsAt: -1}
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		f.tokens = append(f.tokens, tok)
	}
	return f
}

// at is a token, or none beside the statement.
func (f *filling) at(i int) sqlparse.Token {
	if i >= 0 && i < len(f.tokens) {
		return f.tokens[i]
	}
	return sqlparse.Token{}
}

// Value is the value of a variable as SQL.
type Value struct {
	Text string
	// Number is what stands beside an operator of arithmetic instead, "" for the same.
	Number string
	// IsNumber: the variable is a number, although Text is not one as it should be shown.
	IsNumber bool
	// Collation is that of a string, "" for all else.
	Collation string
	// Unsigned: it is of a type of integers without a sign, which a literal has not.
	Unsigned bool
	// Exact is a string as SQL that has its collation, and is as strong as a column; nil where Text is the same.
	Exact func() string
}

// Unsigned is an integer as SQL that has no sign.
func Unsigned(text string) string { return "CAST(" + text + " AS UNSIGNED)" }

// counts reports whether t is an operator of arithmetic.
func (f *filling) counts(t sqlparse.Token) bool {
	return slices.ContainsFunc([]string{"+", "-", "*", "/", "%", "DIV", "MOD"}, func(op string) bool { return f.st.Is(t, op) })
}

type filled struct {
	span sqlparse.Span
	text string
}

func isName(t sqlparse.Token) bool {
	return t.Kind == sqlparse.Word || t.Kind == sqlparse.QuotedName
}

// find notes where variables stand.
func (f *filling) find() error {
	st := f.st
	refs, _ := st.Tables()
	if k := st.Kind(); k == sqlparse.Prepare || k == sqlparse.Execute {
		refs = nil // EXECUTE IMMEDIATE REPLACE(...) calls a function
	}
	common, _ := st.CommonTables()
	read := func(sp sqlparse.Span) bool {
		return slices.ContainsFunc(common, func(c sqlparse.CTE) bool { return c.Head == sp || slices.Contains(c.Refs, sp) })
	}
	at := f.at
	insert := st.Kind() == sqlparse.Insert || st.Kind() == sqlparse.Replace
	var (
		open   []int // the token before each open parenthesis
		values bool  // rows of an INSERT, or its query, have begun
		by     = -1  // depth of the GROUP BY or ORDER BY at hand
		// deletes: the names are those of tables that a DELETE deletes from.
		deletes = st.Kind() == sqlparse.Delete
	)
	for i, tok := range f.tokens {
		switch {
		case st.Is(tok, "("):
			open = append(open, i-1)
			continue
		case st.Is(tok, ")"):
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			if by > len(open) {
				by = -1
			}
			continue
		case tok.Kind == sqlparse.Word && !st.Is(at(i-1), "."):
			if f.sets && len(open) == f.setAt && (st.Is(tok, "WHERE") || st.Is(tok, "ORDER") || st.Is(tok, "LIMIT") || st.Is(tok, "RETURNING")) {
				f.sets, f.updates = false, false
			}
			if deletes && len(open) == 0 && (st.Is(at(i-2), "FROM") || f.isOne(tok, "USING", "WHERE", "JOIN", "ORDER", "LIMIT")) {
				deletes = false
			}
			switch {
			case st.Is(tok, "SELECT"), st.Is(tok, "VALUES"), st.Is(tok, "VALUE"):
				if insert && !values && len(open) == 0 && !st.Is(tok, "SELECT") {
					f.rowsAt = i
				}
				values = true
			case st.Is(tok, "SET") && !st.Is(at(i-1), "CHARACTER") && !st.Is(at(i-1), "CHAR"):
				f.sets, f.setAt, values = true, len(open), true
			case st.Is(tok, "UPDATE") && st.Is(at(i-1), "KEY"):
				f.sets, f.updates, f.setAt = true, true, len(open)
			case st.Is(tok, "BY") && (st.Is(at(i-1), "ORDER") || st.Is(at(i-1), "GROUP") || st.Is(at(i-1), "PARTITION")):
				by = len(open)
			case st.Is(tok, "LIMIT"), st.Is(tok, "HAVING"), st.Is(tok, "UNION"), st.Is(tok, "FOR"), st.Is(tok, "WINDOW"):
				if by == len(open) {
					by = -1
				}
			}
		}
		if !isName(tok) {
			continue
		}
		value, ok, err := f.Variable(string(st.AppendName(nil, tok)))
		if err != nil {
			return err
		}
		if !ok || tok.Kind == sqlparse.Word && st.Dialect().Reserved(st.Text(tok.Span)) { // a variable of that name is quoted
			continue
		}
		prev, next := at(i-1), at(i+1)
		switch {
		case st.Is(prev, "."), st.Is(next, "."), st.Is(next, "("), prev.Kind == sqlparse.EOF, st.Is(prev, "AS"), st.Is(prev, "COLLATE"),
			f.operandEnds(prev, at(i-2)):
			continue // a qualified name, a function, an alias
		case st.Is(next, "AS") && st.Is(at(i+2), "("), st.Is(prev, "OVER"), read(tok.Span):
			continue // a window, a common table expression
		case f.isOne(prev, "(", ",") && len(open) > 0 && st.Is(at(open[len(open)-1]), "COLUMNS"),
			deletes && len(open) == 0 && f.isOne(prev, "DELETE", ",", "FROM"):
			continue // a column of JSON_TABLE, a table to delete from
		case slices.ContainsFunc(refs, func(r sqlparse.TableRef) bool { return tok.Start >= r.Start && tok.End <= r.End }):
			continue
		case insert && !values && len(open) == 1:
			continue // list of columns
		case f.sets && len(open) == f.setAt && (st.Is(next, "=") || st.Is(next, ":=")) &&
			(st.Is(prev, "SET") || st.Is(prev, ",") || st.Is(prev, "UPDATE")):
			continue // assigned
		case len(open) > 0 && f.namesColumns(open[len(open)-1], common), f.isWord(i, open):
			continue
		}
		if by >= 0 && f.wholeItem(i, len(open)-by) {
			return sqlerr.Unsupported("the variable "+string(st.Text(tok.Span))+" in GROUP BY or ORDER BY of a stored program",
				"give the variable another name than the column")
		}
		text := value.Text
		switch {
		case f.isOne(prev, "LIMIT", "OFFSET", "EXAMINED") || st.Is(prev, ",") && st.Is(at(i-3), "LIMIT") || f.fetches(prev, at(i-2)):
			text = rowCount(text)
		case value.Number != "" && (f.counts(prev) || f.counts(next)):
			if text = value.Number; value.Unsigned {
				text = Unsigned(text)
			}
		case value.Unsigned && value.Number == "" && !f.onlyLiterals(i, open) && !f.literalDoes(i, open, ""):
			text = Unsigned(text)
		case value.Exact != nil && !f.literalDoes(i, open, value.Collation):
			text = value.Exact()
		}
		f.edits = append(f.edits, filled{tok.Span, text})
	}
	return nil
}

// rowCount is the value of a variable where LIMIT takes only a number: NULL is 0, and a negative number is read as one without a sign.
func rowCount(value string) string {
	if value == "NULL" {
		return "0"
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil && n < 0 {
		return strconv.FormatUint(uint64(n), 10)
	}
	return value
}

// fetches reports whether t, behind another token, comes before the number of rows of FETCH FIRST.
func (f *filling) fetches(t, before sqlparse.Token) bool {
	return f.isOne(t, "FIRST", "NEXT") && f.st.Is(before, "FETCH")
}

// operandEnds reports whether t ends an operand, so that a name behind it is an alias.
func (f *filling) operandEnds(t, before sqlparse.Token) bool {
	switch t.Kind {
	case sqlparse.QuotedName, sqlparse.StringLit, sqlparse.NStringLit, sqlparse.IntLit, sqlparse.DecimalLit, sqlparse.FloatLit,
		sqlparse.HexLit, sqlparse.BitLit, sqlparse.UserVar, sqlparse.SysVar, sqlparse.Param:
		return true
	case sqlparse.Op:
		return f.st.Is(t, ")")
	case sqlparse.Word:
		if f.st.Is(before, ".") {
			return true
		}
		if f.isOne(t, "NULL", "TRUE", "FALSE", "END", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "LOCALTIME",
			"LOCALTIMESTAMP", "UTC_DATE", "UTC_TIME", "UTC_TIMESTAMP") {
			return true
		}
		if f.fetches(t, before) {
			return false
		}
		for _, w := range [...]string{"OFFSET", "ESCAPE", "ANY", "SOME", "RETURNING", "VALUE", "SOUNDS", "MEMBER", "DO", "QUERY",
			"CONNECTION", "ROW", "SQL_NO_CACHE", "SQL_CACHE", "SQL_BUFFER_RESULT", "EXCEPT", "INTERSECT", "END", "IMMEDIATE", "EXAMINED"} {
			if f.st.Is(t, w) {
				return false
			}
		}
		return !f.st.Dialect().Reserved(f.st.Text(t.Span))
	}
	return false
}

// namesColumns reports whether what stands in the parentheses behind tokens[i] are names of columns, indexes or partitions.
func (f *filling) namesColumns(i int, common []sqlparse.CTE) bool {
	t := f.at(i)
	switch {
	case f.isOne(t, "USING", "DEFAULT", "INDEX", "KEY", "PARTITION", "MATCH"),
		f.updates && f.isOne(t, "VALUES", "VALUE"),
		f.st.Is(t, "JOIN") && f.st.Is(f.at(i-1), "FOR"), f.st.Is(t, "BY") && f.st.Is(f.at(i-2), "FOR"): // of an index hint
		return true
	case !isName(t):
		return false
	}
	return f.st.Is(f.at(i-1), "AS") || f.derived(i-1) || slices.ContainsFunc(common, func(c sqlparse.CTE) bool { return c.Head == t.Span })
}

// derived reports whether tokens[i] ends a derived table.
func (f *filling) derived(i int) bool {
	if !f.st.Is(f.at(i), ")") {
		return false
	}
	for closed := f.at(i).Depth; i > 0; i-- {
		if t := f.at(i); t.Depth == closed && f.st.Is(t, "(") {
			return f.isOne(f.at(i-1), "FROM", "JOIN", ",", "LATERAL") && f.isOne(f.at(i+1), "SELECT", "WITH", "VALUES", "TABLE", "(")
		}
	}
	return false
}

// isWord reports whether tokens[i] is a word of the language, or the name of something else, where no expression may stand. open are the tokens
// before the parentheses around it.
func (f *filling) isWord(i int, open []int) bool {
	st, tok, prev, before, next := f.st, f.at(i), f.at(i-1), f.at(i-2), f.at(i+1)
	switch {
	case f.isOne(prev, "UPDATE", "{"), // UPDATE SKIP LOCKED, {d '2020-02-01'}
		f.isOne(before, "CHARACTER", "CHAR") && st.Is(prev, "SET"),
		st.Is(prev, "FOR") && st.Is(before, "VALUE"), // a sequence
		f.isOne(tok, "DATE", "TIME", "TIMESTAMP") && tok.Kind == sqlparse.Word && next.Kind == sqlparse.StringLit,
		f.locks(i - 1):
		return true
	case len(open) == 0:
		return false
	}
	inside := f.at(open[len(open)-1])
	switch {
	case st.Is(prev, "("):
		return f.isOne(inside, "EXTRACT", "TIMESTAMPADD", "TIMESTAMPDIFF", "GET_FORMAT", "OVER", "AS") // a unit, a type, a window
	case st.Is(prev, ","), st.Is(prev, "USING"):
		return st.Is(inside, "CONVERT") || st.Is(prev, "USING") && st.Is(inside, "CHAR") // a type, a character set
	case st.Is(prev, "RETURNING"), st.Is(prev, "ON") && f.isOne(tok, "EMPTY", "ERROR"):
		return slices.ContainsFunc(open, func(i int) bool { return f.isOne(f.at(i), "JSON_VALUE", "JSON_TABLE") })
	}
	return false
}

// locks reports whether tokens[i] is in FOR UPDATE OF, before the name of a table.
func (f *filling) locks(i int) bool {
	for f.st.Is(f.at(i), ",") && isName(f.at(i-1)) {
		i -= 2
	}
	return f.st.Is(f.at(i), "OF") && f.isOne(f.at(i-1), "UPDATE", "SHARE")
}

// wholeItem reports whether the variable at tokens[i], within so many parentheses, is all of an item of GROUP BY or ORDER BY, but for a sign:
// a number there is a column's place.
func (f *filling) wholeItem(i, depth int) bool {
	first, last, opened := i-1, i+1, 0
	for ; f.isOne(f.at(first), "(", "+", "-"); first-- {
		if f.st.Is(f.at(first), "(") {
			opened++
		}
	}
	for range depth {
		if !f.st.Is(f.at(last), ")") {
			return false
		}
		last++
	}
	return opened == depth && f.isOne(f.at(first), "BY", ",") && f.itemEnds(f.at(last))
}

// itemEnds reports whether an item of GROUP BY or ORDER BY ends before t.
func (f *filling) itemEnds(t sqlparse.Token) bool {
	if t.Kind == sqlparse.EOF {
		return true
	}
	for _, w := range [...]string{",", ")", "ASC", "DESC", "LIMIT", "HAVING", "FOR", "WITH", "ORDER", "UNION", "ROWS", "RANGE", "LOCK", "INTO"} {
		if f.st.Is(t, w) {
			return true
		}
	}
	return false
}

// text is the statement with its edits, columns keeping their names.
func (f *filling) text() []byte {
	st := f.st
	edits := slices.Clone(f.edits)
	for _, it := range f.selected() {
		if it.Star {
			continue
		}
		within := func(e filled) bool { return e.span.Start >= it.Expr.Start && e.span.End <= it.Expr.End }
		end := sqlparse.Span{Start: it.Expr.End, End: it.Expr.End}
		switch {
		case !slices.ContainsFunc(f.edits, within):
		case it.Alias.Start == it.Alias.End:
			edits = append(edits, filled{end, " AS " + sqltypes.QuoteName(string(st.AppendColumnName(nil, it)))})
		case st.Text(it.Alias)[0] != '`' && f.follows(it.Alias.Start, it.Expr.End):
			edits = append(edits, filled{end, " AS"}) // else a string would be continued by the alias
		}
	}
	slices.SortStableFunc(edits, func(a, b filled) int { return a.span.Start - b.span.Start })
	sql, out, at := st.SQL(), []byte(nil), 0
	for _, e := range edits {
		out = append(append(out, sql[at:e.span.Start]...), e.text...)
		at = e.span.End
	}
	return append(out, sql[at:]...)
}

// follows reports whether the token at start is the next behind one that ends at end.
func (f *filling) follows(start, end int) bool {
	i := slices.IndexFunc(f.tokens, func(t sqlparse.Token) bool { return t.Start == start })
	return i > 0 && f.tokens[i-1].End == end
}

// selected are the items of all lists of columns: those of queries inside of the statement have names, too, by which others may look for them.
func (f *filling) selected() []sqlparse.SelectItem {
	st := f.st
	items := st.ReturningItems(nil)
	begun := []int{-1} // where the list begins of the SELECT of each depth
	option := false
	end := func(at int) {
		if last := len(begun) - 1; begun[last] >= 0 {
			items = st.ItemsOf(sqlparse.Span{Start: begun[last], End: at}, items)
			begun[last] = -1
		}
	}
	for i, tok := range f.tokens {
		if option {
			if option = st.SelectModifier(tok); option {
				continue
			}
			begun[len(begun)-1] = tok.Start
		}
		switch {
		case st.Is(tok, "("):
			begun = append(begun, -1)
		case st.Is(tok, ")"):
			if end(tok.Start); len(begun) > 1 {
				begun = begun[:len(begun)-1]
			}
		case tok.Kind != sqlparse.Word || st.Is(f.at(i-1), "."):
		case st.Is(tok, "SELECT"):
			option = true
		case f.isOne(tok, "FROM", "INTO", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "FOR", "LOCK", "ON"),
			st.Is(tok, "RETURNING") && st.Dialect().MariaDB():
			end(tok.Start)
		}
	}
	end(len(st.SQL()))
	return items
}

// Into finds INTO and its list in a SELECT. names are what is assigned, user variables as they are written; ok is false if there is no
// INTO outside of parentheses, or one into something else than names and user variables.
func Into(st *sqlparse.Statement) (names []string, into sqlparse.Span, ok bool) {
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if tok.Depth > 0 || tok.Kind != sqlparse.Word || !st.Is(tok, "INTO") {
			continue
		}
		into.Start = tok.Start
		for {
			v := tokens.Next()
			switch {
			case isName(v) && !st.Is(v, "OUTFILE") && !st.Is(v, "DUMPFILE"):
				names = append(names, string(st.AppendName(nil, v)))
			case v.Kind == sqlparse.UserVar:
				names = append(names, string(st.Text(v.Span)))
			default:
				return nil, into, false
			}
			into.End = v.End
			ahead := tokens
			if !st.Is(ahead.Next(), ",") {
				return names, into, true
			}
			tokens = ahead
		}
	}
	return nil, into, false
}
