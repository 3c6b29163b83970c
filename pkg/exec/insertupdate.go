package exec

import (
	"bytes"
	"slices"
	"strconv"

	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
	"skarv/pkg/workspace"
)

// update is ON DUPLICATE KEY UPDATE: the statement is sent to the group where the duplicate lies, whose server changes it. One that may get the
// row's own distribution key is taken to the row's group before.
func (o *insertingOne) update(p *plan.Plan) (result, error) {
	for range maxRowAttempts {
		res, c, err := o.insert(o.in.node.Indexed.Insert, oneRow)
		if err != nil || c == nil {
			return res, err
		}
		o.again()
		rows, key, err := o.firstDuplicates(c.key)
		if err != nil {
			return res, err
		}
		if len(rows) == 0 {
			continue // it has gone since
		}
		was := rows[0]
		there, err := o.taken(was)
		if err != nil {
			return res, err
		}
		ok, another, err := o.updateOf(there, key > 0)
		if err != nil {
			return res, err
		}
		if another {
			if there.group != was.group {
				if err := o.move(o.in.table, was.key, there.group, was.group); err != nil {
					return res, err
				}
			}
			o.again()
			continue
		}
		now, err := o.became(there)
		if err != nil {
			return res, err
		}
		if res = resultOf(&ok); o.asksForLast(p, res) {
			if o.in.met, err = o.numberOf(now); err != nil {
				return res, err
			}
		}
		if o.in.node.Indexed.Renew && now.group != was.group {
			if err := o.move(o.in.table, now.key, now.group, now.group); err != nil {
				return res, err
			}
		}
		if err := o.changed(was, now); err != nil {
			return res, err
		}
		return res, o.tell(now.group, appendKey(nil, o.in.table, now.key))
	}
	return result{}, rowRestless()
}

// taken takes a row that is met, and that is to get the new row's distribution key, to the group that it then belongs to.
func (o *insertingOne) taken(was found) (found, error) {
	n, t := o.in.node.Indexed, o.in.table
	if was.group == o.home || !slices.Contains(n.Renamed, t.Distribution[0]) {
		return was, nil
	}
	if n.Stay != nil {
		return was, n.Stay
	}
	err := o.move(t, was.key, was.group, o.home)
	was.group = o.home
	return was, err
}

// became reads what ON DUPLICATE KEY UPDATE has made of a row: it has the primary key it had, or that of the new row.
func (o *insertingOne) became(was found) (found, error) {
	t := o.in.table
	now, err := o.read(was.group, appendKey(nil, t, was.key))
	if err == nil && len(now) == 0 && o.in.node.Indexed.Renamed != nil && o.keys.primary != nil {
		now, err = o.read(was.group, o.appendRenamed(nil, was.key))
	}
	if err != nil {
		return found{}, err
	}
	if len(now) == 1 {
		if g, err := o.belongs(now[0]); err != nil || g == was.group {
			return now[0], err
		}
	}
	return found{}, sqlerr.Unsupported("ON DUPLICATE KEY UPDATE that changes the primary key of table '"+t.Name+"', where it cannot be told what to", "delete the row and insert it anew")
}

// appendRenamed appends the condition that finds a row that had the primary key, once it has been given the new row's.
func (o *insertingOne) appendRenamed(dst []byte, was [][]byte) []byte {
	t := o.in.table
	for i, c := range t.Primary {
		if i > 0 {
			dst = append(dst, " AND "...)
		}
		dst = append(appendName(dst, t.Columns[c].Name), " = "...)
		if slices.Contains(o.in.node.Indexed.Renamed, c) {
			dst = append(dst, o.keys.primary[i]...)
			continue
		}
		dst = workspace.AppendKey(dst, &t.Columns[c], was[i])
	}
	return dst
}

// belongs is the group that a row belongs to by its distribution key.
func (o *insertingOne) belongs(row found) (placement.NodeGroupID, error) {
	t := o.in.table
	var vals []sqltypes.Value
	for _, d := range t.Distribution {
		vals = append(vals, workspace.KeyValue(&t.Columns[d], row.image[d]))
	}
	return o.ownerOf(o.snap, t, vals, placement.Stored)
}

// asksForLast reports that the row is the last one and has met another that it leaves as it is, while others have been inserted or changed:
// then the number of the other is told (see came.go).
func (o *insertingOne) asksForLast(p *plan.Plan, res result) bool {
	n := o.in.node
	return n.Sequence && !n.HiddenKey && p.Uses&plan.SetsLastInsertID == 0 && o.row == o.in.rows-1 && res.insertID == 0 &&
		slices.ContainsFunc(o.results, func(res result) bool { return res.insertID != 0 })
}

// numberOf reads what a row that is locked has in the AUTO_INCREMENT column: the transaction's snapshot may not show it.
func (o *insertingOne) numberOf(row found) (uint64, error) {
	t := o.in.table
	sql := append(appendName([]byte("SELECT CAST("), t.Columns[t.AutoIncrement].Name), " AS SIGNED) FROM "...)
	sql = appendKey(append(append(sql, tableName(t)...), " WHERE "...), t, row.key)
	res, err := o.query(row.group, append(sql, " FOR UPDATE"...))
	if err != nil || len(res.rows) != 1 {
		return 0, err
	}
	id, err := strconv.ParseInt(string(res.rows[0][0]), 10, 64)
	return uint64(id), err // as the OK packet has what is below 0
}

// updated is what ON DUPLICATE KEY UPDATE says it has affected if it has changed a row.
const updated = 2

// updateOf sends the statement to the group of its duplicate. If that may not be in the first key, another says that a row has come
// meanwhile which is a duplicate in an earlier one, so that the server changed that instead, and it was undone: was is locked, but
// nothing keeps others from inserting.
func (o *insertingOne) updateOf(was found, later bool) (ok wire.OK, another bool, err error) {
	var before [][]byte
	if later {
		if before, err = o.whole(was); err != nil {
			return ok, false, err
		}
		if _, err := o.exec(was.group, []byte(rowSavepoint)); err != nil {
			return ok, false, err
		}
	}
	if ok, err = o.execOne(was.group, o.in.node.Before, true); err == nil {
		err = o.warn(was.group, ok, o.row)
	}
	if err != nil || !later || ok.AffectedRows < updated {
		return ok, false, err
	}
	after, err := o.whole(was)
	if err != nil || after == nil || !slices.EqualFunc(before, after, sameValue) {
		return ok, false, err
	}
	_, err = o.exec(was.group, []byte(rowRollback))
	return ok, true, err
}

// sameValue compares two values of a row, nil for NULL.
func sameValue(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// whole reads all of a row that is locked; nil if its primary key has changed.
func (o *insertingOne) whole(row found) ([][]byte, error) {
	sql := []byte("SELECT ")
	for i := range o.in.table.Columns {
		if i > 0 {
			sql = append(sql, ", "...)
		}
		sql = append(sql, workspace.Read(&o.in.table.Columns[i])...) // to the byte: a FLOAT shows six digits only
	}
	sql = append(append(append(sql, " FROM "...), tableName(o.in.table)...), " WHERE "...)
	res, err := o.query(row.group, append(appendKey(sql, o.in.table, row.key), " FOR UPDATE"...))
	if err != nil || len(res.rows) != 1 {
		return nil, err
	}
	return res.rows[0], nil
}

// changed does what follows from the change of a row.
func (o *insertingOne) changed(was, now found) error {
	t := o.in.table
	if err := o.changeEntries(t.Global, was.image, now.image); err != nil || !o.in.node.Indexed.Own {
		return err
	}
	if err := o.checkParents(referring{table: t, image: now.image, before: was.image, moved: now.group != was.group}, nil); err != nil {
		return err
	}
	return o.renamed(t, was.image, now.image, 0)
}
