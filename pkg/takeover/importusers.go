package takeover

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/schema"
	"skarv/pkg/wire"
)

// ImportedAccount is what becomes of an account of the server.
type ImportedAccount struct {
	Name   string
	Grants map[string]catalog.Privilege
	// Imported: it is made an account of the cluster. Problem says why not, or what of it is lost.
	Imported bool
	Problem  string

	account *catalog.Account
}

// serverAccount is an account as the server has it.
type serverAccount struct {
	name, host, plugin, auth string
	privileges               map[string]map[string]bool // by database, "*" for all
}

// readAccounts finds the accounts that could be the cluster's too.
func (i *importer) readAccounts(ctx context.Context) error {
	if !i.req.Accounts {
		return nil
	}
	var list []*serverAccount
	byName := map[string]*serverAccount{}
	err := i.s.Rows(ctx, func(r *sql.Rows) error {
		a := &serverAccount{privileges: map[string]map[string]bool{}}
		if err := r.Scan(&a.name, &a.host, &a.plugin, &a.auth); err != nil {
			return err
		}
		list = append(list, a)
		byName["'"+a.name+"'@'"+a.host+"'"] = a
		return nil
	}, "SELECT user, host, plugin, COALESCE(authentication_string, '') FROM mysql.user WHERE user NOT LIKE 'mysql.%' AND user <> '' AND host <> ''"+
		" AND user NOT LIKE 'skarv\\_w%' AND user NOT IN ('mariadb.sys') ORDER BY user, host")
	if err != nil {
		return err
	}
	grant := func(r *sql.Rows) error {
		var grantee, db, privilege string
		if err := r.Scan(&grantee, &db, &privilege); err != nil {
			return err
		}
		if a := byName[grantee]; a != nil {
			if a.privileges[db] == nil {
				a.privileges[db] = map[string]bool{}
			}
			a.privileges[db][privilege] = true
		}
		return nil
	}
	for _, q := range []string{
		"SELECT grantee, '*', privilege_type FROM information_schema.user_privileges",
		"SELECT grantee, table_schema, privilege_type FROM information_schema.schema_privileges",
	} {
		if err := i.s.Rows(ctx, grant, q); err != nil {
			return err
		}
	}
	seen := map[string]int{}
	for _, a := range list {
		seen[a.name]++
	}
	for _, a := range list {
		i.accounts = append(i.accounts, i.account(a, seen[a.name] > 1))
	}
	return nil
}

// account decides on one account; several says that there are others of its name, for other hosts.
func (i *importer) account(a *serverAccount, several bool) ImportedAccount {
	out := ImportedAccount{Name: a.name + "@" + a.host, Grants: map[string]catalog.Privilege{}}
	lost := false
	for db, has := range a.privileges {
		name := strings.NewReplacer("\\_", "_", "\\%", "%").Replace(db)
		if db != "*" && !slices.ContainsFunc(i.databases, func(d *catalog.Database) bool { return d.Name == name }) {
			lost = lost || !schema.IsSystem(name)
			continue
		}
		if p := account.Level(func(of string) bool { return has[of] }); p != catalog.NoAccess {
			out.Grants[name] = p
		}
	}
	plugin, auth := a.plugin, a.auth
	err := wire.CheckAuthString(plugin, auth)
	switch {
	case a.name == i.req.Group.Primary.User:
		out.Problem = "it is Skarv's own on this server"
	case several:
		out.Problem = "there are several accounts of that name, for different hosts: the cluster's have no hosts"
	case auth == "":
		out.Problem = "it has no password"
	case err != nil:
		out.Problem = "its password cannot be taken over: " + cause(err)
	case len(out.Grants) == 0:
		out.Problem = "it has no privilege on a whole database that the cluster's read, write or admin is a part of"
	default:
		if lost {
			out.Problem = "privileges on databases by pattern are left out"
		}
		if a.host != "%" {
			out.Problem = strings.TrimPrefix(out.Problem+"; it may log in from any host", "; ")
		}
		out.Imported, out.account = true, &catalog.Account{Name: a.name, AuthPlugin: plugin, AuthString: auth, Grants: out.Grants}
	}
	return out
}

func cause(err error) string {
	for u := errors.Unwrap(err); u != nil; u = errors.Unwrap(err) {
		err = u
	}
	return err.Error()
}
