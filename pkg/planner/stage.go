package planner

import (
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// stageRules is tried for an INSERT or REPLACE that the other rules refuse.
func stageRules() []Rule {
	return []Rule{
		{"Stage", `A table with the columns, defaults and checks of the target takes whatever values the statement brings and makes of
them what the target would hold; only then is it asked where each row belongs. What the rows come from is read as with
Workspace, locked. The stage has no keys: rows that meet others meet them in their own group, since every unique key
contains the distribution key, and each group gets its rows in their order. ON DUPLICATE KEY UPDATE is computed there, so it may
speak of nothing but the row that is there and the new one: a column of the query that is inserted as it is, is the new one's. A query for
one value in it, of other tables alone, is asked first.`,
			stageRows},
	}
}

// stageName is what the stage is called when the statement reads its target as well, unless a table has that name.
const stageName = "_skarv_stage"

func stageRows(b *build) (bool, error) {
	p, err := b.stagePlan()
	if p == nil || err != nil {
		return false, err
	}
	b.plan.Root, b.plan.Refuse, b.done = p, nil, true
	return true, nil
}

// stagePlan is the plan for an INSERT or REPLACE that runs through a stage; nil if there is none.
func (b *build) stagePlan() (*plan.Workspace, error) {
	u := b.st.Uses()
	if u&(sqlparse.UserLock|sqlparse.IntoFile|sqlparse.Sequence|sqlparse.SetsLastInsertID) != 0 || u&sqlparse.Returning != 0 && !b.returning ||
		b.plan.Uses&plan.SetsLastInsertID != 0 {
		return nil, nil
	}
	text, ok := b.st.InsertText()
	refs, sure := b.st.Tables()
	if !ok || !sure || len(refs) == 0 || text.At != text.Table.End { // PARTITION (...) is between
		return nil, nil
	}
	if in := b.ins; in != nil && (!in.analysed || b.a.inPlace || b.a.system || b.a.virtual) || in == nil && !b.plainCalls(b.st) {
		return nil, nil
	}
	w := &worker{b: b, writes: true, stage: true, target: -1, keeps: map[*catalog.Table]int{}}
	if w.locks, ok = b.writeLocks(nil); !ok {
		return nil, nil
	}
	for _, r := range refs {
		t, ok, err := b.copyable(r, b.db)
		switch {
		case !ok || err != nil:
			return nil, err
		case r.Start == text.Table.Start:
			b.needs(t, b.writes())
		default:
			b.needs(t, catalog.MaySelect)
		}
	}
	if w.shareCopies(); w.mayUnfold(refs) {
		refs = w.unfold.refs
	}
	returned := len(b.st.SQL())
	if b.returning {
		if returned, _ = b.st.ReturningAt(); b.plan.Uses&plan.WritesUserVariable != 0 {
			return nil, nil
		}
	}
	var tables, read []*catalog.Table
	var asked *askings
	if text.OnDuplicate >= 0 && w.unfold == nil {
		asked = b.askings(text.OnDuplicate)
	}
	p := &plan.Workspace{Write: true}
	for i, r := range refs {
		t, ok, err := b.copyable(r, b.db)
		if !ok || err != nil {
			return nil, err
		}
		tables = append(tables, t)
		if r.Start == text.Table.Start {
			w.target = i
			continue
		}
		switch {
		case asked.has(r):
			w.whole = append(w.whole, t)
		case text.OnDuplicate >= 0 && r.Start > text.OnDuplicate || r.Start > returned:
			return nil, nil // a subquery: the groups have other rows
		}
		read = append(read, t)
		if t.Kind == catalog.Single && p.Group == 0 {
			p.Group = t.Group
		}
	}
	if w.target < 0 || tables[w.target].Kind == catalog.View {
		return nil, nil
	}
	t := tables[w.target]
	if err := b.uncheckedCopy(t); err != nil {
		return nil, err
	}
	if b.ins != nil {
		if given, _ := b.ins.given(); given != nil { // what rows bring is not compared there
			return nil, nil
		}
	}
	followed := b.followed(t) || b.owns(t)
	if followed && (!b.writable(t) || b.ins == nil || b.renamesOtherwise() || b.meetsComputed(t) != nil || b.ignoresUpdates() || b.plan.Uses&plan.WritesUserVariable != 0) {
		return nil, nil
	}
	w.into, read = t, b.opened(append(read, b.reads...))
	self := slices.Contains(read, t)
	var tail plan.Text
	if text.OnDuplicate >= 0 {
		if asked != nil && slices.Contains(w.whole, t) {
			return nil, nil
		}
		if tail, ok = b.duplicateUpdate(t, asked); !ok || b.seededUpdate() || t.Kind == catalog.Reference && b.unlikeUpdate(t) {
			return nil, nil
		}
	}
	if (b.plan.Kind == plan.Replace || text.OnDuplicate >= 0) && b.referenced(t) && slices.ContainsFunc(read, func(o *catalog.Table) bool { return o != t && len(o.ForeignKeys) > 0 }) {
		return nil, nil // a row may change, by a foreign key, what the next one reads
	}
	w.whole = append(w.whole, b.reads...)
	if err := w.tables(p, tables, refs, b.st); err != nil || w.refused {
		return nil, err
	}
	if err := w.readers(p, tables, b.st, b.db); err != nil {
		return nil, err
	}
	b.ws, w.plan = w, p
	w.quiet = b.quietThroughout()
	for _, assemble := range []func(*build) (bool, error){copyKeys, copyRows, copyJoins, copyFirst, assembleCopies} {
		if _, err := assemble(b); err != nil {
			return nil, err
		}
	}
	b.plan.Root, b.done = nil, false
	p.Stage = &plan.Stage{Table: t, Sequence: t.Numbered(), ZeroIsValue: b.sess.NoAutoValueOnZero, Name: t.Name,
		Verb: b.insertVerb(), Update: text.OnDuplicate >= 0, Renumbers: text.OnDuplicate >= 0 && b.ins.renumbers(), Tail: tail, Followed: followed, Returning: b.returning, Query: text.Query,
		Late: b.late(t)}
	if self {
		for p.Stage.Name = stageName; b.snap.Table(t.Database, p.Stage.Name) != nil; {
			p.Stage.Name += "_"
		}
		p.Renames = append([]plan.Rename{{Ref: w.target, Text: sqltypes.QuoteIn(t.Database, p.Stage.Name)}}, p.Renames...)
	}
	if ownRenames(p); asked != nil {
		asked.plan(p, refs)
	}
	if w.unfold != nil {
		end := len(b.st.SQL())
		if text.OnDuplicate >= 0 {
			end = text.OnDuplicate
		}
		w.unfold.plan(w, p, t.Database, end)
	}
	return p, nil
}

// late is plan.Stage's. By the distribution key rows are placed before that; of AUTO_INCREMENT and of IGNORE a NULL becomes a value.
func (b *build) late(t *catalog.Table) (columns []int) {
	if b.ins == nil || !b.sess.Strict || b.ignores() || !t.FiresBeforeInsert() {
		return nil
	}
	for _, c := range b.ins.columns {
		if col := &t.Columns[c]; !col.Nullable && !col.Generated && c != t.AutoIncrement && !slices.Contains(t.Distribution, c) {
			columns = append(columns, c)
		}
	}
	return columns
}

// writable reports whether rows of a stage can be inserted into t with their values written out, as a statement of their own.
func (b *build) writable(t *catalog.Table) bool {
	plain := b.plan.Kind == plan.Insert && !b.ignores() && (b.ins == nil || len(b.ins.stmt.OnDup) == 0)
	return (!b.returning || plain) && t.Kind == catalog.Sharded
}

// insertVerb is how the statement inserts.
func (b *build) insertVerb() string {
	switch {
	case b.st.Kind() == sqlparse.Replace:
		return "REPLACE INTO"
	case b.ignores():
		return "INSERT IGNORE INTO"
	}
	return "INSERT INTO"
}

// ignores reports whether IGNORE is among the words after the statement's first.
func (b *build) ignores() bool {
	toks := b.st.Tokens()
	for toks.Next(); ; {
		switch t := toks.Next(); {
		case isWord(b.st, t, "IGNORE"):
			return true
		case isWord(b.st, t, "LOW_PRIORITY"), isWord(b.st, t, "HIGH_PRIORITY"), isWord(b.st, t, "DELAYED"), isWord(b.st, t, "QUICK"),
			t.Kind == sqlparse.HintComment:
		default:
			return false
		}
	}
}

// uncheckedCopy is why the statement cannot write to a copy of t, whose rows go to t afterwards: of MySQL's copies
// CHECK constraints are dropped, so that they would not say which rows IGNORE leaves out.
func (b *build) uncheckedCopy(t *catalog.Table) error {
	if t.Checks && b.snap.Flavor == catalog.MySQL && b.ignores() {
		return sqlerr.Unsupported("IGNORE for the table '"+t.Name+"', which has CHECK constraints, with rows of several node groups",
			"leave out IGNORE, and the rows that the constraints refuse")
	}
	return nil
}
