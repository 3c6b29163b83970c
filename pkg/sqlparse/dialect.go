package sqlparse

import (
	"hash/maphash"
	"strings"
)

// Mode is the part of sql_mode that changes how text is read.
type Mode uint8

// The bits of Mode.
const (
	ANSIQuotes         Mode = 1 << iota // "x" is a name
	NoBackslashEscapes                  // \ is an ordinary character in strings
	IgnoreSpace                         // COUNT (*) is a call
	PipesAsConcat                       // a || b concatenates
	HighNotPrecedence                   // NOT binds like !; such text gets no syntax tree
	Oracle                              // BEGIN opens a block, ROWNUM is a function; text with that gets no syntax tree
	EmptyStringIsNull                   // '' is NULL
)

// ParseMode picks from sql_mode what changes how text is read.
func ParseMode(sqlMode string) Mode {
	var m Mode
	for _, name := range strings.Split(strings.ToUpper(sqlMode), ",") {
		switch name {
		case "ANSI_QUOTES":
			m |= ANSIQuotes
		case "NO_BACKSLASH_ESCAPES":
			m |= NoBackslashEscapes
		case "IGNORE_SPACE":
			m |= IgnoreSpace
		case "PIPES_AS_CONCAT":
			m |= PipesAsConcat
		case "HIGH_NOT_PRECEDENCE":
			m |= HighNotPrecedence
		case "ORACLE":
			m |= Oracle
		case "EMPTY_STRING_IS_NULL":
			m |= EmptyStringIsNull
		}
	}
	return m
}

// Dialect is what decides how text is read apart from sql_mode: the kind and version of the backends. It also
// holds the seed of fingerprints: those of two Dialects are not comparable. Make one for a process and share it;
// it is immutable.
type Dialect struct {
	mariadb bool
	version int // as in executable comments: 80040, 101106
	seeds   [2]maphash.Seed
	words   [wordSlots]wordEntry
}

// NewDialect returns the dialect of servers of the given kind and version ("8.4.6", "10.11.11-MariaDB-..."; a
// "5.5.5-" before a MariaDB version is skipped). A version that cannot be read counts as 8.0.40 or 10.11.0.
func NewDialect(mariadb bool, version string) *Dialect {
	d := &Dialect{
		mariadb: mariadb,
		version: commentVersion(mariadb, version),
		seeds:   [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
	}
	d.fillWords()
	return d
}

// MariaDB reports whether the dialect is MariaDB's.
func (d *Dialect) MariaDB() bool { return d.mariadb }

// NewStatement returns a Statement for reuse by one goroutine.
func (d *Dialect) NewStatement() *Statement {
	return &Statement{dialect: d}
}

// commentVersion turns "10.11.6-MariaDB" into 101106.
func commentVersion(mariadb bool, version string) int {
	fallback := 80040
	if mariadb {
		fallback = 101100
		if len(version) > 6 && version[:6] == "5.5.5-" {
			version = version[6:]
		}
	}
	var parts [3]int
	n := 0
	digits := false
	for i := 0; i < len(version) && n < 3; i++ {
		switch c := version[i]; {
		case c >= '0' && c <= '9' && parts[n] < 1000:
			parts[n] = parts[n]*10 + int(c-'0')
			digits = true
		case c == '.' && digits:
			n++
			digits = false
		default:
			i = len(version)
		}
	}
	v := parts[0]*10000 + parts[1]*100 + parts[2]
	if v < 30000 || v > 999999 {
		return fallback
	}
	return v
}

// Reserved reports whether a word is a keyword on every server, so that no name can be written so without quotes.
func (d *Dialect) Reserved(word []byte) bool {
	w := d.lookup(word)
	return w != nil && w.flags&wordReserved != 0
}
