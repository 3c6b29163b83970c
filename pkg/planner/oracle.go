package planner

import (
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// oracle refuses what means something else in sql_mode ORACLE than all that comes behind takes it for.
func (b *build) oracle() error {
	toks := b.st.Tokens()
	first := toks.Next()
	second := toks
	if second.Next().Kind != sqlparse.EOF && (isWord(b.st, first, "BEGIN") || isWord(b.st, first, "DECLARE")) {
		return sqlerr.Unsupported("blocks of statements in sql_mode ORACLE",
			"leave ORACLE out of sql_mode, and write BEGIN NOT ATOMIC ... END; a transaction begins with START TRANSACTION")
	}
	var before sqlparse.Token
	for t := first; t.Kind != sqlparse.EOF; before, t = t, toks.Next() {
		if b.st.Is(before, ".") && (isWord(b.st, t, "NEXTVAL") || isWord(b.st, t, "CURRVAL")) {
			return sqlerr.Unsupported("the value of a sequence behind its name", "write NEXTVAL(sequence) or LASTVAL(sequence)")
		}
	}
	return nil
}
