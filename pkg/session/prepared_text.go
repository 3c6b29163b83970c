package session

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/exec"
	"skarv/pkg/function"
	"skarv/pkg/plan"
	"skarv/pkg/planner"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// PREPARE, EXECUTE and DEALLOCATE PREPARE as text. The statement is planned and routed as any other, with the values of
// the user variables for its parameters. What one node group answers alone runs there as an EXECUTE, too: with the types,
// names and conversions that it has on one server.

// preparedText runs the statement at hand, and returns the plan of what was executed.
func (s *Session) preparedText(p *plan.Plan) (*plan.Plan, error) {
	if p.Refuse != nil {
		return p, s.refuse(p)
	}
	switch p.Topic {
	case plan.Deallocate:
		switch st := s.statements.byName[p.Name]; {
		case st == nil:
			return p, sqlerr.UnknownStatement.New(p.Name, "DEALLOCATE PREPARE")
		case st.running:
			return p, sqlerr.StatementInUse.New()
		}
		s.statements.removeNamed(p.Name)
		return p, s.ok(s.changed(wire.OK{}))
	case plan.Prepare:
		return p, s.prepareNamed(p.Name)
	case plan.Execute:
		if err := s.needsTables("EXECUTE..USING", false, s.operands("USING")); err != nil {
			return p, err
		}
		st := s.statements.byName[p.Name]
		if st == nil {
			return p, sqlerr.UnknownStatement.New(p.Name, "EXECUTE")
		}
		return s.execute(st, s.operands("USING"))
	}
	for _, at := range [...]struct{ word, clause string }{{"USING", "EXECUTE..USING"}, {"IMMEDIATE", "EXECUTE IMMEDIATE"}} {
		if err := s.needsTables(at.clause, true, s.operands(at.word)); err != nil {
			return p, err
		}
	}
	text, err := s.textBehind("IMMEDIATE")
	if err != nil {
		return p, err
	}
	st, _, err := s.compile(text)
	if err != nil {
		return p, err
	}
	return s.execute(st, s.operands("USING"))
}

// prepareNamed is PREPARE. As on the servers, a statement of the same name is gone even if the new text is wrong, but not if it is the
// PREPARE itself that is wrong, and there is no text.
func (s *Session) prepareNamed(name string) error {
	if err := s.needsTables("PREPARE..FROM", false, s.operands("FROM")); err != nil {
		return err
	}
	text, err := s.textBehind("FROM")
	if err != nil {
		return err
	}
	if st := s.statements.byName[name]; st != nil && st.running {
		return sqlerr.StatementInUse.New()
	}
	s.statements.removeNamed(name)
	st, _, err := s.compile(text)
	if err != nil {
		return err
	}
	s.statements.addNamed(name, st)
	return s.ok(s.changed(wire.OK{Info: []byte("Statement prepared")}))
}

// textBehind returns the text to be prepared that stands behind a word of the statement at hand.
func (s *Session) textBehind(word string) (text []byte, err error) {
	list := s.operands(word)
	if len(list) != 1 {
		err = s.stmt.SyntaxError(len(s.stmt.SQL()))
	} else {
		text, err = s.textOf(list[0])
	}
	if sqlerr.HasCode(err, sqlerr.ParseError) {
		if fault := s.fault(s.anyGroup()); fault != nil {
			return nil, fault // of the whole statement
		}
	}
	return text, err
}

// needsTables is the error by which MariaDB reads no operand that calls a stored function, or has a query over tables in it. immediate: they
// stand in an EXECUTE IMMEDIATE, which has other words for functions.
func (s *Session) needsTables(clause string, immediate bool, list []sqlparse.Span) error {
	if !s.cfg.Dialect.MariaDB() {
		return nil
	}
	for _, operand := range list {
		st := s.cfg.Dialect.NewStatement()
		defer st.Done()
		if st.Scan(scalarText(s.stmt.Text(operand)), s.Mode) != nil {
			continue // which is an error in any case
		}
		if refs, sure := st.Tables(); sure && len(refs) > 0 {
			return sqlerr.SubqueriesNotSupported.New(clause)
		}
		if slices.ContainsFunc(routine.Calls(st), func(n routine.Name) bool { return n.DB != "" || !function.Known(n.Name) }) {
			if immediate {
				clause = "EXECUTE IMMEDIATE"
			}
			return sqlerr.SubqueriesNotSupported.New(clause)
		}
	}
	return nil
}

// operands returns the texts of the expressions behind a word of the statement at hand, up to USING or its end.
func (s *Session) operands(behind string) (list []sqlparse.Span) {
	tokens := s.stmt.Tokens()
	tok := tokens.Next()
	for !s.stmt.Is(tok, behind) {
		if tok.Kind == sqlparse.EOF {
			return nil
		}
		tok = tokens.Next()
	}
	for {
		operand, end := s.stmt.Item(&tokens, "USING")
		if operand.End > 0 {
			list = append(list, operand)
		}
		if !s.stmt.Is(end, ",") {
			return list
		}
	}
}

// textOf returns the text to be prepared that an operand stands for.
func (s *Session) textOf(operand sqlparse.Span) ([]byte, error) {
	tokens := s.stmt.TokensFrom(operand.Start)
	if first := tokens.Next(); !s.cfg.Dialect.MariaDB() && (first.End != operand.End || first.Kind != sqlparse.StringLit && first.Kind != sqlparse.UserVar) {
		return nil, s.stmt.SyntaxError(operand.Start)
	}
	if s.stmt.NumArgs() > 0 && s.stmt.Arg(0).Span == operand {
		if v := s.argument(0); v.Kind == sqltypes.String {
			return v.Raw, nil
		}
	}
	v, err := s.operandValue(operand)
	if err != nil {
		return nil, err
	}
	if v.raw == nil {
		return []byte("NULL"), nil // so servers read it
	}
	if v.number {
		return []byte(v.digits), nil
	}
	return v.raw, nil
}

// operand is the value of one parameter.
type operand struct {
	kind     sqltypes.Type
	unsigned bool
	number   bool
	digits   string // of a number
	raw      []byte // as the binary protocol encodes it, without a length; nil: NULL
	sql      string // for a server that has the session's state
}

// operandValue returns the value of a user variable or, where servers take them, of an expression.
func (s *Session) operandValue(sp sqlparse.Span) (operand, error) {
	tokens := s.stmt.TokensFrom(sp.Start)
	tok := tokens.Next()
	switch alone := tok.End == sp.End; {
	case alone && tok.Kind == sqlparse.UserVar:
		return s.variableOperand(variable.UserName(s.stmt.Text(sp)))
	case !s.cfg.Dialect.MariaDB():
		return operand{}, s.stmt.SyntaxError(sp.Start)
	case alone && (s.stmt.Is(tok, "DEFAULT") || s.stmt.Is(tok, "IGNORE")):
		return operand{}, sqlerr.Unsupported("USING DEFAULT and USING IGNORE", "write DEFAULT, or the column itself, in the statement")
	}
	col, v, err := s.evaluate(s.stmt.Text(sp))
	if err != nil {
		return operand{}, err
	}
	o := numberOperand(col, v)
	o.sql = variable.SystemLiteral(col, v)
	if !col.Type.IsNumber() && v != nil {
		o.sql = s.quoted(string(v))
		if len(v) == 0 && s.Mode&sqlparse.EmptyStringIsNull != 0 {
			o.sql = exec.EmptyString
		}
	}
	return o, nil
}

// scalarText is the SELECT of an expression, whatever comment is at its end.
func scalarText(expr []byte) []byte { return slices.Concat([]byte("SELECT ("), expr, []byte("\n)")) }

// evaluate asks a server for the value of an expression without tables.
func (s *Session) evaluate(expr []byte) (col sqltypes.Column, value []byte, err error) {
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan(scalarText(expr), s.Mode); err != nil {
		return col, nil, err
	}
	if refs, sure := st.Tables(); !sure || len(refs) > 0 || st.Uses()&(sqlparse.Subquery|sqlparse.UserLock|sqlparse.IntoFile) != 0 {
		return col, nil, sqlerr.Unsupported("a subquery or GET_LOCK() as the text or a value of EXECUTE", "assign it to a user variable first")
	}
	if err := planner.Outside(st, s.db); err != nil {
		return col, nil, err
	}
	defer s.use(st)()
	text, err := s.substitute()
	if err != nil {
		return col, nil, err
	}
	if text == nil {
		text = st.SQL()
	}
	c, err := s.Get(s.anyGroup())
	if err != nil {
		return col, nil, err
	}
	s.prepares(c)
	cols, rows, err := c.QueryAll(string(text)+" LIMIT 1", 1) // whatever sql_select_limit says
	s.done(c, err)
	if err != nil {
		return col, nil, txn.Lost(c, err)
	}
	if len(rows) != 1 || len(rows[0]) != 1 {
		return col, nil, sqlerr.Internal.New("an expression gave no value")
	}
	return cols[0], rows[0][0], nil
}

// variableOperand is the value of a user variable, which the session's state has as a literal (see variable.UserLiteral).
func (s *Session) variableOperand(name string) (operand, error) {
	name = "@" + sqltypes.QuoteName(name)
	v, _ := s.state.Get(name)
	o := operand{sql: name}
	switch {
	case v == "" || v == "NULL":
		o.kind = sqltypes.TypeNull
		return o, nil
	case strings.HasPrefix(v, "CAST("):
		n := strings.TrimSuffix(strings.TrimPrefix(v, "CAST("), " AS UNSIGNED)")
		o = numberOperand(sqltypes.Column{Type: sqltypes.TypeLongLong, Flags: sqltypes.FlagUnsigned}, []byte(n))
	case v[0] != '_':
		t := sqltypes.TypeLongLong
		if strings.ContainsAny(v, "eE") {
			t = sqltypes.TypeDouble
		} else if strings.Contains(v, ".") {
			t = sqltypes.TypeNewDecimal
		}
		o = numberOperand(sqltypes.Column{Type: t}, []byte(strings.TrimSuffix(v, ".")))
	default:
		charset, rest, _ := strings.Cut(v[1:], " x'")
		digits, _, _ := strings.Cut(rest, "'")
		raw, err := hex.DecodeString(digits)
		if err != nil {
			return o, sqlerr.Internal.New("value of a user variable")
		}
		o.kind, o.raw = sqltypes.TypeVarString, raw
		switch {
		case charset == "binary":
			o.kind = sqltypes.TypeBlob
		case !s.ForeignCharset && slices.Contains([]string{"utf8mb4", "utf8mb3", "utf8", "ascii"}, charset):
		default:
			_, o.raw, err = s.evaluate([]byte("CONVERT(" + name + " USING " + s.clientCharset() + ")"))
			if err != nil {
				return o, err
			}
		}
	}
	o.sql = name
	return o, nil
}

func (s *Session) clientCharset() string {
	if v, ok := s.state.Get("@@session.`character_set_client`"); ok {
		return strings.Trim(v, "'")
	}
	return "utf8mb4"
}

// numberOperand encodes a value of the text protocol.
func numberOperand(col sqltypes.Column, v []byte) operand {
	o := operand{kind: sqltypes.TypeVarString, raw: v, number: col.Type.IsNumber(), digits: string(v), sql: string(v)}
	switch {
	case v == nil:
		o.kind = sqltypes.TypeNull
	case col.Type == sqltypes.TypeDouble || col.Type == sqltypes.TypeFloat:
		f, _ := strconv.ParseFloat(string(v), 64)
		o.kind, o.raw = sqltypes.TypeDouble, binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))
	case col.Type == sqltypes.TypeNewDecimal || col.Type == sqltypes.TypeDecimal:
		o.kind = sqltypes.TypeNewDecimal
	case o.number && col.Flags&sqltypes.FlagUnsigned != 0:
		n, _ := strconv.ParseUint(string(v), 10, 64)
		o.kind, o.unsigned, o.raw = sqltypes.TypeLongLong, true, binary.LittleEndian.AppendUint64(nil, n)
	case o.number:
		n, _ := strconv.ParseInt(string(v), 10, 64)
		o.kind, o.raw = sqltypes.TypeLongLong, binary.LittleEndian.AppendUint64(nil, uint64(n))
	case col.Charset == 63 && !col.Type.IsTemporal():
		o.kind = sqltypes.TypeBlob
	}
	return o
}

// execute runs st with the values of the operands.
func (s *Session) execute(st *prepared, list []sqlparse.Span) (*plan.Plan, error) {
	if len(list) != st.params {
		return nil, sqlerr.WrongArguments.New("EXECUTE")
	}
	var params *wire.Params
	if st.params > 0 {
		operands := make([]operand, len(list))
		for i, sp := range list {
			var err error
			if operands[i], err = s.operandValue(sp); err != nil {
				return nil, err
			}
			s.using = append(s.using, []byte(operands[i].sql))
			s.usingTargets = append(s.usingTargets, s.assignable(sp))
		}
		if !s.cfg.Dialect.MariaDB() {
			if err := checkLimits(st.stmt, operands); err != nil {
				return nil, err
			}
		}
		if err := s.params.Parse(executePayload(operands), st.params, nil, nil); err != nil {
			return nil, err
		}
		settled, err := st.paramTypes.Settle(&s.params)
		if err != nil {
			return nil, err
		}
		if settled {
			s.using = nil // the values are others
		}
		s.settled = settled
		params = &s.params
	}
	defer func() { s.using, s.usingTargets = nil, nil }()
	if st.running {
		return nil, sqlerr.StatementInUse.New()
	}
	if err := s.readsAlike(st); err != nil {
		return nil, err
	}
	st.running = true
	defer func() { st.running = false }()
	defer s.asPrepared(st)()
	return s.runInside(st.stmt, params)
}

// checkLimits refuses what MySQL does not take for the parameters of LIMIT in EXECUTE, unlike in COM_STMT_EXECUTE: all but integers and NULL.
func checkLimits(st *sqlparse.Statement, operands []operand) error {
	param, limit := 0, false
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		switch {
		case st.Is(tok, "LIMIT"):
			limit = true
		case tok.Kind == sqlparse.Param:
			o := operands[param]
			param++
			switch {
			case !limit || o.kind == sqltypes.TypeNull:
			case o.kind != sqltypes.TypeLongLong:
				return sqlerr.WrongArguments.New("EXECUTE")
			case !o.unsigned && int64(binary.LittleEndian.Uint64(o.raw)) < 0:
				return sqlerr.OutOfRange.New("unsigned integer", "EXECUTE")
			}
		case tok.Kind == sqlparse.IntLit, st.Is(tok, ","), st.Is(tok, "OFFSET"):
		default:
			limit = false
		}
	}
	return nil
}

// executePayload is what a client would send with COM_STMT_EXECUTE.
func executePayload(operands []operand) []byte {
	p := wire.AppendExecuteHead(nil, 0, 0)
	nulls := len(p)
	p = append(p, make([]byte, (len(operands)+7)/8)...)
	p = append(p, 1)
	for i, o := range operands {
		if o.raw == nil {
			p[nulls+i/8] |= 1 << (i % 8)
		}
		sign := byte(0)
		if o.unsigned {
			sign = 0x80
		}
		p = append(p, byte(o.kind), sign)
	}
	for _, o := range operands {
		switch {
		case o.raw == nil:
		case o.kind == sqltypes.TypeLongLong, o.kind == sqltypes.TypeDouble:
			p = append(p, o.raw...)
		default:
			p = wire.AppendLenencString(p, string(o.raw))
		}
	}
	return p
}

// executed names the statement on a backend connection for the time of one EXECUTE.
const executed = "skarv"

// wholeText is the statement at hand for a server: with its parameters filled in, or as an EXECUTE of it on c.
func (s *Session) wholeText(c *backend.Conn) ([]byte, error) {
	if s.using == nil {
		return s.args.AppendStatement(nil), nil
	}
	noEscapes := s.Mode&sqlparse.NoBackslashEscapes != 0
	if s.cfg.Dialect.MariaDB() {
		text := sqltypes.AppendQuoted([]byte("EXECUTE IMMEDIATE "), s.stmt.SQL(), noEscapes)
		return append(append(text, " USING "...), bytes.Join(s.using, []byte(", "))...), nil
	}
	text := sqltypes.AppendQuoted([]byte("PREPARE "+executed+" FROM "), s.stmt.SQL(), noEscapes)
	if _, err := c.Exec(string(text)); err != nil {
		return nil, err
	}
	return append([]byte("EXECUTE "+executed+" USING "), bytes.Join(s.using, []byte(", "))...), nil
}
