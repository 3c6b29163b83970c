package event

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"skarv/pkg/catalog"
)

// times is when an event is due: last is the newest time up to now, next the first one behind it; each is zero if there is none.
func (s *Scheduler) times(ctx context.Context, e *catalog.Event, now time.Time) (last, next time.Time, err error) {
	switch {
	case !e.At.IsZero():
		if e.At.After(now) {
			return last, e.At, nil
		}
		return e.At, next, nil
	case e.Starts.After(now):
		next = e.Starts
	case e.Seconds > 0 && int64(time.Hour/time.Second)%e.Seconds == 0: // the same in every time zone
		step := time.Duration(e.Seconds) * time.Second
		last = e.Starts.Add(now.Sub(e.Starts) / step * step)
		next = last.Add(step)
	default:
		near, err := s.near(ctx, e, now)
		if err != nil {
			return last, next, err
		}
		for _, t := range near {
			if !t.After(now) {
				last = t
			} else if next.IsZero() {
				next = t
			}
		}
	}
	if !e.Ends.IsZero() {
		if last.After(e.Ends) {
			last = time.Time{} // that was not one of its times; those before it are over
		}
		if next.After(e.Ends) {
			next = time.Time{}
		}
	}
	return last, next, nil
}

// near asks a server for times of an event around now, in their order: days and months are those of its time zone.
func (s *Scheduler) near(ctx context.Context, e *catalog.Event, now time.Time) ([]time.Time, error) {
	unit, n := "SECOND", e.Seconds
	if e.Months > 0 {
		unit, n = "MONTH", e.Months
	}
	const from, to = -2, 3 // clocks are put forward and back
	var sql strings.Builder
	for k := from; k <= to; k++ {
		if k > from {
			sql.WriteString(", ")
		}
		fmt.Fprintf(&sql, "UNIX_TIMESTAMP('%[1]s' + INTERVAL GREATEST(TIMESTAMPDIFF(%[2]s, '%[1]s', FROM_UNIXTIME(%[3]d)) DIV %[4]d + (%[5]d), 0) * %[4]d %[2]s)",
			e.LocalStarts, unit, now.Unix(), n, k)
	}
	row, err := s.cfg.Ask(ctx, e.TimeZone, "SELECT "+sql.String())
	if err != nil {
		return nil, fmt.Errorf("times of event %s.%s: %w", e.Database, e.Name, err)
	}
	var out []time.Time
	for _, text := range row {
		whole, _, _ := strings.Cut(text, ".")
		if v, err := strconv.ParseInt(whole, 10, 64); err == nil && v > 0 { // NULL and 0: beyond what servers can count
			out = append(out, time.Unix(v, 0))
		}
	}
	return out, nil
}
