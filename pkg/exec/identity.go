package exec

import (
	"bytes"
	"math"
	"slices"
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
	zero     bool   // 0 is a value like any
	unknown  bool   // how many rows there are: values are reserved as servers do then
	most     uint64 // the greatest value that may be given out, 0 for any
	cuts     bool   // a value that a row brings and the column does not hold is cut to the column's greatest; else it is refused
	reserved uint   // how often

	first       uint64 // the first value given out, 0 for none
	given       []span // all of them
	next, limit uint64 // what is left of the block reserved last
	greatest    uint64 // the greatest value a row brought
	told        uint64 // the greatest the sequence was told of
	last        uint64 // the last value a row brought
	final       uint64 // the last value of a row
	brought     bool   // a row has brought one
	mixed       bool   // a row has brought one that another was given, perhaps

	taken, again []reserved // the blocks of this run, and those of an earlier one that came to nothing
}

func (s *identities) reset(sequence Sequence, table *catalog.Table, rows int, zero bool) {
	*s = identities{sequence: sequence, table: table, rows: rows, zero: zero, taken: s.taken[:0], given: s.given[:0]}
}

// column is the one that the values are of.
func (s *identities) column() *catalog.Column { return &s.table.Columns[s.table.Numbered()] }

// generate returns the value of a row that brings none. Rows are numbered from 0.
func (s *identities) generate(row int) (uint64, error) {
	if s.greatest > s.told {
		if err := s.observe(); err != nil {
			return 0, err
		}
	}
	if s.next <= s.greatest { // what a row wrote itself is not given out again
		s.next = s.limit
		if s.greatest < s.limit {
			s.next = s.greatest + 1
		}
	}
	if s.next == s.limit {
		n := s.rows - row
		switch {
		case s.unknown:
			n = 1 << min(s.reserved, 16)
			n = min(n, 1<<16-1)
			s.reserved++
		case s.first == 0:
			n = s.rows // servers reserve for all rows at first, so the gaps are theirs, too
		}
		first, err := s.reserve(n)
		if err != nil {
			return 0, err
		}
		s.next, s.limit = first, first+uint64(n)
	}
	id := s.next
	if s.most != 0 && id > s.most {
		return 0, sqlerr.AutoIncrementRange.New(s.column().Name, row+1)
	}
	s.next++
	if s.first == 0 {
		s.first = id
	}
	if n := len(s.given); n > 0 && s.given[n-1].last+1 == id {
		s.given[n-1].last = id
	} else {
		s.given = append(s.given, span{id, id})
	}
	s.final = id
	return id, nil
}

// greatestOf is the greatest whole number that a column holds.
func greatestOf(c *catalog.Column) uint64 {
	bits := 64
	switch c.DataType {
	case "tinyint":
		bits = 8
	case "smallint":
		bits = 16
	case "mediumint":
		bits = 24
	case "int":
		bits = 32
	case "bigint":
	default:
		return math.MaxUint64
	}
	if !c.Unsigned {
		bits--
	}
	return math.MaxUint64 >> (64 - bits)
}

// reserve takes n values of the sequence, or those that this statement has taken already.
func (s *identities) reserve(n int) (uint64, error) {
	if len(s.again) > 0 && s.again[0].n == n {
		first := s.again[0].first
		s.again = s.again[1:]
		return first, nil
	}
	first, err := s.sequence.Next(s.table, n)
	if err == nil {
		s.taken = append(s.taken, reserved{n, first})
	}
	return first, err
}

// reserved is a block of values.
type reserved struct {
	n     int
	first uint64
}

// explicit notes the value a row brings; false if it stands for "the next one".
func (s *identities) explicit(v sqltypes.Value) (bool, error) {
	if v.IsNull() {
		return false, nil
	}
	n, negative, over, ok := wholeNumber(v)
	if !ok {
		return false, sqlerr.Unsupported("a value that is no whole number for the AUTO_INCREMENT column of table '"+s.table.Name+"'",
			"write it as a number")
	}
	if negative && (s.cuts || n == 0) && s.column().Unsigned { // which becomes 0, and a server gives that a number of its own
		return false, sqlerr.Unsupported("a negative value for the AUTO_INCREMENT column of table '"+s.table.Name+"'", "write NULL for the next number")
	}
	if n == 0 && !s.zero {
		return false, nil
	}
	s.brought = true
	if s.last, s.final = n, n; negative {
		s.last, s.final = -n, -n // as the OK packet has it
		return true, nil
	}
	s.mixed = s.mixed || s.first != 0 && s.first <= n && n < s.next
	holds := greatestOf(s.column())
	if over = over || n > holds; over && !s.cuts {
		return true, nil // the server refuses it: the numbers below must not be used up
	}
	s.greatest = max(s.greatest, min(n, holds))
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

// wholeNumber is the integer that v is stored as, over if no column holds it; ok is false if that cannot be told.
func wholeNumber(v sqltypes.Value) (n uint64, negative, over, ok bool) {
	switch v.Kind {
	case sqltypes.Int, sqltypes.Decimal, sqltypes.Bool, sqltypes.String:
		num, ok := sqltypes.ParseNumber(bytes.TrimSpace(v.Raw))
		if !ok {
			return 0, false, false, false
		}
		if len(num.Int) > 0 {
			if n, err := strconv.ParseUint(string(num.Int), 10, 64); err == nil {
				return roundUp(n, num.Frac), num.Negative, false, true
			}
			return math.MaxUint64, num.Negative, true, true
		}
		return roundUp(0, num.Frac), num.Negative, false, true
	case sqltypes.Float:
		f, err := strconv.ParseFloat(string(v.Raw), 64)
		if err != nil || math.Abs(f) >= 1<<63 || math.Round(f) != math.RoundToEven(f) {
			return 0, false, false, false
		}
		return uint64(math.Abs(math.Round(f))), f < 0, false, true
	}
	return 0, false, false, false
}

// roundUp adds 1 to n if the digits after its point say so.
func roundUp(n uint64, fraction []byte) uint64 {
	if len(fraction) > 0 && fraction[0] >= '5' && n < math.MaxUint64 {
		return n + 1
	}
	return n
}

// Identities gives the rows of a stage (workspace.Stage) their AUTO_INCREMENT values.
type Identities struct {
	ids  identities
	rows int
	runs []IdentityRun
}

// IdentityRun is consecutive values for the rows numbered First to Last.
type IdentityRun struct{ First, Last, Value uint64 }

// NewIdentities returns Identities for rows of t; rows is how many there are, 0 if an INSERT ... SELECT has brought them: then
// values are reserved in growing blocks, as servers do. zeroIsValue: sql_mode has NO_AUTO_VALUE_ON_ZERO.
// After ErrStage, up to EndStage, the values that had been reserved for rows of t are given out first.
func (r *Runner) NewIdentities(sequence Sequence, t *catalog.Table, rows int, zeroIsValue bool) *Identities {
	i := &Identities{}
	i.ids.reset(sequence, t, rows, zeroIsValue)
	if r.staging == t {
		i.ids.again = slices.Clone(r.insert.ids.taken)
	}
	r.staging = nil
	i.ids.unknown = rows == 0
	return i
}

// EndStage is called at the end of a statement whose Run ended with ErrStage. What it has reserved and not used is a gap: those
// are the values of its own table, and no other statement's.
func (r *Runner) EndStage() { r.staging = nil }

// Row is told the next row's number in the stage and what it has in the column; nil is NULL.
func (i *Identities) Row(number uint64, value []byte) error {
	at := i.rows
	i.rows++
	if value != nil {
		explicit, err := i.ids.explicit(sqltypes.Value{Kind: sqltypes.Int, Raw: value})
		if err != nil || explicit {
			return err
		}
	}
	id, err := i.ids.generate(at)
	if err != nil {
		return err
	}
	if n := len(i.runs); n > 0 {
		if r := &i.runs[n-1]; r.Last+1 == number && r.Value+(number-r.First) == id {
			r.Last = number
			return nil
		}
	}
	i.runs = append(i.runs, IdentityRun{number, number, id})
	return nil
}

// Last is the value given out last; there is one.
func (i *Identities) Last() uint64 {
	run := i.runs[len(i.runs)-1]
	return run.Value + (run.Last - run.First)
}

// End tells the sequence what the rows brought, and returns the values given out.
func (i *Identities) End() ([]IdentityRun, error) { return i.runs, i.ids.end() }

// Given are how many rows there were, and the first value given out, 0 if none was.
func (i *Identities) Given() (rows int, first uint64) { return i.rows, i.ids.first }

// Ambiguous refuses rows of which it could not be told afterwards which have come; see Runner.Came.
func (i *Identities) Ambiguous(renumbers bool) error { return i.ids.ambiguous(renumbers) }

// InsertID is what the OK packet says and whether LAST_INSERT_ID() becomes that, given how many rows were affected, the first value
// that has come, and what was told of the last row, which counts if it was the only one, or if update: the statement has ON DUPLICATE KEY
// UPDATE.
func (i *Identities) InsertID(affected, came, told uint64, update bool) (id uint64, generated bool) {
	switch {
	case affected == 0:
		return 0, false
	case came != 0:
		return came, true
	case i.rows == 1 || update:
		return told, false
	}
	return i.ids.final, false
}
