package catalog

import (
	"maps"
	"slices"
	"strings"
)

// Hosted are the accounts of those users of whom there are some with hosts, of each in the order in which a client's is looked for.
type Hosted map[string][]*Account

// Hosted are those of the accounts, as servers of a flavor look for them.
func (m Accounts) Hosted(flavor Flavor) Hosted {
	out := Hosted{}
	for name, a := range m {
		if name.Host() != AnyHost && !(a.Role && flavor == MariaDB) {
			out[name.User()] = nil
		}
	}
	for name, a := range m {
		if list, has := out[name.User()]; has && !(a.Role && flavor == MariaDB) {
			out[name.User()] = append(list, a)
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b *Account) int {
			x, _ := parseHost(a.Name.Host())
			y, _ := parseHost(b.Name.Host())
			return flavor.moreSpecific(x, y)
		})
	}
	return out
}

// isFor reports whether clients of an origin may log in by the account, as far as its host says.
func (a *Account) isFor(o Origin) bool {
	h, ok := parseHost(a.Name.Host())
	return ok && h.matches(o)
}

// Client is the account by which a user logs in from somewhere; nil: there is none.
func (s *Snapshot) Client(user string, o Origin) *Account {
	a := s.first(user, o, func(a *Account) bool { return !a.Role || s.Flavor == MySQL })
	if a == nil || a.Role {
		return nil
	}
	return a
}

// first is the first account of a user that is for clients of an origin, of those that suit; nil: there is none.
func (s *Snapshot) first(user string, o Origin, suits func(*Account) bool) *Account {
	list, hosted := s.Hosted[user]
	if strings.Contains(user, "\x00") {
		return nil
	}
	if !hosted {
		list = []*Account{s.Accounts[NameOf(user, AnyHost)]}
	}
	for _, a := range list {
		if a != nil && suits(a) && a.isFor(o) {
			return a
		}
	}
	return nil
}

// Definer is the account in whose name acts what has a definer, with what it may then; nil: there is none. As servers do, it looks for the account as if the
// definer were a client whose host he has, so that it may be one of another host. A role of MariaDB is none: it may have the name of an account that was
// dropped.
func (s *Snapshot) Definer(name AccountName) *Account {
	a := s.first(name.User(), name.Origin(), func(a *Account) bool { return !a.Role || s.Flavor == MySQL })
	if a == nil {
		return nil
	}
	return s.Acting(a, name.Origin(), s.DefinerRoles(a))
}

// Acting is what a session may whose account is a, with those of its roles that are active. As on servers, what is granted on databases, tables and programs
// to other accounts of the user counts, too, if its host is one of which the session's client is, but where the account itself has been granted something on
// the same; on MySQL only as long as no role is active.
func (s *Snapshot) Acting(a *Account, o Origin, roles []AccountName) *Account {
	list := s.Hosted[a.Name.User()]
	if len(list) < 2 || s.Flavor == MySQL && len(s.Accounts.Active(a, roles)) > 0 {
		return s.Accounts.With(a, roles)
	}
	out := *a
	out.Grants = maps.Clone(a.Grants)
	if out.Grants == nil {
		out.Grants = map[string]Privilege{}
	}
	out.Tables, out.Functions, out.Procedures = CopyNamed(a.Tables), CopyNamed(a.Functions), CopyNamed(a.Procedures)
	for _, other := range list {
		if other == a || !other.isFor(o) {
			continue
		}
		for db, p := range other.Grants {
			if _, has := out.Grants[db]; !has && db != "*" {
				out.Grants[db] = p
			}
		}
		addMissing(out.Tables, other.Tables)
		addMissing(out.Functions, other.Functions)
		addMissing(out.Procedures, other.Procedures)
	}
	return s.Accounts.With(&out, roles)
}

func addMissing(to, more map[string]map[string]Privilege) {
	for db, named := range more {
		for name, p := range named {
			if _, has := to[db][name]; has {
				continue
			}
			if to[db] == nil {
				to[db] = map[string]Privilege{}
			}
			to[db][name] = p
		}
	}
}
