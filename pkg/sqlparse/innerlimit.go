package sqlparse

// losesLimit reports whether the tree of a statement would lose a LIMIT: that of a query in parentheses which is followed by
// another ORDER BY or LIMIT, as in (SELECT a FROM t LIMIT 2) ORDER BY a. The parser has one place for both, and keeps the
// outer ones. It may say so of a text that has no such query; never the other way round.
func losesLimit(l lexer, writes bool) bool {
	type level struct {
		starts bool // a query may start with this parenthesis, rather than be an operand
		begun  bool // something stands in it
		query  bool // it is a query
		limit  bool // which has a LIMIT of its own
	}
	const (
		other = iota
		beforeQuery
		name
	)
	stack := []level{{}}
	prev, body := beforeQuery, !writes // body: the query of a writing statement may not start any more
	for k := l.next(); k != EOF && k != Invalid; k = l.next() {
		at := &stack[len(stack)-1]
		switch {
		case k == Op && l.sql[l.start] == '(':
			starts := prev == beforeQuery || prev == name && !body && len(stack) == 1
			stack = append(stack, level{starts: starts})
			prev = beforeQuery
			continue
		case k == Op && l.sql[l.start] == ')':
			prev = beforeQuery // behind the columns of an INSERT, or a common table expression
			if len(stack) == 1 {
				continue
			}
			inner := *at
			stack = stack[:len(stack)-1]
			if at = &stack[len(stack)-1]; !at.begun && inner.starts {
				at.query, at.limit = inner.query, inner.limit
			}
			at.begun = true
			if inner.starts && inner.query && inner.limit {
				ahead := l
				ahead.next()
				if ahead.isWord(wOrder, wLimit, wOffset) || limits(ahead) {
					return true
				}
			}
			continue
		case k == Word && !at.begun:
			at.query = l.isWord(wSelect, wWith, wValues, wTable)
		case k == Word && (l.isWord(wLimit, wOffset) || limits(l)):
			at.limit = true
		case k == Word && l.isWord(wUnion, wExcept, wIntersect):
			at.limit = false
		}
		at.begun = true
		switch {
		case k == Word && l.isWord(wSelect) && len(stack) == 1:
			body, prev = true, other
		case k == Word && l.isWord(wAs):
			prev = beforeQuery
		case k == Word || k == QuotedName:
			prev = name
		default:
			prev = other
		}
	}
	return false
}

// limits reports whether the last token begins a FETCH FIRST.
func limits(l lexer) bool { return equalFold(l.sql[l.start:l.pos], "fetch") }
