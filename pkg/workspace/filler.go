package workspace

import (
	"fmt"
	"strconv"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// batchBytes is the size of one INSERT, unless a single row is larger.
const batchBytes = 512 << 10

// Filler writes rows into a table, in batches: while the server writes one, the next is gathered.
type Filler struct {
	w      *Workspace
	table  string
	also   []*Workspace // that get the same rows
	forms  []Form
	head   int // bytes of "INSERT INTO t (a, b) VALUES "
	sql    []byte
	fields [][]byte
	number uint64 // of the next row of a tracked table; else 0
	rows   uint64
	bytes  uint64
	keys   []*Keys
	// computed: the rows are those of a query, which may have numbers with more digits than a table can hold.
	computed bool
	shown    []catalog.Column // of a query's table whose integers become those that rows are shown with
	unused   []byte           // drops the keys that are not used; nil: there are none, or they are dropped
}

// Fill returns a Filler for columns of the table that Create made of t. Rows come as Read selects these columns.
func (w *Workspace) Fill(t *catalog.Table, name string, columns []int) *Filler {
	f := &Filler{w: w, table: sqltypes.QuoteIn(t.Database, name)}
	for _, c := range columns {
		f.forms = append(f.forms, formOf(&t.Columns[c]))
	}
	f.sql = append(f.sql, copied+"INSERT INTO "+f.table+" ("+t.ColumnList(columns)+") VALUES "...)
	f.head = len(f.sql)
	return f
}

// copied stands before an INSERT of copied rows. A column that is not copied has what the server puts there, which the CHECK constraints that a
// copy has on MariaDB may refuse; what a copy holds was checked where it comes from. MySQL takes it for a comment: there copies have none.
const copied = "/*M!100201 SET STATEMENT check_constraint_checks = 0 FOR */ "

// Also makes f write the same rows on further workspaces, where Create has made the table, too.
func (f *Filler) Also(others []*Workspace) { f.also = others }

// Without makes f drop keys of the table once there are more rows than one batch: writing them takes longer than that.
func (f *Filler) Without(keys []string) {
	if len(keys) == 0 {
		return
	}
	f.unused = append(f.unused, "ALTER TABLE "+f.table...)
	for i, k := range keys {
		if i > 0 {
			f.unused = append(f.unused, ',')
		}
		f.unused = append(f.unused, " DROP INDEX "+sqltypes.QuoteName(k)...)
	}
}

// Rows is how many rows f has got.
func (f *Filler) Rows() uint64 { return f.rows }

// Bytes is how many bytes these rows had as they came.
func (f *Filler) Bytes() uint64 { return f.bytes }

// Columns implements exec.Sink.
func (f *Filler) Columns(cols []sqltypes.Column) error {
	if len(cols) != len(f.forms) {
		return sqlerr.Internal.New("a copied table has another number of columns than its fragment")
	}
	return f.alter(f.asShown(cols), nil)
}

// Row implements exec.Sink: it adds a row in the text protocol's form.
func (f *Filler) Row(row []byte) (err error) {
	f.rows++
	f.bytes += uint64(len(row))
	if err := f.w.take(int64(len(row) * (1 + len(f.also)))); err != nil {
		return err
	}
	if f.fields, err = wire.ParseTextRow(row, f.fields[:0]); err != nil {
		return err
	}
	if len(f.fields) != len(f.forms) {
		return sqlerr.Internal.New("a copied row has another number of values than its table")
	}
	f.collect()
	sep := byte('(')
	if len(f.sql) > f.head {
		f.sql = append(f.sql, ',')
	}
	for i, v := range f.fields {
		if f.computed && f.forms[i] == quoted && sqltypes.Clipped(v) {
			return sqlerr.Unsupported("computing with SUM and AVG of more than 65 digits over several node groups", "CAST the numbers AS DOUBLE")
		}
		f.sql = append(f.sql, sep)
		f.sql = AppendValue(f.sql, f.forms[i], v)
		sep = ','
	}
	if f.number > 0 {
		f.sql = strconv.AppendUint(append(f.sql, ','), f.number, 10)
		f.number++
	}
	f.sql = append(f.sql, ')')
	if len(f.sql) < batchBytes {
		return nil
	}
	if err := f.dropUnused(); err != nil {
		return err
	}
	return f.flush()
}

// Finish writes what is left. Whether the server took it is told later, as with Create.
func (f *Filler) Finish() error {
	if len(f.sql) > f.head {
		return f.flush()
	}
	return nil
}

// dropUnused drops the keys that are not used. It does not matter if they stay.
func (f *Filler) dropUnused() error {
	drop := f.unused
	f.unused = nil
	return f.alter(drop, func(error) error { return nil })
}

// alter sends what changes the table, nil: nothing, wherever it is filled. told gets the error of each server, nil: it is the statement's.
func (f *Filler) alter(sql []byte, told func(error) error) error {
	if sql == nil {
		return nil
	}
	for _, w := range append([]*Workspace{f.w}, f.also...) {
		if err := w.conn.later(sql, told); err != nil {
			return err
		}
	}
	return nil
}

// flush sends a batch, after the one before has been answered.
func (f *Filler) flush() error {
	if err := f.w.send(f.sql); err != nil {
		return err
	}
	for _, w := range f.also {
		if err := w.send(f.sql); err != nil {
			return err
		}
	}
	f.sql = f.sql[:f.head]
	return nil
}

// send sends a batch, after the one before has been answered. One that is much larger than others, because of a single row, may be more
// than the server takes, which would end the connection and what is open on it.
func (w *Workspace) send(sql []byte) error {
	if len(sql) > 8*batchBytes {
		_, rows, err := w.conn.QueryAll("SELECT @@max_allowed_packet LIMIT 1", 1) // whatever sql_select_limit says
		if err != nil {
			return err
		}
		if most, err := strconv.Atoi(string(rows[0][0])); err == nil && len(sql) >= most {
			return sqlerr.Unsupported(fmt.Sprintf("a statement that has to copy a row which takes %d bytes as an INSERT", len(sql)),
				"raise max_allowed_packet on the servers of the node groups, or give the distribution key")
		}
	}
	if err := w.conn.settle(); err != nil {
		return err
	}
	return w.conn.later(sql, nil)
}
