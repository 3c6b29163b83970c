package merge

import (
	"io"
	"strconv"

	"skarv/pkg/sqltypes"
)

// Func is how the partial results of several groups become one.
type Func uint8

// The functions.
const (
	First    Func = iota + 1 // the value of the first row
	SumExact                 // integers and DECIMAL
	SumFloat                 // FLOAT and DOUBLE
	Min
	Max
	Count // adds counts; 0 of nothing
	AvgExact
	AvgFloat
	SumRounded // SumExact of numbers with more decimals than the result
)

// Output is one column of an Aggregate's rows.
type Output struct {
	Func Func
	// Column is the input column; for Avg, that of the partial sums.
	Column int
	// Count is, for Avg, the input column of the partial counts.
	Count int
	// Order compares, for Min and Max: Order.Column is Column, or the column of its weights.
	Order Key
	// Decimals of the result, of AvgExact and SumRounded always, of SumFloat and AvgFloat unless it is NotFixed or more.
	Decimals int
}

// exact reports whether the output is made of a sum of DECIMALs.
func (o *Output) exact() bool {
	return o.Func == SumExact || o.Func == SumRounded || o.Func == AvgExact
}

// NotFixed is the number of decimals of a FLOAT or DOUBLE that is printed with as many as it needs.
const NotFixed = 31

// Aggregate makes one row of all rows that agree in the keys it groups by, by which its input is sorted. Without
// such keys it makes exactly one row, even of none.
type Aggregate struct {
	input   Source
	groupBy []Key
	outputs []Output
	states  []state

	fields  [][]byte // of the row being read
	first   []byte   // a copy of the group's first row
	kept    [][]byte // its fields
	pending []byte   // the next group's first row, already read
	out     []byte
	done    bool
	started bool // a group is open
}

// state is what one output has gathered of the current group.
type state struct {
	any   bool // a value that is not NULL
	exact exactSum
	float float64
	count uint64
	best  []byte // Min, Max: a copy of the value
	order []byte // and of what it is compared by, if that is another column
	text  []byte // the result as text
}

// NewAggregate returns the aggregation of input. It keeps its arguments.
func NewAggregate(input Source, groupBy []Key, outputs []Output) *Aggregate {
	n := width(groupBy)
	for i := range outputs {
		o := &outputs[i]
		n = max(n, o.Column+1)
		switch o.Func {
		case Min, Max:
			n = max(n, o.Order.Column+1)
		case AvgExact, AvgFloat:
			n = max(n, o.Count+1)
		}
	}
	return &Aggregate{
		input: input, groupBy: groupBy, outputs: outputs, states: make([]state, len(outputs)),
		fields: make([][]byte, n), kept: make([][]byte, n),
	}
}

// Next implements Source.
func (a *Aggregate) Next() ([]byte, error) {
	if a.done {
		return nil, io.EOF
	}
	a.started = false
	if a.pending != nil {
		// Still valid: the input has not been asked since. Its fields are still split, too.
		if err := a.open(a.pending); err != nil {
			return nil, err
		}
		a.pending = nil
	}
	for {
		row, err := a.input.Next()
		if err == io.EOF {
			a.done = true
			if !a.started && len(a.groupBy) > 0 {
				return nil, io.EOF
			}
			if !a.started {
				a.clear()
			}
			return a.row()
		}
		if err != nil {
			return nil, err
		}
		if err := Split(row, a.fields); err != nil {
			return nil, err
		}
		switch {
		case !a.started:
			err = a.open(row)
		case equal(a.groupBy, a.kept, a.fields):
			err = a.gather()
		default:
			a.pending = row
			return a.row()
		}
		if err != nil {
			return nil, err
		}
	}
}

// open begins a group with row, whose fields are split.
func (a *Aggregate) open(row []byte) error {
	a.started = true
	a.first = append(a.first[:0], row...)
	if err := Split(a.first, a.kept); err != nil {
		return err
	}
	a.clear()
	return a.gather()
}

func (a *Aggregate) clear() {
	for i := range a.states {
		s := &a.states[i]
		s.any, s.float, s.count = false, 0, 0
		s.exact.reset()
	}
}

// gather adds the row in a.fields to the group.
func (a *Aggregate) gather() error {
	for i := range a.outputs {
		o, s := &a.outputs[i], &a.states[i]
		v := a.fields[o.Column]
		if v == nil || o.Func == First {
			continue
		}
		if o.exact() && len(a.groupBy) > 0 && sqltypes.Clipped(v) {
			return tooLong()
		}
		switch o.Func {
		case SumExact, SumRounded, Count:
			if err := s.exact.add(v); err != nil {
				return err
			}
		case SumFloat:
			s.float += parseFloat(v)
		case Min, Max:
			s.pick(o, v, a.fields[o.Order.Column])
		case AvgExact, AvgFloat:
			n, err := strconv.ParseUint(string(a.fields[o.Count]), 10, 64)
			if err != nil {
				return badNumber(a.fields[o.Count])
			}
			s.count += n
			if o.Func == AvgFloat {
				s.float += parseFloat(v)
			} else if err := s.exact.add(v); err != nil {
				return err
			}
		}
		s.any = true
	}
	return nil
}

// pick keeps v if it is better than what is kept; order is what they are compared by.
func (s *state) pick(o *Output, v, order []byte) {
	if s.any {
		best := s.best
		if o.Order.Column != o.Column {
			best = s.order
		}
		c := o.Order.compare(order, best)
		if c == 0 || c < 0 != (o.Func == Min) {
			return
		}
	}
	s.best = append(s.best[:0], v...)
	if o.Order.Column != o.Column {
		s.order = append(s.order[:0], order...)
	}
}

// row builds the group's row.
func (a *Aggregate) row() ([]byte, error) {
	a.out = a.out[:0]
	for i := range a.outputs {
		o, s := &a.outputs[i], &a.states[i]
		var v []byte
		switch {
		case o.Func == First:
			if a.started {
				v = a.kept[o.Column]
			}
		case o.Func == Count:
			v = s.exact.appendTo(s.text[:0])
			s.text = v
		case !s.any:
		case o.Func == Min || o.Func == Max:
			v = s.best
			if v == nil {
				v = []byte{} // a copy of ''
			}
		case (o.Func == AvgExact || o.Func == AvgFloat) && s.count == 0:
		default:
			if o.exact() && len(a.groupBy) > 0 && s.exact.large != nil && sqltypes.Clipped(s.exact.appendTo(nil)) {
				return nil, tooLong()
			}
			v = s.result(s.text[:0], o)
			s.text = v
		}
		a.out = appendField(a.out, v)
	}
	return a.out, nil
}

func (s *state) result(dst []byte, o *Output) []byte {
	f := s.float
	switch o.Func {
	case SumExact:
		return s.exact.appendTo(dst)
	case SumRounded:
		return s.exact.appendQuotient(dst, 1, o.Decimals)
	case AvgExact:
		return s.exact.appendQuotient(dst, s.count, o.Decimals)
	case AvgFloat:
		f /= float64(s.count)
	}
	if o.Decimals < NotFixed {
		return strconv.AppendFloat(dst, f, 'f', o.Decimals, 64)
	}
	return sqltypes.AppendFloat(dst, f)
}
