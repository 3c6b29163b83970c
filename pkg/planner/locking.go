package planner

import (
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// lockClause is FOR UPDATE, FOR SHARE or LOCK IN SHARE MODE of the outermost SELECT.
type lockClause struct {
	text string   // without OF
	of   []string // names of FROM; empty: all
}

// lockClauses finds them; inside: there are others within parentheses.
func lockClauses(st *sqlparse.Statement) (list []lockClause, inside, ok bool) {
	var cur *lockClause
	inOf := false
	var prev sqlparse.Token
	for toks := st.Tokens(); ; {
		t := toks.Next()
		switch {
		case t.Kind == sqlparse.EOF:
			return list, inside, true
		case t.Kind == sqlparse.Invalid:
			return nil, false, false
		case isWord(st, t, "UPDATE") && isWord(st, prev, "FOR"), isWord(st, t, "SHARE") && isWord(st, prev, "FOR"), isWord(st, t, "LOCK"):
			if t.Depth > 0 {
				inside = true
				break
			}
			list = append(list, lockClause{text: "FOR " + lowerText(st, t)})
			cur, inOf = &list[len(list)-1], false
			if isWord(st, t, "LOCK") {
				cur.text = "LOCK"
			}
		case cur == nil:
		case isWord(st, t, "FOR"), isWord(st, t, "INTO"):
			cur = nil
		case isWord(st, t, "OF"):
			inOf = true
		case inOf && (isWord(st, t, "NOWAIT") || isWord(st, t, "SKIP")):
			inOf = false
			cur.text += " " + lowerText(st, t)
		case inOf && t.Kind == sqlparse.Op:
		case inOf:
			cur.of = append(cur.of, string(st.AppendName(nil, t)))
		default:
			cur.text += " " + lowerText(st, t)
		}
		prev = t
	}
}

// lockAccess asks, on MySQL, for the right to write of whoever locks rows by FOR UPDATE, as servers do there. MariaDB's do not.
func (b *build) lockAccess(p *plan.Plan) {
	if b.snap.Flavor == catalog.MariaDB || b.st.Uses()&sqlparse.LocksRows == 0 || !locksForUpdate(b.st) {
		return
	}
	for i := range p.Access {
		if a := &p.Access[i]; a.View == nil && a.As == "" && a.Table != "" && a.Privilege == catalog.MaySelect && systemSchema(a.Database) == userSchema {
			a.Privilege |= catalog.MayUpdate
		}
	}
}

// locksForUpdate reports whether FOR UPDATE stands anywhere in st.
func locksForUpdate(st *sqlparse.Statement) bool {
	var prev sqlparse.Token
	for toks := st.Tokens(); ; {
		t := toks.Next()
		switch {
		case t.Kind == sqlparse.EOF, t.Kind == sqlparse.Invalid:
			return false
		case isWord(st, t, "UPDATE") && isWord(st, prev, "FOR"):
			return true
		}
		prev = t
	}
}

// locking finds the clause by which the rows of each table are locked where they come from, as the outermost SELECT says it and the queries
// inside; ok is false if it cannot be told for one of them. A table that is named twice has the stronger one.
func (b *build) locking() (locks map[*catalog.Table]string, ok bool) {
	clauses, inside, ok := lockClauses(b.st)
	if !ok || b.a == nil {
		return nil, false
	}
	var top *block // of a SELECT, or of INSERT ... SELECT
	if b.query != nil {
		top = b.query.block
	}
	if len(clauses) == 0 && top != nil && top.sel != nil && top.sel.Lock != sqlparser.NoLock {
		top = nil // the outermost SELECT itself is in parentheses, with its clause
	}
	locks = map[*catalog.Table]string{}
	if len(clauses) > 0 && (top == nil || !b.locksOutside(locks, top, clauses)) || inside && !b.locksInside(locks, top) {
		return nil, false
	}
	if (len(b.a.behind) > 0 || slices.ContainsFunc(b.a.insts, func(in *instance) bool { return in.inView })) && !b.sharesAll(locks, top, clauses) {
		return nil, false
	}
	return locks, true
}

// waitsNot reports whether a clause that locks rows does not wait for them.
func waitsNot(lock string) bool {
	return strings.Contains(lock, "skip") || strings.Contains(lock, "wait")
}

// readOften reports whether a table whose locks are not waited for is read in another place as well, those left out where it is written:
// there what is locked would be read, or waited for.
func (b *build) readOften(locks map[*catalog.Table]string, written []*instance) bool {
	for t, text := range locks {
		n := 0
		for _, in := range b.a.insts {
			if in.table == t && !slices.Contains(written, in) {
				n++
			}
		}
		if n > 1 && waitsNot(text) {
			return true
		}
	}
	return false
}

// sharesAll adds to locks the tables that views read, if every query of the statement locks what it reads in share mode, or the outermost one its
// tables, and no views, for an update.
func (b *build) sharesAll(locks map[*catalog.Table]string, top *block, clauses []lockClause) bool {
	const share, update = "lock in share mode", "for update"
	add := func(t *catalog.Table) {
		if !strings.EqualFold(locks[t], update) {
			locks[t] = share
		}
	}
	for _, t := range b.a.behind {
		add(t)
	}
	for _, in := range b.a.insts {
		switch {
		case in.inView:
			if in.table != nil {
				add(in.table)
			}
		case in.block == nil:
			return false
		case in.block == top:
			if len(clauses) != 1 || len(clauses[0].of) > 0 {
				return false
			}
			if text := strings.ToLower(clauses[0].text); text != share && (text != update || in.table == nil) {
				return false
			}
		case in.block.sel == nil || in.block.sel.Lock != sqlparser.ShareModeLock:
			return false
		}
	}
	return true
}

// locksOutside adds to locks what the clauses of the outermost SELECT say.
func (b *build) locksOutside(locks map[*catalog.Table]string, top *block, clauses []lockClause) bool {
	for _, in := range top.insts {
		if in.table == nil {
			if in.sub == nil || in.opaque {
				return false
			}
			continue // what is inside a derived table is not locked
		}
		for _, c := range clauses {
			if len(c.of) > 0 && !slices.ContainsFunc(c.of, func(n string) bool { return sameName(n, in.name, b.a.lower) }) {
				continue
			}
			if have, twice := locks[in.table]; twice && have != c.text {
				return false
			}
			locks[in.table] = c.text
		}
	}
	return true
}

// locksInside adds to locks what the clauses of the queries inside say.
func (b *build) locksInside(locks map[*catalog.Table]string, top *block) bool {
	found := false
	for _, in := range b.a.insts {
		if in.block == top || in.block == nil || in.block.sel == nil || in.block.sel.Lock == sqlparser.NoLock {
			continue
		}
		found = true
		text := lockText(in.block.sel.Lock)
		if text == "" {
			return false
		}
		if in.table == nil {
			continue
		}
		have := strings.ToLower(locks[in.table])
		switch {
		case have == "", have == text:
			locks[in.table] = text
		case waitsNot(have), waitsNot(text):
			return false
		case have != "for update":
			locks[in.table] = text
		}
	}
	return found && !b.a.unseen
}

// lockText is the clause of a query inside of a statement; empty if it is not known.
func lockText(lock sqlparser.Lock) string {
	switch lock {
	case sqlparser.ShareModeLock:
		return "lock in share mode"
	case sqlparser.ForShareLock:
		return "for share"
	case sqlparser.ForShareLockNoWait:
		return "for share nowait"
	case sqlparser.ForShareLockSkipLocked:
		return "for share skip locked"
	case sqlparser.ForUpdateLock:
		return "for update"
	case sqlparser.ForUpdateLockNoWait:
		return "for update nowait"
	case sqlparser.ForUpdateLockSkipLocked:
		return "for update skip locked"
	}
	return ""
}

// writeLocks is locking for a statement that writes to written, whose copies are locked in any case: FOR UPDATE makes a difference, and what is
// not waited for.
func (b *build) writeLocks(written []*instance) (locks map[*catalog.Table]string, ok bool) {
	if b.st.Uses()&sqlparse.LocksRows == 0 {
		return nil, true
	}
	locks, ok = b.locking()
	return locks, ok && !b.readOften(locks, written)
}

// waits sees to it that a statement which does not wait for the rows of a table in one place, and writes to the table in another one, waits
// there for none either. That one may leave out rows that are locked, if it writes to those alone that the statement has locked by then:
// those with the primary keys that it has found. Other statements are refused.
func (w *worker) waits() error {
	for i := range w.wanted {
		c := &w.wanted[i]
		lock := w.locks[c.table]
		if !waitsNot(lock) || (*c.list)[c.at].Written == nil {
			continue
		}
		key := c.table.Primary
		if c.found = strings.HasPrefix(lock, "for update") && len(key) == 1 && slices.ContainsFunc(c.joins, func(j plan.Join) bool {
			return w.plan.Copies[j.From].Table == c.table && j.Column == key[0] && j.Source == key[0]
		}); !c.found {
			return refuseNoWait()
		}
	}
	return nil
}

func refuseNoWait() error {
	return sqlerr.Unsupported("NOWAIT, SKIP LOCKED or a lock of this form in a write over several node groups", "select the rows first, then write them by their keys")
}
