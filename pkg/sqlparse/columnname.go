package sqlparse

import "unicode/utf8"

// maxColumnName is the length the server cuts column names to, in bytes.
const maxColumnName = 255

// AppendColumnName appends the name the server gives the column of item: its alias unquoted, a column's own name, a
// string's value, or the text as written. Meaningless for Star.
func (s *Statement) AppendColumnName(dst []byte, item SelectItem) []byte {
	begin := len(dst)
	switch {
	case item.Alias.End > item.Alias.Start:
		dst = appendName(dst, s.sql[item.Alias.Start:item.Alias.End], s.mode)
		dst = trimName(dst, begin)
	default:
		if simple, ok := s.appendSimple(dst, item); ok {
			dst = trimName(simple, begin)
		} else {
			dst = s.appendRaw(dst, item)
		}
	}
	if len(dst)-begin > maxColumnName {
		end := begin + maxColumnName
		for end > begin && !utf8.RuneStart(dst[end]) {
			end--
		}
		dst = dst[:end]
	}
	return dst
}

// trimName takes away what stands before the first visible byte of the name that begins at begin.
func trimName(dst []byte, begin int) []byte {
	i := begin
	for i < len(dst) && dst[i] <= ' ' {
		i++
	}
	return append(dst[:begin], dst[i:]...)
}

// appendSimple appends the name of an expression that is a column, a literal or a constant, in parentheses and after
// a plus or not: the server names it by what it is. ok is false for any other expression.
func (s *Statement) appendSimple(dst []byte, item SelectItem) (out []byte, ok bool) {
	l := s.lexerAt(item.Expr.Start, item.Expr.End, item.code)
	depth := 0
	k := l.next()
	for k == Op && (s.sql[l.start] == '(' || s.sql[l.start] == '+') {
		if s.sql[l.start] == '(' {
			depth++
		}
		k = l.next()
	}
	switch k {
	case IntLit, DecimalLit, FloatLit:
		dst = append(dst, s.sql[l.start:l.pos]...)
	case StringLit, NStringLit:
		a, _ := literal(&l, k, false)
		dst, ok = s.appendString(dst, a)
	case Word, QuotedName:
		switch {
		case l.word != nil && l.word.id == wNull:
			dst = append(dst, "NULL"...)
		case l.word != nil && l.word.id == wTrue:
			dst = append(dst, "TRUE"...)
		case l.word != nil && l.word.id == wFalse:
			dst = append(dst, "FALSE"...)
		case l.word != nil && l.word.flags&wordCharset != 0:
			if w := l.word.text; w == "_utf8mb4" || w == "_utf8mb3" || w == "_utf8" {
				if k = l.next(); k != StringLit {
					return dst, false
				}
			}
			a, isLiteral := literal(&l, k, false)
			if !isLiteral || s.sql[a.end-1] != '\'' && s.sql[a.end-1] != '"' {
				return dst, false
			}
			dst, ok = s.appendString(dst, a)
			if !ok {
				return dst, false
			}
		case l.word != nil && l.word.flags&wordReserved != 0:
			return dst, false
		default:
			begin := len(dst)
			for {
				dst = appendName(dst[:begin], s.sql[l.start:l.pos], s.mode)
				ahead := l
				if ahead.next() != Op || s.sql[ahead.start] != '.' {
					break
				}
				l = ahead
				if k := l.next(); k != Word && k != QuotedName {
					return dst, false
				}
			}
		}
	case Op:
		if l.pos-l.start != 2 || s.sql[l.start] != '\\' {
			return dst, false
		}
		dst = append(dst, "NULL"...)
	default:
		return dst, false
	}
	for ; depth > 0; depth-- {
		if l.next() != Op || s.sql[l.start] != ')' {
			return dst, false
		}
	}
	k = l.next()
	return dst, k == EOF || k == Invalid && l.start == item.Expr.End
}

func (s *Statement) appendString(dst []byte, a arg) (out []byte, ok bool) {
	v, ok := s.Decode(a.public(), nil)
	return append(dst, v.Raw...), ok
}

// appendRaw appends an expression as written. The server leaves out the marks of executable comments and keeps other
// comments.
func (s *Statement) appendRaw(dst []byte, item SelectItem) []byte {
	l := s.lexerAt(item.Expr.Start, item.Expr.End, item.code)
	end := item.Expr.Start
	for {
		if k := l.next(); k == EOF || k == Invalid {
			return dst
		}
		dst = appendGap(dst, s.sql[end:l.start])
		dst = append(dst, s.sql[l.start:l.pos]...)
		end = l.pos
	}
}

// appendGap appends white space and comments between two tokens.
func appendGap(dst, gap []byte) []byte {
	for i := 0; i < len(gap); {
		if gap[i] == '/' && i+2 < len(gap) && (gap[i+2] == '!' || gap[i+2] == 'M') {
			i += 3
			for i < len(gap) && (gap[i] == '!' || isDigit(gap[i])) {
				i++
			}
			continue
		}
		if gap[i] == '/' && i+1 < len(gap) {
			for dst, i = append(dst, '/', '*'), i+2; i+1 < len(gap) && (gap[i] != '*' || gap[i+1] != '/'); i++ {
				dst = append(dst, gap[i])
			}
			dst, i = append(dst, '*', '/'), i+2
			continue
		}
		if gap[i] == '*' && i+1 < len(gap) && gap[i+1] == '/' {
			i += 2
			continue
		}
		dst = append(dst, gap[i])
		i++
	}
	return dst
}
