package merge

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
	"slices"

	"skarv/pkg/sqlerr"
)

// Sort is its input's rows in order: an external merge sort. Rows are gathered and sorted in memory; when they are more
// than memory bytes they are written to a file as a sorted run, and in the end the runs are merged. The file has no name
// any more: it is gone with the process, however that ends. Rows equal in all keys come in the order of the input.
type Sort struct {
	input  Source
	keys   []Key
	memory int
	fields [][]byte

	rows  []sortRow
	size  int
	file  *os.File
	runs  []int64 // where runs end in file
	out   Source  // nil before the first Next
	ended bool
}

// sortRow is a row and the values it is sorted by, which point into it.
type sortRow struct {
	row   []byte
	heads [][]byte
}

// rowOverhead is what a row in memory costs beside its bytes, and keyOverhead a value of it.
const (
	rowOverhead = 64
	keyOverhead = 24
)

// NewSort returns the rows of input sorted by keys, which it keeps. Whatever happens, Close must be called.
func NewSort(input Source, keys []Key, memory int) *Sort {
	return &Sort{input: input, keys: keys, memory: memory, fields: make([][]byte, width(keys))}
}

// Close frees the file.
func (s *Sort) Close() error {
	s.rows, s.out, s.ended = nil, nil, true
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}

// Next implements Source.
func (s *Sort) Next() ([]byte, error) {
	if s.out == nil {
		if s.ended {
			return nil, io.EOF
		}
		if err := s.gather(); err != nil {
			return nil, err
		}
	}
	return s.out.Next()
}

// gather reads the whole input.
func (s *Sort) gather() error {
	for {
		row, err := s.input.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		r := sortRow{row: append([]byte(nil), row...), heads: make([][]byte, len(s.keys))}
		if err := Split(r.row, s.fields); err != nil {
			return err
		}
		for i := range s.keys {
			r.heads[i] = s.fields[s.keys[i].Column]
		}
		s.rows = append(s.rows, r)
		if s.size += len(row) + rowOverhead + keyOverhead*len(s.keys); s.size > s.memory {
			if err := s.spill(); err != nil {
				return err
			}
		}
	}
	if s.file == nil {
		s.sort()
		s.out = &memorySource{rows: s.rows}
		return nil
	}
	if err := s.spill(); err != nil {
		return err
	}
	sources := make([]Source, len(s.runs))
	buffer := max(minRunBuffer, min(runBuffer, s.memory/len(s.runs)))
	start := int64(0)
	for i, end := range s.runs {
		sources[i] = &runSource{r: bufio.NewReaderSize(io.NewSectionReader(s.file, start, end-start), buffer)}
		start = end
	}
	s.out = NewSorted(sources, s.keys)
	return nil
}

func (s *Sort) sort() {
	slices.SortStableFunc(s.rows, func(a, b sortRow) int {
		for i := range s.keys {
			if c := s.keys[i].compare(a.heads[i], b.heads[i]); c != 0 {
				if s.keys[i].Desc {
					return -c
				}
				return c
			}
		}
		return 0
	})
}

// Runs are written through runBuffer, and read through as much each, or less if they are so many that it would be more than the memory
// for rows.
const (
	runBuffer    = 64 << 10
	minRunBuffer = 4 << 10
)

// spill writes what is in memory as a run.
func (s *Sort) spill() error {
	if len(s.rows) == 0 {
		return nil
	}
	s.sort()
	if s.file == nil {
		f, err := os.CreateTemp("", "skarv-sort-*")
		if err != nil {
			return sortFile(err)
		}
		s.file = f
		if err := os.Remove(f.Name()); err != nil {
			return sortFile(err)
		}
	}
	w := bufio.NewWriterSize(s.file, runBuffer)
	end := int64(0)
	if len(s.runs) > 0 {
		end = s.runs[len(s.runs)-1]
	}
	var head [binary.MaxVarintLen64]byte
	for _, r := range s.rows {
		n := binary.PutUvarint(head[:], uint64(len(r.row)))
		_, _ = w.Write(head[:n]) // Flush tells
		_, _ = w.Write(r.row)
		end += int64(n + len(r.row))
	}
	if err := w.Flush(); err != nil {
		return sortFile(err)
	}
	s.runs = append(s.runs, end)
	clear(s.rows)
	s.rows, s.size = s.rows[:0], 0
	return nil
}

// memorySource is sorted rows in memory.
type memorySource struct{ rows []sortRow }

func (m *memorySource) Next() ([]byte, error) {
	if len(m.rows) == 0 {
		return nil, io.EOF
	}
	row := m.rows[0].row
	m.rows[0] = sortRow{}
	m.rows = m.rows[1:]
	return row, nil
}

// runSource is a run in the file: each row behind its length.
type runSource struct {
	r   *bufio.Reader
	row []byte
}

func (r *runSource) Next() ([]byte, error) {
	n, err := binary.ReadUvarint(r.r)
	if err == io.EOF {
		return nil, err
	}
	if err != nil {
		return nil, sortFile(err)
	}
	r.row = slices.Grow(r.row[:0], int(n))[:n]
	if _, err := io.ReadFull(r.r, r.row); err != nil {
		return nil, sortFile(err)
	}
	return r.row, nil
}

// sortFile is the error for a file that cannot be used.
func sortFile(err error) error {
	return sqlerr.Internal.New("sorting more rows than memory should hold: " + err.Error())
}
