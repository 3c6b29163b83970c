package exec

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
	"skarv/pkg/workspace"
)

// entryBatch is how many entries one statement writes.
const entryBatch = 500

// rowKeys are the values of one row of an INSERT in all unique keys of the table.
type rowKeys struct {
	// units are, by key, the conditions that find a row with these values; nil for a key with NULL.
	units [][]byte
	// entries are those of the keys with an index; index is nil for a row without one.
	entries []entry
	// primary are the literals of the primary key; nil if one is NULL.
	primary [][]byte
}

// keysOf finds the values of a row in all unique keys; in.vals are its values.
func (r *Runner) keysOf(in *insertion, row int) (k rowKeys, err error) {
	t := in.table
	var dist [][]byte
	for i, v := range in.node.Key {
		el, err := in.keyValue(row, v, in.keyColumn(i))
		if err != nil {
			return k, err
		}
		dist = append(dist, in.stored(&el, in.keyColumn(i), &t.Key[i]))
	}
	for _, key := range in.node.Indexed.Keys {
		if key.Computed {
			if in.node.Indexed.Meets && in.args.Computed == nil {
				return k, in.valueUnknown(&key)
			}
			k.units, k.entries = append(k.units, nil), append(k.entries, entry{})
			continue
		}
		var unit [][]byte
		var condition []byte
		var vals []sqltypes.Value // by which an entry is placed
		null := false
		for i, v := range key.Values {
			col := &t.Columns[key.Columns[i]]
			el, err := in.keyValue(row, v, col)
			if err != nil {
				return k, err
			}
			if null = null || el.value.IsNull(); null {
				continue // of no use to find a row
			}
			if i > 0 {
				condition = append(condition, " AND "...)
			}
			if n := key.Length(i); n > 0 {
				literal, held := in.beginning(&el, col, &key.Types[i], n)
				if held.IsNull() && key.Index != nil {
					return k, in.valueUnknown(&key)
				}
				condition = append(append(append(condition, workspace.Beginning(col, n, "")...), " = "...), literal...)
				vals, unit = append(vals, held), append(unit, literal)
				continue
			}
			if key.Index != nil && !slices.Contains(key.Index.Entries.Distribution, i) {
				finds, literal, ok := in.exactly(&el, col, &key.Types[i])
				if !ok {
					return k, in.valueUnknown(&key)
				}
				condition, unit = append(condition, finds...), append(unit, literal)
				continue
			}
			el.value.Raw = slices.Clone(el.value.Raw)
			vals = append(vals, el.value)
			unit = append(unit, in.stored(&el, col, &key.Types[i]))
			condition = append(append(appendName(condition, col.Name), " = "...), unit[i]...)
		}
		if null {
			unit, condition = nil, nil
		}
		if k.units == nil {
			k.primary = unit
		}
		k.units = append(k.units, condition)
		e := entry{}
		if key.Index != nil && unit != nil {
			e = entry{index: key.Index, unit: unit, key: dist}
			if e.owner, err = r.ownerOf(in.snap, key.Index.Entries, vals, in.mode()); err != nil {
				return k, in.valueUnknown(&key)
			}
		}
		k.entries = append(k.entries, e)
	}
	return k, nil
}

// valueUnknown refuses a row's value in a key with a global index.
func (in *insertion) valueUnknown(key *plan.UniqueKey) error {
	return in.staged(sqlerr.Unsupported("a value for UNIQUE KEY '"+key.Name+"' of which it cannot be told what it will be stored as",
		"write the value just as the column's type prints it"))
}

// beginning is the literal of what a key over the first length characters of col holds of a row's value, as stored is of all of it, and that value;
// NULL if it is not known.
func (in *insertion) beginning(el *element, col *catalog.Column, kind *placement.KeyColumn, length int) (literal []byte, held sqltypes.Value) {
	raw, match := kind.AppendStored([]byte{}, el.value, in.mode())
	if match != placement.Exact {
		return append(in.appendLiteral([]byte("LEFT("), el), ", "+strconv.Itoa(length)+")"...), held
	}
	raw = catalog.Held(col, length, raw)
	return workspace.AppendKeyValue(nil, col, raw), workspace.KeyValue(col, raw)
}

// stored is the literal of a row's value that finds the row by the column of a key: what the server makes of the value when it stores it,
// where that is known. kind is the column's.
func (in *insertion) stored(el *element, col *catalog.Column, kind *placement.KeyColumn) []byte {
	if el.value.IsNull() {
		return []byte("NULL")
	}
	raw, match := kind.AppendStored([]byte{}, el.value, in.mode()) // nil would be NULL
	switch {
	case match == placement.Exact:
		return workspace.AppendKeyValue(nil, col, in.pad(raw, col))
	case col.DataType == "float":
		return append(in.appendLiteral([]byte("CAST("), el), " AS FLOAT)"...)
	}
	return in.appendLiteral(nil, el)
}

// pad is a value of col as servers show it.
func (in *insertion) pad(v []byte, col *catalog.Column) []byte {
	if !in.padded || col.DataType != "char" {
		return v
	}
	return append(slices.Clone(v), bytes.Repeat([]byte{' '}, max(0, int(col.Length)-utf8.RuneCount(v)))...)
}

// keyValue is what a row will have in a column: a literal, what the column's default is, or what a server makes of NULL; in.vals are the
// values of the row.
func (in *insertion) keyValue(row int, k plan.InsertValue, col *catalog.Column) (el element, err error) {
	if el, err = in.givenValue(row, k, col); err == nil && el.value.IsNull() && !col.Nullable {
		el.value, err = in.insteadOfNull(col, el.kind == literal)
	}
	return el, err
}

func (in *insertion) givenValue(row int, k plan.InsertValue, col *catalog.Column) (element, error) {
	switch {
	case k.Sequence && in.node.AutoIncrement < 0:
		return element{value: sqltypes.Value{Kind: sqltypes.Int, Raw: in.digits(in.added[row])}}, nil
	case k.Column >= 0:
		el := in.at(k.Column)
		if el.bytesUnknown(col) {
			return element{}, in.bytesUnknown(col)
		}
		if el.kind == literal && !el.evaluated && in.args.emptyIsNull(el.value) {
			if in.args.params != nil && !in.args.Binary { // of EXECUTE it is none, unlike one that the text says
				return element{}, sqlerr.Unsupported("an empty string for column '"+col.Name+"', part of a key, in EXECUTE in the mode EMPTY_STRING_IS_NULL", "SET sql_mode without it")
			}
			return element{kind: literal}, nil
		}
		if el.kind == literal {
			return *el, nil
		}
		if k.NoDefault {
			return element{}, in.staged(sqlerr.Unsupported("DEFAULT for column '"+col.Name+"', part of a key, whose default is an expression", "write the value"))
		}
	}
	return element{kind: defaultValue, value: k.Const}, nil
}

// appendNeeded appends the positions of values that the keys are made of.
func appendNeeded(needed []int, n *plan.Indexed) []int {
	for _, key := range n.Keys {
		for _, v := range key.Values {
			if v.Column >= 0 {
				needed = append(needed, v.Column)
			}
		}
	}
	return needed
}

// runIndexed writes rows of a table with global indexes, whose owners are known. All rows at once, then their entries;
// what is to be done about duplicates is done row by row.
func (r *Runner) runIndexed(p *plan.Plan, in *insertion, sink Sink) (sum Summary, err error) {
	groups := slices.Clone(r.groups)
	n := in.node.Indexed
	rowByRow := in.node.Update || in.node.Ignore || p.Kind == plan.Replace
	refers := false
	if n.Own && !rowByRow {
		parents, _, _ := in.snap.Relations(in.table)
		refers = slices.ContainsFunc(parents, func(rel catalog.Relation) bool { return in.snap.Apart(&rel) })
	}
	if rowByRow || refers { // where duplicates lie, and the rows referred to, is not known yet
		r.Router.Touched.All = true
	}
	keys := in.keys
	if err := r.Conns.Enter(&r.Router.Touched, true); err != nil {
		return sum, err
	}
	var info []byte
	var held Held
	w, err := r.program(p, in.snap, in.args, n.Own, func(w *rowWriter) error {
		if rowByRow {
			return w.insertRowByRow(p, in, keys, &held)
		}
		for _, g := range groups {
			ok, err := w.execOpen(g, in.text, &held)
			if duplicateEntry(err) != nil {
				err = w.duplicateOn(in, keys, g, err)
			}
			if err != nil {
				return in.renumber(err, g)
			}
			r.results = append(r.results, resultOf(&ok))
			w.affected += ok.AffectedRows
			info = addInfo(info, ok.Info)
			if err := w.warn(g, ok, 0); err != nil {
				return err
			}
		}
		if err := w.computed(in, keys); err != nil {
			return err
		}
		if err := w.insertEntries(n, keys); err != nil || !n.Own {
			return err
		}
		return w.checkInserted(in, keys)
	})
	if err != nil {
		return Summary{}, err
	}
	sum = Summary{AffectedRows: w.affected, Warnings: clampWarnings(w.warnings), Info: info, Groups: len(groups)}
	sum.Rows, sum.HasRows = held.Rows()
	r.finishInsert(p, in, &sum)
	if sum.HasRows && rowByRow {
		return sum, held.Pass(sink, nil)
	}
	if sum.HasRows {
		r.groups, r.owners = append(r.groups[:0], groups...), in.owners
		err = held.Pass(sink, r.order(len(held.rows)))
		r.owners = nil
	}
	return sum, err
}

// insertEntries writes the entries of all rows: index by index, group by group in ascending order.
func (w *rowWriter) insertEntries(n *plan.Indexed, keys []rowKeys) error {
	for i, key := range n.Keys {
		if key.Index == nil {
			continue
		}
		var fresh []*entry
		for row := range keys {
			if e := &keys[row].entries[i]; e.index != nil {
				fresh = append(fresh, e)
			}
		}
		if err := w.addEntries(key.Index, fresh); err != nil {
			return err
		}
	}
	return nil
}

// computed reads of the rows, which have been inserted, the entries of the keys that servers compute.
func (w *rowWriter) computed(in *insertion, keys []rowKeys) error {
	if !in.computes() {
		return nil
	}
	return w.inserted(in, keys, func(rows []int, found []found) error {
		for n := range found { // the entries of all are written, whichever is whose
			if err := keys[rows[n]].compute(w, in, found[n].image); err != nil {
				return err
			}
		}
		return nil
	})
}

// computes reports whether servers compute values of keys with global indexes.
func (in *insertion) computes() bool {
	return slices.ContainsFunc(in.node.Indexed.Keys, func(k plan.UniqueKey) bool { return k.Computed })
}

// ComputedColumns are the columns of which the entries of keys are made that servers compute; nil if t has no such key.
func ComputedColumns(t *catalog.Table) (columns []int) {
	for _, x := range t.Global {
		if x.Computed() {
			columns = append(columns, x.Columns...)
		}
	}
	if columns == nil {
		return nil
	}
	columns = append(columns, t.Distribution...)
	slices.Sort(columns)
	return slices.Compact(columns)
}

// foretold fills in what rows of a stage have in keys that servers compute.
func (w *rowWriter) foretold(in *insertion, keys []rowKeys) error {
	columns := ComputedColumns(in.table)
	for row, values := range in.args.Computed {
		m := image{}
		for i, c := range columns {
			m[c] = values[i]
		}
		if err := keys[row].compute(w, in, m); err != nil {
			return err
		}
	}
	return nil
}

// compute fills in the keys that servers compute, by what a row has.
func (k *rowKeys) compute(w *rowWriter, in *insertion, m image) error {
	for i := range in.node.Indexed.Keys {
		key := &in.node.Indexed.Keys[i]
		if !key.Computed {
			continue
		}
		e, ok, err := w.entryOf(key.Index, m)
		if err != nil {
			return err
		}
		if k.entries[i], k.units[i] = (entry{}), nil; ok {
			k.entries[i], k.units[i] = e, in.holds(key.Index, m)
		}
	}
	return nil
}

// holds is the condition that a row has in key x what m has, nil where no literal says it.
func (in *insertion) holds(x *catalog.GlobalIndex, m image) (condition []byte) {
	if !x.PlacedByAll() {
		return nil
	}
	for i, c := range x.Columns {
		col, v := x.Table.At(c), x.Held(i, m[c])
		if x.Length(i) == 0 {
			v = in.pad(v, col)
		}
		if i > 0 {
			condition = append(condition, " AND "...)
		}
		condition = append(append(condition, workspace.Beginning(col, x.Length(i), "")...), " = "...)
		condition = workspace.AppendKeyValue(condition, col, v)
	}
	return condition
}

// checkInserted looks for the parents of rows that have been inserted, by what the servers have stored.
func (w *rowWriter) checkInserted(in *insertion, keys []rowKeys) error {
	if len(w.related(in.table).parents) == 0 {
		return nil
	}
	done := map[string]bool{}
	return w.inserted(in, keys, func(_ []int, found []found) error {
		for i := range found {
			if err := w.checkParents(referring{table: in.table, image: found[i].image}, done); err != nil {
				return err
			}
		}
		return nil
	})
}

// inserted reads the rows, which have been inserted, as the servers have stored them, some of a group at a time.
func (w *rowWriter) inserted(in *insertion, keys []rowKeys, f func(rows []int, found []found) error) error {
	by := map[placement.NodeGroupID][]int{}
	var groups []placement.NodeGroupID
	for row := range keys {
		by[in.owners[row]] = append(by[in.owners[row]], row)
		groups = addGroup(groups, 0, in.owners[row])
	}
	for _, g := range groups {
		for batch := range slices.Chunk(by[g], entryBatch) {
			var condition []byte
			for i, row := range batch {
				if i > 0 {
					condition = append(condition, " OR "...)
				}
				condition = append(in.appendUnit(append(condition, '('), 0, &keys[row]), ')')
			}
			found, err := w.readImages(in.table, g, condition)
			if err != nil {
				return err
			}
			if len(found) != len(batch) {
				return keyUnknown()
			}
			if err := f(batch, found); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyUnknown refuses a row that its primary key does not find.
func keyUnknown() error {
	return sqlerr.Unsupported("a value of the primary key of which it cannot be told what it will be stored as", "write the value just as the column's type prints it")
}

// appendUnit appends the condition that a key of the table has the row's values.
func (in *insertion) appendUnit(dst []byte, key int, k *rowKeys) []byte {
	return append(dst, k.units[key]...)
}

// insertRowByRow is INSERT IGNORE, REPLACE and ON DUPLICATE KEY UPDATE: what becomes of a row depends on whether it has a
// duplicate, which may lie on any group. What RETURNING asks for is for held.
func (w *rowWriter) insertRowByRow(p *plan.Plan, in *insertion, keys []rowKeys, held *Held) (err error) {
	in.looked = true
	if err := w.foretold(in, keys); err != nil {
		return err
	}
	for row := range keys {
		o := &insertingOne{held: held, rowWriter: w, in: in, row: row, keys: &keys[row], home: in.owners[row]}
		var res result
		switch {
		case p.Kind == plan.Replace:
			res, err = o.replace()
		case in.node.Update:
			res, err = o.update(p)
		default:
			res, err = o.ignore()
		}
		if err != nil {
			return numbered(err, row)
		}
		w.results = append(w.results, res)
		w.affected += res.affected
		if res.insertID != 0 && !(o.came && in.node.Update) {
			in.called = res.insertID
		}
		if o.came && in.came == 0 && in.ids.first != 0 {
			in.came = in.numbers[row]
		}
	}
	if in.node.Indexed.Returned != nil && held.columns == nil {
		return w.returned(in, in.owners[0], []byte("FALSE"), held)
	}
	return nil
}

// returned reads what RETURNING asks for of rows of g.
func (w *rowWriter) returned(in *insertion, g placement.NodeGroupID, condition []byte, held *Held) error {
	_, err := w.execOpen(g, func(dst []byte, _ placement.NodeGroupID) []byte {
		dst = append(in.args.AppendText(dst, in.node.Indexed.Returned), " WHERE "...)
		return append(append(dst, condition...), " FOR UPDATE"...) // as they are now, not in the transaction's snapshot
	}, held)
	return err
}

// insertingOne is the work on one row.
type insertingOne struct {
	*rowWriter
	in   *insertion
	row  int
	keys *rowKeys
	home placement.NodeGroupID
	held *Held
	// at the savepoint: how many warnings there were, and how many of them are kept
	warningsBefore uint
	warnedBefore   int
	came           bool // the row is in the table
}

const (
	rowSavepoint   = "SAVEPOINT `_skarv_row`"
	rowRollback    = "ROLLBACK TO SAVEPOINT `_skarv_row`"
	maxRowAttempts = 5
)

// oneRow is the most rows that an INSERT without REPLACE affects.
const oneRow = 1

// conflict is a row's duplicate.
type conflict struct {
	err *sqlerr.Error // nil for one that was not seen before it was replaced
	key int           // in Indexed.Keys, or -1 if it is not known
	at  placement.NodeGroupID
}

// insert tries to insert the row and its entries by text. What was done is undone if there is a duplicate, which is told, or if
// more rows than most were affected: then the server has replaced one that was not read.
func (o *insertingOne) insert(before plan.Text, most uint64) (res result, c *conflict, err error) {
	if _, err := o.exec(o.home, []byte(rowSavepoint)); err != nil {
		return res, nil, err
	}
	o.warningsBefore, o.warnedBefore = o.warnings, len(o.Warned)
	ok, err := o.execOne(o.home, before, false)
	if e := duplicateEntry(err); e != nil {
		return res, &conflict{e, o.keyNamed(e), o.home}, nil
	}
	if o.in.checked() && sqlerr.HasCode(err, sqlerr.ConstraintFailed) {
		return res, nil, o.leaveOut()
	}
	if err != nil {
		return res, nil, err
	}
	if ok.AffectedRows > most {
		return res, &conflict{nil, -1, o.home}, o.undo(0)
	}
	if err := o.warn(o.home, ok, o.row); err != nil {
		return res, nil, err
	}
	res = resultOf(&ok)
	if ok.AffectedRows == 0 {
		return res, nil, nil // IGNORE has ignored it
	}
	if o.in.computes() {
		now, err := o.stored()
		if err == nil {
			err = o.keys.compute(o.rowWriter, o.in, now.image)
		}
		if err != nil {
			return res, nil, err
		}
	}
	for i := range o.keys.entries {
		e := &o.keys.entries[i]
		if e.index == nil {
			continue
		}
		err := o.insertEntry(e)
		d := duplicateEntry(err)
		if d == nil {
			if err != nil {
				return res, nil, err
			}
			continue
		}
		return result{}, &conflict{d, i, 0}, o.undo(i)
	}
	if !o.in.node.Indexed.Own || len(o.related(o.in.table).parents) == 0 {
		o.came = true
		return res, nil, o.tell(o.home, o.in.appendUnit(nil, 0, o.keys))
	}
	now, err := o.stored()
	if err != nil {
		return res, nil, err
	}
	err = o.checkParents(referring{table: o.in.table, image: now.image}, nil)
	if e, ok := errors.AsType[*sqlerr.Error](err); ok && e.Code == sqlerr.NoReferencedRow && o.in.node.Ignore {
		return result{}, &conflict{e, -1, 0}, o.undo(len(o.keys.entries))
	}
	if o.came = err == nil; o.came {
		err = o.tell(o.home, o.in.appendUnit(nil, 0, o.keys))
	}
	return res, nil, err
}

// stored is the row, which is there, as its server has stored it.
func (o *insertingOne) stored() (found, error) {
	now, err := o.read(o.home, o.in.appendUnit(nil, 0, o.keys))
	if err != nil || len(now) != 1 {
		return found{}, cmp.Or(err, keyUnknown())
	}
	return now[0], nil
}

// tell reads what RETURNING asks for of the row, which is on g.
func (o *insertingOne) tell(g placement.NodeGroupID, condition []byte) error {
	if o.in.node.Indexed.Returned == nil {
		return nil
	}
	before := len(o.held.rows)
	if err := o.returned(o.in, g, condition, o.held); err != nil || len(o.held.rows) == before+1 {
		return err
	}
	return keyUnknown()
}

// execOne runs the statement with this row only on g.
func (o *insertingOne) execOne(g placement.NodeGroupID, before plan.Text, after bool) (wire.OK, error) {
	return o.execOpen(g, func(dst []byte, _ placement.NodeGroupID) []byte { return o.in.appendOne(dst, before, o.row, after) }, nil)
}

// leaveOut tells what the server has said of the row, which a constraint refuses: of one of several it is no error.
func (o *insertingOne) leaveOut() error {
	err := o.warn(o.home, wire.OK{Warnings: 1}, o.row)
	said := o.Warned[o.warnedBefore:]
	for i := range said {
		if said[i].Level == diagnostics.Error {
			said[i].Level = diagnostics.Warning
		}
	}
	o.warnings = o.warningsBefore + uint(max(len(said), 1))
	return err
}

// again is called before the row is tried once more: what servers have warned of since the savepoint they will say again.
func (o *insertingOne) again() {
	o.warnings, o.Warned = o.warningsBefore, o.Warned[:o.warnedBefore]
}

// undo takes the row back, of whose entries the first n were written.
func (o *insertingOne) undo(n int) error {
	for i := range o.keys.entries[:n] {
		if e := &o.keys.entries[i]; e.index != nil && e.owner != o.home {
			if err := o.deleteEntry(e); err != nil {
				return err
			}
		}
	}
	_, err := o.exec(o.home, []byte(rowRollback))
	return err
}

func duplicateEntry(err error) *sqlerr.Error {
	if e, ok := errors.AsType[*sqlerr.Error](err); ok && e.Code == sqlerr.DuplicateEntry {
		return e
	}
	return nil
}

// keyNamed is the key that a server's refusal names at its end, behind a value that may look like one; -1 if none has that name in the client's
// character set.
func (o *insertingOne) keyNamed(e *sqlerr.Error) int {
	prefix := ""
	if o.snap.Flavor == catalog.MySQL {
		prefix = o.in.table.Name + "."
	}
	key, size := -1, 0
	for i := range o.in.node.Indexed.Keys {
		end := " for key '" + prefix + o.in.node.Indexed.Keys[i].Name + "'"
		if len(end) > size && strings.HasSuffix(e.Message, end) {
			key, size = i, len(end)
		}
	}
	return key
}

// ignore is INSERT IGNORE of the row.
func (o *insertingOne) ignore() (result, error) {
	res, c, err := o.insert(o.in.node.Before, oneRow)
	if err != nil {
		return res, err
	}
	if c == nil && res.affected > 0 {
		return res, nil
	}
	if barred, err := o.barred(); err != nil || barred {
		return result{}, cmp.Or(err, rowRestless())
	}
	if c == nil {
		return res, nil
	}
	o.warnings++
	if len(o.Warned) < maxWarned {
		o.Warned = append(o.Warned, diagnostics.Of(diagnostics.Warning, c.err))
	}
	return result{}, nil
}

// duplicateOn is what to say when the server of g has found a duplicate among its rows of the INSERT, and has said so by err.
func (w *rowWriter) duplicateOn(in *insertion, keys []rowKeys, g placement.NodeGroupID, err error) error {
	for row := range keys {
		if in.owners[row] != g {
			continue
		}
		o := &insertingOne{rowWriter: w, in: in, row: row, keys: &keys[row], home: g}
		if barred, berr := o.barred(); berr != nil || barred {
			return cmp.Or(berr, rowRestless())
		}
	}
	return err
}

// barred reports that the row has no duplicate in the table, and is kept from its group by a row of a partition that the group does not
// own: partitions move, and it is a copy, or what was left behind. The statement can be tried again until that is deleted.
func (o *insertingOne) barred() (bool, error) {
	hidden := o.hidden
	if hidden == nil || hidden.Map.Foreign(o.home) == nil {
		return false, nil
	}
	barred := false
	for key, unit := range o.keys.units {
		if unit == nil {
			barred = barred || o.in.node.Indexed.Keys[key].Computed && o.keys.entries[key].index == nil // perhaps
			continue
		}
		global := o.keys.entries[key].index != nil
		if global {
			if g, _, err := o.follow(&o.keys.entries[key]); err != nil || g != 0 {
				return false, err
			}
		}
		condition := o.in.appendUnit(nil, key, o.keys)
		if own, err := o.read(o.home, condition); err != nil || len(own) > 0 {
			return false, err
		}
		if !global {
			continue // it contains the distribution key: rows of other partitions are not equal
		}
		o.hidden = nil
		rows, err := o.read(o.home, condition)
		o.hidden = hidden
		if err != nil {
			return false, err
		}
		barred = barred || len(rows) > 0
	}
	return barred, nil
}

// found is a row of the table.
type found struct {
	group placement.NodeGroupID
	key   [][]byte
	image image
}

// duplicates reads, with their locks, the rows that are equal to the row in a key.
func (o *insertingOne) duplicates(key int) (out []found, err error) {
	if o.keys.units[key] == nil {
		return nil, nil
	}
	g, condition := o.home, o.in.appendUnit(nil, key, o.keys)
	if e := &o.keys.entries[key]; e.index != nil {
		var at []byte
		if g, at, err = o.follow(e); err != nil || g == 0 {
			return nil, err
		}
		if e.index.Lengths != nil { // servers use no index to find a value's beginning, or by such an expression
			condition = append(append(condition, " AND "...), at...)
		}
	}
	return o.read(g, condition)
}

func (w *rowWriter) readImages(t *catalog.Table, g placement.NodeGroupID, condition []byte) (out []found, err error) {
	sql, images := selectImages(t, w.related(t).watched, condition)
	res, err := w.query(g, sql)
	if err != nil {
		return nil, err
	}
	for _, fields := range res.rows {
		out = append(out, found{g, fields[:len(t.Primary)], imageOf(images, fields)})
	}
	return out, nil
}

func (o *insertingOne) read(g placement.NodeGroupID, condition []byte) ([]found, error) {
	return o.readImages(o.in.table, g, condition)
}

// follow is the group of the row that the entry with e's value is for, 0 if there is none, and the condition that it has its distribution key.
func (w *rowWriter) follow(e *entry) (g placement.NodeGroupID, at []byte, err error) {
	x := e.index
	sql := []byte("SELECT ")
	for i := range x.Table.Distribution {
		if i > 0 {
			sql = append(sql, ", "...)
		}
		sql = append(sql, workspace.ReadKey(&x.Entries.Columns[len(x.Columns)+i])...)
	}
	sql = append(append(append(sql, " FROM "...), tableName(x.Entries)...), " WHERE "...)
	res, err := w.query(e.owner, append(e.appendCondition(sql, false), " FOR UPDATE"...))
	if err != nil || len(res.rows) == 0 {
		return 0, nil, err
	}
	var vals []sqltypes.Value
	for i, d := range x.Table.Distribution {
		vals = append(vals, workspace.KeyValue(&x.Table.Columns[d], res.rows[0][i]))
	}
	g, err = w.ownerOf(w.snap, x.Table, vals, placement.Stored)
	return g, appendTuple(nil, x.Table, x.Table.Distribution, x.Table, x.Table.Distribution, res.rows[0]), err
}

// rowRestless is the error of a row whose duplicates come and go as often as they are looked for. The statement can be undone
// and tried again.
func rowRestless() error { return sqlerr.LockWaitTimeout.New() }

// firstDuplicates are the duplicates in the first key that has any, and that key. named is the one in which a server or an index has found
// one, or -1 if that is not known: a server looks at its own rows before entries of other keys are looked at.
func (o *insertingOne) firstDuplicates(named int) (rows []found, key int, err error) {
	for key := range o.in.node.Indexed.Keys {
		if named >= 0 && key != named && o.keys.entries[key].index == nil {
			continue // the server would have named it
		}
		if rows, err = o.duplicates(key); err != nil || len(rows) > 0 || key == named {
			return rows, key, err
		}
	}
	return nil, 0, nil
}

// mayReplace refuses on MySQL what its versions do differently: whether a row that others refer to is deleted or changed.
func (o *insertingOne) mayReplace(was found) error {
	if o.snap.Flavor != catalog.MySQL {
		return nil
	}
	children := o.related(o.in.table).children
	for i := range children {
		kids, err := o.kids(&children[i], was.image)
		if err != nil {
			return err
		}
		if len(kids) > 0 {
			return sqlerr.Unsupported("REPLACE of a row of table '"+o.in.table.Name+"' that rows of other node groups refer to",
				"use INSERT ... ON DUPLICATE KEY UPDATE, or DELETE and INSERT")
		}
	}
	return nil
}

// replace is REPLACE of the row: the rows it is equal to in any key are deleted. The server of its own group does that
// itself, and tells whether anything has changed; how many it may delete is known, since they are locked.
func (o *insertingOne) replace() (result, error) {
	t := o.in.table
	deleted := uint64(0)
	for range maxRowAttempts {
		res, c, err := o.insert(o.in.node.Indexed.Insert, oneRow)
		if err != nil || c == nil {
			return res, err
		}
		o.again()
		here := map[string]bool{} // rows found, and whether they lie on this group
		for key := range o.in.node.Indexed.Keys {
			rows, err := o.duplicates(key)
			if err != nil {
				return res, err
			}
			for _, was := range rows {
				id := rowID(was.key)
				if _, again := here[id]; again {
					continue // in another key
				}
				here[id] = was.group == o.home
				if err := o.leaves(was); err != nil {
					return res, err
				}
				if was.group == o.home {
					continue
				}
				sql := append(append([]byte("DELETE FROM "), tableName(t)...), " WHERE "...)
				ok, err := o.exec(was.group, appendKey(sql, t, was.key))
				if err != nil {
					return res, err
				}
				deleted += ok.AffectedRows
			}
		}
		most := uint64(oneRow)
		for id, own := range here {
			if own && !o.gone[goneRow{t, id}] {
				most++
			}
		}
		res, c, err = o.insert(o.in.node.Before, most)
		if err != nil {
			return res, err
		}
		if c == nil {
			res.affected += deleted
			return res, nil
		}
		o.again()
	}
	return result{}, rowRestless()
}

// leaves does what follows from the deletion of a row that is replaced.
func (o *insertingOne) leaves(was found) error {
	if o.in.node.Indexed.Own {
		if err := o.mayReplace(was); err != nil {
			return err
		}
		if err := o.goodbye(o.in.table, []found{was}, 0); err != nil {
			return err
		}
	}
	return o.changeEntries(o.in.table.Global, was.image, nil)
}

// appendOne appends the statement with one row only.
func (in *insertion) appendOne(dst []byte, before plan.Text, row int, after bool) []byte {
	dst = in.args.AppendText(dst, before)
	edits := in.edits
	for len(edits) > 0 && edits[0].row < row {
		edits = edits[1:]
	}
	own := 0
	for own < len(edits) && edits[own].row == row {
		own++
	}
	dst = in.appendRow(dst, row, edits[:own])
	if after {
		dst = in.args.AppendText(dst, in.node.After)
	}
	return dst
}
