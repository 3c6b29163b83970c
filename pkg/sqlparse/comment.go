package sqlparse

import "bytes"

// What comment found.
const (
	commentSkipped = iota // a comment, or the opening of an executable one whose content is code
	commentHint
	commentOpen // no end
)

// comment reads the comment at pos, which begins with /*. Of an executable comment that counts for the dialect
// only the opening is read: what follows is code until the lexer meets its end.
//
//	/*! code */        always
//	/*!80013 code */   server version 8.0.13 or later; five or six digits
//	/*M! code */       MariaDB only, with or without a version
//
// MariaDB does not count /*!50700 to /*!99999: they are for MySQL versions that have what MariaDB has not.
func (l *lexer) comment(verb bool) int {
	sql := l.sql
	p := l.start + 2
	mariadb := false
	switch {
	case p < len(sql) && sql[p] == '+' && verb:
		end := bytes.Index(sql[p:], []byte("*/"))
		if end < 0 {
			return commentOpen
		}
		l.pos = p + end + 2
		return commentHint
	case p < len(sql) && sql[p] == '!':
		p++
	case p+1 < len(sql) && sql[p] == 'M' && sql[p+1] == '!' && l.d.mariadb:
		p += 2
		mariadb = true
	default:
		end := bytes.Index(sql[p:], []byte("*/"))
		if end < 0 {
			return commentOpen
		}
		l.pos = p + end + 2
		return commentSkipped
	}
	version, digits := 0, 0
	for digits < 6 && p+digits < len(sql) && isDigit(sql[p+digits]) {
		version = version*10 + int(sql[p+digits]-'0')
		digits++
	}
	counts := true
	if digits >= 5 {
		p += digits
		counts = version <= l.d.version
		if l.d.mariadb && !mariadb && version >= 50700 && version <= 99999 {
			counts = false
		}
	}
	if counts && l.code == 0 {
		l.code++
		l.pos = p
		return commentSkipped
	}
	// Not code: skip to its end, over comments inside it.
	for depth := 1; p+1 < len(sql); p++ {
		switch {
		case sql[p] == '*' && sql[p+1] == '/':
			if depth--; depth == 0 {
				l.pos = p + 2
				return commentSkipped
			}
			p++
		case sql[p] == '/' && sql[p+1] == '*':
			depth++
			p++
		}
	}
	return commentOpen
}
