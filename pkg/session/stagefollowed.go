package session

import (
	"errors"
	"strings"
	"unicode/utf8"

	"skarv/pkg/catalog"
	"skarv/pkg/exec"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/wire"
	"skarv/pkg/workspace"
)

// A table with global indexes, or with foreign keys that servers cannot enforce, gets the rows of its stage by a statement of
// its own: INSERT ... VALUES with the values written out, which is planned and run as a client's would be, inside the
// statement that runs. So entries and foreign keys are looked after in one place.

// insertFollowed inserts the rows of the stage; columns are those written.
func (w *workspaceWrite) insertFollowed(st *workspace.Stage, columns []int) (sum exec.Counts, err error) {
	s, n := w.s, w.n.Stage
	rows := &writtenRows{table: n.Table, columns: columns, utf8: !s.ForeignLiterals, noEscapes: s.Mode&sqlparse.NoBackslashEscapes != 0}
	rows.sql = append(rows.sql, n.Verb+" "+n.Table.SQL()+" ("+n.Table.ColumnList(columns)+") VALUES "...)
	if err := w.readAsSession(st, columns, rows); err != nil || rows.n == 0 {
		return sum, err
	}
	computed, err := w.computed(st, rows.n)
	if err != nil {
		return sum, err
	}
	if n.Update || n.Returning {
		rows.sql = append(rows.sql, w.tail()...)
	}
	stmt := s.cfg.Dialect.NewStatement()
	defer stmt.Done()
	if err := stmt.Scan(rows.sql, s.Mode); err != nil {
		return sum, err
	}
	p, err := s.cfg.Planner.Build(stmt, s.db, s.snap, s.Info)
	if err != nil {
		return sum, err
	}
	if _, ok := p.Root.(*plan.InsertRows); !ok {
		if p.Refuse != nil {
			return sum, p.Refuse
		}
		return sum, sqlerr.Internal.New("rows of a stage are inserted by no plan of rows")
	}
	var args exec.Arguments
	args.Reset(stmt, nil)
	args.Strings = s.Strings
	args.Staged, args.Computed = true, computed
	var returned exec.Sink
	if n.Returning {
		returned = &w.held
	}
	done, err := s.runner.Run(s.execution(within{&w.conns}), p, s.snap, &args, returned)
	if errors.Is(err, exec.ErrStage) { // the statement's own stage ends with it
		err = sqlerr.Unsupported("values of which it cannot be told what they will be stored as", "write them just as their columns' types print them")
	}
	if err != nil {
		return sum, asServerLost(err)
	}
	sum.Affected, sum.Warnings, sum.InsertID = done.AffectedRows, uint(done.Warnings), done.LastInsertID
	sum.Duplicates = exec.Duplicates(done.Info, done.AffectedRows, n.Verb == "INSERT IGNORE INTO")
	return sum, nil
}

// computed is what the n rows of the stage have in keys which servers compute, if they may meet others there; nil where it does not matter.
func (w *workspaceWrite) computed(st *workspace.Stage, n int) (rows [][][]byte, err error) {
	columns := exec.ComputedColumns(w.n.Stage.Table)
	if columns == nil || !w.n.Stage.Update && w.n.Stage.Verb != "REPLACE INTO" {
		return nil, nil
	}
	if _, err := w.c.Exec("SET " + workspace.WritingMode); err != nil {
		return nil, txn.Lost(w.c, err)
	}
	if _, rows, err = w.c.QueryAll(st.Keys(columns), n); err != nil {
		return nil, txn.Lost(w.c, asOfKey(err, w.n.Stage.Table.Database, st.Name()))
	}
	if _, err := w.c.Exec(w.s.modes()); err != nil {
		return nil, txn.Lost(w.c, err)
	}
	return rows, nil
}

// asOfKey makes an error of an expression over a stage that of a key, in which the columns have no table.
func asOfKey(err error, db, stage string) error {
	e, ok := errors.AsType[*sqlerr.Error](err)
	if !ok || e.Code != sqlerr.OutOfRange {
		return err
	}
	return &sqlerr.Error{Code: e.Code, State: e.State, Message: strings.ReplaceAll(e.Message, sqltypes.QuoteIn(db, stage)+".", "")}
}

// within makes what the runner runs a part of the statement that is running: what goes wrong undoes all of it.
type within struct{ *conns }

// BeginStatement implements exec.Conns.
func (w within) BeginStatement(groups []placement.NodeGroupID) error {
	for _, g := range groups {
		if err := w.JoinStatement(g, true); err != nil {
			return err
		}
	}
	return nil
}

// EndStatement implements exec.Conns.
func (w within) EndStatement(err error) error { return err }

// maxWritten bounds the text of the rows.
const maxWritten = 64 << 20

// writtenRows writes rows as VALUES; it implements exec.Sink for workspace.Stage.Rows.
type writtenRows struct {
	table           *catalog.Table
	columns         []int
	utf8, noEscapes bool
	sql             []byte
	n               int
	fields          [][]byte
}

// Columns implements exec.Sink.
func (r *writtenRows) Columns([]sqltypes.Column) error { return nil }

// Row implements exec.Sink.
func (r *writtenRows) Row(row []byte) (err error) {
	if r.fields, err = wire.ParseTextRow(row, r.fields[:0]); err != nil {
		return err
	}
	if r.n++; r.n > 1 {
		r.sql = append(r.sql, ", "...)
	}
	for i, v := range r.fields[1:] { // behind the partition
		c := &r.table.Columns[r.columns[i]]
		r.sql = append(r.sql, [2]string{"(", ", "}[min(i, 1)]...)
		switch {
		case v == nil:
			r.sql = append(r.sql, "NULL"...)
		case r.utf8 && len(v) > 0 && strings.HasPrefix(c.Charset, "utf8") && c.Collation != "binary" && isCharacters(c) && utf8.Valid(v): // '' may be NULL
			r.sql = sqltypes.AppendQuoted(r.sql, v, r.noEscapes)
		default:
			r.sql = workspace.AppendKeyIn(r.sql, c, true, v)
		}
	}
	if r.sql = append(r.sql, ')'); len(r.sql) > maxWritten {
		return sqlerr.Unsupported("so many rows at once for a table with a global index or foreign keys of other node groups", "insert them in parts")
	}
	return nil
}

func isCharacters(c *catalog.Column) bool {
	return c.DataType == "char" || c.DataType == "varchar" || strings.HasSuffix(c.DataType, "text")
}
