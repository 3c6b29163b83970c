package sqlparse

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/sqltypes"
)

// TestGolden runs testdata. `go test ./pkg/sqlparse -rewrite` writes the answers; read the diff.
//
// Arguments of a command: mysql (instead of mariadb), version=, mode=(ansi_quotes,no_backslash_escapes,...).
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			mariadb := !d.HasArg("mysql")
			version := map[bool]string{true: "10.11.6-MariaDB", false: "8.4.6"}[mariadb]
			d.MaybeScanArgs(t, "version", &version)
			var mode Mode
			for name, bit := range map[string]Mode{
				"ansi_quotes": ANSIQuotes, "no_backslash_escapes": NoBackslashEscapes, "ignore_space": IgnoreSpace,
				"pipes_as_concat": PipesAsConcat,
			} {
				if d.HasArg(name) {
					mode |= bit
				}
			}
			dialect := NewDialect(mariadb, version)
			if d.Cmd == "split" {
				return splitGolden(dialect, d.Input, mode)
			}
			st := dialect.NewStatement()
			if d.Cmd == "kinds" {
				var b strings.Builder
				for _, line := range strings.Split(d.Input, "\n") {
					for rest := []byte(line); rest != nil; rest = st.Rest() {
						if err := st.Scan(rest, mode); err != nil {
							return err.Error()
						}
						fmt.Fprintf(&b, "%s: %s\n", st.Kind(), strings.TrimSpace(string(st.SQL())))
					}
				}
				return b.String()
			}
			if err := st.Scan([]byte(d.Input), mode); err != nil {
				return err.Error()
			}
			switch d.Cmd {
			case "scan":
				return scanGolden(t, st)
			case "without-returning":
				p, err := NewParser()
				if err != nil {
					return err.Error()
				}
				tree, used, err := p.ParseWithoutReturning(st)
				if err != nil {
					return err.Error()
				}
				return fmt.Sprintf("%s arguments=%v", sqlparser.String(tree), used)
			case "tokens":
				return tokensGolden(st)
			case "tables":
				refs, sure := st.Tables()
				var b strings.Builder
				fmt.Fprintf(&b, "sure %v\n", sure)
				for _, r := range refs {
					fmt.Fprintf(&b, "%q.%q %q", r.DB, r.Name, st.Text(r.Span))
					if r.Write {
						b.WriteString(" write")
					}
					b.WriteByte('\n')
				}
				return b.String()
			case "select-list":
				var b strings.Builder
				for _, it := range st.SelectItems(nil) {
					fmt.Fprintf(&b, "expr %q", st.Text(it.Expr))
					if it.Star {
						b.WriteString(" star\n")
						continue
					}
					if it.Alias.End > 0 {
						fmt.Fprintf(&b, " alias %q", st.Text(it.Alias))
					}
					fmt.Fprintf(&b, " name %q\n", st.AppendColumnName(nil, it))
				}
				return b.String()
			case "insert":
				it, ok := st.InsertText()
				if !ok {
					return "no insert"
				}
				var b strings.Builder
				fmt.Fprintf(&b, "table %q.%q columns %v %d %q\n", it.Table.DB, it.Table.Name, it.HasColumns, it.NumColumns, st.Text(it.Columns))
				fmt.Fprintf(&b, "at %q\nvalues %v set %v query %v body %q\n", st.SQL()[it.At:], it.Values, it.Set, it.Query, st.SQL()[it.Body:])
				if it.OnDuplicate >= 0 {
					fmt.Fprintf(&b, "on duplicate %q\n", st.SQL()[it.OnDuplicate:])
				}
				return b.String()
			}
			return "unknown command"
		})
	})
}

func splitGolden(d *Dialect, sql string, mode Mode) string {
	var b strings.Builder
	for rest := []byte(sql); rest != nil; {
		var first []byte
		first, rest = d.Next(rest, mode)
		fmt.Fprintf(&b, "%q\n", first)
	}
	return b.String()
}

func tokensGolden(st *Statement) string {
	names := [...]string{
		"eof", "word", "name", "string", "nstring", "int", "decimal", "float", "hex", "bit", "uservar", "sysvar", "param", "op",
		"hint", "invalid",
	}
	var b strings.Builder
	for toks := st.Tokens(); ; {
		tok := toks.Next()
		if tok.Kind == EOF {
			return b.String()
		}
		fmt.Fprintf(&b, "%s %s\n", names[tok.Kind], st.Text(tok.Span))
	}
}

func scanGolden(t *testing.T, st *Statement) string {
	classes := [...]string{
		"expression", "int", "decimal", "float", "string", "hex", "bit", "date", "time", "datetime", "param", "null", "bool",
		"default", "list",
	}
	kinds := [...]string{"Null", "Int", "Decimal", "Float", "String", "Binary", "Date", "Datetime", "Time", "Bool"}
	var b strings.Builder
	fmt.Fprintf(&b, "%s", st.Kind())
	if u := st.Uses(); u != 0 {
		fmt.Fprintf(&b, " %s", u)
	}
	fmt.Fprintf(&b, "\n%s\n", st.Normalized())
	show := func(a Arg, v sqltypes.Value, ok bool) {
		fmt.Fprintf(&b, "%s %s", classes[a.Class], st.Text(a.Span))
		switch {
		case a.Class == ClassParam:
			fmt.Fprintf(&b, " number %d", a.Param)
		case ok:
			fmt.Fprintf(&b, " = %s %q", kinds[v.Kind], v.Raw)
		}
	}
	for i := range st.NumArgs() {
		v, ok := st.Value(i, nil)
		fmt.Fprintf(&b, "%d: ", i)
		show(st.Arg(i), v, ok)
		if st.Arg(i).Class == ClassList {
			for j := range st.NumElems(i) {
				b.WriteString(" [")
				v, ok := st.ElemValue(i, j, nil)
				show(st.Elem(i, j), v, ok)
				b.WriteString("]")
			}
		}
		b.WriteByte('\n')
	}
	if st.NumRows() > 0 {
		fmt.Fprintf(&b, "rows uniform=%v\n", st.UniformRows())
	}
	for i := range st.NumRows() {
		from, to := st.RowParams(i)
		fmt.Fprintf(&b, "row %d: %s params %d-%d", i, st.Text(st.Row(i)), from, to)
		for c := range st.RowColumns(i) {
			a, _ := st.RowElem(i, c)
			v, ok := st.RowValue(i, c, nil)
			b.WriteString(" [")
			show(a, v, ok)
			b.WriteString("]")
		}
		b.WriteByte('\n')
	}
	if r := st.Rest(); r != nil {
		fmt.Fprintf(&b, "rest %q\n", r)
	}
	p, err := NewParser()
	if err != nil {
		t.Fatal(err)
	}
	tree, used, err := p.Parse(st)
	if err != nil {
		fmt.Fprintf(&b, "%v\n", err)
	} else {
		fmt.Fprintf(&b, "tree %T arguments=%v\n", tree, used)
	}
	return b.String()
}
