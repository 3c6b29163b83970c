package session

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
)

// tableAdmin is CHECK, ANALYZE, OPTIMIZE and REPAIR TABLE: every node group that has rows of the tables says
// something about them, and the client is told once what all say alike. A table is well if it is well everywhere.
func (s *Session) tableAdmin(p *plan.Plan) error {
	if err := s.commitImplicit(); err != nil {
		return err
	}
	var columns []sqltypes.Column
	verdicts := make([]verdict, len(p.Tables))
	sql := s.args.AppendStatement(nil)
	for _, g := range s.snap.Groups {
		if !slices.ContainsFunc(p.Tables, func(t *catalog.Table) bool { return t.Kind != catalog.Single || t.Group == g.ID }) {
			continue
		}
		c, err := s.acquire(g.ID)
		if err != nil {
			return err
		}
		s.client.Enter(c)
		cols, rows, err := c.QueryAll(string(sql), maxShown)
		s.client.Leave(c)
		s.done(c, err)
		if err != nil {
			return txn.Lost(c, err)
		}
		columns = cols
		for i, t := range p.Tables {
			if t.Kind == catalog.Single && t.Group != g.ID {
				continue
			}
			for _, r := range rows {
				if string(r[0]) == t.Database+"."+t.Name {
					verdicts[i].add(r)
				}
			}
		}
	}
	var all [][][]byte
	for i := range verdicts {
		all = append(all, verdicts[i].rows...)
		if len(verdicts[i].bad) > 0 {
			all = append(all, verdicts[i].bad...)
		} else {
			all = append(all, verdicts[i].good...)
		}
	}
	s.diagnostics.Clear()
	return s.sendRows(columns, all)
}

// verdict is what is said of one table: notes, then the end.
type verdict struct{ rows, good, bad [][][]byte }

func (v *verdict) add(r [][]byte) {
	list := &v.rows
	if len(r) >= 4 && strings.EqualFold(string(r[2]), "status") {
		list = &v.bad
		switch string(r[3]) {
		case "Engine-independent statistics collected": // before the end
			list = &v.rows
		case "OK", "Table is already up to date":
			list = &v.good
			if len(v.good) > 0 {
				return
			}
		}
	}
	if !slices.ContainsFunc(*list, func(o [][]byte) bool { return slices.EqualFunc(o, r, slices.Equal[[]byte]) }) {
		*list = append(*list, r)
	}
}
