package account

import (
	"skarv/pkg/catalog"
	"skarv/pkg/sqlparse"
)

// Shown is what SHOW GRANTS and SHOW CREATE USER are about.
type Shown struct {
	User         // Current: of who asks
	Implied bool // of who asks, without saying so
	Role    bool // the active role
	Using   []catalog.AccountName
}

// ParseShown reads what st is about. What it refuses may be no statement at all, which a server tells.
func ParseShown(st *sqlparse.Statement) (sh Shown, err error) {
	r := &reader{Words: st.Words(), st: st}
	r.Take("SHOW")
	grants, mariadb := r.Take("GRANTS"), st.Dialect().MariaDB()
	if grants {
		r.Take("FOR")
	} else {
		r.Take("CREATE", "USER")
	}
	switch {
	case r.End() && (grants || mariadb):
		sh.Current, sh.Implied = true, true
		return sh, nil
	case r.Take("CURRENT_USER"):
		sh.Current = true
		r.Take("(", ")")
	case mariadb && r.Take("CURRENT_ROLE"):
		sh.Role = true
		r.Take("(", ")")
	default:
		if sh.Name, sh.Hosted, err = r.account(); err != nil {
			return sh, err
		}
	}
	if grants && !mariadb && r.Take("USING") {
		if sh.Using, err = r.roles(); err != nil {
			return sh, err
		}
	}
	if !r.End() {
		return sh, r.refuse()
	}
	return sh, nil
}
