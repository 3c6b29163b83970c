package sqlparse

// Clauses are where the clauses of the outermost SELECT, UPDATE or DELETE stand in a statement's text: there it can be cut, and pieces put between, so
// that what is not touched stays byte for byte as it was written.
type Clauses struct {
	List                Span // select list
	From                int  // offset of FROM, or of where it would stand
	Where, Group, Order int  // offset of the clause, or -1
	// OrderItems are the expressions of ORDER BY without ASC and DESC, GroupItems those of GROUP BY, and of MySQL's GROUP BY ROLLUP (...).
	OrderItems, GroupItems []Span
	Limit                  Span // LIMIT clause; empty if there is none
	// Tail is where clauses after LIMIT begin (FOR UPDATE, INTO), or the end of the text: a LIMIT can be put here.
	Tail int
	End  int
	// Union: more than one SELECT at the top; only Order, Limit, Tail and End are of the whole.
	Union bool
}

// Clauses finds the clauses. ok is false when the text has another form than expected (a whole statement in parentheses, say).
func (s *Statement) Clauses() (c Clauses, ok bool) {
	r := clauseReader{st: s, c: Clauses{From: -1, Where: -1, Group: -1, Order: -1, Tail: -1}}
	toks := s.Tokens()
	for t := toks.Next(); t.Kind != EOF || t.Depth != 0; t = toks.Next() {
		if t.Kind == Invalid || t.Kind == EOF || !r.read(t) {
			return r.c, false
		}
	}
	r.end()
	r.c.List, ok = s.SelectList()
	return r.c, ok || r.selects == 0
}

// clauseReader reads the tokens of a statement, one after the other.
type clauseReader struct {
	st          *Statement
	c           Clauses
	clause      string // that the last token was in, by its word
	item        Span   // of GROUP BY or ORDER BY, as far as it was read
	by          bool   // GROUP or ORDER has been read
	rollup      bool   // MySQL's GROUP BY ROLLUP has been read
	base        int    // 1: the last token was in the parentheses of ROLLUP, which count for nothing
	selects     int
	prev, prev2 Token
}

// read reads a token; false if none can stand here.
func (r *clauseReader) read(t Token) bool {
	outside := r.by // of items: the BY of GROUP BY, ORDER BY
	r.by = false
	switch {
	case r.rollup && t.Kind == Op:
		r.rollup, r.base, outside = false, 1, true
	case t.Depth < r.base:
		r.base, outside = 0, true
	case r.prev.Kind == EOF && t.Kind == Op && r.st.Is(t, "("):
		return false
	case t.Depth > r.base:
	case t.Kind == Op && r.st.Is(t, ","):
		if r.listsItems() {
			r.closeItem()
			outside = true
		}
	case t.Kind == Word:
		outside = r.word(t) || outside
	}
	if r.listsItems() && !outside {
		if r.item.End == 0 {
			r.item.Start = t.Start
		}
		r.item.End = t.End
	}
	r.prev2, r.prev = r.prev, t
	return true
}

// word reads a word outside of parentheses, which may begin a clause; outside: it is no part of an item.
func (r *clauseReader) word(t Token) (outside bool) {
	switch word := clauseWord(r.st, t); word {
	case "":
		return r.endsItem(t)
	case "SELECT":
		r.selects++
		r.enter(word)
	case "UNION", "EXCEPT", "INTERSECT":
		r.c.Union = true
		r.enter(word)
		r.c.Group, r.c.Where, r.c.GroupItems = -1, -1, nil
	case "FROM":
		if r.c.From < 0 {
			r.c.From = t.Start
		}
		r.enter(word)
	case "WHERE":
		r.c.Where = t.Start
		r.enter(word)
	case "HAVING":
		r.enter(word)
	case "WITH":
		if r.clause == "GROUP" { // WITH ROLLUP
			r.enter(word)
		}
	case "GROUP", "ORDER":
		if r.is(r.prev, "FOR") && r.isIndex(r.prev2) { // USE INDEX FOR ORDER BY (i)
			return false
		}
		r.enter(word)
		if r.by = true; word == "GROUP" {
			r.c.Group = t.Start
		} else {
			r.c.Order = t.Start
		}
		return true
	case "LIMIT":
		r.enter(word)
		r.c.Limit.Start = t.Start
	case "RETURNING":
		r.enterTail(word, t)
	case "FOR", "LOCK", "INTO", "PROCEDURE":
		// FOR in an index hint (USE INDEX FOR JOIN) belongs to FROM; INTO may also follow the select list.
		if r.selects > 0 && (r.clause != "FROM" || !r.isIndex(r.prev)) {
			r.enterTail(word, t)
		}
	}
	return false
}

// endsItem reports whether a word in GROUP BY or ORDER BY is no part of an expression.
func (r *clauseReader) endsItem(t Token) bool {
	if r.clause == "GROUP" && r.item.End == 0 && r.is(r.prev, "BY") && r.is(t, "ROLLUP") && !r.st.Dialect().MariaDB() {
		following := r.st.TokensFrom(t.End)
		if next := following.Next(); next.Kind == Op && r.st.Is(next, "(") {
			r.rollup = true
			return true
		}
	}
	return r.listsItems() && (r.is(t, "ASC") || r.is(t, "DESC"))
}

// enter ends a clause, and begins another one.
func (r *clauseReader) enter(word string) {
	if r.clause == "LIMIT" {
		r.c.Limit.End = r.prev.End
	}
	r.closeItem()
	r.clause = word
}

// enterTail is enter of a clause behind LIMIT.
func (r *clauseReader) enterTail(word string, t Token) {
	r.enter(word)
	if r.c.Tail < 0 {
		r.c.Tail = t.Start
	}
}

func (r *clauseReader) closeItem() {
	switch {
	case r.item.End == 0:
	case r.clause == "GROUP":
		r.c.GroupItems = append(r.c.GroupItems, r.item)
	default:
		r.c.OrderItems = append(r.c.OrderItems, r.item)
	}
	r.item = Span{}
}

// end is called behind the last token.
func (r *clauseReader) end() {
	r.enter("")
	c := &r.c
	c.End = r.prev.End
	if c.Tail < 0 {
		c.Tail = c.End
	}
	if c.From >= 0 {
		return
	}
	c.From = c.Tail
	for _, at := range []int{c.Where, c.Group, c.Order} {
		if at >= 0 {
			c.From = min(c.From, at)
		}
	}
	if c.Limit.End > 0 {
		c.From = min(c.From, c.Limit.Start)
	}
}

// listsItems reports whether the clause is GROUP BY or ORDER BY.
func (r *clauseReader) listsItems() bool { return r.clause == "GROUP" || r.clause == "ORDER" }

func (r *clauseReader) is(t Token, word string) bool { return t.Kind == Word && r.st.Is(t, word) }

func (r *clauseReader) isIndex(t Token) bool { return r.is(t, "INDEX") || r.is(t, "KEY") }

// clauseWord returns the word of a token in capitals if it may begin a clause.
func clauseWord(st *Statement, t Token) string {
	for _, w := range [...]string{"SELECT", "FROM", "WHERE", "GROUP", "ORDER", "LIMIT", "FOR", "LOCK", "INTO",
		"PROCEDURE", "UNION", "EXCEPT", "INTERSECT", "HAVING", "WITH", "RETURNING"} {
		if st.Is(t, w) {
			return w
		}
	}
	return ""
}
