package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"skarv/pkg/pause"
	"skarv/pkg/schema"
	"skarv/pkg/txn"
)

// Who copies rows, or counts on what is committed, locks the tables first. Transactions that have used them are over then, but for branches that are
// prepared and have lost their connection, or were so when the server started: MariaDB keeps no lock on tables for them. They may be decided,
// and nobody sees their rows before somebody has ended them (txn.Recoverer).

// branchesEvery is how often it is looked for them, and branchesPatience for how long while writes are held.
const (
	branchesEvery    = 20 * time.Millisecond
	branchesPatience = 12 * time.Second
)

// errInDoubt: a branch was not ended in time.
var errInDoubt = errors.New("has not ended: see skarvctl transaction show")

// awaitBranches waits until no branch is prepared on a server any more that was when it was called, for as long as patience.
func (l *leader) awaitBranches(ctx context.Context, s *schema.Server, patience time.Duration) error {
	end := time.Now().Add(patience)
	wait, err := Prepared(ctx, s)
	for err == nil && len(wait) > 0 {
		if err := l.at("in-doubt"); err != nil {
			return err
		}
		if time.Now().After(end) { // between two looks: a look that is cut off costs the connection
			return fmt.Errorf("transaction %s is prepared on node group %s and %w %[1]s", wait[0], s.Group, errInDoubt)
		}
		if err := pause.For(ctx, branchesEvery); err != nil {
			return err
		}
		var now []txn.ID
		if now, err = Prepared(ctx, s); err == nil {
			wait = slices.DeleteFunc(wait, func(id txn.ID) bool { return !slices.Contains(now, id) })
		}
	}
	return err
}
