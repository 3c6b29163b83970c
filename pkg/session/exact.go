package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/literal"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// maxExact bounds the strings that become user variables of the session, of which each of its connections is told.
const maxExact = 64 << 10

// learnCollations finds the collations of string variables: those of other variables are "".
func (v *variables) learnCollations() error {
	collations := make([]string, len(v.list))
	var list []string
	var at []int
	for i, p := range v.list {
		collation, known := literal.DeclaredCollation(p.Type, v.collation, v.s.cfg.Dialect.MariaDB())
		if collations[i] = collation; !known {
			list, at = append(list, "COLLATION("+sqltypes.QuoteName(p.Name)+")"), append(at, i)
		}
	}
	if list != nil {
		_, row, err := v.query("SELECT " + strings.Join(list, ", ") + " FROM " + v.table)
		if err != nil {
			return err
		}
		for n, i := range at {
			collations[i] = routine.Collation(string(row[n]))
		}
	}
	v.collations = collations
	return nil
}

// exact is the string of variable i, which is text and in utf8mb4 utf8, with its collation and the strength of a variable.
func (v *variables) exact(i int, text string, utf8 []byte) string {
	if sql, ok := v.s.literals().Variable(v.list[i].Name, text, v.collations[i]); ok {
		return sql
	}
	user := fmt.Sprintf("__skarv_%d_%d", len(v.s.calls.stack), i)
	sql, value := literal.ByUserVariable(user, text, v.collations[i], utf8)
	v.told[user] = value
	return sql
}

// tell makes the user variables that exact has used the session's.
func (v *variables) tell() error {
	for _, name := range slices.Sorted(maps.Keys(v.told)) {
		value := v.told[name]
		delete(v.told, name)
		if len(value) > maxExact {
			return sqlerr.Unsupported("a string variable of more than 32 KB whose collation is "+literal.CollationOf(value)+", in an expression over tables",
				"declare it with the collation of the connection")
		}
		if now, _ := v.s.state.Get("@" + sqltypes.QuoteName(name)); now == value {
			continue
		}
		if err := v.s.setUserVariables([]string{name}, []string{value}); err != nil {
			return err
		}
		if c := v.s.calls; !slices.Contains(c.told, name) {
			c.told = append(c.told, name)
		}
	}
	return nil
}

// forget empties the user variables that strings of programs were in.
func (c *calls) forget(s *Session) {
	if len(c.told) > 0 {
		_ = s.setUserVariables(c.told, slices.Repeat([]string{"NULL"}, len(c.told))) // nothing is refused of these
	}
}

// columnOf looks for columns of the tables of a statement, for routine.Names.
func (s *Session) columnOf(st *sqlparse.Statement) func(name string) (collation string, ok bool) {
	refs, sure := st.Tables()
	sure = sure && !namesOwnColumns(st)
	var tables []*catalog.Table
	for _, r := range refs {
		t, _ := s.tableOf(r)
		if sure = sure && t != nil; sure && !slices.Contains(tables, t) {
			tables = append(tables, t)
		}
	}
	if !sure {
		return nil
	}
	return func(name string) (collation string, ok bool) {
		for _, t := range tables {
			c := t.Column(name)
			if c < 0 {
				continue
			}
			of, known := comparedBy(&t.Columns[c])
			if !known || ok && of != collation {
				return "", false
			}
			collation, ok = of, true
		}
		return collation, ok
	}
}

// namesOwnColumns reports whether a query may give columns of its tables names that are not those tables': JSON_TABLE(...), (SELECT ...) AS d(a, b).
func namesOwnColumns(st *sqlparse.Statement) bool {
	tokens := st.Tokens()
	closed, named := false, false // a parenthesis stands before, and then a name
	for t := tokens.Next(); t.Kind != sqlparse.EOF; t = tokens.Next() {
		switch {
		case st.Is(t, "JSON_TABLE"), named && st.Is(t, "("):
			return true
		case closed && st.Is(t, "AS"):
			continue
		}
		named = closed && (t.Kind == sqlparse.QuotedName ||
			t.Kind == sqlparse.Word && !st.Dialect().Reserved(st.Text(t.Span)) && !st.Is(t, "AGAINST") && !st.Is(t, "OVER"))
		closed = st.Is(t, ")")
	}
	return false
}

// comparedBy is the collation by which the values of a column are compared with strings, "" if they are so as numbers or times.
func comparedBy(c *catalog.Column) (collation string, known bool) {
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "year", "date", "time", "datetime", "timestamp":
		return "", true
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return "binary", true
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set":
		return routine.Collation(c.Collation), c.Collation != ""
	}
	return "", false
}
