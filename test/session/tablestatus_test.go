package session

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// SHOW TABLE STATUS adds up what the node groups have of a table, of which each has the whole of a reference table, and one that of a single one.
func TestTableStatus(t *testing.T) {
	db := connect(t)
	db.exec("CREATE DATABASE sizes")
	defer db.exec("DROP DATABASE sizes")
	for _, q := range []string{
		"USE sizes", "CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY) COMMENT 'skarv:reference'", "CREATE TABLE c (id INT PRIMARY KEY) COMMENT 'skarv:single'",
		"INSERT INTO a VALUES (1), (2), (3), (4), (5), (6), (7), (8)", "INSERT INTO b VALUES (1), (2), (3)", "INSERT INTO c VALUES (1), (2)", "ANALYZE TABLE a, b, c",
	} {
		db.exec(q)
	}
	for _, from := range []string{"", " FROM sizes"} {
		rows, err := db.QueryContext(t.Context(), "SHOW TABLE STATUS"+from)
		require.NoError(t, err)
		cols, err := rows.Columns()
		require.NoError(t, err)
		got := map[string]string{}
		for rows.Next() {
			values, into := make([]string, len(cols)), make([]any, len(cols))
			var null any
			for i := range into {
				into[i] = &null
			}
			into[0], into[4] = &values[0], &values[4]
			require.NoError(t, rows.Scan(into...))
			got[values[0]] = values[4]
		}
		require.NoError(t, rows.Err())
		require.Equal(t, map[string]string{"a": "8", "b": "3", "c": "2"}, got)
	}
}
