package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// print writes v as JSON, or lets table write rows for people.
func (a *app) print(v any, table func(w io.Writer)) error {
	if a.output == "json" {
		e := json.NewEncoder(a.out)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	table(w)
	return w.Flush()
}

// row writes one line of a table.
func row(w io.Writer, cells ...any) {
	for i, c := range cells {
		if i > 0 {
			fmt.Fprint(w, "\t")
		}
		s := fmt.Sprint(c)
		if s == "" {
			s = "-"
		}
		fmt.Fprint(w, strings.ReplaceAll(s, "\t", " "))
	}
	fmt.Fprintln(w)
}

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// bar shows how much of something is done, 0 to 1.
func bar(part float64) string {
	const width = 24
	part = max(0, min(1, part))
	full := int(part * width)
	return fmt.Sprintf("[%s%s] %3.0f%%", strings.Repeat("#", full), strings.Repeat(".", width-full), part*100)
}

// when is a moment as JSON has it; nil if not set.
func when(t *timestamppb.Timestamp) *time.Time {
	if t == nil {
		return nil
	}
	out := t.AsTime()
	return &out
}

// ranges writes partitions in rising order shortly: 0-9, 12, 20-3836 step 4.
func ranges(ps []int, most int) string {
	var parts []string
	for i := 0; i < len(ps); {
		if len(parts) == most {
			parts = append(parts, fmt.Sprintf("... %d more", len(ps)-i))
			break
		}
		end, step := i, 0
		if i+1 < len(ps) {
			step = ps[i+1] - ps[i]
			for end+1 < len(ps) && ps[end+1]-ps[end] == step {
				end++
			}
		}
		switch {
		case end == i || end == i+1 && step > 1:
			parts = append(parts, fmt.Sprint(ps[i]))
			end = i
		case step == 1:
			parts = append(parts, fmt.Sprintf("%d-%d", ps[i], ps[end]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d step %d", ps[i], ps[end], step))
		}
		i = end + 1
	}
	return strings.Join(parts, ", ")
}
