package planner

import (
	"bytes"
	"slices"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlparse"
)

// viewRules follow the rules that have planned a workspace for a SELECT.
func viewRules() []Rule {
	return []Rule{
		{"UnfoldViews", `A view stands for its SELECT, as a derived table of the same name does. So where a view's rows would be computed
from whole copies of its tables, the statement is planned anew with the SELECTs in place of the views: what the statement says of
their columns then leaves out rows, and their groups are found where the rows are. The text of a view has all names qualified and
is written for no particular sql_mode. It must not fire for a view with ORDER BY and without LIMIT, which servers take over where the
statement has none; for one of ALGORITHM=TEMPTABLE, which servers compute by itself while they open a derived table, unless that has groups or
a LIMIT; where the client's text names a view's column with the database, which a derived table has not (in the texts of views, which MySQL
writes so, the database is left out); for views in the select list,
whose text names columns; for sql_modes that read texts in another way; for a view whose text has anything but ASCII, which
may mean other characters in the session's character set, or a backslash, or has string literals of another collation than the statement's; nor for what locks, assigns or calls functions that read tables.`, unfoldViews},
	}
}

// maxUnfoldedText bounds the text of a statement with its views written out.
const maxUnfoldedText = 64 << 10

// unfoldViews: see its rule's Doc.
func unfoldViews(b *build) (fired bool, err error) {
	w, ok := b.plan.Root.(*plan.Workspace)
	if !ok || b.plan.Kind != plan.Select || b.query == nil || b.ws == nil || b.ws.locks != nil || w.Write || len(b.reads) > 0 || b.a.assigns ||
		b.st.Mode() != 0 || b.plan.Uses&(plan.WritesUserVariable|plan.SetsLastInsertID|plan.LocksRows) != 0 ||
		!slices.ContainsFunc(w.Copies, func(c plan.Copy) bool { return c.View != nil }) {
		return false, nil
	}
	u := newUnfoldedViews(b)
	st, ok := u.unfold()
	if !ok {
		return false, nil
	}
	args, ok := u.arguments(st)
	if !ok {
		return false, nil
	}
	n := &build{p: b.p, st: st, db: b.db, snap: b.snap, sess: b.sess, plan: &plan.Plan{Uses: textUses(st.Uses())}}
	if n.storedFunctions() != nil {
		return false, nil
	}
	if err := n.tryWorkspace(n.statement()); err != nil || n.query == nil || n.plan.Kind != plan.Select || len(n.reads) > 0 {
		return false, nil
	}
	m := mover{args: args, st: st, whole: true}
	root, ok := m.workspaces(n.plan.Root)
	if !ok {
		return false, nil
	}
	for _, g := range n.plan.Guards {
		switch {
		case g.Arg < 0:
			b.guard(g.Arg, g.Text)
		case args[g.Arg] >= 0:
			b.guard(args[g.Arg], g.Text)
		}
	}
	b.plan.Root, b.done = root, true
	b.plan.Uses |= n.plan.Uses
	for _, name := range n.plan.Rules {
		if !slices.Contains(b.plan.Rules, name) {
			b.plan.Rules = append(b.plan.Rules, name)
		}
	}
	return true, nil
}

// OpenViews returns the text of a SELECT with the SELECTs of its views in their places, in which they can be told how they lock, where servers compute
// the rows of one by themselves; nil if they do not, or if that text would not be the same. It may have other names for columns.
func (p *Planner) OpenViews(st *sqlparse.Statement, db string, snap *catalog.Snapshot, sess SessionInfo) []byte {
	b := &build{p: p, st: st, db: db, snap: snap, sess: sess, plan: &plan.Plan{}}
	if st.Mode() != 0 || st.Kind() != sqlparse.Select || b.storedFunctions() != nil || len(b.reads) > 0 {
		return nil
	}
	tree, _, err := p.parser.Parse(st)
	query, ok := tree.(sqlparser.TableStatement)
	if err != nil || !ok {
		return nil
	}
	if _, err := b.analyze(query); err != nil || !b.a.stored || b.a.assigns || len(b.reads) > 0 {
		return nil
	}
	u := newUnfoldedViews(b)
	u.unnamed = true
	opened, ok := u.unfold()
	if !ok {
		return nil
	}
	return opened.SQL()
}

// unfoldedViews is the statement's text with views replaced by their SELECTs. from tells for each byte where it stands in the client's
// text, or -1.
type unfoldedViews struct {
	b    *build
	text []byte
	from []int
	// unnamed: it does not matter what the columns of the statement are called.
	unnamed bool
}

func newUnfoldedViews(b *build) *unfoldedViews {
	u := &unfoldedViews{b: b, text: slices.Clone(b.st.SQL())}
	for i := range u.text {
		u.from = append(u.from, i)
	}
	return u
}

// unfold replaces views until there are none.
func (u *unfoldedViews) unfold() (st *sqlparse.Statement, ok bool) {
	for {
		st = u.b.st.Dialect().NewStatement()
		if st.Scan(slices.Clone(u.text), u.b.st.Mode()) != nil || st.Rest() != nil || len(u.text) > maxUnfoldedText {
			return nil, false
		}
		more, ok := u.level(st)
		if !ok {
			return nil, false
		}
		if !more {
			return st, true
		}
	}
}

// level replaces the views that st, which has the text so far, names.
func (u *unfoldedViews) level(st *sqlparse.Statement) (more, ok bool) {
	b := u.b
	refs, sure := st.Tables()
	if !sure {
		return false, false
	}
	type edit struct {
		sqlparse.Span
		text string
	}
	var edits []edit
	list, _ := b.st.SelectList()
	for _, r := range refs {
		at := u.from[r.Start]
		if at < 0 && r.DB == "" {
			return false, false
		}
		t, found, err := b.copyable(r, b.db)
		if !found || err != nil {
			return false, false
		}
		if t.Kind != catalog.View {
			continue
		}
		alias, ok := aliasFor(st, r)
		if !ok || !u.unnamed && at >= list.Start && at < list.End || !u.stands(t) {
			return false, false
		}
		edits = append(edits, edit{r.Span, "(" + t.ViewText + ")" + alias})
		if before, behind, ok := parentheses(st, r); ok {
			edits = append(edits, edit{before, ""}, edit{behind, ""})
		}
		name := r.Name
		if alias == "" {
			name = aliasBehind(st, r)
		}
		for _, q := range databasesBefore(st, t.Database, name) {
			if u.from[q.Start] >= 0 {
				return false, false
			}
			if e := (edit{q, ""}); !slices.Contains(edits, e) { // another view of the text has the same name in it
				edits = append(edits, e)
			}
		}
	}
	slices.SortFunc(edits, func(x, y edit) int { return y.Start - x.Start })
	for _, e := range edits {
		u.text = slices.Replace(u.text, e.Start, e.End, []byte(e.text)...)
		u.from = slices.Replace(u.from, e.Start, e.End, slices.Repeat([]int{-1}, len(e.text))...)
	}
	return len(edits) > 0, true
}

// aliasBehind is the alias behind a table reference that has one.
func aliasBehind(st *sqlparse.Statement, ref sqlparse.TableRef) string {
	toks := st.TokensFrom(ref.End)
	t := toks.Next()
	if isWord(st, t, "AS") {
		t = toks.Next()
	}
	return string(st.AppendName(nil, t))
}

// stands reports whether the text of a view means the same in the middle of a statement.
func (u *unfoldedViews) stands(t *catalog.Table) bool {
	if strings.ContainsFunc(t.ViewText, func(r rune) bool { return r > '~' || r < ' ' || r == '\\' || r == '?' || r == ';' }) {
		return false
	}
	if t.Collation != u.b.sess.Collation && strings.Contains(t.ViewText, "'") {
		return false
	}
	st := u.b.st.Dialect().NewStatement()
	if st.Scan([]byte(t.ViewText), 0) != nil || st.Kind() != sqlparse.Select || st.Rest() != nil {
		return false
	}
	ordered, limited, grouped, apart := false, false, false, t.Apart
	for toks := st.Tokens(); ; {
		t := toks.Next()
		switch {
		case t.Kind == sqlparse.EOF:
			return limited || !ordered && (grouped || !apart)
		case t.Kind == sqlparse.Invalid, t.Kind == sqlparse.HintComment:
			return false
		case t.Depth == 0:
			ordered, limited, grouped = ordered || isWord(st, t, "ORDER"), limited || isWord(st, t, "LIMIT"), grouped || isWord(st, t, "GROUP")
		}
	}
}

// databasesBefore are the places where the text names columns of a table as database.table.column: of the database and the point behind it.
func databasesBefore(st *sqlparse.Statement, db, table string) (spans []sqlparse.Span) {
	var before [4]sqlparse.Token // the last one first
	name := func(t sqlparse.Token, want string) bool {
		return (t.Kind == sqlparse.Word || t.Kind == sqlparse.QuotedName) && strings.EqualFold(string(st.AppendName(nil, t)), want)
	}
	for toks := st.Tokens(); ; {
		t := toks.Next()
		if t.Kind == sqlparse.EOF || t.Kind == sqlparse.Invalid {
			return spans
		}
		if st.Is(before[0], ".") && name(before[1], table) && st.Is(before[2], ".") && name(before[3], db) {
			spans = append(spans, sqlparse.Span{Start: before[3].Start, End: before[1].Start})
		}
		before = [4]sqlparse.Token{t, before[0], before[1], before[2]}
	}
}

// arguments are the statement's numbers of the arguments of st, which has the text; those of views have none: -1.
func (u *unfoldedViews) arguments(st *sqlparse.Statement) (args []int, ok bool) {
	b := u.b
	own := 0
	for i := range st.NumArgs() {
		x := st.Arg(i)
		if u.from[x.Start] < 0 {
			args = append(args, -1)
			continue
		}
		if own == b.st.NumArgs() || b.st.Arg(own).Start != u.from[x.Start] || b.st.Arg(own).Class != x.Class || !bytes.Equal(b.st.ArgText(own), st.ArgText(i)) {
			return nil, false
		}
		args = append(args, own)
		own++
	}
	if own != b.st.NumArgs() {
		return nil, false
	}
	list, selects := b.st.SelectList()
	same, still := st.SelectList()
	return args, selects && still && bytes.Equal(b.st.Text(list), st.Text(same)) // not TABLE and VALUES
}

// workspaces is node for a plan that is no part of another one but stands for it: a workspace, or the ways beside it.
func (m *mover) workspaces(n plan.Node) (moved plan.Node, ok bool) {
	switch n := n.(type) {
	case *plan.Workspace:
		return m.workspace(n)
	case *plan.Choice:
		c := *n
		if c.Workspace, ok = m.workspace(n.Workspace); !ok {
			return nil, false
		}
		if n.First != nil {
			if c.First, ok = m.workspace(n.First); !ok {
				c.First = nil
			}
		}
		if n.Queries != nil {
			if c.Queries, ok = m.workspace(n.Queries); !ok {
				c.Queries = nil
			}
		}
		c.Broadcasts = nil
		for _, x := range n.Broadcasts {
			m.failed = false
			copies, ok := m.copies(x.Copies)
			if !ok {
				continue
			}
			if input, ok := m.node(x.Input); ok {
				c.Broadcasts = append(c.Broadcasts, &plan.Broadcast{Copies: copies, Input: input})
			}
		}
		if len(c.Broadcasts) == 0 && c.First == nil && c.Queries == nil {
			return c.Workspace, true
		}
		return &c, true
	}
	return nil, false
}

// workspace is node for a workspace. Its text is not the client's any more.
func (m *mover) workspace(n *plan.Workspace) (moved *plan.Workspace, ok bool) {
	w := *n
	m.failed = false
	if n.Write || n.Stage != nil {
		return nil, false
	}
	if w.Copies, ok = m.copies(n.Copies); !ok {
		return nil, false
	}
	if w.Local, ok = m.copies(n.Local); !ok {
		return nil, false
	}
	if n.First != nil {
		f := *n.First
		f.Count = m.operand(f.Count)
		if f.Offset != nil {
			offset := m.operand(*f.Offset)
			f.Offset = &offset
		}
		w.First = &f
	}
	if w.Again, ok = m.copies(n.Again); !ok {
		return nil, false
	}
	if n.Own != nil {
		own := m.reading(*n.Own)
		w.Own = &own
	}
	r := m.reading(plan.Reading{Stored: n.Stored, Renames: n.Renames, Text: n.Text})
	w.Stored, w.Renames, w.Text = r.Stored, nil, r.Text
	return &w, !m.failed
}

// reading moves how copies are read.
func (m *mover) reading(r plan.Reading) (moved plan.Reading) {
	for _, st := range r.Stored {
		st.Text = m.text(st.Text)
		moved.Stored = append(moved.Stored, st)
	}
	if moved.Text = r.Text; r.Text == nil {
		moved.Text = m.renamed(r.Renames)
	}
	moved.Text = m.text(moved.Text)
	return moved
}

// copies moves what makes copies.
func (m *mover) copies(list []plan.Copy) (moved []plan.Copy, ok bool) {
	for _, c := range list {
		if c.View != nil || c.Written != nil {
			return nil, false
		}
		if c.Input != nil {
			f := *c.Input
			f.Target, f.Text = m.target(f.Target), m.text(f.Text)
			c.Input = &f
		}
		if c.Query != nil {
			q := *c.Query
			if q.Root, ok = m.node(q.Root); !ok {
				return nil, false
			}
			q.Text = m.text(q.Text)
			c.Query = &q
		}
		moved = append(moved, c)
	}
	return moved, !m.failed
}

// renamed is the whole text with other tables in the place of some.
func (m *mover) renamed(renames []plan.Rename) plan.Text {
	refs, _ := m.st.Tables()
	e := &editor{st: m.st}
	at := 0
	for _, r := range renames {
		e.asWritten(at, refs[r.Ref].Start)
		e.raw(r.Text)
		at = refs[r.Ref].End
	}
	e.asWritten(at, len(m.st.SQL()))
	return e.done()
}
