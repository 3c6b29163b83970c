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
	Nulls    []bool   // by column: some row has NULL there
	Affected int64
	InsertID int64
	Errno    uint16 // 0: no error
	Err      string

	// Of a Client only: what came, and what SHOW WARNINGS showed if it was asked.
	Prepared, Sent Answer
	Warnings       []string
}

// Conn is a connection of database/sql, or a Client.
type Conn interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// sent is what came last on c, if that is known.
func sent(c Conn) Answer {
	if c, ok := c.(*Client); ok {
		return c.tap.answer
	}
	return Answer{}
}

var (
	returnsRows = regexp.MustCompile(`(?is)^\s*\(*\s*(SELECT|SHOW|DESC|DESCRIBE|WITH|VALUES|TABLE|CHECK|ANALYZE|CHECKSUM|OPTIMIZE|REPAIR|EXECUTE|CALL|HANDLER|HELP|XA\s+RECOVER)\b|\bRETURNING\b|^\s*SET\s+STATEMENT\b.*\bFOR\s+(SELECT|SHOW|WITH)\b`)
	ordered     = regexp.MustCompile(`(?is)\bORDER\s+BY\b`)
)

// Run runs one statement on c, as text or, if prepared, as a prepared statement with args.
func Run(ctx context.Context, c Conn, stmt string, prepared bool, args ...any) Outcome {
	o := RunAsIs(ctx, c, stmt, prepared, args...)
	if !ordered.MatchString(stmt) {
		sort.Strings(o.Rows)
	}
	return o
}

// Broken is the error number of an Outcome whose error no server has sent: the connection is gone, or time is up.
const Broken = 1

// RunAsIs is Run whose rows stay in the order they came in.
func RunAsIs(ctx context.Context, c Conn, stmt string, prepared bool, args ...any) Outcome {
	if !prepared {
		o := outcome(stmt, func() (sql.Result, error) { return c.ExecContext(ctx, stmt) },
			func() (*sql.Rows, error) { return c.QueryContext(ctx, stmt) })
		o.Sent = sent(c)
		return o
	}
	return Prepared(ctx, c, stmt, args)[0]
}

// Prepared prepares a statement once and runs it with each list of arguments. Its rows stay in the order they came in. If
// it cannot be prepared, there is one Outcome.
func Prepared(ctx context.Context, c Conn, stmt string, args ...[]any) (all []Outcome) {
	st, err := c.PrepareContext(ctx, stmt)
	prepared := sent(c)
	if err != nil {
		return []Outcome{failed(Outcome{Sent: prepared}, err)}
	}
	defer st.Close()
	for _, a := range args {
		o := outcome(stmt, func() (sql.Result, error) { return st.ExecContext(ctx, a...) },
			func() (*sql.Rows, error) { return st.QueryContext(ctx, a...) })
		o.Prepared, o.Sent = prepared, sent(c)
		all = append(all, o)
	}
	return all
}

// outcome runs a statement by exec, or by query if it returns rows.
func outcome(stmt string, exec func() (sql.Result, error), query func() (*sql.Rows, error)) (o Outcome) {
	if !returnsRows.MatchString(stmt) {
		r, err := exec()
		if err != nil {
			return failed(o, err)
		}
		o.Affected, _ = r.RowsAffected()
		o.InsertID, _ = r.LastInsertId()
		return o
	}
	rows, err := query()
	if err != nil {
		return failed(o, err)
	}
	defer rows.Close()
	for more := true; more; more = rows.NextResultSet() { // a CALL has several
		if err := o.read(rows); err != nil {
			return failed(o, err)
		}
	}
	if err := rows.Err(); err != nil {
		return failed(o, err)
	}
	return o
}

// failed is o with its error.
func failed(o Outcome, err error) Outcome {
	o.Errno, o.Err = Broken, err.Error()
	if me, ok := errors.AsType[*mysql.MySQLError](err); ok {
		o.Errno = me.Number
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
	nulls := len(o.Nulls)
	o.Nulls = append(o.Nulls, make([]bool, len(types))...)
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
		for i, v := range values {
			if v == nil {
				o.Nulls[nulls+i] = true
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
