package merge

import (
	"encoding/binary"

	"skarv/pkg/sqlerr"
)

// A text row is its columns one after the other: a length-encoded string each, or the byte 0xfb for NULL.

const nullByte = 0xfb

// Split sets fields to the first len(fields) columns of row: nil is NULL, an empty string is not nil. The fields
// point into row.
func Split(row []byte, fields [][]byte) error {
	_, err := split(row, fields)
	return err
}

// split is Split and returns where the columns end.
func split(row []byte, fields [][]byte) (int, error) {
	pos := 0
	for i := range fields {
		if pos >= len(row) {
			return 0, malformedRow()
		}
		c := row[pos]
		if c == nullByte {
			fields[i] = nil
			pos++
			continue
		}
		n, size := uint64(c), 1
		if c > nullByte {
			n, size = longLength(row[pos:])
			if size == 0 {
				return 0, malformedRow()
			}
		}
		pos += size
		if n > uint64(len(row)-pos) {
			return 0, malformedRow()
		}
		end := pos + int(n)
		fields[i] = row[pos:end:end]
		pos = end
	}
	return pos, nil
}

// skip returns where the first n columns of row end.
func skip(row []byte, n int) (int, error) {
	pos := 0
	for range n {
		if pos >= len(row) {
			return 0, malformedRow()
		}
		c := row[pos]
		if c < nullByte {
			pos += 1 + int(c)
			continue
		}
		if c == nullByte {
			pos++
			continue
		}
		length, size := longLength(row[pos:])
		if size == 0 || length > uint64(len(row)-pos-size) {
			return 0, malformedRow()
		}
		pos += size + int(length)
	}
	if pos > len(row) {
		return 0, malformedRow()
	}
	return pos, nil
}

// longLength reads a length of three, four or nine bytes; size 0 is none.
func longLength(b []byte) (n uint64, size int) {
	switch {
	case b[0] == 0xfc && len(b) >= 3:
		return uint64(b[1]) | uint64(b[2])<<8, 3
	case b[0] == 0xfd && len(b) >= 4:
		return uint64(b[1]) | uint64(b[2])<<8 | uint64(b[3])<<16, 4
	case b[0] == 0xfe && len(b) >= 9:
		return binary.LittleEndian.Uint64(b[1:]), 9
	}
	return 0, 0
}

// appendField appends one column to a row; nil is NULL.
func appendField(dst, field []byte) []byte {
	n := len(field)
	switch {
	case field == nil:
		return append(dst, nullByte)
	case n < nullByte:
		dst = append(dst, byte(n))
	case n < 1<<16:
		dst = append(dst, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		dst = append(dst, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	default:
		dst = binary.LittleEndian.AppendUint64(append(dst, 0xfe), uint64(n))
	}
	return append(dst, field...)
}

func malformedRow() error { return sqlerr.MalformedPacket.New() }
