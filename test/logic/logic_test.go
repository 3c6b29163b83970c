// Package logic looks for wrong answers: it makes up tables and statements, runs each statement on one plain server and
// on a cluster of four node groups, and compares what clients see. The cluster may refuse with error 1235, which is
// counted, and must otherwise answer as the one server does. A difference is cut down to few rows and words and printed
// as a story for test/compat.
package logic

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
	"skarv/test/differ"
)

const (
	defaultTime  = 40 * time.Second
	perRound     = 250 // statements over one schema
	maxFound     = 5
	shrinkBudget = 6 * time.Second
)

// SECONDS says how long, SEED where to start; both are printed. WRITES=1 looks at writes over several groups only.
func TestLogic(t *testing.T) {
	length, seed := defaultTime, uint64(1)
	if s := os.Getenv("SECONDS"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err, "SECONDS")
		length = time.Duration(n) * time.Second
	}
	if s := os.Getenv("SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		require.NoError(t, err, "SEED")
		seed = n
	}
	most := maxFound
	if s := os.Getenv("DIFFERENCES"); s != "" {
		n, err := strconv.Atoi(s)
		require.NoError(t, err, "DIFFERENCES")
		most = n
	}
	one, many := cluster.StartServer(t), cluster.Start(t, cluster.Groups(4))
	r := &runner{t: t, one: connect(t, one.DSN("")), many: connect(t, many.DSN("")), seed: seed, refusals: map[string]int{}, examples: map[string]string{}, writes: os.Getenv("WRITES") != ""}
	r.until = time.Now().Add(length)
	for round := seed; time.Now().Before(r.until) && r.found < most; round++ {
		r.round(round)
	}
	t.Logf("SEED=%d SECONDS=%d: %d statements, %d refused (%.1f %%), %d failed on both, %d differences", seed, int(length.Seconds()),
		r.statements, r.refused, 100*float64(r.refused)/float64(max(r.statements, 1)), r.failed, r.found)
	if testing.Verbose() {
		r.printRefusals()
	}
}

// runner is both servers and what was seen.
type runner struct {
	t                                  *testing.T
	one, many                          *sql.Conn
	seed                               uint64
	until                              time.Time
	statements, refused, failed, found int
	refusals                           map[string]int
	examples                           map[string]string // of refusals
	writes                             bool              // WRITES=1: writes over several groups and nothing else
	g                                  *generator
}

func connect(t *testing.T, dsn string) *sql.Conn {
	db, err := sql.Open("mysql", dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	c, err := db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// both runs a statement that must succeed on both.
func (r *runner) both(stmt string) {
	for _, c := range []*sql.Conn{r.one, r.many} {
		_, err := c.ExecContext(r.t.Context(), stmt)
		require.NoError(r.t, err, stmt)
	}
}

func (r *runner) database() {
	r.both("DROP DATABASE IF EXISTS logic")
	r.both("CREATE DATABASE logic")
	r.both("USE logic")
}

// statement is one generated statement.
type statement struct {
	marked string // literals between marks
	vague  bool
	mode   int // text, prepared, prepared with parameters
}

func (r *runner) round(seed uint64) {
	g := &generator{r: rand.New(rand.NewPCG(seed, 7))}
	r.g = g
	g.tables = g.schema()
	r.database()
	for _, t := range g.tables {
		r.both(t.create())
		rows := g.r.IntN(25)
		if g.oneIn(8) {
			rows = 0
		}
		var names []string
		for _, c := range t.columns {
			names = append(names, c.name)
		}
		for range rows {
			var row []string
			for i := range t.columns {
				row = append(row, g.value(&t.columns[i], len(t.key) <= i))
			}
			r.both(plain("INSERT IGNORE INTO " + t.name + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(row, ", ") + ")"))
		}
	}
	for i := 0; i < perRound && time.Now().Before(r.until); i++ {
		g.names, g.vague = 0, false
		var t *table
		var stmt statement
		switch {
		case r.writes || g.oneIn(10):
			stmt.marked, t = g.writeOver()
		case g.oneIn(9):
			stmt.marked, t = g.write()
		default:
			stmt.marked = g.selectStatement()
		}
		stmt.vague, stmt.mode = g.vague, g.r.IntN(3)
		if !r.try(stmt, t, seed, i) {
			return // the tables may differ now
		}
	}
}

// try runs a statement on both and reports whether they are still alike.
func (r *runner) try(s statement, t *table, seed uint64, i int) bool {
	r.statements++
	var before tables
	if t != nil {
		before = r.dump()
	}
	diff := r.differ(s, t)
	if diff == "" {
		return true
	}
	r.found++
	if t == nil {
		before = r.dump()
	}
	r.t.Errorf("SEED=%d, statement %d (mode %d):\n%s\n%s", seed, i, s.mode, plain(s.marked), diff)
	story, last := r.shrink(s, t, before)
	r.t.Logf("made smaller:\n%s%s", story, last)
	return false
}

// differ runs s on both and says what differs; t is the table it writes to.
func (r *runner) differ(s statement, t *table) string {
	text, args := plain(s.marked), []any(nil)
	if s.mode == 2 {
		text, args = parameters(s.marked)
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	got := differ.Run(ctx, r.many, text, s.mode > 0, args...)
	if got.Errno == 1235 {
		r.refused++
		if r.refusals[got.Err]++; r.refusals[got.Err] == 1 {
			r.examples[got.Err] = text
		}
		return ""
	}
	want := differ.Run(ctx, r.one, text, s.mode > 0, args...)
	if want.Errno != 0 {
		r.failed++
	}
	if s.mode == 2 { // a parameter in the select list has the type it was sent with, once it is text another
		want.Columns, got.Columns = untyped(want.Columns), untyped(got.Columns)
	}
	if many := strings.Contains(text, "), (") || strings.HasPrefix(text, "UPDATE") || strings.Contains(text, ") SELECT "); many && rowErrors[want.Errno] && rowErrors[got.Errno] {
		got.Errno = want.Errno // rows with different faults: which one is met first is not promised
	}
	if outer.MatchString(text) { // whether NULL may come of it depends on whether the optimizer sees an inner join in it
		for _, o := range []*differ.Outcome{&want, &got} {
			for i := range o.Columns {
				o.Columns[i], _, _ = strings.Cut(o.Columns[i], " null=")
			}
		}
	}
	sorted := inOrder(text)
	fold(&want, s.vague, sorted)
	fold(&got, s.vague, sorted)
	diff := differ.Compare(want, got)
	if diff == "" && t != nil {
		all := "SELECT * FROM " + t.name
		want, got = differ.Run(ctx, r.one, all, false), differ.Run(ctx, r.many, all, false)
		if d := differ.Compare(want, got); d != "" {
			diff = "the table afterwards:\n" + d
		}
	}
	return diff
}

// rowErrors are a row's faults: NULL in a column without, a duplicate, a value out of range or of another kind.
var rowErrors = map[uint16]bool{1048: true, 1062: true, 1264: true, 1364: true, 1366: true, 1406: true, 1292: true}

func untyped(columns []string) (names []string) {
	for _, c := range columns {
		names = append(names, typeOf.ReplaceAllString(c, ""))
	}
	return names
}

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
	typeOf   = regexp.MustCompile(`( UNSIGNED)? [A-Z]+\([-\d]+,[-\d]+\) null=\w+$`)
	outer    = regexp.MustCompile(`(LEFT|RIGHT) JOIN`)
	trailing = regexp.MustCompile(` +"`)
	marked   = regexp.MustCompile(litStart + `([^` + litEnd + `]*)` + litEnd)
)

func plain(s string) string { return marked.ReplaceAllString(s, "$1") }

// parameters turns marked literals into parameters.
func parameters(s string) (text string, args []any) {
	text = marked.ReplaceAllStringFunc(s, func(m string) string {
		lit := m[1 : len(m)-1]
		if q, ok := strings.CutPrefix(lit, "'"); ok {
			args = append(args, strings.ReplaceAll(strings.TrimSuffix(q, "'"), `\\`, `\`))
		} else if n, err := strconv.ParseInt(lit, 10, 64); err == nil {
			args = append(args, n)
		} else {
			return lit
		}
		return "?"
	})
	return text, args
}

func (r *runner) printRefusals() {
	var all []string
	for text, n := range r.refusals {
		all = append(all, fmt.Sprintf("%5d %s\n      %s", n, text, r.examples[text]))
	}
	sort.Sort(sort.Reverse(sort.StringSlice(all)))
	r.t.Log("refused:\n" + strings.Join(all, "\n"))
}
