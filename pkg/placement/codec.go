package placement

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// maxTable is how many node groups a table of them has at most: then a byte says which of them owns a partition.
const maxTable = 256

// appendOwners appends the owners of all partitions, numbers big-endian:
//
//	2       number of entries in the group table; 0: no table, more than 256 groups own partitions
//	2 each  group table, rising
//	3840    for each partition its owner's position in the table; without a table the owner itself, 2 bytes each
func (m *PartitionMap) appendOwners(b []byte) []byte {
	if len(m.groups) > maxTable {
		b = binary.BigEndian.AppendUint16(b, 0)
		for _, g := range m.owners {
			b = binary.BigEndian.AppendUint16(b, uint16(g))
		}
		return b
	}
	b = binary.BigEndian.AppendUint16(b, uint16(len(m.groups)))
	for _, g := range m.groups {
		b = binary.BigEndian.AppendUint16(b, uint16(g))
	}
	for _, g := range m.owners {
		i, _ := slices.BinarySearch(m.groups, g)
		b = append(b, byte(i))
	}
	return b
}

// parseOwners reads what appendOwners wrote.
func parseOwners(b []byte) (*[Partitions]NodeGroupID, error) {
	if len(b) < 2 {
		return nil, fmt.Errorf("partition map ends early")
	}
	n := int(binary.BigEndian.Uint16(b))
	b = b[2:]
	want := 2*n + Partitions
	if n == 0 {
		want = 2 * Partitions
	}
	if n > maxTable || len(b) != want {
		return nil, fmt.Errorf("partition map of %d node groups has %d bytes, expected %d", n, len(b), want)
	}
	var owners [Partitions]NodeGroupID
	for p := range owners {
		switch {
		case n == 0:
			owners[p] = NodeGroupID(binary.BigEndian.Uint16(b[2*p:]))
		case int(b[2*n+p]) >= n:
			return nil, fmt.Errorf("partition %d has owner %d of %d", p, b[2*n+p], n)
		default:
			owners[p] = NodeGroupID(binary.BigEndian.Uint16(b[2*int(b[2*n+p]):]))
		}
		if owners[p] == 0 {
			return nil, fmt.Errorf("partition %d has no owner", p)
		}
	}
	return &owners, nil
}

// mapJSON is how a map is stored: Owners is the base64 of what appendOwners writes.
type mapJSON struct {
	Epoch  uint64   `json:"epoch"`
	Owners string   `json:"owners"`
	Moving []Moving `json:"moving,omitempty"`
	// CopiesFrozen is CopiesFrozen.
	CopiesFrozen time.Duration `json:"copies_frozen,omitempty"`
	// LocksFrozen is LocksFrozen.
	LocksFrozen time.Duration `json:"locks_frozen,omitempty"`
}

// MarshalJSON returns an object of less than 11 kB, and a kilobyte for each element of Moving: the epoch, the owners in
// base64, what moves.
func (m *PartitionMap) MarshalJSON() ([]byte, error) {
	owners := m.appendOwners(make([]byte, 0, 2+2*Partitions))
	return json.Marshal(mapJSON{m.epoch, base64.StdEncoding.EncodeToString(owners), m.moving, m.copies, m.locks})
}

// UnmarshalJSON reads what MarshalJSON wrote. It may only be called on a map nobody has seen yet.
func (m *PartitionMap) UnmarshalJSON(b []byte) error {
	var j mapJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("partition map: %w", err)
	}
	raw, err := base64.StdEncoding.DecodeString(j.Owners)
	if err != nil {
		return fmt.Errorf("partition map: %w", err)
	}
	owners, err := parseOwners(raw)
	if err != nil {
		return err
	}
	*m = *newMap(j.Epoch, owners)
	m.copies, m.locks = j.CopiesFrozen, j.LocksFrozen
	return m.setMoving(j.Moving)
}
