package hugetext

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// breakpoint is the instruction of one, on amd64.
const breakpoint = 0xCC

// Code that somebody has changed in memory, as probes do, stays where it is: a copy of a breakpoint is nobody's. It is tried in a process
// of its own, whose code is several mappings afterwards.
func TestProbed(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		return // what stands between functions is something else
	}
	const own = "SKARV_PROBED"
	if os.Getenv(own) == "" {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestProbed$", "-test.v")
		again.Env = append(os.Environ(), own+"=1")
		out, err := again.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS: TestProbed")
		return
	}
	m, err := mappingOf(reflect.ValueOf(Use).Pointer())
	require.NoError(t, err)
	start := alignUp(m.start)
	require.Less(t, start+pageSize, m.end)
	to := make([]byte, pageSize)
	require.NoError(t, m.read(start, to))
	at := bytes.Index(to, bytes.Repeat([]byte{breakpoint}, 8)) // what stands between functions, and never runs
	require.Positive(t, at)
	code := unsafe.Slice((*byte)(unsafe.Add(nil, start)), pageSize)
	change := func(b byte) {
		require.NoError(t, unix.Mprotect(code, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC))
		code[at] = b
		require.NoError(t, unix.Mprotect(code, unix.PROT_READ|unix.PROT_EXEC))
	}
	change(0x90) // NOP
	err = m.read(start, to)
	moved, used := Use()
	change(breakpoint)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.Equal(t, byte(breakpoint), to[at], "the file's")
	require.ErrorIs(t, used, errors.ErrUnsupported)
	require.Zero(t, moved)
}

// Code is moved while it runs. Where the kernel has no huge pages it stays where it is.
func TestUse(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var g errgroup.Group
	for range 4 {
		g.Go(func() error {
			for ctx.Err() == nil {
				if strings.ToUpper("skarv") != "SKARV" {
					return errors.New("code is broken")
				}
			}
			return nil
		})
	}
	moved, err := Use()
	stop()
	require.NoError(t, g.Wait())
	enabled, rerr := os.ReadFile(settings)
	if rerr != nil || strings.Contains(string(enabled), "[never]") {
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.Zero(t, moved)
		return
	}
	require.NoError(t, err)
	require.Positive(t, moved)
	require.Zero(t, moved%pageSize)
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	anonymous := 0
	for line := range strings.Lines(string(maps)) {
		if f := strings.Fields(line); len(f) == 5 && f[1] == "r-xp" && f[4] == "0" {
			anonymous++
		}
	}
	require.Equal(t, 1, anonymous, "the code is one mapping of no file:\n%s", maps)
}
