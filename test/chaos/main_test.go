// Package chaos runs clusters of real servers and proxy processes and kills them, at every step of a commit and at
// random, while clients work; in the end nothing may be torn or missing.
package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"skarv/pkg/server"
	"skarv/pkg/txn"
)

// A proxy process is this test's own binary, told by its environment what to be.
const envProxy = "SKARV_CHAOS_PROXY"

// orders is what a proxy process is told.
type orders struct {
	Etcd  string
	Addr  string // where MySQL clients connect, fixed over restarts
	Point string // the failpoint to die at, or empty
	After int    // which time
	Stop  bool   // it only stops there, until it is told to continue
	Log   string
}

func TestMain(m *testing.M) {
	if text := os.Getenv(envProxy); text != "" {
		if err := beProxy(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func beProxy(text string) error {
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
	var hits atomic.Int64
	s, err := server.New(cfg, server.Options{
		Version: "chaos", Log: slog.New(slog.NewTextHandler(logFile, nil)),
		Failpoint: func(point string, _ txn.ID) error {
			if point != o.Point {
				return nil
			}
			switch n := hits.Add(1); {
			case o.Stop && n == int64(o.After):
				fmt.Println("stops at " + point)
				_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
				time.Sleep(200 * time.Millisecond) // any thread may be the one that takes the signal
			case !o.Stop && n >= int64(o.After):
				fmt.Println("dies at " + point)
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			return nil
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

// proxy is a proxy process that is started again whenever it dies.
type proxy struct {
	orders orders
	next   func() (point string, after int)
	// died and stopped are told of it.
	died, stopped func(point string)

	mu  sync.Mutex
	cmd *exec.Cmd
}

// run keeps the process running until ctx ends.
func (p *proxy) run(ctx context.Context, ready chan<- struct{}) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		o := p.orders
		o.Point, o.After = p.next()
		text, err := json.Marshal(o)
		if err != nil {
			return err
		}
		cmd := exec.Command(exe)
		cmd.Env = append(os.Environ(), envProxy+"="+string(text))
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
			switch line := lines.Text(); line {
			case "ready":
				if ready != nil {
					close(ready)
					ready = nil
				}
			case "dies at " + o.Point:
				p.died(o.Point)
			case "stops at " + o.Point:
				p.stopped(o.Point)
			}
		}
		_ = cmd.Wait() // it was killed
		stop()
	}
	return nil
}

// kill is kill -9.
func (p *proxy) kill() { p.signal(syscall.SIGKILL) }

func (p *proxy) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(sig)
	}
}

// duration is how long the clients work: SKARV_CHAOS_SECONDS, or 30 seconds.
func duration(t *testing.T) time.Duration {
	text := os.Getenv("SKARV_CHAOS_SECONDS")
	if text == "" {
		return 30 * time.Second
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("SKARV_CHAOS_SECONDS: %v", err)
	}
	return time.Duration(n) * time.Second
}
