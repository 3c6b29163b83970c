package cluster

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Pause stops a process and returns when none of its threads runs any more, which on a busy machine is later than the
// signal. resume lets it go on; it may be called several times, and is when the test ends.
func Pause(t testing.TB, pid int) (resume func()) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatalf("stop process %d: %v", pid, err)
	}
	resume = sync.OnceFunc(func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // it may be gone
	t.Cleanup(resume)
	for limit := time.Now().Add(time.Minute); !stopped(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("process %d does not stop", pid)
		}
	}
	return resume
}

// stopped reports whether every thread of a process is.
func stopped(pid int) bool {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(tasks) == 0 {
		return false
	}
	for _, path := range tasks {
		stat, err := os.ReadFile(path)
		if err != nil {
			return false
		}
		_, state, _ := bytes.Cut(stat, []byte(") ")) // "pid (name) state ..."
		if !bytes.HasPrefix(state, []byte("T")) {
			return false
		}
	}
	return true
}
