package session

import (
	"math"
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/txn"
)

// ddlUnderLocks judges a schema change while tables are locked as a server does: tables that are locked for writing may be changed, and no
// others. The controller's own connections make the change, so the locks are given back for it; relock, which is never nil without an error,
// takes them again when it is done. When a locked table is gone then, or has another name, nothing is locked any more.
func (s *Session) ddlUnderLocks(p *plan.Plan) (relock func(), err error) {
	if s.locks == nil && !s.locked.suspended {
		return func() {}, nil
	}
	if s.snap.Flavor == catalog.MariaDB {
		switch p.Change.Object {
		case plan.ObjectView, plan.ObjectProcedure, plan.ObjectFunction, plan.ObjectEvent:
			return nil, sqlerr.LockOrTransaction.New()
		}
	}
	switch c := p.Change; {
	case c.Verb == plan.VerbRename:
		if s.snap.Flavor == catalog.MySQL {
			return nil, sqlerr.Unsupported("RENAME TABLE under LOCK TABLES", "UNLOCK TABLES first")
		}
		return nil, sqlerr.LockOrTransaction.New()
	case c.Object == plan.ObjectDatabase:
		return nil, sqlerr.LockOrTransaction.New()
	case c.Object == plan.ObjectTable, c.Object == plan.ObjectIndex, c.Object == plan.ObjectTrigger && s.snap.Flavor == catalog.MariaDB:
	case c.Object == plan.ObjectSequence:
		return nil, sqlerr.Unsupported("making, changing or dropping sequences under LOCK TABLES", "UNLOCK TABLES first")
	default:
		return func() {}, s.unlock()
	}
	if s.locked.suspended {
		if err := s.resume(); err != nil {
			return nil, err
		}
	}
	refs, _ := s.stmt.Tables()
	switch {
	case p.Change.Is(plan.VerbDrop, plan.ObjectTrigger):
		refs = s.tableOfTrigger(p.Database, p.Name)
	case p.Change.Verb != plan.VerbDrop:
		refs = refs[:min(len(refs), 1)] // others are only read
	}
	for _, r := range refs {
		if err := s.lockedForWriting(r); err != nil {
			return nil, err
		}
	}
	locked := tableLocks{sql: s.locked.sql, groups: s.locked.groups}
	if err := s.unlock(); err != nil {
		return nil, err
	}
	return func() {
		s.locked = locked
		err := s.takeLocks() // its error is no fault of the change, which is made
		if err != nil && !sqlerr.HasCode(err, sqlerr.NoSuchTable, sqlerr.ViewInvalid) {
			s.locked, s.locked.suspended = locked, true // for the next statement to take them, or to tell the client
		}
	}, nil
}

// tableOfTrigger finds the table that has a trigger; there is none if no table has.
func (s *Session) tableOfTrigger(db, name string) []sqlparse.TableRef {
	if d := s.snap.Databases[db]; d != nil {
		for _, t := range d.Tables {
			if slices.ContainsFunc(t.Triggers, func(tr catalog.Trigger) bool { return strings.EqualFold(tr.Name, name) }) {
				return []sqlparse.TableRef{{DB: t.Database, Name: t.Name}}
			}
		}
	}
	return nil
}

// lockedForWriting returns a server's error if a table may not be written under the session's locks: a server knows what is locked, how
// and by which name.
func (s *Session) lockedForWriting(r sqlparse.TableRef) error {
	t, name := s.tableOf(r)
	if t == nil || t.Kind == catalog.View {
		return sqlerr.TableNotLocked.New(name)
	}
	c := s.locks[s.locked.groups[0]]
	if _, _, err := c.QueryAll("EXPLAIN DELETE FROM "+t.SQL()+" WHERE FALSE", math.MaxInt); err != nil {
		return txn.Lost(c, err)
	}
	return nil
}
