package placement

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/pkg/sqlerr"
	"skarv/pkg/sqltypes"
)

func TestRefusedTypesSayWhy(t *testing.T) {
	for def, want := range map[string]string{
		"float":                           "equal numbers have more than one text",
		"double":                          "equal numbers have more than one text",
		"timestamp":                       "its text depends on the session's time zone",
		"timestamp(6)":                    "its text depends on the session's time zone",
		"json":                            "equal documents have more than one text",
		"text":                            "keys cannot hold all of it",
		"blob":                            "keys cannot hold all of it",
		"geometry":                        "its values have no canonical text",
		"inet4":                           "its values have no canonical text",
		"year(2)":                         "two-digit years are ambiguous",
		"uuid":                            "only MariaDB has this type",
		"inet6":                           "only MariaDB has this type",
		"enum('a\\b')":                    "its members cannot be read",
		"enum('a','A')":                   "its members are not distinct",
		"set('a','')":                     "its members are not distinct",
		"enum('a'":                        "its members cannot be read",
		"enum('a'x":                       "its members cannot be read",
		"decimal(66,2)":                   "DECIMAL(66,2) is no type",
		"decimal(10,2) unsigned zerofill": "ZEROFILL changes its text",
		"varchar(10) collate utf8mb4_uca1400_ai_ci":    "collation 'utf8mb4_uca1400_ai_ci' cannot be computed outside the server",
		"varchar(10) collate sjis_japanese_ci":         "collation 'sjis_japanese_ci' cannot be computed outside the server",
		"varchar(10) collate utf8mb4_de_pb_0900_ai_ci": "cannot be computed outside the server",
	} {
		_, err := NewKeyColumn(specOf(def, "mysql"))
		require.True(t, sqlerr.HasCode(err, sqlerr.NotSupportedYet), def)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "'c'", "names the column")
	}
	_, err := NewKeyColumn(specOf("varchar(10) collate utf8mb4_0900_ai_ci", "mariadb"))
	require.ErrorContains(t, err, "not known to be the same on MariaDB")
}

func TestEqualValuesMeet(t *testing.T) {
	for def, classes := range map[string][][]sqltypes.Value{
		"bigint": {{intV("1"), strV("1"), decV("1.0"), fltV("1e0"), fltV("1e+00"), fltV("0.01e2"), boolV("1"), intV("01"), intV("+1"), strV("1.0")},
			{intV("0"), intV("-0"), decV("-0.0")}},
		"decimal(10,2)":                            {{decV("1.5"), decV("1.50"), strV("1.5"), strV("+1.500")}, {intV("2"), decV("2.00"), fltV("2")}},
		"varchar(20) collate utf8mb4_general_ci":   {{strV("ABC"), strV("abc"), strV("abc   "), strV("äbc")}},
		"varchar(20) collate utf8mb4_0900_ai_ci":   {{strV("ABC"), strV("abc"), strV("äbc"), strV("a\u200bbc")}},
		"varchar(20) collate utf8mb4_bin":          {{strV("abc"), strV("abc   ")}},
		"datetime(6)":                              {{strV("2024-01-02"), strV("2024-01-02 00:00:00.000")}},
		"time(3)":                                  {{strV("01:00:00"), strV("001:00:00.0"), {Kind: sqltypes.Time, Raw: []byte("001:00:00")}}},
		"enum('x','Y') collate utf8mb4_general_ci": {{strV("y"), strV("Y "), intV("2")}},
	} {
		key := Key{columnOf(t, def, "mysql")}
		for _, class := range classes {
			want, _, m := key.Partition(nil, class[:1], Compare)
			require.Equal(t, Exact, m)
			for i := range class {
				p, _, m := key.Partition(nil, class[i:i+1], Compare)
				require.Equal(t, Exact, m, "%s = %s", def, literals(class[i:i+1]))
				require.Equal(t, want, p, "%s = %s", def, literals(class[i:i+1]))
			}
		}
	}
}

func TestCompareKnowsWhatNoRowCanEqual(t *testing.T) {
	for def, values := range map[string][]sqltypes.Value{
		"tinyint":          {{}, intV("128"), intV("-129"), decV("1.5"), fltV("1.5e0")},
		"tinyint unsigned": {intV("-1"), intV("256")},
		"decimal(5,2)":     {{}, decV("1.555"), intV("1000")},
		"varchar(5) collate utf8mb4_general_ci null": {{}},
	} {
		key := Key{columnOf(t, def, "mariadb")}
		for _, v := range values {
			_, _, m := key.Partition(nil, []sqltypes.Value{v}, Compare)
			require.Equal(t, None, m, "%s = %s", def, literals([]sqltypes.Value{v}))
		}
	}
}

func TestInDoubtIsUnknown(t *testing.T) {
	for def, values := range map[string][]sqltypes.Value{
		"bigint": {strV("1x"), strV(" 1"), strV("9007199254740993"), fltV("9007199254740993"), binV("1"), strV(""), strV("1.5"),
			{Kind: sqltypes.Date, Raw: []byte("2024-01-01")}},
		"varchar(5) collate utf8mb4_general_ci": {intV("5"), decV("5.0"), boolV("1"), strV("\xff")},
		"varchar(5) collate utf8mb3_general_ci": {strV("😀")},
		"varchar(5) collate latin1_swedish_ci":  {strV("中")},
		"char(5) collate utf8mb4_0900_ai_ci":    {strV("a ")},
		"binary(4)":                             {strV("a"), intV("1")},
		"date":                                  {intV("20240101"), strV("2024-1-1"), strV("2024-02-30"), strV("2024-01-01 10:00:00")},
		"datetime":                              {strV("2024-01-01 10:00:00.5"), strV("2024-01-01T10:00:00")},
		"time":                                  {intV("102030"), strV("10:20")},
	} {
		key := Key{columnOf(t, def, "mysql")}
		for _, v := range values {
			_, _, m := key.Partition(nil, []sqltypes.Value{v}, Compare)
			require.Equal(t, Unknown, m, "%s = %s", def, literals([]sqltypes.Value{v}))
		}
	}
	key := Key{columnOf(t, "bigint", "mysql")}
	_, _, m := key.Partition(nil, nil, Compare)
	require.Equal(t, Unknown, m, "no values")
	_, _, m = Key(nil).Partition(nil, nil, Compare)
	require.Equal(t, Unknown, m, "no key")
	_, _, m = key.Partition(nil, []sqltypes.Value{{}}, Store)
	require.Equal(t, Unknown, m, "NULL into a NOT NULL column")
}

func TestForeignCharacterSetIsUnknownUnlessASCII(t *testing.T) {
	for _, def := range []string{"varchar(5) collate utf8mb4_general_ci", "varbinary(5)"} {
		key := Key{columnOf(t, def, "mysql")}
		for _, mode := range []Mode{Compare, Store} {
			_, _, m := key.Partition(nil, []sqltypes.Value{strV("é")}, mode|ForeignCharset)
			require.Equal(t, Unknown, m)
			p, _, m := key.Partition(nil, []sqltypes.Value{strV("e")}, mode|ForeignCharset)
			require.Equal(t, Exact, m)
			q, _, _ := key.Partition(nil, []sqltypes.Value{strV("e")}, mode)
			require.Equal(t, q, p)
		}
	}
}

func TestForeignBytesAreThoseOfByteStrings(t *testing.T) {
	for def, want := range map[string]Match{"varchar(5) collate utf8mb4_general_ci": Unknown, "varbinary(5)": Exact, "binary(5)": Exact} {
		key := Key{columnOf(t, def, "mysql")}
		for _, mode := range []Mode{Compare, Store} {
			p, _, m := key.Partition(nil, []sqltypes.Value{strV("\xe9ab\xffe")}, mode|ForeignBytes)
			if require.Equal(t, want, m, def); want == Exact {
				q, _, _ := key.Partition(nil, []sqltypes.Value{strV("\xe9ab\xffe")}, mode)
				require.Equal(t, q, p, def)
			}
		}
	}
}

func TestCompositeKeys(t *testing.T) {
	key := Key{columnOf(t, "varchar(20) collate utf8mb4_bin", "mysql"), columnOf(t, "int", "mysql")}
	_, text, m := key.Partition(nil, []sqltypes.Value{strV("a,b"), intV("5")}, Compare)
	require.Equal(t, Exact, m)
	require.Equal(t, "612C62,5", string(text))
	_, _, m = key.Partition(nil, []sqltypes.Value{intV("5"), {}}, Compare)
	require.Equal(t, None, m, "one column equals nothing, whatever is unknown of the other")
	_, _, m = key.Partition(nil, []sqltypes.Value{intV("5"), intV("5")}, Compare)
	require.Equal(t, Unknown, m)
}

func TestColocation(t *testing.T) {
	same := [][2]string{{"int", "bigint unsigned"}, {"int", "decimal(20,4)"}, {"varchar(5) collate utf8mb4_general_ci", "char(9) collate utf8mb3_general_ci"},
		{"binary(4)", "varbinary(9)"}, {"datetime", "datetime(6)"}, {"enum('a','b') collate utf8mb4_bin", "enum('a','b') collate utf8mb4_bin"}}
	for _, pair := range same {
		a, b := columnOf(t, pair[0], "mysql"), columnOf(t, pair[1], "mysql")
		require.True(t, Key{a}.Colocates(Key{b}) && Key{b}.Colocates(Key{a}), "%v", pair)
	}
	different := [][2]string{{"int", "varchar(5) collate utf8mb4_bin"}, {"int", "year"}, {"date", "datetime"}, {"varbinary(4)", "varchar(4) collate utf8mb4_bin"},
		{"varchar(5) collate utf8mb4_general_ci", "varchar(5) collate utf8mb4_bin"}, {"enum('a','b')", "enum('b','a')"}}
	for _, pair := range different {
		a, b := columnOf(t, pair[0], "mysql"), columnOf(t, pair[1], "mysql")
		require.False(t, Key{a}.Colocates(Key{b}) || Key{b}.Colocates(Key{a}), "%v", pair)
	}
	a := columnOf(t, "int", "mysql")
	require.False(t, Key{a}.Colocates(Key{a, a}))
	require.False(t, Key{}.Colocates(Key{}))
}

func TestSQLExprReadsAsDocumented(t *testing.T) {
	for def, want := range map[string]string{
		"bigint":                                "CRC32(`c`) % 3840",
		"bigint null":                           "IFNULL(CRC32(`c`) % 3840, 26)",
		"varchar(5) collate utf8mb4_bin":        "CRC32(RTRIM(`c`)) % 3840",
		"varchar(5) collate utf8mb4_general_ci": "CRC32(TRIM(TRAILING x'0020' FROM WEIGHT_STRING(`c`))) % 3840",
		"varchar(5) collate utf8mb4_0900_ai_ci": "CRC32(WEIGHT_STRING(`c`)) % 3840",
	} {
		require.Equal(t, want, Key{columnOf(t, def, "mysql")}.SQLExpr([]string{"`c`"}))
	}
	require.Panics(t, func() { Key{columnOf(t, "int", "mysql")}.SQLExpr(nil) })
}

func TestKeysSpreadEvenly(t *testing.T) {
	const count = 2_000_000
	ints := Key{columnOf(t, "bigint", "mysql")}
	text := Key{columnOf(t, "varchar(64) collate utf8mb4_general_ci", "mysql")}
	bin := Key{columnOf(t, "binary(16)", "mysql")}
	rnd := rand.New(rand.NewPCG(1, 1))
	var uuid [16]byte
	for name, keys := range map[string]struct {
		key  Key
		next func(dst []byte, i int) sqltypes.Value
	}{
		"sequential": {ints, func(dst []byte, i int) sqltypes.Value {
			return sqltypes.Value{Kind: sqltypes.Int, Raw: strconv.AppendInt(dst, int64(i), 10)}
		}},
		"multiples of 1000": {ints, func(dst []byte, i int) sqltypes.Value {
			return sqltypes.Value{Kind: sqltypes.Int, Raw: strconv.AppendInt(dst, int64(i)*1000, 10)}
		}},
		"multiples of 3840": {ints, func(dst []byte, i int) sqltypes.Value {
			return sqltypes.Value{Kind: sqltypes.Int, Raw: strconv.AppendInt(dst, int64(i)*3840, 10)}
		}},
		"UUIDs": {text, func(dst []byte, _ int) sqltypes.Value {
			for j := range uuid {
				uuid[j] = byte(rnd.Uint32())
			}
			return sqltypes.Value{Kind: sqltypes.String, Raw: hex.AppendEncode(dst, uuid[:])}
		}},
		"binary UUIDs": {bin, func(dst []byte, _ int) sqltypes.Value {
			for j := range uuid {
				uuid[j] = byte(rnd.Uint32())
			}
			return sqltypes.Value{Kind: sqltypes.Binary, Raw: append(dst, uuid[:]...)}
		}},
		"e-mails": {text, func(dst []byte, i int) sqltypes.Value {
			return sqltypes.Value{Kind: sqltypes.String, Raw: fmt.Appendf(dst, "user%d@example.com", i)}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var partitions [Partitions]int
			var scratch, buf []byte
			for i := range count {
				v := keys.next(buf[:0], i+1)
				buf = v.Raw
				var p Partition
				var m Match
				p, scratch, m = keys.key.Partition(scratch, []sqltypes.Value{v}, Store)
				if m != Exact {
					t.Fatalf("%s is not placed", v.Raw)
				}
				partitions[p]++
			}
			for _, n := range []int{4, 30} {
				m := newTestMap(t, n)
				groups := make([]int, n+1)
				for p, c := range partitions {
					groups[m.Owner(Partition(p))] += c
				}
				mean := float64(count) / float64(n)
				for _, c := range groups[1:] {
					require.LessOrEqual(t, math.Abs(float64(c)-mean)/mean, 0.015, "%d groups: %v", n, groups[1:])
				}
			}
		})
	}
}

func TestPartitionDoesNotAllocate(t *testing.T) {
	for def, v := range map[string]sqltypes.Value{
		"int":                                    intV("42"),
		"bigint":                                 intV("1234567890123456789"),
		"bigint unsigned":                        strV("42"),
		"decimal(10,2)":                          decV("42.10"),
		"varchar(40) collate utf8mb4_general_ci": strV("user17@example.com"),
		"varchar(40) collate utf8mb4_unicode_ci": strV("user17@example.com"),
		"varchar(40) collate utf8mb4_0900_ai_ci": strV("user17@example.com"),
		"varchar(40) collate utf8mb4_bin":        strV("user17@example.com"),
		"varchar(40) collate latin1_swedish_ci":  strV("user17@example.com"),
		"binary(16)":                             binV("0123456789abcdef"),
		"datetime":                               strV("2024-02-29 10:20:30"),
	} {
		for _, mode := range []Mode{Compare, Store} {
			key := Key{columnOf(t, def, "mysql")}
			vals := []sqltypes.Value{v}
			_, scratch, m := key.Partition(make([]byte, 0, 256), vals, mode)
			require.Equal(t, Exact, m, def)
			require.Zero(t, testing.AllocsPerRun(100, func() {
				_, scratch, _ = key.Partition(scratch, vals, mode)
			}), def)
		}
	}
	key := Key{columnOf(t, "int", "mysql"), columnOf(t, "varchar(40) collate utf8mb4_general_ci", "mysql")}
	vals := []sqltypes.Value{intV("5"), strV("abc")}
	scratch := make([]byte, 0, 256)
	require.Zero(t, testing.AllocsPerRun(100, func() { _, scratch, _ = key.Partition(scratch, vals, Compare) }))
}

func FuzzPartition(f *testing.F) {
	defs := []string{"tinyint", "bigint unsigned", "decimal(10,2)", "bit(12)", "year", "date", "datetime(3)", "time(2)", "uuid", "inet6",
		"varchar(5) collate utf8mb4_general_ci", "char(5) collate utf8mb4_unicode_ci", "varchar(5) collate latin1_swedish_ci", "binary(3)", "varbinary(3)",
		"enum('a','b') collate utf8mb4_general_ci", "set('a','b') collate utf8mb4_general_ci"}
	var keys []Key
	for _, def := range defs {
		keys = append(keys, Key{columnOf(f, def, "mariadb")})
	}
	for _, s := range []string{"", "-", "1", "-1.5", "1e0", "99999999999999999999", "2024-02-29 10:20:30.5", "-838:59:59", "::1", "a,b", "\xff\x00", "äöüß€😀"} {
		f.Add([]byte(s), byte(sqltypes.String), byte(Store))
	}
	f.Fuzz(func(t *testing.T, raw []byte, kind, mode byte) {
		v := sqltypes.Value{Kind: sqltypes.Kind(kind % (byte(sqltypes.Bool) + 1)), Raw: raw}
		for i, key := range keys {
			p, _, m := key.Partition(nil, []sqltypes.Value{v}, Mode(mode&0x83))
			if p >= Partitions || m == None && mode&3 != 0 {
				t.Fatalf("%s: partition %d, match %d", defs[i], p, m)
			}
		}
	})
}

func BenchmarkPartition(b *testing.B) {
	for _, bench := range []struct {
		def string
		v   sqltypes.Value
	}{
		{"bigint", intV("123456")},
		{"varchar(40) collate utf8mb4_general_ci", strV("user17@example.com")},
		{"varchar(40) collate utf8mb4_bin", strV("user17@example.com")},
		{"varchar(40) collate utf8mb4_0900_ai_ci", strV("usér17@example.com")},
		{"datetime", strV("2024-02-29 10:20:30")},
	} {
		b.Run(bench.def, func(b *testing.B) {
			key := Key{columnOf(b, bench.def, "mysql")}
			vals := []sqltypes.Value{bench.v}
			var scratch []byte
			b.ReportAllocs()
			for b.Loop() {
				_, scratch, _ = key.Partition(scratch, vals, Compare)
			}
		})
	}
}

func BenchmarkBalance(b *testing.B) {
	m := newTestMap(b, 30)
	goal := EqualShares(groupsUpTo(31))
	for b.Loop() {
		if _, err := Balance(m, goal); err != nil {
			b.Fatal(err)
		}
	}
}

func TestStoredFormIsWhatTheServerKeeps(t *testing.T) {
	for _, c := range []struct {
		def  string
		v    sqltypes.Value
		want string
	}{
		{"binary(4)", strV("a"), "a\x00\x00\x00"},
		{"varbinary(2)", strV("abc"), "ab"},
		{"char(5) collate utf8mb4_0900_ai_ci", strV("aB  "), "aB"},
		{"varchar(5) collate utf8mb4_0900_ai_ci", strV("aB  "), "aB  "},
		{"varchar(2) collate utf8mb4_general_ci", strV("äbc"), "äb"},
		{"varchar(5) collate utf8mb4_general_ci", intV("-012"), "-12"},
		{"tinyint", intV("300"), "127"},
		{"int", decV("1.5"), "2"},
		{"decimal(4,1)", decV("1.25"), "1.3"},
		{"bit(8)", binV("\x05"), "5"},
		{"enum('x','y') collate utf8mb4_general_ci", strV("Y "), "2"},
		{"set('x','y') collate utf8mb4_general_ci", strV("y,x"), "3"},
		{"date", strV("2020-01-02 03:04:05"), "2020-01-02"},
		{"datetime(1)", strV("2020-01-02"), "2020-01-02 00:00:00"},
	} {
		col := columnOf(t, c.def, "mysql")
		got, match := col.AppendStored([]byte("x"), c.v, Store)
		require.Equal(t, Exact, match, c.def)
		require.Equal(t, "x"+c.want, string(got), c.def)
	}
	col := columnOf(t, "datetime", "mysql")
	got, match := col.AppendStored([]byte("x"), strV("2020-01-02 03:04:05.6"), Store)
	require.Equal(t, Unknown, match)
	require.Equal(t, "x", string(got))
	_, match = new(KeyColumn).AppendStored(nil, intV("1"), Store)
	require.Equal(t, Unknown, match)
}
