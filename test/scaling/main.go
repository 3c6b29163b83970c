// Command scaling computes how a cluster scales: a queueing model of throughput and latency for 1 to 144 node groups and 1 to 64
// proxies, from service times measured by --measure; a simulation that checks the model's formulas; what was measured on
// small node groups beside what the model says of them; and how evenly partitions spread. It writes docs/scaling.md's blocks
// and pictures.
//
//	make scaling                               compute and write
//	go run ./test/scaling --measure            measure first, in about three minutes
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

const measuredFile = "test/scaling/testdata/measured.json"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	again := flag.Bool("measure", false, "measure service times and small clusters first")
	skarv := flag.String("skarv", "bin/skarv", "the binary measured")
	seconds := flag.Float64("seconds", 4, "length of a measurement")
	flag.Parse()
	if err := run(ctx, *again, *skarv, time.Duration(*seconds*float64(time.Second))); err != nil {
		fmt.Fprintln(os.Stderr, "scaling:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, again bool, skarv string, length time.Duration) error {
	if again {
		m, err := measure(ctx, skarv, length)
		if err != nil {
			return err
		}
		b, err := json.MarshalIndent(m, "", "\t")
		if err != nil {
			return err
		}
		if err := os.WriteFile(measuredFile, append(b, '\n'), 0o644); err != nil {
			return err
		}
	}
	m, err := readMeasured(measuredFile)
	if err != nil {
		return err
	}
	doc, err := os.ReadFile("docs/scaling.md")
	if err != nil {
		return err
	}
	text, pictures, err := compute(m, doc)
	if err != nil {
		return err
	}
	for name, svg := range pictures {
		if err := os.WriteFile(filepath.Join("docs", name), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile("docs/scaling.md", text, 0o644)
}
