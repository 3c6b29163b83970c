package placement

import (
	"hash/crc32"

	"skarv/pkg/sqltypes"
)

// Key is how the values of a distribution key become a partition: one KeyColumn for each of its columns.
//
// The partition of a row is CRC32(text) mod 3840, where text is the canonical text of the key's values (see
// canonical.go for the text of each type). The function never changes: rows lie where it put them.
// A Key is immutable and safe for concurrent use.
type Key []KeyColumn

// Mode says what a value is to the distribution column.
type Mode uint8

const (
	// Compare: the value stands in "column = value". The partition is where rows lie for which that is true.
	Compare Mode = 0
	// Store: the value is written into the column. The partition is where the row as the server stores it belongs:
	// rounded, truncated, padded, clamped.
	Store Mode = 1
	// Stored: a server has read the value from the column, as it prints it. The partition is where the row belongs; some values are
	// certain only here, for what is stored of them when a statement brings them is for sql_mode to say: 2020-00-00.
	Stored Mode = 2
	// ForeignCharset is added when String values are not in utf8mb4, utf8mb3 or ascii because the session
	// (character_set_client, character_set_connection) says so: such a value is then Unknown unless all of it is
	// ASCII. It must be added together with a Mode above.
	ForeignCharset Mode = 0x80
	// ForeignBytes is ForeignCharset where the two variables are the same, so that no string is converted on its way: BINARY and
	// VARBINARY columns get the bytes as they are.
	ForeignBytes Mode = ForeignCharset | 0x40
)

// Match says what is known of the rows that belong to a value.
type Match uint8

const (
	// Unknown: every node group must be asked. For Store: only the server could say what it stores, so the row
	// cannot be placed. The zero Match.
	Unknown Match = iota
	// Exact: all rows lie in the partition returned.
	Exact
	// None: no row can be equal: NULL, 1.5 for an integer column, 300 for a TINYINT. Only returned for Compare.
	None
)

// Partition returns the partition of the rows whose key columns equal vals (Compare), or of the row that is written
// with vals (Store) or has them (Stored). There must be one value for each column of k. The values' Raw is only read.
//
// scratch is working memory; it is returned, possibly grown, to be passed in again. Values of integer columns and
// ASCII strings allocate nothing once scratch has grown to their size.
func (k Key) Partition(scratch []byte, vals []sqltypes.Value, mode Mode) (Partition, []byte, Match) {
	if len(k) == 0 || len(vals) != len(k) {
		return 0, scratch, Unknown
	}
	if len(k) == 1 {
		return k[0].partition(scratch, vals[0], mode)
	}
	text, match := k.Text(scratch[:0], vals, mode)
	if match != Exact {
		return 0, text, match
	}
	return PartitionOf(text), text, Exact
}

// Text appends the canonical text of vals: two keys are equal if theirs are.
func (k Key) Text(dst []byte, vals []sqltypes.Value, mode Mode) ([]byte, Match) {
	switch {
	case len(k) == 0 || len(vals) != len(k):
		return dst, Unknown
	case len(k) == 1:
		return k[0].appendText(dst, vals[0], mode)
	}
	match := Exact
	for i := range k {
		if i > 0 {
			dst = append(dst, ',')
		}
		var m Match
		dst, m = k[i].appendJoined(dst, vals[i], mode)
		switch m {
		case None:
			return dst, None // whatever the other columns say
		case Unknown:
			match = Unknown
		}
	}
	return dst, match
}

// PartitionOf returns the partition of a canonical text.
func PartitionOf(text []byte) Partition {
	return Partition(crc32.ChecksumIEEE(text) % Partitions)
}
