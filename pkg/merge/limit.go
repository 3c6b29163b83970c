package merge

import "io"

// Limit passes on count rows after leaving out offset rows. It never asks for a row it does not need.
type Limit struct {
	input         Source
	offset, count uint64
	found         *uint64
	all           bool
}

// NewLimit returns the count rows of input after the first offset.
func NewLimit(input Source, offset, count uint64) *Limit {
	return &Limit{input: input, offset: offset, count: count}
}

// NewCountedLimit is NewLimit that counts the rows of input that it has read in *found. all: it reads the others, too, when it has passed on
// count rows.
func NewCountedLimit(input Source, offset, count uint64, all bool, found *uint64) *Limit {
	*found = 0
	return &Limit{input: &counted{input, found}, offset: offset, count: count, found: found, all: all}
}

// counted counts the rows that it passes on.
type counted struct {
	Source
	rows *uint64
}

func (c *counted) Next() ([]byte, error) {
	row, err := c.Source.Next()
	if err == nil {
		*c.rows++
	}
	return row, err
}

// Next implements Source.
func (l *Limit) Next() ([]byte, error) {
	for ; l.offset > 0; l.offset-- {
		if _, err := l.input.Next(); err != nil {
			return nil, err
		}
	}
	if l.count == 0 {
		return nil, l.rest()
	}
	l.count--
	return l.input.Next()
}

// rest reads what is left of the input where all of it is counted. It returns io.EOF, or why that failed.
func (l *Limit) rest() error {
	for l.all {
		if _, err := l.input.Next(); err != nil {
			return err
		}
	}
	return io.EOF
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
