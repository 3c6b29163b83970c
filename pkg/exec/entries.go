package exec

import (
	"bytes"
	"slices"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/workspace"
)

// An entry of a global index is written with the row it is for, after it: whoever wants to insert an equal value waits for
// the entry, and for the end of the transaction that wrote it, as on one server. Statements lock rows before entries.

// image is a row's values in the columns that indexes need, by the position in the table, as workspace.ReadKey selects them.
type image map[int][]byte

// imageOf takes an image from a result.
func imageOf(images []plan.RowImage, fields [][]byte) image {
	m := make(image, len(images))
	for _, i := range images {
		m[i.Column] = fields[i.At]
	}
	return m
}

// entry is an index's entry for a row: literals of the value and of the distribution key.
type entry struct {
	index *catalog.GlobalIndex
	owner placement.NodeGroupID
	unit  [][]byte // literals, one for each column of the key; nil for a row with NULL in it, which has no entry
	key   [][]byte
}

// entryOf is the entry for a row with image m; ok is false for a row without one.
func (w *rowWriter) entryOf(x *catalog.GlobalIndex, m image) (e entry, ok bool, err error) {
	t := x.Table
	e.index = x
	for i, c := range x.Columns {
		if m[c] == nil {
			return e, false, nil
		}
		e.unit = append(e.unit, workspace.AppendKeyValue(nil, &x.Entries.Columns[i], x.Held(i, m[c])))
	}
	for i, c := range t.Distribution {
		e.key = append(e.key, workspace.AppendKeyValue(nil, &x.Entries.Columns[len(x.Columns)+i], m[c]))
	}
	vals := make([]sqltypes.Value, 0, len(x.Entries.Distribution))
	for _, i := range x.Entries.Distribution {
		vals = append(vals, workspace.KeyValue(&x.Entries.Columns[i], x.Held(i, m[x.Columns[i]])))
	}
	e.owner, err = w.ownerOf(w.snap, x.Entries, vals, placement.Stored)
	return e, true, err
}

// ownerOf is the group of a row of t with these values of the distribution key.
func (r *Runner) ownerOf(snap *catalog.Snapshot, t *catalog.Table, vals []sqltypes.Value, mode placement.Mode) (placement.NodeGroupID, error) {
	r.Router.vals = append(r.Router.vals[:0], vals...)
	switch g := r.Router.place(t.Key, snap, mode); g {
	case everyGroup, noGroup:
		return 0, sqlerr.Unsupported("a value of a unique key of which it cannot be told what it will be stored as", "write the value just as the column's type prints it")
	default:
		return g, nil
	}
}

// same reports whether two entries are one.
func (e *entry) same(o *entry) bool {
	return equalLists(e.unit, o.unit) && equalLists(e.key, o.key)
}

func equalLists(a, b [][]byte) bool {
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// changeEntries brings the entries of a row from what they were to what they are. Nil is a row that was or is not there.
func (w *rowWriter) changeEntries(indexes []*catalog.GlobalIndex, before, after image) error {
	for _, x := range indexes {
		gone, fresh, err := w.entryChange(x, before, after)
		if err != nil {
			return err
		}
		if gone != nil {
			if err := w.deleteEntry(gone); err != nil {
				return err
			}
		}
		if fresh != nil {
			if err := w.insertEntry(fresh); err != nil {
				return err
			}
		}
	}
	return nil
}

// entryChange is the entry of x that a row does not have any more, and the one that it has got; nil: there is none.
func (w *rowWriter) entryChange(x *catalog.GlobalIndex, before, after image) (gone, fresh *entry, err error) {
	if gone, err = w.entryIf(x, before); err != nil {
		return nil, nil, err
	}
	if fresh, err = w.entryIf(x, after); err != nil {
		return nil, nil, err
	}
	if gone != nil && fresh != nil && gone.same(fresh) {
		return nil, nil, nil
	}
	return gone, fresh, nil
}

// entryIf is the entry of x for a row; nil if there is none, or no row.
func (w *rowWriter) entryIf(x *catalog.GlobalIndex, m image) (*entry, error) {
	if m == nil {
		return nil, nil
	}
	if e, ok, err := w.entryOf(x, m); ok || err != nil {
		return &e, err
	}
	return nil, nil
}

func (w *rowWriter) insertEntry(e *entry) error {
	_, err := w.exec(e.owner, appendEntries(nil, e.index, []*entry{e}))
	return w.duplicate(err, e.index, e.owner)
}

// duplicate makes the refusal of an entry on g that of the key it is for.
func (w *rowWriter) duplicate(err error, x *catalog.GlobalIndex, g placement.NodeGroupID) error {
	e, ok := err.(*sqlerr.Error)
	if !ok {
		return err
	}
	return x.Duplicate(e, w.snap.Flavor, func(seconds string) string {
		res, err := w.query(g, []byte("SELECT CAST(FROM_UNIXTIME("+seconds+") AS CHAR)"))
		if err != nil || len(res.rows) != 1 || res.rows[0][0] == nil {
			return seconds
		}
		return string(res.rows[0][0])
	})
}

// addEntries inserts entries of an index, group by group in ascending order.
func (w *rowWriter) addEntries(x *catalog.GlobalIndex, entries []*entry) error {
	return eachBatch(entries, func(g placement.NodeGroupID, batch []*entry) error {
		_, err := w.exec(g, appendEntries(nil, x, batch))
		return w.duplicate(err, x, g)
	})
}

// removeEntries deletes entries of an index, group by group in ascending order.
func (w *rowWriter) removeEntries(x *catalog.GlobalIndex, entries []*entry) error {
	return eachBatch(entries, func(g placement.NodeGroupID, batch []*entry) error {
		sql := append(append([]byte("DELETE FROM "), tableName(x.Entries)...), " WHERE "...)
		for i, e := range batch {
			if i > 0 {
				sql = append(sql, " OR "...)
			}
			sql = append(e.appendCondition(append(sql, '('), true), ')')
		}
		_, err := w.exec(g, sql)
		return err
	})
}

// eachBatch calls f with the entries of each group, not too many at once.
func eachBatch(entries []*entry, f func(g placement.NodeGroupID, batch []*entry) error) error {
	by := map[placement.NodeGroupID][]*entry{}
	var groups []placement.NodeGroupID
	for _, e := range entries {
		by[e.owner] = append(by[e.owner], e)
		groups = addGroup(groups, 0, e.owner)
	}
	for _, g := range groups {
		for batch := range slices.Chunk(by[g], entryBatch) {
			if err := f(g, batch); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendEntries appends the INSERT of entries of one index.
func appendEntries(dst []byte, x *catalog.GlobalIndex, entries []*entry) []byte {
	dst = append(append(append(dst, "INSERT INTO "...), tableName(x.Entries)...), " VALUES "...)
	for i, e := range entries {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		sep := byte('(')
		for _, list := range [2][][]byte{e.unit, e.key} {
			for _, v := range list {
				dst = append(append(dst, sep), v...)
				sep = ','
			}
		}
		dst = append(dst, ')')
	}
	return dst
}

// deleteEntry deletes an entry. One that is missing is missing: while an index is built that is what there is.
func (w *rowWriter) deleteEntry(e *entry) error {
	_, err := w.exec(e.owner, e.appendCondition(append(append([]byte("DELETE FROM "), tableName(e.index.Entries)...), " WHERE "...), true))
	return err
}

// appendCondition appends the condition that finds e, or, without key, whatever entry has its value.
func (e *entry) appendCondition(dst []byte, key bool) []byte {
	for i, v := range e.unit {
		if i > 0 {
			dst = append(dst, " AND "...)
		}
		dst = append(append(appendName(dst, e.index.Entries.Columns[i].Name), " = "...), v...)
	}
	if !key {
		return dst
	}
	for i, v := range e.key {
		dst = append(append(append(append(dst, " AND "...), appendName(nil, e.index.Entries.Columns[len(e.unit)+i].Name)...), " = "...), v...)
	}
	return dst
}

// selectImages is the SELECT of rows of t, with their locks: the primary key in workspace.Read's form, then images.
func selectImages(t *catalog.Table, columns []int, condition []byte) ([]byte, []plan.RowImage) {
	sql := []byte("SELECT ")
	for i, c := range t.Primary {
		if i > 0 {
			sql = append(sql, ", "...)
		}
		sql = append(sql, workspace.Read(&t.Columns[c])...)
	}
	images := make([]plan.RowImage, 0, len(columns))
	for i, c := range columns {
		sql = append(append(sql, ", "...), workspace.ReadKey(t.At(c))...)
		images = append(images, plan.RowImage{Column: c, At: len(t.Primary) + i})
	}
	sql = append(append(append(sql, " FROM "...), tableName(t)...), " WHERE "...)
	return append(append(sql, condition...), " FOR UPDATE"...), images
}
