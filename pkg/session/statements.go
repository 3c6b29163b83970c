package session

import (
	"skarv/pkg/backend"
	"skarv/pkg/sqlerr"
)

// statements are those that a session has prepared, and what it keeps for them. The zero statements is none.
type statements struct {
	byID    map[uint32]*prepared // COM_STMT_PREPARE
	byName  map[string]*prepared // PREPARE name FROM ..., by name in lower case
	lastID  uint32
	last    *prepared // the last one of byID, until it is closed or COM_STMT_PREPARE fails
	bytes   int       // of their texts and of what COM_STMT_SEND_LONG_DATA brought
	cursors int       // open ones
}

// maxStatements bounds a session's prepared statements where Config does not.
const maxStatements = 16_382

// maxKept bounds the bytes a session keeps of prepared statements and COM_STMT_SEND_LONG_DATA.
const maxKept = 256 << 20

// admit returns an error if there is no place for one more statement, of limit, with a text of n bytes.
func (l *statements) admit(n, limit int) error {
	if limit <= 0 {
		limit = maxStatements
	}
	if len(l.byID)+len(l.byName) >= limit {
		return sqlerr.TooManyStatements.New(limit)
	}
	if l.bytes+n > maxKept {
		return sqlerr.Unsupported("more than 256 MB of prepared statements and long data in one session", "close what is not needed")
	}
	return nil
}

// add keeps st, and gives it its id.
func (l *statements) add(st *prepared) {
	if l.byID == nil {
		l.byID = map[uint32]*prepared{}
	}
	l.lastID++
	st.id = l.lastID
	l.byID[st.id] = st
	l.last = st
	l.bytes += len(st.sql)
}

// remove is the end of st, which add has kept and which has no cursor.
func (l *statements) remove(st *prepared) {
	l.dropLong(st)
	l.bytes -= len(st.sql)
	st.stmt.Done()
	delete(l.byID, st.id)
	if l.last == st {
		l.last = nil
	}
}

// addNamed keeps st as what PREPARE called it. There is none of that name.
func (l *statements) addNamed(name string, st *prepared) {
	if l.byName == nil {
		l.byName = map[string]*prepared{}
	}
	l.byName[name] = st
	l.bytes += len(st.sql)
}

// removeNamed is the end of the statement that PREPARE called so, if there is one.
func (l *statements) removeNamed(name string) {
	if st := l.byName[name]; st != nil {
		l.bytes -= len(st.sql)
		st.stmt.Done()
		delete(l.byName, name)
	}
}

// addLong keeps a further piece of parameter i of st, unless it is too much: then st is tooLong.
func (l *statements) addLong(st *prepared, i int, data []byte) {
	if st.long == nil {
		st.long = make([][]byte, st.params)
	}
	if st.tooLong = st.tooLong || l.bytes+len(data) > maxKept; st.tooLong {
		return
	}
	st.longest += len(data)
	l.bytes += len(data)
	if st.long[i] == nil {
		st.long[i] = []byte{}
	}
	st.long[i] = append(st.long[i], data...)
}

// dropLong forgets what addLong has kept for st.
func (l *statements) dropLong(st *prepared) {
	l.bytes -= st.longest
	st.long, st.longest, st.tooLong = nil, 0, false
}

// hasCursor reports whether a cursor is open on c.
func (l *statements) hasCursor(c *backend.Conn) bool {
	for _, st := range l.byID {
		if st.cursor != nil && st.cursor.conn == c {
			return true
		}
	}
	return false
}
