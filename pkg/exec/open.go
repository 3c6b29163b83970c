package exec

import (
	"skarv/pkg/sqlerr"
	"skarv/pkg/wire"
)

// A parameter is no literal: servers derive its type from where it stands, compare and convert it by that, find constants
// in the statement without it, and say other errors about it. So what a group gets of a prepared statement is executed there as a
// prepared statement, with those of the client's parameters that its text has.

// command makes the command for a stream, in r.body.
func (r *Runner) command(s *stream, text textOf) (wire.Command, error) {
	if r.open == nil || r.open.wire == nil && !r.open.Binary {
		return wire.ComQuery, r.makeText(s, text)
	}
	r.which = r.which[:0]
	r.open.Open(&r.which)
	err := r.makeText(s, text)
	r.open.Open(nil)
	if err != nil {
		return 0, err
	}
	if s.binary = len(r.which) > 0 || r.open.Binary; !s.binary {
		return wire.ComQuery, nil
	}
	if r.open.Using != nil {
		s.binary = false
		r.body = r.open.AppendImmediate(nil, r.body, r.which)
		return wire.ComQuery, nil
	}
	r.types = r.types[:0]
	if !r.open.st.Dialect().MariaDB() {
		r.types = r.open.wire.AppendTypes(r.types, r.which)
	}
	id, err := s.conn.Prepared(r.body, r.types, r.Revision)
	switch {
	case sqlerr.HasCode(err, sqlerr.NotPreparable, sqlerr.NotGrouped):
		// A group's text may have an expression twice, whose parameters are the same ones; the server does not know that they are.
		s.binary = false
		return wire.ComQuery, r.makeText(s, text)
	case err != nil:
		return 0, s.failed(err)
	}
	s.texts.Exact = r.open.Binary
	r.body = r.open.wire.AppendExecute(r.body[:0], id, r.which)
	return wire.ComStmtExecute, nil
}

// makeText makes the SQL for a stream's group, in r.body.
func (r *Runner) makeText(s *stream, text textOf) error {
	r.body = text(r.body[:0], s.group)
	if r.hidden == nil {
		return nil
	}
	body, err := r.hide(r.body, r.hidden, s.group)
	if err != nil {
		return err
	}
	r.body = body
	return nil
}
