package exec

import (
	"io"
	"strconv"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
	"skarv/pkg/workspace"
)

// Change says what a Changer does to the rows it is given. A row is a text-protocol row of
//
//	its partition                     plan-independent: catalog.Table.Key's SQLExpr computes it; 0 for tables that are not sharded
//	its primary key                   RowUpdate, RowDelete: the old values, as workspace.Read selects them
//	the values of Columns             RowUpdate, RowInsert: the new values, as workspace.Read selects them
type Change struct {
	Table *catalog.Table
	Kind  ChangeKind
	// Columns are written. None may be generated; for RowUpdate none may be of the distribution key.
	Columns []int
	// Verb is what RowInsert begins with: "INSERT INTO" (if empty), "INSERT IGNORE INTO", "REPLACE INTO"; Tail is what stands behind
	// the rows. With either, rows may be in the way: what became of them is counted and not checked.
	Verb string
	Tail []byte
	// Returned, not nil, takes the rows that Tail's RETURNING gives.
	Returned *Held
	// AskLast: Tail is ON DUPLICATE KEY UPDATE, and LastID will be asked for.
	AskLast bool
}

// Counts are what a Changer's inserts have come to.
type Counts struct {
	Affected   uint64
	Duplicates uint64
	Warnings   uint
	// InsertID is the one that was told last, by the group of the last row.
	InsertID uint64
	// Generated is the first value that a server has given out for a row that has come, with Numbered.
	Generated uint64
}

// ChangeKind is what happens to a row.
type ChangeKind uint8

// The kinds of changes.
const (
	RowDelete ChangeKind = iota + 1
	RowUpdate
	RowInsert
)

const (
	// changeBytes is the size of one statement of a Changer, unless a single row is larger.
	changeBytes = 256 << 10
	// changeKeys bounds the rows a statement finds by key.
	changeKeys = 500
)

// Changer changes rows that are known by their primary keys, on the node groups they lie on, in batches. The caller has
// them locked: a row that is not there any more, or is as it should become already, is an error. It implements Sink, so that
// the rows can stream into it. It is used between BeginStatement and EndStatement of the Runner's Conns, as is everything that read the rows.
type Changer struct {
	r    *Runner
	snap *catalog.Snapshot
	// before are the statements that prepare a connection, after those that make it the session's again.
	before  [][]byte
	after   [][]byte
	change  Change
	head    []byte // INSERT INTO t (...) VALUES, or DELETE FROM t WHERE
	names   []string
	forms   []workspace.Form
	parts   []changePart // as r.streams
	fields  [][]byte     // of the row at hand
	warning [][]byte     // the row of SHOW WARNINGS at hand
	set     []byte
	rows    uint64
	counts  Counts
	last    int    // the part of the last row
	lastRow []byte // the INSERT of the last row alone, for LastID
	told    bool   // a part has told an insert id
	numbers bool   // see Numbered
	// SessionTime: the connections stay in the session's own time zone and mode, because Tail has expressions.
	sessionTime bool
	// Warned are the warnings of inserts.
	Warned []diagnostics.Condition
}

// changePart is what one group is to do next.
type changePart struct {
	sql     []byte
	set     []byte // RowUpdate: what the rows of sql become
	rows    uint64
	pending []uint64 // rows of the statements sent whose answers are to be read
	id      uint64   // the insert id told last
}

// Change returns a Changer. A group takes part from its first row on. restore is the SET statement that brings sql_mode and
// time_zone of a connection back to the session's: meanwhile whatever a table may hold can be written. Without it they
// stay what they are, and the values of TIMESTAMP columns are given in the session's time zone. End must be called, even after
// an error.
func (r *Runner) Change(x Execution, snap *catalog.Snapshot, restore string) *Changer {
	r.Execution = x
	r.results, r.failed = r.results[:0], 0
	r.groups, r.streams = r.groups[:0], r.streams[:0]
	c := &Changer{r: r, snap: snap, sessionTime: restore == ""}
	if !c.sessionTime {
		c.before, c.after = append(c.before, []byte("SET "+workspace.Writing)), append(c.after, []byte(restore))
	}
	if !r.Moment.IsZero() && !r.FixedClock {
		c.before, c.after = append(c.before, SetTimestamp(r.Moment)), append(c.after, []byte("SET timestamp = DEFAULT"))
	}
	return c
}

// Unchecked makes the servers not look at foreign keys, before anything is changed: the caller does (Follow).
func (c *Changer) Unchecked() {
	c.before, c.after = append(c.before, []byte("SET foreign_key_checks = 0")), append(c.after, []byte("SET foreign_key_checks = 1"))
}

// Numbered makes Counts tell of the values that servers give out, before anything is changed.
func (c *Changer) Numbered() {
	reset := []byte("SET last_insert_id = 0") // before, to see what is new; after, as all connections are left
	c.before, c.after, c.numbers = append(c.before, reset), append(c.after, reset), true
}

// part returns the number of g's part, which takes part from now on.
func (c *Changer) part(g placement.NodeGroupID) (int, error) {
	r := c.r
	for i := range r.streams {
		if r.streams[i].group == g {
			return i, nil
		}
	}
	// The transaction may have to say something to the groups that it is on already.
	if err := c.settleAll(); err != nil {
		return 0, err
	}
	if err := r.Conns.JoinStatement(g, true); err != nil {
		return 0, err
	}
	i := len(r.streams)
	if err := r.acquireOne(g, true); err != nil {
		return 0, err
	}
	c.parts = append(c.parts, changePart{})
	for _, sql := range c.before {
		if err := r.streams[i].send(sql); err != nil {
			return 0, err
		}
		c.parts[i].pending = append(c.parts[i].pending, noCount)
	}
	return i, nil
}

// noCount stands for the count of a statement that changes no rows.
const noCount = ^uint64(0)

// Begin says what happens to the rows that follow. All that was begun before is done before.
func (c *Changer) Begin(change Change) error {
	if err := c.Flush(); err != nil {
		return err
	}
	c.change = change
	t := change.Table
	c.names, c.forms = c.names[:0], c.forms[:0]
	add := func(columns []int) {
		for _, i := range columns {
			c.names = append(c.names, sqltypes.QuoteName(t.Columns[i].Name))
			c.forms = append(c.forms, workspace.FormOf(&t.Columns[i], c.sessionTime))
		}
	}
	name := t.SQL()
	switch change.Kind {
	case RowInsert:
		add(change.Columns)
		verb := change.Verb
		if verb == "" {
			verb = "INSERT INTO"
		}
		c.head = []byte(verb + " " + name + " (" + strings.Join(c.names, ", ") + ") VALUES ")
		return nil
	case RowDelete:
		c.head = []byte("DELETE FROM " + name)
	case RowUpdate:
		c.head = []byte("UPDATE " + name + " SET ")
	}
	if len(t.Primary) == 0 {
		return sqlerr.Unsupported("changing rows of table '"+t.Name+"' from what other node groups have: it has no primary key", "give it one")
	}
	for _, i := range t.Primary {
		switch t.Columns[i].DataType {
		case "float", "double", "json":
			return sqlerr.Unsupported("changing rows of table '"+t.Name+"' by a primary key of type "+t.Columns[i].DataType, "use another type for the key")
		}
	}
	add(t.Primary)
	if change.Kind == RowUpdate {
		add(change.Columns)
	}
	return nil
}

// Columns implements Sink.
func (c *Changer) Columns(cols []sqltypes.Column) error {
	if len(cols) != len(c.forms)+1 {
		return sqlerr.Internal.New("rows to be changed have another number of columns than expected")
	}
	return nil
}

// Row implements Sink.
func (c *Changer) Row(payload []byte) (err error) {
	if c.fields, err = wire.ParseTextRow(payload, c.fields[:0]); err != nil {
		return err
	}
	if len(c.fields) != len(c.forms)+1 {
		return sqlerr.Internal.New("a row to be changed has another number of values than expected")
	}
	c.rows++
	t := c.change.Table
	switch t.Kind {
	case catalog.Reference:
		for _, g := range c.snap.Groups {
			if err := c.addTo(g.ID); err != nil {
				return err
			}
		}
		return nil
	case catalog.Single:
		return c.addTo(t.Group)
	}
	p, err := strconv.ParseUint(string(c.fields[0]), 10, 16)
	if err != nil || p >= placement.Partitions {
		return sqlerr.Internal.New("the partition of a row to be changed is not known")
	}
	return c.addTo(c.snap.Map.Owner(placement.Partition(p)))
}

// Rows is how many rows the Changer has been given since Begin was called first.
func (c *Changer) Rows() uint64 { return c.rows }

func (c *Changer) addTo(g placement.NodeGroupID) error {
	i, err := c.part(g)
	if err != nil {
		return err
	}
	return c.add(i)
}

// add adds the row at hand to part i.
func (c *Changer) add(i int) error {
	p := &c.parts[i]
	values, forms, names := c.fields[1:], c.forms, c.names
	size := 0
	for _, v := range values {
		size += len(v)
	}
	if len(p.sql)+2*size >= changeBytes { // behind others a row may be too much for a packet that is not by itself
		if err := c.flush(i); err != nil {
			return err
		}
	}
	keys := len(c.change.Table.Primary)
	switch c.change.Kind {
	case RowInsert:
		if len(p.sql) == 0 {
			p.sql = append(p.sql, c.head...)
		} else {
			p.sql = append(p.sql, ',')
		}
		row := len(p.sql)
		sep := byte('(')
		for n, v := range values {
			p.sql = workspace.AppendValue(append(p.sql, sep), forms[n], v)
			sep = ','
		}
		if len(values) == 0 {
			p.sql = append(p.sql, '(')
		}
		p.sql = append(p.sql, ')')
		if c.last = i; c.change.Table.Kind == catalog.Reference {
			c.last = 0 // the one that is counted
		}
		if c.change.AskLast {
			c.lastRow = append(append(c.lastRow[:0], c.head...), p.sql[row:]...)
		}
	case RowUpdate:
		c.set = c.set[:0]
		for n := keys; n < len(values); n++ {
			if n > keys {
				c.set = append(c.set, ',')
			}
			c.set = append(append(c.set, names[n]...), '=')
			c.set = workspace.AppendValue(c.set, forms[n], values[n])
		}
		if len(p.sql) > 0 && string(p.set) != string(c.set) {
			if err := c.flush(i); err != nil {
				return err
			}
		}
		if len(p.sql) == 0 {
			p.set = append(p.set[:0], c.set...)
			p.sql = append(append(p.sql, c.head...), c.set...)
		}
		p.sql = c.appendKey(p, values[:keys])
	case RowDelete:
		if len(p.sql) == 0 {
			p.sql = append(p.sql, c.head...)
		}
		p.sql = c.appendKey(p, values)
	}
	p.rows++
	if len(p.sql) < changeBytes && (c.change.Kind == RowInsert || p.rows < changeKeys) {
		return nil
	}
	return c.flush(i)
}

// appendKey appends the condition that finds a row by its primary key, and no other row.
func (c *Changer) appendKey(p *changePart, key [][]byte) []byte {
	t := c.change.Table
	dst := p.sql
	if len(key) == 1 {
		if p.rows == 0 {
			dst = append(append(append(dst, " WHERE "...), c.names[0]...), " IN ("...)
		} else {
			dst = append(dst, ',')
		}
		return workspace.AppendKey(dst, &t.Columns[t.Primary[0]], key[0])
	}
	if p.rows == 0 {
		dst = append(dst, " WHERE ("...)
	} else {
		dst = append(dst, " OR "...)
	}
	for i, v := range key {
		if i > 0 {
			dst = append(dst, " AND "...)
		}
		dst = append(append(dst, c.names[i]...), '=')
		dst = workspace.AppendKey(dst, &t.Columns[t.Primary[i]], v)
	}
	return dst
}

// flush sends what part i has gathered.
func (c *Changer) flush(i int) error {
	p := &c.parts[i]
	if len(p.sql) == 0 {
		return nil
	}
	// A change that was sent behind one at which the server rolls the transaction back, for a deadlock, would be a transaction of its own, and
	// stay: each waits for the one before. What prepares the connection may be under way.
	for n := len(p.pending); n > 0 && (p.pending[n-1] != noCount || !c.exact()); n = len(p.pending) {
		if err := c.settle(i); err != nil {
			return err
		}
	}
	if c.change.Kind != RowInsert {
		p.sql = append(p.sql, ')')
	} else {
		p.sql = append(p.sql, c.change.Tail...)
	}
	if err := c.r.streams[i].send(p.sql); err != nil {
		return err
	}
	p.pending = append(p.pending, p.rows)
	p.sql, p.rows = p.sql[:0], 0
	return nil
}

// settle reads the oldest answer of part i that has not been read.
func (c *Changer) settle(i int) error {
	p := &c.parts[i]
	want := p.pending[0]
	p.pending = append(p.pending[:0], p.pending[1:]...)
	head, err := c.r.streams[i].readHead()
	switch {
	case c.change.Table.Kind == catalog.Reference && copyMayRefer(err, c.snap, c.r.streams[i].group):
		return onlyCopiesRefer(c.snap)
	case err != nil:
		return err
	case want == noCount:
	case head.OK == nil && c.change.Returned != nil:
		return c.returned(i, head)
	case head.OK == nil:
		return c.r.streams[i].breakOff(sqlerr.Internal.New("a change of rows was answered with rows"))
	case !c.exact():
		id := head.OK.LastInsertID
		if err = c.count(i, head.OK); err == nil && id != 0 && c.numbers && c.counts.Generated == 0 {
			c.counts.Generated, err = c.r.lastInsertID(&c.r.streams[i]) // whether the server has given out the insert id that it has told
		}
		return err
	case head.OK.AffectedRows != want && len(c.change.Table.ForeignKeys) == 0: // a cascade may have been there before
		return sqlerr.Internal.New(groupName(c.r.streams[i].group) + " changed " + strconv.FormatUint(head.OK.AffectedRows, 10) + " rows of table '" +
			c.change.Table.Name + "' instead of " + strconv.FormatUint(want, 10))
	}
	return nil
}

// returned takes the rows with which part i answers.
func (c *Changer) returned(i int, head mysqlconn.Head) error {
	s, to := &c.r.streams[i], c.change.Returned
	if c.change.Table.Kind == catalog.Reference && i > 0 {
		to = &Held{}
	}
	if err := s.copyTo(head.Columns, to); err != nil {
		return err
	}
	if i == 0 || c.change.Table.Kind != catalog.Reference {
		c.counts.Warnings += s.warnings
	}
	return nil
}

// exact reports that every row given must be changed.
func (c *Changer) exact() bool { return c.change.Verb == "" && c.change.Tail == nil }

// Came is Runner.Came of the rows that the Changer has inserted, and flushed.
func (c *Changer) Came(ids *Identities) (uint64, error) {
	streams := c.r.streams
	if c.change.Table.Kind == catalog.Reference {
		streams = streams[:min(len(streams), 1)]
	}
	return c.r.firstOf(streams, c.change.Table, ids.ids.given)
}

// Counts is what the inserts have come to.
func (c *Changer) Counts() Counts {
	sum := c.counts
	if len(c.parts) > 0 {
		sum.InsertID = c.parts[c.last].id
	}
	return sum
}

// LastID is the value of AUTO_INCREMENT of the last row that was inserted, and flushed, or of the row that it has met; 0 if no row was
// inserted or changed.
func (c *Changer) LastID() (uint64, error) {
	if len(c.parts) == 0 || !c.told || c.parts[c.last].id != 0 {
		return c.Counts().InsertID, nil
	}
	return c.r.metOn(&c.r.streams[c.last], c.change.Table, c.lastRow, c.change.Tail)
}

// count takes from part i's answer what became of its rows, and fetches its warnings: no other statement is outstanding.
func (c *Changer) count(i int, ok *wire.OK) error {
	if c.change.Table.Kind == catalog.Reference && i > 0 {
		return nil // it did as the first one
	}
	sum := &c.counts
	sum.Affected += ok.AffectedRows
	sum.Warnings += uint(ok.Warnings)
	c.parts[i].id, c.told = ok.LastInsertID, c.told || ok.LastInsertID != 0
	res := resultOf(ok)
	sum.Duplicates += res.met(c.change.Verb == "INSERT IGNORE INTO")
	if ok.Warnings == 0 || len(c.Warned) >= maxWarned {
		return nil
	}
	s := &c.r.streams[i]
	if err := s.send([]byte("SHOW WARNINGS")); err != nil {
		return err
	}
	if _, err := s.readHead(); err != nil {
		return err
	}
	for {
		row, err := s.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if c.warning, err = wire.ParseTextRow(row, c.warning[:0]); err != nil {
			return err
		}
		if len(c.warning) == 3 && len(c.Warned) < maxWarned {
			c.Warned = append(c.Warned, diagnostics.OfRow(c.warning))
		}
	}
}

// Flush sends everything and reads all answers.
func (c *Changer) Flush() error {
	for i := range c.parts {
		if err := c.flush(i); err != nil {
			return err
		}
	}
	return c.settleAll()
}

// settleAll reads all answers that have not been read.
func (c *Changer) settleAll() error {
	for i := range c.parts {
		for len(c.parts[i].pending) > 0 {
			if err := c.settle(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// End finishes the changes, if err is nil, and gives the connections back in the session's state. It returns err or
// what has gone wrong since.
func (c *Changer) End(err error) error {
	if err == nil {
		err = c.Flush()
	}
	for i := range c.parts {
		s := &c.r.streams[i]
		for _, _ = s.skipRows(); s.heads > 0 && s.err == nil; _, _ = s.skipRows() {
			_, _ = s.readHead() // of statements sent before the one that failed: what counts is known
		}
		c.parts[i].pending = nil
		if s.err != nil || s.conn.Broken() {
			continue
		}
		var rerr error
		for _, sql := range c.after {
			if rerr = s.send(sql); rerr == nil {
				_, rerr = s.readHead()
			}
			if rerr != nil {
				break
			}
		}
		if rerr != nil {
			s.conn.Interrupt() // nobody knows its state
			if err == nil {
				err = rerr
			}
		}
	}
	c.r.finish(err)
	return err
}
