package dev

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLeftoversOfKilledClustersGo(t *testing.T) {
	tmp := t.TempDir()
	made := func(name, file string, age time.Duration) string {
		dir := filepath.Join(tmp, name)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte("{}"), 0o600))
		old := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(dir, old, old))
		return dir
	}
	dead := made("skarv-dev-1", "skarv.json", time.Hour)
	young := made("skarv-dev-2", "skarv.json", 0)
	foreign := made("skarv-dev-3", "thesis.txt", time.Hour)
	other := made("skarv-test-4", "skarv.json", time.Hour)
	alive := made("skarv-dev-5", "skarv.json", 0)
	lock, err := lockFile(filepath.Join(alive, "lock"))
	require.NoError(t, err)
	defer lock.Close()
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(alive, old, old))

	removeLeftovers(tmp)

	require.NoDirExists(t, dead)
	for _, dir := range []string{young, foreign, other, alive} {
		require.DirExists(t, dir)
	}
}
