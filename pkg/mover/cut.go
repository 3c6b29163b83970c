package mover

import (
	"context"
	"fmt"
	"time"
)

// Cut writes the cut marker of epoch to the source and returns when all targets have everything that was committed there before
// it, and journal('open', epoch) with it. Nothing after the marker is applied until Cancel. It needs Run, and may be called again.
// The caller must have made sure that nobody writes the partitions any more, and that no branch is prepared that did.
func (m *Mover) Cut(ctx context.Context, epoch uint64) error {
	m.mu.Lock()
	cancelled, published := m.cut.cancelled[epoch], m.cut.published
	m.mu.Unlock()
	if cancelled || published > epoch {
		return fmt.Errorf("the cut of epoch %d is decided already", epoch)
	}
	m.cfg.Hit("cut.marker")
	if err := m.journalNow(ctx, epoch, journalCut); err != nil {
		return err
	}
	m.cfg.Hit("cut.marked")
	defer m.waits.On("the targets to have everything up to the cut")()
	return m.await(ctx, func() (bool, error) {
		if len(m.cut.opened[epoch]) == len(m.groups) {
			return true, nil
		}
		if m.cut.cancelled[epoch] {
			return false, fmt.Errorf("the cut of epoch %d was cancelled", epoch)
		}
		return false, m.stopped()
	})
}

// stopped is why Run does not run, nil if it does. The state is held.
func (m *Mover) stopped() error {
	if m.running {
		return nil
	}
	if m.fatal != nil {
		return m.fatal
	}
	return ErrNotRunning
}

// Cancel takes a cut back: the mover goes on applying. It may be called when there was none, and again.
func (m *Mover) Cancel(ctx context.Context, epoch uint64) error {
	if err := m.journal(ctx, epoch, journalCancel); err != nil {
		return err
	}
	m.update(func() { m.cut.note(epoch, journalCancel) })
	return nil
}

// Opened says that the map with the new owners is published: from here on a change of the partitions on the source is a late
// write. It may be called again, and needs no Run.
func (m *Mover) Opened(ctx context.Context, epoch uint64) error {
	if err := m.journal(ctx, epoch, journalPublished); err != nil {
		return err
	}
	m.update(func() { m.cut.note(epoch, journalPublished) })
	return nil
}

// journal writes a row of the source's journal, if it is not there.
func (m *Mover) journal(ctx context.Context, epoch uint64, kind string) error {
	return m.retry(ctx, m.move.Source, func(c *conn) error { return m.writeJournal(c, epoch, kind) })
}

// journalNow is journal by the connection that is at hand, if there is one: statements wait for it.
func (m *Mover) journalNow(ctx context.Context, epoch uint64, kind string) error {
	m.mu.Lock()
	a := m.attempt
	m.mu.Unlock()
	if a != nil && a.source.use(ctx, func(c *conn) error { return m.writeJournal(c, epoch, kind) }) == nil {
		return nil
	}
	return m.journal(ctx, epoch, kind)
}

func (m *Mover) writeJournal(c *conn, epoch uint64, kind string) error {
	_, err := c.Exec(fmt.Sprintf("INSERT IGNORE INTO `_skarv`.`journal` VALUES (%s,%d,'%s',UTC_TIMESTAMP(6))", m.values(), epoch, kind))
	return err
}

// Lag measures how far the targets are behind the source now: Progress has the last measurement. It needs Run.
func (m *Mover) Lag(ctx context.Context) (time.Duration, error) {
	a, err := m.present(ctx)
	if err != nil {
		return 0, err
	}
	return a.lag(ctx)
}

// present returns the attempt that is under way, waiting for one.
func (m *Mover) present(ctx context.Context) (a *attempt, err error) {
	defer m.waits.On("the move to go on, which was interrupted")()
	err = m.await(ctx, func() (bool, error) {
		a = m.attempt
		return a != nil, m.stopped()
	})
	return a, err
}
