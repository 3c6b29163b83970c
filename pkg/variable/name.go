// Package variable is the session variables: which ones a SET assigns, by whom they may be assigned, what their values mean for the way of
// statements, and what they are as SQL. Servers check values and compute them, a backend.State keeps them, and neither of them, nor the session
// that has the variables, is known here. The few that servers do not know, or hear other values of, are kept here: Own and Untold.
package variable

import "strings"

const (
	// Timestamp is in a state once the client has fixed the clock, with the value DEFAULT when it goes again.
	Timestamp = "@@session.`timestamp`"
	// Results names the character set in which servers answer.
	Results = "character_set_results"
)

// Isolation are the session variables behind SET SESSION TRANSACTION.
func Isolation(mariadb bool) []string {
	if mariadb {
		return []string{"tx_isolation", "tx_read_only"}
	}
	return []string{"transaction_isolation", "transaction_read_only"}
}

// OfTransactions reports whether name is a variable that says how transactions begin, by any of its names.
func OfTransactions(name string) bool {
	switch name {
	case "tx_isolation", "tx_read_only", "transaction_isolation", "transaction_read_only":
		return true
	}
	return false
}

// IsolationLevel is the level that a SET TRANSACTION, in upper case, names; "": none.
func IsolationLevel(upper string) string {
	words := strings.Join(strings.Fields(upper), " ")
	for _, level := range []string{"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
		if strings.Contains(words, level) {
			return level
		}
	}
	return ""
}

// UserName returns the name in @name, @`name` or @'name'.
func UserName(text []byte) string {
	t := strings.TrimPrefix(string(text), "@")
	if len(t) >= 2 && (t[0] == '`' || t[0] == '\'' || t[0] == '"') {
		q := t[:1]
		t = strings.ReplaceAll(t[1:len(t)-1], q+q, q)
	}
	return strings.ToLower(t)
}

// OwnCollation is collation_connection of a session that sets none.
func OwnCollation(mariadb bool) string {
	if mariadb {
		return "utf8mb4_general_ci"
	}
	return "utf8mb4_0900_ai_ci"
}

// FoldASCII is the name of a variable in lower case: servers take other letters for what they are.
func FoldASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
