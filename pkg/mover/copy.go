package mover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// copying is how far one table is copied.
type copying struct {
	table *table
	chunk uint64   // the last one read
	last  [][]byte // the key it ended with; nil: none
	done  bool
	rows  int64
	bytes int64
}

// chunk is a stretch of a table being copied.
type chunk struct {
	table *table
	n     uint64
	last  string
	done  bool
	// rows and bytes are those of the table up to here, own the bytes of the chunk.
	rows, bytes, own int64
}

// statement notes on a target that it has the chunk.
func (c *chunk) statement(m *Mover) []byte {
	done := 0
	if c.done {
		done = 1
	}
	return fmt.Appendf(nil, "REPLACE INTO `_skarv`.`reorg_copy` VALUES (%s,%s,%d,%s,%d,%d,%d)", m.values(), quote(c.table.label), c.n,
		quote(c.last), done, c.rows, c.bytes)
}

// minChunk is the fewest rows a slow chunk is cut down to.
const minChunk = 50

// chunkTime is how long a chunk should take: shorter ones grow, longer ones shrink.
const chunkTime = 150 * time.Millisecond

// outstanding is how many chunks may be under way at once.
const outstanding = 3

// copier reads the source's tables in chunks.
type copier struct {
	a     *attempt // nil: it only reads
	from  Server
	dial  func(context.Context, Server) (*conn, error)
	conn  *conn
	limit int // rows of a chunk
	bytes int // after as many it stops
}

// newCopier connects to a server to read there; bytes 0 is the default of Config.
func newCopier(ctx context.Context, dial func(context.Context, Server) (*conn, error), from Server, bytes int) (*copier, error) {
	c, err := dial(ctx, from)
	if err != nil {
		return nil, err
	}
	if bytes == 0 {
		bytes = defaultChunkBytes
	}
	return &copier{from: from, dial: dial, conn: c, bytes: bytes}, nil
}

// copyAll copies what is not copied yet.
func (a *attempt) copyAll(ctx context.Context) error {
	m := a.m
	if err := a.loadCopies(ctx); err != nil {
		return err
	}
	if err := m.estimate(ctx); err != nil {
		return err
	}
	c, err := newCopier(ctx, m.dial, m.move.Source, m.cfg.ChunkBytes)
	if err != nil {
		return err
	}
	c.a, c.limit = a, min(m.cfg.ChunkRows, 500)
	defer func() { c.conn.close() }()
	for i, t := range a.copies {
		m.update(func() { m.is.TablesDone = i })
		if t.done {
			continue
		}
		m.update(func() { m.is.Phase, m.is.Table = Copying, t.table.label })
		if err := c.copyTable(ctx, t); err != nil {
			return err
		}
	}
	m.cfg.Hit("copy.done")
	m.setCopied()
	return nil
}

// loadCopies reads how far the tables are copied on the target that has least of them.
func (a *attempt) loadCopies(ctx context.Context) error {
	m := a.m
	for _, t := range m.tables {
		a.copies = append(a.copies, &copying{table: t})
	}
	for i, g := range m.groups {
		err := m.once(ctx, m.move.Targets[g], func(c *conn) error {
			for _, t := range a.copies {
				_, rows, err := c.QueryAll("SELECT chunk, last, done, row_count, byte_count FROM `_skarv`.`reorg_copy` WHERE "+m.mine()+
					" AND tbl="+quote(t.table.label), 1)
				if err != nil {
					return err
				}
				if len(rows) == 0 {
					*t = copying{table: t.table}
					continue
				}
				r := rows[0]
				chunk, _ := strconv.ParseUint(string(r[0]), 10, 64)
				if i > 0 && chunk >= t.chunk {
					continue
				}
				t.chunk, t.done = chunk, string(r[2]) == "1"
				t.rows, _ = strconv.ParseInt(string(r[3]), 10, 64)
				t.bytes, _ = strconv.ParseInt(string(r[4]), 10, 64)
				if t.last, err = decodeBounds(string(r[1]), len(t.table.key)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	m.update(func() {
		m.is.Rows, m.is.Bytes = 0, 0
		for _, t := range a.copies {
			m.is.Rows += t.rows
			m.is.Bytes += t.bytes
		}
		m.start, m.began = m.is.Rows, time.Now()
	})
	return nil
}

// estimate asks the source how much there is.
func (m *Mover) estimate(ctx context.Context) error {
	var rows, bytes float64
	err := m.once(ctx, m.move.Source, func(c *conn) error {
		for _, t := range m.tables {
			_, r, err := c.QueryAll("SELECT IFNULL(table_rows,0), IFNULL(data_length,0) FROM information_schema.tables WHERE table_schema="+
				quote(t.Database)+" AND table_name="+quote(t.Name), 1)
			if err != nil {
				return err
			}
			if len(r) == 1 {
				n, _ := strconv.ParseFloat(string(r[0][0]), 64)
				b, _ := strconv.ParseFloat(string(r[0][1]), 64)
				rows, bytes = rows+n, bytes+b
			}
		}
		return nil
	})
	owned := m.move.Owned
	if owned == 0 {
		owned = 3840
	}
	share := float64(len(m.move.Partitions)) / float64(owned)
	m.update(func() { m.is.RowsEstimated, m.is.BytesEstimated = int64(rows*share), int64(bytes*share) })
	return err
}

// copyTable copies one table, a few chunks ahead of what the targets have.
func (c *copier) copyTable(ctx context.Context, t *copying) error {
	var under []*window
	for !t.done || len(under) > 0 {
		if t.done || len(under) == outstanding {
			w := under[0]
			under = under[1:]
			if err := c.a.await(ctx, w); err != nil {
				return err
			}
			c.a.m.update(func() {
				c.a.m.is.Rows += int64(len(w.rows))
				c.a.m.is.Bytes += w.apply.own
			})
			continue
		}
		if err := c.a.m.throttle(ctx); err != nil {
			return err
		}
		w, err := c.copyChunk(ctx, t)
		if err != nil {
			return err
		}
		under = append(under, w)
	}
	return nil
}

// copyChunk reads the next chunk between two watermarks and leaves it to the dispatcher.
func (c *copier) copyChunk(ctx context.Context, t *copying) (*window, error) {
	m := c.a.m
	began := time.Now()
	end, err := c.end(t.table, t.last, c.limit)
	if err != nil {
		return nil, err
	}
	found := time.Now()
	w, err := c.a.low(ctx, c.conn, func() *window { return &window{table: t.table, apply: &chunk{table: t.table}} })
	if err != nil {
		return nil, err
	}
	began = began.Add(time.Since(found)) // waits are none of the chunk's own time
	m.cfg.Hit("copy.low")
	read, err := c.read(ctx, t.table, t.last, end, m.partitionsOf(t.table))
	if err != nil {
		return nil, err
	}
	if read.cut != nil {
		end = read.cut
	}
	t.chunk++
	t.last, t.done = end, end == nil
	t.rows += int64(len(read.rows))
	t.bytes += int64(read.bytes)
	*w.apply = chunk{table: t.table, n: t.chunk, last: encodeBounds(end), done: t.done, rows: t.rows, bytes: t.bytes, own: int64(read.bytes)}
	c.a.setRows(w, read.rows, read.kept)
	m.cfg.Hit("copy.read")
	if err := c.a.mark(c.conn, w.seq, "H"); err != nil {
		return nil, err
	}
	m.cfg.Hit("copy.high")
	switch took := time.Since(began); {
	case took > 2*chunkTime || read.cut != nil:
		c.limit = max(c.limit/2, minChunk)
	case took < chunkTime:
		c.limit = min(c.limit+c.limit/2, m.cfg.ChunkRows)
	}
	return w, nil
}

// end finds the key a chunk ends with: that of the limit's row from last on, of whatever partition. nil: the table ends before.
func (c *copier) end(t *table, last [][]byte, limit int) ([][]byte, error) {
	q := "SELECT " + t.keyList(true) + " FROM " + t.name + " FORCE INDEX (" + sqltypes.QuoteName(t.index) + ")"
	if last != nil {
		q += " WHERE " + string(t.appendOrder(nil, last, false))
	}
	q += " ORDER BY " + t.keyList(false) + " LIMIT " + strconv.Itoa(limit-1) + ",1"
	_, rows, err := c.conn.QueryAll(q, 1)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// readRows are the rows of a chunk.
type readRows struct {
	rows  map[string]row
	kept  []string
	bytes int
	cut   [][]byte // the key after which reading stopped, if it did before the end
}

// read reads the rows behind last up to end that meet a condition.
func (c *copier) read(ctx context.Context, t *table, last, end [][]byte, condition string) (readRows, error) {
	q := "SELECT " + t.reads + " FROM " + t.name + " FORCE INDEX (" + sqltypes.QuoteName(t.index) + ") WHERE " + condition
	if last != nil {
		q += " AND " + string(t.appendOrder(nil, last, false))
	}
	if end != nil {
		q += " AND " + string(t.appendOrder(nil, end, true))
	}
	q += " ORDER BY " + t.keyList(false)
	return c.rows(ctx, t, q)
}

// rows runs a query for whole rows of t in the order of its key. When they are more than a chunk may hold, it stops, which costs the
// connection.
func (c *copier) rows(ctx context.Context, t *table, q string) (readRows, error) {
	out := readRows{rows: map[string]row{}}
	if err := c.conn.Send(wire.ComQuery, []byte(q)); err != nil {
		return out, err
	}
	if _, err := c.conn.ReadHead(); err != nil {
		return out, err
	}
	var key []byte
	for {
		payload, err := c.conn.ReadRow()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if out.bytes > c.bytes && len(out.kept) > 0 {
			out.cut = t.bounds(out.rows[out.kept[len(out.kept)-1]])
			c.conn.close()
			next, err := c.dial(ctx, c.from)
			if err != nil {
				return out, err
			}
			c.conn = next
			return out, nil
		}
		fields, err := wire.ParseTextRow(append([]byte(nil), payload...), make([][]byte, 0, len(t.columns)))
		if err != nil || len(fields) != len(t.columns) {
			return out, fmt.Errorf("table %s: the server sent a damaged row", t.label)
		}
		key = t.keyOf(key[:0], fields)
		out.rows[string(key)] = fields
		out.kept = append(out.kept, string(key))
		out.bytes += len(payload)
	}
}
