package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// micro runs the packages' own benchmarks.
func (b *bench) micro(ctx context.Context) error {
	packages := []string{"wire", "sqlparse", "placement", "exec", "planner", "merge"}
	args := []string{"test", "-run", "^$", "-bench", ".", "-benchmem", "-benchtime", "50ms", "-count", "5"}
	for _, p := range packages {
		args = append(args, "./pkg/"+p)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, out, stderr.Bytes())
	}
	results := parseBenchmarks(string(out))
	b.report.text("`go %s`, medians.", strings.Join(args, " "))
	b.report.head("package", "benchmark", "ns/op", "B/op", "allocs/op")
	defer b.report.end()
	found := map[string]float64{}
	for _, r := range results {
		name := r.pkg + "." + r.name
		found[name] = median(r.ns)
		b.report.row(r.pkg, r.name, fmt.Sprintf("%.4g", median(r.ns)), fmt.Sprintf("%.0f", median(r.bytes)), fmt.Sprintf("%.0f", median(r.allocs)))
	}
	one, many := found["exec.Route/groups_1"], found["exec.Route/groups_144"]
	if one == 0 || many == 0 || found["planner.BuildJoin3"] == 0 {
		return fmt.Errorf("benchmarks of routing or planning are missing")
	}
	b.report.goal("cost of routing", "flat from 1 to 144 node groups", "%.0f ns with 1, %.0f ns with 144", one, many)
	b.report.goal("plan cache miss of a 3-way join", "at most 60 us", "%.0f us", found["planner.BuildJoin3"]/1e3)
	return nil
}

type benchmark struct {
	pkg, name         string
	ns, bytes, allocs []float64
}

// parseBenchmarks reads what `go test -bench` prints.
func parseBenchmarks(out string) (list []*benchmark) {
	pkg := ""
	for line := range strings.Lines(out) {
		if p, ok := strings.CutPrefix(line, "pkg: "); ok {
			pkg = p[strings.LastIndexByte(p, '/')+1:]
			pkg = strings.TrimSpace(pkg)
		}
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(f[0], "Benchmark")
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			name = name[:i] // the number of processors
		}
		i := slices.IndexFunc(list, func(r *benchmark) bool { return r.pkg == pkg && r.name == name })
		if i < 0 {
			i, list = len(list), append(list, &benchmark{pkg: pkg, name: name})
		}
		for j := 2; j+1 < len(f); j += 2 {
			v, err := strconv.ParseFloat(f[j], 64)
			if err != nil {
				continue
			}
			switch f[j+1] {
			case "ns/op":
				list[i].ns = append(list[i].ns, v)
			case "B/op":
				list[i].bytes = append(list[i].bytes, v)
			case "allocs/op":
				list[i].allocs = append(list[i].allocs, v)
			}
		}
	}
	return list
}
