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
// worker, whose statements are lost as well. A server of the cluster that ends alone is a difference. So is a connection that ends while
// all servers go on: a session of the cluster has broken off.

// roundOver is what a worker panics with when a server has ended under its statements, or they cannot be gone on with; its round recovers it.
type roundOver struct{}

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
			panic(roundOver{})
		}
	}
	if r.deaths().many > r.before.many {
		r.found.Add(1)
		r.t.Errorf("a server of the cluster has ended, and the one server has not; the statements:\n%s", strings.Join(r.killers(), "\n"))
		panic(roundOver{})
	}
}

// must ends the round after an error of a statement that has to succeed, which is a difference unless a server has ended.
func (r *runner) must(err error, stmt string) {
	if err == nil {
		return
	}
	r.checkEnded()
	r.found.Add(1)
	r.t.Errorf("a statement that must succeed has failed: %s\n%v", stmt, err)
	r.disconnect()
	panic(roundOver{})
}

// unanswered must be called when an answer is lost. It ends the round if a server has ended, and makes new connections otherwise: what is in a transaction is
// rolled back on both.
func (r *runner) unanswered() {
	r.checkEnded()
	r.disconnect()
	r.connect()
	r.within = false
	r.both("USE " + r.db)
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
		r.disconnect()
		r.before = now
		r.connect()
	}
}

// disconnect closes the connections: what is in a transaction has locks.
func (r *runner) disconnect() {
	for _, c := range []*sql.Conn{r.one, r.many} {
		if c != nil {
			_ = c.Close()
		}
	}
	r.one, r.many = nil, nil
}

// open returns a connection of its own, or ends the round.
func (r *runner) open(dsn string) *sql.Conn {
	db, err := sql.Open("mysql", dsn)
	r.must(err, "connect")
	r.t.Cleanup(func() { _ = db.Close() })
	db.SetMaxIdleConns(-1) // a connection that is given back is closed
	c, err := db.Conn(r.t.Context())
	r.must(err, "connect")
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (r *runner) connect() {
	r.one, r.many, r.joining = r.open(r.server.DSN("")), r.open(r.cluster.DSN("")), ""
	require.Eventually(r.t, func() bool { // the proxy may not know yet
		_, err := r.many.ExecContext(r.t.Context(), "DROP DATABASE IF EXISTS "+r.db+"_up")
		return err == nil
	}, time.Minute, 20*time.Millisecond, "the cluster serves again")
	if !r.mysql {
		r.both(subqueryCacheOff)
	}
}

// subqueryCacheOff is for MariaDB 10.11, which keeps what a subquery gave for 'Ann', and takes it for 'ann', even where the subquery compares
// to the byte.
const subqueryCacheOff = "SET SESSION optimizer_switch = 'subquery_cache=off'"

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
