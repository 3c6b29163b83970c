package sqlparse

import (
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// corpus is vitess's statements and those of our golden files.
func corpus(t testing.TB) []string {
	all := vitessStatements(t)
	for _, name := range []string{"arguments", "comments", "rows", "tables", "select_list", "split"} {
		text, err := os.ReadFile("testdata/golden/" + name + ".txt")
		require.NoError(t, err)
		for _, part := range strings.Split(string(text), "\n\n") {
			if _, sql, ok := strings.Cut(part, "\n"); ok && !strings.HasPrefix(sql, "--") {
				sql, _, _ = strings.Cut(sql, "\n----")
				all = append(all, sql)
			}
		}
	}
	return all
}

func scanned(t testing.TB, d *Dialect, sql string) *Statement {
	st := d.NewStatement()
	if st.Scan([]byte(sql), 0) != nil {
		return nil
	}
	return st
}

// TestNormalizedKeepsArguments scans what Normalized made: there are as many arguments as before.
func TestNormalizedKeepsArguments(t *testing.T) {
	d := NewDialect(false, "9.1.0")
	list, scalar := regexp.MustCompile(`::v\d+`), regexp.MustCompile(`:v\d+`)
	for _, sql := range corpus(t) {
		st := scanned(t, d, sql)
		if st == nil || st.Uses()&Foreign != 0 || strings.Contains(sql, ":v") || strings.Contains(sql, "/*!") || strings.Contains(sql, "in (_latin") {
			continue
		}
		text := scalar.ReplaceAllString(list.ReplaceAllString(string(st.Normalized()), "(?)"), "?")
		again := scanned(t, d, text)
		require.NotNil(t, again, text)
		require.Equal(t, st.NumArgs(), again.NumArgs(), "%s\n%s", sql, text)
		require.Equal(t, st.Kind(), again.Kind(), "%s\n%s", sql, text)
	}
}

// TestOtherArgumentsSameShape replaces every argument by another of its class: the fingerprint stays.
func TestOtherArgumentsSameShape(t *testing.T) {
	d := NewDialect(false, "9.1.0")
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, sql := range corpus(t) {
		st := scanned(t, d, sql)
		if st == nil || st.NumRows() > 1 {
			continue
		}
		var b strings.Builder
		at := 0
		for i := range st.NumArgs() {
			a := st.Arg(i)
			if a.Start < at {
				t.Fatalf("argument %d overlaps the one before: %s", i, sql)
			}
			b.WriteString(sql[at:a.Start])
			b.WriteString(otherLiteral(rnd, st, i))
			at = a.End
		}
		b.WriteString(sql[at:])
		again := scanned(t, d, b.String())
		require.NotNil(t, again, b.String())
		require.Equal(t, st.Fingerprint(), again.Fingerprint(), "%s\n%s\n%q\n%q", sql, b.String(), st.Shape(), again.Shape())
	}
}

func otherLiteral(rnd *rand.Rand, st *Statement, i int) string {
	pick := func(s ...string) string { return s[rnd.IntN(len(s))] }
	one := func(a Arg) string {
		text := string(st.Text(a.Span))
		if text[0] == '_' || text[0] == '-' || text[0] == '+' {
			return text // the introducer, or that there is a sign
		}
		switch a.Class {
		case ClassInt:
			return pick("7", "0", "12345678901234567890")
		case ClassDecimal:
			return pick("0.5", "1.25", "123.")
		case ClassFloat:
			return pick("1e5", "2.5E-3")
		case ClassString:
			return pick("'x'", "'it''s'", `'\''`, "'a' 'b'", "'; -- /* :v1 ?'")
		case ClassHex:
			return pick("0x00", "x'ff'")
		case ClassBit:
			return pick("b'1'", "0b01")
		case ClassNull, ClassDefault, ClassBool:
			return pick("NULL", "DEFAULT", "TRUE", "3", "'x'")
		}
		return text
	}
	if a := st.Arg(i); a.Class != ClassList {
		return one(a)
	}
	parts := []string{}
	for n := range st.NumElems(i) {
		parts = append(parts, one(st.Elem(i, n)))
	}
	for range rnd.IntN(3) {
		parts = append(parts, parts[rnd.IntN(len(parts))])
	}
	return "( " + strings.Join(parts, ",") + ")"
}

// TestSpaceSameShape puts white space and comments between all tokens, and writes reserved words in other letters.
func TestSpaceSameShape(t *testing.T) {
	d := NewDialect(false, "9.1.0")
	rnd := rand.New(rand.NewPCG(3, 4))
	gaps := []string{" ", "\n", "\t /* c ' */", " -- x '\n", " # \"\n", " /**/ "}
	for _, sql := range corpus(t) {
		st := scanned(t, d, sql)
		if st == nil || strings.Contains(sql, "/*!") {
			continue
		}
		var b strings.Builder
		end := 0
		toks := st.Tokens()
		for tok := toks.Next(); tok.Kind != EOF; tok = toks.Next() {
			// No gap where one changes the meaning: before the parenthesis of a call, around the dots of a name.
			if tok.Start != end || end > 0 && !strings.ContainsAny(sql[end-1:tok.Start+1], "(.") {
				b.WriteString(gaps[rnd.IntN(len(gaps))])
			}
			text := sql[tok.Start:tok.End]
			if w := d.lookup([]byte(text)); tok.Kind == Word && w != nil && w.flags&wordReserved != 0 && !strings.HasSuffix(sql[:tok.Start], ".") {
				text = strings.ToUpper(text)
			}
			b.WriteString(text)
			end = tok.End
		}
		again := scanned(t, d, b.String())
		require.NotNil(t, again, b.String())
		require.Equal(t, st.Fingerprint(), again.Fingerprint(), "%s\n%s\n%q\n%q", sql, b.String(), st.Shape(), again.Shape())
	}
}

// TestSameShapeSameText: statements that share a fingerprint normalise to the same tokens.
func TestSameShapeSameText(t *testing.T) {
	d := NewDialect(false, "9.1.0")
	seen := map[Fingerprint]string{}
	first := map[Fingerprint]string{}
	shared := 0
	for _, sql := range corpus(t) {
		st := scanned(t, d, sql)
		if st == nil {
			continue
		}
		text := canonical(d, st.Normalized())
		if other, ok := seen[st.Fingerprint()]; ok {
			shared++
			require.Equal(t, other, text, "%s\n%s", first[st.Fingerprint()], sql)
		}
		seen[st.Fingerprint()], first[st.Fingerprint()] = text, sql
	}
	t.Logf("%d shapes, %d shared", len(seen), shared)
	require.Greater(t, shared, 500)
}

// canonical joins the tokens of normalised text with single spaces, reserved words in capitals.
func canonical(d *Dialect, text []byte) string {
	l := d.lexer(text, 0)
	var b strings.Builder
	for k := l.next(); k != EOF && k != Invalid; k = l.next() {
		word := string(text[l.start:l.pos])
		if l.word != nil && l.word.flags&wordReserved != 0 {
			word = strings.ToUpper(word)
		}
		b.WriteString(word + " ")
	}
	return b.String()
}

// TestDifferentShapes lists pairs that may never share a plan.
func TestDifferentShapes(t *testing.T) {
	d := NewDialect(true, "10.11.6-MariaDB")
	for _, pair := range [][2]string{
		{"SELECT 1", "SELECT '1'"},
		{"SELECT 1", "SELECT NULL"},
		{"SELECT 1", "SELECT TRUE"},
		{"SELECT 1", "SELECT 1.0"},
		{"SELECT 1.0", "SELECT 1e0"},
		{"SELECT 1", "SELECT ?"},
		{"SELECT 1", "SELECT 0x1"},
		{"SELECT 'a'", "SELECT _latin1'a'"},
		{"SELECT _utf8'a'", "SELECT _latin1'a'"},
		{"SELECT _utf8'a'", "SELECT _utf8 x'61'"},
		{"SELECT a FROM t", "SELECT A FROM t"},
		{"SELECT a FROM t", "SELECT `a` FROM t"},
		{"SELECT a AS 'x'", "SELECT a AS 'y'"},
		{"SELECT a 'x'", "SELECT a 'y'"},
		{"SELECT a FROM t", "SELECT /*+ HINT */ a FROM t"},
		{"SELECT a FROM t", "SELECT a FROM t /*! FOR UPDATE */"},
		{"SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b = 1"},
		{"SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b IN ('1')"},
		{"SELECT a FROM t WHERE b IN (1, 2)", "SELECT a FROM t WHERE b IN (1, NULL)"},
		{"SELECT a FROM t WHERE b IN (1, 2)", "SELECT a FROM t WHERE b IN (1, '2')"},
		{"SELECT a FROM t WHERE b IN (1)", "SELECT a FROM t WHERE b IN (_utf8'1')"},
		{"SELECT CAST(a AS CHAR(1))", "SELECT CAST(a AS CHAR(2))"},
		{"SELECT COUNT(*)", "SELECT COUNT (*)"},
		{"SELECT a FROM t LIMIT 1", "SELECT a FROM t LIMIT 1, 1"},
		{"SELECT a - 1", "SELECT a, -1"},
		{"SELECT @a", "SELECT @b"},
		{"SELECT a.b", "SELECT a b"},
		{"SELECT ab", "SELECT a b"},
		{"SELECT a<=b", "SELECT a< =b"},
		{"INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1, 2)"},
		{"INSERT INTO t VALUES (1), (2)", "INSERT INTO t VALUES (1), (NOW())"},
		{"INSERT INTO t VALUES (1), (2)", "INSERT INTO t VALUES (1), (2, 3)"},
		{"INSERT INTO t VALUES (1)", "INSERT INTO t VALUES ((1))"},
		{"INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1 + 1)"},
		{"INSERT INTO t VALUES (1)", "INSERT INTO t VALUES ROW(1)"},
		{"INSERT INTO t SET a = NULL", "INSERT INTO t SET a = 1"},
		{"SELECT DATE'2026-01-01'", "SELECT '2026-01-01'"},
		{"SELECT DATE'2026-01-01'", "SELECT TIME'2026-01-01'"},
		{"SELECT GROUP_CONCAT(a SEPARATOR ',')", "SELECT GROUP_CONCAT(a SEPARATOR ';')"},
		{"SELECT a\x01", "SELECT a"},
		{"SELECT 1", "SELECT \x01"},
	} {
		a, b := scanned(t, d, pair[0]), scanned(t, d, pair[1])
		require.NotEqual(t, a.Fingerprint(), b.Fingerprint(), "%s / %s", pair[0], pair[1])
	}
	for _, pair := range [][2]string{
		{"SELECT a FROM t WHERE b IN (1)", "select a\nfrom t where b in (-1, 2,3) -- x"},
		{"SELECT a FROM t ORDER BY 1", "SELECT a FROM t ORDER BY 2"},
		{"INSERT INTO t VALUES (1, 'x')", "INSERT INTO t VALUES (NULL, ?), (DEFAULT, 0xff), (_utf8'x', DATE'2026-01-01')"},
		{"INSERT INTO t VALUES (1, NOW())", "INSERT INTO t VALUES ('x', NOW()), (2, NOW())"},
		{"SELECT 'a'", "SELECT 'a' 'b'"},
		{"SELECT a FROM t", "SELECT a FROM t; SELECT 2"},
		{"SELECT a FROM t", "SELECT /*!40000 a */ FROM t"},
	} {
		a, b := scanned(t, d, pair[0]), scanned(t, d, pair[1])
		require.Equal(t, a.Fingerprint(), b.Fingerprint(), "%s / %s", pair[0], pair[1])
	}
}
