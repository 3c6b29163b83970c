package sqlparse

// InsertText says where the parts of an INSERT or REPLACE stand in the text.
type InsertText struct {
	Table TableRef
	// Columns is the column list with its parentheses, empty if there is none; an empty "()" is a list too.
	// Columns.Start is the offset of its `(` and Columns.End-1 of its `)`.
	Columns    Span
	HasColumns bool
	NumColumns int
	// At is where a column list has to be written when there is none.
	At int
	// Source says what follows: exactly one of these is set.
	Values, Set, Query bool
	// Body is where VALUES, SET or the query begins.
	Body int
	// OnDuplicate is the offset of ON DUPLICATE KEY UPDATE, or -1.
	OnDuplicate int
}

// InsertText finds the parts of an INSERT or REPLACE; ok is false for other kinds and for text of unknown form.
func (s *Statement) InsertText() (t InsertText, ok bool) { return InsertText{}, false }
