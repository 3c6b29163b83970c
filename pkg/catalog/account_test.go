package catalog

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/wire"
)

// What a login needs besides is read back, and a process that knows nothing of it lets nobody in.
func TestConditionsOfLogins(t *testing.T) {
	native := wire.HashNative("x")
	for _, a := range []Account{
		{Name: "a", AuthPlugin: wire.NativePassword, AuthString: native},
		{Name: "a", AuthPlugin: wire.NativePassword, AuthString: native, Locked: true},
		{Name: "a", AuthPlugin: wire.NativePassword, AuthString: native, RequireTLS: true},
		{Name: "a", AuthPlugin: wire.CachingSHA2Password, Locked: true, RequireTLS: true},
		{Name: "a", AuthPlugin: wire.CachingSHA2Password, LoopbackOnly: true},
	} {
		kept, err := json.Marshal(&a)
		require.NoError(t, err)
		var read Account
		require.NoError(t, json.Unmarshal(kept, &read))
		require.Equal(t, a, read)

		var before struct {
			Plugin string `json:"auth_plugin"`
			String string `json:"auth_string"`
		}
		require.NoError(t, json.Unmarshal(kept, &before))
		if a.Locked || a.RequireTLS {
			require.Error(t, wire.CheckAuthString(before.Plugin, before.String), "%s", kept)
		} else {
			require.NoError(t, wire.CheckAuthString(before.Plugin, before.String), "%s", kept)
		}
	}
}
