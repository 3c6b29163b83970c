package temporary

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// Server is the connection that a temporary table is on: *backend.Conn.
type Server interface {
	QueryAll(sql string, maxRows int) ([]sqltypes.Column, [][][]byte, error)
}

var (
	typeLength  = regexp.MustCompile(`^\w+\((\d+)(?:,(\d+))?\)`)
	tableOption = regexp.MustCompile(` AUTO_INCREMENT=\d+`)
)

// Read returns the definition of a temporary table as its server shows it, which quotes names by backticks; nil if there is an ordinary one of
// that name.
func Read(c Server, db, name string) (t *catalog.Table, err error) {
	table := sqltypes.QuoteIn(db, name)
	_, rows, err := c.QueryAll("SHOW CREATE TABLE "+table, 1)
	if err != nil {
		return nil, err
	}
	text, ok := "", false
	if len(rows) == 1 && len(rows[0]) > 1 {
		text, ok = strings.CutPrefix(string(rows[0][1]), "CREATE TEMPORARY TABLE "+sqltypes.QuoteName(name))
		if !ok { // sql_quote_show_create is off
			text, ok = strings.CutPrefix(string(rows[0][1]), "CREATE TEMPORARY TABLE "+name)
		}
	}
	if !ok {
		return nil, nil
	}
	t = &catalog.Table{Database: db, Name: name, Kind: catalog.Single, AutoIncrement: -1,
		Temporary: tableOption.ReplaceAllString(text, "")}
	if _, rows, err = c.QueryAll("SHOW FULL COLUMNS FROM "+table, 1<<16); err != nil {
		return nil, err
	}
	for _, r := range rows {
		if len(r) < 7 {
			return nil, errors.New("SHOW FULL COLUMNS of an unknown form")
		}
		t.Columns = append(t.Columns, column(r))
		if strings.Contains(strings.ToLower(string(r[6])), "auto_increment") {
			t.AutoIncrement = len(t.Columns) - 1
		}
	}
	if _, rows, err = c.QueryAll("SHOW INDEX FROM "+table, 1<<16); err != nil {
		return nil, err
	}
	return t, readKeys(t, rows)
}

// readKeys gives t the keys that SHOW INDEX shows: Table, Non_unique, Key_name, Seq_in_index, Column_name, Collation, Cardinality, Sub_part.
func readKeys(t *catalog.Table, rows [][][]byte) error {
	var keys []catalog.Index
	for _, r := range rows {
		if len(r) < 8 {
			return errors.New("SHOW INDEX of an unknown form")
		}
		name := string(r[2])
		if len(keys) == 0 || keys[len(keys)-1].Name != name {
			keys = append(keys, catalog.Index{Name: name, Unique: string(r[1]) == "0"})
		}
		key, c := &keys[len(keys)-1], t.Column(string(r[4]))
		key.Partial = key.Partial || r[7] != nil || c < 0
		if c >= 0 {
			key.Columns = append(key.Columns, c)
		}
	}
	for _, k := range keys {
		switch {
		case k.Name == "PRIMARY":
			t.Primary = k.Columns
		case k.Unique:
			t.Unique = append(t.Unique, k)
		default:
			t.Indexes = append(t.Indexes, k)
		}
	}
	for _, k := range t.Unique { // it may stand in for a primary key
		nullable := slices.ContainsFunc(k.Columns, func(c int) bool { return t.Columns[c].Nullable })
		if t.Primary == nil && !nullable && !k.Partial {
			t.Primary = slices.Clone(k.Columns)
		}
	}
	return nil
}

// column is a row of SHOW FULL COLUMNS: Field, Type, Collation, Null, Key, Default, Extra.
func column(r [][]byte) catalog.Column {
	c := catalog.Column{Name: string(r[0]), ColumnType: string(r[1]), Collation: string(r[2]), Nullable: string(r[3]) == "YES"}
	c.DataType = strings.ToLower(c.ColumnType)
	if i := strings.IndexAny(c.DataType, "( "); i >= 0 {
		c.DataType = c.DataType[:i]
	}
	c.Type, _ = sqltypes.TypeOf(c.DataType)
	c.Unsigned = strings.Contains(c.ColumnType, " unsigned") || strings.Contains(c.ColumnType, " zerofill")
	c.Charset = sqltypes.CharsetOf(c.Collation)
	if m := typeLength.FindStringSubmatch(c.ColumnType); m != nil {
		n, _ := strconv.Atoi(m[1])
		c.Length, c.Precision = int64(n), n
		c.Scale, _ = strconv.Atoi(m[2])
		if c.Type.IsTemporal() {
			c.Scale = n
		}
	}
	extra := strings.ToUpper(string(r[6]))
	c.Default, c.HasDefault = string(r[5]), r[5] != nil || c.Nullable
	c.Generated = strings.Contains(extra, "VIRTUAL") || strings.Contains(extra, "STORED") || strings.Contains(extra, "PERSISTENT")
	c.Invisible = strings.Contains(extra, "INVISIBLE")
	c.OnUpdate = strings.Contains(extra, "ON UPDATE")
	c.ComputedDefault = strings.Contains(extra, "DEFAULT_GENERATED")
	return c
}
