package control

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A name or an id leads to one node group.
func TestNamesOfGroups(t *testing.T) {
	for _, c := range []struct {
		name   string
		n      int
		others []string
		want   string
		err    string
	}{
		{name: "", n: 1, want: "ng1"},
		{name: "", n: 3, others: []string{"ng3", "ng4"}, want: "ng5"},
		{name: "eu-1.example", want: "eu-1.example"},
		{name: "eu", others: []string{"eu"}, err: "already"},
		{name: "2", err: "no name"},
		{name: "a=b", err: "no name"},
		{name: "a,b", err: "no name"},
	} {
		g := GroupSpec{Name: c.name}
		err := g.TakeName(c.n, c.others)
		if c.err != "" {
			require.ErrorContains(t, err, c.err, c.name)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, g.Name)
	}
}
