package processlist

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheListOfClientsIsUTF8(t *testing.T) {
	room := strings.Repeat("x", 255)
	for text, want := range map[string]string{
		"SELECT 'ä'":        "SELECT 'ä'",
		"SELECT '\xe4'":     "SELECT '\uFFFD'",
		room + "ä":          room,
		room[:254] + "ä":    room[:254] + "ä",
		room[1:] + "\u4e00": room[1:],
		room + "\xe4\xe4":   room,
		room + "yz":         room + "y",
	} {
		var a activity
		a.set("Query", "d", []byte(text), time.Second)
		require.Equal(t, want, a.process(256).SQL, text)
		a.idle(time.Second)
		require.Empty(t, a.process(256).SQL)
	}
}

func TestTheListOfClientsShowsLongStatements(t *testing.T) {
	long := "SELECT '" + strings.Repeat("ä", 40<<10) + "'"
	var a activity
	a.set("Query", "d", []byte(long[:5000]), time.Second)
	require.Equal(t, long[:5000], a.process(mostText).SQL)
	a.set("Query", "d", []byte(long), time.Second)
	require.Equal(t, long[:mostText], a.process(mostText).SQL)
	require.Equal(t, long[:activityText], a.process(activityText).SQL)
	list := make([]Process, 30)
	for i := range list {
		list[i].SQL = long
	}
	Bound(list)
	require.Len(t, list[0].SQL, mostText)
	require.Len(t, list[29].SQL, activityText)
}

// However little of a statement is asked for, and whatever bytes it has.
func TestTheBeginningOfAStatement(t *testing.T) {
	for _, text := range []string{"", "a", "SELECT 1", "\xc3\xa4", "\xf0\x9f\x98\x80", "\xff\xff\xff\xff", "\x80\x80\x80\x80\x80", "a\xf0\x9f\x98"} {
		for most := range 6 {
			require.LessOrEqual(t, len([]rune(shownText([]byte(text), most))), most, "%q %d", text, most)
		}
	}
	require.Equal(t, "a", shownText([]byte("a\xc3\xa4"), 2))
}
