package variable

import (
	"strconv"

	"skarv/pkg/backend"
)

// OfCollation returns the variables that give a connection the character set a client asked for in its handshake, by
// collation number. None means what the backend connections have by themselves, which on MariaDB is utf8mb4_general_ci: MySQL's
// have the server's default from their first reset on. known is false for the numbers only a server can tell.
func OfCollation(mariadb bool, collation uint16) (vars []backend.Variable, known bool) {
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
	return CharsetVariables(charset, name), true
}

// CharsetVariables are those that SET NAMES charset COLLATE collation sets.
func CharsetVariables(charset, collation string) []backend.Variable {
	quoted := "'" + charset + "'"
	return []backend.Variable{
		{Name: "@@session.`character_set_client`", Value: quoted},
		{Name: "@@session.`character_set_results`", Value: quoted},
		{Name: "@@session.`collation_connection`", Value: "'" + collation + "'"},
	}
}

// CollationNumbered is a query for the collation of a number that OfCollation does not know. Numbers the server does not know
// either mean its default, as on the server.
func CollationNumbered(collation uint16) string {
	return "SELECT character_set_name, collation_name FROM information_schema.collations WHERE id = " + strconv.Itoa(int(collation))
}

// GlobalCharset is a query for the server's own character set, which MySQL gives connections that are reset.
const GlobalCharset = "SELECT @@global.character_set_client, @@global.collation_connection"
