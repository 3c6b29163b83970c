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

// TextRow is the payload of a text row, or what is left of it.
type TextRow []byte

// Next returns the first value, nil for NULL, and the row behind it. It must not be called on an empty TextRow.
func (r TextRow) Next() (value []byte, rest TextRow, err error) {
	if len(r) > 0 && r[0] == lenencNull {
		return nil, r[1:], nil
	}
	value, size := LenencString(r)
	if size == 0 {
		return nil, nil, malformed("text row")
	}
	return value, r[size:], nil
}

// Field returns value number i, nil for NULL.
func (r TextRow) Field(i int) (value []byte, err error) {
	for ; ; i-- {
		value, r, err = r.Next()
		if err != nil || i == 0 {
			return value, err
		}
	}
}

// ParseTextRow returns all values of a text row in the memory of fields, whose contents do not matter; nil is NULL. The values
// point into payload. How many there must be, the caller knows.
func ParseTextRow(payload []byte, fields [][]byte) ([][]byte, error) {
	fields = fields[:0]
	for r := TextRow(payload); len(r) > 0; {
		var value []byte
		var err error
		if value, r, err = r.Next(); err != nil {
			return nil, err
		}
		fields = append(fields, value)
	}
	return fields, nil
}
