package account

import (
	"slices"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/sqlerr"
)

// all is what GRANT calls all privileges.
const all = "ALL PRIVILEGES"

// told are the servers' privileges by which one of the cluster is told: an account that has all of them has it.
func told(p catalog.Privilege) []string {
	list := []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "INDEX", "CREATE VIEW"}
	switch p {
	case catalog.Read:
		return list[:1]
	case catalog.Write:
		return list[:4]
	case catalog.Admin:
		return list
	}
	return nil
}

// Privileges are the servers' privileges that one of the cluster below Admin, which stands for all, is shown as.
func Privileges(p catalog.Privilege) []string {
	switch p {
	case catalog.Read:
		return []string{"SELECT", "SHOW VIEW"}
	case catalog.Write:
		return []string{"SELECT", "INSERT", "UPDATE", "DELETE", "LOCK TABLES", "SHOW VIEW"}
	}
	return nil
}

// holds reports whether an account that has p may do what of stands for.
func holds(p catalog.Privilege, of string) bool {
	switch {
	case of == "USAGE" || p == catalog.Admin:
		return true
	case of == "EXECUTE": // whoever may read may CALL; what it runs is judged statement by statement
		return p >= catalog.Read
	case of == "CREATE TEMPORARY TABLES":
		return p >= catalog.Write
	}
	return slices.Contains(Privileges(p), of)
}

// Level is the most that an account of the cluster may be given for privileges of a server, in capitals: never more than these.
func Level(has func(privilege string) bool) catalog.Privilege {
	for p := catalog.Admin; p > catalog.NoAccess; p-- {
		if !slices.ContainsFunc(told(p), func(of string) bool { return !has(of) }) {
			return p
		}
	}
	return catalog.NoAccess
}

// granted is what an account that had a privilege on what the statement grants on has behind it.
func (st *Statement) granted(had catalog.Privilege) (catalog.Privilege, error) {
	if slices.Contains(st.Privileges, all) {
		return catalog.Admin, nil
	}
	gets := max(had, Level(func(of string) bool { return slices.Contains(told(had), of) || slices.Contains(st.Privileges, of) }))
	for _, of := range st.Privileges {
		if !holds(gets, of) {
			return had, sqlerr.Unsupported("GRANT of "+of+" without what goes with it", levels+st.missing(had, gets))
		}
	}
	return gets, nil
}

// missing names what the next privilege of the cluster would need beside what the statement gives.
func (st *Statement) missing(had, gets catalog.Privilege) string {
	var list []string
	for _, of := range told(min(gets+1, catalog.Admin)) {
		if !slices.Contains(told(had), of) && !slices.Contains(st.Privileges, of) {
			list = append(list, of)
		}
	}
	if list == nil {
		return ""
	}
	return "; it lacks " + strings.Join(list, ", ")
}

// revoked is what an account that had a privilege on what the statement revokes on has behind it.
func (st *Statement) revoked(had catalog.Privilege) (catalog.Privilege, error) {
	if slices.Contains(st.Privileges, all) {
		return catalog.NoAccess, nil
	}
	left := slices.DeleteFunc(slices.Clone(told(had)), func(of string) bool { return slices.Contains(st.Privileges, of) })
	keeps := Level(func(of string) bool { return slices.Contains(left, of) })
	for _, of := range st.Privileges {
		if of != "USAGE" && holds(keeps, of) || len(told(keeps)) < len(left) {
			return had, sqlerr.Unsupported("REVOKE of "+of+" alone", levels+": REVOKE what is above that")
		}
	}
	return keeps, nil
}
