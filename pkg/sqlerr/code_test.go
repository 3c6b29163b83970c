package sqlerr

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Numbers that client libraries keep for themselves hide the text: MariaDB's says "Received malformed packet" instead.
func TestNoNumberOfClients(t *testing.T) {
	unknown := definitionOf(0)
	for _, reserved := range [][2]Code{{2000, 2999}, {5000, 5999}} {
		for c := reserved[0]; c <= reserved[1]; c++ {
			require.Equal(t, unknown, definitionOf(c), "error %d", c)
		}
	}
	require.NotEqual(t, unknown, definitionOf(ServerLost))
}

func TestRefusal(t *testing.T) {
	what, how, ok := Refusal(fmt.Errorf("here: %w", Unsupported("FLOAT column 'x' as key", "use DECIMAL; it's exact")))
	require.True(t, ok)
	require.Equal(t, "FLOAT column 'x' as key", what)
	require.Equal(t, "use DECIMAL; it's exact", how)
	_, _, ok = Refusal(UnknownTable.New("t"))
	require.False(t, ok)
}
