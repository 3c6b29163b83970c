package merge

// Distinct drops every row that equals the one before in all keys. The input is sorted by them.
type Distinct struct {
	input  Source
	keys   []Key
	last   []byte // a copy of the last row passed on
	kept   [][]byte
	fields [][]byte
	any    bool
}

// NewDistinct returns the rows of input that differ from the one before. It keeps keys.
func NewDistinct(input Source, keys []Key) *Distinct {
	n := width(keys)
	return &Distinct{input: input, keys: keys, kept: make([][]byte, n), fields: make([][]byte, n)}
}

// Next implements Source.
func (d *Distinct) Next() ([]byte, error) {
	for {
		row, err := d.input.Next()
		if err != nil {
			return nil, err
		}
		if err := Split(row, d.fields); err != nil {
			return nil, err
		}
		if d.any && equal(d.keys, d.kept, d.fields) {
			continue
		}
		d.any = true
		// The input may reuse row's memory as soon as it is asked for the next one.
		d.last = append(d.last[:0], row...)
		if err := Split(d.last, d.kept); err != nil {
			return nil, err
		}
		return row, nil
	}
}
