package buildinfo

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersion(t *testing.T) {
	info := &debug.BuildInfo{}
	require.Equal(t, "(devel)", version(info))
	info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}}
	require.Equal(t, "(devel) 0123456789ab", version(info))
	info.Main.Version = "v1.2.3"
	require.Equal(t, "v1.2.3 0123456789ab", version(info))
	info.Main.Version = "v0.0.0-20261124010203-0123456789ab+dirty"
	require.Equal(t, info.Main.Version, version(info))
	require.NotEmpty(t, Version())
}
