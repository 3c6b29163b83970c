// Package arch keeps the architecture: what ARCHITECTURE.md says of packages is checked here against their source.
package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	module = "skarv/"
	root   = "../.."
)

// pkg is one directory of Go files.
type pkg struct {
	path      string // below the module: "pkg/wire"
	imports   map[string]bool
	test      map[string]bool // imports of its tests
	doc       string
	name      string
	inits     []string
	variables []string // package-level variables that something could change
	longFiles []string
	numbers   []string // errors for clients whose number is written out
	generated bool
}

// floors reads the table between the markers in ARCHITECTURE.md.
func floors(t *testing.T) map[string]int {
	t.Helper()
	floor := map[string]int{}
	for _, row := range table(t, "floors") {
		n, err := strconv.Atoi(row[1])
		require.NoError(t, err, row[0])
		floor[row[0]] = n
	}
	return floor
}

// table reads the rows of the table with three columns between the markers of that name in ARCHITECTURE.md.
func table(t *testing.T, name string) (rows [][3]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "<!-- "+name+":")
	require.True(t, found, "ARCHITECTURE.md has no table of %s", name)
	after, _, found = strings.Cut(after, "<!-- "+name+": end -->")
	require.True(t, found, "the table of %s has no end", name)
	for line := range strings.Lines(after) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 {
			continue // not a row
		}
		rows = append(rows, [3]string{strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3])})
	}
	require.Greater(t, len(rows), 2, "the table of %s is empty", name)
	return rows[2:] // without heading and rule
}

// floorOf returns the line that speaks of a package: its own or that of the nearest directory above it.
func floorOf(floor map[string]int, path string) (line string, n int, ok bool) {
	for line = path; line != "." && line != "/"; line = filepath.Dir(line) {
		if n, ok = floor[line]; ok {
			return line, n, true
		}
	}
	return "", 0, false
}

func packages(t *testing.T) []*pkg {
	t.Helper()
	found := map[string]*pkg{}
	for _, top := range []string{"cmd", "pkg", "proto", "test"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if e.IsDir() && e.Name() == "testdata" {
				return filepath.SkipDir
			}
			if e.IsDir() || !strings.HasSuffix(path, ".go") {
				return nil
			}
			dir, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			p := found[dir]
			if p == nil {
				p = &pkg{path: dir, imports: map[string]bool{}, test: map[string]bool{}}
				found[dir] = p
			}
			return p.read(path)
		})
		require.NoError(t, err)
	}
	var all []*pkg
	for _, p := range found {
		all = append(all, p)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].path < all[j].path })
	return all
}

// maxLines is where a file has more than one subject.
const maxLines = 1000

func (p *pkg) read(path string) error {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	isTest := strings.HasSuffix(path, "_test.go")
	imports := p.imports
	if isTest {
		imports = p.test
	}
	for _, i := range f.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return err
		}
		imports[name] = true
	}
	if f.Doc != nil {
		p.doc = f.Doc.Text()
	}
	if ast.IsGenerated(f) {
		p.generated = true
		return nil
	}
	name := filepath.Base(path)
	if lines := files.Position(f.End()).Line; lines > maxLines {
		p.longFiles = append(p.longFiles, fmt.Sprintf("%s (%d lines)", name, lines))
	}
	if isTest {
		return nil
	}
	p.name = f.Name.Name
	ast.Inspect(f, func(n ast.Node) bool {
		if writesErrorNumber(n) {
			p.numbers = append(p.numbers, name+":"+strconv.Itoa(files.Position(n.Pos()).Line))
		}
		return true
	})
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == "init" {
				p.inits = append(p.inits, name)
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				for _, spec := range d.Specs {
					p.variable(name, d, spec.(*ast.ValueSpec))
				}
			}
		}
	}
	return nil
}

// variable notes a package-level variable, unless it is a constant in all but name: an error, a compiled regular
// expression, an embedded file, an assertion that a type implements an interface.
func (p *pkg) variable(file string, d *ast.GenDecl, spec *ast.ValueSpec) {
	for _, doc := range []*ast.CommentGroup{d.Doc, spec.Doc} {
		if doc == nil {
			continue
		}
		for _, line := range doc.List {
			if strings.HasPrefix(line.Text, "//go:embed ") {
				return
			}
		}
	}
	for i, name := range spec.Names {
		if name.Name == "_" {
			continue
		}
		if i < len(spec.Values) && isConstant(spec.Values[i]) {
			continue
		}
		p.variables = append(p.variables, file+": "+name.Name)
	}
}

// writesErrorNumber reports whether n is a sqlerr.Error with a number in place of a name, or makes a number a sqlerr.Code.
func writesErrorNumber(n ast.Node) bool {
	is := func(e ast.Expr, name string) bool {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		of, ok := s.X.(*ast.Ident)
		return ok && of.Name == "sqlerr" && s.Sel.Name == name
	}
	number := func(e ast.Expr) bool {
		l, ok := e.(*ast.BasicLit)
		return ok && l.Kind == token.INT
	}
	switch n := n.(type) {
	case *ast.CompositeLit:
		return is(n.Type, "Error") && slices.ContainsFunc(n.Elts, func(e ast.Expr) bool {
			field, ok := e.(*ast.KeyValueExpr)
			return ok && number(field.Value)
		})
	case *ast.ValueSpec:
		return n.Type != nil && is(n.Type, "Code") && slices.ContainsFunc(n.Values, number)
	case *ast.CallExpr:
		return is(n.Fun, "Code") && slices.ContainsFunc(n.Args, number)
	}
	return false
}

func isConstant(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := f.X.(*ast.Ident)
	return ok && (of.Name == "errors" && f.Sel.Name == "New" || of.Name == "fmt" && f.Sel.Name == "Errorf" ||
		of.Name == "regexp" && f.Sel.Name == "MustCompile")
}

func TestImportsOnlyGoDown(t *testing.T) {
	floor := floors(t)
	for _, p := range packages(t) {
		line, own, ok := floorOf(floor, p.path)
		if !ok {
			t.Errorf("%s has no line in the floor table of ARCHITECTURE.md", p.path)
			continue
		}
		for name := range p.imports {
			below, inside := strings.CutPrefix(name, module)
			if !inside {
				continue
			}
			other, n, ok := floorOf(floor, below)
			if !ok {
				t.Errorf("%s imports %s, which has no line in the floor table", p.path, below)
			} else if n >= own && other != line {
				t.Errorf("%s (floor %d) imports %s (floor %d): imports only go down", p.path, own, below, n)
			}
		}
	}
}

func TestTableNamesOnlyWhatThereIs(t *testing.T) {
	for path := range floors(t) {
		if _, err := os.Stat(filepath.Join(root, path)); err != nil {
			// Git keeps no empty directories; the rooms later issues fill are known by name.
			switch path {
			case "pkg/failover", "pkg/cdc":
			default:
				t.Errorf("ARCHITECTURE.md speaks of %s, which is not there", path)
			}
		}
	}
}

func TestEveryPackageIsDocumented(t *testing.T) {
	for _, p := range packages(t) {
		if p.generated || p.name == "" {
			continue // a directory of tests only says it in its test file
		}
		want := "Package " + p.name + " "
		if p.name == "main" {
			want = "Command " + filepath.Base(p.path) + " "
		}
		if !strings.HasPrefix(p.doc, want) {
			t.Errorf("%s: its package comment must begin with %q, not with %.40q", p.path, want, p.doc)
		}
	}
}

func TestWhoMayImportWhat(t *testing.T) {
	for _, rule := range []struct {
		imported string
		by       []string
		why      string
	}{
		{"go.etcd.io/etcd/client/", []string{"pkg/topology", "test"}, "cluster state is read and written in one place"},
		{"go.etcd.io/etcd/server/", []string{"pkg/dev", "pkg/topology/etcdtest", "test"}, "a server of its own is for dev and tests"},
		{"vitess.io/vitess/go/vt/sqlparser", []string{"pkg/sqlparse", "pkg/planner", "test"}, "syntax trees stay where they are made and planned"},
		{"skarv/proto/", []string{"pkg/admin", "pkg/datanode", "pkg/failover", "pkg/reorg", "pkg/cdc", "pkg/server", "cmd", "proto", "test"}, "messages are converted at the edge"},
		{"github.com/go-sql-driver/mysql", []string{"pkg/schema", "pkg/datanode", "pkg/reorg", "pkg/failover", "test"}, "clients' data goes by mysqlconn"},
		{"testing", []string{"pkg/topology/etcdtest", "test"}, "tests are no part of the program"},
	} {
		for _, p := range packages(t) {
			if allowed(p.path, rule.by) {
				continue
			}
			for name := range p.imports {
				if strings.HasPrefix(name, rule.imported) && (name == rule.imported || rule.imported != "testing") {
					t.Errorf("%s imports %s, which only %s may: %s", p.path, name, strings.Join(rule.by, ", "), rule.why)
				}
			}
		}
	}
}

// TestEveryLibraryIsADecision compares the table of libraries with go.mod and with who imports them outside of tests.
func TestEveryLibraryIsADecision(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	users := map[string]map[string]bool{} // module -> packages
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 && strings.HasPrefix(line, "\t") { // an indirect one has a comment
			users[f[0]] = map[string]bool{}
		}
	}
	require.NotEmpty(t, users)
	for _, p := range packages(t) {
		if p.generated || allowed(p.path, []string{"test", "proto", "pkg/topology/etcdtest"}) {
			continue
		}
		for name := range p.imports {
			for module, by := range users {
				if name == module || strings.HasPrefix(name, module+"/") {
					by[p.path] = true
				}
			}
		}
	}
	for _, row := range table(t, "libraries") {
		module, by := row[0], slices.Sorted(maps.Keys(users[row[0]]))
		if users[module] == nil {
			t.Errorf("ARCHITECTURE.md lists %s, which go.mod does not require directly", module)
			continue
		}
		delete(users, module)
		if len(by) == 0 {
			by = []string{"tests"}
		}
		if got := strings.Join(by, ", "); got != row[1] {
			t.Errorf("ARCHITECTURE.md says that %s is used by %s; it is by %s", module, row[1], got)
		}
	}
	for module := range users {
		t.Errorf("%s is a requirement of go.mod and not in ARCHITECTURE.md's table of libraries: what is it for, and why this one?", module)
	}
}

func allowed(path string, by []string) bool {
	for _, b := range by {
		if path == b || strings.HasPrefix(path, b+"/") {
			return true
		}
	}
	return false
}

func TestNothingHappensBeforeMain(t *testing.T) {
	for _, p := range packages(t) {
		for _, file := range p.inits {
			t.Errorf("%s/%s has a func init", p.path, file)
		}
	}
}

func TestNoPackageVariables(t *testing.T) {
	for _, p := range packages(t) {
		for _, v := range p.variables {
			t.Errorf("%s/%s is a package variable: pass it, or make it a constant or a function", p.path, v)
		}
	}
}

func TestErrorNumbersStandInOneTable(t *testing.T) {
	for _, p := range packages(t) {
		for _, at := range p.numbers {
			t.Errorf("%s/%s: give the error's number a name in pkg/sqlerr", p.path, at)
		}
	}
}

func TestFilesHaveOneSubject(t *testing.T) {
	for _, p := range packages(t) {
		for _, f := range p.longFiles {
			t.Errorf("%s/%s: no file is longer than %d lines", p.path, f, maxLines)
		}
	}
}
