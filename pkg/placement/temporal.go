package placement

import (
	"skarv/pkg/sqltypes"
)

// moment is a date or a time taken apart.
type moment struct {
	year, month, day     int
	hour, minute, second int
	negative             bool
	fraction             []byte // digits without trailing zeros
	hasTime              bool
}

// appendTemporal appends the text of v in a DATE, DATETIME or TIME column. Only the forms everybody writes are taken:
// YYYY-MM-DD, YYYY-MM-DD HH:MM:SS[.ffffff], [-]H...H:MM:SS[.ffffff]; servers read many others, more or less alike. Days that do not exist are taken if
// they are stored: a server that is given one keeps it, makes it 0000-00-00 or refuses it, as sql_mode says.
func (c *KeyColumn) appendTemporal(dst []byte, v sqltypes.Value, mode Mode) ([]byte, Match) {
	if c.kind == timeKey {
		if v.Kind != sqltypes.String && v.Kind != sqltypes.Time {
			return dst, Unknown
		}
		return c.appendTime(dst, v.Raw, mode)
	}
	if mode != Compare && v.Kind == sqltypes.Int && string(v.Raw) == "0" {
		return c.appendZeroDate(dst), Exact // or an error, as sql_mode says
	}
	if v.Kind != sqltypes.String && v.Kind != sqltypes.Date && v.Kind != sqltypes.Datetime {
		return dst, Unknown
	}
	m, ok := parseDatetime(v.Raw)
	if !ok || mode != Stored && !m.exists() {
		if mode == Store && string(v.Raw) == "0000-00-00" {
			return c.appendZeroDate(dst), Exact // the same
		}
		return dst, Unknown
	}
	if c.kind == dateKey {
		midnight := m.hour|m.minute|m.second == 0 && len(m.fraction) == 0
		if !midnight && (mode == Compare || len(m.fraction) > 0) {
			return dst, Unknown // MySQL rounds a fraction to the next day, MariaDB does not
		}
		return m.appendDate(dst), Exact
	}
	if len(m.fraction) > c.scale {
		return dst, Unknown // rounded or cut off, as server and sql_mode say
	}
	dst = append(m.appendDate(dst), ' ')
	return m.appendClock(dst), Exact
}

func (c *KeyColumn) appendZeroDate(dst []byte) []byte {
	dst = append(dst, "0000-00-00"...)
	if c.kind == datetimeKey {
		dst = append(dst, " 00:00:00"...)
	}
	return dst
}

func (c *KeyColumn) appendTime(dst, raw []byte, mode Mode) ([]byte, Match) {
	var m moment
	if len(raw) > 0 && raw[0] == '-' {
		m.negative = true
		raw = raw[1:]
	}
	n := 0
	for n < len(raw) && raw[n] >= '0' && raw[n] <= '9' {
		m.hour = m.hour*10 + int(raw[n]-'0')
		if n++; n > 3 {
			return dst, Unknown
		}
	}
	if n < 2 || !m.parseClockTail(raw[n:]) {
		return dst, Unknown
	}
	beyond := m.hour == 838 && m.minute == 59 && m.second == 59 && len(m.fraction) > 0
	if m.hour > 838 || len(m.fraction) > c.scale || beyond && mode != Stored { // MySQL cuts it off
		return dst, Unknown
	}
	if m.negative && (m.hour|m.minute|m.second != 0 || len(m.fraction) > 0) {
		dst = append(dst, '-')
	}
	return m.appendClock(dst), Exact
}

// parseDatetime reads YYYY-MM-DD[ HH:MM:SS[.ffffff]].
func parseDatetime(raw []byte) (moment, bool) {
	var m moment
	if len(raw) < 10 || raw[4] != '-' || raw[7] != '-' {
		return m, false
	}
	var oky, okm, okd bool
	m.year, oky = digits(raw[:4])
	m.month, okm = digits(raw[5:7])
	m.day, okd = digits(raw[8:10])
	if !oky || !okm || !okd {
		return m, false
	}
	rest := raw[10:]
	if len(rest) == 0 {
		return m, true
	}
	if len(rest) < 3 || rest[0] != ' ' {
		return m, false
	}
	var ok bool
	if m.hour, ok = digits(rest[1:3]); !ok || m.hour > 23 {
		return m, false
	}
	m.hasTime = true
	return m, m.parseClockTail(rest[3:])
}

// exists reports whether the day is one, in a year from 1 on.
func (m *moment) exists() bool {
	return m.year > 0 && m.month > 0 && m.month <= 12 && m.day > 0 && m.day <= daysIn(m.year, m.month)
}

// parseClockTail reads :MM:SS[.ffffff].
func (m *moment) parseClockTail(s []byte) bool {
	if len(s) < 6 || s[0] != ':' || s[3] != ':' {
		return false
	}
	var okm, oks bool
	m.minute, okm = digits(s[1:3])
	m.second, oks = digits(s[4:6])
	if !okm || !oks || m.minute > 59 || m.second > 59 {
		return false
	}
	s = s[6:]
	if len(s) == 0 {
		return true
	}
	if s[0] != '.' || len(s) < 2 || len(s) > 7 {
		return false
	}
	if _, ok := digits(s[1:]); !ok {
		return false
	}
	m.fraction = s[1:]
	for len(m.fraction) > 0 && m.fraction[len(m.fraction)-1] == '0' {
		m.fraction = m.fraction[:len(m.fraction)-1]
	}
	return true
}

func (m *moment) appendDate(dst []byte) []byte {
	dst = append(dst, byte('0'+m.year/1000), byte('0'+m.year/100%10), byte('0'+m.year/10%10), byte('0'+m.year%10), '-')
	dst = append(appendTwo(dst, m.month), '-')
	return appendTwo(dst, m.day)
}

func (m *moment) appendClock(dst []byte) []byte {
	if m.hour > 99 {
		dst = append(dst, byte('0'+m.hour/100))
	}
	dst = append(appendTwo(dst, m.hour%100), ':')
	dst = append(appendTwo(dst, m.minute), ':')
	dst = appendTwo(dst, m.second)
	if len(m.fraction) > 0 {
		dst = append(dst, '.')
		dst = append(dst, m.fraction...)
	}
	return dst
}

func appendTwo(dst []byte, n int) []byte {
	return append(dst, byte('0'+n/10), byte('0'+n%10))
}

// digits returns the number s is, if it is digits only.
func digits(s []byte) (int, bool) {
	n := 0
	for _, d := range s {
		if d < '0' || d > '9' {
			return 0, false
		}
		n = n*10 + int(d-'0')
	}
	return n, true
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	default:
		return 31
	}
}
