package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKindOf(t *testing.T) {
	for name, want := range map[string]DatabaseKind{
		"": UserDatabase, "d": UserDatabase, "skarv_": UserDatabase, "Skarv": VirtualDatabase, "skarv": VirtualDatabase,
		"_skarv": OwnDatabase, "_SKARV": OwnDatabase, "INFORMATION_SCHEMA": ServerDatabase, "Sys": ServerDatabase,
	} {
		require.Equal(t, want, KindOf(name), name)
	}
	for _, name := range ServerDatabases() {
		require.Equal(t, ServerDatabase, KindOf(name), name)
	}
}
