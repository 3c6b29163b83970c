package sqlparse

// keyword enters a keyword into the shape and notes what it means for the statement.
func (s *Statement) keyword(w *wordEntry) {
	st := &s.scan
	l := &st.lex
	if w.flags&wordReserved != 0 {
		s.shape = append(s.shape, shapeReserved, byte(w.id), byte(w.id>>8))
		st.operand = w.flags&wordOperand != 0
	} else {
		s.verbatim()
		st.operand = true
		st.quotable = st.quotable || w.flags&wordQuote != 0
	}
	if w.uses != 0 && (w.flags&wordCall == 0 || w.flags&wordReserved != 0 || l.peekCall()) {
		s.functionUses(w)
	}
	if w.flags&wordSpaced != 0 && s.mode&IgnoreSpace == 0 && l.pos < len(s.sql) && s.sql[l.pos] != '(' && l.peekCall() &&
		!namesTable(st.prev) {
		s.shape = append(s.shape, shapeSpace)
		s.uses |= SpacedCall
	}
	if w.id < firstOther {
		s.contextWord(w.id)
	}
}

// namesTable reports whether a name after the word before can only be a table's.
func namesTable(before wordID) bool {
	switch before {
	case wInto, wTable, wInsert, wReplace, wIgnore, wUpdate, wFrom, wJoin, wOn:
		return true
	}
	return false
}

// functionUses notes a function (or what counts like one) that uses session state.
func (s *Statement) functionUses(w *wordEntry) {
	if w.uses == Sequence && (!s.dialect.mariadb || !s.callsSequence()) {
		return
	}
	if w.id != wLastInsertID {
		s.uses |= w.uses
		return
	}
	ahead := s.scan.lex
	ahead.next() // the parenthesis
	if ahead.next() == Op && s.sql[ahead.start] == ')' {
		s.uses |= ReadsLastInsertID
	} else {
		s.uses |= SetsLastInsertID
	}
}

// callsSequence reports whether NEXTVAL, LASTVAL or SETVAL, just read and before a parenthesis, are not the name of anything, such as a table or key.
func (s *Statement) callsSequence() bool {
	switch s.scan.prev {
	case opWord + '.', wTable, wKey, wIndex, wFunction, wProcedure, wView, wInto, wInsert, wReplace, wIgnore:
		return false
	case wExists: // behind IF NOT EXISTS
		return s.scan.prev2 != wNot && s.scan.prev2 != wIf
	}
	return true
}

// contextWord notes words that mean something where they stand.
func (s *Statement) contextWord(id wordID) {
	st := &s.scan
	if st.depth == 0 {
		s.outerWord(id)
	}
	switch id {
	case wSelect:
		leads := st.leads()
		if st.depth > 0 && !leads {
			s.uses |= Subquery
		}
		if st.depth == 0 {
			st.insert = false
		}
		if leads && !st.selectSeen {
			st.selectSeen, st.selectMods = true, true
			st.selectDepth = st.depth
		}
	case wTable:
		switch st.prev { // TABLE t is a query of MySQL's
		case opWord + '(', wUnion, wExcept, wIntersect, wAll, wDistinct:
			s.uses |= Subquery
		}
	case wFrom, wInto, wUnion, wExcept, wIntersect, wWhere, wHaving, wGroup, wOrder, wLimit, wProcedure, wFor, wLock:
		valueFor := id == wFor && st.prev == wValue && (st.prev2 == wNext || st.prev2 == wPrevious) // of a sequence
		if st.depth == st.selectDepth && !valueFor {
			s.endSelectList()
		}
		if valueFor && s.dialect.mariadb {
			s.uses |= Sequence
		}
		st.into = id == wInto && !st.insert
	case wInsert, wReplace:
		if st.depth == 0 && (st.tokens == 1 || st.heads.explains()) {
			st.insert = true
		}
	case wSet, wOn, wWith:
		if st.depth == 0 {
			st.insert = false
		}
	case wUpdate:
		if st.prev == wFor {
			s.uses |= LocksRows
		}
	case wShare:
		if st.prev == wFor || st.prev == wIn && st.prev2 == wLock {
			s.uses |= LocksRows
		}
	case wTemporary:
		if st.prev == wCreate || st.prev == wDrop || st.prev == wReplace {
			s.uses |= Temporary
		}
	case wWarnings, wErrors:
		if st.heads.is(wShow) {
			s.uses |= ReadsDiagnostics
		}
	case wGet:
		if st.tokens == 1 {
			s.uses |= ReadsDiagnostics
		}
	}
}

// outerWord notes a word outside of all parentheses that a statement, or the main part of one, begins with.
func (s *Statement) outerWord(id wordID) {
	st := &s.scan
	switch id {
	case wWith:
		st.with = !st.begun
	case wSelect, wInsert, wReplace, wUpdate, wDelete, wValues, wTable:
		if st.heads.main == wNone && st.heads.is(wWith) {
			st.heads.main = id
		}
		st.with = false
	default:
		return
	}
	st.begun = true
}

// opening notes a parenthesis that opens. Those are leading that the statement begins with, or the one that it explains, or that come
// behind WITH and its table expressions.
func (st *scanState) opening() {
	st.depth++
	st.maxDepth = max(st.maxDepth, st.depth)
	switch {
	case st.depth > 1:
		if st.leading == st.depth-1 && st.prev == opWord+'(' {
			st.leading = st.depth
		}
	case !st.begun && (st.tokens == 1 || st.heads.explains()), st.with && st.prev == opWord+')':
		st.leading, st.begun, st.with = 1, true, false
	}
}

// leads reports whether a SELECT just read is the outermost one: no operand of a UNION behind another, and in no parentheses but leading ones.
func (st *scanState) leads() bool {
	if st.depth > 0 {
		return st.leading == st.depth && st.prev == opWord+'('
	}
	switch st.prev {
	case wUnion, wExcept, wIntersect, wAll, wDistinct:
		return false
	}
	return true
}

// SelectModifier reports whether a token between SELECT and its list is none of the list: a word like DISTINCT, or a hint.
func (s *Statement) SelectModifier(tok Token) bool {
	l := s.lexerAt(tok.Start, tok.End, false)
	l.next()
	return tok.Kind == HintComment || tok.Kind == Word && l.word != nil && isSelectModifier(l.word.id)
}

func isSelectModifier(id wordID) bool {
	switch id {
	case wAll, wDistinct, wDistinctRow, wHighPriority, wStraightJoin, wSQLSmallResult, wSQLBigResult, wSQLBufferResult,
		wSQLCache, wSQLNoCache, wSQLCalcFoundRows:
		return true
	}
	return false
}

// userVar notes whether the variable just read is read or written.
func (s *Statement) userVar() {
	st := &s.scan
	l := &st.lex
	switch {
	case st.into:
		s.uses |= WritesUserVariable
		return
	case st.heads.is(wSet):
		s.uses |= WritesUserVariable | ReadsUserVariable
		return
	}
	ahead := *l
	if c := l.peek(); c == ':' || beginsComment(c) {
		if ahead.next() == Op && ahead.pos-ahead.start == 2 && l.sql[ahead.start] == ':' {
			s.uses |= WritesUserVariable
			return
		}
	}
	s.uses |= ReadsUserVariable
}

// ownPrefix is what the names of Skarv's own session variables begin with.
const ownPrefix = "skarv_"

// sysVarUses tells what the system variable @@name stands for.
func sysVarUses(name []byte) Uses {
	i := len(name)
	for i > 0 && name[i-1] != '.' && name[i-1] != '@' {
		i--
	}
	name = name[i:]
	if len(name) > 1 && name[0] == '`' {
		name = name[1 : len(name)-1]
	}
	switch {
	case equalFold(name, "identity"), equalFold(name, "last_insert_id"):
		return ReadsLastInsertID
	case equalFold(name, "warning_count"), equalFold(name, "error_count"):
		return ReadsDiagnostics
	case equalFold(name, "timestamp"), equalFold(name, "rand_seed1"), equalFold(name, "rand_seed2"):
		return Nondeterministic
	case equalFold(name, "pseudo_thread_id"), equalFold(name, "in_transaction"), equalFold(name, "event_scheduler"),
		equalFold(name, "gtid_mode"), equalFold(name, "gtid_executed"), equalFold(name, "gtid_purged"),
		equalFold(name, "wait_timeout"), equalFold(name, "net_read_timeout"), equalFold(name, "net_write_timeout"),
		equalFold(name, "idle_transaction_timeout"), equalFold(name, "idle_readonly_transaction_timeout"),
		equalFold(name, "idle_write_transaction_timeout"), equalFold(name, "unique_checks"),
		len(name) > len(ownPrefix) && equalFold(name[:len(ownPrefix)], ownPrefix):
		return ReadsSession
	}
	return 0
}
