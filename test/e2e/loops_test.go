package e2e

import (
	"context"
	"encoding/json"
	"os"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"skarv/pkg/dev"
	"skarv/pkg/socket"
)

// withoutRings, set, makes this test's program one that runs its arguments without io_uring, as container runtimes do.
const withoutRings = "SKARV_TEST_WITHOUT_RINGS"

// forbidRings lets io_uring_setup fail for this thread and what it executes.
func forbidRings() error {
	const (
		setNoNewPrivs = 38
		setSeccomp    = 22
		filterMode    = 2
		ringSetup     = 425 // on all architectures

		load, equal, answer = 0x20, 0x15, 0x06 // of classic BPF: BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_RET|BPF_K
		allow, refuse       = 0x7fff0000, 0x00050000
	)
	type instruction struct {
		code     uint16
		yes, no  uint8
		constant uint32
	}
	filter := []instruction{
		{code: load}, // the system call's number
		{code: equal, no: 1, constant: ringSetup},
		{code: answer, constant: refuse | uint32(syscall.EPERM)},
		{code: answer, constant: allow},
	}
	program := struct {
		length uint16
		filter *instruction
	}{uint16(len(filter)), &filter[0]}
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, setNoNewPrivs, 1, 0, 0, 0, 0); e != 0 {
		return e
	}
	if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, setSeccomp, filterMode, uintptr(unsafe.Pointer(&program)), 0, 0, 0); e != 0 {
		return e
	}
	return nil
}

// runWithoutRings takes the place of the tests if it is asked to.
func runWithoutRings() {
	path := os.Getenv(withoutRings)
	if path == "" {
		return
	}
	runtime.LockOSThread()
	err := forbidRings()
	if err == nil {
		_ = os.Unsetenv(withoutRings)
		err = syscall.Exec(path, append([]string{path}, os.Args[1:]...), os.Environ())
	}
	panic(err)
}

// hasRings reports whether this machine lets this process use io_uring.
func hasRings(t *testing.T) bool {
	l, err := socket.NewLoop()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, l.Run(ctx)) // closes it
	return true
}

// Clients are served by io_uring where the system lets a process use it, and by the Go runtime where not.
func TestWithAndWithoutRings(t *testing.T) {
	serves := func(t *testing.T, p *process, said string) {
		var info dev.Info
		require.NoError(t, json.Unmarshal([]byte(p.awaitLine(t, p.out, "mysql_addr")), &info))
		log, err := os.ReadFile(info.LogFile)
		require.NoError(t, err)
		require.Contains(t, string(log), said)
		db := openDB(t, "root@tcp("+info.MySQLAddr+")/")
		exec1(t, db, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2), (3)")
		var sum int
		require.NoError(t, db.QueryRow("SELECT SUM(id) FROM d.t").Scan(&sum))
		require.Equal(t, 6, sum)
		require.NoError(t, db.QueryRow("SELECT id FROM d.t WHERE id = 2").Scan(&sum))
		require.Equal(t, 2, sum)
	}
	args := devArgs("--json", "--node-groups", "1")
	t.Run("with", func(t *testing.T) {
		p := run(t, program(t, "skarv"), args...)
		said := "clients are served by io_uring"
		if !hasRings(t) {
			said = "clients are served without io_uring"
		}
		serves(t, p, said)
		require.Zero(t, p.end(t, syscall.SIGTERM))
	})
	t.Run("without", func(t *testing.T) {
		t.Setenv(withoutRings, program(t, "skarv"))
		p := run(t, os.Args[0], args...)
		serves(t, p, "clients are served without io_uring")
		require.Zero(t, p.end(t, syscall.SIGTERM))
	})
}
