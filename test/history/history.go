// Package history looks for anomalies in what clients of a database have done and seen. Transactions append values to
// lists and read them; no value is appended twice to a list. A list shows the order of all that was appended to it before, so
// that the orders of versions, and with them who depended on whom, can be told from what was read (K. Kingsbury and P. Alvaro,
// "Elle: Inferring Isolation Anomalies from Experimental Observations", VLDB 2020; the names of anomalies are those of
// A. Adya's thesis, 1999). The package knows no database.
package history

import (
	"fmt"
	"slices"
)

// Op is one operation of a transaction: a read of a list, or an append to it.
type Op struct {
	Key int
	// Append is the value appended, 0 for a read.
	Append int
	// List is what was read.
	List []int
	// Statement is the same for reads by one statement of a transaction, 0 for one of its own.
	Statement int
}

// Outcome is how a transaction ended, as its client knows it.
type Outcome uint8

// The outcomes.
const (
	Committed Outcome = iota + 1
	Aborted
	Unknown // it counts as committed if what it has appended is there in the end
)

// Txn is one transaction.
type Txn struct {
	Ops     []Op
	Outcome Outcome
}

// Kind is a kind of anomaly.
type Kind string

// The kinds of anomalies.
const (
	Garbage           Kind = "a value that nobody appended, or a value twice"
	IncompatibleOrder Kind = "two reads of a list of which neither begins with the other"
	LostAppend        Kind = "lost append"               // of a committed transaction, missing in the end
	G0                Kind = "G0, dirty write"           // a cycle of writes over writes
	G1a               Kind = "G1a, aborted read"         // a value of a transaction that was rolled back
	G1b               Kind = "G1b, intermediate read"    // a value that its transaction followed by another
	G1c               Kind = "G1c, circular flow"        // a cycle of writes and reads
	GSingle           Kind = "G-single, read skew"       // a cycle with one read of what another one then overwrote
	G2                Kind = "G2-item, write skew"       // a cycle with several
	LostUpdate        Kind = "P4, lost update"           // two appended to what both had read alike
	FuzzyRead         Kind = "P2, non-repeatable read"   // a transaction read a list twice and saw another one
	Internal          Kind = "internal"                  // a transaction read something else than what it had read, and its own appends
	FracturedRead     Kind = "fractured read"            // a transaction that only reads saw one append of another, and not the other
	FracturedAnswer   Kind = "fractured read, one query" // the same within one statement
)

// Anomaly is something found.
type Anomaly struct {
	Kind Kind
	// Txns are the transactions that show it, by their positions in the history; a cycle's in its order.
	Txns []int
	Why  string
}

func (a Anomaly) String() string {
	return fmt.Sprintf("%s: %s (transactions %v)", a.Kind, a.Why, a.Txns)
}

// maxOfKind bounds how many anomalies of one kind are described.
const maxOfKind = 5

// checker is the work on one history.
type checker struct {
	txns    []Txn
	final   map[int][]int
	writer  map[element]int // transaction
	counts  []bool          // is committed
	order   map[int][]int   // of the versions of each list
	found   []Anomaly
	ofKind  map[Kind]int
	graph   graph
	indices map[element]int // positions in order
}

// element is one value of one list.
type element struct{ key, value int }

// Check returns what is wrong with a history; final is what every list was after all transactions had ended.
func Check(txns []Txn, final map[int][]int) []Anomaly {
	c := &checker{txns: txns, final: final, writer: map[element]int{}, order: map[int][]int{}, ofKind: map[Kind]int{}, indices: map[element]int{}}
	c.writers()
	c.committed()
	c.versions()
	for i := range txns {
		if c.counts[i] {
			c.reads(i)
			c.own(i)
			c.fractured(i)
		}
	}
	c.lostUpdates()
	c.dependencies()
	c.cycles()
	return c.found
}

// Kinds are the kinds among anomalies, each once.
func Kinds(list []Anomaly) []Kind {
	var out []Kind
	for _, a := range list {
		if !slices.Contains(out, a.Kind) {
			out = append(out, a.Kind)
		}
	}
	slices.Sort(out)
	return out
}

func (c *checker) report(kind Kind, txns []int, format string, args ...any) {
	if c.ofKind[kind]++; c.ofKind[kind] <= maxOfKind {
		c.found = append(c.found, Anomaly{kind, txns, fmt.Sprintf(format, args...)})
	}
}

func (c *checker) writers() {
	for i := range c.txns {
		for _, op := range c.txns[i].Ops {
			if op.Append == 0 {
				continue
			}
			e := element{op.Key, op.Append}
			if other, twice := c.writer[e]; twice {
				c.report(Garbage, []int{other, i}, "%d is appended twice to list %d", op.Append, op.Key)
			}
			c.writer[e] = i
		}
	}
}

// committed finds out which transactions took place.
func (c *checker) committed() {
	c.counts = make([]bool, len(c.txns))
	for i := range c.txns {
		c.counts[i] = c.txns[i].Outcome == Committed
	}
	for key, list := range c.final {
		for _, v := range list {
			w, ok := c.writer[element{key, v}]
			switch {
			case !ok:
			case c.txns[w].Outcome == Unknown:
				c.counts[w] = true
			case c.txns[w].Outcome == Aborted:
				c.report(G1a, []int{w}, "%d of a transaction that was rolled back is in list %d in the end", v, key)
			}
		}
	}
	for i := range c.txns {
		for _, op := range c.txns[i].Ops {
			if op.Append != 0 && c.counts[i] && !slices.Contains(c.final[op.Key], op.Append) {
				c.report(LostAppend, []int{i}, "%d is missing in list %d", op.Append, op.Key)
			}
		}
	}
}

// versions takes the order of each list's versions from the longest list that was read.
func (c *checker) versions() {
	for key, list := range c.final {
		c.order[key] = list
	}
	for i := range c.txns {
		for _, op := range c.txns[i].Ops {
			if c.counts[i] && op.Append == 0 && len(op.List) > len(c.order[op.Key]) {
				c.order[op.Key] = op.List
			}
		}
	}
	for key, list := range c.order {
		for at, v := range list {
			e := element{key, v}
			if _, known := c.writer[e]; !known {
				c.report(Garbage, nil, "nobody has appended %d to list %d", v, key)
			}
			if _, twice := c.indices[e]; twice {
				c.report(Garbage, nil, "%d is twice in list %d", v, key)
			}
			c.indices[e] = at
		}
	}
}

// reads looks at each of a transaction's reads by itself.
func (c *checker) reads(i int) {
	for _, op := range c.txns[i].Ops {
		if op.Append != 0 {
			continue
		}
		order := c.order[op.Key]
		if !slices.Equal(op.List, order[:len(op.List)]) {
			c.report(IncompatibleOrder, []int{i}, "list %d was read as %v, and once was %v", op.Key, op.List, order)
		}
		for at, v := range op.List {
			w, ok := c.writer[element{op.Key, v}]
			if !ok || w == i {
				continue
			}
			if c.txns[w].Outcome == Aborted {
				c.report(G1a, []int{w, i}, "%d of a transaction that was rolled back was read in list %d", v, op.Key)
			}
			if at == len(op.List)-1 && c.followed(w, element{op.Key, v}) {
				c.report(G1b, []int{w, i}, "list %d was read with %d as its last, which was followed by another in the same transaction", op.Key, v)
			}
		}
	}
}

// followed reports whether w appends more to the list after e.
func (c *checker) followed(w int, e element) bool {
	after := false
	for _, op := range c.txns[w].Ops {
		if op.Key == e.key && op.Append != 0 {
			if after {
				return true
			}
			after = op.Append == e.value
		}
	}
	return false
}

// own compares a transaction's reads with what it has read and appended before.
func (c *checker) own(i int) {
	type known struct {
		list    []int
		read    bool // list is what was read
		appends []int
	}
	seen := map[int]*known{}
	for _, op := range c.txns[i].Ops {
		k := seen[op.Key]
		if k == nil {
			k = &known{}
			seen[op.Key] = k
		}
		if op.Append != 0 {
			k.appends = append(k.appends, op.Append)
			continue
		}
		switch expected := slices.Concat(k.list, k.appends); {
		case k.read && len(k.appends) == 0 && !slices.Equal(op.List, k.list):
			c.report(FuzzyRead, []int{i}, "list %d was read as %v, then as %v", op.Key, k.list, op.List)
		case k.read && len(k.appends) > 0 && !slices.Equal(op.List, expected):
			c.report(Internal, []int{i}, "list %d was read as %v by who knew it as %v", op.Key, op.List, expected)
		case !k.read && len(op.List) < len(k.appends) || !k.read && !slices.Equal(op.List[len(op.List)-len(k.appends):], k.appends):
			c.report(Internal, []int{i}, "list %d was read as %v by who had appended %v", op.Key, op.List, k.appends)
		}
		k.list, k.read, k.appends = op.List, true, nil
	}
}

// fractured looks for other transactions of which a transaction that appends nothing has seen a part. Who appends sees the present
// of what it has appended to, beside its snapshot: such cycles are G-single.
func (c *checker) fractured(i int) {
	ops := c.txns[i].Ops
	if slices.ContainsFunc(ops, func(op Op) bool { return op.Append != 0 }) {
		return
	}
	for at, seen := range ops {
		for _, v := range seen.List {
			w, ok := c.writer[element{seen.Key, v}]
			if !ok || w == i {
				continue
			}
			for n, missed := range ops {
				one := seen.Statement != 0 && seen.Statement == missed.Statement
				if missed.Key == seen.Key && n != at {
					continue
				}
				for _, other := range c.txns[w].Ops {
					if other.Append == 0 || other.Key != missed.Key || slices.Contains(missed.List, other.Append) {
						continue
					}
					kind := FracturedRead
					if one {
						kind = FracturedAnswer
					}
					c.report(kind, []int{w, i}, "%d was seen in list %d, and %d of the same transaction was not in list %d", v, seen.Key, other.Append, other.Key)
				}
			}
		}
	}
}

// external calls f with the first read of each list before the transaction appended to it.
func (c *checker) external(i int, f func(op Op, appends bool)) {
	ops := c.txns[i].Ops
	done := map[int]bool{}
	for at, op := range ops {
		if op.Append == 0 && !done[op.Key] {
			f(op, slices.ContainsFunc(ops[at:], func(o Op) bool { return o.Key == op.Key && o.Append != 0 }))
		}
		done[op.Key] = true
	}
}

// lostUpdates looks for transactions that appended to what they had read alike.
func (c *checker) lostUpdates() {
	type version struct{ key, length int }
	by := map[version][]int{}
	for i := range c.txns {
		if !c.counts[i] {
			continue
		}
		c.external(i, func(op Op, appends bool) {
			if appends {
				v := version{op.Key, len(op.List)}
				by[v] = append(by[v], i)
			}
		})
	}
	for v, list := range by {
		if len(list) > 1 {
			c.report(LostUpdate, list, "all read the first %d values of list %d and then appended to it", v.length, v.key)
		}
	}
}
