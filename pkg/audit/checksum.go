package audit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/mover"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/pause"
	"skarv/pkg/placement"
	"skarv/pkg/reorg"
	"skarv/pkg/schema"
	"skarv/pkg/topology"
)

// Request says what is to be compared.
type Request struct {
	Database, Table string // empty: all
	RowsPerSecond   int    // that are read of each server; 0: as many as there can be
}

// Compared is the result for one table and one way of comparing.
type Compared struct {
	Table      string // DB.TABLE
	Comparison string
	Between    string
	// Rows are those found right, Differs those that are not, Unverified those that changed all the time.
	Rows, Differs, Unverified uint64
	Differences               []mover.Difference // the first ones
}

// Report is what a checksum found.
type Report struct {
	Tables []Compared
	// Skipped is what was not compared, and why.
	Skipped []string
}

// shownDifferences bounds those of one table and way.
const shownDifferences = 100

// followerPatience is how long a copy may take to have what was just written.
const followerPatience = 30 * time.Second

// Checksum compares what should be equal while clients work:
//
//	placement   every row with the node group it lies on
//	copies      a reference table's copies with each other
//	moving      rows of partitions that move with their copies, once all are copied
//	replica     a primary's rows with those of its replicas
//	index       a global index with its table
//
// Nothing is written but a row of _skarv.checksum while partitions move, which shows that their mover has come by.
type Checksum struct {
	Store    *topology.Store
	Snapshot func() (*catalog.Snapshot, error) // as it is now
	Login    func(*catalog.NodeGroup) mysqlconn.Config
	Servers  schema.Dialer
	Request  Request
	// Progress is told what is compared, and of how many rows so far, of about how many.
	Progress func(what string, rows, estimated uint64)

	snap      *catalog.Snapshot
	report    Report
	rows      uint64
	estimated uint64
	next      time.Time // when more rows may be read
}

// Run compares everything that was asked for. It may be called once.
func (c *Checksum) Run(ctx context.Context) (*Report, error) {
	var err error
	if c.snap, err = c.Snapshot(); err != nil {
		return nil, err
	}
	var tables []*catalog.Table
	for _, t := range c.snap.Tables() {
		if t.Kind == catalog.View || c.Request.Database != "" && t.Database != c.Request.Database || c.Request.Table != "" && t.Name != c.Request.Table {
			continue
		}
		tables = append(tables, t)
	}
	if c.Request.Database != "" && c.snap.Databases[c.Request.Database] == nil {
		return nil, fmt.Errorf("there is no database %s", c.Request.Database)
	}
	if len(tables) == 0 && c.Request.Table != "" {
		return nil, fmt.Errorf("there is no table %s", c.Request.Database+"."+c.Request.Table)
	}
	c.estimate(ctx, tables)
	for _, t := range tables {
		if err := c.table(ctx, t); err != nil {
			return nil, fmt.Errorf("table %s.%s: %w", t.Database, t.Name, err)
		}
	}
	return &c.report, nil
}

func (c *Checksum) skip(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(c.report.Skipped, text) {
		c.report.Skipped = append(c.report.Skipped, text)
	}
}

// estimate asks each server how many rows will be looked at. What cannot be asked counts as nothing.
func (c *Checksum) estimate(ctx context.Context, tables []*catalog.Table) {
	wanted := map[string]uint64{} // how often a row of it is looked at on its own group
	for _, t := range tables {
		for _, x := range stored(t) {
			if t.Kind != catalog.Single {
				wanted[x.Database+"."+x.Name]++
			}
			if t.Kind == catalog.Sharded && len(c.snap.Map.Moving()) > 0 {
				wanted[x.Database+"."+x.Name]++
			}
		}
	}
	for _, g := range c.snap.Groups {
		conn, err := mysqlconn.Dial(ctx, c.Login(g))
		if err != nil {
			continue
		}
		_, rows, err := conn.QueryAll("SELECT table_schema, table_name, COALESCE(table_rows, 0) FROM information_schema.tables WHERE table_type = 'BASE TABLE'", 1<<20)
		conn.Close()
		if err != nil {
			continue
		}
		for _, r := range rows {
			n, _ := strconv.ParseUint(string(r[2]), 10, 64)
			name := string(r[0]) + "." + string(r[1])
			c.estimated += n * (wanted[name] + uint64(len(g.Replicas)))
		}
	}
}

// stored is a table and those of its global indexes.
func stored(t *catalog.Table) []*catalog.Table {
	out := []*catalog.Table{t}
	for _, g := range t.Global {
		out = append(out, g.Entries)
	}
	return out
}

// server is a node of a group as the mover wants it.
func (c *Checksum) server(g *catalog.NodeGroup, n catalog.Node, name string) mover.Server {
	of := *g
	of.Primary = n
	return mover.Server{Group: g.ID, Name: name, Flavor: c.snap.Flavor, Conn: c.Login(&of)}
}

func (c *Checksum) primary(g *catalog.NodeGroup) mover.Server {
	return c.server(g, g.Primary, g.Label())
}

// chunk is called after each stretch of rows.
func (c *Checksum) chunk(what string) func(context.Context, int) error {
	return func(ctx context.Context, rows int) error {
		c.rows += uint64(rows)
		c.Progress(what, c.rows, max(c.estimated, c.rows))
		if c.Request.RowsPerSecond <= 0 || rows == 0 {
			return ctx.Err()
		}
		now := time.Now()
		if c.next.Before(now) {
			c.next = now
		}
		c.next = c.next.Add(time.Duration(float64(rows) / float64(c.Request.RowsPerSecond) * float64(time.Second)))
		return pause.For(ctx, time.Until(c.next))
	}
}

// add puts a result into the report, with others of the same table and way.
func (c *Checksum) add(t *catalog.Table, comparison, between string, r mover.Report) {
	name := t.Database + "." + t.Name
	at := slices.IndexFunc(c.report.Tables, func(x Compared) bool { return x.Table == name && x.Comparison == comparison && x.Between == between })
	if at < 0 {
		at = len(c.report.Tables)
		c.report.Tables = append(c.report.Tables, Compared{Table: name, Comparison: comparison, Between: between})
	}
	x := &c.report.Tables[at]
	x.Rows += uint64(r.Compared)
	x.Differs += uint64(r.Differs)
	x.Unverified += uint64(r.Uncertain)
	x.Differences = append(x.Differences, r.Differing...)
	x.Differences = x.Differences[:min(len(x.Differences), shownDifferences)]
}

func (c *Checksum) table(ctx context.Context, t *catalog.Table) error {
	if len(t.Primary) == 0 {
		c.skip("table %s.%s has no primary key", t.Database, t.Name)
		return nil
	}
	for _, x := range stored(t) {
		if err := c.rowsOf(ctx, x); err != nil {
			return err
		}
	}
	for _, g := range t.Global {
		if err := c.indexOf(ctx, t, g); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf compares the rows of one table, a global index's included.
func (c *Checksum) rowsOf(ctx context.Context, t *catalog.Table) error {
	label := t.Database + "." + t.Name
	if err := mover.Movable(t, c.snap.Flavor); err != nil {
		c.skip("table %s: %v", label, err)
		return nil
	}
	switch t.Kind {
	case catalog.Sharded:
		for _, g := range c.snap.Groups {
			r, err := mover.Stray(ctx, c.primary(g), t, c.mine(g.ID), c.chunk("where the rows of "+label+" lie"))
			if err != nil {
				return err
			}
			c.add(t, "placement", "", r)
		}
		if err := c.moving(ctx, t); err != nil {
			return err
		}
	case catalog.Reference:
		for _, g := range c.snap.Groups[1:] {
			left, right := c.primary(c.snap.Groups[0]), c.primary(g)
			r, err := (&mover.Comparison{Left: left, Right: right, Table: t, Chunk: c.chunk("copies of " + label)}).Run(ctx)
			if err != nil {
				return err
			}
			c.add(t, "copies", left.Name+", "+right.Name, r)
		}
	}
	for _, g := range c.snap.Groups {
		if t.Kind == catalog.Single && t.Group != g.ID {
			continue
		}
		for _, n := range g.Replicas {
			left, right := c.primary(g), c.server(g, n, n.Addr)
			r, err := (&mover.Comparison{
				Left: left, Right: right, Table: t, Chunk: c.chunk("replica " + n.Addr + " of " + label),
				Settle: mover.Settling{Caught: mover.ReplicaCaught(left, right)},
			}).Run(ctx)
			if err != nil {
				c.skip("replica %s of node group %s: %v", n.Addr, left.Name, err)
				continue
			}
			c.add(t, "replica", left.Name+", "+n.Addr, r)
		}
	}
	return nil
}

// mine returns what tells of which partitions a group may have rows now.
func (c *Checksum) mine(id placement.NodeGroupID) func() placement.Set {
	return func() placement.Set {
		snap, err := c.Snapshot()
		if err != nil || snap.Map == nil {
			snap = c.snap
		}
		set := placement.SetOf(snap.Map.Owned(id)...)
		if foreign := snap.Map.Foreign(id); foreign != nil {
			set.Union(foreign)
		}
		return set
	}
}

// moving compares rows of partitions that move with their copies.
func (c *Checksum) moving(ctx context.Context, t *catalog.Table) error {
	before, err := c.Snapshot()
	if err != nil {
		return err
	}
	for _, mv := range before.Map.Moving() {
		rec, err := reorg.Get(ctx, c.Store, mv.Reorg)
		if err != nil {
			c.skip("reorganisation %s: %v", mv.Reorg, err)
			continue
		}
		from, to, id := mv.A, mv.B, rec.OnServers()
		switch rec.State {
		case reorg.CatchUp, reorg.Verify, reorg.Frozen:
		case reorg.Reverse:
			from, to, id = mv.B, mv.A, mover.Back(id)
		default:
			c.skip("rows that reorganisation %s moves, which is at %s", mv.Reorg, rec.State)
			continue
		}
		left, right := before.Group(from), before.Group(to)
		if left == nil || right == nil {
			continue
		}
		a, b := c.primary(left), c.primary(right)
		caught := mover.FollowerCaught(a, b, id)
		label := t.Database + "." + t.Name
		r, err := (&mover.Comparison{
			Left: a, Right: b, Table: t, Partitions: &mv.Partitions, Chunk: c.chunk("rows of " + label + " that move"),
			Settle: mover.Settling{Caught: func(ctx context.Context) error {
				ctx, cancel := context.WithTimeout(ctx, followerPatience)
				defer cancel()
				return caught(ctx)
			}},
		}).Run(ctx)
		now, serr := c.Snapshot()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case serr != nil || now.Map.Epoch() != before.Map.Epoch():
			c.skip("rows that reorganisation %s moves: it went on meanwhile", mv.Reorg)
		case err != nil:
			c.skip("rows of %s that reorganisation %s moves: %v", label, mv.Reorg, err)
		default:
			c.add(t, "moving", a.Name+", "+b.Name, r)
		}
	}
	return nil
}

// indexOf compares a global index with its table.
func (c *Checksum) indexOf(ctx context.Context, t *catalog.Table, g *catalog.GlobalIndex) error {
	snap, err := c.Snapshot()
	if err != nil {
		return err
	}
	label := fmt.Sprintf("global index of key %s of %s.%s", g.Name, t.Database, t.Name)
	if g.Building || len(snap.Map.Moving()) > 0 || snap.Map.AnyForeign() {
		c.skip("%s: partitions move, or it is being built", label)
		return nil
	}
	c.Progress(label, c.rows, max(c.estimated, c.rows))
	x := &IndexCheck{Snap: snap, Servers: c.Servers, Index: g, Lenient: true}
	if err := x.Run(ctx); err != nil {
		return err
	}
	if now, err := c.Snapshot(); err != nil || now.Map.Epoch() != snap.Map.Epoch() {
		c.skip("%s: partitions were moved meanwhile", label)
		return nil
	}
	r := mover.Report{Compared: int64(x.Rows - x.Missing - x.Wrong - x.Duplicates)}
	for _, k := range []struct {
		n    uint64
		what string
	}{
		{x.Missing, "rows without an entry"}, {x.Wrong, "entries that lead elsewhere"}, {x.Stale, "entries without a row"}, {x.Duplicates, "rows whose value another one has"},
	} {
		if k.n > 0 {
			r.Differs += int64(k.n)
			r.Differing = append(r.Differing, mover.Difference{Key: g.Name, What: fmt.Sprintf("%d %s: skarvctl index check --repair", k.n, k.what), Partition: -1})
		}
	}
	c.add(t, "index "+g.Name, "", r)
	return nil
}
