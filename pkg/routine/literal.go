package routine

import (
	"slices"
	"strings"

	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// A literal has the connection's collation, and yields to all that has another one; a variable has its own, and is as strong as a column.
// So a string variable is put into a statement as its Value.Exact, but in the places of literalDoes: there nothing can tell the
// difference, and by a literal rows can be found.

// An integer without a sign is not what a literal of its value is either: computing with it may have no negative result. Where literalDoes, it
// is not computed with.

// onlyLiterals reports whether in the place of the variable at tokens[i] servers take no expression.
func (f *filling) onlyLiterals(i int, open []int) bool {
	return f.isOne(f.at(i+1), "PRECEDING", "FOLLOWING") ||
		len(open) > 0 && f.isOne(f.at(open[len(open)-1]), "NTILE", "LEAD", "LAG", "NTH_VALUE", "PERCENTILE_CONT", "PERCENTILE_DISC")
}

// literalDoes reports whether a literal in the place of the variable at tokens[i] means the same: of a string with a collation, or, if that is
// "", of an integer. open are the tokens before the open parentheses.
func (f *filling) literalDoes(i int, open []int, collation string) bool {
	prev, next := f.at(i-1), f.at(i+1)
	switch {
	case !f.collates():
		return true
	case f.st.Is(next, "IS") && f.begins(prev):
		return true // NULL or not
	case len(open) > 0 && f.st.Is(f.at(open[len(open)-1]), "AGAINST"):
		return true // which takes the columns' collation
	case f.stored(i, len(open)), f.alone(i):
		return true
	}
	column := func(name string, ok bool) bool { return ok && f.fits(name, collation) }
	switch {
	case f.compares(prev):
		if f.ends(next) {
			return column(f.columnBefore(i-2, f.begins))
		}
	case f.compares(next):
		if f.begins(prev) {
			return column(f.columnBehind(i+2, f.ends))
		}
	case f.st.Is(prev, "LIKE"):
		if f.ends(next) || f.st.Is(next, "ESCAPE") {
			return column(f.columnBefore(f.beforeNot(i-2), f.begins))
		}
	case f.st.Is(prev, "BETWEEN"):
		return f.st.Is(next, "AND") && column(f.columnBefore(f.beforeNot(i-2), f.begins))
	case f.st.Is(prev, "AND") && f.st.Is(f.at(i-3), "BETWEEN"):
		return f.ends(next) && column(f.columnBefore(f.beforeNot(i-4), f.begins))
	case len(open) > 0 && f.itemOf(i):
		before := open[len(open)-1]
		if f.st.Is(f.at(before), "IN") {
			return column(f.columnBefore(f.beforeNot(before-1), f.begins))
		}
		return column(f.pairOf(i, open))
	}
	return false
}

// collates reports whether the statement is of a kind in which collations matter, and which takes more than literals.
func (f *filling) collates() bool {
	switch f.st.Kind() {
	case sqlparse.Select, sqlparse.Insert, sqlparse.Replace, sqlparse.Update, sqlparse.Delete, sqlparse.Do:
		return true
	case sqlparse.Set:
		return f.at(1).Kind == sqlparse.UserVar
	}
	return false
}

// stored reports whether the variable at tokens[i] alone is what a column gets.
func (f *filling) stored(i, depth int) bool {
	prev, next := f.at(i-1), f.at(i+1)
	if f.rowsAt >= 0 && i > f.rowsAt && !f.updates && depth == 1 {
		return f.itemOf(i)
	}
	if !f.sets || depth != f.setAt || !f.st.Is(prev, "=") && !f.st.Is(prev, ":=") || f.st.Kind() == sqlparse.Set {
		return false
	}
	first := f.nameBefore(i - 2)
	before := f.at(first - 1)
	if first < 0 || !f.st.Is(before, "SET") && !f.st.Is(before, ",") && !f.st.Is(before, "UPDATE") {
		return false
	}
	return next.Kind == sqlparse.EOF || f.isOne(next, ",", ";", "WHERE", "ORDER", "LIMIT", "RETURNING", "ON")
}

// alone reports whether the variable at tokens[i] is a column of the result, and nothing refers to that column.
func (f *filling) alone(i int) bool {
	if f.Selected || f.st.Kind() != sqlparse.Select {
		return false
	}
	if f.items == nil {
		f.items = []sqlparse.SelectItem{}
		if !slices.ContainsFunc(f.tokens, func(t sqlparse.Token) bool {
			return t.Kind == sqlparse.Word && f.isOne(t, "UNION", "EXCEPT", "INTERSECT", "WITH", "HAVING")
		}) {
			f.items = f.st.SelectItems(f.items)
		}
	}
	return slices.ContainsFunc(f.items, func(it sqlparse.SelectItem) bool { return !it.Star && it.Expr == f.tokens[i].Span })
}

// fits reports whether a column of that name is sure to be compared with a string of the collation as with a literal: by the column's own
// collation, or, where it is no string, by none.
func (f *filling) fits(name, collation string) bool {
	switch {
	case collation == "":
		return true
	case f.Column == nil || f.renames(name):
		return false
	}
	has, ok := f.Column(name)
	return ok && (has == "" || has == collation || wins(has, collation))
}

// wins reports whether, of a column and a variable that are strings, the column's collation is that of a comparison: a binary one within a
// character set, and that of the character set that has all characters of the other one. Servers decide so between two that are as strong as
// each other; a literal is always the weaker one.
func wins(column, variable string) bool {
	of, with := sqltypes.CharsetOf(column), sqltypes.CharsetOf(variable)
	// MariaDB lets a collation be named without its character set.
	unicode := strings.HasPrefix(with, "utf") || with == "ucs2" || with == "uca1400"
	switch {
	case with == "binary":
		return false
	case of == with:
		return strings.HasSuffix(column, "_bin") && !strings.HasSuffix(variable, "_bin")
	case of == "utf8mb4":
		return !unicode || with == "utf8mb3"
	}
	return of == "utf8mb3" && !unicode
}

// renames reports whether the statement may call something else than a table's column by a name.
func (f *filling) renames(name string) bool {
	for i, t := range f.tokens {
		switch {
		case f.isOne(t, "WITH", "UNION", "EXCEPT", "INTERSECT") && t.Kind == sqlparse.Word:
			return true
		case !isName(t) || !Same(name, string(f.st.AppendName(nil, t))):
		case f.st.Is(f.at(i-1), "AS"), f.operandEnds(f.at(i-1), f.at(i-2)):
			return true
		}
	}
	return false
}

func (f *filling) isOne(t sqlparse.Token, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return f.st.Is(t, w) })
}

// compares reports whether t is an operator that compares.
func (f *filling) compares(t sqlparse.Token) bool {
	return f.isOne(t, "=", "<=>", "<", ">", "<=", ">=", "<>", "!=")
}

// begins reports whether a comparison begins behind t.
func (f *filling) begins(t sqlparse.Token) bool {
	return f.isOne(t, "(", ",", "WHERE", "AND", "&&", "OR", "XOR", "NOT", "ON", "HAVING", "SELECT", "DISTINCT", "CASE", "WHEN", "THEN", "ELSE", "BY", "DO")
}

// ends reports whether a comparison ends before t.
func (f *filling) ends(t sqlparse.Token) bool {
	return t.Kind == sqlparse.EOF || f.isOne(t, ")", ",", ";", "AND", "&&", "OR", "XOR", "IS", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "WINDOW", "FOR",
		"LOCK", "THEN", "WHEN", "ELSE", "END", "AS", "FROM", "ON", "JOIN", "LEFT", "RIGHT", "INNER", "CROSS", "NATURAL", "STRAIGHT_JOIN", "RETURNING")
}

// itemOf reports whether what is at tokens[i] is alone between the commas of a list in parentheses.
func (f *filling) itemOf(i int) bool {
	return f.isOne(f.at(i-1), "(", ",") && f.isOne(f.at(i+1), ",", ")")
}

// beforeNot is i, or the place before it if a NOT is there.
func (f *filling) beforeNot(i int) int {
	if f.st.Is(f.at(i), "NOT") {
		return i - 1
	}
	return i
}

// nameBefore is where the name begins, perhaps a qualified one, that ends at tokens[i]; -1 if none does.
func (f *filling) nameBefore(i int) int {
	if !isName(f.at(i)) {
		return -1
	}
	for f.st.Is(f.at(i-1), ".") && isName(f.at(i-2)) {
		i -= 2
	}
	return i
}

// columnBefore is the column that ends at tokens[i], if something of from is before it.
func (f *filling) columnBefore(i int, from func(sqlparse.Token) bool) (name string, ok bool) {
	first := f.nameBefore(i)
	if first < 0 || !from(f.at(first-1)) {
		return "", false
	}
	return f.column(first, i)
}

// columnBehind is the column that begins at tokens[i], if something of to is behind it.
func (f *filling) columnBehind(i int, to func(sqlparse.Token) bool) (name string, ok bool) {
	last := i
	for isName(f.at(last)) && f.st.Is(f.at(last+1), ".") {
		last += 2
	}
	if !isName(f.at(last)) || !to(f.at(last+1)) {
		return "", false
	}
	return f.column(i, last)
}

// column is the name of the column at tokens[first:last+1]. A name that is a variable's is none.
func (f *filling) column(first, last int) (name string, ok bool) {
	name = string(f.st.AppendName(nil, f.at(last)))
	if first == last {
		if _, variable, err := f.Variable(name); variable || err != nil {
			return "", false
		}
	}
	return name, true
}

// pairOf is the column that a row of columns has in the place in which tokens[i] is in the row that it is compared with: (a, b) = (x, y), or
// (a, b) IN ((x, y), ...).
func (f *filling) pairOf(i int, open []int) (name string, ok bool) {
	before := open[len(open)-1]
	place := 0
	for j := i - 1; j > before+1; j-- {
		if t := f.at(j); t.Depth == f.at(i).Depth && f.st.Is(t, ",") {
			place++
		}
	}
	end := before - 1
	switch {
	case f.compares(f.at(before)):
	case len(open) > 1 && f.isOne(f.at(before), "(", ",") && f.st.Is(f.at(open[len(open)-2]), "IN"):
		end = f.beforeNot(open[len(open)-2] - 1)
	default:
		return "", false
	}
	if !f.st.Is(f.at(end), ")") {
		return "", false
	}
	var ends []int // of the columns, last one first
	first := end
	for first > 0 && !f.st.Is(f.at(first), "(") {
		last := first - 1
		if first = f.nameBefore(last) - 1; first < 0 || !f.isOne(f.at(first), "(", ",") {
			return "", false
		}
		ends = append(ends, last)
	}
	slices.Reverse(ends)
	if place >= len(ends) || !f.begins(f.at(first-1)) {
		return "", false
	}
	return f.column(f.nameBefore(ends[place]), ends[place])
}

// Collation is the name of a collation as information_schema has it, for comparisons.
func Collation(name string) string {
	name = strings.ToLower(name)
	if rest, old := strings.CutPrefix(name, "utf8_"); old {
		return "utf8mb3_" + rest
	}
	return name
}
