package function

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheListsOfEachFunction(t *testing.T) {
	lists := map[string]func(string) bool{
		"clock": ReadsClock, "volatile": Volatile, "locks": OfUserLocks, "server": OfServer, "number": GivesNumber, "time": GivesTime,
		"string": KeepsString, "spatial": Spatial, "builtin": Builtin, "rounds": Rounds, "plain": Plain, "word": IsWord,
	}
	for name, want := range map[string][]string{
		"now":          {"builtin", "clock", "number", "time"},
		"rand":         {"builtin", "number", "volatile"},
		"upper":        {"builtin", "plain", "string"},
		"truncate":     {"builtin", "number", "plain", "rounds"},
		"st_distance":  {"builtin", "spatial"},
		"pointfromwkb": {"builtin", "spatial"},
		"get_lock":     {"locks"},
		"load_file":    {"builtin", "server"},
		"count":        {"word"},
		"tax":          nil,
		"":             nil,
	} {
		var got []string
		for list, has := range lists {
			if has(name) {
				got = append(got, list)
			}
		}
		require.ElementsMatch(t, want, got, name)
	}
}

// What is not known may be a stored function, which takes a privilege and may read tables.
func TestKnown(t *testing.T) {
	for _, name := range []string{"CONCAT", "concat", "IN", "Group_Concat", "st_x", "values"} {
		require.True(t, Known(name), name)
	}
	for _, name := range []string{"tax", "con", "cat", "", "concat_", "x", "distance"} {
		require.False(t, Known(name), name)
	}
}
