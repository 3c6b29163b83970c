package session

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheListOfClientsIsUTF8(t *testing.T) {
	room := strings.Repeat("x", activityText-1)
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
		require.Equal(t, want, a.process().SQL, text)
	}
}
