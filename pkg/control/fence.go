package control

import (
	"context"
	"fmt"
	"sync"

	"skarv/pkg/catalog"
	"skarv/pkg/fence"
	"skarv/pkg/schema"
	"skarv/pkg/sqlerr"
)

// fencing is what this leader knows of a server's fences.
type fencing struct {
	mu     sync.Mutex
	broken bool // no leader before has a connection that changes the schema
}

// takeFence makes s the only connection of its lane that changes a server's schema. The first of a leadership ends those of all lanes, which are
// of leaders before: what they had begun is gone on with in any lane. Such a leader that connects later finds that it leads no more.
func (l *leader) takeFence(ctx context.Context, s *schema.Server, addr string, lane int) error {
	l.mu.Lock()
	f := l.fences[addr]
	if f == nil {
		f = &fencing{}
		l.fences[addr] = f
	}
	l.mu.Unlock()
	if err := f.breakAll(ctx, s); err != nil {
		return err
	}
	if err := s.TakeFence(ctx, lane); err != nil {
		return err
	}
	return l.store.Verify(ctx, l.guard)
}

// breakAll returns when no connection of leaders before is left. That it has the fences for a moment tells that: one that is told to end holds its
// own until what it was doing is done or undone.
func (f *fencing) breakAll(ctx context.Context, s *schema.Server) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for lane := 0; lane < lanes && !f.broken; lane++ {
		if err := s.TakeFence(ctx, lane); err != nil {
			return err
		}
		if err := s.GiveFence(ctx, lane); err != nil {
			return err
		}
	}
	f.broken = true
	return nil
}

// known returns an error unless s is connected to a server of g (see fence.Known): to another one nothing is written.
func known(ctx context.Context, s *schema.Server, g *catalog.NodeGroup) error {
	query := fence.MarkOf
	if g.Mark == "" {
		query = "SELECT 1 FROM `_skarv`.`dt` LIMIT 0"
	}
	mark, err := s.One(ctx, query)
	if sqlerr.HasCode(err, sqlerr.NoSuchTable, sqlerr.UnknownDatabase) {
		return fmt.Errorf("%w: the one at %s is another one than node group %s's, or was emptied", schema.ErrLost, g.Primary.Addr, g.Label())
	}
	if err == nil && g.Mark != "" {
		if err := fence.Marked(mark, g); err != nil {
			return fmt.Errorf("%w: node group %s at %s: %w", schema.ErrLost, g.Label(), g.Primary.Addr, err)
		}
	}
	return err
}
