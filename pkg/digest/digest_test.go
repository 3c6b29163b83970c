package digest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func record(e *Entry, took, end time.Duration) {
	e.Record(1, &Sample{Took: took, End: end, Rows: 2, Bytes: 10, Way: 1})
}

func TestStatementsAreAddedUpByShape(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	d := New(10, began)
	e := d.Entry("shop", []byte("SELECT ?"))
	require.Same(t, e, d.Entry("shop", []byte("SELECT ?")))
	require.NotSame(t, e, d.Entry("other", []byte("SELECT ?")), "the same words about other tables")
	e.Record(1, &Sample{Took: 3 * time.Second, End: 10 * time.Second, Rows: 2, Bytes: 10, Way: 1})
	e.Record(1, &Sample{Took: time.Second, End: 12 * time.Second, Failed: true, Way: 0})
	e.Record(2, &Sample{Took: 2 * time.Second, End: 5 * time.Second, Rows: 1, Bytes: 5, Way: 3})
	rows := d.Rows()
	require.Len(t, rows, 1, "what has not run is not shown")
	r := rows[0]
	r.first, r.last = 0, 0
	require.Equal(t, Row{
		Database: "shop", Text: "SELECT ?", Count: 3, Errors: 1, Rows: 3, Bytes: 15, Total: 6 * time.Second, Most: 3 * time.Second, Ways: 0b1011,
		First: began.Add(3 * time.Second), Last: began.Add(12 * time.Second),
	}, r)
	require.Equal(t, 2*time.Second, r.Average())
}

func TestShapesSeenLongAgoMakeRoom(t *testing.T) {
	d := New(20, time.Now())
	var entries []*Entry
	for i := range 20 {
		e := d.Entry("", fmt.Appendf(nil, "SELECT %d", i))
		record(e, 1, time.Duration(100-i))
		entries = append(entries, e)
	}
	record(d.Entry("", []byte("one more")), 1, 1000)
	require.Len(t, d.Rows(), 18)
	for i, e := range entries {
		require.Equal(t, i >= 17, e.Dropped(), i)
	}
	d.Reset()
	require.Empty(t, d.Rows())
	require.True(t, entries[0].Dropped())
}

func TestLongTextsAreCut(t *testing.T) {
	d := New(1, time.Now())
	record(d.Entry("", []byte(strings.Repeat("é", maxText))), 1, 1)
	text := d.Rows()[0].Text
	require.True(t, utf8.ValidString(text))
	require.Equal(t, strings.Repeat("é", maxText/2)+more, text)
}

func TestRecordAllocatesNothing(t *testing.T) {
	e := New(1, time.Now()).Entry("", nil)
	record(e, 1, 1)
	require.Zero(t, testing.AllocsPerRun(100, func() { record(e, 2, 2) }))
	require.Equal(t, uintptr(64), unsafe.Sizeof(cell{}), "a cache line")
}

func TestSessionsRecordAtTheSameTime(t *testing.T) {
	d := New(5, time.Now())
	var g sync.WaitGroup
	for n := range uint32(8) {
		g.Go(func() {
			for i := range 1000 {
				d.Entry("", fmt.Appendf(nil, "%d", i%4)).Record(n%2, &Sample{Took: time.Duration(i), Bytes: 1})
			}
		})
	}
	g.Wait()
	var count, bytes uint64
	for _, r := range d.Rows() {
		count, bytes = count+r.Count, bytes+r.Bytes
		require.GreaterOrEqual(t, r.Most, time.Duration(996))
	}
	require.Equal(t, [2]uint64{8000, 8000}, [2]uint64{count, bytes})
}

func TestMergeAndSort(t *testing.T) {
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	rows := Merge([]Row{
		{Text: "a", Count: 1, Total: 5, Most: 5, Ways: 1, First: late, Last: late, Errors: 1},
		{Text: "b", Count: 10, Total: 20, Most: 3, Ways: 1, First: late, Last: late, Rows: 1},
		{Text: "a", Count: 2, Total: 10, Most: 8, Ways: 2, First: early, Last: early, Bytes: 7},
		{Text: "a", Database: "x", Count: 1, Total: 1, Most: 1},
	})
	require.Equal(t, Row{Text: "a", Count: 3, Total: 15, Most: 8, Ways: 3, First: early, Last: late, Errors: 1, Bytes: 7}, rows[0])
	for order, want := range map[Order]string{ByTotal: "b", ByCount: "b", ByAverage: "a", ByMost: "a", ByErrors: "a", ByRows: "b", ByBytes: "a"} {
		order.Sort(rows)
		require.Equal(t, want, rows[0].Text, order)
	}
	require.Len(t, rows, 3)
}
