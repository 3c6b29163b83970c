package routine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

func scan(t testing.TB, dialect *sqlparse.Dialect, text string) *sqlparse.Statement {
	st := dialect.NewStatement()
	if err := st.Scan([]byte(text), 0); err != nil {
		t.Skip(err)
	}
	return st
}

// TestGolden: "parse" shows the tree of a program, "plain" what it touches, "fill" a statement with values for variables.
func TestGolden(t *testing.T) {
	dialect := sqlparse.NewDialect(true, "")
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			st := scan(t, dialect, d.Input)
			switch d.Cmd {
			case "fill":
				values := map[string]string{"x": "5", "y": "'why'", "z": " -1", "id": "7"}
				out, err := Fill(st, Names{Variable: func(name string) (Value, bool, error) {
					v, ok := values[strings.ToLower(name)]
					if name := strings.ToLower(name); name == "s" {
						return Value{Text: "'why'", Collation: "some_ci", Exact: func() string { return "EXACT('why')" }}, true, nil
					}
					if name := strings.ToLower(name); name == "u" {
						return Value{Text: "6", Unsigned: true}, true, nil
					}
					return Value{Text: v}, ok, nil
				}, Column: func(name string) (string, bool) {
					collation, ok := map[string]string{"c": "some_ci", "d": "other_ci", "n": "", "k": "some_bin", "w": "utf8mb3_bin"}[name]
					return collation, ok
				}})
				if err != nil {
					return err.Error()
				}
				return string(out)
			case "into":
				names, into, ok := Into(st)
				rest := ""
				if ok {
					rest = d.Input[:into.Start] + " " + d.Input[into.End:]
				}
				return fmt.Sprint(names, " ", ok, "\n", rest)
			}
			p, err := Parse(st)
			if err != nil {
				return err.Error()
			}
			if d.Cmd == "plain" {
				touches, err := p.Plain("stored programs")
				if err != nil {
					return err.Error()
				}
				return fmt.Sprintf("volatile %t calls %v sets %v reads %v", touches.Volatile, names(touches.Calls), touches.Sets, names(touches.Reads))
			}
			var w strings.Builder
			fmt.Fprintf(&w, "%s %s.%s params %v returns %q\n", p.Kind, p.Name.DB, p.Name.Name, p.Params, p.Returns)
			if p.Kind == Trigger {
				fmt.Fprintf(&w, "%s %s on %s\n", p.Timing, p.Event, p.Table.Name)
			}
			if e := p.Schedule; e != nil {
				fmt.Fprintf(&w, "definer %q status %q before %q enables %t aside %t given %t\n", p.DefinerName, p.Text(e.Status), d.Input[e.StatusAt:], e.Enables,
					e.Aside, e.Given)
			}
			show(&w, p, p.Body, 1)
			return w.String()
		})
	})
}

func names(calls []Name) (out []string) {
	for _, c := range calls {
		out = append(out, strings.TrimPrefix(c.DB+"."+c.Name, "."))
	}
	return out
}

func show(w *strings.Builder, p *Program, s Statement, depth int) {
	in := strings.Repeat("  ", depth)
	list := func(body []Statement) {
		for _, b := range body {
			show(w, p, b, depth+1)
		}
	}
	var exprs []string
	for _, e := range Exprs(s) {
		exprs = append(exprs, p.Text(e.Span))
	}
	switch s := s.(type) {
	case *Block:
		fmt.Fprintf(w, "%sblock %s %q\n", in, s.Label, exprs)
		for _, v := range s.Variables {
			fmt.Fprintf(w, "%s  declare %v %s\n", in, v.Names, v.Type)
		}
		for _, c := range s.Cursors {
			fmt.Fprintf(w, "%s  cursor %s: %s\n", in, c.Name, p.Text(c.Query.Span))
		}
		for _, h := range s.Handlers {
			fmt.Fprintf(w, "%s  handler exit=%t %+v\n", in, h.Exit, h.Conditions)
			show(w, p, h.Body, depth+2)
		}
		list(s.Body)
	case *If:
		fmt.Fprintf(w, "%sif %q\n", in, exprs)
		for _, a := range s.Arms {
			list(a.Body)
		}
		list(s.Else)
	case *Case:
		fmt.Fprintf(w, "%scase %q else=%t\n", in, exprs, s.HasElse)
		for _, a := range s.Arms {
			list(a.Body)
		}
		list(s.Else)
	case *Loop:
		fmt.Fprintf(w, "%sloop %s %q\n", in, s.Label, exprs)
		list(s.Body)
	case *For:
		fmt.Fprintf(w, "%sfor %s %s reverse=%t %q\n", in, s.Label, s.Variable, s.Reverse, exprs)
		list(s.Body)
	case *Cursor:
		fmt.Fprintf(w, "%s%s %s %v %q\n", in, s.Verb, s.Name, s.Into, exprs)
	case *Set:
		fmt.Fprintf(w, "%sset", in)
		for _, a := range s.Assignments {
			fmt.Fprintf(w, " %s <- %s;", a.Target, p.Text(a.Value.Span))
		}
		w.WriteString("\n")
	case *SQL:
		fmt.Fprintf(w, "%s%s: %s\n", in, s.Verb, p.Text(s.Span))
	case *Return:
		fmt.Fprintf(w, "%sreturn %q\n", in, exprs)
	default:
		fmt.Fprintf(w, "%s%T %+v\n", in, s, s)
	}
}

func TestRowText(t *testing.T) {
	columns := func(name string) string {
		if name = strings.ToLower(name); name == "a" || name == "b c" {
			return name
		}
		return ""
	}
	read := func(text string) *Program {
		p, err := Parse(scan(t, sqlparse.NewDialect(true, ""), text))
		require.NoError(t, err)
		return p
	}
	const head = "CREATE TRIGGER new.a BEFORE UPDATE ON t FOR EACH ROW "
	text, row, err := read(head + "BEGIN SET NEW.A = old.`b c` + t.new.a, x = 'NEW.a'; INSERT INTO new.a VALUES (New . a, OLD.a); END").RowText(columns)
	require.NoError(t, err)
	require.Equal(t, head+"BEGIN SET `NEW.a` = `OLD.b c` + t.new.a, x = 'NEW.a'; INSERT INTO `NEW.a` VALUES (`NEW.a`, `OLD.a`); END", text)
	require.Equal(t, Row{Old: []string{"b c", "a"}, New: []string{"a"}}, row)
	_, _, err = read("CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW BEGIN SET NEW.a = 1; SET NEW.a = OLD.a; END").RowText(columns)
	require.ErrorContains(t, err, "There is no OLD row in on INSERT trigger")
	_, _, err = read("CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW SET NEW.x = 1").RowText(columns)
	require.ErrorContains(t, err, "Unknown column 'x' in 'NEW'")

	inert := "CREATE TRIGGER t BEFORE INSERT ON t FOR EACH ROW " + Inert("SET NEW.a = 'ä'''", "me")
	at, body, definer := Live(inert)
	require.Equal(t, "SET NEW.a = 'ä'''/me", body+"/"+definer)
	require.Equal(t, inert[:at]+body, LiveText(inert))
	require.Equal(t, "SET @x = 1", LiveText("SET @x = 1"))
}

// FuzzParse: whatever a client sends, reading it ends, with a tree or an error that a client may see; the tree's ranges are
// within the text.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"CREATE FUNCTION f(a INT) RETURNS INT DETERMINISTIC RETURN a + CASE a WHEN 1 THEN 2 ELSE 3 END",
		"CREATE PROCEDURE p(OUT x INT) l: BEGIN DECLARE c CURSOR FOR SELECT 1; DECLARE EXIT HANDLER FOR NOT FOUND, 1062 BEGIN END; OPEN c; WHILE x DO LEAVE l; END WHILE; REPEAT SET x = 1, @y := 2; UNTIL x END REPEAT; END l",
		"CREATE TRIGGER t BEFORE INSERT ON a.b FOR EACH ROW IF NEW.x THEN SET NEW.y = 1; ELSEIF 2 THEN SIGNAL SQLSTATE '45000'; END IF",
	} {
		f.Add(seed)
	}
	dialect := sqlparse.NewDialect(true, "")
	f.Fuzz(func(t *testing.T, text string) {
		st := scan(t, dialect, text)
		p, err := Parse(st)
		if err != nil {
			var e *sqlerr.Error
			require.ErrorAs(t, err, &e)
			return
		}
		require.NoError(t, Walk(p.Body, func(s Statement) error {
			for _, e := range Exprs(s) {
				require.NotEmpty(t, p.Text(e.Span))
			}
			return nil
		}))
		_, _ = p.Plain("programs")
		_, _ = p.Variables()
		_, _ = Fill(st, Names{Variable: func(name string) (Value, bool, error) {
			return Value{Text: "1", Exact: func() string { return "2" }}, len(name)%2 == 0, nil
		}, Column: func(string) (string, bool) { return "", true }})
	})
}

// TestFillCreated: a variable among what the query of a CREATE TABLE ... SELECT selects is refused, wherever it stands there.
func TestFillCreated(t *testing.T) {
	dialect := sqlparse.NewDialect(true, "")
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE a > x":                                        "SELECT a FROM t WHERE a > 5",
		"SELECT TRIM('-' FROM a) AS b FROM t WHERE a > x":                    "SELECT TRIM('-' FROM a) AS b FROM t WHERE a > 5",
		"SELECT (SELECT b FROM u WHERE b = x) AS b FROM t LIMIT 1":           "SELECT (SELECT b FROM u WHERE b = 5) AS b FROM t LIMIT 1",
		"SELECT a FROM t WHERE TRIM('-' FROM x) = a":                         "SELECT a FROM t WHERE TRIM('-' FROM 5) = a",
		"SELECT x AS b FROM t":                                               "",
		"SELECT TRIM('-' FROM x) AS b FROM t":                                "",
		"SELECT EXTRACT(YEAR FROM x) AS b FROM t":                            "",
		"SELECT SUBSTRING(x FROM 2) AS b, SUBSTRING('a' FROM x) AS c FROM t": "",
		"SELECT SUBSTRING('abc' FROM x FOR 2) AS c FROM t":                   "",
		"SELECT CONCAT(TRIM('-' FROM 'a'), x) AS b FROM t":                   "",
	} {
		out, err := FillCreated(scan(t, dialect, text), Names{Variable: func(name string) (Value, bool, error) { return Value{Text: "5"}, name == "x", nil }})
		if want == "" {
			require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), "%s: %s %v", text, out, err)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, string(out))
	}
}

// TestWins: which collation comparisons have was found out on both servers.
func TestWins(t *testing.T) {
	for _, c := range []struct {
		column, variable string
		want             bool
	}{
		{"utf8mb4_bin", "utf8mb4_unicode_ci", true},
		{"utf8mb4_bin", "utf8mb4_uca1400_ai_ci", true},
		{"utf8mb4_0900_bin", "utf8mb4_0900_ai_ci", true},
		{"latin1_bin", "latin1_swedish_ci", true},
		{"utf8mb4_unicode_ci", "latin1_bin", true},
		{"utf8mb4_unicode_ci", "cp1251_general_ci", true},
		{"utf8mb4_unicode_ci", "utf8mb3_bin", true},
		{"utf8mb3_general_ci", "ascii_bin", true},
		{"utf8mb4_unicode_ci", "utf8mb4_bin", false},
		{"utf8mb4_unicode_ci", "utf8mb4_general_ci", false},
		{"utf8mb4_unicode_ci", "uca1400_ai_ci", false},
		{"utf8mb4_bin", "utf8mb4_0900_bin", false},
		{"utf8mb4_bin", "utf16_general_ci", false},
		{"utf8mb4_bin", "ucs2_general_ci", false},
		{"utf8mb4_bin", "binary", false},
		{"utf8mb3_bin", "utf8mb4_bin", false},
		{"latin1_bin", "utf8mb4_bin", false},
		{"latin1_bin", "cp1251_general_ci", false},
		{"binary", "utf8mb4_bin", false},
	} {
		require.Equal(t, c.want, wins(c.column, c.variable), "%v", c)
	}
}
