package routine

import (
	"encoding/hex"
	"regexp"
	"strings"
)

// A trigger that sessions run is on the servers, too, so that they name it, order it, show it and drop it with its table.
// There its body does nothing, and carries the one that the client wrote.

// InertPattern is what the bodies of such triggers are LIKE.
const InertPattern = "IF 0 THEN DO x''%"

// Inert is the body that servers have in place of body, of a trigger that runs as definer.
func Inert(body, definer string) string {
	return "IF 0 THEN DO x'" + hex.EncodeToString([]byte(body)) + "', x'" + hex.EncodeToString([]byte(definer)) + "'; END IF"
}

var inertBody = regexp.MustCompile(`IF 0 THEN DO x'([0-9a-f]+)', x'([0-9a-f]*)'; END IF$`)

// Live finds the body and the definer in a text that ends with what Inert returned. at is where that begins, or -1.
func Live(text string) (at int, body, definer string) {
	m := inertBody.FindStringSubmatchIndex(text)
	if m == nil {
		return -1, "", ""
	}
	b, err1 := hex.DecodeString(text[m[2]:m[3]])
	d, err2 := hex.DecodeString(text[m[4]:m[5]])
	if err1 != nil || err2 != nil {
		return -1, "", ""
	}
	return m[0], string(b), string(d)
}

// LiveText is text with the body that the client wrote.
func LiveText(text string) string {
	if at, body, _ := Live(text); at >= 0 {
		return text[:at] + body
	}
	return text
}

// LiveColumn is the SQL expression for the body that the client wrote in a column of bodies.
func LiveColumn(column string) string {
	return "CASE WHEN " + column + " LIKE '" + InertPattern + "' THEN CONVERT(UNHEX(SUBSTRING_INDEX(SUBSTRING_INDEX(" + column +
		", '''', 2), '''', -1)) USING utf8mb4) ELSE " + column + " END"
}

// TriggerBody is the statement behind FOR EACH ROW as the client wrote it.
func (p *Program) TriggerBody() string {
	body := strings.TrimRight(string(p.st.SQL()[p.BodyAt:]), " \t\r\n")
	return strings.TrimRight(strings.TrimSuffix(body, ";"), " \t\r\n")
}
