package session

import (
	"skarv/pkg/catalog"
	"skarv/pkg/placement"
	"skarv/pkg/statistics"
)

// countRows asks every node group how many rows it thinks that the tables have.
func (s *Session) countRows(tables []*catalog.Table) (map[catalog.TableName]statistics.Counts, error) {
	return statistics.Count(s.snap, tables, s.askRows)
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
