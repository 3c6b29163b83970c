package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	adminv1 "skarv/proto/admin/v1"
)

func (f *fakeAdmin) SetPassword(_ context.Context, r *adminv1.SetPasswordRequest) (*adminv1.SetPasswordResponse, error) {
	f.passwords = append(f.passwords, r)
	out := &adminv1.SetPasswordResponse{Servers: []*adminv1.ServerPassword{{Addr: r.NodeGroup + ":3306", Kept: true, Changed: r.Change}}}
	if r.NodeGroup == "b" && r.Password == "half" {
		out.Servers = append(out.Servers, &adminv1.ServerPassword{Addr: "replica:3306", Error: "Access denied"})
	}
	return out, f.fail
}

func TestPasswordOfServers(t *testing.T) {
	c := newCtl(t)
	c.in = "new\n"
	code, _, errs := c.run("nodegroup", "password", "--password-file", "-")
	require.Equal(t, exitUsage, code, errs)
	code, _, _ = c.run("nodegroup", "password", "a", "--all", "--password-file", "-")
	require.Equal(t, exitUsage, code)
	code, out, errs := c.run("nodegroup", "password", "a", "--password-file", "-")
	require.Equal(t, exitOK, code, errs)
	require.Equal(t, "a, server a:3306: the cluster uses the password\n", out)
	require.Equal(t, "new", c.fake.passwords[0].Password)
	require.False(t, c.fake.passwords[0].Change)
	code, out, errs = c.run("nodegroup", "password", "--all", "--change", "--password-file", "-")
	require.Equal(t, exitOK, code, errs)
	require.Equal(t, "a, server a:3306: the password is changed, and the cluster uses it\nb, server b:3306: the password is changed, and the cluster uses it\n", out)
	c.in = "half\n"
	code, out, errs = c.run("nodegroup", "password", "--all", "--password-file", "-", "-o", "json")
	require.Equal(t, exitFailed, code)
	require.Contains(t, out, `"error": "Access denied"`)
	require.Contains(t, errs, "not all servers use the password")
	require.NotContains(t, out+errs, "half")
}
