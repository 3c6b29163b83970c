package metadata

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// A table's rows and bytes lie on several node groups: information_schema.tables shows their sums, and the greatest of the next
// AUTO_INCREMENT values. The other groups are asked only by statements that name a column with sizes, or all columns.

// nextValue is the column of information_schema.tables that does not add up. It is NULL where there is none.
const nextValue = "auto_increment"

// sizeColumns are the columns of information_schema.tables that are made of those of all node groups.
func sizeColumns() []string {
	return []string{"table_rows", "data_length", "index_length", "data_free", nextValue}
}

// namesSizes reports whether a statement may show columns with sizes.
func namesSizes(st *sqlparse.Statement) bool {
	return names(st, append([]string{"avg_row_length"}, sizeColumns()...)...)
}

// names reports whether a statement may show one of the columns, given in small letters.
func names(st *sqlparse.Statement, columns ...string) bool {
	tokens := st.Tokens()
	var prev sqlparse.Token
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; prev, tok = tok, tokens.Next() {
		switch tok.Kind {
		case sqlparse.Op:
			if st.Is(tok, "*") && (st.Is(prev, "SELECT") || st.Is(prev, ",") || st.Is(prev, ".") || st.Is(prev, "DISTINCT")) {
				return true
			}
		case sqlparse.Word, sqlparse.QuotedName:
			if slices.Contains(columns, strings.ToLower(string(st.AppendName(nil, tok)))) {
				return true
			}
		}
	}
	return false
}

// summedTables is a SELECT like information_schema.tables in which sizes are those of all node groups; empty when
// there is nothing to add up. condition is what its rows must fulfil.
func (v *Viewer) summedTables(condition string) (string, error) {
	type object struct{ db, name string }
	sums := map[object][]uint64{}
	var order []object
	columns, err := v.Columns("information_schema.tables")
	if err != nil {
		return "", err
	}
	query := "SELECT table_schema, table_name, " + strings.Join(sizeColumns(), ", ") +
		" FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema') AND " + condition
	for i, g := range v.Snapshot.Groups {
		rows, err := v.Query(g.ID, query+" LIMIT "+strconv.Itoa(MaxRows)) // whatever sql_select_limit says
		if err != nil {
			return "", err
		}
		for _, r := range rows {
			o := object{string(r[0]), string(r[1])}
			t := v.Snapshot.Table(o.db, o.name)
			if t == nil || t.Kind == catalog.Single && t.Group != g.ID || t.Kind == catalog.Reference && i > 0 {
				continue
			}
			if sums[o] == nil {
				sums[o] = make([]uint64, len(sizeColumns()))
				order = append(order, o)
			}
			for j, column := range sizeColumns() {
				n, _ := strconv.ParseUint(string(r[2+j]), 10, 64) // NULL is none
				if column == nextValue {
					sums[o][j] = max(sums[o][j], n)
				} else {
					sums[o][j] += n
				}
			}
		}
	}
	if len(order) == 0 {
		return "", nil
	}
	var b strings.Builder
	b.WriteString("SELECT ")
	for i := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		name := columns[i].Name
		lower := strings.ToLower(name)
		switch {
		case slices.Contains(sizeColumns(), lower):
			fmt.Fprintf(&b, "COALESCE(CAST(skarv_sizes.%s AS UNSIGNED), skarv_tables.%s) AS %s", lower, name, name)
		case lower == "avg_row_length":
			fmt.Fprintf(&b, "COALESCE(CAST(skarv_sizes.data_length DIV NULLIF(skarv_sizes.table_rows, 0) AS UNSIGNED), skarv_tables.%s) AS %s", name, name)
		default:
			fmt.Fprintf(&b, "skarv_tables.%s", sqltypes.QuoteName(name))
		}
	}
	b.WriteString(" FROM information_schema.tables AS skarv_tables LEFT JOIN (")
	for i, o := range order {
		if i > 0 {
			b.WriteString(" UNION ALL ")
		}
		fmt.Fprintf(&b, "SELECT x'%s' AS db, x'%s' AS name", hex.EncodeToString([]byte(o.db)), hex.EncodeToString([]byte(o.name)))
		for j, column := range sizeColumns() {
			value := strconv.FormatUint(sums[o][j], 10)
			if column == nextValue && sums[o][j] == 0 {
				value = "NULL"
			}
			fmt.Fprintf(&b, ", %s AS %s", value, column)
		}
	}
	b.WriteString(") AS skarv_sizes ON skarv_sizes.db = CAST(CONVERT(skarv_tables.table_schema USING utf8mb4) AS BINARY)" +
		" AND skarv_sizes.name = CAST(CONVERT(skarv_tables.table_name USING utf8mb4) AS BINARY) WHERE " +
		strings.ReplaceAll(condition, "table_schema", "skarv_tables.table_schema"))
	return b.String(), nil
}
