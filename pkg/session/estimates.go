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
	counts
	known bool      // somebody has asked
	asked time.Time // when that was begun
}

// counts are a table's rows, and the different values of those columns that an index begins with, by name in lower case. They
// do not change once they are known.
type counts struct {
	rows     float64
	distinct map[string]float64
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
func (e *Estimates) rows(tables []*catalog.Table, ask func(stale []*catalog.Table) (map[tableName]counts, error)) map[tableName]counts {
	known := make(map[tableName]counts, len(tables))
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
			known[n] = have.counts
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
	for n, c := range asked {
		known[n] = c
		have := e.tables[n]
		have.counts, have.known = c, true
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
func (s *Session) countRows(tables []*catalog.Table) (map[tableName]counts, error) {
	var sql strings.Builder
	for i, t := range tables {
		if i > 0 {
			sql.WriteString(" UNION ALL ")
		}
		// One table at a time: then servers look at no others.
		where := fmt.Sprintf(" WHERE table_schema = %s AND table_name = %s", s.literal(t.Database), s.literal(t.Name))
		fmt.Fprintf(&sql, "SELECT '%d', '', table_rows FROM information_schema.tables%s UNION ALL "+
			"SELECT '%d', column_name, cardinality FROM information_schema.statistics%s AND seq_in_index = 1", i, where, i, where)
	}
	all := make([]counts, len(tables))
	for i, g := range s.snap.Groups {
		rows, err := s.askRows(g.ID, sql.String())
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			n := parseUint(r[0])
			if n >= uint64(len(tables)) {
				continue
			}
			t, c := tables[n], &all[n]
			if t.Kind == catalog.Reference && i > 0 || t.Kind == catalog.Single && t.Group != g.ID {
				continue
			}
			count, column := float64(parseUint(r[2])), strings.ToLower(string(r[1]))
			if column == "" {
				c.rows += count
				continue
			}
			if c.distinct == nil {
				c.distinct = map[string]float64{}
			}
			if key := t.Distribution; len(key) == 1 && strings.EqualFold(t.Columns[key[0]].Name, column) {
				c.distinct[column] += count // every value is on one group
			} else {
				c.distinct[column] = max(c.distinct[column], count)
			}
		}
	}
	known := make(map[tableName]counts, len(tables))
	for i, t := range tables {
		known[tableName{t.Database, t.Name}] = all[i]
	}
	return known, nil
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
