package session

import (
	"skarv/pkg/backend"
	"skarv/pkg/txn"
	"skarv/pkg/variable"
)

// askCharset asks a server for a character set and a collation, nil if it knows of none. The session must have a state.
func (s *Session) askCharset(query string) ([]backend.Variable, error) {
	c, err := s.Get(s.anyGroup())
	if err != nil {
		return nil, err
	}
	_, rows, err := c.QueryAll(query, 1)
	s.done(c, err)
	if err != nil {
		return nil, txn.Lost(c, err)
	}
	if len(rows) != 1 || rows[0][0] == nil || rows[0][1] == nil {
		return nil, nil
	}
	return variable.CharsetVariables(string(rows[0][0]), string(rows[0][1])), nil
}
