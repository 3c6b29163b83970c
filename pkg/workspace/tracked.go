package workspace

import (
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// Tracked is a copy of a table that a statement will change, made so that afterwards the changes can be told: every row
// has a number, in an invisible column, which it keeps whatever becomes of its values. A second copy stays as it was.
//
//	number in the second copy only    the row is deleted
//	number in both                    the row is changed if its values differ
//	no number                         the row is new
type Tracked struct {
	w     *Workspace
	table *catalog.Table
	name  string // of the copy that changes
	old   string // of the one that does not
}

// rowNumber is the invisible column. No table has a column of its name.
const rowNumber = "_skarv_row"

// Track makes the empty table `name`, which Create made of t, a tracked one, and returns a Filler for its rows. columns
// are all of t that are not generated.
func (w *Workspace) Track(t *catalog.Table, name string, columns []int) (*Tracked, *Filler, error) {
	made := sqltypes.QuoteIn(t.Database, name)
	alter := "ALTER TABLE " + made + " ADD COLUMN " + sqltypes.QuoteName(rowNumber) + " BIGINT UNSIGNED NULL INVISIBLE, ADD INDEX (" + sqltypes.QuoteName(rowNumber) + ")"
	if t.AutoIncrement >= 0 { // nothing is counted here; and an UPDATE in MySQL takes NULL for 0 in such a column of a table filled just now
		alter += ", " + modify(&t.Columns[t.AutoIncrement], "NOT NULL DEFAULT 0")
	}
	if _, err := w.conn.Exec(alter); err != nil {
		return nil, nil, err
	}
	if err := w.anew(t, name); err != nil {
		return nil, nil, err
	}
	old := w.name(t.Database)
	if _, err := w.conn.Exec("CREATE TEMPORARY TABLE " + sqltypes.QuoteIn(t.Database, old) + " LIKE " + made); err != nil {
		return nil, nil, err
	}
	w.tables = append(w.tables, sqltypes.QuoteIn(t.Database, old))
	f := w.Fill(t, name, columns)
	f.number = 1
	list := t.ColumnList(columns) + ", " + sqltypes.QuoteName(rowNumber)
	f.sql = append(f.sql[:0], "INSERT INTO "+made+" ("+list+") VALUES "...)
	f.head = len(f.sql)
	return &Tracked{w: w, table: t, name: name, old: old}, f, nil
}

// Keep copies the rows into the second copy, once all are there. The table may have been renamed to name meanwhile.
func (t *Tracked) Keep(name string, columns []int) error {
	t.name = name
	list := t.table.ColumnList(columns) + ", " + sqltypes.QuoteName(rowNumber)
	_, err := t.w.conn.Exec("INSERT INTO " + t.of(t.old) + " (" + list + ") SELECT " + list + " FROM " + t.of(t.name))
	return err
}

// Greatest is the query for the greatest value that a column has in rows that are there now.
func (t *Tracked) Greatest(column int) string {
	return "SELECT MAX(" + sqltypes.QuoteName(t.table.Columns[column].Name) + ") FROM " + t.of(t.name)
}

func (t *Tracked) of(name string) string {
	return sqltypes.QuoteIn(t.table.Database, name)
}

// Deleted is the query for rows that are gone, as exec.Changer takes them. moved are the columns whose change makes a row
// another one: such a row is among the deleted and among the new. partition is the SQL expression of a row's partition over columns of the alias
// given to it.
func (t *Tracked) Deleted(moved []int, partition func(alias string) string) string {
	return "SELECT " + partition("o") + t.values("o", t.table.Primary) + " FROM " + t.of(t.old) + " AS o LEFT JOIN " + t.of(t.name) +
		" AS n ON n." + sqltypes.QuoteName(rowNumber) + " = o." + sqltypes.QuoteName(rowNumber) + " WHERE n." + sqltypes.QuoteName(rowNumber) + " IS NULL" + t.or(moved)
}

// DeleteAsFrom deletes the rows that are gone from other, a copy of the same table, and returns how many of those were gone here already.
func (t *Tracked) DeleteAsFrom(other *Tracked) (again uint64, err error) {
	number := sqltypes.QuoteName(rowNumber)
	gone := t.of(other.old) + " AS o LEFT JOIN " + t.of(other.name) + " AS n ON n." + number + " = o." + number
	var same strings.Builder
	for _, c := range t.table.Primary {
		name := sqltypes.QuoteName(t.table.Columns[c].Name)
		same.WriteString(" AND t." + name + " = o." + name)
	}
	where := " WHERE n." + number + " IS NULL"
	_, rows, err := t.w.conn.QueryAll("SELECT COUNT(*) FROM "+gone+where, 1)
	if err != nil {
		return 0, err
	}
	all, err := strconv.ParseUint(string(rows[0][0]), 10, 64)
	if err != nil {
		return 0, err
	}
	ok, err := t.w.conn.Exec("DELETE t FROM " + gone + " JOIN " + t.of(t.name) + " AS t ON TRUE" + same.String() + where)
	return all - ok.AffectedRows, err
}

// Changed is the query for rows whose columns have other values, but for those among the deleted.
func (t *Tracked) Changed(moved, columns []int, partition func(alias string) string) string {
	sql := "SELECT " + partition("o") + t.values("o", t.table.Primary) + t.values("n", columns) + " FROM " + t.of(t.old) + " AS o JOIN " + t.of(t.name) +
		" AS n ON n." + sqltypes.QuoteName(rowNumber) + " = o." + sqltypes.QuoteName(rowNumber) + " WHERE (" + t.differ(columns) + ")"
	if len(moved) > 0 {
		sql += " AND NOT (" + t.differ(moved) + ")"
	}
	return sql
}

// Followed is the query for rows that are gone or have other values in images: their partitions before and after, NULL for a
// row that is gone, the old primary key as Read reads it, and the old and the new values of images as ReadKey does.
func (t *Tracked) Followed(images []int, partition func(alias string) string) string {
	sql := "SELECT " + partition("o") + ", IF(n." + sqltypes.QuoteName(rowNumber) + " IS NULL, NULL, " + partition("n") + ")" + t.values("o", t.table.Primary)
	for _, alias := range []string{"o", "n"} {
		for _, c := range images {
			sql += ", " + readKey(t.table.At(c), alias)
		}
	}
	return sql + " FROM " + t.of(t.old) + " AS o LEFT JOIN " + t.of(t.name) + " AS n ON n." + sqltypes.QuoteName(rowNumber) + " = o." + sqltypes.QuoteName(rowNumber) +
		" WHERE n." + sqltypes.QuoteName(rowNumber) + " IS NULL OR " + t.differ(images)
}

// Taken is the query for a row that has got a unique key which another one had before.
func (t *Tracked) Taken(key *catalog.Index) string {
	number := sqltypes.QuoteName(rowNumber)
	sql := "SELECT 1 FROM " + t.of(t.name) + " AS n JOIN " + t.of(t.old) + " AS o ON n." + number + " <> o." + number
	for i, c := range key.Columns {
		col := &t.table.Columns[c]
		sql += " AND " + Beginning(col, key.Length(i), "n") + " = " + Beginning(col, key.Length(i), "o")
	}
	return sql + " LIMIT 1"
}

// Inserted is the query for new rows.
func (t *Tracked) Inserted(moved, columns []int, partition func(alias string) string) string {
	sql := "SELECT " + partition("n") + t.values("n", columns) + " FROM " + t.of(t.name) + " AS n"
	if len(moved) > 0 {
		sql += " LEFT JOIN " + t.of(t.old) + " AS o ON n." + sqltypes.QuoteName(rowNumber) + " = o." + sqltypes.QuoteName(rowNumber)
	}
	return sql + " WHERE n." + sqltypes.QuoteName(rowNumber) + " IS NULL" + t.or(moved)
}

func (t *Tracked) or(moved []int) string {
	if len(moved) == 0 {
		return ""
	}
	return " OR " + t.differ(moved)
}

// values selects columns in the form rows travel in, after something else.
func (t *Tracked) values(alias string, columns []int) string {
	var b strings.Builder
	for _, c := range columns {
		b.WriteString(", " + read(&t.table.Columns[c], alias))
	}
	return b.String()
}

// differ is the condition that a row has another value in one of columns, to the byte.
func (t *Tracked) differ(columns []int) string {
	var list []string
	for _, c := range columns {
		col := t.table.At(c)
		old, now := read(col, "o"), read(col, "n")
		switch col.DataType {
		case "float", "double": // 0 is not -0
			old, now = "CAST("+old+" AS CHAR)", "CAST("+now+" AS CHAR)"
		}
		list = append(list, "NOT ("+old+" <=> "+now+")")
	}
	return strings.Join(list, " OR ")
}

// Resume puts the connection into the state copies are written and read in, after the statement has run. sessionTime: times
// are read as the session sees them.
func (w *Workspace) Resume(sessionTime bool) error {
	sql := "SET @@sql_select_limit = DEFAULT, @@sql_safe_updates = 0, @@sql_big_selects = 1"
	if !sessionTime {
		sql += ", " + Writing
	}
	_, err := w.conn.Exec(sql)
	return err
}
