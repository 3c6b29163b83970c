package session

import (
	"sync/atomic"

	"skarv/pkg/exec"
	"skarv/pkg/placement"
)

// partitionCounts counts the statements on each partition. Sessions of different stripes write different ones.
type partitionCounts struct {
	partitions [placement.Partitions]atomic.Uint64
	all        atomic.Uint64 // statements on all partitions
}

// touch counts what a statement, or a part of one, uses.
func (s *stripe) touch(t *exec.Touched) {
	if t.All {
		s.load.all.Add(1)
		return
	}
	for i, p := range t.Partitions {
		if i == 0 || p != t.Partitions[i-1] { // rows of one partition often come together
			s.load.partitions[p].Add(1)
		}
	}
}

// PartitionCounts adds to counts how many statements used each partition since the process began, and returns how many
// used all of them. counts has placement.Partitions elements.
func (m *Metrics) PartitionCounts(counts []uint64) (all uint64) {
	for i := range m.stripes {
		l := m.stripes[i].load
		for p := range counts {
			counts[p] += l.partitions[p].Load()
		}
		all += l.all.Load()
	}
	return all
}
