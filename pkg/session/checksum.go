package session

import (
	"strconv"

	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
)

// checksumTables answers CHECKSUM TABLE. A server's checksum of a table is the sum of those of its rows, in 32 bits, so that of a
// sharded table is the sum of the node groups'.
func (s *Session) checksumTables(p *plan.Plan) error {
	if err := s.beginData(); err != nil {
		return err
	}
	epoch := s.snap.Map.Epoch()
	var cols []sqltypes.Column
	var rows [][][]byte
	var warnings []diagnostics.Condition
	for _, t := range p.Tables {
		groups, err := s.checksumGroups(t)
		if err != nil {
			return err
		}
		var sum uint32
		row := [][]byte{[]byte(t.Database + "." + t.Name), nil}
		for i, g := range groups {
			part, names, told, err := s.checksumOn(g, t, p.Name)
			if err != nil {
				return err
			}
			warnings = append(warnings, told...)
			cols = names
			if part == nil { // QUICK, which InnoDB has no answer to
				row[1] = nil
				break
			}
			if sum += uint32(parseUint(part)); i == len(groups)-1 {
				row[1] = strconv.AppendUint(nil, uint64(sum), 10)
			}
		}
		rows = append(rows, row)
	}
	if s.snapshot().Map.Epoch() != epoch {
		return checksumMoving()
	}
	s.diagnostics.Conditions = warnings
	return s.sendRowsWith(cols, rows, uint16(len(warnings)))
}

func checksumMoving() error {
	return sqlerr.Unsupported("CHECKSUM TABLE while partitions move", "wait until skarvctl reorg list shows none that runs")
}

// checksumGroups are the node groups with a part of the table.
func (s *Session) checksumGroups(t *catalog.Table) ([]placement.NodeGroupID, error) {
	switch {
	case t.Kind == catalog.Single:
		return []placement.NodeGroupID{t.Group}, nil
	case t.Kind == catalog.Reference:
		return []placement.NodeGroupID{s.anyGroup()}, nil
	case t.HiddenKey:
		return nil, sqlerr.Unsupported("CHECKSUM TABLE of a table without a primary key", "compare SELECT BIT_XOR(CRC32(CONCAT_WS(...)))")
	case len(s.snap.Map.Moving()) > 0:
		return nil, checksumMoving()
	}
	var groups []placement.NodeGroupID
	for _, g := range s.snap.Groups {
		groups = append(groups, g.ID)
	}
	return groups, nil
}

// checksumOn is the checksum of a group's part of a table, nil for NULL: of a table that is not there, of which the server warns.
func (s *Session) checksumOn(g placement.NodeGroupID, t *catalog.Table, option string) (sum []byte, cols []sqltypes.Column, told []diagnostics.Condition, err error) {
	c, err := s.acquire(g)
	if err != nil {
		return nil, nil, nil, err
	}
	s.client.Enter(c)
	cols, rows, err := c.QueryAll("CHECKSUM TABLE "+t.SQL()+" "+option, 1)
	s.client.Leave(c)
	if err == nil && c.LastWarnings() > 0 {
		told = s.appendWarnings(nil, c)
	}
	s.done(c, err)
	if err != nil {
		return nil, nil, nil, txn.Lost(c, err)
	}
	if len(rows) != 1 || len(rows[0]) != 2 {
		return nil, nil, nil, sqlerr.Internal.New("CHECKSUM TABLE gave no row")
	}
	return rows[0][1], cols, told, nil
}
