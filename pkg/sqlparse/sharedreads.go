package sqlparse

// queryFrame is what is known inside one pair of parentheses.
type queryFrame struct {
	query  bool // it has a SELECT
	tables bool // that reads tables with rows to lock
	other  bool // that reads something else
	locks  bool // that says itself how it locks
	set    bool // it is one of several SELECTs
}

// SharedReads are the places in the text of a SELECT, UPDATE or DELETE where LOCK IN SHARE MODE is to stand so that every query in it locks
// the rows of the tables that it reads; ok is false where it cannot be said. lockable tells the tables whose rows can be locked so.
func (s *Statement) SharedReads(lockable func(TableRef) bool) (places []int, ok bool) {
	refs, sure := s.Tables()
	switch {
	case len(refs) == 0:
		return nil, true
	case !sure:
		return nil, false
	}
	changes := s.Kind() == Update || s.Kind() == Delete
	ok = true
	end := 0
	frames := []queryFrame{{}}
	closed := func() {
		f := frames[len(frames)-1]
		if f.query && f.tables && !f.locks {
			ok = ok && !f.other && !f.set
			places = append(places, end)
		}
	}
	var prev Token
	tokens := s.Tokens()
	for tok := tokens.Next(); ok && tok.Kind != EOF; prev, tok = tok, tokens.Next() {
		end = prev.End
		f := &frames[len(frames)-1]
		if len(refs) > 0 && refs[0].Start <= tok.Start {
			ok = noteTable(frames, lockable(refs[0])) || changes
			refs = refs[1:]
		}
		switch {
		case s.Is(prev, "."): // a name
		case s.Is(tok, "("):
			frames = append(frames, queryFrame{})
		case s.Is(tok, ")"):
			closed()
			if frames = frames[:len(frames)-1]; len(frames) == 0 {
				return nil, false
			}
		case s.Is(tok, "SELECT"):
			f.query = true
		case s.Is(tok, "UNION"), s.Is(tok, "EXCEPT"), s.Is(tok, "INTERSECT"), s.Mode()&Oracle != 0 && s.Is(tok, "MINUS"):
			f.set = true
		case !s.dialect.MariaDB() && s.Is(tok, "JSON_TABLE"): // MySQL says that it cannot be locked
			f.other = true
		case s.Is(tok, "LOCK"):
			f.locks = true
		case s.Is(tok, "FOR"):
			ahead := tokens
			next := ahead.Next()
			f.locks = f.locks || s.Is(next, "UPDATE") || s.Is(next, "SHARE")
		}
	}
	end = prev.End
	closed()
	return places, ok && len(frames) == 1
}

// noteTable notes that the innermost query reads a table. It returns false if there is no such query.
func noteTable(frames []queryFrame, lockable bool) bool {
	for i := len(frames) - 1; i >= 0; i-- {
		if f := &frames[i]; f.query {
			f.tables, f.other = f.tables || lockable, f.other || !lockable
			return true
		}
	}
	return false
}
