package history

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func r(key int, list ...int) Op     { return Op{Key: key, List: list} }
func a(key, value int) Op           { return Op{Key: key, Append: value} }
func ok(ops ...Op) Txn              { return Txn{ops, Committed} }
func no(ops ...Op) Txn              { return Txn{ops, Aborted} }
func maybe(ops ...Op) Txn           { return Txn{ops, Unknown} }
func one(n int, ops ...Op) (o []Op) { return inStatement(n, ops) }

func inStatement(n int, ops []Op) []Op {
	for i := range ops {
		ops[i].Statement = n
	}
	return ops
}

// Each anomaly is found where it is, and not where everything is the same but what makes it one.
func TestAnomalies(t *testing.T) {
	for _, test := range []struct {
		name  string
		txns  []Txn
		final map[int][]int
		want  []Kind
	}{
		{"nothing", nil, nil, nil},
		{"one after the other", []Txn{ok(r(1), a(1, 1)), ok(r(1, 1), a(1, 2), r(1, 1, 2)), no(r(1, 1, 2), a(1, 3)), ok(r(1, 1, 2))}, map[int][]int{1: {1, 2}}, nil},

		{"garbage", []Txn{ok(a(1, 1))}, map[int][]int{1: {1, 9}}, []Kind{Garbage}},
		{"a value twice", []Txn{ok(a(1, 1))}, map[int][]int{1: {1, 1}}, []Kind{Garbage}},
		{"orders that differ", []Txn{ok(a(1, 1)), ok(a(1, 2)), ok(r(1, 2))}, map[int][]int{1: {1, 2}}, []Kind{IncompatibleOrder}},
		{"orders that begin alike", []Txn{ok(a(1, 1)), ok(a(1, 2)), ok(r(1, 1))}, map[int][]int{1: {1, 2}}, nil},

		{"lost append", []Txn{ok(a(1, 1)), ok(a(1, 2))}, map[int][]int{1: {2}}, []Kind{LostAppend}},
		{"an append that was rolled back", []Txn{no(a(1, 1)), ok(a(1, 2))}, map[int][]int{1: {2}}, nil},
		{"an append of unknown outcome", []Txn{maybe(a(1, 1)), ok(a(1, 2))}, map[int][]int{1: {2}}, nil},
		{"half of an unknown outcome", []Txn{maybe(a(1, 1), a(2, 1))}, map[int][]int{1: {1}, 2: {}}, []Kind{LostAppend}},

		{"G1a: aborted read", []Txn{no(a(1, 1)), ok(r(1, 1))}, nil, []Kind{G1a}},
		{"G1a: aborted, there in the end", []Txn{no(a(1, 1))}, map[int][]int{1: {1}}, []Kind{G1a}},
		{"read of an unknown outcome", []Txn{maybe(a(1, 1)), ok(r(1, 1))}, map[int][]int{1: {1}}, nil},
		{"aborted reader", []Txn{no(a(1, 1)), no(r(1, 1))}, nil, nil},

		{"G1b: intermediate read", []Txn{ok(a(1, 1), a(1, 2)), ok(r(1, 1))}, map[int][]int{1: {1, 2}}, []Kind{G1b, FracturedRead, GSingle}},
		{"last read", []Txn{ok(a(1, 1), a(1, 2)), ok(r(1, 1, 2))}, map[int][]int{1: {1, 2}}, nil},

		{"G0: writes over writes", []Txn{ok(a(1, 1), a(2, 1)), ok(a(1, 2), a(2, 2))}, map[int][]int{1: {1, 2}, 2: {2, 1}}, []Kind{G0}},
		{"writes in one order", []Txn{ok(a(1, 1), a(2, 1)), ok(a(1, 2), a(2, 2))}, map[int][]int{1: {1, 2}, 2: {1, 2}}, nil},
		{"writes around an aborted one", []Txn{ok(a(1, 1), a(2, 1)), no(a(1, 2), a(2, 2))}, map[int][]int{1: {1}, 2: {1}}, nil},

		{"G1c: circular flow", []Txn{ok(a(1, 1), r(2, 2)), ok(a(2, 2), r(1, 1))}, map[int][]int{1: {1}, 2: {2}}, []Kind{G1c}},
		{"flow in one direction", []Txn{ok(a(1, 1), r(2)), ok(a(2, 2), r(1, 1))}, map[int][]int{1: {1}, 2: {2}}, nil},
		{"G1c of three", []Txn{ok(a(1, 1), r(3, 3)), ok(r(1, 1), a(2, 2)), ok(r(2, 2), a(3, 3))}, map[int][]int{1: {1}, 2: {2}, 3: {3}}, []Kind{G1c}},

		{"G-single: read skew", []Txn{ok(a(1, 1), a(2, 1)), ok(r(1), r(2, 1))}, map[int][]int{1: {1}, 2: {1}}, []Kind{FracturedRead, GSingle}},
		{"G-single by a writer", []Txn{ok(a(1, 1), a(2, 1)), ok(r(1), r(2, 1), a(3, 2))}, map[int][]int{1: {1}, 2: {1}, 3: {2}}, []Kind{GSingle}},
		{"before both", []Txn{ok(a(1, 1), a(2, 1)), ok(r(1), r(2))}, map[int][]int{1: {1}, 2: {1}}, nil},
		{"behind both", []Txn{ok(a(1, 1), a(2, 1)), ok(r(1, 1), r(2, 1))}, map[int][]int{1: {1}, 2: {1}}, nil},
		{"within one query", []Txn{ok(a(1, 1), a(2, 1)), ok(one(1, r(1), r(2, 1))...)}, map[int][]int{1: {1}, 2: {1}}, []Kind{FracturedAnswer, GSingle}},
		{"within one query of a writer", []Txn{ok(a(1, 1), a(2, 1)), ok(append(one(1, r(1), r(2, 1)), a(3, 2))...)}, map[int][]int{1: {1}, 2: {1}, 3: {2}}, []Kind{GSingle}},
		{"skew over a third", []Txn{ok(a(1, 1)), ok(r(1, 1), a(2, 2)), ok(r(1), r(2, 2))}, map[int][]int{1: {1}, 2: {2}}, []Kind{GSingle}},

		{"G2: write skew", []Txn{ok(r(1), r(2), a(1, 1)), ok(r(1), r(2), a(2, 2))}, map[int][]int{1: {1}, 2: {2}}, []Kind{G2}},
		{"no skew", []Txn{ok(r(1), r(2), a(1, 1)), ok(r(1, 1), r(2), a(2, 2))}, map[int][]int{1: {1}, 2: {2}}, nil},
		{"G2 of readers", []Txn{ok(a(1, 1)), ok(a(2, 2)), ok(r(1, 1), r(2)), ok(r(1), r(2, 2))}, map[int][]int{1: {1}, 2: {2}}, []Kind{G2}},

		{"P4: lost update", []Txn{ok(r(1), a(1, 1)), ok(r(1), a(1, 2))}, map[int][]int{1: {1, 2}}, []Kind{GSingle, LostUpdate}},
		{"no update lost", []Txn{ok(r(1), a(1, 1)), ok(r(1, 1), a(1, 2))}, map[int][]int{1: {1, 2}}, nil},
		{"one of them rolled back", []Txn{ok(r(1), a(1, 1)), no(r(1), a(1, 2))}, map[int][]int{1: {1}}, nil},

		{"P2: non-repeatable read", []Txn{ok(a(1, 1)), ok(r(1), r(1, 1))}, map[int][]int{1: {1}}, []Kind{FuzzyRead}},
		{"repeatable read", []Txn{ok(a(1, 1)), ok(r(1, 1), r(1, 1))}, map[int][]int{1: {1}}, nil},
		{"internal: own append not read", []Txn{ok(a(1, 1), r(1))}, map[int][]int{1: {1}}, []Kind{Internal}},
		{"internal: another's append between", []Txn{ok(a(1, 1)), ok(r(1), a(1, 2), r(1, 1, 2))}, map[int][]int{1: {1, 2}}, []Kind{GSingle, Internal}},
		{"own append read", []Txn{ok(a(1, 1)), ok(a(1, 2), r(1, 1, 2))}, map[int][]int{1: {1, 2}}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := slices.Sorted(slices.Values(test.want))
			found := Check(test.txns, test.final)
			require.ElementsMatch(t, want, Kinds(found), "%v", found)
		})
	}
}

// A cycle is described by those who are in it, each once.
func TestCycleIsShortest(t *testing.T) {
	found := Check([]Txn{
		ok(a(1, 1), r(3, 3)), ok(r(1, 1), a(2, 2)), ok(r(2, 2), a(3, 3)), // a circle
		ok(r(1, 1), r(2, 2), r(3, 3)), // behind it
	}, map[int][]int{1: {1}, 2: {2}, 3: {3}})
	require.NotEmpty(t, found)
	for _, f := range found {
		require.ElementsMatch(t, []int{0, 1, 2}, f.Txns, "%s", f)
	}
}

// Large histories without anomalies take no long time and have none.
func TestSerialHistory(t *testing.T) {
	const keys, txns = 20, 5000
	lists := map[int][]int{}
	var all []Txn
	for i := 1; i <= txns; i++ {
		k, other := i%keys, i*7%keys
		all = append(all, ok(r(other, slices.Clone(lists[other])...), a(k, i)))
		lists[k] = append(lists[k], i)
	}
	require.Empty(t, Check(all, lists))
}
