package session

import (
	"math"

	"skarv/pkg/plan"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
)

// notCounted is what FOUND_ROWS() is where only one server knows: behind a query that was cut short on its way here, where a server would have
// gone on, and behind statements that read rows for something else than to send them.
const notCounted = math.MaxUint64

// noteFound notes what FOUND_ROWS() is behind a statement that is no query; before is what it was. What a server reads for a write
// or an assignment counts, by its own rules.
func (s *Session) noteFound(p *plan.Plan, before uint64, err error) {
	switch {
	case err != nil && p.Kind == plan.Select && sqlerr.HasCode(err, sqlerr.TooManyRows), err == nil && p.Finds:
		s.foundRows = notCounted
	case err != nil:
	case p.Kind == plan.Select && s.diagnostics.RowCount >= 0: // INTO
		refs, sure := s.stmt.Tables()
		s.foundRows = uint64(s.diagnostics.RowCount)
		if s.stmt.Uses()&sqlparse.CalcFoundRows != 0 || p.Skips != nil || p.FindsAll || s.cfg.Dialect.MariaDB() && (len(refs) == 0 || !sure) {
			s.foundRows = notCounted
		}
	case p.Kind == plan.TableAdmin, p.Kind == plan.Insert, p.Kind == plan.Replace, p.Kind == plan.Delete: // what RETURNING returns was not looked for
		s.foundRows = before
	case p.Kind == plan.Explain:
		if s.foundRows = before; s.cfg.Dialect.MariaDB() {
			s.foundRows = notCounted
		}
	}
}
