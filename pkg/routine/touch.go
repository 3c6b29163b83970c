package routine

import (
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// Touches is what a body that writes no tables touches beside its parameters and variables.
type Touches struct {
	// Volatile: two calls with the same arguments may give different values: the clock, RAND(), UUID() and their like.
	Volatile bool
	// Calls are the functions that it calls, those of the servers among them.
	Calls []Name
	// Sets are the columns of NEW that a trigger assigns, as written.
	Sets []string
	// Reads are the tables that a function reads, as often as a server opens them for it: those that two of its statements name alike once.
	Reads []Name
	// Values are those that its expressions read (of RETURN, SET, IF, ...), and Queries those that its SELECTs and cursors do.
	Values, Queries []Name
}

// Plain tells what the body of a function or trigger touches, if that is nothing but values, for a function also tables that it
// reads: no state of the session, no other statements than assignments, control structures and SELECT. The error, 1235, names the first thing that is more, and what
// (as "stored functions") is what may not have it.
func (p *Program) Plain(what string) (*Touches, error) {
	t := &touching{p: p, what: what, out: &Touches{}, opened: map[opened]int{}, variables: map[string]bool{}}
	for _, param := range p.Params {
		t.variables[strings.ToLower(param.Name)] = true
	}
	err := Walk(p.Body, t.declared)
	if err == nil {
		err = Walk(p.Body, t.statement)
	}
	if err != nil {
		return nil, err
	}
	return t.out, nil
}

// touching is one walk over a body.
type touching struct {
	p         *Program
	what      string
	out       *Touches
	opened    map[opened]int
	variables map[string]bool // in lower case
}

// opened is a table as statements name it.
type opened struct{ db, name, alias string }

func (t *touching) refuse(what, how string) error {
	return sqlerr.Unsupported(what+" in "+t.what, how)
}

// declared notes the variables of all blocks.
func (t *touching) declared(s Statement) error {
	switch s := s.(type) {
	case *Block:
		for _, v := range s.Variables {
			for _, name := range v.Names {
				t.variables[strings.ToLower(name)] = true
			}
		}
	case *For:
		t.variables[strings.ToLower(s.Variable)] = true
	}
	return nil
}

const useValues = "pass what it needs as arguments"

func (t *touching) statement(s Statement) error {
	for _, e := range Exprs(s) {
		if err := t.expr(t.p.Text(e.Span)); err != nil {
			return err
		}
	}
	switch s := s.(type) {
	case *Set:
		if s.Whole {
			return t.refuse(t.p.Text(s.Span), "set it in the session")
		}
		for _, a := range s.Assignments {
			column, ofNew := strings.CutPrefix(strings.ToLower(a.Target), "new.")
			switch {
			case ofNew && t.p.Kind == Trigger:
				t.out.Sets = append(t.out.Sets, column)
			case !t.variables[strings.ToLower(a.Target)]:
				return t.refuse("SET "+a.Target, "assign variables that are declared there")
			}
		}
	case *SQL:
		switch s.Verb {
		case "SELECT", "SIGNAL", "RESIGNAL", "GET", "DO":
		default:
			return t.refuse(s.Verb, "send the statement from the client, or use a procedure")
		}
		if s.Verb == "SELECT" {
			return t.text(t.p.Text(s.Span), &t.out.Queries)
		}
		return t.text(t.p.Text(s.Span), &t.out.Values)
	}
	return nil
}

// expr judges an expression.
func (t *touching) expr(text string) error { return t.text("SELECT "+text, &t.out.Values) }

// text judges a statement. The tables that it reads go to read, too.
func (t *touching) text(text string, read *[]Name) error {
	st := t.p.st.Dialect().NewStatement()
	if err := st.Scan([]byte(text), t.p.st.Mode()); err != nil {
		return err
	}
	for _, u := range []struct {
		uses sqlparse.Uses
		what string
	}{
		{sqlparse.ReadsUserVariable | sqlparse.WritesUserVariable, "user variables"},
		{sqlparse.ReadsLastInsertID | sqlparse.SetsLastInsertID, "LAST_INSERT_ID()"},
		{sqlparse.ReadsSession, "functions that speak of the session"},
		{sqlparse.UserLock, "user-level locks"},
		{sqlparse.Sequence, "sequences"},
		{sqlparse.IntoFile, "files on the servers"},
	} {
		if st.Uses()&u.uses != 0 {
			return t.refuse(u.what, useValues)
		}
	}
	if st.Uses()&sqlparse.ReadsSystemVariable != 0 && readsSetting(st) {
		return t.refuse("system variables", useValues)
	}
	if first := st.Tokens(); st.Uses()&sqlparse.ReadsDiagnostics != 0 {
		if tok := first.Next(); !st.Is(tok, "GET") {
			return t.refuse("FOUND_ROWS() and ROW_COUNT()", useValues)
		}
	}
	if st.Uses()&sqlparse.Nondeterministic != 0 {
		t.out.Volatile = true
	}
	switch st.Kind() {
	case sqlparse.Select, sqlparse.Do:
		refs, sure := st.Tables()
		if sure && t.p.Kind == Function && st.Uses()&sqlparse.LocksRows == 0 {
			t.read(st, refs)
			for _, r := range refs {
				*read = append(*read, Name{DB: r.DB, Name: r.Name})
			}
		} else if !sure || len(refs) > 0 {
			table := ""
			if len(refs) > 0 {
				table = " " + refs[0].Name
			}
			return t.refuse("the table"+table, "its rows may be on several node groups: "+useValues)
		}
	}
	t.out.Calls = append(t.out.Calls, Calls(st)...)
	return nil
}

// readsSetting reports whether a statement reads a system variable that sessions or servers may set: of others @@version, which is VERSION().
func readsSetting(st *sqlparse.Statement) bool {
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if tok.Kind != sqlparse.SysVar {
			continue
		}
		name := string(st.AppendName(nil, tok))
		if !strings.EqualFold(name[strings.LastIndexByte(name, '.')+1:], "version") {
			return true
		}
	}
	return false
}

// read notes the tables that one statement names.
func (t *touching) read(st *sqlparse.Statement, refs []sqlparse.TableRef) {
	own := map[opened]int{}
	for _, r := range refs {
		o := opened{r.DB, r.Name, st.Alias(r)}
		if own[o]++; own[o] > t.opened[o] {
			t.opened[o]++
			t.out.Reads = append(t.out.Reads, Name{DB: r.DB, Name: r.Name})
		}
	}
}

// Calls returns the names before parentheses in a statement: of functions, and of whatever else stands there, but for the procedure behind CALL.
func Calls(st *sqlparse.Statement) (calls []Name) {
	var last [4]sqlparse.Token // before tok
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if name := last[3]; st.Is(tok, "(") && (name.Kind == sqlparse.Word || name.Kind == sqlparse.QuotedName) {
			n := Name{Name: string(st.AppendName(nil, name)), Span: name.Span}
			before := last[2]
			if db := last[1]; st.Is(last[2], ".") && (db.Kind == sqlparse.Word || db.Kind == sqlparse.QuotedName) {
				n.DB, n.Start, before = string(st.AppendName(nil, db)), db.Start, last[0]
			}
			if !st.Is(before, "CALL") {
				calls = append(calls, n)
			}
		}
		last = [4]sqlparse.Token{last[1], last[2], last[3], tok}
	}
	return calls
}

// Mentions reports whether the program names column of OLD or NEW.
func (p *Program) Mentions(row, column string) bool {
	var last [2]sqlparse.Token
	tokens := p.st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if p.st.Is(last[1], ".") && Same(string(p.st.AppendName(nil, last[0])), row) && Same(string(p.st.AppendName(nil, tok)), column) {
			return true
		}
		last = [2]sqlparse.Token{last[1], tok}
	}
	return false
}
