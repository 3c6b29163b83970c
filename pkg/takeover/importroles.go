package takeover

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	"skarv/pkg/sqlparse"
	"skarv/pkg/sqltypes"
)

// aloneTells reports whether only SHOW GRANTS tells what an account has itself: of a role MariaDB's tables have what it inherits, too.
func (i *importer) aloneTells(a *serverAccount) bool {
	return a.role && i.facts.Node.Flavor == catalog.MariaDB
}

// isRole reports whether an account is of those that MariaDB's servers keep apart from users.
func (i *importer) isRole(a ImportedAccount) bool {
	return a.account.Role && i.facts.Node.Flavor == catalog.MariaDB
}

// readRoles finds which accounts have which roles, and what roles have of which only SHOW GRANTS tells.
func (i *importer) readRoles(ctx context.Context, list []*serverAccount, byName map[string]*serverAccount) error {
	edges := "SELECT to_user, to_host, from_user, from_host, with_admin_option = 'Y' FROM mysql.role_edges ORDER BY 1, 2, 3, 4"
	defaults := "SELECT user, host, default_role_user, default_role_host FROM mysql.default_roles ORDER BY 1, 2, 3, 4"
	if i.facts.Node.Flavor == catalog.MariaDB {
		edges = "SELECT user, host, role, '', admin_option = 'Y' FROM mysql.roles_mapping ORDER BY 1, 2, 3"
		defaults = "SELECT user, host, default_role, '' FROM mysql.user WHERE default_role <> '' ORDER BY 1, 2"
	}
	err := i.s.Rows(ctx, func(r *sql.Rows) error {
		var user, host, role, roleHost string
		var g catalog.RoleGrant
		if err := r.Scan(&user, &host, &role, &roleHost, &g.Admin); err != nil {
			return err
		}
		if a := byName["'"+user+"'@'"+host+"'"]; a != nil {
			g.Name = catalog.NameOf(role, catalog.FoldHost(roleHost))
			a.roles = append(a.roles, g)
		}
		return nil
	}, edges)
	if err != nil {
		return err
	}
	err = i.s.Rows(ctx, func(r *sql.Rows) error {
		var user, host, role, roleHost string
		if err := r.Scan(&user, &host, &role, &roleHost); err != nil {
			return err
		}
		if a := byName["'"+user+"'@'"+host+"'"]; a != nil {
			a.defaults = append(a.defaults, catalog.NameOf(role, catalog.FoldHost(roleHost)))
		}
		return nil
	}, defaults)
	if err != nil {
		return err
	}
	for _, a := range list {
		if i.aloneTells(a) {
			if err := i.readGrants(ctx, a); err != nil {
				return err
			}
		}
	}
	return nil
}

// readGrants reads what a role of MariaDB has itself.
func (i *importer) readGrants(ctx context.Context, a *serverAccount) error {
	st := sqlparse.NewDialect(true, i.facts.Node.Version).NewStatement()
	defer st.Done()
	return i.s.Rows(ctx, func(r *sql.Rows) error {
		var text string
		if err := r.Scan(&text); err != nil {
			return err
		}
		if st.Scan([]byte(text), 0) != nil || st.Kind() != sqlparse.Grant {
			return nil
		}
		grant, err := account.Parse(st)
		switch {
		case err != nil && strings.HasSuffix(text, " TO "+sqltypes.QuoteName(a.name)):
			a.unknown = append(a.unknown, text)
		case err == nil && grant.Verb == account.Grant && grant.Users[0].Name == a.account():
			a.privileges[grant.On] = account.Completed(a.privileges[grant.On]|grant.Given(), grant.On)
		}
		return nil
	}, "SHOW GRANTS FOR "+sqltypes.QuoteName(a.name))
}

// grantRoles gives an imported account the roles that are imported, too, and says which it loses.
func (i *importer) grantRoles(x *ImportedAccount, a *serverAccount) {
	if !x.Imported {
		return
	}
	var lost []string
	for _, g := range a.roles {
		at := slices.IndexFunc(i.accounts, func(role ImportedAccount) bool { return role.Imported && role.account.Name == g.Name })
		if at < 0 || i.facts.Node.Flavor == catalog.MariaDB && !i.accounts[at].account.Role {
			lost = append(lost, g.Name.String())
			continue
		}
		g.ID = i.accounts[at].account.ID
		x.account.Roles = append(x.account.Roles, g)
	}
	x.account.DefaultRoles = slices.DeleteFunc(a.defaults, func(name catalog.AccountName) bool { return slices.Contains(lost, name.String()) })
	if lost != nil {
		x.Problem = strings.TrimPrefix(x.Problem+"; without the roles "+strings.Join(lost, ", "), "; ")
	}
}
