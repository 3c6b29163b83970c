package session

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/variable"
)

// A trigger that the session runs is run as a procedure whose parameters are the columns of OLD and NEW that it names: OLD.x is the
// variable `OLD.x`. So expressions over them are a server's, and SET NEW.x converts as the column does.

// program is a trigger during one statement.
type program struct {
	trigger *catalog.Trigger
	routine *catalog.Routine
	prog    *routine.Program
	row     routine.Row
	table   *catalog.Table
	vars    *variables // nil until it is run first
}

// programs reads the triggers that the statement may fire.
func (w *rowWrite) programs() error {
	w.fire = map[string][]*program{}
	event := w.n.Event
	for timing, before := range map[string]bool{"BEFORE ": true, "AFTER ": false} {
		for _, tr := range w.t.Programs(before, event) {
			p, err := w.s.programOf(w.t, tr)
			if err != nil {
				return err
			}
			w.fire[timing+event] = append(w.fire[timing+event], p)
		}
	}
	return nil
}

// programOf reads the body of a trigger.
func (s *Session) programOf(t *catalog.Table, tr *catalog.Trigger) (*program, error) {
	timing := "AFTER"
	if tr.Before {
		timing = "BEFORE"
	}
	// As a function it has no name in common with the procedures that it calls.
	r := &catalog.Routine{Database: t.Database, Name: tr.Name, Function: true, SQLMode: tr.Program.SQLMode, Collation: tr.Program.Collation,
		Text: fmt.Sprintf("CREATE TRIGGER t %s %s ON t FOR EACH ROW %s", timing, tr.Event, tr.Program.Body)}
	prog, err := s.program(r)
	if err != nil {
		return nil, err
	}
	text, row, err := prog.RowText(t.ColumnName)
	if err != nil {
		return nil, err
	}
	r.Text = text
	p := &program{trigger: tr, routine: r, row: row, table: t}
	if p.prog, err = s.program(r); err != nil {
		return nil, err
	}
	for _, of := range []struct {
		which string
		names []string
	}{{"OLD", row.Old}, {"NEW", row.New}} {
		for _, name := range of.names {
			c := t.Column(name)
			kind := variableType(&t.Columns[c])
			if of.which == "OLD" || !slices.Contains(tr.Sets, c) {
				kind = longType(&t.Columns[c], kind)
			}
			p.prog.Params = append(p.prog.Params, routine.Param{Name: routine.RowVariable(of.which, name), Type: kind})
		}
	}
	return p, nil
}

// variableType is the type of a variable that holds values of a column.
func variableType(c *catalog.Column) string {
	if c.Charset == "" || c.Collation == "" || c.Collation == "binary" || c.DataType == "json" {
		return c.ColumnType
	}
	return c.ColumnType + " CHARACTER SET " + c.Charset + " COLLATE " + c.Collation
}

// wideString is a type of strings of which few are in a row, for a row has 64 KB in all.
var wideString = regexp.MustCompile(`(?i)^(var)(char|binary)\(\d{3,}\)`)

// longType is the type of a variable that is not assigned, and so need not be bounded: long strings are not part of its row.
func longType(c *catalog.Column, kind string) string {
	m := wideString.FindStringSubmatchIndex(kind)
	switch {
	case m == nil:
		return kind
	case c.DataType == "varbinary" || c.Collation == "binary":
		return "MEDIUMBLOB" + kind[m[1]:]
	}
	return "MEDIUMTEXT" + kind[m[1]:]
}

// drop ends the triggers of the statement.
func (w *rowWrite) drop() {
	for _, list := range w.fire {
		for _, p := range list {
			if p.vars != nil {
				p.vars.drop()
			}
		}
	}
}

// programsOf runs the triggers of one row. Those before it may change row.
func (w *rowWrite) programsOf(before bool, event string, old, row image) error {
	timing := "AFTER "
	if before {
		timing = "BEFORE "
	}
	for _, p := range w.fire[timing+event] {
		if err := w.runProgram(p, old, row); err != nil {
			return err
		}
	}
	return nil
}

// runProgram runs a trigger as its definer. What the client may ask of the session's last statement is afterwards as it was before.
func (w *rowWrite) runProgram(p *program, old, row image) error {
	s := w.s
	if len(s.calls.stack) >= maxCalls {
		return sqlerr.Unsupported(fmt.Sprintf("triggers and procedures that call each other more than %d levels deep", maxCalls), "call fewer")
	}
	asBefore, err := s.actAs(catalog.Security{Definer: p.trigger.Program.Definer})
	if err != nil {
		return err
	}
	defer asBefore()
	if err := s.check(w.t.Database, w.t.Name, catalog.MayTrigger); err != nil {
		return err
	}
	if p.vars == nil {
		list, err := p.prog.Variables()
		if err != nil {
			return err
		}
		if p.vars, err = s.newVariables(w.t.Database, slices.Concat(p.prog.Params, list)); err != nil {
			return err
		}
	}
	if err := w.load(p, old, row); err != nil {
		return err
	}
	id, rowCount, foundRows := s.lastInsertID, s.diagnostics.RowCount, s.foundRows
	s.calls.stack = append(s.calls.stack, &activation{s: s, routine: p.routine, prog: p.prog, vars: p.vars, trigger: p})
	if len(s.calls.firing) == 0 {
		s.calls.firingIn = s.tx
	}
	s.calls.firing = append(s.calls.firing, w.n.Tables)
	back := s.enterRoutine(p.routine)
	err = p.prog.Run(s.caller())
	back()
	s.calls.firing = s.calls.firing[:len(s.calls.firing)-1]
	s.calls.stack = s.calls.stack[:len(s.calls.stack)-1]
	s.lastInsertID, s.diagnostics.RowCount, s.foundRows = id, rowCount, foundRows
	s.diagnostics.Clear()
	if err != nil {
		return err
	}
	for _, c := range p.trigger.Sets {
		value, err := p.vars.literal(routine.RowVariable("NEW", w.t.Columns[c].Name))
		if err != nil {
			return err
		}
		switch text := strings.TrimSpace(value.Text); {
		case value.IsNumber:
			row[c] = strings.TrimSpace(value.Number)
		default:
			row[c] = strings.TrimPrefix(text, "_binary ") // as literal has it
		}
	}
	return nil
}

// load gives the variables of OLD and NEW their values.
func (w *rowWrite) load(p *program, old, row image) error {
	var sets []string
	for _, of := range []struct {
		which string
		names []string
		row   image
	}{{"OLD", p.row.Old, old}, {"NEW", p.row.New, row}} {
		for _, name := range of.names {
			c := w.t.Column(name)
			value := of.row[c]
			if c == w.auto && value == "NULL" && !w.tellsOmitted() {
				value = "0" // until the row is written
			}
			sets = append(sets, sqltypes.QuoteName(routine.RowVariable(of.which, name))+" = "+value)
		}
	}
	if sets == nil {
		return nil
	}
	p.vars.values = nil
	return p.vars.take(strings.Join(sets, ", "))
}

// mayAssign reports whether servers let an OUT argument be given the name of a variable: not OLD.x, and NEW.x in BEFORE triggers only.
func (a *activation) mayAssign(name string) bool {
	if a == nil || a.trigger == nil {
		return true
	}
	row, _, ok := strings.Cut(name, ".")
	return !ok || strings.HasPrefix(name, "@") || row == "NEW" && a.trigger.trigger.Before
}

// takes reports whether the row takes a variable's value behind the trigger, if it is a column of NEW.
func (p *program) takes(name string) bool {
	column, ok := strings.CutPrefix(name, "NEW.")
	return !ok || slices.ContainsFunc(p.trigger.Sets, func(c int) bool { return strings.EqualFold(p.table.Columns[c].Name, column) })
}

// optionBit reports whether servers take a variable back behind a trigger.
func optionBit(name string) bool {
	switch name {
	case "foreign_key_checks", "unique_checks", "sql_safe_updates", "sql_big_selects", "sql_auto_is_null", "sql_log_bin", "sql_notes", "sql_warnings",
		"sql_quote_show_create", "sql_buffer_result", "check_constraint_checks":
		return true
	}
	return false
}

// mayRun refuses what no statement of a trigger may do.
func (c *calls) mayRun(s *Session, p *plan.Plan) error {
	if len(c.firing) == 0 || s.Info.RowWrite {
		return nil
	}
	switch p.Kind {
	case plan.Begin, plan.Commit, plan.Rollback, plan.DDL, plan.Lock, plan.Unlock, plan.Flush, plan.TableAdmin, plan.Account, plan.Other:
		return routine.NoCommit()
	case plan.Prepared:
		return sqlerr.DynamicSQLInFunction.New()
	case plan.Set:
		tokens := s.stmt.Tokens()
		tokens.Next()
		a, _ := variable.Parse(s.stmt, tokens, s.cfg.Dialect.MariaDB()) // whose error is told when it is run
		if i := slices.IndexFunc(a.System, optionBit); i >= 0 {
			return sqlerr.Unsupported("SET "+a.System[i]+" in what a trigger calls", "set it in the session: one server takes it back behind the statement")
		}
		return nil
	case plan.Insert, plan.Replace, plan.Update, plan.Delete, plan.Do:
	default:
		return nil
	}
	refs, _ := s.stmt.Tables()
	for _, r := range refs {
		t, _ := s.tableOf(r)
		if !r.Write || t == nil {
			continue
		}
		for _, used := range c.firing {
			if slices.ContainsFunc(used, func(u *catalog.Table) bool { return u.Database == t.Database && u.Name == t.Name }) {
				return sqlerr.TableUsedByCaller.New(t.Name)
			}
		}
	}
	return nil
}

// showTriggers is a server's SHOW TRIGGERS or SHOW CREATE TRIGGER, of the rows to keep, with the bodies that clients wrote, in column textAt.
func (s *Session) showTriggers(textAt int, keep func(row [][]byte) bool) error {
	cols, rows, err := s.rowsOf()
	if err != nil {
		return err
	}
	for _, r := range rows {
		if len(r) > textAt && r[textAt] != nil {
			r[textAt] = []byte(routine.LiveText(string(r[textAt])))
		}
	}
	return s.sendRows(cols, slices.DeleteFunc(rows, func(r [][]byte) bool { return !keep(r) }))
}
