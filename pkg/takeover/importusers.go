package takeover

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/fence"
	"skarv/pkg/schema"
	"skarv/pkg/wire"
)

// ImportedAccount is what becomes of an account of the server.
type ImportedAccount struct {
	Name   string
	Grants map[account.On]catalog.Privilege
	// Imported: it is made an account of the cluster. Problem says why not, or what of it is lost.
	Imported bool
	Problem  string

	account *catalog.Account
}

// serverAccount is an account as the server has it.
type serverAccount struct {
	name, host, plugin, auth string
	locked, expired          bool   // it cannot log in, or do nothing until it has another password
	tls                      string // what TLS it must use, as mysql.user has it; "": none
	role                     bool   // nobody logs in by it
	roles                    []catalog.RoleGrant
	defaults                 []catalog.AccountName
	privileges               map[account.On]catalog.Privilege
	unknown                  []string // privileges that accounts of the cluster do not have
}

// readAccounts finds the accounts that could be the cluster's too.
func (i *importer) readAccounts(ctx context.Context) error {
	if !i.req.Accounts {
		return nil
	}
	locked, role := "account_locked = 'Y'", "account_locked = 'Y' AND password_expired = 'Y' AND COALESCE(authentication_string, '') = ''"
	if i.facts.Node.Flavor == catalog.MariaDB {
		locked = "COALESCE((SELECT JSON_VALUE(p.Priv, '$.account_locked') FROM mysql.global_priv AS p WHERE p.User = user.User AND p.Host = user.Host), '') IN ('1', 'true')"
		role = "is_role = 'Y'"
	}
	var list []*serverAccount
	byName := map[string]*serverAccount{}
	err := i.s.Rows(ctx, func(r *sql.Rows) error {
		a := &serverAccount{privileges: map[account.On]catalog.Privilege{}}
		if err := r.Scan(&a.name, &a.host, &a.plugin, &a.auth, &a.locked, &a.expired, &a.tls, &a.role); err != nil {
			return err
		}
		list = append(list, a)
		byName["'"+a.name+"'@'"+a.host+"'"] = a
		return nil
	}, "SELECT user, host, plugin, COALESCE(authentication_string, ''), "+locked+", password_expired = 'Y', ssl_type, "+role+
		" FROM mysql.user WHERE user NOT LIKE 'mysql.%' AND user <> '' AND (host <> '' OR "+role+")"+
		" AND user NOT LIKE 'skarv\\_w%' AND user NOT IN ('mariadb.sys', 'PUBLIC', '"+fence.FailoverRole+"') ORDER BY user, host")
	if err != nil {
		return err
	}
	grant := func(r *sql.Rows) error {
		var grantee, privilege, grantable string
		var on account.On
		if err := r.Scan(&grantee, &on.Database, &on.Name, &privilege, &grantable); err != nil {
			return err
		}
		if a := byName[grantee]; a != nil && !i.aloneTells(a) {
			a.has(on, privilege, grantable == "YES")
		}
		return nil
	}
	for _, q := range []string{
		"SELECT grantee, '*', '', privilege_type, is_grantable FROM information_schema.user_privileges",
		"SELECT grantee, table_schema, '', privilege_type, is_grantable FROM information_schema.schema_privileges",
		"SELECT grantee, table_schema, table_name, privilege_type, is_grantable FROM information_schema.table_privileges",
	} {
		if err := i.s.Rows(ctx, grant, q); err != nil {
			return err
		}
	}
	if err := i.readRoles(ctx, list, byName); err != nil {
		return err
	}
	seen := map[catalog.AccountName]int{}
	for _, a := range list {
		seen[a.account()]++
	}
	for _, a := range list {
		i.accounts = append(i.accounts, i.account(a, seen[a.account()] > 1))
	}
	for n, a := range list {
		i.grantRoles(&i.accounts[n], a)
	}
	return nil
}

// certified reports whether it needs a certificate or cipher of its own to log in.
func (a *serverAccount) certified() bool { return a.tls != "" && a.tls != "ANY" }

// has notes a privilege of an account.
func (a *serverAccount) has(on account.On, privilege string, grantable bool) {
	p := catalog.PrivilegeNamed(privilege)
	if p == 0 && privilege != "USAGE" {
		a.unknown = append(a.unknown, privilege)
	}
	if grantable {
		p |= catalog.MayGrant
	}
	a.privileges[on] = account.Completed(a.privileges[on]|p, on)
}

// account is its name in the cluster, where roles of MariaDB have one of those of accounts.
func (a *serverAccount) account() catalog.AccountName {
	return catalog.NameOf(a.name, catalog.FoldHost(a.host))
}

// account decides on one account; several says that it is a role and an account of one name.
func (i *importer) account(a *serverAccount, several bool) ImportedAccount {
	out := ImportedAccount{Name: a.name + "@" + a.host, Grants: map[account.On]catalog.Privilege{}}
	lost := false
	for on, has := range a.privileges {
		name := on.Database
		if on.Name == "" {
			name = strings.NewReplacer("\\_", "_", "\\%", "%").Replace(name)
		}
		if name != "*" && !slices.ContainsFunc(i.databases, func(d *catalog.Database) bool { return d.Name == name }) {
			lost = lost || !schema.IsSystem(name)
			continue
		}
		if has != catalog.NoAccess {
			out.Grants[account.On{Database: name, Kind: on.Kind, Name: on.Name}] = has
		}
	}
	plugin, auth := a.plugin, a.auth
	err := wire.CheckAuthString(plugin, auth)
	switch {
	case a.name == i.req.Group.Primary.User:
		out.Problem = "it is Skarv's own on this server"
	case several:
		out.Problem = "there are a role and an account of that name, of which the cluster has one only"
	case a.role:
		out.imports(&catalog.Account{Name: a.account(), AuthPlugin: plugin, Role: true}, a, lost)
	case a.expired:
		out.Problem = "its password has expired"
	case catalog.NamesHost(a.host):
		out.Problem = "its host is a machine's name, which is not resolved: make one with the address"
	case !catalog.ValidHost(a.host, i.facts.Node.Flavor):
		out.Problem = "its host is a network that no address is in"
	case auth == "" && a.locked:
		out.imports(&catalog.Account{Name: a.account(), AuthPlugin: wire.CachingSHA2Password, Locked: true, RequireTLS: a.tls != ""}, a, lost)
	case auth == "":
		out.Problem = "it has no password"
	case err != nil:
		out.Problem = "its password cannot be taken over: " + cause(err)
	case len(out.Grants) == 0 && len(a.roles) == 0:
		out.Problem = "it has no privilege on anything that is imported"
	default:
		made := &catalog.Account{Name: a.account(), AuthPlugin: plugin, AuthString: auth, Locked: a.locked || a.certified(), RequireTLS: a.tls != ""}
		out.imports(made, a, lost)
	}
	return out
}

// imports makes what is imported of a an account of the cluster; lost: privileges on databases that are not imported are left out.
func (x *ImportedAccount) imports(made *catalog.Account, a *serverAccount, lost bool) {
	var problems []string
	if lost {
		problems = append(problems, "privileges on databases by pattern are left out")
	}
	if !made.Administers() && len(a.unknown) > 0 {
		slices.Sort(a.unknown)
		problems = append(problems, "left out: "+strings.Join(slices.Compact(a.unknown), ", "))
	}
	if a.certified() && !a.locked {
		problems = append(problems, "it is locked: it needs a certificate or cipher on the server, which is not asked for here; ACCOUNT UNLOCK if TLS and its password are enough")
	}
	x.Problem = strings.Join(problems, "; ")
	made.ID = account.NewID()
	made, err := account.Change{Grants: x.Grants}.Applied(made)
	if err != nil {
		x.Problem = err.Error()
		return
	}
	x.Imported, x.account = true, made
}

// definer is the account of the cluster in whose name what is used from now on, which has a definer on the server. If that is none of the cluster, it
// is "", whoever uses it, and what is noted.
func (i *importer) definer(what, onServer string) catalog.AccountName {
	name := definerName(onServer)
	imported := catalog.Accounts{}
	for _, a := range i.accounts {
		if a.Imported {
			imported[a.account.Name] = a.account
		}
	}
	flavor := i.facts.Node.Flavor
	if snap := (&catalog.Snapshot{Flavor: flavor, Accounts: imported, Hosted: imported.Hosted(flavor)}); snap.Definer(name) != nil {
		return name
	}
	i.undefined = append(i.undefined, what)
	return ""
}

// definerName is the definer that a server tells of as user@host.
func definerName(definer string) catalog.AccountName { return catalog.ParseAccountName(definer) }

func cause(err error) string {
	for u := errors.Unwrap(err); u != nil; u = errors.Unwrap(err) {
		err = u
	}
	return err.Error()
}
