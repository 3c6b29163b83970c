package placement

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// SetWords is the number of words of a Set.
const SetWords = Partitions / 64

// Set is a set of partitions; the zero Set is empty. It is a value: copying it copies the members.
type Set [SetWords]uint64

// Add puts p into the set.
func (s *Set) Add(p Partition) { s[p/64] |= 1 << (p % 64) }

// Has reports whether p is a member.
func (s *Set) Has(p Partition) bool { return s[p/64]&(1<<(p%64)) != 0 }

// Empty reports whether the set has no members.
func (s *Set) Empty() bool { return *s == Set{} }

// Union adds the members of t.
func (s *Set) Union(t *Set) {
	for i := range s {
		s[i] |= t[i]
	}
}

// Meets reports whether s and t have a member in common.
func (s *Set) Meets(t *Set) bool {
	for i := range s {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

// Len is the number of members.
func (s *Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Members returns the members, rising.
func (s *Set) Members() []Partition {
	out := make([]Partition, 0, s.Len())
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			out = append(out, Partition(i*64+bits.TrailingZeros64(w)))
		}
	}
	return out
}

// SetOf returns the set of the partitions given.
func SetOf(members ...Partition) Set {
	var s Set
	for _, p := range members {
		s.Add(p)
	}
	return s
}

// String writes the members as ParseSet reads them: 17,90-120.
func (s Set) String() string {
	var b strings.Builder
	m := s.Members()
	for i := 0; i < len(m); {
		end := i
		for end+1 < len(m) && m[end+1] == m[end]+1 {
			end++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(m[i])))
		if end > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(int(m[end])))
		}
		i = end + 1
	}
	return b.String()
}

// ParseSet reads a list of partitions and ranges of them: 17,90-120.
func ParseSet(text string) (Set, error) {
	var s Set
	for _, item := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(item), "-")
		first, err := strconv.ParseUint(from, 10, 16)
		last := first
		if err == nil && isRange {
			last, err = strconv.ParseUint(to, 10, 16)
		}
		if err != nil || first > last || last >= Partitions {
			return Set{}, fmt.Errorf("%q is not a partition or a range of them: 0 to %d", item, Partitions-1)
		}
		for p := first; p <= last; p++ {
			s.Add(Partition(p))
		}
	}
	return s, nil
}

// MarshalJSON writes the bits in base64.
func (s Set) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 8*SetWords)
	for _, w := range s {
		b = binary.BigEndian.AppendUint64(b, w)
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(b))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Set) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("set of partitions: %w", err)
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != 8*SetWords {
		return fmt.Errorf("set of partitions: %d bytes, not %d", len(b), 8*SetWords)
	}
	for i := range s {
		s[i] = binary.BigEndian.Uint64(b[8*i:])
	}
	return nil
}
