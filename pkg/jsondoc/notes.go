package jsondoc

import (
	"bytes"
	"slices"
	"strconv"
)

// Notes are those of a document whose text is being written by who reads a server's own form of it.
type Notes struct{ list []byte }

// Add notes a value of which text is the text, quotes or not. One of member and element is its number, from 1; both are 0 for the document
// itself.
func (n *Notes) Add(member, element int, kind string, text []byte) {
	number := func(i int) {
		if i == 0 {
			n.list = append(n.list, "null, "...)
			return
		}
		n.list = append(strconv.AppendInt(n.list, int64(i), 10), ", "...)
	}
	if n.list == nil {
		n.list = append(n.list, mark, '[')
	} else {
		n.list = append(n.list, ", "...)
	}
	n.list = append(n.list, '[')
	number(member)
	number(element)
	n.list = append(append(append(n.list, '"'), kind...), `", "`...)
	n.list = append(append(n.list, bytes.Trim(text, `"`)...), `"]`...)
}

// Insert puts the notes before the text, which is what dst has from the given place.
func (n *Notes) Insert(dst []byte, from int) []byte {
	if n.list == nil {
		return dst
	}
	return slices.Insert(dst, from, append(n.list, "]\n"...)...)
}
