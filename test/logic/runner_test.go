package logic

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/test/differ"
)

// runner is one worker: a connection to each server, and a database on both.
type runner struct {
	*campaign
	t         *testing.T
	one, many *sql.Conn
	db        string
	g         *generator
	quiet     bool   // statements are not counted: a difference is being made smaller
	joins     string // what skarv_joins is
}

// both runs a statement that must succeed on both.
func (r *runner) both(stmt string) {
	for _, c := range []*sql.Conn{r.one, r.many} {
		_, err := c.ExecContext(r.t.Context(), stmt)
		require.NoError(r.t, err, stmt)
	}
}

// statement is one generated statement.
type statement struct {
	marked string // literals between marks
	vague  bool
	mode   int    // see below
	writes bool   // or locks
	joins  string // skarv_joins; empty: as it is
}

// The ways to run a statement.
const (
	asText     = iota
	prepared   // without parameters
	parametric // prepared, the literals are parameters
	executed   // PREPARE and EXECUTE with user variables
	modes
)

func (r *runner) round(seed uint64) {
	g := &generator{r: rand.New(rand.NewPCG(seed, 7)), mysql: r.mysql}
	r.g = g
	g.tables = g.schema()
	r.both("DROP DATABASE IF EXISTS " + r.db)
	r.both("CREATE DATABASE " + r.db)
	r.both("USE " + r.db)
	for _, t := range g.tables {
		r.both(t.create())
		if t.view == "" {
			r.rows(t)
		}
	}
	for i := 0; i < perRound && !r.over(); i++ {
		if g.oneIn(60) {
			if !r.transaction(seed, i) {
				return
			}
			continue
		}
		if !r.try(r.next(), seed, i) {
			return // the tables may differ now
		}
	}
}

// rows gives a new table its first rows.
func (r *runner) rows(t *table) {
	g := r.g
	n := g.r.IntN(25)
	if n == 0 || g.oneIn(8) {
		return
	}
	var rows []string
	for range n {
		var row []string
		for i := range t.columns {
			v := g.value(&t.columns[i], len(t.key) <= i)
			if t.auto && i == 0 { // no value is given out: which ones are depends on gaps
				v = fmt.Sprint(1 + g.r.IntN(25))
			}
			row = append(row, v)
		}
		rows = append(rows, "("+strings.Join(row, ", ")+")")
	}
	r.both(plain("INSERT IGNORE INTO " + t.name + " (" + names(t) + ") VALUES " + strings.Join(rows, ", ")))
}

// next makes up a statement.
func (r *runner) next() (s statement) {
	g := r.g
	g.names, g.vague = 0, false
	switch {
	case r.writes || g.oneIn(8):
		s.marked, s.writes = g.writeOver(), true
	case g.oneIn(9):
		s.marked, s.writes = g.write(), true
	default:
		s.marked = g.selectStatement()
		s.writes = strings.HasSuffix(s.marked, "FOR UPDATE")
	}
	s.vague, s.mode = g.vague, g.r.IntN(modes)
	if s.joins = g.pick("auto", "broadcast", "first", "queries", "workspace"); os.Getenv("JOINS") != "" {
		s.joins = os.Getenv("JOINS")
	}
	return s
}

// try runs a statement on both and reports whether they are still alike.
func (r *runner) try(s statement, seed uint64, i int) bool {
	var before tables
	if s.writes {
		before = r.dump(r.involved(s))
	}
	diff := r.differ(s)
	if diff == "" {
		return true
	}
	r.found.Add(1)
	if !s.writes {
		before = r.dump(r.involved(s))
	}
	r.t.Errorf("SEED=%d, statement %d (mode %d, joins %s):\n%s\n%s", seed, i, s.mode, s.joins, plain(s.marked), diff)
	r.t.Logf("over\n%s", r.story(before, r.involved(s)))
	story, last := r.shrink(s, before)
	r.t.Logf("made smaller:\n%s%s", story, last)
	return false
}

// transaction runs several statements between BEGIN and its end, with savepoints.
func (r *runner) transaction(seed uint64, i int) bool {
	g := r.g
	before := r.dump(g.tables)
	var log []string
	ok := func(s statement) bool {
		log = append(log, plain(s.marked)+";")
		r.transactional.Add(1)
		diff := r.differ(s)
		if diff == "" {
			return true
		}
		r.found.Add(1)
		r.t.Errorf("SEED=%d, statement %d, in a transaction (mode %d):\n%s\n%s", seed, i, s.mode, plain(s.marked), diff)
		r.t.Logf("the transaction:\n%s%s", r.story(before, g.tables), strings.Join(log, "\n"))
		r.both("ROLLBACK")
		return false
	}
	control := func(sql string) bool { return ok(statement{marked: sql}) }
	if !control(g.pick("BEGIN", "START TRANSACTION")) {
		return false
	}
	saved := false
	for range 2 + g.r.IntN(5) {
		switch {
		case g.oneIn(5):
			saved = true
			if !control("SAVEPOINT sp") {
				return false
			}
		case saved && g.oneIn(4):
			if !control("ROLLBACK TO sp") {
				return false
			}
		default:
			s := r.next()
			if g.oneIn(3) && !s.writes {
				g.names, g.vague = 0, false
				s.marked, s.writes, s.vague = g.write(), true, g.vague
			}
			if !ok(s) {
				return false
			}
		}
	}
	if !control(g.pick("COMMIT", "ROLLBACK", "ROLLBACK")) {
		return false
	}
	for _, t := range g.tables {
		if t.view == "" && !control("SELECT * FROM "+t.name) {
			return false
		}
	}
	return true
}

var (
	tableName = regexp.MustCompile(`\b[tv]\d+\b`)
	viewName  = regexp.MustCompile(`\bv\d+\b`)
)

// involved are the tables of a statement, those behind its views, and those that hang on them by foreign keys.
func (r *runner) involved(s statement) (out []*table) {
	named := map[string]bool{}
	for _, n := range tableName.FindAllString(s.marked, -1) {
		named[n] = true
	}
	for _, t := range slices.Backward(r.g.tables) { // views are the last
		if named[t.name] && t.view != "" {
			for _, n := range tableName.FindAllString(t.view, -1) {
				named[n] = true
			}
		}
	}
	for range 2 {
		for _, t := range r.g.tables {
			if t.parent != "" && (named[t.name] || named[t.parent]) {
				named[t.name], named[t.parent] = true, true
			}
		}
	}
	for _, t := range r.g.tables {
		if named[t.name] {
			out = append(out, t)
		}
	}
	return out
}

// run runs a statement in its mode.
func (s statement) run(ctx context.Context, c *sql.Conn) differ.Outcome {
	switch s.mode {
	case parametric:
		text, args := parameters(s.marked, true)
		return differ.RunAsIs(ctx, c, text, true, args...)
	case executed:
		text, args := parameters(s.marked, false)
		var using []string
		for i, a := range args {
			v := fmt.Sprint(a)
			switch a := a.(type) {
			case string:
				v = "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(a) + "'"
			case float64:
				v = strconv.FormatFloat(a, 'e', -1, 64)
			case nil:
				v = "NULL"
			}
			using = append(using, fmt.Sprintf("@p%d", i))
			if o := differ.Run(ctx, c, "SET "+using[i]+" = "+v, false); o.Errno != 0 {
				return o
			}
		}
		if o := differ.Run(ctx, c, "PREPARE ps FROM '"+strings.NewReplacer("'", "''", `\`, `\\`).Replace(text)+"'", false); o.Errno != 0 {
			return o
		}
		execute := "EXECUTE ps"
		if len(using) > 0 {
			execute += " USING " + strings.Join(using, ", ")
		}
		return differ.RunAsIs(ctx, c, execute, false)
	}
	return differ.RunAsIs(ctx, c, plain(s.marked), s.mode == prepared)
}

// differ runs s on both and says what differs.
func (r *runner) differ(s statement) string {
	if !r.quiet {
		r.statements.Add(1)
	}
	text := plain(s.marked)
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	if s.joins != "" && s.joins != r.joins {
		_, err := r.many.ExecContext(ctx, "SET skarv_joins = "+s.joins)
		require.NoError(r.t, err)
		r.joins = s.joins
	}
	var want, got differ.Outcome
	if s.writes {
		got = s.run(ctx, r.many)
	} else { // both at once
		done := make(chan struct{})
		go func() {
			defer close(done)
			want = s.run(ctx, r.one)
		}()
		got = s.run(ctx, r.many)
		<-done
	}
	if got.Errno == 1235 {
		if !r.quiet {
			r.refusal(got.Err, text)
		}
		return ""
	}
	if s.writes {
		want = s.run(ctx, r.one)
	}
	if want.Errno != 0 && !r.quiet {
		r.failed.Add(1)
	}
	if many := strings.Contains(text, "), (") || strings.HasPrefix(text, "UPDATE") || strings.Contains(text, ") SELECT ") || r.mysql && s.writes; many && rowErrors[want.Errno] && rowErrors[got.Errno] {
		got.Errno = want.Errno // rows with different faults: which one is met first is not promised; MySQL looks for parents before it looks for duplicates
	}
	// Whether NULL may come of it depends on whether the optimizer sees an inner join in it, or one row in what is rolled up.
	if outer.MatchString(text) || strings.Contains(text, "WITH ROLLUP") {
		for _, o := range []*differ.Outcome{&want, &got} {
			for i := range o.Columns {
				o.Columns[i], _, _ = strings.Cut(o.Columns[i], " null=")
			}
		}
	}
	if s.mode >= parametric { // what an expression of a string parameter is depends on whether a temporary table held it
		for _, o := range []*differ.Outcome{&want, &got} {
			for i := range o.Columns {
				o.Columns[i] = stringType.ReplaceAllString(o.Columns[i], " VARCHAR(")
			}
		}
	}
	for _, o := range []*differ.Outcome{&want, &got} { // the same of NULL, x'' and, on MySQL, YEAR()
		for i := range o.Columns {
			o.Columns[i] = strings.Replace(strings.Replace(o.Columns[i], " BINARY(", " VARBINARY(", 1), " YEAR(0", " UNSIGNED INT(0", 1)
		}
	}
	if r.mysql && (viewName.MatchString(text) || strings.Contains(text, "WITH ROLLUP")) { // of a view that MySQL opens into the statement, MIN(int) and MAX(int) are BIGINT
		for _, o := range []*differ.Outcome{&want, &got} {
			for i := range o.Columns {
				o.Columns[i], _, _ = strings.Cut(strings.Replace(o.Columns[i], " BIGINT(", " INT(", 1), " null=")
			}
		}
	}
	sorted := inOrder(text)
	fold(&want, s.vague, sorted)
	fold(&got, s.vague, sorted)
	diff := differ.Compare(want, got)
	if diff != "" || !s.writes {
		return diff
	}
	for _, t := range r.involved(s) {
		if t.view != "" {
			continue
		}
		all := "SELECT * FROM " + t.name
		want, got = differ.Run(ctx, r.one, all, false), differ.Run(ctx, r.many, all, false)
		if d := differ.Compare(want, got); d != "" {
			return "table " + t.name + " afterwards:\n" + d
		}
	}
	return ""
}

// rowErrors are a row's faults: NULL in a column without, a duplicate, a value out of range or of another kind, a foreign key.
var rowErrors = map[uint16]bool{1048: true, 1062: true, 1264: true, 1364: true, 1366: true, 1406: true, 1292: true, 1451: true, 1452: true, 1265: true}

// fold makes strings alike that compare equal, and takes away the order where none is asked for.
func fold(o *differ.Outcome, vague, sorted bool) {
	if vague {
		re := strings.NewReplacer("é", "e", "ë", "e", "ß", "s", "ss", "s")
		for i := range o.Rows {
			o.Rows[i] = trailing.ReplaceAllString(re.Replace(strings.ToLower(o.Rows[i])), `"`)
		}
	}
	if !sorted {
		sort.Strings(o.Rows)
	}
}

// inOrder reports whether a statement has an ORDER BY outside of all parentheses.
func inOrder(text string) bool {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		case 'O':
			if depth == 0 && strings.HasPrefix(text[i:], "ORDER BY") {
				return true
			}
		}
	}
	return false
}

var (
	stringType = regexp.MustCompile(` (CHAR|TEXT|TINYTEXT|MEDIUMTEXT|LONGTEXT)\(`)
	outer      = regexp.MustCompile(`(LEFT|RIGHT) JOIN`)
	trailing   = regexp.MustCompile(` +"`)
	marked     = regexp.MustCompile(litStart + `([^` + litEnd + `]*)` + litEnd)
)

func plain(s string) string { return marked.ReplaceAllString(s, "$1") }

// parameters turns marked literals into parameters. Decimals stay literals: as doubles their sums would depend on the order they are
// added in. NULL stays one if it is to be in a user variable, which remembers the character set of its last value.
func parameters(s string, nulls bool) (text string, args []any) {
	text = marked.ReplaceAllStringFunc(s, func(m string) string {
		lit := m[1 : len(m)-1]
		if lit == "NULL" && !nulls {
			return lit
		} else if lit == "NULL" {
			args = append(args, nil)
		} else if q, ok := strings.CutPrefix(lit, "'"); ok {
			args = append(args, strings.ReplaceAll(strings.TrimSuffix(q, "'"), `\\`, `\`))
		} else if n, err := strconv.ParseInt(lit, 10, 64); err == nil {
			args = append(args, n)
		} else if n, err := strconv.ParseUint(lit, 10, 64); err == nil {
			args = append(args, n)
		} else if f, err := strconv.ParseFloat(lit, 64); err == nil && strings.Contains(lit, "e") {
			args = append(args, f)
		} else {
			return lit
		}
		return "?"
	})
	return text, args
}
