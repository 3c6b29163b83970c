package sqlparse

// Next splits off the first statement of sql, without its `;`. rest is nil when nothing but white space and further `;`
// follow. Compound bodies (CREATE PROCEDURE, FUNCTION, TRIGGER, EVENT, PACKAGE; BEGIN NOT ATOMIC) are one statement.
// Text that cannot be read to its end (an unclosed string) is one statement. Statement.Scan does the same on its
// way, and leaves out a comment at the end: who scans anyway needs no Next.
func (d *Dialect) Next(sql []byte, mode Mode) (first, rest []byte) {
	l := d.lexer(sql, mode)
	split := splitter{mariadb: d.mariadb, oracle: mode&Oracle != 0}
	for {
		k := l.next()
		if k == EOF || k == Invalid {
			return sql, nil
		}
		if split.phase != splitOff {
			split.token(&l, k)
		}
		if k != Op || sql[l.start] != ';' || l.code > 0 || split.inBody() {
			continue
		}
		s := Statement{dialect: d, sql: sql, mode: mode, rest: -1, further: -1}
		first = sql[:l.start]
		s.findRest(l.pos)
		return first, s.Rest()
	}
}

// splitPhase is how far a splitter has read.
type splitPhase uint8

const (
	splitStart   splitPhase = iota // nothing yet
	splitSet                       // after SET, which may be SET STATEMENT ... FOR another statement
	splitCreate                    // after CREATE or ALTER: of what?
	splitHeader                    // trigger before ROW, event before DO
	splitPending                   // the body may begin with the next word
	splitBody                      // in the body, or in compound statements outside of programs
	splitForever                   // a package, or any program in sql_mode ORACLE: to the end of the text
	splitOff                       // no compound statement: every ; ends it
)

// blockKind is what an END closes.
type blockKind uint8

const (
	blockBegin blockKind = iota + 1
	blockIf
	blockCase
	blockCaseExpr
	blockLoop
	blockWhile
	blockRepeat
	blockFor
)

// maxBlocks is how deep blocks may nest for a splitter to follow.
const maxBlocks = 64

// splitter follows the blocks of a stored program's body, so that a `;` inside of them ends no statement.
type splitter struct {
	phase   splitPhase
	mariadb bool
	oracle  bool // sql_mode ORACLE, whose programs have a language of their own
	event   bool // CREATE EVENT: the body begins after DO
	tokens  int
	depth   int  // parentheses
	start   bool // a statement may begin with the next word
	handler bool // in DECLARE ... HANDLER: a block may begin anywhere
	closed  bool // the last word was the END of a block
	prev    wordID
	blocks  [maxBlocks]blockKind
	n       int
}

// inBody reports whether a `;` that comes now is part of the statement.
func (p *splitter) inBody() bool { return p.n > 0 || p.phase == splitForever }

// token takes the token the lexer has just read.
func (p *splitter) token(l *lexer, k TokenKind) {
	p.tokens++
	id := wNone
	var flags wordFlag
	if k == Word && l.word != nil {
		id, flags = l.word.id, l.word.flags
	}
	if k == Op {
		switch l.sql[l.start] {
		case '(':
			p.depth++
		case ')':
			p.depth--
		}
	}
	switch p.phase {
	case splitStart:
		if p.oracle && (id == wBegin || id == wDeclare) {
			p.phase = splitForever
			return
		}
		p.first(id)
	case splitSet:
		switch {
		case p.tokens == 2 && id != wStatement:
			p.phase = splitOff
		case id == wFor && p.depth == 0:
			p.phase, p.tokens = splitStart, 0
		}
	case splitCreate:
		p.create(id)
	case splitHeader:
		if !p.event && id == wRow && p.prev == wEach || p.event && id == wDo && p.depth == 0 {
			p.phase, p.start = splitPending, true
		}
	case splitPending:
		if p.depth == 0 {
			p.pending(id, flags)
		}
	case splitBody:
		p.body(l, k, id)
	}
	p.prev = id
}

// first looks at the first word of a statement.
func (p *splitter) first(id wordID) {
	switch id {
	case wCreate, wAlter:
		p.phase = splitCreate
		return
	case wSet:
		if p.mariadb {
			p.phase = splitSet
			return
		}
	case wBegin:
		if p.mariadb {
			p.phase = splitPending // BEGIN NOT ATOMIC, or a transaction
			return
		}
	case wIf, wCase, wLoop, wWhile, wRepeat, wFor:
		if p.mariadb {
			p.phase, p.start = splitBody, true
			p.open(id)
			return
		}
	}
	p.phase = splitOff
}

// create looks for what is created: a program, or something without a body.
func (p *splitter) create(id wordID) {
	const longest = 16 // tokens between CREATE and the word, a DEFINER among them
	if p.oracle && (id == wProcedure || id == wFunction || id == wTrigger || id == wEvent) {
		p.phase = splitForever
		return
	}
	switch id {
	case wProcedure, wFunction:
		p.phase = splitPending
	case wTrigger:
		p.phase = splitHeader
	case wEvent:
		p.phase, p.event = splitHeader, true
	case wPackage:
		p.phase = splitForever
	case wTable, wView, wIndex, wDatabase, wSchema, wUnique, wFulltext, wSpatial, wTemporary, wUser, wRole, wSequence:
		p.phase = splitOff
	default:
		if p.tokens > longest {
			p.phase = splitOff
		}
	}
}

// pending looks at the words before a body.
func (p *splitter) pending(id wordID, flags wordFlag) {
	if p.prev == wBegin && p.tokens == 2 {
		// BEGIN outside of a program.
		if id != wNot {
			p.phase = splitOff
			return
		}
		p.push(blockBegin)
		p.phase = splitBody
		return
	}
	switch {
	case id == wIf && (p.prev == wProcedure || p.prev == wFunction || p.prev == wTrigger || p.prev == wEvent):
		// IF NOT EXISTS
	case id == wSet && (p.prev == wCharacter || p.prev == wChar):
		// the CHARACTER SET of what a function returns
	case id == wBegin, id == wIf, id == wCase, id == wLoop, id == wWhile, id == wRepeat, id == wFor:
		p.phase, p.start = splitBody, true
		p.open(id)
	case flags&wordVerb != 0:
		p.phase, p.start = splitBody, false
	}
}

// body follows the blocks of a body.
func (p *splitter) body(l *lexer, k TokenKind, id wordID) {
	start, closed := p.start, p.closed
	p.start, p.closed = false, false
	if p.prev == wNot && p.tokens == 3 && p.n == 1 && p.blocks[0] == blockBegin {
		p.start = true // ATOMIC
		return
	}
	if start && (id == wNot && p.prev == wBegin || p.prev == wNot) { // of a block in a program, which says NOT ATOMIC, too
		p.start = true
		return
	}
	if k == Op {
		switch l.sql[l.start] {
		case ';':
			p.start, p.handler = true, false
		case ':':
			p.start = true // after a label
		}
		return
	}
	if k == StringLit || id == wNone {
		return
	}
	switch id {
	case wEnd:
		p.end(start)
	case wThen, wElse, wDo:
		p.start = p.n > 0 && p.blocks[p.n-1] != blockCaseExpr
	case wHandler:
		p.handler = p.prev != wNone || p.handler || start
	case wBegin, wIf, wCase, wLoop, wWhile, wRepeat, wFor:
		if closed {
			return // END IF
		}
		if id == wFor && p.prev == wHandler {
			return
		}
		p.start = start || p.handler
		p.open(id)
	}
}

// open opens a block at word id, if it is one: p.start tells whether a statement may begin here.
func (p *splitter) open(id wordID) {
	start := p.start
	p.start = false
	if !start {
		if id == wCase {
			p.push(blockCaseExpr)
		}
		return
	}
	p.handler = false
	switch id {
	case wBegin:
		p.push(blockBegin)
		p.start = true
	case wIf:
		p.push(blockIf)
	case wCase:
		p.push(blockCase)
	case wLoop:
		p.push(blockLoop)
		p.start = true
	case wWhile:
		p.push(blockWhile)
	case wRepeat:
		p.push(blockRepeat)
		p.start = true
	case wFor:
		p.push(blockFor)
	}
}

func (p *splitter) push(b blockKind) {
	if p.n == maxBlocks {
		p.phase = splitForever
		return
	}
	p.blocks[p.n] = b
	p.n++
}

// end closes a block, if END stands where one can end: END is no reserved word.
func (p *splitter) end(start bool) {
	if p.n == 0 {
		return
	}
	switch p.blocks[p.n-1] {
	case blockCaseExpr:
		p.n--
		return
	case blockRepeat:
	default:
		if !start {
			return
		}
	}
	p.n--
	p.closed = true
}
