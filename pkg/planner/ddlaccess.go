package planner

import (
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/wordlist"
)

// What a definition leads to besides the object that it is of: servers ask for privileges on that, of an account that has them all.

// LocalEngine reports whether a storage engine keeps the rows of a table in the table: others show those of other tables, of files
// and of other servers.
func LocalEngine(name string) bool {
	return wordlist.Has(` innodb aria maria myisam memory heap archive csv blackhole rocksdb tokudb sequence ndb ndbcluster default `, strings.ToLower(name))
}

// leadingEngine names engines that are no LocalEngine, for places where the word before the name may be something else.
func leadingEngine(name string) bool {
	return wordlist.Has(` merge mrg_myisam connect federated federatedx spider s3 sphinx oqgraph mroonga cassandra columnstore videx performance_schema `,
		strings.ToLower(name))
}

// leadsElsewhere reports whether the options of a table that is made or changed may make it show what is not in it.
func (b *build) leadsElsewhere() bool {
	var toks []sqlparse.Token
	for tokens := b.st.Tokens(); ; {
		t := tokens.Next()
		if t.Kind == sqlparse.EOF || b.st.Kind() == sqlparse.Create && isWord(b.st, t, "SELECT") { // options stand before it
			break
		}
		toks = append(toks, t)
	}
	at := func(i int) sqlparse.Token {
		if i < 0 || i >= len(toks) {
			return sqlparse.Token{Kind: sqlparse.EOF}
		}
		return toks[i]
	}
	is := func(i int, what string) bool { return at(i).Kind != sqlparse.EOF && b.st.Is(at(i), what) }
	for i, t := range toks {
		value := i + 1
		if is(value, "=") {
			value++
		}
		switch {
		case t.Kind != sqlparse.Word:
		case b.st.Is(t, "DIRECTORY") && (is(i-1, "DATA") || is(i-1, "INDEX")):
			return true
		case b.st.Is(t, "CONNECTION") && t.Depth == 0 && at(value).Kind == sqlparse.StringLit:
			return true
		case b.st.Is(t, "UNION") && t.Depth == 0 && (is(value, "(") || value > i+1):
			return true
		case b.st.Is(t, "ENGINE"):
			name := at(value)
			if name.Kind != sqlparse.Word && name.Kind != sqlparse.QuotedName && name.Kind != sqlparse.StringLit {
				continue
			}
			engine := strings.Trim(string(b.st.AppendName(nil, name)), `'"`)
			option := t.Depth == 0 && (value > i+1 || !namesColumn(lowerText(b.st, at(i-1))))
			if leadingEngine(engine) || option && !LocalEngine(engine) {
				return true
			}
		}
	}
	return false
}

// namesColumn reports whether what follows a word of ALTER TABLE is the name of a column.
func namesColumn(before string) bool {
	return wordlist.Has(` add column modify change drop alter rename to after exists by . `, before)
}

// viewQuery is where the query of a view begins, whose name ends at end.
func (b *build) viewQuery(end int) int {
	for tokens := b.st.TokensFrom(end); ; {
		if t := tokens.Next(); t.Kind == sqlparse.EOF || t.Depth == 0 && isWord(b.st, t, "AS") {
			return t.End
		}
	}
}

// asksSession names a function in a query that speaks of the client or of its statements, of which servers do not know; "": there is none.
func asksSession(query *sqlparse.Statement) string {
	if query.Uses()&(sqlparse.ReadsSession|sqlparse.ReadsLastInsertID|sqlparse.ReadsDiagnostics) == 0 {
		return ""
	}
	var last sqlparse.Token
	for tokens := query.Tokens(); ; {
		tok := tokens.Next()
		switch name := strings.ToUpper(string(query.Text(last.Span))); {
		case last.Kind != sqlparse.Word:
		case name == "CURRENT_USER", name == "CURRENT_ROLE":
			return name
		case query.Is(tok, "(") && wordlist.Has(` CONNECTION_ID USER SESSION_USER SYSTEM_USER LAST_INSERT_ID FOUND_ROWS ROW_COUNT `, name):
			return name
		}
		if tok.Kind == sqlparse.EOF {
			return ""
		}
		last = tok
	}
}

// tableQuery is where the query begins that fills a new table, whose name ends at end; -1: there is none. It may begin within WITH.
func (b *build) tableQuery(end int) int {
	open := -1 // the first of the parentheses just read
	for tokens := b.st.TokensFrom(end); ; {
		t := tokens.Next()
		switch {
		case t.Kind == sqlparse.EOF:
			return -1
		case b.st.Is(t, "("):
			if open < 0 {
				open = t.Start
			}
			continue
		case isWord(b.st, t, "SELECT"), isWord(b.st, t, "TABLE"):
			if open >= 0 {
				return open
			}
			return t.Start
		}
		open = -1
	}
}

// definedBy notes that whoever defines something by a query, which begins at from, may read what that reads.
func (b *build) definedBy(from int) error {
	query := b.st.Dialect().NewStatement()
	defer query.Done()
	if err := query.Scan(b.st.SQL()[from:], b.st.Mode()); err != nil {
		return err
	}
	if name := asksSession(query); name != "" && b.plan.Change.Object == plan.ObjectView {
		return sqlerr.Unsupported("a view that asks for "+name+"()", "ask for it in the statements that read the view: the servers know their own accounts and connections only")
	}
	refs, sure := query.Tables()
	if !sure || query.Kind() != sqlparse.Select {
		list, may := b.mayBeTold()
		if !may {
			return sqlerr.AccessDeniedDB.New("", "", catalog.OwnDB)
		}
		for _, a := range list {
			b.access(a)
		}
		return nil
	}
	for _, r := range refs {
		db, err := b.ownDatabase(r.DB)
		switch {
		case err != nil:
			return err
		case systemSchema(db) != userSchema:
			b.needsIn("*", catalog.MaySuper) // nothing filters what it reads of them
		case catalog.KindOf(db) == catalog.OwnDatabase:
			return sqlerr.AccessDeniedDB.New("", "", db)
		default:
			b.access(plan.Access{Database: db, Table: r.Name, Privilege: catalog.MaySelect})
		}
	}
	return nil
}
