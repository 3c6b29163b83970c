// Command overload measures what a proxy does when more is asked of a node group than it can do, and what becomes of the
// other groups when one is ten times slower. It offers statements at random times, whether earlier ones have been
// answered or not, as many clients together do: a load generator that waits for answers would offer less the slower they come.
//
// The servers are real. Between each of them and the proxy stands a relay that lets a few requests at a time through, after a
// fixed time each: so a group has a capacity that is known and far below what this machine can do, and overload is
// that of the group, not of the machine. One run has a server without it, whose own processors are the limit.
//
//	make bench-overload
//	go run ./test/overload --seconds 3
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	skarv := flag.String("skarv", "bin/skarv", "the binary measured")
	write := flag.String("write", "", "the document whose block is replaced, e.g. docs/performance.md")
	seconds := flag.Float64("seconds", 6, "length of a measurement")
	flag.Parse()
	if err := run(ctx, *skarv, *write, time.Duration(*seconds*float64(time.Second))); err != nil {
		fmt.Fprintln(os.Stderr, "overload:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, skarv, write string, length time.Duration) (err error) {
	b := &bench{skarv: skarv, length: length}
	defer func() {
		if serr := b.stop(); err == nil {
			err = serr
		}
	}()
	if err := b.start(ctx); err != nil {
		return err
	}
	b.text("Written by `make bench-overload` (`go run ./test/overload --seconds %g`) on %s.", length.Seconds(), time.Now().Format(time.DateOnly))
	if err := b.three(ctx); err != nil {
		return err
	}
	if err := b.slowGroup(ctx); err != nil {
		return err
	}
	if write != "" {
		return replace(write, b.report.String())
	}
	return nil
}

func (b *bench) text(format string, args ...any) { b.emit(fmt.Sprintf(format, args...) + "\n\n") }

func (b *bench) head(columns ...string) {
	b.row(columns...)
	b.emit("|" + strings.Repeat("---|", len(columns)) + "\n")
}

func (b *bench) row(cells ...string) { b.emit("| " + strings.Join(cells, " | ") + " |\n") }

func (b *bench) emit(s string) {
	b.report.WriteString(s)
	fmt.Print(s)
}

// Between these lines of the document everything is written by this program.
const (
	beginMark = "<!-- overload: written by make bench-overload from here -->"
	endMark   = "<!-- overload: to here -->"
)

func replace(path, text string) error {
	doc, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(doc, []byte(beginMark))
	_, after, ok2 := bytes.Cut(rest, []byte(endMark))
	if !ok || !ok2 {
		return fmt.Errorf("%s has no lines %q and %q", path, beginMark, endMark)
	}
	out := string(before) + beginMark + "\n" + text + endMark + string(after)
	return os.WriteFile(path, []byte(out), 0o644)
}
