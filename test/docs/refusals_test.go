package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRefusals keeps the two parts of error 1235: what is refused, and how to write it instead. The second one tells its reader to do
// something; a reason may follow. What is passed on by a function that refuses for others is looked at where that is called.
func TestRefusals(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../../pkg", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if x, ok := call.Fun.(*ast.SelectorExpr); ok && x.Sel.Name == "New" && strings.HasSuffix(name(x.X), "NotSupportedYet") {
				require.Equal(t, "sqlerr.go", filepath.Base(path), "%s: a refusal is made by sqlerr.Unsupported", files.Position(call.Pos()))
			}
			direct := name(call.Fun) == "Unsupported"
			if !direct && !strings.HasPrefix(name(call.Fun), "refuse") {
				return true
			}
			for i, arg := range call.Args {
				text, starts := literal(arg)
				where := files.Position(arg.Pos()).String() + ": " + text
				if !starts {
					continue // a variable, or a word of the statement
				}
				require.NotEmpty(t, strings.TrimSpace(text), "%s: a refusal has two parts", where)
				if how := i == len(call.Args)-1 && i > 0; direct && how {
					seen++
					if !advises(text) {
						t.Errorf("%s: say what to do, then why", where)
					}
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, seen, 200)
}

// name is the last name of what is called.
func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// literal is the text that an expression begins with.
func literal(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		return literal(e.X)
	case *ast.CallExpr: // fmt.Sprintf
		if name(e.Fun) == "Sprintf" && len(e.Args) > 0 {
			return literal(e.Args[0])
		}
	}
	return "", false
}

// advises reports whether a text begins with what its reader is to do, or with a statement.
func advises(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	first = strings.TrimRight(first, ":,")
	return first != "" && first == strings.ToUpper(first) || slices.Contains(strings.Fields(`
		add aggregate ask assign call change choose close compare compute connect convert copy count create declare delete distribute drop
		equate give insert install keep leave let list load lock look make name place put qualify query raise read release run say select
		send set sort square update use wait write`), first)
}
