package compat

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/test/cluster"
	"skarv/test/coverage"
	"skarv/test/differ"
)

// watching sees how statements run: by the metric that counts strategies, for nobody else uses the cluster.
type watching struct {
	t       *testing.T
	many    *cluster.Cluster
	seen    *coverage.Seen
	stories []*coverage.Story
	counted map[string]string // by strategy
}

func watchStories(t *testing.T, many *cluster.Cluster) *watching {
	stories, err := coverage.ReadStories("testdata")
	require.NoError(t, err)
	return &watching{t: t, many: many, seen: coverage.NewSeen(stories), stories: stories}
}

// counted is how long the count of a statement is waited for; some are in none.
const counted = 200 * time.Millisecond

// of returns what is told of the steps of the story in file. What ran before it is none of them.
func (w *watching) of(file string) func(*differ.Step, differ.Outcome) {
	at := slices.IndexFunc(w.stories, func(s *coverage.Story) bool { return s.Name+".sql" == filepath.Base(file) })
	require.GreaterOrEqual(w.t, at, 0, file)
	story := w.stories[at]
	return func(s *differ.Step, got differ.Outcome) {
		strategies := w.strategies()
		for began := time.Now(); s != nil && len(strategies) == 0 && time.Since(began) < counted; { // a statement is counted when it is answered, or right after
			strategies = w.strategies()
		}
		switch {
		case s == nil:
		case s.Refused != "":
			w.seen.Refused(story, s.SQL, got.Err)
		default:
			w.seen.Ran(story, s.SQL, strategies)
		}
	}
}

// strategies are those that were counted since it was asked last.
func (w *watching) strategies() (list []string) {
	_, text := w.many.Get(w.t, "/metrics")
	now := map[string]string{}
	for _, m := range regexp.MustCompile(`skarv_statement_strategy_total\{strategy="(\w+)"\} (\S+)`).FindAllStringSubmatch(text, -1) {
		if now[m[1]] = m[2]; w.counted[m[1]] != m[2] {
			list = append(list, m[1])
		}
	}
	if w.counted = now; len(list) > len(coverage.Strategies()) {
		w.t.Fatal("a strategy that test/coverage does not know")
	}
	return list
}

// write puts what was seen into the document.
func (w *watching) write() {
	if w.t.Failed() || cluster.TestEngine() != "mariadb" {
		return
	}
	const file = "../../docs/sql-coverage.md"
	text, err := os.ReadFile(file)
	require.NoError(w.t, err)
	doc := string(text)
	for name, table := range map[string]string{"constructs": w.seen.Table(), "refusals": w.seen.Refusals()} {
		begin, end := "<!-- "+name+": begin -->\n", "<!-- "+name+": end -->"
		head, rest, ok := strings.Cut(doc, begin)
		require.True(w.t, ok, begin)
		_, tail, ok := strings.Cut(rest, end)
		require.True(w.t, ok, end)
		doc = head + begin + table + end + tail
	}
	require.NoError(w.t, os.WriteFile(file, []byte(doc), 0o644))
}
