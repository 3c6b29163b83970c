package preflight

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/schema"
	"skarv/test/nodes"
)

var servers []*nodes.Server

func TestMain(m *testing.M) { os.Exit(nodes.Main(m, 1, &servers)) }

func TestExamine(t *testing.T) {
	s := servers[0]
	s.Clear(t)
	node := s.Node()
	root := func(query string) { // Skarv's own account may not
		db, err := sql.Open("mysql", "root@unix("+strings.TrimPrefix(node.Addr, "unix:")+")/")
		require.NoError(t, err)
		defer db.Close()
		_, err = db.Exec(query)
		require.NoError(t, err)
	}
	root("SET GLOBAL read_only = ON")
	defer root("SET GLOBAL read_only = OFF")
	_, err := Examine(t.Context(), schema.Dialer{}, "a", node)
	require.ErrorContains(t, err, "read_only is ON, should be OFF")
	root("SET GLOBAL read_only = OFF")
	a, err := Examine(t.Context(), schema.Dialer{}, "a", node)
	require.NoError(t, err)
	require.NoError(t, a.Empty(t.Context(), "a"))
	before := s.Value(t, "SELECT @@GLOBAL.max_connections")
	s.Exec(t, "SET GLOBAL max_connections = 151")
	few, err := Examine(t.Context(), schema.Dialer{}, "a", node)
	s.Exec(t, "SET GLOBAL max_connections = "+before)
	require.NoError(t, err)
	require.Contains(t, strings.Join(few.Warnings, "\n"), "max_connections is 151, should be 600 or more")
	require.NotContains(t, strings.Join(a.Warnings, "\n"), "max_connections")
	const unbound = "may write while read_only is set"
	require.NotContains(t, strings.Join(a.Warnings, "\n"), unbound)
	all, err := Examine(t.Context(), schema.Dialer{}, "a", catalog.Node{Addr: node.Addr, User: "root"})
	require.NoError(t, err)
	require.Equal(t, all.Node.Flavor == catalog.MariaDB, strings.Contains(strings.Join(all.Warnings, "\n"), unbound))
	s.Exec(t, "SET GLOBAL time_zone = '+05:00'")
	defer s.Exec(t, "SET GLOBAL time_zone = 'SYSTEM'")
	b, err := Examine(t.Context(), schema.Dialer{}, "b", node)
	require.NoError(t, err)
	require.ErrorContains(t, a.Agrees(b), "time_zone")
	b.Node.Flavor = "other"
	require.ErrorContains(t, a.Agrees(b), "does not mix")
	s.Exec(t, "CREATE DATABASE d")
	s.Exec(t, "CREATE TABLE d.t (a INT)")
	require.ErrorContains(t, a.Empty(t.Context(), "a"), "holds tables already (d.t)")
	s.Clear(t)
	s.Exec(t, "CREATE DATABASE _skarv")
	s.Exec(t, "CREATE TABLE _skarv.slot (n INT PRIMARY KEY)")
	require.NoError(t, a.Empty(t.Context(), "a"))
	s.Exec(t, "INSERT INTO _skarv.slot VALUES (1)")
	require.ErrorContains(t, a.Empty(t.Context(), "a"), "DROP DATABASE _skarv")
	s.Clear(t)
	require.NoError(t, Distinct(t.Context(), schema.Dialer{}, []catalog.Node{node}))
	require.ErrorContains(t, Distinct(t.Context(), schema.Dialer{}, []catalog.Node{node, node}), "one and the same server")
	_, err = Examine(t.Context(), schema.Dialer{}, "c", catalog.Node{Addr: "127.0.0.1:1", User: "x"})
	require.ErrorContains(t, err, "127.0.0.1:1")
}

func TestOldServersAreRefused(t *testing.T) {
	a := &Facts{Node: catalog.Node{Flavor: catalog.MariaDB}}
	for version, ok := range map[string]bool{"10.6.1-MariaDB": false, "10.11.2-MariaDB": true, "11.4.2-MariaDB": true} {
		a.Node.Version = version
		require.Equal(t, ok, a.supported() == nil, version)
	}
	a.Node.Flavor = catalog.MySQL
	for version, ok := range map[string]bool{"5.7.44": false, "8.0.28": false, "8.0.29": true, "9.7.4": true} {
		a.Node.Version = version
		require.Equal(t, ok, a.supported() == nil, version)
	}
}
