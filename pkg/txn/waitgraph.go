package txn

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Waiter is a transaction over several node groups with a statement that has been running for a while, as its process
// shows it to the others.
type Waiter struct {
	ID       ID       `json:"id"`
	Began    int64    `json:"began"` // nanoseconds by its process's clock
	Since    int64    `json:"since"` // when its statement began
	Branches []Branch `json:"branches"`
}

// younger orders waiters by age: the younger one has done less and is ended first. Every process decides alike.
func (w *Waiter) younger(o *Waiter) int {
	if c := cmp.Compare(o.Began, w.Began); c != 0 {
		return c
	}
	return strings.Compare(string(o.ID), string(w.ID))
}

// edge is what a server says: the transaction of one connection waits for a lock of another one's.
type edge struct{ waits, holds Branch }

// deadlock is transactions that wait for each other in a circle.
type deadlock struct {
	victim Waiter
	waits  []Branch // the victim's connections that wait
	key    string   // the same for the same waits of the same transactions
}

// deadlocks finds those that no server sees. A node of the graph is a transaction over several groups with all its branches, or
// the connection of any other one. Every circle lies within a strongly connected component (R. Tarjan 1972); the youngest
// transaction over several groups in one is its victim.
func deadlocks(waiters []Waiter, edges []edge) []deadlock {
	g := waitGraph{names: map[Branch]int{}, low: map[int]int{}, at: map[int]int{}, next: map[int][]int{}}
	for i := range waiters {
		for _, b := range waiters[i].Branches {
			g.names[b] = i
		}
	}
	g.nodes = len(waiters)
	for _, e := range edges {
		from, to := g.node(e.waits), g.node(e.holds)
		if from != to && !slices.Contains(g.next[from], to) {
			g.next[from] = append(g.next[from], to)
		}
	}
	for n := range g.nodes {
		if g.at[n] == 0 {
			g.visit(n)
		}
	}
	var found []deadlock
	for _, c := range g.components {
		var members []*Waiter
		for _, n := range c {
			if n < len(waiters) {
				members = append(members, &waiters[n])
			}
		}
		if len(c) < 2 || len(members) == 0 {
			continue // a server ends its own
		}
		slices.SortFunc(members, (*Waiter).younger)
		d := deadlock{victim: *members[0]}
		for _, e := range edges {
			if slices.Contains(d.victim.Branches, e.waits) && slices.Contains(c, g.node(e.holds)) {
				d.waits = append(d.waits, e.waits)
			}
		}
		for _, m := range members {
			d.key += string(m.ID) + "@" + strconv.FormatInt(m.Since, 10) + " "
		}
		found = append(found, d)
	}
	return found
}

type waitGraph struct {
	names map[Branch]int
	nodes int
	next  map[int][]int

	count      int
	at, low    map[int]int // at is 0 for nodes not visited
	stack      []int
	components [][]int
}

func (g *waitGraph) node(b Branch) int {
	n, ok := g.names[b]
	if !ok {
		n = g.nodes
		g.nodes++
		g.names[b] = n
	}
	return n
}

func (g *waitGraph) visit(n int) {
	g.count++
	g.at[n], g.low[n] = g.count, g.count
	g.stack = append(g.stack, n)
	for _, m := range g.next[n] {
		if g.at[m] == 0 {
			g.visit(m)
			g.low[n] = min(g.low[n], g.low[m])
		} else if slices.Contains(g.stack, m) {
			g.low[n] = min(g.low[n], g.at[m])
		}
	}
	if g.low[n] == g.at[n] {
		i := slices.Index(g.stack, n)
		g.components = append(g.components, slices.Clone(g.stack[i:]))
		g.stack = g.stack[:i]
	}
}
