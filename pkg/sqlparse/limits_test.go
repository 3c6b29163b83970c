package sqlparse

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestLinear scans texts made to be slow, of two sizes: eight times the text may not take far more than eight times
// the time of a processor; if the effort grew with the square of the length it would be 64 times. What other processes do
// to caches and clocks passes when it is tried again.
func TestLinear(t *testing.T) {
	d := NewDialect(true, "10.11.6-MariaDB")
	st := d.NewStatement()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	took := func(sql string, best time.Duration) time.Duration {
		for range 3 {
			start := threadTime(t)
			_ = st.Scan([]byte(sql), 0)
			st.Normalized()
			best = min(best, threadTime(t)-start)
		}
		return best
	}
	for name, make := range map[string]func(n int) string{
		"parentheses":    func(n int) string { return "SELECT " + strings.Repeat("(", n) },
		"broken lists":   func(n int) string { return "SELECT a" + strings.Repeat(" IN (1,", n/7) },
		"long list":      func(n int) string { return "SELECT a IN (" + strings.Repeat("1,", n/2) + "NULL)" },
		"open row":       func(n int) string { return "INSERT INTO t VALUES " + strings.Repeat("(1),", n/4) + "(" },
		"odd rows":       func(n int) string { return "INSERT INTO t VALUES " + strings.Repeat("(1+1,2),(f(3)),", n/15) + "(1)" },
		"row shapes":     rowShapes,
		"strings":        func(n int) string { return "SELECT " + strings.Repeat("'a' ", n/4) },
		"escapes":        func(n int) string { return "SELECT '" + strings.Repeat(`\'''`, n/4) + "'" },
		"minuses":        func(n int) string { return "SELECT " + strings.Repeat("- ", n/2) + "1" },
		"comments":       func(n int) string { return "SELECT " + strings.Repeat("-/* */", n/6) + "1" },
		"calls":          func(n int) string { return "SELECT " + strings.Repeat("now/* */", n/8) + "1" },
		"executable":     func(n int) string { return "SELECT " + strings.Repeat("/*! a */,", n/9) + "1" },
		"skipped":        func(n int) string { return "SELECT /*!999999 " + strings.Repeat("/* */", n/5) + "*/ 1" },
		"semicolons":     func(n int) string { return "SELECT 1" + strings.Repeat(";", n) },
		"dates":          func(n int) string { return "SELECT " + strings.Repeat("date/* */,", n/10) + "1" },
		"open comment":   func(n int) string { return strings.Repeat("\n", n) + "/*" },
		"compound":       func(n int) string { return "CREATE PROCEDURE p() BEGIN " + strings.Repeat("BEGIN END; ", n/11) + "END" },
		"names and dots": func(n int) string { return "SELECT " + strings.Repeat("a.", n/2) + "a" },
	} {
		small, large := took(make(1<<17), time.Hour), time.Hour
		for range 10 {
			if large = took(make(1<<20), large); large <= 24*small+20*time.Millisecond {
				break
			}
		}
		assert.LessOrEqual(t, large, 24*small+20*time.Millisecond, "%s: %v for 128 KB", name, small)
	}
}

// threadTime is the processor time that the calling thread has used.
func threadTime(t *testing.T) time.Duration {
	var ts unix.Timespec
	require.NoError(t, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts))
	return time.Duration(ts.Nano())
}

// rowShapes is rows that are all unlike.
func rowShapes(n int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO t VALUES (1)")
	for i := 0; b.Len() < n; i++ {
		b.WriteString(",(f" + itoa(i) + "())")
	}
	return b.String()
}

// TestMemoryGoesBack scans something large, then something small: then the large buffers are not kept any longer.
func TestMemoryGoesBack(t *testing.T) {
	st := NewDialect(true, "10.11.6-MariaDB").NewStatement()
	require.NoError(t, st.Scan([]byte(bigInsert(1<<20)), 0))
	require.Equal(t, 4, st.NumArgs())
	require.Less(t, len(st.Shape()), 200)
	require.Greater(t, cap(st.rows), 10000)
	require.NoError(t, st.Scan([]byte("SELECT 1"), 0))
	require.NoError(t, st.Scan([]byte("SELECT a IN ("+strings.Repeat("1,", 1<<18)+"1)"), 0))
	require.Zero(t, cap(st.rows))
	require.Greater(t, cap(st.elems), 1<<18)
	require.NoError(t, st.Scan([]byte("SELECT 1"), 0))
	require.NoError(t, st.Scan([]byte("SELECT "+strings.Repeat("1,", 1<<18)+"1"), 0))
	st.Normalized()
	require.Zero(t, cap(st.elems))
	st.Done()
	require.LessOrEqual(t, cap(st.args), keepItems)
	require.LessOrEqual(t, cap(st.shape), keepBytes)
	require.LessOrEqual(t, cap(st.scratch.text), keepBytes)
}

// TestNoAllocations: what happens on each statement allocates nothing.
func TestNoAllocations(t *testing.T) {
	st := NewDialect(true, "10.11.6-MariaDB").NewStatement()
	for _, sql := range []string{
		"SELECT c FROM sbtest1 WHERE id=42",
		"INSERT INTO t VALUES (1, 'it''s'), (?, NULL)",
		"SELECT * FROM t WHERE a IN (1, 2, x'ff', DATE'2026-01-01') AND b = - /* */ 5",
	} {
		text := []byte(sql)
		run := func() {
			if st.Scan(text, 0) != nil {
				t.Fatal()
			}
			for i := range st.NumArgs() {
				st.Value(i, nil)
				for j := range st.NumElems(i) {
					st.ElemValue(i, j, nil)
				}
			}
			for i := range st.NumRows() {
				for c := range st.RowColumns(i) {
					st.RowValue(i, c, nil)
				}
			}
			st.Normalized()
		}
		run()
		require.Zero(t, testing.AllocsPerRun(100, run), sql)
	}
}

// TestTooDeepToParse: what a client nests without limit gets no tree.
func TestTooDeepToParse(t *testing.T) {
	p, err := NewParser()
	require.NoError(t, err)
	st := NewDialect(true, "10.11.6-MariaDB").NewStatement()
	for _, sql := range []string{
		"SELECT " + strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000),
		"SELECT " + strings.Repeat("1+", 1<<19) + "1",
		"SELECT " + strings.Repeat("NOT ", 1<<18) + "1",
	} {
		require.NoError(t, st.Scan([]byte(sql), 0))
		_, _, err := p.Parse(st)
		require.ErrorAs(t, err, new(*NoTree))
	}
}
