// Package processlist is the clients of this process as all of them see each other: what each one does at the moment (SHOW PROCESSLIST), the
// last steps it took, and KILL. It knows on which connections to servers a client's statement runs, so that it can be ended there, and nothing
// of what the statement is. Nor does it know the other processes of the cluster.
package processlist

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"skarv/pkg/backend"
	"skarv/pkg/flight"
	"skarv/pkg/sqlerr"
)

// List is the clients of this process. Its methods may be called from any goroutine.
type List struct {
	began time.Time // where the clock begins

	mu      sync.Mutex
	clients map[uint32]*Client
}

// New returns an empty List.
func New() *List { return &List{began: time.Now(), clients: map[uint32]*Client{}} }

// Clock is the time since the List was made: the monotonic clock alone, which costs half of time.Now.
func (l *List) Clock() time.Duration { return time.Since(l.began) }

// Add lists c, once more if it is there.
func (l *List) Add(c *Client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clients[c.conn.ID()] = c
}

// Remove takes c off the list, if it is there.
func (l *List) Remove(c *Client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.clients, c.conn.ID())
}

// Len is the number of clients.
func (l *List) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.clients)
}

func (l *List) get(id uint32) *Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clients[id]
}

func (l *List) all() []*Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]*Client, 0, len(l.clients))
	for _, c := range l.clients {
		all = append(all, c)
	}
	return all
}

// Process is one row of SHOW PROCESSLIST.
type Process struct {
	ID      uint32
	User    string
	Host    string
	DB      string
	Command string
	Since   time.Time
	SQL     string // see Bound

	since time.Duration // on the List's clock
	// LockThread is its connection for GET_LOCK() on the server that has those locks; 0: none.
	LockThread uint32
}

// Processes returns what every client does now, in order of their ids. Their texts are bounded, see Bound.
func (l *List) Processes() []Process {
	all := l.all()
	list := make([]Process, len(all))
	left := allText
	for i, c := range all {
		list[i] = c.activity.process(min(mostText, activityText+left))
		left -= max(0, len(list[i].SQL)-activityText)
		list[i].ID, list[i].LockThread = c.conn.ID(), c.lockThread.Load()
		list[i].Since = l.began.Add(list[i].since)
	}
	slices.SortFunc(list, func(a, b Process) int { return int(int64(a.ID) - int64(b.ID)) })
	return list
}

// Kill ends the client with the given id, or only its statement; onlyUser is empty if it may be anybody's.
func (l *List) Kill(id uint32, query bool, onlyUser string) error {
	c := l.get(id)
	if c == nil {
		return sqlerr.UnknownThread.New(id)
	}
	if onlyUser != "" && c.activity.process(0).User != onlyUser {
		return sqlerr.KillDenied.New(id)
	}
	if left := c.end(query); query && len(left) > 0 {
		return sqlerr.UnknownError.New(fmt.Sprintf("the statement of connection %d may go on: node group %d does not answer; KILL %[1]d ends the connection", id, left[0].Group))
	}
	return nil
}

// Interrupt ends all clients' sessions that still work, whatever step of a statement they are at.
func (l *List) Interrupt() {
	for _, c := range l.all() {
		c.killed.Store(true) // before its connections break: what runs on them is not tried on others
		c.stopWaiting()
		c.onAll(func(conns []*backend.Conn) {
			for _, conn := range conns {
				conn.Interrupt()
			}
		})
	}
}

// Trace returns the last steps of a client, the oldest first; ok is false if there is no such client.
func (l *List) Trace(id uint32) (user string, steps []flight.Step, ok bool) {
	c := l.get(id)
	if c == nil {
		return "", nil, false
	}
	return c.activity.process(0).User, c.Flight.Steps(l.Clock(), time.Now()), true
}

// The list shows a statement up to mostText bytes, but for activityText no more than allText of all statements.
const (
	activityText = 256
	mostText     = 64 << 10
	allText      = 1 << 20
)

// Bound cuts what the lists of several processes show too much of: each statement up to 64 KB, and all of them, but for the beginning of
// each, up to 1 MB.
func Bound(list []Process) {
	left := allText
	for i := range list {
		p := &list[i]
		p.SQL = shownText([]byte(p.SQL), min(mostText, activityText+left))
		left -= max(0, len(p.SQL)-activityText)
	}
}

// ShownText is a statement's text as the list shows it.
func ShownText(text string) string { return shownText([]byte(text), mostText) }

// activity is what a client does at the moment, written by its session once per statement and read by others rarely.
type activity struct {
	mu      sync.Mutex // uncontended but for a reader of the process list
	user    string
	host    string
	db      string
	command string
	since   time.Duration // on the List's clock
	text    [activityText]byte
	n       int
	whole   []byte // a statement longer than text, where the session has it while it runs
}

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

func (a *activity) idle(now time.Duration) {
	a.mu.Lock()
	a.command, a.since, a.n, a.whole = "Sleep", now, 0, nil
	a.mu.Unlock()
}

// process is what the client does, with most bytes of the statement.
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
