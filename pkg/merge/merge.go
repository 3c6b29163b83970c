// Package merge joins the row streams of several node groups into the one stream a single server would have sent:
// concatenation, sorted merge, grouped aggregation of partial results, DISTINCT, sorting, LIMIT and projection. It works on
// the payloads of text-protocol rows and decodes no more of them than it compares. It knows nothing of SQL text,
// plans, connections or groups.
//
// All of it but Sort streams: memory is one row per stream, whatever the length of the result. Sort has a file.
package merge

import "io"

// Source is a stream of rows.
type Source interface {
	// Next returns the payload of the next row, or io.EOF after the last one. The payload is valid, and must not be
	// changed, until Next is called again on the same Source. After an error Next is not called again.
	Next() ([]byte, error)
}

// Concat is its sources' rows one source after the other.
type Concat struct {
	sources []Source
}

// NewConcat returns the concatenation of sources; it keeps the slice.
func NewConcat(sources []Source) *Concat { return &Concat{sources: sources} }

// Next implements Source.
func (c *Concat) Next() ([]byte, error) {
	for len(c.sources) > 0 {
		row, err := c.sources[0].Next()
		if err != io.EOF {
			return row, err
		}
		c.sources = c.sources[1:]
	}
	return nil, io.EOF
}
