package logic

import (
	"database/sql"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/datanode"
	"skarv/test/differ"
)

// Some statement ends the server that runs it: that is the server's own fault, and on one server the client would see it,
// too. It is noted, the servers come up again by themselves, and the worker goes on with its next round; so does the other
// worker, whose statements are lost as well. A server of the cluster that ends alone is a difference.

// serverEnded is what a worker panics with when a server has ended under its statements; its round recovers it.
type serverEnded struct{}

// deaths counts the ends of servers since the start.
type deaths struct{ one, many int }

func (c *campaign) deaths() (d deaths) {
	d.one = c.server.Status().Restarts
	for i := range groups {
		d.many += c.cluster.Node(i + 1).Status().Restarts
	}
	return d
}

// noticed is longer than it takes until a server that has gone is known to have ended: it writes a trace of itself first.
const noticed = 30 * time.Second

// checkEnded must be called when an answer is lost. It returns if no server has ended since the round began.
func (r *runner) checkEnded() {
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for until := time.Now().Add(noticed); time.Now().Before(until); <-poll.C {
		if now := r.deaths(); now.one > r.before.one {
			panic(serverEnded{})
		}
	}
	if r.deaths().many > r.before.many {
		r.found.Add(1)
		r.t.Errorf("a server of the cluster has ended, and the one server has not; the statements:\n%s", strings.Join(r.killers(), "\n"))
		panic(serverEnded{})
	}
}

// must fails the test after an error of a statement that has to succeed, unless a server has ended.
func (r *runner) must(err error, stmt string) {
	if err != nil {
		r.checkEnded()
		require.NoError(r.t, err, stmt)
	}
}

// lost reports whether a server's end may be the reason of an outcome.
func lost(o differ.Outcome) bool {
	return slices.Contains([]uint16{differ.Broken, 1053, 1105, 1430, 2002, 2003, 2006, 2013}, o.Errno)
}

// ready waits until all servers run, and makes new connections where the old ones may be broken.
func (r *runner) ready() {
	require.Eventually(r.t, func() bool {
		up := r.server.Status().State == datanode.Running
		for i := range groups {
			up = up && r.cluster.Node(i+1).Status().State == datanode.Running
		}
		return up
	}, 2*time.Minute, 20*time.Millisecond, "servers come up again")
	if now := r.deaths(); r.one == nil || now != r.before {
		for _, c := range []*sql.Conn{r.one, r.many} { // what is in a transaction has locks
			if c != nil {
				_ = c.Close()
			}
		}
		r.before = now
		r.one, r.many, r.joining = connect(r.t, r.server.DSN("")), connect(r.t, r.cluster.DSN("")), ""
		require.Eventually(r.t, func() bool { // the proxy may not know yet
			_, err := r.many.ExecContext(r.t.Context(), "DROP DATABASE IF EXISTS "+r.db)
			return err == nil
		}, time.Minute, 20*time.Millisecond, "the cluster serves again")
		if !r.mysql {
			// MariaDB 10.11 keeps what a subquery gave for 'Ann', and takes it for 'ann', even where the subquery compares to the byte.
			r.both("SET SESSION optimizer_switch = 'subquery_cache=off'")
		}
	}
}

// queryOf is what a server writes into its log of the statement that has ended it.
var queryOf = regexp.MustCompile(`(?m)^Query \((?:0x)?[0-9a-f]+\): (.*)$`)

// killers are the statements that have ended servers, each beside the name of the log that tells.
func (c *campaign) killers() (all []string) {
	logs := []string{c.server.Status().LogFile}
	for i := range groups {
		logs = append(logs, c.cluster.Node(i+1).Status().LogFile)
	}
	for i, file := range logs {
		text, err := os.ReadFile(file)
		if err != nil {
			all = append(all, err.Error())
		}
		name := "cluster: "
		if i == 0 {
			name = "one server: "
		}
		for _, m := range queryOf.FindAllSubmatch(text, -1) {
			if s := name + string(m[1]); !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}
