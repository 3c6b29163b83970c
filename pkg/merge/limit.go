package merge

import "io"

// Limit passes on count rows after leaving out offset rows. It never asks for a row it does not need.
type Limit struct {
	input         Source
	offset, count uint64
}

// NewLimit returns the count rows of input after the first offset.
func NewLimit(input Source, offset, count uint64) *Limit {
	return &Limit{input: input, offset: offset, count: count}
}

// Next implements Source.
func (l *Limit) Next() ([]byte, error) {
	if l.count == 0 {
		return nil, io.EOF
	}
	for ; l.offset > 0; l.offset-- {
		if _, err := l.input.Next(); err != nil {
			return nil, err
		}
	}
	l.count--
	return l.input.Next()
}

// Project keeps the first columns of its input's rows.
type Project struct {
	input Source
	keep  int
}

// NewProject returns input with only its first keep columns.
func NewProject(input Source, keep int) *Project { return &Project{input: input, keep: keep} }

// Next implements Source.
func (p *Project) Next() ([]byte, error) {
	row, err := p.input.Next()
	if err != nil {
		return nil, err
	}
	end, err := skip(row, p.keep)
	if err != nil {
		return nil, err
	}
	return row[:end:end], nil
}
