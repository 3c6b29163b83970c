package session

import (
	"fmt"
	"strings"
	"time"

	"skarv/pkg/sqlerr"
)

// traceText is the steps in one line, each with how long ago it was.
func (s *Session) traceText() string {
	now := time.Now()
	var b strings.Builder
	for _, step := range s.client.Flight.Steps(s.cfg.Clients.Clock(), now) {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "-%s %s", now.Sub(step.At), step)
	}
	return b.String()
}

// codeOf is the error a statement ended with, 0 without one.
func (s *Session) codeOf(err error) uint16 {
	switch {
	case err != nil:
		return uint16(sqlerr.From(err).Code)
	case s.used.summary.Failed():
		return uint16(s.used.summary.ErrCode)
	}
	return 0
}

// sessionTraceTable is skarv.session_trace: the last steps of this process's sessions that the account may see.
func (s *Session) sessionTraceTable() (*table, error) {
	t := newTable("#session", "user", "#step", "at", "#ago_us", "what", "kind", "#node_group", "#error")
	all := s.account.Administers()
	for _, p := range s.cfg.Clients.Processes() {
		if !all && p.User != s.account.Name {
			continue
		}
		_, steps, _ := s.cfg.Clients.Trace(p.ID)
		now := time.Now()
		for i, step := range steps {
			t.add(p.ID, p.User, i+1, step.At.UTC().Format("2006-01-02 15:04:05.000000"), now.Sub(step.At).Microseconds(), step.Name,
				step.Kind, step.Group, step.Code)
		}
	}
	return t, nil
}
