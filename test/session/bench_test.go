package session

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/mysqlconn"
	"skarv/pkg/wire"
)

// What statements over several node groups, and INSERTs of rows, cost in this process.
func BenchmarkStatement(b *testing.B) {
	c, err := mysqlconn.Dial(context.Background(), mysqlconn.Config{Addr: shared.Addr(), User: "root", DB: "d"})
	require.NoError(b, err)
	b.Cleanup(func() { c.Close() })
	_, err = c.Exec("CREATE TABLE IF NOT EXISTS bench (id INT PRIMARY KEY AUTO_INCREMENT, k INT, c CHAR(100), KEY (k))")
	require.NoError(b, err)
	_, err = c.Exec("INSERT INTO bench (k, c) VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e'), (6, 'f'), (7, 'g')")
	require.NoError(b, err)
	buf := make([]byte, 16<<10)
	for name, sql := range map[string]string{
		"point":   "SELECT k FROM bench WHERE id = 7",
		"scatter": "SELECT id, k, c FROM bench ORDER BY k LIMIT 10",
		"insert":  "INSERT INTO bench (id, k, c) VALUES (0, 5, 'abc')",
	} {
		var seq byte
		request := wire.AppendPacket(nil, &seq, append([]byte{byte(wire.ComQuery)}, sql...))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sum, err := c.Relay(request, wire.ComQuery, io.Discard, buf)
				if err != nil || sum.Failed() {
					b.Fatalf("%v, error %d", err, sum.ErrCode)
				}
			}
		})
	}
}
