package sqlparse

// Kind is the kind of a statement by its first words. Leading parentheses are skipped, and WITH is what follows
// its table expressions.
type Kind uint8

// The kinds.
const (
	Empty  Kind = iota // nothing but white space and comments
	Other              // none of the kinds below
	Select             // also VALUES ROW(...) and TABLE t
	Insert
	Replace
	Update
	Delete
	Do
	Call
	Handler
	LoadData // LOAD DATA, LOAD XML
	Create
	Alter
	Drop
	Truncate
	RenameTable
	Set
	Show
	Explain // EXPLAIN, DESCRIBE, DESC, ANALYZE of a statement (MariaDB) or of a table's columns
	Use
	Begin // BEGIN, START TRANSACTION
	Commit
	Rollback // also ROLLBACK TO
	Savepoint
	Release // RELEASE SAVEPOINT
	LockTables
	UnlockTables
	Kill
	Prepare
	Execute // EXECUTE, EXECUTE IMMEDIATE
	Deallocate
	XA
	Grant      // GRANT, REVOKE
	Account    // CREATE, ALTER, DROP, RENAME of USER and ROLE, SET PASSWORD, SET ROLE
	TableAdmin // ANALYZE, CHECK, CHECKSUM, OPTIMIZE, REPAIR TABLE
	Flush
	Compound // BEGIN NOT ATOMIC ... END
)

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
	Sequence          // NEXTVAL, LASTVAL, SETVAL, NEXT VALUE FOR
	IntoFile          // INTO OUTFILE, INTO DUMPFILE, LOAD_FILE
	LocalFile         // LOAD DATA LOCAL
	Returning         // RETURNING
	Subquery          // SELECT inside another statement
	Hint              // /*+ ... */
	Pipes             // the operator ||
	Not               // the operator NOT
	SpacedCall        // COUNT (*) without IgnoreSpace: the server will not take it as the native function
	Foreign           // a form MySQL's and MariaDB's parsers do not know, such as :name
)
