// Package audit checks what the cluster has twice, or refers to from elsewhere, while clients work: rows and the node groups they belong
// to, copies, replicas, global indexes, foreign keys over node groups. It repairs indexes, and fills new ones; else it writes nothing of
// clients'.
package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
	"skarv/pkg/workspace"
)

// IndexCheck compares a global index with its table, in both directions, and repairs it if it is told to. It may run while the table is used:
//
//	row without entry      rows are read with a shared lock that is held until their entries are written and committed: whoever
//	                       deletes or changes such a row locks it first, and its entry after that
//	entry without row      is one only if a locking read says so, which waits for transactions whose part in the entry's node
//	                       group is committed earlier than that in the row's. While the entry is there no other row can get its
//	                       value, so it can then be deleted
type IndexCheck struct {
	Snap    *catalog.Snapshot
	Servers schema.Dialer
	Index   *catalog.GlobalIndex
	Repair  bool
	// Lenient: duplicates are counted; else they are an error.
	Lenient bool

	// Rows and Entries are how many there were; Missing, Wrong and Stale how many rows had no entry, entries led to another
	// row's place, entries had no row; Duplicates how many rows have a value that another one has.
	Rows, Entries, Missing, Wrong, Stale, Duplicates uint64

	connections
}

// checkRows is how many rows are looked at, and locked, at a time.
const checkRows = 500

// Run checks all rows and entries. It may be called once.
func (c *IndexCheck) Run(ctx context.Context) error {
	c.connections = connections{snap: c.Snap, dialer: c.Servers}
	defer c.close()
	for _, g := range c.Snap.Groups {
		if err := c.collations(ctx, g); err != nil {
			return err
		}
	}
	for _, g := range c.Snap.Groups {
		if err := c.rowsOf(ctx, g); err != nil {
			return err
		}
	}
	for _, g := range c.Snap.Groups {
		if err := c.entriesOf(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

// collations returns an error if a node group's server compares the entries by other collations than the rows: then it finds other duplicates,
// and other entries than those that are meant.
func (c *IndexCheck) collations(ctx context.Context, g *catalog.NodeGroup) error {
	s, err := c.on(ctx, "entry ", g.ID)
	if err != nil {
		return err
	}
	e := c.Index.Entries
	d, err := schema.ReadDefinition(ctx, s, ddl.Object{DB: e.Database, Name: e.Name})
	if err != nil {
		return err
	}
	if d == nil {
		return fmt.Errorf("node group %s has no table for its entries: drop the key and add it again", g.Label())
	}
	for i := range e.Columns {
		is, want := d.Table.Columns[i].Collation, e.Columns[i].Collation
		if is != want {
			return fmt.Errorf("node group %s compares its entries by %s, and column %s by %s: drop the key and add it again",
				g.Label(), is, c.Index.Table.At(slices.Concat(c.Index.Columns, c.Index.Table.Distribution)[i]).Name, want)
		}
	}
	return nil
}

// rowsOf looks for the entries of all rows of a node group.
func (c *IndexCheck) rowsOf(ctx context.Context, g *catalog.NodeGroup) error {
	t := c.Index.Table
	s, err := c.on(ctx, "row ", g.ID)
	if err != nil {
		return err
	}
	var last [][]byte
	keys, units := len(t.Primary), len(c.Index.Columns)
	list := selectList(t, t.Primary) + ", " + selectList(t, c.Index.Columns) + ", " + selectList(t, t.Distribution)
	for {
		if _, err := s.Exec(ctx, "BEGIN"); err != nil {
			return err
		}
		rows, err := s.Values(ctx, keys+units+len(t.Distribution), "SELECT "+list+" FROM "+t.SQL()+after(t, t.Primary, last)+
			" ORDER BY "+t.ColumnList(t.Primary)+fmt.Sprintf(" LIMIT %d LOCK IN SHARE MODE", checkRows))
		if err == nil {
			for _, r := range rows {
				if err = c.row(ctx, g, c.Index.Unit(r[keys:keys+units]), r[keys+units:]); err != nil {
					break
				}
			}
		}
		if _, cerr := s.Exec(ctx, "COMMIT"); err == nil {
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
func (c *IndexCheck) row(ctx context.Context, g *catalog.NodeGroup, unit, key [][]byte) error {
	for _, v := range unit {
		if v == nil {
			return nil
		}
	}
	if home, err := c.owner(c.Index.Table, key); err != nil || home != g.ID {
		return err // a copy that a move has left behind, or brings
	}
	c.Rows++
	e := c.Index.Entries
	owner, err := c.entryOwner(e, unit)
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
		if !c.Repair {
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
	if there && c.Lenient {
		c.Duplicates++
		return nil
	}
	c.Wrong++
	if !c.Repair {
		return nil
	}
	return c.replace(ctx, s, unit, key, found, there)
}

func (c *IndexCheck) insertIf(ctx context.Context, s *schema.Server, unit, key [][]byte, on bool) error {
	if !on {
		return nil
	}
	return c.insert(ctx, s, unit, key)
}

// replace makes an entry that leads to another place lead to key, if there is no row at that other place.
func (c *IndexCheck) replace(ctx context.Context, s *schema.Server, unit, key, found [][]byte, there bool) error {
	if there {
		err := c.insert(ctx, s, unit, key) // for the server's words
		if e, ok := errors.AsType[*sqlerr.Error](err); ok {
			return c.Index.Duplicate(e, c.Snap.Flavor, inUTC)
		}
		return err
	}
	if _, err := s.Exec(ctx, "DELETE FROM "+c.Index.Entries.SQL()+" WHERE "+c.condition(unit, found)); err != nil {
		return err
	}
	return c.insert(ctx, s, unit, key)
}

// condition finds the very entry of a value and a key.
func (c *IndexCheck) condition(unit, key [][]byte) string {
	e := c.Index.Entries
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
func (c *IndexCheck) entry(ctx context.Context, s *schema.Server, unit [][]byte, locked bool) ([][]byte, error) {
	e, lock := c.Index.Entries, ""
	if locked {
		lock = " LOCK IN SHARE MODE"
	}
	rows, err := s.Values(ctx, len(keyColumns(e)), "SELECT "+selectList(e, keyColumns(e))+" FROM "+e.SQL()+" WHERE "+equal(e, e.Primary, unit)+lock)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

func (c *IndexCheck) insert(ctx context.Context, s *schema.Server, unit, key [][]byte) error {
	e := c.Index.Entries
	_, err := s.Exec(ctx, string(appendEntry([]byte("INSERT INTO "+e.SQL()+" VALUES "), e, slices.Concat(unit, key))))
	return err
}

// rowAt reports whether there is a row with a value and a distribution key, or will be when who is at work there has ended.
func (c *IndexCheck) rowAt(ctx context.Context, unit, key [][]byte) (bool, error) {
	t := c.Index.Table
	home, err := c.owner(t, key)
	if err != nil {
		return false, err
	}
	s, err := c.on(ctx, "row ", home)
	if err != nil {
		return false, err
	}
	var has []string
	for i, n := range c.Index.Columns {
		has = append(has, workspace.Beginning(t.At(n), c.Index.Length(i), "")+" = "+string(workspace.AppendKeyValue(nil, t.At(n), unit[i])))
	}
	rows, err := s.Values(ctx, 1, "SELECT 1 FROM "+t.SQL()+" WHERE "+strings.Join(has, " AND ")+" AND "+
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
func (c *IndexCheck) entriesOf(ctx context.Context, g *catalog.NodeGroup) error {
	e := c.Index.Entries
	s, err := c.on(ctx, "entry ", g.ID)
	if err != nil {
		return err
	}
	var last [][]byte
	units := len(e.Primary)
	list := selectList(e, e.Primary) + ", " + selectList(e, keyColumns(e))
	for {
		rows, err := s.Values(ctx, len(e.Columns), "SELECT "+list+" FROM "+e.SQL()+after(e, e.Primary, last)+
			" ORDER BY "+e.ColumnList(e.Primary)+fmt.Sprintf(" LIMIT %d", checkRows))
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

func (c *IndexCheck) entryWithoutRow(ctx context.Context, g *catalog.NodeGroup, s *schema.Server, unit, key [][]byte) error {
	if home, err := c.entryOwner(c.Index.Entries, unit); err != nil || home != g.ID {
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
	if !c.Repair {
		return nil
	}
	_, err = s.Exec(ctx, "DELETE FROM "+c.Index.Entries.SQL()+" WHERE "+c.condition(unit, key))
	return err
}
