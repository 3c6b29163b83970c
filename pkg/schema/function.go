package schema

import (
	"context"
	"database/sql"
	"strings"

	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// withFunctions is the SELECT of a view of the database db with the names of the stored functions of that database qualified, as servers show those of
// others: they mean these whatever the default database is of who reads the view.
func (s *Server) withFunctions(ctx context.Context, text, db string) (string, error) {
	names := map[string]bool{}
	err := s.Rows(ctx, func(r *sql.Rows) error {
		var name string
		if err := r.Scan(&name); err != nil {
			return err
		}
		names[sqltypes.FoldName(name)] = true
		return nil
	}, "SELECT routine_name FROM information_schema.routines WHERE routine_type = 'FUNCTION' AND routine_schema = "+sqltypes.Literal(db))
	if err != nil || len(names) == 0 {
		return text, err
	}
	return qualified(text, db, func(name string) bool { return names[sqltypes.FoldName(name)] }), nil
}

// qualified writes db before the names that isFunction and are called in a server's text of a view. Servers quote those of stored functions.
func qualified(text, db string, isFunction func(string) bool) string {
	st := sqlparse.NewDialect(false, "").NewStatement()
	if st.Scan([]byte(text), 0) != nil {
		return text
	}
	var out strings.Builder
	var last [3]sqlparse.Token // before tok
	at := 0
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		name, before := last[2], last[1]
		if st.Is(tok, "(") && name.Kind == sqlparse.QuotedName && !st.Is(before, ".") && !st.Is(before, "WITH") && !st.Is(before, "RECURSIVE") &&
			isFunction(string(st.AppendName(nil, name))) && !namesColumns(st, tok) {
			out.WriteString(text[at:name.Start] + sqltypes.QuoteName(db) + ".")
			at = name.Start
		}
		last = [3]sqlparse.Token{last[1], last[2], tok}
	}
	return out.String() + text[at:]
}

// namesColumns reports whether the parenthesis that opens holds the names of the columns of a common table expression.
func namesColumns(st *sqlparse.Statement, opens sqlparse.Token) bool {
	depth := 0
	tokens := st.TokensFrom(opens.Start)
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		switch {
		case st.Is(tok, "("):
			depth++
		case st.Is(tok, ")"):
			if depth--; depth == 0 {
				return st.Is(tokens.Next(), "AS") && st.Is(tokens.Next(), "(")
			}
		}
	}
	return false
}
