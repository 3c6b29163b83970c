package session

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/plan"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// CALL is run by the session: it goes through the procedure's control structures, and each statement in it goes the way of a
// client's. Variables live in a temporary table of one row on a connection of the CALL's own, so that their types, conversions
// and expressions are a server's: see variables.

// calls is what a client's CALL and those inside of it have together.
type calls struct {
	conn  *backend.Conn // nil until the first variables need it
	stack []*activation // innermost last
	made  int           // tables of variables
	// affected counts the rows that statements outside of triggers have changed, which MariaDB tells of a CALL.
	affected uint64
	// firing are the tables of the statements whose triggers run, outermost first.
	firing [][]*catalog.Table
	// firingIn is the transaction in which the outermost of them runs.
	firingIn *txn.Txn
	// foreign: the client has another character set than UTF-8, see callCharset. results is its own for results, as a value of SET; "" if
	// that is utf8mb4.
	foreign bool
	results string
	// warned: warnings have come since the CALL began; others the session has from before.
	warned bool
	// open: the client has the columns of a result, and not its end.
	open bool
	// told are the user variables in which strings of programs are, see variables.exact.
	told []string
}

// connection is where variables are.
func (c *calls) connection(s *Session) (*backend.Conn, error) {
	if c.conn == nil {
		conn, err := s.cfg.Pools.Get(s.anyGroup(), s.profile, s.writingState(), nil, s.keeping())
		if err != nil {
			return nil, err
		}
		c.conn = conn
		if _, err := conn.Exec("SET SESSION sql_log_bin = 0"); err != nil && !conn.Usable() {
			return nil, txn.Lost(conn, err)
		}
	}
	return c.conn, nil
}

// maxCalls is how deep procedures may call others.
const maxCalls = 16

// activation is one procedure that is running.
type activation struct {
	s       *Session
	routine *catalog.Routine
	prog    *routine.Program
	vars    *variables
	// conditions are the warnings and notes of the last statement.
	conditions []routine.Warning
	// stacked is what the handlers that run were called for, innermost last.
	stacked []diagnostics.Area
	// read is the sql_mode, other than its own, in which the program's text is known to mean the same.
	read *sqlparse.Mode
	// trigger is what runs, if it is a trigger.
	trigger *program
}

// call runs the CALL at hand.
func (s *Session) call(p *plan.Plan) error {
	if s.locks != nil {
		return sqlerr.Unsupported("CALL under LOCK TABLES", "UNLOCK TABLES first")
	}
	switch {
	case p.Kind == plan.Compound:
		return s.compound()
	case p.Refuse != nil:
		return s.refuse(p)
	}
	r := s.snap.Routine(p.Database, p.Name, false)
	if r == nil {
		return s.nameRead(sqlerr.NoSuchRoutine.New("PROCEDURE", p.Database+"."+p.Name))
	}
	if err := s.ownCharset([]byte(r.Text), sqlparse.ParseMode(r.SQLMode)); err != nil {
		return err
	}
	prog, err := s.program(r)
	if err != nil {
		return err
	}
	args := s.callArguments()
	if len(args) != len(prog.Params) {
		return sqlerr.WrongArgumentCount.New(r.Database, r.Name, len(prog.Params), len(args))
	}
	return s.runCall(&activation{s: s, routine: r, prog: prog}, args)
}

// compound runs BEGIN NOT ATOMIC ... END as a procedure without parameters.
func (s *Session) compound() error {
	// It outlives what runs inside of it.
	st := s.cfg.Dialect.NewStatement()
	if err := st.Scan(s.args.AppendStatement(nil), s.Mode); err != nil {
		return err
	}
	if err := s.ownCharset(st.SQL(), s.Mode); err != nil {
		return err
	}
	// A server reads all of it before it runs any of it: what is in reach of no statement is read, too, and no handler takes the fault.
	if fault := s.faultAsRead(s.anyGroup()); fault != nil {
		return fault
	}
	prog, err := routine.ParseCompound(st)
	if err != nil {
		return err
	}
	r := &catalog.Routine{Database: s.db, Function: true, SQLMode: s.SQLMode}
	return s.runCall(&activation{s: s, routine: r, prog: prog}, nil)
}

// runCall runs what is called, and answers.
func (s *Session) runCall(a *activation, args []sqlparse.Span) error {
	// What ROW_COUNT() is behind it: the rows that all statements of the procedure have changed on MariaDB, those of its last one on MySQL.
	affected := func(before uint64) uint64 {
		if s.cfg.Dialect.MariaDB() {
			return s.calls.affected - before
		}
		return uint64(max(s.diagnostics.RowCount, 0))
	}
	if s.calls != nil {
		before := s.calls.affected
		err := a.run(args)
		if err == nil {
			s.diagnostics.RowCount = int64(affected(before))
		}
		return err
	}
	if !s.cfg.Dialect.MariaDB() {
		s.diagnostics.Clear() // what runs inside of it does not see what was told before; MariaDB's statements without tables keep it
	}
	foreign := s.foreign()
	results, back, err := s.callCharset()
	if err != nil {
		return err
	}
	more := s.more
	s.calls, s.more = &calls{foreign: foreign, results: results}, true // what comes before the end of the CALL is not the last
	err = a.run(args)
	s.calls.release(s)
	changed, warnings := affected(0), uint16(0)
	if s.calls.warned {
		warnings = s.diagnostics.Warnings()
	}
	s.calls, s.more = nil, more
	back()
	if err != nil {
		return err
	}
	return s.ok(wire.OK{AffectedRows: changed, Warnings: warnings})
}

// release gives the connection back. What it was told is undone by the pool.
func (c *calls) release(s *Session) {
	c.forget(s)
	if c.conn != nil {
		c.conn.Dirty = true
		c.conn.Release()
		c.conn = nil
	}
}

// callCharset has the statements of a procedure written, and what it reads for itself answered, in UTF-8 until back is called. results is the client's
// own character set for results, "" if that is UTF-8, too.
func (s *Session) callCharset() (results string, back func(), err error) {
	if !s.foreign() {
		return "", func() {}, nil
	}
	text := s.args.AppendStatement(nil)
	if s.ForeignLiterals && beyondASCII(text) > 0 || slices.ContainsFunc(text, func(b byte) bool { return b >= 0xF0 }) {
		return "", nil, sqlerr.Unsupported("characters beyond ASCII in a CALL with another character set than UTF-8", "SET NAMES utf8mb4")
	}
	vars := variable.CharsetVariables("utf8mb4", "")[:2]
	if results, _ = s.state.Get(vars[1].Name); results == vars[1].Value {
		results = ""
	}
	back, err = s.inCharset(vars...)
	return results, back, err
}

// clientResults has what is read answered in the client's character set until back is called.
func (s *Session) clientResults() (back func(), err error) {
	if s.calls == nil || s.calls.results == "" {
		return func() {}, nil
	}
	results := variable.CharsetVariables("utf8mb4", "")[1]
	results.Value = s.calls.results
	return s.inCharset(results)
}

// ownCharset refuses a program whose text tells of the session's character sets: they are not the client's while it runs for one with others.
func (s *Session) ownCharset(text []byte, mode sqlparse.Mode) error {
	if s.calls != nil && !s.calls.foreign || s.calls == nil && !s.foreign() {
		return nil
	}
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan(text, mode); err != nil {
		return err
	}
	tokens := st.Tokens()
	var last sqlparse.Token
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; last, tok = tok, tokens.Next() {
		if bytes.Contains(bytes.ToLower(st.Text(tok.Span)), []byte("character_set_")) ||
			st.Is(last, "SET") && (st.Is(tok, "NAMES") || st.Is(tok, "CHARACTER") || st.Is(tok, "CHARSET")) {
			return sqlerr.Unsupported("character sets of the session in a procedure that a client with another one than UTF-8 calls", "SET NAMES utf8mb4")
		}
	}
	return nil
}

// foreign reports whether the client has another character set than UTF-8.
func (s *Session) foreign() bool { return s.ForeignLiterals || !s.Info.UTF8Results }

// program is the tree of a procedure.
func (s *Session) program(r *catalog.Routine) (*routine.Program, error) {
	st := s.cfg.Dialect.NewStatement()
	if err := st.Scan([]byte(r.Text), sqlparse.ParseMode(r.SQLMode)); err != nil {
		return nil, err
	}
	return routine.Parse(st)
}

// callArguments are the texts of the arguments of the CALL at hand.
func (s *Session) callArguments() (list []sqlparse.Span) {
	tokens := s.stmt.Tokens()
	for tok := tokens.Next(); !s.stmt.Is(tok, "("); tok = tokens.Next() {
		if tok.Kind == sqlparse.EOF {
			return nil
		}
	}
	for {
		arg, end := s.stmt.Item(&tokens, "")
		if arg.End > 0 {
			list = append(list, arg)
		}
		if !s.stmt.Is(end, ",") {
			return list
		}
	}
}

// run runs the procedure with arguments of the statement at hand.
func (a *activation) run(args []sqlparse.Span) error {
	s := a.s
	if limit := s.recursionDepth(); s.calls.running(a.routine.Key()) > limit {
		return sqlerr.RecursionLimit.New(limit, a.routine.Name)
	}
	if len(s.calls.stack) == maxCalls {
		return sqlerr.Unsupported(fmt.Sprintf("procedures that call each other more than %d levels deep", maxCalls), "call fewer")
	}
	list, err := a.prog.Variables()
	if err != nil {
		return err
	}
	outs, err := a.outArguments(args) // now, for the statement at hand will be another
	if err != nil {
		return err
	}
	if a.vars, err = s.newVariables(a.routine.Database, slices.Concat(a.prog.Params, list)); err != nil {
		return err
	}
	defer a.vars.drop()
	given, err := a.takeArguments(args)
	if err != nil {
		return err
	}
	if err := a.runProgram(); err != nil {
		return err
	}
	// What is told behind it is of arguments, and of the last statement.
	s.diagnostics.Conditions = slices.Concat(given, s.diagnostics.Conditions)
	return a.giveOuts(outs)
}

// outArguments are what OUT and INOUT parameters are assigned to, by their places.
func (a *activation) outArguments(args []sqlparse.Span) ([]string, error) {
	s, outs := a.s, make([]string, len(args))
	for i, p := range a.prog.Params {
		if p.Mode == routine.In {
			continue
		}
		if outs[i] = s.assignable(args[i]); outs[i] == "" || !s.caller().mayAssign(outs[i]) {
			return nil, sqlerr.OutArgumentNotVariable.New(i+1, a.routine.Database, a.routine.Name)
		}
		if t := s.caller(); t != nil && t.trigger != nil && !t.trigger.takes(outs[i]) {
			return nil, sqlerr.Unsupported("the column "+outs[i]+" as an OUT argument in a trigger", "give a variable, then SET the column")
		}
	}
	return outs, nil
}

// takeArguments assigns the arguments to the parameters. Of what it warns of, which is given, the program's statements see nothing.
func (a *activation) takeArguments(args []sqlparse.Span) (given []diagnostics.Condition, err error) {
	s := a.s
	texts := make([]string, len(args))
	for i, sp := range args {
		texts[i] = string(s.args.AppendSpan(nil, sp))
	}
	before := s.diagnostics.Take()
	for i, p := range a.prog.Params {
		if p.Mode == routine.Out {
			continue
		}
		if err := a.vars.assign(p.Name, texts[i], s.caller()); err != nil {
			return nil, err
		}
		given = append(given, s.diagnostics.Take()...)
	}
	if len(given) > 0 {
		s.calls.warned = true
	} else {
		s.diagnostics.Conditions = before
	}
	return given, nil
}

// runProgram runs the procedure, whose parameters have their values.
func (a *activation) runProgram() error {
	s := a.s
	s.calls.stack = append(s.calls.stack, a)
	limited := s.withoutSelectLimit()
	asBefore, err := s.actAs(a.routine.Security)
	if err == nil {
		back := s.enterRoutine(a.routine)
		err = a.prog.Run(a)
		back()
		asBefore()
	}
	limited()
	s.calls.stack = s.calls.stack[:len(s.calls.stack)-1]
	return err
}

// giveOuts assigns parameters to what was given for them. What it warns of is added to what there is, and ROW_COUNT() stays.
func (a *activation) giveOuts(outs []string) error {
	s := a.s
	counted, told := s.diagnostics.RowCount, s.diagnostics.Take()
	defer func() { s.diagnostics.Conditions, s.diagnostics.RowCount = told, counted }()
	var sent []string
	for i, p := range a.prog.Params {
		if p.Mode == routine.In {
			continue
		}
		if outs[i] == placeholder {
			sent = append(sent, sqltypes.QuoteName(p.Name))
			continue
		}
		value, err := a.vars.typed(p.Name)
		if err != nil {
			return err
		}
		text := value.Text
		if strings.HasPrefix(outs[i], "@") {
			if value.IsNumber {
				text = value.Number
			}
			if value.Unsigned {
				text = routine.Unsigned(text)
			}
		}
		err = s.assignTarget(outs[i], text)
		warned := s.diagnostics.Take()
		told = append(told, warned...)
		s.calls.warned = s.calls.warned || len(warned) > 0
		if err != nil {
			return err
		}
	}
	return a.sendOuts(sent)
}

// sendOuts answers a prepared CALL with the values of OUT parameters that the client gave no variables for.
func (a *activation) sendOuts(columns []string) error {
	s := a.s
	if len(columns) == 0 || !s.conn.Capabilities().Has(wire.CapPSMultiResults) {
		return nil
	}
	back, err := s.clientResults()
	if err != nil {
		return err
	}
	cols, row, err := a.vars.query("SELECT " + strings.Join(columns, ", ") + " FROM " + a.vars.table)
	back()
	if err != nil {
		return err
	}
	for i := range cols {
		cols[i].Schema, cols[i].Table, cols[i].OrgTable, cols[i].OrgName = "", "", "", ""
	}
	s.outs = true
	defer func() { s.outs = false }()
	return s.sendRows(cols, [][][]byte{row})
}

// running counts the activations of a routine.
func (c *calls) running(key catalog.RoutineKey) (n int) {
	for _, a := range c.stack {
		if a.routine.Key() == key {
			n++
		}
	}
	return n
}

// recursionDepth is how often a procedure may be active beside itself.
func (s *Session) recursionDepth() int {
	v, _ := s.state.Get("@@session.`max_sp_recursion_depth`")
	return int(parseUint([]byte(v)))
}

// placeholder is the target of an OUT parameter whose value goes to the client.
const placeholder = "?"

// caller is the activation whose statement is running, or nil.
func (s *Session) caller() *activation {
	if s.calls == nil || len(s.calls.stack) == 0 {
		return nil
	}
	return s.calls.stack[len(s.calls.stack)-1]
}

// assignable is the user variable, or the caller's variable, that an argument names, or placeholder; "" if it names none.
func (s *Session) assignable(arg sqlparse.Span) string {
	tokens := s.stmt.TokensFrom(arg.Start)
	tok := tokens.Next()
	if tok.End != arg.End {
		return ""
	}
	switch tok.Kind {
	case sqlparse.UserVar:
		return string(s.stmt.Text(tok.Span))
	case sqlparse.Param:
		if s.binary && s.current != nil {
			return placeholder
		}
		if n := s.paramsBefore(tok.Start); n < len(s.usingTargets) {
			return s.usingTargets[n]
		}
	case sqlparse.Word, sqlparse.QuotedName:
		name := string(s.stmt.AppendName(nil, tok))
		if c := s.caller(); c != nil && c.vars.has(name) {
			return name
		}
	}
	return ""
}

// paramsBefore counts the parameters of the statement at hand that stand before a place in its text.
func (s *Session) paramsBefore(at int) (n int) {
	for tokens := s.stmt.Tokens(); ; {
		switch tok := tokens.Next(); {
		case tok.Kind == sqlparse.EOF || tok.Start >= at:
			return n
		case tok.Kind == sqlparse.Param:
			n++
		}
	}
}

// assignTarget gives a literal to a user variable, or to a variable of the procedure that is running.
func (s *Session) assignTarget(target, literal string) error {
	if strings.HasPrefix(target, "@") {
		return s.within([]byte("SET "+target+" = "+literal), &capture{})
	}
	return s.caller().vars.assign(target, literal, nil)
}

// enterRoutine makes database, sql_mode and collation_connection those of a routine until the returned function is called. That takes back what the
// routine has set of them, and of character_set_client.
func (s *Session) enterRoutine(r *catalog.Routine) (back func()) {
	const name, client, connection = "@@session.`sql_mode`", "@@session.`character_set_client`", "@@session.`collation_connection`"
	charset, collation := "'utf8mb4'", "'"+s.Info.Collation+"'"
	if v, ok := s.state.Get(client); ok {
		charset = v
	}
	collated := func() {}
	if r.Collation != "" && r.Collation != s.Info.Collation {
		if again, err := s.inCharset(backend.Variable{Name: connection, Value: "'" + r.Collation + "'"}); err == nil {
			collated = again
		}
	}
	db, mode, told := s.db, s.SQLMode, s.toldMode
	s.db = r.Database
	s.followDB()
	if told == nil {
		own := s.Mode
		s.toldMode = &own
	}
	if mode != r.SQLMode {
		_ = s.adopt(s.state.With(s.state.DB, backend.Variable{Name: name, Value: sqltypes.Literal(r.SQLMode)}))
	}
	return func() {
		collated()
		if now, ok := s.state.Get(client); ok && now != charset || s.Info.Collation != strings.Trim(collation, "'") {
			_ = s.adopt(s.state.With(s.state.DB, backend.Variable{Name: client, Value: charset}, backend.Variable{Name: connection, Value: collation}))
		}
		s.toldMode = told
		if s.SQLMode != mode {
			_ = s.adopt(s.state.With(s.state.DB, backend.Variable{Name: name, Value: sqltypes.Literal(mode)}))
		}
		s.db = db
		s.followDB()
	}
}

// step runs a statement of a procedure as if it were the client's: what it returns as rows goes to the client.
func (s *Session) step(text []byte) error {
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan(text, s.Mode); err != nil {
		return err
	}
	back, err := s.clientResults()
	if err != nil {
		return err
	}
	defer back()
	was := s.asked
	s.asked = asked{}
	defer func() { s.asked = was }()
	_, err = s.runInside(st, nil)
	s.leave()
	s.refresh()
	return err
}
