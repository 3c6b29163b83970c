package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"skarv/pkg/wire"
)

// idleConnections opens many connections that have run a statement and then do nothing.
func (b *bench) idleConnections(ctx context.Context) error {
	n := min(b.idle, b.files-300)
	if n < b.idle {
		b.report.text("Only %d connections: a process may open %d files on this machine.", n, b.files)
	}
	// A process of its own: nothing that the other sections left behind counts.
	t, err := b.startServe(ctx, b.options.skarv, "idle", b.base, b.one)
	if err != nil {
		return err
	}
	if err := execute(ctx, t, "CREATE DATABASE IF NOT EXISTS bench_idle",
		"CREATE TABLE IF NOT EXISTS bench_idle.t (id INT PRIMARY KEY, c CHAR(100))"); err != nil {
		return err
	}
	warm, err := openIdle(ctx, t, 100) // what the first connections cost once
	if err != nil {
		return err
	}
	defer warm.close()
	before, err := settled(ctx, t)
	if err != nil {
		return err
	}
	clock := newClock()
	open, err := openIdle(ctx, t, n)
	if err != nil {
		return err
	}
	defer open.close()
	opened := clock()
	after, err := settled(ctx, t)
	if err != nil {
		return err
	}
	cpuBefore, err := cpuTime(t.pid)
	if err != nil {
		return err
	}
	const watched = 10 * time.Second
	select {
	case <-time.After(watched):
	case <-ctx.Done():
		return ctx.Err()
	}
	cpuAfter, err := cpuTime(t.pid)
	if err != nil {
		return err
	}
	each := float64(after-before) / float64(n) / 1024
	share := 100 * (cpuAfter - cpuBefore).Seconds() / watched.Seconds()
	b.report.head("connections", "opened in", "memory of the process before", "after", "each", "CPU while idle")
	defer b.report.end()
	b.report.row(fmt.Sprint(n), fmt.Sprintf("%.1f s", opened.Seconds()), fmt.Sprintf("%.0f MB", float64(before)/(1<<20)),
		fmt.Sprintf("%.0f MB", float64(after)/(1<<20)), fmt.Sprintf("%.1f KB", each), fmt.Sprintf("%.1f %% of a core", share))
	b.report.goal(fmt.Sprintf("memory of an idle connection, %d open", n), "at most 12 KB", "%.1f KB", each)
	b.report.goal("CPU of idle connections", "none", "%.1f %% of a core", share)
	return nil
}

// settled returns a process's resident memory after garbage collections, which also shrink stacks.
func settled(ctx context.Context, t target) (int64, error) {
	for range 6 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+t.http+"/debug/pprof/heap?gc=1", nil)
		if err != nil {
			return 0, err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return 0, err
		}
	}
	// The runtime returns memory to the system little by little: wait while it does.
	last, err := memory(t.pid, "VmRSS")
	for range 20 {
		if err != nil {
			return 0, err
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		var now int64
		if now, err = memory(t.pid, "VmRSS"); now > last-last/100 {
			return now, err
		}
		last = now
	}
	return last, err
}

// idle is connections that are open and say nothing.
type idle struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (i *idle) close() {
	for _, c := range i.conns {
		_ = c.Close()
	}
}

// openIdle opens n connections, from several addresses because one has not enough ports, and runs a statement on each.
func openIdle(ctx context.Context, t target, n int) (*idle, error) {
	open := &idle{}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(16)
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			from := &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%8))}
			d := net.Dialer{LocalAddr: from, Timeout: 20 * time.Second}
			c, err := d.DialContext(ctx, "tcp", t.addr)
			if err != nil {
				return err
			}
			open.mu.Lock()
			open.conns = append(open.conns, c)
			open.mu.Unlock()
			if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
				return err
			}
			if err := login(c); err != nil {
				return err
			}
			return ask(c, fmt.Sprint("SELECT c FROM bench_idle.t WHERE id = ", i))
		})
	}
	if err := g.Wait(); err != nil {
		open.close()
		return nil, err
	}
	return open, nil
}

// login is the least a client must say: root without a password.
func login(c net.Conn) error {
	if _, err := readPacket(c); err != nil {
		return err
	}
	body := wire.AppendHandshakeResponse(nil, wire.HandshakeResponse{
		Capabilities: wire.CapProtocol41 | wire.CapSecureConnection | wire.CapPluginAuth | wire.CapTransactions, Collation: 45,
		MaxPacket: 16 << 20, User: "root", Plugin: wire.NativePassword,
	})
	seq := byte(1)
	if _, err := c.Write(wire.AppendPacket(nil, &seq, body)); err != nil {
		return err
	}
	answer, err := readPacket(c)
	if err == nil && answer[0] == wire.EOFHeader { // another plugin is asked for, which needs nothing for no password
		seq = 3
		if _, err := c.Write(wire.AppendPacket(nil, &seq, nil)); err != nil {
			return err
		}
		answer, err = readPacket(c)
	}
	if err == nil && answer[0] != wire.OKHeader {
		err = fmt.Errorf("login: %q", answer)
	}
	return err
}

// ask runs a statement and reads its result, which is short, up to the second EOF.
func ask(c net.Conn, sql string) error {
	if _, err := c.Write(query(sql)); err != nil {
		return err
	}
	for ends := 0; ends < 2; {
		p, err := readPacket(c)
		if err != nil {
			return err
		}
		switch {
		case p[0] == wire.ErrHeader:
			return fmt.Errorf("%q", p)
		case p[0] == wire.EOFHeader && len(p) < 9:
			ends++
		}
	}
	return nil
}

func readPacket(c net.Conn) ([]byte, error) {
	var header [wire.HeaderLen]byte
	if _, err := io.ReadFull(c, header[:]); err != nil {
		return nil, err
	}
	n, _ := wire.Header(header[:])
	if n == 0 {
		return nil, fmt.Errorf("an empty packet")
	}
	p := make([]byte, n)
	_, err := io.ReadFull(c, p)
	return p, err
}
