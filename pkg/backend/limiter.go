package backend

import (
	"math"
	"time"
)

// limiter finds how many statements a node group can work on at a time: fewer leave it idle, more only wait inside of it,
// where they cannot be refused any more and hold memory and locks.
//
// By Little's law the statements in a server are its throughput times their latency. Below the server's knee latency stays
// what it is for one statement alone, above it throughput stays and latency grows with the number of statements. So the
// limit is taken down in proportion once latency is more than tolerance times that of a server that is not busy, and up
// by its square root as long as it is not:
//
//	limit = limit * clamp(tolerance * base / latency, 1/2, 1) + sqrt(limit), half of the way
//
// This is the gradient of TCP Vegas (L. Brakmo, L. Peterson, IEEE JSAC 13(8), 1995) in the form of the Gradient limit of
// Netflix's concurrency-limits (2018), with the base taken as Envoy's adaptive concurrency filter and BBR (N.
// Cardwell et al., ACM Queue 14(5), 2016) do: not the smallest latency ever, which another mix of statements makes
// unreachable, nor an average, which overload that lasts turns into the standard, but what is measured when only a
// few statements are let in for a moment. That costs something, so it is done only before the limit is taken down by a base that is
// older than baseAge.
type limiter struct {
	floor, ceiling int
	value          float64

	base  time.Duration // latency of the group when it is not busy; 0: not known
	age   time.Duration // spent under pressure since base was measured
	probe probe
	saved float64       // value before the probe
	spent time.Duration // on the probe
}

// probe is the state of measuring base.
//
//	no ── too slow, and base was never measured or is old ──► draining ── few in use ──► measuring ── enough samples ──► no
//	            (either gives up after maxProbe and takes what it has seen)
type probe uint8

const (
	noProbe probe = iota
	draining
	measuring
)

const (
	tolerance = 2
	baseAge   = 30 * time.Second
	maxProbe  = 2 * time.Second
)

// sight is what a limiter is told of a window of time.
type sight struct {
	latency time.Duration // median of the samples
	samples int
	peak    int // most statements at a time, those not counted that had nothing running
	inUse   int // at the end
	locked  int // statements that wait for row locks
	left    uint64
	waited  bool // the limit made someone wait
	took    time.Duration
}

func newLimiter(floor, ceiling int) limiter {
	floor = max(1, min(floor, ceiling))
	return limiter{floor: floor, ceiling: max(1, ceiling), value: float64(max(1, ceiling)), age: baseAge}
}

// limit is how many statements may be at work.
func (l *limiter) limit() int {
	if l.probe != noProbe {
		return l.floor
	}
	return int(l.value)
}

// next looks at a window and changes the limit.
func (l *limiter) next(s sight) {
	if s.locked > 0 && 4*s.locked >= s.peak {
		// They wait for each other, not for the server. What the others took says nothing: they may have waited a moment ago.
		l.endProbe(0)
		return
	}
	if l.probe != noProbe {
		l.goOn(s)
		return
	}
	pressed := s.waited || 2*s.peak >= int(l.value)
	if s.samples == 0 {
		if s.waited && s.left == 0 {
			l.set(l.value + math.Sqrt(l.value)) // whoever is in makes no room: they may all wait for something outside
		}
		return
	}
	if l.base == 0 || l.base > s.latency {
		l.base = s.latency
	}
	if !pressed {
		if s.peak <= l.floor {
			l.base, l.age = s.latency, 0
		}
		return
	}
	l.age += s.took
	gradient := tolerance * float64(l.base) / float64(s.latency)
	gradient = min(1, max(0.5, gradient))
	// Before the limit is taken down by a base that is old it is measured again: perhaps statements are only others than then.
	if gradient < 1 && l.age >= baseAge {
		if int(l.value) <= l.floor {
			l.base, l.age = s.latency, 0 // this is as few as there can be
		} else {
			l.probe, l.saved, l.spent = draining, l.value, 0
		}
		return
	}
	l.set((l.value + l.value*gradient + math.Sqrt(l.value)) / 2)
}

// goOn is next while base is measured.
func (l *limiter) goOn(s sight) {
	l.spent += s.took
	switch {
	case l.probe == draining && s.inUse <= l.floor:
		l.probe = measuring // the window that ends here still has samples of before
	case l.probe == measuring && s.samples >= minSamples:
		l.endProbe(s.latency)
	case l.spent >= maxProbe:
		l.endProbe(s.latency)
	}
}

// endProbe takes what was measured as the base; 0: nothing was.
func (l *limiter) endProbe(base time.Duration) {
	if l.probe == noProbe {
		return
	}
	l.probe, l.value, l.age = noProbe, l.saved, 0
	if base > 0 {
		l.base = base
	}
}

func (l *limiter) set(v float64) { l.value = min(float64(l.ceiling), max(float64(l.floor), v)) }

// crowded halves the limit: the server has refused a connection.
func (l *limiter) crowded() {
	l.endProbe(0)
	l.set(l.value / 2)
}

// restart begins with an eighth of the places.
func (l *limiter) restart() {
	l.endProbe(0)
	l.set(min(l.value, float64(l.ceiling)/8))
}
