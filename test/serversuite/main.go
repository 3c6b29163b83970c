// Command serversuite plays the statements of a database server's own regression tests on one server of that kind and on a
// cluster of four node groups, and compares what a client sees of each. The tests are read from where the distribution's
// package puts them (scripts/server-suite.sh brings them); what their authors expected is not looked at: the oracle is the server.
// Tables in engines without transactions are made in InnoDB. The servers are MariaDB's, or MySQL's if SKARV_TEST_ENGINE says mysql.
//
//	go run ./test/serversuite --dir SUITE [--log FILE] [--limit DURATION] [main/func_*.test ...]
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"skarv/pkg/datanode"
	"skarv/pkg/dev"
	"skarv/test/cluster"
	"skarv/test/differ"
)

func main() {
	dir := flag.String("dir", "", "the suite's `directory`, where include is")
	logTo := flag.String("log", "", "write differences to this `file` instead of standard output")
	refused := flag.Bool("refused", false, "write statements the cluster refuses, too")
	limit := flag.Duration("limit", 90*time.Second, "give a test up after this `time`")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, *dir, *logTo, *refused, *limit, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir, logTo string, refused bool, limit time.Duration, patterns []string) (err error) {
	if len(patterns) == 0 {
		patterns = []string{"main/*.test", "t/*.test"} // MariaDB's, MySQL's
	}
	var files []string
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(dir, p))
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return fmt.Errorf("no tests in %s match %s", dir, strings.Join(patterns, " "))
	}
	var out io.Writer = os.Stdout
	if logTo != "" {
		f, err := os.Create(logTo)
		if err != nil {
			return err
		}
		defer f.Close()
		out = f
	}
	work, err := os.MkdirTemp("", "skarv-suite-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	one, err := cluster.OpenServer(ctx, dev.Config{Engine: cluster.TestEngine(), DataDir: filepath.Join(work, "one")})
	if err != nil {
		return err
	}
	defer one.Stop()
	many, err := cluster.Open(dev.Config{Engine: cluster.TestEngine(), NodeGroups: 4, DataDir: filepath.Join(work, "many"), Version: "test"})
	if err != nil {
		return err
	}
	defer many.Stop()
	total := &tally{refusals: map[string]int{}}
	for i, f := range files {
		if ctx.Err() != nil {
			break
		}
		name, err := filepath.Rel(dir, f)
		if err != nil {
			return err
		}
		s, err := read(dir, name)
		if err != nil {
			return err
		}
		p := &player{kind: kindOf(cluster.TestEngine()), out: out, refused: refused, limit: limit, changed: changed{}, one: one.DSN(""), many: many.DSN(""), conns: map[string]*pair{}, tally: tally{refusals: total.refusals}}
		if err := p.play(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(out, "=== %s: %s\n", name, p.tally)
		fmt.Fprintf(os.Stderr, "%4d of %d  %s: %s\n", i+1, len(files), name, p.tally)
		total.add(p.tally)
	}
	fmt.Fprintf(out, "=== %d files: %s\n", len(files), *total)
	reasons := make([]string, 0, len(total.refusals))
	for r := range total.refusals {
		reasons = append(reasons, r)
	}
	sort.Strings(reasons)
	slices.SortStableFunc(reasons, func(a, b string) int { return total.refusals[b] - total.refusals[a] })
	for _, r := range reasons {
		fmt.Fprintf(out, "%6d refused: %s\n", total.refusals[r], r)
	}
	return nil
}

// tally counts how statements went.
type tally struct {
	equal, order, different, behind, refused, left, givenUp int

	refusals map[string]int // shared by all
}

func (t *tally) add(o tally) {
	t.equal += o.equal
	t.order += o.order
	t.different += o.different
	t.behind += o.behind
	t.refused += o.refused
	t.left += o.left
	t.givenUp += o.givenUp
}

func (t tally) String() string {
	s := fmt.Sprintf("%d equal, %d refused, %d different, %d behind such, %d in another order, %d not played", t.equal, t.refused, t.different, t.behind, t.order, t.left)
	if t.givenUp > 0 {
		s += fmt.Sprintf(", %d given up", t.givenUp)
	}
	return s
}

// left are statements that are not played: they say something of the machine or of a server as a whole, harm it, or are of another
// time whenever they run.
var left = regexp.MustCompile(`(?is)^\s*(` + strings.Join([]string{
	`shutdown|restart|reset|change\s+(master|replication)|(start|stop)\s+(slave|replica|group_replication)|(un)?install|purge|flush|kill|backup|handler|clone|import`,
	`set\s+(@@)?(global|persist(_only)?|debug|session\.?\s*debug|resource)|(create|alter|drop)\s+(server|undo|tablespace|resource)|alter\s+instance|(un)?lock\s+instance`,
	`show\s+(session|local)\s+status|show\s+(global\s+)?(status|variables|engines?|binlog|binary|master|slave|replicas?|processlist|full|plugins|profiles?|explain|open)`,
	`(explain|describe|desc)\s+(format|extended|partitions|select|update|delete|insert|table|with|\()|analyze|(prepare\s+\w+\s+from|execute\s+immediate)\s+['"]\s*(explain|desc|analyze)`,
}, "|") + `)\b|` + strings.Join([]string{
	`outfile|dumpfile|load_file|debug_sync|\bsleep\s*\(|benchmark\s*\(|performance_schema|optimizer_trace|(session|global)_(status|variables)\b|\buuid|\brand\s*\(`,
	`rows\s+examined|innodb_(sys|index|table)_|data_length|metadata_lock_info|mysql\.(event|proc|user|db|component|func|innodb_\w+|server_cost|engine_cost)\b`,
	`now\s*\(|sysdate|curtime|current_time|connection_id|unix_timestamp\(\)|last_query_cost|\bsys\.`,
}, "|"))

var (
	engine = regexp.MustCompile(`(?i)((?:\b|[a-z]_)(?:storage[_\s]+)?engine\s*=?\s*)['"]?(?:myisam|aria|heap|memory|maria|merge|mrg_myisam|csv|archive|federated|blackhole|bdb|isam)['"]?`)
	// definer is who made a view or program: on the node groups, their account.
	definer = regexp.MustCompile("DEFINER=[`\"][^`\"]*[`\"]@[`\"][^`\"]*[`\"]")
	// root is who plays, as either side names it.
	root = regexp.MustCompile(`root@(localhost|127\.0\.0\.1|%)`)
	// counter is what AUTO_INCREMENT goes on from: Skarv's is in etcd.
	counter = regexp.MustCompile(` AUTO_INCREMENT=\d+`)
	// ownCollation is the collation that a character set has without words. MySQL does not name it for a table made by a query; Skarv makes such
	// a table by a definition.
	ownCollation = regexp.MustCompile(`( CHARACTER SET \w+) COLLATE (?:latin1_swedish_ci|utf8mb4_0900_ai_ci|(?:big5|gb\w+)_chinese_ci|(?:sjis|ujis|cp932|eucjpms)_japanese_ci|` +
		`euckr_korean_ci|tis620_thai_ci|(?:dec8|swe7)_swedish_ci|hp8_english_ci|(?:ascii|latin[27]|utf8mb3|utf16|utf16le|utf32|ucs2|cp\w+|greek|hebrew|koi8\w|mac\w+|armscii8|geostd8|keybcs2)_general_ci)\b`)
	// cardinality is an estimate of SHOW INDEX.
	showIndex   = regexp.MustCompile(`(?i)^\s*show\s+(?:extended\s+)?(?:index|indexes|keys)\b`)
	cardinality = regexp.MustCompile(`("A"|"D"|NULL) \| (?:"\d+"|NULL)`)
	literals    = regexp.MustCompile("`[^`]*`|[0-9]+")
)

const (
	statementLimit = 20 * time.Second
	lostLimit      = 8 // connections, before a file is given up
)

var (
	limited = regexp.MustCompile(`(?i)\blimit\s+[0-9]`)
	ordered = regexp.MustCompile(`(?i)\border\s+by\b`)
	// limitedWithin takes some rows in parentheses: what is made of them outside may be more or less.
	limitedWithin = regexp.MustCompile(`(?i)\blimit\s+[0-9][^()]*\)`)
)

// anyRows reports whether LIMIT takes some rows, and nothing in the statement says which: any of them are right.
func anyRows(text string) bool { return limited.MatchString(text) && !ordered.MatchString(text) }

// sameShape reports whether two answers have the same columns, and as many rows if that is certain.
func sameShape(want, got differ.Outcome, sure bool) bool {
	return want.Errno == 0 && got.Errno == 0 && slices.Equal(want.Columns, got.Columns) && (!sure || len(want.Rows) == len(got.Rows))
}

// plansOnly reports whether each side has told its own plan, which a prepared statement or a procedure asks for: the cluster's is
// not made of a server's columns.
func plansOnly(want, got differ.Outcome) bool {
	return len(want.Columns) > 1 && strings.Contains(want.Columns[1], "select_type ") && len(got.Columns) > 0 && strings.HasPrefix(got.Columns[0], "EXPLAIN ")
}

// side is a connection to the one server or to the cluster.
type side struct {
	*sql.Conn
	pool *sql.DB // of this connection alone
}

// pair is a connection to either side.
type pair struct{ one, many side }

func (p *pair) close() {
	for _, s := range []side{p.one, p.many} {
		_ = s.Close()
		_ = s.pool.Close()
	}
}

// player plays one script.
type player struct {
	kind
	out       io.Writer
	refused   bool
	limit     time.Duration
	changed   changed
	one, many string
	conns     map[string]*pair // by the script's name; nil: of another account
	tally
}

// kind is what the two engines' tests expect of a server.
type kind struct {
	modes    string // sql_mode
	database string // how the database "test" is made
}

func kindOf(e datanode.Engine) kind {
	if e == datanode.MySQL {
		return kind{
			"ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
			"CREATE DATABASE test",
		}
	}
	return kind{"STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION", "CREATE DATABASE test CHARACTER SET latin1"}
}

// session is what every connection begins with.
func (k kind) session() []string {
	return []string{
		"SET sql_mode = '" + k.modes + "'", "SET time_zone = '+00:00'",
		"SET timestamp = 1700000000", "SET lock_wait_timeout = 2", "SET innodb_lock_wait_timeout = 2",
	}
}

func (p *player) open(ctx context.Context, db string) (*pair, error) {
	dial := func(dsn string) (side, error) {
		pool, err := sql.Open("mysql", dsn)
		if err != nil {
			return side{}, err
		}
		c, err := pool.Conn(ctx)
		if err != nil {
			return side{}, errors.Join(err, pool.Close())
		}
		for _, q := range append([]string{"USE `" + db + "`"}, p.session()...) {
			if _, err := c.ExecContext(ctx, q); err != nil {
				return side{}, errors.Join(fmt.Errorf("%s: %w", q, err), c.Close(), pool.Close())
			}
		}
		return side{c, pool}, nil
	}
	one, err := dial(p.one)
	if err != nil {
		return nil, err
	}
	many, err := dial(p.many)
	if err != nil {
		return nil, errors.Join(err, one.Close(), one.pool.Close())
	}
	return &pair{one, many}, nil
}

// clear leaves an empty database "test" and no other.
func (p *player) clear(ctx context.Context) error {
	c, err := p.open(ctx, "information_schema")
	if err != nil {
		return err
	}
	defer c.close()
	for _, c := range []side{c.one, c.many} {
		// A statement that was given up may still run for a while.
		if _, err := c.ExecContext(ctx, "SET lock_wait_timeout = 120"); err != nil {
			return err
		}
		rows, err := c.QueryContext(ctx, "SELECT schema_name FROM schemata WHERE schema_name NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys', 'skarv', '_skarv') AND schema_name NOT LIKE '#mysql50#%'")
		if err != nil {
			return err
		}
		var drop []string
		for rows.Next() {
			var db string
			if err := rows.Scan(&db); err != nil {
				return err
			}
			drop = append(drop, "DROP DATABASE IF EXISTS `"+db+"`") // a job that a client did not wait for may just have done it
		}
		if err := rows.Err(); err != nil {
			return err
		}
		for _, q := range append(drop, p.database) {
			if _, err := c.ExecContext(ctx, q); err != nil {
				return fmt.Errorf("%s: %w", q, err)
			}
		}
	}
	return nil
}

func (p *player) play(ctx context.Context, s *script) (err error) {
	if err := p.clear(ctx); err != nil {
		return err
	}
	at, lost := "default", 0
	if p.conns[at], err = p.open(ctx, "test"); err != nil {
		return err
	}
	defer func() {
		for _, c := range p.conns {
			if c != nil {
				c.close()
			}
		}
	}()
	p.left += s.skipped
	begin := time.Now()
	for i, st := range s.steps {
		if time.Since(begin) > p.limit || lost > lostLimit {
			p.givenUp += len(s.steps) - i
			return nil
		}
		switch {
		case st.connect != "":
			at = st.connect
			p.conns[at] = nil
			if !st.account {
				if p.conns[at], err = p.open(ctx, st.database); err != nil {
					p.conns[at] = nil
				}
			}
		case st.connection != "":
			at = st.connection
		case st.disconnect != "":
			if c := p.conns[st.disconnect]; c != nil {
				c.close()
			}
			delete(p.conns, st.disconnect)
		default:
			c := p.conns[at]
			if c == nil || left.MatchString(st.sql) {
				p.left++
				continue
			}
			if !p.step(ctx, c, st) {
				lost++
				c.close()
				if p.conns[at], err = p.open(ctx, "test"); err != nil {
					p.conns[at] = nil
				}
			}
		}
	}
	return nil
}

// step plays one statement; false if a connection was lost, or the statement took too long.
func (p *player) step(ctx context.Context, c *pair, st step) bool {
	text := engine.ReplaceAllString(st.sql, "${1}InnoDB")
	run := func(s side) differ.Outcome {
		ctx, cancel := context.WithTimeout(ctx, statementLimit)
		defer cancel()
		return differ.Run(ctx, s.Conn, text, false)
	}
	shown := text
	if len(shown) > 1500 {
		shown = shown[:1500] + "..."
	}
	got := run(c.many)
	if got.Errno == 1235 { // the server does not run it either: the script goes on from equal tables
		p.tally.refused++
		_, reason, _ := strings.Cut(got.Err, ": ")
		p.refusals[literals.ReplaceAllString(reason, "?")]++
		if p.refused {
			fmt.Fprintf(p.out, "--- refused %s:%d: %s\n  %s\n", st.file, st.line, shown, got.Err)
		}
		return true
	}
	want := run(c.one)
	for _, o := range []*differ.Outcome{&want, &got} {
		if st.unstable {
			o.Rows = nil
		}
		for i := range o.Rows {
			row := counter.ReplaceAllString(root.ReplaceAllString(definer.ReplaceAllString(o.Rows[i], ""), "root"), "")
			row = ownCollation.ReplaceAllString(row, "$1")
			if showIndex.MatchString(text) {
				row = cardinality.ReplaceAllString(row, "$1")
			}
			o.Rows[i] = row
		}
	}
	if plansOnly(want, got) {
		p.left++
		return true
	}
	d := differ.Compare(want, got)
	behind := p.changed.follow(text, d == "", want.Errno != 0)
	if d == "" {
		p.equal++
		return true
	}
	kind := "different"
	sort.Strings(want.Rows)
	sort.Strings(got.Rows)
	switch {
	case want.Errno == got.Errno && differ.Compare(want, got) == "", anyRows(text) && sameShape(want, got, !limitedWithin.MatchString(text)):
		kind = "in another order"
		p.order++
	case behind:
		kind = "behind"
		p.behind++
	default:
		p.different++
	}
	fmt.Fprintf(p.out, "--- %s %s:%d: %s\n%s", kind, st.file, st.line, shown, d)
	const unknown = 1 // the outcome's number for errors that are not the server's
	return got.Errno != unknown && want.Errno != unknown
}
