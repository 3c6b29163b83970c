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

// headWords is how many of a statement's first words tell its kind.
const headWords = 6

// heads is the first words of a statement, names among them as wNone.
type heads struct {
	words [headWords]wordID
	n     int
	main  wordID // what follows WITH and its table expressions
}

func (h *heads) add(id wordID) {
	if h.n < headWords {
		h.words[h.n] = id
		h.n++
	}
}

// is reports whether the first word is id.
func (h *heads) is(id wordID) bool { return h.n > 0 && h.words[0] == id }

// explains reports whether the statement begins as an EXPLAIN of another.
func (h *heads) explains() bool {
	switch h.words[0] {
	case wExplain, wDescribe, wDesc, wAnalyze:
		return h.n > 0
	}
	return false
}

// kind tells the kind of a statement that begins with the words; Empty if there are none.
func (h *heads) kind() Kind {
	if h.n == 0 {
		return Empty
	}
	second := h.words[1]
	switch first := h.words[0]; first {
	case wSelect, wInsert, wReplace, wUpdate, wDelete, wValues, wTable:
		return verbKind(first)
	case wWith:
		if h.main == wNone {
			return Select
		}
		return verbKind(h.main)
	case wDo:
		return Do
	case wCall:
		return Call
	case wHandler:
		return Handler
	case wLoad:
		return LoadData
	case wCreate, wAlter, wDrop:
		for _, id := range h.words[1:h.n] {
			switch id {
			case wOr, wReplace:
				continue
			case wUser, wRole:
				return Account
			}
			break
		}
		switch first {
		case wCreate:
			return Create
		case wAlter:
			return Alter
		}
		return Drop
	case wTruncate:
		return Truncate
	case wRename:
		if second == wUser {
			return Account
		}
		return RenameTable
	case wSet:
		switch second {
		case wPassword, wRole:
			return Account
		case wDefault:
			if h.words[2] == wRole {
				return Account
			}
		}
		return Set
	case wShow:
		return Show
	case wExplain, wDescribe, wDesc:
		return Explain
	case wAnalyze:
		if second == wTable || second == wLocal || h.words[2] == wTable {
			return TableAdmin
		}
		return Explain
	case wCheck, wChecksum, wOptimize, wRepair:
		return TableAdmin
	case wUse:
		return Use
	case wBegin:
		if second == wNot {
			return Compound
		}
		return Begin
	case wStart:
		if second == wTransaction {
			return Begin
		}
	case wCommit:
		return Commit
	case wRollback:
		return Rollback
	case wSavepoint:
		return Savepoint
	case wRelease:
		return Release
	case wLock:
		return LockTables
	case wUnlock:
		return UnlockTables
	case wKill:
		return Kill
	case wPrepare:
		return Prepare
	case wExecute:
		return Execute
	case wDeallocate:
		return Deallocate
	case wXA:
		return XA
	case wGrant, wRevoke:
		return Grant
	case wFlush:
		return Flush
	case wIf, wCase, wLoop, wWhile, wRepeat, wFor:
		return Compound
	}
	return Other
}

func verbKind(id wordID) Kind {
	switch id {
	case wInsert:
		return Insert
	case wReplace:
		return Replace
	case wUpdate:
		return Update
	case wDelete:
		return Delete
	}
	return Select
}
