package logic

import (
	"context"
	"database/sql"
	stdjson "encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"skarv/pkg/sqlerr"
	"skarv/test/cluster"
	"skarv/test/differ"
)

// runner is one worker: a connection to each server, and a database on both.
type runner struct {
	*campaign
	t         testing.TB
	one, many *sql.Conn // nil before the first round
	before    deaths    // when the round began
	db        string
	g         *generator
	quiet     bool     // statements are not counted: a difference is being made smaller
	within    bool     // a transaction
	worked    bool     // the last statement, on the cluster
	joining   string   // what skarv_joins is
	earlier   []string // the last statements
}

// both runs a statement that must succeed on both, at once.
func (r *runner) both(stmt string) {
	var g sync.WaitGroup
	var errs [2]error
	for i, c := range []*sql.Conn{r.one, r.many} {
		g.Go(func() { _, errs[i] = c.ExecContext(r.t.Context(), stmt) })
	}
	g.Wait()
	for _, err := range errs {
		r.must(err, stmt)
	}
}

// onBoth runs a statement on both at once and returns what one server and the cluster say.
func (r *runner) onBoth(run func(c *sql.Conn) []differ.Outcome) (wants, gots []differ.Outcome) {
	var g sync.WaitGroup
	g.Go(func() { wants = run(r.one) })
	gots = run(r.many)
	g.Wait()
	return wants, gots
}

// statement is one generated statement.
type statement struct {
	marked string // literals between marks
	vague  bool
	mode   int    // see below
	seed   uint64 // of the other arguments of again
	writes bool   // or locks
	joins  string // skarv_joins; empty: as it is
	file   string // what LOAD DATA LOCAL reads
}

// The ways to run a statement.
const (
	asText     = iota
	prepared   // without parameters
	parametric // prepared, the literals are parameters
	executed   // PREPARE and EXECUTE with user variables
	variables  // the literals are user variables
	again      // parametric, three times with two lists of arguments
	modes
)

// round runs statements over tables of its own, until the tables differ, or a server has ended.
func (r *runner) round(seed uint64) {
	defer func() {
		if e := recover(); e != nil && e != (roundOver{}) {
			panic(e)
		}
	}()
	r.ready()
	g := &generator{r: rand.New(rand.NewPCG(seed, 7)), mysql: r.mysql, hidden: map[string]string{}}
	g.tables = g.schema()
	r.begin(g)
	for i := 0; i < perRound && !r.over(); i++ {
		if r.g.oneIn(150) {
			r.alter(seed, i)
			continue
		}
		if r.g.oneIn(45) {
			r.act(seed, i)
			continue
		}
		s := r.next()
		r.try(s, seed, i)
		if i == r.show {
			e := episode{steps: []statement{s}, rows: r.dump(r.involved(s)), used: r.involved(s)}
			r.t.Logf("SEED=%d, statement %d (mode %d, joins %s):\n%s\n%s", seed, i, s.mode, s.joins, plain(s.marked), e.story())
			r.evidence(s)
			return
		}
	}
}

// begin makes the tables of a round.
func (r *runner) begin(g *generator) {
	r.g, r.within = g, false
	r.both("DROP TEMPORARY TABLE IF EXISTS " + r.db + "." + temporaryName) // of a round that a difference has ended
	r.both("DROP DATABASE IF EXISTS " + r.db)
	r.both("CREATE DATABASE " + r.db)
	r.both("USE " + r.db)
	for _, t := range g.tables {
		r.both(t.create())
		if t.view == "" {
			r.rows(t)
		}
	}
}

// rows gives a new table its first rows: few, none, or many, sometimes all on one node group.
func (r *runner) rows(t *table) {
	g := r.g
	n := g.r.IntN(25)
	if g.oneIn(30) {
		n += 50
	}
	if n == 0 || g.oneIn(8) || t.empty {
		return
	}
	skew := ""
	if len(t.key) == 2 && g.oneIn(3) {
		skew = g.value(t.column(t.key[0]), false)
	}
	var rows []string
	for range n {
		var row []string
		for i := range t.columns {
			v := g.value(&t.columns[i], len(t.key) <= i)
			if t.auto && i == 0 { // no value is given out: which ones are depends on gaps
				v = fmt.Sprint(1 + g.r.IntN(25))
			}
			if i == 0 && skew != "" {
				v = skew
			}
			row = append(row, v)
		}
		rows = append(rows, "("+strings.Join(row, ", ")+")")
	}
	insert := "INSERT IGNORE INTO " + t.name + " (" + names(t) + ") VALUES "
	if slices.ContainsFunc(t.columns, func(c column) bool { return c.kind == json || c.kind == prose }) { // MariaDB checks JSON: several at once may be refused; prose: see target
		for _, row := range rows {
			r.both(plain(insert + row))
		}
		return
	}
	r.both(plain(insert + strings.Join(rows, ", ")))
}

// next makes up a statement.
func (r *runner) next() (s statement) {
	g := r.g
	g.names, g.vague, g.file = 0, false, ""
	switch {
	case r.writes || g.oneIn(8):
		s.marked, s.writes = g.writeOver(), true
	case g.oneIn(9):
		s.marked, s.writes = g.write(), true
	default:
		s.marked = g.selectStatement()
		s.writes = strings.HasSuffix(s.marked, "FOR UPDATE")
	}
	if g.mysql {
		s.marked = literalSums(s.marked)
	}
	s.vague, s.mode, s.seed, s.file = g.vague, g.r.IntN(modes), g.r.Uint64(), g.file
	if s.file != "" {
		s.mode = asText
	}
	if s.mode == again && s.writes || s.mode == variables && unvariable.MatchString(s.marked) {
		s.mode = parametric
	}
	if s.joins = g.pick("auto", "broadcast", "first", "queries", "queries", "workspace"); r.joins != "" {
		s.joins = r.joins
	}
	return s
}

// try runs a statement on both. It ends the round if they are no longer alike.
func (r *runner) try(s statement, seed uint64, i int) {
	var before tables
	if s.writes {
		before = r.dump(r.involved(s))
	}
	diff := r.differ(s)
	if diff == "" {
		return
	}
	if s.writes && r.rewritten(s, before) {
		r.allowed("rows that a plan of MySQL loses")
		return
	}
	if s.writes && nullAsDecimal.MatchString(diff) && r.asText(s, before) {
		r.allowed("a NULL parameter that one server takes for a DECIMAL")
		return
	}
	if !s.writes {
		before = r.dump(r.involved(s))
	}
	r.report(seed, i, episode{steps: []statement{s}, rows: before}, diff)
}

// nullAsDecimal is what MariaDB 10.11 says of INSERT ... SELECT from a view of a join, prepared, with NULL for a parameter of IN (?, ?).
var nullAsDecimal = regexp.MustCompile(`error: one server 1292 .*Truncated incorrect DECIMAL value: '', cluster 0`)

// asText reports that both do the same with a statement over the rows there were where it is not prepared.
func (r *runner) asText(s statement, before tables) bool {
	if s.mode == asText || r.quiet {
		return false
	}
	s.mode = asText
	return r.alikeOver(s, before)
}

// report tells of a difference in the last step of an episode, makes it smaller, writes a story of it, and ends the round: the tables may
// differ now.
func (r *runner) report(seed uint64, i int, e episode, diff string) {
	r.found.Add(1)
	s := e.steps[len(e.steps)-1]
	e.used = r.used(e.steps)
	where := fmt.Sprintf("SEED=%d, statement %d", seed, i)
	r.t.Errorf("%s (mode %d, joins %s):\n%s\n%s", where, s.mode, s.joins, plain(s.marked), diff)
	r.t.Logf("as a story\n%s", e.story())
	r.evidence(s)
	if r.one.PingContext(r.t.Context()) != nil || r.many.PingContext(r.t.Context()) != nil {
		r.unanswered()
	}
	small, last := r.shrink(e, diff)
	r.t.Logf("made smaller:\n%s%s", small.story(), last)
	r.land(fmt.Sprintf("found_%s_%d_%d.sql", cluster.TestEngine(), seed, i), where+"\n"+last, small)
	panic(roundOver{})
}

// unknownColumn is what MariaDB 10.11 says of some prepared statements when they are run a second time.
const unknownColumn = uint16(sqlerr.UnknownColumn)

// refusal is the error by which a cluster refuses.
const refusal = uint16(sqlerr.NotSupportedYet)

// unvariable matches what no user variable can stand in: LIMIT wants numbers.
var unvariable = regexp.MustCompile(`LIMIT|OFFSET|[?]`)

// literalSums leaves no literal in AVG and SUM to become a parameter: MySQL 9.7 takes an expression of parameters alone for a DOUBLE, which
// Skarv does not (see docs/compatibility.md), and says NULL of AVG(?) in some plans, behind an outer join with SUM(DISTINCT) in HAVING.
func literalSums(s string) string {
	var out strings.Builder
	for depth, in, i := 0, 0, 0; i < len(s); i++ { // in is the depth outside of the outermost such call, counted from 1
		switch {
		case s[i] == '(':
			depth++
			if in == 0 && (strings.HasSuffix(s[:i], "AVG") || strings.HasSuffix(s[:i], "SUM")) {
				in = depth
			}
		case s[i] == ')':
			if in == depth {
				in = 0
			}
			depth--
		case in > 0 && (s[i:i+1] == litStart || s[i:i+1] == litEnd):
			continue
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

var (
	begins    = regexp.MustCompile(`^(BEGIN|START TRANSACTION)$`)
	tableName = regexp.MustCompile(`\b[tv]\d+\b`)
	viewName  = regexp.MustCompile(`\bv\d+\b`)
)

// involved are the tables of a statement, those behind its views, triggers and programs, and those that hang on them by foreign keys.
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
		for name, text := range r.g.hidden {
			if named[name] || strings.Contains(s.marked, name+"(") {
				for _, n := range tableName.FindAllString(text, -1) {
					named[n] = true
				}
			}
		}
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

// run runs a statement in its mode. There is more than one outcome if it is run again.
func (s *statement) run(ctx context.Context, c *sql.Conn) []differ.Outcome {
	one := func(o differ.Outcome) []differ.Outcome { return []differ.Outcome{o} }
	if s.file != "" {
		return one(differ.LoadFile(ctx, c, plain(s.marked), s.file))
	}
	switch s.mode {
	case parametric, again:
		text, args := parameters(s.marked, true)
		return differ.Prepared(ctx, c, text, s.lists(args)...)
	case executed, variables:
		all := s.withVariables()
		for _, before := range all[:len(all)-1] {
			if o := differ.Run(ctx, c, before, false); o.Errno != 0 {
				return one(o)
			}
		}
		return one(differ.RunAsIs(ctx, c, all[len(all)-1], false))
	}
	return one(differ.RunAsIs(ctx, c, plain(s.marked), s.mode == prepared))
}

// withVariables are the statements that give user variables the literals' values, and run the statement with these.
func (s *statement) withVariables() (all []string) {
	text, args := parameters(s.marked, false)
	var using []string
	for i, a := range args {
		using = append(using, fmt.Sprintf("@p%d", i))
		all = append(all, "SET "+using[i]+" = "+written(a))
	}
	if s.mode == variables {
		return append(all, plain(replaceEach(text, using)))
	}
	execute := "EXECUTE ps"
	if len(using) > 0 {
		execute += " USING " + strings.Join(using, ", ")
	}
	return append(all, "PREPARE ps FROM '"+strings.NewReplacer("'", "''", `\`, `\\`).Replace(text)+"'", execute)
}

// lists are the lists of arguments that a prepared statement is run with.
func (s *statement) lists(args []any) [][]any {
	if s.mode == again {
		return [][]any{args, s.others(args), args}
	}
	return [][]any{args}
}

// afresh runs the statement for one of its lists alone. MariaDB 10.11 at times remembers what it found before:
// `x IN (SELECT ... WHERE ?)` of a view's NULL.
func (s *statement) afresh(ctx context.Context, c *sql.Conn, list int) differ.Outcome {
	if s.mode != again {
		return s.run(ctx, c)[0]
	}
	text, args := parameters(s.marked, true)
	return differ.Prepared(ctx, c, text, s.lists(args)[list])[0]
}

// others are arguments of the same kinds: numbers that may stand in LIMIT, strings that may be dates.
func (s *statement) others(args []any) (other []any) {
	r := rand.New(rand.NewPCG(s.seed, 11))
	for _, a := range args {
		switch v := a.(type) {
		case int64:
			if v >= 0 && r.IntN(2) == 0 {
				a = int64(r.IntN(8))
			}
		case string:
			if r.IntN(2) == 0 {
				if strings.HasPrefix(v, "20") || strings.HasPrefix(v, "19") {
					a = "2026-01-0" + strconv.Itoa(1+r.IntN(4)) + strings.Repeat(" 10:00:00", min(1, len(v)/11))
				} else if len(v) < 4 && !strings.ContainsAny(v, "{[0123456789") {
					a = []string{"ann", "Bob", "", "e", "zoe"}[r.IntN(5)]
				}
			}
		}
		other = append(other, a)
	}
	return other
}

// written is an argument as a literal.
func written(a any) string {
	switch a := a.(type) {
	case string:
		return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(a) + "'"
	case float64:
		return strconv.FormatFloat(a, 'e', -1, 64)
	case nil:
		return "NULL"
	}
	return fmt.Sprint(a)
}

// replaceEach puts the words in the places of the question marks.
func replaceEach(text string, words []string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "?") {
		if i > 0 {
			b.WriteString(words[i-1])
		}
		b.WriteString(part)
	}
	return b.String()
}

// differ runs s on both and says what differs.
func (r *runner) differ(s statement) string {
	text := plain(s.marked)
	if begins.MatchString(text) {
		r.within = true
	}
	if !r.quiet {
		r.statements.Add(1)
		if r.within {
			r.transactional.Add(1)
		}
	}
	if text == "COMMIT" || text == "ROLLBACK" {
		r.within = false
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	if s.joins != "" && s.joins != r.joining {
		_, err := r.many.ExecContext(ctx, "SET skarv_joins = "+s.joins)
		r.must(err, "SET skarv_joins")
		r.joining = s.joins
	}
	var wants, gots []differ.Outcome
	if s.writes {
		gots = s.run(ctx, r.many)
	} else {
		wants, gots = r.onBoth(func(c *sql.Conn) []differ.Outcome { return s.run(ctx, c) })
	}
	if !r.quiet && s.seed%4 == 1 && testing.Verbose() {
		r.fired(ctx, text)
	}
	r.worked = gots[0].Errno == 0
	refused := slices.ContainsFunc(gots, func(o differ.Outcome) bool { return o.Errno == refusal })
	switch {
	case refused && !r.quiet:
		i := slices.IndexFunc(gots, func(o differ.Outcome) bool { return o.Errno == refusal })
		r.refusal(gots[i].Err, text)
		if strings.Contains(gots[i].Err, "the transaction again, which is rolled back") {
			r.disconnect()
			panic(roundOver{})
		}
		if strings.HasPrefix(text, "CALL") {
			panic(roundOver{}) // what the procedure did before the statement that is refused stands
		}
	case !refused && s.writes:
		wants = s.run(ctx, r.one)
	}
	if !refused && !r.quiet {
		r.count(text, r.worked)
	}
	if slices.ContainsFunc(wants, lost) || slices.ContainsFunc(gots, lost) {
		r.unanswered()
	}
	defer r.remember(fmt.Sprintf("mode %d, joins %s, error %d: %s", s.mode, s.joins, gots[0].Errno, text))
	if !refused {
		if len(wants) != len(gots) {
			return fmt.Sprintf("  outcomes: one server %v, cluster %v", wants, gots)
		}
		for i := range wants {
			if wants[i].Errno != 0 && !r.quiet {
				r.failed.Add(1)
			}
			if i > 0 && wants[i].Errno == unknownColumn && wants[0].Errno == 0 {
				r.allowed("a prepared statement that one server cannot run twice")
				continue // its names mean what they meant the first time
			}
			diff := r.compare(&s, wants[i], gots[i])
			if diff != "" && s.mode == again && r.compare(&s, s.afresh(ctx, r.one, i), gots[i]) == "" {
				r.allowed("a prepared statement that one server answers otherwise when it is run again")
				continue
			}
			if diff != "" && r.whenPrepared(ctx, &s, wants[i], gots[i]) {
				r.allowed("one of several faults, which one server tells when the statement is prepared")
				continue
			}
			if diff != "" && r.replanned(ctx, &s, wants[i], gots[i], i) {
				r.allowed("rows that a plan of MySQL loses")
				continue
			}
			if diff != "" && r.nothingRolledUp(ctx, &s, wants[i], gots[i], i) {
				r.allowed("the total of no rows")
				continue
			}
			if diff != "" && r.byAnotherPlan(ctx, &s, i, gots[i]) {
				r.allowed("a SELECT that one server answers otherwise by another plan")
				continue
			}
			if diff != "" && r.faultOfAnotherPlan(ctx, text, wants[i], gots[i]) {
				r.allowed("a write that fails on one server by another plan")
				continue
			}
			if diff != "" {
				return diff
			}
		}
	}
	if !s.writes {
		return ""
	}
	return r.compareTables(r.involved(s)) // what is refused has changed nothing
}

// remember keeps the last statements, for evidence.
func (r *runner) remember(text string) {
	const most = 30
	if r.quiet {
		return
	}
	if len(r.earlier) == most {
		r.earlier = slices.Delete(r.earlier, 0, 1)
	}
	r.earlier = append(r.earlier, text)
}

// fired counts the rules that plan a statement.
func (r *runner) fired(ctx context.Context, text string) {
	var out string
	if r.many.QueryRowContext(ctx, "EXPLAIN FORMAT=JSON "+text).Scan(&out) != nil {
		return // what is refused is counted elsewhere
	}
	var p struct{ Rules []string }
	if err := stdjson.Unmarshal([]byte(out), &p); err != nil {
		r.t.Errorf("EXPLAIN FORMAT=JSON of %s: %v\n%s", text, err, out)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range p.Rules {
		r.rules[name]++
	}
}

var marked = regexp.MustCompile(litStart + `([^` + litEnd + `]*)` + litEnd)

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
