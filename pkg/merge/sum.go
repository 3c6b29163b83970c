package merge

import (
	"math/big"
	"math/bits"
	"strconv"

	"skarv/pkg/sqlerr"
)

// maxSmallDigits is how many digits always fit int64.
const maxSmallDigits = 18

// exactSum adds exact numbers as DECIMAL does, without loss. As long as the sum fits an int64 it is one, scaled by
// its number of decimals; else it is a big.Int.
type exactSum struct {
	small int64
	scale int
	large *big.Int // nil while small holds the sum
}

func (s *exactSum) reset() { s.small, s.scale, s.large = 0, 0, nil }

// add adds the number text, as a server prints an integer or a DECIMAL.
func (s *exactSum) add(text []byte) error {
	digits, negative := sign(text)
	whole, fraction := point(digits)
	if len(digits) == 0 || whole+len(fraction) == 0 {
		return badNumber(text)
	}
	if whole+len(fraction) <= maxSmallDigits && s.large == nil {
		n, ok := smallNumber(digits)
		if !ok {
			return badNumber(text)
		}
		if negative {
			n = -n
		}
		if s.addSmall(n, len(fraction)) {
			return nil
		}
	}
	return s.addLarge(text, digits[:whole], fraction, negative)
}

// smallNumber reads up to 18 digits, leaving out the point.
func smallNumber(digits []byte) (n int64, ok bool) {
	for _, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			n = n*10 + int64(c-'0')
		case c != '.':
			return 0, false
		}
	}
	return n, true
}

// addSmall adds n scaled by scale; false, and nothing done, if that could overflow.
func (s *exactSum) addSmall(n int64, scale int) bool {
	small := s.small
	if scale != s.scale {
		up, ok := pow10(max(scale, s.scale) - min(scale, s.scale))
		if !ok {
			return false
		}
		value := &n
		if scale > s.scale {
			value = &small
		}
		if *value, ok = multiply(*value, up); !ok {
			return false
		}
	}
	sum := small + n
	if (sum > small) != (n > 0) && n != 0 {
		return false
	}
	s.small, s.scale = sum, max(scale, s.scale)
	return true
}

func (s *exactSum) addLarge(text, whole, fraction []byte, negative bool) error {
	n, ok := new(big.Int).SetString(string(whole)+string(fraction), 10)
	if !ok || n.Sign() < 0 {
		return badNumber(text)
	}
	if negative {
		n.Neg(n)
	}
	if s.large == nil {
		s.large = big.NewInt(s.small)
	}
	scale := max(s.scale, len(fraction))
	s.large.Mul(s.large, bigPow10(scale-s.scale))
	s.large.Add(s.large, n.Mul(n, bigPow10(scale-len(fraction))))
	s.scale = scale
	return nil
}

// appendTo appends the sum with all its decimals.
func (s *exactSum) appendTo(dst []byte) []byte {
	if s.large != nil {
		return appendBig(dst, s.large, s.scale)
	}
	n := uint64(s.small)
	if s.small < 0 {
		dst = append(dst, '-')
		n = -n
	}
	return appendScaled(dst, n, s.scale)
}

// appendQuotient appends the sum divided by count, which is not 0, with decimals digits behind the point, as the
// servers' AVG computes it. They divide to whole words of nine digits, cut off what follows, and round half away
// from zero to the decimals wanted: where those fill the last word, nothing is rounded.
func (s *exactSum) appendQuotient(dst []byte, count uint64, decimals int) []byte {
	const word = 9
	words := func(digits int) int { return (digits + word - 1) / word * word }
	digits := words(words(s.scale) + max(0, decimals-s.scale-(words(s.scale)-s.scale)))
	digits = max(digits, decimals)
	if s.large == nil {
		n := uint64(s.small)
		if s.small < 0 {
			n = -n
		}
		if q, ok := quotient(n, count, digits-s.scale, digits-decimals); ok {
			if s.small < 0 && q != 0 {
				dst = append(dst, '-')
			}
			return appendScaled(dst, q, decimals)
		}
	}
	n := s.large
	if n == nil {
		n = big.NewInt(s.small)
	}
	q := new(big.Int).Mul(n, bigPow10(digits-s.scale))
	q.Quo(q, new(big.Int).SetUint64(count))
	if digits > decimals {
		half := new(big.Int).Quo(bigPow10(digits-decimals), big.NewInt(2))
		if q.Sign() < 0 {
			half.Neg(half)
		}
		q.Quo(q.Add(q, half), bigPow10(digits-decimals))
	}
	return appendBig(dst, q, decimals)
}

// quotient is n*10^up/count, cut off, and then divided by 10^down, rounded half up; ok is false if a step overflows.
func quotient(n, count uint64, up, down int) (q uint64, ok bool) {
	p, ok := pow10(up)
	if !ok {
		return 0, false
	}
	hi, lo := bits.Mul64(n, uint64(p))
	if hi >= count {
		return 0, false
	}
	q, _ = bits.Div64(hi, lo, count)
	if down == 0 {
		return q, true
	}
	d, ok := pow10(down)
	if !ok || q > 1<<63 {
		return 0, false
	}
	return (q + uint64(d)/2) / uint64(d), true
}

func pow10(n int) (p int64, ok bool) {
	if n < 0 || n > maxSmallDigits {
		return 0, false
	}
	p = 1
	for range n {
		p *= 10
	}
	return p, true
}

func bigPow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// multiply multiplies by a positive number; ok is false on overflow.
func multiply(a, b int64) (int64, bool) {
	c := a * b
	return c, a == 0 || c/b == a
}

// appendScaled appends n/10^scale with scale decimals.
func appendScaled(dst []byte, n uint64, scale int) []byte {
	var room [20]byte
	return appendDigits(dst, strconv.AppendUint(room[:0], n, 10), scale)
}

func appendBig(dst []byte, n *big.Int, scale int) []byte {
	if n.Sign() < 0 {
		dst = append(dst, '-')
	}
	return appendDigits(dst, new(big.Int).Abs(n).Append(nil, 10), scale)
}

func appendDigits(dst, digits []byte, scale int) []byte {
	if scale == 0 {
		return append(dst, digits...)
	}
	if len(digits) <= scale {
		dst = append(dst, '0', '.')
		for range scale - len(digits) {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	dst = append(dst, digits[:len(digits)-scale]...)
	dst = append(dst, '.')
	return append(dst, digits[len(digits)-scale:]...)
}

// tooLong is the error of a sum that servers may have clipped, or would: of groups they store sums.
func tooLong() error {
	return sqlerr.Unsupported("SUM and AVG of more than 65 digits in groups over several node groups", "CAST the numbers AS DOUBLE")
}

func badNumber(text []byte) error {
	return sqlerr.Internal.New("a node group's partial sum is no number: " + strconv.Quote(string(text)))
}
