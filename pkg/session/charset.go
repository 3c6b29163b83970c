package session

import (
	"strconv"

	"skarv/pkg/backend"
	"skarv/pkg/txn"
)

// charsetOf returns the variables that give a connection the character set a client asked for in its handshake, by
// collation number. None means what the backend connections have by themselves, which on MariaDB is utf8mb4_general_ci: MySQL's
// have the server's default from their first reset on. known is false for the numbers only a server can tell.
func charsetOf(mariadb bool, collation uint16) (vars []backend.Variable, known bool) {
	var charset, name string
	if !mariadb && collation == 0 {
		collation = 255
	}
	switch collation {
	case 0, 45:
		if mariadb {
			return nil, true
		}
		charset, name = "utf8mb4", "utf8mb4_general_ci"
	case 8:
		charset, name = "latin1", "latin1_swedish_ci"
	case 11:
		charset, name = "ascii", "ascii_general_ci"
	case 33:
		charset, name = "utf8mb3", "utf8mb3_general_ci"
	case 46:
		charset, name = "utf8mb4", "utf8mb4_bin"
	case 63:
		charset, name = "binary", "binary"
	case 224:
		charset, name = "utf8mb4", "utf8mb4_unicode_ci"
	case 246:
		charset, name = "utf8mb4", "utf8mb4_unicode_520_ci"
	case 255:
		if mariadb {
			return nil, true
		}
		charset, name = "utf8mb4", "utf8mb4_0900_ai_ci"
	default:
		return nil, false
	}
	return charsetVariables(charset, name), true
}

func charsetVariables(charset, collation string) []backend.Variable {
	quoted := "'" + charset + "'"
	return []backend.Variable{
		{Name: "@@session.`character_set_client`", Value: quoted},
		{Name: "@@session.`character_set_results`", Value: quoted},
		{Name: "@@session.`collation_connection`", Value: "'" + collation + "'"},
	}
}

// collationNumbered is the query of askCharset for the collation of a number that charsetOf does not know. Numbers the server does not know
// either mean its default, as on the server.
func collationNumbered(collation uint16) string {
	return "SELECT character_set_name, collation_name FROM information_schema.collations WHERE id = " + strconv.Itoa(int(collation))
}

// globalCharset is the query of askCharset for the server's own character set, which MySQL gives connections that are reset.
const globalCharset = "SELECT @@global.character_set_client, @@global.collation_connection"

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
	return charsetVariables(string(rows[0][0]), string(rows[0][1])), nil
}
