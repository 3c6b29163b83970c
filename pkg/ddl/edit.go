package ddl

import (
	"cmp"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqltypes"
)

// Edit is a replacement of a range of a statement's text.
type Edit struct {
	start, end int
	with       string
}

// Rewrite returns the text for the servers: without what is not for them (PARTITION BY KEY, a DEFINER, on MySQL the comment of a
// database) and with edits, which must not overlap.
func (s *Statement) Rewrite(edits ...Edit) string {
	if s.Partitioned {
		edits = append(edits, Edit{start: s.clause[0], end: s.clause[1], with: " "})
	}
	if s.definer[1] > s.definer[0] {
		edits = append(edits, Edit{start: s.definer[0], end: s.definer[1]})
	}
	if s.HasComment && s.flavor == catalog.MySQL { // MySQL's databases have no comments
		edits = append(edits, Edit{start: s.comment[0], end: s.comment[1]})
	}
	edits = append(edits, s.left...)
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.start - b.start })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(s.Text[at:e.start])
		b.WriteString(e.with)
		at = e.end
	}
	b.WriteString(s.Text[at:])
	return strings.TrimSpace(b.String())
}

// Restrictions are where an ALTER TABLE says ON DELETE RESTRICT or ON UPDATE RESTRICT of a foreign key, which is what is so without a word.
func (s *Statement) Restrictions() []Edit {
	p := &parser{Statement: s}
	var out []Edit
	for ; p.pos < len(p.toks); p.pos++ {
		if p.peek(0).is("ON") && (p.peek(1).is("DELETE") || p.peek(1).is("UPDATE")) && p.peek(2).is("RESTRICT") {
			out = append(out, Edit{start: p.peek(0).start, end: p.peek(2).end})
		}
	}
	return out
}

// Refers reports whether an ALTER TABLE may add foreign keys, and whether it says that the table is to be copied for what it does.
func (s *Statement) Refers() (refers, copied bool) {
	for i, t := range s.toks {
		switch {
		case t.is("REFERENCES"):
			refers = true
		case t.is("COPY") && i > 0:
			before := s.toks[i-1]
			copied = copied || before.is("ALGORITHM") || before.is("=") && s.toks[i-2].is("ALGORITHM")
		}
	}
	return refers, copied
}

// KeyName is how a foreign key is called, the index that its server makes for it, if it makes one, and the first of its columns.
type KeyName struct{ Key, Index, Column string }

// NameKeys are the edits by which MariaDB gives these names to the foreign keys that an ALTER TABLE adds without one, in order; ok is false unless
// there are as many of these. What stands behind CONSTRAINT becomes the name of the index there, where another one stands behind FOREIGN KEY. What
// a column REFERENCES, which has one name for both, is written as a key of its own.
func (s *Statement) NameKeys(names []KeyName) (out []Edit, ok bool) {
	p := &parser{Statement: s}
	written, listed := false, 0 // FOREIGN KEY was, of which REFERENCES follows; how many parentheses are open
	for ; p.pos < len(p.toks); p.pos++ {
		column := p.peek(0).is("REFERENCES") && !written
		switch {
		case p.peek(0).is("("):
			listed++
			continue
		case p.peek(0).is(")"):
			listed--
			continue
		case column:
			if p.pos > 1 && p.toks[p.pos-2].is("CONSTRAINT") {
				continue // it has a name
			}
		case p.peek(0).is("REFERENCES"):
			written = false
			continue
		case p.peek(0).is("FOREIGN") && p.peek(1).is("KEY") && p.pos > 0 && !p.toks[p.pos-1].is("DROP"):
			written = true
			if p.pos > 1 && p.toks[p.pos-2].is("CONSTRAINT") || !p.peek(2).is("(") {
				continue
			}
		default:
			continue
		}
		if len(names) == 0 {
			return nil, false
		}
		if column {
			out = append(out, p.nameReference(names[0], listed > 0)...)
		} else {
			out = append(out, p.nameKey(names[0])...)
		}
		names = names[1:]
	}
	return out, len(names) == 0
}

// nameKey names the FOREIGN KEY that comes next.
func (p *parser) nameKey(name KeyName) []Edit {
	index := sqltypes.QuoteName(cmp.Or(name.Index, name.Key)) + " "
	if !p.toks[p.pos-1].is("CONSTRAINT") {
		index = "CONSTRAINT " + index
	}
	at, behind := p.peek(0).start, p.peek(1).end
	return []Edit{{start: at, end: at, with: index}, {start: behind, end: behind, with: " " + sqltypes.QuoteName(name.Key) + " "}}
}

// nameReference makes a named FOREIGN KEY of what the column before REFERENCES, which comes next, refers to; listed: it is one of several in parentheses.
// Where the column is to be, if that is said, is said before.
func (p *parser) nameReference(name KeyName, listed bool) []Edit {
	n := 2
	if p.peek(n).is(".") {
		n += 2
	}
	if p.peek(n).is("(") {
		for n++; !p.toks[p.pos+n-1].is(")"); n++ {
		}
	}
	for more := true; more; {
		switch {
		case p.peek(n).is("MATCH"):
			n += 2
		case p.peek(n).is("ON") && (p.peek(n+2).is("SET") || p.peek(n+2).is("NO")):
			n += 4
		case p.peek(n).is("ON"):
			n += 3
		default:
			more = false
		}
	}
	at, place := p.peek(0).start, Edit{}
	switch {
	case p.peek(n).is("FIRST"):
		place = Edit{start: p.peek(n).start, end: p.peek(n).end}
	case p.peek(n).is("AFTER"):
		place = Edit{start: p.peek(n).start, end: p.peek(n + 1).end}
	}
	key := ", CONSTRAINT "
	if !listed {
		key = ", ADD CONSTRAINT "
	}
	key += sqltypes.QuoteName(cmp.Or(name.Index, name.Key)) + " FOREIGN KEY " + sqltypes.QuoteName(name.Key) + " (" + sqltypes.QuoteName(name.Column) + ") "
	edits := []Edit{{start: at, end: at, with: p.Text[place.start:place.end] + key}}
	if p.toks[p.pos-1].is("CONSTRAINT") {
		edits[0].start = p.toks[p.pos-1].start
	}
	if place.end > 0 {
		edits = append(edits, place)
	}
	return edits
}

// LeaveOut leaves these out of whatever text Rewrite returns from now on.
func (s *Statement) LeaveOut(edits []Edit) { s.left = edits }

// RenamedColumns returns the new names of columns that an ALTER TABLE renames, by their lower-case old ones.
func (s *Statement) RenamedColumns() map[string]string {
	p := &parser{Statement: s}
	out := map[string]string{}
	for ; p.pos < len(p.toks); p.pos++ {
		switch {
		case p.peek(0).is("CHANGE"):
			n := 1
			if p.peek(n).is("COLUMN") {
				n++
			}
			if p.peek(n).is("IF") && p.peek(n+1).is("EXISTS") {
				n += 2
			}
			if p.peek(n).name() && p.peek(n+1).name() {
				out[strings.ToLower(p.peek(n).value)] = p.peek(n + 1).value
			}
		case p.peek(0).is("RENAME") && p.peek(1).is("COLUMN"):
			n := 2
			if p.peek(n).is("IF") && p.peek(n+1).is("EXISTS") {
				n += 2
			}
			if p.peek(n + 1).is("TO") {
				out[strings.ToLower(p.peek(n).value)] = p.peek(n + 2).value
			}
		}
	}
	return out
}

// DroppedColumns returns the lower-case names of columns that an ALTER TABLE drops, also those that it adds anew.
func (s *Statement) DroppedColumns() map[string]bool {
	p := &parser{Statement: s}
	out := map[string]bool{}
	for ; p.pos < len(p.toks); p.pos++ {
		if !p.peek(0).is("DROP") {
			continue
		}
		n := 1
		if p.peek(n).is("COLUMN") {
			n++
		} else {
			switch t := p.peek(n); {
			case t.is("PRIMARY"), t.is("KEY"), t.is("INDEX"), t.is("FOREIGN"), t.is("CONSTRAINT"), t.is("CHECK"), t.is("PARTITION"), t.is("DEFAULT"):
				continue
			}
		}
		if p.peek(n).is("IF") && p.peek(n+1).is("EXISTS") {
			n += 2
		}
		if p.peek(n).name() {
			out[strings.ToLower(p.peek(n).value)] = true
		}
	}
	return out
}

// Define is the edit that adds definition to a CREATE TABLE's list of columns and keys; ok is false if it has none.
func (s *Statement) Define(definition string) (e Edit, ok bool) {
	i := s.listEnd()
	if i < 0 {
		return Edit{}, false
	}
	return Edit{start: s.toks[i].start, end: s.toks[i].start, with: ", " + definition}, true
}

// Collate is the edit that makes a CREATE TABLE whose options name no character set and no collation name these, which are then those of
// its database; ok is false where it need not or cannot.
func (s *Statement) Collate(charset, collation string) (e Edit, ok bool) {
	i := s.listEnd()
	if i < 0 || slices.ContainsFunc(s.toks[i:], func(t token) bool {
		return t.depth == 0 && (t.is("CHARSET") || t.is("CHARACTER") || t.is("CHAR") || t.is("COLLATE"))
	}) {
		return Edit{}, false
	}
	at := s.toks[i].end
	return Edit{start: at, end: at, with: " CHARACTER SET " + charset + " COLLATE " + collation + " "}, true
}

// listEnd is the token that ends a CREATE TABLE's list of columns and keys, -1 if it has none.
func (s *Statement) listEnd() int {
	return slices.IndexFunc(s.toks, func(t token) bool { return t.start >= s.Objects[0].end && t.depth == 0 && t.is(")") })
}

// SetsCounter tells whether an ALTER TABLE has the option AUTO_INCREMENT = n.
func (s *Statement) SetsCounter() bool {
	for i, t := range s.toks {
		if !t.is("AUTO_INCREMENT") || i+1 == len(s.toks) {
			continue
		}
		next := s.toks[i+1]
		if next.is("=") || next.kind == number {
			return true
		}
	}
	return false
}

// Words are the words and names of the statement, in lower case, each as often as it stands there.
func (s *Statement) Words() []string {
	var out []string
	for _, t := range s.toks {
		if t.name() {
			out = append(out, strings.ToLower(t.value))
		}
	}
	return out
}

// Constraints are the names that the statement gives to constraints, in lower case, perhaps beside others that it mentions.
func (s *Statement) Constraints() []string {
	var out []string
	for i, t := range s.toks {
		if !t.is("CONSTRAINT") && (!t.is("KEY") || i == 0 || !s.toks[i-1].is("FOREIGN")) {
			continue
		}
		for rest := s.toks[i+1:]; len(rest) > 0 && rest[0].name(); rest = rest[1:] {
			if w := rest[0]; !w.is("IF") && !w.is("NOT") && !w.is("EXISTS") {
				out = append(out, strings.ToLower(w.value))
				break
			}
		}
	}
	return out
}

// Mentions reports whether a word, given in upper case, stands in the statement.
func (s *Statement) Mentions(word string) bool {
	return slices.ContainsFunc(s.toks, func(t token) bool { return t.is(word) })
}
