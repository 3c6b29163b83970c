package workspace

import (
	"strings"

	"skarv/pkg/catalog"
)

// Storing returns what stands around the text of an INSERT that begins with its first word, so that it stores what
// AppendValue wrote, whatever the session's settings, and looks at no foreign keys.
func Storing(flavor catalog.Flavor, insert string) string {
	verb, rest, _ := strings.Cut(insert, " ")
	if flavor == catalog.MySQL {
		return verb + " /*+ SET_VAR(sql_mode = 'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO') SET_VAR(time_zone = '+00:00') SET_VAR(foreign_key_checks = 0) */ " + rest
	}
	return "SET STATEMENT " + writingMode + ", time_zone = _utf8mb4'+00:00', foreign_key_checks = 0 FOR " + insert
}
