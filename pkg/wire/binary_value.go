package wire

import (
	"encoding/binary"
	"strconv"
)

// appendInt writes an integer of 1, 2, 4 or 8 bytes in decimal.
func appendInt(dst, raw []byte, unsigned bool) []byte {
	var u uint64
	var s int64
	switch len(raw) {
	case 1:
		u, s = uint64(raw[0]), int64(int8(raw[0]))
	case 2:
		x := binary.LittleEndian.Uint16(raw)
		u, s = uint64(x), int64(int16(x))
	case 4:
		x := binary.LittleEndian.Uint32(raw)
		u, s = uint64(x), int64(int32(x))
	default:
		u = binary.LittleEndian.Uint64(raw)
		s = int64(u)
	}
	if unsigned {
		return strconv.AppendUint(dst, u, 10)
	}
	return strconv.AppendInt(dst, s, 10)
}

// appendDigits writes n in at least width digits.
func appendDigits(dst []byte, n uint64, width int) []byte {
	for limit := uint64(10); width > 1; width, limit = width-1, limit*10 {
		if n < limit {
			dst = append(dst, '0')
		}
	}
	return strconv.AppendUint(dst, n, 10)
}

// appendDate writes an encoded date of 0 bytes (the zero date), 4 or more.
func appendDate(dst, raw []byte) []byte {
	var year uint16
	var month, day byte
	if len(raw) >= 4 {
		year, month, day = binary.LittleEndian.Uint16(raw), raw[2], raw[3]
	}
	dst = append(appendDigits(dst, uint64(year), 4), '-')
	dst = append(appendDigits(dst, uint64(month), 2), '-')
	return appendDigits(dst, uint64(day), 2)
}

// appendDatetime writes an encoded date and time of 0, 4, 7, 11 or 13 bytes with so many digits of the second's fraction; -1 means
// six if there is a fraction, else none. The last two bytes are a time zone.
func appendDatetime(dst, raw []byte, decimals int) []byte {
	dst = append(appendDate(dst, raw), ' ')
	var clock [3]byte
	if len(raw) >= 7 {
		copy(clock[:], raw[4:])
	}
	dst = append(appendDigits(dst, uint64(clock[0]), 2), ':')
	dst = append(appendDigits(dst, uint64(clock[1]), 2), ':')
	dst = appendDigits(dst, uint64(clock[2]), 2)
	dst = appendFraction(dst, raw, 7, decimals)
	if len(raw) < zoned {
		return dst
	}
	east, sign := int64(int16(binary.LittleEndian.Uint16(raw[zoned-2:]))), byte('+') // minutes
	if east < 0 {
		east, sign = -east, '-'
	}
	dst = append(appendDigits(append(dst, sign), uint64(east/60), 2), ':')
	return appendDigits(dst, uint64(east%60), 2)
}

// appendTime writes an encoded time of 0, 8 or 12 bytes; decimals is as for appendDatetime.
func appendTime(dst, raw []byte, decimals int) []byte {
	if len(raw) < 8 {
		return appendFraction(append(dst, "00:00:00"...), nil, 8, decimals)
	}
	if raw[0] != 0 {
		dst = append(dst, '-')
	}
	hours := uint64(binary.LittleEndian.Uint32(raw[1:]))*24 + uint64(raw[5])
	dst = append(appendDigits(dst, hours, 2), ':')
	dst = append(appendDigits(dst, uint64(raw[6]), 2), ':')
	dst = appendDigits(dst, uint64(raw[7]), 2)
	return appendFraction(dst, raw, 8, decimals)
}

// appendFraction writes the microseconds that stand at raw[at:], if they do.
func appendFraction(dst, raw []byte, at, decimals int) []byte {
	var micros uint32
	if len(raw) >= at+4 {
		micros = binary.LittleEndian.Uint32(raw[at:])
	}
	if decimals < 0 && micros == 0 || decimals == 0 {
		return dst
	}
	if decimals < 0 || decimals > 6 {
		decimals = 6
	}
	dst = append(dst, '.')
	end := len(dst) + decimals
	dst = appendDigits(dst, uint64(micros), 6)
	return dst[:end]
}
