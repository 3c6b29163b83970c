package sqlparse

import "bytes"

// The shape is a sequence of tokens that can be told apart without looking at the text it came from:
//
//	0x01 id id                reserved word
//	word 0x00                 any other word, as written
//	"..." `...` '...' 0x00    quoted name, or string that is no value (an alias)
//	@x 0x00  @@x 0x00         variables
//	c                         operator of one byte, >= 0x20 and none of the above
//	0x03 operator 0x00        longer operator
//	0x04 class                literal or parameter
//	0x05 mask mask            list, with a bit for each class in it
//	0x06 charset 0x00 class   literal with a character set introducer
//	0x07                      plain value in a VALUES row
//	0x08 number 0x00          number that is no value (a length in a type)
//	0x09 c                    byte that is no SQL
//	0x0a                      end of a VALUES row that is in the shape
//	0x0b                      space between a function name and its parenthesis, where it matters
//	0x0c hint 0x00            optimizer hint
const (
	shapeReserved = 0x01
	shapeOp       = 0x03
	shapeLiteral  = 0x04
	shapeList     = 0x05
	shapeCharset  = 0x06
	shapePlain    = 0x07
	shapeNumber   = 0x08
	shapeBad      = 0x09
	shapeRowEnd   = 0x0a
	shapeSpace    = 0x0b
	shapeHint     = 0x0c
)

// opWord makes a wordID of an operator of one byte, for the question what stood before.
const opWord wordID = 0xf000

// scanState is what Scan knows between two tokens.
type scanState struct {
	lex   lexer
	heads heads

	prev, prev2 wordID   // last two tokens: keyword, opWord of an operator, wNone of others
	prevFlags   wordFlag // of prev
	prevEnd     int
	operand     bool // last token ends an operand
	into        bool // in the variable list of INTO

	depth     int // open parentheses
	maxDepth  int
	typeDepth int  // depth inside the parentheses of a type name, else 0
	leading   int  // parentheses the statement begins with, none of which was closed: see opening
	begun     bool // the statement, or the one that it explains, with a parenthesis or a verb
	with      bool // among the table expressions of its WITH
	tokens    int
	quotable  bool // a word that only vitess reserves
	insert    bool // INSERT or REPLACE before its VALUES

	selectDepth int  // of the SELECT whose list is being read, -1 otherwise
	selectMods  bool // among DISTINCT and the like
	selectSeen  bool

	split splitter
}

// run reads tokens to the end of the first statement. It returns the offset it cannot read on from, or -1.
func (s *Statement) run() int {
	st := &s.scan
	st.lex = s.dialect.lexer(s.sql, s.mode)
	st.selectDepth = -1
	st.split.mariadb, st.split.oracle = s.dialect.mariadb, s.mode&Oracle != 0
	l := &st.lex
	for {
		k := l.next()
		if k == EOF {
			s.finish(l.start)
			return -1
		}
		if k == Invalid {
			return l.start
		}
		if st.split.phase != splitOff {
			st.split.token(l, k)
		}
		if k == Op && s.sql[l.start] == ';' && !st.split.inBody() {
			if l.code > 0 {
				return l.start
			}
			s.finish(l.start)
			s.findRest(l.pos)
			return -1
		}
		s.take(k)
		if st.insert && st.depth == 0 && (st.prev == wValues ||
			st.prev == wValue && (st.prev2 == wNone || st.prev2 == opWord+')')) {
			s.valuesRows()
		}
	}
}

// finish ends the statement at offset end, or before a comment behind its last token that ends with its line: what is written behind
// the statement's text must not become part of it.
func (s *Statement) finish(end int) {
	if l := &s.scan.lex; l.noted >= 0 && s.scan.tokens > 0 {
		end = l.noted
	}
	s.end = end
	s.endSelectList()
}

func (s *Statement) endSelectList() {
	st := &s.scan
	if st.selectDepth < 0 {
		return
	}
	st.selectDepth = -1
	s.selectList.End = st.prevEnd
	if st.selectMods || s.selectList.Start > st.prevEnd { // an empty list
		s.selectList.Start, st.selectMods = st.prevEnd, false
	}
}

// findRest looks at what follows the `;` that ends at offset p.
func (s *Statement) findRest(p int) {
	if len(bytes.TrimLeft(s.sql[p:], "; \t\n\v\f\r")) == 0 {
		return
	}
	s.rest = p
	l := s.dialect.lexer(s.sql, s.mode)
	l.pos = p
	first := -1
	for k := l.next(); k != EOF; k = l.next() {
		if first < 0 {
			first = l.start
		}
		if k != Op || s.sql[l.start] != ';' || l.code > 0 {
			s.further = first
			return
		}
	}
}

// take enters the token just read, of kind k, into shape and arguments.
func (s *Statement) take(k TokenKind) {
	st := &s.scan
	l := &st.lex
	st.tokens++
	if st.selectMods && (k != Word || l.word == nil || !isSelectModifier(l.word.id)) && k != HintComment {
		st.selectMods = false
		s.selectList.Start, s.selectCode = l.start, l.code > 0
	}
	var prev wordID
	var flags wordFlag
	switch k {
	case Word:
		w := l.word
		if w == nil {
			s.shape = append(s.shape, s.sql[l.start:l.pos]...)
			s.shape = append(s.shape, 0)
			st.operand = true
			st.heads.add(wNone)
			break
		}
		st.heads.add(w.id)
		if w.flags&wordCharset != 0 || !st.operand && (w.id == wDate || w.id == wTime || w.id == wTimestamp) {
			start, end := l.start, l.pos
			if a, ok := literal(l, k, false); ok {
				if w.flags&wordCharset != 0 {
					s.shape = append(s.shape, shapeCharset)
					for _, c := range s.sql[start:end] {
						s.shape = append(s.shape, lower(c))
					}
					s.shape = append(s.shape, 0, byte(a.class))
				} else {
					s.shape = append(s.shape, shapeLiteral, byte(a.class))
				}
				s.addArg(a)
				st.operand = true
				break
			}
		}
		s.keyword(w)
		prev, flags = w.id, w.flags
	case QuotedName:
		s.verbatim()
		st.operand = true
	case StringLit, NStringLit:
		if st.operand || st.prevFlags&wordText != 0 {
			s.verbatim()
			st.operand = true
			break
		}
		s.literal(k)
	case IntLit, DecimalLit, FloatLit:
		if st.typeDepth > 0 {
			s.shape = append(s.shape, shapeNumber)
			s.verbatim()
			st.operand = true
			break
		}
		s.literal(k)
	case HexLit, BitLit, Param:
		s.literal(k)
	case UserVar:
		s.userVar()
		s.verbatim()
		st.operand = true
	case SysVar:
		s.uses |= ReadsSystemVariable | sysVarUses(s.sql[l.start:l.pos])
		s.verbatim()
		st.operand = true
	case HintComment:
		s.uses |= Hint
		s.shape = append(s.shape, shapeHint)
		s.verbatim()
		st.operand = false
	case Op:
		prev = s.operator()
	}
	st.prev2, st.prev, st.prevFlags = st.prev, prev, flags
	st.prevEnd = l.pos
}

// verbatim enters the token's text into the shape.
func (s *Statement) verbatim() {
	l := &s.scan.lex
	s.shape = append(s.shape, s.sql[l.start:l.pos]...)
	s.shape = append(s.shape, 0)
}

// literal enters a literal or parameter that begins with the token just read.
func (s *Statement) literal(k TokenKind) {
	a, _ := literal(&s.scan.lex, k, false)
	s.shape = append(s.shape, shapeLiteral, byte(a.class))
	s.addArg(a)
	s.scan.operand = true
}

// addArg numbers a as the next argument.
func (s *Statement) addArg(a arg) {
	if a.class == ClassParam {
		a.param = int32(s.params)
		s.params++
	}
	s.args = append(s.args, a)
}

// operator enters the operator just read and returns its opWord.
func (s *Statement) operator() wordID {
	st := &s.scan
	l := &st.lex
	c := s.sql[l.start]
	if l.pos-l.start > 1 {
		switch {
		case c == '|':
			s.uses |= Pipes
		case c == '\\':
			s.shape = append(s.shape, shapeOp, '\\', 'N', 0)
			st.operand = true
			return wNull
		}
		s.shape = append(s.shape, shapeOp)
		s.verbatim()
		st.operand = false
		st.into = false
		return wNone
	}
	switch c {
	case '(':
		s.shape = append(s.shape, '(')
		st.opening()
		st.operand = false
		switch {
		case st.prev == wIn:
			s.list()
		case st.prevFlags&wordType != 0 && st.typeDepth == 0 &&
			(st.prev2 == wAs || st.prev2 == opWord+',' || st.prev2 == wCharacter || st.prev2 == wReturning ||
				st.prevFlags&wordOperand != 0):
			st.typeDepth = st.depth
		}
		return opWord + '('
	case ')':
		s.shape = append(s.shape, ')')
		if st.depth == st.selectDepth {
			s.endSelectList()
		}
		if st.depth > 0 {
			st.depth--
		}
		st.leading = 0
		if st.depth < st.typeDepth {
			st.typeDepth = 0
		}
		st.operand = true
		return opWord + ')'
	case ',':
		s.shape = append(s.shape, ',')
		st.operand = false
		return opWord + ','
	case '-', '+':
		if !st.operand {
			if a, ok := literal(l, Op, false); ok && st.typeDepth == 0 {
				s.shape = append(s.shape, shapeLiteral, byte(a.class))
				s.addArg(a)
				st.operand = true
				return wNone
			}
		}
	case ':', '{', '}', '[', ']':
		s.uses |= Foreign
	}
	st.into = false
	if c < 0x20 || c == '\\' || c == 0x7f {
		s.shape = append(s.shape, shapeBad)
		s.uses |= Foreign
	}
	s.shape = append(s.shape, c)
	st.operand = false
	return opWord + wordID(c)
}

// list tries to read what follows the parenthesis after IN as a list of literals. The parenthesis is in the shape
// already; on success it is replaced.
func (s *Statement) list() {
	st := &s.scan
	l := &st.lex
	save := *l
	first, params := len(s.elems), s.params
	var mask uint16
	for {
		k := l.next()
		if k == Word && l.word != nil && l.word.flags&wordCharset != 0 {
			break
		}
		a, ok := literal(l, k, false)
		if !ok {
			break
		}
		if a.code {
			a.start |= elemCode
		}
		s.elems = append(s.elems, elem{a.start, int32(s.params)})
		mask |= 1 << a.class
		if a.class == ClassParam {
			s.params++
		}
		if l.next() != Op {
			break
		}
		if c := s.sql[l.start]; c == ',' && l.pos-l.start == 1 {
			continue
		} else if c != ')' {
			break
		}
		s.shape[len(s.shape)-1] = shapeList
		s.shape = append(s.shape, byte(mask), byte(mask>>8))
		s.args = append(s.args, arg{
			start: uint32(save.start), end: uint32(l.pos), param: -1, class: ClassList, code: save.code > 0,
			first: uint32(first), n: uint32(len(s.elems) - first),
		})
		st.depth--
		st.operand = true
		return
	}
	s.elems, s.params = s.elems[:first], params
	*l = save
}

func lower(c byte) byte {
	if c-'A' < 26 {
		return c | 0x20
	}
	return c
}
