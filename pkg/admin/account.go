package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"skarv/pkg/account"
	"skarv/pkg/catalog"
	adminv1 "skarv/proto/admin/v1"
)

// ListUsers implements the API.
func (a *Server) ListUsers(context.Context, *adminv1.ListUsersRequest) (*adminv1.ListUsersResponse, error) {
	snap, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	out := &adminv1.ListUsersResponse{}
	for _, u := range snap.Accounts {
		user := &adminv1.User{
			Name: u.Name.String(), Plugin: u.AuthPlugin, LoopbackOnly: u.LoopbackOnly, HasPassword: u.AuthString != "", Grants: map[string]string{},
			Locked: u.Locked, RequireTls: u.RequireTLS,
		}
		for on, p := range account.Granted(u) {
			if on.Database != "*" || p != catalog.NoAccess {
				user.Grants[on.String()] = account.PrivilegeName(p, on.Database)
			}
		}
		out.Users = append(out.Users, user)
	}
	slices.SortFunc(out.Users, func(x, y *adminv1.User) int { return strings.Compare(x.Name, y.Name) })
	return out, nil
}

// PutUser implements the API.
func (a *Server) PutUser(ctx context.Context, req *adminv1.PutUserRequest) (*adminv1.PutUserResponse, error) {
	snap, err := a.snapshot()
	if err != nil {
		return nil, err
	}
	name := catalog.ParseAccountName(req.GetName())
	change := account.Change{
		Plugin: req.GetPlugin(), AuthString: req.GetAuthString(), Grants: map[account.On]catalog.Privilege{}, Locked: req.Locked, RequireTLS: req.RequireTls,
	}
	for db, name := range req.GetGrants() {
		p, err := account.ParsePrivilege(name, db)
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		change.Grants[account.On{Database: db}] = p
	}
	put := a.accounts.Change
	switch req.GetMode() {
	case adminv1.PutUserRequest_MODE_ADD:
		if err := account.CheckHost(name, snap.Flavor); err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		put = a.accounts.Add
	case adminv1.PutUserRequest_MODE_CHANGE:
	default:
		return nil, status.Error(codes.InvalidArgument, "mode is not set")
	}
	revision, err := put(ctx, name, change)
	if err != nil {
		return nil, rpcError(fmt.Errorf("%s: %w", req.GetName(), err))
	}
	a.cfg.Client.Await(ctx, revision) // a login just after it is answered right
	return &adminv1.PutUserResponse{Locked: req.Locked, RequireTls: req.RequireTls}, nil
}

// RemoveUser implements the API.
func (a *Server) RemoveUser(ctx context.Context, req *adminv1.RemoveUserRequest) (*adminv1.RemoveUserResponse, error) {
	revision, err := a.accounts.Remove(ctx, catalog.ParseAccountName(req.GetName()))
	if err != nil {
		return nil, rpcError(fmt.Errorf("%s: %w", req.GetName(), err))
	}
	a.cfg.Client.Await(ctx, revision)
	return &adminv1.RemoveUserResponse{}, nil
}
