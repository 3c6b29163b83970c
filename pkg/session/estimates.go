package session

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// Estimates are the numbers of rows that tables have, in the whole cluster, as the servers estimate them. Statements that can
// be run in several ways look here which one is cheap. An estimate is asked for when it is needed and older than
// estimateAge, by the session that needs it; others go on with the old one meanwhile. It is safe for concurrent use.
type Estimates struct {
	now func() time.Time

	mu     sync.Mutex
	tables map[tableName]estimate
}

type tableName struct{ database, name string }

type estimate struct {
	rows  float64
	known bool      // somebody has asked
	asked time.Time // when that was begun
}

const (
	estimateAge = 30 * time.Second
	// maxEstimates bounds the tables that are remembered; with more all are forgotten.
	maxEstimates = 100_000
)

// NewEstimates returns Estimates that know nothing yet.
func NewEstimates() *Estimates {
	return &Estimates{now: time.Now, tables: map[tableName]estimate{}}
}

// rows returns what is known of tables; those whose estimate is too old are asked for by ask.
func (e *Estimates) rows(tables []*catalog.Table, ask func(stale []*catalog.Table) (map[tableName]float64, error)) map[tableName]float64 {
	known := make(map[tableName]float64, len(tables))
	var stale []*catalog.Table
	e.mu.Lock()
	if len(e.tables) > maxEstimates {
		clear(e.tables)
	}
	now := e.now()
	for _, t := range tables {
		n := tableName{t.Database, t.Name}
		have := e.tables[n]
		if have.known {
			known[n] = have.rows
		}
		if now.Sub(have.asked) >= estimateAge {
			stale = append(stale, t)
			have.asked = now
			e.tables[n] = have
		}
	}
	e.mu.Unlock()
	if len(stale) == 0 {
		return known
	}
	asked, err := ask(stale)
	if err != nil {
		return known // the statement itself will find out what is wrong
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for n, rows := range asked {
		known[n] = rows
		have := e.tables[n]
		have.rows, have.known = rows, true
		e.tables[n] = have
	}
	return known
}

// surprised forgets the age of an estimate that has proved wrong: the next statement asks anew.
func (e *Estimates) surprised(t *catalog.Table) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := tableName{t.Database, t.Name}
	have := e.tables[n]
	have.asked = time.Time{}
	e.tables[n] = have
}

// countRows asks every node group how many rows it thinks that the tables have.
func (s *Session) countRows(tables []*catalog.Table) (map[tableName]float64, error) {
	var sql strings.Builder
	for i, t := range tables {
		if i > 0 {
			sql.WriteString(" UNION ALL ")
		}
		// One table at a time: then servers look at no others.
		fmt.Fprintf(&sql, "SELECT '%d', table_rows FROM information_schema.tables WHERE table_schema = %s AND table_name = %s",
			i, s.literal(t.Database), s.literal(t.Name))
	}
	counts := map[tableName]float64{}
	for i, g := range s.snap.Groups {
		rows, err := s.askRows(g.ID, sql.String())
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			t := tables[parseUint(r[0])]
			if t.Kind == catalog.Reference && i > 0 || t.Kind == catalog.Single && t.Group != g.ID {
				continue
			}
			counts[tableName{t.Database, t.Name}] += float64(parseUint(r[1]))
		}
	}
	return counts, nil
}

// literal is a name as a string in the session's sql_mode.
func (s *Session) literal(name string) []byte {
	return sqltypes.AppendLiteral(nil, sqltypes.Value{Kind: sqltypes.String, Raw: []byte(name)}, s.mode&sqlparse.NoBackslashEscapes != 0)
}

func (s *Session) askRows(g placement.NodeGroupID, sql string) (rows [][][]byte, err error) {
	c, err := s.cfg.Pools.Get(g, s.profile, s.state, nil, s.claim())
	if err != nil {
		return nil, err
	}
	defer c.Release()
	if s.snap.Flavor == catalog.MySQL {
		// It shows numbers of a day ago otherwise.
		c.Dirty = true
		if _, err := c.Exec("SET SESSION information_schema_stats_expiry = 0"); err != nil {
			return nil, err
		}
	}
	_, rows, err = c.QueryAll(sql, maxShown)
	return rows, err
}
