package placement

import (
	"fmt"
	"strings"
)

// Assignment is one partition and its owner, as tools list them.
type Assignment struct {
	Partition Partition   `json:"partition"`
	NodeGroup NodeGroupID `json:"node_group"`
}

// Describe lists every partition with its owner, rising.
func (m *PartitionMap) Describe() []Assignment {
	list := make([]Assignment, Partitions)
	for p, g := range m.owners {
		list[p] = Assignment{Partition(p), g}
	}
	return list
}

// GroupSummary is how much of the map a node group owns.
type GroupSummary struct {
	NodeGroup  NodeGroupID `json:"node_group"`
	Partitions int         `json:"partitions"`
	Share      float64     `json:"share"` // of all partitions, 0 to 1
}

// Summary lists the node groups that own partitions, rising.
func (m *PartitionMap) Summary() []GroupSummary {
	list := make([]GroupSummary, len(m.groups))
	for i, n := range m.Counts() {
		list[i] = GroupSummary{m.groups[i], n, float64(n) / Partitions}
	}
	return list
}

// String is the map in a few lines: its epoch, and each node group with the number of its partitions.
func (m *PartitionMap) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "epoch %d, %d partitions, %d node groups\n", m.epoch, Partitions, len(m.groups))
	for _, s := range m.Summary() {
		fmt.Fprintf(&b, "node group %d: %d partitions (%.2f %%)\n", s.NodeGroup, s.Partitions, 100*s.Share)
	}
	return b.String()
}
