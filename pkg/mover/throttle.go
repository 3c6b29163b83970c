package mover

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"skarv/pkg/pause"
)

// slowest is how long a stretch waits for Config.Throttle. Not to move at all would be no way out for a group that is too slow for what is
// asked of it, which is why somebody moves partitions away.
const slowest = time.Second

// throttle waits while there is a reason to.
func (m *Mover) throttle(ctx context.Context) error {
	for end := time.Now().Add(slowest); ; {
		stop, slow := m.purging(ctx), m.cfg.Throttle()
		why := cmp.Or(stop, slow)
		m.mu.Lock()
		said := m.is.Throttled
		m.mu.Unlock()
		if why != said {
			m.update(func() { m.is.Throttled = why })
		}
		if stop == "" && (slow == "" || time.Now().After(end)) {
			return ctx.Err()
		}
		if err := pause.For(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// versions is what is known of the old versions of rows that servers keep.
type versions struct {
	mu    sync.Mutex
	asked time.Time
	why   string // to wait
}

// versionsEvery is how often servers are asked.
const versionsEvery = 2 * time.Second

// purging is why the move should wait for the servers' purge threads, or nothing. A server that does not answer is none of its
// business.
func (m *Mover) purging(ctx context.Context) string {
	v := &m.versions
	v.mu.Lock()
	defer v.mu.Unlock()
	if m.cfg.MaxVersions < 0 || time.Since(v.asked) < versionsEvery {
		return v.why
	}
	v.asked, v.why = time.Now(), ""
	servers := []Server{m.move.Source}
	for _, g := range m.groups {
		servers = append(servers, m.move.Targets[g])
	}
	for _, s := range servers {
		_ = m.once(ctx, s, func(c *conn) error {
			text, err := c.value("SELECT count FROM information_schema.innodb_metrics WHERE name='trx_rseg_history_len'")
			if n, _ := strconv.Atoi(text); n > m.cfg.MaxVersions {
				v.why = fmt.Sprintf("node group %s has %d transactions to purge: an old transaction may be open there", s.Name, n)
			}
			return err
		})
	}
	return v.why
}
