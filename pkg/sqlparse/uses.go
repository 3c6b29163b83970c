package sqlparse

import "strings"

// Uses is what the text shows about session state and determinism. Functions are recognised by name and an
// opening parenthesis; what stored functions do is not known.
type Uses uint32

// The bits of Uses.
const (
	ReadsUserVariable  Uses = 1 << iota
	WritesUserVariable      // @x := , SET @x, INTO @x
	ReadsSystemVariable
	ReadsLastInsertID // LAST_INSERT_ID(), @@last_insert_id, @@identity
	SetsLastInsertID  // LAST_INSERT_ID(expr)
	ReadsDiagnostics  // FOUND_ROWS(), ROW_COUNT(), @@warning_count, SHOW WARNINGS, GET DIAGNOSTICS
	CalcFoundRows     // SQL_CALC_FOUND_ROWS
	LocksRows         // FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE
	Nondeterministic  // NOW(), RAND(), UUID(), ...: two evaluations may differ
	ReadsSession      // CONNECTION_ID(), USER(), DATABASE(), ...: depends on the connection
	UserLock          // GET_LOCK and its family
	Temporary         // CREATE/DROP TEMPORARY TABLE
	Sequence          // of MariaDB: NEXTVAL(), LASTVAL(), SETVAL(), NEXT VALUE FOR, PREVIOUS VALUE FOR
	IntoFile          // INTO OUTFILE, INTO DUMPFILE, LOAD_FILE
	Returning         // RETURNING
	Subquery          // SELECT, or MySQL's TABLE t, inside another statement
	Hint              // /*+ ... */
	Pipes             // the operator ||
	Not               // the operator NOT
	SpacedCall        // COUNT (*) without IgnoreSpace: the server will not take it as the native function
	Foreign           // a form MySQL's and MariaDB's parsers do not know, such as :name
)

// String lists the bits, for tests and logs.
func (u Uses) String() string {
	names := [...]string{
		"ReadsUserVariable", "WritesUserVariable", "ReadsSystemVariable", "ReadsLastInsertID", "SetsLastInsertID",
		"ReadsDiagnostics", "CalcFoundRows", "LocksRows", "Nondeterministic", "ReadsSession", "UserLock", "Temporary",
		"Sequence", "IntoFile", "Returning", "Subquery", "Hint", "Pipes", "Not", "SpacedCall", "Foreign",
	}
	var on []string
	for i, name := range names {
		if u&(1<<i) != 0 {
			on = append(on, name)
		}
	}
	return strings.Join(on, "|")
}
