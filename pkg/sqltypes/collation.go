package sqltypes

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"vitess.io/vitess/go/mysql/collations"
	"vitess.io/vitess/go/mysql/collations/colldata"
)

// Collation compares and hashes character strings as MySQL and MariaDB do under the collation of that name.
//
// Strings are given in UTF-8 (utf8mb4), as a server sends them to a connection of that character set, also when the
// collation belongs to latin1 or ascii; only for "binary" they are bytes. A Collation is immutable and safe for
// concurrent use.
//
// There are only collations here for which this code and both servers give the same weights for every character
// (TestCollationsAgreeWithServer): the others compare in the server or not at all.
type Collation struct {
	name     string
	form     weightForm
	coll     colldata.Collation
	maxRune  rune
	padSpace bool
	pad      []byte // the weight of a space; nil under NO PAD
	// ascii is the weight of each ASCII character when every one has at most one: weightKnown with the weight, or 0
	// when the character is ignored. Not used by multi-level collations.
	ascii     [utf8.RuneSelf]uint32
	asciiFast bool
	// narrow is the weight of each latin1 byte, high the characters of 0x80 to 0x9f.
	narrow [256]byte
	high   [32]rune
}

// weightForm says how weights are made.
type weightForm uint8

const (
	byBytes  weightForm = iota // the string's bytes are its weights
	byTable                    // one byte for each character of an 8-bit character set
	byWeight                   // 16-bit weights, any number for each character
)

const weightKnown = 1 << 16

// collationSpec is one line of the table of collations.
type collationSpec struct {
	name      string
	form      weightForm
	noPad     bool
	mysqlOnly bool
	asciiFast bool
}

// knownCollations is the table of collations Skarv can compare by itself. A name stands here after the test against
// real servers has passed for it.
func knownCollations() []collationSpec {
	return []collationSpec{
		{name: "binary", form: byBytes, noPad: true},
		{name: "ascii_bin", form: byBytes},
		{name: "ascii_general_ci", form: byTable},
		{name: "latin1_bin", form: byBytes},
		{name: "latin1_danish_ci", form: byTable},
		{name: "latin1_general_ci", form: byTable},
		{name: "latin1_general_cs", form: byTable},
		{name: "latin1_german1_ci", form: byTable},
		{name: "latin1_spanish_ci", form: byTable},
		{name: "latin1_swedish_ci", form: byTable},
		{name: "utf8mb3_bin", form: byBytes},
		{name: "utf8mb3_general_ci", form: byWeight, asciiFast: true},
		{name: "utf8mb3_unicode_ci", form: byWeight, asciiFast: true},
		{name: "utf8mb3_unicode_520_ci", form: byWeight, asciiFast: true},
		{name: "utf8mb4_bin", form: byBytes},
		{name: "utf8mb4_general_ci", form: byWeight, asciiFast: true},
		{name: "utf8mb4_unicode_ci", form: byWeight, asciiFast: true},
		{name: "utf8mb4_unicode_520_ci", form: byWeight, asciiFast: true},
		// MariaDB either does not know these or takes their names for collations of its own.
		{name: "utf8mb4_0900_bin", form: byBytes, noPad: true, mysqlOnly: true},
		{name: "utf8mb4_0900_ai_ci", form: byWeight, noPad: true, mysqlOnly: true, asciiFast: true},
		{name: "utf8mb4_0900_as_ci", form: byWeight, noPad: true, mysqlOnly: true},
		{name: "utf8mb4_0900_as_cs", form: byWeight, noPad: true, mysqlOnly: true},
	}
}

// LookupCollation returns the collation called name as a MariaDB or a MySQL server has it, or an error when Skarv cannot
// compare strings exactly as that server does. "utf8_" in old names stands for "utf8mb3_". The result should be kept: it
// is built anew by each call.
func LookupCollation(name string, mariaDB bool) (*Collation, error) {
	name = strings.ToLower(name)
	if rest, old := strings.CutPrefix(name, "utf8_"); old {
		name = "utf8mb3_" + rest
	}
	for _, spec := range knownCollations() {
		if spec.name != name {
			continue
		}
		if spec.mysqlOnly && mariaDB {
			return nil, fmt.Errorf("collation '%s' is not known to be the same on MariaDB", name)
		}
		return newCollation(spec), nil
	}
	return nil, fmt.Errorf("collation '%s' cannot be computed outside the server", name)
}

// KnownCollations returns the names LookupCollation accepts for that kind of server.
func KnownCollations(mariaDB bool) []string {
	var names []string
	for _, spec := range knownCollations() {
		if !spec.mysqlOnly || !mariaDB {
			names = append(names, spec.name)
		}
	}
	return names
}

func newCollation(spec collationSpec) *Collation {
	c := &Collation{name: spec.name, form: spec.form, padSpace: !spec.noPad, asciiFast: spec.asciiFast}
	switch CharsetOf(spec.name) {
	case "ascii":
		c.maxRune = utf8.RuneSelf - 1
	case "utf8mb3":
		c.maxRune = 0xffff
	default:
		c.maxRune = utf8.MaxRune
	}
	c.coll = colldata.Lookup(collations.MySQL8().LookupByName(spec.name))
	if c.form != byBytes {
		if c.padSpace {
			c.pad = c.coll.WeightString(nil, []byte{' '}, 0)
		}
		if c.asciiFast {
			c.fillASCII()
		}
	} else if c.padSpace {
		c.pad = []byte{' '}
	}
	if c.isLatin1() || c.form == byTable {
		c.fillNarrow()
	}
	return c
}

func (c *Collation) isLatin1() bool { return strings.HasPrefix(c.name, "latin1_") }

func (c *Collation) fillASCII() {
	for b := range c.ascii {
		switch w := c.coll.WeightString(nil, []byte{byte(b)}, 0); len(w) {
		case 0: // ignored
		case 2:
			c.ascii[b] = weightKnown | uint32(w[0])<<8 | uint32(w[1])
		default:
			c.asciiFast = false
			return
		}
	}
}

func (c *Collation) fillNarrow() {
	one := make([]byte, 1)
	for b := range c.narrow {
		one[0] = byte(b)
		c.narrow[b] = byte(b)
		if c.form == byTable {
			c.narrow[b] = c.coll.WeightString(nil, one, 0)[0]
		}
		if b >= 0x80 && b < 0xa0 {
			c.high[b-0x80], _ = c.coll.Charset().DecodeRune(one)
		}
	}
}

// Name returns the collation's name, "utf8mb3_" written out.
func (c *Collation) Name() string { return c.name }

// PadSpace reports whether trailing spaces are ignored in comparisons (PAD SPACE, as against NO PAD).
func (c *Collation) PadSpace() bool { return c.padSpace }

// ByBytes reports whether a string's key is the string itself, less the trailing spaces that do not count.
func (c *Collation) ByBytes() bool { return c.form == byBytes }

// PadWeight returns the weight of a space: what a WEIGHT_STRING must be trimmed of to become a key. It is nil under NO PAD.
// The caller must not change it.
func (c *Collation) PadWeight() []byte { return c.pad }

// Charset returns the collation's character set.
func (c *Collation) Charset() string { return CharsetOf(c.name) }

// CharsetOf returns the character set that the name of a collation begins with; that of binary is binary.
func CharsetOf(collation string) string {
	charset, _, _ := strings.Cut(collation, "_")
	return charset
}

// AppendKey appends the string's key: two strings are equal under the collation exactly if their keys are the same
// bytes. It is what WEIGHT_STRING gives on the server, without the weights of trailing spaces under PAD SPACE; for
// collations ByBytes it is the string in UTF-8, likewise trimmed.
// It returns false, and dst as it was, when s is not UTF-8 or has a character the collation's character set lacks.
// Nothing is allocated for ASCII strings when dst has room.
func (c *Collation) AppendKey(dst, s []byte) ([]byte, bool) {
	start := len(dst)
	switch c.form {
	case byBytes:
		if c.name == "binary" {
			return append(dst, s...), true
		}
		if !c.encodable(s) {
			return dst, false
		}
		dst = append(dst, s...)
	case byTable:
		var ok bool
		if dst, ok = c.appendNarrow(dst, s); !ok {
			return dst[:start], false
		}
	default:
		var ok bool
		if dst, ok = c.appendWeights(dst, s); !ok {
			return dst[:start], false
		}
	}
	if c.padSpace {
		for len(dst)-start >= len(c.pad) && bytes.HasSuffix(dst[start:], c.pad) {
			dst = dst[:len(dst)-len(c.pad)]
		}
	}
	return dst, true
}

// AppendBeginning appends the part of a string's key that a server surely looks at when it sorts by no more than limit bytes of its weights.
func (c *Collation) AppendBeginning(dst, s []byte, limit int) []byte {
	const perCharacter = 3 // weights of collations ByBytes
	if c.name == "binary" {
		return append(dst, s[:min(limit, len(s))]...)
	}
	characters := limit
	if c.form == byBytes {
		characters /= perCharacter
	}
	end := 0
	for ; end < len(s) && characters > 0; characters-- {
		_, n := utf8.DecodeRune(s[end:])
		end += n
	}
	start := len(dst)
	dst, _ = c.AppendKey(dst, s[:end])
	if c.form == byBytes {
		return dst
	}
	return dst[:min(len(dst), start+limit)]
}

// encodable reports whether s is UTF-8 and all of it exists in the collation's character set.
func (c *Collation) encodable(s []byte) bool {
	if isASCII(s) {
		return true
	}
	latin1 := c.isLatin1()
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 || r > c.maxRune {
			return false
		}
		if latin1 {
			if _, ok := c.latin1Byte(r); !ok {
				return false
			}
		}
		s = s[n:]
	}
	return true
}

// latin1Byte returns r in the servers' latin1, which is Windows-1252 with its five holes filled.
func (c *Collation) latin1Byte(r rune) (byte, bool) {
	if r < 0x80 || r >= 0xa0 && r <= 0xff {
		return byte(r), true
	}
	for i, h := range c.high {
		if h == r {
			return byte(0x80 + i), true
		}
	}
	return 0, false
}

func (c *Collation) appendNarrow(dst, s []byte) ([]byte, bool) {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			dst = append(dst, c.narrow[s[i]])
			i++
			continue
		}
		r, n := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && n == 1 || r > c.maxRune {
			return dst, false
		}
		b, ok := c.latin1Byte(r)
		if !ok {
			return dst, false
		}
		dst = append(dst, c.narrow[b])
		i += n
	}
	return dst, true
}

func (c *Collation) appendWeights(dst, s []byte) ([]byte, bool) {
	if c.asciiFast {
		start, i := len(dst), 0
		for ; i < len(s) && s[i] < utf8.RuneSelf; i++ {
			if w := c.ascii[s[i]]; w != 0 {
				dst = append(dst, byte(w>>8), byte(w))
			}
		}
		if i == len(s) {
			return dst, true
		}
		dst = dst[:start]
	}
	if !c.encodable(s) {
		return dst, false
	}
	// The library lacks the weight of the noncharacter U+FFFF in the UCA 4.0.0 collations.
	const lastBMP = "\uffff"
	if strings.HasSuffix(c.name, "_unicode_ci") {
		for {
			i := bytes.Index(s, []byte(lastBMP))
			if i < 0 {
				break
			}
			dst = c.coll.WeightString(dst, s[:i], 0)
			dst = append(dst, 0xfb, 0xc1, 0xff, 0xff)
			s = s[i+len(lastBMP):]
		}
	}
	return c.coll.WeightString(dst, s, 0), true
}

// FoldName makes of names what is the same for all that are equal to servers where they compare names by utf8mb3_general_ci, as those of
// routines: `Café` is `cafe`.
func FoldName(name string) string {
	if isASCII([]byte(name)) {
		return strings.ToLower(name)
	}
	c, err := LookupCollation("utf8mb3_general_ci", false)
	if err != nil {
		return strings.ToLower(name)
	}
	weights, ok := c.AppendKey(nil, []byte(name))
	if !ok {
		return strings.ToLower(name)
	}
	var folded []rune
	for i := 0; i+1 < len(weights); i += 2 {
		folded = append(folded, rune(weights[i])<<8|rune(weights[i+1]))
	}
	return strings.ToLower(string(folded))
}

func isASCII(s []byte) bool {
	for _, b := range s {
		if b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
