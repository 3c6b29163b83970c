package sqlparse

// definition finds the tables of DDL and of the other statements that name tables in a fixed place.
func (f *tableFinder) definition() {
	s, l := f.s, &f.l
	k := l.next()
	first := wNone
	if l.word != nil {
		first = l.word.id
	}
	switch first {
	case wTruncate, wRename, wLock, wAnalyze, wCheck, wChecksum, wOptimize, wRepair:
		views := first == wCheck || first == wRepair // of MariaDB
		for k = l.next(); l.isWord(wTable, wTables, wLocal) || views && l.isWord(wView) || k == Word && s.Is(Token{Kind: k, Span: Span{l.start, l.pos}}, "NO_WRITE_TO_BINLOG"); k = l.next() {
		}
		f.names(k, first == wRename)
		return
	case wHandler:
		f.one(l.next())
		return
	case wLoad:
		for k != EOF && k != Invalid {
			if k = l.next(); l.isWord(wInto) {
				if l.next(); l.isWord(wTable) {
					f.one(l.next())
					return
				}
			}
		}
		f.sure = false
		return
	}
	// CREATE, ALTER, DROP ... TABLE | VIEW | INDEX | TRIGGER
	object := wNone
	for k = l.next(); k != EOF && k != Invalid; k = l.next() {
		if l.isWord(wTable, wView, wIndex, wTrigger, wTables) {
			object = l.word.id
			break
		}
		if l.isWord(wDatabase, wSchema) {
			return // names no table
		}
		if l.isWord(wProcedure, wFunction, wEvent, wPackage, wSequence) {
			f.sure = false
			return
		}
	}
	switch object {
	case wTable, wTables, wView:
		for k = l.next(); l.isWord(wIf, wNot, wExists); k = l.next() {
		}
		if first == wDrop {
			f.names(k, false)
			return
		}
		f.one(k)
		f.tableBody(object, first)
	case wIndex, wTrigger:
		if object == wTrigger && first == wDrop {
			f.sure = false // the table is not in the text
			return
		}
		for k != EOF && k != Invalid {
			if k = l.next(); l.isWord(wOn) {
				f.one(l.next())
				if object == wTrigger {
					f.sure = false // its body names more
				}
				return
			}
		}
		f.sure = false
	default:
		f.sure = false
	}
}

// one takes the name that begins with the token just read.
func (f *tableFinder) one(k TokenKind) {
	ref, _, ok := f.s.peekName(&f.l, k)
	if !ok {
		f.sure = false
		return
	}
	ref.Write = true
	f.refs = append(f.refs, ref)
}

// names takes a list of names, each followed by anything up to a comma; with to, two names joined by TO.
func (f *tableFinder) names(k TokenKind, to bool) {
	l := &f.l
	for l.isWord(wIf, wExists) {
		k = l.next()
	}
	for {
		f.one(k)
		for {
			if k = l.next(); k == EOF || k == Invalid {
				f.sure = f.sure && k == EOF
				return
			}
			if k == Op && f.s.sql[l.start] == ',' || to && l.isWord(wTo) {
				k = l.next()
				break
			}
		}
	}
}

// tableBody takes the other tables a CREATE or ALTER TABLE or VIEW names: LIKE, REFERENCES, RENAME TO; a query makes
// it unsure.
func (f *tableFinder) tableBody(object, first wordID) {
	l := &f.l
	depth := 0
	for k := l.next(); k != EOF && k != Invalid; k = l.next() {
		switch {
		case k == Op && f.s.sql[l.start] == '(':
			depth++
		case k == Op && f.s.sql[l.start] == ')':
			depth--
		case l.isWord(wSelect, wUnion) && object == wTable:
			f.sure = false
		case object == wView && l.isWord(wAs):
			f.sure = false
			return
		case first == wCreate && depth <= 1 && l.isWord(wLike):
			if ref, _, ok := f.s.peekName(l, l.next()); ok {
				f.refs = append(f.refs, ref)
			}
		case l.word != nil && equalFold(f.s.sql[l.start:l.pos], "references"):
			if ref, _, ok := f.s.peekName(l, l.next()); ok {
				if ref.DB == "" && len(f.refs) > 0 {
					ref.DB = f.refs[0].DB // that of the table that refers, not the session's
				}
				f.refs = append(f.refs, ref)
			}
		case first == wAlter && l.isWord(wTable): // EXCHANGE PARTITION p WITH TABLE t
			f.one(l.next())
		case first == wAlter && l.isWord(wRename):
			k = l.next()
			if l.isWord(wColumn, wIndex, wKey) {
				continue
			}
			if l.isWord(wTo, wAs) {
				k = l.next()
			}
			f.one(k)
		}
	}
}

// show finds the table of SHOW ... FROM and SHOW CREATE TABLE.
func (f *tableFinder) show() {
	s, l := f.s, &f.l
	l.next()
	k := l.next()
	for l.isWord(wFull, wExtended) {
		k = l.next()
	}
	switch {
	case l.isWord(wCreate):
		l.next()
		if !l.isWord(wTable, wView) {
			f.sure = false
			return
		}
		if ref, _, ok := s.peekName(l, l.next()); ok {
			f.refs = append(f.refs, ref)
		}
	case l.isWord(wColumns, wFields, wIndex, wIndexes, wKeys):
		for k = l.next(); k != EOF && k != Invalid; k = l.next() {
			if !l.isWord(wFrom, wIn) {
				continue
			}
			ref, _, ok := s.peekName(l, l.next())
			if !ok {
				f.sure = false
				return
			}
			if l.next(); l.isWord(wFrom, wIn) {
				if k = l.next(); k == Word || k == QuotedName {
					ref.DB = string(appendName(nil, s.sql[l.start:l.pos], s.mode))
				}
			}
			f.refs = append(f.refs, ref)
			return
		}
		f.sure = false
	}
}
