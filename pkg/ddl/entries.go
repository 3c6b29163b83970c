package ddl

import (
	"fmt"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// CreateEntries is the statement that creates the table of a global index.
func CreateEntries(e *catalog.Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s (", e.SQL())
	var key []string
	for i := range e.Columns {
		c := &e.Columns[i]
		b.WriteString(EntryColumn(c) + ", ")
		if i < len(e.Primary) {
			key = append(key, sqltypes.QuoteName(c.Name))
		}
	}
	fmt.Fprintf(&b, "PRIMARY KEY (%s)) ENGINE=InnoDB", strings.Join(key, ", "))
	return b.String()
}

// EntryColumn is the definition of a column of such a table.
func EntryColumn(c *catalog.Column) string {
	sql := sqltypes.QuoteName(c.Name) + " " + c.ColumnType
	if c.Collation != "" && c.Charset != "" {
		sql += fmt.Sprintf(" CHARACTER SET %s COLLATE %s", c.Charset, c.Collation)
	}
	return sql + " NOT NULL"
}
