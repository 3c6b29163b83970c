package exec

import (
	"bytes"
	"strconv"
)

// The text of an OK packet counts: "Rows matched: 3  Changed: 2  Warnings: 0". Over several groups the counts are
// added, and the words stay as the servers wrote them.

// addInfo returns sum with info's counts added; sum is overwritten. A text of another form replaces nothing but "".
func addInfo(sum, info []byte) []byte {
	if len(info) == 0 {
		return sum
	}
	if len(sum) == 0 {
		return append(sum, info...)
	}
	out := make([]byte, 0, len(sum)+8)
	rest := info
	for len(sum) > 0 {
		words := digitsAt(sum)
		if !bytes.HasPrefix(rest, sum[:words]) {
			return append(out, sum...)
		}
		out, rest = append(out, sum[:words]...), rest[words:]
		sum = sum[words:]
		m, sizeM := number(sum)
		n, sizeN := number(rest)
		if sizeM > 0 && sizeN > 0 {
			out = strconv.AppendUint(out, m+n, 10)
		}
		sum, rest = sum[sizeM:], rest[sizeN:]
	}
	return out
}

// digitsAt returns where the first digit stands, or the length.
func digitsAt(s []byte) int {
	for i, c := range s {
		if c >= '0' && c <= '9' {
			return i
		}
	}
	return len(s)
}

// number reads the digits at the start of s.
func number(s []byte) (n uint64, size int) {
	for size < len(s) && s[size] >= '0' && s[size] <= '9' {
		n = n*10 + uint64(s[size]-'0')
		size++
	}
	return n, size
}
