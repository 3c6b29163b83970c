package sqlparse

// TableRef is a table name in the text.
type TableRef struct {
	DB, Name string // unquoted; DB is empty when not written
	Span            // of the whole name
	Write    bool   // target of INSERT, REPLACE, UPDATE, DELETE, TRUNCATE, DDL
}

// Tables finds the table names of a statement by its tokens: for forms the parser refuses. sure is true when the
// statement is of a form whose names are known to be all found and all tables (or views); otherwise refs is a guess.
func (s *Statement) Tables() (refs []TableRef, sure bool) { return nil, false }
