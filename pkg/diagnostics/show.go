package diagnostics

import (
	"math"
	"slices"
	"strconv"

	"skarv/pkg/sqlparse"
)

// Show is SHOW WARNINGS or SHOW ERRORS.
type Show struct {
	Errors        bool
	Count         bool // COUNT(*)
	offset, limit uint64
}

// ReadShow reads the statement.
func ReadShow(st *sqlparse.Statement) Show {
	s := Show{limit: math.MaxUint64}
	var numbers []uint64
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		switch {
		case st.Is(tok, "ERRORS"):
			s.Errors = true
		case st.Is(tok, "COUNT"):
			s.Count = true
		case tok.Kind == sqlparse.IntLit:
			n, _ := strconv.ParseUint(string(st.Text(tok.Span)), 10, 32)
			numbers = append(numbers, n)
		}
	}
	switch len(numbers) {
	case 1:
		s.limit = numbers[0]
	case 2:
		s.offset, s.limit = numbers[0], numbers[1]
	}
	return s
}

// Rows are the conditions that are shown.
func (s Show) Rows(area *Area) []Condition {
	rows := area.Conditions
	if s.Errors {
		rows = slices.DeleteFunc(slices.Clone(rows), func(c Condition) bool { return c.Level != Error })
	}
	rows = rows[min(s.offset, uint64(len(rows))):]
	return rows[:min(s.limit, uint64(len(rows)))]
}
