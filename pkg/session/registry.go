package session

import (
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"skarv/pkg/backend"
)

// Registry is the sessions of this process, for SHOW PROCESSLIST and KILL. Its methods may be called from any
// goroutine.
type Registry struct {
	began time.Time // where the sessions' clock begins

	mu       sync.Mutex
	sessions map[uint32]*Session
}

// NewRegistry returns an empty Registry.
func NewRegistry() *Registry { return &Registry{began: time.Now(), sessions: map[uint32]*Session{}} }

// clock is the time since the Registry was made: the monotonic clock alone, which costs half of time.Now.
func (r *Registry) clock() time.Duration { return time.Since(r.began) }

func (r *Registry) add(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions[s.conn.ID()] = s
}

func (r *Registry) remove(s *Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.sessions, s.conn.ID())
}

func (r *Registry) get(id uint32) *Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions[id]
}

// Process is one row of SHOW PROCESSLIST.
type Process struct {
	ID      uint32
	User    string
	Host    string
	DB      string
	Command string
	Since   time.Time
	SQL     string // at most mostText bytes: see boundTexts

	since time.Duration // on the Registry's clock
	// LockThread is its connection for GET_LOCK() on the server that has those locks; 0: none.
	LockThread uint32
}

// Processes returns what every session does now, in order of their ids.
func (r *Registry) Processes() []Process {
	r.mu.Lock()
	all := make([]*Session, 0, len(r.sessions))
	for _, s := range r.sessions {
		all = append(all, s)
	}
	r.mu.Unlock()
	list := make([]Process, len(all))
	left := allText
	for i, s := range all {
		list[i] = s.activity.process(min(mostText, activityText+left))
		left -= max(0, len(list[i].SQL)-activityText)
		list[i].ID, list[i].LockThread = s.conn.ID(), s.lockThread.Load()
		list[i].Since = r.began.Add(list[i].since)
	}
	slices.SortFunc(list, func(a, b Process) int { return int(int64(a.ID) - int64(b.ID)) })
	return list
}

// The process list shows a statement up to mostText bytes, but for activityText no more than allText of all statements.
const (
	activityText = 256
	mostText     = 64 << 10
	allText      = 1 << 20
)

// boundTexts cuts what the lists of several processes show too much of.
func boundTexts(list []Process) {
	left := allText
	for i := range list {
		p := &list[i]
		p.SQL = shownText([]byte(p.SQL), min(mostText, activityText+left))
		left -= max(0, len(p.SQL)-activityText)
	}
}

// activity is what a session does at the moment, written by it once per statement and read by others rarely.
type activity struct {
	mu      sync.Mutex // uncontended but for a reader of the process list
	user    string
	host    string
	db      string
	command string
	since   time.Duration // on the Registry's clock
	text    [activityText]byte
	n       int
	whole   []byte // a statement longer than text, where the session has it while it runs
}

// set says that the session does something. sql stays as it is until idle.
func (a *activity) set(command, db string, sql []byte, now time.Duration) {
	a.mu.Lock()
	a.command, a.db, a.since = command, db, now
	if a.n, a.whole = 0, nil; len(sql) > len(a.text) {
		a.whole = sql
	} else {
		a.n = copy(a.text[:], sql)
	}
	a.mu.Unlock()
}

func (a *activity) login(user, host string) {
	a.mu.Lock()
	a.user, a.host = user, host
	a.mu.Unlock()
}

// process is what the session does, with most bytes of the statement.
func (a *activity) process(most int) Process {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := a.text[:a.n]
	if a.whole != nil {
		text = a.whole
	}
	return Process{User: a.user, Host: a.host, DB: a.db, Command: a.command, since: a.since, SQL: shownText(text, most)}
}

// shownText is most bytes of a statement's text for other clients. Its own client may have written it in any character set, and it may be cut
// within a character.
func shownText(text []byte, most int) string {
	if len(text) > most {
		text = text[:most]
		for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
			if tail := text[len(text)-i:]; utf8.RuneStart(tail[0]) {
				if !utf8.FullRune(tail) {
					text = text[:len(text)-i]
				}
				break
			}
		}
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// idle says that the session waits for its client.
func (a *activity) idle(now time.Duration) {
	a.mu.Lock()
	a.command, a.since, a.n, a.whole = "Sleep", now, 0, nil
	a.mu.Unlock()
}

// Len is the number of sessions.
func (r *Registry) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sessions)
}

// Interrupt ends all sessions that still work for their clients, whatever step of a statement they are at.
func (r *Registry) Interrupt() {
	r.mu.Lock()
	all := make([]*Session, 0, len(r.sessions))
	for _, s := range r.sessions {
		all = append(all, s)
	}
	r.mu.Unlock()
	for _, s := range all {
		s.killed.Store(true) // before its connections break: what runs on them is not tried on others
		s.stopWaiting()
		s.running.all(func(conns []*backend.Conn) {
			for _, c := range conns {
				c.Interrupt()
			}
		})
	}
}
