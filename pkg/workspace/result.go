package workspace

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// Result is a table for the rows of a query, as a server sends them to a client that takes utf8mb4.
type Result struct {
	Name    string
	Table   *catalog.Table // what of its columns a Filler must know
	Columns []int          // all of them
	// Exact: the text of every value tells all of it.
	Exact bool
	forms []Form
}

// strictMode names modes by which a value is an error because it is written to a table.
func strictMode(mode string) bool {
	switch mode {
	case "", "TRADITIONAL", "STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_DATE", "NO_ZERO_IN_DATE", "ERROR_FOR_DIVISION_BY_ZERO":
		return true
	}
	return false
}

// unstrict is an sql_mode in which values that do not fit are warned of.
func unstrict(mode string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(mode, ","), func(m string) bool {
		return m == "TRADITIONAL" || m == "STRICT_TRANS_TABLES" || m == "STRICT_ALL_TABLES"
	}), ",")
}

// Result makes an empty table in db with the columns of a query, which is written for the session's sql_mode, indexed by keys.
func (w *Workspace) Result(db, text string, keys []string) (*Result, error) {
	r := &Result{Name: w.name(db), Exact: true}
	var modes []string
	for m := range strings.SplitSeq(w.mode, ",") {
		if !strictMode(m) {
			modes = append(modes, m)
		}
	}
	made := sqltypes.QuoteIn(db, r.Name)
	if err := w.conn.later([]byte("SET @@sql_mode = _utf8mb4'"+strings.Join(modes, ",")+"', @@time_zone = @skarv_time_zone"), nil); err != nil {
		return nil, err
	}
	if _, err := w.conn.Exec("CREATE TEMPORARY TABLE " + made + indexes(keys) + " AS SELECT * FROM (" + text + ") AS skarv_row LIMIT 0"); err != nil {
		return nil, err
	}
	w.tables = append(w.tables, made)
	_, rows, err := w.conn.QueryAll("SHOW FULL COLUMNS FROM "+made, maxColumns)
	if err != nil {
		return nil, err
	}
	r.Table = &catalog.Table{Database: db, Name: r.Name, AutoIncrement: -1}
	for i, row := range rows {
		c := catalog.Column{Name: string(row[0]), ColumnType: string(row[1])}
		c.DataType, _, _ = strings.Cut(strings.ToLower(c.ColumnType), "(")
		c.DataType, _, _ = strings.Cut(c.DataType, " ")
		form, ok := shownForm(c.DataType)
		r.Exact = r.Exact && ok && shownWhole(sqltypes.CharsetOf(string(row[2])))
		r.forms = append(r.forms, form)
		r.Table.Columns, r.Columns = append(r.Table.Columns, c), append(r.Columns, i)
	}
	return r, w.conn.later([]byte("SET "+Writing), nil)
}

// shownWhole reports whether every string of a character set, "" of what is no string, has a text in UTF-8 of its own. Of others a client gets `?`
// for several.
func shownWhole(charset string) bool {
	switch charset {
	case "", "utf8mb4", "utf8mb3", "utf8", "ucs2", "utf16", "utf16le", "utf32", "latin1", "ascii", "binary":
		return true
	}
	return false
}

// maxColumns is more than a table can have.
const maxColumns = 5000

// shownForm is the form of values as a client gets them; ok is false for those that are not shown whole, or not the same
// in every session.
func shownForm(dataType string) (f Form, ok bool) {
	switch dataType {
	case "tinyint", "smallint", "mediumint", "int", "integer", "bigint", "year":
		return bare, true
	case "decimal", "double", "date", "time", "datetime":
		return quoted, true
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		return utf8, true
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return binary, true
	}
	return binary, false
}

// FillResult returns a Filler for the rows of r's query. operand: the columns become of the types that these rows are shown with, where they
// are integers (plan.Query.Operand).
func (w *Workspace) FillResult(r *Result, operand bool) *Filler {
	f := w.Fill(r.Table, r.Name, r.Columns)
	f.forms, f.computed = r.forms, true
	if operand {
		f.shown = r.Table.Columns
	}
	return f
}

// asShown is the ALTER TABLE by which the table's integers become those that its rows are shown with; nil: they are.
func (f *Filler) asShown(cols []sqltypes.Column) (sql []byte) {
	for i, c := range f.shown {
		made, _ := sqltypes.TypeOf(c.DataType)
		if name := integer(cols[i].Type); name != "" && made != cols[i].Type && integer(made) != "" {
			if sql == nil {
				sql = append(sql, "ALTER TABLE "+f.table...)
			} else {
				sql = append(sql, ',')
			}
			sql = append(sql, " MODIFY "+sqltypes.QuoteName(c.Name)+" "+name...)
			if cols[i].Flags&sqltypes.FlagUnsigned != 0 {
				sql = append(sql, " UNSIGNED"...)
			}
		}
	}
	return sql
}

// integer is the name of a type of integers, "" of others.
func integer(t sqltypes.Type) string {
	switch t {
	case sqltypes.TypeTiny:
		return "TINYINT"
	case sqltypes.TypeShort:
		return "SMALLINT"
	case sqltypes.TypeInt24:
		return "MEDIUMINT"
	case sqltypes.TypeLong:
		return "INT"
	case sqltypes.TypeLongLong:
		return "BIGINT"
	}
	return ""
}
