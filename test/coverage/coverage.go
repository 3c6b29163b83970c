// Package coverage knows the constructs of SQL that docs/sql-coverage.md speaks of, and finds them in the stories of test/compat. It
// runs nothing: test/compat tells it how the statements of stories ran, test/docs holds the document against the tests.
package coverage

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Construct is a row of the document.
type Construct struct {
	Name string
	has  func(s *Story, sql string) bool // nil: no story can have it
	// Tests are those beside the stories, each "file: function".
	Tests []string
}

// Constructs are all of them. Every statement of a story has one at least.
func Constructs() []Construct {
	const (
		create = `^CREATE (OR REPLACE )?((DEFINER|ALGORITHM) ?= ?\S+ |SQL SECURITY \w+ |AGGREGATE )*`
		server = "test/session/"
	)
	rows := []struct{ name, pattern, tests string }{
		{"WHERE, ORDER BY, LIMIT", `SELECT .* (WHERE|ORDER BY|LIMIT) `, ""},
		{"SELECT without tables, functions, DO", `^(DO|SELECT|\(SELECT|EXECUTE IMMEDIATE) `, ""},
		{"inner join", `SELECT .* JOIN `, ""},
		{"LEFT, RIGHT JOIN", ` (LEFT|RIGHT)( OUTER)? JOIN `, ""},
		{"NATURAL JOIN, USING", `NATURAL|JOIN .* USING ?\(`, ""},
		{"join by comma, CROSS JOIN", `CROSS JOIN|FROM \w+( \w+)?, \w+`, ""},
		{"derived table", `(FROM|JOIN|,) \(SELECT`, ""},
		{"WITH", `WITH \w+( \([^)]*\))? AS \(`, ""},
		{"WITH RECURSIVE", `WITH RECURSIVE`, ""},
		{"UNION", `UNION (SELECT|DISTINCT|\()`, ""},
		{"UNION ALL", `UNION ALL`, ""},
		{"INTERSECT, EXCEPT", `\b(INTERSECT|EXCEPT)\b`, ""},
		{"VALUES, TABLE as queries", `VALUES ROW|^TABLE |^VALUES|\(VALUES|\(TABLE `, ""},
		{"EXISTS", `EXISTS \(SELECT`, ""},
		{"IN (SELECT)", `[^T] IN \(SELECT`, ""},
		{"NOT IN, NOT EXISTS", `NOT (IN|EXISTS) \(SELECT`, ""},
		{"ANY, ALL", ` (ANY|SOME|ALL) \(SELECT`, ""},
		{"subquery as value", `(SELECT|=|<|>|,) \(SELECT`, ""},
		{"GROUP BY, HAVING", `GROUP BY|HAVING`, ""},
		{"WITH ROLLUP", `WITH ROLLUP`, ""},
		{"COUNT, SUM, AVG, MIN, MAX", `\b(COUNT|SUM|AVG|MIN|MAX)\(`, ""},
		{"DISTINCT in aggregates", `(COUNT|SUM|AVG)\(DISTINCT`, ""},
		{"GROUP_CONCAT, STD, BIT_OR", `(GROUP_CONCAT|STD|STDDEV\w*|VAR\w*|BIT_\w+|JSON_ARRAYAGG|JSON_OBJECTAGG)\(`, ""},
		{"SELECT DISTINCT", `SELECT DISTINCT`, ""},
		{"window functions", ` OVER `, ""},
		{"JSON functions and columns", `\bJSON\b|JSON_[A-SU-Z]\w*\(|->`, ""},
		{"JSON_TABLE", `JSON_TABLE`, ""},
		{"LATERAL", `LATERAL`, ""},
		{"spatial types and functions", `\b(GEOMETRY|POINT|LINESTRING|POLYGON)\b|\bST_\w+\(|SPATIAL`, ""},
		{"FULLTEXT, MATCH AGAINST", `FULLTEXT|AGAINST`, ""},
		{"views", create + `(MATERIALIZED )?VIEW|^(ALTER|DROP) VIEW|{view}`, ""},
		{"FOR UPDATE, LOCK IN SHARE MODE", `FOR UPDATE|FOR SHARE|LOCK IN SHARE`, server + "deadlock_test.go: TestDeadlockOverGroups"},
		{"user variables", `@[a-z]`, ""},
		{"system variables", `@@`, ""},
		{"SET", `^SET `, server + "state_test.go: TestSet"},
		{"SET STATEMENT", `^SET STATEMENT`, ""},
		{"FOUND_ROWS(), SQL_CALC_FOUND_ROWS", `FOUND_ROWS`, ""},
		{"ROW_COUNT(), LAST_INSERT_ID()", `ROW_COUNT\(|LAST_INSERT_ID\(`, ""},
		{"GET_LOCK() and its like", `(GET_LOCK|RELEASE_LOCK|RELEASE_ALL_LOCKS|IS_FREE_LOCK|IS_USED_LOCK)\(`, ""},
		{"SLEEP(), BENCHMARK()", `(SLEEP|BENCHMARK)\(`, ""},
		{"INSERT, REPLACE", `^(INSERT|REPLACE)`, ""},
		{"INSERT ... SELECT", `^(INSERT|REPLACE) .*SELECT`, ""},
		{"ON DUPLICATE KEY UPDATE", `ON DUPLICATE KEY`, ""},
		{"INSERT, UPDATE, DELETE IGNORE", `^(INSERT|UPDATE|DELETE) .*\bIGNORE\b`, ""},
		{"RETURNING", `\bRETURNING\b`, ""},
		{"LOAD DATA, LOAD XML", `^LOAD (DATA|XML)`, "test/compat/load_test.go: TestLoadData"},
		{"UPDATE, DELETE", `^(UPDATE|DELETE)`, ""},
		{"UPDATE, DELETE with joins", `^(UPDATE .*(JOIN|,).* SET|DELETE .* (USING|JOIN) )`, ""},
		{"UPDATE, DELETE with LIMIT", `^(UPDATE|DELETE) .* LIMIT`, ""},
		{"transactions", `^(BEGIN|START TRANSACTION|COMMIT|ROLLBACK)`, ""},
		{"savepoints", `^(SAVEPOINT|RELEASE SAVEPOINT|ROLLBACK (WORK )?TO)`, ""},
		{"XA", `^XA `, ""},
		{"LOCK TABLES", `^(LOCK|UNLOCK) (TABLES?|INSTANCE)`, ""},
		{"HANDLER", `^HANDLER`, ""},
		{"PREPARE, EXECUTE as text", `^(PREPARE|EXECUTE|DEALLOCATE|DROP PREPARE)`, ""},
		{"prepared statements of the protocol", "", "test/compat/compat_test.go: TestCompat, " + server + "prepared_test.go: TestPreparedStatements"},
		{"several statements in one text", "", server + "protocol_test.go: TestSeveralStatements"},
		{"KILL", `^KILL`, server + "peers_test.go: TestTwoProxies"},
		{"SHOW PROCESSLIST", "", server + "peers_test.go: TestTwoProxies"},
		{"EXPLAIN", `^(EXPLAIN|ANALYZE SELECT)`, server + "explain_test.go: TestExplain, " + server + "explain_test.go: TestExplainJSON, " + server + "explain_test.go: TestExplainOfWhatDoesNotExist"},
		{"EXPLAIN ANALYZE", "", server + "explain_test.go: TestExplainAnalyze, " + server + "explain_test.go: TestExplainAnalyzeStages"},
		{"SHOW, DESCRIBE", `^(SHOW|DESC|DESCRIBE) `, ""},
		{"SHOW WARNINGS, SHOW ERRORS", `^SHOW (COUNT\(\*\) )?(WARNINGS|ERRORS)`, ""},
		{"information_schema", `information_schema`, ""},
		{"tables of accounts", `mysql\.(user|db)|_PRIVILEGES`, server + "privileges_test.go: TestTablesOfAccounts"},
		{"accounts: GRANT, CREATE USER", `^(GRANT|REVOKE|(CREATE( OR REPLACE)?|ALTER|DROP|RENAME) (USER|ROLE)|SET (PASSWORD|(DEFAULT )?ROLE))`, server + "accounts_test.go: TestAccounts, " + server + "privileges_test.go: TestPrivileges"},
		{"ANALYZE, CHECK, OPTIMIZE, REPAIR TABLE", `^(ANALYZE|CHECK|OPTIMIZE|REPAIR) (LOCAL |NO_WRITE_TO_BINLOG )?(TABLE|VIEW)`, ""},
		{"CHECKSUM TABLE", `^CHECKSUM TABLE`, ""},
		{"FLUSH, HELP, CACHE INDEX", `^(FLUSH|HELP|CACHE)`, ""},
		{"USE", `^USE `, ""},
		{"temporary tables", `TEMPORARY`, ""},
		{"CREATE TABLE ... SELECT, LIKE", `^CREATE .*TABLE .*(\bSELECT\b|\bLIKE\b)`, ""},
		{"AUTO_INCREMENT", `AUTO_INCREMENT`, ""},
		{"tables without a primary key", `{no key}`, ""},
		{"generated columns", `GENERATED ALWAYS|\) (VIRTUAL|STORED|PERSISTENT)|\bAS \([^)]*\) (VIRTUAL|STORED|PERSISTENT)`, ""},
		{"CHECK constraints", `\bCHECK ?\(`, ""},
		{"foreign keys", `FOREIGN KEY|REFERENCES`, ""},
		{"UNIQUE keys without the distribution key", `^(CREATE|ALTER) .*\bUNIQUE\b`, ""},
		{"PARTITION BY KEY, skarv:reference, skarv:single", `PARTITION BY KEY|skarv:`, ""},
		{"partitions of the servers", `PARTITION BY (RANGE|LIST|HASH|LINEAR)|ADD PARTITION|DROP PARTITION|TRUNCATE PARTITION|REORGANI[SZ]E PARTITION`, ""},
		{"other engines than InnoDB", `ENGINE ?= ?(MyISAM|MEMORY|Aria|ARCHIVE|CSV|MERGE|BLACKHOLE|HEAP)`, ""},
		{"ALTER TABLE", `^ALTER .*TABLE`, ""},
		{"RENAME, TRUNCATE, DROP", `^(RENAME|TRUNCATE|DROP) `, ""},
		{"CREATE, DROP INDEX", `^(CREATE|DROP) .*INDEX`, ""},
		{"databases", `^(CREATE|ALTER|DROP) .*(DATABASE|SCHEMA)`, ""},
		{"CREATE TABLE", create + `(TEMPORARY )?TABLE`, ""},
		{"sequences", `SEQUENCE|NEXTVAL|LASTVAL|SETVAL|NEXT VALUE`, ""},
		{"stored functions", create + `FUNCTION|^(DROP|ALTER) FUNCTION|{function}`, ""},
		{"procedures, CALL", `^CALL|` + create + `PROCEDURE|^(DROP|ALTER) PROCEDURE`, server + "call_test.go: TestCall"},
		{"BEGIN NOT ATOMIC", `^(BEGIN NOT ATOMIC|IF|WHILE)\b`, ""},
		{"handlers, cursors, SIGNAL, RESIGNAL", `\b(HANDLER FOR|CURSOR|SIGNAL|RESIGNAL)\b`, ""},
		{"GET DIAGNOSTICS", `GET (CURRENT |STACKED )?DIAGNOSTICS`, ""},
		{"triggers", create + `TRIGGER|^DROP TRIGGER`, server + "trigger_test.go: TestTriggerPrograms"},
		{"events", create + `EVENT|^(ALTER|DROP) EVENT|EVENTS`, server + "event_test.go: TestEvents"},
		{"statements that are wrong", `{wrong}`, ""},
		{"COM_CHANGE_USER, COM_RESET_CONNECTION", "", server + "login_test.go: TestChangeUser, " + server + "protocol_test.go: TestResetConnection"},
		{"compression: zlib, zstd", "", server + "login_test.go: TestCompression"},
	}
	list := make([]Construct, len(rows))
	for i, r := range rows {
		c := Construct{Name: r.name}
		switch r.pattern {
		case "":
		case "{no key}":
			table, key := regexp.MustCompile(`(?i)^CREATE TABLE [^(]*\(`), regexp.MustCompile(`(?i)PRIMARY KEY|\bSELECT\b|\bLIKE\b`)
			c.has = func(_ *Story, sql string) bool { return table.MatchString(sql) && !key.MatchString(sql) }
		case "{wrong}":
			first := regexp.MustCompile(`(?i)^(SELEC\b|ISNERT |\d;|\x60\w+\x60;|RETURN |OPEN |FROM |ORDER |CREATE TABEL |UNLOCK(;| TABLES \w)|;|\(3|\(\(|/\*)`)
			c.has = func(_ *Story, sql string) bool { return first.MatchString(sql) }
		default:
			plain := strings.NewReplacer("|{view}", "", "|{function}", "").Replace(r.pattern)
			re := regexp.MustCompile("(?i)" + plain)
			views, functions := strings.Contains(r.pattern, "{view}"), strings.Contains(r.pattern, "{function}")
			c.has = func(s *Story, sql string) bool {
				return re.MatchString(sql) || views && s.views != nil && s.views.MatchString(sql) || functions && s.functions != nil && s.functions.MatchString(sql)
			}
		}
		for test := range strings.SplitSeq(r.tests, ", ") {
			if test != "" {
				c.Tests = append(c.Tests, test)
			}
		}
		list[i] = c
	}
	return list
}

// InStories reports whether stories can have it.
func (c *Construct) InStories() bool { return c.has != nil }

// In reports whether a statement of a story has the construct. It is in one line, as ReadStories has it.
func (c *Construct) In(s *Story, sql string) bool { return c.has != nil && c.has(s, sql) }

// flat is a statement in one line, without the comments before it.
func flat(sql string) string {
	sql = strings.Join(strings.Fields(sql), " ")
	for {
		_, rest, ok := strings.Cut(sql, "*/ ")
		if !ok || !strings.HasPrefix(sql, "/* ") {
			return sql
		}
		sql = rest
	}
}

// Story is a file of test/compat.
type Story struct {
	Name             string
	Statements       []Statement
	views, functions *regexp.Regexp // that use those it makes; nil: it makes none
}

// Statement is one of a story.
type Statement struct {
	SQL     string
	Refused bool // a mark says so
}

// ReadStories reads the files of a directory.
func ReadStories(dir string) (stories []*Story, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no stories", dir)
	}
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		stories = append(stories, readStory(strings.TrimSuffix(filepath.Base(f), ".sql"), string(text)))
	}
	return stories, nil
}

func readStory(name, text string) *Story {
	s := &Story{Name: name}
	refused := false
	var sql []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if mark, ok := strings.CutPrefix(line, "-- "); ok && len(sql) == 0 {
			refused = refused || strings.HasPrefix(mark, "refused:")
			continue
		}
		if line == "" && len(sql) == 0 {
			continue
		}
		if sql = append(sql, line); !strings.HasSuffix(line, ";") {
			continue
		}
		s.Statements = append(s.Statements, Statement{flat(strings.Join(sql, " ")), refused})
		refused, sql = false, nil
	}
	s.views = uses(s, regexp.MustCompile(`(?i)^CREATE .*?VIEW (?:IF NOT EXISTS )?(?:\w+\.)?(\w+)`), `(?i)(FROM|JOIN|INTO|UPDATE|,) \(?(\w+\.)?(%s)\b`)
	s.functions = uses(s, regexp.MustCompile(`(?i)^CREATE .*?FUNCTION (?:IF NOT EXISTS )?(?:\w+\.)?(\w+)`), `(?i)\b(%s)\(`)
	return s
}

// uses is a pattern of the statements that use one of the objects whose making made finds.
func uses(s *Story, made *regexp.Regexp, pattern string) *regexp.Regexp {
	var names []string
	for _, st := range s.Statements {
		if m := made.FindStringSubmatch(st.SQL); m != nil && !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	if len(names) == 0 {
		return nil
	}
	return regexp.MustCompile(fmt.Sprintf(pattern, strings.Join(names, "|")))
}

// Strategies are the words for how a statement ran, as the metric skarv_statement_strategy_total names them.
func Strategies() []string {
	return []string{"relay", "packed", "scatter", "split", "broadcast", "workspace", "local"}
}

// Seen is how the statements of stories ran.
type Seen struct {
	constructs []Construct
	stories    []*Story
	rows       map[string]*row
	refusals   map[string]string // the story of a text
}

type row struct {
	strategies map[string]bool
	refused    []string
}

// NewSeen has seen nothing of stories yet.
func NewSeen(stories []*Story) *Seen {
	return &Seen{Constructs(), stories, map[string]*row{}, map[string]string{}}
}

// Ran notes that a statement of a story ran by strategies.
func (s *Seen) Ran(story *Story, sql string, strategies []string) {
	s.note(story, sql, func(r *row) {
		for _, name := range strategies {
			r.strategies[name] = true
		}
	})
}

// Refused notes that a statement of a story was refused with a text.
func (s *Seen) Refused(story *Story, sql, text string) {
	if s.refusals[text] == "" {
		s.refusals[text] = story.Name
	}
	s.note(story, sql, func(r *row) { r.refused = append(r.refused, text) })
}

func (s *Seen) note(story *Story, sql string, add func(*row)) {
	sql = flat(sql)
	for i := range s.constructs {
		c := &s.constructs[i]
		if !c.In(story, sql) {
			continue
		}
		r := s.rows[c.Name]
		if r == nil {
			r = &row{strategies: map[string]bool{}}
			s.rows[c.Name] = r
		}
		add(r)
	}
}

// maxStories is how many stories a row names: those with the most of its statements.
const maxStories = 4

// Table is the table of constructs.
func (s *Seen) Table() string {
	var w strings.Builder
	w.WriteString("| construct | runs as | tested by |\n|---|---|---|\n")
	for _, c := range s.constructs {
		var how []string
		tests := s.tests(&c)
		if r := s.rows[c.Name]; r != nil {
			for _, name := range Strategies() {
				if r.strategies[name] {
					how = append(how, name)
				}
			}
			switch {
			case len(r.refused) > 0 && len(how) == 0:
				how = append(how, "refused: "+cell(r.refused[0]))
			case len(r.refused) > 0:
				how = append(how, "refused in part")
			}
		} else if len(tests) > 0 {
			how = append(how, "MySQL only")
		}
		if len(how) == 0 {
			how = append(how, "not in stories")
		}
		fmt.Fprintf(&w, "| %s | %s | %s |\n", c.Name, strings.Join(how, ", "), strings.Join(slices.Concat(tests, c.Tests), ", "))
	}
	return w.String()
}

// tests are the stories with the most statements that have a construct.
func (s *Seen) tests(c *Construct) (names []string) {
	counts := map[string]int{}
	for _, story := range s.stories {
		for _, st := range story.Statements {
			if c.In(story, st.SQL) {
				counts[story.Name+".sql"]++
			}
		}
	}
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := counts[b] - counts[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return names[:min(len(names), maxStories)]
}

// Refusals is the table of the texts with which statements of stories were refused.
func (s *Seen) Refusals() string {
	var texts []string
	for text := range s.refusals {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	var w strings.Builder
	w.WriteString("| refused with | in |\n|---|---|\n")
	for _, text := range texts {
		fmt.Fprintf(&w, "| %s | %s.sql |\n", cell(text), s.refusals[text])
	}
	return w.String()
}

// cell is a refusal's text without the words that all have, as a cell of a table can hold it.
func cell(text string) string {
	if _, rest, ok := strings.Cut(text, "doesn't yet support '"); ok {
		text = strings.TrimSuffix(rest, "'")
	}
	return strings.ReplaceAll(text, "|", `\|`)
}
