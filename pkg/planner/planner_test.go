package planner

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// TestRulesAreExplained keeps every rule named and argued, and names unique within a list.
func TestRulesAreExplained(t *testing.T) {
	for _, list := range ruleLists() {
		seen := map[string]bool{}
		for _, r := range list {
			require.NotEmpty(t, r.Name)
			require.False(t, seen[r.Name], r.Name)
			seen[r.Name] = true
			require.NotEmpty(t, r.Doc, r.Name)
			require.NotNil(t, r.Apply, r.Name)
		}
	}
}

// goldenStatements are the schemas and statements of testdata.
func goldenStatements(t testing.TB) (schema string, statements []string) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, block := range strings.Split(string(text), "\n\n") {
			lines := strings.Split(block, "\n")
			for len(lines) > 0 && strings.HasPrefix(lines[0], "#") {
				lines = lines[1:]
			}
			if len(lines) < 2 {
				continue
			}
			if strings.HasPrefix(lines[0], "schema") && f == filepath.Join("testdata", "refused.txt") {
				schema = strings.Split(strings.Join(lines[1:], "\n"), "----")[0]
			}
			if strings.HasPrefix(lines[0], "plan") {
				statements = append(statements, lines[1])
			}
		}
	}
	return schema, statements
}

// FuzzBuild plans whatever text a client may send: it ends with a plan that has something to do, or an *sqlerr.Error.
func FuzzBuild(f *testing.F) {
	schema, statements := goldenStatements(f)
	for _, s := range statements {
		f.Add(s, uint8(0))
	}
	s := newTestSchema(f)
	s.add(f, schema)
	p, err := New()
	require.NoError(f, err)
	dialect := sqlparse.NewDialect(true, "10.11.6-MariaDB")
	f.Fuzz(func(t *testing.T, sql string, mode uint8) {
		st := dialect.NewStatement()
		info := SessionInfo{Mode: sqlparse.Mode(mode) & 31, UTF8Results: mode&32 != 0}
		if st.Scan([]byte(sql), info.Mode) != nil {
			return
		}
		pl, err := p.Build(st, "test", s.snap, info)
		if err != nil {
			var e *sqlerr.Error
			require.True(t, errors.As(err, &e))
			return
		}
		require.NotZero(t, pl.Kind)
		_ = pl.String()
		checkPlan(t, st, pl)
	})
}

// checkPlan checks what an executor relies on.
func checkPlan(t *testing.T, st *sqlparse.Statement, p *plan.Plan) {
	if p.Inner != nil {
		return
	}
	if p.Relay == nil && p.Root == nil {
		switch p.Kind {
		case plan.Select, plan.Insert, plan.Replace, plan.Update, plan.Delete, plan.Do, plan.Flush, plan.TableAdmin, plan.Other:
			require.NotNil(t, p.Refuse)
		}
	}
	arg := func(n int) {
		require.True(t, n < st.NumArgs(), "argument %d of %d", n, st.NumArgs())
	}
	var text func(plan.Text)
	text = func(tx plan.Text) {
		for _, piece := range tx {
			arg(piece.Arg)
		}
	}
	var node func(plan.Node)
	node = func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Fragment:
			for _, o := range n.Target.Key {
				arg(o.Arg)
			}
			if n.Target.Kind == plan.ByKey {
				require.Len(t, n.Target.Key, len(n.Target.Table.Distribution))
			}
			text(n.Text)
		case *plan.Merge:
			node(n.Input)
		case *plan.Aggregate:
			node(n.Input)
		case *plan.Distinct:
			node(n.Input)
		case *plan.Limit:
			node(n.Input)
		case *plan.Project:
			node(n.Input)
		case *plan.Workspace:
			for _, c := range slices.Concat(n.Copies, n.Local) {
				if c.View != nil {
					node(c.View)
					continue
				}
				node(c.Input)
			}
		case *plan.InsertRows:
			text(n.Before)
			text(n.After)
			for _, r := range n.Row {
				text(r)
			}
		}
	}
	if p.Relay != nil {
		node(p.Relay)
	}
	if p.Root != nil {
		node(p.Root)
	}
}

func benchmarkBuild(b *testing.B, sql string) {
	s := newTestSchema(b)
	schema, _ := goldenStatements(b)
	s.add(b, schema)
	p, err := New()
	require.NoError(b, err)
	st := sqlparse.NewDialect(true, "10.11.6-MariaDB").NewStatement()
	require.NoError(b, st.Scan([]byte(sql), 0))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Build(st, "test", s.snap, SessionInfo{UTF8Results: true}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBuildPoint(b *testing.B) {
	benchmarkBuild(b, "SELECT name FROM customer WHERE id = 42")
}

func BenchmarkBuildJoin3(b *testing.B) {
	benchmarkBuild(b, `SELECT c.name, o.total, p.title FROM customer c JOIN orders o ON o.customer_id = c.id
JOIN product p ON p.id = o.id WHERE c.region = 'north' AND o.total > 10 ORDER BY c.name, o.total DESC LIMIT 10`)
}

func BenchmarkBuildInsert(b *testing.B) {
	benchmarkBuild(b, "INSERT INTO customer (id, name, region) VALUES (1, 'a', 'b'), (2, 'c', 'd')")
}
