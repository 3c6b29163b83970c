package routine

import (
	"fmt"
	"strings"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// signal puts what a named condition stands for into a SIGNAL.
func (r *runner) signal(text string) string {
	st := r.p.st.Dialect().NewStatement()
	if st.Scan([]byte(text), r.p.st.Mode()) != nil {
		return text
	}
	tokens := st.Tokens()
	tokens.Next()
	tok := tokens.Next()
	if !isName(tok) || st.Is(tok, "SQLSTATE") {
		return text
	}
	v, ok := r.named(string(st.AppendName(nil, tok)), len(r.scopes)-1)
	if !ok || v.State == "" {
		return text
	}
	return text[:tok.Start] + "SQLSTATE '" + v.State + "'" + text[tok.End:]
}

// resignal is RESIGNAL with a condition or with values as the SIGNAL that raises what the handler was called for, changed so. As on
// the servers, another condition brings its own error number, but keeps the text, and a warning stays one whatever its SQLSTATE is.
func (r *runner) resignal(text string) (string, error) {
	st := r.p.st.Dialect().NewStatement()
	if err := st.Scan([]byte(text), r.p.st.Mode()); err != nil {
		return "", err
	}
	p := &parser{st: st}
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		p.toks = append(p.toks, tok)
	}
	p.accept("RESIGNAL")
	state, code := r.handled.State, fmt.Sprint(int(r.handled.Code))
	if r.warned && !strings.HasPrefix(state, "01") {
		state = "01000"
	}
	switch {
	case p.end(), p.is(0, "SET"):
	case p.accept("SQLSTATE"):
		p.accept("VALUE")
		if p.peek(0).Kind != sqlparse.StringLit {
			return "", p.fail()
		}
		state, code = string(st.AppendName(nil, p.peek(0))), ""
		p.pos++
	default:
		name, err := p.name()
		if err != nil {
			return "", err
		}
		v, ok := r.named(name, len(r.scopes)-1)
		if !ok {
			return "", sqlerr.UndefinedCondition.New(name)
		}
		if v.State == "" {
			return "", sqlerr.ConditionWithoutState.New()
		}
		state, code = v.State, ""
	}
	items := ""
	if p.accept("SET") {
		items = text[p.peek(0).Start:]
	} else if !p.end() {
		return "", p.fail()
	}
	given := func(name string) bool {
		for n := 0; p.pos+n < len(p.toks); n++ {
			if p.is(n, name) && p.is(n+1, "=") {
				return true
			}
		}
		return false
	}
	var set []string
	if !given("MESSAGE_TEXT") {
		const longest = 128 // of a text that SIGNAL takes
		message := []rune(r.handled.Message)
		set = append(set, "MESSAGE_TEXT = '"+escaped(string(message[:min(len(message), longest)]), r.p.st.Mode())+"'")
	}
	if code != "" && !given("MYSQL_ERRNO") {
		set = append(set, "MYSQL_ERRNO = "+code)
	}
	if items != "" {
		set = append(set, items)
	}
	return "SIGNAL SQLSTATE '" + state + "' SET " + strings.Join(set, ", "), nil
}

func escaped(text string, mode sqlparse.Mode) string {
	if mode&sqlparse.NoBackslashEscapes == 0 {
		text = strings.ReplaceAll(text, `\`, `\\`)
	}
	return strings.ReplaceAll(text, "'", "''")
}
