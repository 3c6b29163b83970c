package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A client that says nothing for wait_timeout is disconnected, and nobody else notices.
func TestWaitTimeout(t *testing.T) {
	one, other := connect(t), connect(t)
	id := one.get("SELECT CONNECTION_ID()")
	one.exec("SET wait_timeout = 1")
	require.Equal(t, "1", one.get("SELECT @@wait_timeout"))
	require.Eventually(t, func() bool {
		return other.get("SELECT COUNT(*) FROM information_schema.processlist WHERE id = "+id) == "0"
	}, 30*time.Second, 50*time.Millisecond)
	_, err := one.try("SELECT 1")
	require.Error(t, err)
	for range 20 {
		other.exec("UPDATE t SET v = v WHERE id = 1")
	}
	two := connect(t)
	two.exec("SET wait_timeout = 1")
	two.exec("SET wait_timeout = DEFAULT")
	require.NotEqual(t, "1", two.get("SELECT @@wait_timeout"))
}
