package plan

import (
	"fmt"
	"math"
	"slices"

	"skarv/pkg/catalog"
)

// Size is how many rows a table has, as far as that is known.
type Size func(t *catalog.Table) (rows float64, known bool)

// Values is how many different values a column has, 0 where that is not known.
type Values func(t *catalog.Table, column int) float64

// Circumstances are what the cost of a Choice's ways depends on, beside the plan.
type Circumstances struct {
	Size     Size
	Distinct Values
	Groups   int // that a broadcast goes to
	// Limit is how many rows the query's LIMIT wants, those left out by OFFSET included.
	Limit float64
}

// MaxKeys is how many values of a join a copy is read by. With more all its rows are read.
const MaxKeys = 2000

// Costs are counted in rows written into a temporary table: nearly all of the time goes there. Making a table on one node
// group takes about as long as writing tableCost rows.
const tableCost = 60

// maxFirst bounds the rows a First is tried with.
const maxFirst = 20000

// Way is one of a Choice's ways, with what it is expected to cost.
type Way struct {
	Node Node // *Broadcast or *Workspace
	Rows float64
	Cost float64
	// First is how many rows of its first copy a workspace with First should begin with.
	First uint64
	// Queries: Node is the workspace with the rows of queries.
	Queries bool
}

// Ways are the ways of n, the workspace that can do everything last. known is false where a table's size is not known.
func (n *Choice) Ways(c *Circumstances) (ways []Way, known bool) {
	known = true
	for _, b := range n.Broadcasts {
		rows, ok := c.copied(b.Copies, 0)
		known = known && ok
		ways = append(ways, Way{Node: b, Rows: rows, Cost: (rows + tableCost*float64(len(b.Copies))) * float64(c.Groups)})
	}
	if w := n.Queries; w != nil {
		rows, ok := c.copied(w.Copies, 0)
		known = known && ok
		ways = append(ways, Way{Node: w, Rows: rows, Cost: rows + tableCost*float64(len(w.Copies)), Queries: true})
	}
	if w := n.First; w != nil && c.Limit < maxFirst {
		first := w.probe(c)
		rows, ok := c.copied(w.Copies, float64(first))
		known = known && ok
		ways = append(ways, Way{Node: w, Rows: rows, Cost: rows + tableCost*float64(len(w.Copies)), First: first})
	}
	w := n.Workspace
	rows, ok := c.copied(w.Copies, 0)
	return append(ways, Way{Node: w, Rows: rows, Cost: rows + tableCost*float64(len(w.Copies))}), known && ok
}

// Order lists the ways of n that may allows, which must allow the workspace that can do everything, the one to take first. That is
// the cheapest of those that prefer names, or that workspace if there are none. Without prefer it is the cheapest of all, and the
// workspace where sizes are not known or nothing is cheaper.
func (n *Choice) Order(c *Circumstances, prefer, may func(Way) bool) []Way {
	ways, known := n.Ways(c)
	ways = slices.DeleteFunc(ways, func(w Way) bool { return !may(w) })
	first, last := -1, len(ways)-1
	if prefer == nil {
		first, prefer = last, func(Way) bool { return known }
	}
	for i, w := range ways {
		if prefer(w) && (first < 0 || w.Cost < ways[first].Cost) {
			first = i
		}
	}
	if first < 0 {
		first = last
	}
	best := ways[first]
	return slices.Insert(slices.Delete(ways, first, first+1), 0, best)
}

// probe is how many rows of the first copy should do for the LIMIT: twice as many as expected, for estimates are rough.
func (n *Workspace) probe(c *Circumstances) uint64 {
	rows := 2*c.Limit + 100
	for i := 1; i < len(n.Copies); i++ {
		t := &n.Copies[i]
		if t.Computed() || len(t.Joins) == 0 {
			continue
		}
		all, _ := c.Size(t.Table)
		rows /= max(c.share(t), 1/max(1, all))
	}
	return uint64(math.Min(rows, maxFirst))
}

// String is what EXPLAIN shows of the way.
func (w Way) String() string {
	name := "workspace"
	if b, ok := w.Node.(*Broadcast); ok {
		name = "broadcast " + b.Names()
	} else if w.Queries {
		name = "workspace of queries"
	} else if w.First > 0 {
		name = fmt.Sprintf("workspace of the first %d rows", w.First)
	}
	return fmt.Sprintf("%s: about %.0f rows to copy, cost %.0f", name, w.Rows, w.Cost)
}

// equalShare is the part of a table's rows that have one value in a column of which nothing is known.
const equalShare = 0.1

// boundShare is the part of a table's rows that is greater, or less, than a value that is not known yet.
const boundShare = 0.3

// share is the part of a table's rows that its conditions are expected to let through.
func (c *Circumstances) share(t *Copy) float64 {
	share := t.Share
	for _, column := range t.Equal {
		if n := c.Distinct(t.Table, column); n > 0 {
			share /= n
		} else {
			share *= equalShare
		}
	}
	return share
}

// copied estimates the rows of copies that are made one after the other; first, not 0, is how many the first one gets.
func (c *Circumstances) copied(copies []Copy, first float64) (total float64, known bool) {
	rows := make([]float64, len(copies))
	known = true
	for i := range copies {
		t := &copies[i]
		if t.View != nil {
			n, ok := c.copied(t.View.Copies, 0)
			rows[i], known = n, known && ok
			total += n
			continue
		}
		if q := t.Query; q != nil {
			all, ok := c.Size(q.Of)
			rows[i], known = max(1, all*q.Share), known && ok
			total += rows[i]
			continue
		}
		all, ok := c.Size(t.Table)
		known = known && ok
		n := max(1, all*c.share(t))
		if i == 0 && first > 0 {
			n = min(n, first)
		}
		for _, j := range t.Joins {
			if j.Op != "" {
				n = max(1, n*boundShare)
				continue
			}
			if rows[j.From] > MaxKeys {
				continue
			}
			// A value has all/distinct rows; as many as rows of the other table meet one of its values, if that is not known.
			each := c.Distinct(t.Table, j.Column)
			if from := &copies[j.From]; each == 0 && from.Query == nil {
				each, _ = c.Size(from.Table)
			} else if each == 0 {
				each = all * equalShare
			}
			n = min(n, rows[j.From]*max(1, all/max(1, each)))
		}
		if t.Different && len(t.Columns) == 1 {
			if values := c.Distinct(t.Table, t.Columns[0]); values > 0 {
				n = min(n, values*float64(max(1, c.Groups))) // each group gives its own
			}
		}
		rows[i] = n
		total += n
	}
	return total, known
}
