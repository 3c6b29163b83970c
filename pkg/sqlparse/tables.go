package sqlparse

// TableRef is a table name in the text.
type TableRef struct {
	DB, Name string // unquoted; DB is empty when not written
	Span            // of the whole name
	Write    bool   // target of INSERT, REPLACE, UPDATE, DELETE, TRUNCATE, DDL
}

// maxTableLevels is how deep parentheses may nest for Tables to follow.
const maxTableLevels = 200

// Tables finds the table names of a statement by its tokens: for forms the parser refuses. sure is true when the
// statement is of a form whose names are known to be all found and all tables (or views); otherwise refs is a guess.
// A name is listed as often as it is written. Names of common table expressions are left out. In UPDATE and
// DELETE of several tables Write is set on all of them.
func (s *Statement) Tables() (refs []TableRef, sure bool) {
	f := tableFinder{s: s, l: s.dialect.lexer(s.sql[:s.end], s.mode), sure: true}
	switch s.kind {
	case Select, Insert, Replace, Update, Delete, Explain, Do:
		f.query()
	case Create, Alter, Drop, Truncate, RenameTable, TableAdmin, LockTables, Handler, LoadData:
		f.definition()
	case Show:
		f.show()
	case Empty, Begin, Commit, Rollback, Savepoint, Release, UnlockTables, Kill, Use, XA:
		return nil, true
	default:
		f.query()
		f.sure = false
	}
	return f.refs, f.sure
}

// tableFinder walks over the tokens once.
type tableFinder struct {
	s    *Statement
	l    lexer
	refs []TableRef
	sure bool

	levels []tableLevel
	ctes   []cte
	fromAt int // refs before the FROM of a DELETE
}

// tableLevel is what is known inside one pair of parentheses.
type tableLevel struct {
	query  bool // a SELECT, UPDATE, ... stands here: FROM begins table names
	from   bool // among table names and what joins them
	expect bool // the next name is a table
	call   bool // arguments of a function
	cte    int  // the table expression whose text this is, plus 1
}

// cte is a common table expression: its name counts from its end on, of a recursive one from its beginning.
type cte struct {
	name    string
	visible bool
}

func (f *tableFinder) query() {
	s, l := f.s, &f.l
	f.levels = append(f.levels, tableLevel{})
	prev, prev2 := wNone, wNone
	prevName := false
	with, recursive := false, false // in the head of WITH
	pendingCTE := 0
	write := s.kind == Insert || s.kind == Replace || s.kind == Update || s.kind == Delete
	k := l.next()
	if s.kind == Explain {
		// EXPLAIN [EXTENDED | FORMAT = x ...] statement, or the name of a table.
		for k = l.next(); l.isWord(wExtended, wPartitions, wFormat, wAnalyze) || k == Op; k = l.next() {
			if l.isWord(wFormat) {
				l.next()
				l.next()
			}
		}
		if k == Word && !l.isWord(wSelect, wInsert, wReplace, wUpdate, wDelete, wWith, wTable, wValues, wFor) || k == QuotedName {
			if ref, _, ok := s.tableName(l, k); ok {
				f.refs = append(f.refs, ref)
			}
			return
		}
	}
	for ; k != EOF; k = l.next() {
		if k == Invalid {
			f.sure = false
			return
		}
		lv := &f.levels[len(f.levels)-1]
		id := wNone
		if k == Word && l.word != nil {
			id = l.word.id
		}
		if k == Op && l.pos-l.start == 1 {
			id = opWord + wordID(s.sql[l.start])
		}
		if lv.expect && (k == QuotedName || k == Word && (l.word == nil || l.word.flags&wordReserved == 0)) {
			if id == wJSONTable && l.peekCall() {
				lv.expect = false
				prev2, prev, prevName = prev, wNone, true
				continue
			}
			if id == wLateral {
				continue
			}
			if id == wQuick || id == wOj {
				continue
			}
			lv.expect = false
			ref, _, ok := s.peekName(l, k)
			if !ok {
				f.sure = false
			}
			if l.peek() == '(' && !write {
				f.sure = false // a table function
			}
			f.add(ref, write && len(f.levels) == 1)
			if prev == wInto || prev == wInsert || prev == wReplace || prev == wIgnore && s.kind != Update && s.kind != Delete {
				write = false // what follows is read
				lv.from = false
			}
			prev2, prev, prevName = prev, wNone, true
			continue
		}
		switch id {
		case opWord + '(':
			next := tableLevel{}
			switch {
			case pendingCTE > 0 && prev == wAs:
				next.cte, pendingCTE = pendingCTE, 0
			case lv.expect:
				next.from, next.expect, next.query = true, true, true
				lv.expect = false
			case prevName:
				next.call = true
			}
			if len(f.levels) >= maxTableLevels {
				f.sure = false
				return
			}
			f.levels = append(f.levels, next)
		case opWord + ')':
			if c := lv.cte; c > 0 {
				f.ctes[c-1].visible = true
			}
			if len(f.levels) > 1 {
				f.levels = f.levels[:len(f.levels)-1]
			}
		case opWord + ',':
			if lv.from {
				lv.expect = true
			}
		case opWord + ';':
			f.sure = false
		case wWith:
			// WITH ROLLUP, WITH CHECK OPTION and the like follow other words.
			if f.cteFollows() {
				if len(f.levels) > 1 {
					f.sure = false // its names are not visible everywhere
				}
				with, recursive = true, false
			}
		case wRecursive:
			if prev == wWith {
				recursive = true
			}
		case wSelect:
			with = with && len(f.levels) > 1
			lv.query, lv.from, lv.expect, lv.call = true, false, false, false
		case wInsert, wReplace:
			if len(f.levels) == 1 && !lv.query {
				with = false
				lv.query, lv.expect = true, true
				write = true
			}
		case wUpdate:
			if prev == wFor || prev == wKey || prev == wOn {
				break
			}
			with = with && len(f.levels) > 1
			lv.query, lv.from, lv.expect = true, true, true
			write = true
		case wDelete:
			with = with && len(f.levels) > 1
			lv.query, lv.from, lv.expect = true, false, false
			write = true
		case wTable:
			if prev == wNone && !prevName || prev >= opWord && prev != opWord+')' || prev == wUnion || prev == wAll ||
				prev == wDistinct || prev == wExcept || prev == wIntersect || !lv.query {
				lv.expect, lv.from = true, false
			}
		case wFrom:
			if lv.query && !lv.call && !(prev == opWord+')' && f.nthValue()) {
				if s.kind == Delete && len(f.levels) == 1 {
					f.fromAt = len(f.refs)
				}
				lv.from, lv.expect = true, true
			}
		case wUsing:
			// DELETE FROM aliases USING tables; otherwise USING (columns).
			if s.kind == Delete && len(f.levels) == 1 && l.peek() != '(' {
				f.refs = f.refs[:f.fromAt]
				lv.from, lv.expect = true, true
			}
		case wJoin, wStraightJoin:
			if lv.from && prev != wFor {
				lv.expect = true
			}
		case wDual:
			lv.expect = false
		case wWhere, wGroup, wHaving, wOrder, wLimit, wUnion, wExcept, wIntersect, wSet, wWindow, wReturning, wLock, wProcedure:
			if prev == wFor { // USE INDEX FOR ORDER BY
				break
			}
			lv.from, lv.expect = false, false
			if id == wSet {
				write = false
			}
		case wFor:
			ahead := *l
			ahead.next()
			if ahead.isWord(wUpdate, wShare) {
				lv.from, lv.expect = false, false
			}
		case wInto:
			lv.from, lv.expect = false, false
			if s.kind == Insert || s.kind == Replace {
				if len(f.levels) == 1 && (prev == wInsert || prev == wReplace || prev == wIgnore || prev == wDelayed ||
					prev == wLowPriority || prev == wHighPriority) {
					lv.expect = true
				}
			}
		case wValues:
			lv.from, lv.expect = false, false
		}
		if with && len(f.levels) == 1 && (k == QuotedName || k == Word && (l.word == nil || l.word.flags&wordReserved == 0)) &&
			(prev == wWith || prev == wRecursive || prev == opWord+',') && id != wRecursive {
			f.ctes = append(f.ctes, cte{string(appendName(nil, s.sql[l.start:l.pos], s.mode)), recursive})
			pendingCTE = len(f.ctes)
		}
		prevName = k == QuotedName || k == Word && (l.word == nil || l.word.flags&wordReserved == 0 || callWord(id))
		prev2, prev = prev, id
	}
	_ = prev2
	if s.uses&Sequence != 0 {
		f.sure = false
	}
}

// cteFollows reports whether a common table expression follows the WITH just read.
func (f *tableFinder) cteFollows() bool {
	ahead := f.l
	if ahead.next(); ahead.isWord(wRecursive) {
		ahead.next()
	}
	k := ahead.next()
	return ahead.isWord(wAs) || k == Op && f.s.sql[ahead.start] == '('
}

// nthValue reports whether the FROM just read is that of NTH_VALUE(x, n) FROM FIRST OVER w.
func (f *tableFinder) nthValue() bool {
	ahead := f.l
	ahead.next()
	if w := f.s.sql[ahead.start:ahead.pos]; !equalFold(w, "first") && !equalFold(w, "last") {
		return false
	}
	ahead.next()
	w := f.s.sql[ahead.start:ahead.pos]
	return equalFold(w, "over") || equalFold(w, "ignore") || equalFold(w, "respect")
}

// callWord tells reserved words that are functions whose arguments can contain FROM.
func callWord(id wordID) bool {
	return id == wLeft || id == wRight || id == wIf || id == wReplace || id == wConvert
}

// add notes a name unless it is one of a common table expression.
func (f *tableFinder) add(ref TableRef, write bool) {
	if ref.DB == "" {
		for _, c := range f.ctes {
			if c.visible && equalName(c.name, ref.Name) {
				return
			}
		}
	}
	ref.Write = write
	f.refs = append(f.refs, ref)
}

func equalName(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

// tableName reads a table name whose first token, of kind k, was just read, and the token after it.
func (s *Statement) tableName(l *lexer, k TokenKind) (ref TableRef, next TokenKind, ok bool) {
	ref, _, ok = s.peekName(l, k)
	return ref, l.next(), ok
}

// peekName reads a table name whose first token was just read, and no further.
func (s *Statement) peekName(l *lexer, k TokenKind) (ref TableRef, _ TokenKind, ok bool) {
	if k != QuotedName && (k != Word || l.word != nil && l.word.flags&wordReserved != 0) {
		return ref, k, false
	}
	ref.Span = Span{l.start, l.pos}
	ref.Name = string(appendName(nil, s.sql[l.start:l.pos], s.mode))
	ahead := *l
	if ahead.next() == Op && s.sql[ahead.start] == '.' && ahead.pos-ahead.start == 1 {
		if k := ahead.next(); k == Word || k == QuotedName {
			ref.DB = ref.Name
			ref.Name = string(appendName(nil, s.sql[ahead.start:ahead.pos], s.mode))
			ref.End = ahead.pos
			*l = ahead
		}
	}
	return ref, k, true
}
