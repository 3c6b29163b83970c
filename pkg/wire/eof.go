package wire

import "encoding/binary"

// EOF ends column definitions and rows when CapDeprecateEOF is not negotiated.
type EOF struct {
	Warnings uint16
	Status   Status
}

// AppendEOF appends the payload of an EOF packet.
func AppendEOF(dst []byte, e EOF) []byte {
	dst = append(dst, EOFHeader)
	dst = binary.LittleEndian.AppendUint16(dst, e.Warnings)
	return binary.LittleEndian.AppendUint16(dst, uint16(e.Status))
}

// ParseEOF reads the payload of an EOF packet.
func ParseEOF(payload []byte) (EOF, error) {
	if len(payload) != 5 || payload[0] != EOFHeader {
		return EOF{}, malformed("EOF packet")
	}
	return EOF{
		Warnings: binary.LittleEndian.Uint16(payload[1:]),
		Status:   Status(binary.LittleEndian.Uint16(payload[3:])),
	}, nil
}

// IsEOF reports whether payload, in the place of a row or column definition, ends them: an EOF packet, or the OK packet
// that stands in for it when caps has CapDeprecateEOF. A row can start with the same byte only if its first value is
// 16 MB or longer, and then its first packet is full.
func IsEOF(payload []byte, caps Capability) bool {
	if len(payload) == 0 || payload[0] != EOFHeader {
		return false
	}
	if caps.Has(CapDeprecateEOF) {
		return len(payload) < MaxPacket
	}
	return len(payload) < 9
}

// ParseEnd reads the packet that IsEOF recognised, in either form; an EOF packet gives an OK with its two fields. (Some
// commands end with a plain EOF packet whatever was negotiated; its length tells them apart.)
func ParseEnd(payload []byte, caps Capability) (OK, error) {
	if caps.Has(CapDeprecateEOF) && len(payload) > 5 {
		return ParseOK(payload, caps)
	}
	e, err := ParseEOF(payload)
	return OK{Status: e.Status, Warnings: e.Warnings}, err
}

// AppendEnd appends the packet that ends rows in the form caps asks for.
func AppendEnd(dst []byte, ok OK, caps Capability) []byte {
	if caps.Has(CapDeprecateEOF) {
		return AppendOK(dst, ok, caps, EOFHeader)
	}
	return AppendEOF(dst, EOF{Warnings: ok.Warnings, Status: ok.Status &^ StatusSessionStateChanged})
}
