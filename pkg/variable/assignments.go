package variable

import (
	"slices"
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// Assignments is what a SET statement assigns.
type Assignments struct {
	User   []string // names of user variables, without @
	System []string // names of session variables, lower case
	// Transaction is what SET SESSION TRANSACTION says, in upper case; "" for other forms.
	Transaction string
}

// Parse reads "[SESSION] name = expr, @x := expr, NAMES utf8mb4, ..." after SET. The error is a *Global, or an *sqlerr.Error.
func Parse(stmt *sqlparse.Statement, tokens sqlparse.Tokens, mariadb bool) (a Assignments, err error) {
	for {
		tok := tokens.Next()
		switch {
		case tok.Kind == sqlparse.EOF:
			return a, nil // the server has the error to tell
		case tok.Kind == sqlparse.UserVar:
			a.User = append(a.User, UserName(stmt.Text(tok.Span)))
		case tok.Kind == sqlparse.SysVar:
			name := strings.ToLower(strings.TrimPrefix(string(stmt.Text(tok.Span)), "@@"))
			scope, rest, scoped := strings.Cut(name, ".")
			if !scoped {
				rest = name
			} else if scope != "session" && scope != "local" {
				return a, &Global{Scope: scope, Name: strings.Trim(rest, "`")}
			}
			a.System = append(a.System, strings.Trim(rest, "`"))
		case stmt.Is(tok, "PASSWORD"), stmt.Is(tok, "ROLE"), stmt.Is(tok, "DEFAULT"):
			return a, sqlerr.Unsupported("SET "+strings.ToUpper(string(stmt.Text(tok.Span))),
				"use skarvctl user: accounts are kept by the cluster")
		case stmt.Is(tok, "NAMES"):
			a.System = append(a.System, "character_set_client", "character_set_results", "collation_connection")
		case stmt.Is(tok, "CHARACTER"), stmt.Is(tok, "CHARSET"):
			a.System = append(a.System, "character_set_client", "character_set_results", "collation_connection")
		case stmt.Is(tok, "GLOBAL"), stmt.Is(tok, "PERSIST"), stmt.Is(tok, "PERSIST_ONLY"):
			name := tokens.Next()
			if behind := tokens; stmt.Is(behind.Next(), ".") {
				return a, &Global{string(stmt.Text(tok.Span)), string(stmt.Text(name.Span)), true}
			}
			if stmt.Is(name, "TRANSACTION") {
				return a, &Global{string(stmt.Text(tok.Span)), "TRANSACTION", true}
			}
			return a, &Global{Scope: string(stmt.Text(tok.Span)), Name: string(stmt.AppendName(nil, name))}
		case stmt.Is(tok, "SESSION"), stmt.Is(tok, "LOCAL"):
			name := tokens.Next()
			if stmt.Is(name, "TRANSACTION") {
				a.System = append(a.System, Isolation(mariadb)...)
				a.Transaction = strings.ToUpper(string(stmt.SQL()[name.End:]))
				return a, nil // behind its commas stand isolation level and access mode
			}
			a.System = append(a.System, strings.ToLower(string(stmt.AppendName(nil, name))))
		default:
			a.System = append(a.System, strings.ToLower(string(stmt.AppendName(nil, tok))))
		}
		if n := len(a.System); n > 0 && a.System[n-1] == "character_set_connection" {
			a.System[n-1] = "collation_connection" // it sets the collation, too, which says more
		}
		if !SkipToComma(stmt, &tokens) {
			return a, nil
		}
	}
}

// skipToComma goes on behind the next comma outside of parentheses; false at the end.
func SkipToComma(stmt *sqlparse.Statement, tokens *sqlparse.Tokens) bool {
	_, end := stmt.Item(tokens, "")
	return stmt.Is(end, ",")
}

// Global is the error of Parse where a variable that is not the session's is assigned.
type Global struct {
	Scope, Name string
	Known       bool // it is no variable of which servers may say that there is none
}

// Error implements error.
func (g *Global) Error() string { return g.Refused().Error() }

// Refused is what the client is told, if there is such a variable.
func (g *Global) Refused() error {
	return sqlerr.Unsupported("SET "+strings.ToUpper(g.Scope)+" "+g.Name,
		"change server settings on the servers of each node group, or the variable for the session")
}

// LeftOfNext is the SET TRANSACTION for the next transaction once a has been assigned to the session: its isolation level or its
// access mode is then the session's.
func (a *Assignments) LeftOfNext(next string) string {
	level, mode := strings.Contains(a.Transaction, "ISOLATION"), strings.Contains(a.Transaction, "READ ONLY") || strings.Contains(a.Transaction, "READ WRITE")
	if a.Transaction == "" {
		level = slices.Contains(a.System, "tx_isolation") || slices.Contains(a.System, "transaction_isolation")
		mode = slices.Contains(a.System, "tx_read_only") || slices.Contains(a.System, "transaction_read_only")
	}
	if !level && !mode {
		return next
	}
	upper := strings.Join(strings.Fields(strings.ToUpper(next)), " ")
	var left []string
	if l := IsolationLevel(upper); l != "" && !level {
		left = append(left, "ISOLATION LEVEL "+l)
	}
	for _, m := range []string{"READ ONLY", "READ WRITE"} {
		if strings.Contains(upper, m) && !mode {
			left = append(left, m)
		}
	}
	if len(left) == 0 {
		return ""
	}
	return "SET TRANSACTION " + strings.Join(left, ", ")
}
