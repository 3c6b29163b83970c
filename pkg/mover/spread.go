package mover

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"skarv/pkg/catalog"
	"skarv/pkg/merge"
	"skarv/pkg/placement"
	"skarv/pkg/sqlerr"
)

// Spreading copies the rows of a table into another one, which is empty: each row to the node group where it belongs, by another distribution key or
// because the table is of another kind. Nobody else may write to either table meanwhile.
type Spreading struct {
	// Rows are read in the order of the key of From, over all servers.
	From, To *catalog.Table
	// Copy, if not nil, has the rows of From, each on the server that From has it on, as they are to be. Columns are then its own.
	Copy    *catalog.Table
	Servers []Server // the primaries of all node groups
	// Owner says whose a partition is.
	Owner func(placement.Partition) placement.NodeGroupID
	// Columns are the columns of To by those of From that their values come from. The others of To get their defaults.
	Columns map[string]string
	// Number is the column of To whose values are counted, AUTO_INCREMENT or the hidden key, "" for none: rows without a value for it, or with 0 unless ZeroIsValue, get the next number
	// from First on, which is above those of all rows before them.
	Number      string
	First       uint64
	ZeroIsValue bool
	// Tell, if not nil, is called now and then with how many rows have been read. Its error ends the copying.
	Tell func(rows uint64) error
}

// NullError: a row has no value for a column of To that must have one.
type NullError struct {
	Column string
	Row    uint64 // the how many-th, from 1
}

func (e *NullError) Error() string { return fmt.Sprintf("row %d has no value for %s", e.Row, e.Column) }

// How many rows of Spreading are read and written at a time.
const (
	spreadRows  = 1000
	spreadBytes = 256 << 10
)

// patient is for how many seconds a server keeps a connection of Spreading that says nothing.
const patient = 7 * 86400

// Run copies all rows. An error of a server is its own; what was copied before stays.
func (s *Spreading) Run(ctx context.Context) (rows uint64, err error) {
	r := &spreading{Spreading: s, next: s.First, batches: map[placement.NodeGroupID]*spreadBatch{}}
	defer r.close()
	if err := r.open(ctx); err != nil {
		return 0, err
	}
	for {
		source, err := r.first(ctx)
		if err != nil {
			return rows, err
		}
		if source == nil {
			break
		}
		rows++
		if r.Tell != nil && rows%spreadRows == 0 {
			if err := r.Tell(rows); err != nil {
				return rows, err
			}
		}
		if err := r.write(source.take(), rows); err != nil {
			return rows, err
		}
	}
	for _, b := range r.batches {
		if err := b.flush(); err != nil {
			return rows, err
		}
	}
	return rows, ctx.Err()
}

// spreading is a Spreading at work.
type spreading struct {
	*Spreading
	from, to *table
	sources  []*spreadSource
	batches  map[placement.NodeGroupID]*spreadBatch
	place    placer
	order    []merge.Key
	values   []int  // for each column of to that is written, where from has its value; -1: nowhere
	written  []int  // positions in to.columns
	next     uint64 // number
	row      row    // of to
	insert   []byte
}

func (r *spreading) open(ctx context.Context) (err error) {
	flavor := r.Servers[0].Flavor
	if r.from, err = newTable(cmp.Or(r.Copy, r.From), 0, flavor); err != nil {
		return err
	}
	if r.to, err = newTable(r.To, 0, flavor); err != nil {
		return err
	}
	if err := r.orderBy(flavor); err != nil {
		return err
	}
	r.row = make(row, len(r.to.columns))
	came := map[string]int{}
	for i, c := range r.from.columns {
		if to, ok := r.Columns[c.raw]; ok {
			came[to] = i
		}
	}
	if len(came) != len(r.Columns) {
		return fmt.Errorf("table %s has not all columns with values for table %s", r.from.label, r.to.label)
	}
	r.insert = append(r.insert, "INSERT INTO "+r.to.name+" ("...)
	for i, c := range r.to.columns {
		at, ok := came[c.raw]
		switch {
		case ok:
		case c.raw == r.Number:
			at = -1
		default:
			continue
		}
		if len(r.written) > 0 {
			r.insert = append(r.insert, ',')
		}
		r.insert = append(r.insert, c.name...)
		r.written, r.values = append(r.written, i), append(r.values, at)
	}
	r.insert = append(r.insert, ") VALUES "...)
	for _, server := range r.Servers {
		if r.reads(server.Group) {
			c, err := newCopier(ctx, dialPatient, server, 0)
			if err != nil {
				return err
			}
			r.sources = append(r.sources, &spreadSource{r: r, reader: c, group: server.Group})
		}
		w, err := dialPatient(ctx, server)
		if err != nil {
			return err
		}
		r.batches[server.Group] = &spreadBatch{conn: w, insert: r.insert}
	}
	return nil
}

// orderBy sets the order of rows of several servers. It is needed where rows get numbers.
func (r *spreading) orderBy(flavor catalog.Flavor) error {
	for _, i := range r.from.key {
		k, ok := r.from.columns[i].order(flavor)
		if !ok && r.Number != "" && !r.To.HiddenKey && r.From.Kind == catalog.Sharded { // nobody sees which row has which value of that
			return sqlerr.Unsupported(fmt.Sprintf("numbering the rows of table '%s', whose order over several node groups by column '%s' of its key is not known", r.From.Name, r.from.columns[i].raw),
				"add the column without AUTO_INCREMENT, UPDATE the rows to numbers, and make it AUTO_INCREMENT then")
		}
		if !ok {
			r.order = nil
			return nil
		}
		k.Column = i
		r.order = append(r.order, k)
	}
	return nil
}

// dialPatient is dial for a connection that may have nothing to do until all rows of other servers are copied. It holds no locks meanwhile.
func dialPatient(ctx context.Context, server Server) (*conn, error) {
	server.Conn.Init = append(slices.Clone(server.Conn.Init), "SET SESSION wait_timeout = "+strconv.Itoa(patient))
	return dial(ctx, server)
}

// reads reports whether a node group has rows of From that no other has.
func (r *spreading) reads(g placement.NodeGroupID) bool {
	switch r.From.Kind {
	case catalog.Single:
		return g == r.From.Group
	case catalog.Reference:
		return g == r.Servers[0].Group
	}
	return true
}

func (r *spreading) close() {
	for _, s := range r.sources {
		s.reader.conn.close()
	}
	for _, b := range r.batches {
		b.conn.close()
	}
}

// first is the source with the row that comes first of all, nil if there is none left.
func (r *spreading) first(ctx context.Context) (*spreadSource, error) {
	var out *spreadSource
	for _, s := range r.sources {
		if err := s.fill(ctx); err != nil {
			return nil, err
		}
		if len(s.rows) > 0 && (out == nil || merge.Compare(r.order, s.rows[0], out.rows[0]) < 0) {
			out = s
		}
	}
	return out, nil
}

// number is what a row that has value gets in the column that is counted.
func (r *spreading) number(value []byte) []byte {
	v, err := strconv.ParseUint(string(value), 10, 64)
	switch {
	case value == nil, err == nil && v == 0 && !r.ZeroIsValue:
		value = strconv.AppendUint(nil, r.next, 10)
		r.next++
	case err == nil && v >= r.next: // else it is negative, or below those that were given out
		r.next = v + 1
	}
	return value
}

// write adds a row of from, the nth of all, to what is sent to where it belongs.
func (r *spreading) write(from row, n uint64) error {
	for i, at := range r.written {
		c := r.to.columns[at]
		var value []byte
		if v := r.values[i]; v >= 0 {
			value = from[v]
		}
		if c.raw == r.Number {
			value = r.number(value)
		}
		if value == nil && !r.To.Columns[r.To.Column(c.raw)].Nullable {
			return &NullError{Column: c.raw, Row: n}
		}
		r.row[at] = value
	}
	switch r.To.Kind {
	case catalog.Single:
		return r.send(r.To.Group)
	case catalog.Reference:
		for _, server := range r.Servers {
			if err := r.send(server.Group); err != nil {
				return err
			}
		}
		return nil
	}
	p, err := r.place.partition(r.to, r.row)
	if err != nil {
		return err
	}
	return r.send(r.Owner(p))
}

// send adds the row at hand to what is sent to a node group.
func (r *spreading) send(g placement.NodeGroupID) error {
	b := r.batches[g]
	if b == nil {
		return fmt.Errorf("node group %d, where table %s has rows, is none of the cluster's", g, r.to.label)
	}
	if len(b.text) == 0 {
		b.text = append(b.text, b.insert...)
	} else {
		b.text = append(b.text, ',')
	}
	b.text = append(b.text, '(')
	for i, at := range r.written {
		if i > 0 {
			b.text = append(b.text, ',')
		}
		b.text = r.to.columns[at].appendValue(b.text, r.row[at])
	}
	b.text = append(b.text, ')')
	if b.rows++; b.rows < spreadRows && len(b.text) < spreadBytes {
		return nil
	}
	return b.flush()
}

// spreadBatch is an INSERT on its way to a node group.
type spreadBatch struct {
	conn   *conn
	insert []byte // its beginning
	text   []byte
	rows   int
}

func (b *spreadBatch) flush() error {
	if b.rows == 0 {
		return nil
	}
	_, err := b.conn.all(b.text)
	b.text, b.rows = b.text[:0], 0
	return err
}

// spreadSource reads the rows of one server.
type spreadSource struct {
	r      *spreading
	reader *copier
	group  placement.NodeGroupID
	rows   []row
	last   [][]byte
	done   bool
}

// fill reads until there is a row, or no more.
func (s *spreadSource) fill(ctx context.Context) error {
	t := s.r.from
	for len(s.rows) == 0 && !s.done {
		end, err := s.reader.end(t, s.last, spreadRows)
		if err != nil {
			return err
		}
		read, err := s.reader.read(ctx, t, s.last, end, "TRUE")
		if err != nil {
			return err
		}
		if read.cut != nil {
			end = read.cut
		}
		s.last, s.done = end, end == nil
		for _, k := range read.kept {
			row := read.rows[k]
			if t.Kind != catalog.Sharded || s.r.Copy != nil { // which has no copies that a move has left behind
				s.rows = append(s.rows, row)
				continue
			}
			p, err := s.r.place.partition(t, row)
			if err != nil {
				return err
			}
			if s.r.Owner(p) == s.group { // else a copy that a move has left behind
				s.rows = append(s.rows, row)
			}
		}
	}
	return nil
}

// take removes the first row.
func (s *spreadSource) take() row {
	out := s.rows[0]
	s.rows = s.rows[1:]
	return out
}
