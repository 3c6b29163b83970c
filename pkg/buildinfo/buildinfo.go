// Package buildinfo tells which build a program is.
package buildinfo

import (
	"runtime/debug"
	"strings"
)

// Version is what the go command stamped into the binary: the version and, unless that tells it, the revision it was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	return version(info)
}

func version(info *debug.BuildInfo) string {
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	const length = 12 // of a revision in a version that the go command makes
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= length && !strings.Contains(v, s.Value[:length]) {
			v += " " + s.Value[:length]
		}
	}
	return v
}
