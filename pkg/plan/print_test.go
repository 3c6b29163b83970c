package plan

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

func testPlan() *Plan {
	t := &catalog.Table{Database: "shop", Name: "orders", Distribution: []int{0}}
	target := Target{Kind: ByKey, Table: t, Key: []Operand{{Arg: 0}}, Also: []Target{{Kind: OneGroup, Group: 3}}}
	f := &Fragment{ID: 1, Target: target, Tables: []*catalog.Table{t}, Text: Text{
		{SQL: "SELECT ", Arg: ArgSelectList}, {SQL: " FROM orders WHERE id IN ", Arg: 0, Part: true},
		{SQL: " LIMIT ", Arg: 1, Plus: &Operand{Arg: NoArg, Const: sqltypes.Value{Kind: sqltypes.Int, Raw: []byte("5")}}},
		{SQL: " FOR UPDATE", Arg: NoArg}}}
	return &Plan{
		Kind: Select, Relay: &Fragment{ID: 1, Target: target, Tables: f.Tables}, Uses: LocksRows | ReadsClock,
		Guards: []Guard{{Arg: 1, Text: "2"}}, Rules: []string{"Scatter"},
		Root: &Limit{Count: Operand{Arg: NoArg, Const: sqltypes.Value{Kind: sqltypes.Int, Raw: []byte("5")}}, Offset: &Operand{Arg: 1},
			Input: &Project{Keep: 1, Input: &Merge{Input: f, Order: []Order{{Column: 1, Desc: true, Weight: 2}, {Column: 0, Collation: "binary", Weight: -1}}}}},
	}
}

func TestString(t *testing.T) {
	require.Equal(t, `relay fragment #1 key(orders ?1) and group 3
else
limit "5" offset ?2
  keep 1 columns
    merge by 2 (weight 3) desc, 1 binary
      fragment #1 key(orders ?1) and group 3
           SELECT {select list} FROM orders WHERE id IN ?1part LIMIT ?2+"5" FOR UPDATE
guard ?2 = 2
uses locks rows, clock`, testPlan().String())
	require.Equal(t, "session show warnings", (&Plan{Kind: Show, Topic: "warnings"}).String())
	require.Equal(t, "session savepoint a rollback to", (&Plan{Kind: Savepoint, Name: "a", Txn: &Txn{RollbackTo: true}}).String())
	refused := &Plan{Kind: Select, Refuse: sqlerr.Unsupported("it", "write that")}
	require.Equal(t, "session select\nrefuse Skarv doesn't yet support 'it; write that'", refused.String())
	for k := range Other + 2 {
		require.NotEmpty(t, k.String())
	}
}

func TestJSON(t *testing.T) {
	for _, p := range []*Plan{testPlan(), {Kind: Explain, Inner: testPlan()}} {
		var got map[string]any
		require.NoError(t, json.Unmarshal(p.ExplainJSON(nil), &got))
		require.Equal(t, "select", got["kind"])
		limit := got["otherwise"].(map[string]any)
		require.Equal(t, "limit", limit["step"])
		merge := limit["input"].(map[string]any)["input"].(map[string]any)
		require.Equal(t, []any{"2 (weight 3) desc", "1 binary"}, merge["by"])
		fragment := merge["input"].(map[string]any)
		require.Equal(t, "key(orders ?1) and group 3", fragment["target"])
		require.Equal(t, []any{"shop.orders"}, fragment["tables"])
	}
}
