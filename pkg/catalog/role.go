package catalog

import (
	"iter"
	"maps"
	"slices"
)

// Accounts are those of a cluster, by name.
type Accounts map[AccountName]*Account

// RoleGrant is a role that an account has been granted, or another role.
type RoleGrant struct {
	Name  AccountName `json:"name"`
	ID    string      `json:"id,omitempty"` // of the role: one made later of that name is another
	Admin bool        `json:"admin,omitempty"`
}

// Granted are the roles that a has been granted itself and that there still are, in the order in which it was granted them.
func (m Accounts) Granted(a *Account) iter.Seq2[*Account, RoleGrant] {
	return func(yield func(*Account, RoleGrant) bool) {
		for _, g := range a.Roles {
			if role := m[g.Name]; role != nil && role.ID == g.ID && !yield(role, g) {
				return
			}
		}
	}
}

// Has reports whether a has been granted the role itself.
func (m Accounts) Has(a *Account, role AccountName) bool {
	for r := range m.Granted(a) {
		if r.Name == role {
			return true
		}
	}
	return false
}

// Inherited are the roles and what they have been granted in turn, each once and before what it was granted.
func (m Accounts) Inherited(roles ...*Account) (list []*Account) {
	for _, role := range roles {
		list = m.inherit(list, role)
	}
	return list
}

func (m Accounts) inherit(list []*Account, role *Account) []*Account {
	if slices.Contains(list, role) {
		return list
	}
	list = append(list, role)
	for r := range m.Granted(role) {
		list = m.inherit(list, r)
	}
	return list
}

// Active are those of the roles of names that a has been granted itself, and what these inherit.
func (m Accounts) Active(a *Account, names []AccountName) (list []*Account) {
	for role := range m.Granted(a) {
		if slices.Contains(names, role.Name) {
			list = m.inherit(list, role)
		}
	}
	return list
}

// With is a with the privileges of those of the roles of names that it has been granted; a itself if there are none.
func (m Accounts) With(a *Account, names []AccountName) *Account {
	active := m.Active(a, names)
	if len(active) == 0 {
		return a
	}
	out := *a
	out.Grants = maps.Clone(a.Grants)
	if out.Grants == nil {
		out.Grants = map[string]Privilege{}
	}
	out.Tables, out.Functions, out.Procedures = CopyNamed(a.Tables), CopyNamed(a.Functions), CopyNamed(a.Procedures)
	for _, role := range active {
		add(out.Grants, role.Grants)
		addNamed(out.Tables, role.Tables)
		addNamed(out.Functions, role.Functions)
		addNamed(out.Procedures, role.Procedures)
	}
	return &out
}

// CopyNamed is a copy of what an account has on single tables, functions or procedures; never nil.
func CopyNamed(of map[string]map[string]Privilege) map[string]map[string]Privilege {
	out := make(map[string]map[string]Privilege, len(of))
	for db, named := range of {
		out[db] = maps.Clone(named)
	}
	return out
}

func add(to, more map[string]Privilege) {
	for name, p := range more {
		to[name] |= p
	}
}

func addNamed(to, more map[string]map[string]Privilege) {
	for db, named := range more {
		if to[db] == nil {
			to[db] = map[string]Privilege{}
		}
		add(to[db], named)
	}
}

// Defaults are those of a's default roles that it has been granted.
func (m Accounts) Defaults(a *Account) (names []AccountName) {
	for _, name := range a.DefaultRoles {
		if m.Has(a, name) {
			names = append(names, name)
		}
	}
	return names
}

// Administers reports whether a is an administrator of the cluster, or may become one by its roles.
func (m Accounts) Administers(a *Account) bool {
	return slices.ContainsFunc(m.Inherited(a), (*Account).Administers)
}

// DefinerRoles are the roles that are active where something acts in the name of a: on MySQL the default ones.
func (s *Snapshot) DefinerRoles(a *Account) []AccountName {
	if s.Flavor != MySQL {
		return nil
	}
	return s.Accounts.Defaults(a)
}
