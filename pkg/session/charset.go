package session

import "skarv/pkg/backend"

// charsetOf returns the variables that give a connection the character set a client asked for in its handshake, by
// collation number. None means the default of the backend connections, utf8mb4_general_ci. Numbers a server of that
// kind does not know mean its default too, as on the server.
func charsetOf(mariadb bool, collation uint16) []backend.Variable {
	var charset, name string
	switch collation {
	case 8:
		charset, name = "latin1", "latin1_swedish_ci"
	case 11:
		charset, name = "ascii", "ascii_general_ci"
	case 33:
		charset, name = "utf8mb3", "utf8mb3_general_ci"
	case 83:
		charset, name = "utf8mb3", "utf8mb3_bin"
	case 192:
		charset, name = "utf8mb3", "utf8mb3_unicode_ci"
	case 46:
		charset, name = "utf8mb4", "utf8mb4_bin"
	case 47:
		charset, name = "latin1", "latin1_bin"
	case 48:
		charset, name = "latin1", "latin1_general_ci"
	case 63:
		charset, name = "binary", "binary"
	case 224:
		charset, name = "utf8mb4", "utf8mb4_unicode_ci"
	case 246:
		charset, name = "utf8mb4", "utf8mb4_unicode_520_ci"
	case 255:
		if mariadb {
			return nil
		}
		charset, name = "utf8mb4", "utf8mb4_0900_ai_ci"
	default:
		return nil
	}
	quoted := "'" + charset + "'"
	return []backend.Variable{
		{Name: "@@session.`character_set_client`", Value: quoted},
		{Name: "@@session.`character_set_results`", Value: quoted},
		{Name: "@@session.`collation_connection`", Value: "'" + name + "'"},
	}
}
