package mover

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
)

// Mover carries out one Move. Its methods may be called from any goroutine.
type Mover struct {
	cfg    Config
	move   Move
	tables []*table
	byName map[string]*table // by schema and name with a zero byte between
	groups []placement.NodeGroupID

	mu      sync.Mutex
	changed chan struct{}                    // closed at the next change of what is below
	claims  map[placement.NodeGroupID]*claim // on targets; each is used by one goroutine at a time
	running bool
	attempt *attempt // present while the stream is being read
	fatal   error    // why Run has ended
	cut     cutState
	copied  chan struct{} // closed when everything is copied
	// compared: a Verify has come to its end.
	compared bool
	is       Progress
	began    time.Time // of this Run's copying, for the ETA
	start    int64     // rows copied before that
	asked    time.Time // when the lag that is being measured began, or zero
	deaf     int       // how often the source was taken for deaf

	versions versions
	waits    Waits
}

// cutState is what is known of cuts.
type cutState struct {
	opened    map[uint64]map[placement.NodeGroupID]bool // targets that have everything up to the cut
	cancelled map[uint64]bool
	published uint64 // the newest epoch published, or 0
	last      uint64 // the newest epoch with a cut
}

const defaultChunkBytes = 8 << 20

// New checks that m is complete. It connects to nothing.
func New(cfg Config, m Move) (*Mover, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.ChunkRows == 0 {
		cfg.ChunkRows = 2000
	}
	if cfg.ChunkBytes == 0 {
		cfg.ChunkBytes = defaultChunkBytes
	}
	if cfg.MaxVersions == 0 {
		cfg.MaxVersions = 1_000_000
	}
	if cfg.Throttle == nil {
		cfg.Throttle = func() string { return "" }
	}
	if cfg.Entitled == nil {
		cfg.Entitled = func(context.Context) error { return nil }
	}
	if cfg.LateWrite == nil {
		cfg.LateWrite = func(LateWrite) {}
	}
	if cfg.Hit == nil {
		cfg.Hit = func(string) {}
	}
	if !regexp.MustCompile(`^[A-Za-z0-9-]{1,70}$`).MatchString(m.Reorg) {
		return nil, fmt.Errorf("%q is no id of a reorganisation", m.Reorg)
	}
	if len(m.Partitions) == 0 || m.Source.Group == 0 {
		return nil, errors.New("a move needs a source and partitions")
	}
	v := &Mover{
		cfg: cfg, move: m, byName: map[string]*table{}, changed: make(chan struct{}), copied: make(chan struct{}),
		claims: map[placement.NodeGroupID]*claim{},
		cut:    cutState{opened: map[uint64]map[placement.NodeGroupID]bool{}, cancelled: map[uint64]bool{}},
		is:     Progress{Phase: Preparing},
	}
	for p, g := range m.Partitions {
		if _, ok := m.Targets[g]; !ok || p >= placement.Partitions || g == m.Source.Group {
			return nil, fmt.Errorf("partition %d is to move to node group %d, which is no target", p, g)
		}
		if !slices.Contains(v.groups, g) {
			v.groups = append(v.groups, g)
		}
	}
	slices.Sort(v.groups)
	for _, t := range m.Tables {
		if t.Kind != catalog.Sharded {
			continue
		}
		table, err := newTable(t, len(v.tables), m.Source.Flavor)
		if err != nil {
			return nil, fmt.Errorf("table %s.%s cannot be moved: %w", t.Database, t.Name, err)
		}
		v.tables = append(v.tables, table)
		v.byName[t.Database+"\x00"+t.Name] = table
	}
	v.is.TablesTotal = len(v.tables)
	return v, nil
}

// claim is the right to write a target, which lasts until Prepare or another Mover.
func (m *Mover) claim(g placement.NodeGroupID) *claim {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.claims[g]
	if k == nil {
		k = &claim{m: m, server: m.move.Targets[g], reorg: m.move.Reorg}
		m.claims[g] = k
	}
	return k
}

// target is the group a row of partition p goes to, or 0.
func (m *Mover) target(p placement.Partition) placement.NodeGroupID { return m.move.Partitions[p] }

// condition is that the row of key column key of a statement is this move's.
func (m *Mover) condition(key string) string {
	return key + "=" + quote(m.move.Reorg) + " AND source=" + strconv.Itoa(int(m.move.Source.Group))
}

// mine is the condition that a row of our tables is this move's.
func (m *Mover) mine() string { return m.condition("reorg") }

// values are the first two of VALUES in our tables.
func (m *Mover) values() string {
	return quote(m.move.Reorg) + "," + strconv.Itoa(int(m.move.Source.Group))
}

// partitionsOf is the condition that a row of t is in a partition that belongs to one of the groups, all targets if there are none.
func (m *Mover) partitionsOf(t *table, groups ...placement.NodeGroupID) string {
	var list []string
	for p := range placement.Partition(placement.Partitions) {
		if g := m.target(p); g != 0 && (len(groups) == 0 || slices.Contains(groups, g)) {
			list = append(list, strconv.Itoa(int(p)))
		}
	}
	if len(list) == placement.Partitions {
		return "TRUE"
	}
	return t.where + " IN (" + strings.Join(list, ",") + ")"
}

// update changes the guarded state and wakes all who wait for it.
func (m *Mover) update(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
	close(m.changed)
	m.changed = make(chan struct{})
}

// await waits until f, called with the state held, says so or fails, or ctx ends.
func (m *Mover) await(ctx context.Context, f func() (bool, error)) error {
	for {
		m.mu.Lock()
		ok, err := f()
		changed := m.changed
		m.mu.Unlock()
		if ok || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Progress returns how far the mover is.
func (m *Mover) Progress() Progress {
	waits := m.waits.Long() // their texts are made by goroutines that may hold the state
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.is
	p.Waits = waits
	if !m.asked.IsZero() && p.Phase == Following {
		p.Lag = max(p.Lag, time.Since(m.asked))
	}
	if done := p.Rows - m.start; p.Phase == Copying && done > 0 && p.RowsEstimated > p.Rows {
		p.ETA = time.Duration(float64(time.Since(m.began)) * float64(p.RowsEstimated-p.Rows) / float64(done)).Round(time.Second)
	}
	return p
}

// Copied returns a channel that is closed when everything is copied. Prepare with again makes a new one.
func (m *Mover) Copied() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.copied
}
