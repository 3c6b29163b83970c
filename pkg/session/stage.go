package session

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/exec"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/wire"
	"skarv/pkg/workspace"
)

// stage makes the stage of an INSERT or REPLACE, under the name the statement writes to; nil for other statements.
func (w *workspaceWrite) stage(ws *workspace.Workspace) (*workspace.Stage, error) {
	n := w.n.Stage
	if n == nil {
		return nil, nil
	}
	if n.Name != n.Table.Name && !n.Query && w.s.stmt.NumRows() > 1 {
		return nil, sqlerr.Unsupported("VALUES of several rows with subqueries over the table they are inserted into, which may see the rows before them",
			"use one INSERT for each row")
	}
	column := n.Sequence
	if column < 0 {
		column = n.Table.AutoIncrement
	}
	st, err := ws.Stage(n.Table, column, w.late()...)
	if err == nil {
		err = st.Rename(n.Name)
	}
	if err != nil {
		return nil, txn.Lost(w.c, err)
	}
	return st, nil
}

// late are the columns that are looked at behind the table's triggers. Where DEFAULT may stand for a value, it may be that of a column that
// has none, which is an error before them.
func (w *workspaceWrite) late() []int {
	if !w.n.Stage.Query && mentions(w.s.stmt, "DEFAULT") {
		return nil
	}
	return w.n.Stage.Late
}

// insert takes the rows from the stage to the groups they belong to. ok is what the server said of filling the stage, and
// becomes what the client is told.
func (w *workspaceWrite) insert(st *workspace.Stage, ok *wire.OK) error {
	s, n := w.s, w.n.Stage
	if err := st.Usage(ok.AffectedRows); err != nil {
		return err
	}
	records, multi := exec.Records(ok.Info)
	if !multi {
		records = 1
	}
	ids, err := w.identify(st, int(records))
	if err == nil && n.Sequence < 0 && st.Sequence() >= 0 && !n.ZeroIsValue {
		err = st.Draw()
	}
	if err != nil {
		return err
	}
	if ids != nil && w.mayMiss() && records > 1 {
		if err := ids.Ambiguous(n.Renumbers); err != nil {
			return err
		}
	}
	sum, came, warnings, err := w.takeStage(st, ids)
	if err != nil {
		return err
	}
	if n.Returning {
		sum.Affected, _ = w.held.Rows()
	}
	s.diagnostics.Add(warnings[:min(len(warnings), max(0, s.MaxWarnings-len(s.diagnostics.Conditions)))]...)
	duplicates := records - min(records, ok.AffectedRows) + sum.Duplicates
	ok.Warnings += uint16(min(sum.Warnings, uint(^uint16(0)-ok.Warnings)))
	ok.AffectedRows = sum.Affected
	switch ok.Info = ok.Info[:0]; {
	case n.Load && n.Verb == "REPLACE INTO":
		ok.Info = fmt.Appendf(ok.Info, "Records: %d  Deleted: %d  Skipped: %d  Warnings: %d", records, sum.Duplicates, duplicates-sum.Duplicates, ok.Warnings)
	case n.Load:
		ok.Info = fmt.Appendf(ok.Info, "Records: %d  Deleted: 0  Skipped: %d  Warnings: %d", records, duplicates, ok.Warnings)
	case multi || n.Query:
		ok.Info = fmt.Appendf(ok.Info, "Records: %d  Duplicates: %d  Warnings: %d", records, duplicates, ok.Warnings)
	}
	switch {
	case n.Table.HiddenKey || n.Sequence < 0 && n.Table.Kind != catalog.Single:
		ok.LastInsertID = 0
	case n.Sequence < 0:
		ok.LastInsertID, w.generated = cmp.Or(sum.Generated, sum.InsertID), sum.Generated != 0
	default:
		ok.LastInsertID, w.generated = ids.InsertID(sum.Affected, came, sum.InsertID, n.Update)
	}
	if n.Query && !w.generated && (n.Update || len(n.Table.Triggers) > 0) {
		ok.LastInsertID = 0 // servers have forgotten what the last row brought
	}
	if n.Load {
		if w.generated {
			s.lastInsertID = ok.LastInsertID
		}
		ok.LastInsertID, w.generated = 0, false // the servers do not tell
	}
	return nil
}

// mayMiss reports that rows of the stage may not come into the table.
func (w *workspaceWrite) mayMiss() bool {
	return w.n.Stage.Update || w.n.Stage.Verb == "INSERT IGNORE INTO"
}

// cameBy is the first value given out with which a row has come, by what the inserts have come to, unless that does not tell: then ask
// finds out.
func (w *workspaceWrite) cameBy(ids *exec.Identities, sum exec.Counts, ask func() (uint64, error)) (uint64, error) {
	if ids == nil || w.n.Stage.Table.HiddenKey {
		return 0, nil
	}
	n := w.n.Stage
	switch rows, first := ids.Given(); {
	case first == 0, !n.Returning && sum.Affected == 0:
		return 0, nil
	case !w.mayMiss(), !n.Returning && !n.Update && sum.Affected == uint64(rows):
		return first, nil
	}
	return ask()
}

// takeStage inserts the rows of the stage into the table. came is the first of ids that has come there.
func (w *workspaceWrite) takeStage(st *workspace.Stage, ids *exec.Identities) (sum exec.Counts, came uint64, warnings []diagnostics.Condition, err error) {
	s, n := w.s, w.n.Stage
	restore, change := s.modes(), exec.Change{Table: n.Table, Kind: exec.RowInsert, Verb: n.Verb}
	for i := range n.Table.Columns {
		if !n.Table.Columns[i].Generated {
			change.Columns = append(change.Columns, i)
		}
	}
	if n.Followed {
		if sum, err = w.insertFollowed(st, change.Columns); err != nil {
			return sum, 0, nil, err
		}
		warnings = slices.Clone(s.runner.Warned)
		came, err = w.cameBy(ids, sum, func() (uint64, error) {
			first, err := s.runner.Came(s.execution(within{&w.conns}), s.snap, ids)
			return first, asServerLost(err)
		})
		return sum, came, warnings, err
	}
	if n.Update || n.Returning {
		change.Tail, change.AskLast = w.tail(), n.Update && !n.Query && !n.Returning && n.Sequence >= 0
	}
	if w.asSession() {
		restore = ""
	}
	if n.Returning {
		change.Returned = &w.held
	}
	ch := s.runner.Change(s.execution(&w.conns), s.snap, restore)
	if n.Sequence < 0 && st.Sequence() >= 0 && !n.Returning {
		ch.Numbered()
	}
	if err = ch.Begin(change); err == nil {
		if w.asSession() {
			err = w.readAsSession(st, change.Columns, ch)
		} else {
			err = w.query(st.Rows(change.Columns, false, partitionOf(n.Table)), ch)
		}
	}
	if err == nil {
		err = ch.Flush()
	}
	if err == nil {
		sum = ch.Counts()
		came, err = w.cameBy(ids, sum, func() (uint64, error) { return ch.Came(ids) })
	}
	if err == nil && change.AskLast && came == 0 {
		sum.InsertID, err = ch.LastID()
	}
	if err = asServerLost(ch.End(err)); err != nil {
		return exec.Counts{}, 0, nil, err
	}
	return sum, came, ch.Warned, nil
}

// asSession reports whether the rows of the stage are written in the session's sql_mode and time zone, as the client's own would be.
func (w *workspaceWrite) asSession() bool {
	n := w.n.Stage
	return n.Followed || n.Update || n.Returning || len(w.late()) > 0
}

// readAsSession reads the rows of the stage as they are to be written by asSession. They are read in no sql_mode of the client's, of which some give
// functions another meaning.
func (w *workspaceWrite) readAsSession(st *workspace.Stage, columns []int, sink exec.Sink) error {
	if err := w.notDoubled(st, columns); err != nil {
		return err
	}
	if _, err := w.c.Exec("SET " + workspace.WritingMode); err != nil {
		return txn.Lost(w.c, err)
	}
	if err := w.query(st.Rows(columns, true, partitionOf(w.n.Stage.Table)), sink); err != nil {
		return err
	}
	if _, err := w.c.Exec(w.s.modes()); err != nil {
		return txn.Lost(w.c, err)
	}
	return nil
}

// notDoubled refuses rows of the stage that would not be written as they are, in the session's time zone.
func (w *workspaceWrite) notDoubled(st *workspace.Stage, columns []int) error {
	sql := st.Doubled(columns)
	if sql == "" {
		return nil
	}
	_, doubled, err := w.c.QueryAll(sql, 1)
	switch {
	case err != nil:
		return txn.Lost(w.c, err)
	case len(doubled) > 0:
		return workspace.DoubledHour(w.n.Stage.Table)
	}
	return nil
}

// describe gives the result of RETURNING the names of its columns, and its columns when there is no row to be returned: those that a SELECT of the
// same from the table has, when the stage no longer hides that. Of the INSERT itself a server tells them only if it is one of VALUES.
func (w *workspaceWrite) describe() error {
	stmt := w.s.stmt
	at, _ := stmt.ReturningAt()
	tokens := stmt.TokensFrom(at)
	list := sqlparse.Span{Start: tokens.Next().End, End: len(stmt.SQL())}
	if _, any := w.held.Rows(); !any {
		columns, err := w.columnsOf(w.s.args.AppendSpan(nil, list))
		if err != nil {
			return err
		}
		if err := w.held.Columns(columns); err != nil {
			return err
		}
	}
	if text := stmt.Text(list); stmt.NumParams() > 0 && bytes.ContainsRune(text, '?') { // whose values say what the types are, but not the names
		called, err := w.columnsOf(text)
		if err != nil {
			return err
		}
		w.held.Name(called)
	}
	return nil
}

// columnsOf are the columns that a list of expressions has over the table.
func (w *workspaceWrite) columnsOf(list []byte) ([]sqltypes.Column, error) {
	t := w.n.Stage.Table
	sql := append([]byte("SELECT "), bytes.TrimRight(list, " \t\r\n;")...)
	sql = append(sql, "\nFROM "+t.SQL()...)
	st, err := w.c.Prepare(sql)
	if err != nil {
		return nil, txn.Lost(w.c, err)
	}
	w.c.CloseStmt(st.ID)
	return st.Columns, nil
}

// identify gives the rows of the stage their values of the sequence.
func (w *workspaceWrite) identify(st *workspace.Stage, records int) (*exec.Identities, error) {
	n := w.n.Stage
	if n.Sequence < 0 {
		return nil, nil
	}
	if n.Query {
		records = 0
	}
	ids := w.s.runner.NewIdentities(w.s.cfg.Sequences, n.Table, records, n.ZeroIsValue)
	if err := w.query(st.Identities(), &identifier{ids: ids}); err != nil {
		return nil, err
	}
	runs, err := ids.End()
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		if err := st.Identify(r.First, r.Last, r.Value); err != nil {
			return nil, txn.Lost(w.c, err)
		}
	}
	return ids, nil
}

// identifier is the sink for workspace.Stage.Identities.
type identifier struct {
	ids    *exec.Identities
	fields [][]byte
}

func (i *identifier) Columns([]sqltypes.Column) error { return nil }

func (i *identifier) Row(row []byte) (err error) {
	if i.fields, err = wire.ParseTextRow(row, i.fields[:0]); err != nil {
		return err
	}
	return i.ids.Row(parseUint(i.fields[0]), i.fields[1])
}

// tail is the statement's text from ON DUPLICATE KEY UPDATE or RETURNING on, with the alias of the new row before it, if it has
// one.
func (w *workspaceWrite) tail() []byte {
	s := w.s
	tail := []byte(" ")
	if w.n.Stage.Tail != nil {
		tail = s.args.AppendText(tail, w.n.Stage.Tail)
	} else {
		text, _ := s.stmt.InsertText()
		from := text.OnDuplicate
		if from < 0 {
			from, _ = s.stmt.ReturningAt()
		} else if text.Values && s.stmt.NumRows() > 0 {
			from = s.stmt.Row(s.stmt.NumRows() - 1).End
		}
		tail = s.args.AppendSpan(tail, sqlparse.Span{Start: from, End: len(s.stmt.SQL())})
	}
	return bytes.TrimRight(tail, " \t\r\n;")
}
