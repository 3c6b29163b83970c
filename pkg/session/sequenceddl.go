package session

// Sequences: what makes, changes and drops them, and views over them.

import (
	"bytes"
	"cmp"
	"strings"

	"skarv/pkg/backend"
	"skarv/pkg/catalog"
	"skarv/pkg/plan"
	"skarv/pkg/sequencecall"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqlparse"
	"skarv/pkg/txn"
	"skarv/pkg/wire"
)

// sequenceDDL makes, changes or drops sequences.
func (s *Session) sequenceDDL(p *plan.Plan) error {
	c, err := s.Get(s.sequenceGroup())
	if err != nil {
		return err
	}
	made, text, err := s.makesSequence(c, p)
	if err != nil {
		s.done(c, err)
		return txn.Lost(c, err)
	}
	s.client.Enter(c)
	_, err = c.Exec(string(text))
	s.client.Leave(c)
	if err == nil {
		s.diagnostics.Clear()
		if c.LastWarnings() > 0 {
			s.diagnostics.Conditions = s.appendWarnings(s.diagnostics.Conditions, c)
		}
	}
	switch {
	case made.Name == "":
	case err == nil:
		s.lastValues.Made(made)
	case !c.Usable():
		s.lastValues.Lost(made)
	}
	s.done(c, err)
	if err != nil {
		return txn.Lost(c, err)
	}
	return s.ok(wire.OK{Warnings: s.diagnostics.Warnings()})
}

// makesSequence returns the sequence that the statement at hand will make if it succeeds, none if it leaves one as it is, and the text to
// send. c is to the server that has the sequences: it replaces one under its own lock, and leaves it alone when it refuses the statement.
func (s *Session) makesSequence(c *backend.Conn, p *plan.Plan) (made sequencecall.Name, text []byte, err error) {
	text = s.args.AppendStatement(nil)
	replace := p.Change.OrReplace
	if p.Change.Verb != plan.VerbCreate {
		return made, text, nil
	}
	made = sequencecall.Name{DB: p.Database, Name: p.Name}
	if s.snap.LowerCaseTableNames != 0 {
		made.Name = strings.ToLower(made.Name)
	}
	var words [2]sqlparse.Span // OR REPLACE
	tokens := s.stmt.Tokens()
	for tok := tokens.Next(); tok.Kind != sqlparse.EOF && !s.stmt.Is(tok, "SEQUENCE"); tok = tokens.Next() {
		words[0], words[1] = words[1], tok.Span
	}
	ifNotExists := s.stmt.Is(tokens.Next(), "IF")
	if !replace && !ifNotExists {
		return made, text, nil
	}
	there, err := s.tableType(c, p.Database, p.Name)
	switch {
	case err != nil:
		return made, nil, err
	case ifNotExists: // beside OR REPLACE a server refuses it
		if there != "" {
			made = sequencecall.Name{}
		}
	case there == "": // somebody else may make a table meanwhile, which is not to be replaced
		for _, w := range words {
			copy(text[w.Start:w.End], bytes.Repeat([]byte(" "), w.End-w.Start))
		}
	case there != "SEQUENCE":
		return made, nil, sqlerr.Unsupported("CREATE OR REPLACE SEQUENCE in the place of a table", "drop the table first")
	}
	return made, text, nil
}

// viewOverSequence refuses a view that reads a sequence: each server would need one.
func (s *Session) viewOverSequence() error {
	if !s.cfg.Dialect.MariaDB() || s.stmt.Kind() == sqlparse.Drop {
		return nil
	}
	tokens := s.stmt.Tokens()
	tok := tokens.Next()
	for tok.Kind != sqlparse.EOF && !s.stmt.Is(tok, "AS") {
		tok = tokens.Next()
	}
	query := s.cfg.Dialect.NewStatement()
	defer query.Done()
	if err := query.Scan(s.stmt.SQL()[tok.End:], s.Mode); err != nil {
		return err
	}
	refs, _ := query.Tables()
	for _, r := range refs {
		db := cmp.Or(r.DB, s.db)
		if isSystemDB(db) || s.snap.Table(db, r.Name) != nil || s.check(db, r.Name, catalog.MaySelect) != nil {
			continue
		}
		c, err := s.Get(s.sequenceGroup())
		if err != nil {
			return err
		}
		is, err := s.isSequence(c, db, r.Name)
		s.done(c, err)
		if err != nil {
			return txn.Lost(c, err)
		}
		if is {
			return sqlerr.Unsupported("a view over a sequence", "read the sequence itself")
		}
	}
	return nil
}
