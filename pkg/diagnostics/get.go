package diagnostics

import (
	"strconv"
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// Get is GET [CURRENT | STACKED] DIAGNOSTICS.
type Get struct {
	Stacked bool
	// Number is that of the condition that is asked for: a literal, or a user variable; "" if the statement itself is asked for.
	Number string
	// Targets are the user variables, as they are written, that take what is asked for.
	Targets []string
	items   []string // of each target
}

// ReadGet reads the statement. MariaDB has no STACKED.
func ReadGet(st *sqlparse.Statement) (g Get, err error) {
	mariadb := st.Dialect().MariaDB()
	tokens := st.Tokens()
	tokens.Next() // GET
	tok := tokens.Next()
	if g.Stacked = st.Is(tok, "STACKED") && !mariadb; g.Stacked || st.Is(tok, "CURRENT") {
		tok = tokens.Next()
	}
	if !st.Is(tok, "DIAGNOSTICS") {
		return g, st.SyntaxError(tok.Start)
	}
	if tok = tokens.Next(); st.Is(tok, "CONDITION") {
		number := tokens.Next()
		if number.Kind != sqlparse.UserVar && number.Kind != sqlparse.IntLit {
			return g, sqlerr.Unsupported("a condition number that is no number or user variable", "write the number")
		}
		g.Number = string(st.Text(number.Span))
		tok = tokens.Next()
	}
	for {
		equals, item := tokens.Next(), tokens.Next()
		if tok.Kind != sqlparse.UserVar || !st.Is(equals, "=") {
			return g, st.SyntaxError(tok.Start)
		}
		name := strings.ToUpper(string(st.Text(item.Span)))
		switch {
		case g.knows(name, mariadb):
		case name == "ROW_NUMBER" && g.Number != "" && mariadb:
			return g, sqlerr.Unsupported("ROW_NUMBER of a condition", "MESSAGE_TEXT names the row where the server does")
		default:
			return g, st.SyntaxError(item.Start)
		}
		g.Targets, g.items = append(g.Targets, string(st.Text(tok.Span))), append(g.items, name)
		next := tokens.Next()
		if next.Kind == sqlparse.EOF {
			return g, nil
		}
		if !st.Is(next, ",") {
			return g, st.SyntaxError(next.Start)
		}
		tok = tokens.Next()
	}
}

// knows reports whether there is an item of that name.
func (g *Get) knows(item string, mariadb bool) (ok bool) {
	if g.Number != "" {
		_, ok = new(Condition).item(item, mariadb)
	} else {
		_, ok = new(Area).item(item)
	}
	return ok
}

// Values are what area says of each target, as literals. number is g.Number, or what the user variable holds that it names. found is false if there
// is no such condition.
func (g *Get) Values(area *Area, number string, mariadb bool) (values []string, found bool) {
	item := area.item
	if g.Number != "" {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(area.Conditions) {
			return nil, false
		}
		item = func(name string) (string, bool) { return area.Conditions[n-1].item(name, mariadb) }
	}
	for _, name := range g.items {
		value, _ := item(name)
		values = append(values, value)
	}
	return values, true
}

// NoSuchCondition is the condition that a GET DIAGNOSTICS raises that asks for one that is not there.
func NoSuchCondition() Condition {
	return Condition{Level: Error, Code: 1758, Message: "Invalid condition number"}
}
