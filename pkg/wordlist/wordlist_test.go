package wordlist

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWholeWordsOnly(t *testing.T) {
	const list = ` a bc
 def `
	for _, word := range []string{"a", "bc", "def"} {
		require.True(t, Has(list, word), word)
	}
	for _, word := range []string{"", "b", "c", "de", "ef", "abc", "cdef"} {
		require.False(t, Has(list, word), word)
	}
}
