package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
)

const testCaps = CapProtocol41 | CapSecureConnection | CapPluginAuth | CapConnectWithDB | CapConnectAttrs | CapPluginAuthLenenc

func TestInitialHandshakeRoundTrip(t *testing.T) {
	for _, h := range []InitialHandshake{
		{ServerVersion: "5.5.5-10.11.14-MariaDB", ConnectionID: 77, Salt: []byte("abcdefghijklmnopqrst"), Capabilities: testCaps | CapMariaExtendedTypes,
			Collation: 45, Status: StatusAutocommit, Plugin: CachingSHA2Password},
		{ServerVersion: "9.7.0", ConnectionID: 1<<32 - 1, Salt: []byte("abcdefghijklmnopqrst"), Capabilities: testCaps | CapLongPassword,
			Collation: 255, Status: StatusAutocommit, Plugin: NativePassword},
	} {
		got, err := ParseInitialHandshake(AppendInitialHandshake(nil, h))
		require.NoError(t, err)
		assert.Equal(t, h, got)
	}
}

func TestInitialHandshakeThatIsAnError(t *testing.T) {
	_, err := ParseInitialHandshake(AppendErr(nil, sqlerr.TooManyConnections.New()))
	assert.True(t, sqlerr.HasCode(err, sqlerr.TooManyConnections), "%v", err)
	for _, bad := range []string{"", "\x09x\x00", "\x0a5.5", "\x0a5.5\x00123"} {
		_, err := ParseInitialHandshake([]byte(bad))
		assert.Error(t, err, "%q", bad)
	}
}

func TestHandshakeResponseRoundTrip(t *testing.T) {
	full := HandshakeResponse{Capabilities: testCaps | CapZstd | CapLongPassword, MaxPacket: 1 << 30, Collation: 45, User: "anna", Auth: []byte(strings.Repeat("x", 32)),
		DB: "shop", Plugin: CachingSHA2Password, Attributes: map[string]string{"_client_name": "test", "_pid": "1", "empty": ""}, ZstdLevel: 3}
	for _, r := range []HandshakeResponse{
		full,
		{Capabilities: CapProtocol41 | CapMariaExtendedTypes, User: "x", Auth: []byte("y")},
		{Capabilities: CapProtocol41 | CapSecureConnection, User: "", Auth: []byte{}},
	} {
		b := AppendHandshakeResponse(nil, r)
		got, err := ParseHandshakeResponse(b)
		require.NoError(t, err)
		assert.Equal(t, r, got)
		assert.False(t, IsSSLRequest(b))
		r.Capabilities |= CapSSL
		assert.True(t, IsSSLRequest(AppendSSLRequest(nil, r)))
		for n := range b { // half a response is an error or lacks only what may be missing at the end
			if got, err := ParseHandshakeResponse(b[:n]); err == nil {
				assert.Equal(t, r.User, got.User)
			} else {
				assert.True(t, sqlerr.HasCode(err, sqlerr.HandshakeError), "%v", err)
			}
		}
	}
	// What the fields' lengths say does not fit.
	bad := AppendHandshakeResponse(nil, full)
	bad[32+len("anna")+1] = 0xfd
	_, err := ParseHandshakeResponse(bad)
	assert.True(t, sqlerr.HasCode(err, sqlerr.HandshakeError), "%v", err)
}

func TestChangeUserRoundTrip(t *testing.T) {
	u := ChangeUser{User: "anna", Auth: []byte("12345678901234567890"), DB: "shop", Collation: 255, Plugin: NativePassword, Attributes: map[string]string{"a": "b"}}
	got, err := ParseChangeUser(AppendChangeUser(nil, u, testCaps), testCaps)
	require.NoError(t, err)
	assert.Equal(t, u, got)
	_, err = ParseChangeUser([]byte("anna"), testCaps)
	assert.True(t, sqlerr.HasCode(err, sqlerr.MalformedPacket))
	got, err = ParseChangeUser([]byte("anna\x00\x00"), testCaps)
	require.NoError(t, err)
	assert.Equal(t, ChangeUser{User: "anna", Auth: []byte{}}, got)
}

func TestAuthPackets(t *testing.T) {
	plugin, data, err := ParseAuthSwitch(AppendAuthSwitch(nil, NativePassword, []byte("12345678901234567890")))
	require.NoError(t, err)
	assert.Equal(t, NativePassword, plugin)
	assert.Equal(t, "12345678901234567890", string(data))
	plugin, _, err = ParseAuthSwitch([]byte{EOFHeader})
	require.NoError(t, err)
	assert.Equal(t, "mysql_old_password", plugin)
	_, _, err = ParseAuthSwitch([]byte("\xfeabc"))
	assert.Error(t, err)
	more, err := ParseAuthMore(AppendAuthMore(nil, []byte{SHA2FullAuth}))
	require.NoError(t, err)
	assert.Equal(t, []byte{SHA2FullAuth}, more)
	_, err = ParseAuthMore(nil)
	assert.Error(t, err)
}

func FuzzHandshakePackets(f *testing.F) {
	f.Add(AppendInitialHandshake(nil, InitialHandshake{ServerVersion: "9.7.0", Salt: []byte("abcdefghijklmnopqrst"), Capabilities: testCaps, Plugin: "p"}), uint64(testCaps))
	f.Add(AppendHandshakeResponse(nil, HandshakeResponse{Capabilities: testCaps, User: "u", Auth: []byte("a"), Attributes: map[string]string{"k": "v"}}), uint64(testCaps))
	f.Add(AppendChangeUser(nil, ChangeUser{User: "u", Auth: []byte("a"), Attributes: map[string]string{"k": "v"}}, testCaps), uint64(testCaps))
	f.Add(AppendAuthSwitch(nil, "p", []byte("salt")), uint64(0))
	f.Fuzz(func(t *testing.T, b []byte, caps uint64) {
		if h, err := ParseInitialHandshake(b); err == nil && h.Capabilities.Has(CapSecureConnection|CapPluginAuth) && len(h.Salt) == SaltLen && h.Plugin != "" {
			again, err := ParseInitialHandshake(AppendInitialHandshake(nil, h))
			if err != nil {
				t.Fatal(err)
			}
			assert.Equal(t, h.ServerVersion, again.ServerVersion)
			assert.Equal(t, h.Capabilities, again.Capabilities)
			assert.Equal(t, h.Plugin, again.Plugin)
		}
		if r, err := ParseHandshakeResponse(b); err == nil {
			again, err := ParseHandshakeResponse(AppendHandshakeResponse(nil, r))
			if err != nil {
				t.Fatalf("%v: %+v", err, r)
			}
			assert.Equal(t, r.User, again.User)
			assert.Equal(t, r.DB, again.DB)
			assert.Equal(t, len(r.Attributes), len(again.Attributes))
		}
		IsSSLRequest(b)
		_, _ = ParseChangeUser(b, Capability(caps))
		_, _, _ = ParseAuthSwitch(b)
		_, _ = ParseAuthMore(b)
	})
}
