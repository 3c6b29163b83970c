package control

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"skarv/pkg/catalog"
	"skarv/pkg/topology"
	"skarv/pkg/wire"
)

// The errors of account changes.
var (
	ErrUserExists  = errors.New("this account exists already")
	ErrUserUnknown = errors.New("there is no such account")
)

// Accounts changes the accounts of a cluster, by compare-and-swap: no controller is needed.
type Accounts struct{ Store *topology.Store }

// UserChange is what is to change in an account; zero fields stay as they are.
type UserChange struct {
	// Plugin and AuthString replace the password: what wire.HashCachingSHA2 or wire.HashNative makes of it.
	Plugin, AuthString string
	// Grants are set by database, "*" for all; NoAccess takes one away.
	Grants map[string]catalog.Privilege
}

// Add makes an account, which needs a password. It returns the revision of the state that has it.
func (a *Accounts) Add(ctx context.Context, name string, c UserChange) (revision int64, err error) {
	if name == "" || len(name) > 80 || strings.ContainsAny(name, "\x00\n") {
		return 0, errors.New("the name of an account has 1 to 80 bytes")
	}
	if c.AuthString == "" {
		return 0, errors.New("an account needs a password")
	}
	account := &catalog.Account{Name: name, Grants: map[string]catalog.Privilege{}}
	if err := c.apply(account); err != nil {
		return 0, err
	}
	revision, err = a.Store.Change(nil).PutAccount(account, topology.Absent).Commit(ctx)
	if errors.Is(err, topology.ErrConflict) {
		return 0, ErrUserExists
	}
	return revision, err
}

// Change changes an account and returns the revision of the state that shows it.
func (a *Accounts) Change(ctx context.Context, name string, c UserChange) (int64, error) {
	for range 10 {
		account, revision, err := a.Store.Account(ctx, name)
		if err != nil {
			return 0, err
		}
		if account == nil {
			return 0, ErrUserUnknown
		}
		fresh := *account
		fresh.Grants = maps.Clone(account.Grants)
		if fresh.Grants == nil {
			fresh.Grants = map[string]catalog.Privilege{}
		}
		if err := c.apply(&fresh); err != nil {
			return 0, err
		}
		revision, err = a.Store.Change(nil).PutAccount(&fresh, revision).Commit(ctx)
		if !errors.Is(err, topology.ErrConflict) {
			return revision, err
		}
	}
	return 0, topology.ErrConflict
}

// Remove removes an account and returns the revision of the state without it. Its sessions keep running until they
// end.
func (a *Accounts) Remove(ctx context.Context, name string) (int64, error) {
	account, revision, err := a.Store.Account(ctx, name)
	if err != nil {
		return 0, err
	}
	if account == nil {
		return 0, ErrUserUnknown
	}
	return a.Store.Change(nil).DeleteAccount(name, revision).Commit(ctx)
}

func (c *UserChange) apply(a *catalog.Account) error {
	if c.AuthString != "" {
		if err := wire.CheckAuthString(c.Plugin, c.AuthString); err != nil {
			return err
		}
		a.AuthPlugin, a.AuthString = c.Plugin, c.AuthString
		a.LoopbackOnly = false // that goes with having no password
	}
	for db, p := range c.Grants {
		if db == "" {
			return errors.New("a grant names a database, or * for all")
		}
		if p == catalog.NoAccess {
			delete(a.Grants, db)
		} else {
			a.Grants[db] = p
		}
	}
	return nil
}

// ParsePrivilege reads the name of a privilege: none, read, write or admin.
func ParsePrivilege(s string) (catalog.Privilege, error) {
	for p := catalog.NoAccess; p <= catalog.Admin; p++ {
		if privilegeName(p) == strings.ToLower(s) {
			return p, nil
		}
	}
	return 0, fmt.Errorf("unknown privilege %q: use read, write, admin or none", s)
}

func privilegeName(p catalog.Privilege) string {
	switch p {
	case catalog.Read:
		return "read"
	case catalog.Write:
		return "write"
	case catalog.Admin:
		return "admin"
	default:
		return "none"
	}
}
