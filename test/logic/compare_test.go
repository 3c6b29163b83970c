package logic

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"skarv/test/differ"
)

// allowance is a property of a column that one server itself only promises depending on the plan it takes: two servers of
// the same version with other statistics may differ in it. It never is about a row. What is allowed is counted by name.
type allowance struct {
	name, why string
	holds     func(r *runner, s *statement, text string) bool
	// normal is the column without that property: two columns that are then the same are alike.
	normal func(column string) string
}

func allowances() []allowance {
	return []allowance{
		{"nullable", `Whether a column may be NULL depends on whether the optimizer sees that an outer join is an inner one, or that there is
one row in what is rolled up; that of a derived table on whether it is held by a temporary table: CAST(id AS CHAR) is then said to be
NULL at times, and so does the table that windows are computed over, beside an EXISTS that is made a join, or where a table of a join is found to
have no row of the key it is asked for. A column that is said not to be NULL has no NULL all the same (see said).`,
			func(r *runner, _ *statement, text string) bool {
				return outer.MatchString(text) || derived.MatchString(text) || strings.Contains(text, "WITH ROLLUP") ||
					strings.Contains(text, " OVER ") && (strings.Contains(text, "EXISTS (") || strings.Contains(text, " JOIN ")) || r.mysql && viewName.MatchString(text)
			},
			func(c string) string { c, _, _ = strings.Cut(c, " null="); return c }},
		{"string parameter", `What an expression of a string parameter is, VARCHAR or TEXT, depends on whether a temporary table held it.`,
			func(_ *runner, s *statement, _ string) bool {
				return s.mode >= parametric && strings.Contains(s.marked, litStart+"'")
			},
			func(c string) string { return stringType.ReplaceAllString(c, " VARCHAR(") }},
		{"binary parameter", `The same on MySQL of CASE WHEN b > 1 THEN ? ELSE NULL END, which is binary: BLOB where groups are kept in a table, and VARBINARY where
the optimizer finds that there is no row, so that the same statement says one or the other depending on the rows.`,
			func(r *runner, s *statement, _ string) bool {
				return r.mysql && s.mode >= parametric && strings.Contains(s.marked, litStart+"'")
			},
			func(c string) string { return blobType.ReplaceAllString(c, " VARBINARY(") }},
		{"negated", `On MariaDB a DECIMAL that is negated is one digit wider, until a temporary table holds it: where a table of a join has no row, none does.`,
			func(r *runner, _ *statement, text string) bool {
				return !r.mysql && stored.MatchString(text) && negated.MatchString(text)
			},
			func(c string) string { return decimalType.ReplaceAllString(c, " DECIMAL(") }},
		{"char of a view", `On MariaDB MIN and MAX of a CHAR that a view shows is VARCHAR where a temporary table holds the groups, and CHAR where
they are sorted (SQL_BIG_RESULT), where there are none, and of a table. The cluster copies the rows of a view into a table.`,
			func(r *runner, _ *statement, text string) bool {
				return !r.mysql && viewName.MatchString(text) && minMax.MatchString(text) && stored.MatchString(text)
			},
			func(c string) string { return strings.Replace(c, " CHAR(", " VARCHAR(", 1) }},
		{"empty string", `On MariaDB MIN and MAX of '' are CHAR(0), and VARCHAR(0) once a temporary table holds the groups.`,
			func(r *runner, _ *statement, text string) bool {
				return !r.mysql && stored.MatchString(text) && (strings.Contains(text, "MAX('')") || strings.Contains(text, "MIN('')"))
			},
			func(c string) string { return strings.Replace(c, " CHAR(0,0)", " VARCHAR(0,0)", 1) }},
		{"empty binary", `NULL and x'' are BINARY(0) or VARBINARY(0), depending on whether a temporary table held them; on MySQL, NULL is of the type NULL
until one does.`,
			func(r *runner, _ *statement, text string) bool {
				return r.mysql || strings.Contains(text, "NULL") || strings.Contains(text, "x''") || strings.Contains(text, "CASE")
			},
			func(c string) string { return nullType.ReplaceAllString(c, " VARBINARY(") }},
		{"width of a parameter", `A DECIMAL that is computed of a parameter has the digits of the parameter's type, on MySQL that which its operator asks for until a
parameter of the statement is given another type than was asked for, and those given then: queries of the statement that are copied have its parameters,
or their values. See docs/compatibility.md.`,
			func(r *runner, s *statement, text string) bool { return r.digitsOfParameters(s, text) },
			func(c string) string { return decimalType.ReplaceAllString(c, " DECIMAL(") }},
		{"number of a string parameter", `The same where the parameter is a string: the number is the DECIMAL that its operator asks for, or DOUBLE.`,
			func(r *runner, s *statement, text string) bool {
				return r.mysql && s.mode >= parametric && queried.MatchString(text) && computed.MatchString(s.marked)
			},
			func(c string) string { return numberType.ReplaceAllString(c, " DOUBLE(") }},
		{"wide decimal", `On MySQL a DECIMAL is one digit wider than any can be, until a temporary table holds it.`,
			func(r *runner, _ *statement, _ string) bool { return r.mysql },
			func(c string) string { return strings.Replace(c, " DECIMAL(66,", " DECIMAL(65,", 1) }},
		{"year", `The same of YEAR, on MySQL: a temporary table holds YEAR() as INT.`,
			func(r *runner, _ *statement, _ string) bool { return r.mysql },
			func(c string) string { return strings.Replace(c, " YEAR(0", " UNSIGNED INT(0", 1) }},
		{"integer", `On MySQL short integers that are computed are BIGINT, and INT once a temporary table holds them: of groups whether it does depends
on what is in the tables (where a table of a join has no row of the key it is asked for, none is made); of a view or a common table
expression on whether it is opened into the statement.`,
			func(r *runner, _ *statement, text string) bool { return r.mysql && stored.MatchString(text) },
			func(c string) string { return strings.Replace(c, " BIGINT(", " INT(", 1) }},
		{"rolled up", `The same of columns of short integers that WITH ROLLUP shows, and of CASE of them in what is read in FROM, which a user variable keeps from being
opened into the statement: of their own type, and INT.`,
			func(r *runner, s *statement, text string) bool {
				return r.mysql && (strings.Contains(text, "WITH ROLLUP") || s.mode == variables && derived.MatchString(text) && strings.Contains(text, "CASE "))
			},
			func(c string) string { return shortType.ReplaceAllString(c, " INT(") }},
		{"char", `The same of dates that are reckoned from strings: CHAR, and VARCHAR once a temporary table holds them.`,
			func(r *runner, _ *statement, text string) bool {
				return r.mysql && stored.MatchString(text) && strings.Contains(text, " INTERVAL ")
			},
			func(c string) string { return strings.Replace(c, " CHAR(", " VARCHAR(", 1) }},
		{"text", `The same of LOWER(), UPPER() and such of TEXT: MEDIUMTEXT, and TEXT once a temporary table holds it; where there is no row, none does.`,
			func(r *runner, _ *statement, text string) bool { return r.mysql && stored.MatchString(text) },
			func(c string) string { return strings.Replace(c, " MEDIUMTEXT(", " TEXT(", 1) }},
		{"enum", `The same of MIN and MAX of ENUM and SET, which are strings, CHAR, until a temporary table holds them: where the optimizer finds that there is no
row, none does.`,
			func(r *runner, s *statement, text string) bool {
				return r.mysql && stored.MatchString(text) && minMax.MatchString(text) && r.members(s)
			},
			func(c string) string { return enumType.ReplaceAllString(c, " VARCHAR(") }},
	}
}

var (
	stringType  = regexp.MustCompile(` (CHAR|TEXT|TINYTEXT|MEDIUMTEXT|LONGTEXT)\(`)
	numberType  = regexp.MustCompile(` (DECIMAL|DOUBLE)\([^)]*`)
	computed    = regexp.MustCompile(`\(` + litStart + `'[^']*'\S* [-+*/]|[-+*/] ` + litStart + `'`) // of a string parameter, a number
	decimalType = regexp.MustCompile(` DECIMAL\([^)]*`)
	zeros       = regexp.MustCompile(`("-?\d+)(\.\d*?)0+"`)
	negated     = regexp.MustCompile(`-[a-z(]`)
	nullType    = regexp.MustCompile(` (BINARY|NULL)\(`)
	blobType    = regexp.MustCompile(` (TINY|MEDIUM|LONG)?BLOB\(`)
	enumType    = regexp.MustCompile(` (ENUM|SET|CHAR)\(`)
	shortType   = regexp.MustCompile(` (TINYINT|SMALLINT|MEDIUMINT)\(`)
	// besideDate: a DATE, DATETIME, TIMESTAMP or TIME column (see schema_test.go) compared with a string parameter that begins as no date does.
	besideDate       = regexp.MustCompile(`\b(w|mo|ts|cl) (=|<=>|<>|<|>|<=|>=|BETWEEN|NOT BETWEEN|IN|NOT IN) \(?` + litStart + `'([^12]|[12][^09])`)
	extremeParameter = regexp.MustCompile(`\b(MIN|MAX)\(\(*` + litStart + `'`)
	minMax           = regexp.MustCompile(`\b(MIN|MAX)\(`)
	stored           = regexp.MustCompile(`(GROUP|ORDER) BY|DISTINCT| UNION | OVER |^WITH |\bv\d+\b`) // may be in a temporary table
	queried          = regexp.MustCompile(`\(+SELECT|WITH (RECURSIVE )?\w+ AS`)                       // has queries inside
	derived          = regexp.MustCompile(`(FROM|JOIN|LATERAL) \(+SELECT|WITH (RECURSIVE )?\w+ AS`)
	outer            = regexp.MustCompile(`(LEFT|RIGHT) JOIN`)
	trailing         = regexp.MustCompile(` +"`)
)

// members reports whether a table of the statement has an ENUM or SET.
func (r *runner) members(s *statement) bool {
	return slices.ContainsFunc(r.involved(*s), func(t *table) bool {
		return slices.ContainsFunc(t.columns, func(c column) bool { return strings.Contains(c.def, "ENUM(") || strings.Contains(c.def, "SET(") })
	})
}

// noAnswer begins what is said of a connection that has ended.
const noAnswer = "no answer"

// compare says how the cluster's outcome differs from one server's, but for what may differ.
func (r *runner) compare(s *statement, want, got differ.Outcome) string {
	text := plain(s.marked)
	for _, o := range []*differ.Outcome{&want, &got} {
		if o.Errno == differ.Broken {
			return fmt.Sprintf("  "+noAnswer+": one server %q, cluster %q\n", want.Err, got.Err)
		}
	}
	if want.Errno != 0 && want.Errno == got.Errno {
		return "" // however much of the result came before
	}
	if !s.writes && (want.Errno == 0 && evaluation(got.Errno) || got.Errno == 0 && evaluation(want.Errno)) &&
		(r.mysql || len(tableName.FindAllString(text, 2)) > 1 || viewName.MatchString(text)) {
		r.allowed("an expression that fails for a row")
		return ""
	}
	const reopened = 1137                               // docs/compatibility.md: temporary tables
	if !s.writes && r.mysql && want.Errno == reopened { // and what else is wrong with it that server does not tell
		r.allowed("a temporary table that is read twice")
		return ""
	}
	if d := said(want, got); d != "" && !strings.Contains(text, "WITH ROLLUP") {
		return d
	}
	if r.digitsOfParameters(s, text) && !slices.Equal(want.Columns, got.Columns) {
		for _, o := range []*differ.Outcome{&want, &got} {
			for i := range o.Rows {
				o.Rows[i] = strings.ReplaceAll(zeros.ReplaceAllString(o.Rows[i], `$1$2"`), `."`, `"`)
			}
		}
	}
	// Which of the strings that compare equal stands for a group is left open, and may decide where the row stands in an order of another collation,
	// which UNION has where it puts one with a string of that.
	sorted := inOrder(text) && !(s.vague && strings.Contains(text, " UNION ") && strings.Contains(text, " GROUP BY "))
	fold(&want, s.vague, sorted)
	fold(&got, s.vague, sorted)
	if len(want.Columns) == len(got.Columns) {
		for i := range want.Columns {
			if r.alike(s, text, want.Columns[i], got.Columns[i]) {
				got.Columns[i] = want.Columns[i]
			}
		}
	}
	if want.Errno != got.Errno && (oneKind(want.Errno, got.Errno) || r.oneOfSeveral(s, text, want, got)) {
		r.allowed("one of several faults")
		return ""
	}
	d := differ.Compare(want, got)
	if name := r.planned(s); d != "" && name != "" && want.Errno == 0 && got.Errno == 0 {
		r.allowed(name)
		return ""
	}
	return d
}

// digitsOfParameters reports whether a DECIMAL may have other digits: see the allowance "width of a parameter".
func (r *runner) digitsOfParameters(s *statement, text string) bool {
	return r.mysql && s.mode >= parametric && queried.MatchString(text)
}

// planned names why rows of a SELECT depend on the plan that a MySQL server takes, "" if they do not. Of a parameter that is a string but no
// date, beside a date, one server says in a UNION that it is another value, and alone that nothing is known. MIN and MAX of a string parameter are
// NULL in some executions, where EXISTS or IN has been made a join.
func (r *runner) planned(s *statement) string {
	switch {
	case !r.mysql || s.mode < parametric || s.writes:
	case besideDate.MatchString(s.marked):
		return "a parameter beside a date"
	case extremeParameter.MatchString(s.marked):
		return "MIN and MAX of a parameter"
	}
	return ""
}

// alike reports whether two columns differ by no more than what may differ.
func (r *runner) alike(s *statement, text, want, got string) bool {
	if want == got {
		return true
	}
	var used []string
	for _, a := range allowances() {
		if !a.holds(r, s, text) {
			continue
		}
		w, g := a.normal(want), a.normal(got)
		if w != want || g != got {
			used = append(used, a.name)
		}
		if want, got = w, g; want == got {
			for _, name := range used {
				r.allowed(name)
			}
			return true
		}
	}
	return false
}

// said looks for NULL in a column that the cluster has said not to have any, unless the one server says so, too. Of the rows that
// ROLLUP adds MariaDB 10.11 itself says so, where its plan knows that there is one row.
func said(want, got differ.Outcome) string {
	for i, null := range got.Nulls {
		if null && strings.HasSuffix(got.Columns[i], "null=false") && !(len(want.Columns) > i && strings.HasSuffix(want.Columns[i], "null=false")) {
			return fmt.Sprintf("  NULL in column %d, which is said not to have any: one server %s, cluster %s\n", i, strings.Join(want.Columns, ", "), strings.Join(got.Columns, ", "))
		}
	}
	return ""
}

// evaluation reports an error that a SELECT meets if its plan computes an expression for some row: a sum out of range, a regular
// expression over an empty string of latin1, JSON that is none, on MySQL a string that is no date beside a date, and bytes that are no text beside one. A server does so for no row where another
// table of the join is found empty first, or LIMIT is 0, and MySQL never where a constant is of no use, in ORDER BY. A table alone, on MariaDB, leaves a plan no such choice.
func evaluation(errno uint16) bool {
	return errno == 3854 || errno == 1690 || errno == 3685 || errno == 3141 || errno == 1525
}

// oneKind reports two errors of which either may be the one that is told, both of the statement as it is, whatever rows there are: that collations do
// not go together, and that it reads what it writes, by its name or by a view.
func oneKind(x, y uint16) bool {
	kind := []uint16{1267, 1270, 1271, 1093, 1443}
	return slices.Contains(kind, x) && slices.Contains(kind, y)
}

// rowErrors are a row's faults: NULL in a column without, a duplicate, a value out of range or of another kind, a foreign key, what a trigger
// signals. Each is a
// warning of these numbers with IGNORE: a value that is too long is cut, and of BIT the greatest; the date 0000-00-00 is out of range.
var rowErrors = map[uint16][]uint16{1048: {1048}, 1062: {1062}, 1264: {1264}, 1364: {1364}, 1366: {1366}, 1406: {1406, 1265, 1264},
	1292: {1292, 1264}, 1451: {1451}, 1452: {1452}, 1265: {1265}, 1761: {1761}, 1644: {1644}}

// faultyColumn is what errors and warnings about a value say of where it was to go.
var faultyColumn = regexp.MustCompile(`for column '[^']*'`)

// oneOfSeveral reports whether both found a fault, of a statement that has several: one server tells the fault of whichever row comes
// first, and of a row what it looks at first. The cluster puts the rows of an INSERT ... SELECT into a stage before it writes the first of
// them, so that a value too long in the last row comes before a duplicate in the first (see docs/compatibility.md, "which of several
// errors"); no row is written either way. That the cluster's fault is really there the one server says, by statements that are undone: the same with
// IGNORE must warn of it, of the same column where it names one; and without foreign keys, which Skarv looks after when rows are
// written, and a server before it looks for duplicates; and where sql_mode is not strict, so that NULL and values that do not fit are no errors: of an
// UPDATE whose subquery reads the same table MariaDB finds these in all rows before the first duplicate, and says nothing of duplicates with IGNORE;
// and as REPLACE, which goes on behind a duplicate to what an AFTER trigger signals; and with fewer of VALUES; and
// with another row first.
func (r *runner) oneOfSeveral(s *statement, text string, want, got differ.Outcome) bool {
	as := rowErrors[got.Errno]
	if as == nil || rowErrors[want.Errno] == nil {
		return false
	}
	if strings.HasPrefix(text, "CALL") { // the statement at fault is not known here
		return true
	}
	column := faultyColumn.FindString(got.Err)
	ignoring := verb.ReplaceAllString(text, "$1 IGNORE ")
	if strings.HasPrefix(text, "REPLACE") {
		ignoring = "INSERT IGNORE" + strings.TrimPrefix(text, "REPLACE")
	}
	ctx := r.t.Context()
	begin, undo := r.undone()
	replacing := "REPLACE" + strings.TrimPrefix(strings.TrimPrefix(text, "INSERT"), " IGNORE")
	if !strings.HasPrefix(text, "INSERT") || strings.Contains(text, "ON DUPLICATE KEY") {
		replacing = text
	}
	run := func(sql string) differ.Outcome { return differ.Run(ctx, r.one, sql, false) }
	defer run("SET SESSION foreign_key_checks = 1, sql_mode = DEFAULT, max_error_count = DEFAULT")
	type attempt struct{ checks, mode, sql string }
	tries := []attempt{{"1", "DEFAULT", ignoring}, {"0", "DEFAULT", text}, {"0", "DEFAULT", ignoring}, {"1", "''", text}, {"0", "''", text}, {"1", "DEFAULT", replacing}}
	for _, sql := range append(fewer(text), otherwise(text)...) {
		tries = append(tries, attempt{"1", "DEFAULT", sql})
	}
	for _, try := range tries {
		for _, sql := range []string{"SET SESSION max_error_count = 65535, foreign_key_checks = " + try.checks + ", sql_mode = " + try.mode, begin} {
			if o := run(sql); o.Errno != 0 {
				return false
			}
		}
		o := run(try.sql)
		faults := run("SHOW WARNINGS")
		if run(undo).Errno != 0 {
			return false
		}
		if o.Errno == got.Errno {
			return true
		}
		for _, row := range faults.Rows {
			if !strings.Contains(row, column) {
				continue
			}
			for _, n := range as {
				if strings.Contains(row, fmt.Sprintf(`| "%d" |`, n)) {
					return true
				}
			}
		}
	}
	return false
}

// fewer are an INSERT with one or two of its VALUES; of other statements, none.
func fewer(text string) (texts []string) {
	const values, update = " VALUES (", ") ON DUPLICATE KEY"
	head, list, _ := strings.Cut(text, values)
	list, tail, found := strings.Cut(list, update)
	if tail = update + tail; !found {
		tail = ")"
		if list, found = strings.CutSuffix(list, tail); !found {
			return nil
		}
	}
	rows := strings.Split(list, "), (")
	for i := range rows {
		texts = append(texts, head+values+rows[i]+tail)
		for j := range i {
			texts = append(texts, head+values+rows[j]+"), ("+rows[i]+tail)
		}
	}
	return texts
}

// ofOne is an UPDATE of one table with an assignment.
var ofOne = regexp.MustCompile(`^UPDATE (?:IGNORE )?\w+(?: \w+)? SET [\w.]+ = (.+?)(?: WHERE .*)?$`)

// otherwise is an UPDATE that begins with the rows to which it gives NULL; of other statements, none.
func otherwise(text string) []string {
	if m := ofOne.FindStringSubmatch(text); m != nil {
		return []string{text + " ORDER BY (" + m[1] + ") IS NULL DESC"}
	}
	return nil
}

var verb = regexp.MustCompile(`^(INSERT|UPDATE|DELETE)( IGNORE)? `)

// allowed counts a difference that is none.
func (r *runner) allowed(name string) {
	if r.quiet {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.allowances[name]++
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
