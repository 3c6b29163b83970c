package session

import (
	"cmp"
	"crypto/tls"
	"slices"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/metadata"
	"skarv/pkg/placement"
	"skarv/pkg/plan"
	"skarv/pkg/planner"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
	"skarv/pkg/wire"
)

// show answers the SHOW statements whose answer is not the same on every group; handled is false for the others.
func (s *Session) show(p *plan.Plan) (handled bool, err error) {
	if s.hidesRows(p) && planner.Tells(s.stmt) {
		return true, sqlerr.Unsupported("a SHOW whose condition has functions or assigns variables, by an account that does not see everything", "query information_schema")
	}
	switch p.Topic {
	case plan.ShowWarnings, plan.ShowErrors:
		return true, s.showWarnings()
	case plan.ShowProcesslist, plan.ShowFullProcesslist:
		return true, s.showProcesslist(p.Topic == plan.ShowFullProcesslist)
	case plan.ShowGrants:
		return true, s.showGrants()
	case plan.ShowCreateUser:
		return true, s.showCreateUser()
	case plan.ShowDatabases:
		return true, s.showFiltered(s.anyGroup(), func(row [][]byte) bool {
			name := string(row[0])
			return name != catalog.OwnDB && s.seesDatabase(name)
		})
	case plan.ShowReplication: // the cluster is nobody's replica, whatever a server of it is
		if s.account.Global()&(catalog.MaySuper|catalog.MaySeeReplication) == 0 {
			return true, sqlerr.SpecificAccessDenied.New(seesReplication(s.snap.Flavor))
		}
		return true, s.showFiltered(s.anyGroup(), func([][]byte) bool { return false })
	case plan.ShowUserStatistics, plan.ShowClientStatistics: // what others do
		if s.account.Global()&(catalog.MaySuper|catalog.MayProcess) == 0 {
			return true, s.showFiltered(s.anyGroup(), func([][]byte) bool { return false })
		}
	case plan.ShowTableStatistics, plan.ShowIndexStatistics:
		if !s.account.SeesTables("*") {
			return true, s.showFiltered(s.anyGroup(), func(row [][]byte) bool { return s.seesTable(string(row[0]), string(row[1])) })
		}
	case plan.ShowProcedureStatus, plan.ShowFunctionStatus, plan.ShowPackageStatus:
		return true, s.showPrograms(p)
	case plan.ShowCreateProcedure, plan.ShowCreateFunction:
		if !isSystemDB(p.Database) {
			return true, s.showProgram(p)
		}
	case plan.ShowCreateTable, plan.ShowCreateView:
		if t := s.snap.Table(p.Database, p.Name); t != nil {
			return true, s.showCreateTable(t)
		}
	case plan.ShowCreateEvent:
		if e := s.snap.Event(p.Database, p.Name); e != nil {
			return true, s.showCreateEvent(e)
		}
	case plan.ShowEvents:
		return true, s.showEvents(p.Name)
	case plan.ShowTriggers:
		return true, s.showTriggers(3, func(row [][]byte) bool {
			return isSystemDB(p.Name) || s.account.Privileges(p.Name, string(row[2]))&catalog.MayTrigger != 0
		})
	case plan.ShowCreateTrigger:
		return true, s.showTriggers(2, func([][]byte) bool { return true })
	case plan.ShowVariables:
		return true, s.showVariables()
	case plan.ShowProfile, plan.ShowProfiles:
		if v, _ := s.state.Get("@@session.`profiling`"); variable.IsOn(v) {
			return true, sqlerr.Unsupported("SHOW PROFILE and SHOW PROFILES of statements that were profiled, each on its servers", "use EXPLAIN ANALYZE, or on MariaDB ANALYZE")
		}
	case plan.ShowCreateSequence: // beside LOCK TABLES
		cols, rows, err := s.rowsFrom(s.sequenceGroup())
		if err != nil {
			return true, err
		}
		return true, s.sendRows(cols, rows)
	case plan.ShowTables:
		if strings.EqualFold(p.Name, catalog.VirtualDB) {
			return true, s.showVirtualTables()
		}
		if !isSystemDB(p.Name) && !s.account.SeesTables(p.Name) {
			return true, s.showFiltered(s.metadataGroup(), func(row [][]byte) bool { return s.seesTable(p.Name, string(row[0])) })
		}
	case plan.ShowColumns:
		if p.Database == catalog.VirtualDB {
			return true, s.showVirtualColumns(p.Name)
		}
		if t := s.snap.Table(p.Database, p.Name); t != nil && (t.HiddenKey || s.account.Privileges(t.Database, t.Name)&catalog.OfColumns != catalog.OfColumns) {
			return true, s.showColumns(t)
		}
	case plan.ShowIndex:
		if t := s.snap.Table(p.Database, p.Name); t != nil && t.Kind == catalog.Sharded {
			return true, s.showIndex(t)
		}
	case plan.ShowOpenTables:
		all := s.account.SeesTables("*")
		return true, s.showFiltered(s.serverGroup(), func(row [][]byte) bool {
			return string(row[0]) != catalog.OwnDB && (all || s.seesTable(string(row[0]), string(row[1])))
		})
	case plan.ShowTableStatus:
		return true, s.showTableStatus(p)
	case plan.ShowChecksums:
		return true, s.checksumTables(p)
	case plan.ShowStatus:
		if s.conn.TLS() != nil {
			return true, s.showStatus()
		}
	case plan.ShowSkarv:
		return true, s.selectVirtual()
	}
	return false, nil
}

// seesReplication is what a server asks for before it tells what it replicates, as it says.
func seesReplication(f catalog.Flavor) string {
	if f == catalog.MariaDB {
		return "SUPER, SLAVE MONITOR"
	}
	return "SUPER, REPLICATION CLIENT"
}

// hidesRows reports whether what the account may not see is left out of the answer to a SHOW, after a server has judged its condition.
func (s *Session) hidesRows(p *plan.Plan) bool {
	switch p.Topic {
	case plan.ShowDatabases:
		return s.account.Global()&(catalog.AllOfDatabase|catalog.MayShowDatabases) == 0
	case plan.ShowProcedureStatus, plan.ShowFunctionStatus, plan.ShowPackageStatus:
		return !s.account.SeesPrograms("*")
	case plan.ShowTriggers:
		return s.account.Privileges(p.Name, "")&catalog.MayTrigger == 0
	case plan.ShowTables, plan.ShowTableStatus, plan.ShowOpenTables:
		return !s.account.SeesTables(cmp.Or(p.Name, "*"))
	}
	return false
}

// showPrograms is a server's SHOW PROCEDURE STATUS or its like, with the definers that only the catalog has.
func (s *Session) showPrograms(p *plan.Plan) error {
	cols, rows, err := s.rowsOf()
	if err != nil {
		return err
	}
	definer := slices.IndexFunc(cols, func(c sqltypes.Column) bool { return c.Name == "Definer" })
	return s.sendRows(cols, slices.DeleteFunc(rows, func(row [][]byte) bool {
		db := string(row[0])
		r := s.snap.Routine(db, string(row[1]), p.Topic == plan.ShowFunctionStatus)
		if r != nil && r.Definer != "" && definer >= 0 {
			row[definer] = []byte(r.Definer.At())
		}
		return db == catalog.OwnDB || !isSystemDB(db) && !s.account.SeesPrograms(db) && (r == nil || !s.account.SeesRoutine(r))
	}))
}

// showProgram is a server's SHOW CREATE PROCEDURE or FUNCTION with the definer that only the catalog has, and without its text for an account that may not
// read it.
func (s *Session) showProgram(p *plan.Plan) error {
	cols, rows, err := s.rowsOf()
	if err != nil {
		return err
	}
	function := p.Topic == plan.ShowCreateFunction
	known := s.snap.Routine(p.Database, p.Name, function)
	if !s.account.SeesPrograms(p.Database) && (known == nil || !s.account.SeesRoutine(known)) {
		kind := "PROCEDURE"
		if function {
			kind = "FUNCTION"
		}
		return sqlerr.NoSuchRoutine.New(kind, p.Name)
	}
	const textAt = 2
	for _, r := range rows {
		switch {
		case known != nil && s.account.ReadsRoutine(known):
			r[textAt] = ddl.WithDefiner(r[textAt], known.Security)
		case !s.account.ReadsPrograms(p.Database):
			r[textAt] = nil
		}
	}
	return s.sendRows(cols, rows)
}

// rowsOf runs the statement at hand on one group and returns its result.
func (s *Session) rowsOf() ([]sqltypes.Column, [][][]byte, error) { return s.rowsFrom(s.anyGroup()) }

// rowsFrom is rowsOf for a node group that is given.
func (s *Session) rowsFrom(g placement.NodeGroupID) ([]sqltypes.Column, [][][]byte, error) {
	c, err := s.aside(g)
	if err != nil {
		return nil, nil, err
	}
	return s.rowsOn(c)
}

// rowsOn is rowsFrom by a connection, which is done with then.
func (s *Session) rowsOn(c *backend.Conn) ([]sqltypes.Column, [][][]byte, error) {
	return s.rowsTold(c, s.args.AppendStatement(nil))
}

// rowsTold is rowsOn of another text.
func (s *Session) rowsTold(c *backend.Conn, text []byte) ([]sqltypes.Column, [][][]byte, error) {
	cols, rows, err := c.QueryAll(string(text), maxShown)
	s.done(c, err)
	if err != nil {
		return nil, nil, txn.Lost(c, err)
	}
	return cols, rows, nil
}

// maxShown bounds the rows of a SHOW that is edited.
const maxShown = 1 << 20

func (s *Session) sendRows(cols []sqltypes.Column, rows [][][]byte) error {
	return s.sendRowsWith(cols, rows, 0)
}

// sendRowsWith is sendRows of a result with warnings.
func (s *Session) sendRowsWith(cols []sqltypes.Column, rows [][][]byte, warnings uint16) error {
	out := s.newOutput()
	if err := out.Columns(cols); err != nil {
		return err
	}
	var packet []byte
	for _, r := range rows {
		packet = wire.AppendTextRow(packet[:0], r)
		if err := out.Row(packet); err != nil {
			return err
		}
	}
	s.diagnostics.RowCount, s.foundRows = -1, uint64(len(rows))
	return out.end(warnings)
}

// showFiltered sends the rows of the statement at hand that keep wants, as node group g tells them.
func (s *Session) showFiltered(g placement.NodeGroupID, keep func(row [][]byte) bool) error {
	cols, rows, err := s.rowsFrom(g)
	if err != nil {
		return err
	}
	return s.sendRows(cols, slices.DeleteFunc(rows, func(r [][]byte) bool { return !keep(r) }))
}

// showColumns is a server's SHOW COLUMNS without the hidden key and, where it is full, with what the account may do with the columns.
func (s *Session) showColumns(t *catalog.Table) error {
	const name = 0
	cols, rows, err := s.rowsFrom(s.tableGroup(t))
	if err != nil {
		return err
	}
	told := slices.IndexFunc(cols, func(c sqltypes.Column) bool { return c.Name == "Privileges" })
	if told >= 0 && t.Temporary == "" {
		have := s.account.Privileges(t.Database, t.Name) & catalog.OfColumns
		for _, r := range rows {
			r[told] = []byte(strings.ToLower(strings.Join(have.Names(), ",")))
		}
	}
	return s.sendRows(cols, slices.DeleteFunc(rows, func(r [][]byte) bool { return string(r[name]) == catalog.HiddenKey }))
}

// showStatus is a server's SHOW STATUS with the cipher of the client's own connection.
func (s *Session) showStatus() error {
	cols, rows, err := s.rowsFrom(s.serverGroup())
	if err != nil {
		return err
	}
	state := s.conn.TLS()
	for _, r := range rows {
		if len(r) != 2 {
			continue
		}
		switch strings.ToLower(string(r[0])) {
		case "ssl_cipher":
			r[1] = []byte(cipherName(state.CipherSuite))
		case "ssl_version":
			r[1] = []byte("TLSv" + strings.TrimPrefix(tls.VersionName(state.Version), "TLS "))
		}
	}
	return s.sendRows(cols, rows)
}

// cipherName is the name servers show for a cipher suite, OpenSSL's.
func cipherName(id uint16) string {
	name := tls.CipherSuiteName(id)
	exchange, cipher, ok := strings.Cut(strings.TrimPrefix(name, "TLS_"), "_WITH_")
	if !ok {
		return name // TLS 1.3: the same in both worlds
	}
	name = exchange + "-" + strings.NewReplacer("AES_128", "AES128", "AES_256", "AES256", "_CBC", "").Replace(cipher)
	return strings.ReplaceAll(strings.TrimSuffix(strings.ReplaceAll(name, "CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305"), "_"), "_", "-")
}

// tableGroup is a node group that knows all of the definition of t: where it is counts AUTO_INCREMENT.
func (s *Session) tableGroup(t *catalog.Table) placement.NodeGroupID {
	if t.Kind == catalog.Single && t.Temporary == "" {
		return t.Group
	}
	return s.anyGroup()
}

// showCreateTable is a server's SHOW CREATE TABLE without what Skarv added, and with what only Skarv knows.
func (s *Session) showCreateTable(t *catalog.Table) error {
	c, err := s.aside(s.tableGroup(t))
	if err != nil {
		return err
	}
	cols, rows, err := c.QueryAll(string(s.args.AppendStatement(nil)), 1)
	s.diagnostics.Clear()
	if err == nil && c.LastWarnings() > 0 { // of a view: what it lacks
		s.fetchWarnings(c, c.LastWarnings())
	}
	s.done(c, err)
	if err != nil {
		return txn.Lost(c, err)
	}
	switch {
	case len(rows) != 1 || len(rows[0]) < 2:
	case t.Kind == catalog.View:
		rows[0][1] = ddl.WithDefiner(rows[0][1], t.Security)
	default:
		db := s.snap.Databases[t.Database]
		rows[0][1] = []byte(ddl.ShownTable(string(rows[0][1]), t, db != nil && db.Single, s.snap.Flavor))
	}
	return s.sendRowsWith(cols, rows, uint16(s.diagnostics.Count()))
}

// showIndex is a server's SHOW INDEX of a sharded table with how many values there are on all node groups.
func (s *Session) showIndex(t *catalog.Table) error {
	var cols []sqltypes.Column
	var sum [][][]byte
	for i, g := range s.snap.Map.Groups() {
		names, rows, err := s.rowsFrom(g)
		if err != nil {
			return err
		}
		if i == 0 {
			cols, sum = names, rows
		} else if !metadata.AddIndexes(sum, rows, t) {
			break
		}
	}
	return s.sendRows(cols, metadata.WithoutHiddenKey(sum))
}

// showTableStatus adds up the sizes and row counts of all groups, of the tables of database p.Name.
func (s *Session) showTableStatus(p *plan.Plan) error {
	var cols []sqltypes.Column
	var sum metadata.TableStatus
	sees := func(table string) bool { return isSystemDB(p.Name) || s.seesTable(p.Name, table) }
	for _, g := range s.snap.Groups {
		c, err := s.Get(g.ID)
		if err != nil {
			return err
		}
		names, rows, err := s.rowsOn(c)
		if err != nil {
			return err
		}
		cols = names
		sum.Add(g.ID, rows, s.snap, p.Name, sees)
	}
	return s.sendRows(cols, sum.Rows)
}

// showVariables is a server's SHOW VARIABLES with what is the cluster's.
func (s *Session) showVariables() error {
	c, err := s.aside(s.serverGroup())
	if err != nil {
		return err
	}
	if err := s.showHeld(c); err != nil {
		s.done(c, err)
		return err
	}
	cols, rows, err := c.QueryAll(string(s.args.AppendStatement(nil)), maxShown)
	err = cmp.Or(err, s.hideHeld(c))
	s.done(c, err)
	if err != nil {
		return txn.Lost(c, err)
	}
	for _, r := range rows {
		if len(r) == 2 {
			if v, ok := s.clusterVariable(string(r[0])); ok {
				r[1] = []byte(v)
			}
		}
	}
	return s.sendRows(cols, rows)
}

// clusterVariable is the cluster's value of a global variable that each server has its own of. Transactions of a cluster have no GTIDs: those
// of one of its servers say nothing of the others, and mysqldump would write them into dumps.
func (s *Session) clusterVariable(name string) (value string, ok bool) {
	name = variable.FoldASCII(name)
	switch {
	case name == "event_scheduler":
		if s.snap.EventsOff {
			return "OFF", true
		}
		return "ON", true
	case s.cfg.Dialect.MariaDB():
	case name == "gtid_mode":
		return "OFF", true
	case name == "gtid_executed", name == "gtid_purged":
		return "", true
	}
	return "", false
}
