package exec

import (
	"fmt"
	"slices"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

// maxHeld bounds the bytes of a result that is held back.
const maxHeld = 64 << 20

// Held is a Sink that keeps a result until it is known that what it tells has come to stay.
type Held struct {
	columns []sqltypes.Column
	rows    [][]byte
	bytes   int
}

// Columns implements Sink.
func (h *Held) Columns(cols []sqltypes.Column) error {
	if h.columns == nil {
		h.columns = cols
	}
	return nil
}

// Row implements Sink.
func (h *Held) Row(payload []byte) error {
	if h.bytes += len(payload); h.bytes > maxHeld {
		return sqlerr.Unsupported(fmt.Sprintf("RETURNING of more than %d bytes over several node groups", maxHeld), "write fewer rows at once")
	}
	h.rows = append(h.rows, append([]byte(nil), payload...))
	return nil
}

// Rows is how many rows there are, and whether there is a result at all.
func (h *Held) Rows() (n uint64, any bool) { return uint64(len(h.rows)), h.columns != nil }

// Name calls the columns as others are called.
func (h *Held) Name(as []sqltypes.Column) {
	h.columns = slices.Clone(h.columns)
	for i := range min(len(as), len(h.columns)) {
		h.columns[i].Name = as[i].Name
	}
}

// Pass gives the result to sink, its rows in the given order if it is not nil.
func (h *Held) Pass(sink Sink, order []int) error {
	if err := sink.Columns(h.columns); err != nil {
		return err
	}
	for i := range h.rows {
		at := i
		if order != nil {
			at = order[i]
		}
		if err := sink.Row(h.rows[at]); err != nil {
			return err
		}
	}
	return nil
}
