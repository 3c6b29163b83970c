// Package placement decides where a row lives: distribution key -> virtual partition -> node group. It is pure:
// no I/O, no clock, no globals. It knows nothing of SQL text, of servers or of how a map is stored.
package placement

// Partitions is the number of virtual partitions of every cluster: 2^8*3*5. It never changes.
const Partitions = 3840

// Partition is a virtual partition, 0 to Partitions-1: the unit of placement and of moving.
type Partition uint16

// NodeGroupID names a node group for its whole life; ids are never reused. The zero id is no group.
type NodeGroupID uint16
