package datanode

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is one run of the server. It dies with us, whatever way we die: the kernel is asked to kill it when
// the thread that started it ends. Threads of the Go runtime come and go, so one goroutine keeps that
// thread for itself from the start of the process to its end.
type process struct {
	pid     int
	cmd     *exec.Cmd
	started time.Time
	done    chan struct{} // closed when the process has ended and was waited for
	// Written before done is closed.
	err  error
	life time.Duration
}

// startProcess runs argv with its output appended to logFile.
func startProcess(argv, env []string, dir, logFile string) (*process, error) {
	out, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, out, out
	cmd.SysProcAttr = dieWithParent()
	p := &process{cmd: cmd, done: make(chan struct{})}
	begun := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		p.started = time.Now()
		begun <- err
		if err == nil {
			p.err = cmd.Wait()
		}
		p.life = time.Since(p.started)
		close(p.done)
	}()
	if err := <-begun; err != nil {
		<-p.done
		return nil, err
	}
	p.pid = cmd.Process.Pid
	return p, nil
}

// dieWithParent also gives the child a process group of its own, so that Ctrl-C reaches only us and we stop it
// in order.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Signals to a process that has ended are refused by os.Process, so no stranger with a reused pid is hit.
func (p *process) terminate() { _ = p.cmd.Process.Signal(syscall.SIGTERM) }
func (p *process) kill()      { _ = p.cmd.Process.Kill() }

// uptime is how long the ended process lived.
func (p *process) uptime() time.Duration { return p.life }

// cause says how the ended process ended.
func (p *process) cause() string {
	if p.err == nil {
		return "exit status 0"
	}
	return p.err.Error()
}

func killProcess(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }

// runToEnd runs argv to its end with input on stdin, its output appended to logFile, and dies with us like process.
func runToEnd(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = dieWithParent()
	return cmd.Run()
}
