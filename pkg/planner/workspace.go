package planner

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/function"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// workspaceRules is tried for a SELECT that the other rules refuse.
func workspaceRules() []Rule {
	return append([]Rule{
		{"Workspace", `One server that has all rows of all tables a query reads gives the answer, whatever the query computes. So
the tables are copied to one node group, into temporary tables that hide the tables of the same names there, and the
client's text runs on that connection. All tables are known: the syntax tree names them, or the scanner is sure of
them. Rows that the query locks are locked where they come from, as they are copied. It must not fire where the rows
locked are not those of the outermost FROM, for what reads tables it does not name
(stored functions), for MATCH (temporary tables have no FULLTEXT keys) and for what depends on the server it runs on.`,
			copyTables},
	}, copyRules()...)
}

// tryWorkspace replaces a refusal of the statement by a workspace plan, if there is one. err is how planning ended.
func (b *build) tryWorkspace(err error) error {
	if b.rowByRow {
		return err
	}
	rules := workspaceRules()
	switch k := b.st.Kind(); {
	case k == sqlparse.Select && b.plan.Kind == plan.Select:
	case k == sqlparse.Update || k == sqlparse.Delete:
		rules = modifyCopiesRules()
	case k == sqlparse.Insert || k == sqlparse.Replace:
		rules = stageRules()
	default:
		return err
	}
	_, unsure := errors.AsType[*unread](err)
	switch {
	case unsure:
	case err != nil:
		if !sqlerr.HasCode(err, sqlerr.NotSupportedYet) {
			return err
		}
	case b.plan.Refuse == nil || b.plan.Root != nil:
		return nil
	}
	b.done = false
	werr := run(b, rules)
	if werr != nil {
		return werr
	}
	switch {
	case b.plan.Root == nil:
		return err
	case b.rowByRow:
		return nil
	}
	b.done = false
	if verr := run(b, viewRules()); verr != nil || b.done {
		return verr
	}
	return b.ways()
}

// maxCopies bounds the temporary tables of one statement.
const maxCopies = 61

// worker builds a workspace.
type worker struct {
	b       *build
	twice   bool // the places of the statement that read a table read one copy of it, as MariaDB can, and not each its own
	copies  int
	views   int // depth
	next    int // number of temporary tables with names of their own
	refused bool
	// Of a statement that writes: what is written, the reference by which each table keeps its name, and the clause that
	// locks the rows copied.
	written   map[*catalog.Table]*plan.Written
	keeps     map[*catalog.Table]int
	alias     []int       // references to a table that is written which are written, too
	instances []*instance // by reference of the client's text; nil for one of which that is not sure
	quiet     bool        // see quietThroughout
	writes    bool
	dates     bool // see trustDates
	// tail, not nil, is the end of the statement that chooses its rows, from WHERE on.
	tail *sqlparse.Span
	// whole are the tables of which no row may be left out.
	whole []*catalog.Table
	// locks are the clauses by which a SELECT locks the rows of tables.
	locks map[*catalog.Table]string
	// target, when stage is set, is the reference that an INSERT writes to, and into its table: it is not copied.
	stage  bool
	target int
	into   *catalog.Table

	// unfold, not nil, is the text with common table expressions written as often as they are read.
	unfold *unfolding

	plan   *plan.Workspace
	wanted []wanted
	named  []*catalog.Table // as often as the text names them; nil if that is not sure
}

func copyTables(b *build) (bool, error) {
	u := b.st.Uses()
	if u&(sqlparse.UserLock|sqlparse.IntoFile|sqlparse.Sequence) != 0 || b.plan.Uses&plan.SetsLastInsertID != 0 ||
		u&sqlparse.SetsLastInsertID != 0 {
		return false, nil
	}
	var locks map[*catalog.Table]string
	if u&sqlparse.LocksRows != 0 {
		var ok bool
		if locks, ok = b.locking(); !ok || b.readOften(locks, nil) {
			return false, nil
		}
	}
	refs, sure := b.st.Tables()
	var names []*catalog.Table // by reference; nil when only the tree knows them
	if sure {
		for _, r := range refs {
			t, ok, err := b.copyable(r, b.db)
			if !ok || err != nil {
				return false, err
			}
			names = append(names, t)
		}
	}
	if b.pushed != nil {
		if refs, names = b.outsidePushed(refs, names); names == nil {
			return false, nil
		}
	}
	w := &worker{b: b, named: names, locks: locks, whole: b.reads}
	w.shareCopies()
	tables := names
	switch {
	case b.pushed != nil: // the scanner is sure
	case b.query != nil:
		if b.a.inPlace || b.a.system || b.a.virtual {
			return false, nil
		}
		// What the tree names counts; the scanner knows where in the text.
		tables = b.a.refs
		if w.mayUnfold(refs) {
			if !sameTables(w.unfold.named(names), tables) {
				return false, nil
			}
			refs = w.unfold.refs
			names, _ = b.named(refs)
			w.named, tables = names, names
		} else if !w.twice && !sameTables(names, tables) {
			return false, nil
		}
	case !sure || !b.plainCalls(b.st) || b.a != nil:
		return false, nil
	default:
		for _, t := range tables {
			b.needs(t, catalog.MaySelect)
		}
		if !w.mayUnfold(refs) {
			break
		}
		refs = w.unfold.refs
		names, _ = b.named(refs)
		w.named, tables = names, names
	}
	if len(tables) == 0 && b.pushed == nil && len(b.reads) == 0 {
		return false, nil
	}
	p := &plan.Workspace{Group: singleGroup(slices.Concat(tables, b.reads))}
	if ok, err := w.copyAll(p, tables, refs); !ok || err != nil {
		return false, err
	}
	if ownRenames(p); w.unfold != nil {
		w.unfold.plan(w, p, tables[0].Database, len(b.st.SQL()))
	}
	if b.locksWithin() {
		b.plan.Uses |= plan.LocksRows
	}
	if b.pushed != nil && !w.pushed(p, refs) {
		return false, nil
	}
	b.ws, w.plan = w, p
	return true, nil
}

// singleGroup is the node group of the first table that is kept on one alone; 0 if there is none.
func singleGroup(tables []*catalog.Table) placement.NodeGroupID {
	for _, t := range tables {
		if t.Kind == catalog.Single {
			return t.Group
		}
	}
	return 0
}

// copyAll makes p copy tables, those of refs, and what functions read of others; ok is false if some cannot be copied.
func (w *worker) copyAll(p *plan.Workspace, tables []*catalog.Table, refs []sqlparse.TableRef) (ok bool, err error) {
	if err := w.tables(p, tables, refs, w.b.st); err != nil || w.refused {
		return false, err
	}
	err = w.readers(p, tables, w.b.st, w.b.db)
	return err == nil, err
}

// named finds the tables of references.
func (b *build) named(refs []sqlparse.TableRef) (names []*catalog.Table, ok bool) {
	for _, r := range refs {
		t, ok, err := b.copyable(r, b.db)
		if !ok || err != nil {
			return nil, false
		}
		names = append(names, t)
	}
	return names, true
}

// copyable finds the table a reference names; ok is false for what cannot be copied.
func (b *build) copyable(r sqlparse.TableRef, db string) (t *catalog.Table, ok bool, err error) {
	if r.DB != "" {
		db = r.DB
	}
	if db == "" {
		return nil, false, sqlerr.NoDatabase.New()
	}
	if systemSchema(db) != userSchema {
		return nil, false, nil
	}
	t, err = b.table(db, r.Name)
	return t, err == nil, err
}

// sameTables reports whether two lists have the same tables equally often.
func sameTables(a, b []*catalog.Table) bool {
	if len(a) != len(b) {
		return false
	}
	count := map[*catalog.Table]int{}
	for i := range a {
		count[a[i]]++
		count[b[i]]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// tables fills p with the tables of one text. refs are where the text names them, for servers that read a temporary table
// only once.
func (w *worker) tables(p *plan.Workspace, tables []*catalog.Table, refs []sqlparse.TableRef, st *sqlparse.Statement) error {
	db := w.b.db
	if w.views > 0 {
		db = "" // names in views are qualified
	}
	skip := func(i int) bool { return w.stage && w.views == 0 && i == w.target }
	done := map[*catalog.Table]int{}
	keeps := func(i int, t *catalog.Table) bool {
		if at, ok := w.keeps[t]; ok && w.views == 0 {
			return at == i
		}
		if !w.twice && slices.Contains(w.b.reads, t) && w.written[t] == nil && (t.Kind == catalog.Sharded || t.Kind == catalog.Single && t.Group != p.Group || w.apart(t)) {
			return false // a function reads the copy that has the name
		}
		return done[t] == 1
	}
	for i, t := range tables {
		if skip(i) {
			continue
		}
		if !w.twice {
			// In the order of the text, to number the references.
			var ok bool
			var err error
			if t, ok, err = w.b.copyable(refs[i], db); !ok || err != nil {
				w.refused = true
				return err
			}
		}
		done[t]++
		if w.b.generated[[2]string{t.Database, t.Name}] == t {
			continue // every connection has it
		}
		local := (t.Kind == catalog.Reference || t.Kind == catalog.Single && t.Group == p.Group) && w.written[t] == nil && !w.apart(t)
		// What is written is read elsewhere from a copy of its own, which does not change.
		twice := w.twice && (w.views > 0 || w.written[t] == nil)
		if done[t] > 1 && (twice || local) {
			if local && !w.twice {
				w.again(p, t, i, refs[i], st)
			}
			continue
		}
		if w.copies++; w.copies > maxCopies {
			w.refused = true
			return nil
		}
		c := plan.Copy{Table: t}
		switch {
		case keeps(i, t):
			if w.views == 0 {
				c.Written = w.written[t]
			}
		default:
			c.Name = w.freeName(t.Database)
			rename, ok := renamed(st, refs[i], t, c.Name)
			if !ok {
				w.refused = true
				return nil
			}
			p.Renames = append(p.Renames, plan.Rename{Ref: i, Text: rename})
			if w.views == 0 && slices.Contains(w.alias, i) {
				c.Written = w.written[t]
			}
		}
		if t.Kind == catalog.View {
			if err := w.view(p, &c); err != nil || w.refused {
				return err
			}
			p.Copies = append(p.Copies, c)
			continue
		}
		list := &p.Copies
		if local {
			list = &p.Local
		}
		*list = append(*list, c)
		w.rows(list, st, w.only(t, i))
	}
	return nil
}

// again plans the further copy that a table of p.Local needs where it is copied and is read by another reference, i of the text, as well.
func (w *worker) again(p *plan.Workspace, t *catalog.Table, i int, ref sqlparse.TableRef, st *sqlparse.Statement) {
	name := w.freeName(t.Database)
	rename, ok := renamed(st, ref, t, name)
	if w.copies++; !ok || w.copies > maxCopies {
		w.copies--
		p.LocalTwice = true
		return
	}
	if p.Own == nil {
		p.Own = &plan.Reading{}
	}
	p.Own.Renames = append(p.Own.Renames, plan.Rename{Ref: i, Text: rename})
	p.Again = append(p.Again, plan.Copy{Table: t, Name: name})
	w.rows(&p.Again, st, w.only(t, i))
}

// ownRenames puts p's renames among those of p.Own, which are further ones by then.
func ownRenames(p *plan.Workspace) {
	if p.Own != nil {
		p.Own.Renames = append(p.Own.Renames, p.Renames...)
		slices.SortFunc(p.Own.Renames, func(x, y plan.Rename) int { return x.Ref - y.Ref })
	}
}

// freeName is a name for a temporary table in a database.
func (w *worker) freeName(db string) (name string) {
	for free := false; !free; free = w.b.snap.Table(db, name) == nil {
		w.next++
		name = "skarv_" + strconv.Itoa(w.next)
	}
	return name
}

// only is the one place that reads the copy of t for the reference i of the text at hand, if there is one and it is known. Copies of a table
// that rows are deleted from under several names have the same rows.
func (w *worker) only(t *catalog.Table, i int) *instance {
	if w.instances == nil || w.views > 0 || w.twice && w.written[t] == nil ||
		slices.ContainsFunc(w.alias, func(ref int) bool { return w.instances[ref].table == t }) { // which are known
		return nil
	}
	return w.instances[i]
}

// readers copies the tables that stored functions read, as a whole and under their own names. st is the text that calls them, and
// tables are those that it names.
func (w *worker) readers(p *plan.Workspace, tables []*catalog.Table, st *sqlparse.Statement, db string) error {
	reads := w.b.called(st, db)
	for i, t := range reads {
		local := t.Kind == catalog.Reference || t.Kind == catalog.Single && t.Group == p.Group
		again := slices.Contains(reads[:i], t) || slices.Contains(tables, t) && (w.twice || local) && !w.apart(t) // other copies have other names
		if _, torn := w.lockCalled(t); torn {
			p.Torn = t
		}
		switch {
		case w.written[t] != nil || w.stage && w.into == t:
			return sqlerr.Unsupported("a function that reads the table '"+t.Name+"', which the statement writes to", "select its value first")
		case again && local:
			p.LocalTwice = p.LocalTwice || !w.reopens()
			continue
		case again && !w.reopens():
			return sqlerr.Unsupported("the table '"+t.Name+"', which a stored function reads, more than once in a statement over several node groups",
				"call the function once, in a SELECT of its own")
		case again:
			continue
		}
		if w.copies++; w.copies > maxCopies {
			return sqlerr.Unsupported("a statement whose functions read more than "+strconv.Itoa(maxCopies)+" tables", "select their values first")
		}
		list := &p.Copies
		if local {
			list = &p.Local
		}
		*list = append(*list, plan.Copy{Table: t})
		w.rows(list, st, nil)
		w.wanted[len(w.wanted)-1].called = true
	}
	return nil
}

// reopens reports whether the servers read a temporary table more than once in a statement.
func (w *worker) reopens() bool { return w.b.snap.Flavor == catalog.MariaDB }

// shareCopies decides whether the places of the statement that read a table read one copy.
func (w *worker) shareCopies() { w.twice = w.reopens() && !slices.ContainsFunc(w.b.reads, w.apart) }

// lockCalled reports whether functions read t as it is now, locked. torn: they also read it as it was.
func (w *worker) lockCalled(t *catalog.Table) (locked, torn bool) {
	if !w.writes && !w.b.sess.ForValue {
		return false, false
	}
	ways := w.b.waysOf(t)
	return ways&readByValue != 0, ways == readByValue|readByQuery
}

// apart reports whether functions read t, and in another way than the statement does.
func (w *worker) apart(t *catalog.Table) bool {
	if !slices.Contains(w.b.reads, t) {
		return false
	}
	locked, _ := w.lockCalled(t)
	return locked != (w.writes || w.locks[t] != "")
}

// view plans a view's rows.
func (w *worker) view(p *plan.Workspace, c *plan.Copy) error {
	if w.views++; w.views > 16 {
		w.refused = true
		return nil
	}
	defer func() { w.views-- }()
	if w.b.query == nil { // nobody has looked at it yet
		before := w.b.a // of a statement that writes
		a := w.b.analysis()
		err := a.view(&instance{}, c.Table)
		w.b.a = before
		if err != nil || a.inPlace || a.system || a.virtual {
			w.refused = true
			return err
		}
	}
	st := w.b.st.Dialect().NewStatement()
	if err := st.Scan([]byte(c.Table.ViewText), 0); err != nil {
		return err
	}
	refs, sure := st.Tables()
	if !sure {
		w.refused = true
		return nil
	}
	var tables []*catalog.Table
	for _, r := range refs {
		t, ok, err := w.b.copyable(r, c.Table.Database)
		if !ok || err != nil {
			w.refused = true
			return err
		}
		if r.DB == "" {
			w.refused = true
			return nil
		}
		tables = append(tables, t)
	}
	c.View = &plan.Workspace{Group: p.Group, Write: w.writes}
	if err := w.tables(c.View, tables, refs, st); err != nil || w.refused {
		return err
	}
	if err := w.readers(c.View, tables, st, c.Table.Database); err != nil {
		return err
	}
	p.Torn = cmp.Or(p.Torn, c.View.Torn)
	c.Text = renamedView(c.Table.ViewText, refs, c.View.Renames)
	if ownRenames(c.View); c.View.Own != nil {
		c.OwnText = renamedView(c.Table.ViewText, refs, c.View.Own.Renames)
	}
	return nil
}

// renamedView is the text of a view with other tables in the place of some.
func renamedView(text string, refs []sqlparse.TableRef, renames []plan.Rename) string {
	for _, r := range slices.Backward(renames) {
		span := refs[r.Ref].Span
		text = text[:span.Start] + r.Text + text[span.End:]
	}
	return text
}

// renamed is what stands for a table reference that reads another table. ok is false where none can.
func renamed(st *sqlparse.Statement, ref sqlparse.TableRef, t *catalog.Table, name string) (text string, ok bool) {
	alias, ok := aliasFor(st, ref)
	return sqltypes.QuoteIn(t.Database, name) + alias, ok
}

// aliasFor is the alias that what stands for a table reference needs: none if one follows, or where none can (TABLE t). ok is false where
// nothing else can stand for it.
func aliasFor(st *sqlparse.Statement, ref sqlparse.TableRef) (alias string, ok bool) {
	if wordBefore(st, ref.Start, "TABLE") {
		return "", true
	}
	alias = " AS " + sqltypes.QuoteName(ref.Name)
	toks := st.TokensFrom(ref.End)
	next := toks.Next()
	switch {
	case st.Is(next, "PARTITION"), st.Is(next, "TABLESAMPLE"):
		return "", false
	case st.Alias(ref) != "":
		return "", true
	}
	return alias, true
}

// parentheses are those in which a table reference and its alias stand alone, before and behind both. MySQL takes tables
// there, and no derived ones.
func parentheses(st *sqlparse.Statement, ref sqlparse.TableRef) (before, behind sqlparse.Span, ok bool) {
	var open []sqlparse.Token
	toks := st.Tokens()
	t := toks.Next()
	for ; t.Start < ref.Start; t = toks.Next() {
		if open = append(open, t); !st.Is(t, "(") {
			open = nil
		}
	}
	toks = st.TokensFrom(ref.End)
	if t = toks.Next(); st.Is(t, "AS") {
		toks.Next()
		t = toks.Next()
	} else if st.Alias(ref) != "" {
		t = toks.Next()
	}
	behind.Start = t.Start
	for ; len(open) > 0 && st.Is(t, ")"); t = toks.Next() {
		before = sqlparse.Span{Start: open[len(open)-1].Start, End: ref.Start}
		behind.End = t.End
		open = open[:len(open)-1]
		ok = true
	}
	return before, behind, ok
}

// wordBefore reports whether the token before a place in the text is that word.
func wordBefore(st *sqlparse.Statement, at int, word string) bool {
	var prev sqlparse.Token
	toks := st.Tokens()
	for t := toks.Next(); t.Kind != sqlparse.EOF && t.Start < at; t = toks.Next() {
		prev = t
	}
	return prev.Kind == sqlparse.Word && st.Is(prev, word)
}

// plainCalls reports that a statement without a tree calls no function but the servers' own that compute from their
// arguments.
func (b *build) plainCalls(st *sqlparse.Statement) bool {
	toks := st.Tokens()
	tables, _ := st.Tables()
	var before, prev sqlparse.Token
	for {
		t := toks.Next()
		if t.Kind == sqlparse.EOF {
			return true
		}
		written := func(r sqlparse.TableRef) bool { return r.Write && r.End == prev.End } // the columns of an INSERT follow
		if t.Kind == sqlparse.Op && st.Is(t, "(") && (prev.Kind == sqlparse.Word || prev.Kind == sqlparse.QuotedName) && !st.Is(before, "{") &&
			!slices.ContainsFunc(tables, written) {
			name := strings.ToLower(string(st.Text(prev.Span)))
			if function.OfUserLocks(name) || function.OfServer(name) || !function.Known(name) && b.snap.Routine(b.db, name, true) == nil {
				return false
			}
		}
		ahead := toks
		if t.Kind == sqlparse.Word && (st.Is(t, "MATCH") || st.Is(t, "PARTITION") && !st.Is(prev, "(") ||
			st.Is(t, "FOR") || st.Is(t, "NEXT") && st.Is(ahead.Next(), "VALUE")) { // not FETCH NEXT 3 ROWS
			return false
		}
		before, prev = prev, t
	}
}
