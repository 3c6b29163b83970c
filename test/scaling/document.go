package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// assumed is the machines of the computed cluster.
func assumed() machine { return machine{group: 8, proxy: 4} }

// atLoad is the share of its peak at which a cluster's latency is told.
const atLoad = 0.6

func mixes() []mix {
	return []mix{
		{name: "selects by key"},
		{name: "1 % scatter", Scatter: 0.01},
		{name: "10 % scatter", Scatter: 0.1},
		{name: "10 % transfers", Transfer: 0.1},
		{name: "1 % reference-table writes", Copies: 0.01},
	}
}

func sizes() []int { return []int{1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 144} }

// compute returns the document with its blocks made anew, and its pictures by file name.
func compute(m measured, doc []byte) ([]byte, map[string]string, error) {
	list, err := spreads(144)
	if err != nil {
		return nil, nil, err
	}
	pictures := map[string]string{
		"scaling-throughput.svg": throughputPicture(m.Service),
		"scaling-spread.svg":     spreadPicture(list),
	}
	for name, text := range map[string]string{
		"service": serviceBlock(m), "measured": measuredBlock(m), "simulation": simulationBlock(),
		"throughput": throughputBlock(m.Service), "latency": latencyBlock(m.Service), "proxies": proxiesBlock(m.Service),
		"spread": spreadBlock(list),
	} {
		if doc, err = replace(doc, name, text); err != nil {
			return nil, nil, err
		}
	}
	return doc, pictures, nil
}

// replace puts text between a block's marks.
func replace(doc []byte, name, text string) ([]byte, error) {
	begin, end := "<!-- scaling "+name+": written by make scaling from here -->", "<!-- scaling "+name+": to here -->"
	before, rest, ok := bytes.Cut(doc, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		return nil, fmt.Errorf("docs/scaling.md has no lines %q and %q", begin, end)
	}
	return bytes.Join([][]byte{before, []byte(begin + "\n" + text), []byte(end), after}, nil), nil
}

// table writes a Markdown table.
type table struct{ strings.Builder }

func newTable(columns ...string) *table {
	t := new(table)
	t.row(columns...)
	t.WriteString("|" + strings.Repeat("---|", len(columns)) + "\n")
	return t
}

func (t *table) row(cells ...string) { t.WriteString("| " + strings.Join(cells, " | ") + " |\n") }

func serviceBlock(m measured) string {
	t := newTable("work", "processor time, microseconds")
	for _, r := range []struct {
		what string
		us   float64
	}{
		{"select by key, database server", m.Service.Point},
		{"the same, proxy", m.Service.Proxy},
		{"a part of a statement over all groups, proxy", m.Service.Fragment},
		{"transaction with two changes in one group, database server", m.Service.Write},
		{"a group's part of such a transaction over two groups, database server", m.Service.CrossPart},
		{"such a transaction over two groups, proxy", m.Service.Commit},
		{"a group's part of a reference-table write, database server", m.Service.CopyPart},
	} {
		t.row(r.what, fmt.Sprintf("%.0f", r.us))
	}
	return fmt.Sprintf("Measured with `go run ./test/scaling --measure` on %s (%s).\n\n%s", m.Date, m.Machine, t.String())
}

func measuredBlock(m measured) string {
	t := newTable("node groups", "mix", "peak by the model", "measured", "of it", "latency at 60 %: one group, model", "measured", "all groups, model", "measured")
	worst := 1.0
	for _, r := range m.Runs {
		capacity := relayWorkers / relayService.Seconds()
		all := r.Scatter + r.Copies
		demand := (1-all)/float64(r.Groups) + all
		peak := capacity / demand
		ms := relayService.Seconds() * 1000
		q := queue{relayWorkers, ms, r.Offered * demand / 1000}
		name, one, wide, wideMeasured := "selects by key", q.response()+r.Overhead, "", ""
		switch {
		case r.Scatter > 0:
			name = fmt.Sprintf("%.0f %% scatter", 100*r.Scatter)
		case r.Copies > 0:
			name = fmt.Sprintf("%.0f %% reference-table writes", 100*r.Copies)
		}
		if all > 0 {
			slowest := q.slowest(r.Groups)
			if r.Copies > 0 { // the first group goes ahead, then the others together
				slowest = q.response() + q.slowest(r.Groups-1)
			}
			wide, wideMeasured = fmt.Sprintf("%.0f ms", slowest+r.Overhead), fmt.Sprintf("%.0f ms", r.All)
		}
		worst = min(worst, r.Peak/peak)
		t.row(fmt.Sprint(r.Groups), name, fmt.Sprintf("%.0f/s", peak), fmt.Sprintf("%.0f/s", r.Peak), fmt.Sprintf("%.0f %%", 100*r.Peak/peak),
			fmt.Sprintf("%.0f ms", one), fmt.Sprintf("%.0f ms", r.One), wide, wideMeasured)
	}
	return t.String() + fmt.Sprintf("\nThe lowest measured peak is %.0f %% of the model's.\n", 100*worst)
}

// simulations are those that the formulas are compared with.
func simulations() (list []simulation) {
	for _, groups := range []int{1, 4, 16, 64, 144} {
		for _, load := range []float64{0.3, 0.6, 0.8} {
			all := 0.02
			workers := 8
			perGroup := load * float64(workers)
			list = append(list, simulation{
				groups: groups, workers: workers, mean: 1, all: all, statements: 40_000,
				rate: perGroup / ((1-all)/float64(groups) + all),
			})
		}
	}
	return list
}

func simulationBlock() string {
	t := newTable("node groups", "load", "one group: formula", "simulation", "all groups: formula", "simulation")
	for _, s := range simulations() {
		f, r := s.formula(), s.run()
		load := s.rate * ((1-s.all)/float64(s.groups) + s.all) / float64(s.workers)
		t.row(fmt.Sprint(s.groups), fmt.Sprintf("%.0f %%", 100*load), fmt.Sprintf("%.2f", f.one), fmt.Sprintf("%.2f", r.one),
			fmt.Sprintf("%.2f", f.all), fmt.Sprintf("%.2f", r.all))
	}
	return t.String()
}

// enough is so many proxies that they are never the bottleneck.
const enough = 1 << 20

func throughputBlock(s service) string {
	columns := []string{"node groups"}
	for _, m := range mixes() {
		columns = append(columns, m.name)
	}
	t := newTable(columns...)
	for _, n := range sizes() {
		cells := []string{fmt.Sprint(n)}
		for _, m := range mixes() {
			one, _ := s.peak(m, 1, enough, assumed())
			here, _ := s.peak(m, n, enough, assumed())
			cells = append(cells, fmt.Sprintf("%s (%.1f x)", thousands(here), here/one))
		}
		t.row(cells...)
	}
	return t.String()
}

func latencyBlock(s service) string {
	t := newTable("node groups", "select by key", "scatter, 1 %", "times the select", "scatter, 10 %")
	for _, n := range sizes() {
		at := func(m mix) (one, all float64) {
			peak, _ := s.peak(m, n, enough, assumed())
			group, _ := s.demand(m, n)
			q := queue{assumed().group, s.Point, atLoad * peak * group / s.Point / 1e6}
			return q.response(), q.slowest(n)
		}
		one, few := at(mixes()[1])
		_, many := at(mixes()[2])
		t.row(fmt.Sprint(n), fmt.Sprintf("%.0f us", one), fmt.Sprintf("%.0f us", few), fmt.Sprintf("%.1f x", few/one), fmt.Sprintf("%.0f us", many))
	}
	return t.String()
}

func proxiesBlock(s service) string {
	proxies := []int{1, 2, 4, 8, 16, 32, 64}
	columns := []string{"node groups"}
	for _, p := range proxies {
		columns = append(columns, fmt.Sprint(p))
	}
	t := newTable(append(columns, "proxies needed: selects by key", "1 % scatter")...)
	for _, n := range sizes() {
		cells := []string{fmt.Sprint(n)}
		for _, p := range proxies {
			peak, bound := s.peak(mixes()[0], n, p, assumed())
			text := thousands(peak)
			if bound {
				text += " *"
			}
			cells = append(cells, text)
		}
		for _, m := range mixes()[:2] {
			group, proxy := s.demand(m, n)
			need := float64(assumed().group) / group * proxy / float64(assumed().proxy)
			cells = append(cells, fmt.Sprint(int(math.Ceil(need))))
		}
		t.row(cells...)
	}
	return t.String()
}

func spreadBlock(list []spread) string {
	t := newTable("node groups", "partitions each", "fullest above its share", "moved when the last came")
	even, worst := []string{}, spread{}
	for _, s := range list {
		if s.least == s.most {
			even = append(even, fmt.Sprint(s.groups))
		}
		if s.excess() > worst.excess() {
			worst = s
		}
	}
	for _, s := range list {
		if s.groups <= 16 || s.groups%8 == 0 || s.groups == worst.groups {
			each := fmt.Sprint(s.least)
			if s.most != s.least {
				each = fmt.Sprintf("%d to %d", s.least, s.most)
			}
			t.row(fmt.Sprint(s.groups), each, fmt.Sprintf("%.2f %%", 100*s.excess()), fmt.Sprint(s.moved))
		}
	}
	return t.String() + fmt.Sprintf("\nNo difference at all with %s. The largest is with %d: %.2f %%.\n", strings.Join(even, ", "), worst.groups, 100*worst.excess())
}

// thousands is a number with a unit that fits.
func thousands(v float64) string {
	if v >= 1e6 {
		return fmt.Sprintf("%.1f M/s", v/1e6)
	}
	return fmt.Sprintf("%.0f k/s", v/1e3)
}
