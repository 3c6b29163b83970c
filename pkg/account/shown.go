package account

import "skarv/pkg/sqlparse"

// Shown is what SHOW GRANTS and SHOW CREATE USER are about.
type Shown struct {
	User           // Current: of who asks
	Host    string // of User
	Implied bool   // of who asks, without saying so
	Role    bool   // the active role
	Using   []string
}

// ParseShown reads what st is about.
func ParseShown(st *sqlparse.Statement) (sh Shown, err error) {
	r := &reader{Words: st.Words(), st: st}
	if r.Take("SHOW"); !r.Take("GRANTS") {
		r.Take("CREATE", "USER")
	}
	switch r.Take("FOR"); {
	case r.End():
		sh.Current, sh.Implied = true, true
		return sh, nil
	case r.Take("CURRENT_USER"):
		sh.Current = true
		r.Take("(", ")")
	case st.Dialect().MariaDB() && r.Take("CURRENT_ROLE"):
		sh.Role = true
	default:
		if sh.Name, err = r.name(); err != nil {
			return sh, err
		}
		sh.Hosted = r.hosted()
		if sh.Host, err = r.host(); err != nil {
			return sh, err
		}
	}
	if r.Take("USING") {
		sh.Using, err = r.roles()
	}
	return sh, err
}
