package placement

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMovingHidesWhatAGroupDoesNotOwn(t *testing.T) {
	m, err := NewMap([]NodeGroupID{1, 2})
	require.NoError(t, err)
	assert.False(t, m.AnyForeign())
	assert.Nil(t, m.Foreign(3))

	set := SetOf(0, 2, 4, 100)
	in, err := m.Next(nil, []Moving{{Reorg: "r", A: 1, B: 3, Partitions: set, Phase: In}})
	require.NoError(t, err)
	assert.Equal(t, m.Epoch()+1, in.Epoch())
	assert.Equal(t, &set, in.Foreign(3), "the target has rows it does not own yet")
	assert.Nil(t, in.Foreign(1))
	assert.Nil(t, in.Frozen())
	assert.Equal(t, []NodeGroupID{1, 2}, in.Groups(), "nobody asks the target")

	frozen, err := in.Next(nil, []Moving{{Reorg: "r", A: 1, B: 3, Partitions: set, Phase: Frozen}})
	require.NoError(t, err)
	assert.Equal(t, &set, frozen.Frozen())

	var moves []Move
	for _, p := range set.Members() {
		moves = append(moves, Move{p, 1, 3})
	}
	open, err := frozen.Next(moves, []Moving{{Reorg: "r", A: 1, B: 3, Partitions: set, Phase: In}})
	require.NoError(t, err)
	assert.Equal(t, &set, open.Foreign(1), "the rows are still where they were")
	assert.Nil(t, open.Foreign(3))
	assert.Equal(t, NodeGroupID(3), open.Owner(100))

	data, err := json.Marshal(open)
	require.NoError(t, err)
	var back PartitionMap
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, open, &back)

	done, err := open.Next(nil, nil)
	require.NoError(t, err)
	assert.False(t, done.AnyForeign())
}

func TestMovingOfStrangers(t *testing.T) {
	m, err := NewMap([]NodeGroupID{1, 2})
	require.NoError(t, err)
	for name, moving := range map[string][]Moving{
		"neither owns it": {{A: 3, B: 4, Partitions: SetOf(1), Phase: In}},
		"twice":           {{A: 1, B: 3, Partitions: SetOf(0), Phase: In}, {A: 1, B: 4, Partitions: SetOf(0), Phase: In}},
		"to itself":       {{A: 1, B: 1, Partitions: SetOf(0), Phase: In}},
		"phase":           {{A: 1, B: 3, Partitions: SetOf(0), Phase: "x"}},
	} {
		_, err := m.Next(nil, moving)
		assert.Error(t, err, name)
	}
}

func TestSetText(t *testing.T) {
	s, err := ParseSet("17, 90-92,3839")
	require.NoError(t, err)
	assert.Equal(t, []Partition{17, 90, 91, 92, 3839}, s.Members())
	assert.Equal(t, "17,90-92,3839", s.String())
	for _, bad := range []string{"", "x", "5-3", "3840", "-1", "1,,2"} {
		_, err := ParseSet(bad)
		assert.Error(t, err, bad)
	}
}
