// Package ddl is the text of statements that change a schema: what they do, which objects they name, and the text that servers
// get in their place. A statement is handled as its text: servers judge it, and parsers know too little of it. It knows neither servers
// nor whether what a statement names is there.
package ddl

import (
	"skarv/pkg/catalog"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
)

// Verb is what a DDL statement does.
type Verb uint8

// The verbs.
const (
	CreateTable Verb = iota + 1
	CreateIndex
	CreateView
	CreateDatabase
	AlterTable
	AlterDatabase
	AlterView
	DropTable
	DropIndex
	DropView
	DropDatabase
	TruncateTable
	RenameTable
	Maintain      // ANALYZE, OPTIMIZE, CHECK, REPAIR TABLE
	CreateProgram // functions, procedures, triggers, events
	AlterProgram
	DropProgram
	SwitchEvents // SET GLOBAL event_scheduler
)

// Statement is what has to be known of a DDL statement.
type Statement struct {
	Verb Verb
	// Text is the statement without comments, but with what servers run of them.
	Text string
	// Objects are those it creates, changes or drops; of RENAME old and new names in turn.
	Objects   []Name
	IfExists  bool // IF EXISTS or IF NOT EXISTS
	OrReplace bool
	Like      *Name // CREATE TABLE ... LIKE
	RenameTo  *Name // ALTER TABLE ... RENAME
	// Key is the distribution key, empty for the primary key, if Partitioned: PARTITION BY KEY was given.
	Key         []string
	Partitioned bool
	// DropsRows: ALTER TABLE drops or empties partitions of the servers, with the rows in them.
	DropsRows bool
	// Ignores: ALTER IGNORE TABLE (MariaDB), which drops rows and changes values where others are refused.
	Ignores bool
	// HasComment: a database's COMMENT was given; Single: it is skarv:single.
	HasComment, Single bool
	// Kind is that of a stored program, and Prog what CREATE, or ALTER EVENT, says of it.
	Kind routine.Kind
	Prog *routine.Program
	// Definer is the account that CREATE or ALTER VIEW gives to the view; "" if it names none, or whoever runs it.
	Definer catalog.AccountName
	// EventsOff is what SET GLOBAL event_scheduler says.
	EventsOff bool

	flavor  catalog.Flavor
	toks    []token
	clause  [2]int // the text of PARTITION BY KEY
	definer [2]int // the text of a DEFINER clause
	comment [2]int // the text of a database's COMMENT clause
	left    []Edit // what is left out for other reasons
	source  string // the text that Prog was read from
}

// Parse finds out what sql, which a client with this default database ("" for none) and sql_mode sent, does on servers of a flavor
// and version. The error is the server's syntax error, or says what is not supported.
func Parse(sql, db, sqlMode string, flavor catalog.Flavor, version string) (*Statement, error) {
	lex := &lexer{
		in:          sql,
		ansiQuotes:  HasMode(sqlMode, "ANSI_QUOTES") || HasMode(sqlMode, "ANSI"),
		noBackslash: HasMode(sqlMode, "NO_BACKSLASH_ESCAPES"),
		mariadb:     flavor == catalog.MariaDB,
		version:     VersionNumber(version),
	}
	out, toks, err := lex.plain()
	if err != nil {
		return nil, err
	}
	if len(toks) == 0 {
		return nil, sqlerr.EmptyQuery.New()
	}
	p := &parser{Statement: &Statement{Text: out, toks: toks, flavor: flavor}, sql: sql, db: db, sqlMode: sqlMode, version: version}
	if err := p.parse(); err != nil {
		return nil, err
	}
	return p.Statement, nil
}
