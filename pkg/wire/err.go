package wire

import (
	"encoding/binary"

	"skarv/pkg/sqlerr"
)

// AppendErr appends the payload of an ERR packet. A message longer than MySQL's clients hold (512 bytes in old
// ones) is sent whole; it is cut only at 64 KB.
func AppendErr(dst []byte, e *sqlerr.Error) []byte {
	dst = append(dst, ErrHeader)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(e.Code))
	dst = append(dst, '#')
	state := e.State
	if len(state) != 5 {
		state = "HY000"
	}
	dst = append(dst, state...)
	return append(dst, e.Message[:min(len(e.Message), 64<<10)]...)
}

// ParseErr reads the payload of an ERR packet. One sent before the handshake has no SQLSTATE; it then is HY000.
// The error owns its memory.
func ParseErr(payload []byte) (*sqlerr.Error, error) {
	if len(payload) < 3 || payload[0] != ErrHeader {
		return nil, malformed("ERR packet")
	}
	e := &sqlerr.Error{Code: sqlerr.Code(binary.LittleEndian.Uint16(payload[1:])), State: "HY000"}
	text := payload[3:]
	if len(text) >= 6 && text[0] == '#' {
		e.State = string(text[1:6])
		text = text[6:]
	}
	e.Message = string(text)
	return e, nil
}
