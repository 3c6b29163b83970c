package mover_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMover(t *testing.T) {
	r := newRig(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *rig)
	}{
		{"a table is copied, and changes follow", simple},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, r) })
	}
}

func simple(t *testing.T, r *rig) {
	r.schema(t, "simple", "t (id) (id INT PRIMARY KEY, v VARCHAR(50))")
	a := r.nodes[0]
	for i := range 20 {
		q := "INSERT INTO simple.t VALUES "
		for j := range 100 {
			q += fmt.Sprintf("(%d,'v%d'),", i*100+j, j)
		}
		a.exec(t, q[:len(q)-1])
	}
	m := r.run(t, config(t), r.move())
	m.copied(t)
	a.exec(t, "UPDATE simple.t SET v = 'changed' WHERE id % 7 = 0")
	a.exec(t, "DELETE FROM simple.t WHERE id % 11 = 0")
	a.exec(t, "UPDATE simple.t SET id = id + 10000 WHERE id % 13 = 0")
	rep, err := m.Verify(within(t))
	require.NoError(t, err)
	require.True(t, rep.Equal(), "%+v", rep)
	require.Greater(t, rep.Compared, int64(1000))
	require.NoError(t, m.Cut(within(t), 7))
	r.equal(t)
	require.Equal(t, "open", r.nodes[1].value(t, "SELECT kind FROM _skarv.journal WHERE reorg='test-simple' AND epoch=7"))
}
