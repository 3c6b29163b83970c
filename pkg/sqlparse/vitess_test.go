package sqlparse

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"vitess.io/vitess/go/vt/sqlparser"
)

// vitessStatements returns the statements of the test data that come with the parser.
func vitessStatements(t testing.TB) []string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "vitess.io/vitess").Output()
	require.NoError(t, err)
	dir := filepath.Join(strings.TrimSpace(string(out)), "go/vt/sqlparser")
	var all []string
	for _, name := range []string{"select_cases.txt", "union_cases.txt"} {
		text, err := os.ReadFile(filepath.Join(dir, "testdata", name))
		require.NoError(t, err)
		for _, part := range strings.Split(string(text), "INPUT\n")[1:] {
			input, _, _ := strings.Cut(part, "\nEND\n")
			all = append(all, input)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "testdata", "django_queries.txt"))
	require.NoError(t, err)
	all = append(all, strings.Split(strings.TrimSpace(string(text)), "\n")...)
	for _, name := range []string{"parse_test.go", "normalizer_test.go"} {
		file, err := goparser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			kv, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, ok := kv.Key.(*ast.Ident)
			lit, isLit := kv.Value.(*ast.BasicLit)
			if ok && isLit && lit.Kind == token.STRING && (key.Name == "input" || key.Name == "in") {
				s, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)
				all = append(all, s)
			}
			return true
		})
	}
	require.Greater(t, len(all), 3000)
	return all
}

// TestSameTreeAsVitess parses each statement of vitess's tests as it is, and as we render it: with literals the trees
// print the same; with arguments there are as many arguments as we counted.
func TestSameTreeAsVitess(t *testing.T) {
	raw := sqlparser.NewTestParser()
	p, err := NewParser()
	require.NoError(t, err)
	st := NewDialect(false, "9.1.0").NewStatement()
	var same, fallback, refused, both int
	for _, sql := range vitessStatements(t) {
		want, err := raw.ParseStrictDDL(sql)
		if err != nil || hasBindVars(raw, sql) {
			both++
			continue
		}
		if ddl, ok := want.(sqlparser.DDLStatement); ok && !ddl.IsFullyParsed() {
			continue
		}
		if _, ok := want.(*sqlparser.CommentOnly); ok {
			continue
		}
		if err := st.Scan([]byte(sql), 0); err != nil {
			t.Errorf("scan %s: %v", sql, err)
			continue
		}
		_, used, err := p.Parse(st)
		if err != nil {
			if !knownRefusal(sql) {
				t.Errorf("parse %s: %v", sql, err)
			}
			refused++
			continue
		}
		text := string(st.render(nil, renderRaw))
		tree, err := p.parse([]byte(text))
		if err != nil {
			t.Errorf("%s\n  raw %s\n  %v", sql, text, err)
			continue
		}
		if strings.Contains(sql, "/*!401011") {
			continue // six digits are a version to a server
		}
		_, commented := want.(sqlparser.Commented)
		if st.NumRows() <= 1 && st.NumParams() == 0 && (commented || !strings.ContainsAny(sql, "#*")) &&
			!strings.HasPrefix(sql, "values /*") {
			if w, g := withoutComments(want), withoutComments(tree); w != g {
				t.Errorf("%s\n  raw  %s\n  want %s\n  got  %s", sql, text, w, g)
			}
		}
		if used {
			same++
		} else {
			fallback++
			if st.Kind().takesArguments() {
				t.Logf("not by arguments: %s", sql)
			}
		}
	}
	t.Logf("%d with arguments, %d with literals, %d refused, %d not by vitess", same, fallback, refused, both)
}

// withoutComments prints a tree without the comments it carries, which we drop but for optimizer hints.
func withoutComments(tree sqlparser.Statement) string {
	tree = sqlparser.Clone(tree)
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		if c, ok := n.(sqlparser.Commented); ok && c.GetParsedComments() != nil {
			hints := sqlparser.Comments{}
			for _, text := range c.GetParsedComments().GetComments() {
				if strings.HasPrefix(text, "/*+") {
					hints = append(hints, text)
				}
			}
			c.SetComments(hints)
		}
		return true, nil
	}, tree)
	return sqlparser.CanonicalString(tree)
}

func hasBindVars(p *sqlparser.Parser, sql string) bool {
	_, vars, err := p.Parse2(sql)
	return err == nil && len(vars) > 0
}

// knownRefusal tells statements vitess reads and we do not give it: `//` is no comment to a server, and :name no value;
// statements of vitess's own; trees that say something else than the statement.
func knownRefusal(sql string) bool {
	for _, part := range []string{
		"//", ":1", "vitess_", "vexplain", "stream ", "vschema", "vitess_migration", "next value", "next 10 values", "FROM FIRST OVER",
		"(select 1 from dual order by 1 desc) order by 1", // the tree has one ORDER BY
	} {
		if strings.Contains(strings.ToLower(sql), strings.ToLower(part)) {
			return true
		}
	}
	return strings.HasPrefix(strings.ToLower(sql), "set ") && strings.Contains(strings.ToLower(sql), "collate")
}

// TestTablesAsVitess compares the names found by tokens with those in the tree.
func TestTablesAsVitess(t *testing.T) {
	p, err := NewParser()
	require.NoError(t, err)
	st := NewDialect(false, "9.1.0").NewStatement()
	sure, unsure := 0, 0
	for _, sql := range vitessStatements(t) {
		if st.Scan([]byte(sql), 0) != nil {
			continue
		}
		tree, _, err := p.Parse(st)
		if err != nil {
			continue
		}
		switch tree.(type) {
		case *sqlparser.Select, *sqlparser.Union, *sqlparser.Insert, *sqlparser.Update, *sqlparser.Delete:
		default:
			continue
		}
		want := treeTables(tree)
		refs, ok := st.Tables()
		if !ok {
			unsure++
			t.Logf("unsure: %s", sql)
			continue
		}
		sure++
		got := []string{}
		for _, r := range refs {
			got = append(got, strings.ToLower(strings.TrimPrefix(r.DB+"."+r.Name, ".")))
		}
		slices.Sort(got)
		got = slices.Compact(got)
		if !slices.Equal(want, got) {
			t.Errorf("%s\n  want %v\n  got  %v", sql, want, got)
		}
	}
	t.Logf("%d sure, %d unsure", sure, unsure)
}

func treeTables(tree sqlparser.Statement) []string {
	names := []string{}
	ctes := map[string]bool{}
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.CommonTableExpr:
			ctes[n.ID.String()] = true
		case *sqlparser.AliasedTableExpr:
			if name, ok := n.Expr.(sqlparser.TableName); ok && name.Name.String() != "dual" {
				names = append(names, strings.ToLower(strings.TrimPrefix(name.Qualifier.String()+"."+name.Name.String(), ".")))
			}
		}
		return true, nil
	}, tree)
	names = slices.DeleteFunc(names, func(n string) bool { return ctes[n] })
	slices.Sort(names)
	return slices.Compact(names)
}
