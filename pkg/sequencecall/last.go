package sequencecall

import (
	"slices"

	"skarv/pkg/sqlerr"
)

// Last is the last values that a session was given, which LASTVAL() tells: the session's, whatever connections it has. The zero value is that of a
// session that has asked for none.
type Last struct {
	values map[Name]string // "": nobody knows. One without a name stands for all that are forgotten
}

// maxLast bounds what a session remembers of sequences.
const maxLast = 1000

// Given notes a value. When there are too many sequences the others are forgotten.
func (l *Last) Given(of Name, literal string) {
	if _, known := l.values[of]; l.values == nil || !known && len(l.values) >= maxLast {
		full := l.values != nil
		l.values = map[Name]string{}
		if full {
			l.values[Name{}] = ""
		}
	}
	l.values[of] = literal
}

// Lost notes that nobody knows any more which value was given last, if one was.
func (l *Last) Lost(of Name) {
	if _, ok := l.values[of]; ok {
		l.values[of] = ""
	}
}

// Made notes that there is a new sequence under a name.
func (l *Last) Made(of Name) { delete(l.values, of) }

// Of returns the last value of a sequence, NULL if the session has asked for none; known is false if one was given that is not known.
func (l *Last) Of(name Name) (literal string, known bool) {
	literal, given := l.values[name]
	if !given {
		literal, given = l.values[Name{}]
	}
	if !given {
		return "NULL", true
	}
	return literal, literal != ""
}

// Failed notes that calls have failed. Of what fails before any value is asked for, a server's last values stay. Of several sequences it is not known
// which one has run out, nor behind another error which ones have given a value.
func (l *Last) Failed(calls []Call, err error) {
	if sqlerr.HasCode(err, sqlerr.ParseError, sqlerr.AccessDeniedDB, sqlerr.UnknownDatabase, sqlerr.UnknownColumn, sqlerr.NoSuchTable,
		1142, // ER_TABLEACCESS_DENIED_ERROR
		1205, // ER_LOCK_WAIT_TIMEOUT: tables are opened and locked before values are computed
		1213, // ER_LOCK_DEADLOCK
		4089, // ER_NOT_SEQUENCE
		4091, // ER_UNKNOWN_SEQUENCES
	) {
		return
	}
	value := ""
	if sqlerr.HasCode(err, sqlerr.SequenceRunOut) && !slices.ContainsFunc(calls, func(c Call) bool { return c.Of != calls[0].Of }) {
		value = "NULL"
	}
	for i := range calls {
		if calls[i].Function == "NEXTVAL" {
			l.Given(calls[i].Of, value)
		}
	}
}
