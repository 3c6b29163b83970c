package isolation

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/server"
	"skarv/test/cluster"
	"skarv/test/history"
)

var rewrite = flag.Bool("rewrite", false, "write the results into docs/isolation.md")

const (
	document = "../../docs/isolation.md"
	begin    = "<!-- isolation: written by test/isolation from here -->\n"
	end      = "<!-- isolation: to here -->\n"
)

// cell is what a scenario shows at one place: whether its anomaly occurs.
func cell(sc *scenario, found []history.Anomaly) string {
	for _, k := range history.Kinds(found) {
		if slices.Contains(sc.shows, k) {
			return "occurs"
		}
	}
	return "-"
}

// TestHermitage plays every scenario at every isolation level on one server, on rows of one node group, and on rows of two.
// What occurs through Skarv must occur on one server, with the exceptions that the document tells of; and all results must be
// those in the document.
func TestHermitage(t *testing.T) {
	hold := &pauser{}
	one := onServer(t)
	many := onCluster(t, cluster.Options(func(o *server.Options) { o.Failpoint = hold.hit }))
	other := onCluster(t)
	var bare, same, apart [len(scenarios)][len(levels)]string
	var atGate, validated, locking [len(scenarios)]string // at REPEATABLE READ
	var alone, off, gate, valid, lock [len(commits)][len(levels)]string
	var both sync.WaitGroup
	both.Go(func() {
		for n, level := range levels {
			s := &stage{place: one, level: level}
			for i := range scenarios {
				bare[i][n] = cell(&scenarios[i], s.play(t, &scenarios[i]))
			}
			for i := range commits {
				alone[i][n] = cell(&commits[i], s.play(t, &commits[i]))
			}
		}
	})
	both.Go(func() {
		for n, level := range levels {
			for i := range scenarios {
				same[i][n] = cell(&scenarios[i], (&stage{place: many, level: level}).play(t, &scenarios[i]))
				apart[i][n] = cell(&scenarios[i], (&stage{place: many, level: level, apart: true}).play(t, &scenarios[i]))
			}
			for i := range commits {
				for setting, to := range map[string]*string{"off": &off[i][n], "gate": &gate[i][n], "validated": &valid[i][n], "lock": &lock[i][n]} {
					s := &stage{place: many, pauser: hold, level: level, apart: true, settings: []string{"SET skarv_read_atomicity = '" + setting + "'"}}
					*to = cell(&commits[i], s.play(t, &commits[i]))
				}
			}
		}
	})
	both.Go(func() {
		for i := range scenarios {
			for setting, to := range map[string]*string{"gate": &atGate[i], "validated": &validated[i], "lock": &locking[i]} {
				s := &stage{place: other, level: levels[repeatable], apart: true, settings: []string{"SET skarv_read_atomicity = '" + setting + "'"}}
				*to = cell(&scenarios[i], s.play(t, &scenarios[i]))
			}
		}
	})
	both.Wait()
	if t.Failed() {
		return
	}
	for i, sc := range scenarios {
		for n, level := range levels {
			require.Equal(t, bare[i][n], same[i][n], "%s, %s: rows of one node group", sc.name, level)
			if n != repeatable || !sc.apart {
				require.Equal(t, bare[i][n], apart[i][n], "%s, %s: rows of two node groups", sc.name, level)
			}
		}
		require.Equal(t, bare[i][repeatable], atGate[i], "%s: rows of two node groups at the gate", sc.name)
		require.Equal(t, bare[i][repeatable], validated[i], "%s: rows of two node groups, validated", sc.name)
		require.Equal(t, bare[i][serializable], locking[i], "%s: rows of two node groups, locked", sc.name)
	}
	var b strings.Builder
	head := func(first string, columns []string) {
		fmt.Fprintf(&b, "| %s | %s |\n|---|%s\n", first, strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
	}
	var columns []string
	for _, l := range levels {
		columns = append(columns, strings.ToLower(l)+": one server", "Skarv, one group", "Skarv, two groups")
	}
	head("anomaly", columns)
	for i, sc := range scenarios {
		fmt.Fprintf(&b, "| %s |", sc.name)
		for n := range levels {
			fmt.Fprintf(&b, " %s | %s | %s |", bare[i][n], same[i][n], apart[i][n])
		}
		b.WriteString("\n")
	}
	b.WriteString("\nAt repeatable read with `skarv_read_atomicity`:\n\n")
	head("anomaly", []string{"one server", "Skarv, two groups, `off`", "`gate`", "`validated`", "`lock`"})
	for i, sc := range scenarios {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", sc.name, bare[i][repeatable], apart[i][repeatable], atGate[i], validated[i], locking[i])
	}
	b.WriteString("\nHalf of another transaction, whose commit has reached one node group and not yet the other, is seen by\n\n")
	head("reader, isolation level", []string{"one server", "Skarv, `off`", "Skarv, `gate`", "Skarv, `validated`", "Skarv, `lock`"})
	for i, sc := range commits {
		for n, l := range levels {
			fmt.Fprintf(&b, "| %s, %s | %s | %s | %s | %s | %s |\n", sc.name, strings.ToLower(l), alone[i][n], off[i][n], gate[i][n], valid[i][n], lock[i][n])
		}
	}
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	now := before + begin + b.String() + end + after
	if *rewrite {
		require.NoError(t, os.WriteFile(document, []byte(now), 0o644))
		return
	}
	require.Equal(t, string(text), now, "go test ./test/isolation -run TestHermitage -rewrite")
}
