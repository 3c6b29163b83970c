package reorg

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	osexec "os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"skarv/pkg/mover"
	"skarv/pkg/reorg"
	"skarv/pkg/server"
)

// A Skarv process is this test's own binary, told by its environment what to be.
const envProcess = "SKARV_REORG_PROCESS"

// orders is what a process is told.
type orders struct {
	Etcd  string
	Addr  string // where MySQL clients connect, fixed over restarts
	Point string // the step of a reorganisation to die at, or empty
	Stop  bool   // it only stops there, until it is told to continue
	Log   string
}

func TestMain(m *testing.M) {
	if text := os.Getenv(envProcess); text != "" {
		if err := beProcess(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// chaosTimes are for a machine that is busy with everything at once.
func chaosTimes() reorg.Times {
	return reorg.Times{
		Ack: time.Second, Deadline: 4 * time.Second, MaxLag: 2 * time.Second, Retry: 200 * time.Millisecond, Reap: 5 * time.Second,
	}
}

// moverPoint begins the names of steps that are a mover's.
const moverPoint = "mover."

func beProcess(text string) error {
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	logFile, err := os.OpenFile(o.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	cfg := server.DefaultConfig()
	cfg.Etcd.Endpoints = []string{o.Etcd}
	cfg.MySQL.Addr, cfg.HTTP.Addr, cfg.Admin.Addr = o.Addr, "", "127.0.0.1:0"
	var once sync.Once
	hit := func(point string) {
		if point != o.Point {
			return
		}
		once.Do(func() {
			if o.Stop {
				fmt.Println("stops")
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
				time.Sleep(100 * time.Millisecond) // any thread may be the one that takes the signal
				return
			}
			fmt.Println("dies")
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		})
	}
	s, err := server.New(cfg, server.Options{
		Version: "chaos", Log: slog.New(slog.NewTextHandler(logFile, nil)).With("pid", os.Getpid()),
		Reorg: func(c *reorg.Config) {
			c.Times = chaosTimes()
			c.Hit = func(point string) error {
				hit(point)
				return nil
			}
			c.NewMover = func(cfg mover.Config, m mover.Move) (reorg.Mover, error) {
				cfg.Hit = func(point string) { hit(moverPoint + point) }
				cfg.ChunkRows = 200 // so that there are several
				return mover.New(cfg, m)
			}
		},
	})
	if err != nil {
		return err
	}
	go func() {
		for s.Ready() != nil {
			time.Sleep(5 * time.Millisecond)
		}
		fmt.Println("ready")
	}()
	return s.Run(context.Background())
}

// process is a Skarv process that is started again whenever it dies.
type process struct {
	orders  orders
	next    func() (point string, stop bool)
	reached func(point string, stop bool)

	mu  sync.Mutex
	cmd *osexec.Cmd
}

// run keeps the process running until ctx ends.
func (p *process) run(ctx context.Context, ready chan<- struct{}) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		o := p.orders
		o.Point, o.Stop = p.next()
		text, err := json.Marshal(o)
		if err != nil {
			return err
		}
		cmd := osexec.Command(exe)
		cmd.Env = append(os.Environ(), envProcess+"="+string(text))
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		p.mu.Lock()
		p.cmd = cmd
		p.mu.Unlock()
		stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			switch lines.Text() {
			case "ready":
				if ready != nil {
					close(ready)
					ready = nil
				}
			case "dies", "stops":
				p.reached(o.Point, o.Stop)
			}
		}
		_ = cmd.Wait() // it was killed
		stop()
	}
	return nil
}

func (p *process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(sig)
	}
}
