package mysqlconn

import (
	"bytes"

	"skarv/pkg/sqltypes"
	"skarv/pkg/wire"
)

// columnCache keeps the columns of the last result with the bytes they were read from: a statement that runs again has the same ones,
// and then nothing is decoded or allocated.
type columnCache struct {
	raw     []byte // definitions one behind the other
	ends    []int  // where each ends in raw
	columns []sqltypes.Column
}

// cachedColumns bounds what the cache keeps.
const cachedColumns = 16 << 10

// readColumns reads n column definitions.
func (c *Conn) readColumns(n int) ([]sqltypes.Column, error) {
	k := &c.columns
	same := len(k.ends) == n
	start := 0
	var columns []sqltypes.Column
	for i := range n {
		payload, err := c.readPacket()
		if err != nil {
			return nil, err
		}
		if len(payload) > 0 && payload[0] == wire.ErrHeader {
			*k = columnCache{} // it may be half of one list and half of another
			c.ended()
			return nil, c.serverError(payload)
		}
		if same && bytes.Equal(k.raw[start:k.ends[i]], payload) {
			start = k.ends[i]
			continue
		}
		if same || i == 0 {
			// From here on it is another list of columns; those before i agree. The old list may be in use elsewhere.
			same = false
			columns = make([]sqltypes.Column, 0, min(n, 256))
			columns = append(columns, k.columns[:min(i, len(k.columns))]...)
			k.raw, k.ends = k.raw[:start], k.ends[:i]
		}
		col, err := wire.ParseColumn(payload, c.caps)
		if err != nil {
			return nil, c.lost(err)
		}
		columns = append(columns, col)
		k.raw = append(k.raw, payload...)
		k.ends = append(k.ends, len(k.raw))
	}
	if same {
		return k.columns, nil
	}
	k.columns = columns
	if len(k.raw) > cachedColumns {
		*k = columnCache{}
	}
	return columns, nil
}
