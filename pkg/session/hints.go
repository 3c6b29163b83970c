package session

import (
	"slices"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
)

// SELECT /*+ SET_VAR(name = value) */, of MySQL: the variable is the session's while the statement runs. A server obeys it in a statement
// that has the hint. Of a statement over several node groups it sees parts, and some of what variables decide is decided here (where
// rows are placed, which numbers they get, whether foreign keys are looked at). So the session has such variables, too, while the statement
// runs. The hint stays in the text, in which servers find what they warn of.

// hintedVariables are those whose values decide what a statement says or does, rather than how fast.
const hintedVariables = ` cte_max_recursion_depth div_precision_increment foreign_key_checks
 group_concat_max_len innodb_lock_wait_timeout insert_id lock_wait_timeout max_points_in_geometry sql_auto_is_null sql_mode
 sql_safe_updates sql_select_limit time_zone timestamp unique_checks updatable_views_with_limit windowing_use_high_precision `

// hint is the first hint of the statement at hand, and the names of variables that it sets.
type hint struct {
	text  string
	names []string
}

// hinted reads the hints of the statement at hand, for there are some.
func (s *Session) hinted() (h hint, err error) {
	switch s.stmt.Kind() {
	case sqlparse.Select, sqlparse.Insert, sqlparse.Replace, sqlparse.Update, sqlparse.Delete:
	default:
		return h, nil
	}
	// Servers obey the one behind the first word, or behind that of the query that follows common table expressions.
	var tok, verb sqlparse.Token
	with := false
	for tokens := s.stmt.Tokens(); ; {
		prev := tok
		tok = tokens.Next()
		switch {
		case tok.Kind == sqlparse.EOF || tok.Kind == sqlparse.Invalid:
			return h, nil
		case tok.Kind == sqlparse.Word && verb.End == 0:
			switch {
			case s.stmt.Is(tok, "WITH"):
				with = true
			case !with, tok.Depth == 0 && (s.stmt.Is(tok, "SELECT") || s.stmt.Is(tok, "UPDATE") || s.stmt.Is(tok, "DELETE")):
				verb = tok
			}
		case tok.Kind == sqlparse.HintComment:
			text := string(s.stmt.Text(tok.Span))
			names := variablesOfHint(text)
			if len(names) == 0 {
				continue
			}
			if verb.End == 0 || prev != verb {
				return h, sqlerr.Unsupported("SET_VAR("+names[0]+") behind another word than the first one", "set the variable for the session instead")
			}
			h = hint{text, names}
		}
	}
}

// variablesOfHint are the names of hintedVariables that a hint sets.
func variablesOfHint(text string) (names []string) {
	for rest := strings.ToLower(text); ; {
		_, behind, found := strings.Cut(rest, "set_var")
		if !found {
			return names
		}
		rest = behind
		inside, opened := strings.CutPrefix(strings.TrimSpace(behind), "(")
		name, _, set := strings.Cut(inside, "=")
		name = strings.Trim(strings.TrimSpace(name), "`")
		if opened && set && name != "" && slices.Contains(strings.Fields(hintedVariables), name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
}

// runHinted runs the statement at hand while the session has the variables of its hint.
func (s *Session) runHinted(h hint, r request) (p *plan.Plan, err error) {
	if err := s.mayAssign(h.names); err != nil {
		return nil, err
	}
	c, err := s.Get(s.anyGroup())
	if err != nil {
		return nil, err
	}
	was, err := s.readBack(c, "SELECT 1", nil, h.names)
	values := was
	if err == nil {
		values, err = s.readBack(c, "SELECT "+h.text+" 1", nil, h.names)
	}
	s.done(c, err)
	if err != nil {
		return nil, txn.Lost(c, err)
	}
	before := s.valuesBefore(was, h.names)
	mode := s.Mode
	if err = s.adopt(values); err == nil && s.Mode != mode {
		err = sqlerr.Unsupported("SET_VAR with an sql_mode that reads the text in another way", "set sql_mode for the session instead")
	}
	if err == nil {
		p, err = s.runWithValues(r)
	}
	// With the values they had, rather than none: a connection within a transaction cannot be reset.
	if aerr := s.adopt(s.state.With(s.state.DB, before...)); err == nil {
		err = aerr
	}
	return p, err
}

// valuesBefore is what to set to have the variables again as they are in was, the session's state that a server has told.
func (s *Session) valuesBefore(was *backend.State, names []string) (before []backend.Variable) {
	for _, n := range names {
		v := backend.Variable{Name: "@@session." + sqltypes.QuoteName(n)}
		if _, set := s.state.Get(v.Name); n == "timestamp" && !set {
			v.Value = "DEFAULT" // the clock
		} else if i := s.untold.At(n); i >= 0 {
			v.Value = s.untold.Value(i)
		} else {
			v.Value, _ = was.Get(v.Name)
		}
		before = append(before, v)
	}
	return before
}
