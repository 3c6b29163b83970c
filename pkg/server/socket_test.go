package server

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A process that was killed leaves its socket file; the next one takes its place, and lets others than its own user in.
func TestUnixSocketOfADeadProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	dead, err := net.Listen("unix", path)
	require.NoError(t, err)
	dead.(*net.UnixListener).SetUnlinkOnClose(false)
	require.NoError(t, dead.Close())
	cfg := DefaultConfig()
	cfg.MySQL.Addr, cfg.MySQL.UnixSocket, cfg.HTTP.Addr, cfg.Admin.Addr = "", path, "", "127.0.0.1:0"
	s, err := New(cfg, Options{})
	require.NoError(t, err)
	defer s.store.Close()
	defer s.closeListeners()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o777), info.Mode().Perm())
	_, err = New(cfg, Options{})
	require.ErrorContains(t, err, "mysql.unix_socket", "one that lives is left alone")
}
