package sqlparse

import "strings"

// Words reads a statement token by token, for grammars that need no tree. A copy of it is a place to come back to.
type Words struct {
	st   *Statement
	toks Tokens
	tok  Token // what comes next
}

// Words returns a reader at the statement's beginning. It is good for as long as the statement.
func (s *Statement) Words() Words {
	w := Words{st: s, toks: s.Tokens()}
	w.Skip()
	return w
}

// WordsAt returns a reader to which ahead comes next, and then what rest walks over.
func (s *Statement) WordsAt(ahead Token, rest Tokens) Words {
	return Words{st: s, toks: rest, tok: ahead}
}

// Ahead is the token that comes next.
func (w *Words) Ahead() Token { return w.tok }

// End reports whether there is none.
func (w *Words) End() bool { return w.tok.Kind == EOF }

// Skip goes on behind what comes next.
func (w *Words) Skip() { w.tok = w.toks.Next() }

// Is reports whether the word or operator comes next.
func (w *Words) Is(word string) bool { return w.st.Is(w.tok, word) }

// Take goes on behind the words and operators if all of them come next, one after the other; else it stays where it is.
func (w *Words) Take(words ...string) bool {
	before := *w
	for _, word := range words {
		if !w.Is(word) {
			*w = before
			return false
		}
		w.Skip()
	}
	return true
}

// Find goes on behind the first of the words, at any depth; false, and the end, if there is none.
func (w *Words) Find(words ...string) bool {
	for ; !w.End(); w.Skip() {
		for _, word := range words {
			if w.Take(word) {
				return true
			}
		}
	}
	return false
}

// Word is the unquoted word that comes next, in lower case; "" for anything else.
func (w *Words) Word() string {
	if w.tok.Kind != Word {
		return ""
	}
	return w.lower()
}

// Next goes on behind whatever comes next, and returns its text in lower case.
func (w *Words) Next() string {
	text := w.lower()
	w.Skip()
	return text
}

func (w *Words) lower() string { return strings.ToLower(string(w.st.Text(w.tok.Span))) }

// Name takes a name, quoted or not.
func (w *Words) Name() (string, bool) {
	if w.tok.Kind != Word && w.tok.Kind != QuotedName {
		return "", false
	}
	n := string(w.st.AppendName(nil, w.tok))
	w.Skip()
	return n, true
}

// Qualified takes "name" or "db.name".
func (w *Words) Qualified() (db, name string, ok bool) {
	name, ok = w.Name()
	if ok && w.Take(".") {
		db = name
		name, ok = w.Name()
	}
	return db, name, ok
}
