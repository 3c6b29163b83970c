// Package logic looks for wrong answers: it makes up tables and statements, runs each statement on one plain server and
// on a cluster of four node groups, and compares what clients see. The cluster may refuse with error 1235, which is
// counted, and must otherwise answer as the one server does. A difference is cut down to few statements, rows and words, and printed as
// a story for test/compat; make fuzz-sql has it written there.
package logic

import (
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/planner"
	"skarv/test/cluster"
)

const (
	defaultTime  = 5 * time.Minute
	defaultLimit = 20_000
	perRound     = 1000 // statements over one schema
	maxFound     = 5
	groups       = 4
	shrinkBudget = 6 * time.Second
)

// setting is a number from the environment.
func setting(t *testing.T, name string, otherwise int) int {
	s := os.Getenv("SKARV_LOGIC_" + name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	require.NoError(t, err, name)
	return n
}

// Of the variables SKARV_LOGIC_..., SECONDS and STATEMENTS say how long, whichever comes first, SEED where to start: it is printed. A round
// is made of its seed alone, so that WORKERS, each with tables of its own, change nothing. DIFFERENCES end it. WRITES=1 looks at writes over several groups only, JOINS=x sets
// skarv_joins to x for all statements. STORIES is the directory that a story of each difference is written to. SHOW=n prints of statement n of each round what is printed of a difference, and ends the round.
//
// Without them it is the same statements each time, so that a change that has passed
// does not fail by chance later: new ones are for make fuzz-sql.
func TestLogic(t *testing.T) {
	length := time.Duration(setting(t, "SECONDS", int(defaultTime.Seconds()))) * time.Second
	c := newCampaign(t)
	c.stories = os.Getenv("SKARV_LOGIC_STORIES")
	start := time.Now()
	c.until = start.Add(length)
	t.Run("workers", func(t *testing.T) {
		for w := range c.workers {
			t.Run(strconv.Itoa(w), func(t *testing.T) {
				t.Parallel()
				r := &runner{campaign: c, t: t, db: "logic" + strconv.Itoa(w)}
				for round := c.seed + uint64(w); !c.over(); round += uint64(c.workers) {
					r.round(round)
				}
			})
		}
	})
	n := max(c.statements.Load(), 1)
	t.Logf("SEED=%d, %.0f s: %d statements (%d in transactions), %d refused (%.1f %%), %d failed on both (%.1f %%), %d differences", c.seed,
		time.Since(start).Seconds(), n, c.transactional.Load(), c.refused.Load(), 100*float64(c.refused.Load())/float64(n), c.failed.Load(),
		100*float64(c.failed.Load())/float64(n), c.found.Load())
	if d := c.deaths(); d != (deaths{}) {
		t.Logf("the one server ended %d times by itself, servers of the cluster %d times; the statements:\n%s", d.one, d.many, strings.Join(c.killers(), "\n"))
	}
	if testing.Verbose() {
		c.printRefusals(t)
		c.printRules(t)
		c.printKinds(t)
		t.Logf("the plan's on one server, too: %v", c.allowances)
	}
}

func newCampaign(t *testing.T) *campaign {
	c := &campaign{seed: uint64(setting(t, "SEED", 1)), workers: setting(t, "WORKERS", 2), most: int64(setting(t, "DIFFERENCES", maxFound)), shrinking: shrinkBudget,
		limit: int64(setting(t, "STATEMENTS", defaultLimit)), writes: setting(t, "WRITES", 0) != 0, joins: os.Getenv("SKARV_LOGIC_JOINS"),
		show: setting(t, "SHOW", -1), mysql: cluster.TestEngine() == "mysql", refusals: map[string]int{}, examples: map[string]string{}, allowances: map[string]int{},
		rules: map[string]int{}, kinds: statementKinds(), made: map[string]tally{}, server: cluster.StartServer(t), cluster: cluster.Start(t, cluster.Groups(groups))}
	cluster.AllowLocalFiles(t, c.server, c.cluster, groups)
	return c
}

// campaign is what the workers share.
type campaign struct {
	seed          uint64
	workers       int
	until         time.Time
	limit, most   int64         // statements, differences
	shrinking     time.Duration // how long a difference is made smaller
	writes, mysql bool
	show          int // the number of a statement; -1: none
	joins         string
	stories       string // a directory; empty: none are written
	server        *cluster.Server
	cluster       *cluster.Cluster

	statements, transactional, refused, failed, found atomic.Int64

	mu         sync.Mutex
	refusals   map[string]int
	examples   map[string]string // of refusals
	allowances map[string]int
	rules      map[string]int // how often they fired
	kinds      []statementKind
	made       map[string]tally
}

func (c *campaign) over() bool {
	return !time.Now().Before(c.until) || c.found.Load() >= c.most || c.limit > 0 && c.statements.Load() >= c.limit
}

func (c *campaign) refusal(err, text string) {
	c.refused.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refusals[err]++; c.refusals[err] == 1 {
		c.examples[err] = text
	}
}

func (c *campaign) printRefusals(t *testing.T) {
	var all []string
	for text, n := range c.refusals {
		all = append(all, fmt.Sprintf("%5d %s\n      %s", n, text, c.examples[text]))
	}
	sort.Sort(sort.Reverse(sort.StringSlice(all)))
	t.Log("refused:\n" + strings.Join(all, "\n"))
}

func (c *campaign) printRules(t *testing.T) {
	var all []string
	for _, name := range planner.RuleNames() {
		all = append(all, fmt.Sprintf("%s %d", name, c.rules[name]))
	}
	t.Log("rules that fired, of one statement in four: " + strings.Join(all, ", "))
}
