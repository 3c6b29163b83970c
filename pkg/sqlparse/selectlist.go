package sqlparse

// SelectItem is one expression of the outermost SELECT's list.
type SelectItem struct {
	Expr  Span // without alias
	Alias Span // as written, quotes included; empty when there is none
	Star  bool // * or t.*
}

// SelectList returns the text range of the list of the outermost (of a UNION: first) SELECT, found during Scan; ok is
// false if there is none. Since unaliased columns are named by their text, a plan that holds such names is right
// only for statements with equal text there: the shape alone does not tell.
func (s *Statement) SelectList() (list Span, ok bool) { return Span{}, false }

// SelectItems appends the items of SelectList to dst. It reads the list's text anew.
func (s *Statement) SelectItems(dst []SelectItem) []SelectItem { return dst }

// AppendColumnName appends the name the server gives the column of item: its alias unquoted, a column's own name, a
// string's value, or the text as written. Meaningless for Star.
func (s *Statement) AppendColumnName(dst []byte, item SelectItem) []byte { return dst }
