package placement

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func groupsUpTo(n int) []NodeGroupID {
	groups := make([]NodeGroupID, n)
	for i := range groups {
		groups[i] = NodeGroupID(i + 1)
	}
	return groups
}

func newTestMap(t testing.TB, n int) *PartitionMap {
	t.Helper()
	m, err := NewMap(groupsUpTo(n))
	require.NoError(t, err)
	return m
}

func TestNewMapRefusesBadGroups(t *testing.T) {
	for name, groups := range map[string][]NodeGroupID{
		"none":  nil,
		"zero":  {1, 0},
		"twice": {3, 1, 3},
		"more than partitions": func() []NodeGroupID {
			return groupsUpTo(Partitions + 1)
		}(),
	} {
		_, err := NewMap(groups)
		require.Error(t, err, name)
	}
}

func TestNewMapIsEvenAndInterleaved(t *testing.T) {
	m := newTestMap(t, 7)
	require.Equal(t, uint64(FirstEpoch), m.Epoch())
	require.Equal(t, groupsUpTo(7), m.Groups())
	for i, n := range m.Counts() {
		require.InDelta(t, Partitions/7, n, 1, "group %d", i+1)
	}
	require.Equal(t, NodeGroupID(1), m.Owner(0))
	require.Equal(t, NodeGroupID(2), m.Owner(1))
	require.Equal(t, NodeGroupID(1), m.Owner(7))
	require.Equal(t, []Partition{0, 7, 14}, m.Owned(1)[:3])
}

func TestApplyRefusesMovesThatDoNotFit(t *testing.T) {
	m := newTestMap(t, 2)
	for name, moves := range map[string][]Move{
		"no such partition": {{Partition: Partitions, From: 1, To: 2}},
		"not the owner":     {{Partition: 0, From: 2, To: 1}},
		"to nobody":         {{Partition: 0, From: 1, To: 0}},
		"twice":             {{Partition: 0, From: 1, To: 2}, {Partition: 0, From: 2, To: 1}},
	} {
		_, err := m.Apply(moves)
		require.Error(t, err, name)
	}
}

func TestApplyLeavesTheOldMapAlone(t *testing.T) {
	m := newTestMap(t, 2)
	moves := []Move{{Partition: 0, From: 1, To: 9}, {Partition: 3, From: 2, To: 1}}
	next, err := m.Apply(moves)
	require.NoError(t, err)
	require.Equal(t, NodeGroupID(1), m.Owner(0))
	require.Equal(t, NodeGroupID(9), next.Owner(0))
	require.Equal(t, m.Epoch()+1, next.Epoch())
	require.Equal(t, []NodeGroupID{1, 2, 9}, next.Groups())
	require.Equal(t, moves, m.Diff(next))
}

func TestCodecRoundTripsAndStaysSmall(t *testing.T) {
	const limit = 12_000
	for _, n := range []int{1, 2, 4, 30, 255, 256, 257, 1000, Partitions} {
		m := newTestMap(t, n)
		m, err := m.Apply([]Move{{Partition: 7, From: m.Owner(7), To: 65535}})
		require.NoError(t, err)

		j, err := json.Marshal(m)
		require.NoError(t, err)
		require.Less(t, len(j), limit)
		var fromJSON PartitionMap
		require.NoError(t, json.Unmarshal(j, &fromJSON))
		require.Equal(t, m, &fromJSON)
	}
}

func TestDamagedMapsAreRefused(t *testing.T) {
	good := newTestMap(t, 4).appendOwners(nil)
	for n := range len(good) {
		_, err := parseOwners(good[:n])
		require.Error(t, err, "%d bytes", n)
	}
	_, err := parseOwners(append(good, 0))
	require.Error(t, err)
	for _, j := range []string{`{`, `{"owners":"!"}`, `{"owners":""}`, `{"owners":"AAE="}`} {
		require.Error(t, json.Unmarshal([]byte(j), new(PartitionMap)), j)
	}
}

func FuzzUnmarshalMap(f *testing.F) {
	for _, n := range []int{1, 300} {
		b, err := json.Marshal(newTestMap(f, n))
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m, back PartitionMap
		if json.Unmarshal(b, &m) != nil {
			return
		}
		again, err := json.Marshal(&m)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(again, &back))
		require.Equal(t, m, back)
	})
}

func TestDescribeListsEveryPartition(t *testing.T) {
	m := newTestMap(t, 4)
	list := m.Describe()
	require.Len(t, list, Partitions)
	require.Equal(t, Assignment{Partition: 5, NodeGroup: 2}, list[5])
	j, err := json.Marshal(list[5])
	require.NoError(t, err)
	require.JSONEq(t, `{"partition":5,"node_group":2}`, string(j))
	require.Equal(t, "epoch 1, 3840 partitions, 2 node groups\n"+
		"node group 1: 1920 partitions (50.00 %)\nnode group 2: 1920 partitions (50.00 %)\n", newTestMap(t, 2).String())
}
