package planner

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/function"
	"skarv/pkg/plan"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/wordlist"
)

// Servers run what they are sent as Skarv's own account, which may do everything there. What leads out of the data of the
// cluster, or tells of databases that are not the client's, must therefore be found in the text before it is sent.

// Outside returns the refusal of a statement that uses the files of a server, its logs, or what else is of one server only; db is
// the default database. Nil: it uses none.
func Outside(st *sqlparse.Statement, db string) error {
	var last sqlparse.Token
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if isWord(st, last, "INTO") && (isWord(st, tok, "OUTFILE") || isWord(st, tok, "DUMPFILE")) {
			return refuseFiles()
		}
		last = tok
	}
	definition := st.Kind() == sqlparse.Create || st.Kind() == sqlparse.Alter // where names of columns stand before parentheses
	for _, n := range routine.Calls(st) {
		name := strings.ToLower(n.Name)
		switch {
		case n.DB != "" && systemSchema(n.DB) == informationSchema,
			n.DB == "" && systemSchema(db) == informationSchema && !definition && serverProgram(name):
			return sqlerr.Unsupported("the function '"+n.Name+"'", "ask the server itself: it is about one server")
		case n.DB != "":
		case name == "load_file":
			return refuseFiles()
		case function.OfServer(name):
			return sqlerr.Unsupported(strings.ToUpper(name)+"()", "ask the server itself: it is about one server")
		}
	}
	return nil
}

// Tells reports whether a query may tell of rows that are not in its result: by an error or a warning of a function, of arithmetic or of a subquery,
// or by a variable.
func Tells(st *sqlparse.Statement) bool {
	return st.Uses()&(sqlparse.WritesUserVariable|sqlparse.Subquery) != 0 || computes(st) || slices.ContainsFunc(routine.Calls(st), func(n routine.Name) bool {
		name := strings.ToLower(n.Name)
		return n.DB != "" || !function.IsWord(name) && !wordlist.Has(` database schema `, name) || wordlist.Has(` cast convert left right substring regexp rlike `, name)
	})
}

// computes reports whether there is arithmetic in a statement: a sign or a word of it behind an operand.
func computes(st *sqlparse.Statement) bool {
	var last sqlparse.Token
	tokens := st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; last, tok = tok, tokens.Next() {
		switch {
		case isWord(st, tok, "DIV"), isWord(st, tok, "MOD"), isWord(st, tok, "INTERVAL"), isWord(st, tok, "REGEXP"), isWord(st, tok, "RLIKE"):
			return true
		case tok.Kind != sqlparse.Op || !strings.Contains("+-*/%", string(st.Text(tok.Span))):
		case last.Kind == sqlparse.Op && !st.Is(last, ")"), isWord(st, last, "SELECT"), isWord(st, last, "DISTINCT"), isWord(st, last, "ALL"):
		default:
			return true
		}
	}
	return false
}

// serverProgram reports whether a name may be that of a stored function in a database of the servers.
func serverProgram(name string) bool { return !function.Known(name) && !function.OfUserLocks(name) }

func refuseFiles() error {
	return sqlerr.Unsupported("files on the servers (INTO OUTFILE, LOAD_FILE)", "read and write files at the client")
}

// runByStatement reports that what is defined is run by sessions, statement by statement, each with a plan of its own.
func runByStatement(o plan.Object) bool { return o == plan.ObjectProcedure || o == plan.ObjectEvent }

// refused is the plan of a statement that is refused for e, unless a server finds fault with it.
func (b *build) refused(kind plan.Kind, e *sqlerr.Error) *plan.Plan {
	p := &plan.Plan{Kind: kind, Refuse: e, Access: b.plan.Access, Guards: b.plan.Guards}
	p.JudgeAccess, p.Judge = b.mayBeTold()
	return p
}

// mayBeTold is what an account needs to be told of every database that the statement may name: of a statement that is refused the tables
// are not known for sure. sure is false if nobody may be told.
func (b *build) mayBeTold() (list []plan.Access, sure bool) {
	note := func(db string, p catalog.Privilege) { list = append(list, plan.Access{Database: db, Privilege: p}) }
	sure = true
	database := func(name string) {
		switch catalog.KindOf(name) {
		case catalog.ServerDatabase:
			if !strings.EqualFold(name, "information_schema") {
				note("*", catalog.MaySuper)
			}
		case catalog.VirtualDatabase:
			note("*", catalog.MaySuper)
		case catalog.OwnDatabase:
			sure = false
		default:
			for db := range b.snap.Databases {
				if strings.EqualFold(db, name) {
					note(db, catalog.MaySelect)
				}
			}
		}
	}
	if b.db != "" {
		database(b.db)
	}
	var last sqlparse.Token
	tokens := b.st.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF; tok = tokens.Next() {
		if b.st.SQL()[tok.Start] == '.' && (last.Kind == sqlparse.Word || last.Kind == sqlparse.QuotedName) {
			database(string(b.st.AppendName(nil, last)))
		}
		last = tok
	}
	return list, sure
}
