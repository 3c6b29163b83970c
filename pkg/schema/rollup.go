package schema

import (
	"skarv/pkg/sqlparse"
)

// withoutRollupItems takes out of the text of a view what MySQL shows of its own work on WITH ROLLUP: rollup_group_item(x, 0)
// for x, and rollup_sum_switcher(SUM(x)) for SUM(x). No server takes such a text for a query.
func withoutRollupItems(text string) string {
	st := sqlparse.NewDialect(false, "").NewStatement()
	if st.Scan([]byte(text), 0) != nil {
		return text
	}
	type call struct{ comma, depth int } // one that is open: its last comma
	var open []call
	var out []byte
	at, depth := 0, 0
	var last sqlparse.Token
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; last, tok = tok, tokens.Next() {
		switch {
		case st.Is(tok, "("):
			depth++
			if last.Kind == sqlparse.Word && (st.Is(last, "rollup_group_item") || st.Is(last, "rollup_sum_switcher")) {
				out = append(out, text[at:last.Start]...)
				at = tok.End
				open = append(open, call{depth: depth})
			}
		case st.Is(tok, ",") && len(open) > 0 && open[len(open)-1].depth == depth:
			open[len(open)-1].comma = tok.Start
		case st.Is(tok, ")"):
			if n := len(open) - 1; n >= 0 && open[n].depth == depth {
				end := tok.Start
				if c := open[n].comma; c > at {
					end = c
				}
				out = append(out, text[at:end]...)
				at = tok.End
				open = open[:n]
			}
			depth--
		}
	}
	return string(append(out, text[at:]...))
}
