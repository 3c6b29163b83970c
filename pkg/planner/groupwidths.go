package planner

import (
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"

	"skarv/pkg/wordlist"
)

// wide reports whether every AVG of the statement fits the column that holds it. A server gives AVG as many digits before the point as
// its argument is said to have, and computes with more; written to a table the value is cut to them. MariaDB says two digits of ASCII(),
// HOUR() and BIT_COUNT(), which have three: AVG(ASCII('z')) is 122.0000 and becomes 99.9999. So AVG is put into a table
// only if its argument is made of columns, operators and functions that are said to have as many digits as they may have.
func (g *grouping) wide() bool {
	for _, span := range g.calls() {
		_, call, _ := g.aggregate(span)
		if avg, is := call.(*sqlparser.Avg); is && !trustedDigits(avg.Arg) {
			return false
		}
	}
	return true
}

// trustedDigits reports whether an expression calls no function but those whose number of digits servers know.
func trustedDigits(e sqlparser.Expr) bool {
	trusted := true
	_ = sqlparser.Walk(func(n sqlparser.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *sqlparser.ConvertExpr: // to a DECIMAL: has the digits that it says
			return !strings.EqualFold(n.Type.Type, "decimal"), nil
		case *sqlparser.FuncExpr:
			trusted = trusted && wordlist.Has(` coalesce ifnull if nullif abs round truncate greatest least length char_length character_length
 octet_length datediff to_days mod crc32 year `, n.Name.Lowered())
		case sqlparser.Callable:
			trusted = false
		}
		return trusted, nil
	}, e)
	return trusted
}
