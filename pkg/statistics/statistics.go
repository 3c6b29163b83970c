// Package statistics keeps what the servers of a cluster know of the sizes of tables: rows, and different values in columns,
// added up over the node groups. It asks nobody itself: whoever needs a figure runs the query.
package statistics

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/sqltypes"
)

// Estimates are the numbers of rows that tables have, in the whole cluster, as the servers estimate them. Statements that can
// be run in several ways look here which one is cheap. An estimate is asked for when it is needed and older than
// estimateAge, by the session that needs it; others go on with the old one meanwhile. It is safe for concurrent use.
type Estimates struct {
	now func() time.Time

	mu     sync.Mutex
	tables map[catalog.TableName]estimate
}

type estimate struct {
	Counts
	known bool      // somebody has asked
	asked time.Time // when that was begun
}

// Counts are a table's rows, and the different values of those columns that an index begins with, by name in lower case. They
// do not change once they are known.
type Counts struct {
	Rows     float64
	Distinct map[string]float64
}

const (
	estimateAge = 30 * time.Second
	// maxEstimates bounds the tables that are remembered; with more all are forgotten.
	maxEstimates = 100_000
)

// New returns Estimates that know nothing yet.
func New() *Estimates {
	return &Estimates{now: time.Now, tables: map[catalog.TableName]estimate{}}
}

// Of returns what is known of tables; those whose estimate is too old are asked for by ask.
func (e *Estimates) Of(tables []*catalog.Table, ask func(stale []*catalog.Table) (map[catalog.TableName]Counts, error)) map[catalog.TableName]Counts {
	known := make(map[catalog.TableName]Counts, len(tables))
	var stale []*catalog.Table
	e.mu.Lock()
	if len(e.tables) > maxEstimates {
		clear(e.tables)
	}
	now := e.now()
	for _, t := range tables {
		n := catalog.TableName{Database: t.Database, Name: t.Name}
		have := e.tables[n]
		if have.known {
			known[n] = have.Counts
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
		have.Counts, have.known = c, true
		e.tables[n] = have
	}
	return known
}

// Count adds up what all node groups think of tables. ask runs a query on one of them.
func Count(snap *catalog.Snapshot, tables []*catalog.Table, ask func(g placement.NodeGroupID, sql string) ([][][]byte, error)) (map[catalog.TableName]Counts, error) {
	var sql strings.Builder
	for i, t := range tables {
		if i > 0 {
			sql.WriteString(" UNION ALL ")
		}
		// One table at a time: then servers look at no others.
		where := fmt.Sprintf(" WHERE table_schema = %s AND table_name = %s", sqltypes.Literal(t.Database), sqltypes.Literal(t.Name))
		fmt.Fprintf(&sql, "SELECT '%d', '', table_rows FROM information_schema.tables%s UNION ALL "+
			"SELECT '%d', column_name, cardinality FROM information_schema.statistics%s AND seq_in_index = 1", i, where, i, where)
	}
	all := make([]Counts, len(tables))
	for i, g := range snap.Groups {
		rows, err := ask(g.ID, sql.String())
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			n := number(r[0])
			if n >= uint64(len(tables)) {
				continue
			}
			t, c := tables[n], &all[n]
			if t.Kind == catalog.Reference && i > 0 || t.Kind == catalog.Single && t.Group != g.ID {
				continue
			}
			count, column := float64(number(r[2])), strings.ToLower(string(r[1]))
			if column == "" {
				c.Rows += count
				continue
			}
			if c.Distinct == nil {
				c.Distinct = map[string]float64{}
			}
			if key := t.Distribution; len(key) == 1 && strings.EqualFold(t.Columns[key[0]].Name, column) {
				c.Distinct[column] += count // every value is on one group
			} else {
				c.Distinct[column] = max(c.Distinct[column], count)
			}
		}
	}
	known := make(map[catalog.TableName]Counts, len(tables))
	for i, t := range tables {
		known[catalog.TableName{Database: t.Database, Name: t.Name}] = all[i]
	}
	return known, nil
}

// number is a count as servers write it, 0 for NULL.
func number(text []byte) uint64 {
	n, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
