package history

import (
	"fmt"
	"slices"
	"strings"
)

// relation is why one transaction comes after another, a set of bits.
type relation uint8

const (
	ww relation = 1 << iota // it appended behind the other's value
	wr                      // it read the other's value
	rw                      // it appended behind what the other had read
)

func (r relation) String() string {
	var out []string
	for bit, name := range map[relation]string{ww: "ww", wr: "wr", rw: "rw"} {
		if r&bit != 0 {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "+")
}

// graph is the transactions that depend on each other.
type graph []map[int]relation

func (g graph) add(from, to int, r relation) {
	if from == to {
		return
	}
	if g[from] == nil {
		g[from] = map[int]relation{}
	}
	g[from][to] |= r
}

// dependencies builds the graph of committed transactions.
func (c *checker) dependencies() {
	c.graph = make(graph, len(c.txns))
	writer := func(key, at int) int {
		order := c.order[key]
		if at < 0 || at >= len(order) {
			return -1
		}
		w, ok := c.writer[element{key, order[at]}]
		if !ok || !c.counts[w] {
			return -1
		}
		return w
	}
	for key, order := range c.order {
		for at := range order {
			if a, b := writer(key, at), writer(key, at+1); a >= 0 && b >= 0 {
				c.graph.add(a, b, ww)
			}
		}
	}
	for i := range c.txns {
		if !c.counts[i] {
			continue
		}
		c.external(i, func(op Op, _ bool) {
			if w := writer(op.Key, len(op.List)-1); w >= 0 {
				c.graph.add(w, i, wr)
			}
			if w := writer(op.Key, len(op.List)); w >= 0 {
				c.graph.add(i, w, rw)
			}
		})
	}
}

// cycles looks for transactions each of which comes after the others.
func (c *checker) cycles() {
	for _, part := range c.graph.components() {
		in := map[int]bool{}
		for _, n := range part {
			in[n] = true
		}
		slices.Sort(part)
		for _, from := range part {
			for to, r := range c.graph[from] {
				if !in[to] {
					continue
				}
				if r&ww != 0 {
					c.cycle(G0, from, to, ww, in)
				}
				if r&wr != 0 {
					c.cycle(G1c, from, to, ww|wr, in)
				}
				if r&rw != 0 && r&(ww|wr) == 0 && !c.cycle(GSingle, from, to, ww|wr, in) {
					c.cycle(G2, from, to, ww|wr|rw, in)
				}
			}
		}
	}
}

// cycle reports the cycle of the edge from one transaction to another, and a shortest path back over edges of the given
// relations, if there is one.
func (c *checker) cycle(kind Kind, from, to int, over relation, in map[int]bool) bool {
	before := map[int]int{to: -1}
	queue := []int{to}
	for len(queue) > 0 && !has(before, from) {
		n := queue[0]
		queue = queue[1:]
		for next, r := range c.graph[n] {
			if in[next] && r&over != 0 && !has(before, next) {
				before[next] = n
				queue = append(queue, next)
			}
		}
	}
	if !has(before, from) {
		return false
	}
	if c.ofKind[kind] >= maxOfKind {
		c.ofKind[kind]++
		return true
	}
	var path []int
	for n := from; n != -1; n = before[n] {
		path = append(path, n)
	}
	slices.Reverse(path) // to ... from
	path = append([]int{from}, path[:len(path)-1]...)
	var text []string
	for i, n := range path {
		next := path[(i+1)%len(path)]
		text = append(text, fmt.Sprintf("%d -%s-> %d", n, c.graph[n][next], next))
	}
	c.report(kind, path, "%s", strings.Join(text, ", "))
	return true
}

func has(m map[int]int, n int) bool {
	_, ok := m[n]
	return ok
}

// components are the strongly connected components of more than one transaction (R. Tarjan 1972), without recursion.
func (g graph) components() (out [][]int) {
	next := make([][]int, len(g))
	for n := range g {
		for m := range g[n] {
			next[n] = append(next[n], m)
		}
	}
	at, low := make([]int, len(g)), make([]int, len(g))
	on := make([]bool, len(g))
	var stack []int
	count := 0
	for root := range g {
		if at[root] != 0 {
			continue
		}
		work := []int{root}
		for len(work) > 0 {
			n := work[len(work)-1]
			if at[n] == 0 {
				count++
				at[n], low[n], on[n] = count, count, true
				stack = append(stack, n)
			}
			if len(next[n]) > 0 {
				m := next[n][0]
				next[n] = next[n][1:]
				if at[m] == 0 {
					work = append(work, m)
				} else if on[m] {
					low[n] = min(low[n], at[m])
				}
				continue
			}
			work = work[:len(work)-1]
			if len(work) > 0 {
				up := work[len(work)-1]
				low[up] = min(low[up], low[n])
			}
			if low[n] != at[n] {
				continue
			}
			i := slices.Index(stack, n)
			part := slices.Clone(stack[i:])
			stack = stack[:i]
			for _, m := range part {
				on[m] = false
			}
			if len(part) > 1 {
				out = append(out, part)
			}
		}
	}
	return out
}
