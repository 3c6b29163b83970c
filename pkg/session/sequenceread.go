package session

// Sequences as the tables that they are on their server: reading and locking them.

import (
	"bytes"
	"cmp"
	"slices"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/function"
	"skarv/pkg/metrics"
	"skarv/pkg/routine"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/txn"
	"skarv/pkg/wire"
)

// readSequence answers a query that reads nothing but sequences, as the tables that they are on their server, too, if the statement at hand is one: the
// planner, which knows no sequences, has said that there is no such table. LOCK TABLES of sequences is taken for one of the others.
func (s *Session) readSequence() (handled bool, err error) {
	s.conn.Task().Blocking(func() {
		if s.cfg.Dialect.MariaDB() && s.stmt.Kind() == sqlparse.LockTables {
			handled, err = s.lockOthers()
			return
		}
		var c *backend.Conn
		c, err = s.readsSequence()
		if handled = c != nil || err != nil; c == nil {
			return
		}
		s.used.group, s.used.strategy = c.Group, metrics.Relay
		s.used.summary, err = s.copyResults(c, s.stmt.SQL())
		s.done(c, err)
		if err != nil {
			err = txn.Lost(c, err)
			return
		}
		s.diagnostics.RowCount, s.foundRows = -1, s.used.summary.Rows
	})
	return handled, err
}

// readsSequence returns a connection to the server of the sequences that the query at hand reads, nil if it reads none.
func (s *Session) readsSequence() (c *backend.Conn, err error) {
	const others = sqlparse.Sequence | sqlparse.IntoFile | sqlparse.WritesUserVariable | sqlparse.UserLock | substitutable
	if !s.cfg.Dialect.MariaDB() || s.stmt.Kind() != sqlparse.Select || s.stmt.Uses()&others != 0 || s.stmt.NumParams() > 0 {
		return nil, nil
	}
	refs, sure := s.stmt.Tables()
	if !sure || len(refs) == 0 || len(refs) > maxSequencesRead {
		return nil, nil
	}
	for i := range refs {
		if refs[i].DB == "" {
			refs[i].DB = s.db
		}
		if db := refs[i].DB; db == "" || isSystemDB(db) || s.check(db, refs[i].Name, catalog.MaySelect) != nil {
			return nil, nil
		}
	}
	if c, err = s.autocommitting(s.sequenceGroup()); err != nil { // it is not read in a transaction
		return nil, err
	}
	all, err := s.allSequences(c, refs)
	if all && !s.callsOthers() {
		return c, nil
	}
	if s.done(c, err); all {
		return nil, sqlerr.Unsupported("stored functions in a query that reads a sequence", "call them in a query of their own")
	}
	if err != nil {
		err = txn.Lost(c, err)
	}
	return nil, err
}

// maxSequencesRead bounds what one query may read of sequences: each name is asked for.
const maxSequencesRead = 1000

// allSequences reports whether tables of a query are sequences, all that are there; an error, if some are beside others.
func (s *Session) allSequences(c *backend.Conn, refs []sqlparse.TableRef) (bool, error) {
	var sequence, other bool
	for i := range refs {
		if s.snap.Table(refs[i].DB, refs[i].Name) != nil {
			other = true
			continue
		}
		is, err := s.tableType(c, refs[i].DB, refs[i].Name)
		if err != nil {
			return false, err
		}
		sequence = sequence || is == "SEQUENCE"
		other = other || is != "SEQUENCE" && is != ""
	}
	if sequence && other {
		return false, sqlerr.Unsupported("a query that reads a sequence beside tables", "read the sequence in a query of its own")
	}
	return sequence, nil
}

// callsOthers reports whether the statement at hand calls functions that are not the servers' own: what those read may be elsewhere, and not
// for the session to read.
func (s *Session) callsOthers() bool {
	return slices.ContainsFunc(routine.Calls(s.stmt), func(n routine.Name) bool { return n.DB != "" || !function.Known(n.Name) })
}

// isSequence asks the server that has the sequences.
func (s *Session) isSequence(c *backend.Conn, db, name string) (bool, error) {
	is, err := s.tableType(c, db, name)
	return is == "SEQUENCE", err
}

// tableType asks a server what stands under a name, as information_schema calls it; "" if nothing does.
func (s *Session) tableType(c *backend.Conn, db, name string) (string, error) {
	_, rows, err := c.QueryAll("SELECT table_type FROM information_schema.tables WHERE table_schema = "+s.quoted(db)+
		" AND table_name = "+s.quoted(name)+" LIMIT 1", 1)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return string(rows[0][0]), nil
}

// lockOthers runs a LOCK TABLES that names sequences, as dumps do, without them: nobody has to wait for a sequence.
func (s *Session) lockOthers() (handled bool, err error) {
	refs, _ := s.stmt.Tables()
	c, err := s.Get(s.sequenceGroup())
	if err != nil {
		return true, err
	}
	var items [][]byte
	for i, r := range refs {
		db := cmp.Or(r.DB, s.db)
		is, err := s.isSequence(c, db, r.Name)
		if err != nil {
			s.done(c, err)
			return true, txn.Lost(c, err)
		}
		end := len(s.stmt.SQL())
		if i+1 < len(refs) {
			end = refs[i+1].Span.Start
		}
		item := bytes.TrimRight(s.stmt.SQL()[r.Span.Start:end], ", \t\r\n;")
		if is {
			handled = true
			need := catalog.MaySelect | catalog.MayLockTables
			if err := s.check(db, r.Name, need); err != nil {
				s.done(c, nil)
				return true, err
			}
			continue
		}
		items = append(items, item)
	}
	s.done(c, nil)
	if !handled {
		return false, nil
	}
	if len(items) == 0 {
		if err := s.commitImplicit(); err != nil {
			return true, err
		}
		if err := s.unlock(); err != nil {
			return true, err
		}
		return true, s.ok(wire.OK{})
	}
	text := append([]byte("LOCK TABLES "), bytes.Join(items, []byte(", "))...)
	st := s.cfg.Dialect.NewStatement()
	defer st.Done()
	if err := st.Scan(text, s.Mode); err != nil {
		return true, err
	}
	_, err = s.runInside(st, nil)
	return true, err
}
