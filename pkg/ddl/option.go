package ddl

import (
	"slices"
	"strings"
)

// HasMode reports whether a mode is among those of an sql_mode.
func HasMode(modes, mode string) bool {
	return slices.ContainsFunc(strings.Split(modes, ","), func(m string) bool {
		return strings.EqualFold(strings.TrimSpace(m), mode)
	})
}

// Option looks for skarv:NAME or skarv:NAME=VALUE in the comment of a table or database.
func Option(comment, name string) (value string, ok bool) {
	for _, f := range strings.FieldsFunc(comment, func(r rune) bool { return r == ' ' || r == ';' || r == '\n' || r == '\t' }) {
		rest, found := strings.CutPrefix(f, "skarv:"+name)
		if !found {
			continue
		}
		if rest == "" {
			return "", true
		}
		if v, found := strings.CutPrefix(rest, "="); found {
			return v, true
		}
	}
	return "", false
}

// VersionNumber turns "10.11.6-MariaDB" into 101106, as executable comments count.
func VersionNumber(v string) int {
	var n [3]int
	for i, part := range strings.SplitN(strings.TrimPrefix(v, "5.5.5-"), ".", 3) {
		for _, c := range part {
			if c < '0' || c > '9' {
				break
			}
			n[i] = n[i]*10 + int(c-'0')
		}
	}
	return n[0]*10000 + n[1]*100 + n[2]
}
