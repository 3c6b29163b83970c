package sqltypes

import (
	"fmt"

	"vitess.io/vitess/go/mysql/decimal"
	"vitess.io/vitess/go/mysql/format"
)

// divPrecisionIncrement is the servers' default of the variable div_precision_increment.
const divPrecisionIncrement = 4

// maxScale is the largest number of decimals of a DECIMAL on MySQL and before 30 was raised elsewhere.
const maxScale = 30

// AppendDecimalSum appends a+b, both printed by a server as DECIMAL or integer, as SUM over the rows of both would print
// it: with the decimals of the one that has more.
func AppendDecimalSum(dst, a, b []byte) ([]byte, error) {
	da, err := parseDecimal(a)
	if err != nil {
		return dst, err
	}
	db, err := parseDecimal(b)
	if err != nil {
		return dst, err
	}
	return append(dst, da.Add(db).FormatMySQL(int32(max(decimals(a), decimals(b))))...), nil
}

// AppendDecimalAvg appends sum/count as AVG prints it when SUM over the same rows printed sum: with four decimals more
// (div_precision_increment at its default). count must not be 0.
func AppendDecimalAvg(dst, sum, count []byte) ([]byte, error) {
	s, err := parseDecimal(sum)
	if err != nil {
		return dst, err
	}
	n, err := parseDecimal(count)
	if err != nil {
		return dst, err
	}
	if n.IsZero() {
		return dst, fmt.Errorf("average of no rows")
	}
	scale := min(decimals(sum)+divPrecisionIncrement, maxScale)
	return append(dst, s.Div(n, divPrecisionIncrement).FormatMySQL(int32(scale))...), nil
}

// AppendFloatSum appends a+b as doubles, printed as a server prints a DOUBLE.
func AppendFloatSum(dst, a, b []byte) []byte {
	return AppendFloat(dst, parseFloat(a)+parseFloat(b))
}

// AppendFloatAvg appends sum/count as doubles, printed as a server prints a DOUBLE. count must not be 0.
func AppendFloatAvg(dst, sum, count []byte) []byte {
	return AppendFloat(dst, parseFloat(sum)/parseFloat(count))
}

// AppendFloat appends f as a server prints a DOUBLE without a fixed number of decimals.
func AppendFloat(dst []byte, f float64) []byte {
	return append(dst, format.FormatFloat(f)...)
}

func parseDecimal(s []byte) (decimal.Decimal, error) {
	if _, ok := ParseNumber(s); !ok {
		return decimal.Decimal{}, fmt.Errorf("%q is no exact number", s)
	}
	d, err := decimal.NewFromMySQL(s)
	if err != nil {
		return decimal.Decimal{}, fmt.Errorf("%q: %w", s, err)
	}
	return d, nil
}

// decimals counts the digits behind the point.
func decimals(s []byte) int {
	for i, c := range s {
		if c == '.' {
			return len(s) - i - 1
		}
	}
	return 0
}
