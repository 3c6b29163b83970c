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
	if !AwaitStopped(pid) {
		t.Fatalf("process %d does not stop", pid)
	}
	return resume
}

// AwaitStopped waits until a process that was told to stop stands still. It returns false when the process is dead, or goes
// on for a minute.
func AwaitStopped(pid int) bool {
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		switch stopped, dead := standstill(pid); {
		case dead:
			return false
		case stopped:
			return true
		}
	}
	return false
}

// standstill reports whether every thread of a process is stopped, and whether the process is dead.
func standstill(pid int) (stopped, dead bool) {
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(tasks) == 0 {
		return false, true
	}
	stopped, dead = true, true
	for _, path := range tasks {
		stat, err := os.ReadFile(path)
		if err != nil {
			return false, false // a thread that has just ended
		}
		_, state, _ := bytes.Cut(stat, []byte(") ")) // "pid (name) state ..."
		stopped = stopped && bytes.HasPrefix(state, []byte("T"))
		dead = dead && bytes.HasPrefix(state, []byte("Z"))
	}
	return stopped, dead
}
