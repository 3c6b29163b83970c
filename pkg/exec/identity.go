package exec

import (
	"bytes"
	"math"
	"strconv"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// identities gives the rows of one statement their AUTO_INCREMENT values, in the order a server would: consecutive,
// and after a value that a row brings itself, greater than that.
type identities struct {
	sequence Sequence
	table    *catalog.Table
	rows     int
	zero     bool // 0 is a value like any

	first       uint64 // the first value given out, 0 for none
	next, limit uint64 // what is left of the block reserved last
	greatest    uint64 // the greatest value a row brought
	told        uint64 // the greatest the sequence was told of
	last        uint64 // the last value a row brought
}

func (s *identities) reset(sequence Sequence, table *catalog.Table, rows int, zero bool) {
	*s = identities{sequence: sequence, table: table, rows: rows, zero: zero}
}

// generate returns the value of a row that brings none. Rows are numbered from 0.
func (s *identities) generate(row int) (uint64, error) {
	if s.greatest > s.told {
		if err := s.observe(); err != nil {
			return 0, err
		}
	}
	if s.next <= s.greatest {
		s.next = s.limit // what a row wrote itself is not given out again
	}
	if s.next == s.limit {
		n := s.rows - row
		if s.first == 0 {
			n = s.rows // servers reserve for all rows at first, so the gaps are theirs, too
		}
		first, err := s.sequence.Next(s.table, n)
		if err != nil {
			return 0, err
		}
		s.next, s.limit = first, first+uint64(n)
	}
	id := s.next
	s.next++
	if s.first == 0 {
		s.first = id
	}
	return id, nil
}

// explicit notes the value a row brings; false if it stands for "the next one".
func (s *identities) explicit(v sqltypes.Value) (bool, error) {
	if v.IsNull() {
		return false, nil
	}
	n, negative, ok := wholeNumber(v)
	if !ok {
		return false, sqlerr.Unsupported("a value that is no whole number for the AUTO_INCREMENT column of table '"+s.table.Name+"'",
			"write it as a number")
	}
	if n == 0 && !s.zero {
		return false, nil
	}
	if s.last = n; negative {
		s.last = -n // as the OK packet has it
	} else {
		s.greatest = max(s.greatest, n)
	}
	return true, nil
}

func (s *identities) observe() error {
	s.told = s.greatest
	return s.sequence.Observe(s.table, s.greatest)
}

// end tells the sequence what the rows brought.
func (s *identities) end() error {
	if s.greatest > s.told {
		return s.observe()
	}
	return nil
}

// wholeNumber is the integer that v is stored as; ok is false if that cannot be told.
func wholeNumber(v sqltypes.Value) (n uint64, negative, ok bool) {
	switch v.Kind {
	case sqltypes.Int, sqltypes.Decimal, sqltypes.Bool, sqltypes.String:
		num, ok := sqltypes.ParseNumber(bytes.TrimSpace(v.Raw))
		if !ok {
			return 0, false, false
		}
		if len(num.Int) > 0 {
			if n, err := strconv.ParseUint(string(num.Int), 10, 64); err == nil {
				return roundUp(n, num.Frac), num.Negative, true
			}
			return math.MaxUint64, num.Negative, true // out of range: the server says so
		}
		return roundUp(0, num.Frac), num.Negative, true
	case sqltypes.Float:
		f, err := strconv.ParseFloat(string(v.Raw), 64)
		if err != nil || math.Abs(f) >= 1<<63 || math.Round(f) != math.RoundToEven(f) {
			return 0, false, false
		}
		return uint64(math.Abs(math.Round(f))), f < 0, true
	}
	return 0, false, false
}

// roundUp adds 1 to n if the digits after its point say so.
func roundUp(n uint64, fraction []byte) uint64 {
	if len(fraction) > 0 && fraction[0] >= '5' && n < math.MaxUint64 {
		return n + 1
	}
	return n
}
