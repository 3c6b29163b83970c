package exec

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlparse"
	"skarv/pkg/wire"
)

// One server names an unaliased column by its text as it was prepared.
func TestColumnsNamedByParameters(t *testing.T) {
	dialect := sqlparse.NewDialect(true, "10.11.6-MariaDB")
	for _, c := range []struct{ sql, want string }{
		{"SELECT ? FROM t", "SELECT 7 AS `?` FROM t"},
		{"SELECT a, ?+ `b`, ? AS x, c FROM t WHERE d = ?", "SELECT a, 7+ `b` AS `?+ ``b```, 7 AS x, c FROM t WHERE d = 7"},
		{"SELECT a + 1, b FROM t WHERE d = ?", "SELECT a + 1, b FROM t WHERE d = 7"},
		{"INSERT INTO t SELECT ? FROM u", "INSERT INTO t SELECT 7 FROM u"},
	} {
		var p wire.Params
		st := dialect.NewStatement()
		require.NoError(t, st.Scan([]byte(c.sql), 0))
		n := st.NumParams()
		payload := []byte{1, 0, 0, 0, 0, 1, 0, 0, 0}
		payload = append(payload, make([]byte, (n+7)/8)...)
		payload = append(payload, 1)
		for range n {
			payload = append(payload, 8, 0)
		}
		for range n {
			payload = append(payload, 7, 0, 0, 0, 0, 0, 0, 0)
		}
		require.NoError(t, p.Parse(payload, n, nil, nil))
		var a Arguments
		a.Reset(st, &p)
		require.Equal(t, c.want, string(a.AppendStatement(nil)), c.sql)
	}
}
