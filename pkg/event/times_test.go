package event

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
)

func at(text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		panic(err)
	}
	return t
}

// Ticks up to now and behind it. A server is asked for days and months only.
func TestTimes(t *testing.T) {
	for _, test := range []struct {
		name            string
		event           catalog.Event
		now, last, next string
	}{
		{"once, to come", catalog.Event{At: at("2026-01-02 00:00:00")}, "2026-01-01 23:59:59", "", "2026-01-02 00:00:00"},
		{"once, now", catalog.Event{At: at("2026-01-02 00:00:00")}, "2026-01-02 00:00:00", "2026-01-02 00:00:00", ""},
		{"not begun", catalog.Event{Starts: at("2026-01-02 00:00:00"), Seconds: 60}, "2026-01-01 00:00:00", "", "2026-01-02 00:00:00"},
		{"at the start", catalog.Event{Starts: at("2026-01-02 00:00:00"), Seconds: 60}, "2026-01-02 00:00:00", "2026-01-02 00:00:00", "2026-01-02 00:01:00"},
		{"between", catalog.Event{Starts: at("2026-01-02 00:00:30"), Seconds: 60}, "2026-01-05 10:11:12", "2026-01-05 10:10:30", "2026-01-05 10:11:30"},
		{"the last is at the end", catalog.Event{Starts: at("2026-01-02 00:00:00"), Seconds: 60, Ends: at("2026-01-02 00:02:00")}, "2026-01-02 00:02:59",
			"2026-01-02 00:02:00", ""},
		{"over", catalog.Event{Starts: at("2026-01-02 00:00:00"), Seconds: 60, Ends: at("2026-01-02 00:02:30")}, "2026-01-02 00:03:00", "", ""},
		{"days", catalog.Event{Starts: at("2026-01-02 00:00:00"), LocalStarts: "2026-01-02 01:00:00", Seconds: 86400}, "2026-01-04 12:00:00",
			"2026-01-04 00:00:00", "2026-01-05 00:00:00"},
		{"months", catalog.Event{Starts: at("2026-01-31 00:00:00"), LocalStarts: "2026-01-31 01:00:00", Months: 1}, "2026-01-04 12:00:00", "", "2026-01-31 00:00:00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := New(Config{Registerer: prometheus.NewRegistry(), Ask: func(_ context.Context, _, query string) ([]string, error) {
				require.Contains(t, query, test.event.LocalStarts)
				require.Equal(t, 6, strings.Count(query, "GREATEST"))
				var row []string
				for day := range 5 { // what a server would say of days
					row = append(row, fmt.Sprintf("%d.000000", test.event.Starts.AddDate(0, 0, day).Unix()))
				}
				return append(row, ""), nil
			}})
			last, next, err := s.times(t.Context(), &test.event, at(test.now))
			require.NoError(t, err)
			require.True(t, last.Equal(at(test.last)), "last %s", last)
			require.True(t, next.Equal(at(test.next)), "next %s", next)
		})
	}
}

// A tick is run once, not when the event was made after it, and not when it is long ago, unless there is only that one.
func TestDue(t *testing.T) {
	now := at("2026-01-02 12:00:00")
	for _, test := range []struct {
		name        string
		event       catalog.Event
		last, state string
		due         bool
	}{
		{"none", catalog.Event{}, "", "", false},
		{"new", catalog.Event{}, "2026-01-02 11:59:00", "", true},
		{"claimed", catalog.Event{}, "2026-01-02 11:59:00", "2026-01-02 11:59:00", false},
		{"the one behind it", catalog.Event{}, "2026-01-02 11:59:00", "2026-01-02 11:58:00", true},
		{"before it was made", catalog.Event{Since: at("2026-01-02 11:59:00")}, "2026-01-02 11:59:00", "", false},
		{"long ago", catalog.Event{}, "2026-01-02 11:54:00", "", false},
		{"long ago, but once", catalog.Event{At: at("2026-01-01 00:00:00")}, "2026-01-01 00:00:00", "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := &leadership{states: map[catalog.EventKey]State{test.event.Key(): {Tick: at(test.state)}}}
			require.Equal(t, test.due, l.due(&entry{event: &test.event, last: at(test.last)}, now))
		})
	}
}
