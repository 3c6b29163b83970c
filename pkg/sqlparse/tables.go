package sqlparse

import (
	"slices"
	"strings"
)

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

// Alias is what the statement calls a table that it names, "" where it has no other name.
func (s *Statement) Alias(ref TableRef) string {
	toks := s.TokensFrom(ref.End)
	next := toks.Next()
	if s.Is(next, "AS") {
		next = toks.Next()
	} else if next.Kind == Word && s.follows(next) {
		return ""
	}
	if next.Kind != Word && next.Kind != QuotedName {
		return ""
	}
	return string(s.AppendName(nil, next))
}

// follows reports whether a word behind the name of a table is a reserved one, which cannot be its alias.
func (s *Statement) follows(word Token) bool {
	switch strings.ToUpper(string(s.Text(word.Span))) {
	case "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "FETCH", "FOR", "LOCK", "INTO", "UNION", "EXCEPT", "INTERSECT", "WINDOW", "JOIN", "INNER", "CROSS",
		"LEFT", "RIGHT", "NATURAL", "STRAIGHT_JOIN", "ON", "USING", "USE", "IGNORE", "FORCE", "PROCEDURE", "QUALIFY", "SET", "SELECT", "VALUES", "FROM":
		return true
	case "OFFSET", "RETURNING":
		return s.dialect.mariadb
	}
	return false
}

// CTE is a common table expression.
type CTE struct {
	Name      string
	Outermost bool   // its WITH stands in no parentheses
	Head      Span   // the name
	Body      Span   // the query, without its parentheses
	Refs      []Span // where it is read, in order
}

// CommonTables finds the common table expressions of a query, or of a statement that writes, and where they are read. What is said of Tables
// holds, and sure is false where they are those of more than one WITH.
func (s *Statement) CommonTables() (list []CTE, sure bool) {
	switch s.kind {
	case Select, Insert, Replace, Update, Delete:
	default:
		return nil, false
	}
	f := tableFinder{s: s, l: s.dialect.lexer(s.sql[:s.end], s.mode), sure: true}
	f.query()
	for _, c := range f.ctes {
		f.sure = f.sure && c.with == f.ctes[0].with && c.body.Start > 0 && c.body.End >= c.body.Start
		list = append(list, CTE{c.name, c.level == 1, c.head, c.body, c.refs})
	}
	return list, f.sure
}

// tableFinder walks over the tokens once.
type tableFinder struct {
	s    *Statement
	l    lexer
	refs []TableRef
	sure bool

	levels []tableLevel
	ctes   []cte

	prev     wordID // last token, as scanState has it
	prevName bool   // it can be the name of a function
	write    bool   // the next name of the outermost level is written to
	fromAt   int    // refs before the FROM of a DELETE
	joined   bool   // it has joins by then, and USING has columns

	withs   int  // that have been read
	forward bool // common table expressions may be read before they stand in the text
	pending int  // table expression whose query is to come, plus 1
}

// tableLevel is what is known inside one pair of parentheses.
type tableLevel struct {
	query  bool // a SELECT, UPDATE, ... stands here: FROM begins table names
	from   bool // among table names and what joins them
	expect bool // the next name is a table
	call   bool // arguments of a function
	cte    int  // the table expression whose query this is, plus 1

	with, recursive bool // in the head of WITH
	withs           int  // how many there have been by then in all
}

// cte is a common table expression: its name counts from its end on, of a recursive one from its beginning, to the end of the
// parentheses that it stands in.
type cte struct {
	name    string
	level   int // how many levels there are where it stands
	with    int // which WITH it is of
	visible bool
	head    Span   // the name
	body    Span   // the query, without its parentheses
	refs    []Span // where it is read
}

// query finds the tables of a statement made of queries.
func (f *tableFinder) query() {
	s, l := f.s, &f.l
	f.levels = append(f.levels, tableLevel{})
	f.write = s.kind == Insert || s.kind == Replace || s.kind == Update || s.kind == Delete
	k := l.next()
	if s.kind == Explain {
		var done bool
		if k, done = f.explained(); done {
			return
		}
	}
	for ; k != EOF; k = l.next() {
		if k == Invalid || len(f.levels) > maxTableLevels {
			f.sure = false
			return
		}
		lv := &f.levels[len(f.levels)-1]
		id := l.id(k)
		name := k == QuotedName || k == Word && (l.word == nil || l.word.flags&wordReserved == 0)
		if lv.expect && name {
			f.factor(lv, k, id)
			continue
		}
		switch id {
		case opWord + '(', opWord + ')', opWord + ',', opWord + ';':
			f.punctuation(lv, id)
		default:
			if id != wNone && id < opWord {
				f.keyword(lv, id)
			}
		}
		if name && lv.with && id != wRecursive &&
			(f.prev == wWith || f.prev == wRecursive || f.prev == opWord+',') {
			f.ctes = append(f.ctes, cte{
				name: string(appendName(nil, s.sql[l.start:l.pos], s.mode)), level: len(f.levels), with: lv.withs, visible: lv.recursive,
				head: Span{l.start, l.pos},
			})
			f.pending = len(f.ctes)
		}
		f.prevName = name || callWord(id)
		f.prev = id
	}
	if s.uses&Sequence != 0 {
		f.sure = false
	}
	if f.forward {
		// Names of inner ones do not count everywhere.
		f.sure = f.sure && !slices.ContainsFunc(f.ctes, func(c cte) bool { return c.level > 1 })
		f.findForward()
	}
}

// findForward takes the names of common table expressions that stand before them out of the tables: behind WITH RECURSIVE
// each can read those behind it, on MariaDB.
func (f *tableFinder) findForward() {
	kept := f.refs[:0]
	for _, r := range f.refs {
		at := -1
		for i := range f.ctes {
			if !r.Write && r.DB == "" && equalName(f.ctes[i].name, r.Name) {
				at = i
			}
		}
		if at < 0 {
			kept = append(kept, r)
			continue
		}
		c := &f.ctes[at]
		c.refs = append(c.refs, r.Span)
		slices.SortFunc(c.refs, func(a, b Span) int { return a.Start - b.Start })
	}
	f.refs = kept
}

// explained reads the head of an EXPLAIN: [EXTENDED | FORMAT = x ...] and a statement, or the name of a table.
func (f *tableFinder) explained() (k TokenKind, done bool) {
	l := &f.l
	for k = l.next(); l.isWord(wExtended, wPartitions, wFormat, wAnalyze) || k == Op; k = l.next() {
		if l.isWord(wFormat) {
			l.next() // the equals sign
			l.next()
		}
	}
	if l.isWord(wSelect, wInsert, wReplace, wUpdate, wDelete, wWith, wTable, wValues, wFor) {
		return k, false
	}
	ref, _, ok := f.s.peekName(l, k)
	if ok {
		f.refs = append(f.refs, ref)
	}
	return k, ok
}

// factor takes the name where a table is expected.
func (f *tableFinder) factor(lv *tableLevel, k TokenKind, id wordID) {
	prev := f.prev
	switch {
	case id == wLateral, id == wQuick, id == wOj:
		return
	case id == wJSONTable && f.l.peekCall():
		lv.expect = false
		f.prev, f.prevName = wNone, true
		return
	}
	lv.expect = false
	ref, _, ok := f.s.peekName(&f.l, k)
	if !ok {
		f.sure = false
	}
	if f.l.peek() == '(' && !f.write {
		f.sure = false // a table function
	}
	f.add(ref, f.write && len(f.levels) == 1)
	if (f.s.kind == Insert || f.s.kind == Replace || f.s.kind == Explain) && isInsertHead(prev) {
		f.write, lv.from = false, false // what follows is read
	}
	f.prev, f.prevName = wNone, true
}

// isInsertHead tells the words that stand before the table of an INSERT or REPLACE.
func isInsertHead(id wordID) bool {
	switch id {
	case wInsert, wReplace, wIgnore, wDelayed, wLowPriority, wHighPriority, wInto:
		return true
	}
	return false
}

func (f *tableFinder) punctuation(lv *tableLevel, id wordID) {
	switch id {
	case opWord + '(':
		next := tableLevel{}
		switch {
		case f.pending > 0 && f.prev == wAs:
			next.cte, f.pending = f.pending, 0
			f.ctes[next.cte-1].body.Start = f.l.pos
		case lv.expect:
			next.from, next.expect, next.query = true, true, true
			lv.expect = false
		case f.prevName:
			next.call = true
		}
		f.levels = append(f.levels, next)
	case opWord + ')':
		if lv.cte > 0 {
			f.ctes[lv.cte-1].visible = true
			f.ctes[lv.cte-1].body.End = f.l.start
		}
		if len(f.levels) > 1 {
			f.levels = f.levels[:len(f.levels)-1]
			for i := range f.ctes {
				f.ctes[i].visible = f.ctes[i].visible && f.ctes[i].level <= len(f.levels)
			}
		}
	case opWord + ',':
		lv.expect = lv.expect || lv.from
	case opWord + ';':
		f.sure = false
	}
}

// keyword follows the words that begin and end lists of tables.
func (f *tableFinder) keyword(lv *tableLevel, id wordID) {
	l := &f.l
	outermost := len(f.levels) == 1
	switch id {
	case wWith:
		// WITH ROLLUP, WITH CHECK OPTION and the like follow other words.
		if f.cteFollows() {
			f.withs++
			lv.with, lv.recursive, lv.from, lv.expect, lv.withs = true, false, false, false, f.withs
		}
	case wRecursive:
		lv.recursive = lv.recursive || f.prev == wWith
		f.forward = f.forward || lv.recursive && f.s.dialect.mariadb
	case wSelect, wDelete:
		lv.with = false
		f.write = f.write || id == wDelete
		lv.query, lv.from, lv.expect, lv.call = true, false, false, false
	case wUpdate:
		if f.prev == wFor || f.prev == wOn {
			return
		}
		if f.prev == wKey { // ON DUPLICATE KEY UPDATE: commas between its assignments follow the tables of a SELECT
			lv.from, lv.expect = false, false
			return
		}
		lv.with = false
		lv.query, lv.from, lv.expect = true, true, true
		f.write = true
	case wInsert, wReplace:
		if outermost && !lv.query {
			lv.with = false
			lv.query, lv.expect = true, true
			f.write = true
		}
	case wInto:
		lv.from = false
		lv.expect = outermost && f.s.kind != Select && isInsertHead(f.prev)
	case wTable:
		lv.expect, lv.from = true, false
	case wFrom:
		if !lv.query || lv.call || f.prev == opWord+')' && f.nthValue() {
			return
		}
		if f.s.kind == Delete && outermost {
			f.fromAt = len(f.refs)
		}
		lv.from, lv.expect = true, true
	case wUsing:
		// DELETE FROM aliases USING tables; otherwise USING (columns).
		if f.s.kind == Delete && outermost && (l.peek() != '(' || !f.joined) {
			f.refs = f.refs[:f.fromAt]
			lv.from, lv.expect = true, true
		}
	case wJoin, wStraightJoin:
		lv.expect = lv.expect || lv.from && f.prev != wFor
		f.joined = f.joined || outermost
	case wDual:
		lv.expect = false
	case wFor:
		ahead := *l
		if ahead.next(); ahead.isWord(wUpdate, wShare) {
			lv.from, lv.expect = false, false
		}
	case wWhere, wGroup, wHaving, wOrder, wLimit, wUnion, wExcept, wIntersect, wSet, wWindow, wReturning, wLock, wProcedure,
		wValues:
		if f.prev == wFor { // USE INDEX FOR ORDER BY
			return
		}
		lv.from, lv.expect = false, false
		f.write = f.write && id != wSet
	case wIgnore, wLowPriority, wHighPriority, wDelayed, wQuick:
	default:
		f.sure = f.sure && !lv.expect // a table is expected, and this is no name of one
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
		for i := range slices.Backward(f.ctes) { // an inner one hides others
			if c := &f.ctes[i]; c.visible && equalName(c.name, ref.Name) {
				if !f.s.dialect.mariadb && c.name != ref.Name {
					f.sure = false // another name, unless lower_case_table_names says otherwise
					break
				}
				c.refs = append(c.refs, ref.Span)
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
