// Command bench measures Skarv beside what it is compared with: the database server asked directly and haproxy as a plain
// TCP relay, all in front of one server, in turn, to and fro (A B C C B A ...). It prints tables, and writes them into
// docs/performance.md between their markers. Figures compare only within one run.
//
//	make bench                                        everything, about ten minutes
//	go run ./test/bench --sections point --rounds 9   one section
//	go run ./test/bench --against /tmp/old-skarv      two binaries in one run
//	go run ./test/bench --sections statements         what oltp_read_write is made of, one by one
//	make bench-cutover                                moves of partitions, about five minutes; a report of its own
//
// A section that fails does not stop the others; it is named in the report, and the exit status is 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	skarv    string
	against  string
	sections []string
	write    string
	profile  string
	only     string
	threads  []int
	rounds   int
	seconds  int
	idle     int
	base     int
	loops    int

	cutoverCount int
}

// section is one part of the report.
type section struct {
	name, title string
	limit       time.Duration // a section that takes longer has failed
	run         func(*bench, context.Context) error
	// apart: it compares with nothing, is measured only when it is asked for, alone, and written into a block of its own.
	apart bool
}

func sections() []section {
	return []section{
		{name: "point", title: "Point selects by key", limit: 7 * time.Minute, run: (*bench).pointSelects},
		{name: "transactions", title: "Transactions and writes", limit: 7 * time.Minute, run: (*bench).transactions},
		{name: "statements", title: "What transactions are made of", limit: 7 * time.Minute, run: (*bench).statements},
		{name: "commits", title: "Commits on one node group and on two, and a global unique index", limit: 3 * time.Minute, run: (*bench).commits},
		{name: "large", title: "A large result: 100,000 rows of 200 bytes", limit: 3 * time.Minute, run: (*bench).largeResult},
		{name: "scatter", title: "Scatter to 4 node groups: ORDER BY k LIMIT 10", limit: 3 * time.Minute, run: (*bench).scatter},
		{name: "idle", title: "Idle connections", limit: 4 * time.Minute, run: (*bench).idleConnections},
		{name: "map", title: "A map that changes under traffic", limit: 2 * time.Minute, run: (*bench).mapChanges},
		{name: "micro", title: "Micro-benchmarks", limit: 8 * time.Minute, run: (*bench).micro},
		{name: "cutover", title: "Statements while partitions move", limit: 30 * time.Minute, run: (*bench).cutovers, apart: true},
	}
}

func run(ctx context.Context) error {
	var o options
	var names, usual []string
	for _, s := range sections() {
		names = append(names, s.name)
		if !s.apart {
			usual = append(usual, s.name)
		}
	}
	all := strings.Join(names, ",")
	chosen := flag.String("sections", strings.Join(usual, ","), "what to measure, of "+all)
	flag.StringVar(&o.skarv, "skarv", "bin/skarv", "the binary measured")
	flag.StringVar(&o.against, "against", "", "another skarv binary, measured beside it")
	flag.StringVar(&o.write, "write", "", "the document whose tables are replaced, e.g. docs/performance.md")
	flag.StringVar(&o.profile, "profile", "", "write a CPU profile of skarv under the sections measured to this file, for make pgo")
	flag.StringVar(&o.only, "only", "", "only the sysbench runs whose workload, protocol and threads contain this, e.g. 'oltp_read_write text'")
	threads := flag.String("threads", "1,16,64", "clients of point selects")
	flag.IntVar(&o.rounds, "rounds", 5, "runs of each; with 5 or more the best and the worst are dropped")
	flag.IntVar(&o.seconds, "seconds", 2, "length of a run")
	flag.IntVar(&o.idle, "idle", 20_000, "idle connections to open")
	flag.IntVar(&o.base, "base", -1, "mysql.loops of the binary measured")
	flag.IntVar(&o.loops, "loops", 0, "mysql.loops of the skarv beside it, which is the same binary unless --against names another one; as --base: none beside it")
	flag.IntVar(&o.cutoverCount, "cutovers", 50, "moves of the section cutover")
	flag.Parse()
	o.sections = strings.Split(*chosen, ",")
	for _, t := range strings.Split(*threads, ",") {
		n, err := strconv.Atoi(t)
		if err != nil {
			return fmt.Errorf("--threads: %w", err)
		}
		o.threads = append(o.threads, n)
	}
	for _, s := range o.sections {
		if !slices.Contains(names, s) {
			return fmt.Errorf("there is no section %q; there are %s", s, all)
		}
	}
	apart := slices.ContainsFunc(sections(), func(s section) bool { return s.apart && slices.Contains(o.sections, s.name) })
	if apart && len(o.sections) > 1 {
		return fmt.Errorf("%s: one of these is measured alone", *chosen)
	}
	block := "bench"
	if apart {
		block += "-" + *chosen
	}
	b := &bench{options: o, report: newReport(block, o)}
	if err := b.raiseFileLimit(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "skarv-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.dir = dir
	defer b.stop()
	if !apart {
		for _, tool := range []string{"sysbench", "haproxy"} {
			if _, err := exec.LookPath(tool); err != nil {
				return fmt.Errorf("%s is needed: apt-get install sysbench haproxy", tool)
			}
		}
		if err := b.start(ctx); err != nil {
			return err
		}
	}
	var failed []string
	for _, s := range sections() {
		if !slices.Contains(o.sections, s.name) {
			continue
		}
		b.report.begin(s.title)
		limited, cancel := context.WithTimeout(ctx, s.limit)
		err := s.run(b, limited)
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, s.name)
			b.report.text("This section failed: %v", err)
		}
	}
	if b.profiled != nil {
		if err := <-b.profiled; err != nil {
			return fmt.Errorf("profile: %w", err)
		}
	}
	if o.write != "" {
		if err := b.report.write(o.write); err != nil {
			return err
		}
	}
	if len(failed) > 0 {
		return errors.New("sections that failed: " + strings.Join(failed, ", "))
	}
	return nil
}
