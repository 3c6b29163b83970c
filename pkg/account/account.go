// Package account is what is done with the accounts of a cluster: by statements (CREATE USER, GRANT and their like), and by the admin API. They are
// the cluster's, not the servers'; whoever changes them writes them to etcd by compare-and-swap, and needs no controller.
//
// An account of a cluster has privileges on all databases, on single ones, and on single tables, functions and procedures. Those on columns, and on
// databases by a pattern, are refused. Its host is matched with the addresses of clients: no name is resolved.
package account

import (
	"context"
	crypto "crypto/rand"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"skarv/pkg/catalog"
	"skarv/pkg/pause"
	"skarv/pkg/sqlerr"
	"skarv/pkg/topology"
	"skarv/pkg/wire"
)

// The errors of Store.
var (
	ErrExists  = errors.New("this account exists already")
	ErrUnknown = errors.New("there is no such account")
	ErrOpen    = errors.New("it is not known whether accounts are changed")

	errName       = errors.New("the name of an account has 1 to 80 bytes")
	errHost       = errors.New("the host of an account has up to 255 bytes, and no @")
	errNoPassword = errors.New("an account needs a password")
)

// Store changes accounts. Each of its methods does all of what it is told or nothing, and returns the revision of the state that shows it. Behind
// an error nothing is done, unless it is ErrOpen.
type Store struct{ Topology *topology.Store }

// Change is what is to change in an account; zero fields stay as they are.
type Change struct {
	// Plugin and AuthString replace the password: what wire.HashCachingSHA2 or wire.HashNative makes of it.
	Plugin, AuthString string
	// Locked and RequireTLS say whether nobody logs in by it from now on, or without TLS; nil: as before.
	Locked, RequireTLS *bool
	// Grants are set; catalog.NoAccess takes what there is away.
	Grants map[On]catalog.Privilege
}

// On is what privileges are on: a database, "*" for all, or one of its tables, functions or procedures.
type On struct {
	Database string
	Kind     Kind
	Name     string // as accounts have it; "": the database
}

// Kind is the kind of what a name means.
type Kind string

// The kinds, as GRANT has them.
const (
	Table     Kind = ""
	Function  Kind = "FUNCTION"
	Procedure Kind = "PROCEDURE"
)

// IsTable reports whether it is a table.
func (o On) IsTable() bool { return o.Kind == Table && o.Name != "" }

// String is the database, and behind a dot the name.
func (o On) String() string {
	switch {
	case o.Name == "":
		return o.Database
	case o.Kind == Table:
		return o.Database + "." + o.Name
	}
	return strings.ToLower(string(o.Kind)) + " " + o.Database + "." + o.Name
}

// routine is the key of the function or procedure.
func (o On) routine() catalog.RoutineKey {
	return catalog.NewRoutineKey(o.Database, o.Name, o.Kind == Function)
}

// of is what an account has been granted on it, and nothing else.
func (o On) of(a *catalog.Account) catalog.Privilege {
	switch {
	case o.Name == "":
		return a.Grants[o.Database]
	case o.Kind == Table:
		return a.Tables[o.Database][o.Name]
	}
	return a.OnRoutine(o.routine())
}

// Granted is all that an account has been granted, in the order in which servers show it.
func Granted(a *catalog.Account) iter.Seq2[On, catalog.Privilege] {
	return func(yield func(On, catalog.Privilege) bool) {
		if !yield(On{Database: "*"}, a.Global()) {
			return
		}
		for _, db := range slices.Sorted(maps.Keys(a.Grants)) {
			if db != "*" && !yield(On{Database: db}, a.Grants[db]) {
				return
			}
		}
		for _, kind := range []Kind{Table, Procedure, Function} {
			named := *namedIn(a, kind)
			for _, db := range slices.Sorted(maps.Keys(named)) {
				for _, name := range slices.Sorted(maps.Keys(named[db])) {
					if !yield(On{db, kind, name}, named[db][name]) {
						return
					}
				}
			}
		}
	}
}

// namedIn is what an account has on single things of a kind, by database and name.
func namedIn(a *catalog.Account, kind Kind) *map[string]map[string]catalog.Privilege {
	switch kind {
	case Function:
		return &a.Functions
	case Procedure:
		return &a.Procedures
	}
	return &a.Tables
}

// Add makes an account, which needs a password.
func (s Store) Add(ctx context.Context, name catalog.AccountName, c Change) (revision int64, err error) {
	return s.update(ctx, []catalog.AccountName{name}, func(have accounts) (accounts, error) {
		if have[name] != nil {
			return nil, ErrExists
		}
		a, err := c.made(name)
		return accounts{name: a}, err
	})
}

// Change changes an account.
func (s Store) Change(ctx context.Context, name catalog.AccountName, c Change) (revision int64, err error) {
	return s.update(ctx, []catalog.AccountName{name}, func(have accounts) (accounts, error) {
		if have[name] == nil {
			return nil, ErrUnknown
		}
		a, err := c.Applied(have[name])
		return accounts{name: a}, err
	})
}

// Remove removes an account. Its sessions end at their next statement.
func (s Store) Remove(ctx context.Context, name catalog.AccountName) (revision int64, err error) {
	return s.update(ctx, []catalog.AccountName{name}, func(have accounts) (accounts, error) {
		if have[name] == nil {
			return nil, ErrUnknown
		}
		return accounts{name: nil}, nil
	})
}

// Own gives an account all on a function or procedure that it has made.
func (s Store) Own(ctx context.Context, name catalog.AccountName, k catalog.RoutineKey) (revision int64, err error) {
	return s.update(ctx, []catalog.AccountName{name}, func(have accounts) (accounts, error) {
		if have[name] == nil {
			return nil, nil
		}
		a, err := Change{Grants: map[On]catalog.Privilege{onRoutine(k): have[name].OnRoutine(k) | catalog.AllOfRoutine}}.Applied(have[name])
		return accounts{name: a}, err
	})
}

// onRoutine is the function or procedure of a key.
func onRoutine(k catalog.RoutineKey) On {
	if k.Function {
		return On{k.Database, Function, k.Name}
	}
	return On{k.Database, Procedure, k.Name}
}

// Forget takes away what accounts of snap have been granted on a function or procedure that there is not any more.
func (s Store) Forget(ctx context.Context, k catalog.RoutineKey, snap *catalog.Snapshot) (revision int64, err error) {
	var names []catalog.AccountName
	for name, a := range snap.Accounts {
		if a.OnRoutine(k) != catalog.NoAccess {
			names = append(names, name)
		}
	}
	if names == nil {
		return 0, nil
	}
	on := onRoutine(k)
	return s.update(ctx, names, func(have accounts) (accounts, error) {
		after := accounts{}
		for name, a := range have {
			if a == nil || on.of(a) == catalog.NoAccess {
				continue
			}
			if after[name], err = (Change{Grants: map[On]catalog.Privilege{on: catalog.NoAccess}}).Applied(a); err != nil {
				return nil, err
			}
		}
		return after, nil
	})
}

// accounts are some of the cluster's, by name; nil is one that there is not.
type accounts = catalog.Accounts

// again is about how long to wait before another try, when somebody else has changed an account in between.
const again = 20 * time.Millisecond

// update writes what become makes of the accounts of names, of whom it is given besides what roles they have, and what these have in turn. The revision is 0 if that is nothing. become is called again for as long as others
// change the accounts meanwhile, one of whom comes through each time.
func (s Store) update(ctx context.Context, names []catalog.AccountName, become func(have accounts) (accounts, error)) (revision int64, err error) {
	for {
		have, revisions := accounts{}, map[catalog.AccountName]int64{}
		for left := slices.Clone(names); len(left) > 0; { // before anything is written that may come to etcd much later
			name := left[0]
			if left = left[1:]; have[name] != nil {
				continue
			}
			if have[name], revisions[name], err = s.Topology.Account(ctx, name); err != nil {
				return 0, err
			}
			if a := have[name]; a != nil {
				for _, g := range a.Roles {
					left = append(left, g.Name)
				}
			}
		}
		after, err := become(have)
		if err != nil || len(after) == 0 {
			return 0, err
		}
		change := s.Topology.Change(nil)
		for name, a := range after {
			if a == nil {
				change.DeleteAccount(name, revisions[name])
			} else {
				change.PutAccount(a, revisions[name])
			}
		}
		revision, err = change.Commit(ctx)
		switch {
		case errors.Is(err, topology.ErrUnavailable) && !errors.Is(err, topology.ErrFull), errors.Is(err, context.Canceled):
			return 0, fmt.Errorf("%w: %w", ErrOpen, err)
		case !errors.Is(err, topology.ErrConflict):
			return revision, err
		}
		if err := pause.For(ctx, rand.N(again)); err != nil {
			return 0, err
		}
	}
}

func checkName(name catalog.AccountName) error {
	if user := name.User(); user == "" || len(user) > 80 || strings.ContainsAny(user, "\x00\n") {
		return errName
	}
	if host := name.Host(); len(host) > 255 || strings.ContainsAny(host, "\x00\n@") {
		return errHost
	}
	return nil
}

// CheckHost returns the error of an account that cannot be made for its host on a cluster of servers of a flavor, 1235; nil: it can.
func CheckHost(name catalog.AccountName, flavor catalog.Flavor) error {
	switch host := name.Host(); {
	case host == "":
		return sqlerr.Unsupported("the account "+name.Literal()+", for an empty host", "write '%'")
	case catalog.NamesHost(host):
		return sqlerr.Unsupported("the account "+name.Literal()+", for a machine by its name", "write its address, or a pattern or network of addresses: names are not resolved")
	case !catalog.ValidHost(host, flavor):
		return sqlerr.Unsupported("the account "+name.Literal()+", for a network that no address is in", "write the network's first address with a netmask, as in 10.1.0.0/255.255.0.0, or a pattern, as in 10.1.%")
	}
	return nil
}

// made is a new account.
func (c Change) made(name catalog.AccountName) (*catalog.Account, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if c.AuthString == "" && (c.Locked == nil || !*c.Locked) {
		return nil, errNoPassword
	}
	return c.Applied(&catalog.Account{Name: name, ID: NewID(), AuthPlugin: c.Plugin})
}

// NewID is the ID of a new account.
func NewID() string { return crypto.Text() }

// Applied is a with the change.
func (c Change) Applied(a *catalog.Account) (*catalog.Account, error) {
	out := *a
	if out.Grants = maps.Clone(a.Grants); out.Grants == nil {
		out.Grants = map[string]catalog.Privilege{}
	}
	for _, kind := range []Kind{Table, Procedure, Function} {
		*namedIn(&out, kind) = catalog.CopyNamed(*namedIn(a, kind))
	}
	if c.AuthString != "" {
		if a.Role {
			return nil, errors.New("it is a role, by which nobody logs in")
		}
		if err := wire.CheckAuthString(c.Plugin, c.AuthString); err != nil {
			return nil, err
		}
		out.AuthPlugin, out.AuthString = c.Plugin, c.AuthString
		out.LoopbackOnly = false // that goes with having no password
	}
	if c.Locked != nil {
		if out.Locked = *c.Locked; !out.Locked && out.AuthString == "" && !out.LoopbackOnly {
			return nil, errNoPassword
		}
	}
	if c.RequireTLS != nil {
		out.RequireTLS = *c.RequireTLS
	}
	for on, p := range c.Grants {
		if on.Database == "" {
			return nil, errors.New("a grant names a database, or * for all")
		}
		if on.Name == "" {
			if out.Grants[on.Database] = p; p == catalog.NoAccess {
				delete(out.Grants, on.Database)
			}
			continue
		}
		name, named := on.Name, *namedIn(&out, on.Kind)
		if on.Kind != Table {
			name = on.routine().Name
		}
		if named[on.Database] == nil {
			named[on.Database] = map[string]catalog.Privilege{}
		}
		if named[on.Database][name] = p; p == catalog.NoAccess {
			delete(named[on.Database], name)
		}
		if len(named[on.Database]) == 0 {
			delete(named, on.Database)
		}
	}
	return &out, nil
}
