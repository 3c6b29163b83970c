package wire

// SessionChangeType says what a SessionChange is about.
type SessionChangeType byte

// The kinds of session changes servers report.
const (
	ChangeVariable         SessionChangeType = 0 // name and value, see Variable
	ChangeSchema           SessionChangeType = 1 // the new default database
	ChangeAnything         SessionChangeType = 2 // "1": something in the session changed
	ChangeGTIDs            SessionChangeType = 3
	ChangeTransactionStart SessionChangeType = 4 // statements that start the same transaction again
	ChangeTransactionState SessionChangeType = 5 // eight letters, see the server's documentation
)

// SessionChange is one entry of OK.SessionState.
type SessionChange struct {
	Type SessionChangeType
	Data []byte // still encoded; see Text and Variable
}

// NextSessionChange reads the first entry of an OK packet's SessionState and returns what follows it.
func NextSessionChange(state []byte) (change SessionChange, rest []byte, err error) {
	c := cursor{b: state}
	change.Type = SessionChangeType(c.uint8())
	change.Data = c.lenencString()
	if c.bad {
		return SessionChange{}, nil, malformed("session state")
	}
	return change, c.rest(), nil
}

// Text is the one string that entries other than ChangeVariable consist of; nil if there is none.
func (s SessionChange) Text() []byte {
	data := s.Data
	if s.Type == ChangeAnything { // the one without a length of its own
		return data
	}
	if s.Type == ChangeGTIDs && len(data) > 0 {
		data = data[1:] // the encoding of the set, always 0
	}
	text, _ := LenencString(data)
	return text
}

// Variable reads the first variable of a ChangeVariable entry and returns what follows it: MariaDB puts several into one. name is
// nil at the end, and for an entry that is damaged or of another type.
func (s SessionChange) Variable() (name, value []byte, rest SessionChange) {
	if s.Type != ChangeVariable || len(s.Data) == 0 {
		return nil, nil, SessionChange{}
	}
	c := cursor{b: s.Data}
	name, value = c.lenencString(), c.lenencString()
	if c.bad {
		return nil, nil, SessionChange{}
	}
	return name, value, SessionChange{Type: s.Type, Data: c.rest()}
}

// AppendSessionVariable appends the entry that reports name's new value.
func AppendSessionVariable(dst []byte, name, value string) []byte {
	n := lenencLen(len(name)) + len(name) + lenencLen(len(value)) + len(value)
	dst = AppendLenencInt(append(dst, byte(ChangeVariable)), uint64(n))
	return AppendLenencString(AppendLenencString(dst, name), value)
}

// AppendSessionText appends an entry that consists of one string, such as the new default database.
func AppendSessionText(dst []byte, t SessionChangeType, text string) []byte {
	n := lenencLen(len(text)) + len(text)
	dst = append(dst, byte(t))
	if t == ChangeAnything {
		return AppendLenencString(dst, text)
	}
	if t == ChangeGTIDs {
		dst = append(AppendLenencInt(dst, uint64(n+1)), 0)
	} else {
		dst = AppendLenencInt(dst, uint64(n))
	}
	return AppendLenencString(dst, text)
}

// lenencLen is how many bytes n takes as a length-encoded integer.
func lenencLen(n int) int {
	switch {
	case n < 0xfb:
		return 1
	case n < 1<<16:
		return 3
	case n < 1<<24:
		return 4
	default:
		return 9
	}
}
