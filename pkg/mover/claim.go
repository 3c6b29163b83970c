package mover

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"skarv/pkg/pause"
	"skarv/pkg/sqlerr"
)

// claim is the sole right to change one row of reorg_pos on one server, and whatever is changed in the same transactions: the
// rows that are copied there, or deleted. Three things together keep everybody else out, with no clock:
//
//	Config.Entitled   is asked after each connection is made, and only that connection is used: who has lost his say before does not begin
//	a named lock      of the server: who comes later kills the connection that has it. Once he has the lock, nothing that
//	                  was sent on the other one can be committed any more, be it half open, or in the middle of a transaction
//	owner             of the row is the greatest number that was claimed, its upper part the term of the claimer: who was paused, with
//	                  his connection, since an earlier term, claims nothing, and kills nobody
//
// The row of a move that is over stays (Forget), for as long as a connection from before could.
type claim struct {
	m      *Mover
	server Server
	reorg  string // of the row
	make   string // the state a row that is not there is made with; empty: it is not made

	owner uint64 // 0: nothing is claimed yet
}

const (
	// termBits is how far a term is shifted in owner: below it the claims of one term are counted.
	termBits = 20
	// overKept is how many seconds a row that is over stays. idle is after how many a server ends a connection that says nothing.
	overKept = 7 * 86400
	idle     = 600
)

// errOver: the move is over by the word of this Mover, or of one that it has come after.
var errOver = fmt.Errorf("%w: it is over", ErrSuperseded)

// row is the condition that a row of reorg_pos is the claim's.
func (k *claim) row() string {
	return "reorg=" + quote(k.reorg) + " AND source=" + strconv.Itoa(int(k.m.move.Source.Group))
}

// mine is row, and that nobody has claimed it since.
func (k *claim) mine() string { return k.row() + " AND owner=" + strconv.FormatUint(k.owner, 10) }

// open returns the one connection that may use the claim; any other one is dead then.
func (k *claim) open(ctx context.Context) (*conn, error) {
	c, err := k.m.dial(ctx, k.server)
	if err != nil {
		return nil, err
	}
	if err := k.take(ctx, c); err != nil {
		c.close()
		return nil, fmt.Errorf("node group %s: %w", k.server.Name, err)
	}
	return c, nil
}

// do runs f on connections of the claim until it succeeds, fails for good, or ctx ends.
func (k *claim) do(ctx context.Context, f func(*conn) error) error {
	return k.m.again(ctx, k.server, func() error {
		c, err := k.open(ctx)
		if err != nil {
			return err
		}
		defer c.close()
		if err := f(c); err != nil {
			return fmt.Errorf("node group %s: %w", k.server.Name, err)
		}
		return nil
	})
}

func (k *claim) take(ctx context.Context, c *conn) error {
	there, err := k.allowed(c) // a consistent read: it does not wait for who has the row
	if err != nil {
		return err
	}
	if err := k.lock(ctx, c); err != nil {
		return err
	}
	if k.owner != 0 { // somebody may have come before the lock was ours
		_, err := k.allowed(c)
		return err
	}
	if !there && k.make != "" {
		if _, err := c.Exec(fmt.Sprintf("INSERT IGNORE INTO `_skarv`.`reorg_pos` VALUES (%s,%d,0,'%s','','','',0)",
			quote(k.reorg), k.m.move.Source.Group, k.make)); err != nil {
			return err
		}
	}
	ok, err := c.Exec(fmt.Sprintf("UPDATE `_skarv`.`reorg_pos` SET owner=LAST_INSERT_ID(GREATEST(owner+1,%d)) WHERE %s AND state<>'%s' AND owner<%d",
		k.m.cfg.Term<<termBits, k.row(), stateOver, (k.m.cfg.Term+1)<<termBits-1))
	if err != nil {
		return err
	}
	if ok.AffectedRows == 0 {
		if _, err := k.allowed(c); err != nil {
			return err
		}
		return fmt.Errorf("%w: it is not prepared there", ErrRecopy)
	}
	k.owner = ok.LastInsertID
	return nil
}

// allowed reports whether the row is there, and fails when somebody else's claim stands against this one.
func (k *claim) allowed(c *conn) (there bool, err error) {
	_, rows, err := c.QueryAll("SELECT owner, state FROM `_skarv`.`reorg_pos` WHERE "+k.row(), 1)
	if err != nil {
		return false, err
	}
	if len(rows) == 0 {
		if k.owner != 0 {
			return false, ErrSuperseded
		}
		return false, nil
	}
	owner, err := strconv.ParseUint(string(rows[0][0]), 10, 64)
	switch {
	case err != nil:
		return false, err
	case string(rows[0][1]) == stateOver && k.owner == 0 && owner>>termBits <= k.m.cfg.Term:
		return false, errOver
	case string(rows[0][1]) == stateOver:
		return false, fmt.Errorf("%w: it is over", ErrSuperseded)
	case k.owner != 0 && owner != k.owner, owner>>termBits > k.m.cfg.Term:
		return false, ErrSuperseded
	}
	return true, nil
}

// lock takes the claim's named lock from whoever has it.
func (k *claim) lock(ctx context.Context, c *conn) error {
	sum := sha256.Sum256([]byte(k.row()))
	name := "'skarv " + hex.EncodeToString(sum[:20]) + "'"
	defer k.m.waits.On("the connection that worked on this move on node group " + k.server.Name + " before, which is being ended")()
	for {
		got, err := c.value("SELECT GET_LOCK(" + name + ", 0)")
		if err != nil || got == "1" {
			return err
		}
		holder, err := c.value("SELECT IS_USED_LOCK(" + name + ")")
		if err != nil {
			return err
		}
		if holder != "" {
			if _, err := c.Exec("KILL " + holder); err != nil && !sqlerr.HasCode(err, sqlerr.UnknownThread) {
				return err
			}
		}
		if err := pause.For(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}
