// Package differ runs a statement as a client does and compares what two servers made of it: rows, column names and
// types, affected rows, insert ids and error numbers. It knows of no cluster: callers give it connections.
package differ

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"sort"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Outcome is what a client sees of one statement.
type Outcome struct {
	Columns  []string // name, type and whether it may be NULL
	Rows     []string // in the order they came, or sorted if the statement has no ORDER BY
	Affected int64
	InsertID int64
	Errno    uint16 // 0: no error
	Err      string
}

var (
	returnsRows = regexp.MustCompile(`(?is)^\s*\(*\s*(SELECT|SHOW|DESC|DESCRIBE|WITH|VALUES|TABLE|CHECK|ANALYZE|CHECKSUM|OPTIMIZE|REPAIR|EXECUTE|CALL|HANDLER|HELP|XA\s+RECOVER)\b|\bRETURNING\b|^\s*SET\s+STATEMENT\b.*\bFOR\s+(SELECT|SHOW|WITH)\b`)
	ordered     = regexp.MustCompile(`(?is)\bORDER\s+BY\b`)
)

// Run runs one statement on c, as text or, if prepared, as a prepared statement with args.
func Run(ctx context.Context, c *sql.Conn, stmt string, prepared bool, args ...any) Outcome {
	o := RunAsIs(ctx, c, stmt, prepared, args...)
	if !ordered.MatchString(stmt) {
		sort.Strings(o.Rows)
	}
	return o
}

// RunAsIs is Run whose rows stay in the order they came in.
func RunAsIs(ctx context.Context, c *sql.Conn, stmt string, prepared bool, args ...any) (o Outcome) {
	fail := func(err error) Outcome {
		var me *mysql.MySQLError
		if errors.As(err, &me) {
			o.Errno = me.Number
		} else {
			o.Errno = 1
		}
		o.Err = err.Error()
		return o
	}
	if !returnsRows.MatchString(stmt) {
		var r sql.Result
		var err error
		if prepared {
			st, perr := c.PrepareContext(ctx, stmt)
			if perr != nil {
				return fail(perr)
			}
			defer st.Close()
			r, err = st.ExecContext(ctx, args...)
		} else {
			r, err = c.ExecContext(ctx, stmt)
		}
		if err != nil {
			return fail(err)
		}
		o.Affected, _ = r.RowsAffected()
		o.InsertID, _ = r.LastInsertId()
		return o
	}
	var rows *sql.Rows
	var err error
	if prepared {
		st, perr := c.PrepareContext(ctx, stmt)
		if perr != nil {
			return fail(perr)
		}
		defer st.Close()
		rows, err = st.QueryContext(ctx, args...)
	} else {
		rows, err = c.QueryContext(ctx, stmt)
	}
	if err != nil {
		return fail(err)
	}
	defer rows.Close()
	for more := true; more; more = rows.NextResultSet() { // a CALL has several
		if err := o.read(rows); err != nil {
			return fail(err)
		}
	}
	if err := rows.Err(); err != nil {
		return fail(err)
	}
	return o
}

// read appends one result set.
func (o *Outcome) read(rows *sql.Rows) error {
	types, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	for _, ct := range types {
		p, scale, _ := ct.DecimalSize()
		null, _ := ct.Nullable()
		o.Columns = append(o.Columns, fmt.Sprintf("%s %s(%d,%d) null=%t", ct.Name(), ct.DatabaseTypeName(), p, scale, null))
	}
	values := make([]sql.RawBytes, len(types))
	dest := make([]any, len(types))
	for i := range values {
		dest[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		var row []string
		for _, v := range values {
			if v == nil {
				row = append(row, "NULL")
			} else {
				row = append(row, fmt.Sprintf("%q", v))
			}
		}
		o.Rows = append(o.Rows, strings.Join(row, " | "))
	}
	return rows.Err()
}

// Compare says how the cluster's outcome differs from one server's; "" if it does not.
func Compare(want, got Outcome) string {
	var d strings.Builder
	line := func(what string, w, g any) {
		if fmt.Sprint(w) != fmt.Sprint(g) {
			fmt.Fprintf(&d, "  %s: one server %v, cluster %v\n", what, w, g)
		}
	}
	if want.Errno != got.Errno {
		fmt.Fprintf(&d, "  error: one server %d %s, cluster %d %s\n", want.Errno, want.Err, got.Errno, got.Err)
		return d.String()
	}
	if want.Errno != 0 {
		return "" // how much of a result came before the error is nobody's business
	}
	line("columns", strings.Join(want.Columns, ", "), strings.Join(got.Columns, ", "))
	line("affected rows", want.Affected, got.Affected)
	line("insert id", want.InsertID, got.InsertID)
	line("rows", len(want.Rows), len(got.Rows))
	for i := range min(len(want.Rows), len(got.Rows)) {
		if want.Rows[i] != got.Rows[i] {
			line(fmt.Sprintf("row %d", i), want.Rows[i], got.Rows[i])
			break
		}
	}
	return d.String()
}
