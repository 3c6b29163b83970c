package session

import (
	"context"
	"time"

	"skarv/pkg/plan"
	"skarv/pkg/wire"
)

// ddlTimeout bounds how long a client waits for a schema change; the controller finishes it all the same.
const ddlTimeout = 10 * time.Minute

// ddl hands a schema change to the controller. It commits an open transaction, as on one server.
func (s *Session) ddl(p *plan.Plan) error {
	if err := s.commitImplicit(); err != nil {
		return err
	}
	if p.Topic == "alter table" && s.togglesKeys() {
		return s.ok(wire.OK{}) // ALTER TABLE ... DISABLE KEYS does nothing for InnoDB
	}
	s.unlock()
	ctx, cancel := context.WithTimeout(context.Background(), ddlTimeout)
	defer cancel()
	r, err := s.cfg.DDL.DDL(ctx, DDLRequest{Database: s.db, SQL: string(s.stmt.SQL()), SQLMode: s.sqlMode, User: s.user})
	if err != nil {
		return err
	}
	s.snap = s.cfg.Snapshot()
	s.warnings = s.warnings[:0]
	return s.ok(wire.OK{AffectedRows: r.Affected, Warnings: r.Warnings})
}

// togglesKeys recognises ALTER TABLE t DISABLE KEYS and ENABLE KEYS, which dumps are full of.
func (s *Session) togglesKeys() bool {
	tokens := s.stmt.Tokens()
	last, before := tokens.Next(), tokens.Next()
	n := 0
	for tok := tokens.Next(); tok.Kind != 0; tok = tokens.Next() {
		before, last = last, tok
		n++
	}
	return n <= 6 && s.stmt.Is(last, "KEYS") && (s.stmt.Is(before, "DISABLE") || s.stmt.Is(before, "ENABLE"))
}
