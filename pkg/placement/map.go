package placement

// PartitionMap says which node group owns each virtual partition. It is immutable.
type PartitionMap struct {
	epoch  uint64
	owners [Partitions]NodeGroupID
}

// Owner returns the node group that owns p.
func (m *PartitionMap) Owner(p Partition) NodeGroupID { return m.owners[p] }

// Epoch is the map's version: every change raises it.
func (m *PartitionMap) Epoch() uint64 { return m.epoch }
