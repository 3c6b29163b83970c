package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// report collects the tables of a run, and prints them as they come.
type report struct {
	block string // of the document; the target of make that writes it
	began time.Time
	body  strings.Builder
	goals []goal
}

// goal is a target of the project beside what was measured.
type goal struct{ what, target, measured string }

func newReport(block string, o options) *report {
	r := &report{block: block, began: time.Now()}
	r.text("Written by `make %s` (`go run ./test/bench --sections %s %s`) on %s.", block, strings.Join(o.sections, ","), o.counts(block),
		r.began.Format(time.DateOnly))
	return r
}

// counts are the flags that say how much is measured.
func (o options) counts(block string) string {
	if block == "bench-cutover" {
		return fmt.Sprintf("--cutovers %d", o.cutoverCount)
	}
	return fmt.Sprintf("--rounds %d --seconds %d", o.rounds, o.seconds)
}

// machine tells where the run took place.
func (r *report) machine(server string) {
	model := "unknown processor"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				model = strings.TrimLeft(strings.TrimSpace(name), ": ")
				break
			}
		}
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	haproxy, _ := exec.Command("haproxy", "-v").Output()
	first, _, _ := strings.Cut(string(haproxy), "\n")
	first, _, _ = strings.Cut(first, " 20") // the date
	r.text("Machine: %s, %d processors, shared by clients, proxies and servers; Linux %s; %s; %s; %s.",
		model, runtime.NumCPU(), strings.TrimSpace(string(kernel)), runtime.Version(), server, first)
}

func (r *report) emit(s string) {
	r.body.WriteString(s)
	fmt.Print(s)
}

// text adds a paragraph.
func (r *report) text(format string, args ...any) { r.emit(fmt.Sprintf(format, args...) + "\n\n") }

// begin starts a section.
func (r *report) begin(title string) { r.emit("### " + title + "\n\n") }

// head starts a table.
func (r *report) head(columns ...string) {
	r.row(columns...)
	r.emit("|" + strings.Repeat("---|", len(columns)) + "\n")
}

func (r *report) row(cells ...string) { r.emit("| " + strings.Join(cells, " | ") + " |\n") }

// end ends a table.
func (r *report) end() { r.emit("\n") }

// goal notes a figure for the table of targets.
func (r *report) goal(what, target, format string, args ...any) {
	r.goals = append(r.goals, goal{what, target, fmt.Sprintf(format, args...)})
}

// marks are the lines of the document between which everything is the report's.
func (r *report) marks() (begin, end string) {
	return fmt.Sprintf("<!-- %s: written by make %[1]s from here -->", r.block), fmt.Sprintf("<!-- %s: to here -->", r.block)
}

// write puts the report into the document at path.
func (r *report) write(path string) error {
	doc, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	beginMark, endMark := r.marks()
	before, rest, ok := bytes.Cut(doc, []byte(beginMark))
	_, after, ok2 := bytes.Cut(rest, []byte(endMark))
	if !ok || !ok2 {
		return fmt.Errorf("%s has no lines %q and %q", path, beginMark, endMark)
	}
	var out bytes.Buffer
	out.Write(before)
	out.WriteString(beginMark + "\n")
	if len(r.goals) > 0 {
		out.WriteString("### Targets\n\n| what | target | measured |\n|---|---|---|\n")
		for _, g := range r.goals {
			fmt.Fprintf(&out, "| %s | %s | %s |\n", g.what, g.target, g.measured)
		}
		out.WriteString("\n")
	}
	out.WriteString(r.body.String())
	fmt.Fprintf(&out, "The run took %s.\n", time.Since(r.began).Round(time.Second))
	out.WriteString(endMark)
	out.Write(after)
	return os.WriteFile(path, out.Bytes(), 0o644)
}
