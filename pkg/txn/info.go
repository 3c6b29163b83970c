package txn

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/placement"
)

// Info is what can be told of a transaction over several node groups: that a branch of it is in doubt, or how it ended
// while its decision is kept.
type Info struct {
	ID     ID
	State  string                // "in doubt", "committed" or "rolled back"
	Group  placement.NodeGroupID // that has the prepared branch, or the decision
	Age    time.Duration
	Reason string // why it is still in doubt
}

// List returns the branches in doubt and the newest decisions that groups keep: those of transactions that were
// recovered, or whose commit was not confirmed by every node group.
func List(ctx context.Context, dial Dialer, groups []placement.NodeGroupID, doubt []Doubt) ([]Info, error) {
	var list []Info
	for _, d := range doubt {
		list = append(list, Info{d.ID, "in doubt", d.Group, time.Since(d.Since), d.Reason})
	}
	for _, g := range groups {
		c, err := reserved(ctx, dial, g)
		if err != nil {
			return nil, err
		}
		kept, err := decisions(c, g)
		_ = c.Close()
		if err != nil {
			return nil, err
		}
		list = append(list, kept...)
	}
	return list, nil
}

// shownDecisions bounds how many decisions of one group are listed.
const shownDecisions = 1000

func decisions(c *mysqlconn.Conn, g placement.NodeGroupID) ([]Info, error) {
	_, rows, err := c.QueryAll(fmt.Sprintf("SELECT id, state, TIMESTAMPDIFF(SECOND, at, UTC_TIMESTAMP()) FROM `_skarv`.`dt` ORDER BY at DESC LIMIT %d",
		shownDecisions), shownDecisions)
	if err != nil {
		return nil, err
	}
	list := make([]Info, len(rows))
	for i, r := range rows {
		seconds, _ := strconv.Atoi(string(r[2])) // a number
		list[i] = Info{ID: ID(r[0]), State: "rolled back", Group: g, Age: time.Duration(seconds) * time.Second}
		if string(r[1]) == "C" {
			list[i].State = "committed"
		}
	}
	return list, nil
}
