package session

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a server says of itself is that of the same server, whoever asks: tools subtract what a counter was from what it is, each time by a new connection.
func TestServerState(t *testing.T) {
	rows := strings.Repeat("(''),", 999) + "('')"
	connect(t).exec("INSERT INTO single (v) VALUES " + rows) // on one of the servers
	defer connect(t).exec("TRUNCATE TABLE single")
	told := func(query string) (values []string) {
		for range 5 {
			var name, value string
			require.NoError(t, connect(t).QueryRowContext(t.Context(), query).Scan(&name, &value), query)
			values = append(values, value)
		}
		return values
	}
	for _, query := range []string{
		"SHOW GLOBAL VARIABLES LIKE 'server_id'",
		"SELECT 'server', @@server_id FROM information_schema.innodb_metrics LIMIT 1",
	} {
		values := told(query)
		require.Equal(t, slices.Repeat(values[:1], len(values)), values, query)
	}
	counts := told("SHOW GLOBAL STATUS LIKE 'Handler_write'")
	first, err := strconv.Atoi(counts[0])
	require.NoError(t, err)
	for _, value := range counts {
		n, err := strconv.Atoi(value)
		require.NoError(t, err)
		require.InDelta(t, first, n, 500, "the counters of several servers: %v", counts)
	}
}
