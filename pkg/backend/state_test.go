package backend

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDiff(t *testing.T) {
	v := func(kv ...string) (list []Variable) {
		for i := 0; i < len(kv); i += 2 {
			list = append(list, Variable{kv[i], kv[i+1]})
		}
		return list
	}
	for _, c := range []struct {
		name       string
		have, want *State
		diff       difference
	}{
		{"equal", NewState("d", v("@a", "1")), NewState("d", v("@a", "1")), difference{}},
		{"a database of another collation", NewState("d", nil), NewState("d", nil).In("d", "latin1_bin"), difference{initDB: true}},
		{"only the database", NewState("d", nil), NewState("e", nil), difference{initDB: true}},
		{"one more variable", NewState("d", v("@a", "1")), NewState("d", v("@a", "1", "@b", "2")), difference{set: "SET @b = 2"}},
		{"another value", NewState("d", v("@a", "1")), NewState("d", v("@a", "2")), difference{set: "SET @a = 2"}},
		{"one less needs a reset, which forgets the rest", NewState("d", v("@a", "1", "@b", "2")), NewState("d", v("@b", "2")),
			difference{reset: true, initDB: true, set: "SET @b = 2"}},
		{"text, whatever character set the connection has", NewState("d", nil), NewState("d", v("@@time_zone", "'+00:00'")),
			difference{set: "SET @@time_zone = _utf8mb4'+00:00'"}},
		{"no database wanted", NewState("", v("@a", "1")), NewState("", nil), difference{reset: true}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.diff, diff(c.have, c.want)) })
	}
}

func TestAfterReset(t *testing.T) {
	require.Equal(t, difference{reset: true, initDB: true, set: "SET @b = 2"}, afterReset(NewState("d", []Variable{{"@b", "2"}})))
	require.Equal(t, difference{reset: true}, afterReset(NewState("", nil)))
}

func TestStateIDs(t *testing.T) {
	a := NewState("d", []Variable{{"@a", "1"}, {"@b", "2"}})
	require.Equal(t, a.ID, NewState("d", []Variable{{"@b", "2"}, {"@a", "1"}}).ID, "order does not matter")
	require.NotEqual(t, a.ID, NewState("e", a.Vars).ID)
	require.NotEqual(t, NewState("d", []Variable{{"@a", "1@b"}}).ID, NewState("d", []Variable{{"@a1", "@b"}}).ID)
	w := a.With("d", Variable{"@a", ""}, Variable{"@c", "3"})
	require.Equal(t, []Variable{{"@b", "2"}, {"@c", "3"}}, w.Vars)
	require.Len(t, a.Vars, 2, "With copies")
}

// Two states whose FNV-1a is equal: one has another sql_mode. A statement that was read by the one would run in the other.
func TestClientsCannotMakeStatesEqual(t *testing.T) {
	x := func(v string) Variable {
		return Variable{"@`x`", fmt.Sprintf("_utf8mb4 x'%X' COLLATE utf8mb4_general_ci", v)}
	}
	a := NewState("a", []Variable{{"@@session.`sql_mode`", "'NO_BACKSLASH_ESCAPES'"}, x("0fyS2XXMqsaEWFjrxC5ubebFOGBn1gKw00YqyvjxxGD110Tkm9kb5UJnQT873FkdKPMuPcDMbpsdN1f5zV4h5PdpRyPkfae6OFTKtN2nZPWHUAiT821vWwi0Wm0JnSgR0438ORzDplf3RM0uYdLkzHpe80gA5FmYkFlUfxMfa0v8S5JUcMcizjKAgR81AXutkDOp5tH8upgxC55YbT7meB1k57gMlD673")})
	b := NewState("a", []Variable{x("6wWTtxcby3ZA0MxTo2zpKtQv8GBn1gQktucqyvjxDIDlw0Tkm9aiHuenQT873FkdK1sN4LDMbpsdN1f5zV4h5RIDAWPkfae6OFTKtN2nZrX2WLiT821Ge5OAWm0JnSgR0438ORzkpzHvRM0uYPPXcTpe80gA5FmYzxQOqxMfa0v8S5JUcMcizjKAgR81AXutkDOp5tH8upgxC55YbT7meB1k57gMlD673")})
	require.NotEqual(t, a.ID, b.ID)
}
