package session

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/topology"
	adminv1 "skarv/proto/admin/v1"
	"skarv/test/cluster"
)

// The password of Skarv's own account on a server is changed, by hand or by skarvctl: the cluster can be told, the connections there are go on, and
// what was interrupted is completed by the same call.
func TestPasswordOfSkarvsAccount(t *testing.T) {
	c := cluster.Start(t, cluster.Groups(2))
	db := connectTo(t, c.DSN(""))
	db.exec("CREATE DATABASE d")
	db.exec("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
	for id := range 10 {
		db.exec("INSERT INTO d.t VALUES (?, 0)", id)
	}
	store, err := topology.Open(topology.Config{Endpoints: []string{c.Info().Etcd}})
	require.NoError(t, err)
	defer store.Close()
	api := adminv1.NewAdminClient(c.Admin(t))
	set := func(password string, change bool) *adminv1.ServerPassword {
		t.Helper()
		r, err := api.SetPassword(t.Context(), &adminv1.SetPasswordRequest{NodeGroup: "2", Password: password, Change: change})
		require.NoError(t, err)
		require.Len(t, r.Servers, 1)
		return r.Servers[0]
	}
	kept := func() string {
		g, _, err := store.Group(t.Context(), 2)
		require.NoError(t, err)
		return g.Primary.Password
	}
	first, bare := kept(), connectTo(t, c.NodeGroup(2, ""))
	byHand := func(password string) {
		bare.exec("ALTER USER skarv IDENTIFIED BY '" + password + "'")
	}
	held := connectTo(t, c.DSN(""))
	held.exec("BEGIN")
	held.exec("UPDATE d.t SET v = v + 1")

	byHand("by hand")
	done := set("another", false)
	require.False(t, done.Kept)
	require.Contains(t, done.Error, "Access denied")
	require.Equal(t, first, kept())
	_, err = db.try("CREATE TABLE d.u (id INT PRIMARY KEY)")
	require.ErrorContains(t, err, "Access denied")
	done = set("guessed", true) // neither the old nor this one
	require.Contains(t, done.Error, "Access denied")
	require.Equal(t, first, kept())
	byHand("second")
	done = set("second", false)
	require.Equal(t, "", done.Error)
	require.True(t, done.Kept)
	require.False(t, done.Changed)
	db.exec("CREATE TABLE d.u (id INT PRIMARY KEY)")

	const hard = `th"i'rd\ ö`
	for _, changed := range []bool{true, false} {
		done = set(hard, true)
		require.Equal(t, "", done.Error)
		require.Equal(t, changed, done.Changed)
		require.Equal(t, hard, kept())
	}
	db.exec("CREATE TABLE d.w (id INT PRIMARY KEY)")
	held.exec("COMMIT")
	require.Equal(t, "10", db.get("SELECT SUM(v) FROM d.t"))
	byHand("fourth") // it is killed before it is written
	done = set("fourth", true)
	require.True(t, done.Kept)
	require.False(t, done.Changed)
	endConnections(t, c.NodeGroupDB(t, 2, ""), "user = 'skarv'")
	require.Eventually(t, func() bool { _, err := db.try("CREATE TABLE d.x (id INT PRIMARY KEY)"); return err == nil }, time.Minute, tick)

	_, err = api.SetPassword(t.Context(), &adminv1.SetPasswordRequest{NodeGroup: "2", Change: true})
	require.ErrorContains(t, err, "would let everybody in")
	_, err = api.SetPassword(t.Context(), &adminv1.SetPasswordRequest{NodeGroup: "3", Password: "x"})
	require.ErrorContains(t, err, "no node group")
	log, err := os.ReadFile(c.Info().LogFile)
	require.NoError(t, err)
	require.NotEmpty(t, log)
	for _, secret := range []string{"by hand", "guessed", "second", "i'rd", "fourth", first} {
		require.NotContains(t, string(log), secret)
	}
}
