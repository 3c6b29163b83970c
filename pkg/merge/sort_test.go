package merge

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
)

func TestSort(t *testing.T) {
	for _, memory := range []int{1, 300, 5000, 1 << 20} {
		for _, n := range []int{0, 1, 2, 500} {
			t.Run(fmt.Sprintf("%d rows in %d bytes", n, memory), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(n), uint64(memory)))
				type row struct {
					key, second, text string
				}
				var rows []row
				in := &script{}
				for i := range n {
					one := row{fmt.Sprint(r.IntN(20) - 10), fmt.Sprint(r.IntN(3)), fmt.Sprint("row ", i)}
					if r.IntN(10) == 0 {
						one.key = "NULL"
					}
					rows = append(rows, one)
					in.rows = append(in.rows, payload(one.text+"|"+one.key+"|"+one.second))
				}
				number := func(s string) (v int) {
					if s == "NULL" {
						return -1000
					}
					_, err := fmt.Sscan(s, &v)
					require.NoError(t, err)
					return v
				}
				slices.SortStableFunc(rows, func(a, b row) int {
					if c := number(a.key) - number(b.key); c != 0 {
						return c
					}
					return number(b.second) - number(a.second)
				})
				s := NewSort(in, []Key{{Column: 1, Class: Number}, {Column: 2, Class: Number, Desc: true}}, memory)
				var got []string
				for {
					p, err := s.Next()
					if err != nil {
						break
					}
					got = append(got, line(t, p))
				}
				require.NoError(t, s.Close())
				require.Len(t, got, n)
				for i, want := range rows {
					require.Equal(t, want.text+"|"+want.key+"|"+want.second, got[i])
				}
			})
		}
	}
}

func TestSortFails(t *testing.T) {
	boom := errors.New("boom")
	s := NewSort(&script{rows: []string{payload("2"), payload("1")}, err: boom}, []Key{{Class: Number}}, 1)
	_, err := s.Next()
	require.ErrorIs(t, err, boom)
	require.NoError(t, s.Close())
}

func TestSortedEndsWhereServersMayNotHaveSorted(t *testing.T) {
	first := func(a, b []byte) bool { return a[0] == b[0] }
	keys := []Key{{Column: 0, Class: Bytes, Tied: first}}
	for _, c := range []struct {
		a, b []string
		ok   bool
	}{
		{[]string{"ab", "c"}, []string{"ab", "d"}, true},
		{[]string{"ab", "aa"}, []string{"aa"}, false},
		{[]string{"ab", "aa"}, []string{"b"}, true},
	} {
		var sources []Source
		for _, rows := range [][]string{c.a, c.b} {
			for i := range rows {
				rows[i] = payload(rows[i])
			}
			sources = append(sources, &script{rows: rows})
		}
		sorted := NewSorted(sources, keys)
		var err error
		for err == nil {
			_, err = sorted.Next()
		}
		if c.ok {
			require.Equal(t, io.EOF, err)
		} else {
			require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet))
		}
	}
}
