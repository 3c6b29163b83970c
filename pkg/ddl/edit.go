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

// KeyName is how a foreign key is called, and the index that its server makes for it, if it makes one.
type KeyName struct{ Key, Index string }

// NameKeys are the edits by which MariaDB gives these names to the foreign keys that an ALTER TABLE adds without one, in order; ok is false unless
// there are as many of these, and all foreign keys that it adds are written as FOREIGN KEY. What stands behind CONSTRAINT becomes the
// name of the index there, where another one stands behind FOREIGN KEY.
func (s *Statement) NameKeys(names []KeyName) (out []Edit, ok bool) {
	p := &parser{Statement: s}
	references := 0
	for ; p.pos < len(p.toks); p.pos++ {
		if p.peek(0).is("REFERENCES") {
			references--
		}
		if !p.peek(0).is("FOREIGN") || !p.peek(1).is("KEY") || p.pos == 0 || p.toks[p.pos-1].is("DROP") {
			continue
		}
		references++
		if p.pos > 1 && p.toks[p.pos-2].is("CONSTRAINT") || !p.peek(2).is("(") {
			continue // it has a name
		}
		if len(names) == 0 {
			return nil, false
		}
		index := sqltypes.QuoteName(cmp.Or(names[0].Index, names[0].Key)) + " "
		if !p.toks[p.pos-1].is("CONSTRAINT") {
			index = "CONSTRAINT " + index
		}
		at, behind := p.peek(0).start, p.peek(1).end
		out = append(out, Edit{start: at, end: at, with: index}, Edit{start: behind, end: behind, with: " " + sqltypes.QuoteName(names[0].Key) + " "})
		names = names[1:]
	}
	return out, len(names) == 0 && references == 0
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
