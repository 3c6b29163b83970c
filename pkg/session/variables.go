package session

import (
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/literal"
	"skarv/pkg/planner"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
)

// variables are the parameters and variables of a procedure that is running: columns of a temporary table with one row. An
// assignment is an UPDATE of it, a condition is a SELECT from it; a server computes, converts and complains as it does for
// variables.
type variables struct {
	s     *Session
	table string
	list  []routine.Param
	// hidden reports whether the program's text does not mean a variable by its name where it runs; nil before that.
	hidden func(name string) bool
	// values are the variables as SQL, nil while they have to be read, and readFor is for which statements that is: see literals.
	values  []routine.Value
	readFor literal.Form
	// collations are those of string variables, "" for the rest; nil until somebody needs them.
	collations []string
	// collation is that of string variables that say none; "" if it is not known.
	collation string
	// told are values of user variables that the statement at hand needs, by their names; see exact.
	told map[string]string
	// columns are the variables as servers describe them, nil until they have been read once; foreign are they as they are described to a client
	// of another character set, nil until needed.
	columns, foreign []sqltypes.Column
}

// newVariables makes the variables of a routine in database db; all are NULL.
func (s *Session) newVariables(db string, list []routine.Param) (*variables, error) {
	v := &variables{s: s, list: list, told: map[string]string{}, table: fmt.Sprintf("%s.`program_%d`", sqltypes.QuoteName(catalog.OwnDB), s.calls.made)}
	s.calls.made++
	c, err := s.calls.connection(s)
	if err != nil {
		return nil, err
	}
	var sql strings.Builder
	sql.WriteString("CREATE TEMPORARY TABLE " + v.table + " (`skarv row` INT NULL")
	list = slices.Clone(list)
	for i := range list {
		p := &list[i]
		if p.Type, err = s.typeOf(p.Type, db, list[:i]); err != nil {
			return nil, err
		}
		fmt.Fprintf(&sql, ", %s %s NULL DEFAULT NULL", sqltypes.QuoteName(p.Name), p.Type)
	}
	v.list = list
	sql.WriteString(")")
	if d := s.snap.Databases[db]; d != nil && d.Charset != "" {
		fmt.Fprintf(&sql, " DEFAULT CHARACTER SET %s COLLATE %s", d.Charset, d.Collation)
		v.collation = routine.Collation(d.Collation)
	}
	for _, q := range []string{sql.String(), "INSERT INTO " + v.table + " (`skarv row`) VALUES (1)"} {
		if _, err := c.Exec(q); err != nil {
			return nil, txn.Lost(c, err)
		}
	}
	return v, nil
}

// typeOf is the type that MariaDB's TYPE OF table.column, or TYPE OF variable, stands for; any other type is itself, written anew from
// its words: no server has seen it before, and it becomes part of a definition.
func (s *Session) typeOf(text, db string, before []routine.Param) (string, error) {
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan([]byte(text), s.Mode); err != nil {
		return "", err
	}
	tokens := st.Tokens()
	if !st.Is(tokens.Next(), "TYPE") || !st.Is(tokens.Next(), "OF") {
		return writtenType(st)
	}
	var names []string
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if !st.Is(tok, ".") {
			names = append(names, string(st.AppendName(nil, tok)))
		}
	}
	switch len(names) {
	case 1:
		for _, p := range before {
			if routine.Same(p.Name, names[0]) {
				return p.Type, nil
			}
		}
		return "", sqlerr.Unsupported("TYPE OF a whole row, or of a variable that is declared later", "write the type")
	case 2:
		names = append([]string{db}, names...)
	}
	if len(names) != 3 {
		return "", st.SyntaxError(0)
	}
	if err := s.check(names[0], names[1], catalog.MaySelect); err != nil {
		return "", err
	}
	t := s.snap.Table(names[0], names[1])
	if t == nil {
		return "", sqlerr.NoSuchTable.New(names[0], names[1])
	}
	c := t.Column(names[2])
	if c < 0 {
		return "", sqlerr.UnknownColumn.New(names[2], names[1])
	}
	return variableType(&t.Columns[c]), nil
}

// writtenType is the type that st is, and nothing else: words of types with numbers or strings in parentheses, a character set and a
// collation.
func writtenType(st *sqlparse.Statement) (string, error) {
	var out []byte
	named, inside := false, false // a name is expected; within parentheses
	tokens := st.Tokens()
	var last sqlparse.Token
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; last, tok = tok, tokens.Next() {
		text := strings.ToLower(string(st.Text(tok.Span)))
		switch {
		case named && (tok.Kind == sqlparse.Word || tok.Kind == sqlparse.QuotedName || tok.Kind == sqlparse.StringLit):
			named = false
		case inside && (tok.Kind == sqlparse.IntLit || tok.Kind == sqlparse.StringLit || tok.Kind == sqlparse.NStringLit ||
			tok.Kind == sqlparse.HexLit || st.Is(tok, ",")):
		case !inside && st.Is(tok, "(") && last.Kind == sqlparse.Word:
			inside = true
		case inside && st.Is(tok, ")"):
			inside = false
		case tok.Kind == sqlparse.Word && !inside && typeWord(text):
			named = text == "collate" || text == "charset" || text == "set" && last.End > 0 && typeOfCharacters(st, last)
		default:
			return "", st.SyntaxError(tok.Start)
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, st.Text(tok.Span)...)
	}
	if named || inside || len(out) == 0 {
		return "", st.SyntaxError(len(st.SQL()))
	}
	return string(out), nil
}

// typeOfCharacters reports whether a SET behind a word is that of CHARACTER SET: else it is a type.
func typeOfCharacters(st *sqlparse.Statement, before sqlparse.Token) bool {
	return st.Is(before, "CHARACTER") || st.Is(before, "CHAR")
}

// typeWord tells the words of which types are made.
func typeWord(word string) bool {
	switch word {
	case "int", "integer", "tinyint", "smallint", "mediumint", "middleint", "bigint", "int1", "int2", "int3", "int4", "int8", "bool", "boolean",
		"bit", "decimal", "dec", "numeric", "fixed", "number", "float", "float4", "float8", "double", "precision", "real", "unsigned", "signed",
		"zerofill":
		return true
	case "date", "time", "datetime", "timestamp", "year", "json", "uuid", "inet4", "inet6", "vector", "geometry", "point", "linestring",
		"polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection":
		return true
	case "char", "character", "nchar", "national", "varchar", "varchar2", "varcharacter", "nvarchar", "varying", "binary", "varbinary", "raw",
		"byte", "tinyblob", "blob", "mediumblob", "longblob", "tinytext", "text", "mediumtext", "longtext", "long", "clob", "enum", "set",
		"ascii", "unicode", "charset", "collate":
		return true
	}
	return false
}

func (v *variables) drop() {
	if c := v.s.calls; c != nil && c.conn != nil && c.conn.Usable() {
		if _, err := c.conn.Exec("DROP TEMPORARY TABLE IF EXISTS " + v.table); err != nil {
			c.conn.Interrupt()
		}
	}
}

// at is the place of a variable, or -1.
func (v *variables) at(name string) int {
	for i, p := range v.list {
		if routine.Same(p.Name, name) {
			return i
		}
	}
	return -1
}

// has reports whether a name in the program's text is that of a variable where it runs.
func (v *variables) has(name string) bool {
	return v.at(name) >= 0 && (v.hidden == nil || !v.hidden(name))
}

// exec runs a statement over the table of variables, in the session's state.
func (v *variables) exec(text string) error {
	return v.with(text, func(sql string) error {
		c := v.s.calls.conn
		ok, err := c.Exec(sql)
		if e, refused := err.(*sqlerr.Error); refused {
			return &sqlerr.Error{Code: e.Code, State: e.State, Message: v.inNoRow(e.Message)}
		} else if err != nil {
			return err
		}
		v.s.diagnostics.Clear()
		if ok.Warnings > 0 {
			v.s.fetchWarnings(c, ok.Warnings)
			for i := range v.s.diagnostics.Conditions {
				w := &v.s.diagnostics.Conditions[i]
				w.Message = v.inNoRow(w.Message)
			}
		}
		return nil
	})
}

// inNoRow words an error or a warning of an assignment as MariaDB does those of variables, which are in no table and in no row.
func (v *variables) inNoRow(message string) string {
	if !v.s.cfg.Dialect.MariaDB() {
		return message
	}
	message = strings.Replace(message, v.table+".", "``.``.", 1)
	if said, _, ok := strings.Cut(message, " at row "); ok {
		message = said + " at row 0"
	}
	return message
}

// take assigns literals of what columns hold, which any sql_mode takes: no mode of the session's makes it other values.
func (v *variables) take(sets string) error {
	c := v.s.calls.conn
	if err := c.Extend(v.s.writingState()); err != nil {
		return txn.Lost(c, err)
	}
	sql := "UPDATE /*+ SET_VAR(sql_mode = 'ALLOW_INVALID_DATES') */ " + v.table + " SET " + sets
	if v.s.cfg.Dialect.MariaDB() {
		sql = "SET STATEMENT sql_mode = _utf8mb4'ALLOW_INVALID_DATES' FOR UPDATE " + v.table + " SET " + sets
	}
	v.s.client.Enter(c)
	_, err := c.Exec(sql)
	v.s.client.Leave(c)
	if err != nil {
		return txn.Lost(c, err)
	}
	return nil
}

// query reads one row from the table of variables.
func (v *variables) query(text string) (cols []sqltypes.Column, row [][]byte, err error) {
	err = v.with(text, func(sql string) error {
		c := v.s.calls.conn
		var rows [][][]byte
		if cols, rows, err = c.QueryAll(sql, 1); err != nil {
			return err
		}
		if len(rows) != 1 {
			return sqlerr.Internal.New("the variables of a procedure are not one row")
		}
		row = rows[0]
		return nil
	})
	return cols, row, err
}

// with brings the connection into the session's state and gives do the text with values for session functions.
func (v *variables) with(text string, do func(sql string) error) error {
	s := v.s
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan([]byte(text), s.Mode); err != nil {
		return err
	}
	if err := planner.Outside(st, s.db); err != nil {
		return err
	}
	back := s.use(st)
	sub, err := s.substitute()
	back()
	if err != nil {
		return err
	}
	if sub != nil {
		text = string(sub)
	}
	if err := s.differsByState(st); err != nil {
		return err
	}
	c := s.calls.conn
	if err := c.Extend(s.writingState()); err != nil {
		return txn.Lost(c, err)
	}
	s.client.Enter(c)
	err = do(text)
	s.client.Leave(c)
	if err != nil {
		return txn.Lost(c, err)
	}
	return nil
}

// expression tells how an expression is computed: by the table of variables, or, since it reads tables, as a statement of its
// own. of are the variables that it names; nil: it is a literal.
func (s *Session) expression(expr string, of *variables) (plain bool, err error) {
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan([]byte("SELECT "+expr), s.Mode); err != nil {
		return false, err
	}
	if st.Uses()&sqlparse.WritesUserVariable != 0 {
		return false, sqlerr.Unsupported("assigning user variables in an expression of a stored program", "use SET")
	}
	refs, sure := st.Tables()
	return sure && len(refs) == 0 && !planner.ReadsTables(st, s.db, s.snap) && st.Uses()&(sqlparse.UserLock|sqlparse.IntoFile|sqlparse.Sequence) == 0 &&
		!of.hides(st), nil
}

// hides reports whether st has the name of a variable that it cannot mean: the table of variables has it all the same.
func (v *variables) hides(st *sqlparse.Statement) bool {
	if v == nil || v.hidden == nil {
		return false
	}
	for tokens := st.Tokens(); ; {
		switch tok := tokens.Next(); tok.Kind {
		case sqlparse.EOF:
			return false
		case sqlparse.Word, sqlparse.QuotedName:
			if name := string(st.AppendName(nil, tok)); v.at(name) >= 0 && v.hidden(name) {
				return true
			}
		}
	}
}

// assign makes the value of an expression that of a variable. Names in it are variables of from; nil: it is a literal.
func (v *variables) assign(name, expr string, from *activation) error {
	var of *variables
	if from != nil {
		of = from.vars
	}
	plain, err := v.s.expression(expr, of)
	if err != nil {
		return err
	}
	var told []diagnostics.Condition // of computing the value
	switch {
	case !plain:
		v.s.diagnostics.Conditions = nil
		if expr, err = v.s.valueOf(expr, from, literal.IsBinary(v.list[v.at(name)].Type)); err != nil {
			return err
		}
		if fault := v.s.strictly(v.s.diagnostics.Conditions); fault != nil {
			return fault
		}
		told = slices.Clone(v.s.diagnostics.Conditions)
	case of != nil && of != v:
		expr = "(SELECT " + expr + " FROM " + of.table + ")"
	}
	v.values = nil
	err = v.exec("UPDATE " + v.table + " SET " + sqltypes.QuoteName(v.list[v.at(name)].Name) + " = " + expr + " LIMIT 1")
	if len(told) > 0 {
		v.s.diagnostics.Conditions = append(told, v.s.diagnostics.Conditions...)
	}
	return err
}

// valueOf computes an expression that reads tables; names in it are variables of from. The result is SQL. bytes: the bytes of a string
// matter, so that it is in its own character set.
func (s *Session) valueOf(expr string, from *activation, bytes bool) (string, error) {
	text := []byte("SELECT " + expr)
	if from != nil {
		var err error
		if text, err = from.vars.fill(text, bytes); err != nil {
			return "", err
		}
	}
	text, err := s.sharedReads(text)
	if err != nil {
		return "", err
	}
	take := &capture{limit: 1}
	if err := s.forValue(func() error { return s.selects(text, take, bytes) }); err != nil {
		return "", err
	}
	if len(take.rows) != 1 || len(take.columns) != 1 {
		return "", sqlerr.Internal.New("an expression of a procedure gave no value")
	}
	if bytes {
		return s.originalText(take.columns[0], take.rows[0][0])
	}
	return s.valueText(take.columns[0], take.rows[0][0])
}

// test tells whether an expression is true.
func (v *variables) test(expr string, a *activation) (bool, error) {
	plain, err := v.s.expression(expr, v)
	if err != nil {
		return false, err
	}
	if !plain {
		value, err := v.s.valueOf("("+expr+") IS TRUE", a, false)
		return value == "1", err
	}
	_, row, err := v.query("SELECT (" + expr + ") IS TRUE FROM " + v.table)
	if err != nil {
		return false, err
	}
	if c := v.s.calls.conn; c.LastWarnings() > 0 {
		v.s.fetchWarnings(c, c.LastWarnings())
	}
	return string(row[0]) == "1", nil
}

// literal is the value of a variable as SQL of the session as it is now.
func (v *variables) literal(name string) (routine.Value, error) {
	if v.values == nil || v.readFor != v.s.literals() {
		if err := v.read(); err != nil {
			return routine.Value{}, err
		}
	}
	return v.values[v.at(name)], nil
}

// typed is the value of a variable as SQL that has the variable's type, also if it is NULL.
func (v *variables) typed(name string) (routine.Value, error) {
	value, err := v.literal(name)
	if err != nil {
		return value, err
	}
	if value.Collation != "" {
		return routine.Value{Text: literal.Assigned(value.Text, value.Collation)}, nil
	}
	if value.Text != literal.Null {
		return value, nil
	}
	return routine.Value{Text: literal.NullOf(&v.columns[v.at(name)])}, nil
}

// fill puts the values of variables into a statement. selected: collations of the result's columns matter.
func (v *variables) fill(text []byte, selected bool) (filled []byte, err error) {
	st := v.s.cfg.Dialect.NewStatement()
	if err := st.Scan(text, v.s.Mode); err != nil {
		return nil, err
	}
	value := func(name string) (routine.Value, bool, error) {
		if !v.has(name) {
			return routine.Value{}, false, nil
		}
		value, err := v.literal(name)
		return value, true, err
	}
	names := routine.Names{Variable: value, Column: v.s.columnOf(st), Selected: selected}
	if st.Kind() != sqlparse.Create {
		if filled, err = routine.Fill(st, names); err != nil {
			return nil, err
		}
		return filled, v.tell()
	}
	back := v.s.use(st)
	c, ok := v.s.findCreateSelect()
	back()
	if !ok || !createsTable(st) {
		return text, nil
	}
	query := v.s.cfg.Dialect.NewStatement()
	defer query.Done()
	if err := query.Scan(text[c.query.Start:c.query.End], v.s.Mode); err != nil {
		return nil, err
	}
	names.Column = v.s.columnOf(query)
	if filled, err = routine.FillCreated(query, names); err != nil {
		return nil, err
	}
	return slices.Concat(text[:c.query.Start], filled, text[c.query.End:]), v.tell()
}

// createsTable reports whether st is a CREATE TABLE of any kind.
func createsTable(st *sqlparse.Statement) bool {
	tokens := st.Tokens()
	tokens.Next()
	for {
		switch t := tokens.Next(); {
		case st.Is(t, "TABLE"):
			return true
		case !st.Is(t, "OR") && !st.Is(t, "REPLACE") && !st.Is(t, "TEMPORARY"):
			return false
		}
	}
}

// shown are those columns of a SELECT, by their places, that are variables, as servers describe variables: what is filled in for one says
// less of its type, and nothing of whether it may be NULL. It is for a statement that has been filled. Behind a * the places are not
// known, and the columns of a UNION are those of all its queries.
func (v *variables) shown(st *sqlparse.Statement) (list map[int]sqltypes.Column, err error) {
	if st.Kind() != sqlparse.Select || v.columns == nil {
		return nil, nil
	}
	var columns []sqltypes.Column
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if st.Is(tok, "UNION") || st.Is(tok, "EXCEPT") || st.Is(tok, "INTERSECT") {
			return nil, nil
		}
	}
	for i, it := range st.SelectItems(nil) {
		if it.Star {
			break
		}
		tokens := st.TokensFrom(it.Expr.Start)
		tok := tokens.Next()
		if tok.Kind != sqlparse.Word && tok.Kind != sqlparse.QuotedName {
			continue
		}
		name := string(st.AppendName(nil, tok))
		if at := v.at(name); tok.End == it.Expr.End && v.has(name) && !literal.KindOf(v.list[at].Type, v.s.cfg.Dialect.MariaDB()).Converted() {
			if list == nil {
				list = map[int]sqltypes.Column{}
			}
			if columns == nil {
				if columns, err = v.described(); err != nil {
					return nil, err
				}
			}
			list[i] = columns[at]
		}
	}
	return list, nil
}

// described are the variables as the client is told of them.
func (v *variables) described() (columns []sqltypes.Column, err error) {
	if v.s.calls.results == "" {
		return v.columns, nil
	}
	if v.foreign == nil {
		back, err := v.s.clientResults()
		if err != nil {
			return nil, err
		}
		defer back()
		cols, _, err := v.query("SELECT * FROM " + v.table)
		if err != nil {
			return nil, err
		}
		v.foreign = cols[1:] // without the one that every row has
	}
	return v.foreign, nil
}

// show runs a SELECT without tables over the variables, so that the client sees their types. ok is false for other statements.
func (v *variables) show(text []byte) (ok bool, err error) {
	s := v.s
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan(text, s.Mode); err != nil {
		return false, err
	}
	list, found := st.SelectList()
	if refs, sure := st.Tables(); st.Kind() != sqlparse.Select || !found || !sure || len(refs) > 0 || v.hides(st) || planner.ReadsTables(st, s.db, s.snap) ||
		st.Uses()&^(sqlparse.ReadsUserVariable|sqlparse.ReadsSystemVariable|sqlparse.Nondeterministic|sqlparse.Pipes|sqlparse.Not|
			sqlparse.ReadsDiagnostics|sqlparse.ReadsLastInsertID|sqlparse.ReadsSession) != 0 {
		return false, nil
	}
	tokens := st.TokensFrom(list.End)
	if tok := tokens.Next(); tok.Kind != sqlparse.EOF {
		return false, nil
	}
	for _, it := range st.SelectItems(nil) {
		if it.Star {
			return false, nil
		}
	}
	sql := string(st.SQL()) + " FROM " + v.table
	inner := s.cfg.Dialect.NewStatement()
	defer inner.Done()
	if err := inner.Scan([]byte(sql), s.Mode); err != nil {
		return false, err
	}
	back, err := s.clientResults()
	if err != nil {
		return false, err
	}
	defer back()
	return true, v.with(sql, func(sql string) error {
		c := s.calls.conn
		cols, rows, err := c.QueryAll(sql, 1)
		for i := range cols {
			cols[i].Schema, cols[i].Table, cols[i].OrgTable = "", "", ""
		}
		if err != nil && cols != nil { // which the client has by then, too
			if begun := s.newOutput().Columns(cols); begun != nil {
				return begun
			}
		}
		if err != nil {
			return err
		}
		s.diagnostics.Clear()
		if c.LastWarnings() > 0 {
			s.fetchWarnings(c, c.LastWarnings())
		}
		return s.sendRows(cols, rows)
	})
}
