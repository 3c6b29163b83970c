package sqltypes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"skarv/test/realserver"
)

func TestParseNumber(t *testing.T) {
	for _, bad := range []string{"", "-", "+", ".", "-.", "1e0", " 1", "1 ", "1.2.3", "0x1", "--1", "1-", "NaN", "é"} {
		_, ok := ParseNumber([]byte(bad))
		require.False(t, ok, bad)
	}
	for text, want := range map[string]string{"0": "0", "-0": "0", "-0.00": "0", "007": "7", "+1.50": "1.5", ".5": "0.5", "5.": "5", "-.250": "-0.25",
		"100": "100", "123456789012345678901234567890.1": "123456789012345678901234567890.1"} {
		n, ok := ParseNumber([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, want, string(n.Append(nil)))
	}
}

func TestCompareNumbers(t *testing.T) {
	compare := func(a, b string) int {
		x, _ := ParseNumber([]byte(a))
		y, _ := ParseNumber([]byte(b))
		return x.Compare(y)
	}
	sorted := []string{"-100", "-99.5", "-1", "-0.5", "-0.49", "0", "0.1", "0.11", "0.2", "1", "1.5", "9", "10", "99.99", "100", "9007199254740993",
		"18446744073709551615", "18446744073709551616", "100000000000000000000"}
	for i, a := range sorted {
		for j, b := range sorted {
			got := compare(a, b)
			switch {
			case i < j:
				require.Negative(t, got, "%s %s", a, b)
			case i > j:
				require.Positive(t, got, "%s %s", a, b)
			default:
				require.Zero(t, got, "%s %s", a, b)
			}
		}
	}
	require.Zero(t, compare("-0.00", "0"))
	require.Negative(t, compare("9007199254740992", "9007199254740993"))
}

func TestFloatsPrintAsOnServer(t *testing.T) {
	for _, s := range realserver.Start(t) {
		t.Run(s.Flavor, func(t *testing.T) {
			s.Exec(t, "CREATE TABLE f (id INT PRIMARY KEY, v DOUBLE)")
			rnd := rand.New(rand.NewPCG(4, 4))
			floats := []float64{0, 1, -1, 0.1, 1537880335002500.5, 12345678901234567, 9.9999999999999e14, 999999999999999, 1e-14, 1.8028902039197304e-9, 1.0 / 3, 1e14, 1e15, 1e16, 123456789012345678, 1e-4, 1e-5, 1e-15, 1e-16, 1.5e-20, 1e300, -2.5e-300, math.MaxFloat64,
				5e-324, 9007199254740993, 100, 1e5, 123456.789, 0.00012345}
			for range 300 {
				floats = append(floats, (rnd.Float64()-0.5)*math.Pow(10, float64(rnd.IntN(60)-30)))
			}
			for i, f := range floats {
				s.Exec(t, fmt.Sprintf("INSERT INTO f VALUES (%d, %s)", i, strconv.FormatFloat(f, 'e', -1, 64)))
			}
			// By the command-line client: Go's driver makes numbers of the text.
			lines := strings.Fields(s.Client(t, "SELECT v FROM f ORDER BY id"))
			require.Len(t, lines, len(floats))
			for i, f := range floats {
				require.Equal(t, lines[i], string(AppendFloat(nil, f)), "%.17g", f)
			}
		})
	}
}
