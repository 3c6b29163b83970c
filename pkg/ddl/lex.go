package ddl

import (
	"strings"

	"skarv/pkg/sqlerr"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	word   tokenKind = iota + 1 // unquoted name or keyword
	quoted                      // `name`, or "name" under ANSI_QUOTES
	text                        // 'string'
	number                      //
	punct                       // one character
)

// token is a range of the statement's text.
type token struct {
	kind       tokenKind
	start, end int
	value      string // name without quotes, string content, else the text as written
	depth      int    // how many parentheses it stands in; those of a pair stand where the pair does
}

// is reports whether t is the keyword or character w, which is given in upper case.
func (t token) is(w string) bool {
	return (t.kind == word || t.kind == punct) && strings.EqualFold(t.value, w)
}

// name reports whether t can be the name of an object.
func (t token) name() bool { return t.kind == word || t.kind == quoted }

// lexer cuts text into tokens.
type lexer struct {
	in          string
	ansiQuotes  bool
	noBackslash bool
	mariadb     bool
	version     int // 101106 for 10.11.6
	out         strings.Builder
	toks        []token
	depth       int // of what comes next
}

// plain returns the statement without comments, executable comments being replaced by what they hold where this
// server would run it, and its tokens. A trailing semicolon is dropped.
func (l *lexer) plain() (string, []token, error) {
	inside := 0 // open executable comments
	for i := 0; i < len(l.in); {
		c := l.in[i]
		rest := l.in[i:]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			l.out.WriteByte(c)
			i++
		case c == '#' || strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' '):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			l.out.WriteByte(' ')
			i += end
		case inside > 0 && strings.HasPrefix(rest, "*/"):
			l.out.WriteByte(' ')
			inside--
			i += 2
		case strings.HasPrefix(rest, "/*"):
			skip, runs, ok := l.comment(rest)
			if !ok {
				return "", nil, sqlerr.ParseError.New("a comment is not closed")
			}
			l.out.WriteByte(' ')
			if runs {
				inside++
			}
			i += skip
		default:
			n, err := l.token(i)
			if err != nil {
				return "", nil, err
			}
			i += n
		}
	}
	if n := len(l.toks); n > 0 && l.toks[n-1].is(";") {
		out := l.out.String()[:l.toks[n-1].start]
		l.toks = l.toks[:n-1]
		return out, l.toks, nil
	}
	return l.out.String(), l.toks, nil
}

// comment tells how much of s, which begins with a comment, to skip: all of the comment, or only its opening when the
// server runs what is inside.
func (l *lexer) comment(s string) (skip int, runs, ok bool) {
	head, mark := s[2:], 0
	switch {
	case strings.HasPrefix(head, "!"):
		mark = 3
	case l.mariadb && strings.HasPrefix(head, "M!"):
		mark = 4
	}
	if mark > 0 {
		digits := 0
		for mark+digits < len(s) && digits < 6 && isDigit(s[mark+digits]) {
			digits++
		}
		needs := 0
		for _, d := range s[mark : mark+digits] {
			needs = needs*10 + int(d-'0')
		}
		switch {
		case digits < 5:
			return mark, true, true
		case l.mariadb && mark == 3 && needs >= 50700 && needs <= 99999:
			// MariaDB takes these versions for MySQL's own, which it does not follow.
		case needs <= l.version:
			return mark + digits, true, true
		}
	}
	end := strings.Index(head, "*/")
	return end + 4, false, end >= 0
}

// token reads the token at i, writes it out and returns how long it is in the input.
func (l *lexer) token(i int) (int, error) {
	s := l.in[i:]
	start := l.out.Len()
	n, kind, value := 1, punct, ""
	switch c := s[0]; {
	case c == '`' || c == '"' && l.ansiQuotes:
		kind = quoted
		n, value = unquote(s, c, true)
	case c == '\'' || c == '"':
		kind = text
		n, value = unquote(s, c, l.noBackslash)
	case isDigit(c):
		kind = number
		for n < len(s) && (isWord(s[n]) || s[n] == '.' && n+1 < len(s) && isDigit(s[n+1])) {
			n++
		}
		if strings.IndexFunc(s[:n], func(r rune) bool { return r > '9' }) >= 0 && !strings.ContainsRune(s[:n], '.') {
			kind = word // a name may begin with digits
		}
	case isWord(c):
		kind = word
		for n < len(s) && isWord(s[n]) {
			n++
		}
	}
	if n < 0 {
		return 0, sqlerr.ParseError.New("a string or name is not closed")
	}
	if kind == word || kind == number || kind == punct {
		value = s[:n]
	}
	l.out.WriteString(s[:n])
	t := token{kind: kind, start: start, end: start + n, value: value}
	if t.is(")") {
		l.depth--
	}
	t.depth = l.depth
	if t.is("(") {
		l.depth++
	}
	l.toks = append(l.toks, t)
	return n, nil
}

// unquote reads the string that begins with the quote q; n is -1 if it does not end.
func unquote(s string, q byte, plainBackslash bool) (n int, value string) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == q && i+1 < len(s) && s[i+1] == q:
			b.WriteByte(q)
			i++
		case c == q:
			return i + 1, b.String()
		case c == '\\' && !plainBackslash && i+1 < len(s):
			i++
			b.WriteByte(unescape(s[i]))
		default:
			b.WriteByte(c)
		}
	}
	return -1, ""
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case '0':
		return 0
	default:
		return c
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
