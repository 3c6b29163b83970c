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

// staging is how an INSERT or REPLACE comes to a plan that runs through a stage.
type staging struct {
	*worker
	text sqlparse.InsertText
	refs []sqlparse.TableRef
	p    *plan.Workspace
	// tables are those of refs, t is the one that rows are inserted into, and read are those that are read.
	tables, read []*catalog.Table
	t            *catalog.Table
	// asked are the queries of the ON DUPLICATE KEY UPDATE; update is that clause as each group gets it.
	asked    *askings
	update   plan.Text
	followed bool // see plan.Stage
}

// stagePlan is the plan for an INSERT or REPLACE that runs through a stage; nil if there is none.
func (b *build) stagePlan() (*plan.Workspace, error) {
	if !b.stageable() {
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
	s := &staging{worker: w, text: text, refs: refs, p: &plan.Workspace{Write: true}}
	for _, step := range []func() (ok bool, err error){s.access, s.sources, s.fits, s.onDuplicate, s.copyRead} {
		if ok, err := step(); !ok || err != nil {
			return nil, err
		}
	}
	s.finish()
	return s.p, nil
}

// stageable reports whether the statement uses nothing that does not go through a stage.
func (b *build) stageable() bool {
	u := b.st.Uses()
	return u&(sqlparse.UserLock|sqlparse.IntoFile|sqlparse.Sequence|sqlparse.SetsLastInsertID) == 0 && (u&sqlparse.Returning == 0 || b.returning) &&
		b.plan.Uses&plan.SetsLastInsertID == 0
}

// access notes what the account must be allowed.
func (s *staging) access() (bool, error) {
	for _, r := range s.refs {
		t, ok, err := s.b.copyable(r, s.b.db)
		switch {
		case !ok || err != nil:
			return false, err
		case r.Start == s.text.Table.Start:
			s.b.needs(t, s.b.writes())
		default:
			s.b.needs(t, catalog.MaySelect)
		}
	}
	return true, nil
}

// sources finds the tables, of the text with its common table expressions unfolded, if they are.
func (s *staging) sources() (bool, error) {
	b, updates := s.b, s.text.OnDuplicate >= 0
	if s.shareCopies(); s.mayUnfold(s.refs) {
		s.refs = s.unfold.refs
	}
	returned := len(b.st.SQL())
	if b.returning {
		if returned, _ = b.st.ReturningAt(); b.plan.Uses&plan.WritesUserVariable != 0 {
			return false, nil
		}
	}
	if updates && s.unfold == nil {
		s.asked = b.askings(s.text.OnDuplicate)
	}
	for i, r := range s.refs {
		t, ok, err := b.copyable(r, b.db)
		if !ok || err != nil {
			return false, err
		}
		s.tables = append(s.tables, t)
		if r.Start == s.text.Table.Start {
			s.target, s.t = i, t
			continue
		}
		switch {
		case s.asked.has(r):
			s.whole = append(s.whole, t)
		case updates && r.Start > s.text.OnDuplicate || r.Start > returned:
			return false, nil // a subquery: the groups have other rows
		}
		s.read = append(s.read, t)
	}
	s.p.Group = singleGroup(s.read)
	return s.target >= 0 && s.t.Kind != catalog.View, nil
}

// fits reports whether rows of a stage may be inserted into the target.
func (s *staging) fits() (bool, error) {
	b, t := s.b, s.t
	if err := b.uncheckedCopy(t); err != nil {
		return false, err
	}
	if b.ins != nil {
		if given, _ := b.ins.given(); given != nil { // what rows bring is not compared there
			return false, nil
		}
	}
	s.followed = b.followed(t) || b.owns(t)
	if s.followed && (!b.writable(t) || b.ins == nil || b.renamesOtherwise() || b.meetsComputed(t) != nil || b.ignoresUpdates() || b.plan.Uses&plan.WritesUserVariable != 0) {
		return false, nil
	}
	s.into, s.read = t, b.opened(append(s.read, b.reads...))
	return true, nil
}

// onDuplicate looks at what becomes of rows that are there.
func (s *staging) onDuplicate() (ok bool, err error) {
	b, t, updates := s.b, s.t, s.text.OnDuplicate >= 0
	if updates {
		if s.asked != nil && slices.Contains(s.whole, t) {
			return false, nil
		}
		if s.update, ok = b.duplicateUpdate(t, s.asked); !ok || b.seededUpdate() || t.Kind == catalog.Reference && b.unlikeUpdate(t) {
			return false, nil
		}
	}
	changes := (b.plan.Kind == plan.Replace || updates) && b.referenced(t)
	return !changes || !slices.ContainsFunc(s.read, func(o *catalog.Table) bool {
		return o != t && len(o.ForeignKeys) > 0 // a row may change, by a foreign key, what the next one reads
	}), nil
}

// copyRead makes the plan read copies.
func (s *staging) copyRead() (bool, error) {
	b := s.b
	s.whole = append(s.whole, b.reads...)
	if ok, err := s.copyAll(s.p, s.tables, s.refs); !ok || err != nil {
		return false, err
	}
	b.ws, s.plan = s.worker, s.p
	s.quiet = b.quietThroughout()
	for _, assemble := range []func(*build) (bool, error){copyKeys, copyRows, copyJoins, copyFirst, assembleCopies} {
		if _, err := assemble(b); err != nil {
			return false, err
		}
	}
	b.plan.Root, b.done = nil, false
	return true, nil
}

// finish gives the plan its stage.
func (s *staging) finish() {
	b, p, t, updates := s.b, s.p, s.t, s.text.OnDuplicate >= 0
	p.Stage = &plan.Stage{Table: t, Sequence: t.Numbered(), ZeroIsValue: b.sess.NoAutoValueOnZero, Name: t.Name,
		Verb: b.insertVerb(), Update: updates, Renumbers: updates && b.ins.renumbers(), Tail: s.update, Followed: s.followed, Returning: b.returning,
		Query: s.text.Query, Late: b.late(t)}
	if slices.Contains(s.read, t) {
		for p.Stage.Name = stageName; b.snap.Table(t.Database, p.Stage.Name) != nil; {
			p.Stage.Name += "_"
		}
		p.Renames = append([]plan.Rename{{Ref: s.target, Text: sqltypes.QuoteIn(t.Database, p.Stage.Name)}}, p.Renames...)
	}
	if ownRenames(p); s.asked != nil {
		s.asked.plan(p, s.refs)
	}
	if s.unfold != nil {
		end := len(b.st.SQL())
		if updates {
			end = s.text.OnDuplicate
		}
		s.unfold.plan(s.worker, p, t.Database, end)
	}
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
