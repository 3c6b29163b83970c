package exec

import (
	"skarv/pkg/catalog"
	"skarv/pkg/diagnostics"
)

// Where rows are read by a query and then written by their keys, the query evaluates what the client wrote as part of a write. In
// strict mode a write fails where a value cannot be converted or computed; the query only warns. StrictError is the error that
// the warnings of such a query stand for, or nil. finds: the statement finds all of its rows before it writes the first one. That is a
// query on MariaDB, too.
func StrictError(warned []diagnostics.Condition, flavor catalog.Flavor, finds bool) error {
	if flavor == catalog.MariaDB && finds {
		return nil
	}
	return (&Evaluated{Warned: warned}).strictError(flavor)
}
