package control

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/workspace"
)

// indexCheck compares a global index with its table, in both directions, and repairs it if it is told to. It may run while the table is used:
//
//	row without entry      rows are read with a shared lock that is held until their entries are written and committed: whoever
//	                       deletes or changes such a row locks it first, and its entry after that
//	entry without row      is one only if a locking read says so, which waits for transactions whose part in the entry's node
//	                       group is committed earlier than that in the row's. While the entry is there no other row can get its
//	                       value, so it can then be deleted
type indexCheck struct {
	snap   *catalog.Snapshot
	index  *catalog.GlobalIndex
	repair bool
	// lenient: duplicates are counted; else they are an error.
	lenient bool
	servers map[string]*server // by use and node group

	// Rows and Entries are how many there were; Missing, Wrong and Stale how many rows had no entry, entries led to another
	// row's place, entries had no row; Duplicates how many rows have a value that another one has.
	Rows, Entries, Missing, Wrong, Stale, Duplicates uint64
}

// checkRows is how many rows are looked at, and locked, at a time.
const checkRows = 500

func (c *indexCheck) run(ctx context.Context) error {
	defer func() {
		for _, s := range c.servers {
			s.close()
		}
	}()
	for _, g := range c.snap.Groups {
		if err := c.rowsOf(ctx, g); err != nil {
			return err
		}
	}
	for _, g := range c.snap.Groups {
		if err := c.entriesOf(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// on returns a connection to a node group, one for each use.
func (c *indexCheck) on(ctx context.Context, use string, id placement.NodeGroupID) (*server, error) {
	name := fmt.Sprint(use, id)
	if s := c.servers[name]; s != nil {
		return s, nil
	}
	g := c.snap.Group(id)
	if g == nil {
		return nil, fmt.Errorf("node group %d is gone", id)
	}
	s, err := dial(ctx, groupName(g), g.Primary)
	if err != nil {
		return nil, err
	}
	c.servers[name] = s
	return s, s.settings(ctx, DDLRequest{SQLMode: "STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO", Session: []string{"SET SESSION time_zone = '+00:00'"}})
}

func readRows(ctx context.Context, s *server, columns int, query string) (out [][][]byte, err error) {
	err = s.rows(ctx, func(r *sql.Rows) error {
		row := make([][]byte, columns)
		to := make([]any, columns)
		for i := range row {
			to[i] = &row[i]
		}
		if err := r.Scan(to...); err != nil {
			return err
		}
		out = append(out, row)
		return nil
	}, query)
	return out, err
}

func selectList(t *catalog.Table, columns []int) string {
	var list []string
	for _, i := range columns {
		list = append(list, workspace.ReadKey(&t.Columns[i]))
	}
	return strings.Join(list, ", ")
}

func equal(t *catalog.Table, columns []int, values [][]byte) string {
	var list []string
	for i, n := range columns {
		list = append(list, quoteName(t.Columns[n].Name)+" = "+string(workspace.AppendKeyValue(nil, &t.Columns[n], values[i])))
	}
	return strings.Join(list, " AND ")
}

// after is the condition for rows behind the one with these values in the order of columns.
func after(t *catalog.Table, columns []int, values [][]byte) string {
	if values == nil {
		return ""
	}
	var or []string
	for i := range columns {
		cond := quoteName(t.Columns[columns[i]].Name) + " > " + string(workspace.AppendKeyValue(nil, &t.Columns[columns[i]], values[i]))
		if i > 0 {
			cond = equal(t, columns[:i], values[:i]) + " AND " + cond
		}
		or = append(or, "("+cond+")")
	}
	return " WHERE " + strings.Join(or, " OR ")
}

func orderBy(t *catalog.Table, columns []int) string {
	var list []string
	for _, i := range columns {
		list = append(list, quoteName(t.Columns[i].Name))
	}
	return strings.Join(list, ", ")
}

func tableOf(t *catalog.Table) string { return object1{DB: t.Database, Name: t.Name}.sql() }

// owner is the node group of the row of t with these key values.
func (c *indexCheck) owner(t *catalog.Table, values [][]byte) (placement.NodeGroupID, error) {
	var vals []sqltypes.Value
	for i, d := range t.Distribution {
		vals = append(vals, workspace.KeyValue(&t.Columns[d], values[i]))
	}
	p, _, match := t.Key.Partition(nil, vals, placement.Store)
	if match != placement.Exact {
		return 0, sqlerr.Unsupported(fmt.Sprintf("a value in table '%s' that has no canonical text", t.Name), "")
	}
	return c.snap.Map.Owner(p), nil
}

// rowsOf looks for the entries of all rows of a node group.
func (c *indexCheck) rowsOf(ctx context.Context, g *catalog.NodeGroup) error {
	t := c.index.Table
	s, err := c.on(ctx, "row ", g.ID)
	if err != nil {
		return err
	}
	var last [][]byte
	keys, units := len(t.Primary), len(c.index.Columns)
	list := selectList(t, t.Primary) + ", " + selectList(t, c.index.Columns) + ", " + selectList(t, t.Distribution)
	for {
		if _, err := s.exec(ctx, "BEGIN"); err != nil {
			return err
		}
		rows, err := readRows(ctx, s, keys+units+len(t.Distribution), "SELECT "+list+" FROM "+tableOf(t)+after(t, t.Primary, last)+
			" ORDER BY "+orderBy(t, t.Primary)+fmt.Sprintf(" LIMIT %d LOCK IN SHARE MODE", checkRows))
		if err == nil {
			for _, r := range rows {
				if err = c.row(ctx, g, r[keys:keys+units], r[keys+units:]); err != nil {
					break
				}
			}
		}
		if _, cerr := s.exec(ctx, "COMMIT"); err == nil {
			err = cerr
		}
		if err != nil {
			return err
		}
		if len(rows) < checkRows {
			return nil
		}
		last = rows[len(rows)-1][:keys]
	}
}

// row looks for the entry of a row of group g.
func (c *indexCheck) row(ctx context.Context, g *catalog.NodeGroup, unit, key [][]byte) error {
	for _, v := range unit {
		if v == nil {
			return nil
		}
	}
	if home, err := c.owner(c.index.Table, key); err != nil || home != g.ID {
		return err // a copy that a move has left behind, or brings
	}
	c.Rows++
	e := c.index.Entries
	owner, err := c.owner(e, unit)
	if err != nil {
		return err
	}
	s, err := c.on(ctx, "entry ", owner)
	if err != nil {
		return err
	}
	found, err := c.entry(ctx, s, unit, false)
	if err == nil && (found == nil || !sameValues(found, key)) {
		found, err = c.entry(ctx, s, unit, true)
	}
	if err != nil {
		return err
	}
	if found == nil {
		if !c.repair {
			c.Missing++
			return nil
		}
		err = c.insert(ctx, s, unit, key)
		if err == nil {
			c.Missing++
			return nil
		}
		if !sqlerr.HasCode(err, sqlerr.DuplicateEntry) {
			return err
		}
		if found, err = c.entry(ctx, s, unit, true); err != nil || found == nil { // it has come and gone meanwhile
			return errors.Join(err, c.insertIf(ctx, s, unit, key, err == nil))
		}
	}
	if sameValues(found, key) {
		return nil
	}
	there, err := c.rowAt(ctx, unit, found)
	if err != nil {
		return err
	}
	if there && c.lenient {
		c.Duplicates++
		return nil
	}
	c.Wrong++
	if !c.repair {
		return nil
	}
	return c.replace(ctx, s, unit, key, found, there)
}

func (c *indexCheck) insertIf(ctx context.Context, s *server, unit, key [][]byte, on bool) error {
	if !on {
		return nil
	}
	return c.insert(ctx, s, unit, key)
}

// replace makes an entry that leads to another place lead to key, if there is no row at that other place.
func (c *indexCheck) replace(ctx context.Context, s *server, unit, key, found [][]byte, there bool) error {
	if there {
		err := c.insert(ctx, s, unit, key) // for the server's words
		if e, ok := errors.AsType[*sqlerr.Error](err); ok {
			return c.index.Duplicate(e, c.snap.Flavor)
		}
		return err
	}
	if _, err := s.exec(ctx, "DELETE FROM "+tableOf(c.index.Entries)+" WHERE "+c.condition(unit, found)); err != nil {
		return err
	}
	return c.insert(ctx, s, unit, key)
}

// condition finds the very entry of a value and a key.
func (c *indexCheck) condition(unit, key [][]byte) string {
	e := c.index.Entries
	return equal(e, e.Primary, unit) + " AND " + equal(e, keyColumns(e), key)
}

// keyColumns are the columns of an index's table that hold the distribution key.
func keyColumns(e *catalog.Table) []int {
	var out []int
	for i := len(e.Primary); i < len(e.Columns); i++ {
		out = append(out, i)
	}
	return out
}

// entry returns the distribution key that the entry of a value has, nil if there is none. A commit shows on one node group before it shows on
// another: what an entry and a row seem not to agree about is only known once who is at work on the entry has ended, when it is
// read locked.
func (c *indexCheck) entry(ctx context.Context, s *server, unit [][]byte, locked bool) ([][]byte, error) {
	e, lock := c.index.Entries, ""
	if locked {
		lock = " LOCK IN SHARE MODE"
	}
	rows, err := readRows(ctx, s, len(keyColumns(e)), "SELECT "+selectList(e, keyColumns(e))+" FROM "+tableOf(e)+" WHERE "+equal(e, e.Primary, unit)+lock)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

func (c *indexCheck) insert(ctx context.Context, s *server, unit, key [][]byte) error {
	e := c.index.Entries
	q := []byte("INSERT INTO " + tableOf(e) + " VALUES (")
	for i, v := range append(append([][]byte{}, unit...), key...) {
		if i > 0 {
			q = append(q, ", "...)
		}
		q = workspace.AppendKeyValue(q, &e.Columns[i], v)
	}
	_, err := s.exec(ctx, string(append(q, ')')))
	return err
}

// rowAt reports whether there is a row with a value and a distribution key, or will be when who is at work there has ended.
func (c *indexCheck) rowAt(ctx context.Context, unit, key [][]byte) (bool, error) {
	t := c.index.Table
	home, err := c.owner(t, key)
	if err != nil {
		return false, err
	}
	s, err := c.on(ctx, "row ", home)
	if err != nil {
		return false, err
	}
	rows, err := readRows(ctx, s, 1, "SELECT 1 FROM "+tableOf(t)+" WHERE "+equal(t, c.index.Columns, unit)+" AND "+
		equal(t, t.Distribution, key)+" LIMIT 1 LOCK IN SHARE MODE")
	return len(rows) > 0, err
}

// sameValues compares keys, which are the values of the same row if they are equal to the byte.
func sameValues(a, b [][]byte) bool {
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

// entriesOf looks for the rows of all entries on a node group.
func (c *indexCheck) entriesOf(ctx context.Context, g *catalog.NodeGroup) error {
	e := c.index.Entries
	s, err := c.on(ctx, "entry ", g.ID)
	if err != nil {
		return err
	}
	var last [][]byte
	units := len(e.Primary)
	list := selectList(e, e.Primary) + ", " + selectList(e, keyColumns(e))
	for {
		rows, err := readRows(ctx, s, len(e.Columns), "SELECT "+list+" FROM "+tableOf(e)+after(e, e.Primary, last)+
			" ORDER BY "+orderBy(e, e.Primary)+fmt.Sprintf(" LIMIT %d", checkRows))
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := c.entryWithoutRow(ctx, g, s, r[:units], r[units:]); err != nil {
				return err
			}
		}
		if len(rows) < checkRows {
			return nil
		}
		last = rows[len(rows)-1][:units]
	}
}

func (c *indexCheck) entryWithoutRow(ctx context.Context, g *catalog.NodeGroup, s *server, unit, key [][]byte) error {
	if home, err := c.owner(c.index.Entries, unit); err != nil || home != g.ID {
		return err
	}
	c.Entries++
	there, err := c.rowAt(ctx, unit, key)
	if err != nil || there {
		return err
	}
	now, err := c.entry(ctx, s, unit, true)
	if err != nil || now == nil || !sameValues(now, key) {
		return err // it was deleted with its row
	}
	c.Stale++
	if !c.repair {
		return nil
	}
	_, err = s.exec(ctx, "DELETE FROM "+tableOf(c.index.Entries)+" WHERE "+c.condition(unit, key))
	return err
}
