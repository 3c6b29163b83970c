package sqltypes

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnknownCollations(t *testing.T) {
	for _, name := range []string{"", "utf8mb4_uca1400_ai_ci", "utf8mb4_nonsense", "sjis_japanese_ci", "utf8mb4_de_pb_0900_ai_ci"} {
		_, err := LookupCollation(name, false)
		require.Error(t, err, name)
	}
	_, err := LookupCollation("utf8mb4_0900_ai_ci", true)
	require.Error(t, err)
	require.Nil(t, CompareFunc("utf8mb4_uca1400_ai_ci"))
	c, err := LookupCollation("utf8_general_ci", true)
	require.NoError(t, err)
	require.Equal(t, "utf8mb3_general_ci", c.Name())
}

func TestAppendKeyRefusesForeignCharacters(t *testing.T) {
	for name, s := range map[string]string{"utf8mb4_general_ci": "a\xff", "utf8mb4_bin": "\xc3", "utf8mb3_general_ci": "😀", "utf8mb3_bin": "😀",
		"latin1_swedish_ci": "中", "latin1_bin": "中", "ascii_general_ci": "é", "ascii_bin": "é", "utf8mb4_0900_ai_ci": "\xed\xa0\x80"} {
		c, err := LookupCollation(name, false)
		require.NoError(t, err)
		key, ok := c.AppendKey([]byte("before"), []byte(s))
		require.False(t, ok, name)
		require.Equal(t, "before", string(key))
	}
}

func TestCompareIsAnOrder(t *testing.T) {
	for _, name := range KnownCollations(false) {
		c, err := LookupCollation(name, false)
		require.NoError(t, err)
		compare := CompareFunc(name)
		require.NotNil(t, compare, name)
		strs := corpus(c, 60)
		strs = append(strs, []byte("\xff"), []byte("a\xff"))
		rand.Shuffle(len(strs), func(i, j int) { strs[i], strs[j] = strs[j], strs[i] })
		for _, a := range strs {
			require.Zero(t, compare(a, a))
			for _, b := range strs {
				require.Equal(t, compare(a, b) < 0, compare(b, a) > 0, "%s: %q %q", name, a, b)
			}
		}
	}
	require.Negative(t, CompareFunc("")([]byte("a"), []byte("a ")))
}

func TestCompareASCIIDoesNotAllocate(t *testing.T) {
	for _, name := range []string{"utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_0900_ai_ci", "utf8mb4_bin", "binary"} {
		compare := CompareFunc(name)
		a, b := []byte("Some text here"), []byte("some text herf  ")
		require.Zero(t, testing.AllocsPerRun(100, func() { compare(a, b) }), name)
	}
}

func BenchmarkCompare(b *testing.B) {
	for _, name := range []string{"utf8mb4_general_ci", "utf8mb4_0900_ai_ci", "utf8mb4_bin", "latin1_swedish_ci"} {
		b.Run(name, func(b *testing.B) {
			compare := CompareFunc(name)
			x, y := []byte("user00017@example.com"), []byte("User00018@example.com")
			b.ReportAllocs()
			for b.Loop() {
				compare(x, y)
			}
		})
	}
}

func FuzzAppendKey(f *testing.F) {
	var all []*Collation
	for _, name := range KnownCollations(false) {
		c, err := LookupCollation(name, false)
		require.NoError(f, err)
		all = append(all, c)
	}
	f.Add([]byte("a "), []byte("A"))
	f.Add([]byte("\xff\x00é😀"), []byte("e\u0301 \uffff"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for _, c := range all {
			ka, oka := c.AppendKey(nil, a)
			kb, okb := c.AppendKey(nil, b)
			if oka && okb && (string(ka) == string(kb)) != (c.CompareFunc()(a, b) == 0) {
				t.Fatalf("%s: %q and %q", c.Name(), a, b)
			}
		}
	})
}
