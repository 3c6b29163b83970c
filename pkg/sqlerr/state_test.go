package sqlerr

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An error raised here has the SQLSTATE that a server would give it.
func TestStates(t *testing.T) {
	unknown := definitionOf(0)
	for code := range Code(5000) {
		d := definitionOf(code)
		if code < 1000 || d == unknown { // the numbers below are those of storage engines
			continue
		}
		mariadb, mysql := StateOf(uint16(code), true), StateOf(uint16(code), false)
		require.Contains(t, []string{mariadb, mysql}, d.state, "error %d: %s", code, d.format)
	}
	require.Equal(t, "22007", StateOf(1366, true))
	require.Equal(t, "HY000", StateOf(1366, false))
	require.Equal(t, "HY000", StateOf(1364, true))
}
