package wire

// AppendTextValue appends one value of a text row: nil is NULL, an empty value that is not nil is ”.
func AppendTextValue(dst, value []byte) []byte {
	if value == nil {
		return append(dst, lenencNull)
	}
	return AppendLenencString(dst, value)
}

// AppendTextRow appends the payload of a text row; nil is NULL, an empty field that is not nil is ”.
func AppendTextRow(dst []byte, fields [][]byte) []byte {
	for _, f := range fields {
		dst = AppendTextValue(dst, f)
	}
	return dst
}

// ParseTextRow returns all values of a text row in the memory of fields, whose contents do not matter; nil is NULL. The values
// point into payload. How many there must be, the caller knows.
func ParseTextRow(payload []byte, fields [][]byte) ([][]byte, error) {
	fields = fields[:0]
	for len(payload) > 0 {
		if payload[0] == lenencNull {
			fields, payload = append(fields, nil), payload[1:]
			continue
		}
		value, size := LenencString(payload)
		if size == 0 {
			return nil, malformed("text row")
		}
		fields, payload = append(fields, value), payload[size:]
	}
	return fields, nil
}
