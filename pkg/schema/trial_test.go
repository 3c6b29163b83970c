package schema

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/ddl"
	"skarv/pkg/sqlerr"
)

// Constraints of the same name in two databases' tables are not taken for one where both are tried at the same time.
func TestTrialsOfTheSameConstraint(t *testing.T) {
	server := servers[0]
	server.Exec(t, "CREATE DATABASE IF NOT EXISTS "+catalog.OwnDB)
	server.Exec(t, "DROP DATABASE IF EXISTS tried")
	server.Exec(t, "CREATE DATABASE tried")
	server.Exec(t, "CREATE TABLE tried.up (id INT PRIMARY KEY)")
	server.Exec(t, "CREATE TABLE tried.down (id INT PRIMARY KEY, up INT, CONSTRAINT both_have FOREIGN KEY (up) REFERENCES up (id))")
	dial := func() *Server {
		s, err := Dialer{}.Dial(t.Context(), "g", server.Node())
		require.NoError(t, err)
		t.Cleanup(s.Close)
		return s
	}
	first, second := dial(), dial()
	of := ddl.Object{DB: "tried", Name: "down"}
	require.NoError(t, first.EmptyCopy(t.Context(), "j1", of, Trial("j1", "")))

	creates := func() (n int) {
		var name string
		require.NoError(t, server.DB.QueryRow("SHOW GLOBAL STATUS LIKE 'Com_create_table'").Scan(&name, &n))
		return n
	}
	before := creates()
	done := make(chan error, 1)
	go func() { done <- second.EmptyCopy(t.Context(), "j2", of, Trial("j2", "")) }()
	require.Eventually(t, func() bool { return creates() >= before+2 }, time.Minute, time.Millisecond)
	_, err := first.Exec(t.Context(), "DROP TABLE "+Trial("j1", "").SQL())
	require.NoError(t, err)
	require.NoError(t, <-done)

	// One's own is told at once.
	_, err = second.Exec(t.Context(), "CREATE TABLE "+Trial("j2", "_r").SQL()+" (id INT PRIMARY KEY)")
	require.NoError(t, err)
	err = second.Try(t.Context(), "j2", "ALTER TABLE "+Trial("j2", "_r").SQL()+" ADD up INT, ADD CONSTRAINT both_have FOREIGN KEY (up) REFERENCES tried.up (id)")
	require.True(t, sqlerr.HasCode(err, sqlerr.DuplicateForeignKey, sqlerr.ForeignKeyNotAdded), "%v", err)
	_, err = second.Exec(t.Context(), "DROP TABLE "+Trial("j2", "").SQL()+", "+Trial("j2", "_r").SQL())
	require.NoError(t, err)
}
