package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"skarv/pkg/catalog"
	"skarv/pkg/topology"
	"skarv/pkg/wire"
	adminv1 "skarv/proto/admin/v1"
)

// The errors of account changes.
var (
	errUserExists  = errors.New("this account exists already")
	errUserUnknown = errors.New("there is no such account")
)

// accounts changes the accounts of a cluster, by compare-and-swap: no controller is needed.
type accounts struct{ store *topology.Store }

// userChange is what is to change in an account; zero fields stay as they are.
type userChange struct {
	// Plugin and AuthString replace the password: what wire.HashCachingSHA2 or wire.HashNative makes of it.
	Plugin, AuthString string
	// Grants are set by database, "*" for all; NoAccess takes one away.
	Grants map[string]catalog.Privilege
}

// add makes an account, which needs a password. It returns the revision of the state that has it.
func (a *accounts) add(ctx context.Context, name string, c userChange) (revision int64, err error) {
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
	if _, _, err := a.store.Account(ctx, name); err != nil { // before anything is written that may come to etcd much later
		return 0, err
	}
	revision, err = a.store.Change(nil).PutAccount(account, topology.Absent).Commit(ctx)
	if errors.Is(err, topology.ErrConflict) {
		return 0, errUserExists
	}
	return revision, err
}

// change changes an account and returns the revision of the state that shows it.
func (a *accounts) change(ctx context.Context, name string, c userChange) (int64, error) {
	for range 10 {
		account, revision, err := a.store.Account(ctx, name)
		if err != nil {
			return 0, err
		}
		if account == nil {
			return 0, errUserUnknown
		}
		fresh := *account
		fresh.Grants = maps.Clone(account.Grants)
		if fresh.Grants == nil {
			fresh.Grants = map[string]catalog.Privilege{}
		}
		if err := c.apply(&fresh); err != nil {
			return 0, err
		}
		revision, err = a.store.Change(nil).PutAccount(&fresh, revision).Commit(ctx)
		if !errors.Is(err, topology.ErrConflict) {
			return revision, err
		}
	}
	return 0, topology.ErrConflict
}

// remove removes an account and returns the revision of the state without it. Its sessions keep running until they
// end.
func (a *accounts) remove(ctx context.Context, name string) (int64, error) {
	account, revision, err := a.store.Account(ctx, name)
	if err != nil {
		return 0, err
	}
	if account == nil {
		return 0, errUserUnknown
	}
	return a.store.Change(nil).DeleteAccount(name, revision).Commit(ctx)
}

func (c *userChange) apply(a *catalog.Account) error {
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

// parsePrivilege reads the name of a privilege: none, read, write or admin.
func parsePrivilege(s string) (catalog.Privilege, error) {
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

// ListUsers implements the API.
func (a *Server) ListUsers(context.Context, *adminv1.ListUsersRequest) (*adminv1.ListUsersResponse, error) {
	snap, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	out := &adminv1.ListUsersResponse{}
	for _, u := range snap.Accounts {
		user := &adminv1.User{
			Name: u.Name, Plugin: u.AuthPlugin, LoopbackOnly: u.LoopbackOnly, HasPassword: u.AuthString != "", Grants: map[string]string{},
		}
		for db, p := range u.Grants {
			user.Grants[db] = privilegeName(p)
		}
		out.Users = append(out.Users, user)
	}
	slices.SortFunc(out.Users, func(x, y *adminv1.User) int { return strings.Compare(x.Name, y.Name) })
	return out, nil
}

// PutUser implements the API.
func (a *Server) PutUser(ctx context.Context, req *adminv1.PutUserRequest) (*adminv1.PutUserResponse, error) {
	if _, err := a.snapshot(); err != nil {
		return nil, err
	}
	change := userChange{Plugin: req.GetPlugin(), AuthString: req.GetAuthString(), Grants: map[string]catalog.Privilege{}}
	for db, name := range req.GetGrants() {
		p, err := parsePrivilege(name)
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		change.Grants[db] = p
	}
	put := a.accounts.change
	switch req.GetMode() {
	case adminv1.PutUserRequest_MODE_ADD:
		put = a.accounts.add
	case adminv1.PutUserRequest_MODE_CHANGE:
	default:
		return nil, status.Error(codes.InvalidArgument, "mode is not set")
	}
	revision, err := put(ctx, req.GetName(), change)
	if err != nil {
		return nil, rpcError(fmt.Errorf("%s: %w", req.GetName(), err))
	}
	a.cfg.Client.Await(ctx, revision) // a login just after it is answered right
	return &adminv1.PutUserResponse{}, nil
}

// RemoveUser implements the API.
func (a *Server) RemoveUser(ctx context.Context, req *adminv1.RemoveUserRequest) (*adminv1.RemoveUserResponse, error) {
	revision, err := a.accounts.remove(ctx, req.GetName())
	if err != nil {
		return nil, rpcError(fmt.Errorf("%s: %w", req.GetName(), err))
	}
	a.cfg.Client.Await(ctx, revision)
	return &adminv1.RemoveUserResponse{}, nil
}
