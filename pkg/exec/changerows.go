package exec

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/merge"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
	"skarv/pkg/workspace"
)

// changing is one row that a statement changes.
type changing struct {
	group  placement.NodeGroupID // where it is
	to     placement.NodeGroupID // where it belongs once changed
	fields [][]byte              // of plan.ChangeRows.Read
	key    [][]byte              // the primary key it will have, in workspace.Read's form
	text   string                // of the distribution key it will have, where plan.ChangeRows has a Doubt
	number int                   // among the rows
}

// runChangeRows runs an UPDATE that may move rows. The server that will have a row computes all of its new values: a
// row that moves is first taken there as it is, and changed then. So every value, error and warning is the servers' own.
func (r *Runner) runChangeRows(p *plan.Plan, n *plan.ChangeRows, snap *catalog.Snapshot, a *Arguments) (Summary, error) {
	var info []byte
	r.Router.Touched.All = true // where rows and entries are going to be is not known yet
	if err := r.Conns.Enter(&r.Router.Touched, true); err != nil {
		return Summary{}, err
	}
	w, err := r.program(p, snap, a, n.Own, func(w *rowWriter) error {
		rows, err := w.readChanging(n)
		if err != nil {
			return err
		}
		if n.Delete {
			return w.deleteRows(n, rows)
		}
		for i := range rows {
			rows[i].number = i
			if err := w.change(n, &rows[i]); err != nil {
				return numbered(err, i)
			}
		}
		return nil
	})
	if err != nil {
		return Summary{}, err
	}
	if n.Delete {
		return Summary{AffectedRows: w.affected, Warnings: clampWarnings(w.warnings), Groups: 2}, nil
	}
	info = append(info, "Rows matched: "...)
	info = strconv.AppendUint(info, w.matched, 10)
	info = append(info, "  Changed: "...)
	info = strconv.AppendUint(info, w.changed, 10)
	info = append(info, "  Warnings: "...)
	info = strconv.AppendUint(info, uint64(w.warnings), 10)
	return Summary{AffectedRows: w.affected, Warnings: clampWarnings(w.warnings), Info: info, Groups: 2}, nil
}

// readChanging reads the rows with their locks and finds where each belongs.
func (w *rowWriter) readChanging(n *plan.ChangeRows) (out []changing, err error) {
	if slices.ContainsFunc(n.Bits, w.isString) {
		return nil, sqlerr.Unsupported("changing keys of table '"+n.Table.Name+"', or what UNIQUE keys without the distribution key hold, where a BIT column equals a string",
			"write a number, or b'...'")
	}
	groups, err := w.route(&n.Read.Target)
	if err != nil {
		return nil, err
	}
	var columns []sqltypes.Column
	for _, g := range groups {
		res, err := w.queryOpen(g, func(dst []byte, g placement.NodeGroupID) []byte {
			return w.appendFragment(dst, n.Read, w.args, g, groups)
		})
		if err != nil {
			return nil, err
		}
		if res.warnings > 0 {
			s, err := w.on(g, false)
			if err != nil {
				return nil, err
			}
			warned, err := w.warningsOf(s)
			if err == nil && !w.Lenient && !n.Ignore {
				err = StrictError(warned, w.snap.Flavor, n.Finds)
			}
			if err != nil {
				w.failed = g
				return nil, err
			}
			w.warnings += res.warnings
			w.Warned = append(w.Warned, warned[:min(len(warned), max(0, maxWarned-len(w.Warned)))]...)
		}
		columns = res.columns
		for _, fields := range res.rows {
			c := changing{group: g, to: g, fields: fields}
			if n.NewKey != nil {
				if c.to, c.text, err = w.destination(n, res.columns, fields); err != nil {
					return nil, err
				}
				c.key = w.newKey(n, res.columns, fields)
			} else {
				c.key = fields[:len(n.Table.Primary)]
			}
			out = append(out, c)
		}
		if len(out) > maxProgramRows {
			return nil, tooManyRows()
		}
	}
	if len(out) < 2 {
		return out, nil
	}
	keys, err := w.sortKeys(n.Order, columns)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(x, y changing) int { return merge.Compare(keys, x.fields, y.fields) })
	if n.Doubt != plan.NoDoubt {
		w.turns, err = w.newTurns(n, keys, out)
	}
	return out, err
}

// isString reports whether o is a string, or a list with one.
func (w *rowWriter) isString(o plan.Operand) bool {
	if o.Arg < 0 || !w.args.IsList(o.Arg) {
		v, ok := w.Router.operand(o, w.args)
		return ok && v.Kind == sqltypes.String
	}
	for i := range w.args.NumElems(o.Arg) {
		if v, ok := w.args.Elem(o.Arg, i); ok && v.Kind == sqltypes.String {
			return true
		}
	}
	return false
}

// destination is the group that a row belongs to once it has the new values of its key, and the key's text.
func (w *rowWriter) destination(n *plan.ChangeRows, columns []sqltypes.Column, fields [][]byte) (g placement.NodeGroupID, text string, err error) {
	vals := w.Router.vals[:0]
	for _, at := range n.NewKey {
		vals = append(vals, valueOf(&columns[at], fields[at]))
	}
	w.Router.vals = vals
	mode := placement.Store | w.args.Strings
	if g = w.Router.place(n.Table.Key, w.snap, mode); g == everyGroup || g == noGroup {
		return 0, "", sqlerr.Unsupported("it cannot be told what the new distribution key of a row of table '"+n.Table.Name+"' will be stored as",
			"assign the value just as the column's type prints it")
	}
	if n.Doubt != plan.NoDoubt {
		key, _ := n.Table.Key.Text(nil, vals, mode)
		text = string(key)
	}
	return g, text, nil
}

// change changes one row where it will be.
func (w *rowWriter) change(n *plan.ChangeRows, row *changing) error {
	key := row.fields[:len(n.Table.Primary)]
	if row.to != row.group {
		if n.Stay != nil {
			return n.Stay
		}
		if err := w.move(n.Table, key, row.group, row.to); err != nil {
			return err
		}
	}
	ok, err := w.execOpen(row.to, func(dst []byte, _ placement.NodeGroupID) []byte {
		return appendKey(append(w.args.AppendText(dst, n.Set), " WHERE "...), n.Table, key)
	}, nil)
	if err != nil {
		return err
	}
	matched, changed := counts(ok)
	w.matched, w.changed, w.affected = w.matched+matched, w.changed+changed, w.affected+ok.AffectedRows
	if err := w.warn(row.to, ok, row.number); err != nil {
		return err
	}
	if changed > 0 {
		if err := w.numbered(n, row); err != nil {
			return err
		}
	}
	if n.Renew && changed > 0 && row.to != row.group {
		if err := w.move(n.Table, row.key, row.to, row.to); err != nil {
			return err
		}
	}
	switch {
	case matched == 1 && changed > 0 && (len(n.Indexes) > 0 || n.Own):
		return w.follows(n, row)
	case matched != 1:
		return sqlerr.Unsupported("moving a row of table '"+n.Table.Name+"' that its primary key does not find again", "delete the row and insert it anew")
	case changed == 0 && row.to != row.group && n.Ignore:
		return w.move(n.Table, key, row.to, row.group)
	case changed == 0 && row.to != row.group:
		return sqlerr.Internal.New("a row of table '" + n.Table.Name + "' was moved but not changed")
	}
	return nil
}

// numbered tells the sequence of an AUTO_INCREMENT value that a row was given, when it is part of the distribution key.
func (w *rowWriter) numbered(n *plan.ChangeRows, row *changing) error {
	at := slices.Index(n.Table.Distribution, n.Table.AutoIncrement)
	if at < 0 || n.NewKey == nil {
		return nil
	}
	v, err := strconv.ParseUint(string(row.fields[n.NewKey[at]]), 10, 64)
	if err != nil || v <= w.told { // a negative number is below all others
		return nil
	}
	w.told = v
	return w.Sequence.Observe(n.Table, v)
}

// newKey is the primary key of a row with the new values of its distribution key. Other columns of the primary key are not
// assigned where this matters.
func (w *rowWriter) newKey(n *plan.ChangeRows, columns []sqltypes.Column, fields [][]byte) [][]byte {
	key := slices.Clone(fields[:len(n.Table.Primary)])
	if !n.FindsAgain() {
		return nil
	}
	for i, c := range n.Table.Primary {
		if d := slices.Index(n.Table.Distribution, c); d >= 0 {
			key[i] = fields[n.NewKey[d]]
		}
	}
	return key
}

// follows does what follows from a row's change: entries of indexes, foreign keys.
func (w *rowWriter) follows(n *plan.ChangeRows, row *changing) error {
	now, err := w.readImages(n.Table, row.to, appendKey(nil, n.Table, row.key))
	if err != nil {
		return err
	}
	if len(now) != 1 {
		return sqlerr.Unsupported("changing a row of table '"+n.Table.Name+"' that its new primary key does not find again",
			"assign the value just as the column's type prints it")
	}
	before, after := imageOf(n.Images, row.fields), now[0].image
	if err := w.turns.taken(row.number, after); err != nil {
		return err
	}
	if err := w.changeEntries(n.Indexes, before, after); err != nil || !n.Own {
		return err
	}
	if err := w.checkParents(referring{table: n.Table, image: after, before: before, moved: row.to != row.group}, nil); err != nil {
		return err
	}
	return w.renamed(n.Table, before, after, 0)
}

// deleteRows deletes the rows, and what goes with them.
func (w *rowWriter) deleteRows(n *plan.ChangeRows, rows []changing) (err error) {
	gone := make([]found, len(rows))
	for i := range rows {
		gone[i] = found{rows[i].group, rows[i].key, imageOf(n.Images, rows[i].fields)}
	}
	w.affected, err = w.deleteFound(n.Table, gone, 0)
	return err
}

// move takes a row from one group to another as it is. Constraints are looked at when it is taken away, and when it is changed.
func (w *rowWriter) move(t *catalog.Table, key [][]byte, from, to placement.NodeGroupID) error {
	sql := append([]byte(nil), "SELECT "...)
	var stored []*catalog.Column
	for i := range t.Columns {
		if t.Columns[i].Generated {
			continue
		}
		if len(stored) > 0 {
			sql = append(sql, ", "...)
		}
		sql = append(sql, workspace.Read(&t.Columns[i])...)
		stored = append(stored, &t.Columns[i])
	}
	sql = append(append(append(sql, " FROM "...), tableName(t)...), " WHERE "...)
	res, err := w.query(from, append(appendKey(sql, t, key), " FOR UPDATE"...))
	if err != nil {
		return err
	}
	if len(res.rows) != 1 {
		return sqlerr.Unsupported("moving a row of table '"+t.Name+"' that its primary key does not find again", "delete the row and insert it anew")
	}
	sql = append(append(append(sql[:0], "DELETE FROM "...), tableName(t)...), " WHERE "...)
	if _, err := w.exec(from, appendKey(sql, t, key)); err != nil {
		return err
	}
	sql = append(append(append(sql[:0], "INSERT INTO "...), tableName(t)...), " ("...)
	for i, c := range stored {
		if i > 0 {
			sql = append(sql, ", "...)
		}
		sql = appendName(sql, c.Name)
	}
	sql = append(sql, ") VALUES ("...)
	for i, c := range stored {
		if i > 0 {
			sql = append(sql, ", "...)
		}
		sql = workspace.AppendValue(sql, workspace.FormOf(c, false), res.rows[0][i])
	}
	_, err = w.exec(to, []byte(workspace.Storing(w.snap.Flavor, string(append(sql, ')')))))
	if duplicateEntry(err) != nil && w.hidden != nil && w.hidden.Map.Foreign(to) != nil {
		// Its only duplicate is its own copy there, of a partition that moves. Those who copy must find that as they left it.
		return rowRestless()
	}
	return err
}

// appendKey appends the condition that finds a row by its primary key.
func appendKey(dst []byte, t *catalog.Table, key [][]byte) []byte {
	for i, c := range t.Primary {
		if i > 0 {
			dst = append(dst, " AND "...)
		}
		dst = append(appendName(dst, t.Columns[c].Name), " = "...)
		dst = workspace.AppendKey(dst, &t.Columns[c], key[i])
	}
	return dst
}

func tableName(t *catalog.Table) []byte {
	return appendName(append(appendName(nil, t.Database), '.'), t.Name)
}

func appendName(dst []byte, name string) []byte {
	return append(append(append(dst, '`'), strings.ReplaceAll(name, "`", "``")...), '`')
}

// counts are the rows an UPDATE found and those it changed, as its OK packet says.
func counts(ok wire.OK) (matched, changed uint64) {
	rest, found := bytes.CutPrefix(ok.Info, []byte("Rows matched: "))
	if !found {
		return ok.AffectedRows, ok.AffectedRows
	}
	matched, size := number(rest)
	rest = rest[size:]
	changed, _ = number(rest[digitsAt(rest):])
	return matched, changed
}

// numbered makes the only row that an error of one row's statement names the row number of the client's.
func numbered(err error, row int) error {
	e, ok := errors.AsType[*sqlerr.Error](err)
	if row == 0 || !ok {
		return err
	}
	return &sqlerr.Error{Code: e.Code, State: e.State, Message: atRow(e.Message, row)}
}

// atRow replaces "at row 1" at the end of a message.
func atRow(message string, row int) string {
	if rest, ok := strings.CutSuffix(message, " at row 1"); ok {
		return rest + " at row " + strconv.Itoa(row+1)
	}
	return message
}
