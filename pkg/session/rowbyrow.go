package session

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/exec"
	"skarv/pkg/metrics"
	"skarv/pkg/plan"
	"skarv/pkg/planner"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// rowByRow runs a write to a table with triggers that sessions run:
//
//	begin                                     a transaction in autocommit, else a savepoint
//	find the rows                             UPDATE, DELETE: SELECT ... FOR UPDATE
//	make of them what the statement says      INSERT, UPDATE: by a server, in a temporary table like the target
//	for each row:  triggers before it         pkg/session/trigger.go
//	               the row                    INSERT, UPDATE or DELETE by primary key, planned as any other
//	               what it has become         SELECT by primary key
//	               triggers behind it
//	end                                       commit, or go back
func (s *Session) rowByRow(p *plan.Plan, n *plan.RowByRow) error {
	switch {
	case s.locks != nil:
		return sqlerr.Unsupported("a write that goes row by row for triggers, under LOCK TABLES", "UNLOCK TABLES first")
	case s.mayNotWrite():
		return s.readOnlyTransaction()
	}
	s.used.strategy = metrics.Workspace
	w := &rowWrite{s: s, n: n, t: n.Table, kind: p.Kind, st: s.cfg.Dialect.NewStatement(), auto: n.Table.AutoIncrement, checked: s.checked,
		foreign: !s.AllUTF8, fresh: s.tx == nil}
	s.Info.Checked, s.checked, s.view = false, nil, nil
	defer w.st.Done()
	if err := w.st.Scan(s.args.AppendStatement(nil), s.Mode); err != nil {
		return err
	}
	outermost := s.calls == nil
	if outermost {
		s.calls = &calls{}
	}
	state := s.state
	out, err := s.atomically(w.run)
	w.drop()
	s.used.strategy = metrics.Workspace // not that of the statements inside: it is not run again (see giveWay)
	if outermost {
		s.calls.release(s)
		s.calls = nil
	}
	if sqlerr.HasCode(err, sqlerr.NotSupportedYet) { // it has not run: nor have its triggers assigned user variables
		return cmp.Or(s.goBack(state), err)
	}
	if err != nil {
		return err
	}
	s.diagnostics.Conditions = w.warnings
	if out.Pending != "" {
		s.diagnostics.Add(s.pendingNote(out.Pending))
	}
	ok := wire.OK{AffectedRows: w.affected, Warnings: s.diagnostics.Warnings(), Info: w.info(), LastInsertID: w.lastID}
	switch {
	case w.generated != 0:
		s.lastInsertID, ok.LastInsertID = w.generated, w.generated
	case w.n.Query && len(w.t.Triggers) > 0:
		ok.LastInsertID = 0 // servers have forgotten what the last row brought
	}
	return s.ok(ok)
}

// atomically runs statements of which all stands or nothing: in a transaction of their own, or behind a savepoint of the
// session's.
func (s *Session) atomically(do func() error) (out txn.Outcome, err error) {
	if s.tx == nil {
		s.begin(startTransaction, nil)
		tx := s.tx
		if err = do(); err == nil && s.tx != tx {
			err = errLostTransaction()
		}
		if err != nil {
			s.endTransaction()
			return out, err
		}
		s.tx = nil
		return s.commit(tx)
	}
	tx, name := s.tx, fmt.Sprintf("_skarv_rows_%d", len(s.calls.stack))
	if err := tx.Savepoint(name); err != nil {
		return out, s.failed(err)
	}
	err = do()
	switch {
	case err == nil && s.tx != tx:
		s.endTransaction()
		return out, errLostTransaction()
	case s.tx != tx || s.tx.Err() != nil: // gone, and the error says so
		return out, err
	case err != nil && s.cfg.Dialect.MariaDB() && slices.ContainsFunc(s.snap.Tables(), (*catalog.Table).HasFulltext): // which its programs may have changed
		return out, s.tx.LoseStatement(err, savepointsOfFulltext)
	case err != nil:
		if lost := s.tx.RollbackTo(name); lost != nil {
			return out, s.failed(lost)
		}
	}
	if lost := s.tx.Release(name); lost != nil && err == nil {
		return out, s.failed(lost)
	}
	return out, err
}

// errLostTransaction: what a statement did is gone, although none of its parts says so.
func errLostTransaction() error { return sqlerr.LockDeadlock.New() }

// rowWrite is one execution of a plan.RowByRow.
type rowWrite struct {
	s    *Session
	n    *plan.RowByRow
	t    *catalog.Table
	kind plan.Kind
	st   *sqlparse.Statement // the client's statement with its parameters filled in
	auto int                 // AUTO_INCREMENT column, or -1
	tail string              // of an INSERT, from ON DUPLICATE KEY UPDATE on
	fire map[string][]*program
	// foreign: the client has another character set than utf8mb4, or its literals become others.
	foreign bool
	// fresh: its transaction begins with it.
	fresh bool
	// checked, not nil, is the view with CHECK OPTION through which rows are written.
	checked *planner.Rewritten

	rows                          int
	affected, changed, duplicates uint64
	lastID, generated             uint64
	warnings                      []diagnostics.Condition
	// Parts of the text: see split.
	insertHead, references, assigns, which, limit string
	ordered                                       bool
}

func (w *rowWrite) run() error {
	back, err := w.s.stopClock()
	if err != nil {
		return err
	}
	defer back()
	if err := w.split(); err != nil {
		return err
	}
	if err := w.programs(); err != nil {
		return err
	}
	switch w.kind {
	case plan.Update:
		return w.update()
	case plan.Delete:
		return w.delete()
	}
	return w.insert()
}

// stopClock fixes the time that all statements see until back is called, as that of one statement.
func (s *Session) stopClock() (back func(), err error) {
	if v, set := s.state.Get(variable.Timestamp); set && v != "DEFAULT" {
		return func() {}, nil
	}
	now := time.Now()
	value := fmt.Sprintf("%d.%06d", now.Unix(), now.Nanosecond()/1000)
	err = s.adopt(s.state.With(s.state.DB, backend.Variable{Name: variable.Timestamp, Value: value}))
	return func() {
		_ = s.adopt(s.state.With(s.state.DB, backend.Variable{Name: variable.Timestamp, Value: "DEFAULT"}))
	}, err
}

// goBack gives the session the state it had. What had no value gets the one that says so, as a connection inside a transaction cannot be reset.
func (s *Session) goBack(was *backend.State) error {
	vars := slices.Clone(was.Vars)
	for _, v := range s.state.Vars {
		if _, had := was.Get(v.Name); had {
			continue
		}
		switch {
		case strings.HasPrefix(v.Name, "@`"):
			v.Value = "NULL"
		case v.Name == variable.Timestamp:
			v.Value = "DEFAULT"
		}
		vars = append(vars, v)
	}
	return s.adopt(backend.NewState(was.DB, vars))
}

// inUTF8 gives the session utf8mb4 until the returned function is called: what triggers do is written in it, whatever the client's
// character set.
func (w *rowWrite) inUTF8() (back func(), err error) {
	if !w.foreign {
		return func() {}, nil
	}
	return w.s.inCharset(variable.CharsetVariables("utf8mb4", "utf8mb4_general_ci")...)
}

// inCharset sets variables of charsetVariables until back is called. One that the session has not set is set to what servers have by
// themselves then: without a value, the connections in use had to be reset.
func (s *Session) inCharset(vars ...backend.Variable) (back func(), err error) {
	own := variable.CharsetVariables("utf8mb4", variable.OwnCollation(s.cfg.Dialect.MariaDB()))
	var before []backend.Variable
	for _, v := range vars {
		value, set := s.state.Get(v.Name)
		for _, o := range own {
			if !set && o.Name == v.Name {
				value = o.Value
			}
		}
		before = append(before, backend.Variable{Name: v.Name, Value: value})
	}
	if err := s.adopt(s.state.With(s.state.DB, vars...)); err != nil {
		return nil, err
	}
	return func() { _ = s.adopt(s.state.With(s.state.DB, before...)) }, nil
}

// split takes the statement's text apart.
func (w *rowWrite) split() error {
	st, sql := w.st, string(w.st.SQL())
	if w.kind == plan.Insert || w.kind == plan.Replace {
		text, ok := st.InsertText()
		if !ok {
			return sqlerr.Internal.New("an INSERT of unknown form")
		}
		w.insertHead = sql[:text.Body]
		w.references = sql[text.Body:]
		switch {
		case text.OnDuplicate < 0:
		case text.Values && st.NumRows() > 0:
			w.tail = sql[st.Row(st.NumRows()-1).End:] // with the alias of the new row
		default:
			w.tail = sql[text.OnDuplicate:]
		}
		return nil
	}
	from := -1
	at := &w.references
	begin := func(part *string, end, start int) {
		if part != at {
			*at, at, from = sql[from:end], part, start
		}
	}
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		word := tok.Kind == sqlparse.Word && tok.Depth == 0
		switch {
		case from < 0:
			if word && slices.ContainsFunc([]string{"UPDATE", "DELETE", "LOW_PRIORITY", "QUICK", "FROM"}, func(s string) bool { return st.Is(tok, s) }) {
				continue
			}
			from = tok.Start
		case !word:
		case at == &w.references && st.Is(tok, "SET"):
			begin(&w.assigns, tok.Start, tok.End)
		case st.Is(tok, "WHERE"):
			begin(&w.which, tok.Start, tok.Start)
		case st.Is(tok, "ORDER"):
			w.ordered = true
			begin(&w.which, tok.Start, tok.Start)
		case st.Is(tok, "LIMIT"):
			begin(&w.limit, tok.Start, tok.Start)
		}
	}
	*at = sql[from:]
	return nil
}

func (w *rowWrite) insert() error {
	text := string(w.st.SQL())
	if w.n.Query {
		var err error
		if text, err = w.selected(); err != nil || text == "" {
			return err
		}
	}
	news, err := w.staged(nil, text)
	if err != nil {
		return err
	}
	back, err := w.inUTF8()
	if err != nil {
		return err
	}
	defer back()
	verb := "INSERT INTO "
	switch {
	case w.kind == plan.Replace:
		verb = "REPLACE INTO "
	case w.ignores():
		verb = "INSERT IGNORE INTO "
	}
	ids := w.consecutive(len(news))
	for i, row := range news {
		if err := w.programsOf(true, "INSERT", nil, row); err != nil {
			return err
		}
		drawn := w.auto >= 0 && w.draws(row[w.auto])
		if ids != nil {
			if err := ids.row(i, row, w.auto, drawn); err != nil {
				return err
			}
		}
		ok, met, err := w.writeNew(i, verb, row)
		if e, is := errors.AsType[*sqlerr.Error](err); is && verb == "INSERT IGNORE INTO " && len(news) > 1 && sqlerr.HasCode(e, sqlerr.ConstraintFailed) {
			w.warnings = append(w.warnings, diagnostics.Of(diagnostics.Warning, e)) // an error only of an INSERT of one row
			continue
		}
		if err != nil {
			return err
		}
		w.affected += ok.AffectedRows
		if met || ok.AffectedRows == 0 && verb == "INSERT IGNORE INTO " || ok.AffectedRows > 1 || w.tail != "" && ok.AffectedRows == 0 {
			w.duplicates++
		}
		switch {
		case ok.LastInsertID != 0:
			w.lastID = ok.LastInsertID
		case w.lastID != 0 && w.auto >= 0 && i == len(news)-1:
			if w.lastID, err = w.lastNumber(i, verb, row); err != nil {
				return err
			}
		}
		if drawn && !met && ok.AffectedRows > 0 && ok.LastInsertID != 0 && (w.tail == "" || ok.AffectedRows == 1) {
			if row[w.auto] = strconv.FormatUint(ok.LastInsertID, 10); w.generated == 0 {
				w.generated = ok.LastInsertID
			}
		}
		if met || ok.AffectedRows == 0 || w.tail != "" && ok.AffectedRows != 1 {
			continue // it has met another row
		}
		if err := w.behind("INSERT", nil, row, true); err != nil {
			return err
		}
	}
	return nil
}

// consecutive gives the rows of an INSERT of several the AUTO_INCREMENT values that they ask for; nil if they may draw their own.
func (w *rowWrite) consecutive(rows int) *rowIdentities {
	if w.auto < 0 || rows < 2 || !strings.HasSuffix(w.t.Columns[w.auto].DataType, "int") || w.t.Kind == catalog.Single {
		return nil
	}
	if w.n.Query {
		rows = 0
	}
	s := w.s
	return &rowIdentities{s.runner.NewIdentities(s.sequence(), w.t, rows, s.Info.NoAutoValueOnZero)}
}

type rowIdentities struct{ *exec.Identities }

// row gives row i its value, or notes the one that it brings.
func (ids *rowIdentities) row(i int, row image, column int, draws bool) error {
	if !draws {
		return ids.Row(uint64(i), []byte(strings.TrimSpace(row[column])))
	}
	if err := ids.Row(uint64(i), nil); err != nil {
		return err
	}
	row[column] = strconv.FormatUint(ids.Last(), 10)
	return nil
}

// writeNew inserts row i; met says that it has met another row, if the counts do not: where servers count the rows found, one that ON
// DUPLICATE KEY UPDATE leaves as it is counts like one inserted.
func (w *rowWrite) writeNew(i int, verb string, row image) (ok wire.OK, met bool, err error) {
	if w.tail == "" || !w.s.profile.Caps.Has(wire.CapFoundRows) {
		ok, err = w.write(i, w.insertText(verb, row, w.tail))
		return ok, false, err
	}
	warned := len(w.warnings)
	ok, err = w.write(i, w.insertText(verb, row, ""))
	if err == nil && ok.AffectedRows > 0 || err != nil && !sqlerr.HasCode(err, sqlerr.DuplicateEntry, sqlerr.DuplicateEntryOfKey) {
		return ok, false, err
	}
	w.warnings = w.warnings[:warned]
	ok, err = w.write(i, w.insertText(verb, row, w.tail))
	return ok, true, err
}

// lastNumber is the insert id of a statement whose last row, i, has not come, where others have: what it brings, or what the row has that it
// has met and left as it is.
func (w *rowWrite) lastNumber(i int, verb string, row image) (uint64, error) {
	column := sqltypes.QuoteName(w.t.Columns[w.auto].Name)
	if w.tail == "" {
		id, err := strconv.ParseInt(row[w.auto], 10, 64)
		if err != nil {
			return parseUint([]byte(row[w.auto])), nil
		}
		return uint64(id), nil
	}
	const asked = "_skarv_asked"
	tx, warned := w.s.tx, len(w.warnings)
	if err := tx.Savepoint(asked); err != nil {
		return 0, err
	}
	ok, err := w.write(i, w.insertText(verb, row, " ON DUPLICATE KEY UPDATE "+column+" = LAST_INSERT_ID("+column+")"))
	w.warnings = w.warnings[:warned]
	if err == nil {
		err = tx.RollbackTo(asked)
	}
	if err == nil {
		err = tx.Release(asked)
	}
	return ok.LastInsertID, err
}

// draws reports whether a value of the AUTO_INCREMENT column asks for a new one.
func (w *rowWrite) draws(literal string) bool {
	return literal == "NULL" || literal == "0" && !w.s.Info.NoAutoValueOnZero
}

// mentions reports whether the word stands somewhere in the statement.
func mentions(st *sqlparse.Statement, word string) bool {
	for tokens := st.Tokens(); ; {
		switch tok := tokens.Next(); {
		case tok.Kind == sqlparse.EOF:
			return false
		case st.Is(tok, word):
			return true
		}
	}
}

func (w *rowWrite) ignores() bool {
	for tokens := w.st.Tokens(); ; {
		switch tok := tokens.Next(); {
		case tok.Kind == sqlparse.EOF, w.st.Is(tok, "INTO"), w.st.Is(tok, "("):
			return false
		case w.st.Is(tok, "IGNORE"):
			return true
		}
	}
}

// selected is INSERT ... SELECT as an INSERT of written values; "" if there are no rows.
func (w *rowWrite) selected() (string, error) {
	text, err := w.locking(w.references)
	if err == nil {
		text, err = w.sharing(text)
	}
	if err != nil {
		return "", err
	}
	w.s.diagnostics.Clear()
	take := &capture{limit: maxImages + 1, maxBytes: maxCursorBytes}
	if err := w.s.forValue(func() error { return w.s.selects([]byte(text), take, true) }); err != nil {
		return "", err
	}
	if len(take.rows) > maxImages || take.over {
		return "", tooManyImages()
	}
	if err := w.strictError(); err != nil && !w.ignores() {
		return "", err
	}
	w.keepWarnings()
	var out strings.Builder
	for i, row := range take.rows {
		if i > 0 {
			out.WriteString(", ")
		}
		for c := range row {
			if take.columns[c].Type == sqltypes.TypeFloat && row[c] != nil {
				return "", sqlerr.Unsupported("a FLOAT column in INSERT ... SELECT into a table whose triggers use other tables", "select it with + 0e0")
			}
			value, err := w.s.originalText(take.columns[c], row[c])
			if err != nil {
				return "", err
			}
			out.WriteString([2]string{"(", ", "}[min(c, 1)] + value)
		}
		out.WriteString(")")
	}
	if len(take.rows) == 0 {
		return "", nil
	}
	return w.insertHead + " VALUES " + out.String() + w.tail, nil
}

// locking is the query of an INSERT ... SELECT such that it locks what it reads, as it does on one server.
func (w *rowWrite) locking(text string) (string, error) {
	if w.st.Uses()&sqlparse.LocksRows != 0 {
		return text, nil
	}
	st := w.s.cfg.Dialect.NewStatement()
	defer st.Done()
	for {
		if err := st.Scan([]byte(text), w.s.Mode); err != nil {
			return "", err
		}
		whole, several := true, false
		tokens := st.Tokens()
		first := tokens.Next()
		last := first
		for tok := first; tok.Kind != sqlparse.EOF; last, tok = tok, tokens.Next() {
			if tok.Kind == sqlparse.Word && (st.Is(tok, "UNION") || st.Is(tok, "EXCEPT") || st.Is(tok, "INTERSECT")) {
				several = true
			}
			whole = whole && (tok.Depth > 0 || tok == first && st.Is(tok, "(") || st.Is(tok, ")") && tok.End == len(strings.TrimRight(text, " \t\r\n")))
		}
		switch {
		case several, !whole && !st.Is(first, "SELECT"):
			return "", sqlerr.Unsupported("INSERT ... SELECT with UNION, EXCEPT, INTERSECT or VALUES into table '"+w.t.Name+"', whose triggers use other tables",
				"put the rows into a temporary table first, and INSERT ... SELECT from that")
		case whole:
			text = text[first.End:last.Start]
		default:
			return text + " LOCK IN SHARE MODE", nil
		}
	}
}

// sharing is a query that finds rows, or brings them, such that the queries in it lock what they read, as they do on one server: else they would read
// what there was when the transaction began to read. With other isolation levels than REPEATABLE READ they read the present.
func (w *rowWrite) sharing(text string) (string, error) {
	if !w.s.tx.Repeatable {
		return text, nil
	}
	st := w.s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan([]byte(text), w.s.Mode); err != nil {
		return "", err
	}
	out, ok := withSharedReads(st, w.s.db)
	switch {
	case ok:
		return string(out), nil
	case w.fresh:
		return text, nil
	}
	return "", sqlerr.Unsupported("such a query in a write to table '"+w.t.Name+"', whose triggers use other tables, within a transaction: servers lock the rows that it reads",
		"leave out set operations, and tables of the servers' own, or write outside of the transaction")
}

// insertText is the INSERT of one row; tail is what stands behind its values.
func (w *rowWrite) insertText(verb string, row image, tail string) string {
	var columns []int
	var values []string
	for c := range w.t.Columns {
		if !w.t.Columns[c].Generated {
			columns, values = append(columns, c), append(values, row[c])
		}
	}
	return verb + w.t.SQL() + " (" + w.t.ColumnList(columns) + ") VALUES (" + strings.Join(values, ", ") + ")" + tail
}

func (w *rowWrite) update() error {
	olds, err := w.find()
	if err != nil || len(olds) == 0 {
		return err
	}
	news, err := w.staged(olds, "UPDATE "+w.t.SQL()+" AS "+sqltypes.QuoteName(w.n.Alias)+" SET "+w.assigns+w.updateTimes())
	if err != nil {
		return err
	}
	back, err := w.inUTF8()
	if err != nil {
		return err
	}
	defer back()
	if len(news) != len(olds) {
		return sqlerr.Internal.New("an UPDATE has made other rows of those it has found")
	}
	for i, row := range news {
		old := olds[i]
		if err := w.programsOf(true, "UPDATE", old, row); err != nil {
			return err
		}
		if err := w.notNull(row); err != nil {
			return err
		}
		ok, err := w.write(i, w.updateText(old, row))
		if err != nil {
			return err
		}
		changed := changedRows(ok.Info)
		w.affected += ok.AffectedRows
		w.changed += changed
		if err := w.behind("UPDATE", old, row, changed > 0); err != nil {
			return err
		}
	}
	return nil
}

// notNull is the error of a row whose columns triggers have left NULL that may not be. A server would say so too; but where such a row would
// lie nobody knows.
func (w *rowWrite) notNull(row image) error {
	if !w.s.Strict() {
		return nil
	}
	for c := range w.t.Columns {
		col := &w.t.Columns[c]
		if row[c] == "NULL" && !col.Nullable && !col.Generated && col.DataType != "timestamp" && // which NULL may make now
			!w.t.TriggerSets("UPDATE", c) {
			return sqlerr.NullNotAllowed.New(col.Name)
		}
	}
	return nil
}

// updateTimes assigns the columns with ON UPDATE CURRENT_TIMESTAMP, which triggers of MariaDB see so before it is known whether anything changes.
func (w *rowWrite) updateTimes() (sets string) {
	if !w.s.cfg.Dialect.MariaDB() {
		return ""
	}
	for c := range w.t.Columns {
		if col := &w.t.Columns[c]; col.OnUpdate && !slices.Contains(w.n.Sets, c) {
			_, digits, _ := strings.Cut(col.ColumnType, "(")
			digits, _, _ = strings.Cut(digits, ")")
			sets += ", " + sqltypes.QuoteName(col.Name) + " = CURRENT_TIMESTAMP(" + digits + ")"
		}
	}
	return sets
}

// updateText is the UPDATE of one row. Whatever differs is written, and the time of the change as triggers have seen it. Where nothing
// does, the row is written as it is, for the servers' own triggers.
func (w *rowWrite) updateText(old, row image) string {
	var sets, times []string
	first := -1
	for c := range w.t.Columns {
		if w.t.Columns[c].Generated {
			continue
		}
		if first < 0 {
			first = c
		}
		set := sqltypes.QuoteName(w.t.Columns[c].Name) + " = " + row[c]
		switch {
		case w.t.Columns[c].OnUpdate && (row[c] == old[c] || w.s.cfg.Dialect.MariaDB() && !w.assigned(c)):
			times = append(times, set)
		case row[c] != old[c]:
			sets = append(sets, set)
		}
	}
	if sets != nil {
		sets = append(sets, times...)
	}
	if sets == nil {
		sets = []string{sqltypes.QuoteName(w.t.Columns[first].Name) + " = " + row[first]}
	}
	return "UPDATE " + w.t.SQL() + " SET " + strings.Join(sets, ", ") + w.where(old)
}

// assigned reports whether the UPDATE assigns a column, or one of the triggers before it.
func (w *rowWrite) assigned(c int) bool {
	return slices.Contains(w.n.Sets, c) || slices.ContainsFunc(w.t.Programs(true, "UPDATE"), func(tr *catalog.Trigger) bool {
		return slices.Contains(tr.Sets, c)
	})
}

// changedRows is what an UPDATE says that it has changed, whatever the client counts.
func changedRows(info []byte) (n uint64) {
	_, rest, _ := strings.Cut(string(info), "Changed: ")
	return parseUint([]byte(rest))
}

func (w *rowWrite) delete() error {
	olds, err := w.find()
	if err != nil {
		return err
	}
	back, err := w.inUTF8()
	if err != nil {
		return err
	}
	defer back()
	again := w.s.reachesItself(w.t)
	for i, old := range olds {
		if again && i > 0 {
			left, err := w.reread(old)
			switch {
			case err != nil:
				return err
			case len(left) == 0:
				continue // a row before it took it along
			}
			old = left[0]
		}
		if err := w.programsOf(true, "DELETE", old, nil); err != nil {
			return err
		}
		ok, err := w.write(i, "DELETE FROM "+w.t.SQL()+w.where(old))
		if err != nil {
			return err
		}
		w.affected += ok.AffectedRows
		if err := w.programsOf(false, "DELETE", old, nil); err != nil {
			return err
		}
	}
	return nil
}

// reachesItself reports whether what is done to rows of a table is done to other rows of it by foreign keys.
func (s *Session) reachesItself(t *catalog.Table) bool {
	seen := []*catalog.Table{t}
	for i := 0; i < len(seen); i++ {
		_, children, _ := s.snap.Relations(seen[i])
		for _, r := range children {
			switch {
			case !catalog.Cascades(r.Key.OnDelete) && !catalog.Cascades(r.Key.OnUpdate):
			case r.Child == t:
				return true
			case !slices.Contains(seen, r.Child):
				seen = append(seen, r.Child)
			}
		}
	}
	return false
}

// where finds the row by its primary key.
func (w *rowWrite) where(row image) string {
	var list []string
	for _, c := range w.t.Primary {
		list = append(list, sqltypes.QuoteName(w.t.Columns[c].Name)+" = "+row[c])
	}
	return " WHERE " + strings.Join(list, " AND ")
}

// find locks the rows that an UPDATE or DELETE chooses. They come as one server reads them, by primary key, unless the statement says
// how: it tells in which order triggers run, and whether a new key meets one that is still there.
func (w *rowWrite) find() ([]image, error) {
	order := ""
	if !w.ordered {
		order = " ORDER BY " + strings.Join(w.t.QuotedColumns(w.t.Primary, sqltypes.QuoteName(w.n.Alias)+"."), ", ")
	}
	text, err := w.sharing("SELECT " + w.columns(w.n.Alias) + " FROM " + w.references + " " + w.which + order + " " + w.limit + " FOR UPDATE")
	if err != nil {
		return nil, err
	}
	var rows []image
	err = w.s.forValue(func() error {
		rows, err = w.images(text)
		return err
	})
	if err == nil {
		err = w.strictError()
	}
	w.keepWarnings()
	w.rows = len(rows)
	return rows, err
}

// strictError is the error that the statement has for the warnings of the query just run, by which it has found its rows.
func (w *rowWrite) strictError() error {
	s := w.s
	if !s.Strict() {
		return nil
	}
	return exec.StrictError(s.diagnostics.Conditions, s.snap.Flavor, w.n.Finds)
}

// behind looks at a row that was written, and runs the triggers behind it, with what it has become. The view shows one that was found through it and has
// not changed; of such a row the transaction's snapshot may know nothing.
func (w *rowWrite) behind(event string, old, row image, changed bool) error {
	if w.checked != nil && changed {
		take := &capture{limit: 1}
		if err := w.s.within([]byte("SELECT 1 FROM "+w.t.SQL()+w.where(row)+" AND ("+w.checked.Check+")"), take); err != nil {
			return err
		}
		if len(take.rows) == 0 {
			return w.checkFailed()
		}
	}
	if len(w.fire["AFTER "+event]) == 0 {
		return nil
	}
	rows, err := w.reread(row)
	if err != nil {
		return err
	}
	if len(rows) != 1 {
		return sqlerr.Internal.New("a row that was written is not found by its primary key")
	}
	return w.programsOf(false, event, old, rows[0])
}

// checkFailed is the servers' error for a row that the view would not show.
func (w *rowWrite) checkFailed() error {
	name := "'" + w.checked.View + "'"
	if w.s.cfg.Dialect.MariaDB() {
		name = "`" + strings.Replace(w.checked.View, ".", "`.`", 1) + "`"
	}
	e := sqlerr.CheckOptionFailed.New(name)
	if !w.s.cfg.Dialect.MariaDB() {
		e.State = "HY000"
	}
	return e
}

// write runs the statement for row i.
func (w *rowWrite) write(i int, text string) (wire.OK, error) {
	s := w.s
	if err := s.interrupted(); err != nil {
		return wire.OK{}, err
	}
	id, was := s.lastInsertID, s.Info
	s.Info.RowWrite = true
	s.diagnostics.Clear()
	take := &capture{}
	err := s.within([]byte(text), take)
	s.Info, s.lastInsertID = was, id
	if e, ok := errors.AsType[*sqlerr.Error](err); ok && i > 0 {
		fresh := *e
		fresh.Message = atRow.ReplaceAllString(e.Message, " at row "+strconv.Itoa(i+1))
		return take.ok, &fresh
	}
	if err == nil && !w.found(take.ok) {
		return take.ok, sqlerr.Unsupported("a write of a row of table '"+w.t.Name+"', whose triggers use other tables, that its primary key does not find again",
			"write fewer rows at once, which do not change each other")
	}
	if err == nil {
		w.keepWarnings()
	}
	return take.ok, err
}

// found reports that an UPDATE or DELETE of one row has found it: a cascade of a row before may have taken it away.
func (w *rowWrite) found(ok wire.OK) bool {
	switch w.kind {
	case plan.Update:
		rest, counted := strings.CutPrefix(string(ok.Info), "Rows matched: ")
		return !counted || parseUint([]byte(rest)) == 1
	case plan.Delete:
		return ok.AffectedRows == 1
	}
	return true
}

// keepWarnings adds those of what has just run to the statement's, as far as they are kept.
func (w *rowWrite) keepWarnings() {
	if len(w.warnings)+len(w.s.diagnostics.Conditions) <= w.s.MaxWarnings {
		w.warnings = append(w.warnings, w.s.diagnostics.Conditions...)
	}
}

var atRow = regexp.MustCompile(` at row 1$`)

// info is the text of the OK packet.
func (w *rowWrite) info() []byte {
	warnings := min(len(w.warnings), math.MaxUint16)
	switch {
	case w.kind == plan.Update:
		return fmt.Appendf(nil, "Rows matched: %d  Changed: %d  Warnings: %d", w.rows, w.changed, warnings)
	case w.kind != plan.Delete && (w.rows > 1 || w.n.Query):
		return fmt.Appendf(nil, "Records: %d  Duplicates: %d  Warnings: %d", w.rows, w.duplicates, warnings)
	}
	return nil
}
