package exec

import (
	"cmp"
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/workspace"
)

// Foreign keys whose rows lie on different groups are enforced here: the servers, which see their own rows only, are told
// not to look (foreign_key_checks = 0) while a statement runs that changes what such keys speak of, and all keys of its tables
// are enforced by the statement itself, in the same transaction:
//
//	a row that refers         its parent is read with a shared lock, which is kept: it stays as long as the transaction may commit
//	a row that goes, or gets  it is locked first; then the rows that refer to it are read with their locks. One whose
//	another referenced value  transaction is not over is waited for, since it holds its parent or its own row
//
// So whichever of the two comes first, the other one waits and then sees what it has done.

// maxCascade is how deep cascades go, as on one server.
const maxCascade = 15

// relations are a table's foreign keys in both directions.
type relations struct {
	parents, children []catalog.Relation
	watched           []int // columns they, global indexes and the distribution key need
}

func (w *rowWriter) related(t *catalog.Table) *relations {
	if r := w.relations[t]; r != nil {
		return r
	}
	r := &relations{}
	r.parents, r.children, _ = w.snap.Relations(t)
	r.watched = catalog.WatchedColumns(t, r.parents, r.children)
	if w.relations == nil {
		w.relations = map[*catalog.Table]*relations{}
	}
	w.relations[t] = r
	return r
}

// tuple is the values of columns in a row; ok is false if one is NULL.
func tuple(m image, columns []int) (out [][]byte, ok bool) {
	for _, c := range columns {
		if m[c] == nil {
			return nil, false
		}
		out = append(out, m[c])
	}
	return out, true
}

// referring is a row that refers to others, as it has become.
type referring struct {
	table *catalog.Table
	image image
	// before is what the row was, nil for a new one: what it referred to then needs not be there.
	before image
	// moved: it lies on another group than before. Who deletes what it refers to looks for such rows on one group after the
	// other and could miss it on both, so that it keeps its parents locked even where it refers to the same as before.
	moved bool
	// cause is the key by which a cascade changed the row, or nil: that one's parent is the row that the cascade came from.
	cause *catalog.ForeignKey
}

// checkParents locks the rows that a row refers to, and fails if one is not there. done, if not nil, remembers what was found
// for the rows that follow.
func (w *rowWriter) checkParents(row referring, done map[string]bool) error {
	parents := w.related(row.table).parents
	for i := range parents {
		r := &parents[i]
		vals, ok := tuple(row.image, r.Key.Columns)
		if !ok || r.Key == row.cause {
			continue
		}
		same := false
		if row.before != nil {
			old, ok := tuple(row.before, r.Key.Columns)
			same = ok && equalLists(old, vals)
		}
		if same && !row.moved {
			continue
		}
		id := r.Key.Name + "\x00" + rowID(vals)
		if done[id] {
			continue
		}
		there, err := w.parentThere(r, vals)
		if err != nil {
			return err
		}
		if !there && !same {
			return sqlerr.NoReferencedRow.New(r.String())
		}
		if done != nil {
			done[id] = there
		}
	}
	return nil
}

func (w *rowWriter) parentThere(r *catalog.Relation, vals [][]byte) (bool, error) {
	if r.Parent == nil {
		return false, nil
	}
	columns := r.ParentColumns()
	groups, err := w.groupsOf(r.Parent, columns, r.Child, r.Key.Columns, vals)
	if err != nil {
		return false, err
	}
	sql := append(append([]byte("SELECT 1 FROM "), tableName(r.Parent)...), " WHERE "...)
	sql = append(appendTuple(sql, r.Parent, columns, r.Child, r.Key.Columns, vals), " LIMIT 1 LOCK IN SHARE MODE"...)
	looks := 1
	if len(groups) > 1 {
		looks = 2 // READ COMMITTED: the row may have moved, while it was looked for, to a group that had been asked before
	}
	for range looks {
		for _, g := range groups {
			res, err := w.query(g, sql)
			if err != nil || len(res.rows) > 0 {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// groupsOf are the groups that can have rows of t whose columns have the values vals of columns from of table ft.
func (w *rowWriter) groupsOf(t *catalog.Table, columns []int, ft *catalog.Table, from []int, vals [][]byte) ([]placement.NodeGroupID, error) {
	switch t.Kind {
	case catalog.Reference:
		return []placement.NodeGroupID{w.snap.Groups[0].ID}, nil
	case catalog.Single:
		return []placement.NodeGroupID{t.Group}, nil
	}
	key := make([]sqltypes.Value, 0, len(t.Distribution))
	for _, d := range t.Distribution {
		at := slices.Index(columns, d)
		if at < 0 {
			return ownersOf(w.snap, nil)
		}
		key = append(key, workspace.KeyValue(&ft.Columns[from[at]], vals[at]))
	}
	w.Router.vals = append(w.Router.vals[:0], key...)
	switch g := w.Router.place(t.Key, w.snap, placement.Compare); g {
	case everyGroup:
		return ownersOf(w.snap, nil)
	case noGroup:
		return nil, nil
	default:
		return []placement.NodeGroupID{g}, nil
	}
}

// appendTuple appends the condition that columns of t have the values vals of columns from of table ft.
func appendTuple(dst []byte, t *catalog.Table, columns []int, ft *catalog.Table, from []int, vals [][]byte) []byte {
	for i, c := range columns {
		if i > 0 {
			dst = append(dst, " AND "...)
		}
		dst = append(appendName(dst, t.Columns[c].Name), " = "...)
		dst = workspace.AppendKeyValue(dst, &ft.Columns[from[i]], vals[i])
	}
	return dst
}

// kids reads, with their locks, the rows that refer by r to a row with image m.
func (w *rowWriter) kids(r *catalog.Relation, m image) (out []found, err error) {
	columns := r.ParentColumns()
	vals, ok := tuple(m, columns)
	if !ok {
		return nil, nil
	}
	groups, err := w.groupsOf(r.Child, r.Key.Columns, r.Parent, columns, vals)
	if err != nil {
		return nil, err
	}
	if r.Child.Kind == catalog.Reference {
		groups = groups[:1]
	}
	condition := appendTuple(nil, r.Child, r.Key.Columns, r.Parent, columns, vals)
	for _, g := range groups {
		rows, err := w.readImages(r.Child, g, condition)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
		if len(out) > maxProgramRows {
			return nil, tooManyRows()
		}
	}
	return out, nil
}

func refusal(r *catalog.Relation) error {
	return sqlerr.RowIsReferenced.New(r.String())
}

// goneRow is a row that a cascade has deleted.
type goneRow struct {
	table *catalog.Table
	id    string
}

// rowID tells rows of one table apart by their keys, whatever bytes these have.
func rowID(key [][]byte) string {
	var id []byte
	for _, v := range key {
		id = append(binary.AppendUvarint(id, uint64(len(v))), v...)
	}
	return string(id)
}

// goodbye does what foreign keys say when rows of t are deleted, which are locked: before they are.
func (w *rowWriter) goodbye(t *catalog.Table, rows []found, depth int) error {
	children := w.related(t).children
	if len(children) == 0 {
		return nil
	}
	if depth > maxCascade {
		return sqlerr.CascadeTooDeep.New()
	}
	if w.going == nil {
		w.going, w.leaving = map[goneRow]bool{}, map[goneRow]bool{}
	}
	for _, row := range rows {
		id := goneRow{t, rowID(row.key)}
		if w.gone[id] || w.going[id] {
			continue // with a row before it
		}
		w.going[id] = true // rows before this one are gone when it goes, and so is it for those that go because of it
		defer delete(w.going, id)
		w.leaving[id] = true
		defer delete(w.leaving, id)
		for i := range children {
			r := &children[i]
			kids, err := w.kids(r, row.image)
			if err != nil {
				return err
			}
			kids = slices.DeleteFunc(kids, func(k found) bool {
				id := goneRow{r.Child, rowID(k.key)}
				return w.going[id] && !(w.leaving[id] && w.refersWhileItGoes(r))
			})
			if len(kids) == 0 {
				continue
			}
			switch r.Key.OnDelete {
			case "CASCADE":
				if _, err := w.deleteFound(r.Child, kids, depth+1); err != nil {
					return err
				}
			case "SET NULL":
				for _, k := range kids {
					if err := w.assign(r, k, nulls(r), depth+1); err != nil {
						return err
					}
				}
			default:
				return refusal(r)
			}
		}
		delete(w.leaving, id)
	}
	return nil
}

// refersWhileItGoes reports whether a row that is on its way out still refers by r to others, or to itself, so that these cannot go: servers take
// the entry of the key's index away last. The primary key of MariaDB's is the row, which is marked first.
func (w *rowWriter) refersWhileItGoes(r *catalog.Relation) bool {
	if catalog.Cascades(r.Key.OnDelete) {
		return false
	}
	primary := r.Child.Primary
	return w.snap.Flavor != catalog.MariaDB || len(primary) < len(r.Key.Columns) || !slices.Equal(primary[:len(r.Key.Columns)], r.Key.Columns)
}

// refersToItself reports whether a row refers to itself by r.
func (w *rowWriter) refersToItself(r *catalog.Relation, m image) bool {
	if r.Child != r.Parent {
		return false
	}
	from, ok := w.tupleText(r.Child, r.Key.Columns, m)
	to, also := w.tupleText(r.Parent, r.ParentColumns(), m)
	return ok && also && from == to
}

// tupleText is alike for equal values of columns in rows of t; ok is false if one is NULL.
func (w *rowWriter) tupleText(t *catalog.Table, columns []int, m image) (text string, ok bool) {
	vals, ok := tuple(m, columns)
	if !ok {
		return "", false
	}
	for i, c := range columns {
		if key, err := t.Columns[c].Key(w.snap.Flavor); err == nil {
			v, match := placement.Key{key}.Text(nil, []sqltypes.Value{workspace.KeyValue(&t.Columns[c], vals[i])}, placement.Stored)
			if match == placement.Exact {
				vals[i] = v
			}
		}
	}
	return rowID(vals), true
}

func nulls(r *catalog.Relation) image {
	m := image{}
	for _, c := range r.Key.Columns {
		m[c] = nil
	}
	return m
}

// renamed does what foreign keys say when a row of t has got other values. Servers change no table by a cascade of its own changes:
// there ON UPDATE CASCADE and SET NULL are RESTRICT.
func (w *rowWriter) renamed(t *catalog.Table, before, after image, depth int) error {
	if depth > maxCascade {
		return sqlerr.CascadeTooDeep.New()
	}
	w.renaming = append(w.renaming, t)
	defer func() { w.renaming = w.renaming[:len(w.renaming)-1] }()
	for i := range w.related(t).children {
		r := &w.related(t).children[i]
		columns := r.ParentColumns()
		old, ok := tuple(before, columns)
		if !ok {
			continue
		}
		now, ok := tuple(after, columns)
		if ok && equalLists(old, now) {
			continue
		}
		if w.refersToItself(r, before) {
			return refusal(r)
		}
		kids, err := w.kids(r, before)
		if err != nil {
			return err
		}
		if len(kids) > 0 && slices.Contains(w.renaming, r.Child) {
			return refusal(r)
		}
		for _, k := range kids {
			values := nulls(r)
			switch r.Key.OnUpdate {
			case "CASCADE":
				for n, c := range r.Key.Columns {
					values[c] = after[columns[n]]
					if !holds(&r.Child.Columns[c], values[c]) {
						return refusal(r)
					}
				}
			case "SET NULL":
			default:
				return refusal(r)
			}
			if err := w.assign(r, k, values, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// holds reports whether a column has room for a value of one that it refers to: a server cuts nothing off in a cascade, whatever sql_mode says,
// spaces neither.
func holds(c *catalog.Column, v []byte) bool {
	switch {
	case v == nil:
		return c.Nullable
	case c.DataType == "varbinary" || c.DataType == "binary":
		return len(v) <= int(c.Length)
	case c.DataType == "varchar" || c.DataType == "char":
		return utf8.RuneCount(v) <= int(c.Length)
	}
	return true
}

// assign gives a row that refers by r other values, wherever it then belongs, and does what follows from that.
func (w *rowWriter) assign(r *catalog.Relation, row found, values image, depth int) error {
	t := r.Child
	if t.Kind != catalog.Sharded {
		return sqlerr.Unsupported("a foreign key that changes rows of table '"+t.Name+"', which is not sharded", "use RESTRICT")
	}
	after := image{}
	for c, v := range row.image {
		after[c] = v
	}
	for c, v := range values {
		after[c] = v
	}
	to := row.group
	for _, d := range t.Distribution {
		if _, assigned := values[d]; assigned {
			vals := make([]sqltypes.Value, 0, len(t.Distribution))
			for _, c := range t.Distribution {
				vals = append(vals, workspace.KeyValue(&t.Columns[c], after[c]))
			}
			var err error
			if to, err = w.ownerOf(w.snap, t, vals, placement.Stored); err != nil {
				return err
			}
			break
		}
	}
	if to != row.group {
		if t.HasFulltext() { // see plan.ChangeRows.Renew
			return sqlerr.Unsupported("a foreign key that moves rows of table '"+t.Name+"', which has FULLTEXT keys, to another node group", "use RESTRICT")
		}
		if err := w.move(t, row.key, row.group, to); err != nil {
			return err
		}
	}
	sql := append(append([]byte("UPDATE "), tableName(t)...), " SET "...)
	columns := make([]int, 0, len(values))
	for c := range values {
		columns = append(columns, c)
	}
	slices.Sort(columns)
	for i, c := range columns {
		if i > 0 {
			sql = append(sql, ", "...)
		}
		sql = append(appendName(sql, t.Columns[c].Name), " = "...)
		sql = workspace.AppendKeyValue(sql, &t.Columns[c], values[c])
	}
	for c := range t.Columns { // servers' cascades set no ON UPDATE CURRENT_TIMESTAMP
		if _, assigned := values[c]; t.Columns[c].OnUpdate && !assigned {
			name := appendName(nil, t.Columns[c].Name)
			sql = append(append(append(append(sql, ", "...), name...), " = "...), name...)
		}
	}
	ok, err := w.exec(to, appendKey(append(sql, " WHERE "...), t, row.key))
	if err != nil {
		return err
	}
	if matched, _ := counts(ok); matched != 1 {
		return sqlerr.Internal.New("a row of table '" + t.Name + "' that was locked could not be changed")
	}
	if slices.ContainsFunc(t.Global, (*catalog.GlobalIndex).Computed) {
		now, err := w.readImages(t, to, appendKey(nil, t, row.key))
		if err != nil || len(now) != 1 {
			return cmp.Or(err, keyUnknown())
		}
		after = now[0].image
	}
	if err := w.changeEntries(t.Global, row.image, after); err != nil {
		return err
	}
	if err := w.checkParents(referring{t, after, row.image, to != row.group, r.Key}, nil); err != nil {
		return err
	}
	return w.renamed(t, row.image, after, depth)
}

// deleteFound deletes rows of t, which are locked, with all that follows from that.
func (w *rowWriter) deleteFound(t *catalog.Table, rows []found, depth int) (deleted uint64, err error) {
	if t.Kind != catalog.Sharded {
		return 0, sqlerr.Unsupported("a foreign key that deletes rows of table '"+t.Name+"', which is not sharded", "use RESTRICT")
	}
	if w.unchecked {
		if err := w.goodbye(t, rows, depth); err != nil {
			return 0, err
		}
		rows = slices.DeleteFunc(slices.Clone(rows), func(f found) bool { return w.gone[goneRow{t, rowID(f.key)}] })
		if depth > 0 {
			if w.gone == nil {
				w.gone = map[goneRow]bool{}
			}
			for _, f := range rows {
				w.gone[goneRow{t, rowID(f.key)}] = true
			}
		}
	}
	by := map[placement.NodeGroupID][]*found{}
	var groups []placement.NodeGroupID
	for i := range rows {
		by[rows[i].group] = append(by[rows[i].group], &rows[i])
		groups = addGroup(groups, 0, rows[i].group)
	}
	for _, g := range groups {
		for batch := range slices.Chunk(by[g], entryBatch) {
			sql := append(append([]byte("DELETE FROM "), tableName(t)...), " WHERE "...)
			for i, row := range batch {
				if i > 0 {
					sql = append(sql, " OR "...)
				}
				sql = append(appendKey(append(sql, '('), t, row.key), ')')
			}
			ok, err := w.exec(g, sql)
			if err != nil {
				return deleted, err
			}
			deleted += ok.AffectedRows
			if err := w.warn(g, ok, 0); err != nil {
				return deleted, err
			}
			if ok.AffectedRows != uint64(len(batch)) {
				return deleted, sqlerr.Internal.New("not all rows of table '" + t.Name + "' that were locked could be deleted")
			}
		}
	}
	return deleted, w.deleteEntries(t, rows)
}

// deleteEntries deletes the entries of rows that are gone.
func (w *rowWriter) deleteEntries(t *catalog.Table, rows []found) error {
	for _, x := range t.Global {
		var gone []*entry
		for i := range rows {
			e, ok, err := w.entryOf(x, rows[i].image)
			if err != nil {
				return err
			}
			if ok {
				gone = append(gone, &e)
			}
		}
		if err := w.removeEntries(x, gone); err != nil {
			return err
		}
	}
	return nil
}
