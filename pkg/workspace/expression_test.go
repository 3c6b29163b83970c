package workspace_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/workspace"
)

// TestKeyExpressionRead reads what an expression of a key gives as the key holds it: by its columns alone, in its type.
func TestKeyExpressionRead(t *testing.T) {
	text := catalog.Column{DataType: "varchar", Charset: "utf8mb3", Collation: "utf8mb3_bin", Length: 20, Expression: "concat(`a``b`, _utf8mb4'a`b', `c`)"}
	require.Equal(t, "CONVERT(CONVERT((concat(`a``b`, _utf8mb4'a`b', `c`)) USING utf8mb4) USING binary)", workspace.ReadKey(&text))
	require.Equal(t, "CONVERT((concat(o.`a``b`, _utf8mb4'a`b', o.`c`)) USING utf8mb3) COLLATE utf8mb3_bin", workspace.Beginning(&text, 0, "o"))
	number := catalog.Column{DataType: "decimal", Precision: 9, Scale: 2, Expression: "`d` * 2"}
	require.Equal(t, "CAST((`d` * 2) AS DECIMAL(9, 2))", workspace.ReadKey(&number))
}
