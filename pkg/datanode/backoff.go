package datanode

import "time"

// backoff is the pause before a server is started again: short at first, doubled with every death that follows
// soon, short again once a server has lived.
type backoff struct{ pause time.Duration }

const (
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
	longLife     = 30 * time.Second
)

func (b *backoff) next() time.Duration {
	if b.pause == 0 {
		b.pause = firstPause
	} else {
		b.pause = min(2*b.pause, longestPause)
	}
	return b.pause
}

// survived tells how long the server lived that has just died.
func (b *backoff) survived(d time.Duration) {
	if d >= longLife {
		b.pause = 0
	}
}
