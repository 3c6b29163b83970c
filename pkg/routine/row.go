package routine

import (
	"slices"
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// Row is the columns of OLD and NEW that the body of a trigger names.
type Row struct{ Old, New []string }

// RowText is the CREATE TRIGGER with each NEW.x and OLD.x of its body as one quoted name, that of a variable (RowVariable). column
// returns a column's own name, or "" if there is none of that name, which is an error of the servers.
func (p *Program) RowText(column func(name string) string) (text string, row Row, err error) {
	st, event := p.st, p.Event
	sql := string(st.SQL())
	var out strings.Builder
	at := 0
	tokens := st.TokensFrom(p.BodyAt)
	var last sqlparse.Token
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; last, tok = tok, tokens.Next() {
		which := ""
		switch {
		case tok.Kind != sqlparse.Word && tok.Kind != sqlparse.QuotedName || st.Is(last, "."):
		case strings.EqualFold(string(st.AppendName(nil, tok)), "NEW"):
			which = "NEW"
		case strings.EqualFold(string(st.AppendName(nil, tok)), "OLD"):
			which = "OLD"
		}
		if which == "" {
			continue
		}
		ahead := tokens
		if !st.Is(ahead.Next(), ".") {
			continue
		}
		field := ahead.Next()
		if field.Kind != sqlparse.Word && field.Kind != sqlparse.QuotedName {
			continue
		}
		if which == "NEW" && event == "DELETE" || which == "OLD" && event == "INSERT" {
			return "", row, sqlerr.NoSuchRowInTrigger.New(which, event)
		}
		written := string(st.AppendName(nil, field))
		name := column(written)
		if name == "" {
			return "", row, sqlerr.UnknownColumn.New(written, which)
		}
		list := &row.New
		if which == "OLD" {
			list = &row.Old
		}
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
		out.WriteString(sql[at:tok.Start] + "`" + strings.ReplaceAll(RowVariable(which, name), "`", "``") + "`")
		tokens, tok, at = ahead, field, field.End
	}
	out.WriteString(sql[at:])
	return out.String(), row, nil
}

// RowVariable is the name of the variable for a column of OLD or NEW.
func RowVariable(which, column string) string { return which + "." + column }

// Judge tells what the program of a trigger that a session runs may not do. The errors are those of the servers for what no
// trigger may do, else 1235. assigns are the columns of NEW that it assigns, as written.
func (p *Program) Judge() (assigns []string, err error) {
	if _, err := p.Variables(); err != nil {
		return nil, err
	}
	cursors := map[*SQL]bool{}
	err = Walk(p.Body, func(s Statement) error {
		switch s := s.(type) {
		case *Block:
			for _, c := range s.Cursors {
				cursors[c.Query] = true
			}
		case *Return:
			return sqlerr.ReturnOutsideFunction.New()
		case *Set:
			if s.Whole {
				return sqlerr.Unsupported(p.Text(s.Span)+" in triggers", "set it in the session")
			}
			for _, a := range s.Assignments {
				row, column, isRow := strings.Cut(strings.ToLower(a.Target), ".")
				switch {
				case isRow && row == "old":
					return sqlerr.RowNotAssignable.New("OLD", "trigger")
				case isRow && row == "new" && p.Timing == "AFTER":
					return sqlerr.RowNotAssignable.New("NEW", "after trigger")
				case isRow && row == "new":
					if !slices.Contains(assigns, column) {
						assigns = append(assigns, column)
					}
				case !strings.HasPrefix(a.Target, "@") && !p.declares(a.Target), strings.HasPrefix(a.Target, "@@"):
					return sqlerr.Unsupported("SET "+a.Target+" in triggers", "assign columns of NEW, user variables and variables that are declared there")
				}
			}
		case *SQL:
			if cursors[s] {
				return nil
			}
			if s.Verb == "CALL" && p.Timing == "BEFORE" { // which may have OUT parameters
				for _, column := range p.given(s) {
					if !slices.Contains(assigns, column) {
						assigns = append(assigns, column)
					}
				}
			}
			return p.judgeSQL(s)
		}
		return nil
	})
	return assigns, err
}

// given are the columns of NEW that are arguments of a CALL, in lower case.
func (p *Program) given(s *SQL) (columns []string) {
	st := p.st
	tokens := st.TokensFrom(s.Start)
	for before := tokens.Next(); before.End < s.End; before = tokens.Next() {
		if !st.Is(before, "(") && !st.Is(before, ",") {
			continue
		}
		ahead := tokens
		row, dot, column, behind := ahead.Next(), ahead.Next(), ahead.Next(), ahead.Next()
		if isName(row) && strings.EqualFold(string(st.AppendName(nil, row)), "NEW") && st.Is(dot, ".") && isName(column) &&
			(st.Is(behind, ",") || st.Is(behind, ")")) {
			columns = append(columns, strings.ToLower(string(st.AppendName(nil, column))))
		}
	}
	return columns
}

func (p *Program) judgeSQL(s *SQL) error {
	switch s.Verb {
	case "INSERT", "REPLACE", "UPDATE", "DELETE", "CALL", "SIGNAL", "RESIGNAL", "GET", "DO":
		return nil
	case "SELECT", "WITH":
		st := p.st.Dialect().NewStatement()
		if err := st.Scan([]byte(p.Text(s.Span)), p.st.Mode()); err != nil {
			return err
		}
		names, _, ok := Into(st)
		if !ok {
			return sqlerr.NoResultSetInProgram.New(p.Kind)
		}
		for _, n := range names {
			if strings.EqualFold(n, "NEW") || strings.EqualFold(n, "OLD") {
				return sqlerr.UndeclaredVariable.New(n)
			}
		}
		return nil
	case "PREPARE", "EXECUTE", "DEALLOCATE":
		return sqlerr.DynamicSQLInFunction.New()
	case "CREATE", "DROP":
		if words := strings.Fields(p.Text(s.Span)); len(words) > 1 && strings.EqualFold(words[1], "TEMPORARY") { // commits nothing
			return sqlerr.Unsupported(strings.ToUpper(words[0])+" TEMPORARY TABLE in triggers", "use a procedure")
		}
		return NoCommit()
	case "COMMIT", "START", "ALTER", "TRUNCATE", "RENAME", "LOCK", "UNLOCK", "GRANT", "REVOKE", "ANALYZE":
		return NoCommit()
	}
	return sqlerr.Unsupported(s.Verb+" in triggers", "send the statement from the client")
}

// NoCommit is the servers' error for a commit inside of a trigger.
func NoCommit() *sqlerr.Error {
	return sqlerr.CommitInFunction.New()
}
