package session

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// Where sql_mode is strict, servers compute what a variable is assigned strictly, too: a warning of it is an error. So it is with all that SET
// computes, and with the columns of SELECT ... INTO that are computed when a row is sent. What is computed before that, to find rows and to
// group them, only warns. Skarv computes ahead, and finds out behind it.

// strictly returns the first of the warnings that is an error where a variable is assigned; nil if there is none.
func (s *Session) strictly(warnings []diagnostics.Condition) *sqlerr.Error {
	if !s.Strict() {
		return nil
	}
	return diagnostics.StrictAssignment(warnings, s.cfg.Dialect.MariaDB())
}

// strictInto finds out whether the SELECT ... INTO that has given one row of take fails in a strict sql_mode, and for which of its targets.
func (a *activation) strictInto(text []byte, take *capture, targets []string) (fault *sqlerr.Error, target int, err error) {
	s := a.s
	told := slices.Clone(s.diagnostics.Conditions)
	if s.strictly(told) == nil || len(take.rows) == 0 {
		return nil, 0, nil
	}
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan(text, s.Mode); err != nil {
		return nil, 0, err
	}
	unsure := sqlerr.Unsupported("SELECT ... INTO variables that may fail in a strict sql_mode, or only warn",
		"select into a user variable, or use SET with a query of one column")
	list, ok := st.SelectList()
	if !ok {
		return nil, 0, unsure
	}
	into := s.intoOf(st, targets)
	switch into.computedWhen(st) {
	case before:
		return nil, 0, nil
	case unknown:
		return nil, 0, unsure
	}
	// Without the columns it is only what finds the rows that warns.
	without := slices.Concat(text[:list.Start], []byte(" NULL "), text[list.End:])
	s.diagnostics.Clear()
	err = s.within(without, &capture{limit: 1})
	finding := slices.Clone(s.diagnostics.Conditions)
	s.diagnostics.Conditions = told
	if err != nil {
		return nil, 0, unsure
	}
	own := slices.Clone(told)
	for _, w := range finding {
		if i := slices.Index(own, w); i >= 0 {
			own = slices.Delete(own, i, i+1)
		}
	}
	if fault = s.strictly(own); fault == nil {
		return nil, 0, nil
	}
	if len(take.rows) > 1 || !into.sole(len(targets)) {
		return nil, 0, unsure
	}
	return fault, into.computed[0], nil
}

// intoItems are the items of the list of a SELECT ... INTO.
type intoItems struct {
	items    []sqlparse.SelectItem
	computed []int // the places of those that are more than a column, for a variable of the program
	others   bool  // so are others, for user variables
	limited  bool  // by LIMIT: other rows may be computed, too
}

func (s *Session) intoOf(st *sqlparse.Statement, targets []string) (l intoItems) {
	l.items = st.SelectItems(nil)
	for i, it := range l.items {
		if !s.computes(st, it) {
			continue
		}
		if into := min(i, len(targets)-1); it.Star || !strings.HasPrefix(targets[into], "@") {
			l.computed = append(l.computed, i)
		} else {
			l.others = true
		}
	}
	return l
}

// sole reports whether it is sure which target a warning is of.
func (l *intoItems) sole(targets int) bool {
	return len(l.computed) == 1 && !l.others && !l.limited && len(l.items) == targets
}

// when says when the items are computed that variables of a program take.
type when uint8

const (
	before  when = iota // before a row is sent, or nothing is computed: it only warns
	sending             // a row
	unknown
)

// computedWhen looks at the query for when the computed items are.
func (l *intoItems) computedWhen(st *sqlparse.Statement) when {
	if len(l.computed) == 0 {
		return before
	}
	tables, counted := false, 0
	for _, i := range l.computed {
		switch whole, inside := aggregate(st, l.items[i].Expr); {
		case whole:
			counted++
		case inside:
			return unknown
		}
	}
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		switch {
		case tok.Depth > 0 || tok.Kind != sqlparse.Word:
			if st.Is(tok, "OVER") {
				return unknown
			}
		case st.Is(tok, "UNION"), st.Is(tok, "EXCEPT"), st.Is(tok, "INTERSECT"), st.Is(tok, "DISTINCT"), st.Is(tok, "DISTINCTROW"):
			return before // rows of a temporary table
		case st.Is(tok, "OVER"), st.Is(tok, "GROUP") && counted < len(l.computed):
			return unknown
		case st.Is(tok, "FROM"):
			tables = true
		case st.Is(tok, "LIMIT"), st.Is(tok, "FETCH"):
			l.limited = true
		}
	}
	switch {
	case tables && counted == len(l.computed):
		return before
	case st.Uses()&(sqlparse.WritesUserVariable|sqlparse.Sequence|sqlparse.UserLock) != 0:
		return unknown
	}
	return sending
}

// computes reports whether an item is more than a column of a table, or a literal.
func (s *Session) computes(st *sqlparse.Statement, it sqlparse.SelectItem) bool {
	tokens := st.TokensFrom(it.Expr.Start)
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF && tok.End <= it.Expr.End; tok = tokens.Next() {
		switch tok.Kind {
		case sqlparse.Word, sqlparse.QuotedName, sqlparse.StringLit, sqlparse.IntLit, sqlparse.DecimalLit, sqlparse.FloatLit:
		case sqlparse.Op:
			if !st.Is(tok, ".") && !st.Is(tok, "*") && !st.Is(tok, "-") {
				return true
			}
			if st.Is(tok, "*") && !it.Star || st.Is(tok, "-") && tok.Start != it.Expr.Start {
				return true
			}
		default:
			return true
		}
	}
	refs, sure := st.Tables() // what is a column of a derived table, or of a view, may be computed
	return !sure || st.Uses()&sqlparse.Subquery != 0 || slices.ContainsFunc(refs, func(r sqlparse.TableRef) bool {
		t, _ := s.tableOf(r)
		return t == nil || t.Kind == catalog.View
	})
}

// aggregate reports whether an expression is one call of an aggregate function, or has one inside.
func aggregate(st *sqlparse.Statement, expr sqlparse.Span) (whole, inside bool) {
	tokens := st.TokensFrom(expr.Start)
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF && tok.End <= expr.End; tok = tokens.Next() {
		ahead := tokens
		switch {
		case tok.Depth == 0 && whole && st.Is(tok, ")"):
			whole = tok.End == expr.End
		case tok.Kind == sqlparse.Word && st.Is(ahead.Next(), "(") && isAggregate(st, tok):
			inside, whole = true, tok.Start == expr.Start
		}
	}
	return whole, inside
}

func isAggregate(st *sqlparse.Statement, tok sqlparse.Token) bool {
	return slices.ContainsFunc([]string{"COUNT", "SUM", "MIN", "MAX", "AVG", "BIT_AND", "BIT_OR", "BIT_XOR", "GROUP_CONCAT", "STD", "STDDEV",
		"STDDEV_POP", "STDDEV_SAMP", "VARIANCE", "VAR_POP", "VAR_SAMP", "JSON_ARRAYAGG", "JSON_OBJECTAGG"},
		func(w string) bool { return st.Is(tok, w) })
}

// intoTargets assigns the row of a SELECT ... INTO; fault is what assigning a target fails with.
func (a *activation) intoTargets(take *capture, targets []string, bytes bool, fault *sqlerr.Error, at int) error {
	n := len(targets)
	if fault != nil {
		n = at
	}
	if err := a.takeRow(take.columns[:n], take.rows[0][:n], targets[:n], bytes); err != nil || fault == nil {
		return err
	}
	i := slices.IndexFunc(a.vars.list, func(p routine.Param) bool { return routine.Same(p.Name, targets[at]) })
	if i < 0 {
		return sqlerr.UndeclaredVariable.New(targets[at])
	}
	return a.assigned(a.vars.list[i].Name, fault)
}
