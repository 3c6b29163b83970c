package sqlparse

// Source is a table that rows are taken from: one of a FROM, of an UPDATE or of a DELETE. The target of an INSERT is
// none.
type Source struct {
	TableRef
	// Qualifier is how its columns are named, as written: its alias, or its own name.
	Qualifier Span
	// Aliased: Qualifier is an alias.
	Aliased bool
	// Block is the number of the SELECT, UPDATE or DELETE it stands in.
	Block int
	// Optional: it stands on that side of an outer join that may be missing.
	Optional bool
}

// Block is one SELECT, UPDATE or DELETE of a statement, which may be inside another one.
type Block struct {
	// Start is the offset of its SELECT, UPDATE or DELETE.
	Start int
	// Where is the offset behind its WHERE, or -1 if it has none.
	Where int
	// End is the offset where its condition ends, or where a WHERE would stand.
	End int
	// Outer is the number of the block this one stands in, or -1.
	Outer int
}

// Sources finds where conditions on tables can be added to a statement. sure is false when the statement is of a form in
// which some could be missed.
func (s *Statement) Sources() (sources []Source, blocks []Block, sure bool) {
	refs, sure := s.Tables()
	f := sourceFinder{s: s, l: s.dialect.lexer(s.sql[:s.end], s.mode), refs: refs, sure: sure}
	f.run()
	return f.sources, f.blocks, f.sure
}

// sourceFinder walks over the tokens once, with the tables known.
type sourceFinder struct {
	s    *Statement
	l    lexer
	refs []TableRef
	sure bool

	sources []Source
	blocks  []Block
	frames  []sourceFrame
}

type sourceClause uint8

const (
	noClause   sourceClause = iota
	listClause              // before FROM
	fromClause              // tables
	setClause
	whereClause
	afterClause
)

// sourceFrame is what is known inside one pair of parentheses.
type sourceFrame struct {
	block  int // -1: none begun here
	clause sourceClause
	nest   bool // parentheses around joined tables of the block outside
	// of a list of joined tables: the operands that are not complete, each inside of the one before; the first one is all since the last
	// comma. And the words of a join before its JOIN.
	operands             []operand
	natural, left, right bool
}

// operand is a table, or joined ones, of which more may follow: in a LEFT JOIN b JOIN c ON 1 ON 2 the first ON completes c, and
// the second one b JOIN c.
type operand struct {
	first    int  // its first source
	optional bool // it may be missing
	single   bool // of a NATURAL JOIN: one table, or one pair of parentheses
	right    bool // it is the left side of a RIGHT JOIN
}

// operand returns the innermost operand.
func (fr *sourceFrame) operand() *operand { return &fr.operands[len(fr.operands)-1] }

// complete ends the innermost operand, unless that is the whole list.
func (fr *sourceFrame) complete() {
	if fr.completeSingle(); len(fr.operands) > 1 {
		fr.operands = fr.operands[:len(fr.operands)-1]
	}
}

// completeSingle ends the operands of NATURAL JOINs, behind which something else follows.
func (fr *sourceFrame) completeSingle() {
	for fr.operand().single {
		fr.operands = fr.operands[:len(fr.operands)-1]
	}
}

func (f *sourceFinder) run() {
	s, l := f.s, &f.l
	f.frames = []sourceFrame{{block: -1}}
	ref := 0
	end, prevEnd := 0, 0 // of the last tokens
	prev := wNone
	for k := l.next(); k != EOF; k = l.next() {
		if k == Invalid || len(f.frames) > maxTableLevels {
			f.sure = false
			return
		}
		fr := &f.frames[len(f.frames)-1]
		id := l.id(k)
		for ref < len(f.refs) && f.refs[ref].Start < l.start {
			ref++
		}
		if ref < len(f.refs) && f.refs[ref].Start == l.start {
			l.pos = f.refs[ref].End
			if fr.clause == fromClause {
				f.source(fr, f.refs[ref])
			} else if !f.refs[ref].Write || s.kind == Update || s.kind == Delete && fr.clause != listClause {
				f.sure = false // TABLE t, or something else without a place for conditions
			}
			prevEnd, end, prev = end, l.pos, wNone
			continue
		}
		switch id {
		case opWord + '(':
			next := sourceFrame{block: -1}
			if fr.clause == fromClause && (prev == wFrom || prev == opWord+',' || prev == wJoin || prev == wStraightJoin || prev == opWord+'(' || prev == wUpdate || prev == wUsing || prev == wLateral || prev == wOj) {
				next.nest, next.block, next.clause = true, fr.block, fromClause
				next.operands = []operand{{first: len(f.sources), optional: fr.operand().optional}}
			}
			f.frames = append(f.frames, next)
		case opWord + ')':
			if fr.nest {
				f.endList(fr)
			} else {
				f.close(fr, end)
			}
			if len(f.frames) == 1 {
				f.sure = false
				return
			}
			f.frames = f.frames[:len(f.frames)-1]
		default:
			f.word(fr, id, prev, end, prevEnd)
		}
		prevEnd, end, prev = end, l.pos, id
	}
	f.close(&f.frames[0], end)
}

// source notes a table and looks for its alias.
func (f *sourceFinder) source(fr *sourceFrame, r TableRef) {
	src := Source{TableRef: r, Qualifier: r.Span, Block: fr.block, Optional: fr.operand().optional}
	ahead := f.l
	k := ahead.next()
	if ahead.word != nil && ahead.word.id == wAs && k == Word {
		k = ahead.next()
	}
	if k == QuotedName || k == Word && !f.endsName(ahead.word) {
		src.Qualifier, src.Aliased = Span{ahead.start, ahead.pos}, true
	}
	f.sources = append(f.sources, src)
}

// endsName reports whether an unquoted word behind a table's name is no alias.
func (f *sourceFinder) endsName(w *wordEntry) bool {
	if w == nil {
		return false
	}
	switch w.id {
	case wExcept, wIntersect, wMinus, wWindow, wReturning:
		return true
	}
	return w.flags&wordReserved != 0
}

// word follows the words that begin and end clauses.
func (f *sourceFinder) word(fr *sourceFrame, id, prev wordID, end, prevEnd int) {
	switch id {
	case wSelect, wDelete:
		if fr.nest && fr.block >= 0 && prev == opWord+'(' {
			*fr = sourceFrame{block: -1} // a derived table
		}
		f.begin(fr, listClause)
	case wUpdate:
		if prev == wKey || prev == wFor || prev == wOn {
			f.end(fr, end) // ON DUPLICATE KEY UPDATE, FOR UPDATE
			return
		}
		f.begin(fr, fromClause)
	case wFrom:
		if fr.clause == listClause {
			fr.clause = fromClause
		}
	case wUsing:
		if f.s.kind == Delete && fr.clause == fromClause && len(f.frames) == 1 && f.l.peek() != '(' {
			f.sources, fr.operands = f.sources[:0], []operand{{}}
		} else if fr.clause == fromClause {
			fr.complete()
		}
	case opWord + ',':
		if fr.clause == fromClause {
			f.endList(fr)
			fr.operands = []operand{{first: len(f.sources), optional: fr.operands[0].optional}}
		}
	case wNatural:
		fr.natural = fr.clause == fromClause
	case wLeft, wRight, wFull:
		if fr.clause == fromClause && f.joinFollows() {
			fr.left, fr.right = id != wRight, id != wLeft
		}
	case wJoin, wStraightJoin:
		if fr.clause == fromClause && prev != wFor { // USE INDEX FOR JOIN
			f.join(fr)
		}
	case wOn:
		ahead := f.l
		if ahead.next(); fr.clause == fromClause && !ahead.isWord(wDuplicate) {
			fr.complete()
		}
	case wSet:
		if fr.clause == fromClause {
			f.endList(fr)
			fr.clause = setClause
		}
	case wWhere:
		if fr.clause == fromClause || fr.clause == setClause {
			f.endList(fr)
			fr.clause = whereClause
			f.blocks[fr.block].Where = f.l.pos
		}
	case wGroup, wOrder:
		if prev != wFor { // USE INDEX FOR ORDER BY
			f.end(fr, end)
		}
	case wHaving, wLimit, wLock, wInto, wProcedure, wUnion, wExcept, wIntersect, wReturning, wWindow:
		f.end(fr, end)
		if id == wUnion || id == wExcept || id == wIntersect {
			fr.block, fr.clause = -1, noClause
		}
	case wFor:
		ahead := f.l
		if ahead.next(); !ahead.isWord(wJoin, wOrder, wGroup, wSystemTime) {
			f.end(fr, end)
		}
	case wDuplicate:
		if prev == wOn {
			f.end(fr, prevEnd)
		}
	}
}

// join begins the right operand of a join.
func (f *sourceFinder) join(fr *sourceFrame) {
	fr.completeSingle()
	if fr.right {
		f.missing(fr, fr.operand().first, len(f.sources))
		fr.operand().right = true
	}
	fr.operands = append(fr.operands, operand{first: len(f.sources), optional: fr.operand().optional || fr.left, single: fr.natural})
	fr.natural, fr.left, fr.right = false, false, false
}

// endList ends a list of joined tables. Joins that have got no ON are as if they stood in parentheses: a JOIN b RIGHT JOIN c ON 1
// is (a JOIN b) RIGHT JOIN c ON 1.
func (f *sourceFinder) endList(fr *sourceFrame) {
	fr.completeSingle()
	for len(fr.operands) > 1 {
		last := *fr.operand()
		if fr.complete(); last.right {
			f.missing(fr, fr.operand().first, last.first)
			fr.operand().right = true
		}
	}
}

// missing notes that tables of the frame's list may be missing. Those inside of a derived table have conditions of their own.
func (f *sourceFinder) missing(fr *sourceFrame, from, to int) {
	for i := from; i < to; i++ {
		if f.sources[i].Block == fr.block {
			f.sources[i].Optional = true
		}
	}
}

// joinFollows reports whether the LEFT or RIGHT just read is that of a join.
func (f *sourceFinder) joinFollows() bool {
	ahead := f.l
	ahead.next()
	return ahead.isWord(wJoin, wOuter)
}

// begin begins a block.
func (f *sourceFinder) begin(fr *sourceFrame, clause sourceClause) {
	outer := -1
	for i := len(f.frames) - 2; i >= 0 && outer < 0; i-- {
		outer = f.frames[i].block
	}
	fr.block, fr.clause, fr.operands = len(f.blocks), clause, []operand{{first: len(f.sources)}}
	f.blocks = append(f.blocks, Block{Start: f.l.start, Where: -1, End: -1, Outer: outer})
}

// end ends the condition of the frame's block at offset end, if it has not ended yet.
func (f *sourceFinder) end(fr *sourceFrame, end int) {
	if fr.nest {
		return
	}
	f.close(fr, end)
}

func (f *sourceFinder) close(fr *sourceFrame, end int) {
	if fr.clause == fromClause {
		f.endList(fr)
	}
	switch fr.clause {
	case fromClause, setClause, whereClause:
		f.blocks[fr.block].End = end
		fr.clause = afterClause
	}
}
