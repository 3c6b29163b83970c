package ddl

import (
	"regexp"
	"slices"
	"strings"
)

// HasMode reports whether a mode is among those of an sql_mode.
func HasMode(modes, mode string) bool {
	return slices.ContainsFunc(strings.Split(modes, ","), func(m string) bool {
		return strings.EqualFold(strings.TrimSpace(m), mode)
	})
}

// optionWord is a word of a comment that speaks to Skarv. Names in its value may be quoted, and have anything in them then.
var optionWord = regexp.MustCompile("(?:^|[ ;\n\t])skarv:((?:`(?:[^`]|``)*`|[^ ;\n\t])*)")

// Option looks for skarv:NAME or skarv:NAME=VALUE in the comment of a table or database.
func Option(comment, name string) (value string, ok bool) {
	for _, m := range optionWord.FindAllStringSubmatch(comment, -1) {
		if word, value, _ := strings.Cut(m[1], "="); word == name {
			return value, true
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
