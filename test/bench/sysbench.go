package main

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
)

// rows of the table sysbench works on.
const tableRows = 50_000

// oltp is a workload of sysbench.
type oltp struct {
	workload string
	prepared bool
	threads  int
	// kind, not empty, is what options make of the workload.
	kind    string
	options []string
}

// name is what the reader is told.
func (w oltp) name() string {
	if w.kind != "" {
		return w.kind
	}
	return w.workload
}

func (w oltp) protocol() string {
	if w.prepared {
		return "binary"
	}
	return "text"
}

func (w oltp) String() string { return fmt.Sprintf("%s %s %d", w.name(), w.protocol(), w.threads) }

// sample is one run.
type sample struct {
	qps float64
	// of the proxy, a query
	cpu      float64 // microseconds
	switches float64 // from one thread to another
}

// prepareSysbench makes the tables, once a run.
func (b *bench) prepareSysbench(ctx context.Context) error {
	if b.prepared {
		return nil
	}
	b.prepared = true
	for _, t := range b.targets() {
		if t.pid == b.haproxy.pid {
			t.addr = b.direct.addr
		}
		if _, err := b.sysbench(ctx, t, oltp{workload: "oltp_read_write", threads: 1}, "prepare"); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) sysbench(ctx context.Context, t target, w oltp, verb string) (string, error) {
	host, port, err := net.SplitHostPort(t.addr)
	if err != nil {
		return "", err
	}
	mode := "disable"
	if w.prepared {
		mode = "auto"
	}
	args := []string{
		w.workload, "--db-driver=mysql", "--mysql-host=" + host, "--mysql-port=" + port, "--mysql-user=" + t.user, "--mysql-password=" + t.password,
		"--mysql-db=" + t.db, "--mysql-ssl=off", "--tables=1", fmt.Sprintf("--table-size=%d", tableRows), "--rand-type=uniform",
		fmt.Sprintf("--threads=%d", w.threads), "--db-ps-mode=" + mode, fmt.Sprintf("--time=%d", b.seconds), "--mysql-ignore-errors=1213,1205,1020",
	}
	args = append(append(args, w.options...), verb)
	out, err := exec.CommandContext(ctx, "sysbench", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("sysbench %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// sample runs w once.
func (b *bench) sample(ctx context.Context, t target, w oltp) (s sample, err error) {
	before, err := cpuTime(t.pid)
	if err != nil {
		return s, err
	}
	switches := contextSwitches(t.pid)
	out, err := b.sysbench(ctx, t, w, "run")
	if err != nil {
		return s, err
	}
	switches = contextSwitches(t.pid) - switches
	after, err := cpuTime(t.pid)
	if err != nil {
		return s, err
	}
	queries, seconds := number(out, `total:\s+(\d+)`), number(out, `total time:\s+([0-9.]+)s`)
	if queries == 0 || seconds == 0 {
		return s, fmt.Errorf("sysbench %s reported no queries:\n%s", w.workload, out)
	}
	return sample{qps: queries / seconds, cpu: float64((after - before).Microseconds()) / queries, switches: switches / queries}, nil
}

// figures are the medians of one workload through one target.
type figures struct {
	qps, cpu, ratio float64
	latency         float64 // microseconds, of one query
}

// compare measures w through all targets in turn and adds their rows to the table.
func (b *bench) compare(ctx context.Context, w oltp) (map[string]figures, error) {
	targets := b.targets()
	qps, cpu, switches := make([][]float64, len(targets)), make([][]float64, len(targets)), make([][]float64, len(targets))
	for i := range inTurn(b.rounds, len(targets)) {
		s, err := b.sample(ctx, targets[i], w)
		if err != nil {
			return nil, err
		}
		qps[i], cpu[i], switches[i] = append(qps[i], s.qps), append(cpu[i], s.cpu), append(switches[i], s.switches)
	}
	out := map[string]figures{}
	relay := median(cpu[1])
	for i, t := range targets {
		f := figures{qps: median(qps[i]), cpu: median(cpu[i])}
		f.latency = float64(w.threads) * 1e6 / f.qps
		f.ratio = f.cpu / relay
		out[t.name] = f
		used, ratio, switched := "", "", ""
		if t.pid != 0 {
			used, ratio, switched = fmt.Sprintf("%.1f", f.cpu), fmt.Sprintf("%.2f", f.ratio), fmt.Sprintf("%.2f", median(switches[i]))
		}
		b.report.row(w.name(), w.protocol(), fmt.Sprint(w.threads), t.name, fmt.Sprintf("%.0f", f.qps),
			fmt.Sprintf("%.0f", f.latency), used, ratio, switched)
	}
	return out, nil
}

func (b *bench) oltpHead() {
	b.report.head("workload", "protocol", "threads", "through", "queries/s", "latency us", "proxy CPU us/query", "ratio to haproxy", "switches/query")
}

// pointSelects is the way of one statement that belongs to one node group, at rest and under load.
func (b *bench) pointSelects(ctx context.Context) error {
	if err := b.prepareSysbench(ctx); err != nil {
		return err
	}
	b.oltpHead()
	defer b.report.end()
	for _, threads := range b.threads {
		for _, prepared := range []bool{false, true} {
			w := oltp{workload: "oltp_point_select", prepared: prepared, threads: threads}
			if !strings.Contains(w.String(), b.only) {
				continue
			}
			f, err := b.compare(ctx, w)
			if err != nil {
				return err
			}
			what := fmt.Sprintf("point select, %s, %d threads", w.protocol(), threads)
			if threads == 1 {
				direct := f["direct"].latency
				relay, own := f[b.haproxy.name].latency-direct, f["skarv"].latency-direct
				b.report.goal("added latency of a "+what, "at most haproxy's", "%.0f us, haproxy %.0f us", own, relay)
				continue
			}
			b.report.goal("CPU per query, "+what, "below haproxy's", "%s", b.ratios(f))
		}
	}
	return nil
}

// transactions is everything that writes.
func (b *bench) transactions(ctx context.Context) error {
	if err := b.prepareSysbench(ctx); err != nil {
		return err
	}
	b.oltpHead()
	defer b.report.end()
	for _, w := range []oltp{
		{workload: "oltp_read_write", threads: 16}, {workload: "oltp_read_write", prepared: true, threads: 16},
		{workload: "oltp_update_index", threads: 16}, {workload: "oltp_update_non_index", threads: 16},
		{workload: "oltp_insert", threads: 16}, {workload: "oltp_delete", threads: 16},
	} {
		if !strings.Contains(w.String(), b.only) {
			continue
		}
		f, err := b.compare(ctx, w)
		if err != nil {
			return err
		}
		target := "at most 1.1 x haproxy's"
		if w.workload == "oltp_read_write" {
			target = "at most 1.2 x haproxy's"
		}
		b.report.goal(fmt.Sprintf("CPU per query, %s, %s, %d threads", w.workload, w.protocol(), w.threads), target, "%s", b.ratios(f))
	}
	return nil
}

// kinds are the statements that oltp_read_write is made of.
func kinds() (list []oltp) {
	for _, k := range []string{"simple", "sum", "order", "distinct"} {
		options := []string{"--skip-trx=on", "--point-selects=0"}
		for _, other := range []string{"simple", "sum", "order", "distinct"} {
			n := 0
			if other == k {
				n = 1
			}
			options = append(options, fmt.Sprintf("--%s-ranges=%d", other, n))
		}
		list = append(list, oltp{workload: "oltp_read_only", threads: 16, kind: k + " range", options: options})
	}
	return append(list,
		oltp{workload: "oltp_read_only", threads: 16, kind: "BEGIN, point select, COMMIT", options: []string{"--point-selects=1", "--range-selects=off"}},
		oltp{workload: "oltp_write_only", threads: 16, kind: "BEGIN, update, COMMIT",
			options: []string{"--index-updates=0", "--non-index-updates=1", "--delete-inserts=0"}},
		oltp{workload: "oltp_write_only", threads: 16, kind: "BEGIN, delete, insert, COMMIT",
			options: []string{"--index-updates=0", "--non-index-updates=0", "--delete-inserts=1"}})
}

// statements is the parts of oltp_read_write one by one.
func (b *bench) statements(ctx context.Context) error {
	if err := b.prepareSysbench(ctx); err != nil {
		return err
	}
	b.oltpHead()
	defer b.report.end()
	for _, w := range kinds() {
		if strings.Contains(w.String(), b.only) {
			if _, err := b.compare(ctx, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// ratios words what Skarv needs beside haproxy, and what the second one does.
func (b *bench) ratios(f map[string]figures) string {
	s := fmt.Sprintf("%.2f x", f["skarv"].ratio)
	if b.against != nil {
		s += fmt.Sprintf("; %.2f x: %s", f[b.against.name].ratio, b.against.name)
	}
	return s
}
