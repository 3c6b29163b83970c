package merge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"skarv/pkg/sqltypes"
)

// script is a Source of given rows. Like a connection it has one buffer, which every Next spoils.
type script struct {
	rows   []string // payloads
	err    error    // after the rows, instead of io.EOF
	buffer []byte
	asked  int
}

func (s *script) Next() ([]byte, error) {
	for i := range s.buffer {
		s.buffer[i] = 0xee
	}
	s.asked++
	if len(s.rows) == 0 {
		if s.err != nil {
			return nil, s.err
		}
		return nil, io.EOF
	}
	s.buffer = append(s.buffer[:0], s.rows[0]...)
	s.rows = s.rows[1:]
	return s.buffer, nil
}

// payload encodes "a|NULL|c".
func payload(line string) string {
	var row []byte
	for f := range strings.SplitSeq(line, "|") {
		if f == "NULL" {
			row = appendField(row, nil)
		} else if f == "''" {
			row = appendField(row, []byte{})
		} else {
			row = appendField(row, []byte(f))
		}
	}
	return string(row)
}

// line decodes a payload whatever its number of columns.
func line(t testing.TB, row []byte) string {
	var fields []string
	for len(row) > 0 {
		end, err := skip(row, 1)
		require.NoError(t, err)
		var f [1][]byte
		require.NoError(t, Split(row, f[:]))
		if f[0] == nil {
			fields = append(fields, "NULL")
		} else if len(f[0]) == 0 {
			fields = append(fields, "''")
		} else {
			fields = append(fields, string(f[0]))
		}
		row = row[end:]
	}
	return strings.Join(fields, "|")
}

func scripts(input string) []Source {
	var sources []Source
	for part := range strings.SplitSeq(input, "--\n") {
		s := &script{}
		for l := range strings.Lines(part) {
			if l = strings.TrimSuffix(l, "\n"); l == "--" {
				continue
			} else if message, found := strings.CutPrefix(l, "error "); found {
				s.err = errors.New(message)
			} else {
				s.rows = append(s.rows, payload(l))
			}
		}
		sources = append(sources, s)
	}
	return sources
}

func parseKey(t *testing.T, spec string) Key {
	parts := strings.Split(spec, ":")
	column, err := strconv.Atoi(parts[0])
	require.NoError(t, err)
	k := Key{Column: column}
	for _, p := range parts[1:] {
		switch p {
		case "desc":
			k.Desc = true
		case "bytes":
			k.Class = Bytes
		case "number":
			k.Class = Number
		case "float":
			k.Class = Float
		case "time":
			k.Class = Time
		case "bits":
			k.Class = Bits
		default:
			k.Class, k.Compare = Collate, sqltypes.CompareFunc(p)
			require.NotNil(t, k.Compare, p)
		}
	}
	return k
}

func parseOutput(t *testing.T, spec string) Output {
	name, rest, _ := strings.Cut(spec, ":")
	column, rest, _ := strings.Cut(rest, ":")
	n, err := strconv.Atoi(column)
	require.NoError(t, err)
	o := Output{Column: n, Decimals: NotFixed}
	switch name {
	case "first":
		o.Func = First
	case "sum":
		o.Func = SumExact
	case "fsum":
		o.Func = SumFloat
	case "count":
		o.Func = Count
	case "min", "max":
		o.Func = Min
		if name == "max" {
			o.Func = Max
		}
		o.Order = parseKey(t, rest)
	case "avg", "favg": // avg:sum:count:decimals
		o.Func = AvgExact
		if name == "favg" {
			o.Func = AvgFloat
		}
		count, decimals, _ := strings.Cut(rest, ":")
		o.Count, err = strconv.Atoi(count)
		require.NoError(t, err)
		if decimals != "" {
			o.Decimals, err = strconv.Atoi(decimals)
			require.NoError(t, err)
		}
	default:
		t.Fatalf("output %q", spec)
	}
	return o
}

func TestMerge(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			keys := func(name string) (keys []Key) {
				if arg, ok := d.Arg(name); ok {
					for _, v := range arg.Vals {
						keys = append(keys, parseKey(t, v))
					}
				}
				return keys
			}
			number := func(name string) (n uint64) {
				if arg, ok := d.Arg(name); ok {
					arg.Scan(t, 0, &n)
				}
				return n
			}
			sources := scripts(d.Input)
			var source Source
			switch d.Cmd {
			case "concat":
				source = NewConcat(sources)
			case "sorted":
				source = NewSorted(sources, keys("keys"))
			case "distinct":
				source = NewDistinct(NewSorted(sources, keys("keys")), keys("keys"))
			case "limit":
				source = NewLimit(NewConcat(sources), number("offset"), number("count"))
			case "project":
				source = NewProject(NewConcat(sources), int(number("keep")))
			case "aggregate":
				var outputs []Output
				arg, _ := d.Arg("out")
				for _, v := range arg.Vals {
					outputs = append(outputs, parseOutput(t, v))
				}
				source = NewAggregate(NewSorted(sources, keys("group")), keys("group"), outputs)
			default:
				t.Fatalf("command %q", d.Cmd)
			}
			var out strings.Builder
			for {
				row, err := source.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					fmt.Fprintf(&out, "error %v\n", err)
					break
				}
				fmt.Fprintln(&out, line(t, row))
			}
			if out.Len() == 0 {
				return "(no rows)\n"
			}
			return out.String()
		})
	})
}

// The sorted merge of sorted parts is the sort of the whole, for any number of streams, duplicates and NULLs included.
func TestSortedMergeIsSort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		streams := 1 + random.IntN(9)
		keys := []Key{{Column: 1, Class: Number, Desc: random.IntN(2) == 0}, {Column: 0, Class: Bytes, Desc: random.IntN(2) == 0}}
		var all []string
		parts := make([][]string, streams)
		for range random.IntN(200) {
			l := fmt.Sprintf("%c%d|%d", 'a'+random.IntN(3), random.IntN(10), random.IntN(20)-10)
			if random.IntN(10) == 0 {
				l = fmt.Sprintf("x%d|NULL", random.IntN(10))
			}
			row := payload(l)
			all = append(all, row)
			i := random.IntN(streams)
			parts[i] = append(parts[i], row)
		}
		compare := func(a, b string) int {
			var fa, fb [2][]byte
			require.NoError(t, Split([]byte(a), fa[:]))
			require.NoError(t, Split([]byte(b), fb[:]))
			for i := range keys {
				c := keys[i].compare(fa[keys[i].Column], fb[keys[i].Column])
				if keys[i].Desc {
					c = -c
				}
				if c != 0 {
					return c
				}
			}
			return 0
		}
		slices.SortFunc(all, compare)
		sources := make([]Source, streams)
		for i := range parts {
			slices.SortFunc(parts[i], compare)
			sources[i] = &script{rows: parts[i]}
		}
		merged := NewSorted(sources, keys)
		for i := range all {
			row, err := merged.Next()
			require.NoError(t, err)
			require.Equal(t, all[i], string(row), "round %d row %d", round, i)
		}
		for range 2 { // the end stays the end
			_, err := merged.Next()
			require.Equal(t, io.EOF, err)
		}
	}
}

// A source's next row takes the place of the one before: what a merge keeps of a row, while others are read, must be a copy.
func TestSourcesReuseTheirBuffers(t *testing.T) {
	const rows = 200
	key := []Key{{Column: 0}}
	fresh := func(spoil bool) []Source {
		sources := make([]Source, 3)
		for i := range sources {
			var part []string
			for n := range rows {
				part = append(part, payload(fmt.Sprintf("%03d|%d.%d", n/2, i, n)))
			}
			if sources[i] = (&script{rows: part}); !spoil {
				sources[i] = &keeping{part}
			}
		}
		return sources
	}
	for name, merge := range map[string]func([]Source) Source{
		"concat":   func(s []Source) Source { return NewConcat(s) },
		"sorted":   func(s []Source) Source { return NewSorted(s, key) },
		"distinct": func(s []Source) Source { return NewDistinct(NewSorted(s, key), key) },
		"groups": func(s []Source) Source {
			return NewAggregate(NewSorted(s, key), key, []Output{{Func: First}, {Func: Max, Column: 1, Order: Key{Column: 1}}})
		},
		"sort":          func(s []Source) Source { return NewSort(NewConcat(s), key, 1<<20) },
		"sort on disk":  func(s []Source) Source { return NewSort(NewConcat(s), key, 1<<10) },
		"limit, offset": func(s []Source) Source { return NewLimit(NewSorted(s, key), 7, 300) },
	} {
		var want, got []string
		for _, spoil := range []bool{false, true} {
			list := &want
			if spoil {
				list = &got
			}
			m := merge(fresh(spoil))
			for {
				row, err := m.Next()
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				*list = append(*list, string(row))
			}
			if c, ok := m.(io.Closer); ok {
				require.NoError(t, c.Close())
			}
		}
		require.GreaterOrEqual(t, len(want), rows/2, name)
		require.Equal(t, want, got, name)
	}
}

// keeping is a Source whose rows stay as they are.
type keeping struct{ rows []string }

func (k *keeping) Next() ([]byte, error) {
	if len(k.rows) == 0 {
		return nil, io.EOF
	}
	row := k.rows[0]
	k.rows = k.rows[1:]
	return []byte(row), nil
}

// A merge asks a stream only for what it needs: nobody waits for a row that is not wanted.
func TestLimitAsksForNoMore(t *testing.T) {
	s := &script{rows: []string{payload("1"), payload("2"), payload("3")}}
	l := NewLimit(s, 1, 1)
	row, err := l.Next()
	require.NoError(t, err)
	require.Equal(t, "2", line(t, row))
	_, err = l.Next()
	require.Equal(t, io.EOF, err)
	require.Equal(t, 2, s.asked)

	s = &script{rows: []string{payload("1")}}
	_, err = NewLimit(s, 0, 0).Next()
	require.Equal(t, io.EOF, err)
	require.Zero(t, s.asked)
}

func TestMalformedRows(t *testing.T) {
	for _, row := range []string{"", "\x05ab", "\xfc\x01", "\xfd\xff\xff\xff", "\xfe\xff\xff\xff\xff\xff\xff\xff\xff", "\xff", "\xfe"} {
		for name, source := range map[string]Source{
			"sorted":    NewSorted([]Source{&script{rows: []string{row}}}, []Key{{Column: 0}}),
			"distinct":  NewDistinct(&script{rows: []string{row}}, []Key{{Column: 0}}),
			"project":   NewProject(&script{rows: []string{row}}, 1),
			"aggregate": NewAggregate(&script{rows: []string{row}}, nil, []Output{{Func: SumExact}}),
		} {
			_, err := source.Next()
			require.Error(t, err, "%s %q", name, row)
			require.NotEqual(t, io.EOF, err)
		}
		require.Error(t, checkRow([]byte(row), 1), "%q", row)
	}
	require.NoError(t, checkRow([]byte("\x01a\xfb"), 2))
	require.Error(t, checkRow([]byte("\x01a\xfb"), 1))
}

func TestLongFields(t *testing.T) {
	for _, n := range []int{0, 1, 250, 251, 252, 65535, 65536, 1<<24 - 1, 1 << 24} {
		field := bytes.Repeat([]byte{'x'}, n)
		row := appendField(appendField(nil, field), []byte("end"))
		var fields [2][]byte
		require.NoError(t, Split(row, fields[:]))
		require.Len(t, fields[0], n)
		require.Equal(t, "end", string(fields[1]))
		require.NoError(t, checkRow(row, 2))
	}
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"", "\x01a\x02bc", "\xfb", "\xfc\x01\x00a", "\xfd\x01\x00\x00a", "\xfe\x01\x00\x00\x00\x00\x00\x00\x00a", "\xfe\xff\xff\xff\xff\xff\xff\xff\xff"} {
		f.Add([]byte(seed), uint8(2))
	}
	f.Fuzz(func(t *testing.T, row []byte, columns uint8) {
		fields := make([][]byte, columns)
		end, err := split(row, fields)
		other, errSkip := skip(row, int(columns))
		require.Equal(t, err == nil, errSkip == nil)
		if err != nil {
			return
		}
		require.Equal(t, end, other)
		var again []byte
		for _, v := range fields {
			again = appendField(again, v)
		}
		fields2 := make([][]byte, columns)
		require.NoError(t, Split(again, fields2))
		require.Equal(t, fields, fields2)
		if end == len(row) {
			require.NoError(t, checkRow(row, int(columns)))
		}
	})
}

func FuzzAggregate(f *testing.F) {
	f.Add([]byte("\x011\x012"), []byte("\x03-.5\x0230"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		s := NewAggregate(&script{rows: []string{string(a), string(b)}}, []Key{{Column: 0, Class: Number}},
			[]Output{{Func: SumExact}, {Func: AvgExact, Column: 0, Count: 1, Decimals: 4}, {Func: Max, Order: Key{Class: Time}}})
		for {
			if _, err := s.Next(); err != nil {
				return
			}
		}
	})
}

// endless is a Source of n rows over and over, without copying them.
type endless struct {
	rows [][]byte
	i    int
}

func (e *endless) Next() ([]byte, error) {
	row := e.rows[e.i]
	if e.i++; e.i == len(e.rows) {
		e.i = 0
	}
	return row, nil
}

func benchmarkSources(format string) []Source {
	sources := make([]Source, 4)
	for i := range sources {
		e := &endless{}
		for n := range 1000 {
			e.rows = append(e.rows, []byte(payload(fmt.Sprintf(format, n*4+i))))
		}
		sources[i] = e
	}
	return sources
}

func run(b *testing.B, s Source) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSorted4Numbers(b *testing.B) {
	run(b, NewSorted(benchmarkSources("%d|some text of a row|and more of it"), []Key{{Column: 0, Class: Number}}))
}

func BenchmarkSorted4Strings(b *testing.B) {
	run(b, NewSorted(benchmarkSources("name%06d|some text of a row"),
		[]Key{{Column: 0, Class: Collate, Compare: sqltypes.CompareFunc("utf8mb4_general_ci")}}))
}

func BenchmarkAggregate4(b *testing.B) {
	keys := []Key{{Column: 0, Class: Number}}
	run(b, NewAggregate(NewSorted(benchmarkSources("%d|12.50|3"), keys), keys,
		[]Output{{Func: First, Column: 0}, {Func: SumExact, Column: 1}, {Func: AvgExact, Column: 1, Count: 2, Decimals: 6}}))
}

func BenchmarkDistinct4(b *testing.B) {
	keys := []Key{{Column: 0, Class: Number}}
	run(b, NewDistinct(NewSorted(benchmarkSources("%d|text"), keys), keys))
}

// checkRow reports an error unless row is exactly columns columns.
func checkRow(row []byte, columns int) error {
	end, err := skip(row, columns)
	if err == nil && end != len(row) {
		err = malformedRow()
	}
	return err
}
