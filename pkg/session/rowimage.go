package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/workspace"
)

// image is a row as literals, a column each.
type image []string

// maxImages bounds the rows of a statement.
const maxImages = maxCursorRows

func tooManyImages() error {
	return sqlerr.Unsupported(fmt.Sprintf("a write to more than %d rows, or 64 MB, of a table whose triggers use other tables", maxImages),
		"write in parts, by conditions or LIMIT")
}

// columns is the list that images reads: all columns, and whether the literals of one would not be what it holds.
func (w *rowWrite) columns(alias string) string {
	list := make([]string, len(w.t.Columns))
	for c := range w.t.Columns {
		list[c] = workspace.ReadIn(&w.t.Columns[c], sqltypes.QuoteName(alias), true)
	}
	doubled := workspace.Doubled(w.t, w.all(), sqltypes.QuoteName(alias))
	if doubled == "" {
		doubled = "0"
	}
	return strings.Join(append(list, doubled), ", ")
}

// all are the numbers of the table's columns.
func (w *rowWrite) all() []int {
	all := make([]int, len(w.t.Columns))
	for i := range all {
		all[i] = i
	}
	return all
}

// images runs a SELECT of columns.
func (w *rowWrite) images(text string) ([]image, error) {
	w.s.diagnostics.Clear()
	take := &capture{limit: maxImages + 1, maxBytes: maxCursorBytes}
	if err := w.s.within([]byte(text), take); err != nil {
		return nil, err
	}
	if len(take.rows) > maxImages || take.over {
		return nil, tooManyImages()
	}
	for _, row := range take.rows {
		if string(row[len(w.t.Columns)]) == "1" {
			return nil, workspace.DoubledHour(w.t)
		}
	}
	return w.literals(take.rows, 0), nil
}

// reread reads the row that has the primary key of row, for the triggers behind its write: the account need not be allowed to see it.
func (w *rowWrite) reread(row image) ([]image, error) {
	defer func(was bool) { w.s.vouched = was }(w.s.vouched)
	w.s.vouched = true
	return w.images("SELECT " + w.columns("t") + " FROM " + w.t.SQL() + " AS t" + w.where(row) + " FOR UPDATE")
}

// literals are rows that were read by columns, which begin at the skipped one.
func (w *rowWrite) literals(rows [][][]byte, skip int) []image {
	list := make([]image, len(rows))
	for i, row := range rows {
		list[i] = make(image, len(w.t.Columns))
		for c := range w.t.Columns {
			list[i][c] = w.literal(&w.t.Columns[c], row[skip+c])
		}
	}
	return list
}

// literal is a value of a column as the session's own SQL.
func (w *rowWrite) literal(c *catalog.Column, v []byte) string {
	plain := strings.HasPrefix(c.Charset, "utf8") && c.Collation != "binary" && isCharacters(c) && utf8.Valid(v) && !w.foreign &&
		w.s.Mode&sqlparse.NoBackslashEscapes == 0 && // which the stage has not
		(len(v) > 0 || w.s.Mode&sqlparse.EmptyStringIsNull == 0)
	if v != nil && (plain || c.DataType == "timestamp") {
		return string(sqltypes.AppendQuoted(nil, v, false))
	}
	return string(workspace.AppendKey(nil, c, v))
}

// staged makes a table like the target, with rows in it, runs a statement of the client over it, and returns its rows.
func (w *rowWrite) staged(rows []image, text string) ([]image, error) {
	s := w.s
	c, err := s.calls.connection(s)
	if err != nil {
		return nil, err
	}
	if err := c.Extend(s.writingState()); err != nil {
		return nil, txn.Lost(c, err)
	}
	s.client.Enter(c)
	defer s.client.Leave(c)
	news, err := w.onStage(c, rows, text)
	if err != nil {
		return nil, txn.Lost(c, err)
	}
	return news, nil
}

func (w *rowWrite) onStage(c *backend.Conn, rows []image, text string) ([]image, error) {
	s := w.s
	ws, err := workspace.Open(c, s.cfg.Workspace, s.SQLMode, s.taken)
	if err != nil {
		return nil, err
	}
	defer func() {
		if ws.Close() != nil {
			c.Interrupt() // the tables go with the connection
		}
	}()
	st, err := ws.Stage(w.t, w.auto, w.relaxed()...)
	if err == nil {
		w.auto = st.Sequence()
	}
	if err == nil && rows == nil && w.tellsOmitted() {
		err = st.OmittedZero()
	}
	if err == nil {
		err = st.Rename(w.t.Name)
	}
	var columns []int
	for i := range w.t.Columns {
		if !w.t.Columns[i].Generated {
			columns = append(columns, i)
		}
	}
	if err == nil && rows != nil {
		err = st.Take(columns, texts(rows))
	}
	if err == nil {
		err = st.Unchecked(s.cfg.Dialect.MariaDB())
	}
	if err == nil {
		err = ws.Ready()
	}
	if err != nil {
		return nil, err
	}
	ok, err := c.Exec(text)
	if lost := st.Checked(s.cfg.Dialect.MariaDB()); err == nil {
		err = lost
	}
	if err != nil {
		return nil, err
	}
	s.diagnostics.Clear()
	if ok.Warnings > 0 {
		s.fetchWarnings(c, ok.Warnings)
		w.warnings = append(w.warnings, s.diagnostics.Conditions...)
	}
	if sql := st.Doubled(w.all()); sql != "" {
		if _, doubled, err := c.QueryAll(sql, 1); err != nil || len(doubled) > 0 {
			return nil, cmp.Or(err, workspace.DoubledHour(w.t))
		}
	}
	_, found, err := c.QueryAll(st.Rows(w.all(), true, func(string) string { return "0" }), maxImages+1)
	if err != nil {
		return nil, err
	}
	if w.rows = len(found); w.rows > maxImages {
		return nil, tooManyImages()
	}
	return w.literals(found, 1), nil
}

// tellsOmitted reports whether the stage keeps apart an AUTO_INCREMENT column that is left out, or DEFAULT, and one that is NULL:
// MariaDB shows 0 to triggers before the row for the first, and NULL for the second. Where 0 is a value like any other, the two are NULL
// on the stage.
func (w *rowWrite) tellsOmitted() bool {
	return w.s.cfg.Dialect.MariaDB() && w.auto >= 0 && !w.s.Info.NoAutoValueOnZero && len(w.fire["BEFORE INSERT"]) > 0 &&
		(w.kind == plan.Insert || w.kind == plan.Replace)
}

// texts are rows as workspace.Stage takes them.
func texts(rows []image) [][]string {
	out := make([][]string, len(rows))
	for i := range rows {
		out[i] = rows[i]
	}
	return out
}

// relaxed are the columns that may be NULL until the triggers before the row have run: those that are given values, which triggers see
// as they are, and those that triggers assign. With IGNORE a NULL becomes another value behind them. So it does for an INSERT of several
// rows without strict mode, and there only: each row is one of its own here, so that the columns are not relaxed. Nor are they where one may
// be given its default: that there is none is an error of another kind.
func (w *rowWrite) relaxed() (columns []int) {
	add := func(list []int) {
		for _, c := range list {
			if col := &w.t.Columns[c]; !col.Nullable && !col.Generated && c != w.auto && !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
	}
	var before []*catalog.Trigger
	for i := range w.t.Triggers {
		if tr := &w.t.Triggers[i]; tr.Before && tr.Event == w.n.Event {
			before = append(before, tr)
		}
	}
	if len(before) == 0 {
		return nil
	}
	switch {
	case w.kind == plan.Insert && w.ignores():
		add(w.all())
	case w.kind == plan.Update, w.s.Strict() && !mentions(w.st, "DEFAULT"):
		add(w.n.Sets)
	}
	for _, tr := range before {
		if add(tr.Sets); tr.Unknown {
			add(w.all())
		}
	}
	return columns
}
