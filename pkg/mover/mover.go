// Package mover copies the rows of partitions from one node group to others while clients read and write them, follows
// the source's binary log so that the copies stay equal, and cuts over at a marker in that log. It knows servers, tables and
// partitions; it does not know etcd, proxies or who decides: pkg/reorg does. DESIGN.md has the algorithm.
package mover

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
)

// Server is the primary of a node group and how to log in there.
type Server struct {
	Group  placement.NodeGroupID
	Name   string // of the node group, for messages
	Flavor catalog.Flavor
	// Conn is how to connect. The account needs REPLICATION SLAVE and REPLICATION CLIENT (or their successors) beside
	// what it needs on the tables and on the database _skarv.
	Conn mysqlconn.Config
}

// Move is what one reorganisation moves out of one source node group. It is immutable once given to New.
type Move struct {
	// Reorg is the reorganisation's id, at most 64 letters, digits and hyphens. Everything the mover keeps on the servers has it
	// in its key, together with the source's group.
	Reorg      string
	Source     Server
	Targets    map[placement.NodeGroupID]Server
	Partitions map[placement.Partition]placement.NodeGroupID // partition to target
	// Tables are the sharded tables; rows of others are in no partition.
	Tables []*catalog.Table
	// Owned is how many partitions the source has, for estimates; 0: all of them.
	Owned int
	// Follow: nothing is copied and nothing deleted, because the targets have the rows already and everything written to
	// the source from Prepare on is theirs too. See Reverse.
	Follow bool
	// Ignore is the reorganisation whose own transactions on the source are skipped: that of the stream this one reverses.
	Ignore string
}

// Config says how a Mover works. The zero Config is usable.
type Config struct {
	Log *slog.Logger
	// ChunkRows bounds the rows of one chunk (default 2000), ChunkBytes their size (default 8 MB).
	ChunkRows, ChunkBytes int
	// MaxBuffer bounds the bytes of changes held in memory: of transactions that are prepared and not finished, and of a single
	// transaction (default 512 MB). Beyond it Run fails and says so.
	MaxBuffer int
	// MaxVersions is how many transactions InnoDB may have left to purge on any of the servers (its history length) for copying, comparing
	// and deleting to go on (default 1,000,000; below 0: any). Beyond it everything on the server becomes slow.
	MaxVersions int
	// Throttle is asked before every stretch that is copied, compared or cleaned. It returns why the mover should go slowly, at most one
	// stretch a second, or nothing. It must be fast.
	Throttle func() string
	// Term rises with every process that may take the move over, and Entitled returns nil as long as this is the one: it is asked after
	// each connection was made and before it is used. Its error should be ErrSuperseded, or wrap it, when another one may. Whoever is
	// paused for however long writes nothing any more then. Without them any Mover takes over from the one before.
	Term     uint64
	Entitled func(context.Context) error
	// LateWrite is told of every change of a moved partition on the source after the cut was published.
	LateWrite func(LateWrite)
	// Hit is called at every step with its name (see Points); tests end the process there.
	Hit func(point string)
}

// LateWrite is a change on the source of a row that is another node group's: a lost write.
type LateWrite struct {
	GTID, Table, Key string
	Partition        placement.Partition
}

// Errors of a Mover. Others are of servers and connections: Run returns those only when trying again is of no use.
var (
	// ErrSuperseded: another Mover works on the same move.
	ErrSuperseded = errors.New("another mover has taken over this move")
	// ErrRecopy: the source no longer has the changes that are needed (its binary log was purged, or it lost transactions that
	// were read from it). Prepare with Again set begins anew.
	ErrRecopy = errors.New("the move must begin anew")
	// ErrSchema: a table was changed during the move.
	ErrSchema = errors.New("a table was changed while its rows were being moved")
	// ErrCollision: a target has a row of its own with a unique value of a row that is to be moved there.
	ErrCollision = errors.New("a row to be moved collides with another one on its target")
	// ErrPacket: a row is larger than what a target takes.
	ErrPacket = errors.New("a row is too large for its target")
	// ErrPlacement: a row's partition cannot be computed, or the server counts it to another one.
	ErrPlacement = errors.New("the partition of a row is not certain")
	// ErrLog: the source's binary log cannot be used.
	ErrLog = errors.New("the source's binary log cannot be used")
	// ErrNotRunning: the method needs Run.
	ErrNotRunning = errors.New("the mover is not running")
)

// Problem is a reason why a move cannot start, and what to do about it.
type Problem struct {
	Table string // DB.TABLE, or empty if it is a server's
	Group string // name of the node group on which it is so
	What  string
	Fix   string
}

// Reasons are problems in words: what is the same on several node groups is said once.
func Reasons(problems []Problem) (out []string) {
	type reason struct{ table, what, fix string }
	on := map[reason][]string{}
	var order []reason
	for _, p := range problems {
		r := reason{p.Table, p.What, p.Fix}
		if on[r] == nil {
			order = append(order, r)
		}
		if !slices.Contains(on[r], p.Group) {
			on[r] = append(on[r], p.Group)
		}
	}
	for _, r := range order {
		groups := "node group "
		if len(on[r]) > 1 {
			groups = "node groups "
		}
		out = append(out, Problem{Table: r.table, What: "on " + groups + strings.Join(on[r], ", ") + ": " + r.what, Fix: r.fix}.String())
	}
	return out
}

func (p Problem) String() string {
	s := p.What
	if p.Table != "" {
		s = "table " + p.Table + ": " + s
	}
	if p.Fix != "" {
		s += "; " + p.Fix
	}
	return s
}

// Phase is how far a Mover has come.
type Phase string

// The phases, in order.
const (
	Preparing   Phase = "preparing"   // before Run
	Interrupted Phase = "interrupted" // trying again after a failure
	Waiting     Phase = "waiting"     // for transactions that were prepared before the move began
	Copying     Phase = "copying"
	Following   Phase = "following" // everything is copied; changes are applied as they come
	Cutting     Phase = "cutting"   // the cut is seen; nothing after it is looked at before Cancel or Opened
	Watching    Phase = "watching"  // opened: any further change is a late write
)

// Progress is a moment's state of a Mover.
type Progress struct {
	Phase Phase
	// Rows and Bytes are copied so far, of about RowsEstimated and BytesEstimated.
	Rows, Bytes                   int64
	RowsEstimated, BytesEstimated int64
	Table                         string // being copied
	TablesDone, TablesTotal       int
	Applied                       int64         // changes applied
	Lag                           time.Duration // while Following: from a commit on the source until all targets have it, as last measured
	Throttled                     string        // why the mover waits, if it does
	ETA                           time.Duration // of the copy; 0 if not known
	LateWrites                    int64
	Compared                      int64  // rows that Verify has found equal, or has seen change meanwhile
	Err                           string // the trouble Run is retrying over, if any
	Waits                         []Wait // what is being waited for, but for moments
}

// Report is what Verify found. The copy is equal if Differing is empty and Unverified is.
type Report struct {
	Compared   int64 // rows found equal
	Changed    int64 // rows changed while they were compared, and compared again
	Differing  []Difference
	Differs    int64    // all of them; Differing holds the first 100
	Unverified []string // columns that cannot be compared, and why
	Uncertain  int64    // of Comparison: rows that changed whenever they were looked at
}

// Equal reports whether everything was compared and nothing differs.
func (r Report) Equal() bool { return r.Differs == 0 && len(r.Unverified) == 0 }

// Difference is a row that is not the same on source and target.
type Difference struct {
	Table, Key string
	Target     placement.NodeGroupID
	What       string // "missing", "unexpected" or the names of the columns that differ
	Partition  int    // of Comparison and Stray: -1 if it has none, or that is not known
}

// Back is the Reorg of the moves that keep the way back of reorg's open.
func Back(reorg string) string { return reorg + "-back" }

// Reverse returns the moves that keep the old owner of m's partitions equal to the new ones after the cut, one for each
// target: with them the move can be undone. They are prepared before the cut is published (Prepare notes where to
// start), and Run after it.
func Reverse(m Move) []Move {
	var back []Move
	for g, target := range m.Targets {
		r := Move{
			Reorg: Back(m.Reorg), Source: target, Targets: map[placement.NodeGroupID]Server{m.Source.Group: m.Source},
			Partitions: map[placement.Partition]placement.NodeGroupID{}, Tables: m.Tables, Follow: true, Ignore: m.Reorg,
		}
		for p, to := range m.Partitions {
			if to == g {
				r.Partitions[p] = m.Source.Group
			}
		}
		r.Owned = len(r.Partitions)
		back = append(back, r)
	}
	return back
}
