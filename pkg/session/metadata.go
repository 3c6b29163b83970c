package session

import (
	"skarv/pkg/metadata"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/processlist"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
)

// serverGroup is where it is read what a server says of itself: that of the first node group is asked, whoever asks, for counters of one server
// now and of another one a moment later would say nothing; but any other while it is down, and the one that the session is bound to.
func (s *Session) serverGroup() placement.NodeGroupID {
	if g := s.snap.Map.Groups()[0]; s.boundGroup() == 0 && s.cfg.Pools.Up(g) {
		return g
	}
	return s.anyGroup()
}

// metadataGroup is where it is read what all servers know: on MariaDB the first one alone has the sequences.
func (s *Session) metadataGroup() placement.NodeGroupID {
	if g := s.sequenceGroup(); s.cfg.Dialect.MariaDB() && s.cfg.Pools.Up(g) {
		return g
	}
	return s.serverGroup()
}

// selectMetadata runs a SELECT whose tables are all the servers' own, as pkg/metadata rewrites it. handled is false for those a server may
// answer as they are.
func (s *Session) selectMetadata(p *plan.Plan) (handled bool, err error) {
	// Values of parameters become text: the servers have no such statement prepared.
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan(s.args.AppendStatement(nil), s.Mode); err != nil {
		return true, err
	}
	r, err := s.viewer().Rewrite(st)
	if err != nil {
		return true, err
	}
	if r == nil {
		return s.selectVariables(st)
	}
	g := s.anyGroup()
	switch {
	case p.Relay != nil && p.Relay.Target.Kind == plan.OneGroup:
		g = p.Relay.Target.Group // the one that has single tables
	case !r.Processes: // what runs is told even while that one hangs, and nobody has found it down yet
		g = s.metadataGroup()
	}
	s.derivedFrom = r.From
	defer func() { s.derivedFrom = nil }()
	return true, s.runRewritten(g, r.SQL)
}

// runRewritten answers the client's SELECT with the result of another one.
func (s *Session) runRewritten(g placement.NodeGroupID, sql []byte) error {
	c, err := s.Get(g)
	if err != nil {
		return err
	}
	assigns := s.stmt.Uses()&sqlparse.WritesUserVariable != 0 // SELECT ... INTO @x, @x := ...
	if assigns {
		c.Dirty = true
		s.conn.Mark()
	}
	sum, err := s.copyResults(c, sql)
	if err != nil {
		if assigns && c.Usable() {
			_ = s.variablesWritten(c) // else c stays Dirty
		}
		s.done(c, err)
		return txn.Lost(c, err)
	}
	s.renewWarnings(c, &sum)
	if s.diagnostics.RowCount, s.foundRows = -1, sum.Rows; sum.Columns == 0 {
		s.diagnostics.RowCount, s.foundRows = int64(sum.AffectedRows), sum.AffectedRows
	}
	if assigns {
		err = s.variablesTaken(true, c)
	}
	s.done(c, err)
	return err
}

// viewer is the session as pkg/metadata sees it.
func (s *Session) viewer() *metadata.Viewer {
	ask := func(g placement.NodeGroupID, sql string) (cols []sqltypes.Column, rows [][][]byte, err error) {
		c, err := s.aside(g)
		if err != nil {
			return nil, nil, err
		}
		cols, rows, err = c.QueryAll(sql, metadata.MaxRows)
		s.done(c, err)
		if err != nil {
			return nil, nil, txn.Lost(c, err)
		}
		return cols, rows, nil
	}
	return &metadata.Viewer{
		Snapshot: s.snap, Account: s.account, Roles: s.activeRoles(), User: s.account.Name, Database: s.db, Dialect: s.cfg.Dialect, Mode: s.Mode,
		Columns: func(table string) ([]sqltypes.Column, error) {
			cols, _, err := ask(s.anyGroup(), "SELECT * FROM "+table+" LIMIT 0")
			return cols, err
		},
		Query: func(g placement.NodeGroupID, sql string) ([][][]byte, error) {
			_, rows, err := ask(g, sql)
			return rows, err
		},
		Processes: func() string {
			return string(s.appendDerived(nil, processlist.Table(s.processes(), s.cfg.Dialect.MariaDB())))
		},
		EventStates: s.cfg.Cluster.States,
	}
}
