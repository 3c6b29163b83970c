package session

import (
	"math"

	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/txn"
)

// ddlUnderLocks judges a schema change while tables are locked as a server does: tables that are locked for writing may be changed, and no
// others. The controller's own connections make the change, so the locks are given back for it; relock, which is never nil without an error,
// takes them again when it is done. When a locked table is gone then, or has another name, nothing is locked any more.
func (s *Session) ddlUnderLocks(p *plan.Plan) (relock func(), err error) {
	if s.locks == nil && !s.locked.suspended {
		return func() {}, nil
	}
	switch p.Topic {
	case "rename table":
		if s.snap.Flavor == catalog.MySQL {
			return nil, sqlerr.Unsupported("RENAME TABLE under LOCK TABLES", "UNLOCK TABLES first")
		}
		return nil, sqlerr.LockOrTransaction.New()
	case "create database", "alter database", "drop database":
		return nil, sqlerr.LockOrTransaction.New()
	case "create table", "create or replace table", "alter table", "truncate table", "drop table", "create index", "drop index":
	default:
		return func() {}, s.unlock()
	}
	if s.locked.suspended {
		if err := s.resume(); err != nil {
			return nil, err
		}
	}
	if p.Topic != "drop table" && s.snap.Table(p.Database, p.Name) == nil {
		return nil, sqlerr.TableNotLocked.New(p.Name)
	}
	for _, t := range p.Tables {
		if p.Topic != "drop table" && (t.Database != p.Database || t.Name != p.Name) {
			continue // only read
		}
		if err := s.lockedForWriting(t); err != nil {
			return nil, err
		}
	}
	locked := tableLocks{sql: s.locked.sql, groups: s.locked.groups}
	if err := s.unlock(); err != nil {
		return nil, err
	}
	return func() {
		s.locked = locked
		_ = s.takeLocks() // its error is no fault of the change, which is made
	}, nil
}

// lockedForWriting returns a server's error if t may not be written under the session's locks: a server knows what is locked, how and by
// which name.
func (s *Session) lockedForWriting(t *catalog.Table) error {
	if t.Kind == catalog.View {
		return sqlerr.TableNotLocked.New(t.Name)
	}
	c := s.locks[s.locked.groups[0]]
	if _, _, err := c.QueryAll("EXPLAIN DELETE FROM "+quoteName(t.Database)+"."+quoteName(t.Name)+" WHERE FALSE", math.MaxInt); err != nil {
		return txn.Lost(c, err)
	}
	return nil
}
