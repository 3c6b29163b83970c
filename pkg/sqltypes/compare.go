package sqltypes

import "bytes"

// CompareFunc returns how the server sorts strings under a collation: less than, equal or greater as the result is
// negative, 0 or positive. Strings are as Collation wants them. "" and "binary" compare bytes. The result is nil when the
// collation is not known (see LookupCollation): sort by the server's WEIGHT_STRING then. Names that only MySQL has mean
// MySQL's collation.
// The function keeps working memory: it belongs to one goroutine.
func CompareFunc(collation string) func(a, b []byte) int {
	if collation == "" || collation == "binary" {
		return bytes.Compare
	}
	c, err := LookupCollation(collation, false)
	if err != nil {
		return nil
	}
	return c.CompareFunc()
}

// CompareFunc returns a comparison under c; see the function CompareFunc.
func (c *Collation) CompareFunc() func(a, b []byte) int {
	if c.form == byBytes {
		if !c.padSpace {
			return bytes.Compare
		}
		if !c.isLatin1() { // whose order is not that of the characters' numbers
			return func(a, b []byte) int { return comparePadded(a, b, c.pad) }
		}
	}
	var ka, kb []byte
	return func(a, b []byte) int {
		if r, ok := c.compareASCII(a, b); ok {
			return r
		}
		var oka, okb bool
		ka, oka = c.appendSortKey(ka[:0], a)
		kb, okb = c.appendSortKey(kb[:0], b)
		if !oka || !okb {
			return bytes.Compare(a, b) // not a string of that character set: any order will do, but keep one
		}
		return comparePadded(ka, kb, c.pad)
	}
}

// appendSortKey is AppendKey with keys that sort like the server, too.
func (c *Collation) appendSortKey(dst, s []byte) ([]byte, bool) {
	if c.form == byBytes {
		return c.appendNarrow(dst, s)
	}
	return c.AppendKey(dst, s)
}

// compareASCII compares where nothing but ASCII characters with weights decides; else it returns false.
func (c *Collation) compareASCII(a, b []byte) (int, bool) {
	if !c.asciiFast {
		return 0, false
	}
	n := min(len(a), len(b))
	for i := range n {
		if a[i]|b[i] >= 0x80 {
			return 0, false
		}
		wa, wb := c.ascii[a[i]], c.ascii[b[i]]
		if wa == 0 || wb == 0 {
			return 0, false
		}
		if wa != wb {
			// Decided, if what follows cannot combine with it: none of these collations knows contractions.
			return int(wa) - int(wb), true
		}
	}
	switch {
	case len(a) == len(b):
		return 0, true
	case len(a) > len(b):
		return c.tailASCII(a[n:])
	default:
		r, ok := c.tailASCII(b[n:])
		return -r, ok
	}
}

// tailASCII compares tail with nothing, or with spaces under PAD SPACE.
func (c *Collation) tailASCII(tail []byte) (int, bool) {
	for _, ch := range tail {
		if ch >= 0x80 || c.ascii[ch] == 0 {
			return 0, false
		}
		if !c.padSpace {
			return 1, true
		}
		if r := int(c.ascii[ch]) - int(c.ascii[' ']); r != 0 {
			return r, true
		}
	}
	return 0, true
}

// comparePadded compares a and b as if the shorter were filled up with pad; without pad the shorter comes first.
func comparePadded(a, b, pad []byte) int {
	n := min(len(a), len(b))
	if r := bytes.Compare(a[:n], b[:n]); r != 0 || len(a) == len(b) {
		return r
	}
	if len(pad) == 0 {
		return len(a) - len(b)
	}
	tail, sign := a[n:], 1
	if len(b) > n {
		tail, sign = b[n:], -1
	}
	for len(tail) >= len(pad) {
		if r := bytes.Compare(tail[:len(pad)], pad); r != 0 {
			return r * sign
		}
		tail = tail[len(pad):]
	}
	return 0
}
