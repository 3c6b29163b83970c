// Package workspace is temporary tables on one connection to one server: copies of tables whose rows lie elsewhere, for a
// query that only a server with all rows can answer. It knows how a value of every type travels unchanged, how much
// may be copied, and how everything is cleaned up. It knows no plans and no node groups; rows are brought to it.
//
//	Open ──► Create, Fill, Select, ... ──► Ready ──► the query runs on the connection ──► Close
package workspace

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// Conn is the connection a workspace is on, in the client's session state. *mysqlconn.Conn is one.
type Conn interface {
	Send(cmd wire.Command, body []byte) error
	ReadHead() (mysqlconn.Head, error)
	ReadRow() ([]byte, error)
	Exec(sql string) (wire.OK, error)
	QueryAll(sql string, limit int) ([]sqltypes.Column, [][][]byte, error)
	Usable() bool
}

// Workspace is the temporary tables of one statement. It belongs to one goroutine.
type Workspace struct {
	conn   *pipe
	budget *Budget
	mode   string // the session's sql_mode
	rows   int64
	bytes  int64
	next   int
	tables []string // that exist, as `db`.`name`
	taken  func(db, name string) bool
	// restored: the connection is in the session's state, or what brings it there is sent.
	restored bool
}

// saved are the session variables that are others while copies are written.
func saved() []string {
	return []string{"sql_mode", "time_zone", "sql_select_limit", "sql_big_selects", "innodb_strict_mode", "sql_quote_show_create"}
}

// Writing is the session variables, as SET takes them, with which copies are written: whatever a table holds goes into
// another one unchanged. The client's character set, in which literals are read, may be UTF-16.
const Writing = WritingMode + ", @@time_zone = _utf8mb4'+00:00'"

// WritingMode is Writing but for the time zone.
const WritingMode = "@@" + writingMode

const writingMode = "sql_mode = _utf8mb4'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO'"

// Open begins a workspace on conn, which nobody else uses until Close. mode is the session's sql_mode; taken tells names that tables of the
// client's may have.
func Open(conn Conn, budget *Budget, mode string, taken func(db, name string) bool) (*Workspace, error) {
	w := &Workspace{conn: &pipe{Conn: conn}, budget: budget, mode: mode, taken: taken}
	// Replicas and change streams need not know of temporary tables; an account that may not say so writes them to the log. Copies of what
	// queries have found have no keys, which MySQL may be set to refuse; MariaDB reads no comment of such a version.
	if err := w.conn.later([]byte("SET SESSION sql_log_bin = 0 /*!80013 , sql_require_primary_key = 0 */"), func(error) error { return nil }); err != nil {
		return nil, err
	}
	var sql strings.Builder
	sql.WriteString("SET ")
	for _, v := range saved() {
		sql.WriteString("@skarv_" + v + " = @@" + v + ", ")
	}
	// No temporary table is compressed: without strict mode those made like a table that is are ordinary ones.
	sql.WriteString("@@sql_select_limit = DEFAULT, @@sql_big_selects = 1, @@innodb_strict_mode = 0, @@sql_quote_show_create = 1, " + Writing)
	return w, w.conn.later([]byte(sql.String()), nil)
}

// Create makes an empty table like t, in t's database, and returns its name, which Rename changes. That it cannot be made may
// be told later, by any other method, at the latest by Ready.
func (w *Workspace) Create(t *catalog.Table) (name string, err error) {
	name = w.name(t.Database)
	made := sqltypes.QuoteIn(t.Database, name)
	like := " LIKE " + t.SQL()
	switch {
	case t.Temporary != "":
		like = t.Temporary // it is on another connection
	case t.HasFulltext() || t.Partitioned:
		if like, err = w.plain(t); err != nil {
			return "", err
		}
	}
	if err := w.conn.later([]byte("CREATE TEMPORARY TABLE "+made+like), nil); err != nil {
		return "", err
	}
	w.tables = append(w.tables, made)
	if t.Checks {
		err = w.dropChecks(made)
	}
	return name, err
}

// plain is what stands behind the name of t in its definition, without what no temporary table can have: partitions, and FULLTEXT keys, for
// what reads by them does not read copies; without foreign keys, as LIKE has it; and its CHECK constraints have no names, which MySQL wants to be
// different ones.
func (w *Workspace) plain(t *catalog.Table) (string, error) {
	_, rows, err := w.conn.QueryAll("SHOW CREATE TABLE "+t.SQL(), 1)
	if err != nil {
		return "", err
	}
	if len(rows) != 1 || len(rows[0]) < 2 {
		return "", sqlerr.Internal.New("a server does not tell the definition of '" + t.Name + "'")
	}
	lines := strings.Split(string(rows[0][1]), "\n")
	end := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, ")") })
	if end < 0 {
		return "", sqlerr.Internal.New("the definition of '" + t.Name + "' has no end")
	}
	var kept []string
	for _, l := range lines[1:end] {
		if !strings.HasPrefix(l, "  FULLTEXT KEY ") && !foreignKey.MatchString(l) {
			kept = append(kept, checkName.ReplaceAllString(strings.TrimSuffix(strings.TrimRight(l, " "), ","), "  CHECK "))
		}
	}
	return " (\n" + strings.Join(kept, ",\n") + "\n" + lines[end], nil // partitions are on the lines behind
}

var (
	foreignKey = regexp.MustCompile("^  CONSTRAINT `(?:[^`]|``)+` FOREIGN KEY ")
	checkName  = regexp.MustCompile("^  CONSTRAINT `(?:[^`]|``)+` CHECK ")
)

// CreatePart makes an empty table with columns of t only, indexed by keys, as Create does.
func (w *Workspace) CreatePart(t *catalog.Table, columns []int, keys []string) (name string, err error) {
	name = w.name(t.Database)
	made := sqltypes.QuoteIn(t.Database, name)
	sql := "CREATE TEMPORARY TABLE " + made + indexes(keys) + " AS SELECT " + t.ColumnList(columns) + " FROM " + t.SQL() + " LIMIT 0"
	if err := w.conn.later([]byte(sql), nil); err != nil {
		return "", err
	}
	w.tables = append(w.tables, made)
	return name, nil
}

// indexes is the definition of indexes on one column each, for a table whose columns are those of a query.
func indexes(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	var list []string
	for _, k := range keys {
		list = append(list, "KEY ("+sqltypes.QuoteName(k)+")")
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// anew makes the table that Create made of t, which is still empty, once more: MariaDB forgets the defaults that are expressions, those of
// TEXT and BLOB, and ON UPDATE, of a temporary table that was altered.
func (w *Workspace) anew(t *catalog.Table, name string) error {
	forgotten := func(c catalog.Column) bool {
		long := strings.HasSuffix(c.DataType, "text") || strings.HasSuffix(c.DataType, "blob")
		expression := !strings.HasPrefix(c.Default, "'") && strings.ContainsAny(c.Default, "(_` ") // CURRENT_TIMESTAMP, `b`, 1 + 1
		return c.OnUpdate || c.HasDefault && !c.NullDefault && (long || expression)
	}
	if !slices.ContainsFunc(t.Columns, forgotten) {
		return nil
	}
	made, other := sqltypes.QuoteIn(t.Database, name), sqltypes.QuoteIn(t.Database, w.name(t.Database))
	for _, sql := range []string{"CREATE TEMPORARY TABLE " + other + " LIKE " + made, "DROP TEMPORARY TABLE " + made,
		"ALTER TABLE " + other + " RENAME TO " + made} {
		if _, err := w.conn.Exec(sql); err != nil {
			return err
		}
	}
	return nil
}

// dropChecks drops the CHECK constraints of a copy whose names MySQL has made from the copy's: when the copy gets the name
// of its table, they would get the names of that table's, which are taken. What a copy holds was checked where it comes
// from, or is checked where it goes. MariaDB keeps the names, and does not mind.
func (w *Workspace) dropChecks(made string) error {
	_, rows, err := w.conn.QueryAll("SHOW CREATE TABLE "+made, 1)
	if err != nil {
		return err
	}
	var drop []string
	for _, m := range madeCheck.FindAllSubmatch(rows[0][1], -1) {
		drop = append(drop, "DROP CHECK "+string(m[1]))
	}
	if len(drop) == 0 {
		return nil
	}
	_, err = w.conn.Exec("ALTER TABLE " + made + " " + strings.Join(drop, ", "))
	return err
}

var madeCheck = regexp.MustCompile("\n  CONSTRAINT (`skarv_copy_[0-9]+_chk_[0-9]+`) CHECK ")

// name is a name that no table of a database has.
func (w *Workspace) name(db string) (name string) {
	for free := false; !free; free = !w.taken(db, name) {
		w.next++
		name = "skarv_copy_" + strconv.Itoa(w.next)
	}
	return name
}

// Select makes a table in db of the rows of a SELECT, which runs in the session's own state, except that no
// value is an error because it is written to a table, and returns its name. The text is in UTF-8 whatever the session's character set is,
// and collation that of its string literals; "": the default one of UTF-8, in which all characters are.
func (w *Workspace) Select(db, text, collation string) (name string, err error) {
	name = w.name(db)
	var modes []string
	for m := range strings.SplitSeq(w.mode, ",") {
		switch m {
		case "", "TRADITIONAL", "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_DATE", "NO_ZERO_IN_DATE", "ERROR_FOR_DIVISION_BY_ZERO",
			"ANSI", "ANSI_QUOTES", "PIPES_AS_CONCAT", "IGNORE_SPACE", "NO_BACKSLASH_ESCAPES", "EMPTY_STRING_IS_NULL", "ORACLE": // the text has been written without
		default:
			modes = append(modes, m)
		}
	}
	made := sqltypes.QuoteIn(db, name)
	literals := "@@character_set_connection = 'utf8mb4'"
	if collation != "" {
		literals = "@@collation_connection = '" + collation + "'"
	}
	if _, err := w.conn.Exec("SET " + keepStrings + ", @@character_set_client = 'utf8mb4', " + literals +
		", @@sql_mode = _utf8mb4'" + strings.Join(modes, ",") + "', @@time_zone = @skarv_time_zone"); err != nil {
		return "", err
	}
	ok, err := w.conn.Exec("CREATE TEMPORARY TABLE " + made + " AS " + text)
	if err != nil {
		_ = w.conn.later([]byte("SET "+ownStrings), nil)
		return "", err
	}
	w.tables = append(w.tables, made)
	if w.rows += int64(ok.AffectedRows); w.rows > w.budget.limits.Rows {
		return "", tooLarge("workspace.max_rows", w.budget.limits.Rows)
	}
	_, err = w.conn.Exec("SET " + ownStrings + ", " + Writing)
	return name, err
}

// Store makes tables in db, of the given names, each of which has all rows of a SELECT. That is the client's own text, and runs in the session's own
// state, except that no value is an error because it is written to a table. warned: the SELECT has warned, and warnings was called when
// the server could be asked of what.
func (w *Workspace) Store(db string, names []string, text string, warnings func()) (warned bool, err error) {
	if _, err := w.conn.Exec("SET @@sql_mode = _utf8mb4'" + unstrict(w.mode) + "', @@time_zone = @skarv_time_zone"); err != nil {
		return false, err
	}
	for i, name := range names {
		made := sqltypes.QuoteIn(db, name)
		ok, err := w.conn.Exec("CREATE TEMPORARY TABLE " + made + " AS " + text)
		if err != nil {
			return false, err
		}
		w.tables = append(w.tables, made)
		if w.rows += int64(ok.AffectedRows); w.rows > w.budget.limits.Rows {
			return false, tooLarge("workspace.max_rows", w.budget.limits.Rows)
		}
		if i == 0 && ok.Warnings > 0 {
			warned = true
			warnings()
		}
		text = "SELECT * FROM " + made
	}
	return warned, w.conn.later([]byte("SET "+Writing), nil)
}

// keepStrings and ownStrings remember how the session's texts are read, and bring that back.
const (
	keepStrings = "@skarv_client = @@character_set_client, @skarv_connection = @@collation_connection"
	ownStrings  = "@@character_set_client = @skarv_client, @@collation_connection = @skarv_connection"
)

// Rename gives a table that Create or Select made another name; from then on it hides the table of that name.
func (w *Workspace) Rename(db, from, to string) error {
	old, made := sqltypes.QuoteIn(db, from), sqltypes.QuoteIn(db, to)
	if err := w.conn.later([]byte("ALTER TABLE "+old+" RENAME TO "+made), nil); err != nil {
		return err
	}
	for i := range w.tables {
		if w.tables[i] == old {
			w.tables[i] = made
		}
	}
	return nil
}

// Mark remembers which tables there are, for DropBetween.
func (w *Workspace) Mark() int { return len(w.tables) }

// DropBetween drops the tables made since Mark returned mark, but for the last one.
func (w *Workspace) DropBetween(mark int) error {
	last := len(w.tables) - 1
	if err := w.drop(w.tables[mark:last]); err != nil {
		return err
	}
	w.tables = append(w.tables[:mark], w.tables[last])
	return nil
}

func (w *Workspace) drop(tables []string) error {
	if len(tables) == 0 {
		return nil
	}
	_, err := w.conn.Exec("DROP TEMPORARY TABLE " + strings.Join(tables, ", "))
	return err
}

// analysed is how many rows of copies make a server look at them once more.
const analysed = 256

// Many reports whether so many rows were copied that Analyse is worth its time.
func (w *Workspace) Many() bool { return w.rows >= analysed }

// Analyse lets the server look at the copies: of a temporary table that was filled after it was made it knows no more than how many rows
// there are, takes each value of a key for the only one, and joins as if that were so. Like Restore, it is told by Settle.
func (w *Workspace) Analyse() error {
	if len(w.tables) == 0 {
		return nil
	}
	return w.conn.later([]byte("ANALYZE LOCAL TABLE "+strings.Join(w.tables, ", ")), nil)
}

// Ready ends the copying: the connection is in the session's state again.
func (w *Workspace) Ready() error {
	if err := w.Restore(); err != nil {
		return err
	}
	return w.Settle()
}

// Restore brings the connection into the session's state again. Whether that, and all before it, was done is told by Settle.
func (w *Workspace) Restore() error {
	var sql strings.Builder
	sql.WriteString("SET ")
	for i, v := range saved() {
		if i > 0 {
			sql.WriteString(", ")
		}
		sql.WriteString("@@" + v + " = @skarv_" + v)
	}
	w.restored = true
	return w.conn.later([]byte(sql.String()), nil)
}

// Settle waits for all that has been sent.
func (w *Workspace) Settle() error { return w.conn.settle() }

// Free counts the workspace's bytes as free. Whoever does not Close as well closes the connection, which drops the tables.
func (w *Workspace) Free() {
	w.budget.used.Add(-w.bytes)
	w.bytes = 0
}

// Close frees the workspace, drops its tables, and brings the connection into the session's state if that was not done. After an error the
// connection must be closed.
func (w *Workspace) Close() error {
	w.Free()
	_ = w.conn.settle() // what was sent before an error, and whose answers nobody waits for any more
	if !w.conn.Usable() {
		return errBroken
	}
	if !w.restored {
		if err := w.Ready(); err != nil {
			return err
		}
	}
	err := w.drop(w.tables)
	w.tables = nil
	return err
}

var errBroken = errors.New("workspace: the connection is broken")
