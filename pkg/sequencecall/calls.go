// Package sequencecall is what statements of MariaDB ask of sequences: the calls, the text with values in their places, and the last values that a
// session was given. Sequences are on one server. A value may be fetched there, ahead, only where its call is computed once: that is judged here, by
// the text. Who may ask is not, and nobody is asked.
package sequencecall

import (
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/substitution"
)

// Name names a sequence, as the catalog spells names.
type Name struct{ DB, Name string }

// Call asks for a value of a sequence: NEXTVAL(s), LASTVAL(s), SETVAL(s, ...), NEXT VALUE FOR s, PREVIOUS VALUE FOR s.
type Call struct {
	sqlparse.Span
	Function string // NEXTVAL, LASTVAL or SETVAL
	Of       Name
	args     sqlparse.Span // of SETVAL, behind the name
}

// Need is what an account must have on the sequence.
func (c *Call) Need() catalog.Privilege {
	switch c.Function {
	case "LASTVAL":
		return catalog.MaySelect
	case "SETVAL":
		return catalog.MayInsert
	}
	return catalog.MaySelect | catalog.MayInsert
}

// reader reads the calls of one statement.
type reader struct {
	st    *sqlparse.Statement
	db    string
	lower bool
}

// Find returns the calls in a statement whose default database is db; none, if they are not such as can be replaced, each by the value that it has the
// only time that it is computed. lower: names are in lower case (lower_case_table_names). norows: SELECT gives no rows (sql_select_limit).
func Find(st *sqlparse.Statement, db string, lower, norows bool) ([]Call, error) {
	switch st.Kind() {
	case sqlparse.Set, sqlparse.Select, sqlparse.Insert, sqlparse.Replace, sqlparse.Do:
	default:
		return nil, nil
	}
	calls, err := (&reader{st, db, lower}).calls()
	if err != nil || len(calls) == 0 || norows && st.Kind() == sqlparse.Select || !once(st, calls) {
		return nil, err
	}
	return calls, nil
}

func (r *reader) calls() (list []Call, err error) {
	tokens := r.st.Tokens()
	var prev sqlparse.Token
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; prev, tok = tok, tokens.Next() {
		if tok.Kind != sqlparse.Word || r.namesTable(prev) {
			continue
		}
		ahead := tokens
		call := Call{Span: tok.Span}
		var words bool
		if call.Function, words = r.function(tok, &ahead); call.Function == "" {
			continue
		}
		last, ok := r.name(&call.Of, &ahead)
		if ok && !words {
			last, ok = r.arguments(&call, &ahead)
		}
		if !ok {
			return nil, nil // a server says what is wrong
		}
		call.End = last.End
		if call.Of.DB == "" {
			return nil, sqlerr.NoDatabase.New()
		}
		list = append(list, call)
		tokens, tok = ahead, last
	}
	return list, nil
}

// namesTable reports whether what follows prev may be the name of a table, or of a column.
func (r *reader) namesTable(prev sqlparse.Token) bool {
	return slices.ContainsFunc([]string{".", "INTO", "INSERT", "REPLACE", "IGNORE"}, func(w string) bool { return r.st.Is(prev, w) })
}

// function reads the beginning of a call, up to where the name stands; words: it is written NEXT VALUE FOR, or PREVIOUS. "" is no call.
func (r *reader) function(tok sqlparse.Token, tokens *sqlparse.Tokens) (name string, words bool) {
	is := r.st.Is
	for _, name := range []string{"NEXTVAL", "LASTVAL", "SETVAL"} {
		if is(tok, name) && is(tokens.Next(), "(") {
			return name, false
		}
	}
	next := is(tok, "NEXT")
	switch {
	case !next && !is(tok, "PREVIOUS"), !is(tokens.Next(), "VALUE"), !is(tokens.Next(), "FOR"):
		return "", false
	case next:
		return "NEXTVAL", true
	}
	return "LASTVAL", true
}

// name reads the name of a sequence; last is its last token.
func (r *reader) name(n *Name, tokens *sqlparse.Tokens) (last sqlparse.Token, ok bool) {
	name := func() bool {
		last = tokens.Next()
		if last.Kind != sqlparse.Word && last.Kind != sqlparse.QuotedName {
			return false
		}
		n.Name = string(r.st.AppendName(nil, last))
		return true
	}
	if !name() {
		return last, false
	}
	n.DB = r.db
	if ahead := *tokens; r.st.Is(ahead.Next(), ".") {
		n.DB, *tokens = n.Name, ahead
		if !name() {
			return last, false
		}
	}
	if r.lower {
		n.DB, n.Name = strings.ToLower(n.DB), strings.ToLower(n.Name)
	}
	return last, true
}

// arguments reads what stands behind the name, up to the closing parenthesis, which it returns.
func (r *reader) arguments(c *Call, tokens *sqlparse.Tokens) (last sqlparse.Token, ok bool) {
	last = tokens.Next()
	if c.Function != "SETVAL" {
		return last, r.st.Is(last, ")")
	}
	if !r.st.Is(last, ",") {
		return last, false
	}
	c.args.Start = last.End
	for within := last.Depth; ; {
		switch last = tokens.Next(); {
		case last.Kind == sqlparse.EOF || last.Kind == sqlparse.Param:
			return last, false
		case last.Depth < within:
			c.args.End = last.Start
			return last, true
		}
	}
}

// once reports whether calls, all of the statement, are computed once each: it has no tables to read, and no queries in it.
func once(st *sqlparse.Statement, calls []Call) bool {
	end, selects := len(st.SQL()), 0
	switch st.Kind() {
	case sqlparse.Insert, sqlparse.Replace:
		text, ok := st.InsertText()
		if !ok || text.Query {
			return false
		}
		if text.OnDuplicate >= 0 {
			end = text.OnDuplicate
		}
		if at, ok := st.ReturningAt(); ok {
			end = min(end, at)
		}
	case sqlparse.Select:
		selects = 1
	}
	if calls[len(calls)-1].End > end {
		return false
	}
	var prev sqlparse.Token
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF && tok.Start < end; prev, tok = tok, tokens.Next() {
		if tok.Kind != sqlparse.Word || st.Is(prev, ".") {
			continue
		}
		switch strings.ToUpper(string(st.Text(tok.Span))) {
		case "SELECT":
			if selects--; selects < 0 {
				return false
			}
		case "FROM":
			if ahead := tokens; !st.Is(ahead.Next(), "DUAL") {
				return false
			}
		case "WHERE", "HAVING", "GROUP", "ORDER", "LIMIT", "OFFSET", "FETCH", "UNION", "EXCEPT", "INTERSECT", "WITH", "TABLE", "WINDOW", "PROCEDURE":
			return false
		}
	}
	return true
}

// Query is the SELECT of one row that asks for the values of calls, which are st's, in their order.
func Query(st *sqlparse.Statement, calls []Call) string {
	sql := []byte("SELECT ")
	for i := range calls {
		c := &calls[i]
		if i > 0 {
			sql = append(sql, ", "...)
		}
		sql = fmt.Appendf(sql, "%s(%s", c.Function, sqltypes.QuoteIn(c.Of.DB, c.Of.Name))
		if c.args.End > 0 {
			sql = append(append(sql, ", "...), st.Text(c.args)...)
		}
		sql = append(sql, ')')
	}
	return string(append(sql, " LIMIT 1"...)) // whatever sql_select_limit says
}

// Literal is what a server has answered to Query as a literal.
func Literal(answer []byte) string {
	switch {
	case answer == nil:
		return "NULL"
	case answer[0] == '-':
		return " " + string(answer) // not a comment behind a minus
	}
	return string(answer)
}

// Text is the text of a statement with values, which are literals, in the places of its calls.
func Text(st *sqlparse.Statement, calls []Call, values []string) []byte {
	return withValues(st, calls, func(i int) string { return values[i] })
}

// AnyText is a text by which a server can tell what the columns of Text will be.
func AnyText(st *sqlparse.Statement, calls []Call) []byte {
	return withValues(st, calls, func(int) string { return "0" })
}

func withValues(st *sqlparse.Statement, calls []Call, value func(i int) string) []byte {
	edits := make([]substitution.Edit, len(calls))
	for i := range calls {
		v := substitution.Value{Text: value(i), Typed: "NULLIF(%s + 0*10000000000000000, NULL)"} // BIGINT of 20 characters, perhaps NULL
		if v.Text == "NULL" {
			v.Typed = "IF(TRUE, %s, -1000000000000000000)"
		}
		edits[i] = substitution.Edit{Span: calls[i].Span, Value: v}
	}
	return substitution.Text(st, edits)
}
