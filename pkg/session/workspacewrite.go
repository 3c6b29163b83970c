package session

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/exec"
	"skarv/pkg/metrics"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
	"skarv/pkg/workspace"
)

// workspaceWrite runs an UPDATE or DELETE over copies of its tables, as workspace does with a query, and does to the tables
// themselves what it has done to the copies:
//
//	begin the statement                           a transaction of its own in autocommit, else savepoints
//	copy, locking what is read
//	run the statement on the workspace            counts, warnings and errors are those of one server
//	compare, change by key                        exec.Changer
//	end the statement                             commit, or go back to the savepoints
func (s *Session) workspaceWrite(p *plan.Plan, n *plan.Workspace) error {
	s.used.strategy = metrics.Workspace
	switch {
	case s.locks != nil:
		return sqlerr.Unsupported("a write over several node groups that copies tables, under LOCK TABLES", "UNLOCK TABLES first")
	case s.mayNotWrite() && !s.writesTemporary(n):
		return s.readOnlyTransaction()
	case s.tx == nil && s.readOnly():
		return sqlerr.Unsupported("writing what several node groups have to a temporary table where the session is READ ONLY", "START TRANSACTION READ ONLY before")
	case s.hasOwnRows() && n.LocalTwice:
		return sqlerr.Unsupported("a write over several node groups that reads a reference table twice, within a transaction",
			"run it outside of the transaction")
	}
	if err := s.torn(n); err != nil {
		return err
	}
	touched := &s.runner.Router.Touched
	touched.All, touched.Copies = true, n.WritesCopies()
	if err := s.announcePartitions(partitionUse{Touched: touched, write: true, several: true}); err != nil {
		return err
	}
	g := n.Group
	if g == 0 {
		g = s.anyGroup()
	}
	profile := s.profile
	if n.Stage != nil && n.Stage.Load {
		profile.Caps |= s.conn.Capabilities() & wire.CapLocalFiles
	}
	c, err := s.openWorkspace(g, profile)
	if err != nil {
		return err
	}
	defer s.closeWorkspace()
	c.Dirty = true // until the pool has reset it
	s.used.group = g
	s.client.Enter(c)
	if s.hasOwnRows() {
		n = n.ForOwnRows()
	}
	copies := n.Copies
	if _, err := s.examine(c, n, copies); err != nil {
		s.client.Leave(c) // before anybody else has it
		c.Release()
		return err
	}
	w := &workspaceWrite{s: s, p: p, n: n, c: c, copies: copies, conns: conns{s: s, plan: p, joins: true}}
	ok, err := w.run()
	s.client.Leave(c)
	if err != nil {
		c.Discard()
		return s.failed(err)
	}
	c.Dirty = true // reading back user variables has declared it clean
	c.Release()
	s.used.summary = wire.ResultSummary{AffectedRows: ok.AffectedRows, Warnings: ok.Warnings}
	s.diagnostics.RowCount = int64(ok.AffectedRows)
	s.valuesOnce(&ok.Warnings, &ok.Info)
	s.diagnostics.Counted(ok.Warnings)
	if w.generated || p.Uses&plan.SetsLastInsertID != 0 && ok.LastInsertID != 0 {
		s.lastInsertID = ok.LastInsertID
	}
	if rows, any := w.held.Rows(); any {
		s.diagnostics.RowCount, s.foundRows = -1, rows
		out := s.newOutput()
		if err := w.held.Pass(out, nil); err != nil {
			return err
		}
		return out.end(ok.Warnings)
	}
	ok.Status = s.status()
	return s.writeOK(ok)
}

// writesTemporary reports whether all that n, the statement at hand, writes to are temporary tables, to which transactions may write that are
// READ ONLY. To a server an UPDATE of joined tables writes to all of them.
func (s *Session) writesTemporary(n *plan.Workspace) bool {
	if n.Stage != nil {
		return n.Stage.Table.Temporary != ""
	}
	refs, _ := s.stmt.Tables()
	return !(s.stmt.Kind() == sqlparse.Update && slices.ContainsFunc(refs, func(r sqlparse.TableRef) bool { return r.Write && !s.isTemporary(r) })) &&
		!slices.ContainsFunc(n.Copies, func(c plan.Copy) bool { return c.Written != nil && c.Table.Temporary == "" })
}

// readOnlyTransaction is a server's error for what writes in a transaction that may not.
func (s *Session) readOnlyTransaction() error {
	if s.cfg.Dialect.MariaDB() {
		return sqlerr.ReadOnlyTransaction.New("")
	}
	return sqlerr.ReadOnlyTransaction.New(".")
}

// workspaceWrite is one execution.
type workspaceWrite struct {
	s      *Session
	p      *plan.Plan
	n      *plan.Workspace
	copies []plan.Copy
	c      *backend.Conn // the workspace's
	conns  conns
	// generated: the OK packet's insert id is LAST_INSERT_ID() from now on.
	generated bool
	// held is what RETURNING returns.
	held exec.Held
}

// run returns the OK packet the client gets.
func (w *workspaceWrite) run() (ok wire.OK, err error) {
	s := w.s
	if w.p.Uses&plan.ReadsClock != 0 {
		s.moment = time.Now()
		defer func() { s.moment = time.Time{} }()
	}
	if err := w.conns.BeginStatement(nil); err != nil {
		return ok, err
	}
	ok, err = w.steps()
	if err = w.conns.EndStatement(err); err != nil {
		w.conns.end()
		return ok, err
	}
	w.conns.keep()
	if ok.Warnings += w.conns.pending; w.conns.pending > 0 {
		s.diagnostics.Add(w.conns.warnings[len(w.conns.warnings)-1])
	}
	return ok, nil
}

func (w *workspaceWrite) steps() (ok wire.OK, err error) {
	s := w.s
	ws, err := workspace.Open(w.c, s.cfg.Workspace, s.SQLMode, s.taken)
	if err != nil {
		return ok, txn.Lost(w.c, err)
	}
	defer ws.Free()
	defer s.withoutLimits()() // the connection that runs the client's statement is there
	g := &gathering{s: s, w: ws, c: w.c, conns: &w.conns, uses: w.p.Uses&plan.ReadsClock | plan.LocksRows}
	g.careful = slices.ContainsFunc(w.n.Moments, func(arg int) bool { return !s.args.IsDate(arg) })
	if err := g.all(w.copies); err != nil {
		return ok, err
	}
	slices.SortFunc(g.tracked, func(a, b tracked) int { return cmp.Compare(a.copy.Input.ID, b.copy.Input.ID) }) // as the text names them
	for _, t := range g.tracked {
		if err := t.Keep(t.copy.TableName(), t.copy.Columns); err != nil {
			return ok, txn.Lost(w.c, err)
		}
	}
	st, err := w.stage(ws)
	if err != nil {
		return ok, err
	}
	if err := g.store(w.n.Stored); err != nil {
		return ok, err
	}
	if err := ws.Ready(); err != nil {
		return ok, txn.Lost(w.c, err)
	}
	if ok, err = w.compute(st); err != nil {
		return ok, err
	}
	if err := ws.Resume(st != nil && w.asSession()); err != nil {
		return ok, txn.Lost(w.c, err)
	}
	if st != nil {
		err = w.insert(st, &ok)
	} else {
		err = w.change(g.tracked, &ok)
	}
	if err != nil {
		return ok, err
	}
	if ws.Close() != nil {
		w.c.Interrupt() // the tables go with the connection
	}
	if st != nil && w.n.Stage.Returning {
		return ok, w.describe()
	}
	return ok, nil
}

// told is what a server says about the stage, as it would say it about the table.
func (w *workspaceWrite) told(message string) string {
	st := w.n.Stage
	if st == nil || st.Name == "" || st.Name == st.Table.Name {
		return message
	}
	return strings.ReplaceAll(message, "`.`"+st.Name+"`.`", "`.`"+st.Table.Name+"`.`")
}

// compute runs the client's statement over the copies.
func (w *workspaceWrite) compute(st *workspace.Stage) (ok wire.OK, err error) {
	s, c := w.s, w.c
	if s.client.Hit() { // by a KILL that met no statement on the server
		return ok, sqlerr.QueryInterrupted.New()
	}
	defer func() {
		if e, ok := errors.AsType[*sqlerr.Error](err); ok {
			err = &sqlerr.Error{Code: e.Code, State: e.State, Message: w.told(e.Message)}
		}
	}()
	still := !s.moment.IsZero() && !s.FixedClock
	if still {
		if _, err := c.Exec(string(exec.SetTimestamp(s.moment))); err != nil {
			return ok, txn.Lost(c, err)
		}
	}
	if w.n.Stage != nil && w.n.Stage.Load {
		c.ExpectFile()
	}
	sql, params := s.renamed(w.n)
	if len(params) > 0 && s.args.Using != nil {
		sql, params = s.args.AppendImmediate(nil, sql, params), nil
	}
	if err := w.ask(); err != nil {
		return ok, err
	}
	if len(params) > 0 {
		end, err := s.sendPrepared(c, sql, params)
		if err != nil {
			return ok, s.computed(txn.Lost(c, err))
		}
		defer end()
	} else if err := c.Send(wire.ComQuery, sql); err != nil {
		return ok, txn.Lost(c, err)
	}
	head, err := c.ReadHead()
	if err == nil && head.File != nil {
		if err := s.passFile(c, head.File, st.UsageOf); err != nil {
			return ok, err
		}
		head, err = c.ReadHead()
	}
	if err != nil {
		return ok, s.computed(txn.Lost(c, err))
	}
	if head.OK == nil { // RETURNING
		if err := w.takeAs(len(params) > 0, head, &w.held); err != nil {
			return ok, err
		}
		ok = c.EndStatus()
	} else {
		ok = *head.OK
		ok.Info = slices.Clone(ok.Info)
	}
	s.diagnostics.Clear()
	if ok.Warnings > 0 {
		s.fetchWarnings(c, ok.Warnings)
		for i := range s.diagnostics.Conditions {
			s.diagnostics.Conditions[i].Message = w.told(s.diagnostics.Conditions[i].Message)
		}
	}
	if w.p.Uses&plan.WritesUserVariable != 0 {
		if err := s.variablesWritten(c); err != nil {
			return ok, err
		}
	}
	if still {
		if _, err := c.Exec("SET timestamp = DEFAULT"); err != nil {
			return ok, txn.Lost(c, err)
		}
	}
	ok.SessionState = nil
	return ok, nil
}

// ask finds the values of the statement's queries for its ON DUPLICATE KEY UPDATE. One that cannot be told, or written as a literal, is refused: a
// server may not need it.
func (w *workspaceWrite) ask() error {
	s := w.s
	const value = "skarv_value"
	var lists []exec.List
	for _, a := range w.n.Asked {
		text := "SELECT " + value + ", HEX(CONCAT(" + value + ")), CHARSET(" + value + "), COLLATION(" + value + ") FROM (SELECT (" +
			string(s.args.AppendText(nil, a.Text)) + ") AS " + value + " LIMIT 1) AS skarv_asked"
		columns, rows, err := w.c.QueryAll(text, 1)
		_, told := errors.AsType[*sqlerr.Error](err)
		switch {
		case err != nil && !(told && w.c.Usable()):
			return txn.Lost(w.c, err)
		case err != nil || len(rows) != 1 || w.c.LastWarnings() > 0 || !asLiteral(columns[0], a.Alone) || !variable.IsText(rows[0]) && rows[0][0] != nil:
			return sqlerr.Unsupported("such a subquery in ON DUPLICATE KEY UPDATE over several node groups", "select the value first, and give it to the statement")
		}
		literal := variable.UserLiteral(columns[0], rows[0])
		if columns[0].Type.IsTemporal() && rows[0][0] != nil {
			literal = sqltypes.Literal(string(rows[0][0]))
		}
		lists = append(lists, exec.List{SQL: [][]byte{[]byte(literal)}})
	}
	if len(lists) > 0 {
		s.args.Lists = lists
	}
	return nil
}

// asLiteral reports whether a literal stands for a value of a column; alone: where it is assigned as it is.
func asLiteral(c sqltypes.Column, alone bool) bool {
	switch {
	case c.Type == sqltypes.TypeBit || c.Type == sqltypes.TypeFloat || c.Type == sqltypes.TypeJSON || c.Flags&(sqltypes.FlagEnum|sqltypes.FlagSet) != 0:
		return false
	case c.Type.IsNumber() || c.Type == sqltypes.TypeNull:
		return true
	}
	return alone && c.Type != sqltypes.TypeGeometry
}

// change does to the tables what has been done to their copies.
func (w *workspaceWrite) change(copies []tracked, ok *wire.OK) error {
	s := w.s
	copies, again, err := united(copies)
	if err != nil {
		return txn.Lost(w.c, err)
	}
	ok.AffectedRows -= again
	for _, t := range copies {
		if err := w.inAnyOrder(t); err != nil {
			return err
		}
		if err := w.numbered(t); err != nil {
			return err
		}
	}
	ch := s.runner.Change(s.execution(&w.conns), s.snap, s.modes())
	for _, t := range copies {
		if t.copy.Written.Own {
			ch.Unchecked()
		}
	}
	if err := ch.End(w.passes(ch, copies)); err != nil {
		return asServerLost(err)
	}
	for _, t := range copies {
		if err := w.follow(t); err != nil {
			return err
		}
	}
	return nil
}

// united are copies with one of each table: what is deleted from another one is deleted from it. again is how many rows were deleted from
// more than one.
func united(copies []tracked) (one []tracked, again uint64, err error) {
	for _, t := range copies {
		i := slices.IndexFunc(one, func(o tracked) bool { return o.copy.Table == t.copy.Table })
		if i < 0 {
			one = append(one, t)
			continue
		}
		n, err := one[i].DeleteAsFrom(t.Tracked)
		if err != nil {
			return nil, 0, err
		}
		again += n
	}
	return one, again, nil
}

// numbered tells the sequence of AUTO_INCREMENT values that rows have been given.
func (w *workspaceWrite) numbered(t tracked) error {
	auto := t.copy.Table.AutoIncrement
	if auto < 0 || !slices.Contains(t.copy.Written.Columns, auto) {
		return nil
	}
	_, rows, err := w.c.QueryAll(t.Greatest(auto), 1)
	if err != nil {
		return txn.Lost(w.c, err)
	}
	v, err := strconv.ParseUint(string(rows[0][0]), 10, 64)
	if err != nil {
		return nil // there is none above 0
	}
	return w.s.sequence().Observe(t.copy.Table, v)
}

// inAnyOrder refuses what has been done to a copy if it hangs on the order of the rows, and only a server knows that.
func (w *workspaceWrite) inAnyOrder(t tracked) error {
	if !t.copy.Written.AnyOrder {
		return nil
	}
	table := t.copy.Table
	for _, k := range append([]catalog.Index{table.PrimaryKey()}, table.Unique...) {
		if !slices.ContainsFunc(k.Columns, func(c int) bool { return slices.Contains(t.copy.Written.Moved, c) }) {
			continue
		}
		var taken exec.Held
		if err := w.query(t.Taken(&k), &taken); err != nil {
			return err
		}
		if n, _ := taken.Rows(); n > 0 {
			return exec.TurnsMatter(table)
		}
	}
	return nil
}

// follow does what follows from the changes of a table's rows, on other node groups too.
func (w *workspaceWrite) follow(t tracked) error {
	if !t.copy.Written.Followed {
		return nil
	}
	f := exec.Following(w.s.snap, t.copy.Table)
	if err := w.query(t.Followed(f.Images, partitionOf(t.copy.Table)), f); err != nil {
		return err
	}
	return asServerLost(w.s.runner.Follow(w.s.execution(within{&w.conns}), f, t.copy.Written.Own))
}

// passes goes through what has changed: first all rows that go, then those that stay, then those that come, so that none
// meets the old value of another one's unique key.
func (w *workspaceWrite) passes(ch *exec.Changer, copies []tracked) error {
	for _, kind := range []exec.ChangeKind{exec.RowDelete, exec.RowUpdate, exec.RowInsert} {
		for _, t := range copies {
			table, n := t.copy.Table, t.copy.Written
			var sql string
			change := exec.Change{Table: table, Kind: kind}
			switch kind {
			case exec.RowDelete:
				if len(n.Moved) == 0 && w.p.Kind == plan.Update {
					continue
				}
				sql = t.Deleted(n.Moved, partitionOf(table))
			case exec.RowUpdate:
				if len(n.Columns) == 0 {
					continue
				}
				change.Columns = slices.DeleteFunc(slices.Clone(n.Columns), func(c int) bool { return slices.Contains(n.Moved, c) })
				if len(change.Columns) == 0 {
					continue
				}
				sql = t.Changed(n.Moved, change.Columns, partitionOf(table))
			case exec.RowInsert:
				if len(n.Moved) == 0 {
					continue
				}
				change.Columns = t.copy.Columns
				sql = t.Inserted(n.Moved, change.Columns, partitionOf(table))
			}
			if err := w.pass(ch, change, sql); err != nil {
				return err
			}
		}
	}
	return nil
}

// pass gives the rows of one query on the workspace to ch.
func (w *workspaceWrite) pass(ch *exec.Changer, change exec.Change, sql string) error {
	if err := ch.Begin(change); err != nil {
		return err
	}
	return w.query(sql, ch)
}

// query gives the rows of a query on the workspace to sink.
func (w *workspaceWrite) query(sql string, sink exec.Sink) error {
	if err := w.c.Send(wire.ComQuery, []byte(sql)); err != nil {
		return txn.Lost(w.c, err)
	}
	head, err := w.c.ReadHead()
	if err != nil {
		return txn.Lost(w.c, err)
	}
	return w.take(head, sink)
}

// take gives the rows of a result on the workspace to sink.
func (w *workspaceWrite) take(head mysqlconn.Head, sink exec.Sink) error {
	return w.takeAs(false, head, sink)
}

// takeAs is take; binary: the rows are those of a prepared statement.
func (w *workspaceWrite) takeAs(binary bool, head mysqlconn.Head, sink exec.Sink) error {
	texts := wire.TextRows{Exact: w.s.binary}
	if err := sink.Columns(head.Columns); err != nil {
		return err
	}
	for {
		row, err := w.c.ReadRow()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return txn.Lost(w.c, err)
		}
		if binary {
			if row, err = texts.Row(row, head.Columns); err != nil {
				return err
			}
		}
		if err := sink.Row(row); err != nil {
			return err
		}
	}
}

// partitionOf returns the SQL expression of the partition of a row of t.
func partitionOf(t *catalog.Table) func(alias string) string {
	return func(alias string) string {
		if t.Kind != catalog.Sharded {
			return "0"
		}
		return t.Key.SQLExpr(t.QuotedColumns(t.Distribution, alias+"."))
	}
}

// modes is the statement that gives a connection the session's sql_mode and time zone back.
func (s *Session) modes() string {
	value := func(name string) string {
		if v, ok := s.state.Get("@@session." + sqltypes.QuoteName(name)); ok {
			return sqltypes.Introduced(v)
		}
		return "DEFAULT"
	}
	return "SET @@sql_mode = " + value("sql_mode") + ", @@time_zone = " + value("time_zone")
}
