package placement

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"skarv/pkg/sqltypes"
)

// setMembers reads the members of an ENUM or SET column and their collation keys.
func (c *KeyColumn) setMembers(spec ColumnSpec) (why, how string) {
	if why, how = c.setCollation(spec); why != "" {
		return why, how
	}
	open := strings.IndexByte(spec.ColumnType, '(')
	if open < 0 || strings.Contains(spec.ColumnType, `\`) {
		return "its members cannot be read", "use members without backslashes"
	}
	rest := spec.ColumnType[open+1:]
	for {
		member, tail, ok := cutQuoted(rest)
		if !ok {
			return "its members cannot be read", "use simple members"
		}
		key, ok := c.coll.AppendKey(nil, []byte(member))
		if !ok || slices.Contains(c.weights, string(key)) || c.kind == setKey && (member == "" || strings.HasSuffix(member, " ")) {
			return "its members are not distinct", "use members that differ under the collation"
		}
		c.members = append(c.members, member)
		c.weights = append(c.weights, string(key))
		if tail == ")" || strings.HasPrefix(tail, ") ") {
			break
		}
		if !strings.HasPrefix(tail, ",") {
			return "its members cannot be read", "use simple members"
		}
		rest = tail[1:]
	}
	if c.kind == setKey && len(c.members) > 64 {
		return "it has more than 64 members", "use fewer"
	}
	return "", ""
}

// cutQuoted takes 'text' with doubled quotes off the front of s.
func cutQuoted(s string) (text, rest string, ok bool) {
	if !strings.HasPrefix(s, "'") {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != '\'' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		return b.String(), s[i+1:], true
	}
	return "", "", false
}

// member returns the position from 1 of the member that is text under the collation, or 0. scratch is working memory
// from its length on.
func (c *KeyColumn) member(scratch, text []byte) (position int, grown []byte) {
	start := len(scratch)
	key, ok := c.coll.AppendKey(scratch, text)
	if !ok {
		return 0, key[:start]
	}
	for i, w := range c.weights {
		if w == string(key[start:]) {
			return i + 1, key[:start]
		}
	}
	return 0, key[:start]
}

// appendEnum appends the position of the member, which is 0 for the empty value in the place of what was no member.
func (c *KeyColumn) appendEnum(dst []byte, v sqltypes.Value, store bool) ([]byte, Match) {
	switch v.Kind {
	case sqltypes.Int:
		n, ok := sqltypes.ParseNumber(v.Raw)
		if !ok || n.Negative || len(n.Frac) > 0 || len(n.Int) > 5 {
			return dst, Unknown
		}
		if i, _ := strconv.Atoi(string(n.Int)); i > len(c.members) {
			return dst, Unknown
		}
		return n.Append(dst), Exact
	case sqltypes.String:
		text := bytes.TrimRight(v.Raw, " ")
		if len(text) == 0 {
			return dst, Unknown // a member, or the value of what was no member
		}
		if !store {
			text = v.Raw
		}
		i, dst := c.member(dst, text)
		if i == 0 {
			return dst, Unknown // perhaps a number in quotes
		}
		return strconv.AppendInt(dst, int64(i), 10), Exact
	default:
		return dst, Unknown
	}
}

// appendSet appends the members' bits as a number.
func (c *KeyColumn) appendSet(dst []byte, v sqltypes.Value, mode Mode) ([]byte, Match) {
	switch v.Kind {
	case sqltypes.Int:
		n, ok := sqltypes.ParseNumber(v.Raw)
		if !ok || n.Negative || len(n.Frac) > 0 || len(n.Int) > 18 && mode != Stored {
			return dst, Unknown
		}
		if x, _ := strconv.ParseUint("0"+string(n.Int), 10, 64); len(c.members) < 64 && x>>len(c.members) != 0 {
			return dst, Unknown
		}
		return n.Append(dst), Exact
	case sqltypes.String:
		var bits uint64
		last := 0
		for rest := v.Raw; len(rest) > 0; {
			var text []byte
			var more bool
			text, rest, more = bytes.Cut(rest, []byte{','})
			if len(text) == 0 || text[len(text)-1] == ' ' || more && len(rest) == 0 {
				return dst, Unknown
			}
			var i int
			i, dst = c.member(dst, text)
			if i == 0 || mode == Compare && i <= last {
				return dst, Unknown // compared as a string: the members' order counts
			}
			last = i
			bits |= 1 << (i - 1)
		}
		return strconv.AppendUint(dst, bits, 10), Exact
	default:
		return dst, Unknown
	}
}
