package diagnostics

import (
	"cmp"
	"strings"

	"skarv/pkg/sqlerr"
)

// Where a strict sql_mode makes an error of a warning, the warning is all there is if Skarv has had a value computed ahead, by a query: there it is none.

// StrictAssignment returns the first of list that is an error in a strict sql_mode where a variable is assigned; nil if there is none.
func StrictAssignment(list []Condition, mariadb bool) *sqlerr.Error {
	for i := range list {
		if list[i].failsAssignment(mariadb) {
			return list[i].Err(mariadb)
		}
	}
	return nil
}

func (c *Condition) failsAssignment(mariadb bool) bool {
	if c.Level != Warning {
		return false
	}
	switch c.Code {
	case 1048, 1264, 1265, 1292, 1365, 1366, 1406, 1411, 1441, 3020:
		return true
	}
	return mariadb && c.Code != 1287
}

// StrictWrite returns the first of list that is an error in a strict sql_mode where a row is written; nil if there is none.
func StrictWrite(list []Condition, mariadb bool) *sqlerr.Error {
	for i := range list {
		if c := &list[i]; c.failsWrite(mariadb) {
			return &sqlerr.Error{Code: c.Code, State: cmp.Or(stateOfStrict(c.Code), "HY000"), Message: c.Message}
		}
	}
	return nil
}

func (c *Condition) failsWrite(mariadb bool) bool {
	switch {
	case c.Level != Warning:
		return false
	case !mariadb:
		return stateOfStrict(c.Code) != ""
	}
	switch c.Code {
	case 1287, 1681: // of what is deprecated: found before anything is computed
		return false
	case 1292: // CAST cuts strings in any case
		return !strings.HasPrefix(c.Message, "Truncated incorrect CHAR(") && !strings.HasPrefix(c.Message, "Truncated incorrect BINARY(")
	}
	return true
}

// stateOfStrict is the SQLSTATE of an error that a strict sql_mode makes of a warning; "" for those that MySQL leaves what they are.
func stateOfStrict(code sqlerr.Code) string {
	switch code {
	case 1292, 1366: // wrong values
		return "22007"
	case 1365: // division by 0
		return "22012"
	case 1264, 3155: // out of range
		return "22003"
	case 1265: // data truncated
		return "01000"
	case 1406: // data too long
		return "22001"
	case 1441, 6527: // out of the range of dates and times
		return "22008"
	case 3020: // logarithm
		return "2201E"
	case 3156: // JSON that is no value of the type
		return "22018"
	case 1260, 1301, 1411: // cut by GROUP_CONCAT or max_allowed_packet, wrong for a function
		return "HY000"
	}
	return ""
}
