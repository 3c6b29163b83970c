package session

import (
	"skarv/pkg/rowset"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/substitution"
	"skarv/pkg/virtualdb"
)

// The virtual database skarv shows the cluster. A SELECT from it is run by one of the servers, with the rows of each
// virtual table put into the text as a derived table: so all of SQL works on them.

// selectVirtual runs the statement at hand, whose tables are all virtual.
func (s *Session) selectVirtual() error {
	refs, sure := s.stmt.Tables()
	if !sure {
		return sqlerr.Unsupported("this form of SELECT from the database skarv", "write it without table expressions in other places than FROM")
	}
	var edits []substitution.Edit
	for _, r := range refs {
		t, err := s.virtualTable(r.Name)
		if err != nil {
			return err
		}
		text := string(s.appendDerived(nil, t))
		if s.stmt.Alias(r) == "" {
			text += " AS " + sqltypes.QuoteName(r.Name)
		}
		edits = append(edits, substitution.Edit{Span: r.Span, Value: substitution.Value{Text: text}})
	}
	return s.runRewritten(s.anyGroup(), substitution.Filled(s.stmt, edits, s.args.AppendSpan))
}

// appendDerived writes t as a derived table without an alias, for a statement of the session.
func (s *Session) appendDerived(dst []byte, t *rowset.Table) []byte {
	return t.AppendDerived(dst, s.cfg.Dialect.MariaDB(), s.Mode&sqlparse.NoBackslashEscapes != 0)
}

// virtualTable makes the present contents of a table of the database skarv.
func (s *Session) virtualTable(name string) (*rowset.Table, error) {
	return s.cfg.Cluster.Table(name, &virtualdb.Viewer{Snapshot: s.snap, Account: s.account, Processes: s.processes})
}

// showVirtualTables is SHOW [FULL] TABLES FROM skarv.
func (s *Session) showVirtualTables() error { return s.showVirtual(virtualdb.Show(s.says("FULL"))) }

// showVirtualColumns is SHOW [FULL] COLUMNS, or DESCRIBE, of a table of the database skarv.
func (s *Session) showVirtualColumns(name string) error {
	t, err := s.virtualTable(name)
	if err != nil {
		return err
	}
	return s.showVirtual(virtualdb.ShowColumns(t, s.says("FULL")))
}

// showVirtual answers the SHOW at hand with those rows of t that its LIKE, which is about the first column, or its WHERE takes.
func (s *Session) showVirtual(t *rowset.Table) error {
	sql := append(s.appendDerived([]byte("SELECT * FROM "), t), " AS shown"...)
	tokens := s.stmt.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		like := s.stmt.Is(tok, "LIKE")
		if like {
			sql = append(append(sql, " WHERE "...), sqltypes.QuoteName(t.Columns[0].Name)...)
		}
		if like || s.stmt.Is(tok, "WHERE") {
			sql = s.args.AppendSpan(append(sql, ' '), sqlparse.Span{Start: tok.Start, End: len(s.stmt.SQL())})
			break
		}
	}
	return s.runRewritten(s.anyGroup(), sql)
}

// says reports whether the second word of the statement at hand is the given one.
func (s *Session) says(word string) bool {
	tokens := s.stmt.Tokens()
	tokens.Next()
	return s.stmt.Is(tokens.Next(), word)
}
