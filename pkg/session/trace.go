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
