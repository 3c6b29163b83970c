package txn

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
)

// Info is what can be told of a transaction over several node groups: that a branch of it is prepared, or how it ended
// while its decision is kept.
type Info struct {
	ID     ID
	State  State
	Group  placement.NodeGroupID // that has the prepared branch, or the decision
	Age    time.Duration         // since it was decided, or a Recoverer of this process saw it first
	Reason string                // why it is still in doubt, or what is not known
}

// State is how a transaction stands.
type State string

// The states of transactions.
const (
	InDoubt    State = "in doubt"
	Committed  State = "committed"
	RolledBack State = "rolled back"
	// Ended: every node group had forgotten the transaction when somebody asked for its decision. It was committed or
	// rolled back by its own process, which has told its client.
	Ended State = "ended"
	// Unknown: the node group could not be asked, so that what it has is missing; there is no ID.
	Unknown State = "unknown"
)

// List returns the prepared branches and the newest decisions that groups keep: those of transactions that were
// recovered, or whose commit was not confirmed by every node group. doubt is what a Recoverer knows, if there is one. A group that does
// not answer has an Info that is Unknown.
func List(ctx context.Context, dial Dialer, groups []placement.NodeGroupID, doubt []Doubt) ([]Info, error) {
	var list []Info
	for _, g := range groups {
		some, err := ask1(ctx, dial, g, func(c *mysqlconn.Conn) ([]Info, error) {
			branches, err := inDoubt(c, g, doubt)
			if err != nil {
				return nil, err
			}
			kept, err := decisions(c, g, fmt.Sprintf("ORDER BY at DESC LIMIT %d", shownDecisions))
			return append(branches, kept...), err
		})
		if err != nil {
			some = []Info{unknown(g, err)}
		}
		list = append(list, some...)
	}
	return list, nil
}

func unknown(g placement.NodeGroupID, err error) Info {
	return Info{State: Unknown, Group: g, Reason: "the node group does not tell what it has: " + err.Error()}
}

// Find is List for one transaction, of any age.
func Find(ctx context.Context, dial Dialer, groups []placement.NodeGroupID, doubt []Doubt, id ID) ([]Info, error) {
	home, ok := id.Group()
	if !ok {
		return nil, fmt.Errorf("%q is not the id of a transaction", id)
	}
	var list []Info
	for _, g := range groups {
		some, err := ask1(ctx, dial, g, func(c *mysqlconn.Conn) ([]Info, error) { return inDoubt(c, g, doubt) })
		if err != nil {
			some = []Info{unknown(g, err)}
		}
		for _, i := range some {
			if i.ID == id || i.State == Unknown {
				list = append(list, i)
			}
		}
	}
	if slices.Contains(groups, home) {
		kept, err := ask1(ctx, dial, home, func(c *mysqlconn.Conn) ([]Info, error) {
			return decisions(c, home, "WHERE id = '"+string(id)+"'")
		})
		if err == nil {
			list = append(list, kept...)
		} else if !slices.ContainsFunc(list, func(i Info) bool { return i.State == Unknown && i.Group == home }) {
			list = append(list, unknown(home, err))
		}
	}
	return list, nil
}

func ask1(ctx context.Context, dial Dialer, g placement.NodeGroupID, f func(*mysqlconn.Conn) ([]Info, error)) ([]Info, error) {
	c, err := reserved(ctx, dial, g)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return f(c)
}

// inDoubt lists the prepared branches of one group with what a Recoverer knows of them.
func inDoubt(c *mysqlconn.Conn, g placement.NodeGroupID, doubt []Doubt) ([]Info, error) {
	branches, err := prepared(c)
	if err != nil {
		return nil, err
	}
	list := make([]Info, len(branches))
	for i, x := range branches {
		list[i] = Info{ID: x.id, State: InDoubt, Group: g, Reason: "it is being committed, or its process is gone"}
		for _, d := range doubt {
			if d.ID == x.id && d.Group == g {
				list[i].Age, list[i].Reason = time.Since(d.Since), d.Reason
			}
		}
	}
	return list, nil
}

// shownDecisions bounds how many decisions of one group are listed.
const shownDecisions = 1000

func decisions(c *mysqlconn.Conn, g placement.NodeGroupID, which string) ([]Info, error) {
	_, rows, err := c.QueryAll("SELECT id, state, participants <> '', TIMESTAMPDIFF(SECOND, at, UTC_TIMESTAMP()) FROM `_skarv`.`dt` "+which,
		shownDecisions)
	if err != nil {
		return nil, err
	}
	list := make([]Info, len(rows))
	for i, r := range rows {
		seconds, _ := strconv.Atoi(string(r[3])) // a number, below 0 where its process's clock is ahead
		seconds = max(0, seconds)
		list[i] = Info{ID: ID(r[0]), State: RolledBack, Group: g, Age: time.Duration(seconds) * time.Second}
		switch {
		case string(r[1]) == "C":
			list[i].State = Committed
		case string(r[2]) == "0": // see confirm
			list[i].State, list[i].Reason = Ended, "its process has ended it, and told its client how"
		}
	}
	return list, nil
}

// Prepared returns the number of prepared branches on a node group.
func Prepared(ctx context.Context, dial Dialer, g placement.NodeGroupID) (int, error) {
	c, err := reserved(ctx, dial, g)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	list, err := prepared(c)
	return len(list), err
}
