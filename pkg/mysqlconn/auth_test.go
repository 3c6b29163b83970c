package mysqlconn

import (
	"crypto/ed25519"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"
)

// What MariaDB's plugin makes of a password is an Ed25519 public key, and the answer a signature that any
// implementation verifies. The key of "secret" is the one in MariaDB's documentation.
func TestEd25519(t *testing.T) {
	key, err := base64.RawStdEncoding.DecodeString("ZIgUREUg5PVgQ6LskhXmO+eZLS0nC8be6HPjYWR4YJY")
	require.NoError(t, err)
	message := make([]byte, ed25519Salt)
	for i := range message {
		message[i] = byte(i)
	}
	require.True(t, ed25519.Verify(key, message, signEd25519("secret", message)))
	require.False(t, ed25519.Verify(key, message, signEd25519("Secret", message)))
}
