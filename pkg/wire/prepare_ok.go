package wire

import "encoding/binary"

// PrepareOK begins the answer to COM_STMT_PREPARE. Definitions of the parameters and then of the columns follow, each
// ended by an EOF packet unless CapDeprecateEOF is negotiated or there are none.
type PrepareOK struct {
	ID       uint32
	Columns  uint16
	Params   uint16
	Warnings uint16
}

// AppendPrepareOK appends the payload.
func AppendPrepareOK(dst []byte, p PrepareOK) []byte {
	dst = append(dst, OKHeader)
	dst = binary.LittleEndian.AppendUint32(dst, p.ID)
	dst = binary.LittleEndian.AppendUint16(dst, p.Columns)
	dst = binary.LittleEndian.AppendUint16(dst, p.Params)
	dst = append(dst, 0)
	return binary.LittleEndian.AppendUint16(dst, p.Warnings)
}

// ParsePrepareOK reads the payload.
func ParsePrepareOK(payload []byte) (PrepareOK, error) {
	c := cursor{b: payload}
	header := c.uint8()
	p := PrepareOK{ID: c.uint32(), Columns: c.uint16(), Params: c.uint16()}
	if c.bad || header != OKHeader {
		return PrepareOK{}, malformed("answer to prepare")
	}
	c.uint8()
	p.Warnings = c.uint16() // left out by servers of long ago
	return p, nil
}
