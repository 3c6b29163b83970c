package sqlparse

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// FuzzScan asks everything a Statement can answer, of any text.
func FuzzScan(f *testing.F) {
	all := corpus(f)
	for i, sql := range all {
		if i%200 == 0 || i > len(all)-150 && i%2 == 0 {
			f.Add([]byte(sql), byte(i), i%2 == 0)
		}
	}
	maria, mysql := NewDialect(true, "10.11.6-MariaDB"), NewDialect(false, "8.4.6")
	f.Fuzz(func(t *testing.T, sql []byte, mode byte, mariadb bool) {
		d := mysql
		if mariadb {
			d = maria
		}
		checkStatement(t, d, sql, Mode(mode))
	})
}

func checkStatement(t *testing.T, d *Dialect, sql []byte, mode Mode) {
	before := bytes.Clone(sql)
	st := d.NewStatement()
	first, rest := d.Next(sql, mode)
	err := st.Scan(sql, mode)
	if err != nil {
		if st.NumArgs() != 0 || st.Kind() != Empty || len(st.SQL()) != 0 {
			t.Fatal("not empty after an error")
		}
		return
	}
	if !bytes.HasPrefix(first, st.SQL()) || !bytes.Equal(rest, st.Rest()) {
		t.Fatalf("Next %q %q, Scan %q %q", first, rest, st.SQL(), st.Rest())
	}
	if rest != nil && len(rest) >= len(sql) {
		t.Fatal("no progress")
	}
	in := func(sp Span, from, to int) {
		if sp.Start < from || sp.End < sp.Start || sp.End > to {
			t.Fatalf("span %v not in %d-%d", sp, from, to)
		}
	}
	end := len(st.SQL())
	params := 0
	at := 0
	for i := range st.NumArgs() {
		a := st.Arg(i)
		in(a.Span, at, end)
		at = a.End
		st.Value(i, nil)
		for j := range st.NumElems(i) {
			e := st.Elem(i, j)
			in(e.Span, a.Start, a.End)
			if e.Class == ClassNone || e.Class == ClassParam && (e.Param < 0 || e.Param >= st.NumParams()) {
				t.Fatalf("element %+v", e)
			}
			if _, ok := st.ElemValue(i, j, nil); !ok && e.Class < ClassString {
				t.Fatalf("no value of %q", st.Text(e.Span))
			}
		}
		if a.Class == ClassParam {
			params++
		}
	}
	if params > st.NumParams() {
		t.Fatal("more parameters than counted")
	}
	at = 0
	for i := range st.NumRows() {
		r := st.Row(i)
		in(r, at, end)
		at = r.End
		if st.Text(r)[0] != '(' || st.Text(r)[r.End-r.Start-1] != ')' {
			t.Fatalf("row %q", st.Text(r))
		}
		from, to := st.RowParams(i)
		if from > to || to > st.NumParams() {
			t.Fatalf("row params %d-%d of %d", from, to, st.NumParams())
		}
		n := st.RowColumns(i)
		for c := range n {
			e, ok := st.RowElem(i, c)
			if !ok {
				t.Fatalf("row %q has no column %d of %d", st.Text(r), c, n)
			}
			in(e.Span, r.Start, r.End)
			if e.Class == ClassNone && st.UniformRows() {
				t.Fatalf("expression %q in a plain row %q", st.Text(e.Span), st.Text(r))
			}
			if e.Class == ClassParam && (e.Param < from || e.Param >= to) {
				t.Fatalf("parameter %d of row %d-%d", e.Param, from, to)
			}
			st.RowValue(i, c, nil)
		}
		if _, ok := st.RowElem(i, n); ok {
			t.Fatal("a column too many")
		}
	}
	st.Normalized()
	st.Digest(nil)
	st.render(nil, renderRaw)
	if list, ok := st.SelectList(); ok {
		in(list, 0, end)
		for _, it := range st.SelectItems(nil) {
			in(it.Expr, list.Start, list.End)
			if it.Alias.End > 0 {
				in(it.Alias, it.Expr.End, list.End)
			}
			st.AppendColumnName(nil, it)
		}
	}
	refs, _ := st.Tables()
	for _, r := range refs {
		in(r.Span, 0, end)
	}
	if it, ok := st.InsertText(); ok {
		in(it.Table.Span, 0, end)
		in(it.Columns, 0, end)
		in(Span{it.At, it.Body}, 0, end)
	}
	if bytes.HasSuffix(st.SQL(), []byte("--")) {
		return // two minuses before a `;`, but a comment before anything else
	}
	explainedAlike(t, d, st)
	again := d.NewStatement()
	if err := again.Scan(append(bytes.Clone(st.SQL()), " -- x\n"...), mode); err != nil {
		t.Fatal(err)
	}
	if again.Fingerprint() != st.Fingerprint() {
		t.Fatalf("a comment changes the shape %q to %q", st.Shape(), again.Shape())
	}
	if !bytes.Equal(sql, before) {
		t.Fatal("text changed")
	}
}

// TestMutations asks the same of statements cut and spliced at random.
func TestMutations(t *testing.T) {
	all := corpus(t)
	rnd := rand.New(rand.NewPCG(5, 6))
	maria, mysql := NewDialect(true, "10.11.6-MariaDB"), NewDialect(false, "8.4.6")
	marks := []string{"'", "\"", "`", "/*", "*/", "/*!", "--", "#", "(", ")", ",", ";", "?", "\\", "@", "-", ".", "_utf8", "IN (", "VALUES (", " AS ", "\x00", "\n", "0x", "N'", "CASE", " END ", "SELECT "}
	var last string
	defer func() {
		if t.Failed() {
			t.Logf("%q", last)
		}
	}()
	for range 40000 {
		a, b := all[rnd.IntN(len(all))], all[rnd.IntN(len(all))]
		sql := a[:rnd.IntN(len(a)+1)] + marks[rnd.IntN(len(marks))] + b[rnd.IntN(len(b)+1):]
		d := mysql
		if rnd.IntN(2) == 0 {
			d = maria
		}
		last = sql
		checkStatement(t, d, []byte(sql), Mode(rnd.IntN(8)))
	}
}

// explainedAlike checks that EXPLAIN of a query has the query's own list.
func explainedAlike(t *testing.T, d *Dialect, st *Statement) {
	tokens := st.Tokens()
	first := tokens.Next()
	if st.Kind() != Select || first.Kind != Word && !st.Is(first, "(") {
		return // not the beginning of a query
	}
	const explain = "EXPLAIN "
	explained := d.NewStatement()
	if err := explained.Scan(append([]byte(explain), st.SQL()...), st.Mode()); err != nil {
		t.Fatal(err)
	}
	want, listed := st.SelectList()
	got, ok := explained.SelectList()
	if listed {
		want.Start, want.End = want.Start+len(explain), want.End+len(explain)
	}
	if ok != listed || got != want {
		t.Fatalf("EXPLAIN has the list %v, the query alone %v", got, want)
	}
}
