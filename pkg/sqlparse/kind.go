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

// String returns the kind in lower case, as metrics and logs name it.
func (k Kind) String() string {
	names := [...]string{
		"empty", "other", "select", "insert", "replace", "update", "delete", "do", "call", "handler", "load", "create", "alter",
		"drop", "truncate", "rename", "set", "show", "explain", "use", "begin", "commit", "rollback", "savepoint", "release",
		"lock", "unlock", "kill", "prepare", "execute", "deallocate", "xa", "grant", "account", "admin", "flush", "compound",
	}
	if int(k) < len(names) {
		return names[k]
	}
	return "other"
}

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
